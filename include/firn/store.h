/* SPDX-License-Identifier: MIT */
/* firn/store.h: for programmers who add a kind of store. docs/guides/own-store.md is the guide,
 * and examples/dir.c a complete driver.
 *
 * A driver reads and writes the records of one kind of store. It decides nothing: the engine in
 * libfirn reads records, decides by the law, and lets the driver write records, only if nothing
 * has changed. The engine calls
 *
 *     open   begin read [write] [confirm] end   begin write end   list   now   ...   close
 *
 * A module is a shared library KIND.so that exports one symbol, its driver `firn_store_driver`.
 * For a URL "KIND:..." libfirn looks for KIND.so in firn_store_options.module_dir, in firn/ in
 * the folder of the library (or of the program that contains it), in ../lib/firn from there, and
 * in the folder of the installation. KIND is 1 to 31 of a-z and 0-9, and driver.scheme. A module
 * stays loaded until the process ends. It must not call functions of libfirn, which may be
 * inside the program: the functions below are inline.
 *
 * The engine calls a handle from any thread, one call at a time. Two handles share only the
 * store. */
#ifndef FIRN_STORE_H
#define FIRN_STORE_H

#include <firn/firn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rises with each change of this file that a driver could notice. libfirn loads only drivers of
 * its own version. */
#define FIRN_DRIVER_VERSION 6

/* ---- records --------------------------------------------------------------------------------- */

/* A store has one record for itself, one for each namespace, and one for each key of a
 * namespace. Names, layouts and notes are bytes other than 0, shorter than FIRN_NS_SIZE,
 * FIRN_KEY_SIZE, FIRN_LAYOUT_SIZE and FIRN_NOTE_SIZE. Names have at least one byte. Upper and
 * lower case differ. Nothing is ever deleted. */

/* The namespace whose record says what the others need not: when its `ns_losses` are the
 * store's, no unknown name was lost (`all_new`); while its layout is closed, the store takes no
 * new namespace (`shut`). */
#define FIRN_ALL_NAMES "integer *"

/* The records that `read` found, and the records that `write` must make of them. Texts that `read`
 * sets are the driver's, and stay valid until its next `read`; those in `next` are the caller's or
 * the same as in `seen`, and a note there may be longer: cut it. Before `read`, texts are "",
 * numbers 0, and the rest false. */
typedef struct firn_records {
    /* Set by the engine. */
    const char *ns, *key;  /* whose records */
    bool used_before;      /* this handle reserved from the namespace before */
    const uint64_t *alive; /* 0: this is a child of the process that began the verb */

    /* Set by `read`. */
    bool fresh; /* read after everything that the store acknowledged before: it may refuse */

    bool known;       /* the store has its record */
    uint64_t origin;  /* of that: random; the driver draws it when it makes the record */
    int64_t losses;   /* of that: how often somebody noticed that the store lost reservations */
    bool all_new;     /* the record of FIRN_ALL_NAMES exists, and its ns_losses are `losses` */
    const char *shut; /* the layout of FIRN_ALL_NAMES if it is closed, else NULL. These two are
                       * necessary only while the namespace has no record */

    bool ns_known;      /* the namespace has a record */
    const char *layout; /* of that: a text that every client must agree on */
    int64_t ns_losses;  /* of that: the store's losses when it was last found sound */
    int64_t floor;      /* of that: no slot before it can be granted */

    bool key_known;   /* the key has a record */
    firn_mark mark;   /* of that; {0, 0}: none */
    const char *note; /* of that: for people */
    int64_t stamp;    /* of that: never falls while the store loses nothing; 0: the driver has none.
                       * Only a driver with `add` needs it */

    uint64_t own[24]; /* the driver's: versions, a transaction's number, the witness */
} firn_records;

/* The records that a write changes: a sum of these. */
enum { FIRN_RECORD_STORE = 1, FIRN_RECORD_NS = 2, FIRN_RECORD_KEY = 4 };

