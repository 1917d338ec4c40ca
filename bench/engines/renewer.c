/* SPDX-License-Identifier: MIT */
/* Measuring: the effect of a renewer, in its own thread on another processor, on a thread that
 * issues: whether it ever enters the store, and its slowest call. */
#include "measure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum { RUNS = 9, RUN_MS = 1000, CLAIM_MS = 2000 };
#define WAIT_NS   5000000 /* of the store */
#define SWITCH_NS 3000    /* what takes less was no change of processes */

/* The slowest turn of a loop. Turns in which the kernel ran another process are left out; turns
 * that waited on their own count. */
typedef struct watch {
    double last, slowest; /* when the last turn ended, and how long one took, ns */
    long taken;           /* how often the processor was taken away */
} watch;

static long times_taken(void) {
    struct rusage used;
    return getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nivcsw : 0;
}

static void watch_begin(watch *self) {
    *self = (watch){.taken = times_taken(), .last = bench_now_ns()};
}

/* Each turn is timed from the end of the last, so that nothing falls between two. */
static void watch_turn(watch *self) {
    double now = bench_now_ns(), took = now - self->last;
    self->last = now;
    if (took > SWITCH_NS) {
        long taken = times_taken();
        self->slowest = taken == self->taken && took > self->slowest ? took : self->slowest;
        self->taken = taken;
        self->last = bench_now_ns();
    } else if (took > self->slowest) {
        self->slowest = took;
    }
}

/* A run of a generator. */
typedef struct running {
    const char *keys;
    bool kept; /* by a thread; else only the first window is claimed */
    slow_store slow;
    firn_store *store;
    firn_gen *gen;
    _Atomic bool over;
    int64_t calls, entered; /* of firn_next: in all, and that entered the store */
    int64_t refused;        /* the renewer got no processor in time to renew */
    uint64_t renewals;
    double slowest_ns;
    firn_error error; /* why it came to nothing */
} running;

static void nap_ms(int64_t ms) {
    const struct timespec nap = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&nap, NULL);
}

static void *keep(void *context) {
    running *self = context;
    int64_t wait_ms = 0;
    renewer_thread = true;
    bench_pin(1);
    while (!self->over) { /* as long as the run */
        firn_gen_step(self->gen, &wait_ms, NULL);
        nap_ms(wait_ms);
    }
    return NULL;
}

static bool is_held(const running *self) {
    firn_status status = {.size = sizeof status};
    for (int ms = 0; ms < CLAIM_MS; ms += 5) {
        firn_gen_status(self->gen, &status);
        if (status.held) {
            return true;
        }
        nap_ms(5);
    }
    return false;
}

static bool issue(running *self) {
    firn_id id;
    firn_status before = {.size = sizeof before}, after = {.size = sizeof after};
    firn_gen_status(self->gen, &before);
    int64_t entered = self->slow.calls_of_others;
    watch calls;
    watch_begin(&calls);
    double end = calls.last + RUN_MS * 1e6;
    while (calls.last < end) {
        int code = firn_next(self->gen, &id, &self->error);
        if (code != FIRN_OK && code != FIRN_EWINDOW) {
            return false;
        }
        watch_turn(&calls);
        self->refused += code != FIRN_OK;
        self->calls++;
    }
    firn_gen_status(self->gen, &after);
    self->entered += self->slow.calls_of_others - entered;
    self->renewals += after.renewals - before.renewals;
    self->slowest_ns = calls.slowest;
    return true;
}

static bool run_once(running *self) {
    pthread_t renewer;
    int64_t wait_ms;
    firn_config config = {.size = sizeof config,
                          .scheme = BENCH_WIDE_LAYOUT,
                          .keys = self->keys,
                          .has_renewer = true};
    self->over = false;
    self->slowest_ns = 0;
    self->store = slow_store_open(&self->slow, WAIT_NS);
    config.store = self->store;
    bool fine = self->store != NULL && firn_open_with(&self->gen, &config, &self->error) == FIRN_OK;
    if (!fine) {
        firn_store_close(self->store);
        return false;
    }
    bool started = self->kept && pthread_create(&renewer, NULL, keep, self) == 0;
    fine = self->kept ? started : firn_gen_step(self->gen, &wait_ms, &self->error) == FIRN_OK;
    fine = fine && is_held(self) && issue(self);
    self->over = true;
    if (started) {
        pthread_join(renewer, NULL);
    }
    firn_close(self->gen, NULL);
    firn_store_close(self->store);
    return fine;
}

/* The longest pause of a thread that only reads the clock: the machine's own. */
static double slowest_reading(void) {
    watch turns;
    watch_begin(&turns);
    double end = turns.last + RUN_MS * 1e6;
    while (turns.last < end) {
        watch_turn(&turns);
    }
    return turns.slowest;
}

static void put_slowest(double renewing[], double fixed[], double bare[], uint64_t renewals) {
    figure own = {.name = "slowest-renewing", .ns = bench_middle(renewing, RUNS)};
    figure still = {.name = "slowest-fixed",
                    .peer = true,
                    .ns = bench_middle(fixed, RUNS),
                    .most = 2,
                    .note = "the same with one window of 10 s"};
    figure clock = {.name = "slowest-clock",
                    .peer = true,
                    .ns = bench_middle(bare, RUNS),
                    .note = "a loop that only reads the clock: what the machine does"};
    still.ratio = own.ns / still.ns;
    clock.ratio = own.ns / clock.ns;
    snprintf(own.note, sizeof own.note,
             "the slowest firn_next of a second, but for those that other processes interrupted; "
             "median of %d, %llu renewals",
             RUNS, (unsigned long long)renewals);
    put_figure(&own);
    put_figure(&still);
    put_figure(&clock);
}

void measure_renewer(void) {
    static running renewing = {.keys = "node=1 window=200ms", .kept = true};
    static running fixed = {.keys = "node=1 window=10s"};
    double slowest[3][RUNS];
    bool fine = true;
    for (int i = 0; i < RUNS && fine; i++) {
        fine = run_once(&renewing) && run_once(&fixed) && fixed.renewals == 0;
        slowest[0][i] = renewing.slowest_ns;
        slowest[1][i] = fixed.slowest_ns;
        slowest[2][i] = slowest_reading();
    }
    if (!fine) {
        figure none = {.name = "renewer", .ns = -1};
        snprintf(none.note, sizeof none.note, "no window was held throughout: %.70s%.50s",
                 renewing.error.text, fixed.error.text);
        put_figure(&none);
        return;
    }
    figure entered = {
        .name = "calls-in-the-store", .calls = renewing.entered, .among = renewing.calls};
    snprintf(entered.note, sizeof entered.note,
             "goal 0; of %lld firn_next beside a renewer (%lld refused: it came late), windows of "
             "200 ms, a store of 5 ms",
             (long long)renewing.calls, (long long)renewing.refused);
    put_figure(&entered);
    put_slowest(slowest[0], slowest[1], slowest[2], renewing.renewals);
}
