/* SPDX-License-Identifier: MIT */
/* The engine of stores: see engine.h.
 *
 *     begin -> (state that the last verb left, or read) -> law -> write -> confirm -> end
 *                                              ^----- read <-----'  changed, foreign
 *
 * A remembered state may grant, and never refuses: any other verdict needs a fresh read. */
#include "engine.h"

#include "clock.h"
#include "error.h"
#include "fork_memory.h"
#include "law.h"
#include "reserve.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBERED  16 /* keys: as many as a generator can have nodes */
#define ROUNDS_MOST 1000

/* The records of a key as this handle last read or wrote them, with copies of their texts. */
typedef struct engine_state {
    firn_records records; /* ns NULL: none */
    bool usable;          /* nobody is known to have changed them */
    firn_mark mine;       /* of this handle's last reservation; {0, 0}: none, or given back */
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE], layout[FIRN_LAYOUT_SIZE], note[FIRN_NOTE_SIZE];
} engine_state;

/* A verb in progress. */
typedef struct turn {
    firn_verb verb;
    firn_records seen, next;
    int which;          /* the records to write */
    bool back;          /* the store lost reservations: the store's record will have it */
    bool again;         /* the layout is the same already, and may not be durable */
    firn_error refusal; /* of the law */

    const firn_request *request; /* FIRN_VERB_RESERVE */
    firn_raise raise;
    firn_mark held;
    const firn_mark *mine; /* FIRN_VERB_GIVE_BACK: is lowered to `high` */
    int64_t high;
    const firn_relabel *change; /* FIRN_VERB_RELABEL */
    int64_t floor;
} turn;

/* The memory of a handle that a fork wipes. */
typedef struct life {
    uint64_t used; /* 1: the handle was used in this process */
    _Atomic bool
        alone; /* no copy of the process is known, which could give back its reservations */
} life;

typedef struct engine {
    const firn_driver *driver;
    void *self; /* of the driver */
    firn__memory memory;
    life *mine;
    bool known;      /* the next two are set */
    uint64_t origin; /* of the store at this handle's last reservation */
    int64_t losses;
    uint64_t sent;   /* the grant of the last write of unknown outcome */
    uint64_t wasted; /* the grant of a write that another store carried out; it is never adopted */
    size_t oldest;   /* of the states */
    engine_state states[REMEMBERED];
    turn turn; /* of the verb in progress: large, and not to be cleared for each */
} engine;

/* ---- what a handle remembers ----------------------------------------------------------------- */

static engine_state *state_of(engine *e, const firn_records *names) {
    for (size_t i = 0; i < REMEMBERED && !e->driver->locks; i++) {
        engine_state *state = &e->states[i];
        if (state->records.ns != NULL && strcmp(state->ns, names->ns) == 0 &&
            strcmp(state->key, names->key) == 0) {
            return state;
        }
    }
    return NULL;
}

/* The text may be the state's own. A caller's note may be too long. */
static const char *keep_text(char *to, size_t size, const char *from) {
    if (to != from) {
        snprintf(to, size, "%s", from);
    }
    return to;
}

static void keep_state(engine *e, const firn_records *records) {
    engine_state *state = state_of(e, records);
    if (state == NULL) {
        state = &e->states[e->oldest++ % REMEMBERED];
        state->mine = (firn_mark){0, 0};
    }
    state->records = *records;
    state->usable =
        records->ns_known && records->ns_losses == records->losses; /* else a guard may apply */
    state->records.fresh = false;
    state->records.shut = NULL; /* counts for a namespace without a record only */
    state->records.ns = keep_text(state->ns, sizeof state->ns, records->ns);
    state->records.key = keep_text(state->key, sizeof state->key, records->key);
    state->records.layout = keep_text(state->layout, sizeof state->layout, records->layout);
    state->records.note = keep_text(state->note, sizeof state->note, records->note);
}

