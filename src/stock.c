/* SPDX-License-Identifier: MIT */
/* Integers in the reserve of a machine: the record in the local file. Each change is one
 * transaction, which first judges whether the record may be believed. */
#include "stock.h"

#include "error.h"
#include "fork_memory.h"
#include "hash.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WITNESSES  "/dev/shm" /* memory of this boot: no backup and no snapshot of a disk has it */
#define LOCK_TRIES 1000       /* for a second */

/* ---- the record ------------------------------------------------------------------------------ */

char *firn__stock_write(char note[FIRN_NOTE_SIZE], const firn__stock_record *record) {
    snprintf(note, FIRN_NOTE_SIZE,
             "i%d %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64
             " %" PRIx32,
             record->twice, (uint64_t)record->ceiling, (uint64_t)record->first,
             (uint64_t)record->end, record->grant, record->here, record->there, record->taken,
             record->epoch);
    return note;
}

bool firn__stock_read(firn__stock_record *record, const firn_mark *mark, const char *note) {
    firn__stock_record read = {.mark = *mark};
    uint64_t ceiling, first, last;
    int twice;
    char end;
    const int found = sscanf(note,
                             "i%1d %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
                             " %" SCNx64 " %" SCNx64 " %" SCNx32 "%c",
                             &twice, &ceiling, &first, &last, &read.grant, &read.here, &read.there,
                             &read.taken, &read.epoch, &end);
    *record = (firn__stock_record){.mark = *mark};
    if (found != 9 || last > FIRN_SLOT_MAX || first > last || ceiling > FIRN_SLOT_MAX ||
        (first < last && ceiling > first)) {
        return false;
    }
    read.twice = twice != 0;
    read.ceiling = (int64_t)ceiling;
    read.first = (int64_t)first;
    read.end = (int64_t)last;
    *record = read;
    return true;
}

int64_t firn__stock_left(const firn__stock_record *record) {
    const int64_t present = record->ceiling - record->mark.high;
    return (present > 0 ? present : 0) + record->end - record->first;
}

void firn__stock_empty(const firn__stock *stock, firn__stock_record *record) {
    record->epoch = (record->epoch > stock->epoch ? record->epoch : stock->epoch) + 1;
    const bool floor = record->grant == 0 && record->ceiling == record->mark.high;
    record->ceiling = floor ? record->ceiling : 0; /* where the next block begins, at least */
    record->first = record->end = 0;
    record->grant = record->mark.grant = 0;
}

/* ---- the witness ----------------------------------------------------------------------------- */

/* A copy of the file in the same place, with its count, shows nowhere in the file. The witness is
 * a small file in memory that says how far the record had come: an earlier record is an older one.
 * It ends with the boot (of a container: with the container). */
typedef struct stock_witness {
    uint64_t epoch;
    int64_t mark;
} stock_witness;

char *firn__stock_witness(char path[64], firn__stock *stock) {
    const char *ns = stock->file.ns;
    const uint64_t sum =
        firn__hash(firn__hash(FIRN__HASH_START, ns, strlen(ns)), &stock->here, sizeof stock->here);
    snprintf(path, 64, WITNESSES "/firn-%016" PRIx64, sum);
    return path;
}

static bool witness_read(int file, stock_witness *witness) {
    const ssize_t size = sizeof *witness;
    return file >= 0 && pread(file, witness, sizeof *witness, 0) == size &&
           witness->epoch < UINT32_MAX;
}

static bool is_earlier(const stock_witness *a, const stock_witness *b) {
    return a->epoch < b->epoch || (a->epoch == b->epoch && a->mark < b->mark);
}

/* Of one who may write the reserve's file, or of root: any user can make a file of this name. */
static bool is_witness(int file, const struct stat *database) {
    struct stat found;
    return fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
           (found.st_size == 0 || found.st_size == (off_t)sizeof(stock_witness)) &&
           (found.st_uid == geteuid() || found.st_uid == database->st_uid || found.st_uid == 0 ||
            (database->st_mode & 0022) != 0);
}

/* Every user who may write the reserve's file may read, write and lock the witness, and no other
 * user, whose lock could delay them. */
