/* SPDX-License-Identifier: MIT */
/* Whole processes, from spawn to exit: one ID compared with uuidgen, and a million IDs into a file.
 * The program is found through /proc. */
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define FILE_OF "/proc/%d/fd/%d" /* its children can open it too */

bool bench_spawn(const bench_child *c) {
    posix_spawn_file_actions_t actions;
    pid_t id = -1;
    int ended = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, c->to, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    if (c->from != NULL) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, c->from, O_RDONLY, 0);
    }
    if (c->silent) {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    bool started = posix_spawnp(&id, c->program, &actions, NULL, c->words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return started && waitpid(id, &ended, 0) == id && WIFEXITED(ended) &&
           (WEXITSTATUS(ended) == STATUS_DONE || (c->judges && WEXITSTATUS(ended) == STATUS_NO));
}

static bool work_run(void *context, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        if (!bench_spawn(context)) {
            return false;
        }
    }
    return true;
}

/* The path of this program, so that the children run the same program. */
bool bench_own_path(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

bool bench_command_path(char *path, size_t size) {
    static const char ending[] = "-lab";
    bool fine = bench_own_path(path, size);
    size_t length = strlen(path);
    if (length >= sizeof ending && strcmp(path + length - strlen(ending), ending) == 0) {
        path[length - strlen(ending)] = '\0';
    }
    return fine;
}

/* Without a name in the folder, so that nothing stays there if this process is killed. */
int bench_file(char *path, size_t size) {
    char name[4200];
    const char *folder = getenv("TMPDIR");
    folder = folder != NULL && folder[0] != '\0' ? folder : "/tmp";
    snprintf(name, sizeof name, "%.4000s/firn-bench-XXXXXX", folder);
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) { /* not every file system has files without a name */
        file = mkostemp(name, O_CLOEXEC);
        if (file >= 0) {
            unlink(name);
        }
    }
    int kept = file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;
    if (kept < 0 && file >= 0) {
        close(file);
    }
    snprintf(path, size, FILE_OF, (int)getpid(), kept);
    return kept >= 0 ? file : -1;
}

void bench_file_end(const char *path) {
    int process, kept;
    if (sscanf(path, FILE_OF, &process, &kept) == 2 && kept >= 0) {
        close(kept);
    }
}

static bench_child child; /* of the firn path */
static char path[4096], file[4096];

static bool open_child(bench_run *run, bench_child *self) {
    run->context = self;
    run->work = work_run;
    run->slow = true;
    snprintf(run->note, sizeof run->note, "a whole process");
    return true;
}

bool bench_process(bench_run *run) {
    static char word_new[] = "new", word_uuid7[] = "uuid7", uuidgen[] = "uuidgen";
    static bench_child peer = {.program = uuidgen, .words = {uuidgen, NULL}, .to = "/dev/null"};
    if (run->about->kind == BENCH_PEER) {
        return open_child(run, &peer);
    }
    if (!bench_command_path(path, sizeof path)) {
        snprintf(run->note, sizeof run->note, "/proc does not show the path of this program");
        return false;
    }
    child = (bench_child){
        .program = path, .words = {path, word_new, word_uuid7, NULL}, .to = "/dev/null"};
    return open_child(run, &child);
}

/* ---- a million ------------------------------------------------------------------------------- */

enum { MILLION = 1000000, LINE = 37, WRITE = 1 << 16 };

static void remove_file(bench_run *run) {
    (void)run;
    bench_file_end(file);
}

bool bench_million(bench_run *run) {
    static char word_new[] = "new", word_uuid7[] = "uuid7", word_n[] = "-n", million[] = "1000000";
    int fd = bench_file(file, sizeof file);
    if (fd < 0 || !bench_command_path(path, sizeof path)) {
        snprintf(run->note, sizeof run->note, "cannot make a file in TMPDIR");
        return false;
    }
    close(fd);
    child = (bench_child){
        .program = path, .words = {path, word_new, word_uuid7, word_n, million, NULL}, .to = file};
    run->close = remove_file;
    return open_child(run, &child);
}

static char copy_file[4096];

static char
    text[WRITE]; /* prepared: bytes that nobody wrote would all be one page of the kernel's */

/* Writes as many bytes. */
static bool work_copy(void *context, uint64_t n) {
    bool fine = true;
    (void)context;
    for (uint64_t i = 0; i < n && fine; i++) {
        int fd = open(copy_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        fine = fd >= 0;
        for (size_t left = (size_t)MILLION * LINE; left > 0 && fine;) {
            ssize_t wrote = write(fd, text, left < WRITE ? left : WRITE);
            fine = wrote > 0;
            left -= fine ? (size_t)wrote : 0;
        }
        close(fd);
    }
    return fine;
}

static void remove_copy(bench_run *run) {
    (void)run;
    bench_file_end(copy_file);
}

bool bench_million_copy(bench_run *run) {
    int fd = bench_file(copy_file, sizeof copy_file);
    if (fd < 0) {
        snprintf(run->note, sizeof run->note, "cannot make a file in TMPDIR");
        return false;
    }
    close(fd);
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = i % LINE == LINE - 1 ? '\n' : '0';
    }
    run->work = work_copy;
    run->slow = true;
    run->close = remove_copy;
    snprintf(run->note, sizeof run->note, "writes 37 MB of prepared text into a file");
    return true;
}
