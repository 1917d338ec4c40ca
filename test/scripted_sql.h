/* SPDX-License-Identifier: MIT */
/* For scripted.h: the tables of a small SQL server with sessions, and one transaction of several
 * statements at a time, whose rows are locked. Each statement is one step; a program carries it out
 * on the rows. */
#ifndef FIRN_TEST_SCRIPTED_SQL_H
#define FIRN_TEST_SCRIPTED_SQL_H

#include "scripted.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------- */

enum { STORE_ROW, NS_ROWS, MARK_ROWS = NS_ROWS + SPACES, ROWS = MARK_ROWS + SPACES * KEYS };
#define TEXT 160

typedef struct stored {
    bool there;
    char layout[TEXT], identity[TEXT], seal[TEXT];
    int64_t number; /* the floor of a namespace, or the mark of a key */
    uint64_t grant;
} stored;

typedef struct tables {
    unsigned server; /* its timeline, or its ID: another one after each failover */
    unsigned made;   /* the number of the table of marks: another one after it is loaded again */
    stored rows[ROWS];
} tables;

static tables live, saved;
static unsigned servers, loads;

static int ns_row(const char *ns) {
    return NS_ROWS + scripted_index(space_names, ns);
}

static int mark_row(const char *ns, const char *key) {
    return MARK_ROWS + scripted_index(space_names, ns) * KEYS + scripted_index(key_names, key);
}

static void put_text(char out[TEXT], const char *text) {
    snprintf(out, TEXT, "%.150s", text);
}

static bool is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

/* ---- sessions -------------------------------------------------------------------------------- */

#ifndef FAULTS_IN
#define FAULTS_IN 8 /* statements */
#endif

#ifndef BACKENDS
#define BACKENDS UINT_MAX /* numbers of sessions, which are used again */
#endif

enum { SESSIONS = 256, WORDS = 16 };

/* A statement and its values. */
typedef struct statement_sent {
    int which, count;
    char words[WORDS][TEXT];
} statement_sent;

/* A connection: the server's half, and what the client's library keeps. */
typedef struct session {
    bool used, closed;
    bool odd;            /* inside a transaction that a pool began, and will roll back */
    unsigned backend;    /* its number */
    statement_sent late; /* received, not yet carried out; which -1: none */
    bool waits; /* the late statement waits for a lock since the namespace's record was `before` */
    stored before;
    own_session own;
} session;

static session sessions[SESSIONS];
static bool compares; /* false: an injected bug, a record is not compared with what was seen */
static unsigned backends;

/* False: a lock is in the way. */
static bool run_statement(session *s, const statement_sent *sent);
/* Nothing of the session's is left: it ends, or becomes another one. */
static void session_clear(session *s);

static struct {
    session *owner; /* NULL: no transaction */
    bool alone;     /* the tables are locked */
    bool looked;    /* what it reads is as it was at its first read */
    bool written[ROWS];
    stored rows[ROWS];
    tables then;
} tx;

static const stored *see(const session *s, int i) {
    return tx.owner == s && tx.written[i] ? &tx.rows[i] : &live.rows[i];
}

static bool is_locked(const session *s, int i) {
    return tx.owner != NULL && tx.owner != s && (tx.alone || tx.written[i]);
}

static stored *change(const session *s, int i) {
    if (tx.owner != s) {
        return &live.rows[i];
    }
    if (!tx.written[i]) {
        tx.rows[i] = live.rows[i];
    }
    tx.written[i] = true;
    return &tx.rows[i];
}

/* Does a statement wait for the lock of a row? It locks the table. */
static bool some_wait(void) {
    bool found = false;
    for (int i = 0; i < SESSIONS; i++) {
        found |= sessions[i].used && sessions[i].waits;
    }
    return found;
}

static bool tx_begin(session *s, bool alone) {
    if ((tx.owner != NULL && tx.owner != s) || (alone && some_wait())) {
        return false;
    }
    memset(&tx, 0, sizeof tx);
    tx.owner = s;
    tx.alone = alone;
    return true;
}

static void tx_end(const session *s, bool commits) {
    for (int i = 0; i < ROWS && tx.owner == s && commits; i++) {
        if (tx.written[i]) {
            live.rows[i] = tx.rows[i];
        }
    }
    if (tx.owner == s) {
        memset(&tx, 0, sizeof tx);
    }
}

