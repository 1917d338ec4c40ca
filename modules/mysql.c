/* SPDX-License-Identifier: MIT */
/* The driver of MariaDB and MySQL: how records are read and written, on a connection that is kept
 * open. A raise of a mark, and a give back, is one statement in its own transaction. What changes
 * other records takes a transaction: the first such write of a verb only begins it, with its lock,
 * and the engine reads again and decides in it.
 *
 * The records keep the identity of the server or cluster. The store has lost reservations if its
 * record has another one (losses is 1, and otherwise 0), and a namespace is in doubt if its record
 * has another one. The identity is never written back into the store's record, so that losses never
 * fall.
 *
 * A mark's seal is the identity, a blank and the layout of its namespace. A mark is sealed once it
 * is raised past the floor. */
#include "mysql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FIRN_SLOT_MAX == 4611686018427387904, "the table of marks has this bound too");

#define PAGE_ROWS 256 /* of a listing */

#define SEAL_SIZE (MARIA_IDENTITY_SIZE + FIRN_LAYOUT_SIZE)

/* ---- open ------------------------------------------------------------------------------------ */

/* libmariadb ignores authorities and revocations unless it verifies, and sends a client's
 * certificate only if the server happens to offer TLS. */
static int check_tls(const mysql_store *store, firn_error *error) {
    const bool verifies = store->tls != NULL && strcmp(store->tls, "verify") == 0;
    const bool requires = verifies || (store->tls != NULL && strcmp(store->tls, "require") == 0);
    int code = FIRN_OK;
    for (size_t i = 0; i < MARIA_TLS_FILES && code == FIRN_OK; i++) {
        const char *name = maria_tls_files[i];
        const bool own = name[0] == 'k' || strcmp(name, "cert") == 0; /* key, cert */
        code = module_needs(name, store->tls_files[i] != NULL,
                            own ? "tls=verify or tls=require" : "tls=verify",
                            own ? requires : verifies, error);
    }
    return code;
}

static int set_up(void *self, firn_error *error) {
    mysql_store *store = self;
    int code = module_param_name(&store->table, &store->link.url, "table", "firn", error);
    if (code == FIRN_OK) {
        code = module_param_tls(&store->tls, &store->link.url, error);
    }
    if (code == FIRN_OK) {
        code = module_param_file(&store->defaults, &store->link.url, "defaults-file", error);
    }
    store->path = module_param(&store->link.url, "socket");
    for (size_t i = 0; i < MARIA_TLS_FILES && code == FIRN_OK; i++) {
        code = module_param_file(&store->tls_files[i], &store->link.url, maria_tls_files[i], error);
    }
    if (code == FIRN_OK) {
        code = check_tls(store, error);
    }
    if (code == FIRN_OK) {
        code = maria_foreign_read_params(store, error);
    }
    return code != FIRN_OK || store->link.url.path != NULL || store->defaults != NULL
               ? code
               : module_fail(error, FIRN_EUSAGE,
                             "the store's URL names no database: write mysql://HOST/DATABASE");
}

static const module_engine engine = {
    .size = sizeof(mysql_store),
    .parameters = "table leaf tickets stub worker_node connect_timeout timeout tls ca cert "
                  "key crl socket defaults-file unsafe",
    .set_up = set_up,
    .ready = module_ready,
    .is_open = maria_is_open,
    .dial = maria_dial,
    .hang_up = maria_hang_up,
};

static int store_open(void **self, const char *url, const firn_store_options *options,
                      firn_error *error) {
    return module_open(self, &engine, url, options, error);
}

/* ---- read ------------------------------------------------------------------------------------ */

static void make_seal(const mysql_store *store, char seal[SEAL_SIZE], const char *layout) {
    snprintf(seal, SEAL_SIZE, "%s %s", store->identity, layout);
}

/* The driver's part of the records. */
enum { OWN_SEALED };

