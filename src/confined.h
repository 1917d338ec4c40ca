/* SPDX-License-Identifier: MIT */
/* Parts of a stored layout that a layout does not have: the nodes that may be claimed, in front,
 * and at the end the nodes of reserves and a long reach. The library and what is built on it include
 * this file. */
#ifndef FIRN_CONFINED_H
#define FIRN_CONFINED_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FIRN__CLAIMS_SIZE 48 /* room for "0..899" */
#define FIRN__CONFINED    "claim="

/* The end of the stored layout of a namespace with one of these reaches; with the default one,
 * nothing is added. */
#define FIRN__LONG_REACH    " reach=10min"
#define FIRN__LONGEST_REACH " reach=1h"

/* The reach of a stored layout, and its place there: at the end if it is the default one. */
static inline int firn__confined_reach_s(const char *layout, size_t *at) {
    static const struct {
        const char *text;
        int reach_s;
    } longer[] = {{FIRN__LONG_REACH, 615}, {FIRN__LONGEST_REACH, 3615}};
    const size_t length = strlen(layout);
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        const size_t size = strlen(longer[i].text);
        if (length > size && strcmp(layout + length - size, longer[i].text) == 0) {
            *at = length - size;
            return longer[i].reach_s;
        }
    }
    *at = length;
    return 15;
}

/* Nodes of a namespace that may be claimed, by generators or by reserves. */
typedef struct firn__claims {
    uint64_t first, last;
} firn__claims;

/* A number as firn writes it. *text: what follows. */
static inline bool firn__claims_number(uint64_t *number, const char **text) {
    const char *position = *text;
    uint64_t sum = 0;
    for (; *position >= '0' && *position <= '9'; position++) {
        const uint64_t digit = (uint64_t)(*position - '0');
        if (sum > (UINT64_MAX - digit) / 10 || (sum == 0 && position > *text)) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    const bool read = position > *text;
    *number = sum;
    *text = position;
    return read;
}

/* Reads "0..899". *text: what follows. */
static inline bool firn__claims_read(firn__claims *claims, const char **text) {
    const char *position = *text;
    firn__claims read;
    if (!firn__claims_number(&read.first, &position) || strncmp(position, "..", 2) != 0) {
        return false;
    }
    position += 2;
    if (!firn__claims_number(&read.last, &position) || read.first > read.last) {
        return false;
    }
    *claims = read;
    *text = position;
    return true;
}

static inline bool firn__claims_have(const firn__claims *claims, uint64_t node) {
    return node >= claims->first && node <= claims->last;
}

/* Reads "claim=0..899 LAYOUT", and returns LAYOUT; another text is returned whole, and *claims
 * untouched. */
static inline const char *firn__confined_read(const char *layout, firn__claims *claims) {
    const char *position = layout + sizeof FIRN__CONFINED - 1;
    firn__claims read;
    if (strncmp(layout, FIRN__CONFINED, sizeof FIRN__CONFINED - 1) != 0 ||
        !firn__claims_read(&read, &position) || *position != ' ') {
        return layout;
    }
    *claims = read;
    return position + 1;
}

/* The nodes of reserves: " reserve_claim=900..1023 reach=1h" at the end of a stored layout. The long
 * reach is then theirs alone, and all other nodes have the default one. The namespace has one floor,
 * and nodes of reserves begin FIRN__RESERVES_LATER_S after it (model/range.pml). A program that does
 * not know these nodes sees a namespace with reach=1h and another layout. */
#define FIRN__RESERVES         " reserve_claim="
#define FIRN__RESERVES_LATER_S 3600 /* the difference of the reaches */

/* The nodes of reserves in a stored layout; false: it has none. *length: of the layout without them
 * and without its reach. */
static inline bool firn__confined_reserves(const char *layout, firn__claims *reserves,
                                           size_t *length) {
    const size_t size = sizeof FIRN__RESERVES - 1;
    size_t end, at;
    const bool longest = firn__confined_reach_s(layout, &end) == 3615;
    *length = at = end;
    while (at > 0 && layout[at] != '=') {
        at--;
    }
    const char *position = layout + at + 1;
    if (!longest || at < size || strncmp(position - size, FIRN__RESERVES, size) != 0 ||
        !firn__claims_read(reserves, &position) || position != layout + end) {
        return false;
    }
    *length = at + 1 - size;
    return true;
}

/* Writes "0..899". Returns `text`. */
static inline char *firn__confined_write(char text[FIRN__CLAIMS_SIZE], const firn__claims *claims) {
    snprintf(text, FIRN__CLAIMS_SIZE, "%" PRIu64 "..%" PRIu64, claims->first, claims->last);
    return text;
}

#endif
