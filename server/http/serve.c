/* SPDX-License-Identifier: MIT */
#include "serve.h"

#include "clients.h"
#include "core/monotonic.h"
#include "errors.h"
#include "header.h"
#include "http_reply.h"
#include "net/access_log.h"
#include "net/memory.h"
#include "parked.h"
#include "settings/setting.h"

#include <string.h>

enum MHD_Result serve_begin(http_exchange *exchange, const char *method, const char *version) {
    unsigned status;
    const char *trouble = header_read(exchange, method, version, &status);
    if (trouble != NULL) { /* the body is not read, so the connection is closed */
        exchange->refused = true;
        meter_add(&exchange->loop->worker->meter.closed_broken, 1);
        return answer_problem(exchange, status, NULL, trouble);
    }
    exchange->stage = STAGE_HEADER;
    /* Without a body, libmicrohttpd 0.9.75 sends 100 Continue, takes the next request for the body,
     * and closes the connection. It does none of this if the reply is there already. */
    bool has_body = exchange->header.body > 0 || exchange->header.codings > 0;
    return exchange->header.expects && !has_body ? serve_go_on(exchange) : MHD_YES;
}

typedef struct pair_reader {
    http_exchange *exchange;
    int code;
} pair_reader;

static enum MHD_Result take_pair(void *self, enum MHD_ValueKind kind, const char *key,
                                 size_t key_length, const char *text, size_t length) {
    pair_reader *reader = self;
    http_exchange *exchange = reader->exchange;
    word name = {key, key_length}, value = {text != NULL ? text : "", length};
    (void)kind;
    reader->code = exchange_decode(exchange, &name, false, &exchange->error);
    if (reader->code == FIRN_OK) {
        reader->code = exchange_decode(exchange, &value, false, &exchange->error);
    }
    if (reader->code == FIRN_OK) {
        reader->code = exchange_add(exchange, name, value, &exchange->error);
    }
    return reader->code == FIRN_OK ? MHD_YES : MHD_NO;
}

/* Decodes the name, the query and the body. */
static int take_words(http_exchange *exchange, firn_error *error) {
    pair_reader reader = {
        exchange, exchange_decode(exchange, &exchange->request.name, false, &exchange->error)};
    if (reader.code == FIRN_OK) {
        MHD_get_connection_values_n(exchange->connection, MHD_GET_ARGUMENT_KIND, take_pair,
                                    &reader);
    }
    exchange->query_count = exchange->request.pair_count;
    if (reader.code == FIRN_OK) {
        reader.code = body_read(exchange, &exchange->error);
    }
    if (reader.code != FIRN_OK) {
        *error = exchange->error;
    }
    return reader.code;
}

/* Counts a request that issues, for the access log. */
static void log_access(const http_exchange *exchange, bool refused) {
    access_log_count(&exchange->request, &exchange->pass, client_address(exchange), 1, refused);
}

static enum MHD_Result fail(http_exchange *exchange, int code) {
    exchange->refused = true;
    log_access(exchange, true);
    return exchange->route->fail(exchange, code, &exchange->error);
}

/* Charges the client's quotas. */
static bool is_over_quota(http_exchange *exchange, int64_t *wait_ms) {
    const server_request *request = &exchange->request;
    return verb_is_charged(request->verb) &&
           quota_charge_to(&exchange->charge, &exchange->pass, client_address(exchange), 1,
                           request->count, wait_ms, &exchange->error) == 0;
}

/* Retry-After says when the quota has room again. */
static enum MHD_Result refuse_quota(http_exchange *exchange, int64_t wait_ms) {
    meter_add(&exchange->loop->worker->meter.over_quota, 1);
    exchange->retry_s = (wait_ms + 999) / 1000;
    if (exchange->error.code == FIRN_ERANGE) {
        return fail(exchange, exchange->error.code);
    }
    exchange->refused = true;
    log_access(exchange, true);
    return answer_error(exchange, MHD_HTTP_TOO_MANY_REQUESTS, "QUOTA", &exchange->error);
}

