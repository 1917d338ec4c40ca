/* SPDX-License-Identifier: MIT */
/* The PostgreSQL store's session: connects, checks the server and sends statements. libpq does not
 * block, so that every wait is limited. Knows no verb. */
#include "postgres.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OLDEST_SERVER 100000 /* 10.0: the first with pg_walfile_name and pg_control_system */
#define SENDINGS      5      /* tries of a statement rolled back because of another one */
#define RESULTS_MOST  16     /* of one question; the longest creates the tables */
#define STATEMENT_MAX 3000   /* bytes of a statement with its table's name */

/* Puts the table's name, the lock timeout and the system identifier into a statement. Empty: the
 * result does not fit. */
static void fill_in(const postgres_store *store, char out[STATEMENT_MAX], const char *text) {
    char lock_ms[MODULE_NUMBER_SIZE];
    size_t position = 0;
    module_digits(lock_ms, store->link.timeout_ms / 2 + 1);
    for (; *text != '\0' && position + 64 < STATEMENT_MAX; text++) {
        const char *piece = *text == '@'   ? store->table
                            : *text == '#' ? lock_ms
                            : *text == '~' ? store->system
                                           : NULL;
        if (piece != NULL) {
            position += (size_t)snprintf(out + position, 64, "%s", piece);
        } else {
            out[position++] = *text;
        }
    }
    out[*text == '\0' ? position : 0] = '\0';
}

void postgres_hang_up(void *self, bool forked) {
    postgres_store *store = self;
    if (forked) {
        store->sql.last_high = 0; /* the parent can give it back */
    }
    if (forked && store->link.socket >= 0) {
        close(store->link.socket);
    } else if (!forked && store->db != NULL) {
        PQfinish(store->db);
    }
    store->link.socket = -1;
    store->db = NULL;
    store->prepared = store->used = 0;
    store->sql.inside = false;
}

/* ---- errors ---------------------------------------------------------------------------------- */

#define NO_CONNECTION "53300"
#define STARTS        "57P03"

/* By SQLSTATE: what is wrong, and what to do. */
static const struct {
    const char *state, *what, *cure;
} explanations[] = {
    {"42501", "lacks a right",
     "run GRANT SELECT, INSERT, UPDATE ON both tables (docs/reference/stores.md)"},
    {"42P01", "misses a table",
     "check search_path; if it was dropped, its marks are lost (docs/reference/stores.md)"},
    {"42703", "has tables with other columns, perhaps of an older firn",
     "see docs/reference/stores.md"},
    {"25006", "accepts no writes", "name the primary server"},
    {"53100", "has a full disk", "free space on the server"},
    {NO_CONNECTION, "has no connection left",
     "raise max_connections, or the CONNECTION LIMIT of the role or database"},
    {STARTS, "accepts no connection yet", "wait until the server has started"},
    {"55P03", "has the row locked", "end the session that locks it (pg_locks)"},
    {"57014", "cancelled the statement", "raise statement_timeout"},
    {"22021", "cannot store these bytes", "use names in UTF-8"},
    {"23514", "has a mark above 2^62", "check its tables (docs/reference/stores.md)"},
    {"40001", "is changed by other processes all the time", "try again"},
    {"40P01", "is changed by other processes all the time", "try again"},
    {"26000", "changes sessions", "set pool_mode=session in the pooler"},
    {"42P05", "changes sessions", "set pool_mode=session in the pooler"},
};

/* The first line of libpq's message, without the address, which the URL has. */
static const char *first_line(char out[120], const char *text) {
    const char *failed = strstr(text, " failed: ");
    text = failed != NULL ? failed + 9 : text;
    text = strncmp(text, "FATAL:  ", 8) == 0 || strncmp(text, "ERROR:  ", 8) == 0 ? text + 8 : text;
    snprintf(out, 120, "%.*s", (int)strcspn(text, "\n"), text);
    return out;
}

/* Explains the first line of a message with an SQLSTATE. False: the list above has no such state. */
static bool explain_state(const postgres_store *store, const char *state, const char *line,
                          firn_error *error) {
    for (size_t i = 0; state != NULL && i < sizeof explanations / sizeof explanations[0]; i++) {
        if (strcmp(state, explanations[i].state) == 0) {
            module_fail(error, FIRN_ESTORE, "store %.48s %s (%.48s): %s", where(store),
                        explanations[i].what, line, explanations[i].cure);
            return true;
        }
    }
    return false;
}

