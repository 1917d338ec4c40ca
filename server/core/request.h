/* SPDX-License-Identifier: MIT */
/* Requests and replies of all protocols: the types, the parameters, and what verbs share. answer.h
 * answers requests. */
#ifndef FIRN_REQUEST_H
#define FIRN_REQUEST_H

#include "access.h"
#include "catalog.h"
#include "text_view.h"
#include "worker.h"

#include <firn/firn.h>
#include <jansson.h>

enum { REQUEST_PAIRS_MAX = 16, REQUEST_LATER = 1, REQUEST_TASK = 2 };

/* verb, name, the role it needs, its counter */
#define VERBS(X)                                                                                   \
    X(NEW, "new", ISSUE, NEW)          /* IDs of a generator; time= back-dates them */             \
    X(RUNS, "runs", ISSUE, BLOCK)      /* IDs of a generator as runs of consecutive ones */        \
    X(BLOCK, "block", ISSUE, BLOCK)    /* a block of a segment's integers */                       \
    X(NEXT, "next", ISSUE, NEXT)       /* a segment's next integer, or the last of a block */      \
    X(LAST, "last", ISSUE, READ)       /* the last integer that this server issued, or nil */      \
    X(PACK, "pack", ISSUE, READ)       /* an ID from fields */                                     \
    X(SHOW, "show", ISSUE, READ)       /* the fields of an ID (`name`) */                          \
    X(RANGE, "range", ISSUE, READ)     /* least and greatest ID of [from, to) */                   \
    X(CONVERT, "convert", ISSUE, READ) /* another form or scheme: `name` is the ID */              \
    X(SERIES, "series", ISSUE, NEW)    /* dated numbers of a series; a task */                     \
    X(MASK, "mask", ISSUE, READ)       /* the masked form of an ID: `name` */                      \
    X(UNMASK, "unmask", ISSUE, READ)   /* the ID of a masked one: `name` */                        \
    X(SCHEMES, "schemes", ISSUE, READ) /* the table, or one scheme */                              \
    X(NODES, "nodes", ADMIN, OTHER)    /* what the store holds; a task */                          \
    X(STATUS, "status", ADMIN, OTHER)  /* generators, segments, stores, workers */                 \
    X(CHOOSE, "choose", ISSUE, READ)   /* the schemes that fit a workload */                       \
    X(SPREAD, "spread", ISSUE, READ)   /* how recent IDs of a generator fall over shards */
enum verb {
#define VERB_X(id, name, role, meter) VERB_##id,
    VERBS(VERB_X)
#undef VERB_X
        VERB_COUNT
};

typedef struct server_request {
    /* Set by the listener: */
    server_worker *worker;
    enum verb verb;
    enum role role; /* of the client */
    word name;      /* of a scheme, generator, segment, or an ID; "": none */
    struct {
        word key, value;
    } pairs[REQUEST_PAIRS_MAX]; /* count=, time=, as=, fields, ...; the bytes are the listener's */
    size_t pair_count;
    /* Set by request_read: */
    server_generator *generator;
    const firn_scheme *digest; /* uuid3 and uuid5, which need no generator */
    server_segment *segment;
    server_series *series;
    int64_t count;   /* 1 .. BATCH_MAX; integers: 1 .. catalog_max_block() */
    int form;        /* enum firn_form */
    char prefix[66]; /* before each ID, of typeid */
    bool dated;
    firn_time time;
    bool wants_segment;
    bool must_open; /* the generator or segment is not open yet */
} server_request;

enum reply_kind {
    REPLY_NIL,
    REPLY_NUMBERS, /* narrow IDs: decimal, `is_signed` or not */
    REPLY_IDS,     /* IDs in the request's form, after its prefix */
    REPLY_INTEGER, /* a segment's integer: `first` */
    REPLY_RUN,     /* integers first, first + increment, ... `count` of them */
    REPLY_JSON     /* anything else; the listener releases it */
};