static void share_witness(int file, const struct stat *database) {
    const mode_t writes = database->st_mode & 0222;
    const uid_t owner = geteuid() == 0 ? database->st_uid : (uid_t)-1;
    int result = fchown(file, owner, database->st_gid);
    result = fchmod(file, (writes | writes << 1) & (result == 0 ? 0666 : 0606));
    (void)result;
}

static int witness_open(firn__stock *stock, bool makes) {
    char path[64];
    struct stat database;
    const int flags = (makes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    if (stat(stock->file.path, &database) != 0) {
        return -1;
    }
    int file = open(firn__stock_witness(path, stock), flags);
    if (file < 0 && makes) {
        file = open(path, flags | O_CREAT | O_EXCL, 0600);
        if (file >= 0) {
            share_witness(file, &database);
        }
        file = file < 0 ? open(path, flags) : file; /* another process made it */
    }
    if (file >= 0 && !is_witness(file, &database)) {
        close(file);
        return -1;
    }
    return file;
}

/* The wait has an end, because a process that is stopped keeps its lock. */
static bool witness_lock(int file) {
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0) {
            return true;
        }
        nanosleep(&pause, NULL);
    }
    return false;
}

/* `lowers`: the mark falls; else a later witness stays. */
static int witness_set(firn__stock *stock, const firn__stock_record *record, bool lowers,
                       firn_error *error) {
    const stock_witness now = {record->epoch, record->mark.high};
    stock_witness before;
    char path[64];
    const int file = witness_open(stock, true);
    bool done = file >= 0 && witness_lock(file);
    if (done && (lowers || !witness_read(file, &before) || is_earlier(&before, &now))) {
        done = pwrite(file, &now, sizeof now, 0) == sizeof now;
    }
    if (file >= 0) {
        flock(file, LOCK_UN); /* a child of a fork in between has the file open too */
        close(file);
    }
    return done ? FIRN_OK
                : firn__fail(
                      error, FIRN_ESYSTEM,
                      "integers in a reserve need the small file %.40s, which this user cannot "
                      "make, write or lock: mount " WITNESSES
                      ", remove such a file of another user, or leave reserve out",
                      firn__stock_witness(path, stock));
}

/* ---- one transaction ------------------------------------------------------------------------- */

/* In a child, the parent's word is kept: the child has a copy of nothing in hand. Not in a
 * transaction, which is the parent's in a child that a signal handler forks. */
static void adopt_child(firn__stock *stock) {
    firn__machine_life *life = stock->file.life;
    if (life->used == 0) {
        life->used = 1;
        atomic_store_explicit(&life->instance, 1, memory_order_seq_cst);
    }
}

static firn__stock_doubt judge_record(firn__stock *stock, const firn_records *seen,
                                      const firn__stock_record *record) {
    const stock_witness now = {record->epoch, record->mark.high};
    stock_witness seen_last = {0};
    firn__binding here = {0};
    firn__binding_here(&stock->file, &here);
    const uint64_t words[3] = {here.id, here.file, here.boot};
    stock->here = here.file == 0 ? 0 : firn__hash(FIRN__HASH_START, words, sizeof words) | 1;
    if (firn__stock_left(record) == 0 && record->grant == 0) {
        return FIRN__STOCK_SURE;
    }
    const int file = witness_open(stock, false);
    const bool witnessed = witness_read(file, &seen_last);
    stock->epoch = witnessed ? (uint32_t)seen_last.epoch : 0;
    stock->reached = witnessed ? seen_last.mark : 0;
    if (file >= 0) {
        close(file);
    }
    if (stock->file.driver->lost(stock->file.file, seen) || seen->ns_losses != seen->losses ||
        (witnessed && is_earlier(&now, &seen_last))) {
        return FIRN__STOCK_OLDER;
    }
    const bool renewed =
        atomic_load_explicit(&stock->file.life->instance, memory_order_seq_cst) == 0;
    return !witnessed || record->here != stock->here || renewed ? FIRN__STOCK_UNSURE
                                                                : FIRN__STOCK_SURE;
}

