/* SPDX-License-Identifier: MIT */
/* The harness: the cases of a group take turns in short bursts, and a loop of independent additions
 * before and after each burst shows whether the hardware thread was alone on its core. Nothing else
 * shows a busy neighbour of another guest: the clock rate stays, but the execution units are
 * shared. */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ROUNDS = 1000,
    PATIENCE = 5, /* rounds, by those wanted, until enough have a clear mode */
    THREAD_ROUNDS = 200,
    CONTESTANTS = 8,
    TRIES = 3,
    THREAD_OPERATIONS = 1 << 15
};
#define BURST_NS 1e4  /* bursts are at least this long */
#define WARM_NS  2e7  /* what comes first is not measured */
#define ALONE    0.93 /* of the best rate of additions: at least */
#define SHARED   0.85 /* at most */
#define TOGETHER 0.85 /* of a burst: several threads are at work at the same time, at least */
#define AT_WORK  0.9  /* of a thread's time: it has a processor, at least */

double bench_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static cpu_set_t mine;

int bench_processors(void) {
    static bool known;
    if (!known) { /* before the first binding narrows it */
        known = sched_getaffinity(0, sizeof mine, &mine) == 0;
    }
    return known ? CPU_COUNT(&mine) : 1;
}

bool bench_pin(int i) {
    cpu_set_t set;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && i < bench_processors(); cpu++) {
        if (CPU_ISSET(cpu, &mine) && i-- == 0) {
            CPU_ZERO(&set);
            CPU_SET(cpu, &set);
            return sched_setaffinity(0, sizeof set, &set) == 0;
        }
    }
    return false;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_middle(double times[], int count) {
    qsort(times, (size_t)count, sizeof times[0], compare);
    return times[count / 2];
}

/* ---- the two modes --------------------------------------------------------------------------- */

#define ADD6                                                                                       \
    a++, b++, c++, d++, e++, f++;                                                                  \
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));

/* Additions per ns that do not wait for each other. */
static double addition_rate(void) {
    uint64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;
    double start = bench_now_ns();
    for (int i = 0; i < 500; i++) {
        ADD6 ADD6 ADD6 ADD6 ADD6 ADD6 ADD6 ADD6 ADD6 ADD6
    }
    return 500 * 60 / (bench_now_ns() - start);
}

static double best_rate;

double bench_best_rate(void) {
    return best_rate;
}

void bench_set_best_rate(double rate) {
    best_rate = rate;
}

static void find_best_rate(void) {
    for (int i = 0; i < 3000; i++) {
        double rate = addition_rate();
        best_rate = rate > best_rate ? rate : best_rate;
    }
}

/* A burst, and the rates around it. */
typedef struct rate_sample {
    double ns, low_rate, high_rate;
    bool broken; /* a thread of several was not at work all the time */
} rate_sample;

static void note_rate(rate_sample *sample, double rate) {
    sample->low_rate = sample->low_rate == 0 || rate < sample->low_rate ? rate : sample->low_rate;
    sample->high_rate = rate > sample->high_rate ? rate : sample->high_rate;
}

/* ---- bursts ---------------------------------------------------------------------------------- */

typedef struct racer {
    bench_run *run;
    _Atomic int *waiting; /* how many threads have not started */
    uint64_t n;
    int number;
    double start, end, cpu_ns;
    rate_sample rates;
    bool fine;
} racer;

static double thread_cpu_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

static void *race(void *context) {
    racer *r = context;
    bench_pin(r->number % bench_processors());
    note_rate(&r->rates, addition_rate());
    (*r->waiting)--;
    while (*r->waiting > 0) { /* until all are here; each is a moment away */
        sched_yield();
    }
    r->start = bench_now_ns();
    r->cpu_ns = thread_cpu_ns();
    r->fine = r->run->work(r->run->context, r->n);
    r->cpu_ns = thread_cpu_ns() - r->cpu_ns;
    r->end = bench_now_ns();
    note_rate(&r->rates, addition_rate());
    return NULL;
}

enum { RACERS = 64 };

static double race_all(bench_run *run, int count, uint64_t n, double *cpu_ns, rate_sample *rates) {
    static racer racers[RACERS];
    pthread_t threads[RACERS];
    _Atomic int waiting = count;
    double start = 0, last_start = 0, end = 0, first_end = 0;
    bool fine = true;
    for (int i = 0; i < count; i++) {
        racers[i] = (racer){.run = run, .waiting = &waiting, .n = n, .number = i};
        if (pthread_create(&threads[i], NULL, race, &racers[i]) != 0) {
            abort(); /* the others would wait for ever */
        }
    }
    for (int i = 0; i < count; i++) {
        const racer *r = &racers[i];
        pthread_join(threads[i], NULL);
        start = i == 0 || r->start < start ? r->start : start;
        last_start = r->start > last_start ? r->start : last_start;
        end = r->end > end ? r->end : end;
        first_end = i == 0 || r->end < first_end ? r->end : first_end;
        *cpu_ns += r->cpu_ns;
        note_rate(rates, r->rates.low_rate);
        note_rate(rates, r->rates.high_rate);
        fine = fine && r->fine;
    }
    rates->broken = first_end - last_start < TOGETHER * (end - start) ||
                    *cpu_ns < AT_WORK * count * (end - start);
    return fine ? end - start : -1;
}

double bench_threads(bench_run *run, int threads, uint64_t n, double *cpu_ns) {
    rate_sample rates = {0};
    double used = 0;
    if (run->rest != NULL) {
        run->rest(run->context);
    }
    double took = race_all(run, threads, n, &used, &rates);
    if (cpu_ns != NULL) {
        *cpu_ns = used;
    }
    return took;
}

