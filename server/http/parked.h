/* SPDX-License-Identifier: MIT */
/* Requests that wait: suspended until a time, or until a task comes back from its renewer. Only the
 * loop's thread calls these. */
#ifndef FIRN_PARKED_H
#define FIRN_PARKED_H

#include "exchange.h"

/* Suspends it until `wake_ns`, or until its task comes back. */
void park(exchange *it, enum stage stage, int64_t wake_ns);
void unpark(exchange *it);
/* Sends it to its renewer and suspends it. When that fails, it->error says so once it is resumed. */
void park_for_task(exchange *it);
/* Leaves its task, if any, to the renewer's thread; false: the task came back just now. */
bool park_give_up(exchange *it);
void ticket_free(ticket *one);
/* Resumes those that are due, or all of them when the listener is closed by force. */
void wake_parked(http_loop *loop, int64_t now, bool all);

/* Are the replies that clients have not read yet as large as replies_mib allows? Then no large reply is
 * made. */
bool replies_are_full(void);
/* A reply of so many bytes is made; the exchange's end releases them. */
void reply_hold(exchange *it, size_t size);
void reply_release(const exchange *it);

#endif