static int explain(const postgres_store *store, const PGresult *result, firn_error *error) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    char line[120];
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    first_line(line, text != NULL ? text : PQresultErrorMessage(result));
    if (explain_state(store, state, line, error)) {
        return FIRN_ESTORE;
    }
    return module_fail(error, FIRN_ESTORE,
                       "store %.48s failed (%.90s, %.5s): check the server's log", where(store),
                       line, state != NULL ? state : "?");
}

/* The columns of greet_sql. */
enum greeting {
    GREET_READ_ONLY,
    GREET_FSYNC,
    GREET_WHOLE_PAGES,
    GREET_SESSION,
    GREET_NAMESPACES,
    GREET_MARKS,
    GREET_LOGGED,
    GREET_SETTINGS,
    GREET_KEPT = GREET_SETTINGS + 4,
    GREET_SYSTEM,
    GREET_MEDDLER
};

/* ---- questions ------------------------------------------------------------------------------- */

/* The outcome of a statement that was sent. */
enum outcome {
    ANSWERED, /* and, for a write, committed */
    REFUSED,  /* rolled back */
    LOST      /* unknown */
};

/* The server committed without its synchronous standby, because somebody cancelled the wait. libpq
 * would print this notice. */
static void notice(void *self, const PGresult *result) {
    postgres_store *store = self;
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    store->unconfirmed =
        store->unconfirmed || (state != NULL && severity != NULL &&
                               strcmp(severity, "WARNING") == 0 && strcmp(state, "01000") == 0);
}

static bool flush(const postgres_store *store, int64_t deadline_ms) {
    int more;
    while ((more = PQflush(store->db)) == 1) {
        if (!module_await(store->link.socket, POLLIN | POLLOUT, deadline_ms) ||
            PQconsumeInput(store->db) == 0) {
            return false;
        }
    }
    return more == 0;
}

/* Reads the whole answer, because the server commits after it has sent the rows. *out, NULL before,
 * becomes the last result or the first failure. */
static enum outcome receive(const postgres_store *store, int64_t deadline_ms, PGresult **out) {
    PGresult *kept = NULL, *next;
    bool failed = false, ended = false;
    for (int i = 0; i < RESULTS_MOST; i++) {
        while (PQisBusy(store->db)) {
            if (!module_await(store->link.socket, POLLIN, deadline_ms) ||
                PQconsumeInput(store->db) == 0) {
                PQclear(kept);
                return LOST;
            }
        }
        next = PQgetResult(store->db);
        if (next == NULL) {
            ended = true;
            break;
        }
        if (failed) {
            PQclear(next);
            continue;
        }
        PQclear(kept);
        kept = next;
        failed =
            PQresultStatus(kept) != PGRES_COMMAND_OK && PQresultStatus(kept) != PGRES_TUPLES_OK;
    }
    *out = kept;
    if (PQstatus(store->db) != CONNECTION_OK || kept == NULL || !ended) {
        return LOST;
    }
    const char *severity = PQresultErrorField(kept, PG_DIAG_SEVERITY_NONLOCALIZED);
    return !failed ? ANSWERED : severity != NULL && strcmp(severity, "ERROR") == 0 ? REFUSED : LOST;
}

/* Sends the rest of the statement and reads the answer as receive does, until the deadline. */
static enum outcome converse(postgres_store *store, const char *sent_point, PGresult **out,
                             firn_error *error) {
    int64_t deadline_ms = module_now_ms() + store->link.timeout_ms;
    if (!flush(store, deadline_ms)) {
        return LOST;
    }
    if (sent_point != NULL && module_point(&store->link, sent_point, error) != FIRN_OK) {
        return LOST;
    }
    return receive(store, deadline_ms, out);
}

/* After LOST: did the server only not answer in time? */
static bool is_late(const postgres_store *store) {
    return store->db != NULL && PQstatus(store->db) == CONNECTION_OK;
}

