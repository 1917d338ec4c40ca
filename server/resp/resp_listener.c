/* SPDX-License-Identifier: MIT */
/* Accepts connections, schedules their turns, and closes slow and idle ones. */
#include "resp_listener.h"

#include "commands.h"
#include "config/setting.h"
#include "core/log.h"
#include "core/server.h"
#include "errors.h"
#include "net/connections.h"
#include "net/credentials.h"
#include "net/tried.h"
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
    loop *loops[LOOPS_MAX];
    _Atomic int count; /* loops already run while others are created */
    bool with_tls;
    int64_t stop_ms;
    _Atomic bool is_ending;
    _Atomic uint64_t next_id;
    _Atomic int64_t open; /* connections of all loops */
    unauthenticated_share unauthenticated;
} shared = {.unauthenticated = {.listener = "resp"}};

/* ---- what connections tell ------------------------------------------------------------------- */

static void on_bytes(connection *it, const char *bytes, size_t length) {
    if (it->is_ending || it->is_closing) {
        return;
    }
    atomic_store_explicit(&it->client.heard_s, server_uptime_s(), memory_order_relaxed);
    if (it->length == 0 && it->wait == WAIT_NOTHING) {
        turn_serve(it, bytes, length, false);
    } else if (!connection_keep(it, bytes, length)) {
        turn_refuse_memory(it);
    } else if (it->wait == WAIT_NOTHING && it->length >= it->needed) {
        turn_resume(it);
    } else if (it->length >= RESP_COMMAND_MAX) {
        connection_read(it, false);
    }
    /* libuv would keep reading from a client that fills the buffer: let others go first */
    if (length >= LANE_INPUT / 2 && it->wait == WAIT_NOTHING && it->is_reading && !it->is_ending) {
        loop_wait(it, WAIT_TURN);
        connection_read(it, false);
    }
}

static void on_drained(connection *it) {
    if (it->wait == WAIT_DRAIN) {
        loop_wait(it, WAIT_TURN);
    }
}

static void on_ended(connection *it) {
    if (it->is_ending) {
        connection_close(it);
    } else if (it->wait == WAIT_NOTHING) {
        connection_end(it);
    }
}

static void on_gone(connection *it) {
    loop *on = loop_of(it);
    task_let_go(it);
    stream_free(it->stream);
    it->stream = NULL;
    loop_wait(it, WAIT_NOTHING);
    list_remove(&it->all);
    if (it->is_counted) {
        client_leave(&it->client);
        unauthenticated_remove(&on->unauthenticated, &it->unauthenticated);
        atomic_fetch_sub_explicit(&shared.open, 1, memory_order_seq_cst);
        connections_count(-1);
        meter_add(&on->lane.worker->meter.open, (uint64_t)-1);
        if (!it->is_unix) {
            address_leave(it->client.key);
        }
    }
}

static const connection_events events = {on_bytes, on_drained, on_ended, on_gone};

/* ---- what the loop tells --------------------------------------------------------------------- */

/* One turn for each waiting connection, for ROUND_NS; the others stay first in the queue. Those that
 * need another turn are queued again. */
static void on_idle(uv_idle_t *idle) {
    loop *it = idle->data;
    list_link present;
    list_clear(&present);
    if (!list_is_empty(&it->turns)) { /* moves the whole list */
        present = it->turns;
        present.next->before = present.before->next = &present;
        list_clear(&it->turns);
    }
    uint64_t begun = uv_hrtime();
    while (!list_is_empty(&present) && uv_hrtime() - begun < ROUND_NS) {
        turn_resume(waiting_first(&present));
    }
    list_add_all(&present, &it->turns);
    list_add_all(&it->turns, &present);
    if (list_is_empty(&it->turns)) {
        uv_idle_stop(idle);
    }
}

/* Tries requests that wait for a window or the clock, the oldest first, and those that may succeed
 * only. A request that still waits keeps its place. */
