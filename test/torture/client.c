/* SPDX-License-Identifier: MIT */
/* Clients: processes that open generators or integers on the scene's store, issue into the ledger,
 * close, and are killed. Judges only failures that no fault explains. */
#include "torture.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL_S     60 /* a call that takes longer hangs */
#define GENERATORS 4
#define DATED_N    50 /* IDs of one back-dated call */

const char *const points[POINTS] = {"reserve.before",   "reserve.sent",   "reserve.committed",
                                    "give_back.before", "give_back.sent", "give_back.committed"};

int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void nap_ms(int64_t ms) {
    struct timespec nap = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&nap, NULL);
}

/* ---- a store that writes down what it grants ------------------------------------------------ */

static void count_call(grant_recorder *recorder) {
    atomic_fetch_add(gettid() == atomic_load(&recorder->renewer) ? &recorder->renewer_calls
                                                                 : &recorder->other_calls,
                     1);
}

static int recorder_reserve(void *self, const firn_request *request, int64_t *first,
                            firn_mark *held, firn_error *error) {
    grant_recorder *recorder = self;
    count_call(recorder);
    int code = firn_store_reserve(recorder->inner, request, first, held, error);
    if (code == FIRN_OK) {
        ledger_grant(recorder->ledger, recorder->life, request, *first, *first + request->count);
    } else if (code == FIRN_EBUSY && held->grant == request->grant) { /* an earlier sending */
        ledger_grant(recorder->ledger, recorder->life, request, held->high - request->count,
                     held->high);
    } else if (code == FIRN_ESTORE || code == FIRN_EUNKNOWN) {
        atomic_fetch_add(&recorder->ledger->refused, 1);
    }
    return code;
}

/* After it nothing of the rest is issued, with any answer. */
static int recorder_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                              int64_t high, firn_error *error) {
    grant_recorder *recorder = self;
    count_call(recorder);
    ledger_lower(recorder->ledger, recorder->life, ns, key, high, mine->high);
    return firn_store_give_back(recorder->inner, ns, key, mine, high, error);
}

static int recorder_list(void *self, const char *ns, firn_visit *visit, void *context,
                         firn_error *error) {
    count_call(self);
    return firn_store_list(((grant_recorder *)self)->inner, ns, visit, context, error);
}

static int recorder_now(void *self, firn_time *now, firn_error *error) {
    count_call(self);
    return firn_store_now(((grant_recorder *)self)->inner, now, error);
}

static void recorder_close(void *self) {
    firn_store_close(((grant_recorder *)self)->inner);
    free(self);
}

static const firn_store_ops recorder_ops = {.version = FIRN_STORE_OPS_VERSION,
                                            .scheme = "recorder",
                                            .reserve = recorder_reserve,
                                            .give_back = recorder_give_back,
                                            .list = recorder_list,
                                            .now = recorder_now,
                                            .close = recorder_close};

int recorder_open(firn_store **store, grant_recorder **out, id_ledger *ledger, const char *url,
                  const firn_store_options *options, firn_error *error) {
    grant_recorder *recorder = calloc(1, sizeof *recorder);
    recorder->ledger = ledger;
    int code = firn_store_open(&recorder->inner, url, options, error);
    if (code == FIRN_OK) {
        code = firn_store_wrap(store, &recorder_ops, recorder, error);
    }
    if (code != FIRN_OK) {
        free(recorder);
        return code;
    }
    *out = recorder;
    return FIRN_OK;
}

/* ---- a clock that is wrong ------------------------------------------------------------------ */

static int clock_wall(void *self, firn_time *now) {
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    int64_t ns =
        (int64_t)real.tv_sec * 1000000000 + real.tv_nsec + atomic_load((_Atomic int64_t *)self);
    *now = (firn_time){ns / 1000000000, (int32_t)(ns % 1000000000)};
    return FIRN_OK;
}

static int clock_steady(void *self, int64_t *ns) {
    struct timespec now;
    (void)self;
    clock_gettime(CLOCK_BOOTTIME, &now);
    *ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return FIRN_OK;
}

static int clock_pause(void *self, int64_t ns) {
    (void)self;
    nap_ms(ns / 1000000 + 1);
    return FIRN_OK;
}

void client_clock(firn_clock *clock, _Atomic int64_t *offset_ns) {
    *clock = (firn_clock){1, offset_ns, clock_wall, clock_steady, clock_pause};
}

