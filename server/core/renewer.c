/* SPDX-License-Identifier: MIT */
/* Each round runs queued tasks that are still wanted, steps generators and segments, and sleeps
 * until it is woken or a step is necessary. All calls of a store pass through a meter here;
 * catalog.c decides what to step. */
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

struct store_renewer {
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

static store_renewer *_Atomic renewers[RENEWERS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for `renewers` */
static _Atomic bool stopping;
static void (*_Atomic tell_news)(void); /* NULL: nobody asked */
/* Set before the threads start: */
static bool unsafe, existing, only_check;
static int64_t (*step_all)(store_renewer *renewer, bool *news);
static void (*close_all)(store_renewer *renewer);

/* ---- the meter: a store that counts what it is asked, and passes it on ----------------------- */

/* Is the store unusable? Other codes are its answers. */
static bool is_failure(int code) {
    return code == FIRN_ESTORE || code == FIRN_EUNKNOWN || code == FIRN_ESYSTEM ||
           code == FIRN_EIO || code == FIRN_EMEMORY || code == FIRN_EFORKED;
}

/* Logs changes, not tries. */
static void note(store_renewer *renewer, int code, const firn_error *error) {
    bool usable = !is_failure(code), was;
    if (usable && atomic_load_explicit(&renewer->usable, memory_order_seq_cst)) {
        return;
    }
    pthread_mutex_lock(&renewer->lock);
    was = atomic_exchange_explicit(&renewer->usable, usable, memory_order_seq_cst);
    bool first = renewer->trouble[0] == '\0';
    firn_error told = usable ? (firn_error){0} : *error;
    translate_error(&told, SURFACE_SERVER);
    memcpy(renewer->trouble, told.text, sizeof renewer->trouble);
    pthread_mutex_unlock(&renewer->lock);
    if (!usable && (was || first)) {
        log_event(LOG_LEVEL_ERROR, "store unavailable", "store", renewer->shown, "why", told.text,
                  NULL);
    } else if (usable && !was) {
        log_event(LOG_LEVEL_INFO, "store ready", "store", renewer->shown, NULL);
    }
}

static void begin_call(store_renewer *renewer) {
    atomic_fetch_add_explicit(&renewer->calls, 1, memory_order_seq_cst);
    atomic_store_explicit(&renewer->busy_ms, monotonic_ms(), memory_order_seq_cst);
}

static int end_call(store_renewer *renewer, int code, const firn_error *why, firn_error *error) {
    atomic_store_explicit(&renewer->busy_ms, 0, memory_order_seq_cst);
    renewer->asked_ms = monotonic_ms();
    atomic_fetch_add_explicit(&renewer->failures, is_failure(code), memory_order_seq_cst);
    note(renewer, code, why);
    if (code != FIRN_OK && error != NULL) {
        *error = *why;
    }
    return code;
}

static int meter_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    store_renewer *renewer = self;
    firn_error why = {0};
    begin_call(renewer);
    return end_call(renewer, firn_store_reserve(renewer->engine, request, first, held, &why), &why,
                    error);
}

static int meter_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                           int64_t high, firn_error *error) {
    store_renewer *renewer = self;
    firn_error why = {0};
    begin_call(renewer);
    return end_call(renewer, firn_store_give_back(renewer->engine, ns, key, mine, high, &why), &why,
                    error);
}

static int meter_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    store_renewer *renewer = self;
    firn_error why = {0};
    begin_call(renewer);
    return end_call(renewer, firn_store_list(renewer->engine, ns, visit, context, &why), &why,
                    error);
}

/* The store's clock; a store without one has not failed. */
static int meter_now(void *self, firn_time *now, firn_error *error) {
    store_renewer *renewer = self;
    firn_error why = {0};
    atomic_store_explicit(&renewer->busy_ms, monotonic_ms(), memory_order_seq_cst);
    int code = firn_store_now(renewer->engine, now, &why);
    if (code == FIRN_ESYSTEM) {
        atomic_store_explicit(&renewer->busy_ms, 0, memory_order_seq_cst);
        if (error != NULL) {
            *error = why;
        }
        return code;
    }
    atomic_fetch_add_explicit(&renewer->calls, 1, memory_order_seq_cst);
    return end_call(renewer, code, &why, error);
}

