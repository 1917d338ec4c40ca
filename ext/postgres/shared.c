/* SPDX-License-Identifier: MIT */
/* Slots of the server's node, handed out to the backends of all databases from shared memory.
 * Nothing here reserves: what lies below a cell's end, the renewer has in a table for good. A slot
 * is issued by one atomic step on `next`, so ROLLBACK, a killed backend or a crash cannot bring it
 * back: after a restart issuing begins at the mark in the table, which was never below `next`. */
#include "extension.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#if PG_VERSION_NUM >= 140000
#include "utils/wait_event.h"
#endif

#include <inttypes.h>
#include <time.h>

firn_shared *firn_slots;

/* ---- memory ---------------------------------------------------------------------------------- */

static shmem_startup_hook_type startup_before;
#if PG_VERSION_NUM >= 150000
static shmem_request_hook_type request_before;
#endif

static void request(void) {
#if PG_VERSION_NUM >= 150000
    if (request_before != NULL) {
        request_before();
    }
#endif
    RequestAddinShmemSpace(MAXALIGN(sizeof(firn_shared)));
    RequestNamedLWLockTranche("firn", 1);
}

static void startup(void) {
    bool found;
    if (startup_before != NULL) {
        startup_before();
    }
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    firn_slots = ShmemInitStruct("firn", sizeof(firn_shared), &found);
    if (!found) {
        memset(firn_slots, 0, sizeof *firn_slots);
        firn_slots->lock = &GetNamedLWLockTranche("firn")->lock;
        ConditionVariableInit(&firn_slots->answered);
        pg_atomic_init_u64(&firn_slots->requests, 0);
    }
    LWLockRelease(AddinShmemInitLock);
}

void firn_shared_request(void) {
    startup_before = shmem_startup_hook;
    shmem_startup_hook = startup;
#if PG_VERSION_NUM >= 150000
    request_before = shmem_request_hook;
    shmem_request_hook = request;
#else
    request();
#endif
}

/* ---- time and slots -------------------------------------------------------------------------- */

firn_time firn_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (firn_time){now.tv_sec, (int32)now.tv_nsec};
}

uint64 firn_slots_of_ms(const firn_cell *cell, int64 ms) {
    int64 ns = ms * 1000000, tick = cell->scheme.tick_ns;
    return (uint64)((ns + tick - 1) / tick) << cell->sequence_bits;
}

uint64 firn_slot_of(const firn_cell *cell, const firn_time *time) {
    firn_error error;
    uint64 tick;
    FIRN_CHECK(firn_scheme_tick(&cell->scheme, time, &tick, &error));
    if (tick >= cell->slot_end >> cell->sequence_bits) {
        firn_refuse(FIRN_ELAYOUT,
                    "the layout of %s has ended: move to another scheme, epoch= or bits=",
                    cell->scheme.name);
    }
    return tick << cell->sequence_bits;
}

/* ---- the node -------------------------------------------------------------------------------- */

static bool is_part(const firn_scheme *scheme, uint32 i) {
    int role = scheme->slices[i].role;
    return (role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS) &&
           firn_scheme_first(scheme, i) == i;
}

static bool is_given(const firn_recipe *recipe, uint32 i) {
    return (recipe->fields.given >> i & 1) != 0;
}

/* Does a list of names, parted by blanks, hold this one? */
static bool names_hold(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; at != NULL && *at != '\0';) {
        size_t own = strcspn(at, " ");
        if (own == length && memcmp(at, name, own) == 0) {
            return true;
        }
        at += own + strspn(at + own, " ");
    }
    return false;
}

bool firn_is_reserved(const firn_recipe *recipe) {
    const firn_scheme *scheme = &recipe->scheme;
    if (scheme->node_rule == FIRN_NODE_NONE) {
        return false;
    }
    for (uint32 i = 0; scheme->node_rule == FIRN_NODE_OPTIONAL && i < scheme->slice_count; i++) {
        if (is_part(scheme, i) && names_hold(scheme->node_fields, scheme->slices[i].name) &&
            !is_given(recipe, i)) {
            return false;
        }
    }
    return true;
}

