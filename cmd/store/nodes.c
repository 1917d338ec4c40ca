/* SPDX-License-Identifier: MIT */
/* `firn nodes`: lists every node, job and segment of a store, with its high-water mark, the
 * distance of the mark from now, and its holder. A mark in the past means that nobody issues. */
#include "nodes.h"

#include "closing.h"
#include "join.h"
#include "mark.h"
#include "shared/color.h"
#include "shared/json.h"
#include "shared/operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 80, HOLDER = 30 }; /* of a line; of a usual holder */
enum { FLOORS = 64 };               /* more are not shown */
enum { CLOSED = MARK_OTHER + 1 };   /* the last line of the legend */

/* A line of the table. */
typedef struct node_row {
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE], note[FIRN_NOTE_SIZE];
    bool closed; /* the namespace, so its mark means nothing */
    mark_told what;
} node_row;

/* A namespace that issues nothing yet. */
typedef struct guarded_node {
    char ns[FIRN_NS_SIZE], floor[FIRN_TIME_SIZE], distance[40];
    int guard_s;
} guarded_node;

/* A namespace whose claims are confined, for generators or for reserves. */
typedef struct confined_node {
    char ns[FIRN_NS_SIZE];
    bool confines, splits;
    firn__claims claims, reserves;
} confined_node;

typedef struct node_listing {
    guarded_node floors[FLOORS];
    confined_node confined[FLOORS];
    size_t floor_count, confined_count;
    session *s;
    firn_time now;
    node_row *rows;
    size_t count, room;
    bool some;               /* the store has a key */
    bool others;             /* the holdings are of other programs, not the store's */
    size_t ticks, closed;    /* left out: ticks, namespaces */
    char last[FIRN_NS_SIZE]; /* of the closed ones */
} node_listing;

/* ---- collecting ------------------------------------------------------------------------------ */

static int keep_row(node_listing *list, const firn_holding *holding, const mark_told *what) {
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 64 : 2 * list->room;
        node_row *rows = realloc(list->rows, room * sizeof *rows);
        if (rows == NULL) {
            return FIRN_EMEMORY;
        }
        list->rows = rows;
        list->room = room;
    }
    node_row *row = &list->rows[list->count++];
    snprintf(row->ns, sizeof row->ns, "%s", holding->ns[0] != '\0' ? holding->ns : "*");
    snprintf(row->key, sizeof row->key, "%s", holding->key);
    snprintf(row->note, sizeof row->note, "%s", holding->note != NULL ? holding->note : "");
    row->what = *what;
    row->closed = closing_layout(holding->layout) != holding->layout;
    if (row->closed) {
        snprintf(row->what.mark, sizeof row->what.mark, "closed");
        row->what.distance[0] = '\0';
    }
    return 0;
}

/* Namespaces come in order. */
static void keep_floor(node_listing *list, const firn_holding *holding, const mark_told *what) {
    const char *ns = holding->ns;
    const size_t count = list->floor_count;
    if (!what->guarded || count == FLOORS ||
        (count > 0 && strcmp(list->floors[count - 1].ns, ns) == 0)) {
        return;
    }
    guarded_node *guarded = &list->floors[list->floor_count++];
    snprintf(guarded->ns, sizeof guarded->ns, "%s", ns);
    snprintf(guarded->floor, sizeof guarded->floor, "%s", what->floor);
    snprintf(guarded->distance, sizeof guarded->distance, "%s", what->floor_distance);
    guarded->guard_s = mark_guard_s(holding->layout);
}

static void keep_claims(node_listing *list, const firn_holding *holding) {
    const size_t count = list->confined_count;
    confined_node *confined = &list->confined[count];
    if (count == FLOORS || (count > 0 && strcmp(confined[-1].ns, holding->ns) == 0)) {
        return;
    }
    const char *open = closing_layout(holding->layout);
    firn_scheme scheme;
    size_t unused;
    confined->confines = firn__confined_read(open, &confined->claims) != open;
    confined->splits = firn__confined_reserves(open, &confined->reserves, &unused) &&
                       mark_is_timed(&scheme, holding->ns, open); /* not the ticks of history */
    if (confined->confines || confined->splits) {
        snprintf(confined->ns, sizeof confined->ns, "%s", holding->ns);
        list->confined_count++;
    }
}

