/* SPDX-License-Identifier: MIT */
/* Integers: serial, ticket and segment, all blocks of slots reserved under a key. A segment
 * fetches its next block when more than a tenth of the present one is handed out; no thread of
 * its own, range_step does it. */
#include "segment.h"

#include "bits.h"
#include "bug.h"
#include "clock.h"
#include "entropy.h"
#include "error.h"
#include "gen.h"
#include "keys.h"
#include "wiped.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_MS INT64_C(60000)
#define STEP_MAX  1000000
#define SENDINGS  3
#define RETRY_MS  200 /* between fetches ahead of need while the store is down */

enum { KIND_SERIAL, KIND_TICKET, KIND_SEGMENT };

/* A block of slots. */
typedef struct slot_block {
    int64_t first, end;
    firn_mark mark;
    bool twice; /* its request went out more than once: never given back */
} slot_block;

/* What a fork wipes: a child fetches blocks of its own. Slots of the present block are handed out
 * without the lock, so that whoever fetches the next one under it holds nobody up. That is safe
 * while each block lies behind all before it: a call that was held up never meets the `next` that
 * it saw again. Blocks of one slot may come in any order (ticket servers that stand in for each
 * other do that), and set no limit. */
typedef struct range_shelf {
    _Atomic int64_t next;  /* the first slot that is not handed out */
    _Atomic int64_t limit; /* up to here without the lock: not past the end of the present block.
                            * 0: no block had more than one slot yet */
    pthread_mutex_t lock;  /* of all that follows, and of changes of the limit */
    slot_block now, then;  /* the present block and the one fetched ahead */
    _Atomic int64_t end,
        ahead;   /* where `now` ends and how many `then` has, for those who only look */
    bool wanted; /* firn_segment_take found nothing: firn_segment_step fetches, of whatever kind */
    int64_t fetches;
    int64_t fetched_ms; /* when, by the steady clock */
    int64_t retry_ms; /* a fetch ahead of need that failed is not tried again before; 0: none did */
    int64_t step;
} range_shelf;

struct firn_segment {
    range_shelf *shelf;
    firn_store *store;
    const firn_clock *clock;
    int64_t kind, step, increment, offset, start, end, adapt;
    char ns[FIRN_NS_SIZE];
    char layout[64];
    char key[FIRN_KEY_SIZE];
    char note[FIRN_NOTE_SIZE];
};

int64_t firn__segment_next_step(int64_t step, int64_t least, int64_t age_ms) {
    if (age_ms < 15 * MINUTE_MS) {
        return step > STEP_MAX / 2 ? step : step * 2;
    }
    if (age_ms < 30 * MINUTE_MS) {
        return step;
    }
    return step / 2 < least ? step : step / 2;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The first byte of a name that is no UTF-8 (RFC 3629), counted from 1; 0: all of it is. Such a name
 * could be neither shown nor kept by every store. */
static size_t not_utf8(const char *name) {
    const unsigned char *at = (const unsigned char *)name;
    while (*at != '\0') {
        size_t size = *at < 0x80 ? 1 : *at < 0xc2 ? 0 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
        bool good = size > 0 && *at < 0xf5 && !(*at == 0xe0 && at[1] < 0xa0) &&
                    !(*at == 0xed && at[1] >= 0xa0) && !(*at == 0xf0 && at[1] < 0x90) &&
                    !(*at == 0xf4 && at[1] >= 0x90);
        for (size_t i = 1; good && i < size; i++) {
            good = (at[i] & 0xc0) == 0x80; /* which a zero is not */
        }
        if (!good) {
            return (size_t)(at - (const unsigned char *)name) + 1;
        }
        at += size;
    }
    return 0;
}

static int check_name(const char *key, firn_error *error) {
    if (key == NULL || key[0] == '\0' || strlen(key) >= FIRN_KEY_SIZE) {
        return firn__fail(error, FIRN_ERANGE, "the name of an integer has 1..%d characters",
                          FIRN_KEY_SIZE - 1);
    }
    size_t wrong = not_utf8(key);
    return wrong == 0
               ? FIRN_OK
               : firn__fail(error, FIRN_EUSAGE,
                            "the name of an integer is not UTF-8 at byte %zu: write it in UTF-8",
                            wrong);
}

static int read_pair(firn_segment *range, const firn__pair *pair, firn_error *error) {
    const struct {
        const char *name;
        int64_t *member, least, most;
    } numbers[] = {{"step", &range->step, 1, STEP_MAX},
                   {"increment", &range->increment, 1, 65535},
                   {"offset", &range->offset, 1, 65535},
                   {"start", &range->start, 0, FIRN_SLOT_MAX - 1},
                   {"end", &range->end, 1, FIRN_SLOT_MAX - 1}};
    static const char *const names[] = {"kind",  "step", "increment", "offset",
                                        "start", "end",  "adapt",     NULL};
    if (strcmp(pair->name, "kind") == 0) {
        return firn__choice_read(&range->kind, "kind", pair->value, "serial ticket segment", error);
    }
    if (strcmp(pair->name, "adapt") == 0) {
        return firn__choice_read(&range->adapt, "adapt", pair->value, "0 1", error);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(pair->name, numbers[i].name) == 0) {
            return firn__number_read(numbers[i].member, pair->name, pair->value, numbers[i].least,
                                     numbers[i].most, error);
        }
    }
    const char *near = firn_nearest(pair->name, names);
    return firn__fail(
        error, FIRN_EUSAGE,
        "integers have no key '%.40s'%s%s: kind step increment offset start end adapt", pair->name,
        near != NULL ? ", perhaps " : "", near != NULL ? near : "");
}

