/* SPDX-License-Identifier: MIT */
/* Parses replies of RESP2 and HTTP/1.1 of one connection: counts them, passes on their IDs, and
 * reports bad ones. Knows no sockets. */
#ifndef FIRN_BENCH_REPLIES_H
#define FIRN_BENCH_REPLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of bytes that end within a reply; a part that must arrive whole (a line, a string, an answer of
 * HTTP with its body) may be as long. */
#define REST_SIZE 65536
#define DEPTH_MAX 4 /* arrays within arrays */

/* The replies of a connection. The zero value is at the beginning. */
typedef struct load_replies {
    bool is_http;
    uint64_t whole;              /* replies */
    uint64_t ids;                /* integers and strings in them */
    int depth;                   /* of the arrays that have begun */
    uint64_t missing[DEPTH_MAX]; /* elements of each that are still to come */
    size_t rest;                 /* bytes that were left over */
    char trouble[160];           /* the first bad one: an error, or not a reply */
    void (*take)(void *self, const char *text, size_t length); /* each ID; or NULL */
    void *self;
} load_replies;

/* Reads `length` bytes, the last `rest` bytes of the previous call first; keep the new `rest` for
 * the next call. False: see `trouble`. */
bool replies_read(load_replies *replies, const char *bytes, size_t length);

#endif
