/* SPDX-License-Identifier: MIT */
/* Integers: serial, ticket and segment, all blocks of slots reserved under a key. A segment
 * fetches its next block when more than a tenth of the present one is handed out; there is no
 * thread for this, firn_segment_step does it. */
#include "segment.h"

#include "bits.h"
#include "clock.h"
#include "error.h"
#include "fork_memory.h"
#include "gen.h"
#include "reserve.h"
#include "store.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_MS  INT64_C(60000)
#define LOCAL_MS   5000 /* a block of a reserve lasts this time, at most four times as long */
#define LOCAL_STEP 10   /* integers of the first one */
#define RETRY_MS   200  /* between fetches ahead of need while the store is down */

/* A block of slots. */
typedef struct slot_block {
    int64_t first, end;
    firn_mark mark;
    bool twice; /* its request went out more than once: never given back */
} slot_block;

/* The memory that a fork wipes: a child fetches its own blocks. Slots of the present block are
 * issued without the lock, so that fetching the next one delays nobody. That is safe while each
 * block is after all earlier ones: a delayed call never meets the `next` that it saw again. Blocks
 * of one slot may come in any order (ticket servers that replace each other do that), and set no
 * limit. */
typedef struct segment_shelf {
    struct { /* any thread, at any time */
        /* the first slot that is not handed out */
        _Atomic int64_t next;
        /* up to here without the lock: not past the end of the present block. 0: no block had more
         * than one slot yet */
        _Atomic int64_t limit;
        /* where `now` ends, and how many `then` has, for those who only look */
        _Atomic int64_t end, ahead;
        /* how often the identity was renewed, and how many of these the blocks below are later
         * than */
        _Atomic uint64_t renewed, renewals_handled;
        /* the mark when the store last refused a block */
        _Atomic int64_t held;
    };
    struct { /* with `lock` held, as are changes of `limit`, `end` and `ahead` */
        pthread_mutex_t lock;
        slot_block now, then; /* the present block and the one fetched ahead */
        /* somebody has the lock, or had it: false after a fork in the midst of that */
        bool entered;
        /* firn_segment_take found nothing: firn_segment_step fetches, for every kind */
        bool wanted;
        int64_t fetches;
        int64_t fetched_ms; /* when, by the steady clock */
        /* a fetch ahead of need that failed is not tried again before; 0: none did */
        int64_t retry_ms;
        int64_t step;
    };
} segment_shelf;

struct firn_segment {
    segment_shelf *shelf;
    firn_store *store;
    firn__stock *stock; /* NULL: no reserve */
    const firn_clock *clock;
    firn__segment_keys keys;
    char ns[FIRN_NS_SIZE];
    char layout[FIRN_LAYOUT_SIZE];
    char key[FIRN_KEY_SIZE];
    char note[FIRN_NOTE_SIZE];
};

int64_t firn__segment_next_step(int64_t step, int64_t least, int64_t age_ms) {
    if (age_ms < 15 * MINUTE_MS) {
        return step > FIRN__STEP_MAX / 2 ? step : step * 2;
    }
    if (age_ms < 30 * MINUTE_MS) {
        return step;
    }
    return step / 2 < least ? step : step / 2;
}