/* Who has the holding. The extension of a database also reserves in the store's own tables. */
static const char *whose(const node_listing *list, const firn_holding *holding,
                         const mark_told *what) {
    static const char extension[] = "extension";
    const bool is_job = what->kind == MARK_JOB || what->kind == MARK_RECORD;
    return strncmp(holding->note, extension, sizeof extension - 1) == 0 ? extension
           : list->others                                               ? "foreign"
           : is_job                                                     ? "job"
                                                                        : "process";
}

static int print_object(const node_listing *list, const firn_holding *holding,
                        const mark_told *what) {
    json_t *object = object_of_mark(holding, what);
    if (object != NULL) {
        json_object_set_new(object, "whose", json_string(whose(list, holding, what)));
    }
    json_line(&list->s->out, object);
    return output_dead(&list->s->out);
}

static int visit(void *context, const firn_holding *holding) {
    node_listing *list = context;
    const bool all = list->s->option[OPTION_ALL] != NULL;
    mark_told what;
    list->some = true;
    if (closing_layout(holding->layout) != holding->layout && !all) {
        list->closed += strcmp(list->last, holding->ns) != 0;
        snprintf(list->last, sizeof list->last, "%s", holding->ns);
        return 0;
    }
    mark_tell(&what, holding, &list->now);
    keep_floor(list, holding, &what);
    keep_claims(list, holding);
    if (holding->key[0] == '\0') {
        return 0; /* a namespace without a node */
    }
    if (what.kind == MARK_TICK && !all) {
        list->ticks++;
        return 0;
    }
    return list->s->option[OPTION_JSON] == NULL ? keep_row(list, holding, &what)
                                                : print_object(list, holding, &what);
}

static int visit_other(void *context, const firn_holding *holding) {
    const node_listing *list = context;
    const char *ns = operand_value(list->s, "ns");
    return ns == NULL || holding->ns[0] == '\0' || strcmp(holding->ns, ns) == 0
               ? visit(context, holding)
               : 0;
}