static const char *why_lost(const postgres_store *store, const PGresult *result, char line[120]) {
    const char *text = result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (text == NULL && is_late(store)) {
        snprintf(line, 120, "no answer in timeout=%" PRId64 "ms", store->link.timeout_ms);
        return line;
    }
    return first_line(line, text != NULL ? text : PQerrorMessage(store->db));
}

/* A failure before a write was sent. */
static int lost_early(postgres_store *store, const PGresult *result, firn_error *error) {
    char line[120];
    store->link.busy = store->link.busy || is_late(store); /* or another host was */
    why_lost(store, result, line);
    module_fail(error, FIRN_ESTORE, "store %.60s does not answer (%.90s): check the server",
                where(store), line);
    postgres_hang_up(store, false);
    return FIRN_ESTORE;
}

/* The code of a statement with this outcome that commits nothing of firn's. */
static int code_of(postgres_store *store, enum outcome outcome, const PGresult *result,
                   firn_error *error) {
    return outcome == ANSWERED  ? FIRN_OK
           : outcome == REFUSED ? explain(store, result, error)
                                : lost_early(store, result, error);
}

static int prepare(postgres_store *store, enum statement statement, firn_error *error) {
    char text[STATEMENT_MAX];
    PGresult *result = NULL;
    if ((store->prepared >> statement & 1) != 0) {
        return FIRN_OK;
    }
    fill_in(store, text, statements[statement].text);
    enum outcome outcome = LOST;
    if (PQsendPrepare(store->db, statements[statement].name, text, 0, NULL) == 1) {
        outcome = converse(store, NULL, &result, error);
    }
    int code = code_of(store, outcome, result, error);
    if (outcome == ANSWERED) {
        store->prepared |= 1U << statement;
    }
    PQclear(result);
    return code;
}

/* Was it rolled back only because of another transaction? */
static bool may_repeat(const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state != NULL && (strcmp(state, "40001") == 0 || strcmp(state, "40P01") == 0);
}

/* Is the session inside a transaction, so that nothing is committed? A pool may lend a session that
 * is. */
static bool is_inside(const postgres_store *store) {
    return PQtransactionStatus(store->db) != PQTRANS_IDLE;
}

static const char inside_text[] = "its session is in a transaction";

/* A statement with values is prepared when it is sent the second time. */
static bool send_statement(postgres_store *store, enum statement statement,
                           const char *const *values) {
    const struct statement_text *self = &statements[statement];
    char text[STATEMENT_MAX];
    store->used |= 1U << statement;
    if ((store->prepared >> statement & 1) != 0) {
        return PQsendQueryPrepared(store->db, self->name, self->values, values, NULL, NULL, 0) == 1;
    }
    fill_in(store, text, self->text);
    return self->values == 0
               ? PQsendQuery(store->db, text) == 1
               : PQsendQueryParams(store->db, text, self->values, NULL, values, NULL, NULL, 0) == 1;
}

/* Before the statement is sent. */
static int get_ready(postgres_store *store, enum statement statement, const module_points *points,
                     firn_error *error) {
    int code = module_in_time(&store->link, error);
    if (code == FIRN_OK && (store->used >> statement & 1) != 0 &&
        statements[statement].values > 0) {
        code = prepare(store, statement, error);
    }
    return code == FIRN_OK && points != NULL ? module_point(&store->link, points->before, error)
                                             : code;
}

