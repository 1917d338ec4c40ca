/* SPDX-License-Identifier: MIT */
/* A clock that steps, and a generator without a store that must continue: in order, at the clock's
 * time as soon as the clock is believed, never further ahead than allowed, and without an error.
 * Whether a clock is believed follows from its steps here, not from the library's state. */
#include "sim.h"

#include "entropy.h"

#include <inttypes.h>

#define PHASES   8            /* of one sequence: a step, then calls */
#define JUMP     (5 * SECOND) /* a clock that is set further ahead than this may be doubted */
#define BELIEVED (2 * SECOND) /* until it has shown the same for so long */
#define ANCHORED (6 * SECOND) /* until then an earlier offset may count */
#define BRIEF    (2 * MILLI)  /* the last use is known to a ms */

/* The clock is the steady one plus an offset, which steps. */
static struct {
    int64_t steady, offset;
    uint64_t entropy;
} hands;

static int64_t wall_now(void) {
    return NOON + hands.steady + hands.offset;
}

static int read_wall(void *self, firn_time *now) {
    (void)self;
    *now = (firn_time){wall_now() / SECOND, (int32_t)(wall_now() % SECOND)};
    return FIRN_OK;
}

static int read_steady(void *self, int64_t *ns) {
    (void)self;
    *ns = 1000 * SECOND + hands.steady;
    return FIRN_OK;
}

static int pause_for(void *self, int64_t ns) {
    (void)self;
    hands.steady += ns;
    return FIRN_OK;
}

/* The readings of the clock and the IDs so far. */
typedef struct step_record {
    firn_gen *gen;
    const char *name;
    int64_t back, since,
        least; /* since: the first call that saw this offset; least: the least offset since it was sure */
    int64_t lowest, highest; /* offsets of all calls */
    bool seen, any;
    int64_t offset;   /* of the last call */
    int64_t greatest; /* reading that was used since the clock stepped back */
    uint64_t steps, tick;
    firn_id id;
} step_record;

static uint64_t tick_at(const step_record *record, int64_t wall) {
    firn_time time = {wall / SECOND, (int32_t)(wall % SECOND)};
    uint64_t tick = 0;
    firn_scheme_tick(firn_gen_scheme(record->gen), &time, &tick, NULL);
    return tick;
}

/* Before a call. */
static void see_clock(step_record *record) {
    if (!record->seen || record->offset != hands.offset) {
        record->since = hands.steady;
        record->least = record->seen && record->least < hands.offset ? record->least : hands.offset;
        record->lowest =
            record->seen && record->lowest < hands.offset ? record->lowest : hands.offset;
        record->highest =
            record->seen && record->highest > hands.offset ? record->highest : hands.offset;
    } else if (hands.steady - record->since > ANCHORED) {
        record->least = hands.offset;
    }
    record->offset = hands.offset;
    record->seen = true;
}

static void judge(step_record *record, const firn_id *id) {
    const firn_scheme *scheme = firn_gen_scheme(record->gen);
    firn_fields fields;
    int64_t wall = wall_now();
    uint64_t now = tick_at(record, wall);
    if (firn_unpack(&fields, scheme, id, NULL) != FIRN_OK) {
        failed("%s: what was issued is no ID", record->name);
        return;
    }
    int i = firn__scheme_role(scheme, FIRN_ROLE_TIME);
    uint64_t tick = fields.value[firn_scheme_first(scheme, (uint32_t)i)].low;
    note("%s: tick %" PRIu64 " at %" PRIu64, record->name, tick, now);
    bool believed =
        hands.offset - record->least <= JUMP || hands.steady - record->since >= BELIEVED;
    if (record->any && (tick < record->tick ||
                        (scheme->sorts == FIRN_SORTS_YES && firn_id_cmp(id, &record->id) <= 0))) {
        failed("%s: tick %" PRIu64 " after %" PRIu64, record->name, tick, record->tick);
    } else if (believed && tick < now) {
        failed("%s: tick %" PRIu64 " is before the clock's %" PRIu64, record->name, tick, now);
    }
    bool used = tick >= now; /* else the reading is doubted */
    if (used && record->any && wall < record->greatest - record->back) {
        record->steps++;
        record->greatest = wall;
    }
    record->greatest = used && (wall > record->greatest || !record->any) ? wall : record->greatest;
    /* Only the order may hold an ID ahead of the clock, and only a step back further than the
     * lead. */
    uint64_t lead = record->gen->lead_ticks + tick_at(record, wall + BRIEF) - now;
    if (tick > now && tick > record->tick + 1) {
        failed("%s: tick %" PRIu64 " is after both the last ID's %" PRIu64
               " and the clock's %" PRIu64,
               record->name, tick, record->tick, now);
    } else if (record->steps == 0 && record->highest - record->least <= JUMP && tick > now + lead) {
        failed("%s: tick %" PRIu64 " is further ahead of the clock's %" PRIu64 " than max_lead",
               record->name, tick, now);
    }
    record->tick = tick;
    record->id = *id;
    record->any = true;
}

