/* SPDX-License-Identifier: MIT */
#include "parked.h"

#include "clients.h"
#include "core/monotonic.h"
#include "errors.h"
#include "net/failed_round.h"
#include "net/memory.h"
#include "serve.h"
#include "settings/setting.h"

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

void reply_hold(http_exchange *exchange, size_t size) {
    exchange->held += size;
    atomic_fetch_add_explicit(&held_bytes, (int64_t)size, memory_order_relaxed);
    memory_hold((int64_t)size);
}

void reply_unhold(http_exchange *exchange, size_t size) {
    exchange->held -= size;
    atomic_fetch_sub_explicit(&held_bytes, (int64_t)size, memory_order_relaxed);
    memory_hold(-(int64_t)size);
}

void park(http_exchange *exchange, enum stage stage, int64_t wake_ns) {
    exchange->stage = stage;
    exchange->wake_ns = wake_ns;
    exchange->is_parked = true;
    list_add(stage == STAGE_LATER  ? &exchange->loop->later
             : stage == STAGE_TASK ? &exchange->loop->tasks
                                   : &exchange->loop->parked,
             &exchange->place);
    MHD_suspend_connection(exchange->connection);
}

void unpark(http_exchange *exchange) {
    list_remove(&exchange->place);
    exchange->is_parked = false;
}

void exchange_is_back(server_waiter *waiter) {
    MHD_resume_connection(((http_exchange *)waiter->client)->connection); /* wakes the loop */
}

/* A failure is reported when it is resumed: a suspended connection takes no reply. */
void park_for_task(http_exchange *exchange) {
    server_waiter *waiter = calloc(1, sizeof *waiter);
    park(exchange, STAGE_TASK, exchange->until_ns);
    if (waiter == NULL) {
        quota_settle(&exchange->charge, 0);
        out_of_memory(&exchange->error);
        MHD_resume_connection(exchange->connection);
        return;
    }
    *waiter = (server_waiter){
        .owner = &exchange->loop->owner, .client = exchange, .fd = exchange->client->fd};
    exchange->waiter = waiter; /* before it may come back */
    int code =
        waiter_send(waiter, &exchange->request, &exchange->charge, &exchange->pass,
                    client_address(exchange), exchange->until_ns / 1000000, &exchange->error);
    if (code != FIRN_OK) {
        exchange->waiter = NULL;
        waiter_free(waiter);
        MHD_resume_connection(exchange->connection);
    }
}

bool park_give_up(http_exchange *exchange) {
    bool gone = exchange->waiter == NULL || waiter_give_up(exchange->waiter);
    exchange->waiter = gone ? NULL : exchange->waiter;
    return gone;
}

static void resume(http_exchange *exchange) {
    unpark(exchange);
    MHD_resume_connection(exchange->connection);
}

/* The oldest first, and only those that may succeed. Thousands may come to their end at once: they
 * fail a few in each round, so that others are served in between. */
static void wake_later(http_loop *loop, int64_t now, bool all) {
    failed_round failed = {0};
    list_link *next;
    int late = 0;
    bool is_due = all || now - loop->retried_ns >= RETRY_NS;
    if (!is_due && !loop->has_late) {
        return;
    }
    loop->retried_ns = is_due ? now : loop->retried_ns;
    loop->has_late = false;
    for (list_link *link = loop->later.next; link != &loop->later; link = next) {
        http_exchange *exchange = list_entry(link, http_exchange, place);
        const void *source = tried_source(&exchange->request);
        next = link->next;
        if (all || (exchange->until_ns <= now && late < LATE_MOST)) {
            late++;
            resume(exchange);
        } else if (exchange->until_ns <= now) {
            loop->has_late = true;
            if (!is_due) {
                break;
            }
        } else if (!is_due) {
            break;
        } else if (tried_may_pass(&failed, source, exchange->request.count)) {
            if (monotonic_ns() - now > ROUND_NS) {
                break;
            }
            if (serve_retry(exchange)) {
                resume(exchange);
            } else {
                tried_note(&failed, source, exchange->request.count);
            }
        }
    }
}

/* Exchanges that waited longest are first. */
static void wake_late_tasks(http_loop *loop, int64_t now, bool all) {
    list_link *next;
    for (list_link *link = loop->tasks.next; link != &loop->tasks; link = next) {
        http_exchange *exchange = list_entry(link, http_exchange, place);
        next = link->next;
        if (!all && exchange->wake_ns > now) {
            break;
        }
        if (!park_give_up(exchange)) {
            continue; /* the exchange is coming back now */
        }
        if (exchange->error.code == FIRN_OK) {
            request_is_late(&exchange->error);
        }
        resume(exchange);
    }
}

void wake_parked(http_loop *loop, int64_t now, bool all) {
    for (list_link *link = loop->parked.next, *next; link != &loop->parked; link = next) {
        http_exchange *exchange = list_entry(link, http_exchange, place);
        next = link->next;
        exchange->until_ns = all ? 1 : exchange->until_ns;
        if (all || exchange->wake_ns <= now) {
            resume(exchange);
        }
    }
    wake_later(loop, now, all);
    wake_late_tasks(loop, now, all);
}
