/* SPDX-License-Identifier: MIT */
/* The RESP listener: see resp_listener.h. Accepts connections, reads their commands turn by
 * turn, and keeps those that have to wait. Issues nothing itself: request.h does.
 *
 * Nothing in a loop's thread waits. A connection whose command cannot be answered yet stands in a
 * queue with its bytes, and is taken up again by the loop's one timer, by news of a renewer, or by
 * an task that came back. */
#include "resp_listener.h"

#include "commands.h"
#include "config/config.h"
#include "connection.h"
#include "core/log.h"
#include "core/server.h"
#include "net/credentials.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LOOPS_MAX     64
#define ACCEPTS       64          /* connections that are accepted at once */
#define ACCEPT_REST   500         /* ms without accepting when descriptors or memory are used up */
#define TURN_WORK     8192        /* steps of a turn: a known command is one, any other more */
#define STEP_NS       250         /* a command that has to be read is a step for each of these */
#define TURN_OUTPUT   (512 << 10) /* bytes of replies after which others come first */
#define TURN_SEND     (128 << 10) /* sent at once, while the processor still has them at hand */
#define STEP_COMMAND  4           /* and so many at least */
#define RETRIES       1024        /* waiting requests that are tried again at once */
#define LINGER_MS     1000        /* for a client to close after our last reply */
#define LINGER_END_MS 100         /* the same when the server ends */
#define AHEAD_BYTES   4096 /* unread when the server ends: its client does not wait for replies */
#define QUIET_MS      50   /* for which such a client says nothing more before it is let go */
#define SWEEP_MS      1000
#define SWEEP_END_MS  20 /* when the server ends */
#define MEMO_SIZE     256
#define LARGE_IDS     64 /* a reply with more may be large */

/* The last command that issued something, as bytes and as a question: when the same bytes come
 * again, from whatever client of that role, nothing is read or looked up, and a row of them is
 * answered at once. What names mean never changes, since nothing is removed from the catalog. */
typedef struct memo {
    size_t length; /* 0: none yet */
    char bytes[MEMO_SIZE];
    question asked;
} memo;

typedef struct loop {
    lane lane; /* first: connections know this one */
    uv_thread_t thread;
    uv_async_t bell; /* another thread has something for this one */
    uv_timer_t timer, sweep, accepting;
    uv_idle_t idle;
    uv_poll_t polls[LISTENERS_MAX];
    const listener *listeners[LISTENERS_MAX];
    int listener_count;
    chain turns, later, tasks, penalties, draining; /* by what connections wait for */
    crowd crowd;
    memo memo;
    question asked;    /* of the command at hand */
    resp_command said; /* likewise */
    uint64_t answered; /* commands, in the turn at hand */
    bool is_refusing;  /* accepting rests */
    bool is_ending;
    int64_t end_ms;           /* uv_now: when what is left is closed */
    _Atomic bool has_waiting; /* `later` is not empty, for resp_listener_news */
    _Atomic bool has_news;
    _Atomic int64_t beat_ms;
    pthread_mutex_t lock; /* of what follows */
    struct waiter *back;  /* tasks that are done */
    bool is_gone;         /* the bell is no more */
} loop;

/* A request that a renewer works on. Its connection may be gone when it is done. */
typedef struct waiter {
    loop *loop;
    connection *connection; /* NULL: nobody waits any more */
    sent_task *sent;        /* written before the loop looks at it again */
    question asked;
    size_t size; /* bytes of the command */
    struct waiter *next;
} waiter;

static struct {
    loop *loops[LOOPS_MAX];
    _Atomic int count; /* the loops that are there run while others are made */
    bool with_tls;
    int64_t stop_ms;
    _Atomic bool is_ending;
    _Atomic uint64_t next_id;
    _Atomic int64_t open;  /* connections of all loops */
    crowd_share strangers; /* those that have sent no token */
} shared = {.strangers = {.listener = "resp"}};

static loop *loop_of(const connection *it) {
    return (loop *)it->lane;
}

static int64_t now_ms(const loop *it) {
    return (int64_t)uv_now(&it->lane.uv);
}

static void ring(loop *it) {
    pthread_mutex_lock(&it->lock);
    if (!it->is_gone) {
        uv_async_send(&it->bell);
    }
    pthread_mutex_unlock(&it->lock);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer);
static void on_idle(uv_idle_t *idle);

static connection *waiting_at(chain *place) {
    return (connection *)((char *)place - offsetof(connection, queue));
}

/* When a connection is given up on, or its token looked at. */
static int64_t due_of(const connection *it) {
    return it->wait == WAIT_PENALTY ? it->due_ms : it->late_ms + settings_now()->wait_ms;
}

/* When the first of those that wait is due, in ms from now; they stand in the order in which they
 * are. -1: nobody waits. */
