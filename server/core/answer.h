/* SPDX-License-Identifier: MIT */
/* Answers requests. A listener parses bytes into a request and writes the reply in its protocol;
 * this is between them:
 *
 *     request_read     finds generators and segments, checks values
 *     request_answer   FIRN_OK and a reply, REQUEST_LATER, REQUEST_TASK, or a FIRN_E code
 *     request_send     gives a task to the renewer of the store
 *     request_finish   the reply of a finished task
 *
 * Nothing here waits, and each worker is used by one thread. This file counts IDs and integers
 * (meter.ids); listeners count requests, refusals and latencies. */
#ifndef FIRN_ANSWER_H
#define FIRN_ANSWER_H

#include "request.h"

/* Step 1. FIRN_EUSAGE names what is unknown and the nearest name; FIRN_ERANGE; FIRN_ETEXT. */
int request_read(server_request *request, firn_error *error);
/* Step 2: answers up to `times` equal requests (1 unless NEW or NEXT of one ID each) with one reply
 * of 1 to `times` IDs or integers (`count`, `increment` apart). REQUEST_LATER: the window or the
 * lead is used up; call again after 1 ms or when renewers have news, for up to wait_ms, then fail
 * with *error. REQUEST_TASK: call request_send. */
int request_answer(server_request *request, size_t times, server_reply *out, firn_error *error);

/* FIRN_ESTORE: its task was not done within wait_ms. */
int request_is_late(firn_error *error);
/* Can the reply exceed a few KiB? A listener whose unread replies reach replies_mib refuses it. */
bool request_is_large(const server_request *request);
#define REPLIES_ARE_FULL                                                                           \
    "replies that clients have not read reach replies_mib: ask for at most 64 IDs, or try again "  \
    "later"

/* The side that waits for a task. Its functions must not wait. */
typedef struct task_client {
    void *self;
    void (*finished)(void *self); /* once, in any thread: request_finish is next */
    enum task_need (*need)(
        void *self);           /* renewer's thread, just before the task begins; NULL: stays */
    uint64_t share;            /* clients of one share take turns together */
    int64_t until_ms;          /* CLOCK_MONOTONIC: the task does not begin later */
    const char *(*full)(void); /* likewise: why many IDs are refused; NULL: they are not */
} task_client;

/* A request at a renewer, with copies of its words. */
typedef struct sent_task sent_task;
/* FIRN_ESTORE: too many tasks are queued; FIRN_EMEMORY. */
int request_send(const server_request *request, const task_client *client, sent_task **out,
                 firn_error *error);
/* True: the task had not begun, and never will; `finished` is not called. Tasks that open something
 * are left alone: the next request needs them as well. */
bool request_take_back(sent_task *task);
/* FIRN_OK and a reply, whose arrays are valid until sent_free; REQUEST_LATER: it is open now, call
 * request_answer again; or an error. */
int request_finish(sent_task *task, server_reply *out, firn_error *error);
/* Has it issued IDs or integers? NULL: no. */
bool sent_issued(const sent_task *task);
/* Bytes of its IDs. */
size_t sent_size(const sent_task *task);
void sent_free(sent_task *task);

#endif
