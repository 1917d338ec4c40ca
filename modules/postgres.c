/* SPDX-License-Identifier: MIT */
/* The store on PostgreSQL: each verb is one statement, a transaction of its own, on one connection
 * that is kept open. libpq is used without blocking, so that every wait has a bound. Takes nothing
 * from libfirn; checks no bounds (the wrapper does) and knows no clock but the server's. */
#include "module.h"
#include "postgres_sql.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OLDEST_SERVER 100000 /* 10.0: the first with pg_walfile_name and pg_control_system */
#define ROUNDS        8   /* a verb's statements that found the row just changed by somebody else */
#define SENDINGS      5   /* of one statement that the server rolled back because of another */
#define PAGE_ROWS     256 /* of a listing */
#define RESULTS_MOST  16  /* of one question; the longest creates the tables */
#define NUMBER_SIZE   24
#define STATEMENT_MAX 3000 /* bytes of a statement with its table's name in it */

/* ---- statements ------------------------------------------------------------------------------ */

_Static_assert(FIRN_SLOT_MAX == 4611686018427387904, "the table of marks says it too");

enum greeting {
    GREET_READ_ONLY,
    GREET_FSYNC,
    GREET_WHOLE_PAGES,
    GREET_BACKEND,
    GREET_NAMESPACES,
    GREET_MARKS,
    GREET_LOGGED,
    GREET_SETTINGS,
    GREET_KEPT = GREET_SETTINGS + 3
};

/* The failpoints of one write. */
typedef struct points {
    const char *before, *sent, *committed;
} points;

static const points reserve_points = {"reserve.before", "reserve.sent", "reserve.committed"};
static const points give_back_points = {"give_back.before", "give_back.sent",
                                        "give_back.committed"};

/* ---- the handle ------------------------------------------------------------------------------ */

typedef struct store {
    module_link link;
    const char *table;
    module_seen seen;
    module_last last;
    PGconn *db;        /* or NULL */
    int socket;        /* its descriptor */
    unsigned prepared; /* a bit for each statement that this connection knows */
    bool unconfirmed;  /* the server gave up waiting for a standby, and committed all the same */
    char backend[NUMBER_SIZE]; /* the server's process */
    char marks[NUMBER_SIZE];   /* the OID of the table of marks; "": not seen yet */
    char caution[160];         /* "": none */
} store;

static const char *where(const store *s) {
    return s->link.url.shown;
}

/* The statement with the table's name in it; or an empty text, if it did not fit. */
static void fill_in(const store *s, char out[STATEMENT_MAX], const char *text) {
    char lock_ms[NUMBER_SIZE];
    size_t at = 0;
    snprintf(lock_ms, sizeof lock_ms, "%" PRId64, s->link.timeout_ms / 2 + 1);
    for (; *text != '\0' && at + 64 < STATEMENT_MAX; text++) {
        if (*text == '@' || *text == '#') {
            at += (size_t)snprintf(out + at, 64, "%s", *text == '@' ? s->table : lock_ms);
        } else {
            out[at++] = *text;
        }
    }
    out[*text == '\0' ? at : 0] = '\0';
}

static void begin_verb(store *s) {
    s->link.end_ms = module_verb_end(&s->link.options, s->link.connect_ms, s->link.timeout_ms);
}

static void drop(store *s) {
    if (s->db != NULL) {
        PQfinish(s->db);
    }
    s->db = NULL;
    s->prepared = 0;
}

/* The connection is the parent's: nothing is said on it, and nothing of it freed. */
static void abandon(store *s) {
    if (s->db != NULL) {
        close(s->socket);
    }
    s->db = NULL;
    s->prepared = 0;
}

/* ---- failures in words ----------------------------------------------------------------------- */

/* What a server reported, and what to do about it. */
static const struct {
    const char *state, *what, *cure;
} explanations[] = {
    {"42501", "lacks a right",
     "GRANT SELECT, INSERT, UPDATE on both tables (docs/reference/stores.md)"},
    {"42P01", "misses a table",
     "its marks are lost if somebody dropped it (docs/reference/stores.md)"},
    {"42703", "has tables with other columns, perhaps of an older firn",
     "see docs/reference/stores.md"},
    {"25006", "takes no writes", "name the primary server"},
    {"53100", "found the disk full", "make room on the server"},
    {"53300", "has no connection left", "raise max_connections"},
    {"55P03", "holds the row locked", "end the session that locks it (pg_locks)"},
    {"57014", "was told to stop", "raise statement_timeout"},
    {"22021", "cannot keep such bytes", "use names in UTF-8"},
    {"23514", "met a mark past 2^62", "look at its tables (docs/reference/stores.md)"},
    {"40001", "was changed by others all the time", "ask again"},
    {"40P01", "was changed by others all the time", "ask again"},
    {"26000", "changes sessions",
     "let the pooler keep one for each connection (pool_mode=session)"},
    {"42P05", "changes sessions",
     "let the pooler keep one for each connection (pool_mode=session)"},
};

