/* SPDX-License-Identifier: MIT */
/* MULTI, EXEC and DISCARD. */
#include "core/monotonic.h"
#include "handlers.h"
#include "net/memory.h"

#include <stdlib.h>
#include <string.h>

void batch_clear(resp_batch *batch) {
    memory_hold(-(int64_t)batch->bytes.room);
    free(batch->bytes.bytes);
    *batch = (resp_batch){0};
}

bool batch_add(resp_batch *batch, const char *bytes, size_t length) {
    if (batch->bytes.length + length > MEMORY_LEAST && memory_is_full()) {
        batch_clear(batch);
        batch->is_open = batch->is_spoiled = true;
        batch->since_ms = monotonic_ms();
        return false;
    }
    return batch_keep(batch, bytes, length);
}

bool batch_keep(resp_batch *batch, const char *bytes, size_t length) {
    size_t before = batch->bytes.room;
    text_add(&batch->bytes, bytes, length);
    memory_hold((int64_t)batch->bytes.room - (int64_t)before);
    batch->is_spoiled = batch->is_spoiled || batch->bytes.failed;
    batch->count++;
    return !batch->bytes.failed;
}

enum outcome run_multi(resp_client *client, const resp_command *command, resp_out *out) {
    (void)command;
    batch_clear(&client->batch);
    client->batch.is_open = true;
    client->batch.since_ms = monotonic_ms();
    return reply_ok(out);
}

enum outcome run_exec(resp_client *client, const resp_command *command, resp_out *out) {
    (void)command;
    if (!client->batch.is_open) {
        return refuse(out, "EXEC without MULTI");
    }
    if (client->batch.is_spoiled) {
        batch_clear(&client->batch);
        resp_error(out, "EXECABORT", "Transaction discarded because of previous errors.");
        return COMMAND_DONE;
    }
    client->batch.is_open = false;
    client->batch.runs = client->batch.count > 0;
    resp_array(out, client->batch.count); /* each of them adds its own reply */
    return COMMAND_DONE;
}

enum outcome run_discard(resp_client *client, const resp_command *command, resp_out *out) {
    (void)command;
    if (!client->batch.is_open) {
        return refuse(out, "DISCARD without MULTI");
    }
    batch_clear(&client->batch);
    return reply_ok(out);
}
