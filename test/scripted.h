/* SPDX-License-Identifier: MIT */
/* Seeded scripts for the code of a real driver: above it the engine of stores with several clients,
 * below it a small truthful server in place of the network. Between any two steps of a driver
 * requests and replies are lost, late or doubled, connections break, other clients call, and the
 * server restarts or loses reservations, as an older copy does. No slot may be granted twice, and
 * when the faults end everybody is granted slots again. SCRIPTED_RUNS=1000 makes 100 times as many
 * runs. The program defines the functions that are declared first. */
#ifndef FIRN_TEST_SCRIPTED_H
#define FIRN_TEST_SCRIPTED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "chance.h"
#include "short.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SPACES = 2,
    KEYS = 2,
    HANDLES = 4,
    SLOTS = 1 << 21,
    RUNS = 10,
    RUNS_MOST = 400,
    MARGIN = 500
};
#ifndef MARK_NEAR /* for claims directly at a mark; an older one does no harm */
#define MARK_NEAR server_mark
#endif
#ifndef SERVED_IN
#define SERVED_IN 10 /* steps, at least */
#endif
#ifndef STEPS
#define STEPS 3000
#endif
#define LAYOUT    "0x0:1 time:41/ms node:10 sequence:12"
#define SHUT      "closed (a test): " LAYOUT
#define FOREVER   (INT64_C(1) << 40)
#define ONE_IN(n) (chance() % (n) == 0)
/* A client tries to connect at once although it just failed to. */
#ifndef TRY_NOW
#define TRY_NOW(handle) (((module_link *)(handle))->retry = (module_retry){0})
#endif
#ifndef DISTURBED_IN
#define DISTURBED_IN 12 /* steps of a driver */
#endif

/* ---- the program's part ---------------------------------------------------------------------- */

static void server_new(void);     /* an empty one */
static void server_save(void);    /* a copy, which may come back later */
static void server_go_back(void); /* to the copy, as another server */
static void server_restart(void); /* nothing is lost */
static void server_deliver(void); /* a late request, if there is one */
static void server_forget(void);  /* no late request arrives any more */
static void *driver_handle(void); /* of a new client */
static int64_t server_mark(int ns, int key);

static const firn_driver *scripted_driver; /* perhaps with an injected bug */

/* ---- what the server calls ------------------------------------------------------------------- */

static const char *const space_names[SPACES] = {"guarded", "bare"};
static const char *const key_names[KEYS] = {"1", "2"};

static bool faults;
static bool keeps_all;      /* nobody gives back, so each client remembers its marks */
static bool one_process;    /* only the first client calls; it remembers all that it reserved */
static bool reopens;        /* some clients issue again only after a restart, as the manual says */
static int calling = -1;    /* the client whose verb is in progress; -1: none */
static firn_request *asked; /* the request in progress */
static int64_t highest[SPACES];

static int scripted_index(const char *const *names, const char *name) {
    return strcmp(names[0], name) == 0 ? 0 : 1;
}

/* With each read of a namespace the clock moves on: the guard is after all that was granted. */
static void scripted_read(void) {
    if (asked != NULL && asked->guard > 0) {
        asked->guard = highest[scripted_index(space_names, asked->ns)] + MARGIN;
    }
}

/* With each raise of a mark. */
static void scripted_raise(int ns, int64_t high) {
    highest[ns] = high > highest[ns] ? high : highest[ns];
}

/* ---- clients --------------------------------------------------------------------------------- */

typedef struct client {
    firn_request request; /* grant 0: none */
    bool sent, twice;     /* the outcome is unknown; it went out more than once */
} client;

static void *engines[HANDLES];
static void *handles[HANDLES]; /* of the driver */
static client clients[HANDLES][SPACES * KEYS];
static char refusal[sizeof((firn_error *)NULL)->text]; /* of the last call */
static uint8_t *issued;
static int doubles;          /* slots issued twice, out of bounds, or of a closed namespace */
static int grants;           /* reservations */
static int copies, relabels; /* older copies that came back so far; changes of layouts that began */
static int64_t closed_marks[KEYS]; /* of its keys, when the first namespace was closed */
static int closed_by;              /* as many when the first namespace was closed; -1: it is open */

