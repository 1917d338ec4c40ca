/* SPDX-License-Identifier: MIT */
/* Memory that a fork wipes, from the kernel: pthread_atfork would miss _Fork and raw clone. Knows
 * nothing of what is kept in it. */
#include "wiped.h"

#include "error.h"
#include "plant.h"

#include <sys/mman.h>

void *firn__wiped(size_t size, int *code, firn_error *error) {
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        *code = firn__fail(error, FIRN_EMEMORY, "out of memory: %zu bytes could not be had", size);
        return NULL;
    }
    if (FIRN_PLANT != FIRN_PLANT_NOFORK && madvise(page, size, MADV_WIPEONFORK) != 0) {
        munmap(page, size);
        *code = firn__fail(error, FIRN_ESYSTEM,
                           "the kernel cannot wipe memory on fork: Linux 4.14 or later is needed");
        return NULL;
    }
    *code = FIRN_OK;
    return page;
}
