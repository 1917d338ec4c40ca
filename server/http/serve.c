/* SPDX-License-Identifier: MIT */
#include "serve.h"

#include "clients.h"
#include "config/setting.h"
#include "core/monotonic.h"
#include "errors.h"
#include "header.h"
#include "http_reply.h"
#include "net/access_log.h"
#include "net/memory.h"
#include "parked.h"

#include <string.h>

enum MHD_Result serve_begin(exchange *it, const char *method, const char *version) {
    unsigned status;
    const char *trouble = header_read(it, method, version, &status);
    if (trouble != NULL) { /* the body is not read, so the connection is closed */
        it->refused = true;
        meter_add(&it->loop->worker->meter.closed_broken, 1);
        return answer_problem(it, status, NULL, trouble);
    }
    it->stage = STAGE_HEADER;
    /* Without a body, libmicrohttpd 0.9.75 sends 100 Continue, takes the next request for the body,
     * and closes the connection. It does none of this if the reply is there already. */
    bool has_body = it->header.body > 0 || it->header.codings > 0;
    return it->header.expects && !has_body ? serve_go_on(it) : MHD_YES;
}

typedef struct pair_reader {
    exchange *it;
    int code;
} pair_reader;

static enum MHD_Result take_pair(void *self, enum MHD_ValueKind kind, const char *key,
                                 size_t key_length, const char *text, size_t length) {
    pair_reader *reader = self;
    exchange *it = reader->it;
    word name = {key, key_length}, value = {text != NULL ? text : "", length};
    (void)kind;
    reader->code = exchange_decode(it, &name, false, &it->error);
    if (reader->code == FIRN_OK) {
        reader->code = exchange_decode(it, &value, false, &it->error);
    }
    if (reader->code == FIRN_OK) {
        reader->code = exchange_add(it, name, value, &it->error);
    }
    return reader->code == FIRN_OK ? MHD_YES : MHD_NO;
}

/* Decodes the name, the query and the body. */
static int take_words(exchange *it, firn_error *error) {
    pair_reader reader = {it, exchange_decode(it, &it->request.name, false, &it->error)};
    if (reader.code == FIRN_OK) {
        MHD_get_connection_values_n(it->connection, MHD_GET_ARGUMENT_KIND, take_pair, &reader);
    }
    it->query_count = it->request.pair_count;
    if (reader.code == FIRN_OK) {
        reader.code = body_read(it, &it->error);
    }
    if (reader.code != FIRN_OK) {
        *error = it->error;
    }
    return reader.code;
}

/* Counts a request that issues, for the access log. */
static void log_access(const exchange *it, bool refused) {
    access_log_count(&it->request, &it->pass, client_address(it), 1, refused);
}

static enum MHD_Result fail(exchange *it, int code) {
    it->refused = true;
    log_access(it, true);
    return it->route->fail(it, code, &it->error);
}

/* Charges the client's quotas. */
static bool is_over_quota(exchange *it, int64_t *wait_ms) {
    const request *asked = &it->request;
    return verb_issues(asked->verb) && quota_charge_to(&it->charge, &it->pass, client_address(it),
                                                       1, asked->count, wait_ms, &it->error) == 0;
}

/* Retry-After says when the quota has room again. */
static enum MHD_Result refuse_quota(exchange *it, int64_t wait_ms) {
    meter_add(&it->loop->worker->meter.over_quota, 1);
    it->retry_s = (wait_ms + 999) / 1000;
    if (it->error.code == FIRN_ERANGE) {
        return fail(it, it->error.code);
    }
    it->refused = true;
    log_access(it, true);
    return answer_error(it, MHD_HTTP_TOO_MANY_REQUESTS, "QUOTA", &it->error);
}

static enum MHD_Result write_reply(exchange *it, const reply *of) {
    log_access(it, false);
    return it->route->write(it, of);
}

static enum MHD_Result ask(exchange *it);

static enum MHD_Result end_task(exchange *it) {
    waiter *one = it->waiter;
    reply of = {0};
    it->waiter = NULL;
    if (one == NULL) {
        return fail(it, it->error.code);
    }
    int code = waiter_finish(one, &of, &it->error);
    enum MHD_Result result = MHD_YES;
    if (code == FIRN_OK) {
        result = write_reply(it, &of);
    } else if (code != REQUEST_LATER) {
        result = fail(it, code);
    }
    waiter_free(one);
    return code == REQUEST_LATER ? ask(it) : result;
}

/* Answers, or parks the request for up to wait_ms. In that time other requests of the client may
 * spend its quota. */
static enum MHD_Result ask(exchange *it) {
    reply of = {0};
    int64_t wait_ms = 0;
    if (is_over_quota(it, &wait_ms)) {
        return refuse_quota(it, wait_ms);
    }
    int code = request_answer(&it->request, 1, &of, &it->error);
    if (code != REQUEST_TASK || it->loop->over) {
        quota_settle(&it->charge, code == FIRN_OK ? it->request.count : 0);
    }
    if (code == FIRN_OK) {
        return write_reply(it, &of);
    }
    if (code != REQUEST_LATER && code != REQUEST_TASK) {
        return fail(it, code);
    }
    if (it->until_ns == 0) {
        it->until_ns = it->began_ns + settings_now()->wait_ms * INT64_C(1000000);
        meter_add(&it->loop->worker->meter.parked, 1);
    }
    if (code == REQUEST_TASK && !it->loop->over) {
        park_for_task(it);
        return MHD_YES;
    }
    if (it->loop->over || monotonic_ns() >= it->until_ns) {
        int why = code == REQUEST_TASK ? FIRN_ESTORE : FIRN_EEXHAUSTED;
        return fail(it, it->error.code != 0 ? it->error.code : why);
    }
    park(it, STAGE_LATER, it->until_ns);
    return MHD_YES;
}

