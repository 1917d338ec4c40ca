/* SPDX-License-Identifier: MIT */
/* Guessing: the schemes of the table that a text may be an ID of, best first. Only the text and
 * fixed constants count, never the present time: a text always has the same readings.
 *
 * A text is tried in a form
 *   dec       when it is digits only, perhaps after a minus. It is an ID of the narrowest width in
 *             the table that holds the number (64, 96, 128, 160 bits); 64 bits are signed or
 *             unsigned
 *   hex       when it begins with 0x (zeros after that may be missing), or has the full width and
 *             a letter; of digits only at the full width for schemes that are hex by default and
 *             for all of 128 bits
 *   uuid, urn, braced   for schemes of 128 bits
 *   flake     for flake itself when its time is in [2005, 2045): its 64 bits of milliseconds fit
 *             almost every word, and texts of other forms with a wrong digit
 *   typeid    for schemes of 128 bits when there is a prefix; without one for typeid itself
 *   dated     when it is digits only and the calendar is valid: time-member, and time-random with
 *             as many digits as the length leaves, from three on: shorter ones are mostly numbers
 *   base62, base32sort, base36lower, base64sort   for schemes with this form by default; of less
 *             than 160 bits when the time is in [2005, 2045)
 *   others    for schemes of a width that some scheme with that form by default has
 * or in the one requested form. time-random and time-member are dated only, and order is never
 * guessed, because no digit shows it. A scheme fits when the ID has all its constants. First come
 * the plausible readings, likely times before unlikely ones; among equals the points decide:
 *   +  1      for each bit of its constants, up to 8
 *   + 20      when the form is its default one
 *   + 10      when its time is in [2005, 2045), - 10 when it is not; 0 without a time
 *   -100      for each owner that is more frequent (owners.def), when the reading is only possible
 * Equal points: in the order of the list. */
#include "bits.h"
#include "date_form.h"
#include "scheme.h"
#include "traits.h"

#include <string.h>

enum { POINTS_FORM = 20, POINTS_TIME = 10, POINTS_CONSTANT = 8, POINTS_OWNER = 100 };
enum { DATED_MIN = FIRN__DATED_CALENDAR + 3, HEX_MAX = 40, GUESSED_MAX = 160, ZEROS_MIN = 20 };
enum { CERTAIN_BITS = 20 }; /* of a constant that no digest has by chance */

/* Not zeroed at each call: what is read was written before. */
#if defined(__has_attribute)
#if __has_attribute(uninitialized)
#define UNWIPED __attribute__((uninitialized))
#endif
#endif
#ifndef UNWIPED
#define UNWIPED
#endif

#define SET(form) (1u << FIRN_FORM_##form) /* sets of forms have bit 1 << form */
#define NUMBERS   (SET(DEC) | SET(UNSIGNED))
#define FRAMES    (SET(UUID) | SET(URN) | SET(BRACED))
/* so common that only the schemes with this form by default are tried */
#define COMMON (SET(BASE62) | SET(BASE32SORT) | SET(BASE36LOWER) | SET(BASE64SORT))

/* A text, read in one form as an ID of one width. */
typedef struct {
    firn_id id;
    bool uuid;   /* is_uuid */
    bool chance; /* numbers like this are common for other purposes */
} guess_attempt;

/* The properties of a text before it is compared with any scheme. */
typedef struct {
    const firn__traits_list *list;
    const char *text;
    size_t length;
    const char *hex; /* after 0x, hex digits only, or NULL */
    size_t hex_length;
    bool only_digits; /* perhaps after a minus */
    bool only_zeros;
    bool capital;   /* the text has a capital letter */
    bool checked;   /* the form was asked for: nothing is left out by sight */
    uint32_t forms; /* in which the text may be, by its characters */
    uint32_t usual; /* the forms of widths with a scheme that has the form by default, */
    uint32_t own;   /* and the forms of these schemes only */
    uint32_t read[FIRN__WIDTHS_MAX];            /* the forms in which it is an ID of a width */
    guess_attempt (*attempts)[FIRN_FORM_COUNT]; /* by width and form, where it is */
} sight;

