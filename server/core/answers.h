/* SPDX-License-Identifier: MIT */
/* Answers that issue nothing: what is in an ID, an ID of its fields, bounds, other forms, the table.
 * Pure: no store, no generator's state, no clock. The ID or object is all that comes back. */
#ifndef FIRN_ANSWERS_H
#define FIRN_ANSWERS_H

#include "request.h"

/* Answers PACK, SHOW, RANGE, CONVERT, SCHEMES, of a request whose words are checked here. */
int answer_reading(request *it, reply *out, firn_error *error);
/* Answers STATUS and SPREAD: what is counted; takes nothing from anybody. */
int answer_status(const request *it, reply *out, firn_error *error);
int answer_spread(const request *it, reply *out, firn_error *error);
/* What the store of this renewer holds, of a namespace or of all (NULL): in its renewer's thread. */
int answer_nodes(firn_store *store, const char *ns, json_t **out, firn_error *error);

/* Whole numbers of least..most without a sign. FIRN_EUSAGE, FIRN_ERANGE. */
int read_count(int64_t *out, word key, word value, int64_t most, firn_error *error);
/* "'key' is no ...": with the nearest of `known`, which ends with NULL. FIRN_EUSAGE. */
int refuse_key(word key, const char *verb, const char *const *known, firn_error *error);

#endif
