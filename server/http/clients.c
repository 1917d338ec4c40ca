/* SPDX-License-Identifier: MIT */
#include "clients.h"

#include "config/setting.h"
#include "core/monotonic.h"
#include "net/connections.h"
#include "net/credentials.h"

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
static struct tcp_info look_at(const http_client *it) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (it->is_unix || getsockopt(it->fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
        return (struct tcp_info){0};
    }
    return info;
}

/* Is the request incomplete for too long? The first has the setting slow from the start. Later ones start
 * with the first byte that the kernel counts; without counters the idle limit applies. */
static bool is_slow_to_ask(http_client *it, int64_t now, int64_t slow_ms) {
    uint64_t bytes = look_at(it).tcpi_bytes_received;
    if (it->fresh) {
        return now - it->since_ms > slow_ms;
    }
    if (it->seen_requests != it->requests) {
        it->seen_requests = it->requests;
        it->seen_bytes = bytes;
        it->slow_ms = 0;
    } else if (it->slow_ms == 0 && bytes != it->seen_bytes) {
        it->slow_ms = now;
    }
    return (it->slow_ms != 0 && now - it->slow_ms > slow_ms) || now - it->since_ms > IDLE_MS;
}

static bool is_slow_to_read(http_client *it, int64_t now, int64_t slow_ms) {
    uint64_t bytes = look_at(it).tcpi_bytes_acked;
    uint64_t due = (uint64_t)(LEAST_RATE * slow_ms / 1000);
    if (it->seen_requests != it->requests || it->slow_ms == 0) {
        it->seen_requests = it->requests;
        it->seen_bytes = bytes;
        it->slow_ms = now;
        return false;
    }
    if (now - it->slow_ms <= (it->is_unix ? IDLE_MS : slow_ms)) {
        return false;
    }
    if (it->is_unix || bytes - it->seen_bytes < due) {
        return true;
    }
    it->seen_bytes = bytes;
    it->slow_ms = now;
    return false;
}

/* Is it between two requests, with nothing unread? */
static bool client_is_idle(const http_client *it) {
    int unread = 0;
    return it->exchange == NULL && ioctl(it->fd, FIONREAD, &unread) == 0 && unread == 0;
}

/* Closing a socket with unread bytes would reset it, so the client ends first, if it does so in
 * time. libmicrohttpd closes the socket when it sees an end. */
void clients_send_home(http_loop *loop) {
    int64_t now = monotonic_ms();
    for (list_link *at = loop->clients.next; at != &loop->clients; at = at->next) {
        http_client *it = list_entry(at, http_client, place);
        int64_t since = it->since_ms > loop->ending_ms ? it->since_ms : loop->ending_ms;
        int64_t end_ms = it->fresh ? it->since_ms + FRESH_END_MS : since + IDLE_END_MS;
        if (now < end_ms || !client_is_idle(it)) {
            continue;
        }
        if (it->home_ms == 0) {
            it->home_ms = now;
            shutdown(it->fd, SHUT_WR);
        } else if (now - it->home_ms >= LINGER_END_MS) {
            shutdown(it->fd, SHUT_RDWR);
        }
    }
}

/* libmicrohttpd misses an end that came with the last request. */
static bool has_left(const http_client *it) {
    return !it->is_unix && client_is_idle(it) && look_at(it).tcpi_state == CLOSE_WAIT;
}

/* shutdown() makes libmicrohttpd see an end. */
static void close_unauthenticated(http_loop *loop, unauthenticated *one) {
    http_client *it = list_entry(one, http_client, unauthenticated);
    meter_add(&loop->worker->meter.closed_crowded, 1);
    it->is_evicted = true;
    if (it->exchange != NULL && it->exchange->is_parked && it->exchange->stage == STAGE_DELAYED) {
        it->exchange->wake_ns = 0; /* closes now, not after the delay */
    }
    shutdown(it->fd, SHUT_RDWR);
}

/* Has it a valid token? Checked again after a reload. */
static bool is_trusted(http_client *it) {
    if (it->pass.has_token && it->pass.load != access_load_count() &&
        access_again(&it->pass) == ROLE_NOBODY) {
        it->pass.has_token = false;
    }
    return it->pass.has_token;
}

