/* SPDX-License-Identifier: MIT */
/* Fuzzes the readers of records: the first byte chooses the format, the rest is the text.
 * Everything found is inside the text, records follow each other without a gap, and a record read
 * from an incomplete text is the same in the complete one. */
#include "stamp/records.h"

#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static record_times times; /* static for its size */

static const records_format *const formats[] = {&records_csv, &records_tsv, &records_json,
                                                &records_log};

static bool inside(const char *position, size_t length, const char *text, size_t size) {
    return position >= text && length <= size && (size_t)(position - text) <= size - length;
}

static void check_record(const records_plan *plan, const record *r, int code, const char *text,
                         size_t length) {
    assert(r->size <= length);
    if (r->placed) {
        assert(r->offset <= r->size && r->skip <= r->size - r->offset);
        assert(r->nothing != NULL && r->before != NULL && r->after != NULL);
    }
    if (r->passes) { /* blank lines at the very end */
        assert(code == FIRN_OK && !r->placed && !r->fatal && r->size == length);
        for (size_t i = 0; i < length; i++) {
            assert(text[i] == '\r' || text[i] == '\n');
        }
    } else if (code == FIRN_OK && r->size > 0) {
        assert(r->placed && !r->fatal);
        assert(r->time == plan->decoded || inside(r->time, r->time_length, text, r->size));
    }
}

/* jansson, which knows nothing of the walk over the text, finds the same time. */
static void check_member(const records_plan *plan, const record *r, const char *text) {
    json_t *object = json_loadb(text, r->size, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
    json_t *value = json_object_get(object, plan->time);
    assert(value != NULL);
    if (json_is_string(value)) {
        assert(json_string_length(value) == r->time_length);
        assert(memcmp(json_string_value(value), r->time, r->time_length) == 0);
    } else {
        json_t *again =
            json_loadb(r->time, r->time_length,
                       JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
        assert(json_equal(again, value));
        json_decref(again);
    }
    json_decref(object);
}

/* The same record of less text: it is the same, or not all there yet. */
static void check_part(records_plan *plan, const record *whole, int code, const char *text,
                       size_t part) {
    char *copy = malloc(part + 1); /* its end is the end of the memory */
    firn_error error;
    record r = {0};
    assert(copy != NULL);
    memcpy(copy, text, part);
    int of_part = plan->format->read(plan, copy, part, false, &r, &error);
    if (r.size > 0) {
        assert(r.size == whole->size && of_part == code && r.time_length == whole->time_length);
        assert(r.placed == whole->placed && r.offset == whole->offset && r.skip == whole->skip);
    }
    free(copy);
}

static void check_time(const record *r) {
    firn_time time, two;
    firn_error error = {0};
    int code = moments_read(&times, r->time, r->time_length, NULL, &time, &error);
    firn_error of_two;
    assert(moments_read(&times, r->time, r->time_length, NULL, &two, &of_two) == code);
    if (code == FIRN_OK) {
        assert(firn_time_cmp(&time, &two) == 0 && time.ns >= 0 && time.ns < 1000000000);
    } else {
        assert(code == FIRN_ETEXT && strlen(error.text) > 0 &&
               strlen(error.text) < sizeof error.text);
    }
}

static void check_records(records_plan *plan, const char *text, size_t length) {
    while (length > 0) {
        firn_error error = {0};
        record r = {0};
        int code = plan->format->read(plan, text, length, true, &r, &error);
        check_record(plan, &r, code, text, length);
        if (r.passes) {
            return;
        }
        if (r.size == 0) {
            assert(r.fatal && code != FIRN_OK);
            return;
        }
        if (code == FIRN_OK && !r.timed) {
            check_time(&r);
        }
        if (code == FIRN_OK && plan->format == &records_json) {
            check_member(plan, &r, text);
        }
        check_part(plan, &r, code, text, r.size);
        check_part(plan, &r, code, text, r.size / 2);
        text += r.size;
        length -= r.size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_error error = {0};
    if (size < 1) {
        return 0;
    }
    if (moments_open(&times, (data[0] & 16) != 0 ? "+01:00" : NULL, &error) != FIRN_OK) {
        return 0;
    }
    records_plan plan = {.format = formats[data[0] & 3],
                         .time = (data[0] & 3) == 3   ? NULL
                                 : (data[0] & 4) != 0 ? "2"
                                                      : "t",
                         .id = "id",
                         .header = (data[0] & 4) == 0,
                         .replace = (data[0] & 8) != 0,
                         .moments = &times};
    char *text = malloc(size); /* exactly as long, so that reading on is seen */
    record head = {0};
    memcpy(text, data + 1, size - 1);
    int code = plan.format->begin(&plan, text, size - 1, true, &head, &error);
    assert(head.size <= size - 1);
    if (code == FIRN_OK) {
        check_records(&plan, text + head.size, size - 1 - head.size);
    } else {
        assert(strlen(error.text) > 0 && strlen(error.text) < sizeof error.text);
    }
    free(plan.decoded);
    free(text);
    moments_close(&times);
    return 0;
}
