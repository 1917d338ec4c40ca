/* SPDX-License-Identifier: MIT */
/* The store on MariaDB and MySQL where it is unlike others: settings that lose commits, rights,
 * sessions that end or hang, and the tables of Leaf, Flickr's ticket servers and uid-generator. The
 * verbs as such are store_test.c's. */
#include "keeper.h"
#include "sql.h"

#define CALLS 200

static test_engine *server;

/* A URL of the server with tables of the test's own; lives until the fourth call after this. */
static const char *url_of(const char *table, const char *more) {
    static char urls[4][500];
    static unsigned next;
    char *url = urls[next++ % 4];
    server = needed("mysql", 1, "");
    snprintf(url, sizeof urls[0], "%s?table=%s%s", server->url, table, more);
    return url;
}

/* ---- what may lose marks --------------------------------------------------------------------- */

static void settings_that_forget(void **state) {
    const char *url = url_of("loose", "");
    char risky[500];
    (void)state;
    snprintf(risky, sizeof risky, "%s&unsafe=1", url);
    sql(server, "SET GLOBAL innodb_flush_log_at_trx_commit = 2;");
    not_opened(url, "innodb_flush_log_at_trx_commit=2");
    firn_store *store = open_store("%s", risky);
    assert_non_null(strstr(firn_store_caution(store), "innodb_flush_log_at_trx_commit=2"));
    firn_store_close(store);
    sql(server, "SET GLOBAL innodb_flush_log_at_trx_commit = 1;");
    store = open_store("%s", risky);
    assert_null(firn_store_caution(store)); /* there is nothing to be afraid of */
    firn_store_close(store);
    sql(server, "ALTER TABLE loose_mark ENGINE=Aria;");
    not_opened(url, "loose_mark in Aria");
    sql(server, "SET GLOBAL read_only = 1;");
    not_opened(url, "replica");
    sql(server, "SET GLOBAL read_only = 0;");
}

/* InnoDB tables and logs that are not synced. */
static void files_that_forget(void **state) {
    test_engine *loose = needed("mysql", 6, "--innodb-flush-method=littlesync");
    (void)state;
    not_opened(loose->url, "innodb_flush_method=littlesync");
}

/* Pages that a crash leaves half written. */
static void pages_that_are_torn(void **state) {
    test_engine *loose = needed("mysql", 7, "--skip-innodb-doublewrite");
    char risky[ENGINE_URL_SIZE + 20];
    (void)state;
    not_opened(loose->url, "innodb_doublewrite=OFF");
    snprintf(risky, sizeof risky, "%s?unsafe=1", loose->url);
    firn_store *store = open_store("%s", risky);
    assert_non_null(strstr(firn_store_caution(store), "innodb_doublewrite=OFF"));
    firn_store_close(store);
}

static void log_that_forgets(void **state) {
    test_engine *loose = needed("mysql", 2, "--log-bin=b --sync-binlog=0 --server-id=7");
    (void)state;
    not_opened(loose->url, "sync_binlog=0");
    sql(loose, "SET GLOBAL sync_binlog = 1;");
    firn_store *store = open_store("%s", loose->url);
    drawn(store, "b", 1, 0, 0);
    assert_string_equal(sql(loose, "SELECT DISTINCT identity FROM firn_namespace;"), "id/7");
    firn_store_close(store);
}

/* ---- rights ---------------------------------------------------------------------------------- */

static void rights_that_are_missing(void **state) {
    const char *url = url_of("rights", "");
    char other[500];
    (void)state;
    sql(server, "CREATE USER clerk@'%%' IDENTIFIED BY 'secret';"
                " GRANT SELECT, INSERT, UPDATE ON firn.* TO clerk@'%%';");
    snprintf(other, sizeof other, "mysql://clerk:secret@127.0.0.1:%d/firn?table=rights",
             url_port(url));
    not_opened(other, "GRANT CREATE ON firn.*");
    firn_store_close(open_store("%s", url));
    firn_store *store = open_store("%s", other); /* what is there needs no right to create */
    drawn(store, "r", 1, 0, 0);
    sql(server, "REVOKE UPDATE ON firn.* FROM clerk@'%%';");
    firn_store_close(store);
    store = open_store("%s", other);
    not_drawn(store, "r", 2, FIRN_ESTORE, "GRANT SELECT, INSERT, UPDATE");
    firn_store_close(store);
    snprintf(other, sizeof other, "mysql://clerk:secret2@127.0.0.1:%d/firn", url_port(url));
    not_opened(other, "Access denied");
}

/* A trigger changes a mark after firn computed it. MySQL shows triggers to users with a right for
 * them only, so a reservation is read back too. */
