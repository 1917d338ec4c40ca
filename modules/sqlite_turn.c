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
 * poll for it wake up. So a verb that meets the lock or a queue joins the queue: it locks the byte
 * of FILE-count after the last locked one, and tries the flock when no byte before its own is
 * locked. The kernel drops the byte of a process that ends. The queue only says who tries. On a file
 * system without such locks all verbs try, and the flock excludes them as before. */
static bool find_lock(const sqlite_session *session, int64_t from, int64_t length,
                      struct flock *lock) {
    *lock = (struct flock){.l_type = F_WRLCK,
                           .l_whence = SEEK_SET,
                           .l_start = from,
                           .l_len = length}; /* 0: to the end */
    return fcntl(session->turn - 1, F_OFD_GETLK, lock) == 0 && lock->l_type != F_UNLCK;
}

static bool set_lock(const sqlite_session *session, int64_t place, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
    return fcntl(session->turn - 1, F_OFD_SETLK, &lock) == 0;
}

/* Two who arrive at once may find the same place; then one looks for the next. */
static void queue_up(sqlite_session *session) {
    enum { TRIES = 10000 };
    struct flock other;
    int64_t place = 0;
    for (int i = 0; i < TRIES && session->place == 0; i++) {
        if (find_lock(session, place, 0, &other)) {
            if (other.l_len == 0 || other.l_start > INT64_MAX / 2) {
                return; /* another program's */
            }
            place = other.l_start + other.l_len;
        } else if (set_lock(session, place, F_WRLCK)) {
            session->place = place + 1;
            session->waited_for = -1;
            session->queued_ms = module_now_ms();
        } else if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
            return;
        }
    }
}

static void leave_queue(sqlite_session *session) {
    if (session->place != 0) {
        set_lock(session, session->place - 1, F_UNLCK);
        session->place = 0;
    }
}

/* May this verb try the flock now? A place ahead that stays while the flock is free is of a process
 * that does not run, perhaps because it was stopped. After STOPPED_MS it is passed over; the handle
 * remembers it, and leaves it only GRACE_MS from then on, in which a process that runs again tries
 * several times. */
static bool is_first(sqlite_session *session) {
    enum { STOPPED_MS = 200, GRACE_MS = 5 };
    sqlite_store *store = session->store;
    const int64_t now_ms = module_now_ms();
    struct flock ahead;
    session->ahead = -1;
    if (store->passed >= session->place ||
        (store->passed > 0 && !find_lock(session, 0, store->passed, &ahead))) {
        store->passed = 0;
    }
    if (store->passed > 0 && now_ms - session->queued_ms < GRACE_MS) {
        return false;
    }
    const int64_t before = session->place - 1 - store->passed;
    if (before == 0 || !find_lock(session, store->passed, before, &ahead)) {
        return true;
    }
    if (ahead.l_start != session->waited_for) {
        session->waited_for = ahead.l_start;
        session->waits_ms = now_ms;
    }
    if (now_ms - session->waits_ms < STOPPED_MS) {
        return false;
    }
    session->waits_ms = now_ms; /* again after that time, if the flock is not free */
    session->ahead = ahead.l_start;
    return true;
}

static bool open_turn(sqlite_session *session) {
    struct flock other;
    const int file = sqlite_tally_open(session->store);
    if (file >= 0) {
        note(file);
        session->turn = file + 1;
        if (find_lock(session, 0, 0, &other)) {
            queue_up(session);
        }
    }
    return file >= 0;
}

int sqlite_take_turn(sqlite_session *session) {
    for (;;) {
        if (session->turn == 0 && !open_turn(session)) {
            return errno == ENOENT ? SQLITE_OK : SQLITE_CANTOPEN;
        }
        const bool first = session->place == 0 || is_first(session);
        if (first && flock(session->turn - 1, LOCK_EX | LOCK_NB) == 0) {
            if (session->place != 0 && session->ahead >= 0) {
                session->store->passed = session->ahead + 1;
            }
            leave_queue(session);
            if (is_current(session, session->turn - 1)) {
                return SQLITE_OK;
            }
            sqlite_end_turn(session);
            continue;
        }
        if (first && errno != EWOULDBLOCK && errno != EINTR) {
            return session->store->unsafe ? SQLITE_OK : SQLITE_IOERR_LOCK;
        }
        if (session->place == 0) {
            queue_up(session);
        }
        if (!sqlite_wait(session, 0)) { /* polls often: the flock is free until the first has it */
            return SQLITE_BUSY;
        }
    }
}

void sqlite_end_turn(sqlite_session *session) {
    if (session->turn != 0 && sqlite_mine()) { /* in a child, the number may be another file's */
        leave_queue(session); /* close does not unlock while a child has the descriptor */
        flock(session->turn - 1, LOCK_UN);
        forget_descriptor(session->turn - 1);
        close(session->turn - 1);
        session->turn = 0;
    }
}
