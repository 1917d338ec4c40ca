/* SPDX-License-Identifier: MIT */
#include "turn.h"

#include "config/setting.h"
#include "connection.h"
#include "core/monotonic.h"
#include "errors.h"
#include "handlers.h"
#include "net/access_log.h"
#include "net/connections.h"
#include "net/memory.h"
#include "net/tried.h"
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define TURN_WORK    8192        /* steps per turn: a repeated command is one, others more */
#define STEP_NS      250         /* a parsed command costs a step for each of these */
#define STEP_COMMAND 4           /* but at least */
#define TURN_OUTPUT  (512 << 10) /* bytes of replies per turn */
#define TURN_SEND    (128 << 10) /* bytes sent at once, while in the cache */
#define AHEAD_BYTES  4096        /* while stopping: with more unread bytes nobody awaits replies */
#define QUIET_MS     50          /* silence after which such a client is closed */

/* ---- tasks ----------------------------------------------------------------------------------- */

void command_is_back(waiter *one) {
    command_waiter *it = (command_waiter *)one;
    loop *on = list_entry(one->owner, loop, owner);
    *on->back_end = it;
    on->back_end = &it->next;
    if (!on->is_gone) {
        uv_async_send(&on->bell);
    }
}

/* The command waits for its renewer; its bytes stay in the rest. Codes as request_send. */
static int send_task(connection *it, const question *ask, quota_charge *charge, firn_error *error) {
    loop *on = loop_of(it);
    command_waiter *one = calloc(1, sizeof *one);
    if (one == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a request that waits");
    }
    int64_t waited_ms = it->late_ms == 0 ? 0 : loop_now_ms(on) - it->late_ms;
    one->waiter.owner = &on->owner;
    one->waiter.client = it;
    uv_fileno(&it->uv.handle, &one->waiter.fd);
    one->asked = *ask;
    one->size = on->said.size;
    int code = waiter_send(&one->waiter, &ask->request, charge, &it->client.pass, it->client.key,
                           monotonic_ms() + settings_now()->wait_ms - waited_ms, error);
    if (code != FIRN_OK) {
        waiter_free(&one->waiter);
        return code;
    }
    it->waiter = one;
    loop_wait(it, WAIT_TASK);
    return FIRN_OK;
}

void task_let_go(connection *it) {
    command_waiter *one = it->waiter;
    it->waiter = NULL;
    if (one != NULL && !waiter_give_up(&one->waiter)) {
        one->waiter.client = NULL; /* the loop frees it */
    }
}

/* ---- a turn ---------------------------------------------------------------------------------- */

/* How many times the memo's bytes are repeated. */
static size_t count_alike(const memo *it, const char *bytes, size_t length) {
    size_t size = it->length, most = size == 0 ? 0 : length / size;
    most = most < BATCH_MAX ? most : BATCH_MAX;
    if (most == 0 || memcmp(bytes, it->bytes, size) != 0) {
        return 0;
    }
    if (memcmp(bytes, bytes + size, (most - 1) * size) == 0) { /* usually all of them */
        return most;
    }
    size_t count = 1;
    while (memcmp(bytes + count * size, it->bytes, size) == 0) {
        count++; /* ends at the latest at the difference found above */
    }
    return count;
}

static word moved(word it, const char *from, size_t size, const char *to) {
    bool is_inside = it.text >= from && it.text <= from + size;
    return is_inside ? (word){to + (it.text - from), it.length} : it;
}

/* Keeps an answered question for when its bytes come again. */
static void remember(memo *it, const question *ask, const char *bytes, const resp_command *said) {
    const request *asked = &ask->request;
    if (said->is_inline || said->size > MEMO_SIZE || asked->dated || asked->must_open ||
        (asked->verb != VERB_NEW && asked->verb != VERB_NEXT)) {
        return;
    }
    it->length = said->size;
    it->under = settings_now();
    memcpy(it->bytes, bytes, said->size);
    it->asked = *ask;
    request *own = &it->asked.request;
    own->name = moved(own->name, bytes, said->size, it->bytes);
    for (size_t i = 0; i < own->pair_count; i++) {
        own->pairs[i].key = moved(own->pairs[i].key, bytes, said->size, it->bytes);
        own->pairs[i].value = moved(own->pairs[i].value, bytes, said->size, it->bytes);
    }
}

/* Counts answers, or one refusal. */
static void count_asked(const connection *it, const question *ask, uint64_t n, bool refused) {
    static const int kinds[] = {
#define VERB_X(id, name, role, meter) METER_##meter,
        VERBS(VERB_X)
#undef VERB_X
    };
    meter *count = &it->lane->worker->meter;
    int kind = kinds[ask->request.verb];
    meter_add(&count->requests[kind], n);
    if (refused) {
        meter_add(&count->refused[kind], n);
    }
    access_log_count(&ask->request, &it->client.pass, it->client.key, n, refused);
}

