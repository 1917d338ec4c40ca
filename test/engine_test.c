/* SPDX-License-Identifier: MIT */
/* The engine of stores (src/engine.c) over a scripted driver: a store in memory whose writes are
 * carried out and then denied, arrive late, or meet an older copy, an emptied store or another one.
 * Nobody may issue a slot twice, a refusal must be true, and when the faults end everybody issues
 * again. */
#include <firn/firn.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../src/engine.h"
#include "../src/fork_memory.h"
#include "../src/law.h"
#include "chance.h"
#include "in_child.h"

#define OPEN      "0x0:1 time:41/ms node:10 sequence:12"
#define SHUT      "closed (forgotten): " OPEN /* which can be opened in doubt */
#define SPACES    2 /* the first has a guard; the second has none, as integers */
#define KEYS      2
#define HANDLES   4
#define EARLIER   8
#define LATE      6
#define MARGIN    500
#define SLOTS     (INT64_C(1) << 23)
#define STEPS     8000
#define FOREVER   (INT64_C(1) << 40)
#define ONE_IN(n) (chance() % (n) == 0)

/* ---- the store ------------------------------------------------------------------------------- */

typedef struct space {
    bool known, shut;
    int64_t losses, floor;
    uint64_t version;
} space;

typedef struct engine_mark {
    bool known;
    firn_mark mark;
    uint64_t version;
} engine_mark;

/* Versions are numbers of writes, so they come again after a restore. */
typedef struct world {
    uint64_t history; /* which copy answers */
    uint64_t writes;
    bool known;
    uint64_t origin, noted; /* `noted`: the history that the store's record names */
    int64_t losses;
    uint64_t version;
    space spaces[SPACES];
    engine_mark marks[SPACES][KEYS];
} world;

/* A write on its way. */
typedef struct sent_request {
    int ns, key, which;
    firn_records seen, next;
    bool adds;
    firn_raise raise;
} sent_request;

typedef struct handle {
    void *engine;
    uint64_t history; /* that answered last */
    uint64_t since;   /* the history when it last remembered nothing */
    bool suspect, remembers;
} handle;

/* The faults of the driver. */
typedef struct plan {
    bool faults;
    bool hides_foreign; /* injected: says done where another copy carried it out */
    bool hides_losses;  /* injected: never sees that the store was replaced */
    bool stale_refuses; /* injected: an old read counts as fresh */
    bool adds_warm;     /* injected: an add compares no other records */
} plan;

static world now, earlier[EARLIER], saved;
static sent_request late[LATE];
static size_t late_count, earlier_count;
static uint64_t histories;
static handle handles[HANDLES];
static plan the;
static int events;       /* that happened to the store */
static int reads, adds;  /* of the driver */
static bool adding;      /* the driver has `add` */
static bool waited;      /* since the last read: others have written during that time */
static int answer;       /* of the next write: FIRN_EUNKNOWN, or FIRN_WRITE_CHANGED; 0: the truth */
static bool undelivered; /* that write is not carried out yet */
static int conflicts;    /* the number of writes that meet one first */
static int code_of_confirm;
static bool all_new;        /* in each read */
static firn_request *asked; /* the request in progress: its guard is the present */
static int64_t highest[SPACES];
static uint8_t *issued;
static int doubles,
    lies; /* slots issued twice; untrue refusals and losses, grants in closed namespaces */

static const char *const space_names[SPACES] = {"guarded", "bare"};
static const char *const key_names[KEYS] = {"1", "2"};

static int index_of(const char *const *names, const char *name) {
    return strcmp(names[0], name) == 0 ? 0 : 1;
}

static void remember_world(void) {
    earlier[earlier_count++ % EARLIER] = now;
}

/* Everything before is of another copy. */
static void new_history(void) {
    now.history = ++histories;
    earlier_count = 0;
    remember_world();
    events++;
}

static void restore(void) {
    now = saved;
    new_history();
}

static void empty(void) {
    now = (world){0};
    new_history();
}

/* Are the records that the write needs as they were seen? */
static bool still_fits(const sent_request *request, const space *home, const engine_mark *mark) {
    int64_t first;
    const bool cold = now.version == request->seen.own[0] && home->version == request->seen.own[1];
    if (request->adds) {
        return (cold || the.adds_warm) && (mark->known || !request->seen.key_known) &&
               (int64_t)mark->version >= request->seen.stamp &&
               firn__raise_allows(&request->raise, mark->mark, &first);
    }
    return cold && mark->version == request->seen.own[2] &&
           mark->mark.high == request->seen.mark.high &&
           mark->mark.grant == request->seen.mark.grant;
}

/* The calls of the driver and their arguments. */
static struct {
    int writes, forks, copies, forgets, closes, confirms, waits;
    int rounds;                        /* the sum of their arguments, of `waits` */
    bool surely, used_before;          /* of the last read, of the last verb */
    bool wrote_used;                   /* used_before of the last write */
    char seen_note[32], next_note[32]; /* of the last write */
} heard;

/* In one atomic step; false: something is no longer as it was seen. */
static bool carry_out(const sent_request *request, firn_records *next) {
    space *home = &now.spaces[request->ns];
    engine_mark *mark = &now.marks[request->ns][request->key];
    if (!still_fits(request, home, mark)) {
        return false;
    }
    now.writes++;
    if (request->adds) {
        (void)firn__raise_allows(&request->raise, mark->mark, &next->mark.high);
        next->mark.high += request->raise.count;
        adds++;
    }
    if ((request->which & FIRN_RECORD_STORE) != 0) {
        now.origin = now.known ? now.origin : chance() | 1;
        now.known = true;
        now.losses = next->losses;
        now.noted = request->seen.own[4];
        now.version = now.writes;
    }
    if ((request->which & FIRN_RECORD_NS) != 0) {
        *home = (space){next->ns_known, strcmp(next->layout, OPEN) != 0, next->ns_losses,
                        next->floor, now.writes};
    }
    if ((request->which & FIRN_RECORD_KEY) != 0) {
        lies += home->shut && next->mark.high > mark->mark.high;
        *mark = (engine_mark){next->key_known, next->mark, now.writes};
        highest[request->ns] =
            next->mark.high > highest[request->ns] ? next->mark.high : highest[request->ns];
    }
    const uint64_t own[] = {now.version, home->version, mark->version, now.noted, now.history};
    memcpy(next->own, own, sizeof own);
    next->origin = now.origin;
    next->stamp = (int64_t)mark->version;
    remember_world();
    return true;
}

static void deliver_late(void) {
    if (late_count > 0) {
        sent_request request = late[--late_count];
        firn_records next = request.next;
        events += carry_out(&request, &next);
    }
}

/* ---- the clock ------------------------------------------------------------------------------- */

static int64_t frozen_ms, skipped_ms, each_wait_ms; /* frozen_ms 0: the clock runs */

/* Replaces libc's. */
int clock_gettime(clockid_t id, struct timespec *out) {
    const int64_t ms = frozen_ms + skipped_ms;
    if (frozen_ms == 0) {
        return (int)syscall(SYS_clock_gettime, id, out);
    }
    *out = (struct timespec){(time_t)(ms / 1000), (long)(ms % 1000 * 1000000)};
    return 0;
}

/* ---- the driver ------------------------------------------------------------------------------ */

static void step(handle *owner);

static int steps_left; /* of drivers, until something happens to the store; 0: nothing does */
static enum { RESTORES, REPLACES, ARRIVES, EMPTIES, EVENTS } event;

/* Between two steps of a driver. */
static void one_step(void) {
    if (steps_left == 0 || --steps_left > 0) {
        return;
    }
    if (event == RESTORES && saved.known) {
        restore();
    } else if (event == REPLACES) {
        new_history();
    } else if (event == ARRIVES) {
        deliver_late();
    } else if (event == EMPTIES) {
        empty();
    }
}

/* Another copy answers: that is remembered until the store's record has it. */
static void answered(handle *h) {
    h->suspect |= h->remembers && h->history != 0 && h->history != now.history;
    h->history = now.history;
}

static int scripted_begin(void *self, const firn_records *names, firn_verb verb,
                          firn_error *error) {
    (void)self, (void)verb, (void)error;
    one_step();
    heard.used_before = names->used_before;
    return FIRN_OK;
}

static int scripted_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    handle *h = self;
    const int ns = index_of(space_names, seen->ns), key = index_of(key_names, seen->key);
    one_step();
    reads++;
    waited = false;
    heard.surely = surely;
    if (the.faults && ONE_IN(40)) {
        return firn_error_set(error, FIRN_ESTORE, FIRN_CURE_NONE, "the store is down");
    }
    const size_t kept = earlier_count < EARLIER ? earlier_count : EARLIER;
    const bool old = (!surely || the.stale_refuses) && the.faults && ONE_IN(3);
    const world *from = old ? &earlier[chance() % kept] : &now;
    answered(h);
    seen->fresh = surely || the.stale_refuses;
    seen->known = from->known;
    seen->origin = from->origin;
    seen->losses = from->losses;
    seen->all_new = all_new;
    seen->shut = NULL;
    seen->ns_known = from->spaces[ns].known;
    seen->layout = from->spaces[ns].shut ? SHUT : OPEN;
    seen->ns_losses = from->spaces[ns].losses;
    seen->floor = from->spaces[ns].floor;
    seen->key_known = from->marks[ns][key].known;
    seen->mark = from->marks[ns][key].mark;
    seen->note = "";
    seen->stamp = (int64_t)from->marks[ns][key].version;
    const uint64_t own[] = {from->version, from->spaces[ns].version, from->marks[ns][key].version,
                            from->noted, from->history};
    memcpy(seen->own, own, sizeof own);
    if (asked != NULL && asked->guard > 0) {
        asked->guard = highest[ns] + MARGIN; /* the clock moves on */
    }
    return FIRN_OK;
}

