/* SPDX-License-Identifier: MIT */
/* HELLO, AUTH, CLIENT and other commands about the connection, and the list of clients. */
#include "handlers.h"

#include "core/server.h"
#include "core/text.h"
#include "net/guesses.h"
#include "settings/setting.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* consecutive wrong tokens before the connection is closed */
#define FAILURES_MAX   3
#define CLIENTS_LISTED 65536
#define PENALTY_MS     500 /* delay of the answer to a wrong token */

static pthread_mutex_t clients_lock = PTHREAD_MUTEX_INITIALIZER;
static list_link clients = {&clients, &clients}; /* connected ones, newest first */

void client_enter(resp_client *client) {
    pthread_mutex_lock(&clients_lock);
    list_add(clients.next, &client->place);
    pthread_mutex_unlock(&clients_lock);
}

void client_leave(resp_client *client) {
    pthread_mutex_lock(&clients_lock);
    list_remove(&client->place);
    pthread_mutex_unlock(&clients_lock);
    batch_clear(&client->batch);
}

/* Keeps its failures: RESET does not allow more tries. */
void client_begin(resp_client *client) {
    batch_clear(&client->batch);
    pthread_mutex_lock(&clients_lock);
    client->role = access_begin(&client->pass);
    client->version = 2;
    client->name[0] = client->library[0] = client->library_version[0] = '\0';
    pthread_mutex_unlock(&clients_lock);
}

void client_renew(resp_client *client) {
    if (client->pass.load != access_load_count()) {
        pthread_mutex_lock(&clients_lock);
        client->role = access_again(&client->pass);
        pthread_mutex_unlock(&clients_lock);
    }
}

enum outcome run_ping(resp_client *client, const resp_command *command, resp_out *out) {
    (void)client;
    if (command->count > 2) {
        return refuse(out, "wrong number of arguments for 'ping' command");
    }
    if (command->count == 2) {
        resp_bulk(out, command->words[1].text, command->words[1].length);
    } else {
        resp_status(out, "PONG");
    }
    return COMMAND_DONE;
}

enum outcome run_echo(resp_client *client, const resp_command *command, resp_out *out) {
    (void)client;
    resp_bulk(out, command->words[1].text, command->words[1].length);
    return COMMAND_DONE;
}

static enum outcome refuse_token(resp_client *client, resp_out *out) {
    resp_error(out, "WRONGPASS", "unknown token");
    return ++client->failures >= FAILURES_MAX ? COMMAND_CLOSE : COMMAND_DONE;
}

/* COMMAND_ASK: authenticated. The first wrong tokens of an address are checked at once and refused
 * later; after several, each token waits before it is checked, so that parallel guesses take as
 * long. */
static enum outcome enter(resp_client *client, word token, resp_out *out) {
    enum guess guess = client->guess;
    client->guess = GUESS_NONE;
    if (!access_is_closed()) {
        return refuse(out, "AUTH called without any password configured: leave it out");
    }
    if (guess == GUESS_WRONG) {
        return refuse_token(client, out);
    }
    client->penalty_ms = guess == GUESS_NONE ? guess_delay_ms(client->key) : 0;
    if (client->penalty_ms > 0) {
        client->guess = GUESS_WAITS;
        return COMMAND_PENALTY;
    }
    pthread_mutex_lock(&clients_lock);
    enum role role = access_enter(&client->pass, token);
    client->role = role != ROLE_NOBODY ? role : client->role;
    pthread_mutex_unlock(&clients_lock);
    if (role != ROLE_NOBODY) {
        client->failures = 0;
        return COMMAND_ASK;
    }
    guess_note(client->key, client->worker, guess == GUESS_WAITS);
    if (guess == GUESS_WAITS) {
        return refuse_token(client, out);
    }
    client->guess = GUESS_WRONG;
    client->penalty_ms = PENALTY_MS;
    return COMMAND_PENALTY;
}

