/* SPDX-License-Identifier: MIT */
/* Writes the result of a request over HTTP: IDs, integers, JSON or a problem. */
#include "http_reply.h"

#include "core/catalog.h"
#include "core/id_form.h"
#include "core/json_lines.h"
#include "core/server.h"
#include "core/text.h"
#include "errors.h"
#include "object.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- problems -------------------------------------------------------------------------------- */

/* The status of each code; others are 400. */
static const struct {
    int code;
    unsigned status;
} statuses[] = {
    {FIRN_ERANGE, MHD_HTTP_UNPROCESSABLE_CONTENT},
    {FIRN_ELAYOUT, MHD_HTTP_UNPROCESSABLE_CONTENT},
    {FIRN_ETEXT, MHD_HTTP_UNPROCESSABLE_CONTENT},
    {FIRN_EMISMATCH, MHD_HTTP_UNPROCESSABLE_CONTENT},
    {FIRN_EUNSORTED, MHD_HTTP_UNPROCESSABLE_CONTENT},
    {FIRN_ENAMESPACE, MHD_HTTP_CONFLICT},
    {FIRN_EBACK, MHD_HTTP_CONFLICT},
    {FIRN_ETAKEN, MHD_HTTP_CONFLICT},
    {FIRN_EEND, MHD_HTTP_CONFLICT},
    {FIRN_EFULL, MHD_HTTP_CONFLICT},
    {FIRN_EBUSY, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EEXHAUSTED, MHD_HTTP_TOO_MANY_REQUESTS},
    {FIRN_EWINDOW, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_ECLOCK, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_ESTORE, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EUNKNOWN, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EFORKED, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_ECLONED, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EENTROPY, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EMEMORY, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_EIO, MHD_HTTP_SERVICE_UNAVAILABLE},
    {FIRN_ESYSTEM, MHD_HTTP_SERVICE_UNAVAILABLE},
};

static bool is_scheme(word name) {
    return memchr(name.text, ':', name.length) != NULL || /* a layout */ scheme_named(name) != NULL;
}

/* Is the name in the path unknown? */
static bool name_is_unknown(const http_exchange *exchange, int code) {
    const server_request *request = &exchange->request;
    switch (code == FIRN_EUSAGE ? request->verb : VERB_STATUS) {
    case VERB_NEW:
    case VERB_RUNS:
        return catalog_generator(request->name) == NULL && !is_scheme(request->name);
    case VERB_NEXT:
    case VERB_BLOCK:
        return catalog_segment(request->name) == NULL && !request->must_open;
    case VERB_SPREAD:
        return catalog_generator(request->name) == NULL;
    case VERB_SERIES:
        return catalog_series(request->name) == NULL;
    case VERB_PACK:
    case VERB_RANGE:
    case VERB_SCHEMES:
        return request->name.length > 0 && catalog_generator(request->name) == NULL &&
               !is_scheme(request->name);
    default:
        return false;
    }
}

enum MHD_Result write_problem(http_exchange *exchange, int code, const firn_error *error) {
    unsigned status = MHD_HTTP_BAD_REQUEST;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].code == code) {
            status = statuses[i].status;
        }
    }
    if (exchange->route != NULL && exchange->route->verb != VERB_COUNT &&
        name_is_unknown(exchange, code)) {
        status = MHD_HTTP_NOT_FOUND;
    }
    firn_error told = *error;
    if (told.text[0] == '\0') {
        set_error(&told, code, "%s", firn_strerror(code));
    }
    translate_error(&told, SURFACE_SERVER);
    return answer_error(exchange, status, firn_errname(code), &told);
}

/* ---- IDs ------------------------------------------------------------------------------------- */

static enum MHD_Result write_run(http_exchange *exchange, const server_reply *reply) {
    text_out made = {0};
    text_print(&made,
               exchange->as_text ? "%" PRId64 " %" PRId64 " %" PRId64 "\n"
                                 : "{\"first\":\"%" PRId64 "\",\"increment\":\"%" PRId64
                                   "\",\"count\":\"%" PRId64 "\"}\n",
               reply->first, reply->increment, reply->run);
    return answer_made(exchange, MHD_HTTP_OK, type_of(exchange), &made);
}

