/* SPDX-License-Identifier: MIT */
/* Parts of the pages that packaging/ writes at build time: manuals and completions. A part is what
 * the tables of the command and the library say; the prose round it is in the *.in files. */
#ifndef FIRN_PAGES_H
#define FIRN_PAGES_H

#include "command.h"

#include <firn/firn.h>

#include <stdio.h>

/* A line "@word" of a template gives way to what `put` writes. */
typedef struct page_part {
    const char *word; /* NULL ends the list */
    void (*put)(FILE *page);
} page_part;

extern const page_part manual_parts[];
extern const page_part function_parts[];
extern const page_part completion_parts[];
extern const page_part setting_parts[];

/* A store of stores.def. */
typedef struct store_line {
    const char *scheme, *rest; /* of its URL; scheme NULL ends the list */
    const char *place, *reach; /* where marks are kept, and who can share them */
} store_line;
extern const store_line store_lines[];

/* A parameter of store URLs, of stores.def. */
typedef struct parameter_line {
    const char *schemes; /* of the URLs that take it, a blank between; NULL ends the list */
    const char *name, *values, *initial, *text;
} parameter_line;
extern const parameter_line parameter_lines[];

/* The lines of the public headers, as read_lines returns them. */
extern char **header_lines;

/* Ends the program with a message. */
_Noreturn void die(const char *what, const char *why);

/* The lines of files, one after the other, without line ends, ended by NULL. `paths` ends with
 * NULL. */
char **read_lines(char *const *paths);
void free_lines(char **lines);

/* A page under way. Both end the program with a message when the file cannot be written. */
FILE *open_page(const char *path);
void close_page(FILE *page, const char *path);

/* Writes FOLDER/NAME.3 for each function of the headers. */
void write_functions(const char *folder);

/* mdoc: text of a line, and a literal argument of a macro. */
void put_text(FILE *page, const char *text);
void put_argument(FILE *page, const char *text);

#endif