/* The key has no smaller mark than this handle's, and that one only with its grant. */
static void bound_raise(engine *e, const firn_records *names, firn_raise *raise) {
    const engine_state *state = state_of(e, names);
    if (state != NULL && state->mine.high > raise->min) {
        raise->min = state->mine.high;
        raise->grant = state->mine.grant;
    }
}

static void set_mine(engine *e, const firn_records *names, firn_mark mark) {
    engine_state *state = state_of(e, names);
    if (state != NULL) {
        state->mine = mark;
    }
}

/* Forgets the reservations that this handle knew: the store's record has them now, or they were
 * counted from an older record. */
static void forget(engine *e) {
    e->known = false;
    e->memory = (firn__memory){0};
    for (size_t i = 0; i < REMEMBERED; i++) {
        e->states[i].records.ns = NULL;
    }
    if (e->driver->forget != NULL) {
        e->driver->forget(e->self);
    }
}

/* Forgets what came before the loss that these records count, and remembers that loss: an older copy
 * of the store does not have it. */
static void forget_before(engine *e, const firn_records *records) {
    forget(e);
    e->known = true;
    e->origin = records->origin;
    e->losses = records->losses;
}

/* In any thread: this process may run twice. */
static void renew_life(void *mine) {
    atomic_store_explicit(&((life *)mine)->alone, false, memory_order_relaxed);
}

/* In a copy of the process: the other process may give back earlier reservations. */
static void look_alone(engine *e) {
    if (atomic_exchange_explicit(&e->mine->alone, true, memory_order_relaxed)) {
        return;
    }
    firn__forget_last(&e->memory);
    for (size_t i = 0; i < REMEMBERED; i++) {
        e->states[i].mine = (firn_mark){0, 0};
    }
    if (e->driver->copied != NULL) {
        e->driver->copied(e->self);
    }
}

/* In a child, another thread may have been in a verb at the fork. */
static void look_who(engine *e) {
    if (e->mine->used == 0) {
        if (e->driver->forked != NULL) {
            e->driver->forked(e->self);
        }
        forget(e);
        e->mine->used = 1;
    }
    look_alone(e);
}

/* Do the records show that the store lost reservations? Reservations made by this handle before
 * another one noticed do not count. */
static bool went_back(engine *e, const firn_records *seen) {
    if (e->driver->lost == NULL) {
        return false;
    }
    if (e->known && seen->known && seen->origin == e->origin && seen->losses > e->losses) {
        forget_before(e, seen);
    }
    const engine_state *was = state_of(e, seen);
    return e->driver->lost(e->self, seen) || (!seen->known && seen->ns_known) ||
           (e->known && (!seen->known || seen->origin != e->origin || seen->losses < e->losses)) ||
           (was != NULL &&
            (seen->stamp < was->records.stamp || seen->key_known < was->records.key_known ||
             firn__mark_is_lost(was->mine, seen->mark)));
}

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* ---- decisions ------------------------------------------------------------------------------- */

static int64_t steady_ms(void) {
    int64_t now_ns = 0;
    (void)firn__clock_system.steady(NULL, &now_ns);
    return now_ns / 1000000;
}

static firn__store_record kept_of(engine *e, const firn_records *seen, bool timed) {
    return (firn__store_record){.back = went_back(e, seen),
                                .known = seen->ns_known,
                                .current = seen->ns_losses == seen->losses,
                                .complete = seen->losses == 0 || seen->all_new,
                                .layout = seen->layout,
                                .shut = seen->shut,
                                .floor = seen->floor,
                                .mark = seen->mark,
                                .now_ms = timed ? steady_ms() : 0};
}

/* Counts the loss that was just noticed. */
static void count_loss(const engine *e, turn *t) {
    t->back = true;
    t->which |= FIRN_RECORD_STORE;
    t->next.losses = most(most(t->seen.losses, t->seen.ns_losses), e->known ? e->losses : 0) + 1;
}

