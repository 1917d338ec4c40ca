/* SPDX-License-Identifier: MIT */
/* Integers in the reserve of a machine: an outage, copies of the file, files that are put back,
 * losses of the store, give backs. Each rule has a test that fails without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "away.h"
#include "segment.h"

#define INTEGERS "reserve=1h unsafe=1"

/* ---- processes ------------------------------------------------------------------------------- */

static firn_segment *killed[64];
static size_t kills;

static int try_integers(firn_segment **out, const char *path, const char *more, firn_error *error) {
    char keys[900];
    snprintf(keys, sizeof keys, INTEGERS " reserve_path=%s %s", path, more);
    return firn_segment_open(out, "orders", keys, world.store, &world.hands, error);
}

static firn_segment *integers_of(const char *path, const char *more) {
    firn_segment *segment = NULL;
    firn_error error = {0};
    if (try_integers(&segment, path, more, &error) != FIRN_OK) {
        fail_msg("no segment: %s", error.text);
    }
    return segment;
}

static firn_segment *integers(void) {
    return integers_of(file, "");
}

/* As kill -9: nothing is given back. */
static void kill_integers(firn_segment *segment) {
    assert_true(kills < sizeof killed / sizeof *killed);
    killed[kills++] = segment;
}

static void ended(firn_segment *segment) {
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
}

static int get(firn_segment *segment, firn_error *error) {
    int64_t value;
    int code = firn_segment_next(segment, &value, error);
    if (code == FIRN_OK) {
        keep_id((uint64_t)value);
    }
    return code;
}

static uint64_t gets(firn_segment *segment) {
    firn_error error = {0};
    if (get(segment, &error) != FIRN_OK) {
        fail_msg("no integer: %s", error.text);
    }
    return ids[issued - 1];
}

static void gets_none(firn_segment *segment, int code, const char *words) {
    firn_error error = {0};
    if (get(segment, &error) == FIRN_OK) {
        fail_msg("%" PRIu64 " was issued", ids[issued - 1]);
    }
    error_text(&error, code, words);
}

/* One integer after the other until none is left, at most `most`. */
static int64_t drain(firn_segment *segment, int64_t most) {
    int64_t count = 0;
    while (count < most && get(segment, NULL) == FIRN_OK) {
        count++;
    }
    return count;
}

static firn_error refusal; /* the last one of `work` */

/* Time goes by while a process takes an integer each `step_ns`; returns how many it got. */
static int64_t work(firn_segment *segment, int64_t ns, int64_t step_ns) {
    int64_t count = 0;
    for (int64_t i = 0; i * step_ns < ns; i++) {
        count += get(segment, &refusal) == FIRN_OK;
        pass(&world.clock, step_ns);
    }
    return count;
}

/* The process gets one each second. */
static void works(firn_segment *segment, int64_t seconds) {
    const int64_t count = work(segment, seconds * SECOND, SECOND);
    if (count != seconds) {
        fail_msg("%" PRId64 " of %" PRId64 " integers: %s", count, seconds, refusal.text);
    }
}

/* So the rate is known, and blocks are in hand. */
static firn_segment *worked(void) {
    firn_segment *segment = integers();
    work(segment, 2 * MINUTE, SECOND);
    return segment;
}

typedef struct shown_stock {
    int64_t next, end, left;
    int blocks;
} shown_stock;

static int see_stock(void *context, const firn_holding *holding) {
    shown_stock *shown = context;
    const int64_t first = strtoll(holding->note, NULL, 10);
    assert_string_equal(holding->ns, "integer orders");
    shown->next = shown->blocks++ == 0 ? first : shown->next;
    shown->end = holding->mark.high;
    shown->left += shown->end - first;
    return 0;
}

static shown_stock in_hand(const char *path) {
    shown_stock shown = {0};
    assert_int_equal(firn_reserve_list(path, see_stock, &shown, NULL), FIRN_OK);
    return shown;
}

static firn_mark store_mark(void) {
    return (firn_mark){mark_of(&world.log, "integer orders", "1"), world.log.grants[0]};
}

static void forget_witness(firn_segment *segment) {
    char path[64];
    (void)unlink(firn__stock_witness(path, firn__segment_stock(segment)));
}

static int end_integers(void **state) {
    firn_segment *last = NULL;
    away = false;
    if (try_integers(&last, file, "", NULL) == FIRN_OK) {
        int64_t next;
        (void)firn_segment_peek(last, &next, NULL);
        forget_witness(last);
        (void)firn_segment_close(last, NULL);
    }
    while (kills > 0) {
        forget_witness(killed[--kills]);
        (void)firn_segment_close(killed[kills], NULL);
    }
    return end_world(state);
}

/* ---- the store is away ----------------------------------------------------------------------- */

static void integers_outlive_their_store(void **state) {
    (void)state;
    firn_segment *segment = integers();
    works(segment, 300);
    away = true;
    works(segment, 3600);
    const int64_t more = drain(segment, 20000);
    assert_in_range(more, 0, 2 * 3600); /* a reserve has at most twice its time, and some */
    gets_none(segment, FIRN_ESTORE, "has too few integers left in the reserve of this machine");
    away = false;
    pass(&world.clock, MINUTE);
    gets(segment);
    nothing_twice();
    ended(segment);
}

static void a_process_that_starts_meanwhile_continues(void **state) {
    (void)state;
    firn_segment *segment = integers();
    work(segment, 5 * MINUTE, SECOND);
    kill_integers(segment);
    away = true;
    for (int i = 0; i < 20; i++) {
        const uint64_t before = ids[issued - 1];
        segment = integers();
        assert_true(gets(segment) > before);
        works(segment, 60);
        if (i % 2 == 0) {
            ended(segment);
        } else {
            kill_integers(segment);
        }
    }
    nothing_twice();
}

static void a_new_segment_is_refused_meanwhile(void **state) {
    (void)state;
    away = true;
    firn_segment *segment = integers();
    gets_none(segment, FIRN_ESTORE, "has too few integers left in the reserve of this machine");
    away = false;
    pass(&world.clock, SECOND);
    assert_int_equal(gets(segment), 1);
    ended(segment);
}

static void a_serial_has_no_reserve(void **state) {
    firn_error error = {0};
    firn_segment *segment = NULL;
    (void)state;
    assert_int_equal(try_integers(&segment, file, "kind=serial", &error), FIRN_EUSAGE);
    error_text(&error, FIRN_EUSAGE, "use kind=segment");
    assert_int_equal(try_integers(&segment, file, "kind=ticket", &error), FIRN_EUSAGE);
    segment = open_segment("kind=serial", FIRN_OK, "");
    gets(segment);
    away = true;
    gets_none(segment, FIRN_ESTORE, "away");
    away = false;
    ended(segment);
}

static void without_a_reserve_integers_end_with_their_block(void **state) {
    (void)state;
    firn_segment *segment = open_segment("step=10 adapt=0", FIRN_OK, "");
    gets(segment);
    away = true;
    assert_in_range(drain(segment, 100), 9, 19);
    away = false;
    ended(segment);
}

/* ---- how many -------------------------------------------------------------------------------- */

static void a_reserve_tells_how_long_it_lasts(void **state) {
    int64_t left = -1, lasts_ms = -1, later = -1;
    firn_error error = {0};
    (void)state;
    firn_segment *segment = worked(), *plain = open_segment("kind=serial", FIRN_OK, "");
    assert_int_equal(firn_segment_reserve(segment, &left, &lasts_ms, &error), FIRN_OK);
    assert_int_equal(left, in_hand(file).left);
    assert_in_range(lasts_ms, left * 700, left * 1300); /* one a second, and blocks */
    away = true;
    works(segment, 600);
    const int64_t before = left;
    assert_int_equal(firn_segment_reserve(segment, &left, &later, &error), FIRN_OK);
    assert_in_range(before - left, 500, 700);
    assert_in_range(later, left * 700, left * 1300);
    drain(segment, 20000);
    assert_int_equal(firn_segment_reserve(segment, &left, &later, &error), FIRN_OK);
    assert_true(left == 0 && later == 0);
    assert_int_equal(firn_segment_reserve(plain, &left, &later, &error), FIRN_EUSAGE);
    error_text(&error, FIRN_EUSAGE, "has no reserve: set reserve=DURATION");
    assert_true(left == 0 && later == 0);
    away = false;
    ended(plain);
    ended(segment);
}

