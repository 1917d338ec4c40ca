/* SPDX-License-Identifier: MIT */
/* The commands that are answered without a request, one function each, and replies that they share. */
#ifndef FIRN_HANDLERS_H
#define FIRN_HANDLERS_H

#include "commands.h"

typedef enum outcome run_function(client *it, const resp_command *said, resp_out *out);

#define COMMAND(name, arity, role, group, function, arguments, text) run_function run_##function;
#include "commands.def"

/* -ERR text. COMMAND_DONE. */
enum outcome refuse(resp_out *out, const char *text);
/* -ERR with a quotation of at most 64 bytes of what the client sent; bytes that are not printable ASCII
 * are escaped. COMMAND_DONE. */
enum outcome refuse_word(resp_out *out, const char *before, word said, const char *after);
/* +OK. COMMAND_DONE. */
enum outcome reply_ok(resp_out *out);

#endif
