/* SPDX-License-Identifier: MIT */
/* Three tables by name that only grow; renewers and the main thread add to them. */
#include "catalog.h"

#include "errors.h"
#include "log.h"
#include "monotonic.h"
#include "no_store.h"
#include "series.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEP_MS = 1000, /* the longest time between two rounds of a renewer */
    RENEW_MS = 200, /* limit of one round of renewals */
    ROUND_MS = 20   /* limit of one round of openings: windows and tasks must not starve */
};

static name_table generators, segments, all_series;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for additions */
static char *default_store;                              /* NULL: the library's default */
static _Atomic size_t max_create, created;
static _Atomic int64_t max_block = INT64_C(1) << 61; /* maximum count of a request */
static bool begun;                 /* main thread: additions are late from now on */
static _Atomic bool default_begun; /* the default store had a renewer by then */

server_generator *catalog_generator(word name) {
    return name_table_find(&generators, name);
}

server_segment *catalog_segment(word name) {
    return name_table_find(&segments, name);
}

server_series *catalog_series(word name) {
    return name_table_find(&all_series, name);
}

server_generator *catalog_generator_at(size_t i) {
    return name_table_at(&generators, i);
}

server_segment *catalog_segment_at(size_t i) {
    return name_table_at(&segments, i);
}

server_series *catalog_series_at(size_t i) {
    return name_table_at(&all_series, i);
}

/* ---- renewing -------------------------------------------------------------------------------- */

/* Attends to the open ones, or to those not yet open, until time is up; the next round continues
 * after the last one. */
static int64_t attend_some(const store_renewer *renewer, bool open, size_t *next, bool *news) {
    int64_t wait_ms = STEP_MS, since = monotonic_ms(), most_ms = open ? RENEW_MS : ROUND_MS;
    size_t count = atomic_load_explicit(&generators.count, memory_order_seq_cst);
    for (size_t i = 0; i < count; i++) {
        server_generator *generator = name_table_at(&generators, (*next + i) % count);
        if (generator->renewer != renewer ||
            (atomic_load_explicit(&generator->gen, memory_order_seq_cst) != NULL) != open) {
            continue;
        }
        int64_t left = generator_attend(generator, news);
        wait_ms = left < wait_ms ? left : wait_ms;
        if (monotonic_ms() - since > most_ms) {
            *next = (*next + i + 1) % count;
            return 0;
        }
    }
    return wait_ms;
}

/* Openings delay neither renewals nor tasks. */
static int64_t step_generators(const store_renewer *renewer, bool *news) {
    static size_t renewed[RENEWERS_MAX], opened[RENEWERS_MAX]; /* per renewer */
    size_t index = renewer_index(renewer);
    int64_t renew_ms = attend_some(renewer, true, &renewed[index], news);
    int64_t open_ms = attend_some(renewer, false, &opened[index], news);
    return renew_ms < open_ms ? renew_ms : open_ms;
}

static int64_t step_all(store_renewer *renewer, bool *news) {
    int64_t generators_ms = step_generators(renewer, news),
            segments_ms = segments_step(renewer, news);
    return generators_ms < segments_ms ? generators_ms : segments_ms;
}

