/* SPDX-License-Identifier: MIT */
#include "generator.h"

#include "errors.h"
#include "id_form.h"
#include "log.h"
#include "mark.h"
#include "monotonic.h"
#include "no_store.h"
#include "settings/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STEP_MS = 1000,         /* the longest time between two steps */
    DATED_INSTANTS = 65536, /* times that one generator without a store can remember: 4 MiB */
    IDLE_MS = 60000,        /* an unused scheme's window is no longer renewed after this */
    SEEN_IDS = 8            /* kept from each batch */
};

/* ---- configuration --------------------------------------------------------------------------- */

char *keys_value(char value[FIRN_NS_SIZE], const char *keys, const char *name) {
    size_t length = strlen(name);
    value[0] = '\0';
    for (const char *at_key = keys; *at_key != '\0'; at_key += strspn(at_key, " ")) {
        size_t size = strcspn(at_key, " ");
        if (size > length && memcmp(at_key, name, length) == 0 && at_key[length] == '=') {
            snprintf(value, FIRN_NS_SIZE, "%.*s", (int)(size - length - 1), at_key + length + 1);
        }
        at_key += size;
    }
    return value;
}

int take_configured(char *to, size_t size, const char *from, const char *what, firn_error *error) {
    size_t length = from == NULL ? 0 : strlen(from);
    if (length >= size) {
        return set_error(error, FIRN_ERANGE, "the %s has %zu characters: use at most %zu", what,
                         length, size - 1);
    }
    memcpy(to, from == NULL ? "" : from, length + 1);
    return FIRN_OK;
}

static int read_scheme(server_generator *generator, const char *form, const char *prefix,
                       firn_error *error) {
    char epoch[FIRN_NS_SIZE], bits[FIRN_NS_SIZE], digits[FIRN_NS_SIZE], full[FIRN_NS_SIZE];
    int code = firn_scheme_make(&generator->own, generator->text,
                                or_null(keys_value(epoch, generator->keys, "epoch")),
                                or_null(keys_value(bits, generator->keys, "bits")),
                                or_null(keys_value(digits, generator->keys, "digits")), error);
    if (code != FIRN_OK) {
        return code;
    }
    generator->scheme = &generator->own;
    generator->form = generator->own.form;
    if (form != NULL && form[0] != '\0') {
        code = form_of(&generator->form, &generator->own, word_of(form), error);
    }
    if (code == FIRN_OK && prefix != NULL && prefix[0] != '\0') {
        code = prefix_of(generator->prefix, generator->form, word_of(prefix), error);
    }
    generator->narrow = is_narrow(&generator->own, generator->form);
    generator->waits = strcmp(keys_value(full, generator->keys, "full"), "fail") != 0;
    generator->back_fails = strcmp(keys_value(full, generator->keys, "back"), "fail") == 0;
    return code;
}

void generator_free(server_generator *generator) {
    firn_close(atomic_load_explicit(&generator->gen, memory_order_seq_cst),
               NULL); /* renewers have closed theirs */
    firn_close(atomic_load_explicit(&generator->dated, memory_order_seq_cst), NULL);
    pthread_mutex_destroy(&generator->dated_lock);
    for (int i = 0; i < WORKERS_MAX; i++) {
        free(atomic_load_explicit(&generator->tallies[i], memory_order_seq_cst));
    }
    free(generator);
}

