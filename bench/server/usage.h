/* SPDX-License-Identifier: MIT */
/* Processor time of processes, all threads together, and their memory. */
#ifndef FIRN_BENCH_USAGE_H
#define FIRN_BENCH_USAGE_H

#include <stdint.h>
#include <sys/types.h>

#define PIDS_MAX 64

/* The time on processors in ns, by the scheduler's own books; threads that have ended are not in
 * it. -1: the kernel keeps no such books, or a process is gone. */
int64_t usage_cpu_ns(const pid_t pids[], int count);

#endif
