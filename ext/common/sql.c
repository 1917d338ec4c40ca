/* SPDX-License-Identifier: MIT */
#include "sql.h"

#include "../../src/duration.h"
#include "errors.h"
#include "pure_verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLANKS " \t\n"

int sql_copy(char out[SQL_TEXT_SIZE], const char *what, const char *text, size_t length,
             firn_error *error) {
    if (memchr(text, '\0', length) != NULL) {
        return set_error(error, FIRN_ETEXT, "%s contains a zero byte: use UTF-8", what);
    }
    if (length >= SQL_TEXT_SIZE) {
        return set_error(error, FIRN_ERANGE, "%s '%.40s...' has %zu characters: at most %d", what,
                         text, length, SQL_TEXT_SIZE - 1);
    }
    memcpy(out, text, length);
    out[length] = '\0';
    return FIRN_OK;
}

int sql_typeid(char text[SQL_TEXT_SIZE], const char *prefix, size_t length, const firn_id *id,
               firn_error *error) {
    char room[FIRN_PREFIX_SIZE];
    if (firn_prefix_check(prefix, length, error) != FIRN_OK) {
        return error->code = FIRN_ETEXT; /* the value of an argument */
    }
    memcpy(room, prefix, length);
    room[length] = '\0';
    firn_prefix_format(text, room, id);
    return FIRN_OK;
}

int sql_needed(const char *types) {
    int count = 0;
    while (types[count] >= 'a' && types[count] <= 'z') {
        count++;
    }
    return count;
}

/* ---- schemes --------------------------------------------------------------------------------- */

int sql_scheme(firn_scheme *scheme, const char *text, size_t length, firn_error *error) {
    static const char *const names[3] = {"epoch", "bits", "digits"};
    char words[SQL_TEXT_SIZE], name[FIRN_NAME_SIZE], values[3][SQL_TEXT_SIZE];
    const char *changes[3];
    int code = sql_copy(words, "the scheme", text, length, error);
    if (code != FIRN_OK) {
        return code;
    }
    const char *start = words + strspn(words, BLANKS);
    size_t end = strcspn(start, BLANKS);
    snprintf(name, sizeof name, "%.*s", (int)end, start);
    if (firn_scheme_find(name) == NULL) {
        return pure_scheme(scheme, words, NULL, NULL, NULL, error);
    }
    char *rest = words + (start - words) + end;
    for (int i = 0; i < 3 && code == FIRN_OK; i++) {
        code = sql_take(rest, names[i], values[i], SQL_TEXT_SIZE, error);
        changes[i] = values[i][0] != '\0' ? values[i] : NULL;
    }
    rest += strspn(rest, BLANKS);
    if (code == FIRN_OK && *rest != '\0') {
        return set_error(error, FIRN_EUSAGE,
                         "'%.*s' does not change %s: epoch=, bits= and digits= do, once each",
                         (int)strcspn(rest, BLANKS), rest, name);
    }
    return code == FIRN_OK ? pure_scheme(scheme, name, changes[0], changes[1], changes[2], error)
                           : code;
}

int sql_split(firn_scheme *scheme, char name[SQL_TEXT_SIZE], char keys[SQL_TEXT_SIZE],
              const char *text, size_t length, firn_error *error) {
    int code = sql_scheme(scheme, text, length, error);
    code = code == FIRN_OK ? sql_copy(name, "the scheme", text, length, error) : code;
    keys[0] = '\0';
    if (code == FIRN_OK && firn_scheme_find(scheme->name) != NULL) { /* not a layout */
        const char *changes = name + strspn(name, BLANKS);
        changes += strcspn(changes, BLANKS);
        snprintf(keys, SQL_TEXT_SIZE, "%s", changes + strspn(changes, BLANKS));
        snprintf(name, SQL_TEXT_SIZE, "%s", scheme->name);
    }
    return code;
}

static bool is_option(const char *word, const char *name) {
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=';
}

bool sql_has(const char *options, const char *name) {
    const char *position = options + strspn(options, BLANKS);
    while (*position != '\0' && !is_option(position, name)) {
        position += strcspn(position, BLANKS);
        position += strspn(position, BLANKS);
    }
    return *position != '\0';
}

int sql_take(char *options, const char *name, char *value, size_t size, firn_error *error) {
    char words[SQL_TEXT_SIZE], *rest;
    size_t length = 0;
    int code = sql_copy(words, "the options", options, strlen(options), error);
    value[0] = '\0';
    for (char *word = strtok_r(words, BLANKS, &rest); word != NULL && code == FIRN_OK;
         word = strtok_r(NULL, BLANKS, &rest)) {
        size_t count = strlen(word);
        if (!is_option(word, name) || value[0] != '\0') { /* stays, with one blank before it */
            options[length] = ' ';
            length += length > 0;
            memcpy(options + length, word, count);
            length += count;
            continue;
        }
        const char *text = word + strlen(name) + 1;
        count = strlen(text);
        if (count == 0 || count >= size) {
            return set_error(error, FIRN_ERANGE,
                             "the value of %s= has %zu characters: give 1 to %zu", name, count,
                             size - 1);
        }
        memcpy(value, text, count + 1);
    }
    options[length] = '\0';
    return code;
}

int sql_take_number(char *options, const char *name, int64_t *value, int64_t most,
                    firn_error *error) {
    char text[16], *end;
    int code = sql_take(options, name, text, sizeof text, error);
    if (code != FIRN_OK || text[0] == '\0') {
        return code;
    }
    long long number = strtoll(text, &end, 10);
    if (*end != '\0' || text[0] < '0' || text[0] > '9' || number > most) {
        return set_error(error, FIRN_ERANGE, "%s=%s is out of range: 0 to %" PRId64, name, text,
                         most);
    }
    *value = number;
    return FIRN_OK;
}

