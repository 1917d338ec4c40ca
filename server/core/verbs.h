/* SPDX-License-Identifier: MIT */
/* The functions of the verbs. answer.h calls them. */
#ifndef FIRN_VERBS_H
#define FIRN_VERBS_H

#include "request.h"

/* NEW and RUNS. Finds the generator or scheme and checks the parameters. Codes as request_read. */
int ids_read_new(server_request *request, firn_error *error);
int ids_read_runs(server_request *request, firn_error *error);
/* Sets the form and, if it takes one, the prefix: the requested ones, or the generator's or
 * scheme's. */
int ids_read_form(server_request *request, const firn_scheme *scheme, bool takes_prefix,
                  firn_error *error);
/* Codes as request_answer. */
int ids_answer_new(server_request *request, size_t times, server_reply *out, firn_error *error);
int ids_answer_runs(server_request *request, server_reply *out, firn_error *error);
/* The reply to a NEW with back-dated IDs, which it masks in place. Codes as masks_apply. */
int ids_reply_dated(const server_request *request, firn_id *ids, server_reply *out,
                    firn_error *error);

/* NEXT, BLOCK and LAST. Finds the segment and checks the parameters. Codes as request_read. */
int integers_read(server_request *request, firn_error *error);
int integers_read_last(server_request *request, firn_error *error);
/* Codes as request_answer. */
int integers_answer(server_request *request, size_t times, server_reply *out, firn_error *error);
int integers_answer_last(const server_request *request, server_reply *out);
/* The reply for a block that starts at `first`. */
void integers_reply(const server_request *request, int64_t first, server_reply *out);

/* SERIES (series.c). Finds the series and checks the parameters. FIRN_EUSAGE, FIRN_ERANGE,
 * FIRN_ETEXT. */
int series_read(server_request *request, firn_error *error);
/* The reply of numbers: an array, or over RESP without COUNT one. */
int series_reply(const server_request *request, char (*texts)[FIRN_SERIES_SIZE], server_reply *out,
                 firn_error *error);

/* PACK, SHOW, RANGE, CONVERT and SCHEMES: checks the parameters and answers. */
int answer_pure(server_request *request, server_reply *out, firn_error *error);

/* MASK and UNMASK (masks.c). */
int answer_mask(server_request *request, server_reply *out, firn_error *error);

int answer_status(const server_request *request, server_reply *out, firn_error *error);
int answer_spread(const server_request *request, server_reply *out, firn_error *error);
int answer_choose(const server_request *request, server_reply *out, firn_error *error);
/* Renewer's thread: the holdings of a namespace, or of all (NULL). */
int answer_nodes(firn_store *store, const char *ns, json_t **out, firn_error *error);

#endif
