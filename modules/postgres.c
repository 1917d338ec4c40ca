/* SPDX-License-Identifier: MIT */
/* The driver of PostgreSQL: how records are read and written, on a connection that is kept open. A
 * raise of a mark, and a give back, is one statement in its own transaction. What changes other
 * records takes a transaction: the first such write of a verb only begins it, with its locks, and
 * the engine reads again and decides in it.
 *
 * The records keep the engine's identity. The store has lost reservations if its record has another
 * one (losses is 1, and otherwise 0), and a namespace is in doubt if its record has another one.
 * The identity is never written back into the store's record, so that losses never fall. */
#include "postgres.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

_Static_assert(FIRN_SLOT_MAX == 4611686018427387904, "the table of marks has this bound too");

#define PAGE_ROWS 256 /* of a listing */

static int postgres_open(void **self, const char *url, const firn_store_options *options,
                         firn_error *error) {
    return module_open(self, &postgres_engine, url, options, error);
}

/* ---- read ------------------------------------------------------------------------------------ */

/* Begins the transaction of a verb. */
static int begin_inside(postgres_store *store, firn_verb verb, firn_error *error) {
    int code = module_point(&store->link, firn__module_points[verb].before, error);
    return code == FIRN_OK
               ? postgres_run(store, verb == FIRN_VERB_RELABEL ? BEGIN_ALONE : BEGIN, NULL, error)
               : code;
}

/* Ends a transaction, also after the deadline, since it holds locks: the connection is closed if
 * there is no time to ask. */
static int roll_back(postgres_store *store, firn_error *error) {
    int code = postgres_run(store, ROLLBACK, NULL, error);
    if (store->inside) {
        postgres_hang_up(store, false);
    }
    return code;
}

/* Forgets also what a new connection showed: the other process may have given that back. */
static void postgres_forget(void *self) {
    postgres_store *store = self;
    store->suspect = false;
    store->last.high = 0;
}

static int postgres_begin_verb(void *self, const firn_records *names, firn_verb verb,
                               firn_error *error) {
    postgres_store *store = self;
    store->ns = names->ns;
    if (verb == FIRN_VERB_GIVE_BACK) {
        store->last.high = 0; /* from now on it may be lower */
    }
    int code = module_ready(store, error);
    return code == FIRN_OK && verb == FIRN_VERB_RELABEL ? begin_inside(store, verb, error) : code;
}

