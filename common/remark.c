/* SPDX-License-Identifier: MIT */
#include "remark.h"

#include "reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OLD_FROM INT64_C(631152000) /* 1990 */

/* ---- numbers --------------------------------------------------------------------------------- */

/* A number as a time: since 1970 in the unit that gives a likely year, or calendar digits. Writes
 * "as epoch ms it is ...", or "". */
static void read_number(char out[REMARK_SIZE], uint64_t number) {
    static const struct {
        const char *name;
        uint64_t unit; /* per second */
        int digits;
    } units[] = {{"s", 1, 0}, {"ms", 1000, 3}, {"us", 1000000, 6}, {"ns", 1000000000, 9}};
    const uint64_t from = 1000000000, end = TODAY_END; /* from 2001-09-09 */
    char time_text[FIRN_TIME_SIZE], text[FIRN_TIME_SIZE];
    firn_time time;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (number / units[i].unit >= from && number / units[i].unit < end) {
            time.sec = (int64_t)(number / units[i].unit);
            time.ns = (int32_t)(number % units[i].unit * (1000000000 / units[i].unit));
            snprintf(out, REMARK_SIZE, "as epoch %s it is %s", units[i].name,
                     firn_time_format(time_text, &time, units[i].digits));
        }
    }
    uint64_t seconds = number >= UINT64_C(10000000000000000) ? number / 1000 : number;
    bool whole = seconds == number;
    if (seconds >= UINT64_C(20010101000000) && seconds < UINT64_C(20450101000000)) {
        unsigned part[6]; /* year to second; firn_time_parse checks them */
        for (int i = 5; i >= 0; i--) {
            part[i] = (unsigned)(seconds % (i > 0 ? 100 : 10000));
            seconds /= 100;
        }
        int length =
            snprintf(text, sizeof text, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", part[0], part[1],
                     part[2], part[3], part[4], part[5], whole ? 0 : (unsigned)(number % 1000));
        if (firn_time_parse(&time, text, (size_t)length, NULL) == FIRN_OK) {
            snprintf(out, REMARK_SIZE, "as a calendar date it is %s",
                     firn_time_format(time_text, &time, whole ? 0 : 3));
        }
    }
}

static bool is_integer(const char *text, size_t length) {
    size_t sign = length > 1 && text[0] == '-';
    return length > sign && strspn(text + sign, "0123456789") >= length - sign;
}

/* Whether the last digit is the check digit of card numbers and IMEIs. */
static bool has_luhn(const char *text, size_t length) {
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned digit = (unsigned)(text[length - 1 - i] - '0'), twice = digit * 2;
        sum += i % 2 == 0 ? digit : twice - (twice > 9 ? 9 : 0);
    }
    return (length == 15 || length == 16) && text[0] != '-' && sum % 10 == 0;
}

static void remark_integer(char out[REMARK_SIZE], const char *text, size_t length) {
    char time[REMARK_SIZE] = "";
    firn_id id;
    bool fits = firn_parse(&id, FIRN_FORM_DEC, 64, text, length, NULL) == FIRN_OK;
    if (fits && text[0] != '-') {
        read_number(time, id.low);
    }
    bool minus = text[0] == '-', zeros = text[minus] == '0' && length > 1;
    snprintf(out, REMARK_SIZE, "%s%s%s%s%.50s",
             zeros ? minus ? "a minus before a 0" : "digits with a leading 0" : "a plain integer",
             fits || zeros ? "" : ", too big for 64 bits",
             has_luhn(text, length) ? "; its check digit is valid (Luhn), as of cards and IMEIs"
                                    : "",
             time[0] != '\0' ? "; " : "", time);
}

/* ---- UUIDs, hashes --------------------------------------------------------------------------- */

static bool read_uuid(firn_id *id, const char *text, size_t length) {
    static const int frames[] = {FIRN_FORM_UUID, FIRN_FORM_URN, FIRN_FORM_BRACED};
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        if (firn_parse(id, frames[i], 128, text, length, NULL) == FIRN_OK) {
            return true;
        }
    }
    return false;
}

