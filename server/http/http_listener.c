/* SPDX-License-Identifier: MIT */
/* The HTTP listener: threads, connections, their limits, and requests that wait. Each listening
 * socket has a thread that runs libmicrohttpd on it, so a connection never changes threads and a
 * request costs two system calls beside its share of one epoll_wait. What a request means is not
 * known here: see exchange.h. */
#include "http_listener.h"

#include "config/config.h"
#include "core/log.h"
#include "core/server.h"
#include "core/steady.h"
#include "exchange.h"
#include "fault.h"
#include "net/addresses.h"
#include "net/credentials.h"

#include <linux/tcp.h> /* its tcp_info tells more than glibc's */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#define ROUND_MS        100 /* a loop comes round at least that often: nothing wakes it when we end */
#define SWEEP_MS        2500  /* who is idle or has left is looked for at least that often */
#define TASK_MS         20    /* and that often while a task is out, or the listener is closed */
#define IDLE_MS         60000 /* a client that asks nothing for so long is closed */
#define LEAST_RATE      100   /* bytes a second at which a client has to read */
#define POOL_SIZE       12288 /* of a connection: the header that is allowed, with its lines listed */
#define PARAMETERS_MOST 32    /* of a query, more than any request takes */
#define UNUSED_MOST     64    /* exchanges that are kept */
#define CLOSE_WAIT      8     /* the kernel's TCP_CLOSE_WAIT, which no header has beside tcp_info */

/* A connection. */
struct client {
    struct MHD_Connection *connection;
    exchange *exchange; /* under way, or NULL */
    int fd;
    bool is_unix, fresh; /* fresh: no header of it was ever complete */
    bool counted;        /* its address is */
    address_key address;
    stranger stranger; /* in the loop's crowd until a request of it had a token */
    access_pass pass;  /* the last right token; none: has_token is false */
    bool is_evicted;
    uint64_t requests, seen_requests; /* seen_: at the last sweep */
    uint64_t seen_bytes;              /* read, or while it is answered, acknowledged */
    int64_t since_ms;                 /* when its last request ended, or it came */
    int64_t slow_ms;                  /* since when it may be slow; 0: it is not */
    client *next, *previous;
};

static http_loop loops[WORKERS_MAX];
static int loop_count;
static _Atomic int64_t open_count; /* connections of all loops */
static crowd_share strangers = {.listener = "http"};
static _Atomic int64_t held_bytes; /* of replies that clients have not read, of all loops */

int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- replies that nobody reads --------------------------------------------------------------- */

bool http_is_crowded(void) {
    return atomic_load_explicit(&held_bytes, memory_order_relaxed) >=
           settings_now()->replies_mib * (INT64_C(1) << 20);
}

void http_hold(exchange *it, size_t size) {
    it->held += size;
    atomic_fetch_add_explicit(&held_bytes, (int64_t)size, memory_order_relaxed);
}

/* ---- requests that wait ---------------------------------------------------------------------- */

void http_park(exchange *it, enum stage stage, int64_t wake_ns) {
    http_loop *loop = it->loop;
    it->stage = stage;
    it->wake_ns = wake_ns;
    it->is_parked = true;
    it->previous = NULL;
    it->next = loop->parked;
    if (it->next != NULL) {
        it->next->previous = it;
    }
    loop->parked = it;
    MHD_suspend_connection(it->connection);
}

static void unpark(exchange *it) {
    if (it->previous != NULL) {
        it->previous->next = it->next;
    } else {
        it->loop->parked = it->next;
    }
    if (it->next != NULL) {
        it->next->previous = it->previous;
    }
    it->is_parked = false;
}