/* Why the reply would be too large now; NULL: it would not. INCRBY returns one integer. */
static const char *too_much(const request *it) {
    return request_is_large(it) && it->verb != VERB_NEXT ? unsent_full() : NULL;
}

/* Charges the client's quotas, and reduces *times to them. */
static int charge_quota(const connection *it, const request *asked, size_t *times,
                        quota_charge *charge, firn_error *error) {
    int64_t wait_ms;
    if (!verb_issues(asked->verb)) {
        return FIRN_OK;
    }
    *times = quota_charge_to(charge, &it->client.pass, it->client.key, *times, asked->count,
                             &wait_ms, error);
    if (*times == 0) {
        meter_add(&it->lane->worker->meter.over_quota, 1);
    }
    return *times > 0 ? FIRN_OK : error->code;
}

/* Counts what the client got. */
static void count_taken(connection *it, const question *ask, size_t times) {
    const request *asked = &ask->request;
    atomic_store_explicit(&it->client.last, ask->command, memory_order_relaxed);
    if (verb_issues(asked->verb)) {
        meter_add(&it->client.ids, times * (uint64_t)asked->count);
    }
}

/* Times a command that waited. The turn does not time it again. */
static void time_wait(connection *it) {
    loop *on = loop_of(it);
    if (it->late_ms != 0) {
        meter_time(&on->lane.worker->meter, 1, (uint64_t)(loop_now_ms(on) - it->late_ms) * 1000000);
        on->timed++;
    }
}

/* The rest of a large reply follows in later turns. */
static void begin_stream(connection *it, stream *rest) {
    loop *on = loop_of(it);
    it->stream = rest;
    it->stream_ns = uv_hrtime();
    if (it->late_ms != 0) {
        it->stream_ns -= (uint64_t)(loop_now_ms(on) - it->late_ms) * 1000000;
        it->late_ms = 0;
    }
    on->timed++; /* when it ends */
}

/* Writes a reply, or begins it if it is large. */
static void reply_to(connection *it, const question *ask, reply *out) {
    loop *on = loop_of(it);
    stream *rest = stream_is_large(ask, out) ? stream_begin(ask, out, &on->lane.out) : NULL;
    if (rest != NULL) {
        begin_stream(it, rest);
    } else {
        command_reply(ask, out, &on->lane.out);
        time_wait(it);
        it->late_ms = 0;
    }
}

/* Writes a slice of a large reply. True: it was the last, and commands follow. */
static bool stream_on(connection *it) {
    loop *on = loop_of(it);
    if (connection_unsent(it) > 0) {
        loop_wait(it, WAIT_DRAIN);
        return false;
    }
    if (!stream_write(it->stream, &on->lane.out)) {
        loop_wait(it, WAIT_TURN);
        return false;
    }
    stream_free(it->stream);
    it->stream = NULL;
    meter_time(&on->lane.worker->meter, 1, uv_hrtime() - it->stream_ns);
    return true;
}

/* Answers a question, or the first of `times` equal ones. Returns the number of commands answered;
 * 0: the connection waits. */
static size_t answer(connection *it, question *ask, size_t times) {
    loop *on = loop_of(it);
    reply out = {0};
    firn_error error = {0};
    quota_charge charge = {0};
    const char *full = too_much(&ask->request);
    int code = full != NULL ? set_error(&error, FIRN_EWINDOW, "%s", full)
                            : charge_quota(it, &ask->request, &times, &charge, &error);
    if (code == FIRN_OK) {
        code = request_answer(&ask->request, times, &out, &error);
    }
    if (code == REQUEST_TASK) {
        code = waiting_is_over(it) ? request_is_late(&error) : send_task(it, ask, &charge, &error);
        if (code == FIRN_OK) {
            return 0;
        }
    }
    size_t done = code == FIRN_OK && times > 1 ? out.count : 1;
    quota_settle(&charge, code == FIRN_OK ? (int64_t)done * ask->request.count : 0);
    if (code == REQUEST_LATER && !waiting_is_over(it)) {
        it->later_from = tried_source(&ask->request);
        it->later_count = ask->request.count;
        loop_wait(it, WAIT_LATER);
        return 0;
    }
    count_asked(it, ask, done, code != FIRN_OK);
    if (code != FIRN_OK) {
        time_wait(it);
        command_refuse(&error, &on->lane.out);
        if (!waiting_is_over(it)) { /* else the commands after it have waited as long */
            it->late_ms = 0;
        }
        return done;
    }
    count_taken(it, ask, done);
    reply_to(it, ask, &out);
    return done;
}

