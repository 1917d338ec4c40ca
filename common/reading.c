/* SPDX-License-Identifier: MIT */
#include "reading.h"

#include "errors.h"
#include "remark.h"

#include <stdio.h>
#include <string.h>

int scheme_index(const firn_scheme *scheme, int role) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == role) {
            return (int)i;
        }
    }
    return -1;
}

int id_time(firn_time *time, const firn_scheme *scheme, const firn_id *id) {
    const int index = scheme_index(scheme, FIRN_ROLE_TIME);
    firn_fields fields;
    if (firn_unpack(&fields, scheme, id, NULL) != FIRN_OK) {
        return -1;
    }
    if (index >= 0) {
        firn_scheme_time(scheme, fields.value[index].low, time);
    }
    return index >= 0;
}

bool is_today(const firn_time *time) {
    return time->sec >= TODAY_FROM && time->sec < TODAY_END;
}

/* ---- one scheme ----------------------------------------------------------------------------- */

/* The length of a leading 0x. */
static size_t hex_prefix(const char *text, size_t length) {
    return length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 2 : 0;
}

/* Whether IDs of a scheme are kept as integers: its own form is decimal, or a bigint holds it.
 * Nobody writes a TID so. */
static bool is_number(const firn_scheme *scheme) {
    return scheme->form == FIRN_FORM_DEC || scheme->form == FIRN_FORM_UNSIGNED ||
           (scheme->bits == 64 && scheme->form != FIRN_FORM_BASE32SORT);
}

/* Reads a decimal number, or hex with 0x or full width. */
static int read_number(const firn_scheme *scheme, firn_reading *reading, const char *text,
                       size_t length, firn_error *error) {
    size_t sign = length > 1 && text[0] == '-';
    bool digits = length > sign && strspn(text + sign, "0123456789") == length - sign;
    size_t prefix = hex_prefix(text, length);
    if (digits && is_number(scheme)) {
        reading->form = FIRN_FORM_DEC;
        return firn_parse(&reading->id, FIRN_FORM_DEC, scheme->bits, text, length, error);
    }
    if (prefix == 0 && length != firn_form_width(FIRN_FORM_HEX, scheme->bits)) {
        return FIRN_ETEXT;
    }
    reading->form = FIRN_FORM_HEX;
    return firn_parse(&reading->id, FIRN_FORM_HEX, scheme->bits, text + prefix, length - prefix,
                      error);
}

/* Suggests a form that would have fit, or a scheme. */
static int name_form(const id_reader *reader, const char *text, size_t length, int code,
                     firn_error *error) {
    const firn_scheme *scheme = &reader->scheme;
    firn_reading readings[FIRN_READINGS_MAX];
    firn_id id;
    for (int form = 0; form < FIRN_FORM_COUNT; form++) {
        if (form != FIRN_FORM_FLAKE && form != FIRN_FORM_TYPEID && form != scheme->form &&
            firn_parse(&id, form, scheme->bits, text, length, NULL) == FIRN_OK) {
            const char *name = firn_form_name(form), *source = reader->from;
            return source != NULL
                       ? suffix_error(error, " (valid as %s with %s%s)", name, source, name)
                       : suffix_error(error, " (valid as %s)", name);
        }
    }
    return firn_guess(readings, text, length, -1) == 0
               ? code
               : suffix_error(error, " (it looks like an ID of %s)", readings->scheme->name);
}

static int read_named(const id_reader *reader, firn_reading *reading, const char *text,
                      size_t length, firn_error *error) {
    const firn_scheme *scheme = &reader->scheme;
    firn_fields fields;
    int code;
    reading->scheme = scheme;
    reading->form = reader->form >= 0 ? reader->form : scheme->form;
    size_t prefix = reader->form == FIRN_FORM_HEX ? hex_prefix(text, length) : 0;
    code = firn_parse(&reading->id, reading->form, scheme->bits, text + prefix, length - prefix,
                      error);
    if (code != FIRN_OK && reader->form < 0) {
        int first = code;
        code = read_number(scheme, reading, text, length, error);
        code = code == FIRN_OK ? code : name_form(reader, text, length, first, error);
    }
    if (code == FIRN_OK) {
        reading->scheme = firn_scheme_seen(scheme, &reading->id);
        code = firn_unpack(&fields, reading->scheme, &reading->id, error);
    }
    return code;
}

/* ---- any scheme ----------------------------------------------------------------------------- */

/* Only digits, in the length of a hex form: decimal or hex. */
static bool has_two_faces(const char *text, size_t length) {
    return (length == 16 || length == 24 || length == 32) && strspn(text, "0123456789") == length;
}

