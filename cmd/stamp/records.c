/* SPDX-License-Identifier: MIT */
/* The formats of records as a table, and how one is chosen: see records.h. What a format is, is in
 * the file of its name. */
#include "records.h"

#include <stdio.h>
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
const records_format *records_by_line(record_times *m, const char *line, size_t length,
                                      bool table) {
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