static int64_t rate_of(firn_segment *segment) {
    int64_t left, lasts_ms;
    firn_error error = {0};
    if (firn_segment_reserve(segment, &left, &lasts_ms, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    assert_in_range(left, 1, INT32_MAX);
    return left * 3600000 / lasts_ms; /* exact if it divides both */
}

static int64_t take_block(firn_segment *segment, int64_t count) {
    int64_t first = -1;
    firn_error error = {0};
    if (firn_segment_block(segment, count, &first, &error) != FIRN_OK) {
        fail_msg("no block: %s", error.text);
    }
    return first;
}

static void note_rate(firn_segment *segment, const char *note) {
    firn__stock *stock = firn__segment_stock(segment);
    firn_records seen;
    assert_int_equal(firn__machine_begin(&stock->file, &seen, "rate", NULL), FIRN_OK);
    assert_int_equal(firn__machine_end(&stock->file, firn__machine_write(&stock->file, &seen,
                                                                         seen.mark, note, NULL)),
                     FIRN_OK);
}

/* In integers an hour. */
static void a_rate_rises_at_once_and_falls_slowly(void **state) {
    (void)state;
    firn_segment *segment = integers_of(file, "step=100000 adapt=0");
    take_block(segment, 1); /* the first look at it */
    assert_int_equal(rate_of(segment), 1);
    take_block(segment, 5999);
    pass(&world.clock, MINUTE - SECOND);
    assert_int_equal(rate_of(segment), 1);
    pass(&world.clock, SECOND);
    assert_int_equal(rate_of(segment), 360000);
    pass(&world.clock, MINUTE - SECOND);
    assert_int_equal(rate_of(segment), 360000);
    pass(&world.clock, SECOND); /* a fifteenth of the difference */
    assert_int_equal(rate_of(segment), 336000);
    take_block(segment, 2800);
    pass(&world.clock, MINUTE);
    assert_in_range(rate_of(segment), 324790, 324810); /* 168000 were used */
    take_block(segment, 12000);
    pass(&world.clock, 2 * MINUTE);
    assert_in_range(rate_of(segment), 359980, 360020);
    pass(&world.clock, 16 * MINUTE); /* forgotten */
    assert_int_equal(rate_of(segment), 1);
    /* Of a boot, and of a note without sense. */
    take_block(segment, 6000);
    pass(&world.clock, MINUTE);
    assert_in_range(rate_of(segment), 359980, 360020);
    take_block(segment, 6000);
    atomic_store(&world.clock.steady_ns, 5 * SECOND);
    assert_in_range(rate_of(segment), 359980, 360020);
    pass(&world.clock, 30 * SECOND);
    assert_in_range(rate_of(segment), 359980, 360020);
    take_block(segment, 12000);
    pass(&world.clock, MINUTE); /* 90 s since then */
    assert_in_range(rate_of(segment), 479980, 480020);
    note_rate(segment, "no sense");
    (void)rate_of(segment);
    note_rate(segment, "0 0 ffffffffffffffff");
    pass(&world.clock, MINUTE);
    (void)rate_of(segment);
    note_rate(segment, "0 ffffffffffff ffffffffffffffff");
    int64_t left, lasts_ms;
    assert_int_equal(firn_segment_reserve(segment, &left, &lasts_ms, NULL), FIRN_OK);
    assert_int_equal(lasts_ms, left * 3600000 / INT64_C(1000000000000));
    ended(segment);
}

/* Nobody used any yet, and the file is one whose integers the store must judge first. */
static void what_may_not_be_used_lasts_for_no_time(void **state) {
    int64_t left = -1, lasts_ms = -1;
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    assert_int_equal(firn_segment_reserve(segment, &left, &lasts_ms, NULL), FIRN_OK);
    assert_in_range(left, 1000, 3000);
    assert_int_equal(lasts_ms, left * 3600000);
    forget_witness(segment);
    assert_int_equal(firn_segment_reserve(segment, &left, &lasts_ms, NULL), FIRN_OK);
    assert_true(left == 0 && lasts_ms == 0);
    char path[64]; /* who only looks makes no witness */
    assert_int_not_equal(access(firn__stock_witness(path, firn__segment_stock(segment)), F_OK), 0);
    ended(segment);
}

static void few_integers_make_a_small_reserve(void **state) {
    (void)state;
    firn_segment *segment = integers();
    for (int i = 0; i < 90; i++) { /* three a day, each of another process */
        gets(segment);
        ended(segment);
        pass(&world.clock, 8 * HOUR);
        segment = integers();
    }
    assert_true(store_mark().high <= 3000);
    assert_in_range(in_hand(file).left, 1, 2000);
    nothing_twice();
    ended(segment);
}

static void the_reserve_has_a_maximum(void **state) {
    (void)state;
    firn_segment *segment = integers_of(file, "max_reserve=5000");
    for (int i = 0; i < 300; i++) {
        assert_int_equal(drain(segment, 500), 500);
        pass(&world.clock, SECOND);
        assert_true(in_hand(file).left <= 5000);
    }
    nothing_twice();
    ended(segment);
}

static void a_reserve_lasts_its_time_at_the_recent_rate(void **state) {
    (void)state;
    firn_segment *segment = integers(), *other = open_segment("step=7 adapt=0", FIRN_OK, "");
    for (int i = 0; i < 20; i++) { /* others take from the store in between */
        work(segment, MINUTE, SECOND / 5);
        work(other, SECOND, SECOND / 40);
    }
    assert_true(in_hand(file).left >= 5 * 3600);
    assert_true(in_hand(file).left <= 2 * 2 * 5 * 3600);
    away = true;
    assert_int_equal(work(segment, HOUR, SECOND / 5), 5 * 3600);
    away = false;
    nothing_twice();
    ended(segment);
    ended(other);
}

static void integers_end_at_the_end(void **state) {
    (void)state;
    firn_segment *segment = integers_of(file, "start=11 end=1510");
    assert_int_equal(gets(segment), 11);
    assert_int_equal(drain(segment, 5000), 1499);
    gets_none(segment, FIRN_EEND, "end=1510");
    nothing_twice();
    ended(segment);
}

/* The block in hand, of another process, ends later. */
static void an_end_counts_in_the_reserve_too(void **state) {
    (void)state;
    firn_segment *other = integers(), *segment = integers_of(file, "end=50");
    gets(other);
    drain(segment, 5000);
    gets_none(segment, FIRN_EEND, "end=50");
    for (size_t i = 1; i < issued; i++) {
        assert_true(ids[i] <= 50);
    }
    nothing_twice();
    ended(segment);
    ended(other);
}

/* Both blocks in hand are below it. */
static void a_start_that_was_raised_counts_in_the_reserve_too(void **state) {
    (void)state;
    firn_segment *segment = integers(), *plain = open_segment("step=7 adapt=0", FIRN_OK, "");
    gets(segment);
    for (int i = 0; i < 300 && in_hand(file).blocks < 2; i++) {
        work(segment, 15 * SECOND, SECOND / 20);
        gets(plain);
        drain(plain, 20);
    }
    assert_int_equal(in_hand(file).blocks, 2);
    ended(segment);
    segment = integers_of(file, "start=1000000");
    assert_true(gets(segment) >= 1000000);
    nothing_twice();
    ended(segment);
    ended(plain);
}

static void blocks_are_whole(void **state) {
    int64_t first;
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    assert_int_equal(firn_segment_block(segment, 100000, &first, NULL), FIRN_OK);
    for (int64_t i = 0; i < 100000; i++) {
        keep_id((uint64_t)(first + i));
    }
    assert_int_equal(firn_segment_exact(segment, 50, true, &first, NULL, NULL), FIRN_OK);
    away = true;
    firn_error error = {0};
    assert_int_equal(firn_segment_block(segment, 1000000, &first, &error), FIRN_ESTORE);
    gets(segment);
    away = false;
    nothing_twice();
    ended(segment);
}

static void two_machines_share_a_store(void **state) {
    char path[400];
    (void)state;
    snprintf(path, sizeof path, "%s/other.db", folder);
    firn_segment *a = integers(), *b = integers_of(path, ""), *c = integers();
    uint64_t last[3] = {0};
    for (int i = 0; i < 3000; i++) {
        firn_segment *each[] = {a, b, c};
        const uint64_t value = gets(each[i % 3]);
        assert_true(value > last[i % 3]);
        last[i % 3] = value;
        pass(&world.clock, SECOND / 4);
        away = i / 500 % 2 == 1;
    }
    away = false;
    nothing_twice();
    ended(c);
    kill_integers(b);
    ended(a);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void a_copy_issues_nothing(void **state) {
    char copy[400];
    (void)state;
    firn_segment *segment = worked();
    copy_file(copy, "copy.db");
    away = true;
    firn_segment *clone = integers_of(copy, "");
    gets_none(clone, FIRN_ESTORE, "may be in use elsewhere");
    gets(segment);
    away = false;
    pass(&world.clock, MINUTE);
    gets(clone); /* of another block */
    assert_in_range(drain(segment, 5000), 5000, 5000);
    assert_in_range(drain(clone, 5000), 5000, 5000);
    nothing_twice();
    kill_integers(clone);
    ended(segment);
}

static void a_copy_that_is_trusted_continues(void **state) {
    char copy[400];
    (void)state;
    firn_segment *segment = worked();
    copy_file(copy, "copy.db");
    kill_integers(segment);
    away = true;
    firn_segment *clone = integers_of(copy, "reserve_trust=1");
    gets(clone);
    away = false;
    nothing_twice();
    kill_integers(clone);
}

/* In place, with its count: inode, machine and boot are the same. */
static void put_back(const char *copy) {
    char command[1400];
    snprintf(command, sizeof command,
             "for s in '' -wal -count; do if [ -e '%s'$s ]; then cat '%s'$s >'%s'$s; "
             "else rm -f '%s'$s; fi; done; rm -f '%s'-shm",
             copy, copy, file, file, file);
    assert_int_equal(system(command), 0);
}

static void an_older_file_that_is_put_back_issues_nothing(void **state) {
    char copy[400];
    (void)state;
    firn_segment *segment = worked();
    ended(segment);
    copy_file(copy, "older.db");
    segment = integers();
    work(segment, MINUTE, SECOND);
    ended(segment);
    put_back(copy);
    away = true;
    segment = integers();
    gets_none(segment, FIRN_ESTORE, "has too few integers left");
    kill_integers(segment);
    put_back(copy);
    segment = integers_of(file, "reserve_trust=1"); /* nobody can vouch for it */
    gets_none(segment, FIRN_ESTORE, "has too few integers left");
    away = false;
    pass(&world.clock, MINUTE);
    drain(segment, 3000);
    nothing_twice();
    ended(segment);
}

/* Its inode stays, and its witness is of an earlier record. */
static void another_file_that_is_put_there_issues_nothing(void **state) {
    char path[400];
    (void)state;
    snprintf(path, sizeof path, "%s/other.db", folder);
    firn_segment *segment = integers(), *other = integers_of(path, "");
    gets(segment);
    gets(other);
    ended(segment);
    put_back(path);
    away = true;
    segment = integers();
    gets_none(segment, FIRN_ESTORE, "may be in use elsewhere");
    away = false;
    pass(&world.clock, MINUTE);
    drain(segment, 3000);
    drain(other, 3000);
    nothing_twice();
    kill_integers(other);
    ended(segment);
}

static void a_boot_drops_integers(void **state) {
    (void)state;
    firn_segment *segment = worked();
    const int64_t mark = store_mark().high;
    forget_witness(segment); /* memory is empty then */
    kill_integers(segment);
    away = true;
    segment = integers();
    gets_none(segment, FIRN_ESTORE, "may be in use elsewhere");
    away = false;
    pass(&world.clock, MINUTE);
    assert_true((int64_t)gets(segment) >= mark);
    ended(segment);
    segment = integers();
    forget_witness(segment);
    away = true;
    kill_integers(segment);
    segment = integers_of(file, "reserve_trust=1");
    gets(segment);
    away = false;
    nothing_twice();
    ended(segment);
}

static void another_machine_drops_integers(void **state) {
    (void)state;
    firn_segment *segment = worked();
    kill_integers(segment);
    same_inode = true; /* as if the file had moved */
    away = true;
    segment = integers();
    gets_none(segment, FIRN_ESTORE, "may be in use elsewhere");
    away = same_inode = false;
    nothing_twice();
    kill_integers(segment);
}

static void a_copy_of_the_process_drops_integers(void **state) {
    (void)state;
    firn_segment *segment = worked();
    firn_renew_identity();
    away = true;
    gets_none(segment, FIRN_ESTORE, "may be in use elsewhere");
    away = false;
    pass(&world.clock, MINUTE);
    gets(segment);
    away = true;
    gets(segment);
    away = false;
    nothing_twice();
    ended(segment);
}

static void a_child_continues(void **state) {
    int pipes[2], status;
    (void)state;
    firn_segment *segment = worked();
    away = true;
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
        int64_t values[100];
        for (int i = 0; i < 100; i++) {
            if (firn_segment_next(segment, &values[i], NULL) != FIRN_OK) {
                _exit(1);
            }
        }
        _exit(write(pipes[1], values, sizeof values) == sizeof values ? 0 : 2);
    }
    int64_t values[100];
    drain(segment, 100);
    assert_int_equal(read(pipes[0], values, sizeof values), sizeof values);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int i = 0; i < 100; i++) {
        keep_id((uint64_t)values[i]);
    }
    drain(segment, 100);
    close(pipes[0]);
    close(pipes[1]);
    away = false;
    nothing_twice();
    ended(segment);
}

static void a_file_that_cannot_be_looked_at_costs_no_blocks(void **state) {
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    kill_integers(segment);
    const int64_t high = store_mark().high;
    segment = integers();
    no_inode = true;
    gets_none(segment, FIRN_ESYSTEM, "leave reserve out");
    assert_int_equal(store_mark().high, high);
    no_inode = false;
    gets(segment);
    nothing_twice();
    ended(segment);
}

/* ---- a file that fails ----------------------------------------------------------------------- */

static const firn_driver *whole_driver;
static firn_driver frail_driver;
static int fails_in;           /* calls of the file until one fails; 0: none does */
static bool fails_late;        /* the change is made, and nobody knows that */
static bool file_lost;         /* until something is written */
static void (*at_begin)(void); /* of a transaction, */
static void (*at_read)(void);  /* inside it, when its records are read, */
static void (*at_end)(void);   /* and once after one */

static bool fails(void) {
    return fails_in > 0 && --fails_in == 0;
}

static int frail_begin(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    if (at_begin != NULL) {
        at_begin();
    }
    return fails() ? refuse_away(error) : whole_driver->begin(self, names, verb, error);
}

static int frail_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    const int code = fails() ? refuse_away(error) : whole_driver->read(self, seen, surely, error);
    if (at_read != NULL) {
        at_read();
    }
    return code;
}

static bool frail_lost(void *self, const firn_records *seen) {
    return file_lost || whole_driver->lost(self, seen);
}

static int frail_write(void *self, const firn_records *seen, firn_records *next, int which,
                       firn_verb verb, firn_error *error) {
    file_lost = false;
    return fails() ? refuse_away(error) : whole_driver->write(self, seen, next, which, verb, error);
}

static int frail_end(void *self, int code) {
    const bool failing = code == FIRN_OK && fails();
    const int done = whole_driver->end(self, failing && !fails_late ? FIRN_ESTORE : code);
    act(&at_end);
    return !failing ? done : fails_late ? FIRN_EUNKNOWN : FIRN_ESTORE;
}