bool reader_wonders(const id_reader *reader, const char *text, size_t length) {
    return !reader->named && reader->form < 0 && reader->habit == HABIT_NONE &&
           has_two_faces(text, length);
}

void reader_notice(id_reader *reader, const char *text, size_t length) {
    if (length == 0 || has_two_faces(text, length)) {
        return;
    }
    if (strspn(text, "0123456789") == length) {
        reader->habit = HABIT_NUMBER;
    } else if ((length == 16 || length == 24 || length == 32) &&
               strspn(text, "0123456789abcdefABCDEF") == length) {
        reader->habit = HABIT_HEX;
    }
}

/* Drops the hex readings of such a text. */
static void keep_numbers(firn_reading *readings, id_counts *counts) {
    id_counts kept = {0, 0};
    for (size_t i = 0; i < counts->all; i++) {
        if (readings[i].form != FIRN_FORM_HEX) {
            readings[kept.all++] = readings[i];
            kept.plausible += i < counts->plausible;
        }
    }
    *counts = kept.all > 0 ? kept : *counts;
}

int refuse_reading(firn_error *error, const char *text, size_t length, const char *cure) {
    char remark[REMARK_SIZE];
    if (length == 0) {
        return set_error(error, FIRN_ETEXT, "the ID is empty: give one");
    }
    if (text[0] == ' ' || text[length - 1] == ' ') { /* pasted from a spreadsheet */
        return set_error(error, FIRN_ETEXT, "'%.40s'%s begins or ends with a blank: remove it",
                         text, length > 40 ? "..." : "");
    }
    bool none = strcmp(remark_on(remark, text, length), "none") == 0;
    if (none && remark[0] != '\0') { /* damaged: the remark says what to fix */
        return set_error(error, FIRN_ETEXT, "'%.40s'%s is not an ID: it is %s", text,
                         length > 40 ? "..." : "", remark);
    }
    return set_error(error, FIRN_ETEXT, "'%.40s'%s is not an ID of a known scheme%s%.80s: %.64s",
                     text, length > 40 ? "..." : "", remark[0] != '\0' ? ", but " : "", remark,
                     cure);
}

int reader_look(id_reader *reader, firn_reading readings[FIRN_READINGS_MAX], id_counts *counts,
                const char *text, size_t length, firn_error *error) {
    if (reader->named) {
        firn_reading reading = {0};
        firn_error why;
        int code = read_named(reader, &reading, text, length, &why);
        if (code != FIRN_OK) {
            return prefix_error(error, code, &why, "%s'%.50s'%s: ", length == 0 ? "the ID " : "",
                                text, length > 50 ? "..." : "");
        }
        reading.sure = FIRN_CERTAIN;
        readings[0] = reading;
        *counts = (id_counts){1, 1};
        return FIRN_OK;
    }
    bool settle = reader->form < 0 && has_two_faces(text, length); /* as the rest of the stream */
    counts->all =
        firn_guess_all(readings, &counts->plausible, text, length,
                       settle && reader->habit == HABIT_HEX ? FIRN_FORM_HEX : reader->form);
    if (settle && reader->habit == HABIT_NUMBER) {
        keep_numbers(readings, counts);
    }
    reader_notice(reader, text, length);
    return counts->all > 0 ? FIRN_OK : refuse_reading(error, text, length, reader->cure);
}

int reader_show(id_reader *reader, firn_reading readings[FIRN_READINGS_MAX], id_counts *counts,
                id_matches *matches, const char *text, size_t length, firn_error *error) {
    char remark[REMARK_SIZE];
    int code = reader_look(reader, readings, counts, text, length, error);
    matches->count = 0;
    if (reader->named || reader->form >= 0 || (code != FIRN_OK && code != FIRN_ETEXT)) {
        return code;
    }
    const bool plausible = code == FIRN_OK && counts->plausible > 0;
    matches->count = firn_recognize(matches->list, plausible ? readings : NULL, text, length);
    if (code == FIRN_OK || matches->count == 0) {
        return code;
    }
    remark_on(remark, text, length);
    if (remark[0] != '\0' && !matches->list[0].leads) {
        return code; /* damaged: the error says what to fix */
    }
    *counts = (id_counts){0, 0};
    return FIRN_OK;
}

