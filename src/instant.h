/* SPDX-License-Identifier: MIT */
/* Times, for the inside of the library. */
#ifndef FIRN_INSTANT_H
#define FIRN_INSTANT_H

#include <firn/firn.h>

/* FIRN_ERANGE if `time->ns` is not 0..999999999. */
int firn__time_check(const firn_time *time, firn_error *error);

#endif
