/* SPDX-License-Identifier: MIT */
/* The scanner: see scan.h. One bit per byte says what is a letter or a digit, and three shifts find
 * the starts of words of eight or more, so ordinary words are passed 64 bytes at a time. */
#include "scan.h"

#include "ids.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { UUID_LENGTH = 36, TYPEID_LENGTH = 26, PREFIX_MAX = 63, ESCAPE_MAX = 16, LETTERS = 26 };

/* Words that are IDs by their shape: a form of one length, of schemes with this form by default.
 * Their time must be one of today's. */
static const struct {
    uint8_t length;
    int8_t form, own;
} shapes[] = {
    {20, FIRN_FORM_BASE32HEX, FIRN_FORM_BASE32HEX},
    {22, FIRN_FORM_BASE62, FIRN_FORM_BASE62},
    {24, FIRN_FORM_HEX, FIRN_FORM_HEX},
    {25, FIRN_FORM_BASE36LOWER, FIRN_FORM_BASE36LOWER},
    {26, FIRN_FORM_BASE32, FIRN_FORM_BASE32},
    {27, FIRN_FORM_BASE62, FIRN_FORM_BASE62},
    {32, FIRN_FORM_HEX, FIRN_FORM_UUID},
};

/* ---- letters and digits ---------------------------------------------------------------------- */

static bool is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

static bool is_small(char c) {
    return (unsigned char)(c - 'a') < LETTERS;
}

static bool is_hex(char c) {
    return is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 6;
}

static bool is_word(char c) {
    return is_digit(c) || is_small((char)(c | 0x20));
}

#ifdef __SSE2__
static uint64_t sixteen(const char *text) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)text);
    const __m128i digit = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
    const __m128i letter =
        _mm_sub_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
    const __m128i either =
        _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit),
                     _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(LETTERS - 1)), letter));
    return (uint64_t)(uint32_t)_mm_movemask_epi8(either);
}

static uint64_t sixty_four(const char *text) {
    return sixteen(text) | sixteen(text + 16) << 16 | sixteen(text + 32) << 32 |
           sixteen(text + 48) << 48;
}
#else
static uint64_t sixty_four(const char *text) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < 64; i++) {
        bits |= (uint64_t)is_word(text[i]) << i;
    }
    return bits;
}
#endif

void scan_begin(text_scan *scan, const scan_want *want, const char *text, size_t from, size_t limit,
                size_t length) {
    char last[64] = {0};
    size_t whole = length / 64;
    scan->want = want;
    scan->text = text;
    scan->offset = from;
    scan->limit = limit;
    scan->length = length;
    for (size_t i = 0; i < whole; i++) {
        scan->word[i] = sixty_four(text + i * 64);
    }
    memcpy(last, text + whole * 64, length % 64);
    scan->word[whole] = sixty_four(last);
    scan->word[whole + 1] = 0;
}

/* The starts of words of eight or more letters and digits among 64 bytes. */
static uint64_t starts_of(const uint64_t *word, size_t i) {
    const uint64_t here = word[i], next = word[i + 1], before = i > 0 ? word[i - 1] >> 63 : 0;
    const uint64_t two = here & (here >> 1 | next << 63), two_next = next & next >> 1;
    const uint64_t four = two & (two >> 2 | two_next << 62), four_next = two_next & two_next >> 2;
    const uint64_t eight = four & (four >> 4 | four_next << 60);
    return eight & ~(here << 1 | before);
}

static size_t end_of(const text_scan *scan, size_t start) {
    size_t i = start / 64;
    uint64_t gaps = ~scan->word[i] >> start % 64 << start % 64;
    while (gaps == 0) { /* the last word is 0 */
        gaps = ~scan->word[++i];
    }
    return i * 64 + (size_t)__builtin_ctzll(gaps);
}

/* The next word that begins at scan->offset or later, and before the limit. */
static bool next_word(text_scan *scan, size_t *start, size_t *end) {
    for (size_t i = scan->offset / 64; i * 64 < scan->limit; i++) {
        uint64_t starts = starts_of(scan->word, i);
        if (i == scan->offset / 64) {
            starts = starts >> scan->offset % 64 << scan->offset % 64;
        }
        if (starts != 0) {
            *start = i * 64 + (size_t)__builtin_ctzll(starts);
            *end = end_of(scan, *start);
            scan->offset = *end;
            return *start < scan->limit;
        }
    }
    return false;
}

size_t scan_hold(const char *text, size_t length) {
    size_t most = length < SCAN_TEXT_MAX ? length : SCAN_TEXT_MAX;
    for (size_t n = 0; n < most; n++) {
        char c = text[length - 1 - n];
        if (!is_word(c) && c != '-' && c != '_') {
            return length - n;
        }
    }
    return length - most;
}

