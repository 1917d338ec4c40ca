/* SPDX-License-Identifier: MIT */
/* Pure functions: DETERMINISTIC and INNOCUOUS, usable in generated columns, CHECK constraints and
 * indexes on expressions. NULL in, NULL out. They read no clock and no store. */
#include "extension.h"
#include "object.h"
#include "shard.h"

#include <stdlib.h>
#include <string.h>

static bool any_null(sqlite3_context *context, int count, sqlite3_value **values) {
    for (int i = 0; i < count; i++) {
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) {
            sqlite3_result_null(context);
            return true;
        }
    }
    return false;
}

/* On the stack it would be zeroed for each row. */
static firn_reading *readings_of(sqlite3_context *context) {
    connection *it = sqlite3_user_data(context);
    return it->readings;
}

/* Reads an ID of the scheme of argument i. */
static int id_in(sqlite3_context *context, firn_reading *readings, sqlite3_value **values, int i,
                 firn_error *error) {
    id_counts count;
    const firn_scheme *scheme = scheme_of(context, values, i, error);
    return scheme != NULL ? id_of(readings, &count, scheme, values[0], error) : error->code;
}

/* ---- what an ID holds ------------------------------------------------------------------------ */

/* The text of the ID in an answer. */
static void text_for(char text[FIRN_TEXT_SIZE], sqlite3_value *value, const firn_reading *reading) {
    int type = sqlite3_value_type(value);
    firn_format(text, &reading->id, type == SQLITE_INTEGER ? FIRN_FORM_DEC : FIRN_FORM_HEX);
}

