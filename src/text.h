/* SPDX-License-Identifier: MIT */
/* IDs as text, for the inside of the library. */
#ifndef FIRN_TEXT_H
#define FIRN_TEXT_H

#include <firn/firn.h>

/* firn_format, which returns the number of characters (0: the form does not take the width).
 * Overwrites up to FIRN_TEXT_SIZE characters of `out`. */
size_t firn__format(char out[FIRN_TEXT_SIZE], const firn_id *id, int form);
/* firn_parse without a message. */
bool firn__read(firn_id *id, int form, uint32_t bits, const char *text, size_t length);

#endif
