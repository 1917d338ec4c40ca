/* SPDX-License-Identifier: MIT */
/* The protocol of Redis, RESP2 and RESP3, as bytes: a reader of commands that lie in somebody's
 * buffer, and a writer of replies. Knows no sockets and no commands. */
#ifndef FIRN_RESP_H
#define FIRN_RESP_H

#include "core/word.h"

#include <jansson.h>
#include <stdint.h>

#define RESP_WORDS_MAX   40     /* of a command: its name, what it is about, 16 pairs, and some */
#define RESP_BULK_MAX    65536  /* bytes of a word */
#define RESP_INLINE_MAX  4096   /* bytes of a line typed by a person, its end included */
#define RESP_COMMAND_MAX 131072 /* bytes of a whole command */

/* What a command may be at most. */
typedef struct resp_limits {
    size_t words, bulk;
} resp_limits;

extern const resp_limits resp_limits_client;
extern const resp_limits resp_limits_stranger; /* who has not said its token yet */

enum resp_state { RESP_MORE, RESP_COMMAND, RESP_BAD };

/* One command. Its words lie in the bytes that were read, or, of an inline one, in `line`. */
typedef struct resp_command {
    size_t size;  /* bytes that it takes; of RESP_MORE: it cannot end before there are so many */
    size_t count; /* of words; 0: a blank line or an empty array, which has no reply */
    bool is_inline;
    const char *trouble; /* of RESP_BAD: what is wrong, for the reply */
    word words[RESP_WORDS_MAX];
    char line[RESP_INLINE_MAX];
} resp_command;

/* Reads the first command of `length` >= 1 bytes. Holds no state: with more bytes it is called
 * again for all of them, which costs a step for each word and not for each byte. Arrays of bulk
 * strings with plain lengths and CR LF, and inline commands in Redis's quotes are commands; what
 * else begins is RESP_BAD. */
enum resp_state resp_read(resp_command *out, const char *bytes, size_t length,
                          const resp_limits *limits);

#define RESP_OUT_MAX (64 << 20) /* bytes of replies that are not sent yet */

/* Replies, one behind the other. When memory or RESP_OUT_MAX is used up `failed` is set, and what
 * is there is no whole reply any more: the connection has to end. The zero value is empty. */
typedef struct resp_out {
    char *text;
    size_t length, room;
    int version; /* of the protocol: 3, or anything else for 2 */
    bool failed;
} resp_out;

void resp_out_free(resp_out *out);
/* Bytes as they are: what is written already, by TLS too. */
void resp_raw(resp_out *out, const void *bytes, size_t length);

void resp_status(resp_out *out, const char *text);
/* `code` is the first word, as ERR. Control characters and bytes that are not UTF-8 become \xNN, ends of
 * lines blanks. */
void resp_error(resp_out *out, const char *code, const char *text);
void resp_integer(resp_out *out, int64_t value);
void resp_bulk(resp_out *out, const char *text, size_t length);
void resp_text(resp_out *out, const char *text);
/* Text for people: RESP3 says so. */
void resp_page(resp_out *out, const char *text, size_t length);
void resp_null(resp_out *out);
void resp_switch(resp_out *out, bool value);
void resp_double(resp_out *out, double value);
/* The heads of what has parts, which follow: of a map key and value in turn (RESP2: an array). */
void resp_array(resp_out *out, size_t parts);
void resp_set(resp_out *out, size_t parts);
void resp_map(resp_out *out, size_t pairs);
void resp_json(resp_out *out, json_t *value);

/* Many replies at once: integers first, first + increment, ...; numbers as bulk strings. */
void resp_integers(resp_out *out, int64_t first, int64_t increment, size_t count);
void resp_numbers(resp_out *out, const uint64_t *numbers, size_t count, bool is_signed);

/* For a bulk string whose length shows only when it is written: room for `most` <= 9999 bytes, and
 * its end. NULL: no memory. */
char *resp_begin(resp_out *out, size_t most);
void resp_end(resp_out *out, char *text, size_t length);

#endif
