/* SPDX-License-Identifier: MIT */
/* The judge: was any ID issued twice, outside its grant, out of order, or with a wrong time? Checks
 * store calls and fields of IDs, and does not trust a generator's status. */
#include "sim.h"

#include "../src/hash.h"

#include <inttypes.h>

#define SEEN_SIZE  16384 /* a power of 2, far above what one run issues */
#define GRANT_SIZE 4096
#define MARK_SIZE  1024

/* An ID that was issued; another run's when its seed differs. */
typedef struct seen_id {
    uint64_t stamp, ns;
    firn_id id;
    int by;
} seen_id;

/* Slots that a maker may issue from. */
typedef struct judge_grant {
    uint64_t key;                /* hash of namespace and key */
    int64_t first, end, granted; /* granted: the end before anything was given back */
    int to;
    bool whole; /* a history node, taken from 0 past the layout's end */
} judge_grant;

/* The greatest slot issued under a key. */
typedef struct issued_mark {
    uint64_t key;
    int64_t slot;
} issued_mark;

static seen_id seen_ids[SEEN_SIZE];
static unsigned seen_count;
static uint64_t stamp;
static judge_grant grants[GRANT_SIZE];
static unsigned grant_count;
static issued_mark marks[MARK_SIZE];
static unsigned mark_count;

static struct {
    bool known;
    firn_id id;
} job_ids[SIM_JOBS][JOB_ROWS];

#define FLOORS 8
static issued_mark floors[FLOORS]; /* of integers, by an advance */
static unsigned floor_count;

void judge_clear(void) {
    stamp++;
    seen_count = grant_count = mark_count = floor_count = 0;
    memset(floors, 0, sizeof floors);
    memset(job_ids, 0, sizeof job_ids);
}

static uint64_t hash(const char *text, uint64_t start) {
    uint64_t h = firn__hash(start ^ FIRN__HASH_START, text, strlen(text));
    return h ^ h >> 29;
}

static uint64_t hash_key(const char *ns, const char *key) {
    return hash(key, hash(ns, 1));
}

/* Processes that share a generator share its grants, a child among them; any other child has its
 * own grants. */
static int index_of(const sim_maker *maker) {
    return (int)(group_of(maker) - sim.makers) +
           (maker->group != NULL ? 0 : sim.child_number * MAKERS);
}

/* ---- twice ----------------------------------------------------------------------------------- */

static void see(const sim_maker *maker, const firn_id *id, const char *how) {
    uint64_t ns = hash(maker->ns, 0);
    uint64_t position =
        (ns ^ id->low * 0x9e3779b97f4a7c15 ^ id->high * 0xc2b2ae3d27d4eb4f ^ id->top) *
            0xff51afd7ed558ccd >>
        20;
    for (;; position++) {
        seen_id *self = &seen_ids[position & (SEEN_SIZE - 1)];
        if (self->stamp != stamp) {
            *self = (seen_id){stamp, ns, *id, index_of(maker)};
            break;
        }
        if (self->ns == ns && firn_id_cmp(&self->id, id) == 0 && self->id.bits == id->bits) {
            char text[FIRN_TEXT_SIZE];
            failed("%s of %s was issued twice: by g%d, and %s by g%d",
                   firn_format(text, id, FIRN_FORM_HEX), maker->ns, self->by, how, index_of(maker));
            return;
        }
    }
    if (++seen_count > SEEN_SIZE / 2) {
        failed("the judge has seen too many IDs to remember");
    }
}

/* The ID as its namespace knows it: a uuid6 is a uuid1 in another order. */
static void see_id(const sim_maker *maker, const firn_id *id, const char *how) {
    firn_id same = *id;
    if (maker->canonical != NULL && firn_convert(&same, firn_scheme_find(maker->canonical), id,
                                                 firn_gen_scheme(maker->gen), NULL) != FIRN_OK) {
        failed("an ID cannot be read as %s", maker->canonical);
    }
    see(maker, &same, how);
}

/* ---- grants ---------------------------------------------------------------------------------- */

