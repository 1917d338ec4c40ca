/* SPDX-License-Identifier: MIT */
#include "parked.h"

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

void ticket_free(ticket *one) {
    quota_settle(&one->charge, sent_issued(one->sent) ? one->charge.ids : 0);
    sent_free(one->sent);
    free(one);
}

static void task_is_back(void *self) {
    ticket *it = self;
    http_loop *loop = it->loop;
    pthread_mutex_lock(&loop->lock);
    bool given_up = it->given_up;
    it->back = true;
    if (!given_up) {
        MHD_resume_connection(it->connection); /* wakes the loop */
    }
    pthread_mutex_unlock(&loop->lock);
    if (given_up) {
        ticket_free(it);
    }
}

/* The lock: the task must not come back before `ticket` is set. */
void park_for_task(exchange *it) {
    http_loop *loop = it->loop;
    ticket *one = calloc(1, sizeof *one);
    if (one == NULL) {
        out_of_memory(&it->error);
        quota_settle(&it->charge, 0);
        park(it, STAGE_TASK, 0);
        return;
    }
    *one = (ticket){.loop = loop, .connection = it->connection, .charge = it->charge};
    pthread_mutex_lock(&loop->lock);
    park(it, STAGE_TASK, it->until_ns);
    int code = request_send(&it->request, task_is_back, one, &one->sent, &it->error);
    it->ticket = code == FIRN_OK ? one : NULL;
    it->charge = (quota_charge){0}; /* the ticket's now */
    if (code != FIRN_OK) { /* reported when resumed: a suspended connection takes no reply */
        MHD_resume_connection(it->connection);
    }
    pthread_mutex_unlock(&loop->lock);
    if (code != FIRN_OK) {
        ticket_free(one);
    }
}

bool park_give_up(exchange *it) {
    ticket *one = it->ticket;
    pthread_mutex_lock(&it->loop->lock);
    bool back = one != NULL && one->back;
    if (one != NULL && !back) {
        one->given_up = true; /* the renewer's thread frees it */
        it->ticket = NULL;
    }
    pthread_mutex_unlock(&it->loop->lock);
    return !back;
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
