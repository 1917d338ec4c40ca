/* SPDX-License-Identifier: MIT */
#include "mark.h"

#include "closing.h"
#include "join.h"
#include "object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const kind_names[] = {"node",    "history", "job",    "tick",
                                         "integer", "record",  "series", "other"};

/* Slots are tick << sequence bits. The marks right after the layout's end belong to nodes of jobs
 * and back-dated IDs. */
uint32_t mark_shift(const firn_scheme *scheme) {
    int i = scheme_index(scheme, FIRN_ROLE_SEQUENCE);
    return i >= 0 ? firn_scheme_width(scheme, (uint32_t)i) : 0;
}

int64_t mark_layout_end(const firn_scheme *scheme) {
    int time = firn_scheme_field(scheme, "time");
    uint32_t width = time < 0 ? 64 : firn_scheme_width(scheme, (uint32_t)time);
    uint32_t bits = width + mark_shift(scheme);
    return bits >= 62 ? FIRN_SLOT_MAX - 2 : (int64_t)(UINT64_C(1) << bits);
}

static bool is_part(const firn_scheme *scheme, uint32_t i) {
    const int role = scheme->slices[i].role;
    return (role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS) &&
           firn_scheme_first(scheme, i) == i;
}

uint32_t mark_node_bits(const firn_scheme *scheme) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        bits += is_part(scheme, i) ? firn_scheme_width(scheme, i) : 0;
    }
    return bits;
}

/* Splits a node's number into its fields, most significant first. */
static void name_fields(char text[128], const firn_scheme *scheme, uint64_t node) {
    uint32_t left = 0;
    text[0] = '\0';
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < scheme->slice_count; i++) {
            const firn_slice *slice = &scheme->slices[i];
            uint32_t width = firn_scheme_width(scheme, i);
            if (!is_part(scheme, i) || width > 63) {
                continue;
            }
            if (pass == 0) {
                left += width;
                continue;
            }
            char value[FIRN_VALUE_SIZE];
            firn_fields fields = {0};
            left -= width;
            fields.value[i].low = left > 63 ? 0 : node >> left & ((UINT64_C(1) << width) - 1);
            text_join(text, 128, " ", "%s=%s", slice->name,
                      firn_fields_get(value, &fields, scheme, i));
        }
    }
}

firn_time mark_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (firn_time){now.tv_sec, (int32_t)now.tv_nsec};
}

