/* SPDX-License-Identifier: MIT */
/* The renewer of permits: claims nodes, renews windows, retires permits and gives their rest
 * back, all by the one verb reserve. Runs under live->renewal in a thread of the caller's; never
 * sleeps but between two sendings of one request. */
#include "bug.h"
#include "entropy.h"
#include "error.h"
#include "gen.h"
#include "store.h"
#include "thread.h"
#include "wiped.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SENDINGS   3     /* of one request whose outcome is unknown, in one go */
#define CLAIMS     24    /* nodes tried in one claim */
#define LISTED_MAX 65536 /* nodes looked at in one listing */
#define GUARD_MS                                                                                   \
    30000 /* no live end lies further ahead of a true clock: windows and leads are at most 10 s */
#define PERMIT_SIZE ((sizeof(firn__permit) + 63) / 64 * 64)
#define PAGE        4096
#define CHUNK       (64 * PAGE)

/* What a call may spend on a store that answers, however small max_wait_ms is: a claim needs two or
 * three answers. */
#define STORE_MS 1000

/* Of the steady clock: when this thread's call began. */
static FIRN_TLS int64_t began_ns;

static int64_t steady_ns(const firn_gen *gen) {
    int64_t now = 0;
    return gen->clock->steady(gen->clock->self, &now) == FIRN_OK ? now : began_ns;
}

int64_t firn__window_begin(const firn_gen *gen) {
    began_ns = steady_ns(gen);
    return began_ns;
}

int64_t firn__window_spent_ms(const firn_gen *gen) {
    return (steady_ns(gen) - began_ns) / 1000000;
}

static int64_t most_ms(const firn_gen *gen) {
    return gen->keys.max_wait_ms > STORE_MS ? gen->keys.max_wait_ms : STORE_MS;
}

/* Has the call taken as long as it may? What is under way is not cut off, but nothing more begins. */
static bool is_late(const firn_gen *gen) {
    return firn__window_spent_ms(gen) >= most_ms(gen);
}

static int too_slow(const firn_gen *gen, firn_error *error) {
    return firn__fail(error, FIRN_ESTORE,
                      "the store of %s answers too slowly for max_wait_ms=%" PRId64
                      ": look at it, or raise max_wait_ms",
                      gen->ns, gen->keys.max_wait_ms);
}