static void open_client(int h) {
    handles[h] = driver_handle();
    assert_int_equal(firn__engine_make(&engines[h], scripted_driver, handles[h], NULL), FIRN_OK);
    memset(clients[h], 0, sizeof clients[h]);
}

/* A new process. */
static void reopen_client(int h) {
    firn__engine_ops.close(engines[h]);
    open_client(h);
}

static int begin_call(int h) {
    const int before = calling;
    calling = h;
    TRY_NOW(handles[h]);
    return before;
}

static void issue(int place, int64_t first, int64_t count) {
    assert_in_range(first, 0, SLOTS - count);
    for (int64_t slot = first; slot < first + count; slot++) {
        const size_t bit = (size_t)(slot * SPACES * KEYS + place);
        doubles += (issued[bit / 8] >> bit % 8) & 1;
        issued[bit / 8] |= (uint8_t)(1U << bit % 8);
    }
}

/* Some of a window is used, and the rest may be given back. */
static void use(int h, client *c, int place, int64_t first) {
    const firn_request request = c->request;
    const firn_mark mine = {first + request.count, request.grant};
    const bool whole = c->twice || keeps_all || !ONE_IN(3);
    const int64_t used = whole ? request.count : (int64_t)(chance() % (uint64_t)request.count);
    c->request.grant = 0;
    grants++;
    issue(place, first, used);
    if (!whole) {
        const int before = begin_call(h);
        (void)firn__engine_ops.give_back(engines[h], request.ns, request.key, &mine, first + used,
                                         NULL);
        calling = before;
    }
}

static void draw(client *c, int ns, int key, bool guarded) {
    *c = (client){.request = {.ns = space_names[ns],
                              .layout = LAYOUT,
                              .key = key_names[key],
                              .count = 1 + (int64_t)(chance() % 8),
                              .latest = FOREVER,
                              .grant = chance() >> 1 | 1,
                              .note = "a client",
                              .guard = guarded ? highest[ns] + MARGIN : 0}};
    if (faults && ONE_IN(2)) { /* only directly at the mark, as a node's next claim */
        c->request.latest = MARK_NEAR(ns, key);
    }
}

/* Sends a request once, as firn__reserve does. */
static int ask(int h, int place, bool guarded) {
    client *c = &clients[h][place];
    if (c->request.grant == 0 || !c->sent) {
        draw(c, place / KEYS, place % KEYS, guarded);
    }
    firn_request request = c->request;
    firn_error error = {0};
    firn_mark held = {0, 0};
    int64_t first = 0;
    const int closed = place < KEYS && closed_by == copies ? copies : -1;
    c->twice |= c->sent;
    asked = &request;
    const int before = begin_call(h);
    int code = firn__engine_ops.reserve(engines[h], &request, &first, &held, &error);
    calling = before;
    asked = NULL;
    lie_told(code, &error);
    snprintf(refusal, sizeof refusal, "%s", error.text);
    if (code == FIRN_EBUSY && c->sent && held.grant == request.grant) {
        first = held.high - request.count;
        code = FIRN_OK;
    }
    doubles += code == FIRN_OK && closed >= 0 && closed == closed_by && closed == copies &&
               first + request.count > closed_marks[place];
    doubles += code == FIRN_OK && (first < request.earliest || first > request.latest);
    c->sent = code == FIRN_EUNKNOWN || (c->sent && code == FIRN_ESTORE);
    if (code == FIRN_OK) {
        use(h, c, place, first);
    }
    return code;
}

static void any_asks(void) {
    const int h = one_process ? 0 : (int)(chance() % HANDLES),
              place = (int)(chance() % (SPACES * KEYS));
    if (h != calling) { /* an advance of integers has a guard */
        (void)ask(h, place, place < KEYS || ONE_IN(6));
    }
}

