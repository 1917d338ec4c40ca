/* SPDX-License-Identifier: MIT */
/* Guessing: which schemes of the table a text may be an ID of, best first. Judges by the text and
 * fixed constants alone, never by the present time: a text always has the same readings.
 *
 * A text is tried in a form
 *   dec       when it is digits only, perhaps after a minus. It is an ID of the narrowest width in
 *             the table that holds the number (64, 96, 128, 160 bits); 64 bits are signed or
 *             unsigned
 *   hex       when it begins with 0x (zeros after that may be missing), or has the full width and
 *             a letter; of digits only at the full width for schemes that are hex by default and
 *             for all of 128 bits
 *   uuid, urn, braced   for schemes of 128 bits
 *   flake     for flake itself when its time is in [2005, 2045): its 64 bits of milliseconds make an
 *             ID of nearly every word, and of texts of other forms with a wrong digit
 *   typeid    for schemes of 128 bits when there is a prefix; without one for typeid itself
 *   dated     when it is digits only and the calendar is valid: time-member, and time-random with
 *             as many digits as the length leaves, from three on: shorter ones are mostly numbers
 *   others    for schemes of a width of which some scheme has that form by default
 * or in the one form that is asked for. time-random and time-member are dated and nothing else, and
 * order is never guessed: no digit tells. A row fits when all its constants are there. First come
 * the readings that are plausible (plausible.c), likely times before unlikely ones; among equals
 * the points decide:
 *   +  1      for each bit of its constants, up to 8
 *   + 20      when the form is its default one
 *   + 10      when its time is in [2005, 2045), - 10 when it is not; 0 without a time
 * Equal points: in the order of the list. */
#include "dated.h"
#include "plausible.h"
#include "scheme.h"

#include <string.h>

enum { POINTS_FORM = 20, POINTS_TIME = 10, POINTS_CONSTANT = 8 };
enum { DATED_MIN = FIRN__DATED_CALENDAR + 3, HEX_MAX = 40 };

/* Rows share few widths, so a text is parsed once for each form and width. */
enum { WIDTHS = 4 }; /* 64, 96, 128 and 160 bits; others are parsed each time */

typedef struct {
    bool tried, read;
    firn_id id;
} attempt;

/* What is plain to see of a text. */
typedef struct {
    const char *text;
    size_t length;
    const char *hex; /* after 0x, hex digits only, or NULL */
    size_t hex_length;
    bool only_digits; /* perhaps after a minus */
    bool has_prefix;  /* of a typeid */
    bool asked;       /* the form was asked for: nothing is left out by sight */
    attempt attempts[FIRN_FORM_COUNT][WIDTHS];
} sight;

static sight look(const char *text, size_t length, bool asked) {
    sight out = {.text = text, .length = length, .only_digits = length > 0, .asked = asked};
    for (size_t i = 0; i < length; i++) {
        bool sign = i == 0 && length > 1 && text[i] == '-';
        out.only_digits = out.only_digits && ((text[i] >= '0' && text[i] <= '9') || sign);
        out.has_prefix = out.has_prefix || text[i] == '_';
    }
    bool hex = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    for (size_t i = 2; i < length && hex; i++) {
        char lower = (char)(text[i] | 0x20);
        hex = (text[i] >= '0' && text[i] <= '9') || (lower >= 'a' && lower <= 'f');
    }
    if (hex) {
        out.hex = text + 2;
        out.hex_length = length - 2;
    }
    return out;
}

/* Whether a scheme of this width has this form by default. */
static bool is_usual(int form, uint32_t bits) {
    const firn_scheme *scheme;
    for (size_t i = 0; (scheme = firn_scheme_at(i)) != NULL; i++) {
        if (scheme->form == form && scheme->bits == bits) {
            return true;
        }
    }
    return false;
}

/* A scheme whose IDs may be written in any form. */
static bool is_plain(const firn_scheme *scheme) {
    return scheme->form != FIRN_FORM_DATED && !scheme->keyed;
}