/* Of a process that has opened its file. */
static firn__stock *frail(firn_segment *segment) {
    firn__stock *stock = firn__segment_stock(segment);
    whole_driver = stock->file.driver;
    frail_driver = *whole_driver;
    frail_driver.begin = frail_begin;
    frail_driver.read = frail_read;
    frail_driver.lost = frail_lost;
    frail_driver.write = frail_write;
    frail_driver.end = frail_end;
    stock->file.driver = &frail_driver;
    fails_in = 0;
    fails_late = file_lost = false;
    at_begin = at_read = at_end = NULL;
    return stock;
}

static int keep_block_of(firn_segment *segment, int64_t count) {
    int64_t first;
    const int code = firn_segment_block(segment, count, &first, NULL);
    for (int64_t i = 0; code == FIRN_OK && i < count; i++) {
        keep_id((uint64_t)(first + i));
    }
    return code;
}

static int take_some(firn_segment *segment) {
    return keep_block_of(segment, 20);
}

static int take_many(firn_segment *segment) {
    return keep_block_of(segment, in_hand(file).left + 1);
}

/* The last ten of them. */
static int return_some(firn_segment *segment) {
    const firn__stock_wish wish = {20, 20, 0, FIRN_SLOT_MAX};
    int64_t first;
    firn_mark mark;
    firn__stock *stock = firn__segment_stock(segment);
    int code = firn__stock_take(stock, &wish, &first, &mark, NULL);
    for (int64_t i = 0; code == FIRN_OK && i < 10; i++) {
        keep_id((uint64_t)(first + i));
    }
    return code == FIRN_OK ? firn__stock_return(stock, &mark, first + 10, NULL) : code;
}

static int show_them(firn_segment *segment) {
    int64_t left = -1, lasts_ms = -1;
    const int code = firn_segment_reserve(segment, &left, &lasts_ms, NULL);
    assert_true(code == FIRN_OK ? left >= 0 && lasts_ms >= 0 : left == -1 && lasts_ms == -1);
    return code;
}

static int show_next(firn_segment *segment) {
    int64_t next = -1;
    const int code = firn_segment_peek(segment, &next, NULL);
    assert_true(code == FIRN_OK ? next > 0 : next == -1);
    return code;
}

static int give_all_back(firn_segment *segment) {
    return firn_segment_give_back(segment, NULL);
}

static int refill_once(firn_segment *segment) {
    const firn__stock_wish wish = {1, 1, 0, FIRN_SLOT_MAX};
    return firn__stock_refill(firn__segment_stock(segment), &wish, NULL);
}

/* Each call to the file fails once, and after it the next ones continue. Only looks and refills
 * that are not needed yet fail silently. */
static void a_call_of_the_file_that_fails_repeats_nothing(void **state) {
    static int (*const calls[])(firn_segment *) = {
        refill_once, show_them, show_next, give_all_back, take_some, return_some, take_many};
    (void)state;
    firn_segment *segment = integers_of(file, "max_reserve=400 step=20");
    gets(segment);
    frail(segment);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (int late = 0; late < 2; late++) {
            int failed = 0, at = 0, code;
            do {
                pass(&world.clock, MINUTE);
                fails_late = late == 1;
                fails_in = ++at;
                code = calls[i](segment);
                failed += code != FIRN_OK;
            } while (fails_in == 0);
            assert_int_equal(code, FIRN_OK);
            assert_in_range(failed, i < 4 ? at - 1 : 1, at - 1);
            fails_in = 0;
        }
    }
    gets(segment);
    nothing_twice();
    ended(segment);
}

static firn_segment *locked;
static int begun, unlocked; /* transactions, and those without the lock of the handle */

static void see_lock(void) {
    pthread_mutex_t *lock = firn__segment_stock(locked)->lock;
    begun++;
    if (pthread_mutex_trylock(lock) == 0) {
        unlocked++;
        pthread_mutex_unlock(lock);
    }
}

/* Threads share the handle, and its file can serve one at a time. */
static void each_call_of_the_file_has_the_lock(void **state) {
    static int (*const calls[])(firn_segment *) = {take_some, return_some, show_next, show_them,
                                                   give_all_back};
    (void)state;
    locked = integers();
    gets(locked);
    pthread_mutex_t *lock = frail(locked)->lock;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        begun = unlocked = 0;
        at_begin = see_lock;
        assert_int_equal(calls[i](locked), FIRN_OK);
        at_begin = NULL;
        assert_true(begun > 0);
        assert_int_equal(unlocked, 0);
        assert_int_equal(pthread_mutex_trylock(lock), 0);
        pthread_mutex_unlock(lock);
    }
    nothing_twice();
    ended(locked);
}

/* As after a power cut without a sync. The loss is written down by the next change, even of another
 * record. */
static void a_file_that_lost_records_drops_integers(void **state) {
    (void)state;
    firn_segment *segment = worked();
    frail(segment);
    away = true;
    for (int by_rate = 0; by_rate < 2; by_rate++) {
        assert_true(in_hand(file).left > 100);
        pass(&world.clock, MINUTE);
        file_lost = true;
        if (by_rate == 1) {
            int64_t left, lasts_ms;
            assert_int_equal(firn_segment_reserve(segment, &left, &lasts_ms, NULL), FIRN_OK);
            assert_int_equal(left, 0);
            assert_false(file_lost);
        }
        drain(segment, 3000);
        gets_none(segment, FIRN_ESTORE, "has too few integers left");
        assert_false(file_lost);
        assert_int_equal(in_hand(file).left, 0);
        away = false;
        pass(&world.clock, MINUTE);
        gets(segment);
        away = true;
        assert_int_equal(take_some(segment), FIRN_OK);
    }
    nothing_twice();
    away = false;
    ended(segment);
}

static void a_file_that_cannot_be_opened_is_tried_again(void **state) {
    char path[400];
    (void)state;
    snprintf(path, sizeof path, "%s/folder", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    firn_segment *segment = integers_of(path, "");
    gets_none(segment, FIRN_ESTORE, "/folder");
    assert_int_equal(rmdir(path), 0);
    pass(&world.clock, MINUTE);
    gets(segment);
    forget_witness(segment);
    ended(segment);
}

static char moved[400];

static void moves_away(void) {
    (void)rename(file, moved);
}

static void a_file_that_is_moved_while_it_is_open_issues_nothing(void **state) {
    int64_t next = -1;
    (void)state;
    firn_segment *segment = worked();
    snprintf(moved, sizeof moved, "%s/moved.db", folder);
    frail(segment);
    at_read = moves_away; /* inside a transaction, too: nobody can vouch for it then */
    (void)firn__stock_peek(firn__segment_stock(segment), &next, NULL);
    assert_true(next <= 0);
    at_read = NULL;
    assert_int_equal(rename(moved, file), 0);
    assert_int_equal(firn__stock_peek(firn__segment_stock(segment), &next, NULL), FIRN_OK);
    assert_true(next > 0);
    assert_int_equal(rename(file, moved), 0);
    away = true;
    int64_t first;
    assert_int_not_equal(firn_segment_block(segment, 100, &first, NULL), FIRN_OK);
    assert_int_equal(rename(moved, file), 0);
    assert_int_equal(take_some(segment), FIRN_OK);
    away = false;
    nothing_twice();
    ended(segment);
}

static void a_store_without_a_place_has_no_reserve(void **state) {
    char keys[500];
    firn_segment *segment;
    (void)state;
    snprintf(keys, sizeof keys, INTEGERS " reserve_path=%s", file);
    assert_int_equal(
        firn_segment_open(&segment, "orders", keys, world.log.real, &world.hands, NULL), FIRN_OK);
    gets_none(segment, FIRN_ESTORE, "needs a store with a place");
    ended(segment);
}

/* In memory it may be lost. */
static void the_file_of_the_user_is_the_default(void **state) {
    char path[400];
    firn_segment *segment, *careful;
    struct stat found;
    (void)state;
    assert_int_equal(setenv("XDG_STATE_HOME", folder, 1), 0);
    assert_int_equal(
        firn_segment_open(&segment, "orders", INTEGERS, world.store, &world.hands, NULL), FIRN_OK);
    gets(segment);
    snprintf(path, sizeof path, "%s/firn/reserve.db", folder);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(
        firn_segment_open(&careful, "orders", "reserve=1h", world.store, &world.hands, NULL),
        FIRN_OK);
    if (strncmp(folder, "/dev/shm", 8) == 0) {
        gets_none(careful, FIRN_ESTORE, "unsafe=1");
    }
    unsetenv("XDG_STATE_HOME"); /* end_world removes the folder */
    forget_witness(segment);
    ended(careful);
    ended(segment);
}

/* ---- the witness ----------------------------------------------------------------------------- */

static char *witness_of(char path[64], firn_segment *segment) {
    return firn__stock_witness(path, firn__segment_stock(segment));
}

/* Another user can make any file of its name. */
static void a_witness_that_is_no_file_delays_nobody(void **state) {
    char path[64];
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    assert_int_equal(unlink(witness_of(path, segment)), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    away = true;
    int64_t next;
    assert_int_equal(firn_segment_peek(segment, &next, NULL), FIRN_ESTORE);
    away = false;
    int64_t first;
    firn_error error = {0};
    assert_int_equal(firn_segment_block(segment, 9000, &first, &error), FIRN_ESYSTEM);
    error_text(&error, FIRN_ESYSTEM, "leave reserve out");
    forget_witness(segment);
    ended(segment);
}

static void a_damaged_witness_costs_no_blocks(void **state) {
    char path[64];
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    assert_int_equal(truncate(witness_of(path, segment), 100), 0);
    kill_integers(segment);
    segment = integers();
    const int64_t high = store_mark().high;
    gets_none(segment, FIRN_ESYSTEM, "leave reserve out");
    gets_none(segment, FIRN_ESYSTEM, "leave reserve out");
    assert_int_equal(store_mark().high, high);
    assert_int_equal(unlink(path), 0);
    gets(segment);
    nothing_twice();
    ended(segment);
}

/* Only a reserve that nobody vouches for: the store is asked, and the witness written again. */
static void a_witness_without_sense_drops_integers(void **state) {
    static const uint64_t large[2] = {UINT32_MAX, 0};
    char path[64];
    (void)state;
    firn_segment *segment = worked();
    for (int i = 0; i < 3; i++) {
        const int64_t mark = store_mark().high;
        const int out = open(witness_of(path, segment), O_RDWR | O_CLOEXEC);
        assert_int_equal(ftruncate(out, i == 1 ? (off_t)sizeof large : 0), 0);
        assert_int_equal(i == 1 ? pwrite(out, large, sizeof large, 0) : (ssize_t)sizeof large,
                         sizeof large);
        close(out);
        if (i == 2) { /* this name is not free, nor a file */
            assert_int_equal(unlink(path), 0);
            assert_int_equal(mkdir(path, 0700), 0);
        }
        away = true;
        int64_t first;
        firn_error error = {0};
        assert_int_equal(firn_segment_block(segment, 100, &first, &error), FIRN_ESTORE);
        error_text(&error, FIRN_ESTORE, "may be in use elsewhere");
        away = false;
        if (i == 2) {
            assert_int_equal(firn_segment_block(segment, 100, &first, NULL), FIRN_ESYSTEM);
            assert_int_equal(rmdir(path), 0);
        }
        assert_int_equal(firn_segment_block(segment, 100, &first, NULL), FIRN_OK);
        assert_true(first >= mark);
    }
    nothing_twice();
    ended(segment);
}

static int witness_lock = -1;         /* else each pause takes no time, and is counted, */
static int64_t paused_ns, unlocks_ns; /* until the lock is free; 0: it stays */

/* In place of the C library's. */
int nanosleep(const struct timespec *time, struct timespec *left) {
    if (witness_lock < 0) {
        return clock_nanosleep(CLOCK_REALTIME, 0, time, left) == 0 ? 0 : -1;
    }
    paused_ns += time->tv_sec * SECOND + time->tv_nsec;
    if (unlocks_ns > 0 && paused_ns >= unlocks_ns) {
        (void)flock(witness_lock, LOCK_UN);
    }
    return 0;
}

static void a_witness_that_another_process_locks_delays_a_call_only(void **state) {
    char path[64];
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    witness_lock = open(witness_of(path, segment), O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(witness_lock, LOCK_EX), 0);
    int64_t first;
    firn_error error = {0};
    paused_ns = unlocks_ns = 0;
    assert_int_equal(firn_segment_block(segment, 100, &first, &error), FIRN_ESYSTEM);
    error_text(&error, FIRN_ESYSTEM, "leave reserve out");
    assert_in_range(paused_ns, SECOND / 2, 2 * SECOND);
    paused_ns = 0;
    unlocks_ns = SECOND / 5;
    assert_int_equal(take_some(segment), FIRN_OK);
    assert_in_range(paused_ns, SECOND / 5, SECOND / 2);
    close(witness_lock);
    witness_lock = -1;
    drain(segment, 3000);
    nothing_twice();
    ended(segment);
}

/* Integers of a file that its group may write, too. */
static firn_segment *without_witness(char path[64]) {
    firn_segment *segment = integers();
    gets(segment);
    assert_int_equal(unlink(witness_of(path, segment)), 0);
    assert_int_equal(chmod(file, 0664), 0);
    return segment;
}

/* Its witness has the descriptor 0. */
static void a_process_without_standard_input_has_a_reserve(void **state) {
    char path[64];
    struct stat found;
    (void)state;
    firn_segment *segment = without_witness(path);
    const int input = dup(0);
    close(0);
    const int first = take_some(segment); /* makes the witness */
    away = true;
    const int second = take_some(segment);
    const int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input > 0) {
        dup2(input, 0);
        close(input);
    }
    assert_int_equal(first, FIRN_OK);
    assert_int_equal(second, FIRN_OK);
    assert_int_equal(none, 0); /* each was closed */
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0660);
    away = false;
    nothing_twice();
    ended(segment);
}

