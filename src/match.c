/* SPDX-License-Identifier: MIT */
/* The results of a recogniser: reason, fields and time of a match; and the digits that it reads. */
#include "formats.h"
#include "number.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char firn__base58[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const char firn__base64url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

bool firn__matched(firn_match *out, int *bits, int chance, const char *reason, ...) {
    va_list arguments;
    va_start(arguments, reason);
    vsnprintf(out->reason, sizeof out->reason, reason, arguments);
    va_end(arguments);
    *bits = chance;
    return true;
}

void firn__match_field(firn_match *out, const char *name, const char *format, ...) {
    va_list arguments;
    if (out->count == FIRN_MATCH_FIELDS) {
        return;
    }
    out->fields[out->count].name = name;
    va_start(arguments, format);
    vsnprintf(out->fields[out->count++].value, sizeof out->fields[0].value, format, arguments);
    va_end(arguments);
}

void firn__match_number(firn_match *out, const char *name, uint64_t number) {
    firn__match_field(out, name, "%" PRIu64, number);
}

bool firn__match_ms(firn_match *out, uint64_t ms, int digits) {
    out->timed = true;
    out->digits = digits;
    out->time = (firn_time){(int64_t)(ms / 1000), (int32_t)(ms % 1000 * 1000000)};
    return ms >= UINT64_C(1104537600000) && ms < UINT64_C(2366841600000);
}

bool firn__read_digits(firn_id *id, const char *alphabet, const char *text, size_t length) {
    const size_t base = strlen(alphabet);
    firn_value value = {0, 0};
    for (size_t i = 0; i < length; i++) {
        const char *digit = memchr(alphabet, text[i], base);
        if (digit == NULL ||
            !firn__value_append(&value, (uint32_t)base, (uint32_t)(digit - alphabet))) {
            return false;
        }
    }
    *id = (firn_id){value.low, value.high, 0, 128};
    return true;
}
