/* SPDX-License-Identifier: MIT */
/* A store that refuses every reservation at once. Opening a generator or segment with it shows
 * whether it needs a store and whether its keys are valid. */
#ifndef FIRN_NO_STORE_H
#define FIRN_NO_STORE_H

#include <firn/firn.h>

/* Main thread, once each. */
int no_store_open(firn_error *error);
void no_store_close(void);
firn_store *no_store(void);

#endif
