/* SPDX-License-Identifier: MIT */
/* A turn of a connection: reads, runs and answers commands, up to limits that keep other
 * connections from waiting. */
#ifndef FIRN_TURN_H
#define FIRN_TURN_H

#include "loop.h"

/* Runs the commands in the bytes; `is_rest`: they are the connection's own. */
void turn_serve(resp_connection *connection, const char *bytes, size_t length, bool is_rest);
/* Resumes a waiting connection. */
void turn_resume(resp_connection *connection);
/* Answers a command that waited. `is_over`: the commands after it have waited as long. */
void turn_reply(resp_connection *connection, const command_waiter *waiter, server_reply *out);
void turn_fail(resp_connection *connection, const client_question *ask, size_t size,
               const firn_error *error, bool is_over);
/* Closes it, because its bytes cannot be kept. */
void turn_refuse_memory(resp_connection *connection);
/* The connection gives up its task. */
void task_release(resp_connection *connection);
/* Any thread: its task is done. */
void command_is_back(server_waiter *waiter);

/* Counts it as unauthenticated, or no longer, and closes one if there are too many. */
void count_strangers(resp_connection *connection);
void close_unauthenticated(unauthenticated_client *client);
/* While stopping: is everything read that the client has sent? */
bool is_drained(resp_connection *connection);

#endif
