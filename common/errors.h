/* SPDX-License-Identifier: MIT */
/* Errors and exit statuses. Like reading.h, object.h and shard.h it needs only firn.h: the SQL
 * extensions include these. */
#ifndef FIRN_ERRORS_H
#define FIRN_ERRORS_H

#include <firn/firn.h>
#include <stdarg.h>

/* Room for the text of an error. */
#define ERROR_TEXT_SIZE sizeof(((firn_error *)0)->text)
/* Fills `error` with one line and returns `code`; the last ": " of the format begins the cure. */
#define set_error(error, code, ...) firn_error_set(error, code, FIRN_CURE_NONE, __VA_ARGS__)
void set_error_list(firn_error *error, int code, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
/* In a format: the value and the limit of the error. The marks are not written. */
#define ERROR_VALUE(format) "\1" format "\1"
#define ERROR_LIMIT(format) "\2" format "\2"
/* Puts words before the text of `why`, which may be `error`: "words" + "text". Returns `code`. */
int prefix_error(firn_error *error, int code, const firn_error *why, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Puts words after the text, unless there is no room for all of them. Returns the error's code. */
int suffix_error(firn_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes "did you mean `NEAR`?", or `otherwise` if no name is near (NULL), and returns `out`. */
#define ADVICE_SIZE 128
const char *did_you_mean(char out[ADVICE_SIZE], const char *near, const char *otherwise);
/* FIRN_EMEMORY, with how to get more. */
int out_of_memory(firn_error *error);
/* Replaces control characters, so that the text is one line and harmless in a terminal. */
void make_plain(char *text);

/* ---- cures (cures.c) ------------------------------------------------------------------------- */

enum surface {
    SURFACE_COMMAND,
    SURFACE_SERVER, /* HTTP and RESP */
    SURFACE_POSTGRES,
    SURFACE_COUNT
};

/* The words of the surface for a cure; NULL: the words of the library. */
const char *cure_words(int cure, enum surface surface);
/* Puts the words of the surface in place of the library's. */
void translate_error(firn_error *error, enum surface surface);
/* Puts other words in place of the cure, or after a text that has none. */
void replace_cure(firn_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- exit statuses --------------------------------------------------------------------------- */

enum {
    STATUS_DONE = 0,
    STATUS_NO = 1,    /* invalid ID, value or time */
    STATUS_USAGE = 2, /* wrong command or configuration */
    STATUS_STORE = 3,
    STATUS_CLOCK = 4,
    STATUS_BUSY = 5, /* or exhausted */
    STATUS_IO = 6,
    STATUS_SIGNAL = 128 /* plus its number */
};

/* The exit status of a FIRN_E code. */
int status_of(int code);

#endif
