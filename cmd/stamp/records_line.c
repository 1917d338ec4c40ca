/* SPDX-License-Identifier: MIT */
/* Lines of records, for every format: see records.h. */
#include "command.h"
#include "numbers.h"
#include "records.h"

#include <string.h>

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
        return set_error(error, FIRN_ETEXT,
                         "the record contains a zero byte: send text, as UTF-8 and not UTF-16");
    }
    return FIRN_OK;
}

size_t records_number(const char *text) {
    uint64_t number;
    return text[0] != '0' && number_whole(&number, text) && number < SIZE_MAX ? (size_t)number : 0;
}
