/* SPDX-License-Identifier: MIT */
/* Accepts connections, schedules their turns, and closes slow and idle ones. */
#include "resp_listener.h"

#include "commands.h"
#include "core/log.h"
#include "core/server.h"
#include "errors.h"
#include "net/connections.h"
#include "net/credentials.h"
#include "net/failed_round.h"
#include "settings/setting.h"
#include "stream.h"
#include "turn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACCEPTS       64     /* connections accepted at once */
#define ACCEPT_REST   500    /* ms of pause when descriptors or memory are used up */
#define LINGER_MS     1000   /* for a client to close after the last reply */
#define LINGER_END_MS 100    /* the same while stopping */
#define IDLE_END_MS   300    /* while stopping: for an idle client to send a last command */
#define FRESH_END_MS  1000   /* the same for a client that has sent nothing yet */
#define ROUND_NS      500000 /* of turns, or of retries, before new bytes are read */
#define SWEEP_MS      1000
#define SWEEP_END_MS  20    /* while stopping */
#define AHEAD_BYTES   4096  /* while stopping: with more unread bytes nobody awaits replies */
#define QUEUE_MOST    65536 /* clients in the kernel's queue, at most net.core.somaxconn */

static struct {
    resp_loop *loops[LOOPS_MAX];
    _Atomic int count; /* loops already run while others are created */
    bool with_tls;
    int64_t stop_ms;
    _Atomic bool is_ending;
    _Atomic uint64_t next_id;
    _Atomic int64_t open; /* connections of all loops */
    unauthenticated_share unauthenticated;
} shared = {.unauthenticated = {.listener = "resp"}};

/* ---- what connections tell ------------------------------------------------------------------- */

static void on_bytes(resp_connection *connection, const char *bytes, size_t length) {
    if (connection->is_ending || connection->is_closing) {
        return;
    }
    atomic_store_explicit(&connection->client.heard_s, server_uptime_s(), memory_order_relaxed);
    if (connection->length == 0 && connection->wait == WAIT_NOTHING) {
        turn_serve(connection, bytes, length, false);
    } else if (!connection_keep(connection, bytes, length)) {
        turn_refuse_memory(connection);
    } else if (connection->wait == WAIT_NOTHING && connection->length >= connection->needed) {
        turn_resume(connection);
    } else if (connection->length >= RESP_COMMAND_MAX) {
        connection_read(connection, false);
    }
    /* libuv would keep reading from a client that fills the buffer: let others go first */
    if (length >= LANE_INPUT / 2 && connection->wait == WAIT_NOTHING && connection->is_reading &&
        !connection->is_ending) {
        loop_wait(connection, WAIT_TURN);
        connection_read(connection, false);
    }
}

static void on_drained(resp_connection *connection) {
    if (connection->wait == WAIT_DRAIN) {
        loop_wait(connection, WAIT_TURN);
    }
}

static void on_ended(resp_connection *connection) {
    if (connection->is_ending) {
        connection_close(connection);
    } else if (connection->wait == WAIT_NOTHING) {
        connection_end(connection);
    }
}

static void on_gone(resp_connection *connection) {
    resp_loop *loop = loop_of(connection);
    task_release(connection);
    stream_free(connection->stream);
    connection->stream = NULL;
    loop_wait(connection, WAIT_NOTHING);
    list_remove(&connection->all);
    if (connection->is_counted) {
        client_leave(&connection->client);
        unauthenticated_remove(&loop->unauthenticated, &connection->unauthenticated);
        atomic_fetch_sub_explicit(&shared.open, 1, memory_order_seq_cst);
        connections_count(-1);
        meter_add(&loop->lane.worker->meter.open, (uint64_t)-1);
        if (!connection->is_unix) {
            address_leave(connection->client.key);
        }
    }
}

static const connection_events events = {on_bytes, on_drained, on_ended, on_gone};

/* ---- what the loop tells --------------------------------------------------------------------- */

/* Gives a turn to each waiting connection, for ROUND_NS; the others stay first in the queue. Those
 * that need another turn are queued again. */
