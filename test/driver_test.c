/* SPDX-License-Identifier: MIT */
/* The rules of firn/store.h for a driver, at the steps of a write: acts of other handles in
 * between, forks, stops, kills and restores. Each check runs on each kind of store that processes
 * share, and on a module that is given (make test-store). */
#include "short.h"
#include "stores.h"

#include "in_child.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define COUNT     10
#define WINDOW    100
#define CLOSED    "closed (for a test): "
#define ALL_NAMES "integer *"
#define WATCH_S   30    /* no call takes so long: the stores here wait 1 s at most */
#define SHORT_MS  1000  /* for others, while somebody may hold a lock */
#define CHILDREN  4     /* of the torture */
#define SPANS     20000 /* that it keeps, at most */

static const char *const points[] = {"reserve.before",   "reserve.sent",   "reserve.committed",
                                     "give_back.before", "give_back.sent", "give_back.committed"};
#define POINTS (sizeof points / sizeof points[0])

/* ---- handles --------------------------------------------------------------------------------- */

static const bench *here;

/* The one failpoint that acts, and what it does. */
static const char *act_at;
static void (*act)(void);

static void on_point(void *self, const char *name) {
    (void)self;
    if (act != NULL && strcmp(name, act_at) == 0) {
        void (*once)(void) = act;
        act = NULL;
        once();
    }
}