int generator_make(server_generator **out, const char *name, const char *scheme, const char *keys,
                   const char *form, const char *prefix, firn_error *error) {
    server_generator *generator = calloc(1, sizeof *generator);
    if (generator == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a generator");
    }
    pthread_mutex_init(&generator->dated_lock, NULL);
    int code = take_configured(generator->name, sizeof generator->name, name, "name of a generator",
                               error);
    code = code == FIRN_OK
               ? take_configured(generator->text, sizeof generator->text, scheme, "scheme", error)
               : code;
    code = code == FIRN_OK ? take_configured(generator->keys, sizeof generator->keys, keys,
                                             "line of keys", error)
                           : code;
    code = code == FIRN_OK ? read_scheme(generator, form, prefix, error) : code;
    if (code != FIRN_OK) {
        generator_free(generator);
        return code;
    }
    *out = generator;
    return FIRN_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void tell_note(void *self, const char *text) {
    const server_generator *generator = self;
    log_event(LOG_LEVEL_INFO, "note", "generator", generator->name, "text", text, NULL);
}

/* Workers never sleep in the library: the listener parks requests that wait. Without `store`, the
 * generator opens the store of its renewer. */
static int open_gen(firn_gen **out, server_generator *generator, firn_store *store,
                    firn_error *error) {
    char keys[KEYS_SIZE + 32];
    firn_store_options options = {0};
    firn_config config = {.size = sizeof config,
                          .scheme = generator->text,
                          .keys = keys,
                          .store = store,
                          .notice = store == no_store() ? NULL : tell_note,
                          .notice_self = generator,
                          .has_renewer = true};
    if (store == NULL) {
        options = renewer_options(generator->renewer);
        config.store_url = renewer_url(generator->renewer);
        config.store_options = &options;
    }
    snprintf(keys, sizeof keys, "%s%smax_wait=0", generator->keys,
             generator->keys[0] != '\0' ? " " : "");
    return firn_open_with(out, &config, error);
}

int generator_try(server_generator *generator, bool *reserved, firn_error *error) {
    firn_gen *gen;
    firn_status status = {.size = sizeof status};
    int code = open_gen(&gen, generator, no_store(), error);
    *reserved = code == FIRN_ESTORE;
    if (code != FIRN_OK) {
        return *reserved ? FIRN_OK : code;
    }
    firn_gen_status(gen, &status);
    *reserved = status.reserved;
    if (*reserved) {
        return firn_close(gen, error);
    }
    atomic_store_explicit(&generator->gen, gen, memory_order_seq_cst);
    return FIRN_OK;
}

static void keep_window(server_generator *generator) {
    int64_t left_ms = generator_window_ms(generator);
    atomic_store_explicit(&generator->window_ms, left_ms > 0 ? left_ms : 0, memory_order_seq_cst);
}

int generator_open(server_generator *generator, firn_error *error) {
    firn_gen *gen;
    int64_t wait_ms = 0;
    char reserve[FIRN_NS_SIZE];
    keys_value(reserve, generator->keys, "reserve");
    /* A reserve is there without the store, and knows which store filled it. */
    firn_store *store = reserve[0] != '\0' ? NULL : renewer_store(generator->renewer, error);
    int code =
        store == NULL && reserve[0] == '\0' ? error->code : open_gen(&gen, generator, store, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_gen_step(gen, &wait_ms, error);
    generator->next_ms = monotonic_ms() + wait_ms;
    atomic_store_explicit(&generator->gen, gen, memory_order_release);
    keep_window(generator);
    return code;
}

/* Clients cannot set a node. */
static int date_reserved(const server_generator *generator, firn_gen *gen, const firn_time *time,
                         firn_id *ids, size_t n, firn_error *error) {
    int code = firn_at(gen, time, ids, n, error);
    if (code == FIRN_ETAKEN && error->cure == FIRN_CURE_NODE_OUT) {
        replace_cure(error, "remove node from [generator %.63s] of firn.ini", generator->name);
    }
    return code;
}

int generator_date(server_generator *generator, const firn_time *time, firn_id *ids, size_t n,
                   firn_error *error) {
    if (generator->renewer != NULL) {
        firn_gen *gen = atomic_load_explicit(&generator->gen, memory_order_acquire);
        return gen != NULL ? date_reserved(generator, gen, time, ids, n, error)
                           : set_error(error, FIRN_EWINDOW, "%s is not open yet: try again",
                                       generator->name);
    }
    /* A back-dating generator remembers times without limit, so it is replaced from time to
     * time. */
    if (pthread_mutex_trylock(&generator->dated_lock) != 0) {
        return set_error(error, FIRN_EWINDOW, "another thread is back-dating IDs of %s: try again",
                         generator->name);
    }
    int code = FIRN_OK;
    if (generator->dated_left <= 0) {
        firn_gen *fresh = NULL;
        code = open_gen(&fresh, generator, no_store(), error);
        if (code == FIRN_OK) {
            firn_close(atomic_exchange_explicit(&generator->dated, fresh, memory_order_seq_cst),
                       NULL);
            generator->dated_left = DATED_INSTANTS;
        }
    }
    if (code == FIRN_OK) {
        generator->dated_left -= (int64_t)n; /* at most one time per ID */
        code = firn_at(atomic_load_explicit(&generator->dated, memory_order_seq_cst), time, ids, n,
                       error);
    }
    pthread_mutex_unlock(&generator->dated_lock);
    return code;
}

/* ---- counting -------------------------------------------------------------------------------- */

uint64_t generator_issued(const server_generator *generator) {
    uint64_t sum = 0;
    for (int i = 0; i < WORKERS_MAX; i++) {
        generator_tally *tally = atomic_load_explicit(&generator->tallies[i], memory_order_acquire);
        sum += tally != NULL ? atomic_load_explicit(&tally->issued, memory_order_relaxed) : 0;
    }
    return sum;
}

static generator_tally *tally_of(server_generator *generator, const server_worker *worker) {
    generator_tally *tally =
        atomic_load_explicit(&generator->tallies[worker->index], memory_order_relaxed);
    if (tally == NULL && (tally = aligned_alloc(64, sizeof *tally)) != NULL) {
        memset(tally, 0, sizeof *tally);
        atomic_store_explicit(&generator->tallies[worker->index], tally, memory_order_release);
    }
    return tally;
}

static void keep_recent(generator_tally *out, uint64_t low, uint64_t high, uint64_t top) {
    uint32_t next = atomic_load_explicit(&out->next, memory_order_relaxed);
    _Atomic uint64_t *words = out->recent[next % RECENT_SIZE];
    atomic_store_explicit(&words[0], low, memory_order_relaxed);
    atomic_store_explicit(&words[1], high, memory_order_relaxed);
    atomic_store_explicit(&words[2], top, memory_order_relaxed);
    atomic_store_explicit(&out->next, next + 1, memory_order_relaxed);
}

void generator_count(server_generator *generator, server_worker *worker, const uint64_t *numbers,
                     const firn_id *ids, size_t n) {
    generator_tally *out = tally_of(generator, worker);
    meter_add(&worker->meter.ids, n);
    if (out == NULL) {
        return; /* out of memory: not counted */
    }
    meter_add(&out->issued, n);
    /* Consecutive IDs from a varying place of the batch: the first ones alone would not be
     * representative. */
    size_t seen = n < SEEN_IDS ? n : SEEN_IDS;
    size_t first = n > SEEN_IDS ? atomic_load_explicit(&out->next, memory_order_relaxed) %
                                      (uint32_t)(n - SEEN_IDS + 1)
                                : 0;
    for (size_t i = first; i < first + seen; i++) {
        if (numbers != NULL) {
            keep_recent(out, numbers[i], 0, 0);
        } else {
            keep_recent(out, ids[i].low, ids[i].high, ids[i].top);
        }
    }
}

void generator_want(server_generator *generator) {
    if (generator->renewer != NULL &&
        !atomic_exchange_explicit(&generator->wanted, true, memory_order_seq_cst)) {
        renewer_wake(generator->renewer);
    }
}

/* ---- renewing -------------------------------------------------------------------------------- */

/* *news: it has a new window. */
static void step(server_generator *generator, bool *news) {
    firn_error error;
    firn_gen *gen = atomic_load_explicit(&generator->gen, memory_order_seq_cst);
    firn_status status = {.size = sizeof status};
    int64_t wait_ms = 0;
    int code, was = atomic_load_explicit(&generator->failed.code, memory_order_seq_cst);
    uint64_t calls = renewer_calls(generator->renewer);
    atomic_store_explicit(&generator->wanted, false, memory_order_seq_cst);
    if (gen == NULL) {
        code = generator_open(generator, &error);
        gen = atomic_load_explicit(&generator->gen, memory_order_seq_cst);
    } else {
        code = firn_gen_step(gen, &wait_ms, &error);
        generator->next_ms = monotonic_ms() + wait_ms;
    }
    if (gen == NULL) {
        generator->next_ms = monotonic_ms() + retry_pause_ms(&generator->pause_ms);
    } else {
        firn_gen_status(gen, &status);
        if (status.held) {
            atomic_store_explicit(&generator->late, false, memory_order_seq_cst);
        }
        if (status.claims + status.renewals != generator->news) {
            keep_window(generator);
            *news = true;
        }
        generator->news = status.claims + status.renewals;
    }
    /* A step that succeeds proves the clock; other failures end only with an answer of the
     * store. */
    if (code != FIRN_OK || was == FIRN_ECLOCK || renewer_calls(generator->renewer) != calls) {
        last_error_set(&generator->failed, "generator", generator->name, code, &error);
    }
}

/* Configured generators are always kept ready; others while clients use them. */
static bool is_idle(server_generator *generator) {
    uint64_t issued = generator->configured ? 0 : generator_issued(generator);
    if (generator->configured || issued != generator->requested_at || generator->asked_ms == 0 ||
        atomic_load_explicit(&generator->wanted, memory_order_seq_cst)) {
        generator->requested_at = issued;
        generator->asked_ms = monotonic_ms();
    }
    bool idle = monotonic_ms() - generator->asked_ms > IDLE_MS;
    atomic_store_explicit(&generator->idle, idle, memory_order_seq_cst);
    return idle;
}

int64_t generator_attend(server_generator *generator, bool *news) {
    /* A failing generator is not retried early. */
    bool idle = is_idle(generator),
         wanted = atomic_load_explicit(&generator->wanted, memory_order_seq_cst) &&
                  atomic_load_explicit(&generator->failed.code, memory_order_seq_cst) == FIRN_OK;
    if (wanted || (!idle && monotonic_ms() >= generator->next_ms)) {
        step(generator, news);
    }
    return idle ? STEP_MS : generator->next_ms - monotonic_ms();
}

void generator_close(server_generator *generator) {
    firn_error error;
    firn_gen *gen = atomic_exchange_explicit(&generator->gen, NULL, memory_order_seq_cst);
    if (gen != NULL && firn_close(gen, &error) != FIRN_OK) {
        log_event(LOG_LEVEL_WARNING, "window not given back", "generator", generator->name, "why",
                  error.text, NULL);
    }
}

int64_t generator_window_ms(const server_generator *generator) {
    firn_gen *gen = atomic_load_explicit(&generator->gen, memory_order_acquire);
    firn_status status = {.size = sizeof status};
    firn_time end;
    struct timespec now;
    if (gen == NULL) {
        return -1;
    }
    firn_gen_status(gen, &status);
    if (!status.held || !status.reserved || generator->scheme->tick_ns == 0) {
        return -1;
    }
    firn_scheme_time(generator->scheme, (uint64_t)status.end >> mark_shift(generator->scheme),
                     &end);
    clock_gettime(CLOCK_REALTIME, &now);
    if (end.sec - now.tv_sec > WINDOW_MOST_MS / 1000 || end.sec < now.tv_sec - 1) {
        return -1;
    }
    int64_t left = (end.sec - now.tv_sec) * 1000 + (end.ns - now.tv_nsec) / 1000000;
    return left > 0 ? left : -1;
}
