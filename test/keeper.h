/* SPDX-License-Identifier: MIT */
/* A proxy for MySQL's protocol that keeps the connections of its clients when it changes the
 * server, as ProxySQL and MaxScale do: it logs in to the other server and repeats the SETs there.
 * Nothing here tests. */
#ifndef FIRN_TEST_KEEPER_H
#define FIRN_TEST_KEEPER_H

#include "proxy.h"

#include <stdlib.h>
#include <strings.h>

#define KEEPER_LINKS  4096 /* connections in all */
#define KEEPER_SETS   8    /* of a connection */
#define KEEPER_PACKET 16384

typedef struct keeper_packet {
    size_t length; /* with its header of 4 bytes; 0: none */
    unsigned char bytes[KEEPER_PACKET];
} keeper_packet;

struct test_keeper;

/* A client. Its thread alone uses it. */
typedef struct keeper_link {
    struct test_keeper *keeper;
    int client, server, server_port;
    keeper_packet login, sets[KEEPER_SETS];
    size_t set_count;
    pthread_t thread;
} keeper_link;

typedef struct test_keeper {
    int port, listener;
    _Atomic int server_port; /* where the next statements go */
    _Atomic bool moves;      /* the next statement goes to a new session, once */
    _Atomic bool begins;     /* START TRANSACTION comes before the next statement, once */
    _Atomic bool stop;
    keeper_link *links[KEEPER_LINKS];
    int link_count;
    pthread_t thread;
} test_keeper;

/* Waits for bytes, until the proxy stops. */
static bool keeper_take(const keeper_link *link, int from, unsigned char *bytes, size_t length) {
    size_t done = 0;
    while (done < length && !atomic_load(&link->keeper->stop)) {
        struct pollfd poll_fd = {from, POLLIN, 0};
        ssize_t got = poll(&poll_fd, 1, 10) > 0 ? read(from, bytes + done, length - done) : 0;
        if (got < 0 || (got == 0 && poll_fd.revents != 0)) {
            return false;
        }
        done += (size_t)got;
    }
    return done == length;
}

static bool keeper_take_packet(const keeper_link *link, int from, keeper_packet *out) {
    out->length = 0;
    if (!keeper_take(link, from, out->bytes, 4)) {
        return false;
    }
    size_t length = out->bytes[0] + ((size_t)out->bytes[1] << 8) + ((size_t)out->bytes[2] << 16);
    if (length + 4 > sizeof out->bytes || !keeper_take(link, from, out->bytes + 4, length)) {
        return false;
    }
    out->length = length + 4;
    return true;
}

static bool keeper_give(int out, const keeper_packet *packet) {
    return send(out, packet->bytes, packet->length, MSG_NOSIGNAL) == (ssize_t)packet->length;
}

/* Sends a statement of the proxy's own and takes its reply, which is one packet. */
static bool keeper_say(const keeper_link *link, const keeper_packet *packet) {
    keeper_packet reply;
    return keeper_give(link->server, packet) && keeper_take_packet(link, link->server, &reply);
}

static bool keeper_begin(const keeper_link *link) {
    static const char text[] = "\3START TRANSACTION"; /* COM_QUERY */
    keeper_packet packet = {.length = 4 + sizeof text - 1, .bytes = {sizeof text - 1}};
    memcpy(packet.bytes + 4, text, sizeof text - 1);
    return keeper_say(link, &packet);
}

/* Logs in to the other server in the client's place. */
static bool keeper_move(keeper_link *link) {
    keeper_packet hello;
    close(link->server);
    link->server_port = atomic_load(&link->keeper->server_port);
    link->server = proxy_socket(link->server_port, false);
    bool there = link->server >= 0 && keeper_take_packet(link, link->server, &hello) &&
                 keeper_say(link, &link->login);
    for (size_t i = 0; i < link->set_count && there; i++) {
        there = keeper_say(link, &link->sets[i]);
    }
    return there;
}

/* Passes on a statement of the client. */
static bool keeper_pass(keeper_link *link) {
    keeper_packet packet;
    if (!keeper_take_packet(link, link->client, &packet)) {
        return false;
    }
    const bool moves = atomic_exchange(&link->keeper->moves, false) ||
                       link->server_port != atomic_load(&link->keeper->server_port);
    if ((moves && !keeper_move(link)) ||
        (atomic_exchange(&link->keeper->begins, false) && !keeper_begin(link))) {
        return false;
    }
    if (packet.length > 8 && strncasecmp((const char *)packet.bytes + 5, "SET", 3) == 0 &&
        link->set_count < KEEPER_SETS) {
        link->sets[link->set_count++] = packet;
    }
    return keeper_give(link->server, &packet);
}

static bool keeper_greet(keeper_link *link) {
    keeper_packet hello;
    return link->server >= 0 && keeper_take_packet(link, link->server, &hello) &&
           keeper_give(link->client, &hello) &&
           keeper_take_packet(link, link->client, &link->login) &&
           keeper_give(link->server, &link->login);
}

static void *keeper_serve(void *argument) {
    keeper_link *link = argument;
    bool open = keeper_greet(link);
    while (open && !atomic_load(&link->keeper->stop)) {
        struct pollfd both[] = {{link->client, POLLIN, 0}, {link->server, POLLIN, 0}};
        char bytes[4096];
        poll(both, 2, 10);
        if (both[1].revents != 0) {
            ssize_t got = read(link->server, bytes, sizeof bytes);
            open = got > 0 && send(link->client, bytes, (size_t)got, MSG_NOSIGNAL) == got;
        } else if (both[0].revents != 0) {
            open = keeper_pass(link);
        }
    }
    close(link->client);
    if (link->server >= 0) {
        close(link->server);
    }
    return NULL;
}

static void *keeper_run(void *argument) {
    test_keeper *keeper = argument;
    while (!atomic_load(&keeper->stop)) {
        struct pollfd poll_fd = {keeper->listener, POLLIN, 0};
        if (poll(&poll_fd, 1, 10) <= 0 || keeper->link_count == KEEPER_LINKS) {
            continue;
        }
        keeper_link *link = calloc(1, sizeof *link);
        link->keeper = keeper;
        link->client = accept4(keeper->listener, NULL, NULL, SOCK_CLOEXEC);
        link->server_port = atomic_load(&keeper->server_port);
        link->server = proxy_socket(link->server_port, false);
        keeper->links[keeper->link_count++] = link;
        pthread_create(&link->thread, NULL, keeper_serve, link);
    }
    return NULL;
}

/* In front of a server's port, on its own port. */
static bool keeper_start(test_keeper *keeper, int server_port) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    memset(keeper, 0, sizeof *keeper);
    keeper->server_port = server_port;
    keeper->listener = proxy_socket(0, true);
    if (keeper->listener < 0 ||
        getsockname(keeper->listener, (struct sockaddr *)&address, &size) != 0) {
        return false;
    }
    keeper->port = ntohs(address.sin_port);
    return pthread_create(&keeper->thread, NULL, keeper_run, keeper) == 0;
}

static void keeper_stop(test_keeper *keeper) {
    atomic_store(&keeper->stop, true);
    pthread_join(keeper->thread, NULL);
    for (int i = 0; i < keeper->link_count; i++) {
        pthread_join(keeper->links[i]->thread, NULL);
        free(keeper->links[i]);
    }
    close(keeper->listener);
}

#endif