/* The UUID of a format that leads, in its usual byte order. False: no such format leads. */
static bool read_match(firn_reading *reading, const char *text, size_t length) {
    firn_match matches[FIRN_MATCHES_MAX];
    firn_reading best[FIRN_READINGS_MAX];
    const size_t plausible = firn_guess(best, text, length, -1);
    const size_t count = firn_recognize(matches, plausible > 0 ? best : NULL, text, length);
    const char *uuid = NULL, *scheme = NULL, *bytes = NULL;
    for (uint32_t i = 0; count > 0 && matches[0].leads && i < matches[0].count; i++) {
        const firn_match_field *field = &matches[0].fields[i];
        uuid = strcmp(field->name, "uuid") == 0 ? field->value : uuid;
        scheme = strcmp(field->name, "scheme") == 0 ? field->value : scheme;
        bytes = strcmp(field->name, "bytes") == 0 ? field->value : bytes;
    }
    if (uuid == NULL || scheme == NULL || bytes != NULL) {
        return false;
    }
    *reading = (firn_reading){
        .scheme = firn_scheme_find(scheme), .form = FIRN_FORM_UUID, .sure = FIRN_LIKELY};
    return firn_parse(&reading->id, FIRN_FORM_UUID, 128, uuid, strlen(uuid), NULL) == FIRN_OK;
}

int reader_convert(id_reader *reader, firn_reading readings[FIRN_READINGS_MAX], id_counts *counts,
                   const char *text, size_t length, firn_error *error) {
    firn_reading other;
    int code = reader_look(reader, readings, counts, text, length, error);
    if (!reader->named && reader->form < 0 && read_match(&other, text, length)) {
        readings[0] = other;
        *counts = (id_counts){1, 1};
        return FIRN_OK;
    }
    return code;
}

/* ---- what is only possible ------------------------------------------------------------------ */

const char *reading_sure_name(const firn_reading *reading) {
    return reading->sure == FIRN_CERTAIN ? "named" : firn_sure_name(reading->sure);
}

bool readings_sure(const firn_reading *readings, id_counts counts) {
    return counts.plausible > 0 && readings[0].sure != FIRN_POSSIBLE;
}

int readings_answer(const firn_reading *readings, id_counts counts, const char *cure,
                    firn_error *error) {
    if (counts.plausible == 0) {
        return set_error(error, FIRN_ETEXT, "it fits schemes only by chance: %s", cure);
    }
    return readings_sure(readings, counts)
               ? FIRN_OK
               : set_error(error, FIRN_ETEXT, "it may be an ID of %s or of another scheme: %s",
                           readings[0].scheme->name, cure);
}

static id_possible possible_reading(const firn_reading *reading) {
    id_possible out = {.reading = reading, .digits = firn_scheme_digits(reading->scheme)};
    out.timed = id_time(&out.time, reading->scheme, &reading->id) > 0;
    return out;
}

static id_possible possible_match(const firn_match *match) {
    return (id_possible){
        .match = match, .timed = match->timed, .digits = match->digits, .time = match->time};
}

size_t readings_possible(id_possible list[POSSIBLE_MAX], const firn_reading *readings,
                         id_counts counts, const id_matches *matches) {
    const firn_owner *owner = NULL;
    const size_t formats = matches != NULL ? matches->count : 0;
    bool listed[POSSIBLE_MAX] = {false};
    size_t count = 0, o = 0;
    do { /* at last those without an owner */
        owner = firn_owner_at(o++);
        for (size_t i = 0; i < counts.plausible + formats; i++) {
            const bool read = i < counts.plausible;
            const firn_match *match = read ? NULL : &matches->list[i - counts.plausible];
            const char *name = read ? readings[i].scheme->name : match->format->name;
            if (listed[i] ||
                (owner != NULL ? strcmp(owner->name, name) != 0 : strcmp(name, "integer") == 0)) {
                continue;
            }
            listed[i] = true;
            list[count] = read ? possible_reading(&readings[i]) : possible_match(match);
            list[count++].owner = owner;
        }
    } while (owner != NULL);
    return count;
}

#define NEAR_S (10 * INT64_C(31556952))

static bool is_near(const id_possible *possible, const firn_time *near) {
    int64_t apart;
    return possible->timed && !__builtin_sub_overflow(possible->time.sec, near->sec, &apart) &&
           apart >= -NEAR_S && apart <= NEAR_S;
}

/* Moves the readings that are near to the front, and drops the formats that are not. */
static void keep_near(firn_reading *readings, id_counts *counts, id_matches *matches,
                      const firn_time *near) {
    size_t kept = 0, formats = 0;
    for (size_t i = 0; i < counts->plausible; i++) {
        const firn_reading reading = readings[i];
        const id_possible possible = possible_reading(&reading);
        if (is_near(&possible, near)) {
            memmove(readings + kept + 1, readings + kept, (i - kept) * sizeof readings[0]);
            readings[kept++] = reading;
        }
    }
    for (size_t i = 0; i < matches->count; i++) {
        const id_possible possible = possible_match(&matches->list[i]);
        if (is_near(&possible, near)) {
            matches->list[formats++] = matches->list[i];
        }
    }
    counts->plausible = kept;
    matches->count = formats;
}

