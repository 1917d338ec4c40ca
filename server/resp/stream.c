/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include "connection.h"

#include <stdlib.h>

enum {
    LEAST_IDS = 8192, /* smaller replies take less than a turn of other commands */
    SLICE_IDS = 4096
};

struct resp_stream {
    client_question question; /* its words are gone */
    server_reply reply;
    size_t next;           /* the first ID that is not written */
    server_worker *worker; /* whose array it was, and may be again */
};

bool stream_is_large(const client_question *ask, const server_reply *reply) {
    return ask->is_many && reply->count > LEAST_IDS &&
           (reply->kind == REPLY_NUMBERS || reply->kind == REPLY_IDS);
}

resp_stream *stream_begin(const client_question *ask, const server_reply *reply, resp_out *out) {
    resp_stream *stream = malloc(sizeof *stream);
    if (stream == NULL) {
        return NULL;
    }
    *stream = (resp_stream){.question = *ask, .reply = *reply, .worker = ask->request.worker};
    if (!reply_take(&stream->reply, stream->worker)) {
        free(stream);
        return NULL;
    }
    unsent_add((int64_t)reply_taken(&stream->reply));
    resp_array(out, reply->count);
    return stream;
}

size_t stream_left(const resp_stream *stream) {
    return stream != NULL ? stream->reply.count - stream->next : 0;
}

bool stream_write(resp_stream *stream, resp_out *out) {
    server_reply slice = stream->reply;
    size_t left = stream->reply.count - stream->next;
    slice.count = left < SLICE_IDS ? left : SLICE_IDS;
    if (slice.kind == REPLY_NUMBERS) {
        slice.numbers += stream->next;
    } else {
        slice.ids += stream->next;
    }
    command_reply_ids(&stream->question, &slice, out);
    stream->next += slice.count;
    return stream->next == stream->reply.count;
}

void stream_free(resp_stream *stream) {
    if (stream != NULL) {
        unsent_add(-(int64_t)reply_taken(&stream->reply));
        reply_give_back(&stream->reply, stream->worker);
        free(stream);
    }
}
