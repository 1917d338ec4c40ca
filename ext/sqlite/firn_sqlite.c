/* SPDX-License-Identifier: MIT */
/* The entry point of the SQLite extension: what is added to a connection. Each function stands in
 * a table of the file that has it. */
#define FIRN_SQLITE_ENTRY
#include "extension.h"
SQLITE_EXTENSION_INIT1

#include "firn_sqlite.h"

enum { OLDEST_SQLITE = 3037000 };

int add_functions(connection *it, const function_row *rows, size_t count) {
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        for (int n = rows[i].least; n <= rows[i].most && code == SQLITE_OK; n++) {
            it->uses++; /* SQLite drops it, also when it refuses */
            code = sqlite3_create_function_v2(it->db, rows[i].name, n, SQLITE_UTF8 | rows[i].flags,
                                              it, rows[i].call, NULL, NULL, connection_drop);
        }
    }
    return code;
}

/* Adds all; on failure SQLite lets go of what was added when the connection is closed. */
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
/* The name that SQLite derives from libfirn_sqlite.so. */
FIRN_API int sqlite3_firnsqlite_init(sqlite3 *db, char **message,
                                     const sqlite3_api_routines *routines);
int sqlite3_firnsqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *routines) {
    return firn_sqlite_init(db, message, routines);
}
#endif