static bool scripted_lost(void *self, const firn_records *seen) {
    const handle *h = self;
    return !the.hides_losses && (h->suspect || (seen->known && seen->own[3] != seen->own[4]));
}

static void scripted_forked(void *self) {
    (void)self;
    heard.forks++;
}

static void scripted_copied(void *self) {
    (void)self;
    heard.copies++;
}

static void scripted_forget(void *self) {
    handle *h = self;
    heard.forgets++;
    h->suspect = h->remembers = false;
    h->since = now.history;
}

/* A loss is counted although all that this handle remembers is of this store. */
static bool is_false_loss(const handle *h, const sent_request *request, const firn_records *next) {
    return next->losses > request->seen.losses && now.known && now.noted == now.history &&
           request->seen.own[4] == now.history && h->since == now.history && !the.hides_losses;
}

static int truth(handle *h, const sent_request *request, firn_records *next) {
    const uint64_t believed = request->seen.own[4];
    const bool false_loss = is_false_loss(h, request, next);
    const bool done = carry_out(request, next);
    lies += done && false_loss;
    answered(h);
    if (!done) {
        return FIRN_WRITE_CHANGED;
    }
    if (now.history != believed && !the.hides_foreign) {
        h->suspect = true;
        return FIRN_WRITE_FOREIGN;
    }
    if (next->losses > request->seen.losses) {
        h->suspect = false;
    }
    return FIRN_OK;
}

/* Disturbs the store between a read and the write. */
static void disturb(handle *h) {
    firn_request *mine = asked;
    asked = NULL;
    switch (chance() % 4) {
    case 0:
        if (saved.known) {
            restore();
        }
        break;
    case 1:
        deliver_late();
        break;
    default:
        step(h);
    }
    asked = mine;
    events++;
}

static int send_to(handle *h, sent_request request, firn_records *next, firn_error *error) {
    static int depth;
    one_step();
    assert_false(waited);
    heard.writes++;
    heard.wrote_used = request.seen.used_before;
    snprintf(heard.seen_note, sizeof heard.seen_note, "%s", request.seen.note);
    snprintf(heard.next_note, sizeof heard.next_note, "%s", next->note);
    /* Texts that outlive the call. */
    request.next.layout = strcmp(next->layout, OPEN) == 0 ? OPEN : SHUT;
    request.next.note = request.seen.note = request.seen.layout = "";
    int say = answer;
    bool lost = undelivered;
    answer = 0;
    undelivered = false;
    if (conflicts > 0) {
        conflicts--;
        return FIRN_WRITE_CHANGED;
    }
    if (the.faults) {
        if (depth == 0 && ONE_IN(12)) {
            depth++;
            disturb(h);
            depth--;
        }
        say = ONE_IN(8) ? FIRN_EUNKNOWN : ONE_IN(20) ? FIRN_WRITE_CHANGED : 0;
        lost = say != 0 && ONE_IN(2);
    }
    if (lost) {
        if (say == FIRN_EUNKNOWN && late_count < LATE) {
            late[late_count++] = request;
        }
    } else {
        const int code = truth(h, &request, next);
        say = say != 0 ? say : code;
    }
    one_step(); /* the answer is on its way */
    return say == FIRN_EUNKNOWN
               ? firn_error_set(error, FIRN_EUNKNOWN, FIRN_CURE_NONE, "no answer came")
               : say;
}

static int scripted_write(void *self, const firn_records *seen, firn_records *next, int which,
                          firn_verb verb, firn_error *error) {
    sent_request request = {.ns = index_of(space_names, seen->ns),
                            .key = index_of(key_names, seen->key),
                            .which = which,
                            .seen = *seen,
                            .next = *next};
    (void)verb;
    return send_to(self, request, next, error);
}

static int scripted_add(void *self, const firn_records *seen, firn_records *next,
                        const firn_raise *raise, firn_error *error) {
    sent_request request = {.ns = index_of(space_names, seen->ns),
                            .key = index_of(key_names, seen->key),
                            .which = FIRN_RECORD_KEY,
                            .seen = *seen,
                            .next = *next,
                            .adds = true,
                            .raise = *raise};
    next->mark.high = -1; /* only the step knows it */
    return send_to(self, request, next, error);
}

static void scripted_wait(int round) {
    assert_true(round > 0);
    heard.waits++;
    heard.rounds += round;
    skipped_ms += each_wait_ms;
    waited = true;
}

static const char *scripted_where(void *self) {
    (void)self;
    return "scripted:";
}

static void scripted_close(void *self) {
    (void)self;
}

static const firn_driver scripted = {.version = FIRN_DRIVER_VERSION,
                                     .scheme = "scripted",
                                     .lasts = true,
                                     .forked = scripted_forked,
                                     .copied = scripted_copied,
                                     .begin = scripted_begin,
                                     .read = scripted_read,
                                     .lost = scripted_lost,
                                     .write = scripted_write,
                                     .wait = scripted_wait,
                                     .forget = scripted_forget,
                                     .where = scripted_where,
                                     .close = scripted_close};

/* ---- clients --------------------------------------------------------------------------------- */

/* A request, as a generator sends it. */
typedef struct client {
    firn_request request;
    bool sent, twice; /* the outcome is unknown; it went out more than once */
} client;

static client clients[HANDLES][SPACES * KEYS];

static void open_handle(handle *h) {
    static firn_driver with_add;
    with_add = scripted;
    with_add.add = scripted_add;
    *h = (handle){.since = now.history};
    assert_int_equal(firn__engine_make(&h->engine, adding ? &with_add : &scripted, h, NULL),
                     FIRN_OK);
    memset(clients[h - handles], 0, sizeof clients[0]);
}

static void begin(plan wanted) {
    now = saved = (world){0};
    late_count = earlier_count = 0;
    events = reads = adds = answer = doubles = lies = 0;
    undelivered = all_new = false;
    code_of_confirm = FIRN_OK;
    conflicts = 0;
    memset(&heard, 0, sizeof heard);
    asked = NULL;
    memset(highest, 0, sizeof highest);
    the = wanted;
    issued = calloc(1, (size_t)SLOTS * SPACES * KEYS / 8);
    assert_non_null(issued);
    new_history();
    for (int i = 0; i < HANDLES; i++) {
        open_handle(&handles[i]);
    }
}

static void end(void) {
    for (int i = 0; i < HANDLES; i++) {
        firn__engine_ops.close(handles[i].engine);
    }
    free(issued);
}

static void issue(int ns, int key, int64_t first, int64_t count) {
    assert_in_range(first, 0, SLOTS - count);
    for (int64_t slot = first; slot < first + count; slot++) {
        const size_t bit = (size_t)(slot * SPACES * KEYS + ns * KEYS + key);
        doubles += (issued[bit / 8] >> bit % 8) & 1;
        issued[bit / 8] |= (uint8_t)(1U << bit % 8);
    }
}

static int give_back(handle *h, const firn_request *request, int64_t first, int64_t from) {
    const firn_mark mine = {first + request->count, request->grant};
    return firn__engine_ops.give_back(h->engine, request->ns, request->key, &mine, from, NULL);
}

/* Some of the window is used, and the rest may be given back. */
static void use(handle *h, client *c, int ns, int key, int64_t first) {
    const firn_request request = c->request;
    const bool whole = c->twice || !ONE_IN(3);
    const int64_t used = whole ? request.count : (int64_t)(chance() % (uint64_t)request.count);
    c->request.grant = 0;
    issue(ns, key, first, used);
    if (!whole) {
        (void)give_back(h, &request, first, first + used);
    }
}

static int reserve(handle *h, firn_request *request, int64_t *first, firn_mark *held) {
    *held = (firn_mark){0, 0};
    asked = request;
    const int code = firn__engine_ops.reserve(h->engine, request, first, held, NULL);
    asked = NULL;
    h->remembers |= code == FIRN_OK;
    return code;
}

static bool is_doubted(int ns) {
    return now.spaces[ns].known ? now.spaces[ns].losses != now.losses : now.losses > 0;
}

/* A refusal is true of the store now, if nothing else happened to it. */
static void check_refusal(int code, const firn_request *request, int ns, int key) {
    const int64_t high = now.marks[ns][key].mark.high, floor = now.spaces[ns].floor;
    lies += (code == FIRN_EBUSY && high <= request->latest && floor <= request->latest) ||
            (code == FIRN_EBACK && !is_doubted(ns)) ||
            (code == FIRN_ESTORE && now.spaces[ns].known && strcmp(request->layout, OPEN) != 0);
}

static void draw(client *c, int ns, int key, bool guarded) {
    c->request = (firn_request){.ns = space_names[ns],
                                .layout = OPEN,
                                .key = key_names[key],
                                .count = 1 + (int64_t)(chance() % 8),
                                .latest = FOREVER,
                                .grant = chance() | 1,
                                .guard = guarded ? highest[ns] + MARGIN : 0};
    c->sent = c->twice = false;
    if (the.faults && ONE_IN(2)) { /* only directly at the mark, as a node's next claim */
        const int64_t high = now.marks[ns][key].mark.high, floor = now.spaces[ns].floor;
        c->request.latest = high > floor ? high : floor;
    }
}

