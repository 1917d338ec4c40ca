/* SPDX-License-Identifier: MIT */
/* A proxy between a store and its server, one thread on loopback, that does to one connection what
 * networks do: loses, stalls, cuts, refuses. Knows no protocol. Nothing here tests. */
#ifndef FIRN_TEST_PROXY_H
#define FIRN_TEST_PROXY_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PROXY_LINKS 32
#define PROXY_BYTES 65536

/* The fault of the next bytes, until it is cleared. */
enum proxy_fault {
    PROXY_NONE,
    PROXY_REPLY_LOST,   /* the server's next bytes are dropped and the connection is cut, once */
    PROXY_DEAF,         /* what the server says is dropped: cut one way */
    PROXY_MUTE,         /* what the client says is dropped: cut the other way */
    PROXY_CUT,          /* at the client's next bytes both ends are closed, once */
    PROXY_STALLED,      /* what the server says comes later, by stall_ms */
    PROXY_STALLED_SENT, /* what the client says comes later, by stall_ms */
    PROXY_REFUSED,      /* nobody listens */
    PROXY_FAULTS
};

/* One direction of a connection. */
typedef struct proxy_flow {
    int from, to;
    size_t length;
    int64_t due_ms; /* when its bytes are passed on */
    bool over;      /* nothing comes any more */
    size_t skip;    /* the next bytes, the reply to `insert`, are dropped */
    char bytes[PROXY_BYTES];
} proxy_flow;

typedef struct proxy {
    int port, listener;
    _Atomic int server_port; /* of the next connections */
    _Atomic int fault, stall_ms;
    _Atomic bool stop, cuts;        /* `cuts`: all connections, once */
    _Atomic long accepted, replies; /* connections, and what the server said */
    _Atomic long hits[PROXY_FAULTS];
    _Atomic bool
        inserts; /* `insert` goes before the client's next bytes, once; the reply to it is dropped */
    const char *insert;
    size_t insert_length, insert_reply;            /* bytes */
    proxy_flow up[PROXY_LINKS], down[PROXY_LINKS]; /* to the server, and back; from < 0: free */
    pthread_t thread;
} proxy;

static int64_t proxy_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A socket on a port of loopback: one that listens, or one that is connected. */
static int proxy_socket(int port, bool listens) {
    const int on = 1;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const struct sockaddr *address = (const struct sockaddr *)&at;
    if (listens ? bind(made, address, sizeof at) == 0 && listen(made, PROXY_LINKS) == 0
                : connect(made, address, sizeof at) == 0) {
        return made;
    }
    close(made);
    return -1;
}

static void proxy_cut(proxy *it, int link) {
    if (it->up[link].from >= 0) {
        close(it->up[link].from);
        close(it->down[link].from);
        it->up[link].from = it->down[link].from = -1;
    }
}

static void proxy_accept(proxy *it) {
    int client = accept4(it->listener, NULL, NULL, SOCK_CLOEXEC);
    int server = client >= 0 ? proxy_socket(atomic_load(&it->server_port), false) : -1;
    for (int i = 0; i < PROXY_LINKS && server >= 0; i++) {
        if (it->up[i].from < 0) {
            it->up[i].from = it->down[i].to = client;
            it->down[i].from = it->up[i].to = server;
            it->up[i].length = it->down[i].length = 0;
            it->up[i].over = it->down[i].over = false;
            it->up[i].skip = it->down[i].skip = 0;
            atomic_fetch_add(&it->accepted, 1);
            return;
        }
    }
    if (client >= 0) {
        close(client);
    }
    if (server >= 0) {
        close(server);
    }
}

/* Says something to the server that the client did not say. */
static bool proxy_insert(proxy *it, proxy_flow *up) {
    it->down[up - it->up].skip = it->insert_reply;
    return send(up->to, it->insert, it->insert_length, MSG_NOSIGNAL) == (ssize_t)it->insert_length;
}

/* Receives bytes and applies the fault. False: cut the connection. */
static bool proxy_take(proxy *it, proxy_flow *flow, bool up) {
    ssize_t got = read(flow->from, flow->bytes, sizeof flow->bytes);
    if (got <= 0) {
        return false;
    }
    int fault = atomic_load(&it->fault);
    atomic_fetch_add(&it->replies, !up);
    bool up_fault = fault == PROXY_MUTE || fault == PROXY_CUT || fault == PROXY_STALLED_SENT;
    const size_t skipped = flow->skip < (size_t)got ? flow->skip : (size_t)got;
    memmove(flow->bytes, flow->bytes + skipped, (size_t)got - skipped);
    flow->skip -= skipped;
    flow->length = (size_t)got - skipped;
    flow->due_ms = 0;
    if (up && atomic_exchange(&it->inserts, false) && !proxy_insert(it, flow)) {
        return false;
    }
    if (fault == PROXY_NONE || fault == PROXY_REFUSED || up_fault != up) {
        return true;
    }
    atomic_fetch_add(&it->hits[fault], 1);
    if (fault == PROXY_STALLED || fault == PROXY_STALLED_SENT) {
        flow->due_ms = proxy_now_ms() + atomic_load(&it->stall_ms);
        return true;
    }
    flow->length = 0;
    if (fault == PROXY_REPLY_LOST || fault == PROXY_CUT) {
        atomic_store(&it->fault, PROXY_NONE);
        return false;
    }
    return true;
}

