/* SPDX-License-Identifier: MIT */
/* The entry point of the SQLite extension. */
#define FIRN_SQLITE_ENTRY
#include "extension.h"
SQLITE_EXTENSION_INIT1

#include "firn_sqlite.h"

enum { OLDEST_SQLITE = 3037000 };

/* On failure SQLite releases what was added when the connection is closed. */
static int add_all(sqlite3 *db) {
    connection *it = connection_new(db);
    int code = it != NULL ? add_generators(it) : SQLITE_NOMEM;
    if (code == SQLITE_OK) {
        code = add_readers(it);
    }
    if (code == SQLITE_OK) {
        code = add_tables(it);
    }
    if (it != NULL) {
        connection_drop(it);
    }
    return code;
}

int firn_sqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *routines) {
    SQLITE_EXTENSION_INIT2(routines);
    (void)routines;
    if (sqlite3_libversion_number() < OLDEST_SQLITE) {
        if (message != NULL) {
            *message = sqlite3_mprintf("firn needs SQLite 3.37 or newer, this is %s: load it there",
                                       sqlite3_libversion());
        }
        return SQLITE_ERROR;
    }
    return add_all(db);
}

#ifndef SQLITE_CORE
/* SQLite derives this name from libfirn_sqlite.so. */
FIRN_API int sqlite3_firnsqlite_init(sqlite3 *db, char **message,
                                     const sqlite3_api_routines *routines);
int sqlite3_firnsqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *routines) {
    return firn_sqlite_init(db, message, routines);
}
#endif