/* Sends a request once. */
static int ask(handle *h, int ns, int key, bool guarded) {
    client *c = &clients[h - handles][ns * KEYS + key];
    if (c->request.grant == 0 || !c->sent) {
        draw(c, ns, key, guarded);
    }
    firn_request request = c->request;
    const int before = events;
    firn_mark held;
    int64_t first = 0;
    c->twice |= c->sent;
    int code = reserve(h, &request, &first, &held);
    if (code == FIRN_EBUSY && c->sent && held.grant == request.grant) {
        first = held.high - request.count;
        code = FIRN_OK;
    }
    if (events == before && code != FIRN_OK && code != FIRN_EUNKNOWN) {
        check_refusal(code, &request, ns, key);
    }
    c->sent = code == FIRN_EUNKNOWN || (c->sent && code == FIRN_ESTORE);
    if (code == FIRN_OK) {
        use(h, c, ns, key, first);
    }
    return code;
}

static int relabel(handle *h, int ns, bool shut) {
    const firn_relabel change = {space_names[ns], shut ? OPEN : SHUT, shut ? SHUT : OPEN, 0, false};
    int64_t floor;
    return firn__engine_relabel(h->engine, &change, &floor, NULL);
}

static bool all_remember(void) {
    bool all = true;
    for (int i = 0; i < HANDLES; i++) {
        all = all && handles[i].remembers;
    }
    return all;
}

/* Something that happens to the store, or to a handle. */
static void happen(handle *owner) {
    handle *h = &handles[chance() % HANDLES];
    switch (chance() % 8) {
    case 0:
        if (saved.known) {
            restore();
        }
        break;
    case 1:
    case 2:
        saved = now;
        break;
    case 3: /* only who remembers something notices this */
        if (all_remember()) {
            empty();
            saved = now;
        }
        break;
    case 4:
        deliver_late();
        break;
    case 5: /* a new process; not before an emptied store is noticed */
        if (h != owner && now.known && now.noted == now.history) {
            firn__engine_ops.close(h->engine);
            open_handle(h);
        }
        break;
    default:
        if (h != owner) {
            (void)relabel(h, (int)(chance() % SPACES), ONE_IN(2));
        }
    }
}

static void step(handle *owner) {
    handle *h = &handles[chance() % HANDLES];
    const int ns = (int)(chance() % SPACES), key = (int)(chance() % KEYS);
    if (h != owner) {
        (void)ask(h, ns, key, ns == 0 || ONE_IN(6)); /* an advance of integers has a guard */
    }
}

static void torment(plan wanted) {
    wanted.faults = true;
    begin(wanted);
    for (int i = 0; i < STEPS && doubles == 0 && lies == 0; i++) {
        step(NULL);
        if (ONE_IN(15)) {
            happen(NULL);
        }
    }
}

/* ---- random plans ---------------------------------------------------------------------------- */

#define RUNS 20

static void no_slot_is_issued_twice(void **state) {
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        torment((plan){0});
        if (doubles != 0 || lies != 0) {
            fail_msg("run %d: %d slots twice, %d false refusals", run, doubles, lies);
        }
        end();
    }
}

/* The finder finds what breaks a driver's contract. */
static void found(plan injected, bool lie) {
    bool seen = false;
    for (int run = 0; run < RUNS && !seen; run++) {
        torment(injected);
        seen = lie ? lies > 0 : doubles > 0;
        end();
    }
    assert_true(seen);
}

static void a_foreign_grant_is_found(void **state) {
    (void)state;
    found((plan){.hides_foreign = true}, false);
}

static void a_hidden_loss_is_found(void **state) {
    (void)state;
    found((plan){.hides_losses = true}, false);
}

static void a_refusal_from_an_old_read_is_found(void **state) {
    (void)state;
    found((plan){.stale_refuses = true}, true);
}

/* Everybody asks once; returns how many were refused. */
static int everybody(bool advance) {
    int refused = 0;
    for (int i = 0; i < HANDLES; i++) {
        for (int j = 0; j < SPACES * KEYS; j++) {
            const int ns = j / KEYS;
            refused += ask(&handles[i], ns, j % KEYS, ns == 0 || (advance && i == 0)) != FIRN_OK;
        }
    }
    return refused;
}

static void when_faults_end_everybody_issues(void **state) {
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        torment((plan){0});
        the.faults = false;
        late_count = 0;
        memset(clients, 0, sizeof clients);
        for (int i = 0; i < 2 * HANDLES; i++) { /* each may have a loss to report */
            for (int ns = 0; ns < SPACES; ns++) {
                (void)relabel(&handles[0], ns, false);
            }
            (void)everybody(true);
        }
        const int64_t losses = now.losses;
        assert_int_equal(everybody(false), 0);
        assert_int_equal(now.losses, losses);
        assert_int_equal(doubles, 0);
        end();
    }
}

/* After the faults, within as many rounds as each handle may have losses to report. */
static void must_issue_again(void) {
    for (int i = 0; i < 2 * HANDLES; i++) {
        (void)everybody(true);
    }
    const int64_t losses = now.losses;
    assert_int_equal(everybody(false), 0);
    assert_int_equal(now.losses, losses);
    assert_int_equal(doubles, 0);
    assert_int_equal(lies, 0);
}

/* The same requests each time; the event comes one step of a driver later each time. False: it did
 * not come. */
static bool all_ask_while(int steps, bool unknown) {
    begin((plan){0});
    for (int i = 0; i < 3 * HANDLES; i++) {
        saved = i == 3 ? now : saved;
        steps_left = i == HANDLES ? steps : steps_left; /* by then everybody remembers something */
        if (unknown && i > HANDLES && i % 3 == 2) {
            answer = FIRN_EUNKNOWN;
            undelivered = i % 2 == 0;
        }
        (void)ask(&handles[i % HANDLES], i % SPACES, i / 2 % KEYS, i % SPACES == 0);
        answer = undelivered = 0;
    }
    const bool came = steps_left == 0;
    steps_left = 0;
    must_issue_again();
    end();
    return came;
}

static void the_store_may_change_between_any_two_steps(void **state) {
    (void)state;
    for (event = 0; event < EVENTS; event++) {
        for (int unknown = 0; unknown < 2; unknown++) {
            int steps = 1;
            while (all_ask_while(steps, unknown)) {
                steps++;
            }
            assert_in_range(steps, 3 * HANDLES, 20 * HANDLES);
        }
    }
}

/* ---- one at a time --------------------------------------------------------------------------- */

static firn_request request_of(int ns, int64_t latest, int64_t guard) {
    return (firn_request){.ns = space_names[ns],
                          .layout = OPEN,
                          .key = "1",
                          .count = 10,
                          .latest = latest,
                          .grant = chance() | 1,
                          .guard = guard};
}

static void granted(handle *h, int ns, int64_t guard, int64_t expected) {
    firn_request request = request_of(ns, FOREVER, guard);
    firn_mark held;
    int64_t first = -1;
    assert_int_equal(reserve(h, &request, &first, &held), FIRN_OK);
    assert_int_equal(first, expected);
}

/* A namespace that stays unknown is not remembered: else each refusal counts another loss, and
 * doubts all namespaces again. */
static void a_loss_counts_once(void **state) {
    (void)state;
    begin((plan){0});
    granted(&handles[0], 1, 0, 0);
    empty();
    for (int i = 0; i < 3; i++) {
        firn_request request = request_of(1, FOREVER, 0);
        firn_mark held;
        int64_t first;
        assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_EBACK);
        assert_int_equal(now.losses, 1);
    }
    end();
}

static int asked_of(handle *h, int ns, int key, int64_t latest) {
    firn_request request = request_of(ns, latest, 0);
    firn_mark held;
    int64_t first;
    request.key = key_names[key];
    return reserve(h, &request, &first, &held);
}

/* A loss that another handle reported is not reported again by a handle that only saw that a key is
 * busy. */
static void a_refused_handle_knows_the_store(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    assert_int_equal(asked_of(&handles[1], 1, 0, 5), FIRN_EBUSY);
    now.losses++; /* by somebody who noticed a loss, of this namespace too */
    now.version = ++now.writes;
    now.spaces[1] = (space){0};
    assert_int_equal(asked_of(&handles[1], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    end();
}

/* The driver sees nothing; what the handle remembers shows the loss. */

static void another_store_is_noticed(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    now.origin ^= 2; /* all else is the same */
    now.version = ++now.writes;
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    end();
}

static void a_forgotten_loss_is_noticed(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 0, 1, 0);
    saved = now;
    now.losses = 1;
    now.version = ++now.writes;
    granted(&handles[0], 0, 1, highest[0] + MARGIN);
    now.losses = now.spaces[0].losses = 0; /* and nothing else is lost */
    now.version = now.spaces[0].version = ++now.writes;
    assert_int_equal(asked_of(&handles[0], 0, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 2);
    end();
}

/* A verb saw a loss that another process had counted, and failed; then an older copy came back. */
static void a_loss_is_remembered_by_a_verb_that_fails(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 0, 1, 0);
    saved = now;
    now.losses = 1;
    now.version = ++now.writes;
    firn_request request = request_of(0, FOREVER, highest[0] + MARGIN);
    firn_mark held;
    int64_t first;
    request.key = key_names[1];
    answer = FIRN_EUNKNOWN;
    undelivered = true;
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_EUNKNOWN);
    now = saved;
    assert_int_equal(asked_of(&handles[0], 0, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 2);
    end();
}

/* The handle counted a loss, and has reserved nothing since; then an older copy came back. */
static void a_declared_loss_is_remembered(void **state) {
    const firn_relabel lost = {FIRN_ALL_NAMES, NULL, FIRN__GONE_BACK, 0, false};
    int64_t floor;
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 0, 1, 0);
    saved = now;
    assert_int_equal(firn__engine_relabel(handles[0].engine, &lost, &floor, NULL), FIRN_OK);
    assert_int_equal(now.losses, 1);
    now = saved;
    assert_int_equal(asked_of(&handles[0], 0, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 2);
    end();
}

static void an_emptied_store_is_noticed(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 0, 1, 0);
    empty();
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK); /* never used before */
    end();
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    assert_int_equal(asked_of(&handles[1], 1, 0, 5),
                     FIRN_EBUSY); /* this is enough to know the store */
    empty();
    assert_int_equal(asked_of(&handles[1], 1, 0, FOREVER), FIRN_EBACK);
    end();
}

