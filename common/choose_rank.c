/* SPDX-License-Identifier: MIT */
/* The needs of a scheme that fits (column, commands), its figures of the study, and the order of
 * the schemes. */
#include "choose_rank.h"

#include "choose_text.h"

#include <stdio.h>
#include <string.h>

/* ---- column and commands --------------------------------------------------------------------- */

/* How a database stores an ID: column of SQL, and the storage of the study. */
typedef struct store_as {
    char sql[64], storage[16];
} store_as;

static store_as text_of(const firn_scheme *scheme, const choose_answers *answers) {
    store_as text = {"TEXT", "text"};
    const uint32_t database = answers->word[CHOOSE_DATABASE];
    if (database == CHOOSE_MYSQL || database == CHOOSE_MARIADB) {
        const size_t width = scheme->keyed ? (size_t)choose_digits(answers)
                                           : firn_form_width(scheme->form, scheme->bits);
        snprintf(text.sql, sizeof text.sql, "CHAR(%zu) CHARACTER SET ascii%s", width,
                 !scheme->keyed && choose_mixes_case(scheme) ? " COLLATE ascii_bin" : "");
        snprintf(text.storage, sizeof text.storage, "char%zu", width);
    } else if (database != CHOOSE_SQLITE) {
        snprintf(text.sql, sizeof text.sql,
                 database == CHOOSE_POSTGRES ? "text COLLATE \"C\"" : "");
    }
    return text;
}

static store_as column_of(const firn_scheme *scheme, const choose_answers *answers, bool integer) {
    const uint32_t database = answers->word[CHOOSE_DATABASE];
    static const store_as integers[] = {{"", "bigint"},
                                        {"bigint", "bigint"},
                                        {"BIGINT", "bigint"},
                                        {"BIGINT", "bigint"},
                                        {"INTEGER", "integer"}};
    static const store_as wide[] = {{"", "numeric"},
                                    {"numeric(20)", "numeric"},
                                    {"BIGINT UNSIGNED", "bigint"},
                                    {"BIGINT UNSIGNED", "bigint"},
                                    {"TEXT", "text"}};
    static const store_as uuids[] = {{"", "uuid"},
                                     {"uuid", "uuid"},
                                     {"BINARY(16)", "binary"},
                                     {"BINARY(16)", "binary"},
                                     {"BLOB", "blob"}};
    if (scheme != NULL && scheme->keyed) {
        return text_of(scheme, answers); /* a number loses leading zeros */
    }
    if (scheme == NULL || integer || scheme->form == FIRN_FORM_DEC) {
        return integers[database];
    }
    return scheme->form == FIRN_FORM_UNSIGNED ? wide[database]
           : scheme->form == FIRN_FORM_UUID   ? uuids[database]
                                              : text_of(scheme, answers);
}

/* The nodes that the caller of firn must set: FIELD=1 for each. */
static void add_fields(char *text, size_t size, const firn_scheme *scheme) {
    const char *position = scheme->node_rule == FIRN_NODE_REQUIRED ? scheme->node_fields : NULL;
    while (position != NULL && *position != '\0') {
        size_t length = strcspn(position, " "), used = strlen(text);
        snprintf(text + used, size - used, " %.*s=1", (int)length, position);
        position += length + (position[length] == ' ');
    }
}

static void make_command(choose_candidate *candidate, const choose_answers *answers, bool rolling,
                         bool integer) {
    const firn_scheme *scheme = candidate->scheme;
    if (scheme == NULL) {
        snprintf(candidate->command, sizeof candidate->command, "firn segment items -n 3");
        return;
    }
    snprintf(candidate->command, sizeof candidate->command, "firn new %s", scheme->name);
    size_t size = sizeof candidate->command - 16;
    add_fields(candidate->command, size, scheme);
    size_t used = strlen(candidate->command);
    if (scheme->keyed) {
        snprintf(candidate->prepare, sizeof candidate->prepare,
                 "(umask 077; od -An -N16 -tx1 /dev/urandom | tr -d ' ' >items.key)");
        snprintf(candidate->command + used, size - used, " digits=%d --key-file items.key",
                 choose_digits(answers));
    } else if (rolling) {
        snprintf(candidate->command + used, size - used, " start=rolling");
    }
    strcat(candidate->command, integer ? " --as dec -n 3" : " -n 3");
}

