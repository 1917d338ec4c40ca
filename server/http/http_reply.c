/* SPDX-License-Identifier: MIT */
#include "http_reply.h"

#include "core/catalog.h"
#include "core/json_lines.h"
#include "core/server.h"
#include "core/text.h"
#include "object.h"
#include "parked.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 24

static const char plain_type[] = "text/plain; charset=utf-8";
static const char data_type[] = "application/json";

const char *type_of(const exchange *it) {
    return it->as_text ? plain_type : data_type;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void add_header(struct MHD_Response *to, const char *name, const char *value) {
    MHD_add_response_header(to, name, value);
}

/* Retry-After: exactly for failures that can pass. */
static void add_rare_headers(const exchange *it, struct MHD_Response *to, unsigned status) {
    if (status == MHD_HTTP_UNAUTHORIZED) {
        add_header(to, "WWW-Authenticate", "Bearer realm=\"firn\"");
    }
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED || status == MHD_HTTP_NO_CONTENT) {
        bool posts = (it->route != NULL && it->route->posts) || strcmp(it->path, "*") == 0;
        add_header(to, "Allow", posts ? "GET, HEAD, OPTIONS, POST" : "GET, HEAD, OPTIONS");
    }
    if (status == MHD_HTTP_TOO_MANY_REQUESTS || status == MHD_HTTP_SERVICE_UNAVAILABLE) {
        char seconds[NUMBER_SIZE];
        seconds[write_number(seconds, (uint64_t)(it->retry_s > 0 ? it->retry_s : 1), false)] = '\0';
        add_header(to, "Retry-After", seconds);
    }
}

static enum MHD_Result send_bytes(exchange *it, unsigned status, const char *type,
                                  struct MHD_Response *made, size_t size) {
    if (made == NULL) {
        return MHD_NO;
    }
    if (type != NULL) {
        add_header(made, "Content-Type", type);
    }
    add_header(made, "Cache-Control", "no-store");
    add_header(made, "X-Content-Type-Options", "nosniff");
    add_rare_headers(it, made, status);
    if (server_is_leaving()) {
        add_header(made, "Connection", "close");
    }
    enum MHD_Result result = MHD_queue_response(it->connection, status, made);
    MHD_destroy_response(made);
    meter_add(&it->loop->worker->meter.sent, size);
    return result;
}

enum MHD_Result answer_options(exchange *it) {
    static char nothing[1];
    return send_bytes(it, MHD_HTTP_NO_CONTENT, NULL,
                      MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT), 0);
}

enum MHD_Result answer_bytes(exchange *it, unsigned status, const char *type, char *bytes,
                             size_t size) {
    struct MHD_Response *made = MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
    if (made == NULL) {
        free(bytes);
    }
    reply_hold(it, size);
    return send_bytes(it, status, type, made, size);
}

enum MHD_Result answer_made(exchange *it, unsigned status, const char *type, text_out *made) {
    if (made->failed) {
        free(made->bytes);
        it->refused = true;
        return answer_problem(it, MHD_HTTP_SERVICE_UNAVAILABLE, "MEMORY",
                              "out of memory: ask for fewer at once");
    }
    return answer_bytes(it, status, type, made->bytes, made->length);
}

enum MHD_Result answer_text(exchange *it, unsigned status, const char *type, const char *words) {
    size_t size = strlen(words);
    reply_hold(it, size);
    return send_bytes(
        it, status, type,
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)words, MHD_RESPMEM_MUST_COPY),
        size);
}

enum MHD_Result answer_json(exchange *it, unsigned status, const char *type, json_t *made) {
    text_out line = {0};
    char *bytes = made != NULL ? json_dumps(made, OBJECT_DUMP | JSON_ENCODE_ANY) : NULL;
    json_decref(made);
    if (bytes != NULL) {
        text_add(&line, bytes, strlen(bytes));
        text_add(&line, "\n", 1);
        free(bytes);
    }
    if (bytes == NULL || line.failed) {
        free(line.bytes);
        return answer_text(it, MHD_HTTP_SERVICE_UNAVAILABLE, plain_type, "out of memory\n");
    }
    return answer_bytes(it, status, type, line.bytes, line.length);
}

/* ---- problems -------------------------------------------------------------------------------- */

enum MHD_Result answer_problem(exchange *it, unsigned status, const char *code, const char *words) {
    json_t *made = json_pack("{s:s, s:s, s:i, s:o, s:s*}", "type", "about:blank", "title",
                             MHD_get_reason_phrase_for(status), "status", (int)status, "detail",
                             json_foreign(words), "code", code);
    return answer_json(it, status, "application/problem+json", made);
}

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
    char text[FIRN_NAME_SIZE];
    return memchr(name.text, ':', name.length) != NULL || /* a layout */
           (word_copy(name, text, sizeof text) && firn_scheme_find(text) != NULL);
}