/* The first line of what libpq says, without where it tried to connect to, which the URL says. */
static const char *first_line(char out[120], const char *text) {
    const char *failed = strstr(text, " failed: ");
    text = failed != NULL ? failed + 9 : text;
    text = strncmp(text, "FATAL:  ", 8) == 0 || strncmp(text, "ERROR:  ", 8) == 0 ? text + 8 : text;
    snprintf(out, 120, "%.*s", (int)strcspn(text, "\n"), text);
    return out;
}

static int explain(const store *s, const PGresult *result, firn_error *error) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    char line[120];
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    first_line(line, text != NULL ? text : PQresultErrorMessage(result));
    for (size_t i = 0; state != NULL && i < sizeof explanations / sizeof explanations[0]; i++) {
        if (strcmp(state, explanations[i].state) == 0) {
            return module_fail(error, FIRN_ESTORE, "store %.48s %s (%.48s): %s", where(s),
                               explanations[i].what, line, explanations[i].cure);
        }
    }
    return module_fail(error, FIRN_ESTORE, "store %.48s failed (%.90s, %.5s): look at the server",
                       where(s), line, state != NULL ? state : "?");
}

static int unknown(const store *s, const char *why, firn_error *error) {
    return module_fail(error, FIRN_EUNKNOWN,
                       "store %.60s did not say whether it counts (%.60s): ask again with the "
                       "same grant",
                       where(s), why);
}

/* ---- talking --------------------------------------------------------------------------------- */

/* What came of a statement that was sent. */
enum outcome {
    ANSWERED, /* and, for a write, committed */
    REFUSED,  /* rolled back */
    LOST      /* who knows */
};

/* Notes what libpq would print: the server committed without its synchronous standby because
 * somebody cancelled the wait. */
static void notice(void *self, const PGresult *result) {
    store *s = self;
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    s->unconfirmed =
        s->unconfirmed || (state != NULL && severity != NULL && strcmp(severity, "WARNING") == 0 &&
                           strcmp(state, "01000") == 0);
}

static bool flush(const store *s, int64_t deadline_ms) {
    int more;
    while ((more = PQflush(s->db)) == 1) {
        if (!module_await(s->socket, POLLIN | POLLOUT, deadline_ms) || PQconsumeInput(s->db) == 0) {
            return false;
        }
    }
    return more == 0;
}

/* Reads up to the end of the answer, since the server commits after it has told the rows. Keeps the
 * last result, or the first that is a failure. */
