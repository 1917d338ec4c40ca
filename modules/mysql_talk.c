/* SPDX-License-Identifier: MIT */
/* Statements of the MariaDB and MySQL store and their values, libmariadb without blocking, so that
 * every wait is limited, and the server's errors as text. */
#include "mysql.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SENDINGS  5 /* tries of a statement rolled back because of another one */
#define DUPLICATE 1062
#define DEADLOCK  1213
#define LOCKED    1205
#define CHANGED   1020 /* since the transaction's first read: MariaDB, innodb_snapshot_isolation */

void maria_hang_up(void *self, bool forked) {
    mysql_store *store = self;
    if (forked) {
        store->sql.last_high = 0;  /* the parent can give it back */
        close(store->link.socket); /* or does nothing */
    } else if (store->db != NULL) {
        mysql_close(store->db);
    }
    store->link.socket = -1;
    store->db = NULL;
    store->sql.inside = false;
}

/* ---- statements ------------------------------------------------------------------------------ */

static void put(mysql_statement *out, const char *text, size_t length) {
    if (out->length + length < sizeof out->text) {
        memcpy(out->text + out->length, text, length);
    }
    out->length += length; /* a statement that does not fit is not sent */
}

/* A text as bytes, x'6f6b', which need no quoting in any character set or mode. */
static void put_bytes(mysql_statement *out, const char *text) {
    put(out, "x'", 2);
    for (; *text != '\0'; text++) {
        char pair[3];
        snprintf(pair, sizeof pair, "%02x", (unsigned char)*text);
        put(out, pair, 2);
    }
    put(out, "'", 1);
}

static void compose(const mysql_store *store, mysql_statement *out, const char *pattern,
                    va_list arguments) {
    char digits[24];
    out->length = 0;
    for (; *pattern != '\0'; pattern++) {
        const char *name = *pattern == '@' ? store->table : store->foreign;
        if (pattern[0] == '@' && pattern[1] == '@') { /* a variable of the server */
            put(out, pattern++, 2);
            continue;
        }
        if (pattern[0] == '!' && pattern[1] == '!') {
            put(out, pattern++, 1);
            continue;
        }
        switch (*pattern) {
        case '@':
        case '!':
            put(out, name, strlen(name));
            break;
        case '$':
            put_bytes(out, va_arg(arguments, const char *));
            break;
        case '#':
            snprintf(digits, sizeof digits, "%" PRId64, va_arg(arguments, int64_t));
            put(out, digits, strlen(digits));
            break;
        case '^':
            snprintf(digits, sizeof digits, "%" PRIu64, va_arg(arguments, uint64_t));
            put(out, digits, strlen(digits));
            break;
        default:
            put(out, pattern, 1);
        }
    }
    out->ends = false;
    out->witnessed = store->witness[0] != '\0';
    if (out->witnessed) {
        put(out, "; ", 2);
        put(out, witness_sql[store->has_uuid], strlen(witness_sql[store->has_uuid]));
    }
}

