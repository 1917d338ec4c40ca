/* SPDX-License-Identifier: MIT */
/* Each listening socket has one thread that runs libmicrohttpd: connections never change threads,
 * and a request costs two system calls and a share of one epoll_wait. */
#include "http_listener.h"

#include "clients.h"
#include "core/log.h"
#include "core/monotonic.h"
#include "errors.h"
#include "exchange.h"
#include "header.h"
#include "net/credentials.h"
#include "parked.h"
#include "serve.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ROUND_MS        100   /* longest sleep: nothing wakes a loop when the server stops */
#define ROUNDS_MOST     256   /* to accept the clients in the kernel's queue at the end */
#define TASK_MS         20    /* the same while a task is running or the listener is closed */
#define POOL_SIZE       12288 /* per connection: the largest header, with its list of lines */
#define PARAMETERS_MOST 32    /* of a query, more than any request uses */
#define UNUSED_MOST     64    /* exchanges kept for reuse */
/* From 0.9.77 on, libmicrohttpd accepts lines that end in LF and folded lines, unless this flag is
 * set. */
#if MHD_VERSION >= 0x00097701
#define STRICT MHD_USE_PEDANTIC_CHECKS
#else
#define STRICT 0U
#endif

static http_loop loops[WORKERS_MAX];
static int loop_count;

/* ---- connections ----------------------------------------------------------------------------- */

static enum MHD_Result may_come(void *self, const struct sockaddr *peer, socklen_t length) {
    (void)peer, (void)length;
    return clients_have_room(self) ? MHD_YES : MHD_NO;
}

static void note_connection(void *self, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode what) {
    http_loop *loop = self;
    server_meter *meter = &loop->worker->meter;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        clients_count(1);
        meter_add(&meter->open, 1);
        meter_add(&meter->accepted, 1);
        *context = client_new(loop, connection);
    } else {
        if (*context != NULL) {
            client_free(loop, *context);
        }
        meter_add(&meter->open, (uint64_t)-1);
        clients_count(-1);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

static http_exchange *take_exchange(http_loop *loop) {
    if (list_is_empty(&loop->unused)) {
        return calloc(1, sizeof(http_exchange));
    }
    http_exchange *exchange = list_entry(loop->unused.next, http_exchange, place);
    list_remove(&exchange->place);
    loop->unused_count--;
    /* Not the pairs, which pair_count covers, and not the usual reply. */
    memset(exchange, 0, offsetof(http_exchange, request) + offsetof(server_request, pairs));
    char *rest = (char *)&exchange->request.pair_count;
    memset(rest, 0, (size_t)((char *)&exchange->usual - rest));
    return exchange;
}

static void put_exchange(http_loop *loop, http_exchange *exchange) {
    if (loop->unused_count == UNUSED_MOST) {
        if (exchange->usual.made != NULL) {
            MHD_destroy_response(exchange->usual.made);
        }
        free(exchange);
        return;
    }
    list_add(loop->unused.next, &exchange->place); /* the last one is reused first */
    loop->unused_count++;
}

/* libmicrohttpd before 0.9.76 cuts a value at a zero byte, accepts lines without CR, and takes a
 * line without a name for the end of the header, so that the lines after it would be the next
 * request. It does not show any of this, but its buffer still has the header, with zeros for colons
 * and line ends: name 0 value 0 0, ..., 0 0. Folded lines, which it moves, are refused as well. The
 * request line is method 0 target 0 version; what ends parameters in the target are zeros too by
 * now. */
static bool is_header_whole(struct MHD_Connection *connection, const char *method, const char *path,
                            size_t target_length, const char *version) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const char *library = MHD_get_version(), *end = method;
    end += info != NULL ? info->header_size : 0;
    if (strncmp(library, "0.9.", 4) != 0 || atoi(library + 4) >= 76 || version < method ||
        version >= end) {
        return true;
    }
    const char *position = method + strlen(method) + 1;
    position += strspn(position, " ");
    if (position != path || path + target_length + 1 != version) {
        return false;
    }
    position = version + strlen(version);
    while (position + 2 <= end && position[0] == '\0' &&
           position[1] == '\0') { /* the end of a line */
        position += 2;
        if (position + 2 == end && position[0] == '\0' && position[1] == '\0') {
            return true;
        }
        const char *colon = memchr(position, '\0', (size_t)(end - position));
        position = colon != NULL && colon > position
                       ? memchr(colon + 1, '\0', (size_t)(end - colon) - 1)
                       : NULL;
        if (position == NULL) {
            return false;
        }
    }
    return false;
}

static http_exchange *begin(http_loop *loop, struct MHD_Connection *connection, const char *path) {
    http_exchange *exchange = take_exchange(loop);
    http_client *from =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (exchange == NULL || from == NULL ||
        client_is_refused(from)) { /* the connection is closed */
        if (exchange != NULL) {
            put_exchange(loop, exchange);
        }
        return NULL;
    }
    exchange->loop = loop;
    exchange->client = from;
    exchange->connection = connection;
    exchange->path = path;
    exchange->began_ns = monotonic_ns();
    from->exchange = exchange;
    from->requests++;
    from->fresh = false;
    return exchange;
}

