/* SPDX-License-Identifier: MIT */
/* `firn schemes`: the list of schemes for people, as objects or as a Markdown table; or one scheme,
 * drawn, with all its properties. */
#include "describe.h"
#include "ids.h"
#include "shared/color.h"
#include "shared/json.h"
#include "shared/operands.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the list ------------------------------------------------------------------------------- */

static void put_scheme(output *out, const firn_scheme *scheme) {
    char end[FIRN_TIME_SIZE], node[DESCRIBE_SIZE], sorts[DESCRIBE_SIZE], layout[DESCRIBE_SIZE];
    char fields[2 * DESCRIBE_SIZE + 16];
    describe_end(end, scheme, false);
    end[strcspn(end, "T")] = '\0';
    output_print(out, "%-19s  %4u  %-5s  %-12s  %-9s  %s\n", scheme->name, scheme->bits,
                 describe_tick(scheme), end, scheme->read_only ? "(read)" : describe_text(scheme),
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
        put_scheme(out, firn_scheme_at(i));
    }
}

/* ---- a table for a page --------------------------------------------------------------------- */

/* Marks a layout that has ended, or ends within two years. */
static const char *end_mark(const firn_scheme *scheme) {
    firn_time end;
    int64_t now = (int64_t)time(NULL);
    if (!firn_scheme_end(scheme, false, &end) || end.sec > now + 2 * 366 * INT64_C(86400)) {
        return "";
    }
    return end.sec > now ? "**ends soon:** " : "**ended:** ";
}

/* "", or ", EPOCH": the day alone where that says it. */
static const char *epoch_part(char text[FIRN_TIME_SIZE + 2], const firn_scheme *scheme) {
    char epoch[FIRN_TIME_SIZE];
    if (scheme->tick_ns == 0) {
        return "";
    }
    describe_epoch(epoch, scheme);
    char *midnight = strstr(epoch, "T00:00:00Z");
    if (midnight != NULL) {
        *midnight = '\0';
    }
    snprintf(text, FIRN_TIME_SIZE + 2, ", %s", epoch);
    return text;
}

/* Two tables, since no line of a page is above 120 columns. */
static void put_markdown(output *out) {
    output_text(out, "| name | tick, epoch | node | text | sorts | ends |\n"
                     "|---|---|---|---|---|---|\n");
    for (size_t i = 0; firn_scheme_at(i) != NULL; i++) {
        const firn_scheme *scheme = firn_scheme_at(i);
        char end[FIRN_TIME_SIZE], epoch[FIRN_TIME_SIZE + 2], node[DESCRIBE_SIZE];
        char sorts[DESCRIBE_SIZE];
        output_print(
            out, "| `%s` | %s%s | %s | %s | %s | %s%s |\n", scheme->name, describe_tick(scheme),
            epoch_part(epoch, scheme), describe_node(node, scheme, true),
            scheme->read_only ? "read only" : describe_text(scheme), describe_sorts(sorts, scheme),
            end_mark(scheme), describe_end(end, scheme, false));
    }
    output_text(out, "\n| name | layout |\n|---|---|\n");
    for (size_t i = 0; firn_scheme_at(i) != NULL; i++) {
        const firn_scheme *scheme = firn_scheme_at(i);
        char layout[DESCRIBE_SIZE];
        output_print(out, "| `%s` | `%s` |\n", scheme->name, describe_layout(layout, scheme));
    }
}

/* ---- one, drawn ----------------------------------------------------------------------------- */

static void put_slots_end(output *out, const firn_scheme *scheme) {
    const int sequence = scheme_index(scheme, FIRN_ROLE_SEQUENCE);
    char when[FIRN_TIME_SIZE], text[FIRN_TIME_SIZE + 96];
    if (describe_slots_end(when, scheme)) {
        snprintf(text, sizeof text, "before %s: from then on slots of %u sequence bits pass 2^62",
                 when, firn_scheme_width(scheme, (uint32_t)sequence));
        output_wrap(out, "  issued  ", 10, text);
    }
}

static void put_end(output *out, const firn_scheme *scheme) {
    char whole[FIRN_TIME_SIZE], issued[FIRN_TIME_SIZE], text[2 * FIRN_TIME_SIZE + 96];
    describe_end(whole, scheme, true);
    describe_end(issued, scheme, false);
    if (scheme->tick_ns == 0) {
        return;
    }
    if (whole[0] == '-' && whole[1] == '\0') {
        snprintf(text, sizeof text, "never (64 bits of time)");
    } else if (strcmp(whole, issued) == 0) {
        snprintf(text, sizeof text, "%s, the first time that does not fit", whole);
    } else {
        snprintf(text, sizeof text,
                 "%s: from then on IDs are negative, and refused unless unsigned=1; the bits end "
                 "at %s",
                 issued, whole);
    }
    output_wrap(out, "  ends    ", 10, text);
    if (describe_is_signed(scheme, FIRN_FORM_DEC)) {
        const firn_scheme column = describe_as(scheme, FIRN_FORM_DEC);
        describe_end(issued, &column, false);
        if (strcmp(whole, issued) != 0) {
            snprintf(text, sizeof text,
                     "as a signed integer (--as dec) at %s: from then on IDs are negative, and "
                     "refused unless unsigned=1",
                     issued);
            output_wrap(out, "          ", 10, text);
        }
    }
    put_slots_end(out, scheme);
}

