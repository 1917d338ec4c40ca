/* SPDX-License-Identifier: MIT */
/* Wrong tokens: counted, logged, and delayed by address. Any thread. */
#ifndef FIRN_GUESSES_H
#define FIRN_GUESSES_H

#include "addresses.h"
#include "core/worker.h"

/* Counts a wrong token; `waited`: guess_delay_ms has counted it. */
void guess_note(address_key client, server_worker *worker, bool waited);
/* How many ms a token from this address waits before it is checked: 0 until several were wrong,
 * then more for each that waits, at most 3 s, so that nobody can lock out others of the same
 * address. Falls to 0 within 30 s after the last wrong one. */
int64_t guess_delay_ms(address_key client);

#endif
