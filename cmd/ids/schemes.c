/* SPDX-License-Identifier: MIT */
/* `firn schemes`: the table as a list, as objects, as a page's table, or one row drawn with all
 * that is known of it. */
#include "describe.h"
#include "shared/json.h"
#include "shared/operands.h"

#include <stdio.h>
#include <string.h>

/* ---- the list ------------------------------------------------------------------------------- */

/* Two lines or more, none wider than 80 columns. */
static void put_row(output *out, const firn_scheme *scheme) {
    char end[FIRN_TIME_SIZE], node[DESCRIBE_SIZE], sorts[DESCRIBE_SIZE], layout[DESCRIBE_SIZE];
    char fields[2 * DESCRIBE_SIZE + 16];
    describe_end(end, scheme, false);
    end[strcspn(end, "T")] = '\0';
    output_print(out, "%-19s  %4u  %-5s  %-12s  %-9s  %s\n", scheme->name, scheme->bits,
                 describe_tick(scheme), end, scheme->read_only ? "(shown)" : describe_text(scheme),
                 describe_sorts(sorts, scheme));
    describe_node(node, scheme, false);
    snprintf(fields, sizeof fields, "%s%s%s%s", describe_layout(layout, scheme),
             node[0] == '-' ? "" : " (node: ", node[0] == '-' ? "" : node,
             node[0] == '-' ? "" : ")");
    output_wrap(out, "    ", 4, fields);
}

static void put_list(output *out) {
    output_print(out, "%-19s  %4s  %-5s  %-12s  %-9s  %s\n    %s\n", "name", "bits", "tick", "ends",
                 "text", "sorts", "fields");
    for (size_t i = 0; firn_scheme_at(i) != NULL; i++) {
        put_row(out, firn_scheme_at(i));
    }
}

/* ---- a table for a page --------------------------------------------------------------------- */

static void put_markdown(output *out) {
    output_text(out, "| name | layout | tick, epoch | node | text | sorts | ends |\n"
                     "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; firn_scheme_at(i) != NULL; i++) {
        const firn_scheme *scheme = firn_scheme_at(i);
        char end[FIRN_TIME_SIZE], epoch[FIRN_TIME_SIZE], node[DESCRIBE_SIZE], sorts[DESCRIBE_SIZE];
        char layout[DESCRIBE_SIZE];
        const char *tick = describe_tick(scheme);
        output_print(out, "| `%s` | `%s` | %s%s%s | %s | %s | %s | %s |\n", scheme->name,
                     describe_layout(layout, scheme), tick, tick[0] == '-' ? "" : ", ",
                     tick[0] == '-' ? "" : describe_epoch(epoch, scheme),
                     describe_node(node, scheme, true),
                     scheme->read_only ? "shown only" : describe_text(scheme),
                     describe_sorts(sorts, scheme), describe_end(end, scheme, false));
    }
}

/* ---- one, drawn ----------------------------------------------------------------------------- */

static void put_end(output *out, const firn_scheme *scheme) {
    char whole[FIRN_TIME_SIZE], issued[FIRN_TIME_SIZE];
    describe_end(whole, scheme, true);
    describe_end(issued, scheme, false);
    if (scheme->tick_ns == 0) {
        return;
    }
    if (whole[0] == '-' && whole[1] == '\0') {
        output_text(out, "  ends    never (64 bits of time)\n");
    } else if (strcmp(whole, issued) == 0) {
        output_print(out, "  ends    %s, the first instant that is refused\n", whole);
    } else {
        output_print(out, "  ends    %s, negative from there unless unsigned=1; the bits at %s\n",
                     issued, whole);
    }
}

static void put_node(output *out, const firn_scheme *scheme) {
    char node[DESCRIBE_SIZE];
    describe_node(node, scheme, true);
    if (scheme->keyed) {
        output_text(out, "  node    none: each integer is reserved in a store\n");
        return;
    }
    switch (scheme->node_rule) {
    case FIRN_NODE_REQUIRED:
        output_print(out, "  node    %s: %s; its slots are reserved\n", node,
                     scheme->node_fields != NULL ? "always given, never claimed"
                                                 : "given, ordinal or claimed");
        break;
    case FIRN_NODE_OPTIONAL:
        describe_node(node, scheme, false);
        output_print(out, "  node    %s: random, a probability; reserved when %s %s given\n", node,
                     scheme->node_fields, strchr(scheme->node_fields, ' ') != NULL ? "are" : "is");
        break;
    default:
        output_text(out, "  node    none: no store is needed\n");
    }
}

