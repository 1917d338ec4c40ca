/* SPDX-License-Identifier: MIT */
/* Between a generator and the one store: loses requests and replies, keeps copies that arrive late
 * or twice, also of acknowledged ones, and fails. The store is libfirn's memory store; the judge
 * learns what it grants. */
#include "sim.h"

#define TRIP_NS (2 * MILLI) /* of one message, at most, mostly */

static int say(firn_error *error, int code, const char *text) {
    if (error != NULL) {
        error->code = code;
        snprintf(error->text, sizeof error->text, "%s", text);
    }
    return code;
}

/* ---- a store that loses
 * reservations------------------------------------------------------------ */

static struct {
    char ns[FIRN_NS_SIZE];
    int64_t slot; /* nothing below is granted */
} floors[64];
static unsigned floor_count;

static int copy_mark(void *context, const firn_holding *holding) {
    firn_request request = {.ns = holding->ns,
                            .layout = holding->layout,
                            .key = holding->key,
                            .count = holding->mark.high > 0 ? holding->mark.high : 1,
                            .grant = holding->mark.grant != 0 ? holding->mark.grant : 1,
                            .note = holding->note};
    firn_mark held;
    int64_t first;
    int code = firn_store_reserve(context, &request, &first, &held, NULL);
    if (code == FIRN_OK && holding->mark.grant == 0) { /* as after a give back */
        firn_mark mine = {request.count, request.grant};
        code = firn_store_give_back(context, holding->ns, holding->key, &mine, holding->mark.high,
                                    NULL);
    }
    return code;
}

void wire_backup(void) {
    if (firn_store_open(&sim.backup, "memory:", NULL, NULL) != FIRN_OK) {
        abort();
    }
    sim.whole = true;
    if (firn_store_list(sim.store, NULL, copy_mark, sim.backup, NULL) != FIRN_OK) {
        failed("the store cannot be copied");
    }
    sim.whole = false;
    note("model|backup");
}

/* Messages under way do not reach the copy. */
void wire_restore(void) {
    firn_store *gone = sim.store;
    sim.store = sim.backup;
    sim.backup = gone;
    sim.back = true;
    floor_count = 0;
    memset(sim.letters, 0, sizeof sim.letters);
    sim.counts.restores++;
    note("model|restore");
}

typedef struct sought {
    const char *key;
    firn_mark mark;
} sought;

static int seek_mark(void *context, const firn_holding *holding) {
    sought *self = context;
    if (strcmp(holding->key, self->key) == 0) {
        self->mark = holding->mark;
    }
    return 0;
}

/* Does as the engines' modules do once the store is known to have lost reservations
 * (docs/reference/stores.md): the first request of a namespace that names a guard sets its floor,
 * and until then nothing is granted. */
static int guard_against(const firn_request *request, firn_request *guarded, firn_mark *held) {
    unsigned i = 0;
    *guarded = *request;
    if (!sim.back) {
        return FIRN_OK;
    }
    while (i < floor_count && strcmp(floors[i].ns, request->ns) != 0) {
        i++;
    }
    if (i == floor_count && (request->guard == 0 || i == 64)) {
        return FIRN_EBACK;
    }
    if (i == floor_count) {
        snprintf(floors[floor_count].ns, sizeof floors[0].ns, "%s", request->ns);
        floors[floor_count++].slot = request->guard;
        note("the floor of %s is %lld", request->ns, (long long)request->guard);
    }
    if (floors[i].slot > request->latest) {
        sought mark = {request->key, {0, 0}};
        sim.whole = true;
        (void)firn_store_list(sim.store, request->ns, seek_mark, &mark, NULL);
        sim.whole = false;
        *held = mark.mark.high < floors[i].slot ? (firn_mark){floors[i].slot, 0} : mark.mark;
        return FIRN_EBUSY;
    }
    guarded->earliest = floors[i].slot > request->earliest ? floors[i].slot : request->earliest;
    return FIRN_OK;
}

/* ---- carrying out ---------------------------------------------------------------------------- */

/* The steps that test/model_steps.py compares with model/reserve.pml. */
static void note_reserve(const char *step, const sim_maker *sender, const firn_request *request,
                         int code, int64_t slot) {
    note("model|%s|%s|%s|g%d|%lld|%lld|%lld|%lld|%llx|%lld|%llx|%s|%lld", step, request->ns,
         request->key, (int)(group_of(sender) - sim.makers), (long long)request->count,
         (long long)request->earliest, (long long)request->latest, (long long)request->own.high,
         (unsigned long long)request->own.grant, (long long)request->guard,
         (unsigned long long)request->grant, firn_errname(code), (long long)slot);
}

