/* SPDX-License-Identifier: MIT */
/* The store on PostgreSQL where it is unlike others: settings that lose commits, rights, sessions
 * that end or hang, standbys, tables that somebody dropped. The verbs as such are
 * store_test.c's. */
#include "proxy.h"
#include "sql.h"

static test_engine *server;

/* A URL of the server with tables of the test's own; lives until the fourth call after this. */
static const char *url_of(const char *table, const char *more) {
    static char urls[4][500];
    static unsigned next;
    char *url = urls[next++ % 4];
    server = needed("postgres", 1, "");
    snprintf(url, sizeof urls[0], "%s?table=%s%s", server->url, table, more);
    return url;
}

/* ---- what may lose marks --------------------------------------------------------------------- */

static void settings_that_forget(void **state) {
    test_engine *loose = needed("postgres", 2, "-c fsync=off -c synchronous_commit=off");
    char url[400];
    (void)state;
    not_opened(loose->url, "fsync=off");
    snprintf(url, sizeof url, "%s?whole_pages=1", loose->url);
    not_opened(url, "fsync=off");
    snprintf(url, sizeof url, "%s?unsafe=1", loose->url);
    firn_store *store = open_store("%s", url);
    assert_non_null(strstr(firn_store_caution(store), "fsync=off"));
    firn_store_close(store);
    store = open_store("%s", url_of("safe", "&unsafe=1"));
    assert_null(firn_store_caution(store)); /* there is nothing to be afraid of */
    firn_store_close(store);
}

/* Pages that a crash leaves half written. */
static void pages_that_are_torn(void **state) {
    test_engine *loose = needed("postgres", 7, "-c full_page_writes=off");
    (void)state;
    not_opened(loose->url, "full_page_writes=off");
    not_opened(loose->url, "whole_pages=1");
    firn_store *store = open_store("%s?whole_pages=1", loose->url);
    assert_null(firn_store_caution(store)); /* ZFS writes whole pages */
    firn_store_close(store);
}

/* A commit acknowledged early is in the server's memory for 10 s. */
static void early_acknowledgement(void **state) {
    test_engine *hasty = needed("postgres", 3, "-c synchronous_commit=off -c wal_writer_delay=10s");
    firn_store *store = open_store("%s", hasty->url);
    (void)state;
    for (int64_t i = 0; i < 3; i++) {
        drawn_at_last(store, "hasty", (uint64_t)i + 1);
        assert_int_equal(mark_of(store, "hasty").high, (i + 1) * 10);
        assert_true(engine_do(hasty, "kill", 0));
        assert_true(engine_do(hasty, "restart", 0));
    }
    firn_store_close(store);
    store = open_store("%s", hasty->url);
    assert_int_equal(mark_of(store, "hasty").high, 30);
    firn_store_close(store);
}

static void tables_that_forget(void **state) {
    const char *url = url_of("loose", "");
    (void)state;
    firn_store_close(open_store("%s", url));
    sql(server, "ALTER TABLE loose_mark SET UNLOGGED;");
    not_opened(url, "UNLOGGED");
}

/* Triggers could change a mark in the statement that grants, or after it. */
static void triggers_are_refused(void **state) {
    static const struct {
        const char *make, *drop, *name;
    } rows[] = {
        {"CREATE TRIGGER audit BEFORE UPDATE ON trig_mark FOR EACH ROW EXECUTE PROCEDURE meddle()",
         "DROP TRIGGER audit ON trig_mark", "trigger audit"},
        {"CREATE TRIGGER audit AFTER INSERT ON trig_namespace EXECUTE PROCEDURE meddle()",
         "DROP TRIGGER audit ON trig_namespace", "trigger audit"},
        {"CREATE RULE audit AS ON UPDATE TO trig_mark DO INSTEAD NOTHING",
         "DROP RULE audit ON trig_mark", "rule audit"},
        {"CREATE RULE audit AS ON INSERT TO trig_mark DO ALSO SELECT 1",
         "DROP RULE audit ON trig_mark", "rule audit"}};
    const char *url = url_of("trig", "");
    firn_store *store = open_store("%s", url);
    (void)state;
    drawn(store, "t", 1, 0, 0);
    firn_store_close(store);
    sql(server, "CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS"
                " 'BEGIN RETURN OLD; END';");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sql(server, "%s;", rows[i].make);
        not_opened(url, rows[i].name);
        store = open_store("%s&unsafe=1", url);
        assert_non_null(strstr(firn_store_caution(store), rows[i].name));
        firn_store_close(store);
        sql(server, "%s;", rows[i].drop);
        store = open_store("%s", url);
        drawn(store, "t", i + 2, 0, (int64_t)(10 * (i + 1)));
        firn_store_close(store);
    }
}