static void triggers_are_refused(void **state) {
    static const char *const triggers[] = {
        "BEFORE UPDATE ON trig_mark FOR EACH ROW SET NEW.high = OLD.high",
        "BEFORE INSERT ON trig_mark FOR EACH ROW SET NEW.high = 0",
        "AFTER UPDATE ON trig_namespace FOR EACH ROW SET @nothing = 1"};
    const char *url = url_of("trig", "");
    char risky[500], ns[8];
    (void)state;
    firn_store *store = open_store("%s", url);
    drawn(store, "t0", 1, 0, 0);
    firn_store_close(store);
    snprintf(risky, sizeof risky, "%s&unsafe=1", url);
    for (size_t i = 0; i < sizeof triggers / sizeof triggers[0]; i++) {
        sql(server, "CREATE TRIGGER audit %s;", triggers[i]);
        not_opened(url, "trigger audit");
        store = open_store("%s", risky);
        assert_non_null(strstr(firn_store_caution(store), "trigger audit"));
        snprintf(ns, sizeof ns, "t%zu", i);
        if (i < 2) {
            not_drawn(store, ns, i + 2, FIRN_ESTORE, "SHOW TRIGGERS");
        } else {
            drawn(store, ns, i + 2, 0, 0);
        }
        firn_store_close(store);
        sql(server, "DROP TRIGGER audit;");
        store = open_store("%s", url);
        drawn_at_last(store, ns, i + 20);
        firn_store_close(store);
    }
}

/* The password comes from the environment, or from the file that the engine's own client reads. */
static void passwords_from_elsewhere(void **state) {
    const char *url = url_of("login", "");
    char other[500], file[400];
    (void)state;
    sql(server,
        "CREATE USER renewer@'%%' IDENTIFIED BY 'secret'; GRANT ALL ON firn.* TO renewer@'%%';");
    snprintf(other, sizeof other, "mysql://renewer@127.0.0.1:%d/firn?table=login", url_port(url));
    not_opened(other, "Access denied");
    setenv("MYSQL_PWD", "secret", 1);
    firn_store_close(open_store("%s", other));
    unsetenv("MYSQL_PWD");
    snprintf(file, sizeof file, "%s/my.cnf", server->folder);
    FILE *written = fopen(file, "w");
    assert_non_null(written);
    fprintf(written, "[client]\nuser=renewer\npassword=secret\n");
    fclose(written);
    firn_store_close(
        open_store("mysql://127.0.0.1:%d/firn?table=login&defaults-file=%s", url_port(url), file));
}

/* ---- who it is ------------------------------------------------------------------------------- */

static void another_engine(void **state) {
    firn_store *store = open_store("%s", url_of("moved", ""));
    (void)state;
    drawn(store, "m", 1, 0, 0);
    sql(server,
        "UPDATE moved_namespace SET identity = 'id/99';"
        " UPDATE moved_mark SET seal = CONCAT('id/99 ', (SELECT layout FROM moved_namespace "
        "WHERE name = 'm'));");
    not_drawn(store, "m", 2, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "m", 3, 5000, 5000);
    drawn(store, "m", 4, 0, 5010);
    const firn_mark mine = {5020, 4};
    assert_int_equal(firn_store_give_back(store, "m", "1", &mine, 20, NULL), FIRN_OK);
    drawn(store, "m", 5, 0, 5000); /* a give back does not open slots that the guard has closed */
    firn_store_close(store);
}

/* Tables made again under a session that lives on. The record of the store is new, and the handle knows that
 * it was not: it notices the loss also when it uses a name for the first time. */
static void made_again_unnoticed(void **state) {
    const char *url = url_of("anew", "");
    firn_store *store = open_store("%s", url);
    (void)state;
    drawn(store, "a", 1, 0, 0);
    sql(server, "DROP TABLE anew_mark, anew_namespace;");
    firn_store_close(open_store("%s", url));
    assert_string_equal(sql(server, "SELECT identity FROM anew_namespace WHERE name = '';"), "new");
    not_drawn(store, "b", 2, FIRN_EBACK, "has changed or lost reservations");
    assert_string_equal(sql(server, "SELECT identity FROM anew_namespace WHERE name = '';"),
                        "gone back");
    drawn(store, "b", 3, 5000, 5000);
    firn_store_close(store);
}

static void end_sessions_of(const char *user) {
    char ids[SQL_ANSWER], left[200];
    snprintf(ids, sizeof ids, "%s",
             sql(server, "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '%s';", user));
    for (char *id = strtok(ids, "\n"); id != NULL; id = strtok(NULL, "\n")) {
        sql(server, "KILL %s;", id);
    }
    snprintf(left, sizeof left,
             "SELECT COUNT(*) = 0 FROM information_schema.PROCESSLIST WHERE USER = '%s';", user);
    await_sql(server, left); /* until they have noticed */
}

static void end_sessions(void) {
    end_sessions_of("firn");
}

/* The table of transactions is refreshed only if nobody has read it for 0.1 s. */
static void await_transaction(const char *condition) {
    char text[200];
    snprintf(text, sizeof text,
             "DO SLEEP(0.2); SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE %s;",
             condition);
    await_sql(server, text);
}