/* After a loss, a closed namespace ends its doubt with the closed layout, before it is opened. */
static void end_doubt(int h) {
    firn_request request = {.ns = space_names[0],
                            .layout = SHUT,
                            .key = key_names[0],
                            .count = 1,
                            .latest = FOREVER,
                            .grant = chance() >> 1 | 1,
                            .guard = highest[0] + MARGIN};
    firn_mark held;
    int64_t first;
    asked = &request;
    (void)firn__engine_ops.reserve(engines[h], &request, &first, &held, NULL);
    asked = NULL;
}

/* Closes or opens the first namespace. */
static void relabel(int h, bool closes) {
    const firn_relabel change = {space_names[0], closes ? LAYOUT : SHUT, closes ? SHUT : LAYOUT, 0,
                                 false};
    const int before = begin_call(h);
    const int copies_before = copies, mine = ++relabels;
    int64_t floor;
    closed_by = -1;
    const int code = firn__engine_relabel(engines[h], &change, &floor, NULL);
    if (code == FIRN_EBACK && !closes) {
        end_doubt(h);
    }
    closed_by = code == FIRN_OK && closes && relabels == mine ? copies_before : -1;
    for (int key = 0; key < KEYS; key++) {
        closed_marks[key] = server_mark(0, key);
    }
    calling = before;
}