/* Sets the command that repeats the odds, or shows the store's reservations. */
static void make_check(choose_candidate *candidate, const choose_answers *answers) {
    if (candidate->model == NULL) {
        snprintf(candidate->check, sizeof candidate->check, "firn nodes");
        return;
    }
    char rate[CHOOSE_VALUE_SIZE], nodes[CHOOSE_VALUE_SIZE];
    snprintf(candidate->check, sizeof candidate->check,
             "firn odds %s --rate %s --nodes %s --for 10y", candidate->name,
             choose_amount(rate, answers->amount[CHOOSE_RATE]),
             choose_amount(nodes, answers->amount[CHOOSE_NODES]));
}

/* ---- figures --------------------------------------------------------------------------------- */

static const char *const engines[] = {"postgres", "postgres", "mariadb", "mariadb", "sqlite"};
static const char *const metrics[CHOOSE_FIGURES] = {"written_bytes_row", "total_bytes_row",
                                                    "read_old_misses"};

static bool is_key(const choose_figure *figure, const firn_scheme *scheme) {
    if (scheme != NULL) {
        return strcmp(figure->key, scheme->name) == 0;
    }
    return strcmp(figure->key, "bigserial") == 0 || strcmp(figure->key, "auto_increment") == 0 ||
           strcmp(figure->key, "serial") == 0;
}

/* The number of writers nearest to the number of nodes for which an engine was measured. */
static int writers_of(const char *engine, const char *metric, double nodes) {
    const choose_figure *best = NULL, *figure;
    double best_away = 0;
    for (size_t i = 0; (figure = choose_figure_at(i)) != NULL; i++) {
        double away = nodes > figure->writers ? nodes - figure->writers : figure->writers - nodes;
        if (strcmp(figure->engine, engine) == 0 && strcmp(figure->metric, metric) == 0 &&
            (best == NULL || away < best_away)) {
            best = figure;
            best_away = away;
        }
    }
    return best != NULL ? best->writers : 0;
}

/* Integers, text, or bytes: figures of another kind of column say nothing about this one. */
static char kind_of(const char *storage) {
    return strcmp(storage, "bigint") == 0 || strcmp(storage, "integer") == 0    ? 'i'
           : strcmp(storage, "text") == 0 || strncmp(storage, "char", 4) == 0   ? 't'
           : strcmp(storage, "numeric") == 0 || strcmp(storage, "decimal") == 0 ? 'n'
                                                                                : 'b';
}

/* The figure of this storage, else of another of its kind. */
static const choose_figure *find_figure(const firn_scheme *scheme, const char *engine,
                                        const char *storage, const char *metric, double nodes) {
    const int writers = writers_of(engine, metric, nodes);
    const choose_figure *other = NULL, *figure;
    for (size_t i = 0; (figure = choose_figure_at(i)) != NULL; i++) {
        if (figure->writers != writers || strcmp(figure->engine, engine) != 0 ||
            strcmp(figure->metric, metric) != 0 || !is_key(figure, scheme)) {
            continue;
        }
        if (strcmp(figure->storage, storage) == 0) {
            return figure;
        }
        other = other == NULL && kind_of(figure->storage) == kind_of(storage) ? figure : other;
    }
    return other;
}

/* ---- the decision ---------------------------------------------------------------------------- */

/* A column of the database's own integers. */
static const char *const own_integers[] = {"", "bigint GENERATED BY DEFAULT AS IDENTITY",
                                           "BIGINT AUTO_INCREMENT", "BIGINT AUTO_INCREMENT",
                                           "INTEGER"};

