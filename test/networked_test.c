/* SPDX-License-Identifier: MIT */
/* Every store on a server, when replies are lost, sessions end, the server hangs or restarts, and
 * processes fork. The test of an engine has what that engine alone has; store_test.c has the verbs
 * as such. */
#include "sql.h"

#define CHECK_NAME 120

/* A kind of server. */
typedef struct row {
    const char *kind, *user, *second, *path; /* of a URL of two hosts: USERhost,SECOND/path */
    const char *place, *end;                 /* around the name of a test's own place */
    const char *away;                        /* part of the error when nothing was sent */
    const char *silent;    /* the same when a server hangs: the outcome is unknown, */
    const char *no_answer; /* and nothing was granted */
    bool same_run;         /* a restarted server needs no guard */
    int keys;              /* of a listing of several answers */
    /* Of those with SQL; NULL elsewhere. */
    void (*end_sessions)(void);  /* of firn */
    void (*await_writer)(void);  /* until a session holds a row of work_mark */
    void (*await_waiting)(void); /* until a session of firn waits for a row */
    const char *const *losses;   /* two ways of gone_mark, under sessions that live on */
    const char *durable,
        *old_layout; /* was an own grant written again? the older name of a column */
    const char *scheme, *one_connection, *limit; /* makes the user few, with one connection */
} row;

static const row *its;
static test_engine *server;

/* A URL of the server with a place of the test's own; lives until the fourth call after this. */
static const char *url_of(const char *place) {
    static char urls[4][500];
    static unsigned next;
    char *url = urls[next++ % 4];
    server = needed(its->kind, 1, "");
    snprintf(url, sizeof urls[0], "%s?%s%s%s", server->url, its->place, place, its->end);
    return url;
}

/* ---- what each engine calls it --------------------------------------------------------------- */

static void end_in_postgres(void) {
    sql(server, "SELECT count(pg_terminate_backend(pid, 30000)) FROM pg_stat_activity"
                " WHERE application_name = 'firn';");
}

static void await_writer_in_postgres(void) {
    await_sql(server, "SELECT count(*) FROM pg_stat_activity"
                      " WHERE query LIKE 'UPDATE work_mark%' AND state = 'idle in transaction';");
}

static void await_waiting_in_postgres(void) {
    await_sql(server, "SELECT count(*) FROM pg_stat_activity"
                      " WHERE application_name = 'firn' AND wait_event_type = 'Lock';");
}

static void end_in_mysql(void) {
    char ids[SQL_ANSWER];
    snprintf(ids, sizeof ids, "%s",
             sql(server, "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'firn';"));
    for (char *id = strtok(ids, "\n"); id != NULL; id = strtok(NULL, "\n")) {
        sql(server, "KILL %s;", id);
    }
    await_sql(server, /* until they have noticed */
              "SELECT COUNT(*) = 0 FROM information_schema.PROCESSLIST WHERE USER = 'firn';");
}

/* The table of transactions is refreshed only if nobody has read it for 0.1 s. */
static void await_writer_in_mysql(void) {
    await_sql(server, "DO SLEEP(0.2); SELECT COUNT(*) FROM information_schema.INNODB_TRX"
                      " WHERE trx_rows_modified > 0;");
}

static void await_waiting_in_mysql(void) {
    await_sql(server, "DO SLEEP(0.2); SELECT COUNT(*) FROM information_schema.INNODB_TRX"
                      " WHERE trx_state = 'LOCK WAIT';");
}

static const char *const postgres_losses[] = {
    "UPDATE gone_mark SET high = 10, \"grant\" = 1;",
    "ALTER TABLE gone_mark DISABLE TRIGGER ALL; TRUNCATE gone_mark;"};
static const char *const mysql_losses[] = {"UPDATE gone_mark SET high = 10, `grant` = 1;",
                                           "TRUNCATE gone_mark;"};

