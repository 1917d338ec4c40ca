/* SPDX-License-Identifier: MIT */
/* Fuzzes the scanner of `firn show --find`: the first byte chooses what to find and where the text
 * is cut in two. IDs come in order and do not overlap, each reads as what it was found to be, and
 * two pieces have the same IDs as the whole. */
#include "ids/scan.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FOUND_MAX = 4096, TEXT_MAX = 1 << 15 };

typedef struct place {
    size_t start, end;
} place;

static size_t collect(text_scan *scan, place *list, size_t count) {
    size_t last = 0;
    while (scan_next(scan)) {
        const firn_reading *reading = &scan->readings[0];
        firn_id id;
        assert(scan->end <= scan->length && scan->start < scan->end && scan->start >= last);
        assert(scan->end - scan->start <= SCAN_TEXT_MAX && count < FOUND_MAX);
        if (reading->form == FIRN_FORM_UUID) {
            assert(firn_parse(&id, reading->form, 128, scan->text + scan->start,
                              scan->end - scan->start, NULL) == FIRN_OK);
            assert(firn_id_cmp(&id, &reading->id) == 0);
        }
        list[count++] = (place){scan->start, scan->end};
        last = scan->end;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static text_scan scan;
    static place whole[FOUND_MAX], parts[FOUND_MAX];
    static const char *const names[] = {NULL, NULL, "snowflake", "uuid7", "tsid", "typeid", "ulid"};
    if (size < 2 || size > TEXT_MAX) {
        return 0;
    }
    const char *name = names[data[0] % 7];
    const scan_want want = {.scheme = name != NULL ? firn_scheme_find(name) : NULL,
                            .form = -1,
                            .all = data[0] % 7 == 1};
    const char *text = (const char *)data + 1;
    const size_t length = size - 1, cut = length * data[0] / 256;
    scan_begin(&scan, &want, text, 0, length, length);
    size_t count = collect(&scan, whole, 0), hold = scan_hold(text, cut);
    scan_begin(&scan, &want, text, 0, hold, cut);
    size_t found = collect(&scan, parts, 0);
    size_t from = found > 0 && parts[found - 1].end > hold ? parts[found - 1].end : hold;
    scan_begin(&scan, &want, text, from, length, length);
    assert(collect(&scan, parts, found) == count);
    assert(memcmp(whole, parts, count * sizeof *whole) == 0);
    return 0;
}
