/* SPDX-License-Identifier: MIT */
/* NEXT, BLOCK and LAST. Issuing takes no lock and calls no store. */
#include "verbs.h"

#include "catalog.h"
#include "errors.h"
#include "id_form.h"

#include <string.h>

static int read_integers(request *it, word key, word value, firn_error *error) {
    int code = read_count(&it->count, it, key, value, catalog_max_block(), error);
    return code == FIRN_ERANGE ? suffix_error(error, " (max_block)") : code;
}

static int read_counts_only(request *it, const char *verb, firn_error *error) {
    static const char *const known[] = {"count", NULL};
    int code = FIRN_OK;
    for (size_t i = 0; i < it->pair_count && code == FIRN_OK; i++) {
        word key = it->pairs[i].key;
        code = word_is(key, "count") ? read_integers(it, key, it->pairs[i].value, error)
                                     : refuse_key(it, key, verb, known, error);
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

int integers_read(request *it, firn_error *error) {
    it->segment = catalog_segment(it->name);
    if (it->segment == NULL) {
        int code = catalog_may_create(it->name, error);
        if (code != FIRN_OK) {
            return refuse_segment(it->name, code, error);
        }
        it->must_open = it->wants_segment = true;
    }
    return read_counts_only(it, "a segment", error);
}

int integers_read_last(request *it, firn_error *error) {
    it->segment = catalog_segment(it->name); /* NULL: none issued */
    return it->pair_count == 0
               ? FIRN_OK
               : set_error(
                     error, FIRN_EUSAGE,
                     "unexpected parameter: the last integer of a segment takes only the name");
}

/* The renewer is already fetching, or a task will. */
static int wait_for_range(segment *it, int code, firn_error *error) {
    if (code != FIRN_EWINDOW) {
        return code;
    }
    segment_want(it);
    return wait_for_renewer(&it->failed, error);
}

void integers_reply(const request *it, int64_t first, reply *out) {
    int64_t increment = it->segment->increment, last = first + (it->count - 1) * increment;
    out->kind = it->verb == VERB_BLOCK ? REPLY_RUN : REPLY_INTEGER;
    out->first = it->verb == VERB_BLOCK ? first : last;
    out->increment = increment;
    out->run = it->count;
    out->count = it->verb == VERB_BLOCK ? (size_t)it->count : 1;
    segment_count(it->segment, it->worker, last, (uint64_t)it->count);
    meter_add(&it->worker->meter.ids, (uint64_t)it->count);
}

static int answer_block(request *it, firn_segment *range, reply *out, firn_error *error) {
    int64_t first;
    bool due = false;
    int code = firn_segment_exact(range, it->count, false, &first, &due, error);
    if (code == FIRN_EWINDOW) {
        return REQUEST_TASK;
    }
    if (code == FIRN_OK) {
        if (due) {
            segment_want(it->segment);
        }
        integers_reply(it, first, out);
    }
    return code;
}

int integers_answer(request *it, size_t times, reply *out, firn_error *error) {
    segment *from = it->segment;
    firn_segment *range = atomic_load_explicit(&from->range, memory_order_acquire);
    int64_t first, count;
    bool due = false;
    if (range == NULL) {
        set_error(error, FIRN_EWINDOW, "%s is not open yet: try again in a moment", from->name);
        return wait_for_range(from, FIRN_EWINDOW, error);
    }
    if (it->count > 1 || it->verb == VERB_BLOCK) {
        return answer_block(it, range, out, error);
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
    segment_count(from, it->worker, first + (count - 1) * from->increment, (uint64_t)count);
    meter_add(&it->worker->meter.ids, (uint64_t)count);
    return FIRN_OK;
}

int integers_answer_last(const request *it, reply *out) {
    int64_t last = it->segment == NULL ? INT64_MIN : segment_last(it->segment);
    out->kind = last == INT64_MIN ? REPLY_NIL : REPLY_INTEGER;
    out->first = last;
    out->increment = 1;
    out->count = 1;
    return FIRN_OK;
}
