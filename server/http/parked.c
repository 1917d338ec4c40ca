/* SPDX-License-Identifier: MIT */
#include "parked.h"

#include "clients.h"
#include "config/setting.h"
#include "errors.h"

#include <stdlib.h>

static _Atomic int64_t held_bytes; /* replies not read yet, of all threads */

bool replies_are_full(void) {
    return atomic_load_explicit(&held_bytes, memory_order_relaxed) >=
           settings_now()->replies_mib * (INT64_C(1) << 20);
}

void reply_hold(exchange *it, size_t size) {
    it->held += size;
    atomic_fetch_add_explicit(&held_bytes, (int64_t)size, memory_order_relaxed);
}

void reply_unhold(exchange *it, size_t size) {
    it->held -= size;
    atomic_fetch_sub_explicit(&held_bytes, (int64_t)size, memory_order_relaxed);
}

void reply_release(const exchange *it) {
    atomic_fetch_sub_explicit(&held_bytes, (int64_t)it->held, memory_order_seq_cst);
}

void park(exchange *it, enum stage stage, int64_t wake_ns) {
    it->stage = stage;
    it->wake_ns = wake_ns;
    it->is_parked = true;
    list_add(&it->loop->parked, &it->place);
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

void wake_parked(http_loop *loop, int64_t now, bool all) {
    for (list_link *at = loop->parked.next, *next; at != &loop->parked; at = next) {
        exchange *it = list_entry(at, exchange, place);
        next = at->next;
        if (all) {
            it->until_ns = 1;
        } else if (it->wake_ns > now) {
            continue;
        }
        if (it->stage == STAGE_TASK && !park_give_up(it)) {
            continue; /* it is coming back now */
        }
        unpark(it);
        if (it->stage == STAGE_TASK && it->error.code == FIRN_OK) {
            request_is_late(&it->error);
        }
        MHD_resume_connection(it->connection);
    }
}
