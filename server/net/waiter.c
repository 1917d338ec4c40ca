/* SPDX-License-Identifier: MIT */
#include "waiter.h"

#include "memory.h"

#include <poll.h>
#include <stdlib.h>

void waiter_free(waiter *one) {
    quota_settle(&one->charge, sent_issued(one->sent) ? one->charge.ids : 0);
    memory_hold(-one->held);
    sent_free(one->sent);
    free(one);
}

static void on_finished(void *self) {
    waiter *one = self;
    waiter_owner *owner = one->owner;
    one->held = (int64_t)sent_size(one->sent);
    memory_hold(one->held);
    pthread_mutex_lock(&owner->lock);
    bool waits = one->client != NULL;
    one->is_back = true;
    if (waits) {
        owner->wake(one); /* the owner's thread may free it once the lock is released */
    }
    pthread_mutex_unlock(&owner->lock);
    if (!waits) {
        waiter_free(one);
    }
}

/* A client that has ended its side may still read the reply, or may have closed the connection: the
 * kernel does not say which. */
static enum wish wish_of(void *self) {
    waiter *one = self;
    struct pollfd socket = {one->fd, POLLRDHUP, 0};
    pthread_mutex_lock(&one->owner->lock);
    bool waits = one->client != NULL;
    if (waits && poll(&socket, 1, 0) < 0) {
        socket.revents = 0;
    }
    pthread_mutex_unlock(&one->owner->lock);
    return !waits || (socket.revents & (POLLERR | POLLHUP)) != 0 ? WISH_IS_OVER
           : (socket.revents & POLLRDHUP) != 0                   ? WISH_FADES
                                                                 : WISH_STAYS;
}

/* The connections of one token, or without a token of one address, share a turn. */
static uint64_t share_of(const access_pass *pass, address_key from) {
    return pass->account != NULL ? (uint64_t)(uintptr_t)pass->account : from.high + 3 * from.low;
}

int waiter_send(waiter *one, const request *asked, quota_charge *charge, const access_pass *pass,
                address_key from, int64_t until_ms, firn_error *error) {
    const task_client client = {.self = one,
                                .finished = on_finished,
                                .wish = wish_of,
                                .share = share_of(pass, from),
                                .until_ms = until_ms,
                                .full = one->owner->full};
    one->charge = *charge;
    *charge = (quota_charge){0};
    return request_send(asked, &client, &one->sent, error);
}

int waiter_finish(waiter *one, reply *out, firn_error *error) {
    int code = request_finish(one->sent, out, error);
    if (code != FIRN_OK) {
        quota_settle(&one->charge, 0);
    }
    return code;
}

bool waiter_give_up(waiter *one) {
    if (request_take_back(one->sent)) {
        waiter_free(one);
        return true;
    }
    pthread_mutex_lock(&one->owner->lock);
    bool back = one->is_back;
    if (!back) {
        one->client = NULL; /* the thread that finishes it frees it */
    }
    pthread_mutex_unlock(&one->owner->lock);
    return !back;
}
