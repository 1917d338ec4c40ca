/* SPDX-License-Identifier: MIT */
/* What each thread keeps of a few generators: see thread.h. */
#include "thread.h"

FIRN_TLS firn__seen firn__seen_here[FIRN__SEEN] = {
    {.era = FIRN__NO_ERA}, {.era = FIRN__NO_ERA}, {.era = FIRN__NO_ERA}, {.era = FIRN__NO_ERA}};
_Static_assert(FIRN__SEEN == 4, "each begins without an era");
