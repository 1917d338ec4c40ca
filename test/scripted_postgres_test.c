/* SPDX-License-Identifier: MIT */
/* The driver of PostgreSQL over a scripted server: see scripted.h. The program has its own functions
 * of libpq, over a server that does what the statements of modules/postgres_sql.h do;
 * test/postgres_test.c runs those. */
#include "../fuzz/lying.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>

static int64_t awaited_until_ms;
static short lie_await(int socket, short events);
static int lie_poll(const struct pollfd *set, nfds_t count, int ms);
#define module_await(fd, events, end_ms) (awaited_until_ms = (end_ms), lie_await(fd, events))
#define poll(set, count, ms)             lie_poll(set, count, ms)
#include "../modules/postgres.c"
#include "../modules/postgres_place.c"
#include "../modules/postgres_session.c"
#include "../modules/postgres_taken.c"
#include "../modules/sql.c"

typedef struct own_session {
    unsigned prepared; /* a bit for each statement */
    PGresult *result;  /* NULL: none, or it was fetched */
    bool answered;
    unsigned greeted; /* the mark that the client gave it; 0: none */
    char first[160];  /* the session that the client greeted */
    PQnoticeReceiver notice;
    void *self;
} own_session;

#define BACKENDS 3
#include "scripted_sql.h"

/* ---- the server ------------------------------------------------------------------------------ */

enum { GREETING = NOW + 1, CREATION, PLAIN_ROLLBACK, WHO, KINDS };

#define SYSTEM "7"

static PGresult *make_result(ExecStatusType status, int columns) {
    PGresAttDesc names[READ_COLUMNS + 2] = {{0}};
    PGresult *out = PQmakeEmptyPGresult(NULL, status);
    assert_non_null(out);
    for (int i = 0; i < columns; i++) {
        names[i].name = (char *)(uintptr_t) "c";
    }
    assert_true(columns == 0 || PQsetResultAttrs(out, columns, names));
    return out;
}

static void put_cell(PGresult *out, int column, const char *text) {
    assert_true(
        PQsetvalue(out, 0, column, (char *)(uintptr_t)text, text != NULL ? (int)strlen(text) : -1));
}

static void put_number(PGresult *out, int column, int64_t value) {
    char digits[MODULE_NUMBER_SIZE];
    put_cell(out, column, module_digits(digits, value));
}

static void put_truth(PGresult *out, int column, bool value) {
    put_cell(out, column, value ? "t" : "f");
}

/* Its SQLSTATE, its severity and its text; see PQresultErrorField. */
static PGresult *make_error(const char *state, const char *severity) {
    PGresult *out = make_result(PGRES_FATAL_ERROR, 3);
    put_cell(out, 0, state);
    put_cell(out, 1, severity);
    put_cell(out, 2, "a message");
    return out;
}

/* Without chance: what becomes of the next `count` statements `which`. */
static struct {
    int count, which;
    const char *state,
        *severity; /* of the error that answers, or of the warning before the answer */
    bool warns;
    bool cut;    /* the connection breaks */
    bool lost;   /* no answer */
    bool done;   /* the statement is carried out, though */
    bool inside; /* the session is in a transaction afterwards */
} planned;

/* A column of the next greetings that is otherwise, and how many they are. */
static struct {
    int times, column;
    const char *cell;
    bool meddles; /* one after those shows a trigger */
} greeted_as;

static const char *identity(void) {
    static char text[TEXT];
    snprintf(text, sizeof text, SYSTEM "/%08X/1/%u", live.server, live.made);
    return text;
}

/* The nodes of the extension; somebody sets them. */
static const char *taken(void) {
    return live.server % 2 == 0 ? "" : "900;;900";
}

static bool marks_sessions; /* false: injected bug, the process alone identifies a session */

static const char *session_text(const session *s) {
    static char text[48];
    const int length = snprintf(text, sizeof text, "%u", s->backend);
    if (marks_sessions && s->own.greeted != 0) {
        snprintf(text + length, sizeof text - (size_t)length, "/%u", s->own.greeted);
    }
    return text;
}

static PGresult *greet_client(session *s) {
    static unsigned greetings;
    s->own.greeted = ++greetings;
    put_text(s->own.first, session_text(s));
    PGresult *out = make_result(PGRES_TUPLES_OK, GREET_MEDDLER + 1);
    put_truth(out, GREET_READ_ONLY, false);
    put_truth(out, GREET_FSYNC, true);
    put_truth(out, GREET_WHOLE_PAGES, true);
    put_cell(out, GREET_SESSION, session_text(s));
    put_number(out, GREET_NAMESPACES, 1);
    put_number(out, GREET_MARKS, live.made);
    put_truth(out, GREET_LOGGED, true);
    put_truth(out, GREET_KEPT, true);
    put_cell(out, GREET_SYSTEM, SYSTEM);
    put_cell(out, GREET_MEDDLER, NULL);
    if (greeted_as.times > 0) {
        greeted_as.times--;
        put_cell(out, greeted_as.column, greeted_as.cell);
    } else if (greeted_as.meddles) {
        greeted_as.meddles = false;
        put_cell(out, GREET_MEDDLER, "theirs");
    }
    return out;
}

static PGresult *read_rows(const session *s, const char *ns, const char *key) {
    const stored *own = see(s, STORE_ROW), *name = see(s, ns_row(ns)),
                 *mark = see(s, mark_row(ns, key));
    PGresult *out = make_result(PGRES_TUPLES_OK, READ_COLUMNS);
    put_cell(out, READ_SESSION, session_text(s));
    put_number(out, READ_MARKS, live.made);
    put_cell(out, READ_TAKEN, taken());
    put_truth(out, READ_NEW, is(own->identity, "new"));
    put_truth(out, READ_CURRENT, is(own->identity, identity()));
    put_cell(out, READ_ALL_CURRENT, NULL);
    put_cell(out, READ_ALL_LAYOUT, NULL);
    for (int i = READ_LAYOUT; i < READ_COLUMNS; i++) {
        put_cell(out, i, NULL);
    }
    if (name->there) {
        put_cell(out, READ_LAYOUT, name->layout);
        put_truth(out, READ_NS_CURRENT, is(name->identity, identity()));
        put_number(out, READ_FLOOR, name->number);
    }
    if (mark->there) {
        put_number(out, READ_HIGH, mark->number);
        put_number(out, READ_GRANT, (int64_t)mark->grant);
    }
    scripted_read();
    return out;
}

static bool tells; /* false: injected bug, a commit does not say which session carried it out */

/* The condition UNCHANGED, on the namespace's record `name`. */
static bool is_unchanged(const session *s, const stored *name, const char *const *v) {
    return (name->there && is(name->layout, v[8]) && name->number == atoll(v[9]) &&
            is(name->identity, identity()) && is(v[10], session_text(s)) &&
            live.made == (unsigned)atoi(v[11]) && is(v[12], taken())) ||
           !compares;
}

static char given_note[FIRN_NOTE_SIZE]; /* of the last mark that was written */

static PGresult *made(bool done, int64_t value) {
    PGresult *out = make_result(PGRES_TUPLES_OK, 1);
    if (done) {
        put_number(out, 0, value);
    }
    return out;
}

/* A raise that waited for the mark's lock compares the namespace's record as it was before. */
static PGresult *raise_high(session *s, const char *const *v, const stored *name) {
    const int i = mark_row(v[0], v[1]);
    const stored *mark = see(s, i);
    const int64_t least = atoll(v[4]), low = atoll(v[2]);
    const uint64_t also = (uint64_t)atoll(v[13]);
    const bool granted = mark->number > least || mark->grant == also ||
                         (is(v[14], "true") && (mark->grant == 0 || also == 0));
    if (!mark->there || mark->number < least || mark->number > atoll(v[5]) || !granted ||
        !is_unchanged(s, name, v)) {
        return made(false, 0);
    }
    const int64_t high = (mark->number > low ? mark->number : low) + atoll(v[3]);
    raise_to(s, i, high, (uint64_t)atoll(v[6]));
    snprintf(given_note, sizeof given_note, "%s", v[7]);
    return made(true, high);
}

