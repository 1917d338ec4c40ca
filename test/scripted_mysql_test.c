/* SPDX-License-Identifier: MIT */
/* The driver of MariaDB and MySQL over a scripted server: see scripted.h. The program has its own
 * functions of libmariadb, over a server that does what the statements of
 * modules/mysql_sql.h do; test/mysql_test.c runs those. */
#define FAULTS_IN      24 /* a session begins with many statements */
#define DISTURBED_IN   40
#define MARIA_CHECK_MS check_ms
#define SQL_PAGE_ROWS  2
#include "../fuzz/lying.h"

#include <fcntl.h>
#include <mysql.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static int64_t check_ms; /* 0: after each write */

static int64_t lie_now_ms(void);
static int lie_nap(int ms);
static short lie_await(int socket, short events, int64_t end_ms);
static struct addrinfo *find_host(const module_link *link, size_t host);
static int lie_try_names(const char *names);
#define module_now_ms()                  lie_now_ms()
#define module_await(fd, events, end_ms) lie_await(fd, events, end_ms)
#define poll(set, count, ms)             lie_nap(ms)
#define freeaddrinfo(found)              (void)(found)
#undef module_link_find
#define module_link_find(link, host, port, end_ms, error)                                          \
    ((void)(end_ms), (void)(error), find_host(link, host))
#define module_link_try_names(link, names, end_ms, error)                                          \
    ((void)(end_ms), (void)(error), lie_try_names(names))
#include "../modules/mysql.c"
#include "../modules/mysql_foreign.c"
#include "../modules/mysql_session.c"
#include "../modules/mysql_talk.c"
#include "../modules/sql.c"
#undef module_now_ms

enum { COLUMNS = READ_COLUMNS, LINES = 4, REPLIES = 2 };

/* The reply to a statement. */
typedef struct reply {
    bool given; /* false: nothing arrives */
    unsigned error;
    uint64_t affected, insert_id;
    unsigned columns, lines;
    char cells[LINES][COLUMNS][160];
    bool there[LINES][COLUMNS]; /* false: NULL */
    unsigned line;              /* the next one to be fetched */
    char *row[COLUMNS];
} reply;

typedef struct own_session {
    MYSQL db; /* what the client's library shows */
    reply replies[REPLIES];
    bool begun;       /* after START TRANSACTION */
    unsigned greeted; /* the server that the client greeted */
    int at;           /* of the replies */
    bool unsent;      /* the connection was closed before the last statement */
} own_session;

#include "scripted_sql.h"

/* ---- the server ------------------------------------------------------------------------------ */

enum kind {
    READING,
    AGAIN,
    RAISING,
    BEGINNING,
    LOCKING,
    BEARING,
    COMMITTING,
    UNDOING,
    NAMING,
    NAMING_FIRST,
    NUMBERED,
    DOUBTING,
    RELOADED,
    SETTLING,
    GIVING_BACK,
    NUMBER,
    NO_NUMBER,
    WITNESS,
    STARTING,
    LAST,
    LAYOUT_KIND,
    VARIABLES_KIND,
    TABLES,
    TRIGGERS,
    SETTINGS,
    ISOLATION,
    CREATING,
    CREATING_STORE,
    CLUSTER,
    SYNC_WAIT,
    LISTING_ALL,
    LISTING_ONE,
    LISTING_LEAF,
    LISTING_TICKETS,
    CLOCK,
    KINDS
};

static const char *const patterns[KINDS] = {
    [READING] = read_sql,
    [AGAIN] = again_sql,
    [RAISING] = raise_sql,
    [BEGINNING] = begin_sql,
    [LOCKING] = lock_sql,
    [BEARING] = born_sql,
    [COMMITTING] = commit_sql,
    [UNDOING] = rollback_sql,
    [NAMING] = name_sql,
    [NAMING_FIRST] = name_first_sql,
    [NUMBERED] = numbered_sql,
    [DOUBTING] = doubt_sql,
    [RELOADED] = reloaded_sql,
    [SETTLING] = settle_sql,
    [GIVING_BACK] = give_back_sql,
    [NUMBER] = "SELECT TABLE_ID FROM information_schema.INNODB_SYS_TABLES",
    [NO_NUMBER] = "SELECT TABLE_ID FROM information_schema.INNODB_TABLES",
    [WITNESS] = "SELECT CONCAT_WS(' ', CONNECTION_ID(), ",
    [STARTING] = "START TRANSACTION",
    [LAST] = "SELECT high FROM `@_mark` WHERE ns = $ AND `key` = $",
    [LAYOUT_KIND] = "SELECT layout FROM `@_namespace` WHERE name = ''",
    [VARIABLES_KIND] = "SHOW GLOBAL VARIABLES",
    [TABLES] = "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES",
    [TRIGGERS] = "SELECT MIN(TRIGGER_NAME) ",
    [SETTINGS] = "SET SESSION autocommit = 1,",
    [ISOLATION] = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    [CREATING] = "CREATE TABLE IF NOT EXISTS ",
    [CREATING_STORE] = "INSERT IGNORE INTO `@_namespace` VALUES",
    [CLUSTER] = "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'",
    [SYNC_WAIT] = "SET SESSION wsrep_sync_wait = 1",
    [LISTING_ALL] = list_all_sql,
    [LISTING_ONE] = list_one_sql,
    [LISTING_LEAF] = "SELECT CONCAT('integer ', ",
    [LISTING_TICKETS] = "SELECT $ AS ns, ",
    [CLOCK] = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))",
};

