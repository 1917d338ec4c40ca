/* SPDX-License-Identifier: MIT */
/* MULTI, EXEC and DISCARD. */
#include "handlers.h"

#include <stdlib.h>
#include <string.h>

void batch_clear(batch *it) {
    free(it->bytes.bytes);
    *it = (batch){0};
}

bool batch_keep(batch *it, const char *bytes, size_t length) {
    text_add(&it->bytes, bytes, length);
    it->is_spoiled = it->is_spoiled || it->bytes.failed;
    it->count++;
    return !it->bytes.failed;
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