static int64_t next_due(const loop *it) {
    int64_t due = -1;
    const chain *const queues[] = {&it->tasks, &it->penalties};
    if (!chain_is_alone(&it->later)) {
        return 1;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!chain_is_alone(queues[i])) {
            int64_t left = due_of(waiting_at(queues[i]->next)) - now_ms(it);
            left = left < 1 ? 1 : left;
            due = due < 0 || left < due ? left : due;
        }
    }
    return due;
}

static void set_timer(loop *it) {
    int64_t due = next_due(it);
    if (due < 0) {
        uv_timer_stop(&it->timer);
    } else if (!uv_is_active((uv_handle_t *)&it->timer) ||
               uv_timer_get_due_in(&it->timer) > (uint64_t)due) {
        uv_timer_start(&it->timer, on_timer, (uint64_t)due, 0);
    }
    atomic_store_explicit(&it->has_waiting, !chain_is_alone(&it->later), memory_order_relaxed);
}

static chain *queue_of(loop *it, enum waiting what) {
    switch (what) {
    case WAIT_TURN:
        return &it->turns;
    case WAIT_LATER:
        return &it->later;
    case WAIT_TASK:
        return &it->tasks;
    case WAIT_PENALTY:
        return &it->penalties;
    case WAIT_DRAIN:
        return &it->draining;
    default:
        return NULL;
    }
}

/* Last in the queue, or, `sorted`, before those that are due later. */
static void enter_queue(chain *queue, connection *it, bool sorted) {
    chain *behind = queue;
    while (sorted && behind->before != queue && due_of(waiting_at(behind->before)) > due_of(it)) {
        behind = behind->before;
    }
    chain_add(behind, &it->queue);
}

static void count_waiting(const connection *it, enum waiting next) {
    bool was = it->wait == WAIT_LATER || it->wait == WAIT_TASK;
    bool is = next == WAIT_LATER || next == WAIT_TASK;
    atomic_fetch_add_explicit(&it->lane->worker->meter.waiting, (int)is - (int)was,
                              memory_order_relaxed);
}

static void wait_for(connection *it, enum waiting what) {
    loop *on = loop_of(it);
    chain_remove(&it->queue);
    count_waiting(it, what);
    it->wait = what;
    if (what == WAIT_NOTHING) {
        return;
    }
    if (what == WAIT_TURN) {
        uv_idle_start(&on->idle, on_idle);
    } else if (what != WAIT_DRAIN && (it->late_ms == 0 || what == WAIT_PENALTY)) {
        it->late_ms = now_ms(on);
        meter_add(&on->lane.worker->meter.parked, 1);
    }
    if (what == WAIT_PENALTY) {
        it->due_ms = now_ms(on) + it->client.penalty_ms;
    }
    enter_queue(queue_of(on, what), it, what == WAIT_TASK || what == WAIT_PENALTY);
    if (what != WAIT_TURN && what != WAIT_DRAIN) {
        set_timer(on);
    }
}

static bool is_too_late(const connection *it) {
    return it->late_ms != 0 && now_ms(loop_of(it)) - it->late_ms >= settings_now()->wait_ms;
}

/* ---- tasks --------------------------------------------------------------------------------- */

/* In the renewer's thread. */
static void on_finished(void *self) {
    waiter *one = self;
    loop *it = one->loop;
    pthread_mutex_lock(&it->lock);
    one->next = it->back;
    it->back = one;
    if (!it->is_gone) {
        uv_async_send(&it->bell);
    }
    pthread_mutex_unlock(&it->lock);
}

/* The command waits until its renewer is done; its bytes stay in the rest. FIRN_E codes as
 * request_send has them. */
static int send_task(connection *it, const question *ask, firn_error *error) {
    waiter *one = calloc(1, sizeof *one);
    if (one == NULL) {
        *error = (firn_error){FIRN_EMEMORY, "out of memory for a request that waits"};
        return FIRN_EMEMORY;
    }
    one->loop = loop_of(it);
    one->connection = it;
    one->asked = *ask;
    one->size = loop_of(it)->said.size;
    int code = request_send(&ask->request, on_finished, one, &one->sent, error);
    if (code != FIRN_OK) {
        free(one);
        return code;
    }
    it->waiter = one;
    wait_for(it, WAIT_TASK);
    return FIRN_OK;
}

static void let_waiter_go(connection *it) {
    if (it->waiter != NULL) {
        it->waiter->connection = NULL;
        it->waiter = NULL;
    }
}

/* ---- a turn ---------------------------------------------------------------------------------- */

