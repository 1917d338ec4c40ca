/* SPDX-License-Identifier: MIT */
/* Replaces layouts of the MariaDB and MySQL store's namespaces by one statement. */
#include "mysql.h"

#include <string.h>

/* Reads and decides. */
static int decide(store *s, const firn_relabel *change, maria_look *now, int64_t *floor,
                  firn_error *error) {
    maria_look own = {.known = false}, all = {.known = false};
    int code = maria_look_at(s, now, change->ns, "1", error);
    if (code == FIRN_OK && !now->known) {
        code = maria_look_at(s, &own, "", "1", error);
    }
    if (code == FIRN_OK && !now->known) {
        code = maria_look_at(s, &all, FIRN__ALL_NAMES, "1", error);
    }
    const firn__kept kept = {.known = now->known,
                             .current = strcmp(now->identity, s->identity) == 0,
                             .complete = strcmp(own.identity, s->identity) == 0 ||
                                         strcmp(all.identity, s->identity) == 0,
                             .layout = now->layout,
                             .floor = now->floor};
    return code == FIRN_OK ? firn__law_relabel(floor, &kept, change, where(s), error) : code;
}

int firn_store_module_relabel(void *self, const firn_relabel *change, int64_t *floor,
                              firn_error *error) {
    store *s = self;
    statement what;
    if (s->shape == LEAF || s->shape == TICKETS || maria_is_foreign(s, change->ns)) {
        return module_fail(error, FIRN_EUSAGE,
                           "table %.48s is another program's and has no layouts", s->foreign);
    }
    int code = module_ready(s, error);
    if (code == FIRN_OK && firn__declares_loss(change)) {
        return maria_went_back(s, error);
    }
    if (code == FIRN_OK) {
        code = maria_check_table(s, error);
    }
    if (code == FIRN_OK) {
        code = maria_run(s, error, born_sql, s->identity);
    }
    for (int i = 0; code == FIRN_OK && i < MARIA_ROUNDS; i++) {
        maria_look now;
        reply done;
        code = decide(s, change, &now, floor, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (now.known) {
            maria_compose(s, &what, relabel_sql, change->to, *floor, change->ns, now.layout,
                          now.identity, now.floor);
        } else {
            maria_compose(s, &what, relabel_first_sql, change->ns, change->to, s->identity, *floor,
                          s->identity);
        }
        code = maria_ask(s, &what, &module_relabel_points, &done, error);
        maria_reply_free(&done);
        if (code == FIRN_OK && done.affected > 0) {
            return module_point(&s->link, module_relabel_points.committed, error);
        }
    }
    return code != FIRN_OK ? code : firn__refuse_contended(error, where(s), change->ns);
}