/* Is the layout closed? Its namespace grants nothing. Only FIRN_ALL_NAMES concerns a driver. */
#define FIRN_LAYOUT_CLOSED "closed ("
static inline bool firn_layout_closed(const char *layout) {
    return strncmp(layout, FIRN_LAYOUT_CLOSED, sizeof FIRN_LAYOUT_CLOSED - 1) == 0;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Methods return FIRN_OK, or an error that they also fill in. Which error it is matters:
 *
 * FIRN_ESTORE    nothing was carried out, and nothing will be: the store is away, locked, damaged,
 *                or not believed
 * FIRN_EUNKNOWN  of a write: it was sent, and it may be carried out, now or later. The engine reads
 *                again: if the store has the grant of the request, that is the answer
 * FIRN_EFORKED   this process is a child that was made during the verb. It has sent nothing since
 * FIRN_EUSAGE    of `open`: the URL has a part that the driver does not know. Name that part
 * FIRN_ERANGE    of `open`: a number of the URL is outside its bounds
 * FIRN_EMEMORY   out of memory
 * FIRN_ESYSTEM   the system lacks something
 * FIRN_EBUSY     of a write that was not sent: somebody who has no record here issues with the key
 *
 * In doubt between FIRN_ESTORE and FIRN_EUNKNOWN, a write says FIRN_EUNKNOWN. Saying FIRN_ESTORE
 * of a write that was carried out wastes slots or raises a false alarm; saying FIRN_OK of a
 * write that was not issues IDs twice. A write has two more answers: */
enum {
    FIRN_WRITE_CHANGED = 1, /* nothing was written: the records are no longer as they were read */
    FIRN_WRITE_FOREIGN = 2  /* another store or an older copy of this one wrote, as the witness of
                             * the answer shows: the slots are never used */
};

/* Fills in an error (may be NULL), "what is wrong (value, limit): what to do", and returns
 * `code`. What follows the last ": " of `format` is the cure, and has no conversions. Arguments
 * may point into `error`. */
static inline int firn_driver_fail(firn_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- failpoints ------------------------------------------------------------------------------ */

/* The operation to which a write belongs. */
typedef enum firn_verb { FIRN_VERB_RESERVE, FIRN_VERB_GIVE_BACK, FIRN_VERB_RELABEL } firn_verb;

/* Where tests interrupt a write: before anything of it is sent; when it was sent, or is complete
 * except for the step that makes it true; when it is true and durable, before `write` returns.
 * Every write passes the first, and every write that was carried out the last. */
typedef enum firn_point { FIRN_POINT_BEFORE, FIRN_POINT_SENT, FIRN_POINT_COMMITTED } firn_point;

/* Calls the failpoint of the options, if there is one. FIRN_EFORKED: it made this process. Then
 * `write` closes its copies of descriptors, sends nothing, and returns this error. */
static inline int firn_driver_point(const firn_store_options *options, const firn_records *records,
                                    firn_verb verb, firn_point point, firn_error *error);

/* ---- driver ---------------------------------------------------------------------------------- */

/* A raise of a key's mark that the law allows while nothing else changes: a mark of `min` or
 * more with first = max(mark, low) <= most becomes first + count. A mark of exactly `min` must
 * also have `grant`, or the grant 0: a store that lost reservations may have granted the same
 * slots to somebody else. While `grant` is 0, no grant is compared. Any other mark needs a new
 * verdict. */
typedef struct firn_raise {
    int64_t min, low, most, count;
    uint64_t grant;
} firn_raise;

/* Required are open, begin, read, write, where, list and close; the rest may be NULL.
 *
 * No method waits for ever. `open`, `list`, `now`, and the methods from `begin` to `end`
 * together, take at most about options->wait_ms (0: 5000 ms), then fail. The engine may read and
 * write several times in one verb. */
typedef struct firn_driver {
    uint32_t version;   /* FIRN_DRIVER_VERSION */
    const char *scheme; /* KIND of the URLs and of the module's name */
    /* True: a lock or a transaction keeps what `read` saw until `write` or `end`, so no other
     * write comes between. False: `write` compares. Then the engine remembers what it read and
     * wrote, and most verbs are one write. */
    bool locks;
    bool lasts; /* namespaces can be closed: FIRN_VERB_RELABEL works */

    /* Makes *self. `url` is as the user gave it, and *options is the caller's: copy it. It need
     * not connect: a store that is away now may be there at the first verb. Refuses parts of the
     * URL that it does not know. Refuses a store that may lose acknowledged writes, unless
     * options->unsafe: see `caution`. With options->must_exist it makes no new store. */
    int (*open)(void **self, const char *url, const firn_store_options *options, firn_error *error);

    /* This process is a child of the process that used the handle last. Forgets connections and
     * locks without sending anything on them (closing a descriptor is right, a polite farewell
     * is not). Called in the child before its first other call. */
    void (*forked)(void *self);

    /* Optional: this process may run twice, as on a copied machine, and the other copy may give
     * back what this handle reserved. Forgets marks, which may fall; nothing else. */
    void (*copied)(void *self);

    /* Begins a verb on the records of these names: its deadline, and a connection of this
     * process. If it fails, `end` is not called. */
    int (*begin)(void *self, const firn_records *names, firn_verb verb, firn_error *error);

    /* Reads the records of seen->ns and seen->key, all in one snapshot, or with versions in
     * `own` that `write` compares. `surely`: after everything that was acknowledged to anybody,
     * also by another server (and says so by `fresh`). */
    int (*read)(void *self, firn_records *seen, bool surely, firn_error *error);

    /* May a verb begin with a write over these remembered records? No, if the connection was
     * replaced since, and only a read would show that the new one reaches another store. NULL:
     * yes. Never called if `locks`. */
    bool (*usable)(void *self, const firn_records *seen);

    /* Did the store lose reservations (restored, emptied, failed over to an older copy)? The
     * witness says so: the identity of the engine (equal, or it is another store; it must never
     * return to an earlier value) and its progress (a commit count or log position, which never
     * falls). It is kept in the store's record when that is written, and compared with what the
     * engine is now; progress is also compared with the highest that this handle saw. True until
     * a write has raised `losses`. NULL: the handle does not even remember its own reservations,
     * as in a store that dies with its process. A driver without a witness returns false, and
     * the handle notices the loss of its own reservations. */
    bool (*lost)(void *self, const firn_records *seen);

    /* In one atomic step: writes the records `which` as `next` has them, if the store's record,
     * the namespace's record and the key's record are all still as `seen`: whole contents, the
     * mark with its grant, or versions of one witness. Absent records are still absent.
     * Otherwise FIRN_WRITE_CHANGED. The store's record is compared in every write, and its
     * version rises with every write of it, even an unchanged one. (A key that `which` leaves
     * out need not be compared.) `which` has FIRN_RECORD_STORE while the store has no record.
     * `next` begins as a copy of `seen`, with the changes. The method sets there what the step
     * decided: `own` and `stamp` as a read would now, and a new `origin`. If next->losses is
     * above seen->losses, the witness in the store's record becomes the present one; the loss
     * may get a higher number than next->losses, then next->ns_losses too if they were equal.
     * FIRN_OK means durable: on the disk, or on a majority. */
    int (*write)(void *self, const firn_records *seen, firn_records *next, int which,
                 firn_verb verb, firn_error *error);

    /* Optional, for keys that many processes raise at the same time. The engine calls it in
     * place of a `write` that changes only the key. In one atomic step it raises the mark that
     * the key has then, not seen->mark, as `raise` allows, and writes that with the grant and
     * the note of `next`; next->mark.high becomes the new mark. FIRN_WRITE_CHANGED if the raise
     * does not allow it, if the records of store or namespace are not as `seen`, or if the key's
     * record is gone or has a lower stamp. */
    int (*add)(void *self, const firn_records *seen, firn_records *next, const firn_raise *raise,
               firn_error *error);

    /* Optional: sleeps before the read after conflict 1, 2, ... with other writers: a random
     * time, at most some ms. */
    void (*wait)(int round);

    /* Makes durable what the last read showed: others may see a commit before it is. NULL: a
     * read shows only what is. */
    int (*confirm)(void *self, firn_error *error);

    /* Ends a verb that began: releases locks, ends transactions. Returns `code`, or what went
     * wrong. After FIRN_EFORKED it only closes descriptors. */
    int (*end)(void *self, int code);

    /* Forgets the witness that this handle saw: the store's record has the loss. */
    void (*forget)(void *self);

    /* Optional: the slots of this namespace are another program's ("table leaf_alloc"), or NULL.
     * Such a source has no records, no grants and no guard. A reservation is then one call of
     * `take`: *first, or FIRN_EBUSY and *held. */
    const char *(*source)(void *self, const char *ns);
    int (*take)(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                firn_error *error);

    /* The store, for errors: the URL without a password. Valid until `close`. */
    const char *(*where)(void *self);

    /* Visits each key of a namespace, or of all (NULL), sorted by namespace and key as bytes.
     * Among all, a namespace without keys has one visit, with the key "". Returns at once what
     * `visit` returns if that is not 0. No `begin` comes before this method or `now`: both take
     * care of their deadline and connection. */
    int (*list)(void *self, const char *ns, firn_visit *visit, void *context, firn_error *error);

    /* The engine's clock, to 1 ms. NULL: the store is on the machine of its processes, whose
     * clock is used. A store that several machines share needs it: a guard is computed from it. */
    int (*now)(void *self, firn_time *now, firn_error *error);

    /* Why the store may lose acknowledged writes, or not notice that it did: a sentence, valid
     * until `close`; or NULL. */
    const char *(*caution)(void *self);

    void (*close)(void *self); /* also in a child, and after any error */

    /* Optional: visits the nodes that other programs of the engine issue with, as far as this
     * session sees them. No record of the store has them, and `write` refuses them (FIRN_EBUSY).
     * A holding whose ns is "" concerns each namespace, and its key is what people set: "7",
     * "900-999" or "datacenter=1 worker=3". Its note begins with whose it is: "extension: ...".
     * Returns at once what `visit` returns if that is not 0. */
    int (*others)(void *self, firn_visit *visit, void *context, firn_error *error);
} firn_driver;

/* The export of a module. */
FIRN_API extern const firn_driver firn_store_driver;

/* ---- inline functions ------------------------------------------------------------------------ */

static inline int firn_driver_fail(firn_error *error, int code, const char *format, ...) {
    const char *cure = NULL, *next = format;
    firn_error made;
    va_list arguments;
    char *c;
    int length;
    memset(&made, 0, sizeof made);
    made.code = code;
    va_start(arguments, format);
    length = vsnprintf(made.text, sizeof made.text, format, arguments);
    va_end(arguments);
    for (c = made.text; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c; /* one line, with any arguments */
    }
    while ((next = strstr(next, ": ")) != NULL) {
        cure = next += 2;
    }
    if (cure != NULL && strchr(cure, '%') == NULL && (size_t)length < sizeof made.text) {
        made.cure = FIRN_CURE_OTHER;
        made.cure_at = (uint16_t)((size_t)length - strlen(cure));
    }
    if (error != NULL) {
        *error = made;
    }
    return code;
}

static inline int firn_driver_point(const firn_store_options *options, const firn_records *records,
                                    firn_verb verb, firn_point point, firn_error *error) {
    static const char *const names[3][3] = {
        {"reserve.before", "reserve.sent", "reserve.committed"},
        {"give_back.before", "give_back.sent", "give_back.committed"},
        {"relabel.before", "relabel.sent", "relabel.committed"}};
    if (options->failpoint != NULL) {
        options->failpoint(options->failpoint_self, names[verb][point]);
    }
    return *records->alive != 0
               ? FIRN_OK
               : firn_driver_fail(error, FIRN_EFORKED,
                                  "this process was forked during a verb of the store: open a "
                                  "separate store");
}

#ifdef __cplusplus
}
#endif
#endif