static void take_records(postgres_store *store, firn_records *seen, const PGresult *row) {
    const char *cells[READ_COLUMNS];
    for (int i = 0; i < READ_COLUMNS; i++) {
        cells[i] = PQgetisnull(row, 0, i) ? NULL : postgres_cell(row, 0, i);
    }
    snprintf(store->taken, sizeof store->taken, "%s", postgres_cell(row, 0, READ_TAKEN));
    postgres_take_records(seen, cells, store->layout, store->shut);
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

static bool postgres_lost(void *self, const firn_records *seen) {
    (void)seen;
    return ((const postgres_store *)self)->suspect;
}

/* ---- write ----------------------------------------------------------------------------------- */

/* The length of the UTF-8 character at `c` in bytes; 0: not valid. */
static size_t character(const unsigned char *c) {
    static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
    size_t more = *c < 0x80 ? 0 : *c >> 5 == 6 ? 1 : *c >> 4 == 14 ? 2 : *c >> 3 == 30 ? 3 : 4;
    if (more == 4) {
        return 0;
    }
    unsigned code = more == 0 ? *c : *c & (0x3fU >> more);
    for (size_t i = 1; i <= more; i++) {
        if (c[i] >> 6 != 2) {
            return 0;
        }
        code = code << 6 | (c[i] & 0x3fU);
    }
    return code < least[more] || code > 0x10ffff || code >> 11 == 27 ? 0 : more + 1;
}

/* A note must not fail a reservation: bytes that are not UTF-8 become question marks. */
static void make_readable(char out[FIRN_NOTE_SIZE], const char *note) {
    snprintf(out, FIRN_NOTE_SIZE, "%s", note != NULL ? note : "");
    for (char *c = out; *c != '\0';) {
        size_t length = character((const unsigned char *)c);
        *c = length == 0 ? '?' : *c;
        c += length == 0 ? 1 : length;
    }
}

/* Raises the mark as the verb's own transaction (`points`), or as a part of it. `exactly`: the mark
 * has the grant of the raise, not 0. */
static int raise_mark(postgres_store *store, const firn_records *seen, firn_records *next,
                      const firn_raise *raise, bool exactly, const module_points *points,
                      firn_error *error) {
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

static int lower_mark(postgres_store *store, const firn_records *seen, const firn_records *next,
                      const module_points *points, firn_error *error) {
    char mark[MODULE_NUMBER_SIZE], grant[MODULE_NUMBER_SIZE], lower[MODULE_NUMBER_SIZE];
    const char *values[] = {next->ns, next->key, module_digits(mark, seen->mark.high),
                            module_digits(grant, (int64_t)seen->mark.grant),
                            module_digits(lower, next->mark.high)};
    PGresult *row;
    int code = postgres_ask(store, GIVE_BACK, values, points, &row, error);
    code = code != FIRN_OK || PQntuples(row) == 1 ? code : FIRN_WRITE_CHANGED;
    PQclear(row);
    return code;
}

static int commit(postgres_store *store, firn_verb verb, firn_error *error) {
    const module_points points = {NULL, firn__module_points[verb].request_sent, NULL};
    PGresult *done;
    int code = postgres_ask(store, COMMIT, NULL, &points, &done, error);
    if (code == FIRN_OK && strcmp(postgres_cell(done, 0, 0), store->session) != 0) {
        postgres_hang_up(store, false);
        code = module_unknown(error, where(store), "a pooler changed its session");
    }
    PQclear(done);
    return code;
}

/* After a write that is committed. */
static int committed(postgres_store *store, const firn_records *next, int which, firn_verb verb,
                     firn_error *error) {
    if (verb == FIRN_VERB_RESERVE && (which & FIRN_RECORD_KEY) != 0) {
        module_keep_last(&store->last, next);
    }
    return module_point(&store->link, firn__module_points[verb].committed, error);
}

/* Each namespace is in doubt from then on, except one whose record is written afterwards. */
static int write_store(postgres_store *store, const firn_records *seen, firn_records *next,
                       firn_error *error) {
    const bool sound = next->ns_losses == next->losses;
    if (next->losses > seen->losses) {
        next->losses = 1;
        next->ns_losses = sound;
        return postgres_run(store, DOUBT, NULL, error);
    }
    return seen->known ? FIRN_OK : postgres_run(store, BORN, NULL, error);
}

static int write_namespace(postgres_store *store, const firn_records *seen,
                           const firn_records *next, firn_verb verb, firn_error *error) {
    static const char *const says[] = {"false", "true"};
    char floor[MODULE_NUMBER_SIZE];
    const char *values[] = {next->ns,
                            next->layout,
                            module_digits(floor, next->floor),
                            says[seen->ns_known],
                            says[next->ns_losses == next->losses],
                            says[verb == FIRN_VERB_RELABEL],
                            store->session};
    PGresult *row;
    int code = postgres_read(store, NAME, values, &row, error);
    code = code != FIRN_OK || PQntuples(row) == 1 ? code : FIRN_WRITE_CHANGED;
    PQclear(row);
    return code;
}

/* Of the verb's transaction, after the other records. */
static int write_mark(postgres_store *store, const firn_records *seen, firn_records *next,
                      firn_verb verb, const module_points *points, firn_error *error) {
    const firn_raise raise = {seen->mark.high, next->mark.high, seen->mark.high, 0,
                              seen->mark.grant};
    return verb == FIRN_VERB_GIVE_BACK ? lower_mark(store, seen, next, points, error)
                                       : raise_mark(store, seen, next, &raise, true, points, error);
}

/* Ends the verb's transaction after its last write. If that was too late, nothing of it may count,
 * and the next read must not show it. */
static int end_inside(postgres_store *store, int code, firn_verb verb, firn_error *error) {
    if (store->inside && code == FIRN_OK) {
        return commit(store, verb, error);
    }
    if (store->inside && code == FIRN_WRITE_CHANGED) {
        int undone = roll_back(store, error);
        return undone == FIRN_OK ? code : undone;
    }
    return code;
}

static int postgres_write(void *self, const firn_records *seen, firn_records *next, int which,
                          firn_verb verb, firn_error *error) {
    postgres_store *store = self;
    int code = FIRN_OK;
    if (which != FIRN_RECORD_KEY && !store->inside) {
        code = begin_inside(store, verb, error);
        return code == FIRN_OK ? FIRN_WRITE_CHANGED : code;
    }
    if ((which & FIRN_RECORD_STORE) != 0) {
        code = write_store(store, seen, next, error);
    }
    if (code == FIRN_OK && (which & FIRN_RECORD_NS) != 0) {
        code = write_namespace(store, seen, next, verb, error);
    }
    if (code == FIRN_OK && (which & FIRN_RECORD_KEY) != 0) {
        code = write_mark(store, seen, next, verb,
                          store->inside ? NULL : &firn__module_points[verb], error);
    }
    code = end_inside(store, code, verb, error);
    return code == FIRN_OK ? committed(store, next, which, verb, error) : code;
}

static int postgres_add(void *self, const firn_records *seen, firn_records *next,
                        const firn_raise *raise, firn_error *error) {
    postgres_store *store = self;
    int code = raise_mark(store, seen, next, raise, false,
                          store->inside ? NULL : &firn__module_points[FIRN_VERB_RESERVE], error);
    code = end_inside(store, code, FIRN_VERB_RESERVE, error);
    return code == FIRN_OK ? committed(store, next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, error)
                           : code;
}

/* PostgreSQL shows what it recovered, or what it committed when somebody cancelled the wait,
 * without the synchronous standby. Only a commit waits for it, so a transaction that writes nothing
 * is given up before. */
static int postgres_confirm(void *self, firn_error *error) {
    postgres_store *store = self;
    PGresult *done = NULL;
    int code = store->inside ? roll_back(store, error) : FIRN_OK;
    if (code == FIRN_OK) {
        code = postgres_ask(store, SETTLE, &store->ns, NULL, &done, error);
    }
    if (code == FIRN_OK && PQntuples(done) != 1) {
        code = module_unknown(error, where(store), "its namespace is gone");
    }
    PQclear(done);
    return module_replace_code(error, code, FIRN_ESTORE, FIRN_EUNKNOWN);
}

/* Gives up a transaction in which nothing had to be written. */
static int postgres_end(void *self, int code) {
    postgres_store *store = self;
    if (store->inside && code != FIRN_EFORKED) {
        (void)roll_back(store, NULL);
    }
    return code;
}

static const char *postgres_where(void *self) {
    return where(self);
}

/* ---- list and now ---------------------------------------------------------------------------- */

/* Shows the lines of a page and keeps its end. */
static int show_page(const postgres_store *store, const PGresult *page, firn_visit *visit,
                     void *context, char ns[FIRN_NS_SIZE], char key[FIRN_KEY_SIZE],
                     firn_error *error) {
    int code = FIRN_OK;
    for (int i = 0; code == FIRN_OK && i < PQntuples(page); i++) {
        const firn_holding holding = {
            postgres_cell(page, i, 0),
            postgres_cell(page, i, 1),
            postgres_cell(page, i, 2),
            postgres_cell(page, i, 3),
            {postgres_number_at(page, i, 4), (uint64_t)postgres_number_at(page, i, 5)},
            postgres_number_at(page, i, 6)};
        snprintf(ns, FIRN_NS_SIZE, "%s", holding.ns);
        snprintf(key, FIRN_KEY_SIZE, "%s", holding.key);
        code = module_show(&store->link, visit, context, &holding, error);
    }
    return code;
}

/* In pages, one statement each, because a visitor may be slow or stop. `ns`: of this namespace
 * only, or NULL. `before`: the first key is after it. */
static int show_pages(postgres_store *store, enum statement statement, const char *ns,
                      const char *before, firn_visit *visit, void *context, firn_error *error) {
    char last_ns[FIRN_NS_SIZE] = "", last_key[FIRN_KEY_SIZE], rows[MODULE_NUMBER_SIZE];
    const char *values[] = {ns != NULL ? ns : last_ns, last_key, module_digits(rows, PAGE_ROWS)};
    int shown = PAGE_ROWS, code = FIRN_OK;
    snprintf(last_key, sizeof last_key, "%s", before);
    while (code == FIRN_OK && shown == PAGE_ROWS) {
        PGresult *page;
        module_link_deadline(&store->link); /* the visitor may be slow */
        code = postgres_read(store, statement, values, &page, error);
        if (code == FIRN_OK) {
            shown = PQntuples(page);
            code = show_page(store, page, visit, context, last_ns, last_key, error);
        }
        PQclear(page);
    }
    return code;
}

static int postgres_list(void *self, const char *ns, firn_visit *visit, void *context,
                         firn_error *error) {
    postgres_store *store = self;
    int code = module_ready(store, error);
    return code == FIRN_OK
               ? show_pages(store, ns != NULL ? LIST_ONE : LIST_ALL, ns, "", visit, context, error)
               : code;
}

/* The extension's settings say which nodes it may use, and its table which it has used. */
static int postgres_others(void *self, firn_visit *visit, void *context, firn_error *error) {
    postgres_store *store = self;
    PGresult *row = NULL;
    int code = module_ready(store, error);
    if (code == FIRN_OK) {
        code = postgres_read(store, OTHERS, NULL, &row, error);
    }
    const bool readable = code == FIRN_OK && postgres_says(row, 1);
    if (code == FIRN_OK) {
        snprintf(store->taken, sizeof store->taken, "%s", postgres_cell(row, 0, 0));
        code = postgres_show_taken(store, visit, context, error);
    }
    PQclear(row);
    return code == FIRN_OK && readable
               ? show_pages(store, MARKS_OF_OTHERS, NULL, "-1", visit, context, error)
               : code;
}

static int postgres_now(void *self, firn_time *now, firn_error *error) {
    postgres_store *store = self;
    PGresult *result = NULL;
    int code = module_ready(store, error);
    if (code == FIRN_OK) {
        code = postgres_read(store, NOW, NULL, &result, error);
    }
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
    .copied = postgres_forget,
    .begin = postgres_begin_verb,
    .read = postgres_read_records,
    .lost = postgres_lost,
    .write = postgres_write,
    .add = postgres_add,
    .confirm = postgres_confirm,
    .end = postgres_end,
    .forget = postgres_forget,
    .where = postgres_where,
    .list = postgres_list,
    .now = postgres_now,
    .caution = module_caution,
    .close = module_close,
    .others = postgres_others,
};