/* False: the work failed. */
static bool burst(bench_run *run, rate_sample *sample) {
    double cpu_ns = 0;
    *sample = (rate_sample){0};
    if (run->rest != NULL) {
        run->rest(run->context);
    }
    if (run->threads > 0) {
        sample->ns = race_all(run, run->threads, run->n, &cpu_ns, sample);
    } else {
        note_rate(sample, addition_rate());
        double start = bench_now_ns();
        bool fine = run->work(run->context, run->n);
        sample->ns = fine ? bench_now_ns() - start : -1;
        note_rate(sample, addition_rate());
    }
    bool fine = sample->ns >= 0;
    sample->ns /= (double)run->n * run->ids * (run->threads > 0 ? run->threads : 1);
    return fine;
}

/* Doubles the operations of a burst until even the shortest of some bursts is long enough. For
 * WARM_NS at least, because a generator is slower at first: it does not know the rate of the cycle
 * counter, and random bits come from the kernel. */
static bool calibrate(bench_run *run) {
    double shortest = 0, begun = bench_now_ns();
    if (run->threads > 0) { /* new threads in each burst: what they do first must not count */
        rate_sample sample;
        run->n = 4 * THREAD_OPERATIONS; /* random bits come from the kernel at first */
        bool fine = burst(run, &sample);
        run->n = THREAD_OPERATIONS;
        return fine;
    }
    for (run->n = 1; run->n < UINT64_C(1) << 40;) {
        for (int i = 0; i < (run->slow ? 1 : TRIES); i++) {
            rate_sample sample;
            if (!burst(run, &sample)) {
                return false;
            }
            double took = sample.ns * (double)run->n * run->ids;
            shortest = i == 0 || took < shortest ? took : shortest;
        }
        if (run->slow || (shortest >= BURST_NS && bench_now_ns() - begun >= WARM_NS)) {
            return true;
        }
        run->n *= shortest < BURST_NS ? 2 : 1;
    }
    return true;
}

/* ---- a group --------------------------------------------------------------------------------- */

typedef struct contestant {
    bench_run run;
    bench_result *result;
    rate_sample samples[ROUNDS];
    int count;
    bool open, failed;
} contestant;

/* BENCH_MODES: between the modes, or interrupted. */
static enum bench_mode mode_of(const contestant *self, const rate_sample *sample) {
    return sample->broken                            ? BENCH_MODES
           : self->run.slow                          ? BENCH_ALL
           : sample->low_rate >= ALONE * best_rate   ? BENCH_ALONE
           : sample->high_rate <= SHARED * best_rate ? BENCH_SHARED
                                                     : BENCH_MODES;
}

static void summarize(contestant *self) {
    static double times[ROUNDS];
    bench_result *result = self->result;
    for (int mode = 0; mode < BENCH_MODES; mode++) {
        int count = 0;
        for (int i = 0; i < self->count; i++) {
            if ((int)mode_of(self, &self->samples[i]) == mode) {
                times[count++] = self->samples[i].ns;
            }
        }
        result->samples[mode] = count;
        result->median[mode] = count > 0 ? bench_middle(times, count) : 0;
        result->least[mode] = count > 0 ? times[0] : 0;
    }
    result->measured = true;
    result->sustained_ns = self->run.sustained_ns;
}

static void enter(contestant *self, const bench_case *about, const bench_api *api,
                  bench_result *result) {
    self->run = (bench_run){.about = about, .api = api, .ids = 1};
    self->result = result;
    self->count = 0;
    self->open = about->open(&self->run);
    self->failed = !self->open || !calibrate(&self->run);
}

/* Runs a burst, and keeps it if its mode is clear. False: the contestant has enough bursts. */
static bool take_turn(contestant *self, int round) {
    int wanted = self->run.slow ? BENCH_REPEATS : self->run.threads > 0 ? THREAD_ROUNDS : ROUNDS;
    int patience = self->run.threads > 0 ? 2 : PATIENCE;
    if (self->failed || self->count >= wanted || round >= wanted * patience) {
        return false;
    }
    rate_sample *sample = &self->samples[self->count];
    self->failed = !burst(&self->run, sample);
    self->count += mode_of(self, sample) != BENCH_MODES;
    return true;
}

/* Everything that was entered, in turn; the first one changes, so that none always follows the
 * same. */
static void take_turns(contestant *all, int count) {
    bool busy = true;
    for (int round = 0; round < ROUNDS * PATIENCE && busy; round++) {
        busy = false;
        for (int i = 0; i < count; i++) {
            busy = take_turn(&all[(i + round) % count], round) || busy;
        }
    }
    for (int i = 0; i < count; i++) {
        contestant *self = &all[i];
        if (!self->failed) {
            summarize(self);
        }
        memcpy(self->result->note, self->run.note, sizeof self->run.note);
        if (self->open && self->run.close != NULL) {
            self->run.close(&self->run);
        }
    }
}

void bench_group(bench_row *rows, size_t first, size_t end, const bench_api *own,
                 const bench_api *other) {
    static contestant all[CONTESTANTS];
    int count = 0;
    bench_pin(0);
    if (best_rate == 0) {
        find_best_rate();
    }
    for (size_t i = first; i < end; i++) {
        if (bench_cases[i].apart) {
            enter(&all[0], &bench_cases[i], own, &rows[i].own);
            take_turns(all, 1);
        }
    }
    for (size_t i = first; i < end && count + 1 < CONTESTANTS; i++) {
        const bench_case *about = &bench_cases[i];
        if (!about->apart) {
            enter(&all[count++], about, own, &rows[i].own);
        }
        if (about->kind == BENCH_OWN && other != NULL) {
            enter(&all[count++], about, other, &rows[i].other);
        }
    }
    take_turns(all, count);
}