static firn_store *open_hooked(const char *url, void (*failpoint)(void *, const char *),
                               bool hasty) {
    firn_store_options options = store_options();
    firn_error error = {0};
    firn_store *store = NULL;
    char chosen[600];
    const char *patience = strstr(url, PATIENT);
    snprintf(chosen, sizeof chosen, "%s", url);
    for (; hasty && (patience = strstr(chosen, PATIENT)) != NULL;) {
        char rest[600];
        snprintf(rest, sizeof rest, "%s", patience + strlen(PATIENT));
        snprintf(chosen + (patience - chosen), 300, "%dms%.250s", SHORT_MS, rest);
    }
    options.failpoint = failpoint;
    options.wait_ms = hasty && options.wait_ms > 0 ? SHORT_MS : options.wait_ms;
    if (firn_store_open(&store, chosen, &options, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return store;
}

static uint64_t grants = 1000;

static firn_request ask(const char *ns, const char *key) {
    return (firn_request){ns, ROW, key, COUNT, 0, SLOTS / 2, ++grants, "a note", 0};
}

static int take_with(firn_store *store, firn_request request, int64_t guard, int64_t *first,
                     firn_error *error) {
    firn_mark held;
    *first = -1;
    request.guard = guard;
    return firn_store_reserve(store, &request, first, &held, error);
}

static int take(firn_store *store, const char *ns, int64_t *first, firn_error *error) {
    return take_with(store, ask(ns, "1"), 0, first, error);
}

static int64_t taken(firn_store *store, const char *ns) {
    firn_error error = {0};
    int64_t first;
    if (take(store, ns, &first, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    return first;
}

static int relabel(firn_store *store, const char *ns, const char *from, const char *to,
                   int64_t floor) {
    const firn_relabel change = {ns, from, to, floor, false};
    int64_t stored;
    firn_error error;
    return firn_store_relabel(store, &change, &stored, &error);
}

/* ---- somebody writes between the read and the write ------------------------------------------ */

static firn_store *other;    /* another client's handle */
static int other_code;       /* of its call */
static int64_t other_first;  /* of the slots that it was granted */
static firn_mark first_mark; /* of the first window, which one of the two holds */
static int lowered;          /* the code of its give back */

static void other_reserves(void) {
    other_code = take(other, "snow", &other_first, NULL);
}

static void other_makes_the_key(void) {
    other_code = take_with(other, ask("snow", "2"), 0, &other_first, NULL);
}

static void other_makes_the_namespace(void) {
    other_code = take(other, "new", &other_first, NULL);
}

/* After a loss: from now on nothing is granted before this guard. */
static void other_has_a_guard(void) {
    other_code = take_with(other, ask("snow", "3"), 5000, &other_first, NULL);
    other_first = -COUNT; /* of another key */
}

static void other_declares_a_loss(void) {
    other_code = relabel(other, ALL_NAMES, "gone back", "gone back", 0);
}

static void other_closes(void) {
    other_code = relabel(other, "snow", ROW, CLOSED ROW, 0);
}

static void other_closes_new_names(void) {
    other_code = relabel(other, ALL_NAMES, NULL, CLOSED "integer", 0);
}

static void other_raises_the_floor(void) {
    other_code = relabel(other, "snow", ROW, ROW, 5000);
}

/* The mark is then as it was, with another grant. */
static void other_takes_over(void) {
    firn_request rest = ask("snow", "1");
    firn_mark held;
    rest.count = WINDOW / 2;
    other_code = lowered = firn_store_give_back(other, "snow", "1", &first_mark, WINDOW / 2, NULL);
    if (lowered == FIRN_OK) {
        other_code = firn_store_reserve(other, &rest, &other_first, &held, NULL);
    }
}

/* The act of another client in between, and the answer to a reservation of `ns` that comes after
 * it. */
static const struct meeting {
    const char *sentence, *ns, *key;
    void (*act)(void);
    int code;
    int64_t least; /* of the first slot */
    int64_t guard; /* of the reservation, after a loss; 0: there was none */
} meetings[] = {
    {"a reservation", "snow", "1", other_reserves, FIRN_OK, 0, 0},
    {"a key that is made", "snow", "2", other_makes_the_key, FIRN_OK, 0, 0},
    {"a namespace that is made", "new", "1", other_makes_the_namespace, FIRN_OK, 0, 0},
    {"a loss that is declared", "snow", "1", other_declares_a_loss, FIRN_EBACK, 0, 0},
    {"a guard after a loss", "snow", "1", other_has_a_guard, FIRN_OK, 5000, 1000},
    {"a namespace that is closed", "snow", "1", other_closes, FIRN_ESTORE, 0, 0},
    {"new names that are closed", "new", "1", other_closes_new_names, FIRN_ESTORE, 0, 0},
    {"a floor that is raised", "snow", "1", other_raises_the_floor, FIRN_OK, 5000, 0},
};

/* At `point` of a write by a handle that has just opened (or, `warm`, reserved before), the other
 * one acts. What it did counts from then on: before the write is sent, for the write too. */
static void meet(const struct meeting *self, const char *point, bool warm, const char *name) {
    bench b = *here;
    firn_error error = {0};
    int64_t first;
    store_url(b.url, sizeof b.url, here, name);
    firn_store *near = open_hooked(b.url, on_point, false);
    other = open_hooked(b.url, NULL, true);
    taken(warm ? near : other, "snow");
    taken(other, "snow");
    if (self->guard > 0) {
        other_declares_a_loss();
    }
    other_first = -COUNT;
    other_code = 1;
    act_at = point;
    act = self->act;
    const int code = take_with(near, ask(self->ns, self->key), self->guard, &first, &error);
    if (act != NULL && strstr(point, ".sent") != NULL) { /* the driver has no such step */
        act();
    }
    act = NULL;
    assert_int_not_equal(other_code, 1);
    other_first = other_code == FIRN_OK ? other_first : -COUNT;
    const bool did = other_code == FIRN_OK, precedes = strstr(point, ".before") != NULL;
    if (did && precedes && (code != self->code || (code == FIRN_OK && first < self->least))) {
        fail_msg("%s, at %s: it is not seen: the write answers %s, first %" PRId64 " (%s)",
                 self->sentence, point, firn_errname(code), first, error.text);
    }
    if (strstr(point, ".committed") != NULL && code != FIRN_OK) {
        fail_msg("%s, at %s: the write was committed, and answers %s", self->sentence, point,
                 firn_errname(code));
    }
    if (code == FIRN_OK && first < other_first + COUNT && other_first < first + COUNT) {
        fail_msg("%s, at %s: both were granted %" PRId64, self->sentence, point, first);
    }
    int64_t again; /* a name that exists by now may be used while new ones are closed */
    const bool newer = self->act == other_closes_new_names && code == FIRN_OK && did;
    const int later =
        take_with(near, ask(newer ? "newer" : self->ns, self->key), 0, &again, &error);
    /* The first guard after a loss counts. */
    const int64_t least = self->guard > 0 && code == FIRN_OK && !precedes ? 0 : self->least;
    if (did && (later != self->code || (later == FIRN_OK && again < least))) {
        fail_msg("%s, at %s: the write undid it", self->sentence, point);
    }
    if (later == FIRN_OK && code == FIRN_OK && again < first + COUNT) {
        fail_msg("%s, at %s: granted again", self->sentence, point);
    }
    firn_store_close(near);
    firn_store_close(other);
}

static void others_are_seen(void **state) {
    static int number;
    store_of(state);
    here = *state;
    for (size_t i = 0; i < sizeof meetings / sizeof meetings[0] * 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", ++number);
        meet(&meetings[i / 6], points[i % 3], i % 6 < 3, name);
    }
}

/* The handle with the first window, whose mark is first_mark; another handle is in `other`. */
static firn_store *open_pair(void **state, void (*failpoint)(void *, const char *), bool hasty) {
    firn_request request = ask("snow", "1");
    firn_mark held;
    int64_t first;
    store_of(state);
    here = *state;
    firn_store *near = open_hooked(here->url, failpoint, false);
    other = open_hooked(here->url, NULL, hasty);
    request.count = WINDOW;
    assert_int_equal(firn_store_reserve(near, &request, &first, &held, NULL), FIRN_OK);
    first_mark = (firn_mark){WINDOW, request.grant};
    return near;
}

static void a_mark_is_compared_with_its_grant(void **state) {
    firn_store *near = open_pair(state, on_point, true);
    act_at = "give_back.before";
    act = other_takes_over;
    const int code = firn_store_give_back(near, "snow", "1", &first_mark, WINDOW / 2, NULL);
    assert_null(act);
    if (other_code != FIRN_EUNKNOWN) {
        assert_int_equal(code, lowered == FIRN_OK ? FIRN_EBUSY : FIRN_OK);
        assert_int_equal(taken(other, "snow"), other_code == FIRN_OK ? WINDOW : WINDOW / 2);
    }
    firn_store_close(near);
    firn_store_close(other);
}

/* Only the grant shows that the last slots of a handle are another's. */
static void a_mark_that_was_granted_again_is_noticed(void **state) {
    firn_store *near = open_pair(state, NULL, false);
    int64_t first;
    other_takes_over();
    assert_int_equal(other_code, FIRN_OK);
    assert_int_equal(other_first, WINDOW / 2);
    assert_int_equal(take(near, "snow", &first, NULL), FIRN_EBACK);
    firn_store_close(near);
    firn_store_close(other);
}

/* ---- failpoints ------------------------------------------------------------------------------ */

static char passed[400];

static void note_point(void *self, const char *name) {
    (void)self;
    for (const char *dot = strchr(name, '.'); dot != NULL; dot = NULL) {
        if (strcmp(dot, ".before") == 0 || strcmp(dot, ".sent") == 0 ||
            strcmp(dot, ".committed") == 0) {
            strncat(passed, name, sizeof passed - strlen(passed) - 2);
            strcat(passed, " ");
        }
    }
}

/* A verb that was carried out passed its first point first and its last one last. */
static void passes(const char *verb) {
    char before[40], committed[40];
    snprintf(before, sizeof before, "%s.before ", verb);
    snprintf(committed, sizeof committed, "%s.committed ", verb);
    const size_t length = strlen(passed), end = strlen(committed);
    const char *start = strstr(passed, before);
    if (start == NULL || length < end || strcmp(passed + length - end, committed) != 0 ||
        strstr(passed, committed) < start) {
        fail_msg("%s passes: %s", verb, passed);
    }
    passed[0] = '\0';
}

static void writes_pass_the_failpoints(void **state) {
    store_of(state);
    here = *state;
    firn_store *store = open_hooked(here->url, note_point, false);
    firn_request request = ask("snow", "1");
    firn_mark held;
    int64_t first;
    for (int i = 0; i < 2; i++) {
        passed[0] = '\0';
        assert_int_equal(firn_store_reserve(store, &request, &first, &held, NULL), FIRN_OK);
        passes("reserve");
        const firn_mark mine = {first + COUNT, request.grant};
        assert_int_equal(firn_store_give_back(store, "snow", "1", &mine, first + 1, NULL), FIRN_OK);
        passes("give_back");
        assert_int_equal(relabel(store, "snow", ROW, ROW, 50), FIRN_OK);
        passes("relabel");
    }
    firn_store_close(store);
}

/* ---- forks, kills and stops ------------------------------------------------------------------ */

static pid_t forked; /* 0: this is the child */

static void child_was_refused(void) {
    int status = -1;
    assert_int_equal(waitpid(forked, &status, 0), forked);
    if (status != 0) {
        fail_msg("at %s: the child of a fork did not get FIRN_EFORKED", act_at);
    }
}

/* The child ends before its parent continues, and another client comes between: the child must not
 * have released a lock. */
static void fork_here(void) {
    fflush(NULL);
    forked = fork();
    if (forked == 0) {
        alarm(WATCH_S);
        return;
    }
    child_was_refused();
    other_reserves();
}

static int released[2]; /* a pipe that ends when the child may continue */

/* The parent ends the verb before its child continues. */
static void fork_and_wait(void) {
    char none;
    fflush(NULL);
    assert_int_equal(pipe(released), 0);
    forked = fork();
    if (forked == 0) {
        alarm(4 * WATCH_S); /* others wait for twice as long */
        close(released[1]);
        (void)!read(released[0], &none, 1);
    }
    close(released[0]);
}

/* Reserves, and gives half of it back, unless what happens at a point of the reservation happened.
 * *first: of the window. */
static int live(firn_store *store, firn_request request, int64_t *first) {
    firn_mark held;
    int code = firn_store_reserve(store, &request, first, &held, NULL);
    if (code == FIRN_OK && act != NULL) {
        const firn_mark mine = {*first + COUNT, request.grant};
        code =
            firn_store_give_back(store, request.ns, request.key, &mine, *first + COUNT / 2, NULL);
    }
    return code;
}

/* Forks at the point. Returns the parent's code; *first: of the window that it was granted. */
static int live_and_fork(firn_store *store, const char *point, void (*how)(void), int64_t *first) {
    act_at = point;
    act = how;
    forked = 1;
    const int code = live(store, ask("snow", "1"), first);
    if (forked == 0) {
        _exit(code == FIRN_EFORKED ? 0 : 1);
    }
    act = NULL;
    return code;
}

static void a_fork_in_a_write_is_refused(void **state) {
    store_of(state);
    here = *state;
    firn_store *store = open_hooked(here->url, on_point, false);
    other = open_hooked(here->url, NULL, true);
    for (size_t i = 0; i < POINTS; i++) {
        int64_t first;
        const int code = live_and_fork(store, points[i], fork_here, &first);
        const int64_t used = i >= 3 && code == FIRN_OK ? COUNT / 2 : COUNT;
        assert_true(code == FIRN_OK || code == FIRN_EBUSY); /* the other one has the mark */
        if (other_code == FIRN_OK && first < other_first + COUNT && other_first < first + used) {
            fail_msg("after a fork at %s: slot %" PRId64 " was granted twice", points[i], first);
        }
    }
    firn_store_close(store);
    firn_store_close(other);
}

/* A child that was forked in a write has copies of descriptors, locks and transactions, for as long
 * as it lives. */
static void a_child_that_continues_late_writes_nothing(void **state) {
    store_of(state);
    here = *state;
    firn_store *store = open_hooked(here->url, on_point, false);
    other = open_hooked(here->url, NULL, true);
    for (size_t i = 0; i < POINTS; i++) {
        firn_error error = {0};
        int64_t first;
        assert_int_equal(live_and_fork(store, points[i], fork_and_wait, &first), FIRN_OK);
        if (forked == 1) {
            continue; /* the driver has no such step */
        }
        for (int tries = 0; tries < 10 && (tries == 0 || other_code != FIRN_OK); tries++) {
            other_code = take(other, "snow", &other_first, &error);
        }
        close(released[1]);
        if (other_code != FIRN_OK) {
            fail_msg("after a fork at %s, while the child lives: %s", points[i], error.text);
        }
        child_was_refused();
        if (taken(store, "snow") < other_first + COUNT) {
            fail_msg("the child of a fork at %s undid what others had written", points[i]);
        }
    }
    firn_store_close(store);
    firn_store_close(other);
}

static void die_here(void) {
    kill(getpid(), SIGKILL);
}

/* The windows of a dead client: taken or not, given back or not, none of its slots that it may have
 * issued goes to anybody else. It issued the first half where it came to give back. */
static void a_client_is_killed_at_each_step(void **state) {
    firn_store *store = store_of(state);
    here = *state;
    for (size_t i = 0; i < POINTS; i++) {
        const int64_t before = taken(store, "snow");
        int status = 0;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            int64_t first;
            act_at = points[i];
            act = die_here;
            live(open_hooked(here->url, on_point, false), ask("snow", "1"), &first);
            _exit(act != NULL && strstr(points[i], ".sent") != NULL ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSIGNALED(status) && status != 0) {
            fail_msg("a write passes no %s", points[i]);
        }
        const int64_t after = taken(store, "snow");
        if (after < before + COUNT + (i >= 3 ? COUNT / 2 : 0)) {
            fail_msg("killed at %s: slot %" PRId64 " is granted twice", points[i], after);
        }
    }
}

/* A child's report. */
typedef struct report {
    _Atomic int64_t first;
    _Atomic bool stopped;
} report;

static report *shared_report;

static void stop_here(void) {
    atomic_store(&shared_report->stopped, true);
    raise(SIGSTOP);
}

/* Asks in a child, which is ended if it hangs. *first: -1 if it was refused. */
static bool asks_in_time(int64_t *first) {
    int status = 0;
    atomic_store(&shared_report[1].first, -1);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(WATCH_S);
        int64_t own;
        if (take(open_hooked(here->url, NULL, true), "snow", &own, NULL) == FIRN_OK) {
            atomic_store(&shared_report[1].first, own);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    *first = atomic_load(&shared_report[1].first);
    return !WIFSIGNALED(status);
}

/* A process that is stopped in the middle (SIGSTOP, a paused container) may hold a lock, and
 * continues later. */
static void a_client_is_stopped_at_each_step(void **state) {
    firn_store *store = store_of(state);
    here = *state;
    shared_report = mmap(NULL, 2 * sizeof *shared_report, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared_report, MAP_FAILED);
    for (size_t i = 0; i < POINTS; i++) {
        int status = 0;
        int64_t other_one;
        taken(store, "snow");
        atomic_store(&shared_report->first, -1);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            int64_t first = -1;
            act_at = points[i];
            act = stop_here;
            const int code =
                live(open_hooked(here->url, on_point, false), ask("snow", "1"), &first);
            atomic_store(&shared_report->first, first);
            _exit(code == FIRN_OK || code == FIRN_EBUSY || code == FIRN_EUNKNOWN ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, WUNTRACED), child);
        const bool in_time = !WIFSTOPPED(status) || asks_in_time(&other_one);
        if (WIFSTOPPED(status)) {
            kill(child, SIGCONT);
            assert_int_equal(waitpid(child, &status, 0), child);
        }
        if (!in_time) {
            fail_msg("while a process is stopped at %s, another one waits for ever", points[i]);
        }
        assert_int_equal(status, 0);
        const int64_t first = atomic_load(&shared_report->first), used = i < 3 ? COUNT : COUNT / 2;
        other_one = atomic_load(&shared_report[1].first);
        if (other_one >= 0 && first >= 0 && other_one < first + used && first < other_one + COUNT) {
            fail_msg("stopped at %s: %" PRId64 " was granted twice", points[i], other_one);
        }
    }
    munmap(shared_report, 2 * sizeof *shared_report);
}

/* ---- torture --------------------------------------------------------------------------------- */

typedef struct span {
    int64_t first, count;
} span;

typedef struct torture {
    _Atomic size_t count[2]; /* by key */
    span spans[2][SPANS];
} torture;

static void keep(torture *all, int key, int64_t first, int64_t count) {
    const size_t position = atomic_fetch_add(&all->count[key], 1);
    if (position < SPANS) {
        all->spans[key][position] = (span){first, count};
    }
}

/* Reserves and gives back until it is killed. */
static void suffer(torture *all, unsigned seed) {
    firn_store *store = open_hooked(here->url, NULL, false);
    for (;;) {
        const int key = rand_r(&seed) % 2, half = rand_r(&seed) % 3 == 0;
        firn_request request = ask("snow", key == 0 ? "1" : "2");
        firn_mark held;
        int64_t first;
        request.grant = ((uint64_t)getpid() << 32) + grants;
        const int code = firn_store_reserve(store, &request, &first, &held, NULL);
        if (code == FIRN_OK) {
            const firn_mark mine = {first + COUNT, request.grant};
            keep(all, key, first, half ? COUNT / 2 : COUNT);
            if (half) {
                firn_store_give_back(store, "snow", request.key, &mine, first + COUNT / 2, NULL);
            }
        } else if (code != FIRN_ESTORE && code != FIRN_EUNKNOWN) {
            _exit(-code);
        }
    }
}

static int by_first(const void *a, const void *b) {
    const int64_t x = ((const span *)a)->first, y = ((const span *)b)->first;
    return x < y ? -1 : x > y;
}

static void nothing_twice(torture *all) {
    for (int key = 0; key < 2; key++) {
        const size_t made = atomic_load(&all->count[key]), count = made < SPANS ? made : SPANS;
        int64_t end = 0;
        qsort(all->spans[key], count, sizeof(span), by_first);
        for (size_t i = 0; i < count; i++) {
            const span *self = &all->spans[key][i];
            if (self->count > 0 && self->first < end) { /* 0: killed before it was written down */
                fail_msg("slot %" PRId64 " was granted twice", self->first);
            }
            end = self->count > 0 ? self->first + self->count : end;
        }
    }
}

static pid_t begin_suffering(torture *all, int number) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        suffer(all, (unsigned)number);
    }
    assert_true(child > 0);
    return child;
}

static size_t total(torture *all) {
    return atomic_load(&all->count[0]) + atomic_load(&all->count[1]);
}

static void clients_are_killed_anywhere(void **state) {
    pid_t children[CHILDREN];
    const char *wanted = getenv("STORE_KILLS");
    firn_store *store = store_of(state);
    here = *state;
    const int kills = wanted != NULL ? atoi(wanted) : here->row->rounds / 2 / short_step(5);
    torture *all =
        mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(all, MAP_FAILED);
    taken(store, "snow");
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = begin_suffering(all, i);
    }
    for (int i = 0; i < kills; i++) {
        const size_t seen = total(all);
        const time_t end = time(NULL) + AGAIN_S;
        int status = 0;
        while (total(all) < seen + 3 && time(NULL) < end) {
            nanosleep(&(struct timespec){0, (1 + i % 5) * 200000L}, NULL);
        }
        pid_t *pid = &children[i % CHILDREN];
        kill(*pid, SIGKILL);
        assert_int_equal(waitpid(*pid, &status, 0), *pid);
        if (!WIFSIGNALED(status)) {
            fail_msg("a client was refused with %s", firn_errname(-WEXITSTATUS(status)));
        }
        *pid = begin_suffering(all, CHILDREN + i);
    }
    for (int i = 0; i < CHILDREN; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    print_message("# %d kills, %zu reservations\n", kills, total(all));
    nothing_twice(all);
    taken(store, "snow");
    munmap(all, sizeof *all);
}

/* ---- a connection that breaks ---------------------------------------------------------------- */

#define SOCKETS 1024

static bool had_socket[SOCKETS]; /* before the handle was opened */
static int broken;               /* connections */

static bool is_connection(int fd) {
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0;
}

static void break_connections(void) {
    for (int fd = 0; fd < SOCKETS; fd++) {
        broken += !had_socket[fd] && is_connection(fd) && shutdown(fd, SHUT_RDWR) == 0;
    }
}

static const uint64_t *wanted_grant;

static int has_grant(void *context, const firn_holding *holding) {
    *(bool *)context |= holding->mark.grant == *wanted_grant;
    return 0;
}

/* The server may have the write, but its answer is lost. */
static void a_broken_connection_is_no_refusal(void **state) {
    firn_store *store = store_of(state);
    firn_error error = {0}, ignored;
    here = *state;
    for (int fd = 0; fd < SOCKETS; fd++) {
        had_socket[fd] = is_connection(fd);
    }
    firn_store *near = open_hooked(here->url, on_point, false);
    taken(near, "snow");
    broken = 0;
    for (int i = 0; i < 6; i++) {
        firn_request request = ask("snow", "1");
        int64_t first;
        bool done = false;
        act_at = points[i % 2]; /* before, sent */
        act = break_connections;
        const int code = take_with(near, request, 0, &first, &error);
        act = NULL;
        if (broken == 0) { /* a store without connections, or a driver without this step */
            break;
        }
        nanosleep(&(struct timespec){0, 200 * 1000000}, NULL);
        wanted_grant = &request.grant;
        assert_int_equal(firn_store_list(store, "snow", has_grant, &done, &ignored), FIRN_OK);
        if (done && code != FIRN_OK && code != FIRN_EUNKNOWN) {
            fail_msg("the connection broke at %s: the write answers %s (%s), and was carried out: "
                     "answer FIRN_EUNKNOWN",
                     act_at, firn_errname(code), error.text);
        }
        if (!done && code == FIRN_OK) {
            fail_msg("the connection broke at %s: the write answers OK, and was not carried out: "
                     "answer FIRN_EUNKNOWN",
                     act_at);
        }
    }
    firn_store_close(near);
}

/* ---- a store that is restored in between ----------------------------------------------------- */

static void reserve_and_restore(void) {
    other_code = take(other, "snow", &other_first, NULL);
    assert_true(engine_or_file(here, "restore"));
}

/* Contents are as they were read, but of another copy: others have slots that it does not know. */
static void a_restore_is_seen(void **state) {
    firn_error error = {0};
    int64_t first;
    store_of(state);
    here = *state;
    firn_store *near = open_hooked(here->url, on_point, false);
    other = open_hooked(here->url, NULL, false);
    taken(near, "snow");
    assert_true(engine_or_file(here, "save"));
    act_at = "reserve.before";
    act = reserve_and_restore;
    const int code = take(near, "snow", &first, &error);
    assert_null(act);
    assert_int_equal(other_code, FIRN_OK);
    if (code == FIRN_OK && first < other_first + COUNT) {
        fail_msg("slot %" PRId64 " is granted twice: the store was restored to what this handle "
                 "read last, before its write was sent, and the write succeeds: compare an "
                 "identity that a restore changes",
                 first);
    }
    firn_store_close(near);
    firn_store_close(other);
}

/* A process that was not running before the restore has only the witness of the store. */
static void a_restore_is_noticed_at_start(void **state) {
    firn_error error = {0};
    int64_t first;
    taken(store_of(state), "snow");
    here = *state;
    assert_true(engine_or_file(here, "save"));
    taken(here->store, "snow");
    assert_true(engine_or_file(here, "restore"));
    firn_store *near = open_hooked(here->url, NULL, false);
    const int code = take(near, "snow", &first, &error);
    if (code != FIRN_EBACK && firn_store_caution(near) == NULL) {
        fail_msg("the store lost reservations, and answers %s: it needs a witness, or a caution",
                 firn_errname(code));
    }
    firn_store_close(near);
}

/* ---- the table of checks --------------------------------------------------------------------- */

static bool is_local(const struct row *row) {
    return row->apart == NULL;
}

static bool is_restored(const struct row *row) {
    return row->tells_back && row->module != NULL;
}

static const struct check checks[] = {
    {"a write sees what came between it and its read", others_are_seen, NULL},
    {"a mark is compared with its grant", a_mark_is_compared_with_its_grant, NULL},
    {"a mark that was granted again is a loss", a_mark_that_was_granted_again_is_noticed, NULL},
    {"writes pass the failpoints in order", writes_pass_the_failpoints, NULL},
    {"the child of a fork in a write is refused", a_fork_in_a_write_is_refused, NULL},
    {"the child of a fork in a write that continues late changes nothing",
     a_child_that_continues_late_writes_nothing, NULL},
    {"a client killed at a step of a write costs no slot", a_client_is_killed_at_each_step, NULL},
    {"nobody waits for ever for a client that is stopped", a_client_is_stopped_at_each_step,
     is_local},
    {"clients are killed anywhere, and nothing is granted twice", clients_are_killed_anywhere,
     NULL},
    {"a connection that breaks in a write is not a refusal", a_broken_connection_is_no_refusal,
     NULL},
    {"a store restored between read and write is noticed", a_restore_is_seen, is_restored},
    {"a restored store is noticed by a process that has just started",
     a_restore_is_noticed_at_start, is_restored},
};
#define CHECKS (sizeof checks / sizeof checks[0])

/* With an argument, only the checks whose sentence fits it: 'dir: *'. */
int main(int count, char **arguments) {
    static char names[ENGINES * CHECKS][CHECK_NAME];
    static struct CMUnitTest tests[ENGINES * CHECKS];
    stores_fast = true;
    for (size_t i = 0; i < ENGINES * CHECKS; i++) {
        if (rows[i / CHECKS].shared) {
            add_check(&tests[i], names[i], checks, CHECKS, i);
        }
    }
    if (count > 1) {
        cmocka_set_test_filter(arguments[1]);
    }
    return cmocka_run_group_tests_name("driver", tests, NULL, NULL);
}
