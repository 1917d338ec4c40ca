/* SPDX-License-Identifier: MIT */
/* The store on MariaDB and MySQL: each verb is one conditional statement in its own transaction, on a
 * connection that is kept open. */
#include "mysql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FIRN_SLOT_MAX == 4611686018427387904, "the table of marks has this bound too");

#define PAGE_ROWS 256 /* of a listing */

/* A mark's seal is the identity, a blank and the layout of its namespace. A mark is sealed once it
 * is past the floor. */
#define SEAL_SIZE (MARIA_IDENTITY_SIZE + FIRN_LAYOUT_SIZE)

/* ---- open ------------------------------------------------------------------------------------ */

/* libmariadb ignores authorities and revocations unless it verifies, and sends a client's certificate only if the
 * server happens to offer TLS. */
static int check_tls(const store *s, firn_error *error) {
    const bool verifies = s->tls != NULL && strcmp(s->tls, "verify") == 0;
    const bool requires = verifies || (s->tls != NULL && strcmp(s->tls, "require") == 0);
    int code = FIRN_OK;
    for (size_t i = 0; i < MARIA_TLS_FILES && code == FIRN_OK; i++) {
        const char *name = maria_tls_files[i];
        const bool own = name[0] == 'k' || strcmp(name, "cert") == 0; /* key, cert */
        code = module_needs(name, s->tls_files[i] != NULL,
                            own ? "tls=verify or tls=require" : "tls=verify",
                            own ? requires : verifies, error);
    }
    return code;
}

static int set_up(void *self, firn_error *error) {
    store *s = self;
    int code = module_param_name(&s->table, &s->link.url, "table", "firn", error);
    if (code == FIRN_OK) {
        code = module_param_tls(&s->tls, &s->link.url, error);
    }
    if (code == FIRN_OK) {
        code = module_param_file(&s->defaults, &s->link.url, "defaults-file", error);
    }
    s->path = module_param(&s->link.url, "socket");
    for (size_t i = 0; i < MARIA_TLS_FILES && code == FIRN_OK; i++) {
        code = module_param_file(&s->tls_files[i], &s->link.url, maria_tls_files[i], error);
    }
    if (code == FIRN_OK) {
        code = check_tls(s, error);
    }
    if (code == FIRN_OK) {
        code = maria_foreign_read_params(s, error);
    }
    return code != FIRN_OK || s->link.url.path != NULL || s->defaults != NULL
               ? code
               : module_fail(error, FIRN_EUSAGE,
                             "the store's URL names no database: write mysql://HOST/DATABASE");
}

