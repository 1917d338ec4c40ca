/* SPDX-License-Identifier: MIT */
/* Commands of Redis clients: see commands.h, and commands.def for the list. */
#include "commands.h"

#include "config/config.h"
#include "core/server.h"
#include "core/text.h"
#include "net/guesses.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

/* Wrong tokens in a row after which a client has to connect anew. */
#define FAILURES_MAX 3
#define PENALTY_MS   500 /* until a wrong token is answered */

typedef struct command command;
typedef enum outcome run_function(client *it, const resp_command *said, resp_out *out);

/* One row of the list. */
struct command {
    const char *name;
    int arity; /* as Redis counts: with the name, and negative for "at least" */
    enum role role;
    const char *group;
    run_function *run; /* NULL: a question */
    enum verb verb;
    const char *positions; /* names of what stands behind the command, blanks between */
    enum reply_shape shape;
    const char *arguments, *text;
};

#define COMMAND(name, arity, role, group, function, arguments, text)                               \
    static run_function run_##function;
#include "commands.def"

static const command commands[] = {
#define COMMAND(name, arity, role, group, function, arguments, text)                               \
    {name,       arity, ROLE_##role,  #group,    run_##function,                                   \
     VERB_COUNT, NULL,  SHAPE_OBJECT, arguments, text},
#define ASK(name, arity, role, verb, positions, as, arguments, text)                               \
    {name, arity, ROLE_##role, "firn", NULL, VERB_##verb, positions, SHAPE_##as, arguments, text},
#include "commands.def"
};

static const struct {
    const char *name, *text;
} instead[] = {
#define INSTEAD(name, text) {name, text},
#include "commands.def"
};

#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

static const command *command_find(word name) {
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        if (word_is(name, commands[i].name)) {
            return &commands[i];
        }
    }
    return NULL;
}

/* ---- replies --------------------------------------------------------------------------------- */

/* The first word of an error, which clients of Redis decide by: TRYAGAIN where the same may succeed a
 * little later, and no promise of that where a person has to act first. */
void command_refuse(const request *asked, const firn_error *error, resp_out *out) {
    int code = error->code;
    resp_error(out,
               request_may_pass(asked, code)                   ? "TRYAGAIN"
               : code == FIRN_EBACK || code == FIRN_EEXHAUSTED ? firn_errname(code)
               : code == FIRN_EMEMORY                          ? "OOM"
                                                               : "ERR",
               error->text);
}

/* An error that quotes a client: at most 64 bytes of what it said, and nothing that a terminal
 * would obey. */
static enum outcome refuse_word(resp_out *out, const char *before, word said, const char *after) {
    char quoted[65], text[400];
    size_t length = said.length < 64 ? said.length : 64;
    for (size_t i = 0; i < length; i++) {
        quoted[i] = said.text[i] >= ' ' && said.text[i] <= '~' ? said.text[i] : '?';
    }
    quoted[length] = '\0';
    snprintf(text, sizeof text, "%s'%s'%s", before, quoted, after);
    resp_error(out, "ERR", text);
    return COMMAND_DONE;
}

static enum outcome refuse(resp_out *out, const char *text) {
    resp_error(out, "ERR", text);
    return COMMAND_DONE;
}

static enum outcome done(resp_out *out) {
    resp_status(out, "OK");
    return COMMAND_DONE;
}

static void reply_ids(const question *ask, const reply *answer, resp_out *out) {
    for (size_t i = 0; i < answer->count; i++) {
        char *text = resp_begin(out, FIRN_TEXT_SIZE + sizeof ask->request.prefix);
        if (text == NULL) {
            return;
        }
        resp_end(out, text, reply_write_id(text, &ask->request, answer, i));
    }
}

static void reply_run(const reply *answer, resp_out *out) {
    const struct {
        const char *name;
        int64_t value;
    } parts[] = {{"first", answer->first},
                 {"last", answer->first + (answer->run - 1) * answer->increment},
                 {"increment", answer->increment},
                 {"count", answer->run}};
    if (out->version == 3) {
        resp_map(out, COUNT_OF(parts));
    } else {
        resp_array(out, COUNT_OF(parts));
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (out->version == 3) {
            resp_text(out, parts[i].name);
        }
        resp_integer(out, parts[i].value);
    }
}

