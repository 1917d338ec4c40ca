/* SPDX-License-Identifier: MIT */
/* Each round runs queued tasks that are still wanted, steps generators and segments, and sleeps until it is woken or a
 * step is necessary. All calls of a store pass through a meter here; catalog.c decides what to
 * step. */
#include "renewer.h"

#include "errors.h"
#include "log.h"
#include "monotonic.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUND_TASKS = 64, /* maximum per round; windows must not starve */
    KIND_SIZE = 32,   /* of a store's URL, as in the library */
    ROUND_MS = 20,
    SLEEP_MS = 500,  /* longest sleep: shows that the renewer is alive */
    PROBE_MS = 1000, /* an unused store is probed after this */
    SLOW_MS = 1000,  /* a longer call counts as no answer */
    RETRY_LEAST_MS = 100,
    RETRY_MOST_MS = 2000 /* after failures */
};

struct renewer {
    char *url; /* NULL: the default store */
    size_t index;
    char shown[256];
    pthread_t thread;
    int bell; /* an eventfd */
    _Atomic bool rung;
    pthread_mutex_t lock; /* for the queue and the texts */
    list_link tasks;      /* ascending by turn */
    uint64_t turn;        /* of the last one that began, and 1 */
    int waiting;
    bool closed; /* refuses tasks */
    bool ended;  /* signalled by `end` */
    pthread_cond_t end;
    char trouble[ERROR_TEXT_SIZE], caution[204];
    _Atomic bool usable;
    _Atomic uint64_t calls, failures;
    _Atomic int64_t beat_ms, busy_ms; /* CLOCK_MONOTONIC; busy_ms 0: no call is running */

    /* Used by the thread only: */
    char kind[KIND_SIZE]; /* the library judges engines by name, so the meter takes the engine's */
    firn_store *engine;   /* as it was opened */
    firn_store *store;    /* the same, behind the meter */
    firn_store_ops ops;
    int64_t retry_ms, pause_ms;
    int64_t asked_ms; /* end of the last call */
    firn_error why;   /* why it could not be opened */
};

static renewer *_Atomic renewers[RENEWERS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for `renewers` */
static _Atomic bool stopping;
static void (*_Atomic tell_news)(void); /* NULL: nobody asked */
/* Set before the threads start: */
static bool unsafe, existing, only_check;
static int64_t (*step_all)(renewer *of, bool *news);
static void (*close_all)(renewer *of);

/* ---- the meter: a store that counts what it is asked, and passes it on ----------------------- */

/* Is the store unusable? Other codes are its answers. */
static bool is_failure(int code) {
    return code == FIRN_ESTORE || code == FIRN_EUNKNOWN || code == FIRN_ESYSTEM ||
           code == FIRN_EIO || code == FIRN_EMEMORY || code == FIRN_EFORKED;
}

/* Logs changes, not tries. */
static void note(renewer *it, int code, const firn_error *error) {
    bool usable = !is_failure(code), was;
    if (usable && atomic_load_explicit(&it->usable, memory_order_seq_cst)) {
        return;
    }
    pthread_mutex_lock(&it->lock);
    was = atomic_exchange_explicit(&it->usable, usable, memory_order_seq_cst);
    bool first = it->trouble[0] == '\0';
    firn_error said = usable ? (firn_error){0} : *error;
    translate_error(&said, SURFACE_SERVER);
    memcpy(it->trouble, said.text, sizeof it->trouble);
    pthread_mutex_unlock(&it->lock);
    if (!usable && (was || first)) {
        log_event(LOG_LEVEL_ERROR, "store unavailable", "store", it->shown, "why", said.text, NULL);
    } else if (usable && !was) {
        log_event(LOG_LEVEL_INFO, "store ready", "store", it->shown, NULL);
    }
}

static void begin_call(renewer *it) {
    atomic_fetch_add_explicit(&it->calls, 1, memory_order_seq_cst);
    atomic_store_explicit(&it->busy_ms, monotonic_ms(), memory_order_seq_cst);
}

static int end_call(renewer *it, int code, const firn_error *why, firn_error *error) {
    atomic_store_explicit(&it->busy_ms, 0, memory_order_seq_cst);
    it->asked_ms = monotonic_ms();
    atomic_fetch_add_explicit(&it->failures, is_failure(code), memory_order_seq_cst);
    note(it, code, why);
    if (code != FIRN_OK && error != NULL) {
        *error = *why;
    }
    return code;
}

static int meter_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    renewer *it = self;
    firn_error why = {0};
    begin_call(it);
    return end_call(it, firn_store_reserve(it->engine, request, first, held, &why), &why, error);
}