/* The defaults of a kind, and what contradicts. */
static int settle(firn_segment *range, bool started, firn_error *error) {
    if (range->kind == KIND_TICKET) {
        if (range->offset > range->increment) {
            return firn__fail(error, FIRN_ERANGE,
                              "offset=%" PRId64 " is above increment=%" PRId64
                              ": servers are numbered 1 to increment",
                              range->offset, range->increment);
        }
    } else if (range->increment != 1 || range->offset != 1) {
        return firn__fail(error, FIRN_EUSAGE, "increment and offset are for kind=ticket");
    }
    if (range->kind != KIND_SEGMENT && range->step == 0) {
        range->step = 1;
    }
    range->step = range->step == 0 ? 1000 : range->step;
    range->adapt = range->kind == KIND_SEGMENT ? range->adapt : 0;
    if (started && range->kind == KIND_TICKET) {
        return firn__fail(error, FIRN_EUSAGE, "a ticket starts at its offset: leave start out");
    }
    if (range->kind == KIND_TICKET && range->end < range->offset) {
        return firn__fail(error, FIRN_ERANGE, "end=%" PRId64 " is before offset=%" PRId64,
                          range->end, range->offset);
    }
    if (range->kind != KIND_TICKET && range->end < range->start) {
        return firn__fail(error, FIRN_ERANGE, "end=%" PRId64 " is before start=%" PRId64,
                          range->end, range->start);
    }
    return FIRN_OK;
}

/* The number that stands for slot 0. */
static int64_t origin(const firn_segment *range) {
    return range->kind == KIND_TICKET ? range->offset : 0;
}

static int make_shelf(firn_segment *range, firn_error *error) {
    int code;
    range->shelf = firn__wiped(sizeof(range_shelf), &code, error);
    return code;
}

