/* SPDX-License-Identifier: MIT */
/* The console's files, which lie in console/ and are a part of the program. */
#ifndef FIRN_CONSOLE_H
#define FIRN_CONSOLE_H

#include <stddef.h>

typedef struct console_file {
    const char *name, *type; /* "index.html", "text/html; charset=utf-8" */
    const unsigned char *bytes;
    size_t size;
} console_file;

/* All of them, ended by one without a name; written by the build (console.cmake). */
extern const console_file console_files[];

#endif
