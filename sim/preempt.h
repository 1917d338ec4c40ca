/* SPDX-License-Identifier: MIT */
/* In builds of the simulation, another thread may run before each atomic operation of the core, and
 * after a compare-and-swap, and a weak compare-and-swap may fail for nothing, as it does on other
 * processors. The cycle counter is the simulated machine's. Included by the compiler before the files of the core that threads meet in
 * (test/programs.cmake, add_firn_sim_core). */
#ifndef FIRN_SIM_PREEMPT_H
#define FIRN_SIM_PREEMPT_H

#include <stdatomic.h>
#include <stdbool.h>

void sim_preempt(void);
bool sim_spurious(void); /* preempts, too */
bool sim_after(bool value);

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_and
#undef atomic_fetch_and_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_weak_explicit

#ifdef __clang__
#define SIM_LOAD(at, order)         __c11_atomic_load(at, order)
#define SIM_STORE(at, value, order) __c11_atomic_store(at, value, order)
#define SIM_ADD(at, value)          __c11_atomic_fetch_add(at, value, __ATOMIC_SEQ_CST)
#define SIM_AND(at, value)          __c11_atomic_fetch_and(at, value, __ATOMIC_SEQ_CST)
#define SIM_SWAP(at, seen, value)                                                                  \
    __c11_atomic_compare_exchange_strong(at, seen, value, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#else
#define SIM_LOAD(at, order) __atomic_load_n(at, order)
#define SIM_STORE(at, value, order)                                                                \
    __extension__({                                                                                \
        __typeof__((void)0, *(at)) sim_value = (value);                                            \
        __atomic_store(at, &sim_value, order);                                                     \
    })
#define SIM_ADD(at, value) __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST)
#define SIM_AND(at, value) __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST)
#define SIM_SWAP(at, seen, value)                                                                  \
    __atomic_compare_exchange_n(at, seen, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#endif

#define atomic_load_explicit(at, order)                 (sim_preempt(), SIM_LOAD(at, order))
#define atomic_load(at)                                 atomic_load_explicit(at, __ATOMIC_SEQ_CST)
#define atomic_store_explicit(at, value, order)         (sim_preempt(), SIM_STORE(at, value, order))
#define atomic_store(at, value)                         atomic_store_explicit(at, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_add(at, value)                     (sim_preempt(), SIM_ADD(at, value))
#define atomic_fetch_add_explicit(at, value, o)         atomic_fetch_add(at, value)
#define atomic_fetch_and(at, value)                     (sim_preempt(), SIM_AND(at, value))
#define atomic_fetch_and_explicit(at, value, o)         atomic_fetch_and(at, value)
#define atomic_compare_exchange_strong(at, seen, value) (sim_preempt(), SIM_SWAP(at, seen, value))
#define atomic_compare_exchange_strong_explicit(at, seen, value, yes, no)                          \
    atomic_compare_exchange_strong(at, seen, value)
#define atomic_compare_exchange_weak(at, seen, value)                                              \
    (sim_spurious() ? (*(seen) = SIM_LOAD(at, __ATOMIC_SEQ_CST), false)                            \
                    : sim_after(SIM_SWAP(at, seen, value)))
#define atomic_compare_exchange_weak_explicit(at, seen, value, yes, no)                            \
    atomic_compare_exchange_weak(at, seen, value)

/* The cycle counter of the simulated machine. */
#include "clock.h"
uint64_t sim_cycles(void);
#define firn__cycles sim_cycles

#endif