int firn_segment_open(firn_segment **out, const char *key, const char *text, firn_store *store,
                      const firn_clock *clock, firn_error *error) {
    firn__keys keys;
    bool started = false;
    firn_segment *range = calloc(1, sizeof *range);
    if (range == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a range");
    }
    *range = (firn_segment){.store = store,
                            .clock = clock != NULL ? clock : &firn__clock_system,
                            .kind = KIND_SEGMENT,
                            .increment = 1,
                            .offset = 1,
                            .start = 1,
                            .end = FIRN_SLOT_MAX - 1,
                            .adapt = 1};
    int code = check_name(key, error);
    code = code == FIRN_OK ? firn__keys_split(&keys, text, error) : code;
    for (size_t i = 0; code == FIRN_OK && i < keys.field_count; i++) {
        started = started || strcmp(keys.fields[i].name, "start") == 0;
        code = read_pair(range, &keys.fields[i], error);
    }
    if (code == FIRN_OK) {
        code = settle(range, started, error);
    }
    if (code == FIRN_OK) {
        code = make_shelf(range, error);
    }
    if (code != FIRN_OK) {
        if (range->shelf != NULL) {
            firn__wiped_free(range->shelf, sizeof(range_shelf));
        }
        free(range);
        return code;
    }
    /* One namespace a name: serial and segment of one name go on from each other, a ticket's
     * increment is its row. */
    snprintf(range->ns, sizeof range->ns, "integer %s", key);
    if (range->kind == KIND_TICKET) {
        snprintf(range->layout, sizeof range->layout, "integer increment=%" PRId64,
                 range->increment);
        snprintf(range->key, sizeof range->key, "%" PRId64, range->offset);
    } else {
        snprintf(range->layout, sizeof range->layout, "integer");
        snprintf(range->key, sizeof range->key, "1");
    }
    firn__node_note(range->note);
    *out = range;
    return FIRN_OK;
}

/* ---- fetching -------------------------------------------------------------------------------- */

static int exhausted(const firn_segment *range, firn_error *error) {
    return firn__fail(error, FIRN_EEXHAUSTED,
                      "%s has reached its end=%" PRId64 ": nothing more is handed out", range->ns,
                      range->end);
}

/* The last slot that may be handed out. */
static int64_t last_slot(const firn_segment *range) {
    return (range->end - origin(range)) / range->increment;
}

/* A store tells what it holds and what was asked for, and says ns= behind it, which integers have
 * none of. */
static int other_kind(firn_error *error) {
    char text[sizeof error->text];
    if (error == NULL) {
        return FIRN_ENAMESPACE;
    }
    memcpy(text, error->text, sizeof text);
    char *cure = strrchr(text, ':');
    return firn__fail(error, FIRN_ENAMESPACE,
                      "%.*s: say the same kind and increment, or take another name",
                      cure != NULL ? (int)(cure - text) : 120, text);
}

/* Reserves `count` slots at or behind `from`, at the end of the range fewer, but `least`. Where the
 * engine has gone back, nobody knows what it forgot: only who says from where on is served
 * (guard > 0, by firn_segment_advance). */
static int fetch(const firn_segment *range, int64_t count, int64_t from, int64_t guard,
                 int64_t least, slot_block *out, firn_error *error) {
    firn_request request = {.ns = range->ns,
                            .layout = range->layout,
                            .key = range->key,
                            .count = count,
                            .note = range->note};
    int64_t first, stop = last_slot(range) + 1;
    firn_mark held = {0, 0};
    int code = FIRN_EBUSY;
    request.earliest = range->kind == KIND_TICKET ? 0 : range->start;
    request.earliest = from > request.earliest ? from : request.earliest;
    request.guard = guard;
    if (request.count > stop - request.earliest) {
        request.count = stop - request.earliest;
    }
    for (int i = 0; i < 8 && code == FIRN_EBUSY; i++) {
        if (request.count < least) {
            return exhausted(range, error);
        }
        request.latest = stop - request.count;
        firn_value drawn;
        code = firn__entropy_bits(NULL, &drawn, 63, error);
        if (code != FIRN_OK) {
            return code;
        }
        request.grant = drawn.low | 1;
        code = FIRN_EUNKNOWN;
        out->twice = false;
        for (int sent = 0; sent < SENDINGS && code == FIRN_EUNKNOWN; sent++) {
            out->twice = sent > 0;
            code = firn_store_reserve(range->store, &request, &first, &held, error);
            if (code == FIRN_EBUSY && held.grant == request.grant) {
                if (sent == 0) {
                    return firn__fail(error, FIRN_ECLONED,
                                      "%s was reserved by a copy of this process image", range->ns);
                }
                first = held.high - request.count;
                code = FIRN_OK;
            }
        }
        if (code == FIRN_ENAMESPACE) {
            return other_kind(error);
        }
        if (code == FIRN_EBUSY && request.count > stop - held.high) {
            request.count = stop - held.high; /* what is left before the end */
        }
    }
    if (code == FIRN_OK) {
        out->first = first;
        out->end = first + request.count;
        out->mark = (firn_mark){out->end, request.grant};
    }
    return code;
}