/* MariaDB refuses to lock a row that was changed after the transaction's first read, by default
 * from 11.6.2 on. A mark is raised while a transaction waits for it. */
static void changed_inside(void **state) {
    firn_store *store = open_store("%s", url_of("snapshot", ""));
    (void)state;
    drawn(store, "i", 1, 0, 0);
    firn_store_close(store);
    sql(server, "SET GLOBAL innodb_snapshot_isolation = 1;"
                " UPDATE snapshot_namespace SET identity = 'gone back';"
                " UPDATE snapshot_mark SET seal = '';");
    store = open_store("%s", url_of("snapshot", ""));
    session other =
        sql_begin(server, "/dev/null",
                  "BEGIN; UPDATE snapshot_mark SET high = 40, `grant` = 9;\nDELIMITER //\n"
                  "BEGIN NOT ATOMIC WHILE (SELECT COUNT(*) = 0 FROM information_schema.INNODB_TRX"
                  " WHERE trx_state = 'LOCK WAIT') DO DO SLEEP(0.2); END WHILE; END//\nCOMMIT//\n");
    await_transaction("trx_rows_modified = 1");
    drawn(store, "i", 2, 5000, 5000);
    sql_end(other, "");
    firn_store_close(store);
    sql(server, "SET GLOBAL innodb_snapshot_isolation = DEFAULT;");
}

/* Emptied and filled again from a copy, the table of marks has another number. */
static void emptied_and_filled(void **state) {
    firn_store *store = open_store("%s", url_of("full", "")), *idle;
    char refill[400];
    (void)state;
    drawn(store, "f", 1, 0, 0);
    sql(server, "CREATE TABLE kept_mark AS SELECT * FROM full_mark;"
                " CREATE TABLE kept_namespace AS SELECT * FROM full_namespace;");
    drawn(store, "f", 2, 0, 10);
    firn_store_close(store);
    idle = open_store("%s", url_of("full", ""));
    snprintf(refill, sizeof refill,
             "TRUNCATE full_mark; TRUNCATE full_namespace;"
             " INSERT INTO full_mark SELECT * FROM kept_mark;"
             " INSERT INTO full_namespace SELECT * FROM kept_namespace;");
    sql(server, "%s", refill);
    not_drawn(idle, "f", 3, FIRN_EBACK, "has changed or lost reservations"); /* while connected */
    firn_store_close(idle);
    store = open_store("%s", url_of("full", ""));
    not_drawn(store, "integer late", 4, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "f", 5, 5000, 5000);
    sql(server, "%s", refill);
    firn_store_close(store);
    store = open_store("%s", url_of("full", ""));
    not_drawn(store, "f", 6, FIRN_EBACK, "has changed or lost reservations");
    firn_store_close(store);
}

static void dumped_and_loaded(void **state) {
    char copy[400];
    firn_store *store = open_store("%s", url_of("dump", ""));
    (void)state;
    drawn(store, "d", 1, 0, 0);
    snprintf(copy, sizeof copy, "%s/copy.sql", server->folder);
    assert_true(run("mariadb-dump --skip-ssl-verify-server-cert -h 127.0.0.1 -P %d -u firn firn "
                    "dump_mark dump_namespace >'%s'",
                    url_port(server->url), copy));
    drawn(store, "d", 2, 0, 10);
    firn_store_close(store);
    assert_true(run("mariadb --skip-ssl-verify-server-cert -h 127.0.0.1 -P %d -u firn firn <'%s'",
                    url_port(server->url), copy));
    store = open_store("%s", url_of("dump", ""));
    not_drawn(store, "d", 3, FIRN_EBACK, "has changed or lost reservations");
    not_drawn(store, "integer late", 4, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "d", 5, 5000, 5000);
    firn_store_close(store);
}

/* A user who cannot see the table's number can still reserve. */
static void numbers_are_hidden(void **state) {
    const char *url = url_of("hidden", "");
    char other[500];
    (void)state;
    sql(server, "CREATE USER plain@'%%'; GRANT ALL ON firn.* TO plain@'%%';");
    snprintf(other, sizeof other, "mysql://plain@127.0.0.1:%d/firn?table=hidden", url_port(url));
    firn_store *store = open_store("%s", other);
    drawn(store, "h", 1, 0, 0);
    firn_store_close(store);
    assert_string_equal(sql(server, "SELECT layout FROM hidden_namespace WHERE name = '';"), "");
    firn_store_close(open_store("%s", url));
    assert_string_not_equal(sql(server, "SELECT layout FROM hidden_namespace WHERE name = '';"),
                            "");
    store = open_store("%s", other);
    drawn(store, "h", 2, 0, 10);
    firn_store_close(store);
}

/* A server whose sessions may not change a whole table still learns that it has lost
 * reservations. */
