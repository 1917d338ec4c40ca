/* SPDX-License-Identifier: MIT */
/* Shared by the files of the ZooKeeper store: the handle, calls of the library, records. */
#ifndef FIRN_ZOOKEEPER_H
#define FIRN_ZOOKEEPER_H

#include "module.h"
#include <firn/store.h>

#include <zookeeper/zookeeper.h>

#define ZK_ROOT_MOST   200  /* bytes of the path in the URL */
#define ZK_PATH_SIZE   1300 /* a root, an escaped namespace (3 * 255), an escaped key (3 * 63) */
#define ZK_RECORD_SIZE 900  /* numbers and a layout, or numbers and a note */
#define ZK_OPS_MOST    3
#define ZK_STORE_NAME  "%store" /* next to the namespaces; no namespace has such a name */

/* The paths of the znodes of the store, of a namespace and of one of its keys. */
typedef struct zookeeper_paths {
    char store[ZK_ROOT_MOST + 16], ns[ZK_PATH_SIZE], key[ZK_PATH_SIZE];
} zookeeper_paths;

/* The driver's part of the records: versions of the znodes. A version counts on one connection:
 * another one may reach another history, in which a znode with that version has another record. */
enum { OWN_CONNECTION, OWN_STORE, OWN_NS, OWN_KEY };

/* A request to the library and its answer. The library's thread may answer after the deadline: the
 * last of the two frees it. */
typedef struct zookeeper_call {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int holders;
    bool done;
    bool cut; /* a session that was connected and then was not */
    int code; /* of the library; for a session its state */
    char *data;
    int length;
    struct Stat stat;
    struct String_vector children;
    zoo_op_result_t results[ZK_OPS_MOST];
    struct Stat stats[ZK_OPS_MOST];
} zookeeper_call;

typedef struct zookeeper_store {
    module_link link;
    char root[ZK_ROOT_MOST + 2]; /* begins with a /, ends without one */
    char *login;                 /* user:password, or NULL */
    const char *no_host;         /* why no host's address was found, or NULL */
    zhandle_t *handle;           /* NULL: not connected */
    zookeeper_call *session;     /* what the handle's watcher reports */
    bool rooted;                 /* the root exists */
    int64_t newest;              /* the greatest zxid seen */
    bool suspect;                /* an answer contradicts what this handle knows */
    uint64_t connections;        /* made so far */
    char layout[FIRN_LAYOUT_SIZE], shut[FIRN_LAYOUT_SIZE], note[FIRN_NOTE_SIZE]; /* last read */
} zookeeper_store;

/* ---- calls of the library (zookeeper_call.c) ------------------------------------------------- */

/* Once per process: notices forks while connecting. */
void zk_watch_forks(void);
/* Starts a verb on a working connection. */
int zk_enter(void *self, firn_error *error);
/* Closes the connection, if there is one. `forked`: it is the parent's. */
void zk_hang_up(void *self, bool forked);
/* Forgets everything about the engine. */
void zk_forget(void *self);

/* A call with this many holders: the caller and, once it is queued, the library. NULL: out of
 * memory. */
zookeeper_call *zk_call(int holders);
void zk_leave(zookeeper_call *call); /* may be NULL */
/* Waits for the answer; `queued` is the library's result of the request. Returns its code. */
int zk_answer(zookeeper_store *store, zookeeper_call *call, int queued);
/* Makes `call`, which the caller leaves, sends the request that has it as its context, and waits for
 * the answer. */
#define ZK_ASK(store, call, request)                                                               \
    (((call) = zk_call(2)) != NULL ? zk_answer(store, call, request) : ZMARSHALLINGERROR)
/* Callbacks for data, for a stat, for children and for the rest, with a call as their context. */
void zk_on_data(int code, const char *value, int length, const struct Stat *stat, const void *data);
void zk_on_stat(int code, const struct Stat *stat, const void *data);
void zk_on_children(int code, const struct String_vector *strings, const void *data);
void zk_on_string(int code, const char *value, const void *data);
void zk_on_done(int code, const void *data);

/* Reports a code of the library. `sent`: a write was sent, so only a refusal proves that it was not
 * carried out. */
int zk_explain(const zookeeper_store *store, int code, bool sent, firn_error *error);

/* ---- records (zookeeper_record.c) ------------------------------------------------------------ */

void zk_name(const zookeeper_store *store, zookeeper_paths *out, const char *ns, const char *key);
/* False: not an escaped name of less than `size` bytes. */
bool zk_unescape(char *out, size_t size, const char *name);
int zk_not_ours(const zookeeper_store *store, const char *path, firn_error *error);

/* Later reads are at least as new as everything acknowledged before. Returns the library's code, as
 * the next two. */
int zk_synchronise(zookeeper_store *store);
/* Reads a znode into a call that the caller leaves (as it was: none). */
int zk_read(zookeeper_call **out, zookeeper_store *store, const char *path);
/* Makes the root and the znodes above it. */
int zk_make_root(zookeeper_store *store);
const struct ACL_vector *zk_rights(const zookeeper_store *store);
/* Reads the records; `fresh`: after zk_synchronise. */
int zk_look(zookeeper_store *store, firn_records *seen, bool fresh, firn_error *error);

#endif