static void put_order(output *out, const firn_scheme *scheme) {
    static const char *const words[] = {
        [FIRN_SORTS_NO] = "no: the order of the IDs is not the order of issue",
        [FIRN_SORTS_PER_NODE] = "per node: among the IDs of one node",
        [FIRN_SORTS_BY_TICK] = "by tick, in any order within one",
        [FIRN_SORTS_YES] = "yes: the order of the IDs is the order of issue"};
    output_print(out, "  sorts   %s\n", words[scheme->sorts]);
}

static void put_policies(output *out, const firn_scheme *scheme) {
    char start[64];
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == FIRN_ROLE_SEQUENCE && firn_scheme_first(scheme, i) == i) {
            output_print(out, "  start   %s: where the sequence of a new tick begins\n",
                         describe_start(start, scheme));
        }
        if (scheme->slices[i].role == FIRN_ROLE_COUNTER) {
            output_print(out, "  counts  from %s by %lu, on over ticks\n",
                         scheme->hash != FIRN_HASH_NONE ? "the hash of the time" : "a random start",
                         (unsigned long)scheme->counter_step);
        }
    }
    if (scheme->monotonic) {
        output_text(out, "  counts  the random part of a tick goes on from the last one\n");
    }
}

static void put_fields(output *out, const firn_scheme *scheme) {
    bool any = false;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        uint32_t width = firn_scheme_width(scheme, i);
        char most[FIRN_VALUE_SIZE] = "", place[DESCRIBE_PLACE_SIZE];
        if (firn_scheme_first(scheme, i) != i || slice->role == FIRN_ROLE_CONST) {
            continue;
        }
        firn_fields top = {0};
        top.value[i] = firn_scheme_max(scheme, i);
        firn_fields_get(most, &top, scheme, i);
        output_print(out, "  %-12s  %3u  %-8s  %s%s%s%s\n", slice->name, width,
                     describe_role(slice->role), width <= 64 ? "at most " : "",
                     width <= 64 ? most : "", width <= 64 ? ", " : "",
                     describe_place(place, scheme, i));
        any = true;
    }
    output_text(out, any ? "\n" : "");
}

static void put_one(output *out, const firn_scheme *scheme) {
    char row[FIRN_LAYOUT_SIZE], epoch[FIRN_TIME_SIZE];
    output_print(out, "%s, %u bits, text: %s%s\n\n", scheme->name, scheme->bits,
                 describe_text(scheme),
                 scheme->read_only ? ", shown but never generated"
                 : scheme->keyed   ? ", made and read with a key"
                                   : "");
    draw_scheme(out, scheme);
    output_text(out, "\n");
    put_fields(out, scheme);
    if (scheme->tick_ns != 0) {
        output_print(out, "  tick    %s\n  epoch   %s\n", describe_tick(scheme),
                     describe_epoch(epoch, scheme));
    }
    put_end(out, scheme);
    put_node(out, scheme);
    put_order(out, scheme);
    put_policies(out, scheme);
    output_print(out, "  row     %s\n",
                 firn_scheme_layout(row, scheme)); /* to be copied: not broken */
    if (scheme->note != NULL) {
        output_wrap(out, "  note    ", 10, scheme->note);
    }
    if (scheme->source != NULL) {
        output_wrap(out, "  source  ", 10, scheme->source);
    }
}

int run_schemes(session *s) {
    firn_scheme scheme;
    bool json = s->option[OPTION_JSON] != NULL;
    int status = operands_split(s, 1, 0, 1, "a NAME at most");
    if (status != STATUS_DONE) {
        return status;
    }
    if (json && s->option[OPTION_MARKDOWN] != NULL) {
        return fail_usage(s, "--json and --markdown exclude each other: choose one");
    }
    if (s->plain_count == 1) {
        status = operand_scheme(s, &scheme);
        if (status != STATUS_DONE) {
            return status;
        }
        if (json) {
            json_put_scheme(&s->out, &scheme);
        } else {
            put_one(&s->out, &scheme);
        }
        return STATUS_DONE;
    }
    if (s->option[OPTION_MARKDOWN] != NULL) {
        put_markdown(&s->out);
    } else if (!json) {
        put_list(&s->out);
    }
    for (size_t i = 0; json && firn_scheme_at(i) != NULL; i++) {
        json_put_scheme(&s->out, firn_scheme_at(i));
    }
    return STATUS_DONE;
}