/* Begins the transaction of a verb. */
static int begin_inside(mysql_store *store, firn_verb verb, firn_error *error) {
    int code = module_point(&store->link, firn__module_points[verb].before, error);
    store->inside = code == FIRN_OK;
    if (code == FIRN_OK) {
        code = maria_run(store, error, "START TRANSACTION");
    }
    return code == FIRN_OK ? maria_run(store, error, lock_sql) : code;
}

/* After a failure the connection is closed. */
static int roll_back(mysql_store *store, firn_error *error) {
    store->inside = false;
    int code = maria_run(store, error, rollback_sql);
    if (code != FIRN_OK) {
        maria_hang_up(store, false);
    }
    return code;
}

/* Forgets also what a new connection showed: the other process may have given that back. */
static void store_forget(void *self) {
    mysql_store *store = self;
    store->last.high = 0;
    store->suspect = false;
}

static int store_begin(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    mysql_store *store = self;
    store->names = names;
    store->relabels = verb == FIRN_VERB_RELABEL;
    if (verb == FIRN_VERB_GIVE_BACK) {
        store->last.high = 0; /* from now on it may be lower */
    }
    bool lost;
    int code = module_ready(store, error);
    return code == FIRN_OK && store->last.high == 0 && verb != FIRN_VERB_GIVE_BACK
               ? maria_check_table(store, &lost, error)
               : code; /* else the mark is checked */
}

static const char *or_empty(const char *text) {
    return text != NULL ? text : "";
}

/* The columns of read_sql. */
enum {
    READ_STORE,
    READ_ALL,
    READ_ALL_LAYOUT,
    READ_LAYOUT,
    READ_IDENTITY,
    READ_FLOOR,
    READ_HIGH,
    READ_GRANT,
    READ_SEAL,
    READ_COLUMNS
};

static void take_records(mysql_store *store, firn_records *seen, const MYSQL_ROW row) {
    char seal[SEAL_SIZE];
    snprintf(store->layout, sizeof store->layout, "%s", or_empty(row[READ_LAYOUT]));
    snprintf(store->shut, sizeof store->shut, "%s", or_empty(row[READ_ALL_LAYOUT]));
    make_seal(store, seal, store->layout);
    seen->fresh = true;
    seen->known = strcmp(or_empty(row[READ_STORE]), "new") != 0;
    seen->losses = seen->known && strcmp(or_empty(row[READ_STORE]), store->identity) != 0;
    seen->all_new = strcmp(or_empty(row[READ_ALL]), store->identity) == 0;
    seen->shut = firn_layout_closed(store->shut) ? store->shut : NULL;
    seen->ns_known = row[READ_LAYOUT] != NULL;
    seen->layout = store->layout;
    seen->ns_losses =
        seen->losses - (strcmp(or_empty(row[READ_IDENTITY]), store->identity) == 0 ? 0 : 1);
    seen->floor = maria_number(row[READ_FLOOR]);
    seen->key_known = row[READ_HIGH] != NULL;
    seen->mark.high = maria_number(row[READ_HIGH]);
    seen->mark.grant = strtoull(or_empty(row[READ_GRANT]), NULL, 10);
    seen->note = ""; /* no write needs it */
    seen->own[OWN_SEALED] = strcmp(or_empty(row[READ_SEAL]), seal) == 0;
}

static int store_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    mysql_store *store = self;
    mysql_reply found;
    (void)surely; /* each read shows every earlier commit */
    int code = maria_read(store, &found, error, read_sql, seen->ns, seen->ns, seen->key);
    if (code == FIRN_WRITE_CHANGED) {
        /* A cluster can roll back the verb's transaction at any statement: the next write begins
         * another. */
        code = maria_read(store, &found, error, read_sql, seen->ns, seen->ns, seen->key);
    }
    const MYSQL_ROW row = code == FIRN_OK ? maria_next_row(&found, READ_COLUMNS) : NULL;
    if (row != NULL) {
        take_records(store, seen, row);
    } else if (code == FIRN_OK) {
        code = module_unreachable(error, where(store), "a read had no row");
    }
    maria_reply_free(&found);
    return code;
}

