/* SPDX-License-Identifier: MIT */
/* `firn nodes`: every node, history, job and integer of a store: up to where it was granted, how far
 * that is from now, who holds it. Reads only; a mark in the past means that nobody issues
 * there. */
#include "nodes.h"

#include "json.h"
#include "operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum kind { KIND_NODE, KIND_HISTORY, KIND_JOB, KIND_TICK, KIND_INTEGER, KIND_RECORD };
static const char *const kind_names[] = {"node", "history", "job", "tick", "integer", "record"};

/* What a holding says, in words. */
typedef struct told {
    enum kind kind;
    char fields[128]; /* datacenter=1 worker=3 */
    char mark[FIRN_TIME_SIZE];
    char unix_ns[FIRN_TIME_SIZE];
    char distance[40];
    bool timed;
} told;

typedef struct listing {
    session *s;
    firn_time now;
    bool measured; /* the second pass writes, the first one finds the widths */
    size_t ns, key, fields, mark, distance;
    size_t ticks; /* left out */
} listing;

/* ---- what a mark means ----------------------------------------------------------------------- */

/* Slots are tick << sequence bits. The marks just behind the layout's end tell history nodes;
 * see the design's section 1. */
uint32_t mark_shift(const firn_scheme *scheme) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == FIRN_ROLE_SEQUENCE) {
            return firn_scheme_width(scheme, firn_scheme_first(scheme, i));
        }
    }
    return 0;
}

int64_t mark_layout_end(const firn_scheme *scheme) {
    int time = firn_scheme_field(scheme, "time");
    uint32_t width = time < 0 ? 64 : firn_scheme_width(scheme, (uint32_t)time);
    uint32_t bits = width + mark_shift(scheme);
    return bits >= 62 ? FIRN_SLOT_MAX - 2 : (int64_t)(UINT64_C(1) << bits);
}

/* The number of a node in the fields that it joins, most significant first. */
static void name_fields(char text[128], const firn_scheme *scheme, uint64_t node) {
    uint32_t left = 0;
    size_t length = 0;
    text[0] = '\0';
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < scheme->slice_count && length < 100; i++) {
            const firn_slice *slice = &scheme->slices[i];
            uint32_t width = firn_scheme_width(scheme, i);
            if ((slice->role != FIRN_ROLE_NODE && slice->role != FIRN_ROLE_ADDRESS) ||
                firn_scheme_first(scheme, i) != i || width > 63) {
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
            length +=
                (size_t)snprintf(text + length, 128 - length, "%s%s=%s", length > 0 ? " " : "",
                                 slice->name, firn_fields_get(value, &fields, scheme, i));
        }
    }
}

firn_time mark_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (firn_time){now.tv_sec, (int32_t)now.tv_nsec};
}

/* 1.250 s, 3.5 h: how far, in the largest unit that it fills. */
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

static void name_mark(told *out, const listing *list, const firn_scheme *scheme, int64_t high) {
    firn_time at;
    firn_scheme_time(scheme, (uint64_t)high >> mark_shift(scheme), &at);
    firn_time_format(out->mark, &at, firn_scheme_digits(scheme));
    firn_time_unix_ns(out->unix_ns, &at);
    mark_distance(out->distance, &at, &list->now);
    out->timed = true;
}

/* A ticket's marks count its steps from the offset, which is its key. */
static void name_integer(told *out, const firn_holding *holding) {
    static const char ticket[] = "integer increment=";
    int64_t next = holding->mark.high;
    if (strncmp(holding->row, ticket, sizeof ticket - 1) == 0) {
        int64_t increment = strtoll(holding->row + sizeof ticket - 1, NULL, 10);
        next = strtoll(holding->key, NULL, 10) + next * increment;
    }
    snprintf(out->mark, sizeof out->mark, "%" PRId64, next);
    out->kind = KIND_INTEGER;
}

/* The row of the table that is stored so, with the roles of its fields; else the row as it is
 * written. */
int mark_scheme(firn_scheme *scheme, const char *row) {
    char text[FIRN_ROW_SIZE];
    const firn_scheme *known;
    for (size_t i = 0; (known = firn_scheme_at(i)) != NULL; i++) {
        if (strcmp(firn_scheme_row(text, known), row) == 0) {
            *scheme = *known;
            return FIRN_OK;
        }
    }
    return firn_scheme_make(scheme, row, NULL, NULL, NULL, NULL);
}

