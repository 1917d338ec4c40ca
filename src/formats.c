/* SPDX-License-Identifier: MIT */
/* Recognising: the formats of formats.def that a text may have, best first. How sure a match is
 * depends on what could be checked, in bits: an ID of the format always passes, another text of the
 * same length and alphabet in 1 of 2^bits cases. 20 bits are certain, 6 likely, fewer possible.
 * Matches that are equally sure are sorted by these bits, with those that the alphabet itself
 * shows. */
#include "formats.h"

#include "traits.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 160, LEAD_BITS = 3, RANK_SURE = 100000 };

/* ---- the list -------------------------------------------------------------------------------- */

enum alphabet { DIGITS, HEX, BASE36, BASE36UP, BASE57, BASE58, BASE62, BASE64URL, BASE64, ANY };
enum when { ALWAYS, ALONE };

/* How many hundredths of a bit a character in the alphabet shows against base64url. */
static const int shown_bits[] = {
    [DIGITS] = 268, [HEX] = 200,  [BASE36] = 83,   [BASE36UP] = 83, [BASE57] = 17,
    [BASE58] = 14,  [BASE62] = 5, [BASE64URL] = 0, [BASE64] = 0,    [ANY] = 0};

/* Texts that the WebAssembly module of the package has no call for. */
#ifdef FIRN_TERSE
#define PROSE(text) NULL
#else
#define PROSE(text) text
#endif

