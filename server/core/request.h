/* SPDX-License-Identifier: MIT */
/* What a client asks, whichever protocol it came by, and the answer. A listener reads bytes into a
 * request, and writes a reply in its own way; everything between is here:
 *
 *     request_read     names become generators and segments, values are checked; never waits
 *     request_answer   FIRN_OK and a reply, REQUEST_LATER, REQUEST_TASK, or a FIRN_E code
 *     request_send     hands what needs the store to its renewer
 *     request_finish   the reply of an task that came back
 *
 * Nothing here waits, and only its own thread uses a worker. IDs and integers are counted here
 * (meter.ids), requests, refusals and latencies by the listeners. */
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
    X(BLOCK, "block", ISSUE, BLOCK)    /* runs of a generator's IDs, or a segment's block */       \
    X(NEXT, "next", ISSUE, NEXT)       /* a segment's next integer, or the end of a block */       \
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

/* The first step. FIRN_EUSAGE names what is unknown, and the nearest known; FIRN_ERANGE; FIRN_ETEXT. */
int request_read(request *it, firn_error *error);
/* The second: `times` requests alike that came together (1, or more for NEW and NEXT of one ID
 * each) are answered by one reply with 1 to `times` IDs or integers (`count`, one behind the other
 * by `increment`). REQUEST_LATER: window or lead are used up; the same again in a millisecond or
 * when renewers have news, until the listener gives up after wait_ms with the error that is filled in.
 * REQUEST_TASK: call request_send. */
int request_answer(request *it, size_t times, reply *out, firn_error *error);

/* Is that failure worth another try a little later, as it is, without anybody doing anything? */
bool request_may_pass(const request *it, int code);

/* What was sent to a renewer. `finished` is called once, by the renewer's thread, and must not wait:
 * it makes the listener's thread call request_finish. The request's words are copied. */
typedef struct sent_task sent_task;
/* FIRN_EEXHAUSTED: too many tasks wait; FIRN_EMEMORY. */
int request_send(const request *it, void (*finished)(void *self), void *self, sent_task **out,
                 firn_error *error);
/* FIRN_OK and a reply, whose arrays live until sent_free; REQUEST_LATER: it was opened, call
 * request_answer again; or why not. */
int request_finish(sent_task *sent, reply *out, firn_error *error);
void sent_free(sent_task *sent);

/* An ID as text with its prefix and without a zero behind it: at most FIRN_TEXT_SIZE + 66 bytes.
 * Returns its length. */
size_t reply_write_id(char *out, const request *it, const reply *of, size_t i);
/* A decimal number; at most 20 bytes; returns its length. */
size_t write_number(char *out, uint64_t number, bool is_signed);

#endif