/* The wait for a synchronous standby is given up by somebody: the server then says that it has
 * committed, and warns. */
static void cancel_wait(void) {
    await_sql(server, "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity"
                      " WHERE application_name = 'firn' AND wait_event = 'SyncRep';");
}

/* New sessions have the setting once the server has read it, and the process that informs running
 * ones makes a checkpoint. */
static void require_standby(const char *name) {
    char shown[200];
    sql(server,
        "SET synchronous_commit = local; ALTER SYSTEM SET synchronous_standby_names = '%s';", name);
    sql(server, "SELECT pg_reload_conf();");
    snprintf(shown, sizeof shown,
             "SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names'"
             " AND setting = '%s';",
             name);
    await_sql(server, shown);
    sql(server, "CHECKPOINT;");
}

static void standby_is_missing(void **state) {
    mishap cancel = {"reserve.sent", cancel_wait, ""};
    firn_store *store = NULL;
    firn_error error = {0};
    firn_mark held;
    int64_t first;
    (void)state;
    assert_int_equal(try_open(&store, url_of("standby", ""), &cancel, &error), FIRN_OK);
    cancel.name = NULL;
    drawn(store, "s", 1, 0, 0);
    require_standby("nobody");
    cancel.name = "reserve.sent";
    int code = draw(store, "s", 0, 2, 0, &first, &held, &error);
    require_standby("");
    assert_int_equal(code, FIRN_EUNKNOWN);
    assert_non_null(strstr(error.text, "standby"));
    cancel.name = NULL;
    const firn_request again = {"s", ROW, "1", 10, 10, 10, 2, "", 0};
    assert_int_equal(firn_store_reserve(store, &again, &first, &held, &error), FIRN_EBUSY);
    assert_int_equal(held.grant, 2);
    firn_store_close(store);
}

/* ---- rights ---------------------------------------------------------------------------------- */

static void rights_that_are_missing(void **state) {
    const char *url = url_of("rights", "");
    char other[500];
    (void)state;
    sql(server, "CREATE ROLE clerk LOGIN PASSWORD 'secret'; CREATE DATABASE office;");
    snprintf(other, sizeof other, "postgres://clerk:secret@127.0.0.1:%d/office?table=rights",
             url_port(url));
    not_opened(other, "GRANT CREATE ON SCHEMA public TO clerk");
    test_engine office = *server;
    snprintf(office.url, sizeof office.url, "postgres://firn@127.0.0.1:%d/office", url_port(url));
    sql(&office, "GRANT CREATE ON SCHEMA public TO clerk;");
    firn_store_close(open_store("%s", other));
    sql(&office, "REVOKE CREATE ON SCHEMA public FROM clerk;");
    firn_store *store = open_store("%s", other); /* what is there needs no right to create */
    drawn(store, "r", 1, 0, 0);
    sql(&office, "ALTER TABLE rights_mark OWNER TO firn; GRANT SELECT ON rights_mark TO clerk;");
    not_drawn(store, "r", 2, FIRN_ESTORE, "GRANT SELECT, INSERT, UPDATE");
    firn_store_close(store);
    sql(&office, "ALTER ROLE clerk SET default_transaction_read_only = on;");
    not_opened(other, "read-only");
    snprintf(other, sizeof other, "postgres://nobody:secret@127.0.0.1:%d/postgres", url_port(url));
    not_opened(other, "does not exist");
}

/* ---- who it is ------------------------------------------------------------------------------- */

static void another_engine(void **state) {
    firn_store *store = open_store("%s", url_of("moved", ""));
    (void)state;
    drawn(store, "m", 1, 0, 0);
    sql(server, "UPDATE moved_namespace SET identity = '1/00000001/1';");
    not_drawn(store, "m", 2, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "m", 3, 5000, 5000);
    drawn(store, "m", 4, 0, 5010);
    firn_store_close(store);
}

