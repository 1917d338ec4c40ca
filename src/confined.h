/* SPDX-License-Identifier: MIT */
/* Parts of a stored layout that a layout does not have: the nodes that may be claimed, in front,
 * and a long reach, at the end. The library and what is built on it include this file. */
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

/* The nodes of a namespace that may be claimed. */
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

/* Reads "claim=0..899 LAYOUT", and returns LAYOUT; another text is returned whole, and *claims
 * untouched. */
static inline const char *firn__confined_read(const char *layout, firn__claims *claims) {
    const char *position = layout + sizeof FIRN__CONFINED - 1;
    firn__claims read;
    if (strncmp(layout, FIRN__CONFINED, sizeof FIRN__CONFINED - 1) != 0 ||
        !firn__claims_number(&read.first, &position) || strncmp(position, "..", 2) != 0) {
        return layout;
    }
    position += 2;
    if (!firn__claims_number(&read.last, &position) || *position != ' ' || read.first > read.last) {
        return layout;
    }
    *claims = read;
    return position + 1;
}

/* Writes "0..899". Returns `text`. */
static inline char *firn__confined_write(char text[FIRN__CLAIMS_SIZE], const firn__claims *claims) {
    snprintf(text, FIRN__CLAIMS_SIZE, "%" PRIu64 "..%" PRIu64, claims->first, claims->last);
    return text;
}

#endif
