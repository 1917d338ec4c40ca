/* SPDX-License-Identifier: MIT */
/* `firn nodes`: lists every node, history node, job and integer of a store, with its high-water mark,
 * the distance of the mark from now, and its holder. A mark in the past means that nobody issues. */
#include "nodes.h"

#include "closing.h"
#include "mark.h"
#include "shared/color.h"
#include "shared/json.h"
#include "shared/operands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 80, HOLDER = 30 }; /* of a line; of a usual holder */

typedef struct listing {
    session *s;
    firn_time now;
    bool measured; /* the second pass writes, the first one finds the widths */
    size_t rows, ns, key, fields, mark, distance; /* a number, and widths */
    size_t ticks, closed;                         /* left out: ticks, namespaces */
    char last[FIRN_NS_SIZE];                      /* of the closed ones */
    bool narrow; /* a terminal: a holder that exceeds 80 columns is on a line of its own */
} listing;

/* ---- writing --------------------------------------------------------------------------------- */

static void widen(size_t *width, const char *text) {
    size_t length = strlen(text);
    *width = length > *width ? length : *width;
}

static void put_holder(const listing *list, const char *note) {
    size_t width = list->ns + list->key + list->fields + list->mark + list->distance + 8;
    bool below = list->narrow && width + 2 + HOLDER > COLUMNS;
    output_print(&list->s->out, below ? "\n    %s\n" : "  %s\n", note);
}

static int visit(void *context, const firn_holding *holding) {
    listing *list = context;
    output *out = &list->s->out;
    mark_told what;
    list->rows += !list->measured;
    if (closing_layout(holding->layout) != holding->layout && list->s->option[OPTION_ALL] == NULL) {
        list->closed += list->measured && strcmp(list->last, holding->ns) != 0;
        snprintf(list->last, sizeof list->last, "%s", holding->ns);
        return 0;
    }
    if (holding->key[0] == '\0') {
        return 0; /* a namespace without a node */
    }
    mark_tell(&what, holding, &list->now);
    if (what.kind == MARK_TICK && list->s->option[OPTION_ALL] == NULL) {
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
        json_line(out, object_of_mark(holding, &what));
    } else {
        const char *plain = color_plain(list->s);
        output_print(out, "%-*s  %-*s  %s%-*s%s  %s%-*s%s  %-*s", (int)list->ns, holding->ns,
                     (int)list->key, holding->key, color_of(list->s, TONE_ORANGE),
                     (int)list->fields, what.fields, plain, color_of(list->s, TONE_BLUE),
                     (int)list->mark, what.mark, plain, (int)list->distance, what.distance);
        put_holder(list, holding->note != NULL ? holding->note : "");
    }
    return output_dead(out);
}

static void put_left_out(session *s, size_t count, const char *what, const char *more) {
    if (count > 0 && s->option[OPTION_JSON] == NULL) {
        output_print(&s->out, "and %zu %s%s%s: --all lists %s\n", count, what, plural(count), more,
                     count == 1 ? "it" : "them");
    }
}

static int list_all(session *s, firn_store *store) {
    listing list = {.s = s, .ns = 9, .key = 4, .fields = 6, .mark = 4, .distance = 8};
    const char *ns = operand_value(s, "ns");
    firn_error error;
    list.now = mark_now();
    list.narrow = isatty(STDOUT_FILENO) == 1;
    if (s->option[OPTION_JSON] == NULL) {
        if (firn_store_list(store, ns, visit, &list, &error) < 0) {
            return fail(s, &error);
        }
        if (list.rows == 0) {
            output_print(&s->out, "nothing is reserved%s%s in this store\n",
                         ns == NULL ? "" : " in the namespace ", ns == NULL ? "" : ns);
            return STATUS_DONE;
        }
        output_print(&s->out, "%-*s  %-*s  %-*s  %-*s  %-*s", (int)list.ns, "namespace",
                     (int)list.key, "key", (int)list.fields, "node", (int)list.mark, "mark",
                     (int)list.distance, "from now");
        put_holder(&list, "holder");
    }
    list.measured = true;
    if (firn_store_list(store, ns, visit, &list, &error) < 0) {
        return fail(s, &error);
    }
    put_left_out(s, list.ticks, "tick", " with back-dated IDs");
    put_left_out(s, list.closed, "closed namespace", "");
    return STATUS_DONE;
}

int run_nodes(session *s) {
    firn_store *store;
    int status = operands_split(s, 0, 0, 2, "free NODE, or no arguments");
    if (status != STATUS_DONE) {
        return status;
    }
    const bool forgets = s->option[OPTION_FORGET] != NULL;
    bool frees = s->plain_count == 2 && strcmp(s->operands[0], "free") == 0;
    if (s->plain_count > 0 && !frees) {
        return fail_usage(s,
                          "'%.60s' is not a verb of nodes: use firn nodes, or firn nodes free NODE "
                          "--lost-after TIME",
                          s->operands[0]);
    }
    if (forgets && (s->plain_count > 0 || operand_value(s, "ns") != NULL ||
                    s->option[OPTION_LOST_AFTER] != NULL)) {
        return fail_usage(s, "--forget takes a namespace alone: firn nodes --forget NAMESPACE");
    }
    if (!forgets && s->option[OPTION_UNDO] != NULL) {
        return fail_usage(s, "--undo applies to --forget: firn nodes --forget NAMESPACE --undo");
    }
    if (!frees &&
        (s->option[OPTION_LOST_AFTER] != NULL || (!forgets && s->option[OPTION_YES] != NULL))) {
        return fail_usage(s, "--lost-after and --yes apply to firn nodes free NODE: remove them");
    }
    for (size_t i = s->plain_count; i < s->operand_count; i++) {
        if (!operand_is(s->operands[i], "ns") && !operand_is(s->operands[i], "unsafe")) {
            return fail_usage(s, "nodes has no key '%.60s': use ns=NAME or unsafe=1",
                              s->operands[i]);
        }
    }
    status = operand_store(s, &store, operand_store_url(s), true);
    if (status != STATUS_DONE) {
        return status;
    }
    status = forgets ? nodes_forget(s, store) : frees ? nodes_free(s, store) : list_all(s, store);
    firn_store_close(store);
    return status;
}