static void an_older_key_is_noticed(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    const engine_mark old = now.marks[1][0];
    granted(&handles[0], 1, 0, 10);
    assert_int_equal(asked_of(&handles[0], 1, 1, FOREVER),
                     FIRN_OK); /* the mark that is remembered */
    now.marks[1][0] = old;
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    end();
}

/* The mark alone is older: no other record and no version shows it. */
static void an_older_mark_is_noticed(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    granted(&handles[0], 1, 0, 10);
    assert_int_equal(asked_of(&handles[0], 1, 1, FOREVER), FIRN_OK);
    now.marks[1][0].mark.high = 10;
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    end();
}

/* Its mark and grant are the same. */
static void an_older_stamp_is_noticed(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    granted(&handles[0], 1, 0, 10);
    now.marks[1][0].version--;
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    end();
}

/* The same slots were granted to another, in an older copy. */
static void a_mark_that_was_granted_again_is_noticed(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[1], 1, 0, 0);
    saved = now;
    granted(&handles[0], 1, 0, 10);
    now = saved;
    granted(&handles[1], 1, 0, 10);
    now.writes++;
    now.marks[1][0].version = now.writes; /* no version shows it */
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    end();
}

/* The whole window of another process was given back, so the mark is as it was, without a grant. */
static void what_others_give_back_is_no_loss(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first = -1;
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    assert_int_equal(reserve(&handles[1], &request, &first, &held), FIRN_OK);
    assert_int_equal(give_back(&handles[1], &request, first, first), FIRN_OK);
    granted(&handles[0], 1, 0, first);
    assert_int_equal(now.losses, 0);
    end();
}

/* A copy of the process gives back what both remember. */
static void a_renewed_identity_forgets_its_marks(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first = -1;
    (void)state;
    begin((plan){.hides_losses = true});
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    firn_renew_identity();
    assert_int_equal(give_back(&handles[1], &request, first, first), FIRN_OK);
    granted(&handles[0], 1, 0, first);
    assert_int_equal(asked_of(&handles[0], 1, 1, FOREVER), FIRN_OK);
    assert_int_equal(heard.copies, 2); /* once for each handle: drivers may remember marks, too */
    assert_int_equal(now.losses, 0);
    now.marks[1][0].mark.high = 3; /* what it reserves from then on is remembered */
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    end();
}

/* A mark that was given back falls below what the handle saw, also if a read comes between. */
static void a_mark_that_was_given_back_is_not_older(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first = -1;
    (void)state;
    begin((plan){.hides_losses = true});
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    assert_int_equal(asked_of(&handles[0], 1, 1, FOREVER), FIRN_OK);
    answer = FIRN_EUNKNOWN;
    undelivered = true;
    assert_int_equal(give_back(&handles[0], &request, first, first + 3), FIRN_EUNKNOWN);
    assert_int_equal(asked_of(&handles[0], 1, 0, 5), FIRN_EBUSY); /* the mark is read again */
    deliver_late();
    granted(&handles[0], 1, 0, 3);
    assert_int_equal(now.losses, 0);
    end();
}

static void a_mark_is_compared_with_its_grant(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[1], 0, 1, 0);
    saved = now;
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    now = saved;
    granted(&handles[1], 1, 0, 0); /* the same slots, in a copy */
    assert_int_equal(give_back(&handles[0], &request, first, first + 3), FIRN_EBUSY);
    assert_int_equal(now.marks[1][0].mark.high, 10);
    end();
}

/* Each reservation of an unknown namespace compares it. */
static void a_relabel_writes_the_store(void **state) {
    (void)state;
    begin((plan){0});
    granted(&handles[0], 0, 1, 0);
    const uint64_t version = now.version;
    assert_int_equal(relabel(&handles[1], 0, true), FIRN_OK);
    assert_int_not_equal(now.version, version);
    assert_int_equal(asked_of(&handles[0], 0, 0, FOREVER), FIRN_ESTORE);
    end();
}

/* A give back lowers a mark, and the store lost nothing. */
static void a_give_back_is_no_loss(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){0});
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    assert_int_equal(give_back(&handles[0], &request, first, first + 3), FIRN_OK);
    granted(&handles[0], 1, 0, 3);
    request = request_of(1, FOREVER, 0);
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    answer = FIRN_EUNKNOWN; /* and it was carried out */
    assert_int_equal(give_back(&handles[0], &request, first, first + 3), FIRN_EUNKNOWN);
    granted(&handles[0], 1, 0, first + 3);
    assert_int_equal(now.losses, 0);
    end();
}

/* The next reservation is one write. */
static void a_give_back_leaves_what_it_wrote(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){0});
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    assert_int_equal(give_back(&handles[0], &request, first, first + 3), FIRN_OK);
    const int before = reads;
    granted(&handles[0], 1, 0, first + 3);
    assert_int_equal(reads, before);
    end();
}

/* All of the first window, by its holder and by a handle that knows nothing else. */
static void a_mark_may_return_to_0(void **state) {
    (void)state;
    for (int count = 0; count < 2; count++) {
        firn_request request = request_of(1, FOREVER, 0);
        firn_mark held;
        int64_t first;
        begin((plan){0});
        assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
        assert_int_equal(give_back(&handles[count], &request, first, 0), FIRN_OK);
        granted(&handles[count], 1, 0, 0);
        assert_int_equal(now.losses, 0);
        end();
    }
}

/* As in a new process namespace, where parent and child may both be 1. It replaces libc's. */
static pid_t everybodys_number;

pid_t getpid(void) {
    return everybodys_number != 0 ? everybodys_number : (pid_t)syscall(SYS_getpid);
}

static int reserve_in_child(const firn_request *request, int64_t first) {
    firn_mark held;
    int64_t next = -1;
    firn_request another = request_of(1, FOREVER, 0);
    CHECK(give_back(&handles[1], request, first, first + 3) == FIRN_OK);
    CHECK(reserve(&handles[0], &another, &next, &held) == FIRN_OK);
    CHECK(next == first + 3 && now.losses == 0);
    CHECK(heard.forks == 2 && heard.forgets == 2);
    another.grant++;
    CHECK(reserve(&handles[0], &another, &next, &held) == FIRN_OK);
    CHECK(heard.forks == 2 && heard.forgets == 2);
    return 0;
}

/* After the fork the parent gives back what it reserved, which shows no loss to a child, even to
 * one with its number. */
static void a_child_remembers_nothing(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first = -1;
    int status = -1;
    (void)state;
    begin((plan){0});
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    everybodys_number = firn__wiped_watch() ? 0 : getpid(); /* there it is the number that counts */
    const pid_t child = fork();
    if (child == 0) {
        _exit(reserve_in_child(&request, first));
    }
    everybodys_number = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    end();
}

/* The write of an unknown outcome was for a history that is gone; in the copy it lands after all.
 * Its slots may be another's there. */
static void a_late_grant_is_not_adopted_in_doubt(void **state) {
    firn_request lost = request_of(1, 0, 0);
    firn_mark held;
    int64_t first = -1;
    (void)state;
    begin((plan){0});
    granted(&handles[1], 1, 0, 0);
    saved = now;
    lost.latest = 10;
    answer = FIRN_EUNKNOWN;
    undelivered = true;
    assert_int_equal(reserve(&handles[0], &lost, &first, &held), FIRN_EUNKNOWN);
    assert_int_equal(late_count, 1);
    granted(&handles[1], 1, 0, 10); /* the same slots */
    restore();
    deliver_late();
    assert_int_equal(now.marks[1][0].mark.high, 20);
    assert_int_equal(reserve(&handles[0], &lost, &first, &held), FIRN_EBUSY);
    assert_int_equal(held.high, 20);
    assert_int_not_equal(held.grant, lost.grant);
    end();
}

/* Two requests of one handle were carried out by a copy; neither is adopted. */
static void no_foreign_grant_is_adopted(void **state) {
    firn_mark held;
    int64_t first = -1;
    (void)state;
    begin((plan){0});
    granted(&handles[0], 1, 0, 0);
    firn_request request = request_of(1, 10, 0), two = request_of(0, 0, 1);
    granted(&handles[0], 0, 1, 0);
    two.latest = 10;
    now.history = ++histories; /* the same records, of another store */
    (void)reserve(&handles[0], &request, &first, &held);
    (void)reserve(&handles[0], &two, &first, &held);
    int code = reserve(&handles[0], &request, &first, &held);
    assert_true(code == FIRN_EBACK || (code == FIRN_EBUSY && held.grant != request.grant));
    code = reserve(&handles[0], &two, &first, &held);
    assert_true(code == FIRN_EBACK || (code == FIRN_EBUSY && held.grant != two.grant));
    end();
}

