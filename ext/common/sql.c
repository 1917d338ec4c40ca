/* SPDX-License-Identifier: MIT */
#include "sql.h"

#include "errors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* ---- schemes --------------------------------------------------------------------------------- */

int sql_scheme(firn_scheme *scheme, const char *text, size_t length, firn_error *error) {
    char words[SQL_TEXT_SIZE], *rest;
    const char *changes[3] = {NULL, NULL, NULL};
    static const char *const names[3] = {"epoch=", "bits=", "digits="};
    int code = sql_copy(words, "the scheme", text, length, error);
    if (code != FIRN_OK) {
        return code;
    }
    char *name = strtok_r(words, BLANKS, &rest);
    if (name == NULL || firn_scheme_find(name) == NULL) {
        code = sql_copy(words, "the scheme", text, length, error); /* unchanged */
        return code == FIRN_OK ? firn_scheme_make(scheme, words, NULL, NULL, NULL, error) : code;
    }
    for (char *word; (word = strtok_r(NULL, BLANKS, &rest)) != NULL;) {
        size_t i = 0;
        while (i < 3 && strncmp(word, names[i], strlen(names[i])) != 0) {
            i++;
        }
        if (i == 3 || changes[i] != NULL) {
            return set_error(error, FIRN_EUSAGE,
                             "'%.60s' does not change %s: epoch=, bits= and digits= do, once each",
                             word, name);
        }
        changes[i] = word + strlen(names[i]);
    }
    return firn_scheme_make(scheme, name, changes[0], changes[1], changes[2], error);
}

bool sql_has(const char *options, const char *name) {
    size_t length = strlen(name);
    for (const char *at = options; at != NULL && *at != '\0';) {
        at += strspn(at, BLANKS);
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            return true;
        }
        at = strpbrk(at, BLANKS);
    }
    return false;
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
    firn_error why;
    if (firn_time_parse(time, text, length, &why) == FIRN_OK) {
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
    return set_error(error, why.code, "the time '%.*s': %s", (int)(length < 40 ? length : 40), text,
                     why.text);
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

int sql_id_time(firn_time *time, const firn_scheme *scheme, const firn_id *id, firn_error *error) {
    firn_fields fields;
    int index = scheme_index(scheme, FIRN_ROLE_TIME);
    if (index < 0) {
        return set_error(error, FIRN_EUSAGE,
                         "an ID of %s contains no time: store the time in a column", scheme->name);
    }
    int code = firn_unpack(&fields, scheme, id, error);
    if (code == FIRN_OK) {
        firn_scheme_time(scheme, fields.value[index].low, time);
    }
    return code;
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
    return firn_fields_set(fields, scheme, name, value, error);
}

int sql_fields(firn_fields *fields, const firn_scheme *scheme, const char *text, size_t length,
               firn_error *error) {
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
        code = set_field(fields, scheme, word, value, error);
    }
    return code;
}

int sql_pack(firn_id *id, const firn_scheme *scheme, const char *text, size_t length,
             firn_error *error) {
    firn_fields fields;
    int code = sql_fields(&fields, scheme, text, length, error);
    return code == FIRN_OK ? firn_pack(id, scheme, &fields, error) : code;
}

int sql_bounds(firn_id *least, firn_id *greatest, const firn_scheme *scheme, const firn_time *time,
               const char *pinned, size_t length, firn_error *error) {
    firn_fields fields;
    firn_time next = *time; /* one nanosecond later: the next tick at most */
    int code = sql_fields(&fields, scheme, pinned, length, error);
    next.sec += next.ns == 999999999 && next.sec < INT64_MAX; /* at the end of time: refused */
    next.ns = next.ns == 999999999 ? 0 : next.ns + 1;
    return code == FIRN_OK ? firn_range(least, greatest, scheme, &fields, time, &next, error)
                           : code;
}

