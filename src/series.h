/* SPDX-License-Identifier: MIT */
/* The form of a series' numbers, for the inside of the library: template, period, text. Pure: it
 * reads no clock, no zone and no store. */
#ifndef FIRN_SERIES_H
#define FIRN_SERIES_H

#include <firn/firn.h>

enum {
    FIRN__RESTART_NEVER,
    FIRN__RESTART_DAY,
    FIRN__RESTART_WEEK,
    FIRN__RESTART_MONTH,
    FIRN__RESTART_YEAR
};
#define FIRN__RESTARTS "never day week month year"

#define FIRN__TEMPLATE_SIZE  128 /* room for a template */
#define FIRN__SERIES_PARTS   24
#define FIRN__COUNTER_DIGITS 12 /* at most: below 2^FIRN__COUNTER_BITS */
#define FIRN__COUNTER_BITS   40

/* A part of a template, in the order of the text. */
typedef struct firn__series_part {
    uint8_t kind;  /* of the list in series_form.c */
    uint8_t from;  /* of literal characters: where they begin in the template */
    uint8_t width; /* characters of the text; of a counter the least */
} firn__series_part;

typedef struct firn__series_form {
    char template[FIRN__TEMPLATE_SIZE];
    firn__series_part parts[FIRN__SERIES_PARTS];
    size_t count, length;   /* of the parts; the least length of a text */
    int64_t restart;        /* FIRN__RESTART_... */
    int64_t counter_digits; /* 1..FIRN__COUNTER_DIGITS */
    int64_t counter_most;   /* the greatest counter */
    int check;              /* enum firn__check */
    bool masked;            /* the counters of texts are masked, so each value is possible */
} firn__series_form;

/* Reads a template. `restart` -1: the shortest period that the template names. `grow`: a counter
 * may have more digits than the template. FIRN_EUSAGE, FIRN_ERANGE. */
int firn__series_form_read(firn__series_form *form, const char *template, int64_t restart,
                           bool grow, firn_error *error);
/* The number of the period that has a day, 0 to 2^22; days count from 1970. False: the day is not
 * in the years 1 to 9999. */
bool firn__series_period(int64_t *period, const firn__series_form *form, int64_t day);
#define FIRN__PERIOD_SIZE 16 /* room for the name of a period */
/* The name of a period: 2026-11-26, 2026-W48, 2026-11, 2026, or "" if the counter never restarts. */
char *firn__series_period_name(char name[FIRN__PERIOD_SIZE], const firn__series_form *form,
                               int64_t period);
/* Writes the number of a day and a counter. */
void firn__series_write(const firn__series_form *form, char text[FIRN_SERIES_SIZE], int64_t day,
                        int64_t counter);
/* Reads a number: *counter, and the number of its period. FIRN_ETEXT: another form, no such date, or
 * a wrong check digit. */
int firn__series_read(const firn__series_form *form, int64_t *counter, int64_t *period,
                      const char *text, size_t length, firn_error *error);

#endif