static enum outcome receive(const store *s, int64_t deadline_ms, PGresult **out) {
    PGresult *kept = NULL, *next;
    bool failed = false, ended = false;
    for (int i = 0; i < RESULTS_MOST; i++) {
        while (PQisBusy(s->db)) {
            if (!module_await(s->socket, POLLIN, deadline_ms) || PQconsumeInput(s->db) == 0) {
                PQclear(kept);
                *out = NULL;
                return LOST;
            }
        }
        next = PQgetResult(s->db);
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
    if (PQstatus(s->db) != CONNECTION_OK || kept == NULL || !ended) {
        return LOST;
    }
    const char *severity = PQresultErrorField(kept, PG_DIAG_SEVERITY_NONLOCALIZED);
    return !failed ? ANSWERED : severity != NULL && strcmp(severity, "ERROR") == 0 ? REFUSED : LOST;
}

/* After sending: the answer within the time, or why there is none. */
static enum outcome converse(store *s, const char *sent_point, PGresult **out, firn_error *error) {
    int64_t deadline_ms = module_now_ms() + s->link.timeout_ms;
    *out = NULL;
    if (!flush(s, deadline_ms)) {
        return LOST;
    }
    if (sent_point != NULL &&
        module_point(&s->link.options, s->link.pid, sent_point, error) != FIRN_OK) {
        return LOST;
    }
    return receive(s, deadline_ms, out);
}

static const char *why_lost(const store *s, const PGresult *result, char line[120]) {
    const char *text = result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (text == NULL) {
        text = s->db != NULL && PQstatus(s->db) == CONNECTION_OK ? "no answer in timeout_ms"
                                                                 : PQerrorMessage(s->db);
    }
    return first_line(line, text);
}

/* What went wrong before anything could have been done. */
static int lost_early(store *s, const PGresult *result, firn_error *error) {
    char line[120];
    why_lost(s, result, line);
    module_fail(error, FIRN_ESTORE, "store %.60s gives no answer (%.90s): look at the server",
                where(s), line);
    drop(s);
    return FIRN_ESTORE;
}

static int prepare(store *s, enum statement statement, firn_error *error) {
    char text[STATEMENT_MAX];
    PGresult *result = NULL;
    if ((s->prepared >> statement & 1) != 0) {
        return FIRN_OK;
    }
    fill_in(s, text, statements[statement].text);
    enum outcome outcome = LOST;
    if (PQsendPrepare(s->db, statements[statement].name, text, 0, NULL) == 1) {
        outcome = converse(s, NULL, &result, error);
    }
    int code = outcome == ANSWERED  ? FIRN_OK
               : outcome == REFUSED ? explain(s, result, error)
                                    : lost_early(s, result, error);
    if (outcome == ANSWERED) {
        s->prepared |= 1U << statement;
    }
    PQclear(result);
    return code;
}

/* Did the server roll it back only because somebody else was in the way? */
static bool may_repeat(const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state != NULL && (strcmp(state, "40001") == 0 || strcmp(state, "40P01") == 0);
}

/* A statement, once. *outcome tells whether another try makes sense. */
static int ask_once(store *s, enum statement statement, const char *const *values, const points *at,
                    PGresult **out, bool *again, firn_error *error) {
    char line[120];
    enum outcome outcome = LOST;
    int code = module_in_time(s->link.end_ms, where(s), error);
    *again = false;
    *out = NULL;
    if (code == FIRN_OK) {
        code = prepare(s, statement, error);
    }
    if (code == FIRN_OK && at != NULL) {
        code = module_point(&s->link.options, s->link.pid, at->before, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    s->unconfirmed = false;
    if (PQsendQueryPrepared(s->db, statements[statement].name, statements[statement].values, values,
                            NULL, NULL, 0) == 1) {
        outcome = converse(s, at != NULL ? at->sent : NULL, out, error);
    }
    if (getpid() != s->link.pid) {
        return FIRN_EFORKED; /* told already; the answer is the parent's */
    }
    if (outcome == ANSWERED && !s->unconfirmed) {
        return FIRN_OK;
    }
    if (outcome == REFUSED) {
        *again = may_repeat(*out);
        code = explain(s, *out, error);
    } else {
        code = unknown(s,
                       outcome == ANSWERED ? "committed without the synchronous standby"
                                           : why_lost(s, *out, line),
                       error);
    }
    if (!*again) {
        drop(s); /* whatever it was, a new session knows better */
    }
    PQclear(*out);
    *out = NULL;
    return code;
}

/* A statement and its rows. FIRN_EUNKNOWN: sent, and perhaps carried out; else, when it fails, it
 * was not. */
static int ask(store *s, enum statement statement, const char *const *values, const points *at,
               PGresult **out, firn_error *error) {
    int code = FIRN_ESTORE;
    bool again = true;
    for (int i = 0; i < SENDINGS && again; i++) {
        if (i > 0) {
            poll(NULL, 0, 1 << i);
        }
        code = ask_once(s, statement, values, at, out, &again, error);
    }
    return code;
}

/* The same for what may be asked any number of times: reading, and preparing a reservation. */
static int ask_idly(store *s, enum statement statement, const char *const *values, PGresult **out,
                    firn_error *error) {
    int code = ask(s, statement, values, NULL, out, error);
    if (code == FIRN_EUNKNOWN) {
        code = FIRN_ESTORE;
        if (error != NULL) {
            error->code = code;
        }
    }
    return code;
}

static const char *number(char out[NUMBER_SIZE], int64_t value) {
    snprintf(out, NUMBER_SIZE, "%" PRId64, value);
    return out;
}

/* "" where there is none: who knows what answers at that port? */
static const char *cell(const PGresult *result, int row, int column) {
    const char *text = PQgetvalue(result, row, column);
    return text != NULL ? text : "";
}

/* A bigint of the server's; the grant uses all its bits, so that half of them are negative. */
static int64_t number_at(const PGresult *result, int row, int column) {
    return strtoll(cell(result, row, column), NULL, 10);
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* libpq's own words that are handed on to it, with what they say. */
static const char *const native[] = {"sslmode",         "sslrootcert", "sslcert",
                                     "sslkey",          "sslcrl",      "ssl_min_protocol_version",
                                     "channel_binding", "passfile",    "application_name",
                                     "gssencmode",      "options",     "krbsrvname"};
#define NATIVE (sizeof native / sizeof native[0])

/* tls=WORD in libpq's words. */
static const char *ssl_mode(const char *word) {
    return word == NULL                  ? NULL
           : strcmp(word, "off") == 0    ? "disable"
           : strcmp(word, "verify") == 0 ? "verify-full"
                                         : word;
}

/* Begins a connection to one of the hosts. NULL: out of memory. */
static PGconn *begin(store *s, size_t host) {
    char port[NUMBER_SIZE];
    const char *words[NATIVE + 12], *values[NATIVE + 12];
    size_t n = 0;
    const module_host *to = host < s->link.url.host_count ? &s->link.url.hosts[host] : NULL;
    const struct {
        const char *word, *value;
    } own[] = {{"host", to != NULL ? to->name : NULL},
               {"port", to != NULL && to->port != 0 ? port : NULL},
               {"user", s->link.url.user},
               {"password", s->link.url.password},
               {"dbname", s->link.url.path},
               {"sslmode", ssl_mode(s->link.tls)},
               {"sslrootcert", s->link.authority},
               {"client_encoding", "SQL_ASCII"}, /* bytes are bytes */
               {"fallback_application_name", "firn"}};
    snprintf(port, sizeof port, "%d", to != NULL ? to->port : 0);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        words[n] = own[i].word;
        values[n] = own[i].value;
        n += own[i].value != NULL;
    }
    for (size_t i = 0; i < NATIVE; i++) {
        words[n] = native[i];
        values[n] = module_param(&s->link.url, native[i]);
        n += values[n] != NULL;
    }
    words[n] = NULL;
    values[n] = NULL;
    return PQconnectStartParams(words, values, 0);
}

static int no_connection(const char *shown, const char *why, firn_error *error) {
    char line[120];
    return module_fail(error, FIRN_ESTORE,
                       "store %.60s cannot be reached (%.70s): look at server, network and login",
                       shown, first_line(line, why));
}

static int reach(store *s, size_t host, int64_t deadline_ms, firn_error *error) {
    PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
    s->db = begin(s, host);
    if (s->db == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory for a connection");
    }
    PQsetNoticeReceiver(s->db, notice, s);
    while (PQstatus(s->db) != CONNECTION_BAD && wants != PGRES_POLLING_OK &&
           wants != PGRES_POLLING_FAILED) {
        if (!module_await(PQsocket(s->db), wants == PGRES_POLLING_READING ? POLLIN : POLLOUT,
                          deadline_ms)) {
            drop(s);
            return no_connection(where(s), "no answer in connect_timeout_ms", error);
        }
        wants = PQconnectPoll(s->db);
    }
    if (PQstatus(s->db) != CONNECTION_OK || PQsetnonblocking(s->db, 1) != 0) {
        int code = no_connection(where(s), PQerrorMessage(s->db), error);
        drop(s);
        return code;
    }
    s->socket = PQsocket(s->db);
    return FIRN_OK;
}

/* A statement of the simple protocol. The caller clears *out. */
static int tell(store *s, const char *text, PGresult **out, enum outcome *outcome,
                firn_error *error) {
    *outcome = LOST;
    *out = NULL;
    int late = module_in_time(s->link.end_ms, where(s), error);
    if (late != FIRN_OK) {
        return late;
    }
    if (PQsendQuery(s->db, text) == 1) {
        *outcome = converse(s, NULL, out, error);
    }
    return *outcome == ANSWERED  ? FIRN_OK
           : *outcome == REFUSED ? explain(s, *out, error)
                                 : lost_early(s, *out, error);
}

/* Two that create at once may both fail in the catalogue: the next look finds the tables. */
static int create(store *s, firn_error *error) {
    char text[STATEMENT_MAX];
    PGresult *result;
    enum outcome outcome;
    fill_in(s, text, create_sql);
    int code = tell(s, text, &result, &outcome, error);
    const char *state = outcome == REFUSED ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    if (state != NULL && strcmp(state, "42501") == 0) {
        code = module_fail(
            error, FIRN_ESTORE,
            "store %.48s lacks %.40s_mark or its trigger and may not create it: GRANT "
            "CREATE ON SCHEMA public TO %.24s, or run what docs/reference/stores.md says",
            where(s), s->table, PQuser(s->db));
    } else if (state != NULL && (strncmp(state, "23", 2) == 0 || strncmp(state, "40", 2) == 0 ||
                                 strncmp(state, "42", 2) == 0 || strncmp(state, "55", 2) == 0)) {
        code = FIRN_OK;
    }
    PQclear(result);
    return code;
}

static bool says(const PGresult *result, int column) {
    return cell(result, 0, column)[0] == 't';
}

static int pooled(const store *s, firn_error *error) {
    return module_fail(
        error, FIRN_ESTORE,
        "store %.60s changes sessions between statements: let the pooler keep one for "
        "each connection (pool_mode=session)",
        where(s));
}

/* A pooler tells another number of the server's process than the process does. Does it give the same
 * process to a second connection, while this one lasts? If it has no second one, nobody knows, and the
 * statements themselves find out. */
static int check_pooler(store *s, size_t host, firn_error *error) {
    static const char text[] = "SELECT pg_backend_pid()";
    store other = *s;
    PGresult *result = NULL;
    enum outcome outcome;
    if (strtol(s->backend, NULL, 10) == PQbackendPID(s->db)) {
        return FIRN_OK;
    }
    other.db = NULL;
    int code = reach(&other, host, module_now_ms() + s->link.connect_ms / 2 + 1, NULL);
    if (code == FIRN_OK) {
        code = tell(&other, text, &result, &outcome, NULL);
    }
    bool shared = code == FIRN_OK && strcmp(cell(result, 0, 0), s->backend) == 0;
    PQclear(result);
    drop(&other);
    return shared ? pooled(s, error) : FIRN_OK;
}

static int replaced(const store *s, firn_error *error) {
    return module_fail(error, FIRN_ESTORE,
                       "store %.60s: table %.48s_mark was dropped or made anew, its marks are "
                       "lost: see docs/reference/stores.md, then start again",
                       where(s), s->table);
}

/* Takes in what the session is. *made: the tables are there. While another session makes them their
 * names are found before the statement's snapshot has their rows: then they are not there yet. */
static int judge(store *s, const PGresult *result, bool *made, firn_error *error) {
    const char *marks = cell(result, 0, GREET_MARKS);
    const char *risk = NULL;
    *made = marks[0] != '\0' && !PQgetisnull(result, 0, GREET_NAMESPACES) &&
            !PQgetisnull(result, 0, GREET_LOGGED) && says(result, GREET_KEPT);
    if (says(result, GREET_READ_ONLY)) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s is a standby or read-only: name the primary server",
                           where(s));
    }
    risk = !says(result, GREET_FSYNC)             ? "fsync=off"
           : !says(result, GREET_WHOLE_PAGES)     ? "full_page_writes=off"
           : *made && !says(result, GREET_LOGGED) ? "an UNLOGGED table"
                                                  : NULL;
    if (risk != NULL && !s->link.unsafe) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s has %s, so a crash may lose what it acknowledged: change "
                           "that, or take the risk with unsafe=1",
                           where(s), risk);
    }
    if (s->marks[0] != '\0' && strcmp(s->marks, marks) != 0) { /* before it is made again */
        return replaced(s, error);
    }
    s->caution[0] = '\0';
    if (risk != NULL) {
        snprintf(s->caution, sizeof s->caution,
                 "PostgreSQL has %s, so a crash may lose what it acknowledged and IDs may repeat",
                 risk);
    }
    return FIRN_OK;
}