/* Those whose time has come, or all of them when the listener is closed by force. */
static void wake_parked(http_loop *loop, int64_t now, bool all) {
    for (exchange *it = loop->parked, *next; it != NULL; it = next) {
        next = it->next;
        if (all) {
            it->until_ns = 1;
        } else if (it->wake_ns > now) {
            continue;
        }
        if (it->stage == STAGE_TASK && !exchange_give_up(it)) {
            continue; /* it is on its way here */
        }
        unpark(it);
        if (it->stage == STAGE_TASK && it->error.code == FIRN_OK) {
            set_error(&it->error, FIRN_ESTORE,
                      "the store did not answer within %lld ms: see /readyz",
                      (long long)settings_now()->wait_ms);
        }
        MHD_resume_connection(it->connection);
    }
}

/* How long the loop may sleep. */
static int round_ms(const http_loop *loop) {
    int wait = atomic_load_explicit(&loop->closing, memory_order_relaxed) ? TASK_MS : ROUND_MS;
    for (const exchange *it = loop->parked; it != NULL && wait > 1; it = it->next) {
        int least = it->stage == STAGE_LATER ? 1 : TASK_MS;
        wait = wait < least ? wait : least;
    }
    return wait;
}

/* ---- connections ----------------------------------------------------------------------------- */

/* What the kernel knows of a connection over TCP: bytes either way, and whether the client has
 * ended its side. All zero for others. */
static struct tcp_info look_at(const client *it) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (it->is_unix || getsockopt(it->fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
        return (struct tcp_info){0};
    }
    return info;
}

/* Is it slow to end its header? Its first has slow_s from the start. Of a later one the first byte
 * shows in what the kernel counts; where that is not counted, idle time bounds it. */