void judge_granted(sim_maker *maker, const firn_request *request, int64_t first) {
    bool whole = !maker->dead && maker->gen != NULL && request->earliest == 0 &&
                 request->latest == 0 && request->count > maker->gen->mark_end;
    if (grant_count == GRANT_SIZE) {
        failed("the judge has seen too many grants to remember");
        return;
    }
    for (unsigned i = 0; i < floor_count; i++) {
        if (floors[i].key == hash_key(request->ns, request->key) && first < floors[i].slot) {
            failed("%s/%s was advanced to slot %" PRId64 ", and %" PRId64 " was granted",
                   request->ns, request->key, floors[i].slot, first);
        }
    }
    grants[grant_count++] = (judge_grant){hash_key(request->ns, request->key),
                                          first,
                                          first + request->count,
                                          first + request->count,
                                          index_of(maker),
                                          whole};
}

/* [high, end) is granted no longer. */
static void shorten(judge_grant *grant, int64_t high, int64_t end) {
    if (grant->first < end && high < grant->end) {
        grant->end = high;
    }
}

/* With any outcome of a give back: its sender issues nothing of it any more. */
void judge_giving(sim_maker *sender, const char *ns, const char *key, int64_t high, int64_t end) {
    uint64_t hashed = hash_key(ns, key);
    for (unsigned i = 0; i < grant_count; i++) {
        if (grants[i].to == index_of(sender) && grants[i].key == hashed) {
            shorten(&grants[i], high, end);
        }
    }
}

void judge_given(const char *ns, const char *key, int64_t high, int64_t end) {
    uint64_t hashed = hash_key(ns, key);
    for (unsigned i = 0; i < mark_count; i++) {
        /* In a store that lost reservations the floor of the namespace guards, not the mark. */
        if (marks[i].key == hashed && marks[i].slot >= high && !sim.back) {
            failed("the mark of %s/%s was lowered from %" PRId64 " to %" PRId64
                   ", though slot %" PRId64 " has been issued",
                   ns, key, end, high, marks[i].slot);
        }
    }
    for (unsigned i = 0; i < grant_count; i++) {
        if (grants[i].key == hashed) {
            shorten(&grants[i], high, end);
        }
    }
}

static void issued_to(uint64_t key, int64_t slot) {
    unsigned i = 0;
    while (i < mark_count && marks[i].key != key) {
        i++;
    }
    if (i == MARK_SIZE) {
        return;
    }
    if (i == mark_count) {
        marks[mark_count++] = (issued_mark){key, slot};
    }
    marks[i].slot = slot > marks[i].slot ? slot : marks[i].slot;
}

static bool is_granted(const sim_maker *maker, uint64_t key, int64_t slot, bool whole) {
    for (unsigned i = grant_count; i-- > 0;) {
        const judge_grant *grant = &grants[i];
        if (grant->to == index_of(maker) && grant->key == key && grant->first <= slot &&
            slot < grant->end && grant->whole == whole) {
            return true;
        }
    }
    return false;
}

/* ---- reading an ID --------------------------------------------------------------------------- */

/* The content of an ID. */
typedef struct judge_reading {
    uint64_t node, tick, count;
    char key[FIRN_KEY_SIZE]; /* of its node in the store */
} judge_reading;

static uint64_t value_of(const firn_scheme *scheme, const firn_fields *fields, int role) {
    int i = firn__scheme_role(scheme, role);
    return i < 0 ? 0 : fields->value[firn_scheme_first(scheme, (uint32_t)i)].low;
}

static judge_reading read_id(const sim_maker *maker, const firn_id *id) {
    const firn_scheme *scheme = firn_gen_scheme(maker->gen);
    firn_fields fields;
    judge_reading out = {0, 0, 0, ""};
    if (firn_unpack(&fields, scheme, id, NULL) != FIRN_OK) {
        failed("g%d issued what is no ID of %s", index_of(maker), scheme->name);
        return out;
    }
    for (uint32_t i = 0; maker->gen->reserved && i < scheme->slice_count; i++) {
        if (firn__scheme_is_node(scheme, i) && firn_scheme_first(scheme, i) == i) {
            out.node = out.node << firn_scheme_width(scheme, i) | fields.value[i].low;
        }
    }
    snprintf(out.key, sizeof out.key, "%" PRIu64, out.node);
    out.tick = value_of(scheme, &fields, FIRN_ROLE_TIME);
    out.count = value_of(scheme, &fields, FIRN_ROLE_SEQUENCE);
    return out;
}

