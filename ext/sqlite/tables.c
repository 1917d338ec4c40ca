/* SPDX-License-Identifier: MIT */
/* Table-valued functions: firn_ids(SCHEME, N [, OPTIONS [, KIND]]) issues N IDs, one per row, and
 * no schema can use it; firn_series(SCHEME, FROM, TO [, STEP [, FIELDS [, KIND]]]) divides [FROM,
 * TO) into steps and returns their times and the least and greatest ID, for counts per hour.
 * Arguments are hidden columns; with a NULL the table is empty. */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 256 };

#define SECOND INT64_C(1000000000)

/* The description and functions of one table. */
typedef struct table_row table_row;

typedef struct ids_table {
    sqlite3_vtab base;
    sql_connection *connection;
    const table_row *row;
} ids_table;

typedef struct ids_cursor {
    sqlite3_vtab_cursor base;
    sqlite3_value *arguments[SQL_ARGUMENTS_MOST]; /* as given, for the hidden columns */
    sqlite3_int64 rowid;
    bool end;
    int result_kind;
    bool allowed; /* by unsigned=1 */
    firn_scheme scheme;

    firn_gen *gen; /* of firn_ids */
    uint64_t era;
    sqlite3_int64 left; /* IDs, after those in `ids` */
    firn_id ids[BATCH];
    size_t at, count;

    firn_time from, until, to; /* of firn_series: the step, and the end */
    firn_time step;
    firn_fields pinned;
    firn_id least, greatest;
} ids_cursor;

struct table_row {
    const char *name, *schema;
    int shown, needed, most; /* columns before the arguments; arguments */
    int flags;
    int (*begin)(ids_table *table, ids_cursor *cursor, firn_error *error);
    /* to the next row, or cursor->end */
    int (*next)(ids_table *table, ids_cursor *cursor, firn_error *error);
    void (*column)(const ids_cursor *cursor, sqlite3_context *context, int i);
};

/* ---- firn_ids -------------------------------------------------------------------------------- */