static int decide_reserve(engine *e, turn *t) {
    const firn_request *request = t->request;
    const firn__store_record kept = kept_of(e, &t->seen, request->guard_tick_ns > 0);
    firn__verdict verdict;
    t->held = (firn_mark){FIRN_SLOT_MAX, 2}; /* no claim waits for it, and no grant is even */
    int code = firn__law_reserve(&verdict, &kept, &e->memory, request, e->driver->where(e->self),
                                 &t->held, &t->refusal);
    if (code == FIRN_EBUSY && t->held.grant == e->wasted) {
        t->held.grant = 0; /* the caller must not find its own grant there */
    }
    if (verdict.back) {
        count_loss(e, t);
    }
    if (verdict.renew) {
        t->which |= FIRN_RECORD_NS | (t->seen.known ? 0 : FIRN_RECORD_STORE);
        t->next.ns_known = true;
        t->next.layout = request->layout;
        t->next.floor = verdict.floor;
        t->next.ns_losses = t->next.losses;
    }
    if (code == FIRN_OK) {
        t->which |= FIRN_RECORD_KEY;
        t->next.key_known = true;
        t->next.mark = (firn_mark){verdict.first + request->count, request->grant};
        t->next.note = request->note != NULL ? request->note : "";
        t->raise = verdict.raise;
        if (!verdict.back) {
            bound_raise(e, &t->seen, &t->raise);
        }
    }
    return code;
}

static int decide_give_back(engine *e, turn *t) {
    const firn__store_record kept = kept_of(e, &t->seen, false);
    int code = firn__law_give_back(&kept, t->seen.ns, t->seen.key, t->mine, &t->refusal);
    if (kept.back) {
        count_loss(e, t);
    }
    if (code == FIRN_OK) {
        t->which |= FIRN_RECORD_KEY;
        t->next.mark = (firn_mark){t->high, 0};
    }
    return code;
}

/* Writes the store's record too, which each reservation of an unknown namespace compares. */
static int decide_relabel(engine *e, turn *t) {
    const firn__store_record kept = kept_of(e, &t->seen, false);
    int code =
        firn__law_relabel(&t->floor, &kept, t->change, e->driver->where(e->self), &t->refusal);
    if (kept.back || firn__declares_loss(t->change)) {
        count_loss(e, t); /* only that: then the layout is decided again */
        return code;
    }
    if (code == FIRN_OK) {
        t->which = FIRN_RECORD_STORE | FIRN_RECORD_NS;
        t->again = t->seen.ns_known && strcmp(t->seen.layout, t->change->to) == 0;
        t->next.ns_losses = t->seen.ns_known ? t->seen.ns_losses : t->seen.losses;
        t->next.ns_known = true;
        t->next.layout = t->change->to;
        t->next.floor = t->floor;
    }
    return code;
}

