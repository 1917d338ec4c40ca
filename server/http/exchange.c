/* SPDX-License-Identifier: MIT */
#include "exchange.h"

#include "errors.h"
#include "header.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char c) {
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/* Decoding never adds bytes, so there is room for all words of the request. */
int exchange_decode(exchange *it, word *of, bool plus, firn_error *error) {
    if (memchr(of->text, '%', of->length) == NULL &&
        (!plus || memchr(of->text, '+', of->length) == NULL)) {
        return FIRN_OK;
    }
    if (it->decoded == NULL) {
        it->decoded = it->decoded_at = malloc(LINE_MOST + BODY_MOST);
    }
    if (it->decoded == NULL) {
        return out_of_memory(error);
    }
    char *begin = it->decoded_at;
    for (size_t i = 0; i < of->length; i++) {
        char c = plus && of->text[i] == '+' ? ' ' : of->text[i];
        if (c == '%') {
            int high = i + 2 < of->length ? hex_digit(of->text[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(of->text[i + 2]) : -1;
            if (low < 0) {
                return set_error(error, FIRN_EUSAGE,
                                 "'%%' is not followed by two hex digits: encode it as %%25");
            }
            c = (char)(high * 16 + low);
            i += 2;
        }
        *it->decoded_at++ = c;
    }
    *of = (word){begin, (size_t)(it->decoded_at - begin)};
    return FIRN_OK;
}

static int take_format(exchange *it, word value, firn_error *error) {
    it->as_text = word_is(value, "text");
    if (!it->as_text && !word_is(value, "json")) {
        return set_error(error, FIRN_EUSAGE, "format=%.*s is unknown: use text or json",
                         (int)(value.length < 50 ? value.length : 50), value.text);
    }
    return FIRN_OK;
}

/* *there: the query has the parameter too, with the same value. Duplicates within the query or the
 * body are refused later. */
static int agree(const exchange *it, word said, word key, word value, bool *there,
                 firn_error *error) {
    const request *of = &it->request;
    *there = false;
    for (size_t i = 0; i < it->query_count; i++) {
        if (word_is_same(of->pairs[i].key, key)) {
            *there = true;
            if (!word_is_same(of->pairs[i].value, value)) {
                return set_error(
                    error, FIRN_EUSAGE,
                    "%.*s=%.*s in the body differs from %.*s in the query: send it once",
                    word_shown(said), said.text, word_shown(value), value.text,
                    word_shown(of->pairs[i].value), of->pairs[i].value.text);
            }
        }
    }
    return FIRN_OK;
}

int exchange_add(exchange *it, word key, word value, firn_error *error) {
    request *to = &it->request;
    bool there;
    if (word_is(key, "format")) {
        return take_format(it, value, error);
    }
    word said = key;
    key = parameter_key(key);
    int code = agree(it, said, key, value, &there, error);
    if (code != FIRN_OK || there) {
        return code;
    }
    return request_add(to, key, value)
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE, "more than %d parameters: send fewer",
                           REQUEST_PAIRS_MAX);
}
