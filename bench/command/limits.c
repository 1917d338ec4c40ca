/* SPDX-License-Identifier: MIT */
/* Limits: bare loops of work that no generator can avoid. They check nothing and issue nothing. */
#include "bench.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
static inline uint64_t counter(void) {
    return __builtin_ia32_rdtsc();
}
#define COUNTS_100_US 200000 /* at 2 GHz */
#elif defined(__aarch64__)
static inline uint64_t counter(void) {
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
}
#define COUNTS_100_US 2500 /* at 25 MHz */
#else
static inline uint64_t counter(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
#define COUNTS_100_US 100000
#endif

static uint64_t clock_ms(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- the loop of a snowflake ----------------------------------------------------------------- */

static _Alignas(64) _Atomic uint64_t cursor;
static _Alignas(64) _Atomic uint64_t seen_at, seen_ms;

static inline uint64_t take(uint64_t ms) {
    uint64_t first = (ms - UINT64_C(1288834974657)) << 12, next;
    uint64_t slot = atomic_load_explicit(&cursor, memory_order_relaxed);
    do {
        next = slot + 1 > first ? slot + 1 : first;
    } while (!atomic_compare_exchange_weak(&cursor, &slot, next));
    return next >> 12 << 22 | UINT64_C(33) << 12 | (next & 4095);
}

static __attribute__((noinline)) uint64_t next_fresh(void) {
    uint64_t now = counter(), ms;
    if (now - atomic_load_explicit(&seen_at, memory_order_acquire) > COUNTS_100_US) {
        ms = clock_ms(CLOCK_REALTIME);
        atomic_store_explicit(&seen_ms, ms, memory_order_relaxed);
        atomic_store_explicit(&seen_at, now, memory_order_release);
    } else {
        ms = atomic_load_explicit(&seen_ms, memory_order_relaxed);
    }
    return take(ms);
}

static __attribute__((noinline)) uint64_t next_coarse(void) {
    return take(clock_ms(CLOCK_REALTIME_COARSE));
}

#define LOOP(name, expression)                                                                     \
    static bool work_##name(void *context, uint64_t n) {                                           \
        (void)context;                                                                             \
        for (uint64_t i = 0; i < n; i++) {                                                         \
            uint64_t value = expression;                                                           \
            BENCH_KEEP(value);                                                                     \
        }                                                                                          \
        return true;                                                                               \
    }
LOOP(loop, next_fresh())
LOOP(loop_coarse, next_coarse())
LOOP(counter, counter())
LOOP(coarse, clock_ms(CLOCK_REALTIME_COARSE))
LOOP(swap, take(1288834974657))

static bool run_alone(bench_run *run, bool (*work)(void *, uint64_t), const char *note) {
    run->work = work;
    snprintf(run->note, sizeof run->note, "%s", note);
    return true;
}

static bool run_twice(bench_run *run, bool (*work)(void *, uint64_t), const char *note) {
    if (bench_processors() < 2) {
        snprintf(run->note, sizeof run->note, "needs two processors");
        return false;
    }
    run->threads = 2;
    return run_alone(run, work, note);
}

bool bench_loop(bench_run *run) {
    return run_alone(run, work_loop, "cycle counter, compare-and-swap, two shifts");
}
bool bench_loop_coarse(bench_run *run) {
    return run_alone(run, work_loop_coarse, "coarse clock, compare-and-swap, two shifts");
}
bool bench_counter(bench_run *run) {
    return run_alone(run, work_counter, "the cycle counter alone");
}
bool bench_coarse(bench_run *run) {
    return run_alone(run, work_coarse, "the coarse clock alone");
}
bool bench_swap_threads(bench_run *run) {
    return run_twice(run, work_swap, "compare-and-swap of one word by two threads");
}
bool bench_loop_threads(bench_run *run) {
    return run_twice(run, work_loop, "cycle counter, compare-and-swap, two shifts, on two threads");
}
bool bench_coarse_threads(bench_run *run) {
    return run_twice(run, work_coarse, "the coarse clock alone, on two threads");
}

/* ---- writing --------------------------------------------------------------------------------- */

enum { NUMBERS = 1024 }; /* IDs per call of bench_bulk_u64 */
static uint64_t numbers[NUMBERS];

static bool work_fill(void *context, uint64_t n) {
    typedef uint64_t pair __attribute__((vector_size(16)));
    pair *out = context;
    for (uint64_t i = 0; i < n; i++) {
        pair value = {i, i + 1};
        for (int j = 0; j < NUMBERS / 2; j++) {
            memcpy(&out[j], &value, sizeof value);
            value += 2;
        }
        BENCH_KEEP(numbers);
    }
    return true;
}

bool bench_fill(bench_run *run) {
    run->context = numbers;
    run->ids = NUMBERS;
    return run_alone(run, work_fill, "writes consecutive integers into the nearest cache");
}

static bool work_copy_text(void *context, uint64_t n) {
    static char from[64][40];
    char to[40];
    (void)context;
    for (uint64_t i = 0; i < n; i++) {
        memcpy(to, from[i % 64], sizeof to);
        BENCH_KEEP(to);
    }
    return true;
}

bool bench_copy_text(bench_run *run) {
    return run_alone(run, work_copy_text, "copies 40 characters");
}

/* ---- randomness ------------------------------------------------------------------------------ */

enum { REFILL = 4096, SEED = 32 };
static unsigned char random_bytes[REFILL];

static bool work_kernel(void *context, uint64_t n) {
    (void)context;
    for (uint64_t i = 0; i < n; i++) {
        if (getrandom(random_bytes, sizeof random_bytes, 0) != REFILL) {
            return false;
        }
        BENCH_KEEP(random_bytes);
    }
    return true;
}

bool bench_kernel_random(bench_run *run) {
    run->ids = REFILL / 16;
    return run_alone(run, work_kernel, "getrandom of 4 KiB, per 16 bytes");
}

/* libcrypto's functions, by name so that the command does not depend on it. */
static struct {
    void *(*context_new)(void);
    void *(*fetch)(void *, const char *, const char *);
    int (*init)(void *, const void *, const unsigned char *, const unsigned char *, const void *);
    int (*update)(void *, unsigned char *, int *, const unsigned char *, int);
} aes;
static void *aes_context, *aes_cipher;

static bool refill(void) {
    static const unsigned char zeros[REFILL];
    unsigned char seed[SEED];
    int length;
    return getrandom(seed, sizeof seed, 0) == SEED &&
           aes.init(aes_context, aes_cipher, seed, zeros, NULL) == 1 &&
           aes.update(aes_context, random_bytes, &length, zeros, REFILL) == 1;
}

static bool work_aes(void *context, uint64_t n) {
    (void)context;
    for (uint64_t i = 0; i < n; i++) {
        if (!refill()) {
            return false;
        }
        BENCH_KEEP(random_bytes);
    }
    return true;
}

/* The work that uuid4 in bulk cannot avoid: bytes are masked into IDs, and erased. */
static bool work_aes_ids(void *context, uint64_t n) {
    static firn_id ids[REFILL / 16];
    (void)context;
    for (uint64_t i = 0; i < n; i++) {
        if (!refill()) {
            return false;
        }
        for (size_t k = 0; k < REFILL / 16; k++) {
            uint64_t words[2];
            memcpy(words, random_bytes + 16 * k, sizeof words);
            ids[k] = (firn_id){(words[0] & UINT64_C(0x3fffffffffffffff)) | UINT64_C(1) << 63,
                               (words[1] & ~UINT64_C(0xf000)) | 0x4000, 0, 128};
        }
        memset(random_bytes, 0, sizeof random_bytes);
        BENCH_KEEP(ids);
    }
    return true;
}

static bool load_aes(bench_run *run) {
    static const char *const names[] = {"EVP_CIPHER_CTX_new", "EVP_CIPHER_fetch",
                                        "EVP_EncryptInit_ex2", "EVP_EncryptUpdate"};
    void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL), *symbols[4];
    for (int i = 0; i < 4; i++) {
        symbols[i] = library != NULL ? dlsym(library, names[i]) : NULL;
        if (symbols[i] == NULL) {
            snprintf(run->note, sizeof run->note, "libcrypto.so.3 is missing: install libssl3");
            return false;
        }
    }
    if (aes_context == NULL) {
        memcpy(&aes, symbols, sizeof symbols);
        aes_context = aes.context_new();
        aes_cipher = aes.fetch(NULL, "AES-256-CTR", NULL);
    }
    return aes_context != NULL && aes_cipher != NULL;
}