static bool proxy_give(proxy_flow *flow) {
    size_t done = 0;
    while (done < flow->length) {
        ssize_t put = send(flow->to, flow->bytes + done, flow->length - done, MSG_NOSIGNAL);
        if (put <= 0) {
            return false;
        }
        done += (size_t)put;
    }
    flow->length = 0;
    return true;
}

/* Is something to happen to what the server says? Then a client that has lost its patience does not
 * end the connection. */
static bool proxy_awaits_reply(proxy *it) {
    int fault = atomic_load(&it->fault);
    return fault == PROXY_REPLY_LOST || fault == PROXY_DEAF || fault == PROXY_STALLED;
}

/* Moves what can be moved of one direction. */
static bool proxy_move(proxy *it, proxy_flow *flow, bool up, bool ready) {
    if (!flow->over && flow->length == 0 && ready && !proxy_take(it, flow, up)) {
        flow->over = up && proxy_awaits_reply(it);
        return flow->over;
    }
    if (flow->over && !proxy_awaits_reply(it)) {
        return false;
    }
    return flow->length == 0 || proxy_now_ms() < flow->due_ms || proxy_give(flow);
}

/* Accepts connections or not, as the fault says. */
static void proxy_door(proxy *it) {
    bool closed = atomic_load(&it->fault) == PROXY_REFUSED;
    if (closed && it->listener >= 0) {
        close(it->listener);
        it->listener = -1;
        for (int i = 0; i < PROXY_LINKS; i++) {
            proxy_cut(it, i);
        }
        atomic_fetch_add(&it->hits[PROXY_REFUSED], 1);
    } else if (!closed && it->listener < 0) {
        it->listener = proxy_socket(it->port, true);
    }
}

static void *proxy_run(void *argument) {
    proxy *it = argument;
    while (!atomic_load(&it->stop)) {
        struct pollfd waits[2 * PROXY_LINKS + 1];
        proxy_door(it);
        const bool cuts = atomic_exchange(&it->cuts, false);
        for (int i = 0; i < PROXY_LINKS; i++) {
            if (cuts) {
                proxy_cut(it, i);
            }
            const proxy_flow *up = &it->up[i], *down = &it->down[i];
            waits[2 * i] = (struct pollfd){up->length == 0 && !up->over ? up->from : -1, POLLIN, 0};
            waits[2 * i + 1] = (struct pollfd){down->length == 0 ? down->from : -1, POLLIN, 0};
        }
        waits[2 * PROXY_LINKS] = (struct pollfd){it->listener, POLLIN, 0};
        poll(waits, 2 * PROXY_LINKS + 1, 5);
        for (int i = 0; i < PROXY_LINKS; i++) {
            if (it->up[i].from >= 0 &&
                (!proxy_move(it, &it->up[i], true, waits[2 * i].revents != 0) ||
                 !proxy_move(it, &it->down[i], false, waits[2 * i + 1].revents != 0))) {
                proxy_cut(it, i);
            }
        }
        if (it->listener >= 0 && waits[2 * PROXY_LINKS].revents != 0) {
            proxy_accept(it);
        }
    }
    return NULL;
}

/* Waits until a fault was met more than `before` times; 30 s at most. */
__attribute__((unused)) static bool proxy_met(proxy *it, int fault, long before) {
    const struct timespec nap = {0, 1000000};
    int64_t begun_ms = proxy_now_ms();
    while (atomic_load(&it->hits[fault]) <= before) {
        if (proxy_now_ms() - begun_ms > 30000) {
            return false;
        }
        nanosleep(&nap, NULL);
    }
    return true;
}

/* In front of a server's port, on its own port. */
__attribute__((unused)) static bool proxy_start(proxy *it, int server_port) {
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    memset(it, 0, sizeof *it);
    it->server_port = server_port;
    it->listener = proxy_socket(0, true);
    if (it->listener < 0 || getsockname(it->listener, (struct sockaddr *)&at, &size) != 0) {
        return false;
    }
    it->port = ntohs(at.sin_port);
    for (int i = 0; i < PROXY_LINKS; i++) {
        it->up[i].from = it->down[i].from = -1;
    }
    return pthread_create(&it->thread, NULL, proxy_run, it) == 0;
}

__attribute__((unused)) static void proxy_stop(proxy *it) {
    atomic_store(&it->stop, true);
    pthread_join(it->thread, NULL);
    for (int i = 0; i < PROXY_LINKS; i++) {
        proxy_cut(it, i);
    }
    if (it->listener >= 0) {
        close(it->listener);
    }
}

#endif
