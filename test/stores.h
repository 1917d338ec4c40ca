/* SPDX-License-Identifier: MIT */
/* The stores that a check runs against, one after the other: a table of engines, and a new store for each
 * check. Nothing here tests. */
#ifndef FIRN_TEST_STORES_H
#define FIRN_TEST_STORES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engines.h"

#include <cmocka.h>
#include <firn/firn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One engine each. Those with `apart` are real servers, each started once by its name; that and a
 * number after the server's URL give each check its own store. */
static const struct row {
    const char *name, *url, *apart;
    char joint;       /* before the parameters */
    bool file;        /* its URL continues with the path of a file */
    bool shared;      /* between processes */
    bool tells_back;  /* notices that it lost acknowledged writes */
    int rounds;       /* reservations of each thread and process */
    const char *fast; /* the server's options for commits that need not be on the disk */
} rows[] = {
    {"memory", "memory:", NULL, 0, false, false, false, 20000, ""},
    {"sqlite", "sqlite:", NULL, 0, true, true, true, 120, ""},
    {"postgres", NULL, "?table=t", '&', false, true, true, 60, "-c fsync=off"},
    {"mysql", NULL, "?table=t", '&', false, true, true, 60, "--innodb-flush-log-at-trx-commit=0"},
    {"redis", NULL, "?prefix=t", '&', false, true, true, 120, "--appendfsync no"},
    {"etcd", NULL, "?prefix=t", '&', false, true, true, 30, "--unsafe-no-fsync"},
    {"zookeeper", NULL, "/t", '?', false, true, true, 30, "forceSync=no"},
};

#define ENGINES (sizeof rows / sizeof rows[0])
#define ROW     "0x0:1 time:41/ms@@2024-01-01 node:10 sequence:12"
#define SLOTS   FIRN_SLOT_MAX
#define PATIENT "60s" /* time-outs: nobody waits for one to pass, and no disk is slower */
#define AGAIN_S 60    /* how long an engine may take to serve again */

/* Set by a test in which no engine crashes: the disk is not waited for. */
static bool stores_fast;

/* What one check works on. */
typedef struct bench {
    const struct row *row;
    engine *server;
    char folder[256], url[400];
    firn_store *store;
} bench;

/* ---- a separate store for each check --------------------------------------------------- */

/* The folder may be on an overlay or in memory, where tests may lose data. */
static int open_store(firn_store **store, const char *url, firn_error *error) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    return firn_store_open(store, url, &options, error);
}

/* False: the engine is left out. A module that the tree does not have is not a failure; a server
 * that is not installed is one if all are required. */
static bool find_server(bench *b) {
    char module[800];
    if (b->row->apart == NULL) {
        return true;
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
    const char *parent = getenv("TMPDIR");
    firn_error error = {0};
    *b = (bench){.row = *state};
    snprintf(b->folder, sizeof b->folder, "%s/firn-store-XXXXXX",
             parent != NULL ? parent : FIRN_BUILD_DIR);
    assert_non_null(mkdtemp(b->folder));
    if (find_server(b)) {
        if (b->server != NULL) {
            snprintf(b->url, sizeof b->url,
                     "%.160s%s%d%ctimeout=" PATIENT "&connect_timeout=" PATIENT, b->server->url,
                     b->row->apart, ++number, b->row->joint);
        } else {
            snprintf(b->url, sizeof b->url, "%s%.255s%s", b->row->url,
                     b->row->file ? b->folder : "", b->row->file ? "/firn.db?busy=" PATIENT : "");
        }
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

/* "save", or "restore" of the saved data. A file is copied between verbs, when nobody has it open. */
static bool engine_or_file(const bench *b, const char *what) {
    char command[900];
    if (b->server != NULL) {
        return engine_do(b->server, what, 0);
    }
    snprintf(command, sizeof command,
             strcmp(what, "save") == 0 ? "cd '%s' && mkdir -p saved && cp firn.db firn.db-wal saved"
                                       : "cd '%s' && rm -f firn.db-wal firn.db-shm && cp saved/* .",
             b->folder);
    return system(command) == 0;
}

/* Reserves as soon as the engine is there again. Nothing was sent to one that is not, and the
 * request of an unknown outcome is not ours to take. */
static int reserve_soon(firn_store *store, firn_request request, int64_t *first, firn_mark *held,
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

#endif
