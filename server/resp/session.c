/* SPDX-License-Identifier: MIT */
/* HELLO, AUTH, CLIENT and other commands about the connection, and the list of clients. */
#include "handlers.h"

#include "config/setting.h"
#include "core/server.h"
#include "core/text.h"
#include "net/guesses.h"

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

void client_enter(client *it) {
    pthread_mutex_lock(&clients_lock);
    list_add(clients.next, &it->place);
    pthread_mutex_unlock(&clients_lock);
}

void client_leave(client *it) {
    pthread_mutex_lock(&clients_lock);
    list_remove(&it->place);
    pthread_mutex_unlock(&clients_lock);
    batch_clear(&it->batch);
}

/* Keeps its failures: RESET does not allow more tries. */
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

enum outcome run_ping(client *it, const resp_command *said, resp_out *out) {
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

enum outcome run_echo(client *it, const resp_command *said, resp_out *out) {
    (void)it;
    resp_bulk(out, said->words[1].text, said->words[1].length);
    return COMMAND_DONE;
}

static enum outcome refuse_token(client *it, resp_out *out) {
    resp_error(out, "WRONGPASS", "unknown token");
    return ++it->failures >= FAILURES_MAX ? COMMAND_CLOSE : COMMAND_DONE;
}

/* COMMAND_ASK: authenticated. The first wrong tokens of an address are checked at once and refused
 * later; after several, each token waits before it is checked, so that parallel guesses take as
 * long. */
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
    pthread_mutex_lock(&clients_lock);
    enum role role = access_enter(&it->pass, token);
    it->role = role != ROLE_NOBODY ? role : it->role;
    pthread_mutex_unlock(&clients_lock);
    if (role != ROLE_NOBODY) {
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

enum outcome run_auth(client *it, const resp_command *said, resp_out *out) {
    if (said->count > 3) {
        return refuse(out, "syntax error: use AUTH [user] token");
    }
    enum outcome outcome = enter(it, said->words[said->count - 1], out);
    return outcome == COMMAND_ASK ? reply_ok(out) : outcome;
}

/* Printable, without blanks, because CLIENT INFO shows it. */
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

#define BAD_NAME "a client's name must have at most 63 printable characters without blanks"

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

enum outcome run_hello(client *it, const resp_command *said, resp_out *out) {
    int version = it->version;
    word token = {NULL, 0}, name = {NULL, 0};
    size_t i = 1;
    if (said->count > 1) {
        if (!word_is(said->words[i], "2") && !word_is(said->words[i], "3")) {
            resp_error(out, "NOPROTO", "unsupported protocol version: use 2 or 3");
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
                               ": use HELLO [2|3 [AUTH user token] [SETNAME name]]");
        }
    }
    enum outcome outcome = token.text != NULL ? enter(it, token, out) : COMMAND_ASK;
    if (outcome != COMMAND_ASK) {
        return outcome;
    }
    if (it->role == ROLE_NOBODY) {
        resp_error(out, "NOAUTH",
                   "HELLO must be called with the client already authenticated: use HELLO 3 AUTH "
                   "default TOKEN");
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

enum outcome run_select(client *it, const resp_command *said, resp_out *out) {
    (void)it;
    return word_is(said->words[1], "0") ? reply_ok(out)
                                        : refuse(out, "DB index is out of range: use 0");
}

enum outcome run_quit(client *it, const resp_command *said, resp_out *out) {
    (void)it;
    (void)said;
    resp_status(out, "OK");
    return COMMAND_CLOSE;
}

enum outcome run_reset(client *it, const resp_command *said, resp_out *out) {
    (void)said;
    client_begin(it);
    out->version = it->version;
    resp_status(out, "RESET");
    return COMMAND_DONE;
}

/* Has every number that Redis clients parse; those that firn does not count are 0. Under
 * clients_lock. */
static void write_client(text_out *to, const client *it) {
    int64_t now_s = server_uptime_s(),
            idle_s = now_s - atomic_load_explicit(&it->heard_s, memory_order_seq_cst);
    const char *last = atomic_load_explicit(&it->last, memory_order_seq_cst);
    text_print(to,
               "id=%" PRIu64 " addr=%s laddr= fd=-1 name=%s age=%" PRId64 " idle=%" PRId64
               " flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 argv-mem=0"
               " multi-mem=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd=%s user=%s redir=-1"
               " resp=%d lib-name=%s lib-ver=%s token=%s ids=%" PRIu64 "\n",
               it->id, it->address, it->name, now_s - it->since_s, idle_s > 0 ? idle_s : 0,
               last != NULL ? last : "NULL",
               it->role == ROLE_ADMIN   ? "admin"
               : it->role == ROLE_ISSUE ? "issue"
                                        : "(none)",
               it->version, it->library, it->library_version,
               it->pass.account != NULL ? it->pass.account->name : "",
               atomic_load_explicit(&it->ids, memory_order_seq_cst));
}

/* One, or all (NULL). */
static enum outcome reply_clients(const client *only, resp_out *out) {
    text_out text = {0};
    if (only == NULL && refuse_large_page(out)) {
        return COMMAND_DONE;
    }
    pthread_mutex_lock(&clients_lock);
    if (only != NULL) {
        write_client(&text, only);
    }
    const list_link *at = only != NULL ? &clients : clients.next;
    for (size_t i = 0; i < CLIENTS_LISTED && at != &clients; i++, at = at->next) {
        write_client(&text, list_entry(at, client, place));
    }
    pthread_mutex_unlock(&clients_lock);
    return reply_page(&text, out);
}

static enum outcome client_list(const client *it, const resp_command *said, resp_out *out) {
    if (it->role != ROLE_ADMIN) {
        resp_error(out, "NOPERM",
                   "CLIENT LIST needs a token of role admin: use CLIENT INFO for this connection");
        return COMMAND_DONE;
    }
    if (said->count == 4 && word_is(said->words[2], "type") && word_is(said->words[3], "normal")) {
        return reply_clients(NULL, out);
    }
    return said->count == 2 ? reply_clients(NULL, out)
                            : refuse(out, "syntax error: use CLIENT LIST [TYPE normal]");
}

static enum outcome client_setinfo(client *it, const resp_command *said, resp_out *out) {
    char *to = word_is(said->words[2], "lib-name")  ? it->library
               : word_is(said->words[2], "lib-ver") ? it->library_version
                                                    : NULL;
    if (to == NULL) {
        return refuse_word(out, "Unrecognized option ", said->words[2],
                           ": use LIB-NAME or LIB-VER");
    }
    return set_name(to, said->words[3]) ? reply_ok(out) : refuse(out, BAD_NAME);
}

enum outcome run_client(client *it, const resp_command *said, resp_out *out) {
    word what = said->words[1];
    if (said->count == 2 && word_is(what, "id")) {
        resp_integer(out, (int64_t)it->id);
    } else if (said->count == 2 && word_is(what, "info")) {
        return reply_clients(it, out);
    } else if (word_is(what, "list")) {
        return client_list(it, said, out);
    } else if (said->count == 2 && word_is(what, "getname")) {
        if (it->name[0] == '\0') {
            resp_null(out);
        } else {
            resp_text(out, it->name);
        }
    } else if (said->count == 3 && word_is(what, "setname")) {
        return set_name(it->name, said->words[2]) ? reply_ok(out) : refuse(out, BAD_NAME);
    } else if (said->count == 4 && word_is(what, "setinfo")) {
        return client_setinfo(it, said, out);
    } else if (said->count == 3 && (word_is(what, "no-evict") || word_is(what, "no-touch"))) {
        return reply_ok(out); /* accepted without effect */
    } else {
        return refuse_word(
            out, "unknown subcommand or wrong number of arguments for ", what,
            ": use CLIENT ID, INFO, LIST, GETNAME, SETNAME, SETINFO, NO-EVICT or NO-TOUCH");
    }
    return COMMAND_DONE;
}
