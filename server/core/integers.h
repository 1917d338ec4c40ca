/* SPDX-License-Identifier: MIT */
/* NEXT, BLOCK and LAST: integers of a segment. Issuing takes no lock and asks no store. */
#ifndef FIRN_INTEGERS_H
#define FIRN_INTEGERS_H

#include "request.h"

/* Finds the segment, and checks every parameter. FIRN_E codes as request_read. */
int integers_read(request *it, firn_error *error);
int integers_read_last(request *it, firn_error *error);
/* FIRN_OK, REQUEST_LATER, REQUEST_TASK or a FIRN_E code, as request_answer. */
int integers_answer(request *it, size_t times, reply *out, firn_error *error);
int integers_answer_last(const request *it, reply *out);
/* The reply to a request for a block that begins with `first`. */
void integers_reply(const request *it, int64_t first, reply *out);

#endif