static void sessions_that_are_careful(void **state) {
    const char *url = url_of("careful", "");
    char other[500];
    (void)state;
    sql(server, "CREATE USER careful@'%%'; GRANT ALL ON firn.* TO careful@'%%';"
                " SET GLOBAL init_connect = 'SET sql_safe_updates = 1, autocommit = 0';");
    snprintf(other, sizeof other, "mysql://careful@127.0.0.1:%d/firn?table=careful", url_port(url));
    firn_store *store = open_store("%s", other);
    drawn(store, "c", 1, 0, 0);
    sql(server, "UPDATE careful_mark SET high = 5;");
    not_drawn(store, "c", 2, FIRN_EBACK, "has changed or lost reservations");
    assert_string_equal(sql(server, "SELECT identity FROM careful_namespace WHERE name = 'c';"),
                        "gone back");
    sql(server, "SET GLOBAL init_connect = '';");
    firn_store_close(store);
}

/* Sessions that begin inside a transaction, which autocommit = 1 does not end. */
static void sessions_inside_a_transaction(void **state) {
    static const char *const begins[] = {"START TRANSACTION",
                                         "SET completion_type = 1; START TRANSACTION",
                                         "SET autocommit = 0, completion_type = 1"};
    const char *url = url_of("inside", "");
    char other[500], ns[8];
    (void)state;
    sql(server, "CREATE USER inside@'%%';"
                " GRANT SELECT, INSERT, UPDATE, CREATE ON firn.* TO inside@'%%';");
    snprintf(other, sizeof other, "mysql://inside@127.0.0.1:%d/firn?table=inside", url_port(url));
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        snprintf(ns, sizeof ns, "t%zu", i);
        sql(server, "SET GLOBAL init_connect = '%s';", begins[i]);
        firn_store *store = open_store("%s", other);
        drawn(store, ns, 1, 0, 0);
        firn_store_close(store);
        store = open_store("%s", other);
        drawn(store, ns, 2, 0, 10);
        end_sessions_of("inside");
        drawn(store, ns, 3, 0, 20);
        firn_store_close(store);
        assert_true(engine_do(server, "kill", 0));
        assert_true(engine_do(server, "restart", 0));
        sql(server, "SET GLOBAL init_connect = '%s';", begins[i]);
        store = open_store("%s", other);
        drawn(store, ns, 4, 0, 30);
        firn_store_close(store);
    }
    sql(server, "SET GLOBAL init_connect = '';");
}

/* The session comes to be inside a transaction later, because a pool lends it to somebody else
 * too. */
static void session_that_begins_a_transaction(void **state) {
    static test_keeper pool;
    firn_error error = {0};
    firn_mark held;
    int64_t first;
    const char *url = url_of("pool", "");
    (void)state;
    assert_true(keeper_start(&pool, url_port(url)));
    firn_store *store = open_store("mysql://firn@127.0.0.1:%d/firn?table=pool&tls=off", pool.port);
    drawn(store, "p", 1, 0, 0);
    atomic_store(&pool.begins, true);
    not_drawn(store, "p", 2, FIRN_EUNKNOWN, "in a transaction");
    assert_false(atomic_load(&pool.begins));
    assert_int_equal(draw(store, "p", 0, 2, 0, &first, &held, &error), FIRN_OK);
    assert_int_equal(first, 10);
    firn_store_close(store);
    keeper_stop(&pool);
    store = open_store("%s", url);
    drawn(store, "p", 3, 0, 20);
    firn_store_close(store);
}

/* ---- proxies that keep connections ----------------------------------------------------------- */

static void copy_tables(const test_engine *from, const test_engine *to, const char *table) {
    assert_true(run("mariadb-dump --skip-ssl-verify-server-cert -h 127.0.0.1 -P %d -u firn firn "
                    "%s_mark %s_namespace |"
                    " mariadb --skip-ssl-verify-server-cert -h 127.0.0.1 -P %d -u firn firn",
                    url_port(from->url), table, table, url_port(to->url)));
}

/* The proxy fails over to a replica that lacks the last reservations, and its clients keep their
 * connections. */
static void failover_behind_a_proxy(void **state) {
    static test_keeper middle;
    firn_store *direct = open_store("%s", url_of("keep", ""));
    test_engine *replica = needed("mysql", 8, "--server-id=2");
    (void)state;
    assert_true(keeper_start(&middle, url_port(server->url)));
    firn_store *store =
        open_store("mysql://firn@127.0.0.1:%d/firn?table=keep&tls=off", middle.port);
    drawn(direct, "k", 1, 0, 0);
    drawn(store, "other", 1, 0, 0);
    drawn(store, "k", 2, 0, 10);
    copy_tables(server, replica, "keep");
    drawn(direct, "k", 3, 0, 20); /* the replica lacks it */
    atomic_store(&middle.server_port, url_port(replica->url));
    not_drawn(store, "other", 4, FIRN_EUNKNOWN, "changed its session");
    not_drawn(store, "k", 5, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "k", 6, 5000, 5000);
    drawn(store, "k", 7, 0, 5010);
    firn_store_close(store);
    firn_store_close(direct);
    keeper_stop(&middle);
}

