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
int exchange_decode(http_exchange *exchange, word *text, bool plus, firn_error *error) {
    if (memchr(text->text, '%', text->length) == NULL &&
        (!plus || memchr(text->text, '+', text->length) == NULL)) {
        return FIRN_OK;
    }
    if (exchange->decoded == NULL) {
        exchange->decoded = exchange->decoded_at = malloc(LINE_MOST + BODY_MOST);
    }
    if (exchange->decoded == NULL) {
        return out_of_memory(error);
    }
    char *begin = exchange->decoded_at;
    for (size_t i = 0; i < text->length; i++) {
        char c = plus && text->text[i] == '+' ? ' ' : text->text[i];
        if (c == '%') {
            int high = i + 2 < text->length ? hex_digit(text->text[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(text->text[i + 2]) : -1;
            if (low < 0) {
                return set_error(error, FIRN_EUSAGE,
                                 "'%%' is not followed by two hex digits: encode it as %%25");
            }
            c = (char)(high * 16 + low);
            i += 2;
        }
        *exchange->decoded_at++ = c;
    }
    *text = (word){begin, (size_t)(exchange->decoded_at - begin)};
    return FIRN_OK;
}

static int take_format(http_exchange *exchange, word value, firn_error *error) {
    exchange->as_text = word_is(value, "text");
    if (!exchange->as_text && !word_is(value, "json")) {
        return set_error(error, FIRN_EUSAGE, "format=%.*s is unknown: use text or json",
                         (int)(value.length < 50 ? value.length : 50), value.text);
    }
    return FIRN_OK;
}

/* *there: the query has the parameter too, with the same value. Duplicates within the query or the
 * body are refused later. */
static int agree(const http_exchange *exchange, word text, word key, word value, bool *there,
                 firn_error *error) {
    const server_request *request = &exchange->request;
    *there = false;
    for (size_t i = 0; i < exchange->query_count; i++) {
        if (word_is_same(request->pairs[i].key, key)) {
            *there = true;
            if (!word_is_same(request->pairs[i].value, value)) {
                return set_error(
                    error, FIRN_EUSAGE,
                    "%.*s=%.*s in the body differs from %.*s in the query: send it once",
                    word_shown(text), text.text, word_shown(value), value.text,
                    word_shown(request->pairs[i].value), request->pairs[i].value.text);
            }
        }
    }
    return FIRN_OK;
}

int exchange_add(http_exchange *exchange, word key, word value, firn_error *error) {
    server_request *request = &exchange->request;
    bool there;
    if (word_is(key, "format")) {
        return take_format(exchange, value, error);
    }
    word text = key;
    key = parameter_key(key);
    int code = agree(exchange, text, key, value, &there, error);
    if (code != FIRN_OK || there) {
        return code;
    }
    return request_add(request, key, value)
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE, "more than %d parameters: send fewer",
                           REQUEST_PAIRS_MAX);
}
