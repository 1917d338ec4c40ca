/* SPDX-License-Identifier: MIT */
/* Short words for tests of the embedded store: its own folder for each, stores in it, verbs on
 * one key, parts that run in a child. */
#ifndef FIRN_TEST_EMBEDDED_H
#define FIRN_TEST_EMBEDDED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <firn/firn.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "faulty.h"
#include "place.h"

#define ROW     "0x0:1 time:41/ms@@2024-01-01 node:10 sequence:12"
#define SKIPPED 77  /* exit status of a child that cannot do its part here */
#define HUNG_S  120 /* what takes longer hangs */

static char folder[256]; /* of the running test */

/* ---- short words ---------------------------------------------------------------------------- */

static inline int make_folder(const char *parent) {
    snprintf(folder, sizeof folder, "%s/firn-sqlite-XXXXXX", parent);
    umask(022);
    return mkdtemp(folder) == NULL;
}

static inline int set_up(void **state) {
    (void)state;
    return make_folder(place_of_tests());
}

/* In memory where that can be, for tests of thousands of stores that wait for no disk. */
static inline int set_up_in_memory(void **state) {
    (void)state;
    return make_folder(place_in_memory());
}

static inline int tear_down(void **state) {
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* `name` in the test's folder; the text lives until the fourth call after this one. */
static inline char *in_folder(const char *name) {
    static _Thread_local char texts[4][600];
    static _Thread_local unsigned next;
    char *text = texts[next++ % 4];
    snprintf(text, sizeof texts[0], "%s/%s", folder, name);
    return text;
}

static inline firn_store_options safe_options(void) {
    return (firn_store_options){.module_dir = FIRN_BUILD_DIR "/firn"};
}

/* SQLite has no queue for its lock: on a slow machine one of several processes may wait for
 * long. */
static inline firn_store_options patient_options(void) {
    return (firn_store_options){.module_dir = FIRN_BUILD_DIR "/firn", .wait_ms = 300000};
}

/* The build folder may be on an overlay or in memory, where tests may lose data. */
static inline int open_with(firn_store **store, const char *name, firn_store_options options,
                            firn_error *error) {
    char url[700];
    snprintf(url, sizeof url, "sqlite:%s", in_folder(name));
    options.unsafe = true;
    return firn_store_open(store, url, &options, error);
}

static inline firn_store *open_store(const char *name) {
    firn_store *store = NULL;
    firn_error error = {0};
    if (open_with(&store, name, safe_options(), &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return store;
}

static inline int reserve_in(firn_store *store, const char *ns, int64_t count, int64_t earliest,
                             int64_t latest, uint64_t grant, int64_t *first, firn_error *error) {
    const firn_request request = {ns, ROW, "1", count, earliest, latest, grant, "test", 0};
    firn_mark held;
    return firn_store_reserve(store, &request, first, &held, error);
}

/* The next 10 slots of the key, or a failure. */
static inline int draw(firn_store *store, uint64_t grant, int64_t *first, firn_error *error) {
    return reserve_in(store, "snow", 10, 0, FIRN_SLOT_MAX - 10, grant, first, error);
}

static inline void drawn(firn_store *store, uint64_t grant, int64_t expected) {
    firn_error error = {0};
    int64_t first = -1;
    if (draw(store, grant, &first, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(first, expected);
}

static inline void drawn_anew(const char *name, uint64_t grant, int64_t expected) {
    firn_store *store = open_store(name);
    drawn(store, grant, expected);
    firn_store_close(store);
}

static inline int keep_mark(void *context, const firn_holding *holding) {
    firn_mark *mark = context;
    *mark =
        strcmp(holding->ns, "snow") == 0 && strcmp(holding->key, "1") == 0 ? holding->mark : *mark;
    return 0;
}

static inline firn_mark mark_of(const char *name) {
    firn_mark mark = {0, 0};
    firn_error error = {0};
    firn_store *store = open_store(name);
    if (firn_store_list(store, "snow", keep_mark, &mark, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    firn_store_close(store);
    return mark;
}

static inline bool same_mark(firn_mark a, firn_mark b) {
    return a.high == b.high && a.grant == b.grant;
}

/* The error must be one line that names what is wrong and, after a colon, what to do. */
static inline void says(const firn_error *error, int code, const char *what) {
    assert_int_equal(error->code, code);
    if (strstr(error->text, what) == NULL || strstr(error->text, ": ") == NULL ||
        strpbrk(error->text, "\n\r\t") != NULL || strlen(error->text) >= sizeof error->text) {
        fail_msg("'%s' does not say '%s' and a cure", error->text, what);
    }
}

static inline void opening_says(const char *url, const firn_store_options *options, int code,
                                const char *what) {
    firn_store *store = NULL;
    firn_error error = {0};
    assert_int_equal(firn_store_open(&store, url, options, &error), code);
    assert_null(store);
    says(&error, code, what);
}

static inline void drawing_says(const char *name, int code, const char *what) {
    firn_store *store = open_store(name);
    firn_error error = {0};
    int64_t first = -1;
    assert_int_equal(draw(store, 5, &first, &error), code);
    assert_int_equal(first, -1);
    says(&error, code, what);
    firn_store_close(store);
}

static inline void run_sql(const char *name, const char *sql) {
    sqlite3 *db;
    assert_int_equal(
        lite.open_v2(in_folder(name), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
        SQLITE_OK);
    assert_int_equal(lite.exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(lite.close(db), SQLITE_OK);
}

static inline size_t read_file(const char *path, void *out, size_t size) {
    FILE *file = fopen(path, "rb");
    size_t length = file != NULL ? fread(out, 1, size, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    return length;
}

static inline void write_file(const char *path, const void *source, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(source, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static inline mode_t mode_of(const char *path) {
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    return file.st_mode & 07777;
}

/* Runs a part in a child, where it may give up rights, be killed or hang; returns its exit status,
 * 1000 + the signal, or 2000 when it took more than HUNG_S. */
static inline int in_child(int (*part)(void *), void *argument) {
    int status = 0;
    pid_t child;
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(HUNG_S);
        _exit(part(argument));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        return WTERMSIG(status) == SIGALRM ? 2000 : 1000 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

/* In a child: a refusal with its word; 0 when it is so. */
static inline int child_status(int code, int expected, const firn_error *error, const char *what) {
    if (code == expected && strstr(error->text, what) != NULL) {
        return 0;
    }
    fprintf(stderr, "# %d instead of %d: '%s' instead of '%s'\n", code, expected, error->text,
            what);
    return 1;
}

#endif
