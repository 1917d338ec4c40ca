/* SPDX-License-Identifier: MIT */
/* The table of commands.def: replies, requests, COMMAND, and the dispatcher. */
#include "commands.h"

#include "connection.h"
#include "errors.h"
#include "handlers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct command_row command_row;

struct command_row {
    const char *name;
    int arity; /* as Redis counts: with the name; negative: "at least" */
    enum role role;
    const char *group;
    run_function *run; /* NULL: it becomes a request */
    enum verb verb;
    const char *positions; /* parameter names of the first words, separated by blanks */
    enum reply_shape shape;
    const char *arguments, *text;
};

static const command_row commands[] = {
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

static const command_row *command_find(word name) {
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        if (word_is(name, commands[i].name)) {
            return &commands[i];
        }
    }
    return NULL;
}

/* ---- replies that several commands share ---------------------------------------------------- */

bool refuse_large_page(resp_out *out) {
    const char *full = unsent_full();
    if (full != NULL) {
        resp_error(out, "TRYAGAIN", full);
    }
    return full != NULL;
}

enum outcome refuse_word(resp_out *out, const char *before, word value, const char *after) {
    char text[400];
    snprintf(text, sizeof text, "%s'%.*s'%s", before, (int)(value.length < 64 ? value.length : 64),
             value.text, after);
    resp_error(out, "ERR", text);
    return COMMAND_DONE;
}

enum outcome refuse(resp_out *out, const char *text) {
    resp_error(out, "ERR", text);
    return COMMAND_DONE;
}

enum outcome reply_ok(resp_out *out) {
    resp_status(out, "OK");
    return COMMAND_DONE;
}

enum outcome reply_page(text_out *text, resp_out *out) {
    if (text->failed) {
        resp_error(out, "OOM", "out of memory");
    } else {
        resp_page(out, text->length > 0 ? text->bytes : "", text->length);
    }
    free(text->bytes);
    return COMMAND_DONE;
}

/* ---- replies --------------------------------------------------------------------------------- */

/* Errors that stay until a person acts, apart from wrong commands. */
static bool is_own_word(int code) {
    return code == FIRN_EBACK || code == FIRN_ETAKEN || code == FIRN_EEND || code == FIRN_EFULL;
}

/* The first word tells Redis clients what to do: TRYAGAIN only if the same command can succeed
 * later without a person acting. */
void command_refuse(const firn_error *error, resp_out *out) {
    int code = error->code;
    firn_error told = *error;
    translate_error(&told, SURFACE_SERVER);
    resp_error(out,
               is_passing(code)       ? "TRYAGAIN"
               : is_own_word(code)    ? firn_errname(code)
               : code == FIRN_EMEMORY ? "OOM"
                                      : "ERR",
               told.text);
}

void command_reply_ids(const client_question *ask, const server_reply *answer, resp_out *out) {
    if (answer->kind == REPLY_NUMBERS) {
        resp_numbers(out, answer->numbers, answer->count, answer->is_signed);
        return;
    }
    for (size_t i = 0; i < answer->count; i++) {
        char *text = resp_begin(out, FIRN_TEXT_SIZE + sizeof ask->request.prefix);
        if (text == NULL) {
            return;
        }
        resp_end(out, text, reply_write_id(text, &ask->request, answer, i));
    }
}

static void reply_run(const server_reply *answer, resp_out *out) {
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

/* The table of schemes, as bytes of each version. */
static void reply_table(json_t *table, resp_out *out) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static resp_out kept[2];
    resp_out *result = &kept[out->version == 3];
    pthread_mutex_lock(&lock);
    if (result->length == 0) {
        result->version = out->version;
        resp_json(result, table);
    }
    if (result->failed) {
        resp_out_free(result);
    }
    pthread_mutex_unlock(&lock);
    if (result->length > 0) {
        resp_raw(out, result->text, result->length);
        out->whole++;
    } else {
        resp_json(out, table);
    }
}

