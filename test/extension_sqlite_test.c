/* SPDX-License-Identifier: MIT */
/* The SQLite extension, linked: processes and threads at once, forks, kill -9 and restart, every
 * function with every type of value, and no leaks. Its answers are tested in
 * extension_sqlite.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <firn_sqlite.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"

enum { PROCESSES = 8, EACH = 150000, THREADS = 4, CRASHES = 3, SECONDS_MOST = 120 };

/* ---- connections ----------------------------------------------------------------------------- */

static sqlite3 *connect(const char *file) {
    sqlite3 *db = NULL;
    assert_int_equal(SQLITE_OK, sqlite3_open(file, &db));
    assert_int_equal(SQLITE_OK, firn_sqlite_init(db, NULL, NULL));
    sqlite3_busy_timeout(db, SECONDS_MOST * 1000);
    return db;
}

static void run(sqlite3 *db, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s: %s", sql, message);
    }
}

/* The first value of the first row, or the error; for sqlite3_free. */
static char *ask(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
    }
    char *out = code == SQLITE_ROW
                    ? sqlite3_mprintf("%s", (const char *)sqlite3_column_text(statement, 0))
                    : sqlite3_mprintf("%s", sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    return out;
}

static int64_t number(sqlite3 *db, const char *sql) {
    char *text = ask(db, sql), *end;
    int64_t value = strtoll(text, &end, 10);
    if (*end != '\0' || end == text) {
        fail_msg("%s: %s", sql, text);
    }
    sqlite3_free(text);
    return value;
}

/* ---- duplicates ------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b) {
    int64_t left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

static size_t twice(int64_t *ids, size_t count) {
    size_t found = 0;
    qsort(ids, count, sizeof *ids, by_value);
    for (size_t i = 1; i < count; i++) {
        found += ids[i] == ids[i - 1];
    }
    return found;
}

/* Room that children write into. */
static int64_t *share(size_t count) {
    int64_t *room =
        mmap(NULL, count * sizeof *room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(MAP_FAILED, room);
    return room;
}

/* Each step inserts one row, as a column default would ask. */
static size_t take(sqlite3 *db, int64_t *ids, size_t count) {
    sqlite3_stmt *statement = NULL;
    size_t taken = 0;
    sqlite3_prepare_v2(db,
                       "WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < ?)"
                       " SELECT snowflake() FROM g",
                       -1, &statement, NULL);
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)count);
    while (taken < count && sqlite3_step(statement) == SQLITE_ROW) {
        ids[taken++] = sqlite3_column_int64(statement, 0);
    }
    if (taken < count) {
        fprintf(stderr, "# only %zu IDs: %s\n", taken, sqlite3_errmsg(db));
    }
    sqlite3_finalize(statement);
    return taken;
}

static void none_twice_then_a_planted_one(int64_t *ids, size_t count) {
    assert_int_equal(0, twice(ids, count));
    ids[count / 2] = ids[0];
    assert_int_equal(1, twice(ids, count));
}

/* Ends well, within bounds. */
static void wait_for(pid_t child) {
    int status = -1;
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_true(WIFEXITED(status));
    assert_int_equal(0, WEXITSTATUS(status));
}

static void processes_at_once_repeat_no_id(void **state) {
    int64_t *ids = share(PROCESSES * EACH);
    pid_t children[PROCESSES];
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            alarm(SECONDS_MOST);
            sqlite3 *db = connect(":memory:");
            size_t taken = take(db, ids + (size_t)i * EACH, EACH);
            sqlite3_close(db);
            _exit(taken == EACH ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        wait_for(children[i]);
    }
    none_twice_then_a_planted_one(ids, PROCESSES * EACH);
    munmap(ids, PROCESSES * EACH * sizeof *ids);
}

static int in_a_thread(void *context) {
    sqlite3 *db = connect(":memory:");
    size_t taken = take(db, context, EACH);
    sqlite3_close(db);
    return taken == EACH;
}

static void threads_at_once_repeat_no_id(void **state) {
    int64_t *ids = share(THREADS * EACH);
    thrd_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(thrd_success, thrd_create(&threads[i], in_a_thread, ids + i * EACH));
    }
    for (int i = 0; i < THREADS; i++) {
        int fine = 0;
        thrd_join(threads[i], &fine);
        assert_true(fine);
    }
    none_twice_then_a_planted_one(ids, THREADS * EACH);
    munmap(ids, THREADS * EACH * sizeof *ids);
}

