/* SPDX-License-Identifier: MIT */
/* Each worker has a table of rows. About once per second the writer takes it, leaves an empty one,
 * and writes a line per row; if the file is slow the rows only count more. */
#include "access_log.h"

#include "core/log.h"
#include "core/series.h"
#include "core/text.h"
#include "errors.h"
#include "mark.h"
#include "settings/setting.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    ROWS = 4096,       /* per worker, between two rounds of the writer */
    PLACES = 8192,     /* of the index, a power of two */
    ROUND_MS = 1000,   /* with a line per request: a tenth of this */
    PATIENCE_MS = 1000 /* for a pipe that nobody reads */
};

typedef struct log_row {
    firn_time time; /* of the first request */
    const account *who;
    address_key from;
    const char *name; /* of a generator, segment or series, which are never freed */
    const char *kind; /* a literal: "generator", "segment" or "series" */
    uint64_t requests, refused, ids;
} log_row;

typedef struct log_table {
    size_t count;
    uint64_t dropped;        /* requests that found no row */
    uint16_t places[PLACES]; /* index of a row + 1; 0: none */
    log_row rows[ROWS];
} log_table;

static struct {
    pthread_mutex_t locks[WORKERS_MAX]; /* for the tables */
    log_table *tables[WORKERS_MAX];
    log_table *spare; /* empty; the writer's */
    atomic_bool on, each;
    _Atomic uint64_t lines, dropped;
    pthread_mutex_t lock; /* for the following */
    pthread_cond_t wake;
    bool runs, ends;
    int file, used; /* used: what the writer writes to now; -1: none */
    pthread_t thread;
    bool stuck, torn; /* the writer's: nobody reads; a line was cut */
} all = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .file = -1, .used = -1};

/* ---- counting -------------------------------------------------------------------------------- */

static bool is_same(const log_row *a, const log_row *b) {
    return a->who == b->who && a->name == b->name && a->kind == b->kind &&
           address_is_same(a->from, b->from);
}

static size_t place_of(const log_row *row) {
    uint64_t hash = (uint64_t)(uintptr_t)row->who ^ (uint64_t)(uintptr_t)row->name << 7;
    hash = (hash ^ row->from.high) * UINT64_C(0xd6e8feb86659fd93);
    hash = (hash ^ hash >> 32 ^ row->from.low) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> 51);
}

/* The row of the same client and generator, or a new one; NULL: all are in use. The index has twice
 * as many places as there are rows, so the search ends. */
static log_row *row_for(log_table *in, const log_row *like, bool each) {
    size_t position = place_of(like);
    for (; !each && in->places[position] != 0; position = (position + 1) % PLACES) {
        if (is_same(&in->rows[in->places[position] - 1], like)) {
            return &in->rows[in->places[position] - 1];
        }
    }
    if (in->count == ROWS) {
        return NULL;
    }
    log_row *fresh = &in->rows[in->count++];
    *fresh = *like;
    fresh->requests = fresh->refused = fresh->ids = 0; /* added by the caller */
    fresh->time = mark_now();
    if (!each) {
        in->places[position] = (uint16_t)in->count;
    }
    return fresh;
}

static void add(log_table *table, const log_row *row, bool each) {
    log_row *mine = row_for(table, row, each);
    if (mine == NULL) {
        table->dropped += row->requests + row->refused;
    } else {
        mine->requests += row->requests;
        mine->refused += row->refused;
        mine->ids += row->ids;
    }
}

void access_log_count(const server_request *request, const access_pass *pass, address_key client,
                      size_t times, bool refused) {
    if (!atomic_load_explicit(&all.on, memory_order_relaxed) || !verb_issues(request->verb)) {
        return;
    }
    static const char *const kinds[] = {"generator", "segment", "series"};
    int i = request->worker->index;
    log_row row = {.who = pass->account,
                   .from = client,
                   .name = request->generator != NULL ? request->generator->name
                           : request->segment != NULL ? request->segment->name
                           : request->series != NULL  ? request->series->name
                           : request->digest != NULL  ? request->digest->name
                                                      : NULL,
                   .kind = request->segment != NULL  ? kinds[1]
                           : request->series != NULL ? kinds[2]
                                                     : kinds[0]};
    if (row.name == NULL) {
        return; /* there is no such name, or it could not be opened */
    }
    pthread_mutex_lock(&all.locks[i]);
    if (all.tables[i] == NULL) {
        all.tables[i] = calloc(1, sizeof *all.tables[i]);
    }
    if (all.tables[i] == NULL) {
        atomic_fetch_add_explicit(&all.dropped, times, memory_order_seq_cst);
    } else {
        row.requests = refused ? 0 : times;
        row.refused = refused ? times : 0;
        row.ids = refused ? 0 : times * (uint64_t)request->count;
        add(all.tables[i], &row, atomic_load_explicit(&all.each, memory_order_relaxed));
    }
    pthread_mutex_unlock(&all.locks[i]);
}

