/* SPDX-License-Identifier: MIT */
#include "parked.h"

#include "clients.h"
#include "config/setting.h"
#include "core/monotonic.h"
#include "errors.h"
#include "net/memory.h"
#include "net/tried.h"
#include "serve.h"

#include <stdlib.h>

#define RETRY_NS  INT64_C(1000000) /* between two attempts at requests that wait */
#define ROUND_NS  INT64_C(500000)  /* of attempts, before other requests are served */
#define LATE_MOST 8                /* requests that fail in a round: their replies take as long */

static _Atomic int64_t held_bytes; /* replies not read yet, of all threads */

bool replies_are_full(void) {
    return atomic_load_explicit(&held_bytes, memory_order_relaxed) >=
           settings_now()->replies_mib * (INT64_C(1) << 20);
}

const char *replies_full(void) {
    return replies_are_full() ? REPLIES_ARE_FULL : memory_is_full() ? CLIENTS_ARE_FULL : NULL;
}

void reply_hold(exchange *it, size_t size) {
    it->held += size;
    atomic_fetch_add_explicit(&held_bytes, (int64_t)size, memory_order_relaxed);
    memory_hold((int64_t)size);
}

void reply_unhold(exchange *it, size_t size) {
    it->held -= size;
    atomic_fetch_sub_explicit(&held_bytes, (int64_t)size, memory_order_relaxed);
    memory_hold(-(int64_t)size);
}

void park(exchange *it, enum stage stage, int64_t wake_ns) {
    it->stage = stage;
    it->wake_ns = wake_ns;
    it->is_parked = true;
    list_add(stage == STAGE_LATER  ? &it->loop->later
             : stage == STAGE_TASK ? &it->loop->tasks
                                   : &it->loop->parked,
             &it->place);
    MHD_suspend_connection(it->connection);
}

void unpark(exchange *it) {
    list_remove(&it->place);
    it->is_parked = false;
}

void exchange_is_back(waiter *one) {
    MHD_resume_connection(((exchange *)one->client)->connection); /* wakes the loop */
}

/* A failure is reported when it is resumed: a suspended connection takes no reply. */
void park_for_task(exchange *it) {
    waiter *one = calloc(1, sizeof *one);
    park(it, STAGE_TASK, it->until_ns);
    if (one == NULL) {
        quota_settle(&it->charge, 0);
        out_of_memory(&it->error);
        MHD_resume_connection(it->connection);
        return;
    }
    *one = (waiter){.owner = &it->loop->owner, .client = it, .fd = it->client->fd};
    it->waiter = one; /* before it may come back */
    int code = waiter_send(one, &it->request, &it->charge, &it->pass, client_address(it),
                           it->until_ns / 1000000, &it->error);
    if (code != FIRN_OK) {
        it->waiter = NULL;
        waiter_free(one);
        MHD_resume_connection(it->connection);
    }
}

bool park_give_up(exchange *it) {
    bool gone = it->waiter == NULL || waiter_give_up(it->waiter);
    it->waiter = gone ? NULL : it->waiter;
    return gone;
}

static void resume(exchange *it) {
    unpark(it);
    MHD_resume_connection(it->connection);
}

/* The oldest first, and only those that may succeed. Thousands may come to their end at once: they
 * fail a few in each round, so that others are served in between. */
static void wake_later(http_loop *loop, int64_t now, bool all) {
    tried failed = {0};
    list_link *next;
    int late = 0;
    bool is_due = all || now - loop->retried_ns >= RETRY_NS;
    if (!is_due && !loop->has_late) {
        return;
    }
    loop->retried_ns = is_due ? now : loop->retried_ns;
    loop->has_late = false;
    for (list_link *at = loop->later.next; at != &loop->later; at = next) {
        exchange *it = list_entry(at, exchange, place);
        const void *from = tried_source(&it->request);
        next = at->next;
        if (all || (it->until_ns <= now && late < LATE_MOST)) {
            late++;
            resume(it);
        } else if (it->until_ns <= now) {
            loop->has_late = true;
            if (!is_due) {
                break;
            }
        } else if (!is_due) {
            break;
        } else if (tried_may_pass(&failed, from, it->request.count)) {
            if (monotonic_ns() - now > ROUND_NS) {
                break;
            }
            if (serve_retry(it)) {
                resume(it);
            } else {
                tried_note(&failed, from, it->request.count);
            }
        }
    }
}

/* Exchanges that waited longest are first. */
static void wake_late_tasks(http_loop *loop, int64_t now, bool all) {
    list_link *next;
    for (list_link *at = loop->tasks.next; at != &loop->tasks; at = next) {
        exchange *it = list_entry(at, exchange, place);
        next = at->next;
        if (!all && it->wake_ns > now) {
            break;
        }
        if (!park_give_up(it)) {
            continue; /* the exchange is coming back now */
        }
        if (it->error.code == FIRN_OK) {
            request_is_late(&it->error);
        }
        resume(it);
    }
}

void wake_parked(http_loop *loop, int64_t now, bool all) {
    for (list_link *at = loop->parked.next, *next; at != &loop->parked; at = next) {
        exchange *it = list_entry(at, exchange, place);
        next = at->next;
        it->until_ns = all ? 1 : it->until_ns;
        if (all || it->wake_ns <= now) {
            resume(it);
        }
    }
    wake_later(loop, now, all);
    wake_late_tasks(loop, now, all);
}