/* RFC 9562, section 4.1. */
static void remark_uuid(char out[REMARK_SIZE], const firn_id *id) {
    unsigned top = (unsigned)(id->low >> 61), version = (unsigned)(id->high >> 12 & 15);
    if (top == 4 || top == 5) {
        snprintf(out, REMARK_SIZE, "a UUID of version %u, which is not defined", version);
    } else {
        snprintf(out, REMARK_SIZE, "a UUID of %s variant, whose fields firn does not read",
                 top < 4    ? "the NCS"
                 : top == 6 ? "the Microsoft"
                            : "a reserved");
    }
}

static void remark_hex(char out[REMARK_SIZE], size_t length) {
    const char *like = length == 32    ? ", like an MD5 digest"
                       : length == 40  ? ", like a SHA-1 digest"
                       : length == 64  ? ", like a SHA-256 digest"
                       : length == 128 ? ", like a SHA-512 digest"
                                       : "";
    snprintf(out, REMARK_SIZE, "%zu hex digits%s", length, like);
}

/* ---- damaged IDs ----------------------------------------------------------------------------- */

/* Forms that are recognised although one character is wrong, missing or extra. */
static const struct {
    const char *name;
    int form;
    uint32_t bits;
} whole[] = {{"a UUID", FIRN_FORM_UUID, 128},     {"a ULID", FIRN_FORM_BASE32, 128},
             {"an xid", FIRN_FORM_BASE32HEX, 96}, {"a KSUID", FIRN_FORM_BASE62, 160},
             {"an ObjectId", FIRN_FORM_HEX, 96},  {"a UUID in hex", FIRN_FORM_HEX, 128},
             {"a TypeID", FIRN_FORM_TYPEID, 128}, {"a decimal number", FIRN_FORM_DEC, 64}};
enum { WHOLE = sizeof whole / sizeof whole[0], DAMAGED_MAX = 80 };

/* Characters of a text by kind. */
typedef struct census {
    size_t digits, hex, upper, lower, others; /* hex: letters; upper, lower: all letters */
} census;

static census count(const char *text, size_t length) {
    census found = {0, 0, 0, 0, 0};
    for (size_t i = 0; i < length; i++) {
        char c = text[i], small = (char)(c | 0x20);
        bool letter = small >= 'a' && small <= 'z';
        found.digits += c >= '0' && c <= '9';
        found.hex += letter && small <= 'f';
        found.upper += letter && c != small;
        found.lower += letter && c == small;
        found.others += !letter && (c < '0' || c > '9');
    }
    return found;
}

/* Does the alphabet fit the form, with at most one exception? */
static bool has_style(int form, const census *found, size_t length) {
    bool number = found->digits + 1 >= length && length > 8;
    bool hex = found->digits + found->hex + 1 >= length;
    switch (form) {
    case FIRN_FORM_DEC:
        return number;
    case FIRN_FORM_HEX:
        return hex && !number;
    case FIRN_FORM_BASE32:
        return !hex && (found->upper == 0 || found->lower == 0);
    case FIRN_FORM_BASE32HEX:
        return !hex && found->upper == 0;
    case FIRN_FORM_BASE62:
        return found->upper > 1 && found->lower > 1;
    default:
        return true;
    }
}

/* Does it fit the form with one character changed, removed or added? */
static bool is_near(size_t w, const char *text, size_t length) {
    char changed[DAMAGED_MAX + 2];
    firn_id id;
    for (size_t i = 0; i <= length; i++) {
        for (const char *c = "0-"; *c != '\0'; c++) {
            memcpy(changed, text, length);
            changed[i] = *c;
            if (i < length &&
                firn_parse(&id, whole[w].form, whole[w].bits, changed, length, NULL) == FIRN_OK) {
                return true;
            }
            memcpy(changed + i + 1, text + i, length - i);
            if (firn_parse(&id, whole[w].form, whole[w].bits, changed, length + 1, NULL) ==
                FIRN_OK) {
                return true;
            }
        }
        memcpy(changed, text, i);
        memcpy(changed + i, text + i + (i < length), length - i - (i < length));
        if (i < length &&
            firn_parse(&id, whole[w].form, whole[w].bits, changed, length - 1, NULL) == FIRN_OK) {
            return true;
        }
    }
    return false;
}

