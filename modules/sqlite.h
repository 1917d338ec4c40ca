/* SPDX-License-Identifier: MIT */
/* Shared by the files of the embedded store. Each verb is one transaction on its own connection, so
 * that no handle is open at a fork. */
#ifndef FIRN_SQLITE_H
#define FIRN_SQLITE_H

#include "module.h"
#include <firn/store.h>

#include <limits.h>
#include <sqlite3.h>
#include <sys/stat.h>

#define SQLITE_PATH_SIZE (PATH_MAX - 32) /* a path and its zero; with a suffix it fits PATH_MAX */

typedef struct sqlite_store {
    char path[SQLITE_PATH_SIZE];   /* absolute, no symbolic link in it */
    char folder[SQLITE_PATH_SIZE]; /* of the file */
    char *vfs;                     /* or NULL */
    bool unsafe;
    bool create;  /* make the file if it is missing */
    bool folders; /* and its folders */
    int64_t busy_ms;
    int64_t hurry_ms; /* until then a verb that meets a lock fails at once */
    int64_t passed;   /* places before this one in the queue are of stopped processes */
    int64_t waits_ms; /* when the last verb began that did not */
    dev_t device;     /* of the file when it was opened, or last recognised as a copy */
    ino_t inode;
    bool checked; /* once found undamaged */
    bool known;   /* a verb of this handle has set the next two */
    int64_t identity, history;
    int64_t writer;  /* the process of this handle's last commit; 0: none */
    uint32_t count;  /* of that commit */
    int64_t cleared; /* the forked child that inherited no open file of the store */
    firn_store_options options;
} sqlite_store;

/* SQLite's methods of a file, with two replaced (sqlite_open.c). */
typedef struct sqlite_methods {
    sqlite3_io_methods own;
    const sqlite3_io_methods *real;
} sqlite_methods;

/* A verb in progress. The struct must not move while `db` is open. */
typedef struct sqlite_session {
    sqlite_store *store;
    sqlite3 *db;
    sqlite_methods methods; /* of the database's file */
    firn_error *error;
    int64_t deadline_ms;       /* for all locks together */
    ino_t inode;               /* of the file that this verb found */
    sqlite3_stmt *meta;        /* version, identity, history */
    int64_t identity, history; /* as this transaction sees them */
    uint32_t count;
    bool behind;                  /* the store lost reservations, as this transaction shows, */
    bool back;                    /* and has written */
    bool emptied;                 /* its commit emptied the log */
    int turn;                     /* the descriptor with this verb's lock + 1; 0: none */
    int64_t place, queued_ms;     /* in the queue for it, + 1; since when; 0: none */
    int64_t waited_for, waits_ms; /* the first place ahead, and since when */
    int64_t ahead;                /* that place, if it is passed over; -1 */
} sqlite_session;

/* ---- connections and failures (sqlite_open.c) ------------------------------------------------ */

/* The end of a long path, the informative part. */
const char *sqlite_tail(const char *path);
/* Converts a result of SQLite into a code and an error. */
int sqlite_explain(const sqlite_session *session, int result);
/* FIRN_EUNKNOWN. */
int sqlite_unknown(const sqlite_session *session, int result);
int sqlite_no_store(const char *path, firn_error *error);
int sqlite_attach(sqlite_session *session, const char *path);
/* Sleeps for some ms, more after more tries. 0: the verb's time is over. */
int sqlite_wait(void *self, int tries);
/* Prepares a statement and binds values, which must outlive it: t a text, i an int64_t. */
int sqlite_prepare(const sqlite_session *session, sqlite3_stmt **statement, const char *sql,
                   const char *types, ...);

/* ---- namespaces (sqlite_record.c) ----------------------------------------------------------- */

/* A namespace's record. */
typedef struct record {
    bool known;
    char layout[FIRN_LAYOUT_SIZE];
    int64_t history, floor;
} record;

int sqlite_read_record(const sqlite_session *session, record *out, const char *ns);
int sqlite_write_record(const sqlite_session *session, const char *ns, const char *layout,
                        int64_t history, int64_t floor);

/* In a transaction: are all unknown names new ones, and the layout of FIRN_ALL_NAMES if that is
 * closed, else "". */
int sqlite_read_all_names(const sqlite_session *session, bool *complete,
                          char shut[FIRN_LAYOUT_SIZE]);

/* ---- processes (sqlite_fork.c) --------------------------------------------------------------- */

/* Called by the first open, once per process. */
int sqlite_guard(firn_error *error);
/* A verb runs between these two. FIRN_EFORKED: this process must not enter SQLite. */
int sqlite_enter(sqlite_store *store, firn_error *error);
void sqlite_leave(void);
/* In a child forked inside a verb, instead of sqlite_leave. Between enter and leave a write past
 * RLIMIT_FSIZE sends the thread no signal (sqlite_signal.c). */