/* Not where only root reaches a folder above it. */
static bool is_reached_by_others(void) {
    assert_int_equal(seteuid(12345), 0);
    const bool reached = faccessat(AT_FDCWD, file, R_OK, AT_EACCESS) == 0;
    assert_int_equal(seteuid(0), 0);
    return reached;
}

/* As root does it with the file of a user, or one user of a group for another. */
static void a_witness_is_of_those_who_may_write_the_file(void **state) {
    char path[64];
    struct stat found;
    (void)state;
    firn_segment *segment = without_witness(path);
    const bool root = geteuid() == 0;
    if (root) {
        assert_int_equal(chown(file, 12345, 12346), 0);
    }
    drain(segment, 3000);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0660);
    if (root) {
        assert_int_equal(found.st_uid, 12345);
        assert_int_equal(found.st_gid, 12346);
        assert_int_equal(chown(path, 12347, 0), 0);
        kill_integers(segment);
        segment = integers();
        gets(segment); /* of the group */
        assert_int_equal(chmod(file, 0644), 0);
        int64_t first;
        assert_int_equal(firn_segment_block(segment, 9000, &first, NULL), FIRN_ESYSTEM);
        assert_int_equal(chown(path, 12345, 0), 0); /* of the owner */
        assert_int_equal(take_some(segment), FIRN_OK);
        /* The owner of the file writes the witness of root. */
        char command[500];
        snprintf(command, sizeof command, "chown 12345 '%s'*", file);
        assert_int_equal(system(command), 0);
        assert_int_equal(chown(path, 0, 0), 0);
        assert_int_equal(chmod(path, 0666), 0);
        assert_int_equal(chmod(folder, 0777), 0);
    }
    if (root && is_reached_by_others()) {
        char command[500];
        assert_int_equal(seteuid(12345), 0);
        assert_int_equal(take_some(segment), FIRN_OK);
        assert_int_equal(seteuid(0), 0);
        /* So does another user, who cannot give a new one to the group. */
        snprintf(command, sizeof command, "chmod 0666 '%s'*", file);
        assert_int_equal(system(command), 0);
        assert_int_equal(seteuid(12347), 0);
        assert_int_equal(take_some(segment), FIRN_OK);
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(seteuid(12347), 0);
        assert_int_equal(take_some(segment), FIRN_OK);
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(stat(path, &found), 0);
        assert_int_equal(found.st_mode & 0777, 0606);
        assert_int_equal(found.st_uid, 12347);
    }
    nothing_twice();
    ended(segment);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static int see_store_mark(void *context, const firn_holding *holding) {
    *(firn_mark *)context = holding->mark;
    return 0;
}

/* Asserts nothing, like everything that is called while the handle of the store is locked. */
static void loses_from(int64_t high) {
    firn_mark now = {0};
    (void)firn_store_list(world.log.real, "integer orders", see_store_mark, &now, NULL);
    (void)firn_store_give_back(world.log.real, "integer orders", "1", &now, high, NULL);
}

/* The store lost what this machine has in hand after it was looked at. */
static void loses_meanwhile(void) {
    loses_from(in_hand(file).end - 15);
}

static int look_at_loss(firn_segment *segment) {
    loses_meanwhile();
    return firn__stock_look(firn__segment_stock(segment), NULL);
}

static int refill_after_loss(firn_segment *segment) {
    const firn__stock_wish wish = {1, 1, 0, FIRN_SLOT_MAX};
    at_reserve = loses_meanwhile;
    const int code = firn__stock_refill(firn__segment_stock(segment), &wish, NULL);
    assert_int_not_equal(code, FIRN_OK);
    return code == FIRN_EBACK ? FIRN_OK : code;
}

static int64_t usable(firn__stock *stock) {
    int64_t left = -1, lasts_ms;
    assert_int_equal(firn__stock_show(stock, &left, &lasts_ms, NULL), FIRN_OK);
    return left;
}

/* A loss that cannot be written down is seen again. */
static void a_loss_is_seen_until_it_is_written(void **state) {
    static int (*const calls[])(firn_segment *) = {look_at_loss, refill_after_loss};
    const firn__stock_wish wish = {1, 1, 0, FIRN_SLOT_MAX};
    (void)state;
    firn_segment *segment = integers_of(file, "max_reserve=400 step=20");
    gets(segment);
    firn__stock *stock = frail(segment);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int at = 0, failed = 0, code;
        bool fired;
        do {
            for (int tries = 0; tries < 5 && usable(stock) < 20; tries++) {
                (void)firn__stock_refill(stock, &wish, NULL);
            }
            fails_in = ++at;
            code = calls[i](segment);
            fired = fails_in == 0;
            failed += code != FIRN_OK;
            fails_in = 0;
            if (i == 0) {
                assert_int_equal(code != FIRN_OK, fired);
                assert_int_equal(firn__stock_look(stock, NULL), FIRN_OK);
                assert_int_equal(usable(stock), 0);
            }
        } while (fired);
        assert_int_equal(code, FIRN_OK);
        assert_in_range(failed, 1, at - 1);
    }
    at_reserve = NULL;
    for (int i = 0; i < 3 && get(segment, NULL) != FIRN_OK; i++) {
    }
    gets(segment);
    nothing_twice();
    ended(segment);
}

/* A store that can say what it lost, and a process on it. */
static firn_segment *on_a_real_store(firn_store **shared) {
    char place[400], keys[500];
    firn_segment *segment = NULL;
    const firn_store_options options = {.unsafe = true};
    snprintf(place, sizeof place, "sqlite:%.200s/shared.db", folder);
    snprintf(keys, sizeof keys, INTEGERS " reserve_path=%s", file);
    assert_int_equal(firn_store_open(shared, place, &options, NULL), FIRN_OK);
    assert_int_equal(firn_segment_open(&segment, "orders", keys, *shared, &world.hands, NULL),
                     FIRN_OK);
    work(segment, 2 * MINUTE, SECOND);
    assert_true(in_hand(file).left > 0);
    return segment;
}

/* The process has what is its own; then nothing until somebody advances. */
static void refused_until_it_is_advanced(firn_segment *segment, firn_store *shared) {
    int64_t next;
    pass(&world.clock, MINUTE);
    assert_true(drain(segment, 100) < 100);
    gets_none(segment, FIRN_EBACK, "advance");
    assert_int_equal(in_hand(file).left, 0);
    assert_int_equal(firn_segment_advance(segment, 100000, &next, NULL), FIRN_OK);
    assert_true(gets(segment) >= 100000);
    nothing_twice();
    forget_witness(segment);
    ended(segment);
    firn_store_close(shared);
}

static void a_mark_below_the_reserve_is_a_loss(void **state) {
    firn_store *shared;
    firn_mark mark = {0};
    (void)state;
    firn_segment *segment = on_a_real_store(&shared);
    assert_int_equal(firn_store_list(shared, "integer orders", see_store_mark, &mark, NULL), 0);
    assert_int_equal(firn_store_give_back(shared, "integer orders", "1", &mark, 500, NULL), 0);
    refused_until_it_is_advanced(segment, shared);
}

/* Opens the segment again, with a copy of its file. */
static firn_segment *cloned(const char *copy, firn_store *shared) {
    char keys[900];
    firn_segment *clone = NULL;
    snprintf(keys, sizeof keys, INTEGERS " reserve_path=%s", copy);
    assert_int_equal(firn_segment_open(&clone, "orders", keys, shared, &world.hands, NULL),
                     FIRN_OK);
    return clone;
}

static void both_end(firn_segment *clone, firn_segment *segment, firn_store *shared) {
    forget_witness(clone);
    forget_witness(segment);
    ended(clone);
    ended(segment);
    firn_store_close(shared);
}

/* The original gave back what the copy has. */
static void a_copy_sees_no_loss_in_a_give_back(void **state) {
    char copy[400];
    firn_store *shared;
    (void)state;
    firn_segment *segment = on_a_real_store(&shared);
    copy_file(copy, "copy.db");
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    firn_segment *clone = cloned(copy, shared);
    gets(clone);
    drain(segment, 3000);
    drain(clone, 3000);
    nothing_twice();
    both_end(clone, segment, shared);
}

/* The same of a copy that has nothing left: its last refill is where the store is after that. */
static void an_empty_copy_sees_no_loss_in_a_give_back(void **state) {
    char copy[400];
    firn_store *shared;
    int64_t first;
    (void)state;
    firn_segment *segment = on_a_real_store(&shared);
    const shown_stock hand = in_hand(file);
    assert_int_equal(hand.blocks, 1);
    assert_int_equal(firn_segment_block(segment, hand.left, &first, NULL), FIRN_OK);
    assert_int_equal(in_hand(file).left, 0);
    copy_file(copy, "copy.db");
    assert_int_equal(firn_segment_block(segment, 1, &first, NULL), FIRN_OK);
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    firn_segment *clone = cloned(copy, shared);
    gets(clone);
    drain(segment, 3000);
    gets(segment);
    nothing_twice();
    both_end(clone, segment, shared);
}

/* Each process has a handle, which remembers what it reserved. */
static void a_give_back_of_another_process_is_no_loss(void **state) {
    char place[400], keys[900];
    firn_store *shared, *theirs;
    firn_segment *other = NULL;
    const firn_store_options options = {.unsafe = true};
    (void)state;
    firn_segment *segment = on_a_real_store(&shared);
    snprintf(place, sizeof place, "sqlite:%.200s/shared.db", folder);
    snprintf(keys, sizeof keys, INTEGERS " reserve_path=%s", file);
    assert_int_equal(firn_store_open(&theirs, place, &options, NULL), FIRN_OK);
    assert_int_equal(firn_segment_open(&other, "orders", keys, theirs, &world.hands, NULL),
                     FIRN_OK);
    assert_int_equal(firn_segment_give_back(other, NULL), FIRN_OK);
    drain(segment, 100); /* refills */
    assert_int_equal(drain(segment, 3000), 3000);
    gets(other);
    nothing_twice();
    forget_witness(segment);
    ended(other);
    ended(segment);
    firn_store_close(theirs);
    firn_store_close(shared);
}

