/* SPDX-License-Identifier: MIT */
/* Each SQL function: arguments in, a value out. Generators, series and jobs are in generators.c, code
 * shared by all engines in ext/common. */
#include "functions.h"

#include "../common/call.h"
#include "errors.h"
#include "generators.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The server's function to end a statement with an error: exported, but not in a client's headers.
 * Without it a failure returns NULL, as with any loadable function. */
__attribute__((weak)) extern void my_printf_error(unsigned int number, const char *format,
                                                  unsigned long flags, ...);

typedef struct function function;

/* The memory of a statement for a call. */
typedef struct mariadb_call {
    sql_call sql; /* with the arguments of the row, and the answer */
    const function *f;
    const UDF_ARGS *args;  /* of the row */
    mariadb_generator gen; /* of the server, held during a row */
    firn_job *job;         /* of this statement */
    char scheme_text[SQL_TEXT_SIZE], options[SQL_TEXT_SIZE], name[SQL_TEXT_SIZE], digits[24];
    struct {
        char text[SQL_TEXT_SIZE];
        size_t length;
        bool known; /* `scheme` was parsed from `text` */
        firn_scheme scheme;
    } schemes[SQL_ARGUMENTS_MOST]; /* of each argument */
} mariadb_call;

/* Writes the answer into the call. No argument is NULL. */
typedef int worker(mariadb_call *call);

enum returns { INTEGER, STRING };
/* The result type of a generator of ext/functions.def. */
#define RETURNS_INT  INTEGER
#define RETURNS_UUID STRING
#define RETURNS_TEXT STRING

struct function {
    const char *name;
    enum returns returns;
    worker *work; /* NULL: */
    sql_function *pure;
    const char *scheme, *field;
    const char *types, *words;
};

/* ---- arguments ------------------------------------------------------------------------------- */

/* Parsed once per statement, and when it changes. */
static int scheme_of(const firn_scheme **scheme, mariadb_call *call, size_t i) {
    const sql_value *value = &call->sql.arguments[i];
    firn_error *error = &call->sql.error;
    int code = FIRN_OK;
    if (!call->schemes[i].known || value->length != call->schemes[i].length ||
        memcmp(value->text, call->schemes[i].text, value->length) != 0) {
        call->schemes[i].known = false;
        call->schemes[i].length = value->length;
        code = sql_copy(call->schemes[i].text, "the scheme", value->text, value->length, error);
        code = code == FIRN_OK
                   ? sql_scheme(&call->schemes[i].scheme, value->text, value->length, error)
                   : code;
        call->schemes[i].known = code == FIRN_OK;
    }
    *scheme = &call->schemes[i].scheme;
    return code;
}

/* A form or a scheme. */
static int target_of(mariadb_call *call, size_t i) {
    char name[SQL_TEXT_SIZE];
    const sql_value *value = &call->sql.arguments[i];
    int code = sql_copy(name, "the form", value->text, value->length, &call->sql.error);
    return code == FIRN_OK ? pure_target_find(&call->sql.target, name, &call->sql.error) : code;
}

static int time_of(mariadb_call *call, const sql_value *value, enum Item_result type) {
    firn_error *error = &call->sql.error;
    return type == DECIMAL_RESULT
               ? sql_time_number(&call->sql.time, value->text, value->length, error)
               : sql_time(&call->sql.time, value->text, value->length, error);
}

/* The row's arguments; false: one is NULL. */
static bool take_row(mariadb_call *call, const UDF_ARGS *args) {
    for (unsigned i = 0; i < args->arg_count; i++) {
        sql_value *value = &call->sql.arguments[i];
        if (args->args[i] == NULL) {
            return false;
        }
        value->text = args->args[i];
        value->length = args->lengths[i];
        value->type = SQL_STRING;
        if (args->arg_type[i] == INT_RESULT) {
            long long integer;
            memcpy(&integer, args->args[i], sizeof integer);
            value->integer = integer;
            value->type = SQL_INTEGER;
        }
    }
    return true;
}