static int meter_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                           int64_t high, firn_error *error) {
    renewer *it = self;
    firn_error why = {0};
    begin_call(it);
    return end_call(it, firn_store_give_back(it->engine, ns, key, mine, high, &why), &why, error);
}

static int meter_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    renewer *it = self;
    firn_error why = {0};
    begin_call(it);
    return end_call(it, firn_store_list(it->engine, ns, visit, context, &why), &why, error);
}

/* The store's clock; a store without one has not failed. */
static int meter_now(void *self, firn_time *now, firn_error *error) {
    renewer *it = self;
    firn_error why = {0};
    atomic_store_explicit(&it->busy_ms, monotonic_ms(), memory_order_seq_cst);
    int code = firn_store_now(it->engine, now, &why);
    if (code == FIRN_ESYSTEM) {
        atomic_store_explicit(&it->busy_ms, 0, memory_order_seq_cst);
        if (error != NULL) {
            *error = why;
        }
        return code;
    }
    atomic_fetch_add_explicit(&it->calls, 1, memory_order_seq_cst);
    return end_call(it, code, &why, error);
}

static const char *meter_caution(void *self) {
    return firn_store_caution(((renewer *)self)->engine);
}

static void meter_close(void *self) {
    renewer *it = self;
    firn_store_close(it->engine);
    it->engine = NULL;
}

/* ---- the store ------------------------------------------------------------------------------- */

void renewers_serve(int64_t (*step)(renewer *of, bool *news), void (*close)(renewer *of)) {
    step_all = step;
    close_all = close;
}

int64_t retry_pause_ms(int64_t *pause_ms) {
    *pause_ms = *pause_ms == 0 ? RETRY_LEAST_MS : *pause_ms * 2;
    *pause_ms = *pause_ms > RETRY_MOST_MS ? RETRY_MOST_MS : *pause_ms;
    return *pause_ms;
}

void renewers_open_stores(bool may_lose, bool must_exist) {
    unsafe = may_lose;
    existing = must_exist;
}

void renewers_only_check(void) {
    only_check = true;
}

static void tell_made(void *self, const char *text) {
    const renewer *it = self;
    log_event(LOG_LEVEL_INFO, "store created", "store", it->shown, "why", text, NULL);
}

static int open_store(renewer *it) {
    const firn_store_options options = {
        .unsafe = unsafe, .must_exist = existing, .notice = tell_made, .notice_self = it};
    atomic_store_explicit(&it->busy_ms, monotonic_ms(), memory_order_seq_cst);
    int code = firn_store_open(&it->engine, it->url, &options, &it->why);
    atomic_store_explicit(&it->busy_ms, 0, memory_order_seq_cst);
    if (code != FIRN_OK) {
        it->engine = NULL;
        return code;
    }
    it->ops = (firn_store_ops){.version = FIRN_STORE_OPS_VERSION,
                               .scheme = it->kind,
                               .reserve = meter_reserve,
                               .give_back = meter_give_back,
                               .list = meter_list,
                               .now = meter_now,
                               .caution = meter_caution,
                               .close = meter_close};
    code = firn_store_wrap(&it->store, &it->ops, it, &it->why);
    if (code != FIRN_OK) {
        firn_store_close(it->engine);
        it->engine = NULL;
        it->store = NULL;
    }
    return code;
}

static void tell_caution(renewer *it) {
    const char *caution = firn_store_caution(it->engine);
    if (caution != NULL) {
        pthread_mutex_lock(&it->lock);
        snprintf(it->caution, sizeof it->caution, "%s", caution);
        pthread_mutex_unlock(&it->lock);
        log_event(LOG_LEVEL_WARNING, "store caution", "store", it->shown, "why", caution, NULL);
    }
}