static void count_one_more(_Atomic uint64_t *count) {
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

/* ---- permits --------------------------------------------------------------------------------- */

/* A page holds a head and as many permits as fit. When all of them are retired the page goes
 * back to the kernel and reads as zero from then on: closed. */
typedef struct page_head {
    uint64_t retired;
} page_head;
enum { PER_PAGE = (PAGE - 64) / (int)PERMIT_SIZE };

/* NULL: *code is that of the error. */
static firn__permit *new_permit(firn_gen *gen, int *code, firn_error *error) {
    firn__arena *arena = &gen->live->arena;
    *code = FIRN_OK;
    if (gen->live->spare != NULL) {
        firn__permit *spare = gen->live->spare;
        gen->live->spare = NULL;
        memset(spare, 0, sizeof *spare);
        return spare;
    }
    if (arena->at == arena->end) {
        uint8_t *chunk = firn__wiped(CHUNK, code, error);
        if (chunk == NULL) {
            return NULL;
        }
        uint8_t **chunks = realloc(gen->chunks, (gen->chunk_count + 1) * sizeof *chunks);
        if (chunks == NULL) {
            firn__wiped_free(chunk, CHUNK);
            *code = firn__fail(error, FIRN_EMEMORY, "out of memory for a permit");
            return NULL;
        }
        gen->chunks = chunks;
        gen->chunks[gen->chunk_count++] = chunk;
        arena->at = chunk;
        arena->end = chunk + CHUNK;
    }
    size_t offset = (size_t)((uintptr_t)arena->at % PAGE);
    uint8_t *at = arena->at + (offset == 0 ? 64 : 0);
    offset = offset == 0 ? 64 : offset;
    bool last = offset + 2 * PERMIT_SIZE > PAGE;
    arena->at = last ? at - offset + PAGE : at + PERMIT_SIZE;
    return (firn__permit *)(void *)at;
}

void firn__window_free(firn_gen *gen) {
    for (size_t i = 0; i < gen->chunk_count; i++) {
        firn__wiped_free(gen->chunks[i], CHUNK);
    }
    free(gen->chunks);
}

static void free_page(const firn__permit *permit) {
    uint8_t *page = (uint8_t *)((uintptr_t)permit / PAGE * PAGE);
    page_head *head = (page_head *)(void *)page;
    if (++head->retired == PER_PAGE && sysconf(_SC_PAGESIZE) == PAGE) {
        madvise(page, PAGE, MADV_DONTNEED); /* larger pages hold other permits too, and only stay */
    }
}

static int64_t slots_of(const firn_gen *gen, uint64_t ticks) {
    return (int64_t)(ticks << gen->s);
}

/* Where issue may begin on an engine that has gone back: later than anything that it forgot. */
static int64_t guard_of(const firn_gen *gen, uint64_t tick) {
    uint64_t safe = tick + (uint64_t)firn__ms_ticks(gen, GUARD_MS) + 1;
    safe = FIRN_BUG == FIRN_BUG_GUARD ? tick : safe;
    return safe < (uint64_t)gen->mark_end >> gen->s ? slots_of(gen, safe) : gen->mark_end;
}

/* Sets from which slot on a renewal is due: half way from `from`. */
static void set_soft(firn__permit *permit, int64_t from) {
    int64_t end = atomic_load(&permit->end);
    int64_t soft = permit->reserved ? from + (end - from) / 2 : end;
    soft = soft < from + 1 ? from + 1 : soft;
    atomic_store(&permit->soft, soft < end ? soft : end); /* never past what was granted */
}

void firn__window_soften(firn__permit *permit) {
    set_soft(permit, (int64_t)(atomic_load(&permit->cursor) & ~FIRN__OPEN));
}

static int publish(firn_gen *gen, uint32_t k, firn__permit *permit, firn_error *error) {
    int64_t start = 0;
    int code = gen->start != FIRN_START_ZERO && ((uint64_t)permit->first & firn__mask(gen->s)) == 0
                   ? firn__gen_start(gen, &start, error) /* the permit opens a new tick */
                   : FIRN_OK;
    if (code == FIRN_OK) {
        set_soft(permit, permit->first + start);
        atomic_store(&permit->cursor, FIRN__OPEN | (uint64_t)(permit->first + start));
        atomic_store_explicit(&gen->live->permits[k], permit, memory_order_release);
        count_one_more(&gen->live->claims);
    }
    return code;
}

/* The first tick in which another node than the own may begin: later than any that was issued
 * in. */
static uint64_t later_tick(const firn_gen *gen, uint64_t tick) {
    const firn__live *live = gen->live;
    return live->has_last && live->last_tick >= tick ? live->last_tick + 1 : tick;
}

static int layout_ended(const firn_gen *gen, firn_error *error) {
    return firn__fail(
        error, FIRN_ELAYOUT,
        "the layout of %s has ended: move to another scheme, epoch= or bits=", gen->scheme.name);
}

/* Without a store: everything from now on, as far as the row and the word reach. */
static int claim_local(firn_gen *gen, uint32_t k, uint64_t tick, firn_error *error) {
    firn__live *live = gen->live;
    uint64_t from = later_tick(gen, tick), most = (uint64_t)FIRN__NO_SLOT >> gen->s;
    if (gen->tick_end <= from) {
        return layout_ended(gen, error);
    }
    if (from > tick + gen->lead_ticks) {
        return firn__gen_exhausted(gen, error);
    }
    int code = live->unidentified ? firn__gen_identify(gen, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    live->unidentified = false;
    firn__permit *permit = new_permit(gen, &code, error);
    if (permit == NULL) {
        return code;
    }
    permit->base_tick = from;
    permit->first = 0;
    atomic_store(&permit->end,
                 slots_of(gen, gen->tick_end - from < most ? gen->tick_end - from : most));
    code = firn__gen_base(gen, 0, &permit->base, error);
    if (code == FIRN_OK) {
        code = publish(gen, k, permit, error);
    }
    if (code != FIRN_OK) {
        gen->live->spare = permit;
    }
    return code;
}

int firn__window_retire(firn_gen *gen, uint32_t k, bool give_back, firn_error *error) {
    firn__live *live = gen->live;
    firn__permit *permit = atomic_load(&live->permits[k]);
    int code = FIRN_OK;
    if (permit == NULL) {
        return FIRN_OK;
    }
    /* One atomic step closes the cursor and tells where issuing stopped. */
    uint64_t cursor = FIRN_BUG == FIRN_BUG_CURSOR ? atomic_load(&permit->cursor)
                                                  : atomic_fetch_and(&permit->cursor, ~FIRN__OPEN);
    int64_t next = (int64_t)(cursor & ~FIRN__OPEN), end = atomic_load(&permit->end);
    if (next > permit->first) {
        uint64_t last = permit->base_tick + ((uint64_t)(next - 1) >> gen->s);
        live->last_tick = !live->has_last || last > live->last_tick ? last : live->last_tick;
        live->has_last = true;
    }
    bool mine = permit->reserved && !permit->twice && permit->pending_grant == 0 && !permit->lost;
    /* Nothing before the last grant is given back: the network may repeat an earlier request of
     * ours, and then a give back below it would meet a mark and a grant that look like ours
     * again. No request is under way behind the back of an embedded store. */
    bool all = (permit->reserved && firn__store_embedded(gen->store)) || FIRN_BUG == FIRN_BUG_BELOW;
    int64_t back_to = next > permit->granted || all ? next : permit->granted;
    if (give_back && mine && back_to < end) {
        int64_t base = slots_of(gen, permit->base_tick);
        firn_mark mark = {base + end, permit->grant};
        char key[FIRN_KEY_SIZE];
        snprintf(key, sizeof key, "%" PRIu64, permit->node);
        code = firn_store_give_back(gen->store, gen->ns, key, &mark, base + back_to, error);
        count_one_more(&live->give_backs);
    }
    if (FIRN_BUG != FIRN_BUG_CURSOR) {
        atomic_store_explicit(&live->permits[k], NULL, memory_order_release);
        free_page(permit);
    }
    return code == FIRN_EBUSY ? FIRN_OK : code; /* busy: somebody came after us */
}

void firn__window_leave(firn_gen *gen) {
    for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
        /* with a renewer of the caller's, firn_next stays away from the store: the rest is then
         * lost */
        firn__window_retire(gen, k, !gen->has_renewer, NULL);
        gen->live->has_node[k] = false;
    }
    gen->live->has_last =
        false; /* the present is before the last ID: begin at the present all the same */
    pthread_mutex_lock(&gen->live->counted.lock);
    gen->live->counted.permit = NULL;
    pthread_mutex_unlock(&gen->live->counted.lock);
    if (!gen->reserved) {
        gen->live->unidentified = true; /* the claim to come draws a new identity, or fails */
    }
}

/* ---- one request ----------------------------------------------------------------------------- */

int firn__window_grant(const firn_gen *gen, uint64_t *grant, firn_error *error) {
    firn_value drawn;
    int code = firn__entropy_bits(gen->entropy, &drawn, 63, error);
    if (code == FIRN_OK) {
        *grant = drawn.low | 1;
    }
    return code;
}

int firn__window_reserve(firn_gen *gen, firn_request *request, int64_t *first, bool *twice,
                         firn_mark *held, int tries, firn_error *error) {
    int code = FIRN_EUNKNOWN;
    bool again = *twice; /* has it gone out before? */
    for (int i = 0; i < tries && code == FIRN_EUNKNOWN && (i == 0 || !is_late(gen)); i++) {
        *twice = again;
        code = firn_store_reserve(gen->store, request, first, held, error);
        bool own = held->grant == request->grant || FIRN_BUG == FIRN_BUG_ADOPT;
        if (code == FIRN_EBUSY && own && again) {
            *first = held->high - request->count; /* the first sending did arrive */
            code = FIRN_OK;
        } else if (code == FIRN_EBUSY && held->grant == request->grant) {
            return firn__fail(error, FIRN_ECLONED,
                              "node %s was reserved by a copy of this process image: end one of "
                              "the two, and start "
                              "processes instead of cloning them",
                              request->key);
        }
        again = true;
    }
    if (code != FIRN_OK && code != FIRN_EBUSY) {
        count_one_more(&gen->live->store_errors);
    }
    return code;
}

/* ---- renewal --------------------------------------------------------------------------------- */

/* How many slots behind `end` a renewal asks for: the window then ends one length past the last
 * slot issued, or past the present, and holds what is needed. */
static int64_t renewal_count(const firn_gen *gen, const firn__permit *permit, int64_t end,
                             const firn__need *need) {
    int64_t next = (int64_t)(atomic_load(&permit->cursor) & ~FIRN__OPEN);
    int64_t cap = gen->slot_end - slots_of(gen, permit->base_tick);
    if (need->tick > permit->base_tick + ((uint64_t)next >> gen->s)) {
        next = slots_of(gen, need->tick - permit->base_tick);
    }
    int64_t new_end = next + slots_of(gen, gen->window_ticks);
    new_end = new_end < need->end ? need->end : new_end;
    return (new_end < cap ? new_end : cap) - end;
}

/* Takes in what came of a renewal. */
static int renewed(firn_gen *gen, firn__permit *permit, int64_t end, const firn__need *need,
                   const firn_request *request, bool twice, int code) {
    /* While nothing is issued the cursor stands still, and only the clock goes on. */
    int64_t next = (int64_t)(atomic_load(&permit->cursor) & ~FIRN__OPEN);
    next = next < need->end ? need->end : next;
    permit->twice = permit->twice || twice || code == FIRN_EUNKNOWN;
    permit->pending_grant = 0;
    if (code == FIRN_OK) {
        permit->grant = request->grant;
        permit->granted = end;
        atomic_store(&permit->end,
                     end + request->count); /* raised in place: granted at the old end */
        set_soft(permit, next);
        count_one_more(&gen->live->renewals);
        return code;
    }
    permit->lost = code == FIRN_EBUSY || code == FIRN_ECLONED;
    if (permit->lost) {
        return code;
    }
    if (permit->twice) { /* some sending may have arrived: the same request again, next time */
        permit->pending_grant = request->grant;
        permit->pending_count = request->count;
    }
    next = next < end ? next : end;
    int64_t soft = next + (end - next) / 4 + 1; /* try again a quarter of the rest later */
    atomic_store(&permit->soft, soft < end ? soft : end);
    return code;
}

static int renew(firn_gen *gen, firn__permit *permit, const firn__need *need, firn_error *error) {
    int64_t base = slots_of(gen, permit->base_tick), end = atomic_load(&permit->end), first;
    char key[FIRN_KEY_SIZE];
    firn_mark held = {0, 0};
    bool twice = permit->pending_grant != 0;
    firn_request request = {.ns = gen->ns,
                            .layout = gen->layout,
                            .key = key,
                            .count = permit->pending_count,
                            .earliest = base + end,
                            .latest = base + end,
                            .grant = permit->pending_grant,
                            .note = gen->note,
                            .guard = guard_of(gen, need->tick)};
    snprintf(key, sizeof key, "%" PRIu64, permit->node);
    if (!twice) {
        request.count = renewal_count(gen, permit, end, need);
        if (request.count <= 0) {
            atomic_store(&permit->soft, end);
            return need->end > end ? layout_ended(gen, error) : FIRN_OK;
        }
        int code = firn__window_grant(gen, &request.grant, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    atomic_store(&permit->soft, end); /* while this one asks, the others go on */
    /* Ahead of need one sending is enough: the same request goes out again when the next call asks,
     * and the caller waits for one time-out only, while there is something left to issue. */
    int tries = need->end <= end ? 1 : SENDINGS;
    int code = firn__window_reserve(gen, &request, &first, &twice, &held, tries, error);
    return renewed(gen, permit, end, need, &request, twice, code);
}

/* ---- claim ----------------------------------------------------------------------------------- */

struct used {
    uint64_t node;
    int64_t high;
};

/* The nodes of the namespace that have been used, as far as they match what is pinned. */
typedef struct listing {
    const firn_gen *gen;
    struct used *used;
    size_t count, size;
    bool history; /* the common history node is among them */
    bool read;
    firn_error *error;
} listing;

static int see_holding(void *context, const firn_holding *holding) {
    listing *list = context;
    const firn_gen *gen = list->gen;
    firn_value node;
    if (list->count % 256 == 255 && is_late(gen)) {
        return too_slow(gen, list->error);
    }
    if (!firn__value_parse(&node, holding->key) || list->count == LISTED_MAX) {
        return FIRN_OK; /* no node, or more than is worth looking at */
    }
    list->history = list->history || holding->mark.high == gen->mark_end + 1;
    if ((node.low & gen->pin_mask) != gen->pinned) {
        return FIRN_OK;
    }
    if (list->count == list->size) {
        size_t size = list->size == 0 ? 64 : list->size * 2;
        struct used *used = realloc(list->used, size * sizeof *used);
        if (used == NULL) {
            return firn__fail(list->error, FIRN_EMEMORY, "out of memory for a list of nodes");
        }
        list->used = used;
        list->size = size;
    }
    list->used[list->count++] = (struct used){node.low, holding->mark.high};
    return FIRN_OK;
}

static int by_node(const void *a, const void *b) {
    uint64_t x = ((const struct used *)a)->node, y = ((const struct used *)b)->node;
    return x < y ? -1 : x > y;
}

/* A number spread over the bits of the node that are not pinned. */
static uint64_t with_free_bits(const firn_gen *gen, uint64_t number) {
    uint64_t node = gen->pinned;
    for (uint32_t i = 0, j = 0; i < gen->node_bits; i++) {
        if (!(gen->pin_mask >> i & 1)) {
            node |= (number >> j++ & 1) << i;
        }
    }
    return node;
}

static uint32_t free_bits(const firn_gen *gen) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < gen->node_bits; i++) {
        bits += !(gen->pin_mask >> i & 1);
    }
    return bits;
}

/* A random node that was used before and is free by `latest`; false: there is none. */
static bool pick_used(const firn_gen *gen, listing *list, int64_t latest, uint64_t *node,
                      int *failed, firn_error *error) {
    size_t fit = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->used[i].high <= latest) {
            struct used swap = list->used[fit];
            list->used[fit++] = list->used[i];
            list->used[i] = swap;
        }
    }
    uint64_t chosen;
    if (fit == 0 || (*failed = firn__entropy_below(gen->entropy, &chosen, fit, error)) != FIRN_OK) {
        return false;
    }
    *node = list->used[chosen].node;
    list->used[chosen].high = FIRN_SLOT_MAX; /* not again in this claim */
    return true;
}

