/* SPDX-License-Identifier: MIT */
/* The formats of records as a table, and how one is chosen: see records.h. What a format is, is in the
 * file of its name. */
#include "records.h"

#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const records_format *const formats[] = {&records_csv, &records_tsv, &records_json,
                                                &records_log};
enum { FORMATS = sizeof formats / sizeof formats[0] };

const records_format *records_find(const char *name) {
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

const records_format *records_by_ending(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    char wanted[16];
    if (dot == NULL || snprintf(wanted, sizeof wanted, " %s ", dot) >= (int)sizeof wanted) {
        return NULL;
    }
    for (size_t i = 0; i < FORMATS; i++) {
        if (strstr(formats[i]->endings, wanted) != NULL) {
            return formats[i];
        }
    }
    return NULL;
}

/* A log has a time where the others have a delimiter before it, or none. */
const records_format *records_by_line(moments *m, const char *line, size_t length, bool table) {
    records_plan plan = {.moments = m};
    record r = {0};
    firn_error error;
    while (length > 0 && *line == ' ') {
        line++;
        length--;
    }
    if (length > 0 && *line == '{') {
        return &records_json;
    }
    if (!table && records_log.read(&plan, line, length, true, &r, &error) == FIRN_OK) {
        return &records_log;
    }
    if (memchr(line, '\t', length) != NULL) {
        return &records_tsv;
    }
    return table || memchr(line, ',', length) != NULL ? &records_csv : NULL;
}

size_t records_line(const char *text, size_t length, bool last) {
    const char *newline = memchr(text, '\n', length);
    if (newline != NULL) {
        return (size_t)(newline - text) + 1;
    }
    return last ? length : 0;
}

size_t records_line_end(const char *text, size_t size) {
    if (size == 0 || text[size - 1] != '\n') {
        return 0;
    }
    return size > 1 && text[size - 2] == '\r' ? 2 : 1;
}

int records_no_zero(const char *text, size_t size, firn_error *error) {
    if (memchr(text, '\0', size) != NULL) {
        return set_error(error, FIRN_ETEXT, "the record contains a zero byte: send text");
    }
    return FIRN_OK;
}

size_t records_number(const char *text) {
    char *end;
    errno = 0;
    if (text[0] < '1' || text[0] > '9') {
        return 0;
    }
    unsigned long long number = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0 && number < SIZE_MAX ? (size_t)number : 0;
}