/* The store that was just made is that of this engine. */
static int born(store *s, firn_error *error) {
    PGresult *result;
    int code = ask_idly(s, BORN, NULL, &result, error);
    PQclear(result);
    return code;
}

static int greet(store *s, firn_error *error) {
    char text[STATEMENT_MAX];
    bool made = false;
    if (PQserverVersion(s->db) < OLDEST_SERVER) {
        return module_fail(error, FIRN_ESTORE, "store %.60s is older than PostgreSQL 10: update it",
                           where(s));
    }
    fill_in(s, text, greet_sql);
    for (int i = 0; i < 4; i++) {
        PGresult *result;
        enum outcome outcome;
        int code = tell(s, text, &result, &outcome, error);
        if (code == FIRN_OK) {
            code = judge(s, result, &made, error);
        }
        if (code == FIRN_OK && made) {
            snprintf(s->backend, sizeof s->backend, "%s", cell(result, 0, GREET_BACKEND));
            snprintf(s->marks, sizeof s->marks, "%s", cell(result, 0, GREET_MARKS));
        }
        PQclear(result);
        if (code != FIRN_OK || made) {
            return code != FIRN_OK || i == 0 ? code : born(s, error);
        }
        code = create(s, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    return module_fail(error, FIRN_ESTORE,
                       "store %.48s has no %.48s_mark though it was created: look at search_path",
                       where(s), s->table);
}

/* The server has lost what it had granted: everybody is to know. The store itself first, so that no
 * namespace which somebody is just making escapes. */
static int spread_doubt(store *s, firn_error *error) {
    static const char *const which[] = {"false", "true"};
    int code = FIRN_OK;
    for (size_t i = 0; i < 2 && code == FIRN_OK; i++) {
        PGresult *result;
        code = ask_idly(s, DOUBT, &which[i], &result, error);
        PQclear(result);
    }
    if (code == FIRN_OK) {
        module_forget(&s->last);
        memset(&s->seen, 0, sizeof s->seen);
    }
    return code;
}

/* Does it still know what this handle was granted last? */
static int check_last(store *s, firn_error *error) {
    const char *key[] = {s->last.ns, s->last.key};
    PGresult *result;
    bool kept = false;
    if (s->last.high == 0) {
        return FIRN_OK;
    }
    int code = ask_idly(s, READ, key, &result, error);
    if (code == FIRN_OK) {
        kept = PQntuples(result) == 1 && number_at(result, 0, 0) >= s->last.high;
    }
    PQclear(result);
    return code != FIRN_OK || kept ? code : spread_doubt(s, error);
}

static int dial(void *self, size_t host, int64_t deadline_ms, firn_error *error) {
    store *s = self;
    int code = reach(s, host, deadline_ms, error);
    if (code == FIRN_OK) {
        code = greet(s, error);
    }
    if (code == FIRN_OK) {
        code = check_pooler(s, host, error);
    }
    if (code == FIRN_OK) {
        code = check_last(s, error);
    }
    if (code != FIRN_OK) {
        drop(s);
    }
    return code;
}

/* Has the server closed the connection while it was idle? Then nothing was asked on it yet. */
static bool is_stale(const store *s) {
    struct pollfd one = {s->socket, POLLIN, 0};
    for (int i = 0; i < 4 && poll(&one, 1, 0) > 0; i++) {
        if (PQconsumeInput(s->db) == 0 || PQstatus(s->db) != CONNECTION_OK) {
            return true;
        }
        PQisBusy(s->db); /* reads what it took in */
    }
    return PQstatus(s->db) != CONNECTION_OK;
}

/* A connection on which to ask. */
static int ready(store *s, firn_error *error) {
    begin_verb(s);
    if (module_forked(&s->link.pid)) {
        abandon(s);
        module_forget(&s->last); /* the parent may give it back */
    }
    if (s->db != NULL && is_stale(s)) {
        drop(s);
    }
    return s->db != NULL ? FIRN_OK : module_link_connect(&s->link, dial, s, error);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int read_params(store *s, firn_error *error) {
    int code = module_param_name(&s->table, &s->link.url, "table", "firn", error);
    for (size_t i = 0; i < NATIVE; i++) {
        module_param(&s->link.url, native[i]);
    }
    return code != FIRN_OK
               ? code
               : module_params_done(&s->link.url,
                                    "table connect_timeout_ms timeout_ms tls ca unsafe, and "
                                    "libpq's sslmode sslrootcert passfile options...",
                                    error);
}

static void postgres_close(void *self) {
    store *s = self;
    if (module_forked(&s->link.pid)) {
        abandon(s);
    }
    drop(s);
    module_link_free(&s->link);
    free(s);
}

static int postgres_open(void **self, const char *url, const firn_store_options *options,
                         firn_error *error) {
    store *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory for a store");
    }
    int code = module_link_read(&s->link, url, options, error);
    if (code == FIRN_OK) {
        code = read_params(s, error);
    }
    if (code == FIRN_OK) {
        code = ready(s, error);
    }
    if (code != FIRN_OK) {
        postgres_close(s);
        return code;
    }
    *self = s;
    return FIRN_OK;
}

/* ---- verbs ----------------------------------------------------------------------------------- */

/* How many bytes the UTF-8 character at `c` has; 0: it is none. */
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

/* A note for people must not fail a reservation: bytes that are not UTF-8 become question marks. */
static void make_readable(char out[FIRN_NOTE_SIZE], const char *note) {
    snprintf(out, FIRN_NOTE_SIZE, "%s", note != NULL ? note : "");
    for (char *c = out; *c != '\0';) {
        size_t length = character((const unsigned char *)c);
        *c = length == 0 ? '?' : *c;
        c += length == 0 ? 1 : length;
    }
}

static int first_use(store *s, const firn_request *request, firn_error *error) {
    char guard[NUMBER_SIZE];
    const char *values[] = {request->ns, request->layout, s->marks, number(guard, request->guard)};
    PGresult *result = NULL;
    /* One that this handle has seen is no first one: the server lost it. */
    int code = module_was_seen(&s->seen, request->ns) ? spread_doubt(s, error) : born(s, error);
    if (code == FIRN_OK) {
        code = ask_idly(s, FIRST_USE, values, &result, error);
    }
    if (code == FIRN_OK && request->guard == 0 && PQntuples(result) == 1 && !says(result, 0)) {
        code = module_refuse_changed(error, where(s), request->ns);
    }
    PQclear(result);
    return code;
}

static int adopt(store *s, const firn_request *request, const char *stored, firn_error *error) {
    char guard[NUMBER_SIZE];
    const char *values[] = {request->ns, number(guard, request->guard), stored};
    PGresult *result;
    int code = ask_idly(s, ADOPT, values, &result, error);
    PQclear(result);
    return code;
}

/* Who meets its own grant will take the slots for granted, so that mark must be as durable as if it
 * had been acknowledged. */
static int settle(store *s, const firn_request *request, bool *there, firn_error *error) {
    char grant[NUMBER_SIZE];
    const char *values[] = {request->ns, request->key, number(grant, (int64_t)request->grant)};
    PGresult *result;
    int code = ask(s, SETTLE, values, NULL, &result, error);
    if (code == FIRN_ESTORE) {
        code = FIRN_EUNKNOWN;
        if (error != NULL) {
            error->code = code;
        }
    }
    *there = code == FIRN_OK && PQntuples(result) == 1;
    PQclear(result);
    return code;
}

/* Nothing was granted because of the mark, or of a doubt that nobody resolves: tells it, or FIRN_OK
 * when it has just changed, so that asking again may help. */
static int tell_busy(store *s, const firn_request *request, bool doubted, int64_t floor,
                     firn_mark *held, firn_error *error) {
    const char *values[] = {request->ns, request->key};
    firn_mark mark = {0, 0};
    PGresult *result;
    bool there = true;
    int code = ask_idly(s, READ, values, &result, error);
    if (code == FIRN_OK && PQntuples(result) == 1) {
        mark = (firn_mark){number_at(result, 0, 0), (uint64_t)number_at(result, 0, 1)};
    }
    PQclear(result);
    if (code == FIRN_OK && mark.high < module_least(&s->last, request->ns, request->key)) {
        return spread_doubt(s, error);
    }
    if (code == FIRN_OK && doubted && mark.high <= request->latest) {
        return module_refuse_changed(error, where(s), request->ns);
    }
    if (code == FIRN_OK && mark.grant == request->grant && mark.grant != 0) {
        code = settle(s, request, &there, error);
    }
    if (code != FIRN_OK || !there || (mark.high <= request->latest && floor <= request->latest)) {
        return code;
    }
    module_busy(held, &mark, floor);
    return module_refuse_busy(error, request, held->high);
}

/* What is to be done after an answer of RESERVE. *done: nothing, *first is granted. */
static int take_answer(store *s, const firn_request *request, const PGresult *answer, bool *done,
                       int64_t *first, firn_mark *held, firn_error *error) {
    if (PQntuples(answer) == 0) {
        return first_use(s, request, error);
    }
    if (!PQgetisnull(answer, 0, 3)) {
        *done = true;
        *first = number_at(answer, 0, 3) - request->count;
        module_see(&s->seen, request->ns);
        module_remember(&s->last, request, *first + request->count);
        return module_point(&s->link.options, s->link.pid, reserve_points.committed, error);
    }
    if (strcmp(cell(answer, 0, 0), request->layout) != 0) {
        return module_other_row(error, request, cell(answer, 0, 0));
    }
    if (!says(answer, 4)) {
        drop(s);
        return pooled(s, error);
    }
    if (!says(answer, 5)) {
        drop(s);
        return replaced(s, error);
    }
    const bool doubted = !says(answer, 6);
    return doubted && request->guard > 0
               ? adopt(s, request, cell(answer, 0, 1), error)
               : tell_busy(s, request, doubted, number_at(answer, 0, 2), held, error);
}

static int postgres_reserve(void *self, const firn_request *request, int64_t *first,
                            firn_mark *held, firn_error *error) {
    store *s = self;
    char count[NUMBER_SIZE], earliest[NUMBER_SIZE], latest[NUMBER_SIZE], grant[NUMBER_SIZE];
    char least[NUMBER_SIZE], note[FIRN_NOTE_SIZE];
    bool done = false;
    int code = ready(s, error);
    make_readable(note, request->note);
    for (int i = 0; i < ROUNDS && code == FIRN_OK && !done; i++) {
        const char *values[] = {request->ns,
                                request->key,
                                number(count, request->count),
                                number(earliest, request->earliest),
                                number(latest, request->latest),
                                number(grant, (int64_t)request->grant),
                                note,
                                request->layout,
                                s->backend,
                                s->marks,
                                number(least, module_least(&s->last, request->ns, request->key))};
        PGresult *answer;
        code = ask(s, RESERVE, values, &reserve_points, &answer, error);
        if (code == FIRN_OK) {
            code = take_answer(s, request, answer, &done, first, held, error);
        }
        PQclear(answer);
    }
    return code != FIRN_OK || done
               ? code
               : module_fail(error, FIRN_ESTORE,
                             "store %.60s: %.60s changes all the time: ask again", where(s),
                             request->key);
}

static int postgres_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                              int64_t high, firn_error *error) {
    store *s = self;
    char mark[NUMBER_SIZE], grant[NUMBER_SIZE], lower[NUMBER_SIZE];
    const char *values[] = {ns, key, number(mark, mine->high), number(grant, (int64_t)mine->grant),
                            number(lower, high)};
    PGresult *result = NULL;
    int code = ready(s, error);
    module_forget(&s->last);
    if (code == FIRN_OK) {
        code = ask(s, GIVE_BACK, values, &give_back_points, &result, error);
    }
    if (code == FIRN_OK) {
        code = PQntuples(result) == 1
                   ? module_point(&s->link.options, s->link.pid, give_back_points.committed, error)
                   : module_refuse_give_back(error, ns, key, mine);
    }
    PQclear(result);
    return code;
}

/* Shows a page's lines, and keeps where it ended. */
static int show_page(const store *s, const PGresult *page, firn_visit *visit, void *context,
                     char ns[FIRN_NS_SIZE], char key[FIRN_KEY_SIZE], firn_error *error) {
    int code = FIRN_OK;
    for (int i = 0; code == FIRN_OK && i < PQntuples(page); i++) {
        const firn_holding holding = {cell(page, i, 0),
                                      cell(page, i, 1),
                                      cell(page, i, 2),
                                      cell(page, i, 3),
                                      {number_at(page, i, 4), (uint64_t)number_at(page, i, 5)}};
        snprintf(ns, FIRN_NS_SIZE, "%s", holding.ns);
        snprintf(key, FIRN_KEY_SIZE, "%s", holding.key);
        code = visit(context, &holding);
        if (getpid() != s->link.pid) {
            return module_fail(error, FIRN_EFORKED,
                               "this process was forked while it listed: list again");
        }
    }
    return code;
}

/* In pages, each a statement: neither side keeps more, and a visitor may take its time or stop. */
static int postgres_list(void *self, const char *ns, firn_visit *visit, void *context,
                         firn_error *error) {
    store *s = self;
    char last_ns[FIRN_NS_SIZE] = "", last_key[FIRN_KEY_SIZE] = "", rows[NUMBER_SIZE];
    const char *values[] = {ns != NULL ? ns : last_ns, last_key, number(rows, PAGE_ROWS)};
    int shown = PAGE_ROWS, code = ready(s, error);
    while (code == FIRN_OK && shown == PAGE_ROWS) {
        PGresult *page;
        begin_verb(s); /* whoever is shown it may take his time */
        code = ask_idly(s, ns != NULL ? LIST_ONE : LIST_ALL, values, &page, error);
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
    int code = ready(s, error);
    if (code == FIRN_OK) {
        code = ask_idly(s, NOW, NULL, &result, error);
    }
    if (code == FIRN_OK) {
        int64_t us = number_at(result, 0, 0);
        code = module_clock(now, us, s->link.url.shown, error);
    }
    PQclear(result);
    return code;
}

static const char *postgres_caution(void *self) {
    const store *s = self;
    return s->caution[0] != '\0' ? s->caution : NULL;
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
    .caution = postgres_caution,
    .close = postgres_close,
};
