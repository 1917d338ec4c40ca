/* SPDX-License-Identifier: MIT */
/* Replies that several commands share: refusals, and OK. */
#include "connection.h"
#include "handlers.h"

#include <stdio.h>

bool refuse_large_page(resp_out *out) {
    bool full = unsent_is_full();
    if (full) {
        resp_error(out, "TRYAGAIN", TOO_LARGE);
    }
    return full;
}

enum outcome refuse_word(resp_out *out, const char *before, word said, const char *after) {
    char text[400];
    snprintf(text, sizeof text, "%s'%.*s'%s", before, (int)(said.length < 64 ? said.length : 64),
             said.text, after);
    resp_error(out, "ERR", text);
    return COMMAND_DONE;
}

enum outcome refuse(resp_out *out, const char *text) {
    resp_error(out, "ERR", text);
    return COMMAND_DONE;
}

enum outcome reply_ok(resp_out *out) {
    resp_status(out, "OK");
    return COMMAND_DONE;
}