/* Generators that a database has without firn. */
static const struct {
    enum choose_database database;
    const char *name, *text;
} own[] = {
    {CHOOSE_POSTGRES, "uuid7", "PostgreSQL 18: DEFAULT uuidv7(), and uuid_extract_timestamp(id)"},
    {CHOOSE_POSTGRES, "uuid4", "PostgreSQL 13: DEFAULT gen_random_uuid()"},
    {CHOOSE_MARIADB, "uuid7", "MariaDB 11.7: DEFAULT UUID_v7(), in a column of type uuid"},
    {CHOOSE_MARIADB, "uuid4", "MariaDB 11.7: DEFAULT UUID_v4(), in a column of type uuid"},
    {CHOOSE_MARIADB, "uuid1", "UUID()"},
    {CHOOSE_MYSQL, "uuid1-swapped", "UUID_TO_BIN(UUID(), 1)"},
    {CHOOSE_MYSQL, "uuid1", "UUID()"},
};

static void find_own(choose_candidate *candidate, const choose_answers *answers) {
    const uint32_t database = answers->word[CHOOSE_DATABASE];
    if (candidate->scheme == NULL && database != CHOOSE_OTHER) {
        snprintf(candidate->built_in, sizeof candidate->built_in, "%s%s", own_integers[database],
                 database == CHOOSE_SQLITE ? " PRIMARY KEY" : "");
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (own[i].database == database && strcmp(own[i].name, candidate->name) == 0) {
            snprintf(candidate->built_in, sizeof candidate->built_in, "%s", own[i].text);
        }
    }
}

static enum choose_decision decision_of(const firn_scheme *scheme) {
    return scheme == NULL                            ? CHOOSE_INTEGERS
           : scheme->keyed                           ? CHOOSE_KEYED
           : scheme->node_rule == FIRN_NODE_REQUIRED ? CHOOSE_NUMBERED
                                                     : CHOOSE_FREE;
}

static const char *when_it_wins(const choose_candidate *candidate) {
    const bool sorts = candidate->scheme == NULL || candidate->scheme->sorts != FIRN_SORTS_NO;
    switch (candidate->decision) {
    case CHOOSE_INTEGERS:
        return "if one database issues every ID: nothing to run, and the smallest index";
    case CHOOSE_KEYED:
        return "if people read the number, or it must hide how many there are in few digits";
    case CHOOSE_FREE:
        return sorts ? "if nobody should run a store, or the ID must exist before its row does"
                     : "if an ID must show neither time nor number, and nobody should run a store";
    default:
        return sorts ? "if several processes or databases issue integers of 64 bits that sort by "
                       "time"
                     : "if 64 bits must spread over ranges of keys";
    }
}