static bool store_lost(void *self, const firn_records *seen) {
    (void)seen;
    return ((const mysql_store *)self)->suspect;
}

/* ---- write ----------------------------------------------------------------------------------- */

static void compose_raise(const mysql_store *store, mysql_statement *statement,
                          const firn_records *seen, const firn_records *next,
                          const firn_raise *raise, bool exactly) {
    char seal[SEAL_SIZE], note[FIRN_NOTE_SIZE];
    const int64_t compared = exactly || raise->grant != 0 ? raise->min : -1; /* by its grant, too */
    const uint64_t also = exactly ? raise->grant : 0;
    snprintf(note, sizeof note, "%s", next->note);
    make_seal(store, seal, next->layout);
    if (!seen->key_known) {
        maria_compose(store, statement, begin_sql, next->ns, next->key, raise->low, raise->count,
                      next->mark.grant, note, next->ns, next->layout, next->floor, store->identity);
    } else if (next->own[OWN_SEALED] != 0) {
        maria_compose(store, statement, again_sql, raise->low, raise->count, next->mark.grant, note,
                      next->ns, next->key, raise->min, raise->most, compared, also, raise->grant,
                      seal);
    } else {
        maria_compose(store, statement, raise_sql, raise->low, raise->count, next->mark.grant, note,
                      next->ns, next->key, raise->min, raise->most, compared, also, raise->grant,
                      next->ns, next->layout, next->floor, store->identity);
    }
}

/* The answer has the mark as it was computed. A trigger that this user may not see can store
 * another one; the answer is 0 then, or the mark differs. */
static int read_back(mysql_store *store, const firn_records *next, int64_t high,
                     firn_error *error) {
    firn_records now = {.ns = next->ns, .key = next->key};
    if (store->proved && high > 0) {
        return FIRN_OK;
    }
    int code = store_read(store, &now, true, error);
    code = module_replace_code(error, code, FIRN_ESTORE, FIRN_EUNKNOWN); /* to be sent again */
    store->proved = code == FIRN_OK && high > 0 && now.mark.high >= high;
    return code != FIRN_OK || store->proved
               ? code
               : module_fail(
                     error, FIRN_ESTORE,
                     "store %.48s does not store what firn writes to %.40s_mark: look for a "
                     "trigger (SHOW TRIGGERS), and drop it",
                     where(store), store->table);
}

/* Sends a write of a mark as the verb's own transaction (`points`), or as a part of it. */
static int send_mark(mysql_store *store, const mysql_statement *statement,
                     const module_points *points, uint64_t *id, firn_error *error) {
    mysql_reply done;
    int code = maria_ask(store, statement, points, &done, error);
    code = points == NULL ? module_replace_code(error, code, FIRN_EUNKNOWN, FIRN_ESTORE) : code;
    maria_reply_free(&done);
    *id = done.insert_id;
    return code == FIRN_OK && (done.duplicate || done.affected != 1) ? FIRN_WRITE_CHANGED : code;
}

static int raise_mark(mysql_store *store, const firn_records *seen, firn_records *next,
                      const firn_raise *raise, bool exactly, const module_points *points,
                      firn_error *error) {
    mysql_statement statement;
    uint64_t high;
    compose_raise(store, &statement, seen, next, raise, exactly);
    int code = send_mark(store, &statement, points, &high, error);
    if (code == FIRN_OK) {
        next->mark.high = (int64_t)high;
        next->own[OWN_SEALED] = seen->key_known;
    }
    return code;
}