static int fill(ids_table *table, ids_cursor *cursor, firn_error *error) {
    size_t count = cursor->left < BATCH ? (size_t)cursor->left : BATCH;
    cursor->at = 0;
    cursor->count = 0;
    cursor->end = count == 0;
    if (cursor->end) {
        return FIRN_OK;
    }
    if (cursor->era != table->connection->era) {
        return set_error(error, FIRN_EUSAGE,
                         "firn_config closed the generator of this statement: "
                         "call firn_config before the statement");
    }
    int code = firn_next_n(cursor->gen, cursor->ids, count, error);
    if (code != FIRN_OK) {
        return connection_failed(table->connection, code, error);
    }
    for (size_t i = 0; i < count && code == FIRN_OK; i++) {
        code = sign_check(cursor->result_kind, &cursor->scheme, &cursor->ids[i], cursor->allowed,
                          error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    cursor->count = count;
    cursor->left -= (sqlite3_int64)count;
    return FIRN_OK;
}

static int ids_begin(ids_table *table, ids_cursor *cursor, firn_error *error) {
    sql_value scheme, options = {.text = ""};
    table->connection->used = true;
    int code = text_of(&scheme, cursor->arguments[0], 0, error);
    if (code == FIRN_OK && (sqlite3_value_type(cursor->arguments[1]) != SQLITE_INTEGER ||
                            sqlite3_value_int64(cursor->arguments[1]) < 0)) {
        code = set_error(error, FIRN_ERANGE,
                         "the number of IDs is not valid: give an INTEGER of 0 or "
                         "more");
    }
    if (code == FIRN_OK && cursor->arguments[2] != NULL) {
        code = text_of(&options, cursor->arguments[2], 2, error);
    }
    if (code == FIRN_OK && cursor->arguments[3] != NULL) {
        code = as_of(&cursor->result_kind, cursor->arguments[3], 3, error);
    }
    code = code == FIRN_OK ? connection_gen(table->connection, scheme, options, &cursor->gen, error)
                           : code;
    if (code == FIRN_OK) {
        cursor->scheme = *firn_gen_scheme(cursor->gen);
        cursor->allowed = sql_unsigned(options.text);
        cursor->era = table->connection->era;
        cursor->left = sqlite3_value_int64(cursor->arguments[1]);
        code = as_check(cursor->result_kind, &cursor->scheme, error);
    }
    return code == FIRN_OK ? fill(table, cursor, error) : code;
}

static int ids_next(ids_table *table, ids_cursor *cursor, firn_error *error) {
    return ++cursor->at < cursor->count ? FIRN_OK : fill(table, cursor, error);
}

static void ids_column(const ids_cursor *cursor, sqlite3_context *context, int i) {
    (void)i;
    result_id(context, &cursor->ids[cursor->at], cursor->scheme.form, cursor->result_kind);
}

/* ---- firn_series ----------------------------------------------------------------------------- */

/* Units of constant length: no months or years. */
static const struct {
    const char *name;
    int64_t ns;
} units[] = {{"microsecond", 1000},       {"millisecond", 1000000}, {"second", SECOND},
             {"minute", 60 * SECOND},     {"hour", 3600 * SECOND},  {"day", 86400 * SECOND},
             {"week", 7 * 86400 * SECOND}};

/* '15 minutes' */
static int step_of_text(int64_t *ns, sql_value text, firn_error *error) {
    char *rest;
    long long count = strtoll(text.text, &rest, 10);
    size_t length;
    rest += strspn(rest, " ");
    length = strlen(rest);
    length -= length > 1 && rest[length - 1] == 's';
    for (size_t i = 0; i < sizeof units / sizeof units[0] && count > 0; i++) {
        if (length == strlen(units[i].name) && memcmp(rest, units[i].name, length) == 0 &&
            !__builtin_mul_overflow(count, units[i].ns, ns)) {
            return FIRN_OK;
        }
    }
    return set_error(
        error, FIRN_EUSAGE,
        "'%.40s' is not a valid step: give INTEGER seconds, or a number and microseconds, "
        "milliseconds, seconds, minutes, hours, days or weeks",
        text.text);
}

/* A step is one day by default. Steps must not share a tick, whose IDs would count twice. */
static int step_of(ids_cursor *cursor, firn_error *error) {
    sqlite3_value *value = cursor->arguments[3];
    int64_t ns = 86400 * SECOND;
    sql_value text;
    int code = FIRN_OK;
    if (value != NULL && sqlite3_value_type(value) == SQLITE_INTEGER) {
        bool wide = __builtin_mul_overflow(sqlite3_value_int64(value), SECOND, &ns);
        code = !wide && ns > 0 ? FIRN_OK
                               : set_error(error, FIRN_ERANGE,
                                           "the step is out of range: 1 to 9223372036 seconds");
    } else if (value != NULL) {
        code = text_of(&text, value, 3, error);
        code = code == FIRN_OK ? step_of_text(&ns, text, error) : code;
    }
    if (code == FIRN_OK && cursor->scheme.tick_ns > 0 && ns % cursor->scheme.tick_ns != 0) {
        code =
            set_error(error, FIRN_ERANGE,
                      "the step is not a multiple of the tick of %s, %u ns: choose a longer step",
                      cursor->scheme.name, cursor->scheme.tick_ns);
    }
    cursor->step = (firn_time){ns / SECOND, (int32_t)(ns % SECOND)};
    return code;
}

static firn_time later(firn_time time, firn_time owner) {
    time.sec += owner.sec;
    time.ns += owner.ns;
    if (time.ns >= SECOND) {
        time.sec++;
        time.ns -= (int32_t)SECOND;
    }
    return time;
}

/* Takes the step that starts at cursor->from, or ends. */
static int take_step(ids_cursor *cursor, firn_error *error) {
    cursor->end = firn_time_cmp(&cursor->from, &cursor->to) >= 0;
    if (cursor->end) {
        return FIRN_OK;
    }
    cursor->until = later(cursor->from, cursor->step);
    if (firn_time_cmp(&cursor->until, &cursor->to) > 0) {
        cursor->until = cursor->to;
    }
    int code = firn_range(&cursor->least, &cursor->greatest, &cursor->scheme, &cursor->pinned,
                          &cursor->from, &cursor->until, error);
    int64_t value;
    if (code == FIRN_OK && (cursor->result_kind == AS_INTEGER ||
                            (cursor->result_kind == AS_OWN && cursor->scheme.bits <= 64))) {
        code = sql_integer(&value, &cursor->scheme, &cursor->greatest, false, error);
    }
    return code;
}

static int series_fields(ids_cursor *cursor, firn_error *error) {
    sql_value text;
    if (cursor->arguments[4] == NULL) {
        return FIRN_OK;
    }
    int code = text_of(&text, cursor->arguments[4], 4, error);
    return code == FIRN_OK ? sql_fields(&cursor->pinned, NULL, &cursor->scheme, -1, text.text,
                                        text.length, error)
                           : code;
}

static int series_begin(ids_table *table, ids_cursor *cursor, firn_error *error) {
    sql_value scheme;
    uint64_t tick;
    (void)table;
    int code = text_of(&scheme, cursor->arguments[0], 0, error);
    code = code == FIRN_OK ? sql_scheme(&cursor->scheme, scheme.text, scheme.length, error) : code;
    code = code == FIRN_OK ? time_of(&cursor->from, cursor->arguments[1], 1, error) : code;
    code = code == FIRN_OK ? time_of(&cursor->to, cursor->arguments[2], 2, error) : code;
    code = code == FIRN_OK ? step_of(cursor, error) : code;
    code = code == FIRN_OK ? series_fields(cursor, error) : code;
    if (code == FIRN_OK && cursor->arguments[5] != NULL) {
        code = as_of(&cursor->result_kind, cursor->arguments[5], 5, error);
        code = code == FIRN_OK ? as_check(cursor->result_kind, &cursor->scheme, error) : code;
    }
    if (code == FIRN_OK && cursor->scheme.tick_ns == 0) {
        code = set_error(error, FIRN_EUSAGE,
                         "%s has no time: choose a scheme with a time, such as uuid7",
                         cursor->scheme.name);
    }
    code = code == FIRN_OK ? firn_scheme_tick(&cursor->scheme, &cursor->from, &tick, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    firn_scheme_time(&cursor->scheme, tick, &cursor->from); /* steps start at tick boundaries */
    return take_step(cursor, error);
}

static int series_next(ids_table *table, ids_cursor *cursor, firn_error *error) {
    (void)table;
    cursor->from = cursor->until;
    return take_step(cursor, error);
}

static void series_column(const ids_cursor *cursor, sqlite3_context *context, int i) {
    char text[FIRN_TIME_SIZE];
    if (i < 2) {
        firn_time_format(text, i == 0 ? &cursor->from : &cursor->until,
                         firn_scheme_digits(&cursor->scheme));
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    } else {
        result_id(context, i == 2 ? &cursor->least : &cursor->greatest, cursor->scheme.form,
                  cursor->result_kind);
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

static const table_row rows[] = {
    {"firn_ids", "CREATE TABLE x(id, scheme HIDDEN, n HIDDEN, options HIDDEN, kind HIDDEN)", 1, 2,
     4, SQLITE_VTAB_DIRECTONLY, ids_begin, ids_next, ids_column},
    {"firn_series",
     "CREATE TABLE x(start, stop, least, greatest, scheme HIDDEN, \"from\" HIDDEN, \"to\" HIDDEN,"
     " step HIDDEN, fields HIDDEN, kind HIDDEN)",
     4, 3, 6, SQLITE_VTAB_INNOCUOUS, series_begin, series_next, series_column},
};

/* SQLite passes this to connect. */
typedef struct made_of {
    sql_connection *connection;
    const table_row *row;
} made_of;

static int table_connect(sqlite3 *db, void *context, int count, const char *const *words,
                         sqlite3_vtab **out, char **message) {
    const made_of *from = context;
    (void)count;
    (void)words;
    (void)message;
    int code = sqlite3_declare_vtab(db, from->row->schema);
    ids_table *table = code == SQLITE_OK ? sqlite3_malloc(sizeof *table) : NULL;
    if (table == NULL) {
        return code == SQLITE_OK ? SQLITE_NOMEM : code;
    }
    *table = (ids_table){.connection = from->connection, .row = from->row};
    sqlite3_vtab_config(db, from->row->flags);
    *out = &table->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *base) {
    sqlite3_free(base);
    return SQLITE_OK;
}

/* idxNum: bit i means that argument i is given; arguments are in the order of the columns. */
static int table_best(sqlite3_vtab *base, sqlite3_index_info *info) {
    const ids_table *table = (const ids_table *)base;
    int found[SQL_ARGUMENTS_MOST] = {-1, -1, -1, -1, -1, -1}, next = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        int argument = info->aConstraint[i].iColumn - table->row->shown;
        if (argument < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) {
            continue;
        }
        if (!info->aConstraint[i].usable) {
            return SQLITE_CONSTRAINT; /* possible in another order of the join */
        }
        found[argument] = i;
    }
    info->idxNum = 0;
    for (int i = 0; i < table->row->most; i++) {
        if (found[i] >= 0) {
            info->aConstraintUsage[found[i]].argvIndex = ++next;
            info->aConstraintUsage[found[i]].omit = 1;
            info->idxNum |= 1 << i;
        } else if (i < table->row->needed) {
            base->zErrMsg = sqlite3_mprintf("%s needs %d arguments: see docs/guides/sqlite.md",
                                            table->row->name, table->row->needed);
            return SQLITE_ERROR;
        }
    }
    info->estimatedCost = 1000;
    info->estimatedRows = 1000;
    return SQLITE_OK;
}

static int table_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    ids_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    (void)base;
    if (cursor == NULL) {
        return SQLITE_NOMEM;
    }
    memset(cursor, 0, sizeof *cursor);
    *out = &cursor->base;
    return SQLITE_OK;
}

static void forget_arguments(ids_cursor *cursor) {
    for (int i = 0; i < SQL_ARGUMENTS_MOST; i++) {
        sqlite3_value_free(cursor->arguments[i]);
        cursor->arguments[i] = NULL;
    }
}

static int table_close(sqlite3_vtab_cursor *base) {
    forget_arguments((ids_cursor *)base);
    sqlite3_free(base);
    return SQLITE_OK;
}

static int tell(sqlite3_vtab_cursor *base, int code, const firn_error *error) {
    if (code == FIRN_OK) {
        return SQLITE_OK;
    }
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg = sqlite3_mprintf("%s", error->text);
    return SQLITE_ERROR;
}

static int table_filter(sqlite3_vtab_cursor *base, int given, const char *name, int count,
                        sqlite3_value **values) {
    ids_cursor *cursor = (ids_cursor *)base;
    ids_table *table = (ids_table *)base->pVtab;
    firn_error error;
    bool null = false;
    (void)name;
    forget_arguments(cursor);
    cursor->rowid = 1;
    cursor->result_kind = AS_OWN;
    cursor->pinned = (firn_fields){0};
    for (int i = 0, next = 0; i < table->row->most && next < count; i++) {
        if ((given >> i & 1) != 0) {
            null = null || sqlite3_value_type(values[next]) == SQLITE_NULL;
            cursor->arguments[i] = sqlite3_value_dup(values[next++]);
            if (cursor->arguments[i] == NULL) {
                return SQLITE_NOMEM;
            }
        }
    }
    cursor->end = null;
    return null ? SQLITE_OK : tell(base, table->row->begin(table, cursor, &error), &error);
}

static int table_next(sqlite3_vtab_cursor *base) {
    ids_table *table = (ids_table *)base->pVtab;
    firn_error error;
    ((ids_cursor *)base)->rowid++;
    return tell(base, table->row->next(table, (ids_cursor *)base, &error), &error);
}

static int table_eof(sqlite3_vtab_cursor *base) {
    return ((const ids_cursor *)base)->end;
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i) {
    const ids_cursor *cursor = (const ids_cursor *)base;
    const ids_table *table = (const ids_table *)base->pVtab;
    if (i < table->row->shown) {
        table->row->column(cursor, context, i);
    } else if (cursor->arguments[i - table->row->shown] != NULL) {
        sqlite3_result_value(context, cursor->arguments[i - table->row->shown]);
    }
    return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    *out = ((const ids_cursor *)base)->rowid;
    return SQLITE_OK;
}

/* No xCreate: tables exist without CREATE VIRTUAL TABLE. */
static const sqlite3_module module = {.xConnect = table_connect,
                                      .xBestIndex = table_best,
                                      .xDisconnect = table_disconnect,
                                      .xDestroy = table_disconnect,
                                      .xOpen = table_open,
                                      .xClose = table_close,
                                      .xFilter = table_filter,
                                      .xNext = table_next,
                                      .xEof = table_eof,
                                      .xColumn = table_column,
                                      .xRowid = table_rowid};

static void drop_table(void *context) {
    made_of *from = context;
    connection_drop(from->connection);
    free(from);
}

int add_tables(sql_connection *connection) {
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && code == SQLITE_OK; i++) {
        made_of *from = malloc(sizeof *from);
        if (from == NULL) {
            return SQLITE_NOMEM;
        }
        *from = (made_of){connection, &rows[i]};
        connection->uses++;
        code = sqlite3_create_module_v2(connection->db, rows[i].name, &module, from, drop_table);
    }
    return code;
}
