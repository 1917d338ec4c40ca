/* SPDX-License-Identifier: MIT */
/* Shared by the files of the MariaDB and MySQL store: the handle, its session and its
 * statements. */
#ifndef FIRN_MYSQL_H
#define FIRN_MYSQL_H

#include "module.h"
#include "mysql_sql.h"
#include "sql.h"

#include <mysql.h>

#define MARIA_IDENTITY_SIZE  81
#define MARIA_STATEMENT_SIZE 8192 /* bytes; texts in it take twice their length */
#define MARIA_WITNESS_SIZE   81
#ifndef MARIA_CHECK_MS
#define MARIA_CHECK_MS 1000 /* how often the table is checked while connected */
#endif
#define MARIA_ROUNDS 8 /* tries of a reservation that another process interferes with */

/* Parameters that name files for TLS. */
#define MARIA_TLS_FILES 4
static const char *const maria_tls_files[MARIA_TLS_FILES] = {"ca", "cert", "key", "crl"};

/* Which tables hold the integers of a namespace. */
enum maria_shape { OWN, LEAF, TICKETS, WORKER_NODE };

typedef struct mysql_store {
    module_link link;
    sql_state sql;
    const char *table, *tls;                /* table=, tls= */
    const char *tls_files[MARIA_TLS_FILES]; /* by maria_tls_files, or NULL */
    enum maria_shape shape;
    const char *foreign;  /* the other program's table, or "" */
    const char *stub;     /* of a ticket server */
    char source[64];      /* the other program's table, for errors */
    const char *defaults; /* defaults-file=, or NULL */
    const char *path;     /* socket=, or NULL */
    MYSQL *db;            /* or NULL */
    bool late;            /* the deadline passed and the connection was cut */
    bool proved;          /* a reservation of this connection was read back */
    int64_t checked_ms;   /* when maria_check_table last ended */
    bool made;            /* the tables existed: if they are gone, marks are lost */
    char identity[MARIA_IDENTITY_SIZE];
    char witness
        [MARIA_WITNESS_SIZE]; /* what witness_sql answered when the server was checked; "": it was not yet */
    bool has_uuid;            /* the server has a server_uuid */
} mysql_store;

typedef struct mysql_statement {
    char text[MARIA_STATEMENT_SIZE];
    size_t length;
    bool witnessed; /* witness_sql follows */
    bool ends;      /* the transaction of the verb */
} mysql_statement;

/* The outcome of a statement. */
typedef struct mysql_reply {
    MYSQL_RES *rows;              /* NULL: none */
    uint64_t affected, insert_id; /* 0, 0: another process has inserted the same key */
} mysql_reply;

/* Error numbers of the server. */
#define MARIA_MAY_NOT    1142
#define MARIA_NO_PROCESS 1227
#define MARIA_NO_SUCH    1109

/* The store's name in messages. */
static inline const char *where(const mysql_store *store) {
    return store->link.url.shown;
}

/* ---- questions (mysql_talk.c) ---------------------------------------------------------------- */

/* Fills in a pattern of mysql_sql.h, and appends witness_sql once the server was checked. "@" is
 * our tables' prefix, "!" the other program's table ("!!" is "!"); an argument replaces each "$"
 * (text), "#" (int64_t) and "^" (uint64_t). */
void maria_compose(const mysql_store *store, mysql_statement *out, const char *pattern, ...);
/* Sends a statement and reads its reply, which the caller frees. FIRN_EUNKNOWN: it was sent and may
 * have been carried out; after other failures it was not. FIRN_OK: the server that was checked has
 * committed it, or carried it out in the verb's transaction. FIRN_WRITE_CHANGED: it has rolled back
 * that transaction because of another. */
int maria_ask(mysql_store *store, const mysql_statement *statement, const module_points *points,
              mysql_reply *out, firn_error *error);
/* Composes and asks a statement that may be repeated: FIRN_ESTORE instead of FIRN_EUNKNOWN. */
int maria_read(mysql_store *store, mysql_reply *out, firn_error *error, const char *pattern, ...);
/* The same if the reply does not matter, only whether it was carried out. */
int maria_run(mysql_store *store, firn_error *error, const char *pattern, ...);
/* The next row; NULL: none, or with another number of columns. */
MYSQL_ROW maria_next_row(const mysql_reply *r, unsigned columns);
void maria_reply_free(mysql_reply *r);
/* Continues with what libmariadb waits for; cuts the connection at the deadline. */
int maria_resume(mysql_store *store, int wanted, int64_t deadline_ms);
/* Closes the connection, if there is one. `forked`: it is the parent's. */
void maria_hang_up(void *self, bool forked);

/* ---- the session (mysql_session.c) ----------------------------------------------------------- */

bool maria_is_open(void *self);
int maria_dial(void *self, size_t host, int64_t deadline_ms, firn_error *error);
bool maria_in_cluster(const mysql_store *store); /* of Galera, or of group replication */
/* Notices a table of marks that was emptied or reloaded: *lost, and records for every namespace that
 * the server lost reservations. */
int maria_check_table(mysql_store *store, bool *lost, firn_error *error);

/* ---- other programs' tables (mysql_foreign.c) ------------------------------------------------ */

int maria_foreign_read_params(mysql_store *store, firn_error *error);
/* Is the namespace in the other program's table? */
bool maria_is_foreign(const mysql_store *store, const char *ns);
/* As firn_driver.take. */
int maria_take(void *self, const firn_request *request, int64_t *first, firn_mark *held,
               firn_error *error);
/* Composes the next page of a listing. False: that table cannot be listed by this namespace. */
bool maria_foreign_page(const mysql_store *store, mysql_statement *statement, const char *ns,
                        const char *last_ns, int64_t rows);

#endif
