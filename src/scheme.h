/* SPDX-License-Identifier: MIT */
/* Schemes, for the inside of the library: the packers of the table and what a generator asks of
 * a row. */
#ifndef FIRN_SCHEME_H
#define FIRN_SCHEME_H

#include "bits.h"

/* What changes from ID to ID of one generator; the rest of the ID is a template. */
typedef struct firn__draw {
    uint64_t tick;
    uint64_t count; /* sequence or counter */
    firn_value random;
} firn__draw;

/* The slices of `draw`, joined with `base`, which holds all the others. */
typedef void firn__packer(firn_id *id, const firn_scheme *scheme, const firn__draw *draw,
                          const firn_id *base);

/* The straight-line packer of a row of the table, the walking one of a layout of the user's. */
firn__packer *firn__scheme_packer(const firn_scheme *scheme);

/* The index of the first slice with this role, or -1. */
int firn__scheme_role(const firn_scheme *scheme, int role);
/* The width of the field with this role, 0 when there is none. */
uint32_t firn__scheme_role_width(const firn_scheme *scheme, int role);
/* Bits of all node slices together: 0..160. */
uint32_t firn__scheme_node_bits(const firn_scheme *scheme);
/* Is slice i a part of the node? */
bool firn__scheme_is_node(const firn_scheme *scheme, uint32_t i);
/* The first tick past the layout, UINT64_MAX when the time has 64 bits. `whole` as in
 * firn_scheme_end. */
uint64_t firn__scheme_tick_end(const firn_scheme *scheme, bool whole);
/* Are all its ticks, and the end, instants of 64-bit seconds? */
bool firn__scheme_times_fit(const firn_scheme *scheme);
/* A namespace of nodes is at most so long: " ticks" and " jobs" stand behind it in the names of
 * those beside it. */
#define FIRN__NS_MOST (FIRN_NS_SIZE - 1 - 6)
/* The namespace that IDs of this scheme live in by default; returns `text`. */
char *firn__scheme_ns(char text[FIRN_NS_SIZE], const firn_scheme *scheme);
/* time-random with 1..18 digits; as long as the library. */
const firn_scheme *firn__scheme_digits(uint32_t digits);
/* Is a field's value above what firn_scheme_max allows? */
bool firn__above(firn_value value, firn_value most);
/* FIRN_ERANGE: the value given for slice i is. */
int firn__refuse_above(const firn_scheme *scheme, uint32_t i, firn_error *error);
/* Does `names` (separated by blanks) hold `name`? */
bool firn__names_hold(const char *names, const char *name);
/* Adds a value to a field's at slice i; the value must fit the field. */
void firn__fields_put(firn_fields *fields, uint32_t i, firn_value value);
/* Constants and given fields packed, everything else 0: the template. Fields must fit. */
void firn__pack_given(firn_id *id, const firn_scheme *scheme, const firn_fields *fields);
/* Reads a decimal, 0x hex or colon-hex number of at most 128 bits. False: not of that form, or
 * wider. */
bool firn__value_parse(firn_value *value, const char *text);

#endif
