/* SPDX-License-Identifier: MIT */
#include "generators.h"

#include "../common/sql.h"
#include "errors.h"
#include "series_day.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define JOBS_NS "firn_stamp of SQL"

enum { SHIFT_MS = 1000, SHIFT_MOST = 86400000, NUMBER_MOST = 2000000000, JOBS_MOST = 16 };

/* To the server's error log. */
static void put_notice(void *self, const char *text) {
    (void)self;
    fprintf(stderr, "firn: note: %s\n", text);
}

/* The store from the server's environment, if the options have none. NULL: the default, or in the
 * options. */
static const char *store_url(const char *options) {
    const char *url = getenv("FIRN_STORE");
    return sql_has(options, "store") || url == NULL || url[0] == '\0' ? NULL : url;
}

/* With memory: each generator and job would have its own store. */
static int check_store(const char *options, firn_error *error) {
    const char *url = store_url(options), *chosen = getenv("FIRN_OPTIONS_STORE");
    /* Anybody who can write SQL can call these functions, so calls choose no files and hosts unless
     * the administrator allows it. */
    if ((chosen == NULL || strcmp(chosen, "1") != 0) &&
        (sql_has(options, "store") || sql_has(options, "unsafe"))) {
        return set_error(error, FIRN_EUSAGE,
                         "a call may not set store= and unsafe=: set FIRN_STORE in the server's "
                         "environment, or FIRN_OPTIONS_STORE=1 there to let calls choose");
    }
    if (strstr(options, "store=memory:") != NULL ||
        (url != NULL && strncmp(url, "memory:", strlen("memory:")) == 0)) {
        return set_error(error, FIRN_EUSAGE,
                         "the store memory: is not shared, so two generators would repeat"
                         " IDs: name a file, sqlite:PATH");
    }
    return FIRN_OK;
}

static bool options_are_free(void) {
    const char *allowed = getenv("FIRN_OPTIONS");
    return allowed == NULL || allowed[0] == '\0' || strcmp(allowed, "1") == 0;
}

/* FIRN_OPTIONS=0 leaves an account the options that cannot make it issue IDs of somebody else: all
 * but those that name a node, a namespace or a layout. store and unsafe have another setting.
 */
static int check_options(const char *scheme, const char *changes, const char *options,
                         firn_error *error) {
    static const char *const harmless[] = {
        "ordering", "clock",    "stale",     "entropy", "full",     "start",
        "back",     "max_back", "max_lead",  "window",  "mode",     "store",
        "max_wait", "max_skew", "max_shift", "unsafe",  "unsigned", "disorder"};
    char left[SQL_TEXT_SIZE], unused[SQL_TEXT_SIZE];
    if (options_are_free()) {
        return FIRN_OK;
    }
    snprintf(left, sizeof left, "%s", options);
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
        while (sql_has(left, harmless[i])) {
            int code = sql_take(left, harmless[i], unused, sizeof unused, error);
            if (code != FIRN_OK) {
                return code;
            }
        }
    }
    const char *named = firn_scheme_find(scheme) == NULL ? scheme : changes[0] ? changes : left;
    named += strspn(named, " \t\n");
    return named[0] == '\0'
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "a call may not set '%.60s', because FIRN_OPTIONS in the server's "
                           "environment is not 1: leave it out, or change FIRN_OPTIONS",
                           named);
}

/* ---- generators ------------------------------------------------------------------------------ */

enum state { FREE, OPENING, FAILED, READY };

/* The contents of a place: a generator, or a series with its store. */
typedef struct opened_one {
    firn_gen *gen;
    firn_series *series;
    firn_store *store;
} opened_one;

/* The place of a generator or a series, read and written under `places`. A READY one without options
 * never changes, so finding it takes no lock. Others stay as long as a call holds them. */