static void put_cell(reply *out, unsigned line, unsigned column, const char *text) {
    out->there[line][column] = true;
    snprintf(out->cells[line][column], sizeof out->cells[line][column], "%s", text);
    out->columns = column + 1 > out->columns ? column + 1 : out->columns;
    out->lines = line + 1 > out->lines ? line + 1 : out->lines;
}

static void put_number(reply *out, unsigned column, int64_t value) {
    char digits[MODULE_NUMBER_SIZE];
    put_cell(out, 0, column, module_digits(digits, value));
}

static const char *seal_of(const char *owner, const char *layout) {
    static char text[2 * TEXT];
    snprintf(text, sizeof text, "%s %s", owner, layout);
    return text;
}

/* A transaction reads what was there at its first read, and its own writes. */
static const stored *look(const session *s, int i) {
    if (tx.owner == s && !tx.looked) {
        tx.looked = true;
        tx.then = live;
    }
    return tx.owner == s && !tx.written[i] ? &tx.then.rows[i] : see(s, i);
}

static void read_rows(const session *s, reply *out, const char *ns, const char *key) {
    const stored *name = look(s, ns_row(ns)), *mark = look(s, mark_row(ns, key));
    out->columns = READ_COLUMNS;
    put_cell(out, 0, READ_STORE, look(s, STORE_ROW)->identity);
    if (name->there) {
        put_cell(out, 0, READ_LAYOUT, name->layout);
        put_cell(out, 0, READ_IDENTITY, name->identity);
        put_number(out, READ_FLOOR, name->number);
    }
    if (mark->there) {
        put_number(out, READ_HIGH, mark->number);
        put_number(out, READ_GRANT, (int64_t)mark->grant);
        put_cell(out, 0, READ_SEAL, mark->seal);
    }
    scripted_read();
}

static const char *server_uuid; /* of MySQL; NULL: MariaDB */
static bool no_witness;         /* an answer ends before it */
static bool witnesses; /* false: injected bug, the answer does not show which session it is of */

/* again_sql and raise_sql, from the fourth of their values on. */
static bool may_raise(const session *s, const char *const *v) {
    const stored *mark = see(s, mark_row(v[4], v[5]));
    return mark->there && mark->number >= atoll(v[6]) && mark->number <= atoll(v[7]) &&
           (mark->number > atoll(v[8]) || mark->grant == strtoull(v[9], NULL, 10) ||
            mark->grant == strtoull(v[10], NULL, 10));
}

static bool is_current(const session *s, const char *const *v) {
    const stored *name = see(s, ns_row(v[0]));
    return name->there && is(name->layout, v[1]) && name->number == atoll(v[2]) &&
           is(name->identity, v[3]);
}

static void raise_high(session *s, reply *out, const char *const *v, bool seals) {
    const int i = mark_row(v[4], v[5]);
    const stored *mark = see(s, i), *name = see(s, ns_row(v[4]));
    const bool fits = seals ? is_current(s, v + 11) : !compares || is(mark->seal, v[11]);
    if (may_raise(s, v) && fits) {
        const int64_t low = atoll(v[0]);
        raise_to(s, i, (mark->number > low ? mark->number : low) + atoll(v[1]),
                 strtoull(v[2], NULL, 10));
        if (seals) {
            put_text(change(s, i)->seal, seal_of(name->identity, name->layout));
        }
        out->affected = 1;
        out->insert_id = (uint64_t)see(s, i)->number;
    }
}

static void begin_mark(session *s, reply *out, const char *const *v) {
    const int i = mark_row(v[0], v[1]);
    if (!is_current(s, v + 6)) {
        return;
    }
    if (see(s, i)->there) {
        out->error = DUPLICATE;
        return;
    }
    raise_to(s, i, atoll(v[2]) + atoll(v[3]), strtoull(v[4], NULL, 10));
    change(s, i)->seal[0] = '\0';
    out->affected = 1;
    out->insert_id = (uint64_t)see(s, i)->number;
}

static void give_back(session *s, reply *out, const char *const *v) {
    const int i = mark_row(v[1], v[2]);
    const stored *mark = see(s, i);
    if (mark->there && mark->number == atoll(v[3]) && mark->grant == strtoull(v[4], NULL, 10) &&
        atoll(v[0]) <= mark->number) {
        stored *lower = change(s, i);
        lower->number = atoll(v[0]);
        lower->grant = 0;
        lower->seal[0] = '\0';
        out->affected = 1;
    }
}