typedef struct server_reply {
    enum reply_kind kind;
    size_t
        count; /* IDs, also those that a failure has spent, or integers of a REPLY_INTEGER that answers several requests */
    const uint64_t *numbers;           /* until the worker's next request or the task's end */
    const firn_id *ids;                /* likewise */
    char before[FIRN_MASK_FRAME_SIZE]; /* of masked IDs, before each; "": nothing */
    bool has_mac;                      /* each masked ID has the four letters of its MAC in `top` */
    bool is_signed;
    int64_t first, increment, run;
    json_t *json;
    const char *note; /* about the reply, which HTTP has room for; NULL: none */
    bool is_table;    /* json is the table of schemes, which never changes: its text can be kept */
} server_reply;

/* ---- parameters ------------------------------------------------------------------------------ */

/* The name of a parameter as the rest of the server spells it: options in lower case, `n` as
 * `count`. Other names keep their case, which matters for fields. Listeners call request_add for
 * each parameter, so that nothing else knows a second spelling. */
word parameter_key(word text);
/* Adds a parameter. False: there are REQUEST_PAIRS_MAX. */
bool request_add(server_request *request, word key, word value);
/* The value of a parameter; text NULL: not given. */
word request_value(const server_request *request, const char *key);
/* A parameter as the client wrote it, for errors: "n=5" over HTTP, "COUNT 5" over RESP. */
#define PARAMETER_SIZE 128
const char *parameter_text(char text[PARAMETER_SIZE], const server_request *request, word key,
                           word value);
/* Only its name: "n", "COUNT". */
const char *parameter_name(char text[PARAMETER_SIZE], const server_request *request,
                           const char *key);
/* A whole number from 1 to `most`. FIRN_EUSAGE, FIRN_ERANGE. */
int read_count(int64_t *out, const server_request *request, word key, word value, int64_t most,
               firn_error *error);
/* Refuses an unknown parameter and suggests the nearest of `known` (ends with NULL).
 * FIRN_EUSAGE. */
int refuse_key(const server_request *request, word key, const char *verb, const char *const *known,
               firn_error *error);
/* Refuses the first parameter that is not in `known`. */
int check_keys(const server_request *request, const char *verb, const char *const *known,
               firn_error *error);
/* Refuses duplicate parameters, also if their letter case differs. FIRN_EUSAGE. */
int refuse_twice(const server_request *request, firn_error *error);

/* ---- replies --------------------------------------------------------------------------------- */

/* Takes over `object`; NULL: FIRN_EMEMORY. */
int reply_json(json_t *object, server_reply *out, firn_error *error);
/* Allocates room for BATCH_MAX IDs or numbers (`narrow`) on first use. FIRN_EMEMORY. */
int worker_make_room(server_worker *worker, bool narrow, firn_error *error);
/* Does it issue IDs or integers? */
static inline bool verb_issues(enum verb verb) {
    return verb == VERB_NEW || verb == VERB_RUNS || verb == VERB_BLOCK || verb == VERB_NEXT ||
           verb == VERB_SERIES;
}
/* Is it charged to quotas? A mask is tried as often as IDs are issued. */
static inline bool verb_is_charged(enum verb verb) {
    return verb_issues(verb) || verb == VERB_MASK || verb == VERB_UNMASK;
}
/* Takes the IDs of a reply over, so that the worker can answer others: its array, or a copy of a
 * task's. False: out of memory. Then, when they are not needed: back to the worker, or freed. */
bool reply_take(server_reply *reply, server_worker *worker);
void reply_give_back(server_reply *reply, server_worker *worker);
/* Copies the IDs into a separate array; JSON is a separate copy already. False: out of memory.
 * Frees it. */
bool reply_copy(server_reply *reply);
void reply_free(server_reply *reply);
/* The bytes that it has taken. */
size_t reply_taken(const server_reply *reply);
/* Is it transient: can the same request succeed later without anybody acting? */
bool is_passing(int code);
/* For a request that waits for a renewer: REQUEST_LATER, or its failure that does not pass. *error:
 * its failure, if it has one. */
int wait_for_renewer(const last_error *failed, firn_error *error);
/* Writes an ID with its prefix and MAC, without a terminator, at most FIRN_TEXT_SIZE + 66 bytes.
 * Returns the length. */
size_t reply_write_id(char *out, const server_request *request, const server_reply *reply,
                      size_t i);
/* Writes at most 20 bytes; returns the length. */
size_t write_number(char *out, uint64_t number, bool is_signed);

#endif