/* ---- what precedes a word -------------------------------------------------------------------- */

/* The length of an escape at the start of a word, which is not part of it: %3D of a URL, \n or
 * \u003d of a string in quotes, the 1m of a colour. */
static size_t escape_of(const text_scan *scan, size_t start, size_t end) {
    const char *position = scan->text + start, *first = scan->text;
    size_t length = end - start;
    if (start == 0) {
        return 0;
    }
    if (position[-1] == '%' && length > 2 && is_hex(position[0]) && is_hex(position[1])) {
        return 2;
    }
    if (position[-1] == '\\') {
        const bool letter = strchr("abefnrtv", position[0]) != NULL; /* not zero: it is of a word */
        return position[0] == 'u' && length > 5   ? 5
               : position[0] == 'x' && length > 3 ? 3
               : letter                           ? 1
                                                  : 0;
    }
    size_t digits = 0;
    while (digits < 3 && digits < length && is_digit(position[digits])) {
        digits++;
    }
    if (digits == length || position[digits] != 'm' ||
        (position[-1] != '[' && position[-1] != ';')) {
        return 0;
    }
    const char *back = position - 1,
               *least = position - first > ESCAPE_MAX ? position - ESCAPE_MAX : first;
    while (back > least && (is_digit(*back) || *back == ';')) {
        back--;
    }
    return *back == '[' && back > first && back[-1] == '\033' ? digits + 1 : 0;
}

/* Where the prefix of a typeid begins, whose word begins at `start`; otherwise `start`. */
static size_t prefix_of(const text_scan *scan, size_t start) {
    const char *text = scan->text;
    size_t position = start, least = start > PREFIX_MAX + 1 ? start - PREFIX_MAX - 1 : 0;
    while (position > least && (is_small(text[position - 1]) || text[position - 1] == '_')) {
        position--;
    }
    while (position < start && text[position] == '_') {
        position++;
    }
    bool whole = position == 0 || !is_word(text[position - 1]);
    return whole && start - position >= 2 && text[start - 1] == '_' && text[start - 2] != '_'
               ? position
               : start;
}

/* Whether a word of eight is the beginning of a UUID. */
static bool is_uuid(const text_scan *scan, size_t start, size_t end) {
    const char *text = scan->text + start;
    return end - start == 8 && scan->length - start >= UUID_LENGTH && text[8] == '-' &&
           text[13] == '-' && text[18] == '-' && text[23] == '-' &&
           (scan->length - start == UUID_LENGTH || !is_word(text[UUID_LENGTH]));
}

/* The characters of a word. */
typedef struct kinds {
    size_t digits, small, large;
} kinds;

static kinds kinds_of(const char *text, size_t length) {
    kinds count = {0};
    for (size_t i = 0; i < length; i++) {
        count.digits += is_digit(text[i]);
        count.small += is_small(text[i]);
    }
    count.large = length - count.digits - count.small;
    return count;
}

/* ---- confirmation ---------------------------------------------------------------------------- */

/* Reads the time; whether the ID fits the scheme. */
static bool fill_time(text_scan *scan) {
    const int timed = id_time(&scan->time, scan->readings[0].scheme, &scan->readings[0].id);
    scan->timed = timed > 0;
    return timed >= 0;
}

static bool place(text_scan *scan, size_t start, size_t end) {
    const scan_want *want = scan->want;
    if (want->limited && (!scan->timed || firn_time_cmp(&scan->time, &want->since) < 0 ||
                          firn_time_cmp(&scan->time, &want->until) >= 0)) {
        return false;
    }
    scan->start = start;
    scan->end = end;
    scan->offset = end;
    return true;
}

/* A UUID without a defined version is a TypeID for who names one, but words with a _ are many. */
static void drop_any_typeid(text_scan *scan) {
    const firn_scheme *best = scan->readings[0].scheme;
    if (scan->counts.plausible > 0 && scan->readings[0].form == FIRN_FORM_TYPEID &&
        firn_scheme_find(best->name) != best) {
        scan->counts.plausible--;
        scan->counts.all--;
        memmove(scan->readings, scan->readings + 1, scan->counts.all * sizeof scan->readings[0]);
    }
}

/* By what firn_guess says; form -1: any. */
static bool guessed(text_scan *scan, size_t start, size_t end, int form) {
    scan->counts.all = firn_guess_all(scan->readings, &scan->counts.plausible, scan->text + start,
                                      end - start, -1);
    drop_any_typeid(scan);
    return scan->counts.plausible > 0 && (form < 0 || scan->readings[0].form == form) &&
           fill_time(scan);
}