bool serve_retry(exchange *it) {
    int64_t wait_ms;
    reply *of = &it->answer;
    int code = FIRN_EWINDOW;
    meter_add(&it->loop->worker->meter.retried, 1);
    if (!is_over_quota(it, &wait_ms)) {
        code = request_answer(&it->request, 1, of, &it->error);
        quota_settle(&it->charge, code == FIRN_OK ? it->request.count : 0);
    }
    if (code == REQUEST_LATER) {
        return false;
    }
    it->stage = STAGE_ASKED; /* a failure, or a task: it comes again when it is asked again */
    if (code == FIRN_OK && reply_copy(of)) {
        it->stage = STAGE_ANSWERED;
    } else if (code == FIRN_OK) {
        out_of_memory(&it->error);
        it->stage = STAGE_TASK; /* which has failed */
    }
    return true;
}

/* Its array is free again; JSON is the writer's. */
static enum MHD_Result write_kept(exchange *it) {
    reply of = it->answer;
    it->answer = (reply){0};
    enum MHD_Result result = write_reply(it, &of);
    reply_free(&of);
    return result;
}

/* Can the reply exceed a few KiB? Files of the console are not allocated. */
static bool is_large(const exchange *it) {
    return it->route->page == page_metrics ||
           (it->route->verb != VERB_COUNT && request_is_large(&it->request));
}

/* NULL, or why a large reply is refused. Nothing was issued yet. Memory that requests hold does not
 * hide the metrics. */
static const char *judge_size(const exchange *it) {
    if (it->route == NULL || !is_large(it)) {
        return NULL;
    }
    return it->route->page != page_metrics ? replies_full()
           : replies_are_full()            ? REPLIES_ARE_FULL
                                           : NULL;
}

static enum MHD_Result begin_asking(exchange *it) {
    it->stage = STAGE_ASKED;
    it->request.worker = it->loop->worker;
    it->request.verb = it->route->verb;
    int code = take_words(it, &it->error);
    if (it->route->write == leaf_write) {
        leaf_read(&it->request);
    }
    if (code == FIRN_OK) {
        code = request_read(&it->request, &it->error);
    }
    if (code == FIRN_OK && it->route->write == write_integers && it->request.count > BATCH_MAX) {
        code = set_error(&it->error, FIRN_ERANGE,
                         "n=%lld is out of range: use 1 to %d, or reserve a block with /v1/block",
                         (long long)it->request.count, BATCH_MAX);
    }
    const char *full = code == FIRN_OK ? judge_size(it) : NULL;
    if (full != NULL) {
        return answer_refusal(it, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, full);
    }
    return code == FIRN_OK ? ask(it) : fail(it, code);
}

/* A page reads its own parameters. */
static enum MHD_Result show_page(exchange *it) {
    int code = take_words(it, &it->error);
    if (code != FIRN_OK) {
        it->refused = true;
        return write_problem(it, code, &it->error);
    }
    const char *full = judge_size(it);
    if (full != NULL) {
        return answer_refusal(it, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, full);
    }
    return it->route != NULL ? it->route->page(it) : page_file(it);
}

static enum MHD_Result refuse_method(exchange *it) {
    return answer_refusal(it, MHD_HTTP_METHOD_NOT_ALLOWED, NULL,
                          it->route != NULL && it->route->posts
                              ? "method not allowed: use GET, HEAD or POST"
                              : "method not allowed: use GET or HEAD");
}

enum MHD_Result serve_go_on(exchange *it) {
    enum MHD_Result result;
    switch (it->stage) {
    case STAGE_TASK:
        return end_task(it);
    case STAGE_WRITING:
        return writing_go_on(it);
    case STAGE_ANSWERED:
        return write_kept(it);
    case STAGE_ASKED:
    case STAGE_LATER:
        return ask(it);
    case STAGE_HEADER:
    case STAGE_DELAYED:
        break;
    }
    if (!it->served && !it->asks_options) {
        return refuse_method(it);
    }
    if (it->body_is_over) {
        return answer_refusal(it, MHD_HTTP_CONTENT_TOO_LARGE, NULL,
                              "the body is longer than 16384 bytes: send fewer parameters");
    }
    if (guard_refuses(it, &result)) {
        return result;
    }
    if (it->body_lacks_room) {
        return answer_refusal(it, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, BODIES_ARE_FULL);
    }
    if (it->asks_options) {
        return answer_options(it);
    }
    return it->route != NULL && it->route->verb != VERB_COUNT ? begin_asking(it) : show_page(it);
}

void serve_end(exchange *it) {
    if (!park_give_up(it)) {
        waiter_free(it->waiter);
    }
    json_decref(it->answer.json);
    reply_free(&it->answer);
    writing_free(it);
    free(it->decoded);
    body_free(it);
}