/* All of the number's bits for a part that is as wide or wider. */
static uint64 lowest(uint64 number, uint32 bits) {
    return bits < 64 ? number & ~(~UINT64CONST(0) << bits) : number;
}

void firn_node_split(firn_recipe *recipe, uint64 node, const char *source) {
    const firn_scheme *scheme = &recipe->scheme;
    uint64 rest = node;
    for (uint32 i = scheme->slice_count; i-- > 0;) {
        if (is_part(scheme, i)) {
            uint32 width = firn_scheme_width(scheme, i);
            if (is_given(recipe, i)) {
                firn_refuse(FIRN_EUSAGE, "%s and %s are given: give one of them", source,
                            scheme->slices[i].name);
            }
            recipe->fields.value[i] = (firn_value){lowest(rest, width), 0};
            recipe->fields.given |= 1u << i;
            rest = width < 64 ? rest >> width : 0;
        }
    }
    if (rest != 0) {
        firn_refuse(FIRN_ERANGE, "%s %" PRIu64 " does not fit the node of %s: take a smaller one",
                    source, node, scheme->name);
    }
}

/* The parts joined, most significant first. */
static uint64 join(const firn_recipe *recipe) {
    const firn_scheme *scheme = &recipe->scheme;
    uint64 node = 0;
    uint32 bits = 0;
    for (uint32 i = 0; i < scheme->slice_count; i++) {
        if (is_part(scheme, i)) {
            uint32 width = firn_scheme_width(scheme, i);
            bits += width;
            if (bits > 63) {
                firn_refuse(FIRN_EUSAGE, "the node of the row has more than 63 bits: take fewer");
            }
            node = node << width | recipe->fields.value[i].low;
        }
    }
    return node;
}

/* firn.node as fields: those that the row has not are refused, so that none is dropped unseen. */
static void set_fields(firn_recipe *recipe, const char *text) {
    firn_recipe *said = palloc(sizeof *said);
    firn_scheme *scheme = &recipe->scheme;
    char layout[FIRN_LAYOUT_SIZE];
    firn_recipe_read(said, scheme->packer >= 0 ? scheme->name : firn_scheme_layout(layout, scheme),
                     text, FIRN_OF_FIELDS);
    for (uint32 i = 0; i < scheme->slice_count; i++) {
        if (is_part(scheme, i) && is_given(said, i) && !is_given(recipe, i)) {
            recipe->fields.value[i] = said->fields.value[i];
            recipe->fields.given |= 1u << i;
        }
    }
    pfree(said);
}

static const char *missing_part(const firn_recipe *recipe) {
    for (uint32 i = 0; i < recipe->scheme.slice_count; i++) {
        if (is_part(&recipe->scheme, i) && !is_given(recipe, i)) {
            return recipe->scheme.slices[i].name;
        }
    }
    return NULL;
}

bool firn_node_is_given(const firn_recipe *recipe) {
    return recipe->node_given || missing_part(recipe) == NULL;
}

uint64 firn_node_of(firn_recipe *recipe) {
    const char *missing = missing_part(recipe);
    if (recipe->node_given) {
        firn_node_split(recipe, recipe->node, "node");
        missing = NULL;
    }
    if (missing != NULL && names_hold(recipe->scheme.node_fields, missing)) {
        firn_refuse(FIRN_EUSAGE, "%s is not given: give %s=NUMBER in the options", missing,
                    missing);
    }
    if (missing != NULL && firn_setting_node[0] == '\0') {
        firn_refuse(FIRN_EWINDOW,
                    "firn.node is not set: give this server a node that no other one has, ALTER "
                    "SYSTEM SET firn.node = 'NUMBER' and SELECT pg_reload_conf()");
    }
    if (missing != NULL && strspn(firn_setting_node, "0123456789") == strlen(firn_setting_node)) {
        errno = 0;
        uint64 node = strtoull(firn_setting_node, NULL, 10);
        if (errno != 0) {
            firn_refuse(FIRN_ERANGE, "firn.node is too great: take a smaller one");
        }
        bool fits = true;
        for (uint32 i = 0; i < recipe->scheme.slice_count; i++) {
            fits = fits && !(is_part(&recipe->scheme, i) && is_given(recipe, i));
        }
        if (!fits) {
            firn_refuse(FIRN_EUSAGE,
                        "a part of the node is given and firn.node is a number: give %s too",
                        missing);
        }
        firn_node_split(recipe, node, "firn.node");
    } else if (missing != NULL) {
        set_fields(recipe, firn_setting_node);
        missing = missing_part(recipe);
        if (missing != NULL) {
            firn_refuse(FIRN_EUSAGE,
                        "firn.node does not give %s: name each part of the node, or a number",
                        missing);
        }
    }
    return join(recipe);
}

