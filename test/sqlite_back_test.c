/* SPDX-License-Identifier: MIT */
/* An embedded store that lost reservations: which handles notice it, and what is not a sign of
 * it. */
#include "embedded.h"

#include <grp.h>
#include <sys/mman.h>
#include <sys/random.h>

#define GUARD 100000 /* a slot later than all that was granted */

/* ---- ways to put an older copy in place ------------------------------------------------------ */

static struct {
    void *(*init)(sqlite3 *, const char *, sqlite3 *, const char *);
    int (*step)(void *, int);
    int (*finish)(void *);
} backup;

static bool load_backup(void) {
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW);
    void *const symbols[] = {dlsym(library, "sqlite3_backup_init"),
                             dlsym(library, "sqlite3_backup_step"),
                             dlsym(library, "sqlite3_backup_finish")};
    memcpy(&backup.init, &symbols[0], sizeof symbols[0]);
    memcpy(&backup.step, &symbols[1], sizeof symbols[1]);
    memcpy(&backup.finish, &symbols[2], sizeof symbols[2]);
    return backup.init != NULL && backup.step != NULL && backup.finish != NULL;
}

/* As .backup and .restore of the sqlite3 command. */
static void back_up(const char *from, const char *to) {
    sqlite3 *source, *target;
    assert_int_equal(lite.open_v2(in_folder(from), &source, SQLITE_OPEN_READWRITE, NULL), 0);
    assert_int_equal(
        lite.open_v2(in_folder(to), &target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), 0);
    void *self = backup.init(target, "main", source, "main");
    assert_non_null(self);
    assert_int_equal(backup.step(self, -1), SQLITE_DONE);
    assert_int_equal(backup.finish(self), SQLITE_OK);
    assert_int_equal(lite.close(source), SQLITE_OK);
    assert_int_equal(lite.close(target), SQLITE_OK);
}

