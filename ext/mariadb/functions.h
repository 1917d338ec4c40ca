/* SPDX-License-Identifier: MIT */
/* The SQL functions behind their symbols. exports.c sees this header only: the symbols that
 * MariaDB looks up have names that firn.h has too. */
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

/* Once a statement: types and number of the arguments. 1: `message` says what is wrong. */
my_bool function_begin(int index, UDF_INIT *init, UDF_ARGS *args, char *message);
/* Once a row. A failure is an SQL error; where the server cannot be told, the value is NULL. */
long long function_integer(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *failed);
char *function_string(UDF_INIT *init, UDF_ARGS *args, unsigned long *length, char *is_null,
                      char *failed);
void function_end(UDF_INIT *init);

#endif
