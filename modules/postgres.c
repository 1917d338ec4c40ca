/* SPDX-License-Identifier: MIT */
/* The store on PostgreSQL: each verb is one statement in its own transaction, on a connection that
 * is kept open. */
#include "postgres.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

_Static_assert(FIRN_SLOT_MAX == 4611686018427387904, "the table of marks has this bound too");

#define ROUNDS    8   /* tries of a reservation that another process interferes with */
#define PAGE_ROWS 256 /* of a listing */

#define NOT_GRANTED "-" /* for $12: the statement only reads, because no server's text is equal */

static int postgres_open(void **self, const char *url, const firn_store_options *options,
                         firn_error *error) {
    return module_open(self, &postgres_engine, url, options, error);
}

/* ---- reserve --------------------------------------------------------------------------------- */

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

/* Creates the record of a namespace without one, unless it may have been lost. */
static int first_use(store *s, const firn_request *request, firn_mark *held, firn_error *error) {
    char guard[MODULE_NUMBER_SIZE];
    const char *values[] = {request->ns, request->layout, s->marks,
                            module_digits(guard, firn__law_guard(request, module_now_ms()))};
    firn__kept kept = {.now_ms = module_now_ms()};
    firn__verdict verdict;
    PGresult *result = NULL;
    int code = postgres_run(s, BORN, NULL, error);
    if (code == FIRN_OK) {
        code = postgres_read(s, FIRST_USE, values, &result, error);
    }
    if (code == FIRN_OK && PQntuples(result) == 1) {
        kept.complete = postgres_says(result, 0);
        kept.shut = PQgetisnull(result, 0, 1) ? NULL : postgres_cell(result, 0, 1);
        code = firn__law_reserve(&verdict, &kept, &s->link.memory, request, where(s), held, error);
    }
    PQclear(result);
    return code == FIRN_EBUSY ? FIRN_OK : code;
}

/* Ends the doubt about a namespace with the request's guard. */
static int adopt(store *s, const firn_request *request, const char *stored, firn_error *error) {
    char guard[MODULE_NUMBER_SIZE];
    const char *values[] = {
        request->ns, module_digits(guard, firn__law_guard(request, module_now_ms())), stored};
    return postgres_run(s, ADOPT, values, error);
}

/* A caller that meets its own grant uses the slots, so the mark must be as durable as an
 * acknowledged one. *there: it is still the mark. */
static int settle(store *s, const firn_request *request, bool *there, firn_error *error) {
    char grant[MODULE_NUMBER_SIZE];
    const char *values[] = {request->ns, request->key,
                            module_digits(grant, (int64_t)request->grant)};
    PGresult *result;
    int code = postgres_ask(s, SETTLE, values, NULL, &result, error);
    code = module_recode(error, code, FIRN_ESTORE, FIRN_EUNKNOWN);
    *there = code == FIRN_OK && PQntuples(result) == 1;
    PQclear(result);
    return code;
}

static int read_mark(store *s, const firn_request *request, firn_mark *mark, firn_error *error) {
    const char *values[] = {request->ns, request->key};
    PGresult *result;
    int code = postgres_read(s, READ, values, &result, error);
    if (code == FIRN_OK && PQntuples(result) == 1) {
        *mark = (firn_mark){postgres_number_at(result, 0, 0),
                            (uint64_t)postgres_number_at(result, 0, 1)};
    }
    PQclear(result);
    return code;
}

/* Why nothing was granted. FIRN_OK: the obstacle has changed or was just written, so the statement
 * may grant now. */