static int decide(engine *e, turn *t) {
    if (e->mine->used != 0) { /* not in a child that a signal handler forked inside the verb */
        look_alone(e);        /* the copy may have been made during the verb */
    }
    t->which = 0;
    t->back = t->again = false;
    t->next = t->seen;
    return t->verb == FIRN_VERB_RESERVE     ? decide_reserve(e, t)
           : t->verb == FIRN_VERB_GIVE_BACK ? decide_give_back(e, t)
                                            : decide_relabel(e, t);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Reads the store's present records. */
static int read_records(engine *e, turn *t, bool surely, firn_error *error) {
    firn_records *seen = &t->seen;
    *seen = (firn_records){.ns = seen->ns,
                           .key = seen->key,
                           .used_before = seen->used_before,
                           .alive = &e->mine->used,
                           .layout = "",
                           .note = ""};
    return e->driver->read(e->self, seen, surely, error);
}

/* The state that the last verb left, or what the store has. */
static int first_look(engine *e, turn *t, firn_error *error) {
    engine_state *state = state_of(e, &t->seen);
    const bool stands = state != NULL && state->usable && t->verb != FIRN_VERB_RELABEL &&
                        (e->driver->usable == NULL || e->driver->usable(e->self, &state->records));
    if (!stands) {
        return read_records(e, t, state != NULL, error);
    }
    const firn_records wanted = t->seen;
    t->seen = state->records;
    t->seen.ns = wanted.ns;
    t->seen.key = wanted.key;
    t->seen.used_before = wanted.used_before;
    state->usable = false; /* until the verb is done */
    return FIRN_OK;
}

/* The store has what `next` says. A namespace without a record is not remembered: it would be a
 * loss each time. */
static void remember_store(engine *e, const firn_records *next) {
    e->known = true;
    e->origin = next->origin;
    e->losses = next->losses;
    if (next->ns_known) {
        firn__remember_ns(&e->memory, next->ns);
    }
}

/* The key's mark is the end of this handle's reservation. */
static void remember_mark(engine *e, const turn *t) {
    if (e->driver->lost != NULL) {
        firn__remember(&e->memory, t->request, t->next.mark.high);
    }
    if (!e->driver->locks) {
        keep_state(e, &t->next);
        set_mine(e, &t->next, t->next.mark);
    }
}

/* After a write that was carried out. */
static void take_over(engine *e, turn *t) {
    if (t->back) {
        forget_before(e, &t->next); /* the store now knows what this handle knew */
    }
    if (t->verb == FIRN_VERB_RESERVE && e->driver->lost != NULL) {
        remember_store(e, &t->next);
    }
    t->next.known = true;
    if (t->verb == FIRN_VERB_RESERVE && (t->which & FIRN_RECORD_KEY) != 0) {
        remember_mark(e, t);
    } else if (!e->driver->locks && t->verb != FIRN_VERB_RELABEL) {
        keep_state(e, &t->next);
    }
}

/* The law's verdict is final. What somebody else wrote, and this verb relies on, must be
 * durable. */
static int finish(engine *e, turn *t, int verdict, firn_error *error) {
    if (verdict == FIRN_EBUSY && t->verb == FIRN_VERB_RESERVE && t->which == 0 && t->seen.known &&
        e->driver->lost != NULL) {
        remember_store(e, &t->seen);
    }
    const bool own = verdict == FIRN_EBUSY && t->verb == FIRN_VERB_RESERVE &&
                     t->held.grant == t->request->grant && t->held.grant != 0;
    int code = (own || t->again) && e->driver->confirm != NULL ? e->driver->confirm(e->self, error)
                                                               : FIRN_OK;
    if (code != FIRN_OK) {
        t->held = (firn_mark){0, 0};
        return code;
    }
    if (own && t->held.grant == e->sent) { /* else a clone's, which may give it back */
        remember_mark(e, t);
    }
    if (verdict != FIRN_OK && error != NULL) {
        *error = t->refusal;
    }
    return verdict;
}

/* After a write that was too late. The wait comes before the read, since others write during it. */
static int read_later(engine *e, turn *t, int round, bool surely, firn_error *error) {
    if (round > 0 && e->driver->wait != NULL) {
        e->driver->wait(round);
    }
    return read_records(e, t, surely, error);
}

static int write_records(engine *e, turn *t, firn_error *error) {
    const bool any_mark = t->verb == FIRN_VERB_RESERVE && t->request->own.high == 0;
    return any_mark && t->which == FIRN_RECORD_KEY && e->driver->add != NULL
               ? e->driver->add(e->self, &t->seen, &t->next, &t->raise, error)
               : e->driver->write(e->self, &t->seen, &t->next, t->which, t->verb, error);
}

/* Decides and writes. *done: the code is the verb's; else what is `seen` was read again. */
static int one_round(engine *e, turn *t, int round, bool *done, firn_error *error) {
    const int verdict = decide(e, t);
    if (!t->seen.fresh && (verdict != FIRN_OK || (t->which & FIRN_RECORD_STORE) != 0)) {
        return read_records(e, t, true, error);
    }
    *done = t->which == 0;
    if (*done) {
        return finish(e, t, verdict, error);
    }
    int code = write_records(e, t, error);
    if (code == FIRN_WRITE_FOREIGN && t->verb == FIRN_VERB_RESERVE) {
        e->wasted = t->request->grant;
    }
    if (code == FIRN_WRITE_CHANGED || code == FIRN_WRITE_FOREIGN) {
        return read_later(e, t, round, code == FIRN_WRITE_FOREIGN, error);
    }
    if (code == FIRN_EUNKNOWN && t->verb == FIRN_VERB_RESERVE) {
        e->sent = t->request->grant;
    }
    if (code != FIRN_OK) {
        return code;
    }
    take_over(e, t);
    if (t->verb == FIRN_VERB_RELABEL && t->back && !firn__declares_loss(t->change)) {
        return read_records(e, t, true, error);
    }
    *done = true;
    return finish(e, t, t->verb == FIRN_VERB_RELABEL && t->back ? FIRN_OK : verdict, error);
}

static int in_rounds(engine *e, turn *t, firn_error *error) {
    bool done = false;
    int code = first_look(e, t, error);
    int64_t end_ms = 0;
    for (int i = 0; code == FIRN_OK && !done; i++) {
        if (i == 2) {
            end_ms = steady_ms() + FIRN__STORE_MS;
        }
        if (i > 2 && (i >= ROUNDS_MOST || steady_ms() >= end_ms)) {
            return firn__refuse_contended(error, e->driver->where(e->self),
                                          t->verb == FIRN_VERB_RELABEL ? t->seen.ns : t->seen.key);
        }
        code = one_round(e, t, i, &done, error);
    }
    return code;
}

static int run(engine *e, const char *ns, const char *key, firn_error *error) {
    turn *t = &e->turn;
    t->seen = (firn_records){.ns = ns, .key = key, .alive = &e->mine->used};
    t->seen.used_before = e->driver->lost != NULL && firn__remembers_ns(&e->memory, ns);
    int code = e->driver->begin(e->self, &t->seen, t->verb, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = in_rounds(e, t, error);
    return e->driver->end != NULL ? e->driver->end(e->self, code) : code;
}

/* ---- verbs ----------------------------------------------------------------------------------- */

/* Another program's, which has the slots of this namespace; or NULL. */
static const char *source_of(const engine *e, const char *ns) {
    return e->driver->source != NULL ? e->driver->source(e->self, ns) : NULL;
}

static int engine_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                          firn_error *error) {
    engine *e = self;
    turn *t = &e->turn;
    look_who(e);
    if (source_of(e, request->ns) != NULL) {
        return e->driver->take(e->self, request, first, held, error);
    }
    t->verb = FIRN_VERB_RESERVE;
    t->request = request;
    int code = run(self, request->ns, request->key, error);
    *first = code == FIRN_OK ? t->next.mark.high - request->count : *first;
    *held = code == FIRN_EBUSY ? t->held : *held;
    return code;
}

static int engine_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                            int64_t high, firn_error *error) {
    engine *e = self;
    look_who(e);
    const char *source = source_of(e, ns);
    if (source != NULL) {
        return firn__fail(error, FIRN_EBUSY, "%.60s keeps no grants: the rest of the block is lost",
                          source);
    }
    e->turn.verb = FIRN_VERB_GIVE_BACK;
    e->turn.mine = mine;
    e->turn.high = high;
    firn__forget_last(&e->memory);
    set_mine(e, &(firn_records){.ns = ns, .key = key}, (firn_mark){0, 0});
    return run(e, ns, key, error);
}