static uint64_t tick_at(const sim_maker *maker, int64_t wall) {
    firn_time time = {wall / SECOND, (int32_t)(wall % SECOND)};
    uint64_t tick = 0;
    if (firn_gen_scheme(maker->gen)->tick_ns != 0) {
        firn_scheme_tick(firn_gen_scheme(maker->gen), &time, &tick, NULL);
    }
    return tick;
}

static int64_t slot_of(const sim_maker *maker, const judge_reading *reading) {
    return (int64_t)(reading->tick << maker->gen->s | reading->count);
}

/* ---- order ----------------------------------------------------------------------------------- */

static int64_t *node_slot(sim_maker *maker, uint64_t node, bool make) {
    for (unsigned i = 0; i < maker->node_count; i++) {
        if (maker->nodes[i].node == node) {
            return &maker->nodes[i].slot;
        }
    }
    if (!make || maker->node_count == NODES) {
        return NULL;
    }
    maker->nodes[maker->node_count].node = node;
    maker->nodes[maker->node_count].slot = -1;
    return &maker->nodes[maker->node_count++].slot;
}

call judge_begin(sim_maker *maker) {
    const sim_maker *all = group_of(maker);
    call out = {.maker = maker,
                .before = all->last[maker->thread ? fiber_index() : FIBERS],
                .leaves = all->leaves,
                .wall = machine_wall(sim.processes[maker->process].machine),
                .node_count = all->node_count};
    for (unsigned i = 0; i < all->node_count; i++) {
        out.nodes[i] = all->nodes[i].slot;
    }
    if (sim.fiber != NULL) {
        sim.fiber->greatest_wall = INT64_MIN;
        sim.fiber->calls_in_call = 0;
    }
    return out;
}

/* Of one node the later call has the greater slot, with any clock. */
static void check_node_order(const call *made, const judge_reading *reading) {
    sim_maker *maker = made->maker;
    for (unsigned i = 0; i < made->node_count; i++) {
        if (group_of(maker)->nodes[i].node == reading->node && !maker->thread &&
            made->nodes[i] >= slot_of(maker, reading)) {
            failed("g%d issued slot %" PRId64 " of node %s after %" PRId64, index_of(maker),
                   slot_of(maker, reading), reading->key, made->nodes[i]);
        }
    }
    int64_t *last = node_slot(group_of(maker), reading->node, true);
    if (last != NULL && *last < slot_of(maker, reading)) {
        *last = slot_of(maker, reading);
    }
}

static void check_order(const call *made, const judge_reading *reading, const firn_id *id) {
    sim_maker *maker = made->maker;
    const last_issue *before = &made->before;
    const firn_scheme *scheme = firn_gen_scheme(maker->gen);
    if (!(maker->strict || maker->thread) || !before->any ||
        before->leaves != group_of(maker)->leaves) {
        return;
    }
    bool same = before->node == reading->node;
    bool slots = maker->gen->kind == FIRN__KIND_SLOTS;
    bool later = reading->tick > before->tick || (reading->tick == before->tick && same &&
                                                  (!slots || reading->count > before->count));
    if (!later) {
        failed("g%d issued tick %" PRIu64 " count %" PRIu64 " of node %s after tick %" PRIu64
               " count %" PRIu64 " of node %" PRIu64,
               index_of(maker), reading->tick, reading->count, reading->key, before->tick,
               before->count, before->node);
    } else if (scheme->sorts == FIRN_SORTS_YES && firn_id_cmp(id, &before->id) <= 0) {
        failed("g%d issued an ID that is not above the one before", index_of(maker));
    }
}

/* The IDs that precede the next call. Calls during which a node was left count for neither
 * side. */