/* As the named scheme, in one form. */
static bool parsed(text_scan *scan, size_t start, size_t end, int form) {
    const firn_scheme *scheme = scan->want->scheme;
    firn_reading *reading = &scan->readings[0];
    *reading = (firn_reading){.scheme = scheme, .form = form, .sure = FIRN_CERTAIN};
    scan->counts = (id_counts){1, 1};
    return firn_parse(&reading->id, form, scheme->bits, scan->text + start, end - start, NULL) ==
               FIRN_OK &&
           fill_time(scan) && (!scan->timed || scan->want->limited || is_today(&scan->time)) &&
           place(scan, start, end);
}

static bool is_frame(int form) {
    return form == FIRN_FORM_UUID || form == FIRN_FORM_URN || form == FIRN_FORM_BRACED;
}

static bool is_named(text_scan *scan, size_t start, size_t end, bool only_digits) {
    const firn_scheme *scheme = scan->want->scheme;
    const int asked = scan->want->form, form = asked >= 0 ? asked : scheme->form;
    const size_t length = end - start, hex = firn_form_width(FIRN_FORM_HEX, scheme->bits);
    if (is_frame(form)) {
        if (is_uuid(scan, start, end)) {
            return parsed(scan, start, start + UUID_LENGTH, FIRN_FORM_UUID);
        }
    } else if (form == FIRN_FORM_TYPEID) {
        size_t from = length == TYPEID_LENGTH ? prefix_of(scan, start) : start;
        return from < start && parsed(scan, from, end, FIRN_FORM_TYPEID);
    } else if (form == FIRN_FORM_DEC || form == FIRN_FORM_UNSIGNED) {
        if (only_digits) {
            return parsed(scan, start, end, form);
        }
    } else if (length <= firn_form_width(form, scheme->bits) && parsed(scan, start, end, form)) {
        return true;
    }
    if (asked >= 0) {
        return false;
    }
    return only_digits ? scheme->bits <= 64 && parsed(scan, start, end, FIRN_FORM_UNSIGNED)
                       : length == hex && parsed(scan, start, end, FIRN_FORM_HEX);
}

/* Letters and digits, as nearly all IDs of these forms have; xid has small ones. */
static bool is_mixed(kinds count, int form) {
    return count.digits > 0 && count.small + count.large > 0 &&
           (form != FIRN_FORM_BASE32HEX || count.large == 0);
}

/* True for one of the shapes, a UUID, or a typeid with its prefix. */
static bool is_sure(text_scan *scan, size_t start, size_t end, kinds count) {
    const size_t length = end - start;
    if (is_uuid(scan, start, end)) {
        return guessed(scan, start, start + UUID_LENGTH, FIRN_FORM_UUID) &&
               place(scan, start, start + UUID_LENGTH);
    }
    size_t from = length == TYPEID_LENGTH ? prefix_of(scan, start) : start;
    if (from < start && guessed(scan, from, end, FIRN_FORM_TYPEID)) {
        return place(scan, from, end);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (shapes[i].length == length) {
            return is_mixed(count, shapes[i].form) && guessed(scan, start, end, shapes[i].form) &&
                   readings_sure(scan->readings, scan->counts) &&
                   scan->readings[0].scheme->form == shapes[i].own && scan->timed &&
                   is_today(&scan->time) && place(scan, start, end);
        }
    }
    return false;
}

/* --all: what firn_guess finds plausible; without a digit it is rather a word of a language. */
static bool is_likely(text_scan *scan, size_t start, size_t end) {
    return guessed(scan, start, end, -1) && scan->readings[0].form != FIRN_FORM_FLAKE &&
           (!scan->timed || is_today(&scan->time)) && place(scan, start, end);
}

static bool is_wanted(text_scan *scan, size_t start, size_t end) {
    const bool all = scan->want->all, named = scan->want->scheme != NULL;
    const size_t length = end - start;
    const bool shapeless =
        !named && !all && length < shapes[0].length && !is_uuid(scan, start, end);
    if (length < SCAN_WORD_MIN || length > SCAN_TEXT_MAX ||
        (shapeless && length < SCAN_INTEGER_MIN)) {
        return false;
    }
    const kinds count = kinds_of(scan->text + start, length);
    scan->integers += !named && !all && length >= SCAN_INTEGER_MIN && length <= SCAN_INTEGER_MAX &&
                      count.digits == length;
    if (shapeless) {
        return false;
    }
    if (named) {
        return is_named(scan, start, end, count.digits == length);
    }
    return is_sure(scan, start, end, count) ||
           (all && count.digits > 0 && is_likely(scan, start, end));
}

bool scan_next(text_scan *scan) {
    size_t start, end;
    while (next_word(scan, &start, &end)) {
        const size_t escape = escape_of(scan, start, end);
        if (is_wanted(scan, start, end) || (escape > 0 && is_wanted(scan, start + escape, end))) {
            return true;
        }
    }
    return false;
}