static const char *meter_caution(void *self) {
    return firn_store_caution(((store_renewer *)self)->engine);
}

static void meter_close(void *self) {
    store_renewer *renewer = self;
    firn_store_close(renewer->engine);
    renewer->engine = NULL;
}

/* ---- the store ------------------------------------------------------------------------------- */

void renewers_serve(int64_t (*step)(store_renewer *renewer, bool *news),
                    void (*close)(store_renewer *renewer)) {
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
    const store_renewer *renewer = self;
    log_event(LOG_LEVEL_INFO, "store created", "store", renewer->shown, "why", text, NULL);
}

firn_store_options renewer_options(store_renewer *renewer) {
    return (firn_store_options){
        .unsafe = unsafe, .must_exist = existing, .notice = tell_made, .notice_self = renewer};
}

const char *renewer_url(const store_renewer *renewer) {
    return renewer->url;
}

static int open_store(store_renewer *renewer) {
    const firn_store_options options = renewer_options(renewer);
    atomic_store_explicit(&renewer->busy_ms, monotonic_ms(), memory_order_seq_cst);
    int code = firn_store_open(&renewer->engine, renewer->url, &options, &renewer->why);
    atomic_store_explicit(&renewer->busy_ms, 0, memory_order_seq_cst);
    if (code != FIRN_OK) {
        renewer->engine = NULL;
        return code;
    }
    renewer->ops = (firn_store_ops){.version = FIRN_STORE_OPS_VERSION,
                                    .scheme = renewer->kind,
                                    .reserve = meter_reserve,
                                    .give_back = meter_give_back,
                                    .list = meter_list,
                                    .now = meter_now,
                                    .caution = meter_caution,
                                    .close = meter_close};
    code = firn_store_wrap(&renewer->store, &renewer->ops, renewer, &renewer->why);
    if (code != FIRN_OK) {
        firn_store_close(renewer->engine);
        renewer->engine = NULL;
        renewer->store = NULL;
    }
    return code;
}

static void tell_caution(store_renewer *renewer) {
    const char *caution = firn_store_caution(renewer->engine);
    if (caution != NULL) {
        pthread_mutex_lock(&renewer->lock);
        snprintf(renewer->caution, sizeof renewer->caution, "%s", caution);
        pthread_mutex_unlock(&renewer->lock);
        log_event(LOG_LEVEL_WARNING, "store caution", "store", renewer->shown, "why", caution,
                  NULL);
    }
}

firn_store *renewer_store(store_renewer *renewer, firn_error *error) {
    if (renewer->store == NULL && monotonic_ms() >= renewer->retry_ms) {
        int code = open_store(renewer);
        if (code == FIRN_OK) { /* its first call shows whether it answers */
            renewer->asked_ms = 0;
            tell_caution(renewer);
        } else {
            note(renewer, FIRN_ESTORE, &renewer->why);
            /* A wrong URL or a missing module is not the fault of a request. */
            renewer->why.code = code == FIRN_EUSAGE ? FIRN_ESTORE : code;
            renewer->retry_ms = monotonic_ms() + retry_pause_ms(&renewer->pause_ms);
        }
    }
    if (renewer->store == NULL && error != NULL) {
        *error = renewer->why;
    }
    return renewer->store;
}

/* An integer's name, because some stores hold nothing else. Nobody uses it. */
static const char probed_ns[] = "integer firn-probe";

static int see_nothing(void *context, const firn_holding *holding) {
    (void)context, (void)holding;
    return FIRN_OK;
}

/* Calls an otherwise unused store, so that its state stays current. */
static void probe(store_renewer *renewer) {
    firn_store *store =
        atomic_load_explicit(&stopping, memory_order_seq_cst) ? NULL : renewer_store(renewer, NULL);
    if (store != NULL &&
        (renewer->asked_ms == 0 || monotonic_ms() - renewer->asked_ms >= PROBE_MS)) {
        firn_store_list(store, probed_ns, see_nothing, NULL, NULL);
    }
}

/* ---- tasks --------------------------------------------------------------------------------- */

#define TURN_LAST UINT64_MAX /* of tasks whose client may have left */