/* A connection that ends up in another session of the same server continues after one unknown
 * outcome. */
static void another_session_behind_a_proxy(void **state) {
    static test_keeper middle;
    const char *url = url_of("lent", "");
    (void)state;
    assert_true(keeper_start(&middle, url_port(url)));
    firn_store *store =
        open_store("mysql://firn@127.0.0.1:%d/firn?table=lent&tls=off", middle.port);
    drawn(store, "l", 1, 0, 0);
    atomic_store(&middle.moves, true);
    not_drawn(store, "l", 2, FIRN_EUNKNOWN, "changed its session");
    drawn(store, "l", 3, 0, 20);
    firn_store_close(store);
    keeper_stop(&middle);
}

/* ---- sessions that end ----------------------------------------------------------------------- */

static void end_and_move(void) {
    sql(server, "SET GLOBAL server_id = 2;");
    end_sessions();
}

/* A file of the client library may make it reconnect automatically, without a check of the
 * server. */
static void never_reconnected_automatically(void **state) {
    mishap move = {NULL, end_and_move, ""};
    char file[400], more[500];
    firn_store *store = NULL;
    firn_error error = {0};
    firn_mark held;
    int64_t first;
    (void)state;
    server = needed("mysql", 1, "");
    snprintf(file, sizeof file, "%s/again.cnf", server->folder);
    FILE *written = fopen(file, "w");
    assert_non_null(written);
    fputs("[client]\nreconnect=1\n", written);
    fclose(written);
    snprintf(more, sizeof more, "&defaults-file=%s", file);
    assert_int_equal(try_open(&store, url_of("vip", more), &move, &error), FIRN_OK);
    drawn(store, "v", 1, 0, 0);
    move.name = "reserve.before";
    int code = draw(store, "v", 0, 2, 0, &first, &held, &error);
    move.name = NULL;
    assert_int_equal(code, FIRN_EUNKNOWN);
    not_drawn(store, "v", 2, FIRN_EBACK, "has changed or lost reservations");
    sql(server, "SET GLOBAL server_id = 1;");
    firn_store_close(store);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void clock_of_the_server(void **state) {
    firn_store *store = open_store("%s", url_of("clock", ""));
    (void)state;
    sql(server, "SET GLOBAL time_zone = '+05:30';");
    firn_store *later = open_store("%s", url_of("clock", ""));
    sql(server, "SET GLOBAL time_zone = 'SYSTEM';");
    assert_true(clock_apart(store) < 1);
    assert_true(clock_apart(later) < 1);
    firn_store_close(store);
    firn_store_close(later);
}

/* Most collations of the engine take these for the same. */
static void names_that_look_similar(void **state) {
    static const char *const names[] = {"a", "a ", "A", "\xc3\xa4", "a\t"};
    firn_store *store = open_store("%s", url_of("alike", ""));
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        drawn(store, names[i], i + 1, 0, 0);
    }
    firn_store_close(store);
}

/* Notes for people must not fail a reservation. */
static void long_notes(void **state) {
    firn_store *store = open_store("%s", url_of("notes", ""));
    char note[9000];
    firn_mark held;
    int64_t first;
    (void)state;
    memset(note, 'n', sizeof note - 1);
    note[sizeof note - 1] = '\0';
    const firn_request request = {"n", ROW, "1", 1, 0, 0, 1, note, 0};
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, NULL), FIRN_OK);
    assert_string_equal(sql(server, "SELECT LENGTH(note) FROM notes_mark;"), "127");
    firn_store_close(store);
}

static void odd_parameters(void **state) {
    char url[300];
    (void)state;
    not_opened(url_of("1st", ""), "table=1st");
    not_opened(url_of("odd", "&tls=perhaps"), "tls=perhaps");
    not_opened(url_of("odd", "&tls=require"), "TLS");
    not_opened(url_of("odd", "&leaf=a&tickets=b"), "leaf= and tickets=");
    snprintf(url, sizeof url, "mysql://firn@127.0.0.1:%d", url_port(server->url));
    not_opened(url, "no database");
}

/* ---- TLS ------------------------------------------------------------------------------------- */

