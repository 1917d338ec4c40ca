/* SPDX-License-Identifier: MIT */
/* The symbols that MariaDB looks up by the name of a function: three per function of
 * ext/functions.def. */
#include "functions.h"

#define EXPORT __attribute__((visibility("default")))

#define VALUE_INTEGER(name)                                                                        \
    EXPORT long long name(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *failed);            \
    EXPORT long long name(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *failed) {           \
        return function_integer(init, args, is_null, failed);                                      \
    }
#define VALUE_STRING(name)                                                                         \
    EXPORT char *name(UDF_INIT *init, UDF_ARGS *args, char *result, unsigned long *length,         \
                      char *is_null, char *failed);                                                \
    EXPORT char *name(UDF_INIT *init, UDF_ARGS *args, char *result, unsigned long *length,         \
                      char *is_null, char *failed) {                                               \
        (void)result; /* too short for some */                                                     \
        return function_string(init, args, length, is_null, failed);                               \
    }
#define FRAME(name)                                                                                \
    EXPORT my_bool name##_init(UDF_INIT *init, UDF_ARGS *args, char *message);                     \
    EXPORT my_bool name##_init(UDF_INIT *init, UDF_ARGS *args, char *message) {                    \
        return function_begin(FUNCTION_##name, init, args, message);                               \
    }                                                                                              \
    EXPORT void name##_deinit(UDF_INIT *init);                                                     \
    EXPORT void name##_deinit(UDF_INIT *init) {                                                    \
        function_end(init);                                                                        \
    }

#define VALUE_INT  VALUE_INTEGER
#define VALUE_UUID VALUE_STRING
#define VALUE_TEXT VALUE_STRING

#define GENERATOR(name, scheme, type, slots) VALUE_##type(name) FRAME(name)
#define MARIADB_ISSUE(name, returns, ...)    VALUE_##returns(name) FRAME(name)
#define MARIADB_PURE(name, returns, ...)     VALUE_##returns(name) FRAME(name)
#include "../functions.def"
