/* SPDX-License-Identifier: MIT */
/* STATUS, SPREAD and NODES: how the server is, how recent IDs spread over shards, and what a store
 * holds. */
#ifndef FIRN_STATUS_H
#define FIRN_STATUS_H

#include "request.h"

int answer_status(const request *it, reply *out, firn_error *error);
int answer_spread(const request *it, reply *out, firn_error *error);
/* In the store's renewer's thread: what the store holds of a namespace, or of all (NULL). */
int answer_nodes(firn_store *store, const char *ns, json_t **out, firn_error *error);

#endif
