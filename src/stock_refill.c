/* SPDX-License-Identifier: MIT */
/* Integers in the reserve of a machine: blocks from the shared store. A block whose reply is lost
 * stays a gap, so no request is ever pending: a block is in hand when the process that was granted
 * it has written it down. */
#include "stock.h"

#include "clock.h"
#include "error.h"
#include "fork_memory.h"
#include "hash.h"
#include "law.h"
#include "reserve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVERY_MS    10000  /* between two looks at the shared store, or at the rate */
#define MEASURED_MS 60000  /* the shortest time from which a rate is taken */
#define FADES_MS    900000 /* after this time without use, a rate is forgotten */
#define HOUR_MS     3600000
#define RATE_MOST   INT64_C(1000000000000) /* integers an hour */
#define TAKEN_MASK  UINT64_C(0xffffffffffff)
#define TRIES       4 /* refills and drops of one call */

static int stock_away(const firn__stock *stock, const firn_error *why, firn_error *error) {
    const int length = why->cure_at > 0 ? why->cure_at - 2 : (int)strlen(why->text);
    return firn_error_set(
        error, FIRN_ESTORE, why->cure,
        "%.70s has too few integers left in the reserve of this machine, and %.*s: %.100s",
        stock->names.ns, length < 200 ? length : 200, why->text,
        why->cure_at > 0 ? why->text + why->cure_at : "start the store");
}

/* ---- the shared store ------------------------------------------------------------------------ */

static bool stock_is_paused(const firn__stock *stock) {
    return stock->clock == &firn__clock_system &&
           firn__store_is_paused(firn__store_url(stock->file.shared));
}

static void stock_heard(const firn__stock *stock, int code) {
    if (stock->clock == &firn__clock_system) {
        firn__store_pause(firn__store_url(stock->file.shared),
                          code != FIRN_ESTORE && code != FIRN_EUNKNOWN);
    }
}

static int see_mark(void *context, const firn_holding *holding) {
    firn_records *seen = context;
    if (strcmp(holding->key, seen->key) == 0) {
        seen->key_known = true;
        seen->mark = holding->mark;
    }
    return 0;
}

/* The methods of a program show marks only. */
static int stock_known(firn__stock *stock, firn_records *seen, uint64_t *there, firn_error *error) {
    const firn_request *names = &stock->names;
    int code = firn__store_known(stock->file.shared, names->ns, names->key, seen, error);
    if (code == FIRN_OK && !seen->fresh) {
        code = firn_store_list(stock->file.shared, names->ns, see_mark, seen, error);
    }
    stock_heard(stock, code);
    const uint64_t words[2] = {seen->origin, (uint64_t)seen->losses};
    *there = seen->known ? (firn__hash(FIRN__HASH_START, words, sizeof words) >> 16) | 1 : 0;
    return code;
}

/* The end of the last refill. */
static firn_mark last_refill(const firn__stock_record *record) {
    return (firn_mark){record->first < record->end ? record->end : record->ceiling, record->grant};
}

static int read_record(firn__stock *stock, firn__stock_record *record, firn__stock_doubt *doubt,
                       firn_error *error) {
    firn_records seen;
    int code = firn__stock_begin(stock, &seen, record, doubt, error);
    return code == FIRN_OK ? firn__stock_end(stock, FIRN_OK) : code;
}

/* The record is read before the mark, and a record that has changed since says nothing: a process
 * of the machine may have given back. Of a store that lost reservations the integers in hand may be
 * granted again, by an advance that has not seen them, so they are dropped. */