void choose_equip(choose_candidate *candidate, const choose_answers *answers, bool rolling) {
    const uint32_t database = answers->word[CHOOSE_DATABASE];
    const bool integer = choose_is_integer(candidate->scheme, answers);
    store_as column = column_of(candidate->scheme, answers, integer);
    snprintf(candidate->column, sizeof candidate->column, "%s", column.sql);
    make_command(candidate, answers, rolling, integer);
    make_check(candidate, answers);
    candidate->decision = decision_of(candidate->scheme);
    candidate->wins = when_it_wins(candidate);
    find_own(candidate, answers);
    if (database != CHOOSE_OTHER) {
        /* SQLite accepts NULL as a key that is not an integer */
        const bool open = database == CHOOSE_SQLITE && strcmp(column.sql, "INTEGER") != 0;
        snprintf(candidate->sql, sizeof candidate->sql,
                 "CREATE TABLE items (id %s%s PRIMARY KEY, name text)",
                 candidate->scheme == NULL ? own_integers[database] : column.sql,
                 open ? " NOT NULL" : "");
    }
    const char *storage = column.storage;
    for (int i = 0; i < CHOOSE_FIGURES; i++) {
        const double nodes = answers->amount[CHOOSE_NODES];
        candidate->figure[i] =
            find_figure(candidate->scheme, engines[database], storage, metrics[i], nodes);
        storage = candidate->figure[i] != NULL ? candidate->figure[i]->storage : storage;
        const choose_figure *base =
            find_figure(NULL, engines[database], "bigint", metrics[i], nodes);
        candidate->times[i] = candidate->figure[i] != NULL && base != NULL && base->median > 0
                                  ? candidate->figure[i]->median / base->median
                                  : 0;
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Of `order`: what was first stays first among equals. */
typedef struct place {
    size_t index;
    size_t group;
} place;

/* Bytes written per row. With too few measurements it is only known that the scheme was
 * measured. */
static double written_of(const choose_candidate *candidate) {
    const choose_figure *figure = candidate->figure[0];
    return figure == NULL ? 1e18 : figure->n < CHOOSE_ENOUGH ? 1e17 : figure->median;
}

/* Does a write as little as b, which is before it? A tenth more decides nothing. */
static bool is_as_good(const choose_candidate *a, const choose_candidate *b) {
    return written_of(a) <= 1.1 * written_of(b);
}

/* The fewer, the better. */
static size_t doubts_of(const choose_candidate *candidate) {
    return candidate->preferred ? 0 : 1 + candidate->cautions;
}

/* In steps: a few bytes a row decide nothing. */
static double bytes_of(const choose_candidate *candidate) {
    const double step = 8;
    return candidate->figure[1] != NULL ? (double)(int)(candidate->figure[1]->median / step) : 1e9;
}

/* Must b, which is after a, come before it? */
typedef bool overtakes(const choose_candidate *all, const place *a, const place *b);

static bool has_fewer_doubts(const choose_candidate *all, const place *a, const place *b) {
    const size_t x = doubts_of(&all[a->index]), y = doubts_of(&all[b->index]);
    return y < x || (y == x && written_of(&all[b->index]) < written_of(&all[a->index]));
}

static bool has_fewer_bytes(const choose_candidate *all, const place *a, const place *b) {
    const double x = bytes_of(&all[a->index]), y = bytes_of(&all[b->index]);
    return a->group == b->group && (y < x || (y == x && b->index < a->index));
}

/* By insertion, which is stable. */
static void sort(place *places, const choose_candidate *all, size_t count, overtakes *first) {
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j > 0 && first(all, &places[j - 1], &places[j]); j--) {
            place other = places[j];
            places[j] = places[j - 1];
            places[j - 1] = other;
        }
    }
}

/* Each group writes about as little as its first. */
static void group_places(place *places, const choose_candidate *all, size_t count) {
    const choose_candidate *first = NULL;
    for (size_t i = 0; i < count; i++) {
        const choose_candidate *candidate = &all[places[i].index];
        bool same = first != NULL && doubts_of(candidate) == doubts_of(first) &&
                    is_as_good(candidate, first);
        first = same ? first : candidate;
        places[i].group = i == 0 ? 0 : places[i - 1].group + !same;
    }
}

static bool decides_before(const choose_candidate *all, const place *a, const place *b) {
    return a->group == b->group && all[b->index].decision < all[a->index].decision;
}

/* The best of each decision first, in their order; among equals by decision. */
static void lead_decisions(place *places, const choose_candidate *all, size_t count) {
    bool seen[CHOOSE_DECISIONS] = {false};
    size_t leaders = 0;
    for (size_t i = 0; i < count; i++) {
        const place leader = places[i];
        if (!seen[all[leader.index].decision]) {
            seen[all[leader.index].decision] = true;
            memmove(&places[leaders + 1], &places[leaders], (i - leaders) * sizeof *places);
            places[leaders++] = leader;
        }
    }
    sort(places, all, leaders, decides_before);
}

void choose_rank(choose_result *out) {
    place places[CHOOSE_CANDIDATES];
    size_t count = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (out->candidates[i].refused_by < 0) {
            places[count++] = (place){i, 0};
        }
    }
    out->fit = count;
    sort(places, out->candidates, count, has_fewer_doubts);
    group_places(places, out->candidates, count);
    sort(places, out->candidates, count, has_fewer_bytes);
    lead_decisions(places, out->candidates, count);
    for (size_t i = 0; i < out->count; i++) {
        if (out->candidates[i].refused_by >= 0) {
            places[count++] = (place){i, 0};
        }
    }
    for (size_t i = 0; i < count; i++) { /* in place: what was moved away is followed */
        size_t from = places[i].index;
        while (from < i) {
            from = places[from].index;
        }
        choose_candidate other = out->candidates[i];
        out->candidates[i] = out->candidates[from];
        out->candidates[from] = other;
    }
}
