/* SPDX-License-Identifier: MIT */
#include "describe.h"

#include "join.h"
#include "reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *describe_name(const firn_scheme *scheme) {
    return scheme->name[0] != '\0' ? scheme->name : "the layout";
}

const char *describe_tick(const firn_scheme *scheme) {
    switch (scheme->tick_ns) {
    case 1000000000:
        return "s";
    case 10000000:
        return "10ms";
    case 1000000:
        return "ms";
    case 1000:
        return "us";
    case 100:
        return "100ns";
    default:
        return "-";
    }
}

char *describe_slice(char text[64], const firn_scheme *scheme, uint32_t i) {
    const firn_slice *slice = &scheme->slices[i];
    char source[16] = "", group[16] = "";
    if (slice->role == FIRN_ROLE_CONST) {
        snprintf(text, 64, "%s%s0x%" PRIx64 ":%u", slice->name, slice->name[0] ? "=" : "",
                 slice->value, slice->bits);
        return text;
    }
    if (firn_scheme_width(scheme, firn_scheme_first(scheme, i)) != slice->bits) {
        snprintf(source, sizeof source, "@%u", slice->from);
    }
    if (slice->group > 0) {
        snprintf(group, sizeof group, "~%u", slice->group);
    }
    snprintf(text, 64, "%s%s%s:%u", slice->name, source, group, slice->bits);
    return text;
}

char *describe_place(char text[DESCRIBE_PLACE_SIZE], const firn_scheme *scheme, uint32_t first) {
    const bool single = firn_scheme_width(scheme, first) == 1;
    uint32_t end = scheme->bits;
    size_t length = (size_t)snprintf(text, DESCRIBE_PLACE_SIZE, single ? "bit" : "bits");
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        uint32_t low = end - slice->bits;
        if (firn_scheme_first(scheme, i) == first && length < DESCRIBE_PLACE_SIZE - 16) {
            length += (size_t)snprintf(text + length, DESCRIBE_PLACE_SIZE - length,
                                       slice->bits == 1 ? " %u" : " %u..%u", end - 1, low);
        }
        end = low;
    }
    return text;
}

char *describe_layout(char text[DESCRIBE_SIZE], const firn_scheme *scheme) {
    text[0] = '\0';
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        char slice[64];
        text_join(text, DESCRIBE_SIZE, " ", "%s", describe_slice(slice, scheme, i));
    }
    return text;
}

const char *describe_outage(const firn_scheme *scheme) {
    const bool claims = scheme->node_rule == FIRN_NODE_REQUIRED && scheme->node_fields == NULL;
    return claims && !scheme->keyed
               ? "claimed nodes issue for 5 to 10 s without their store; in a namespace with "
                 "reach=10min for 9.5 to 10 min, and then a node stays busy for as long after a "
                 "crash"
               : NULL;
}

char *describe_node(char text[DESCRIBE_SIZE], const firn_scheme *scheme, bool rule) {
    text[0] = '\0';
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        int role = scheme->slices[i].role;
        bool part = role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS;
        if (scheme->node_rule != FIRN_NODE_NONE && part && firn_scheme_first(scheme, i) == i) {
            text_join(text, DESCRIBE_SIZE, " ", "%s", scheme->slices[i].name);
        }
    }
    if (text[0] == '\0') {
        snprintf(text, DESCRIBE_SIZE, "%s",
                 rule && scheme->node_rule == FIRN_NODE_REQUIRED ? "of no bits" : "-");
    } else if (rule && scheme->node_rule == FIRN_NODE_OPTIONAL) {
        text_join(text, DESCRIBE_SIZE, " ", "(when given)");
    }
    return text;
}

char *describe_sorts(char text[DESCRIBE_SIZE], const firn_scheme *scheme) {
    static const char *const words[] = {[FIRN_SORTS_NO] = "no",
                                        [FIRN_SORTS_PER_NODE] = "per node",
                                        [FIRN_SORTS_BY_TICK] = "by ",
                                        [FIRN_SORTS_YES] = "yes"};
    snprintf(text, DESCRIBE_SIZE, "%s%s", words[scheme->sorts],
             scheme->sorts == FIRN_SORTS_BY_TICK ? describe_tick(scheme) : "");
    return text;
}

