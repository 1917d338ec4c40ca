/* SPDX-License-Identifier: MIT */
#include "clients.h"

#include "core/monotonic.h"
#include "net/connections.h"
#include "net/credentials.h"
#include "settings/setting.h"

#include <linux/tcp.h> /* has more members than glibc's */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define SWEEP_MS      2500  /* longest time between two sweeps */
#define IDLE_MS       60000 /* an idle client is closed after this */
#define IDLE_END_MS   300   /* while stopping: for an idle client to send a last request */
#define FRESH_END_MS  1000  /* the same for a client that has sent nothing yet */
#define LINGER_END_MS 100   /* then for it to close */
#define LEAST_RATE    100   /* bytes per second that a client must read */
#define CLOSE_WAIT    8     /* TCP_CLOSE_WAIT of the kernel; no header has both it and tcp_info */

static _Atomic int64_t open_count; /* connections of all threads */
static unauthenticated_share shared = {.listener = "http"};

/* The kernel's counters of a TCP connection; zero for unix sockets. */
static struct tcp_info look_at(const http_client *client) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (client->is_unix || getsockopt(client->fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
        return (struct tcp_info){0};
    }
    return info;
}

/* Is the request incomplete for too long? The first has the setting slow from the start. Later ones
 * start with the first byte that the kernel counts; without counters the idle limit applies. */
static bool is_slow_to_ask(http_client *client, int64_t now, int64_t slow_ms) {
    uint64_t bytes = look_at(client).tcpi_bytes_received;
    if (client->fresh) {
        return now - client->since_ms > slow_ms;
    }
    if (client->seen_requests != client->requests) {
        client->seen_requests = client->requests;
        client->seen_bytes = bytes;
        client->slow_ms = 0;
    } else if (client->slow_ms == 0 && bytes != client->seen_bytes) {
        client->slow_ms = now;
    }
    return (client->slow_ms != 0 && now - client->slow_ms > slow_ms) ||
           now - client->since_ms > IDLE_MS;
}

static bool is_slow_to_read(http_client *client, int64_t now, int64_t slow_ms) {
    uint64_t bytes = look_at(client).tcpi_bytes_acked;
    uint64_t due = (uint64_t)(LEAST_RATE * slow_ms / 1000);
    if (client->seen_requests != client->requests || client->slow_ms == 0) {
        client->seen_requests = client->requests;
        client->seen_bytes = bytes;
        client->slow_ms = now;
        return false;
    }
    if (now - client->slow_ms <= (client->is_unix ? IDLE_MS : slow_ms)) {
        return false;
    }
    if (client->is_unix || bytes - client->seen_bytes < due) {
        return true;
    }
    client->seen_bytes = bytes;
    client->slow_ms = now;
    return false;
}

/* Is it between two requests, with nothing unread? */
static bool client_is_idle(const http_client *client) {
    int unread = 0;
    return client->exchange == NULL && ioctl(client->fd, FIONREAD, &unread) == 0 && unread == 0;
}

/* Closing a socket with unread bytes would reset it, so the client ends first, if it does so in
 * time. libmicrohttpd closes the socket when it sees an end. */
void clients_close_idle(http_loop *loop) {
    int64_t now = monotonic_ms();
    for (list_link *link = loop->clients.next; link != &loop->clients; link = link->next) {
        http_client *client = list_entry(link, http_client, place);
        int64_t since = client->since_ms > loop->ending_ms ? client->since_ms : loop->ending_ms;
        int64_t end_ms = client->fresh ? client->since_ms + FRESH_END_MS : since + IDLE_END_MS;
        if (now < end_ms || !client_is_idle(client)) {
            continue;
        }
        if (client->home_ms == 0) {
            client->home_ms = now;
            shutdown(client->fd, SHUT_WR);
        } else if (now - client->home_ms >= LINGER_END_MS) {
            shutdown(client->fd, SHUT_RDWR);
        }
    }
}

/* libmicrohttpd misses an end that came with the last request. */
static bool has_left(const http_client *client) {
    return !client->is_unix && client_is_idle(client) && look_at(client).tcpi_state == CLOSE_WAIT;
}

/* shutdown() makes libmicrohttpd see an end. */
static void close_unauthenticated(http_loop *loop, unauthenticated_client *client) {
    http_client *http = list_entry(client, http_client, unauthenticated);
    meter_add(&loop->worker->meter.closed_crowded, 1);
    http->is_evicted = true;
    if (http->exchange != NULL && http->exchange->is_parked &&
        http->exchange->stage == STAGE_DELAYED) {
        http->exchange->wake_ns = 0; /* closes now, not after the delay */
    }
    shutdown(http->fd, SHUT_RDWR);
}

