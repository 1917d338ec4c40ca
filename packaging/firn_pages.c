/* SPDX-License-Identifier: MIT */
/* Writes pages. firn_pages TEMPLATE HEADER PAGE copies the template and puts parts in place of its
 * lines "@word"; firn_pages HEADER FOLDER writes one page for each function of the header. A program
 * of the build, run on the machine that builds, and never installed. The same inputs give the same bytes: no date, no path, no environment. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>

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
