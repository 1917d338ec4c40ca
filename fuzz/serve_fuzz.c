/* SPDX-License-Identifier: MIT */
/* Fuzzes the server after parsing: targets, headers and bodies of HTTP, and commands of Redis
 * clients, down to a memory store and back to the reply. An input that begins with '*' is commands;
 * any other is a method, a target, header lines, an empty line and a body, passed on as
 * libmicrohttpd does, whose functions are replaced here. Each request has exactly one reply that
 * can be parsed as JSON or RESP. grammar.h adds valid requests to the mutations of bytes. */
#include "core/catalog.h"
#include "core/log.h"
#include "core/monotonic.h"
#include "core/server.h"
#include "http/clients.h"
#include "http/exchange.h"
#include "http/header.h"
#include "http/http_reply.h"
#include "http/parked.h"
#include "http/serve.h"
#include "resp/commands.h"
#include "settings/setting.h"

#include "grammar.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MOST = 128, WAIT_S = 20, ROUNDS_MOST = BATCH_MAX / 2048 };

/* ---- libmicrohttpd --------------------------------------------------------------------------- */

struct MHD_Response {
    char *bytes;
    size_t size;
    char type[64];
    int used; /* its makers and its senders */
};

typedef struct text_pair {
    enum MHD_ValueKind kind;
    char *key, *value; /* value NULL: a parameter without '=' */
} text_pair;

struct MHD_Connection {
    text_pair pairs[WORDS_MOST];
    size_t count;
    int replies;
    unsigned status;
    struct MHD_Response *reply;
    sem_t resumed;
};

const console_file console_files[] = {{"index.html", "text/html", "0123",
                                       (const unsigned char *)"12", 2, (const unsigned char *)"1",
                                       1},
                                      {0}};

int MHD_get_connection_values_n(struct MHD_Connection *client, enum MHD_ValueKind kind,
                                MHD_KeyValueIteratorN each, void *self) {
    int count = 0;
    for (size_t i = 0; i < client->count; i++) {
        const text_pair *pair = &client->pairs[i];
        if (pair->kind == kind) {
            size_t size = pair->value != NULL ? strlen(pair->value) : 0;
            count++;
            if (each != NULL &&
                each(self, kind, pair->key, strlen(pair->key), pair->value, size) != MHD_YES) {
                break;
            }
        }
    }
    return count;
}

const char *MHD_lookup_connection_value(struct MHD_Connection *client, enum MHD_ValueKind kind,
                                        const char *key) {
    for (size_t i = 0; i < client->count; i++) {
        if (client->pairs[i].kind == kind && strcasecmp(client->pairs[i].key, key) == 0) {
            return client->pairs[i].value;
        }
    }
    return NULL;
}

static struct MHD_Response *make_reply(size_t size, const void *bytes) {
    struct MHD_Response *response = calloc(1, sizeof *response);
    assert(response != NULL);
    response->bytes = malloc(size + 1);
    assert(response->bytes != NULL);
    memcpy(response->bytes, bytes, size);
    response->size = size;
    response->used = 1;
    return response;
}

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *bytes,
                                                     enum MHD_ResponseMemoryMode mode) {
    struct MHD_Response *response = make_reply(size, bytes);
    if (mode == MHD_RESPMEM_MUST_FREE) {
        free(bytes);
    }
    return response;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *response, const char *name,
                                        const char *value) {
    assert(strpbrk(name, "\r\n: ") == NULL && strpbrk(value, "\r\n") == NULL);
    if (strcmp(name, "Content-Type") == 0) {
        snprintf(response->type, sizeof response->type, "%s", value);
    }
    return MHD_YES;
}

void MHD_destroy_response(struct MHD_Response *response) {
    if (--response->used == 0) {
        free(response->bytes);
        free(response);
    }
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *client, unsigned status,
                                   struct MHD_Response *reply) {
    client->replies++;
    client->status = status;
    client->reply = reply;
    reply->used++;
    return MHD_YES;
}

const char *MHD_get_reason_phrase_for(unsigned status) {
    return status < 400 ? "OK" : "Problem";
}

void MHD_resume_connection(struct MHD_Connection *client) {
    sem_post(&client->resumed);
}

void MHD_suspend_connection(struct MHD_Connection *client) {
    (void)client;
}

/* ---- the listener ---------------------------------------------------------------------------- */

static http_loop loop;
static server_listener place = {.address = "127.0.0.1:7380"};

void client_trust(http_exchange *exchange) {
    (void)exchange;
}

bool client_is_trusted(const http_exchange *exchange) {
    (void)exchange;
    return true;
}

address_key client_address(const http_exchange *exchange) {
    (void)exchange;
    return (address_key){0};
}

static void wait_for_post(sem_t *bell) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_S;
    int code;
    do {
        code = sem_timedwait(bell, &until);
    } while (code != 0 && errno == EINTR);
    assert(code == 0); /* nothing that was sent to a renewer is lost */
}