typedef struct generator_entry {
    atomic_int state;
    char scheme[SQL_TEXT_SIZE], options[SQL_TEXT_SIZE]; /* of a series: its name and definition */
    opened_one open;
    pthread_mutex_t turn; /* of a series, which is for one thread at a time; zeros initialise it */
    int waiting;          /* threads that wait for another one to open it */
    firn_error why;       /* of FAILED, until they have read it */
    atomic_int calls;     /* that hold it; below 0 while it is taken away */
    uint64_t life;        /* increases when it is taken away */
    atomic_llong usage;   /* CLOCK_MONOTONIC of the latest call, ns */
} generator_entry;

enum { AWAY = -1000000000 };

/* Each part has its own room, so that one cannot use up another's. */
static generator_entry entries[GENERATORS_PLAIN + GENERATORS_MOST + SERIES_MOST];
static generator_entry *const first_series = entries + GENERATORS_PLAIN + GENERATORS_MOST;
static pthread_mutex_t places = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;

/* Windows and blocks that are not given back are lost, nothing else. */
static void close_one(opened_one old) {
    firn_close(old.gen, NULL);
    firn_series_close(old.series, NULL);
    firn_store_close(old.store);
}

/* With atexit, not as a destructor: destructors run after the stores' libraries are gone. */
static void close_all(void) {
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        int ready = READY;
        if (atomic_compare_exchange_strong_explicit(&entries[i].state, &ready, FREE,
                                                    memory_order_seq_cst, memory_order_seq_cst)) {
            close_one(entries[i].open);
        }
    }
}

/* The part of the table to search. */
typedef struct part {
    generator_entry *first;
    size_t count;
} part;

static part part_of(const char *scheme, const char *options) {
    return options[0] == '\0' && firn_scheme_find(scheme) != NULL
               ? (part){entries, GENERATORS_PLAIN}
               : (part){entries + GENERATORS_PLAIN, GENERATORS_MOST};
}

/* The first one in a state, of scheme and options unless it is FREE. Without the lock only
 * READY. */
static generator_entry *search(part among, int state, const char *scheme, const char *options) {
    for (size_t i = 0; i < among.count; i++) {
        generator_entry *e = &among.first[i];
        if (atomic_load_explicit(&e->state, memory_order_acquire) == state &&
            (state == FREE ||
             (strcmp(e->options, options) == 0 && strcmp(e->scheme, scheme) == 0))) {
            return e;
        }
    }
    return NULL;
}

static bool is_plain(const generator_entry *e) {
    return e < entries + GENERATORS_PLAIN;
}