static enum MHD_Result write_reply(http_exchange *exchange, const server_reply *reply) {
    log_access(exchange, false);
    exchange->note = reply->note;
    return exchange->route->write(exchange, reply);
}

static enum MHD_Result ask(http_exchange *exchange);

static enum MHD_Result end_task(http_exchange *exchange) {
    server_waiter *waiter = exchange->waiter;
    server_reply reply = {0};
    exchange->waiter = NULL;
    if (waiter == NULL) {
        return fail(exchange, exchange->error.code);
    }
    int code = waiter_finish(waiter, &reply, &exchange->error);
    enum MHD_Result result = MHD_YES;
    if (code == FIRN_OK) {
        result = write_reply(exchange, &reply);
    } else if (code != REQUEST_LATER) {
        result = fail(exchange, code);
    }
    waiter_free(waiter);
    return code == REQUEST_LATER ? ask(exchange) : result;
}

/* Answers, or parks the request for up to wait_ms. In that time other requests of the client may
 * spend its quota. */
static enum MHD_Result ask(http_exchange *exchange) {
    server_reply reply = {0};
    int64_t wait_ms = 0;
    if (is_over_quota(exchange, &wait_ms)) {
        return refuse_quota(exchange, wait_ms);
    }
    int code = request_answer(&exchange->request, 1, &reply, &exchange->error);
    if (code != REQUEST_TASK || exchange->loop->over) {
        quota_settle(&exchange->charge,
                     code == FIRN_OK ? exchange->request.count : (int64_t)reply.count);
    }
    if (code == FIRN_OK) {
        return write_reply(exchange, &reply);
    }
    if (code != REQUEST_LATER && code != REQUEST_TASK) {
        return fail(exchange, code);
    }
    if (exchange->until_ns == 0) {
        exchange->until_ns = exchange->began_ns + settings_now()->wait_ms * INT64_C(1000000);
        meter_add(&exchange->loop->worker->meter.parked, 1);
    }
    if (code == REQUEST_TASK && !exchange->loop->over) {
        park_for_task(exchange);
        return MHD_YES;
    }
    if (exchange->loop->over || monotonic_ns() >= exchange->until_ns) {
        int why = code == REQUEST_TASK ? FIRN_ESTORE : FIRN_EEXHAUSTED;
        return fail(exchange, exchange->error.code != 0 ? exchange->error.code : why);
    }
    park(exchange, STAGE_LATER, exchange->until_ns);
    return MHD_YES;
}

bool serve_retry(http_exchange *exchange) {
    int64_t wait_ms;
    server_reply *reply = &exchange->answer;
    int code = FIRN_EWINDOW;
    meter_add(&exchange->loop->worker->meter.retried, 1);
    if (!is_over_quota(exchange, &wait_ms)) {
        code = request_answer(&exchange->request, 1, reply, &exchange->error);
        quota_settle(&exchange->charge,
                     code == FIRN_OK ? exchange->request.count : (int64_t)reply->count);
    }
    if (code == REQUEST_LATER) {
        return false;
    }
    exchange->stage = STAGE_ASKED; /* a failure, or a task: it comes again when it is asked again */
    if (code == FIRN_OK && reply_copy(reply)) {
        exchange->stage = STAGE_ANSWERED;
    } else if (code == FIRN_OK) {
        out_of_memory(&exchange->error);
        exchange->stage = STAGE_TASK; /* which has failed */
    }
    return true;
}

/* Its array is free again; JSON is the writer's. */
static enum MHD_Result write_kept(http_exchange *exchange) {
    server_reply reply = exchange->answer;
    exchange->answer = (server_reply){0};
    enum MHD_Result result = write_reply(exchange, &reply);
    reply_free(&reply);
    return result;
}

/* Can the reply exceed a few KiB? Files of the console are not allocated. */
static bool is_large(const http_exchange *exchange) {
    return exchange->route->page == page_metrics ||
           (exchange->route->verb != VERB_COUNT && request_is_large(&exchange->request));
}

