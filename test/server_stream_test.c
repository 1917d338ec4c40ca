/* SPDX-License-Identifier: MIT */
/* Large replies are written in slices: together they are the whole reply, and each is bounded. */
#include "resp/connection.h"
#include "resp/stream.h"
#include "settings/setting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define IDS        BATCH_MAX
#define SLICE_MOST (256 << 10) /* bytes */

static server_reply reply_of(server_worker *worker, bool narrow, size_t count) {
    firn_error error;
    assert_int_equal(worker_make_room(worker, narrow, &error), FIRN_OK);
    for (size_t i = 0; i < count; i++) {
        if (narrow) {
            worker->numbers[i] = i * i * i;
        } else {
            worker->ids[i] = (firn_id){.low = i, .high = i * i};
        }
    }
    return (server_reply){.kind = narrow ? REPLY_NUMBERS : REPLY_IDS,
                          .count = count,
                          .numbers = narrow ? worker->numbers : NULL,
                          .ids = narrow ? NULL : worker->ids};
}

static client_question question_of(server_worker *worker, int form) {
    client_question ask = {.shape = SHAPE_ID, .is_many = true};
    ask.request.worker = worker;
    ask.request.form = form;
    return ask;
}

/* Writes a reply at once and in slices; the bytes must be the same. */
static void check_slices(server_worker *worker, bool narrow, int form, size_t count) {
    resp_out whole = {0}, sliced = {0};
    client_question ask = question_of(worker, form);
    server_reply reply = reply_of(worker, narrow, count);
    command_reply(&ask, &reply, &whole);
    assert_true(stream_is_large(&ask, &reply));
    resp_stream *stream = stream_begin(&ask, &reply, &sliced);
    assert_non_null(stream);
    size_t slices = 0;
    for (bool last = false; !last; slices++) {
        size_t before = sliced.length;
        last = stream_write(stream, &sliced);
        assert_true(sliced.length - before <= SLICE_MOST);
    }
    assert_true(slices > 1);
    assert_int_equal(sliced.length, whole.length);
    assert_memory_equal(sliced.text, whole.text, whole.length);
    stream_free(stream);
    resp_out_free(&whole);
    resp_out_free(&sliced);
}

static void test_slices(void **state) {
    (void)state;
    server_worker worker = {.index = 0};
    check_slices(&worker, true, FIRN_FORM_DEC, IDS);
    check_slices(&worker, true, FIRN_FORM_DEC, IDS / 2 + 1);
    check_slices(&worker, false, FIRN_FORM_UUID, IDS);
    assert_non_null(worker.numbers); /* returned for the next request */
    assert_non_null(worker.ids);
    free(worker.numbers);
    free(worker.ids);
}

/* The worker answers other requests, with its own array, while a reply is being written. */
static void test_others(void **state) {
    (void)state;
    resp_out out = {0};
    server_worker worker = {.index = 0};
    client_question ask = question_of(&worker, FIRN_FORM_DEC);
    server_reply first = reply_of(&worker, true, IDS);
    const uint64_t *numbers = worker.numbers;
    resp_stream *stream = stream_begin(&ask, &first, &out);
    assert_null(worker.numbers);
    server_reply second = reply_of(&worker, true, IDS);
    assert_ptr_not_equal(second.numbers, numbers);
    memset(worker.numbers, 0, IDS * sizeof *worker.numbers);
    while (!stream_write(stream, &out)) {
    }
    assert_memory_equal(out.text + out.length - 3, "5\r\n", 3); /* 65535^3 ends in 5 */
    stream_free(stream);
    resp_out_free(&out);
    free(worker.numbers);
}

static void test_small(void **state) {
    (void)state;
    server_worker worker = {.index = 0};
    client_question ask = question_of(&worker, FIRN_FORM_DEC);
    server_reply reply = {.kind = REPLY_NUMBERS, .count = 1000};
    assert_false(stream_is_large(&ask, &reply));
    reply = (server_reply){.kind = REPLY_INTEGER,
                           .count = IDS}; /* one integer for each of many requests */
    assert_false(stream_is_large(&ask, &reply));
}

/* Bytes that are not written yet count as unread: replies_mib is the limit. */
static void test_memory(void **state) {
    (void)state;
    server_settings set;
    firn_error error;
    settings_preset(&set);
    set.replies_mib = 1;
    assert_int_equal(settings_put(&set, &error), FIRN_OK);
    resp_stream *all[2];
    resp_out out = {0};
    server_worker worker = {.index = 0};
    client_question ask = question_of(&worker, FIRN_FORM_DEC);
    for (int i = 0; i < 2; i++) {
        assert_null(unsent_full());
        server_reply reply = reply_of(&worker, true, IDS);
        all[i] = stream_begin(&ask, &reply, &out);
    }
    assert_non_null(unsent_full());
    for (int i = 0; i < 2; i++) {
        stream_free(all[i]);
    }
    assert_null(unsent_full());
    stream_free(NULL);
    resp_out_free(&out);
    free(worker.numbers);
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