static enum MHD_Result handle(void *self, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *body,
                              size_t *size, void **context) {
    http_exchange *exchange = *context;
    if (exchange == NULL) {
        exchange = begin(self, connection, path);
        *context = exchange;
        if (exchange != NULL) {
            exchange->header.malformed = !is_header_whole(connection, method, path,
                                                          exchange->client->target_length, version);
        }
        return exchange != NULL ? serve_begin(exchange, method, version) : MHD_NO;
    }
    if (*size > 0) {
        bool kept = body_keep(exchange, body, *size);
        *size = 0;
        return kept ? MHD_YES : MHD_NO;
    }
    if (exchange->is_parked) {
        unpark(exchange);
    }
    return exchange->client->is_evicted ? MHD_NO : serve_go_on(exchange);
}

static void note_end(void *self, struct MHD_Connection *connection, void **context,
                     enum MHD_RequestTerminationCode why) {
    http_loop *loop = self;
    http_exchange *exchange = *context;
    (void)connection, (void)why;
    if (exchange == NULL) {
        return;
    }
    server_meter *meter = &loop->worker->meter;
    int64_t now = monotonic_ns();
    meter_add(&meter->requests[exchange->kind], 1);
    meter_add(&meter->refused[exchange->kind], exchange->refused ? 1 : 0);
    meter_time(meter, 1, (uint64_t)(now - exchange->began_ns));
    if (exchange->is_parked) {
        unpark(exchange);
    }
    serve_end(exchange);
    reply_unhold(exchange,
                 exchange->held); /* serve_end has given back what an answer in the making held */
    exchange->client->exchange = NULL;
    exchange->client->since_ms = now / 1000000;
    exchange->client->slow_ms = 0;
    put_exchange(loop, exchange);
    *context = NULL;
}

/* libmicrohttpd answers a Content-Length that is not a number before it calls any callback; up to
 * 0.9.75 it writes that reply's header twice. No option prevents this. It then closes the
 * connection. */

/* Keeps escapes: exchange.c decodes them where it knows what a slash means. */
static size_t leave_escapes(void *self, struct MHD_Connection *connection, char *text) {
    (void)self, (void)connection;
    return strlen(text);
}

/* libmicrohttpd stores each parameter in the connection's memory and closes the connection if it
 * does not fit. Parameters after PARAMETERS_MOST are joined to the last one, so that they are
 * refused with an error. */
static void *join_parameters(void *self, const char *target, struct MHD_Connection *connection) {
    int count = 0;
    (void)self;
    http_client *from =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (from != NULL) {
        from->target_length = strlen(target);
    }
    char *position = strchr(target, '?');
    for (; position != NULL && *position != '\0'; position++) {
        if (*position == '&' && ++count >= PARAMETERS_MOST) {
            *position = ';';
        }
    }
    return NULL;
}

/* libmicrohttpd reports used up descriptors and memory only here; it then accepts nobody until a
 * connection ends, or, without connections, tries again at once. */
