/* SPDX-License-Identifier: MIT */
/* RESP2 and RESP3 as bytes: a reader of commands in a buffer, and a writer of replies. Knows no
 * sockets and no commands. */
#ifndef FIRN_RESP_H
#define FIRN_RESP_H

#include "core/text_view.h"

#include <assert.h>
#include <jansson.h>
#include <stdint.h>

#define RESP_WORDS_MAX 40 /* name, positions, 16 pairs */
#define RESP_SKIPPED_MAX                                                                           \
    1024                        /* words of a command that is read and refused: few, because each
                                   takes a step whenever more bytes of the command arrive */
#define RESP_BULK_MAX    65536  /* per word */
#define RESP_INLINE_MAX  4096   /* per inline command, with its line end */
#define RESP_COMMAND_MAX 131072 /* per command */

typedef struct resp_limits {
    size_t words, bulk;
    size_t skipped; /* an array of more words than this, and than `words`, is RESP_BAD */
    size_t size;    /* of a command */
} resp_limits;

extern const resp_limits resp_limits_client;
extern const resp_limits resp_limits_unauthenticated; /* unauthenticated clients */

enum resp_state { RESP_MORE, RESP_COMMAND, RESP_BAD };

/* A command. Its words point into the bytes read, or into `line` if inline. */
typedef struct resp_command {
    size_t size;  /* bytes used; RESP_MORE: bytes needed at least */
    size_t count; /* words; 0: blank line, empty or negative array, without a reply */
    bool is_inline;
    bool is_long;        /* had more words than the limit; the rest is skipped */
    const char *trouble; /* RESP_BAD: the error */
    word words[RESP_WORDS_MAX];
    char line[RESP_INLINE_MAX];
} resp_command;

/* Reads the first command of `length` >= 1 bytes. Keeps no state: call it again with all bytes when
 * more have arrived, which costs one step per word. Accepts arrays of bulk strings and inline
 * commands; anything else is RESP_BAD. */
enum resp_state resp_read(resp_command *out, const char *bytes, size_t length,
                          const resp_limits *limits);

#define RESP_OUT_MAX (64 << 20) /* unsent bytes */

/* Consecutive replies. `failed`: memory or RESP_OUT_MAX is used up and the text is incomplete, so
 * the connection must end. Starts as zero. */
typedef struct resp_out {
    char *text;
    size_t length, room;
    int version; /* 3, else RESP2 */
    bool failed;
    int64_t whole; /* whole replies: values written, less the parts that collections announced */
} resp_out;

void resp_out_free(resp_out *out);
/* Has each of `commands` exactly one reply since `whole` was `before`? `parts` of it follow later.
 * In builds for tests (FIRN_CHECKED) only: a client takes one reply too many for the reply to its
 * next command. */
static inline void resp_check(const resp_out *out, int64_t before, size_t commands, size_t parts) {
#ifdef FIRN_CHECKED
    assert(out->failed || out->whole - before == (int64_t)commands - (int64_t)parts);
#else
    (void)out, (void)before, (void)commands, (void)parts;
#endif
}
/* Appends bytes unchanged. */
void resp_raw(resp_out *out, const void *bytes, size_t length);

void resp_status(resp_out *out, const char *text);
/* `code` is the first word, such as ERR. Control characters and invalid UTF-8 become \xNN, line
 * ends blanks. */
void resp_error(resp_out *out, const char *code, const char *text);
void resp_integer(resp_out *out, int64_t value);
void resp_bulk(resp_out *out, const char *text, size_t length);
void resp_text(resp_out *out, const char *text);
/* Text for people: verbatim in RESP3. */
void resp_page(resp_out *out, const char *text, size_t length);
void resp_null(resp_out *out);
void resp_switch(resp_out *out, bool value);
void resp_double(resp_out *out, double value);
/* Headers of collections; the parts follow. A map has keys and values in turn (an array in
 * RESP2). */
void resp_array(resp_out *out, size_t parts);
void resp_set(resp_out *out, size_t parts);
void resp_map(resp_out *out, size_t pairs);
void resp_json(resp_out *out, json_t *value);

/* Several replies at once. */
void resp_integers(resp_out *out, int64_t first, int64_t increment, size_t count);
void resp_numbers(resp_out *out, const uint64_t *numbers, size_t count, bool is_signed);

/* A bulk string of unknown length: room for `most` <= 9999 bytes, then its end. NULL: out of
 * memory. */
char *resp_begin(resp_out *out, size_t most);
void resp_end(resp_out *out, char *text, size_t length);

#endif