static void note_back(const char *step, const char *ns, const char *key, const firn_mark *mine,
                      int64_t high, int code) {
    note("model|%s|%s|%s|%lld|%llx|%lld|%s", step, ns, key, (long long)mine->high,
         (unsigned long long)mine->grant, (long long)high, firn_errname(code));
}

static int carry_out(sim_maker *sender, const firn_request *wanted, int64_t *first,
                     firn_mark *held) {
    firn_request guarded, *request = &guarded;
    int refused = guard_against(wanted, &guarded, held);
    if (refused != FIRN_OK) {
        note("store: g%d %.20s/%s: %s, it lost reservations", (int)(sender - sim.makers),
             wanted->ns, wanted->key, firn_errname(refused));
        return refused;
    }
    sim.whole = true;
    int code = firn_store_reserve(sim.store, request, first, held, NULL);
    sim.whole = false;
    if (code == FIRN_OK) {
        sim.counts.grants++;
        judge_granted(sender, request, *first);
    }
    sim.counts.busy += code == FIRN_EBUSY;
    note("store: g%d %.20s/%s count %lld from %lld to %lld grant %llx: %s %lld",
         (int)(sender - sim.makers), request->ns, request->key, (long long)request->count,
         (long long)request->earliest, (long long)request->latest,
         (unsigned long long)request->grant, firn_errname(code),
         (long long)(code == FIRN_OK ? *first : held->high));
    return code;
}

int wire_carry_out(sim_maker *sender, const firn_request *request, int64_t *first,
                   firn_mark *held) {
    const int code = carry_out(sender, request, first, held);
    note_reserve("reserve", sender, request, code,
                 code == FIRN_OK      ? *first
                 : code == FIRN_EBUSY ? held->high
                                      : 0);
    return code;
}

int wire_carry_back(const char *ns, const char *key, const firn_mark *mine, int64_t high) {
    sim.whole = true;
    int code = firn_store_give_back(sim.store, ns, key, mine, high, NULL);
    sim.whole = false;
    if (code == FIRN_OK) {
        sim.counts.given_back++;
        judge_given(ns, key, high, mine->high);
    }
    note_back("back", ns, key, mine, high, code);
    note("store: %.20s/%s back from %lld to %lld grant %llx: %s", ns, key, (long long)mine->high,
         (long long)high, (unsigned long long)mine->grant, firn_errname(code));
    return code;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static sim_letter *free_letter(void) {
    sim_letter *letter = &sim.letters[draw(LETTERS)]; /* one that is overwritten is lost */
    memset(letter, 0, sizeof *letter);
    letter->used = true;
    return letter;
}

static void keep_request(sim_maker *sender, const firn_request *request) {
    sim_letter *letter = free_letter();
    letter->sender = sender;
    snprintf(letter->ns, sizeof letter->ns, "%s", request->ns);
    snprintf(letter->layout, sizeof letter->layout, "%s", request->layout);
    snprintf(letter->key, sizeof letter->key, "%s", request->key);
    letter->request = *request;
    letter->request.ns = letter->ns;
    letter->request.layout = letter->layout;
    letter->request.key = letter->key;
    letter->request.note = "late";
}

static void keep_give_back(sim_maker *sender, const char *ns, const char *key,
                           const firn_mark *mine, int64_t high) {
    sim_letter *letter = free_letter();
    letter->give_back = true;
    letter->sender = sender;
    snprintf(letter->ns, sizeof letter->ns, "%s", ns);
    snprintf(letter->key, sizeof letter->key, "%s", key);
    letter->mine = *mine;
    letter->high = high;
}

void wire_deliver(void) {
    uint64_t from = draw(LETTERS);
    sim_letter *letter = NULL;
    for (unsigned i = 0; i < LETTERS && (letter == NULL || !letter->used); i++) {
        letter = &sim.letters[(from + i) % LETTERS];
    }
    if (!letter->used) {
        return;
    }
    sim.counts.late++;
    note("late:");
    if (letter->give_back) {
        wire_carry_back(letter->ns, letter->key, &letter->mine, letter->high);
    } else {
        int64_t first;
        firn_mark held;
        sim.counts.late_granted +=
            wire_carry_out(letter->sender, &letter->request, &first, &held) == FIRN_OK;
    }
    letter->used = chance(850); /* and once more, perhaps */
}

/* ---- the verbs ------------------------------------------------------------------------------- */

static void travel(void) {
    fiber_point();
    if (chance(100)) {
        fiber_sleep(draw_span(chance(50) ? 50 * TRIP_NS : TRIP_NS));
    }
}

static int wire_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                        firn_error *error) {
    int64_t granted;
    firn_mark mark;
    if (sim.child) {
        int told = child_reserve(self, request, first, held);
        return told == FIRN_OK ? told : say(error, told, "no");
    }
    travel();
    if (sim.now < sim.outage_until) {
        sim.counts.outages++;
        return say(error, FIRN_ESTORE, "the store is out");
    }
    note_reserve("send", self, request, FIRN_OK, 0);
    if (chance(sim.lost)) {
        sim.counts.lost_requests++;
        note("lost: the request %llx", (unsigned long long)request->grant);
        if (chance(500)) {
            keep_request(self, request);
        }
        return say(error, FIRN_EUNKNOWN, "nobody answered");
    }
    int code = wire_carry_out(self, request, &granted, &mark);
    /* In a storm only renewals: a claim that comes again moves the mark on, and the rest is
     * moot. */
    if (chance(sim.repeats) && !(sim.storm && request->earliest != request->latest)) {
        keep_request(self, request);
    }
    travel();
    if (chance(sim.lost)) {
        sim.counts.lost_replies++;
        note("lost: the reply to %llx", (unsigned long long)request->grant);
        return say(error, FIRN_EUNKNOWN, "nobody answered");
    }
    note_reserve("reply", self, request, code, code == FIRN_OK ? granted : 0);
    *first = code == FIRN_OK ? granted : *first;
    *held = code == FIRN_EBUSY ? mark : *held;
    return code == FIRN_OK ? code : say(error, code, "no");
}