static int look_why(store *s, const firn_request *request, const PGresult *answer, firn_mark *held,
                    firn_error *error) {
    firn__kept kept = {.known = PQntuples(answer) > 0, .complete = true, .now_ms = module_now_ms()};
    firn__verdict verdict;
    bool there = true;
    int code = FIRN_OK;
    if (kept.known) {
        kept.layout = postgres_cell(answer, 0, 1);
        kept.floor = postgres_number_at(answer, 0, 3);
        kept.current = postgres_says(answer, 6);
        code = read_mark(s, request, &kept.mark, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    code = firn__law_reserve(&verdict, &kept, &s->link.memory, request, where(s), held, error);
    if (code == FIRN_ENAMESPACE) {
        return code;
    }
    if (verdict.back) {
        return postgres_went_back(s, error);
    }
    if (verdict.renew) {
        return kept.known ? adopt(s, request, postgres_cell(answer, 0, 2), error)
                          : first_use(s, request, held, error);
    }
    if (code == FIRN_EBUSY && held->grant == request->grant && held->grant != 0) {
        firn_error own = {0}; /* `error` names the other process */
        int settled = settle(s, request, &there, &own);
        code = settled != FIRN_OK ? module_copy(error, settled, &own) : there ? code : FIRN_OK;
    }
    return code;
}

/* Reads the answer of RENEW or RESERVE. *done: *first is granted. */
static int take_answer(store *s, const firn_request *request, const PGresult *answer, bool *done,
                       int64_t *first, firn_mark *held, firn_error *error) {
    if (PQntuples(answer) > 0 && !PQgetisnull(answer, 0, 0)) {
        *done = true;
        *first = postgres_number_at(answer, 0, 0) - request->count;
        firn__remember(&s->link.memory, request, *first + request->count);
        return module_point(&s->link, module_reserve_points.committed, error);
    }
    if (PQntuples(answer) > 0 && strcmp(postgres_cell(answer, 0, 1), request->layout) == 0) {
        if (!postgres_says(answer, 4)) {
            postgres_hang_up(s, false);
            return postgres_pooled(s, error);
        }
        if (!postgres_says(answer, 5)) {
            postgres_hang_up(s, false);
            return postgres_replaced(s, error);
        }
        const char *taken = postgres_cell(answer, 0, 7);
        if (strcmp(s->taken, taken) != 0) {
            snprintf(s->taken, sizeof s->taken, "%s", taken);
            return FIRN_OK;
        }
        if (postgres_taken(s, request, held, error) != FIRN_OK) {
            return FIRN_EBUSY;
        }
    }
    firn_mark mark = *held;
    int code = look_why(s, request, answer, &mark, error);
    *held = code == FIRN_EBUSY ? mark : *held;
    return code;
}

static int postgres_reserve(void *self, const firn_request *request, int64_t *first,
                            firn_mark *held, firn_error *error) {
    store *s = self;
    char numbers[5][MODULE_NUMBER_SIZE], note[FIRN_NOTE_SIZE];
    firn_mark none;
    bool done = false;
    int code = module_ready(s, error);
    make_readable(note, request->note);
    for (int i = 0; i < ROUNDS && code == FIRN_OK && !done; i++) {
        const int64_t least = firn__least(&s->link.memory, request);
        const bool taken = postgres_taken(s, request, &none, NULL) != FIRN_OK;
        const char *values[] = {request->ns,
                                request->key,
                                module_digits(numbers[0], request->count),
                                module_digits(numbers[1], request->earliest),
                                module_digits(numbers[2], request->latest),
                                module_digits(numbers[3], (int64_t)request->grant),
                                note,
                                request->layout,
                                s->backend,
                                s->marks,
                                module_digits(numbers[4], least),
                                taken ? NOT_GRANTED : s->taken};
        const bool renews = i == 0 && least > 0 && !taken; /* this handle has seen the mark */
        PGresult *answer;
        code = postgres_ask(s, renews ? RENEW : RESERVE, values, &module_reserve_points, &answer,
                            error);
        if (code == FIRN_OK && (!renews || PQntuples(answer) > 0)) {
            code = take_answer(s, request, answer, &done, first, held, error);
        }
        PQclear(answer);
    }
    return code != FIRN_OK || done ? code : firn__refuse_contended(error, where(s), request->key);
}

/* ---- the other verbs ------------------------------------------------------------------------- */

static int postgres_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                              int64_t high, firn_error *error) {
    store *s = self;
    char mark[MODULE_NUMBER_SIZE], grant[MODULE_NUMBER_SIZE], lower[MODULE_NUMBER_SIZE];
    const char *values[] = {ns, key, module_digits(mark, mine->high),
                            module_digits(grant, (int64_t)mine->grant), module_digits(lower, high)};
    PGresult *result = NULL;
    int code = module_ready(s, error);
    firn__forget_last(&s->link.memory);
    if (code == FIRN_OK) {
        code = postgres_ask(s, GIVE_BACK, values, &module_give_back_points, &result, error);
    }
    if (code == FIRN_OK) {
        code = PQntuples(result) == 1
                   ? module_point(&s->link, module_give_back_points.committed, error)
                   : firn__refuse_give_back(error, ns, key, mine);
    }
    PQclear(result);
    return code;
}

/* Shows the lines of a page and keeps its end. */
static int show_page(const store *s, const PGresult *page, firn_visit *visit, void *context,
                     char ns[FIRN_NS_SIZE], char key[FIRN_KEY_SIZE], firn_error *error) {
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
        code = module_show(&s->link, visit, context, &holding, error);
    }
    return code;
}

/* In pages, one statement each, because a visitor may be slow or stop. */
static int postgres_list(void *self, const char *ns, firn_visit *visit, void *context,
                         firn_error *error) {
    store *s = self;
    char last_ns[FIRN_NS_SIZE] = "", last_key[FIRN_KEY_SIZE] = "", rows[MODULE_NUMBER_SIZE];
    const char *values[] = {ns != NULL ? ns : last_ns, last_key, module_digits(rows, PAGE_ROWS)};
    int shown = PAGE_ROWS, code = module_ready(s, error);
    while (code == FIRN_OK && shown == PAGE_ROWS) {
        PGresult *page;
        module_link_deadline(&s->link); /* the visitor may be slow */
        code = postgres_read(s, ns != NULL ? LIST_ONE : LIST_ALL, values, &page, error);
        if (code == FIRN_OK) {
            shown = PQntuples(page);
            code = show_page(s, page, visit, context, last_ns, last_key, error);
        }
        PQclear(page);
    }
    return code;
}

static int postgres_now(void *self, firn_time *now, firn_error *error) {
    store *s = self;
    PGresult *result = NULL;
    int code = module_ready(s, error);
    if (code == FIRN_OK) {
        code = postgres_read(s, NOW, NULL, &result, error);
    }
    if (code == FIRN_OK) {
        int64_t us = postgres_number_at(result, 0, 0);
        code = module_clock(now, us, s->link.url.shown, error);
    }
    PQclear(result);
    return code;
}

FIRN_API extern const firn_store_ops firn_store_module;

const firn_store_ops firn_store_module = {
    .version = 1,
    .scheme = "postgres",
    .open = postgres_open,
    .reserve = postgres_reserve,
    .give_back = postgres_give_back,
    .list = postgres_list,
    .now = postgres_now,
    .caution = module_caution,
    .close = module_close,
};
