/* SPDX-License-Identifier: MIT */
/* Large replies are written in slices: together they are the whole reply, and each is bounded. */
#include "config/setting.h"
#include "resp/connection.h"
#include "resp/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define IDS        BATCH_MAX
#define SLICE_MOST (256 << 10) /* bytes */

static reply reply_of(worker *by, bool narrow, size_t count) {
    firn_error error;
    assert_int_equal(worker_make_room(by, narrow, &error), FIRN_OK);
    for (size_t i = 0; i < count; i++) {
        if (narrow) {
            by->numbers[i] = i * i * i;
        } else {
            by->ids[i] = (firn_id){.low = i, .high = i * i};
        }
    }
    return (reply){.kind = narrow ? REPLY_NUMBERS : REPLY_IDS,
                   .count = count,
                   .numbers = narrow ? by->numbers : NULL,
                   .ids = narrow ? NULL : by->ids};
}

static question question_of(worker *by, int form) {
    question ask = {.shape = SHAPE_ID, .is_many = true};
    ask.request.worker = by;
    ask.request.form = form;
    return ask;
}

/* Writes a reply at once and in slices; the bytes must be the same. */
static void check_slices(worker *by, bool narrow, int form, size_t count) {
    resp_out whole = {0}, sliced = {0};
    question ask = question_of(by, form);
    reply of = reply_of(by, narrow, count);
    command_reply(&ask, &of, &whole);
    assert_true(stream_is_large(&ask, &of));
    stream *it = stream_begin(&ask, &of, &sliced);
    assert_non_null(it);
    size_t slices = 0;
    for (bool last = false; !last; slices++) {
        size_t before = sliced.length;
        last = stream_write(it, &sliced);
        assert_true(sliced.length - before <= SLICE_MOST);
    }
    assert_true(slices > 1);
    assert_int_equal(sliced.length, whole.length);
    assert_memory_equal(sliced.text, whole.text, whole.length);
    stream_free(it);
    resp_out_free(&whole);
    resp_out_free(&sliced);
}

static void test_slices(void **state) {
    (void)state;
    worker by = {.index = 0};
    check_slices(&by, true, FIRN_FORM_DEC, IDS);
    check_slices(&by, true, FIRN_FORM_DEC, IDS / 2 + 1);
    check_slices(&by, false, FIRN_FORM_UUID, IDS);
    assert_non_null(by.numbers); /* returned for the next request */
    assert_non_null(by.ids);
    free(by.numbers);
    free(by.ids);
}

/* The worker answers other requests, with its own array, while a reply is being written. */
static void test_others(void **state) {
    (void)state;
    resp_out out = {0};
    worker by = {.index = 0};
    question ask = question_of(&by, FIRN_FORM_DEC);
    reply first = reply_of(&by, true, IDS);
    const uint64_t *numbers = by.numbers;
    stream *it = stream_begin(&ask, &first, &out);
    assert_null(by.numbers);
    reply second = reply_of(&by, true, IDS);
    assert_ptr_not_equal(second.numbers, numbers);
    memset(by.numbers, 0, IDS * sizeof *by.numbers);
    while (!stream_write(it, &out)) {
    }
    assert_memory_equal(out.text + out.length - 3, "5\r\n", 3); /* 65535^3 ends in 5 */
    stream_free(it);
    resp_out_free(&out);
    free(by.numbers);
}

static void test_small(void **state) {
    (void)state;
    worker by = {.index = 0};
    question ask = question_of(&by, FIRN_FORM_DEC);
    reply of = {.kind = REPLY_NUMBERS, .count = 1000};
    assert_false(stream_is_large(&ask, &of));
    of = (reply){.kind = REPLY_INTEGER, .count = IDS}; /* one integer for each of many requests */
    assert_false(stream_is_large(&ask, &of));
}

/* Bytes that are not written yet count as unread: replies_mib is the limit. */
static void test_memory(void **state) {
    (void)state;
    settings set;
    firn_error error;
    settings_preset(&set);
    set.replies_mib = 1;
    assert_int_equal(settings_put(&set, &error), FIRN_OK);
    stream *all[2];
    resp_out out = {0};
    worker by = {.index = 0};
    question ask = question_of(&by, FIRN_FORM_DEC);
    for (int i = 0; i < 2; i++) {
        assert_null(unsent_full());
        reply of = reply_of(&by, true, IDS);
        all[i] = stream_begin(&ask, &of, &out);
    }
    assert_non_null(unsent_full());
    for (int i = 0; i < 2; i++) {
        stream_free(all[i]);
    }
    assert_null(unsent_full());
    stream_free(NULL);
    resp_out_free(&out);
    free(by.numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