static int open_stock_file(firn__stock *stock, firn_error *error) {
    const firn__stock_keys *keys = &stock->keys;
    firn_store_options options = firn__store_options(stock->file.shared);
    int code = firn__machine_has_place(stock->file.shared, error);
    if (code != FIRN_OK) {
        return code;
    }
    options.unsafe = options.unsafe || keys->unsafe != 0;
    options.wait_ms = 1000;
    const firn__machine_place place = {.ns = stock->names.ns,
                                       .layout = stock->names.layout,
                                       .path = keys->path[0] != '\0' ? keys->path : NULL,
                                       .options = options};
    code = firn__machine_file_open(&stock->file, &place, error);
    if (code != FIRN_OK) {
        firn__machine_file_close(&stock->file);
        stock->file = (firn__machine){.shared = stock->file.shared};
        return code;
    }
    atomic_store_explicit(&stock->file.life->instance, 1, memory_order_seq_cst);
    return FIRN_OK;
}

int firn__stock_begin(firn__stock *stock, firn_records *seen, firn__stock_record *record,
                      firn__stock_doubt *doubt, firn_error *error) {
    int code = stock->file.library == NULL ? open_stock_file(stock, error) : FIRN_OK;
    if (code == FIRN_OK) {
        adopt_child(stock); /* before the driver sees that this is a child */
        code = firn__machine_begin(&stock->file, seen, stock->names.key, error);
    }
    if (code == FIRN_OK) {
        (void)firn__stock_read(record, &seen->mark, seen->key_known ? seen->note : "");
        *doubt = judge_record(stock, seen, record);
    }
    if (code == FIRN_OK && stock->here == 0) { /* no copy would be noticed */
        code =
            firn__fail(error, FIRN_ESYSTEM,
                       "the inode of the reserve %.120s cannot be read with statx(2): allow that "
                       "call, or leave reserve out",
                       stock->file.path);
        return firn__stock_end(stock, code);
    }
    return code;
}

int firn__stock_end(firn__stock *stock, int code) {
    return firn__machine_end(&stock->file, code);
}

/* A loss of the file that shows here is written with the record, which is sound from then on: the
 * caller has dropped integers in doubt. The witness is never ahead of the integers in hand, or a
 * process that is killed in between would lose them. It is never at a record before a drop, which
 * an older copy has. */
int firn__stock_commit(firn__stock *stock, const firn_records *seen, firn__stock_record *record,
                       firn_error *error) {
    char note[FIRN_NOTE_SIZE];
    const firn__machine *file = &stock->file;
    firn_records next = *seen;
    int which = FIRN_RECORD_KEY;
    const bool dropped = record->grant == 0;
    const bool lowers = !dropped && record->mark.high < seen->mark.high;
    record->here = stock->here;
    next.key_known = true;
    next.mark = record->mark;
    next.note = firn__stock_write(note, record);
    if (file->driver->lost(file->file, seen)) {
        which |= FIRN_RECORD_STORE;
        next.losses = seen->losses + 1;
    }
    if (!seen->ns_known || seen->ns_losses != next.losses) {
        which |= FIRN_RECORD_NS; /* SQLite's has a record of the store from the start */
        next.ns_known = true;
        next.layout = file->layout;
        next.ns_losses = next.losses;
    }
    int code = lowers || dropped ? witness_set(stock, record, lowers, error) : FIRN_OK;
    code = code == FIRN_OK
               ? file->driver->write(file->file, seen, &next, which, FIRN_VERB_RESERVE, error)
               : code;
    code = firn__machine_end(&stock->file, code);
    if (code == FIRN_OK && dropped) { /* a copy of this process has nothing in hand */
        atomic_store_explicit(&file->life->instance, 1, memory_order_seq_cst);
    }
    return code == FIRN_OK ? witness_set(stock, record, false, error) : code;
}

int firn__stock_close(firn__stock *stock, uint64_t grant, firn_error *error) {
    firn_records seen;
    firn__stock_record record;
    firn__stock_doubt doubt;
    int code = firn__stock_begin(stock, &seen, &record, &doubt, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (record.grant != grant) {
        return firn__stock_end(stock, FIRN_OK);
    }
    firn__stock_empty(stock, &record);
    return firn__stock_commit(stock, &seen, &record, error);
}

int64_t firn__stock_now_ms(const firn__stock *stock) {
    int64_t now_ns = 0;
    (void)stock->clock->steady(stock->clock->self, &now_ns);
    return now_ns / 1000000;
}
