/* SPDX-License-Identifier: MIT */
/* The driver of PostgreSQL: how records are read and written, on a connection that is kept open.
 * sql.c has the order of its statements.
 *
 * The records keep the engine's identity. The store has lost reservations if its record has another
 * one (losses is 1, and otherwise 0), and a namespace is in doubt if its record has another one.
 * The identity is never written back into the store's record, so that losses never fall. */
#include "postgres.h"

#include "../src/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int postgres_open(void **self, const char *url, const firn_store_options *options,
                         firn_error *error) {
    return module_open(self, &postgres_engine, url, options, error);
}

/* ---- read ------------------------------------------------------------------------------------ */

sql_state *sql_of(void *self) {
    return &((postgres_store *)self)->sql;
}

int sql_begin(void *self, firn_error *error) {
    return postgres_run(self, sql_of(self)->verb == FIRN_VERB_RELABEL ? BEGIN_ALONE : BEGIN, NULL,
                        error);
}

int sql_start(void *self, firn_error *error) {
    return sql_of(self)->verb == FIRN_VERB_RELABEL ? sql_begin_inside(self, error) : FIRN_OK;
}

/* Also after the deadline, since the transaction holds locks: the connection is closed if there is
 * no time to ask. */
int sql_roll_back(void *self, firn_error *error) {
    int code = postgres_run(self, ROLLBACK, NULL, error);
    if (sql_of(self)->inside) {
        postgres_hang_up(self, false);
    }
    return code;
}

static void take_records(postgres_store *store, firn_records *seen, const PGresult *row) {
    const char *cells[READ_COLUMNS];
    for (int i = 0; i < READ_COLUMNS; i++) {
        cells[i] = PQgetisnull(row, 0, i) ? NULL : postgres_cell(row, 0, i);
    }
    snprintf(store->taken, sizeof store->taken, "%s", postgres_cell(row, 0, READ_TAKEN));
    postgres_take_records(seen, cells, store->sql.layout, store->sql.shut);
}

static int postgres_read_records(void *self, firn_records *seen, bool surely, firn_error *error) {
    postgres_store *store = self;
    const char *values[] = {seen->ns, seen->key};
    PGresult *row;
    (void)surely; /* each read shows every earlier commit */
    int code = postgres_read(store, READ, values, &row, error);
    if (code == FIRN_OK && strcmp(postgres_cell(row, 0, READ_SESSION), store->session) != 0) {
        postgres_hang_up(store, false);
        code = postgres_pooled(store, error);
    } else if (code == FIRN_OK && strcmp(postgres_cell(row, 0, READ_MARKS), store->marks) != 0) {
        postgres_hang_up(store, false);
        code = postgres_replaced(store, error);
    } else if (code == FIRN_OK) {
        take_records(store, seen, row);
    }
    PQclear(row);
    return code;
}

/* ---- write ----------------------------------------------------------------------------------- */

/* A note must not fail a reservation: bytes that are not UTF-8 become question marks. */
static void make_readable(char out[FIRN_NOTE_SIZE], const char *note) {
    snprintf(out, FIRN_NOTE_SIZE, "%s", note != NULL ? note : "");
    for (char *c = out; *c != '\0';) {
        const size_t size = firn__utf8_size(c, strlen(c));
        *c = size == 0 ? '?' : *c;
        c += size; /* the question mark comes next */
    }
}

int sql_raise(void *self, const firn_records *seen, firn_records *next, const firn_raise *raise,
              bool exactly, const module_points *points, firn_error *error) {
    postgres_store *store = self;
    char numbers[7][MODULE_NUMBER_SIZE], note[FIRN_NOTE_SIZE];
    const char *values[] = {next->ns,
                            next->key,
                            module_digits(numbers[0], raise->low),
                            module_digits(numbers[1], raise->count),
                            module_digits(numbers[2], raise->min),
                            module_digits(numbers[3], raise->most),
                            module_digits(numbers[4], (int64_t)next->mark.grant),
                            note,
                            next->layout,
                            module_digits(numbers[5], next->floor),
                            store->session,
                            store->marks,
                            store->taken,
                            module_digits(numbers[6], (int64_t)raise->grant),
                            exactly ? "false" : "true"};
    PGresult *row = NULL;
    make_readable(note, next->note);
    int code = postgres_taken(store, next, error);
    if (code == FIRN_OK) {
        code = postgres_ask(store, seen->key_known ? RAISE : CREATE, values, points, &row, error);
    }
    if (code == FIRN_OK) {
        code = PQntuples(row) == 1 ? FIRN_OK : FIRN_WRITE_CHANGED;
    }
    if (code == FIRN_OK) {
        next->mark.high = postgres_number_at(row, 0, 0);
    }
    PQclear(row);
    return code;
}

int sql_lower(void *self, const firn_records *seen, firn_records *next, const module_points *points,
              firn_error *error) {
    char mark[MODULE_NUMBER_SIZE], grant[MODULE_NUMBER_SIZE], lower[MODULE_NUMBER_SIZE];
    const char *values[] = {next->ns, next->key, module_digits(mark, seen->mark.high),
                            module_digits(grant, (int64_t)seen->mark.grant),
                            module_digits(lower, next->mark.high)};
    PGresult *row;
    int code = postgres_ask(self, GIVE_BACK, values, points, &row, error);
    code = code != FIRN_OK || PQntuples(row) == 1 ? code : FIRN_WRITE_CHANGED;
    PQclear(row);
    return code;
}