/* How often the memo's bytes stand one behind the other. */
static size_t count_alike(const memo *it, const char *bytes, size_t length) {
    size_t size = it->length, most = size == 0 ? 0 : length / size;
    most = most < BATCH_MAX ? most : BATCH_MAX;
    if (most == 0 || memcmp(bytes, it->bytes, size) != 0) {
        return 0;
    }
    if (memcmp(bytes, bytes + size, (most - 1) * size) == 0) { /* all of them, as is usual */
        return most;
    }
    size_t count = 1;
    while (memcmp(bytes + count * size, it->bytes, size) == 0) {
        count++; /* ends at the latest where the comparison above found a difference */
    }
    return count;
}

static word moved(word it, const char *from, size_t size, const char *to) {
    bool is_inside = it.text >= from && it.text <= from + size;
    return is_inside ? (word){to + (it.text - from), it.length} : it;
}

/* Keeps a question that was answered for when its bytes come again. */
static void remember(memo *it, const question *ask, const char *bytes, const resp_command *said) {
    const request *asked = &ask->request;
    if (said->is_inline || said->size > MEMO_SIZE || asked->dated || asked->must_open ||
        (asked->verb != VERB_NEW && asked->verb != VERB_NEXT)) {
        return;
    }
    it->length = said->size;
    memcpy(it->bytes, bytes, said->size);
    it->asked = *ask;
    request *own = &it->asked.request;
    own->name = moved(own->name, bytes, said->size, it->bytes);
    for (size_t i = 0; i < own->pair_count; i++) {
        own->pairs[i].key = moved(own->pairs[i].key, bytes, said->size, it->bytes);
        own->pairs[i].value = moved(own->pairs[i].value, bytes, said->size, it->bytes);
    }
}

/* Counts what was asked: so many answers, or one that was refused. */
static void count_asked(const loop *it, const question *ask, uint64_t n, bool refused) {
    static const int kinds[] = {
#define VERB_X(id, name, role, meter) METER_##meter,
        VERBS(VERB_X)
#undef VERB_X
    };
    meter *count = &it->lane.worker->meter;
    int kind = kinds[ask->request.verb];
    meter_add(&count->requests[kind], n);
    if (refused) {
        meter_add(&count->refused[kind], n);
    }
}

static int store_is_late(firn_error *error) {
    error->code = FIRN_ESTORE;
    snprintf(error->text, sizeof error->text,
             "the store has not answered within %lld ms: try again, or see /readyz",
             (long long)settings_now()->wait_ms);
    return FIRN_ESTORE;
}

/* Would the reply be large while clients have not read as much as may be? */
static bool is_too_much(const request *it) {
    bool large = it->count > LARGE_IDS || it->verb == VERB_SCHEMES || it->verb == VERB_NODES;
    return large && it->verb != VERB_NEXT && it->verb != VERB_LAST &&
           connections_unsent() >= settings_now()->replies_mib * (INT64_C(1) << 20);
}

static int refuse_large(firn_error *error) {
    *error = (firn_error){
        FIRN_EWINDOW, "clients have not read the replies that they asked for (replies_mib): ask "
                      "for at most 64 IDs, or try again later"};
    return FIRN_EWINDOW;
}

/* Answers a question, or the first of `times` alike. Returns how many commands that were; 0: the
 * connection waits. */
static size_t answer(connection *it, question *ask, size_t times) {
    loop *on = loop_of(it);
    reply out = {0};
    firn_error error = {0, ""};
    int code = is_too_much(&ask->request) ? refuse_large(&error)
                                          : request_answer(&ask->request, times, &out, &error);
    if (code == REQUEST_LATER && !is_too_late(it)) {
        wait_for(it, WAIT_LATER);
        return 0;
    }
    if (code == REQUEST_TASK) {
        code = is_too_late(it) ? store_is_late(&error) : send_task(it, ask, &error);
        if (code == FIRN_OK) {
            return 0;
        }
    }
    size_t done = code == FIRN_OK && times > 1 ? out.count : 1;
    count_asked(on, ask, done, code != FIRN_OK);
    if (code != FIRN_OK) {
        command_refuse(&ask->request, &error, &on->lane.out);
        if (!is_too_late(it)) { /* else what came with it has waited for as long */
            it->late_ms = 0;
        }
        return done;
    }
    command_reply(ask, &out, &on->lane.out);
    if (it->late_ms != 0) {
        meter_time(&on->lane.worker->meter, 1, (uint64_t)(now_ms(on) - it->late_ms) * 1000000);
        it->late_ms = 0;
    }
    return done;
}

