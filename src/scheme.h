/* SPDX-License-Identifier: MIT */
/* Schemes, for the inside of the library: packers, and what a generator asks a scheme. */
#ifndef FIRN_SCHEME_H
#define FIRN_SCHEME_H

#include "bits.h"

/* The part that changes from ID to ID of a generator; the rest of an ID is a template. */
typedef struct firn__draw {
    uint64_t tick;
    uint64_t count; /* sequence or counter */
    firn_value random;
} firn__draw;

/* Packs the slices of `draw` and joins them with `base`, which has all other bits. */
typedef void firn__packer(firn_id *id, const firn_scheme *scheme, const firn__draw *draw,
                          const firn_id *base);

/* The straight-line packer of a scheme of the list; for a layout of the caller's one that walks
 * its slices. */
firn__packer *firn__scheme_packer(const firn_scheme *scheme);

/* The difference of two IDs whose field of this role differs by 1. 0: not the same for all values
 * (a field that is split, mirrored or absent), or not within the lowest 64 bits. */
uint64_t firn__scheme_stride(const firn_scheme *scheme, int role);

/* The index of the first slice with this role, or -1. */
int firn__scheme_role(const firn_scheme *scheme, int role);
/* The width of the field with this role; 0: no such field. */
uint32_t firn__scheme_role_width(const firn_scheme *scheme, int role);
/* Bits of all node slices together: 0..160. */
uint32_t firn__scheme_node_bits(const firn_scheme *scheme);
/* Whether slice i is a part of the node. */
bool firn__scheme_is_node(const firn_scheme *scheme, uint32_t i);
/* Is its text a signed 64-bit number, so that IDs with the top bit sort before all others? */
bool firn__scheme_is_signed(const firn_scheme *scheme);
/* The first tick after the layout, UINT64_MAX when the time has 64 bits; or, if the IDs are
 * `signed_` 64-bit numbers, the first one whose IDs are negative. */
uint64_t firn__scheme_tick_end(const firn_scheme *scheme, bool signed_);
/* Whether a firn_time can represent every tick, and the end. */
bool firn__scheme_times_fit(const firn_scheme *scheme);
/* The greatest length of a namespace of nodes: " ticks" or " jobs" is appended for other ones. */
#define FIRN__NS_MOST (FIRN_NS_SIZE - 1 - 6)
/* The default namespace of a scheme; returns `text`. */
char *firn__scheme_ns(char text[FIRN_NS_SIZE], const firn_scheme *scheme);
/* time-random with 1..18 digits; lives as long as the library. */
const firn_scheme *firn__scheme_digits(uint32_t digits);
/* The first tick that begins at or after `time`, which may be the end of the last tick. Errors as
 * firn_scheme_tick. */
int firn__scheme_tick_up(const firn_scheme *scheme, const firn_time *time, uint64_t *tick,
                         firn_error *error);
/* The scheme of a UUID, by variant and version: uuid1 to uuid8, or NULL. */
const firn_scheme *firn__scheme_uuid(const firn_id *id);
/* Whether `names` (separated by blanks; may be NULL) contains `name`. */
bool firn__names_hold(const char *names, const char *name);

/* The bits of a field that a slice contains, mirrored if the slice is. */
static inline firn_value firn__slice_part(firn_value value, uint32_t from, uint32_t bits,
                                          uint32_t group) {
    firn_value part = firn__part(value, from, bits);
    if (group > 0) {
        part.low = firn__mirror(part.low, bits, group);
    }
    return part;
}

static inline firn_value firn__slice_of(const firn_slice *slice, firn_value value) {
    return firn__slice_part(value, slice->from, slice->bits, slice->group);
}

#endif
