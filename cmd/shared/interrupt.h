/* SPDX-License-Identifier: MIT */
/* SIGINT, SIGTERM and SIGHUP as something to ask about between batches, so that windows are
 * given back. A second signal ends the process at once,
 * if it comes long enough after the first one to be a second request. */
#ifndef FIRN_INTERRUPT_H
#define FIRN_INTERRUPT_H

#include "output.h"

/* The reader of `out` has 1 s after the first signal to read the output; the rest is dropped, at
 * the end of a line if `out` is a pipe. NULL: it has no limit. */
void interrupt_catch(output *out);
/* The signal that came, or 0. */
int interrupt_signal(void);

#endif
