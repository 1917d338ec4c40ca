/* SPDX-License-Identifier: MIT */
/* Replies of RESP2 and HTTP/1.1 as they come in on one connection: counts them, hands on the IDs in
 * them, and says what is no good reply. Knows no sockets. */
#ifndef FIRN_BENCH_REPLIES_H
#define FIRN_BENCH_REPLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of bytes that end within a reply; what has to be there whole (a line, a string, an answer of HTTP
 * with its body) may be as long. */
#define REST_SIZE 65536
#define DEPTH_MAX 4 /* arrays within arrays */

/* One connection's; the zero value is at the beginning. */
typedef struct replies {
    bool is_http;
    uint64_t whole;              /* replies */
    uint64_t ids;                /* integers and strings in them */
    int depth;                   /* of the arrays that have begun */
    uint64_t missing[DEPTH_MAX]; /* elements of each that are still to come */
    size_t rest;                 /* bytes that were left over */
    char trouble[160];           /* the first that is no good: an error reply, or no reply at all */
    void (*take)(void *self, const char *text, size_t length); /* each ID; or NULL */
    void *self;
} replies;

/* Reads `length` bytes, the `rest` of the last call first. Afterwards the last `rest` of them are
 * to be put before the next ones. False: there is trouble. */
bool replies_read(replies *it, const char *bytes, size_t length);

#endif
