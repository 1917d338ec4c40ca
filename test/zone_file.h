/* SPDX-License-Identifier: MIT */
/* A file of the database of time zones with a rule that a test chooses. */
#ifndef FIRN_TEST_ZONE_FILE_H
#define FIRN_TEST_ZONE_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

/* Writes a file of the database with only the rule of its footer. */
static void write_rule(const char *path, const char *rule) {
    static const uint8_t zeros[6] = {0};
    uint8_t header[44] = "TZif2";
    header[39] = header[43] = 1; /* a type, a letter */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int block = 0; block < 2; block++) {
        fwrite(header, 1, sizeof header, file);
        fwrite(zeros, 1, sizeof zeros, file);
        fwrite("", 1, 1, file);
    }
    fprintf(file, "\n%s\n", rule);
    fclose(file);
}

#endif
