/* SPDX-License-Identifier: MIT */
/* Replies that commands share: see handlers.h. */
#include "handlers.h"

#include <stdio.h>

/* An error that quotes a client: at most 64 bytes of what it said, and nothing that a terminal
 * would obey. */
enum outcome refuse_word(resp_out *out, const char *before, word said, const char *after) {
    char quoted[65], text[400];
    size_t length = said.length < 64 ? said.length : 64;
    for (size_t i = 0; i < length; i++) {
        quoted[i] = said.text[i] >= ' ' && said.text[i] <= '~' ? said.text[i] : '?';
    }
    quoted[length] = '\0';
    snprintf(text, sizeof text, "%s'%s'%s", before, quoted, after);
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
