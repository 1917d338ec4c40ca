/* SPDX-License-Identifier: MIT */
/* The stores that a check runs against, one after the other: a table of engines, and a new store
 * for each check. Nothing here tests.
 *
 * With STORE_MODULE (the path of a module) and STORE_URL, checks run against that store alone: make
 * test-store. */
#ifndef FIRN_TEST_STORES_H
#define FIRN_TEST_STORES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engines.h"
#include "place.h"

#include <cmocka.h>
#include <firn/firn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENT "60s" /* time-outs: nobody waits for one to pass, and no disk is slower */

/* Each row is an engine. Engines with `apart` are real servers, each started once by its name; that
 * and a number after the server's URL give each check its own store. */
static struct row {
    const char *name, *url, *apart;
    char joint;         /* before the parameters */
    const char *suffix; /* its URL continues with the path of a file and this; NULL: it does not */
    bool shared;        /* between processes */
    bool tells_back;    /* notices that it lost acknowledged writes */
    int rounds;         /* reservations of each thread and process */
    const char *fast;   /* the server's options for commits that need not be on the disk */
    const char *module; /* NULL: one of firn's */
    const char *save, *restore; /* for a shell in the folder; NULL: engine_do does it */
} rows[] = {
    {"memory", "memory:", NULL, 0, NULL, false, false, 20000, "", NULL, NULL, NULL},
    {"sqlite", "sqlite:", NULL, 0, ".db?busy=" PATIENT, true, true, 120, "", NULL,
     "mkdir -p saved && cp firn.db firn.db-wal saved",
     "rm -f firn.db-wal firn.db-shm && cp saved/* ."},
    {"postgres", NULL, "?table=t", '&', NULL, true, true, 60, "-c fsync=off", NULL, NULL, NULL},
    {"mysql", NULL, "?table=t", '&', NULL, true, true, 60, "--innodb-flush-log-at-trx-commit=0",
     NULL, NULL, NULL},
    {"redis", NULL, "?prefix=t", '&', NULL, true, true, 120, "--appendfsync no", NULL, NULL, NULL},
    {"etcd", NULL, "?prefix=t", '&', NULL, true, true, 30, "--unsafe-no-fsync", NULL, NULL, NULL},
    {"zookeeper", NULL, "/t", '?', NULL, true, true, 30, "forceSync=no", NULL, NULL, NULL},
    {"dir", "dir:", NULL, 0, "", true, true, 60, "", FIRN_BUILD_DIR "/examples/dir.so",
     "rm -rf saved && cp -a firn saved", "rm -rf firn && cp -a saved firn"},
};

#define ENGINES (sizeof rows / sizeof rows[0])
#define GIVEN   (ENGINES - 1) /* the example, or the module that is given */
#define ROW     "0x0:1 time:41/ms@@2024-01-01 node:10 sequence:12"
#define SLOTS   FIRN_SLOT_MAX
#define AGAIN_S 60 /* how long an engine may take to serve again */

/* Set by a test in which no engine crashes: the disk is not waited for, and files are in memory. A
 * module that is given keeps its files on the disk. */
static bool stores_fast;

/* The objects of one check. */
typedef struct bench {
    const struct row *row;
    test_engine *server;
    char folder[256], url[500];
    firn_store *store;
    pid_t owner; /* the process that made the folder */
} bench;

/* ---- a module that is given ------------------------------------------------------------ */

static char stores_module_dir[500] = FIRN_BUILD_DIR "/firn"; /* of the present check */

/* Is the row to be tested? All are, or only the module that is given. */
static bool stores_wanted(const struct row *row) {
    static char name[32];
    struct row *self = &rows[GIVEN];
    const char *module = getenv("STORE_MODULE"), *url = getenv("STORE_URL");
    if (module == NULL) {
        return true;
    }
    if (name[0] == '\0') {
        setvbuf(stdout, NULL, _IOLBF, 0); /* test/kit shows each check when it ends */
        snprintf(name, sizeof name, "%.*s", (int)strcspn(url, ":"), url);
        *self = (struct row){name, url, NULL,   0,    NULL, true, getenv("STORE_BACKUP") != NULL,
                             60,   "",  module, NULL, NULL};
    }
    return row == self;
}

/* ---- a separate store for each check --------------------------------------------------- */

/* The folder may be on an overlay or in memory, where tests may lose data. */
static firn_store_options store_options(void) {
    const bool own = strcmp(stores_module_dir, FIRN_BUILD_DIR "/firn") == 0;
    return (firn_store_options){
        .module_dir = stores_module_dir, .unsafe = true, .wait_ms = own ? 0 : 60000};
}

static int open_store(firn_store **store, const char *url, firn_error *error) {
    const firn_store_options options = store_options();
    return firn_store_open(store, url, &options, error);
}