int firn__engine_relabel(void *self, const firn_relabel *change, int64_t *floor,
                         firn_error *error) {
    engine *e = self;
    turn *t = &e->turn;
    look_who(e);
    const char *source = source_of(e, change->ns);
    if (source != NULL) {
        return firn__fail(error, FIRN_EUSAGE,
                          "%.60s is another program's and has no layouts: use a store of firn's",
                          source);
    }
    t->verb = FIRN_VERB_RELABEL;
    t->change = change;
    int code = run(self, change->ns, "1", error);
    *floor = code == FIRN_OK ? t->floor : *floor;
    return code;
}

int firn__engine_known(void *self, firn_records *seen, firn_error *error) {
    engine *e = self;
    look_who(e);
    seen->alive = &e->mine->used;
    seen->layout = seen->note = "";
    if (source_of(e, seen->ns) != NULL) {
        return FIRN_OK;
    }
    int code = e->driver->begin(e->self, seen, FIRN_VERB_RESERVE, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = e->driver->read(e->self, seen, true, error);
    seen->layout = seen->note = "";
    return e->driver->end != NULL ? e->driver->end(e->self, code) : code;
}

void firn__engine_forget(void *self, const char *ns, const char *key) {
    engine *e = self;
    firn__forget_last(&e->memory);
    set_mine(e, &(firn_records){.ns = ns, .key = key}, (firn_mark){0, 0});
}

typedef struct guarded_visit {
    const engine *engine;
    firn_visit *visit;
    void *context;
    firn_error *error;
} guarded_visit;

/* The visitor may fork: its child must not continue the parent's listing. */
static int visit_one(void *context, const firn_holding *holding) {
    const guarded_visit *self = context;
    int code = self->visit(self->context, holding);
    return self->engine->mine->used != 0
               ? code
               : firn_error_set(self->error, FIRN_EFORKED, FIRN_CURE_OPEN_OWN,
                                "this process was forked during a listing");
}

static int engine_list(void *self, const char *ns, firn_visit *visit, void *context,
                       firn_error *error) {
    engine *e = self;
    guarded_visit state = {e, visit, context, error};
    look_who(e);
    return e->driver->list(e->self, ns, visit_one, &state, error);
}

int firn__engine_others(void *self, firn_visit *visit, void *context, firn_error *error) {
    engine *e = self;
    guarded_visit state = {e, visit, context, error};
    look_who(e);
    return e->driver->others != NULL ? e->driver->others(e->self, visit_one, &state, error)
                                     : FIRN_OK;
}

static int engine_now(void *self, firn_time *now, firn_error *error) {
    engine *e = self;
    look_who(e);
    return e->driver->now != NULL
               ? e->driver->now(e->self, now, error)
               : firn__fail(error, FIRN_ESYSTEM, "the store %.20s has no clock", e->driver->scheme);
}

static const char *engine_caution(void *self) {
    const engine *e = self;
    return e->driver->caution != NULL ? e->driver->caution(e->self) : NULL;
}

static void engine_close(void *self) {
    engine *e = self;
    look_who(e);
    e->driver->close(e->self);
    firn__wiped_free(e->mine, sizeof *e->mine);
    free(e);
}

int firn__engine_make(void **self, const firn_driver *driver, void *driven, firn_error *error) {
    engine *e = calloc(1, sizeof *e);
    int code = e != NULL ? FIRN_OK : firn__fail(error, FIRN_EMEMORY, "out of memory for a store");
    if (code == FIRN_OK) {
        e->mine = firn__wiped(sizeof *e->mine, &code, error);
    }
    if (code != FIRN_OK) {
        driver->close(driven);
        free(e);
        return code;
    }
    *e->mine = (life){1, true};
    firn__wiped_renews(e->mine, sizeof *e->mine, FIRN__RENEW_MARKS, renew_life);
    e->driver = driver;
    e->self = driven;
    *self = e;
    return FIRN_OK;
}

const firn_store_ops firn__engine_ops = {.version = FIRN_STORE_OPS_VERSION,
                                         .scheme = "engine",
                                         .reserve = engine_reserve,
                                         .give_back = engine_give_back,
                                         .list = engine_list,
                                         .now = engine_now,
                                         .caution = engine_caution,
                                         .close = engine_close};
