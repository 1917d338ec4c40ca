/* SPDX-License-Identifier: MIT */
/* Shared by the files of the PostgreSQL store: the handle, its session and its statements. */
#ifndef FIRN_POSTGRES_H
#define FIRN_POSTGRES_H

#include "module.h"
#include "postgres_sql.h"
#include "sql.h"

#include <libpq-fe.h>

typedef struct postgres_store {
    module_link link;
    sql_state sql;
    const char *table, *tls, *authority; /* table=, tls=, ca= */
    int64_t whole_pages;                 /* whole_pages=1 */
    PGconn *db;                          /* or NULL */
    unsigned prepared, used;             /* a bit for each statement that this connection knows,
                                            or had once */
    bool unconfirmed; /* the server gave up waiting for a standby, and committed */
    char session[2 * MODULE_NUMBER_SIZE]; /* PROCESS/TIME, as SESSION names it */
    char marks[MODULE_NUMBER_SIZE];       /* the OID of the table of marks; "": not seen yet */
    char system[MODULE_NUMBER_SIZE];      /* the system identifier of the server */
    char taken[2048]; /* the extension's nodes, as last read: 2047 bytes at most */
} postgres_store;

/* The store's name in messages. */
static inline const char *where(const postgres_store *store) {
    return store->link.url.shown;
}

/* ---- where it connects to (postgres_place.c) ------------------------------------------------- */

/* Reads the parameters of the URL, and refuses those that contradict each other. */
int postgres_set_up(void *self, firn_error *error);
/* Finds the addresses of a host, and starts to connect. */
int postgres_begin(postgres_store *store, size_t host, int64_t deadline_ms, firn_error *error);

/* ---- the session (postgres_session.c) -------------------------------------------------------- */

extern const module_engine postgres_engine;

/* Closes the connection, if there is one. `forked`: it is the parent's. */
void postgres_hang_up(void *self, bool forked);

/* ---- nodes of the extension (postgres_taken.c) ----------------------------------------------- */

/* Does the extension of this server issue with the node of the key? FIRN_EBUSY: yes. */
int postgres_taken(const postgres_store *store, const firn_records *records, firn_error *error);
/* Visits what the settings of the extension name. */
int postgres_show_taken(const postgres_store *store, firn_visit *visit, void *context);

/* ---- questions (postgres_session.c) ---------------------------------------------------------- */

/* Sends a statement and reads its rows. FIRN_EUNKNOWN: the statement was sent and may have been
 * carried out; after other failures it was not. */
int postgres_ask(postgres_store *store, enum statement statement, const char *const *values,
                 const module_points *points, PGresult **out, firn_error *error);
/* The same for a statement that may be repeated: FIRN_ESTORE instead of FIRN_EUNKNOWN. */
int postgres_read(postgres_store *store, enum statement statement, const char *const *values,
                  PGresult **out, firn_error *error);
/* The same if its rows do not matter. */
int postgres_run(postgres_store *store, enum statement statement, const char *const *values,
                 firn_error *error);
int postgres_pooled(const postgres_store *store, firn_error *error);
int postgres_replaced(const postgres_store *store, firn_error *error);

/* A cell as text ("" if it is missing), as a number, or as a boolean of the first row. */
const char *postgres_cell(const PGresult *result, int row, int column);
int64_t postgres_number_at(const PGresult *result, int row, int column);
bool postgres_says(const PGresult *result, int column);

#endif