/* Has it a valid token? Checked again after a reload. */
static bool is_trusted(http_client *client) {
    if (client->pass.has_token && client->pass.load != access_load_count() &&
        access_again(&client->pass) == ROLE_NOBODY) {
        client->pass.has_token = false;
    }
    return client->pass.has_token;
}

/* Counts it as unauthenticated if it has no valid token. */
static void distrust(http_loop *loop, http_client *client) {
    if (client->unauthenticated.is_in || !access_is_closed() || is_trusted(client)) {
        return;
    }
    client->unauthenticated.address = client->address;
    unauthenticated_client *other =
        unauthenticated_add(&loop->unauthenticated, &client->unauthenticated, connections_most());
    if (other != NULL) {
        close_unauthenticated(loop, other);
    }
}

void client_trust(http_exchange *exchange) {
    exchange->client->pass = exchange->pass;
    unauthenticated_remove(&exchange->loop->unauthenticated, &exchange->client->unauthenticated);
}

bool client_is_refused(http_client *client) {
    const union MHD_ConnectionInfo *info =
        client->signers_seen == credentials_signer_changes()
            ? NULL
            : MHD_get_connection_info(client->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info != NULL && info->tls_session != NULL &&
           !credentials_accept(info->tls_session, &client->signers_seen);
}

bool client_is_trusted(const http_exchange *exchange) {
    return is_trusted(exchange->client);
}

address_key client_address(const http_exchange *exchange) {
    return exchange->client->address;
}

void clients_sweep(http_loop *loop, int64_t now) {
    for (unauthenticated_client *client;
         (client = unauthenticated_owed(&loop->unauthenticated)) != NULL;) {
        close_unauthenticated(loop, client);
    }
    int64_t slow_ms = settings_now()->slow_s * 1000;
    int64_t period_ms = slow_ms / 4 < SWEEP_MS ? slow_ms / 4 : SWEEP_MS;
    if (now - loop->swept_ms < period_ms) {
        return;
    }
    loop->swept_ms = now;
    for (list_link *link = loop->clients.next; link != &loop->clients; link = link->next) {
        http_client *client = list_entry(link, http_client, place);
        distrust(loop, client);
        bool waits = client->exchange != NULL && client->exchange->is_parked;
        bool slow = !waits && (client->exchange == NULL ? is_slow_to_ask(client, now, slow_ms)
                                                        : is_slow_to_read(client, now, slow_ms));
        meter_add(&loop->worker->meter.closed_slow, slow ? 1 : 0);
        bool refused = !client->fresh && client_is_refused(client);
        if (slow || refused || has_left(client)) {
            shutdown(client->fd, SHUT_RDWR);
        }
    }
}

bool clients_have_room(http_loop *loop) {
    if (!connections_are_full(atomic_load_explicit(&open_count, memory_order_seq_cst))) {
        return true;
    }
    unauthenticated_client *oldest;
    if (unauthenticated_make_room(&loop->unauthenticated, &oldest)) {
        if (oldest != NULL) {
            close_unauthenticated(loop, oldest);
        }
        return true;
    }
    meter_add(&loop->worker->meter.turned_away, 1);
    return false;
}

/* Closes it if its address has too many connections. */
static void count_address(http_loop *loop, http_client *client) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(client->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct sockaddr_storage peer = {0};
    int64_t most = settings_now()->max_per_address;
    if (client->is_unix || info == NULL || info->client_addr == NULL) {
        return;
    }
    bool six = info->client_addr->sa_family == AF_INET6;
    memcpy(&peer, info->client_addr,
           six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
    client->address = address_of(&peer);
    size_t count = address_enter(client->address);
    client->counted = count > 0;
    if (most > 0 && (!client->counted || count > (size_t)most)) {
        meter_add(&loop->worker->meter.turned_away, 1);
        shutdown(client->fd, SHUT_RDWR);
    }
}

http_client *client_new(http_loop *loop, struct MHD_Connection *connection) {
    http_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        return NULL;
    }
    client->connection = connection;
    client->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    client->is_unix = loop->listener->is_unix;
    client->fresh = true;
    client->signers_seen = credentials_signer_changes();
    client->since_ms = monotonic_ms();
    list_add(&loop->clients, &client->place);
    count_address(loop, client);
    distrust(loop, client);
    return client;
}

void client_free(http_loop *loop, http_client *client) {
    unauthenticated_remove(&loop->unauthenticated, &client->unauthenticated);
    if (client->counted) {
        address_leave(client->address);
    }
    list_remove(&client->place);
    free(client);
}

void clients_begin(http_loop *loop) {
    list_clear(&loop->clients);
    unauthenticated_begin(&loop->unauthenticated, &shared);
}

void clients_count(int64_t change) {
    atomic_fetch_add_explicit(&open_count, change, memory_order_seq_cst);
    connections_count(change);
}
