/* SPDX-License-Identifier: MIT */
/* The reservation law: decides a request by what the store keeps and the handle remembers. Pure: it
 * reads no clock and no store. The engine (engine.h) writes its verdict; test/law_test.c compares
 * the answers of each kind of store with it. */
#ifndef FIRN_LAW_H
#define FIRN_LAW_H

#include <firn/store.h>

/* A namespace whose stored layout begins so is closed: "closed (moved to URL): LAYOUT". While the
 * record of FIRN_ALL_NAMES is closed, the store makes no record for another open namespace. */
#define FIRN__CLOSED    FIRN_LAYOUT_CLOSED
#define FIRN__FORGOTTEN FIRN__CLOSED "forgotten" /* by firn nodes --forget */
#define FIRN__GONE_BACK "gone back"

/* `firn segment advance '*'` reserves from FIRN_ALL_NAMES. From then on, until the store loses
 * reservations again, a namespace without a record is new. A change of it to FIRN__GONE_BACK
 * declares that the store lost reservations (firn nodes lost). */
bool firn__declares_loss(const firn_relabel *change);

/* ---- what a handle remembers ----------------------------------------------------------------- */

/* The last 256 namespaces that it reserved from, and its last reservation. A store that no longer
 * has one of them lost reservations. Starts as zero. */
typedef struct firn__memory {
    uint64_t digests[256]; /* of namespaces */
    unsigned next;
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE];
    firn_mark mark; /* of the last reservation's key; {0, 0}: none */
} firn__memory;

bool firn__remembers_ns(const firn__memory *memory, const char *ns);
void firn__remember_ns(firn__memory *memory, const char *ns);
/* The reservation ends at `high`. */
void firn__remember(firn__memory *memory, const firn_request *request, int64_t high);
/* The mark of the last reservation, if it is of the request's key: the key has no smaller one. {0,
 * 0}: unknown. */
firn_mark firn__least(const firn__memory *memory, const firn_request *request);
/* Did the store lose the reservation that made `mine`, or grant its last slots again? Others raise
 * its mark, and give back only what they reserved after it, which leaves no grant. */
bool firn__mark_is_lost(firn_mark mine, firn_mark now);
/* Forgets the last reservation, which may be given back. */
void firn__forget_last(firn__memory *memory);

/* ---- verdicts -------------------------------------------------------------------------------- */

/* The records of a store for a request. */
typedef struct firn__store_record {
    bool back;          /* the server shows a loss that the store's record does not have */
    bool known;         /* the namespace has a record */
    bool current;       /* known: the store has not lost reservations since then */
    bool complete;      /* not known: the store lost nothing, or all names are known (see above) */
    const char *layout; /* if `known` */
    const char *shut;   /* not known: the layout of FIRN_ALL_NAMES if that is closed; or NULL */
    int64_t floor;      /* no slot of the namespace before it can be granted */
    firn_mark mark;     /* {0, 0}: the key has no mark */
    /* CLOCK_BOOTTIME before the verdict is written: the guard moves with it */
    int64_t now_ms;
} firn__store_record;

typedef struct firn__verdict {
    bool back;  /* with any verdict, write into the store's record that it lost reservations */
    bool renew; /* write the namespace's record, with `floor`, even if the key is busy */
    int64_t first, floor;
    firn_raise raise; /* FIRN_OK: which marks have the same verdict */
} firn__verdict;

/* Does the raise allow this mark? *first: of the slots. */
bool firn__raise_allows(const firn_raise *raise, firn_mark mark, int64_t *first);

/* The guard of the request with the time since it was computed; 0: none. */
int64_t firn__law_guard(const firn_request *request, int64_t now_ms);

/* How many slots after the floor of its namespace the key of the request begins, and after the guard
 * it may end: 0, and for a node of reserves (confined.h) the difference of the reaches. Slots without
 * a time have no guard: 0. Without the length of a tick, none is granted after a loss. */
int64_t firn__law_later(const firn_request *request);
/* Where the key of the request begins if its namespace has this floor; 0: no floor. */
int64_t firn__law_begin(int64_t floor, const firn_request *request);

/* back    = the engine or the handle's memory shows that the store lost reservations
 * doubted = back, or the record is not current, or there is no record and the store is not complete
 *
 * In this order:
 *   not known, shut:    FIRN_ESTORE, but not for a closed layout
 *   another layout:     FIRN_ENAMESPACE, but FIRN_ESTORE if the stored one is closed
 *   doubted, guard 0:   FIRN_EBACK, but FIRN_EBUSY if the mark is past `latest` anyway
 *   doubted, guard > 0: floor = max(floor, guard), and the namespace is no longer doubted; if it is
 *                       not known, max(floor, guard + guard_more) from guard_known_ms on
 *   begin = firn__law_begin(floor): floor + firn__law_later(), or 0
 *   first = max(high, earliest, begin)
 *   first > latest:     FIRN_EBUSY, and `held` is the mark, or {begin, 0} if that is above it: no
 *                       window ends there. Doubted, guard 0: `held` has 0 in place of the
 *                       request's own grant, since a late copy of the request may have been
 *                       carried out, and its slots may be another's
 *   `own` of a renewal is not the key's mark: FIRN_EBUSY, `held` likewise
 *   first + count past the guard of slots with a time, and firn__law_later(): FIRN_ECLOCK
 *   otherwise FIRN_OK: high = first + count, and [first, first + count) is the caller's
 *
 * A store that lost reservations (restored, emptied, failed over to an older copy) does not know
 * its last grants. The handle that notices writes it into the store's record, so that every
 * namespace is doubted. */
int firn__law_reserve(firn__verdict *out, const firn__store_record *kept,
                      const firn__memory *memory, const firn_request *request, const char *where,
                      firn_mark *held, firn_error *error);

/* Decides a change of a namespace's layout. A doubted namespace keeps its layout, except that a
 * forgotten namespace can be opened; it stays doubted. FIRN_OK: write it, with *floor, also if the
 * layout is `to` already: the caller may repeat a change that others can see, and that is not on
 * disk yet. The write must run before or after each reservation of the namespace, and of any
 * unknown one if it is of FIRN_ALL_NAMES. */
int firn__law_relabel(int64_t *floor, const firn__store_record *kept, const firn_relabel *change,
                      const char *where, firn_error *error);

/* Decides a give back: the key's mark must still be `mine`, with its grant. FIRN_OK: lower it, with
 * the grant 0. A grant of 0 is refused before, by firn_store_give_back. */
int firn__law_give_back(const firn__store_record *kept, const char *ns, const char *key,
                        const firn_mark *mine, firn_error *error);

/* ---- refusals -------------------------------------------------------------------------------- */

/* FIRN_EBUSY: the key is reserved up to `high`, which is beyond the request or is not the mark that
 * the request continues. */
int firn__refuse_busy(firn_error *error, const firn_request *request, int64_t high);
/* FIRN_ESTORE: other processes write the same key continuously. */
int firn__refuse_contended(firn_error *error, const char *where, const char *key);
/* FIRN_EBACK: the store lost reservations since the namespace was last reserved from. */
int firn__refuse_back(firn_error *error, const char *where, const char *ns);
/* FIRN_ENAMESPACE: shows both layouts where they differ. FIRN_ESTORE: the stored one is closed. */
int firn__refuse_layout(firn_error *error, const firn_request *request, const char *stored);
/* FIRN_ESTORE: the namespace, or every new one, is closed. `shut` is the namespace whose layout
 * `stored` is closed: `ns`, or FIRN_ALL_NAMES. */
int firn__refuse_closed(firn_error *error, const char *ns, const char *shut, const char *stored);

#endif