/* Columns of integers hold IDs of time-member too, whose text is digits. */
static void read_digits(mariadb_call *call) {
    sql_value *value = &call->sql.arguments[0];
    if (value->type == SQL_INTEGER && call->sql.scheme != NULL && call->sql.scheme->bits > 64) {
        value->type = SQL_TEXT;
        value->text = call->digits;
        value->length =
            (size_t)snprintf(call->digits, sizeof call->digits, "%" PRId64, value->integer);
    }
}

/* Reads the arguments of a pure function. */
static int understand(mariadb_call *call, const UDF_ARGS *args) {
    int code = FIRN_OK;
    call->sql.scheme = NULL;
    for (unsigned i = 0; i < args->arg_count && code == FIRN_OK; i++) {
        int letter = call->f->types[i] | ' ';
        code = letter == 's'   ? scheme_of(&call->sql.scheme, call, i)
               : letter == 'f' ? target_of(call, i)
               : letter == 'm' ? time_of(call, &call->sql.arguments[i], args->arg_type[i])
                               : FIRN_OK;
    }
    call->sql.form =
        call->f->returns == STRING && call->sql.scheme != NULL ? call->sql.scheme->form : -1;
    read_digits(call);
    return code;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int put_form(mariadb_call *call, const firn_id *id, int form) {
    sql_call *sql = &call->sql;
    firn_format(sql->text, id, form);
    /* strlen would wait until all characters are in the cache */
    sql->length = form == FIRN_FORM_UUID && id->bits == 128 ? 36 : strlen(sql->text);
    return sql->length > 0 ? FIRN_OK : pure_form_refuse(form, &sql->error);
}

static int put_id(mariadb_call *call, const firn_scheme *scheme, const firn_id *id, int form) {
    return call->f->returns == INTEGER
               ? sql_integer(&call->sql.integer, scheme, id,
                             id->low > INT64_MAX && sql_unsigned(call->options), &call->sql.error)
               : put_form(call, id, form);
}

/* A pure function: the answer in the type of the column. */
static int answer(mariadb_call *call, const UDF_ARGS *args) {
    sql_call *sql = &call->sql;
    int code = understand(call, args);
    code = code == FIRN_OK ? call->f->pure(sql) : code;
    if (code == FIRN_OK && sql->type == SQL_ID) {
        code = put_id(call, sql->scheme, &sql->id, sql->form);
    }
    if (code == FIRN_OK && sql->type == SQL_TIME) {
        int digits = call->f->pure == sql_time_v1 ? 6 : sql->digits; /* datetime(6) */
        code = sql_time_text(sql->text, &sql->time, digits, &sql->error);
        sql->length = code == FIRN_OK ? strlen(sql->text) : 0;
    }
    return code;
}

/* ---- generators ------------------------------------------------------------------------------ */

/* Uses the generator of the previous row if it fits and is still open. */
static int take_id(mariadb_call *call, const char *scheme, const sql_value *options, firn_id *id) {
    firn_error *error = &call->sql.error;
    int code = FIRN_OK;
    if (strlen(call->options) != options->length ||
        memcmp(call->options, options->text, options->length) != 0 ||
        !generator_again(&call->gen)) {
        call->gen.entry = NULL;
        code = sql_copy(call->options, "the options", options->text, options->length, error);
        code = code == FIRN_OK ? generator_find(&call->gen, scheme, call->options, error) : code;
    }
    return code == FIRN_OK ? firn_next(call->gen.gen, id, error) : code;
}

static int issue(mariadb_call *call, const char *scheme, const sql_value *options) {
    firn_id id;
    int code = take_id(call, scheme, options, &id);
    if (code == FIRN_OK && call->f->returns != INTEGER &&
        firn_gen_scheme(call->gen.gen)->form == FIRN_FORM_TYPEID) {
        call->sql.length =
            strlen(firn_prefix_format(call->sql.text, firn_gen_prefix(call->gen.gen), &id));
        return FIRN_OK;
    }
    return code == FIRN_OK ? put_id(call, firn_gen_scheme(call->gen.gen), &id,
                                    firn_gen_scheme(call->gen.gen)->form)
                           : code;
}

static int next(mariadb_call *call) {
    const sql_value *options = &call->sql.arguments[0];
    return issue(call, call->f->scheme, options);
}

/* The first argument is the value of a field. */
static int next_of(mariadb_call *call) {
    char options[SQL_TEXT_SIZE + 64] UNWIPED;
    const sql_value *field = &call->sql.arguments[0], *more = &call->sql.arguments[1];
    int written = 0;
    if (field->type == SQL_INTEGER) {
        written =
            snprintf(options, sizeof options, "%s=%" PRId64 " ", call->f->field, field->integer);
    }
    written +=
        snprintf(options + written, sizeof options - (size_t)written, "%.*s",
                 (int)(more->length < SQL_TEXT_SIZE ? more->length : SQL_TEXT_SIZE), more->text);
    return issue(call, call->f->scheme, &(sql_value){.text = options, .length = (size_t)written});
}

static int next_typeid(mariadb_call *call) {
    const sql_value *prefix = &call->sql.arguments[0];
    sql_call *sql = &call->sql;
    firn_id id;
    int code = take_id(call, call->f->scheme, &call->sql.arguments[1], &id);
    code = code == FIRN_OK ? sql_typeid(sql->text, prefix->text, prefix->length, &id, &sql->error)
                           : code;
    sql->length = code == FIRN_OK ? strlen(sql->text) : 0;
    return code;
}

static int next_any(mariadb_call *call) {
    const sql_value *scheme = &call->sql.arguments[0], *options = &call->sql.arguments[1];
    int code = FIRN_OK;
    if (call->gen.entry == NULL || strlen(call->scheme_text) != scheme->length ||
        memcmp(scheme->text, call->scheme_text, scheme->length) != 0) {
        call->gen.entry = NULL;
        code = sql_copy(call->scheme_text, "the scheme", scheme->text, scheme->length,
                        &call->sql.error);
    }
    return code == FIRN_OK ? issue(call, call->scheme_text, options) : code;
}

/* ---- old rows -------------------------------------------------------------------------------- */

/* The statement's job, with scheme, name and options of the first row. */
static int job_of_row(mariadb_call *call) {
    static const unsigned position[3] = {0, 2, 3};
    static const char *const what[3] = {"scheme", "job", "options"};
    char *const kept[3] = {call->scheme_text, call->name, call->options};
    firn_error *error = &call->sql.error;
    int code = FIRN_OK;
    for (int i = 0; i < 3 && code == FIRN_OK; i++) {
        const sql_value *value = &call->sql.arguments[position[i]];
        const size_t length = value->length;
        const char *text = value->text;
        if (call->job == NULL) {
            code = sql_copy(kept[i], what[i], text, length, error);
        } else if (strlen(kept[i]) != length || memcmp(kept[i], text, length) != 0) {
            code = set_error(error, FIRN_EUSAGE,
                             "the %s changes from '%.40s' to '%.*s' within a statement: use one"
                             " statement for each",
                             what[i], kept[i], (int)(length < 40 ? length : 40), text);
        }
    }
    if (code == FIRN_OK && call->job == NULL) {
        code = job_begin(&call->job, call->scheme_text, call->name, call->options, error);
    }
    return code;
}

/* Up to 64 bits in decimal, not in the scheme's form, so that a BIGINT accepts it. */
static int stamp(mariadb_call *call) {
    firn_id id;
    int64_t shift_ns;
    int code = time_of(call, &call->sql.arguments[1], call->args->arg_type[1]);
    code = code == FIRN_OK ? job_of_row(call) : code;
    code = code == FIRN_OK
               ? firn_job_next(call->job, &call->sql.time, &id, &shift_ns, &call->sql.error)
               : code;
    if (code != FIRN_OK) {
        return code;
    }
    const firn_scheme *scheme = firn_job_scheme(call->job);
    if (scheme->bits > 64) {
        return put_form(call, &id, scheme->form);
    }
    code = sql_integer(&call->sql.integer, scheme, &id,
                       id.low > INT64_MAX && sql_unsigned(call->options), &call->sql.error);
    return code == FIRN_OK ? put_form(call, &id, FIRN_FORM_DEC) : code;
}

/* ---- numbers for people ---------------------------------------------------------------------- */

/* Uses the series of the previous row if it is the same, and still open. */
static int find_series(mariadb_call *call) {
    const char *const kept[2] = {call->name, call->options};
    firn_error *error = &call->sql.error;
    bool same = true;
    for (int i = 0; i < 2; i++) {
        const sql_value *value = &call->sql.arguments[i];
        same = same && strlen(kept[i]) == value->length &&
               memcmp(kept[i], value->text, value->length) == 0;
    }
    if (same && generator_again(&call->gen)) {
        return FIRN_OK;
    }
    call->gen.entry = NULL;
    int code = sql_copy(call->name, "the name of the series", call->sql.arguments[0].text,
                        call->sql.arguments[0].length, error);
    code = code == FIRN_OK ? sql_copy(call->options, "the definition", call->sql.arguments[1].text,
                                      call->sql.arguments[1].length, error)
                           : code;
    return code == FIRN_OK ? series_find(&call->gen, call->name, call->options, error) : code;
}

/* firn_number(SERIES [, DEFINITION [, TIME]]): a date alone is a day in the zone of the series. */
static int number(mariadb_call *call) {
    sql_call *sql = &call->sql;
    const bool dated = call->args->arg_count > 2;
    const sql_value *time = &sql->arguments[2];
    int code = find_series(call);
    if (code == FIRN_OK && dated) {
        code = time->length == sizeof "2026-11-20" - 1 && call->args->arg_type[2] == STRING_RESULT
                   ? series_day(&call->gen, &sql->time, time->text, time->length, &sql->error)
                   : time_of(call, time, call->args->arg_type[2]);
    }
    code = code == FIRN_OK
               ? series_take(&call->gen, sql->text, dated ? &sql->time : NULL, &sql->error)
               : code;
    sql->length = code == FIRN_OK ? strlen(sql->text) : 0;
    return code;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const function functions[FUNCTION_COUNT] = {
#define GENERATOR(name, scheme, type, slots)                                                       \
    [FUNCTION_##name] = {#name, RETURNS_##type, next, NULL, scheme, "", "T", "[options]"},
#define MARIADB_ISSUE(name, returns, work, scheme, field, types, words)                            \
    [FUNCTION_##name] = {#name, returns, work, NULL, scheme, field, types, words},
#define MARIADB_PURE(name, returns, call, types, words)                                            \
    [FUNCTION_##name] = {#name, returns, NULL, sql_##call, "", "", types, words},
#include "../functions.def"
};

/* The width of a column made from the value: CREATE TABLE ... SELECT. */
static unsigned width(const function *f) {
    const firn_scheme *scheme = firn_scheme_find(f->scheme);
    bool uuid = f->pure == sql_to_uuid6 || f->pure == sql_to_uuid1 || f->pure == sql_from_bin ||
                f->pure == sql_form_v1;
    if (f->returns == INTEGER) {
        return 20;
    }
    if (f->pure == sql_show) {
        return SQL_ANSWER_SIZE;
    }
    if (f->pure == sql_to_bin) {
        return 16;
    }
    if (f->pure == sql_time_v1) {
        return sizeof "2024-01-01 00:00:00.000000" - 1;
    }
    return uuid || (scheme != NULL && scheme->form == FIRN_FORM_UUID) ? 36 : FIRN_TEXT_SIZE;
}

static bool check_count(const function *f, const UDF_ARGS *args) {
    return args->arg_count >= (unsigned)sql_needed(f->types) && args->arg_count <= strlen(f->types);
}

/* The server converts texts and whole numbers; IDs and times keep their type, but floating point is
 * refused, because it has only 53 bits. */
static bool check_type(char type, enum Item_result *given) {
    if (*given == ROW_RESULT) {
        return false;
    }
    switch (type | ' ') {
    case 'i':
        *given = INT_RESULT;
        return true;
    case 'm': /* as an integer, an unsigned number from 2^63 on would be a negative one */
        *given = *given == INT_RESULT ? DECIMAL_RESULT : *given;
        return *given != REAL_RESULT;
    case 'd':
    case 'u':
        return *given != REAL_RESULT;
    default:
        *given = STRING_RESULT;
        return true;
    }
}

/* The server shows 80 characters of `message`. */
my_bool function_begin(int index, UDF_INIT *init, UDF_ARGS *args, char *message) {
    const function *f = &functions[index];
    if (!check_count(f, args)) {
        snprintf(message, MYSQL_ERRMSG_SIZE, "%u arguments do not fit: write %s(%s)",
                 args->arg_count, f->name, f->words);
        return 1;
    }
    for (unsigned i = 0; i < args->arg_count; i++) {
        if (!check_type(f->types[i], &args->arg_type[i])) {
            snprintf(message, MYSQL_ERRMSG_SIZE,
                     "argument %u is floating point, which is not exact: CAST it AS DECIMAL(20,6), "
                     "or use text",
                     i + 1);
            return 1;
        }
    }
    mariadb_call *call = calloc(1, sizeof *call);
    if (call == NULL) {
        snprintf(message, MYSQL_ERRMSG_SIZE, "out of memory: give the server more memory");
        return 1;
    }
    call->f = f;
    for (int i = 0; i < SQL_ARGUMENTS_MOST; i++) {
        call->sql.arguments[i].text = "";
    }
    init->ptr = (char *)call;
    init->maybe_null = 1;
    init->max_length = width(f);
    if (f->pure == NULL) {
        init->const_item = 0; /* a value per row */
    }
    return 0;
}

void function_end(UDF_INIT *init) {
    mariadb_call *call = (mariadb_call *)init->ptr;
    firn_job_close(call->job);
    free(call);
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* Numbers of MariaDB's messages, for their SQLSTATE. */
static unsigned error_number(int code) {
    switch (code) {
    case FIRN_EUSAGE:
    case FIRN_EUNSORTED:
        return 1210; /* ER_WRONG_ARGUMENTS, HY000 */
    case FIRN_ERANGE:
    case FIRN_ELAYOUT:
        return 1690; /* ER_DATA_OUT_OF_RANGE, 22003 */
    case FIRN_ETEXT:
    case FIRN_EMISMATCH:
        return 1367; /* ER_ILLEGAL_VALUE_FOR_TYPE, 22007 */
    default:
        return 1105; /* ER_UNKNOWN_ERROR, HY000 */
    }
}

/* False: NULL. */
static bool work(mariadb_call *call, const UDF_ARGS *args, char *is_null, char *failed) {
    int code = FIRN_OK;
    *is_null = 1;
    if (!take_row(call, args)) {
        return false;
    }
    if (call->f->pure != NULL) {
        code = answer(call, args);
    } else {
        call->args = args;
        code = call->f->work(call);
        generator_leave(&call->gen);
    }
    if (code == FIRN_OK) {
        *is_null = 0;
        return true;
    }
    /* A call marked as failed is not repeated while the table of a DEFAULT stays open: its rows
     * would silently get NULL. So it is marked only where no error can be raised. */
    *failed = my_printf_error == NULL;
    if (my_printf_error != NULL) {
        my_printf_error(error_number(code), "%s: %s", 0, call->f->name, call->sql.error.text);
    }
    return false;
}

long long function_integer(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *failed) {
    mariadb_call *call = (mariadb_call *)init->ptr;
    return work(call, args, is_null, failed) ? call->sql.integer : 0;
}

char *function_string(UDF_INIT *init, UDF_ARGS *args, unsigned long *length, char *is_null,
                      char *failed) {
    mariadb_call *call = (mariadb_call *)init->ptr;
    bool known = work(call, args, is_null, failed);
    *length = known ? call->sql.length : 0;
    return known ? call->sql.text : NULL;
}