static int lower_mark(mysql_store *store, const firn_records *seen, firn_records *next,
                      const module_points *points, firn_error *error) {
    mysql_statement statement;
    uint64_t none;
    next->own[OWN_SEALED] = 0;
    maria_compose(store, &statement, give_back_sql, next->mark.high, next->ns, next->key,
                  seen->mark.high, seen->mark.grant, next->mark.high);
    return send_mark(store, &statement, points, &none, error);
}

static int commit(mysql_store *store, firn_verb verb, firn_error *error) {
    const module_points points = {NULL, firn__module_points[verb].request_sent, NULL};
    mysql_statement statement;
    mysql_reply done;
    maria_compose(store, &statement, commit_sql);
    statement.ends = true;
    int code = maria_ask(store, &statement, &points, &done, error);
    maria_reply_free(&done);
    return code;
}

/* The tables may have been loaded from a dump, perhaps just before the write. The mark does not show
 * that: others may have reserved since the dump. */
static int check_table(mysql_store *store, firn_error *error) {
    bool lost = false;
    int code = module_now_ms() - store->checked_ms < MARIA_CHECK_MS
                   ? FIRN_OK
                   : maria_check_table(store, &lost, error);
    if (code != FIRN_OK) {
        maria_hang_up(store, false); /* a new connection checks it, too */
    }
    return code == FIRN_OK && lost ? FIRN_WRITE_FOREIGN
                                   : module_replace_code(error, code, FIRN_ESTORE, FIRN_EUNKNOWN);
}

/* After a write that is committed. */
static int committed(mysql_store *store, const firn_records *next, int which, firn_verb verb,
                     firn_error *error) {
    if (verb == FIRN_VERB_RESERVE && (which & FIRN_RECORD_KEY) != 0) {
        int code = read_back(store, next, next->mark.high, error);
        code = code == FIRN_OK ? check_table(store, error) : code;
        if (code != FIRN_OK) {
            return code;
        }
        module_keep_last(&store->last, next);
    }
    return module_point(&store->link, firn__module_points[verb].committed, error);
}

/* After a loss, each namespace is in doubt from then on, except one whose record is written
 * afterwards. */
static int write_own(mysql_store *store, const firn_records *seen, firn_records *next,
                     firn_error *error) {
    const bool sound = next->ns_losses == next->losses;
    if (next->losses == seen->losses) {
        return seen->known ? FIRN_OK : maria_run(store, error, born_sql, store->identity);
    }
    next->losses = 1;
    next->ns_losses = sound;
    next->own[OWN_SEALED] = 0;
    return maria_run(store, error, doubt_sql, MODULE_GONE_BACK);
}

static int write_namespace(mysql_store *store, const firn_records *seen, firn_records *next,
                           firn_verb verb, firn_error *error) {
    mysql_statement statement;
    mysql_reply done;
    next->own[OWN_SEALED] = 0;
    if (seen->ns_known) {
        maria_compose(store, &statement, name_sql, next->layout,
                      (int64_t)(next->ns_losses == next->losses), store->identity,
                      (int64_t)(verb == FIRN_VERB_RELABEL), next->floor, next->floor, next->ns);
    } else {
        maria_compose(store, &statement, name_first_sql, next->ns, next->layout, store->identity,
                      next->floor);
    }
    int code = maria_ask(store, &statement, NULL, &done, error);
    maria_reply_free(&done);
    code = module_replace_code(error, code, FIRN_EUNKNOWN, FIRN_ESTORE);
    return code == FIRN_OK && !seen->ns_known && done.affected == 0 ? FIRN_WRITE_CHANGED : code;
}

/* Of the verb's transaction, after the other records. */
static int write_mark(mysql_store *store, const firn_records *seen, firn_records *next,
                      firn_verb verb, const module_points *points, firn_error *error) {
    const firn_raise raise = {seen->mark.high, next->mark.high, seen->mark.high, 0,
                              seen->mark.grant};
    return verb == FIRN_VERB_GIVE_BACK ? lower_mark(store, seen, next, points, error)
                                       : raise_mark(store, seen, next, &raise, true, points, error);
}