static void tell_trouble(void *self, const char *format, va_list words) {
    static const char used_up[] = "Hit process or system resource limit";
    static log_gate gate;
    http_loop *loop = self;
    char text[200], count[LOG_COUNT_SIZE];
    bool pauses = strncmp(format, used_up, sizeof used_up - 1) == 0;
    vsnprintf(text, sizeof text, format, words);
    text[strcspn(text, "\n")] = '\0';
    if (!pauses) {
        log_event(LOG_LEVEL_DEBUG, "http", "text", text, NULL);
        return;
    }
    loop->is_used_up = true;
    meter_add(&loop->worker->meter.paused, 1);
    if (log_gate_opens(&gate, count)) {
        log_event(LOG_LEVEL_WARNING, "accepting paused", "listener", "http", "why",
                  "open files or memory are used up", "count", count, NULL);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

/* How long the loop may sleep, in ms. */
static int round_ms(const http_loop *loop) {
    int wait = atomic_load_explicit(&loop->closing, memory_order_relaxed) ? TASK_MS : ROUND_MS;
    for (list_link *link = loop->parked.next; link != &loop->parked && wait > 0;
         link = link->next) {
        const http_exchange *exchange = list_entry(link, http_exchange, place);
        wait = exchange->stage == STAGE_WRITING ? 0 : TASK_MS;
    }
    wait = loop->has_late ? 0 : wait > 1 && !list_is_empty(&loop->later) ? 1 : wait;
    return wait > TASK_MS && !list_is_empty(&loop->tasks) ? TASK_MS : wait;
}

static void run_loop_once(http_loop *loop) {
    MHD_run_wait(loop->daemon, round_ms(loop));
    if (loop->is_used_up && list_is_empty(&loop->clients)) {
        poll(NULL, 0, ROUND_MS); /* libmicrohttpd would try again at once */
    }
    loop->is_used_up = false;
    int64_t now = monotonic_ns();
    atomic_store_explicit(&loop->beat_ms, now / 1000000, memory_order_relaxed);
    wake_parked(loop, now, false);
    clients_sweep(loop, now / 1000000);
}

/* Accepts the clients that the kernel has let in: they may have sent requests too. */
static void stop_accepting(http_loop *loop) {
    server_listener *listener = loop->listener;
    struct pollfd queue = {.fd = listener->fd, .events = POLLIN};
    listener_quiesce(listener);
    for (int i = 0; i < ROUNDS_MOST && !listener->inherited && poll(&queue, 1, 0) > 0; i++) {
        run_loop_once(loop);
    }
    MHD_quiesce_daemon(loop->daemon); /* the socket stays open */
    listener_close(listener);
    loop->ending_ms = monotonic_ms();
}

static void close_clients(http_loop *loop) {
    for (list_link *link = loop->clients.next; link != &loop->clients; link = link->next) {
        shutdown(list_entry(link, http_client, place)->fd, SHUT_RDWR);
    }
}

static void *run_loop(void *self) {
    http_loop *loop = self;
    while (!atomic_load_explicit(&loop->closing, memory_order_relaxed)) {
        run_loop_once(loop);
    }
    stop_accepting(loop);
    while (!list_is_empty(&loop->clients) &&
           monotonic_ms() < atomic_load_explicit(&loop->end_ms, memory_order_seq_cst)) {
        clients_close_idle(loop);
        run_loop_once(loop);
    }
    loop->over = true;
    wake_parked(loop, monotonic_ns(), true);
    for (int i = 0; i < 10 && !list_is_empty(&loop->clients); i++) { /* sends the last replies */
        run_loop_once(loop);
        if (i > 0) {
            close_clients(loop);
        }
    }
    return NULL;
}

static struct MHD_Daemon *start_daemon(http_loop *loop) {
    bool tls = credentials_are_there() && !loop->listener->is_unix;
    unsigned flags = MHD_USE_EPOLL | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                     STRICT | (tls ? MHD_USE_TLS : 0U);
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)credentials_retrieve},
        {MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        flags, 0, may_come, loop, handle, loop, MHD_OPTION_EXTERNAL_LOGGER, tell_trouble, loop,
        MHD_OPTION_LISTEN_SOCKET, loop->listener->fd, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)POOL_SIZE, MHD_OPTION_CONNECTION_LIMIT, 1000000U, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_escapes, NULL, MHD_OPTION_URI_LOG_CALLBACK, join_parameters, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, note_end, loop, MHD_OPTION_NOTIFY_CONNECTION, note_connection,
        loop, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_ARRAY, tls ? secure : &secure[2],
        MHD_OPTION_END);
}

static int start_loop(http_loop *loop, server_listener *listener, firn_error *error) {
    *loop = (http_loop){.listener = listener, .worker = worker_new(true)};
    if (loop->worker == NULL) {
        return set_error(error, FIRN_EMEMORY, "too many HTTP threads: lower http_threads");
    }
    atomic_store_explicit(&loop->beat_ms, monotonic_ms(), memory_order_seq_cst);
    list_clear(&loop->parked);
    list_clear(&loop->later);
    list_clear(&loop->tasks);
    list_clear(&loop->unused);
    clients_begin(loop);
    pthread_mutex_init(&loop->owner.lock, NULL);
    loop->owner.wake = exchange_is_back;
    loop->owner.full = replies_full;
    loop->daemon = start_daemon(loop);
    if (loop->daemon == NULL) {
        listener->fd = -1; /* closed by libmicrohttpd */
        return set_error(error, FIRN_ESYSTEM,
                         "cannot serve HTTP on %.100s: set log_level=debug for the reason",
                         listener->address);
    }
    if (pthread_create(&loop->thread, NULL, run_loop, loop) != 0) {
        MHD_quiesce_daemon(loop->daemon);
        MHD_stop_daemon(loop->daemon);
        return set_error(error, FIRN_ESYSTEM, "cannot start a thread: raise ulimit -u");
    }
    return FIRN_OK;
}

int http_listener_open(server_listener all[], int count, int threads, firn_error *error) {
    (void)threads; /* one thread per socket; each address has a copy per thread */
    if (count > WORKERS_MAX) {
        return set_error(error, FIRN_ERANGE,
                         "%d HTTP threads are more than the maximum of %d: lower http_threads, or "
                         "listen on fewer addresses",
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
    int64_t end = monotonic_ms() + ms;
    for (int i = 0; i < loop_count; i++) {
        atomic_store_explicit(&loops[i].end_ms, end, memory_order_seq_cst);
        atomic_store_explicit(&loops[i].closing, true, memory_order_seq_cst);
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
    int64_t now = monotonic_ms(), worst = 0;
    for (int i = 0; i < loop_count; i++) {
        int64_t ago = now - atomic_load_explicit(&loops[i].beat_ms, memory_order_relaxed);
        worst = ago > worst ? ago : worst;
    }
    return worst;
}