void maria_compose(const mysql_store *store, mysql_statement *out, const char *pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    compose(store, out, pattern, arguments);
    va_end(arguments);
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Errors after which the statement is certainly rolled back: what is wrong, and what to do. After
 * others the outcome is unknown, because some are reported after the commit. */
static const struct {
    unsigned number;
    const char *what, *cure;
} explanations[] = {
    {DEADLOCK, "is changed by other processes all the time", "try again"},
    {CHANGED, "is changed by other processes all the time", "try again"},
    {LOCKED, "has the row locked", "end the session that locks it (SHOW PROCESSLIST)"},
    {DUPLICATE, "is changed by other processes all the time", "try again"},
    {1146, "misses a table",
     "if somebody dropped it, its marks are lost (docs/reference/stores.md)"},
    {MARIA_MAY_NOT, "lacks a right",
     "run GRANT SELECT, INSERT, UPDATE ON its tables (docs/reference/stores.md)"},
    {1143, "lacks a right",
     "run GRANT SELECT, INSERT, UPDATE ON its tables (docs/reference/stores.md)"},
    {1044, "may not use the database", "run GRANT SELECT, INSERT, UPDATE, CREATE ON it"},
    {MARIA_NO_PROCESS, "lacks a right", "check its grants (docs/reference/stores.md)"},
    {MARIA_NO_SUCH, "misses a table", "update the server (docs/reference/stores.md)"},
    {1054, "has tables with other columns, perhaps of an older firn",
     "see docs/reference/stores.md"},
    {1064, "does not know the statement", "update the server (docs/reference/stores.md)"},
    {1290, "accepts no writes", "name the primary server"},
    {1792, "accepts no writes", "name the primary server"},
    {1836, "accepts no writes", "name the primary server"},
    {1047, "is not ready in its cluster", "check wsrep_cluster_status"},
    {1264, "has a number out of range", "check its tables (docs/reference/stores.md)"},
    {1690, "has a number out of range", "check its tables (docs/reference/stores.md)"},
    {3819, "has a mark above 2^62", "check its tables (docs/reference/stores.md)"},
    {4025, "has a mark above 2^62", "check its tables (docs/reference/stores.md)"},
    {1366, "cannot store this text", "use names in UTF-8"},
    {1406, "cannot store so long a name", "use a shorter one"},
    {1114, "has a full disk", "free space on the server"},
    {1021, "has a full disk", "free space on the server"},
    {1665, "cannot log the statement", "set binlog_format to MIXED or ROW"},
};
#define EXPLANATIONS (sizeof explanations / sizeof explanations[0])

/* The index of an error; EXPLANATIONS: it is not among them. */
static size_t find(unsigned number) {
    size_t i = 0;
    while (i < EXPLANATIONS && explanations[i].number != number) {
        i++;
    }
    return i;
}

/* Of an error that is among them. */
static int explain(const mysql_store *store, unsigned number, firn_error *error) {
    const size_t i = find(number);
    return module_fail(error, FIRN_ESTORE, "store %.48s %s (%.48s): %s", where(store),
                       explanations[i].what, mysql_error(store->db), explanations[i].cure);
}

static const char *why_lost(const mysql_store *store) {
    return store->late ? "no answer in timeout" : mysql_error(store->db);
}

/* ---- questions ------------------------------------------------------------------------------- */

int maria_resume(mysql_store *store, int wanted, int64_t deadline_ms) {
    short events = (short)((wanted & MYSQL_WAIT_READ ? POLLIN : 0) |
                           (wanted & MYSQL_WAIT_WRITE ? POLLOUT : 0) |
                           (wanted & MYSQL_WAIT_EXCEPT ? POLLPRI : 0));
    int socket = (int)mysql_get_socket(store->db);
    short got = store->late ? POLLERR : module_await(socket, events, deadline_ms);
    if (got == 0) {
        store->late = true;
        shutdown(socket, SHUT_RDWR); /* so that the library ends its call */
        if (wanted & MYSQL_WAIT_TIMEOUT) {
            return MYSQL_WAIT_TIMEOUT;
        }
    }
    int happened = (got & POLLIN ? MYSQL_WAIT_READ : 0) | (got & POLLOUT ? MYSQL_WAIT_WRITE : 0) |
                   (got & POLLPRI ? MYSQL_WAIT_EXCEPT : 0);
    return happened != 0 ? happened : wanted & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE);
}

/* The outcome of a statement that was sent. */
enum outcome {
    ANSWERED, /* and, for a write, committed */
    REFUSED,  /* rolled back */
    LOST,     /* unknown */
    FORKED    /* a forked child in a failpoint; the error says so */
};

static enum outcome converse(mysql_store *store, const mysql_statement *statement,
                             const char *sent_point, int64_t deadline_ms, firn_error *error) {
    int failed = 1, wanted;
    my_bool bad = 1;
    wanted = mysql_send_query_start(&failed, store->db, statement->text, statement->length);
    while (wanted != 0) {
        wanted =
            mysql_send_query_cont(&failed, store->db, maria_resume(store, wanted, deadline_ms));
    }
    if (failed) {
        return LOST;
    }
    if (sent_point != NULL && module_point(&store->link, sent_point, error) != FIRN_OK) {
        return FORKED;
    }
    wanted = mysql_read_query_result_start(&bad, store->db);
    while (wanted != 0) {
        wanted =
            mysql_read_query_result_cont(&bad, store->db, maria_resume(store, wanted, deadline_ms));
    }
    return !bad ? ANSWERED : find(mysql_errno(store->db)) < EXPLANATIONS ? REFUSED : LOST;
}

void maria_reply_free(mysql_reply *r) {
    if (r->rows != NULL) {
        mysql_free_result(r->rows);
    }
    r->rows = NULL;
}

/* Reads all rows (there are few), so that the connection is free. */
static bool take_rows(mysql_store *store, mysql_reply *out, int64_t deadline_ms) {
    int wanted = mysql_store_result_start(&out->rows, store->db);
    while (wanted != 0) {
        wanted = mysql_store_result_cont(&out->rows, store->db,
                                         maria_resume(store, wanted, deadline_ms));
    }
    return out->rows != NULL || mysql_field_count(store->db) == 0;
}

/* Reads what witness_sql answered. */
static bool same_witness(mysql_store *store, int64_t deadline_ms) {
    mysql_reply reply = {.rows = NULL};
    int missing = 1;
    int wanted = mysql_next_result_start(&missing, store->db);
    while (wanted != 0) {
        wanted =
            mysql_next_result_cont(&missing, store->db, maria_resume(store, wanted, deadline_ms));
    }
    const MYSQL_ROW row =
        missing == 0 && take_rows(store, &reply, deadline_ms) ? maria_next_row(&reply, 1) : NULL;
    const bool same = row != NULL && row[0] != NULL && strcmp(row[0], store->witness) == 0;
    maria_reply_free(&reply);
    return same;
}