void firn_check_way(const firn_recipe *recipe, const char *setting) {
    bool store = firn_setting_store[0] != '\0';
    if (store && firn_setting_node[0] != '\0') {
        firn_refuse(FIRN_EUSAGE, "firn.store gives each backend a node of its own and firn.node "
                                 "is set: unset one of them");
    }
    if (!store && firn_slots == NULL) {
        firn_refuse(FIRN_EWINDOW,
                    "%s needs reserved slots: put firn into shared_preload_libraries, restart and "
                    "set %s, or set firn.store",
                    recipe->scheme.name, setting);
    }
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* The first slot that the row refuses: 2^62 bounds what a mark can tell. */
static uint64 slot_end_of(const firn_recipe *recipe, uint32 sequence_bits) {
    const firn_scheme *scheme = &recipe->scheme;
    uint64 most = (uint64)(FIRN_SLOT_MAX - 2) >> sequence_bits, tick;
    firn_time end;
    firn_error error;
    if (firn_scheme_end(scheme, recipe->unsigned_, &end)) {
        end.ns -= 1; /* the last instant that is not refused; its tick is the last one */
        end.sec -= end.ns < 0;
        end.ns += end.ns < 0 ? 1000000000 : 0;
        if (firn_scheme_tick(scheme, &end, &tick, &error) == FIRN_OK && tick + 1 < most) {
            most = tick + 1;
        }
    }
    return most << sequence_bits;
}

/* Only rows whose slots are their IDs can share a node between processes. */
static uint32 check_slots(const firn_recipe *recipe) {
    const firn_scheme *scheme = &recipe->scheme;
    uint32 bits = 0;
    bool time = false, plain = scheme->tick_ns != 0 && !scheme->read_only && !scheme->keyed;
    for (uint32 i = 0; i < scheme->slice_count; i++) {
        int role = scheme->slices[i].role;
        bits += role == FIRN_ROLE_SEQUENCE ? scheme->slices[i].bits : 0;
        time = time || role == FIRN_ROLE_TIME;
        plain = plain && role != FIRN_ROLE_COUNTER && role != FIRN_ROLE_RANDOM &&
                role != FIRN_ROLE_PROCESS && role != FIRN_ROLE_DIGEST;
    }
    if (!plain || !time || bits > 40) {
        firn_refuse(FIRN_EUNSORTED,
                    "%s with a node cannot be shared by backends: leave the node out, or set "
                    "firn.store",
                    scheme->name);
    }
    return bits;
}

static firn_cell *find(const char *ns, uint64 node) {
    for (uint32 i = 0; i < firn_slots->cell_count; i++) {
        firn_cell *cell = &firn_slots->cells[i];
        if (cell->node == node && strcmp(cell->ns, ns) == 0) {
            return cell;
        }
    }
    return NULL;
}

/* The row to which the namespace belongs: uuid6 is in uuid1's. */
static void layout_of(char layout[FIRN_LAYOUT_SIZE], const firn_scheme *scheme) {
    const firn_scheme *owner = scheme->ns != NULL ? firn_scheme_find(scheme->ns) : NULL;
    firn_scheme_layout(layout, owner != NULL ? owner : scheme);
}

static firn_cell *add(const firn_recipe *recipe, uint64 node, uint32 sequence_bits) {
    firn_cell *cell = &firn_slots->cells[firn_slots->cell_count];
    pg_atomic_init_u64(&cell->next, 0);
    pg_atomic_init_u64(&cell->end, 0);
    pg_atomic_init_u64(&cell->soft, 0);
    pg_atomic_init_u64(&cell->guard, 0);
    pg_atomic_init_u32(&cell->asked, 0);
    pg_atomic_init_u32(&cell->answered, 0);
    cell->loaded = false;
    cell->scheme = recipe->scheme;
    cell->sequence_bits = sequence_bits;
    cell->slot_end = slot_end_of(recipe, sequence_bits);
    cell->node = node;
    strlcpy(cell->ns, recipe->name, sizeof cell->ns);
    layout_of(cell->layout, &recipe->scheme);
    firn_slots->cell_count++;
    return cell;
}

static firn_cell *cell_of(const firn_recipe *recipe, uint64 node) {
    uint32 bits = check_slots(recipe);
    /* what everybody may call finds a place whatever others opened by their options */
    bool plain = recipe->scheme.packer >= 0 && recipe->keys[0] == '\0';
    uint32 most = plain ? FIRN_CELLS : FIRN_CELLS - FIRN_CELLS_PLAIN;
    char layout[FIRN_LAYOUT_SIZE];
    layout_of(layout, &recipe->scheme);
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    firn_cell *cell = find(recipe->name, node);
    bool full = cell == NULL && firn_slots->cell_count >= most;
    if (cell == NULL && !full) {
        cell = add(recipe, node, bits);
    }
    LWLockRelease(firn_slots->lock);
    if (full) {
        firn_refuse(FIRN_EEXHAUSTED,
                    "%u pairs of namespace and node are in use: take fewer shards a server, or "
                    "restart it",
                    most);
    }
    if (strcmp(cell->layout, layout) != 0 || cell->sequence_bits != bits) {
        firn_refuse(FIRN_ENAMESPACE,
                    "namespace %.60s belongs to another layout: give another ns=", recipe->name);
    }
    return cell;
}

/* ---- requests to the renewer ------------------------------------------------------------------ */

static void wake_renewer(void) {
    LWLockAcquire(firn_slots->lock, LW_SHARED);
    if (firn_slots->renewer != NULL) {
        SetLatch(firn_slots->renewer);
    }
    LWLockRelease(firn_slots->lock);
}

/* Asks for more without waiting, unless somebody has. */
static void poke(firn_cell *cell) {
    uint32 asked = pg_atomic_read_u32(&cell->asked);
    if (asked == pg_atomic_read_u32(&cell->answered) &&
        pg_atomic_compare_exchange_u32(&cell->asked, &asked, asked + 1)) {
        wake_renewer();
    }
}

/* Patience for one ID; counted from the first wait on, by the steady clock. */
typedef struct patience {
    bool begun;
    int64 start_ms;
} patience;

static int64 steady_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64CONST(1000) + now.tv_nsec / 1000000;
}