/* ---- what is plausible ------------------------------------------------------------------------
 *
 * A reading is plausible if its text is unlikely by chance. The rules compare how often an ID of
 * the scheme has this text with how often anything else has. They use fixed numbers only, so a text
 * always has the same answer. docs/reference/format.md, section 8, has them in words. */

enum standing {
    CHANCE,   /* the text fits, as most texts of its length do */
    POSSIBLE, /* as a number, which other systems issue too: not an answer */
    SHAPE, /* the form is the scheme's own and rare otherwise, but the time is not one of today's */
    LIKELY
};

/* Today's IDs end in 2045. */
static const uint64_t today_end_s = 2366841600;

/* ObjectIds exist since 2007, the first year of MongoDB: 24 hex digits of another time are rather a
 * hash. */
static const uint64_t objectid_from = 1167609600, objectid_end = 2208988800;

#define TEN_TO_13 UINT64_C(10000000000000)

/* yyyyMMddHHmmss of 2001 to 2044. */
static bool is_calendar(uint64_t number) {
    uint64_t year = number / UINT64_C(10000000000);
    if (year < 2001 || year >= 2045) {
        return false;
    }
    uint64_t second = number % 100, minute = number / 100 % 100, hour = number / 10000 % 100;
    uint64_t day = number / 1000000 % 100, month = number / 100000000 % 100;
    return month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60 &&
           second < 60;
}

/* Whether a number is common for other purposes: an amount, a telephone number, a time since 1970
 * in s, ms, us or whole ms of ns, or a date in digits, with or without ms. */
static bool is_ordinary(uint64_t number) {
    const uint64_t from = 1000000000;
    uint64_t us = number / 1000000, ns = number / 1000000000;
    return number < TEN_TO_13 || (us >= from && us < today_end_s) ||
           (ns >= from && ns < today_end_s && number % 1000000 == 0) || is_calendar(number) ||
           is_calendar(number / 1000);
}

static bool is_frame(int form) {
    return form == FIRN_FORM_UUID || form == FIRN_FORM_URN || form == FIRN_FORM_BRACED;
}

static bool is_number(int form) {
    return form == FIRN_FORM_DEC || form == FIRN_FORM_UNSIGNED;
}

static bool is_own_form(const firn_scheme *scheme, int form) {
    return scheme->form == form || (is_frame(scheme->form) && is_frame(form)) ||
           (is_number(scheme->form) && is_number(form));
}

/* Whether an ID has the variant and a defined version of a UUID. */
static bool is_uuid(const firn_id *id) {
    uint64_t version = firn__get(id, 76, 4).low, variant = firn__get(id, 62, 2).low;
    return id->bits == 128 && variant == 2 && version >= 1 && version <= 8;
}

/* Forms that hardly any text has by chance: any year is accepted. */
static bool is_telling(const firn__traits *traits, int form) {
    switch (form) {
    case FIRN_FORM_UUID:
    case FIRN_FORM_URN:
    case FIRN_FORM_BRACED:
        return traits->constant_bits >= FIRN__RARE;
    case FIRN_FORM_HEX:
        return traits->scheme->bits == 96;
    case FIRN_FORM_BASE32:
        return traits->scheme->bits == 128;
    case FIRN_FORM_BASE62:
        return traits->scheme->bits == 160; /* of 128 bits it has the length of a random token */
    case FIRN_FORM_BASE32HEX:
    case FIRN_FORM_TYPEID:
    case FIRN_FORM_DATED:
        return true;
    default:
        return false;
    }
}

/* A number shows only its value, and so do 16 hex digits: any scheme that fits is one of many. Hex
 * digits without a letter are a number, too, and 32 of them are a digest rather than a UUID without
 * a time. */
static bool is_bare(const sight *seen, const firn__traits *traits, const firn_id *id, int form) {
    if (form == FIRN_FORM_HEX && id->bits == 128 && traits->scheme->tick_ns == 0 &&
        traits->constant_bits < CERTAIN_BITS) {
        return true;
    }
    if (form == FIRN_FORM_HEX && id->bits == 96 && !seen->only_digits) {
        const uint64_t second = firn__get(id, 64, 32).low;
        return second < objectid_from || second >= objectid_end;
    }
    return is_number(form) || (form == FIRN_FORM_HEX && (id->bits <= 64 || seen->only_digits));
}

