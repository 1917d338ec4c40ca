/* SPDX-License-Identifier: MIT */
/* Measuring: whole processes, from spawning to the end: one ID beside uuidgen, and a million
 * into a file. Each is this very program, found through /proc. */
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool bench_run(const bench_child *c) {
    posix_spawn_file_actions_t actions;
    pid_t id = -1;
    int ended = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, c->to, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    if (c->silent) {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    bool started = posix_spawnp(&id, c->program, &actions, NULL, c->words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return started && waitpid(id, &ended, 0) == id && ended == 0;
}

static bool work_run(void *context, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        if (!bench_run(context)) {
            return false;
        }
    }
    return true;
}

/* The path of this program: what is measured is what was started. */
bool bench_own_path(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

int bench_file(char *path, size_t size) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%.4000s/firn-bench-XXXXXX", folder != NULL ? folder : "/tmp");
    return mkstemp(path);
}

bool bench_process(const bench_case *about, bench_result *result) {
    char path[4096], word_new[] = "new", word_uuid7[] = "uuid7", uuidgen[] = "uuidgen";
    bench_child c = {.program = uuidgen, .words = {uuidgen, NULL}, .to = "/dev/null"};
    uint64_t burst = 0;
    if (!about->peer) {
        c = (bench_child){
            .program = path, .words = {path, word_new, word_uuid7, NULL}, .to = "/dev/null"};
    }
    if (!about->peer && !bench_own_path(path, sizeof path)) {
        snprintf(result->note, sizeof result->note, "/proc does not show the path of this program");
        return false;
    }
    result->ns = bench_median(work_run, NULL, &c, 16, &burst);
    snprintf(result->note, sizeof result->note,
             result->ns >= 0 ? "%s, a whole process" : "%s fails", about->scheme);
    return result->ns >= 0;
}

bool bench_million(const bench_case *about, bench_result *result) {
    char path[4096], word_new[] = "new", word_uuid7[] = "uuid7", word_n[] = "-n";
    char million[] = "1000000";
    char file[4096];
    uint64_t burst = 0;
    int fd = bench_file(file, sizeof file);
    if (fd < 0 || !bench_own_path(path, sizeof path)) {
        snprintf(result->note, sizeof result->note, "cannot make a file in TMPDIR");
        return false;
    }
    close(fd);
    bench_child c = {
        .program = path, .words = {path, word_new, word_uuid7, word_n, million, NULL}, .to = file};
    result->ns = bench_median(work_run, NULL, &c, 1, &burst);
    unlink(file);
    snprintf(result->note, sizeof result->note, "%s into a file, a whole process", about->scheme);
    return result->ns >= 0;
}
