/* SPDX-License-Identifier: MIT */
#include "turn.h"

#include "connection.h"
#include "core/monotonic.h"
#include "errors.h"
#include "handlers.h"
#include "net/access_log.h"
#include "net/connections.h"
#include "net/failed_round.h"
#include "net/memory.h"
#include "settings/setting.h"
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

void command_is_back(server_waiter *waiter) {
    command_waiter *command = (command_waiter *)waiter;
    resp_loop *loop = list_entry(waiter->owner, resp_loop, owner);
    *loop->back_end = command;
    loop->back_end = &command->next;
    if (!loop->is_gone) {
        uv_async_send(&loop->bell);
    }
}

/* The command waits for its renewer; its bytes stay in the rest. Codes as request_send. */
static int send_task(resp_connection *connection, const client_question *ask, quota_charge *charge,
                     firn_error *error) {
    resp_loop *loop = loop_of(connection);
    command_waiter *waiter = calloc(1, sizeof *waiter);
    if (waiter == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a request that waits");
    }
    int64_t waited_ms = connection->late_ms == 0 ? 0 : loop_now_ms(loop) - connection->late_ms;
    waiter->waiter.owner = &loop->owner;
    waiter->waiter.client = connection;
    uv_fileno(&connection->uv.handle, &waiter->waiter.fd);
    waiter->question = *ask;
    waiter->size = loop->command.size;
    int code = waiter_send(&waiter->waiter, &ask->request, charge, &connection->client.pass,
                           connection->client.key,
                           monotonic_ms() + settings_now()->wait_ms - waited_ms, error);
    if (code != FIRN_OK) {
        waiter_free(&waiter->waiter);
        return code;
    }
    connection->waiter = waiter;
    loop_wait(connection, WAIT_TASK);
    return FIRN_OK;
}

void task_release(resp_connection *connection) {
    command_waiter *waiter = connection->waiter;
    connection->waiter = NULL;
    if (waiter != NULL && !waiter_give_up(&waiter->waiter)) {
        waiter->waiter.client = NULL; /* the loop frees it */
    }
}

/* ---- a turn ---------------------------------------------------------------------------------- */

/* How many times the memo's bytes are repeated. */
static size_t count_alike(const command_memo *memo, const char *bytes, size_t length) {
    size_t size = memo->length, most = size == 0 ? 0 : length / size;
    most = most < BATCH_MAX ? most : BATCH_MAX;
    if (most == 0 || memcmp(bytes, memo->bytes, size) != 0) {
        return 0;
    }
    if (memcmp(bytes, bytes + size, (most - 1) * size) == 0) { /* usually all of them */
        return most;
    }
    size_t count = 1;
    while (memcmp(bytes + count * size, memo->bytes, size) == 0) {
        count++; /* ends at the latest at the difference found above */
    }
    return count;
}

static word move_bytes(word text, const char *from, size_t size, const char *to) {
    bool is_inside = text.text >= from && text.text <= from + size;
    return is_inside ? (word){to + (text.text - from), text.length} : text;
}

/* Keeps an answered question for when its bytes come again. */
static void remember_command(command_memo *memo, const client_question *ask, const char *bytes,
                             const resp_command *command) {
    const server_request *request = &ask->request;
    if (command->is_inline || command->size > MEMO_SIZE || request->dated || request->must_open ||
        (request->verb != VERB_NEW && request->verb != VERB_NEXT)) {
        return;
    }
    memo->length = command->size;
    memo->under = settings_now();
    memcpy(memo->bytes, bytes, command->size);
    memo->question = *ask;
    server_request *own = &memo->question.request;
    own->name = move_bytes(own->name, bytes, command->size, memo->bytes);
    for (size_t i = 0; i < own->pair_count; i++) {
        own->pairs[i].key = move_bytes(own->pairs[i].key, bytes, command->size, memo->bytes);
        own->pairs[i].value = move_bytes(own->pairs[i].value, bytes, command->size, memo->bytes);
    }
}

/* Counts answers, or one refusal. */
static void count_asked(const resp_connection *connection, const client_question *ask, uint64_t n,
                        bool refused) {
    static const int kinds[] = {
#define VERB_X(id, name, role, meter) METER_##meter,
        VERBS(VERB_X)
#undef VERB_X
    };
    server_meter *count = &connection->lane->worker->meter;
    int kind = kinds[ask->request.verb];
    meter_add(&count->requests[kind], n);
    if (refused) {
        meter_add(&count->refused[kind], n);
    }
    access_log_count(&ask->request, &connection->client.pass, connection->client.key, n, refused);
}