static int standing_wall(void *self, firn_time *now) {
    int64_t ns = atomic_load((_Atomic int64_t *)self);
    *now = (firn_time){ns / 1000000000, (int32_t)(ns % 1000000000)};
    return FIRN_OK;
}

static int standing_steady(void *self, int64_t *ns) {
    *ns = atomic_load((_Atomic int64_t *)self);
    return FIRN_OK;
}

static int standing_pause(void *self, int64_t ns) {
    atomic_fetch_add((_Atomic int64_t *)self, ns);
    return FIRN_OK;
}

void standing_clock(firn_clock *clock, _Atomic int64_t *at_ns) {
    *clock = (firn_clock){1, at_ns, standing_wall, standing_steady, standing_pause};
}

/* ---- one life after the other --------------------------------------------------------------- */

/* A generator, or a key of integers, with its own store. */
typedef struct torture_maker {
    firn_store *store;
    grant_recorder *recorder;
    firn_gen *gen;
    firn_segment *range;
    torture_lot *lot; /* not yet used */
    int lots;         /* in this life */
} torture_maker;

typedef struct client {
    scene *scene;
    const traits *how;
    torture_seat *seat;
    firn_clock clock;
    torture_maker makers[GENERATORS];
    uint64_t random;
    int passed; /* the failpoint that it dies at */
} client;

static uint64_t draw(client *c, uint64_t below) {
    c->random = c->random * 6364136223846793005U + 1442695040888963407U;
    return (c->random >> 33) % below;
}

static void on_point(void *self, const char *name) {
    client *c = self;
    if (c->how->die_at >= 0 && strcmp(name, points[c->how->die_at]) == 0 &&
        c->passed++ == c->how->die_after) {
        atomic_fetch_add(&c->scene->world->hits[c->how->die_at], 1);
        kill(getpid(), SIGKILL);
    }
}

static void note_longest(world *w, int64_t took_ms) {
    int64_t longest = atomic_load(&w->longest_ms);
    while (took_ms > longest && !atomic_compare_exchange_weak(&w->longest_ms, &longest, took_ms)) {
    }
}

/* The failures that these faults explain. The rest is a defect. */
static bool explained(int code) {
    return code == FIRN_EBUSY || code == FIRN_EEXHAUSTED || code == FIRN_EWINDOW ||
           code == FIRN_ECLOCK || code == FIRN_ESTORE || code == FIRN_EUNKNOWN ||
           code == FIRN_EFORKED || code == FIRN_EBACK;
}

/* Logs the result of a call. Exhausted is not a failure: the client is too fast for its clock. */
static void note(client *c, int code, const firn_error *error, int64_t begun_ms) {
    world *w = c->scene->world;
    int64_t now = now_ms(), since = atomic_load(&w->since_ms), back = atomic_load(&w->back_ms);
    note_longest(w, now - begun_ms);
    if (code == FIRN_OK) {
        atomic_store(&c->seat->good_ms, now);
        atomic_fetch_add(&c->seat->lots, 1);
        if (back > 0 && begun_ms >= back && atomic_load(&c->seat->again_ms) == 0) {
            atomic_store(&c->seat->again_ms, now);
        }
    } else if (code != FIRN_EEXHAUSTED) {
        atomic_fetch_add(&w->failures, 1);
        if (since > 0 && now >= since && atomic_load(&c->seat->bad_ms) == 0) {
            snprintf(c->seat->text, sizeof c->seat->text, "%s", error->text);
            atomic_store(&c->seat->code, code);
            atomic_store(&c->seat->good_before_ms, atomic_load(&c->seat->good_ms));
            atomic_store(&c->seat->bad_ms, now);
        }
        if (!explained(code)) {
            snprintf(w->odd_text, sizeof w->odd_text, "%s", error->text);
            atomic_store(&w->odd_code, code);
        }
    }
}

static int begin_life(client *c, torture_maker *maker, firn_error *error) {
    const role *form = c->how->role;
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn",
                                        .unsafe = true,
                                        .failpoint = on_point,
                                        .failpoint_self = c};
    const firn_config config = {.size = sizeof config,
                                .scheme = form->scheme,
                                .keys = form->keys,
                                .clock = c->how->clock > 0 ? &c->clock : NULL};
    int code = maker->store != NULL
                   ? FIRN_OK
                   : recorder_open(&maker->store, &maker->recorder, c->scene->world->ledger,
                                   c->scene->url, &options, error);
    if (code != FIRN_OK) {
        return code;
    }
    maker->recorder->life = atomic_fetch_add(&c->scene->world->ledger->lives, 1) + 1;
    maker->lot = NULL;
    maker->lots = 0;
    if (form->what == INTEGERS) {
        return firn_segment_open(&maker->range, form->scheme, form->keys, maker->store, NULL,
                                 error);
    }
    firn_config with_store = config;
    with_store.store = maker->store;
    return firn_open_with(&maker->gen, &with_store, error);
}

