/* SPDX-License-Identifier: MIT */
/* Operations take turns by a lock of firn's own, flock(2) on FILE-count, around SQLite's locks: those belong to the
 * process, and the kernel drops them as soon as any code of the process closes one of the database's files. This lock
 * belongs to a descriptor that only its session knows. Without FILE-count, before the first store of an older firn
 * commits, SQLite's locks are the only ones. */
#include "sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTORS 256 /* noted at the same time; one more than these is closed by exec only */

static _Atomic int noted[DESCRIPTORS]; /* descriptor + 1; 0: free */

static void note(int file) {
    for (int i = 0, none = 0; i < DESCRIPTORS; i++, none = 0) {
        if (atomic_compare_exchange_strong_explicit(&noted[i], &none, file + 1,
                                                    memory_order_seq_cst, memory_order_seq_cst)) {
            return;
        }
    }
}

static void forget(int file) {
    for (int i = 0, there = file + 1; i < DESCRIPTORS; i++, there = file + 1) {
        if (atomic_compare_exchange_strong_explicit(&noted[i], &there, 0, memory_order_seq_cst,
                                                    memory_order_seq_cst)) {
            return;
        }
    }
}

/* A child shares the lock of its parent, and would keep it if the parent were killed. It does, if a handler forks
 * between the opening of the descriptor and its note. */
static void close_in_child(void) {
    int number = errno;
    for (int i = 0; i < DESCRIPTORS; i++) {
        int file = atomic_exchange_explicit(&noted[i], 0, memory_order_seq_cst) - 1;
        if (file >= 0) {
            close(file);
        }
    }
    errno = number;
}

/* Two threads may both register the handler: its second run finds nothing to close. */
bool sqlite_turns_begin(void) {
    static _Atomic bool begun;
    if (!atomic_load_explicit(&begun, memory_order_seq_cst)) {
        atomic_store_explicit(&begun, pthread_atfork(NULL, NULL, close_in_child) == 0,
                              memory_order_seq_cst);
    }
    return atomic_load_explicit(&begun, memory_order_seq_cst);
}

/* Somebody may have removed the count, or put another in its place. */
static bool is_current(const session *s, int file) {
    struct stat opened, named;
    return fstat(file, &opened) == 0 && sqlite_tally_look(s->store, &named) &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

int sqlite_take_turn(session *s) {
    for (;;) {
        if (s->turn == 0) {
            int file = sqlite_tally_open(s->store);
            if (file < 0) {
                return errno == ENOENT ? SQLITE_OK : SQLITE_CANTOPEN;
            }
            note(file);
            s->turn = file + 1;
        }
        if (flock(s->turn - 1, LOCK_EX | LOCK_NB) == 0) {
            if (is_current(s, s->turn - 1)) {
                return SQLITE_OK;
            }
            sqlite_end_turn(s);
        } else if (errno != EWOULDBLOCK && errno != EINTR) {
            return s->store->unsafe ? SQLITE_OK : SQLITE_IOERR_LOCK;
        }
        if (!sqlite_wait(s, 0)) { /* often: a process that reserves in a loop leaves short gaps */
            return SQLITE_BUSY;
        }
    }
}

void sqlite_end_turn(session *s) {
    if (s->turn != 0 && sqlite_mine()) { /* a child closed it, and may have opened another there */
        flock(s->turn - 1, LOCK_UN);     /* closing does not, while a child has the descriptor */
        forget(s->turn - 1);
        close(s->turn - 1);
        s->turn = 0;
    }
}
