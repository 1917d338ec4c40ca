/* SPDX-License-Identifier: MIT */
/* The functions of ext/functions.def that follow from their arguments alone, once for all engines.
 * An engine writes its arguments into a call, runs the function, and returns the answer as its own
 * type. They read no clock, no store and no randomness. */
#ifndef FIRN_EXT_CALL_H
#define FIRN_EXT_CALL_H

#include "pure_verbs.h"
#include "sql.h"

enum { SQL_ARGUMENTS_MOST = 6, SQL_ANSWER_SIZE = 8192 };
enum { SQL_OWN_FORM = -2 }; /* a target: the form of the scheme that the ID has */

/* The type of an argument or an answer. */
enum sql_type {
    SQL_TEXT,
    SQL_BYTES,
    SQL_STRING,  /* text, or the bytes of an ID: the engine has one type for both */
    SQL_INTEGER, /* two's complement */
    SQL_ID,      /* answers only */
    SQL_TIME
};

/* An optional argument that is not given is the text "" and the integer 0. */
typedef struct sql_value {
    enum sql_type type;
    int64_t integer;
    const char *text; /* never NULL, without a terminator */
    size_t length;
} sql_value;

/* Kept between calls: it is too large to be zeroed for each row. */
typedef struct sql_call {
    sql_value arguments[SQL_ARGUMENTS_MOST];
    const firn_scheme *scheme; /* that an argument names; NULL: none */
    pure_target target;        /* of sql_convert */
    firn_time time;            /* that an argument is, or the answer */
    int form;                  /* that the answer has; -1: a number or bytes */
    /* the answer: */
    enum sql_type type;
    int64_t integer;
    firn_id id;
    bool sorted; /* an ID for comparisons: as an integer it must not be negative */
    int digits;  /* of the second of the time */
    size_t length;
    char text[SQL_ANSWER_SIZE]; /* TEXT or BYTES */
    firn_error error;
    /* argument 0 as an ID: */
    firn_reading readings[FIRN_READINGS_MAX];
    id_counts counts;
    char subject[SQL_TEXT_SIZE]; /* its text; "" until sql_subject writes it */
} sql_call;

/* A SQL function. Returns 0, or a FIRN_E code with call->error. */
typedef int sql_function(sql_call *call);

#define SQLITE_PURE(name, call, types, arguments) sql_function sql_##call;
#include "../functions.def"

/* Reads argument 0 as an ID of call->scheme, or of the schemes that fit. */
sql_function sql_read;
/* The text of argument 0, as given or as an ID is written. */
const char *sql_subject(sql_call *call);

#endif