/* The URL of a separate store, which was not used before. */
static void store_url(char *out, size_t size, const bench *b, const char *name) {
    const char *url = b->row->url, *braces = url != NULL ? strstr(url, "{}") : NULL;
    if (b->server != NULL) {
        snprintf(out, size, "%.160s%s%s%ctimeout=" PATIENT "&connect_timeout=" PATIENT,
                 b->server->url, b->row->apart, name, b->row->joint);
    } else if (braces != NULL) {
        snprintf(out, size, "%.*s%ld-%s%s", (int)(braces - url), url, (long)b->owner, name,
                 braces + 2);
    } else {
        snprintf(out, size, "%s%.255s%s%s%s", url, b->row->suffix != NULL ? b->folder : "",
                 b->row->suffix != NULL ? "/" : "", b->row->suffix != NULL ? name : "",
                 b->row->suffix != NULL ? b->row->suffix : "");
    }
}

/* False: the engine is left out. A module that the tree does not have is not a failure; a server
 * that is not installed is one if all are required. */
static bool find_server(bench *b) {
    char module[800];
    if (b->row->apart == NULL) { /* static programs have no example */
        return b->row->module == NULL || access(b->row->module, R_OK) == 0;
    }
    snprintf(module, sizeof module, FIRN_BUILD_DIR "/firn/%s.so", b->row->name);
    if (access(module, R_OK) != 0) {
        return false;
    }
    b->server = engine_of(b->row->name, 1, stores_fast ? b->row->fast : "");
    assert_true(b->server != NULL || engine_missing(b->row->name, 1));
    return b->server != NULL;
}

static int set_up(void **state) {
    static bench benches;
    static int number;
    bench *b = &benches;
    char name[16];
    firn_error error = {0};
    *b = (bench){.row = *state, .owner = getpid()};
    snprintf(stores_module_dir, sizeof stores_module_dir, "%.*s",
             b->row->module != NULL ? (int)(strrchr(b->row->module, '/') - b->row->module) : 400,
             b->row->module != NULL ? b->row->module : FIRN_BUILD_DIR "/firn");
    const bool in_memory = stores_fast && getenv("STORE_MODULE") == NULL;
    snprintf(b->folder, sizeof b->folder, "%s/firn-store-XXXXXX",
             in_memory ? place_in_memory() : place_of_tests());
    assert_non_null(mkdtemp(b->folder));
    if (find_server(b)) {
        snprintf(name, sizeof name, "%d", ++number);
        store_url(b->url, sizeof b->url, b, b->row->suffix != NULL ? "firn" : name);
        if (open_store(&b->store, b->url, &error) != FIRN_OK) {
            fail_msg("%s", error.text);
        }
    }
    *state = b;
    return 0;
}

static int tear_down(void **state) {
    bench *b = *state;
    char command[300];
    if (b->store != NULL) {
        firn_store_close(b->store);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", b->folder);
    return system(command);
}

static firn_store *store_of(void **state) {
    bench *b = *state;
    if (b->store == NULL) {
        skip();
    }
    return b->store;
}

/* ---- engines that lose reservations ---------------------------------------------------------- */

/* "save", or "restore" of the saved data. A file is copied between verbs, when nobody has it
 * open. */
static bool engine_or_file(const bench *b, const char *what) {
    char command[1200];
    const char *script = getenv("STORE_BACKUP");
    if (b->server != NULL) {
        return engine_do(b->server, what, 0);
    }
    if (b->row->save != NULL) {
        snprintf(command, sizeof command, "cd '%s' && %s", b->folder,
                 strcmp(what, "save") == 0 ? b->row->save : b->row->restore);
    } else if (script != NULL) {
        snprintf(command, sizeof command, "'%s' %s '%s'", script, what, b->url);
    } else {
        skip(); /* STORE_BACKUP is not set */
    }
    fflush(NULL);
    return system(command) == 0;
}

/* Reserves as soon as the engine is there again. Nothing was sent to one that is not, and the
 * request of an unknown outcome is not ours to take. */
__attribute__((unused)) static int reserve_soon(firn_store *store, firn_request request,
                                                int64_t *first, firn_mark *held,
                                                firn_error *error) {
    int code = FIRN_ESTORE;
    const time_t end = time(NULL) + AGAIN_S;
    while ((code == FIRN_ESTORE || code == FIRN_EUNKNOWN) && time(NULL) < end) {
        const struct timespec nap = {0, 10 * 1000000};
        request.grant += 1000; /* another request */
        code = firn_store_reserve(store, &request, first, held, error);
        if (strstr(error->text, "has changed or lost reservations") != NULL) {
            break;
        }
        nanosleep(&nap, NULL);
    }
    return code;
}

/* A check that runs on each engine. */
struct check {
    const char *sentence;
    CMUnitTestFunction run;
    bool (*wanted)(const struct row *row); /* NULL: by all */
};

#define CHECK_NAME 120

/* Adds the test of check i % count on engine i / count, if that is wanted. An entry without a name
 * is not a test. */
static inline void add_check(struct CMUnitTest *test, char name[CHECK_NAME],
                             const struct check *checks, size_t count, size_t i) {
    const struct row *row = &rows[i / count];
    const struct check *item = &checks[i % count];
    if (stores_wanted(row) && (item->wanted == NULL || item->wanted(row))) {
        snprintf(name, CHECK_NAME, "%s: %s", row->name, item->sentence);
        *test = (struct CMUnitTest){name, item->run, set_up, tear_down, (void *)(uintptr_t)row};
    }
}

#endif
