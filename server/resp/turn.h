/* SPDX-License-Identifier: MIT */
/* A turn of a connection: commands are read, answered and their replies sent, so many that other
 * connections do not wait long. */
#ifndef FIRN_TURN_H
#define FIRN_TURN_H

#include "loop.h"

/* Answers commands of the bytes; `is_rest`: they are the connection's own. */
void turn_serve(connection *it, const char *bytes, size_t length, bool is_rest);
/* Takes a waiting connection up again. */
void turn_resume(connection *it);
/* A command that waited has its reply, or an error. */
void turn_reply(connection *it, const waiter *of, reply *out);
void turn_fail(connection *it, const waiter *of, const firn_error *error);
/* The error of a store that has not answered within wait_ms. */
int store_is_late(firn_error *error);
/* The connection does not wait for its task any more. */
void task_let_go(connection *it);

/* Counts it among those without a token, or not any more, and closes one where there are too many. */
void count_strangers(connection *it);
void close_stranger(stranger *one);
/* When the server ends: has all been read that the client sent before? */
bool is_drained(connection *it);

#endif