enum outcome run_auth(resp_client *client, const resp_command *command, resp_out *out) {
    if (command->count > 3) {
        return refuse(out, "syntax error: use AUTH [user] token");
    }
    enum outcome outcome = enter(client, command->words[command->count - 1], out);
    return outcome == COMMAND_ASK ? reply_ok(out) : outcome;
}

/* Printable, without blanks, because CLIENT INFO shows it. */
static bool set_name(char name[CLIENT_NAME_SIZE], word text) {
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] < '!' || text.text[i] > '~') {
            return false;
        }
    }
    pthread_mutex_lock(&clients_lock);
    bool fits = word_copy(text, name, CLIENT_NAME_SIZE);
    pthread_mutex_unlock(&clients_lock);
    return fits;
}

#define BAD_NAME "a client's name must have at most 63 printable characters without blanks"

static void reply_hello(const resp_client *client, resp_out *out) {
    resp_map(out, 7);
    resp_text(out, "server");
    resp_text(out, "firn");
    resp_text(out, "version");
    resp_text(out, FIRN_VERSION);
    resp_text(out, "proto");
    resp_integer(out, client->version);
    resp_text(out, "id");
    resp_integer(out, (int64_t)client->id);
    resp_text(out, "mode");
    resp_text(out, "standalone");
    resp_text(out, "role");
    resp_text(out, "master");
    resp_text(out, "modules");
    resp_array(out, 0);
}

enum outcome run_hello(resp_client *client, const resp_command *command, resp_out *out) {
    int version = client->version;
    word token = {NULL, 0}, name = {NULL, 0};
    size_t i = 1;
    if (command->count > 1) {
        if (!word_is(command->words[i], "2") && !word_is(command->words[i], "3")) {
            resp_error(out, "NOPROTO", "unsupported protocol version: use 2 or 3");
            return COMMAND_DONE;
        }
        version = command->words[i++].text[0] - '0';
    }
    for (; i < command->count; i++) {
        if (word_is(command->words[i], "auth") && i + 2 < command->count) {
            token = command->words[i += 2];
        } else if (word_is(command->words[i], "setname") && i + 1 < command->count) {
            name = command->words[++i];
        } else {
            return refuse_word(out, "syntax error in HELLO option ", command->words[i],
                               ": use HELLO [2|3 [AUTH user token] [SETNAME name]]");
        }
    }
    enum outcome outcome = token.text != NULL ? enter(client, token, out) : COMMAND_ASK;
    if (outcome != COMMAND_ASK) {
        return outcome;
    }
    if (client->role == ROLE_NOBODY) {
        resp_error(out, "NOAUTH",
                   "HELLO must be called with the client already authenticated: use HELLO 3 AUTH "
                   "default TOKEN");
        return COMMAND_DONE;
    }
    if (name.text != NULL && !set_name(client->name, name)) {
        return refuse(out, BAD_NAME);
    }
    pthread_mutex_lock(&clients_lock);
    client->version = out->version = version;
    pthread_mutex_unlock(&clients_lock);
    reply_hello(client, out);
    return COMMAND_DONE;
}

enum outcome run_select(resp_client *client, const resp_command *command, resp_out *out) {
    (void)client;
    return word_is(command->words[1], "0") ? reply_ok(out)
                                           : refuse(out, "DB index is out of range: use 0");
}

enum outcome run_quit(resp_client *client, const resp_command *command, resp_out *out) {
    (void)client;
    (void)command;
    resp_status(out, "OK");
    return COMMAND_CLOSE;
}

enum outcome run_reset(resp_client *client, const resp_command *command, resp_out *out) {
    (void)command;
    client_begin(client);
    out->version = client->version;
    resp_status(out, "RESET");
    return COMMAND_DONE;
}

/* Has every number that Redis clients parse; those that firn does not count are 0. Under
 * clients_lock. */