static void run(const char *format, ...) {
    char words[600], command[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    snprintf(command, sizeof command, "cd '%s' && %s", folder, words);
    assert_int_equal(system(command), 0);
}

static void restore_by_sqlite(void) {
    back_up("old.db", "firn.db");
}

static void copy_over(void) {
    run("cp old.db firn.db");
}

static void copy_over_and_remove_log(void) {
    run("cp old.db firn.db && rm -f firn.db-wal firn.db-shm");
}

static void move_over(void) {
    run("cp old.db new.db && mv new.db firn.db");
}

static void move_over_and_remove_log(void) {
    run("rm -f firn.db-wal firn.db-shm && cp old.db new.db && mv new.db firn.db");
}

static const struct way {
    const char *name;
    void (*restore)(void);
    bool in_place; /* a handle sees the same file still */
} ways[] = {
    {".restore", restore_by_sqlite, true},
    {"cp, the log stays", copy_over, true},
    {"cp, the log removed", copy_over_and_remove_log, true},
    {"mv, the log stays", move_over, false},
    {"mv, the log removed", move_over_and_remove_log, false},
};

#define WAYS (sizeof ways / sizeof ways[0])

/* ---- verbs ----------------------------------------------------------------------------------- */

/* The next 10 slots of a namespace's key 1. */
static int ask(firn_store *store, const char *ns, int64_t guard, int64_t *first,
               firn_error *error) {
    static uint64_t grant = 1000;
    const firn_request request = {ns, ROW, "1", 10, 0, FIRN_SLOT_MAX - 10, ++grant, "test", guard};
    firn_mark held = {0, 0};
    return firn_store_reserve(store, &request, first, &held, error);
}

static void query_answer(firn_store *store, const char *ns, int64_t guard, int64_t expected) {
    firn_error error = {0};
    int64_t first = -1;
    if (ask(store, ns, guard, &first, &error) != FIRN_OK) {
        fail_msg("%s: %s", ns, error.text);
    }
    if (first != expected) {
        fail_msg("%s: first is %lld instead of %lld", ns, (long long)first, (long long)expected);
    }
}

static void denied(firn_store *store, const char *ns, const char *what) {
    firn_error error = {0};
    int64_t first = -1;
    if (ask(store, ns, 0, &first, &error) == FIRN_OK) {
        fail_msg("%s was granted %lld", ns, (long long)first);
    }
    says(&error, FIRN_EBACK, what);
}

/* A store with three namespaces, an older copy of it in old.db, and grants since then: enough that
 * the log was emptied in between, or (`few`) that it was not. */
static firn_store *store_and_copy(bool few) {
    firn_store *store = open_store("firn.db");
    query_answer(store, "snow", 0, 0);
    query_answer(store, "integer orders", 0, 0);
    query_answer(store, "integer quiet", 0, 0);
    unlink(in_folder("old.db"));
    back_up("firn.db", "old.db");
    for (int i = 1; i < (few ? 3 : 60); i++) {
        query_answer(store, "snow", 0, 10 * i);
        query_answer(store, "integer orders", 0, 10 * i);
        query_answer(store, "integer later", 0, 10 * (i - 1)); /* the copy has never heard of it */
    }
    return store;
}

static void fresh_folder(void) {
    assert_int_equal(tear_down(NULL), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
}

/* Integers of any name wait for somebody who says from where on, everything else for its guard. */
static void known_to_all(firn_store *store) {
    denied(store, "integer orders", "advance the segment above every number");
    denied(store, "integer quiet", "advance the segment above every number");
    denied(store, "integer later", "advance the segment above every number");
    denied(store, "integer never seen", "advance the segment above every number");
    query_answer(store, "integer later", GUARD, GUARD);
    query_answer(store, "integer later", 0, GUARD + 10);
    denied(store, "integer orders", "advance the segment above every number");
    query_answer(store, "snow", GUARD, GUARD);
    query_answer(store, "snow", GUARD + 500, GUARD + 10); /* once is enough */
    query_answer(store, "snow", 0, GUARD + 20);
}

static void holder_notices(void **state) {
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        for (int few = 0; few < 2; few++) {
            fresh_folder();
            print_message("# %s, %s\n", ways[i].name, few ? "few grants lost" : "many grants lost");
            firn_store *store = store_and_copy(few);
            ways[i].restore();
            firn_error error = {0};
            int64_t first = -1;
            int code = ask(store, "snow", 0, &first, &error);
            if (code != FIRN_EBACK && (!few || first < 30 || !ways[i].in_place)) {
                fail_msg("%d: %s, first %lld", code, error.text, (long long)first);
            }
            if (code == FIRN_EBACK) {
                firn_store *other = open_store("firn.db");
                known_to_all(other);
                firn_store_close(other);
                query_answer(store, "snow", 0, GUARD + 30);
            }
            firn_store_close(store);
        }
    }
}

/* Nothing that was granted before is granted again: where the log made up for the older copy
 * nothing was lost, and nobody need notice. */
static void next_opener_notices(void **state) {
    (void)state;
    for (size_t i = 0; i < WAYS; i++) {
        for (int crashed = 0; crashed < 2; crashed++) {
            for (int few = 0; few < 2; few++) {
                firn_error error = {0};
                int64_t first = -1;
                fresh_folder();
                print_message("# %s, %s, %s\n", ways[i].name, crashed ? "crashed" : "closed",
                              few ? "few grants lost" : "many grants lost");
                firn_store *store = store_and_copy(few);
                if (crashed) { /* the log and all as they are at this moment */
                    run("mkdir was && cp firn.db* was");
                    firn_store_close(store);
                    run("rm firn.db* && cp was/* .");
                } else {
                    firn_store_close(store);
                    assert_int_equal(access(in_folder("firn.db-wal"), F_OK), -1);
                }
                ways[i].restore();
                store = open_store("firn.db");
                int code = ask(store, "snow", 0, &first, &error);
                if (code == FIRN_OK && crashed && few && first == 30) {
                    query_answer(store, "integer orders", 0, 30);
                    query_answer(store, "integer later", 0, 20);
                } else if (code != FIRN_EBACK) {
                    fail_msg("%d: %s, first %lld", code, error.text, (long long)first);
                } else {
                    known_to_all(store);
                }
                firn_store_close(store);
            }
        }
    }
}

/* A folder that is restored whole has a count as old as its database, and often other files: only
 * a process that holds the store can know, and must record it before another one opens the
 * store. */
static void holder_of_a_folder_restored_whole(void **state) {
    firn_store *store = open_store("firn.db");
    (void)state;
    query_answer(store, "snow", 0, 0);
    query_answer(store, "integer orders", 0, 0);
    query_answer(store, "integer quiet", 0, 0);
    firn_store_close(store);
    run("mkdir was && cp firn.db firn.db-count was");
    store = open_store("firn.db");
    firn_store *idle = open_store("firn.db"), *late = open_store("firn.db");
    firn_error error = {0};
    firn_mark mark = {0, 0};
    int64_t first = -1;
    query_answer(store, "snow", 0, 10);
    query_answer(store, "integer orders", 0, 10);
    query_answer(late, "snow", 0, 20);
    query_answer(late, "snow", 0, 30);
    run("mkdir late && mv firn.db* late && cp was/* .");
    assert_int_equal(firn_store_list(late, "snow", keep_mark, &mark, &error), FIRN_OK);
    assert_int_equal(ask(idle, "snow", 0, &first, &error), FIRN_ESTORE); /* no store yet */
    says(&error, FIRN_ESTORE, "was replaced");
    denied(store, "snow", "has changed or lost reservations");
    firn_store *other = open_store("firn.db");
    known_to_all(other);
    firn_store_close(other);
    query_answer(store, "snow", 0, GUARD + 30);
    query_answer(store, "integer orders", GUARD, GUARD);
    query_answer(late, "snow", 0, GUARD + 40); /* others know it already: no second report */
    query_answer(late, "integer orders", 0, GUARD + 10);
    firn_store_close(late);
    firn_store_close(idle);
    firn_store_close(store);
}

/* The same in the files that are there, as rsync --inplace and cp write them: the holder has the
 * count of its last commit, and so notices also by a namespace that it did not reserve from
 * last. */
static void holder_of_files_restored_in_place(void **state) {
    firn_store *store = open_store("firn.db");
    (void)state;
    query_answer(store, "snow", 0, 0);
    query_answer(store, "integer orders", 0, 0);
    firn_store_close(store);
    run("mkdir was && cp firn.db firn.db-count was");
    store = open_store("firn.db");
    query_answer(store, "integer orders", 0, 10);
    query_answer(store, "snow", 0, 10);
    run("rm -f firn.db-wal firn.db-shm && cp was/* .");
    denied(store, "integer orders", "advance the segment above every number");
    firn_store *other = open_store("firn.db");
    denied(other, "snow", "has changed or lost reservations");
    firn_store_close(other);
    firn_store_close(store);
}

/* ---- a count that others may not read -------------------------------------------------------- */

/* As another user of the group that the store was shared with after it was made. */
#define SHARED 54321

static int ask_as_another(void *store) {
    const gid_t group = SHARED;
    firn_error error = {0};
    int64_t first;
    if (setgroups(1, &group) != 0 || setgid(group) != 0 || setuid(65534) != 0) {
        return SKIPPED;
    }
    int code = ask(store, "snow", 0, &first, &error);
    firn_store_close(store);
    if (code != FIRN_OK && strstr(error.text, "may not read and write its count firn.db-count")) {
        return 5;
    }
    return child_status(code, FIRN_OK, &error, "");
}

static void a_store_shared_later(void **state) {
    firn_store *store = open_store("firn.db");
    struct stat count;
    (void)state;
    query_answer(store, "snow", 0, 0);
    firn_store_close(store);
    store = open_store("firn.db");
    if (chown(folder, (uid_t)-1, SHARED) != 0 || chown(in_folder("firn.db"), (uid_t)-1, SHARED)) {
        firn_store_close(store);
        skip(); /* not root, or of a user namespace */
    }
    run("chmod 770 . && chmod 660 firn.db");
    int status = in_child(ask_as_another, store);
    if (status == SKIPPED) {
        firn_store_close(store);
        skip();
    }
    assert_int_equal(status, 5);
    drawn_anew("firn.db", 1,
               10); /* another user with the right to do so gives it the store's permissions */
    assert_int_equal(stat(in_folder("firn.db-count"), &count), 0);
    assert_int_equal(count.st_gid, SHARED);
    assert_int_equal(count.st_mode & 0777, 0660);
    assert_int_equal(in_child(ask_as_another, store), 0);
    run("rm firn.db-count"); /* one that another user makes is for all of them too */
    assert_int_equal(in_child(ask_as_another, store), 0);
    assert_int_equal(stat(in_folder("firn.db-count"), &count), 0);
    assert_int_equal(count.st_uid, 65534);
    assert_int_equal(count.st_gid, SHARED);
    assert_int_equal(count.st_mode & 0777, 0660);
    firn_store_close(store);
}

static void again_and_again(void **state) {
    firn_store *store = store_and_copy(false);
    (void)state;
    for (int i = 1; i <= 5; i++) {
        copy_over_and_remove_log(); /* each time without what was noticed before */
        denied(store, "snow", "no back-dated IDs");
        denied(store, "snow", "back-date without a store, with a node that was never used");
        denied(store, "integer quiet", "advance the segment above every number");
        query_answer(store, "snow", GUARD * i, GUARD * i);
        query_answer(store, "snow", 0, GUARD * i + 10);
    }
    firn_store_close(store);
}

/* The mark of a lone key, lowered where no count tells. */
static void a_lost_mark(void **state) {
    firn_store *store = open_store("firn.db");
    (void)state;
    query_answer(store, "integer orders", 0, 0);
    query_answer(store, "snow", 0, 0);
    query_answer(store, "snow", 0, 10);
    run_sql("firn.db", "UPDATE mark SET high = 10 WHERE ns = 'snow'");
    denied(store, "snow", "has changed or lost reservations");
    denied(store, "integer orders", "advance the segment above every number");
    query_answer(store, "snow", GUARD, GUARD);
    run_sql("firn.db", "DELETE FROM mark WHERE ns = 'snow'");
    denied(store, "snow", "has changed or lost reservations");
    query_answer(store, "snow", 2 * GUARD, 2 * GUARD);
    run_sql("firn.db", "DELETE FROM mark; DELETE FROM namespace");
    denied(store, "snow", "has changed or lost reservations");
    firn_store_close(store);
}

/* ---- generators and segments ----------------------------------------------------------------- */

static void a_generator_and_a_segment(void **state) {
    firn_store *store = open_store("firn.db");
    firn_gen *gen = NULL;
    firn_segment *range = NULL;
    firn_error error = {0};
    firn_id id;
    int64_t value = 0, next = 0;
    const firn_config config = {
        .size = sizeof config, .scheme = "snowflake", .keys = "window=100ms", .store = store};
    int code = FIRN_OK;
    (void)state;
    assert_int_equal(firn_open_with(&gen, &config, &error), FIRN_OK);
    assert_int_equal(firn_segment_open(&range, "orders", "step=10 adapt=0", store, NULL, &error),
                     0);
    assert_int_equal(firn_next(gen, &id, &error), FIRN_OK);
    assert_int_equal(firn_segment_next(range, &value, &error), FIRN_OK);
    back_up("firn.db", "old.db");
    for (int i = 0; i < 100; i++) {
        assert_int_equal(firn_segment_next(range, &value, &error), FIRN_OK);
    }
    restore_by_sqlite();
    const time_t end = time(NULL) + HUNG_S; /* its window ends first */
    while ((code = firn_next(gen, &id, &error)) == FIRN_OK && time(NULL) < end) {
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    says(&error, FIRN_EBUSY, "changed or lost reservations");
    firn_segment *other = NULL;
    assert_int_equal(firn_segment_open(&other, "orders", "", store, NULL, &error), FIRN_OK);
    assert_int_equal(firn_segment_next(other, &value, &error), FIRN_EBACK);
    says(&error, FIRN_EBACK, "advance the segment above every number");
    assert_int_equal(firn_segment_advance(other, 5000, &next, &error), FIRN_OK);
    assert_int_equal(firn_segment_next(other, &value, &error), FIRN_OK);
    assert_int_equal(value, 5000);
    firn_segment_close(other, NULL);
    firn_segment_close(range, NULL);
    firn_close(gen, NULL);
    firn_store_close(store);
}

/* ---- not a sign ------------------------------------------------------------------------------ */

static void one_file_is_the_store(void **state) {
    firn_store *store = store_and_copy(false);
    (void)state;
    firn_store_close(store);
    assert_int_equal(access(in_folder("firn.db-wal"), F_OK), -1);
    assert_int_equal(access(in_folder("firn.db-shm"), F_OK), -1);
    run("mkdir elsewhere && cp firn.db elsewhere");
    store = open_store("elsewhere/firn.db");
    query_answer(store, "snow", 0, 600);
    query_answer(store, "integer orders", 0, 600);
    firn_store_close(store);
    run("cp elsewhere/firn.db firn.db"); /* moved back, further than it was */
    store = open_store("firn.db");
    query_answer(store, "snow", 0, 610);
    firn_store_close(store);
}

static void counts_that_say_nothing(void **state) {
    static const char *const counts[] = {
        "", "firn count 1 ", "firn count 1 0000000000000001 0fffffff 0fffffff 00000000\n",
        "\xff\xff\xff", "nothing of this kind, but long enough to be read whole\n\n\n"};
    firn_store *store = store_and_copy(true);
    (void)state;
    firn_store_close(store);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        write_file(in_folder("firn.db-count"), counts[i], strlen(counts[i]));
        store = open_store("firn.db");
        query_answer(store, "snow", 0, 30 + 10 * (int64_t)i);
        firn_store_close(store);
    }
    run("rm firn.db-count && mkdir firn.db-count"); /* and one that cannot be written */
    store = open_store("firn.db");
    query_answer(store, "snow", 0, 80);
    firn_store_close(store);
    run("rmdir firn.db-count && ln -s nowhere firn.db-count");
    store = open_store("firn.db");
    firn_error error = {0};
    int64_t first = -1;
    assert_int_not_equal(ask(store, "snow", 0, &first, &error), FIRN_OK);
    says(&error, FIRN_ESTORE, "its count firn.db-count cannot be opened");
    run("rm firn.db-count");
    query_answer(store, "snow", 0, 90);
    firn_store_close(store);
    assert_int_equal(access(in_folder("nowhere"), F_OK), -1);
}

static void the_count_of_another_store(void **state) {
    firn_store *store = store_and_copy(false);
    (void)state;
    firn_store_close(store);
    store = open_store("other.db");
    query_answer(store, "snow", 0, 0);
    firn_store_close(store);
    run("cp firn.db-count other.db-count");
    store = open_store("other.db");
    query_answer(store, "snow", 0, 10);
    firn_store_close(store);
}

/* Counts have 32 bits and go round. */
static void counts_go_round(void **state) {
    static const char *const starts[] = {"PRAGMA user_version = 2147483640",
                                         "PRAGMA user_version = -8"};
    static firn_store *left[2][30]; /* where the leak sanitizer finds them */
    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        fresh_folder();
        firn_store_close(open_store("firn.db"));
        run_sql("firn.db", starts[i]);
        for (int round = 0; round < 30; round++) {
            firn_store *store = open_store("firn.db");
            query_answer(store, "snow", 0, 20 * round);
            query_answer(store, "snow", 0, 20 * round + 10);
            if (round % 3 == 0) {
                firn_store_close(store);
            } else { /* as a process that ended without it */
                left[i][round] = store;
                assert_non_null(left[i][round]);
            }
        }
        back_up("firn.db", "old.db");
        firn_store *store = open_store("firn.db");
        query_answer(store, "snow", 0, 600);
        restore_by_sqlite();
        denied(store, "snow", "has changed or lost reservations");
        firn_store_close(store);
    }
}