int sql_uuid1(firn_id *id, const firn_time *time, int64_t clock_seq, const char *address,
              size_t length, firn_error *error) {
    const firn_scheme *scheme = firn_scheme_find("uuid1");
    const int at = scheme_index(scheme, FIRN_ROLE_TIME),
              seq = firn_scheme_field(scheme, "clock_seq");
    const int64_t most = (int64_t)firn_scheme_max(scheme, (uint32_t)seq).low;
    char mac[SQL_TEXT_SIZE];
    firn_fields fields = {0};
    if (clock_seq < 0 || clock_seq > most) {
        return set_error(error, FIRN_ERANGE, "clock_seq %" PRId64 " is out of range: 0 to %" PRId64,
                         clock_seq, most);
    }
    int code = sql_copy(mac, "the address", address, length, error);
    code = code == FIRN_OK ? firn_fields_set(&fields, scheme, "node", mac, error) : code;
    code = code == FIRN_OK ? firn_scheme_tick(scheme, time, &fields.value[at].low, error) : code;
    fields.value[seq].low = (uint64_t)clock_seq;
    fields.given |= UINT32_C(1) << at | UINT32_C(1) << seq;
    return code == FIRN_OK ? firn_pack(id, scheme, &fields, error) : code;
}

/* ---- IDs ------------------------------------------------------------------------------------- */

/* Bytes as text: a UUID for 128 bits, else hex digits. */
static size_t bytes_as_text(char text[FIRN_TEXT_SIZE], const char *bytes, size_t length) {
    firn_id id;
    if (firn_id_from_bytes(&id, (const uint8_t *)bytes, (uint32_t)length * 8, NULL) != FIRN_OK) {
        return 0;
    }
    firn_format(text, &id, length == 16 ? FIRN_FORM_UUID : FIRN_FORM_HEX);
    return strlen(text);
}

static int read_named(firn_reading *reading, const firn_scheme *scheme, const char *text,
                      size_t length, firn_error *error) {
    id_reader reader = {.named = true, .scheme = *scheme, .form = -1};
    char copy[SQL_TEXT_SIZE];
    firn_fields fields;
    size_t count;
    if (scheme->bits > 64 && length == (scheme->bits + 7) / 8 &&
        firn_id_from_bytes(&reading->id, (const uint8_t *)text, scheme->bits, NULL) == FIRN_OK &&
        firn_unpack(&fields, scheme, &reading->id, NULL) == FIRN_OK) {
        reading->scheme = scheme;
        reading->form = scheme->form;
        return FIRN_OK;
    }
    firn_reading readings[FIRN_READINGS_MAX];
    int code = sql_copy(copy, "the ID", text, length, error);
    code = code == FIRN_OK ? reader_read(&reader, readings, &count, copy, length, error) : code;
    if (code == FIRN_OK) {
        *reading = readings[0];
        reading->scheme = scheme; /* `reader` ends with this call */
    }
    return code;
}

/* The bytes of an ID are almost never all printable, so a printable word is refused as text. */
static bool is_plain(const char *text, size_t length) {
    size_t i = 0;
    while (i < length && text[i] >= ' ' && text[i] <= '~') {
        i++;
    }
    return i == length;
}

/* `form` as of firn_guess_all. */
static int read_any(firn_reading readings[FIRN_READINGS_MAX], id_counts *counts, const char *text,
                    size_t length, int form, firn_error *error) {
    char copy[FIRN_TEXT_SIZE];
    counts->all = firn_guess_all(readings, &counts->plausible, text, length, form);
    if (counts->all == 0 && (length == 12 || length == 16 || length == 20) &&
        !is_plain(text, length)) {
        size_t digits = bytes_as_text(copy, text, length);
        counts->all = firn_guess_all(readings, &counts->plausible, copy, digits,
                                     length == 16 ? -1 : FIRN_FORM_HEX);
    }
    if (counts->all > 0) {
        return FIRN_OK;
    }
    snprintf(copy, sizeof copy, "%.*s", (int)(length < 60 ? length : 60), text);
    return refuse_reading(error, copy, strlen(copy), "name its scheme");
}

int sql_read(firn_reading readings[FIRN_READINGS_MAX], id_counts *counts, const firn_scheme *scheme,
             const char *text, size_t length, firn_error *error) {
    if (scheme == NULL) {
        return read_any(readings, counts, text, length, -1, error);
    }
    *counts = (id_counts){1, 1};
    return read_named(&readings[0], scheme, text, length, error);
}

