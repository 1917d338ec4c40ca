/* SPDX-License-Identifier: MIT */
/* Fuzzes the reader of Redis's protocol as a connection uses it: the first byte chooses the pieces
 * in which the rest arrives. The commands are the same for all pieces, their words point into the
 * bytes or the line, and commands that are written and read again are the same. */
#include "resp/resp.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static resp_command said, again; /* static for their size */

static bool inside(const word *text, const char *bytes, size_t length) {
    return text->text >= bytes && text->length <= length &&
           (size_t)(text->text - bytes) <= length - text->length;
}

static void check_command(const char *bytes, const resp_limits *limits) {
    resp_out out = {0};
    assert(said.count <= limits->words);
    resp_array(&out, said.count);
    for (size_t i = 0; i < said.count; i++) {
        assert(said.words[i].length <= limits->bulk);
        assert(inside(&said.words[i], said.is_inline ? said.line : bytes,
                      said.is_inline ? sizeof said.line : said.size));
        resp_bulk(&out, said.words[i].text, said.words[i].length);
    }
    assert(!out.failed);
    bool is_whole = !said.is_inline && !said.is_long && bytes[1] != '-';
    assert(!is_whole || (out.length == said.size && memcmp(out.text, bytes, out.length) == 0));
    resp_limits longer = *limits;
    longer.size = RESP_COMMAND_MAX; /* a line is longer as an array */
    assert(resp_read(&again, out.text, out.length, &longer) == RESP_COMMAND);
    assert(again.size == out.length && again.count == said.count);
    for (size_t i = 0; i < said.count; i++) {
        assert(again.words[i].length == said.words[i].length);
        assert(memcmp(again.words[i].text, said.words[i].text, said.words[i].length) == 0);
    }
    resp_out_free(&out);
}

/* Reads the bytes as a connection does when `first` of them come first, then pieces of a fixed
 * size. Returns how many bytes were commands; *hash identifies them and the end. */
static size_t read_pieces(const char *bytes, size_t length, size_t first, size_t step,
                          const resp_limits *limits, uint64_t *hash) {
    size_t position = 0, there = first < length ? first : length, needed = 0;
    *hash = 0;
    for (;;) {
        enum resp_state state = RESP_MORE;
        if (there > position && there - position >= needed) {
            char *copy = malloc(there - position); /* its end is the end of the memory */
            assert(copy != NULL);
            memcpy(copy, bytes + position, there - position);
            state = resp_read(&said, copy, there - position, limits);
            if (state == RESP_COMMAND) {
                assert(said.size > 0 && said.size <= there - position);
                check_command(copy, limits);
                *hash = *hash * 31 + said.size * 64 + said.count;
            }
            free(copy);
        }
        if (state == RESP_COMMAND) {
            position += said.size;
            needed = 0;
        } else if (state == RESP_BAD) {
            assert(said.trouble != NULL);
            *hash = *hash * 31 + 7;
            return position;
        } else if (there == length) {
            return position;
        } else {
            if (there > position && there - position >= needed) {
                assert(said.size > there - position);
                needed = said.size;
            }
            there = length - there < step ? length : there + step;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) {
        return 0;
    }
    const char *bytes = (const char *)data + 1;
    const resp_limits *limits =
        data[0] % 2 == 0 ? &resp_limits_client : &resp_limits_unauthenticated;
    uint64_t whole, pieces;
    size_t used = read_pieces(bytes, size - 1, size - 1, 1, limits, &whole);
    for (size_t step = 1; step <= 4; step++) {
        assert(read_pieces(bytes, size - 1, data[0], step * step, limits, &pieces) == used);
        assert(pieces == whole);
    }
    return 0;
}