/* ---- forks and crashes ----------------------------------------------------------------------- */

/* SQLite does not support a handle across a fork; a handle that is used anyway makes no ID
 * twice. */
static void a_child_takes_a_node_of_its_own(void **state) {
    enum { MANY = 1000 };
    int64_t *ids = share(4 * MANY);
    sqlite3 *db = connect(":memory:");
    (void)state;
    assert_int_equal(MANY, take(db, ids, MANY));
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_MOST);
        sqlite3 *own = connect(":memory:");
        bool taken = take(db, ids + MANY, MANY) == MANY && take(own, ids + 2 * MANY, MANY) == MANY;
        _exit(taken ? 0 : 1);
    }
    wait_for(child);
    assert_int_equal(MANY, take(db, ids + 3 * MANY, MANY));
    none_twice_then_a_planted_one(ids, 4 * MANY);
    sqlite3_close(db);
    munmap(ids, 4 * MANY * sizeof *ids);
}

static void a_child_does_not_continue_with_its_parents_job(void **state) {
    sqlite3 *db = connect(":memory:");
    (void)state;
    run(db, "SELECT firn_stamp('snowflake', '2020-01-01')");
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_MOST);
        char *why = ask(db, "SELECT firn_stamp('snowflake', '2020-01-01')");
        _exit(strstr(why, "parent of this process") != NULL ? 0 : 1);
    }
    wait_for(child);
    sqlite3_close(db);
}

/* Inserts until it is killed; `begun` is set after the first. */
static void insert_for_ever(const char *file, int64_t *begun) {
    alarm(SECONDS_MOST);
    sqlite3 *db = connect(file);
    run(db, "SELECT firn_config('node', 7)");
    while (sqlite3_exec(db, "INSERT INTO t(n) SELECT 1 FROM firn_ids('uuid4', 100)", NULL, NULL,
                        NULL) == SQLITE_OK) {
        (*begun)++;
    }
    _exit(1);
}

static void killed_under_load_and_started_again_it_repeats_no_id(void **state) {
    char file[300];
    int64_t *begun = share(1);
    (void)state;
    snprintf(file, sizeof file, "%s/crash.db", folder);
    sqlite3 *db = connect(file);
    run(db, "CREATE TABLE t(id INTEGER PRIMARY KEY DEFAULT (snowflake()), n) WITHOUT ROWID");
    sqlite3_close(db);
    for (int i = 0; i < CRASHES; i++) {
        *begun = 0;
        pid_t child = fork();
        if (child == 0) {
            insert_for_ever(file, begun);
        }
        for (int wait = 0; wait < SECONDS_MOST * 100 && *(volatile int64_t *)begun < 5; wait++) {
            nanosleep(&(struct timespec){0, 10000000}, NULL);
        }
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status)); /* not ended by a key that was there */
        assert_true(*begun >= 5);
    }
    db = connect(file);
    assert_true(number(db, "SELECT count(*) FROM t") >= CRASHES * 500);
    assert_int_equal(number(db, "SELECT count(*) FROM t"),
                     number(db, "SELECT count(DISTINCT id) FROM t"));
    assert_int_equal(SQLITE_CONSTRAINT,
                     sqlite3_exec(db, "INSERT INTO t SELECT * FROM t LIMIT 1", 0, 0, 0));
    sqlite3_close(db);
    munmap(begun, sizeof *begun);
}

/* ---- every function, every value ------------------------------------------------------------- */

static const char *const values[] = {
    "NULL",
    "0",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "1.5",
    "1e308",
    "''",
    "'snowflake'",
    "'uuid7'",
    "'2024-01-01'",
    "'time=2024-01-01'",
    "'a=b c'",
    "x''",
    "x'00'",
    "zeroblob(16)",
    "zeroblob(20)",
    "uuid7()",
    "zeroblob(100000)",
    "printf('%.100000c', 'x')",
    "cast(x'ff00fe' AS TEXT)",
    "char(0x10ffff, 0, 10)",
};
enum { VALUES = sizeof values / sizeof values[0] };

