/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include "connection.h"

#include <stdlib.h>

enum {
    LEAST_IDS = 8192, /* smaller replies take less than a turn of other commands */
    SLICE_IDS = 4096
};

struct stream {
    question asked; /* its words are gone */
    reply of;
    size_t next;    /* the first ID that is not written */
    worker *worker; /* whose array it was, and may be again */
};

bool stream_is_large(const question *ask, const reply *of) {
    return ask->is_many && of->count > LEAST_IDS &&
           (of->kind == REPLY_NUMBERS || of->kind == REPLY_IDS);
}

stream *stream_begin(const question *ask, const reply *of, resp_out *out) {
    stream *it = malloc(sizeof *it);
    if (it == NULL) {
        return NULL;
    }
    *it = (stream){.asked = *ask, .of = *of, .worker = ask->request.worker};
    if (!reply_take(&it->of, it->worker)) {
        free(it);
        return NULL;
    }
    unsent_add((int64_t)reply_taken(&it->of));
    resp_array(out, of->count);
    return it;
}

size_t stream_left(const stream *it) {
    return it != NULL ? it->of.count - it->next : 0;
}

bool stream_write(stream *it, resp_out *out) {
    reply slice = it->of;
    size_t left = it->of.count - it->next;
    slice.count = left < SLICE_IDS ? left : SLICE_IDS;
    if (slice.kind == REPLY_NUMBERS) {
        slice.numbers += it->next;
    } else {
        slice.ids += it->next;
    }
    command_reply_ids(&it->asked, &slice, out);
    it->next += slice.count;
    return it->next == it->of.count;
}

void stream_free(stream *it) {
    if (it != NULL) {
        unsent_add(-(int64_t)reply_taken(&it->of));
        reply_give_back(&it->of, it->worker);
        free(it);
    }
}
