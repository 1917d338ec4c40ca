/* SPDX-License-Identifier: MIT */
/* Writers and readers of usual forms and widths by vector instructions. One version is chosen for
 * the processor when the first text is written or read. What it lacks is done by text.c and
 * parse.c, which the tests compare each version with. */
#ifndef FIRN_SIMD_H
#define FIRN_SIMD_H

#include "text.h"

#include <stdatomic.h>

typedef struct firn__simd {
    const char *name;
    firn__writer *write[FIRN_FORM_COUNT]; /* NULL: as firn__writers */
    firn__reader *read[FIRN_FORM_COUNT];  /* NULL: as firn__readers */
} firn__simd;

/* The version that is used; NULL: none is chosen yet. */
extern _Atomic(const firn__simd *) firn__simd_chosen;
/* Chooses the version for this processor; any number of threads may choose at once. */
void firn__simd_choose(void);
/* The i-th version that this processor runs, beginning with the version without extensions; NULL
 * after the last version, which firn chooses. */
const firn__simd *firn__simd_at(size_t i);

/* The versions that the compiler can build for its target. All of them are little-endian. */
#if defined(__x86_64__)
#define FIRN__SIMD_X86
extern const firn__simd firn__simd_ssse3;
#elif defined(__aarch64__) && defined(__ARM_NEON) && defined(__AARCH64EL__)
#define FIRN__SIMD_NEON
extern const firn__simd firn__simd_neon;
#endif

static inline const firn__simd *firn__simd_now(void) {
    return atomic_load_explicit(&firn__simd_chosen, memory_order_relaxed); /* constant data */
}

#endif