static const row rows[] = {
    {.kind = "postgres",
     .user = "postgres://firn@",
     .second = "127.0.0.1",
     .path = "/postgres",
     .place = "table=",
     .end = "",
     .away = "cannot be reached",
     .silent = "timeout",
     .no_answer = "connect_timeout",
     .same_run = true,
     .keys = 600,
     .end_sessions = end_in_postgres,
     .await_writer = await_writer_in_postgres,
     .await_waiting = await_waiting_in_postgres,
     .one_connection = "CREATE ROLE few LOGIN CONNECTION LIMIT 1;"
                       " GRANT SELECT, INSERT, UPDATE ON busy_mark, busy_namespace TO few;",
     .scheme = "postgres://",
     .limit = "CONNECTION LIMIT",
     .losses = postgres_losses,
     .durable = "SELECT CAST(m.xmin <> n.xmin AS int) FROM own_mark m"
                " JOIN own_namespace n ON n.name = m.ns;",
     .old_layout = "row"},
    {.kind = "mysql",
     .user = "mysql://firn@",
     .second = "127.0.0.1",
     .path = "/firn",
     .place = "table=",
     .end = "",
     .away = "cannot be reached",
     .silent = "timeout",
     .no_answer = "connect_timeout",
     .same_run = true,
     .keys = 600,
     .end_sessions = end_in_mysql,
     .await_writer = await_writer_in_mysql,
     .await_waiting = await_waiting_in_mysql,
     .one_connection = "CREATE USER few WITH MAX_USER_CONNECTIONS 1; GRANT ALL ON firn.* TO few;",
     .scheme = "mysql://",
     .limit = "max_user_connections",
     .losses = mysql_losses,
     .durable = "SELECT met FROM own_mark;",
     .old_layout = "`row`"},
    {.kind = "redis",
     .user = "redis://",
     .second = "localhost",
     .path = "",
     .place = "prefix=",
     .end = "",
     .away = "cannot be used",
     .silent = "grant",
     .no_answer = "cannot be used",
     .keys = 600},
    {.kind = "etcd",
     .user = "etcd://",
     .second = "localhost",
     .path = "",
     .place = "prefix=",
     .end = "/",
     .away = "cannot be used",
     .silent = "grant",
     .no_answer = "cannot be used",
     .same_run = true,
     .keys = 1203},
};

/* ---- replies that are lost ------------------------------------------------------------------- */

static void lose_reply(void) {
    assert_true(lose_replies(url_port(server->url)) >= 1);
}

/* A client library would repeat a request on a kept connection. */
static void reply_that_is_lost(void **state) {
    mishap lose = {NULL, lose_reply, ""};
    firn_store *store = NULL;
    firn_error error = {0};
    firn_mark held = {0, 0};
    const firn_mark mine = {20, 2};
    int64_t first = -1;
    (void)state;
    firn_store *other = open_store("%s", url_of("reply"));
    drawn(other, "other", 1, 0, 0);
    drawn(other, "other", 2, 0, 10); /* so that the server knows each statement or script */
    assert_int_equal(firn_store_give_back(other, "other", "1", &mine, 0, NULL), FIRN_OK);
    firn_store_close(other);
    assert_int_equal(try_open(&store, url_of("reply"), &lose, &error), FIRN_OK);
    drawn(store, "r", 1, 0, 0);
    lose = (mishap){"reserve.sent", lose_reply, ""};
    assert_int_equal(draw(store, "r", 0, 2, 0, &first, &held, &error), FIRN_EUNKNOWN);
    assert_string_equal(lose.hits, "reserve.before reserve.sent ");
    lose.name = NULL;
    const firn_request again = {"r", ROW, "1", 10, 10, 10, 2, "", 0};
    assert_int_equal(firn_store_reserve(store, &again, &first, &held, &error), FIRN_EBUSY);
    assert_int_equal(held.high, 20); /* the reservation counted once */
    assert_int_equal(held.grant, 2);
    lose.name = "give_back.sent";
    assert_int_equal(firn_store_give_back(store, "r", "1", &mine, 15, &error), FIRN_EUNKNOWN);
    lose.name = NULL;
    assert_int_equal(firn_store_give_back(store, "r", "1", &mine, 15, &error), FIRN_EBUSY);
    drawn(store, "r", 3, 0, 15);
    firn_store_close(store);
}

