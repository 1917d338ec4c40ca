/* SPDX-License-Identifier: MIT */
/* The cycle counter and the random numbers of x86 and of 64-bit ARM: see processor.h. Does not know
 * who uses them. */
#include "processor.h"

#include "clock.h"

#include <sha2.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
/* As in simd.c: the C library has asked the processor already. */
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
static bool has_random(void) {
    return CPU_FEATURE_PRESENT(RDRAND);
}
#else
#include <cpuid.h>
static bool has_random(void) {
    static _Atomic int known; /* 1: it has not, 2: it has */
    int now = atomic_load_explicit(&known, memory_order_relaxed);
    if (now == 0) {
        unsigned a, b, c = 0, d;
        now = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_RDRND) != 0 ? 2 : 1;
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    return now == 2;
}
#endif
static uint64_t random_word(void) {
    unsigned long drawn = 0;
    unsigned char valid = 0;
    if (has_random()) {
        __asm__ volatile("rdrand %0\n\tsetc %1" : "=r"(drawn), "=qm"(valid) : : "cc");
    }
    return valid != 0 ? drawn : 0;
}
#elif defined(__aarch64__)
#include <sys/auxv.h>
#define HAS_RNDR (1UL << 16) /* HWCAP2_RNG, which older headers do not name */
static uint64_t random_word(void) {
    uint64_t drawn = 0, valid = 0;
    if ((getauxval(AT_HWCAP2) & HAS_RNDR) != 0) {
        __asm__ volatile("mrs %0, s3_3_c2_c4_0\n\tcset %1, ne" : "=r"(drawn), "=r"(valid) : : "cc");
    }
    return valid != 0 ? drawn : 0;
}
#else
static uint64_t random_word(void) {
    return 0;
}
#endif

firn__noise firn__processor_noise(void) {
    firn__noise noise = {firn__cycles(), random_word()};
    struct timespec now;
    if (noise.cycles == 0 && clock_gettime(CLOCK_MONOTONIC, &now) == 0) {
        noise.cycles = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    }
    return noise;
}

void firn__processor_hash(uint8_t seed[32], const firn__noise *noise) {
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, seed, 32);
    SHA256Update(&context, (const uint8_t *)&noise->cycles, sizeof noise->cycles);
    SHA256Update(&context, (const uint8_t *)&noise->drawn, sizeof noise->drawn);
    SHA256Final(seed, &context);
    explicit_bzero(&context, sizeof context);
}