static int64 patience_left(patience *it) {
    int64 now = steady_ms();
    if (!it->begun) {
        *it = (patience){true, now};
    }
    return firn_setting_max_wait_ms - (now - it->start_ms);
}

static void refuse_late(void) {
    bool runs;
    LWLockAcquire(firn_slots->lock, LW_SHARED);
    runs = firn_slots->renewer != NULL;
    LWLockRelease(firn_slots->lock);
    if (!runs) {
        firn_refuse(FIRN_ESTORE,
                    "the renewer of the marks does not run: see the server's log, and whether "
                    "database %.60s exists",
                    firn_setting_database);
    }
    firn_refuse(FIRN_EWINDOW,
                "the marks were not written within %d ms: see the server's log, or raise "
                "firn.max_wait_ms",
                firn_setting_max_wait_ms);
}

/* Until somebody is answered. A renewer that was not there to be woken looks by itself when it comes. */
static void sleep_awhile(patience *waited) {
    int64 left = patience_left(waited);
    if (left <= 0) {
        ConditionVariableCancelSleep();
        refuse_late();
    }
    ConditionVariableTimedSleep(&firn_slots->answered, left < 500 ? left : 500, PG_WAIT_EXTENSION);
}

/* Asks and waits for the answer: an error of it, when the window was not raised. */
static void ask(firn_cell *cell, patience *waited) {
    uint32 mine = pg_atomic_read_u32(&cell->asked);
    firn_error why = {0};
    if (mine == pg_atomic_read_u32(&cell->answered)) {
        poke(cell);
        mine = pg_atomic_read_u32(&cell->asked);
    }
    wake_renewer();
    ConditionVariablePrepareToSleep(&firn_slots->answered);
    while ((int32)(pg_atomic_read_u32(&cell->answered) - mine) < 0) {
        sleep_awhile(waited);
    }
    ConditionVariableCancelSleep();
    LWLockAcquire(firn_slots->lock, LW_SHARED);
    if (cell->code != FIRN_OK) {
        why = cell->why;
    }
    LWLockRelease(firn_slots->lock);
    if (why.code != FIRN_OK) {
        firn_fail(&why);
    }
}