/* The next segment, of an adapted step from the third fetch on, and of `least` slots at least. */
static int fetch_segment(const firn_segment *range, int64_t least, slot_block *out,
                         firn_error *error) {
    range_shelf *shelf = range->shelf;
    int64_t steady = 0, step = shelf->step == 0 ? range->step : shelf->step;
    int code = range->clock->steady(range->clock->self, &steady);
    if (code != FIRN_OK) {
        return firn__fail(error, FIRN_ECLOCK, "the clock cannot be read");
    }
    if (range->adapt && shelf->fetches >= 2) {
        step = firn__segment_next_step(step, range->step, steady / 1000000 - shelf->fetched_ms);
    }
    code = fetch(range, step > least ? step : least, 0, 0, least, out, error);
    if (code == FIRN_OK && out->first < shelf->now.end && atomic_load(&shelf->limit) != 0) {
        code = firn__fail(error, FIRN_EBACK,
                          "the store of %.60s has gone back: it grants %" PRId64
                          ", which lies before %" PRId64
                          ": firn segment advance '%.30s' --min N, N above all handed out",
                          range->ns, out->first, shelf->now.end, range->ns + 8);
        *out = (slot_block){0}; /* handed out before, perhaps */
    }
    if (code == FIRN_OK) {
        shelf->fetches++;
        shelf->fetched_ms = steady / 1000000;
        shelf->step = step;
    }
    shelf->retry_ms = 0;
    if (code != FIRN_OK) { /* from its end on: a store that hangs takes longer than RETRY_MS */
        range->clock->steady(range->clock->self, &steady);
        shelf->retry_ms = steady / 1000000 + RETRY_MS;
    }
    return code;
}

/* ---- handing out ----------------------------------------------------------------------------- */

static bool is_empty(const slot_block *block) {
    return block->first == block->end;
}

/* The slot from which on the block behind the present one is due: when more than a tenth of the
 * present one is handed out. */
static int64_t due_slot(const slot_block *now) {
    return now->end - ((now->end - now->first) * 9 + 9) / 10 + 1;
}

static bool is_due(const firn_segment *range, int64_t slot) {
    const range_shelf *shelf = range->shelf;
    int64_t steady;
    return range->kind == KIND_SEGMENT && is_empty(&shelf->then) && slot >= due_slot(&shelf->now) &&
           (shelf->retry_ms == 0 || (range->clock->steady(range->clock->self, &steady) == FIRN_OK &&
                                     steady / 1000000 >= shelf->retry_ms));
}

/* After `next`: whoever sees a limit sees where its block begins, too. */
static void set_limit(range_shelf *shelf, int64_t limit) {
    if (atomic_load(&shelf->limit) != 0 || shelf->now.end - shelf->now.first > 1) {
        atomic_store_explicit(&shelf->limit, limit, memory_order_release);
    }
}

/* Makes a block the present one, from `next` on. */
static void turn_to(const firn_segment *range, const slot_block *block, int64_t next) {
    range_shelf *shelf = range->shelf;
    shelf->now = *block;
    shelf->then = (slot_block){0};
    shelf->wanted = false;
    if (FIRN_BUG == FIRN_BUG_SHELF) {
        set_limit(shelf, block->end);
    }
    atomic_store_explicit(&shelf->next, next, memory_order_relaxed);
    atomic_store_explicit(&shelf->end, block->end, memory_order_relaxed);
    atomic_store_explicit(&shelf->ahead, 0, memory_order_relaxed);
    set_limit(shelf, range->kind == KIND_SEGMENT ? due_slot(block) : block->end);
}

/* Others go on in the present block meanwhile. After a failure each call looks whether to try
 * again. */