/* A copy that was read back into the same server has another table under the same name. */
static void tables_from_a_copy(void **state) {
    firn_store *store = open_store("%s", url_of("copied", ""));
    (void)state;
    drawn(store, "c", 1, 0, 0);
    firn_store_close(store);
    sql(server, "ALTER TABLE copied_mark RENAME TO was;"
                " CREATE TABLE copied_mark (LIKE was INCLUDING ALL);"
                " INSERT INTO copied_mark SELECT * FROM was;");
    store = open_store("%s", url_of("copied", ""));
    not_drawn(store, "c", 2, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "c", 3, 5000, 5000);
    firn_store_close(store);
}

/* pg_resetwal drops committed reservations, and nothing in the server shows that: only who has one
 * of them, or an operator who declares the loss. */
static void reset_logs(void **state) {
    static const char reset[] =
        "cd '%s/data/' && rm -f pg/postmaster.pid && program=$(ls -d "
        "/usr/lib/postgresql/*/bin/pg_resetwal | sort -V | tail -n 1) && if [ \"$(id -u)\" = 0 ]; "
        "then"
        " exec setpriv --reuid \"$(id -u nobody)\" --regid \"$(id -g nobody)\" --clear-groups"
        " \"$program\" -f pg; else exec \"$program\" -f pg; fi >/dev/null";
    const firn_relabel loss = {"integer *", "gone back", "gone back", 0};
    int64_t floor;
    (void)state;
    test_engine *engine = needed("postgres", 9, "");
    firn_store *store = open_store("%s", engine->url), *other;
    drawn(store, "r", 1, 0, 0);
    drawn(store, "s", 2, 0, 0);
    sql(engine, "CHECKPOINT;");
    drawn(store, "r", 3, 0, 10);
    assert_true(engine_do(engine, "kill", 0));
    assert_true(run(reset, engine->folder));
    assert_true(engine_do(engine, "restart", 0));
    assert_int_equal(mark_of(store, "r").high, 10); /* the reservation is lost */
    not_drawn(store, "s", 4, FIRN_EBACK, "has changed or lost reservations");
    other = open_store("%s", engine->url);
    not_drawn(other, "r", 5, FIRN_EBACK, "has changed or lost reservations");
    drawn(other, "r", 6, 500, 500);
    assert_int_equal(firn_store_relabel(other, &loss, &floor, NULL), FIRN_OK);
    not_drawn(store, "r", 7, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "r", 8, 1000, 1000);
    firn_store_close(other);
    firn_store_close(store);
}

/* A pool may lend a session that is inside a transaction. */
static void session_that_begins_a_transaction(void **state) {
    static const char begin[] =
        "Q\0\0\0\12BEGIN"; /* a query; the reply is CommandComplete and ReadyForQuery */
    static test_proxy pool;
    firn_error error = {0};
    firn_mark held;
    int64_t first;
    const char *url = url_of("pool", "");
    (void)state;
    assert_true(proxy_start(&pool, url_port(url)));
    pool.insert = begin;
    pool.insert_length = sizeof begin;
    pool.insert_reply = 17;
    firn_store *store = open_store(
        "postgres://firn@127.0.0.1:%d/postgres?table=pool&gssencmode=disable", pool.port);
    drawn(store, "p", 1, 0, 0);
    drawn(store, "p", 2, 0, 10); /* by a statement that is prepared */
    atomic_store(&pool.inserts, true);
    not_drawn(store, "p", 3, FIRN_EUNKNOWN, "in a transaction");
    assert_false(atomic_load(&pool.inserts));
    assert_int_equal(draw(store, "p", 0, 3, 0, &first, &held, &error), FIRN_OK);
    assert_int_equal(first, 20);
    firn_store_close(store);
    proxy_stop(&pool);
    store = open_store("%s", url);
    drawn(store, "p", 4, 0, 30);
    firn_store_close(store);
}

/* The same under a running session, for which the server plans again silently. */
static void a_copy_made_unnoticed(void **state) {
    firn_store *store = open_store("%s", url_of("swapped", ""));
    (void)state;
    drawn(store, "s", 1, 0, 0);
    drawn(store, "other", 2, 0, 0);
    sql(server, "BEGIN; ALTER TABLE swapped_mark RENAME TO gone;"
                " CREATE TABLE swapped_mark (LIKE gone INCLUDING ALL); DROP TABLE gone; COMMIT;");
    not_drawn(store, "s", 3, FIRN_ESTORE, "made again");
    not_drawn(store, "s", 4, FIRN_ESTORE, "made again");
    assert_string_equal(sql(server, "SELECT count(*) FROM swapped_mark;"), "0");
    firn_store_close(store);
}

