/* SPDX-License-Identifier: MIT */
/* Commands of Redis clients and their replies. Those about the connection and the server are
 * answered here; the others become a request, which the listener answers. */
#ifndef FIRN_COMMANDS_H
#define FIRN_COMMANDS_H

#include "core/answer.h"
#include "core/text.h"
#include "net/addresses.h"
#include "net/list.h"
#include "resp.h"

#define CLIENT_NAME_SIZE 64

#define BATCH_BYTES    (1 << 20) /* between MULTI and EXEC */
#define BATCH_COMMANDS 65536

/* Commands that wait for EXEC, as bytes. */
typedef struct resp_batch {
    bool is_open, is_spoiled; /* spoiled: one was refused, so EXEC runs none */
    bool runs;                /* EXEC came: its bytes are read next */
    size_t count;
    int64_t since_ms; /* CLOCK_MONOTONIC; of MULTI */
    text_out bytes;   /* its room is counted in memory.h */
} resp_batch;

/* A token without an answer yet. */
enum guess {
    GUESS_NONE,
    GUESS_WAITS, /* not checked yet */
    GUESS_WRONG  /* wrong; the refusal is delayed */
};

/* The other end of a connection. Changed by its own thread; what CLIENT LIST shows, under
 * clients_lock. */
typedef struct resp_client {
    uint64_t id; /* unique while the server runs */
    server_worker *worker;
    enum role role;
    access_pass pass;  /* of the role */
    int version;       /* of the protocol, 2 or 3 */
    unsigned failures; /* consecutive wrong tokens */
    enum guess guess;
    int64_t penalty_ms; /* of COMMAND_PENALTY */
    address_key key;
    int64_t since_s; /* of server_uptime_s */
    char address[64];
    char name[CLIENT_NAME_SIZE], library[CLIENT_NAME_SIZE], library_version[CLIENT_NAME_SIZE];
    _Atomic int64_t heard_s;  /* server_uptime_s of its last bytes */
    const char *_Atomic last; /* name of its last command; NULL: none */
    _Atomic uint64_t ids;     /* IDs and integers that it got */
    resp_batch batch;
    list_link place; /* in the list of clients */
} resp_client;

/* A new client, or one that sent RESET. */
void client_begin(resp_client *client);
/* Lists it for other threads, until client_leave, which frees its batch. */
void client_enter(resp_client *client);
void client_leave(resp_client *client);
void batch_clear(resp_batch *batch);
/* Queues a command's bytes for EXEC. False: no memory is left, also in clients_mib; EXEC will
 * fail. */
bool batch_add(resp_batch *batch, const char *bytes, size_t length);
/* The same without a limit. False: out of memory. */
bool batch_keep(resp_batch *batch, const char *bytes, size_t length);
/* Computes its role again if the tokens have changed. */
void client_renew(resp_client *client);

enum reply_shape { SHAPE_INTEGER, SHAPE_TEXT, SHAPE_ID, SHAPE_OBJECT };

/* A request and the shape of its reply. */
typedef struct client_question {
    server_request request;
    const char *command; /* its name */
    enum reply_shape shape;
    bool is_many; /* has COUNT: reply with an array */
} client_question;

enum outcome {
    COMMAND_DONE,    /* the reply is written */
    COMMAND_ASK,     /* request_answer is next */
    COMMAND_CLOSE,   /* the reply is written; close afterwards */
    COMMAND_PENALTY, /* run the same command again after penalty_ms */
    COMMAND_QUEUE,   /* queue it with batch_keep, then reply */
};

/* Runs a command of at least one word. */
enum outcome command_run(resp_client *client, const resp_command *command, client_question *ask,
                         resp_out *out);
/* Writes the reply, also for several equal questions, and releases its JSON. */
void command_reply(const client_question *ask, server_reply *answer, resp_out *out);
/* Writes IDs of a reply, or of a part of it, without the head of their array. */
void command_reply_ids(const client_question *ask, const server_reply *answer, resp_out *out);
/* Writes an error with the first word that Redis clients expect. */
void command_refuse(const firn_error *error, resp_out *out);

#endif
