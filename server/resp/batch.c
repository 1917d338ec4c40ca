/* SPDX-License-Identifier: MIT */
/* MULTI, EXEC and DISCARD. */
#include "core/monotonic.h"
#include "handlers.h"
#include "net/memory.h"

#include <stdlib.h>
#include <string.h>

void batch_clear(batch *it) {
    memory_hold(-(int64_t)it->bytes.room);
    free(it->bytes.bytes);
    *it = (batch){0};
}

bool batch_add(batch *it, const char *bytes, size_t length) {
    if (it->bytes.length + length > MEMORY_LEAST && memory_is_full()) {
        batch_clear(it);
        it->is_open = it->is_spoiled = true;
        it->since_ms = monotonic_ms();
        return false;
    }
    return batch_keep(it, bytes, length);
}

bool batch_keep(batch *it, const char *bytes, size_t length) {
    size_t before = it->bytes.room;
    text_add(&it->bytes, bytes, length);
    memory_hold((int64_t)it->bytes.room - (int64_t)before);
    it->is_spoiled = it->is_spoiled || it->bytes.failed;
    it->count++;
    return !it->bytes.failed;
}

enum outcome run_multi(client *it, const resp_command *said, resp_out *out) {
    (void)said;
    batch_clear(&it->batch);
    it->batch.is_open = true;
    it->batch.since_ms = monotonic_ms();
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