/* The record had come as far as the older one: only the drop is between them. */
static void a_file_from_before_a_give_back_issues_nothing(void **state) {
    char copy[400];
    (void)state;
    firn_segment *segment = worked();
    copy_file(copy, "older.db");
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    kill_integers(segment);
    firn_segment *plain = open_segment("step=5000 adapt=0", FIRN_OK, "");
    assert_int_equal(drain(plain, 5000), 5000); /* what was given back */
    put_back(copy);
    away = true;
    segment = integers();
    gets_none(segment, FIRN_ESTORE, "has too few integers left");
    away = false;
    nothing_twice();
    ended(plain);
    ended(segment);
}

/* The copy is of a process that had taken more, returned it, and gave the rest back to the store. */
static void an_older_file_sees_no_loss_in_a_give_back(void **state) {
    char copy[400];
    (void)state;
    firn_segment *segment = worked();
    copy_file(copy, "older.db");
    ended(segment);
    segment = integers();
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    firn_segment *clone = integers_of(copy, ""); /* likewise */
    gets(clone);
    forget_witness(clone);
    ended(clone);
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    kill_integers(segment);
    put_back(copy);
    segment = integers();
    gets(segment);
    drain(segment, 3000);
    nothing_twice();
    ended(segment);
}

/* Nor if somebody gives back once more before the next refill. */
static void an_older_file_that_is_given_back_sees_no_loss(void **state) {
    char copy[400];
    (void)state;
    firn_segment *segment = worked();
    copy_file(copy, "older.db");
    ended(segment);
    segment = integers();
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    kill_integers(segment);
    put_back(copy);
    away = true;
    segment = integers();
    gets_none(segment, FIRN_ESTORE, "has too few integers left");
    away = false;
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    gets(segment);
    drain(segment, 3000);
    nothing_twice();
    ended(segment);
}

/* The witness shows that the machine never gave back as much. */
static void an_older_file_sees_a_loss(void **state) {
    char copy[400];
    (void)state;
    firn_segment *segment = worked();
    copy_file(copy, "older.db");
    const int64_t next = in_hand(copy).next;
    works(segment, 60);
    kill_integers(segment);
    put_back(copy);
    loses_from(next - 15);
    segment = integers();
    gets_none(segment, FIRN_EBACK, "which this machine had");
    nothing_twice();
    ended(segment);
}

/* An older copy from before several drops is used again after one of its blocks is lost. */
static void a_file_from_before_drops_is_soon_used_again(void **state) {
    char copy[400];
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    copy_file(copy, "older.db");
    for (int i = 0; i < 9; i++) {
        assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
        drain(segment, 50);
    }
    kill_integers(segment);
    put_back(copy);
    segment = integers();
    const int64_t high = store_mark().high;
    drain(segment, 100);
    assert_true(store_mark().high <= high + 4000);
    nothing_twice();
    ended(segment);
}

/* Of such a store nobody else learns it. */
static void a_store_that_cannot_declare_it_repeats_nothing_here(void **state) {
    (void)state;
    firn_segment *segment = worked();
    const shown_stock before = in_hand(file);
    const firn_mark now = store_mark();
    assert_int_equal(
        firn_store_give_back(world.log.real, "integer orders", "1", &now, before.next - 15, NULL),
        FIRN_OK);
    pass(&world.clock, MINUTE);
    int64_t first;
    firn_error error = {0};
    assert_int_equal(firn_segment_block(segment, 100, &first, &error), FIRN_EBACK);
    error_text(&error, FIRN_EBACK, "which this machine had");
    assert_int_not_equal(in_hand(file).end, before.end);
    drain(segment, 30000);
    nothing_twice();
    kill_integers(segment);
}

static void an_idle_process_sees_no_loss_in_a_give_back(void **state) {
    (void)state;
    firn_segment *segment = integers(), *other = integers();
    work(segment, 2 * MINUTE, SECOND);
    gets(other);
    assert_int_equal(firn_segment_give_back(other, NULL), FIRN_OK);
    pass(&world.clock, MINUTE);
    drain(segment, 3000);
    drain(other, 3000);
    nothing_twice();
    ended(other);
    ended(segment);
}

/* `count` integers are reserved with a key of its namespace, from `earliest` on. */
static int64_t reserve_as(const char *key, int64_t earliest, int64_t count) {
    const firn_request request = {.ns = "integer orders",
                                  .layout = "integer",
                                  .key = key,
                                  .count = count,
                                  .earliest = earliest,
                                  .latest = FIRN_SLOT_MAX - count,
                                  .grant = (uint64_t)earliest + 77,
                                  .note = ""};
    int64_t first = -1;
    firn_mark held;
    firn_error error = {0};
    if (firn_store_reserve(world.log.real, &request, &first, &held, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return first;
}

static void a_mark_of_another_key_is_no_loss(void **state) {
    (void)state;
    firn_segment *segment = worked();
    (void)reserve_as("2", 0, 5);
    const int64_t end = in_hand(file).end;
    pass(&world.clock, MINUTE);
    assert_int_equal(take_some(segment), FIRN_OK);
    assert_int_equal(in_hand(file).end, end);
    nothing_twice();
    ended(segment);
}

static firn_segment *meanwhile; /* of another process */

static void close_nothing(void *self) {
    (void)self;
}

/* A process that has its own handle, with these methods. */
static firn_segment *integers_with(const firn_store_ops *methods, firn_store **store) {
    firn_store *usual = world.store;
    static firn_store_ops ops;
    ops = *methods;
    ops.close = close_nothing;
    assert_int_equal(firn_store_wrap(store, &ops, &world.log, NULL), FIRN_OK);
    world.store = *store;
    firn_segment *segment = integers();
    world.store = usual;
    return segment;
}

static void gives_back_meanwhile(void) {
    (void)firn_segment_give_back(meanwhile, NULL);
}

static int begins;

/* At the third transaction of a look, in which it empties the record. */
static void refills_at_the_third(void) {
    if (++begins == 3) {
        pass(&world.clock, MINUTE); /* so that it looks, too */
        for (int i = 0; i < 5 && take_some(meanwhile) != FIRN_OK; i++) {
        }
    }
}

/* Another process has seen it too, and its next block stays. */
static void a_loss_that_two_see_drops_once(void **state) {
    firn_store *theirs = NULL;
    (void)state;
    firn_segment *segment = worked();
    meanwhile = integers_with(&shared_ops, &theirs);
    gets(meanwhile);
    loses_meanwhile();
    frail(segment);
    begins = 0;
    at_begin = refills_at_the_third;
    assert_int_equal(firn__stock_look(firn__segment_stock(segment), NULL), FIRN_OK);
    at_begin = NULL;
    assert_int_equal(begins, 3);
    assert_true(in_hand(file).left > 0);
    assert_int_equal(in_hand(file).end, store_mark().high);
    nothing_twice();
    ended(meanwhile);
    ended(segment);
    firn_store_close(theirs);
}

/* Between the record and the mark in the store. */
static void a_give_back_during_a_look_is_no_loss(void **state) {
    (void)state;
    firn_store *theirs = NULL;
    firn_segment *segment = worked();
    meanwhile = integers_with(&shared_ops, &theirs);
    gets(meanwhile);
    pass(&world.clock, MINUTE);
    at_list = gives_back_meanwhile;
    firn_error error = {0};
    assert_int_equal(firn__stock_look(firn__segment_stock(segment), &error), FIRN_OK);
    assert_null(at_list);
    assert_int_equal(told, 1);
    assert_int_equal(take_some(segment), FIRN_OK);
    nothing_twice();
    ended(meanwhile);
    ended(segment);
    firn_store_close(theirs);
}

static void take_in_stock(firn_segment *segment) {
    const firn__stock_wish wish = {20, 20, 0, FIRN_SLOT_MAX};
    int64_t first;
    firn_mark mark;
    (void)firn__stock_take(firn__segment_stock(segment), &wish, &first, &mark, NULL);
}

static void takes_meanwhile(void) {
    take_in_stock(meanwhile);
}

/* Another process takes more between the record of this one and its witness, whose descriptor is 0
 * without a standard input. */
static void a_later_witness_stays(void **state) {
    char path[64];
    (void)state;
    firn_segment *segment = worked();
    meanwhile = integers();
    gets(meanwhile);
    firn__stock *stock = frail(segment);
    stock->look_ms = stock->tend_ms = INT64_MAX;
    for (int i = 0; i < 2; i++) {
        uint64_t seen[2] = {0, 0};
        const int64_t next = in_hand(file).next;
        const int input = i == 1 ? dup(0) : -1;
        at_end = takes_meanwhile;
        if (input > 0) {
            close(0);
        }
        take_in_stock(segment);
        if (input > 0) {
            dup2(input, 0);
            close(input);
        }
        assert_null(at_end);
        assert_int_equal(in_hand(file).next, next + 40);
        const int in = open(witness_of(path, segment), O_RDONLY | O_CLOEXEC);
        assert_int_equal(pread(in, seen, sizeof seen, 0), sizeof seen);
        close(in);
        assert_int_equal(seen[1], next + 40);
    }
    ended(meanwhile);
    ended(segment);
}

static void a_loss_during_a_refill_drops_the_reserve(void **state) {
    (void)state;
    firn_segment *segment = worked();
    const int64_t end = in_hand(file).end;
    at_reserve = loses_meanwhile;
    int64_t first;
    firn_error error = {0};
    assert_int_equal(firn_segment_block(segment, 20000, &first, &error), FIRN_EBACK);
    error_text(&error, FIRN_EBACK, "the store of integer orders has lost reservations");
    assert_null(at_reserve);
    assert_int_equal(in_hand(file).left, 0);
    assert_int_equal(take_some(segment), FIRN_OK);
    assert_true(in_hand(file).next >= end);
    nothing_twice();
    ended(segment);
}

static void forgets_meanwhile(void) {
    forget_witness(meanwhile);
}

/* As if the record were an older copy. */
static void ages_meanwhile(void) {
    static uint64_t later[2] = {0, 0};
    char path[64];
    const int out = open(witness_of(path, meanwhile), O_WRONLY | O_CLOEXEC);
    later[0] += 100; /* its epoch */
    assert_int_equal(pwrite(out, later, sizeof later, 0), sizeof later);
    close(out);
}

static void ages_and_loses_meanwhile(void) {
    ages_meanwhile();
    loses_from(in_hand(file).next - 15);
}

/* An older record proves no loss either. */
static void a_file_in_doubt_after_a_request_keeps_only_the_block(void **state) {
    static void (*const hooks[])(void) = {forgets_meanwhile, ages_meanwhile,
                                          ages_and_loses_meanwhile};
    const firn__stock_wish wish = {1, 1, 0, FIRN_SLOT_MAX};
    (void)state;
    firn_segment *segment = worked();
    meanwhile = segment;
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        const int64_t end = store_mark().high, next = in_hand(file).next;
        told = 0;
        at_reserve = hooks[i];
        assert_int_equal(firn__stock_refill(firn__segment_stock(segment), &wish, NULL), FIRN_OK);
        assert_int_equal(told, i == 2);
        if (i < 2) {
            assert_int_equal(in_hand(file).next, end);
            assert_int_equal(in_hand(file).end, store_mark().high);
        }
        assert_int_equal(take_some(segment), FIRN_OK);
        assert_true((int64_t)ids[issued - 20] >= (i < 2 ? end : next));
    }
    nothing_twice();
    ended(segment);
}

/* The witness is gone each time: no block is ever sure. */
static void a_call_ends_although_others_use_up_all(void **state) {
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    meanwhile = segment;
    frail(segment);
    at_begin = forgets_meanwhile;
    int64_t first;
    firn_error error = {0};
    assert_int_equal(firn_segment_block(segment, 100, &first, &error), FIRN_ESTORE);
    error_text(&error, FIRN_ESTORE, "other processes use up");
    assert_int_equal(error.cure, FIRN_CURE_TRY_AGAIN);
    at_begin = NULL;
    gets(segment);
    nothing_twice();
    ended(segment);
}

/* A call of a store that hangs takes a second. Of the system's clock only: a test's clock does not
 * say when the pause is over. */
static void a_store_without_an_answer_is_a_pause(void **state) {
    const firn__stock_wish wish = {1, 1, 0, FIRN_SLOT_MAX};
    firn_error error = {0};
    int64_t first;
    (void)state;
    firn_segment *segment = worked();
    firn__stock *stock = firn__segment_stock(segment);
    const char *shared = firn__store_url(world.store);
    const firn_clock *usual = stock->clock;
    away = true;
    assert_int_equal(firn__stock_look(stock, NULL), FIRN_ESTORE);
    assert_false(firn__store_is_paused(shared));
    stock->clock = &firn__clock_system;
    assert_int_equal(firn__stock_look(stock, NULL), FIRN_ESTORE);
    assert_true(firn__store_is_paused(shared));
    away = false;
    const int lists = world.log.lists;
    stock->look_ms = stock->tend_ms = 0;
    assert_int_equal(take_some(segment), FIRN_OK);
    forget_witness(segment);
    assert_int_equal(firn_segment_block(segment, 20, &first, &error), FIRN_ESTORE);
    error_text(&error, FIRN_ESTORE, "it did not answer");
    assert_int_equal(world.log.lists, lists);
    firn__store_pause(shared, true);
    assert_int_equal(take_some(segment), FIRN_OK);
    unheard = true;
    assert_int_equal(firn__stock_refill(stock, &wish, NULL), FIRN_EUNKNOWN);
    assert_true(firn__store_is_paused(shared));
    unheard = false;
    assert_int_equal(firn__stock_refill(stock, &wish, NULL), FIRN_OK);
    assert_false(firn__store_is_paused(shared));
    stock->clock = usual;
    ended(segment);
}

/* The refusal repeats the words of the store: all if another try helps, else the reason and its cure. */
static void a_store_that_is_away_says_why(void **state) {
    static const struct {
        uint16_t cure;
        const char *text;
    } cures[] = {
        {FIRN_CURE_NONE, "integer orders has too few integers left in the reserve of this machine, "
                         "and the store is away: start it: start the store"},
        {FIRN_CURE_CHECK_STORE, "integer orders has too few integers left in the reserve of this "
                                "machine, and the store is away: start it"},
        {FIRN_CURE_TRY_AGAIN, "the store is away: start it"}};
    (void)state;
    away = true;
    firn_segment *segment = integers();
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++) {
        int64_t first;
        firn_error error = {0};
        away_cure = cures[i].cure;
        assert_int_equal(firn_segment_block(segment, 1, &first, &error), FIRN_ESTORE);
        assert_string_equal(error.text, cures[i].text);
        assert_true(i == 0 || error.cure == cures[i].cure);
    }
    char why[470];
    memset(why, 'w', sizeof why);
    why[sizeof why - 1] = '\0';
    reason = why; /* too long to be printed whole */
    away_cure = FIRN_CURE_NONE;
    gets_none(segment, FIRN_ESTORE, "wwww: start the store");
    ended(segment);
}