static void put_node(output *out, const firn_scheme *scheme) {
    char node[DESCRIBE_SIZE], text[DESCRIBE_SIZE + 128];
    describe_node(node, scheme, scheme->node_rule == FIRN_NODE_REQUIRED);
    if (scheme->keyed) {
        snprintf(text, sizeof text, "none: a store reserves each integer");
    } else if (scheme->node_rule == FIRN_NODE_REQUIRED) {
        snprintf(text, sizeof text, "%s: %s; reserved in a store", node,
                 scheme->node_fields != NULL ? "must be given" : "given, ordinal or claimed");
    } else if (scheme->node_rule == FIRN_NODE_OPTIONAL) {
        snprintf(text, sizeof text, "%s: random; reserved in a store if %s %s given", node,
                 scheme->node_fields, strchr(scheme->node_fields, ' ') != NULL ? "are" : "is");
    } else {
        snprintf(text, sizeof text, "none: no store is needed");
    }
    output_wrap(out, "  node    ", 10, text);
    const char *outage = describe_outage(scheme);
    if (outage != NULL) {
        output_wrap(out, "  outage  ", 10, outage);
    }
}

static void put_order(output *out, const firn_scheme *scheme) {
    static const char *const words[] = {
        [FIRN_SORTS_NO] = "no: the order of IDs is not the order of issue",
        [FIRN_SORTS_PER_NODE] = "per node: only among IDs of the same node",
        [FIRN_SORTS_BY_TICK] = "by tick: in any order within a tick",
        [FIRN_SORTS_YES] = "yes: the order of IDs is the order of issue"};
    output_print(out, "  sorts   %s\n", words[scheme->sorts]);
}

static void put_policies(output *out, const firn_scheme *scheme) {
    char start[64];
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == FIRN_ROLE_SEQUENCE && firn_scheme_first(scheme, i) == i) {
            output_print(out, "  start   %s: the first sequence number of a tick\n",
                         describe_start(start, scheme));
        }
        if (scheme->slices[i].role == FIRN_ROLE_COUNTER) {
            output_print(out, "  counts  from %s in steps of %lu, across ticks\n",
                         scheme->hash != FIRN_HASH_NONE ? "a hash of the time" : "a random start",
                         (unsigned long)scheme->counter_step);
        }
    }
    if (scheme->monotonic) {
        output_text(out, "  counts  within a tick, the random part is the last one plus one\n");
    }
}

static void put_fields(session *s, const firn_scheme *scheme) {
    enum tone tones[FIRN_SLICES_MAX];
    output *out = &s->out;
    bool any = false;
    color_fields(tones, scheme);
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        uint32_t width = firn_scheme_width(scheme, i);
        char most[FIRN_VALUE_SIZE] = "", place[DESCRIBE_PLACE_SIZE], lead[128];
        char text[FIRN_VALUE_SIZE + DESCRIBE_PLACE_SIZE + 16];
        if (firn_scheme_first(scheme, i) != i || slice->role == FIRN_ROLE_CONST) {
            continue;
        }
        firn_fields top = {0};
        top.value[i] = firn_scheme_max(scheme, i);
        firn_fields_get(most, &top, scheme, i);
        snprintf(lead, sizeof lead, "  %s%-12s%s  %3u  %-8s  ", color_of(s, tones[i]), slice->name,
                 color_plain(s), width, describe_role(slice->role));
        snprintf(text, sizeof text, "%s%s%s%s", width <= 64 ? "at most " : "",
                 width <= 64 ? most : "", width <= 64 ? ", " : "",
                 describe_place(place, scheme, i));
        output_wrap(out, lead, 31, text);
        any = true;
    }
    output_text(out, any ? "\n" : "");
}

/* To be copied: broken only where a terminal would break it. */
static void put_layout(output *out, const firn_scheme *scheme) {
    char layout[FIRN_LAYOUT_SIZE];
    firn_scheme_layout(layout, scheme);
    if (isatty(STDOUT_FILENO) == 1) {
        output_wrap(out, "  layout  ", 10, layout);
    } else {
        output_print(out, "  layout  %s\n", layout);
    }
}

static void put_one(session *s, const firn_scheme *scheme) {
    output *out = &s->out;
    char epoch[FIRN_TIME_SIZE];
    output_print(out, "%s%s%s, %u bits, text: %s%s\n\n", color_bold(s), scheme->name,
                 color_plain(s), scheme->bits, describe_text(scheme),
                 scheme->read_only ? ", read only: firn does not issue it"
                 : scheme->keyed   ? ", needs a secret key"
                                   : "");
    draw_scheme(s, scheme);
    output_text(out, "\n");
    put_fields(s, scheme);
    if (scheme->tick_ns != 0) {
        output_print(out, "  tick    %s\n  epoch   %s\n", describe_tick(scheme),
                     describe_epoch(epoch, scheme));
    }
    put_end(out, scheme);
    put_node(out, scheme);
    put_order(out, scheme);
    put_policies(out, scheme);
    put_layout(out, scheme);
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
    int status = operands_split(s, 1, 0, 1, "at most one SCHEME");
    if (status != STATUS_DONE) {
        return status;
    }
    if (json && s->option[OPTION_MARKDOWN] != NULL) {
        return fail_usage(s, "--json and --markdown cannot be combined: choose one");
    }
    if (s->plain_count == 0 && s->operand_count > 0) {
        return fail_usage(s, "'%.60s' changes one layout: add its SCHEME", s->operands[0]);
    }
    if (s->plain_count == 1) {
        status = operand_scheme(s, &scheme);
        if (status != STATUS_DONE) {
            return status;
        }
        if (json) {
            json_line(&s->out, object_of_scheme(&scheme));
        } else {
            put_one(s, &scheme);
        }
        return STATUS_DONE;
    }
    if (s->option[OPTION_MARKDOWN] != NULL) {
        put_markdown(&s->out);
    } else if (!json) {
        put_list(&s->out);
    }
    for (size_t i = 0; json && firn_scheme_at(i) != NULL; i++) {
        json_line(&s->out, object_of_scheme(firn_scheme_at(i)));
    }
    return STATUS_DONE;
}
