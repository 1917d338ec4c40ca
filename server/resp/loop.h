/* SPDX-License-Identifier: MIT */
/* A libuv loop of the RESP listener and its queues of waiting connections. A loop never blocks: a
 * connection whose command cannot be answered yet waits in a queue until the timer, news of a
 * renewer, or a finished task resumes it. */
#ifndef FIRN_LOOP_H
#define FIRN_LOOP_H

#include "connection.h"
#include "net/listener.h"
#include "net/waiter.h"

#include <pthread.h>

#define LOOPS_MAX 64
#define MEMO_SIZE 256

/* The last issuing command, as bytes and as a question: if a client of the same role sends the same
 * bytes, nothing is parsed or looked up, and consecutive ones are answered together. Names never
 * change their meaning, because the catalog only grows. */
typedef struct command_memo {
    size_t length;                       /* 0: empty */
    const struct server_settings *under; /* checked with these, which a reload replaces */
    char bytes[MEMO_SIZE];
    client_question question;
} command_memo;

typedef struct resp_loop {
    resp_lane lane; /* first: connections point to it */
    uv_thread_t thread;
    uv_async_t bell; /* woken by other threads */
    uv_timer_t timer, sweep, accepting;
    uv_idle_t idle;
    uv_idle_cb on_idle;   /* for turns */
    uv_timer_cb on_timer; /* for waiting connections */
    uv_poll_t polls[LISTENERS_MAX];
    server_listener *listeners[LISTENERS_MAX];
    int listener_count;
    list_link turns, later, tasks, penalties, draining; /* connections by `wait` */
    unauthenticated_list unauthenticated;
    command_memo memo;
    client_question question; /* of the current command */
    resp_command command;     /* likewise */
    uint64_t answered;        /* commands in the current turn */
    uint64_t timed;           /* commands that waited, timed from their arrival */
    bool is_refusing;         /* accepting is paused */
    bool is_ending;
    int64_t ending_ms;        /* uv_now when it began to end */
    int64_t end_ms;           /* uv_now when the remaining ones are closed */
    _Atomic bool has_waiting; /* `later` is not empty; for resp_listener_news */
    _Atomic bool has_news;
    _Atomic int64_t beat_ms;
    waiter_owner owner;                      /* its lock is for the following */
    struct command_waiter *back, **back_end; /* in the order in which they came back */
    bool is_gone;                            /* the bell is closed */
} resp_loop;

/* A command that waits for a renewer. */
typedef struct command_waiter {
    server_waiter waiter; /* first; its client is the connection */
    client_question question;
    size_t size; /* of the command */
    struct command_waiter *next;
} command_waiter;

static inline resp_loop *loop_of(const resp_connection *connection) {
    return (resp_loop *)connection->lane;
}

static inline int64_t loop_now_ms(const resp_loop *loop) {
    return (int64_t)uv_now(&loop->lane.uv);
}

/* Wakes the loop from another thread. */
void loop_ring(resp_loop *loop);
/* Moves the connection to the queue of `what`. */
void loop_wait(resp_connection *connection, enum waiting what);
/* Starts or stops the timer for waiting connections. */
void loop_set_timer(resp_loop *loop);
/* The queue must not be empty. */
resp_connection *waiting_first(const list_link *queue);
/* When its request fails, or its token is checked, by loop_now_ms. */
int64_t waiting_due_ms(const resp_connection *connection);
/* Has it waited for wait_ms? */
bool waiting_is_over(const resp_connection *connection);

#endif