/* For an ID whose constants match the scheme. `uuid`: is_uuid; `today`: firn__traits_today. */
static enum standing standing_of(const firn__traits *traits, int form, bool uuid, bool today) {
    const firn_scheme *scheme = traits->scheme;
    const bool own = is_own_form(scheme, form);
    const bool numeric = is_number(form) || form == FIRN_FORM_HEX;
    /* a UUID, by version and variant, is not an ID of a 128-bit scheme without them */
    if (uuid && (is_frame(form) || !own) && !traits->version) {
        return CHANCE;
    }
    /* 26 Crockford digits are never a UUID whose time does not come first */
    if (form == FIRN_FORM_BASE32 && !own && scheme->bits == 128 &&
        scheme->slices[0].role != FIRN_ROLE_TIME && scheme->tick_ns != 0) {
        return CHANCE;
    }
    /* base32 is rather a ULID than a UUID */
    const bool usual = own || numeric || form == FIRN_FORM_TYPEID;
    const enum standing best = usual || is_frame(form) ? LIKELY : SHAPE;
    if (scheme->tick_ns == 0) {
        return traits->rare ? best : CHANCE;
    }
    if (!today) {
        return own && is_telling(traits, form) ? SHAPE : CHANCE;
    }
    return own || traits->rare || (scheme->bits == 64 && numeric) ? best : CHANCE;
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Forms by the characters of the text, and what else these show. */
static void look(sight *seen) {
    const char *text = seen->text;
    const bool sign = text[0] == '-' && seen->length > 1;
    const bool hex = seen->length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    uint32_t first = seen->list->forms[(unsigned char)text[0]], rest = UINT32_MAX;
    seen->only_zeros = text[0] == '0';
    seen->capital = text[0] >= 'A' && text[0] <= 'Z';
    for (size_t i = 1; i < seen->length && rest != 0; i++) {
        rest &= seen->list->forms[(unsigned char)text[i]];
        seen->only_zeros = seen->only_zeros && text[i] == '0';
        seen->capital = seen->capital || (text[i] >= 'A' && text[i] <= 'Z');
    }
    seen->forms = first & rest;
    seen->only_digits = ((sign ? rest : seen->forms) & SET(UNSIGNED)) != 0;
    if (hex && (rest & SET(HEX)) != 0 && memchr(text + 2, 'x', seen->length - 2) == NULL &&
        memchr(text + 2, 'X', seen->length - 2) == NULL) {
        seen->hex = text + 2;
        seen->hex_length = seen->length - 2;
    }
}

/* Narrows the forms down to those that are tried at all. */
static void choose_forms(sight *seen, int form) {
    seen->own = seen->usual = SET(FLAKE);
    if (seen->checked) {
        seen->forms &= 1u << form;
        return;
    }
    const uint32_t prefixed = memchr(seen->text, '_', seen->length) != NULL ? SET(TYPEID) : 0;
    /* the nil ULID, KSUID and xid */
    const uint32_t nil = seen->only_zeros && seen->length >= ZEROS_MIN
                             ? SET(BASE32) | SET(BASE32HEX) | SET(BASE62)
                             : 0;
    seen->forms &= seen->only_digits ? nil | NUMBERS | FRAMES | SET(HEX) | SET(DATED) : ~NUMBERS;
    seen->own |=
        COMMON | SET(UNSIGNED) | (SET(TYPEID) & ~prefixed) | (seen->only_digits ? SET(HEX) : 0);
    seen->usual = ~(NUMBERS | FRAMES | SET(HEX) | prefixed);
}

/* Whether a text may be an ID of a width in a form, by its length. Numbers without a fixed width
 * and prefixes are left to the reader. */
static bool may_be(const sight *seen, int form, uint32_t w) {
    const uint32_t value = 1u << form;
    const size_t width = seen->list->digits[w][form];
    if ((value & seen->usual & ~seen->list->usual[w]) != 0) {
        return false;
    }
    if ((value & (NUMBERS | SET(FLAKE))) != 0 || (value == SET(HEX) && seen->hex != NULL)) {
        return true;
    }
    return value == SET(TYPEID) ? seen->length >= width && width > 0 : seen->length == width;
}

/* 0x and a number, of as many digits as it needs. */
static bool read_hex(firn_id *id, const sight *seen, uint32_t bits, size_t width) {
    char digits[HEX_MAX];
    if (seen->hex_length > width) {
        return false;
    }
    memset(digits, '0', width);
    memcpy(digits + width - seen->hex_length, seen->hex, seen->hex_length);
    return firn_parse(id, FIRN_FORM_HEX, bits, digits, width, NULL) == FIRN_OK;
}

/* Whether a number is rather an amount or a time: a text of digits that is hex, such as 16 digits
 * of us, counts as the decimal number. */
static bool is_chance(const sight *seen, int form, const firn_id *id) {
    const uint32_t value = 1u << form;
    firn_id number;
    if (value == SET(HEX) && seen->only_digits && !seen->checked &&
        firn_parse(&number, FIRN_FORM_DEC, 64, seen->text, seen->length, NULL) == FIRN_OK &&
        is_ordinary(number.low)) {
        return true;
    }
    if (id->bits != 64 || (value & (NUMBERS | SET(HEX))) == 0) {
        return false;
    }
    /* no system has reached the top bit: Simpleflake, the first, does in 2034 */
    return is_ordinary(id->low) || ((value & NUMBERS) != 0 && id->low >> 63 != 0);
}

static bool read_attempt(sight *seen, int form, uint32_t w) {
    guess_attempt *attempt = &seen->attempts[w][form];
    const uint32_t bits = seen->list->bits[w];
    bool read =
        form == FIRN_FORM_HEX && seen->hex != NULL
            ? read_hex(&attempt->id, seen, bits, seen->list->digits[w][form])
            : firn_parse(&attempt->id, form, bits, seen->text, seen->length, NULL) == FIRN_OK;
    if (read) {
        attempt->uuid = is_uuid(&attempt->id);
        attempt->chance = is_chance(seen, form, &attempt->id);
        seen->read[w] |= 1u << form;
    }
    return read;
}

/* Reads the text once in each form and width, and returns the set of schemes of these widths. A
 * number without a fixed width is an ID of the narrowest scheme that it fits. */
static uint64_t read_all(sight *seen) {
    const bool dated =
        (seen->forms & SET(DATED)) != 0 && (seen->checked || seen->length >= DATED_MIN);
    uint64_t schemes = dated ? seen->list->dated : 0;
    for (uint32_t left = seen->forms & ~SET(DATED); left != 0; left &= left - 1) {
        const int form = (int)firn__lowest(left);
        const bool narrowest =
            (1u << form & NUMBERS) != 0 || (form == FIRN_FORM_HEX && seen->hex != NULL);
        for (uint32_t w = 0; w < seen->list->widths; w++) {
            if (((1u << form) & (NUMBERS | SET(HEX))) != 0 && seen->list->bits[w] % 32 != 0) {
                continue; /* pushid and scru64 have their own form only */
            }
            if (may_be(seen, form, w) && read_attempt(seen, form, w)) {
                schemes |= seen->list->plain[w];
                if (narrowest) {
                    break;
                }
            }
        }
    }
    return schemes;
}

/* ---- readings -------------------------------------------------------------------------------- */

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
    size_t position = list->count;
    while (position > 0 && is_worse(list->ranks[position - 1], rank)) {
        position--;
    }
    list->count += list->count < FIRN_READINGS_MAX;
    for (size_t i = list->count - 1; i > position; i--) {
        list->readings[i] = list->readings[i - 1];
        list->ranks[i] = list->ranks[i - 1];
    }
    if (position < FIRN_READINGS_MAX) {
        list->readings[position] = *reading;
        list->readings[position].sure = rank.standing > POSSIBLE ? FIRN_LIKELY : FIRN_POSSIBLE;
        list->ranks[position] = rank;
    }
}