static void certificates_are_verified(void **state) {
    char options[800], url[800];
    (void)state;
    make_own_certificates();
    snprintf(options, sizeof options, "--ssl-cert=%s/server.pem --ssl-key=%s/own.key",
             certificate_folder, certificate_folder);
    test_engine *closed = needed("mysql", 5, options);
    snprintf(url, sizeof url, "%s?tls=verify&ca=%s/ca.pem", closed->url, certificate_folder);
    firn_store *store = open_store("%s", url);
    drawn(store, "t", 1, 0, 0);
    firn_store_close(store);
    snprintf(url, sizeof url, "%s?tls=verify&ca=%s/client.pem", closed->url, certificate_folder);
    not_opened(url, "certificate");
    sql(closed, "CREATE USER strict@'%%' IDENTIFIED BY 'secret' REQUIRE SSL;"
                " GRANT ALL ON firn.* TO strict@'%%';");
    snprintf(url, sizeof url, "mysql://strict:secret@127.0.0.1:%d/firn", url_port(closed->url));
    firn_store_close(open_store("%s", url)); /* TLS is taken where it is offered */
    strcat(url, "?tls=off");
    not_opened(url, "Access denied");
}

/* ---- tables that exist ----------------------------------------------------------------------- */

static firn_segment *range_of(firn_store *store, const char *name, const char *keys) {
    firn_segment *range = NULL;
    firn_error error = {0};
    if (firn_segment_open(&range, name, keys, store, NULL, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return range;
}

static int64_t next_of(firn_segment *range) {
    firn_error error = {0};
    int64_t value = -1;
    if (firn_segment_next(range, &value, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return value;
}

static void no_next(firn_segment *range, int code, const char *what) {
    firn_error error = {0};
    int64_t value = -1;
    assert_int_equal(firn_segment_next(range, &value, &error), code);
    assert_non_null(strstr(error.text, what));
    assert_int_equal(value, -1);
}

static void make_leaf(void) {
    sql(server, "CREATE TABLE leaf_alloc(biz_tag varchar(128) NOT NULL DEFAULT '',"
                " max_id bigint(20) NOT NULL DEFAULT '1', step int(11) NOT NULL,"
                " description varchar(256) DEFAULT NULL,"
                " update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP"
                " ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag)) ENGINE=InnoDB;"
                " INSERT INTO leaf_alloc(biz_tag, max_id, step, description) VALUES"
                " ('order', 1, 10, 'our orders'), ('user', 4611686018427387000, 10, NULL);");
}

/* A server of Leaf's draws its segments, two statements in a transaction each, while we draw ours:
 * each integer goes to one of us, and none is left out. */
static void leaf_is_shared(void **state) {
    static char script[CALLS * 160], taken[100000];
    char path[400];
    firn_store *store = open_store("%s", url_of("unused", "&leaf=leaf_alloc"));
    (void)state;
    for (int i = 0; i < CALLS; i++) {
        strcat(script,
               "BEGIN; UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = 'order';"
               "SELECT max_id, step FROM leaf_alloc WHERE biz_tag = 'order'; COMMIT;\n");
    }
    snprintf(path, sizeof path, "%s/leaf", server->folder);
    session leaf = sql_begin(server, path, script);
    firn_segment *range = range_of(store, "order", "kind=segment step=7 adapt=0");
    int64_t most = 0, last = 0;
    int ours = 0, theirs = 0;
    for (; ours < 3000; ours++) {
        int64_t value = next_of(range);
        assert_true(value > last && value < (int64_t)sizeof taken);
        last = value;
        taken[value]++;
        most = value > most ? value : most;
    }
    sql_end(leaf, "");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    long long end, step;
    while (fscanf(file, "%lld %lld", &end, &step) == 2) {
        for (long long value = end - step; value < end; value++) {
            assert_int_equal(taken[value]++, 0);
        }
        theirs++;
    }
    fclose(file);
    assert_int_equal(theirs, CALLS);
    int64_t next = -1, free = 0;
    assert_int_equal(firn_segment_peek(range, &next, NULL), FIRN_OK);
    for (int64_t value = 1; value < next; value++) {
        assert_true(taken[value] <= 1);
        free += taken[value] == 0;
    }
    assert_true(free < 14); /* what is left of our two blocks */
    assert_int_equal(firn_segment_close(range, NULL), FIRN_OK);
    firn_store_close(store);
}

static void leaf_to_the_end(void **state) {
    firn_store *store = open_store("%s", url_of("unused", "&leaf=leaf_alloc"));
    (void)state;
    firn_segment *range = range_of(store, "user", "kind=serial");
    assert_int_equal(next_of(range), INT64_C(4611686018427387000));
    int64_t first, next;
    assert_int_equal(firn_segment_block(range, 900, &first, NULL), FIRN_OK);
    assert_int_equal(first, INT64_C(4611686018427387001));
    assert_int_equal(firn_segment_advance(range, INT64_C(4611686018427387902), &next, NULL),
                     FIRN_OK);
    assert_int_equal(next_of(range), next);
    no_next(range, FIRN_EEND, "end=");
    firn_segment_close(range, NULL);
    range = range_of(store, "nobody", "");
    no_next(range, FIRN_ESTORE, "no biz_tag nobody");
    firn_segment_close(range, NULL);
    range = range_of(store, "order", "kind=ticket increment=2 offset=1");
    no_next(range, FIRN_ENAMESPACE, "increment=2");
    firn_segment_close(range, NULL);
    not_drawn(store, "snow", 1, FIRN_EUSAGE, "integers");
    firn_store_close(store);
    not_opened(url_of("unused", "&leaf=nowhere"), "no table nowhere");
}

static int keep_lines(void *context, const firn_holding *holding) {
    size_t length = strlen(context);
    snprintf((char *)context + length, 500 - length, "%s %s %s %lld %s\n", holding->ns,
             holding->layout, holding->key, (long long)holding->mark.high, holding->note);
    return 0;
}

static void leaf_is_listed(void **state) {
    firn_store *store = open_store("%s", url_of("unused", "&leaf=leaf_alloc"));
    char text[500] = "", expected[500];
    (void)state;
    assert_int_equal(firn_store_list(store, NULL, keep_lines, text, NULL), FIRN_OK);
    snprintf(expected, sizeof expected,
             "integer order integer 1 %s our orders\ninteger user integer 1 4611686018427387904 \n",
             sql(server, "SELECT max_id FROM leaf_alloc WHERE biz_tag = 'order';"));
    assert_string_equal(text, expected);
    firn_store_close(store);
}

static void lose_reply(void) {
    assert_int_equal(lose_replies(url_port(server->url)), 1);
}

/* A block whose answer was lost is lost: the next one is another. */
static void leaf_loses_a_block(void **state) {
    mishap lose = {NULL, lose_reply, ""};
    firn_store *store = NULL;
    (void)state;
    sql(server = needed("mysql", 1, ""),
        "UPDATE leaf_alloc SET max_id = 1000 WHERE biz_tag = 'order';");
    assert_int_equal(try_open(&store, url_of("unused", "&leaf=leaf_alloc"), &lose, NULL), FIRN_OK);
    firn_segment *range = range_of(store, "order", "kind=serial");
    assert_int_equal(next_of(range), 1000);
    const firn_request request = {"integer order", "integer", "1", 5, 0, 5000, 9, "", 0};
    firn_mark held;
    int64_t first;
    lose.name = "reserve.sent";
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, NULL), FIRN_EUNKNOWN);
    lose.name = NULL;
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, NULL), FIRN_OK);
    assert_int_equal(first, 1006);
    firn_segment_close(range, NULL);
    firn_store_close(store);
}

