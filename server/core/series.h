/* SPDX-License-Identifier: MIT */
/* A series of the configuration: a firn_series with its renewer and counters. Each of its numbers
 * is a call of the store, so a request is a task. Other series are in catalog.h. */
#ifndef FIRN_SERVER_SERIES_H
#define FIRN_SERVER_SERIES_H

#include "request.h"

enum { SERIES_MOST = 10000 }; /* numbers of one request */

struct server_series {
    char name[NAME_SIZE];
    char keys[KEYS_SIZE];
    bool late; /* added while serving: its store need not answer */
    store_renewer *renewer;
    firn_series *open;       /* renewer's thread; NULL: not yet */
    _Atomic uint64_t issued; /* written by the renewer's thread */
    last_error failed;       /* of the last request that reached the store */
};

/* Not in a table yet. FIRN_EUSAGE, FIRN_ERANGE, FIRN_EMEMORY. */
int series_make(server_series **out, const char *name, const char *keys, firn_error *error);
void series_free(server_series *series);
/* Renewer's thread: the numbers of a request, and opens the series before the first. Codes as
 * firn_series_next. */
int series_take(server_series *series, const server_request *request,
                char (*texts)[FIRN_SERIES_SIZE], firn_error *error);
/* Renewer's thread: gives the rest of the block back. */
void series_close(server_series *series);

#endif
