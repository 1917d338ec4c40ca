/* SPDX-License-Identifier: MIT */
/* Replies with IDs or integers. Large ones are written a slice at a time, so that other connections
 * of the thread are served in between. */
#include "core/server.h"
#include "http_reply.h"
#include "parked.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 24
#define ID_SIZE     (FIRN_TEXT_SIZE + 66)

enum {
    LEAST_IDS = 8192, /* smaller replies are written at once */
    SLICE_IDS = 4096
};

/* Written before, between and after IDs. */
typedef struct marks {
    const char *first, *between, *last;
} marks;

/* A reply of IDs, or of `count` integers. */
typedef struct writing {
    text_out made;
    reply of;
    size_t next; /* the first that is not written */
    size_t held; /* bytes of the IDs and the text, counted in advance */
} writing;

static marks marks_of(const exchange *it) {
    return it->as_text ? (marks){"", "\n", "\n"} : (marks){"{\"ids\":[\"", "\",\"", "\"]}\n"};
}

static size_t write_id(char *out, const exchange *it, const reply *of, size_t i) {
    switch (of->kind) {
    case REPLY_INTEGER:
        return write_number(out, (uint64_t)(of->first + (int64_t)i * of->increment), true);
    case REPLY_NUMBERS:
        return write_number(out, of->numbers[i], of->is_signed);
    default:
        return reply_write_id(out, &it->request, of, i);
    }
}

/* ---- one --------------------------------------------------------------------------------------- */

/* One number as text, the most frequent reply: the exchange's previous reply is sent again with
 * other bytes, which saves ten allocations. Nobody reads the old bytes: an exchange is reused only
 * after its reply was sent. */
static enum MHD_Result write_one(exchange *it, const reply *of) {
    struct usual_reply *usual = &it->usual;
    char digits[NUMBER_SIZE];
    size_t size = write_number(digits, of->numbers[0], of->is_signed);
    digits[size++] = '\n';
    if (usual->made != NULL && usual->size != size) {
        MHD_destroy_response(usual->made);
        usual->made = NULL;
    }
    if (usual->made == NULL) {
        usual->made = MHD_create_response_from_buffer(size, usual->bytes, MHD_RESPMEM_PERSISTENT);
        usual->size = size;
        if (usual->made == NULL) {
            return MHD_NO;
        }
        MHD_add_response_header(usual->made, "Content-Type", type_of(it));
        MHD_add_response_header(usual->made, "Cache-Control", "no-store");
    }
    memcpy(usual->bytes, digits, size);
    meter_add(&it->loop->worker->meter.sent, size);
    return MHD_queue_response(it->connection, MHD_HTTP_OK, usual->made);
}

/* ---- slices ------------------------------------------------------------------------------------ */

/* Writes up to `most`. True: these were the last. */
static bool write_slice(const exchange *it, writing *to, size_t most) {
    marks say = marks_of(it);
    size_t between = strlen(say.between), left = to->of.count - to->next;
    size_t end = to->next + (left < most ? left : most);
    for (; to->next < end; to->next++) {
        char *at = text_room(&to->made, ID_SIZE + 4);
        if (at == NULL) {
            return true;
        }
        size_t length = to->next > 0 ? between : 0;
        memcpy(at, say.between, length);
        to->made.length += length + write_id(at + length, it, &to->of, to->next);
    }
    if (to->next < to->of.count) {
        return false;
    }
    text_add(&to->made, say.last, strlen(say.last));
    return true;
}

static enum MHD_Result write_now(exchange *it, const reply *of) {
    marks say = marks_of(it);
    writing now = {.of = *of};
    text_add(&now.made, say.first, strlen(say.first));
    write_slice(it, &now, of->count);
    return answer_made(it, MHD_HTTP_OK, type_of(it), &now.made);
}

static enum MHD_Result write_later(exchange *it, const reply *of) {
    marks say = marks_of(it);
    writing *to = calloc(1, sizeof *to);
    if (to == NULL) {
        return write_now(it, of);
    }
    to->of = *of;
    if (of->kind != REPLY_INTEGER && !reply_take(&to->of, it->loop->worker)) {
        free(to);
        return write_now(it, of);
    }
    char one[ID_SIZE];
    to->held = reply_taken(of) + of->count * (write_id(one, it, &to->of, 0) + strlen(say.between));
    reply_hold(it, to->held);
    text_add(&to->made, say.first, strlen(say.first));
    it->writing = to;
    return writing_go_on(it);
}

static enum MHD_Result write_all(exchange *it, const reply *of) {
    bool later = of->count > LEAST_IDS && !it->loop->over;
    return later ? write_later(it, of) : write_now(it, of);
}

enum MHD_Result writing_go_on(exchange *it) {
    writing *to = it->writing;
    if (!write_slice(it, to, it->loop->over ? to->of.count : SLICE_IDS)) {
        park(it, STAGE_WRITING, 0);
        return MHD_YES;
    }
    text_out made = to->made;
    to->made = (text_out){0};
    writing_free(it);
    return answer_made(it, MHD_HTTP_OK, type_of(it), &made);
}

void writing_free(exchange *it) {
    writing *to = it->writing;
    if (to != NULL) {
        it->writing = NULL;
        reply_unhold(it, to->held);
        reply_give_back(&to->of, it->loop->worker);
        free(to->made.bytes);
        free(to);
    }
}

enum MHD_Result write_ids(exchange *it, const reply *of) {
    return it->as_text && of->count == 1 && of->kind == REPLY_NUMBERS && !server_is_leaving()
               ? write_one(it, of)
               : write_all(it, of);
}

enum MHD_Result write_count(exchange *it, int64_t first, int64_t increment, int64_t count) {
    reply of = {
        .kind = REPLY_INTEGER, .first = first, .increment = increment, .count = (size_t)count};
    return write_all(it, &of);
}