int64_t firn__segment_local_step(int64_t step, int64_t age_ms) {
    if (age_ms < LOCAL_MS) {
        return step > FIRN__STEP_MAX / 2 ? step : step * 2;
    }
    return age_ms < 4 * LOCAL_MS || step / 2 < LOCAL_STEP ? step : step / 2;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The number of slot 0. */
static int64_t origin(const firn_segment *segment) {
    return segment->keys.kind == FIRN__TICKET ? segment->keys.offset : 0;
}

/* Nothing of the present block is left. */
static void use_up(segment_shelf *shelf) {
    int64_t end = atomic_load_explicit(&shelf->end, memory_order_seq_cst);
    int64_t next = atomic_load_explicit(&shelf->next, memory_order_relaxed);
    while (next < end &&
           !atomic_compare_exchange_weak_explicit(&shelf->next, &next, end, memory_order_seq_cst,
                                                  memory_order_relaxed)) {
    }
}

/* Another copy of the process may hold the same blocks: as firn__wiped_renews allows, without the
 * lock. A block that a call is fetching is dropped when that call has it. */
static void renew_shelf(void *memory) {
    segment_shelf *shelf = memory;
    atomic_fetch_add_explicit(&shelf->renewed, 1, memory_order_seq_cst);
    use_up(shelf);
    atomic_store_explicit(&shelf->ahead, 0, memory_order_relaxed);
}

static bool is_renewed(const segment_shelf *shelf) {
    return atomic_load_explicit(&shelf->renewed, memory_order_seq_cst) !=
           atomic_load_explicit(&shelf->renewals_handled, memory_order_relaxed);
}

static int make_shelf(firn_segment *segment, firn_error *error) {
    int code;
    segment->shelf = firn__wiped(sizeof(segment_shelf), &code, error);
    if (code == FIRN_OK) {
        firn__wiped_renews(segment->shelf, sizeof(segment_shelf), FIRN__RENEW_RESERVED,
                           renew_shelf);
    }
    return code;
}

static int make_stock(firn_segment *segment, firn_error *error) {
    char note[FIRN_NOTE_SIZE];
    const firn_request names = {
        .ns = segment->ns, .layout = segment->layout, .key = segment->key, .note = segment->note};
    snprintf(note, sizeof note, "reserve: %.110s", segment->note);
    strcpy(segment->note, note);
    return firn__stock_make(&segment->stock, &names, &segment->keys.reserve, segment->store,
                            segment->clock, error);
}

static void free_segment(firn_segment *segment) {
    firn__stock_free(segment->stock);
    firn__wiped_free(segment->shelf, sizeof(segment_shelf));
    free(segment);
}

int firn__segment_make(firn_segment **out, const firn__segment_place *place,
                       const firn__segment_keys *keys, firn_store *store, const firn_clock *clock,
                       firn_error *error) {
    firn_segment *segment = calloc(1, sizeof *segment);
    if (segment == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a segment");
    }
    segment->store = store;
    segment->clock = clock != NULL ? clock : &firn__clock_system;
    segment->keys = *keys;
    int code = make_shelf(segment, error);
    if (code != FIRN_OK) {
        free(segment);
        return code;
    }
    snprintf(segment->ns, sizeof segment->ns, "%s", place->ns);
    snprintf(segment->layout, sizeof segment->layout, "%s", place->layout);
    snprintf(segment->key, sizeof segment->key, "%s", place->key);
    firn__node_note(segment->note);
    code = keys->reserve.reserve_ms > 0 ? make_stock(segment, error) : FIRN_OK;
    if (code != FIRN_OK) {
        free_segment(segment);
        return code;
    }
    *out = segment;
    return FIRN_OK;
}

/* Each name is one namespace: serial and segment with one name continue each other; a ticket's
 * increment is its layout. */
int firn_segment_open(firn_segment **out, const char *key, const char *text, firn_store *store,
                      const firn_clock *clock, firn_error *error) {
    firn__segment_keys keys;
    char ns[FIRN_NS_SIZE], layout[64] = "integer", server[24] = "1";
    int code = firn__segment_read(&keys, key, text, error);
    if (code != FIRN_OK) {
        return code;
    }
    snprintf(ns, sizeof ns, "integer %s", key);
    if (keys.kind == FIRN__TICKET) {
        snprintf(layout, sizeof layout, "integer increment=%" PRId64, keys.increment);
        snprintf(server, sizeof server, "%" PRId64, keys.offset);
    }
    return firn__segment_make(out, &(firn__segment_place){ns, layout, server}, &keys, store, clock,
                              error);
}

/* ---- fetching -------------------------------------------------------------------------------- */

static int exhausted(const firn_segment *segment, firn_error *error) {
    return firn_error_set(error, FIRN_EEND, FIRN_CURE_RAISE_END,
                          "%s has reached its end=" FIRN__LIMIT("%" PRId64), segment->ns,
                          segment->keys.end);
}

/* The last slot that may be handed out. */
static int64_t last_slot(const firn_segment *segment) {
    return (segment->keys.end - origin(segment)) / segment->keys.increment;
}

/* A store names both layouts and suggests ns=, which integers do not have. */
static int other_kind(firn_error *error) {
    if (error == NULL) {
        return FIRN_ENAMESPACE;
    }
    int length = error->cure_at > 0 ? error->cure_at - 2 : (int)strlen(error->text);
    return firn_error_set(error, FIRN_ENAMESPACE, FIRN_CURE_SAME_KIND, "%.*s", length, error->text);
}

int firn__segment_ask(firn_store *store, const firn_clock *clock, firn_request *request,
                      int64_t stop, int64_t least, int64_t *first, firn__attempts *sending,
                      firn_error *error) {
    int code = FIRN_EBUSY;
    const firn__patience patience = firn__patience_begin(clock, 0);
    sending->held = (firn_mark){0, 0};
    if (request->count > stop - request->earliest) {
        request->count = stop - request->earliest;
    }
    for (int i = 0; i < 8 && code == FIRN_EBUSY; i++) {
        if (request->count < least) {
            return FIRN_EEND;
        }
        request->latest = stop - request->count;
        code = firn__reserve_grant(NULL, &request->grant, error);
        if (code != FIRN_OK) {
            return code;
        }
        *sending = (firn__attempts){.tries = FIRN__SENDINGS, .held = sending->held};
        code = firn__reserve(store, request, &patience, sending, first, error);
        if (code == FIRN_ENAMESPACE) {
            return other_kind(error);
        }
        if (code == FIRN_EBUSY && request->count > stop - sending->held.high) {
            request->count = stop - sending->held.high; /* what is left before the end */
        }
    }
    return code;
}

/* From the reserve of this machine. */
static int fetch_local(const firn_segment *segment, const firn__stock_wish *wish, slot_block *out,
                       firn_error *error) {
    int code = firn__stock_take(segment->stock, wish, &out->first, &out->mark, error);
    out->end = code == FIRN_OK ? out->mark.high : out->end;
    out->twice = false;
    return code == FIRN_EEND ? exhausted(segment, error) : code;
}

/* Reserves `count` slots at or after `from`, fewer at the end of the segment, but `least`. If the
 * store lost reservations, nobody knows which integers it lost: only a call that gives the start is
 * served (guard > 0, by firn_segment_advance). */
static int fetch(const firn_segment *segment, int64_t count, int64_t from, int64_t guard,
                 int64_t least, slot_block *out, firn_error *error) {
    firn_request request = {.ns = segment->ns,
                            .layout = segment->layout,
                            .key = segment->key,
                            .count = count,
                            .note = segment->note};
    int64_t first, stop = last_slot(segment) + 1;
    firn__attempts sending = {0};
    request.earliest = segment->keys.kind == FIRN__TICKET ? 0 : segment->keys.start;
    request.earliest = from > request.earliest ? from : request.earliest;
    request.guard = guard;
    if (segment->stock != NULL && guard == 0) {
        const firn__stock_wish wish = {count, least, request.earliest, stop};
        return fetch_local(segment, &wish, out, error);
    }
    int code = firn__segment_ask(segment->store, segment->clock, &request, stop, least, &first,
                                 &sending, error);
    if (sending.held.high != 0) {
        atomic_store_explicit(&segment->shelf->held, sending.held.high, memory_order_relaxed);
    }
    out->twice = sending.twice;
    if (code == FIRN_OK) {
        out->first = first;
        out->end = first + request.count;
        out->mark = (firn_mark){out->end, request.grant};
    }
    return code == FIRN_EEND ? exhausted(segment, error) : code;
}

/* The next segment, of an adapted step from the third fetch on, and of `least` slots at least. */
static int fetch_segment(const firn_segment *segment, int64_t least, slot_block *out,
                         firn_error *error) {
    segment_shelf *shelf = segment->shelf;
    const firn__segment_keys *keys = &segment->keys;
    const bool grows = segment->stock != NULL && keys->adapt;
    const int64_t begin = grows && keys->step > LOCAL_STEP ? LOCAL_STEP : keys->step;
    int64_t steady = 0, step = shelf->step == 0 ? begin : shelf->step;
    int code = segment->clock->steady(segment->clock->self, &steady);
    if (code != FIRN_OK) {
        return firn__clock_refused(segment->clock, error);
    }
    const int64_t age_ms = steady / 1000000 - shelf->fetched_ms;
    if (grows && shelf->fetches >= 1) {
        step = firn__segment_local_step(step, age_ms);
    } else if (keys->adapt && shelf->fetches >= 2) {
        step = firn__segment_next_step(step, keys->step, age_ms);
    }
    code = fetch(segment, step > least ? step : least, 0, 0, least, out, error);
    if (code == FIRN_OK && out->first < shelf->now.end &&
        atomic_load_explicit(&shelf->limit, memory_order_relaxed) != 0) {
        code = firn_error_set(error, FIRN_EBACK, FIRN_CURE_ADVANCE,
                              "the store of integer " FIRN__VALUE(
                                  "%s") " has lost reservations, since it grants %" PRId64
                                        ", below %" PRId64,
                              segment->ns + 8, out->first, shelf->now.end);
        *out = (slot_block){0}; /* handed out before, perhaps */
    }
    if (code == FIRN_OK) {
        shelf->fetches++;
        shelf->fetched_ms = steady / 1000000;
        shelf->step = step;
    }
    shelf->retry_ms = 0;
    if (code != FIRN_OK) { /* from its end on: a store that hangs takes longer than RETRY_MS */
        segment->clock->steady(segment->clock->self, &steady);
        shelf->retry_ms = steady / 1000000 + RETRY_MS;
    }
    return code;
}

/* ---- handing out ----------------------------------------------------------------------------- */

static bool is_empty(const slot_block *block) {
    return block->first == block->end;
}

/* The slot at which to fetch the next block: when more than a tenth of the present one is used. */
static int64_t due_slot(const slot_block *now) {
    return now->first + (now->end - now->first) / 10 + 1;
}

static bool is_due(const firn_segment *segment, int64_t slot) {
    const segment_shelf *shelf = segment->shelf;
    int64_t steady;
    return segment->keys.kind == FIRN__SEGMENT && is_empty(&shelf->then) &&
           slot >= due_slot(&shelf->now) &&
           (shelf->retry_ms == 0 ||
            (segment->clock->steady(segment->clock->self, &steady) == FIRN_OK &&
             steady / 1000000 >= shelf->retry_ms));
}

/* Called after `next` is set: a thread that sees the new limit must see the start of its block,
 * too. */
static void set_limit(segment_shelf *shelf, int64_t limit) {
    if (atomic_load_explicit(&shelf->limit, memory_order_relaxed) != 0 ||
        shelf->now.end - shelf->now.first > 1) {
        atomic_store_explicit(&shelf->limit, limit, memory_order_release);
    }
}

/* Makes a block the present one, from `next` on. */
static void turn_to(const firn_segment *segment, const slot_block *block, int64_t next) {
    segment_shelf *shelf = segment->shelf;
    assert(block->first <= next && next <= block->end);
    /* While a limit is set, each block is after all earlier ones: see segment_shelf. */
    assert(shelf->now.end <= block->first ||
           atomic_load_explicit(&shelf->limit, memory_order_relaxed) == 0);
    shelf->now = *block;
    shelf->then = (slot_block){0};
    shelf->wanted = false;
    atomic_store_explicit(&shelf->next, next, memory_order_relaxed);
    atomic_store_explicit(&shelf->end, block->end, memory_order_seq_cst);
    if (is_renewed(shelf)) { /* while the block was fetched */
        use_up(shelf);
    }
    atomic_store_explicit(&shelf->ahead, 0, memory_order_relaxed);
    set_limit(shelf, segment->keys.kind == FIRN__SEGMENT ? due_slot(block) : block->end);
}

/* Other threads use the present block during that time. After a failure each call checks whether to
 * try again. */
static int fetch_ahead(const firn_segment *segment, firn_error *error) {
    segment_shelf *shelf = segment->shelf;
    set_limit(shelf, shelf->now.end);
    int code = fetch_segment(segment, 1, &shelf->then, error);
    if (code != FIRN_OK) {
        set_limit(shelf, due_slot(&shelf->now));
    }
    atomic_store_explicit(&shelf->ahead, shelf->then.end - shelf->then.first, memory_order_relaxed);
    return code;
}

/* `least` to `most` slots of the present block, below `limit`; returns the number, or 0: too few.
 * At most one turn per slot: each that fails has seen another thread take one. */
static int64_t take(segment_shelf *shelf, int64_t limit, int64_t least, int64_t most,
                    int64_t *slot) {
    int64_t next = atomic_load_explicit(&shelf->next, memory_order_relaxed);
    while (next < limit && limit - next >= least) {
        int64_t count = limit - next < most ? limit - next : most;
        if (atomic_compare_exchange_strong_explicit(&shelf->next, &next, next + count,
                                                    memory_order_relaxed, memory_order_relaxed)) {
            *slot = next;
            atomic_signal_fence(memory_order_seq_cst);
            /* In a child that a signal handler forked after the limit was read, the slot belongs to
             * nobody. */
            return atomic_load_explicit(&shelf->end, memory_order_relaxed) != 0 ? count : 0;
        }
    }
    return 0;
}

static int64_t limit_of(segment_shelf *shelf) {
    return atomic_load_explicit(&shelf->limit, memory_order_acquire);
}

/* With the lock held: blocks from before the identity was renewed are dropped. */
static void begin_locked(segment_shelf *shelf) {
    shelf->entered = true;
    uint64_t renewed = atomic_load_explicit(&shelf->renewed, memory_order_seq_cst);
    if (is_renewed(shelf)) {
        shelf->then = (slot_block){0};
        use_up(shelf);
        atomic_store_explicit(&shelf->renewals_handled, renewed, memory_order_relaxed);
    }
}

static void enter(segment_shelf *shelf) {
    pthread_mutex_lock(&shelf->lock);
    begin_locked(shelf);
}

static bool is_entered(const segment_shelf *shelf) {
    atomic_signal_fence(memory_order_seq_cst);
    return ((const volatile segment_shelf *)shelf)->entered;
}

/* The block that was fetched ahead; none in a child that was forked while this was read. */
static slot_block fetched_ahead(const segment_shelf *shelf) {
    slot_block block = shelf->then;
    return is_entered(shelf) && !is_renewed(shelf) ? block : (slot_block){0};
}

/* Ends what enter began. FIRN_EFORKED: a signal handler has forked since, and this is the child,
 * which has none of the integers that its parent fetched. */
static int leave(const firn_segment *segment, int code, firn_error *error) {
    segment_shelf *shelf = segment->shelf;
    if (is_entered(shelf)) {
        pthread_mutex_unlock(&shelf->lock);
        return code;
    }
    memset(shelf, 0, sizeof *shelf);
    return firn_error_set(error, FIRN_EFORKED, FIRN_CURE_TRY_AGAIN,
                          "a signal handler forked while %s was being used: call again",
                          segment->ns);
}

static int next_locked(firn_segment *segment, int64_t *slot, firn_error *error) {
    segment_shelf *shelf = segment->shelf;
    if (take(shelf, shelf->now.end, 1, 1, slot) == 0) {
        slot_block block = fetched_ahead(shelf);
        int code = is_empty(&block) ? fetch_segment(segment, 1, &block, error) : FIRN_OK;
        if (code != FIRN_OK) {
            return code;
        }
        turn_to(segment, &block, block.first + 1);
        *slot = block.first;
    }
    if (is_due(segment, *slot)) {
        fetch_ahead(segment, NULL); /* a failure is reported when the present block is used up */
    }
    return FIRN_OK;
}

int firn_segment_next(firn_segment *segment, int64_t *value, firn_error *error) {
    segment_shelf *shelf = segment->shelf;
    int64_t slot = 0;
    int code = FIRN_OK;
    firn__wiped_look();
    if (take(shelf, limit_of(shelf), 1, 1, &slot) == 0) {
        enter(shelf);
        code = leave(segment, next_locked(segment, &slot, error), error);
    }
    if (code == FIRN_OK) {
        *value = origin(segment) + slot * segment->keys.increment;
    }
    return code;
}

/* ---- handing out fetched integers, for callers that may not wait ----------------------------- */

/* Like take. If only the block fetched ahead has enough, takes from that block and drops the rest
 * of the present one, so that later integers are greater. Under the lock. */
static int64_t take_locked(firn_segment *segment, int64_t least, int64_t most, int64_t *slot) {
    segment_shelf *shelf = segment->shelf;
    int64_t count = take(shelf, shelf->now.end, least, most, slot);
    slot_block then = fetched_ahead(shelf);
    if (count == 0 && then.end - then.first >= least) {
        count = then.end - then.first < most ? then.end - then.first : most;
        *slot = then.first;
        turn_to(segment, &then, then.first + count);
    }
    return count;
}

/* Takes `least` to `most` of the fetched integers. If the lock is held during all turns of the
 * loop, its holder is fetching. */
static int64_t take_fetched(firn_segment *segment, int64_t least, int64_t most, int64_t *slot,
                            bool *due) {
    segment_shelf *shelf = segment->shelf;
    firn__wiped_look();
    *due = false;
    for (int turn = 0; turn < 100; turn++) {
        bool patient = turn < 99; /* the limit may be before the end of the block */
        int64_t count = take(shelf, limit_of(shelf), patient ? most : least, most, slot);
        if (count > 0) {
            return count;
        }
        if (pthread_mutex_trylock(&shelf->lock) == 0) {
            begin_locked(shelf);
            count = take_locked(segment, least, most, slot);
            shelf->wanted = count == 0;
            *due = count == 0 || is_due(segment, *slot + count - 1);
            return leave(segment, FIRN_OK, NULL) == FIRN_OK ? count : 0;
        }
    }
    return 0;
}

static int not_fetched(const firn_segment *segment, firn_error *error) {
    return firn__fail(
        error, FIRN_EWINDOW,
        "%s has nothing fetched at the moment: ask again in a millisecond, and look at"
        " the store if this continues",
        segment->ns);
}

int firn_segment_take(firn_segment *segment, int64_t most, int64_t *first, int64_t *count,
                      bool *due, firn_error *error) {
    int64_t slot = 0, taken;
    bool soon;
    if (most < 1) {
        return firn__fail(error, FIRN_ERANGE, "at least 1 integer is taken, not %" PRId64, most);
    }
    taken = take_fetched(segment, 1, most, &slot, &soon);
    if (due != NULL) {
        *due = soon;
    }
    if (taken == 0) {
        return not_fetched(segment, error);
    }
    *first = origin(segment) + slot * segment->keys.increment;
    *count = taken;
    return FIRN_OK;
}

/* Fetches at least `count` if too few are left. If the segment has fewer, nothing is taken, because
 * other callers may need fewer. */
static int exact_locked(firn_segment *segment, int64_t count, int64_t *slot, firn_error *error) {
    slot_block block = {0};
    if (take_locked(segment, count, count, slot) > 0) {
        return FIRN_OK;
    }
    set_limit(segment->shelf, segment->shelf->now.end); /* others use the present block */
    int code = fetch_segment(segment, count, &block, error);
    if (code != FIRN_OK) {
        if (is_empty(&segment->shelf->then) && segment->keys.kind == FIRN__SEGMENT) {
            set_limit(segment->shelf, due_slot(&segment->shelf->now));
        }
        return code;
    }
    *slot = block.first;
    turn_to(segment, &block, block.first + count);
    return FIRN_OK;
}

int firn_segment_exact(firn_segment *segment, int64_t count, bool fetch_more, int64_t *first,
                       bool *due, firn_error *error) {
    segment_shelf *shelf = segment->shelf;
    int64_t slot = 0;
    bool soon;
    if (count < 1 || count > FIRN_SLOT_MAX / 2) {
        return firn__fail(error, FIRN_ERANGE, "a block has 1 to 2^61 integers, not %" PRId64,
                          count);
    }
    int code = take_fetched(segment, count, count, &slot, &soon) > 0 ? FIRN_OK : FIRN_EWINDOW;
    if (code != FIRN_OK && fetch_more) {
        enter(shelf);
        code = exact_locked(segment, count, &slot, error);
        soon = code == FIRN_OK && is_due(segment, slot + count - 1);
        code = leave(segment, code, error);
    } else if (code != FIRN_OK) {
        code = not_fetched(segment, error);
    }
    if (due != NULL) {
        *due = soon;
    }
    if (code == FIRN_OK) {
        *first = origin(segment) + slot * segment->keys.increment;
    }
    return code;
}

int64_t firn_segment_left(const firn_segment *segment) {
    const segment_shelf *shelf = segment->shelf;
    firn__wiped_look();
    int64_t now = atomic_load_explicit(&shelf->end, memory_order_relaxed) -
                  atomic_load_explicit(&shelf->next, memory_order_relaxed);
    return (now > 0 ? now : 0) + atomic_load_explicit(&shelf->ahead, memory_order_relaxed);
}

int firn_segment_block(firn_segment *segment, int64_t count, int64_t *first, firn_error *error) {
    slot_block block = {0};
    if (count < 1 || count > FIRN_SLOT_MAX / 2) {
        return firn__fail(error, FIRN_ERANGE, "a block has 1 to 2^61 integers, not %" PRId64,
                          count);
    }
    int code = fetch(segment, count, 0, 0, count, &block, error);
    if (code == FIRN_OK) {
        *first = origin(segment) + block.first * segment->keys.increment;
    }
    return code;
}

/* Gives a block back from `next` on; busy means that somebody came after it, and nothing is lost
 * but numbers. */
static int give_back(const firn_segment *segment, const slot_block *block, int64_t next,
                     firn_error *error) {
    if (next == block->end || block->twice) {
        return FIRN_OK;
    }
    int code = segment->stock != NULL
                   ? firn__stock_return(segment->stock, &block->mark, next, error)
                   : firn_store_give_back(segment->store, segment->ns, segment->key, &block->mark,
                                          next, error);
    return code == FIRN_EBUSY ? FIRN_OK : code;
}

/* A listing's entry for one key. */
typedef struct key_look {
    const char *key;
    int64_t high; /* -1: it has no mark */
} key_look;

static int see_key(void *context, const firn_holding *holding) {
    key_look *look = context;
    if (strcmp(holding->key, look->key) == 0) {
        look->high = holding->mark.high;
    }
    return 0;
}

int firn_segment_peek(firn_segment *segment, int64_t *next, firn_error *error) {
    key_look look = {segment->key, -1};
    int64_t begin = segment->keys.kind == FIRN__TICKET ? 0 : segment->keys.start, held = 0;
    int code = segment->stock != NULL ? firn__stock_peek(segment->stock, &held, error) : FIRN_OK;
    if (code == FIRN_OK && held > 0) {
        look.high = held;
    } else if (code == FIRN_OK) {
        code = firn_store_list(segment->store, segment->ns, see_key, &look, error);
    }
    if (code == FIRN_OK) {
        int64_t slot = look.high > begin ? look.high : begin;
        if (slot > last_slot(segment)) {
            return exhausted(segment, error);
        }
        *next = origin(segment) + slot * segment->keys.increment;
    }
    return code;
}

/* The first slot whose number is `least` or more, where slot 0 is the number `offset`. */
static int64_t slot_from(const firn_segment *segment, int64_t least, int64_t offset) {
    return least <= offset ? 0 : (least - offset - 1) / segment->keys.increment + 1;
}

int firn__segment_advance(firn_segment *segment, int64_t from, int64_t guard, int64_t *next,
                          firn_error *error) {
    const int64_t slot = slot_from(segment, from, origin(segment));
    if (from < 0 || slot > last_slot(segment)) {
        return firn__fail(error, FIRN_ERANGE,
                          "integers of %s go up to end=%" PRId64 ", not to %" PRId64, segment->ns,
                          segment->keys.end, from);
    }
    /* Integers in the reserve may be below. */
    int code = segment->stock != NULL ? firn__stock_drop(segment->stock, false, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    if (segment->stock != NULL) { /* another process may have given back what this handle had */
        firn__store_forget(segment->store, segment->ns, segment->key);
    }
    /* Takes and gives back one slot: the mark is then at or after it. */
    slot_block block = {0};
    code = fetch(segment, 1, slot, guard, 1, &block, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = block.twice ? FIRN_EBUSY
                       : firn_store_give_back(segment->store, segment->ns, segment->key,
                                              &block.mark, block.first, error);
    /* The slot stays used: another process reserved after it, or it must not be given back. */
    if (code == FIRN_EBUSY) {
        code = ++block.first > last_slot(segment) ? exhausted(segment, error) : FIRN_OK;
    }
    if (code == FIRN_OK) {
        *next = origin(segment) + block.first * segment->keys.increment;
    }
    return code;
}

static int need_stock(const firn_segment *segment, firn_error *error) {
    firn__wiped_look();
    return segment->stock != NULL
               ? FIRN_OK
               : firn__fail(error, FIRN_EUSAGE,
                            "%.70s has no reserve: set reserve=DURATION, as in the processes of "
                            "this machine",
                            segment->ns);
}

int firn_segment_give_back(firn_segment *segment, firn_error *error) {
    const int code = need_stock(segment, error);
    return code == FIRN_OK ? firn__stock_drop(segment->stock, true, error) : code;
}

int firn_segment_reserve(firn_segment *segment, int64_t *left, int64_t *lasts_ms,
                         firn_error *error) {
    const int code = need_stock(segment, error);
    return code == FIRN_OK ? firn__stock_show(segment->stock, left, lasts_ms, error) : code;
}

firn__stock *firn__segment_stock(const firn_segment *segment) {
    return segment->stock;
}

int64_t firn__segment_held(const firn_segment *segment) {
    return atomic_load_explicit(&segment->shelf->held, memory_order_relaxed);
}

int64_t firn_segment_increment(const firn_segment *segment) {
    return segment->keys.increment;
}

int firn_segment_step(firn_segment *segment, int64_t *wait_ms, firn_error *error) {
    segment_shelf *shelf = segment->shelf;
    int code = FIRN_OK;
    firn__wiped_look();
    enter(shelf);
    bool used_up = shelf->wanted && is_empty(&shelf->then) &&
                   atomic_load_explicit(&shelf->next, memory_order_relaxed) >= shelf->now.end;
    if (shelf->now.end == 0 || used_up) {
        slot_block block = {0};
        code = fetch_segment(segment, 1, &block, error);
        if (code == FIRN_OK) {
            turn_to(segment, &block, block.first);
        }
    } else if (is_due(segment, atomic_load_explicit(&shelf->next, memory_order_relaxed))) {
        code = fetch_ahead(segment, error);
    }
    *wait_ms = 100;
    return leave(segment, code, error);
}

int firn_segment_close(firn_segment *segment, firn_error *error) {
    if (segment == NULL) {
        return FIRN_OK;
    }
    firn__wiped_look();
    const segment_shelf *shelf = segment->shelf;
    int code = is_renewed(shelf) ? FIRN_OK /* another copy of the process may have them */
               : is_empty(&shelf->then)
                   ? give_back(segment, &shelf->now,
                               atomic_load_explicit(&shelf->next, memory_order_relaxed), error)
                   : give_back(segment, &shelf->then, shelf->then.first, error);
    free_segment(segment);
    return code;
}

/* The servers of a ticket share one guard, a slot: the number of a slot is least at offset 1. A guard
 * of 0 would be none. */
int firn_segment_advance(firn_segment *segment, int64_t from, int64_t *next, firn_error *error) {
    const int64_t guard = slot_from(segment, from, segment->keys.kind == FIRN__TICKET ? 1 : 0);
    return firn__segment_advance(segment, from, guard > 0 ? guard : 1, next, error);
}
