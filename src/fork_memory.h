/* SPDX-License-Identifier: MIT */
/* Memory that a fork wipes: what is in it belongs to one process, and a child finds zeros. */
#ifndef FIRN_FORK_MEMORY_H
#define FIRN_FORK_MEMORY_H

#include <firn/firn.h>

/* `size` zero bytes, page-aligned, that read as zero again in every child. NULL: FIRN_EMEMORY or
 * FIRN_ESYSTEM, which *code has too. */
void *firn__wiped(size_t size, int *code, firn_error *error);
void firn__wiped_free(void *page, size_t size);

/* State that another copy of the process may hold too, by the order in which firn_renew_identity
 * drops it: another thread that replaces a dropped reservation draws from new random bytes, and a
 * dropped ID is replaced from a new reservation. Marks are what handles of stores remember: the
 * other copy may give them back. */
enum firn__renew_rank {
    FIRN__RENEW_RANDOM,
    FIRN__RENEW_MARKS,
    FIRN__RENEW_RESERVED,
    FIRN__RENEW_ISSUED
};

/* `renew` drops what is in the memory, as a fork would wipe it: firn_renew_identity calls it in any
 * thread while others use the memory. It must not wait, and not free or make wiped memory. */
void firn__wiped_renews(void *page, size_t size, enum firn__renew_rank rank,
                        void (*renew)(void *page));
/* Calls `renew` of all memory with this rank. */
void firn__wiped_renew(enum firn__renew_rank rank);

/* False: the kernel wipes, and this was checked. True: it does not, or it could not be checked, and
 * each call that reads wiped memory must begin with firn__wiped_look. */
bool firn__wiped_watch(void);
/* Whether this process may call a library with locks: no thread lost in a fork can hold one. True
 * in the first process that came here, and in a child that fork() made of a process with one
 * thread. */
bool firn__wiped_may_load(void);
/* In a child that has not looked yet: wipes what it inherited. Costs a load where the kernel wipes,
 * else a system call. */
void firn__wiped_look(void);
/* The process's number: a child has another one than its parent. A system call. */
int64_t firn__process(void);
/* Is this a child of the process that had the number? 0: nobody asked for one. */
static inline bool firn__forked_since(int64_t process) {
    return process != 0 && firn__process() != process;
}

#endif
