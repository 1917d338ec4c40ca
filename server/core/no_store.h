/* SPDX-License-Identifier: MIT */
/* A store that refuses every reservation at once. Opening a generator or a segment with it shows
 * whether it needs a store and whether its keys are right, without waiting for a store. */
#ifndef FIRN_NO_STORE_H
#define FIRN_NO_STORE_H

#include <firn/firn.h>

/* The main thread, once before and once after its use. */
int no_store_open(firn_error *error);
void no_store_close(void);
firn_store *no_store(void);

#endif
