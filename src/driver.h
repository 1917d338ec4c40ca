/* SPDX-License-Identifier: MIT */
/* A driver reads and writes one kind of store for the engine (engine.c), which decides by the law (law.h). A module exports
 * its driver as `firn_store_driver`, and uses no function of libfirn. The engine calls it from any thread, one call at a
 * time per handle. Each method has its deadline, and says FIRN_EFORKED in a child that a failpoint made. */
#ifndef FIRN_DRIVER_H
#define FIRN_DRIVER_H

#include <firn/firn.h>
#include <string.h>

/* Rises with each change of firn_driver or of its records: a process may find the modules of another release. */
#define FIRN__DRIVER_VERSION 2

/* `firn segment advance '*'` reserves from this namespace. From then on, until the store loses reservations
 * again, a namespace without a record is new. */
#define FIRN__ALL_NAMES "integer *"
/* The stored identity of a store that lost reservations; no engine has it. */
#define FIRN__GONE_BACK "gone back"

/* A namespace whose stored layout begins so is closed: "closed (moved to URL): LAYOUT". While the
 * record of FIRN__ALL_NAMES is closed, the store makes no record for another open namespace. */
#define FIRN__CLOSED    "closed ("
#define FIRN__FORGOTTEN FIRN__CLOSED "forgotten" /* by firn nodes --forget */

static inline bool firn__is_closed(const char *layout) {
    return strncmp(layout, FIRN__CLOSED, sizeof FIRN__CLOSED - 1) == 0;
}

/* The records of the store, of a namespace and of one of its keys. The texts are the driver's, or the caller's of a write,
 * and are valid until the next call of the driver. */
typedef struct firn_records {
    const char *ns, *key; /* the names of the records */
    bool used_before;     /* this handle reserved from the namespace before */
    bool fresh;           /* read after everything that was acknowledged before: it may refuse */

    bool known;      /* the store has a record */
    uint64_t origin; /* random, drawn by the driver when it makes that record */
    int64_t losses;  /* rises each time that somebody notices that the store lost reservations */
    bool all_new; /* a namespace without a record is new: FIRN__ALL_NAMES has the present losses */
    const char *shut; /* the layout of FIRN__ALL_NAMES if that is closed; or NULL */

    bool ns_known; /* the namespace has a record */
    const char *layout;
    int64_t ns_losses; /* the store's losses when the namespace was last found sound */
    int64_t floor;     /* no slot before it can be granted */

    bool key_known; /* the key has a record */
    firn_mark mark;
    const char *note;
    int64_t stamp; /* of the key's record; never falls while the store loses nothing; 0: none */

    uint64_t own[24]; /* the driver's: versions, and what the store's record says of its engine */
} firn_records;

/* The records that a write changes. */
enum { FIRN_RECORD_STORE = 1, FIRN_RECORD_NS = 2, FIRN_RECORD_KEY = 4 };

/* Answers of a write other than FIRN_OK and errors, which are negative. */
enum {
    FIRN_WRITE_CHANGED = 1, /* nothing was written: the records are no longer as they were read */
    FIRN_WRITE_FOREIGN = 2  /* another store carried it out, or an older copy of this one */
};

/* A raise of a key's mark that the law allows while nothing else changes: a mark of at least `least` with
 * first = max(mark, low) <= most becomes first + count. Any other mark needs a new verdict. */
typedef struct firn_raise {
    int64_t least, low, most, count;
} firn_raise;

/* What a write is part of, for its failpoints: reserve.before, .sent, .committed. */
typedef enum firn_verb { FIRN_VERB_RESERVE, FIRN_VERB_GIVE_BACK, FIRN_VERB_RELABEL } firn_verb;

typedef struct firn_driver {
    uint32_t version;   /* FIRN__DRIVER_VERSION */
    const char *scheme; /* of the URLs: "sqlite" */
    /* A lock of the engine's, or a transaction, keeps what was read until it is written or the verb ends: no other write comes
     * between. Otherwise the engine remembers what it read and wrote, and a verb may begin with a write. */
    bool locks;
    bool lasts; /* namespaces can be closed */
    int (*open)(void **self, const char *url, const firn_store_options *options, firn_error *error);
    /* Begins a verb on the records of these names: its deadline, and a connection of this process. */
    int (*begin)(void *self, const firn_records *names, firn_verb verb, firn_error *error);
    /* Reads the records of these names, in one snapshot or with their versions. `surely`: what is read must be fresh. */
    int (*read)(void *self, firn_records *seen, bool surely, firn_error *error);
    /* Optional: may a verb begin with a write over this remembered state? Not if another connection may reach another history,
     * and the versions alone do not show that. */
    bool (*stands)(void *self, const firn_records *seen);
    /* Does the engine show, since the store's record in `seen` was written, or compared with what this handle saw, that the
     * store lost reservations? NULL: it never does, and the handle need remember nothing. */
    bool (*lost)(void *self, const firn_records *seen);
    /* In one atomic step: writes the records `which` (FIRN_RECORD_...) as `next` has them if all are still as `seen`, and sets
     * in `next` what the step decided (own, stamp, a new origin). The key's record need not be as `seen` if it is not written;
     * a driver may demand it. It never lowers a mark that is not as `seen`. The loss that `next` has beyond `seen` may get
     * another number, at least that in `seen`. FIRN_EUNKNOWN: sent, and it may have been carried out. FIRN_EBUSY: not sent, as
     * somebody who has no record in the store issues with the key. */
    int (*write)(void *self, const firn_records *seen, firn_records *next, int which,
                 firn_verb verb, firn_error *error);
    /* Optional, for keys that many processes raise at the same time: a reservation that changes only the key's record calls it
     * in place of `write`. In one atomic step it raises the mark that the key has then, which `seen` need not have, and writes
     * next->mark, with its grant, and the note. It does so only if the raise allows that mark, if the records of the store and
     * of the namespace are as `seen`, and if the key's record is not gone, or older by its stamp. Answers as `write` does. */
    int (*add)(void *self, const firn_records *seen, firn_records *next, const firn_raise *raise,
               firn_error *error);
    /* Optional: sleeps before the read after conflict 1, 2, ... with other writers; the first has none. */
    void (*wait)(int round);
    /* Optional: makes durable what a read showed. */
    int (*confirm)(void *self, firn_error *error);
    /* Optional: ends a verb that began. Returns `code`, or what went wrong at the end. */
    int (*end)(void *self, int code);
    /* Optional: what this handle saw counts no longer, as the store's record has the loss. */
    void (*forget)(void *self);
    /* Optional: what has the slots of this namespace if they are another program's ("table leaf_alloc"), or NULL. Such a
     * source has no records: a reservation calls `take` alone, as in firn_store_ops, and nothing is given back. */
    const char *(*source)(void *self, const char *ns);
    int (*take)(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                firn_error *error);
    /* The store, for errors. */
    const char *(*where)(void *self);
    /* As in firn_store_ops. */
    int (*list)(void *self, const char *ns, firn_visit *visit, void *context, firn_error *error);
    int (*now)(void *self, firn_time *now, firn_error *error);
    const char *(*caution)(void *self);
    void (*close)(void *self);
} firn_driver;

#endif
