/* SPDX-License-Identifier: MIT */
/* Quotas in IDs per second, of a token and of an address: after a pause, up to one second's IDs are
 * available at once. Any thread; takes no lock for a token. */
#ifndef FIRN_QUOTA_H
#define FIRN_QUOTA_H

#include "addresses.h"
#include "core/access.h"

/* How many of `times` requests of `each` IDs are within the quotas; 0: refused, with the reason.
 * FIRN_ERANGE: `each` exceeds a quota, so it never will be. FIRN_EWINDOW: it is after *wait_ms. */
size_t quota_allows(const access_pass *pass, address_key from, size_t times, int64_t each,
                    int64_t *wait_ms, firn_error *error);
/* Counts issued IDs. Threads that were allowed at the same time may exceed a quota once; they then
 * wait longer. */
void quota_spend(const access_pass *pass, address_key from, int64_t ids);

#endif
