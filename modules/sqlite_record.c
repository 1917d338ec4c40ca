/* SPDX-License-Identifier: MIT */
/* The records of the embedded store's namespaces. */
#include "sqlite.h"

#include <stdio.h>
#include <string.h>

int sqlite_read_record(const sqlite_session *session, record *out, const char *ns) {
    sqlite3_stmt *statement = NULL;
    memset(out, 0, sizeof *out);
    int result =
        sqlite_prepare(session, &statement,
                       "SELECT layout, history, floor FROM namespace WHERE name = ?1", "t", ns);
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
    int code =
        result == SQLITE_ROW || result == SQLITE_DONE ? FIRN_OK : sqlite_explain(session, result);
    sqlite3_finalize(statement);
    return code;
}

int sqlite_read_all_names(const sqlite_session *session, bool *complete,
                          char shut[FIRN_LAYOUT_SIZE]) {
    record all;
    int code = sqlite_read_record(session, &all, FIRN_ALL_NAMES);
    *complete = session->history == 0 || (all.known && all.history == session->history);
    snprintf(shut, FIRN_LAYOUT_SIZE, "%s", firn_layout_closed(all.layout) ? all.layout : "");
    return code;
}

int sqlite_write_record(const sqlite_session *session, const char *ns, const char *layout,
                        int64_t history, int64_t floor) {
    sqlite3_stmt *statement = NULL;
    int result = sqlite_prepare(session, &statement,
                                "INSERT INTO namespace(name, layout, history, floor)"
                                " VALUES(?1, ?2, ?3, ?4) ON CONFLICT(name)"
                                " DO UPDATE SET layout = ?2, history = ?3, floor = ?4",
                                "ttii", ns, layout, history, floor);
    if (result == SQLITE_OK) {
        result = sqlite3_step(statement);
    }
    int code = result == SQLITE_DONE ? FIRN_OK : sqlite_explain(session, result);
    sqlite3_finalize(statement);
    return code;
}
