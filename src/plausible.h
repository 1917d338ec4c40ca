/* SPDX-License-Identifier: MIT */
/* Whether a reading of a text is plausible, which means unlikely by chance. For the inside of the
 * library; firn_guess sorts its readings by the answer. */
#ifndef FIRN_PLAUSIBLE_H
#define FIRN_PLAUSIBLE_H

#include "traits.h"

enum firn__standing {
    FIRN__CHANCE, /* the text fits, as most texts of its length do */
    FIRN__SHAPE,  /* the form is the scheme's own and rare otherwise, but the time is not one of
                   * today's */
    FIRN__LIKELY
};

/* For an ID whose constants match the scheme. `uuid`: firn__is_uuid; `today`:
 * firn__traits_today. */
enum firn__standing firn__standing(const firn__traits *traits, int form, bool uuid, bool today);
/* Whether an ID has the variant and a defined version of a UUID. */
bool firn__is_uuid(const firn_id *id);
/* Whether a number is common for other purposes: an amount, a telephone number, a time since 1970 in
 * s, ms, us or whole ms of ns, or a date in digits, with or without ms. */
bool firn__ordinary(uint64_t number);

#endif
