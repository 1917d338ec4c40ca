/* SPDX-License-Identifier: MIT */
/* Which versions of simd.h a compiler can build for its target. All of them are little-endian. */
#ifndef FIRN_SIMD_VERSIONS_H
#define FIRN_SIMD_VERSIONS_H

#include "simd.h"

#if defined(__x86_64__)
#define FIRN__SIMD_X86
extern const firn__simd firn__simd_ssse3;
#elif defined(__aarch64__) && defined(__ARM_NEON) && defined(__AARCH64EL__)
#define FIRN__SIMD_NEON
extern const firn__simd firn__simd_neon;
#endif

#endif
