/* SPDX-License-Identifier: MIT */
/* Writes pages. firn_pages TEMPLATE HEADER PAGE copies the template and puts parts in place of its
 * lines "@word"; firn_pages HEADER FOLDER writes one page for each function of the header. A program
 * of the build, run on the machine that builds, and never installed. The same inputs give the same bytes: no date, no path, no environment. */
#include "pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024, LINES_MAX = 4000 }; /* of a template and of firn.h: far above both */

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

static void die(const char *what, const char *why) {
    fprintf(stderr, "firn_pages: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static char **read_lines(const char *path) {
    char line[LINE_SIZE];
    size_t count = 0;
    char **lines = calloc(LINES_MAX + 1, sizeof *lines);
    FILE *file = fopen(path, "r");
    if (file == NULL || lines == NULL) {
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
    return lines;
}

static void free_lines(char **lines) {
    for (size_t i = 0; lines[i] != NULL; i++) {
        free(lines[i]);
    }
    free(lines);
}

static const part *find_part(const char *word) {
    const part *const lists[] = {manual_parts, function_parts, completion_parts, setting_parts};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (const part *at = lists[i]; at->word != NULL; at++) {
            if (strcmp(at->word, word) == 0) {
                return at;
            }
        }
    }
    return NULL;
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

static void write_page(const char *path, char **lines) {
    FILE *page = open_page(path);
    for (size_t i = 0; lines[i] != NULL; i++) {
        const part *at = lines[i][0] == '@' ? find_part(lines[i] + 1) : NULL;
        if (at != NULL) {
            at->put(page);
        } else if (lines[i][0] == '@') {
            remove(path);
            die(lines[i], "there is no such part");
        } else {
            fprintf(page, "%s\n", lines[i]);
        }
    }
    close_page(page, path);
}

int main(int count, char **words) {
    if (count != 3 && count != 4) {
        die("usage", "firn_pages TEMPLATE HEADER PAGE, or firn_pages HEADER FOLDER");
    }
    header_lines = read_lines(words[count - 2]);
    if (count == 3) {
        write_functions(words[2]);
    } else {
        char **template = read_lines(words[1]);
        write_page(words[3], template);
        free_lines(template);
    }
    free_lines(header_lines);
    return EXIT_SUCCESS;
}
