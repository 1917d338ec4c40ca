/* SPDX-License-Identifier: MIT */
/* The verbs of a store in two tables, as far as PostgreSQL and MariaDB have them in common. A raise
 * of a mark, and a give back, is one statement in its own transaction. A verb that changes other
 * records needs a longer transaction: its first such write only begins the transaction, with its
 * locks, and the engine reads again and decides in the transaction. */
#ifndef FIRN_SQL_H
#define FIRN_SQL_H

#include "module.h"

#ifndef SQL_PAGE_ROWS     /* a test has shorter pages */
#define SQL_PAGE_ROWS 256 /* of a listing */
#endif

typedef struct sql_state {
    firn_verb verb;            /* the verb in progress, */
    const firn_records *names; /* and its records */
    bool inside;               /* in the transaction of a verb */
    bool suspect;              /* a new connection shows an older mark */
    char layout[FIRN_LAYOUT_SIZE], shut[FIRN_LAYOUT_SIZE]; /* as last read */
    /* The last reservation of the handle. A server that no longer has it lost reservations. */
    char last_ns[FIRN_NS_SIZE], last_key[FIRN_KEY_SIZE];
    int64_t last_high; /* 0: none, or it may be given back */
} sql_state;

/* A listing in progress. */
typedef struct sql_listing {
    firn_visit *visit;
    void *context;
    const char *ns; /* only that, or NULL */
    bool others;    /* marks of the extension */
    int shown;      /* rows of the page */
    char last_ns[FIRN_NS_SIZE], last_key[FIRN_KEY_SIZE];
} sql_listing;

/* ---- what each of the two defines ------------------------------------------------------------ */

sql_state *sql_of(void *self);
/* Starts the verb, on a working connection. */
int sql_start(void *self, firn_error *error);
/* Begins the transaction of a verb, with its locks; commits it; gives it up, and closes the
 * connection if that fails. */
int sql_begin(void *self, firn_error *error);
int sql_commit(void *self, const module_points *points, firn_error *error);
int sql_roll_back(void *self, firn_error *error);
/* In the transaction: all namespaces are in doubt (`lost`), or the store is new no longer. */
int sql_write_store(void *self, firn_records *next, bool lost, firn_error *error);
int sql_write_namespace(void *self, const firn_records *seen, firn_records *next,
                        firn_error *error);
/* Raises the mark as the verb's own transaction (`points`), or as a part of it. `exactly`: the mark
 * has the grant of the raise, not 0. */
int sql_raise(void *self, const firn_records *seen, firn_records *next, const firn_raise *raise,
              bool exactly, const module_points *points, firn_error *error);
int sql_lower(void *self, const firn_records *seen, firn_records *next, const module_points *points,
              firn_error *error);
/* Did the server store a reservation that it committed? */
int sql_prove(void *self, const firn_records *next, firn_error *error);
/* A commit after all that was read. */
int sql_settle(void *self, firn_error *error);
/* Shows one page of a listing. */
int sql_page(void *self, sql_listing *list, firn_error *error);

/* ---- what they have in common (sql.c) -------------------------------------------------------- */

int64_t sql_number(const char *text);
/* The cells are namespace, layout, key, note, mark, grant and floor. */
int sql_show(sql_listing *list, const char *const cells[7]);
int sql_show_pages(void *self, sql_listing *list, firn_error *error);
int sql_begin_inside(void *self, firn_error *error);

/* Methods of a store. */
void sql_forget(void *self);
int sql_begin_verb(void *self, const firn_records *names, firn_verb verb, firn_error *error);
bool sql_lost(void *self, const firn_records *seen);
int sql_write(void *self, const firn_records *seen, firn_records *next, int which, firn_verb verb,
              firn_error *error);
int sql_add(void *self, const firn_records *seen, firn_records *next, const firn_raise *raise,
            firn_error *error);
int sql_confirm(void *self, firn_error *error);
int sql_end(void *self, int code);
int sql_list(void *self, const char *ns, firn_visit *visit, void *context, firn_error *error);

#endif