/* A random node that was never used. The last such one is left to history, which has no other
 * way to a node. */
static bool pick_new(const firn_gen *gen, listing *list, uint64_t *node, int *failed,
                     firn_error *error) {
    uint32_t bits = free_bits(gen);
    uint64_t all = bits >= 63 ? UINT64_MAX : UINT64_C(1) << bits, number;
    uint64_t keep = list->history ? 0 : 1;
    if (all <= list->count + keep) {
        return false;
    }
    *failed = firn__entropy_below(gen->entropy, &number, all, error);
    if (*failed != FIRN_OK) {
        return false;
    }
    if (list->count > 1) {
        qsort(list->used, list->count, sizeof *list->used, by_node);
    }
    for (size_t i = 0; i <= list->count;
         i++) { /* one of so many numbers in a row is not in the list */
        struct used wanted = {with_free_bits(gen, (number + i) % all), 0};
        *node = wanted.node;
        if (list->count == 0 ||
            bsearch(&wanted, list->used, list->count, sizeof wanted, by_node) == NULL) {
            return true;
        }
    }
    return false;
}

/* Which node comes next in this claim: the own one, then one that was used before, then a new
 * one. Used ones first, so that never-used ones are left for history. */
static bool pick_node(firn_gen *gen, uint32_t k, listing *list, int tried, int64_t latest,
                      uint64_t *node, int *failed, firn_error *error) {
    firn__live *live = gen->live;
    if (gen->fixed) {
        *node = gen->pinned;
        return tried == 0;
    }
    if (tried == 0 && live->has_node[k]) {
        *node = live->last_node[k];
        return true;
    }
    if (!list->read) {
        list->read = true;
        *failed = firn_store_list(gen->store, gen->ns, see_holding, list, error);
    }
    if (*failed != FIRN_OK) {
        return false;
    }
    return pick_used(gen, list, latest, node, failed, error) ||
           (*failed == FIRN_OK && pick_new(gen, list, node, failed, error));
}

