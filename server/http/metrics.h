/* SPDX-License-Identifier: MIT */
/* /metrics, for Prometheus. */
#ifndef FIRN_METRICS_H
#define FIRN_METRICS_H

#include "exchange.h"

enum MHD_Result page_metrics(exchange *it);

#endif
