/* SPDX-License-Identifier: MIT */
/* MULTI, EXEC and DISCARD. */
#include "handlers.h"

#include <stdlib.h>
#include <string.h>

void batch_clear(batch *it) {
    free(it->bytes);
    *it = (batch){0};
}

bool batch_keep(batch *it, const char *bytes, size_t length) {
    if (length > it->room - it->length) {
        size_t room = it->room < 4096 ? 4096 : it->room;
        while (room - it->length < length) {
            room *= 2;
        }
        char *more = realloc(it->bytes, room);
        if (more == NULL) {
            it->is_spoiled = true;
            return false;
        }
        it->bytes = more;
        it->room = room;
    }
    memcpy(it->bytes + it->length, bytes, length);
    it->length += length;
    it->count++;
    return true;
}

enum outcome run_multi(client *it, const resp_command *said, resp_out *out) {
    (void)said;
    batch_clear(&it->batch);
    it->batch.is_open = true;
    return reply_ok(out);
}

enum outcome run_exec(client *it, const resp_command *said, resp_out *out) {
    (void)said;
    if (!it->batch.is_open) {
        return refuse(out, "EXEC without MULTI");
    }
    if (it->batch.is_spoiled) {
        batch_clear(&it->batch);
        resp_error(out, "EXECABORT", "Transaction discarded because of previous errors.");
        return COMMAND_DONE;
    }
    it->batch.is_open = false;
    it->batch.runs = it->batch.count > 0;
    resp_array(out, it->batch.count); /* each of them adds its own reply */
    return COMMAND_DONE;
}

enum outcome run_discard(client *it, const resp_command *said, resp_out *out) {
    (void)said;
    if (!it->batch.is_open) {
        return refuse(out, "DISCARD without MULTI");
    }
    batch_clear(&it->batch);
    return reply_ok(out);
}