/* A guard is applied after a read: the remembered state of a doubted namespace does not do. */
static void a_remembered_doubt_is_read_again(void **state) {
    firn_request request = request_of(0, FOREVER, 1);
    firn_mark held;
    int64_t first = -1;
    (void)state;
    begin((plan){0});
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    now.losses++; /* by somebody who noticed a loss */
    now.version = ++now.writes;
    assert_int_equal(give_back(&handles[0], &request, first, first + 3), FIRN_OK);
    const int before = reads;
    request = request_of(0, FOREVER, 1);
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    assert_int_equal(reads, before + 1);
    assert_true(first >= MARGIN);
    end();
}

/* The handle remembers a cut note, and keeps the other keys. */
static void a_long_note_is_cut(void **state) {
    static char note[4000];
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){0});
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_OK);
    assert_int_equal(asked_of(&handles[0], 1, 1, FOREVER), FIRN_OK);
    const int before = reads;
    memset(note, 'x', sizeof note - 1);
    request.note = note;
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    assert_int_equal(asked_of(&handles[0], 1, 1, FOREVER), FIRN_OK);
    assert_int_equal(reads, before);
    end();
}

/* ---- what the driver gets -------------------------------------------------------------------- */

/* Replaces the first handle's driver. */
static void drive(const firn_driver *driver) {
    handle *h = &handles[0];
    firn__engine_ops.close(h->engine);
    assert_int_equal(firn__engine_make(&h->engine, driver, h, NULL), FIRN_OK);
}

/* The copy is made at the beginning of a verb, and gives back before the read. */
static firn_request given_back;

static int begin_as_copy(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    if (given_back.count > 0 && self != &handles[1]) {
        const firn_request request = given_back;
        given_back.count = 0;
        firn_renew_identity();
        assert_int_equal(give_back(&handles[1], &request, 0, 0), FIRN_OK);
    }
    return scripted_begin(self, names, verb, error);
}

static void a_copy_may_be_made_during_a_verb(void **state) {
    firn_driver driver = scripted;
    firn_mark held;
    int64_t first = -1;
    (void)state;
    begin((plan){.hides_losses = true});
    driver.begin = begin_as_copy;
    drive(&driver);
    firn_request request = request_of(1, FOREVER, 0);
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    given_back = request;
    granted(&handles[0], 1, 0, first);
    assert_int_equal(now.losses, 0);
    end();
}

/* As a store that dies with its process. */
static void a_driver_that_sees_no_losses_is_believed(void **state) {
    static firn_driver driver;
    (void)state;
    driver = scripted;
    driver.lost = NULL;
    begin((plan){0});
    drive(&driver);
    granted(&handles[0], 1, 0, 0);
    empty();
    granted(&handles[0], 1, 0, 0);
    assert_int_equal(now.losses, 0);
    end();
}

static int scripted_confirm(void *self, firn_error *error) {
    (void)self, (void)error;
    heard.confirms++;
    return code_of_confirm;
}

/* The mark shows the own grant, or the layout is the new one already: another wrote that, perhaps
 * not durably. */
static void what_another_wrote_is_confirmed(void **state) {
    firn_driver driver = scripted;
    firn_request request = request_of(1, 0, 0), other = request_of(1, 5, 0);
    firn_mark held = {0, 0};
    int64_t first = -1;
    (void)state;
    begin((plan){0});
    driver.confirm = scripted_confirm;
    drive(&driver);
    answer = FIRN_EUNKNOWN; /* and it was carried out */
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_EUNKNOWN);
    assert_int_equal(reserve(&handles[0], &other, &first, &held), FIRN_EBUSY);
    assert_int_equal(heard.confirms, 0);
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_EBUSY);
    assert_true(held.high == 10 && held.grant == request.grant && heard.confirms == 1);
    code_of_confirm = FIRN_ESTORE;
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_ESTORE);
    code_of_confirm = FIRN_EBUSY; /* also then the grant is not shown */
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_EBUSY);
    assert_true(held.high == 0 && held.grant == 0 && heard.confirms == 3);
    code_of_confirm = FIRN_OK;
    assert_int_equal(give_back(&handles[0], &request, 1, 2),
                     FIRN_EBUSY); /* refused: it shows nothing */
    assert_int_equal(relabel(&handles[0], 1, true), FIRN_OK);
    assert_int_equal(heard.confirms, 3);
    assert_int_equal(relabel(&handles[0], 1, true), FIRN_OK);
    assert_int_equal(heard.confirms, 4);
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_ESTORE);
    assert_int_equal(heard.confirms, 4);
    now.spaces[1].shut = false;
    now.marks[1][0].mark.grant = request.grant = 0; /* as after a give back: it is nobody's */
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_EBUSY);
    assert_int_equal(heard.confirms, 4);
    end();
}

/* Notes and layouts are the caller's, who may write over them after the call. */
static void texts_are_kept(void **state) {
    char layout[] = OPEN, note[] = "of this call";
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){0});
    request.layout = layout;
    request.note = note;
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    assert_false(heard.wrote_used);
    assert_string_equal(heard.next_note, "of this call");
    memset(layout, 'x', sizeof layout - 1);
    memset(note, 'x', sizeof note - 1);
    const int before = reads;
    request = request_of(1, FOREVER, 0);
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    assert_int_equal(reads, before);
    assert_true(heard.wrote_used); /* not as the remembered records say */
    assert_string_equal(heard.seen_note, "of this call");
    assert_string_equal(heard.next_note, "");
    end();
}

/* A read may be old but after an unknown outcome, and after an answer of another store. */
static void a_read_is_sure_where_it_counts(void **state) {
    firn_request request = request_of(1, 0, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){.hides_losses = true});
    answer = FIRN_EUNKNOWN;
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_EUNKNOWN);
    assert_true(heard.surely); /* the store's record is not made over an old read */
    granted(&handles[1], 1, 0, 10);
    conflicts = 1;
    granted(&handles[1], 1, 0, 20);
    assert_false(heard.surely);
    now.history = ++histories; /* the same records, of another store */
    granted(&handles[1], 1, 0, 40);
    assert_true(heard.surely && heard.used_before);
    answer = FIRN_EUNKNOWN;
    request = request_of(1, FOREVER, 0);
    assert_int_equal(reserve(&handles[1], &request, &first, &held), FIRN_EUNKNOWN);
    heard.surely = false;
    granted(&handles[1], 1, 0, 60);
    assert_true(heard.surely);
    (void)reserve(&handles[2], &request, &first, &held); /* the first look of a new handle */
    assert_false(heard.used_before);
    end();
}

/* Another store carried it out, and nothing else shows that: the mark has its grant, which counts
 * there only. */
static void a_foreign_grant_is_wasted(void **state) {
    firn_request request = request_of(1, 10, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    now.history = ++histories;
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_EBUSY);
    assert_int_equal(now.marks[1][0].mark.grant, request.grant);
    assert_true(held.high == 20 && held.grant == 0);
    end();
}

/* Somebody without a record issues with the key: the claim goes elsewhere, and waits for
 * nothing. */
static void a_key_without_a_record_is_busy_for_ever(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){0});
    answer = FIRN_EBUSY;
    undelivered = true;
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_EBUSY);
    assert_true(held.high == FIRN_SLOT_MAX && held.grant % 2 == 0);
    end();
}

/* Of an unknown outcome that turned out to be its own. A grant that this handle never sent is a
 * clone's, who may give it back. */
static void an_adopted_mark_is_remembered(void **state) {
    firn_request request = request_of(1, 10, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    granted(&handles[1], 0, 1, 0);
    saved = now;
    answer = FIRN_EUNKNOWN; /* and it was carried out */
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_EUNKNOWN);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(reserve(&handles[i], &request, &first, &held), FIRN_EBUSY);
        assert_true(held.high == 20 && held.grant == request.grant);
    }
    now = saved; /* only the memory shows it */
    assert_int_equal(asked_of(&handles[1], 1, 0, 5), FIRN_EBUSY);
    assert_int_equal(now.losses, 0);
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    end();
}

static void an_error_is_set_by_a_refusal_only(void **state) {
    firn_request request = request_of(1, FOREVER, 0), late_one = request_of(1, 5, 0);
    firn_error error = {.code = 77};
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){0});
    assert_int_equal(firn__engine_ops.reserve(handles[0].engine, &request, &first, &held, &error),
                     FIRN_OK);
    assert_int_equal(error.code, 77);
    assert_int_equal(firn__engine_ops.reserve(handles[0].engine, &late_one, &first, &held, &error),
                     FIRN_EBUSY);
    assert_int_equal(error.code, FIRN_EBUSY);
    end();
}

/* ---- losses and layouts ---------------------------------------------------------------------- */

/* Replaces the store by one with the same records and another identity. */
static void replace(void) {
    now.history = ++histories;
}

