/* SPDX-License-Identifier: MIT */
/* The cache of each thread for a few generators: see thread_cache.h. */
#include "thread_cache.h"

FIRN_TLS firn__thread_view firn__thread_views[FIRN__SEEN] = {
    {.era = FIRN__NO_ERA}, {.era = FIRN__NO_ERA}, {.era = FIRN__NO_ERA}, {.era = FIRN__NO_ERA}};
_Static_assert(FIRN__SEEN == 4, "each begins without an era");