/* ---- once ------------------------------------------------------------------------------------ */

static void begin(void) {
    firn_error error;
    server_settings set = {
        .wait_ms = 1, .max_connections = 1000, .replies_mib = 64, .clients_mib = 256};
    log_set(LOG_LEVEL_ERROR, false);
    server_begin();
    assert(settings_put(&set, &error) == FIRN_OK);
    assert(catalog_begin("memory:", 64, 64, 8, 8, &error) == FIRN_OK);
    assert(catalog_add_generator("orders", "snowflake", "node=3", NULL, NULL, NULL, &error) == 0);
    assert(catalog_add_generator("users", "typeid", "", NULL, NULL, "user", &error) == 0);
    assert(catalog_add_segment("bills", "step=10 end=1000000", NULL, &error) == 0);
    catalog_allow_block(1000);
    assert(catalog_begun(&error) == FIRN_OK);
    loop.worker = worker_new(true);
    loop.listener = &place;
    pthread_mutex_init(&loop.owner.lock, NULL);
    loop.owner.wake = exchange_is_back;
    list_clear(&loop.parked);
    list_clear(&loop.later);
    list_clear(&loop.tasks);
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

static char *copy(const char *text, size_t size) {
    char *self = malloc(size + 1); /* its end is the end of the memory */
    assert(self != NULL);
    memcpy(self, text, size);
    self[size] = '\0';
    return self;
}

static void add(struct MHD_Connection *out, enum MHD_ValueKind kind, const char *text, size_t size,
                char mark) {
    const char *end = memchr(text, mark, size);
    size_t key = end != NULL ? (size_t)(end - text) : size;
    if (out->count == WORDS_MOST || memchr(text, '\0', size) != NULL) {
        return;
    }
    size_t skip = key + (end != NULL);
    while (kind == MHD_HEADER_KIND && skip < size && text[skip] == ' ') {
        skip++;
    }
    out->pairs[out->count++] =
        (text_pair){kind, copy(text, key), end != NULL ? copy(text + skip, size - skip) : NULL};
}

static void add_query(struct MHD_Connection *out, const char *text, size_t size) {
    while (size > 0) {
        const char *end = memchr(text, '&', size);
        size_t length = end != NULL ? (size_t)(end - text) : size;
        add(out, MHD_GET_ARGUMENT_KIND, text, length, '=');
        length += end != NULL;
        text += length;
        size -= length;
    }
}

static void check_reply(const struct MHD_Connection *client) {
    assert(client->replies == 1);
    assert(client->status >= 200 && client->status < 600);
    if (strstr(client->reply->type, "json") != NULL && client->reply->size > 0) {
        json_error_t why;
        json_t *read = json_loadb(client->reply->bytes, client->reply->size, JSON_DECODE_ANY, &why);
        assert(read != NULL);
        json_decref(read);
    }
}

/* A parked exchange waits for its renewer, or for no longer than a moment. The longest reply is
 * written in slices of 4096 IDs. */
static void go_on(http_exchange *exchange) {
    enum MHD_Result result = MHD_YES;
    for (int i = 0; i < ROUNDS_MOST && exchange->connection->replies == 0 && result == MHD_YES;
         i++) {
        if (exchange->is_parked && exchange->stage == STAGE_TASK) {
            wait_for_post(&exchange->connection->resumed);
        } else if (exchange->is_parked) {
            exchange->until_ns = 1;
        }
        if (exchange->is_parked) {
            unpark(exchange);
        }
        result = serve_go_on(exchange);
    }
}

static void ask_http(const char *text, size_t size) {
    struct MHD_Connection connection = {.count = 0};
    http_client from_where = {.fd = -1};
    http_exchange *exchange = calloc(1, sizeof *exchange);
    char method[16] = "", *target;
    assert(exchange != NULL);
    exchange->client = &from_where;
    size_t line = strcspn(text, "\n"), blank = strcspn(text, " \n");
    line = line < size ? line : size;
    blank = blank < line ? blank : line;
    snprintf(method, sizeof method, "%.*s", (int)blank, text);
    size_t from = blank < line ? blank + 1 : line, length = line - from;
    target = copy(text + from, length);
    char *query = strchr(target, '?');
    if (query != NULL) {
        *query = '\0';
        add_query(&connection, query + 1, length - (size_t)(query + 1 - target));
    }
    size_t position = line < size ? line + 1 : size;
    while (position < size) {
        size_t rest = strcspn(text + position, "\n");
        rest = rest < size - position ? rest : size - position;
        if (rest == 0) {
            position++;
            break;
        }
        add(&connection, MHD_HEADER_KIND, text + position, rest, ':');
        position += rest + (position + rest < size);
    }
    add(&connection, MHD_HEADER_KIND, "Host: localhost", strlen("Host: localhost"), ':');
    sem_init(&connection.resumed, 0, 0);
    exchange->loop = &loop;
    exchange->connection = &connection;
    exchange->path = target;
    exchange->began_ns = monotonic_ns();
    serve_begin(exchange, method, "HTTP/1.1");
    if (connection.replies == 0 && position < size) {
        for (size_t piece; position < size; position += piece) {
            piece = size - position < 7 ? size - position : 7;
            assert(body_keep(exchange, text + position, piece));
        }
    }
    go_on(exchange);
    check_reply(&connection);
    if (exchange->is_parked) {
        unpark(exchange);
    }
    serve_end(exchange);
    reply_unhold(exchange, exchange->held);
    MHD_destroy_response(connection.reply);
    if (exchange->usual.made != NULL) {
        MHD_destroy_response(exchange->usual.made);
    }
    for (size_t i = 0; i < connection.count; i++) {
        free(connection.pairs[i].key);
        free(connection.pairs[i].value);
    }
    sem_destroy(&connection.resumed);
    free(target);
    free(exchange);
}

/* ---- RESP ------------------------------------------------------------------------------------ */

static const char *skip_line(const char *position, const char *end) {
    const char *stop = memmem(position, (size_t)(end - position), "\r\n", 2);
    assert(stop != NULL);
    return stop + 2;
}

/* The number at `position`, or 0. A reply is not terminated, so the number is copied before it is
 * read. */
static long long read_number(const char *position, const char *end) {
    char digits[24] = "";
    size_t size = (size_t)(end - position);
    memcpy(digits, position, size < sizeof digits ? size : sizeof digits - 1);
    return atoll(digits);
}

/* The end of the reply at `position`, which must be whole. */
static const char *skip_reply(const char *position, const char *end, int depth) {
    assert(position < end && depth < 32);
    char mark = *position;
    long long count = read_number(position + 1, end);
    position = skip_line(position, end);
    switch (mark) {
    case '+':
    case '-':
    case ':':
    case '_':
    case '#':
    case ',':
        return position;
    case '$':
    case '=':
        if (count < 0) {
            return position;
        }
        assert(count + 2 <= end - position && memcmp(position + count, "\r\n", 2) == 0);
        return position + count + 2;
    case '*':
    case '~':
    case '%':
        for (long long i = 0; i < (mark == '%' ? 2 * count : count); i++) {
            position = skip_reply(position, end, depth + 1);
        }
        return position;
    default:
        abort();
    }
}

static void post(void *bell) {
    sem_post(bell);
}

static void answer(client_question *ask, resp_out *out) {
    firn_error error = {0};
    server_reply reply = {0};
    int code = request_answer(&ask->request, 1, &reply, &error);
    sent_task *task = NULL;
    for (int i = 0; i < 4 && code == REQUEST_TASK; i++) {
        sem_t bell;
        sem_init(&bell, 0, 0);
        sent_free(task);
        task = NULL;
        const task_client client = {.self = &bell, .finished = post, .until_ms = INT64_MAX};
        code = request_send(&ask->request, &client, &task, &error);
        if (code == FIRN_OK) {
            wait_for_post(&bell);
            code = request_finish(task, &reply, &error);
        }
        sem_destroy(&bell);
        code = code == REQUEST_LATER ? request_answer(&ask->request, 1, &reply, &error) : code;
    }
    if (code == FIRN_OK) {
        command_reply(ask, &reply, out);
    } else {
        command_refuse(&error, out);
    }
    sent_free(task);
}

static void ask_resp(const char *text, size_t size) {
    static resp_command command;
    static client_question ask;
    resp_client me = {.worker = loop.worker};
    resp_out out = {0};
    client_begin(&me);
    client_enter(&me);
    for (size_t position = 0; position < size;) {
        if (resp_read(&command, text + position, size - position, &resp_limits_client) !=
            RESP_COMMAND) {
            break;
        }
        out.version = me.version;
        enum outcome outcome =
            command.count == 0 ? COMMAND_CLOSE : command_run(&me, &command, &ask, &out);
        if (command.count == 0) {
            position += command.size;
            continue;
        }
        if (outcome == COMMAND_ASK) {
            answer(&ask, &out);
        } else if (outcome == COMMAND_QUEUE) {
            assert(batch_keep(&me.batch, text + position, command.size));
            resp_status(&out, "QUEUED");
        }
        assert(!out.failed);
        if (me.batch.runs) { /* its replies would follow the head */
            me.batch.runs = false;
        } else if (outcome != COMMAND_PENALTY) {
            assert(skip_reply(out.text, out.text + out.length, 0) == out.text + out.length);
        }
        resp_out_free(&out);
        position += command.size;
        if (outcome == COMMAND_CLOSE) {
            break;
        }
    }
    client_leave(&me);
    resp_out_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool begun;
    if (!begun) {
        begin();
        begun = true;
    }
    char *text = copy((const char *)data, size);
    if (size > 0 && text[0] == '*') {
        ask_resp(text, size);
    } else if (size > 0) {
        ask_http(text, size);
    }
    free(text);
    return 0;
}
