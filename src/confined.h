/* SPDX-License-Identifier: MIT */
/* The text of confined claims: the nodes of a namespace that may be claimed, in front of its stored layout. Knows no
 * generator. */
#ifndef FIRN_CONFINED_H
#define FIRN_CONFINED_H

#include <stdint.h>

#define FIRN__CLAIMS_SIZE 48 /* room for "0..899" */

/* The end of the stored layout of a namespace with this reach; with the other one, nothing is added. */
#define FIRN__LONG_REACH " reach=10min"

/* The nodes of a namespace that may be claimed. */
typedef struct firn__claims {
    uint64_t first, last;
} firn__claims;

/* Reads "claim=0..899 LAYOUT", and returns LAYOUT; another text is returned whole, and *claims untouched. */
const char *firn__confined_read(const char *layout, firn__claims *claims);
/* Writes "0..899". Returns `text`. */
char *firn__confined_write(char text[FIRN__CLAIMS_SIZE], const firn__claims *claims);

#endif