static void any_relabels(void) {
    const int h = one_process ? 0 : (int)(chance() % HANDLES);
    if (h != calling) {
        relabel(h, ONE_IN(3));
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Between two steps of a driver. */
static void scripted_disturb(void) {
    static bool inside;
    firn_request *mine = asked;
    if (!faults || inside || !ONE_IN(DISTURBED_IN)) {
        return;
    }
    inside = true;
    asked = NULL;
    switch (chance() % 8) {
    case 0:
        server_go_back();
        copies++;
        break;
    case 1:
        server_restart();
        break;
    case 2:
        server_save();
        break;
    case 3:
        any_asks();
        break;
    case 4:
        any_relabels();
        break;
    default:
        server_deliver();
    }
    asked = mine;
    inside = false;
}

static void scripted_begin(const firn_driver *driver) {
    scripted_driver = driver;
    issued = calloc(1, (size_t)SLOTS * SPACES * KEYS / 8);
    assert_non_null(issued);
    memset(highest, 0, sizeof highest);
    doubles = grants = 0;
    faults = reopens = false;
    copies = 0;
    closed_by = -1;
    server_new();
    for (int h = 0; h < HANDLES; h++) {
        open_client(h);
    }
    for (int place = 0; place < SPACES * KEYS; place++) {
        if (place < KEYS || ONE_IN(3)) { /* a loss is noticed by the store's record */
            if (ask(one_process ? 0 : place % HANDLES, place, true) != FIRN_OK) {
                fail_msg("without faults: %s", refusal);
            }
        }
    }
    server_save();
    faults = true;
}

static void scripted_end(void) {
    faults = false;
    for (int h = 0; h < HANDLES; h++) {
        firn__engine_ops.close(engines[h]);
    }
    free(issued);
}

static void scripted_run(const firn_driver *driver, int steps) {
    scripted_begin(driver);
    for (int i = 0; i < steps && doubles == 0; i++) {
        any_asks();
        if (ONE_IN(20) && !one_process) {
            reopen_client((int)(chance() % HANDLES));
        }
        if (ONE_IN(20)) {
            any_relabels();
        }
    }
}

/* Everybody asks once; returns how many were refused. */
static int everybody(bool advances) {
    int refused = 0;
    for (int h = 0; h < HANDLES; h++) {
        for (int place = 0; place < SPACES * KEYS; place++) {
            refused += ask(h, place, place < KEYS || advances) != FIRN_OK;
        }
    }
    return refused;
}

/* The caches of the C library are smaller than this. A driver that forgets an answer each time
 * loses more, as does a connection that stays open. Under a sanitizer, which looks itself, 0. */
enum { LEAK = 1 << 19 };

static size_t in_use(void) {
    return mallinfo2().uordblks;
}

static void no_slot_is_granted_twice(const firn_driver *driver) {
    const char *given = getenv("SCRIPTED_RUNS");
    const int runs = given != NULL ? atoi(given) : RUNS / short_step(2);
    size_t used = 0;
    int sum = 0;
    for (int run = 0; run < runs; run++) {
        used = run == 1 ? in_use() : used;
        scripted_run(driver, STEPS);
        if (doubles != 0) {
            fail_msg("run %d: %d slots twice", run, doubles);
        }
        sum += grants;
        faults = false;
        server_forget();
        memset(clients, 0, sizeof clients);
        for (int h = one_process; h < HANDLES && reopens; h++) { /* the first one remembers */
            reopen_client(h);
        }
        for (int i = 0; i < 2 * HANDLES; i++) { /* each may have a loss to report */
            relabel(0, false);
            (void)everybody(true);
        }
        if (everybody(false) != 0) {
            fail_msg("run %d: nobody is served: %s", run, refusal);
        }
        assert_int_equal(doubles, 0);
        scripted_end();
    }
    assert_true(sum > runs * STEPS / SERVED_IN);
    assert_true(runs < 2 || in_use() < used + LEAK);
    print_message("# %d reservations\n", sum);
}

/* The argument of the program, if there is one, chooses tests. */
static void scripted_choose(int count, char **arguments) {
    if (count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
}

static void finds(const firn_driver *driver) {
    bool found = false;
    for (int run = 0; run < RUNS_MOST && !found; run++) {
        scripted_run(driver, run % 8 == 7 ? STEPS : STEPS / 50); /* bugs of the first steps, too */
        found = doubles > 0;
        scripted_end();
    }
    assert_true(found);
}

/* For an injected bug: no loss of the store is seen. */
static inline bool never_lost(void *self, const firn_records *seen) {
    (void)self, (void)seen;
    return false;
}

static inline void finds_a_loss_that_is_never_seen(void) {
    firn_driver driver = firn_store_driver;
    driver.lost = never_lost;
    finds(&driver);
}

/* ---- steps without faults -------------------------------------------------------------------- */

static char passed[200]; /* the failpoints since it was emptied, as far as there is room */

static inline void pass(void *self, const char *name) {
    (void)self;
    const size_t length = strlen(passed);
    snprintf(passed + length, sizeof passed - length, " %s", name);
}

static const uint64_t is_alive = 1;
__attribute__((unused)) static const firn_records step_names = {
    .ns = "bare", .key = "2", .alive = &is_alive, .layout = "", .note = ""};

/* A client of a new server, whose writes are in passed[]. */
static inline void *steps_begin(void) {
    faults = false;
    server_new();
    void *self = driver_handle();
    ((module_link *)self)->options.failpoint = pass;
    return self;
}

__attribute__((unused)) static const firn_records *step_next; /* what the last step has written */

/* A verb whose write has these contents. Returns what became of the write. */
static inline int step(void *self, firn_verb verb, int which, const char *layout, int64_t floor,
                       firn_mark mark) {
    static firn_records next;
    firn_records seen;
    int code = FIRN_WRITE_CHANGED;
    passed[0] = '\0';
    assert_int_equal(firn_store_driver.begin(self, &step_names, verb, NULL), FIRN_OK);
    for (int i = 0; i < 2 && code == FIRN_WRITE_CHANGED; i++) { /* the first begins a transaction */
        seen = step_names;
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        next = seen;
        next.layout = layout;
        next.floor = floor;
        next.mark = mark;
        next.ns_losses = next.losses;
        next.note = "a client";
        code = firn_store_driver.write(self, &seen, &next, which, verb, NULL);
        assert_true(code != FIRN_OK || next.mark.high == mark.high);
    }
    step_next = &next;
    return firn_store_driver.end != NULL ? firn_store_driver.end(self, code) : code;
}

/* Writes over the key a note that is longer than the store keeps. */
__attribute__((unused)) static void write_long_note(void *self) {
    char note[2 * FIRN_NOTE_SIZE];
    firn_records seen = step_names, next;
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    next = seen;
    memset(note, 'n', sizeof note - 1);
    note[sizeof note - 1] = '\0';
    next.note = note;
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, NULL),
        FIRN_OK);
}

/* ---- listings -------------------------------------------------------------------------------- */

static char shown[400];   /* what the last listing has shown, a row after the other */
static int rows_to_show;  /* until the visitor stops */
static void *shown_store; /* whose listing it is */
static bool shows_slowly; /* the deadline of the verb passes while a row is shown */

static int show(void *context, const firn_holding *holding) {
    const size_t length = strlen(shown);
    assert_ptr_equal(context, shown);
    if (shows_slowly) {
        ((module_link *)shown_store)->end_ms = 1;
    }
    snprintf(shown + length, sizeof shown - length,
             "%s|%s|%s|%s|%" PRId64 "|%" PRIu64 "|%" PRId64 ";", holding->ns, holding->layout,
             holding->key, holding->note, holding->mark.high, holding->mark.grant, holding->floor);
    return --rows_to_show == 0;
}

__attribute__((unused)) static int list_of(void *self, const char *ns, int rows,
                                           firn_error *error) {
    shown[0] = '\0';
    rows_to_show = rows;
    shown_store = self;
    return firn_store_driver.list(self, ns, show, shown, error);
}

/* ---- URLs ------------------------------------------------------------------------------------ */

typedef struct url_case {
    const char *url, *refusal; /* a part of the error; NULL: the URL is right */
} url_case;

/* Reads a URL as module_open does. NULL: the URL is refused, as it should be. Else the caller closes
 * the store. */
static inline void *take_url(const module_engine *of, const url_case *one) {
    module_link *link = calloc(1, of->size);
    firn_error error = {0};
    assert_non_null(link);
    link->engine = of;
    link->socket = -1;
    int code = module_link_read(link, one->url, NULL, &error);
    code = code == FIRN_OK ? of->set_up(link, &error) : code;
    code = code == FIRN_OK ? module_params_done(&link->url, of->parameters, &error) : code;
    if ((code != FIRN_OK) != (one->refusal != NULL) ||
        (code != FIRN_OK && strstr(error.text, one->refusal) == NULL)) {
        fail_msg("%s: %d, %s", one->url, code, error.text);
    }
    if (code == FIRN_OK) {
        return link;
    }
    module_close(link);
    return NULL;
}

static inline void take_urls(const module_engine *of, const url_case *all, size_t count) {
    for (size_t i = 0; i < count; i++) {
        void *self = take_url(of, &all[i]);
        if (self != NULL) {
            module_close(self);
        }
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void answers_are_torn(void **state) {
    (void)state;
    no_slot_is_granted_twice(&firn_store_driver);
}

static int guessed_add(void *self, const firn_records *seen, firn_records *next,
                       const firn_raise *raise, firn_error *error) {
    const int code = firn_store_driver.add(self, seen, next, raise, error);
    if (code == FIRN_EUNKNOWN) {
        next->mark.high = seen->mark.high + raise->count;
    }
    return code == FIRN_EUNKNOWN ? FIRN_OK : code;
}

static int guessed_write(void *self, const firn_records *seen, firn_records *next, int which,
                         firn_verb verb, firn_error *error) {
    const int code = firn_store_driver.write(self, seen, next, which, verb, error);
    return code == FIRN_EUNKNOWN ? FIRN_OK : code;
}

/* Injected: an unknown outcome is taken for done. */
static void a_guess_is_found(void **state) {
    firn_driver driver = firn_store_driver;
    (void)state;
    if (driver.add != NULL) {
        driver.add = guessed_add;
    } else {
        driver.write = guessed_write;
    }
    finds(&driver);
}

#endif
