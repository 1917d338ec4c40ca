/* SPDX-License-Identifier: MIT */
/* Sends the same request to a server on loopback repeatedly, from one thread over many connections,
 * and prints the rate and what it cost the server. Every reply is read and checked: an error, or a
 * missing or extra reply, ends it with status 1. One line of JSON. */
#define _GNU_SOURCE
#include "replies.h"
#include "usage.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 20000,
    PIPELINE_MAX = 4096,
    WINDOWS_MAX = 1000,
    READ_SIZE = 1 << 18, /* bytes at a time, behind the rest of the last ones */
    EVENTS = 256,
    PATIENCE_S = 60, /* for the last replies */
};
#define SECOND_NS 1000000000LL
#define WINDOW_NS (SECOND_NS / 4) /* the median of such windows is printed */
#define TICK_NS   100000          /* with --even: interval of sending */
#define WARM_NS   (SECOND_NS / 5) /* before anything counts */

static const char usage[] =
    "usage: firn_load [OPTION...] WORD...   or   --http [OPTION...] PATH\n"
    "  --port N           of 127.0.0.1\n"
    "  --connections N    50 without it\n"
    "  --pipeline N       requests that are sent together: 1 without it\n"
    "  --rate N           so many requests a second; without it as many as the server answers\n"
    "  --even             spread over time, not all connections at once\n"
    "  --seconds N        1.2 without it\n"
    "  --core N           stay on that processor\n"
    "  --cpu-of PID,...   whose time on processors is told\n"
    "  --keep FILE        each ID as 8 bytes\n"
    "  --rising           the IDs of each connection have to rise\n"
    "  --may-end          the server may go away: that ends it well\n";

static struct {
    uint16_t port;
    bool http, even, rising, may_end;
    int connections, pipeline, core;
    double rate, seconds;
    pid_t pids[PIDS_MAX];
    int pid_count;
    FILE *keep;
} told = {.connections = 50, .pipeline = 1, .core = -1, .seconds = 1.2};

typedef struct load_connection {
    int fd;
    uint64_t awaited; /* replies up to that one were asked for */
    uint64_t last;    /* ID */
    load_replies replies;
    char *rest;
} load_connection;

static load_connection *connections;
static char *question; /* the requests of one write */
static size_t question_size;
static uint64_t asked, answered, ids;
/* Connections that have their replies, at an offered rate: a ring. */
static load_connection **idle;
static size_t idle_first, idle_count;
static bool gone; /* the server, which it may */

_Noreturn static void give_up(const char *what, const char *why) {
    fprintf(stderr, "firn_load: %s%s%s\n", what, why[0] == '\0' ? "" : ": ", why);
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* ---- IDs ------------------------------------------------------------------------------------- */

/* Each ID must then be a number, and is kept or compared with the one before it. */
static void take_number(void *self, const char *text, size_t length) {
    load_connection *connection = self;
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned char)text[i] - (unsigned)'0';
        if (digit > 9 || length > 20) {
            give_up("an ID is not a number", "--keep and --rising are for numbers");
        }
        value = value * 10 + digit;
    }
    if (told.rising && value <= connection->last) {
        char both[64];
        snprintf(both, sizeof both, "%" PRIu64 " after %" PRIu64, value, connection->last);
        give_up("an ID does not rise", both);
    }
    connection->last = value;
    if (told.keep != NULL && fwrite(&value, sizeof value, 1, told.keep) != 1) {
        give_up("--keep", strerror(errno));
    }
}

/* ---- connections ----------------------------------------------------------------------------- */

static void open_one(load_connection *connection) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(told.port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int yes = 1;
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 ||
        setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0 ||
        connect(connection->fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        give_up("cannot connect", strerror(errno));
    }
    connection->rest = calloc(1, REST_SIZE);
    if (connection->rest == NULL) {
        give_up("no memory", "");
    }
    connection->replies.is_http = told.http;
    if (told.rising || told.keep != NULL) {
        connection->replies.take = take_number;
        connection->replies.self = connection;
    }
}