static void call_step(step_record *record) {
    firn_id id;
    firn_error error = {0};
    see_clock(record);
    int code = firn_next(record->gen, &id, &error);
    if (code != FIRN_OK) {
        failed("%s: %s: %s", record->name, firn_errname(code), error.text);
        return;
    }
    judge(record, &id);
    sim.counts.stepped_ids++;
}

static void step_clock(void) {
    static const int64_t spans[] = {MILLI,      100 * MILLI, SECOND, 2 * SECOND, 4 * SECOND,
                                    8 * SECOND, 60 * SECOND, HOUR,   DAY};
    int64_t span = spans[draw(sizeof spans / sizeof spans[0])];
    span += draw_span(span);
    int64_t count = chance(200)   ? -hands.offset
                    : chance(400) ? -span
                                  : span; /* or it is put right */
    hands.offset += count;
    note("the clock steps by %+.6f ms", (double)count / 1e6);
}

static void check_counts(step_record *record) {
    firn_status status = {.size = sizeof status};
    firn_gen_status(record->gen, &status);
    if (record->highest - record->lowest <= JUMP && status.jumps_ahead != 0) {
        failed("%s: a step of at most 5 s is a jump", record->name);
    } else if (status.jumps_ahead == 0 && status.steps_back_left != record->steps) {
        failed("%s: %" PRIu64 " steps back are counted, and %" PRIu64 " were made", record->name,
               status.steps_back_left, record->steps);
    }
}

void steps_run(void) {
    static const char *const schemes[] = {
        "uuid7",   "uuid1",  "uuid6",     "ulid",     "typeid",        "objectid", "xid",
        "scru128", "pushid", "timeflake", "locality", "uuid1-swapped", "ksuid",    "simpleflake"};
    static const int64_t backs[] = {0, 2, 100, 1000, 3000};
    step_record record = {.name = schemes[draw(sizeof schemes / sizeof schemes[0])],
                          .back = backs[draw(5)] * MILLI};
    char keys[80];
    firn_error error = {0};
    firn_clock clock = {1, NULL, read_wall, read_steady, pause_for};
    hands.steady = hands.offset = 0;
    hands.entropy = draw(UINT64_MAX);
    firn_entropy entropy = firn__entropy_seeded(&hands.entropy);
    firn_config config = {.size = sizeof config,
                          .scheme = record.name,
                          .keys = keys,
                          .clock = &clock,
                          .entropy = &entropy};
    snprintf(keys, sizeof keys, "max_back=%dms max_lead=%dms", (int)(record.back / MILLI),
             (int)(record.back / MILLI) + (chance(500) ? 5 : 1000));
    sim.fiber = NULL;
    note("%s %s", record.name, keys);
    if (firn_open_with(&record.gen, &config, &error) != FIRN_OK) {
        failed("the plan is wrong: %s %s: %s", record.name, keys, error.text);
        return;
    }
    record.seen = false;
    for (unsigned phases = 2 + (unsigned)draw(PHASES - 1); phases > 0 && !sim.failed; phases--) {
        unsigned calls = (unsigned)draw(chance(700) ? 4 : 40);
        int64_t gap = MILLI + draw_span(300 * MILLI);
        for (unsigned i = 0; i <= calls && !sim.failed; i++) {
            call_step(&record);
            hands.steady += gap;
        }
        hands.steady += chance(300) ? draw_span(20 * SECOND) : 0;
        step_clock();
    }
    if (!sim.failed) {
        check_counts(&record);
    }
    firn_close(record.gen, NULL);
}
