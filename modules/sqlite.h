/* SPDX-License-Identifier: MIT */
/* What the files of the embedded store share. Each verb is one transaction on a connection of its own, so
 * that no handle is open at a fork. */
#ifndef FIRN_SQLITE_H
#define FIRN_SQLITE_H

#include "module.h"

#include <limits.h>
#include <sqlite3.h>

#define SQLITE_PATH_SIZE (PATH_MAX - 32) /* a path and its zero; with a suffix it fits PATH_MAX */

typedef struct store {
    char path[SQLITE_PATH_SIZE];   /* absolute, no symbolic link in it */
    char folder[SQLITE_PATH_SIZE]; /* of the file */
    char *vfs;                     /* or NULL */
    bool unsafe;
    bool create;  /* make the file if it is missing */
    bool folders; /* and its folders */
    int64_t busy_ms;
    int64_t hurry_ms; /* until then a verb that meets a lock does not wait */
    dev_t device;     /* of the file when it was opened, or last found to be a copy */
    ino_t inode;
    bool checked; /* once found undamaged */
    bool known;   /* a verb of this handle has read the two below */
    int64_t identity, history;
    pid_t writer;   /* the process that committed with this handle last; 0: none did */
    uint32_t count; /* of that commit */
    pid_t cleared;  /* the forked child that inherited none of the store's files */
    module_memory memory;
    firn_store_options options;
} store;

/* One verb under way. */
typedef struct session {
    store *store;
    sqlite3 *db;
    firn_error *error;
    int64_t began_ms, deadline_ms; /* of the steady clock: for all locks together */
    ino_t inode;                   /* of the file that this verb found */
    sqlite3_stmt *meta;            /* version, identity, history */
    int64_t identity, history;     /* as this transaction sees them */
    uint32_t count;
    bool back;    /* this transaction has found out that the store went back */
    bool emptied; /* its commit emptied the log */
} session;

/* ---- failures (sqlite_session.c) ------------------------------------------------------------- */

/* The end of a long path, which says more than its beginning. */
const char *sqlite_tail(const char *path);
/* Turns a result of SQLite into a code and a sentence. */
int sqlite_explain(const session *s, int result);

/* ---- processes (sqlite_fork.c) --------------------------------------------------------------- */

/* Once for each process, by the first open. */
int sqlite_guard(firn_error *error);
/* A verb is under way between these two. FIRN_EFORKED: this process must not enter SQLite. */
int sqlite_enter(store *it, firn_error *error);
void sqlite_leave(void);
/* False in the child of a fork that happened since the last sqlite_enter. */
bool sqlite_mine(void);
int sqlite_forked(firn_error *error);
/* Calls a failpoint. The child of a fork in it returns too, and must touch nothing. */
int sqlite_point(const store *it, const char *name, firn_error *error);

/* ---- the place (sqlite_place.c) -------------------------------------------------------------- */

/* Makes the folders and fills in path and folder. */
int sqlite_settle_path(store *it, const char *path, firn_error *error);
/* The file that is there now: fills in device and inode and refuses a bad place. */
int sqlite_settle_file(store *it, firn_error *error);
/* The same file still, under one name. A verb of a handle that knows the store's identity may find
 * another file, which must then be a copy of the store, and find the same one again later. */
int sqlite_check_file(const store *it, session *s, firn_error *error);
int sqlite_replaced(const store *it, firn_error *error);
/* Before a namespace's first mark is acknowledged, every folder on the way to it must last as long
 * as the mark. SQLite syncs the file and its own folder only. */
int sqlite_sync_folders(const session *s);

/* ---- the file (sqlite_file.c) ---------------------------------------------------------------- */

#define SCHEMA_VERSION 3

/* Makes the file if it is not there. */
int sqlite_find_or_make(store *it, firn_error *error);
int sqlite_no_store(const char *path, firn_error *error);
/* A random number from the kernel, never 0. */
int sqlite_draw(int64_t *out, firn_error *error);
/* Upgrades a file of an older schema to the present one, in a transaction of its own. */
int sqlite_upgrade(const session *s, int64_t version);

/* ---- the count next to the file (sqlite_count.c) --------------------------------------------- */

/* What FILE-count contains. */
typedef struct tally {
    int64_t identity;
    uint32_t count; /* of a commit that is durable */
    uint32_t main;  /* the same, of what the database holds without its log */
} tally;

/* False: there is no count that can be read. */
bool sqlite_tally_read(const store *it, tally *out);
/* FIRN_ESTORE: this user may not read and write the count, and would not notice that the store went back. */
int sqlite_tally_check(const store *it, firn_error *error);
/* Best effort: an older count stays valid. */
void sqlite_tally_write(const store *it, const tally *to);
/* Counts wrap around: is a before b? */
bool sqlite_before(uint32_t a, uint32_t b);

/* ---- who holds a lock (sqlite_holder.c) ------------------------------------------------------ */

/* The process that holds the lock that writers wait for; 0: unknown. */
pid_t sqlite_holder(const store *it, char name[32], bool *stopped);

/* ---- one transaction (sqlite_session.c) ------------------------------------------------------ */

int sqlite_attach(session *s, const char *path);
/* Checks the file, opens a connection and looks at the schema; no transaction is open yet. After a
 * failure nothing is open. */
int sqlite_start(session *s, store *it, firn_error *error);
/* Begins to write, and checks that this is the same store, and whether it went back. */
int sqlite_begin(session *s);
/* Begins to read. *version is that of the file, which reading does not upgrade. */
int sqlite_begin_to_read(session *s, int64_t *version);
/* Marks the store as gone back, for every namespace. */
int sqlite_went_back(session *s);
/* `written`, `committed`: failpoints. */
int sqlite_commit(session *s, const char *written, const char *committed);
/* Makes everything that was read from the log durable, and empties it. */
int sqlite_settle(const session *s);
int sqlite_unknown(const session *s, int result);
/* Closes; an open transaction is rolled back. A child of a fork leaves all of it alone. */
int sqlite_finish(session *s, int code);
/* Brings the log into the database and removes it, if no other process uses the store. */
void sqlite_tidy(store *it);
/* Prepares a statement and binds values that outlive it: t a text, i an int64_t. */
int sqlite_prepare(const session *s, sqlite3_stmt **statement, const char *sql, const char *types,
                   ...);

#endif
