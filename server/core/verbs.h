/* SPDX-License-Identifier: MIT */
/* What each verb does. answer.h calls these. */
#ifndef FIRN_VERBS_H
#define FIRN_VERBS_H

#include "request.h"

/* NEW and RUNS. Finds the generator or scheme and checks the parameters. Codes as request_read. */
int ids_read_new(request *it, firn_error *error);
int ids_read_runs(request *it, firn_error *error);
/* Sets the form and, if it takes one, the prefix: the requested ones, or the generator's or scheme's. */
int ids_read_form(request *it, const firn_scheme *scheme, bool takes_prefix, firn_error *error);
/* Codes as request_answer. */
int ids_answer_new(request *it, size_t times, reply *out, firn_error *error);
int ids_answer_runs(request *it, reply *out, firn_error *error);
/* The reply to a NEW whose IDs a renewer has back-dated. */
void ids_reply_dated(const request *it, const firn_id *ids, reply *out);

/* NEXT, BLOCK and LAST. Finds the segment and checks the parameters. Codes as request_read. */
int integers_read(request *it, firn_error *error);
int integers_read_last(request *it, firn_error *error);
/* Codes as request_answer. */
int integers_answer(request *it, size_t times, reply *out, firn_error *error);
int integers_answer_last(const request *it, reply *out);
/* The reply for a block that starts at `first`. */
void integers_reply(const request *it, int64_t first, reply *out);

/* PACK, SHOW, RANGE, CONVERT and SCHEMES: checks the parameters and answers. */
int answer_pure(request *it, reply *out, firn_error *error);

int answer_status(const request *it, reply *out, firn_error *error);
int answer_spread(const request *it, reply *out, firn_error *error);
int answer_choose(const request *it, reply *out, firn_error *error);
/* Renewer's thread: the holdings of a namespace, or of all (NULL). */
int answer_nodes(firn_store *store, const char *ns, json_t **out, firn_error *error);

#endif