/* By namespace, then by key: numbers by their value, before words. */
static int by_key(const void *a, const void *b) {
    const node_row *x = a, *y = b;
    size_t digits_x = strspn(x->key, "0123456789"), digits_y = strspn(y->key, "0123456789");
    bool word_x = x->key[digits_x] != '\0', word_y = y->key[digits_y] != '\0';
    int order = strcmp(x->ns, y->ns);
    if (order != 0) {
        return order;
    }
    if (word_x != word_y) {
        return word_x - word_y;
    }
    if (!word_x && digits_x != digits_y) {
        return digits_x < digits_y ? -1 : 1;
    }
    return strcmp(x->key, y->key);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int widen(int width, const char *text) {
    int length = (int)strlen(text);
    return length > width ? length : width;
}

static void put_rows(session *s, const node_listing *list) {
    const char *plain = color_plain(s), *orange = color_of(s, TONE_ORANGE),
               *blue = color_of(s, TONE_BLUE);
    int ns = 9, key = 4, fields = 6, mark = 4, distance = 8;
    for (size_t i = 0; i < list->count; i++) {
        const node_row *row = &list->rows[i];
        ns = widen(ns, row->ns);
        key = widen(key, row->key);
        fields = widen(fields, row->what.fields);
        mark = widen(mark, row->what.mark);
        distance = widen(distance, row->what.distance);
    }
    /* on a terminal a holder that exceeds 80 columns is on its own line */
    const bool below =
        isatty(STDOUT_FILENO) == 1 && ns + key + fields + mark + distance + 10 + HOLDER > COLUMNS;
    const char *gap = below ? "\n    " : "  ";
    output_print(&s->out, "%-*s  %-*s  %-*s  %-*s  %-*s%sholder\n", ns, "namespace", key, "name",
                 fields, "node", mark, "mark", distance, "from now", gap);
    for (size_t i = 0; i < list->count && !output_dead(&s->out); i++) {
        const node_row *row = &list->rows[i];
        output_print(&s->out, "%-*s  %-*s  %s%-*s%s  %s%-*s%s  %-*s%s%s\n", ns, row->ns, key,
                     row->key, orange, fields, row->what.fields, plain, blue, mark, row->what.mark,
                     plain, distance, row->what.distance, gap, row->note);
    }
}

/* Explains the kinds of marks, if there are others than times of nodes. */
static void put_legend(session *s, const node_listing *list) {
    static const char *const texts[] = {
        [MARK_NODE] = "a time: the node is reserved until then",
        [MARK_INTEGER] = "a number: the next integer",
        [MARK_TICK] = "a number at a tick (@): how many IDs it has",
        [MARK_HISTORY] = "history: the node issues only back-dated IDs",
        [MARK_JOB] = "job: one job has used up the node",
        [MARK_SERIES] = "a date and a number: a period of a series, and its next counter",
        [MARK_RECORD] = "record: the name of a job, which is used up",
        [MARK_OTHER] = "other: another program of the store's server issues with the node",
        [CLOSED] = "closed: the namespace issues nothing more",
    };
    enum { KINDS = sizeof texts / sizeof texts[0] };
    bool seen[KINDS] = {false};
    char legend[80 * KINDS] = "";
    for (size_t i = 0; i < list->count; i++) {
        seen[list->rows[i].closed ? (int)CLOSED : (int)list->rows[i].what.kind] = true;
    }
    for (size_t kind = 0; kind < KINDS; kind++) {
        if (seen[kind]) {
            text_join(legend, sizeof legend, "; ", "%s", texts[kind]);
        }
    }
    if (strcmp(legend, texts[MARK_NODE]) != 0) {
        output_wrap(&s->out, "mark: ", 6, legend);
    }
}

/* Names the namespaces that issue nothing yet. */
static void put_floors(session *s, const node_listing *list) {
    for (size_t i = 0; i < list->floor_count && s->option[OPTION_JSON] == NULL; i++) {
        const guarded_node *guarded = &list->floors[i];
        output_print(&s->out,
                     "%s issues nothing before %s, %s, because the store lost reservations: "
                     "wait\n(if a clock was wrong, and the time is over %d s ahead: "
                     "firn nodes floor '%s')\n",
                     guarded->ns, guarded->floor, guarded->distance, guarded->guard_s, guarded->ns);
    }
}

/* The other nodes of these namespaces are given by hand, or are another program's. */
static void put_claims(session *s, const node_listing *list) {
    for (size_t i = 0; i < list->confined_count && s->option[OPTION_JSON] == NULL; i++) {
        const confined_node *confined = &list->confined[i];
        if (confined->splits) {
            output_print(&s->out,
                         "only reserves of machines claim nodes %" PRIu64 " to %" PRIu64
                         " of %s, whose guard after a loss is 1 h longer (reserve_claim=)\n",
                         confined->reserves.first, confined->reserves.last, confined->ns);
        }
        if (confined->confines) {
            output_print(&s->out,
                         "generators of %s claim nodes %" PRIu64 " to %" PRIu64
                         " only (firn nodes claim)\n",
                         confined->ns, confined->claims.first, confined->claims.last);
        }
    }
}

static void put_left_out(session *s, size_t count, const char *what, const char *more) {
    if (count > 0 && s->option[OPTION_JSON] == NULL) {
        output_print(&s->out, "and %zu %s%s%s: --all lists %s\n", count, what, plural(count), more,
                     count == 1 ? "it" : "them");
    }
}

static int list_all(session *s, firn_store *store) {
    node_listing list = {.s = s, .now = mark_now()};
    const char *ns = operand_value(s, "ns");
    firn_error error = {0};
    int code = firn_store_list(store, ns, visit, &list, &error);
    const bool listed = code == 0;
    if (listed) {
        list.others = true;
        code = firn_store_others(store, visit_other, &list, &error);
    }
    if (code == FIRN_EMEMORY && error.code == 0) {
        out_of_memory(&error); /* of keep_row */
    }
    if (code < 0 && !listed) {
        free(list.rows);
        return fail(s, &error);
    }
    if (list.count > 0) {
        qsort(list.rows, list.count, sizeof *list.rows, by_key);
        put_rows(s, &list);
        put_legend(s, &list);
    } else if (!list.some && s->option[OPTION_JSON] == NULL) {
        output_print(&s->out, "nothing is reserved%s%s in this store\n",
                     ns == NULL ? "" : " in the namespace ", ns == NULL ? "" : ns);
    }
    put_floors(s, &list);
    put_claims(s, &list);
    put_left_out(s, list.ticks, "tick", " with back-dated IDs");
    put_left_out(s, list.closed, "closed namespace", "");
    free(list.rows);
    if (code < 0 && s->option[OPTION_JSON] == NULL) {
        output_print(&s->out, "nodes of other programs may be missing, because the store failed\n");
    }
    return code < 0 ? fail(s, &error) : STATUS_DONE;
}

static const struct verb {
    const char *name;
    size_t operands; /* with the name */
    bool whole;      /* applies to the whole store */
    int (*run)(session *s, firn_store *store);
} verbs[] = {
    {"claim", 3, false, nodes_claim}, {"free", 2, false, nodes_free},
    {"floor", 2, false, nodes_floor}, {"lost", 1, true, nodes_lost},
    {"trust", 1, true, nodes_trust},  {"resume", 1, true, nodes_resume},
};

static const struct verb *find_verb(const session *s) {
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0] && s->plain_count > 0; i++) {
        if (s->plain_count == verbs[i].operands && strcmp(s->operands[0], verbs[i].name) == 0) {
            return &verbs[i];
        }
    }
    return NULL;
}

