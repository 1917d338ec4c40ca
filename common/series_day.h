/* SPDX-License-Identifier: MIT */
/* Times for a series as people write them: a date alone is a day of the series' time zone. */
#ifndef FIRN_SERIES_DAY_H
#define FIRN_SERIES_DAY_H

#include <firn/firn.h>

/* Reads what firn_time_parse reads; of a date alone, as in 2026-11-20, the noon of that day in the
 * zone of the series, since midnight can be missing there. FIRN_ETEXT; errors of
 * firn_zone_open. */
int series_day_read(firn_time *time, const firn_series *series, const char *text, size_t length,
                    firn_error *error);

#endif