int sql_commit(void *self, const module_points *points, firn_error *error) {
    postgres_store *store = self;
    PGresult *done;
    int code = postgres_ask(store, COMMIT, NULL, points, &done, error);
    if (code == FIRN_OK && strcmp(postgres_cell(done, 0, 0), store->session) != 0) {
        postgres_hang_up(store, false);
        code = module_unknown(error, where(store), "a pooler changed its session");
    }
    PQclear(done);
    return code;
}

int sql_prove(void *self, const firn_records *next, firn_error *error) {
    (void)self, (void)next, (void)error; /* its statement returned the mark */
    return FIRN_OK;
}

int sql_write_store(void *self, firn_records *next, bool lost, firn_error *error) {
    (void)next;
    return postgres_run(self, lost ? DOUBT : BORN, NULL, error);
}

int sql_write_namespace(void *self, const firn_records *seen, firn_records *next,
                        firn_error *error) {
    postgres_store *store = self;
    static const char *const says[] = {"false", "true"};
    char floor[MODULE_NUMBER_SIZE];
    const char *values[] = {next->ns,
                            next->layout,
                            module_digits(floor, next->floor),
                            says[seen->ns_known],
                            says[next->ns_losses == next->losses],
                            says[store->sql.verb == FIRN_VERB_RELABEL],
                            store->session};
    PGresult *row;
    int code = postgres_read(store, NAME, values, &row, error);
    code = code != FIRN_OK || PQntuples(row) == 1 ? code : FIRN_WRITE_CHANGED;
    PQclear(row);
    return code;
}

/* PostgreSQL shows what it recovered, or what it committed when somebody cancelled the wait,
 * without the synchronous standby. Only a commit waits for it. */
int sql_settle(void *self, firn_error *error) {
    postgres_store *store = self;
    PGresult *done = NULL;
    int code = postgres_ask(store, SETTLE, &store->sql.names->ns, NULL, &done, error);
    if (code == FIRN_OK && PQntuples(done) != 1) {
        code = module_unknown(error, where(store), "its namespace is gone");
    }
    PQclear(done);
    return code;
}

/* ---- list and now ---------------------------------------------------------------------------- */

int sql_page(void *self, sql_listing *list, firn_error *error) {
    char rows[MODULE_NUMBER_SIZE];
    const char *values[] = {list->ns != NULL ? list->ns : list->last_ns, list->last_key,
                            module_digits(rows, SQL_PAGE_ROWS)};
    const enum statement statement = list->others       ? MARKS_OF_OTHERS
                                     : list->ns != NULL ? LIST_ONE
                                                        : LIST_ALL;
    PGresult *page;
    int code = postgres_read(self, statement, values, &page, error);
    for (int i = 0; code == FIRN_OK && i < PQntuples(page); i++) {
        const char *cells[7];
        for (int j = 0; j < 7; j++) {
            cells[j] = postgres_cell(page, i, j);
        }
        code = sql_show(list, cells);
    }
    PQclear(page);
    return code;
}

/* The extension's settings say which nodes it may use, and its table which it has used. */
static int postgres_others(void *self, firn_visit *visit, void *context, firn_error *error) {
    postgres_store *store = self;
    sql_listing list = {.visit = visit, .context = context, .others = true, .last_key = "-1"};
    PGresult *row = NULL;
    int code = module_ready(store, error);
    code = code == FIRN_OK ? postgres_read(store, OTHERS, NULL, &row, error) : code;
    const bool readable = code == FIRN_OK && postgres_says(row, 1);
    if (code == FIRN_OK) {
        snprintf(store->taken, sizeof store->taken, "%s", postgres_cell(row, 0, 0));
        code = postgres_show_taken(store, visit, context);
    }
    PQclear(row);
    return code == FIRN_OK && readable ? sql_show_pages(store, &list, error) : code;
}

static int postgres_now(void *self, firn_time *now, firn_error *error) {
    postgres_store *store = self;
    PGresult *result = NULL;
    int code = module_ready(store, error);
    code = code == FIRN_OK ? postgres_read(store, NOW, NULL, &result, error) : code;
    if (code == FIRN_OK) {
        int64_t us = postgres_number_at(result, 0, 0);
        code = module_clock(now, us, store->link.url.shown, error);
    }
    PQclear(result);
    return code;
}

const firn_driver firn_store_driver = {
    .version = FIRN_DRIVER_VERSION,
    .scheme = "postgres",
    .lasts = true,
    .open = postgres_open,
    .copied = sql_forget,
    .begin = sql_begin_verb,
    .read = postgres_read_records,
    .lost = sql_lost,
    .write = sql_write,
    .add = sql_add,
    .confirm = sql_confirm,
    .end = sql_end,
    .forget = sql_forget,
    .where = module_where,
    .list = sql_list,
    .now = postgres_now,
    .caution = module_caution,
    .close = module_close,
    .others = postgres_others,
};
