/* SPDX-License-Identifier: MIT */
/* The inside of a generator. Its state has one struct for each rule by which threads share it:
 * firn_gen is read only after opening, firn__atomic_state is atomic, firn__renewal_state and
 * firn__kept are under the renewal lock, firn__thread_view (thread_cache.h) is one thread's. The
 * files, from the bottom: policy.c and identity.c say what the keys mean, renewal.c holds windows,
 * claim.c and renewal.c fill them, now.c reads the clock, issue_*.c issue, next.c and open.c are
 * the public calls. */
#ifndef FIRN_GEN_H
#define FIRN_GEN_H

#include "clock.h"
#include "confined.h"
#include "fields.h"
#include "keys.h"
#include "number.h"
#include "reserve.h"
#include "scheme.h"
#include "shuffle.h"
#include "thread_cache.h"
#include "ticks.h"

#include <pthread.h>
#include <stdatomic.h>

#define FIRN__AT_ONCE (1 << 30) /* IDs of one call, for every scheme */
#define FIRN__NODES   64        /* windows a generator holds at most */
#define FIRN__OPEN    (UINT64_C(1) << 63)
#define FIRN__NO_SLOT (INT64_C(1) << 62) /* further than any slot */

/* The right to issue the slots [next, end) as one node, and the cursor inside it. Slots here are
 * relative to the window's base tick, so that schemes whose slots need more than 62 bits fit too.
 * Its page reads as zero after a fork, and after it was retired: a cursor of 0 is closed. Its
 * address is never reused while the generator exists, so a thread that slept on an old window finds
 * it closed and nothing else. */
typedef struct firn__window {
    _Atomic uint64_t cursor; /* FIRN__OPEN | the next slot */
    /* On another cache line than the cursor: threads only read these, so the line stays in every
     * cache. */
    _Alignas(64) _Atomic int64_t soft; /* renew from here on */
    _Atomic int64_t end;               /* the first slot that is not granted; only rises */
    uint64_t base_tick;
    firn_id base; /* everything of the ID that does not change: constants and fields */

    /* The renewer's, under the renewal lock. */
    uint64_t node; /* joined; 0 without a node */
    int64_t first; /* the first slot, relative */
    uint64_t grant;
    bool reserved;          /* from a store */
    bool twice;             /* a request went out more than once: never given back */
    bool lost;              /* somebody took the node at our end: no renewal */
    uint64_t pending_grant; /* a renewal of unknown outcome, sent again as it was */
    int64_t pending_count;
} firn__window;

/* The counter of schemes that count on over ticks (objectid, locality, xid) and the random part of
 * ulid. All of it is read and written with `lock` held, which is held for arithmetic and entropy
 * only. */
typedef struct firn__counted {
    pthread_mutex_t lock;
    const firn__window *window; /* of `tick` */
    firn_id base;               /* of the window, read while it was open */
    bool started;
    uint64_t tick;
    uint64_t used;    /* IDs of this tick */
    uint64_t counter; /* the last one written */
    firn_value random;
} firn__counted;

/* Any thread, at any time: atomics. A pointer is stored with release order and loaded with acquire;
 * counts are relaxed. */
typedef struct firn__atomic_state {
    bool is_shared; /* its windows are in memory of several processes; written while opening */
    _Atomic uint64_t serial;  /* random, never 0 while this process may use it */
    _Atomic uint64_t era;     /* from serial on, one more for each event: see firn__event */
    _Atomic uint64_t blocked; /* a step back is waited for until this tick + 1; 0: none */
    _Atomic uint64_t stays;   /* or the time of IDs stays at this tick - 1 or later; 0: no */
    _Atomic uint32_t lanes;   /* threads that have come so far */
    _Atomic uint64_t handled; /* steps back beyond max_back that have been acted on */
    /* how often the identity was renewed, and how many of these calls of the generator have acted
     * on */
    _Atomic uint64_t renewed, renewals_handled;
    /* how often the cycle counter fell, and how many signs of a copy have been acted on:
     * see_copy() */
    _Atomic uint64_t counted_back, signs;
    _Atomic int64_t known_ns; /* store_clock.read_ns of the last reservation; 0: none yet */
    _Atomic(firn__window *) windows[FIRN__NODES];
    _Atomic uint64_t rolling; /* of start=rolling */
    _Atomic int64_t busy_ms;  /* how long the node that was asked for last stays in use */
    _Atomic uint64_t claims, renewals, give_backs, store_errors;
    _Atomic uint64_t failures;  /* renewals and claims that the store failed */
    _Atomic uint64_t contended; /* compare-and-swaps of cursors that failed */
} firn__atomic_state;