/* The i-th scheme; time-random with as many digits as the text has. */
static const firn_scheme *row_at(size_t i, const sight *seen) {
    const firn_scheme *scheme = firn_scheme_at(i);
    bool digits = scheme != NULL && firn__dated_digits(scheme->bits) > 0 && !is_plain(scheme);
    return digits && seen->length > FIRN__DATED_CALENDAR &&
                   seen->length <= FIRN__DATED_CALENDAR + FIRN__DATED_DIGITS
               ? firn__scheme_digits((uint32_t)seen->length - FIRN__DATED_CALENDAR)
               : scheme;
}

/* Whether a text may have this form, from what was seen. */
static bool may_be(const sight *seen, const firn_scheme *scheme, int form) {
    if (!is_plain(scheme)) {
        return form == FIRN_FORM_DATED && scheme->form == form &&
               (seen->asked || seen->length >= DATED_MIN);
    }
    switch (form) {
    case FIRN_FORM_DEC:
        return seen->asked ||
               (seen->only_digits && (scheme->form != FIRN_FORM_UNSIGNED || seen->text[0] == '-'));
    case FIRN_FORM_UNSIGNED:
        return seen->asked || (seen->only_digits && scheme->form == FIRN_FORM_UNSIGNED);
    case FIRN_FORM_HEX:
        return seen->asked || seen->hex != NULL || !seen->only_digits || scheme->form == form ||
               scheme->bits == 128;
    case FIRN_FORM_UUID:
    case FIRN_FORM_URN:
    case FIRN_FORM_BRACED:
        return true;
    case FIRN_FORM_FLAKE:
        return scheme->form == form && (seen->asked || !seen->only_digits);
    case FIRN_FORM_DATED:
        return false;
    case FIRN_FORM_TYPEID:
        return seen->asked || seen->has_prefix || (scheme->form == form && !seen->only_digits);
    default:
        return seen->length == firn_form_width(form, scheme->bits) &&
               (seen->asked || (!seen->only_digits && is_usual(form, scheme->bits)));
    }
}

/* 0x and a number, of as many digits as it needs. */
static bool read_hex(firn_id *id, const sight *seen, uint32_t bits) {
    char digits[HEX_MAX];
    size_t width = firn_form_width(FIRN_FORM_HEX, bits);
    if (seen->hex_length > width) {
        return false;
    }
    memset(digits, '0', width);
    memcpy(digits + width - seen->hex_length, seen->hex, seen->hex_length);
    return firn_parse(id, FIRN_FORM_HEX, bits, digits, width, NULL) == FIRN_OK;
}

static bool parse_as(firn_id *id, const sight *seen, int form, uint32_t bits) {
    return form == FIRN_FORM_HEX && seen->hex != NULL
               ? read_hex(id, seen, bits)
               : firn_parse(id, form, bits, seen->text, seen->length, NULL) == FIRN_OK;
}

static bool read_as(firn_id *id, sight *seen, int form, uint32_t bits) {
    if (bits < 64 || bits > 160 || bits % 32 != 0) {
        return parse_as(id, seen, form, bits);
    }
    attempt *one = &seen->attempts[form][bits / 32 - 2];
    if (!one->tried) {
        one->tried = true;
        one->read = parse_as(&one->id, seen, form, bits);
    }
    *id = one->id;
    return one->read;
}

/* A number without a fixed width is an ID of the narrowest scheme that it fits. */
static bool is_narrowest(sight *seen, int form, uint32_t bits) {
    const firn_scheme *scheme;
    firn_id id;
    if (form != FIRN_FORM_DEC && form != FIRN_FORM_UNSIGNED &&
        !(form == FIRN_FORM_HEX && seen->hex != NULL)) {
        return true;
    }
    for (size_t i = 0; (scheme = firn_scheme_at(i)) != NULL; i++) {
        if (is_plain(scheme) && scheme->bits < bits && read_as(&id, seen, form, scheme->bits)) {
            return false;
        }
    }
    return true;
}