static void close_all(store_renewer *renewer) {
    server_generator *g;
    server_segment *s;
    server_series *numbered;
    for (size_t i = 0; (g = name_table_at(&generators, i)) != NULL; i++) {
        if (g->renewer == renewer) {
            generator_close(g);
        }
    }
    for (size_t i = 0; (s = name_table_at(&segments, i)) != NULL; i++) {
        if (s->renewer == renewer) {
            segment_close(s);
        }
    }
    for (size_t i = 0; (numbered = name_table_at(&all_series, i)) != NULL; i++) {
        if (numbered->renewer == renewer) {
            series_close(numbered);
        }
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

/* NULL without a URL; "" is as NULL. */
static const char *named_store(const char *store) {
    return store != NULL && store[0] != '\0' ? store : NULL;
}

int catalog_begin(const char *store, size_t max_generators, size_t max_segments, size_t max_series,
                  size_t auto_create, firn_error *error) {
    int code = renewer_check(named_store(store), error);
    if (code != FIRN_OK) {
        return code;
    }
    store = named_store(store);
    default_store = store != NULL ? strdup(store) : NULL;
    bool made = name_table_make(&generators, max_generators) &&
                name_table_make(&segments, max_segments) &&
                name_table_make(&all_series, max_series);
    if (!made || (store != NULL && default_store == NULL)) {
        return set_error(error, FIRN_EMEMORY,
                         "out of memory for %zu generators and %zu segments: lower max_generators "
                         "or max_auto_create",
                         max_generators, max_segments);
    }
    atomic_store_explicit(&created, 0, memory_order_seq_cst);
    begun = false;
    atomic_store_explicit(&default_begun, false, memory_order_seq_cst);
    catalog_allow(auto_create);
    renewers_serve(step_all, close_all);
    return no_store_open(error);
}

/* Does the configuration reserve anything in a store? */
static bool has_reserved(void) {
    const server_generator *g;
    for (size_t i = 0; (g = name_table_at(&generators, i)) != NULL; i++) {
        if (g->renewer != NULL) {
            return true;
        }
    }
    return name_table_at(&segments, 0) != NULL || name_table_at(&all_series, 0) != NULL;
}

int catalog_begun(firn_error *error) {
    store_renewer *renewer = NULL;
    begun = true;
    /* the default store is not opened if everything configured has another one and nobody named
     * it */
    bool used = default_store != NULL ||
                atomic_load_explicit(&max_create, memory_order_seq_cst) > 0 || !has_reserved();
    int code = used ? renewer_of(&renewer, default_store, error) : FIRN_OK;
    for (size_t i = 0; i < RENEWERS_MAX; i++) {
        if (renewer_is_of(i, default_store)) {
            atomic_store_explicit(&default_begun, true, memory_order_seq_cst);
        }
    }
    return code;
}

bool catalog_began_with(size_t renewer_index) {
    return atomic_load_explicit(&default_begun, memory_order_seq_cst) &&
           renewer_is_of(renewer_index, default_store);
}

void catalog_allow(size_t auto_create) {
    atomic_store_explicit(&max_create, auto_create, memory_order_seq_cst);
}

void catalog_allow_block(int64_t most) {
    atomic_store_explicit(&max_block, most, memory_order_seq_cst);
}

int64_t catalog_max_block(void) {
    return atomic_load_explicit(&max_block, memory_order_relaxed);
}

void catalog_end(void) {
    for (size_t i = 0; i < atomic_load_explicit(&generators.count, memory_order_seq_cst); i++) {
        generator_free(name_table_at(&generators, i));
    }
    for (size_t i = 0; i < atomic_load_explicit(&segments.count, memory_order_seq_cst); i++) {
        segment_free(name_table_at(&segments, i));
    }
    name_table_free(&generators);
    for (size_t i = 0; i < atomic_load_explicit(&all_series.count, memory_order_seq_cst); i++) {
        series_free(name_table_at(&all_series, i));
    }
    name_table_free(&segments);
    name_table_free(&all_series);
    no_store_close();
    free(default_store);
    default_store = NULL;
    segments_forget();
}

store_renewer *catalog_renewer(firn_error *error) {
    store_renewer *renewer = NULL;
    return renewer_of(&renewer, default_store, error) == FIRN_OK ? renewer : NULL;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static int refuse_full(const name_table *table, firn_error *error) {
    return table == &generators
               ? set_error(error, FIRN_ERANGE,
                           "%zu generators are open, the maximum: raise max_generators",
                           table->most)
           : table == &all_series
               ? set_error(error, FIRN_ERANGE,
                           "%zu series are open, the maximum until a restart: restart the server",
                           table->most)
               : set_error(error, FIRN_ERANGE,
                           "%zu segments are open, the maximum: use an existing segment, or raise "
                           "max_auto_create",
                           table->most);
}

/* Can one more be added? Called before its store gets a renewer. */
static int check_room(const name_table *table, const char *name, firn_error *error) {
    if (name_table_find(table, word_of(name)) != NULL) {
        return set_error(error, FIRN_EUSAGE, "%s already exists: restart the server", name);
    }
    return name_table_is_full(table) ? refuse_full(table, error) : FIRN_OK;
}

/* Adds `self`, or finds the one with its name. NULL: the table is full. */
static void *add(name_table *table, const char *name, void *self, firn_error *error) {
    pthread_mutex_lock(&lock);
    void *found = name_table_find(table, word_of(name));
    if (found == NULL && name_table_is_full(table)) {
        refuse_full(table, error);
    } else if (found == NULL) {
        name_table_add(table, self);
        found = self;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Adds `self` with a name that is new, after its store got a renewer. */
static int add_configured(name_table *table, const char *name, void *self, firn_error *error) {
    return add(table, name, self, error) == self ? FIRN_OK : check_room(table, name, error);
}

/* The renewer of a configured store; without one, of the default store. */
static int renewer_of_named(store_renewer **out, const char *store, firn_error *error) {
    const char *named = named_store(store);
    return renewer_of(out, named != NULL ? named : default_store, error);
}

/* Makes a generator and opens it, unless it needs a store (*reserved). */
static int prepare(server_generator **out, const char *name, const char *scheme, const char *keys,
                   const char *form, const char *prefix, bool *reserved, firn_error *error) {
    int code = generator_make(out, name, scheme, keys, form, prefix, error);
    if (code == FIRN_OK && (code = generator_try(*out, reserved, error)) != FIRN_OK) {
        generator_free(*out);
    }
    return code;
}

int catalog_check_generator(const char *name, const char *scheme, const char *keys,
                            const char *store, const char *form, const char *prefix,
                            firn_error *error) {
    server_generator *generator;
    bool reserved;
    int code = renewer_check(named_store(store), error);
    code = code == FIRN_OK ? prepare(&generator, name, scheme, keys, form, prefix, &reserved, error)
                           : code;
    if (code == FIRN_OK) {
        generator_free(generator);
    }
    return code;
}

int catalog_add_generator(const char *name, const char *scheme, const char *keys, const char *store,
                          const char *form, const char *prefix, firn_error *error) {
    server_generator *generator;
    bool reserved;
    int code = renewer_check(named_store(store), error);
    code = code == FIRN_OK ? check_room(&generators, name, error) : code;
    code = code == FIRN_OK ? prepare(&generator, name, scheme, keys, form, prefix, &reserved, error)
                           : code;
    if (code != FIRN_OK) {
        return code;
    }
    generator->configured = true;
    atomic_store_explicit(&generator->late, begun, memory_order_seq_cst);
    code = reserved ? renewer_of_named(&generator->renewer, store, error) : FIRN_OK;
    code = code == FIRN_OK ? add_configured(&generators, name, generator, error) : code;
    if (code != FIRN_OK) {
        generator_free(generator);
    } else if (generator->renewer != NULL) {
        renewer_wake(generator->renewer);
    }
    return code;
}

int catalog_open_scheme(server_generator **out, const char *name, bool without_store,
                        firn_error *error) {
    server_generator *generator;
    bool reserved;
    *out = catalog_generator(word_of(name));
    if (*out != NULL) {
        return FIRN_OK;
    }
    /* checked again below; here so that no node is claimed needlessly */
    int code = name_table_is_full(&generators)
                   ? refuse_full(&generators, error)
                   : prepare(&generator, name, name, "", NULL, NULL, &reserved, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (reserved && without_store) {
        code = set_error(error, FIRN_ESTORE, "%s needs a store", name);
    } else if (reserved) {
        generator->renewer = catalog_renewer(error);
        code = generator->renewer == NULL ? error->code : generator_open(generator, error);
    }
    if (code == FIRN_OK) {
        *out = add(&generators, name, generator, error);
        code = *out != NULL ? FIRN_OK : error->code;
    }
    if (code != FIRN_OK || *out != generator) {
        generator_free(generator); /* gives back its windows: this thread may call the store */
    } else {
        log_event(LOG_LEVEL_INFO, "generator opened", "generator", name, NULL);
    }
    return code;
}

int catalog_check_segment(const char *name, const char *keys, const char *store,
                          firn_error *error) {
    server_segment *segment = NULL;
    int code = renewer_check(named_store(store), error);
    code = code == FIRN_OK ? segment_make(&segment, name, keys, error) : code;
    segment_free(segment);
    return code;
}

int catalog_add_segment(const char *name, const char *keys, const char *store, firn_error *error) {
    server_segment *segment = NULL;
    int code = segment_make(&segment, name, keys, error);
    if (code != FIRN_OK) {
        return code;
    }
    segment->configured = true;
    atomic_store_explicit(&segment->late, begun, memory_order_seq_cst);
    code = check_room(&segments, name, error);
    code = code == FIRN_OK ? renewer_of_named(&segment->renewer, store, error) : code;
    code = code == FIRN_OK ? add_configured(&segments, name, segment, error) : code;
    if (code != FIRN_OK) {
        segment_free(segment);
    } else {
        segment_want(segment);
    }
    return code;
}

int catalog_check_series(const char *name, const char *keys, const char *store, firn_error *error) {
    server_series *series = NULL;
    int code = renewer_check(named_store(store), error);
    code = code == FIRN_OK ? series_make(&series, name, keys, error) : code;
    series_free(series);
    return code;
}

int catalog_add_series(const char *name, const char *keys, const char *store, firn_error *error) {
    server_series *series = NULL;
    int code = series_make(&series, name, keys, error);
    if (code != FIRN_OK) {
        return code;
    }
    series->late = begun;
    code = check_room(&all_series, name, error);
    code = code == FIRN_OK ? renewer_of_named(&series->renewer, store, error) : code;
    code = code == FIRN_OK ? add_configured(&all_series, name, series, error) : code;
    if (code != FIRN_OK) {
        series_free(series);
    }
    return code;
}

int catalog_refuse_series(word name, const char *wanted, firn_error *error) {
    const server_series *series = catalog_series(name);
    return series == NULL
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "'%.63s' is a series, not %.20s: use FIRN.SERIES %.63s or GET "
                           "/v1/series/%.63s",
                           series->name, wanted, series->name, series->name);
}

int catalog_may_create(word name, firn_error *error) {
    size_t most = atomic_load_explicit(&max_create, memory_order_seq_cst);
    const server_generator *taken = catalog_generator(name);
    if (taken != NULL && taken->configured) {
        return set_error(error, FIRN_EUSAGE,
                         "'%s' is a generator, not a segment: use FIRN.NEW %s or GET /v1/new/%s",
                         taken->name, taken->name, taken->name);
    }
    if (catalog_refuse_series(name, "a segment", error) != FIRN_OK) {
        return error->code;
    }
    if (most == 0) {
        return set_error(error, FIRN_EUSAGE,
                         "there is no segment '%.*s': add [segment NAME] to"
                         " firn.ini, or set auto_create",
                         word_shown(name), name.text);
    }
    if (name.length == 0 || name.length >= NAME_SIZE || memchr(name.text, '\0', name.length)) {
        return set_error(error, FIRN_ERANGE, "the name of a segment must have 1 to %d characters",
                         NAME_SIZE - 1);
    }
    for (size_t i = 0; i < name.length; i++) {
        if (utf8_is_hidden(name.text + i, name.length - i)) {
            return set_error(error, FIRN_EUSAGE,
                             "the name of a segment must not contain blanks, control or invisible "
                             "characters: remove byte %zu",
                             i + 1);
        }
    }
    if (word_is(name, ".") || memmem(name.text, name.length, "..", 2) != NULL) {
        return set_error(error, FIRN_EUSAGE,
                         "the name of a segment must not be '.' or contain '..', which programs "
                         "take for a folder: use another name");
    }
    if (atomic_load_explicit(&created, memory_order_seq_cst) >= most ||
        name_table_is_full(&segments)) {
        return set_error(error, FIRN_ERANGE,
                         "%zu segments were created on demand, the maximum: use an existing "
                         "segment, or raise max_auto_create",
                         atomic_load_explicit(&created, memory_order_seq_cst));
    }
    return FIRN_OK;
}

int catalog_open_segment(server_segment **out, const char *name, firn_error *error) {
    server_segment *segment = NULL;
    *out = catalog_segment(word_of(name));
    if (*out != NULL) {
        return FIRN_OK;
    }
    int code = catalog_may_create(word_of(name), error);
    if (code == FIRN_OK) {
        code = segment_make(&segment, name, "", error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    segment->renewer = catalog_renewer(error);
    code = segment->renewer == NULL ? error->code : segment_open(segment, error);
    if (code == FIRN_OK) {
        *out = add(&segments, name, segment, error);
        code = *out != NULL ? FIRN_OK : error->code;
    }
    if (code != FIRN_OK || *out != segment) {
        segment_free(segment);
    } else {
        atomic_fetch_add_explicit(&created, 1, memory_order_seq_cst); /* by this thread alone */
        log_event(LOG_LEVEL_INFO, "segment opened", "segment", name, NULL);
    }
    return code;
}