firn_store *renewer_store(renewer *it, firn_error *error) {
    if (it->store == NULL && monotonic_ms() >= it->retry_ms) {
        int code = open_store(it);
        if (code == FIRN_OK) { /* its first call shows whether it answers */
            it->asked_ms = 0;
            tell_caution(it);
        } else {
            note(it, FIRN_ESTORE, &it->why);
            /* A wrong URL or a missing module is not the fault of a request. */
            it->why.code = code == FIRN_EUSAGE ? FIRN_ESTORE : code;
            it->retry_ms = monotonic_ms() + retry_pause_ms(&it->pause_ms);
        }
    }
    if (it->store == NULL && error != NULL) {
        *error = it->why;
    }
    return it->store;
}

/* An integer's name, because some stores hold nothing else. Nobody uses it. */
static const char probed_ns[] = "integer firn-probe";

static int see_nothing(void *context, const firn_holding *holding) {
    (void)context, (void)holding;
    return FIRN_OK;
}

/* Calls an otherwise unused store, so that its state stays current. */
static void probe(renewer *it) {
    firn_store *store =
        atomic_load_explicit(&stopping, memory_order_seq_cst) ? NULL : renewer_store(it, NULL);
    if (store != NULL && (it->asked_ms == 0 || monotonic_ms() - it->asked_ms >= PROBE_MS)) {
        firn_store_list(store, probed_ns, see_nothing, NULL, NULL);
    }
}

/* ---- tasks --------------------------------------------------------------------------------- */

#define TURN_LAST UINT64_MAX /* of tasks whose client may have left */

static task *task_at(list_link *place) {
    return list_entry(place, task, place);
}

/* The turn after the last one of the same client. Under the lock, as the next two. */
static uint64_t turn_of(const renewer *it, const task *one) {
    for (list_link *at = it->tasks.before; at != &it->tasks; at = at->before) {
        const task *other = task_at(at);
        if (other->client == one->client && other->turn != TURN_LAST) {
            return other->turn < it->turn ? it->turn : other->turn + 1;
        }
    }
    return it->turn;
}

/* After the tasks of the same turn. */
static void enter(renewer *it, task *one, uint64_t turn) {
    list_link *behind = it->tasks.before;
    while (behind != &it->tasks && task_at(behind)->turn > turn) {
        behind = behind->before;
    }
    one->turn = turn;
    list_add(behind->next, &one->place);
    it->waiting++;
}

static void leave(renewer *it, task *one) {
    list_remove(&one->place);
    it->waiting--;
}

static task *next_task(renewer *it) {
    pthread_mutex_lock(&it->lock);
    task *one = list_is_empty(&it->tasks) ? NULL : task_at(it->tasks.next);
    if (one != NULL) {
        leave(it, one);
        it->turn = one->turn != TURN_LAST && one->turn >= it->turn ? one->turn + 1 : it->turn;
    }
    pthread_mutex_unlock(&it->lock);
    return one;
}

static void refuse_task(task *one, const firn_error *why) {
    one->refuse(one, why);
    one->done(one); /* freed by now */
}

/* Runs the task, unless nobody needs it any more, or others go first. */
static void run_task(renewer *it, task *one) {
    firn_error why;
    enum wish wish = one->wish(one, &why);
    if (wish == WISH_IS_OVER) {
        refuse_task(one, &why);
        return;
    }
    pthread_mutex_lock(&it->lock);
    bool later = wish == WISH_FADES && one->turn != TURN_LAST && it->waiting > 0;
    if (later) {
        enter(it, one, TURN_LAST);
    }
    pthread_mutex_unlock(&it->lock);
    if (!later) {
        one->run(one);
        one->done(one); /* freed by now */
    }
}

/* At most `most`; starts none after `ms`. */
static void run_tasks(renewer *it, int most, int64_t ms) {
    int64_t since = monotonic_ms();
    for (int i = 0; i < most && (i == 0 || monotonic_ms() - since < ms); i++) {
        task *one = next_task(it);
        if (one == NULL) {
            return;
        }
        run_task(it, one);
    }
}

