/* SPDX-License-Identifier: MIT */
/* A turn of a connection: reads, runs and answers commands, up to limits that keep other
 * connections from waiting. */
#ifndef FIRN_TURN_H
#define FIRN_TURN_H

#include "loop.h"

/* Runs the commands in the bytes; `is_rest`: they are the connection's own. */
void turn_serve(connection *it, const char *bytes, size_t length, bool is_rest);
/* Resumes a waiting connection. */
void turn_resume(connection *it);
/* Answers a command that waited. `is_over`: the commands after it have waited as long. */
void turn_reply(connection *it, const command_waiter *of, reply *out);
void turn_fail(connection *it, const question *ask, size_t size, const firn_error *error,
               bool is_over);
/* Closes it, because its bytes cannot be kept. */
void turn_refuse_memory(connection *it);
/* The connection gives up its task. */
void task_let_go(connection *it);
/* Any thread: its task is done. */
void command_is_back(waiter *one);

/* Counts it as unauthenticated, or no longer, and closes one if there are too many. */
void count_strangers(connection *it);
void close_unauthenticated(unauthenticated *one);
/* While stopping: is everything read that the client has sent? */
bool is_drained(connection *it);

#endif