static void raise_to(const session *s, int i, int64_t high, uint64_t grant) {
    stored *mark = change(s, i);
    mark->there = true;
    mark->number = high;
    mark->grant = grant;
    scripted_raise((i - MARK_ROWS) / KEYS, high);
}

/* ---- connections ----------------------------------------------------------------------------- */

static void tx_drop(const session *s) {
    tx_end(s, false);
}

/* A proxy or a pool continues with another session. */
static void session_renew(session *s) {
    tx_drop(s);
    s->backend = 1 + backends++ % BACKENDS;
    s->odd = faults && ONE_IN(4);
    session_clear(s);
}

static session *session_new(void) {
    session *s = sessions;
    while (s->used) {
        s++;
        assert_true(s < sessions + SESSIONS);
    }
    *s = (session){.used = true, .late.which = -1};
    session_renew(s);
    return s;
}

/* The client's end. The server still carries out the statement that it has received. */
static void session_leave(session *s) {
    s->closed = true;
    if (s->late.which < 0) {
        tx_drop(s);
        session_clear(s);
        s->used = false;
    }
}

/* A session inside a pool's transaction commits nothing. */
static bool carry_out(session *s, const statement_sent *sent) {
    const tables before = live;
    const bool odd = s->odd;
    const bool done = run_statement(s, sent);
    if (odd && s->odd) {
        live = before;
    }
    return done;
}

/* ---- the server of scripted.h ---------------------------------------------------------------- */

static void server_deliver(void) {
    const uint64_t begin = chance();
    for (uint64_t i = 0; i < SESSIONS; i++) {
        session *s = &sessions[(begin + i) % SESSIONS];
        if (s->used && s->late.which >= 0) {
            if (carry_out(s, &s->late)) {
                s->late.which = -1;
                session_leave(s);
            }
            return;
        }
    }
}

static void server_forget(void) {
    for (session *s = sessions; s < sessions + SESSIONS; s++) {
        if (s->used && s->late.which >= 0) {
            s->late.which = -1;
            session_leave(s);
        }
    }
}

static void server_restart(void) {
    server_forget();
    memset(&tx, 0, sizeof tx);
    for (session *s = sessions; s < sessions + SESSIONS; s++) {
        s->closed |= !ONE_IN(3);
        if (s->used && !s->closed) {
            session_renew(s);
        }
    }
}

static void server_save(void) {
    saved = live;
}

/* A failover to an older copy; or its tables are loaded again, which waits for transactions. A copy
 * of the data folder has the same identity, which only a process that remembers more can notice. */
static void server_go_back(void) {
    const tables before = live;
    const bool loads_tables = ONE_IN(8) && !one_process;
    if ((loads_tables && tx.owner != NULL) || (one_process && copies > 0)) {
        return; /* the record of the store says once that it lost reservations, not how often */
    }
    live = saved;
    live.server = loads_tables || one_process ? before.server : ++servers;
    live.made = loads_tables ? ++loads : before.made;
    reopens |= loads_tables;
    if (!loads_tables) {
        server_restart();
    }
}

static void server_new(void) {
    memset(&live, 0, sizeof live);
    memset(&tx, 0, sizeof tx);
    live.server = ++servers;
    live.made = ++loads;
    live.rows[STORE_ROW].there = true;
    put_text(live.rows[STORE_ROW].identity, "new");
}

static int64_t server_mark(int ns, int key) {
    return live.rows[MARK_ROWS + ns * KEYS + key].number;
}

/* ---- what becomes of a statement ------------------------------------------------------------- */

enum fate {
    FATE_ANSWERED,
    FATE_LOST,     /* the server never had it */
    FATE_LATER,    /* the server carries it out, perhaps after the client has left */
    FATE_UNHEARD,  /* carried out; the client gets no answer */
    FATE_UNDONE,   /* rolled back because of another transaction */
    FATE_ENDED,    /* the session is ended, and nothing is carried out */
    FATE_SWITCHED, /* a pool hands it to another session */
    FATE_STRANGE,  /* as the program says */
    FATES
};