static void on_idle(uv_idle_t *idle) {
    resp_loop *loop = idle->data;
    list_link present;
    list_clear(&present);
    if (!list_is_empty(&loop->turns)) { /* moves the whole list */
        present = loop->turns;
        present.next->before = present.before->next = &present;
        list_clear(&loop->turns);
    }
    uint64_t begun = uv_hrtime();
    while (!list_is_empty(&present) && uv_hrtime() - begun < ROUND_NS) {
        turn_resume(waiting_first(&present));
    }
    list_add_all(&present, &loop->turns);
    list_add_all(&loop->turns, &present);
    if (list_is_empty(&loop->turns)) {
        uv_idle_stop(idle);
    }
}

/* Tries requests that wait for a window or the clock, the oldest first, and those that may succeed
 * only. A request that still waits keeps its place. */
static void retry(resp_loop *loop) {
    failed_round failed = {0};
    list_link *next;
    uint64_t begun = uv_hrtime();
    for (list_link *link = loop->later.next; link != &loop->later; link = next) {
        resp_connection *connection = list_entry(link, resp_connection, queue);
        int64_t late_ms = connection->late_ms;
        next = link->next;
        if (!waiting_is_over(connection) &&
            !tried_may_pass(&failed, connection->later_from, connection->later_count)) {
            continue;
        }
        if (uv_hrtime() - begun > ROUND_NS) {
            break;
        }
        meter_add(&loop->lane.worker->meter.retried, 1);
        turn_resume(connection);
        if (connection->wait == WAIT_LATER) {
            tried_note(&failed, connection->later_from, connection->later_count);
        }
        if (connection->wait == WAIT_LATER && connection->late_ms == late_ms) {
            list_remove(link);
            list_add(next, link); /* before the next */
        }
    }
}

/* Ends the wait for tasks whose time is over, or `all`. */
static void end_tasks(resp_loop *loop, bool all) {
    list_link *next;
    for (list_link *link = loop->tasks.next; link != &loop->tasks; link = next) {
        resp_connection *connection = list_entry(link, resp_connection, queue);
        next = link->next;
        if (!all && !waiting_is_over(connection)) {
            break;
        }
        firn_error error;
        client_question question = connection->waiter->question;
        size_t size = connection->waiter->size;
        if (!waiter_give_up(&connection->waiter->waiter)) {
            continue; /* the task is in `back` */
        }
        connection->waiter = NULL;
        if (all) {
            set_error(&error, FIRN_ESTORE, "the server is stopping: use another server");
        } else {
            request_is_late(&error);
        }
        turn_fail(connection, &question, size, &error, true);
    }
}

static void end_penalties(resp_loop *loop) {
    while (!list_is_empty(&loop->penalties) &&
           waiting_due_ms(waiting_first(&loop->penalties)) <= loop_now_ms(loop)) {
        resp_connection *connection = waiting_first(&loop->penalties);
        connection->late_ms = 0;
        turn_resume(connection);
    }
}

static void on_timer(uv_timer_t *timer) {
    resp_loop *loop = timer->data;
    retry(loop);
    end_tasks(loop, false);
    end_penalties(loop);
    loop_set_timer(loop);
}

/* A finished task, in the thread of the loop. */
static void finish_command(command_waiter *waiter) {
    resp_connection *connection = waiter->waiter.client;
    server_reply out = {0};
    firn_error error = {0};
    int code = waiter_finish(&waiter->waiter, &out, &error);
    if (connection != NULL) {
        connection->waiter = NULL;
    }
    if (connection == NULL || connection->is_closing) {
        if (code == FIRN_OK && out.kind == REPLY_JSON) {
            json_decref(out.json);
        }
    } else if (code == FIRN_OK) {
        turn_reply(connection, waiter, &out);
    } else if (code == REQUEST_LATER) {
        turn_resume(connection); /* opened: run the command again */
    } else {
        turn_fail(connection, &waiter->question, waiter->size, &error, false);
    }
    waiter_free(&waiter->waiter);
}

static void begin_end(resp_loop *loop);

static void take_back(resp_loop *loop) {
    pthread_mutex_lock(&loop->owner.lock);
    command_waiter *back = loop->back;
    loop->back = NULL;
    loop->back_end = &loop->back;
    pthread_mutex_unlock(&loop->owner.lock);
    while (back != NULL) {
        command_waiter *next = back->next;
        finish_command(back);
        back = next;
    }
}

