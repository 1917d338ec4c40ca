/* SPDX-License-Identifier: MIT */
/* Real engines for a test program: each is started once, by test/engine, which also ends it should
 * this program be killed. Nothing here tests. */
#ifndef FIRN_TEST_ENGINES_H
#define FIRN_TEST_ENGINES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENGINES_MAX       12
#define ENGINE_NOT_HERE   77  /* test/engine: the engine is not installed */
#define ENGINE_URL_SIZE   200 /* room for a URL and its zero */
#define ENGINE_SCRIPT     FIRN_SOURCE_DIR "/test/engine"
#define ENGINE_LINE_BYTES 1200

/* libzookeeper 3.8 leaks an event of a session that its network thread queues while the handle is
 * being closed, because the thread that delivers events may have ended (destroy, in mt_adaptor
 * process_async is 0). calls_zookeeper_test counts whether each handle is closed. */
__attribute__((weak, visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libzookeeper_mt\n";
}

/* An engine that was started, or could not be. */
typedef struct test_engine {
    char kind[16];
    int number; /* two of a kind have two */
    char folder[300], url[ENGINE_URL_SIZE];
    pid_t owner; /* the process that started it and alone stops it */
    int status;  /* 0, or what test/engine ended with */
} test_engine;

static test_engine engines_started[ENGINES_MAX];
static int engines_count;

/* Runs test/engine; the first line that it prints goes to `line` (may be NULL). Returns its exit
 * status, or -1. */
static int engine_run(char *line, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int engine_run(char *line, size_t size, const char *format, ...) {
    char shell[ENGINE_LINE_BYTES];
    va_list arguments;
    int length = snprintf(shell, sizeof shell, "exec env ENGINE_OWNER=%ld '" ENGINE_SCRIPT "' ",
                          (long)getpid());
    va_start(arguments, format);
    vsnprintf(shell + length, sizeof shell - (size_t)length, format, arguments);
    va_end(arguments);
    fflush(NULL);
    FILE *printed = popen(shell, "r");
    if (printed == NULL) {
        return -1;
    }
    if (line != NULL && fgets(line, (int)size, printed) != NULL) {
        line[strcspn(line, "\n")] = '\0';
    }
    int status = pclose(printed);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void engines_stop(void) {
    for (int i = 0; i < engines_count; i++) {
        if (engines_started[i].owner == getpid()) {
            engine_run(NULL, 0, "stop '%s'", engines_started[i].folder);
        }
    }
}

/* The engine of a kind (see test/engine) and number, started at the first call with the server's
 * own `options`, a string for the shell. NULL: it did not start (missing, unless CI=true, it says
 * so); the caller skips or fails by engine_missing. */
__attribute__((unused)) static test_engine *engine_of(const char *kind, int number,
                                                      const char *options) {
    const char *parent = getenv("TMPDIR");
    for (int i = 0; i < engines_count; i++) {
        test_engine *engine = &engines_started[i];
        if (strcmp(engine->kind, kind) == 0 && engine->number == number &&
            engine->owner == getpid()) {
            return engine->status == 0 ? engine : NULL;
        }
    }
    if (engines_count == ENGINES_MAX) {
        return NULL;
    }
    if (engines_count == 0) {
        atexit(engines_stop);
    }
    test_engine *engine = &engines_started[engines_count++];
    snprintf(engine->kind, sizeof engine->kind, "%s", kind);
    engine->number = number;
    engine->owner = getpid();
    snprintf(engine->folder, sizeof engine->folder, "%s/engine-%s-%d-%ld",
             parent != NULL ? parent : FIRN_BUILD_DIR, kind, number, (long)engine->owner);
    engine->status = engine_run(engine->url, sizeof engine->url, "start %s '%s' %s", kind,
                                engine->folder, options);
    return engine->status == 0 ? engine : NULL;
}

/* Another port than the engine uses, 1 to 3: a test may start other programs there (test/engine). */
__attribute__((unused)) static int engine_spare_port(const test_engine *engine, int nth) {
    char path[sizeof engine->folder + 10];
    int port = 0;
    snprintf(path, sizeof path, "%s/spare", engine->folder);
    FILE *ports = fopen(path, "re");
    while (ports != NULL && nth-- > 0 && fscanf(ports, "%d", &port) == 1) {
    }
    if (ports != NULL) {
        fclose(ports);
    }
    return port;
}

/* Is that it did not start no failure? Only where it is not installed, and no test run demands all
 * of them (CI=true). */
__attribute__((unused)) static bool engine_missing(const char *kind, int number) {
    const char *strict = getenv("CI");
    for (int i = 0; i < engines_count; i++) {
        if (strcmp(engines_started[i].kind, kind) == 0 && engines_started[i].number == number) {
            return engines_started[i].status == ENGINE_NOT_HERE &&
                   !(strict != NULL && strcmp(strict, "true") == 0);
        }
    }
    return false;
}

/* `word`: kill, halt, restart, pause, continue; `member`: 1 to 3 of etcd3, 0 for all. */
__attribute__((unused)) static bool engine_do(test_engine *engine, const char *word, int member) {
    char which[12] = "";
    if (member > 0) {
        snprintf(which, sizeof which, "%d", member);
    }
    bool done = engine_run(NULL, 0, "%s '%s' %s", word, engine->folder, which) == 0;
    if (!done) {
        printf("# %s %d: %s failed: what asks it from here on fails too\n", engine->kind,
               engine->number, word);
    }
    return done;
}

#endif
