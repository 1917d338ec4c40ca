/* SPDX-License-Identifier: MIT */
/* libuuid as a peer, if it is installed, without and with its daemon. The daemon is started for the
 * measurement by root only, only if none is running, and ended afterwards. */
#include "bench.h"

#include <dlfcn.h>
#include <fcntl.h>
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

static bool load(peer *p, const char *name, bench_run *run) {
    static void *library;
    memset(p, 0, sizeof *p);
    strcpy(p->text, "0192f0c8-d1e3-7a55-9e37-79b97f4a7c15");
    if (library == NULL) {
        library = dlopen("libuuid.so.1", RTLD_NOW | RTLD_LOCAL);
    }
    p->call.symbol = library != NULL ? dlsym(library, name) : NULL;
    if (p->call.symbol == NULL) {
        snprintf(run->note, sizeof run->note, "libuuid.so.1 %s",
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

static peer the_peer;

static bool open_peer(bench_run *run, bool (*work)(void *, uint64_t)) {
    if (!load(&the_peer, run->about->scheme, run)) {
        return false;
    }
    run->context = &the_peer;
    run->work = work;
    snprintf(run->note, sizeof run->note, "%s", run->about->scheme);
    return true;
}

bool bench_libuuid(bench_run *run) {
    const char *name = run->about->scheme;
    bool writes = strcmp(name, "uuid_unparse_lower") == 0, reads = strcmp(name, "uuid_parse") == 0;
    if (strcmp(name, "uuid_generate_time") == 0 && daemon_answers()) {
        snprintf(run->note, sizeof run->note, "uuidd is running: end it to measure without");
        return false;
    }
    return open_peer(run, reads ? work_read : writes ? work_write : work_generate);
}

/* ---- with the daemon ------------------------------------------------------------------------ */

/* Starts uuidd in the foreground; its process, or -1 and why. */
static pid_t start_daemon(bool *made_folder, bench_run *run) {
    char *words[] = {"uuidd", "--no-fork", "--timeout", "60", NULL};
    static const char *const paths[] = {"/usr/sbin/uuidd", "/usr/bin/uuidd", "/sbin/uuidd"};
    posix_spawn_file_actions_t quiet;
    pid_t child = -1;
    if (geteuid() != 0) {
        snprintf(run->note, sizeof run->note, "uuidd is not running: start it, or run as root");
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
        snprintf(run->note, sizeof run->note, "uuidd is missing: install uuid-runtime");
    }
    return child;
}

static pid_t child = -1;
static bool made_folder;

static void end_daemon(bench_run *run) {
    (void)run;
    if (child > 0) {
        kill(child, SIGTERM);
        waitpid(child, NULL, 0);
        child = -1;
    }
    if (made_folder) {
        unlink(DAEMON_SOCKET);
        unlink(DAEMON_FOLDER "/uuidd.pid");
        rmdir(DAEMON_FOLDER);
        made_folder = false;
    }
}

bool bench_libuuid_daemon(bench_run *run) {
    if (!daemon_answers()) {
        child = start_daemon(&made_folder, run);
    }
    if (!daemon_answers()) {
        if (child > 0) {
            snprintf(run->note, sizeof run->note, "uuidd did not answer within a second");
        }
        end_daemon(run);
        return false;
    }
    run->close = end_daemon;
    if (!open_peer(run, work_generate)) {
        end_daemon(run);
        return false;
    }
    return true;
}
