/* SPDX-License-Identifier: MIT */
/* Integers in blocks: see blocks.h. */
#include "blocks.h"

#include "shared/interrupt.h"
#include "shared/progress.h"

#include <inttypes.h>
#include <stdio.h>

int blocks_note_start(session *s, firn_segment *range, int64_t start) {
    char text[160];
    firn_error error;
    int64_t next;
    if (firn_segment_peek(range, &next, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (next > start) {
        snprintf(text, sizeof text,
                 "start=%" PRId64
                 " is ignored, because the segment exists: the next integer is %" PRId64,
                 start, next);
        tell_note(s, text);
    }
    return STATUS_DONE;
}

int blocks_take(session *s, firn_segment *range, int64_t count, int64_t most, block_put *put,
                void *context) {
    const int64_t increment = firn_segment_increment(range);
    progress shown = {0};
    firn_error error;
    int code = FIRN_OK;
    for (int64_t done = 0; done < count && !output_dead(&s->out);) {
        int64_t first = 0, n = count - done < most ? count - done : most;
        code = firn_segment_block(range, n, &first, &error);
        for (int64_t i = 0; code == FIRN_OK && i < n && !output_dead(&s->out); i++) {
            code = put(s, context, first + i * increment, &error);
        }
        done += n;
        if (code != FIRN_OK || interrupt_signal() != 0) {
            break;
        }
        progress_show(&shown, done, count);
    }
    progress_end(&shown);
    if (code != FIRN_OK) {
        return fail(s, &error);
    }
    return interrupt_signal() != 0 ? STATUS_SIGNAL + interrupt_signal() : STATUS_DONE;
}
