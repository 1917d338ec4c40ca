/* SPDX-License-Identifier: MIT */
#include "connections.h"

#include "core/log.h"
#include "errors.h"
#include "settings/setting.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

enum {
    LOOP_FILES = 5,  /* that a thread opens besides its socket: libuv 1.45 added one for io_uring */
    OPEN_GUESS = 16, /* open files, if /proc does not show them */
    RESERVE = 64,    /* stores and files */
    RESERVE_THREAD = 64, /* connections that a thread may close only after it has accepted others */
    RESERVE_PART = 4,    /* but at most this part of those that are left, 1/4 */
    LEAST = 16           /* connections without which the server does not start */
};

static struct {
    int64_t descriptors, reserved;
    int64_t most;          /* of one listener; the other one always has the rest */
    int64_t together;      /* of both */
    _Atomic int64_t count; /* of both */
} fitted = {.most = INT64_MAX, .together = INT64_MAX};

static int64_t count_open(void) {
    DIR *folder = opendir("/proc/self/fd");
    int64_t count = -3; /* ".", ".." and the folder itself */
    if (folder == NULL) {
        return errno == EMFILE ? INT32_MAX : OPEN_GUESS;
    }
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

int connections_fit(int threads, int listeners, firn_error *error) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        return FIRN_OK;
    }
    if (files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
        getrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur == RLIM_INFINITY || files.rlim_cur > INT32_MAX) {
        return FIRN_OK;
    }
    int64_t reserve = RESERVE + (int64_t)RESERVE_THREAD * threads;
    int64_t used = count_open() + (int64_t)LOOP_FILES * threads;
    fitted.descriptors = (int64_t)files.rlim_cur;
    int64_t part = (fitted.descriptors - used) / RESERVE_PART;
    fitted.reserved = used + (reserve < part ? reserve : part);
    fitted.together = fitted.descriptors - fitted.reserved;
    fitted.most = listeners > 1 ? fitted.together / 4 * 3 : fitted.together;
    if (fitted.together < LEAST) {
        return set_error(error, FIRN_ESYSTEM,
                         "the limit of open files (%" PRId64
                         ") leaves room for fewer than %d connections: raise it "
                         "(ulimit -n, LimitNOFILE), or lower loops and http_threads",
                         fitted.descriptors, LEAST);
    }
    return FIRN_OK;
}

void connections_tell(void) {
    char set[24], most[24], together[24], descriptors[24], reserved[24];
    if (connections_most() == settings_now()->max_connections &&
        connections_most() * 2 <= fitted.together) {
        return;
    }
    snprintf(set, sizeof set, "%" PRId64, settings_now()->max_connections);
    snprintf(most, sizeof most, "%" PRId64, connections_most());
    snprintf(together, sizeof together, "%" PRId64, fitted.together);
    snprintf(descriptors, sizeof descriptors, "%" PRId64, fitted.descriptors);
    snprintf(reserved, sizeof reserved, "%" PRId64, fitted.reserved);
    log_event(LOG_LEVEL_WARNING, "the limit of open files reduces connections", "max_connections",
              set, "each_listener", most, "both_listeners", together, "open_files", descriptors,
              "reserved", reserved, NULL);
}

int64_t connections_most(void) {
    int64_t set = settings_now()->max_connections;
    return set < fitted.most ? set : fitted.most;
}

void connections_count(int64_t change) {
    atomic_fetch_add_explicit(&fitted.count, change, memory_order_seq_cst);
}

bool connections_are_full(int64_t own) {
    return own >= connections_most() ||
           atomic_load_explicit(&fitted.count, memory_order_seq_cst) >= fitted.together;
}