/* The same command as before, once or several times. Returns the bytes used. */
static size_t take_alike(connection *it, const char *bytes, size_t length, unsigned *work) {
    loop *on = loop_of(it);
    memo *known = &on->memo;
    if (known->asked.request.role != it->client.role || known->under != settings_now()) {
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

/* Runs the parsed command; returns the bytes used. Costs differ by a factor of a thousand, so they
 * are measured. */
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
        loop_wait(it, WAIT_PENALTY);
        return 0;
    case COMMAND_CLOSE:
        it->is_leaving = true;
        break;
    case COMMAND_QUEUE:
        if (batch_add(&it->client.batch, bytes, said->size)) {
            resp_status(&on->lane.out, "QUEUED");
        } else {
            resp_error(&on->lane.out, "OOM", MEMORY_IS_FULL);
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

/* Runs the first command; returns the bytes used. 0: it waits, or is incomplete. */
static size_t take(connection *it, const char *bytes, size_t length, unsigned *work) {
    loop *on = loop_of(it);
    size_t used = it->client.batch.is_open ? 0 : take_alike(it, bytes, length, work);
    if (used > 0 || it->wait != WAIT_NOTHING) {
        return used;
    }
    const resp_limits *limits =
        it->client.role == ROLE_NOBODY ? &resp_limits_unauthenticated : &resp_limits_client;
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

/* Has each command that was answered since then exactly one reply? */
static void check_replies(const connection *it, int64_t before, uint64_t answered) {
    const loop *on = loop_of(it);
    size_t later = it->client.batch.runs ? it->client.batch.count : stream_left(it->stream);
    if (!it->is_leaving) {
        resp_check(&on->lane.out, before, on->answered - answered, later);
    }
}

/* Runs commands up to the limits of a turn; returns the bytes used. The rest is an incomplete
 * command, or the connection waits. */
static size_t turn(connection *it, const char *bytes, size_t length) {
    loop *on = loop_of(it);
    unsigned work = TURN_WORK;
    size_t used = 0, output = 0;
    size_t piece = memory_is_full() ? MEMORY_LEAST : TURN_SEND; /* which may be kept */
    on->lane.out.version = it->client.version;
    if (it->stream != NULL && !stream_on(it)) {
        return 0;
    }
    while (used < length && !it->is_leaving) {
        if (on->lane.out.length > piece) {
            output += on->lane.out.length;
            if (!connection_send(it)) {
                break;
            }
        }
        if (connection_unsent(it) > 0) { /* what the socket does not take would be copied */
            loop_wait(it, WAIT_DRAIN);
            break;
        }
        if (work == 0 || output > TURN_OUTPUT) {
            loop_wait(it, WAIT_TURN);
            break;
        }
        int64_t before = on->lane.out.whole;
        uint64_t answered = on->answered;
        size_t step = take(it, bytes + used, length - used, &work);
        check_replies(it, before, answered);
        if (step == 0) {
            break;
        }
        used += step;
        if (it->stream != NULL || it->client.batch.runs) { /* these come before the rest */
            loop_wait(it, WAIT_TURN);
            break;
        }
    }
    return used;
}

/* Puts a batch's commands in front of the rest, to be read next. */
static bool take_batch(connection *it) {
    batch *from = &it->client.batch;
    if (it->length > 0 && !batch_keep(from, it->rest + it->start, it->length)) {
        return false;
    }
    memory_hold(-(int64_t)it->room);
    free(it->rest);
    it->rest = from->bytes.bytes;
    it->start = it->needed = 0;
    it->length = from->bytes.length;
    it->room = from->bytes.room;
    *from = (batch){0};
    return true;
}

void close_unauthenticated(unauthenticated *one) {
    connection *it = list_entry(one, connection, unauthenticated);
    meter_add(&it->lane->worker->meter.closed_crowded, 1);
    connection_close(it);
}

/* A client is unauthenticated again after RESET, or when its token is removed. */
void count_strangers(connection *it) {
    loop *on = loop_of(it);
    bool is_stranger = it->client.role == ROLE_NOBODY && !it->is_closing;
    if (!is_stranger) {
        unauthenticated_remove(&on->unauthenticated, &it->unauthenticated);
    } else if (!it->unauthenticated.is_in) {
        it->begun_ms = loop_now_ms(on); /* the time to authenticate begins */
        it->unauthenticated.address = it->client.key;
        unauthenticated *other =
            unauthenticated_add(&on->unauthenticated, &it->unauthenticated, connections_most());
        if (other != NULL) {
            close_unauthenticated(other);
        }
    }
}

/* While stopping: is everything read that the client has sent? Yes if its socket is empty, unless
 * it had sent bytes that were not read at the stop: then the socket must stay empty for QUIET_MS. */
bool is_drained(connection *it) {
    int fd, unread = 0;
    int64_t now = loop_now_ms(loop_of(it));
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

/* Sends the replies of a turn and decides what the connection waits for. */
static void finish(connection *it, bool has_used) {
    loop *on = loop_of(it);
    bool is_half = it->wait == WAIT_NOTHING && it->length > 0;
    bool is_last = on->is_ending && has_used && it->wait == WAIT_NOTHING && is_drained(it);
    count_strangers(it); /* first: a client that reads +OK is not counted any more */
    if (is_last) {       /* or the client might send its next command before it sees the end */
        connection_cork(it);
    }
    if (!connection_send(it)) {
        return;
    }
    if (it->unauthenticated.is_in && connection_unsent(it) > 0) {
        /* replies to unauthenticated clients are short: not reading them is an attack */
        meter_add(&on->lane.worker->meter.closed_slow, 1);
        connection_close(it);
        return;
    }
    it->half_ms = !is_half ? 0 : it->half_ms == 0 || has_used ? loop_now_ms(on) : it->half_ms;
    if (it->wait == WAIT_NOTHING) {
        it->late_ms = 0;
    }
    if (it->is_leaving || ((it->has_ended || is_last) && it->wait == WAIT_NOTHING)) {
        loop_wait(it, WAIT_NOTHING);
        connection_end(it);
        return;
    }
    if (it->wait == WAIT_DRAIN && connection_unsent(it) == 0) { /* drained since then */
        loop_wait(it, WAIT_TURN);
    } else if (connection_unsent(it) > UNSENT_MOST &&
               (it->wait == WAIT_NOTHING || it->wait == WAIT_TURN)) {
        loop_wait(it, WAIT_DRAIN);
    }
    connection_read(it, it->wait != WAIT_TURN && it->wait != WAIT_DRAIN &&
                            it->wait != WAIT_PENALTY && it->length < RESP_COMMAND_MAX);
}

void turn_refuse_memory(connection *it) {
    if (connection_unsent(it) == 0) {
        resp_error(&loop_of(it)->lane.out, "OOM", MEMORY_IS_FULL);
        connection_send(it);
    }
    connection_close(it);
}

/* The measured latency ends with the last byte sent. */
void turn_serve(connection *it, const char *bytes, size_t length, bool is_rest) {
    loop *on = loop_of(it);
    uint64_t begun = uv_hrtime();
    on->answered = on->timed = 0;
    client_renew(&it->client);
    size_t used = turn(it, bytes, length);
    if (is_rest) {
        connection_drop(it, used);
    } else if (used < length && !connection_keep(it, bytes + used, length - used)) {
        turn_refuse_memory(it);
    }
    if (it->client.batch.runs && !take_batch(it)) {
        turn_refuse_memory(it);
    }
    finish(it, used > 0);
    if (on->answered > on->timed) {
        meter_time(&on->lane.worker->meter, on->answered - on->timed, uv_hrtime() - begun);
    }
}

void turn_resume(connection *it) {
    loop_wait(it, WAIT_NOTHING);
    if (it->is_closing) {
        return;
    }
    turn_serve(it, it->rest + it->start, it->length, true);
}

void turn_fail(connection *it, const question *ask, size_t size, const firn_error *error,
               bool is_over) {
    loop *on = loop_of(it);
    count_asked(it, ask, 1, true);
    time_wait(it);
    it->late_ms = is_over ? it->late_ms : 0;
    on->lane.out.version = it->client.version;
    command_refuse(error, &on->lane.out);
    connection_drop(it, size);
    loop_wait(it, it->length > 0 ? WAIT_TURN : WAIT_NOTHING);
    finish(it, true);
}

void turn_reply(connection *it, const command_waiter *of, reply *out) {
    loop *on = loop_of(it);
    int64_t before = on->lane.out.whole;
    on->lane.out.version = it->client.version;
    count_asked(it, &of->asked, 1, false);
    count_taken(it, &of->asked, 1);
    reply_to(it, &of->asked, out);
    resp_check(&on->lane.out, before, 1, stream_left(it->stream));
    connection_drop(it, of->size);
    loop_wait(it, it->length > 0 || it->stream != NULL ? WAIT_TURN : WAIT_NOTHING);
    finish(it, true);
}
