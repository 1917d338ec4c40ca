/* SPDX-License-Identifier: MIT */
/* How a request is answered. A listener reads bytes into a request, and writes the reply in the way of
 * its protocol; everything between is here:
 *
 *     request_read     names become generators and segments, values are checked; never waits
 *     request_answer   FIRN_OK and a reply, REQUEST_LATER, REQUEST_TASK, or a FIRN_E code
 *     request_send     hands what needs the store to its renewer
 *     request_finish   the reply of a task that came back
 *
 * Nothing here waits, and only its own thread uses a worker. IDs and integers are counted here
 * (meter.ids); listeners count requests, refusals and latencies. */
#ifndef FIRN_ANSWER_H
#define FIRN_ANSWER_H

#include "request.h"

/* The first step. FIRN_EUSAGE names what is unknown, and the nearest known; FIRN_ERANGE; FIRN_ETEXT. */
int request_read(request *it, firn_error *error);
/* The second: `times` requests alike that came together (1, or more for NEW and NEXT of one ID
 * each) are answered by one reply with 1 to `times` IDs or integers (`count`, one behind the other
 * by `increment`). REQUEST_LATER: window or lead are used up; the same again in a millisecond or
 * when renewers have news, until the listener gives up after wait_ms with the error that is filled in.
 * REQUEST_TASK: call request_send. */
int request_answer(request *it, size_t times, reply *out, firn_error *error);

/* Is that failure worth another try a little later, as it is, without anybody doing anything? */
bool request_may_pass(const request *it, int code);

/* What was sent to a renewer. `finished` is called once, by the renewer's thread, and must not wait:
 * it makes the listener's thread call request_finish. The request's words are copied. */
typedef struct sent_task sent_task;
/* FIRN_EEXHAUSTED: too many tasks wait; FIRN_EMEMORY. */
int request_send(const request *it, void (*finished)(void *self), void *self, sent_task **out,
                 firn_error *error);
/* FIRN_OK and a reply, whose arrays live until sent_free; REQUEST_LATER: it was opened, call
 * request_answer again; or why not. */
int request_finish(sent_task *sent, reply *out, firn_error *error);
void sent_free(sent_task *sent);

#endif