/* With any role or setting: a restore of the data alone sets session_replication_role too. */
static void never_emptied(void **state) {
    static const char *const statements[] = {"TRUNCATE full_mark", "TRUNCATE full_namespace",
                                             "DELETE FROM full_mark",
                                             "DELETE FROM full_namespace WHERE name = 'f'"};
    firn_store *store = open_store("%s", url_of("full", ""));
    (void)state;
    drawn(store, "f", 1, 0, 0);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        sql(server,
            "SET session_replication_role = replica;"
            " DO $$BEGIN %s; RAISE 'emptied';"
            " EXCEPTION WHEN raise_exception THEN"
            " IF SQLERRM NOT LIKE 'full_%% holds what firn has reserved%%' THEN RAISE; END IF;"
            " END$$;",
            statements[i]);
    }
    drawn(store, "f", 2, 0, 10);
    sql(server, "ALTER TABLE full_mark DISABLE TRIGGER full_keep;");
    firn_store_close(store);
    store = open_store("%s", url_of("full", "")); /* creates it again */
    drawn(store, "f", 3, 0, 20);
    firn_store_close(store);
    assert_string_equal(sql(server, "SELECT string_agg(tgenabled::text, '') FROM pg_trigger"
                                    " WHERE tgname = 'full_keep';"),
                        "AA");
}

/* A table is the same to VACUUM FULL, and another one after a dump of its schema. */
static void rewritten_and_reloaded(void **state) {
    firn_store *store = open_store("%s", url_of("dump", ""));
    (void)state;
    drawn(store, "d", 1, 0, 0);
    sql(server, "VACUUM FULL dump_mark;");
    sql(server, "CLUSTER dump_mark USING dump_mark_pkey;");
    drawn(store, "d", 2, 0, 10);
    firn_store_close(store);
    store = open_store("%s", url_of("dump", ""));
    drawn(store, "d", 3, 0, 20);
    firn_store_close(store);
    char copy[400];
    snprintf(copy, sizeof copy, "%s/copy.sql", server->folder);
    assert_true(run("pg_dump -h 127.0.0.1 -p %d -U firn -t 'dump_*' -f '%s' postgres",
                    url_port(server->url), copy));
    store = open_store("%s", url_of("dump", ""));
    drawn(store, "d", 4, 0, 30);
    firn_store_close(store);
    sql(server, "DROP TABLE dump_mark, dump_namespace;");
    assert_true(run("psql -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -p %d -U firn -f '%s' postgres >&2",
                    url_port(server->url), copy));
    store = open_store("%s", url_of("dump", ""));
    not_drawn(store, "d", 5, FIRN_EBACK, "has changed or lost reservations");
    not_drawn(store, "integer late", 6, FIRN_EBACK, "has changed or lost reservations");
    drawn(store, "d", 7, 5000, 5000);
    firn_store_close(store);
}

/* A pooler before the server, in one of its modes. Its files are with the engine's data, which its
 * user can read. */
static bool begin_pooler(const char *mode, int port) {
    return run("cd '%s/data/' && rm -f %s.log &&"
               " printf '%%s\n' '[databases]' 'postgres = host=127.0.0.1 port=%d user=firn'"
               " '[pgbouncer]' 'listen_port = %d' 'listen_addr = 127.0.0.1' 'auth_type = any'"
               " 'pool_mode = %s' 'unix_socket_dir =' \"pidfile = $PWD/%s.pid\""
               " \"logfile = $PWD/%s.log\" >%s.ini &&"
               " chmod 644 %s.ini && user= && if [ \"$(id -u)\" = 0 ]; then user='-u nobody'; fi &&"
               " { timeout %d pgbouncer -q $user %s.ini >/dev/null 2>&1 </dev/null & } &&"
               " for i in $(seq %d); do grep -q 'listening on 127.0.0.1:%d' %s.log && exit 0;"
               " sleep 0.1; done 2>/dev/null; cat %s.log >&2; exit 1",
               server->folder, mode, url_port(server->url), port, mode, mode, mode, mode, mode,
               8 * PATIENCE_S, mode, 10 * PATIENCE_S, port, mode, mode);
}