/* The other records are written in the verb's transaction, which reads what was so when it
 * began. */
static int write_inside(mysql_store *store, const firn_records *seen, firn_records *next, int which,
                        firn_verb verb, firn_error *error) {
    int code = (which & FIRN_RECORD_STORE) != 0 ? write_own(store, seen, next, error) : FIRN_OK;
    if (code == FIRN_OK && (which & FIRN_RECORD_NS) != 0) {
        code = write_namespace(store, seen, next, verb, error);
    }
    if (code == FIRN_OK && (which & FIRN_RECORD_KEY) != 0) {
        code = write_mark(store, seen, next, verb, NULL, error);
    }
    if (code == FIRN_OK) {
        code = commit(store, verb, error);
    }
    if (code == FIRN_WRITE_CHANGED && store->inside) {
        int undone = roll_back(store, error);
        code = undone == FIRN_OK ? code : undone;
    }
    return code;
}

static int store_write(void *self, const firn_records *seen, firn_records *next, int which,
                       firn_verb verb, firn_error *error) {
    mysql_store *store = self;
    int code;
    if (which != FIRN_RECORD_KEY && !store->inside) {
        code = begin_inside(store, verb, error);
        return code == FIRN_OK ? FIRN_WRITE_CHANGED : code;
    }
    code = store->inside ? write_inside(store, seen, next, which, verb, error)
                         : write_mark(store, seen, next, verb, &firn__module_points[verb], error);
    return code == FIRN_OK ? committed(store, next, which, verb, error) : code;
}

/* A cluster compares written rows. A change of a namespace writes the marks that it sees, so a
 * raise on another server conflicts with it; a new mark does only because its transaction locks the
 * store. */
static int store_add(void *self, const firn_records *seen, firn_records *next,
                     const firn_raise *raise, firn_error *error) {
    mysql_store *store = self;
    if (!store->inside && !seen->key_known && maria_in_cluster(store)) {
        int begun = begin_inside(store, FIRN_VERB_RESERVE, error);
        return begun == FIRN_OK ? FIRN_WRITE_CHANGED : begun;
    }
    if (store->inside) {
        return store_write(store, seen, next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, error);
    }
    int code =
        raise_mark(store, seen, next, raise, false, &firn__module_points[FIRN_VERB_RESERVE], error);
    return code == FIRN_OK ? committed(store, next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, error)
                           : code;
}

/* A change of layouts has written, and is durable with all that came before. In a transaction that
 * writes nothing else, which is given up, this would not be. */
static int store_confirm(void *self, firn_error *error) {
    mysql_store *store = self;
    mysql_statement statement;
    mysql_reply done = {NULL, 0, 0, false};
    int code = FIRN_OK;
    if (store->relabels) {
        return code;
    }
    if (store->inside) {
        code = roll_back(store, error);
    }
    if (code == FIRN_OK) {
        maria_compose(store, &statement, settle_sql, store->names->ns, store->names->key);
        code = maria_ask(store, &statement, NULL, &done, error);
    }
    maria_reply_free(&done);
    if (code == FIRN_OK && done.affected != 1) {
        code = module_unknown(error, where(store), "its mark is gone");
    }
    return module_replace_code(error, code, FIRN_ESTORE, FIRN_EUNKNOWN);
}

/* Gives up a transaction in which nothing had to be written. */
static int store_end(void *self, int code) {
    mysql_store *store = self;
    if (store->inside && code != FIRN_EFORKED) {
        (void)roll_back(store, NULL);
    }
    return code;
}

static const char *store_where(void *self) {
    return where(self);
}

static const char *store_source(void *self, const char *ns) {
    mysql_store *store = self;
    snprintf(store->source, sizeof store->source, "table %.48s", store->foreign);
    return maria_is_foreign(store, ns) ? store->source : NULL;
}

/* ---- list and now ---------------------------------------------------------------------------- */

