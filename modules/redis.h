/* SPDX-License-Identifier: MIT */
/* Shared by the files of the Redis store: the handle, its connection, its commands, plain
 * counters. */
#ifndef FIRN_REDIS_H
#define FIRN_REDIS_H

#include "module.h"
#include <firn/store.h>

#include <gnutls/gnutls.h>
#include <hiredis/hiredis.h>

#define REDIS_ARGUMENTS_MAX 200
#define REDIS_KEY_SIZE      (FIRN_NS_SIZE + 64)

/* A script, and its name for EVALSHA. */
typedef struct redis_script {
    const char *text;
    char sha[41];
} redis_script;

typedef struct redis_store {
    module_link link;
    module_tls tls;
    int64_t database, counters;
    const char *prefix;
    char index[64];                                /* the key of the set of namespaces */
    char own[REDIS_KEY_SIZE], all[REDIS_KEY_SIZE]; /* of the store's record, of FIRN_ALL_NAMES */
    redis_script read, write, add, count;
    char layout[FIRN_LAYOUT_SIZE], shut[FIRN_LAYOUT_SIZE], note[FIRN_NOTE_SIZE]; /* last read */
    gnutls_certificate_credentials_t trust; /* NULL without TLS */
    gnutls_session_t session;
    redisReader *reader;
    redisReplyObjectFunctions limited, unlimited; /* the reader's functions; hiredis's own */
} redis_store;

/* ---- bytes (redis_wire.c) -------------------------------------------------------------------- */

/* Connects to one of a host's addresses, with TLS if asked for. The caller hangs up on failure. */
int redis_dial(redis_store *store, const module_host *host, const struct addrinfo *address,
               int64_t deadline_ms, firn_error *error);
/* Makes the reader of a connection, with a limit for arrays. */
int redis_make_reader(redis_store *store, firn_error *error);
/* False sets errno. A command that is not complete is never carried out. */
bool redis_send(const redis_store *store, const char *buf, size_t length, int64_t deadline_ms);
/* Receives a reply, or NULL with errno. */
redisReply *redis_receive(const redis_store *store, int64_t deadline_ms);
/* False: none, or the server closed it, or sent something, while it was idle. */
bool redis_is_open(void *self);
/* Closes the connection, if there is one. `forked`: it is the parent's. */
void redis_hang_up(void *self, bool forked);
/* Loads the files of ca=, cert= and key=. */
int redis_trust(redis_store *store, firn_error *error);

/* ---- commands (redis_session.c) -------------------------------------------------------------- */

int redis_load_script(redis_script *out, const char *text, firn_error *error);
/* Sends a command that only reads, and reads its reply. */
int redis_ask(redis_store *store, redisReply **reply, int count, const char **arguments,
              firn_error *error);
/* Logs in to a host and checks the server. */
int redis_connect(void *self, size_t position, int64_t deadline_ms, firn_error *error);
/* Runs a script that returns texts, after module_ready. On FIRN_OK the caller frees the reply. */
int redis_evaluate(redis_store *store, redisReply **reply, const redis_script *script, int keys,
                   int count, const char **arguments, const module_points *points,
                   firn_error *error);
/* An error reply, which is freed: nothing was granted. The next verb connects again. */
int redis_refused(redis_store *store, redisReply *reply, firn_error *error);
int redis_failed(const redis_store *store, firn_error *error, const char *why);
bool redis_is_text(const redisReply *reply);
/* Has the reply that many texts, and the word as the first? */
bool redis_says(const redisReply *reply, const char *word, size_t elements);
bool redis_read_slot(int64_t *out, const redisReply *text);

/* ---- plain counters (redis_counter.c) -------------------------------------------------------- */

int redis_counter_take(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                       firn_error *error);
int redis_counter_list(redis_store *store, const char *ns, firn_visit *visit, void *context,
                       firn_error *error);

#endif