bool bench_aes(bench_run *run) {
    run->ids = REFILL / 16;
    return load_aes(run) &&
           run_alone(
               run, work_aes,
               "libcrypto's AES-256-CTR with a new seed of the kernel per 4 KiB, per 16 bytes");
}

bool bench_aes_ids(bench_run *run) {
    run->ids = REFILL / 16;
    return load_aes(run) &&
           run_alone(run, work_aes_ids, "the same, masked into IDs of 24 bytes and erased, per ID");
}

/* ---- the loops with random bits -------------------------------------------------------------- */

/* 8 bytes that a refill made. */
static inline uint64_t take_random(void) {
    static size_t left;
    uint64_t bits;
    if (left == 0) {
        left = refill() ? REFILL / sizeof bits : 1;
    }
    left--;
    memcpy(&bits, random_bytes + left * sizeof bits, sizeof bits);
    return bits;
}

LOOP(loop_random, next_fresh() ^ take_random())
LOOP(loop_coarse_random, next_coarse() ^ take_random())

bool bench_loop_random(bench_run *run) {
    return load_aes(run) &&
           run_alone(run, work_loop_random,
                     "the own loop, and 8 bytes of AES-256-CTR, reseeded per 4 KiB");
}
bool bench_loop_coarse_random(bench_run *run) {
    return load_aes(run) &&
           run_alone(run, work_loop_coarse_random, "the same with the coarse clock");
}
