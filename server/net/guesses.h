/* SPDX-License-Identifier: MIT */
/* Wrong tokens: counted, logged, and slowed down by the address they come from. Any thread. */
#ifndef FIRN_GUESSES_H
#define FIRN_GUESSES_H

#include "addresses.h"
#include "core/worker.h"

/* A wrong token came from there; `waited`: guess_delay_ms has counted it as one that waits. */
void guess_note(address_key from, worker *at, bool waited);
/* How long this token from there has to wait before anybody looks whether it is right: 0 until
 * several were wrong, then more for each that waits, and 3 s at most, so that nobody can lock out another client of his address.
 * Falls to 0 within half a minute after the last wrong one. */
int64_t guess_delay_ms(address_key from);

#endif
