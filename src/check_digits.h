/* SPDX-License-Identifier: MIT */
/* Check digits of numbers for people: Damm, Luhn and ISO 7064 MOD 97-10. Each finds every wrong
 * digit; Damm and MOD 97-10 also find every two neighbours that were exchanged, Luhn all but 09
 * and 90. */
#ifndef FIRN_CHECK_DIGITS_H
#define FIRN_CHECK_DIGITS_H

#include <stddef.h>
#include <stdint.h>

enum firn__check { FIRN__CHECK_NONE, FIRN__CHECK_DAMM, FIRN__CHECK_LUHN, FIRN__CHECK_MOD97 };

/* The check digits of a text, as a number. Other characters than digits do not count, except that
 * letters count for MOD 97-10: A or a is 10, Z or z 35. */
uint32_t firn__check_of(int check, const char *text, size_t length);

#endif
