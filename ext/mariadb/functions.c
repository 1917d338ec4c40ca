/* SPDX-License-Identifier: MIT */
/* Each SQL function: arguments in, a value out. Generators and jobs are in generators.c, code
 * shared by all engines in ext/common. */
#include "functions.h"

#include "../common/sql.h"
#include "errors.h"
#include "generators.h"
#include "object.h"
#include "shard.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_SIZE 8192 /* for firn_show: twelve fields, and every scheme that fits */

/* The server's function to end a statement with an error: exported, but not in a client's headers.
 * Without it a failure returns NULL, as with any loadable function. */
__attribute__((weak)) extern void my_printf_error(unsigned int number, const char *format,
                                                  unsigned long flags, ...);

typedef struct function function;

/* What a statement keeps for one call. */
typedef struct call {
    const function *f;
    firn_gen *gen; /* of the server */
    firn_job *job; /* of this statement */
    char scheme_text[SQL_TEXT_SIZE], options[SQL_TEXT_SIZE], name[SQL_TEXT_SIZE];
    size_t scheme_length;
    bool scheme_known; /* `scheme` was parsed from scheme_text */
    firn_scheme scheme;
    int64_t number; /* the value, or for STRING: */
    size_t length;
    firn_error error;
    char text[JSON_SIZE];
    firn_reading readings[FIRN_READINGS_MAX];
} call;

/* Writes the value into the call. No argument is NULL. */
typedef int worker(call *it, const UDF_ARGS *args, firn_error *error);

enum returns { INTEGER, STRING };
/* What a generator of ext/functions.def returns. */
#define RETURNS_INT  INTEGER
#define RETURNS_UUID STRING
#define RETURNS_TEXT STRING

struct function {
    const char *name;
    enum returns returns;
    worker *work;
    const char *scheme, *field;
    const char *types, *words;
    bool pure;
};

/* ---- arguments ------------------------------------------------------------------------------- */

static const char *text_at(const UDF_ARGS *args, unsigned i, size_t *length) {
    *length = i < args->arg_count ? args->lengths[i] : 0;
    return *length > 0 ? args->args[i] : "";
}

static int64_t integer_at(const UDF_ARGS *args, unsigned i) {
    long long value = 0;
    if (i < args->arg_count) {
        memcpy(&value, args->args[i], sizeof value);
    }
    return value;
}

/* Parsed once per statement, and when it changes. */
static int scheme_at(call *it, const UDF_ARGS *args, unsigned i, firn_error *error) {
    size_t length;
    const char *text = text_at(args, i, &length);
    if (it->scheme_known && length == it->scheme_length &&
        memcmp(text, it->scheme_text, length) == 0) {
        return FIRN_OK;
    }
    it->scheme_known = false;
    int code = sql_copy(it->scheme_text, "the scheme", text, length, error);
    code = code == FIRN_OK ? sql_scheme(&it->scheme, text, length, error) : code;
    it->scheme_length = length;
    it->scheme_known = code == FIRN_OK;
    return code;
}

static int time_at(firn_time *time, const UDF_ARGS *args, unsigned i, firn_error *error) {
    size_t length;
    if (args->arg_type[i] == INT_RESULT) {
        *time = (firn_time){integer_at(args, i), 0};
        return FIRN_OK;
    }
    const char *text = text_at(args, i, &length);
    return args->arg_type[i] == DECIMAL_RESULT ? sql_time_number(time, text, length, error)
                                               : sql_time(time, text, length, error);
}

/* Into it->readings. */
static int id_at(call *it, const UDF_ARGS *args, unsigned i, const firn_scheme *scheme,
                 id_counts *count, firn_error *error) {
    size_t length;
    if (args->arg_type[i] == INT_RESULT) {
        return sql_read_integer(it->readings, count, scheme, integer_at(args, i), error);
    }
    const char *text = text_at(args, i, &length);
    return sql_read(it->readings, count, scheme, text, length, error);
}