static void understand(told *out, const listing *list, const firn_holding *holding) {
    firn_scheme scheme;
    memset(out, 0, sizeof *out);
    if (strcmp(holding->row, "job") == 0) {
        out->kind = KIND_RECORD; /* its key is the name of a job */
        snprintf(out->mark, sizeof out->mark, "%s", kind_names[out->kind]);
        return;
    }
    if (mark_scheme(&scheme, holding->row) != FIRN_OK || scheme.tick_ns == 0) {
        name_integer(out, holding);
        return;
    }
    int64_t end = mark_layout_end(&scheme);
    name_fields(out->fields, &scheme, strtoull(holding->key, NULL, 10));
    if (strchr(holding->key, '@') != NULL) {
        out->kind = KIND_TICK; /* its mark counts the IDs of one tick */
        snprintf(out->mark, sizeof out->mark, "%" PRId64, holding->mark.high);
    } else if (holding->mark.high > end) {
        out->kind = holding->mark.high == end + 2 ? KIND_JOB : KIND_HISTORY;
        snprintf(out->mark, sizeof out->mark, "%s", kind_names[out->kind]);
    } else {
        out->kind = KIND_NODE;
        name_mark(out, list, &scheme, holding->mark.high);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void widen(size_t *width, const char *text) {
    size_t length = strlen(text);
    *width = length > *width ? length : *width;
}

static void put_object(output *out, const firn_holding *holding, const told *what) {
    char high[24];
    bool number = what->kind == KIND_INTEGER;
    snprintf(high, sizeof high, "%" PRId64, holding->mark.high);
    json_line(out,
              json_pack("{s:o, s:o, s:o, s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:o}", "ns",
                        json_foreign(holding->ns), "row", json_foreign(holding->row), "key",
                        json_foreign(holding->key), "kind", kind_names[what->kind], "mark", high,
                        "next", number ? what->mark : NULL, "time", what->timed ? what->mark : NULL,
                        "unix_ns", what->timed ? what->unix_ns : NULL, "distance",
                        what->timed ? what->distance : NULL, "note",
                        json_foreign(holding->note != NULL ? holding->note : "")));
}

static int visit(void *context, const firn_holding *holding) {
    listing *list = context;
    output *out = &list->s->out;
    told what;
    understand(&what, list, holding);
    if (what.kind == KIND_TICK && list->s->option[OPTION_ALL] == NULL) {
        list->ticks += list->measured;
        return 0;
    }
    if (!list->measured) {
        widen(&list->ns, holding->ns);
        widen(&list->key, holding->key);
        widen(&list->fields, what.fields);
        widen(&list->mark, what.mark);
        widen(&list->distance, what.distance);
    } else if (list->s->option[OPTION_JSON] != NULL) {
        put_object(out, holding, &what);
    } else {
        output_print(out, "%-*s  %-*s  %-*s  %-*s  %-*s  %s\n", (int)list->ns, holding->ns,
                     (int)list->key, holding->key, (int)list->fields, what.fields, (int)list->mark,
                     what.mark, (int)list->distance, what.distance,
                     holding->note != NULL ? holding->note : "");
    }
    return output_dead(out);
}

static int list_all(session *s, firn_store *store) {
    listing list = {.s = s, .ns = 9, .key = 4, .fields = 6, .mark = 4, .distance = 8};
    const char *ns = operand_value(s, "ns");
    firn_error error;
    list.now = mark_now();
    if (s->option[OPTION_JSON] == NULL) {
        if (firn_store_list(store, ns, visit, &list, &error) < 0) {
            return fail(s, &error);
        }
        output_print(&s->out, "%-*s  %-*s  %-*s  %-*s  %-*s  %s\n", (int)list.ns, "namespace",
                     (int)list.key, "key", (int)list.fields, "node", (int)list.mark, "mark",
                     (int)list.distance, "from now", "holder");
    }
    list.measured = true;
    if (firn_store_list(store, ns, visit, &list, &error) < 0) {
        return fail(s, &error);
    }
    if (list.ticks > 0 && s->option[OPTION_JSON] == NULL) {
        output_print(&s->out, "and %zu ticks of back-dated issue: --all lists them\n", list.ticks);
    }
    return STATUS_DONE;
}

int run_nodes(session *s) {
    firn_store *store;
    firn_error error;
    int status = operands_split(s, 0, 0, 2, "free NODE, or no words");
    if (status != STATUS_DONE) {
        return status;
    }
    bool frees = s->plain_count == 2 && strcmp(s->operands[0], "free") == 0;
    if (s->plain_count > 0 && !frees) {
        return fail_usage(s, "nodes lists, or frees one: firn nodes free NODE --lost-after TIME");
    }
    if (!frees && (s->option[OPTION_LOST_AFTER] != NULL || s->option[OPTION_YES] != NULL)) {
        return fail_usage(s, "--lost-after and --yes are for firn nodes free NODE");
    }
    for (size_t i = s->plain_count; i < s->operand_count; i++) {
        if (!operand_is(s->operands[i], "ns") && !operand_is(s->operands[i], "unsafe")) {
            return fail_usage(s, "'%.60s' is no key of nodes: ns=NAME and unsafe=1 are",
                              s->operands[i]);
        }
    }
    firn_store_options options = operand_store_options(s);
    if (firn_store_open(&store, operand_store_url(s), &options, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (firn_store_caution(store) != NULL) {
        tell_note(s, firn_store_caution(store));
    }
    status = frees ? nodes_free(s, store) : list_all(s, store);
    firn_store_close(store);
    return status;
}