uint64_t access_log_lines(void) {
    return atomic_load_explicit(&all.lines, memory_order_seq_cst);
}

uint64_t access_log_dropped(void) {
    return atomic_load_explicit(&all.dropped, memory_order_seq_cst);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* As a string of JSON. Segments that clients created may have any name. */
static void put_string(text_out *out, const char *text) {
    size_t left = strlen(text);
    text_add(out, "\"", 1);
    while (left > 0) {
        size_t size = firn__utf8_size(text, left);
        bool plain = size > 1 || (*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\');
        if (size > 0 && plain) {
            text_add(out, text, size);
        } else {
            text_print(out, "\\u%04x", (unsigned)(unsigned char)*text);
            size = 1;
        }
        text += size;
        left -= size;
    }
    text_add(out, "\"", 1);
}

static void put_line(text_out *out, const log_row *row, bool http) {
    char when[FIRN_TIME_SIZE], address[ADDRESS_TEXT_SIZE];
    address_write(address, row->from);
    text_print(out, "{\"time\":\"%s\",\"listener\":\"%s\",", firn_time_format(when, &row->time, 3),
               http ? "http" : "resp");
    if (row->who != NULL) {
        text_print(out, "\"token\":\"%s\",", row->who->name);
    }
    text_print(out, "\"address\":\"%s\",\"%s\":", address, row->kind);
    put_string(out, row->name);
    text_print(out, ",\"requests\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"ids\":%" PRIu64 "}\n",
               row->requests + row->refused, row->refused, row->ids);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Standard output may be shared, so its flags must not change: after poll a pipe takes PIPE_BUF
 * bytes without blocking. False: nobody reads, or the disk is full. */
static bool write_some(int file, const char *bytes, size_t *length) {
    struct pollfd room = {.fd = file, .events = POLLOUT};
    *length = *length < PIPE_BUF ? *length : PIPE_BUF;
    if (poll(&room, 1, all.stuck ? 0 : PATIENCE_MS) != 1 || (room.revents & POLLOUT) == 0) {
        errno = EAGAIN;
        return false;
    }
    ssize_t written = write(file, bytes, *length);
    *length = written > 0 ? (size_t)written : 0;
    return written > 0;
}

static void count_lines(const char *bytes, size_t length) {
    uint64_t ends = 0;
    for (size_t i = 0; i < length; i++) {
        ends += bytes[i] == '\n';
    }
    atomic_fetch_add_explicit(&all.lines, ends, memory_order_seq_cst);
}

/* Drops and counts lines that cannot be written. */
static void write_lines(int file, const text_out *lines, uint64_t requests) {
    static log_gate gate;
    char count[LOG_COUNT_SIZE];
    size_t done = 0, value = 1;
    if (all.torn && write_some(file, "\n", &value)) {
        all.torn = false;
    }
    while (done < lines->length) {
        size_t length = lines->length - done;
        bool written = write_some(file, lines->bytes + done, &length);
        all.stuck = !written;
        if (!written) {
            all.torn = all.torn || (done > 0 && lines->bytes[done - 1] != '\n');
            atomic_fetch_add_explicit(&all.dropped, requests, memory_order_seq_cst);
            if (log_gate_opens(&gate, count)) {
                log_event(LOG_LEVEL_WARNING, "access log not written", "why", strerror(errno),
                          "times", count, NULL);
            }
            return;
        }
        count_lines(lines->bytes + done, length);
        done += length;
    }
}

static void write_table(const log_table *table, bool http, int file) {
    text_out lines = {0};
    uint64_t requests = 0;
    for (size_t i = 0; i < table->count; i++) {
        put_line(&lines, &table->rows[i], http);
        requests += table->rows[i].requests + table->rows[i].refused;
        if (lines.length > PIPE_BUF || i + 1 == table->count) {
            write_lines(file, &lines, requests);
            requests = lines.length = 0;
        }
    }
    atomic_fetch_add_explicit(&all.dropped, table->dropped, memory_order_seq_cst);
    free(lines.bytes);
}

/* Takes the table of each worker and leaves an empty one. */
static void write_all(int file) {
    const server_worker *worker;
    for (int i = 0; i < WORKERS_MAX && (worker = worker_at(i)) != NULL; i++) {
        if (all.spare == NULL && (all.spare = calloc(1, sizeof *all.spare)) == NULL) {
            return; /* the tables count on */
        }
        pthread_mutex_lock(&all.locks[i]);
        log_table *full = all.tables[i];
        if (full != NULL && full->count > 0) {
            all.tables[i] = all.spare;
        } else {
            full = NULL;
        }
        pthread_mutex_unlock(&all.locks[i]);
        if (full != NULL) {
            write_table(full, worker->http, file);
            full->count = full->dropped = 0;
            memset(full->places, 0, sizeof full->places);
            all.spare = full;
        }
    }
}

/* -1: failed. */
static int open_file(const char *path) {
    return strcmp(path, "-") == 0
               ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
               : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                      0640);
}

static int cannot_write(const char *path, firn_error *error) {
    return set_error(error, FIRN_EIO,
                     "cannot write the access log %.100s: %s: check the path and its permissions",
                     path, strerror(errno));
}

int access_log_check(const char *path, firn_error *error) {
    const char *name = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    struct stat about;
    if (name != NULL) {
        snprintf(folder, sizeof folder, "%.*s", name == path ? 1 : (int)(name - path), path);
    }
    if (path[0] == '\0' || strcmp(path, "-") == 0) {
        return FIRN_OK;
    }
    if (stat(folder, &about) != 0) {
        return cannot_write(path, error);
    }
    errno = ENOTDIR;
    return S_ISDIR(about.st_mode) ? FIRN_OK : cannot_write(path, error);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Under the lock. */
static void wait_round(void) {
    struct timespec until;
    int64_t wait_ms =
        atomic_load_explicit(&all.each, memory_order_seq_cst) ? ROUND_MS / 10 : ROUND_MS;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t ns = until.tv_nsec + wait_ms * 1000000;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_cond_timedwait(&all.wake, &all.lock, &until);
}

/* Under the lock, which it leaves while it writes. */
static void write_round(void) {
    all.used = all.file;
    pthread_mutex_unlock(&all.lock);
    if (all.used >= 0) {
        write_all(all.used);
    }
    pthread_mutex_lock(&all.lock);
    if (all.used >= 0 && all.used != all.file) {
        close(all.used);
    }
    all.used = -1;
}

static void *run(void *self) {
    (void)self;
    pthread_mutex_lock(&all.lock);
    while (!all.ends) {
        wait_round();
        write_round();
    }
    write_round();
    pthread_mutex_unlock(&all.lock);
    return NULL;
}

/* Under the lock. */
static int start(firn_error *error) {
    if (all.runs) {
        return FIRN_OK;
    }
    all.runs = pthread_create(&all.thread, NULL, run, NULL) == 0;
    return all.runs ? FIRN_OK
                    : set_error(error, FIRN_ESYSTEM, "cannot start a thread: raise ulimit -u");
}

/* Under the lock. The writer closes the file that it may be using. */
static int open_again(firn_error *error) {
    const server_settings *set = settings_now();
    int file = -1;
    if (set->access_log[0] != '\0' && (file = open_file(set->access_log)) < 0) {
        return cannot_write(set->access_log, error);
    }
    int code = file >= 0 ? start(error) : FIRN_OK;
    if (code != FIRN_OK) {
        close(file);
        return code;
    }
    if (all.file >= 0 && all.file != all.used) {
        close(all.file);
    }
    all.file = file;
    atomic_store_explicit(&all.each, set->access_log_lines == 1, memory_order_seq_cst);
    atomic_store_explicit(&all.on, file >= 0, memory_order_seq_cst);
    pthread_cond_signal(&all.wake);
    return FIRN_OK;
}

int access_log_begin(firn_error *error) {
    for (int i = 0; i < WORKERS_MAX; i++) {
        pthread_mutex_init(&all.locks[i], NULL);
    }
    pthread_mutex_lock(&all.lock);
    int code = open_again(error);
    pthread_mutex_unlock(&all.lock);
    return code;
}

void access_log_reopen(void) {
    firn_error error;
    pthread_mutex_lock(&all.lock);
    if (open_again(&error) != FIRN_OK) {
        log_event(LOG_LEVEL_ERROR, "access log not opened again", "why", error.text, NULL);
    }
    pthread_mutex_unlock(&all.lock);
}

void access_log_end(void) {
    pthread_mutex_lock(&all.lock);
    bool runs = all.runs;
    all.ends = true;
    pthread_cond_signal(&all.wake);
    pthread_mutex_unlock(&all.lock);
    if (runs) {
        pthread_join(all.thread, NULL);
        all.runs = false;
    }
}