void firn_require_primary(void) {
    if (RecoveryInProgress()) {
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("firn: a standby cannot reserve slots"),
                        errhint("Ask the primary. Schemes without a node, such as uuid7, work here "
                                "too.")));
    }
}

/* ---- issue ----------------------------------------------------------------------------------- */

static void check_sign(const firn_issuer *issuer) {
    const firn_scheme *scheme = &issuer->recipe.scheme;
    if (scheme->form == FIRN_FORM_DEC && scheme->bits == 64 && !issuer->recipe.unsigned_ &&
        (int64)issuer->sum.base.low < 0) {
        firn_refuse(FIRN_ERANGE, "IDs of this node are negative as signed numbers: take a smaller "
                                 "node, or unsigned=1");
    }
}

void firn_issuer_open(firn_issuer *issuer, const firn_recipe *recipe) {
    firn_scheme *scheme = &issuer->recipe.scheme;
    firn_fields *fields = &issuer->recipe.fields;
    memset(issuer, 0, sizeof *issuer);
    issuer->recipe = *recipe;
    issuer->sequence = UINT32_MAX;
    check_slots(recipe);
    uint64 node = firn_node_of(&issuer->recipe);
    for (uint32 i = 0; i < scheme->slice_count; i++) {
        int role = scheme->slices[i].role;
        uint32 first = firn_scheme_first(scheme, i);
        bool ours = role == FIRN_ROLE_TIME || role == FIRN_ROLE_SEQUENCE;
        if (ours && recipe->fields.given >> first & 1) {
            firn_refuse(FIRN_EUSAGE,
                        "%s is the generator's to choose: leave it out, or use firn_stamp or "
                        "firn_pack",
                        scheme->slices[i].name);
        }
        issuer->time = role == FIRN_ROLE_TIME ? first : issuer->time;
        issuer->sequence = role == FIRN_ROLE_SEQUENCE ? first : issuer->sequence;
        if (role != FIRN_ROLE_CONST) { /* what was not given is 0: time, sequence, user's fields */
            fields->given |= 1u << first;
        }
    }
    firn_sum_make(&issuer->sum, scheme, fields, issuer->time, issuer->sequence);
    check_sign(issuer);
    firn_require_primary();
    issuer->cell = cell_of(&issuer->recipe, node);
    issuer->lead = firn_slots_of_ms(issuer->cell, FIRN_MAX_LEAD_MS);
    issuer->coarse.tv_nsec = -1;
    issuer->sec = INT64_MIN;
}

/* CLOCK_REALTIME_COARSE lags by at most its resolution (1 to 10 ms); twice that is certain. */
static int32 coarse_ns(void) {
    static int32 known;
    struct timespec unit;
    if (known == 0) {
        bool told = clock_getres(CLOCK_REALTIME_COARSE, &unit) == 0 && unit.tv_sec == 0 &&
                    unit.tv_nsec <= 10000000;
        known = told ? (int32)unit.tv_nsec * 2 : 20000000;
    }
    return known;
}

