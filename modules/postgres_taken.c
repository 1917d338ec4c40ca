/* SPDX-License-Identifier: MIT */
/* Which nodes the PostgreSQL extension (ext/postgres) of the same server issues with: those that firn.node and
 * firn.history name. Its marks are not in the store, so the store leaves these nodes to it. */
#include "postgres.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number at *at, which then is after the number: every spelling that the extension reads, such as " 7", "+7", "007"
 * and "0x7". */
static bool read_number(const char **at, uint64_t *number) {
    const char *digits = *at + strspn(*at, " \t\n\v\f\r");
    char *end;
    digits += *digits == '+';
    if (*digits < '0' || *digits > '9') {
        return false;
    }
    *number = strtoull(digits, &end, digits[0] == '0' && (digits[1] | 32) == 'x' ? 16 : 10);
    *at = end;
    return true;
}

/* The value of a field in "NAME=NUMBER NAME=NUMBER". */
static bool field(const char *node, const char *name, size_t length, uint64_t *value) {
    for (const char *at = node; *at != '\0' && *at != ';'; at += strcspn(at, " ;")) {
        at += strspn(at, " ");
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            at += length + 1;
            return read_number(&at, value);
        }
    }
    return false;
}

static int count_fields(const char *node) {
    int count = 0;
    for (size_t i = 0; node[i] != '\0' && node[i] != ';'; i++) {
        count += node[i] == '=';
    }
    return count;
}

/* The fields of firn.node, in the order of the layout, joined. The extension refuses a scheme that does not
 * have all of them. */
static bool join_fields(const char *node, const char *layout, uint64_t *joined) {
    int found = 0;
    *joined = 0;
    for (const char *at = layout; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " ")) {
        size_t length = strcspn(at, ": ");
        uint64_t value, bits;
        const char *width = at + length + 1;
        if (at[length] == ':' && field(node, at, length, &value) && read_number(&width, &bits) &&
            bits < 64) {
            *joined = *joined << bits | value;
            found++;
        }
    }
    return found > 0 && found == count_fields(node);
}

static bool is_node(const char *setting, const firn_records *records, uint64_t node) {
    uint64_t number;
    const char *at = setting;
    if (read_number(&at, &number)) {
        return (*at == ';' || *at == '\0') && number == node;
    }
    return join_fields(setting, records->layout, &number) && number == node;
}

static bool is_in_range(const char *setting, uint64_t node) {
    uint64_t low, high;
    if (!read_number(&setting, &low)) {
        return false;
    }
    high = low;
    if (*setting == '-') {
        setting++;
        if (!read_number(&setting, &high)) {
            return false;
        }
    }
    return node >= low && node <= high;
}

int postgres_taken(const store *s, const firn_records *records, firn_error *error) {
    const char *history = strchr(s->taken, ';');
    const char *before = history != NULL ? strchr(history + 1, ';') : NULL;
    const char *setting;
    uint64_t node;
    bool was = false;
    if (strlen(s->taken) == sizeof s->taken - 1) { /* cut: it never equals the server's */
        return module_fail(error, FIRN_ESTORE,
                           "firn.taken of store %.60s has more than %zu bytes: shorten firn.node "
                           "and firn.history of its server",
                           where(s), sizeof s->taken - 2);
    }
    if (before == NULL || strchr(records->layout, ':') == NULL ||
        !module_uint64(&node, records->key, strcspn(records->key, "@"))) { /* also NODE@TICK */
        return FIRN_OK;
    }
    for (const char *one = before; one != NULL && !was; one = strchr(one + 1, ';')) {
        was = is_node(one + 1, records, node);
    }
    setting = is_node(s->taken, records, node) ? "is in firn.node"
              : is_in_range(history + 1, node) ? "is in firn.history"
              : was                            ? "was in firn.node"
                                               : NULL;
    if (setting == NULL) {
        return FIRN_OK;
    }
    return module_advise(
        error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
        "node %" PRIu64 " %s of the server of store %.60s, whose extension issues IDs with it: use "
        "another node",
        node, setting, where(s));
}

/* The settings in s->taken, in their order; after these come former values of firn.node. */
static const char *const settings[] = {"extension: firn.node", "extension: firn.history"};

int postgres_show_taken(const store *s, firn_visit *visit, void *context, firn_error *error) {
    const char *at = s->taken, *end;
    int code = FIRN_OK;
    for (size_t i = 0; code == FIRN_OK && at != NULL; i++, at = end != NULL ? end + 1 : NULL) {
        const bool former = i >= sizeof settings / sizeof *settings;
        const size_t length = (end = strchr(at, ';')) != NULL ? (size_t)(end - at) : strlen(at);
        const size_t present = strcspn(s->taken, ";");
        char key[FIRN_KEY_SIZE];
        snprintf(key, sizeof key, "%.*s", (int)length, at);
        if (length == 0 || (former && length == present && strncmp(at, s->taken, length) == 0)) {
            continue;
        }
        const firn_holding holding = {
            "",     "", key, former ? "extension: firn.node until its last change" : settings[i],
            {0, 0}, 0};
        code = module_show(&s->link, visit, context, &holding, error);
    }
    return code;
}