int firn__stock_look(firn__stock *stock, firn_error *error) {
    firn__stock_record before, now;
    firn__stock_doubt doubt;
    firn_records seen;
    uint64_t there;
    int code = read_record(stock, &before, &doubt, error);
    code = code == FIRN_OK ? stock_known(stock, &seen, &there, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    stock->look_ms = firn__stock_now_ms(stock) + EVERY_MS;
    if (before.grant == 0 || doubt != FIRN__STOCK_SURE) { /* a copy proves nothing */
        return FIRN_OK;
    }
    const bool lost = firn__mark_is_lost(last_refill(&before), seen.mark);
    if (!lost && there == before.there) {
        return FIRN_OK;
    }
    code = read_record(stock, &now, &doubt, error);
    if (code != FIRN_OK || now.grant != before.grant) {
        return code;
    }
    if (there == before.there) { /* nobody has noticed the loss yet */
        (void)firn__machine_declare(stock->file.shared, NULL);
    }
    return firn__stock_close(stock, before.grant, error);
}

/* ---- how many -------------------------------------------------------------------------------- */

/* A rate rises at once, and falls as slowly as FADES_MS says. */
static int64_t next_rate(int64_t rate, int64_t taken, int64_t ms) {
    taken = taken < RATE_MOST ? taken : RATE_MOST;
    const int64_t latest = taken * HOUR_MS / ms < RATE_MOST ? taken * HOUR_MS / ms : RATE_MOST;
    const int64_t part = ms < FADES_MS ? ms : FADES_MS;
    return rate > latest ? rate - (rate - latest) * part / FADES_MS : latest;
}

/* A separate record keeps the rate: {when it was measured, integers taken until then, rate}. */
static int measure_rate(firn__stock *stock, const firn__stock_record *record, int64_t *rate,
                        firn_error *error) {
    uint64_t kept[3] = {0};
    char note[FIRN_NOTE_SIZE];
    firn_records seen;
    const int64_t now_ms = firn__stock_now_ms(stock);
    int code = firn__machine_begin(&stock->file, &seen, "rate", error);
    if (code != FIRN_OK) {
        return code;
    }
    (void)sscanf(seen.note, "%" SCNx64 " %" SCNx64 " %" SCNx64, &kept[0], &kept[1], &kept[2]);
    const int64_t since_ms = now_ms - (int64_t)kept[0];
    const bool starts = !seen.key_known || since_ms < 0 || record->taken < kept[1];
    *rate = kept[2] < (uint64_t)RATE_MOST ? (int64_t)kept[2] : RATE_MOST;
    if (starts || since_ms >= MEASURED_MS) {
        *rate = starts ? *rate : next_rate(*rate, (int64_t)(record->taken - kept[1]), since_ms);
        snprintf(note, sizeof note, "%" PRIx64 " %" PRIx64 " %" PRIx64, (uint64_t)now_ms,
                 record->taken, (uint64_t)*rate);
        code = firn__machine_write(&stock->file, &seen, seen.mark, note, error);
    }
    return firn__machine_end(&stock->file, code);
}

/* As many as the machine uses in the time of its reserve, at the recent rate; at least a step, and
 * at most half of the maximum, since a refill comes when less is in hand, and fetches up to twice
 * as much. */
static int64_t wanted_of(const firn__stock *stock, int64_t rate) {
    const firn__stock_keys *keys = &stock->keys;
    const int64_t most = keys->most / 2, least = keys->step < most ? keys->step : most;
    const int64_t wanted =
        rate / HOUR_MS * keys->reserve_ms + rate % HOUR_MS * keys->reserve_ms / HOUR_MS;
    return wanted < least ? least : wanted < most ? wanted : most;
}

/* ---- refills --------------------------------------------------------------------------------- */

typedef struct stock_block {
    int64_t first, end;
    uint64_t grant, there;
    bool twice;
} stock_block;

/* Are there too few for the wish? */
static bool is_short(int64_t first, int64_t end, const firn__stock_wish *wish) {
    return end - (first > wish->earliest ? first : wish->earliest) < wish->least;
}

/* Does the block begin below what the machine had? */
static bool is_lower(const stock_block *block, const firn__stock_record *record) {
    return block->first < record->mark.high || block->first < last_refill(record).high;
}

/* The present block is left. */
static void turn_to_next(firn__stock_record *record) {
    record->mark = (firn_mark){record->first, 0};
    record->ceiling = record->end;
    record->first = record->end = 0;
}

/* Puts a block into the record: at its end, or as the next one. False: it is not after the others, or
 * there is no place for it, since another process was faster. */
static bool put_block(firn__stock_record *record, const stock_block *block,
                      const firn__stock_wish *wish) {
    const int64_t end = last_refill(record).high;
    const bool has_next = record->first < record->end;
    if (is_lower(block, record)) {
        return false;
    }
    if (has_next && block->first != end) {
        if (!is_short(record->mark.high, record->ceiling, wish) ||
            !is_short(record->first, record->end, wish)) {
            return false;
        }
        turn_to_next(record);
    }
    if (firn__stock_left(record) == 0) {
        record->mark = (firn_mark){block->first, 0};
        record->ceiling = block->end;
        record->twice = block->twice;
    } else if (block->first == end) {
        *(has_next ? &record->end : &record->ceiling) = block->end;
        record->twice = record->twice || block->twice;
    } else {
        record->first = block->first;
        record->end = block->end;
        record->twice = block->twice;
    }
    record->grant = block->grant;
    record->there = block->there;
    return true;
}

/* The mark of another machine's file may be of another store. If the machine may have given back since
 * an older copy, a block below its mark proves no loss: the next one begins at the mark or later. */
static void drop_doubtful(const firn__stock *stock, firn__stock_record *record,
                          firn__stock_doubt doubt) {
    firn__stock_empty(stock, record);
    record->mark.high = doubt == FIRN__STOCK_UNSURE ? 0 : record->mark.high;
    const bool lowered = doubt == FIRN__STOCK_OLDER && stock->reached < record->mark.high;
    record->ceiling = lowered ? record->mark.high : 0;
}

/* The block begins below what this machine had from the store: the store lost reservations after it
 * was looked at. */
static int refuse_lower(firn__stock *stock, const firn_records *seen, firn__stock_record *record,
                        const stock_block *block, firn_error *error) {
    firn__stock_empty(stock, record);
    int code = firn__stock_commit(stock, seen, record, error);
    (void)firn__machine_declare(stock->file.shared, NULL);
    return code == FIRN_OK
               ? firn_error_set(error, FIRN_EBACK, FIRN_CURE_ADVANCE,
                                "the store of integer " FIRN__VALUE(
                                    "%s") " has lost reservations, since it grants %" PRId64
                                          ", which this machine had",
                                stock->names.ns + 8, block->first)
               : code;
}

/* `before`: the last refill when the block was asked for. */
static int keep_block(firn__stock *stock, const stock_block *block, uint64_t before,
                      const firn__stock_wish *wish, firn_error *error) {
    firn_records seen;
    firn__stock_record record;
    firn__stock_doubt doubt;
    int code = firn__stock_begin(stock, &seen, &record, &doubt, error);
    if (code != FIRN_OK) {
        return code;
    }
    const bool changed = record.grant != before;
    if (doubt == FIRN__STOCK_SURE && !changed && is_lower(block, &record)) {
        return refuse_lower(stock, &seen, &record, block, error);
    }
    if (doubt != FIRN__STOCK_SURE || record.there != block->there) {
        drop_doubtful(stock, &record, doubt);
    }
    if (put_block(&record, block, wish)) {
        return firn__stock_commit(stock, &seen, &record, error);
    }
    code = firn__stock_end(stock, FIRN_OK);
    const firn_mark mine = {block->end, block->grant};
    if (!block->twice) { /* if nobody came after, there is no gap */
        (void)firn_store_give_back(stock->file.shared, stock->names.ns, stock->names.key, &mine,
                                   block->first, NULL);
    }
    return code;
}

/* The digest of the store is from before the request: a loss that comes between shows. */
static int fetch_block(firn__stock *stock, const firn__stock_wish *wish, int64_t floor,
                       int64_t count, stock_block *block, firn_error *error) {
    firn_request request = stock->names;
    firn_records seen;
    firn__attempts sending = {.tries = FIRN__SENDINGS};
    int code = stock_known(stock, &seen, &block->there, error);
    if (code != FIRN_OK) {
        return code;
    }
    /* The file remembers the last refill. Another process may have given it back since. */
    firn__store_forget(stock->file.shared, request.ns, request.key);
    request.count = count > wish->least ? count : wish->least;
    request.earliest = wish->earliest > floor ? wish->earliest : floor;
    code = firn__segment_ask(stock->file.shared, stock->clock, &request, wish->stop, wish->least,
                             &block->first, &sending, error);
    stock_heard(stock, code);
    block->end = block->first + request.count;
    block->grant = request.grant;
    block->twice = sending.twice;
    return code == FIRN_OK && block->there == 0
               ? stock_known(stock, &seen, &block->there, error) /* this request made its record */
               : code;
}

int firn__stock_refill(firn__stock *stock, const firn__stock_wish *wish, firn_error *error) {
    firn__stock_record record;
    firn__stock_doubt doubt;
    stock_block block = {0};
    int64_t rate = 0;
    int code = firn__stock_look(stock, error);
    code = code == FIRN_OK ? read_record(stock, &record, &doubt, error) : code;
    code = code == FIRN_OK ? measure_rate(stock, &record, &rate, error) : code;
    if (code == FIRN_OK) {
        const int64_t count = 2 * wanted_of(stock, rate) - firn__stock_left(&record);
        const int64_t floor = record.grant == 0 ? record.ceiling : 0;
        code = fetch_block(stock, wish, floor, count, &block, error);
    }
    return code == FIRN_OK ? keep_block(stock, &block, record.grant, wish, error) : code;
}

/* After a process took something. A failure shows when nothing is in hand. */
static void tend_stock(firn__stock *stock, const firn__stock_wish *wish) {
    firn__stock_record record;
    firn__stock_doubt doubt;
    int64_t rate = 0;
    const int64_t now_ms = firn__stock_now_ms(stock);
    if (now_ms < stock->tend_ms || stock_is_paused(stock)) {
        return;
    }
    stock->tend_ms = now_ms + EVERY_MS;
    if (read_record(stock, &record, &doubt, NULL) == FIRN_OK &&
        measure_rate(stock, &record, &rate, NULL) == FIRN_OK && record.first == record.end &&
        firn__stock_left(&record) < wanted_of(stock, rate)) {
        const firn__stock_wish more = {.least = 1, .earliest = wish->earliest, .stop = wish->stop};
        (void)firn__stock_refill(stock, &more, NULL);
    }
}

/* ---- verbs ----------------------------------------------------------------------------------- */

/* Turns to the next block if the present one has too few. */
static bool take_from(firn__stock_record *record, const firn__stock_wish *wish, int64_t *first,
                      int64_t *count) {
    for (int i = 0; i < 2; i++) {
        const int64_t end = record->ceiling < wish->stop ? record->ceiling : wish->stop;
        *first = record->mark.high > wish->earliest ? record->mark.high : wish->earliest;
        *count = end - *first < wish->count ? end - *first : wish->count;
        if (*count >= wish->least) {
            return true;
        }
        if (record->first < record->end) {
            turn_to_next(record);
        }
    }
    return false;
}

typedef enum stock_verdict { STOCK_TAKEN, STOCK_EMPTY, STOCK_UNSURE } stock_verdict;

/* How a call treats integers in doubt: it asks the store first, drops them, or trusts the file. */
typedef enum stock_trust { STOCK_ASKS, STOCK_DROPS, STOCK_TRUSTS } stock_trust;

static stock_verdict weigh(const firn__stock *stock, firn__stock_doubt doubt, stock_trust trust) {
    if (doubt == FIRN__STOCK_SURE) {
        return STOCK_TAKEN;
    }
    if (doubt == FIRN__STOCK_OLDER || trust == STOCK_DROPS) {
        return STOCK_EMPTY;
    }
    if (trust == STOCK_TRUSTS) {
        atomic_store_explicit(&stock->file.life->instance, 1, memory_order_seq_cst);
        return STOCK_TAKEN;
    }
    return STOCK_UNSURE;
}

static int take_once(firn__stock *stock, const firn__stock_wish *wish, stock_trust trust,
                     stock_verdict *verdict, int64_t *first, firn_mark *mark, firn_error *error) {
    firn_records seen;
    firn__stock_record record;
    firn__stock_doubt doubt;
    firn_mark taken = {0};
    int64_t from, count;
    int code = firn__stock_begin(stock, &seen, &record, &doubt, error);
    if (code != FIRN_OK) {
        return code;
    }
    *verdict = weigh(stock, doubt, trust);
    if (*verdict == STOCK_EMPTY) {
        drop_doubtful(stock, &record, doubt);
        return firn__stock_commit(stock, &seen, &record, error);
    }
    if (*verdict == STOCK_TAKEN && !take_from(&record, wish, &from, &count)) {
        *verdict = STOCK_EMPTY;
    }
    code = *verdict == STOCK_TAKEN ? firn__reserve_grant(NULL, &taken.grant, error) : code;
    if (*verdict != STOCK_TAKEN || code != FIRN_OK) {
        return firn__stock_end(stock, code);
    }
    taken.high = from + count;
    record.mark = taken;
    record.taken = (record.taken + (uint64_t)count) & TAKEN_MASK;
    code = firn__stock_commit(stock, &seen, &record, error);
    if (code == FIRN_OK) {
        *first = from;
        *mark = taken;
    }
    return code;
}

static int refuse_stock(firn__stock *stock, const firn_error *why, firn_error *error) {
    return firn__fail(
        error, FIRN_ESTORE,
        "the integers of %.60s in the reserve %.80s may be in use elsewhere, since it "
        "is of another boot, machine or place, and the store cannot be used (%.100s): "
        "start the store",
        stock->names.ns, stock->file.path, why->text);
}

/* If the store is there, integers in doubt are dropped. */
static int ask_for_block(firn__stock *stock, stock_trust *trust, firn_error *error) {
    firn_error why = {.text = "it did not answer"};
    if (!stock_is_paused(stock) && firn__stock_look(stock, &why) == FIRN_OK) {
        *trust = STOCK_DROPS;
        return FIRN_OK;
    }
    *trust = STOCK_TRUSTS;
    return stock->keys.trusts ? FIRN_OK : refuse_stock(stock, &why, error);
}

static int refill_for(firn__stock *stock, const firn__stock_wish *wish, firn_error *error) {
    firn_error why = {0};
    int code = firn__stock_refill(stock, wish, &why);
    if (code == FIRN_ESTORE && why.cure != FIRN_CURE_TRY_AGAIN) {
        return stock_away(stock, &why, error);
    }
    if (code != FIRN_OK) {
        (void)firn__repeat(&why, error);
    }
    return code;
}

/* The shared store is looked at first, so that nothing is taken after a loss that it knows. */
static int take_stock(firn__stock *stock, const firn__stock_wish *wish, int64_t *first,
                      firn_mark *mark, firn_error *error) {
    stock_trust trust = STOCK_ASKS;
    stock_verdict verdict = STOCK_EMPTY;
    int code = FIRN_OK;
    if (!stock_is_paused(stock) && firn__stock_now_ms(stock) >= stock->look_ms) {
        (void)firn__stock_look(stock, NULL);
    }
    for (int i = 0; i < TRIES && code == FIRN_OK; i++) {
        code = take_once(stock, wish, trust, &verdict, first, mark, error);
        if (code == FIRN_OK && verdict == STOCK_TAKEN) {
            tend_stock(stock, wish);
            return FIRN_OK;
        }
        if (code == FIRN_OK) {
            code = verdict == STOCK_UNSURE ? ask_for_block(stock, &trust, error)
                                           : refill_for(stock, wish, error);
        }
    }
    return code != FIRN_OK ? code
                           : firn_error_set(error, FIRN_ESTORE, FIRN_CURE_TRY_AGAIN,
                                            "other processes use up the integers of %.70s in the "
                                            "reserve %.120s: try again",
                                            stock->names.ns, stock->file.path);
}

static int return_stock(firn__stock *stock, const firn_mark *mine, int64_t high,
                        firn_error *error) {
    firn_records seen;
    firn__stock_record record;
    firn__stock_doubt doubt;
    int code = firn__stock_begin(stock, &seen, &record, &doubt, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (doubt != FIRN__STOCK_SURE || record.mark.high != mine->high ||
        record.mark.grant != mine->grant) {
        return firn__stock_end(stock, FIRN_EBUSY);
    }
    record.mark = (firn_mark){high, 0};
    record.taken = (record.taken - (uint64_t)(mine->high - high)) & TAKEN_MASK;
    return firn__stock_commit(stock, &seen, &record, error);
}

static int peek_stock(firn__stock *stock, int64_t *next, firn_error *error) {
    firn_records seen;
    firn__stock_record record;
    firn__stock_doubt doubt;
    int code = firn__stock_begin(stock, &seen, &record, &doubt, error);
    if (code == FIRN_OK) {
        const bool present = record.mark.high < record.ceiling;
        *next = doubt != FIRN__STOCK_SURE || firn__stock_left(&record) == 0 ? 0
                : present                                                   ? record.mark.high
                                                                            : record.first;
        code = firn__stock_end(stock, FIRN_OK);
    }
    return code;
}

/* A rate of less than one integer an hour counts as one. */
static int show_stock(firn__stock *stock, int64_t *left, int64_t *lasts_ms, firn_error *error) {
    firn__stock_record record;
    firn__stock_doubt doubt;
    int64_t rate = 0;
    int code = read_record(stock, &record, &doubt, error);
    code = code == FIRN_OK ? measure_rate(stock, &record, &rate, error) : code;
    if (code == FIRN_OK) {
        const bool usable = weigh(stock, doubt, STOCK_ASKS) == STOCK_TAKEN;
        const int64_t count = usable ? firn__stock_left(&record) : 0;
        const int64_t bounded = count < RATE_MOST ? count : RATE_MOST;
        rate = rate > 0 ? rate : 1;
        *left = count;
        *lasts_ms = bounded / rate * HOUR_MS + bounded % rate * HOUR_MS / rate;
    }
    return code;
}

/* The file is closed before the shared store hears of it. Requests that were sent once, and
 * answered, are given back: no copy of them is under way. */
static int drop_stock(firn__stock *stock, bool back, firn_error *error) {
    firn_records seen;
    firn__stock_record record;
    firn__stock_doubt doubt;
    int code = back ? firn__stock_look(stock, error) : FIRN_OK;
    code = code == FIRN_OK ? firn__stock_begin(stock, &seen, &record, &doubt, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    const firn_mark last = last_refill(&record);
    const int64_t from = record.first < record.end ? record.first : record.mark.high;
    const bool whole = doubt == FIRN__STOCK_SURE && !record.twice && record.grant != 0;
    firn__stock_empty(stock, &record);
    code = firn__stock_commit(stock, &seen, &record, error);
    if (code == FIRN_OK && back && whole && from < last.high) {
        code = firn_store_give_back(stock->file.shared, stock->names.ns, stock->names.key, &last,
                                    from, error);
        code = code == FIRN_EBUSY ? FIRN_OK : code; /* another block came after this one */
    }
    return code;
}

/* ---- for segments ---------------------------------------------------------------------------- */

static void enter_stock(const firn__stock *stock) {
    firn__wiped_look(); /* a child must not wait for a lock that its parent held */
    pthread_mutex_lock(stock->lock);
}

static int leave_stock(const firn__stock *stock, int code) {
    pthread_mutex_unlock(stock->lock);
    return code;
}

int firn__stock_take(firn__stock *stock, const firn__stock_wish *wish, int64_t *first,
                     firn_mark *mark, firn_error *error) {
    enter_stock(stock);
    return leave_stock(stock, take_stock(stock, wish, first, mark, error));
}

int firn__stock_return(firn__stock *stock, const firn_mark *mine, int64_t high, firn_error *error) {
    enter_stock(stock);
    return leave_stock(stock, return_stock(stock, mine, high, error));
}

int firn__stock_peek(firn__stock *stock, int64_t *next, firn_error *error) {
    enter_stock(stock);
    return leave_stock(stock, peek_stock(stock, next, error));
}

int firn__stock_show(firn__stock *stock, int64_t *left, int64_t *lasts_ms, firn_error *error) {
    enter_stock(stock);
    return leave_stock(stock, show_stock(stock, left, lasts_ms, error));
}

int firn__stock_drop(firn__stock *stock, bool back, firn_error *error) {
    enter_stock(stock);
    return leave_stock(stock, drop_stock(stock, back, error));
}

int firn__stock_make(firn__stock **out, const firn_request *names, const firn__stock_keys *keys,
                     firn_store *shared, const firn_clock *clock, firn_error *error) {
    int code = FIRN_OK;
    firn__stock *stock = calloc(1, sizeof *stock);
    if (stock == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a reserve");
    }
    stock->lock = firn__wiped(sizeof *stock->lock, &code, error);
    if (stock->lock == NULL) {
        free(stock);
        return code;
    }
    stock->file.shared = shared;
    stock->names = *names;
    stock->keys = *keys;
    stock->clock = clock;
    *out = stock;
    return FIRN_OK;
}

void firn__stock_free(firn__stock *stock) {
    if (stock != NULL) {
        firn__machine_file_close(&stock->file);
        firn__wiped_free(stock->lock, sizeof *stock->lock);
        free(stock);
    }
}
