/* SPDX-License-Identifier: MIT */
/* firn's SQL functions for a program that links them instead of loading libfirn_sqlite.so:
 *
 *     firn_sqlite_init(db, NULL, NULL);
 *
 * or, for every connection from now on,
 *
 *     sqlite3_auto_extension((void (*)(void))firn_sqlite_init);
 *
 * `pkg-config --libs firn_sqlite` and CMake's firn::firn_sqlite link libfirn_sqlite_static.a and
 * what it needs. SQLite must be 3.37 or newer. */
#ifndef FIRN_SQLITE_H
#define FIRN_SQLITE_H

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;
struct sqlite3_api_routines;

/* Adds the functions to a connection. Returns SQLITE_OK, or a result of SQLite with *message
 * (unless NULL) for sqlite3_free. Only the loadable build uses `routines`. Windows are given back
 * when the connection is closed. */
int firn_sqlite_init(struct sqlite3 *db, char **message,
                     const struct sqlite3_api_routines *routines);

#ifdef __cplusplus
}
#endif
#endif