static void retry(loop *it) {
    tried failed = {0};
    list_link *next;
    uint64_t begun = uv_hrtime();
    for (list_link *at = it->later.next; at != &it->later; at = next) {
        connection *one = list_entry(at, connection, queue);
        int64_t late_ms = one->late_ms;
        next = at->next;
        if (!waiting_is_over(one) && !tried_may_pass(&failed, one->later_from, one->later_count)) {
            continue;
        }
        if (uv_hrtime() - begun > ROUND_NS) {
            break;
        }
        meter_add(&it->lane.worker->meter.retried, 1);
        turn_resume(one);
        if (one->wait == WAIT_LATER) {
            tried_note(&failed, one->later_from, one->later_count);
        }
        if (one->wait == WAIT_LATER && one->late_ms == late_ms) {
            list_remove(at);
            list_add(next, at); /* before the next */
        }
    }
}

/* Ends the wait for tasks whose time is over, or `all`. */
static void end_tasks(loop *it, bool all) {
    list_link *next;
    for (list_link *at = it->tasks.next; at != &it->tasks; at = next) {
        connection *one = list_entry(at, connection, queue);
        next = at->next;
        if (!all && !waiting_is_over(one)) {
            break;
        }
        firn_error error;
        question asked = one->waiter->asked;
        size_t size = one->waiter->size;
        if (!waiter_give_up(&one->waiter->waiter)) {
            continue; /* the task is in `back` */
        }
        one->waiter = NULL;
        if (all) {
            set_error(&error, FIRN_ESTORE, "the server is stopping: use another server");
        } else {
            request_is_late(&error);
        }
        turn_fail(one, &asked, size, &error, true);
    }
}

static void end_penalties(loop *it) {
    while (!list_is_empty(&it->penalties) &&
           waiting_due_ms(waiting_first(&it->penalties)) <= loop_now_ms(it)) {
        connection *one = waiting_first(&it->penalties);
        one->late_ms = 0;
        turn_resume(one);
    }
}

static void on_timer(uv_timer_t *timer) {
    loop *it = timer->data;
    retry(it);
    end_tasks(it, false);
    end_penalties(it);
    loop_set_timer(it);
}

/* A finished task, in the thread of the loop. */
static void come_back(command_waiter *one) {
    connection *it = one->waiter.client;
    reply out = {0};
    firn_error error = {0};
    int code = waiter_finish(&one->waiter, &out, &error);
    if (it != NULL) {
        it->waiter = NULL;
    }
    if (it == NULL || it->is_closing) {
        if (code == FIRN_OK && out.kind == REPLY_JSON) {
            json_decref(out.json);
        }
    } else if (code == FIRN_OK) {
        turn_reply(it, one, &out);
    } else if (code == REQUEST_LATER) {
        turn_resume(it); /* opened: run the command again */
    } else {
        turn_fail(it, &one->asked, one->size, &error, false);
    }
    waiter_free(&one->waiter);
}

static void begin_end(loop *it);

static void take_back(loop *it) {
    pthread_mutex_lock(&it->owner.lock);
    command_waiter *back = it->back;
    it->back = NULL;
    it->back_end = &it->back;
    pthread_mutex_unlock(&it->owner.lock);
    while (back != NULL) {
        command_waiter *next = back->next;
        come_back(back);
        back = next;
    }
}

static void on_bell(uv_async_t *bell) {
    loop *it = bell->data;
    take_back(it);
    for (unauthenticated *one; (one = unauthenticated_owed(&it->unauthenticated)) != NULL;) {
        close_unauthenticated(one);
    }
    if (atomic_exchange_explicit(&it->has_news, false, memory_order_seq_cst)) {
        retry(it);
        loop_set_timer(it);
    }
    if (atomic_load_explicit(&shared.is_ending, memory_order_seq_cst) && !it->is_ending) {
        begin_end(it);
    }
}

/* ---- accepting ------------------------------------------------------------------------------- */

static void on_connection(uv_poll_t *poll, int status, int what);

static void listen_again(loop *it, bool on) {
    for (int i = 0; i < it->listener_count; i++) {
        if (on) {
            uv_poll_start(&it->polls[i], UV_READABLE, on_connection);
        } else {
            uv_poll_stop(&it->polls[i]);
        }
    }
}

static void on_rested(uv_timer_t *timer) {
    loop *it = timer->data;
    if (!it->is_ending) {
        listen_again(it, true);
    }
}

/* Pauses accepting when descriptors or memory are used up; new clients stay in the kernel's queue.
 * Logged once. */