/* A call holds it, unless it is taken away or has another life. */
static bool hold(mariadb_generator *g, generator_entry *e, uint64_t life) {
    struct timespec now;
    if (!is_plain(e)) {
        if (atomic_fetch_add_explicit(&e->calls, 1, memory_order_acq_rel) < 0 || e->life != life) {
            atomic_fetch_sub_explicit(&e->calls, 1, memory_order_release);
            return false;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        atomic_store_explicit(&e->usage, now.tv_sec * 1000000000LL + now.tv_nsec,
                              memory_order_relaxed);
    }
    *g = (mariadb_generator){.entry = e, .life = life, .gen = e->open.gen, .held = true};
    return true;
}

bool generator_again(mariadb_generator *g) {
    return g->entry != NULL && hold(g, g->entry, g->life);
}

void generator_leave(mariadb_generator *g) {
    if (g->held && !is_plain(g->entry)) {
        atomic_fetch_sub_explicit(&g->entry->calls, 1, memory_order_release);
    }
    g->held = false;
}

/* The READY one that no call has used for the longest time, of those that no call holds. */
static generator_entry *oldest_of(part among) {
    generator_entry *oldest = NULL;
    long long least = 0;
    for (generator_entry *e = among.first; e < among.first + among.count; e++) {
        long long usage = atomic_load_explicit(&e->usage, memory_order_relaxed);
        if (atomic_load_explicit(&e->state, memory_order_relaxed) == READY &&
            atomic_load_explicit(&e->calls, memory_order_relaxed) == 0 &&
            (oldest == NULL || usage < least)) {
            oldest = e;
            least = usage;
        }
    }
    return oldest;
}

/* Under the lock: takes the least recently used one away. Its place is free then, and the caller
 * closes *old. NULL: calls hold all. */
static generator_entry *make_room(part among, opened_one *old) {
    generator_entry *e;
    for (size_t tries = 0; tries < among.count && (e = oldest_of(among)) != NULL; tries++) {
        int none = 0;
        if (atomic_compare_exchange_strong_explicit(&e->calls, &none, AWAY, memory_order_acq_rel,
                                                    memory_order_relaxed)) {
            *old = e->open;
            e->life++;
            atomic_fetch_sub_explicit(&e->calls, AWAY, memory_order_release);
            return e;
        }
    }
    return NULL;
}

static int open_generator(generator_entry *entry, firn_error *error) {
    const char *options = entry->options;
    char scheme[SQL_TEXT_SIZE], changes[SQL_TEXT_SIZE], keys[3 * SQL_TEXT_SIZE];
    const char *node = getenv("FIRN_NODE");
    firn_scheme made;
    int code = sql_split(&made, scheme, changes, entry->scheme, strlen(entry->scheme), error);
    code = code == FIRN_OK ? check_options(scheme, changes, options, error) : code;
    code = code == FIRN_OK ? check_store(options, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    bool placed = node != NULL && node[0] != '\0' && made.node_rule == FIRN_NODE_REQUIRED &&
                  made.node_fields == NULL && !sql_has_node(options, &made);
    int length =
        snprintf(keys, sizeof keys, "%s %s%s%s%s", changes, options, placed ? " node=" : "",
                 placed ? node : "", sql_has(options, "full") ? "" : " full=wait");
    if ((size_t)length >= sizeof keys) {
        return set_error(error, FIRN_ERANGE, "FIRN_NODE has %zu characters: give a number",
                         strlen(node));
    }
    firn_config config = {.size = sizeof config,
                          .scheme = scheme,
                          .keys = keys,
                          .store_url = store_url(options),
                          .notice = put_notice};
    return firn_open_with(&entry->open.gen, &config, error);
}

static int open_series(generator_entry *entry, firn_error *error) {
    const firn_store_options options = {.notice = put_notice};
    if (entry->options[0] != '\0' && !options_are_free()) {
        return set_error(
            error, FIRN_EUSAGE,
            "a call may not define a series, because FIRN_OPTIONS in the server's "
            "environment is not 1: define it with `firn series` in the server's store");
    }
    if (sql_has(entry->options, "key_file")) {
        return set_error(error, FIRN_EUSAGE,
                         "SQL functions have no masked counters, since a statement would name a "
                         "file of the server: remove key_file=");
    }
    int code = check_store("", error);
    code = code == FIRN_OK ? firn_store_open(&entry->open.store, store_url(""), &options, error)
                           : code;
    if (code == FIRN_OK) {
        code = firn_series_open(&entry->open.series, entry->scheme, entry->options,
                                entry->open.store, NULL, error);
        if (code != FIRN_OK) {
            firn_store_close(entry->open.store);
        }
    }
    return code;
}

/* Threads share the result of an opening, also its error: otherwise each would wait for an
 * unavailable store in turn. */
static int share(generator_entry *e, mariadb_generator *g, firn_error *error) {
    int code = FIRN_OK;
    e->waiting++;
    while (atomic_load_explicit(&e->state, memory_order_seq_cst) ==
           OPENING) { /* the store limits this wait; READY: at once */
        pthread_cond_wait(&opened, &places);
    }
    e->waiting--;
    if (atomic_load_explicit(&e->state, memory_order_seq_cst) == READY) {
        hold(g, e, e->life);
    } else {
        *error = e->why;
        code = e->why.code;
        atomic_store_explicit(&e->state, e->waiting > 0 ? FAILED : FREE, memory_order_seq_cst);
    }
    return code;
}

/* Under the lock: finds the generator, or a place to open it and perhaps another one to close. */
static int claim(generator_entry **mine, opened_one *old, part among, mariadb_generator *g,
                 const char *scheme, const char *options, firn_error *error) {
    generator_entry *e =
        search(among, READY, scheme, options); /* another connection may have been faster */
    e = e != NULL ? e : search(among, OPENING, scheme, options);
    if (e != NULL) {
        return share(e, g, error);
    }
    e = search(among, FREE, scheme, options);
    e = e != NULL ? e : make_room(among, old);
    if (e == NULL) {
        return set_error(
            error, FIRN_EUSAGE, "calls in progress use %zu %s: use fewer different ones at a time",
            among.count, among.first == first_series ? "series" : "schemes with options");
    }
    snprintf(e->scheme, sizeof e->scheme, "%s", scheme);
    snprintf(e->options, sizeof e->options, "%s", options);
    atomic_store_explicit(&e->state, OPENING, memory_order_seq_cst);
    *mine = e;
    return FIRN_OK;
}

/* Under the lock: sets the result of the opening. */
static void finish(generator_entry *e, mariadb_generator *g, int code, const firn_error *error) {
    static bool registered;
    if (code != FIRN_OK) {
        e->why = *error;
        atomic_store_explicit(&e->state, e->waiting > 0 ? FAILED : FREE, memory_order_seq_cst);
    } else {
        if (!registered) {
            registered = atexit(close_all) == 0;
        }
        atomic_store_explicit(&e->state, READY, memory_order_release);
        hold(g, e, e->life);
    }
    pthread_cond_broadcast(&opened);
}

/* Holds the one of scheme and options, opened by `open` on first use. */
static int find(mariadb_generator *g, part among, const char *scheme, const char *options,
                int (*open)(generator_entry *, firn_error *), firn_error *error) {
    generator_entry *mine = NULL;
    opened_one old = {NULL, NULL, NULL};
    pthread_mutex_lock(&places);
    int code = claim(&mine, &old, among, g, scheme, options, error);
    pthread_mutex_unlock(&places);
    if (mine != NULL) { /* without the lock, because a store may take seconds */
        close_one(old);
        mine->open = (opened_one){NULL, NULL, NULL};
        code = open(mine, error);
        pthread_mutex_lock(&places);
        finish(mine, g, code, error);
        pthread_mutex_unlock(&places);
    }
    return code;
}

int generator_find(mariadb_generator *g, const char *scheme, const char *options,
                   firn_error *error) {
    part among = part_of(scheme, options);
    generator_entry *ready = is_plain(among.first) ? search(among, READY, scheme, options) : NULL;
    if (ready != NULL) {
        hold(g, ready, 0);
        return FIRN_OK;
    }
    return find(g, among, scheme, options, open_generator, error);
}

/* ---- series ---------------------------------------------------------------------------------- */

int series_find(mariadb_generator *g, const char *name, const char *definition, firn_error *error) {
    return find(g, (part){first_series, SERIES_MOST}, name, definition, open_series, error);
}

/* A store that does not answer fails each turn after its own limit, and the queue after this one. */
int series_take(const mariadb_generator *g, char text[FIRN_SERIES_SIZE], const firn_time *at,
                firn_error *error) {
    generator_entry *e = g->entry;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += TURN_S;
    if (pthread_mutex_clocklock(&e->turn, CLOCK_MONOTONIC, &end) != 0) {
        return set_error(error, FIRN_EBUSY,
                         "other calls of series %.63s waited %d s for the store: look at the store "
                         "of FIRN_STORE, then repeat the statement",
                         e->scheme, TURN_S);
    }
    int code = firn_series_next(e->open.series, at, (char(*)[FIRN_SERIES_SIZE])text, 1, error);
    pthread_mutex_unlock(&e->turn);
    return code;
}

int series_day(const mariadb_generator *g, firn_time *time, const char *text, size_t length,
               firn_error *error) {
    return series_day_read(time, g->entry->open.series, text, length, error);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* MariaDB checks no privilege for loadable functions, so anybody who can write SQL takes nodes
 * permanently. They are counted in the store, which limits them. */
static int take_turn(firn_store *store, firn_mark *mine, firn_error *error) {
    firn_mark held = {0, 0};
    char limit[64], unused[33];
    const char *text = getenv("FIRN_JOBS");
    int64_t most = JOBS_MOST, first; /* nodes that this server's SQL may take permanently */
    int code = FIRN_OK;
    if (text != NULL && text[0] != '\0') {
        snprintf(limit, sizeof limit, "FIRN_JOBS=%s", text);
        code = sql_take_number(limit, "FIRN_JOBS", &most, NUMBER_MOST, error);
    }
    code = code == FIRN_OK ? sql_draw(&mine->grant, unused, error) : code;
    mine->grant = (mine->grant & INT64_MAX) | 1;
    firn_request request = {.ns = JOBS_NS,
                            .layout = "count",
                            .key = "1",
                            .count = 1,
                            .latest = most > 0 ? most - 1 : 0,
                            .grant = mine->grant,
                            .note = "jobs begun in SQL"};
    if (code == FIRN_OK) {
        code = most > 0 ? firn_store_reserve(store, &request, &first, &held, error) : FIRN_EBUSY;
    }
    if (code == FIRN_EBUSY) {
        return set_error(error, FIRN_EEND,
                         "%" PRId64 " jobs in SQL took a node permanently, the maximum: set "
                         "FIRN_JOBS in the server's environment to a higher number",
                         most);
    }
    if (code == FIRN_OK) {
        mine->high = first + 1;
    }
    return code;
}

static int open_counted(firn_job **job, const firn_job_config *config, firn_error *error) {
    firn_mark mine = {0, 0};
    int code = take_turn(config->store, &mine, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_job_open(job, config, error);
    if (code != FIRN_OK) { /* no node was taken: gives the turn back if it is still the last */
        firn_store_give_back(config->store, JOBS_NS, "1", &mine, mine.high - 1, NULL);
    }
    return code;
}

/* A digest of this statement only: a name that was used is refused, because nothing shows that the
 * rows are the same. */
int job_begin(firn_job **job, const char *scheme, const char *name, const char *options,
              firn_error *error) {
    firn_scheme made;
    char plain[SQL_TEXT_SIZE], changes[SQL_TEXT_SIZE], keys[2 * SQL_TEXT_SIZE];
    char store[SQL_TEXT_SIZE], seed[33];
    int64_t unsafe = 0;
    firn_job_config config = {.size = sizeof config,
                              .scheme = plain,
                              .keys = keys,
                              .name = name,
                              .seed = seed,
                              .shift_ms = SHIFT_MS,
                              .notice = put_notice};
    int code = sql_split(&made, plain, changes, scheme, strlen(scheme), error);
    if (code != FIRN_OK) {
        return code;
    }
    snprintf(keys, sizeof keys, "%s%s%s", changes, changes[0] != '\0' ? " " : "", options);
    code = sql_take(keys, "store", store, sizeof store, error);
    code = code == FIRN_OK
               ? sql_take_duration(keys, "max_shift", &config.shift_ms, SHIFT_MOST, error)
               : code;
    code = code == FIRN_OK
               ? sql_take_duration(keys, "disorder", &config.disorder_ms, NUMBER_MOST, error)
               : code;
    code = code == FIRN_OK ? sql_take_number(keys, "unsafe", &unsafe, 1, error) : code;
    code = code == FIRN_OK ? check_options(plain, changes, options, error) : code;
    code = code == FIRN_OK ? check_store(options, error) : code;
    code = code == FIRN_OK ? sql_draw(&config.digest, seed, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    if (made.node_rule == FIRN_NODE_REQUIRED || sql_has_node(keys, &made)) {
        const firn_store_options store_options = {.unsafe = unsafe != 0};
        const char *url = store[0] != '\0' ? store : store_url(options);
        code = firn_store_open(&config.store, url, &store_options, error);
    }
    if (code == FIRN_OK) {
        code = config.store != NULL ? open_counted(job, &config, error)
                                    : firn_job_open(job, &config, error);
    }
    firn_store_close(config.store);
    return code;
}