/* What a claim asks for. */
typedef struct claim_wish {
    uint64_t tick;  /* the present */
    int64_t offset; /* where in a new tick the sequence begins */
    int64_t count;  /* slots */
    bool online;    /* just these, and no more: the own mark may then be ahead of the clock */
} claim_wish;

/* One node asked for: the first slot in the present tick, or within the lead when it may be. The
 * own node's mark keeps its order; any other node begins in a later tick than the last ID's. */
static int ask(firn_gen *gen, uint64_t node, bool own, const claim_wish *wish, firn__permit *out,
               firn_mark *held, firn_error *error) {
    char key[FIRN_KEY_SIZE];
    uint64_t from = own ? wish->tick : later_tick(gen, wish->tick), last = from;
    int64_t first, earliest = slots_of(gen, from) + wish->offset;
    bool twice = false;
    if ((gen->fixed || (own && wish->online)) && wish->tick + gen->lead_ticks > from) {
        last = wish->tick + gen->lead_ticks;
    }
    firn_request request = {.ns = gen->ns,
                            .layout = gen->layout,
                            .key = key,
                            .count = wish->count,
                            .earliest = earliest,
                            .latest = slots_of(gen, last + 1) - 1,
                            .note = gen->note,
                            .guard = guard_of(gen, wish->tick)};
    if (wish->online) { /* all of it within the lead, not only its first */
        int64_t latest = slots_of(gen, wish->tick + gen->lead_ticks + 1) - wish->count;
        request.latest = latest < request.latest ? latest : request.latest;
    }
    if (request.latest > gen->slot_end - wish->count) {
        request.latest = gen->slot_end - wish->count;
    }
    if (request.latest < earliest) {
        return gen->slot_end - wish->count < earliest ? layout_ended(gen, error)
                                                      : firn__gen_exhausted(gen, error);
    }
    snprintf(key, sizeof key, "%" PRIu64, node);
    int code = firn__gen_base(gen, node, &out->base, error);
    if (code == FIRN_OK) {
        code = firn__window_grant(gen, &request.grant, error);
    }
    if (code == FIRN_OK) {
        code = firn__window_reserve(gen, &request, &first, &twice, held, SENDINGS, error);
    }
    if (code == FIRN_OK) {
        out->base_tick = from;
        out->node = node;
        out->first = out->granted = first - slots_of(gen, from);
        out->grant = request.grant;
        out->twice = twice;
        out->reserved = true;
        atomic_store(&out->end, out->first + wish->count);
    }
    return code;
}

