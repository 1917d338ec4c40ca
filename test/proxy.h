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

/* A direction of a connection. */
typedef struct proxy_flow {
    int from, to;
    size_t length;
    int64_t due_ms; /* when its bytes are passed on */
    bool over;      /* nothing comes any more */
    size_t skip;    /* the next bytes, the reply to `insert`, are dropped */
    char bytes[PROXY_BYTES];
} proxy_flow;

typedef struct test_proxy {
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
} test_proxy;

static int64_t proxy_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A socket on a port of loopback: one that listens, or one that is connected. */
static int proxy_socket(int port, bool listens) {
    const int enabled = 1;
    struct sockaddr_in found = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof enabled);
    const struct sockaddr *address = (const struct sockaddr *)&found;
    if (listens ? bind(made, address, sizeof found) == 0 && listen(made, PROXY_LINKS) == 0
                : connect(made, address, sizeof found) == 0) {
        return made;
    }
    close(made);
    return -1;
}

static void proxy_cut(test_proxy *proxy, int link) {
    if (proxy->up[link].from >= 0) {
        close(proxy->up[link].from);
        close(proxy->down[link].from);
        proxy->up[link].from = proxy->down[link].from = -1;
    }
}

static void proxy_accept(test_proxy *proxy) {
    int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);
    int server = client >= 0 ? proxy_socket(atomic_load(&proxy->server_port), false) : -1;
    for (int i = 0; i < PROXY_LINKS && server >= 0; i++) {
        if (proxy->up[i].from < 0) {
            proxy->up[i].from = proxy->down[i].to = client;
            proxy->down[i].from = proxy->up[i].to = server;
            proxy->up[i].length = proxy->down[i].length = 0;
            proxy->up[i].over = proxy->down[i].over = false;
            proxy->up[i].skip = proxy->down[i].skip = 0;
            atomic_fetch_add(&proxy->accepted, 1);
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
static bool proxy_insert(test_proxy *proxy, proxy_flow *up) {
    proxy->down[up - proxy->up].skip = proxy->insert_reply;
    return send(up->to, proxy->insert, proxy->insert_length, MSG_NOSIGNAL) ==
           (ssize_t)proxy->insert_length;
}

/* Receives bytes and applies the fault. False: cut the connection. */
static bool proxy_take(test_proxy *proxy, proxy_flow *flow, bool up) {
    ssize_t got = read(flow->from, flow->bytes, sizeof flow->bytes);
    if (got <= 0) {
        return false;
    }
    int fault = atomic_load(&proxy->fault);
    atomic_fetch_add(&proxy->replies, !up);
    bool up_fault = fault == PROXY_MUTE || fault == PROXY_CUT || fault == PROXY_STALLED_SENT;
    const size_t skipped = flow->skip < (size_t)got ? flow->skip : (size_t)got;
    memmove(flow->bytes, flow->bytes + skipped, (size_t)got - skipped);
    flow->skip -= skipped;
    flow->length = (size_t)got - skipped;
    flow->due_ms = 0;
    if (up && atomic_exchange(&proxy->inserts, false) && !proxy_insert(proxy, flow)) {
        return false;
    }
    if (fault == PROXY_NONE || fault == PROXY_REFUSED || up_fault != up) {
        return true;
    }
    atomic_fetch_add(&proxy->hits[fault], 1);
    if (fault == PROXY_STALLED || fault == PROXY_STALLED_SENT) {
        flow->due_ms = proxy_now_ms() + atomic_load(&proxy->stall_ms);
        return true;
    }
    flow->length = 0;
    if (fault == PROXY_REPLY_LOST || fault == PROXY_CUT) {
        atomic_store(&proxy->fault, PROXY_NONE);
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
static bool proxy_awaits_reply(test_proxy *proxy) {
    int fault = atomic_load(&proxy->fault);
    return fault == PROXY_REPLY_LOST || fault == PROXY_DEAF || fault == PROXY_STALLED;
}

/* Moves what can be moved of one direction. */
static bool proxy_move(test_proxy *proxy, proxy_flow *flow, bool up, bool ready) {
    if (!flow->over && flow->length == 0 && ready && !proxy_take(proxy, flow, up)) {
        flow->over = up && proxy_awaits_reply(proxy);
        return flow->over;
    }
    if (flow->over && !proxy_awaits_reply(proxy)) {
        return false;
    }
    return flow->length == 0 || proxy_now_ms() < flow->due_ms || proxy_give(flow);
}

/* Accepts connections or not, as the fault says. */
static void proxy_door(test_proxy *proxy) {
    bool closed = atomic_load(&proxy->fault) == PROXY_REFUSED;
    if (closed && proxy->listener >= 0) {
        close(proxy->listener);
        proxy->listener = -1;
        for (int i = 0; i < PROXY_LINKS; i++) {
            proxy_cut(proxy, i);
        }
        atomic_fetch_add(&proxy->hits[PROXY_REFUSED], 1);
    } else if (!closed && proxy->listener < 0) {
        proxy->listener = proxy_socket(proxy->port, true);
    }
}

static void *proxy_run(void *argument) {
    test_proxy *proxy = argument;
    while (!atomic_load(&proxy->stop)) {
        struct pollfd waits[2 * PROXY_LINKS + 1];
        proxy_door(proxy);
        const bool cuts = atomic_exchange(&proxy->cuts, false);
        for (int i = 0; i < PROXY_LINKS; i++) {
            if (cuts) {
                proxy_cut(proxy, i);
            }
            const proxy_flow *up = &proxy->up[i], *down = &proxy->down[i];
            waits[2 * i] = (struct pollfd){up->length == 0 && !up->over ? up->from : -1, POLLIN, 0};
            waits[2 * i + 1] = (struct pollfd){down->length == 0 ? down->from : -1, POLLIN, 0};
        }
        waits[2 * PROXY_LINKS] = (struct pollfd){proxy->listener, POLLIN, 0};
        poll(waits, 2 * PROXY_LINKS + 1, 5);
        for (int i = 0; i < PROXY_LINKS; i++) {
            if (proxy->up[i].from >= 0 &&
                (!proxy_move(proxy, &proxy->up[i], true, waits[2 * i].revents != 0) ||
                 !proxy_move(proxy, &proxy->down[i], false, waits[2 * i + 1].revents != 0))) {
                proxy_cut(proxy, i);
            }
        }
        if (proxy->listener >= 0 && waits[2 * PROXY_LINKS].revents != 0) {
            proxy_accept(proxy);
        }
    }
    return NULL;
}

/* Waits until a fault was met more than `before` times; 30 s at most. */
__attribute__((unused)) static bool proxy_met(test_proxy *proxy, int fault, long before) {
    const struct timespec nap = {0, 1000000};
    int64_t begun_ms = proxy_now_ms();
    while (atomic_load(&proxy->hits[fault]) <= before) {
        if (proxy_now_ms() - begun_ms > 30000) {
            return false;
        }
        nanosleep(&nap, NULL);
    }
    return true;
}

/* In front of a server's port, on its own port. */
__attribute__((unused)) static bool proxy_start(test_proxy *proxy, int server_port) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    memset(proxy, 0, sizeof *proxy);
    proxy->server_port = server_port;
    proxy->listener = proxy_socket(0, true);
    if (proxy->listener < 0 ||
        getsockname(proxy->listener, (struct sockaddr *)&address, &size) != 0) {
        return false;
    }
    proxy->port = ntohs(address.sin_port);
    for (int i = 0; i < PROXY_LINKS; i++) {
        proxy->up[i].from = proxy->down[i].from = -1;
    }
    return pthread_create(&proxy->thread, NULL, proxy_run, proxy) == 0;
}

__attribute__((unused)) static void proxy_stop(test_proxy *proxy) {
    atomic_store(&proxy->stop, true);
    pthread_join(proxy->thread, NULL);
    for (int i = 0; i < PROXY_LINKS; i++) {
        proxy_cut(proxy, i);
    }
    if (proxy->listener >= 0) {
        close(proxy->listener);
    }
}

#endif