/* Why the reply would be too large now; NULL: it would not. INCRBY returns one integer. */
static const char *too_much(const server_request *request) {
    return request_is_large(request) && request->verb != VERB_NEXT ? unsent_full() : NULL;
}

/* Charges the client's quotas, and reduces *times to them. */
static int charge_quota(const resp_connection *connection, const server_request *request,
                        size_t *times, quota_charge *charge, firn_error *error) {
    int64_t wait_ms;
    if (!verb_is_charged(request->verb)) {
        return FIRN_OK;
    }
    *times = quota_charge_to(charge, &connection->client.pass, connection->client.key, *times,
                             request->count, &wait_ms, error);
    if (*times == 0) {
        meter_add(&connection->lane->worker->meter.over_quota, 1);
    }
    return *times > 0 ? FIRN_OK : error->code;
}

/* Counts what the client got. */
static void count_taken(resp_connection *connection, const client_question *ask, size_t times) {
    const server_request *request = &ask->request;
    atomic_store_explicit(&connection->client.last, ask->command, memory_order_relaxed);
    if (verb_issues(request->verb)) {
        meter_add(&connection->client.ids, times * (uint64_t)request->count);
    }
}

/* Times a command that waited. The turn does not time it again. */
static void time_wait(resp_connection *connection) {
    resp_loop *loop = loop_of(connection);
    if (connection->late_ms != 0) {
        meter_time(&loop->lane.worker->meter, 1,
                   (uint64_t)(loop_now_ms(loop) - connection->late_ms) * 1000000);
        loop->timed++;
    }
}

/* The rest of a large reply follows in later turns. */
static void begin_stream(resp_connection *connection, resp_stream *rest) {
    resp_loop *loop = loop_of(connection);
    connection->stream = rest;
    connection->stream_ns = uv_hrtime();
    if (connection->late_ms != 0) {
        connection->stream_ns -= (uint64_t)(loop_now_ms(loop) - connection->late_ms) * 1000000;
        connection->late_ms = 0;
    }
    loop->timed++; /* when it ends */
}

/* Writes a reply, or begins it if it is large. */
static void reply_to(resp_connection *connection, const client_question *ask, server_reply *out) {
    resp_loop *loop = loop_of(connection);
    resp_stream *rest = stream_is_large(ask, out) ? stream_begin(ask, out, &loop->lane.out) : NULL;
    if (rest != NULL) {
        begin_stream(connection, rest);
    } else {
        command_reply(ask, out, &loop->lane.out);
        time_wait(connection);
        connection->late_ms = 0;
    }
}

/* Writes a slice of a large reply. True: it was the last, and commands follow. */
static bool stream_on(resp_connection *connection) {
    resp_loop *loop = loop_of(connection);
    if (connection_unsent(connection) > 0) {
        loop_wait(connection, WAIT_DRAIN);
        return false;
    }
    if (!stream_write(connection->stream, &loop->lane.out)) {
        loop_wait(connection, WAIT_TURN);
        return false;
    }
    stream_free(connection->stream);
    connection->stream = NULL;
    meter_time(&loop->lane.worker->meter, 1, uv_hrtime() - connection->stream_ns);
    return true;
}

/* Answers a question, or the first of `times` equal ones. Returns the number of commands answered;
 * 0: the connection waits. */
static size_t answer_command(resp_connection *connection, client_question *ask, size_t times) {
    resp_loop *loop = loop_of(connection);
    server_reply out = {0};
    firn_error error = {0};
    quota_charge charge = {0};
    const char *full = too_much(&ask->request);
    int code = full != NULL ? set_error(&error, FIRN_EWINDOW, "%s", full)
                            : charge_quota(connection, &ask->request, &times, &charge, &error);
    if (code == FIRN_OK) {
        code = request_answer(&ask->request, times, &out, &error);
    }
    if (code == REQUEST_TASK) {
        code = waiting_is_over(connection) ? request_is_late(&error)
                                           : send_task(connection, ask, &charge, &error);
        if (code == FIRN_OK) {
            return 0;
        }
    }
    size_t done = code == FIRN_OK && times > 1 ? out.count : 1;
    quota_settle(&charge,
                 code == FIRN_OK ? (int64_t)done * ask->request.count : (int64_t)out.count);
    if (code == REQUEST_LATER && !waiting_is_over(connection)) {
        connection->later_from = tried_source(&ask->request);
        connection->later_count = ask->request.count;
        loop_wait(connection, WAIT_LATER);
        return 0;
    }
    count_asked(connection, ask, done, code != FIRN_OK);
    if (code != FIRN_OK) {
        time_wait(connection);
        command_refuse(&error, &loop->lane.out);
        if (!waiting_is_over(connection)) { /* else the commands after it have waited as long */
            connection->late_ms = 0;
        }
        return done;
    }
    count_taken(connection, ask, done);
    reply_to(connection, ask, &out);
    return done;
}

