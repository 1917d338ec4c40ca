/* SPDX-License-Identifier: MIT */
/* Whether a reading of a text is plausible: would a text of that kind rarely be read so by chance?
 * For the inside of the library; firn_guess sorts its readings by the answer. */
#ifndef FIRN_PLAUSIBLE_H
#define FIRN_PLAUSIBLE_H

#include <firn/firn.h>

enum firn__standing {
    FIRN__CHANCE, /* the text fits, as most texts of its length do */
    FIRN__SHAPE,  /* the form is the scheme's own and hardly any other's, but the time is not one of
                   * today */
    FIRN__LIKELY
};

enum firn__standing firn__standing(const firn_reading *reading, const firn_fields *fields);
/* Is the time one that IDs of today have? False for a scheme without time. */
bool firn__time_likely(const firn_scheme *scheme, const firn_fields *fields);
/* A number as people and programs have them for other things: an amount, a telephone number, a
 * time in s, ms, us or whole ms of ns since 1970, a time of the calendar with or without ms. */
bool firn__ordinary(uint64_t number);
/* Bits that are constant. */
uint32_t firn__constant_bits(const firn_scheme *scheme);

#endif
