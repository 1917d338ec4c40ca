/* SPDX-License-Identifier: MIT */
/* Fuzzes times: a time that was read is written as a text that means the same; eight bytes taken as
 * seconds come back from their text. An error leaves the time unchanged. */
#include <firn/firn.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_back(const firn_time *time) {
    for (int digits = 0; digits <= 9; digits++) {
        char text[FIRN_TIME_SIZE];
        firn_time back;
        firn_time_format(text, time, digits);
        assert(strlen(text) < FIRN_TIME_SIZE);
        assert(firn_time_parse(&back, text, strlen(text), NULL) == FIRN_OK);
        assert(back.sec == time->sec && back.ns <= time->ns);
        assert(digits < 9 || firn_time_cmp(&back, time) == 0);
    }
    char unix_ns[FIRN_TIME_SIZE];
    firn_time_unix_ns(unix_ns, time);
    assert(strlen(unix_ns) < FIRN_TIME_SIZE);
    assert((unix_ns[0] == '-') == (time->sec < 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_time time = {7, 8};
    firn_error error = {0};
    if (firn_time_parse(&time, (const char *)data, size, &error) == FIRN_OK) {
        assert(time.ns >= 0 && time.ns <= 999999999);
        check_back(&time);
    } else {
        assert(time.sec == 7 && time.ns == 8 && error.code == FIRN_ETEXT);
        assert(strlen(error.text) > 0 && strlen(error.text) < sizeof error.text);
    }
    if (size >= sizeof time.sec) {
        memcpy(&time.sec, data, sizeof time.sec);
        time.ns = data[size - 1] * 3921568;
        check_back(&time);
    }
    return 0;
}