static int no_node(firn_gen *gen, const firn_mark *held, uint64_t tick, firn_error *error) {
    char node[128], when[FIRN_TIME_SIZE];
    firn_time time;
    uint64_t free_tick = (uint64_t)held->high >> gen->s;
    uint64_t wait = free_tick > tick + gen->lead_ticks ? free_tick - tick - gen->lead_ticks : 0;
    gen->live->busy_ms = wait > (uint64_t)INT64_MAX / gen->scheme.tick_ns
                             ? INT64_MAX
                             : (int64_t)(wait * gen->scheme.tick_ns / 1000000);
    if (held->grant == 0 && held->high > slots_of(gen, tick + gen->lead_ticks + 1)) {
        char until[FIRN_TIME_SIZE];
        firn_scheme_time(&gen->scheme, free_tick, &time);
        return firn__fail(error, FIRN_EBUSY,
                          "nothing of %s is issued before %s: the store has changed or gone back, "
                          "or a clock was ahead: wait",
                          gen->ns,
                          firn_time_format(until, &time, firn_scheme_digits(&gen->scheme)));
    }
    if (!gen->fixed) {
        gen->live->busy_ms = 0; /* any of them may be free at any moment */
        return firn__fail(error, FIRN_EBUSY,
                          "every node of %s is in use (the last never-used one is kept for "
                          "back-dated IDs): wait, or "
                          "take a row with more node bits",
                          gen->ns);
    }
    firn__gen_node_text(node, gen, gen->pinned);
    if (held->high > gen->mark_end) {
        return firn__fail(error, FIRN_EBUSY,
                          "%s of %s issues back-dated IDs only: take another node", node, gen->ns);
    }
    firn_scheme_time(&gen->scheme, free_tick, &time);
    return firn__fail(
        error, FIRN_EBUSY,
        "%s of %s is in use up to %s: end its other holder, wait, or take another node", node,
        gen->ns, firn_time_format(when, &time, firn_scheme_digits(&gen->scheme)));
}

