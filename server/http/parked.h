/* SPDX-License-Identifier: MIT */
/* Parked requests: suspended until a time, or until their task is done. Only the thread of the loop
 * calls these. */
#ifndef FIRN_PARKED_H
#define FIRN_PARKED_H

#include "exchange.h"

/* Suspends it until `wake_ns`. */
void park(http_exchange *exchange, enum stage stage, int64_t wake_ns);
void unpark(http_exchange *exchange);
/* Sends a task and suspends the request. On failure, exchange->error has the reason once it is
 * resumed. */
void park_for_task(http_exchange *exchange);
/* Gives up its task, if it has one. False: the task has come back. */
bool park_give_up(http_exchange *exchange);
/* Any thread: its task is done. */
void exchange_is_back(server_waiter *waiter);
/* Resumes requests whose time has come, or all when the listener is stopped by force. */
void wake_parked(http_loop *loop, int64_t now, bool all);

/* Do unread replies reach replies_mib? Then large ones are refused. */
bool replies_are_full(void);
/* Why large replies of IDs are refused; NULL: they are not. Any thread. */
const char *replies_full(void);
/* Counts the bytes of a reply until the exchange ends. */
void reply_hold(http_exchange *exchange, size_t size);
void reply_unhold(http_exchange *exchange, size_t size);

#endif