static void a_new_handle_counts_a_first_loss(void **state) {
    (void)state;
    begin((plan){0});
    granted(&handles[0], 1, 0, 0);
    replace();
    heard.forgets = 0;
    assert_int_equal(asked_of(&handles[1], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    assert_int_equal(heard.forgets, 1); /* the store knows the loss */
    end();
}

/* The record of the store is gone, and the record of a namespace is not. */
static void a_store_without_its_record_is_no_new_one(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    now.known = false;
    now.version = ++now.writes;
    assert_int_equal(asked_of(&handles[1], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    end();
}

static void a_key_that_is_gone_is_noticed(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){.hides_losses = true});
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    assert_int_equal(give_back(&handles[0], &request, first, first),
                     FIRN_OK);     /* so its mark is 0 */
    now.marks[1][0].known = false; /* all else is the same */
    now.spaces[1].version = ++now.writes;
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    end();
}

/* By a handle that was only refused. */
static void a_namespace_that_is_gone_is_noticed(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    assert_int_equal(asked_of(&handles[1], 1, 0, 5), FIRN_EBUSY);
    now.spaces[1] = (space){0};
    now.marks[1][0] = (engine_mark){0};
    assert_int_equal(asked_of(&handles[1], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    end();
}

/* A driver with a lock keeps no states: it still remembers the last reservation. */
static void a_driver_with_a_lock_notices_an_older_mark(void **state) {
    firn_driver driver = scripted;
    (void)state;
    begin((plan){.hides_losses = true});
    driver.locks = true;
    drive(&driver);
    granted(&handles[0], 1, 0, 0);
    granted(&handles[0], 1, 0, 10);
    now.marks[1][0].mark.high = 10;
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    end();
}

static void a_give_back_records_a_loss(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){0});
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    assert_int_equal(asked_of(&handles[1], 1, 0, FOREVER), FIRN_OK);
    replace();
    assert_int_equal(give_back(&handles[0], &request, first, first), FIRN_EBUSY);
    assert_int_equal(now.losses, 1);
    end();
}

/* Only the mark of this very grant, and it then has none. */
static void only_the_own_mark_is_given_back(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){.hides_losses = true});
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    assert_int_equal(give_back(&handles[1], &request, first + 1, first), FIRN_EBUSY);
    const firn_mark mine = now.marks[1][0].mark;
    now.marks[1][0].known = false;
    now.marks[1][0].mark = (firn_mark){0, 0};
    assert_int_equal(give_back(&handles[2], &request, first, first), FIRN_EBUSY);
    now.marks[1][0].known = true;
    now.marks[1][0].mark = mine;
    assert_int_equal(give_back(&handles[3], &request, first, first + 3), FIRN_OK);
    assert_true(now.marks[1][0].mark.high == 3 && now.marks[1][0].mark.grant == 0);
    end();
}

static void a_relabel_records_a_loss(void **state) {
    (void)state;
    begin((plan){0});
    granted(&handles[0], 1, 0, 0);
    replace();
    assert_int_equal(relabel(&handles[1], 1, true), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    assert_false(now.spaces[1].shut);
    assert_true(heard.surely); /* after the loss was written, the layout is decided again */
    end();
}

static void a_loss_is_declared(void **state) {
    const firn_relabel lost = {FIRN_ALL_NAMES, NULL, FIRN__GONE_BACK, 0, false};
    int64_t floor;
    (void)state;
    begin((plan){0});
    granted(&handles[0], 1, 0, 0);
    assert_int_equal(firn__engine_relabel(handles[1].engine, &lost, &floor, NULL), FIRN_OK);
    assert_int_equal(now.losses, 1);
    assert_false(now.spaces[1].shut);
    assert_int_equal(heard.writes, 2);
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    end();
}

/* A namespace without a record is new although the store lost reservations: all names are known
 * since then. */
static void names_may_be_new_after_a_loss(void **state) {
    const firn_relabel shut = {space_names[0], NULL, SHUT, 50, false};
    int64_t floor = -1;
    (void)state;
    begin((plan){0});
    granted(&handles[0], 0, 1, 0);
    now.losses = 1;
    now.version = ++now.writes;
    now.spaces[0] = (space){0};
    assert_int_equal(asked_of(&handles[1], 1, 0, FOREVER), FIRN_EBACK);
    all_new = true;
    granted(&handles[1], 1, 0, 0);
    assert_int_equal(firn__engine_relabel(handles[1].engine, &shut, &floor, NULL), FIRN_OK);
    assert_int_equal(floor, 50);
    assert_true(now.spaces[0].known && now.spaces[0].shut && now.spaces[0].floor == 50);
    assert_int_equal(now.spaces[0].losses, 1);
    end();
}

/* The guard moves on with the clock between the request and the verdict. */
static void a_guard_moves_with_the_clock(void **state) {
    static const uint64_t ticks[] = {1, 1000000};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const int64_t each = 1000000 / (int64_t)ticks[i];
        firn_request request = request_of(0, FOREVER, 1);
        firn_mark held;
        int64_t first;
        begin((plan){0});
        granted(&handles[0], 0, 1, 0);
        replace();
        frozen_ms = 1000000000;
        request.guard_ms = frozen_ms - 7;
        request.guard_tick_ns = ticks[i];
        assert_int_equal(firn__engine_ops.reserve(handles[1].engine, &request, &first, &held, NULL),
                         FIRN_ECLOCK);
        assert_int_equal(now.spaces[0].floor, 1 + 7 * each + 1);
        frozen_ms = 0;
        end();
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static bool does_stand;

static bool scripted_stands(void *self, const firn_records *seen) {
    (void)self, (void)seen;
    return does_stand;
}

static void a_driver_may_want_a_read_first(void **state) {
    firn_driver driver = scripted;
    (void)state;
    begin((plan){0});
    driver.usable = scripted_stands;
    drive(&driver);
    granted(&handles[0], 1, 0, 0);
    for (int i = 1; i <= 2; i++) {
        const int before = reads;
        does_stand = i == 1;
        granted(&handles[0], 1, 0, 10 * i);
        assert_int_equal(reads - before, i - 1);
    }
    end();
}

/* The first conflict is read again at once; the next ones wait first, and longer. */
static void conflicts_wait(void **state) {
    firn_driver driver = scripted;
    (void)state;
    begin((plan){0});
    for (int i = 0; i <= 3; i++) {
        conflicts = i;
        heard.waits = heard.rounds = 0;
        granted(&handles[0], 1, 0, 10 * i);
        assert_int_equal(heard.waits, i < 2 ? 0 : i - 1);
        assert_int_equal(heard.rounds, i == 3 ? 3 : i / 2);
    }
    driver.wait = NULL;
    driver.forget = NULL;
    drive(&driver);
    conflicts = 3;
    granted(&handles[0], 1, 0, 40);
    replace();
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    end();
}

/* Asks while each write meets a conflict; returns how many there were. */
static int meets_conflicts(int64_t wait_ms, const char *about, bool relabels) {
    firn_request request = request_of(1, FOREVER, 0);
    const firn_relabel shut = {space_names[1], OPEN, SHUT, 0, false};
    firn_error error = {0};
    firn_mark held;
    int64_t first;
    conflicts = 1 << 20;
    frozen_ms = 1000000;
    skipped_ms = 0;
    each_wait_ms = wait_ms;
    heard.writes = 0;
    const int code =
        relabels ? firn__engine_relabel(handles[0].engine, &shut, &first, &error)
                 : firn__engine_ops.reserve(handles[0].engine, &request, &first, &held, &error);
    frozen_ms = each_wait_ms = conflicts = 0;
    assert_int_equal(code, FIRN_ESTORE);
    assert_non_null(strstr(error.text, about));
    return heard.writes;
}

/* After a thousand, or a second after the first two. */
static void conflicts_end_at_last(void **state) {
    (void)state;
    begin((plan){0});
    granted(&handles[0], 1, 0, 0);
    assert_int_equal(meets_conflicts(0, "keep changing 1:", false), 1000);
    assert_int_equal(meets_conflicts(0, "keep changing bare:", true),
                     500); /* read twice each time */
    assert_int_equal(meets_conflicts(100, "keep changing 1:", false), 12);
    assert_int_equal(meets_conflicts(333, "keep changing 1:", false), 6);
    assert_int_equal(meets_conflicts(5000, "keep changing 1:", false), 3);
    granted(&handles[0], 1, 0, 10);
    end();
}

/* ---- adds ------------------------------------------------------------------------------------ */

static void a_warm_add_is_found(void **state) {
    (void)state;
    found((plan){.adds_warm = true}, true);
}

/* Others raised the mark since this handle read it, and it needs no other read. */
static void an_add_starts_from_the_present_mark(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first;
    (void)state;
    begin((plan){0});
    granted(&handles[0], 1, 0, 0);
    granted(&handles[1], 1, 0, 10);
    const int before = reads;
    for (int64_t i = 2; i < 6; i++) {
        granted(&handles[i % 2], 1, 0, 10 * i);
    }
    assert_int_equal(reads, before);
    assert_int_equal(adds, 5); /* the first made the namespace's record */
    request.earliest = 100;
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
    assert_int_equal(first, 100);
    assert_int_equal(give_back(&handles[0], &request, first, first + 3), FIRN_OK);
    granted(&handles[1], 1, 0, 103);
    assert_int_equal(reads, before);
    end();
}

/* An amount outside the raise is decided again, by the store's records. */
static void an_add_keeps_its_bounds(void **state) {
    (void)state;
    begin((plan){0});
    granted(&handles[0], 1, 0, 0);
    granted(&handles[1], 1, 0, 10);
    assert_int_equal(asked_of(&handles[0], 1, 0, 19), FIRN_EBUSY);
    assert_int_equal(asked_of(&handles[0], 1, 0, 20), FIRN_OK);
    const firn_relabel shut = {space_names[1], OPEN, SHUT, 0, false};
    int64_t floor;
    assert_int_equal(firn__engine_relabel(handles[1].engine, &shut, &floor, NULL), FIRN_OK);
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_ESTORE);
    assert_int_equal(now.marks[1][0].mark.high, 30);
    end();
}

/* A mark or a key of an older copy, in records that are else the same. */
static void an_add_raises_no_older_mark(void **state) {
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        begin((plan){.hides_losses = true});
        granted(&handles[0], 1, 0, 0);
        granted(&handles[0], 1, 0, 10);
        assert_int_equal(asked_of(&handles[0], 1, gone, FOREVER), FIRN_OK);
        assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_OK);
        now.marks[1][gone] = (engine_mark){.known = gone == 0, .version = 1};
        assert_int_equal(asked_of(&handles[0], 1, gone, FOREVER), FIRN_EBACK);
        end();
    }
}