static void refuse_tasks(renewer *it) {
    firn_error why;
    set_error(&why, FIRN_ESTORE, "the server is stopping: use another server");
    for (task *one; (one = next_task(it)) != NULL;) {
        refuse_task(one, &why);
    }
}

int refuse_crowd(firn_error *error) {
    return set_error(error, FIRN_ESTORE, "%d requests already wait for the store: try again later",
                     TASKS_MAX);
}

bool renewer_send(renewer *it, task *one) {
    task *other = NULL;
    pthread_mutex_lock(&it->lock);
    uint64_t turn = turn_of(it, one);
    if (it->waiting >= TASKS_MAX && task_at(it->tasks.before)->turn > turn) {
        other = task_at(it->tasks.before);
        leave(it, other);
    }
    bool taken = !it->closed && it->waiting < TASKS_MAX;
    if (taken) {
        enter(it, one, turn);
    }
    pthread_mutex_unlock(&it->lock);
    if (other != NULL) {
        firn_error why;
        refuse_crowd(&why);
        refuse_task(other, &why);
    }
    if (taken) {
        renewer_wake(it);
    }
    return taken;
}

bool renewer_take_back(renewer *it, task *one) {
    pthread_mutex_lock(&it->lock);
    bool waits = !list_is_empty(&one->place);
    if (waits) {
        leave(it, one);
    }
    pthread_mutex_unlock(&it->lock);
    return waits;
}

void renewer_wake(renewer *it) {
    if (!atomic_exchange_explicit(&it->rung, true, memory_order_seq_cst)) {
        uint64_t one = 1;
        ssize_t size = write(it->bell, &one, sizeof one);
        (void)size; /* fails only if the eventfd is set already */
    }
}