/* firn_show(ID [, SCHEME]) */
static void show(sqlite3_context *context, int given, sqlite3_value **values) {
    firn_reading *readings = readings_of(context);
    char text[FIRN_TEXT_SIZE];
    const firn_scheme *scheme = NULL;
    firn_error error;
    id_counts count = {0, 0};
    int code = FIRN_OK;
    if (given == 2) {
        scheme = scheme_of(context, values, 1, &error);
        code = scheme != NULL ? FIRN_OK : error.code;
    }
    code = code == FIRN_OK ? id_of(readings, &count, scheme, values[0], &error) : code;
    if (code != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    text_for(text, values[0], &readings[0]);
    bool own = sqlite3_value_type(values[0]) == SQLITE_TEXT;
    const char *id = own ? (const char *)sqlite3_value_text(values[0]) : text;
    json_t *object = object_of_text(id, readings, count, NULL, false, given == 2);
    char *dumped = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (dumped == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    sqlite3_result_text(context, dumped, -1, free);
}

/* Calls `answer` with the time of an ID. */
static int instant(sqlite3_context *context, sqlite3_value **values, firn_time *time, int *digits,
                   firn_error *error) {
    firn_reading *readings = readings_of(context);
    int code = id_in(context, readings, values, 1, error);
    if (code == FIRN_OK) {
        code = sql_id_time(time, readings[0].scheme, &readings[0].id, error);
        *digits = firn_scheme_digits(readings[0].scheme);
    }
    return code;
}

/* firn_time(ID, SCHEME): RFC 3339 */
static void time_text(sqlite3_context *context, int count, sqlite3_value **values) {
    char text[FIRN_TIME_SIZE];
    firn_error error;
    firn_time time;
    int digits;
    (void)count;
    if (instant(context, values, &time, &digits, &error) != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    sqlite3_result_text(context, firn_time_format(text, &time, digits), -1, SQLITE_TRANSIENT);
}

/* firn_unix_ns(ID, SCHEME): INTEGER, from 1677 to 2262 */
static void time_ns(sqlite3_context *context, int count, sqlite3_value **values) {
    char text[FIRN_TIME_SIZE];
    firn_error error;
    firn_time time;
    sqlite3_int64 ns;
    int digits, code = instant(context, values, &time, &digits, &error);
    (void)count;
    if (code == FIRN_OK && (__builtin_mul_overflow(time.sec, INT64_C(1000000000), &ns) ||
                            __builtin_add_overflow(ns, time.ns, &ns))) {
        code = set_error(&error, FIRN_ERANGE,
                         "%s does not fit an INTEGER of nanoseconds (1677 to 2262): use firn_time",
                         firn_time_format(text, &time, digits));
    }
    if (code == FIRN_OK) {
        sqlite3_result_int64(context, ns);
    } else {
        result_error(context, &error);
    }
}

/* ---- IDs from what is known ------------------------------------------------------------------ */

static int as_in(int *as, int i, int count, sqlite3_value **values, const firn_scheme *scheme,
                 firn_error *error) {
    *as = AS_OWN;
    int code = i < count ? as_of(as, values[i], error) : FIRN_OK;
    return code == FIRN_OK ? as_check(*as, scheme, error) : code;
}

/* firn_pack(SCHEME, FIELDS [, KIND]) */
static void pack(sqlite3_context *context, int count, sqlite3_value **values) {
    firn_error error;
    firn_id id;
    line fields;
    int as;
    const firn_scheme *scheme = scheme_of(context, values, 0, &error);
    int code = scheme != NULL ? text_of(&fields, values[1], "the fields", &error) : error.code;
    code = code == FIRN_OK ? sql_pack(&id, scheme, fields.at, fields.length, &error) : code;
    code = code == FIRN_OK ? as_in(&as, 2, count, values, scheme, &error) : code;
    if (code == FIRN_OK) {
        result_id(context, &id, scheme->form, as);
    } else {
        result_error(context, &error);
    }
}

/* For comparisons, so an INTEGER that would be negative is refused. */
static int ordered(const firn_scheme *scheme, const firn_id *id, int as, firn_error *error) {
    int64_t value;
    return as == AS_INTEGER || (as == AS_OWN && id->bits <= 64)
               ? sql_integer(&value, scheme, id, error)
               : FIRN_OK;
}

/* firn_min and firn_max(SCHEME, TIME [, FIELDS [, KIND]]) */
static void bound(sqlite3_context *context, int count, sqlite3_value **values, bool greatest) {
    firn_error error;
    firn_time time;
    firn_id ids[2];
    line fields = {"", 0};
    int as;
    const firn_scheme *scheme = scheme_of(context, values, 0, &error);
    int code = scheme != NULL ? time_of(&time, values[1], &error) : error.code;
    if (code == FIRN_OK && count > 2) {
        code = text_of(&fields, values[2], "the fields", &error);
    }
    code = code == FIRN_OK
               ? sql_bounds(&ids[0], &ids[1], scheme, &time, fields.at, fields.length, &error)
               : code;
    code = code == FIRN_OK ? as_in(&as, 3, count, values, scheme, &error) : code;
    code = code == FIRN_OK ? ordered(scheme, &ids[greatest], as, &error) : code;
    if (code == FIRN_OK) {
        result_id(context, &ids[greatest], scheme->form, as);
    } else {
        result_error(context, &error);
    }
}

static void least(sqlite3_context *context, int count, sqlite3_value **values) {
    bound(context, count, values, false);
}

static void most(sqlite3_context *context, int count, sqlite3_value **values) {
    bound(context, count, values, true);
}

/* uuid3(SPACE, NAME), uuid5(SPACE, NAME): hashes a name, or the bytes of a BLOB. */
static void digest(sqlite3_context *context, sqlite3_value **values, const char *name) {
    const firn_scheme *scheme = firn_scheme_find(name);
    char text[FIRN_TEXT_SIZE];
    firn_error error;
    firn_id id;
    line space;
    int code = text_of(&space, values[0], "the namespace", &error);
    const void *bytes = sqlite3_value_blob(values[1]); /* of TEXT, its UTF-8 */
    size_t size = (size_t)sqlite3_value_bytes(values[1]);
    code = code == FIRN_OK
               ? firn_digest(&id, scheme, space.at, bytes != NULL ? bytes : "", size, &error)
               : code;
    if (code != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    sqlite3_result_text(context, firn_format(text, &id, scheme->form), -1, SQLITE_TRANSIENT);
}

static void digest3(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    digest(context, values, "uuid3");
}

static void digest5(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    digest(context, values, "uuid5");
}

/* ---- the same ID otherwise ------------------------------------------------------------------- */

/* To another kind or form; all readings must be the same ID. */
static int convert_kind(sqlite3_context *context, const firn_reading *readings, id_counts count,
                        int as, firn_error *error) {
    int code = sql_certain(readings, count, error);
    code = code == FIRN_OK ? as_check(as, readings[0].scheme, error) : code;
    if (code == FIRN_OK) {
        result_id(context, &readings[0].id, readings[0].scheme->form, as);
    }
    return code;
}

/* To another scheme, from the best reading only. */
static int convert_scheme(sqlite3_context *context, const firn_reading *readings, id_counts count,
                          const firn_scheme *to, firn_error *error) {
    firn_id id;
    int code = readings_convert(&id, to, readings, count, "name its scheme too", error);
    if (code == FIRN_OK) {
        result_id(context, &id, to->form, AS_OWN);
    }
    return code;
}

/* firn_convert(ID, TO [, FROM]): TO is a kind, a form or a scheme, FROM the scheme. */
static void convert(sqlite3_context *context, int given, sqlite3_value **values) {
    firn_reading *readings = readings_of(context);
    const firn_scheme *from = NULL, *to = NULL;
    firn_error error;
    id_counts count;
    int as, code = FIRN_OK;
    if (given == 3) {
        from = scheme_of(context, values, 2, &error);
        code = from != NULL ? FIRN_OK : error.code;
    }
    code = code == FIRN_OK ? id_of(readings, &count, from, values[0], &error) : code;
    if (code == FIRN_OK && as_of(&as, values[1], &error) == FIRN_OK) {
        code = convert_kind(context, readings, count, as, &error);
    } else if (code == FIRN_OK) {
        to = scheme_of(context, values, 1, &error);
        code = to != NULL ? convert_scheme(context, readings, count, to, &error) : error.code;
    }
    if (code != FIRN_OK) {
        result_error(context, &error);
    }
}

/* uuid1_to_uuid6(UUID) and back; of TEXT a TEXT, of a BLOB a BLOB. */
static void reorder(sqlite3_context *context, sqlite3_value **values, const char *from,
                    const char *to) {
    firn_reading *readings = readings_of(context);
    firn_error error;
    firn_id id;
    id_counts count;
    int code = id_of(readings, &count, firn_scheme_find(from), values[0], &error);
    code = code == FIRN_OK ? firn_convert(&id, firn_scheme_find(to), &readings[0].id,
                                          readings[0].scheme, &error)
                           : code;
    if (code == FIRN_OK) {
        bool bytes = sqlite3_value_type(values[0]) == SQLITE_BLOB;
        result_id(context, &id, FIRN_FORM_UUID, bytes ? AS_BLOB : AS_TEXT);
    } else {
        result_error(context, &error);
    }
}

static void to_uuid6(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    reorder(context, values, "uuid1", "uuid6");
}

static void to_uuid1(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    reorder(context, values, "uuid6", "uuid1");
}

/* MySQL's second argument: 0, or 1 to swap. */
static int swap_of(bool *swap, int count, sqlite3_value **values, firn_error *error) {
    sqlite3_int64 value = count > 1 ? sqlite3_value_int64(values[1]) : 0;
    *swap = value == 1;
    return (value == 0 || value == 1) &&
                   (count < 2 || sqlite3_value_type(values[1]) == SQLITE_INTEGER)
               ? FIRN_OK
               : set_error(error, FIRN_ERANGE, "swap is not valid: give the INTEGER 0 or 1");
}

/* uuid_to_bin(UUID [, SWAP]) */
static void to_bin(sqlite3_context *context, int count, sqlite3_value **values) {
    uint8_t bytes[20], swapped[16];
    firn_error error;
    firn_id id;
    line text;
    bool swap;
    int code = text_of(&text, values[0], "the UUID", &error);
    code = code == FIRN_OK ? sql_uuid(&id, text.at, text.length, &error) : code;
    code = code == FIRN_OK ? swap_of(&swap, count, values, &error) : code;
    if (code != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    firn_id_bytes(bytes, &id);
    sql_swap(swapped, bytes, false);
    sqlite3_result_blob(context, swap ? swapped : bytes, 16, SQLITE_TRANSIENT);
}

/* bin_to_uuid(BLOB [, SWAP]) */
static void from_bin(sqlite3_context *context, int count, sqlite3_value **values) {
    const uint8_t *bytes = sqlite3_value_blob(values[0]);
    char text[FIRN_TEXT_SIZE];
    uint8_t swapped[16];
    firn_error error;
    firn_id id;
    bool swap;
    int code = swap_of(&swap, count, values, &error);
    if (code == FIRN_OK &&
        (sqlite3_value_type(values[0]) != SQLITE_BLOB || sqlite3_value_bytes(values[0]) != 16)) {
        code = set_error(&error, FIRN_EMISMATCH,
                         "the argument is not a BLOB of 16 bytes: give the result of uuid_to_bin");
    }
    if (code == FIRN_OK) {
        sql_swap(swapped, bytes, true);
        code = firn_id_from_bytes(&id, swap ? swapped : bytes, 128, &error);
    }
    if (code != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    sqlite3_result_text(context, firn_format(text, &id, FIRN_FORM_UUID), 36, SQLITE_TRANSIENT);
}

/* ---- version 1 by hand ----------------------------------------------------------------------- */

/* form_uuid_v1(TIME, CLOCK_SEQ, ADDRESS) */
static void form_v1(sqlite3_context *context, int count, sqlite3_value **values) {
    char text[FIRN_TEXT_SIZE];
    firn_error error;
    firn_time time;
    firn_id id;
    line address;
    (void)count;
    int code = time_of(&time, values[0], &error);
    if (code == FIRN_OK && sqlite3_value_type(values[1]) != SQLITE_INTEGER) {
        code =
            set_error(&error, FIRN_EUSAGE, "the clock sequence is not an INTEGER: give 0 to 16383");
    }
    code = code == FIRN_OK ? text_of(&address, values[2], "the address", &error) : code;
    code = code == FIRN_OK ? sql_uuid1(&id, &time, sqlite3_value_int64(values[1]), address.at,
                                       address.length, &error)
                           : code;
    if (code != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    sqlite3_result_text(context, firn_format(text, &id, FIRN_FORM_UUID), 36, SQLITE_TRANSIENT);
}

/* uuid_v1_timestamp(UUID) */
static void v1_time(sqlite3_context *context, int count, sqlite3_value **values) {
    firn_reading *readings = readings_of(context);
    char text[FIRN_TIME_SIZE];
    firn_error error;
    firn_time time;
    id_counts read;
    (void)count;
    int code = id_of(readings, &read, firn_scheme_find("uuid1"), values[0], &error);
    code = code == FIRN_OK ? sql_id_time(&time, readings[0].scheme, &readings[0].id, &error) : code;
    if (code != FIRN_OK) {
        result_error(context, &error);
        return;
    }
    sqlite3_result_text(context, firn_time_format(text, &time, 7), -1, SQLITE_TRANSIENT);
}

/* ---- shards ---------------------------------------------------------------------------------- */

/* firn_shard(ID, N [, SCHEME]): 0 to N - 1 */
static void shard(sqlite3_context *context, int given, sqlite3_value **values) {
    firn_reading *readings = readings_of(context);
    const firn_scheme *scheme = NULL;
    firn_error error;
    id_counts count;
    sqlite3_int64 shards = sqlite3_value_int64(values[1]);
    int code = FIRN_OK;
    if (sqlite3_value_type(values[1]) != SQLITE_INTEGER || shards < 1 || shards > UINT32_MAX) {
        code = set_error(&error, FIRN_ERANGE,
                         "the number of shards is not valid: give 1 to 4294967295");
    }
    if (code == FIRN_OK && given == 3) {
        scheme = scheme_of(context, values, 2, &error);
        code = scheme != NULL ? FIRN_OK : error.code;
    }
    if (code == FIRN_OK && scheme == NULL && sqlite3_value_type(values[0]) == SQLITE_INTEGER) {
        firn_id id = {(uint64_t)sqlite3_value_int64(values[0]), 0, 0, 64};
        sqlite3_result_int64(context, shard_by_hash(&id, (uint32_t)shards));
        return;
    }
    code = code == FIRN_OK ? id_of(readings, &count, scheme, values[0], &error) : code;
    code = code == FIRN_OK ? sql_certain(readings, count, &error) : code;
    if (code == FIRN_OK) {
        sqlite3_result_int64(context, shard_by_hash(&readings[0].id, (uint32_t)shards));
    } else {
        result_error(context, &error);
    }
}

static void version(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    (void)values;
    sqlite3_result_text(context, firn_version(), -1, SQLITE_STATIC);
}

/* ---- all of them ----------------------------------------------------------------------------- */

#define PURE (SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

/* All functions that return NULL for NULL. */
#define NULL_AWARE(name)                                                                           \
    static void name##_or_null(sqlite3_context *context, int count, sqlite3_value **values) {      \
        if (!any_null(context, count, values)) {                                                   \
            name(context, count, values);                                                          \
        }                                                                                          \
    }
#define SQLITE_PURE(name, least, most, call, arguments) NULL_AWARE(call)
#include "../functions.def"

static const function_row rows[] = {
#define SQLITE_PURE(name, least, most, call, arguments) {#name, least, most, PURE, call##_or_null},
#include "../functions.def"
};

int add_readers(connection *it) {
    return add_functions(it, rows, sizeof rows / sizeof rows[0]);
}
