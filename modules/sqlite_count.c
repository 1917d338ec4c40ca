/* SPDX-License-Identifier: MIT */
/* The count next to the database: a small file that is not part of it, and stays if somebody
 * replaces the database by an older copy. It is written after a commit is durable, so it is never
 * ahead of the database; a database older than its count lost reservations. A count that is
 * missing, unreadable or of another store is ignored. Verbs also take turns by a lock on it. */
#include "sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX "-count"
#define FORMAT "firn count 1 %016" PRIx64 " %08" PRIx32 " %08" PRIx32
#define LENGTH 47 /* of that */
#define SIZE   57 /* with a blank, the sum of all before it and a new line */

bool sqlite_before(uint32_t a, uint32_t b) {
    return (int32_t)(a - b) < 0;
}

/* FNV-1a. One process may read while another writes. */
static uint32_t sum_of(const char *text) {
    uint32_t sum = UINT32_C(2166136261);
    for (int i = 0; i < LENGTH; i++) {
        sum = (sum ^ (unsigned char)text[i]) * UINT32_C(16777619);
    }
    return sum;
}

static int open_count(const sqlite_store *store, int flags) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s" SUFFIX, store->path);
    return open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
}

int sqlite_tally_open(const sqlite_store *store) {
    const int file = open_count(store, O_RDWR); /* to write, for the queue's locks */
    return file >= 0 ? file : open_count(store, O_RDONLY);
}

bool sqlite_tally_look(const sqlite_store *store, struct stat *out) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s" SUFFIX, store->path);
    return lstat(path, out) == 0;
}

static bool read_tally(int file, sqlite_tally *out) {
    char text[SIZE + 1] = "", again[SIZE + 1];
    uint64_t identity;
    if (pread(file, text, SIZE, 0) != SIZE ||
        sscanf(text, "firn count 1 %16" SCNx64 " %8" SCNx32 " %8" SCNx32, &identity, &out->count,
               &out->main) != 3) {
        return false;
    }
    out->identity = (int64_t)identity;
    snprintf(again, sizeof again, FORMAT " %08" PRIx32 "\n", identity, out->count, out->main,
             sum_of(text));
    return memcmp(text, again, SIZE) == 0;
}

bool sqlite_tally_read(const sqlite_store *store, sqlite_tally *out) {
    int file = open_count(store, O_RDONLY);
    bool read = file >= 0 && read_tally(file, out);
    if (file >= 0) {
        close(file);
    }
    return read;
}

int sqlite_tally_check(const sqlite_store *store, firn_error *error) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s" SUFFIX, store->path);
    return faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 || errno != EACCES
               ? FIRN_OK
               : module_fail(
                     error, FIRN_ESTORE,
                     "store %s: this user may not read and write its count %.160s: give that"
                     " the group and mode of the store (chgrp, chmod)",
                     sqlite_tail(store->path), strrchr(path, '/') + 1);
}

int sqlite_no_tally(const sqlite_store *store, int number, firn_error *error) {
    const char *path = sqlite_tail(store->path), *slash = strrchr(path, '/');
    int code = sqlite_tally_check(store, error);
    return code != FIRN_OK ? code
                           : module_fail(error, FIRN_ESTORE,
                                         "store %s: its count %s" SUFFIX
                                         " cannot be opened (%.40s), and operations"
                                         " need its lock: correct the cause",
                                         path, slash != NULL ? slash + 1 : path, strerror(number));
}

/* A user who can write the database can write its count, as with SQLite's own files, also if the
 * database was shared later. Best effort: sqlite_tally_check reports users who cannot. */
static void share(const sqlite_store *store, int file, const struct stat *count) {
    struct stat database;
    if (stat(store->path, &database) != 0) {
        return;
    }
    const uid_t owner = geteuid() == 0 ? database.st_uid : count->st_uid;
    if (count->st_uid != owner || count->st_gid != database.st_gid) {
        int result = fchown(file, owner, database.st_gid);
        (void)result;
    }
    if (((count->st_mode ^ database.st_mode) & 0666) != 0) {
        fchmod(file, database.st_mode & 0666);
    }
}

void sqlite_tally_make(const sqlite_store *store) {
    struct stat status;
    int file = open_count(store, O_RDWR | O_CREAT | O_EXCL);
    if (file >= 0 && fstat(file, &status) == 0) {
        share(store, file, &status);
    }
    if (file >= 0) {
        close(file);
    }
}

void sqlite_tally_write(const sqlite_store *store, const sqlite_tally *out) {
    char text[SIZE + 1];
    struct stat status;
    sqlite_tally old;
    int file = open_count(store, O_RDWR);
    if (file < 0) {
        file = open_count(store, O_RDWR | O_CREAT | O_EXCL);
    }
    if (file < 0) {
        return;
    }
    bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
    if (regular) {
        share(store, file, &status);
    }
    bool same = regular && read_tally(file, &old) && old.identity == out->identity;
    bool later = same && (sqlite_before(out->count, old.count) ||
                          (out->count == old.count && sqlite_before(out->main, old.main)));
    if (regular && !later) { /* a later commit of another verb may be written first */
        snprintf(text, sizeof text, FORMAT, (uint64_t)out->identity, out->count, out->main);
        snprintf(text + LENGTH, sizeof text - LENGTH, " %08" PRIx32 "\n", sum_of(text));
        ssize_t written = pwrite(file, text, SIZE, 0);
        (void)written; /* an incomplete line has a wrong sum and is ignored */
    }
    close(file);
}
