/* SPDX-License-Identifier: MIT */
/* `firn reserve`: what this machine holds of its stores in reserve, and how long it lasts;
 * `firn reserve give-back` frees it. The library reads and closes the file. */
#include "join.h"
#include "mark.h"
#include "shared/json.h"
#include "shared/operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_SIZE = 1024 };

typedef struct reserve_listing {
    session *s;
    firn_time now;
    size_t count, nodes;
} reserve_listing;

static void print_node(const reserve_listing *list, const firn_holding *holding,
                       const firn_time *until) {
    session *s = list->s;
    char text[FIRN_TIME_SIZE], distance[40];
    firn_time_format(text, until, 0);
    if (s->option[OPTION_JSON] != NULL) {
        json_line(&s->out,
                  json_pack("{s:s, s:s, s:s, s:I}", "ns", holding->ns, "node", holding->key,
                            "until", text, "left_s", (json_int_t)(until->sec - list->now.sec)));
        return;
    }
    if (list->nodes == 0) {
        output_print(&s->out, "%-20s  %-6s  %-20s  %s\n", "namespace", "node", "until", "from now");
    }
    output_print(&s->out, "%-20s  %-6s  %-20s  %s\n", holding->ns, holding->key, text,
                 mark_distance(distance, until, &list->now));
}

/* The note is the first of them, and the mark follows the last. */
static void print_integers(const reserve_listing *list, const firn_holding *holding) {
    session *s = list->s;
    const int64_t next = strtoll(holding->note, NULL, 10), end = holding->mark.high;
    char first[24], last[24], left[24];
    snprintf(first, sizeof first, "%" PRId64, next);
    snprintf(last, sizeof last, "%" PRId64, end - 1);
    snprintf(left, sizeof left, "%" PRId64, end - next);
    if (s->option[OPTION_JSON] != NULL) {
        json_line(&s->out, json_pack("{s:s, s:s, s:s, s:s}", "ns", holding->ns, "first", first,
                                     "last", last, "left", left));
        return;
    }
    output_print(&s->out, "%-20s  %s integers, %s to %s\n", holding->ns, left, first, last);
}

static int see_node(void *context, const firn_holding *holding) {
    reserve_listing *list = context;
    if (strncmp(holding->ns, "integer ", 8) == 0) {
        print_integers(list, holding);
        list->count++;
        return output_dead(&list->s->out);
    }
    firn_scheme scheme;
    firn_time until;
    if (!mark_is_timed(&scheme, holding->ns, holding->layout)) {
        return 0;
    }
    firn_scheme_time(&scheme, (uint64_t)holding->mark.high >> mark_shift(&scheme), &until);
    if (firn_time_cmp(&until, &list->now) <= 0) {
        return 0; /* nothing of it is left */
    }
    print_node(list, holding, &until);
    list->nodes++;
    list->count++;
    return output_dead(&list->s->out);
}

static int list_all(session *s) {
    reserve_listing list = {.s = s, .now = mark_now()};
    firn_error error = {0};
    const int code = firn_reserve_list(operand_value(s, "reserve_path"), see_node, &list, &error);
    if (code < 0) {
        return fail(s, &error);
    }
    if (list.count == 0 && s->option[OPTION_JSON] == NULL) {
        output_print(&s->out, "nothing is in reserve\n");
    }
    return STATUS_DONE;
}

static int give_back(session *s) {
    static const char *const none[] = {NULL};
    char keys[KEYS_SIZE];
    firn_error error;
    firn_gen *gen;
    const firn_store_options options = operand_store_options(s);
    firn_config config = {.size = sizeof config,
                          .scheme = s->operands[1],
                          .keys = keys,
                          .store_url = operand_store_url(s),
                          .store_options = &options,
                          .notice = tell_note,
                          .notice_self = s};
    int status = operands_join(s, none, 48, keys, sizeof keys);
    operands_assume(s, "mode", "window", keys, sizeof keys);
    if (status != STATUS_DONE) {
        return status;
    }
    int code = firn_open_with(&gen, &config, &error);
    if (argument_code(code, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    code = firn_reserve_give_back(gen, &error);
    if (argument_code(code, &error) != FIRN_OK) {
        status = fail(s, &error);
    } else {
        output_print(&s->out, "the reserve is given back\n");
    }
    code = firn_close(gen, &error);
    return code == FIRN_OK ? status : worse(status, fail(s, &error));
}

int run_reserve(session *s) {
    int status = operands_split(s, 0, 0, 2, "give-back SCHEME, or no arguments");
    if (status != STATUS_DONE) {
        return status;
    }
    if (s->plain_count > 0 && (strcmp(s->operands[0], "give-back") != 0 || s->plain_count != 2)) {
        return fail_usage(s,
                          "'%.60s' is not a verb of reserve: use firn reserve, or firn reserve "
                          "give-back SCHEME with the settings of the processes",
                          s->operands[0]);
    }
    if (s->plain_count > 0) {
        return give_back(s);
    }
    for (size_t i = 0; i < s->operand_count; i++) {
        if (!operand_is(s->operands[i], "reserve_path")) {
            return fail_usage(s, "firn reserve takes reserve_path=PATH only, not '%.60s'",
                              s->operands[i]);
        }
    }
    return list_all(s);
}
