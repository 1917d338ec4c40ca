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
typedef struct line {
    char text[LINE_SIZE];
    size_t length;
    bool json, full;
} line;

static void put(line *to, const char *text, size_t length) {
    if (to->full || to->length + length > LINE_SIZE - END_SIZE) {
        to->full = true;
        return;
    }
    memcpy(to->text + to->length, text, length);
    to->length += length;
}

static void put_word(line *to, const char *text) {
    put(to, text, strlen(text));
}

/* Replaces what is hidden or not UTF-8. */
static void put_escaped(line *to, const char *text) {
    const char *end = text + strlen(text);
    for (size_t size; text<end; text += size> 0 ? size : 1) {
        char escaped[2] = {'\\', *text};
        size = firn__utf8_size(text, (size_t)(end - text));
        if (*text == '"' || *text == '\\') {
            put(to, escaped, 2);
        } else if (size == 0 || (*text != ' ' && utf8_is_hidden(text, size))) {
            put(to, "?", 1);
        } else {
            put(to, text, size);
        }
    }
}

static bool is_bare(const char *text) {
    for (const char *at = text; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~' || strchr("\"\\=", *at) != NULL) {
            return false;
        }
    }
    return text[0] != '\0';
}

/* Writes name and value or nothing; a long value is truncated. */
static void put_pair(line *to, const char *name, const char *value) {
    char first = to->length == 0;
    if (to->full || to->length + strlen(name) + 8 > LINE_SIZE - END_SIZE) {
        to->full = true;
        return;
    }
    put_word(to, to->json ? (first ? "{\"" : ",\"") : (first ? "" : " "));
    put_escaped(to, name);
    put_word(to, to->json ? "\":\"" : "=");
    if (!to->json && is_bare(value)) {
        put_word(to, value);
        return;
    }
    put_word(to, to->json ? "" : "\"");
    put_escaped(to, value);
    memcpy(to->text + to->length, "\"", 1); /* in the room kept for the end */
    to->length++;
}

static void put_time(line *to) {
    const firn_time now = mark_now();
    char text[FIRN_TIME_SIZE];
    put_pair(to, "time", firn_time_format(text, &now, 3));
}

static void end_line(line *to) {
    const char *end = to->json ? "}\n" : "\n";
    memcpy(to->text + to->length, end, strlen(end));
    to->length += strlen(end);
}

/* ---- the way out ---------------------------------------------------------------------------- */

/* Standard error may be shared, so its flags must not change: a socket gets MSG_DONTWAIT,
 * everything else is polled for room. */
static bool write_out(const line *it) {
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    ssize_t sent = send(STDERR_FILENO, it->text, it->length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0) {
        sent = write(STDERR_FILENO, it->text, it->length);
    }
    return sent > 0;
}

static void tell_lost(bool json) {
    char number[24];
    line it = {.json = json};
    snprintf(number, sizeof number, "%lu", lost);
    put_time(&it);
    put_pair(&it, "level", "warning");
    put_pair(&it, "event", "log lines lost");
    put_pair(&it, "lines", number);
    end_line(&it);
    lost = write_out(&it) ? 0 : lost;
}

void log_event(enum log_level level, const char *event, ...) {
    static const char *const levels[] = {"debug", "info", "warning", "error"};
    if ((int)level < atomic_load_explicit(&least_level, memory_order_seq_cst)) {
        return;
    }
    line it = {.json = atomic_load_explicit(&as_objects, memory_order_seq_cst)};
    put_time(&it);
    put_pair(&it, "level", levels[level]);
    put_pair(&it, "event", event);
    va_list pairs;
    va_start(pairs, event);
    for (const char *name = va_arg(pairs, const char *); name != NULL;
         name = va_arg(pairs, const char *)) {
        const char *value = va_arg(pairs, const char *);
        put_pair(&it, name, value != NULL ? value : "");
    }
    va_end(pairs);
    end_line(&it);
    pthread_mutex_lock(&one_writer);
    if (lost > 0) {
        tell_lost(it.json);
    }
    lost += !write_out(&it);
    pthread_mutex_unlock(&one_writer);
}

bool log_gate_opens(log_gate *it, char count[LOG_COUNT_SIZE]) {
    int64_t now = monotonic_ms(), told = atomic_load_explicit(&it->told_ms, memory_order_seq_cst);
    atomic_fetch_add_explicit(&it->count, 1, memory_order_seq_cst);
    if ((told != 0 && now - told < GATE_MS) ||
        !atomic_compare_exchange_strong_explicit(&it->told_ms, &told, now, memory_order_seq_cst,
                                                 memory_order_seq_cst)) {
        return false;
    }
    snprintf(count, LOG_COUNT_SIZE, "%" PRIu64,
             atomic_exchange_explicit(&it->count, 0, memory_order_seq_cst));
    return true;
}