/* Counts it as unauthenticated if it has no valid token. */
static void distrust(http_loop *loop, http_client *it) {
    if (it->unauthenticated.is_in || !access_is_closed() || is_trusted(it)) {
        return;
    }
    it->unauthenticated.address = it->address;
    unauthenticated *other =
        unauthenticated_add(&loop->unauthenticated, &it->unauthenticated, connections_most());
    if (other != NULL) {
        close_unauthenticated(loop, other);
    }
}

void client_trust(exchange *it) {
    it->client->pass = it->pass;
    unauthenticated_remove(&it->loop->unauthenticated, &it->client->unauthenticated);
}

bool client_is_refused(http_client *it) {
    const union MHD_ConnectionInfo *info =
        it->signers_seen == credentials_signer_changes()
            ? NULL
            : MHD_get_connection_info(it->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info != NULL && info->tls_session != NULL &&
           !credentials_accept(info->tls_session, &it->signers_seen);
}

bool client_is_trusted(const exchange *it) {
    return is_trusted(it->client);
}

address_key client_address(const exchange *it) {
    return it->client->address;
}

void clients_sweep(http_loop *loop, int64_t now) {
    for (unauthenticated *one; (one = unauthenticated_owed(&loop->unauthenticated)) != NULL;) {
        close_unauthenticated(loop, one);
    }
    int64_t slow_ms = settings_now()->slow_s * 1000;
    int64_t period_ms = slow_ms / 4 < SWEEP_MS ? slow_ms / 4 : SWEEP_MS;
    if (now - loop->swept_ms < period_ms) {
        return;
    }
    loop->swept_ms = now;
    for (list_link *at = loop->clients.next; at != &loop->clients; at = at->next) {
        http_client *it = list_entry(at, http_client, place);
        distrust(loop, it);
        bool waits = it->exchange != NULL && it->exchange->is_parked;
        bool slow = !waits && (it->exchange == NULL ? is_slow_to_ask(it, now, slow_ms)
                                                    : is_slow_to_read(it, now, slow_ms));
        meter_add(&loop->worker->meter.closed_slow, slow ? 1 : 0);
        bool refused = !it->fresh && client_is_refused(it);
        if (slow || refused || has_left(it)) {
            shutdown(it->fd, SHUT_RDWR);
        }
    }
}

bool clients_have_room(http_loop *loop) {
    if (!connections_are_full(atomic_load_explicit(&open_count, memory_order_seq_cst))) {
        return true;
    }
    unauthenticated *oldest;
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
static void count_address(http_loop *loop, http_client *it) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(it->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct sockaddr_storage peer = {0};
    int64_t most = settings_now()->max_per_address;
    if (it->is_unix || info == NULL || info->client_addr == NULL) {
        return;
    }
    bool six = info->client_addr->sa_family == AF_INET6;
    memcpy(&peer, info->client_addr,
           six ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
    it->address = address_of(&peer);
    size_t count = address_enter(it->address);
    it->counted = count > 0;
    if (most > 0 && (!it->counted || count > (size_t)most)) {
        meter_add(&loop->worker->meter.turned_away, 1);
        shutdown(it->fd, SHUT_RDWR);
    }
}

http_client *client_new(http_loop *loop, struct MHD_Connection *connection) {
    http_client *it = calloc(1, sizeof *it);
    if (it == NULL) {
        return NULL;
    }
    it->connection = connection;
    it->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    it->is_unix = loop->listener->is_unix;
    it->fresh = true;
    it->signers_seen = credentials_signer_changes();
    it->since_ms = monotonic_ms();
    list_add(&loop->clients, &it->place);
    count_address(loop, it);
    distrust(loop, it);
    return it;
}

void client_free(http_loop *loop, http_client *it) {
    unauthenticated_remove(&loop->unauthenticated, &it->unauthenticated);
    if (it->counted) {
        address_leave(it->address);
    }
    list_remove(&it->place);
    free(it);
}

void clients_begin(http_loop *loop) {
    list_clear(&loop->clients);
    unauthenticated_begin(&loop->unauthenticated, &shared);
}

void clients_count(int64_t change) {
    atomic_fetch_add_explicit(&open_count, change, memory_order_seq_cst);
    connections_count(change);
}
