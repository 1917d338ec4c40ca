/* SPDX-License-Identifier: MIT */
/* The name and the keys of a segment: kind=, step= and so on, their defaults and what
 * contradicts. */
#include "duration.h"
#include "error.h"
#include "keys.h"
#include "nearest.h"
#include "segment.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The first byte that is not UTF-8, from 1; 0: the name is valid. Not every store can show or keep
 * an invalid name. */
static size_t not_utf8(const char *name) {
    size_t length = strlen(name), place = 0, size = 1;
    for (; place < length && size > 0; place += size) {
        size = firn__utf8_size(name + place, length - place);
    }
    return size > 0 ? 0 : place + 1;
}

int firn__name_check(const char *key, const char *owner, firn_error *error) {
    size_t length = key == NULL ? 0 : strlen(key);
    if (length == 0 || length >= FIRN_KEY_SIZE) {
        return firn__fail(error, FIRN_ERANGE, "the name of %s has %zu bytes: use 1 to %d", owner,
                          length, FIRN_KEY_SIZE - 1);
    }
    size_t wrong = not_utf8(key);
    return wrong == 0 ? FIRN_OK
                      : firn__fail(error, FIRN_EUSAGE,
                                   "the name of %s is not UTF-8 at byte %zu: write it in UTF-8",
                                   owner, wrong);
}

static int read_pair(firn__segment_keys *keys, const firn__pair *pair, firn_error *error) {
    const struct {
        const char *name;
        int64_t *member, least, most;
    } numbers[] = {{"step", &keys->step, 1, FIRN__STEP_MAX},
                   {"increment", &keys->increment, 1, 65535},
                   {"offset", &keys->offset, 1, 65535},
                   {"start", &keys->start, 0, FIRN_SLOT_MAX - 1},
                   {"end", &keys->end, 1, FIRN_SLOT_MAX - 1},
                   {"max_reserve", &keys->reserve.most, 100, 1000000000}};
    static const char *const names[] = {
        "kind",    "step",         "increment",   "offset",        "start",  "end", "adapt",
        "reserve", "reserve_path", "max_reserve", "reserve_trust", "unsafe", NULL};
    if (strcmp(pair->name, "kind") == 0) {
        return firn__choice_read(&keys->kind, "kind", pair->value, "serial ticket segment", error);
    }
    if (strcmp(pair->name, "adapt") == 0) {
        return firn__choice_read(&keys->adapt, "adapt", pair->value, "0 1", error);
    }
    if (strcmp(pair->name, "reserve") == 0) {
        return firn__duration_set(&keys->reserve.reserve_ms, "reserve=", pair->value, "ms", 10000,
                                  86400000, error);
    }
    if (strcmp(pair->name, "reserve_path") == 0) {
        snprintf(keys->reserve.path, sizeof keys->reserve.path, "%s", pair->value);
        return FIRN_OK;
    }
    if (strcmp(pair->name, "reserve_trust") == 0) {
        return firn__choice_read(&keys->reserve.trusts, pair->name, pair->value, "0 1", error);
    }
    if (strcmp(pair->name, "unsafe") == 0) {
        return firn__choice_read(&keys->reserve.unsafe, pair->name, pair->value, "0 1", error);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(pair->name, numbers[i].name) == 0) {
            return firn__number_read(numbers[i].member, pair->name, pair->value, numbers[i].least,
                                     numbers[i].most, error);
        }
    }
    return firn__refuse_unknown(error, "segments", "have no key", pair->name, names,
                                FIRN_CURE_LISTED,
                                "use kind, step, increment, offset, start, end, adapt or reserve");
}

/* The defaults of a kind, and what contradicts. */
static int settle(firn__segment_keys *keys, bool started, firn_error *error) {
    if (keys->kind == FIRN__TICKET) {
        if (keys->offset > keys->increment) {
            return firn__fail(error, FIRN_ERANGE,
                              "offset=%" PRId64 " is above increment=%" PRId64
                              ": servers are numbered 1 to increment",
                              keys->offset, keys->increment);
        }
    } else if (keys->increment != 1 || keys->offset != 1) {
        return firn__fail(error, FIRN_EUSAGE, "increment and offset are for kind=ticket");
    }
    if (keys->kind != FIRN__SEGMENT && keys->reserve.reserve_ms > 0) {
        return firn__fail(error, FIRN_EUSAGE,
                          "a %s asks the store for each integer, and reserve continues without it: "
                          "use kind=segment, or leave reserve out",
                          keys->kind == FIRN__SERIAL ? "serial" : "ticket");
    }
    if (keys->kind != FIRN__SEGMENT && keys->step == 0) {
        keys->step = 1;
    }
    keys->step = keys->step == 0 ? 1000 : keys->step;
    keys->adapt = keys->kind == FIRN__SEGMENT ? keys->adapt : 0;
    keys->reserve.step = keys->step;
    if (started && keys->kind == FIRN__TICKET) {
        return firn__fail(error, FIRN_EUSAGE, "a ticket starts at its offset: leave start out");
    }
    if (keys->kind == FIRN__TICKET && keys->end < keys->offset) {
        return firn__fail(error, FIRN_ERANGE, "end=%" PRId64 " is before offset=%" PRId64,
                          keys->end, keys->offset);
    }
    if (keys->kind != FIRN__TICKET && keys->end < keys->start) {
        return firn__fail(error, FIRN_ERANGE, "end=%" PRId64 " is before start=%" PRId64, keys->end,
                          keys->start);
    }
    return FIRN_OK;
}

int firn__segment_read(firn__segment_keys *keys, const char *name, const char *text,
                       firn_error *error) {
    firn__keys pairs;
    bool started = false;
    *keys = (firn__segment_keys){.kind = FIRN__SEGMENT,
                                 .increment = 1,
                                 .offset = 1,
                                 .start = 1,
                                 .end = FIRN_SLOT_MAX - 1,
                                 .adapt = 1,
                                 .reserve.most = 1000000};
    int code = firn__name_check(name, "a segment", error);
    code = code == FIRN_OK ? firn__keys_split(&pairs, text, error) : code;
    for (size_t i = 0; code == FIRN_OK && i < pairs.field_count; i++) {
        started = started || strcmp(pairs.fields[i].name, "start") == 0;
        code = read_pair(keys, &pairs.fields[i], error);
    }
    return code == FIRN_OK ? settle(keys, started, error) : code;
}