static void every_failpoint_is_met(void **state) {
    mishap none = {NULL, NULL, ""};
    firn_store *store = NULL;
    firn_error error = {0};
    const firn_mark mine = {20, 2};
    (void)state;
    assert_int_equal(try_open(&store, url_of("points"), &none, &error), FIRN_OK);
    drawn(store, "p", 1, 0, 0);
    none.hits[0] = '\0';
    drawn(store, "p", 2, 0, 10);
    assert_string_equal(none.hits, "reserve.before reserve.sent reserve.committed ");
    none.hits[0] = '\0';
    assert_int_equal(firn_store_give_back(store, "p", "1", &mine, 15, &error), FIRN_OK);
    if (strstr(none.hits, "give_back.before give_back.sent give_back.committed ") == NULL) {
        fail_msg("%s", none.hits);
    }
    firn_store_close(store);
}

/* ---- servers that are away ------------------------------------------------------------------- */

static void found_again(void **state) {
    firn_store *store = open_store("%s", url_of("again"));
    (void)state;
    drawn(store, "a", 1, 0, 0);
    assert_true(engine_do(server, "kill", 0));
    not_drawn_soon(store, "a", 2, its->away);
    assert_true(engine_do(server, "restart", 0));
    drawn_at_last(store, "a", 99);
    assert_int_equal(mark_of(store, "a").high, its->same_run ? 20 : FIRN_SLOT_MAX / 2 + 10);
    firn_store_close(store);
}

static void server_that_hangs(void **state) {
    firn_store *store = hurried_store(url_of("hang"), "h", NULL);
    (void)state;
    drawn_at_last(store, "h", 5); /* a second time, so that the server knows the statement */
    assert_true(engine_do(server, "pause", 0));
    not_drawn(store, "h", 2, FIRN_EUNKNOWN, its->silent);
    not_drawn(store, "h", 3, FIRN_ESTORE, its->no_answer);
    assert_true(engine_do(server, "continue", 0));
    drawn_at_last(store, "h", 4);
    firn_store_close(store);
}

static void next_host(void **state) {
    char url[200];
    (void)state;
    url_of("hosts");
    snprintf(url, sizeof url, "%s127.0.0.1:%d,%s:%d%s?%shosts%s", its->user, silent_port(),
             its->second, url_port(server->url), its->path, its->place, its->end);
    firn_store *store = open_store("%s", url);
    drawn(store, "h", 1, 0, 0);
    firn_store_close(store);
}

/* A clock of whole seconds may be one late, and it was read before it was sent. */
static void clock_of_the_server(void **state) {
    firn_store *store = open_store("%s", url_of("clock"));
    (void)state;
    assert_true(clock_apart(store) < (its->end_sessions != NULL ? 1 : 5));
    firn_store_close(store);
}

/* ---- listings -------------------------------------------------------------------------------- */

/* A listing, looked through in order. */
typedef struct lines {
    int count, stop_after;
    char last[FIRN_KEY_SIZE];
} lines;

static int count_line(void *context, const firn_holding *holding) {
    lines *self = context;
    assert_true(strcmp(holding->key, self->last) > 0);
    snprintf(self->last, sizeof self->last, "%s", holding->key);
    return ++self->count == self->stop_after ? -77 : 0;
}

static void long_listing(void **state) {
    firn_store *store = open_store("%s", url_of("listing"));
    lines all = {0, 0, ""}, some = {0, its->keys / 2, ""};
    (void)state;
    for (int i = 0; i < its->keys; i++) {
        char key[12];
        firn_mark held;
        int64_t first;
        snprintf(key, sizeof key, "%d", i);
        const firn_request request = {"many", ROW, key, 1, 0, 9, (uint64_t)i + 1, "", 0};
        assert_int_equal(firn_store_reserve(store, &request, &first, &held, NULL), FIRN_OK);
    }
    assert_int_equal(firn_store_list(store, NULL, count_line, &all, NULL), FIRN_OK);
    assert_int_equal(all.count, its->keys);
    assert_int_equal(firn_store_list(store, "many", count_line, &some, NULL), -77);
    assert_int_equal(some.count, its->keys / 2);
    drawn(store, "another", 1, 0, 0);
    firn_store_close(store);
}

/* ---- forks ----------------------------------------------------------------------------------- */

/* A parent may lower the mark that its child has inherited the memory of: the child must not take
 * the engine for one that has lost reservations, which would stop everybody's integers. */