/* An ID and, optionally, its scheme. */
static int id_of_scheme(call *it, const UDF_ARGS *args, unsigned scheme, id_counts *count,
                        firn_error *error) {
    if (args->arg_count <= scheme) {
        return id_at(it, args, 0, NULL, count, error);
    }
    int code = scheme_at(it, args, scheme, error);
    return code == FIRN_OK ? id_at(it, args, 0, &it->scheme, count, error) : code;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int put_text(call *it, const char *text, size_t length) {
    memcpy(it->text, text, length);
    it->length = length;
    return FIRN_OK;
}

static int put_form(call *it, const firn_id *id, int form, firn_error *error) {
    firn_format(it->text, id, form);
    /* strlen would wait until all characters are in the cache */
    it->length = form == FIRN_FORM_UUID ? 36 : strlen(it->text);
    return it->length > 0 ? FIRN_OK
                          : set_error(error, FIRN_EMISMATCH,
                                      "this ID has no form %s: its time or"
                                      " its digits are out of range",
                                      firn_form_name(form));
}

static int put_id(call *it, const firn_scheme *scheme, const firn_id *id, firn_error *error) {
    return it->f->returns == INTEGER ? sql_integer(&it->number, scheme, id, error)
                                     : put_form(it, id, scheme->form, error);
}

/* ---- generators ------------------------------------------------------------------------------ */

/* Uses the generator of the previous row if it fits. */
static int issue(call *it, const char *scheme, const char *options, size_t length, firn_id *id,
                 firn_error *error) {
    int code = FIRN_OK;
    if (it->gen == NULL || strlen(it->options) != length ||
        memcmp(it->options, options, length) != 0) {
        it->gen = NULL;
        code = sql_copy(it->options, "the options", options, length, error);
        code = code == FIRN_OK ? generator_find(&it->gen, scheme, it->options, error) : code;
    }
    return code == FIRN_OK ? firn_next(it->gen, id, error) : code;
}

static int next(call *it, const UDF_ARGS *args, firn_error *error) {
    firn_id id;
    size_t length;
    const char *options = text_at(args, 0, &length);
    int code = issue(it, it->f->scheme, options, length, &id, error);
    return code == FIRN_OK ? put_id(it, firn_gen_scheme(it->gen), &id, error) : code;
}

/* The first argument is the value of a field. */
static int next_of(call *it, const UDF_ARGS *args, firn_error *error) {
    char options[SQL_TEXT_SIZE + 64] UNWIPED;
    firn_id id;
    size_t length;
    int written = 0;
    const char *more = text_at(args, 1, &length);
    if (args->arg_count > 0) {
        written =
            snprintf(options, sizeof options, "%s=%" PRId64 " ", it->f->field, integer_at(args, 0));
    }
    written += snprintf(options + written, sizeof options - (size_t)written, "%.*s",
                        (int)(length < SQL_TEXT_SIZE ? length : SQL_TEXT_SIZE), more);
    int code = issue(it, it->f->scheme, options, (size_t)written, &id, error);
    return code == FIRN_OK ? put_id(it, firn_gen_scheme(it->gen), &id, error) : code;
}

static int next_typeid(call *it, const UDF_ARGS *args, firn_error *error) {
    char text[FIRN_TEXT_SIZE] UNWIPED;
    firn_id id, again;
    size_t prefix_length, length;
    const char *prefix = text_at(args, 0, &prefix_length), *options = text_at(args, 1, &length);
    int code = issue(it, it->f->scheme, options, length, &id, error);
    if (code != FIRN_OK) {
        return code;
    }
    firn_format(text, &id, FIRN_FORM_TYPEID);
    int cut = (int)(prefix_length < 64 ? prefix_length : 64);
    it->length = (size_t)snprintf(it->text, sizeof it->text, "%.*s%s%s", cut, prefix,
                                  cut > 0 ? "_" : "", text);
    return firn_parse(&again, FIRN_FORM_TYPEID, 128, it->text, it->length, NULL) == FIRN_OK
               ? FIRN_OK
               : set_error(
                     error, FIRN_ETEXT,
                     "'%.*s' is not a valid prefix: use at most 63 of a-z and _, with a letter at"
                     " both ends",
                     cut, prefix);
}

static int next_any(call *it, const UDF_ARGS *args, firn_error *error) {
    size_t scheme_length, length;
    const char *scheme = text_at(args, 0, &scheme_length), *options = text_at(args, 1, &length);
    firn_id id;
    int code = FIRN_OK;
    if (it->gen == NULL || scheme_length != it->scheme_length ||
        memcmp(scheme, it->scheme_text, scheme_length) != 0) {
        it->gen = NULL;
        it->scheme_length = scheme_length;
        code = sql_copy(it->scheme_text, "the scheme", scheme, scheme_length, error);
    }
    code = code == FIRN_OK ? issue(it, it->scheme_text, options, length, &id, error) : code;
    return code == FIRN_OK ? put_id(it, firn_gen_scheme(it->gen), &id, error) : code;
}

/* ---- old rows -------------------------------------------------------------------------------- */

/* The statement's job, with scheme, name and options of the first row. */
static int job_of_row(call *it, const UDF_ARGS *args, firn_error *error) {
    static const unsigned at[3] = {0, 2, 3};
    static const char *const what[3] = {"scheme", "job", "options"};
    char *const kept[3] = {it->scheme_text, it->name, it->options};
    int code = FIRN_OK;
    for (int i = 0; i < 3 && code == FIRN_OK; i++) {
        size_t length;
        const char *text = text_at(args, at[i], &length);
        if (it->job == NULL) {
            code = sql_copy(kept[i], what[i], text, length, error);
        } else if (strlen(kept[i]) != length || memcmp(kept[i], text, length) != 0) {
            code = set_error(error, FIRN_EUSAGE,
                             "the %s changes from '%.40s' to '%.*s' within a statement: use one"
                             " statement for each",
                             what[i], kept[i], (int)(length < 40 ? length : 40), text);
        }
    }
    if (code == FIRN_OK && it->job == NULL) {
        code = job_begin(&it->job, it->scheme_text, it->name, it->options, error);
    }
    return code;
}

/* Up to 64 bits in decimal, whatever the scheme's form is, so that a BIGINT accepts it. */
static int stamp(call *it, const UDF_ARGS *args, firn_error *error) {
    firn_time time;
    firn_id id;
    int64_t shift_ns;
    int code = time_at(&time, args, 1, error);
    code = code == FIRN_OK ? job_of_row(it, args, error) : code;
    code = code == FIRN_OK ? firn_job_next(it->job, &time, &id, &shift_ns, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    const firn_scheme *scheme = firn_job_scheme(it->job);
    if (scheme->bits > 64) {
        return put_form(it, &id, scheme->form, error);
    }
    code = sql_integer(&it->number, scheme, &id, error);
    it->length = (size_t)snprintf(it->text, sizeof it->text, "%" PRId64, it->number);
    return code;
}

/* ---- reading and packing --------------------------------------------------------------------- */

static int pack(call *it, const UDF_ARGS *args, firn_error *error) {
    size_t length;
    const char *fields = text_at(args, 1, &length);
    firn_id id;
    int code = scheme_at(it, args, 0, error);
    code = code == FIRN_OK ? sql_pack(&id, &it->scheme, fields, length, error) : code;
    return code == FIRN_OK ? put_id(it, &it->scheme, &id, error) : code;
}

static int show(call *it, const UDF_ARGS *args, firn_error *error) {
    char text[READING_TEXT_SIZE];
    id_counts count;
    size_t length;
    int code = id_of_scheme(it, args, 1, &count, error);
    if (code != FIRN_OK) {
        return code;
    }
    const firn_reading *best = &it->readings[0];
    const char *given = text_at(args, 0, &length);
    if (args->arg_type[0] == INT_RESULT) {
        snprintf(text, sizeof text, "%" PRId64, integer_at(args, 0));
    } else if (length < sizeof text && length != (best->id.bits + 7) / 8) {
        memcpy(text, given, length); /* as given, with typeid's prefix */
        text[length] = '\0';
    } else {
        firn_format(text, &best->id, best->form);
    }
    json_t *object = object_of_text(text, best, count, NULL, false, args->arg_count > 1);
    size_t size = object != NULL ? json_dumpb(object, it->text, sizeof it->text, JSON_COMPACT) : 0;
    json_decref(object);
    it->length = size;
    return size > 0 && size <= sizeof it->text
               ? FIRN_OK
               : set_error(error, FIRN_EMEMORY,
                           "out of memory for the JSON object: give the server more memory");
}

static int instant(call *it, const UDF_ARGS *args, firn_error *error) {
    id_counts count;
    firn_time time;
    int code = id_of_scheme(it, args, 1, &count, error);
    code = code == FIRN_OK ? sql_id_time(&time, &it->scheme, &it->readings[0].id, error) : code;
    code = code == FIRN_OK ? sql_time_text(it->text, &time, firn_scheme_digits(&it->scheme), error)
                           : code;
    it->length = code == FIRN_OK ? strlen(it->text) : 0;
    return code;
}

static int bound(call *it, const UDF_ARGS *args, bool greatest, firn_error *error) {
    size_t length;
    const char *pinned = text_at(args, 2, &length);
    firn_time time;
    firn_id ids[2];
    int code = scheme_at(it, args, 0, error);
    code = code == FIRN_OK ? time_at(&time, args, 1, error) : code;
    code = code == FIRN_OK ? sql_bounds(&ids[0], &ids[1], &it->scheme, &time, pinned, length, error)
                           : code;
    return code == FIRN_OK ? put_id(it, &it->scheme, &ids[greatest], error) : code;
}

static int least(call *it, const UDF_ARGS *args, firn_error *error) {
    return bound(it, args, false, error);
}

static int greatest(call *it, const UDF_ARGS *args, firn_error *error) {
    return bound(it, args, true, error);
}

static int convert(call *it, const UDF_ARGS *args, firn_error *error) {
    id_counts count;
    size_t length;
    const char *to = text_at(args, 1, &length);
    int code = id_of_scheme(it, args, 2, &count, error);
    code = code == FIRN_OK ? sql_convert(it->text, it->readings, count, to, length, error) : code;
    it->length = code == FIRN_OK ? strlen(it->text) : 0;
    return code;
}

static int shard(call *it, const UDF_ARGS *args, firn_error *error) {
    id_counts count;
    int64_t shards = integer_at(args, 1);
    if (shards < 1 || shards > UINT32_MAX) {
        return set_error(error, FIRN_ERANGE, "n=%" PRId64 " is out of range: 1 to %" PRIu32, shards,
                         UINT32_MAX);
    }
    if (args->arg_type[0] == INT_RESULT && args->arg_count < 3) { /* any number is valid */
        const firn_id id = {(uint64_t)integer_at(args, 0), 0, 0, 64};
        it->number = shard_by_hash(&id, (uint32_t)shards);
        return FIRN_OK;
    }
    int code = id_of_scheme(it, args, 2, &count, error);
    code = code == FIRN_OK ? sql_certain(it->readings, count, error) : code;
    it->number = code == FIRN_OK ? shard_by_hash(&it->readings[0].id, (uint32_t)shards) : 0;
    return code;
}

static int version(call *it, const UDF_ARGS *args, firn_error *error) {
    (void)args;
    (void)error;
    return put_text(it, firn_version(), strlen(firn_version()));
}

/* ---- UUIDs ----------------------------------------------------------------------------------- */

static int exchange(call *it, const UDF_ARGS *args, firn_error *error) {
    const firn_scheme *from = firn_scheme_find(it->f->scheme), *to = firn_scheme_find(it->f->field);
    id_counts count;
    firn_id id;
    int code = id_at(it, args, 0, from, &count, error);
    code = code == FIRN_OK ? firn_convert(&id, to, &it->readings[0].id, from, error) : code;
    return code == FIRN_OK ? put_form(it, &id, to->form, error) : code;
}

static int to_bytes(call *it, const UDF_ARGS *args, firn_error *error) {
    size_t length;
    const char *text = text_at(args, 0, &length);
    uint8_t bytes[20], swapped[16];
    firn_id id;
    int code = sql_uuid(&id, text, length, error);
    if (code != FIRN_OK) {
        return code;
    }
    firn_id_bytes(bytes, &id);
    sql_swap(swapped, bytes, false);
    return put_text(it, (const char *)(integer_at(args, 1) != 0 ? swapped : bytes), 16);
}

static int from_bytes(call *it, const UDF_ARGS *args, firn_error *error) {
    size_t length;
    const char *text = text_at(args, 0, &length);
    uint8_t bytes[16];
    firn_id id;
    if (length != 16) {
        return set_error(error, FIRN_ETEXT, "%zu bytes are not a UUID: give 16", length);
    }
    memcpy(bytes, text, 16);
    if (integer_at(args, 1) != 0) {
        sql_swap(bytes, (const uint8_t *)text, true);
    }
    int code = firn_id_from_bytes(&id, bytes, 128, error);
    return code == FIRN_OK ? put_form(it, &id, FIRN_FORM_UUID, error) : code;
}

static int form_v1(call *it, const UDF_ARGS *args, firn_error *error) {
    size_t length;
    const char *address = text_at(args, 2, &length);
    firn_time time;
    firn_id id;
    int code = time_at(&time, args, 0, error);
    code =
        code == FIRN_OK ? sql_uuid1(&id, &time, integer_at(args, 1), address, length, error) : code;
    return code == FIRN_OK ? put_form(it, &id, FIRN_FORM_UUID, error) : code;
}

static int timestamp_v1(call *it, const UDF_ARGS *args, firn_error *error) {
    const firn_scheme *scheme = firn_scheme_find("uuid1");
    id_counts count;
    firn_time time;
    int code = id_at(it, args, 0, scheme, &count, error);
    code = code == FIRN_OK ? sql_id_time(&time, scheme, &it->readings[0].id, error) : code;
    code = code == FIRN_OK ? sql_time_text(it->text, &time, 6, error) : code;
    it->length = code == FIRN_OK ? strlen(it->text) : 0;
    return code;
}

/* ---- the table ------------------------------------------------------------------------------- */

static const function functions[FUNCTION_COUNT] = {
#define GENERATOR(name, scheme, type)                                                              \
    [FUNCTION_##name] = {#name, RETURNS_##type, next, scheme, "", "T", "[options]", false},
#define MARIADB_ISSUE(name, returns, work, scheme, field, types, words)                            \
    [FUNCTION_##name] = {#name, returns, work, scheme, field, types, words, false},
#define MARIADB_PURE(name, returns, work, scheme, field, types, words)                             \
    [FUNCTION_##name] = {#name, returns, work, scheme, field, types, words, true},
#include "../functions.def"
};

/* The width of a column made from the value: CREATE TABLE ... SELECT. */
static unsigned width(const function *f) {
    const firn_scheme *scheme = firn_scheme_find(f->field[0] != '\0' ? f->field : f->scheme);
    if (f->returns == INTEGER) {
        return 20;
    }
    if (f->work == show) {
        return JSON_SIZE;
    }
    if (f->work == to_bytes) {
        return 16;
    }
    if (f->work == from_bytes || f->work == form_v1) {
        return 36;
    }
    if (f->work == timestamp_v1) {
        return sizeof "2024-01-01 00:00:00.000000" - 1;
    }
    return scheme != NULL && scheme->form == FIRN_FORM_UUID ? 36 : FIRN_TEXT_SIZE;
}

static bool is_optional(char type) {
    return type >= 'A' && type <= 'Z';
}

static bool check_count(const function *f, const UDF_ARGS *args) {
    size_t most = strlen(f->types), fewest = 0;
    while (fewest < most && !is_optional(f->types[fewest])) {
        fewest++;
    }
    return args->arg_count >= fewest && args->arg_count <= most;
}

/* The server converts texts and whole numbers; IDs and times keep their type, but floating point is
 * refused, because it has only 53 bits. */
static bool check_type(char type, enum Item_result *given) {
    if (*given == ROW_RESULT) {
        return false;
    }
    switch (type | ' ') {
    case 't':
        *given = STRING_RESULT;
        return true;
    case 'i':
        *given = INT_RESULT;
        return true;
    default:
        return *given != REAL_RESULT;
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
    call *it = calloc(1, sizeof *it);
    if (it == NULL) {
        snprintf(message, MYSQL_ERRMSG_SIZE, "out of memory: give the server more memory");
        return 1;
    }
    it->f = f;
    init->ptr = (char *)it;
    init->maybe_null = 1;
    init->max_length = width(f);
    if (!f->pure) {
        init->const_item = 0; /* a value per row */
    }
    return 0;
}

void function_end(UDF_INIT *init) {
    call *it = (call *)init->ptr;
    firn_job_close(it->job);
    free(it);
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
static bool work(UDF_INIT *init, const UDF_ARGS *args, char *is_null, char *failed) {
    call *it = (call *)init->ptr;
    *is_null = 1;
    for (unsigned i = 0; i < args->arg_count; i++) {
        if (args->args[i] == NULL) {
            return false;
        }
    }
    int code = it->f->work(it, args, &it->error);
    if (code == FIRN_OK) {
        *is_null = 0;
        return true;
    }
    /* A call marked as failed is not repeated while the table of a DEFAULT stays open: its rows
     * would silently get NULL. So it is marked only where no error can be raised. */
    *failed = my_printf_error == NULL;
    if (my_printf_error != NULL) {
        my_printf_error(error_number(code), "%s: %s", 0, it->f->name, it->error.text);
    }
    return false;
}

long long function_integer(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *failed) {
    return work(init, args, is_null, failed) ? ((call *)init->ptr)->number : 0;
}

char *function_string(UDF_INIT *init, UDF_ARGS *args, unsigned long *length, char *is_null,
                      char *failed) {
    call *it = (call *)init->ptr;
    if (!work(init, args, is_null, failed)) {
        *length = 0;
        return NULL;
    }
    *length = it->length;
    return it->text;
}