static renewer_task *task_at(list_link *place) {
    return list_entry(place, renewer_task, place);
}

/* The turn after the last one of the same client. Under the lock, as the next two. */
static uint64_t turn_of(const store_renewer *renewer, const renewer_task *task) {
    for (list_link *link = renewer->tasks.before; link != &renewer->tasks; link = link->before) {
        const renewer_task *other = task_at(link);
        if (other->client == task->client && other->turn != TURN_LAST) {
            return other->turn < renewer->turn ? renewer->turn : other->turn + 1;
        }
    }
    return renewer->turn;
}

/* After the tasks of the same turn. */
static void enter(store_renewer *renewer, renewer_task *task, uint64_t turn) {
    list_link *behind = renewer->tasks.before;
    while (behind != &renewer->tasks && task_at(behind)->turn > turn) {
        behind = behind->before;
    }
    task->turn = turn;
    list_add(behind->next, &task->place);
    renewer->waiting++;
}

static void leave(store_renewer *renewer, renewer_task *task) {
    list_remove(&task->place);
    renewer->waiting--;
}

static renewer_task *next_task(store_renewer *renewer) {
    pthread_mutex_lock(&renewer->lock);
    renewer_task *task = list_is_empty(&renewer->tasks) ? NULL : task_at(renewer->tasks.next);
    if (task != NULL) {
        leave(renewer, task);
        renewer->turn =
            task->turn != TURN_LAST && task->turn >= renewer->turn ? task->turn + 1 : renewer->turn;
    }
    pthread_mutex_unlock(&renewer->lock);
    return task;
}

static void refuse_task(renewer_task *task, const firn_error *why) {
    task->refuse(task, why);
    task->done(task); /* freed by now */
}

/* Runs the task, unless nobody needs it any more, or others go first. */
static void run_task(store_renewer *renewer, renewer_task *task) {
    firn_error why;
    enum task_need need = task->need(task, &why);
    if (need == NEED_IS_OVER) {
        refuse_task(task, &why);
        return;
    }
    pthread_mutex_lock(&renewer->lock);
    bool later = need == NEED_FADES && task->turn != TURN_LAST && renewer->waiting > 0;
    if (later) {
        enter(renewer, task, TURN_LAST);
    }
    pthread_mutex_unlock(&renewer->lock);
    if (!later) {
        task->run(task);
        task->done(task); /* freed by now */
    }
}

/* At most `most`; starts none after `ms`. */
static void run_tasks(store_renewer *renewer, int most, int64_t ms) {
    int64_t since = monotonic_ms();
    for (int i = 0; i < most && (i == 0 || monotonic_ms() - since < ms); i++) {
        renewer_task *task = next_task(renewer);
        if (task == NULL) {
            return;
        }
        run_task(renewer, task);
    }
}

static void refuse_tasks(store_renewer *renewer) {
    firn_error why;
    set_error(&why, FIRN_ESTORE, "the server is stopping: use another server");
    for (renewer_task *task; (task = next_task(renewer)) != NULL;) {
        refuse_task(task, &why);
    }
}

int refuse_crowd(firn_error *error) {
    return set_error(error, FIRN_ESTORE, "%d requests already wait for the store: try again later",
                     TASKS_MAX);
}

bool renewer_send(store_renewer *renewer, renewer_task *task) {
    renewer_task *other = NULL;
    pthread_mutex_lock(&renewer->lock);
    uint64_t turn = turn_of(renewer, task);
    if (renewer->waiting >= TASKS_MAX && task_at(renewer->tasks.before)->turn > turn) {
        other = task_at(renewer->tasks.before);
        leave(renewer, other);
    }
    bool taken = !renewer->closed && renewer->waiting < TASKS_MAX;
    if (taken) {
        enter(renewer, task, turn);
    }
    pthread_mutex_unlock(&renewer->lock);
    if (other != NULL) {
        firn_error why;
        refuse_crowd(&why);
        refuse_task(other, &why);
    }
    if (taken) {
        renewer_wake(renewer);
    }
    return taken;
}

bool renewer_take_back(store_renewer *renewer, renewer_task *task) {
    pthread_mutex_lock(&renewer->lock);
    bool waits = !list_is_empty(&task->place);
    if (waits) {
        leave(renewer, task);
    }
    pthread_mutex_unlock(&renewer->lock);
    return waits;
}