/* The renewer's memory of its nodes. With the renewal lock held; when the generator is shared
 * between processes, in their memory. */
typedef struct firn__node_history {
    uint64_t last_node[FIRN__NODES];
    bool has_node[FIRN__NODES];
    bool has_last;
    uint64_t last_tick; /* the greatest that any retired window issued in */
} firn__node_history;

/* A claim as it was sent. In shared memory it stays written down until its outcome is known. */
typedef struct firn__claim {
    /* 0: none. Written last and cleared first, because a process may be killed in between. */
    _Atomic uint64_t grant;
    uint64_t node, base_tick;
    int64_t earliest, latest, count;
} firn__claim;

/* The store's clock as it was read last: its time when the answer came is between these two. */
typedef struct firn__store_clock {
    firn_time least, most;
    int64_t read_ns; /* when that was, by the system's steady clock */
} firn__store_clock;

/* Only with `lock` held, the renewal lock. Its holder may be in a call of the store. */
typedef struct firn__renewal_state {
    pthread_mutex_t lock;
    uint8_t *next, *end;     /* what is left of the last chunk that windows are taken from */
    firn__window *spare;     /* taken from it and never published */
    firn__node_history past; /* of a generator that is not shared */
    firn__store_clock store_clock;
    bool unidentified; /* the identity was left and no new one could be drawn yet */
    bool history_open; /* history=job: the node is ours */
    uint64_t history_node;
    firn_error failure; /* the last of any.failures */
} firn__renewal_state;

/* All zero in a forked child: no serial, no window, no lock held. The watch has its own lock. */
typedef struct firn__process_state {
    firn__atomic_state any;
    firn__watch watch;
    firn__renewal_state locked;
    firn__counted counted;
} firn__process_state;

/* Only with the renewal lock held, as firn__renewal_state, but a forked child keeps it: its first
 * call changes it to its own (firn__gen_adopt). `fields` and `note` do not change otherwise, and
 * opening reads them without the lock. */
typedef struct firn__inherited_state {
    firn_fields fields;  /* given or drawn; node parts that are claimed are not in it */
    firn__ticks history; /* counts of history=job and of schemes without a store; else full ticks */
    uint64_t history_start; /* of counters, drawn once */
    firn_id history_base;
    uint8_t **chunks; /* that windows were taken from */
    size_t chunk_count;
    char note[FIRN_NOTE_SIZE];
    char stored[FIRN_LAYOUT_SIZE]; /* the layout as the store has it, with the nodes to claim */
} firn__inherited_state;

enum firn__kind {
    FIRN__KIND_SLOTS,   /* a slot an ID: sequence or bare time */
    FIRN__KIND_COUNTED, /* counter, or random plus one */
    FIRN__KIND_RANDOM   /* random bits, with or without time */
};

/* How firn_next gets an ID. */
enum firn__way {
    /* The general way: counted, random, online. */
    FIRN__WAY_OTHER,
    /* One slot per ID. */
    FIRN__WAY_USUAL,
    /* The same, packed by runs, if the generator is not shared and the cycle counter gives the age
     * of a reading of the clock. */
    FIRN__WAY_RUN,
    /* The same with the coarse clock of the kernel. */
    FIRN__WAY_RUN_TICK,
    /* A time and bits of the thread's block. */
    FIRN__WAY_RANDOM,
    /* Bits of the thread's block alone. */
    FIRN__WAY_UNTIMED
};

/* Where the random bits of an ID are, if bytes of the thread's block can be masked into it as they
 * are. Else `size` is 0, and the random bits are packed as a field. */
typedef struct firn__random_mask {
    firn_value mask; /* of the lower 128 bits */
    uint32_t size; /* bytes of the block for one ID: 1..8, or 9..16 with bits above the lower 64 */
} firn__random_mask;

/* A run of slots: each ID is the previous ID plus `step`, up to the next slot whose bits in the
 * mask `times` are all 0. `times` 0: each slot is packed. */
typedef struct firn__run {
    firn_value step;
    uint64_t times;
} firn__run;

/* One thread writes it while opening the generator; afterwards all threads only read it, except
 * `live` and `kept`. */