/* The same command as before, once or several times. Returns the bytes used. */
static size_t take_alike(resp_connection *connection, const char *bytes, size_t length,
                         unsigned *work) {
    resp_loop *loop = loop_of(connection);
    command_memo *known = &loop->memo;
    if (known->question.request.role != connection->client.role || known->under != settings_now()) {
        return 0;
    }
    size_t times = count_alike(known, bytes, length);
    if (times == 0) {
        return 0;
    }
    if (known->question.is_many || known->question.request.count != 1) {
        times = 1;
    }
    times = times < *work ? times : *work;
    loop->command.size = known->length;
    size_t done = answer_command(connection, &known->question, times);
    *work -= done < *work ? (unsigned)done : *work;
    loop->answered += done;
    return done * known->length;
}

/* Runs the parsed command; returns the bytes used. Costs differ by a factor of a thousand, so they
 * are measured. */
static size_t take_command(resp_connection *connection, const char *bytes, unsigned *work) {
    resp_loop *loop = loop_of(connection);
    resp_command *command = &loop->command;
    uint64_t begun = uv_hrtime();
    switch (command_run(&connection->client, command, &loop->question, &loop->lane.out)) {
    case COMMAND_ASK:
        if (answer_command(connection, &loop->question, 1) == 0) {
            return 0;
        }
        remember_command(&loop->memo, &loop->question, bytes, command);
        break;
    case COMMAND_PENALTY:
        loop_wait(connection, WAIT_PENALTY);
        return 0;
    case COMMAND_CLOSE:
        connection->is_leaving = true;
        break;
    case COMMAND_QUEUE:
        if (batch_add(&connection->client.batch, bytes, command->size)) {
            resp_status(&loop->lane.out, "QUEUED");
        } else {
            resp_error(&loop->lane.out, "OOM", MEMORY_IS_FULL);
        }
        break;
    case COMMAND_DONE:
        break;
    }
    uint64_t step = STEP_COMMAND + (uv_hrtime() - begun) / STEP_NS;
    *work -= step < *work ? (unsigned)step : *work;
    loop->answered++;
    return command->size;
}

/* Runs the first command; returns the bytes used. 0: it waits, or is incomplete. */
static size_t take_commands(resp_connection *connection, const char *bytes, size_t length,
                            unsigned *work) {
    resp_loop *loop = loop_of(connection);
    size_t used =
        connection->client.batch.is_open ? 0 : take_alike(connection, bytes, length, work);
    if (used > 0 || connection->wait != WAIT_NOTHING) {
        return used;
    }
    const resp_limits *limits =
        connection->client.role == ROLE_NOBODY ? &resp_limits_unauthenticated : &resp_limits_client;
    switch (resp_read(&loop->command, bytes, length, limits)) {
    case RESP_MORE:
        connection->needed = loop->command.size;
        return 0;
    case RESP_COMMAND:
        return loop->command.count == 0 ? loop->command.size
                                        : take_command(connection, bytes, work);
    default: {
        char text[200];
        snprintf(text, sizeof text, "Protocol error: %s", loop->command.trouble);
        resp_error(&loop->lane.out, "ERR", text);
        meter_add(&loop->lane.worker->meter.closed_broken, 1);
        connection->is_leaving = true;
        return length;
    }
    }
}

/* Has each command that was answered since then exactly one reply? */
static void check_replies(const resp_connection *connection, int64_t before, uint64_t answered) {
    const resp_loop *loop = loop_of(connection);
    size_t later = connection->client.batch.runs ? connection->client.batch.count
                                                 : stream_left(connection->stream);
    if (!connection->is_leaving) {
        resp_check(&loop->lane.out, before, loop->answered - answered, later);
    }
}