/* The points of a scheme that fits. */
static int points_of(const firn_scheme *scheme, int form, const firn_fields *fields) {
    bool framed =
        scheme->form == FIRN_FORM_UUID && (form == FIRN_FORM_URN || form == FIRN_FORM_BRACED);
    int points = scheme->form == form || framed ? POINTS_FORM : 0;
    if (scheme->tick_ns != 0) {
        points += firn__time_likely(scheme, fields) ? POINTS_TIME : -POINTS_TIME;
    }
    uint32_t constant = firn__constant_bits(scheme);
    return points + (int)(constant < POINTS_CONSTANT ? constant : POINTS_CONSTANT);
}

/* Readings, best first; equal ones in the order in which they came. */
typedef struct {
    firn_reading *readings;
    struct rank {
        int standing, points;
    } ranks[FIRN_READINGS_MAX];
    size_t count;
} ranking;

static bool is_worse(struct rank a, struct rank b) {
    return a.standing != b.standing ? a.standing < b.standing : a.points < b.points;
}

static void insert(ranking *list, const firn_reading *reading, struct rank rank) {
    size_t at = list->count;
    while (at > 0 && is_worse(list->ranks[at - 1], rank)) {
        at--;
    }
    if (at == FIRN_READINGS_MAX) {
        return;
    }
    list->count += list->count < FIRN_READINGS_MAX;
    for (size_t i = list->count - 1; i > at; i--) {
        list->readings[i] = list->readings[i - 1];
        list->ranks[i] = list->ranks[i - 1];
    }
    list->readings[at] = *reading;
    list->ranks[at] = rank;
}

static struct rank rank_of(const firn_reading *reading, const firn_fields *fields, sight *seen) {
    firn_id number;
    struct rank out = {(int)firn__standing(reading, fields),
                       points_of(reading->scheme, reading->form, fields)};
    if (seen->hex != NULL && reading->form != FIRN_FORM_HEX && out.standing != FIRN__LIKELY) {
        out.standing = FIRN__CHANCE; /* 0x says what it is */
    }
    if (seen->only_digits && !seen->asked && reading->form == FIRN_FORM_HEX &&
        read_as(&number, seen, FIRN_FORM_DEC, 64) && firn__ordinary(number.low)) {
        out.standing = FIRN__CHANCE; /* 16 digits, as times in us have */
    }
    if (seen->text[0] == '-' && reading->form == FIRN_FORM_DEC &&
        firn__ordinary(0 - reading->id.low)) {
        out.standing = FIRN__CHANCE; /* a small number has a sign or none */
    }
    return out;
}

size_t firn_guess_all(firn_reading readings[FIRN_READINGS_MAX], size_t *plausible, const char *text,
                      size_t length, int form) {
    ranking list = {.readings = readings};
    sight seen = look(text, length, form >= 0);
    const firn_scheme *scheme;
    *plausible = 0;
    for (size_t i = 0; form < FIRN_FORM_COUNT && (scheme = row_at(i, &seen)) != NULL; i++) {
        for (int f = form < 0 ? 0 : form; f < (form < 0 ? FIRN_FORM_COUNT : form + 1); f++) {
            firn_reading reading = {scheme, f, {0, 0, 0, 0}};
            firn_fields fields;
            if (may_be(&seen, scheme, f) && read_as(&reading.id, &seen, f, scheme->bits) &&
                firn_unpack(&fields, scheme, &reading.id, NULL) == FIRN_OK &&
                (f != FIRN_FORM_FLAKE || seen.asked || firn__time_likely(scheme, &fields)) &&
                is_narrowest(&seen, f, scheme->bits)) {
                insert(&list, &reading, rank_of(&reading, &fields, &seen));
            }
        }
    }
    while (*plausible < list.count && list.ranks[*plausible].standing != FIRN__CHANCE) {
        ++*plausible;
    }
    return list.count;
}

size_t firn_guess(firn_reading readings[FIRN_READINGS_MAX], const char *text, size_t length,
                  int form) {
    size_t plausible;
    firn_guess_all(readings, &plausible, text, length, form);
    return plausible;
}