/* A second opinion, where the engine has a clock: with one of the two that far off, nothing is
 * claimed. */
static int check_clocks(const firn_gen *gen, firn_error *error) {
    firn_time here, there;
    if (firn_store_now(gen->store, &there, NULL) != FIRN_OK ||
        gen->clock->wall(gen->clock->self, &here) != FIRN_OK) {
        return FIRN_OK;
    }
    int64_t off_ms = firn__time_since(&here, &there) / 1000000, most = gen->keys.max_skew_ms;
    return off_ms <= most && off_ms >= -most
               ? FIRN_OK
               : firn__fail(
                     error, FIRN_ECLOCK,
                     "this clock is %" PRId64 " ms %s the store's, more than max_skew_ms=%" PRId64
                     ": mend the one that is wrong",
                     off_ms < 0 ? -off_ms : off_ms, off_ms < 0 ? "behind" : "ahead of", most);
}

/* Claims a node into `out`. FIRN_EBUSY: none is free. */
static int claim(firn_gen *gen, uint32_t k, const claim_wish *wish, firn__permit *out,
                 firn_error *error) {
    firn__live *live = gen->live;
    listing list = {.gen = gen, .error = error};
    firn_mark held = {0, 0};
    uint64_t node;
    int64_t latest = slots_of(gen, later_tick(gen, wish->tick) + 1) - 1;
    int64_t before_ms = firn__window_spent_ms(gen);
    int failed = FIRN_OK, code = check_clocks(gen, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (later_tick(gen, wish->tick) >= (uint64_t)gen->slot_end >> gen->s) {
        return layout_ended(gen, error); /* also where slots would pass 2^62 */
    }
    code = FIRN_EBUSY;
    for (int tried = 0; tried < CLAIMS && code == FIRN_EBUSY; tried++) {
        bool own = gen->fixed || (tried == 0 && live->has_node[k]);
        firn_mark before = held;
        /* A call that has waited for a node looks once more; one whose time the store took does not. */
        int64_t spent_ms = firn__window_spent_ms(gen) - before_ms;
        if (spent_ms >= most_ms(gen) || (tried > 0 && is_late(gen))) {
            failed = 2 * spent_ms >= most_ms(gen) ? too_slow(gen, error) : FIRN_OK;
            break;
        }
        if (!pick_node(gen, k, &list, tried, latest, &node, &failed, error)) {
            break;
        }
        code = ask(gen, node, own, wish, out, &held, error);
        if (code == FIRN_EBUSY && tried > 0 && held.grant == 0 && held.high == before.high) {
            break; /* two nodes stand at the same mark of nobody: it is the floor of all */
        }
    }
    free(list.used);
    if (code == FIRN_OK) {
        live->last_node[k] = out->node;
        live->has_node[k] = true;
    } else if (code == FIRN_EBUSY) {
        code = failed != FIRN_OK ? failed : no_node(gen, &held, wish->tick, error);
    }
    return code;
}

static int claim_window(firn_gen *gen, uint32_t k, uint64_t tick, int64_t n, firn_error *error) {
    claim_wish wish = {tick, 0, slots_of(gen, gen->window_ticks), false};
    uint64_t from = later_tick(gen, tick);
    if (from >= (uint64_t)gen->slot_end >> gen->s) {
        return layout_ended(gen, error);
    }
    int64_t needed = n + slots_of(gen, 2), room = gen->slot_end - slots_of(gen, from);
    if (from > tick + gen->lead_ticks) {
        return firn__gen_exhausted(gen, error);
    }
    /* n IDs must fit behind any start of the sequence, in a window that may begin late in its
     * tick */
    wish.count = wish.count < needed ? needed : wish.count;
    wish.count = wish.count < room ? wish.count : room;
    if (wish.count < 1) {
        return layout_ended(gen, error);
    }
    int code;
    firn__permit *permit = new_permit(gen, &code, error);
    if (permit == NULL) {
        return code;
    }
    code = claim(gen, k, &wish, permit, error);
    /* A node that another window of ours still holds the end of: that one would issue behind this one. */
    for (uint32_t j = 0; code == FIRN_OK && j < (uint32_t)gen->keys.nodes; j++) {
        const firn__permit *other = atomic_load(&gen->live->permits[j]);
        if (j != k && other != NULL && other->node == permit->node) {
            gen->live->has_node[j] = false;
            firn__window_retire(gen, j, false, NULL);
        }
    }
    if (code == FIRN_OK) {
        code = publish(gen, k, permit, error);
    }
    if (code != FIRN_OK) {
        gen->live->spare = permit; /* nobody has seen it */
    }
    return code;
}

int firn__window_online(firn_gen *gen, uint64_t tick, int64_t n, firn__permit *out,
                        firn_error *error) {
    firn__live *live = gen->live;
    claim_wish wish = {tick, 0, n, true};
    int code = firn__gen_start(gen, &wish.offset, error);
    if (code == FIRN_OK) {
        code = claim(gen, 0, &wish, out, error);
    }
    if (code == FIRN_OK) {
        live->last_tick = out->base_tick + ((uint64_t)(out->first + n - 1) >> gen->s);
        live->has_last = true;
        count_one_more(&live->claims);
    }
    return code;
}

/* A renewal that meets a copy of this process image tells people, and nothing of the window is
 * issued any more. */
static int renew_or_drop(firn_gen *gen, uint32_t k, firn__permit *permit, const firn__need *need,
                         firn_error *error) {
    firn_error why = {0, ""};
    int code = renew(gen, permit, need, &why);
    if (code != FIRN_OK && error != NULL) {
        *error = why;
    }
    if (code == FIRN_ECLONED) {
        firn__gen_notice(gen, "%s", why.text);
        gen->live->has_node[k] = false;
        firn__window_retire(gen, k, false, NULL);
    }
    return code;
}

int firn__window_keep(firn_gen *gen, uint32_t k, const firn__need *need, firn_error *error) {
    firn__permit *permit = atomic_load(&gen->live->permits[k]);
    if (permit != need->permit || need->steps != atomic_load(&gen->live->watch.stepped)) {
        return FIRN_OK; /* somebody was faster: what is needed is to be looked at anew */
    }
    int64_t end = permit == NULL ? 0 : atomic_load(&permit->end);
    if (permit != NULL && need->end <= end) {
        bool due = need->end > atomic_load(&permit->soft) && permit->reserved && !permit->lost;
        return due ? renew_or_drop(gen, k, permit, need, error) : FIRN_OK;
    }
    if (!gen->reserved) {
        firn__window_retire(gen, k, false, NULL);
        return claim_local(gen, k, need->tick, error);
    }
    if (permit == NULL) {
        return claim_window(gen, k, need->tick, need->n, error);
    }
    bool idle = need->tick >= permit->base_tick + ((uint64_t)end >> gen->s);
    if (!idle && !permit->lost) {
        int code = renew_or_drop(gen, k, permit, need, error);
        if (code != FIRN_EBUSY) {
            return code;
        }
    }
    if (!idle && gen->fixed) { /* lost to another holder, who is beyond our end */
        firn_mark held = {slots_of(gen, permit->base_tick) + end + 1, 0};
        return no_node(gen, &held, need->tick, error);
    }
    /* Idle past the end, or lost: a claim again, the own node first unless it was lost. */
    gen->live->has_node[k] = gen->live->has_node[k] && !permit->lost;
    firn__window_retire(gen, k, false, NULL);
    return claim_window(gen, k, need->tick, need->n, error);
}