static void rest(loop *it, int error) {
    meter_add(&it->lane.worker->meter.paused, 1);
    if (!it->is_refusing) {
        it->is_refusing = true;
        log_event(LOG_LEVEL_WARNING, "accepting paused", "listener", "resp", "why", strerror(error),
                  NULL);
    }
    listen_again(it, false);
    uv_timer_start(&it->accepting, on_rested, ACCEPT_REST, 0);
}

/* Closes the oldest unauthenticated connection if necessary. */
static bool has_room(loop *it) {
    if (!connections_are_full(atomic_load_explicit(&shared.open, memory_order_seq_cst))) {
        return true;
    }
    unauthenticated *oldest;
    bool has = unauthenticated_make_room(&it->unauthenticated, &oldest);
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

static bool is_within(const connection *it) {
    size_t count = it->is_unix ? 1 : address_enter(it->client.key);
    int64_t most = settings_now()->max_per_address;
    if (count == 0) {
        return false;
    }
    if (most > 0 && count > (size_t)most && !it->is_unix) {
        address_leave(it->client.key);
        return false;
    }
    return true;
}

static void turn_away(loop *it, int fd) {
    static const char text[] = "-ERR max number of clients reached\r\n";
    meter_add(&it->lane.worker->meter.turned_away, 1);
    if (!shared.with_tls && send(fd, text, sizeof text - 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        errno = 0; /* best effort */
    }
    close(fd);
}

static void welcome(loop *it, int fd, const listener *at) {
    connection *one = NULL;
    firn_error error;
    bool with_tls = shared.with_tls && !at->is_unix;
    if (!has_room(it)) {
        turn_away(it, fd);
        return;
    }
    if (connection_open(&one, &it->lane, fd, at->is_unix, with_tls, &error) != FIRN_OK) {
        log_event(LOG_LEVEL_WARNING, "connection lost", "listener", "resp", "why", error.text,
                  NULL);
        return;
    }
    if (!is_within(one)) {
        meter_add(&it->lane.worker->meter.turned_away, 1);
        resp_error(&it->lane.out, "ERR", "max number of clients of your address reached");
        if (with_tls) {
            it->lane.out.length = 0;
        }
        if (connection_send(one)) {
            connection_close(one); /* the connection is not counted, so it must not stay */
        }
        return;
    }
    one->is_counted = true;
    atomic_fetch_add_explicit(&shared.open, 1, memory_order_seq_cst);
    connections_count(1);
    one->client.id = atomic_fetch_add_explicit(&shared.next_id, 1, memory_order_seq_cst) + 1;
    one->client.worker = it->lane.worker;
    one->client.since_s = server_uptime_s();
    atomic_store_explicit(&one->client.heard_s, one->client.since_s, memory_order_seq_cst);
    client_begin(&one->client);
    client_enter(&one->client);
    count_strangers(one);
    meter_add(&it->lane.worker->meter.accepted, 1);
    meter_add(&it->lane.worker->meter.open, 1);
    connection_read(one, true);
}

/* True: there may be more. */
static bool accept_some(loop *it, const listener *at) {
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(at->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            if (it->is_refusing) {
                it->is_refusing = false;
                log_event(LOG_LEVEL_INFO, "accepting resumed", "listener", "resp", NULL);
            }
            welcome(it, fd, at);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            rest(it, errno);
            return false;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return false;
        }
    }
    return true;
}

static void on_connection(uv_poll_t *poll, int status, int what) {
    loop *it = poll->data;
    if (status == 0 && (what & UV_READABLE) != 0) {
        accept_some(it, it->listeners[poll - it->polls]);
    }
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static bool is_past(int64_t now, int64_t since, int64_t ms) {
    return since != 0 && now - since >= ms;
}

/* While stopping: an idle client may be about to send a command, and a new one its first. */
static bool is_idle_to_the_end(connection *it, int64_t now) {
    const loop *on = loop_of(it);
    bool is_fresh = it->heard_ms == it->begun_ms;
    int64_t since = it->heard_ms > on->ending_ms ? it->heard_ms : on->ending_ms;
    return it->wait == WAIT_NOTHING && is_drained(it) &&
           is_past(now, is_fresh ? it->begun_ms : since, is_fresh ? FRESH_END_MS : IDLE_END_MS);
}

/* Has the client read nothing since the last sweep? */
static bool reads_slowly(connection *it, int64_t now, int64_t slow_ms) {
    size_t unsent = connection_unsent(it);
    if (unsent == 0 || unsent < it->unsent_seen || it->unsent_seen == 0) {
        it->progress_ms = now;
    }
    it->unsent_seen = unsent;
    return unsent > 0 && is_past(now, it->progress_ms, slow_ms);
}

static void sweep_one(connection *it, int64_t now) {
    const settings *set = settings_now();
    meter *count = &it->lane->worker->meter;
    int64_t slow_ms = set->slow_s * 1000, idle_ms = set->idle_s * 1000;
    client_renew(&it->client);
    if (it->tls != NULL && secure_is_refused(it->tls)) {
        connection_close(it);
        return;
    }
    count_strangers(it);
    int64_t linger_ms = loop_of(it)->is_ending ? LINGER_END_MS : LINGER_MS;
    bool is_new =
        (it->tls != NULL && !secure_is_ready(it->tls)) ||
        (it->unauthenticated.is_in && it->wait != WAIT_PENALTY); /* that one waits for us */
    bool is_batch_late = it->client.batch.is_open && it->wait == WAIT_NOTHING &&
                         is_past(now, it->client.batch.since_ms, slow_ms);
    if (is_batch_late && connection_unsent(it) == 0) {
        meter_add(&count->closed_slow, 1);
        resp_error(&it->lane->out, "ERR",
                   "the batch was open for longer than slow: send EXEC sooner");
        if (connection_send(it)) {
            connection_end(it);
        }
        batch_clear(&it->client.batch);
    } else if (reads_slowly(it, now, slow_ms) || is_past(now, it->half_ms, slow_ms) ||
               (is_new && is_past(now, it->begun_ms, slow_ms))) {
        meter_add(&count->closed_slow, 1);
        connection_close(it);
    } else if (it->is_ending && it->unsent_seen == 0 && is_past(now, it->ending_ms, linger_ms)) {
        connection_close(it);
    } else if (loop_of(it)->is_ending && !it->is_ending && is_idle_to_the_end(it, now)) {
        connection_end(it);
    } else if (idle_ms > 0 && it->wait == WAIT_NOTHING && is_past(now, it->heard_ms, idle_ms)) {
        connection_end(it);
    }
}

static void end_all(loop *it);

static void on_sweep(uv_timer_t *timer) {
    loop *it = timer->data;
    int64_t now = loop_now_ms(it);
    atomic_store_explicit(&it->beat_ms, (int64_t)(uv_hrtime() / 1000000), memory_order_seq_cst);
    list_link *next;
    for (list_link *at = it->lane.all.next; at != &it->lane.all; at = next) {
        next = at->next;
        sweep_one(list_entry(at, connection, all), now);
    }
    if (it->is_ending) {
        end_all(it);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static void close_all(loop *it) {
    list_link *next;
    for (list_link *at = it->lane.all.next; at != &it->lane.all; at = next) {
        next = at->next;
        connection_close(list_entry(at, connection, all));
    }
}

/* Closes the handles of the loop, which ends its run, when the last connection is gone or time is
 * up. */
static void end_all(loop *it) {
    if (!list_is_empty(&it->lane.all)) {
        if (loop_now_ms(it) >= it->end_ms) {
            end_tasks(it, true);
            take_back(it);
            close_all(it);
        }
        return;
    }
    pthread_mutex_lock(&it->owner.lock);
    it->is_gone = true;
    pthread_mutex_unlock(&it->owner.lock);
    uv_handle_t *const handles[] = {(uv_handle_t *)&it->bell, (uv_handle_t *)&it->timer,
                                    (uv_handle_t *)&it->sweep, (uv_handle_t *)&it->accepting,
                                    (uv_handle_t *)&it->idle};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
        uv_close(handles[i], NULL);
    }
}

/* Accepts the clients that the kernel has let in: they may have sent commands too. */
static void stop_accepting(loop *it) {
    for (int i = 0; i < it->listener_count; i++) {
        listener *at = it->listeners[i];
        listener_quiesce(at);
        for (int n = 0; n < QUEUE_MOST / ACCEPTS && !at->inherited && accept_some(it, at); n++) {
        }
        uv_poll_stop(&it->polls[i]);
        uv_close((uv_handle_t *)&it->polls[i], NULL);
        listener_close(at);
    }
}

/* Each connection ends right after its next reply, which says so in the same packet; the sweep ends
 * idle ones later. */
static void begin_end(loop *it) {
    stop_accepting(it);
    it->is_ending = true;
    it->ending_ms = loop_now_ms(it);
    while (!list_is_empty(&it->penalties)) { /* delayed tokens must not delay the end */
        connection *one = waiting_first(&it->penalties);
        list_remove(&one->queue);
        connection_close(one);
    }
    it->end_ms = loop_now_ms(it) + shared.stop_ms;
    uv_timer_stop(&it->accepting);
    for (list_link *at = it->lane.all.next; at != &it->lane.all; at = at->next) {
        connection *one = list_entry(at, connection, all);
        one->is_ahead = !one->is_reading || one->length >= AHEAD_BYTES;
    }
    uv_timer_start(&it->sweep, on_sweep, 1, SWEEP_END_MS);
}

/* ---- begin ----------------------------------------------------------------------------------- */

static void run(void *self) {
    loop *it = self;
    pthread_setname_np(pthread_self(), "resp");
    uv_run(&it->lane.uv, UV_RUN_DEFAULT);
    uv_loop_close(&it->lane.uv);
    resp_out_free(&it->lane.out);
    resp_out_free(&it->lane.wire);
    free(it->lane.input);
    free(it->lane.plain);
}

/* Loop i of `count` watches its share of the listeners. */
static int watch(loop *it, listener all[], int listeners, int i, int count) {
    for (int j = i; j < listeners; j += count) {
        uv_poll_t *poll = &it->polls[it->listener_count];
        if (uv_poll_init(&it->lane.uv, poll, all[j].fd) != 0) {
            return FIRN_ESYSTEM;
        }
        poll->data = it;
        it->listeners[it->listener_count++] = &all[j];
    }
    listen_again(it, true);
    return FIRN_OK;
}

static int begin_loop(loop *it) {
    it->lane.worker = worker_new(false);
    it->lane.input = malloc(LANE_INPUT);
    it->lane.events = &events;
    it->on_idle = on_idle;
    it->on_timer = on_timer;
    it->back_end = &it->back;
    if (it->lane.worker == NULL || it->lane.input == NULL) {
        return FIRN_EMEMORY;
    }
    list_link *const chains[] = {&it->lane.all, &it->turns,     &it->later,
                                 &it->tasks,    &it->penalties, &it->draining};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        list_clear(chains[i]);
    }
    unauthenticated_begin(&it->unauthenticated, &shared.unauthenticated);
    pthread_mutex_init(&it->owner.lock, NULL);
    it->owner.wake = command_is_back;
    it->owner.full = unsent_full;
    if (uv_loop_init(&it->lane.uv) != 0 || uv_async_init(&it->lane.uv, &it->bell, on_bell) != 0) {
        return FIRN_ESYSTEM;
    }
    uv_timer_init(&it->lane.uv, &it->timer);
    uv_timer_init(&it->lane.uv, &it->sweep);
    uv_timer_init(&it->lane.uv, &it->accepting);
    uv_idle_init(&it->lane.uv, &it->idle);
    it->bell.data = it->timer.data = it->sweep.data = it->accepting.data = it->idle.data = it;
    uv_timer_start(&it->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    atomic_store_explicit(&it->beat_ms, (int64_t)(uv_hrtime() / 1000000), memory_order_seq_cst);
    return FIRN_OK;
}

static int open_loop(listener all[], int listeners, int i, int count) {
    loop *it = calloc(1, sizeof *it);
    if (it == NULL) {
        return FIRN_EMEMORY;
    }
    int code = begin_loop(it);
    code = code == FIRN_OK ? watch(it, all, listeners, i, count) : code;
    if (code == FIRN_OK && uv_thread_create(&it->thread, run, it) != 0) {
        code = FIRN_ESYSTEM;
    }
    if (code == FIRN_OK) {
        shared.loops[atomic_load_explicit(&shared.count, memory_order_seq_cst)] = it;
        atomic_fetch_add_explicit(&shared.count, 1, memory_order_seq_cst);
    }
    return code; /* not freed on failure: the server does not start */
}

int resp_listener_open(listener all[], int count, int loops, firn_error *error) {
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
        loop *it = shared.loops[i];
        if (atomic_load_explicit(&it->has_waiting, memory_order_relaxed)) {
            atomic_store_explicit(&it->has_news, true, memory_order_seq_cst);
            loop_ring(it);
        }
    }
}
