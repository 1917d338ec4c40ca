/* SPDX-License-Identifier: MIT */
/* Measuring: libuuid, loaded when it is there, without and with its daemon. The daemon is
 * started for the measurement only by root, only where none runs, and ended again. */
#include "bench.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DAEMON_FOLDER "/run/uuidd"
#define DAEMON_SOCKET DAEMON_FOLDER "/request"

extern char **environ;

/* libuuid's functions, by what they take. */
typedef union entry {
    void *symbol;
    void (*generate)(unsigned char out[16]);
    int (*generate_safe)(unsigned char out[16]);
    void (*write)(const unsigned char id[16], char out[37]);
    int (*read)(const char *text, unsigned char out[16]);
} entry;

typedef struct peer {
    entry call;
    unsigned char id[16];
    char text[40];
} peer;

static bool work_generate(void *context, uint64_t n) {
    peer *p = context;
    for (uint64_t i = 0; i < n; i++) {
        p->call.generate(p->id);
        BENCH_KEEP(p->id);
    }
    return true;
}

static bool work_write(void *context, uint64_t n) {
    peer *p = context;
    for (uint64_t i = 0; i < n; i++) {
        p->id[15]++;
        p->call.write(p->id, p->text);
        BENCH_KEEP(p->text);
    }
    return true;
}

static bool work_read(void *context, uint64_t n) {
    peer *p = context;
    for (uint64_t i = 0; i < n; i++) {
        BENCH_KEEP(p->text);
        if (p->call.read(p->text, p->id) != 0) {
            return false;
        }
        BENCH_KEEP(p->id);
    }
    return true;
}

static bool load(peer *p, const char *name, bench_result *result) {
    static void *library;
    memset(p, 0, sizeof *p);
    strcpy(p->text, "0192f0c8-d1e3-7a55-9e37-79b97f4a7c15");
    if (library == NULL) {
        library = dlopen("libuuid.so.1", RTLD_NOW | RTLD_LOCAL);
    }
    p->call.symbol = library != NULL ? dlsym(library, name) : NULL;
    if (p->call.symbol == NULL) {
        snprintf(result->note, sizeof result->note, "libuuid.so.1 %s",
                 library == NULL ? "is missing: install libuuid1" : "has no such function");
    }
    return p->call.symbol != NULL;
}

static bool daemon_answers(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = DAEMON_SOCKET};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool answers = fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return answers;
}

bool bench_libuuid(const bench_case *about, bench_result *result) {
    const char *name = about->scheme;
    bool writes = strcmp(name, "uuid_unparse_lower") == 0, reads = strcmp(name, "uuid_parse") == 0;
    bool timed = strcmp(name, "uuid_generate_time_safe") == 0;
    uint64_t burst = 0;
    peer p;
    int safe = -1;
    if (!load(&p, name, result)) {
        return false;
    }
    if (timed && daemon_answers()) {
        snprintf(result->note, sizeof result->note, "uuidd is running: see the next line");
        return false;
    }
    if (timed) {
        safe = p.call.generate_safe(p.id);
    }
    result->ns = bench_median(reads    ? work_read
                              : writes ? work_write
                                       : work_generate,
                              NULL, &p, UINT64_MAX / 4, &burst);
    snprintf(result->note, sizeof result->note, "%s%s; bursts of %" PRIu64, name,
             !timed      ? ""
             : safe == 0 ? " without uuidd, synchronised by a file"
                         : " without uuidd, not synchronised",
             burst);
    return result->ns >= 0;
}

/* ---- with the daemon ------------------------------------------------------------------------ */

/* Starts uuidd in the foreground; its process, or -1 and why. */
static pid_t start_daemon(bool *made_folder, bench_result *result) {
    char *words[] = {"uuidd", "--no-fork", "--timeout", "60", NULL};
    static const char *const paths[] = {"/usr/sbin/uuidd", "/usr/bin/uuidd", "/sbin/uuidd"};
    posix_spawn_file_actions_t quiet;
    pid_t child = -1;
    if (geteuid() != 0) {
        snprintf(result->note, sizeof result->note,
                 "uuidd is not running: start it, or run as root");
        return -1;
    }
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    *made_folder = mkdir(DAEMON_FOLDER, 0755) == 0;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && child < 0; i++) {
        if (access(paths[i], X_OK) != 0 ||
            posix_spawn(&child, paths[i], &quiet, NULL, words, environ) != 0) {
            child = -1;
        }
    }
    posix_spawn_file_actions_destroy(&quiet);
    for (int i = 0; i < 100 && child > 0 && !daemon_answers(); i++) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    if (child < 0) {
        snprintf(result->note, sizeof result->note, "there is no uuidd: install uuid-runtime");
    }
    return child;
}

bool bench_libuuid_daemon(const bench_case *about, bench_result *result) {
    bool running = daemon_answers(), made_folder = false;
    pid_t child = -1;
    uint64_t burst = 0;
    peer p;
    if (!load(&p, about->scheme, result)) {
        return false;
    }
    if (!running) {
        child = start_daemon(&made_folder, result);
    }
    bool answers = daemon_answers();
    if (answers) {
        result->ns = bench_median(work_generate, NULL, &p, UINT64_MAX / 4, &burst);
        snprintf(result->note, sizeof result->note, "%s with uuidd; bursts of %" PRIu64,
                 about->scheme, burst);
    } else if (child > 0) {
        snprintf(result->note, sizeof result->note, "uuidd did not answer within a second");
    }
    if (child > 0) {
        kill(child, SIGTERM);
        waitpid(child, NULL, 0);
    }
    if (made_folder) {
        unlink(DAEMON_SOCKET);
        unlink(DAEMON_FOLDER "/uuidd.pid");
        rmdir(DAEMON_FOLDER);
    }
    return answers;
}
