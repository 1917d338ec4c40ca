/* SPDX-License-Identifier: MIT */
/* The SQL functions that the symbols call. exports.c includes only this header, because MariaDB
 * looks up names that firn.h uses too. */
#ifndef FIRN_MARIADB_FUNCTIONS_H
#define FIRN_MARIADB_FUNCTIONS_H

#include <mysql.h>

/* The functions of ext/functions.def, in its order. */
enum {
#define GENERATOR(name, ...)     FUNCTION_##name,
#define MARIADB_ISSUE(name, ...) FUNCTION_##name,
#define MARIADB_PURE(name, ...)  FUNCTION_##name,
#include "../functions.def"
    FUNCTION_COUNT
};

/* Once per statement: checks the types and number of arguments. 1: `message` has the reason. */
my_bool function_begin(int index, UDF_INIT *init, UDF_ARGS *args, char *message);
/* Once per row. A failure is an SQL error, or NULL if no error can be raised. */
long long function_integer(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *failed);
char *function_string(UDF_INIT *init, UDF_ARGS *args, unsigned long *length, char *is_null,
                      char *failed);
void function_end(UDF_INIT *init);

#endif
