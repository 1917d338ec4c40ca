/* SPDX-License-Identifier: MIT */
/* Numbers with units: see amounts.h. A year is 365.25 days. */
#include "amounts.h"

#include "../src/duration.h"
#include "numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_USUAL (UINT64_C(256) << 20)
#define MEMORY_MOST  (UINT64_C(1) << 40)

typedef struct unit {
    const char *name;
    double seconds;
} unit;

/* The least first. */
static const unit units[] = {
    {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"y", 31557600},
};
enum { UNITS = sizeof units / sizeof units[0] };

int amount_rate(session *s, double initial, double *rate) {
    const char *text = s->option[OPTION_RATE], *rest;
    if (text == NULL) {
        *rate = initial;
        return STATUS_DONE;
    }
    double number = number_amount(text, "kMG", &rest);
    if (!(number > 0 && number <= 1e18) || (*rest != '\0' && strcmp(rest, "/s") != 0)) {
        return fail_usage(
            s,
            "--rate %.40s is not valid: use IDs per second above 0, at most 1e18, such as 1000, "
            "50k or 0.5/s",
            text);
    }
    *rate = number;
    return STATUS_DONE;
}

int amount_count(session *s, double *count) {
    const char *text = s->option[OPTION_COUNT], *rest;
    *count = 0;
    if (text == NULL) {
        return STATUS_DONE;
    }
    double number = number_amount(text, "kMG", &rest);
    if (!(number >= 1 && number <= 1e19 && floor(number) == number) || *rest != '\0') {
        return fail_usage(
            s, "-n %.40s is not valid: use a whole number from 1 to 1e19, such as 1000, 50k or 1e9",
            text);
    }
    *count = number;
    return STATUS_DONE;
}

int amount_number(session *s, int option, uint64_t initial, uint64_t least, uint64_t most,
                  uint64_t *number) {
    const char *text = s->option[option];
    uint64_t value;
    if (text == NULL) {
        *number = initial;
        return STATUS_DONE;
    }
    if (!number_whole(&value, text) || value < least || value > most) {
        return fail_usage(
            s, "--%s %.40s is out of range (%" PRIu64 " to %" PRIu64 "): choose a number in it",
            option_names[option].name, text, least, most);
    }
    *number = value;
    return STATUS_DONE;
}

/* Odds are computed with real numbers, so --for may have an exponent and any number of decimals. */
int amount_duration(session *s, double initial, double *seconds) {
    const char *text = s->option[OPTION_FOR], *rest;
    if (text == NULL) {
        *seconds = initial;
        return STATUS_DONE;
    }
    double number = number_read(text, &rest);
    *seconds = number * (double)firn__unit_us(rest) / 1e6;
    return *seconds > 0 && number <= 1e18
               ? STATUS_DONE
               : fail_usage(s,
                            "--for %.40s is not valid: use a number and y d h min s ms or us, such "
                            "as 30d",
                            text);
}

int amount_ms(session *s, int option, int64_t initial, int64_t least, int64_t most, int64_t *ms) {
    char before[48];
    firn_error error;
    *ms = initial;
    snprintf(before, sizeof before, "--%s ", option_names[option].name);
    if (s->option[option] == NULL ||
        firn__duration_set(ms, before, s->option[option], "ms", least, most, &error) == FIRN_OK) {
        return STATUS_DONE;
    }
    error.code = FIRN_EUSAGE;
    return fail(s, &error);
}

int amount_memory(session *s, uint64_t *memory) {
    const char *text = s->option[OPTION_MEMORY], *prefixes = "KMG", *prefix;
    char *end;
    *memory = MEMORY_USUAL;
    if (text == NULL) {
        return STATUS_DONE;
    }
    errno = 0;
    uint64_t number = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    int shift = 0;
    if (number > 0 && *end != '\0' && (prefix = strchr(prefixes, *end)) != NULL) {
        shift = 10 * (int)(prefix - prefixes + 1);
        end++;
    }
    bool read = number > 0 && errno == 0 && *end == '\0' && number <= MEMORY_MOST >> shift;
    number = read ? number << shift : 0;
    if (number < MEMORY_LEAST) {
        return fail_usage(s, "--memory %.40s is not valid: write 1M to 1024G", text);
    }
    *memory = number;
    return STATUS_DONE;
}

int amount_time(session *s, int option, firn_time *time) {
    const char *text = s->option[option];
    firn_error error;
    if (text == NULL || firn_time_parse(time, text, strlen(text), &error) == FIRN_OK) {
        return STATUS_DONE;
    }
    prefix_error(&error, FIRN_EUSAGE, &error, "--%s %.40s: ", option_names[option].name, text);
    return fail(s, &error);
}

char *duration_text(char text[DURATION_SIZE], double seconds) {
    size_t i = UNITS - 1;
    while (i > 0 && seconds < units[i].seconds) {
        i--;
    }
    const char *name = strcmp(units[i].name, "m") == 0 ? "min" : units[i].name;
    char number[NUMBER_SIZE];
    snprintf(text, DURATION_SIZE, "%s %s", number_text(number, seconds / units[i].seconds), name);
    return text;
}