/* After FATE_LOST and FATE_LATER the client waits until its deadline, or sees that the connection broke. */
static enum fate draw_fate(session *s) {
    const enum fate fate =
        faults && ONE_IN(FAULTS_IN) ? (enum fate)(chance() % FATES) : FATE_ANSWERED;
    if (fate == FATE_SWITCHED) {
        session_renew(s);
    }
    s->closed |= fate == FATE_ENDED || (fate >= FATE_LOST && fate <= FATE_UNHEARD && ONE_IN(2));
    return fate;
}

/* ---- steps ------------------------------------------------------------------------------------ */

/* The namespace and the key, as the server has them. */
static void assert_stored(const char *layout, int64_t floor, firn_mark mark) {
    const stored *name = &live.rows[ns_row("bare")], *row = &live.rows[mark_row("bare", "2")];
    assert_null(tx.owner);
    assert_string_equal(name->layout, layout);
    assert_true(name->number == floor && row->number == mark.high && row->grant == mark.grant);
}

static void records_of_each_step(void **state) {
    const uint64_t most = UINT64_MAX;
    firn_records next;
    void *self = steps_begin();
    (void)state;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, most}), FIRN_OK);
    assert_stored("one", 5, (firn_mark){30, most});
    assert_string_equal(passed, " reserve.before reserve.sent reserve.committed");
    assert_string_equal(live.rows[STORE_ROW].identity, live.rows[ns_row("bare")].identity);
    assert_true(step_next->losses == 0 && step_next->ns_losses == 0);
    assert_int_equal(sql_of(self)->last_high, 30);
    assert_string_equal(sql_of(self)->last_ns, "bare");
    assert_string_equal(sql_of(self)->last_key, "2");
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "one", 5, (firn_mark){34, 3}),
                     FIRN_OK);
    assert_stored("one", 5, (firn_mark){34, 3});
    assert_string_equal(passed, " reserve.before reserve.sent reserve.committed");
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "two", 5, (firn_mark){35, 5}),
                     FIRN_WRITE_CHANGED); /* another layout */
    assert_stored("one", 5, (firn_mark){34, 3});
    /* raises */
    static const struct {
        firn_raise raise;
        int code;
        int64_t high; /* of the mark after it, which was 34 */
    } raises[] = {{{34, 34, 34, 1, 3}, FIRN_OK, 35},
                  {{35, 0, 34, 1, 0}, FIRN_WRITE_CHANGED, 35},
                  {{36, 0, 99, 1, 0}, FIRN_WRITE_CHANGED, 35},
                  {{35, 0, 99, 1, 8}, FIRN_WRITE_CHANGED, 35}, /* another grant */
                  {{34, 0, 99, 1, 8}, FIRN_OK, 36},
                  {{36, 40, 99, 2, 0}, FIRN_OK, 42}};
    for (size_t i = 0; i < sizeof raises / sizeof *raises; i++) {
        const firn_records seen = *step_next;
        firn_records after = seen;
        after.mark.grant = 7 + i;
        after.layout = "one";
        after.floor = 5;
        passed[0] = '\0';
        assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL),
                         FIRN_OK);
        const int code = firn_store_driver.add(self, &seen, &after, &raises[i].raise, NULL);
        assert_int_equal(firn_store_driver.end(self, code), raises[i].code);
        assert_int_equal(live.rows[mark_row("bare", "2")].number, raises[i].high);
        assert_true(code != FIRN_OK || after.mark.high == raises[i].high);
        assert_string_equal(passed, code == FIRN_OK
                                        ? " reserve.before reserve.sent reserve.committed"
                                        : " reserve.before reserve.sent");
    }
    assert_stored("one", 5, (firn_mark){42, 12});
    /* what others raised is settled */
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    next = step_names;
    assert_int_equal(firn_store_driver.read(self, &next, true, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.confirm(self, NULL), FIRN_OK);
    stored *name = &live.rows[ns_row("bare")], *mark = &live.rows[mark_row("bare", "2")];
    name->there = mark->there = false; /* nothing is left to be settled */
    assert_int_equal(firn_store_driver.confirm(self, NULL), FIRN_EUNKNOWN);
    name->there = mark->there = true;
    assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
    /* a rest is given back once */
    assert_int_equal(step(self, FIRN_VERB_GIVE_BACK, FIRN_RECORD_KEY, "one", 5, (firn_mark){41, 0}),
                     FIRN_OK);
    assert_stored("one", 5, (firn_mark){41, 0});
    assert_string_equal(passed, " give_back.before give_back.sent give_back.committed");
    assert_int_equal(sql_of(self)->last_high, 0);
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_GIVE_BACK, NULL),
                     FIRN_OK);
    next = *step_next;
    next.mark.high = 40;
    firn_records seen = *step_next;
    seen.mark = (firn_mark){42, 12};
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_GIVE_BACK, NULL),
        FIRN_WRITE_CHANGED);
    assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
    seen.mark =
        (firn_mark){41, 77}; /* a write compares the grant, which a raise without it need not */
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    next.mark = (firn_mark){43, 78};
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, NULL),
        FIRN_WRITE_CHANGED);
    assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
    /* a raise inside a transaction that began for another record is committed, too */
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_NS, FIRN_VERB_RESERVE, NULL),
        FIRN_WRITE_CHANGED);
    seen = step_names;
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    next = seen;
    next.mark.grant = 0;
    assert_int_equal(
        firn_store_driver.add(self, &seen, &next, &(firn_raise){41, 0, 99, 0, 0}, NULL), FIRN_OK);
    assert_stored("one", 5, (firn_mark){41, 0});
    assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
    sql_of(self)->suspect = true;
    sql_forget(self);
    assert_true(!sql_of(self)->suspect && sql_of(self)->last_high == 0);
    /* a namespace that is written again is not lowered, but by a change of layouts */
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_NS, "three", 4, (firn_mark){41, 0}),
                     FIRN_OK);
    assert_stored("three", 5, (firn_mark){41, 0});
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "two", 5, (firn_mark){43, 5}),
                     FIRN_WRITE_CHANGED);
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "three", 6, (firn_mark){43, 5}),
                     FIRN_WRITE_CHANGED);
    assert_stored("three", 5, (firn_mark){41, 0});
    assert_int_equal(step(self, FIRN_VERB_RELABEL, FIRN_RECORD_STORE | FIRN_RECORD_NS, SHUT, 4,
                          (firn_mark){41, 0}),
                     FIRN_OK);
    assert_stored(SHUT, 4, (firn_mark){41, 0});
    assert_string_equal(passed, " relabel.before relabel.sent relabel.committed");
    assert_int_equal(sql_of(self)->last_high, 0);
    /* losses are not counted: the store lost reservations, or did not */
    firn_records lost = *step_next;
    next = lost;
    next.losses = next.ns_losses = 5;
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    int code = FIRN_WRITE_CHANGED;
    for (int i = 0; i < 2 && code == FIRN_WRITE_CHANGED; i++) {
        assert_int_equal(firn_store_driver.read(self, &lost, true, NULL), FIRN_OK);
        code =
            firn_store_driver.write(self, &lost, &next, FIRN_RECORD_STORE, FIRN_VERB_RESERVE, NULL);
    }
    assert_int_equal(firn_store_driver.end(self, code), FIRN_OK);
    assert_true(next.losses == 1 && next.ns_losses == 1 && sql_of(self)->last_high == 0);
    assert_string_equal(live.rows[STORE_ROW].identity, MODULE_GONE_BACK);
    assert_string_equal(live.rows[ns_row("bare")].identity, MODULE_GONE_BACK);
    lost = step_names;
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.read(self, &lost, true, NULL), FIRN_OK);
    assert_true(lost.losses == 1 && lost.ns_losses == 0);
    assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
    module_close(self);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void a_process_notices_older_copies(void **state) {
    (void)state;
    one_process = keeps_all = true;
    no_slot_is_granted_twice(&firn_store_driver);
}

static int hide_losses(void *self, firn_records *seen, bool surely, firn_error *error) {
    const int code = firn_store_driver.read(self, seen, surely, error);
    seen->losses = seen->ns_losses = 0;
    return code;
}

static void a_hidden_loss_is_found(void **state) {
    firn_driver driver = firn_store_driver;
    (void)state;
    driver.read = hide_losses;
    finds(&driver);
}

static void a_missing_comparison_is_found(void **state) {
    (void)state;
    compares = false;
    finds(&firn_store_driver);
}

#endif