/* The same command as last time, once or several times. Returns the bytes it used. */
static size_t take_alike(connection *it, const char *bytes, size_t length, unsigned *work) {
    loop *on = loop_of(it);
    memo *known = &on->memo;
    if (known->asked.request.role != it->client.role) {
        return 0;
    }
    size_t times = count_alike(known, bytes, length);
    if (times == 0) {
        return 0;
    }
    if (known->asked.is_many || known->asked.request.count != 1) {
        times = 1;
    }
    times = times < *work ? times : *work;
    on->said.size = known->length;
    size_t done = answer(it, &known->asked, times);
    *work -= done < *work ? (unsigned)done : *work;
    on->answered += done;
    return done * known->length;
}

/* Runs the command that was read. Returns the bytes it used. What one costs depends on what it
 * says, by a factor of a thousand, so it is measured. */
static size_t take_command(connection *it, const char *bytes, unsigned *work) {
    loop *on = loop_of(it);
    resp_command *said = &on->said;
    uint64_t begun = uv_hrtime();
    switch (command_run(&it->client, said, &on->asked, &on->lane.out)) {
    case COMMAND_ASK:
        if (answer(it, &on->asked, 1) == 0) {
            return 0;
        }
        remember(&on->memo, &on->asked, bytes, said);
        break;
    case COMMAND_PENALTY:
        wait_for(it, WAIT_PENALTY);
        return 0;
    case COMMAND_CLOSE:
        it->is_leaving = true;
        break;
    case COMMAND_QUEUE:
        if (batch_keep(&it->client.batch, bytes, said->size)) {
            resp_status(&on->lane.out, "QUEUED");
        } else {
            resp_error(&on->lane.out, "OOM", "out of memory for a batch");
        }
        break;
    case COMMAND_DONE:
        break;
    }
    uint64_t step = STEP_COMMAND + (uv_hrtime() - begun) / STEP_NS;
    *work -= step < *work ? (unsigned)step : *work;
    on->answered++;
    return said->size;
}

/* The first command of the bytes. Returns how many it used; 0: it waits, or is not all there. */
static size_t take(connection *it, const char *bytes, size_t length, unsigned *work) {
    loop *on = loop_of(it);
    size_t used = it->client.batch.is_open ? 0 : take_alike(it, bytes, length, work);
    if (used > 0 || it->wait != WAIT_NOTHING) {
        return used;
    }
    const resp_limits *limits =
        it->client.role == ROLE_NOBODY ? &resp_limits_stranger : &resp_limits_client;
    switch (resp_read(&on->said, bytes, length, limits)) {
    case RESP_MORE:
        it->needed = on->said.size;
        return 0;
    case RESP_COMMAND:
        return on->said.count == 0 ? on->said.size : take_command(it, bytes, work);
    default: {
        char text[200];
        snprintf(text, sizeof text, "Protocol error: %s", on->said.trouble);
        resp_error(&on->lane.out, "ERR", text);
        meter_add(&on->lane.worker->meter.closed_broken, 1);
        it->is_leaving = true;
        return length;
    }
    }
}

/* Answers commands of the bytes, so many that others do not wait long. Returns how many bytes were
 * used; what is left is half a command, or the connection waits. */
static size_t turn(connection *it, const char *bytes, size_t length) {
    loop *on = loop_of(it);
    unsigned work = TURN_WORK;
    size_t used = 0, output = 0;
    on->lane.out.version = it->client.version;
    while (used < length && !it->is_leaving) {
        if (on->lane.out.length > TURN_SEND) {
            output += on->lane.out.length;
            if (!connection_send(it)) {
                break;
            }
        }
        if (connection_unsent(it) > 0) { /* what its socket does not take would have to be copied */
            wait_for(it, WAIT_DRAIN);
            break;
        }
        if (work == 0 || output > TURN_OUTPUT) {
            wait_for(it, WAIT_TURN);
            break;
        }
        size_t step = take(it, bytes + used, length - used, &work);
        if (step == 0) {
            break;
        }
        used += step;
        if (it->client.batch.runs) { /* its bytes come before what is left of these */
            wait_for(it, WAIT_TURN);
            break;
        }
    }
    return used;
}

/* Puts the commands of a batch in front of the rest, where they are read as if they had just come. */
static bool take_batch(connection *it) {
    batch *from = &it->client.batch;
    if (it->length > 0 && !batch_keep(from, it->rest + it->start, it->length)) {
        return false;
    }
    free(it->rest);
    it->rest = from->bytes;
    it->start = it->needed = 0;
    it->length = from->length;
    it->room = from->room;
    *from = (batch){0};
    return true;
}

static void close_crowded(stranger *one) {
    connection *it = (connection *)((char *)one - offsetof(connection, stranger));
    meter_add(&it->lane->worker->meter.closed_crowded, 1);
    connection_close(it);
}

/* A client that has sent its token is no stranger any more; RESET, or a token that is removed, makes
 * it one again. */