/* A process looks at most each 10 s, whether it takes integers or not. */
static void a_store_is_looked_at_seldom(void **state) {
    (void)state;
    firn_segment *segment = worked();
    pass(&world.clock, 10 * SECOND);
    assert_int_equal(take_some(segment), FIRN_OK);
    const int lists = world.log.lists;
    for (int i = 0; i < 9; i++) {
        pass(&world.clock, SECOND);
        assert_int_equal(take_some(segment), FIRN_OK);
        assert_int_equal(world.log.lists, lists);
    }
    pass(&world.clock, SECOND);
    assert_int_equal(take_some(segment), FIRN_OK);
    assert_true(world.log.lists > lists);
    nothing_twice();
    ended(segment);
}

static void goes_away(void) {
    away = true;
}

static void goes_away_later(void) {
    at_list = goes_away;
}

static void a_store_that_goes_away_after_a_look_grants_nothing(void **state) {
    (void)state;
    firn_segment *segment = integers();
    at_list = goes_away_later;
    gets_none(segment, FIRN_ESTORE, "and the store is away");
    away = false;
    pass(&world.clock, SECOND);
    assert_int_equal(gets(segment), 1);
    ended(segment);
}

static firn_store *declared;
static firn_segment *advancing;

/* A process sees a loss, and somebody advances, between a look at the store and the next one. */
static void declares_meanwhile(void) {
    int64_t next;
    if (declared != NULL) {
        assert_int_equal(firn__machine_declare(declared, NULL), FIRN_OK);
        assert_int_equal(firn_segment_advance(advancing, 1000000, &next, NULL), FIRN_OK);
        declared = NULL;
    }
}

static void (*at_rate)(void); /* between the two looks of a refill */

static int frail_begin_rate(void *self, const firn_records *names, firn_verb verb,
                            firn_error *error) {
    if (strcmp(names->key, "rate") == 0) {
        at_rate();
    }
    return whole_driver->begin(self, names, verb, error);
}

static void a_loss_before_a_refill_drops_the_reserve(void **state) {
    firn_store *shared;
    (void)state;
    firn_segment *segment = on_a_real_store(&shared);
    assert_int_equal(firn_segment_open(&advancing, "orders", "", shared, &world.hands, NULL),
                     FIRN_OK);
    assert_int_equal(firn__stock_look(firn__segment_stock(segment), NULL), FIRN_OK);
    assert_true(in_hand(file).left > 0); /* no loss yet */
    frail(segment);
    frail_driver.begin = frail_begin_rate;
    at_rate = declares_meanwhile;
    const firn__stock_wish wish = {1, 1, 0, FIRN_SLOT_MAX};
    declared = shared;
    assert_int_equal(firn__stock_refill(firn__segment_stock(segment), &wish, NULL), FIRN_OK);
    assert_null(declared);
    assert_true(in_hand(file).next >= 1000000);
    assert_int_equal(in_hand(file).blocks, 1);
    nothing_twice();
    forget_witness(segment);
    ended(advancing);
    ended(segment);
    firn_store_close(shared);
}

static void a_store_that_goes_away_during_a_refill_costs_no_blocks(void **state) {
    const firn__stock_wish wish = {1, 1, 0, FIRN_SLOT_MAX};
    firn_error error = {0};
    (void)state;
    firn_segment *segment = worked();
    const shown_stock before = in_hand(file);
    const firn_mark mark = store_mark();
    frail(segment);
    frail_driver.begin = frail_begin_rate;
    at_rate = goes_away;
    assert_int_equal(firn__stock_refill(firn__segment_stock(segment), &wish, &error), FIRN_ESTORE);
    error_text(&error, FIRN_ESTORE, "the store is away");
    assert_true(away);
    assert_int_equal(in_hand(file).left, before.left);
    assert_int_equal(store_mark().high, mark.high);
    away = false;
    assert_int_equal(take_some(segment), FIRN_OK);
    nothing_twice();
    ended(segment);
}

static firn_store *losing;

/* The store loses reservations between the look at it and the refill. */
static int frail_begin_loss(void *self, const firn_records *names, firn_verb verb,
                            firn_error *error) {
    if (losing != NULL && strcmp(names->key, "rate") == 0) {
        firn_mark mark = {0};
        (void)firn_store_list(losing, "integer orders", see_store_mark, &mark, NULL);
        (void)firn_store_give_back(losing, "integer orders", "1", &mark, 500, NULL);
        losing = NULL;
    }
    return whole_driver->begin(self, names, verb, error);
}

static void a_loss_that_a_refill_shows_is_declared(void **state) {
    firn_store *shared;
    const firn__stock_wish wish = {1, 1, 0, FIRN_SLOT_MAX};
    (void)state;
    firn_segment *segment = on_a_real_store(&shared);
    firn__stock *stock = frail(segment);
    frail_driver.begin = frail_begin_loss;
    losing = shared;
    assert_int_equal(firn__stock_refill(stock, &wish, NULL), FIRN_EBACK);
    assert_null(losing);
    refused_until_it_is_advanced(segment, shared);
}

static void a_declared_loss_drops_the_reserve(void **state) {
    firn_store *shared;
    (void)state;
    firn_segment *segment = on_a_real_store(&shared);
    assert_int_equal(firn__machine_declare(shared, NULL), FIRN_OK);
    refused_until_it_is_advanced(segment, shared);
}

static void an_advance_drops_the_reserve(void **state) {
    int64_t next;
    (void)state;
    firn_segment *segment = integers(), *other = integers();
    gets(segment);
    gets(other);
    const int64_t mark = store_mark().high;
    frail(segment);
    fails_in = 1; /* what is in hand is below, so it must go first */
    assert_int_equal(firn_segment_advance(segment, 50000, &next, NULL), FIRN_ESTORE);
    assert_int_equal(store_mark().high, mark);
    assert_int_equal(firn_segment_advance(segment, 50000, &next, NULL), FIRN_OK);
    assert_true(next >= 50000);
    drain(other, 20);
    assert_true(gets(other) >= 50000);
    nothing_twice();
    ended(other);
    ended(segment);
}

/* The handle of a process that advances remembers a refill which another process has given back. */
static void an_advance_after_a_give_back_is_no_loss(void **state) {
    char place[400], keys[900];
    firn_store *shared, *theirs;
    firn_records before, after;
    firn_segment *other = NULL;
    const firn_store_options options = {.unsafe = true};
    int64_t next;
    (void)state;
    firn_segment *segment = on_a_real_store(&shared);
    snprintf(place, sizeof place, "sqlite:%.200s/shared.db", folder);
    snprintf(keys, sizeof keys, INTEGERS " reserve_path=%s", file);
    assert_int_equal(firn_store_open(&theirs, place, &options, NULL), FIRN_OK);
    assert_int_equal(firn_segment_open(&other, "orders", keys, theirs, &world.hands, NULL),
                     FIRN_OK);
    assert_int_equal(firn__store_known(theirs, "integer orders", "1", &before, NULL), FIRN_OK);
    assert_int_equal(firn_segment_give_back(other, NULL), FIRN_OK);
    assert_int_equal(firn_segment_advance(segment, 5, &next, NULL), FIRN_OK);
    assert_int_equal(firn__store_known(theirs, "integer orders", "1", &after, NULL), FIRN_OK);
    assert_int_equal(after.losses, before.losses);
    gets(other);
    nothing_twice();
    forget_witness(segment);
    ended(other);
    ended(segment);
    firn_store_close(theirs);
    firn_store_close(shared);
}

/* ---- refills --------------------------------------------------------------------------------- */

static void a_block_whose_reply_is_lost_is_a_gap(void **state) {
    (void)state;
    firn_segment *segment = integers();
    unheard = true;
    gets_none(segment, FIRN_EUNKNOWN, "");
    unheard = false;
    pass(&world.clock, SECOND);
    assert_true(gets(segment) > 1);
    drain(segment, 3000);
    nothing_twice();
    ended(segment);
}

static bool overtakes;

static int reserve_and_be_overtaken(void *self, const firn_request *request, int64_t *first,
                                    firn_mark *held, firn_error *error) {
    const int code = shared_reserve(self, request, first, held, error);
    if (overtakes) {
        overtakes = false;
        drain(meanwhile, 3000);
    }
    return code;
}