static PGresult *create_mark(session *s, const char *const *v) {
    const int i = mark_row(v[0], v[1]);
    const int64_t high = atoll(v[2]) + atoll(v[3]);
    if (see(s, i)->there || atoll(v[4]) > 0 || atoll(v[5]) < 0 ||
        !is_unchanged(s, see(s, ns_row(v[0])), v)) {
        return made(false, 0);
    }
    raise_to(s, i, high, (uint64_t)atoll(v[6]));
    snprintf(given_note, sizeof given_note, "%s", v[7]);
    return made(true, high);
}

static PGresult *give_back(session *s, const char *const *v) {
    const int i = mark_row(v[0], v[1]);
    const stored *mark = see(s, i);
    if (!mark->there || mark->number != atoll(v[2]) || mark->grant != (uint64_t)atoll(v[3]) ||
        atoll(v[4]) > mark->number) {
        return made(false, 0);
    }
    change(s, i)->number = atoll(v[4]);
    change(s, i)->grant = 0;
    return made(true, atoll(v[4]));
}

static PGresult *name_space(session *s, const char *const *v) {
    stored *name = change(s, ns_row(v[0]));
    const int64_t floor = atoll(v[2]);
    if ((name->there && !is(v[3], "true")) || (compares && !is(v[6], session_text(s)))) {
        return made(false, 0);
    }
    if (!name->there || is(v[4], "true")) {
        put_text(name->identity, identity());
    }
    name->number = is(v[5], "true") || floor > name->number ? floor : name->number;
    name->there = true;
    put_text(name->layout, v[1]);
    return made(true, name->number);
}

static void doubt_all(session *s) {
    for (int i = STORE_ROW; i < MARK_ROWS; i++) {
        if (see(s, i)->there) {
            put_text(change(s, i)->identity, MODULE_GONE_BACK);
        }
    }
}

static void bear(session *s) {
    if (is(see(s, STORE_ROW)->identity, "new")) {
        put_text(change(s, STORE_ROW)->identity, identity());
    }
}

/* Which row the statement locks; -1: none. */
static int locked_row(int which, const char *const *v) {
    return which == RAISE || which == CREATE || which == GIVE_BACK ? mark_row(v[0], v[1])
           : which == SETTLE || which == NAME                      ? ns_row(v[0])
           : which == BORN || which == DOUBT                       ? STORE_ROW
                                                                   : -1;
}

static int creations; /* of the tables */

/* NULL: a lock is in the way. */
static PGresult *answer(session *s, const statement_sent *sent) {
    const char *v[WORDS];
    for (int i = 0; i < WORDS; i++) {
        v[i] = sent->words[i];
    }
    const int locks = locked_row(sent->which, v);
    if ((locks >= 0 && is_locked(s, locks)) ||
        ((sent->which == BEGIN || sent->which == BEGIN_ALONE) &&
         !tx_begin(s, sent->which == BEGIN_ALONE))) {
        return NULL;
    }
    switch (sent->which) {
    case GREETING:
        return greet_client(s);
    case CREATION:
        creations++;
        break;
    case WHO:
        return made(true, s->backend);
    case READ:
        return read_rows(s, v[0], v[1]);
    case RAISE:
        return raise_high(s, v, s->waits ? &s->before : see(s, ns_row(v[0])));
    case CREATE:
        return create_mark(s, v);
    case GIVE_BACK:
        return give_back(s, v);
    case SETTLE:
        return made(see(s, ns_row(v[0]))->there, 0);
    case NAME:
        return name_space(s, v);
    case BORN:
        bear(s);
        break;
    case DOUBT:
        doubt_all(s);
        break;
    case COMMIT: {
        tx_end(s, true);
        s->odd = false;
        PGresult *out = make_result(PGRES_TUPLES_OK, 1);
        put_cell(out, 0, tells ? session_text(s) : s->own.first);
        return out;
    }
    case ROLLBACK:
        tx_end(s, false);
        s->odd = false;
        break;
    default:
        assert_true(sent->which == BEGIN || sent->which == BEGIN_ALONE);
    }
    return make_result(PGRES_COMMAND_OK, 0);
}

static bool run_statement(session *s, const statement_sent *sent) {
    PGresult *out = answer(s, sent);
    PQclear(s->own.result);
    s->own.result = out;
    return out != NULL;
}

static void session_clear(session *s) {
    PQclear(s->own.result);
    s->own.result = NULL;
    s->own.prepared = s->own.greeted = 0;
    s->waits = false;
}

/* ---- libpq ----------------------------------------------------------------------------------- */

static session *session_of(const PGconn *db) {
    return (session *)(uintptr_t)db;
}

static bool in_transaction(const session *s) {
    return tx.owner == s || s->odd;
}

/* "@" is the prefix of the tables, and "#" and "~" are numbers. */
static bool is_text_of(const char *pattern, const char *text) {
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '@' && strncmp(text, "firn", 4) == 0) {
            text += 4;
        } else if ((*pattern == '#' || *pattern == '~') && *text <= '9' && *text >= '0') {
            text += strspn(text, "0123456789") - (pattern[1] == '0'); /* "#0" */
        } else if (*pattern == *text) {
            text++;
        } else {
            return false;
        }
    }
    return *text == '\0';
}

static int which_text(const char *text) {
    for (int i = 0; i < KINDS; i++) {
        if (is_text_of(i == GREETING         ? greet_sql
                       : i == CREATION       ? create_sql
                       : i == PLAIN_ROLLBACK ? "ROLLBACK"
                       : i == WHO            ? "SELECT pg_backend_pid()"
                                             : statements[i].text,
                       text)) {
            return i == PLAIN_ROLLBACK ? ROLLBACK : i;
        }
    }
    fail_msg("an unknown statement: %s", text);
    return -1;
}

static int which_name(const char *name) {
    int i = 0;
    while (!is(statements[i].name, name)) {
        i++;
    }
    return i;
}

static void warn(const session *s, const char *state) {
    PGresult *warning = make_error(state, "WARNING");
    s->own.notice(s->own.self, warning);
    PQclear(warning);
}

/* The raise has begun, and waits for the lock of another one. */
static void begin_raise(session *s, const statement_sent *sent) {
    s->waits = sent->which == RAISE;
    if (s->waits) {
        s->before = *see(s, ns_row(sent->words[0]));
    }
}

/* The statement waits longer than the client. */
static void wait_longer(session *s, const statement_sent *sent) {
    begin_raise(s, sent);
    s->late = *sent;
}

static void carry_out_soon(session *s, const statement_sent *sent, enum fate fate) {
    const bool reads = sent->which == READ || tx.owner == s;
    if (!carry_out(s, sent) && ONE_IN(2) && tx.owner != s) {
        wait_longer(s, sent);
    } else if (s->own.result == NULL) {
        tx_drop(s);
        s->own.result = make_error("55P03", "ERROR");
    } else if (fate == FATE_STRANGE && (!reads || sent->which == COMMIT)) {
        warn(s, "01000"); /* no standby confirmed it */
    }
}

/* As planned. */
static int send_planned(session *s, const statement_sent *sent) {
    planned.count--;
    s->odd |= planned.inside;
    if (planned.done) {
        (void)carry_out(s, sent);
    }
    if (planned.warns) {
        PGresult *warning = make_error(planned.state, planned.severity);
        s->own.notice(s->own.self, warning);
        PQclear(warning);
    } else if (!planned.inside) {
        PQclear(s->own.result);
        s->own.result = planned.lost ? NULL : make_error(planned.state, planned.severity);
    }
    s->closed |= planned.cut;
    return 1;
}

