/* SPDX-License-Identifier: MIT */
/* The paths of Leaf's server, answered as its server does: the bare number as text; failures as status
 * 500 with the object that its framework makes. */
#ifndef FIRN_LEAF_H
#define FIRN_LEAF_H

#include "exchange.h"

void leaf_read(request *asked);
enum MHD_Result leaf_write(exchange *it, const reply *of);
enum MHD_Result leaf_fail(exchange *it, int code, const firn_error *error);
enum MHD_Result leaf_decode(exchange *it);

#endif
