/* SPDX-License-Identifier: MIT */
/* Shared by the files of the etcd store: the handle, requests, records and transactions. */
#ifndef FIRN_ETCD_H
#define FIRN_ETCD_H

#include "module.h"
#include <firn/store.h>

#include <assert.h>
#include <curl/curl.h>
#include <jansson.h>

#define ETCD_PREFIX_MOST 100 /* bytes */
#define ETCD_SOCKETS     8   /* libcurl uses one, and two while it tries a host's addresses */
#define ETCD_NAME_SIZE   (ETCD_PREFIX_MOST + FIRN_NS_SIZE + FIRN_KEY_SIZE + 16)
#define ETCD_RECORD_SIZE (FIRN_LAYOUT_SIZE + 100) /* of a namespace; a mark's is shorter */

#define ETCD_VOTERS_MOST 16

/* The IDs of voting members, in order; none: unknown. */
typedef struct voters {
    uint64_t ids[ETCD_VOTERS_MOST];
    size_t count;
} voters;

/* A key. It may contain zero bytes. */
typedef struct bytes {
    char text[ETCD_NAME_SIZE];
    size_t length;
} bytes;

/* The driver's part of the records. */
typedef struct etcd_records {
    int64_t store_revision, ns_revision, mark_revision; /* 0: no such record */
    uint64_t cluster, term;                             /* of the store's record */
    voters voters;                                      /* likewise */
} etcd_records;

static_assert(sizeof(etcd_records) <= sizeof((firn_records *)NULL)->own,
              "the driver's part has room");

static inline etcd_records etcd_own(const firn_records *records) {
    etcd_records out;
    memcpy(&out, records->own, sizeof out);
    return out;
}

typedef struct etcd_store {
    module_link link;
    module_tls tls;
    const char *prefix;
    bool
        greeted; /* the members are known, since the last connection, and this handle is logged in */
    voters voters;    /* that a member listed */
    char token[4096]; /* signed tokens are long */
    CURL *curl;
    int sockets[ETCD_SOCKETS], socket_count;
    size_t connected; /* the host of the open connection */
    int refusal;      /* etcd's code of the last failure, or -1 */
    int64_t date_s;   /* of the last answer; 0: unknown */
    char layout[FIRN_LAYOUT_SIZE], shut[FIRN_LAYOUT_SIZE], note[FIRN_NOTE_SIZE]; /* last read */
    uint64_t cluster, term; /* of the last answer; cluster 0: none yet */
    int64_t revision;       /* the highest seen */
    bool reserved;          /* since it last forgot what it saw */
    bool suspect;           /* an answer contradicts what this handle knows */
} etcd_store;

/* ---- requests (etcd_http.c) ------------------------------------------------------------------ */

/* Starts a verb with a connection of this process that is logged in. */
int etcd_ready(void *self, firn_error *error);
/* Lists the members again. */
int etcd_look(etcd_store *store, firn_error *error);
/* How many of them are not among the others; 0 if either is unknown. */
size_t etcd_gone(const voters *these, const voters *others);
/* Posts the body and frees it. `points`: the failpoints of a write, or NULL. FIRN_EUNKNOWN: a write
 * was sent and may have been carried out; after other failures it was not. */
int etcd_ask(etcd_store *store, const char *path, json_t *body, const module_points *points,
             json_t **answer, firn_error *error);
/* Closes the connection, if there is one. `forked`: it is the parent's. */
void etcd_hang_up(void *self, bool forked);

/* ---- records (etcd_record.c) ----------------------------------------------------------------- */

/* In JSON, keys and values are base64 and numbers are strings. */
json_t *etcd_base64(const char *data, size_t length);
/* False: not base64, empty, or too long for `size` with a terminator. */
bool etcd_plain(char *out, size_t size, size_t *length, const json_t *text);
json_t *etcd_number(int64_t value);

void etcd_name_namespace(bytes *out, const etcd_store *store, const char *ns);
void etcd_name_mark(bytes *out, const etcd_store *store, const char *ns, const char *key);
bool etcd_read_namespace(char layout[FIRN_LAYOUT_SIZE], int64_t *floor, int64_t *losses,
                         const char *text);
bool etcd_read_mark(firn_mark *mark, char note[FIRN_NOTE_SIZE], const char *text);
/* FIRN_ESTORE or `code`: a record or an answer cannot be read. */
int etcd_damaged(const etcd_store *store, int code, firn_error *error);

/* ---- transactions (etcd_record.c) ------------------------------------------------------------ */

/* Notes which cluster answered, and whether the answer contradicts what this handle saw. */
bool etcd_take_head(etcd_store *store, const json_t *answer);
int etcd_read_records(etcd_store *store, firn_records *seen, firn_error *error);
/* Writes the records `which`, the store's with the cluster of `own`, if all have the revisions of
 * `own`, and sets those and *written. */
int etcd_write_records(etcd_store *store, const firn_records *seen, const firn_records *next,
                       int which, etcd_records *own, const module_points *points, bool *written,
                       firn_error *error);

#endif