static void make_tickets(const test_engine *engine) {
    sql(engine, "CREATE TABLE Tickets64(id bigint(20) unsigned NOT NULL AUTO_INCREMENT,"
                " stub char(1) NOT NULL DEFAULT '', PRIMARY KEY (id), UNIQUE KEY stub (stub))"
                " ENGINE=InnoDB;");
}

/* Two servers, one issues odd and one even numbers; when the first is down the other continues. */
static void tickets_of_two_servers(void **state) {
    test_engine *odd = needed("mysql", 3, "--auto-increment-increment=2 --auto-increment-offset=1");
    test_engine *even =
        needed("mysql", 4, "--auto-increment-increment=2 --auto-increment-offset=2");
    (void)state;
    make_tickets(odd);
    make_tickets(even);
    firn_store *store = open_store("mysql://firn@127.0.0.1:%d,127.0.0.1:%d/firn?tickets=Tickets64",
                                   url_port(odd->url), url_port(even->url));
    firn_segment *range = range_of(store, "photos", "kind=serial");
    for (int64_t i = 0; i < 5; i++) {
        assert_int_equal(next_of(range), 2 * i + 1);
    }
    int64_t next;
    assert_int_equal(firn_segment_peek(range, &next, NULL), FIRN_OK);
    assert_int_equal(next, 10); /* or the next one that the server's own step allows */
    assert_true(engine_do(odd, "halt", 0));
    assert_int_equal(next_of(range), 2);
    assert_int_equal(next_of(range), 4);
    int64_t three;
    firn_error why;
    assert_int_equal(firn_segment_block(range, 3, &three, &why), FIRN_ERANGE);
    assert_non_null(strstr(why.text, "one integer at a time, not 3: request one per call"));
    firn_segment_close(range, NULL);
    range = range_of(store, "photos", "kind=segment");
    no_next(range, FIRN_ERANGE, "kind=serial");
    firn_segment_close(range, NULL);
    range = range_of(store, "photos", "kind=serial end=7");
    assert_int_equal(next_of(range), 6);
    no_next(range, FIRN_EEND, "end=7");
    firn_segment_close(range, NULL);
    not_drawn(store, "snow", 1, FIRN_EUSAGE, "integers");
    firn_store_close(store);
}