/* The mark is as high as this handle's, by another grant of an older copy: the handle's last
 * reservation was of another key, so only its state has the grant. */
static void an_add_raises_no_mark_of_another_grant(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    assert_int_equal(asked_of(&handles[0], 1, 1, FOREVER), FIRN_OK);
    now.marks[1][0].mark.grant ^= 2; /* all else is the same */
    assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), FIRN_EBACK);
    assert_int_equal(now.losses, 1);
    end();
}

/* ---- sources --------------------------------------------------------------------------------- */

static const char *bare_is_foreign(void *self, const char *ns) {
    (void)self;
    return strcmp(ns, space_names[1]) == 0 ? "table bare" : NULL;
}

static firn_records records_of(int ns) {
    return (firn_records){.ns = space_names[ns], .key = "1"};
}

static int take_7(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                  firn_error *error) {
    (void)self, (void)request, (void)held, (void)error;
    *first = 7;
    return FIRN_OK;
}

static void another_programs_slots_have_no_records(void **state) {
    static firn_driver driver;
    firn_error error;
    int64_t floor;
    (void)state;
    begin((plan){0});
    driver = scripted;
    driver.source = bare_is_foreign;
    driver.take = take_7;
    firn__engine_ops.close(handles[0].engine);
    assert_int_equal(firn__engine_make(&handles[0].engine, &driver, &handles[0], NULL), FIRN_OK);
    granted(&handles[0], 1, 0, 7);
    const firn_mark mine = {17, 1};
    assert_int_equal(firn__engine_ops.give_back(handles[0].engine, "bare", "1", &mine, 9, &error),
                     FIRN_EBUSY);
    assert_string_equal(error.text, "table bare keeps no grants: the rest of the block is lost");
    const firn_relabel change = {"bare", OPEN, SHUT, 0, false};
    assert_int_equal(firn__engine_relabel(handles[0].engine, &change, &floor, &error), FIRN_EUSAGE);
    firn_records seen = records_of(1);
    assert_int_equal(firn__engine_known(handles[0].engine, &seen, &error), FIRN_OK);
    assert_true(!seen.known && seen.layout[0] == '\0' && seen.note[0] == '\0');
    assert_int_equal(now.writes + (uint64_t)reads, 0);
    granted(&handles[0], 0, 1, 0); /* the other namespace is firn's */
    assert_int_equal(now.writes, 1);
    end();
}

/* ---- the other verbs ------------------------------------------------------------------------- */

static int failing_begin(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    (void)self, (void)names, (void)verb;
    return firn_error_set(error, FIRN_ESTORE, FIRN_CURE_NONE, "no connection");
}

static int list_two(void *self, const char *ns, firn_visit *visit, void *context,
                    firn_error *error) {
    const firn_holding holding = {"bare", OPEN, "1", "", {10, 7}, 0};
    (void)self, (void)ns, (void)error;
    const int code = visit(context, &holding);
    return code != 0 ? code : visit(context, &holding);
}

static int now_5(void *self, firn_time *out, firn_error *error) {
    (void)self, (void)error;
    *out = (firn_time){.sec = 5};
    return FIRN_OK;
}

static const char *cautious(void *self) {
    (void)self;
    return "it forgets";
}

static void counted_close(void *self) {
    (void)self;
    heard.closes++;
}

static int code_of_end, ends;

static int scripted_end(void *self, int code) {
    (void)self;
    ends++;
    return code_of_end != FIRN_OK ? code_of_end : code;
}

static int list_one(void *self, firn_visit *visit, void *context, firn_error *error) {
    const firn_holding holding = {"bare", OPEN, "1", "", {10, 7}, 0};
    (void)self, (void)error;
    return visit(context, &holding);
}

static firn_driver with_all_verbs(void) {
    firn_driver driver = scripted;
    driver.list = list_two;
    driver.others = list_one;
    driver.now = now_5;
    driver.caution = cautious;
    driver.close = counted_close;
    return driver;
}

static int visits; /* `context`: how many end the listing */

static int visit_until(void *context, const firn_holding *holding) {
    const int *last = context;
    return strcmp(holding->ns, "bare") == 0 && ++visits == *last ? 3 : 0;
}

static void the_driver_carries_out_the_other_verbs(void **state) {
    static firn_driver driver, bare, failing;
    const firn_store_ops *ops = &firn__engine_ops;
    firn_request request = request_of(1, FOREVER, 0);
    firn_error error = {0};
    firn_mark held;
    firn_time time = {0};
    int64_t first;
    (void)state;
    begin((plan){0});
    driver = with_all_verbs();
    drive(&driver);
    void *engine = handles[0].engine;
    visits = 0;
    assert_int_equal(ops->list(engine, NULL, visit_until, &(int){1}, &error), 3);
    assert_int_equal(visits, 1);
    assert_int_equal(ops->list(engine, NULL, visit_until, &(int){9}, &error), 0);
    assert_int_equal(visits, 3);
    assert_int_equal(firn__engine_others(engine, visit_until, &(int){9}, &error), 0);
    assert_int_equal(visits, 4);
    assert_int_equal(ops->now(engine, &time, &error), FIRN_OK);
    assert_int_equal(time.sec, 5);
    assert_string_equal(ops->caution(engine), "it forgets");
    bare = scripted;
    drive(&bare);
    assert_int_equal(heard.closes, 1);
    engine = handles[0].engine;
    assert_int_equal(ops->now(engine, &time, &error), FIRN_ESYSTEM);
    assert_null(ops->caution(engine));
    assert_int_equal(firn__engine_others(engine, visit_until, &(int){9}, &error), FIRN_OK);
    assert_int_equal(visits, 4);
    failing = scripted;
    failing.begin = failing_begin;
    drive(&failing);
    assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_ESTORE);
    assert_int_equal(reads, 0);
    end();
}

static int begin_alive(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    assert_true(names->alive != NULL && *names->alive != 0);
    assert_true(names->layout[0] == '\0' && names->note[0] == '\0');
    return scripted_begin(self, names, verb, error);
}

/* A reserve compares its own mark with the present one. No reservation is made. */
static void the_records_of_a_key_are_read(void **state) {
    static firn_driver driver;
    (void)state;
    begin((plan){0});
    granted(&handles[1], 1, 0, 0);
    driver = scripted;
    driver.begin = begin_alive;
    drive(&driver);
    firn_records seen = records_of(1);
    heard.surely = false;
    const uint64_t writes = now.writes;
    assert_int_equal(firn__engine_known(handles[0].engine, &seen, NULL), FIRN_OK);
    assert_true(seen.known && seen.ns_known && seen.key_known && heard.surely);
    assert_true(seen.mark.high == 10 && seen.mark.grant == now.marks[1][0].mark.grant);
    assert_true(seen.layout[0] == '\0' && seen.note[0] == '\0'); /* texts of the driver */
    driver.end = scripted_end;
    ends = 0;
    assert_int_equal(firn__engine_known(handles[0].engine, &seen, NULL), FIRN_OK);
    code_of_end = FIRN_EUNKNOWN;
    assert_int_equal(firn__engine_known(handles[0].engine, &seen, NULL), FIRN_EUNKNOWN);
    code_of_end = FIRN_OK;
    assert_int_equal(ends, 2);
    driver.begin = failing_begin;
    const int before = reads;
    assert_int_equal(firn__engine_known(handles[0].engine, &seen, NULL), FIRN_ESTORE);
    assert_int_equal(reads, before);
    assert_int_equal(ends, 2);
    assert_int_equal(now.writes, writes);
    end();
}

/* The mark that a handle forgets may fall, by another handle that gives it back. */
static void a_forgotten_mark_is_no_loss(void **state) {
    firn_request request = request_of(1, FOREVER, 0);
    firn_mark held;
    int64_t first = -1;
    (void)state;
    for (int forgets = 0; forgets < 2; forgets++) {
        begin((plan){.hides_losses = true});
        request.grant++;
        assert_int_equal(reserve(&handles[0], &request, &first, &held), FIRN_OK);
        if (forgets) {
            firn__engine_forget(handles[0].engine, request.ns, request.key);
        }
        assert_int_equal(give_back(&handles[1], &request, first, first), FIRN_OK);
        assert_int_equal(asked_of(&handles[0], 1, 0, FOREVER), forgets ? FIRN_OK : FIRN_EBACK);
        assert_int_equal(now.losses, !forgets);
        end();
    }
}

