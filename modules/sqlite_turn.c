/* SPDX-License-Identifier: MIT */
/* Operations take turns by a lock of firn's own: flock(2) on FILE-count, held around SQLite's
 * locks. SQLite's locks belong to the process, and the kernel drops them as soon as any code of the
 * process closes one of the database's files. The flock belongs to a descriptor that only its
 * session knows. A store that an older firn made has no FILE-count before its first commit; until
 * then, SQLite's locks are the only ones. */
#include "sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTORS 256 /* that a child closes; those beyond stay open until exec */

static _Atomic int noted[DESCRIPTORS]; /* descriptor + 1; 0: free */

static void note(int file) {
    for (int i = 0, none = 0; i < DESCRIPTORS; i++, none = 0) {
        if (atomic_compare_exchange_strong_explicit(&noted[i], &none, file + 1,
                                                    memory_order_seq_cst, memory_order_seq_cst)) {
            return;
        }
    }
}

static void forget_descriptor(int file) {
    for (int i = 0, there = file + 1; i < DESCRIPTORS; i++, there = file + 1) {
        if (atomic_compare_exchange_strong_explicit(&noted[i], &there, 0, memory_order_seq_cst,
                                                    memory_order_seq_cst)) {
            return;
        }
    }
}

/* Runs in each child. A child shares the lock of its parent and would keep it after the parent was
 * killed, so it closes all noted descriptors. It misses one that was opened but not yet noted when
 * a signal handler forked. */
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

/* Two threads may both register the handler; the second run finds nothing to close. */
bool sqlite_turns_begin(void) {
    static _Atomic bool begun;
    if (!atomic_load_explicit(&begun, memory_order_seq_cst)) {
        atomic_store_explicit(&begun, pthread_atfork(NULL, NULL, close_in_child) == 0,
                              memory_order_seq_cst);
    }
    return atomic_load_explicit(&begun, memory_order_seq_cst);
}

/* Whether the descriptor is still FILE-count: somebody may have removed or replaced the file. */
static bool is_current(const sqlite_session *session, int file) {
    struct stat opened, named;
    return fstat(file, &opened) == 0 && sqlite_tally_look(session->store, &named) &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* flock(2) is not fair: a process that reserves in a loop takes the lock again before those that
 * poll for it wake up. So it pauses from time to time, for longer than they sleep. */
static bool pause_for_others(const sqlite_store *store) {
    enum { APART_MS = 2, TURNS_MS = 50, PAUSE_MS = 3 };
    const int64_t now_ms = module_now_ms();
    const bool fresh = now_ms - store->turned_ms > APART_MS;
    if (fresh || now_ms - store->turns_ms < TURNS_MS) {
        return fresh;
    }
    nanosleep(&(struct timespec){0, PAUSE_MS * 1000000}, NULL);
    return true;
}

int sqlite_take_turn(sqlite_session *session) {
    const bool fresh = pause_for_others(session->store);
    for (;;) {
        if (session->turn == 0) {
            int file = sqlite_tally_open(session->store);
            if (file < 0) {
                return errno == ENOENT ? SQLITE_OK : SQLITE_CANTOPEN;
            }
            note(file);
            session->turn = file + 1;
        }
        if (flock(session->turn - 1, LOCK_EX | LOCK_NB) == 0) {
            if (is_current(session, session->turn - 1)) {
                session->store->turns_ms = fresh ? module_now_ms() : session->store->turns_ms;
                return SQLITE_OK;
            }
            sqlite_end_turn(session);
        } else if (errno != EWOULDBLOCK && errno != EINTR) {
            return session->store->unsafe ? SQLITE_OK : SQLITE_IOERR_LOCK;
        }
        if (!sqlite_wait(session,
                         0)) { /* polls often, as a loop of reservations leaves short gaps */
            return SQLITE_BUSY;
        }
    }
}

void sqlite_end_turn(sqlite_session *session) {
    if (session->turn != 0 && sqlite_mine()) { /* in a child, the number may be another file's */
        flock(session->turn - 1,
              LOCK_UN); /* close does not unlock while a child has the descriptor */
        forget_descriptor(session->turn - 1);
        close(session->turn - 1);
        session->turn = 0;
        session->store->turned_ms = module_now_ms();
    }
}