static const module_engine engine = {
    .size = sizeof(store),
    .parameters = "table leaf tickets stub worker_node connect_timeout_ms timeout_ms tls ca cert "
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

/* ---- reserve --------------------------------------------------------------------------------- */

int maria_look_at(store *s, maria_look *at, const char *ns, const char *key, firn_error *error) {
    reply found;
    MYSQL_ROW row;
    memset(at, 0, sizeof *at);
    int code = maria_read(s, &found, error, read_sql, key, ns);
    if (code == FIRN_OK && (row = maria_next_row(&found, 5)) != NULL && row[0] != NULL &&
        row[1] != NULL) {
        at->known = true;
        at->marked = row[3] != NULL;
        snprintf(at->layout, sizeof at->layout, "%s", row[0]);
        snprintf(at->identity, sizeof at->identity, "%s", row[1]);
        at->floor = maria_number(row[2]);
        at->mark.high = maria_number(row[3]);
        at->mark.grant = row[4] != NULL ? strtoull(row[4], NULL, 10) : 0;
    }
    maria_reply_free(&found);
    return code;
}

/* Creates the record of a namespace without one, unless it may have been lost or new names are closed. */
static int first_use(store *s, const firn_request *request, firn_error *error) {
    reply done = {NULL, 0, 0, false};
    maria_look at = {.known = true}, all = {.known = false};
    int code = maria_run(s, error, born_sql, s->identity);
    const int64_t guard = firn__law_guard(request, module_now_ms());
    if (code == FIRN_OK) {
        code = maria_read(s, &done, error, first_use_sql, request->ns, request->layout, s->identity,
                          guard, s->identity, guard, (int64_t)firn__is_closed(request->layout));
        maria_reply_free(&done);
    }
    if (code == FIRN_OK && done.affected == 0) {
        code = maria_look_at(s, &at, request->ns, request->key, error);
    }
    if (code == FIRN_OK && !at.known) {
        code = maria_look_at(s, &all, FIRN__ALL_NAMES, "1", error);
    }
    if (code == FIRN_OK && !at.known) { /* nor has another process written it */
        const firn__kept lost = {.shut = firn__is_closed(all.layout) ? all.layout : NULL};
        firn__verdict verdict;
        firn_mark none;
        code = firn__law_reserve(&verdict, &lost, &s->link.memory, request, where(s), &none, error);
        code = code == FIRN_EBUSY ? FIRN_OK : code; /* with a guard: it was just opened again */
    }
    return code;
}

/* A caller that meets its own grant uses the slots, so the mark must be as durable as an
 * acknowledged one. *there: it is still the mark. */
static int settle(store *s, const firn_request *request, int64_t high, bool *there,
                  firn_error *error) {
    statement what;
    reply done;
    maria_compose(s, &what, settle_sql, request->ns, request->key, request->grant, high);
    int code = maria_ask(s, &what, NULL, &done, error);
    code = module_recode(error, code, FIRN_ESTORE, FIRN_EUNKNOWN);
    *there = code == FIRN_OK && done.affected == 1;
    maria_reply_free(&done);
    return code;
}

/* Which statement reserves. */
enum way { AGAIN, RAISE, BEGIN };

/* Why nothing was granted. FIRN_OK: the obstacle has changed or was just written, and *way is the
 * statement to try next. */
static int look_why(store *s, const firn_request *request, enum way *way, firn_mark *held,
                    firn_error *error) {
    maria_look at;
    firn__verdict verdict;
    firn_mark mark;
    bool there = true;
    int code = maria_look_at(s, &at, request->ns, request->key, error);
    *way = RAISE;
    if (code != FIRN_OK) {
        return code;
    }
    const firn__kept kept = {.known = at.known,
                             .current = strcmp(at.identity, s->identity) == 0,
                             .complete = true, /* first_use checks that */
                             .layout = at.layout,
                             .floor = at.floor,
                             .mark = at.mark,
                             .now_ms = module_now_ms()};
    code = firn__law_reserve(&verdict, &kept, &s->link.memory, request, where(s), &mark, error);
    if (code == FIRN_ENAMESPACE) {
        return code;
    }
    if (verdict.back) {
        return maria_went_back(s, error);
    }
    if (verdict.renew) {
        return at.known ? maria_run(s, error, adopt_sql, s->identity,
                                    firn__law_guard(request, module_now_ms()), request->ns,
                                    at.identity) /* the guard ends the doubt */
                        : first_use(s, request, error);
    }
    if (code == FIRN_EBUSY && mark.grant == request->grant && mark.grant != 0) {
        firn_error own = {0}; /* `error` names the other process */
        int settled = settle(s, request, mark.high, &there, &own);
        code = settled != FIRN_OK ? module_copy(error, settled, &own) : there ? code : FIRN_OK;
    }
    *held = code == FIRN_EBUSY ? mark : *held;
    *way = at.marked ? RAISE : BEGIN;
    return code;
}

static void compose_reserve(const store *s, statement *what, enum way way,
                            const firn_request *request) {
    int64_t least = firn__least(&s->link.memory, request);
    char seal[SEAL_SIZE], note[FIRN_NOTE_SIZE];
    snprintf(note, sizeof note, "%s", request->note != NULL ? request->note : "");
    switch (way) {
    case AGAIN:
        snprintf(seal, sizeof seal, "%s %s", s->identity, request->layout);
        maria_compose(s, what, again_sql, request->earliest, request->count, request->grant, note,
                      request->ns, request->key, seal, request->latest, least);
        break;
    case RAISE:
        maria_compose(s, what, raise_sql, request->earliest, request->count, request->grant, note,
                      request->ns, request->key, request->ns, request->layout, s->identity,
                      request->latest, least, request->latest);
        break;
    case BEGIN:
        maria_compose(s, what, begin_sql, request->ns, request->key, request->earliest,
                      request->count, request->grant, note, request->ns, request->layout,
                      s->identity, request->latest);
        break;
    }
}

/* The answer has the mark as it was computed. A trigger that this user may not see can store another one; the answer
 * is 0 then, or the mark differs. */
static int read_back(store *s, const firn_request *request, int64_t high, firn_error *error) {
    maria_look at = {.mark = {0, 0}};
    if (s->proved && high > 0) {
        return FIRN_OK;
    }
    int code = maria_look_at(s, &at, request->ns, request->key, error);
    code = module_recode(error, code, FIRN_ESTORE, FIRN_EUNKNOWN); /* to be sent again */
    s->proved = code == FIRN_OK && high > 0 && at.mark.high >= high;
    return code != FIRN_OK || s->proved
               ? code
               : module_fail(
                     error, FIRN_ESTORE,
                     "store %.48s does not store what firn writes to %.40s_mark: look for a "
                     "trigger (SHOW TRIGGERS), and drop it",
                     where(s), s->table);
}

static int reserve_own(store *s, const firn_request *request, int64_t *first, firn_mark *held,
                       firn_error *error) {
    enum way way = AGAIN;
    int code = s->link.memory.high == 0 ? maria_check_table(s, error)
                                        : FIRN_OK; /* else the mark is checked */
    for (int i = 0; i < MARIA_ROUNDS && code == FIRN_OK; i++) {
        statement what;
        reply done;
        compose_reserve(s, &what, way, request);
        code = maria_ask(s, &what, &module_reserve_points, &done, error);
        maria_reply_free(&done);
        if (code == FIRN_OK && !done.duplicate && done.affected == 1) {
            code = read_back(s, request, (int64_t)done.insert_id, error);
            if (code != FIRN_OK) {
                return code;
            }
            firn__remember(&s->link.memory, request, (int64_t)done.insert_id);
            return maria_granted(s, request, done.insert_id, first, error);
        }
        if (code == FIRN_OK) {
            code = look_why(s, request, &way, held, error);
        }
    }
    return code != FIRN_OK ? code : firn__refuse_contended(error, where(s), request->key);
}

static int store_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    store *s = self;
    if (maria_is_foreign(s, request->ns)) {
        return maria_foreign_reserve(s, request, first, held, error);
    }
    int code = module_ready(s, error);
    return code == FIRN_OK ? reserve_own(s, request, first, held, error) : code;
}

