/* SPDX-License-Identifier: MIT */
/* Commands answered without a request, one function each, and replies they share. */
#ifndef FIRN_HANDLERS_H
#define FIRN_HANDLERS_H

#include "commands.h"

typedef enum outcome run_function(resp_client *client, const resp_command *command, resp_out *out);

#define COMMAND(name, arity, role, group, function, arguments, text) run_function run_##function;
#include "commands.def"

/* -TRYAGAIN if replies_mib is reached: client lists, INFO and documentation may be large. */
bool refuse_large_page(resp_out *out);
/* -ERR text. COMMAND_DONE. */
enum outcome refuse(resp_out *out, const char *text);
/* -ERR with up to 64 bytes of the client's word in quotes. COMMAND_DONE. */
enum outcome refuse_word(resp_out *out, const char *before, word value, const char *after);
/* +OK. COMMAND_DONE. */
enum outcome reply_ok(resp_out *out);
/* The text as a page, and frees it. COMMAND_DONE. */
enum outcome reply_page(text_out *text, resp_out *out);

#endif
