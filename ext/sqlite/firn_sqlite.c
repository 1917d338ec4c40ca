/* SPDX-License-Identifier: MIT */
/* The entry point of the SQLite extension. */
#define FIRN_SQLITE_ENTRY
#include "extension.h"
SQLITE_EXTENSION_INIT1

#include "firn_sqlite.h"

enum { OLDEST_SQLITE = 3037000 };

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
    sql_connection *connection = connection_new(db);
    int code = connection != NULL ? add_generators(connection) : SQLITE_NOMEM;
    code = code == SQLITE_OK ? add_readers(connection) : code;
    code = code == SQLITE_OK ? add_masks(connection) : code;
    code = code == SQLITE_OK ? add_numbers(connection) : code;
    code = code == SQLITE_OK ? add_tables(connection) : code;
    if (connection != NULL) { /* after a failure SQLite drops what was added when it is closed */
        connection_drop(connection);
    }
    return code;
}

#ifndef SQLITE_CORE
/* SQLite derives this name from libfirn_sqlite.so. */
FIRN_API int sqlite3_firnsqlite_init(sqlite3 *db, char **message,
                                     const sqlite3_api_routines *routines);
int sqlite3_firnsqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *routines) {
    return firn_sqlite_init(db, message, routines);
}
#endif