/* An answer or an error; the sanitizers check the rest. */
static size_t call(sqlite3 *db, const char *name, int arguments, size_t which) {
    char sql[400];
    size_t length = (size_t)snprintf(sql, sizeof sql, "SELECT %s(", name);
    for (int i = 0; i < arguments; i++, which /= VALUES) {
        length += (size_t)snprintf(sql + length, sizeof sql - length, "%s%s", i > 0 ? ", " : "",
                                   values[which % VALUES]);
    }
    snprintf(sql + length, sizeof sql - length, ")");
    char *answer = ask(db, sql);
    assert_non_null(answer);
    bool plain = true;
    if (sqlite3_errcode(db) == SQLITE_ERROR) {
        assert_true(strlen(answer) <= 200);
        for (const char *c = answer; *c != '\0'; c++) {
            plain = plain && (unsigned char)*c >= ' ';
        }
    }
    assert_true(plain);
    sqlite3_free(answer);
    return 1;
}

static void every_function_answers_or_refuses_every_value(void **state) {
    sqlite3 *db = connect(":memory:");
    sqlite3_stmt *list = NULL;
    size_t calls = 0;
    (void)state;
    sqlite3_prepare_v2(
        db,
        "SELECT DISTINCT name, narg FROM pragma_function_list WHERE narg > 0 AND"
        " (name LIKE 'firn%' OR name LIKE '%uuid%' OR name IN ('snowflake', 'typeid',"
        " 'ulid_blob', 'time_random')) AND name <> 'firn_config'",
        -1, &list, NULL);
    while (sqlite3_step(list) == SQLITE_ROW) {
        int arguments = sqlite3_column_int(list, 1);
        size_t all = arguments == 1 ? VALUES : VALUES * VALUES;
        for (size_t which = 0; which < all; which++) { /* a third and fourth follow the first two */
            calls += call(db, (const char *)sqlite3_column_text(list, 0), arguments,
                          which + which * 7 * VALUES * VALUES);
        }
    }
    sqlite3_finalize(list);
    assert_true(calls > 5000);
    sqlite3_close(db);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void it_may_be_added_twice_and_closed_late(void **state) {
    sqlite3 *db = connect(":memory:");
    sqlite3_stmt *statement = NULL;
    (void)state;
    run(db, "SELECT snowflake(), firn_stamp('uuid7', 0)");
    assert_int_equal(SQLITE_OK, firn_sqlite_init(db, NULL, NULL));
    run(db, "SELECT snowflake(), typeid('a'), firn_notices()");
    sqlite3_prepare_v2(db, "SELECT id FROM firn_ids('snowflake', 1000)", -1, &statement, NULL);
    assert_int_equal(SQLITE_ROW, sqlite3_step(statement));
    assert_int_equal(SQLITE_OK, sqlite3_close_v2(db));
    assert_int_equal(SQLITE_ROW, sqlite3_step(statement)); /* a connection that waits for it */
    assert_int_equal(SQLITE_OK, sqlite3_finalize(statement));
}

static void what_firn_config_closes_is_not_used_any_more(void **state) {
    sqlite3 *db = connect(":memory:");
    sqlite3_stmt *statement = NULL;
    (void)state;
    sqlite3_prepare_v2(db, "SELECT snowflake() FROM firn_ids('snowflake', 1000)", -1, &statement,
                       NULL);
    assert_int_equal(SQLITE_ROW, sqlite3_step(statement));
    run(db, "SELECT firn_config('node', '3')");
    int code = SQLITE_ROW;
    for (int i = 0; i < 1000 && code == SQLITE_ROW; i++) {
        code = sqlite3_step(statement);
    }
    assert_int_equal(SQLITE_ERROR, code);
    sqlite3_finalize(statement);
    assert_int_equal(3, number(db, "SELECT firn_show(snowflake(), 'snowflake') ->> "
                                   "'$.fields.worker'"));
    sqlite3_close(db);
}

static int set_up_store(void **state) {
    if (set_up(state) != 0) {
        return 1;
    }
    strcat(url, "?unsafe=1&busy=100s"); /* wherever the folder is, on a slow disk */
    return setenv("FIRN_STORE", url, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_at_once_repeat_no_id),
        cmocka_unit_test(threads_at_once_repeat_no_id),
        cmocka_unit_test(a_child_takes_a_node_of_its_own),
        cmocka_unit_test(a_child_does_not_continue_with_its_parents_job),
        cmocka_unit_test(killed_under_load_and_started_again_it_repeats_no_id),
        cmocka_unit_test(every_function_answers_or_refuses_every_value),
        cmocka_unit_test(it_may_be_added_twice_and_closed_late),
        cmocka_unit_test(what_firn_config_closes_is_not_used_any_more),
    };
    return cmocka_run_group_tests(tests, set_up_store, tear_down);
}