/* Killed at any moment, by processes that share the store. */
static int work_for_ever(void *number) {
    for (int64_t i = 0; i < 100000; i++) {
        firn_store *store = open_store("firn.db");
        firn_error error = {0};
        firn_mark mine = {0, (uint64_t)(i * 10 + *(int *)number + 1)};
        int64_t first;
        if (reserve_in(store, "snow", 10, 0, FIRN_SLOT_MAX - 10, mine.grant, &first, &error) != 0) {
            return child_status(-1, 0, &error, "");
        }
        mine.high = first + 10;
        if (i % 3 == 0) {
            firn_store_give_back(store, "snow", "1", &mine, first + 5, NULL);
        }
        if (i % 2 == 0) {
            firn_store_close(store);
        }
    }
    return 0;
}

static void killed_at_any_moment(void **state) {
    pid_t children[2];
    int numbers[2] = {0, 1};
    (void)state;
    firn_store_close(open_store("firn.db"));
    for (int round = 0; round < 60; round++) {
        unsigned random;
        for (int i = 0; i < 2; i++) {
            fflush(NULL);
            children[i] = fork();
            assert_true(children[i] >= 0);
            if (children[i] == 0) {
                alarm(HUNG_S);
                _exit(work_for_ever(&numbers[i]));
            }
        }
        assert_int_equal(getrandom(&random, sizeof random, 0), sizeof random);
        nanosleep(&(struct timespec){0, random % 20000000}, NULL);
        for (int i = 0; i < 2; i++) {
            int status = 0;
            kill(children[i], SIGKILL);
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
        firn_store *store = open_store("firn.db");
        firn_error error = {0};
        int64_t first = -1;
        if (ask(store, "snow", 0, &first, &error) != FIRN_OK) {
            fail_msg("round %d: %s", round, error.text);
        }
        firn_store_close(store);
    }
}

/* ---- older files ----------------------------------------------------------------------------- */

/* As firn 0.1 made it, with one mark. */
static const char schema_1[] =
    "PRAGMA page_size=1024; BEGIN;"
    "CREATE TABLE meta(version INTEGER NOT NULL) STRICT;"
    "INSERT INTO meta VALUES(1);"
    "CREATE TABLE namespace(name TEXT NOT NULL PRIMARY KEY, row TEXT NOT NULL)"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE mark(ns TEXT NOT NULL, key TEXT NOT NULL,"
    " high INTEGER NOT NULL CHECK(typeof(high)='integer' AND high BETWEEN 0 AND "
    "4611686018427387904),"
    " \"grant\" INTEGER NOT NULL, note TEXT NOT NULL, PRIMARY KEY(ns, key)) STRICT, WITHOUT ROWID;"
    "INSERT INTO namespace VALUES('snow', '" ROW "');"
    "INSERT INTO mark VALUES('snow', '1', 70, 5, 'old');"
    "COMMIT; PRAGMA journal_mode=WAL";
static const char schema_2[] =
    "BEGIN;"
    "ALTER TABLE meta ADD COLUMN identity INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE meta ADD COLUMN history INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE namespace ADD COLUMN history INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE namespace ADD COLUMN floor INTEGER NOT NULL DEFAULT 0;"
    "UPDATE meta SET version = 2, identity = 77; PRAGMA user_version = 9; COMMIT";

static void make_old(int version) {
    run_sql("firn.db", schema_1);
    if (version == 2) {
        run_sql("firn.db", schema_2);
    }
}

static int draw_from_old(void *unused) {
    firn_store *store = open_store("firn.db");
    firn_error error = {0};
    int64_t first;
    (void)unused;
    int code = ask(store, "snow", 0, &first, &error);
    firn_store_close(store);
    return code == FIRN_OK ? 0 : child_status(code, 0, &error, "");
}

static void upgraded_once(int version) {
    pid_t children[4];
    make_old(version);
    run("cp firn.db old.db");
    assert_int_equal(mark_of("firn.db").high, 70); /* looking changes nothing */
    for (int i = 0; i < 4; i++) {
        fflush(NULL);
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            alarm(HUNG_S);
            _exit(draw_from_old(NULL));
        }
    }
    for (int i = 0; i < 4; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    firn_store *store = open_store("firn.db");
    query_answer(store, "snow", 0, 110);
    run("rm -f firn.db-wal firn.db-shm && cp old.db firn.db"); /* older than its schema */
    denied(store, "snow", "has changed or lost reservations");
    query_answer(store, "snow", GUARD, GUARD);
    firn_store_close(store);
}

static void an_older_schema(void **state) {
    (void)state;
    upgraded_once(1);
    fresh_folder();
    upgraded_once(2);
}

static void die_here(void *self, const char *name) {
    if (strcmp(name, self) == 0) {
        kill(getpid(), SIGKILL);
    }
}

static int upgrade_until(void *point) {
    firn_store_options options = safe_options();
    firn_store *store;
    int64_t first;
    options.failpoint = die_here;
    options.failpoint_self = point;
    return open_with(&store, "firn.db", options, NULL) != FIRN_OK ||
           ask(store, "snow", 0, &first, NULL) != FIRN_OK;
}

static void killed_while_upgrading(void **state) {
    static char points[][20] = {"upgrade.before", "upgrade.committed", "reserve.written"};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof points / sizeof points[0]; i++) {
        fresh_folder();
        make_old(i % 2 == 0 ? 1 : 2);
        assert_int_equal(in_child(upgrade_until, points[i / 2]), 1000 + SIGKILL);
        drawn_anew("firn.db", 7, 70);
        drawn_anew("firn.db", 8, 80);
    }
}

int main(void) {
#define CHECK(sentence, run)                                                                       \
    { sentence, run, set_up, tear_down, NULL }
#define CHECK_FAST(sentence, run)                                                                  \
    { sentence, run, set_up_in_memory, tear_down, NULL }
    const struct CMUnitTest tests[] = {
        CHECK_FAST("a holder notices an older copy, and then everybody knows", holder_notices),
        CHECK_FAST("a holder notices a folder that was restored whole",
                   holder_of_a_folder_restored_whole),
        CHECK_FAST("a holder notices files that were restored in place, by any namespace",
                   holder_of_files_restored_in_place),
        CHECK_FAST("a store that is shared later shares its count", a_store_shared_later),
        CHECK_FAST("the next to open it notices an older copy", next_opener_notices),
        CHECK_FAST("a store that goes back again is noticed again", again_and_again),
        CHECK_FAST("a mark below what its holder was granted is noticed", a_lost_mark),
        CHECK("a generator stops, and integers wait for segment advance",
              a_generator_and_a_segment),
        CHECK_FAST("a store that was closed is one file, to be copied and moved",
                   one_file_is_the_store),
        CHECK_FAST("a count that is missing or unreadable says nothing", counts_that_say_nothing),
        CHECK_FAST("the count of another store says nothing", the_count_of_another_store),
        CHECK_FAST("counts go round", counts_go_round),
        CHECK_FAST("killed at any moment, it never looks like an older copy", killed_at_any_moment),
        CHECK_FAST("a file of an older firn is upgraded once", an_older_schema),
        CHECK_FAST("a process that is killed while it upgrades a file leaves it whole",
                   killed_while_upgrading),
    };
    if (!lite_load() || !load_backup()) {
        fprintf(stderr, "libsqlite3.so.0 cannot be loaded\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
