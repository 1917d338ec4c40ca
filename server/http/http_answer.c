/* SPDX-License-Identifier: MIT */
/* Answers of any kind: bytes, text, JSON and problems, with the headers that all have. What they
 * say is decided in http_reply.c and http_ids.c. */
#include "http_reply.h"

#include "core/server.h"
#include "core/text.h"
#include "object.h"
#include "parked.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 24

const char plain_type[] = "text/plain; charset=utf-8";
const char data_type[] = "application/json";

const char *type_of(const http_exchange *exchange) {
    return exchange->as_text ? plain_type : data_type;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void add_header(struct MHD_Response *response, const char *name, const char *value) {
    MHD_add_response_header(response, name, value);
}

/* Retry-After: exactly for failures that can pass. Firn-Note: about a packed ID. */
static void add_rare_headers(const http_exchange *exchange, struct MHD_Response *response,
                             unsigned status) {
    if (status == MHD_HTTP_UNAUTHORIZED) {
        add_header(response, "WWW-Authenticate", "Bearer realm=\"firn\"");
    }
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED || status == MHD_HTTP_NO_CONTENT) {
        bool posts =
            (exchange->route != NULL && exchange->route->posts) || strcmp(exchange->path, "*") == 0;
        add_header(response, "Allow", posts ? "GET, HEAD, OPTIONS, POST" : "GET, HEAD, OPTIONS");
    }
    if (status == MHD_HTTP_TOO_MANY_REQUESTS || status == MHD_HTTP_SERVICE_UNAVAILABLE) {
        char seconds[NUMBER_SIZE];
        seconds[write_number(seconds, (uint64_t)(exchange->retry_s > 0 ? exchange->retry_s : 1),
                             false)] = '\0';
        add_header(response, "Retry-After", seconds);
    }
    if (status == MHD_HTTP_OK && exchange->note != NULL) {
        add_header(response, "Firn-Note", exchange->note);
    }
}

static enum MHD_Result send_bytes(http_exchange *exchange, unsigned status, const char *type,
                                  struct MHD_Response *made, size_t size) {
    if (made == NULL) {
        return MHD_NO;
    }
    if (type != NULL) {
        add_header(made, "Content-Type", type);
    }
    add_header(made, "Cache-Control", "no-store");
    add_header(made, "X-Content-Type-Options", "nosniff");
    add_rare_headers(exchange, made, status);
    if (server_is_leaving()) {
        add_header(made, "Connection", "close");
    }
    enum MHD_Result result = MHD_queue_response(exchange->connection, status, made);
    MHD_destroy_response(made);
    meter_add(&exchange->loop->worker->meter.sent, size);
    return result;
}

enum MHD_Result answer_options(http_exchange *exchange) {
    static char nothing[1];
    return send_bytes(exchange, MHD_HTTP_NO_CONTENT, NULL,
                      MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT), 0);
}

enum MHD_Result answer_bytes(http_exchange *exchange, unsigned status, const char *type,
                             char *bytes, size_t size) {
    struct MHD_Response *made = MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
    if (made == NULL) {
        free(bytes);
    }
    reply_hold(exchange, size);
    return send_bytes(exchange, status, type, made, size);
}

enum MHD_Result answer_kept(http_exchange *exchange, unsigned status, const char *type, char *bytes,
                            size_t size) {
    return send_bytes(exchange, status, type,
                      MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_PERSISTENT), size);
}

enum MHD_Result answer_made(http_exchange *exchange, unsigned status, const char *type,
                            text_out *made) {
    if (made->failed) {
        free(made->bytes);
        return answer_refusal(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, "MEMORY",
                              "out of memory: ask for fewer at once");
    }
    return answer_bytes(exchange, status, type, made->bytes, made->length);
}

enum MHD_Result answer_text(http_exchange *exchange, unsigned status, const char *type,
                            const char *words) {
    size_t size = strlen(words);
    reply_hold(exchange, size);
    return send_bytes(
        exchange, status, type,
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)words, MHD_RESPMEM_MUST_COPY),
        size);
}

enum MHD_Result answer_json(http_exchange *exchange, unsigned status, const char *type,
                            json_t *made) {
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
        return answer_text(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, plain_type, "out of memory\n");
    }
    return answer_bytes(exchange, status, type, line.bytes, line.length);
}

/* ---- problems -------------------------------------------------------------------------------- */

enum MHD_Result answer_problem(http_exchange *exchange, unsigned status, const char *code,
                               const char *words) {
    json_t *made = json_pack("{s:s, s:s, s:i, s:o, s:s*}", "type", "about:blank", "title",
                             MHD_get_reason_phrase_for(status), "status", (int)status, "detail",
                             json_foreign(words), "code", code);
    return answer_json(exchange, status, "application/problem+json", made);
}

/* A part of the text; NULL: the error has none. */
static json_t *part(const firn_error *error, size_t position, size_t length) {
    char text[sizeof error->text];
    snprintf(text, sizeof text, "%.*s", (int)length, error->text + position);
    return length > 0 ? json_foreign(text) : NULL;
}

enum MHD_Result answer_error(http_exchange *exchange, unsigned status, const char *code,
                             const firn_error *error) {
    const bool cured = error->cure_at > 0;
    json_t *made =
        json_pack("{s:s, s:s, s:i, s:o, s:s, s:o*, s:s*, s:o*, s:o*}", "type", "about:blank",
                  "title", MHD_get_reason_phrase_for(status), "status", (int)status, "detail",
                  json_foreign(error->text), "code", code, "cure",
                  cured ? part(error, error->cure_at, strlen(error->text) - error->cure_at) : NULL,
                  "cure_name", cured ? firn_curename(error->cure) : NULL, "value",
                  part(error, error->value.at, error->value.length), "limit",
                  part(error, error->limit.at, error->limit.length));
    return answer_json(exchange, status, "application/problem+json", made);
}

enum MHD_Result answer_refusal(http_exchange *exchange, unsigned status, const char *code,
                               const char *words) {
    exchange->refused = true;
    return answer_problem(exchange, status, code, words);
}
