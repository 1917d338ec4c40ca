/* SPDX-License-Identifier: MIT */
/* Finds which other process holds the lock that a verb waited for, in /proc. This process may hold
 * one of the locks, such as the count's, while it waits for the next. It does not open the files:
 * closing a descriptor of the file would drop all locks of this process on it. */
#include "sqlite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* firn locks the whole count; SQLite locks bytes: in -shm for writing, checkpointing and
 * recovering, in the database for a writer outside of WAL mode and for a connection with exclusive
 * access. */
static const struct {
    const char *suffix;
    int64_t first, last;
} bytes[] = {{"-count", 0, INT64_MAX},
             {"-shm", 120, 122},
             {"", 0x40000000, 0x40000001},
             {"", 0x40000002, 0x400001ff}};

/* A line of /proc/locks: "5: POSIX  ADVISORY  WRITE 812 fe:00:1835072 120 120". Some file systems
 * show another device there; then the inode must do. */
static pid_t holder_of(const struct stat *file, int64_t first, int64_t last, bool any_device) {
    FILE *locks = fopen("/proc/locks", "re");
    char line[256], end[24];
    pid_t found = 0;
    for (int i = 0; locks != NULL && found == 0 && i < 100000; i++) {
        int pid;
        unsigned major, minor;
        uint64_t inode;
        int64_t from, to;
        if (fgets(line, sizeof line, locks) == NULL) {
            break;
        }
        if (sscanf(line, "%*d: %*s %*s WRITE %d %x:%x:%" SCNu64 " %" SCNd64 " %23s", &pid, &major,
                   &minor, &inode, &from, end) != 6 ||
            inode != file->st_ino) {
            continue;
        }
        to = sscanf(end, "%" SCNd64, &to) == 1 ? to : INT64_MAX; /* "EOF" */
        bool same = any_device || (major == major(file->st_dev) && minor == minor(file->st_dev));
        if (same && from <= last && to >= first && pid > 0 && pid != getpid()) {
            found = pid;
        }
    }
    if (locks != NULL) {
        fclose(locks);
    }
    return found;
}

/* "812 (name) T ...": the name may hold blanks and parentheses. */
static void read_state(pid_t pid, char name[32], bool *stopped) {
    char path[40], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    text[length] = '\0';
    const char *from = strchr(text, '('), *to = strrchr(text, ')');
    if (from != NULL && to != NULL && to > from) {
        snprintf(name, 32, "%.*s", (int)(to - from - 1), from + 1);
        *stopped = to[1] == ' ' && (to[2] == 'T' || to[2] == 't');
    }
}

pid_t sqlite_holder(const sqlite_store *store, char name[32], bool *stopped) {
    pid_t found = 0;
    name[0] = '\0';
    *stopped = false;
    for (size_t i = 0; i < 2 * sizeof bytes / sizeof bytes[0] && found == 0; i++) {
        size_t position = i % (sizeof bytes / sizeof bytes[0]);
        struct stat file;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s%s", store->path, bytes[position].suffix);
        if (stat(path, &file) == 0) {
            found = holder_of(&file, bytes[position].first, bytes[position].last, i != position);
        }
    }
    if (found != 0) {
        read_state(found, name, stopped);
    }
    return found;
}
