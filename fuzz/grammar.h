/* SPDX-License-Identifier: MIT */
/* Valid requests for serve_fuzz.c, from the server's own lists: commands.def, routes.def, the
 * schemes, the forms and the names of parameters. Bytes alone hardly ever become a command with a
 * parameter that means something. A mutation adds a command, changes a word of one, or makes a
 * request of HTTP; the rest of the mutations are libFuzzer's. */
#ifndef FIRN_FUZZ_GRAMMAR_H
#define FIRN_FUZZ_GRAMMAR_H

#include "resp/resp.h"

#include <firn/firn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static uint64_t chance_state;

/* 0 .. most - 1 */
static size_t chance(size_t most) {
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return (size_t)(chance_state >> 11) % most;
}

/* ---- the lists ------------------------------------------------------------------------------- */

#define PICK(list) list[chance(sizeof list / sizeof *list)]

static const struct {
    const char *name;
    int arity;
} known_commands[] = {
#define COMMAND(name, arity, role, group, function, arguments, text) {name, arity},
#define ASK(name, arity, role, verb, positions, as, arguments, text) {name, arity},
#include "resp/commands.def"
};

static const char *const known_paths[] = {
#define ASK(path, verb, methods, write, fail) path,
#define PAGE(path, role, make)                path,
#include "http/routes.def"
};

static const char *known_name(void) {
    static const char *const names[] = {"orders", "users", "bills", "uuid7", "snowflake", "uuid5"};
    size_t schemes = 0;
    while (firn_scheme_at(schemes) != NULL) {
        schemes++;
    }
    return chance(3) > 0 ? PICK(names) : firn_scheme_at(chance(schemes))->name;
}

static const char *known_parameter(void) {
    static const char *const names[] = {"count",     "COUNT", "n",      "N",          "time",
                                        "TIME",      "tick",  "as",     "AS",         "prefix",
                                        "namespace", "name",  "scheme", "from",       "to",
                                        "epoch",     "bits",  "digits", "all",        "shards",
                                        "format",    "node",  "worker", "datacenter", "sequence"};
    return PICK(names);
}

static const char *known_value(void) {
    static const char *const values[] = {"0",
                                         "1",
                                         "2",
                                         "3",
                                         "65",
                                         "8193",
                                         "65536",
                                         "-1",
                                         "x",
                                         "",
                                         "2024-01-01T00:00:00Z",
                                         "2024-03-01",
                                         "@1700000000",
                                         "dns",
                                         "user",
                                         "text",
                                         "json",
                                         "1541815603606036480",
                                         "0190163d-8694-739b-aea5-966c26f8ad91",
                                         "a=b",
                                         "ON"};
    return chance(4) > 0   ? PICK(values)
           : chance(2) > 0 ? firn_form_name((int)chance(12))
                           : known_name();
}

static const char *known_word(void) {
    static const char *const words[] = {"info", "list", "docs", "setname", "2", "3", "get", "0"};
    const char *text = chance(3) > 0   ? known_value()
                       : chance(2) > 0 ? known_parameter()
                       : chance(2) > 0 ? PICK(words)
                                       : PICK(known_commands).name;
    return text != NULL ? text : "";
}

/* ---- RESP ------------------------------------------------------------------------------------ */

typedef struct command_draft {
    char *at;
    size_t length, room;
} command_draft;

static void put(command_draft *draft, const char *text, size_t length) {
    if (draft->room - draft->length >= length) {
        memcpy(draft->at + draft->length, text, length);
        draft->length += length;
    }
}

static void put_text(command_draft *draft, const char *text) {
    put(draft, text, strlen(text));
}

/* All of it, or nothing. */
static void put_command(command_draft *draft, const word *words, size_t count) {
    size_t before = draft->length, size = 0;
    char head[32];
    for (size_t i = 0; i <= count; i++) {
        snprintf(head, sizeof head, i == 0 ? "*%zu\r\n" : "$%zu\r\n",
                 i == 0 ? count : words[i - 1].length);
        size += strlen(head) + (i == 0 ? 0 : words[i - 1].length + 2);
        put_text(draft, head);
        if (i > 0) {
            put(draft, words[i - 1].text, words[i - 1].length);
            put_text(draft, "\r\n");
        }
    }
    draft->length = draft->length - before == size ? draft->length : before;
}