/* "1.250 s", "3.5 h": the distance in the largest unit below it. */
char *mark_distance(char text[40], const firn_time *mark, const firn_time *now) {
    static const struct {
        const char *name;
        double s;
    } units[] = {{"y", 31557600}, {"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}, {"ms", 0.001}};
    double s = (double)(mark->sec - now->sec) + (mark->ns - now->ns) / 1e9;
    double size = s < 0 ? -s : s;
    size_t i = 0;
    while (i < 5 && size < units[i].s) {
        i++;
    }
    snprintf(text, 40, "%.1f %s %s", size / units[i].s, units[i].name, s < 0 ? "ago" : "ahead");
    return text;
}

static void name_mark(mark_told *out, const firn_time *now, const firn_scheme *scheme,
                      int64_t high) {
    firn_time instant;
    firn_scheme_time(scheme, (uint64_t)high >> mark_shift(scheme), &instant);
    firn_time_format(out->mark, &instant, firn_scheme_digits(scheme));
    firn_time_unix_ns(out->unix_ns, &instant);
    mark_distance(out->distance, &instant, now);
    out->timed = true;
}

static void name_floor(mark_told *out, const firn_time *now, const firn_scheme *scheme,
                       int64_t floor) {
    firn_time instant;
    if (floor > 0) {
        firn_scheme_time(scheme, (uint64_t)floor >> mark_shift(scheme), &instant);
        firn_time_format(out->floor, &instant, firn_scheme_digits(scheme));
        mark_distance(out->floor_distance, &instant, now);
        out->guarded = firn_time_cmp(&instant, now) > 0;
    }
}

/* A ticket's marks count steps from its offset, which is part of the key. */
static void name_integer(mark_told *out, const firn_holding *holding) {
    static const char ticket[] = "integer increment=";
    int64_t next = holding->mark.high;
    const char *layout = closing_layout(holding->layout);
    if (strncmp(layout, ticket, sizeof ticket - 1) == 0) {
        int64_t increment = strtoll(layout + sizeof ticket - 1, NULL, 10);
        next = strtoll(holding->key, NULL, 10) + next * increment;
    }
    snprintf(out->mark, sizeof out->mark, "%" PRId64, next);
    out->kind = MARK_INTEGER;
}

int mark_store_now(firn_store *store, firn_time *now, firn_error *error) {
    const int code = firn_store_now(store, now, error);
    *now = code == FIRN_ESYSTEM ? mark_now() : *now;
    return code == FIRN_ESYSTEM ? FIRN_OK : code;
}

int64_t mark_reach_s(const char *layout) {
    size_t unused;
    return firn__confined_reach_s(layout, &unused);
}

int mark_guard_s(const char *layout) {
    const int64_t reach_s = mark_reach_s(layout);
    return (reach_s > 615 ? (int)reach_s : 615) + 15;
}

int mark_scheme(firn_scheme *scheme, const char *stored) {
    char text[FIRN_LAYOUT_SIZE], layout[FIRN_LAYOUT_SIZE];
    const firn_scheme *known;
    firn__claims unused;
    const char *open = firn__confined_read(closing_layout(stored), &unused);
    size_t length;
    firn__confined_reserves(open, &unused, &length);
    snprintf(layout, sizeof layout, "%.*s", (int)length, open);
    for (size_t i = 0; (known = firn_scheme_at(i)) != NULL; i++) {
        if (strcmp(firn_scheme_layout(text, known), layout) == 0) {
            *scheme = *known;
            return FIRN_OK;
        }
    }
    return firn_scheme_make(scheme, layout, NULL, NULL, NULL, NULL);
}

bool mark_is_timed(firn_scheme *scheme, const char *ns, const char *layout) {
    static const char ticks[] = " ticks";
    const size_t length = strlen(ns), size = sizeof ticks - 1;
    return mark_scheme(scheme, layout) == FIRN_OK && scheme->tick_ns != 0 &&
           (length < size || strcmp(ns + length - size, ticks) != 0);
}

void mark_tell(mark_told *out, const firn_holding *holding, const firn_time *now) {
    char series[FIRN_SERIES_SIZE];
    firn_scheme scheme;
    memset(out, 0, sizeof *out);
    if (holding->ns[0] == '\0') { /* of firn_store_others */
        out->kind = MARK_OTHER;
        snprintf(out->mark, sizeof out->mark, "%s", kind_names[out->kind]);
        return;
    }
    if (strcmp(closing_layout(holding->layout), "job") == 0) {
        out->kind = MARK_RECORD; /* the key is the name of a job */
        snprintf(out->mark, sizeof out->mark, "%s", kind_names[out->kind]);
        return;
    }
    if (firn_series_mark(series, closing_layout(holding->layout), holding->mark.high)[0] != '\0') {
        out->kind = MARK_SERIES;
        snprintf(out->mark, sizeof out->mark, "%.40s", series);
        return;
    }
    if (mark_scheme(&scheme, holding->layout) != FIRN_OK || scheme.tick_ns == 0) {
        name_integer(out, holding);
        return;
    }
    name_floor(out, now, &scheme, holding->floor);
    int64_t end = mark_layout_end(&scheme);
    name_fields(out->fields, &scheme, strtoull(holding->key, NULL, 10));
    if (strchr(holding->key, '@') != NULL) {
        out->kind = MARK_TICK; /* the mark counts the IDs of one tick */
        snprintf(out->mark, sizeof out->mark, "%" PRId64, holding->mark.high);
    } else if (holding->mark.high > end) {
        out->kind = holding->mark.high == end + 2 ? MARK_JOB : MARK_HISTORY;
        snprintf(out->mark, sizeof out->mark, "%s", kind_names[out->kind]);
    } else {
        out->kind = MARK_NODE;
        name_mark(out, now, &scheme, holding->mark.high);
    }
}

json_t *object_of_mark(const firn_holding *holding, const mark_told *what) {
    char high[24];
    bool number = what->kind == MARK_INTEGER || what->kind == MARK_SERIES;
    snprintf(high, sizeof high, "%" PRId64, holding->mark.high);
    return json_pack("{s:o, s:o, s:o, s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:s?, s:o}", "ns",
                     json_foreign(holding->ns), "layout", json_foreign(holding->layout), "key",
                     json_foreign(holding->key), "kind", kind_names[what->kind], "mark", high,
                     "next", number ? what->mark : NULL, "time", what->timed ? what->mark : NULL,
                     "unix_ns", what->timed ? what->unix_ns : NULL, "distance",
                     what->timed ? what->distance : NULL, "floor",
                     what->floor[0] != '\0' ? what->floor : NULL, "note",
                     json_foreign(holding->note != NULL ? holding->note : ""));
}