static void remember(const call *made, const judge_reading *reading, const firn_id *id) {
    sim_maker *maker = group_of(made->maker);
    last_issue *last = &maker->last[maker->thread ? fiber_index() : FIBERS];
    if (made->leaves != maker->leaves) {
        return;
    }
    bool fresh = !last->any || last->leaves != maker->leaves;
    if (fresh || reading->tick > last->tick ||
        (reading->tick == last->tick && reading->count >= last->count)) {
        *last =
            (last_issue){true, maker->leaves, reading->node, reading->tick, reading->count, *id};
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static void check_time(const call *made, const judge_reading *reading) {
    const sim_maker *maker = made->maker;
    bool honest = sim.processes[maker->process].machine->touched < group_of(maker)->opened &&
                  sim.processes[maker->process].machine->rate_ppm == 0;
    /* By another thread's reading too, which may be later than this one's. */
    int64_t greatest = machine_wall(sim.processes[maker->process].machine);
    if (firn_gen_scheme(maker->gen)->tick_ns == 0) {
        return;
    }
    if (sim.fiber != NULL && sim.fiber->greatest_wall > greatest) {
        greatest = sim.fiber->greatest_wall;
    }
    /* Random rows have no lead to run into: what another thread read before a step back may still
     * carry them on. So may a reading that is used again. Where the time stays, the lead is not
     * limited. */
    bool bound = ((maker->gen->kind != FIRN__KIND_RANDOM && !maker->gen->cycles) || honest) &&
                 !group_of(maker)->stays;
    if (bound && reading->tick > tick_at(maker, greatest) + maker->gen->lead_ticks) {
        failed("g%d issued tick %" PRIu64 ", further ahead of %" PRIu64 " than max_lead",
               index_of(maker), reading->tick, tick_at(maker, greatest));
    }
    const int64_t least = made->wall - (maker->gen->cycles ? maker->gen->keys.stale_us * MICRO : 0);
    if (honest && reading->tick < tick_at(maker, least)) {
        failed("g%d issued tick %" PRIu64 ", before the call at %" PRIu64, index_of(maker),
               reading->tick, tick_at(maker, least));
    }
}

/* ---- the verdicts ---------------------------------------------------------------------------- */

static void check_grant(const sim_maker *maker, const judge_reading *reading) {
    uint64_t key = hash_key(maker->ns, reading->key);
    if (!maker->gen->reserved) {
        return;
    }
    if (maker->gen->kind == FIRN__KIND_SLOTS) { /* a slot is one ID */
        note("model|issue|%s|%s|%" PRId64, maker->ns, reading->key, slot_of(maker, reading));
    }
    if (!is_granted(maker, key, slot_of(maker, reading), false)) {
        failed("g%d issued slot %" PRId64 " of %s/%s, which it was not granted", index_of(maker),
               slot_of(maker, reading), maker->ns, reading->key);
    }
    issued_to(key, slot_of(maker, reading));
}

void judge_issued(const call *made, const firn_id *ids, size_t n) {
    sim_maker *maker = made->maker;
    for (size_t i = 0; i < n && !sim.failed; i++) {
        judge_reading reading = read_id(maker, &ids[i]);
        if (sim.trace) {
            note("g%d: node %s tick %" PRIu64 " count %" PRIu64, index_of(maker), reading.key,
                 reading.tick, reading.count);
        }
        check_grant(maker, &reading);
        see_id(maker, &ids[i], "again");
        if (i == 0) {
            check_order(made, &reading, &ids[i]);
        }
        if (maker->gen->kind == FIRN__KIND_SLOTS && maker->gen->reserved) {
            check_node_order(made, &reading);
        }
        check_time(made, &reading);
        if (i + 1 == n) {
            remember(made, &reading, &ids[i]);
        }
    }
    if (sim.plant_duplicate && n > 0 && chance(10)) {
        see_id(maker, &ids[n - 1], "planted");
    }
    sim.counts.ids += n;
    sim.counts.shared_ids += maker->group != NULL ? n : 0;
}

void judge_backdated(sim_maker *maker, const firn_time *instant, const firn_id *ids, size_t n) {
    uint64_t tick = 0;
    firn_scheme_tick(firn_gen_scheme(maker->gen), instant, &tick, NULL);
    for (size_t i = 0; i < n && !sim.failed; i++) {
        judge_reading reading = read_id(maker, &ids[i]);
        char key[FIRN_KEY_SIZE], ns[FIRN_NS_SIZE];
        snprintf(key, sizeof key, "%.20s@%" PRIu64, reading.key, reading.tick);
        snprintf(ns, sizeof ns, "%.200s ticks", maker->ns);
        note("g%d: back-dated, node %s tick %" PRIu64 " count %" PRIu64, index_of(maker),
             reading.key, reading.tick, reading.count);
        see_id(maker, &ids[i], "back-dated");
        if (reading.tick < tick || reading.tick > tick + maker->gen->lead_ticks) {
            failed("g%d back-dated to tick %" PRIu64 " instead of %" PRIu64, index_of(maker),
                   reading.tick, tick);
        }
        if (maker->gen->reserved && maker->gen->kind == FIRN__KIND_SLOTS &&
            !is_granted(maker, hash_key(ns, key), (int64_t)reading.count, false) &&
            !is_granted(maker, hash_key(maker->ns, reading.key), slot_of(maker, &reading), true)) {
            failed("g%d back-dated slot %" PRIu64 " of %s, which it was not granted",
                   index_of(maker), reading.count, key);
        }
    }
    sim.counts.backdated += n;
}

void judge_job(const sim_maker *maker, unsigned job, unsigned k, const firn_id *id) {
    char text[FIRN_TEXT_SIZE];
    if (job_ids[job][k].known && firn_id_cmp(&job_ids[job][k].id, id) != 0) {
        failed("job %u gave another ID for its row %u: %s", job, k,
               firn_format(text, id, FIRN_FORM_HEX));
    }
    if (!job_ids[job][k].known) {
        job_ids[job][k].known = true;
        job_ids[job][k].id = *id;
        see(maker, id, "by a job");
    }
}

static uint64_t integer_key(const sim_maker *maker) {
    char key[FIRN_KEY_SIZE] = "1";
    if (maker->offset > 0) { /* a ticket's */
        snprintf(key, sizeof key, "%" PRId64, maker->offset);
    }
    return hash_key(maker->ns, key);
}

int64_t judge_end_of(const sim_maker *maker) {
    int64_t end = 0;
    /* Of all servers of a ticket: they share the namespace, and so the floor that an advance
     * sets. */
    for (int64_t offset = 0; offset <= maker->increment; offset++) {
        sim_maker server = {.offset = maker->offset > 0 ? offset : 0};
        snprintf(server.ns, sizeof server.ns, "%s", maker->ns);
        uint64_t key = integer_key(&server);
        for (unsigned i = 0; i < grant_count; i++) {
            int64_t last = server.offset + (grants[i].granted - 1) * maker->increment;
            end = grants[i].key == key && last >= end ? last + 1 : end;
        }
    }
    return end;
}

void judge_advanced(sim_maker *maker, int64_t least, int64_t next) {
    int64_t slot = least <= maker->offset ? 0 : (least - maker->offset - 1) / maker->increment + 1;
    unsigned i = 0;
    while (i < floor_count && floors[i].key != integer_key(maker)) {
        i++;
    }
    if (i == FLOORS) {
        return;
    }
    floor_count += i == floor_count;
    floors[i] = (issued_mark){integer_key(maker), slot > floors[i].slot ? slot : floors[i].slot};
    note("g%d: advanced to %" PRId64, index_of(maker), least);
    if (next < least) {
        failed("g%d advanced to %" PRId64 ", told %" PRId64, index_of(maker), least, next);
    }
}

void judge_integers(sim_maker *maker, int64_t before, int64_t first, int64_t count) {
    uint64_t key = integer_key(maker);
    for (int64_t i = 0; i < count && !sim.failed; i++) {
        int64_t value = first + i * maker->increment;
        int64_t slot = (value - maker->offset) / maker->increment;
        firn_id id = {(uint64_t)value, 0, 0, 64};
        note("g%d: integer %" PRId64, index_of(maker), value);
        see(maker, &id, "again");
        if (value <= before) {
            failed("g%d handed out %" PRId64 " after %" PRId64, index_of(maker), value, before);
        }
        if ((value - maker->offset) % maker->increment != 0 ||
            !is_granted(maker, key, slot, false)) {
            failed("g%d handed out %" PRId64 ", which it was not granted", index_of(maker), value);
        }
        issued_to(key, slot);
    }
    sim.counts.integers += (uint64_t)count;
}

void judge_child(sim_maker *maker, const firn_id *id) {
    judge_reading reading = read_id(maker, id);
    see_id(maker, id, "in a forked child");
    check_grant(maker, &reading);
    if (maker->gen->reserved && maker->gen->fixed && maker->group == NULL) {
        failed("a forked child issued slot %" PRId64 " of %s/%s, which is its parent's fixed node",
               slot_of(maker, &reading), maker->ns, reading.key);
    }
    sim.counts.child_ids++;
}
