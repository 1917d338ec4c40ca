/* SPDX-License-Identifier: MIT */
/* Memory of the heap where the library maps pages. */
#ifndef FIRN_WASM_MMAN_H
#define FIRN_WASM_MMAN_H

#include <stddef.h>

#define MAP_FAILED     ((void *)-1)
#define PROT_READ      1
#define PROT_WRITE     2
#define MAP_PRIVATE    2
#define MAP_ANONYMOUS  32
#define MREMAP_MAYMOVE 1
#define MADV_DONTNEED  4
#define MADV_HUGEPAGE  14
#define MADV_DONTDUMP  16

/* Anonymous memory only. */
void *mmap(void *memory, size_t size, int access, int kind, int file, long long offset);
void *mremap(void *memory, size_t old_size, size_t size, int flags);
int munmap(void *memory, size_t size);
static inline int madvise(void *memory, size_t size, int advice) {
    (void)memory, (void)size, (void)advice;
    return 0;
}

#endif