static int send_to(const PGconn *db, int which, const char *const *values) {
    session *s = session_of(db);
    statement_sent sent = {.which = which};
    for (int i = 0; values != NULL && i < statements[which].values; i++) {
        put_text(sent.words[i], values[i]);
    }
    s->own.answered = false;
    scripted_disturb();
    if (s->closed) {
        return 0;
    }
    if (planned.count > 0 && planned.which == which) {
        return send_planned(s, &sent);
    }
    const enum fate fate = draw_fate(s);
    if (which == COMMIT && faults && ONE_IN(tells ? 30 : 3)) {
        session_renew(s);
    }
    switch (fate) {
    case FATE_LOST:
        break;
    case FATE_LATER:
        wait_longer(s, &sent);
        break;
    case FATE_UNDONE:
    case FATE_ENDED:
        tx_drop(s);
        s->own.result =
            fate == FATE_UNDONE ? make_error("40P01", "ERROR") : make_error("57P01", "FATAL");
        break;
    default:
        if (which == RAISE && tx.owner != s && ONE_IN(4)) {
            begin_raise(s, &sent);
            scripted_disturb();
        }
        if (which != RAISE || !s->closed) {
            carry_out_soon(s, &sent, fate);
            s->waits = s->waits && s->late.which >= 0;
        }
    }
    if (fate == FATE_UNHEARD) {
        PQclear(s->own.result);
        s->own.result = NULL;
    }
    scripted_disturb();
    return 1;
}

/* The network and the server, without chance. */
static struct {
    bool lacks_memory;     /* of a connection */
    bool closed;           /* no connection is accepted */
    bool deaf;             /* nothing is ever ready */
    int reads;             /* that a connection needs before it is made */
    int flushes;           /* that a statement needs */
    int parts;             /* of an answer, which arrive one after the other */
    int inputs;            /* that arrive on an idle connection; negative: one, its end */
    int version;           /* of the server; 0: a new one */
    int backend;           /* that a pooler reports */
    const char *reason;    /* of the last failure */
    bool broken;           /* although there was an answer */
    bool blocks;           /* the connection cannot be made not to block */
    PGresult *results[20]; /* more of the answer, before the last one */
    int result_count;
} net;

static bool borrowed, begins_inside;
static int connections;

PGconn *PQconnectStartParams(const char *const *words, const char *const *values, int expand) {
    (void)words, (void)values, (void)expand;
    const unsigned before = backends;
    if (net.lacks_memory) {
        return NULL;
    }
    session *s = session_new();
    connections++;
    s->odd |= begins_inside;
    if (borrowed) {
        s->backend = 7;
        backends = before;
    }
    s->closed = net.closed || (faults && ONE_IN(30));
    return (PGconn *)(void *)s;
}

PostgresPollingStatusType PQconnectPoll(PGconn *db) {
    if (net.reads > 0) {
        return --net.reads % 2 == 0 ? PGRES_POLLING_WRITING : PGRES_POLLING_READING;
    }
    return session_of(db)->closed ? PGRES_POLLING_FAILED : PGRES_POLLING_OK;
}

PQnoticeReceiver PQsetNoticeReceiver(PGconn *db, PQnoticeReceiver receiver, void *self) {
    session_of(db)->own.notice = receiver;
    session_of(db)->own.self = self;
    return NULL;
}

int PQsetnonblocking(PGconn *db, int to) {
    (void)db;
    assert_int_equal(to, 1);
    return net.blocks ? -1 : 0;
}

int PQsocket(const PGconn *db) {
    return (int)(session_of(db) - sessions);
}

static short lie_await(int socket, short events) {
    (void)socket;
    if (net.reads > 0) {
        assert_int_equal(events, net.reads % 2 == 0 ? POLLOUT : POLLIN);
        return net.deaf ? 0 : events;
    }
    if (net.parts > 0 && events == POLLIN) {
        net.parts--;
        return net.deaf ? 0 : events;
    }
    return events == POLLIN || net.deaf ? 0 : events; /* no answer comes later */
}

static int lie_poll(const struct pollfd *set, nfds_t count, int ms) {
    assert_true(set == NULL ? count == 0 && ms > 0 : count == 1 && ms == 0);
    if (set == NULL || net.inputs == 0) {
        return 0; /* nothing arrives, and no sleep is worth its time */
    }
    assert_int_equal(set->events, POLLIN);
    net.inputs -= net.inputs > 0;
    return 1;
}

/* The client notices the end of a connection only when no answer comes. */
ConnStatusType PQstatus(const PGconn *db) {
    const session *s = session_of(db);
    return (s->closed && !s->own.answered) || net.broken ? CONNECTION_BAD : CONNECTION_OK;
}

PGTransactionStatusType PQtransactionStatus(const PGconn *db) {
    return in_transaction(session_of(db)) ? PQTRANS_INTRANS : PQTRANS_IDLE;
}

int PQflush(PGconn *db) {
    (void)db;
    return net.flushes > 0 ? net.flushes-- > 0 : net.flushes;
}

int PQconsumeInput(PGconn *db) {
    (void)db;
    return net.inputs >= 0;
}

int PQisBusy(PGconn *db) {
    const session *s = session_of(db);
    return net.parts > 0 || (s->own.result == NULL && !s->own.answered && !s->closed);
}

PGresult *PQgetResult(PGconn *db) {
    session *s = session_of(db);
    assert_int_equal(net.parts, 0);
    if (net.result_count > 0) {
        return net.results[--net.result_count];
    }
    PGresult *out = s->own.result;
    s->own.result = NULL;
    s->own.answered |= out != NULL;
    return out;
}

void PQfinish(PGconn *db) {
    session_leave(session_of(db));
}

static PGVerbosity given_verbosity;

PGVerbosity PQsetErrorVerbosity(PGconn *db, PGVerbosity verbosity) {
    (void)db;
    given_verbosity = verbosity;
    return PQERRORS_DEFAULT;
}

char *PQerrorMessage(const PGconn *db) {
    static char text[200];
    (void)db;
    snprintf(text, sizeof text, "%s", net.reason != NULL ? net.reason : "a reason");
    return text;
}

int PQserverVersion(const PGconn *db) {
    (void)db;
    return net.version != 0 ? net.version : 150000;
}

PQconninfoOption *PQconndefaults(void) {
    return NULL;
}

int PQbackendPID(const PGconn *db) {
    return net.backend != 0 ? net.backend : (int)session_of(db)->backend;
}

char *PQresultErrorField(const PGresult *result, int which) {
    const int column = which == PG_DIAG_SQLSTATE                ? 0
                       : which == PG_DIAG_SEVERITY_NONLOCALIZED ? 1
                       : which == PG_DIAG_MESSAGE_PRIMARY       ? 2
                                                                : -1;
    return PQresultStatus(result) == PGRES_FATAL_ERROR && column >= 0 &&
                   !PQgetisnull(result, 0, column)
               ? PQgetvalue(result, 0, column)
               : NULL;
}

static int prepares, executions;
static const char *failing_prepare; /* its SQLSTATE; "": no answer */

/* Of the statements that the driver may repeat, none fails by chance. */
int PQsendPrepare(PGconn *db, const char *name, const char *text, int count, const Oid *types) {
    session *s = session_of(db);
    (void)types;
    assert_int_equal(count, 0);
    assert_int_equal(which_text(text), which_name(name));
    s->own.answered = false;
    if (s->closed) {
        return 0;
    }
    prepares++;
    if (failing_prepare != NULL) {
        s->own.result = *failing_prepare != '\0' ? make_error(failing_prepare, "ERROR") : NULL;
        return 1;
    }
    s->own.prepared |= 1U << which_name(name);
    s->own.result = make_result(PGRES_COMMAND_OK, 0);
    return 1;
}

int PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values,
                        const int *lengths, const int *formats, int format) {
    session *s = session_of(db);
    const int which = which_name(name);
    (void)lengths, (void)formats;
    executions++;
    assert_true(format == 0 && count == statements[which].values);
    scripted_disturb();
    if ((s->own.prepared >> which & 1) != 0 || s->closed) {
        return send_to(db, which, values);
    }
    tx_drop(s);
    s->own.answered = false;
    s->own.result = make_error("26000", "ERROR");
    return 1;
}

int PQsendQueryParams(PGconn *db, const char *text, int count, const Oid *types,
                      const char *const *values, const int *lengths, const int *formats,
                      int format) {
    const int which = which_text(text);
    (void)types, (void)lengths, (void)formats;
    assert_true(format == 0 && count > 0 && count == statements[which].values);
    return send_to(db, which, values);
}

int PQsendQuery(PGconn *db, const char *text) {
    const int which = which_text(text);
    assert_true(which > NOW || statements[which].values == 0);
    return send_to(db, which, NULL);
}

static void *driver_handle(void) {
    postgres_store *self = calloc(1, sizeof *self);
    assert_non_null(self);
    assert_int_equal(module_link_read(&self->link, "postgres://u:" LIE_PASSWORD "@/d", NULL, NULL),
                     FIRN_OK);
    assert_int_equal(postgres_set_up(self, NULL), FIRN_OK);
    self->link.engine = &postgres_engine;
    self->link.socket = -1;
    return self;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static int begin_program(void **state) {
    one_process = keeps_all = borrowed = begins_inside = false;
    tells = compares = marks_sessions = true;
    failing_prepare = NULL;
    memset(&net, 0, sizeof net);
    memset(&planned, 0, sizeof planned);
    memset(&greeted_as, 0, sizeof greeted_as);
    return start_over(state);
}

static void a_commit_without_its_transaction_is_found(void **state) {
    (void)state;
    tells = false;
    finds(&firn_store_driver);
}

static void a_process_that_is_used_again_is_found(void **state) {
    (void)state;
    marks_sessions = false;
    finds(&firn_store_driver);
}

static void records_are_those_of_the_row(void **state) {
    const char *cells[READ_COLUMNS] = {"session", "1",        "",  "f", "t",  NULL,
                                       NULL,      "a layout", "t", "7", "12", "-1"};
    char layout[FIRN_LAYOUT_SIZE], shut[FIRN_LAYOUT_SIZE];
    firn_records out = {0};
    (void)state;
    postgres_take_records(&out, cells, layout, shut);
    assert_true(out.fresh && out.known && out.ns_known && out.key_known && !out.all_new);
    assert_true(out.losses == 0 && out.ns_losses == 0 && out.floor == 7 && out.shut == NULL);
    assert_true(out.mark.high == 12 && out.mark.grant == UINT64_MAX);
    assert_string_equal(out.layout, "a layout");
    assert_string_equal(out.note, "");
    cells[READ_CURRENT] = "f"; /* lost, and the namespace was written since */
    cells[READ_ALL_CURRENT] = "t";
    cells[READ_ALL_LAYOUT] = "closed (a test): integer";
    postgres_take_records(&out, cells, layout, shut);
    assert_true(out.losses == 1 && out.ns_losses == 1 && out.all_new);
    assert_string_equal(out.shut, "closed (a test): integer");
    cells[READ_NS_CURRENT] = cells[READ_ALL_CURRENT] = "f";
    cells[READ_ALL_LAYOUT] = "integer";
    postgres_take_records(&out, cells, layout, shut);
    assert_true(out.losses == 1 && out.ns_losses == 0 && !out.all_new && out.shut == NULL);
    cells[READ_NEW] = "t";
    cells[READ_LAYOUT] = cells[READ_HIGH] = cells[READ_GRANT] = cells[READ_FLOOR] = NULL;
    postgres_take_records(&out, cells, layout, shut);
    assert_true(!out.known && out.losses == 0 && !out.ns_known && !out.key_known);
    assert_true(out.floor == 0 && out.mark.high == 0 && out.mark.grant == 0);
    assert_string_equal(out.layout, "");
}

static void records_have_notes_in_utf8(void **state) {
    static const struct {
        const char *note, *written;
    } notes[] = {{"web1, pid 7", "web1, pid 7"},
                 {"z\xc3\xbcrich", "z\xc3\xbcrich"},
                 {"a\xff\xc3", "a??"},
                 {"\xed\xa0\x80.", "???."},
                 {NULL, ""}};
    char out[FIRN_NOTE_SIZE], longest[FIRN_NOTE_SIZE + 2];
    (void)state;
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        make_readable(out, notes[i].note);
        assert_string_equal(out, notes[i].written);
    }
    memset(longest, 'n', sizeof longest);
    longest[FIRN_NOTE_SIZE - 2] = '\xc3'; /* is cut before its second byte */
    longest[FIRN_NOTE_SIZE - 1] = '\xbc';
    longest[FIRN_NOTE_SIZE] = '\0';
    make_readable(out, longest);
    assert_int_equal(out[FIRN_NOTE_SIZE - 2], '?');
    assert_int_equal(strlen(out), FIRN_NOTE_SIZE - 1);
}

/* The one session that is open. */
static session *only_session(void) {
    session *found = NULL;
    for (int i = 0; i < SESSIONS; i++) {
        assert_true(!sessions[i].used || found == NULL);
        found = sessions[i].used ? &sessions[i] : found;
    }
    return found;
}