/* Another process fetches, and uses up, a later block before this one has written down its own. */
static void who_is_overtaken_raises_no_alarm(void **state) {
    (void)state;
    firn_store *slow = NULL;
    firn_store_ops ops = shared_ops;
    ops.reserve = reserve_and_be_overtaken;
    meanwhile = integers();
    firn_segment *segment = integers_with(&ops, &slow);
    gets(segment);
    drain(segment, 1900);
    overtakes = true;
    int64_t first;
    firn_error error = {0};
    if (firn_segment_block(segment, 2500, &first, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    assert_false(overtakes);
    for (int64_t i = 0; i < 2500; i++) {
        keep_id((uint64_t)(first + i));
    }
    drain(segment, 3000);
    drain(meanwhile, 3000);
    nothing_twice();
    ended(meanwhile);
    ended(segment);
    firn_store_close(slow);
}

#define ROWS  INT64_C(100000) /* between the integers of two rows */
#define COUNT 2000 /* integers of the block that is fetched; the store grants both requests, */
#define END   (-1) /* and this is the end of the last one */

/* The record that another process leaves while a block is fetched, the block, and the record
 * after it. */
typedef struct placed {
    firn__stock_record record; /* high is its mark */
    int64_t at;                /* the block begins here, */
    bool again;                /* and was asked for twice */
    int64_t earliest, least;   /* of the wish */
    firn__stock_record after;  /* empty: there is no place for the block */
} placed;

#define HAS(high, ceiling, first, end, twice)                                                      \
    { twice, {high, 0}, ceiling, first, end, 0, 0, 0, 0, 0 }

static const placed places[] = {
    /* The present one is used up. */
    {HAS(50, 50, 0, 0, true), 60, false, 0, 1, HAS(60, END, 0, 0, false)},
    {HAS(50, 50, 0, 0, false), 50, true, 0, 1, HAS(50, END, 0, 0, true)},
    /* The block continues the present one: both were sent once, or neither is given back. */
    {HAS(10, 50, 0, 0, false), 50, false, 0, 1, HAS(10, END, 0, 0, false)},
    {HAS(10, 50, 0, 0, true), 50, false, 0, 1, HAS(10, END, 0, 0, true)},
    {HAS(10, 50, 0, 0, false), 50, true, 0, 1, HAS(10, END, 0, 0, true)},
    /* The block is the next one. */
    {HAS(10, 50, 0, 0, true), 60, false, 0, 1, HAS(10, 50, 60, END, false)},
    {HAS(10, 50, 0, 0, false), 60, true, 0, 1, HAS(10, 50, 60, END, true)},
    /* The block continues the next one. */
    {HAS(10, 50, 60, 80, false), 80, false, 0, 1, HAS(10, 50, 60, END, false)},
    {HAS(10, 50, 60, 80, false), 80, true, 0, 1, HAS(10, 50, 60, END, true)},
    /* There is a next one: only if both are too short for the wish, the present one is left */
    {HAS(10, 50, 60, 80, false), 90, false, 0, 1, {0}},
    {HAS(10, 50, 60, 80, false), 90, true, 0, 1, {0}},
    {HAS(48, 50, 60, 80, true), 90, false, 0, 30, HAS(60, 80, 90, END, false)},
    {HAS(20, 50, 60, 62, false), 90, false, 0, 30, {0}},
    {HAS(48, 50, 60, 90, false), 95, false, 0, 30, {0}},
    {HAS(10, 50, 60, 80, false), 90, false, 70, 11, HAS(60, 80, 90, END, false)},
    {HAS(10, 50, 60, 80, false), 90, false, 70, 10, {0}},
    {HAS(10, 50, 60, 80, false), 90, false, 20, 30, {0}},
    {HAS(10, 50, 60, 80, false), 90, false, 20, 31, HAS(60, 80, 90, END, false)},
    /* The block is below. */
    {HAS(100, 100, 0, 0, false), 95, false, 0, 1, {0}},
    {HAS(100, 0, 0, 0, false), 95, false, 0, 1, {0}},
    {HAS(10, 50, 0, 0, false), 40, false, 0, 1, {0}},
    {HAS(10, 50, 60, 80, false), 70, false, 0, 1, {0}},
};
static const placed *place;
static firn__stock *places_of;
static int64_t row_at;

static void set_record(const firn__stock_record *record, uint64_t grant) {
    firn_records seen;
    firn__stock_record now;
    firn__stock_doubt doubt;
    assert_int_equal(firn__stock_begin(places_of, &seen, &now, &doubt, NULL), FIRN_OK);
    now.twice = record->twice;
    now.mark.high = record->mark.high + row_at;
    now.ceiling = grant != 0 ? record->ceiling + row_at : 0;
    now.first = record->first + row_at;
    now.end = record->end + row_at;
    now.grant = grant;
    assert_int_equal(firn__stock_commit(places_of, &seen, &now, NULL), FIRN_OK);
}

static void place_meanwhile(void) {
    set_record(&place->record, 99);
    (void)reserve_as("1", row_at + place->at - 1 - (place->again ? COUNT : 0), 1);
}

static void a_block_has_its_place(void **state) {
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    places_of = firn__segment_stock(segment);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        static const firn__stock_record nothing;
        firn_records seen;
        firn__stock_record now;
        firn__stock_doubt doubt;
        place = &places[i];
        row_at = ROWS * (int64_t)(i + 1);
        set_record(&nothing, 0);
        const bool fits = place->after.mark.high != 0;
        const firn__stock_record *after = fits ? &place->after : &place->record;
        const int64_t earliest = place->earliest > 0 ? place->earliest + row_at : 0;
        const firn__stock_wish wish = {0, place->least, earliest, FIRN_SLOT_MAX};
        world.log.fate = FATE_LOST;
        world.log.fated = place->again;
        at_reserve = place_meanwhile;
        told = 0;
        assert_int_equal(firn__stock_refill(places_of, &wish, NULL), FIRN_OK);
        assert_int_equal(told, !fits && !place->again);
        const int64_t end = row_at + place->at + COUNT;
        assert_int_equal(world.log.last.count, COUNT);
        assert_int_equal(store_mark().high, told ? row_at + place->at : end);
        assert_int_equal(firn__stock_begin(places_of, &seen, &now, &doubt, NULL), FIRN_OK);
        assert_int_equal(firn__stock_end(places_of, FIRN_OK), FIRN_OK);
        assert_int_equal(now.mark.high, row_at + after->mark.high);
        assert_int_equal(now.ceiling, after->ceiling == END ? end : row_at + after->ceiling);
        assert_int_equal(now.end, after->end == END ? end : row_at + after->end);
        if (now.first < now.end) {
            assert_int_equal(now.first, row_at + after->first);
        }
        assert_int_equal(now.twice, after->twice);
        assert_int_equal(now.grant, fits ? world.log.last.grant : 99);
    }
    ended(segment);
}

/* A wish, where its integers begin, and the record after it. */
typedef struct taken {
    firn__stock_record record;
    firn__stock_wish wish;
    int64_t first; /* 0: the store is asked, and the record stays */
    firn__stock_record after;
} taken;

static const taken takes[] = {
    {HAS(10, 50, 0, 0, 0), {20, 1, 0, 90}, 10, HAS(30, 50, 0, 0, 0)},
    {HAS(10, 50, 0, 0, 0), {99, 40, 0, 90}, 10, HAS(50, 50, 0, 0, 0)},
    {HAS(10, 50, 0, 0, 0), {99, 41, 0, 90}, 0, HAS(10, 50, 0, 0, 0)},
    {HAS(10, 50, 60, 80, 0), {20, 20, 0, 90}, 10, HAS(30, 50, 60, 80, 0)},
    {HAS(40, 50, 60, 80, 0), {15, 11, 0, 90}, 60, HAS(75, 80, 0, 0, 0)},
    {HAS(40, 50, 60, 80, 0), {99, 20, 0, 90}, 60, HAS(80, 80, 0, 0, 0)},
    {HAS(40, 50, 60, 80, 0), {99, 21, 0, 90}, 0, HAS(40, 50, 60, 80, 0)},
    {HAS(10, 50, 60, 80, 0), {20, 1, 25, 90}, 25, HAS(45, 50, 60, 80, 0)},
    {HAS(10, 50, 60, 80, 0), {20, 6, 45, 90}, 60, HAS(80, 80, 0, 0, 0)},
    {HAS(10, 50, 60, 80, 0), {20, 1, 70, 90}, 70, HAS(80, 80, 0, 0, 0)},
    {HAS(10, 50, 0, 0, 0), {99, 1, 0, 30}, 10, HAS(30, 50, 0, 0, 0)},
    {HAS(10, 50, 60, 80, 0), {99, 41, 0, 70}, 0, HAS(10, 50, 60, 80, 0)},
    {HAS(10, 50, 60, 80, 0), {99, 6, 45, 70}, 60, HAS(70, 80, 0, 0, 0)},
};

static firn__stock_record record_now(void) {
    firn_records seen;
    firn__stock_record now;
    firn__stock_doubt doubt;
    assert_int_equal(firn__stock_begin(places_of, &seen, &now, &doubt, NULL), FIRN_OK);
    assert_int_equal(firn__stock_end(places_of, FIRN_OK), FIRN_OK);
    return now;
}

/* A note of somebody else has integers in hand, but no refill. */
static void integers_without_a_refill_are_dropped(void **state) {
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    places_of = firn__segment_stock(segment);
    firn_records seen;
    firn__stock_record now;
    firn__stock_doubt doubt;
    assert_int_equal(firn__stock_begin(places_of, &seen, &now, &doubt, NULL), FIRN_OK);
    now.grant = 0;
    assert_true(firn__stock_left(&now) > 0);
    assert_int_equal(firn__stock_commit(places_of, &seen, &now, NULL), FIRN_OK);
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    now = record_now();
    assert_int_equal(firn__stock_left(&now), 0);
    gets(segment);
    nothing_twice();
    ended(segment);
}

static void a_wish_takes_what_fits(void **state) {
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    places_of = firn__segment_stock(segment);
    places_of->look_ms = places_of->tend_ms = INT64_MAX;
    away = true;
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        const taken *row = &takes[i];
        int64_t first = 0, next = 0;
        firn_mark mark = {0};
        row_at = ROWS * (int64_t)(i + 1);
        firn__stock_wish wish = row->wish;
        wish.earliest += wish.earliest > 0 ? row_at : 0;
        wish.stop += row_at;
        set_record(&row->record, 99);
        const firn__stock_record before = record_now();
        assert_int_equal(firn__stock_take(places_of, &wish, &first, &mark, NULL),
                         row->first == 0 ? FIRN_ESTORE : FIRN_OK);
        const firn__stock_record now = record_now();
        assert_int_equal(now.mark.high, row_at + row->after.mark.high);
        assert_int_equal(now.ceiling, row_at + row->after.ceiling);
        assert_int_equal(firn__stock_left(&now), firn__stock_left(&row->after));
        if (row->first == 0) {
            continue;
        }
        const int64_t count = now.mark.high - first;
        assert_int_equal(first, row_at + row->first);
        assert_int_equal(mark.high, now.mark.high);
        assert_int_equal(mark.grant, now.mark.grant);
        assert_int_equal(now.taken - before.taken, count);
        assert_int_equal(firn__stock_peek(places_of, &next, NULL), FIRN_OK);
        assert_int_equal(next, now.mark.high < now.ceiling ? now.mark.high
                               : now.first < now.end       ? now.first
                                                           : 0);
        /* Only the one who took last gives back. */
        const firn_mark others[] = {{mark.high, mark.grant + 1}, {mark.high - 1, mark.grant}};
        assert_int_equal(firn__stock_return(places_of, &others[0], first, NULL), FIRN_EBUSY);
        assert_int_equal(firn__stock_return(places_of, &others[1], first, NULL), FIRN_EBUSY);
        assert_int_equal(firn__stock_return(places_of, &mark, first + 1, NULL), FIRN_OK);
        assert_int_equal(firn__stock_return(places_of, &mark, first, NULL), FIRN_EBUSY);
        assert_int_equal(record_now().mark.high, first + 1);
        assert_int_equal(record_now().taken - before.taken, 1);
    }
    /* The present block is used up, and there is a next one. */
    row_at += ROWS;
    set_record(&(firn__stock_record){.mark = {50, 0}, .ceiling = 50, .first = 60, .end = 80}, 99);
    int64_t next = 0;
    assert_int_equal(firn__stock_peek(places_of, &next, NULL), FIRN_OK);
    assert_int_equal(next, row_at + 60);
    ended(segment);
}

/* Another one comes after the present one: only that is the store's last. */
static void what_is_given_back_is_the_next_block(void **state) {
    const firn__stock_wish wish = {1, 1, 0, FIRN_SLOT_MAX};
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    (void)reserve_as("1", 0, 7);
    const int64_t high = store_mark().high;
    assert_int_equal(firn__stock_refill(firn__segment_stock(segment), &wish, NULL), FIRN_OK);
    assert_int_equal(in_hand(file).blocks, 2);
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    assert_int_equal(told, 1);
    assert_int_equal(store_mark().high, high);
    assert_int_equal(in_hand(file).left, 0);
    gets(segment);
    nothing_twice();
    ended(segment);
}

