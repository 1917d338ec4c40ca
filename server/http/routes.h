/* SPDX-License-Identifier: MIT */
/* The paths that are served: routes.def as a table. */
#ifndef FIRN_ROUTES_H
#define FIRN_ROUTES_H

#include "exchange.h"

/* The route of a path, and the part of the path that is the name, still encoded. NULL: no route. */
const route *route_find(const char *path, word *name);

#endif