void command_reply(const client_question *ask, server_reply *answer, resp_out *out) {
    bool has_ids = answer->kind == REPLY_NUMBERS || answer->kind == REPLY_IDS;
    if (has_ids && (ask->is_many || ask->shape == SHAPE_OBJECT)) {
        resp_array(out, answer->count);
    }
    switch (answer->kind) {
    case REPLY_NIL:
        resp_null(out);
        break;
    case REPLY_NUMBERS:
    case REPLY_IDS:
        command_reply_ids(ask, answer, out);
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
        if (answer->is_table) {
            reply_table(answer->json, out);
        } else {
            resp_json(out, answer->json);
        }
        json_decref(answer->json);
        answer->json = NULL;
        break;
    }
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Reads the words with fixed positions. Returns the index of the next word. */
static size_t read_positions(const command_row *entry, const resp_command *command,
                             server_request *request) {
    const char *position = entry->positions;
    size_t i = 1;
    for (; i < command->count && *position != '\0'; i++) {
        size_t length = strcspn(position, " ");
        word key = {position, length};
        if (word_is(key, "name")) {
            request->name = command->words[i];
        } else {
            request_add(request, key, command->words[i]);
        }
        position += length + (position[length] == ' ');
    }
    return i;
}

/* NAME VALUE, or NAME=VALUE in one word, as in the command line. */
static enum outcome read_pairs(const resp_command *command, size_t i, client_question *ask,
                               resp_out *out) {
    for (; i < command->count; i++) {
        word key = command->words[i], value;
        const char *equals = memchr(key.text, '=', key.length);
        if (equals != NULL) {
            value = (word){equals + 1, (size_t)(key.text + key.length - equals) - 1};
            key.length = (size_t)(equals - key.text);
        } else if (++i < command->count) {
            value = command->words[i];
        } else {
            return refuse_word(out, "", key, " has no value: use NAME VALUE or NAME=VALUE");
        }
        ask->is_many = ask->is_many || word_is(parameter_key(key), "count");
        if (!request_add(&ask->request, key, value)) {
            return refuse(out, "more than 16 parameters: send fewer");
        }
    }
    return COMMAND_ASK;
}

static enum outcome read_question(resp_client *client, const command_row *entry,
                                  const resp_command *command, client_question *ask,
                                  resp_out *out) {
    firn_error error;
    ask->request.worker = client->worker;
    ask->request.verb = entry->verb;
    ask->request.role = client->role;
    ask->request.name = (word){"", 0};
    ask->request.pair_count = 0;
    ask->command = entry->name;
    ask->shape = entry->shape;
    ask->is_many = false;
    enum outcome outcome =
        read_pairs(command, read_positions(entry, command, &ask->request), ask, out);
    if (outcome == COMMAND_ASK && request_read(&ask->request, &error) != FIRN_OK) {
        command_refuse(&error, out);
        outcome = COMMAND_DONE;
    }
    return outcome;
}

/* ---- commands about commands ----------------------------------------------------------------- */

static void reply_flags(const command_row *entry, resp_out *out) {
    resp_set(out, 2);
    bool writes = entry->verb == VERB_NEXT || entry->verb == VERB_NEW || entry->verb == VERB_RUNS ||
                  entry->verb == VERB_BLOCK || entry->verb == VERB_SERIES;
    resp_status(out, entry->run != NULL ? "loading" : writes ? "write" : "readonly");
    resp_status(out, "fast");
}

static void reply_command(const command_row *entry, resp_out *out) {
    bool has_key = entry->shape == SHAPE_INTEGER || entry->shape == SHAPE_TEXT;
    resp_array(out, 10);
    resp_text(out, entry->name);
    resp_integer(out, entry->arity);
    reply_flags(entry, out);
    for (int i = 0; i < 3; i++) { /* first key, last key, step */
        resp_integer(out, has_key);
    }
    resp_set(out, 1);
    resp_status(out, entry->role == ROLE_ADMIN ? "@admin" : "@fast");
    for (int i = 0; i < 3; i++) { /* hints, key specifications, subcommands */
        resp_array(out, 0);
    }
}

/* redis-cli shows the arguments as one. */
static void reply_document(const command_row *entry, resp_out *out) {
    bool has_arguments = entry->arguments[0] != '\0';
    resp_text(out, entry->name);
    resp_map(out, has_arguments ? 4 : 3);
    resp_text(out, "summary");
    resp_text(out, entry->text);
    resp_text(out, "since");
    resp_text(out, FIRN_VERSION);
    resp_text(out, "group");
    resp_text(out, entry->group);
    if (has_arguments) {
        resp_text(out, "arguments");
        resp_array(out, 1);
        resp_map(out, 2);
        resp_text(out, "name");
        resp_text(out, entry->arguments);
        resp_text(out, "type");
        resp_text(out, "string");
    }
}

static void reply_documents(const resp_command *command, resp_out *out) {
    size_t known = 0;
    for (size_t i = 2; i < command->count; i++) {
        known += command_find(command->words[i]) != NULL;
    }
    resp_map(out, command->count > 2 ? known : COUNT_OF(commands));
    for (size_t i = 0; command->count == 2 && i < COUNT_OF(commands); i++) {
        reply_document(&commands[i], out);
    }
    for (size_t i = 2; i < command->count; i++) {
        const command_row *entry = command_find(command->words[i]);
        if (entry != NULL) {
            reply_document(entry, out);
        }
    }
}

static void reply_some_commands(const resp_command *command, resp_out *out) {
    resp_array(out, command->count - 2);
    for (size_t i = 2; i < command->count; i++) {
        const command_row *entry = command_find(command->words[i]);
        if (entry != NULL) {
            reply_command(entry, out);
        } else {
            resp_null(out);
        }
    }
}

enum outcome run_command(resp_client *client, const resp_command *command, resp_out *out) {
    (void)client;
    word text = command->count > 1 ? command->words[1] : (word){"info", 4};
    if (command->count == 2 && word_is(text, "count")) {
        resp_integer(out, (int64_t)COUNT_OF(commands));
    } else if (command->count == 2 && word_is(text, "list")) {
        resp_array(out, COUNT_OF(commands));
        for (size_t i = 0; i < COUNT_OF(commands); i++) {
            resp_text(out, commands[i].name);
        }
    } else if (word_is(text, "docs")) {
        if (!refuse_large_page(out)) {
            reply_documents(command, out);
        }
    } else if (command->count > 2 && word_is(text, "info")) {
        reply_some_commands(command, out);
    } else if (word_is(text, "info")) {
        resp_array(out, COUNT_OF(commands));
        for (size_t i = 0; i < COUNT_OF(commands); i++) {
            reply_command(&commands[i], out);
        }
    } else {
        return refuse_word(out, "unknown subcommand ", text,
                           ": use COMMAND COUNT, LIST, INFO or DOCS");
    }
    return COMMAND_DONE;
}

/* ---- dispatch -------------------------------------------------------------------------------- */

/* Not queued within a batch. */
static bool runs_at_once(const command_row *entry) {
    return entry->run == run_exec || entry->run == run_discard || entry->run == run_quit ||
           entry->run == run_reset;
}

static bool is_refused_in_batch(const command_row *entry) {
    return entry->run == run_multi || entry->run == run_auth || entry->run == run_hello;
}

/* An HTTP client that reached this port: its header and body would be inline commands. */
static bool is_http(const resp_command *command) {
    word last = command->words[command->count - 1];
    return command->is_inline &&
           (word_is(command->words[0], "post") || word_is(command->words[0], "host:") ||
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
    return refuse_word(out, "unknown command ", name, ": COMMAND LIST lists the commands");
}

_Static_assert(RESP_WORDS_MAX == 40, "an error says so");

static enum outcome check_command(const resp_client *client, const command_row *entry,
                                  const resp_command *command, resp_out *out) {
    if (client->role == ROLE_NOBODY && (entry == NULL || entry->role != ROLE_NOBODY)) {
        resp_error(out, "NOAUTH", "Authentication required: use AUTH TOKEN");
        return COMMAND_DONE;
    }
    if (entry == NULL) {
        return refuse_unknown(command->words[0], out);
    }
    if (command->is_long) {
        return refuse(out, "a command has at most 40 words: send several commands");
    }
    if (entry->role > client->role) {
        resp_error(out, "NOPERM", "this command needs a token of role admin");
        return COMMAND_DONE;
    }
    if (entry->arity < 0 ? command->count < (size_t)-entry->arity
                         : command->count != (size_t)entry->arity) {
        char text[400];
        snprintf(text, sizeof text, "wrong number of arguments for '%s' command: %s", entry->name,
                 entry->arguments);
        return refuse(out, text);
    }
    if (client->batch.is_open && is_refused_in_batch(entry)) {
        return refuse_word(out, "", command->words[0],
                           " is not allowed in a batch: send EXEC or DISCARD first");
    }
    return COMMAND_ASK;
}

static enum outcome dispatch(resp_client *client, const resp_command *command, client_question *ask,
                             resp_out *out) {
    const command_row *entry = command_find(command->words[0]);
    enum outcome outcome = check_command(client, entry, command, out);
    if (outcome != COMMAND_ASK) {
        client->batch.is_spoiled = client->batch.is_open;
        return outcome;
    }
    if (client->batch.is_open && !runs_at_once(entry)) {
        bool fits = client->batch.count < BATCH_COMMANDS &&
                    command->size <= BATCH_BYTES - client->batch.bytes.length;
        client->batch.is_spoiled = client->batch.is_spoiled || !fits;
        return fits
                   ? COMMAND_QUEUE
                   : refuse(out, "a batch has at most 65536 commands and 1 MiB: send EXEC earlier");
    }
    if (entry->run != NULL) { /* else when it is answered */
        atomic_store_explicit(&client->last, entry->name, memory_order_relaxed);
    }
    return entry->run != NULL ? entry->run(client, command, out)
                              : read_question(client, entry, command, ask, out);
}

enum outcome command_run(resp_client *client, const resp_command *command, client_question *ask,
                         resp_out *out) {
    if (is_http(command)) {
        resp_error(out, "ERR",
                   "this listener speaks the Redis protocol: use the address of the HTTP listener");
        return COMMAND_CLOSE;
    }
    size_t before = out->length;
    enum outcome outcome = dispatch(client, command, ask, out);
    if (outcome != COMMAND_ASK && outcome != COMMAND_QUEUE && !out->failed) {
        meter_add(&client->worker->meter.requests[METER_OTHER], 1);
        meter_add(&client->worker->meter.refused[METER_OTHER],
                  out->length > before && out->text[before] == '-');
    }
    return outcome;
}
