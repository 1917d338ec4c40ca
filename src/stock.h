/* SPDX-License-Identifier: MIT */
/* Integers in the reserve of a machine: blocks that the shared store granted to this machine, in a
 * record of the reserve's file, from which its processes take smaller blocks while the shared store
 * is away. Integers have no time, so a file that may have been copied or put back loses them. */
#ifndef FIRN_STOCK_H
#define FIRN_STOCK_H

#include "machine.h"
#include "reserve.h"

#include <pthread.h>

/* The record of a file. The integers in hand are mark.high .. ceiling - 1 and first .. end - 1. */
typedef struct firn__stock_record {
    bool twice;         /* a request of a refill in hand was sent more than once */
    firn_mark mark;     /* the next integer, and the grant of the last process that took some */
    int64_t ceiling;    /* end of the present block; after an older copy: the next begins later */
    int64_t first, end; /* the block after that; equal: none */
    uint64_t grant;     /* of the last refill; 0: none, or it was given back */
    uint64_t here;      /* digest of the machine, the file and the boot that wrote it */
    uint64_t there;     /* digest of the shared store: its origin and its losses; 0: it had none */
    uint64_t taken;     /* how many integers processes took, modulo 2^48 */
    uint32_t epoch;     /* how often what was in hand was dropped */
} firn__stock_record;

char *firn__stock_write(char note[FIRN_NOTE_SIZE], const firn__stock_record *record);
/* False: the note is not of integers. A note that firn did not write has nothing in hand. */
bool firn__stock_read(firn__stock_record *record, const firn_mark *mark, const char *note);
int64_t firn__stock_left(const firn__stock_record *record);

/* The keys of a segment that concern its reserve. */
typedef struct firn__stock_keys {
    int64_t reserve_ms; /* 0: none */
    int64_t most;       /* integers in hand of the machine, at most */
    int64_t trusts, unsafe;
    int64_t step;
    char path[FIRN__KEYS_SIZE]; /* "": the default one of the user */
} firn__stock_keys;

/* A request of integers, first of the stock and then of the store. */
typedef struct firn__stock_wish {
    int64_t count, least; /* `count` slots, or as many as there are, but `least` */
    int64_t earliest;
    int64_t stop; /* after the last slot of the segment */
} firn__stock_wish;

typedef struct firn__stock {
    firn__machine file;    /* open: library is not NULL */
    pthread_mutex_t *lock; /* in a page that a fork wipes */
    const firn_clock *clock;
    firn__stock_keys keys;
    firn_request names;       /* ns, layout, key and note of the shared store's record */
    uint64_t here;            /* digest of the machine, the file and the boot; 0: not known */
    uint32_t epoch;           /* of the witness when the record was last read, */
    int64_t reached;          /* and its mark */
    int64_t look_ms, tend_ms; /* nor is the shared store looked at, nor a refill sent, before */
} firn__stock;

/* Why what is in hand may not be used. */
typedef enum firn__stock_doubt {
    FIRN__STOCK_SURE,
    FIRN__STOCK_UNSURE, /* another boot, machine or file wrote it, or the witness is gone */
    FIRN__STOCK_OLDER   /* the file is an older copy */
} firn__stock_doubt;

/* ---- stock.c: the local file ------------------------------------------------------------------ */

/* Begins a change of the record, in one transaction until firn__stock_end. */
int firn__stock_begin(firn__stock *stock, firn_records *seen, firn__stock_record *record,
                      firn__stock_doubt *doubt, firn_error *error);
/* Writes the record, ends the transaction, and sets the witness. */
int firn__stock_commit(firn__stock *stock, const firn_records *seen, firn__stock_record *record,
                       firn_error *error);
int firn__stock_end(firn__stock *stock, int code);
/* Nothing is in hand any more. */
void firn__stock_empty(const firn__stock *stock, firn__stock_record *record);
/* The same in the file, if its last refill is still `grant`. */
int firn__stock_close(firn__stock *stock, uint64_t grant, firn_error *error);
int64_t firn__stock_now_ms(const firn__stock *stock);

/* ---- stock_refill.c: the shared store --------------------------------------------------------- */

/* Is the shared store there, and does it know the last refill? If not, nothing is in hand. */
int firn__stock_look(firn__stock *stock, firn_error *error);
/* Fetches a block, of `least` at least. */
int firn__stock_refill(firn__stock *stock, const firn__stock_wish *wish, firn_error *error);

/* ---- for segments ----------------------------------------------------------------------------- */

/* Opens no file yet. All that is pointed to stays valid. */
int firn__stock_make(firn__stock **stock, const firn_request *names, const firn__stock_keys *keys,
                     firn_store *shared, const firn_clock *clock, firn_error *error);
void firn__stock_free(firn__stock *stock);
/* Takes integers; a give back needs *mark. FIRN_EEND: none is left before `stop`, and the
 * caller says so. FIRN_ESTORE: nothing is in hand and the store is away. Any thread. */
int firn__stock_take(firn__stock *stock, const firn__stock_wish *wish, int64_t *first,
                     firn_mark *mark, firn_error *error);
/* Gives back to the stock what a process did not use. FIRN_EBUSY: others took from it since. */
int firn__stock_return(firn__stock *stock, const firn_mark *mine, int64_t high, firn_error *error);
/* The next integer in hand; 0: nothing is. */
int firn__stock_peek(firn__stock *stock, int64_t *next, firn_error *error);
/* How many integers are in hand, and how long they last. */
int firn__stock_show(firn__stock *stock, int64_t *left, int64_t *lasts_ms, firn_error *error);
/* Drops everything in hand. With `back`, gives the last refill back to the shared store: nothing
 * happens if that is away. */
int firn__stock_drop(firn__stock *stock, bool back, firn_error *error);
/* The file that shows, until the next boot, how far the record had come. Of the tests. */
char *firn__stock_witness(char path[64], firn__stock *stock);

/* segment.c: sends the request with the greatest count, at most request->count, that fits before
 * `stop`. FIRN_EEND: not even `least` do. */
int firn__segment_ask(firn_store *store, const firn_clock *clock, firn_request *request,
                      int64_t stop, int64_t least, int64_t *first, firn__attempts *sending,
                      firn_error *error);

#endif