/* Says how a text that almost fits exactly one form is wrong. */
static void remark_damage(char out[REMARK_SIZE], const char *text, size_t length) {
    size_t near = WHOLE;
    firn_error error;
    firn_id id;
    census found = count(text, length);
    if (length > DAMAGED_MAX) {
        return;
    }
    for (size_t w = 0; w < WHOLE; w++) {
        if (has_style(whole[w].form, &found, length) && is_near(w, text, length)) {
            if (near < WHOLE) {
                return;
            }
            near = w;
        }
    }
    if (near < WHOLE && firn_parse(&id, whole[near].form, whole[near].bits, text, length, &error)) {
        snprintf(out, REMARK_SIZE, "nearly %s: %.120s", whole[near].name, error.text);
    }
}

const char *remark_on(char remark[REMARK_SIZE], const char *text, size_t length) {
    firn_id id;
    remark[0] = '\0';
    if (length == 0 || strlen(text) != length) {
        return "none";
    }
    if (is_integer(text, length)) {
        remark_integer(remark, text, length);
        return "integer";
    }
    if (read_uuid(&id, text, length)) {
        remark_uuid(remark, &id);
        return "uuid";
    }
    const bool prefixed = length > 12 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const size_t digits = strspn(text + (prefixed ? 2 : 0), "0123456789abcdefABCDEF");
    if (digits >= (prefixed ? 11 : 16) && digits + (prefixed ? 2 : 0) == length) {
        remark_hex(remark, digits);
        return "hex";
    }
    remark_damage(remark, text, length);
    return "none";
}

/* ---- readings -------------------------------------------------------------------------------- */

/* UUIDs of version 1 may be older than other IDs. */
static bool is_odd_time(const firn_reading *reading) {
    const bool old = reading->scheme->epoch.sec < 0;
    firn_time time;
    return id_time(&time, reading->scheme, &reading->id) > 0 &&
           (time.sec < (old ? OLD_FROM : TODAY_FROM) || time.sec >= TODAY_END);
}

/* A TypeID may be any UUID, but only version 7 has the time and order of one. */
static bool is_odd_typeid(const firn_reading *reading) {
    return reading->form == FIRN_FORM_TYPEID && strcmp(reading->scheme->name, "uuid7") != 0 &&
           (strcmp(reading->scheme->name, "typeid") != 0 || reading->scheme->tick_ns == 0);
}

static bool has_capital(const char *text) {
    return strpbrk(text, "ABCDEFGHIJKLMNOPQRSTUV") != NULL;
}

char *remark_on_reading(char remark[REMARK_SIZE], const firn_reading *reading, const char *text,
                        bool named) {
    bool number = reading->form == FIRN_FORM_DEC || reading->form == FIRN_FORM_UNSIGNED;
    remark[0] = '\0';
    if (is_odd_typeid(reading)) {
        snprintf(remark, REMARK_SIZE, "a TypeID of a UUID that is not version 7");
    } else if (reading->form == FIRN_FORM_BASE32HEX && has_capital(text)) {
        snprintf(remark, REMARK_SIZE,
                 "it has capital letters: rs/xid, which issues %s, refuses them",
                 reading->scheme->name);
    } else if (named) {
        return remark;
    } else if (reading->form == FIRN_FORM_HEX && is_integer(text, strlen(text))) {
        snprintf(remark, REMARK_SIZE, "only digits: as a decimal number it is another ID");
    } else if ((reading->id.low | reading->id.high | reading->id.top) == 0 &&
               reading->scheme->tick_ns != 0) {
        snprintf(remark, REMARK_SIZE, "all its bits are zero: the nil ID of %s",
                 reading->scheme->name);
    } else if (is_odd_time(reading)) {
        snprintf(remark, REMARK_SIZE, "its time is unusual: it may not be an ID of %s",
                 reading->scheme->name);
    } else if (number && reading->id.bits == 64) {
        char time[REMARK_SIZE];
        read_number(time, reading->id.low);
        snprintf(remark, REMARK_SIZE, "%s%.120s",
                 time[0] != '\0' ? "it may be a plain integer: " : "", time);
    }
    return remark;
}
