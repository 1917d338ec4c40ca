/* SPDX-License-Identifier: MIT */
/* What Redis clients may say, and the replies to it. Commands about the connection and the server
 * are answered here; those that issue or read IDs become a request, which the listener answers. */
#ifndef FIRN_COMMANDS_H
#define FIRN_COMMANDS_H

#include "core/answer.h"
#include "net/addresses.h"
#include "resp.h"

#define CLIENT_NAME_SIZE 64

#define BATCH_BYTES    (1 << 20) /* of the commands between MULTI and EXEC */
#define BATCH_COMMANDS 65536

/* Commands that wait for EXEC, as they came. */
typedef struct batch {
    bool is_open, is_spoiled; /* spoiled: one of them was refused, so EXEC runs none */
    bool runs;                /* EXEC was said: its bytes are the next to be read */
    size_t count, length, room;
    char *bytes;
} batch;

/* A token that is not answered yet. */
enum guess {
    GUESS_NONE,
    GUESS_WAITS, /* nobody has looked whether it is right */
    GUESS_WRONG  /* it is not, and the client will hear so */
};

/* Who is at the other end. Its own thread changes it; what CLIENT LIST tells to other threads it
 * changes under clients_lock. */
typedef struct client {
    uint64_t id; /* never twice while the server runs */
    worker *worker;
    enum role role;
    access_pass pass;  /* of the role */
    int version;       /* of the protocol, 2 or 3 */
    unsigned failures; /* tokens in a row that were none */
    enum guess guess;
    int64_t penalty_ms; /* of COMMAND_PENALTY */
    address_key key;
    int64_t since_s; /* of server_uptime_s */
    char address[64];
    char name[CLIENT_NAME_SIZE], library[CLIENT_NAME_SIZE], library_version[CLIENT_NAME_SIZE];
    _Atomic int64_t heard_s; /* of server_uptime_s: when it last said something */
    batch batch;
    struct client *next, *previous; /* in the list of all */
} client;

/* As it is when it has just come, or said RESET. */
void client_begin(client *it);
/* From here to client_leave others may see it; leave frees its batch. */
void client_enter(client *it);
void client_leave(client *it);
void batch_clear(batch *it);
/* Keeps the bytes of a command for EXEC. False: there is no room, and EXEC will run nothing. */
bool batch_keep(batch *it, const char *bytes, size_t length);
/* Its role by the tokens in force now: one that is gone counts no more. */
void client_renew(client *it);

enum reply_shape { SHAPE_INTEGER, SHAPE_TEXT, SHAPE_ID, SHAPE_OBJECT };

/* A request and how its reply is to look. */
typedef struct question {
    request request;
    enum reply_shape shape;
    bool is_many; /* COUNT was said: an array, even of one */
} question;

enum outcome {
    COMMAND_DONE,    /* the reply is written */
    COMMAND_ASK,     /* request_answer is next */
    COMMAND_CLOSE,   /* the reply is written, and is the last one */
    COMMAND_PENALTY, /* the same command again after penalty_ms */
    COMMAND_QUEUE,   /* batch_keep is next, and then its reply */
};

/* Runs one command with at least one word. */
enum outcome command_run(client *it, const resp_command *said, question *ask, resp_out *out);
/* Writes the answer of a question, or of as many alike as it has IDs; lets go of its JSON. */
void command_reply(const question *ask, reply *answer, resp_out *out);
/* Writes an error of the list with the first word that Redis's clients know. */
void command_refuse(const request *asked, const firn_error *error, resp_out *out);

#endif