static void end_pooler(const char *mode) {
    assert_true(run("kill $(cat '%s/data/%s.pid')", server->folder, mode));
}

static void poolers(void **state) {
    static const char *const modes[] = {"transaction", "statement", "session"};
    const char *strict = getenv("CI");
    char url[200];
    (void)state;
    url_of("pooled", "");
    if (!run("command -v pgbouncer >/dev/null")) {
        assert_true(strict == NULL || strcmp(strict, "true") != 0);
        skip();
    }
    for (size_t i = 0; i < 3; i++) {
        int port = engine_spare_port(server, 1 + (int)i);
        assert_true(begin_pooler(modes[i], port));
        snprintf(url, sizeof url, "postgres://firn@127.0.0.1:%d/postgres?table=pooled", port);
        if (i < 2) {
            not_opened(url, "pool_mode=session");
        } else {
            firn_store *store = open_store("%s", url);
            drawn(store, "p", 1, 0, 0);
            firn_store_close(store);
        }
        end_pooler(modes[i]);
    }
}

/* The copy of a database has the same numbers of tables. */
static void copied_databases(void **state) {
    char url[200];
    (void)state;
    sql(server, "CREATE DATABASE original;");
    snprintf(url, sizeof url, "postgres://firn@127.0.0.1:%d/original", url_port(server->url));
    firn_store *store = open_store("%s", url);
    drawn(store, "c", 1, 0, 0);
    firn_store_close(store);
    sql(server, "CREATE DATABASE twin TEMPLATE original;");
    snprintf(url, sizeof url, "postgres://firn@127.0.0.1:%d/twin", url_port(server->url));
    store = open_store("%s", url);
    not_drawn(store, "c", 2, FIRN_EBACK, "has changed or lost reservations");
    firn_store_close(store);
}

/* ---- sessions that end ----------------------------------------------------------------------- */

static void end_sessions(void) {
    sql(server, "SELECT count(pg_terminate_backend(pid, 30000)) FROM pg_stat_activity"
                " WHERE application_name = 'firn';");
}

/* A give back that has noticed a loss comes too late, since somebody raises its mark just then: it
 * is refused, and the loss that this handle alone knew of is in the store. */
static void loss_beside_a_refusal(void **state) {
    const firn_mark mine = {10, 1};
    firn_store *store = open_store("%s", url_of("doubt", ""));
    firn_time now;
    (void)state;
    drawn(store, "x", 1, 0, 0);
    drawn(store, "y", 2, 0, 0);
    sql(server, "UPDATE doubt_mark SET high = 5 WHERE ns = 'y';");
    end_sessions();
    assert_int_equal(firn_store_now(store, &now, NULL), FIRN_OK); /* connects, and sees it */
    session other =
        sql_begin(server, "/dev/null",
                  "BEGIN; UPDATE doubt_mark SET high = 30, \"grant\" = 9 WHERE ns = 'x';\n"
                  "DO $$BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"
                  " LOOP PERFORM pg_sleep(0.002); END LOOP; END$$;\n"
                  "COMMIT;\n");
    await_sql(server,
              "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO $$BEGIN WHILE%';");
    assert_int_equal(firn_store_give_back(store, "x", "1", &mine, 5, NULL), FIRN_EBUSY);
    sql_end(other, "");
    assert_string_equal(sql(server, "SELECT identity FROM doubt_namespace WHERE name = '';"),
                        "gone back");
    assert_int_equal(mark_of(store, "x").high, 30);
    not_drawn(store, "y", 3, FIRN_EBACK, "has changed or lost reservations");
    firn_store_close(store);
}

/* A copy of the process gives back what both remember, and the connection is made again. */
static void given_back_by_a_copy(void **state) {
    const firn_mark mine = {10, 1};
    firn_store *store = open_store("%s", url_of("given", ""));
    firn_store *copy = open_store("%s", url_of("given", ""));
    firn_time now;
    (void)state;
    drawn(store, "c", 1, 0, 0);
    firn_renew_identity();
    assert_int_equal(firn_store_give_back(copy, "c", "1", &mine, 3, NULL), FIRN_OK);
    end_sessions();
    assert_int_equal(firn_store_now(store, &now, NULL), FIRN_OK); /* connects */
    drawn(store, "c", 2, 0, 3);
    firn_store_close(store);
    firn_store_close(copy);
}