/* Words that do not go together. */
static int check_words(session *s, const struct verb *verb) {
    const bool forgets = s->option[OPTION_FORGET] != NULL;
    const bool asks = verb != NULL && verb->run != nodes_claim && verb->run != nodes_resume;
    const bool frees = verb != NULL && verb->run == nodes_free;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0] && s->plain_count > 0 && verb == NULL;
         i++) {
        if (strcmp(s->operands[0], verbs[i].name) == 0) {
            return fail_usage(s, "firn nodes %s takes %s: see firn help nodes", verbs[i].name,
                              verbs[i].whole                ? "no name"
                              : verbs[i].run == nodes_free  ? "one NODE"
                              : verbs[i].run == nodes_claim ? "NAMESPACE FIRST..LAST"
                                                            : "one NAMESPACE");
        }
    }
    if (s->plain_count > 0 && verb == NULL) {
        return fail_usage(
            s,
            "'%.60s' is not a verb of nodes: use firn nodes, firn nodes claim NAMESPACE "
            "FIRST..LAST, firn nodes free NODE --lost-after TIME, firn nodes floor "
            "NAMESPACE, firn nodes lost, firn nodes trust or firn nodes resume",
            s->operands[0]);
    }
    if (forgets && (s->plain_count > 0 || operand_value(s, "ns") != NULL ||
                    s->option[OPTION_LOST_AFTER] != NULL)) {
        return fail_usage(s, "--forget takes a namespace alone: firn nodes --forget NAMESPACE");
    }
    if (!forgets && s->option[OPTION_UNDO] != NULL) {
        return fail_usage(s, "--undo applies to --forget: firn nodes --forget NAMESPACE --undo");
    }
    if (!frees && (s->option[OPTION_LOST_AFTER] != NULL ||
                   (!forgets && !asks && s->option[OPTION_YES] != NULL))) {
        return fail_usage(s, "%s: remove it",
                          s->option[OPTION_LOST_AFTER] != NULL
                              ? "--lost-after applies to firn nodes free NODE"
                              : "--yes applies to free, floor, lost, trust and --forget");
    }
    if (s->option[OPTION_ALL_STOPPED] != NULL && (verb == NULL || verb->run != nodes_resume)) {
        return fail_usage(s, "--all-stopped applies to firn nodes resume: remove it");
    }
    if (verb != NULL && verb->whole && operand_value(s, "ns") != NULL) {
        return fail_usage(s, "firn nodes %s applies to the whole store: remove ns=", verb->name);
    }
    for (size_t i = s->plain_count; i < s->operand_count; i++) {
        if (!operand_is(s->operands[i], "ns")) {
            return fail_usage(s, "nodes has no setting '%.60s': use ns=NAME or unsafe=1",
                              s->operands[i]);
        }
    }
    return STATUS_DONE;
}

int run_nodes(session *s) {
    firn_store *store;
    int status = operands_split(s, 0, 0, 3,
                                "claim NAMESPACE FIRST..LAST, free NODE, floor NAMESPACE, lost, "
                                "trust, resume, or no arguments");
    const struct verb *verb = status == STATUS_DONE ? find_verb(s) : NULL;
    status = status == STATUS_DONE ? check_words(s, verb) : status;
    if (status == STATUS_DONE) {
        status = operand_store(s, &store, operand_store_url(s), true);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    status = s->option[OPTION_FORGET] != NULL ? nodes_forget(s, store)
             : verb != NULL                   ? verb->run(s, store)
                                              : list_all(s, store);
    firn_store_close(store);
    return status;
}