static int fetch_ahead(const firn_segment *range, firn_error *error) {
    range_shelf *shelf = range->shelf;
    set_limit(shelf, shelf->now.end);
    int code = fetch_segment(range, 1, &shelf->then, error);
    if (code != FIRN_OK) {
        set_limit(shelf, due_slot(&shelf->now));
    }
    atomic_store_explicit(&shelf->ahead, shelf->then.end - shelf->then.first, memory_order_relaxed);
    return code;
}

/* `least` to `most` slots of the present block, below `limit`; returns how many, 0: there are not so
 * many. At most as many turns as there are slots: each that fails has seen another thread take one. */
static int64_t take(range_shelf *shelf, int64_t limit, int64_t least, int64_t most, int64_t *slot) {
    int64_t next = atomic_load_explicit(&shelf->next, memory_order_relaxed);
    while (next < limit && limit - next >= least) {
        int64_t count = limit - next < most ? limit - next : most;
        if (atomic_compare_exchange_strong_explicit(&shelf->next, &next, next + count,
                                                    memory_order_relaxed, memory_order_relaxed)) {
            *slot = next;
            return count;
        }
    }
    return 0;
}

static int64_t limit_of(range_shelf *shelf) {
    return atomic_load_explicit(&shelf->limit, memory_order_acquire);
}

static int next_locked(firn_segment *range, int64_t *slot, firn_error *error) {
    range_shelf *shelf = range->shelf;
    if (take(shelf, shelf->now.end, 1, 1, slot) == 0) {
        slot_block block = shelf->then;
        int code = is_empty(&block) ? fetch_segment(range, 1, &block, error) : FIRN_OK;
        if (code != FIRN_OK) {
            return code;
        }
        turn_to(range, &block, block.first + 1);
        *slot = block.first;
    }
    if (is_due(range, *slot)) {
        fetch_ahead(range, NULL); /* a failure is told when the present block is used up */
    }
    return FIRN_OK;
}

int firn_segment_next(firn_segment *range, int64_t *value, firn_error *error) {
    range_shelf *shelf = range->shelf;
    int64_t slot = 0;
    int code = FIRN_OK;
    firn__wiped_look();
    if (take(shelf, limit_of(shelf), 1, 1, &slot) == 0) {
        pthread_mutex_lock(&shelf->lock);
        code = next_locked(range, &slot, error);
        pthread_mutex_unlock(&shelf->lock);
    }
    if (code == FIRN_OK) {
        *value = origin(range) + slot * range->increment;
    }
    return code;
}

/* ---- handing out what was fetched, for those who may not wait ---------------------------------- */

/* As take, and from the block fetched ahead where the present one has too few: what is left of that is
 * dropped then, so that later ones are greater. Under the lock. */
static int64_t take_locked(firn_segment *range, int64_t least, int64_t most, int64_t *slot) {
    range_shelf *shelf = range->shelf;
    int64_t count = take(shelf, shelf->now.end, least, most, slot);
    slot_block then = shelf->then;
    if (FIRN_BUG == FIRN_BUG_EXACT && count == 0 && least > 1) {
        count = take(shelf, shelf->now.end, 1, most, slot) > 0 ? least : 0;
    }
    if (count == 0 && then.end - then.first >= least) {
        count = then.end - then.first < most ? then.end - then.first : most;
        *slot = then.first;
        turn_to(range, &then, then.first + count);
    }
    return count;
}

/* `least` to `most` of what is fetched. Whoever holds the lock for longer than this turns is fetching. */
static int64_t take_fetched(firn_segment *range, int64_t least, int64_t most, int64_t *slot,
                            bool *due) {
    range_shelf *shelf = range->shelf;
    firn__wiped_look();
    *due = false;
    for (int turn = 0; turn < 100; turn++) {
        bool patient = turn < 99; /* the limit may stand before the end of the block */
        int64_t count = take(shelf, limit_of(shelf), patient ? most : least, most, slot);
        if (count > 0) {
            return count;
        }
        if (pthread_mutex_trylock(&shelf->lock) == 0) {
            count = take_locked(range, least, most, slot);
            shelf->wanted = count == 0;
            *due = count == 0 || is_due(range, *slot + count - 1);
            pthread_mutex_unlock(&shelf->lock);
            return count;
        }
    }
    return 0;
}