static int end_life(torture_maker *maker, firn_error *error) {
    int code = FIRN_OK;
    if (maker->gen != NULL) {
        code = firn_close(maker->gen, error);
    } else if (maker->range != NULL) {
        code = firn_segment_close(maker->range, error);
    }
    maker->gen = NULL;
    maker->range = NULL;
    return code;
}

/* Back-dated: many processes meet in few ticks. */
static int fill_dated(client *c, torture_maker *maker, firn_error *error) {
    int code = FIRN_OK;
    for (size_t i = 0; i < LOT && code == FIRN_OK; i += DATED_N) {
        const firn_time time = {1740000000 + (int64_t)draw(c, 20), 0};
        firn_id ids[DATED_N];
        code = firn_at(maker->gen, &time, ids, DATED_N, error);
        for (size_t j = 0; j < DATED_N && code == FIRN_OK; j++) {
            maker->lot->ids[i + j] = ids[j].low;
        }
    }
    return code;
}

static int fill_integers(torture_maker *maker, firn_error *error) {
    int code = FIRN_OK;
    for (size_t i = 0; i < LOT && code == FIRN_OK; i++) {
        code = firn_segment_next(maker->range, (int64_t *)&maker->lot->ids[i], error);
    }
    return code;
}

/* Straight into the ledger, so that no ID is issued that the judge does not see. One in eight lots
 * is issued by single calls. */
static int fill_live(client *c, torture_maker *maker, firn_error *error) {
    int code = FIRN_OK;
    if (draw(c, 8) > 0) {
        return firn_next_u64(maker->gen, maker->lot->ids, LOT, error);
    }
    for (size_t i = 0; i < LOT && code == FIRN_OK; i++) {
        code = firn_next_u64(maker->gen, &maker->lot->ids[i], 1, error);
    }
    return code;
}

static int fill(client *c, torture_maker *maker, firn_error *error) {
    uint32_t life = maker->recorder->life;
    if (maker->lot == NULL ||
        maker->lot->ids[0] != 0) { /* one that a failure left empty is used again */
        maker->lot = ledger_lot(c->scene->world->ledger, life, c->how->role->node_bits);
    }
    if (maker->lot == NULL) { /* full: live on without */
        nap_ms(5);
        return FIRN_EEXHAUSTED;
    }
    switch (c->how->role->what) {
    case DATED:
        return fill_dated(c, maker, error);
    case INTEGERS:
        return fill_integers(maker, error);
    default:
        return fill_live(c, maker, error);
    }
}

/* Issues a lot, or opens the generator that it needs. */
static void one_step(client *c, torture_maker *maker) {
    firn_error error = {0};
    int64_t begun_ms = now_ms();
    alarm(CALL_S);
    if (maker->gen == NULL && maker->range == NULL) {
        int code = begin_life(c, maker, &error);
        note(c, code == FIRN_OK ? FIRN_EEXHAUSTED : code, &error, begun_ms);
        if (code != FIRN_OK) {
            nap_ms(5);
            return;
        }
        begun_ms = now_ms();
    }
    int code = fill(c, maker, &error);
    note(c, code, &error, begun_ms);
    if (code != FIRN_OK) {
        nap_ms(3);
    } else if (++maker->lots >= c->how->lots && c->how->lots > 0) {
        begun_ms = now_ms();
        code = end_life(maker, &error);
        note(c, code == FIRN_OK ? FIRN_EEXHAUSTED : code, &error, begun_ms);
    }
}

/* The child of a fork uses its parent's generators, and must not repeat it. */
static void fork_once(client *c) {
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int i = 0; i < c->how->generators; i++) {
            c->makers[i].recorder->life = atomic_fetch_add(&c->scene->world->ledger->lives, 1) + 1;
            c->makers[i].lot = NULL;
        }
    }
}