/* Runs commands up to the limits of a turn; returns the bytes used. The rest is an incomplete
 * command, or the connection waits. */
static size_t run_turn(resp_connection *connection, const char *bytes, size_t length) {
    resp_loop *loop = loop_of(connection);
    unsigned work = TURN_WORK;
    size_t used = 0, output = 0;
    size_t piece = memory_is_full() ? MEMORY_LEAST : TURN_SEND; /* which may be kept */
    loop->lane.out.version = connection->client.version;
    if (connection->stream != NULL && !stream_on(connection)) {
        return 0;
    }
    while (used < length && !connection->is_leaving) {
        if (loop->lane.out.length > piece) {
            output += loop->lane.out.length;
            if (!connection_send(connection)) {
                break;
            }
        }
        if (connection_unsent(connection) > 0) { /* what the socket does not take would be copied */
            loop_wait(connection, WAIT_DRAIN);
            break;
        }
        if (work == 0 || output > TURN_OUTPUT) {
            loop_wait(connection, WAIT_TURN);
            break;
        }
        int64_t before = loop->lane.out.whole;
        uint64_t answered = loop->answered;
        size_t step = take_commands(connection, bytes + used, length - used, &work);
        check_replies(connection, before, answered);
        if (step == 0) {
            break;
        }
        used += step;
        if (connection->stream != NULL ||
            connection->client.batch.runs) { /* these come before the rest */
            loop_wait(connection, WAIT_TURN);
            break;
        }
    }
    return used;
}

/* Puts a batch's commands in front of the rest, to be read next. */
static bool take_batch(resp_connection *connection) {
    resp_batch *from = &connection->client.batch;
    if (connection->length > 0 &&
        !batch_keep(from, connection->rest + connection->start, connection->length)) {
        return false;
    }
    memory_hold(-(int64_t)connection->room);
    free(connection->rest);
    connection->rest = from->bytes.bytes;
    connection->start = connection->needed = 0;
    connection->length = from->bytes.length;
    connection->room = from->bytes.room;
    *from = (resp_batch){0};
    return true;
}

void close_unauthenticated(unauthenticated_client *client) {
    resp_connection *connection = list_entry(client, resp_connection, unauthenticated);
    meter_add(&connection->lane->worker->meter.closed_crowded, 1);
    connection_close(connection);
}

/* A client is unauthenticated again after RESET, or when its token is removed. */
void count_strangers(resp_connection *connection) {
    resp_loop *loop = loop_of(connection);
    bool is_stranger = connection->client.role == ROLE_NOBODY && !connection->is_closing;
    if (!is_stranger) {
        unauthenticated_remove(&loop->unauthenticated, &connection->unauthenticated);
    } else if (!connection->unauthenticated.is_in) {
        connection->begun_ms = loop_now_ms(loop); /* the time to authenticate begins */
        connection->unauthenticated.address = connection->client.key;
        unauthenticated_client *other = unauthenticated_add(
            &loop->unauthenticated, &connection->unauthenticated, connections_most());
        if (other != NULL) {
            close_unauthenticated(other);
        }
    }
}

/* While stopping: is everything read that the client has sent? Yes if its socket is empty, unless
 * it had sent bytes that were not read at the stop: then the socket must stay empty for
 * QUIET_MS. */
bool is_drained(resp_connection *connection) {
    int fd, unread = 0;
    int64_t now = loop_now_ms(loop_of(connection));
    if (connection->has_ended || uv_fileno(&connection->uv.handle, &fd) != 0 ||
        ioctl(fd, FIONREAD, &unread) != 0) {
        return true;
    }
    connection->is_ahead = connection->is_ahead || unread >= AHEAD_BYTES;
    if (unread > 0) {
        connection->quiet_ms = 0;
        return false;
    }
    if (connection->is_ahead && connection->quiet_ms == 0) {
        connection->quiet_ms = now;
    }
    return !connection->is_ahead || now - connection->quiet_ms >= QUIET_MS;
}