static int not_fetched(const firn_segment *range, firn_error *error) {
    return firn__fail(
        error, FIRN_EWINDOW,
        "%s has nothing fetched at the moment: ask again in a millisecond, and look at"
        " the store if that goes on",
        range->ns);
}

int firn_segment_take(firn_segment *range, int64_t most, int64_t *first, int64_t *count, bool *due,
                      firn_error *error) {
    int64_t slot = 0, taken;
    bool soon;
    if (most < 1) {
        return firn__fail(error, FIRN_ERANGE, "at least 1 integer is taken, not %" PRId64, most);
    }
    taken = take_fetched(range, 1, most, &slot, &soon);
    if (due != NULL) {
        *due = soon;
    }
    if (taken == 0) {
        return not_fetched(range, error);
    }
    *first = origin(range) + slot * range->increment;
    *count = taken;
    return FIRN_OK;
}

/* Fetches at least `count` where those fetched are too few. Where the range has not so many left
 * nothing is taken of it, since others may want fewer. */
static int exact_locked(firn_segment *range, int64_t count, int64_t *slot, firn_error *error) {
    slot_block block = {0};
    if (take_locked(range, count, count, slot) > 0) {
        return FIRN_OK;
    }
    set_limit(range->shelf, range->shelf->now.end); /* others go on in the present block */
    int code = fetch_segment(range, count, &block, error);
    if (code != FIRN_OK) {
        if (is_empty(&range->shelf->then) && range->kind == KIND_SEGMENT) {
            set_limit(range->shelf, due_slot(&range->shelf->now));
        }
        return code;
    }
    *slot = block.first;
    turn_to(range, &block, block.first + count);
    return FIRN_OK;
}

int firn_segment_exact(firn_segment *range, int64_t count, bool fetch_more, int64_t *first,
                       bool *due, firn_error *error) {
    range_shelf *shelf = range->shelf;
    int64_t slot = 0;
    bool soon;
    if (count < 1 || count > FIRN_SLOT_MAX / 2) {
        return firn__fail(error, FIRN_ERANGE, "a block has 1 to 2^61 integers, not %" PRId64,
                          count);
    }
    int code = take_fetched(range, count, count, &slot, &soon) > 0 ? FIRN_OK : FIRN_EWINDOW;
    if (code != FIRN_OK && fetch_more) {
        pthread_mutex_lock(&shelf->lock);
        code = exact_locked(range, count, &slot, error);
        soon = code == FIRN_OK && is_due(range, slot + count - 1);
        pthread_mutex_unlock(&shelf->lock);
    } else if (code != FIRN_OK) {
        code = not_fetched(range, error);
    }
    if (due != NULL) {
        *due = soon;
    }
    if (code == FIRN_OK) {
        *first = origin(range) + slot * range->increment;
    }
    return code;
}

int64_t firn_segment_left(const firn_segment *range) {
    const range_shelf *shelf = range->shelf;
    firn__wiped_look();
    int64_t now = atomic_load_explicit(&shelf->end, memory_order_relaxed) -
                  atomic_load_explicit(&shelf->next, memory_order_relaxed);
    return (now > 0 ? now : 0) + atomic_load_explicit(&shelf->ahead, memory_order_relaxed);
}

int firn_segment_block(firn_segment *range, int64_t count, int64_t *first, firn_error *error) {
    slot_block block = {0};
    if (count < 1 || count > FIRN_SLOT_MAX / 2) {
        return firn__fail(error, FIRN_ERANGE, "a block has 1 to 2^61 integers, not %" PRId64,
                          count);
    }
    int code = fetch(range, count, 0, 0, count, &block, error);
    if (code == FIRN_OK) {
        *first = origin(range) + block.first * range->increment;
    }
    return code;
}

/* Gives a block back from `next` on; busy means that somebody came after it, and nothing is lost
 * but numbers. */
static int give_back(const firn_segment *range, const slot_block *block, int64_t next,
                     firn_error *error) {
    if (next == block->end || block->twice) {
        return FIRN_OK;
    }
    int code = firn_store_give_back(range->store, range->ns, range->key, &block->mark, next, error);
    return code == FIRN_EBUSY ? FIRN_OK : code;
}

