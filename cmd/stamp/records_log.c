/* SPDX-License-Identifier: MIT */
/* Plain logs: one record per line, with its time at the start, in the brackets of the common log
 * format, or in a word that --time counts. The ID goes before it, with a tab. */
#include "command.h"
#include "records.h"

#include <string.h>

static int begin(records_plan *plan, const char *text, size_t length, bool last, record *r,
                 firn_error *error) {
    (void)text, (void)length, (void)last, (void)r;
    if (plan->time != NULL && (plan->word = records_number(plan->time)) == 0) {
        return set_error(
            error, FIRN_EUSAGE,
            "--time %.60s: a log has no columns: remove it, or give the number of a word, from 1",
            plan->time);
    }
    return FIRN_OK;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* The beginning of the n-th word; NULL: there are fewer. */
static const char *find_word(const char *position, const char *end, size_t n) {
    for (;;) {
        while (position < end && is_blank(*position)) {
            position++;
        }
        if (position == end) {
            return NULL;
        }
        if (--n == 0) {
            return position;
        }
        while (position < end && !is_blank(*position)) {
            position++;
        }
    }
}

/* Reads a time at `position`, after an opening bracket if there is one. */
static bool time_at(records_plan *plan, const char *position, const char *end, record *r,
                    firn_error *error) {
    size_t used;
    position += position < end && *position == '[';
    r->time = position;
    r->time_length = (size_t)(end - position);
    r->timed =
        moments_read(plan->moments, position, r->time_length, &used, &r->instant, error) == FIRN_OK;
    r->cut = r->timed && position + used == end;
    return r->timed;
}

/* [10/Oct/2000:13:55:36 -0700] after host and user. */
static const char *find_bracket(const char *position, const char *end) {
    while (position < end && (position = memchr(position, '[', (size_t)(end - position))) != NULL) {
        if (end - position > 8 && position[3] == '/' && position[7] == '/') {
            return position;
        }
        position++;
    }
    return NULL;
}

static int find_time(records_plan *plan, const char *text, size_t length, record *r,
                     firn_error *error) {
    const char *end = text + length,
               *position = find_word(text, end, plan->word > 0 ? plan->word : 1);
    if (position == NULL) {
        return set_error(error, FIRN_ETEXT,
                         "the line has fewer than %zu words: choose another --time",
                         plan->word > 0 ? plan->word : 1);
    }
    if (time_at(plan, position, end, r, error)) {
        return FIRN_OK;
    }
    firn_error of_bracket;
    position = plan->word > 0 ? NULL : find_bracket(text, end);
    if (position == NULL) {
        return FIRN_ETEXT;
    }
    return time_at(plan, position, end, r, &of_bracket) ? FIRN_OK
                                                        : (*error = of_bracket, FIRN_ETEXT);
}

static int read_record(records_plan *plan, const char *text, size_t length, bool last, record *r,
                       firn_error *error) {
    r->size = records_line(text, length, last);
    if (r->size == 0) {
        return FIRN_OK;
    }
    size_t line_end = records_line_end(text, r->size);
    r->placed = true;
    r->before = "";
    r->after = r->nothing = "\t";
    int code = records_no_zero(text, r->size, error);
    if (code == FIRN_OK) {
        code = find_time(plan, text, r->size - line_end, r, error);
    }
    r->cut = r->cut && line_end == 0;
    return code;
}

const records_format records_log = {"log", " .log ", 0, begin, read_record};