/* Notes for one reading of the coarse clock which slots are certainly ahead of the exact one, and
 * which are not too far. */
static void note_coarse(firn_issuer *issuer, const struct timespec *coarse) {
    firn_time now = {coarse->tv_sec, (int32)coarse->tv_nsec}, later = now;
    later.ns += coarse_ns();
    later.sec += later.ns >= 1000000000;
    later.ns -= later.ns >= 1000000000 ? 1000000000 : 0;
    issuer->fresh = firn_slot_of(issuer->cell, &later);
    issuer->limit = firn_slot_of(issuer->cell, &now) + issuer->lead;
    issuer->coarse = *coarse;
}

/* While the cursor is ahead of the clock, as in the middle of a long statement, the next slot
 * follows from it alone, and a coarse reading, an eighth of the cost, is exact enough. */
static inline bool take_ahead(firn_issuer *issuer, uint64 *slot) {
    firn_cell *cell = issuer->cell;
    struct timespec coarse;
    clock_gettime(CLOCK_REALTIME_COARSE, &coarse);
    if (coarse.tv_nsec != issuer->coarse.tv_nsec || coarse.tv_sec != issuer->coarse.tv_sec) {
        note_coarse(issuer, &coarse);
    }
    uint64 next = pg_atomic_read_u64(&cell->next);
    *slot = next;
    return next >= issuer->fresh && next < issuer->limit &&
           next < pg_atomic_read_u64(&cell->soft) &&
           pg_atomic_compare_exchange_u64(&cell->next, &next, next + 1);
}

/* Where the row lets a new tick begin: 0, or at random against skewed shards. */
static uint64 start_of(const firn_issuer *issuer) {
    static uint64 state;
    const firn_scheme *scheme = &issuer->recipe.scheme;
    if (scheme->start == FIRN_START_ZERO || scheme->start_below < 2) {
        return 0;
    }
    if (state == 0 && !pg_strong_random(&state, sizeof state)) {
        firn_refuse(FIRN_EENTROPY, "the system gives no randomness: see its log");
    }
    state += UINT64CONST(0x9e3779b97f4a7c15); /* a Weyl sequence: evenness is all it is for */
    uint64 below = scheme->start_below, room = UINT64CONST(1) << issuer->cell->sequence_bits;
    return (state >> 32) % (below < room ? below : room);
}

/* Sleeps until the clock has come near enough to a slot. */
static void wait_lead(const firn_issuer *issuer, uint64 slot, uint64 over, patience *waited) {
    firn_cell *cell = issuer->cell;
    uint64 ticks = (over >> cell->sequence_bits) + 1;
    double ms = (double)ticks * cell->scheme.tick_ns / 1e6;
    int64 left = patience_left(waited);
    if (left <= 0 && slot <= pg_atomic_read_u64(&cell->guard)) {
        firn_refuse(FIRN_EWINDOW,
                    "node %" PRIu64 " of %.60s is guarded for %.0f s more, since its mark is from "
                    "before a promotion or a restore: wait, or set firn.node to a node that no "
                    "server had",
                    cell->node, cell->ns, ms / 1000);
    }
    if (left <= 0) {
        firn_refuse(FIRN_EEXHAUSTED,
                    "IDs of %.60s node %" PRIu64 " are %.0f ms ahead of the clock, more than %d: "
                    "make fewer a second, or look whether the clock was set back",
                    cell->ns, cell->node, ms + FIRN_MAX_LEAD_MS, FIRN_MAX_LEAD_MS);
    }
    ms = ms + 1 < left ? ms + 1 : left;
    (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
                    ms < 1      ? 1
                    : ms > 1000 ? 1000
                                : (long)ms,
                    PG_WAIT_EXTENSION);
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
}

