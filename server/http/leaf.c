/* SPDX-License-Identifier: MIT */
/* The paths of Leaf's server, with its replies: the bare number as text; failures as status 500
 * with the object of its framework. */
#include "http_reply.h"

#include "core/catalog.h"
#include "object.h"

#include <string.h>
#include <time.h>

static const char leaf_text[] = "text/plain;charset=UTF-8";
static const char leaf_json[] = "application/json;charset=UTF-8";

/* Leaf has no query and issues from its one generator for any key. Here a key can name a generator
 * of plain numbers; otherwise the scheme `leaf` answers. Only a mask is not ignored: a client that
 * names one would show plain IDs. */
bool leaf_read(server_request *request) {
    if (request_value(request, "mask").text != NULL) {
        return false;
    }
    request->pair_count = 0;
    if (request->verb == VERB_NEW) {
        const server_generator *named = catalog_generator(request->name);
        request->name = named != NULL && named->narrow ? request->name : word_of("leaf");
    }
    return true;
}

enum MHD_Result leaf_write(http_exchange *exchange, const server_reply *reply) {
    char number[FIRN_TEXT_SIZE + 66 + 1];
    size_t length = 0;
    if (reply->kind == REPLY_NUMBERS) {
        length = write_number(number, reply->numbers[0], reply->is_signed);
    } else if (reply->kind == REPLY_IDS) {
        length = reply_write_id(number, &exchange->request, reply, 0);
    } else if (reply->kind == REPLY_INTEGER) {
        length = write_number(number, (uint64_t)reply->first, true);
    }
    number[length] = '\0';
    return answer_text(exchange, MHD_HTTP_OK, leaf_text, number);
}

static enum MHD_Result answer_failure(http_exchange *exchange, unsigned status,
                                      const char *exception, const char *message) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    json_int_t now_ms = (json_int_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    return answer_json(exchange, status, leaf_json,
                       json_pack("{s:I, s:i, s:s, s:s, s:s, s:o}", "timestamp", now_ms, "status",
                                 (int)status, "error", MHD_get_reason_phrase_for(status),
                                 "exception", exception, "message", message, "path",
                                 json_foreign(exchange->path)));
}

/* Leaf returns -1: not ready, -2: no such key, -3: both segments used up. */
enum MHD_Result leaf_fail(http_exchange *exchange, int code, const firn_error *error) {
    int id = code == FIRN_EUSAGE ? -2 : code == FIRN_EEND || code == FIRN_EWINDOW ? -3 : -1;
    char message[64] = "Result{id=-1, status=EXCEPTION}";
    (void)error;
    message[strlen("Result{id=-")] = (char)('0' - id);
    return answer_failure(exchange, MHD_HTTP_INTERNAL_SERVER_ERROR,
                          "com.sankuai.inf.leaf.server.exception.LeafServerException", message);
}

#define EPOCH_MS INT64_C(1288834974657)
#define TICKS    (INT64_C(1) << 42) /* of the time, half of them before the epoch */

/* ---- /decodeSnowflakeId ---------------------------------------------------------------------- */

/* As Java reads a long: a sign, then digits. */
static bool read_long(word text, firn_id *id) {
    bool plus = text.length > 1 && text.text[0] == '+';
    bool digit = text.length > plus && text.text[plus] != '+';
    bool minus = text.length > 0 && text.text[0] == '-';
    firn_error error;
    if (!digit || (plus && text.text[1] == '-') ||
        firn_parse(id, FIRN_FORM_DEC, 64, text.text + plus, text.length - plus, &error) != 0) {
        return false;
    }
    return minus == ((int64_t)id->low < 0);
}

/* As in Leaf, the sign bit is part of the time, which may be negative. */
static bool read_fields(const firn_id *id, int64_t *unix_ms, int64_t *node, int64_t *sequence) {
    firn_scheme scheme;
    firn_fields fields = {0};
    firn_error error;
    if (firn_scheme_make(&scheme, "time:42/ms@@1970-01-01 node:10 sequence:12", NULL, NULL, NULL,
                         &error) != 0 ||
        firn_unpack(&fields, &scheme, id, &error) != 0) {
        return false;
    }
    int64_t tick = (int64_t)fields.value[0].low;
    tick = tick >= TICKS / 2 ? tick - TICKS : tick;
    *unix_ms = tick + EPOCH_MS;
    *node = (int64_t)fields.value[1].low;
    *sequence = (int64_t)fields.value[2].low;
    return true;
}

static json_t *describe(int64_t unix_ms, int64_t node, int64_t sequence) {
    int64_t ms = (unix_ms % 1000 + 1000) % 1000;
    time_t seconds = (time_t)((unix_ms - ms) / 1000);
    struct tm local;
    char when[32];
    if (localtime_r(&seconds, &local) == NULL) {
        return NULL;
    }
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
    json_t *stamp = json_sprintf("%lld(%s.%03d)", (long long)unix_ms, when, (int)ms);
    return json_pack("{s:o, s:o, s:o}", "timestamp", stamp, "sequenceId",
                     json_sprintf("%lld", (long long)sequence), "workerId",
                     json_sprintf("%lld", (long long)node));
}

enum MHD_Result leaf_decode(http_exchange *exchange) {
    firn_id id;
    int64_t unix_ms, node, sequence;
    const server_request *request = &exchange->request;
    for (size_t i = 0; i < request->pair_count; i++) {
        if (!word_is(request->pairs[i].key, "snowflakeId")) {
            continue;
        }
        if (read_long(request->pairs[i].value, &id) &&
            read_fields(&id, &unix_ms, &node, &sequence)) {
            return answer_json(exchange, MHD_HTTP_OK, leaf_json, describe(unix_ms, node, sequence));
        }
        return answer_json(exchange, MHD_HTTP_OK, leaf_json,
                           json_pack("{s:s}", "errorMsg", "snowflake Id反解析发生异常!"));
    }
    exchange->refused = true;
    return answer_failure(exchange, MHD_HTTP_BAD_REQUEST,
                          "org.springframework.web.bind.MissingServletRequestParameterException",
                          "Required String parameter 'snowflakeId' is not present");
}