static void on_bell(uv_async_t *bell) {
    resp_loop *loop = bell->data;
    take_back(loop);
    for (unauthenticated_client *client;
         (client = unauthenticated_owed(&loop->unauthenticated)) != NULL;) {
        close_unauthenticated(client);
    }
    if (atomic_exchange_explicit(&loop->has_news, false, memory_order_seq_cst)) {
        retry(loop);
        loop_set_timer(loop);
    }
    if (atomic_load_explicit(&shared.is_ending, memory_order_seq_cst) && !loop->is_ending) {
        begin_end(loop);
    }
}

/* ---- accepting ------------------------------------------------------------------------------- */

static void on_connection(uv_poll_t *poll, int status, int what);

static void listen_again(resp_loop *loop, bool enabled) {
    for (int i = 0; i < loop->listener_count; i++) {
        if (enabled) {
            uv_poll_start(&loop->polls[i], UV_READABLE, on_connection);
        } else {
            uv_poll_stop(&loop->polls[i]);
        }
    }
}

static void on_rested(uv_timer_t *timer) {
    resp_loop *loop = timer->data;
    if (!loop->is_ending) {
        listen_again(loop, true);
    }
}

/* Pauses accepting when descriptors or memory are used up; new clients stay in the kernel's queue.
 * Logged once. */
static void pause_accepting(resp_loop *loop, int error) {
    meter_add(&loop->lane.worker->meter.paused, 1);
    if (!loop->is_refusing) {
        loop->is_refusing = true;
        log_event(LOG_LEVEL_WARNING, "accepting paused", "listener", "resp", "why", strerror(error),
                  NULL);
    }
    listen_again(loop, false);
    uv_timer_start(&loop->accepting, on_rested, ACCEPT_REST, 0);
}

/* Closes the oldest unauthenticated connection if necessary. */
static bool has_room(resp_loop *loop) {
    if (!connections_are_full(atomic_load_explicit(&shared.open, memory_order_seq_cst))) {
        return true;
    }
    unauthenticated_client *oldest;
    bool has = unauthenticated_make_room(&loop->unauthenticated, &oldest);
    if (oldest != NULL) {
        close_unauthenticated(oldest);
    }
    for (int i = 0;
         i < atomic_load_explicit(&shared.count, memory_order_seq_cst) && has && oldest == NULL;
         i++) {
        loop_ring(shared.loops[i]);
    }
    return has;
}

static bool is_within(const resp_connection *connection) {
    size_t count = connection->is_unix ? 1 : address_enter(connection->client.key);
    int64_t most = settings_now()->max_per_address;
    if (count == 0) {
        return false;
    }
    if (most > 0 && count > (size_t)most && !connection->is_unix) {
        address_leave(connection->client.key);
        return false;
    }
    return true;
}

static void turn_away(resp_loop *loop, int fd) {
    static const char text[] = "-ERR max number of clients reached\r\n";
    meter_add(&loop->lane.worker->meter.turned_away, 1);
    if (!shared.with_tls && send(fd, text, sizeof text - 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        errno = 0; /* best effort */
    }
    close(fd);
}

static void accept_client(resp_loop *loop, int fd, const server_listener *listener) {
    resp_connection *connection = NULL;
    firn_error error;
    bool with_tls = shared.with_tls && !listener->is_unix;
    if (!has_room(loop)) {
        turn_away(loop, fd);
        return;
    }
    if (connection_open(&connection, &loop->lane, fd, listener->is_unix, with_tls, &error) !=
        FIRN_OK) {
        log_event(LOG_LEVEL_WARNING, "connection lost", "listener", "resp", "why", error.text,
                  NULL);
        return;
    }
    if (!is_within(connection)) {
        meter_add(&loop->lane.worker->meter.turned_away, 1);
        resp_error(&loop->lane.out, "ERR", "max number of clients of your address reached");
        if (with_tls) {
            loop->lane.out.length = 0;
        }
        if (connection_send(connection)) {
            connection_close(connection); /* the connection is not counted, so it must not stay */
        }
        return;
    }
    connection->is_counted = true;
    atomic_fetch_add_explicit(&shared.open, 1, memory_order_seq_cst);
    connections_count(1);
    connection->client.id = atomic_fetch_add_explicit(&shared.next_id, 1, memory_order_seq_cst) + 1;
    connection->client.worker = loop->lane.worker;
    connection->client.since_s = server_uptime_s();
    atomic_store_explicit(&connection->client.heard_s, connection->client.since_s,
                          memory_order_seq_cst);
    client_begin(&connection->client);
    client_enter(&connection->client);
    count_strangers(connection);
    meter_add(&loop->lane.worker->meter.accepted, 1);
    meter_add(&loop->lane.worker->meter.open, 1);
    connection_read(connection, true);
}

/* True: there may be more. */
static bool accept_some(resp_loop *loop, const server_listener *listener) {
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            if (loop->is_refusing) {
                loop->is_refusing = false;
                log_event(LOG_LEVEL_INFO, "accepting resumed", "listener", "resp", NULL);
            }
            accept_client(loop, fd, listener);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            pause_accepting(loop, errno);
            return false;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return false;
        }
    }
    return true;
}