_Noreturn void client_run(scene *s, const traits *how) {
    static client clients;
    client *c = &clients;
    *c = (client){.scene = s, .how = how, .seat = &s->world->seats[how->seat]};
    c->random = (uint64_t)getpid() * 7919;
    client_clock(&c->clock, &s->world->offset_ns[how->clock > 0 ? how->clock - 1 : 0]);
    bool forked = false;
    struct timespec pace = {how->pace_us / 1000000, how->pace_us % 1000000 * 1000};
    for (long i = 0; !atomic_load(&s->world->stop); i++) {
        one_step(c, &c->makers[i % how->generators]);
        nanosleep(&pace, NULL);
        if (how->forks && !forked && i == 40L * how->generators) {
            forked = true;
            fork_once(c);
        }
    }
    for (int i = 0; i < how->generators; i++) {
        alarm(CALL_S);
        end_life(&c->makers[i], NULL);
    }
    if (forked) {
        waitpid(-1, NULL, 0);
    }
    _exit(0);
}

void client_start(scene *s, const traits *how) {
    const pid_t parent = getpid();
    torture_seat *place = &s->world->seats[how->seat];
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) {
            client_run(s, how);
        }
        _exit(0);
    }
    place->pid = child;
}

bool client_ended(scene *s, int position) {
    pid_t *pid = &s->world->seats[position].pid;
    int status = 0;
    if (*pid <= 0) {
        return true;
    }
    if (waitpid(*pid, &status, WNOHANG) != *pid) {
        return false;
    }
    *pid = 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        atomic_fetch_add(&s->world->killed, 1);
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        atomic_fetch_add(&s->world->hung, 1);
    } else if (status != 0) {
        refute(s, "a client ended with status %#x", (unsigned)status);
    }
    return true;
}

void client_kill(scene *s, int position) {
    if (s->world->seats[position].pid > 0) {
        kill(s->world->seats[position].pid, SIGKILL);
    }
}

void clients_end(scene *s, int seats) {
    int64_t begun_ms = now_ms();
    atomic_store(&s->world->stop, true);
    for (int i = 0; i < seats; i++) {
        while (!client_ended(s, i)) {
            if (now_ms() - begun_ms > (CALL_S + 15) * 1000) {
                atomic_fetch_add(&s->world->hung, 1);
                client_kill(s, i);
            }
            nap_ms(2);
        }
    }
}

/* ---- the scene's report --------------------------------------------------------------------- */

void refute(scene *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!s->report->failed) {
        vsnprintf(s->report->why, sizeof s->report->why, format, arguments);
    }
    s->report->failed = true;
    va_end(arguments);
}

void omit(scene *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!s->report->failed) {
        vsnprintf(s->report->why, sizeof s->report->why, format, arguments);
    }
    s->report->skipped = true;
    va_end(arguments);
}

void tell(scene *s, const char *format, ...) {
    char more[200];
    va_list arguments;
    size_t length = strlen(s->report->text), room = sizeof s->report->text - length;
    va_start(arguments, format);
    vsnprintf(more, sizeof more, format, arguments);
    va_end(arguments);
    snprintf(s->report->text + length, room, "%s%s", length > 0 ? ", " : "", more);
}

void conclude(scene *s, bool granted) {
    world *w = s->world;
    verdict found = judge(w->ledger, granted);
    s->report->ids += found.ids;
    s->report->grants += found.grants;
    s->report->longest_ms = atomic_load(&w->longest_ms);
    if (found.twice + found.outside + found.overlapping > 0) {
        refute(s,
               "%zu of %zu IDs were issued twice, %zu outside a grant; %zu of %zu grants overlap",
               found.twice, found.ids, found.outside, found.overlapping, found.grants);
    }
    if (atomic_load(&w->ledger->lots) >= w->ledger->max_lots) {
        tell(s, "the ledger was full before the end");
    }
    if (atomic_load(&w->hung) > 0) {
        refute(s, "%ld calls did not return within %d s", atomic_load(&w->hung), CALL_S);
    }
    if (atomic_load(&w->odd_code) != 0) {
        refute(s, "a failure that no fault explains: %s: %s",
               firn_errname(atomic_load(&w->odd_code)), w->odd_text);
    }
    if (!plant(w->ledger, granted)) {
        refute(s, "only %zu IDs were issued", found.ids);
        return;
    }
    verdict planted = judge(w->ledger, granted);
    if (planted.twice <= found.twice || (granted && (planted.outside <= found.outside ||
                                                     planted.overlapping <= found.overlapping))) {
        refute(s, "the judge does not find what was planted: %zu twice, %zu outside, %zu overlap",
               planted.twice, planted.outside, planted.overlapping);
    }
}