static struct rank rank_of(const sight *seen, const firn__traits *traits, int form, bool today,
                           const guess_attempt *read) {
    const bool framed = traits->scheme->form == FIRN_FORM_UUID &&
                        (form == FIRN_FORM_URN || form == FIRN_FORM_BRACED);
    const uint32_t constant = traits->constant_bits;
    struct rank out = {(int)standing_of(traits, form, read->uuid, today), 0};
    /* base32 of 128 bits is a ULID rather than a Timeflake */
    const bool other = !seen->checked && traits->constant_bits == 0 &&
                       traits->scheme->form != form && form == FIRN_FORM_BASE32;
    /* rs/xid refuses capitals */
    const bool capital = !seen->checked && form == FIRN_FORM_BASE32HEX && seen->capital;
    if (read->chance || other || capital ||
        (seen->hex != NULL && form != FIRN_FORM_HEX &&
         out.standing != LIKELY)) { /* 0x says what it is */
        out.standing = CHANCE;
    }
    if (out.standing > POSSIBLE && is_bare(seen, traits, &read->id, form)) {
        out.standing = POSSIBLE;
        out.points = -POINTS_OWNER * (int)traits->owner;
    }
    out.points += traits->scheme->form == form || framed ? POINTS_FORM : 0;
    if (traits->scheme->tick_ns != 0) {
        out.points += today ? POINTS_TIME : -POINTS_TIME;
    }
    out.points += (int)(constant < POINTS_CONSTANT ? constant : POINTS_CONSTANT);
    return out;
}

