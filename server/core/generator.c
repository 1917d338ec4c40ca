/* SPDX-License-Identifier: MIT */
#include "generator.h"

#include "config/setting.h"
#include "errors.h"
#include "id_form.h"
#include "log.h"
#include "mark.h"
#include "monotonic.h"
#include "no_store.h"

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

static int read_scheme(generator *it, const char *form, const char *prefix, firn_error *error) {
    char epoch[FIRN_NS_SIZE], bits[FIRN_NS_SIZE], digits[FIRN_NS_SIZE], full[FIRN_NS_SIZE];
    int code = firn_scheme_make(&it->own, it->text, or_null(keys_value(epoch, it->keys, "epoch")),
                                or_null(keys_value(bits, it->keys, "bits")),
                                or_null(keys_value(digits, it->keys, "digits")), error);
    if (code != FIRN_OK) {
        return code;
    }
    it->scheme = &it->own;
    it->form = it->own.form;
    if (form != NULL && form[0] != '\0') {
        code = form_of(&it->form, &it->own, word_of(form), error);
    }
    if (code == FIRN_OK && prefix != NULL && prefix[0] != '\0') {
        code = prefix_of(it->prefix, it->form, word_of(prefix), error);
    }
    it->narrow = is_narrow(&it->own, it->form);
    it->waits = strcmp(keys_value(full, it->keys, "full"), "fail") != 0;
    it->back_fails = strcmp(keys_value(full, it->keys, "back"), "fail") == 0;
    return code;
}

void generator_free(generator *it) {
    firn_close(atomic_load_explicit(&it->gen, memory_order_seq_cst),
               NULL); /* renewers have closed theirs */
    firn_close(atomic_load_explicit(&it->dated, memory_order_seq_cst), NULL);
    pthread_mutex_destroy(&it->dated_lock);
    for (int i = 0; i < WORKERS_MAX; i++) {
        free(atomic_load_explicit(&it->by[i], memory_order_seq_cst));
    }
    free(it);
}