static void count_strangers(connection *it) {
    loop *on = loop_of(it);
    bool is_stranger = it->client.role == ROLE_NOBODY && !it->is_closing;
    if (!is_stranger) {
        crowd_leave(&on->crowd, &it->stranger);
    } else if (!it->stranger.is_in) {
        it->begun_ms = now_ms(on); /* from here on it has slow_s to send its token */
        it->stranger.address = it->client.key;
        stranger *other = crowd_enter(&on->crowd, &it->stranger);
        if (other != NULL) {
            close_crowded(other);
        }
    }
}

/* When the server ends: has all been read that the client sent before it did? For a client that was
 * not ahead of us that is so when its socket is empty. One that was may have more on its way, held up
 * until we read: its socket has to stay empty for a while. */
static bool is_drained(connection *it) {
    int fd, unread = 0;
    int64_t now = now_ms(loop_of(it));
    if (it->has_ended || uv_fileno(&it->uv.handle, &fd) != 0 || ioctl(fd, FIONREAD, &unread) != 0) {
        return true;
    }
    it->is_ahead = it->is_ahead || unread >= AHEAD_BYTES;
    if (unread > 0) {
        it->quiet_ms = 0;
        return false;
    }
    if (it->is_ahead && it->quiet_ms == 0) {
        it->quiet_ms = now;
    }
    return !it->is_ahead || now - it->quiet_ms >= QUIET_MS;
}

/* Sends the replies of a turn and settles what comes next. */
static void finish(connection *it, bool has_used) {
    loop *on = loop_of(it);
    bool is_half = it->wait == WAIT_NOTHING && it->length > 0;
    if (!connection_send(it)) {
        return;
    }
    count_strangers(it);
    if (it->stranger.is_in && connection_unsent(it) > 0) {
        /* Replies to strangers are short: who does not read them wants to fill our memory. */
        meter_add(&on->lane.worker->meter.closed_slow, 1);
        connection_close(it);
        return;
    }
    it->half_ms = !is_half ? 0 : it->half_ms == 0 || has_used ? now_ms(on) : it->half_ms;
    if (it->wait == WAIT_NOTHING) {
        it->late_ms = 0;
    }
    if (it->is_leaving ||
        ((it->has_ended || (on->is_ending && is_drained(it))) && it->wait == WAIT_NOTHING)) {
        wait_for(it, WAIT_NOTHING);
        connection_end(it);
        return;
    }
    if (it->wait == WAIT_DRAIN && connection_unsent(it) == 0) { /* not so any more */
        wait_for(it, WAIT_TURN);
    } else if (connection_unsent(it) > UNSENT_MOST &&
               (it->wait == WAIT_NOTHING || it->wait == WAIT_TURN)) {
        wait_for(it, WAIT_DRAIN);
    }
    connection_read(it, it->wait != WAIT_TURN && it->wait != WAIT_DRAIN &&
                            it->wait != WAIT_PENALTY && it->length < RESP_COMMAND_MAX);
}

/* A turn, timed: what it answered took from here to the last byte's sending. */
static void serve(connection *it, const char *bytes, size_t length, bool is_rest) {
    loop *on = loop_of(it);
    uint64_t begun = uv_hrtime();
    on->answered = 0;
    client_renew(&it->client);
    size_t used = turn(it, bytes, length);
    if (is_rest) {
        connection_drop(it, used);
    } else if (used < length && !connection_keep(it, bytes + used, length - used)) {
        connection_close(it);
    }
    if (it->client.batch.runs && !take_batch(it)) {
        connection_close(it);
    }
    finish(it, used > 0);
    if (on->answered > 0) {
        meter_time(&on->lane.worker->meter, on->answered, uv_hrtime() - begun);
    }
}

/* Takes a waiting connection up again. */
static void resume(connection *it) {
    wait_for(it, WAIT_NOTHING);
    if (it->is_closing) {
        return;
    }
    serve(it, it->rest + it->start, it->length, true);
}

/* ---- what connections tell ------------------------------------------------------------------- */

static void on_bytes(connection *it, const char *bytes, size_t length) {
    if (it->is_ending || it->is_closing) {
        return;
    }
    atomic_store_explicit(&it->client.heard_s, server_uptime_s(), memory_order_relaxed);
    if (it->length == 0 && it->wait == WAIT_NOTHING) {
        serve(it, bytes, length, false);
    } else if (!connection_keep(it, bytes, length)) {
        connection_close(it);
    } else if (it->wait == WAIT_NOTHING && it->length >= it->needed) {
        resume(it);
    } else if (it->length >= RESP_COMMAND_MAX) {
        connection_read(it, false);
    }
    /* libuv would go on with a client that fills the buffer each time: others come first. */
    if (length >= LANE_INPUT / 2 && it->wait == WAIT_NOTHING && it->is_reading && !it->is_ending) {
        wait_for(it, WAIT_TURN);
        connection_read(it, false);
    }
}