static void forked_beside(void **state) {
    const firn_mark mine = {20, 2};
    firn_store *store = open_store("%s", url_of("beside"));
    int status = -1;
    (void)state;
    drawn(store, "fork", 1, 0, 0);
    drawn(store, "fork", 2, 0, 10);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        firn_error error = {0};
        firn_mark held;
        firn_time now;
        int64_t first = -1;
        raise(SIGSTOP);                          /* until the parent has given back */
        (void)firn_store_now(store, &now, NULL); /* any verb connects */
        int code = draw(store, "fork", 0, 3, 0, &first, &held, &error);
        fputs(error.text, stderr);
        _exit(code == FIRN_OK && first == 15 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    int code = firn_store_give_back(store, "fork", "1", &mine, 15, NULL);
    kill(child, SIGCONT);
    assert_int_equal(code, FIRN_OK);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    firn_store_close(store);
}

static pid_t parents_pid, child;

/* Once: an attempt that is made again comes by here again. */
static void fork_here(void) {
    if (getpid() == parents_pid && child == 0) {
        child = fork();
    }
}

/* The child is refused in that call, then reserves on its own; the parent's call continues. */
static void fork_inside(const char *place, const char *point) {
    firn_store *store = NULL;
    firn_error error = {0};
    firn_mark held;
    int64_t first = -1;
    int status = -1;
    mishap fork_at = {NULL, fork_here, ""};
    parents_pid = getpid();
    child = 0;
    assert_int_equal(try_open(&store, url_of(place), &fork_at, &error), FIRN_OK);
    drawn(store, "fork", 10, 0, 0);
    fork_at.name = point;
    int code = draw(store, "fork", 0, 11, 0, &first, &held, &error);
    fork_at.name = NULL;
    if (getpid() != parents_pid) {
        bool told = code == FIRN_EFORKED && first == -1;
        code = draw(store, "child", 0, 12, 0, &first, &held, &error);
        firn_store_close(store);
        _exit(told && code == FIRN_OK && first == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(code, FIRN_OK);
    assert_int_equal(first, 10);
    drawn(store, "fork", 13, 0, 20); /* the parent's connection is as it was */
    firn_store_close(store);
}

static void forked_inside(void **state) {
    (void)state;
    fork_inside("fork1", "reserve.before");
    fork_inside("fork2", "reserve.sent");
    fork_inside("fork3", "reserve.committed");
}

/* ---- those with SQL -------------------------------------------------------------------------- */

/* Tables of an older firn, whose column `layout` had another name: nothing is reserved from
 * them. */
static void older_tables(void **state) {
    const char *url = url_of("older");
    firn_store *store = open_store("%s", url);
    firn_error error = {0};
    (void)state;
    drawn(store, "older", 1, 0, 0);
    sql(server, "ALTER TABLE older_namespace RENAME COLUMN layout TO %s;", its->old_layout);
    not_drawn(store, "other", 2, FIRN_ESTORE, "older firn");
    assert_int_equal(firn_store_list(store, NULL, keep_mark, NULL, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "older firn"));
    firn_store_close(store);
    if (try_open(&store, url, NULL, &error) == FIRN_OK) {
        not_drawn(store, "older", 3, FIRN_ESTORE, "older firn");
        firn_store_close(store);
    }
    assert_non_null(strstr(error.text, "older firn"));
    sql(server, "ALTER TABLE older_namespace RENAME COLUMN %s TO layout;", its->old_layout);
    store = open_store("%s", url);
    drawn(store, "older", 4, 0, 10);
    firn_store_close(store);
}

static void tables_that_were_dropped(void **state) {
    firn_store *store = open_store("%s", url_of("dropped"));
    (void)state;
    drawn(store, "d", 1, 0, 0);
    sql(server, "DROP TABLE dropped_mark;");
    not_drawn(store, "d", 2, FIRN_ESTORE, "misses a table");
    not_drawn(store, "d", 3, FIRN_ESTORE, "dropped");
    firn_store_close(store);
}

/* Eight processes that open the same new store at once. */
static void created_at_once(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) {
        char place[20], go;
        int failures = 0, pipes[2];
        snprintf(place, sizeof place, "race%d", i);
        const char *url = url_of(place);
        assert_int_equal(pipe(pipes), 0);
        fflush(NULL);
        for (int process = 0; process < 8; process++) {
            if (fork() == 0) {
                firn_store *store = NULL;
                firn_error error = {0};
                close(pipes[1]);
                bool failed = read(pipes[0], &go, 1) != 0 || try_open(&store, url, NULL, &error);
                fputs(error.text, stderr);
                _exit(failed);
            }
        }
        close(pipes[0]);
        close(pipes[1]); /* now */
        for (int process = 0; process < 8; process++) {
            int status = -1;
            wait(&status);
            failures += status != 0;
        }
        assert_int_equal(failures, 0);
    }
}

/* Opens a store, takes a reservation and closes it. Waits for a connection of a busy server. */
static int use_once(const char *url, int64_t wait_ms, uint64_t grant, firn_error *error) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .wait_ms = wait_ms};
    firn_store *store;
    firn_mark held;
    int64_t first;
    int code = firn_store_open(&store, url, &options, error);
    if (code == FIRN_OK) {
        code = draw(store, "busy", 0, grant, 0, &first, &held, error);
        firn_store_close(store);
    }
    return code;
}