/* Shows the lines of a page and keeps its end. */
static int show_page(const mysql_store *store, const mysql_reply *page, firn_visit *visit,
                     void *context, char ns[FIRN_NS_SIZE], char key[FIRN_KEY_SIZE],
                     firn_error *error) {
    MYSQL_ROW row;
    int code = FIRN_OK;
    while (code == FIRN_OK && (row = maria_next_row(page, 7)) != NULL) {
        const firn_holding holding = {
            or_empty(row[0]),
            or_empty(row[1]),
            or_empty(row[2]),
            or_empty(row[3]),
            {maria_number(row[4]), row[5] != NULL ? strtoull(row[5], NULL, 10) : 0},
            maria_number(row[6])};
        snprintf(ns, FIRN_NS_SIZE, "%s", holding.ns);
        snprintf(key, FIRN_KEY_SIZE, "%s", holding.key);
        code = module_show(&store->link, visit, context, &holding, error);
    }
    return code;
}

static bool compose_page(const mysql_store *store, mysql_statement *statement, const char *ns,
                         const char *last_ns, const char *last_key) {
    if (store->shape == LEAF || store->shape == TICKETS ||
        (ns != NULL && maria_is_foreign(store, ns))) {
        return maria_foreign_page(store, statement, ns, last_ns, PAGE_ROWS);
    }
    if (ns != NULL) {
        maria_compose(store, statement, list_one_sql, ns, last_key, (int64_t)PAGE_ROWS);
    } else {
        maria_compose(store, statement, list_all_sql, last_ns, last_ns, last_key,
                      (int64_t)PAGE_ROWS, last_ns, (int64_t)PAGE_ROWS, (int64_t)PAGE_ROWS);
    }
    return true;
}

/* In pages, one statement each, because a visitor may be slow or stop. */
static int store_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    mysql_store *store = self;
    char last_ns[FIRN_NS_SIZE] = "", last_key[FIRN_KEY_SIZE] = "";
    mysql_statement statement;
    uint64_t shown = PAGE_ROWS;
    int code = module_ready(store, error);
    while (code == FIRN_OK && shown == PAGE_ROWS &&
           compose_page(store, &statement, ns, last_ns, last_key)) {
        mysql_reply page;
        module_link_deadline(&store->link); /* the visitor may be slow */
        code = maria_ask(store, &statement, NULL, &page, error);
        code = module_replace_code(error, code, FIRN_EUNKNOWN, FIRN_ESTORE);
        if (code == FIRN_OK) {
            shown = page.rows != NULL ? mysql_num_rows(page.rows) : 0;
            code = show_page(store, &page, visit, context, last_ns, last_key, error);
        }
        maria_reply_free(&page);
    }
    return code;
}

static int store_now(void *self, firn_time *now, firn_error *error) {
    mysql_store *store = self;
    mysql_reply reply = {NULL, 0, 0, false};
    int code = module_ready(store, error);
    if (code == FIRN_OK) {
        code = maria_read(store, &reply, error,
                          "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))");
    }
    if (code == FIRN_OK) {
        MYSQL_ROW row = maria_next_row(&reply, 1);
        int64_t us = maria_number(row != NULL ? row[0] : NULL);
        code = module_clock(now, us, store->link.url.shown, error);
    }
    maria_reply_free(&reply);
    return code;
}

const firn_driver firn_store_driver = {
    .version = FIRN_DRIVER_VERSION,
    .scheme = "mysql",
    .lasts = true,
    .open = store_open,
    .copied = store_forget,
    .begin = store_begin,
    .read = store_read,
    .lost = store_lost,
    .write = store_write,
    .add = store_add,
    .confirm = store_confirm,
    .end = store_end,
    .forget = store_forget,
    .source = store_source,
    .take = maria_take,
    .where = store_where,
    .list = store_list,
    .now = store_now,
    .caution = module_caution,
    .close = module_close,
};