/* firn_slot_of of now; within one second only the rest is counted, where ticks begin with it. */
static uint64 slot_of_now(firn_issuer *issuer) {
    const firn_cell *cell = issuer->cell;
    const firn_scheme *scheme = &issuer->recipe.scheme;
    firn_time now = firn_now();
    uint64 tick;
    if (1000000000 % scheme->tick_ns != 0 || scheme->epoch.ns % scheme->tick_ns != 0) {
        return firn_slot_of(cell, &now);
    }
    if (now.sec != issuer->sec) {
        firn_time second = {now.sec, 0};
        issuer->sec_tick = firn_slot_of(cell, &second) >> cell->sequence_bits;
        issuer->sec = now.sec;
    }
    tick = issuer->sec_tick + (uint32)now.ns / scheme->tick_ns;
    return tick << cell->sequence_bits;
}

static uint64 take_exact(firn_issuer *issuer) {
    firn_cell *cell = issuer->cell;
    patience waited = {false, 0};
    for (;;) { /* ends by patience, or because others went on */
        uint64 now = slot_of_now(issuer);
        uint64 end = pg_atomic_read_u64(&cell->end), soft = pg_atomic_read_u64(&cell->soft);
        pg_read_barrier(); /* `next` is raised before `end`, so it is read after it */
        uint64 next = pg_atomic_read_u64(&cell->next);
        uint64 slot = next > now ? next : now + start_of(issuer);
        if (slot >= cell->slot_end) {
            firn_refuse(FIRN_ELAYOUT,
                        "the layout of %s has ended: move to another scheme, epoch= or bits=",
                        cell->scheme.name);
        }
        if (slot > now + issuer->lead) {
            wait_lead(issuer, slot, slot - now - issuer->lead, &waited);
        } else if (slot >= end) {
            firn_require_primary();
            ask(cell, &waited);
        } else if (pg_atomic_compare_exchange_u64(&cell->next, &next, slot + 1)) {
            if (slot >= soft) {
                poke(cell);
            }
            return slot;
        }
    }
}

void firn_issuer_next(firn_issuer *issuer, firn_id *id) {
    uint32 bits = issuer->cell->sequence_bits;
    uint64 slot;
    firn_error error;
    if (!take_ahead(issuer, &slot)) {
        slot = take_exact(issuer);
    }
    uint64 tick = slot >> bits, sequence = slot & ~(~UINT64CONST(0) << bits);
    if (issuer->sum.exact) {
        firn_sum_pack(id, &issuer->sum, tick, sequence);
        return;
    }
    issuer->recipe.fields.value[issuer->time].low = tick;
    if (issuer->sequence != UINT32_MAX) {
        issuer->recipe.fields.value[issuer->sequence].low = sequence;
    }
    FIRN_CHECK(firn_pack(id, &issuer->recipe.scheme, &issuer->recipe.fields, &error));
}

/* ---- nodes for old rows ---------------------------------------------------------------------- */

/* LOW-HIGH, as in firn.history. */
static void read_range(const char *text, uint64 *low, uint64 *high) {
    char *end;
    errno = 0;
    *low = strtoull(text, &end, 10);
    *high = *low;
    bool good = end != text && errno == 0;
    if (good && *end == '-') {
        const char *second = end + 1;
        *high = strtoull(second, &end, 10);
        good = end != second && errno == 0;
    }
    if (!good || *end != '\0' || *high < *low || *high - *low > 65535) {
        firn_refuse(FIRN_EUSAGE,
                    "'%.40s' is not a range of nodes: write LOW-HIGH, at most 65536 nodes", text);
    }
}

static firn_take *free_take(void) {
    for (int i = 0; i < FIRN_TAKES; i++) {
        if (firn_slots->takes[i].state == FIRN_TAKE_FREE) {
            return &firn_slots->takes[i];
        }
    }
    return NULL;
}

/* Under the lock: is the take still that of the request, and answered? */
static bool is_answered(firn_take *take) {
    bool answered;
    LWLockAcquire(firn_slots->lock, LW_SHARED);
    answered = take->state == FIRN_TAKE_ANSWERED;
    LWLockRelease(firn_slots->lock);
    return answered;
}

