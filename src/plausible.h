/* SPDX-License-Identifier: MIT */
/* Whether a reading of a text is plausible, which means unlikely by chance. For the inside of the
 * library; firn_guess sorts its readings by the answer. */
#ifndef FIRN_PLAUSIBLE_H
#define FIRN_PLAUSIBLE_H

#include <firn/firn.h>

enum firn__standing {
    FIRN__CHANCE, /* the text fits, as most texts of its length do */
    FIRN__SHAPE,  /* the form is the scheme's own and rare otherwise, but the time is not one of
                   * today's */
    FIRN__LIKELY
};

enum firn__standing firn__standing(const firn_reading *reading, const firn_fields *fields);
/* Whether the time is one of today's IDs. False for a scheme without time. */
bool firn__time_likely(const firn_scheme *scheme, const firn_fields *fields);
/* Whether a number is common for other purposes: an amount, a telephone number, a time since 1970 in
 * s, ms, us or whole ms of ns, or a date in digits, with or without ms. */
bool firn__ordinary(uint64_t number);
/* The number of constant bits. */
uint32_t firn__constant_bits(const firn_scheme *scheme);

#endif
