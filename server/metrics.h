/* SPDX-License-Identifier: MIT */
/* The server's counters as Prometheus reads them (text format 0.0.4). Reads what others count. */
#ifndef FIRN_METRICS_H
#define FIRN_METRICS_H

#include "text.h"

/* Writes all of them. Any thread, no lock but the keepers' own. */
void metrics_write(text_out *to);

#endif