static int wire_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                          int64_t high, firn_error *error) {
    if (sim.child) {
        int told = child_give_back(self, ns, key, mine, high);
        return told == FIRN_OK ? told : say(error, told, "no");
    }
    judge_giving(self, ns, key, high, mine->high);
    note_back("return", ns, key, mine, high, FIRN_OK);
    travel();
    if (sim.now < sim.outage_until) {
        return say(error, FIRN_ESTORE, "the store is out");
    }
    bool arrives = !chance(sim.lost);
    int code = arrives ? wire_carry_back(ns, key, mine, high) : FIRN_EUNKNOWN;
    if (chance(sim.repeats)) {
        keep_give_back(self, ns, key, mine, high);
    }
    travel();
    code = chance(sim.lost) ? FIRN_EUNKNOWN : code;
    return code == FIRN_OK ? code : say(error, code, "no");
}

static int wire_list(void *self, const char *ns, firn_visit *visit, void *context,
                     firn_error *error) {
    if (sim.child) {
        return child_list(self, ns, visit, context);
    }
    travel();
    if (sim.now < sim.outage_until || chance(sim.lost)) {
        return say(error, FIRN_ESTORE, "the store is out");
    }
    sim.whole = true;
    int code = firn_store_list(sim.store, ns, visit, context, error);
    sim.whole = false;
    return code;
}

/* The engine's clock is right. Only where the store may be restored: elsewhere generators have no
 * clock to compare theirs with. */
static int wire_now(void *self, firn_time *now, firn_error *error) {
    (void)self;
    if (sim.restores == 0 || sim.child) {
        return say(error, FIRN_ESYSTEM, "no clock");
    }
    travel();
    if (sim.now < sim.outage_until || chance(sim.lost)) {
        return say(error, FIRN_ESTORE, "the store is out");
    }
    *now = (firn_time){sim.now / SECOND, (int32_t)(sim.now % SECOND)};
    return FIRN_OK;
}

/* The link is the maker's, who outlives it. */
static void wire_close(void *self) {
    (void)self;
}

const firn_store_ops wire_ops = {.version = FIRN_STORE_OPS_VERSION,
                                 .scheme = "wire",
                                 .reserve = wire_reserve,
                                 .give_back = wire_give_back,
                                 .list = wire_list,
                                 .now = wire_now,
                                 .close = wire_close};
