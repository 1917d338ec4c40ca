/* SPDX-License-Identifier: MIT */
/* Inside the SQLite extension: the state of a connection, and conversion of SQL values. SQLite
 * calls everything under the connection's mutex. */
#ifndef FIRN_SQLITE_EXTENSION_H
#define FIRN_SQLITE_EXTENSION_H

#include "../common/call.h"
#include "errors.h"
#include "mask_list.h"

#include <sqlite3ext.h>
#ifndef FIRN_SQLITE_ENTRY
SQLITE_EXTENSION_INIT3
#endif

/* ---- values (values.c) ---------------------------------------------------------------------- */

/* How an ID is returned: a form of firn.h (0 and up), or */
enum {
    AS_OWN = -1,     /* AS_INTEGER up to 64 bits, else AS_TEXT */
    AS_INTEGER = -2, /* signed */
    AS_TEXT = -3,    /* in the scheme's own form */
    AS_BLOB = -4     /* (bits + 7) / 8 bytes, most significant first */
};

void result_error(sqlite3_context *context, const firn_error *error);
void result_id(sqlite3_context *context, const firn_id *id, int form, int kind);
/* Refuses an ID whose INTEGER would be negative, and so out of order, unless that is `allowed`. */
int sign_check(int kind, const firn_scheme *scheme, const firn_id *id, bool allowed,
               firn_error *error);
/* Argument i, as text with a terminator and without zero bytes. FIRN_EUSAGE: another type. */
int text_of(sql_value *text, sqlite3_value *value, int i, firn_error *error);
/* Finds 'integer', 'text' or 'blob'. */
bool kind_of(int *form, const char *name);
/* Reads one of these, or the name of a form. FIRN_EUSAGE. */
int as_of(int *form, sqlite3_value *value, int i, firn_error *error);
/* Can an ID of the scheme be returned like that? FIRN_EUSAGE. */
int as_check(int kind, const firn_scheme *scheme, firn_error *error);
/* TEXT, or INTEGER seconds since 1970. FIRN_EUSAGE: REAL and BLOB; FIRN_ETEXT. */
int time_of(firn_time *time, sqlite3_value *value, int i, firn_error *error);

/* ---- connection (connection.c) -------------------------------------------------------------- */

enum { HELD_MOST = 32, NOTICES_MOST = 32 };

/* A generator or a job, identified by scheme and options, or a series, by name and definition. */
typedef struct held {
    char *scheme, *options;
    firn_gen *gen; /* or */
    firn_job *job; /* or */
    firn_series *series;
    firn_store *store; /* of the series */
} held;

typedef struct held_list {
    held all[HELD_MOST];
    size_t count;
} held_list;

typedef struct sql_connection {
    sqlite3 *db;
    int uses;     /* functions and tables that point here */
    uint64_t era; /* increases when generators are closed */
    char *store;  /* its URL, or NULL: FIRN_STORE, or the default */
    char *node;   /* for schemes that require a node; NULL: claims a free node */
    bool unsafe;  /* accept a store that may lose acknowledged writes */
    bool used;    /* by a statement of the program: a DIRECTONLY function was called */
    held_list gens, jobs, series;
    char *masks_file;
    mask_list masks; /* of that file */
    sql_call call; /* of a pure function; its error also of generators, to keep it off the stack */
    int result_kind; /* how its answer is returned */
    firn_scheme schemes[SQL_ARGUMENTS_MOST];
    char *notices[NOTICES_MOST]; /* oldest first */
    size_t notice_count;
} sql_connection;

sql_connection *connection_new(sqlite3 *db);
/* Releases one use; the last one closes everything. */
void connection_drop(void *connection);
/* Closes the generators and series, which gives back what is left. */
void connection_close_gens(sql_connection *connection);
void connection_close_jobs(sql_connection *connection);
/* The generator of scheme and options, opened on first use. FIRN_EUSAGE: options that belong to
 * firn_config, more than HELD_MOST, or a schema that is not trusted would be the first to use the
 * store; errors of firn_open_with. */
int connection_gen(sql_connection *connection, sql_value scheme, sql_value options, firn_gen **gen,
                   firn_error *error);
/* The series of a name and a definition, or "" for the stored one. Errors as
 * connection_gen, and of firn_series_open. */
int connection_series(sql_connection *connection, sql_value name, sql_value keys,
                      firn_series **series, firn_error *error);
/* The job of scheme and options. */
int connection_job(sql_connection *connection, sql_value scheme, sql_value options, firn_job **job,
                   firn_error *error);
/* After a failure to issue: is this connection the reason? Then *error says so. Returns `code`. */
int connection_failed(sql_connection *connection, int code, firn_error *error);

/* ---- what there is -------------------------------------------------------------------------- */

/* Each adds functions or tables. A result of SQLite. */
int add_generators(sql_connection *connection); /* generators.c */
int add_readers(sql_connection *connection);    /* readers.c */
int add_masks(sql_connection *connection);      /* masks.c */
int add_numbers(sql_connection *connection);    /* numbers.c */
int add_tables(sql_connection *connection);     /* tables.c */

/* A SQL function. */
typedef void function(sqlite3_context *context, int count, sqlite3_value **values);
typedef struct function_row {
    const char *name;
    const char *types; /* of its arguments, as in ext/functions.def */
    int flags;
    function *call;
} function_row;

/* Adds functions with the connection as their data. A result of SQLite. */
int add_functions(sql_connection *connection, const function_row *rows, size_t count);

#endif
