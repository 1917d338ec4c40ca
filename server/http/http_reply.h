/* SPDX-License-Identifier: MIT */
/* HTTP replies: JSON with IDs as strings, or plain text with one ID per line; errors as problem
 * details (RFC 9457). */
#ifndef FIRN_HTTP_REPLY_H
#define FIRN_HTTP_REPLY_H

#include "core/text.h"
#include "exchange.h"

#include <stddef.h>

/* Takes over `bytes`. `type` NULL: none. */
enum MHD_Result answer_bytes(http_exchange *exchange, unsigned status, const char *type,
                             char *bytes, size_t size);
/* The same with bytes that stay. */
enum MHD_Result answer_kept(http_exchange *exchange, unsigned status, const char *type, char *bytes,
                            size_t size);
/* Takes over what `made` has; it may have failed. */
enum MHD_Result answer_made(http_exchange *exchange, unsigned status, const char *type,
                            text_out *made);
extern const char plain_type[], data_type[]; /* media types: text, JSON */
/* The media type of IDs and objects. */
const char *type_of(const http_exchange *exchange);
enum MHD_Result answer_text(http_exchange *exchange, unsigned status, const char *type,
                            const char *text);
enum MHD_Result answer_json(http_exchange *exchange, unsigned status, const char *type,
                            json_t *made);
/* IDs, or `count` integers. Large replies are written a slice at a time: the exchange is parked
 * between them. */
enum MHD_Result write_ids(http_exchange *exchange, const server_reply *reply);
enum MHD_Result write_count(http_exchange *exchange, int64_t first, int64_t increment,
                            int64_t count);
/* Writes the next slice, or answers. */
enum MHD_Result writing_go_on(http_exchange *exchange);
void writing_free(http_exchange *exchange);
/* Status 204 with the allowed methods. */
enum MHD_Result answer_options(http_exchange *exchange);
/* A problem of RFC 9457. `code`: the name of a FIRN_E code, or NULL. */
enum MHD_Result answer_problem(http_exchange *exchange, unsigned status, const char *code,
                               const char *text);
/* Likewise, with the cure, the value and the limit of an error. */
enum MHD_Result answer_error(http_exchange *exchange, unsigned status, const char *code,
                             const firn_error *error);
/* The same, counted as a refusal. */
enum MHD_Result answer_refusal(http_exchange *exchange, unsigned status, const char *code,
                               const char *text);

/* For routes.def. */
enum MHD_Result write_answer(http_exchange *exchange, const server_reply *reply);
enum MHD_Result write_numbers(http_exchange *exchange, const server_reply *reply);
enum MHD_Result write_last(http_exchange *exchange, const server_reply *reply);
enum MHD_Result write_integers(http_exchange *exchange, const server_reply *reply);
enum MHD_Result write_problem(http_exchange *exchange, int code, const firn_error *error);
enum MHD_Result page_health(http_exchange *exchange);
enum MHD_Result page_ready(http_exchange *exchange);
/* The console's files, compiled in by console.cmake; the last entry has no name. */
enum MHD_Result page_file(http_exchange *exchange);

/* False: it names a mask, which these paths do not have. */
bool leaf_read(server_request *request);
enum MHD_Result leaf_write(http_exchange *exchange, const server_reply *reply);
enum MHD_Result leaf_fail(http_exchange *exchange, int code, const firn_error *error);
enum MHD_Result leaf_decode(http_exchange *exchange);

enum MHD_Result page_metrics(http_exchange *exchange);

typedef struct console_file {
    const char *name, *type; /* "index.html", "text/html; charset=utf-8" */
    const char *tag;         /* changes with its bytes */
    const unsigned char *bytes;
    size_t size;
    const unsigned char *packed; /* by gzip */
    size_t packed_size;
} console_file;

extern const console_file console_files[];

#endif