/* A user with one connection, and six processes that need it. */
static void busy_server(void **state) {
    char url[500];
    firn_error error = {0};
    int failures = 0;
    (void)state;
    firn_store_close(open_store("%s", url_of("busy")));
    sql(server, "%s", its->one_connection);
    snprintf(url, sizeof url, "%sfew%s", its->scheme, strchr(server->url, '@'));
    snprintf(url + strlen(url), sizeof url - strlen(url), "?table=busy&timeout=60s");
    firn_store *holder = open_store("%s", url);
    assert_int_equal(use_once(url, 1, 1, &error), FIRN_ESTORE);
    if (strstr(error.text, "has no connection left") == NULL ||
        strstr(error.text, its->limit) == NULL) {
        fail_msg("%s", error.text);
    }
    firn_store_close(holder);
    fflush(NULL);
    for (uint64_t grant = 1; grant <= 6; grant++) {
        if (fork() == 0) {
            bool failed = use_once(url, 60000, grant, &error) != FIRN_OK;
            fputs(failed ? error.text : "", stderr);
            _exit(failed);
        }
    }
    for (int process = 0; process < 6; process++) {
        int status = -1;
        wait(&status);
        failures += status != 0;
    }
    assert_int_equal(failures, 0);
}

/* The grants of this handle are gone, though the server looks the same. */
static void marks_that_were_lost(void **state) {
    firn_store *store = open_store("%s", url_of("gone"));
    (void)state;
    drawn(store, "b", 1, 0, 0);
    drawn(store, "b", 2, 0, 10);
    sql(server, "%s", its->losses[0]);
    its->end_sessions();
    not_drawn(store, "b", 3, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "b", 4, 5000, 5000);
    for (int64_t i = 1; i < 3; i++) { /* the same under a session that lives on */
        uint64_t grant = (uint64_t)i * 10;
        drawn(store, "b", grant + 1, 0, 5010 * i);
        sql(server, "%s", its->losses[i - 1]);
        not_drawn(store, "b", grant + 3, FIRN_EBACK, "has changed or lost reservations");
        drawn(store, "b", grant + 4, 5010 * (i + 1) - 10, 5010 * (i + 1) - 10);
    }
    firn_store_close(store);
}

/* An idle session that was ended costs nothing: nothing was asked on it. */
static void ended_while_idle(void **state) {
    firn_store *store = open_store("%s", url_of("idle"));
    (void)state;
    drawn(store, "i", 1, 0, 0);
    its->end_sessions();
    drawn(store, "i", 2, 0, 10);
    firn_store_close(store);
}

static void end_waiting_sessions(void) {
    its->await_waiting();
    its->end_sessions();
}

/* Ended while its statement waits for a row: the outcome is unknown, and the same request again
 * finds out. */
