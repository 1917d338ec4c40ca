/* SPDX-License-Identifier: MIT */
/* Quotas in IDs per second, of a token and of an address: after a pause, up to one second's IDs are
 * available at once. Any thread; takes no lock for a token. */
#ifndef FIRN_QUOTA_H
#define FIRN_QUOTA_H

#include "addresses.h"
#include "core/access.h"

/* The charge of a request to the quotas. All zero: nothing. */
typedef struct quota_charge {
    account *account;
    address_key from;
    int64_t ids;
    int64_t token_ids_s, address_ids_s; /* the quotas at that time; 0: none was charged */
    int64_t token_until, address_until; /* of quota.c, after the charge */
} quota_charge;

/* Charges up to `times` requests of `each` IDs before they are issued, as many as are within the
 * quotas, and returns their number; 0: refused, with the reason. FIRN_ERANGE: `each` exceeds a
 * quota, so it never will be. FIRN_EWINDOW: it is after *wait_ms. */
size_t quota_charge_to(quota_charge *charge, const access_pass *pass, address_key client,
                       size_t times, int64_t each, int64_t *wait_ms, firn_error *error);
/* Keeps the charge for `ids` of them, which were issued or may have been, and gives the rest back.
 * The charge is settled then: again does nothing. */
void quota_settle(quota_charge *charge, int64_t ids);

#endif
