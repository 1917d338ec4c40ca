/* SPDX-License-Identifier: MIT */
/* SIGINT, SIGTERM and SIGHUP as something to ask about between batches, so that windows are
 * given back. A second signal ends the process at once,
 * if it comes long enough after the first one to be a wish of its own. */
#ifndef FIRN_INTERRUPT_H
#define FIRN_INTERRUPT_H

void interrupt_catch(void);
/* The signal that came, or 0. */
int interrupt_signal(void);

#endif