/* The readings of a text as IDs of a scheme that takes any form. */
static void add_plain(ranking *list, const sight *seen, const firn__traits *traits) {
    const uint32_t own = 1u << traits->scheme->form;
    uint32_t forms = seen->read[traits->width] & (~seen->own | own);
    if (!seen->checked && traits->scheme->bits == 128) {
        forms |= seen->read[traits->width] & SET(HEX);
    }
    if (!seen->checked && traits->scheme->form == FIRN_FORM_UNSIGNED && seen->text[0] != '-') {
        forms &= ~SET(DEC);
    }
    if (traits->scheme->form == FIRN_FORM_BASE32SORT) {
        forms &= ~(NUMBERS | SET(HEX)); /* nobody writes a TID as a number */
    }
    for (; forms != 0; forms &= forms - 1) {
        const int form = (int)firn__lowest(forms);
        const guess_attempt *read = &seen->attempts[traits->width][form];
        if (!firn__traits_fit(traits, &read->id)) {
            continue;
        }
        const bool today = firn__traits_today(traits, &read->id);
        const bool any_year = (1u << form & (COMMON | SET(FLAKE))) == 0 ||
                              traits->scheme->bits == 160; /* 27 digits of ksuid are telling */
        if (any_year || seen->checked || today) {
            firn_reading reading = {traits->scheme, form, FIRN_POSSIBLE, read->id};
            insert(list, &reading, rank_of(seen, traits, form, today, read));
        }
    }
}

/* A TypeID of a UUID without a defined version. */
static void add_typeid(ranking *list, const sight *seen, const firn__traits *typeid) {
    const guess_attempt *read = &seen->attempts[typeid->width][FIRN_FORM_TYPEID];
    const bool prefixed = seen->checked || memchr(seen->text, '_', seen->length) != NULL;
    if (!prefixed || (seen->read[typeid->width] & SET(TYPEID)) == 0) {
        return;
    }
    const firn_scheme *scheme = firn_scheme_seen(typeid->scheme, &read->id);
    if (firn_scheme_find(scheme->name) != scheme) {
        firn_reading reading = {scheme, FIRN_FORM_TYPEID, FIRN_POSSIBLE, read->id};
        insert(list, &reading, (struct rank){LIKELY, POINTS_FORM});
    }
}