/* What a listing tells of one key. */
typedef struct look {
    const char *key;
    int64_t high; /* -1: it has no mark */
} look;

static int see_key(void *context, const firn_holding *holding) {
    look *at = context;
    if (strcmp(holding->key, at->key) == 0) {
        at->high = holding->mark.high;
    }
    return 0;
}

int firn_segment_peek(firn_segment *range, int64_t *next, firn_error *error) {
    look at = {range->key, -1};
    int64_t begin = range->kind == KIND_TICKET ? 0 : range->start;
    int code = firn_store_list(range->store, range->ns, see_key, &at, error);
    if (code == FIRN_OK) {
        int64_t slot = at.high > begin ? at.high : begin;
        if (slot > last_slot(range)) {
            return exhausted(range, error);
        }
        *next = origin(range) + slot * range->increment;
    }
    return code;
}

/* The first slot whose number is `least` or more, where slot 0 is the number `offset`. */
static int64_t slot_from(const firn_segment *range, int64_t least, int64_t offset) {
    return least <= offset ? 0 : (least - offset - 1) / range->increment + 1;
}

int firn_segment_advance(firn_segment *range, int64_t least, int64_t *next, firn_error *error) {
    int64_t slot = slot_from(range, least, origin(range));
    /* The servers of a ticket share one guard, a slot: the number of a slot is least at offset 1. A
     * guard of 0 would be none. */
    int64_t guard = slot_from(range, least, range->kind == KIND_TICKET ? 1 : 0);
    guard = guard > 0 ? guard : 1;
    if (least < 0 || slot > last_slot(range)) {
        return firn__fail(error, FIRN_ERANGE,
                          "integers of %s go up to end=%" PRId64 ", not to %" PRId64, range->ns,
                          range->end, least);
    }
    /* One is taken there and given back: the mark is then at or behind it. */
    slot_block block = {0};
    int code = FIRN_BUG == FIRN_BUG_ADVANCE ? fetch(range, 1, 0, 0, 1, &block, error)
                                            : fetch(range, 1, slot, guard, 1, &block, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = block.twice ? FIRN_EBUSY
                       : firn_store_give_back(range->store, range->ns, range->key, &block.mark,
                                              block.first, error);
    if (code ==
        FIRN_EBUSY) { /* that one is gone: somebody came after it, or nothing is taken back */
        code = ++block.first > last_slot(range) ? exhausted(range, error) : FIRN_OK;
    }
    if (code == FIRN_OK) {
        *next = origin(range) + block.first * range->increment;
    }
    return code;
}

int64_t firn_segment_increment(const firn_segment *range) {
    return range->increment;
}

int firn_segment_step(firn_segment *range, int64_t *wait_ms, firn_error *error) {
    range_shelf *shelf = range->shelf;
    int code = FIRN_OK;
    firn__wiped_look();
    pthread_mutex_lock(&shelf->lock);
    bool used_up = shelf->wanted && is_empty(&shelf->then) &&
                   atomic_load_explicit(&shelf->next, memory_order_relaxed) >= shelf->now.end;
    if (shelf->now.end == 0 || used_up) {
        slot_block block = {0};
        code = fetch_segment(range, 1, &block, error);
        if (code == FIRN_OK) {
            turn_to(range, &block, block.first);
        }
    } else if (is_due(range, atomic_load_explicit(&shelf->next, memory_order_relaxed))) {
        code = fetch_ahead(range, error);
    }
    pthread_mutex_unlock(&shelf->lock);
    *wait_ms = 100;
    return code;
}

int firn_segment_close(firn_segment *range, firn_error *error) {
    if (range == NULL) {
        return FIRN_OK;
    }
    firn__wiped_look();
    const range_shelf *shelf = range->shelf;
    int code = is_empty(&shelf->then)
                   ? give_back(range, &shelf->now, atomic_load(&shelf->next), error)
                   : give_back(range, &shelf->then, shelf->then.first, error);
    firn__wiped_free(range->shelf, sizeof(range_shelf));
    free(range);
    return code;
}