static int ends_well(pid_t child) {
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
}

static void a_driver_may_know_no_processes(void **state) {
    static firn_driver driver;
    (void)state;
    driver = scripted;
    driver.forked = NULL;
    driver.copied = NULL;
    begin((plan){0});
    drive(&driver);
    granted(&handles[0], 1, 0, 0);
    firn_renew_identity();
    granted(&handles[0], 1, 0, 10);
    const pid_t child = fork();
    if (child == 0) {
        _exit(asked_of(&handles[0], 1, 0, FOREVER) != FIRN_OK);
    }
    assert_true(ends_well(child));
    end();
}

static void give_back_some(void *engine) {
    const firn_mark mine = {10, 1};
    (void)firn__engine_ops.give_back(engine, "bare", "1", &mine, 5, NULL);
}

static void close_namespace(void *engine) {
    const firn_relabel change = {"guarded", OPEN, SHUT, 0, false};
    int64_t floor;
    (void)firn__engine_relabel(engine, &change, &floor, NULL);
}

static void list_all(void *engine) {
    (void)firn__engine_ops.list(engine, NULL, visit_until, &(int){9}, NULL);
}

static void ask_time(void *engine) {
    firn_time time;
    (void)firn__engine_ops.now(engine, &time, NULL);
}

static void ask_records(void *engine) {
    firn_records seen = records_of(1);
    (void)firn__engine_known(engine, &seen, NULL);
}

static void list_others(void *engine) {
    (void)firn__engine_others(engine, visit_until, &(int){9}, NULL);
}

static void close_engine(void *engine) {
    firn__engine_ops.close(engine);
}

static void (*const other_verbs[])(void *) = {
    give_back_some, close_namespace, list_all, ask_time, ask_records, list_others, close_engine};
#define OTHER_VERBS (sizeof other_verbs / sizeof other_verbs[0])

static int all_look(void *const engines[]) {
    for (size_t i = 0; i < OTHER_VERBS; i++) {
        const int before = heard.forks, copies = heard.copies;
        other_verbs[i](engines[i]);
        CHECK(heard.forks == before + 1 && heard.copies == copies + 1);
    }
    return 0;
}

static void every_verb_looks_whose_handle_it_is(void **state) {
    const firn_driver driver = with_all_verbs();
    void *engines[OTHER_VERBS];
    (void)state;
    begin((plan){0});
    for (size_t i = 0; i < OTHER_VERBS; i++) {
        assert_int_equal(firn__engine_make(&engines[i], &driver, &handles[0], NULL), FIRN_OK);
    }
    const pid_t child = fork();
    if (child == 0) {
        _exit(all_look(engines));
    }
    assert_true(ends_well(child));
    firn_renew_identity(); /* a copy has the number of the process */
    for (size_t i = 0; i < OTHER_VERBS; i++) {
        const int copies = heard.copies;
        other_verbs[i](engines[i]);
        assert_int_equal(heard.copies, copies + 1);
    }
    for (size_t i = 0; i < OTHER_VERBS - 1; i++) { /* the last one is closed */
        firn__engine_ops.close(engines[i]);
    }
    end();
}

static int fork_once(void *context, const firn_holding *holding) {
    pid_t *child = context;
    (void)holding;
    *child = *child == -1 ? fork() : *child;
    return 0;
}

static void a_child_does_not_continue_a_listing(void **state) {
    const firn_driver driver = with_all_verbs();
    void *engine;
    pid_t child = -1;
    (void)state;
    begin((plan){0});
    assert_int_equal(firn__engine_make(&engine, &driver, &handles[0], NULL), FIRN_OK);
    const int code = firn__engine_ops.list(engine, NULL, fork_once, &child, NULL);
    if (child == 0) {
        _exit(code == FIRN_EFORKED ? 0 : 1);
    }
    assert_int_equal(code, FIRN_OK);
    assert_true(ends_well(child));
    firn__engine_ops.close(engine);
    end();
}

/* A signal handler forks within a verb: the child's driver is the parent's, and hears nothing. */
static pid_t child_of_begin;

static int begin_and_fork(void *self, const firn_records *names, firn_verb verb,
                          firn_error *error) {
    child_of_begin = fork();
    return scripted_begin(self, names, verb, error);
}

static void a_child_of_a_verb_is_no_copy(void **state) {
    firn_driver driver = scripted;
    (void)state;
    begin((plan){0});
    driver.begin = begin_and_fork;
    drive(&driver);
    (void)asked_of(&handles[0], 1, 0, FOREVER);
    if (child_of_begin == 0) {
        _exit(heard.copies + heard.forks);
    }
    assert_true(ends_well(child_of_begin));
    end();
}

/* The child has reserved nothing that a loss could take, so it does not compare the stores. */
static void a_child_knows_no_store(void **state) {
    (void)state;
    begin((plan){.hides_losses = true});
    granted(&handles[0], 1, 0, 0);
    const pid_t child = fork();
    if (child == 0) {
        now.origin ^= 2; /* all else is the same */
        now.version = ++now.writes;
        _exit(asked_of(&handles[0], 1, 0, FOREVER) != FIRN_OK || now.losses != 0);
    }
    assert_true(ends_well(child));
    end();
}

static int without_add(void **state) {
    adding = false;
    return start_over(state);
}

static int with_add(void **state) {
    adding = true;
    return start_over(state);
}

#define BOTH(name)                                                                                 \
    cmocka_unit_test_setup(name, without_add), {                                                   \
#name " with add", name, with_add, NULL, NULL                                              \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(a_loss_counts_once),
        BOTH(a_refused_handle_knows_the_store),
        BOTH(another_store_is_noticed),
        BOTH(a_forgotten_loss_is_noticed),
        BOTH(a_loss_is_remembered_by_a_verb_that_fails),
        BOTH(a_declared_loss_is_remembered),
        BOTH(an_emptied_store_is_noticed),
        BOTH(an_older_key_is_noticed),
        BOTH(an_older_mark_is_noticed),
        BOTH(an_older_stamp_is_noticed),
        BOTH(a_mark_that_was_granted_again_is_noticed),
        BOTH(what_others_give_back_is_no_loss),
        BOTH(a_renewed_identity_forgets_its_marks),
        cmocka_unit_test_setup(a_copy_may_be_made_during_a_verb, without_add),
        BOTH(a_mark_may_return_to_0),
        cmocka_unit_test(the_driver_carries_out_the_other_verbs),
        cmocka_unit_test(every_verb_looks_whose_handle_it_is),
        cmocka_unit_test(a_child_does_not_continue_a_listing),
        cmocka_unit_test(the_records_of_a_key_are_read),
        BOTH(a_forgotten_mark_is_no_loss),
        cmocka_unit_test(a_driver_may_know_no_processes),
        cmocka_unit_test(a_child_of_a_verb_is_no_copy),
        BOTH(a_child_knows_no_store),
        BOTH(a_give_back_leaves_what_it_wrote),
        cmocka_unit_test(a_driver_that_sees_no_losses_is_believed),
        BOTH(a_mark_that_was_given_back_is_not_older),
        BOTH(a_mark_is_compared_with_its_grant),
        BOTH(a_relabel_writes_the_store),
        BOTH(a_give_back_is_no_loss),
        BOTH(a_child_remembers_nothing),
        BOTH(a_late_grant_is_not_adopted_in_doubt),
        BOTH(no_foreign_grant_is_adopted),
        BOTH(a_remembered_doubt_is_read_again),
        BOTH(a_long_note_is_cut),
        BOTH(what_another_wrote_is_confirmed),
        BOTH(texts_are_kept),
        BOTH(a_read_is_sure_where_it_counts),
        BOTH(a_foreign_grant_is_wasted),
        BOTH(a_key_without_a_record_is_busy_for_ever),
        BOTH(an_adopted_mark_is_remembered),
        BOTH(an_error_is_set_by_a_refusal_only),
        BOTH(a_new_handle_counts_a_first_loss),
        BOTH(a_store_without_its_record_is_no_new_one),
        BOTH(a_key_that_is_gone_is_noticed),
        BOTH(a_namespace_that_is_gone_is_noticed),
        BOTH(a_driver_with_a_lock_notices_an_older_mark),
        BOTH(a_give_back_records_a_loss),
        BOTH(only_the_own_mark_is_given_back),
        BOTH(a_relabel_records_a_loss),
        BOTH(a_loss_is_declared),
        BOTH(names_may_be_new_after_a_loss),
        BOTH(a_guard_moves_with_the_clock),
        BOTH(a_driver_may_want_a_read_first),
        BOTH(conflicts_wait),
        BOTH(conflicts_end_at_last),
        cmocka_unit_test_setup(another_programs_slots_have_no_records, without_add),
        cmocka_unit_test_setup(an_add_starts_from_the_present_mark, with_add),
        cmocka_unit_test_setup(an_add_keeps_its_bounds, with_add),
        cmocka_unit_test_setup(an_add_raises_no_older_mark, with_add),
        cmocka_unit_test_setup(an_add_raises_no_mark_of_another_grant, with_add),
        BOTH(the_store_may_change_between_any_two_steps),
        BOTH(no_slot_is_issued_twice),
        BOTH(a_foreign_grant_is_found),
        BOTH(a_hidden_loss_is_found),
        BOTH(a_refusal_from_an_old_read_is_found),
        BOTH(when_faults_end_everybody_issues),
        cmocka_unit_test_setup(a_warm_add_is_found, with_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
