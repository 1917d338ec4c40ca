/* SPDX-License-Identifier: MIT */
/* The records of the embedded store's namespaces, and how a layout is replaced. */
#include "sqlite.h"

#include <stdio.h>
#include <string.h>

int sqlite_read_record(const session *s, record *out, const char *ns) {
    sqlite3_stmt *statement = NULL;
    memset(out, 0, sizeof *out);
    int result = sqlite_prepare(
        s, &statement, "SELECT layout, history, floor FROM namespace WHERE name = ?1", "t", ns);
    if (result == SQLITE_OK) {
        result = sqlite3_step(statement);
    }
    if (result == SQLITE_ROW) {
        const char *layout = (const char *)sqlite3_column_text(statement, 0);
        out->known = true;
        result = layout == NULL                         ? SQLITE_NOMEM
                 : strlen(layout) >= sizeof out->layout ? SQLITE_CORRUPT
                                                        : result;
        snprintf(out->layout, sizeof out->layout, "%s", layout != NULL ? layout : "");
        out->history = sqlite3_column_int64(statement, 1);
        out->floor = sqlite3_column_int64(statement, 2);
    }
    int code = result == SQLITE_ROW || result == SQLITE_DONE ? FIRN_OK : sqlite_explain(s, result);
    sqlite3_finalize(statement);
    return code;
}

int sqlite_read_all_names(const session *s, bool *complete, char shut[FIRN_LAYOUT_SIZE]) {
    record all;
    int code = sqlite_read_record(s, &all, MODULE_ALL_NAMES);
    *complete = s->history == 0 || (all.known && all.history == s->history);
    snprintf(shut, FIRN_LAYOUT_SIZE, "%s", module_is_closed(all.layout) ? all.layout : "");
    return code;
}

int sqlite_write_record(const session *s, const char *ns, const char *layout, int64_t history,
                        int64_t floor) {
    sqlite3_stmt *statement = NULL;
    int result = sqlite_prepare(s, &statement,
                                "INSERT INTO namespace(name, layout, history, floor)"
                                " VALUES(?1, ?2, ?3, ?4) ON CONFLICT(name)"
                                " DO UPDATE SET layout = ?2, history = ?3, floor = ?4",
                                "ttii", ns, layout, history, floor);
    if (result == SQLITE_OK) {
        result = sqlite3_step(statement);
    }
    int code = result == SQLITE_DONE ? FIRN_OK : sqlite_explain(s, result);
    sqlite3_finalize(statement);
    return code;
}

static int write_layout(const session *s, const firn_relabel *change, const record *now,
                        int64_t floor) {
    int code = now->known ? FIRN_OK : sqlite_sync_folders(s);
    if (code == FIRN_OK) {
        code = sqlite_point(s->store, module_relabel_points.before, s->error);
    }
    return code == FIRN_OK ? sqlite_write_record(s, change->ns, change->to,
                                                 now->known ? now->history : s->history, floor)
                           : code;
}

static int relabel(session *s, const firn_relabel *change, int64_t *floor) {
    record now;
    char where[64], shut[FIRN_LAYOUT_SIZE];
    bool complete;
    int code = sqlite_begin(s);
    if (code == FIRN_OK && module_declares_loss(change)) {
        code = sqlite_went_back(s);
        return code == FIRN_OK
                   ? sqlite_commit(s, module_relabel_points.sent, module_relabel_points.committed)
                   : code;
    }
    if (code == FIRN_OK) {
        code = sqlite_read_record(s, &now, change->ns);
    }
    if (code == FIRN_OK) {
        code = sqlite_read_all_names(s, &complete, shut);
    }
    if (code != FIRN_OK) {
        return code;
    }
    const module_kept kept = {.back = s->back,
                              .known = now.known,
                              .current = now.history == s->history,
                              .complete = complete,
                              .layout = now.layout,
                              .floor = now.floor};
    snprintf(where, sizeof where, "store %.40s", sqlite_tail(s->store->path));
    int verdict = module_decide_relabel(floor, &kept, change, where, s->error);
    code = verdict == FIRN_OK ? write_layout(s, change, &now, *floor) : FIRN_OK;
    if (code == FIRN_OK && (verdict == FIRN_OK || s->back)) {
        code = sqlite_commit(s, module_relabel_points.sent, module_relabel_points.committed);
    }
    if (code == FIRN_OK && verdict == FIRN_OK && strcmp(now.layout, change->to) == 0) {
        /* The sync of the first write may have failed: what this transaction read can be lost. */
        int result = sqlite_settle(s);
        code = result == SQLITE_OK ? FIRN_OK : sqlite_unknown(s, result);
    }
    return code == FIRN_OK ? verdict : code;
}

int firn_store_module_relabel(void *self, const firn_relabel *change, int64_t *floor,
                              firn_error *error) {
    session s;
    int code = sqlite_start(&s, self, false, error);
    return code == FIRN_OK ? sqlite_finish(&s, relabel(&s, change, floor)) : code;
}