int sql_take_duration(char *options, const char *name, int64_t *ms, int64_t most,
                      firn_error *error) {
    char text[32], before[40];
    int code = sql_take(options, name, text, sizeof text, error);
    snprintf(before, sizeof before, "%s=", name);
    return code != FIRN_OK || text[0] == '\0'
               ? code
               : firn__duration_set(ms, before, text, "ms", 0, most, error);
}

int sql_draw(uint64_t *digest, char seed[33], firn_error *error) {
    uint64_t words[3];
    if (getentropy(words, sizeof words) != 0) {
        return set_error(error, FIRN_EENTROPY, "the system returns no randomness: try again");
    }
    *digest = words[0];
    snprintf(seed, 33, "%016" PRIx64 "%016" PRIx64, words[1], words[2]);
    return FIRN_OK;
}

bool sql_has_node(const char *options, const firn_scheme *scheme) {
    bool has = sql_has(options, "node");
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        int role = scheme->slices[i].role;
        has = has || ((role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS) &&
                      sql_has(options, scheme->slices[i].name));
    }
    return has;
}

/* ---- time ------------------------------------------------------------------------------------ */

int sql_time(firn_time *time, const char *text, size_t length, firn_error *error) {
    char zoned[FIRN_TIME_SIZE + 1];
    if (firn_time_parse(time, text, length, NULL) == FIRN_OK) {
        return FIRN_OK;
    }
    /* SQL times have no offset. An invalid offset is refused by firn. */
    if (length < FIRN_TIME_SIZE && length > 0 && text[0] != '@') {
        memcpy(zoned, text, length);
        zoned[length] = 'Z';
        if (firn_time_parse(time, zoned, length + 1, NULL) == FIRN_OK) {
            return FIRN_OK;
        }
    }
    return pure_time(time, text, length, error);
}

int sql_time_number(firn_time *time, const char *text, size_t length, firn_error *error) {
    char number[FIRN_TIME_SIZE + 32];
    size_t point = 0, most;
    while (point < length && text[point] != '.') {
        point++;
    }
    /* DECIMAL may have more zeros than a nanosecond has digits. */
    for (most = length; most > point + 10 && text[most - 1] == '0';) {
        most--;
    }
    int written = snprintf(number, sizeof number, "@%.*s", (int)(most < 64 ? most : 64), text);
    return firn_time_parse(time, number, (size_t)written, error);
}

int sql_time_text(char text[FIRN_TIME_SIZE], const firn_time *time, int digits, firn_error *error) {
    char whole[FIRN_TIME_SIZE];
    firn_time_format(whole, time, digits);
    size_t length = strlen(whole);
    if (whole[0] == '+' || whole[0] == '-' || strncmp(whole, "0000", 4) == 0) {
        return set_error(
            error, FIRN_ERANGE,
            "the time %s has no SQL timestamp, whose years are 0001 to 9999: use firn_show"
            ", which writes it as text",
            whole);
    }
    memcpy(text, whole, length);
    text[10] = ' ';
    text[length - 1] = '\0'; /* without the Z */
    return FIRN_OK;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Times without an offset are UTC. */
static int set_field(firn_fields *fields, const firn_scheme *scheme, const char *name,
                     const char *value, firn_error *error) {
    char text[FIRN_TIME_SIZE];
    firn_error unused; /* the library's error about the value is clearer */
    firn_time time;
    if (strcmp(name, "time") == 0 && sql_time(&time, value, strlen(value), &unused) == FIRN_OK) {
        value = firn_time_format(text, &time, 9);
    }
    return pure_field(fields, scheme, name, value, error);
}

int sql_fields(firn_fields *fields, char prefix[FIRN_PREFIX_SIZE], const firn_scheme *scheme,
               int form, const char *text, size_t length, firn_error *error) {
    const bool takes_prefix = prefix != NULL && firn_scheme_field(scheme, "prefix") < 0;
    char words[SQL_TEXT_SIZE], *rest;
    *fields = (firn_fields){0};
    int code = sql_copy(words, "the list of fields", text, length, error);
    if (code != FIRN_OK) {
        return code;
    }
    for (char *word = strtok_r(words, BLANKS, &rest); word != NULL && code == FIRN_OK;
         word = strtok_r(NULL, BLANKS, &rest)) {
        char *value = strchr(word, '=');
        if (value == NULL) {
            return set_error(error, FIRN_EUSAGE, "'%.60s' is not a field: write NAME=VALUE", word);
        }
        *value++ = '\0';
        code = takes_prefix && strcmp(word, "prefix") == 0
                   ? pure_prefix(prefix, form, value, strlen(value), error)
                   : set_field(fields, scheme, word, value, error);
    }
    return code;
}

/* ---- integers -------------------------------------------------------------------------------- */

bool sql_unsigned(const char *options) {
    const char *found = strstr(options, "unsigned=1");
    return found != NULL && (found == options || found[-1] == ' ') &&
           strchr(" ", found[strlen("unsigned=1")]) != NULL;
}

int sql_integer(int64_t *value, const firn_scheme *scheme, const firn_id *id, bool allowed,
                firn_error *error) {
    if (id->bits > 64) {
        return set_error(error, FIRN_EUSAGE, "%s has %u bits, and an SQL integer has 64: use text",
                         scheme->name, id->bits);
    }
    if (id->low > INT64_MAX && scheme->sorts != FIRN_SORTS_NO && !allowed) {
        return set_error(error, FIRN_ERANGE,
                         "this ID of %s would be a negative SQL integer, out of order: use"
                         " text, or unsigned=1 for new IDs",
                         scheme->name);
    }
    *value = (int64_t)id->low;
    return FIRN_OK;
}
