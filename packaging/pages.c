/* SPDX-License-Identifier: MIT */
/* Functions that the writers of pages share: lines that are read, pages that are written whole or
 * not at all. */
#include "pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024, LINES_MAX = 4000 }; /* of a template and of the headers: far above both */

char **header_lines;

const store_line store_lines[] = {
#define STORE(scheme, rest, place, reach) {scheme, rest, place, reach},
#include "stores.def"
    {NULL, NULL, NULL, NULL},
};

const parameter_line parameter_lines[] = {
#define PARAMETER(schemes, name, values, initial, text) {schemes, name, values, initial, text},
#include "stores.def"
    {NULL, NULL, NULL, NULL, NULL},
};

void die(const char *what, const char *why) {
    fprintf(stderr, "firn_pages: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

/* Adds the lines of a file and returns how many there are now. */
static size_t add_lines(char **lines, size_t count, const char *path) {
    char line[LINE_SIZE];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        die(path, strerror(errno));
    }
    while (fgets(line, sizeof line, file) != NULL) {
        size_t length = strlen(line);
        if (length == 0 || line[length - 1] != '\n' || count == LINES_MAX) {
            die(path, "a line or the file is too long for firn_pages");
        }
        line[length - 1] = '\0';
        lines[count] = strdup(line);
        if (lines[count++] == NULL) {
            die(path, "out of memory");
        }
    }
    fclose(file);
    return count;
}

char **read_lines(char *const *paths) {
    size_t count = 0;
    char **lines = calloc(LINES_MAX + 1, sizeof *lines);
    if (lines == NULL) {
        die(paths[0], strerror(errno));
    }
    for (; *paths != NULL; paths++) {
        count = add_lines(lines, count, *paths);
    }
    return lines;
}

void free_lines(char **lines) {
    for (size_t i = 0; lines[i] != NULL; i++) {
        free(lines[i]);
    }
    free(lines);
}

FILE *open_page(const char *path) {
    FILE *page = fopen(path, "w");
    if (page == NULL) {
        die(path, strerror(errno));
    }
    return page;
}

/* Removes an incomplete page, so that a failed build does not continue with half a page. */
void close_page(FILE *page, const char *path) {
    bool failed = ferror(page) != 0;
    if (fclose(page) != 0 || failed) {
        remove(path);
        die(path, "cannot be written");
    }
}