void renewer_wake(store_renewer *renewer) {
    if (!atomic_exchange_explicit(&renewer->rung, true, memory_order_seq_cst)) {
        uint64_t value = 1;
        ssize_t size = write(renewer->bell, &value, sizeof value);
        (void)size; /* fails only if the eventfd is set already */
    }
}

/* At most `ms`, or until woken. */
static void sleep_until(store_renewer *renewer, int64_t ms) {
    struct pollfd bell = {renewer->bell, POLLIN, 0};
    uint64_t rings;
    pthread_mutex_lock(&renewer->lock);
    bool idle = renewer->waiting == 0;
    pthread_mutex_unlock(&renewer->lock);
    ms = !idle || ms < 0 ? 0 : ms < SLEEP_MS ? ms : SLEEP_MS;
    if (poll(&bell, 1, (int)ms) > 0) {
        ssize_t size = read(renewer->bell, &rings, sizeof rings);
        (void)size;
    }
    atomic_store_explicit(
        &renewer->rung, false,
        memory_order_seq_cst); /* before looking at anything: later wakes are not lost */
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Later tasks are refused. */
static void close_queue(store_renewer *renewer) {
    pthread_mutex_lock(&renewer->lock);
    renewer->closed = true;
    pthread_mutex_unlock(&renewer->lock);
}

static void *run(void *self) {
    store_renewer *renewer = self;
    while (!atomic_load_explicit(&stopping, memory_order_seq_cst)) {
        bool news = false;
        atomic_store_explicit(&renewer->beat_ms, monotonic_ms(), memory_order_seq_cst);
        run_tasks(renewer, ROUND_TASKS, ROUND_MS);
        int64_t wait_ms = step_all(renewer, &news);
        void (*tell)(void) = atomic_load_explicit(&tell_news, memory_order_seq_cst);
        if (news && tell != NULL) {
            tell();
        }
        probe(renewer);
        sleep_until(renewer, wait_ms);
    }
    close_queue(renewer);
    close_all(renewer); /* first: other processes wait for the windows */
    refuse_tasks(renewer);
    firn_store_close(renewer->store);
    renewer->store = NULL;
    pthread_mutex_lock(&renewer->lock);
    renewer->ended = true;
    pthread_cond_signal(&renewer->end);
    pthread_mutex_unlock(&renewer->lock);
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
    const char *text = plain ? url : url + head + (strncmp(url + head, "//", 2) == 0 ? 2 : 0);
    const char *position = plain ? NULL : memrchr(text, '@', (size_t)(url + length - text));
    if (position != NULL) {
        snprintf(shown, 256, "%.*s%.*s", (int)(text - url), url, (int)(url + length - position - 1),
                 position + 1);
    } else {
        snprintf(shown, 256, "%.*s", (int)length, url);
    }
    make_plain(shown);
}

static bool is_same(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void free_renewer(store_renewer *renewer) {
    if (renewer->bell >= 0) {
        close(renewer->bell);
    }
    pthread_cond_destroy(&renewer->end);
    pthread_mutex_destroy(&renewer->lock);
    free(renewer->url);
    free(renewer);
}

static store_renewer *make_renewer(const char *url, size_t index, firn_error *error) {
    store_renewer *renewer = calloc(1, sizeof *renewer);
    if (renewer == NULL) {
        set_error(error, FIRN_EMEMORY, "out of memory for a renewer of a store");
        return NULL;
    }
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&renewer->end, &steady);
    pthread_condattr_destroy(&steady);
    pthread_mutex_init(&renewer->lock, NULL);
    list_clear(&renewer->tasks);
    renewer->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    renewer->url = url != NULL ? strdup(url) : NULL;
    snprintf(renewer->kind, sizeof renewer->kind, "%.*s",
             (int)strcspn(url != NULL ? url : "sqlite", ":"), url != NULL ? url : "sqlite");
    renewer->index = index;
    show_url(renewer->shown, url);
    atomic_store_explicit(&renewer->beat_ms, monotonic_ms(), memory_order_seq_cst);
    if (renewer->bell < 0 || (url != NULL && renewer->url == NULL) ||
        (!only_check && pthread_create(&renewer->thread, NULL, run, renewer) != 0)) {
        set_error(error, FIRN_ESYSTEM,
                  "cannot start a thread for the store %.120s: raise the limits of this process",
                  renewer->shown);
        free_renewer(renewer);
        return NULL;
    }
    if (!only_check) {
        pthread_setname_np(renewer->thread, "firn renewer");
    }
    return renewer;
}

/* Asks the library, which accepts every kind that has a module. A URL that ends after the kind
 * opens no file and no server, and holds no password. */
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
static store_renewer *renewer_at(size_t i) {
    return i < RENEWERS_MAX ? atomic_load_explicit(&renewers[i], memory_order_seq_cst) : NULL;
}

int renewer_of(store_renewer **out, const char *url, firn_error *error) {
    size_t i = 0;
    int code = renewer_check(url, error);
    if (code != FIRN_OK) {
        return code;
    }
    pthread_mutex_lock(&lock);
    while (renewer_at(i) != NULL && !renewer_is_of(i, url)) {
        i++;
    }
    store_renewer *found = renewer_at(i);
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
    const store_renewer *renewer = renewer_at(i);
    return renewer != NULL && is_same(renewer->url, url);
}

size_t renewer_index(const store_renewer *renewer) {
    return renewer->index;
}

bool renewer_answers(const store_renewer *renewer) {
    int64_t busy = atomic_load_explicit(&renewer->busy_ms, memory_order_seq_cst);
    return atomic_load_explicit(&renewer->usable, memory_order_seq_cst) &&
           (busy == 0 || monotonic_ms() - busy <= SLOW_MS);
}

uint64_t renewer_calls(const store_renewer *renewer) {
    return atomic_load_explicit(&renewer->calls, memory_order_seq_cst);
}

bool renewer_look(size_t i, renewer_state *state) {
    store_renewer *renewer = renewer_at(i);
    int64_t now = monotonic_ms();
    if (renewer == NULL) {
        return false;
    }
    int64_t busy = atomic_load_explicit(&renewer->busy_ms, memory_order_seq_cst);
    *state = (renewer_state){
        .usable = renewer_answers(renewer),
        .calls = atomic_load_explicit(&renewer->calls, memory_order_seq_cst),
        .failures = atomic_load_explicit(&renewer->failures, memory_order_seq_cst),
        .beat_ms = now - atomic_load_explicit(&renewer->beat_ms, memory_order_seq_cst),
        .busy_ms = busy == 0 ? 0 : now - busy};
    pthread_mutex_lock(&renewer->lock);
    state->tasks = renewer->waiting;
    memcpy(state->trouble, renewer->trouble, sizeof state->trouble);
    memcpy(state->caution, renewer->caution, sizeof state->caution);
    pthread_mutex_unlock(&renewer->lock);
    memcpy(state->url, renewer->shown, sizeof state->url);
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
static bool await_end(store_renewer *renewer, const struct timespec *until) {
    int late = 0;
    pthread_mutex_lock(&renewer->lock);
    while (!renewer->ended && late == 0) {
        late = pthread_cond_timedwait(&renewer->end, &renewer->lock, until);
    }
    bool ended = renewer->ended;
    pthread_mutex_unlock(&renewer->lock);
    if (!ended) {
        pthread_detach(renewer->thread);
        log_event(LOG_LEVEL_WARNING, "store does not answer", "store", renewer->shown, "why",
                  "it did not answer before the server stopped, so windows were not given back",
                  NULL);
        return false;
    }
    pthread_join(renewer->thread, NULL);
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
    store_renewer *renewer;
    for (size_t i = 0; (renewer = renewer_at(i)) != NULL; i++) {
        bool ended = await_end(renewer, &until);
        atomic_store_explicit(&renewers[i], NULL, memory_order_seq_cst);
        if (ended) {
            free_renewer(renewer);
        }
        all = all && ended;
    }
    pthread_mutex_lock(&lock);
    renewers_on_news(NULL);
    atomic_store_explicit(&stopping, !all,
                          memory_order_seq_cst); /* hanging renewers end when their store returns */
    pthread_mutex_unlock(&lock);
}
