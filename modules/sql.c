/* SPDX-License-Identifier: MIT */
/* The verbs that sql.h declares: which statement or transaction each takes. */
#include "sql.h"

#include <stdio.h>
#include <stdlib.h>

_Static_assert(FIRN_SLOT_MAX == 4611686018427387904, "the tables of marks have this bound too");

/* ---- one verb -------------------------------------------------------------------------------- */

/* Forgets also what a new connection showed: the other process may have given that back. */
void sql_forget(void *self) {
    sql_of(self)->last_high = 0;
    sql_of(self)->suspect = false;
}

int sql_begin_verb(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    sql_state *sql = sql_of(self);
    sql->verb = verb;
    sql->names = names;
    if (verb == FIRN_VERB_GIVE_BACK) {
        sql->last_high = 0; /* from now on it may be lower */
    }
    int code = module_ready(self, error);
    return code == FIRN_OK ? sql_start(self, error) : code;
}

bool sql_lost(void *self, const firn_records *seen) {
    (void)seen;
    return sql_of(self)->suspect;
}

int sql_begin_inside(void *self, firn_error *error) {
    int code = module_point(self, firn__module_points[sql_of(self)->verb].before, error);
    return code == FIRN_OK ? sql_begin(self, error) : code;
}

/* Gives up a transaction in which nothing had to be written. */
int sql_end(void *self, int code) {
    if (sql_of(self)->inside && code != FIRN_EFORKED) {
        (void)sql_roll_back(self, NULL);
    }
    return code;
}

/* A transaction that writes nothing else, which is given up, would not make anything durable. */
int sql_confirm(void *self, firn_error *error) {
    int code = sql_of(self)->inside ? sql_roll_back(self, error) : FIRN_OK;
    code = code == FIRN_OK ? sql_settle(self, error) : code;
    return module_replace_code(error, code, FIRN_ESTORE, FIRN_EUNKNOWN);
}

/* ---- write ----------------------------------------------------------------------------------- */

/* Each namespace is in doubt after a loss, except one whose record is written afterwards. */
static int write_store(void *self, const firn_records *seen, firn_records *next,
                       firn_error *error) {
    const bool lost = next->losses > seen->losses, sound = next->ns_losses == next->losses;
    if (lost) {
        next->losses = 1;
        next->ns_losses = sound;
    }
    return lost || !seen->known ? sql_write_store(self, next, lost, error) : FIRN_OK;
}

/* Raises the mark in the verb's transaction, after the other records. */
static int write_mark(void *self, const firn_records *seen, firn_records *next,
                      const module_points *points, firn_error *error) {
    const firn_raise raise = {seen->mark.high, next->mark.high, seen->mark.high, 0,
                              seen->mark.grant};
    return sql_of(self)->verb == FIRN_VERB_GIVE_BACK
               ? sql_lower(self, seen, next, points, error)
               : sql_raise(self, seen, next, &raise, true, points, error);
}

/* Ends the verb's transaction after its last write. If that was too late, nothing of it may count,
 * and the next read must not show it. */
static int end_inside(void *self, int code, const module_points *points, firn_error *error) {
    const module_points sent = {NULL, points->request_sent, NULL};
    if (sql_of(self)->inside && code == FIRN_OK) {
        return sql_commit(self, &sent, error);
    }
    int undone =
        sql_of(self)->inside && code == FIRN_WRITE_CHANGED ? sql_roll_back(self, error) : FIRN_OK;
    return undone == FIRN_OK ? code : undone;
}

/* After a write that is committed. */
static int committed(void *self, const firn_records *next, int which, const module_points *points,
                     firn_error *error) {
    sql_state *sql = sql_of(self);
    if (sql->verb == FIRN_VERB_RESERVE && (which & FIRN_RECORD_KEY) != 0) {
        int code = sql_prove(self, next, error);
        if (code != FIRN_OK) {
            return code;
        }
        snprintf(sql->last_ns, sizeof sql->last_ns, "%s", next->ns);
        snprintf(sql->last_key, sizeof sql->last_key, "%s", next->key);
        sql->last_high = next->mark.high;
    }
    return module_point(self, points->committed, error);
}

int sql_write(void *self, const firn_records *seen, firn_records *next, int which, firn_verb verb,
              firn_error *error) {
    const module_points *points = &firn__module_points[verb];
    const bool inside = sql_of(self)->inside;
    int code = FIRN_OK;
    if (which != FIRN_RECORD_KEY && !inside) {
        code = sql_begin_inside(self, error);
        return code == FIRN_OK ? FIRN_WRITE_CHANGED : code;
    }
    if ((which & FIRN_RECORD_STORE) != 0) {
        code = write_store(self, seen, next, error);
    }
    if (code == FIRN_OK && (which & FIRN_RECORD_NS) != 0) {
        code = sql_write_namespace(self, seen, next, error);
    }
    if (code == FIRN_OK && (which & FIRN_RECORD_KEY) != 0) {
        code = write_mark(self, seen, next, inside ? NULL : points, error);
    }
    code = end_inside(self, code, points, error);
    return code == FIRN_OK ? committed(self, next, which, points, error) : code;
}

int sql_add(void *self, const firn_records *seen, firn_records *next, const firn_raise *raise,
            firn_error *error) {
    const module_points *points = &firn__module_points[FIRN_VERB_RESERVE];
    int code =
        sql_raise(self, seen, next, raise, false, sql_of(self)->inside ? NULL : points, error);
    code = end_inside(self, code, points, error);
    return code == FIRN_OK ? committed(self, next, FIRN_RECORD_KEY, points, error) : code;
}

/* ---- list ------------------------------------------------------------------------------------ */

int64_t sql_number(const char *text) {
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

int sql_show(sql_listing *list, const char *const cells[7]) {
    const char *texts[4];
    for (int i = 0; i < 4; i++) {
        texts[i] = cells[i] != NULL ? cells[i] : "";
    }
    const uint64_t grant = cells[5] != NULL ? strtoull(cells[5], NULL, 10) : 0; /* or negative */
    const firn_holding holding = {texts[0],
                                  texts[1],
                                  texts[2],
                                  texts[3],
                                  {sql_number(cells[4]), grant},
                                  sql_number(cells[6])};
    snprintf(list->last_ns, sizeof list->last_ns, "%s", texts[0]);
    snprintf(list->last_key, sizeof list->last_key, "%s", texts[2]);
    list->shown++;
    return list->visit(list->context, &holding);
}

/* One statement each, because a visitor may be slow or stop. */
int sql_show_pages(void *self, sql_listing *list, firn_error *error) {
    int code = FIRN_OK;
    do {
        list->shown = 0;
        module_link_deadline(self);
        code = sql_page(self, list, error);
    } while (code == FIRN_OK && list->shown == SQL_PAGE_ROWS);
    return code;
}

int sql_list(void *self, const char *ns, firn_visit *visit, void *context, firn_error *error) {
    sql_listing list = {.visit = visit, .context = context, .ns = ns};
    int code = module_ready(self, error);
    return code == FIRN_OK ? sql_show_pages(self, &list, error) : code;
}