/* A request of this backend's. */
typedef struct posted {
    firn_take *take;
    uint64 number;
} posted;

/* Also called when the backend is ended while it waits. */
static void release(int code, Datum argument) {
    const posted *it = (const posted *)DatumGetPointer(argument);
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    if (it->take->number == it->number) {
        it->take->state = FIRN_TAKE_FREE;
        it->take->number = 0;
    }
    LWLockRelease(firn_slots->lock);
}

static firn_take *post(const firn_take *wanted, patience *waited) {
    for (;;) {
        LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
        firn_take *take = free_take();
        if (take != NULL) {
            *take = *wanted;
        }
        LWLockRelease(firn_slots->lock);
        if (take != NULL) {
            wake_renewer();
            return take;
        }
        if (patience_left(waited) <= 0) {
            refuse_late();
        }
        pg_usleep(1000);
        CHECK_FOR_INTERRUPTS();
    }
}

static void await(firn_take *take, patience *waited) {
    ConditionVariablePrepareToSleep(&firn_slots->answered);
    while (!is_answered(take)) {
        sleep_awhile(waited);
    }
    ConditionVariableCancelSleep();
}

/* Hands the request to the renewer and waits for what it says. */
static uint64 settle(firn_take *wanted) {
    firn_take answer;
    patience waited = {false, 0};
    wanted->state = FIRN_TAKE_ASKED;
    wanted->number = pg_atomic_fetch_add_u64(&firn_slots->requests, 1) + 1;
    posted mine = {post(wanted, &waited), wanted->number};
    PG_ENSURE_ERROR_CLEANUP(release, PointerGetDatum(&mine));
    {
        await(mine.take, &waited);
        answer = *mine.take;
    }
    PG_END_ENSURE_ERROR_CLEANUP(release, PointerGetDatum(&mine));
    release(0, PointerGetDatum(&mine));
    if (answer.why.code != FIRN_OK) {
        firn_fail(&answer.why);
    }
    return answer.node;
}

uint64 firn_shared_take(const firn_recipe *given, const char *job, const char *counts) {
    firn_recipe recipe = *given;
    firn_take wanted = {.what = FIRN_ASK_NODE};
    uint32 bits = check_slots(&recipe);
    firn_require_primary();
    if (firn_node_is_given(&recipe)) {
        wanted.low = wanted.high = firn_node_of(&recipe);
    } else if (firn_setting_history[0] == '\0') {
        firn_refuse(FIRN_EWINDOW,
                    "firn.history is not set: set it to a range of nodes that no server has as "
                    "firn.node, LOW-HIGH, or give node=");
    } else {
        read_range(firn_setting_history, &wanted.low, &wanted.high);
        firn_node_split(&recipe, wanted.high, "firn.history");
    }
    wanted.mark = slot_end_of(&recipe, bits) + 2;
    strlcpy(wanted.ns, recipe.name, sizeof wanted.ns);
    layout_of(wanted.layout, &recipe.scheme);
    strlcpy(wanted.job, job, sizeof wanted.job);
    strlcpy(wanted.counts, counts, sizeof wanted.counts);
    return settle(&wanted);
}

/* What only the renewer of a preloaded server can do. */
static void tell_renewer(firn_take *wanted) {
    if (firn_slots == NULL) {
        firn_refuse(FIRN_EWINDOW, "marks are kept by a preloaded firn: put it into "
                                  "shared_preload_libraries and restart");
    }
    firn_require_primary();
    settle(wanted);
}

void firn_shared_confirm(const char *nodes) {
    firn_take wanted = {.what = FIRN_ASK_CONFIRM};
    read_range(nodes, &wanted.low, &wanted.high);
    tell_renewer(&wanted);
}

void firn_shared_hand_over(void) {
    firn_take wanted = {.what = FIRN_ASK_HAND_OVER};
    tell_renewer(&wanted);
}

void firn_shared_take_back(void) {
    firn_take wanted = {.what = FIRN_ASK_TAKE_BACK};
    tell_renewer(&wanted);
}
