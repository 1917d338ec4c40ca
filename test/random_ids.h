/* SPDX-License-Identifier: MIT */
/* IDs of any scheme made of pseudo-random fields. Not for the library. */
#ifndef FIRN_TEST_RANDOM_IDS_H
#define FIRN_TEST_RANDOM_IDS_H

#include <firn/firn.h>

#include <stdio.h>

#include "chance.h"

static uint64_t below(uint64_t n) {
    return chance() % n;
}

static int64_t second_of(int64_t from, int64_t end) {
    return from + (int64_t)below((uint64_t)(end - from));
}

/* Of the scheme, at a time in [from, end) that its layout holds; in `form`, or its own for -1. */
static void make_id(char *out, const char *name, int form, int64_t from, int64_t end) {
    const firn_scheme *scheme = firn_scheme_find(name);
    firn_fields fields = {0};
    firn_time time, last;
    firn_id id;
    assert_non_null(scheme);
    if (scheme->tick_ns != 0) {
        from = scheme->epoch.sec + 1 > from ? scheme->epoch.sec + 1 : from;
        end = firn_scheme_end(scheme, false, &last) && last.sec < end ? last.sec : end;
    }
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == FIRN_ROLE_CONST || firn_scheme_first(scheme, i) != i) {
            continue;
        }
        firn_value most = firn_scheme_max(scheme, i);
        fields.given |= UINT32_C(1) << i;
        fields.value[i].high = most.high == UINT64_MAX ? chance() : below(most.high + 1);
        fields.value[i].low = most.low == UINT64_MAX ? chance() : below(most.low + 1);
        if (scheme->slices[i].role == FIRN_ROLE_TIME) {
            time = (firn_time){second_of(from, end), (int32_t)below(1000000000)};
            assert_int_equal(firn_scheme_tick(scheme, &time, &fields.value[i].low, NULL), 0);
        }
    }
    assert_int_equal(firn_pack(&id, scheme, &fields, NULL), 0);
    form = form < 0 ? scheme->form : form;
    size_t prefix = form == FIRN_FORM_TYPEID ? (size_t)sprintf(out, "user_") : 0;
    firn_format(out + prefix, &id, form);
}

#endif
