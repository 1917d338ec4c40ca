/* SPDX-License-Identifier: MIT */
/* The simulation's program: runs seeds, several processes at once, and prints the lowest one that
 * failed. Every option is for replaying: see usage(). */
#include "sim.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 500 /* seeds per process; crashes leak pieces of address space */
#define JOBS  64

static int usage(void) {
    fputs("usage: firn_sim [--seeds A..B] [--jobs N]   runs the seeds A to B (default 1..100000)\n"
          "       firn_sim --seed N [--trace]          replays one, with what happened\n"
          "       firn_sim --self-check                shows the judge a planted duplicate\n",
          stderr);
    return 2;
}

static bool run_seed(uint64_t seed) {
    world_make(seed);
    fibers_run();
    world_free();
    if (!sim.failed) {
        steps_run();
    }
    return !sim.failed;
}

/* ---- many seeds ------------------------------------------------------------------------------ */

/* The memory that the processes share. */
typedef struct results {
    _Atomic uint64_t failed; /* the least seed that did; UINT64_MAX: none */
    _Atomic uint64_t seeds;
    _Atomic uint64_t counts[sizeof(counts) / sizeof(uint64_t)];
} results;

static void add_counts(results *all) {
    uint64_t numbers[sizeof(counts) / sizeof(uint64_t)];
    memcpy(numbers, &sim.counts, sizeof numbers);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        atomic_fetch_add(&all->counts[i], numbers[i]);
    }
}

static void note_failure(results *all, uint64_t seed) {
    uint64_t least = atomic_load(&all->failed);
    while (seed < least && !atomic_compare_exchange_weak(&all->failed, &least, seed)) {
    }
}

static results *common;

static void on_abort(int signal) {
    (void)signal;
    failed("an assertion does not hold");
    note_failure(common, sim.seed);
    _exit(0);
}

static void run_chunk(results *all, uint64_t from, uint64_t last) {
    common = all;
    signal(SIGABRT, on_abort);
    fibers_make();
    for (uint64_t seed = from; seed <= last; seed++) {
        alarm(300);
        sim.seed = seed;
        bool good = run_seed(seed);
        atomic_fetch_add(&all->seeds, 1);
        if (!good) {
            note_failure(all, seed);
            break;
        }
    }
    add_counts(all);
    exit(0); /* not _exit: gcov writes its counts */
}

static void await_one(results *all) {
    int status = 0;
    if (wait(&status) > 0 && status != 0) {
        printf("a process ended with status %x before its seeds were done\n", (unsigned)status);
        atomic_store(&all->failed, 0);
    }
}

static void run_all(results *all, uint64_t from, uint64_t last, unsigned jobs) {
    unsigned running = 0;
    for (uint64_t seed = from; seed <= last && atomic_load(&all->failed) == UINT64_MAX;
         seed += CHUNK) {
        uint64_t end = last - seed < CHUNK - 1 ? last : seed + CHUNK - 1;
        if (running == jobs) {
            await_one(all);
            running--;
        }
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            run_chunk(all, seed, end);
        }
        running += child > 0;
    }
    for (; running > 0; running--) {
        await_one(all);
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int run_many(uint64_t from, uint64_t last, unsigned jobs) {
    static const char *const names[] = {
#define SIM_X(name) #name,
        COUNTS(SIM_X)
#undef SIM_X
    };
    results *all =
        mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
        return 6;
    }
    atomic_store(&all->failed, UINT64_MAX);
    double start = seconds();
    run_all(all, from, last, jobs);
    double took = seconds() - start;
    uint64_t seeds = atomic_load(&all->seeds);
    printf("%llu seeds in %.1f s\n", (unsigned long long)seeds, took);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        printf("%s %llu%s", names[i], (unsigned long long)atomic_load(&all->counts[i]),
               i + 1 < sizeof names / sizeof names[0] ? ", " : "\n");
    }
    if (atomic_load(&all->failed) != UINT64_MAX) {
        printf("failed: seed %llu\n", (unsigned long long)atomic_load(&all->failed));
        return 1;
    }
    return 0;
}

/* ---- options --------------------------------------------------------------------------------- */

/* Which of several windows a thread takes follows from an address: without this a seed replays only
 * nearly. */
static void fix_addresses(char **arguments) {
    int old = personality(0xffffffff);
    if (old != -1 && !(old & ADDR_NO_RANDOMIZE) && getenv("FIRN_SIM_AGAIN") == NULL &&
        personality((unsigned long)old | ADDR_NO_RANDOMIZE) != -1) {
        setenv("FIRN_SIM_AGAIN", "1", 1);
        execv("/proc/self/exe", arguments);
    }
}

int main(int argc, char **argv) {
    uint64_t from = 1, last = 100000, item = 0;
    unsigned jobs = 1;
    bool check = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--seeds") == 0 && strstr(value, "..") != NULL) {
            from = strtoull(value, NULL, 10);
            last = strtoull(strstr(value, "..") + 2, NULL, 10);
            i++;
        } else if (strcmp(argv[i], "--seed") == 0 && (item = strtoull(value, NULL, 10)) > 0) {
            i++;
        } else if (strcmp(argv[i], "--jobs") == 0 && strtoul(value, NULL, 10) - 1 < JOBS) {
            jobs = (unsigned)strtoul(value, NULL, 10);
            i++;
        } else if (strcmp(argv[i], "--trace") == 0) {
            sim.trace = true;
        } else if (strcmp(argv[i], "--self-check") == 0) {
            check = true;
        } else {
            return usage();
        }
    }
    fix_addresses(argv);
    sim.plant_duplicate = check;
    if (item == 0) {
        return check ? run_many(1, 1000, 1) : run_many(from, last, jobs);
    }
    fibers_make();
    bool good = run_seed(item);
    printf("seed %llu: %s\n", (unsigned long long)item, good ? "good" : "failed");
    return good ? 0 : 1;
}
