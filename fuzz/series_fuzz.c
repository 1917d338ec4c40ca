/* SPDX-License-Identifier: MIT */
/* Fuzzes templates of series. Numbers of an accepted template fit their room, are read back, and
 * differ if the period or the counter does; a refusal is one short line. Numbers that are changed
 * at one place are read or refused. */
#include "series.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DAYS = 9, COUNTERS = 5 };

static void check_refused(const firn_error *error) {
    assert(error->code < 0 && strlen(error->text) > 0 && strlen(error->text) < sizeof error->text);
    assert(strchr(error->text, '\n') == NULL);
}

static void check_changed(const firn__series_form *form, const char *number, uint8_t seed) {
    char text[FIRN_SERIES_SIZE];
    int64_t period, counter;
    firn_error error = {0};
    const size_t length = strlen(number);
    memcpy(text, number, length);
    text[seed % length] ^= (char)(1 + seed % 127);
    if (firn__series_read(form, &counter, &period, text, length - seed % 2, &error) != FIRN_OK) {
        check_refused(&error);
    }
}

static void check_numbers(const firn__series_form *form, uint8_t seed) {
    /* The ends of the calendar, a leap day, and weeks that belong to two years. */
    static const int64_t days[DAYS] = {-719162, 2932896, 0,     11016, 20088,
                                       20087,   20453,   20454, 20800};
    const int64_t counters[COUNTERS] = {1, 2, form->counter_most / 10 + 1, form->counter_most - 1,
                                        form->counter_most};
    char texts[DAYS * COUNTERS][FIRN_SERIES_SIZE];
    int64_t periods[DAYS];
    for (size_t i = 0; i < DAYS * COUNTERS; i++) {
        int64_t period, counter = 0;
        firn_error error = {0};
        const int64_t day = days[i / COUNTERS], wanted = counters[i % COUNTERS];
        assert(firn__series_period(&periods[i / COUNTERS], form, day));
        assert(periods[i / COUNTERS] >= 0 && periods[i / COUNTERS] < 1 << 22);
        if (wanted < 1) {
            texts[i][0] = '\0';
            continue;
        }
        firn__series_write(form, texts[i], day, wanted);
        assert(strlen(texts[i]) < FIRN_SERIES_SIZE && strlen(texts[i]) >= form->length);
        assert(firn__series_read(form, &counter, &period, texts[i], strlen(texts[i]), &error) ==
               FIRN_OK);
        assert(counter == wanted && period == periods[i / COUNTERS]);
        check_changed(form, texts[i], (uint8_t)(seed + i));
    }
    for (size_t i = 0; i < DAYS * COUNTERS; i++) {
        for (size_t j = 0; j < i && texts[i][0] != '\0'; j++) {
            const bool same = periods[i / COUNTERS] == periods[j / COUNTERS] &&
                              counters[i % COUNTERS] == counters[j % COUNTERS];
            assert(same || strcmp(texts[i], texts[j]) != 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn__series_form form;
    firn_error error = {0};
    if (size < 1) {
        return 0;
    }
    char *template = malloc(size); /* exactly as long, so that reading on is seen */
    assert(template != NULL);
    memcpy(template, data + 1, size - 1);
    template[size - 1] = '\0';
    if (firn__series_form_read(&form, template, data[0] % 6 - 1, (data[0] & 64) != 0, &error) ==
        FIRN_OK) {
        check_numbers(&form, data[0]);
    } else {
        check_refused(&error);
    }
    free(template);
    return 0;
}
