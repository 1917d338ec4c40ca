/* SPDX-License-Identifier: MIT */
/* Facts about schemes and forms for firn_guess, computed once from the list of schemes and the
 * table of forms: constants as masks, the ticks of today's IDs, characters and widths of the forms.
 * Knows no text. */
#ifndef FIRN_TRAITS_H
#define FIRN_TRAITS_H

#include <firn/firn.h>

enum {
    FIRN__SCHEMES_MAX = 48,
    FIRN__WIDTHS_MAX = 8, /* different widths of IDs */
    FIRN__PIECES_MAX = 4, /* slices of a time */
    /* A text in another form than the scheme's own is plausible if it fits by chance in at most one
     * of 2^6 cases. The version and variant of a UUID have 6 bits. */
    FIRN__RARE = 6
};

/* A scheme. */
typedef struct firn__traits {
    const firn_scheme *scheme;
    firn_id mask, value;    /* the constant bits, and their values */
    uint64_t from, end;     /* the ticks of today's IDs; from = end without a time */
    uint32_t constant_bits; /* how many bits are constant */
    uint32_t same_bits;     /* about how many bits of the time all of today's IDs share */
    bool plain;             /* IDs may be written in any form */
    bool version;           /* a constant is where UUIDs have their version */
    bool rare;     /* constants, and bits that all of today's times share, are FIRN__RARE */
    uint8_t width; /* of a plain scheme: index into `bits` below */
    uint8_t pieces;
    uint8_t owner; /* its index in owners.def; of a scheme that the list has not: their count */
    struct {
        uint8_t position, bits, from, group;
    } time[FIRN__PIECES_MAX];
} firn__traits;

/* All schemes and forms. Sets of forms have bit 1 << form. */
typedef struct firn__traits_list {
    uint32_t count, widths;
    uint64_t dated;                          /* the schemes with the form dated: bit 1 << index */
    uint64_t plain[FIRN__WIDTHS_MAX];        /* the plain schemes of a width */
    firn__traits schemes[FIRN__SCHEMES_MAX]; /* in the order of the list */
    uint32_t bits[FIRN__WIDTHS_MAX];         /* the widths of plain schemes, ascending */
    uint32_t usual[FIRN__WIDTHS_MAX];        /* forms that a scheme of a width has by default */
    uint8_t digits[FIRN__WIDTHS_MAX][FIRN_FORM_COUNT]; /* firn_form_width */
    uint32_t forms[256];                               /* forms in whose texts a character may be */
} firn__traits_list;
_Static_assert(FIRN_FORM_COUNT <= 32, "a set of forms has 32 bits");
_Static_assert(FIRN__SCHEMES_MAX <= 64, "a set of schemes has 64 bits");

/* The list, which lives as long as the library. NULL: another thread is computing the list at this
 * moment (or was, when this process was forked): call firn__traits_fill. */
const firn__traits_list *firn__traits_known(void);
void firn__traits_fill(firn__traits_list *list);
/* The traits of a scheme outside the list; `width` is not set. */
firn__traits firn__traits_of(const firn_scheme *scheme);

/* Whether all constants of a scheme are in an ID of its width. */
static inline bool firn__traits_fit(const firn__traits *traits, const firn_id *id) {
    uint64_t low = (id->low & traits->mask.low) ^ traits->value.low;
    uint64_t high = (id->high & traits->mask.high) ^ traits->value.high;
    return (low | high | ((id->top & traits->mask.top) ^ traits->value.top)) == 0;
}
/* Whether the time of an ID is one of today's IDs. False for a scheme without time. */
bool firn__traits_today(const firn__traits *traits, const firn_id *id);

#endif