void sqlite_release_signal(void);
void sqlite_hold_signal(void);
/* False in a child forked since the last sqlite_enter. */
bool sqlite_mine(void);
int sqlite_forked(firn_error *error);
/* Calls a failpoint. A child forked in it returns too, and must touch nothing. */
int sqlite_point(const sqlite_store *store, const char *name, firn_error *error);

/* ---- the place (sqlite_place.c) -------------------------------------------------------------- */

/* Makes the folders and fills in path and folder. */
int sqlite_settle_path(sqlite_store *store, const char *path, firn_error *error);
/* Sets device and inode of the present file, and refuses a bad place. */
int sqlite_settle_file(sqlite_store *store, firn_error *error);
/* Is it the same file, under one name? A verb of a handle that knows the store's identity may find
 * another file, which must then be a copy of the store, and must find the same one later. */
int sqlite_check_file(const sqlite_store *store, sqlite_session *session, firn_error *error);
int sqlite_replaced(const sqlite_store *store, firn_error *error);
/* Before a namespace's first mark is acknowledged, every folder of the path must be as durable as
 * the mark. SQLite syncs only the file and its folder. */
int sqlite_sync_folders(const sqlite_session *session);

/* ---- the file (sqlite_file.c) ---------------------------------------------------------------- */

#define SCHEMA_VERSION 3

/* Makes the file if it is not there. */
int sqlite_find_or_make(sqlite_store *store, firn_error *error);
/* A random number from the kernel, never 0. */
int sqlite_draw(int64_t *out, firn_error *error);
/* Upgrades a file of an older schema to the present one, in its own transaction. */
int sqlite_upgrade(const sqlite_session *session, int64_t version);

/* ---- the count next to the file (sqlite_count.c) --------------------------------------------- */

/* The contents of FILE-count. */
typedef struct sqlite_tally {
    int64_t identity;
    uint32_t count; /* of a commit that is durable */
    uint32_t main;  /* the same, of the database without its log */
} sqlite_tally;

/* False: no readable count. */
bool sqlite_tally_read(const sqlite_store *store, sqlite_tally *out);
/* FIRN_ESTORE: this user cannot read and write the count, and would not notice lost
 * reservations. */
int sqlite_tally_check(const sqlite_store *store, firn_error *error);
/* Best effort: an older count stays valid. */
void sqlite_tally_write(const sqlite_store *store, const sqlite_tally *out);
/* Makes the count of a new store, without content. Best effort. */
void sqlite_tally_make(const sqlite_store *store);
/* A descriptor for a lock; -1: there is no count that can be opened. */
int sqlite_tally_open(const sqlite_store *store);
/* FIRN_ESTORE: sqlite_tally_open failed with this errno. */
int sqlite_no_tally(const sqlite_store *store, int number, firn_error *error);
bool sqlite_tally_look(const sqlite_store *store, struct stat *out);
/* Is a before b? Counts wrap around. */
bool sqlite_before(uint32_t a, uint32_t b);

/* ---- one verb at a time (sqlite_turn.c) ------------------------------------------------------ */

/* Once per process. False: out of memory. */
bool sqlite_turns_begin(void);
/* Waits until no other verb uses the store, at most until the deadline: SQLITE_BUSY. */
int sqlite_take_turn(sqlite_session *session);
void sqlite_end_turn(sqlite_session *session);

/* ---- who holds a lock (sqlite_holder.c) ------------------------------------------------------ */

/* The other process that holds the lock which writers wait for; 0: unknown. */
pid_t sqlite_holder(const sqlite_store *store, char name[32], bool *stopped);

/* ---- one transaction (sqlite_session.c) ------------------------------------------------------ */

/* Checks the file, takes its turn, opens a connection and looks at the schema; no transaction is
 * open yet. After a failure nothing is open. A verb that only reads continues without a turn that
 * it does not get in time. */
int sqlite_start(sqlite_session *session, sqlite_store *store, bool reads, firn_error *error);
/* Starts a write transaction and checks that this is the same store, and whether it lost
 * reservations. */
int sqlite_begin(sqlite_session *session);
/* Starts to read, and ends the turn. *version is the file's, which reading does not upgrade. */
int sqlite_begin_to_read(sqlite_session *session, int64_t *version);
/* Marks the store as one that lost reservations, for every namespace. */
int sqlite_went_back(sqlite_session *session);
/* `written`, `committed`: failpoints. */
int sqlite_commit(sqlite_session *session, const char *written, const char *committed);
/* Makes everything read from the log durable, and empties the log. */
int sqlite_settle(const sqlite_session *session);
/* Closes; rolls back an open transaction. A forked child leaves everything alone. */
int sqlite_finish(sqlite_session *session, int code);
/* Copies the log into the database and removes it, if no other process uses the store. */
void sqlite_tidy(sqlite_store *store);

#endif