/* Apart from the recognisers, so that a program that only lists formats does not contain those. */
static const firn_text_format formats[] = {
#define FORMAT(recogniser, name, title, least, most, alphabet, when, shape, sure, source)          \
    {name, PROSE(title), PROSE(shape), PROSE(sure), PROSE(source)},
#include "formats.def"
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static const struct expected {
    firn__recognizer *is;
    uint8_t least, most, alphabet, when;
} expected[FORMATS] = {
#define FORMAT(recogniser, name, title, least, most, alphabet, when, shape, sure, source)          \
    {firn__is_##recogniser, least, most, alphabet, when},
#include "formats.def"
};

const firn_text_format *firn_text_format_at(size_t i) {
    return i < FORMATS ? &formats[i] : NULL;
}

static const firn_owner owners[] = {
#define OWNER(name, title, prevalence, source)                                                     \
    {name, PROSE(title), PROSE(prevalence), PROSE(source)},
#include "owners.def"
};

const firn_owner *firn_owner_at(size_t i) {
    return i < sizeof owners / sizeof owners[0] ? &owners[i] : NULL;
}

const char *firn_sure_name(int sure) {
    static const char *const names[] = {"possible", "likely", "certain"};
    return sure >= FIRN_POSSIBLE && sure <= FIRN_CERTAIN ? names[sure] : "?";
}

/* ---- recognising ----------------------------------------------------------------------------- */

static uint32_t alphabets_of(unsigned char c) {
    const uint32_t url = 1u << BASE64URL | 1u << BASE64, text = 1u << BASE62 | url;
    const bool digit = c >= '0' && c <= '9', lower = c >= 'a' && c <= 'z',
               upper = c >= 'A' && c <= 'Z';
    uint32_t set = c > 32 && c < 127 ? 1u << ANY : 0;
    if (!digit && !lower && !upper) {
        return set | (c == '-' || c == '_' ? url : 0) |
               (c == '+' || c == '/' || c == '=' ? 1u << BASE64 : 0);
    }
    set |= text;
    set |= digit ? 1u << DIGITS | 1u << HEX | 1u << BASE36 | 1u << BASE36UP : 0;
    set |= lower ? 1u << BASE36 : 0;
    set |= upper ? 1u << BASE36UP : 0;
    set |= c >= 'a' && c <= 'f' ? 1u << HEX : 0;
    set |= c != '0' && c != 'I' && c != 'O' && c != 'l' ? 1u << BASE58 : 0;
    set |= c != '0' && c != '1' && c != 'I' && c != 'O' && c != 'l' ? 1u << BASE57 : 0;
    return set;
}

/* How many bits of a reading could be checked: constants, and the time. */
static int bits_of(const firn_reading *reading) {
    const firn__traits traits = firn__traits_of(reading->scheme);
    return (int)traits.constant_bits +
           (firn__traits_today(&traits, &reading->id) ? (int)traits.same_bits : 0);
}

/* Sorted by the rank, best first; equal ones in the order of the list. */
typedef struct match_ranking {
    firn_match *matches;
    int ranks[FIRN_MATCHES_MAX];
    int best_bits; /* of the first one */
    size_t count;
} match_ranking;

static void insert_match(match_ranking *list, const firn_match *match, int bits, int rank) {
    size_t position = list->count;
    while (position > 0 && list->ranks[position - 1] < rank) {
        position--;
    }
    list->count += list->count < FIRN_MATCHES_MAX;
    for (size_t i = list->count - 1; i > position; i--) {
        list->matches[i] = list->matches[i - 1];
        list->ranks[i] = list->ranks[i - 1];
    }
    if (position < FIRN_MATCHES_MAX) {
        list->matches[position] = *match;
        list->ranks[position] = rank;
    }
    list->best_bits = position == 0 ? bits : list->best_bits;
}

/* Adds how often another text looks like this. */
static void add_chance(firn_match *match, int bits) {
    size_t length = strlen(match->reason);
    char *end = match->reason + length;
    const size_t room = sizeof match->reason - length;
    if (bits >= FIRN__CERTAIN_BITS) {
        snprintf(end, room, ": fewer than 1 of a million such texts fit by chance");
    } else if (bits > 0) {
        snprintf(end, room, ": 1 of %d such texts fits by chance", 1 << bits);
    } else {
        snprintf(end, room, ": nothing can be checked");
    }
}

static bool leads(const firn_match *match, int bits, const firn_reading *best) {
    if (match->sure == FIRN_POSSIBLE || best == NULL || best->sure == FIRN_POSSIBLE) {
        return match->sure != FIRN_POSSIBLE;
    }
    return !match->subset && bits > bits_of(best) + LEAD_BITS;
}

size_t firn_recognize(firn_match matches[FIRN_MATCHES_MAX], const firn_reading *best,
                      const char *text, size_t length) {
    firn__look seen = {text, length, UINT32_MAX};
    match_ranking list = {.matches = matches};
    if (length == 0 || length > TEXT_MAX) {
        return 0;
    }
    for (size_t i = 0; i < length && seen.alphabets != 0; i++) {
        seen.alphabets &= alphabets_of((unsigned char)text[i]);
    }
    for (size_t r = 0; r < FORMATS && seen.alphabets != 0; r++) {
        const struct expected *entry = &expected[r];
        if (length < entry->least || length > entry->most ||
            (best != NULL && entry->when == ALONE) ||
            (seen.alphabets & 1u << entry->alphabet) == 0) {
            continue;
        }
        firn_match match;
        int bits = 0;
        match.timed = match.subset = false;
        match.count = 0;
        match.reason[0] = '\0';
        if (!entry->is(&match, &bits, &seen)) {
            continue;
        }
        match.format = &formats[r];
        match.sure = bits >= FIRN__CERTAIN_BITS  ? FIRN_CERTAIN
                     : bits >= FIRN__LIKELY_BITS ? FIRN_LIKELY
                                                 : FIRN_POSSIBLE;
        add_chance(&match, bits);
        insert_match(&list, &match, bits,
                     match.sure * RANK_SURE + bits * 100 +
                         shown_bits[entry->alphabet] * (int)length);
    }
    for (size_t i = 0; i < list.count; i++) {
        matches[i].leads = i == 0 && leads(&matches[0], list.best_bits, best);
    }
    return list.count;
}
