/* SPDX-License-Identifier: MIT */
/* NEXT, BLOCK and LAST. Issuing takes no lock and calls no store. */
#include "verbs.h"

#include "catalog.h"
#include "errors.h"
#include "id_form.h"

#include <string.h>

static int read_integers(server_request *request, word key, word value, firn_error *error) {
    int code = read_count(&request->count, request, key, value, catalog_max_block(), error);
    return code == FIRN_ERANGE ? suffix_error(error, " (max_block)") : code;
}

static int read_counts_only(server_request *request, const char *verb, firn_error *error) {
    static const char *const known[] = {"count", NULL};
    int code = FIRN_OK;
    for (size_t i = 0; i < request->pair_count && code == FIRN_OK; i++) {
        word key = request->pairs[i].key;
        code = word_is(key, "count") ? read_integers(request, key, request->pairs[i].value, error)
                                     : refuse_key(request, key, verb, known, error);
    }
    return code;
}

/* Suggests FIRN.NEW if the name is a generator or scheme. */
static int refuse_segment(word name, int code, firn_error *error) {
    const char *kind = catalog_generator(name) != NULL ? "generator"
                       : scheme_named(name) != NULL    ? "scheme"
                                                       : NULL;
    return kind == NULL
               ? code
               : set_error(error, FIRN_EUSAGE,
                           "'%.*s' is a %s, not a segment: use FIRN.NEW %.*s or GET /v1/new/NAME",
                           word_shown(name), name.text, kind, word_shown(name), name.text);
}

int integers_read(server_request *request, firn_error *error) {
    request->segment = catalog_segment(request->name);
    if (request->segment == NULL) {
        int code = catalog_may_create(request->name, error);
        if (code != FIRN_OK) {
            return refuse_segment(request->name, code, error);
        }
        request->must_open = request->wants_segment = true;
    }
    return read_counts_only(request, "a segment", error);
}

int integers_read_last(server_request *request, firn_error *error) {
    request->segment = catalog_segment(request->name); /* NULL: none issued */
    return request->pair_count == 0
               ? FIRN_OK
               : set_error(
                     error, FIRN_EUSAGE,
                     "unexpected parameter: the last integer of a segment takes only the name");
}

/* The renewer is already fetching, or a task will. */
static int wait_for_range(server_segment *segment, int code, firn_error *error) {
    if (code != FIRN_EWINDOW) {
        return code;
    }
    segment_want(segment);
    return wait_for_renewer(&segment->failed, error);
}

void integers_reply(const server_request *request, int64_t first, server_reply *out) {
    int64_t increment = request->segment->increment,
            last = first + (request->count - 1) * increment;
    out->kind = request->verb == VERB_BLOCK ? REPLY_RUN : REPLY_INTEGER;
    out->first = request->verb == VERB_BLOCK ? first : last;
    out->increment = increment;
    out->run = request->count;
    out->count = request->verb == VERB_BLOCK ? (size_t)request->count : 1;
    segment_count(request->segment, request->worker, last, (uint64_t)request->count);
    meter_add(&request->worker->meter.ids, (uint64_t)request->count);
}

static int answer_block(server_request *request, firn_segment *range, server_reply *out,
                        firn_error *error) {
    int64_t first;
    bool due = false;
    int code = firn_segment_exact(range, request->count, false, &first, &due, error);
    if (code == FIRN_EWINDOW) {
        return REQUEST_TASK;
    }
    if (code == FIRN_OK) {
        if (due) {
            segment_want(request->segment);
        }
        integers_reply(request, first, out);
    }
    return code;
}

int integers_answer(server_request *request, size_t times, server_reply *out, firn_error *error) {
    server_segment *from = request->segment;
    firn_segment *range = atomic_load_explicit(&from->range, memory_order_acquire);
    int64_t first, count;
    bool due = false;
    if (range == NULL) {
        set_error(error, FIRN_EWINDOW, "%s is not open yet: try again in a moment", from->name);
        return wait_for_range(from, FIRN_EWINDOW, error);
    }
    if (request->count > 1 || request->verb == VERB_BLOCK) {
        return answer_block(request, range, out, error);
    }
    int code = firn_segment_take(range, (int64_t)times, &first, &count, &due, error);
    if (code != FIRN_OK) {
        return wait_for_range(from, code, error);
    }
    if (due) {
        segment_want(from);
    }
    out->kind = REPLY_INTEGER;
    out->first = first;
    out->increment = from->increment;
    out->run = count;
    out->count = (size_t)count;
    segment_count(from, request->worker, first + (count - 1) * from->increment, (uint64_t)count);
    meter_add(&request->worker->meter.ids, (uint64_t)count);
    return FIRN_OK;
}

int integers_answer_last(const server_request *request, server_reply *out) {
    int64_t last = request->segment == NULL ? INT64_MIN : segment_last(request->segment);
    out->kind = last == INT64_MIN ? REPLY_NIL : REPLY_INTEGER;
    out->first = last;
    out->increment = 1;
    out->count = 1;
    return FIRN_OK;
}