static void on_connection(uv_poll_t *poll, int status, int what) {
    resp_loop *loop = poll->data;
    if (status == 0 && (what & UV_READABLE) != 0) {
        accept_some(loop, loop->listeners[poll - loop->polls]);
    }
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static bool is_past(int64_t now, int64_t since, int64_t ms) {
    return since != 0 && now - since >= ms;
}

/* While stopping: an idle client may be about to send a command, and a new one its first. */
static bool is_idle_to_the_end(resp_connection *connection, int64_t now) {
    const resp_loop *loop = loop_of(connection);
    bool is_fresh = connection->heard_ms == connection->begun_ms;
    int64_t since = connection->heard_ms > loop->ending_ms ? connection->heard_ms : loop->ending_ms;
    return connection->wait == WAIT_NOTHING && is_drained(connection) &&
           is_past(now, is_fresh ? connection->begun_ms : since,
                   is_fresh ? FRESH_END_MS : IDLE_END_MS);
}

/* Has the client read nothing for that long? With a pipeline as much may be unsent at each sweep,
 * because each reply that the client takes makes room for the next. */
static bool reads_slowly(resp_connection *connection, int64_t now, int64_t slow_ms) {
    size_t unsent = connection_unsent(connection);
    uint64_t taken = connection->queued - unsent;
    if (unsent == 0 || connection->unsent_seen == 0 || taken != connection->taken_seen) {
        connection->progress_ms = now;
    }
    connection->unsent_seen = unsent;
    connection->taken_seen = taken;
    return unsent > 0 && is_past(now, connection->progress_ms, slow_ms);
}

static void sweep_one(resp_connection *connection, int64_t now) {
    const server_settings *set = settings_now();
    server_meter *count = &connection->lane->worker->meter;
    int64_t slow_ms = set->slow_s * 1000, idle_ms = set->idle_s * 1000;
    client_renew(&connection->client);
    if (connection->tls != NULL && secure_is_refused(connection->tls)) {
        connection_close(connection);
        return;
    }
    count_strangers(connection);
    int64_t linger_ms = loop_of(connection)->is_ending ? LINGER_END_MS : LINGER_MS;
    bool is_new = (connection->tls != NULL && !secure_is_ready(connection->tls)) ||
                  (connection->unauthenticated.is_in &&
                   connection->wait != WAIT_PENALTY); /* that one waits for us */
    bool is_batch_late = connection->client.batch.is_open && connection->wait == WAIT_NOTHING &&
                         is_past(now, connection->client.batch.since_ms, slow_ms);
    if (is_batch_late && connection_unsent(connection) == 0) {
        meter_add(&count->closed_slow, 1);
        resp_error(&connection->lane->out, "ERR",
                   "the batch was open for longer than slow: send EXEC sooner");
        if (connection_send(connection)) {
            connection_end(connection);
        }
        batch_clear(&connection->client.batch);
    } else if (reads_slowly(connection, now, slow_ms) ||
               is_past(now, connection->half_ms, slow_ms) ||
               (is_new && is_past(now, connection->begun_ms, slow_ms))) {
        meter_add(&count->closed_slow, 1);
        connection_close(connection);
    } else if (connection->is_ending && connection->unsent_seen == 0 &&
               is_past(now, connection->ending_ms, linger_ms)) {
        connection_close(connection);
    } else if (loop_of(connection)->is_ending && !connection->is_ending &&
               is_idle_to_the_end(connection, now)) {
        connection_end(connection);
    } else if (idle_ms > 0 && connection->wait == WAIT_NOTHING &&
               is_past(now, connection->heard_ms, idle_ms)) {
        connection_end(connection);
    }
}

static void end_all(resp_loop *loop);

static void on_sweep(uv_timer_t *timer) {
    resp_loop *loop = timer->data;
    int64_t now = loop_now_ms(loop);
    atomic_store_explicit(&loop->beat_ms, (int64_t)(uv_hrtime() / 1000000), memory_order_seq_cst);
    list_link *next;
    for (list_link *link = loop->lane.all.next; link != &loop->lane.all; link = next) {
        next = link->next;
        sweep_one(list_entry(link, resp_connection, all), now);
    }
    if (loop->is_ending) {
        end_all(loop);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static void close_all(resp_loop *loop) {
    list_link *next;
    for (list_link *link = loop->lane.all.next; link != &loop->lane.all; link = next) {
        next = link->next;
        connection_close(list_entry(link, resp_connection, all));
    }
}

/* Closes the handles of the loop, which ends its run, when the last connection is gone or time is
 * up. */
static void end_all(resp_loop *loop) {
    if (!list_is_empty(&loop->lane.all)) {
        if (loop_now_ms(loop) >= loop->end_ms) {
            end_tasks(loop, true);
            take_back(loop);
            close_all(loop);
        }
        return;
    }
    pthread_mutex_lock(&loop->owner.lock);
    loop->is_gone = true;
    pthread_mutex_unlock(&loop->owner.lock);
    uv_handle_t *const handles[] = {(uv_handle_t *)&loop->bell, (uv_handle_t *)&loop->timer,
                                    (uv_handle_t *)&loop->sweep, (uv_handle_t *)&loop->accepting,
                                    (uv_handle_t *)&loop->idle};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
        uv_close(handles[i], NULL);
    }
}

/* Accepts the clients that the kernel has let in: they may have sent commands too. */
static void stop_accepting(resp_loop *loop) {
    for (int i = 0; i < loop->listener_count; i++) {
        server_listener *listener = loop->listeners[i];
        listener_quiesce(listener);
        for (int n = 0;
             n < QUEUE_MOST / ACCEPTS && !listener->inherited && accept_some(loop, listener); n++) {
        }
        uv_poll_stop(&loop->polls[i]);
        uv_close((uv_handle_t *)&loop->polls[i], NULL);
        listener_close(listener);
    }
}

/* Each connection ends right after its next reply, which says so in the same packet; the sweep ends
 * idle ones later. */
static void begin_end(resp_loop *loop) {
    stop_accepting(loop);
    loop->is_ending = true;
    loop->ending_ms = loop_now_ms(loop);
    while (!list_is_empty(&loop->penalties)) { /* delayed tokens must not delay the end */
        resp_connection *connection = waiting_first(&loop->penalties);
        list_remove(&connection->queue);
        connection_close(connection);
    }
    loop->end_ms = loop_now_ms(loop) + shared.stop_ms;
    uv_timer_stop(&loop->accepting);
    for (list_link *link = loop->lane.all.next; link != &loop->lane.all; link = link->next) {
        resp_connection *connection = list_entry(link, resp_connection, all);
        connection->is_ahead = !connection->is_reading || connection->length >= AHEAD_BYTES;
    }
    uv_timer_start(&loop->sweep, on_sweep, 1, SWEEP_END_MS);
}

/* ---- begin ----------------------------------------------------------------------------------- */

static void run(void *self) {
    resp_loop *loop = self;
    pthread_setname_np(pthread_self(), "resp");
    uv_run(&loop->lane.uv, UV_RUN_DEFAULT);
    uv_loop_close(&loop->lane.uv);
    resp_out_free(&loop->lane.out);
    resp_out_free(&loop->lane.wire);
    free(loop->lane.input);
    free(loop->lane.plain);
}

/* Loop i of `count` watches its share of the listeners. */
static int watch(resp_loop *loop, server_listener all[], int listeners, int i, int count) {
    for (int j = i; j < listeners; j += count) {
        uv_poll_t *poll = &loop->polls[loop->listener_count];
        if (uv_poll_init(&loop->lane.uv, poll, all[j].fd) != 0) {
            return FIRN_ESYSTEM;
        }
        poll->data = loop;
        loop->listeners[loop->listener_count++] = &all[j];
    }
    listen_again(loop, true);
    return FIRN_OK;
}

static int begin_loop(resp_loop *loop) {
    loop->lane.worker = worker_new(false);
    loop->lane.input = malloc(LANE_INPUT);
    loop->lane.events = &events;
    loop->on_idle = on_idle;
    loop->on_timer = on_timer;
    loop->back_end = &loop->back;
    if (loop->lane.worker == NULL || loop->lane.input == NULL) {
        return FIRN_EMEMORY;
    }
    list_link *const chains[] = {&loop->lane.all, &loop->turns,     &loop->later,
                                 &loop->tasks,    &loop->penalties, &loop->draining};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        list_clear(chains[i]);
    }
    unauthenticated_begin(&loop->unauthenticated, &shared.unauthenticated);
    pthread_mutex_init(&loop->owner.lock, NULL);
    loop->owner.wake = command_is_back;
    loop->owner.full = unsent_full;
    if (uv_loop_init(&loop->lane.uv) != 0 ||
        uv_async_init(&loop->lane.uv, &loop->bell, on_bell) != 0) {
        return FIRN_ESYSTEM;
    }
    uv_timer_init(&loop->lane.uv, &loop->timer);
    uv_timer_init(&loop->lane.uv, &loop->sweep);
    uv_timer_init(&loop->lane.uv, &loop->accepting);
    uv_idle_init(&loop->lane.uv, &loop->idle);
    loop->bell.data = loop->timer.data = loop->sweep.data = loop->accepting.data = loop->idle.data =
        loop;
    uv_timer_start(&loop->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    atomic_store_explicit(&loop->beat_ms, (int64_t)(uv_hrtime() / 1000000), memory_order_seq_cst);
    return FIRN_OK;
}

static int open_loop(server_listener all[], int listeners, int i, int count) {
    resp_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL) {
        return FIRN_EMEMORY;
    }
    int code = begin_loop(loop);
    code = code == FIRN_OK ? watch(loop, all, listeners, i, count) : code;
    if (code == FIRN_OK && uv_thread_create(&loop->thread, run, loop) != 0) {
        code = FIRN_ESYSTEM;
    }
    if (code == FIRN_OK) {
        shared.loops[atomic_load_explicit(&shared.count, memory_order_seq_cst)] = loop;
        atomic_fetch_add_explicit(&shared.count, 1, memory_order_seq_cst);
    }
    return code; /* not freed on failure: the server does not start */
}

int resp_listener_open(server_listener all[], int count, int loops, firn_error *error) {
    int code = FIRN_OK;
    sigset_t none, before; /* signals are handled by the main thread */
    sigfillset(&none);
    pthread_sigmask(SIG_SETMASK, &none, &before);
    shared.with_tls = credentials_are_there();
    for (int i = 0; i < loops && i < LOOPS_MAX && code == FIRN_OK; i++) {
        code = open_loop(all, count, i, loops < LOOPS_MAX ? loops : LOOPS_MAX);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != FIRN_OK) {
        set_error(error, code, "cannot start %d threads for Redis clients: lower loops", loops);
        resp_listener_end(0);
        resp_listener_close();
    }
    return code;
}

void resp_listener_end(int64_t ms) {
    shared.stop_ms = ms;
    atomic_store_explicit(&shared.is_ending, true, memory_order_seq_cst);
    for (int i = 0; i < atomic_load_explicit(&shared.count, memory_order_seq_cst); i++) {
        loop_ring(shared.loops[i]);
    }
}

void resp_listener_close(void) {
    for (int i = 0; i < atomic_load_explicit(&shared.count, memory_order_seq_cst); i++) {
        uv_thread_join(&shared.loops[i]->thread);
    }
}

int64_t resp_listener_beat_ms(void) {
    int64_t now = (int64_t)(uv_hrtime() / 1000000), most = 0;
    for (int i = 0; i < atomic_load_explicit(&shared.count, memory_order_seq_cst); i++) {
        int64_t ago = now - atomic_load_explicit(&shared.loops[i]->beat_ms, memory_order_seq_cst);
        most = ago > most ? ago : most;
    }
    return most;
}

void resp_listener_news(void) {
    for (int i = 0; i < atomic_load_explicit(&shared.count, memory_order_seq_cst); i++) {
        resp_loop *loop = shared.loops[i];
        if (atomic_load_explicit(&loop->has_waiting, memory_order_relaxed)) {
            atomic_store_explicit(&loop->has_news, true, memory_order_seq_cst);
            loop_ring(loop);
        }
    }
}