/* Sends the replies of a turn and decides what the connection waits for. */
static void finish_turn(resp_connection *connection, bool has_used) {
    resp_loop *loop = loop_of(connection);
    bool is_half = connection->wait == WAIT_NOTHING && connection->length > 0;
    bool is_last =
        loop->is_ending && has_used && connection->wait == WAIT_NOTHING && is_drained(connection);
    count_strangers(connection); /* first: a client that reads +OK is not counted any more */
    if (is_last) { /* or the client might send its next command before it sees the end */
        connection_cork(connection);
    }
    if (!connection_send(connection)) {
        return;
    }
    if (connection->unauthenticated.is_in && connection_unsent(connection) > 0) {
        /* replies to unauthenticated clients are short: not reading them is an attack */
        meter_add(&loop->lane.worker->meter.closed_slow, 1);
        connection_close(connection);
        return;
    }
    connection->half_ms = !is_half                               ? 0
                          : connection->half_ms == 0 || has_used ? loop_now_ms(loop)
                                                                 : connection->half_ms;
    if (connection->wait == WAIT_NOTHING) {
        connection->late_ms = 0;
    }
    if (connection->is_leaving ||
        ((connection->has_ended || is_last) && connection->wait == WAIT_NOTHING)) {
        loop_wait(connection, WAIT_NOTHING);
        connection_end(connection);
        return;
    }
    if (connection->wait == WAIT_DRAIN &&
        connection_unsent(connection) == 0) { /* drained since then */
        loop_wait(connection, WAIT_TURN);
    } else if (connection_unsent(connection) > UNSENT_MOST &&
               (connection->wait == WAIT_NOTHING || connection->wait == WAIT_TURN)) {
        loop_wait(connection, WAIT_DRAIN);
    }
    connection_read(connection, connection->wait != WAIT_TURN && connection->wait != WAIT_DRAIN &&
                                    connection->wait != WAIT_PENALTY &&
                                    connection->length < RESP_COMMAND_MAX);
}

void turn_refuse_memory(resp_connection *connection) {
    if (connection_unsent(connection) == 0) {
        resp_error(&loop_of(connection)->lane.out, "OOM", MEMORY_IS_FULL);
        connection_send(connection);
    }
    connection_close(connection);
}

/* The measured latency ends with the last byte sent. */
void turn_serve(resp_connection *connection, const char *bytes, size_t length, bool is_rest) {
    resp_loop *loop = loop_of(connection);
    uint64_t begun = uv_hrtime();
    loop->answered = loop->timed = 0;
    client_renew(&connection->client);
    size_t used = run_turn(connection, bytes, length);
    if (is_rest) {
        connection_drop(connection, used);
    } else if (used < length && !connection_keep(connection, bytes + used, length - used)) {
        turn_refuse_memory(connection);
    }
    if (connection->client.batch.runs && !take_batch(connection)) {
        turn_refuse_memory(connection);
    }
    finish_turn(connection, used > 0);
    if (loop->answered > loop->timed) {
        meter_time(&loop->lane.worker->meter, loop->answered - loop->timed, uv_hrtime() - begun);
    }
}

void turn_resume(resp_connection *connection) {
    loop_wait(connection, WAIT_NOTHING);
    if (connection->is_closing) {
        return;
    }
    turn_serve(connection, connection->rest + connection->start, connection->length, true);
}

void turn_fail(resp_connection *connection, const client_question *ask, size_t size,
               const firn_error *error, bool is_over) {
    resp_loop *loop = loop_of(connection);
    count_asked(connection, ask, 1, true);
    time_wait(connection);
    connection->late_ms = is_over ? connection->late_ms : 0;
    loop->lane.out.version = connection->client.version;
    command_refuse(error, &loop->lane.out);
    connection_drop(connection, size);
    loop_wait(connection, connection->length > 0 ? WAIT_TURN : WAIT_NOTHING);
    finish_turn(connection, true);
}

void turn_reply(resp_connection *connection, const command_waiter *waiter, server_reply *out) {
    resp_loop *loop = loop_of(connection);
    int64_t before = loop->lane.out.whole;
    loop->lane.out.version = connection->client.version;
    count_asked(connection, &waiter->question, 1, false);
    count_taken(connection, &waiter->question, 1);
    reply_to(connection, &waiter->question, out);
    resp_check(&loop->lane.out, before, 1, stream_left(connection->stream));
    connection_drop(connection, waiter->size);
    loop_wait(connection,
              connection->length > 0 || connection->stream != NULL ? WAIT_TURN : WAIT_NOTHING);
    finish_turn(connection, true);
}