static int open_all(void) {
    int poll = epoll_create1(EPOLL_CLOEXEC);
    connections = calloc((size_t)told.connections, sizeof *connections);
    idle = calloc((size_t)told.connections, sizeof(load_connection *));
    if (poll < 0 || connections == NULL || idle == NULL) {
        give_up("no memory", "");
    }
    for (int i = 0; i < told.connections; i++) {
        open_one(&connections[i]);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, connections[i].fd, &event) != 0) {
            give_up("epoll", strerror(errno));
        }
    }
    return poll;
}

/* The server went away, or the connection broke. */
static void lose(const char *why) {
    if (!told.may_end) {
        give_up("the server closed a connection", why);
    }
    gone = true;
}

/* Sends a request as often as requests are sent together. */
static void ask(load_connection *connection) {
    ssize_t sent = send(connection->fd, question, question_size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent != (ssize_t)question_size) {
        lose(sent < 0 ? strerror(errno) : "a request was sent only partly");
        return;
    }
    connection->awaited += (uint64_t)told.pipeline;
    asked += (uint64_t)told.pipeline;
}

/* Reads what there is; true: all that was asked for on this connection is answered. */
static bool hear(load_connection *connection) {
    static char bytes[REST_SIZE + READ_SIZE];
    memcpy(bytes, connection->rest, connection->replies.rest);
    ssize_t got = recv(connection->fd, bytes + connection->replies.rest, READ_SIZE, MSG_DONTWAIT);
    if (got <= 0) {
        if (got == 0 || errno != EAGAIN) {
            lose(got == 0 ? "" : strerror(errno));
        }
        return false;
    }
    size_t length = connection->replies.rest + (size_t)got;
    uint64_t whole = connection->replies.whole, taken = connection->replies.ids;
    if (!replies_read(&connection->replies, bytes, length)) {
        give_up("a bad reply", connection->replies.trouble);
    }
    memcpy(connection->rest, bytes + length - connection->replies.rest, connection->replies.rest);
    answered += connection->replies.whole - whole;
    ids += connection->replies.ids - taken;
    if (connection->replies.whole > connection->awaited) {
        give_up("more replies than requests", "");
    }
    return connection->replies.whole == connection->awaited && connection->replies.whole > whole;
}

/* ---- pace ------------------------------------------------------------------------------------ */

static void rest_connection(load_connection *connection) {
    idle[(idle_first + idle_count++) % (size_t)told.connections] = connection;
}

/* Sends the requests since `start` that the rate needs, as far as connections are free, and sleeps
 * until the next. A slow server is not sent the missing ones in one burst later. Without --even all
 * connections send at the same time, at the average rate: then a server wakes once for many
 * requests, which otherwise costs more than answering them. */