static bool is_slow_to_ask(client *it, int64_t now, int64_t slow_ms) {
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

/* Is it slow to read its reply? */
static bool is_slow_to_read(client *it, int64_t now, int64_t slow_ms) {
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

/* Is it between two requests, with nothing of the next one there? */
static bool is_idle(const client *it) {
    int unread = 0;
    return it->exchange == NULL && ioctl(it->fd, FIONREAD, &unread) == 0 && unread == 0;
}

/* The library does not see an end that came together with the last request. */
static bool has_left(const client *it) {
    return !it->is_unix && is_idle(it) && look_at(it).tcpi_state == CLOSE_WAIT;
}

/* The library sees that the client has left. */
static void close_crowded(http_loop *loop, stranger *one) {
    client *it = (client *)((char *)one - offsetof(client, stranger));
    meter_add(&loop->worker->meter.closed_crowded, 1);
    it->is_evicted = true;
    if (it->exchange != NULL && it->exchange->is_parked && it->exchange->stage == STAGE_DELAYED) {
        it->exchange->wake_ns =
            0; /* its descriptor is to be free now, not when its time has come */
    }
    shutdown(it->fd, SHUT_RDWR);
}

/* Has it shown a token that is right? After a reload that is asked anew, since a load of the same
 * tokens must not make strangers of everybody. */
static bool is_trusted(client *it) {
    if (it->pass.has_token && it->pass.load != access_load_count() &&
        access_again(&it->pass) == ROLE_NOBODY) {
        it->pass.has_token = false;
    }
    return it->pass.has_token;
}

/* It has no token, or one that is gone from the tokens since. */
static void distrust(http_loop *loop, client *it) {
    if (it->stranger.is_in || !access_is_closed() || is_trusted(it)) {
        return;
    }
    it->stranger.address = it->address;
    stranger *other = crowd_enter(&loop->crowd, &it->stranger);
    if (other != NULL) {
        close_crowded(loop, other);
    }
}

void http_trust(exchange *it) {
    it->client->pass = it->pass;
    crowd_leave(&it->loop->crowd, &it->client->stranger);
}

bool http_trusts(const exchange *it) {
    return is_trusted(it->client);
}

address_key http_address(const exchange *it) {
    return it->client->address;
}

/* A few times within slow_s: closes who is slow. shutdown() makes the library see an end. */
static void sweep(http_loop *loop, int64_t now) {
    int64_t slow_ms = settings_now()->slow_s * 1000;
    int64_t period_ms = slow_ms / 4 < SWEEP_MS ? slow_ms / 4 : SWEEP_MS;
    if (now - loop->swept_ms < period_ms) {
        return;
    }
    loop->swept_ms = now;
    for (client *it = loop->clients; it != NULL; it = it->next) {
        distrust(loop, it);
        bool waits = it->exchange != NULL && it->exchange->is_parked;
        bool slow = !waits && (it->exchange == NULL ? is_slow_to_ask(it, now, slow_ms)
                                                    : is_slow_to_read(it, now, slow_ms));
        meter_add(&loop->worker->meter.closed_slow, slow ? 1 : 0);
        if (slow || has_left(it)) {
            shutdown(it->fd, SHUT_RDWR);
        }
    }
}

static enum MHD_Result may_come(void *self, const struct sockaddr *peer, socklen_t length) {
    http_loop *loop = self;
    (void)peer, (void)length;
    if (atomic_load(&open_count) < settings_now()->max_connections) {
        return MHD_YES;
    }
    stranger *oldest;
    if (crowd_make_room(&loop->crowd, &oldest)) {
        if (oldest != NULL) {
            close_crowded(loop, oldest);
        }
        return MHD_YES;
    }
    meter_add(&loop->worker->meter.turned_away, 1);
    return MHD_NO;
}

/* Whoever comes from an address with too many is closed at once. */
static void count_address(http_loop *loop, client *it) {
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

static client *welcome(http_loop *loop, struct MHD_Connection *connection) {
    client *it = calloc(1, sizeof *it);
    if (it == NULL) {
        return NULL;
    }
    it->connection = connection;
    it->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    it->is_unix = loop->listener->is_unix;
    it->fresh = true;
    it->since_ms = steady_ms();
    it->next = loop->clients;
    if (it->next != NULL) {
        it->next->previous = it;
    }
    loop->clients = it;
    count_address(loop, it);
    distrust(loop, it);
    return it;
}

static void say_goodbye(http_loop *loop, client *it) {
    crowd_leave(&loop->crowd, &it->stranger);
    if (it->counted) {
        address_leave(it->address);
    }
    if (it->previous != NULL) {
        it->previous->next = it->next;
    } else {
        loop->clients = it->next;
    }
    if (it->next != NULL) {
        it->next->previous = it->previous;
    }
    free(it);
}

static void note_connection(void *self, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode what) {
    http_loop *loop = self;
    meter *at = &loop->worker->meter;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        atomic_fetch_add(&open_count, 1);
        atomic_fetch_add(&at->open, 1);
        meter_add(&at->accepted, 1);
        *context = welcome(loop, connection);
    } else {
        if (*context != NULL) {
            say_goodbye(loop, *context);
        }
        atomic_fetch_sub(&at->open, 1);
        atomic_fetch_sub(&open_count, 1);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

static exchange *take_exchange(http_loop *loop) {
    exchange *it = loop->unused;
    if (it == NULL) {
        return calloc(1, sizeof *it);
    }
    loop->unused = it->next;
    loop->unused_count--;
    /* All but the room for pairs, which the count of pairs covers, and the usual reply. */
    memset(it, 0, offsetof(exchange, request) + offsetof(request, pairs));
    char *rest = (char *)&it->request.pair_count;
    memset(rest, 0, (size_t)((char *)&it->usual - rest));
    return it;
}

static void put_exchange(http_loop *loop, exchange *it) {
    if (loop->unused_count == UNUSED_MOST) {
        if (it->usual.made != NULL) {
            MHD_destroy_response(it->usual.made);
        }
        free(it);
        return;
    }
    it->next = loop->unused;
    loop->unused = it;
    loop->unused_count++;
}

static exchange *begin(http_loop *loop, struct MHD_Connection *connection, const char *path) {
    exchange *it = take_exchange(loop);
    client *from =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (it == NULL || from == NULL) { /* out of memory: the connection is closed */
        free(it);
        return NULL;
    }
    it->loop = loop;
    it->client = from;
    it->connection = connection;
    it->path = path;
    it->began_ns = now_ns();
    from->exchange = it;
    from->requests++;
    from->fresh = false;
    return it;
}

static enum MHD_Result handle(void *self, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *body,
                              size_t *size, void **context) {
    exchange *it = *context;
    if (it == NULL) {
        it = begin(self, connection, path);
        *context = it;
        return it != NULL ? exchange_begin(it, method, version) : MHD_NO;
    }
    if (*size > 0) {
        bool kept = body_keep(it, body, *size);
        *size = 0;
        return kept ? MHD_YES : MHD_NO;
    }
    if (it->is_parked) {
        unpark(it);
    }
    return it->client->is_evicted ? MHD_NO : exchange_go_on(it);
}

static void note_end(void *self, struct MHD_Connection *connection, void **context,
                     enum MHD_RequestTerminationCode why) {
    http_loop *loop = self;
    exchange *it = *context;
    (void)connection, (void)why;
    if (it == NULL) {
        return;
    }
    meter *at = &loop->worker->meter;
    int64_t now = now_ns();
    meter_add(&at->requests[it->kind], 1);
    meter_add(&at->refused[it->kind], it->refused ? 1 : 0);
    meter_time(at, 1, (uint64_t)(now - it->began_ns));
    if (it->is_parked) {
        unpark(it);
    }
    atomic_fetch_sub(&held_bytes, (int64_t)it->held);
    it->client->exchange = NULL;
    it->client->since_ms = now / 1000000;
    it->client->slow_ms = 0;
    exchange_end(it);
    put_exchange(loop, it);
    *context = NULL;
}

/* A Content-Length that is no number is answered by libmicrohttpd alone, before it calls anything of
 * ours: up to 0.9.75 it then goes on in its state machine and writes the header of its reply twice. No
 * option and no callback comes between, and the bytes are not to be seen before it has read them (TLS),
 * so this is left to a newer version; it closes the connection in any case. */

/* Escapes stay as they came: exchange.c undoes them where it knows what a slash would mean. */
static size_t leave_escapes(void *self, struct MHD_Connection *connection, char *text) {
    (void)self, (void)connection;
    return strlen(text);
}

/* The library keeps each parameter in the memory of the connection before it asks anybody, and closes
 * the connection without a word where that is too small. Those behind the first PARAMETERS_MOST become a
 * part of the last one, in the library's own buffer, so that they are counted and refused in words. */
static void *join_parameters(void *self, const char *target, struct MHD_Connection *connection) {
    int count = 0;
    (void)self, (void)connection;
    char *at = strchr(target, '?');
    for (; at != NULL && *at != '\0'; at++) {
        if (*at == '&' && ++count >= PARAMETERS_MOST) {
            *at = ';';
        }
    }
    return NULL;
}

static void tell_trouble(void *self, const char *format, va_list words) {
    char text[200];
    (void)self;
    vsnprintf(text, sizeof text, format, words);
    text[strcspn(text, "\n")] = '\0';
    log_event(LOG_LEVEL_DEBUG, "http", "text", text, NULL);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void come_round(http_loop *loop) {
    MHD_run_wait(loop->daemon, round_ms(loop));
    int64_t now = now_ns();
    atomic_store_explicit(&loop->beat_ms, now / 1000000, memory_order_relaxed);
    if (loop->parked != NULL) {
        wake_parked(loop, now, false);
    }
    for (stranger *one; (one = crowd_owes(&loop->crowd)) != NULL;) {
        close_crowded(loop, one);
    }
    sweep(loop, now / 1000000);
}

/* Clients that ask nothing are let go; the others get what they asked for. */
static void send_home(http_loop *loop, bool all) {
    for (client *it = loop->clients; it != NULL; it = it->next) {
        if (all || is_idle(it)) {
            shutdown(it->fd, SHUT_RDWR);
        }
    }
}

static void *run_loop(void *self) {
    http_loop *loop = self;
    while (!atomic_load_explicit(&loop->closing, memory_order_relaxed)) {
        come_round(loop);
    }
    while (loop->clients != NULL && steady_ms() < atomic_load(&loop->end_ms)) {
        send_home(loop, false);
        come_round(loop);
    }
    loop->over = true;
    wake_parked(loop, now_ns(), true);
    for (int i = 0; i < 10 && loop->clients != NULL; i++) { /* the last words */
        come_round(loop);
        send_home(loop, i > 0);
    }
    return NULL;
}

static struct MHD_Daemon *start_daemon(http_loop *loop) {
    bool tls = credentials_are_there() && !loop->listener->is_unix;
    unsigned flags = MHD_USE_EPOLL | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                     (tls ? MHD_USE_TLS : 0U);
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)credentials_retrieve},
        {MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        flags, 0, may_come, loop, handle, loop, MHD_OPTION_EXTERNAL_LOGGER, tell_trouble, NULL,
        MHD_OPTION_LISTEN_SOCKET, loop->listener->fd, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)POOL_SIZE, MHD_OPTION_CONNECTION_LIMIT, 1000000U, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_escapes, NULL, MHD_OPTION_URI_LOG_CALLBACK, join_parameters, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, note_end, loop, MHD_OPTION_NOTIFY_CONNECTION, note_connection,
        loop, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_ARRAY, tls ? secure : &secure[2],
        MHD_OPTION_END);
}

static int start_loop(http_loop *loop, listener *at, firn_error *error) {
    *loop = (http_loop){.listener = at, .worker = worker_new(true)};
    if (loop->worker == NULL) {
        return set_error(error, FIRN_EMEMORY, "no room for a thread of HTTP: set http_threads");
    }
    loop->beat_ms = steady_ms();
    crowd_begin(&loop->crowd, &strangers);
    pthread_mutex_init(&loop->lock, NULL);
    loop->daemon = start_daemon(loop);
    if (loop->daemon == NULL) {
        at->fd = -1; /* the library has closed it */
        return set_error(error, FIRN_ESYSTEM,
                         "HTTP cannot be served on %.100s: see log_level=debug", at->address);
    }
    if (pthread_create(&loop->thread, NULL, run_loop, loop) != 0) {
        MHD_quiesce_daemon(loop->daemon);
        MHD_stop_daemon(loop->daemon);
        return set_error(error, FIRN_ESYSTEM, "no thread can be started: see ulimit -u");
    }
    return FIRN_OK;
}

int http_listener_open(listener all[], int count, int threads, firn_error *error) {
    (void)threads; /* a socket has one, and there are as many copies of each address */
    if (count > WORKERS_MAX) {
        return set_error(error, FIRN_ERANGE,
                         "%d threads of HTTP are more than %d: fewer by http_threads=, or serve on "
                         "fewer addresses",
                         count, WORKERS_MAX);
    }
    for (int i = 0; i < count; i++) {
        int code = start_loop(&loops[i], &all[i], error);
        if (code != FIRN_OK) {
            http_listener_end(0);
            http_listener_close();
            return code;
        }
        loop_count++;
    }
    return FIRN_OK;
}

void http_listener_end(int64_t ms) {
    int64_t end = steady_ms() + ms;
    for (int i = 0; i < loop_count; i++) {
        atomic_store(&loops[i].end_ms, end);
        atomic_store(&loops[i].closing, true);
        MHD_quiesce_daemon(loops[i].daemon); /* no more clients; the socket stays the caller's */
    }
}

void http_listener_close(void) {
    for (int i = 0; i < loop_count; i++) {
        pthread_join(loops[i].thread, NULL);
        MHD_stop_daemon(loops[i].daemon);
    }
    loop_count = 0;
}

int64_t http_listener_beat_ms(void) {
    int64_t now = steady_ms(), worst = 0;
    for (int i = 0; i < loop_count; i++) {
        int64_t ago = now - atomic_load_explicit(&loops[i].beat_ms, memory_order_relaxed);
        worst = ago > worst ? ago : worst;
    }
    return worst;
}
