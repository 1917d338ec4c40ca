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
typedef struct grant {
    uint64_t key;                /* hash of namespace and key */
    int64_t first, end, granted; /* granted: the end before anything was given back */
    int to;
    bool whole; /* a history node, taken from 0 past the layout's end */
} grant;

/* The greatest slot issued under a key. */
typedef struct issued_mark {
    uint64_t key;
    int64_t slot;
} issued_mark;

static seen_id seen_ids[SEEN_SIZE];
static unsigned seen_count;
static uint64_t stamp;
static grant grants[GRANT_SIZE];
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

/* Processes that share a generator share its grants, a child among them; any other child has its own grants. */
static int index_of(const maker *by) {
    return (int)(group_of(by) - sim.makers) + (by->group != NULL ? 0 : sim.child_number * MAKERS);
}

/* ---- twice ----------------------------------------------------------------------------------- */

static void see(const maker *by, const firn_id *id, const char *how) {
    uint64_t ns = hash(by->ns, 0);
    uint64_t at = (ns ^ id->low * 0x9e3779b97f4a7c15 ^ id->high * 0xc2b2ae3d27d4eb4f ^ id->top) *
                      0xff51afd7ed558ccd >>
                  20;
    for (;; at++) {
        seen_id *it = &seen_ids[at & (SEEN_SIZE - 1)];
        if (it->stamp != stamp) {
            *it = (seen_id){stamp, ns, *id, index_of(by)};
            break;
        }
        if (it->ns == ns && firn_id_cmp(&it->id, id) == 0 && it->id.bits == id->bits) {
            char text[FIRN_TEXT_SIZE];
            failed("%s of %s was issued twice: by g%d, and %s by g%d",
                   firn_format(text, id, FIRN_FORM_HEX), by->ns, it->by, how, index_of(by));
            return;
        }
    }
    if (++seen_count > SEEN_SIZE / 2) {
        failed("the judge has seen too many IDs to remember");
    }
}

/* The ID as its namespace knows it: a uuid6 is a uuid1 in another order. */
static void see_id(const maker *by, const firn_id *id, const char *how) {
    firn_id same = *id;
    if (by->canonical != NULL && firn_convert(&same, firn_scheme_find(by->canonical), id,
                                              firn_gen_scheme(by->gen), NULL) != FIRN_OK) {
        failed("an ID cannot be read as %s", by->canonical);
    }
    see(by, &same, how);
}

/* ---- grants ---------------------------------------------------------------------------------- */

void judge_granted(maker *to, const firn_request *request, int64_t first) {
    bool whole = !to->dead && to->gen != NULL && request->earliest == 0 && request->latest == 0 &&
                 request->count > to->gen->mark_end;
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
    grants[grant_count++] = (grant){hash_key(request->ns, request->key),
                                    first,
                                    first + request->count,
                                    first + request->count,
                                    index_of(to),
                                    whole};
}

/* [high, end) is granted no longer. */
static void shorten(grant *it, int64_t high, int64_t end) {
    if (it->first < end && high < it->end) {
        it->end = high;
    }
}