void command_reply(const question *ask, reply *answer, resp_out *out) {
    bool has_ids = answer->kind == REPLY_NUMBERS || answer->kind == REPLY_IDS;
    if (has_ids && (ask->is_many || ask->shape == SHAPE_OBJECT)) {
        resp_array(out, answer->count);
    }
    switch (answer->kind) {
    case REPLY_NIL:
        resp_null(out);
        break;
    case REPLY_NUMBERS:
        resp_numbers(out, answer->numbers, answer->count, answer->is_signed);
        break;
    case REPLY_IDS:
        reply_ids(ask, answer, out);
        break;
    case REPLY_INTEGER:
        if (ask->shape == SHAPE_TEXT) {
            resp_numbers(out, &(uint64_t){(uint64_t)answer->first}, 1, true);
        } else {
            resp_integers(out, answer->first, answer->increment, answer->count);
        }
        break;
    case REPLY_RUN:
        reply_run(answer, out);
        break;
    case REPLY_JSON:
        resp_json(out, answer->json);
        json_decref(answer->json);
        answer->json = NULL;
        break;
    }
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Names in their own case are the schemes' and generators'; these are words of the commands. */
static word key_of(word said) {
    static const char *const names[] = {"count", "as", "time", "tick", "scheme", "to"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (word_is(said, names[i])) {
            return (word){names[i], strlen(names[i])};
        }
    }
    return said;
}

static bool add_pair(request *to, word key, word value) {
    if (to->pair_count == REQUEST_PAIRS_MAX) {
        return false;
    }
    to->pairs[to->pair_count].key = key_of(key);
    to->pairs[to->pair_count++].value = value;
    return true;
}

/* What stands at its place: the name, or a value whose name the list tells. Returns how many words
 * that were. */
static size_t read_positions(const command *row, const resp_command *said, request *to) {
    const char *at = row->positions;
    size_t i = 1;
    for (; i < said->count && *at != '\0'; i++) {
        size_t length = strcspn(at, " ");
        word key = {at, length};
        if (word_is(key, "name")) {
            to->name = said->words[i];
        } else {
            add_pair(to, key, said->words[i]);
        }
        at += length + (at[length] == ' ');
    }
    return i;
}

/* Names and values in turn, or name=value in one word, as the command line has it. */
static enum outcome read_pairs(const resp_command *said, size_t i, question *ask, resp_out *out) {
    for (; i < said->count; i++) {
        word key = said->words[i], value;
        const char *equals = memchr(key.text, '=', key.length);
        if (equals != NULL) {
            value = (word){equals + 1, (size_t)(key.text + key.length - equals) - 1};
            key.length = (size_t)(equals - key.text);
        } else if (++i < said->count) {
            value = said->words[i];
        } else {
            return refuse_word(out, "", key, " has no value: say name and value, or name=value");
        }
        ask->is_many = ask->is_many || word_is(key, "count");
        if (!add_pair(&ask->request, key, value)) {
            return refuse(out, "more than 16 names with values: leave some out");
        }
    }
    return COMMAND_ASK;
}

static enum outcome read_question(client *it, const command *row, const resp_command *said,
                                  question *ask, resp_out *out) {
    firn_error error;
    ask->request.worker = it->worker;
    ask->request.verb = row->verb;
    ask->request.role = it->role;
    ask->request.name = (word){"", 0};
    ask->request.pair_count = 0;
    ask->shape = row->shape;
    ask->is_many = false;
    enum outcome outcome = read_pairs(said, read_positions(row, said, &ask->request), ask, out);
    if (outcome == COMMAND_ASK && request_read(&ask->request, &error) != FIRN_OK) {
        command_refuse(&ask->request, &error, out);
        outcome = COMMAND_DONE;
    }
    return outcome;
}

/* ---- all clients ----------------------------------------------------------------------------- */

static pthread_mutex_t clients_lock = PTHREAD_MUTEX_INITIALIZER;
static client *clients; /* that are connected, the last one first */

void client_enter(client *it) {
    pthread_mutex_lock(&clients_lock);
    it->previous = NULL;
    it->next = clients;
    if (clients != NULL) {
        clients->previous = it;
    }
    clients = it;
    pthread_mutex_unlock(&clients_lock);
}

void client_leave(client *it) {
    pthread_mutex_lock(&clients_lock);
    if (it->previous != NULL) {
        it->previous->next = it->next;
    } else if (clients == it) {
        clients = it->next;
    }
    if (it->next != NULL) {
        it->next->previous = it->previous;
    }
    pthread_mutex_unlock(&clients_lock);
    free(it->batch.bytes);
    it->batch = (batch){0};
}

/* ---- batches --------------------------------------------------------------------------------- */

static void batch_clear(batch *it) {
    free(it->bytes);
    *it = (batch){0};
}

bool batch_keep(batch *it, const char *bytes, size_t length) {
    if (length > it->room - it->length) {
        size_t room = it->room < 4096 ? 4096 : it->room;
        while (room - it->length < length) {
            room *= 2;
        }
        char *more = realloc(it->bytes, room);
        if (more == NULL) {
            it->is_spoiled = true;
            return false;
        }
        it->bytes = more;
        it->room = room;
    }
    memcpy(it->bytes + it->length, bytes, length);
    it->length += length;
    it->count++;
    return true;
}

static enum outcome run_multi(client *it, const resp_command *said, resp_out *out) {
    (void)said;
    batch_clear(&it->batch);
    it->batch.is_open = true;
    return done(out);
}

static enum outcome run_exec(client *it, const resp_command *said, resp_out *out) {
    (void)said;
    if (!it->batch.is_open) {
        return refuse(out, "EXEC without MULTI");
    }
    if (it->batch.is_spoiled) {
        batch_clear(&it->batch);
        resp_error(out, "EXECABORT", "Transaction discarded because of previous errors.");
        return COMMAND_DONE;
    }
    it->batch.is_open = false;
    it->batch.runs = it->batch.count > 0;
    resp_array(out, it->batch.count); /* each of its commands adds a reply of its own */
    return COMMAND_DONE;
}

static enum outcome run_discard(client *it, const resp_command *said, resp_out *out) {
    (void)said;
    if (!it->batch.is_open) {
        return refuse(out, "DISCARD without MULTI");
    }
    batch_clear(&it->batch);
    return done(out);
}

/* What is not kept for EXEC but run, or refused, within a batch. */
static bool runs_at_once(const command *row) {
    return row->run == run_exec || row->run == run_discard || row->run == run_quit ||
           row->run == run_reset;
}

static bool is_refused_in_batch(const command *row) {
    return row->run == run_multi || row->run == run_auth || row->run == run_hello;
}

/* ---- the connection -------------------------------------------------------------------------- */

/* Its failures stay: who guesses tokens gets no more tries by RESET. */
void client_begin(client *it) {
    batch_clear(&it->batch);
    pthread_mutex_lock(&clients_lock);
    it->role = access_begin(&it->pass);
    it->version = 2;
    it->name[0] = it->library[0] = it->library_version[0] = '\0';
    pthread_mutex_unlock(&clients_lock);
}

void client_renew(client *it) {
    if (it->pass.load != access_load_count()) {
        pthread_mutex_lock(&clients_lock);
        it->role = access_again(&it->pass);
        pthread_mutex_unlock(&clients_lock);
    }
}

static enum outcome run_ping(client *it, const resp_command *said, resp_out *out) {
    (void)it;
    if (said->count > 2) {
        return refuse(out, "wrong number of arguments for 'ping' command");
    }
    if (said->count == 2) {
        resp_bulk(out, said->words[1].text, said->words[1].length);
    } else {
        resp_status(out, "PONG");
    }
    return COMMAND_DONE;
}

static enum outcome run_echo(client *it, const resp_command *said, resp_out *out) {
    (void)it;
    resp_bulk(out, said->words[1].text, said->words[1].length);
    return COMMAND_DONE;
}

static enum outcome refuse_token(client *it, resp_out *out) {
    resp_error(out, "WRONGPASS", "no such token: ask who runs this server");
    return ++it->failures >= FAILURES_MAX ? COMMAND_CLOSE : COMMAND_DONE;
}

/* COMMAND_ASK: the token is right. The first wrong ones of an address are looked at when they come
 * and answered later; after several each token waits before it is looked at, so that many guesses
 * at once take as long. */
static enum outcome enter(client *it, word token, resp_out *out) {
    enum guess guess = it->guess;
    it->guess = GUESS_NONE;
    if (!access_is_closed()) {
        return refuse(out, "AUTH called without any password configured: leave it out");
    }
    if (guess == GUESS_WRONG) {
        return refuse_token(it, out);
    }
    it->penalty_ms = guess == GUESS_NONE ? guess_delay_ms(it->key) : 0;
    if (it->penalty_ms > 0) {
        it->guess = GUESS_WAITS;
        return COMMAND_PENALTY;
    }
    enum role role = access_enter(&it->pass, token);
    if (role != ROLE_NOBODY) {
        pthread_mutex_lock(&clients_lock);
        it->role = role;
        pthread_mutex_unlock(&clients_lock);
        it->failures = 0;
        return COMMAND_ASK;
    }
    guess_note(it->key, it->worker, guess == GUESS_WAITS);
    if (guess == GUESS_WAITS) {
        return refuse_token(it, out);
    }
    it->guess = GUESS_WRONG;
    it->penalty_ms = PENALTY_MS;
    return COMMAND_PENALTY;
}

static enum outcome run_auth(client *it, const resp_command *said, resp_out *out) {
    if (said->count > 3) {
        return refuse(out, "syntax error: AUTH [user] token");
    }
    enum outcome outcome = enter(it, said->words[said->count - 1], out);
    return outcome == COMMAND_ASK ? done(out) : outcome;
}

/* What a client calls itself: printable, without blanks, as CLIENT INFO tells it. */
static bool set_name(char name[CLIENT_NAME_SIZE], word said) {
    for (size_t i = 0; i < said.length; i++) {
        if (said.text[i] < '!' || said.text[i] > '~') {
            return false;
        }
    }
    pthread_mutex_lock(&clients_lock);
    bool fits = word_copy(said, name, CLIENT_NAME_SIZE);
    pthread_mutex_unlock(&clients_lock);
    return fits;
}

#define BAD_NAME "names of clients are at most 63 printable characters without blanks"

static void reply_hello(const client *it, resp_out *out) {
    resp_map(out, 7);
    resp_text(out, "server");
    resp_text(out, "firn");
    resp_text(out, "version");
    resp_text(out, FIRN_VERSION);
    resp_text(out, "proto");
    resp_integer(out, it->version);
    resp_text(out, "id");
    resp_integer(out, (int64_t)it->id);
    resp_text(out, "mode");
    resp_text(out, "standalone");
    resp_text(out, "role");
    resp_text(out, "master");
    resp_text(out, "modules");
    resp_array(out, 0);
}

static enum outcome run_hello(client *it, const resp_command *said, resp_out *out) {
    int version = it->version;
    word token = {NULL, 0}, name = {NULL, 0};
    size_t i = 1;
    if (said->count > 1) {
        if (!word_is(said->words[i], "2") && !word_is(said->words[i], "3")) {
            resp_error(out, "NOPROTO", "unsupported protocol version: 2 or 3");
            return COMMAND_DONE;
        }
        version = said->words[i++].text[0] - '0';
    }
    for (; i < said->count; i++) {
        if (word_is(said->words[i], "auth") && i + 2 < said->count) {
            token = said->words[i += 2];
        } else if (word_is(said->words[i], "setname") && i + 1 < said->count) {
            name = said->words[++i];
        } else {
            return refuse_word(out, "syntax error in HELLO option ", said->words[i],
                               ": HELLO [2|3 [AUTH user token] [SETNAME name]]");
        }
    }
    enum outcome outcome = token.text != NULL ? enter(it, token, out) : COMMAND_ASK;
    if (outcome != COMMAND_ASK) {
        return outcome;
    }
    if (it->role == ROLE_NOBODY) {
        resp_error(out, "NOAUTH",
                   "HELLO must be called with the client already authenticated: "
                   "HELLO 3 AUTH default TOKEN");
        return COMMAND_DONE;
    }
    if (name.text != NULL && !set_name(it->name, name)) {
        return refuse(out, BAD_NAME);
    }
    pthread_mutex_lock(&clients_lock);
    it->version = out->version = version;
    pthread_mutex_unlock(&clients_lock);
    reply_hello(it, out);
    return COMMAND_DONE;
}

static enum outcome run_select(client *it, const resp_command *said, resp_out *out) {
    (void)it;
    return word_is(said->words[1], "0") ? done(out)
                                        : refuse(out, "DB index is out of range: there is only 0");
}

static enum outcome run_quit(client *it, const resp_command *said, resp_out *out) {
    (void)it;
    (void)said;
    resp_status(out, "OK");
    return COMMAND_CLOSE;
}

static enum outcome run_reset(client *it, const resp_command *said, resp_out *out) {
    (void)said;
    client_begin(it);
    out->version = it->version;
    resp_status(out, "RESET");
    return COMMAND_DONE;
}

/* All the numbers that clients of Redis turn into integers are there; those that firn does not count
 * are 0. Under clients_lock. */
static void write_client(text_out *to, const client *it) {
    int64_t now_s = server_uptime_s(), idle_s = now_s - atomic_load(&it->heard_s);
    text_print(to,
               "id=%" PRIu64 " addr=%s laddr= fd=-1 name=%s age=%" PRId64 " idle=%" PRId64
               " flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 argv-mem=0"
               " multi-mem=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd=NULL user=%s redir=-1"
               " resp=%d lib-name=%s lib-ver=%s\n",
               it->id, it->address, it->name, now_s - it->since_s, idle_s > 0 ? idle_s : 0,
               it->role == ROLE_ADMIN   ? "admin"
               : it->role == ROLE_ISSUE ? "issue"
                                        : "(none)",
               it->version, it->library, it->library_version);
}

static enum outcome reply_clients(const client *first, size_t most, resp_out *out) {
    text_out text = {0};
    pthread_mutex_lock(&clients_lock);
    const client *at = first != NULL ? first : clients;
    for (size_t i = 0; i < most && at != NULL; i++, at = at->next) {
        write_client(&text, at);
    }
    pthread_mutex_unlock(&clients_lock);
    if (text.failed) {
        resp_error(out, "OOM", "out of memory");
    } else {
        resp_page(out, text.bytes, text.length);
    }
    free(text.bytes);
    return COMMAND_DONE;
}

#define CLIENTS_LISTED 65536

static enum outcome client_list(const client *it, const resp_command *said, resp_out *out) {
    if (it->role != ROLE_ADMIN) {
        resp_error(out, "NOPERM", "CLIENT LIST needs a token of admin: CLIENT INFO is your own");
        return COMMAND_DONE;
    }
    if (said->count == 4 && word_is(said->words[2], "type") && word_is(said->words[3], "normal")) {
        return reply_clients(NULL, CLIENTS_LISTED, out);
    }
    return said->count == 2 ? reply_clients(NULL, CLIENTS_LISTED, out)
                            : refuse(out, "syntax error: CLIENT LIST [TYPE normal]");
}

static enum outcome client_setinfo(client *it, const resp_command *said, resp_out *out) {
    char *to = word_is(said->words[2], "lib-name")  ? it->library
               : word_is(said->words[2], "lib-ver") ? it->library_version
                                                    : NULL;
    if (to == NULL) {
        return refuse_word(out, "Unrecognized option ", said->words[2], ": LIB-NAME or LIB-VER");
    }
    return set_name(to, said->words[3]) ? done(out) : refuse(out, BAD_NAME);
}

static enum outcome run_client(client *it, const resp_command *said, resp_out *out) {
    word what = said->words[1];
    if (said->count == 2 && word_is(what, "id")) {
        resp_integer(out, (int64_t)it->id);
    } else if (said->count == 2 && word_is(what, "info")) {
        return reply_clients(it, 1, out);
    } else if (word_is(what, "list")) {
        return client_list(it, said, out);
    } else if (said->count == 2 && word_is(what, "getname")) {
        if (it->name[0] == '\0') {
            resp_null(out);
        } else {
            resp_text(out, it->name);
        }
    } else if (said->count == 3 && word_is(what, "setname")) {
        return set_name(it->name, said->words[2]) ? done(out) : refuse(out, BAD_NAME);
    } else if (said->count == 4 && word_is(what, "setinfo")) {
        return client_setinfo(it, said, out);
    } else if (said->count == 3 && (word_is(what, "no-evict") || word_is(what, "no-touch"))) {
        return done(out); /* nobody is evicted, and no key is touched */
    } else {
        return refuse_word(
            out, "unknown subcommand or wrong number of arguments for ", what,
            ": CLIENT ID, INFO, LIST, GETNAME, SETNAME, SETINFO, NO-EVICT or NO-TOUCH");
    }
    return COMMAND_DONE;
}

/* ---- commands about commands ----------------------------------------------------------------- */

static void reply_flags(const command *row, resp_out *out) {
    resp_set(out, 2);
    bool writes = row->verb == VERB_NEXT || row->verb == VERB_NEW || row->verb == VERB_BLOCK;
    resp_status(out, row->run != NULL ? "loading" : writes ? "write" : "readonly");
    resp_status(out, "fast");
}

static void reply_command(const command *row, resp_out *out) {
    bool has_key = row->shape == SHAPE_INTEGER || row->shape == SHAPE_TEXT;
    resp_array(out, 10);
    resp_text(out, row->name);
    resp_integer(out, row->arity);
    reply_flags(row, out);
    for (int i = 0; i < 3; i++) { /* the first key, the last one, and how far apart */
        resp_integer(out, has_key);
    }
    resp_set(out, 1);
    resp_status(out, row->role == ROLE_ADMIN ? "@admin" : "@fast");
    for (int i = 0; i < 3; i++) { /* hints, more about keys, subcommands */
        resp_array(out, 0);
    }
}

/* All that follows the name is one argument in the eyes of redis-cli, which shows it as it is. */
static void reply_document(const command *row, resp_out *out) {
    bool has_arguments = row->arguments[0] != '\0';
    resp_text(out, row->name);
    resp_map(out, has_arguments ? 4 : 3);
    resp_text(out, "summary");
    resp_text(out, row->text);
    resp_text(out, "since");
    resp_text(out, FIRN_VERSION);
    resp_text(out, "group");
    resp_text(out, row->group);
    if (has_arguments) {
        resp_text(out, "arguments");
        resp_array(out, 1);
        resp_map(out, 2);
        resp_text(out, "name");
        resp_text(out, row->arguments);
        resp_text(out, "type");
        resp_text(out, "string");
    }
}

static void reply_documents(const resp_command *said, resp_out *out) {
    size_t known = 0;
    for (size_t i = 2; i < said->count; i++) {
        known += command_find(said->words[i]) != NULL;
    }
    resp_map(out, said->count > 2 ? known : COUNT_OF(commands));
    for (size_t i = 0; said->count == 2 && i < COUNT_OF(commands); i++) {
        reply_document(&commands[i], out);
    }
    for (size_t i = 2; i < said->count; i++) {
        const command *row = command_find(said->words[i]);
        if (row != NULL) {
            reply_document(row, out);
        }
    }
}

static void reply_some_commands(const resp_command *said, resp_out *out) {
    resp_array(out, said->count - 2);
    for (size_t i = 2; i < said->count; i++) {
        const command *row = command_find(said->words[i]);
        if (row != NULL) {
            reply_command(row, out);
        } else {
            resp_null(out);
        }
    }
}

static enum outcome run_command(client *it, const resp_command *said, resp_out *out) {
    (void)it;
    word what = said->count > 1 ? said->words[1] : (word){"info", 4};
    if (said->count == 2 && word_is(what, "count")) {
        resp_integer(out, (int64_t)COUNT_OF(commands));
    } else if (said->count == 2 && word_is(what, "list")) {
        resp_array(out, COUNT_OF(commands));
        for (size_t i = 0; i < COUNT_OF(commands); i++) {
            resp_text(out, commands[i].name);
        }
    } else if (word_is(what, "docs")) {
        reply_documents(said, out);
    } else if (said->count > 2 && word_is(what, "info")) {
        reply_some_commands(said, out);
    } else if (word_is(what, "info")) {
        resp_array(out, COUNT_OF(commands));
        for (size_t i = 0; i < COUNT_OF(commands); i++) {
            reply_command(&commands[i], out);
        }
    } else {
        return refuse_word(out, "unknown subcommand ", what, ": COMMAND COUNT, LIST, INFO or DOCS");
    }
    return COMMAND_DONE;
}

/* ---- the server ------------------------------------------------------------------------------ */

/* What clients ask for before they begin, in Redis's names. */
#define PATTERN_MAX  64
#define CONFIG_COUNT 6

static enum outcome run_config(client *it, const resp_command *said, resp_out *out) {
    (void)it;
    char connections[24], idle[24], pattern[PATTERN_MAX];
    const char *const rows[CONFIG_COUNT][2] = {
        {"save", ""},      {"appendonly", "no"}, {"databases", "1"}, {"maxclients", connections},
        {"timeout", idle}, {"maxmemory", "0"},
    };
    bool is_asked[CONFIG_COUNT] = {false};
    size_t count = 0;
    if (!word_is(said->words[1], "get") || said->count < 3) {
        return refuse(out, "CONFIG GET pattern... only: settings come from firn.ini, and SIGHUP "
                           "reads it again");
    }
    snprintf(connections, sizeof connections, "%" PRId64, settings_now()->max_connections);
    snprintf(idle, sizeof idle, "%" PRId64, settings_now()->idle_s);
    for (size_t i = 2; i < said->count; i++) {
        for (size_t j = 0; word_copy(said->words[i], pattern, PATTERN_MAX) && j < CONFIG_COUNT;
             j++) {
            bool fits = fnmatch(pattern, rows[j][0], FNM_CASEFOLD) == 0;
            count += fits && !is_asked[j];
            is_asked[j] = is_asked[j] || fits;
        }
    }
    resp_map(out, count);
    for (size_t j = 0; j < CONFIG_COUNT; j++) {
        if (is_asked[j]) {
            resp_text(out, rows[j][0]);
            resp_text(out, rows[j][1]);
        }
    }
    return COMMAND_DONE;
}

static uint64_t load(const _Atomic uint64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Counters of all loops together; HTTP has its own in /metrics. */
typedef struct totals {
    int64_t open, waiting;
    uint64_t accepted, turned_away, requests, ids, received, sent, parked;
} totals;

static totals total_of_loops(void) {
    totals sum = {0};
    const worker *at;
    for (int i = 0; (at = worker_at(i)) != NULL; i++) {
        const meter *m = &at->meter;
        if (at->http) {
            continue;
        }
        sum.open += atomic_load_explicit(&m->open, memory_order_relaxed);
        sum.waiting += atomic_load_explicit(&m->waiting, memory_order_relaxed);
        sum.accepted += load(&m->accepted);
        sum.turned_away += load(&m->turned_away);
        sum.ids += load(&m->ids);
        sum.received += load(&m->received);
        sum.sent += load(&m->sent);
        sum.parked += load(&m->parked);
        for (int kind = 0; kind < METER_KIND_COUNT; kind++) {
            sum.requests += load(&m->requests[kind]);
        }
    }
    return sum;
}

typedef void section_function(FILE *to, const totals *sum, const client *it);

static void write_server(FILE *to, const totals *sum, const client *it) {
    (void)sum;
    (void)it;
    /* The first line is for clients that decide by it which commands there are. */
    fprintf(to, "redis_version:7.0.0\r\nredis_mode:standalone\r\nfirn_version:%s\r\n",
            firn_version());
    fprintf(to, "process_id:%ld\r\nuptime_in_seconds:%" PRId64 "\r\n", (long)getpid(),
            server_uptime_s());
}

static void write_clients(FILE *to, const totals *sum, const client *it) {
    (void)it;
    fprintf(to,
            "connected_clients:%" PRId64 "\r\nmaxclients:%" PRId64 "\r\nblocked_clients:%" PRId64
            "\r\n",
            sum->open, settings_now()->max_connections, sum->waiting);
}

/* What the process has in memory. */
static uint64_t resident_bytes(void) {
    unsigned long long size = 0, resident = 0;
    FILE *from = fopen("/proc/self/statm", "re");
    if (from != NULL) {
        if (fscanf(from, "%llu %llu", &size, &resident) != 2) {
            resident = 0;
        }
        fclose(from);
    }
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void write_memory(FILE *to, const totals *sum, const client *it) {
    (void)sum;
    (void)it;
    struct rusage usage = {0};
    uint64_t bytes = resident_bytes();
    getrusage(RUSAGE_SELF, &usage);
    fprintf(to,
            "used_memory:%" PRIu64 "\r\nused_memory_human:%.2fM\r\nused_memory_rss:%" PRIu64
            "\r\nused_memory_peak:%" PRIu64 "\r\nmaxmemory:0\r\n",
            bytes, (double)bytes / (1 << 20), bytes, (uint64_t)usage.ru_maxrss * 1024);
}

static void write_persistence(FILE *to, const totals *sum, const client *it) {
    (void)sum;
    (void)it;
    fputs("loading:0\r\nrdb_bgsave_in_progress:0\r\naof_enabled:0\r\naof_rewrite_in_progress:0\r\n",
          to);
}

static void write_stats(FILE *to, const totals *sum, const client *it) {
    (void)it;
    fprintf(to,
            "total_connections_received:%" PRIu64 "\r\ntotal_commands_processed:%" PRIu64
            "\r\ntotal_net_input_bytes:%" PRIu64 "\r\ntotal_net_output_bytes:%" PRIu64
            "\r\nrejected_connections:%" PRIu64 "\r\n",
            sum->accepted, sum->requests, sum->received, sum->sent, sum->turned_away);
}

static void write_replication(FILE *to, const totals *sum, const client *it) {
    (void)sum;
    (void)it;
    fputs("role:master\r\nconnected_slaves:0\r\n", to);
}

static void write_cpu(FILE *to, const totals *sum, const client *it) {
    (void)sum;
    (void)it;
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    fprintf(to, "used_cpu_sys:%lld.%06ld\r\nused_cpu_user:%lld.%06ld\r\n",
            (long long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec,
            (long long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec);
}

/* Keys are segments. */
static void write_keyspace(FILE *to, const totals *sum, const client *it) {
    size_t segments = 0;
    (void)sum;
    (void)it;
    while (catalog_segment_at(segments) != NULL) {
        segments++;
    }
    if (segments > 0) {
        fprintf(to, "db0:keys=%zu,expires=0,avg_ttl=0\r\n", segments);
    }
}

#define NAMES_TOLD 100 /* generators and segments each; /metrics has all */

static void write_firn(FILE *to, const totals *sum, const client *it) {
    size_t generators = 0, segments = 0;
    fprintf(to, "ids_issued:%" PRIu64 "\r\nrequests_parked:%" PRIu64 "\r\n", sum->ids, sum->parked);
    const generator *g;
    for (; (g = catalog_generator_at(generators)) != NULL; generators++) {
        if (it->role == ROLE_ADMIN && generators < NAMES_TOLD) {
            fprintf(to, "generator_%s:issued=%" PRIu64 ",error=%s\r\n", g->name,
                    generator_issued(g), firn_errname(atomic_load(&g->code)));
        }
    }
    const segment *s;
    for (; (s = catalog_segment_at(segments)) != NULL; segments++) {
        if (it->role == ROLE_ADMIN && segments < NAMES_TOLD) {
            fprintf(to, "segment_%s:issued=%" PRIu64 ",error=%s\r\n", s->name, segment_issued(s),
                    firn_errname(atomic_load(&s->code)));
        }
    }
    fprintf(to, "generators:%zu\r\nsegments:%zu\r\n", generators, segments);
}

static const struct {
    const char *name;
    section_function *write;
} sections[] = {{"Server", write_server}, {"Clients", write_clients},
                {"Memory", write_memory}, {"Persistence", write_persistence},
                {"Stats", write_stats},   {"Replication", write_replication},
                {"CPU", write_cpu},       {"Keyspace", write_keyspace},
                {"Firn", write_firn}};

static bool section_is_asked(const resp_command *said, const char *name) {
    bool is = said->count == 1;
    for (size_t i = 1; i < said->count; i++) {
        word one = said->words[i];
        is = is || word_is(one, name) || word_is(one, "all") || word_is(one, "default") ||
             word_is(one, "everything");
    }
    return is;
}

static enum outcome run_info(client *it, const resp_command *said, resp_out *out) {
    char *text = NULL;
    size_t length = 0;
    totals sum = total_of_loops();
    FILE *to = open_memstream(&text, &length);
    if (to == NULL) {
        resp_error(out, "OOM", "out of memory");
        return COMMAND_DONE;
    }
    for (size_t i = 0; i < COUNT_OF(sections); i++) {
        if (section_is_asked(said, sections[i].name)) {
            fprintf(to, "# %s\r\n", sections[i].name);
            sections[i].write(to, &sum, it);
            fputs("\r\n", to);
        }
    }
    if (fclose(to) == 0) {
        resp_page(out, text, length);
    } else {
        resp_error(out, "OOM", "out of memory");
    }
    free(text);
    return COMMAND_DONE;
}

/* ---- dispatch -------------------------------------------------------------------------------- */

/* A browser or a fetch() that was sent here: its first lines would be taken for inline commands,
 * and what its body holds for more of them. */
static bool is_http(const resp_command *said) {
    word last = said->words[said->count - 1];
    return said->is_inline &&
           (word_is(said->words[0], "post") || word_is(said->words[0], "host:") ||
            (last.length >= 5 && memcmp(last.text, "HTTP/", 5) == 0));
}

static enum outcome refuse_unknown(word name, resp_out *out) {
    for (size_t i = 0; i < COUNT_OF(instead); i++) {
        if (word_is(name, instead[i].name)) {
            char after[256];
            snprintf(after, sizeof after, ": %s", instead[i].text);
            return refuse_word(out, "unknown command ", name, after);
        }
    }
    return refuse_word(out, "unknown command ", name, ": COMMAND LIST tells which there are");
}

static enum outcome refuse_row(const client *it, const command *row, const resp_command *said,
                               resp_out *out) {
    if (it->role == ROLE_NOBODY && (row == NULL || row->role != ROLE_NOBODY)) {
        resp_error(out, "NOAUTH", "Authentication required: AUTH TOKEN");
        return COMMAND_DONE;
    }
    if (row == NULL) {
        return refuse_unknown(said->words[0], out);
    }
    if (row->role > it->role) {
        resp_error(out, "NOPERM", "this token may not run that command: an admin's may");
        return COMMAND_DONE;
    }
    if (row->arity < 0 ? said->count < (size_t)-row->arity : said->count != (size_t)row->arity) {
        char text[400];
        snprintf(text, sizeof text, "wrong number of arguments for '%s' command: %s", row->name,
                 row->arguments);
        return refuse(out, text);
    }
    if (it->batch.is_open && is_refused_in_batch(row)) {
        return refuse_word(out, "", said->words[0],
                           " is not for a batch: send EXEC or DISCARD first");
    }
    return COMMAND_ASK;
}

static enum outcome run_row(client *it, const resp_command *said, question *ask, resp_out *out) {
    const command *row = command_find(said->words[0]);
    enum outcome outcome = refuse_row(it, row, said, out);
    if (outcome != COMMAND_ASK) {
        it->batch.is_spoiled = it->batch.is_open;
        return outcome;
    }
    if (it->batch.is_open && !runs_at_once(row)) {
        bool fits =
            it->batch.count < BATCH_COMMANDS && said->size <= BATCH_BYTES - it->batch.length;
        it->batch.is_spoiled = it->batch.is_spoiled || !fits;
        return fits
                   ? COMMAND_QUEUE
                   : refuse(out, "a batch has at most 65536 commands and 1 MiB: send EXEC earlier");
    }
    return row->run != NULL ? row->run(it, said, out) : read_question(it, row, said, ask, out);
}

enum outcome command_run(client *it, const resp_command *said, question *ask, resp_out *out) {
    if (is_http(said)) {
        resp_error(out, "ERR", "this address is for clients of Redis: HTTP is served at another");
        return COMMAND_CLOSE;
    }
    size_t before = out->length;
    enum outcome outcome = run_row(it, said, ask, out);
    if (outcome != COMMAND_ASK && outcome != COMMAND_QUEUE && !out->failed) {
        meter_add(&it->worker->meter.requests[METER_OTHER], 1);
        meter_add(&it->worker->meter.refused[METER_OTHER],
                  out->length > before && out->text[before] == '-');
    }
    return outcome;
}