static void workers_by_row(void **state) {
    (void)state;
    server = needed("mysql", 1, "");
    sql(server, "CREATE TABLE WORKER_NODE(ID BIGINT NOT NULL AUTO_INCREMENT,"
                " HOST_NAME VARCHAR(64) NOT NULL, PORT VARCHAR(64) NOT NULL, TYPE INT NOT NULL,"
                " LAUNCH_DATE DATE NOT NULL, MODIFIED TIMESTAMP NOT NULL, CREATED TIMESTAMP NOT"
                " NULL, PRIMARY KEY(ID)) ENGINE=InnoDB;"
                " INSERT INTO WORKER_NODE VALUES(41, 'java', '1-2', 2, NOW(), NOW(), NOW());");
    char url[500];
    snprintf(url, sizeof url, "%s", url_of("worker", "&worker_node=WORKER_NODE&" UNHURRIED));
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn"};
    const firn_config config = {.size = sizeof config,
                                .scheme = "baidu",
                                .keys = "bits=31/19/13 worker=ticket",
                                .store_url = url,
                                .store_options = &options};
    for (int64_t worker = 42; worker < 44; worker++) {
        firn_gen *gen = NULL;
        firn_id id;
        firn_error error = {0};
        if (firn_open_with(&gen, &config, &error) != FIRN_OK ||
            firn_next(gen, &id, &error) != FIRN_OK) {
            fail_msg("%s", error.text);
        }
        assert_int_equal(firn_close(gen, NULL), FIRN_OK);
    }
    assert_string_equal(
        sql(server, "SELECT GROUP_CONCAT(ID ORDER BY ID), MAX(TYPE) FROM WORKER_NODE;"),
        "41,42,43\t2");
    assert_string_equal(sql(server, "SELECT GROUP_CONCAT(`key` ORDER BY `key`) FROM worker_mark;"),
                        "42,43");
}

static int make_tables(void **state) {
    (void)state;
    server = engine_of("mysql", 1, "");
    if (server != NULL) {
        make_leaf();
    }
    return 0;
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        {"settings that lose commits are refused, or taken with a caution", settings_that_forget,
         NULL, NULL, NULL},
        {"files that are not synced are refused", files_that_forget, NULL, NULL, NULL},
        {"pages that a crash tears are refused", pages_that_are_torn, NULL, NULL, NULL},
        {"a binary log that loses commits is refused", log_that_forgets, NULL, NULL, NULL},
        {"a missing right is named with its cure", rights_that_are_missing, NULL, NULL, NULL},
        {"a trigger on the store's tables is refused", triggers_are_refused, NULL, NULL, NULL},
        {"a password comes from the environment or a file", passwords_from_elsewhere, NULL, NULL,
         NULL},
        {"another engine grants nothing before the guard", another_engine, NULL, NULL, NULL},
        {"tables that were made again show the loss", made_again_unnoticed, NULL, NULL, NULL},
        {"a mark that is raised while a transaction waits for it", changed_inside, NULL, NULL,
         NULL},
        {"a table that was emptied and filled again is noticed", emptied_and_filled, NULL, NULL,
         NULL},
        {"a table that was dumped and loaded is noticed", dumped_and_loaded, NULL, NULL, NULL},
        {"a table whose number is hidden works", numbers_are_hidden, NULL, NULL, NULL},
        {"a session that may not change a whole table", sessions_that_are_careful, NULL, NULL,
         NULL},
        {"a session that begins inside a transaction", sessions_inside_a_transaction, NULL, NULL,
         NULL},
        {"a session that comes to be inside a transaction", session_that_begins_a_transaction, NULL,
         NULL, NULL},
        {"a failover behind a proxy that keeps connections", failover_behind_a_proxy, NULL, NULL,
         NULL},
        {"another session behind a proxy", another_session_behind_a_proxy, NULL, NULL, NULL},
        {"the client library never connects automatically", never_reconnected_automatically, NULL,
         NULL, NULL},
        {"a note that is too long is cut", long_notes, NULL, NULL, NULL},
        {"the server's clock is reported in UTC", clock_of_the_server, NULL, NULL, NULL},
        {"names that look similar are apart", names_that_look_similar, NULL, NULL, NULL},
        {"a server's certificate is verified", certificates_are_verified, NULL, NULL, NULL},
        {"parameters that cannot be are refused", odd_parameters, NULL, NULL, NULL},
        {"leaf_alloc is shared with a server of Leaf's", leaf_is_shared, NULL, NULL, NULL},
        {"leaf_alloc is exact up to its end", leaf_to_the_end, NULL, NULL, NULL},
        {"leaf_alloc is listed", leaf_is_listed, NULL, NULL, NULL},
        {"leaf_alloc loses a block whose answer was lost", leaf_loses_a_block, NULL, NULL, NULL},
        {"two ticket servers replace each other", tickets_of_two_servers, NULL, NULL, NULL},
        {"each start is a row of WORKER_NODE", workers_by_row, NULL, NULL, NULL},
    };
    if (count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
    return cmocka_run_group_tests(tests, make_tables, remove_certificates);
}