/* A dated scheme; time-random with as many digits as the text has. */
static void add_dated(ranking *list, const sight *seen, const firn_scheme *scheme) {
    const size_t length = seen->length;
    guess_attempt read = {.uuid = false};
    firn_fields fields;
    if (firn__dated_digits(scheme->bits) > 0 && length > FIRN__DATED_CALENDAR &&
        length <= FIRN__DATED_CALENDAR + FIRN__DATED_DIGITS) {
        scheme = firn__scheme_digits((uint32_t)length - FIRN__DATED_CALENDAR);
    }
    if (firn_parse(&read.id, FIRN_FORM_DATED, scheme->bits, seen->text, length, NULL) != FIRN_OK ||
        firn_unpack(&fields, scheme, &read.id, NULL) != FIRN_OK) {
        return;
    }
    const firn__traits traits = firn__traits_of(scheme);
    firn_reading reading = {scheme, FIRN_FORM_DATED, FIRN_POSSIBLE, read.id};
    bool today = firn__traits_today(&traits, &read.id);
    insert(list, &reading, rank_of(seen, &traits, FIRN_FORM_DATED, today, &read));
}

/* Takes what a driver of MongoDB, or a URN without urn:, prints around an ID away. */
static void unwrap(const char **text, size_t *length) {
    static const char object[] = "ObjectId(\"", uuid[] = "uuid:";
    enum { OBJECT = sizeof object - 1, OBJECT_ALL = OBJECT + 24 + 2, UUID = sizeof uuid - 1 };
    const char *position = *text;
    if (*length == OBJECT_ALL && memcmp(position, object, OBJECT - 1) == 0 &&
        (position[OBJECT - 1] == '"' || position[OBJECT - 1] == '\'') &&
        position[OBJECT_ALL - 2] == position[OBJECT - 1] && position[OBJECT_ALL - 1] == ')') {
        *text += OBJECT;
        *length = 24;
    } else if (*length == UUID + 36 && memcmp(position, uuid, UUID) == 0) {
        *text += UUID;
        *length = 36;
    }
}

static size_t guess(firn_reading *readings, size_t *plausible, const firn__traits_list *known,
                    const char *text, size_t length, int form) {
    guess_attempt attempts[FIRN__WIDTHS_MAX][FIRN_FORM_COUNT] UNWIPED;
    ranking list UNWIPED;
    list.readings = readings;
    list.count = *plausible = 0;
    if (length == 0 || length > GUESSED_MAX || form >= FIRN_FORM_COUNT) {
        return 0;
    }
    if (form < 0) {
        unwrap(&text, &length);
    }
    sight seen = {.list = known, .text = text, .length = length, .attempts = attempts};
    seen.checked = form >= 0;
    look(&seen);
    choose_forms(&seen, form);
    for (uint64_t left = read_all(&seen); left != 0; left &= left - 1) {
        const firn__traits *traits = &known->schemes[firn__lowest(left)];
        if (traits->plain) {
            add_plain(&list, &seen, traits);
        }
        if (traits->scheme->form == FIRN_FORM_TYPEID) {
            add_typeid(&list, &seen, traits);
        } else if (!traits->plain) {
            add_dated(&list, &seen, traits->scheme);
        }
    }
    while (*plausible < list.count && list.ranks[*plausible].standing != CHANCE) {
        ++*plausible;
    }
    return list.count;
}

/* While another thread computes the list. */
__attribute__((noinline, cold)) static size_t guess_alone(firn_reading *readings, size_t *plausible,
                                                          const char *text, size_t length,
                                                          int form) {
    firn__traits_list list;
    firn__traits_fill(&list);
    return guess(readings, plausible, &list, text, length, form);
}

size_t firn_guess_all(firn_reading readings[FIRN_READINGS_MAX], size_t *plausible, const char *text,
                      size_t length, int form) {
    const firn__traits_list *known = firn__traits_known();
    return known != NULL ? guess(readings, plausible, known, text, length, form)
                         : guess_alone(readings, plausible, text, length, form);
}

size_t firn_guess(firn_reading readings[FIRN_READINGS_MAX], const char *text, size_t length,
                  int form) {
    size_t plausible;
    firn_guess_all(readings, &plausible, text, length, form);
    return plausible;
}