/* Is the name in the path unknown? */
static bool name_is_unknown(const exchange *it, int code) {
    const request *asked = &it->request;
    switch (code == FIRN_EUSAGE ? asked->verb : VERB_STATUS) {
    case VERB_NEW:
    case VERB_RUNS:
        return catalog_generator(asked->name) == NULL && !is_scheme(asked->name);
    case VERB_NEXT:
    case VERB_BLOCK:
        return catalog_segment(asked->name) == NULL && !asked->must_open;
    case VERB_SPREAD:
        return catalog_generator(asked->name) == NULL;
    case VERB_PACK:
    case VERB_RANGE:
    case VERB_SCHEMES:
        return asked->name.length > 0 && catalog_generator(asked->name) == NULL &&
               !is_scheme(asked->name);
    default:
        return false;
    }
}

enum MHD_Result write_problem(exchange *it, int code, const firn_error *error) {
    unsigned status = MHD_HTTP_BAD_REQUEST;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].code == code) {
            status = statuses[i].status;
        }
    }
    if (it->route != NULL && it->route->verb != VERB_COUNT && name_is_unknown(it, code)) {
        status = MHD_HTTP_NOT_FOUND;
    } else if (code == FIRN_EEXHAUSTED && !request_may_pass(&it->request, code)) {
        status = MHD_HTTP_CONFLICT; /* the end of a segment */
    }
    return answer_problem(it, status, firn_errname(code),
                          error->text[0] != '\0' ? error->text : firn_strerror(code));
}

/* ---- IDs ------------------------------------------------------------------------------------- */

static enum MHD_Result write_run(exchange *it, const reply *of) {
    char first[NUMBER_SIZE] = "", step[NUMBER_SIZE] = "", count[NUMBER_SIZE] = "";
    first[write_number(first, (uint64_t)of->first, true)] = '\0';
    step[write_number(step, (uint64_t)of->increment, true)] = '\0';
    count[write_number(count, (uint64_t)of->run, true)] = '\0';
    text_out made = {0};
    text_print(&made,
               it->as_text ? "%s %s %s\n"
                           : "{\"first\":\"%s\",\"increment\":\"%s\",\"count\":\"%s\"}\n",
               first, step, count);
    return answer_made(it, MHD_HTTP_OK, type_of(it), &made);
}

static enum MHD_Result write_json(exchange *it, json_t *made) {
    text_out lines = {0};
    if (!it->as_text) {
        return answer_json(it, MHD_HTTP_OK, data_type, made);
    }
    json_lines_write(&lines, made);
    json_decref(made);
    return answer_made(it, MHD_HTTP_OK, plain_type, &lines);
}

enum MHD_Result write_answer(exchange *it, const reply *of) {
    switch (of->kind) {
    case REPLY_NUMBERS:
    case REPLY_IDS:
        return write_ids(it, of);
    case REPLY_INTEGER:
        return write_count(it, of->first, of->increment, 1);
    case REPLY_RUN:
        return write_run(it, of);
    case REPLY_JSON:
        return write_json(it, of->json);
    case REPLY_NIL:
        break;
    }
    return answer_text(it, MHD_HTTP_OK, type_of(it), it->as_text ? "" : "null");
}

/* A reply has the last integer of the block; this writes all n. */
enum MHD_Result write_integers(exchange *it, const reply *of) {
    int64_t count = it->request.count;
    int64_t step = it->request.segment != NULL ? it->request.segment->increment : of->increment;
    if (of->kind != REPLY_INTEGER) {
        return write_answer(it, of);
    }
    return write_count(it, of->first - (count - 1) * step, step, count);
}

enum MHD_Result write_last(exchange *it, const reply *of) {
    char number[NUMBER_SIZE] = "";
    text_out made = {0};
    bool none = of->kind != REPLY_INTEGER;
    if (!none) {
        number[write_number(number, (uint64_t)of->first, true)] = '\0';
    }
    text_print(&made, it->as_text ? "%s%s%s" : "{\"last\":%s%s%s}\n",
               it->as_text || none ? "" : "\"", none ? (it->as_text ? "none" : "null") : number,
               it->as_text ? "\n"
               : none      ? ""
                           : "\"");
    return answer_made(it, MHD_HTTP_OK, type_of(it), &made);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* It answers, so the process is alive. */
enum MHD_Result page_health(exchange *it) {
    return answer_text(it, MHD_HTTP_OK, plain_type, "ok\n");
}

enum MHD_Result page_ready(exchange *it) {
    char why[256];
    if (server_is_ready(why)) {
        return answer_text(it, MHD_HTTP_OK, plain_type, "ready\n");
    }
    return answer_problem(it, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, why);
}