struct firn_gen {
    enum firn__way way;
    firn_scheme scheme;
    firn__keys keys;
    firn__packer *pack;
    firn__shuffle shuffle; /* of the packed digits: time-random with a node */
    firn__process_state *live;
    firn__node_history *past;    /* in `live`, or in `shared` */
    struct firn__shared *shared; /* the caller's memory; NULL: the generator is one process's */
    const _Atomic uint64_t *shared_era; /* in `shared`, or NULL */
    uint32_t s;                         /* sequence bits of a slot; 0: a slot is a tick */
    uint64_t count_mask;                /* of s bits */
    bool straight;                      /* an ID is its template plus what tick and count add */
    uint64_t per_tick;                  /* what one more tick adds; 0: see firn__scheme_stride */
    uint64_t per_count; /* what one more of the sequence or the counter adds; or 0 */
    uint32_t seen_at;   /* where a thread remembers it: bytes into firn__thread_views */
    bool blocks;        /* ordering=thread: a thread leases slots in blocks */
    enum firn__kind kind;
    uint32_t random_bits; /* drawn for each ID */
    firn__random_mask masked;
    firn__run run;
    uint64_t max_random; /* the greatest that is drawn; 0: all that the bits hold */
    uint32_t count_bits; /* of sequence or counter */
    bool reserved;       /* slots come from the store */
    bool fixed;          /* every bit of the node is given */
    bool has_renewer;    /* firn_next leaves the store to firn_gen_step */
    bool cycles;         /* the counter can give the age of a reading */
    bool own_store;
    bool cautioned; /* the store may lose acknowledged writes */
    int start;      /* enum firn_start, of the sequence */
    uint64_t start_below;
    uint64_t tick_end;  /* first tick that is refused */
    uint64_t whole_end; /* first tick that the bits do not hold */
    int64_t slot_end;   /* tick_end in slots of the store, at most mark_end */
    /* The end of the bits in slots, at most FIRN_SLOT_MAX - 2: marks from there on belong to
     * back-dated IDs. */
    int64_t mark_end;
    uint64_t lead_ticks, back_ticks, window_ticks;
    int64_t at_once;               /* IDs of one call that always fit into the lead */
    int64_t lead_slots;            /* of the present tick and all that may be borrowed */
    uint64_t ticks_per_s, sec_end; /* of the hot path's clock: sec_end keeps ticks within 64 bits */
    int ticket_field;              /* the node field that takes a new number at each start, or -1 */
    uint32_t drawn;                /* bit i: the generator draws field i, once a process */
    uint64_t pinned, pin_mask;     /* the joined node: bits that are given */
    uint32_t node_bits;
    const firn_clock *clock;
    const firn_entropy *entropy;
    firn_store *store;
    struct firn__machine *machine; /* the reserve that is `store`, or NULL */
    bool splits;                   /* reserve_claim= is set: only reserves claim these nodes, */
    firn__claims reserves;         /* and only these have the long reach */
    char ns[FIRN_NS_SIZE];
    char layout[FIRN_LAYOUT_SIZE];
    void (*notice)(void *self, const char *text);
    void *notice_self;
    uint64_t shared_place[2]; /* device and inode of the folder of the embedded store, or 0 */
    firn__inherited_state kept;
};

/* Whether slots come from the store. In the library of WebAssembly, which has none, the compiler leaves
 * out what needs one. */
static inline bool firn__reserves(const firn_gen *gen) {
#ifdef FIRN_SMALL
    (void)gen;
    return false;
#else
    return gen->reserved;
#endif
}