/* ---- the other verbs ------------------------------------------------------------------------- */

static int store_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                           int64_t high, firn_error *error) {
    store *s = self;
    statement what;
    reply done = {NULL, 0, 0, false};
    if (maria_is_foreign(s, ns)) {
        return module_fail(error, FIRN_EBUSY,
                           "table %.48s keeps no grants: the rest of the block is lost",
                           s->foreign);
    }
    int code = module_ready(s, error);
    if (code == FIRN_OK) {
        firn__forget_last(&s->link.memory);
        maria_compose(s, &what, give_back_sql, high, ns, key, mine->high, mine->grant, high);
        code = maria_ask(s, &what, &module_give_back_points, &done, error);
    }
    if (code == FIRN_OK) {
        code = done.affected == 1 ? module_point(&s->link, module_give_back_points.committed, error)
                                  : firn__refuse_give_back(error, ns, key, mine);
    }
    maria_reply_free(&done);
    return code;
}

static const char *or_empty(const char *text) {
    return text != NULL ? text : "";
}

/* Shows the lines of a page and keeps its end. */
static int show_page(const store *s, const reply *page, firn_visit *visit, void *context,
                     char ns[FIRN_NS_SIZE], char key[FIRN_KEY_SIZE], firn_error *error) {
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
        code = module_show(&s->link, visit, context, &holding, error);
    }
    return code;
}

static bool compose_page(const store *s, statement *what, const char *ns, const char *last_ns,
                         const char *last_key) {
    if (s->shape == LEAF || s->shape == TICKETS || (ns != NULL && maria_is_foreign(s, ns))) {
        return maria_foreign_page(s, what, ns, last_ns, PAGE_ROWS);
    }
    if (ns != NULL) {
        maria_compose(s, what, list_one_sql, ns, last_key, (int64_t)PAGE_ROWS);
    } else {
        maria_compose(s, what, list_all_sql, last_ns, last_ns, last_key, (int64_t)PAGE_ROWS,
                      last_ns, (int64_t)PAGE_ROWS, (int64_t)PAGE_ROWS);
    }
    return true;
}

/* In pages, one statement each, because a visitor may be slow or stop. */
static int store_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    store *s = self;
    char last_ns[FIRN_NS_SIZE] = "", last_key[FIRN_KEY_SIZE] = "";
    statement what;
    uint64_t shown = PAGE_ROWS;
    int code = module_ready(s, error);
    while (code == FIRN_OK && shown == PAGE_ROWS && compose_page(s, &what, ns, last_ns, last_key)) {
        reply page;
        module_link_deadline(&s->link); /* the visitor may be slow */
        code = maria_ask(s, &what, NULL, &page, error);
        code = module_recode(error, code, FIRN_EUNKNOWN, FIRN_ESTORE);
        if (code == FIRN_OK) {
            shown = page.rows != NULL ? mysql_num_rows(page.rows) : 0;
            code = show_page(s, &page, visit, context, last_ns, last_key, error);
        }
        maria_reply_free(&page);
    }
    return code;
}

static int store_now(void *self, firn_time *now, firn_error *error) {
    store *s = self;
    reply told = {NULL, 0, 0, false};
    int code = module_ready(s, error);
    if (code == FIRN_OK) {
        code = maria_read(s, &told, error,
                          "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))");
    }
    if (code == FIRN_OK) {
        MYSQL_ROW row = maria_next_row(&told, 1);
        int64_t us = maria_number(row != NULL ? row[0] : NULL);
        code = module_clock(now, us, s->link.url.shown, error);
    }
    maria_reply_free(&told);
    return code;
}

FIRN_API extern const firn_store_ops firn_store_module;

const firn_store_ops firn_store_module = {
    .version = 1,
    .scheme = "mysql",
    .open = store_open,
    .reserve = store_reserve,
    .give_back = store_give_back,
    .list = store_list,
    .now = store_now,
    .caution = module_caution,
    .close = module_close,
};
