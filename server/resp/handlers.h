/* SPDX-License-Identifier: MIT */
/* The commands that are answered without a request, one function each, and replies that they share. */
#ifndef FIRN_HANDLERS_H
#define FIRN_HANDLERS_H

#include "commands.h"

typedef enum outcome run_function(client *it, const resp_command *said, resp_out *out);

#define COMMAND(name, arity, role, group, function, arguments, text) run_function run_##function;
#include "commands.def"

/* Why a large reply is refused while clients do not read theirs. */
#define TOO_LARGE                                                                                  \
    "replies that clients have not read reach replies_mib: ask for at most 64 IDs, or try again "  \
    "later"

/* The client lists, INFO and the documents of commands may be large: -TRYAGAIN when replies_mib is
 * reached. */
bool refuse_large_page(resp_out *out);
/* -ERR text. COMMAND_DONE. */
enum outcome refuse(resp_out *out, const char *text);
/* -ERR with at most 64 bytes of what the client sent in quotes. COMMAND_DONE. */
enum outcome refuse_word(resp_out *out, const char *before, word said, const char *after);
/* +OK. COMMAND_DONE. */
enum outcome reply_ok(resp_out *out);

#endif