/* Packs the drawn fields of an ID into its template. */
static inline void firn__gen_pack(const firn_gen *gen, const firn__draw *draw, const firn_id *base,
                                  firn_id *id) {
    if (gen->straight) {
        uint64_t low = base->low + draw->tick * gen->per_tick + draw->count * gen->per_count;
        *id = (firn_id){low, 0, 0, gen->scheme.bits};
        return;
    }
    gen->pack(id, &gen->scheme, draw, base);
    if (gen->shuffle.digits != 0) {
        firn__shuffle_id(&gen->shuffle, draw->tick, id);
    }
}
/* The random bits of an ID, of a block's 8 or 16 bytes: gen->masked. */
static inline void firn__masked_into(const firn_gen *gen, firn_id *id, firn_value random) {
    id->low |= random.low & gen->masked.mask.low;
    id->high |= random.high & gen->masked.mask.high;
}
static inline uint64_t firn__ms_ticks(const firn_gen *gen, int64_t ms) {
    return gen->scheme.tick_ns == 0
               ? 0
               : ((uint64_t)ms * 1000000 + gen->scheme.tick_ns - 1) / gen->scheme.tick_ns;
}
/* The first slot of a tick, counted as the store counts. */
static inline int64_t firn__slots_of(const firn_gen *gen, uint64_t ticks) {
    return (int64_t)(ticks << gen->s);
}
static inline void firn__count(_Atomic uint64_t *count) {
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

/* ---- the era -------------------------------------------------------------------------------------
 *
 * A word that each event changes: a window is closed, issuing is blocked by a rollback, a process is forked (which
 * wipes it). A call compares it with the one its thread noted instead of looking for each event. Processes that
 * share the generator have another such word in their memory, which is added. */

/* In a child that has not adopted the generator it differs from every era that a thread noted. */
static inline uint64_t firn__era_of(const firn_gen *gen) {
    uint64_t era = atomic_load_explicit(&gen->live->any.era, memory_order_acquire);
    return gen->shared_era == NULL
               ? era
               : era + atomic_load_explicit(gen->shared_era, memory_order_acquire);
}
/* After the event took place: a thread that finds the new era finds the event. */
static inline void firn__event(const firn_gen *gen) {
    atomic_fetch_add_explicit(&gen->live->any.era, 1, memory_order_acq_rel);
}

/* ---- policy.c -------------------------------------------------------------------------------- */

/* Sends a note to the caller, if there is a `notice`. */
void firn__gen_notice(const firn_gen *gen, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* FIRN_EFORKED: this is a child, and the parent returns what was made before the fork. */
int firn__forked_inside(firn_error *error);
/* FIRN_EEXHAUSTED: nothing more may be issued ahead of the clock. */
int firn__gen_exhausted(const firn_gen *gen, firn_error *error);
/* FIRN_ELAYOUT: the time of the layout is used up. */
int firn__gen_ended(const firn_gen *gen, firn_error *error);
/* Are IDs negative numbers if their top bit is 1, so that firn refuses them? */
bool firn__gen_is_signed(const firn_gen *gen);
/* The first time without IDs, because the time or the slots end. False: none. */
bool firn__gen_end(const firn_gen *gen, firn_time *end);
/* Where the sequence of a new tick begins, by the policy start. FIRN_EENTROPY. */
int firn__gen_start(const firn_gen *gen, int64_t *start, firn_error *error);
/* The random field of one ID. FIRN_EENTROPY. */
int firn__gen_random(const firn_gen *gen, firn_value *random, firn_error *error);
/* The kind of the generator; refuses schemes that are not issued. */
int firn__policy_kind(firn_gen *gen, firn_error *error);
/* Bounds of time, slots and lead; where a tick starts. */
int firn__policy_bounds(firn_gen *gen, firn_error *error);
void firn__policy_way(firn_gen *gen);

/* ---- identity.c ------------------------------------------------------------------------------ */

/* Fields and node from the keys. */
int firn__identity_read(firn_gen *gen, firn_error *error);
/* Which fields are reserved, drawn and pinned. */
void firn__identity_settle(firn_gen *gen);
/* Does slice i begin a part of the node? */
bool firn__identity_part(const firn_gen *gen, uint32_t i);
/* Are the fields given that make a node of FIRN_NODE_OPTIONAL reserved? */
bool firn__identity_given(const firn_gen *gen);
/* Gives field i a value, by which the pinned bits change. */
void firn__identity_put(firn_gen *gen, uint32_t i, uint64_t value);
/* Draws the identity that the generator has without a store, again after a fork or a step back. */
int firn__gen_identify(firn_gen *gen, firn_error *error);
/* The template of a node: constants, fields given, node parts. FIRN_ERANGE: negative, without
 * unsigned=1. */
int firn__gen_base(const firn_gen *gen, uint64_t node, firn_id *base, firn_error *error);
/* The joined node as people know it: "datacenter=1 worker=3". */
char *firn__gen_node_text(char text[128], const firn_gen *gen, uint64_t node);

/* ---- claimable.c ----------------------------------------------------------------------------- */

/* Learns which nodes may be claimed. True: the text is the own layout, and news. */
bool firn__claimable_read(firn_gen *gen, const char *stored);
/* The same from what the store has now. */
bool firn__claimable_learn(firn_gen *gen, firn_store *store);
/* May the generator use this node? */
bool firn__claimable_allows(const firn_gen *gen, uint64_t node);
/* May a reserve of a machine (`reserve`) or a generator claim the node? Both may, unless the namespace
 * splits its nodes. */
bool firn__claimable_by(const firn_gen *gen, uint64_t node, bool reserve);
/* FIRN_EUSAGE, FIRN_ERANGE: the nodes of reserve_claim= fit neither layout nor keys. */
int firn__claimable_split(firn_gen *gen, firn_error *error);
/* The nodes that may be claimed, as "0..899"; "": all, or the node is given. Returns `text`. */
char *firn__claimable_text(char text[FIRN__CLAIMS_SIZE], const firn_gen *gen);
/* The nodes that may be claimed (with `reserve`, by a reserve) and match the pinned fields have the
 * numbers *first to *last; false: no node does. */
bool firn__claimable_numbers(const firn_gen *gen, bool reserve, uint64_t *first, uint64_t *last);
/* The node with this number: spread over the bits of the node that are not pinned. */
uint64_t firn__claimable_node(const firn_gen *gen, uint64_t number);
/* As firn__gen_reserve, with slots of the node. FIRN_EBUSY also if the node may not be claimed. */
int firn__claimable_reserve(firn_gen *gen, uint64_t node, firn_request *request,
                            firn__attempts *sending, int64_t *first, firn_error *error);

/* ---- shared.c -------------------------------------------------------------------------------- */

/* Makes the generator one of those that share this memory. FIRN_EUSAGE: the memory is too small, or
 * used with another configuration, or such a generator cannot be shared; FIRN_EBUSY: somebody else
 * prepares it. */
int firn__shared_attach(firn_gen *gen, void *memory, size_t size, firn_error *error);
/* Is that memory this generator's? Asked again in a child. FIRN_EUSAGE: no, or in another PID
 * namespace. */
int firn__shared_join(const firn_gen *gen, firn_error *error);
/* The window that all issue from, as number 0 of this process; none when it is closed. */
void firn__shared_look(const firn_gen *gen);
/* Puts a window that was claimed in place, closed: *placed is where all find it. The lock is held.
 * FIRN_EBACK. */
int firn__shared_place(firn_gen *gen, const firn__window *claimed, firn__window **placed,
                       firn_error *error);
/* Makes it the window that all processes issue from; NULL: none. The lock is held. */
void firn__shared_choose(firn_gen *gen, const firn__window *window);
/* The claim that was sent last; NULL: the generator is one process's. The lock is held. */
firn__claim *firn__shared_claim(const firn_gen *gen);
/* The memory has no room for this node: it is not among those that were claimed before. */
bool firn__shared_refuses(const firn_gen *gen, uint64_t node);
/* The renewal lock. Waits for another process at most as long as the call may, and not at all
 * unless `patient`. FIRN_EWINDOW: it is held. */
int firn__renewal_lock(firn_gen *gen, bool patient, firn_error *error);
void firn__renewal_unlock(firn_gen *gen);

/* ---- renewal.c: with the renewal lock held --------------------------------------------------- */

static inline firn__window *firn__window_of(const firn_gen *gen, uint32_t k) {
    return atomic_load_explicit(&gen->live->any.windows[k], memory_order_acquire);
}
/* The next slot of its cursor, relative to its base tick. */
static inline uint64_t firn__next_of(const firn__window *window) {
    return atomic_load_explicit(&window->cursor, memory_order_acquire) & ~FIRN__OPEN;
}
static inline int64_t firn__end_of(const firn__window *window) {
    return atomic_load_explicit(&window->end, memory_order_acquire);
}
static inline int64_t firn__soft_of(const firn__window *window) {
    return atomic_load_explicit(&window->soft, memory_order_acquire);
}
/* A closed one, of zeros. NULL: *code is the error's. */
firn__window *firn__window_new(firn_gen *gen, int *code, firn_error *error);
/* Takes back a new window that was never published: firn__window_new returns it next. */
void firn__window_drop(firn_gen *gen, firn__window *window);
/* Opens it as number k. */
int firn__window_publish(firn_gen *gen, uint32_t k, firn__window *window, firn_error *error);
/* Sets from which slot on to renew: half way from `from` to the end, but at most 30 s after
 * `from`. */
void firn__window_set_soft(const firn_gen *gen, firn__window *window, int64_t from);
/* The same, from the cursor. */
void firn__window_renew_soon(const firn_gen *gen, firn__window *window);
/* This number of slots, but at most as many as the next renewal may wait. */
int64_t firn__window_wait(const firn_gen *gen, int64_t slots);
/* Closes the open window of a generator that is not shared, so that the next call of every thread
 * asks the renewer. Any thread, without the lock. */
static inline void firn__window_shut(firn__window *window) {
    atomic_fetch_and_explicit(&window->cursor, ~FIRN__OPEN, memory_order_seq_cst);
}
static inline bool firn__window_is_shut(const firn__window *window) {
    return !(atomic_load_explicit(&window->cursor, memory_order_acquire) & FIRN__OPEN);
}
/* Closes window k and, when `give_back`, gives its rest back. */
int firn__window_retire(firn_gen *gen, uint32_t k, bool give_back, firn_error *error);
/* After a step back beyond max_back: leaves every node. */
void firn__window_leave(firn_gen *gen);
/* Frees the memory of all windows. Without the lock, when no thread is left. */
void firn__window_free(firn_gen *gen);

/* ---- claim.c --------------------------------------------------------------------------------- */

/* Begins a call of this thread, which may use the store for at most max_wait. Returns the steady
 * clock's time in ns. */
int64_t firn__gen_begin(const firn_gen *gen);
int64_t firn__gen_spent_ms(void);
/* firn__reserve on the generator's store, within the time of the call. A grant of 0 is drawn
 * first. */
int firn__gen_reserve(firn_gen *gen, firn_request *request, firn__attempts *sending, int64_t *first,
                      firn_error *error);

/* The functions below need the renewal lock. */

/* Without a store: everything from `tick` on. */
int firn__claim_local(firn_gen *gen, uint32_t k, uint64_t tick, firn_error *error);
/* A node for window k, with room for n IDs. */
int firn__claim_window(firn_gen *gen, uint32_t k, uint64_t tick, int64_t n, firn_error *error);
/* Reserves exactly n slots for mode=online: the IDs are the caller's alone, no window stays. */
int firn__claim_online(firn_gen *gen, uint64_t tick, int64_t n, firn__window *out,
                       firn_error *error);
/* A node of this store that is free by `latest`, for the reserve of the machine. FIRN_EBUSY. */
int firn__claim_spare(firn_gen *gen, firn_store *store, int64_t latest, uint64_t *node,
                      firn_error *error);
/* FIRN_EBUSY, with the time until which the node is in use, by its mark. */
int firn__claim_busy(firn_gen *gen, const firn_mark *held, bool floor, uint64_t tick,
                     firn_error *error);

/* ---- reach.c: with the renewal lock held ----------------------------------------------------- */

/* Reads the clock of a store. A code of firn_store_now. */
int firn__reach_read(const firn_gen *gen, firn_store *store, firn__store_clock *seen,
                     firn_error *error);
/* Reads the clock of the generator's store, for the next three. */
int firn__reach_look(firn_gen *gen, firn_error *error);
/* FIRN_ECLOCK: the clock differs from the store's by more than max_skew. */
int firn__reach_skew(const firn_gen *gen, firn_error *error);
/* Before a request is sent for the first time: lowers `latest` so that `count` slots from there on
 * end within the reach. FIRN_ECLOCK: not even those from `from` on do. */
int firn__reach_limit(const firn_gen *gen, int64_t from, int64_t count, int64_t *latest,
                      firn_error *error);
/* The text that a reach other than the default adds to the layout of the namespace. */
const char *firn__reach_text(const firn_gen *gen);
/* Sets the guard of a request: the end of the reach. */
int firn__reach_guard(const firn_gen *gen, firn_request *request, firn_error *error);
/* The same by this clock. `is_local`: of a window from the reserve of the machine. */
int firn__reach_guard_of(const firn_gen *gen, const firn__store_clock *seen, bool is_local,
                         firn_request *request, firn_error *error);
/* The first slot of the tick in which `time` + ms is, plus `more` ticks; at most mark_end.
 * FIRN_ECLOCK: the time is before the epoch. */
int firn__reach_slot(const firn_gen *gen, const firn_time *time, int64_t ms, uint64_t more,
                     int64_t *slot, firn_error *error);
/* The default window of a claimed node on a shared store. */
int64_t firn__reach_usual_ms(const firn_gen *gen);
/* The length of a window, from the keys. FIRN_ERANGE: window, lead and skew exceed the reach. */
int firn__reach_window(firn_gen *gen, firn_error *error);

/* ---- renewal.c: with the renewal lock held --------------------------------------------------- */

/* The request of an issuer to the renewer. */
typedef struct firn__need {
    const firn__window *window; /* that was seen last; NULL: none */
    uint64_t tick;              /* the present */
    uint64_t steps;             /* steps back that had been counted when it was read */
    int64_t end;                /* the slots wanted end here, relative to `window` */
    int64_t n;                  /* how many they are, for a claim */
    bool must;                  /* else it is a renewal ahead of need, and nothing else is tried */
} firn__need;

/* Renews window k, or claims a new one, unless another window has replaced it: then the caller
 * looks again. */
int firn__window_keep(firn_gen *gen, uint32_t k, const firn__need *need, firn_error *error);
/* Is FIRN_ECLOCK only a step back after the need was read, and before the store's clock was? Then
 * no clock is wrong, and the need is void, as if another thread had seen the step first. `steps`:
 * as the need has them. */
bool firn__window_is_void(firn_gen *gen, uint64_t steps, int code);

/* ---- now.c ------------------------------------------------------------------------------- */

/* The present tick, read and judged again. FIRN_ECLOCK, FIRN_ELAYOUT. */
int firn__gen_now(firn_gen *gen, uint64_t *tick, firn_error *error);
/* In a forked child: a new identity, or FIRN_EFORKED. After firn__gen_renew: drops what the
 * generator holds. Else nothing. `patient`: as firn__gen_ready. */
int firn__gen_adopt(firn_gen *gen, bool patient, firn_error *error);
/* The next call drops what the generator holds, as in a child: another copy of the process may hold
 * it too. Called with its `live`, by any thread, as firn__wiped_renews allows. */
void firn__gen_renew(void *live);
/* Was it renewed since a call acted on that? */
static inline bool firn__is_renewed(const firn_gen *gen) {
    return atomic_load_explicit(&gen->live->any.renewed, memory_order_seq_cst) !=
           atomic_load_explicit(&gen->live->any.renewals_handled, memory_order_acquire);
}
/* While the time of IDs stays after a step back: lets it move on past the last tick that was used
 * up. False: it does not stay, or the lead is not what stops the call. */
bool firn__gen_move_on(firn_gen *gen);
/* Finds out which process this is, the present tick, and whether IDs may be issued in it.
 * `patient`: the call may wait for the renewal lock. */
int firn__gen_ready(firn_gen *gen, uint64_t *tick, bool patient, firn_error *error);

/* ---- open.c ---------------------------------------------------------------------------------- */

/* A generator as far as it needs neither store nor window: keys, scheme, identity, the names of its
 * marks. */
int firn__gen_make(firn_gen **gen, const firn_config *config, firn_error *error);
/* The key by which nodes share the digits of time-random, found in the store or drawn and kept
 * there; nothing for other schemes. */
int firn__gen_agree(firn_gen *gen, firn_error *error);
/* Frees a generator and gives nothing back to the store. */
void firn__gen_dispose(firn_gen *gen);

/* ---- issue_backdated.c ----------------------------------------------------------------------- */

/* A node that only back-dates, taken for good: the namespace's common one; one of this
 * generator's own (`job`); or, with a grant, the one of the job that has this grant, whether it
 * took it before or takes it now. FIRN_EBUSY: none is left. */
int firn__history_node(firn_gen *gen, bool job, uint64_t grant, uint64_t *node, firn_error *error);
/* The tick of a back-dated time. FIRN_ELAYOUT: outside the ticks that firn issues. */
int firn__history_tick(const firn_gen *gen, const firn_time *time, uint64_t *tick,
                       firn_error *error);
/* The counter of the i-th ID of a tick, in schemes that count; `start` is the generator's. */
uint64_t firn__history_counter(const firn_gen *gen, uint64_t tick, uint64_t start, uint64_t i);

/* ---- node.c ---------------------------------------------------------------------------------- */

/* The number that `value` (ordinal, ip, host, self, a number) means, of `bits` bits.
 * FIRN_EUSAGE, FIRN_ERANGE. */
int firn__node_read(uint64_t *number, const char *name, const char *value, uint32_t bits, int role,
                    firn_error *error);
/* "program on host, pid 42", for people. */
char *firn__node_note(char text[FIRN_NOTE_SIZE]);

#endif
