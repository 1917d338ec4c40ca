/* SPDX-License-Identifier: MIT */
/* A libuv loop of the RESP listener, and its queues of connections that wait. Nothing in a loop's
 * thread blocks: a connection whose command cannot be answered yet waits in a queue, and is taken up
 * again by the loop's one timer, by news of a renewer, or by a task that came back. */
#ifndef FIRN_LOOP_H
#define FIRN_LOOP_H

#include "connection.h"
#include "net/listener.h"

#include <pthread.h>

#define LOOPS_MAX 64
#define MEMO_SIZE 256

/* The last command that issued something, as bytes and as a question: when the same bytes come
 * again, from whatever client of that role, nothing is read or looked up, and a row of them is
 * answered at once. What names mean never changes, since nothing is removed from the catalog. */
typedef struct memo {
    size_t length; /* 0: none yet */
    char bytes[MEMO_SIZE];
    question asked;
} memo;

typedef struct loop {
    lane lane; /* first: connections know this one */
    uv_thread_t thread;
    uv_async_t bell; /* another thread has something for this one */
    uv_timer_t timer, sweep, accepting;
    uv_idle_t idle;
    uv_idle_cb on_idle;   /* of turns */
    uv_timer_cb on_timer; /* of what waits */
    uv_poll_t polls[LISTENERS_MAX];
    const listener *listeners[LISTENERS_MAX];
    int listener_count;
    chain turns, later, tasks, penalties, draining; /* by what connections wait for */
    crowd crowd;
    memo memo;
    question asked;    /* of the command at hand */
    resp_command said; /* likewise */
    uint64_t answered; /* commands, in the turn at hand */
    bool is_refusing;  /* accepting rests */
    bool is_ending;
    int64_t end_ms;           /* uv_now: when what is left is closed */
    _Atomic bool has_waiting; /* `later` is not empty, for resp_listener_news */
    _Atomic bool has_news;
    _Atomic int64_t beat_ms;
    pthread_mutex_t lock; /* of what follows */
    struct waiter *back;  /* tasks that are done */
    bool is_gone;         /* the bell is no more */
} loop;

/* A request that a renewer works on. Its connection may be gone when it is done. */
typedef struct waiter {
    loop *loop;
    connection *connection; /* NULL: nobody waits any more */
    sent_task *sent;        /* written before the loop looks at it again */
    question asked;
    size_t size; /* bytes of the command */
    struct waiter *next;
} waiter;

static inline loop *loop_of(const connection *it) {
    return (loop *)it->lane;
}

static inline int64_t loop_now_ms(const loop *it) {
    return (int64_t)uv_now(&it->lane.uv);
}

/* Wakes the loop from another thread. */
void loop_ring(loop *it);
/* Takes the connection out of its queue and puts it into the one of `what`. */
void loop_wait(connection *it, enum waiting what);
/* Starts or stops the timer for what waits. */
void loop_set_timer(loop *it);
/* The first connection of a queue that is not empty. */
connection *waiting_first(const chain *queue);
/* When a connection's request fails, or its token is looked at, by loop_now_ms. */
int64_t waiting_due_ms(const connection *it);
/* Has its request waited for wait_ms? */
bool waiting_is_over(const connection *it);

#endif
