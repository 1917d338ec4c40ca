/* SPDX-License-Identifier: MIT */
/* A client's request that waits for a renewer, for both listeners: the client, its thread, the time
 * limit and the charge to the quotas. Nobody runs work that nobody needs: a waiter whose client
 * leaves, or whose time is over, takes its task back. */
#ifndef FIRN_WAITER_H
#define FIRN_WAITER_H

#include "core/answer.h"
#include "quota.h"

#include <pthread.h>

typedef struct server_waiter server_waiter;

/* A thread of a listener. */
typedef struct waiter_owner {
    pthread_mutex_t lock;
    void (*wake)(server_waiter *waiter); /* any thread, under the lock: it is back; must not wait */
    const char *(*full)(void); /* any thread: why many IDs are refused; NULL: they are not */
} waiter_owner;

/* A listener may put it at the start of a larger struct, and allocates it. */
struct server_waiter {
    waiter_owner *owner;
    void *client; /* the connection or exchange; NULL: it waits no longer. Under the owner's lock */
    int fd;       /* the client's socket, as long as it has a client */
    bool is_back; /* the task is done. Under the owner's lock */
    sent_task *task;
    int64_t held; /* bytes that it has brought back */
    quota_charge charge;
};

/* Sends the request, and takes its charge over: `owner`, `client` and `fd` are set. It must not
 * begin after `until_ms` (CLOCK_MONOTONIC). On failure waiter_free is next. Codes as
 * request_send. */
int waiter_send(server_waiter *waiter, const server_request *request, quota_charge *charge,
                const access_pass *pass, address_key address, int64_t until_ms, firn_error *error);
/* The owner's thread: nobody waits any longer. True: it is gone. False: it is back already. */
bool waiter_give_up(server_waiter *waiter);
/* The task is back: codes as request_finish. A charge for nothing is given back at once. */
int waiter_finish(server_waiter *waiter, server_reply *out, firn_error *error);
/* Gives back what was charged for a request that issued nothing. */
void waiter_free(server_waiter *waiter);

#endif