/* Another session, or another table, answers: its connection is closed. */
static void records_of_another_session(void **state) {
    postgres_store *store = steps_begin();
    firn_records seen = step_names;
    (void)state;
    for (int i = 0; i < 2; i++) { /* the mark is created, and raised */
        given_note[0] = '\0';
        assert_int_equal(step(store, FIRN_VERB_RESERVE, i == 0 ? 7 : FIRN_RECORD_KEY, "one", 5,
                              (firn_mark){30 + i, 1}),
                         FIRN_OK);
        assert_string_equal(given_note, "a client");
    }
    assert_non_null(only_session());
    only_session()->own.greeted++;
    assert_int_equal(firn_store_driver.read(store, &seen, true, NULL), FIRN_ESTORE);
    assert_true(store->db == NULL && only_session() == NULL);
    assert_int_equal(firn_store_driver.begin(store, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    live.made++;
    assert_int_equal(firn_store_driver.read(store, &seen, true, NULL), FIRN_ESTORE);
    assert_true(store->db == NULL && only_session() == NULL);
    live.made--;
    /* a node of the extension */
    firn_records mine = step_names, next = mine;
    next.layout = "0x0:1 time:41/ms node:10 sequence:12";
    next.mark.grant = 9;
    put_text(store->taken, "2;;2");
    assert_int_equal(
        sql_raise(store, &mine, &next, &(firn_raise){0, 9, 9, 1, 0}, false, NULL, NULL),
        FIRN_EBUSY);
    store->taken[0] = '\0';
    /* inside a transaction */
    for (int i = 0; i < 2; i++) {
        module_retry_worked(&store->link.retry);
        assert_int_equal(firn_store_driver.begin(store, &step_names, FIRN_VERB_RELABEL, NULL),
                         FIRN_OK);
        seen = step_names;
        assert_int_equal(firn_store_driver.read(store, &seen, true, NULL), FIRN_OK);
        next = seen;
        only_session()->own.greeted++;
        next.layout = "two";
        const int which = i == 0 ? FIRN_RECORD_NS : FIRN_RECORD_STORE;
        assert_int_equal(
            firn_store_driver.write(store, &seen, &next, which, FIRN_VERB_RELABEL, NULL),
            i == 0 ? FIRN_WRITE_CHANGED : FIRN_EUNKNOWN);
        assert_true(i == 0 || (store->db == NULL && only_session() == NULL));
        (void)firn_store_driver.end(store, FIRN_OK);
        assert_string_equal(live.rows[ns_row("bare")].layout, "one");
        only_session() != NULL ? (void)only_session()->own.greeted-- : (void)0;
    }
    /* too late to roll back: its locks end with its connection */
    module_retry_worked(&store->link.retry);
    assert_int_equal(firn_store_driver.begin(store, &step_names, FIRN_VERB_RELABEL, NULL), FIRN_OK);
    assert_ptr_equal(tx.owner, only_session());
    store->link.end_ms = 0;
    (void)firn_store_driver.end(store, FIRN_ESTORE);
    assert_true(store->db == NULL && tx.owner == NULL && only_session() == NULL);
    module_close(store);
}

static void fresh(postgres_store *store, firn_records *seen, firn_records *next) {
    module_retry_worked(&store->link.retry);
    *seen = step_names;
    assert_int_equal(firn_store_driver.begin(store, seen, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.read(store, seen, true, NULL), FIRN_OK);
    *next = *seen;
    next->layout = "one";
    next->floor = 5;
    next->mark.high++;
}

static void assert_says(const firn_error *error, const char *text) {
    if (strstr(error->text, text) == NULL) {
        fail_msg("not '%s': %s", text, error->text);
    }
}

/* The outcome of a raise, by its answer. */
static void records_of_each_answer(void **state) {
    static const struct {
        int count;
        const char *state, *severity;
        bool warns, cut, lost, done, inside;
        int code;
        bool dropped;
        const char *says;
    } answers[] = {
        {1, NULL, NULL, false, false, true, false, false, FIRN_EUNKNOWN, true,
         "no answer in timeout="},
        {1, NULL, NULL, false, false, true, true, false, FIRN_EUNKNOWN, true,
         "no answer in timeout="},
        {1, NULL, NULL, false, true, true, true, false, FIRN_EUNKNOWN, true, "a reason"},
        {1, "57P01", "FATAL", false, true, false, false, false, FIRN_EUNKNOWN, true, "a message"},
        {1, "57P01", "FATAL", false, false, false, false, false, FIRN_EUNKNOWN, true, "a message"},
        {1, "42501", NULL, false, false, false, false, false, FIRN_EUNKNOWN, true, "a message"},
        {1, "42501", "ERROR", false, false, false, false, false, FIRN_ESTORE, true,
         "lacks a right (a message): run GRANT"},
        {1, "42P05", "ERROR", false, false, false, false, false, FIRN_ESTORE, true,
         "changes sessions (a message): set pool_mode"},
        {1, "XX000", "ERROR", false, false, false, false, false, FIRN_ESTORE, true,
         "failed (a message, XX000): check the server's log"},
        {1, NULL, "ERROR", false, false, false, false, false, FIRN_ESTORE, true,
         "failed (a message, ?): check"},
        {1, "40001", "ERROR", false, false, false, false, false, FIRN_OK, false, ""},
        {4, "40P01", "ERROR", false, false, false, false, false, FIRN_OK, false, ""},
        {5, "40P01", "ERROR", false, false, false, false, false, FIRN_ESTORE, false,
         "is changed by other processes all the time"},
        {1, "01000", "WARNING", true, false, false, true, false, FIRN_EUNKNOWN, true,
         "committed without the synchronous standby"},
        {1, "01000", "NOTICE", true, false, false, true, false, FIRN_OK, false, ""},
        {1, "01006", "WARNING", true, false, false, true, false, FIRN_OK, false, ""},
        {1, NULL, "WARNING", true, false, false, true, false, FIRN_OK, false, ""},
        {1, "01000", NULL, true, false, false, true, false, FIRN_OK, false, ""},
        {1, NULL, NULL, false, false, false, true, true, FIRN_EUNKNOWN, true,
         "its session is in a transaction"},
    };
    postgres_store *store = steps_begin();
    firn_records seen, next;
    (void)state;
    assert_int_equal(step(store, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 1}), FIRN_OK);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        firn_error error = {0};
        fresh(store, &seen, &next);
        planned.which = RAISE;
        planned.count = answers[i].count;
        planned.state = answers[i].state;
        planned.severity = answers[i].severity;
        planned.warns = answers[i].warns;
        planned.cut = answers[i].cut;
        planned.lost = answers[i].lost;
        planned.done = answers[i].done;
        planned.inside = answers[i].inside;
        const int64_t before = server_mark(1, 1), begun_ms = module_now_ms();
        awaited_until_ms = INT64_MAX;
        const int code = firn_store_driver.write(store, &seen, &next, FIRN_RECORD_KEY,
                                                 FIRN_VERB_RESERVE, &error);
        if (code != answers[i].code) {
            fail_msg("answer %zu: %d, %s", i, code, error.text);
        }
        assert_int_equal(planned.count, 0);
        assert_true(awaited_until_ms > begun_ms);
        assert_says(&error, answers[i].says);
        assert_true(code == FIRN_OK || (int)error.code == code);
        assert_int_equal(store->db == NULL, answers[i].dropped);
        assert_int_equal(server_mark(1, 1), before + (answers[i].code == FIRN_OK ||
                                                      (answers[i].done && !answers[i].inside)));
        assert_false(store->unconfirmed && answers[i].code == FIRN_OK);
        assert_int_equal(firn_store_driver.end(store, FIRN_OK), FIRN_OK);
    }
    /* another notice does not end the doubt */
    for (int i = 0; i < 2; i++) {
        PGresult *told = make_error("01000", i == 0 ? "WARNING" : "NOTICE");
        notice(store, told);
        assert_true(store->unconfirmed);
        PQclear(told);
    }
    /* a step of a transaction is undone with its connection; its end may be done */
    for (int i = 0; i < 3; i++) {
        firn_error error = {0};
        module_retry_worked(&store->link.retry);
        const firn_verb verb = i < 2 ? FIRN_VERB_RELABEL : FIRN_VERB_RESERVE;
        assert_int_equal(firn_store_driver.begin(store, &step_names, verb, NULL), FIRN_OK);
        if (i == 2) {
            assert_int_equal(firn_store_driver.write(store, &seen, &next, 6, verb, NULL),
                             FIRN_WRITE_CHANGED);
        }
        assert_true(store->sql.inside);
        seen = step_names;
        assert_int_equal(firn_store_driver.read(store, &seen, true, NULL), FIRN_OK);
        next = seen;
        planned.which = i == 0 ? NAME : i == 1 ? COMMIT : RAISE;
        planned.count = planned.lost = planned.cut = true;
        planned.done = planned.inside = planned.warns = false;
        const int code = i == 1 ? FIRN_EUNKNOWN : FIRN_ESTORE;
        assert_int_equal(
            firn_store_driver.write(store, &seen, &next, i < 2 ? FIRN_RECORD_NS : 6, verb, &error),
            code);
        assert_true(store->db == NULL && !store->sql.inside);
        assert_int_equal(error.code, code);
        assert_int_equal(firn_store_driver.end(store, FIRN_ESTORE), FIRN_ESTORE);
    }
    module_close(store);
}

/* Results of an answer: the last one, or the first that failed. */
static void records_of_several_results(void **state) {
    postgres_store *store = steps_begin();
    PGresult *out = NULL;
    (void)state;
    assert_int_equal(firn_store_driver.begin(store, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    session *s = only_session();
    for (int count = 15; count <= 16; count++) { /* and the end */
        for (int i = 0; i < count; i++) {
            net.results[i] = make_result(i == 0 ? PGRES_TUPLES_OK : PGRES_COMMAND_OK, i == 0);
        }
        net.result_count = count;
        s->own.answered = true;
        assert_int_equal(receive(store, 0, &out), count == 15 ? ANSWERED : LOST);
        assert_int_equal(PQnfields(out), 1);
        PQclear(out);
        assert_int_equal(net.result_count, 0);
    }
    net.results[3] = make_result(PGRES_COMMAND_OK, 0);
    net.results[2] = make_error("42501", "ERROR");
    net.results[1] = make_error("XX000", "FATAL");
    net.results[0] = make_result(PGRES_COMMAND_OK, 0);
    net.result_count = 4;
    assert_int_equal(receive(store, 0, &out), REFUSED);
    assert_string_equal(PQresultErrorField(out, PG_DIAG_SQLSTATE), "42501");
    PQclear(out);
    out = NULL;
    assert_int_equal(receive(store, 0, &out), LOST); /* no result */
    assert_null(out);
    s->own.result = make_result(PGRES_TUPLES_OK, 1); /* perhaps without the commit */
    net.broken = true;
    assert_int_equal(receive(store, 0, &out), LOST);
    net.broken = false;
    PQclear(out);
    /* the statement is sent in parts */
    firn_records seen, next;
    fresh(store, &seen, &next);
    net.flushes = net.parts = 2;
    assert_int_equal(firn_store_driver.read(store, &seen, true, NULL), FIRN_OK);
    assert_true(net.flushes == 0 && net.parts == 0);
    for (int i = 0; i < 5; i++) {
        fresh(store, &seen, &next);
        net.flushes = i == 0 ? -1 : i < 3;
        net.parts = i >= 3;
        net.deaf = i % 2 == 1;
        net.inputs = i == 2 || i == 4 ? -1 : 0;
        assert_int_equal(firn_store_driver.read(store, &seen, true, NULL), FIRN_ESTORE);
        assert_null(store->db);
        memset(&net, 0, sizeof net);
    }
    module_close(store);
}

/* A statement that is sent often is prepared, which may fail. */
static void records_of_prepared_statements(void **state) {
    postgres_store *store = steps_begin();
    firn_records seen = step_names;
    firn_error error = {0};
    (void)state;
    assert_int_equal(firn_store_driver.begin(store, &seen, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_true(store->prepared == 0 && store->used == 0);
    assert_int_equal(firn_store_driver.read(store, &seen, true, NULL), FIRN_OK);
    assert_true(store->prepared == 0 && store->used == 1U << READ);
    prepares = executions = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(firn_store_driver.read(store, &seen, true, NULL), FIRN_OK);
        assert_true(store->prepared == 1U << READ && prepares == 1 && executions == i + 1);
    }
    live.rows[ns_row("bare")].there = true;
    for (int i = 0; i < 2; i++) {
        store->sql.names = &step_names;
        assert_int_equal(sql_settle(store, NULL), FIRN_OK);
        assert_int_equal(postgres_run(store, BORN, NULL, NULL), FIRN_OK);
        assert_int_equal(store->prepared, 1U << READ | (unsigned)i << SETTLE);
    }
    postgres_hang_up(store, false);
    assert_true(store->prepared == 0 && store->used == 0);
    for (int i = 0; i < 2; i++) {
        postgres_hang_up(store, false);
        module_retry_worked(&store->link.retry);
        assert_int_equal(firn_store_driver.begin(store, &seen, FIRN_VERB_RESERVE, NULL), FIRN_OK);
        assert_int_equal(firn_store_driver.read(store, &seen, true, NULL), FIRN_OK);
        failing_prepare = i == 0 ? "42501" : "";
        assert_int_equal(firn_store_driver.read(store, &seen, true, &error), FIRN_ESTORE);
        assert_says(&error, i == 0 ? "lacks a right" : "does not answer (no answer in timeout=");
        assert_int_equal(store->db == NULL, i == 1);
        assert_int_equal(store->prepared, 0);
        failing_prepare = NULL;
    }
    assert_true(store->link.busy);
    /* too late to send anything */
    PGresult *none = make_result(PGRES_TUPLES_OK, 0), *row = none;
    module_retry_worked(&store->link.retry);
    assert_int_equal(firn_store_driver.begin(store, &seen, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    store->link.end_ms = 0;
    assert_int_equal(postgres_ask(store, READ, NULL, NULL, &row, NULL), FIRN_ESTORE);
    assert_null(row);
    row = none;
    assert_int_equal(tell(store, "ROLLBACK", &row, NULL), FIRN_ESTORE);
    assert_null(row);
    PQclear(none);
    module_close(store);
}

static int connect_now(postgres_store *store, firn_error *error) {
    module_retry_worked(&store->link.retry);
    postgres_hang_up(store, false);
    return module_ready(store, error);
}

/* Connections that fail, and servers that cannot keep a record. */
static void records_need_a_server(void **state) {
    static const struct {
        const char *reason;
        bool busy;
        const char *says;
    } refusals[] = {
        {"connection to server at \"h\", port 5432 failed: Connection refused\n\tIs it running?\n",
         false, "(Connection refused)"},
        {"connection to server on socket failed: FATAL:  53300: sorry, too many clients\n", true,
         "has no connection left (sorry, too many clients): raise"},
        {"FATAL:  57P03: the database system is starting up\n", true,
         "accepts no connection yet (the database system is starting up): wait"},
        {"on socket failed: PANNE:  57P03: the database system is starting up\n", true,
         "accepts no connection yet (the database system is starting up): wait"},
        {"FATAL:  28P01: password authentication failed\n", false,
         "(password authentication failed)"},
        {"FATAL:  2800: odd\n", false, "(2800: odd)"},
        {"ERROR:  28000 odd\n", false, "(28000 odd)"},
        {"on socket failed: PANNE:  odd\n", false, "(PANNE:  odd)"},
        {"ERRORS: odd\n", false, "(ERRORS: odd)"},
    };
    static const struct {
        int column;
        const char *cell, *says; /* NULL: the server can be used */
    } greetings[] = {
        {GREET_READ_ONLY, "t", "is a standby or read-only"},
        {GREET_FSYNC, "f",
         "fsync=off, so a crash may lose acknowledged writes: turn it on, or accept"},
        {GREET_WHOLE_PAGES, "f",
         "full_page_writes=off, so a crash may lose acknowledged writes: turn it on, or on ZFS "
         "set"},
        {GREET_LOGGED, "f",
         "an UNLOGGED table, so a crash may lose acknowledged writes: run ALTER TABLE"},
        {GREET_MEDDLER, "theirs", "theirs"},
        {GREET_MARKS, "999999", "was dropped or made again"},
        {GREET_MARKS, "999999", "was dropped or made again"}, /* each time */
        {GREET_MARKS, "", "was dropped or made again"},
        {GREET_MARKS, "", NULL}, /* to a client that has not seen the table */
        {GREET_NAMESPACES, NULL, NULL},
        {GREET_LOGGED, NULL, NULL},
        {GREET_KEPT, "f", NULL},
    };
    postgres_store *store = steps_begin();
    firn_error error = {0};
    (void)state;
    net.closed = true;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        net.reason = refusals[i].reason;
        assert_int_equal(connect_now(store, &error), FIRN_ESTORE);
        assert_says(&error, refusals[i].says);
        assert_int_equal(store->link.busy, refusals[i].busy);
        assert_int_equal(given_verbosity, PQERRORS_VERBOSE); /* with the SQLSTATE */
        assert_null(store->db);
        assert_null(only_session());
        assert_int_equal(store->link.socket, -1);
    }
    memset(&net, 0, sizeof net);
    net.lacks_memory = true;
    assert_int_equal(connect_now(store, &error), FIRN_EMEMORY);
    net.lacks_memory = false;
    net.blocks = true;
    assert_int_equal(connect_now(store, &error), FIRN_ESTORE);
    net.blocks = false;
    net.version = 99999;
    assert_int_equal(connect_now(store, &error), FIRN_ESTORE);
    assert_says(&error, "is older than PostgreSQL 10");
    net.version = 100000;
    net.reads = 6;
    assert_int_equal(connect_now(store, &error), FIRN_OK);
    assert_int_equal(net.reads, 0);
    assert_int_equal(given_verbosity, PQERRORS_DEFAULT);
    assert_int_equal(store->link.socket, PQsocket(store->db));
    net.reads = 4;
    net.deaf = true;
    assert_int_equal(connect_now(store, &error), FIRN_ESTORE);
    assert_says(&error, "no answer in connect_timeout=");
    memset(&net, 0, sizeof net);
    for (size_t i = 0; i < sizeof greetings / sizeof *greetings; i++) {
        greeted_as.times = 1;
        greeted_as.column = greetings[i].column;
        greeted_as.cell = greetings[i].cell;
        creations = 0;
        put_text(live.rows[STORE_ROW].identity, "new");
        if (greetings[i].says == NULL) {
            store->marks[0] = '\0';
        }
        assert_int_equal(connect_now(store, &error),
                         greetings[i].says != NULL ? FIRN_ESTORE : FIRN_OK);
        assert_says(&error, greetings[i].says != NULL ? greetings[i].says : "");
        assert_int_equal(creations, greetings[i].says == NULL);
        /* the new tables are this server's */
        assert_string_equal(live.rows[STORE_ROW].identity,
                            greetings[i].says == NULL ? identity() : "new");
    }
    greeted_as.times = 1;
    greeted_as.meddles = true;
    assert_int_equal(connect_now(store, &error), FIRN_ESTORE);
    assert_says(&error, "theirs, which can change what firn writes");
    greeted_as.times = 1;
    greeted_as.column = GREET_WHOLE_PAGES;
    greeted_as.cell = "f";
    store->whole_pages = 1;
    assert_int_equal(connect_now(store, NULL), FIRN_OK);
    greeted_as.times = 1;
    greeted_as.column = GREET_FSYNC;
    store->link.unsafe = true;
    assert_int_equal(connect_now(store, NULL), FIRN_OK);
    assert_non_null(strstr(store->link.caution, "fsync=off"));
    assert_int_equal(connect_now(store, NULL), FIRN_OK);
    assert_string_equal(store->link.caution, "");
    /* a host that fails otherwise does not hide that another one was busy */
    for (int i = 0; i < 2; i++) {
        connect_now(store, NULL);
        only_session()->closed = true;
        only_session()->own.answered = false; /* so that the client notices */
        store->link.busy = i == 1;
        assert_int_equal(lost_early(store, NULL, NULL), FIRN_ESTORE);
        assert_int_equal(store->link.busy, i == 1);
        store->link.patient = false;
        assert_int_equal(module_late(&store->link, "", NULL), FIRN_ESTORE);
        assert_int_equal(store->link.busy, i == 1);
    }
    /* tables that never appear, or that cannot be made */
    greeted_as.times = 4;
    greeted_as.column = GREET_KEPT;
    creations = 0;
    assert_int_equal(connect_now(store, &error), FIRN_ESTORE);
    assert_says(&error, "although it was created: check search_path");
    assert_int_equal(creations, 4);
    static const struct {
        const char *state;
        const char *says; /* NULL: another process makes them */
    } failures[] = {{"42501", "may not create it: GRANT CREATE"},
                    {"23505", NULL},
                    {"40001", NULL},
                    {"42P07", NULL},
                    {"55000", NULL},
                    {"53100", "has a full disk"},
                    {"XX000", "XX000"}};
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        greeted_as.times = 1;
        planned.which = CREATION;
        planned.count = 1;
        planned.state = failures[i].state;
        planned.severity = "ERROR";
        planned.lost = planned.cut = planned.done = planned.warns = planned.inside = false;
        assert_int_equal(connect_now(store, &error),
                         failures[i].says != NULL ? FIRN_ESTORE : FIRN_OK);
        assert_says(&error, failures[i].says != NULL ? failures[i].says : "");
        greeted_as.times = 0;
    }
    module_close(store);
}

/* Poolers, and sessions that are someone else's. */
static void records_need_an_own_session(void **state) {
    postgres_store *store = steps_begin();
    firn_error error = {0};
    (void)state;
    assert_int_equal(step(store, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 1}), FIRN_OK);
    connections = 0;
    assert_int_equal(connect_now(store, &error), FIRN_OK);
    assert_int_equal(connections, 1);
    net.backend = 77; /* a pooler, whose sessions are apart */
    backends = 0;
    assert_int_equal(connect_now(store, &error), FIRN_OK);
    assert_int_equal(connections, 3);
    assert_non_null(only_session());
    borrowed = true; /* or one */
    assert_int_equal(connect_now(store, &error), FIRN_ESTORE);
    assert_says(&error, "changes sessions between statements");
    assert_null(only_session());
    borrowed = false;
    net.backend = 0;
    /* a session that a pool lends inside a transaction is rolled back first */
    begins_inside = true;
    assert_int_equal(connect_now(store, &error), FIRN_OK);
    assert_int_equal(PQtransactionStatus(store->db), PQTRANS_IDLE);
    planned.which = ROLLBACK;
    planned.count = planned.lost = 1;
    planned.done = planned.cut = planned.inside = planned.warns = false;
    assert_int_equal(connect_now(store, &error), FIRN_ESTORE);
    assert_says(&error, "does not answer");
    begins_inside = false;
    const int64_t last_high = store->sql.last_high;
    store->sql.last_high = 0; /* so that no other statement follows */
    planned.which = GREETING;
    planned.count = planned.inside = planned.done = 1;
    planned.lost = false;
    assert_int_equal(connect_now(store, &error), FIRN_ESTORE);
    assert_says(&error, "its session is in a transaction");
    store->sql.last_high = last_high;
    /* the last reservation is looked for */
    assert_int_equal(connect_now(store, &error), FIRN_OK);
    assert_false(store->sql.suspect);
    live.rows[mark_row("bare", "2")].number = 29;
    assert_int_equal(connect_now(store, &error), FIRN_OK);
    assert_true(store->sql.suspect);
    live.rows[mark_row("bare", "2")].number = 30;
    assert_int_equal(connect_now(store, &error), FIRN_OK);
    assert_true(store->sql.suspect); /* until somebody decides */
    /* an idle connection */
    assert_true(is_open(store));
    net.inputs = 3; /* notices */
    assert_true(is_open(store));
    assert_int_equal(net.inputs, 0);
    net.inputs = -1;
    assert_false(is_open(store));
    net.inputs = 0;
    only_session()->closed = true;
    only_session()->own.answered = false; /* so that the client notices */
    assert_false(is_open(store));
    only_session()->closed = false;
    /* a forked child closes the parent's socket only, and does not know what the parent gave back */
    PGconn *db = store->db;
    store->link.socket = dup(2);
    const int socket = store->link.socket;
    store->sql.inside = true;
    postgres_hang_up(store, true);
    assert_true(fcntl(socket, F_GETFD) < 0);
    assert_true(store->db == NULL && store->link.socket == -1 && !store->sql.inside);
    assert_int_equal(store->sql.last_high, 0);
    assert_non_null(only_session());
    assert_false(is_open(store));
    postgres_hang_up(store, true);
    store->db = db;
    store->sql.last_high = 5;
    postgres_hang_up(store, false);
    assert_int_equal(store->sql.last_high, 5);
    assert_null(only_session());
    module_close(store);
}

/* A namespace of the extension may have these nodes, so the store refuses them. */
static void records_leave_nodes_to_the_extension(void **state) {
#define PARTS "0x0:1 time:41/ms datacenter:5 worker:5 sequence:12"
    static const struct {
        const char *taken, *layout, *key, *says; /* NULL: the store's */
    } nodes[] = {
        {"7;;7", PARTS, "7", "is in firn.node"},
        {"7;;7", PARTS, "7@123", "is in firn.node"},
        {"7;;7", PARTS, "8", NULL},
        {"7;;7", PARTS, "seven", NULL},
        {"7;;7", "integer", "7", NULL},
        {"7;", PARTS, "7", NULL}, /* not what the extension writes */
        {" \t+007;;", PARTS, "7", "is in firn.node"},
        {"0x18;;", PARTS, "24", "is in firn.node"},
        {"0X18;;", PARTS, "24", "is in firn.node"},
        {"18;;", PARTS, "24", NULL},
        {"7 ;;", PARTS, "7", NULL}, /* the extension refuses these, too */
        {"-7;;", PARTS, "7", NULL},
        {"7x;;", PARTS, "7", NULL},
        {";5-9;", PARTS, "5", "is in firn.history"},
        {";5-9;", PARTS, "9", "is in firn.history"},
        {";5-9;", PARTS, "4", NULL},
        {";5-9;", PARTS, "10", NULL},
        {";5;", PARTS, "5", "is in firn.history"},
        {";5;", PARTS, "6", NULL},
        {";5-;", PARTS, "5", NULL},
        {";five;", PARTS, "5", NULL},
        {";;3;5", PARTS, "3", "was in firn.node"},
        {";;3;5", PARTS, "5", "was in firn.node"},
        {";;3;5", PARTS, "4", NULL},
        {"worker=3  datacenter=1;;", PARTS, "35", "is in firn.node"},
        {"datacenter=0x1 worker=3;;", "closed (a test): " PARTS, "35", "is in firn.node"},
        {"datacenter=1 worker=3;;", PARTS, "36", NULL},
        {";;9;datacenter=1 worker=3", PARTS, "35", "was in firn.node"},
        {"worker=3 shard=1;;", PARTS, "3", NULL},
        {"workers=3;;", PARTS, "3", NULL},
        {"worker=x;;", PARTS, "0", NULL},
        {"node=7;;", "node:64", "7", NULL}, /* a layout has no part of 64 bits */
    };
    postgres_store *store = driver_handle();
    firn_error error = {0};
    (void)state;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        firn_records of = {.layout = nodes[i].layout, .key = nodes[i].key};
        snprintf(store->taken, sizeof store->taken, "%s", nodes[i].taken);
        const int code = postgres_taken(store, &of, &error);
        if (code != (nodes[i].says != NULL ? FIRN_EBUSY : FIRN_OK)) {
            fail_msg("%s %s: %d", nodes[i].taken, nodes[i].key, code);
        }
        assert_true(code == FIRN_OK || error.cure == FIRN_CURE_OTHER_NODE);
        assert_says(&error, nodes[i].says != NULL ? nodes[i].says : "");
    }
    const firn_records of = {.layout = PARTS, .key = "1"};
    memset(store->taken, '9', sizeof store->taken - 1);
    assert_int_equal(postgres_taken(store, &of, &error), FIRN_ESTORE);
    assert_says(&error, "has more than 2046 bytes: shorten firn.node");
    store->taken[2046] = '\0';
    assert_int_equal(postgres_taken(store, &of, NULL), FIRN_OK);
    module_close(store);
#undef PARTS
}

static char shown_others[200];

static int show_other(void *context, const firn_holding *holding) {
    const size_t length = strlen(shown_others);
    snprintf(shown_others + length, sizeof shown_others - length, "%s (%s), ", holding->key,
             holding->note);
    return --*(int *)context == 0;
}

/* `firn nodes list` shows them, until the visitor has enough. */
static void records_show_nodes_of_the_extension(void **state) {
    static const struct {
        const char *taken;
        int most, code;
        const char *shown;
    } lists[] = {
        {"", 9, FIRN_OK, ""},
        {"7", 9, FIRN_OK, "7 (extension: firn.node), "},
        {"7;5-9;3;7", 9, FIRN_OK,
         "7 (extension: firn.node), 5-9 (extension: firn.history), "
         "3 (extension: firn.node until its last change), "},
        {";;worker=3", 9, FIRN_OK, "worker=3 (extension: firn.node until its last change), "},
        {"7;;70", 9, FIRN_OK,
         "7 (extension: firn.node), 70 (extension: firn.node until its last change), "},
        {"7;7;7", 9, FIRN_OK, "7 (extension: firn.node), 7 (extension: firn.history), "},
        {"7;5-9;3", 2, 1, "7 (extension: firn.node), 5-9 (extension: firn.history), "},
    };
    postgres_store *store = driver_handle();
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int most = lists[i].most;
        shown_others[0] = '\0';
        snprintf(store->taken, sizeof store->taken, "%s", lists[i].taken);
        assert_int_equal(postgres_show_taken(store, show_other, &most), lists[i].code);
        assert_string_equal(shown_others, lists[i].shown);
    }
    module_close(store);
}

/* The words of a statement. */
static void records_have_statements(void **state) {
    static char longest[STATEMENT_MAX + 1];
    char out[STATEMENT_MAX];
    postgres_store *store = steps_begin();
    (void)state;
    strcpy(store->system, "12");
    store->link.timeout_ms = 2000;
    fill_in(store, out, "@ # ~.");
    assert_string_equal(out, "firn 1001 12.");
    for (size_t length = STATEMENT_MAX - 65; length <= STATEMENT_MAX - 63; length++) {
        memset(longest, 's', sizeof longest);
        longest[length] = '\0';
        fill_in(store, out, longest);
        assert_int_equal(strlen(out), length <= STATEMENT_MAX - 64 ? length : 0);
    }
    module_close(store);
}

/* Its process was forked at a failpoint of a write: the answer is the parent's. */
static void fork_at(void *self, const char *name) {
    postgres_store *store = self;
    store->link.process += strcmp(name, passed) == 0;
}

static void records_of_a_forked_child(void **state) {
    static const char *const points[] = {"reserve.before", "reserve.sent", "reserve.committed"};
    postgres_store *store = steps_begin();
    firn_records seen, next;
    (void)state;
    assert_int_equal(step(store, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 1}), FIRN_OK);
    store->link.options.failpoint = fork_at;
    store->link.options.failpoint_self = store;
    for (int i = 0; i < 3; i++) {
        firn_error error = {0};
        const int64_t process = store->link.process;
        fresh(store, &seen, &next);
        snprintf(passed, sizeof passed, "%s", points[i]);
        assert_int_equal(firn_store_driver.write(store, &seen, &next, FIRN_RECORD_KEY,
                                                 FIRN_VERB_RESERVE, &error),
                         FIRN_EFORKED);
        assert_int_equal(error.code, FIRN_EFORKED);
        assert_non_null(store->db);
        assert_int_equal(only_session()->own.result != NULL, i == 1);
        assert_int_equal(firn_store_driver.end(store, FIRN_EFORKED), FIRN_EFORKED);
        store->link.process = process;
        if (i == 1) {
            postgres_hang_up(store, false);
        }
    }
    module_close(store);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_those_of_the_row),
        cmocka_unit_test(records_have_notes_in_utf8),
        cmocka_unit_test_setup(records_of_each_step, begin_program),
        cmocka_unit_test_setup(records_of_another_session, begin_program),
        cmocka_unit_test_setup(records_of_each_answer, begin_program),
        cmocka_unit_test_setup(records_of_several_results, begin_program),
        cmocka_unit_test_setup(records_of_prepared_statements, begin_program),
        cmocka_unit_test_setup(records_need_a_server, begin_program),
        cmocka_unit_test_setup(records_need_an_own_session, begin_program),
        cmocka_unit_test_setup(records_of_a_forked_child, begin_program),
        cmocka_unit_test_setup(records_leave_nodes_to_the_extension, begin_program),
        cmocka_unit_test_setup(records_show_nodes_of_the_extension, begin_program),
        cmocka_unit_test_setup(records_have_statements, begin_program),
        cmocka_unit_test_setup(answers_are_torn, begin_program),
        cmocka_unit_test_setup(a_process_notices_older_copies, begin_program),
        cmocka_unit_test_setup(a_guess_is_found, begin_program),
        cmocka_unit_test_setup(a_hidden_loss_is_found, begin_program),
        cmocka_unit_test_setup(a_missing_comparison_is_found, begin_program),
        cmocka_unit_test_setup(a_commit_without_its_transaction_is_found, begin_program),
        cmocka_unit_test_setup(a_process_that_is_used_again_is_found, begin_program),
    };
    scripted_choose(count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
