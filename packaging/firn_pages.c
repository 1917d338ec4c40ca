/* SPDX-License-Identifier: MIT */
/* Writes pages. firn_pages page TEMPLATE PAGE HEADER... copies the template and puts parts in place
 * of its lines "@word"; firn_pages functions FOLDER HEADER... writes one page for each function of
 * the headers. A program of the build, run on the machine that builds, and never installed. The
 * same inputs give the same bytes: no date, no path, no environment. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>

static const page_part *find_part(const char *word) {
    const page_part *const lists[] = {manual_parts, function_parts, completion_parts,
                                      setting_parts};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (const page_part *part = lists[i]; part->word != NULL; part++) {
            if (strcmp(part->word, word) == 0) {
                return part;
            }
        }
    }
    return NULL;
}

static void write_page(const char *path, char **lines) {
    FILE *page = open_page(path);
    for (size_t i = 0; lines[i] != NULL; i++) {
        const page_part *part = lines[i][0] == '@' ? find_part(lines[i] + 1) : NULL;
        if (part != NULL) {
            part->put(page);
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
    if (count >= 4 && strcmp(words[1], "functions") == 0) {
        header_lines = read_lines(words + 3);
        write_functions(words[2]);
    } else if (count >= 5 && strcmp(words[1], "page") == 0) {
        char **template = read_lines((char *const[]){words[2], NULL});
        header_lines = read_lines(words + 4);
        write_page(words[3], template);
        free_lines(template);
    } else {
        die("usage",
            "firn_pages page TEMPLATE PAGE HEADER..., or firn_pages functions FOLDER HEADER...");
    }
    free_lines(header_lines);
    return EXIT_SUCCESS;
}
