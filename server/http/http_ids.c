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
typedef struct list_marks {
    const char *first, *between, *last;
} list_marks;

/* A reply of IDs, or of `count` integers. */
typedef struct ids_writer {
    text_out made;
    server_reply reply;
    size_t next; /* the first that is not written */
    size_t held; /* bytes of the IDs and the text, counted in advance */
} ids_writer;

static list_marks marks_of(const http_exchange *exchange) {
    return exchange->as_text ? (list_marks){"", "\n", "\n"}
                             : (list_marks){"{\"ids\":[\"", "\",\"", "\"]}\n"};
}

static size_t write_id(char *out, const http_exchange *exchange, const server_reply *reply,
                       size_t i) {
    switch (reply->kind) {
    case REPLY_INTEGER:
        return write_number(out, (uint64_t)(reply->first + (int64_t)i * reply->increment), true);
    case REPLY_NUMBERS:
        return write_number(out, reply->numbers[i], reply->is_signed);
    default:
        return reply_write_id(out, &exchange->request, reply, i);
    }
}

/* ---- one ------------------------------------------------------------------------------------- */

/* Writes one number as text, the most frequent reply: the exchange's previous reply is sent again
 * with other bytes, which saves ten allocations. Nobody reads the old bytes: an exchange is reused
 * only after its reply was sent. */
static enum MHD_Result write_one(http_exchange *exchange, const server_reply *reply) {
    struct usual_reply *usual = &exchange->usual;
    char digits[NUMBER_SIZE];
    size_t size = write_number(digits, reply->numbers[0], reply->is_signed);
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
        MHD_add_response_header(usual->made, "Content-Type", type_of(exchange));
        MHD_add_response_header(usual->made, "Cache-Control", "no-store");
    }
    memcpy(usual->bytes, digits, size);
    meter_add(&exchange->loop->worker->meter.sent, size);
    return MHD_queue_response(exchange->connection, MHD_HTTP_OK, usual->made);
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* Writes up to `most`. True: these were the last. */
static bool write_slice(const http_exchange *exchange, ids_writer *writer, size_t most) {
    list_marks marks = marks_of(exchange);
    size_t between = strlen(marks.between), left = writer->reply.count - writer->next;
    size_t end = writer->next + (left < most ? left : most);
    for (; writer->next < end; writer->next++) {
        char *position = text_room(&writer->made, ID_SIZE + 4);
        if (position == NULL) {
            return true;
        }
        size_t length = writer->next > 0 ? between : 0;
        memcpy(position, marks.between, length);
        writer->made.length +=
            length + write_id(position + length, exchange, &writer->reply, writer->next);
    }
    if (writer->next < writer->reply.count) {
        return false;
    }
    text_add(&writer->made, marks.last, strlen(marks.last));
    return true;
}

static enum MHD_Result write_now(http_exchange *exchange, const server_reply *reply) {
    list_marks marks = marks_of(exchange);
    ids_writer now = {.reply = *reply};
    text_add(&now.made, marks.first, strlen(marks.first));
    write_slice(exchange, &now, reply->count);
    return answer_made(exchange, MHD_HTTP_OK, type_of(exchange), &now.made);
}

static enum MHD_Result write_later(http_exchange *exchange, const server_reply *reply) {
    list_marks marks = marks_of(exchange);
    ids_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        return write_now(exchange, reply);
    }
    writer->reply = *reply;
    if (reply->kind != REPLY_INTEGER && !reply_take(&writer->reply, exchange->loop->worker)) {
        free(writer);
        return write_now(exchange, reply);
    }
    char item[ID_SIZE];
    writer->held =
        reply_taken(reply) +
        reply->count * (write_id(item, exchange, &writer->reply, 0) + strlen(marks.between));
    reply_hold(exchange, writer->held);
    text_add(&writer->made, marks.first, strlen(marks.first));
    exchange->writing = writer;
    return writing_go_on(exchange);
}

static enum MHD_Result write_all(http_exchange *exchange, const server_reply *reply) {
    bool later = reply->count > LEAST_IDS && !exchange->loop->over;
    return later ? write_later(exchange, reply) : write_now(exchange, reply);
}

enum MHD_Result writing_go_on(http_exchange *exchange) {
    ids_writer *writer = exchange->writing;
    if (!write_slice(exchange, writer, exchange->loop->over ? writer->reply.count : SLICE_IDS)) {
        park(exchange, STAGE_WRITING, 0);
        return MHD_YES;
    }
    text_out made = writer->made;
    writer->made = (text_out){0};
    writing_free(exchange);
    return answer_made(exchange, MHD_HTTP_OK, type_of(exchange), &made);
}

void writing_free(http_exchange *exchange) {
    ids_writer *writer = exchange->writing;
    if (writer != NULL) {
        exchange->writing = NULL;
        reply_unhold(exchange, writer->held);
        reply_give_back(&writer->reply, exchange->loop->worker);
        free(writer->made.bytes);
        free(writer);
    }
}

enum MHD_Result write_ids(http_exchange *exchange, const server_reply *reply) {
    return exchange->as_text && reply->count == 1 && reply->kind == REPLY_NUMBERS &&
                   !server_is_leaving()
               ? write_one(exchange, reply)
               : write_all(exchange, reply);
}

enum MHD_Result write_count(http_exchange *exchange, int64_t first, int64_t increment,
                            int64_t count) {
    server_reply reply = {
        .kind = REPLY_INTEGER, .first = first, .increment = increment, .count = (size_t)count};
    return write_all(exchange, &reply);
}