int generator_make(generator **out, const char *name, const char *scheme, const char *keys,
                   const char *form, const char *prefix, firn_error *error) {
    generator *it = calloc(1, sizeof *it);
    if (it == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a generator");
    }
    pthread_mutex_init(&it->dated_lock, NULL);
    int code = take_configured(it->name, sizeof it->name, name, "name of a generator", error);
    code = code == FIRN_OK ? take_configured(it->text, sizeof it->text, scheme, "scheme", error)
                           : code;
    code = code == FIRN_OK ? take_configured(it->keys, sizeof it->keys, keys, "line of keys", error)
                           : code;
    code = code == FIRN_OK ? read_scheme(it, form, prefix, error) : code;
    if (code != FIRN_OK) {
        generator_free(it);
        return code;
    }
    *out = it;
    return FIRN_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void tell_note(void *self, const char *text) {
    const generator *it = self;
    log_event(LOG_LEVEL_INFO, "note", "generator", it->name, "text", text, NULL);
}

/* Workers never sleep in the library: the listener parks requests that wait. */
static int open_gen(firn_gen **out, generator *it, firn_store *store, firn_error *error) {
    char keys[KEYS_SIZE + 32];
    firn_config config = {.size = sizeof config,
                          .scheme = it->text,
                          .keys = keys,
                          .store = store,
                          .notice = store == no_store() ? NULL : tell_note,
                          .notice_self = it,
                          .has_renewer = true};
    snprintf(keys, sizeof keys, "%s%smax_wait=0", it->keys, it->keys[0] != '\0' ? " " : "");
    return firn_open_with(out, &config, error);
}

int generator_try(generator *it, bool *reserved, firn_error *error) {
    firn_gen *gen;
    firn_status status = {.size = sizeof status};
    int code = open_gen(&gen, it, no_store(), error);
    *reserved = code == FIRN_ESTORE;
    if (code != FIRN_OK) {
        return *reserved ? FIRN_OK : code;
    }
    firn_gen_status(gen, &status);
    *reserved = status.reserved;
    if (*reserved) {
        return firn_close(gen, error);
    }
    atomic_store_explicit(&it->gen, gen, memory_order_seq_cst);
    return FIRN_OK;
}

static void keep_window(generator *it) {
    int64_t left_ms = generator_window_ms(it);
    atomic_store_explicit(&it->window_ms, left_ms > 0 ? left_ms : 0, memory_order_seq_cst);
}

int generator_open(generator *it, firn_error *error) {
    firn_gen *gen;
    int64_t wait_ms = 0;
    firn_store *store = renewer_store(it->renewer, error);
    int code = store == NULL ? error->code : open_gen(&gen, it, store, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_gen_step(gen, &wait_ms, error);
    it->next_ms = monotonic_ms() + wait_ms;
    atomic_store_explicit(&it->gen, gen, memory_order_release);
    keep_window(it);
    return code;
}

/* Clients cannot set a node. */
static int date_reserved(const generator *it, firn_gen *gen, const firn_time *time, firn_id *ids,
                         size_t n, firn_error *error) {
    int code = firn_at(gen, time, ids, n, error);
    if (code == FIRN_ETAKEN && error->cure == FIRN_CURE_NODE_OUT) {
        replace_cure(error, "remove node from [generator %.63s] of firn.ini", it->name);
    }
    return code;
}

int generator_date(generator *it, const firn_time *time, firn_id *ids, size_t n,
                   firn_error *error) {
    if (it->renewer != NULL) {
        firn_gen *gen = atomic_load_explicit(&it->gen, memory_order_acquire);
        return gen != NULL
                   ? date_reserved(it, gen, time, ids, n, error)
                   : set_error(error, FIRN_EWINDOW, "%s is not open yet: try again", it->name);
    }
    /* A back-dating generator remembers times without limit, so it is replaced from time to time. */
    if (pthread_mutex_trylock(&it->dated_lock) != 0) {
        return set_error(error, FIRN_EWINDOW, "another thread is back-dating IDs of %s: try again",
                         it->name);
    }
    int code = FIRN_OK;
    if (it->dated_left <= 0) {
        firn_gen *fresh = NULL;
        code = open_gen(&fresh, it, no_store(), error);
        if (code == FIRN_OK) {
            firn_close(atomic_exchange_explicit(&it->dated, fresh, memory_order_seq_cst), NULL);
            it->dated_left = DATED_INSTANTS;
        }
    }
    if (code == FIRN_OK) {
        it->dated_left -= (int64_t)n; /* at most one time per ID */
        code = firn_at(atomic_load_explicit(&it->dated, memory_order_seq_cst), time, ids, n, error);
    }
    pthread_mutex_unlock(&it->dated_lock);
    return code;
}

/* ---- counting -------------------------------------------------------------------------------- */

uint64_t generator_issued(const generator *it) {
    uint64_t sum = 0;
    for (int i = 0; i < WORKERS_MAX; i++) {
        tally *one = atomic_load_explicit(&it->by[i], memory_order_acquire);
        sum += one != NULL ? atomic_load_explicit(&one->issued, memory_order_relaxed) : 0;
    }
    return sum;
}

static tally *tally_of(generator *it, const worker *by) {
    tally *one = atomic_load_explicit(&it->by[by->index], memory_order_relaxed);
    if (one == NULL && (one = aligned_alloc(64, sizeof *one)) != NULL) {
        memset(one, 0, sizeof *one);
        atomic_store_explicit(&it->by[by->index], one, memory_order_release);
    }
    return one;
}

static void keep_recent(tally *to, uint64_t low, uint64_t high, uint64_t top) {
    uint32_t next = atomic_load_explicit(&to->next, memory_order_relaxed);
    _Atomic uint64_t *words = to->recent[next % RECENT_SIZE];
    atomic_store_explicit(&words[0], low, memory_order_relaxed);
    atomic_store_explicit(&words[1], high, memory_order_relaxed);
    atomic_store_explicit(&words[2], top, memory_order_relaxed);
    atomic_store_explicit(&to->next, next + 1, memory_order_relaxed);
}

void generator_count(generator *it, worker *by, const uint64_t *numbers, const firn_id *ids,
                     size_t n) {
    tally *to = tally_of(it, by);
    meter_add(&by->meter.ids, n);
    if (to == NULL) {
        return; /* out of memory: not counted */
    }
    meter_add(&to->issued, n);
    /* Consecutive IDs from a varying place of the batch: the first ones alone would not be
     * representative. */
    size_t seen = n < SEEN_IDS ? n : SEEN_IDS;
    size_t first = n > SEEN_IDS ? atomic_load_explicit(&to->next, memory_order_relaxed) %
                                      (uint32_t)(n - SEEN_IDS + 1)
                                : 0;
    for (size_t i = first; i < first + seen; i++) {
        if (numbers != NULL) {
            keep_recent(to, numbers[i], 0, 0);
        } else {
            keep_recent(to, ids[i].low, ids[i].high, ids[i].top);
        }
    }
}

void generator_want(generator *it) {
    if (it->renewer != NULL && !atomic_exchange_explicit(&it->wanted, true, memory_order_seq_cst)) {
        renewer_wake(it->renewer);
    }
}

/* ---- renewing -------------------------------------------------------------------------------- */

/* *news: it has a new window. */
static void step(generator *it, bool *news) {
    firn_error error;
    firn_gen *gen = atomic_load_explicit(&it->gen, memory_order_seq_cst);
    firn_status status = {.size = sizeof status};
    int64_t wait_ms = 0;
    int code, was = atomic_load_explicit(&it->failed.code, memory_order_seq_cst);
    uint64_t calls = renewer_calls(it->renewer);
    atomic_store_explicit(&it->wanted, false, memory_order_seq_cst);
    if (gen == NULL) {
        code = generator_open(it, &error);
        gen = atomic_load_explicit(&it->gen, memory_order_seq_cst);
    } else {
        code = firn_gen_step(gen, &wait_ms, &error);
        it->next_ms = monotonic_ms() + wait_ms;
    }
    if (gen == NULL) {
        it->next_ms = monotonic_ms() + retry_pause_ms(&it->pause_ms);
    } else {
        firn_gen_status(gen, &status);
        if (status.held) {
            atomic_store_explicit(&it->late, false, memory_order_seq_cst);
        }
        if (status.claims + status.renewals != it->news) {
            keep_window(it);
            *news = true;
        }
        it->news = status.claims + status.renewals;
    }
    /* A step that succeeds proves the clock; other failures end only with an answer of the
     * store. */
    if (code != FIRN_OK || was == FIRN_ECLOCK || renewer_calls(it->renewer) != calls) {
        last_error_set(&it->failed, "generator", it->name, code, &error);
    }
}

/* Configured generators are always kept ready; others while clients use them. */
static bool is_idle(generator *it) {
    uint64_t issued = it->configured ? 0 : generator_issued(it);
    if (it->configured || issued != it->asked || it->asked_ms == 0 ||
        atomic_load_explicit(&it->wanted, memory_order_seq_cst)) {
        it->asked = issued;
        it->asked_ms = monotonic_ms();
    }
    bool idle = monotonic_ms() - it->asked_ms > IDLE_MS;
    atomic_store_explicit(&it->idle, idle, memory_order_seq_cst);
    return idle;
}

int64_t generator_attend(generator *it, bool *news) {
    /* A failing generator is not retried early. */
    bool idle = is_idle(it),
         wanted = atomic_load_explicit(&it->wanted, memory_order_seq_cst) &&
                  atomic_load_explicit(&it->failed.code, memory_order_seq_cst) == FIRN_OK;
    if (wanted || (!idle && monotonic_ms() >= it->next_ms)) {
        step(it, news);
    }
    return idle ? STEP_MS : it->next_ms - monotonic_ms();
}

void generator_close(generator *it) {
    firn_error error;
    firn_gen *gen = atomic_exchange_explicit(&it->gen, NULL, memory_order_seq_cst);
    if (gen != NULL && firn_close(gen, &error) != FIRN_OK) {
        log_event(LOG_LEVEL_WARNING, "window not given back", "generator", it->name, "why",
                  error.text, NULL);
    }
}

int64_t generator_window_ms(const generator *it) {
    firn_gen *gen = atomic_load_explicit(&it->gen, memory_order_acquire);
    firn_status status = {.size = sizeof status};
    firn_time end;
    struct timespec now;
    if (gen == NULL) {
        return -1;
    }
    firn_gen_status(gen, &status);
    if (!status.held || !status.reserved || it->scheme->tick_ns == 0) {
        return -1;
    }
    firn_scheme_time(it->scheme, (uint64_t)status.end >> mark_shift(it->scheme), &end);
    clock_gettime(CLOCK_REALTIME, &now);
    if (end.sec - now.tv_sec > WINDOW_MOST_MS / 1000 || end.sec < now.tv_sec - 1) {
        return -1;
    }
    int64_t left = (end.sec - now.tv_sec) * 1000 + (end.ns - now.tv_nsec) / 1000000;
    return left > 0 ? left : -1;
}