/* Why a statement that the server carried out is not a commit of the server that was checked; NULL:
 * it is. */
static const char *doubt(mysql_store *store, const mysql_statement *statement,
                         int64_t deadline_ms) {
    if (!statement->witnessed) {
        return NULL; /* the server is not checked yet */
    }
    if (!same_witness(store, deadline_ms)) {
        return mysql_errno(store->db) != 0 ? why_lost(store) : "a proxy changed its session";
    }
    return ((store->db->server_status & SERVER_STATUS_IN_TRANS) != 0) != store->sql.inside ||
                   (store->db->server_status & SERVER_STATUS_AUTOCOMMIT) == 0
               ? "its session is in a transaction"
               : NULL;
}

/* Sends a statement once. *again: it was rolled back because of another transaction. */
static int ask_once(mysql_store *store, const mysql_statement *statement,
                    const module_points *points, mysql_reply *out, bool *again, firn_error *error) {
    int64_t deadline_ms = module_now_ms() + store->link.timeout_ms;
    const bool step =
        store->sql.inside; /* what it does is not committed, unless it is the commit */
    *again = false;
    *out = (mysql_reply){.rows = NULL};
    int code = module_in_time(&store->link, error);
    if (code == FIRN_OK && points != NULL) {
        code = module_point(&store->link, points->before, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    enum outcome outcome = converse(store, statement, points != NULL ? points->request_sent : NULL,
                                    deadline_ms, error);
    if (outcome == FORKED) {
        return FIRN_EFORKED;
    }
    store->sql.inside = step && !statement->ends;
    if (outcome == ANSWERED) {
        out->affected = mysql_affected_rows(store->db);
        out->insert_id = mysql_insert_id(store->db);
        outcome = take_rows(store, out, deadline_ms) ? ANSWERED : LOST;
    }
    const char *why = outcome == ANSWERED ? doubt(store, statement, deadline_ms) : NULL;
    if (outcome == ANSWERED && why == NULL) {
        return FIRN_OK;
    }
    const unsigned number = mysql_errno(store->db);
    const bool undone = number == DEADLOCK || number == CHANGED; /* all of the transaction */
    if (outcome == REFUSED && (undone || !statement->ends)) { /* else the commit may come still */
        *again = (undone || number == LOCKED) && !step;
        if (undone && step) {
            store->sql.inside = false;
            return FIRN_WRITE_CHANGED;
        }
        return number == DUPLICATE ? FIRN_OK : explain(store, number, error);
    }
    module_unknown(error, where(store), why != NULL ? why : why_lost(store));
    maria_reply_free(out);
    maria_hang_up(store, false);
    return FIRN_EUNKNOWN;
}

int maria_ask(mysql_store *store, const mysql_statement *statement, const module_points *points,
              mysql_reply *out, firn_error *error) {
    int64_t end_ms = module_now_ms() + store->link.timeout_ms;
    bool again;
    if (statement->length >= sizeof statement->text) {
        *out = (mysql_reply){.rows = NULL};
        return module_fail(error, FIRN_ERANGE, "the store's names are too long: use shorter ones");
    }
    for (int i = 1;; i++) {
        int code = ask_once(store, statement, points, out, &again, error);
        if (!again || i == SENDINGS || module_now_ms() >= end_ms) {
            return code;
        }
        poll(NULL, 0, 1 << i);
    }
}

static int read_reply(mysql_store *store, mysql_reply *out, firn_error *error, const char *pattern,
                      va_list arguments) {
    mysql_statement statement;
    compose(store, &statement, pattern, arguments);
    int code = maria_ask(store, &statement, NULL, out, error);
    return module_replace_code(error, code, FIRN_EUNKNOWN, FIRN_ESTORE);
}

int maria_read(mysql_store *store, mysql_reply *out, firn_error *error, const char *pattern, ...) {
    va_list arguments;
    va_start(arguments, pattern);
    int code = read_reply(store, out, error, pattern, arguments);
    va_end(arguments);
    return code;
}

int maria_run(mysql_store *store, firn_error *error, const char *pattern, ...) {
    va_list arguments;
    mysql_reply done;
    va_start(arguments, pattern);
    int code = read_reply(store, &done, error, pattern, arguments);
    va_end(arguments);
    maria_reply_free(&done);
    return code;
}

MYSQL_ROW maria_next_row(const mysql_reply *r, unsigned columns) {
    return r->rows != NULL && mysql_num_fields(r->rows) == columns ? mysql_fetch_row(r->rows)
                                                                   : NULL;
}