/* NULL, or why a large reply is refused. Nothing was issued yet. Memory that requests hold does not
 * hide the metrics. */
static const char *judge_size(const http_exchange *exchange) {
    if (exchange->route == NULL || !is_large(exchange)) {
        return NULL;
    }
    return exchange->route->page != page_metrics ? replies_full()
           : replies_are_full()                  ? REPLIES_ARE_FULL
                                                 : NULL;
}

static enum MHD_Result begin_asking(http_exchange *exchange) {
    exchange->stage = STAGE_ASKED;
    exchange->request.worker = exchange->loop->worker;
    exchange->request.verb = exchange->route->verb;
    int code = take_words(exchange, &exchange->error);
    if (code == FIRN_OK && exchange->route->write == leaf_write && !leaf_read(&exchange->request)) {
        return answer_refusal(exchange, MHD_HTTP_BAD_REQUEST, NULL,
                              "paths of Leaf have no masks: use /v1/new/NAME?mask=MASK");
    }
    if (code == FIRN_OK) {
        code = request_read(&exchange->request, &exchange->error);
    }
    if (code == FIRN_OK && exchange->route->write == write_integers &&
        exchange->request.count > BATCH_MAX) {
        code = set_error(&exchange->error, FIRN_ERANGE,
                         "n=%lld is out of range: use 1 to %d, or reserve a block with /v1/block",
                         (long long)exchange->request.count, BATCH_MAX);
    }
    const char *full = code == FIRN_OK ? judge_size(exchange) : NULL;
    if (full != NULL) {
        return answer_refusal(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, full);
    }
    return code == FIRN_OK ? ask(exchange) : fail(exchange, code);
}

/* A page reads its own parameters. */
static enum MHD_Result show_page(http_exchange *exchange) {
    int code = take_words(exchange, &exchange->error);
    if (code != FIRN_OK) {
        exchange->refused = true;
        return write_problem(exchange, code, &exchange->error);
    }
    const char *full = judge_size(exchange);
    if (full != NULL) {
        return answer_refusal(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, full);
    }
    return exchange->route != NULL ? exchange->route->page(exchange) : page_file(exchange);
}

static enum MHD_Result refuse_method(http_exchange *exchange) {
    return answer_refusal(exchange, MHD_HTTP_METHOD_NOT_ALLOWED, NULL,
                          exchange->route != NULL && exchange->route->posts
                              ? "method not allowed: use GET, HEAD or POST"
                              : "method not allowed: use GET or HEAD");
}

enum MHD_Result serve_go_on(http_exchange *exchange) {
    enum MHD_Result result;
    switch (exchange->stage) {
    case STAGE_TASK:
        return end_task(exchange);
    case STAGE_WRITING:
        return writing_go_on(exchange);
    case STAGE_ANSWERED:
        return write_kept(exchange);
    case STAGE_ASKED:
    case STAGE_LATER:
        return ask(exchange);
    case STAGE_HEADER:
    case STAGE_DELAYED:
        break;
    }
    if (!exchange->served && !exchange->asks_options) {
        return refuse_method(exchange);
    }
    if (exchange->body_is_over) {
        return answer_refusal(exchange, MHD_HTTP_CONTENT_TOO_LARGE, NULL,
                              "the body is longer than 16384 bytes: send fewer parameters");
    }
    if (guard_refuses(exchange, &result)) {
        return result;
    }
    if (exchange->body_lacks_room) {
        return answer_refusal(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, BODIES_ARE_FULL);
    }
    if (exchange->asks_options) {
        return answer_options(exchange);
    }
    return exchange->route != NULL && exchange->route->verb != VERB_COUNT ? begin_asking(exchange)
                                                                          : show_page(exchange);
}

void serve_end(http_exchange *exchange) {
    if (!park_give_up(exchange)) {
        waiter_free(exchange->waiter);
    }
    json_decref(exchange->answer.json);
    reply_free(&exchange->answer);
    writing_free(exchange);
    free(exchange->decoded);
    body_free(exchange);
}