static void ended_at_work(void **state) {
    mishap end = {NULL, end_waiting_sessions, ""};
    firn_store *store = NULL;
    firn_error error = {0};
    firn_mark held;
    int64_t first;
    (void)state;
    assert_int_equal(try_open(&store, url_of("work"), &end, &error), FIRN_OK);
    drawn(store, "w", 1, 0, 0);
    session other = sql_begin(server, "/dev/null", "BEGIN;\nUPDATE work_mark SET note = 'held';\n");
    its->await_writer();
    end = (mishap){"reserve.sent", end_waiting_sessions, ""};
    assert_int_equal(draw(store, "w", 0, 2, 0, &first, &held, &error), FIRN_EUNKNOWN);
    assert_string_equal(end.hits, "reserve.before reserve.sent ");
    end.name = NULL;
    sql_end(other, "COMMIT;\n");
    drawn(store, "w", 2, 0, 10);
    firn_store_close(store);
}

static void send_own_again(void) {
    firn_store *store = open_store("%s", url_of("own"));
    firn_mark held;
    int64_t first;
    assert_int_equal(draw(store, "own", 10, 7, 0, &first, &held, NULL), FIRN_OK);
    firn_store_close(store);
}

/* The first sending of a request is carried out only when the second begins the transaction for a
 * new name: that finds its own grant, and the write that makes it durable must be committed. */
static void own_grant_inside(void **state) {
    mishap late = {"reserve.before", send_own_again, ""};
    const firn_request request = {"own", ROW, "1", 10, 10, 10, 7, "", 0};
    firn_store *store = NULL;
    firn_error error = {0};
    firn_mark held = {0, 0};
    int64_t first;
    (void)state;
    assert_int_equal(try_open(&store, url_of("own"), &late, &error), FIRN_OK);
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, &error), FIRN_EBUSY);
    assert_int_equal(held.high, 20);
    assert_int_equal(held.grant, 7);
    assert_string_equal(late.hits, "reserve.before ");
    firn_store_close(store);
    assert_string_equal(sql(server, "%s", its->durable), "1");
}

/* ---- the table of tests ---------------------------------------------------------------------- */

static const struct {
    const char *sentence;
    CMUnitTestFunction run;
    bool sql;
} checks[] = {
    {"a lost reply is unknown, and the same again meets its own grant", reply_that_is_lost, false},
    {"every failpoint is met", every_failpoint_is_met, false},
    {"a server that comes back is found again", found_again, false},
    {"a server that hangs is waited for as long as was said", server_that_hangs, false},
    {"the next host is taken when one is down", next_host, false},
    {"the server's clock is reported", clock_of_the_server, false},
    {"a long listing comes in order, and can be stopped", long_listing, false},
    {"what a parent gives back is not a loss to its child", forked_beside, false},
    {"a fork inside a call leaves it to the parent", forked_inside, false},
    {"tables of an older firn are refused", older_tables, true},
    {"tables that were dropped are not made again", tables_that_were_dropped, true},
    {"eight that create the tables at once all succeed", created_at_once, true},
    {"opening waits for a connection of a busy server, and names its limit", busy_server, true},
    {"marks that a handle was granted and are gone are noticed", marks_that_were_lost, true},
    {"a session that was ended while idle goes unnoticed", ended_while_idle, true},
    {"a session that was ended at work leaves the outcome unknown", ended_at_work, true},
    {"an own grant that comes late is made durable", own_grant_inside, true},
};

#define CHECKS (sizeof checks / sizeof *checks)
#define TESTS  (CHECKS * (sizeof rows / sizeof *rows))

static int choose_row(void **state) {
    its = *state;
    return 0;
}

/* A server that a failed check has left paused would fail the others, too. */
static int wake(void **state) {
    (void)state;
    return server == NULL || engine_do(server, "continue", 0) ? 0 : 1;
}

int main(int count, char **arguments) {
    static char names[TESTS][CHECK_NAME];
    static struct CMUnitTest tests[TESTS];
    size_t used = 0;
    for (size_t i = 0; i < TESTS; i++) {
        const row *of = &rows[i / CHECKS];
        const size_t check = i % CHECKS;
        if (of->end_sessions != NULL || !checks[check].sql) {
            snprintf(names[used], CHECK_NAME, "%s: %s", of->kind, checks[check].sentence);
            tests[used] = (struct CMUnitTest){names[used], checks[check].run, choose_row,
                                              checks[check].run == server_that_hangs ? wake : NULL,
                                              (void *)(uintptr_t)of};
            used++;
        }
    }
    if (count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
    return _cmocka_run_group_tests("networked", tests, used, NULL, NULL);
}