static char *format_time(char text[FIRN_TIME_SIZE], const firn_time *time) {
    int digits = time->ns == 0             ? 0
                 : time->ns % 1000000 == 0 ? 3
                 : time->ns % 1000 == 0    ? 6
                 : time->ns % 100 == 0     ? 7
                                           : 9;
    return firn_time_format(text, time, digits);
}

char *describe_epoch(char text[FIRN_TIME_SIZE], const firn_scheme *scheme) {
    if (scheme->tick_ns == 0) {
        snprintf(text, FIRN_TIME_SIZE, "-");
        return text;
    }
    return format_time(text, &scheme->epoch);
}

char *describe_end(char text[FIRN_TIME_SIZE], const firn_scheme *scheme, bool whole) {
    firn_time end;
    if (!firn_scheme_end(scheme, whole, &end)) {
        snprintf(text, FIRN_TIME_SIZE, "-");
        return text;
    }
    return format_time(text, &end);
}

bool describe_is_signed(const firn_scheme *scheme, int form) {
    return form == FIRN_FORM_DEC && scheme->form != FIRN_FORM_DEC && scheme->bits == 64 &&
           scheme->sorts != FIRN_SORTS_NO;
}

bool describe_is_sorted(int form) {
    return form < FIRN_FORM_BASE64;
}

firn_scheme describe_as(const firn_scheme *scheme, int form) {
    firn_scheme out = *scheme;
    out.form = scheme->bits == 64 && scheme->sorts != FIRN_SORTS_NO ? (uint8_t)form : out.form;
    return out;
}

bool describe_slots_end(char text[FIRN_TIME_SIZE], const firn_scheme *scheme) {
    const int sequence = scheme_index(scheme, FIRN_ROLE_SEQUENCE);
    const uint32_t bits = sequence < 0 ? 0 : firn_scheme_width(scheme, (uint32_t)sequence);
    firn_time end, slots;
    if (scheme->node_rule != FIRN_NODE_REQUIRED || bits == 0) {
        return false;
    }
    firn_scheme_time(scheme, (uint64_t)(FIRN_SLOT_MAX - 2) >> bits, &slots);
    firn_time_format(text, &slots, firn_scheme_digits(scheme));
    return !firn_scheme_end(scheme, true, &end) || firn_time_cmp(&slots, &end) < 0;
}

const char *describe_text(const firn_scheme *scheme) {
    return scheme->keyed ? "decimal" : firn_form_name(scheme->form);
}

const char *describe_role(int role) {
    static const char *const names[] = {
        [FIRN_ROLE_CONST] = "constant",    [FIRN_ROLE_TIME] = "time",
        [FIRN_ROLE_SEQUENCE] = "sequence", [FIRN_ROLE_COUNTER] = "counter",
        [FIRN_ROLE_RANDOM] = "random",     [FIRN_ROLE_NODE] = "node",
        [FIRN_ROLE_ADDRESS] = "address",   [FIRN_ROLE_PROCESS] = "process",
        [FIRN_ROLE_USER] = "user",         [FIRN_ROLE_DIGEST] = "digest"};
    return names[role];
}

const char *describe_rule(int node_rule) {
    static const char *const names[] = {[FIRN_NODE_NONE] = "none",
                                        [FIRN_NODE_OPTIONAL] = "when given",
                                        [FIRN_NODE_REQUIRED] = "always"};
    return names[node_rule];
}

char *describe_start(char text[64], const firn_scheme *scheme) {
    if (scheme->start == FIRN_START_RANDOM) {
        snprintf(text, 64, "random:%" PRIu64, scheme->start_below);
    } else {
        snprintf(text, 64, "%s", scheme->start == FIRN_START_ROLLING ? "rolling" : "zero");
    }
    return text;
}
