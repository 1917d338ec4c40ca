/* SPDX-License-Identifier: MIT */
/* Memory that a fork wipes: what lives in it belongs to one process, and a child finds zeros. */
#ifndef FIRN_WIPED_H
#define FIRN_WIPED_H

#include <firn/firn.h>

/* `size` zero bytes, page-aligned, that read as zero again in every child, however it was made;
 * munmap frees them. NULL: FIRN_EMEMORY or FIRN_ESYSTEM, which *code tells too. */
void *firn__wiped(size_t size, int *code, firn_error *error);

#endif