static void on_drained(connection *it) {
    if (it->wait == WAIT_DRAIN) {
        wait_for(it, WAIT_TURN);
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
    let_waiter_go(it);
    wait_for(it, WAIT_NOTHING);
    chain_remove(&it->all);
    if (it->is_counted) {
        client_leave(&it->client);
        crowd_leave(&on->crowd, &it->stranger);
        atomic_fetch_sub(&shared.open, 1);
        atomic_fetch_sub_explicit(&on->lane.worker->meter.open, 1, memory_order_relaxed);
        if (!it->is_unix) {
            address_leave(it->client.key);
        }
    }
}

static const connection_events events = {on_bytes, on_drained, on_ended, on_gone};

/* ---- what the loop tells --------------------------------------------------------------------- */

static connection *first_of(const chain *queue) {
    return waiting_at(queue->next);
}

/* Each that waits for its turn has one; those that want another stand behind and come next time. */
static void on_idle(uv_idle_t *idle) {
    loop *it = idle->data;
    chain present;
    chain_clear(&present);
    if (!chain_is_alone(&it->turns)) { /* the whole list moves */
        present = it->turns;
        present.next->before = present.before->next = &present;
        chain_clear(&it->turns);
    }
    while (!chain_is_alone(&present)) {
        resume(first_of(&present));
    }
    if (chain_is_alone(&it->turns)) {
        uv_idle_stop(idle);
    }
}

/* The first ones that wait for a window or the clock; who still has to goes to the end. */
static void retry(loop *it) {
    const chain *last = it->later.before;
    for (int i = 0; i < RETRIES && !chain_is_alone(&it->later); i++) {
        connection *one = first_of(&it->later);
        bool is_last = &one->queue == last;
        resume(one);
        if (is_last) {
            break;
        }
    }
}

/* A command that waited is over, with an error. */
static void give_up(connection *it, const waiter *of, const firn_error *error) {
    loop *on = loop_of(it);
    count_asked(on, &of->asked, 1, true);
    on->lane.out.version = it->client.version;
    command_refuse(&of->asked.request, error, &on->lane.out);
    connection_drop(it, of->size);
    wait_for(it, it->length > 0 ? WAIT_TURN : WAIT_NOTHING);
    finish(it, true);
}

static void end_tasks(loop *it) {
    int64_t wait_ms = settings_now()->wait_ms;
    while (!chain_is_alone(&it->tasks)) {
        connection *one = first_of(&it->tasks);
        if (now_ms(it) - one->late_ms < wait_ms) {
            break;
        }
        firn_error error;
        store_is_late(&error);
        const waiter *of = one->waiter; /* the loop's until it comes back */
        let_waiter_go(one);
        give_up(one, of, &error);
    }
}

static void end_penalties(loop *it) {
    while (!chain_is_alone(&it->penalties) && due_of(first_of(&it->penalties)) <= now_ms(it)) {
        connection *one = first_of(&it->penalties);
        one->late_ms = 0;
        resume(one);
    }
}

static void on_timer(uv_timer_t *timer) {
    loop *it = timer->data;
    retry(it);
    end_tasks(it);
    end_penalties(it);
    set_timer(it);
}

/* A command that waited has its answer. */
static void reply_late(connection *it, const waiter *of, reply *out) {
    loop *on = loop_of(it);
    on->lane.out.version = it->client.version;
    count_asked(on, &of->asked, 1, false);
    command_reply(&of->asked, out, &on->lane.out);
    meter_time(&on->lane.worker->meter, 1, (uint64_t)(now_ms(on) - it->late_ms) * 1000000);
    it->late_ms = 0;
    connection_drop(it, of->size);
    wait_for(it, it->length > 0 ? WAIT_TURN : WAIT_NOTHING);
    finish(it, true);
}

/* An task that came back, in the loop's thread. */
static void come_back(waiter *one) {
    connection *it = one->connection;
    reply out = {0};
    firn_error error = {0, ""};
    int code = request_finish(one->sent, &out, &error);
    if (it != NULL) {
        let_waiter_go(it);
    }
    if (it == NULL || it->is_closing) {
        if (code == FIRN_OK && out.kind == REPLY_JSON) {
            json_decref(out.json);
        }
    } else if (code == FIRN_OK) {
        reply_late(it, one, &out);
    } else if (code == REQUEST_LATER) {
        resume(it); /* what it needed is open: the same bytes again */
    } else {
        it->late_ms = 0; /* it was answered: what comes next begins to wait */
        give_up(it, one, &error);
    }
    sent_free(one->sent);
    free(one);
}

static void begin_end(loop *it);

static void on_bell(uv_async_t *bell) {
    loop *it = bell->data;
    pthread_mutex_lock(&it->lock);
    waiter *back = it->back;
    it->back = NULL;
    pthread_mutex_unlock(&it->lock);
    while (back != NULL) {
        waiter *next = back->next;
        come_back(back);
        back = next;
    }
    for (stranger *one; (one = crowd_owes(&it->crowd)) != NULL;) {
        close_crowded(one);
    }
    if (atomic_exchange(&it->has_news, false)) {
        retry(it);
        set_timer(it);
    }
    if (atomic_load(&shared.is_ending) && !it->is_ending) {
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

/* Descriptors or memory are used up: nobody is accepted for a while, and the kernel's queue holds
 * those who come. Told once, until accepting goes well again. */
static void rest(loop *it, int error) {
    if (!it->is_refusing) {
        it->is_refusing = true;
        log_event(LOG_LEVEL_WARNING, "accepting rests", "listener", "resp", "why", strerror(error),
                  NULL);
    }
    listen_again(it, false);
    uv_timer_start(&it->accepting, on_rested, ACCEPT_REST, 0);
}

/* Is there room for one more? The oldest that has sent no token makes some. */
static bool has_room(loop *it) {
    if (atomic_load(&shared.open) < settings_now()->max_connections) {
        return true;
    }
    stranger *oldest;
    bool has = crowd_make_room(&it->crowd, &oldest);
    if (oldest != NULL) {
        close_crowded(oldest);
    }
    for (int i = 0; i < shared.count && has && oldest == NULL; i++) {
        ring(shared.loops[i]);
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
        errno = 0; /* it was told if it could be */
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
            connection_close(one); /* at once: nobody counts it, so it must not stay */
        }
        return;
    }
    one->is_counted = true;
    atomic_fetch_add(&shared.open, 1);
    one->client.id = atomic_fetch_add(&shared.next_id, 1) + 1;
    one->client.worker = it->lane.worker;
    one->client.since_s = server_uptime_s();
    atomic_store(&one->client.heard_s, one->client.since_s);
    client_begin(&one->client);
    client_enter(&one->client);
    count_strangers(one);
    meter_add(&it->lane.worker->meter.accepted, 1);
    atomic_fetch_add_explicit(&it->lane.worker->meter.open, 1, memory_order_relaxed);
    connection_read(one, true);
}

static void on_connection(uv_poll_t *poll, int status, int what) {
    loop *it = poll->data;
    const listener *at = it->listeners[poll - it->polls];
    if (status != 0 || (what & UV_READABLE) == 0) {
        return;
    }
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(at->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            if (it->is_refusing) {
                it->is_refusing = false;
                log_event(LOG_LEVEL_INFO, "accepting again", "listener", "resp", NULL);
            }
            welcome(it, fd, at);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            rest(it, errno);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static bool is_past(int64_t now, int64_t since, int64_t ms) {
    return since != 0 && now - since >= ms;
}

/* Has a client that owes us nothing but to read its replies read some since the last sweep? */
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
    count_strangers(it);
    int64_t linger_ms = loop_of(it)->is_ending ? LINGER_END_MS : LINGER_MS;
    bool is_new = (it->tls != NULL && !secure_is_ready(it->tls)) ||
                  (it->stranger.is_in && it->wait != WAIT_PENALTY); /* that one waits for us */
    if (reads_slowly(it, now, slow_ms) || is_past(now, it->half_ms, slow_ms) ||
        (is_new && is_past(now, it->begun_ms, slow_ms))) {
        meter_add(&count->closed_slow, 1);
        connection_close(it);
    } else if (it->is_ending && it->unsent_seen == 0 && is_past(now, it->ending_ms, linger_ms)) {
        connection_close(it);
    } else if (loop_of(it)->is_ending && it->wait == WAIT_NOTHING && !it->is_ending &&
               is_drained(it)) {
        connection_end(it);
    } else if (idle_ms > 0 && it->wait == WAIT_NOTHING && is_past(now, it->heard_ms, idle_ms)) {
        connection_end(it);
    }
}

static void end_all(loop *it);

static void on_sweep(uv_timer_t *timer) {
    loop *it = timer->data;
    int64_t now = now_ms(it);
    atomic_store(&it->beat_ms, (int64_t)(uv_hrtime() / 1000000));
    chain *next;
    for (chain *at = it->lane.all.next; at != &it->lane.all; at = next) {
        next = at->next;
        sweep_one((connection *)((char *)at - offsetof(connection, all)), now);
    }
    if (it->is_ending) {
        end_all(it);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static void close_all(loop *it) {
    chain *next;
    for (chain *at = it->lane.all.next; at != &it->lane.all; at = next) {
        next = at->next;
        connection_close((connection *)((char *)at - offsetof(connection, all)));
    }
}

/* When the last connection is gone, or time is up, everything of the loop is closed, which ends
 * its run. */
static void end_all(loop *it) {
    if (!chain_is_alone(&it->lane.all)) {
        if (now_ms(it) >= it->end_ms) {
            close_all(it);
        }
        return;
    }
    pthread_mutex_lock(&it->lock);
    it->is_gone = true;
    pthread_mutex_unlock(&it->lock);
    uv_handle_t *const handles[] = {(uv_handle_t *)&it->bell, (uv_handle_t *)&it->timer,
                                    (uv_handle_t *)&it->sweep, (uv_handle_t *)&it->accepting,
                                    (uv_handle_t *)&it->idle};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
        uv_close(handles[i], NULL);
    }
}

/* What clients have sent already is still answered; who has nothing more to be answered is told that
 * nothing follows, by the sweep. */
static void begin_end(loop *it) {
    for (int i = 0; i < it->listener_count;
         i++) { /* who stands in the kernel's queue has sent too */
        on_connection(&it->polls[i], 0, UV_READABLE);
    }
    it->is_ending = true;
    while (!chain_is_alone(&it->penalties)) { /* who guesses tokens does not hold up the end */
        connection *one = first_of(&it->penalties);
        chain_remove(&one->queue);
        connection_close(one);
    }
    it->end_ms = now_ms(it) + shared.stop_ms;
    uv_timer_stop(&it->accepting);
    for (int i = 0; i < it->listener_count; i++) {
        uv_close((uv_handle_t *)&it->polls[i], NULL);
    }
    for (chain *at = it->lane.all.next; at != &it->lane.all; at = at->next) {
        connection *one = (connection *)((char *)at - offsetof(connection, all));
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

/* The i-th of `count` loops watches its share of the listeners. */
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
    if (it->lane.worker == NULL || it->lane.input == NULL) {
        return FIRN_EMEMORY;
    }
    chain *const chains[] = {&it->lane.all, &it->turns,     &it->later,
                             &it->tasks,    &it->penalties, &it->draining};
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        chain_clear(chains[i]);
    }
    crowd_begin(&it->crowd, &shared.strangers);
    pthread_mutex_init(&it->lock, NULL);
    if (uv_loop_init(&it->lane.uv) != 0 || uv_async_init(&it->lane.uv, &it->bell, on_bell) != 0) {
        return FIRN_ESYSTEM;
    }
    uv_timer_init(&it->lane.uv, &it->timer);
    uv_timer_init(&it->lane.uv, &it->sweep);
    uv_timer_init(&it->lane.uv, &it->accepting);
    uv_idle_init(&it->lane.uv, &it->idle);
    it->bell.data = it->timer.data = it->sweep.data = it->accepting.data = it->idle.data = it;
    uv_timer_start(&it->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    atomic_store(&it->beat_ms, (int64_t)(uv_hrtime() / 1000000));
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
        shared.loops[shared.count] = it;
        shared.count++;
    }
    return code; /* one that failed is left as it is: the server does not start */
}

int resp_listener_open(listener all[], int count, int loops, firn_error *error) {
    int code = FIRN_OK;
    sigset_t none, before; /* signals are the main thread's */
    sigfillset(&none);
    pthread_sigmask(SIG_SETMASK, &none, &before);
    shared.with_tls = credentials_are_there();
    for (int i = 0; i < loops && i < LOOPS_MAX && code == FIRN_OK; i++) {
        code = open_loop(all, count, i, loops < LOOPS_MAX ? loops : LOOPS_MAX);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != FIRN_OK) {
        error->code = code;
        snprintf(error->text, sizeof error->text,
                 "%d threads for Redis clients cannot be had: fewer by loops=", loops);
        resp_listener_end(0);
        resp_listener_close();
    }
    return code;
}

void resp_listener_end(int64_t ms) {
    shared.stop_ms = ms;
    atomic_store(&shared.is_ending, true);
    for (int i = 0; i < shared.count; i++) {
        ring(shared.loops[i]);
    }
}

void resp_listener_close(void) {
    for (int i = 0; i < shared.count; i++) {
        uv_thread_join(&shared.loops[i]->thread);
    }
}

int64_t resp_listener_beat_ms(void) {
    int64_t now = (int64_t)(uv_hrtime() / 1000000), most = 0;
    for (int i = 0; i < shared.count; i++) {
        int64_t ago = now - atomic_load(&shared.loops[i]->beat_ms);
        most = ago > most ? ago : most;
    }
    return most;
}

void resp_listener_news(void) {
    for (int i = 0; i < shared.count; i++) {
        loop *it = shared.loops[i];
        if (atomic_load_explicit(&it->has_waiting, memory_order_relaxed)) {
            atomic_store(&it->has_news, true);
            ring(it);
        }
    }
}