/* Sends a statement once. *again: it was rolled back because of another transaction. */
static int ask_once(postgres_store *store, enum statement statement, const char *const *values,
                    const module_points *points, PGresult **out, bool *again, firn_error *error) {
    char line[120];
    enum outcome outcome = LOST;
    const bool ends = statement == COMMIT || statement == ROLLBACK;
    const bool begins = statement == BEGIN || statement == BEGIN_ALONE;
    const bool step = store->sql.inside && !ends; /* what it does is not committed */
    *again = false;
    *out = NULL;
    int code = get_ready(store, statement, points, error);
    if (code != FIRN_OK) {
        return code;
    }
    store->unconfirmed = false;
    if (send_statement(store, statement, values)) {
        outcome = converse(store, points != NULL ? points->request_sent : NULL, out, error);
    }
    if (module_process() != store->link.process) {
        return FIRN_EFORKED; /* the error says so; the answer is the parent's */
    }
    store->sql.inside = step || begins;
    const bool strange = outcome == ANSWERED && is_inside(store) != store->sql.inside;
    if (outcome == ANSWERED && !store->unconfirmed && !strange) {
        return FIRN_OK;
    }
    if (outcome == REFUSED) {
        *again = may_repeat(*out) && !step && !ends && !begins;
        code = explain(store, *out, error);
    } else {
        code = module_unknown(error, where(store),
                              strange               ? inside_text
                              : outcome == ANSWERED ? "committed without the synchronous standby"
                                                    : why_lost(store, *out, line));
        code = step ? module_replace_code(error, code, FIRN_EUNKNOWN, FIRN_ESTORE) : code;
    }
    if (!*again) {
        postgres_hang_up(store, false); /* a new session is checked */
    }
    PQclear(*out);
    *out = NULL;
    return code;
}

int postgres_ask(postgres_store *store, enum statement statement, const char *const *values,
                 const module_points *points, PGresult **out, firn_error *error) {
    int code = FIRN_ESTORE;
    bool again = true;
    for (int i = 0; i < SENDINGS && again; i++) {
        if (i > 0) {
            poll(NULL, 0, 1 << i);
        }
        code = ask_once(store, statement, values, points, out, &again, error);
    }
    return code;
}

int postgres_read(postgres_store *store, enum statement statement, const char *const *values,
                  PGresult **out, firn_error *error) {
    int code = postgres_ask(store, statement, values, NULL, out, error);
    return module_replace_code(error, code, FIRN_EUNKNOWN, FIRN_ESTORE);
}

int postgres_run(postgres_store *store, enum statement statement, const char *const *values,
                 firn_error *error) {
    PGresult *result;
    int code = postgres_read(store, statement, values, &result, error);
    PQclear(result);
    return code;
}

const char *postgres_cell(const PGresult *result, int row, int column) {
    const char *text = PQgetvalue(result, row, column);
    return text != NULL ? text : "";
}

int64_t postgres_number_at(const PGresult *result, int row, int column) {
    return strtoll(postgres_cell(result, row, column), NULL, 10);
}