/* With any outcome of a give back: its sender issues nothing of it any more. */
void judge_giving(maker *from, const char *ns, const char *key, int64_t high, int64_t end) {
    uint64_t hashed = hash_key(ns, key);
    for (unsigned i = 0; i < grant_count; i++) {
        if (grants[i].to == index_of(from) && grants[i].key == hashed) {
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

static bool is_granted(const maker *to, uint64_t key, int64_t slot, bool whole) {
    for (unsigned i = grant_count; i-- > 0;) {
        const grant *it = &grants[i];
        if (it->to == index_of(to) && it->key == key && it->first <= slot && slot < it->end &&
            it->whole == whole) {
            return true;
        }
    }
    return false;
}

/* ---- reading an ID --------------------------------------------------------------------------- */

/* The content of an ID. */
typedef struct reading {
    uint64_t node, tick, count;
    char key[FIRN_KEY_SIZE]; /* of its node in the store */
} reading;

static uint64_t value_of(const firn_scheme *scheme, const firn_fields *fields, int role) {
    int i = firn__scheme_role(scheme, role);
    return i < 0 ? 0 : fields->value[firn_scheme_first(scheme, (uint32_t)i)].low;
}

static reading read_id(const maker *by, const firn_id *id) {
    const firn_scheme *scheme = firn_gen_scheme(by->gen);
    firn_fields fields;
    reading out = {0, 0, 0, ""};
    if (firn_unpack(&fields, scheme, id, NULL) != FIRN_OK) {
        failed("g%d issued what is no ID of %s", index_of(by), scheme->name);
        return out;
    }
    for (uint32_t i = 0; by->gen->reserved && i < scheme->slice_count; i++) {
        if (firn__scheme_is_node(scheme, i) && firn_scheme_first(scheme, i) == i) {
            out.node = out.node << firn_scheme_width(scheme, i) | fields.value[i].low;
        }
    }
    snprintf(out.key, sizeof out.key, "%" PRIu64, out.node);
    out.tick = value_of(scheme, &fields, FIRN_ROLE_TIME);
    out.count = value_of(scheme, &fields, FIRN_ROLE_SEQUENCE);
    return out;
}

static uint64_t tick_at(const maker *by, int64_t wall) {
    firn_time time = {wall / SECOND, (int32_t)(wall % SECOND)};
    uint64_t tick = 0;
    if (firn_gen_scheme(by->gen)->tick_ns != 0) {
        firn_scheme_tick(firn_gen_scheme(by->gen), &time, &tick, NULL);
    }
    return tick;
}

static int64_t slot_of(const maker *by, const reading *it) {
    return (int64_t)(it->tick << by->gen->s | it->count);
}

/* ---- order ----------------------------------------------------------------------------------- */

static int64_t *node_slot(maker *by, uint64_t node, bool make) {
    for (unsigned i = 0; i < by->node_count; i++) {
        if (by->nodes[i].node == node) {
            return &by->nodes[i].slot;
        }
    }
    if (!make || by->node_count == NODES) {
        return NULL;
    }
    by->nodes[by->node_count].node = node;
    by->nodes[by->node_count].slot = -1;
    return &by->nodes[by->node_count++].slot;
}

call judge_begin(maker *by) {
    const maker *all = group_of(by);
    call out = {.by = by,
                .before = all->last[by->thread ? fiber_index() : FIBERS],
                .leaves = all->leaves,
                .wall = machine_wall(sim.processes[by->process].machine),
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
static void check_node_order(const call *made, const reading *it) {
    maker *by = made->by;
    for (unsigned i = 0; i < made->node_count; i++) {
        if (group_of(by)->nodes[i].node == it->node && !by->thread &&
            made->nodes[i] >= slot_of(by, it)) {
            failed("g%d issued slot %" PRId64 " of node %s after %" PRId64, index_of(by),
                   slot_of(by, it), it->key, made->nodes[i]);
        }
    }
    int64_t *last = node_slot(group_of(by), it->node, true);
    if (last != NULL && *last < slot_of(by, it)) {
        *last = slot_of(by, it);
    }
}

static void check_order(const call *made, const reading *it, const firn_id *id) {
    maker *by = made->by;
    const last_issue *before = &made->before;
    const firn_scheme *scheme = firn_gen_scheme(by->gen);
    if (!(by->strict || by->thread) || !before->any || before->leaves != group_of(by)->leaves) {
        return;
    }
    bool same = before->node == it->node;
    bool slots = by->gen->kind == FIRN__KIND_SLOTS;
    bool later = it->tick > before->tick ||
                 (it->tick == before->tick && same && (!slots || it->count > before->count));
    if (!later) {
        failed("g%d issued tick %" PRIu64 " count %" PRIu64 " of node %s after tick %" PRIu64
               " count %" PRIu64 " of node %" PRIu64,
               index_of(by), it->tick, it->count, it->key, before->tick, before->count,
               before->node);
    } else if (scheme->sorts == FIRN_SORTS_YES && firn_id_cmp(id, &before->id) <= 0) {
        failed("g%d issued an ID that is not above the one before", index_of(by));
    }
}

/* The IDs that precede the next call. Calls during which a node was left count for neither
 * side. */
static void remember(const call *made, const reading *it, const firn_id *id) {
    maker *by = group_of(made->by);
    last_issue *last = &by->last[by->thread ? fiber_index() : FIBERS];
    if (made->leaves != by->leaves) {
        return;
    }
    bool fresh = !last->any || last->leaves != by->leaves;
    if (fresh || it->tick > last->tick || (it->tick == last->tick && it->count >= last->count)) {
        *last = (last_issue){true, by->leaves, it->node, it->tick, it->count, *id};
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static void check_time(const call *made, const reading *it) {
    const maker *by = made->by;
    bool honest = sim.processes[by->process].machine->touched < group_of(by)->opened &&
                  sim.processes[by->process].machine->rate_ppm == 0;
    /* By another thread's reading too, which may be later than this one's. */
    int64_t greatest = machine_wall(sim.processes[by->process].machine);
    if (firn_gen_scheme(by->gen)->tick_ns == 0) {
        return;
    }
    if (sim.fiber != NULL && sim.fiber->greatest_wall > greatest) {
        greatest = sim.fiber->greatest_wall;
    }
    /* Random rows have no lead to run into: what another thread read before a step back may still
     * carry them on. Where the time stays, the lead is not limited. */
    bool bound = (by->gen->kind != FIRN__KIND_RANDOM || honest) && !group_of(by)->stays;
    if (bound && it->tick > tick_at(by, greatest) + by->gen->lead_ticks) {
        failed("g%d issued tick %" PRIu64 ", further ahead of %" PRIu64 " than max_lead",
               index_of(by), it->tick, tick_at(by, greatest));
    }
    if (honest && it->tick < tick_at(by, made->wall)) {
        failed("g%d issued tick %" PRIu64 ", before the call at %" PRIu64, index_of(by), it->tick,
               tick_at(by, made->wall));
    }
}

/* ---- the verdicts ---------------------------------------------------------------------------- */

static void check_grant(const maker *by, const reading *it) {
    uint64_t key = hash_key(by->ns, it->key);
    if (!by->gen->reserved) {
        return;
    }
    if (!is_granted(by, key, slot_of(by, it), false)) {
        failed("g%d issued slot %" PRId64 " of %s/%s, which it was not granted", index_of(by),
               slot_of(by, it), by->ns, it->key);
    }
    issued_to(key, slot_of(by, it));
}

void judge_issued(const call *made, const firn_id *ids, size_t n) {
    maker *by = made->by;
    for (size_t i = 0; i < n && !sim.failed; i++) {
        reading it = read_id(by, &ids[i]);
        if (sim.trace) {
            note("g%d: node %s tick %" PRIu64 " count %" PRIu64, index_of(by), it.key, it.tick,
                 it.count);
        }
        check_grant(by, &it);
        see_id(by, &ids[i], "again");
        if (i == 0) {
            check_order(made, &it, &ids[i]);
        }
        if (by->gen->kind == FIRN__KIND_SLOTS && by->gen->reserved) {
            check_node_order(made, &it);
        }
        check_time(made, &it);
        if (i + 1 == n) {
            remember(made, &it, &ids[i]);
        }
    }
    if (sim.plant_duplicate && n > 0 && chance(10)) {
        see_id(by, &ids[n - 1], "planted");
    }
    sim.counts.ids += n;
    sim.counts.shared_ids += by->group != NULL ? n : 0;
}

void judge_backdated(maker *by, const firn_time *at, const firn_id *ids, size_t n) {
    uint64_t tick = 0;
    firn_scheme_tick(firn_gen_scheme(by->gen), at, &tick, NULL);
    for (size_t i = 0; i < n && !sim.failed; i++) {
        reading it = read_id(by, &ids[i]);
        char key[FIRN_KEY_SIZE], ns[FIRN_NS_SIZE];
        snprintf(key, sizeof key, "%.20s@%" PRIu64, it.key, it.tick);
        snprintf(ns, sizeof ns, "%.200s ticks", by->ns);
        note("g%d: back-dated, node %s tick %" PRIu64 " count %" PRIu64, index_of(by), it.key,
             it.tick, it.count);
        see_id(by, &ids[i], "back-dated");
        if (it.tick < tick || it.tick > tick + by->gen->lead_ticks) {
            failed("g%d back-dated to tick %" PRIu64 " instead of %" PRIu64, index_of(by), it.tick,
                   tick);
        }
        if (by->gen->reserved && by->gen->kind == FIRN__KIND_SLOTS &&
            !is_granted(by, hash_key(ns, key), (int64_t)it.count, false) &&
            !is_granted(by, hash_key(by->ns, it.key), slot_of(by, &it), true)) {
            failed("g%d back-dated slot %" PRIu64 " of %s, which it was not granted", index_of(by),
                   it.count, key);
        }
    }
    sim.counts.backdated += n;
}

void judge_job(const maker *by, unsigned job, unsigned k, const firn_id *id) {
    char text[FIRN_TEXT_SIZE];
    if (job_ids[job][k].known && firn_id_cmp(&job_ids[job][k].id, id) != 0) {
        failed("job %u gave another ID for its row %u: %s", job, k,
               firn_format(text, id, FIRN_FORM_HEX));
    }
    if (!job_ids[job][k].known) {
        job_ids[job][k].known = true;
        job_ids[job][k].id = *id;
        see(by, id, "by a job");
    }
}

static uint64_t integer_key(const maker *by) {
    char key[FIRN_KEY_SIZE] = "1";
    if (by->offset > 0) { /* a ticket's */
        snprintf(key, sizeof key, "%" PRId64, by->offset);
    }
    return hash_key(by->ns, key);
}

int64_t judge_end_of(const maker *by) {
    int64_t end = 0;
    /* Of all servers of a ticket: they share the namespace, and so the floor that an advance sets. */
    for (int64_t offset = 0; offset <= by->increment; offset++) {
        maker server = {.offset = by->offset > 0 ? offset : 0};
        snprintf(server.ns, sizeof server.ns, "%s", by->ns);
        uint64_t key = integer_key(&server);
        for (unsigned i = 0; i < grant_count; i++) {
            int64_t last = server.offset + (grants[i].granted - 1) * by->increment;
            end = grants[i].key == key && last >= end ? last + 1 : end;
        }
    }
    return end;
}

void judge_advanced(maker *by, int64_t least, int64_t next) {
    int64_t slot = least <= by->offset ? 0 : (least - by->offset - 1) / by->increment + 1;
    unsigned i = 0;
    while (i < floor_count && floors[i].key != integer_key(by)) {
        i++;
    }
    if (i == FLOORS) {
        return;
    }
    floor_count += i == floor_count;
    floors[i] = (issued_mark){integer_key(by), slot > floors[i].slot ? slot : floors[i].slot};
    note("g%d: advanced to %" PRId64, index_of(by), least);
    if (next < least) {
        failed("g%d advanced to %" PRId64 ", told %" PRId64, index_of(by), least, next);
    }
}

void judge_integers(maker *by, int64_t before, int64_t first, int64_t count) {
    uint64_t key = integer_key(by);
    for (int64_t i = 0; i < count && !sim.failed; i++) {
        int64_t value = first + i * by->increment;
        int64_t slot = (value - by->offset) / by->increment;
        firn_id id = {(uint64_t)value, 0, 0, 64};
        note("g%d: integer %" PRId64, index_of(by), value);
        see(by, &id, "again");
        if (value <= before) {
            failed("g%d handed out %" PRId64 " after %" PRId64, index_of(by), value, before);
        }
        if ((value - by->offset) % by->increment != 0 || !is_granted(by, key, slot, false)) {
            failed("g%d handed out %" PRId64 ", which it was not granted", index_of(by), value);
        }
        issued_to(key, slot);
    }
    sim.counts.integers += (uint64_t)count;
}

void judge_child(maker *by, const firn_id *id) {
    reading it = read_id(by, id);
    see_id(by, id, "in a forked child");
    check_grant(by, &it);
    if (by->gen->reserved && by->gen->fixed && by->group == NULL) {
        failed("a forked child issued slot %" PRId64 " of %s/%s, which is its parent's fixed node",
               slot_of(by, &it), by->ns, it.key);
    }
    sim.counts.child_ids++;
}