static void write_client(text_out *out, const resp_client *client) {
    int64_t now_s = server_uptime_s(),
            idle_s = now_s - atomic_load_explicit(&client->heard_s, memory_order_seq_cst);
    const char *last = atomic_load_explicit(&client->last, memory_order_seq_cst);
    text_print(out,
               "id=%" PRIu64 " addr=%s laddr= fd=-1 name=%s age=%" PRId64 " idle=%" PRId64
               " flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 argv-mem=0"
               " multi-mem=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd=%s user=%s redir=-1"
               " resp=%d lib-name=%s lib-ver=%s token=%s ids=%" PRIu64 "\n",
               client->id, client->address, client->name, now_s - client->since_s,
               idle_s > 0 ? idle_s : 0, last != NULL ? last : "NULL",
               client->role == ROLE_ADMIN   ? "admin"
               : client->role == ROLE_ISSUE ? "issue"
                                            : "(none)",
               client->version, client->library, client->library_version,
               client->pass.account != NULL ? client->pass.account->name : "",
               atomic_load_explicit(&client->ids, memory_order_seq_cst));
}

/* One, or all (NULL). */
static enum outcome reply_clients(const resp_client *only, resp_out *out) {
    text_out text = {0};
    if (only == NULL && refuse_large_page(out)) {
        return COMMAND_DONE;
    }
    pthread_mutex_lock(&clients_lock);
    if (only != NULL) {
        write_client(&text, only);
    }
    const list_link *link = only != NULL ? &clients : clients.next;
    for (size_t i = 0; i < CLIENTS_LISTED && link != &clients; i++, link = link->next) {
        write_client(&text, list_entry(link, resp_client, place));
    }
    pthread_mutex_unlock(&clients_lock);
    return reply_page(&text, out);
}

static enum outcome client_list(const resp_client *client, const resp_command *command,
                                resp_out *out) {
    if (client->role != ROLE_ADMIN) {
        resp_error(out, "NOPERM",
                   "CLIENT LIST needs a token of role admin: use CLIENT INFO for this connection");
        return COMMAND_DONE;
    }
    if (command->count == 4 && word_is(command->words[2], "type") &&
        word_is(command->words[3], "normal")) {
        return reply_clients(NULL, out);
    }
    return command->count == 2 ? reply_clients(NULL, out)
                               : refuse(out, "syntax error: use CLIENT LIST [TYPE normal]");
}

static enum outcome client_setinfo(resp_client *client, const resp_command *command,
                                   resp_out *out) {
    char *target = word_is(command->words[2], "lib-name")  ? client->library
                   : word_is(command->words[2], "lib-ver") ? client->library_version
                                                           : NULL;
    if (target == NULL) {
        return refuse_word(out, "Unrecognized option ", command->words[2],
                           ": use LIB-NAME or LIB-VER");
    }
    return set_name(target, command->words[3]) ? reply_ok(out) : refuse(out, BAD_NAME);
}

enum outcome run_client(resp_client *client, const resp_command *command, resp_out *out) {
    word text = command->words[1];
    if (command->count == 2 && word_is(text, "id")) {
        resp_integer(out, (int64_t)client->id);
    } else if (command->count == 2 && word_is(text, "info")) {
        return reply_clients(client, out);
    } else if (word_is(text, "list")) {
        return client_list(client, command, out);
    } else if (command->count == 2 && word_is(text, "getname")) {
        if (client->name[0] == '\0') {
            resp_null(out);
        } else {
            resp_text(out, client->name);
        }
    } else if (command->count == 3 && word_is(text, "setname")) {
        return set_name(client->name, command->words[2]) ? reply_ok(out) : refuse(out, BAD_NAME);
    } else if (command->count == 4 && word_is(text, "setinfo")) {
        return client_setinfo(client, command, out);
    } else if (command->count == 3 && (word_is(text, "no-evict") || word_is(text, "no-touch"))) {
        return reply_ok(out); /* accepted without effect */
    } else {
        return refuse_word(
            out, "unknown subcommand or wrong number of arguments for ", text,
            ": use CLIENT ID, INFO, LIST, GETNAME, SETNAME, SETINFO, NO-EVICT or NO-TOUCH");
    }
    return COMMAND_DONE;
}
