/* SPDX-License-Identifier: MIT */
/* Replaces layouts of the PostgreSQL store's namespaces in a transaction. */
#include "postgres.h"

/* In the transaction. */
static int relabel(store *s, const firn_relabel *change, int64_t *floor, firn_error *error) {
    char number[MODULE_NUMBER_SIZE];
    const char *values[] = {change->ns, change->to, number};
    PGresult *now;
    int code = postgres_read(s, NAMED, values, &now, error);
    if (code == FIRN_OK) {
        const firn__kept kept = {.known = !PQgetisnull(now, 0, 0),
                                 .current = postgres_says(now, 2),
                                 .complete = postgres_says(now, 3),
                                 .layout = postgres_cell(now, 0, 0),
                                 .floor = postgres_number_at(now, 0, 1)};
        code = firn__law_relabel(floor, &kept, change, where(s), error);
    }
    PQclear(now);
    if (code == FIRN_OK) {
        module_digits(number, *floor);
        code = postgres_run(s, RELABEL, values, error);
    }
    return code;
}

/* After a failure the connection is closed, which rolls back. */
int firn_store_module_relabel(void *self, const firn_relabel *change, int64_t *floor,
                              firn_error *error) {
    static const enum statement first[] = {BORN, BEGIN, LOCK};
    store *s = self;
    PGresult *done = NULL;
    int code = module_ready(s, error);
    if (code == FIRN_OK && firn__declares_loss(change)) {
        return postgres_went_back(s, error);
    }
    for (size_t i = 0; i < 3 && code == FIRN_OK; i++) {
        code = postgres_run(s, first[i], NULL, error);
    }
    if (code == FIRN_OK) {
        code = relabel(s, change, floor, error);
    }
    if (code == FIRN_OK) {
        code = postgres_ask(s, COMMIT, NULL, &module_relabel_points, &done, error);
        PQclear(done);
    }
    if (code == FIRN_OK) {
        code = module_point(&s->link, module_relabel_points.committed, error);
    }
    if (code != FIRN_OK && s->db != NULL) {
        postgres_hang_up(s, module_forked(&(int64_t){s->link.process}));
    }
    return code;
}
