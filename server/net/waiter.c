/* SPDX-License-Identifier: MIT */
#include "waiter.h"

#include "memory.h"

#include <poll.h>
#include <stdlib.h>

void waiter_free(server_waiter *waiter) {
    quota_settle(&waiter->charge, sent_issued(waiter->task) ? waiter->charge.ids : 0);
    memory_hold(-waiter->held);
    sent_free(waiter->task);
    free(waiter);
}

static void on_finished(void *self) {
    server_waiter *waiter = self;
    waiter_owner *owner = waiter->owner;
    waiter->held = (int64_t)sent_size(waiter->task);
    memory_hold(waiter->held);
    pthread_mutex_lock(&owner->lock);
    bool waits = waiter->client != NULL;
    waiter->is_back = true;
    if (waits) {
        owner->wake(waiter); /* the owner's thread may free it once the lock is released */
    }
    pthread_mutex_unlock(&owner->lock);
    if (!waits) {
        waiter_free(waiter);
    }
}

/* A client that has ended its side may still read the reply, or may have closed the connection: the
 * kernel does not say which. */
static enum task_need need_of(void *self) {
    server_waiter *waiter = self;
    struct pollfd socket = {waiter->fd, POLLRDHUP, 0};
    pthread_mutex_lock(&waiter->owner->lock);
    bool waits = waiter->client != NULL;
    if (waits && poll(&socket, 1, 0) < 0) {
        socket.revents = 0;
    }
    pthread_mutex_unlock(&waiter->owner->lock);
    return !waits || (socket.revents & (POLLERR | POLLHUP)) != 0 ? NEED_IS_OVER
           : (socket.revents & POLLRDHUP) != 0                   ? NEED_FADES
                                                                 : NEED_STAYS;
}

/* The connections of one token, or without a token of one address, share a turn. */
static uint64_t share_of(const access_pass *pass, address_key client) {
    return pass->account != NULL ? (uint64_t)(uintptr_t)pass->account
                                 : client.high + 3 * client.low;
}

int waiter_send(server_waiter *waiter, const server_request *request, quota_charge *charge,
                const access_pass *pass, address_key address, int64_t until_ms, firn_error *error) {
    const task_client client = {.self = waiter,
                                .finished = on_finished,
                                .need = need_of,
                                .share = share_of(pass, address),
                                .until_ms = until_ms,
                                .full = waiter->owner->full};
    waiter->charge = *charge;
    *charge = (quota_charge){0};
    return request_send(request, &client, &waiter->task, error);
}

int waiter_finish(server_waiter *waiter, server_reply *out, firn_error *error) {
    int code = request_finish(waiter->task, out, error);
    if (code != FIRN_OK) {
        quota_settle(&waiter->charge, (int64_t)out->count);
    }
    return code;
}

bool waiter_give_up(server_waiter *waiter) {
    if (request_take_back(waiter->task)) {
        waiter_free(waiter);
        return true;
    }
    pthread_mutex_lock(&waiter->owner->lock);
    bool back = waiter->is_back;
    if (!back) {
        waiter->client = NULL; /* the thread that finishes it frees it */
    }
    pthread_mutex_unlock(&waiter->owner->lock);
    return !back;
}