/* Something that lets everybody in, and then answers each question with these bytes. */
static pid_t serve_bytes(int *port, const char *bytes, size_t length) {
    static const char welcome[] = "R\0\0\0\10\0\0\0\0S\0\0\0\30server_version\00015.2\0"
                                  "Z\0\0\0\5I";
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    char text[8192];
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listening, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(4 * PATIENCE_S);
        int client = accept(listening, NULL, NULL);
        ssize_t ssize =
            read(client, text, sizeof text) > 0 ? write(client, welcome, sizeof welcome - 1) : -1;
        while (ssize > 0 && read(client, text, sizeof text) > 0) {
            ssize = write(client, bytes, length);
        }
        _exit(0);
    }
    close(listening);
    return child;
}

static void no_server_at_all(void **state) {
    static const struct {
        const char *bytes;
        size_t length;
    } answers[] = {{"H\0\0\0\7\0\0\0", 8}, {"C\0\0\0\15SELECT 0\0Z\0\0\0\5I", 20}};
    char url[200];
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        int port, status;
        pid_t child = serve_bytes(&port, answers[i].bytes, answers[i].length);
        snprintf(url, sizeof url, "postgres://u:secret@127.0.0.1:%d/d?tls=off&timeout=600ms", port);
        not_opened(url, "store postgres");
        assert_int_equal(waitpid(child, &status, 0), child);
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void odd_notes(void **state) {
    firn_store *store = open_store("%s", url_of("notes", ""));
    const firn_request request = {
        "n", ROW, "1", 1, 0, 0, 1, "ok \xc3\xa4 \xf0\x9f\x90\x8e \xff\xc3", 0};
    firn_mark held;
    int64_t first;
    (void)state;
    assert_int_equal(firn_store_reserve(store, &request, &first, &held, NULL), FIRN_OK);
    assert_string_equal(sql(server, "SELECT note FROM notes_mark;"),
                        "ok \xc3\xa4 \xf0\x9f\x90\x8e ??");
    not_drawn(store, "\xff", 2, FIRN_ESTORE, "UTF-8");
    firn_store_close(store);
}

static void odd_parameters(void **state) {
    (void)state;
    not_opened(url_of("1st", ""), "table=1st");
    not_opened(url_of("odd", "&tls=perhaps"), "tls=perhaps");
    not_opened("postgres://clerk:1/secret@127.0.0.1/postgres", "has an @ after");
    not_opened(url_of("odd", "&sslmode=perhaps"), "sslmode");
    not_opened(url_of("odd", "&tls=require"), "SSL");
}

/* ---- nodes of the extension ------------------------------------------------------------------ */

static void show_taken(int bytes) {
    sql(server,
        "DO $$ BEGIN EXECUTE format('ALTER ROLE CURRENT_USER SET firn.taken = %%L',"
        " rpad('3;;', %d, ' ')); END $$;",
        bytes);
}

/* As with many values of firn.node; sessions have a setting of the name from the role. */
static void long_lists_of_nodes(void **state) {
    (void)state;
    const char *url = url_of("taken", "");
    show_taken(2046);
    firn_store *store = open_store("%s", url);
    drawn(store, "s", 1, 0, 0);
    drawn(store, "s", 2, 0, 10);
    firn_store_close(store);
    show_taken(2047);
    store = open_store("%s", url);
    not_drawn(store, "s", 3, FIRN_ESTORE, "firn.taken");
    firn_store_close(store);
}

/* Also a tick of a node: the node of back-dated IDs may be the extension's now. */
static void nodes_of_the_extension(void **state) {
    static const char *const keys[] = {"3", "3@17", "4", "4@17"};
    (void)state;
    show_taken(10);
    firn_store *store = open_store("%s", url_of("extension", ""));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const firn_request request = {.ns = "e",
                                      .layout = "0x0:1 time:41/ms node:10 sequence:12",
                                      .key = keys[i],
                                      .count = 1,
                                      .latest = 9,
                                      .grant = i + 1};
        firn_error error = {0};
        firn_mark held = {0, 0};
        int64_t first = -1;
        const int code = firn_store_reserve(store, &request, &first, &held, &error);
        assert_int_equal(code, i < 2 ? FIRN_EBUSY : FIRN_OK);
        if (i < 2) {
            assert_int_equal(held.high, FIRN_SLOT_MAX);
            assert_non_null(strstr(error.text, "is in firn.node"));
        }
    }
    firn_store_close(store);
}