void readings_near(firn_reading *readings, id_counts *counts, id_matches *matches,
                   const firn_time *near) {
    id_possible list[POSSIBLE_MAX];
    size_t count = 0, times = 0;
    if (readings_sure(readings, *counts) || (matches->count > 0 && matches->list[0].leads)) {
        return;
    }
    const size_t all = readings_possible(list, readings, *counts, matches);
    for (size_t i = 0; i < all; i++) {
        if (is_near(&list[i], near)) {
            times += count == 0 || firn_time_cmp(&list[i].time, &list[0].time) != 0;
            list[count++] = list[i];
        }
    }
    if (count == 0) {
        return;
    }
    keep_near(readings, counts, matches, near);
    if (times == 1 && counts->plausible > 0) {
        readings[0].sure = FIRN_LIKELY;
    } else if (times == 1) {
        firn_match *match = &matches->list[0];
        match->sure = FIRN_LIKELY;
        match->leads = true;
        snprintf(match->reason, sizeof match->reason,
                 "nothing else that fits is within ten years of the time that was given");
    }
}

/* ---- readings that disagree ----------------------------------------------------------------- */

static bool is_same(const firn_id *a, const firn_id *b) {
    return a->bits == b->bits && firn_id_cmp(a, b) == 0;
}

int readings_certain(const firn_reading *readings, id_counts counts, const char *cure,
                     firn_error *error) {
    for (size_t i = 1; i < counts.all; i++) {
        const firn_reading *other = &readings[i];
        /* digits read as hex are also a number */
        bool rival = i < counts.plausible || counts.plausible == 0 ||
                     (readings[0].form == FIRN_FORM_HEX && other->form == FIRN_FORM_DEC);
        if (rival && !is_same(&readings[0].id, &other->id)) {
            return set_error(error, FIRN_ETEXT,
                             "it is one ID as %s (%s) and another as %s (%s): %s",
                             firn_form_name(readings[0].form), readings[0].scheme->name,
                             firn_form_name(other->form), other->scheme->name, cure);
        }
    }
    return FIRN_OK;
}

/* The best reading cannot be converted: suggests another that can. */
static int name_other(const firn_scheme *target, const firn_reading *readings, size_t plausible,
                      const char *cure, int code, firn_error *error) {
    firn_id id;
    for (size_t i = 1; i < plausible; i++) {
        if (firn_convert(&id, target, &readings[i].id, readings[i].scheme, NULL) == FIRN_OK) {
            return suffix_error(error, "; if it is %s: %s", readings[i].scheme->name, cure);
        }
    }
    return code;
}

int readings_convert(firn_id *out, const firn_scheme *target, const firn_reading *readings,
                     id_counts counts, const char *cure, firn_error *error) {
    const size_t plausible = counts.plausible;
    firn_id best, other;
    int code = plausible == 0 ? readings_answer(readings, counts, cure, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    code = readings_certain(readings, counts, cure, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_convert(&best, target, &readings[0].id, readings[0].scheme, error);
    if (code != FIRN_OK) {
        return name_other(target, readings, plausible, cure, code, error);
    }
    for (size_t i = 1; i < plausible && !is_same(&best, &readings[0].id); i++) {
        const firn_scheme *scheme = readings[i].scheme;
        if (firn_convert(&other, target, &readings[i].id, scheme, NULL) != FIRN_OK ||
            !is_same(&best, &other)) {
            return set_error(error, FIRN_ETEXT, "it may be %s or %s: %s", readings[0].scheme->name,
                             scheme->name, cure);
        }
    }
    if (!is_same(&best, &readings[0].id) && !readings_sure(readings, counts)) {
        return readings_answer(readings, counts, cure, error);
    }
    *out = best;
    return FIRN_OK;
}

char *reading_text(char text[READING_TEXT_SIZE], const firn_reading *reading, const char *given) {
    char prefix[FIRN_PREFIX_SIZE];
    if (reading->scheme->keyed) {
        snprintf(text, READING_TEXT_SIZE, "%s", given);
        return text;
    }
    if (reading->form == FIRN_FORM_TYPEID) {
        firn_prefix_read(prefix, given, strlen(given));
        return firn_prefix_format(text, prefix, &reading->id);
    }
    return firn_format(text, &reading->id, reading->scheme->form);
}
