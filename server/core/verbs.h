/* SPDX-License-Identifier: MIT */
/* NEW and RUNS: IDs of a generator or a scheme. Issuing takes no lock, allocates nothing after a
 * worker's first batch, and asks no store. */
#ifndef FIRN_IDS_H
#define FIRN_IDS_H

#include "request.h"

/* Finds the generator or scheme, and checks every parameter. FIRN_E codes as request_read. */
int ids_read_new(request *it, firn_error *error);
int ids_read_runs(request *it, firn_error *error);
/* FIRN_OK, REQUEST_LATER, REQUEST_TASK or a FIRN_E code, as request_answer. */
int ids_answer_new(request *it, size_t times, reply *out, firn_error *error);
int ids_answer_runs(request *it, reply *out, firn_error *error);
/* The reply to a NEW whose back-dated IDs a renewer has made. */
void ids_reply_dated(const request *it, const firn_id *ids, reply *out);

/* Finds the segment, and checks every parameter. FIRN_E codes as request_read. */
int integers_read(request *it, firn_error *error);
int integers_read_last(request *it, firn_error *error);
/* FIRN_OK, REQUEST_LATER, REQUEST_TASK or a FIRN_E code, as request_answer. */
int integers_answer(request *it, size_t times, reply *out, firn_error *error);
int integers_answer_last(const request *it, reply *out);
/* The reply to a request for a block that begins with `first`. */
void integers_reply(const request *it, int64_t first, reply *out);

/* Checks the parameters of such a request and answers it. */
int answer_pure(request *it, reply *out, firn_error *error);

int answer_status(const request *it, reply *out, firn_error *error);
int answer_spread(const request *it, reply *out, firn_error *error);
/* In the store's renewer's thread: what the store holds of a namespace, or of all (NULL). */
int answer_nodes(firn_store *store, const char *ns, json_t **out, firn_error *error);

#endif
