/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include "connection.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST_IDS = 8192, /* smaller replies take less than a turn of other commands */
    SLICE_IDS = 4096
};

struct stream {
    question asked; /* its words are gone */
    reply of;
    size_t next;    /* the first ID that is not written */
    void *array;    /* the IDs */
    int64_t size;   /* in bytes */
    worker *worker; /* whose array it was, and may be again */
};

bool stream_is_large(const question *ask, const reply *of) {
    return ask->is_many && of->count > LEAST_IDS &&
           (of->kind == REPLY_NUMBERS || of->kind == REPLY_IDS);
}

/* The worker's own array, or a copy of a task's. */
static void *take_array(worker *of, reply *from, size_t *size) {
    bool narrow = from->kind == REPLY_NUMBERS;
    void *array = narrow ? (void *)of->numbers : (void *)of->ids;
    size_t each = narrow ? sizeof *of->numbers : sizeof *of->ids;
    const void *ids = narrow ? (const void *)from->numbers : (const void *)from->ids;
    *size = BATCH_MAX * each;
    if (array == ids) {
        of->numbers = narrow ? NULL : of->numbers;
        of->ids = narrow ? of->ids : NULL;
    } else if ((array = malloc(*size)) != NULL) {
        memcpy(array, ids, from->count * each);
    }
    from->numbers = narrow ? array : NULL;
    from->ids = narrow ? NULL : array;
    return array;
}

stream *stream_begin(const question *ask, const reply *of, resp_out *out) {
    stream *it = malloc(sizeof *it);
    if (it == NULL) {
        return NULL;
    }
    size_t size;
    *it = (stream){.asked = *ask, .of = *of, .worker = ask->request.worker};
    it->array = take_array(it->worker, &it->of, &size);
    if (it->array == NULL) {
        free(it);
        return NULL;
    }
    it->size = (int64_t)size;
    unsent_add(it->size);
    resp_array(out, of->count);
    return it;
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
    if (it == NULL) {
        return;
    }
    unsent_add(-it->size);
    if (it->of.kind == REPLY_NUMBERS && it->worker->numbers == NULL) {
        it->worker->numbers = it->array;
    } else if (it->of.kind == REPLY_IDS && it->worker->ids == NULL) {
        it->worker->ids = it->array;
    } else {
        free(it->array);
    }
    free(it);
}