int sql_read_integer(firn_reading readings[FIRN_READINGS_MAX], id_counts *counts,
                     const firn_scheme *scheme, int64_t value, firn_error *error) {
    char text[32];
    int length = snprintf(text, sizeof text, "%" PRId64, value);
    if (scheme != NULL && scheme->bits <= 64) { /* whatever the scheme's form is */
        firn_fields fields;
        const uint64_t bits = (uint64_t)value;
        uint8_t bytes[8];
        for (int i = 0; i < 8; i++) {
            bytes[i] = (uint8_t)(bits >> (56 - 8 * i));
        }
        int code = firn_id_from_bytes(&readings[0].id, bytes + 8 - (scheme->bits + 7) / 8,
                                      scheme->bits, error);
        code = code == FIRN_OK ? firn_unpack(&fields, scheme, &readings[0].id, error) : code;
        readings[0].scheme = scheme;
        readings[0].form = FIRN_FORM_DEC;
        *counts = (id_counts){1, 1};
        return code;
    }
    return scheme != NULL ? sql_read(readings, counts, scheme, text, (size_t)length, error)
                          : read_any(readings, counts, text, (size_t)length, FIRN_FORM_DEC, error);
}

int sql_certain(const firn_reading *readings, id_counts counts, firn_error *error) {
    return readings_certain(readings, counts, "name its scheme", error);
}

static int convert_form(char text[FIRN_TEXT_SIZE], const firn_reading *readings, id_counts counts,
                        int form, firn_error *error) {
    int code = sql_certain(readings, counts, error);
    if (code != FIRN_OK) {
        return code;
    }
    firn_format(text, &readings[0].id, form);
    return text[0] != '\0'
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "an ID of %u bits cannot be written as %s: choose another form",
                           readings[0].id.bits, firn_form_name(form));
}

int sql_convert(char text[FIRN_TEXT_SIZE], const firn_reading *readings, id_counts counts,
                const char *to, size_t length, firn_error *error) {
    char name[SQL_TEXT_SIZE];
    firn_scheme scheme;
    firn_id out;
    int code = sql_copy(name, "the form", to, length, error);
    if (code == FIRN_OK && firn_form_find(name) >= 0) {
        return convert_form(text, readings, counts, firn_form_find(name), error);
    }
    code = code == FIRN_OK ? sql_scheme(&scheme, to, length, error) : code;
    if (code == FIRN_OK) {
        code = readings_convert(&out, &scheme, readings, counts, "name its scheme", error);
    }
    if (code == FIRN_OK) {
        firn_format(text, &out, scheme.form);
    }
    return code;
}

int sql_uuid(firn_id *id, const char *text, size_t length, firn_error *error) {
    int form = length == 32 ? FIRN_FORM_HEX : length == 38 ? FIRN_FORM_BRACED : FIRN_FORM_UUID;
    firn_error why;
    int code = firn_parse(id, form, 128, text, length, &why);
    return code == FIRN_OK ? FIRN_OK
                           : set_error(error, code, "the UUID '%.*s': %s",
                                       (int)(length < 50 ? length : 50), text, why.text);
}

void sql_swap(uint8_t out[16], const uint8_t in[16], bool back) {
    static const uint8_t from[16] = {6, 7, 4, 5, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15};
    for (int i = 0; i < 16; i++) {
        out[back ? from[i] : i] = in[back ? i : from[i]];
    }
}

int sql_integer(int64_t *value, const firn_scheme *scheme, const firn_id *id, firn_error *error) {
    if (id->bits > 64) {
        return set_error(error, FIRN_EUSAGE, "%s has %u bits, and an SQL integer has 64: use text",
                         scheme->name, id->bits);
    }
    if (id->low > INT64_MAX && scheme->sorts != FIRN_SORTS_NO) {
        return set_error(error, FIRN_ERANGE,
                         "this ID of %s would be a negative SQL integer, out of order: use"
                         " text",
                         scheme->name);
    }
    *value = (int64_t)id->low;
    return FIRN_OK;
}
