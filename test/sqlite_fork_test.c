/* SPDX-License-Identifier: MIT */
/* Children of a program that uses SQLite itself: none of them hangs, repeats an ID or relies on its
 * parent's locks. */
#include "embedded.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS  4
#define CHILDREN 60

/* ---- a program with its own databases -------------------------------------------------------- */

#if !defined(__SANITIZE_ADDRESS__) /* see sanitized.h */

static _Atomic bool ending;

static void *use_sqlite(void *number) {
    sqlite3 *db;
    char path[600];
    snprintf(path, sizeof path, "%s/own-%d.db", folder, *(int *)number);
    while (!atomic_load(&ending)) {
        if (lite.open_v2(*(int *)number % 2 == 0 ? path : ":memory:", &db,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK) {
            for (int i = 0; i < 20 && !atomic_load(&ending); i++) {
                lite.exec(db,
                          "PRAGMA synchronous=OFF; CREATE TABLE IF NOT EXISTS t(a, b);"
                          "INSERT INTO t VALUES(random(), randomblob(500));"
                          "SELECT count(*), group_concat(a) FROM t; DELETE FROM t",
                          NULL, NULL, NULL);
            }
        }
        lite.close(db);
    }
    return NULL;
}

/* Exit status of a child: what its first call came to. */
enum { GRANTED, REFUSED, WRONG };

static int first_call(firn_gen *gen, firn_store *store) {
    firn_error error = {0};
    firn_id id;
    int64_t first;
    int code = firn_next(gen, &id, &error);
    if (code == FIRN_OK) {
        code = draw(store, (uint64_t)getpid(), &first, &error);
        return code == FIRN_OK ? GRANTED : WRONG;
    }
    if (code != FIRN_EFORKED || strstr(error.text, "inside SQLite") == NULL) {
        fprintf(stderr, "# %d %s\n", code, error.text);
        return WRONG;
    }
    return draw(store, 7, &first, &error) == FIRN_EFORKED ? REFUSED : WRONG;
}

static void no_child_hangs(void **state) {
    pthread_t threads[THREADS];
    int numbers[THREADS], ends[3] = {0, 0, 0};
    firn_store *store = open_store("firn.db");
    firn_gen *gen = NULL;
    firn_error error = {0};
    firn_id id;
    const firn_config config = {.size = sizeof config, .scheme = "snowflake", .store = store};
    (void)state;
    atomic_store(&ending, false);
    assert_int_equal(firn_open_with(&gen, &config, &error), FIRN_OK);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, use_sqlite, &numbers[i]), 0);
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(HUNG_S);
            _exit(first_call(gen, store));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) >= WRONG) {
            fail_msg("child %d ended with %#x", i, (unsigned)status);
        }
        ends[WEXITSTATUS(status)]++;
        assert_int_equal(firn_next(gen, &id, &error), FIRN_OK); /* the parent is not disturbed */
    }
    atomic_store(&ending, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    print_message("# %d children were served, %d refused\n", ends[GRANTED], ends[REFUSED]);
    firn_close(gen, NULL);
    firn_store_close(store);
}

#endif

/* ---- a program with threads in the store ----------------------------------------------------- */

static firn_store *open_patient(const char *name) {
    firn_store *store = NULL;
    firn_error error = {0};
    if (open_with(&store, name, patient_options(), &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return store;
}

static int ask_in_a_child(void *store) {
    firn_error error = {0};
    int64_t first = -1;
    return child_status(draw(store, (uint64_t)getpid(), &first, &error), FIRN_OK, &error, "");
}

static _Atomic bool stopping;
static _Atomic int drawing; /* threads that have begun */

static void *draw_on(void *name) {
    firn_store *store = open_patient(name);
    firn_error error = {0};
    int64_t first;
    for (uint64_t grant = 1000; !atomic_load(&stopping); grant++) {
        if (draw(store, grant, &first, &error) != FIRN_OK) {
            fprintf(stderr, "# %s\n", error.text);
        }
        atomic_fetch_add(&drawing, grant == 1000);
    }
    firn_store_close(store);
    return NULL;
}

/* A fork waits for the calls of other threads, so that the child can use the store. */
static void forks_beside_calls(void **state) {
    static char names[2][20] = {"beside.db", "other.db"};
    pthread_t threads[2];
    firn_store *store = open_patient("beside.db");
    (void)state;
    atomic_store(&stopping, false);
    atomic_store(&drawing, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, draw_on, names[i]), 0);
    }
    while (atomic_load(&drawing) < 2) {
        sched_yield();
    }
    for (int i = 0; i < CHILDREN / 2; i++) {
        assert_int_equal(in_child(ask_in_a_child, store), 0);
    }
    atomic_store(&stopping, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    firn_store_close(store);
}

/* ---- a program that has the store open ------------------------------------------------------- */

static int ask_with_the_file_open(void *store) {
    firn_error error = {0};
    int64_t first = -1;
    return child_status(draw(store, 2, &first, &error), FIRN_EFORKED, &error,
                        "has inherited store");
}

static void inherited_locks(void **state) {
    firn_store *store = open_store("firn.db");
    sqlite3 *db;
    (void)state;
    drawn(store, 1, 0);
    assert_int_equal(lite.open_v2(in_folder("firn.db"), &db, SQLITE_OPEN_READWRITE, NULL), 0);
    assert_int_equal(lite.exec(db, "SELECT * FROM mark", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(in_child(ask_with_the_file_open, store), 0);
    assert_int_equal(lite.close(db), SQLITE_OK);
    assert_int_equal(in_child(ask_in_a_child, store), 0);
    drawn(store, 3, 20);
    firn_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#if !defined(__SANITIZE_ADDRESS__)
        {"no child of a program with threads inside SQLite hangs", no_child_hangs, set_up,
         tear_down, NULL},
#endif
        {"a child of a program with threads in the store uses it", forks_beside_calls, set_up,
         tear_down, NULL},
        {"a child that inherited the store open is refused", inherited_locks, set_up, tear_down,
         NULL},
    };
    if (!lite_load()) {
        fprintf(stderr, "libsqlite3.so.0 cannot be loaded\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
