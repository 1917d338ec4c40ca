/* SPDX-License-Identifier: MIT */
/* The files of the console, compiled in: as they are or compressed, and not again to a browser that
 * has them. */
#include "core/server.h"
#include "header.h"
#include "http_reply.h"

#include <stdio.h>
#include <string.h>

#define TAG_SIZE 64

/* The value of a header; length 0: absent or empty. */
static word value_of(const http_exchange *exchange, const char *name) {
    const char *text = MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
    return (word){text != NULL ? text : "", text != NULL ? strlen(text) : 0};
}

/* Has the browser this representation (RFC 9110, 13.1.2)? */
static bool has_it(const http_exchange *exchange, const char *tag) {
    word list = value_of(exchange, "If-None-Match");
    while (list.length > 0) {
        word part = list_part(&list);
        if (part.length > 2 && memcmp(part.text, "W/", 2) == 0) {
            part = (word){part.text + 2, part.length - 2};
        }
        if (word_is_same(part, word_of(tag)) || word_is(part, "*")) {
            return true;
        }
    }
    return false;
}

/* The console may talk to this server only, compile its WebAssembly, and not be framed. */
static void add_headers(struct MHD_Response *response, const char *type, const char *tag,
                        bool packed) {
    static const char *const fixed[][2] = {
        {"Content-Security-Policy",
         "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; base-uri 'none'; "
         "form-action 'self'; frame-ancestors 'none'"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Content-Type-Options", "nosniff"},
        {"Cache-Control", "no-cache"}, /* kept, but asked for again */
        {"Vary", "Accept-Encoding"},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        MHD_add_response_header(response, fixed[i][0], fixed[i][1]);
    }
    MHD_add_response_header(response, "ETag", tag);
    if (type != NULL) {
        MHD_add_response_header(response, "Content-Type", type);
    }
    if (packed) {
        MHD_add_response_header(response, "Content-Encoding", "gzip");
    }
    if (server_is_leaving()) {
        MHD_add_response_header(response, "Connection", "close");
    }
}

static enum MHD_Result send_file(http_exchange *exchange, const console_file *file) {
    char tag[TAG_SIZE];
    bool packed = file->packed_size < file->size &&
                  accept_weight(value_of(exchange, "Accept-Encoding"), "gzip") > 0;
    snprintf(tag, sizeof tag, "\"%s%s\"", file->tag, packed ? "-gzip" : "");
    bool has = has_it(exchange, tag);
    const unsigned char *bytes = packed ? file->packed : file->bytes;
    size_t size = has ? 0 : packed ? file->packed_size : file->size;
    struct MHD_Response *made =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)bytes, MHD_RESPMEM_PERSISTENT);
    if (made == NULL) {
        return MHD_NO;
    }
    add_headers(made, has ? NULL : file->type, tag, packed && !has);
    enum MHD_Result result =
        MHD_queue_response(exchange->connection, has ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, made);
    MHD_destroy_response(made);
    meter_add(&exchange->loop->worker->meter.sent, exchange->head ? 0 : size);
    return result;
}

enum MHD_Result page_file(http_exchange *exchange) {
    const char *name = exchange->path[1] == '\0' ? "index.html" : exchange->path + 1;
    for (const console_file *file = console_files; file->name != NULL; file++) {
        if (strcmp(file->name, name) == 0) {
            return send_file(exchange, file);
        }
    }
    return answer_refusal(
        exchange, MHD_HTTP_NOT_FOUND, NULL,
        "unknown path: use /v1/new/SCHEME, /v1/segments/NAME or /v1/show/ID, or see "
        "/openapi.json");
}
