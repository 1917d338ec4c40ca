/* SPDX-License-Identifier: MIT */
/* The range of a time span: its least and its greatest ID. Pure. */
#include "error.h"
#include "fields.h"
#include "instant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The index of the first time slice if the IDs of a time span are contiguous once every field
 * before the time is fixed; else -1. */
static int leading_time(const firn_scheme *scheme) {
    int time = firn__scheme_role(scheme, FIRN_ROLE_TIME);
    uint32_t expected = time < 0 ? 0 : firn_scheme_width(scheme, (uint32_t)time);
    for (int i = 0; i < time; i++) {
        int role = scheme->slices[i].role;
        if (role == FIRN_ROLE_SEQUENCE || role == FIRN_ROLE_COUNTER || role == FIRN_ROLE_RANDOM) {
            return -1; /* changes from ID to ID, so no caller can fix it */
        }
    }
    for (uint32_t i = (uint32_t)(time < 0 ? 0 : time); time >= 0 && i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        bool is_time = slice->role == FIRN_ROLE_TIME;
        if (is_time && (slice->group != 0 || (uint32_t)slice->from + slice->bits != expected)) {
            return -1; /* mirrored, or not from its highest bit down */
        }
        if (is_time) {
            expected = slice->from;
        } else if (slice->role != FIRN_ROLE_CONST && expected > 0) {
            return -1; /* another field between two slices of the time */
        }
    }
    return time;
}

static const char *namespace_of(const firn_scheme *scheme) {
    return scheme->ns != NULL ? scheme->ns : scheme->name;
}

/* IDs of a scheme that do not sort by time: an ID may convert to a scheme of the same namespace
 * whose IDs do. */
static int refuse_unsorted(const firn_scheme *scheme, firn_error *error) {
    char others[100] = "";
    const firn_scheme *other;
    size_t length = 0;
    for (size_t i = 0; (other = firn_scheme_at(i)) != NULL; i++) {
        if (strcmp(namespace_of(other), namespace_of(scheme)) == 0 && leading_time(other) >= 0) {
            length += (size_t)snprintf(others + length, sizeof others - length, "%s%s",
                                       length > 0 ? " or " : "", other->name);
        }
    }
    return length > 0 ? firn__fail(error, FIRN_EUNSORTED,
                                   "IDs of %s do not sort by time: convert them to %s, which do",
                                   scheme->name, others)
                      : firn__fail(error, FIRN_EUNSORTED,
                                   "IDs of %s do not sort by time: compare the time that show "
                                   "prints, or store the time in a column",
                                   scheme->name);
}

static int pin_leading(firn_fields *least, firn_fields *greatest, const firn_scheme *scheme,
                       const firn_fields *pinned, int time, firn_error *error) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        bool given = pinned != NULL && (pinned->given >> i & 1);
        if (slice->role == FIRN_ROLE_CONST || slice->role == FIRN_ROLE_TIME ||
            firn_scheme_first(scheme, i) != i) {
            continue;
        }
        if (i < (uint32_t)time && !given) {
            return firn_error_set(
                error, FIRN_EUSAGE, FIRN_CURE_SET_FIELD,
                "%s comes before the time in %s: set %s=VALUE, and compute one range "
                "for each value",
                slice->name, scheme->name, slice->name);
        }
        int code = given ? firn__field_check(scheme, i, pinned->value[i], error) : FIRN_OK;
        if (code != FIRN_OK) {
            return code;
        }
        if (given && i > (uint32_t)time) {
            return firn__fail(error, FIRN_EUSAGE,
                              "%s comes after the time in %s: leave it out, because the range "
                              "contains every value of it",
                              slice->name, scheme->name);
        }
        firn__fields_put(least, i, given ? pinned->value[i] : (firn_value){0, 0});
        firn__fields_put(greatest, i, given ? pinned->value[i] : firn_scheme_max(scheme, i));
    }
    return FIRN_OK;
}

/* The greatest ID would be a negative number, below the least. */
static int refuse_signs(const firn_scheme *scheme, firn_error *error) {
    char when[FIRN_TIME_SIZE];
    firn_time end;
    firn_scheme_end(scheme, false, &end);
    return firn__fail(error, FIRN_ELAYOUT,
                      "IDs of %s are negative as signed numbers from %s on, and below all IDs of "
                      "before: compute one range until then, and one from then on",
                      scheme->name, firn_time_format(when, &end, firn_scheme_digits(scheme)));
}

/* The ticks that overlap a time span: *first to *end - 1. */
static int ticks_of(uint64_t *first, uint64_t *end, const firn_scheme *scheme,
                    const firn_time *from, const firn_time *to, firn_error *error) {
    int code = firn__time_check(from, error);
    code = code == FIRN_OK ? firn__time_check(to, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    if (firn_time_cmp(from, to) >= 0) {
        return firn__fail(error, FIRN_EUSAGE,
                          "the time span is empty: FROM must be before TO, which is excluded");
    }
    code = firn_scheme_tick(scheme, from, first, error);
    return code == FIRN_OK ? firn__scheme_tick_up(scheme, to, end, error) : code;
}

int firn_range(firn_id *least, firn_id *greatest, const firn_scheme *scheme,
               const firn_fields *pinned, const firn_time *from, const firn_time *to,
               firn_error *error) {
    firn_fields low = {0, {{0, 0}}}, high = {0, {{0, 0}}};
    uint64_t first, end;
    int time = leading_time(scheme);
    if (scheme->tick_ns == 0) {
        return firn__fail(error, FIRN_EUNSORTED,
                          "%s has no time, so it has no ranges: store the time in a column",
                          scheme->name);
    }
    if (time < 0) {
        return refuse_unsorted(scheme, error);
    }
    int code = ticks_of(&first, &end, scheme, from, to, error);
    code = code == FIRN_OK ? pin_leading(&low, &high, scheme, pinned, time, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    firn__fields_put(&low, (uint32_t)time, (firn_value){first, 0});
    firn__fields_put(&high, (uint32_t)time, (firn_value){end - 1, 0});
    firn__pack_given(least, scheme, &low);
    firn__pack_given(greatest, scheme, &high);
    return firn__scheme_is_signed(scheme) && (least->low ^ greatest->low) >> 63 != 0
               ? refuse_signs(scheme, error)
               : FIRN_OK;
}
