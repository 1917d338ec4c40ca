/* SPDX-License-Identifier: MIT */
/* Which nodes the PostgreSQL extension (ext/postgres) of the same server issues with: those that
 * firn.node and firn.history name. Its marks are not in the store, so the store leaves these nodes
 * to it. */
#include "postgres.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number at *position, which then is after the number: every spelling that the extension reads,
 * such as " 7", "+7", "007" and "0x7". */
static bool read_number(const char **position, uint64_t *number) {
    const char *digits = *position + strspn(*position, " \t\n\v\f\r");
    char *end;
    digits += *digits == '+';
    if (*digits < '0' || *digits > '9') {
        return false;
    }
    *number = strtoull(digits, &end, digits[0] == '0' && (digits[1] | 32) == 'x' ? 16 : 10);
    *position = end;
    return true;
}

/* The value of a field in "NAME=NUMBER NAME=NUMBER". */
static bool field(const char *node, const char *name, size_t length, uint64_t *value) {
    for (const char *position = node; *position != '\0' && *position != ';';
         position += strcspn(position, " ;")) {
        position += strspn(position, " ");
        if (strncmp(position, name, length) == 0 && position[length] == '=') {
            position += length + 1;
            return read_number(&position, value);
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

/* The fields of firn.node, in the order of the layout, joined. The extension refuses a scheme that
 * does not have all of them. */
static bool join_fields(const char *node, const char *layout, uint64_t *joined) {
    int found = 0;
    *joined = 0;
    for (const char *position = layout; *position != '\0';
         position += strcspn(position, " "), position += strspn(position, " ")) {
        size_t length = strcspn(position, ": ");
        uint64_t value, bits;
        const char *width = position + length + 1;
        if (position[length] == ':' && field(node, position, length, &value) &&
            read_number(&width, &bits) && bits < 64) {
            *joined = *joined << bits | value;
            found++;
        }
    }
    return found > 0 && found == count_fields(node);
}

static bool is_node(const char *setting, const firn_records *records, uint64_t node) {
    uint64_t number;
    const char *position = setting;
    if (read_number(&position, &number)) {
        return (*position == ';' || *position == '\0') && number == node;
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

int postgres_taken(const postgres_store *store, const firn_records *records, firn_error *error) {
    const char *history = strchr(store->taken, ';');
    const char *before = history != NULL ? strchr(history + 1, ';') : NULL;
    const char *setting;
    uint64_t node;
    bool was = false;
    if (strlen(store->taken) == sizeof store->taken - 1) { /* cut: it never equals the server's */
        return module_fail(error, FIRN_ESTORE,
                           "firn.taken of store %.60s has more than %zu bytes: shorten firn.node "
                           "and firn.history of its server",
                           where(store), sizeof store->taken - 2);
    }
    if (before == NULL || strchr(records->layout, ':') == NULL ||
        !module_uint64(&node, records->key, strcspn(records->key, "@"))) { /* also NODE@TICK */
        return FIRN_OK;
    }
    for (const char *word = before; word != NULL && !was; word = strchr(word + 1, ';')) {
        was = is_node(word + 1, records, node);
    }
    setting = is_node(store->taken, records, node) ? "is in firn.node"
              : is_in_range(history + 1, node)     ? "is in firn.history"
              : was                                ? "was in firn.node"
                                                   : NULL;
    if (setting == NULL) {
        return FIRN_OK;
    }
    return module_advise(
        error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
        "node %" PRIu64 " %s of the server of store %.60s, whose extension issues IDs with it: use "
        "another node",
        node, setting, where(store));
}

/* The settings in store->taken, in their order; after these come former values of firn.node. */
static const char *const settings[] = {"extension: firn.node", "extension: firn.history"};

int postgres_show_taken(const postgres_store *store, firn_visit *visit, void *context) {
    const char *position = store->taken, *end;
    int code = FIRN_OK;
    for (size_t i = 0; code == FIRN_OK && position != NULL;
         i++, position = end != NULL ? end + 1 : NULL) {
        const bool former = i >= sizeof settings / sizeof *settings;
        const size_t length =
            (end = strchr(position, ';')) != NULL ? (size_t)(end - position) : strlen(position);
        const size_t present = strcspn(store->taken, ";");
        char key[FIRN_KEY_SIZE];
        snprintf(key, sizeof key, "%.*s", (int)length, position);
        if (length == 0 ||
            (former && length == present && strncmp(position, store->taken, length) == 0)) {
            continue;
        }
        const firn_holding holding = {
            "",     "", key, former ? "extension: firn.node until its last change" : settings[i],
            {0, 0}, 0};
        code = visit(context, &holding);
    }
    return code;
}
