/* SPDX-License-Identifier: MIT */
/* A reservation, sent until its outcome is known. Every caller of firn_store_reserve in the library
 * goes through it; the caller decides how much to reserve, and what a refusal means. */
#ifndef FIRN_RESERVE_H
#define FIRN_RESERVE_H

#include <firn/firn.h>

/* The time that a call may spend on a store that answers, however small max_wait is: a claim needs
 * two or three answers. */
#define FIRN__STORE_MS 1000
#define FIRN__SENDINGS 3 /* of one request, in one go */

/* The time that a call has for a store: what is under way is not cut off, but nothing more begins
 * after it. */
typedef struct firn__patience {
    const firn_clock *clock;
    int64_t began_ns; /* steady */
    int64_t max_ms;
} firn__patience;

/* From now on, the greater of max_ms and FIRN__STORE_MS. */
firn__patience firn__patience_begin(const firn_clock *clock, int64_t max_ms);
int64_t firn__patience_spent_ms(const firn__patience *patience);
bool firn__patience_over(const firn__patience *patience);

typedef struct firn__attempts {
    int tries;      /* maximum number of sendings; the first is never refused for lack of time */
    bool sent;      /* the request, or a copy with its grant, went out before this call */
    bool twice;     /* out: it went out more than once, so it must never be given back */
    firn_mark held; /* out, FIRN_EBUSY, and FIRN_OK by an earlier sending: the present mark */
} firn__attempts;

/* FIRN_OK: [*first, *first + count) is the caller's. FIRN_ECLONED: the very first sending met its
 * own grant, so a copy of this process image sent it. FIRN_EUNKNOWN: may be carried out; send the
 * same request again. Else as firn_store_reserve. */
int firn__reserve(firn_store *store, const firn_request *request, const firn__patience *patience,
                  firn__attempts *sending, int64_t *first, firn_error *error);
/* A random 64-bit grant, never 0. FIRN_EENTROPY. */
int firn__reserve_grant(const firn_entropy *entropy, uint64_t *grant, firn_error *error);

#endif