static void unseal(session *s, int ns) {
    for (int key = 0; key < KEYS; key++) {
        if (see(s, MARK_ROWS + ns * KEYS + key)->there) {
            change(s, MARK_ROWS + ns * KEYS + key)->seal[0] = '\0';
        }
    }
}

static void name_space(session *s, reply *out, const char *const *v) {
    const int i = ns_row(v[6]);
    if (see(s, i)->there) {
        stored *name = change(s, i);
        put_text(name->layout, v[0]);
        if (is(v[1], "1")) {
            put_text(name->identity, v[2]);
        }
        name->number = is(v[3], "1") || atoll(v[4]) > name->number ? atoll(v[4]) : name->number;
        unseal(s, i - NS_ROWS);
        out->affected = 1;
    }
}

static void name_first(session *s, reply *out, const char *const *v) {
    const int i = ns_row(v[0]);
    if (!see(s, i)->there) {
        stored *name = change(s, i);
        name->there = true;
        put_text(name->layout, v[1]);
        put_text(name->identity, v[2]);
        name->number = atoll(v[3]);
        out->affected = 1;
    }
}

static void doubt_all(session *s, const char *text) {
    for (int i = STORE_ROW; i < MARK_ROWS; i++) {
        if (see(s, i)->there) {
            put_text(change(s, i)->identity, text);
        }
        if (i >= NS_ROWS) {
            unseal(s, i - NS_ROWS);
        }
    }
}

/* Does a lock of another session keep the statement from its rows? Only a SELECT locks none. */
static bool has_to_wait(session *s, enum kind kind, const char *const *v) {
    switch (kind) {
    case AGAIN:
        return is_locked(s, mark_row(v[4], v[5]));
    case RAISING:
        return is_locked(s, mark_row(v[4], v[5])) || is_locked(s, ns_row(v[4]));
    case BEGINNING:
        return is_locked(s, mark_row(v[0], v[1])) || is_locked(s, ns_row(v[0]));
    case SETTLING:
        return is_locked(s, mark_row(v[0], v[1]));
    case GIVING_BACK:
        return is_locked(s, mark_row(v[1], v[2]));
    case LOCKING:
    case BEARING:
    case NUMBERED:
    case DOUBTING:
    case RELOADED:
        return is_locked(s, STORE_ROW);
    default:
        return false;
    }
}