static int hide_taken(void **state) {
    (void)state;
    sql(server, "ALTER ROLE CURRENT_USER RESET firn.taken;");
    return 0;
}

/* ---- TLS ------------------------------------------------------------------------------------- */

static void certificates_are_verified(void **state) {
    make_own_certificates();
    char options[800];
    snprintf(options, sizeof options,
             "-c ssl=on -c ssl_cert_file=%s/server.pem -c ssl_key_file=%s/own.key",
             certificate_folder, certificate_folder);
    char url[800];
    (void)state;
    test_engine *closed = needed("postgres", 4, options);
    snprintf(url, sizeof url, "%s?tls=verify&ca=%s/ca.pem", closed->url, certificate_folder);
    firn_store *store = open_store("%s", url);
    drawn(store, "t", 1, 0, 0);
    assert_string_equal(sql(closed, "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a"
                                    " USING (pid) WHERE ssl AND application_name = 'firn';"),
                        "1");
    firn_store_close(store);
    snprintf(url, sizeof url, "%s?tls=verify&ca=%s/client.pem", closed->url, certificate_folder);
    not_opened(url, "certificate");
    snprintf(url, sizeof url, "%s?sslmode=verify-ca&sslrootcert=%s/ca.pem", closed->url,
             certificate_folder);
    firn_store_close(open_store("%s", url));
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        {"pages that a crash tears are refused", pages_that_are_torn, NULL, NULL, NULL},
        {"settings that lose commits are refused, or taken with a caution", settings_that_forget,
         NULL, NULL, NULL},
        {"a server that acknowledges early is made to wait", early_acknowledgement, NULL, NULL,
         NULL},
        {"a trigger or rule on the store's tables is refused", triggers_are_refused, NULL, NULL,
         NULL},
        {"a table that is emptied by a crash is refused", tables_that_forget, NULL, NULL, NULL},
        {"a commit that its standby did not confirm is unknown", standby_is_missing, NULL, NULL,
         NULL},
        {"a node of the extension is refused, and its ticks", nodes_of_the_extension, NULL,
         hide_taken, NULL},
        {"long lists of the extension's nodes are read whole, or refused", long_lists_of_nodes,
         NULL, hide_taken, NULL},
        {"a missing right is named with its cure", rights_that_are_missing, NULL, NULL, NULL},
        {"another engine grants nothing before the guard", another_engine, NULL, NULL, NULL},
        {"tables from a copy are another engine", tables_from_a_copy, NULL, NULL, NULL},
        {"tables from a copy are noticed while connected", a_copy_made_unnoticed, NULL, NULL, NULL},
        {"the tables cannot be emptied", never_emptied, NULL, NULL, NULL},
        {"a rewritten table is the same, a reloaded one is not", rewritten_and_reloaded, NULL, NULL,
         NULL},
        {"a copied database is another engine", copied_databases, NULL, NULL, NULL},
        {"a pooler that shares sessions is refused when it is opened", poolers, NULL, NULL, NULL},
        {"reservations that pg_resetwal dropped", reset_logs, NULL, NULL, NULL},
        {"a session that comes to be inside a transaction", session_that_begins_a_transaction, NULL,
         NULL, NULL},
        {"a loss is recorded although the verb is refused", loss_beside_a_refusal, NULL, NULL,
         NULL},
        {"what a copy of the process gives back is no loss", given_back_by_a_copy, NULL, NULL,
         NULL},
        {"something that is no such server neither hangs nor crashes us", no_server_at_all, NULL,
         NULL, NULL},
        {"a note with odd bytes fails nothing", odd_notes, NULL, NULL, NULL},
        {"a server's certificate is verified", certificates_are_verified, NULL, NULL, NULL},
        {"parameters that cannot be are refused", odd_parameters, NULL, NULL, NULL},
    };
    if (count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
    return cmocka_run_group_tests(tests, NULL, remove_certificates);
}
