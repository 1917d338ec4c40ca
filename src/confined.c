/* SPDX-License-Identifier: MIT */
/* The text of confined claims: see confined.h. */
#include "confined.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A number as firn writes it. *text: what follows. */
static bool read_number(uint64_t *number, const char **text) {
    const char *at = *text;
    uint64_t sum = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (sum > (UINT64_MAX - digit) / 10 || (sum == 0 && at > *text)) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    const bool read = at > *text;
    *number = sum;
    *text = at;
    return read;
}

const char *firn__confined_read(const char *layout, firn__claims *claims) {
    static const char begin[] = "claim=";
    const char *at = layout + sizeof begin - 1;
    firn__claims read;
    if (strncmp(layout, begin, sizeof begin - 1) != 0 || !read_number(&read.first, &at) ||
        strncmp(at, "..", 2) != 0) {
        return layout;
    }
    at += 2;
    if (!read_number(&read.last, &at) || *at != ' ' || read.first > read.last) {
        return layout;
    }
    *claims = read;
    return at + 1;
}

char *firn__confined_write(char text[FIRN__CLAIMS_SIZE], const firn__claims *claims) {
    snprintf(text, FIRN__CLAIMS_SIZE, "%" PRIu64 "..%" PRIu64, claims->first, claims->last);
    return text;
}