static void what_is_given_back_is_the_last_block(void **state) {
    (void)state;
    firn_segment *segment = integers(), *other = NULL;
    gets(segment);
    ended(segment);
    segment = integers();
    const int64_t next = in_hand(file).next;
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    assert_int_equal(told, 1);
    assert_int_equal(store_mark().high, next);
    assert_int_equal(in_hand(file).left, 0);
    gets(segment);
    other = open_segment("", FIRN_OK, ""); /* somebody else comes after it */
    gets(other);
    const int64_t high = store_mark().high;
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    assert_int_equal(store_mark().high, high);
    drain(segment, 100);
    nothing_twice();
    ended(other);
    ended(segment);
}

static void look_closed(void) {
    assert_int_equal(in_hand(file).left, 0);
}

static void a_block_is_closed_before_the_store_hears_of_it(void **state) {
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    at_give_back = look_closed;
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    assert_int_equal(told, 1);
    at_give_back = NULL;
    drain(segment, 100);
    nothing_twice();
    ended(segment);
}

static void without_its_store_no_integer_is_given_back(void **state) {
    (void)state;
    firn_segment *segment = integers(), *plain = open_segment("", FIRN_OK, "");
    gets(segment);
    const int64_t left = in_hand(file).left;
    away = true;
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_ESTORE);
    assert_int_equal(in_hand(file).left, left);
    away = false;
    assert_int_equal(firn_segment_give_back(plain, NULL), FIRN_EUSAGE);
    ended(plain);
    ended(segment);
}

/* The first reply is lost: a late copy of the request may still come. */
static void a_block_that_was_asked_for_twice_is_not_given_back(void **state) {
    (void)state;
    world.log.fate = FATE_LOST;
    world.log.fated = 1;
    firn_segment *segment = integers();
    gets(segment);
    const int64_t high = store_mark().high;
    assert_int_equal(firn_segment_give_back(segment, NULL), FIRN_OK);
    assert_int_equal(told, 0);
    assert_int_equal(store_mark().high, high);
    ended(segment);
}

static void a_copy_gives_nothing_back(void **state) {
    char copy[400];
    (void)state;
    firn_segment *segment = integers();
    gets(segment);
    copy_file(copy, "copy.db");
    firn_segment *clone = integers_of(copy, "");
    assert_int_equal(firn_segment_give_back(clone, NULL), FIRN_OK);
    assert_int_equal(told, 0);
    drain(segment, 3000);
    nothing_twice();
    ended(clone);
    ended(segment);
}

/* ---- random lives ---------------------------------------------------------------------------- */

static uint64_t dice(uint64_t *seed, uint64_t sides) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed % sides;
}

#define LIVES 4

static void live(uint64_t *seed, firn_segment *each[LIVES], char copy[400], int *older) {
    const size_t who = dice(seed, LIVES);
    char path[401];
    snprintf(path, sizeof path, "%s%s", file, who >= 3 ? "2" : "");
    if (each[who] == NULL) {
        each[who] = integers_of(path, "reserve=1min max_reserve=400 step=20");
    }
    switch (dice(seed, 24)) {
    case 0:
        away = !away;
        break;
    case 1:
        if (kills < 60) {
            kill_integers(each[who]);
            each[who] = NULL;
        }
        break;
    case 2:
        (void)firn_segment_close(each[who], NULL);
        each[who] = NULL;
        break;
    case 3:
        (void)firn_segment_give_back(each[who], NULL);
        break;
    case 4:
        unheard = dice(seed, 2) == 0;
        break;
    case 5:
        if (dice(seed, 8) == 0) {
            firn_renew_identity();
        }
        break;
    case 6:
        if (dice(seed, 4) == 0) {
            copy_file(copy, "older.db");
            *older = 1;
        }
        break;
    case 7: /* an older file is put back while no process runs */
        if (*older && dice(seed, 4) == 0) {
            for (size_t i = 0; i < 3; i++) {
                (void)firn_segment_close(each[i], NULL);
                each[i] = NULL;
            }
            while (kills > 0) {
                (void)firn_segment_close(killed[--kills], NULL);
            }
            put_back(copy);
        }
        break;
    case 8:
        forget_witness(each[who]);
        break;
    default:
        drain(each[who], (int64_t)dice(seed, 60));
        pass(&world.clock, (int64_t)dice(seed, 20) * SECOND);
    }
}

static void random_lives_repeat_no_integer(void **state) {
    const char *given = getenv("SEEDS"), *brief = getenv("TEST_SHORT");
    const uint64_t seeds = given != NULL ? strtoull(given, NULL, 10) : brief != NULL ? 4 : 20;
    for (uint64_t i = 1; i <= seeds; i++) {
        uint64_t seed = i * UINT64_C(0x9e3779b97f4a7c15);
        firn_segment *each[LIVES] = {NULL};
        char copy[400];
        int older = 0;
        if (i > 1) {
            end_integers(state);
            begin_world(state);
        }
        for (int step = 0; step < 600; step++) {
            live(&seed, each, copy, &older);
        }
        print_message("# seed %" PRIu64 ": %zu integers, %d give backs\n", i, issued, told);
        nothing_twice();
        for (size_t k = 0; k < LIVES; k++) {
            if (each[k] != NULL) {
                forget_witness(each[k]);
                (void)firn_segment_close(each[k], NULL);
            }
        }
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static void a_damaged_note_has_nothing_in_hand(void **state) {
    static const char *const notes[] = {"",
                                        "i0",
                                        "x0 9 0 0 7 1 1 0 1",
                                        "i0 9 5 6 7 1 1 0 1",
                                        "i0 9 b a 7 1 1 0 1",
                                        "i0 9 0 0 7 1 1 0 1 more",
                                        "i0 9 a b 7 1 1 0",
                                        "i0 9 a 4000000000000001 7 1 1 0 1",
                                        "i0 4000000000000001 0 0 7 1 1 0 1",
                                        "i0 ffffffffffffffff 0 0 7 1 1 0 1"};
    firn__stock_record record;
    (void)state;
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        assert_false(firn__stock_read(&record, &(firn_mark){1, 2}, notes[i]));
        assert_int_equal(firn__stock_left(&record), 0);
    }
    const firn__stock_record written = {.twice = true,
                                        .mark = {FIRN_SLOT_MAX - 4, 3},
                                        .ceiling = FIRN_SLOT_MAX - 3,
                                        .first = FIRN_SLOT_MAX - 2,
                                        .end = FIRN_SLOT_MAX,
                                        .grant = UINT64_MAX,
                                        .here = UINT64_MAX,
                                        .there = UINT64_MAX >> 16,
                                        .taken = UINT64_MAX >> 16,
                                        .epoch = UINT32_MAX};
    char note[FIRN_NOTE_SIZE];
    assert_true(strlen(firn__stock_write(note, &written)) < FIRN_NOTE_SIZE - 1);
    assert_true(firn__stock_read(&record, &written.mark, note));
    assert_int_equal(firn__stock_left(&record), 3);
    assert_int_equal(record.grant, written.grant);
    assert_int_equal(record.taken, written.taken);
    assert_int_equal(record.epoch, written.epoch);
    assert_true(record.twice);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_world, end_integers)
int main(int count, char **words) {
    const struct CMUnitTest tests[] = {
        TEST(integers_outlive_their_store),
        TEST(a_process_that_starts_meanwhile_continues),
        TEST(a_new_segment_is_refused_meanwhile),
        TEST(a_serial_has_no_reserve),
        TEST(without_a_reserve_integers_end_with_their_block),
        TEST(a_reserve_tells_how_long_it_lasts),
        TEST(a_rate_rises_at_once_and_falls_slowly),
        TEST(what_may_not_be_used_lasts_for_no_time),
        TEST(few_integers_make_a_small_reserve),
        TEST(the_reserve_has_a_maximum),
        TEST(a_reserve_lasts_its_time_at_the_recent_rate),
        TEST(integers_end_at_the_end),
        TEST(an_end_counts_in_the_reserve_too),
        TEST(a_start_that_was_raised_counts_in_the_reserve_too),
        TEST(blocks_are_whole),
        TEST(two_machines_share_a_store),
        TEST(a_copy_issues_nothing),
        TEST(a_copy_that_is_trusted_continues),
        TEST(an_older_file_that_is_put_back_issues_nothing),
        TEST(another_file_that_is_put_there_issues_nothing),
        TEST(a_boot_drops_integers),
        TEST(another_machine_drops_integers),
        TEST(a_copy_of_the_process_drops_integers),
        TEST(a_child_continues),
        TEST(a_file_that_cannot_be_looked_at_costs_no_blocks),
        TEST(a_call_of_the_file_that_fails_repeats_nothing),
        TEST(each_call_of_the_file_has_the_lock),
        TEST(a_file_that_lost_records_drops_integers),
        TEST(a_file_that_cannot_be_opened_is_tried_again),
        TEST(a_file_that_is_moved_while_it_is_open_issues_nothing),
        TEST(a_store_without_a_place_has_no_reserve),
        TEST(the_file_of_the_user_is_the_default),
        TEST(a_witness_that_is_no_file_delays_nobody),
        TEST(a_damaged_witness_costs_no_blocks),
        TEST(a_witness_without_sense_drops_integers),
        TEST(a_witness_that_another_process_locks_delays_a_call_only),
        TEST(a_process_without_standard_input_has_a_reserve),
        TEST(a_witness_is_of_those_who_may_write_the_file),
        TEST(a_mark_below_the_reserve_is_a_loss),
        TEST(a_copy_sees_no_loss_in_a_give_back),
        TEST(an_empty_copy_sees_no_loss_in_a_give_back),
        TEST(a_give_back_of_another_process_is_no_loss),
        TEST(a_file_from_before_a_give_back_issues_nothing),
        TEST(an_older_file_sees_no_loss_in_a_give_back),
        TEST(an_older_file_that_is_given_back_sees_no_loss),
        TEST(an_older_file_sees_a_loss),
        TEST(a_file_from_before_drops_is_soon_used_again),
        TEST(a_store_that_cannot_declare_it_repeats_nothing_here),
        TEST(an_idle_process_sees_no_loss_in_a_give_back),
        TEST(a_mark_of_another_key_is_no_loss),
        TEST(a_give_back_during_a_look_is_no_loss),
        TEST(a_loss_is_seen_until_it_is_written),
        TEST(a_loss_that_two_see_drops_once),
        TEST(a_later_witness_stays),
        TEST(a_loss_during_a_refill_drops_the_reserve),
        TEST(a_file_in_doubt_after_a_request_keeps_only_the_block),
        TEST(a_call_ends_although_others_use_up_all),
        TEST(a_store_without_an_answer_is_a_pause),
        TEST(a_store_that_is_away_says_why),
        TEST(a_store_is_looked_at_seldom),
        TEST(a_store_that_goes_away_after_a_look_grants_nothing),
        TEST(a_loss_before_a_refill_drops_the_reserve),
        TEST(a_store_that_goes_away_during_a_refill_costs_no_blocks),
        TEST(a_loss_that_a_refill_shows_is_declared),
        TEST(a_declared_loss_drops_the_reserve),
        TEST(an_advance_drops_the_reserve),
        TEST(an_advance_after_a_give_back_is_no_loss),
        TEST(a_block_whose_reply_is_lost_is_a_gap),
        TEST(who_is_overtaken_raises_no_alarm),
        TEST(a_block_has_its_place),
        TEST(integers_without_a_refill_are_dropped),
        TEST(a_wish_takes_what_fits),
        TEST(what_is_given_back_is_the_next_block),
        TEST(what_is_given_back_is_the_last_block),
        TEST(a_block_is_closed_before_the_store_hears_of_it),
        TEST(without_its_store_no_integer_is_given_back),
        TEST(a_block_that_was_asked_for_twice_is_not_given_back),
        TEST(a_copy_gives_nothing_back),
        TEST(random_lives_repeat_no_integer),
        TEST(a_damaged_note_has_nothing_in_hand),
    };
    if (count > 1) {
        cmocka_set_test_filter(words[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