static enum MHD_Result write_json(http_exchange *exchange, json_t *made) {
    text_out lines = {0};
    if (!exchange->as_text) {
        return answer_json(exchange, MHD_HTTP_OK, data_type, made);
    }
    json_lines_write(&lines, made);
    json_decref(made);
    return answer_made(exchange, MHD_HTTP_OK, plain_type, &lines);
}

/* The table of schemes, as JSON and as lines. */
static enum MHD_Result write_table(http_exchange *exchange, json_t *table) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static text_out kept[2];
    text_out *text = &kept[exchange->as_text];
    pthread_mutex_lock(&lock);
    if (text->length == 0 && exchange->as_text) {
        json_lines_write(text, table);
    } else if (text->length == 0) {
        char *bytes = json_dumps(table, OBJECT_DUMP);
        text_add(text, bytes, bytes != NULL ? strlen(bytes) : 0);
        text_add(text, "\n", 1);
        text->failed |= bytes == NULL;
        free(bytes);
    }
    if (text->failed) {
        free(text->bytes);
        *text = (text_out){0};
    }
    pthread_mutex_unlock(&lock);
    if (text->length == 0) {
        return write_json(exchange, table);
    }
    json_decref(table);
    return answer_kept(exchange, MHD_HTTP_OK, exchange->as_text ? plain_type : data_type,
                       text->bytes, text->length);
}

enum MHD_Result write_answer(http_exchange *exchange, const server_reply *reply) {
    switch (reply->kind) {
    case REPLY_NUMBERS:
    case REPLY_IDS:
        return write_ids(exchange, reply);
    case REPLY_INTEGER:
        return write_count(exchange, reply->first, reply->increment, 1);
    case REPLY_RUN:
        return write_run(exchange, reply);
    case REPLY_JSON:
        return reply->is_table ? write_table(exchange, reply->json)
                               : write_json(exchange, reply->json);
    case REPLY_NIL:
        break;
    }
    return answer_text(exchange, MHD_HTTP_OK, type_of(exchange), exchange->as_text ? "" : "null");
}

/* A reply has the last integer of the block; this writes all n. */
enum MHD_Result write_integers(http_exchange *exchange, const server_reply *reply) {
    int64_t count = exchange->request.count;
    int64_t step =
        exchange->request.segment != NULL ? exchange->request.segment->increment : reply->increment;
    if (reply->kind != REPLY_INTEGER) {
        return write_answer(exchange, reply);
    }
    return write_count(exchange, reply->first - (count - 1) * step, step, count);
}

/* The numbers of a series, which are an array of texts. */
enum MHD_Result write_numbers(http_exchange *exchange, const server_reply *reply) {
    json_t *numbers = reply->json;
    return write_json(exchange,
                      exchange->as_text ? numbers : json_pack("{s:o}", "numbers", numbers));
}

enum MHD_Result write_last(http_exchange *exchange, const server_reply *reply) {
    text_out made = {0};
    if (reply->kind != REPLY_INTEGER) {
        text_print(&made, exchange->as_text ? "none\n" : "{\"last\":null}\n");
    } else {
        text_print(&made, exchange->as_text ? "%" PRId64 "\n" : "{\"last\":\"%" PRId64 "\"}\n",
                   reply->first);
    }
    return answer_made(exchange, MHD_HTTP_OK, type_of(exchange), &made);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* The process answers, so it is alive. */
enum MHD_Result page_health(http_exchange *exchange) {
    return answer_text(exchange, MHD_HTTP_OK, plain_type, "ok\n");
}

enum MHD_Result page_ready(http_exchange *exchange) {
    char why[SERVER_WHY_SIZE];
    if (server_is_ready(why)) {
        char text[sizeof why + 8];
        snprintf(text, sizeof text, why[0] != '\0' ? "ready\n%s\n" : "ready\n", why);
        return answer_text(exchange, MHD_HTTP_OK, plain_type, text);
    }
    return answer_problem(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, why);
}