/* A command with as many words as it needs, then pairs. */
static void put_new_command(command_draft *draft) {
    word words[16];
    size_t row = chance(sizeof known_commands / sizeof *known_commands), count = 0;
    int arity = known_commands[row].arity;
    words[count++] = word_of(known_commands[row].name);
    for (int i = 1; i < (arity < 0 ? -arity : arity); i++) {
        words[count++] = word_of(i == 1 ? known_name() : known_word());
    }
    for (size_t i = arity < 0 ? chance(4) : 0; i > 0; i--) {
        words[count++] = word_of(chance(8) > 0 ? known_parameter() : known_word());
        words[count++] = word_of(chance(8) > 0 ? known_value() : known_word());
    }
    put_command(draft, words, count);
}

/* The commands of `bytes` with one word changed, added or removed, and perhaps another command. */
static void put_changed(command_draft *draft, const char *bytes, size_t size) {
    static resp_command command;
    size_t place = chance(4);
    for (size_t position = 0, i = 0; position < size; position += command.size, i++) {
        if (resp_read(&command, bytes + position, size - position, &resp_limits_client) !=
            RESP_COMMAND) {
            break;
        }
        if (i == place && command.count > 0 && command.count < RESP_WORDS_MAX) {
            size_t j = chance(command.count);
            switch (chance(3)) {
            case 0:
                command.words[command.count++] = word_of(known_word());
                break;
            case 1:
                command.count--;
                break;
            default:
                command.words[j] = word_of(known_word());
            }
        }
        put_command(draft, command.words, command.count);
    }
    put_new_command(draft);
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

static void put_pairs(command_draft *draft, size_t count, const char *between) {
    for (size_t i = 0; i < count; i++) {
        const char *value = known_value();
        put_text(draft, i > 0 ? between : "");
        put_text(draft, known_parameter());
        put_text(draft, "=");
        put_text(draft, value != NULL ? value : "");
    }
}

static void put_request(command_draft *draft) {
    static const char *const headers[] = {
        "Accept: application/json",          "Accept: text/plain",
        "Accept: */*;q=0.1, text/plain;q=1", "Content-Type: application/x-www-form-urlencoded",
        "Origin: http://localhost",          "Sec-Fetch-Site: cross-site",
        "Authorization: Bearer x",           "Accept-Encoding: gzip"};
    static const char *const methods[] = {"GET", "POST", "HEAD", "OPTIONS", "PUT"};
    const char *path = PICK(known_paths), *name = strstr(path, "{name}");
    bool posts = chance(3) == 0, object = chance(2) == 0;
    put_text(draft, posts ? "POST" : PICK(methods));
    put_text(draft, " ");
    put(draft, path, name != NULL ? (size_t)(name - path) : strlen(path));
    if (name != NULL) {
        put_text(draft, known_name());
        put_text(draft, name + strlen("{name}"));
    }
    size_t pairs = chance(4);
    put_text(draft, pairs > 0 ? "?" : "");
    put_pairs(draft, pairs, "&");
    for (size_t i = chance(3); i > 0; i--) {
        put_text(draft, "\n");
        put_text(draft, PICK(headers));
    }
    if (posts && object) {
        const char *value = known_value();
        put_text(draft, "\nContent-Type: application/json\n\n{\"");
        put_text(draft, known_parameter());
        put_text(draft, "\": \"");
        put_text(draft, value != NULL ? value : "");
        put_text(draft, "\"}");
    } else if (posts) {
        put_text(draft, "\n\n");
        put_pairs(draft, 1 + chance(3), "&");
    }
}

/* ---- the mutation ---------------------------------------------------------------------------- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed) {
    char text[4096];
    command_draft made = {text, 0, room < sizeof text ? room : sizeof text};
    chance_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (chance(4) == 0) {
        return LLVMFuzzerMutate(data, size, room);
    }
    if (size > 0 && data[0] == '*' && chance(4) > 0) {
        put_changed(&made, (const char *)data, size);
    } else if (chance(2) == 0) {
        put_request(&made);
    } else {
        for (size_t i = chance(3) + 1; i > 0; i--) {
            put_new_command(&made);
        }
    }
    if (made.length == 0) {
        return LLVMFuzzerMutate(data, size, room);
    }
    memcpy(data, text, made.length);
    return made.length;
}

#endif
