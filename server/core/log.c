/* SPDX-License-Identifier: MIT */
#include "log.h"

#include "mark.h"
#include "monotonic.h"
#include "server.h"
#include "text_view.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    GATE_MS = 10000,
    /* the longest reason of /readyz, each byte escaped, and the rest of the line */
    LINE_SIZE = 2 * SERVER_WHY_SIZE + 512,
    END_SIZE = 4 /* ends a line: quote, brace, newline */
};

static _Atomic int least_level = LOG_LEVEL_INFO;
static atomic_bool as_objects;
static pthread_mutex_t one_writer = PTHREAD_MUTEX_INITIALIZER;
static unsigned long lost; /* lines not read in time; under one_writer */

void log_set(enum log_level least, bool as_json) {
    atomic_store_explicit(&least_level, (int)least, memory_order_seq_cst);
    atomic_store_explicit(&as_objects, as_json, memory_order_seq_cst);
}

/* ---- a line --------------------------------------------------------------------------------- */

/* Room is kept for the end, so that a truncated line is well-formed. */
typedef struct log_line {
    char text[LINE_SIZE];
    size_t length;
    bool json, full;
} log_line;

static void put(log_line *line, const char *text, size_t length) {
    if (line->full || line->length + length > LINE_SIZE - END_SIZE) {
        line->full = true;
        return;
    }
    memcpy(line->text + line->length, text, length);
    line->length += length;
}

static void put_word(log_line *line, const char *text) {
    put(line, text, strlen(text));
}

/* Replaces what is hidden or not UTF-8. */
static void put_escaped(log_line *line, const char *text) {
    const char *end = text + strlen(text);
    for (size_t size; text<end; text += size> 0 ? size : 1) {
        char escaped[2] = {'\\', *text};
        size = firn__utf8_size(text, (size_t)(end - text));
        if (*text == '"' || *text == '\\') {
            put(line, escaped, 2);
        } else if (size == 0 || (*text != ' ' && utf8_is_hidden(text, size))) {
            put(line, "?", 1);
        } else {
            put(line, text, size);
        }
    }
}

static bool is_bare(const char *text) {
    for (const char *position = text; *position != '\0'; position++) {
        if (*position <= ' ' || *position > '~' || strchr("\"\\=", *position) != NULL) {
            return false;
        }
    }
    return text[0] != '\0';
}

/* Writes name and value or nothing; a long value is truncated. */
static void put_pair(log_line *line, const char *name, const char *value) {
    char first = line->length == 0;
    if (line->full || line->length + strlen(name) + 8 > LINE_SIZE - END_SIZE) {
        line->full = true;
        return;
    }
    put_word(line, line->json ? (first ? "{\"" : ",\"") : (first ? "" : " "));
    put_escaped(line, name);
    put_word(line, line->json ? "\":\"" : "=");
    if (!line->json && is_bare(value)) {
        put_word(line, value);
        return;
    }
    put_word(line, line->json ? "" : "\"");
    put_escaped(line, value);
    memcpy(line->text + line->length, "\"", 1); /* in the room kept for the end */
    line->length++;
}

static void put_time(log_line *line) {
    const firn_time now = mark_now();
    char text[FIRN_TIME_SIZE];
    put_pair(line, "time", firn_time_format(text, &now, 3));
}

static void end_line(log_line *line) {
    const char *end = line->json ? "}\n" : "\n";
    memcpy(line->text + line->length, end, strlen(end));
    line->length += strlen(end);
}

/* ---- the way out ---------------------------------------------------------------------------- */

/* Standard error may be shared, so its flags must not change: a socket gets MSG_DONTWAIT,
 * everything else is polled for room. */
static bool write_out(const log_line *line) {
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    ssize_t sent = send(STDERR_FILENO, line->text, line->length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0) {
        sent = write(STDERR_FILENO, line->text, line->length);
    }
    return sent > 0;
}

static void tell_lost(bool json) {
    char number[24];
    log_line line = {.json = json};
    snprintf(number, sizeof number, "%lu", lost);
    put_time(&line);
    put_pair(&line, "level", "warning");
    put_pair(&line, "event", "log lines lost");
    put_pair(&line, "lines", number);
    end_line(&line);
    lost = write_out(&line) ? 0 : lost;
}

void log_event(enum log_level level, const char *event, ...) {
    static const char *const levels[] = {"debug", "info", "warning", "error"};
    if ((int)level < atomic_load_explicit(&least_level, memory_order_seq_cst)) {
        return;
    }
    log_line line = {.json = atomic_load_explicit(&as_objects, memory_order_seq_cst)};
    put_time(&line);
    put_pair(&line, "level", levels[level]);
    put_pair(&line, "event", event);
    va_list pairs;
    va_start(pairs, event);
    for (const char *name = va_arg(pairs, const char *); name != NULL;
         name = va_arg(pairs, const char *)) {
        const char *value = va_arg(pairs, const char *);
        put_pair(&line, name, value != NULL ? value : "");
    }
    va_end(pairs);
    end_line(&line);
    pthread_mutex_lock(&one_writer);
    if (lost > 0) {
        tell_lost(line.json);
    }
    lost += !write_out(&line);
    pthread_mutex_unlock(&one_writer);
}

bool log_gate_opens(log_gate *gate, char count[LOG_COUNT_SIZE]) {
    int64_t now = monotonic_ms(), told = atomic_load_explicit(&gate->told_ms, memory_order_seq_cst);
    atomic_fetch_add_explicit(&gate->count, 1, memory_order_seq_cst);
    if ((told != 0 && now - told < GATE_MS) ||
        !atomic_compare_exchange_strong_explicit(&gate->told_ms, &told, now, memory_order_seq_cst,
                                                 memory_order_seq_cst)) {
        return false;
    }
    snprintf(count, LOG_COUNT_SIZE, "%" PRIu64,
             atomic_exchange_explicit(&gate->count, 0, memory_order_seq_cst));
    return true;
}
