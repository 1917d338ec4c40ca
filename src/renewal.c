/* SPDX-License-Identifier: MIT */
/* The renewer: keeps the end of each window ahead of its cursor, by a renewal or by a new claim.
 * Called with the renewal lock held, in a thread of the caller's. */
#include "error.h"
#include "gen.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* How many slots after `end` a renewal requests: the window then ends one length past the last slot
 * issued, or past the present, and contains the needed slots. */
static int64_t renewal_count(const firn_gen *gen, const firn__window *window, int64_t end,
                             const firn__need *need) {
    int64_t next = (int64_t)firn__next_of(window);
    int64_t cap = gen->slot_end - firn__slots_of(gen, window->base_tick);
    if (need->tick > window->base_tick + ((uint64_t)next >> gen->s)) {
        next = firn__slots_of(gen, need->tick - window->base_tick);
    }
    int64_t new_end = next + firn__slots_of(gen, gen->window_ticks);
    new_end = new_end < need->end ? need->end : new_end;
    return (new_end < cap ? new_end : cap) - end;
}

/* Writes the result of a renewal to the window. */
static int renewed(firn_gen *gen, firn__window *window, int64_t end, const firn__need *need,
                   const firn_request *request, bool twice, int code) {
    /* While nothing is issued the cursor does not move; only the clock does. */
    int64_t next = (int64_t)firn__next_of(window);
    next = next < need->end ? need->end : next;
    window->twice = window->twice || twice || code == FIRN_EUNKNOWN;
    if (code != FIRN_OK) {
        window->pending_grant = 0;
    } else {
        assert(request->count > 0); /* the end never falls */
        window->grant = request->grant;
        atomic_store_explicit(&window->end, end + request->count,
                              memory_order_release); /* raised in place: granted at the old end */
        /* Last: a process that is killed before leaves a request to be sent again. */
        window->pending_grant = 0;
        firn__window_set_soft(gen, window, next);
        firn__count(&gen->live->any.renewals);
        return code;
    }
    window->lost = code == FIRN_EBUSY || code == FIRN_ECLONED;
    if (window->lost) {
        return code;
    }
    if (window->twice) { /* a try may have arrived: the same request again, next time */
        window->pending_grant = request->grant;
        window->pending_count = request->count;
    }
    next = next < end ? next : end;
    /* Try again a quarter of the rest later. */
    int64_t soft = next + firn__window_wait(gen, (end - next) / 4) + 1;
    atomic_store_explicit(&window->soft, soft < end ? soft : end, memory_order_release);
    return code;
}