static void pace(int64_t start, uint64_t *sent) {
    double burst =
        told.even ? told.rate * TICK_NS / SECOND_NS : (double)told.connections * told.pipeline;
    double bursts = floor((double)(now_ns() - start) * told.rate / SECOND_NS / burst) + 1;
    while (idle_count > 0 && (double)*sent < bursts * burst) {
        load_connection *connection = idle[idle_first];
        idle_first = (idle_first + 1) % (size_t)told.connections;
        idle_count--;
        *sent += (uint64_t)told.pipeline;
        ask(connection);
    }
    int64_t wake = start + (int64_t)(bursts * burst / told.rate * SECOND_NS);
    struct timespec until = {.tv_sec = wake / SECOND_NS, .tv_nsec = wake % SECOND_NS};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Reads ready connections; `enabled`: asks again at once when nothing paces it. */
static void turn(int poll, int wait_ms, bool enabled) {
    struct epoll_event events[EVENTS];
    int count = epoll_wait(poll, events, EVENTS, wait_ms);
    for (int i = 0; i < count && !gone; i++) {
        load_connection *connection = events[i].data.ptr;
        if (!hear(connection)) {
            continue;
        }
        if (told.rate > 0) {
            rest_connection(connection);
        } else if (enabled) {
            ask(connection);
        }
    }
}

/* ---- measuring ------------------------------------------------------------------------------- */

typedef struct measured {
    double windows[WINDOWS_MAX]; /* replies a second */
    int window_count;
    int64_t ns, cpu_ns; /* after warming up; -1: the processes are gone */
    uint64_t replies, ids;
    double own_share; /* of this program's processor that it used */
} measured;

static int64_t own_cpu_ns(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * SECOND_NS +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

/* Runs until the time `end`; with `out`, windows are written to it. */
static void run_until(int poll, int64_t start, int64_t end, uint64_t *sent, measured *out) {
    int64_t window = now_ns();
    uint64_t before = answered;
    for (int64_t now = window; now < end && !gone; now = now_ns()) {
        if (told.rate > 0) {
            pace(start, sent);
        }
        turn(poll, told.rate > 0 ? 0 : 100, true);
        if (out != NULL && now - window >= WINDOW_NS && out->window_count < WINDOWS_MAX) {
            out->windows[out->window_count++] =
                (double)(answered - before) * SECOND_NS / (double)(now - window);
            window = now;
            before = answered;
        }
    }
}

/* Every request must be answered. */
static void drain(int poll) {
    for (int64_t end = now_ns() + PATIENCE_S * SECOND_NS; answered < asked && !gone;) {
        if (now_ns() > end) {
            char missing[64];
            snprintf(missing, sizeof missing, "%" PRIu64, asked - answered);
            give_up("replies are missing", missing);
        }
        turn(poll, 100, false);
    }
}

static void measure(int poll, measured *out) {
    for (int i = 0; i < told.connections && !gone; i++) {
        if (told.rate > 0) {
            rest_connection(&connections[i]);
        } else {
            ask(&connections[i]);
        }
    }
    uint64_t sent = 0;
    int64_t start = now_ns();
    run_until(poll, start, start + WARM_NS, &sent, NULL);
    int64_t begin = now_ns(), own = own_cpu_ns(), cpu = usage_cpu_ns(told.pids, told.pid_count);
    uint64_t heard = answered, taken = ids;
    run_until(poll, start, begin + (int64_t)(told.seconds * SECOND_NS), &sent, out);
    int64_t cpu_end = usage_cpu_ns(told.pids, told.pid_count);
    out->ns = now_ns() - begin;
    out->cpu_ns = cpu < 0 || cpu_end < 0 ? -1 : cpu_end - cpu;
    out->own_share = (double)(own_cpu_ns() - own) / (double)out->ns;
    out->replies = answered - heard;
    out->ids = ids - taken;
    drain(poll);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(measured *self) {
    double seconds = (double)self->ns / SECOND_NS, median = (double)self->replies / seconds;
    if (self->window_count > 0) {
        qsort(self->windows, (size_t)self->window_count, sizeof self->windows[0], by_size);
        median = self->windows[self->window_count / 2];
    }
    printf("{\"seconds\": %.3f, \"replies\": %" PRIu64 ", \"ids\": %" PRIu64
           ", \"all_ids\": %" PRIu64 ", \"per_s\": %.0f, \"own_share\": %.3f, \"ended\": %s",
           seconds, self->replies, self->ids, ids, median, self->own_share,
           gone ? "true" : "false");
    if (told.pid_count > 0 && self->cpu_ns >= 0 && self->replies > 0) {
        printf(", \"cpu_ns\": %.1f", (double)self->cpu_ns / (double)self->replies);
    }
    puts("}");
}

/* ---- words ----------------------------------------------------------------------------------- */

static double number(const char *name, const char *text, double least, double most) {
    char *end;
    double value = strtod(text, &end);
    if (*end != '\0' || end == text || !(value >= least && value <= most)) {
        fprintf(stderr, "firn_load: --%s %s is out of range (%.17g to %.17g)\n%s", name, text,
                least, most, usage);
        exit(2);
    }
    return value;
}

static void read_pids(char *text) {
    for (char *word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
        if (told.pid_count == PIDS_MAX) {
            give_up("--cpu-of", "too many processes");
        }
        told.pids[told.pid_count++] = (pid_t)number("cpu-of", word, 1, INT32_MAX);
    }
}

static void read_option(const char *name, char *value) {
    if (strcmp(name, "port") == 0) {
        told.port = (uint16_t)number(name, value, 1, 65535);
    } else if (strcmp(name, "connections") == 0) {
        told.connections = (int)number(name, value, 1, CONNECTIONS_MAX);
    } else if (strcmp(name, "pipeline") == 0) {
        told.pipeline = (int)number(name, value, 1, PIPELINE_MAX);
    } else if (strcmp(name, "rate") == 0) {
        told.rate = number(name, value, 1, 1e9);
    } else if (strcmp(name, "seconds") == 0) {
        told.seconds = number(name, value, 0.1, 3600);
    } else if (strcmp(name, "core") == 0) {
        told.core = (int)number(name, value, 0, CPU_SETSIZE - 1);
    } else if (strcmp(name, "cpu-of") == 0) {
        read_pids(value);
    } else if (strcmp(name, "keep") == 0) {
        told.keep = fopen(value, "ae");
        if (told.keep == NULL) {
            give_up(value, strerror(errno));
        }
    } else {
        told.http |= strcmp(name, "http") == 0;
        told.even |= strcmp(name, "even") == 0;
        told.rising |= strcmp(name, "rising") == 0;
        told.may_end |= strcmp(name, "may-end") == 0;
    }
}

static void read_options(int count, char **words) {
    static const struct option all[] = {
        {"port", 1, NULL, 0},   {"connections", 1, NULL, 0}, {"pipeline", 1, NULL, 0},
        {"rate", 1, NULL, 0},   {"seconds", 1, NULL, 0},     {"core", 1, NULL, 0},
        {"cpu-of", 1, NULL, 0}, {"keep", 1, NULL, 0},        {"http", 0, NULL, 0},
        {"rising", 0, NULL, 0}, {"may-end", 0, NULL, 0},     {"even", 0, NULL, 0},
        {NULL, 0, NULL, 0},
    };
    for (int which = 0, code; (code = getopt_long(count, words, "+", all, &which)) != -1;) {
        if (code != 0) {
            fputs(usage, stderr);
            exit(2);
        }
        read_option(all[which].name, optarg);
    }
    if (optind == count || told.port == 0) {
        fputs(usage, stderr);
        exit(2);
    }
}

/* The bytes of the request, once and then as often as one write sends it. */
static void write_question(int count, char **words) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        give_up("no memory", "");
    }
    for (int i = 0; i < told.pipeline; i++) {
        if (told.http) {
            fprintf(out, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", words[0]);
            continue;
        }
        fprintf(out, "*%d\r\n", count);
        for (int word = 0; word < count; word++) {
            fprintf(out, "$%zu\r\n%s\r\n", strlen(words[word]), words[word]);
        }
    }
    if (fclose(out) != 0) {
        give_up("no memory", "");
    }
    question = text;
    question_size = size;
}

static void stay_on(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        give_up("--core", strerror(errno));
    }
}

int main(int count, char **words) {
    read_options(count, words);
    write_question(count - optind, words + optind);
    if (told.core >= 0) {
        stay_on(told.core);
    }
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* exact wake-ups */
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    int poll = open_all();
    static measured found;
    measure(poll, &found);
    if (told.keep != NULL && fclose(told.keep) != 0) {
        give_up("--keep", strerror(errno));
    }
    report(&found);
    return 0;
}