static void answer(session *s, enum kind kind, const char *const *v, reply *out) {
    static const char *const variables_are[][2] = {
        {"innodb_flush_log_at_trx_commit", "1"}, {"log_bin", "OFF"}, {"server_id", ""}};
    char text[48];
    switch (kind) {
    case READING:
        read_rows(s, out, v[0], v[2]);
        break;
    case AGAIN:
    case RAISING:
        raise_high(s, out, v, kind == RAISING);
        break;
    case BEGINNING:
        begin_mark(s, out, v);
        break;
    case LOCKING:
        change(s, STORE_ROW)->number++;
        break;
    case BEARING:
        if (is(see(s, STORE_ROW)->identity, "new")) {
            put_text(change(s, STORE_ROW)->identity, v[0]);
        }
        break;
    case COMMITTING:
    case UNDOING:
        tx_end(s, kind == COMMITTING);
        s->odd = false;
        break;
    case NAMING:
        name_space(s, out, v);
        break;
    case NAMING_FIRST:
        name_first(s, out, v);
        break;
    case NUMBERED:
        put_text(change(s, STORE_ROW)->layout, v[0]);
        break;
    case DOUBTING:
        doubt_all(s, v[0]);
        break;
    case RELOADED:
        if (is(see(s, STORE_ROW)->layout, v[2])) {
            doubt_all(s, v[0]);
            put_text(change(s, STORE_ROW)->layout, v[1]);
        }
        break;
    case SETTLING:
        out->affected = see(s, mark_row(v[0], v[1]))->there;
        break;
    case GIVING_BACK:
        give_back(s, out, v);
        break;
    case NUMBER:
        put_number(out, 0, live.made);
        break;
    case WITNESS:
        snprintf(text, sizeof text, "%u %u%s%s", witnesses ? s->backend : 1,
                 witnesses ? live.server : s->own.greeted, server_uuid != NULL ? " " : "",
                 server_uuid != NULL ? server_uuid : "");
        put_cell(out, 0, 0, text);
        break;
    case LAST:
        if (look(s, mark_row(v[0], v[1]))->there) {
            put_number(out, 0, look(s, mark_row(v[0], v[1]))->number);
        }
        break;
    case LAYOUT_KIND:
        put_cell(out, 0, 0, look(s, STORE_ROW)->layout);
        break;
    case VARIABLES_KIND:
        for (unsigned i = 0; i < 3; i++) {
            put_cell(out, i, 0, variables_are[i][0]);
            put_cell(out, i, 1, variables_are[i][1]);
        }
        put_cell(out, 2, 1, module_digits(text, live.server));
        s->own.greeted = live.server;
        break;
    case TABLES:
        for (unsigned i = 0; i < 2; i++) {
            put_cell(out, i, 0, "firn_mark");
            put_cell(out, i, 1, "InnoDB");
        }
        break;
    case CLUSTER:
        out->columns = 2;
        break;
    case TRIGGERS:
        out->columns = out->lines = 1;
        break;
    case STARTING:
    case SETTINGS:
    case ISOLATION:
    case CREATING:
    case CREATING_STORE:
    case SYNC_WAIT:
        break;
    default:
        fail_msg("statement %d", kind);
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Takes a value of a statement, in the form of maria_compose; returns what follows it, or NULL. */
static const char *take_value(const char *text, bool is_bytes, char out[TEXT]) {
    size_t length = 0;
    if (!is_bytes) {
        const size_t digits = strspn(text, "-0123456789");
        snprintf(out, TEXT, "%.*s", (int)digits, text);
        return digits > 0 ? text + digits : NULL;
    }
    if (strncmp(text, "x'", 2) != 0) {
        return NULL;
    }
    for (text += 2; *text != '\''; text += 2) {
        unsigned byte = 0;
        sscanf(text, "%2x", &byte);
        if (length < TEXT - 1) {
            out[length++] = (char)byte;
        }
    }
    out[length] = '\0';
    return text + 1;
}

/* Is the text a statement of this kind? Takes its values. *rest: what follows it. */
static bool is_kind(enum kind kind, const char *text, statement_sent *out, const char **rest) {
    const char *pattern = patterns[kind];
    *out = (statement_sent){.which = (int)kind};
    for (; *pattern != '\0' && text != NULL; pattern++) {
        if (pattern[0] == '@' && strncmp(text, "firn", 4) == 0) {
            text += 4;
        } else if (strchr("$#^", *pattern) != NULL) {
            text = take_value(text, *pattern == '$', out->words[out->count++]);
        } else if (*pattern == *text) {
            text++;
        } else {
            return false;
        }
    }
    *rest = text;
    return text != NULL;
}

static statement_sent read_statement(const char *text, bool *witnessed) {
    static const char witness[] = "; SELECT CONCAT_WS(";
    statement_sent out = {.which = KINDS};
    const char *rest = NULL;
    for (int i = 0; i < KINDS; i++) {
        if (is_kind((enum kind)i, text, &out, &rest)) {
            *witnessed = i != WITNESS && strstr(rest, witness) != NULL;
            if (i >= NUMBER || *rest == '\0' || strncmp(rest, witness, sizeof witness - 1) == 0) {
                return out;
            }
        }
    }
    fail_msg("an unknown statement: %s", text);
    return out;
}

static bool run_statement(session *s, const statement_sent *sent) {
    const char *v[WORDS];
    const enum kind kind = (enum kind)sent->which;
    for (int i = 0; i < WORDS; i++) {
        v[i] = sent->words[i];
    }
    if (has_to_wait(s, kind, v) || (kind == LOCKING && s->own.begun && !tx_begin(s, false))) {
        return false;
    }
    s->own.replies[0] = (reply){.given = true};
    answer(s, kind, v, &s->own.replies[0]);
    s->own.begun = (s->own.begun || kind == STARTING) && kind != COMMITTING && kind != UNDOING;
    return true;
}

static void session_clear(session *s) {
    s->own = (own_session){.greeted = s->own.greeted};
}

static bool in_transaction(const session *s) {
    return s->odd || s->own.begun;
}

/* ---- libmariadb ------------------------------------------------------------------------------ */

static session *session_of(const MYSQL *db) {
    return (session *)((uintptr_t)db - offsetof(session, own.db));
}

static void fail_with(session *s, unsigned number) {
    s->own.replies[0] = (reply){.given = true, .error = number};
}

static void tell_witness(session *s) {
    const statement_sent witness = {.which = WITNESS};
    const reply first = s->own.replies[0];
    if (first.given && first.error == 0) {
        (void)run_statement(s, &witness);
        s->own.replies[1] = s->own.replies[0];
        s->own.replies[1].given = !no_witness;
        s->own.replies[0] = first;
    }
}

static void carry_out_soon(session *s, const statement_sent *sent) {
    if (carry_out(s, sent)) {
        return;
    }
    if (ONE_IN(3) && tx.owner != s) {
        s->late = *sent; /* the lock lasts longer than the client waits */
    } else if (ONE_IN(2)) {
        fail_with(s, LOCKED);
    } else {
        tx_drop(s);
        s->own.begun = false;
        fail_with(s, DEADLOCK);
    }
}

static void (*before_reload)(void); /* called once, before a reload is recorded */

/* ---- what a test of single steps sets -------------------------------------------------------- */

/* An answer that statements of one kind get instead of being carried out. */
typedef struct odd {
    enum kind kind;
    int times;      /* statements; 0: none */
    unsigned error; /* the server rolls the statement back */
    bool silent;    /* nothing arrives */
    uint64_t affected, insert_id;
    unsigned columns;
    const char *cells[LINES][COLUMNS];
    int after; /* statements that are carried out first */
} odd;

enum { ODDS = 3 };

static odd odds[ODDS];
static int sent[KINDS];            /* how many statements */
static statement_sent last[KINDS]; /* the last one */
static char last_text[KINDS][800]; /* and its text */
static unsigned odd_status;        /* bits of the status that are wrong */
static int awaits;                 /* what each call of libmariadb waits for first; 0: nothing */
static short ready;                /* what a connection in use is ready for; 0: late */
static bool idle_ends;             /* the connection is readable while it is idle */
static int64_t frozen_ms;          /* the time; 0: the machine's */
static int naps;                   /* in ms */
static int results;                /* that are not freed */
static unsigned refusal_of_login;  /* an error */
static short awaited;              /* the events of the last wait, and its end */
static int64_t awaited_until;
static bool has_tls, no_names;
static int no_memory;            /* 1: for a handle; 2: for its option */
static char connected_with[400]; /* the options and the arguments of a connection */

static void usual(void) {
    witnesses = compares = true;
    memset(odds, 0, sizeof odds);
    memset(sent, 0, sizeof sent);
    check_ms = frozen_ms = naps = results = 0;
    odd_status = refusal_of_login = 0;
    no_witness = idle_ends = has_tls = no_names = false;
    no_memory = 0;
    server_uuid = NULL;
    connected_with[0] = '\0';
    awaits = MYSQL_WAIT_READ;
    ready = POLLIN;
}

static int64_t lie_now_ms(void) {
    return frozen_ms != 0 ? frozen_ms : module_now_ms();
}

static int lie_nap(int ms) {
    naps += ms;
    frozen_ms += frozen_ms != 0 ? ms : 0;
    return 0;
}

static short lie_await(int socket, short events, int64_t end_ms) {
    (void)socket;
    awaited = events;
    awaited_until = end_ms;
    return end_ms == 0 ? idle_ends : (short)(events & ready);
}

static struct addrinfo *find_host(const module_link *link, size_t host) {
    static struct addrinfo found;
    assert_true(host < link->url.host_count);
    return no_names ? NULL : &found;
}

static void note_connection(const char *name, const char *value) {
    const size_t length = strlen(connected_with);
    snprintf(connected_with + length, sizeof connected_with - length, "%s=%s;", name,
             value != NULL ? value : "");
}

static int lie_try_names(const char *names) {
    note_connection("tries", names);
    return no_names ? FIRN_ESTORE : FIRN_OK;
}

/* True: a test has given an answer. */
static bool take_odd(session *s, int kind) {
    for (odd *o = odds; o < odds + ODDS; o++) {
        if (o->times == 0 || (int)o->kind != kind || o->after-- > 0) {
            continue;
        }
        reply *out = &s->own.replies[0];
        o->times--;
        if (o->error == DEADLOCK || o->error == CHANGED || kind == COMMITTING) {
            tx_drop(s);
            s->own.begun = false;
        }
        *out = (reply){.given = !o->silent,
                       .error = o->error,
                       .affected = o->affected,
                       .insert_id = o->insert_id,
                       .columns = o->columns};
        for (unsigned line = 0; line < LINES; line++) {
            for (unsigned i = 0; i < o->columns; i++) {
                if (o->cells[line][i] != NULL) {
                    put_cell(out, line, i, o->cells[line][i]);
                }
            }
        }
        return true;
    }
    return false;
}

/* ---- calls of libmariadb --------------------------------------------------------------------- */

int STDCALL mysql_send_query_start(int *ret, MYSQL *db, const char *begin, unsigned long length) {
    session *s = session_of(db);
    bool witnessed;
    char *text = strndup(begin, length); /* no 0 ends a statement */
    const statement_sent now = read_statement(text, &witnessed);
    scripted_disturb();
    sent[now.which]++;
    last[now.which] = now;
    snprintf(last_text[now.which], sizeof last_text[0], "%s", text);
    free(text);
    if (now.which == RELOADED && before_reload != NULL) {
        void (*call)(void) = before_reload;
        before_reload = NULL;
        call();
    }
    memset(s->own.replies, 0, sizeof s->own.replies);
    s->own.at = 0;
    s->own.unsent = s->closed;
    *ret = awaits != 0 || s->closed;
    if (s->closed) {
        return awaits;
    }
    const bool is_odd = take_odd(s, now.which);
    const enum fate fate = draw_fate(s);
    switch (is_odd ? FATES : fate) {
    case FATES:
        break;
    case FATE_LOST:
        break;
    case FATE_LATER:
        s->late = now;
        break;
    case FATE_UNDONE:
        tx_drop(s);
        s->own.begun = false;
        fail_with(s, DEADLOCK);
        break;
    case FATE_ENDED:
        tx_drop(s);
        fail_with(s, 2013);
        break;
    default:
        carry_out_soon(s, &now);
    }
    if (witnessed) {
        tell_witness(s);
    }
    if (fate == FATE_UNHEARD) {
        s->own.replies[chance() % REPLIES].given = false;
    }
    if (fate == FATE_STRANGE && s->own.replies[0].given) {
        fail_with(s, 1180); /* an error during the commit, perhaps after it */
    }
    s->own.db.server_status =
        odd_status ^ (SERVER_STATUS_AUTOCOMMIT | (in_transaction(s) ? SERVER_STATUS_IN_TRANS : 0U));
    scripted_disturb();
    return awaits;
}

int STDCALL mysql_send_query_cont(int *ret, MYSQL *db, int status) {
    *ret = status == MYSQL_WAIT_TIMEOUT || session_of(db)->own.unsent;
    return 0;
}

static reply *reply_of(MYSQL *db) {
    session *s = session_of(db);
    return &s->own.replies[s->own.at];
}

int STDCALL mysql_read_query_result_cont(my_bool *ret, MYSQL *db, int status) {
    *ret = status == MYSQL_WAIT_TIMEOUT || !reply_of(db)->given || reply_of(db)->error != 0;
    return 0;
}

int STDCALL mysql_read_query_result_start(my_bool *ret, MYSQL *db) {
    mysql_read_query_result_cont(ret, db, 0);
    *ret |= awaits != 0;
    return awaits;
}

int STDCALL mysql_store_result_cont(MYSQL_RES **ret, MYSQL *db, int status) {
    const bool there = status != MYSQL_WAIT_TIMEOUT && reply_of(db)->columns > 0;
    *ret = there ? (MYSQL_RES *)(void *)reply_of(db) : NULL;
    results += there;
    return 0;
}

int STDCALL mysql_store_result_start(MYSQL_RES **ret, MYSQL *db) {
    return mysql_store_result_cont(ret, db, awaits != 0 ? MYSQL_WAIT_TIMEOUT : 0), awaits;
}

int STDCALL mysql_next_result_cont(int *ret, MYSQL *db, int status) {
    *ret = status == MYSQL_WAIT_TIMEOUT || !reply_of(db)->given;
    return 0;
}

int STDCALL mysql_next_result_start(int *ret, MYSQL *db) {
    session_of(db)->own.at = 1;
    mysql_next_result_cont(ret, db, 0);
    *ret |= awaits != 0;
    return awaits;
}

unsigned int STDCALL mysql_num_fields(MYSQL_RES *rows) {
    return ((const reply *)(const void *)rows)->columns;
}

my_ulonglong STDCALL mysql_num_rows(MYSQL_RES *rows) {
    return ((const reply *)(const void *)rows)->lines;
}

MYSQL_ROW STDCALL mysql_fetch_row(MYSQL_RES *rows) {
    reply *r = (reply *)(void *)rows;
    const unsigned line = r->line++;
    for (unsigned i = 0; i < COLUMNS && line < r->lines; i++) {
        r->row[i] = r->there[line][i] ? r->cells[line][i] : NULL;
    }
    return line < r->lines ? r->row : NULL;
}

void STDCALL mysql_free_result(MYSQL_RES *rows) {
    assert_non_null(rows);
    results--;
}

unsigned int STDCALL mysql_field_count(MYSQL *db) {
    return reply_of(db)->columns;
}

my_ulonglong STDCALL mysql_affected_rows(MYSQL *db) {
    return reply_of(db)->affected;
}

my_ulonglong STDCALL mysql_insert_id(MYSQL *db) {
    return reply_of(db)->insert_id;
}

unsigned int STDCALL mysql_errno(MYSQL *db) {
    return reply_of(db)->given ? reply_of(db)->error : 2013;
}

const char *STDCALL mysql_error(MYSQL *db) {
    (void)db;
    return "a reason";
}

MYSQL *STDCALL mysql_init(MYSQL *db) {
    (void)db;
    if (no_memory == 1) {
        return NULL;
    }
    session *s = session_new();
    s->closed = faults && ONE_IN(30);
    return &s->own.db;
}

int STDCALL mysql_options(MYSQL *db, enum mysql_option option, const void *value) {
    static const struct {
        enum mysql_option option;
        const char *name, *form; /* t: a text; u: a number; b: a truth; of its value */
    } options[] = {
        {MYSQL_OPT_NONBLOCK, "nonblock", ""},
        {MYSQL_OPT_CONNECT_TIMEOUT, "seconds", "u"},
        {MYSQL_SET_CHARSET_NAME, "charset", "t"},
        {MYSQL_READ_DEFAULT_FILE, "file", "t"},
        {MYSQL_OPT_SSL_ENFORCE, "tls", "b"},
        {MYSQL_OPT_SSL_VERIFY_SERVER_CERT, "verify", "b"},
        {MYSQL_OPT_SSL_CA, "ca", "t"},
        {MYSQL_OPT_SSL_CERT, "cert", "t"},
        {MYSQL_OPT_SSL_KEY, "key", "t"},
        {MYSQL_OPT_SSL_CRL, "crl", "t"},
        {MYSQL_OPT_RECONNECT, "reconnect", "b"},
    };
    (void)db;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char digits[MODULE_NUMBER_SIZE];
        if (options[i].option == option) {
            note_connection(options[i].name, *options[i].form == 't' ? value
                                             : *options[i].form == 'u'
                                                 ? module_digits(digits, *(const unsigned *)value)
                                             : *options[i].form == 'b'
                                                 ? module_digits(digits, *(const my_bool *)value)
                                                 : NULL);
            return option == MYSQL_OPT_NONBLOCK && no_memory == 2;
        }
    }
    fail_msg("option %d", option);
    return 0;
}

int STDCALL mysql_real_connect_cont(MYSQL **ret, MYSQL *db, int status) {
    const bool fails = status == MYSQL_WAIT_TIMEOUT || session_of(db)->closed;
    *ret = fails || refusal_of_login != 0 ? NULL : db;
    fail_with(session_of(db), refusal_of_login);
    return 0;
}

int STDCALL mysql_real_connect_start(MYSQL **ret, MYSQL *db, const char *host, const char *user,
                                     const char *password, const char *name, unsigned int port,
                                     const char *path, unsigned long flags) {
    char digits[MODULE_NUMBER_SIZE];
    note_connection("host", host);
    note_connection("user", user);
    note_connection("password", password);
    note_connection("database", name);
    note_connection("port", module_digits(digits, port));
    note_connection("socket", path);
    assert_int_equal(flags, CLIENT_MULTI_STATEMENTS);
    mysql_real_connect_cont(ret, db, 0);
    *ret = awaits != 0 ? NULL : *ret;
    return awaits;
}

const char *STDCALL mysql_get_ssl_cipher(MYSQL *db) {
    (void)db;
    return has_tls ? "a cipher" : NULL;
}

my_socket STDCALL mysql_get_socket(MYSQL *db) {
    (void)db;
    return 7777; /* nobody has opened it */
}

void STDCALL mysql_close(MYSQL *db) {
    session_leave(session_of(db));
}

static void *handle_at(const char *url) {
    mysql_store *self = calloc(1, sizeof *self);
    assert_non_null(self);
    assert_int_equal(module_link_read(&self->link, url, NULL, NULL), FIRN_OK);
    assert_int_equal(set_up(self, NULL), FIRN_OK);
    self->link.engine = &engine;
    self->link.socket = -1;
    return self;
}

static void *driver_handle(void) {
    return handle_at("mysql://u:" LIE_PASSWORD "@localhost/d");
}

#include "scripted_mysql_steps.h"

/* ---- checks ---------------------------------------------------------------------------------- */

static int begin_program(void **state) {
    usual();
    one_process = keeps_all = false;
    return start_over(state);
}

static void an_answer_of_another_session_is_found(void **state) {
    (void)state;
    witnesses = false;
    finds(&firn_store_driver);
}

/* Another client notices the reload, records it, and issues after the guard. */
static void other_records_reload(void) {
    ((mysql_store *)handles[1])->checked_ms = 0;
    (void)ask(1, 0, true); /* this client has written, and wastes the slots */
    assert_int_equal(ask(1, 0, true), FIRN_OK);
}

static void a_reload_is_counted_once(void **state) {
    (void)state;
    scripted_begin(&firn_store_driver);
    faults = false;
    live.made = ++loads;
    before_reload = other_records_reload;
    ((mysql_store *)handles[0])->checked_ms = 0;
    (void)ask(0, 0, true);
    assert_null(before_reload);
    assert_string_not_equal(live.rows[NS_ROWS].identity, MODULE_GONE_BACK);
    assert_int_equal(doubles, 0);
    scripted_end();
}

static void records_are_those_of_the_row(void **state) {
    static char home[] = "id/1", other[] = "id/2", born[] = "new", layout[] = "a layout",
                shut[] = "closed (a test): integer", seal[] = "id/1 a layout", seven[] = "7",
                twelve[] = "12", most[] = "18446744073709551615";
    char *row[READ_COLUMNS] = {home, NULL, NULL, layout, home, seven, twelve, most, seal};
    mysql_store *store = calloc(1, sizeof *store);
    firn_records out = {0};
    (void)state;
    assert_non_null(store);
    strcpy(store->identity, home);
    take_records(store, &out, row);
    assert_true(out.fresh && out.known && out.ns_known && out.key_known && !out.all_new);
    assert_true(out.losses == 0 && out.ns_losses == 0 && out.floor == 7 && out.shut == NULL);
    assert_true(out.mark.high == 12 && out.mark.grant == UINT64_MAX && out.own[OWN_SEALED] == 1);
    assert_string_equal(out.layout, "a layout");
    assert_string_equal(out.note, "");
    row[READ_STORE] = other; /* lost, and the namespace was written since */
    row[READ_ALL] = home;
    row[READ_ALL_LAYOUT] = shut;
    row[READ_SEAL] = layout;
    take_records(store, &out, row);
    assert_true(out.losses == 1 && out.ns_losses == 1 && out.all_new && out.own[OWN_SEALED] == 0);
    assert_string_equal(out.shut, shut);
    row[READ_IDENTITY] = row[READ_ALL] = other;
    row[READ_ALL_LAYOUT] = layout;
    take_records(store, &out, row);
    assert_true(out.losses == 1 && out.ns_losses == 0 && !out.all_new && out.shut == NULL);
    row[READ_STORE] = born;
    row[READ_LAYOUT] = row[READ_HIGH] = row[READ_GRANT] = row[READ_FLOOR] = row[READ_SEAL] = NULL;
    take_records(store, &out, row);
    assert_true(!out.known && out.losses == 0 && !out.ns_known && !out.key_known);
    assert_true(out.floor == 0 && out.mark.high == 0 && out.mark.grant == 0);
    assert_string_equal(out.layout, "");
    free(store);
}

static void records_are_at_a_url(void **state) {
    static const url_case urls[] = {
        {"mysql://h/d", NULL},
        {"mysql://h", "names no database"},
        {"mysql://h?defaults-file=/none", NULL},
        {"mysql://h/d?table=1x", "table"},
        {"mysql://h/d?tls=maybe", "tls"},
        {"mysql://h?tls=maybe", "tls"},
        {"mysql://h/d?ca=/x", "tls=verify"},
        {"mysql://h/d?ca=/x&tls=require", "tls=verify"},
        {"mysql://h/d?ca=/x&tls=verify", NULL},
        {"mysql://h/d?crl=/x&tls=require", "tls=verify"},
        {"mysql://h/d?crl=/x&tls=verify", NULL},
        {"mysql://h/d?cert=/x", "tls=verify or tls=require"},
        {"mysql://h/d?cert=/x&tls=require", NULL},
        {"mysql://h/d?key=/x&tls=prefer", "tls=verify or tls=require"},
        {"mysql://h/d?key=/x&tls=verify", NULL},
        {"mysql://h/d?socket=/s", NULL},
        {"mysql://h/d?sockets=/s", "sockets"},
    };
    (void)state;
    take_urls(&engine, urls, sizeof urls / sizeof *urls);
    mysql_store *store = take_url(&engine, &(url_case){"mysql://h/d?table=t&socket=/s", NULL});
    assert_string_equal(store->table, "t");
    assert_string_equal(store->path, "/s");
    module_close(store);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_those_of_the_row),
        cmocka_unit_test(records_are_at_a_url),
        cmocka_unit_test(records_after_an_odd_answer),
        cmocka_unit_test(records_of_a_new_namespace),
        cmocka_unit_test(records_are_compared_with_their_grant),
        cmocka_unit_test(records_and_their_seals),
        cmocka_unit_test(records_of_a_loss_have_no_seal),
        cmocka_unit_test(records_are_read_back_once),
        cmocka_unit_test(records_are_checked_now_and_then),
        cmocka_unit_test(records_of_a_cluster_begin_in_a_transaction),
        cmocka_unit_test(records_need_no_rows_of_a_write),
        cmocka_unit_test(records_are_settled),
        cmocka_unit_test(records_are_listed_in_pages),
        cmocka_unit_test(records_have_the_time_of_the_server),
        cmocka_unit_test(records_are_behind_a_login),
        cmocka_unit_test(records_are_on_the_host_of_a_file),
        cmocka_unit_test(records_are_behind_a_server),
        cmocka_unit_test(records_are_on_a_server),
        cmocka_unit_test(records_are_unchanged_after_these_errors),
        cmocka_unit_test(records_are_sent_again),
        cmocka_unit_test(records_have_short_names),
        cmocka_unit_test(records_are_composed),
        cmocka_unit_test(records_come_in_time),
        cmocka_unit_test(records_are_of_one_session),
        cmocka_unit_test(records_of_a_parent_stay),
        cmocka_unit_test(records_that_are_older_are_noticed),
        cmocka_unit_test(records_are_in_the_same_table),
        cmocka_unit_test(records_need_a_session_of_these_settings),
        cmocka_unit_test_setup(records_of_each_step, begin_program),
        cmocka_unit_test_setup(answers_are_torn, begin_program),
        cmocka_unit_test_setup(a_process_notices_older_copies, begin_program),
        cmocka_unit_test_setup(a_reload_is_counted_once, begin_program),
        cmocka_unit_test_setup(a_guess_is_found, begin_program),
        cmocka_unit_test_setup(a_hidden_loss_is_found, begin_program),
        cmocka_unit_test_setup(a_missing_comparison_is_found, begin_program),
        cmocka_unit_test_setup(an_answer_of_another_session_is_found, begin_program),
    };
    scripted_choose(count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