static int renew(firn_gen *gen, firn__window *window, const firn__need *need, bool *refused,
                 firn_error *error) {
    int64_t base = firn__slots_of(gen, window->base_tick), end = firn__end_of(window), first;
    char key[FIRN_KEY_SIZE];
    firn__attempts sending = {.sent = window->pending_grant != 0};
    bool again = sending.sent;
    int code = FIRN_OK;
    firn_request request = {.ns = gen->ns,
                            .key = key,
                            .count = window->pending_count,
                            .earliest = base + end,
                            .latest = base + end,
                            .grant = window->pending_grant,
                            .note = gen->kept.note,
                            .own = {base + end, window->grant}};
    snprintf(key, sizeof key, "%" PRIu64, window->node);
    if (!again) {
        request.count = renewal_count(gen, window, end, need);
        if (request.count <= 0) {
            atomic_store_explicit(&window->soft, end, memory_order_release);
            return need->end > end ? firn__gen_ended(gen, error) : FIRN_OK;
        }
        code = firn__reserve_grant(gen->entropy, &request.grant, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    code = firn__reach_look(gen, error);
    if (code == FIRN_OK && !again) {
        code = firn__reach_limit(gen, request.earliest, request.count, &request.latest, error);
    }
    if (code == FIRN_OK) {
        code = firn__reach_guard(gen, &request, error);
    }
    if (code != FIRN_OK) {
        return renewed(gen, window, end, need, &request, false, code);
    }
    /* A later process sends it again if this one is killed. */
    window->pending_count = request.count;
    window->pending_grant = request.grant;
    atomic_store_explicit(&window->soft, end, memory_order_release); /* the others continue */
    /* Ahead of need one sending is enough: the same request goes out again when the next call asks,
     * and the caller waits for one time-out only, while there is something left to issue. */
    sending.tries = need->end <= end ? 1 : FIRN__SENDINGS;
    code = firn__claimable_reserve(gen, window->node, &request, &sending, &first, error);
    assert(code != FIRN_OK || first == base + end);
    /* A lower mark than this window's: a copy of the process gave it back, and others may have it. */
    const bool given_back = sending.held.high < request.earliest && !gen->fixed;
    *refused = code == FIRN_EBUSY && (sending.held.high == FIRN_SLOT_MAX || given_back);
    return renewed(gen, window, end, need, &request, sending.twice, code);
}

/* A renewal that meets a copy of this process image, or a store that no longer grants the node,
 * tells people, and nothing of the window is issued any more. */
static int renew_or_drop(firn_gen *gen, uint32_t k, firn__window *window, const firn__need *need,
                         firn_error *error) {
    firn_error why = {0};
    bool refused = false;
    int code = renew(gen, window, need, &refused, &why);
    if (code != FIRN_OK && error != NULL) {
        *error = why;
    }
    if (code == FIRN_ECLONED || refused) {
        firn__gen_notice(gen, "%s", why.text);
        gen->past->has_node[k] = false;
        firn__window_retire(gen, k, false, NULL);
    }
    return code;
}

static bool has_stepped(const firn_gen *gen, uint64_t steps) {
    return steps != atomic_load_explicit(&gen->live->watch.stepped, memory_order_acquire);
}

static int keep(firn_gen *gen, uint32_t k, const firn__need *need, firn_error *error) {
    firn__window *window = firn__window_of(gen, k);
    if (window != need->window || has_stepped(gen, need->steps)) {
        return FIRN_OK; /* another process was faster: check the need again */
    }
    bool shut = window != NULL && firn__window_is_shut(window);
    if (shut && firn__is_renewed(gen)) {
        return FIRN_OK; /* the caller's next round leaves the node */
    }
    /* A window that firn__gen_renew met just after its claim is shut, and nobody else leaves it. */
    int64_t end = window == NULL || shut ? 0 : firn__end_of(window);
    if (window != NULL && !shut && need->end <= end) {
        bool due = need->end > firn__soft_of(window) && window->reserved && !window->lost;
        return due ? renew_or_drop(gen, k, window, need, error) : FIRN_OK;
    }
    if (!firn__reserves(gen)) {
        firn__window_retire(gen, k, false, NULL);
        return firn__claim_local(gen, k, need->tick, error);
    }
    if (window == NULL) {
        return firn__claim_window(gen, k, need->tick, need->n, error);
    }
    /* After a loss the mark may be lower than slots of the window's last tick, which were issued. */
    const uint64_t last_slots = window->lost ? (UINT64_C(1) << gen->s) - 1 : 0;
    bool idle = shut || need->tick >= window->base_tick + (((uint64_t)end + last_slots) >> gen->s);
    if (!idle && !window->lost) {
        int code = renew_or_drop(gen, k, window, need, error);
        if (code != FIRN_EBUSY) {
            return code;
        }
        if (firn__window_of(gen, k) == NULL) { /* dropped */
            return firn__claim_window(gen, k, need->tick, need->n, error);
        }
    }
    if (!idle && gen->fixed) { /* lost to another holder */
        firn_mark held = {firn__slots_of(gen, window->base_tick) + end + 1, 0};
        return firn__claim_busy(gen, &held, false, need->tick, error);
    }
    /* Idle past the end, lost or shut: a claim again, the own node first if it was only idle. */
    gen->past->has_node[k] = gen->past->has_node[k] && !window->lost && !shut;
    firn__window_retire(gen, k, false, NULL);
    return firn__claim_window(gen, k, need->tick, need->n, error);
}

bool firn__window_is_void(firn_gen *gen, uint64_t steps, int code) {
    uint64_t unused;
    return code == FIRN_ECLOCK && firn__gen_now(gen, &unused, NULL) == FIRN_OK &&
           has_stepped(gen, steps);
}

int firn__window_keep(firn_gen *gen, uint32_t k, const firn__need *need, firn_error *error) {
    int code = keep(gen, k, need, error);
    return firn__window_is_void(gen, need->steps, code) ? FIRN_OK : code;
}