bool postgres_says(const PGresult *result, int column) {
    return postgres_cell(result, 0, column)[0] == 't';
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* A server refused the connection, or was not reached. libpq has no field for the SQLSTATE of such a
 * message, but begins its text with it: "FATAL:  53300: sorry, ...". */
static int refused(postgres_store *store, firn_error *error) {
    char line[120], state[6] = "";
    const char *text = strstr(first_line(line, PQerrorMessage(store->db)), ":  ");
    text = text != NULL ? text + 3 : line;
    if (strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 && text[5] == ':') {
        snprintf(state, sizeof state, "%.5s", text);
        text += strspn(text + 6, " ") + 6;
    } else {
        text = line;
    }
    if (strcmp(state, NO_CONNECTION) == 0 || strcmp(state, STARTS) == 0) {
        store->link.busy = true;
        explain_state(store, state, text, error);
        return FIRN_ESTORE;
    }
    return module_unreachable(error, where(store), text);
}

static int reach(postgres_store *store, size_t host, int64_t deadline_ms, firn_error *error) {
    PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
    int code = postgres_begin(store, host, deadline_ms, error);
    if (code != FIRN_OK) {
        return code;
    }
    PQsetErrorVerbosity(store->db, PQERRORS_VERBOSE);
    PQsetNoticeReceiver(store->db, notice, store);
    while (PQstatus(store->db) != CONNECTION_BAD && wants != PGRES_POLLING_OK &&
           wants != PGRES_POLLING_FAILED) {
        if (!module_await(PQsocket(store->db), wants == PGRES_POLLING_READING ? POLLIN : POLLOUT,
                          deadline_ms)) {
            return module_late(&store->link, where(store), error);
        }
        wants = PQconnectPoll(store->db);
    }
    if (PQstatus(store->db) != CONNECTION_OK || PQsetnonblocking(store->db, 1) != 0) {
        return refused(store, error);
    }
    PQsetErrorVerbosity(store->db, PQERRORS_DEFAULT);
    store->link.socket = PQsocket(store->db);
    return FIRN_OK;
}

/* A statement of the simple protocol. The caller clears *out. */
static int tell(postgres_store *store, const char *text, PGresult **out, firn_error *error) {
    enum outcome outcome = LOST;
    *out = NULL;
    int late = module_in_time(&store->link, error);
    if (late != FIRN_OK) {
        return late;
    }
    if (PQsendQuery(store->db, text) == 1) {
        outcome = converse(store, NULL, out, error);
    }
    return code_of(store, outcome, *out, error);
}

/* Two processes that create the tables at once may both fail in the catalogue. The next check finds
 * the tables. */
static int create(postgres_store *store, firn_error *error) {
    char text[STATEMENT_MAX];
    PGresult *result;
    fill_in(store, text, create_sql);
    int code = tell(store, text, &result, error);
    const char *state = store->db != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    if (state != NULL && strcmp(state, "42501") == 0) {
        code = module_fail(
            error, FIRN_ESTORE,
            "store %.48s lacks %.40s_mark or its trigger and may not create it: GRANT "
            "CREATE ON SCHEMA public TO %.24s, or run what docs/reference/stores.md says",
            where(store), store->table, PQuser(store->db));
    } else if (state != NULL && (strncmp(state, "23", 2) == 0 || strncmp(state, "40", 2) == 0 ||
                                 strncmp(state, "42", 2) == 0 || strncmp(state, "55", 2) == 0)) {
        code = FIRN_OK;
    }
    PQclear(result);
    return code;
}

int postgres_pooled(const postgres_store *store, firn_error *error) {
    return module_fail(
        error, FIRN_ESTORE,
        "store %.60s changes sessions between statements: set pool_mode=session in the pooler",
        where(store));
}

/* A pooler reports another process ID than the server's process does. Does the pooler give that
 * process to a second connection while this one is open? If there is no second connection, the
 * statements notice. */
static int check_pooler(postgres_store *store, size_t host, firn_error *error) {
    static const char text[] = "SELECT pg_backend_pid()";
    postgres_store other = *store;
    PGresult *result = NULL;
    if (strtol(store->session, NULL, 10) == PQbackendPID(store->db)) {
        return FIRN_OK;
    }
    other.db = NULL;
    int code = reach(&other, host, module_now_ms() + store->link.connect_ms / 2, NULL);
    code = code == FIRN_OK ? tell(&other, text, &result, NULL) : code;
    bool shared = code == FIRN_OK &&
                  strtol(postgres_cell(result, 0, 0), NULL, 10) == strtol(store->session, NULL, 10);
    PQclear(result);
    postgres_hang_up(&other, false);
    return shared ? postgres_pooled(store, error) : FIRN_OK;
}

int postgres_replaced(const postgres_store *store, firn_error *error) {
    return module_fail(error, FIRN_ESTORE,
                       "store %.60s: table %.48s_mark was dropped or made again, its marks are "
                       "lost: see docs/reference/stores.md, then restart",
                       where(store), store->table);
}

/* Checks the session. *made: the tables exist. While another session creates the tables, their
 * names are visible before the snapshot has their rows: such tables do not exist yet. */
static int judge(postgres_store *store, const PGresult *result, bool *made, firn_error *error) {
    const char *marks = postgres_cell(result, 0, GREET_MARKS);
    *made = marks[0] != '\0' && !PQgetisnull(result, 0, GREET_NAMESPACES) &&
            !PQgetisnull(result, 0, GREET_LOGGED) && postgres_says(result, GREET_KEPT);
    if (postgres_says(result, GREET_READ_ONLY)) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s is a standby or read-only: name the primary server",
                           where(store));
    }
    const bool synced = postgres_says(result, GREET_FSYNC);
    const bool whole = postgres_says(result, GREET_WHOLE_PAGES) || store->whole_pages != 0;
    const bool logged = postgres_says(result, GREET_LOGGED) || !*made;
    int code = module_risk(&store->link,
                           !synced   ? "fsync=off"
                           : !whole  ? "full_page_writes=off"
                           : !logged ? "an UNLOGGED table"
                                     : "",
                           !synced  ? "turn it on"
                           : !whole ? "turn it on, or on ZFS set whole_pages=1"
                                    : "run ALTER TABLE ... SET LOGGED",
                           error);
    if (code == FIRN_OK) {
        code = module_refuse_trigger(&store->link, postgres_cell(result, 0, GREET_MEDDLER), error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    if (store->marks[0] != '\0' && strcmp(store->marks, marks) != 0) { /* before it is made again */
        return postgres_replaced(store, error);
    }
    return FIRN_OK;
}

/* Ends the transaction in which the session begins, if there is one. */
static int end_transaction(postgres_store *store, firn_error *error) {
    PGresult *result = NULL;
    int code = is_inside(store) ? tell(store, "ROLLBACK", &result, error) : FIRN_OK;
    PQclear(result);
    return code;
}

static int greet(postgres_store *store, firn_error *error) {
    char text[STATEMENT_MAX];
    bool made = false;
    if (PQserverVersion(store->db) < OLDEST_SERVER) {
        return module_fail(error, FIRN_ESTORE, "store %.60s is older than PostgreSQL 10: update it",
                           where(store));
    }
    int ended = end_transaction(store, error);
    if (ended != FIRN_OK) {
        return ended;
    }
    fill_in(store, text, greet_sql);
    for (int i = 0; i < 4; i++) {
        PGresult *result;
        int code = tell(store, text, &result, error);
        if (code == FIRN_OK && is_inside(store)) {
            code = module_unreachable(error, where(store), inside_text);
        }
        code = code == FIRN_OK ? judge(store, result, &made, error) : code;
        if (code == FIRN_OK && made) {
            snprintf(store->session, sizeof store->session, "%s",
                     postgres_cell(result, 0, GREET_SESSION));
            snprintf(store->marks, sizeof store->marks, "%s",
                     postgres_cell(result, 0, GREET_MARKS));
            snprintf(store->system, sizeof store->system, "%s",
                     postgres_cell(result, 0, GREET_SYSTEM));
        }
        PQclear(result);
        if (code != FIRN_OK || made) {
            return code != FIRN_OK || i == 0 ? code : postgres_run(store, BORN, NULL, error);
        }
        code = create(store, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    return module_fail(error, FIRN_ESTORE,
                       "store %.48s has no %.48s_mark although it was created: check search_path",
                       where(store), store->table);
}

/* Does the server still have this handle's last reservation? */
static int check_last(postgres_store *store, firn_error *error) {
    const char *key[] = {store->sql.last_ns, store->sql.last_key};
    PGresult *row;
    if (store->sql.last_high == 0) {
        return FIRN_OK;
    }
    int code = postgres_read(store, READ, key, &row, error);
    store->sql.suspect =
        store->sql.suspect ||
        (code == FIRN_OK && postgres_number_at(row, 0, READ_HIGH) < store->sql.last_high);
    PQclear(row);
    return code;
}

static int dial(void *self, size_t host, int64_t deadline_ms, firn_error *error) {
    postgres_store *store = self;
    int code = reach(store, host, deadline_ms, error);
    code = code == FIRN_OK ? greet(store, error) : code;
    code = code == FIRN_OK ? check_pooler(store, host, error) : code;
    code = code == FIRN_OK ? check_last(store, error) : code;
    return code;
}

static bool is_open(void *self) {
    const postgres_store *store = self;
    struct pollfd poll_fd = {store->link.socket, POLLIN, 0};
    for (int i = 0; i < 4 && store->db != NULL && poll(&poll_fd, 1, 0) > 0; i++) {
        if (PQconsumeInput(store->db) == 0) {
            return false;
        }
        PQisBusy(store->db); /* parses the buffered input */
    }
    return store->db != NULL && PQstatus(store->db) == CONNECTION_OK;
}

const module_engine postgres_engine = {
    .size = sizeof(postgres_store),
    .parameters = "table connect_timeout timeout tls ca whole_pages unsafe, and libpq's sslmode "
                  "sslrootcert passfile options...",
    .set_up = postgres_set_up,
    .ready = module_ready,
    .is_open = is_open,
    .dial = dial,
    .hang_up = postgres_hang_up,
};