/* At most `ms`, or until woken. */
static void sleep_until(renewer *it, int64_t ms) {
    struct pollfd bell = {it->bell, POLLIN, 0};
    uint64_t rings;
    pthread_mutex_lock(&it->lock);
    bool idle = it->waiting == 0;
    pthread_mutex_unlock(&it->lock);
    ms = !idle || ms < 0 ? 0 : ms < SLEEP_MS ? ms : SLEEP_MS;
    if (poll(&bell, 1, (int)ms) > 0) {
        ssize_t size = read(it->bell, &rings, sizeof rings);
        (void)size;
    }
    atomic_store_explicit(
        &it->rung, false,
        memory_order_seq_cst); /* before looking at anything: later wakes are not lost */
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Later tasks are refused. */
static void close_queue(renewer *it) {
    pthread_mutex_lock(&it->lock);
    it->closed = true;
    pthread_mutex_unlock(&it->lock);
}

static void *run(void *self) {
    renewer *it = self;
    while (!atomic_load_explicit(&stopping, memory_order_seq_cst)) {
        bool news = false;
        atomic_store_explicit(&it->beat_ms, monotonic_ms(), memory_order_seq_cst);
        run_tasks(it, ROUND_TASKS, ROUND_MS);
        int64_t wait_ms = step_all(it, &news);
        void (*tell)(void) = atomic_load_explicit(&tell_news, memory_order_seq_cst);
        if (news && tell != NULL) {
            tell();
        }
        probe(it);
        sleep_until(it, wait_ms);
    }
    close_queue(it);
    close_all(it); /* first: other processes wait for the windows */
    refuse_tasks(it);
    firn_store_close(it->store);
    it->store = NULL;
    pthread_mutex_lock(&it->lock);
    it->ended = true;
    pthread_cond_signal(&it->end);
    pthread_mutex_unlock(&it->lock);
    return NULL;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Without user and password (before the last @ of the host) and without parameters, which may be
 * secrets. */
static void show_url(char shown[256], const char *url) {
    if (url == NULL) {
        snprintf(shown, 256, "sqlite: (default)");
        return;
    }
    size_t head = strcspn(url, ":") + 1, length = strcspn(url, "?");
    bool plain = head > length || strncmp(url, "sqlite:", 7) == 0; /* a path may contain @ */
    const char *from = plain ? url : url + head + (strncmp(url + head, "//", 2) == 0 ? 2 : 0);
    const char *at = plain ? NULL : memrchr(from, '@', (size_t)(url + length - from));
    if (at != NULL) {
        snprintf(shown, 256, "%.*s%.*s", (int)(from - url), url, (int)(url + length - at - 1),
                 at + 1);
    } else {
        snprintf(shown, 256, "%.*s", (int)length, url);
    }
    make_plain(shown);
}

static bool is_same(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void free_renewer(renewer *it) {
    if (it->bell >= 0) {
        close(it->bell);
    }
    pthread_cond_destroy(&it->end);
    pthread_mutex_destroy(&it->lock);
    free(it->url);
    free(it);
}

static renewer *make_renewer(const char *url, size_t index, firn_error *error) {
    renewer *it = calloc(1, sizeof *it);
    if (it == NULL) {
        set_error(error, FIRN_EMEMORY, "out of memory for a renewer of a store");
        return NULL;
    }
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&it->end, &steady);
    pthread_condattr_destroy(&steady);
    pthread_mutex_init(&it->lock, NULL);
    list_clear(&it->tasks);
    it->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    it->url = url != NULL ? strdup(url) : NULL;
    snprintf(it->kind, sizeof it->kind, "%.*s", (int)strcspn(url != NULL ? url : "sqlite", ":"),
             url != NULL ? url : "sqlite");
    it->index = index;
    show_url(it->shown, url);
    atomic_store_explicit(&it->beat_ms, monotonic_ms(), memory_order_seq_cst);
    if (it->bell < 0 || (url != NULL && it->url == NULL) ||
        (!only_check && pthread_create(&it->thread, NULL, run, it) != 0)) {
        set_error(error, FIRN_ESYSTEM,
                  "cannot start a thread for the store %.120s: raise the limits of this process",
                  it->shown);
        free_renewer(it);
        return NULL;
    }
    if (!only_check) {
        pthread_setname_np(it->thread, "firn renewer");
    }
    return it;
}

/* Asks the library, which accepts every kind that has a module. A URL that ends after the kind opens no file and no
 * server, and holds no password. */
int renewer_check(const char *url, firn_error *error) {
    const firn_store_options options = {.must_exist = true};
    char kind[KIND_SIZE + 8];
    firn_store *store = NULL;
    firn_error why = {0};
    if (url == NULL) {
        return FIRN_OK;
    }
    size_t length = strcspn(url, ":");
    snprintf(kind, sizeof kind, "%.*s", (int)(length + (url[length] == ':')), url);
    int code = firn_store_open(&store, kind, &options, &why);
    if (code == FIRN_OK) { /* memory: */
        firn_store_close(store);
    }
    if (code != FIRN_EUSAGE || why.cure != FIRN_CURE_KNOWN_STORE) {
        return FIRN_OK;
    }
    *error = why;
    return code;
}

/* The i-th; NULL past the last. */
static renewer *renewer_at(size_t i) {
    return i < RENEWERS_MAX ? atomic_load_explicit(&renewers[i], memory_order_seq_cst) : NULL;
}

int renewer_of(renewer **out, const char *url, firn_error *error) {
    size_t i = 0;
    int code = renewer_check(url, error);
    if (code != FIRN_OK) {
        return code;
    }
    pthread_mutex_lock(&lock);
    while (renewer_at(i) != NULL && !renewer_is_of(i, url)) {
        i++;
    }
    renewer *found = renewer_at(i);
    if (i == RENEWERS_MAX) {
        code = set_error(error, FIRN_ERANGE,
                         "more than %d stores: use another server for the others", RENEWERS_MAX);
    } else if (found == NULL && atomic_load_explicit(&stopping, memory_order_seq_cst)) {
        code = set_error(error, FIRN_ESTORE, "the server is stopping: use another server");
    } else if (found == NULL) {
        found = make_renewer(url, i, error);
        atomic_store_explicit(&renewers[i], found, memory_order_seq_cst);
        code = found != NULL ? FIRN_OK : error->code;
    }
    if (code == FIRN_OK) {
        *out = found;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

bool renewer_is_of(size_t i, const char *url) {
    const renewer *it = renewer_at(i);
    return it != NULL && is_same(it->url, url);
}

size_t renewer_index(const renewer *it) {
    return it->index;
}

bool renewer_answers(const renewer *it) {
    int64_t busy = atomic_load_explicit(&it->busy_ms, memory_order_seq_cst);
    return atomic_load_explicit(&it->usable, memory_order_seq_cst) &&
           (busy == 0 || monotonic_ms() - busy <= SLOW_MS);
}

uint64_t renewer_calls(const renewer *it) {
    return atomic_load_explicit(&it->calls, memory_order_seq_cst);
}

bool renewer_look(size_t i, renewer_state *state) {
    renewer *it = renewer_at(i);
    int64_t now = monotonic_ms();
    if (it == NULL) {
        return false;
    }
    int64_t busy = atomic_load_explicit(&it->busy_ms, memory_order_seq_cst);
    *state =
        (renewer_state){.usable = renewer_answers(it),
                        .calls = atomic_load_explicit(&it->calls, memory_order_seq_cst),
                        .failures = atomic_load_explicit(&it->failures, memory_order_seq_cst),
                        .beat_ms = now - atomic_load_explicit(&it->beat_ms, memory_order_seq_cst),
                        .busy_ms = busy == 0 ? 0 : now - busy};
    pthread_mutex_lock(&it->lock);
    state->tasks = it->waiting;
    memcpy(state->trouble, it->trouble, sizeof state->trouble);
    memcpy(state->caution, it->caution, sizeof state->caution);
    pthread_mutex_unlock(&it->lock);
    memcpy(state->url, it->shown, sizeof state->url);
    if (!state->usable && state->busy_ms > SLOW_MS) {
        snprintf(state->trouble, sizeof state->trouble, "has not answered for %lld ms",
                 (long long)state->busy_ms);
    } else if (!state->usable && state->trouble[0] == '\0') {
        snprintf(state->trouble, sizeof state->trouble, "is being opened");
    }
    return true;
}

void renewers_on_news(void (*tell)(void)) {
    atomic_store_explicit(&tell_news, tell, memory_order_seq_cst);
}

/* True: it ended in time. A renewer that hangs in its store is abandoned, with its memory. */
static bool await_end(renewer *it, const struct timespec *until) {
    int late = 0;
    pthread_mutex_lock(&it->lock);
    while (!it->ended && late == 0) {
        late = pthread_cond_timedwait(&it->end, &it->lock, until);
    }
    bool ended = it->ended;
    pthread_mutex_unlock(&it->lock);
    if (!ended) {
        pthread_detach(it->thread);
        log_event(LOG_LEVEL_WARNING, "store does not answer", "store", it->shown, "why",
                  "it did not answer before the server stopped, so windows were not given back",
                  NULL);
        return false;
    }
    pthread_join(it->thread, NULL);
    return true;
}

static struct timespec time_after(int64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    return (struct timespec){until.tv_sec + ms / 1000 + ns / 1000000000, ns % 1000000000};
}

/* Releases the lock while waiting: a last task may look up its renewer. */
void renewers_stop(int64_t ms) {
    struct timespec until = time_after(ms);
    bool all = true;
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&stopping, true, memory_order_seq_cst); /* no new renewers from here on */
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; renewer_at(i) != NULL; i++) {
        renewer_wake(renewer_at(i));
    }
    renewer *it;
    for (size_t i = 0; (it = renewer_at(i)) != NULL; i++) {
        bool ended = await_end(it, &until);
        atomic_store_explicit(&renewers[i], NULL, memory_order_seq_cst);
        if (ended) {
            free_renewer(it);
        }
        all = all && ended;
    }
    pthread_mutex_lock(&lock);
    renewers_on_news(NULL);
    atomic_store_explicit(&stopping, !all,
                          memory_order_seq_cst); /* hanging renewers end when their store returns */
    pthread_mutex_unlock(&lock);
}
