/* SPDX-License-Identifier: MIT */
/* What a client asks and what it is answered, whichever protocol it came by: the types, parameters and
 * what is common to all verbs. answer.h answers requests. */
#ifndef FIRN_REQUEST_H
#define FIRN_REQUEST_H

#include "access.h"
#include "catalog.h"
#include "word.h"
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
    X(PACK, "pack", ISSUE, READ)       /* an ID of its fields */                                   \
    X(SHOW, "show", ISSUE, READ)       /* what is in an ID: `name` is the ID */                    \
    X(RANGE, "range", ISSUE, READ)     /* least and greatest ID of [from, to) */                   \
    X(CONVERT, "convert", ISSUE, READ) /* another form or scheme: `name` is the ID */              \
    X(SCHEMES, "schemes", ISSUE, READ) /* the table; with a name, one row of it */                 \
    X(NODES, "nodes", ADMIN, OTHER)    /* what the store holds; an task */                         \
    X(STATUS, "status", ADMIN, OTHER)  /* generators, segments, stores, workers */                 \
    X(SPREAD, "spread", ISSUE, READ)   /* how recent IDs of a generator fall over shards */
enum verb {
#define VERB_X(id, name, role, meter) VERB_##id,
    VERBS(VERB_X)
#undef VERB_X
        VERB_COUNT
};

typedef struct request {
    /* The listener's: */
    worker *worker;
    enum verb verb;
    enum role role; /* of the client */
    word name;      /* a scheme, generator, segment or ID; empty: none */
    struct {
        word key, value;
    } pairs[REQUEST_PAIRS_MAX]; /* count=, time=, as=, fields, ...; bytes stay the listener's */
    size_t pair_count;
    /* request_read's: */
    generator *generator;
    const firn_scheme *digest; /* uuid3 and uuid5, which need no generator */
    segment *segment;
    int64_t count;   /* 1 .. BATCH_MAX; of a segment's 1 .. max_catalog_block */
    int form;        /* enum firn_form */
    char prefix[66]; /* before each ID, of typeid */
    bool dated;
    firn_time time;
    bool wants_segment;
    bool must_open; /* nobody has asked for that generator or segment yet */
} request;

enum reply_kind {
    REPLY_NIL,
    REPLY_NUMBERS, /* IDs of a narrow generator: decimal, `is_signed` or not */
    REPLY_IDS,     /* IDs in the request's form behind its prefix */
    REPLY_INTEGER, /* a segment's integer: `first` */
    REPLY_RUN,     /* integers first, first + increment, ... `count` of them */
    REPLY_JSON     /* everything else; the listener lets go of it */
};

typedef struct reply {
    enum reply_kind kind;
    size_t count; /* of IDs; of integers of a REPLY_INTEGER that answers several requests */
    const uint64_t *numbers; /* the worker's or the task's, until the next request of the worker
                              * or the task's end */
    const firn_id *ids;      /* likewise */
    bool is_signed;
    int64_t first, increment, run;
    json_t *json;
} reply;

/* ---- parameters ------------------------------------------------------------------------------ */

/* The value of a parameter, or a word without text. */
word request_value(const request *it, const char *key);
/* A parameter as its client writes it, for messages: "n=5" over HTTP, "COUNT 5" over RESP. */
#define PARAMETER_SIZE 128
const char *parameter_text(char text[PARAMETER_SIZE], const request *it, word key, word value);
/* Only its name: "n", "COUNT". */
const char *parameter_name(char text[PARAMETER_SIZE], const request *it, const char *key);
/* A whole number of 1..most, without a sign. FIRN_EUSAGE, FIRN_ERANGE. */
int read_count(int64_t *out, const request *it, word key, word value, int64_t most,
               firn_error *error);
/* Refuses an unknown parameter and names the nearest of `known`, which ends with NULL. FIRN_EUSAGE. */
int refuse_key(const request *it, word key, const char *verb, const char *const *known,
               firn_error *error);
/* Refuses a parameter that is given twice. FIRN_EUSAGE. */
int refuse_twice(const request *it, firn_error *error);

/* ---- replies --------------------------------------------------------------------------------- */

/* Hands `object` over to the reply. FIRN_EMEMORY: it is NULL. */
int reply_json(json_t *object, reply *out, firn_error *error);
/* Room for a batch of BATCH_MAX IDs, or of numbers (`narrow`), made at a worker's first one. FIRN_EMEMORY. */
int worker_make_room(worker *it, bool narrow, firn_error *error);
/* Does time or a renewer end this failure? */
bool is_passing(int code);
/* An ID as text with its prefix and without a zero behind it: at most FIRN_TEXT_SIZE + 66 bytes.
 * Returns its length. */
size_t reply_write_id(char *out, const request *it, const reply *of, size_t i);
/* A decimal number; at most 20 bytes; returns its length. */
size_t write_number(char *out, uint64_t number, bool is_signed);

#endif
