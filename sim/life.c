/* SPDX-License-Identifier: MIT */
/* Lives of processes: which schemes and policies a run has, what their threads do, and how they
 * end. All faults but the network's begin here. */
#include "sim.h"

#include "entropy.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPEN_TRIES   3
#define CHILD_ISSUES 24

/* ---- the plan -------------------------------------------------------------------------------- */

/* The scheme that generators of one run issue. `nodes`: number of fixed nodes to choose from; 0:
 * the scheme's fields are given, or it has none. */
typedef struct profile {
    const char *scheme, *keys;
    const char *twin; /* a second scheme of the same namespace */
    unsigned nodes;
    bool sequence; /* takes nodes=, start= */
    bool common;   /* processes may share it */
} profile;

static const profile profiles[] = {
    {"time:40/ms@@2025-01-01 node:2 sequence:2", "ns=tiny", NULL, 4, true, true},
    {"time:40/ms@@2025-01-01 node:1 sequence:3", "ns=pair", NULL, 2, true, true},
    {"time:40/ms@@2025-01-01 node:3 sequence:2", "ns=eight", NULL, 8, true, true},
    {"node:2 time:50/us@@2025-01-01 sequence:4", "ns=micro", NULL, 4, true, true},
    {"time:40/ms@@2025-01-01 node:2", "ns=bare", NULL, 4, false, true},
    {"time:40/ms@@2025-01-01 node:2 counter:6", "ns=counted", NULL, 4, false, false},
    {"js53", "", NULL, 3, true, true},
    {"lable-spread", "", NULL, 3, true, true},
    {"snowflake", "datacenter=1", NULL, 0, true, true},
    {"leaf", "worker=5", NULL, 0, true, true},
    {"sonyflake", "", NULL, 2, true, true},
    {"tid", "", NULL, 3, false, true},
    {"baidu", "bits=29/21/13 worker=ticket", NULL, 0, true, false},
    {"flake", "worker=02:00:00:00:00:07", NULL, 0, true, true},
    {"uuid1", "node=02:00:00:00:00:01", "uuid6", 0, false, false},
    {"uuid6", "node=02:00:00:00:00:01 clock_seq=5", "uuid1", 0, false, false},
    {"xid", "machine=1 pid=2", NULL, 0, false, false},
    {"objectid-legacy", "machine=7 pid=9", NULL, 0, false, false},
    {"locality", "pid=1 mac=2", NULL, 0, false, false},
    {"uuid1", "", "uuid6", 0, false, false},
    {"uuid7", "", NULL, 0, true, false},
    {"scru128", "", NULL, 0, true, false},
    {"ulid", "", NULL, 0, false, false},
    {"pushid", "", NULL, 0, false, false},
    {"timeflake", "", NULL, 0, false, false},
    {"objectid", "", NULL, 0, false, false},
    {"ksuid", "", NULL, 0, false, false},
    {"uuid4", "", NULL, 0, false, false},
};

#define TIGHT 6 /* the first ones are small enough that processes meet */

static struct {
    profile spaces[2];
    char policies[2][200];
    bool integers;
    int64_t integer_increment;
    char integer_keys[64];
} plan;

static void append(char *text, size_t size, const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

/* Policies of a namespace; a generator's own are added when it is opened. */
static void plan_policies(char text[200], const profile *space) {
    static const int64_t backs[] = {0, 2, 10, 50}, leads[] = {0, 5, 60};
    static const int64_t windows[] = {1, 2, 5, 20, 100};
    int64_t back = backs[draw(4)];
    text[0] = '\0';
    if (sim.is_long && space->nodes > 0) {
        static const int seconds[] = {5, 30, 120, 600};
        append(text, 200, " reach=10min window=%ds", seconds[draw(4)]);
    } else if (chance(800)) {
        append(text, 200, " window=%dms", (int)windows[draw(5)]);
    }
    if (chance(800)) {
        append(text, 200, " max_back=%dms max_lead=%dms", (int)back, (int)(back + leads[draw(3)]));
    }
    if (space->sequence && chance(200)) {
        append(text, 200, " start=%s", chance(500) ? "rolling" : "random:2");
    }
    append(text, 200, " max_wait=%dms", chance(700) ? 0 : (int)draw(30));
}

static void plan_integers(void) {
    static const char *const kinds[] = {"kind=serial", "kind=segment", "kind=ticket"};
    unsigned kind = (unsigned)draw(3);
    plan.integers = chance(400);
    plan.integer_increment = kind == 2 ? 1 + (int64_t)draw(3) : 1;
    plan.integer_keys[0] = '\0';
    append(plan.integer_keys, sizeof plan.integer_keys, "%s step=%d", kinds[kind],
           1 + (int)draw(chance(700) ? 4 : 40));
    if (kind == 2) {
        append(plan.integer_keys, sizeof plan.integer_keys, " increment=%d",
               (int)plan.integer_increment);
    } else if (chance(200)) {
        append(plan.integer_keys, sizeof plan.integer_keys, " end=%d", 5 + (int)draw(60));
    }
}

void life_plan(void) {
    for (int i = 0; i < 2; i++) {
        unsigned all = sizeof profiles / sizeof profiles[0];
        plan.spaces[i] = profiles[chance(600) ? draw(TIGHT) : draw(all)];
        plan_policies(plan.policies[i], &plan.spaces[i]);
    }
    plan_integers();
    if (!sim.storm && plan.spaces[0].common && chance(400)) {
        together_plan(&sim.machines[0], 0);
    }
    if (sim.storm) {
        plan.spaces[1] = plan.spaces[0] = profiles[1]; /* one node, the other is history's */
        snprintf(plan.policies[0], sizeof plan.policies[0], " window=%dms", 2 + (int)draw(8));
        memcpy(plan.policies[1], plan.policies[0], sizeof plan.policies[0]);
    }
    sim.process_count = 1 + (unsigned)draw(sim.storm ? 2 : PROCESSES);
    for (unsigned i = 0; i < sim.process_count; i++) {
        sim.processes[i] = (sim_process){.machine = &sim.machines[draw(sim.machine_count)],
                                         .lives = sim.storm ? 20 : 1 + (int)draw(4),
                                         .workers = (int)draw(sim.storm ? 2 : 4)};
        process_begin(&sim.processes[i]);
    }
}

/* ---- the parts of a process ------------------------------------------------------------------ */

static int read_wall(void *self, firn_time *now) {
    const sim_process *process = self;
    int64_t wall = machine_wall(process->machine);
    *now = (firn_time){wall / SECOND, (int32_t)(wall % SECOND)};
    if (sim.fiber != NULL && wall > sim.fiber->greatest_wall) {
        sim.fiber->greatest_wall = wall;
    }
    return FIRN_OK;
}

static int read_steady(void *self, int64_t *ns) {
    const sim_process *process = self;
    *ns = 1000 * SECOND + sim.now - NOON - process->machine->steady_lag;
    return FIRN_OK;
}

/* One cycle per ns. */
uint64_t sim_cycles(void) {
    int64_t ns = 0;
    if (sim.fiber != NULL) {
        read_steady(sim.fiber->process, &ns);
    }
    return (uint64_t)ns;
}

/* Half of the generators use a reading again while the cycle counter says that it is young, and then
 * add to the cursor, as generators on the clock of the system do. */
static void count_cycles(firn_gen *gen) {
    gen->cycles = gen->keys.clock_ == FIRN__CLOCK_FRESH && chance(500);
    gen->keys.stale_us = chance(500) ? 100 : 1000000;
    firn__policy_way(gen);
    for (int i = 0; i < 2 && gen->cycles; i++) {
        firn__watch_learn(&gen->live->watch, gen->clock, sim_cycles, gen->keys.stale_us);
        fiber_sleep(3 * MILLI);
    }
}

static int pause_for(void *self, int64_t ns) {
    (void)self;
    fiber_sleep(ns);
    return FIRN_OK;
}

static int fill(void *self, void *out, size_t size) {
    sim_process *process = self;
    if (!sim.child && chance(sim.entropy_fails)) {
        return FIRN_EENTROPY;
    }
    return process->seeded.fill(process->seeded.self, out, size);
}

static void hear(void *self, const char *text) {
    sim_maker *maker = self;
    bool stays = strstr(text, "the time of IDs stays") != NULL;
    group_of(maker)->stays = group_of(maker)->stays || stays;
    group_of(maker)->leaves += strncmp(text, "the clock stepped back", 22) == 0 && !stays;
    note("g%d: %s", (int)(maker - sim.makers), text);
}

/* ---- opening --------------------------------------------------------------------------------- */

sim_maker *maker_new(const sim_process *owner) {
    if (sim.maker_count == MAKERS) {
        return NULL;
    }
    sim_maker *maker = &sim.makers[sim.maker_count++];
    memset(maker, 0, sizeof *maker);
    maker->used = true;
    maker->process = (int)(owner - sim.processes);
    maker->opened = sim.now;
    if (firn_store_wrap(&maker->link, &wire_ops, maker, NULL) != FIRN_OK) {
        abort();
    }
    return maker;
}

/* Keys of one generator of a namespace. `common`: keys of its group; NULL: not shared. */
static void choose_keys(char text[400], sim_maker *maker, const profile *space,
                        const char *policies, const char *common, bool *has_renewer) {
    bool fixed = common == NULL && space->nodes > 0 && !sim.storm && chance(350), windows = false;
    snprintf(text, 400, "%s%s%s", space->keys, policies, common == NULL ? "" : common);
    if (fixed) {
        append(text, 400, " node=%d", (int)draw(space->nodes));
    }
    maker->strict = true;
    if (sim.storm || common != NULL) {
        windows = true;
    } else if (chance(150)) {
        append(text, 400, " mode=online");
    } else if (space->sequence && chance(200)) {
        append(text, 400, " ordering=thread");
        maker->strict = false;
        maker->thread = true;
    } else if (space->sequence && space->nodes > 0 && !fixed && chance(150)) {
        append(text, 400, " nodes=%d", 2 + (int)draw(2));
        maker->strict = false;
    } else {
        windows = true;
    }
    *has_renewer = windows && !sim.storm && chance(100);
    if (common == NULL && chance(150)) {
        append(text, 400, " full=%s", chance(500) ? "wait" : "fail");
    }
    if (common == NULL && chance(200)) {
        append(text, 400, " back=%s", chance(500) ? "wait" : chance(500) ? "fail" : "leave");
    }
    if (chance(400)) {
        append(text, 400, " history=job");
    }
}

static void open_generator(sim_process *owner, sim_maker *maker) {
    unsigned which = (unsigned)draw(2);
    const profile *space = &plan.spaces[which];
    char keys[400];
    firn_error error = {0};
    firn_gen *gen = NULL;
    bool has_renewer;
    firn_config config = {.size = sizeof config,
                          .scheme =
                              space->twin != NULL && chance(500) ? space->twin : space->scheme,
                          .keys = keys,
                          .store = maker->link,
                          .clock = &owner->clock,
                          .entropy = &owner->entropy,
                          .notice = hear,
                          .notice_self = maker,
                          .note = "sim"};
    choose_keys(keys, maker, space, plan.policies[which],
                together_join(owner, maker, which, space->nodes, &config), &has_renewer);
    config.has_renewer = has_renewer;
    int code = FIRN_EBUSY;
    for (int i = 0; i < OPEN_TRIES && code != FIRN_OK && gen == NULL; i++) {
        maker->opened = sim.now;
        sim.fiber->calls_in_call = 0;
        code = firn_open_with(&gen, &config, &error);
        note("g%d: open %s %s: %s %s", (int)(maker - sim.makers), config.scheme, keys,
             firn_errname(code), code == FIRN_OK ? "" : error.text);
        if (code == FIRN_EUSAGE || code == FIRN_ERANGE || code == FIRN_ENAMESPACE) {
            failed("the plan is wrong: %s %s: %s", config.scheme, keys, error.text);
        }
        if (code != FIRN_OK) {
            fiber_sleep(draw_span(20 * sim.pace));
        }
    }
    if (gen != NULL) {
        count_cycles(gen);
        maker->canonical = space->twin != NULL ? "uuid1" : NULL;
        snprintf(maker->ns, sizeof maker->ns, "%s", gen->ns);
        maker->gen = gen;
        maker->space = which;
    }
}

static void open_range(const sim_process *owner, sim_maker *maker) {
    char keys[128];
    maker->increment = plan.integer_increment;
    snprintf(keys, sizeof keys, "%s", plan.integer_keys);
    if (strstr(keys, "ticket") != NULL) {
        maker->offset = 1 + (int64_t)draw((uint64_t)maker->increment);
        append(keys, sizeof keys, " offset=%d", (int)maker->offset);
    }
    snprintf(maker->ns, sizeof maker->ns, "integer orders");
    maker->last_integer = -1;
    firn_segment *range = NULL;
    firn_error error;
    if (firn_segment_open(&range, "orders", keys, maker->link, &owner->clock, &error) != FIRN_OK) {
        failed("the plan is wrong: %s: %s", keys, error.text);
    }
    note("g%d: range %s", (int)(maker - sim.makers), keys);
    maker->range = range;
}

static void open_all(sim_process *owner) {
    unsigned count = sim.storm ? 1 : 1 + (unsigned)draw(HELD);
    owner->clock = (firn_clock){1, owner, read_wall, read_steady, pause_for};
    owner->entropy_state = draw(UINT64_MAX);
    owner->seeded = firn__entropy_seeded(&owner->entropy_state);
    owner->entropy = (firn_entropy){1, owner, fill};
    for (unsigned i = 0; i < count && !sim.failed; i++) {
        sim_maker *maker = maker_new(owner);
        owner->makers[i] = maker;
        if (maker == NULL) {
            return;
        }
        if (plan.integers && chance(400)) {
            open_range(owner, maker);
        } else {
            open_generator(owner, maker);
        }
        bool opened = maker->gen != NULL || maker->range != NULL;
        sim.counts.opened += opened;
        sim.counts.unopened += !opened;
    }
}

/* ---- one call -------------------------------------------------------------------------------- */

static void told(const sim_maker *maker, int code, const firn_error *error) {
    sim.counts.refused += code != FIRN_OK;
    if (code != FIRN_OK) {
        note("g%d: %s %s", (int)(maker - sim.makers), firn_errname(code), error->text);
    }
    if (code == FIRN_ECLONED) {
        failed("g%d was taken for a copy of itself: %s", (int)(maker - sim.makers), error->text);
    }
    if (code == FIRN_EFORKED && !sim.child) {
        failed("g%d was taken for a child: %s", (int)(maker - sim.makers), error->text);
    }
}

static void issue(sim_maker *maker) {
    firn_id ids[AT_MOST];
    uint64_t numbers[AT_MOST];
    firn_error error = {0};
    size_t n = chance(700) ? 1 : 1 + draw(chance(500) ? 4 : AT_MOST);
    call made = judge_begin(maker);
    int code;
    if (n == 1 && chance(900)) {
        code = firn_next(maker->gen, ids, &error);
    } else if (firn_gen_scheme(maker->gen)->bits <= 64 && chance(300)) {
        code = firn_next_u64(maker->gen, numbers, n, &error);
        for (size_t i = 0; code == FIRN_OK && i < n; i++) {
            ids[i] = (firn_id){numbers[i], 0, 0, firn_gen_scheme(maker->gen)->bits};
        }
    } else {
        code = firn_next_n(maker->gen, ids, n, &error);
    }
    told(maker, code, &error);
    if (code == FIRN_OK) {
        judge_issued(&made, ids, n);
    }
}

static void back_date(sim_maker *maker) {
    firn_id ids[AT_MOST];
    firn_error error = {0};
    int64_t unix_ns = NOON - DAY * (1 + (int64_t)draw(2)) + MILLI * (int64_t)draw(3);
    firn_time time = {unix_ns / SECOND, (int32_t)(unix_ns % SECOND)};
    size_t n = 1 + draw(chance(700) ? 2 : 8);
    sim.fiber->calls_in_call = 0;
    int code = firn_at(maker->gen, &time, ids, n, &error);
    told(maker, code, &error);
    if (code == FIRN_OK) {
        judge_backdated(maker, &time, ids, n);
    }
}

/* A job from its first record on, or a part of it, to simulate a kill. */
static void do_job(const sim_maker *maker) {
    const profile *space = &plan.spaces[0];
    char name[8], keys[64];
    firn_error error = {0};
    firn_job *job = NULL;
    unsigned which = (unsigned)draw(SIM_JOBS), rows = 1 + (unsigned)draw(JOB_ROWS);
    firn_job_config config = {.size = sizeof config,
                              .scheme = space->scheme,
                              .keys = keys,
                              .store = maker->link,
                              .name = name,
                              .digest = 100 + which,
                              .shift_ms = 5};
    if (maker->gen == NULL || maker->space != 0 || space->nodes == 0 || space->twin != NULL) {
        return;
    }
    snprintf(name, sizeof name, "job%u", which);
    snprintf(keys, sizeof keys, "%s%s", space->keys, sim.is_long ? " reach=10min" : "");
    sim.fiber->calls_in_call = 0;
    int code = firn_job_open(&job, &config, &error);
    told(maker, code, &error);
    for (unsigned k = 0; k < rows && code == FIRN_OK; k++) {
        int64_t unix_ns = NOON - DAY + (int64_t)(k % 3) * MILLI,
                shift; /* where others back-date, too */
        firn_time time = {unix_ns / SECOND, (int32_t)(unix_ns % SECOND)};
        firn_id id;
        fiber_point();
        code = firn_job_next(job, &time, &id, &shift, &error);
        if (code == FIRN_OK) {
            judge_job(maker, which, k, &id);
        }
    }
    sim.counts.jobs += job != NULL;
    firn_job_close(job);
}

static void advance(sim_maker *maker) {
    firn_error error = {0};
    int64_t least = (maker->last_integer < 0 ? 0 : maker->last_integer) + (int64_t)draw(20),
            next = 0;
    if (sim.restores > 0 && !sim.back) {
        return; /* under way while the store is restored, it would be taken for the cure */
    }
    least = sim.back ? judge_end_of(maker) : least; /* as the manual requires before an advance */
    int code = firn_segment_advance(maker->range, least, &next, &error);
    told(maker, code, &error);
    if (code == FIRN_OK) {
        judge_advanced(maker, least, next);
    }
}

static void take_integers(sim_maker *maker) {
    firn_error error = {0};
    int64_t value = 0, before = maker->last_integer, count = 1;
    sim.fiber->calls_in_call = 0;
    bool block = chance(200);
    int code;
    if (block) {
        count = 1 + (int64_t)draw(5);
        before = -1; /* a block has no place in the order of the others */
        code = firn_segment_block(maker->range, count, &value, &error);
    } else if (chance(200)) {
        code = firn_segment_take(maker->range, 1 + (int64_t)draw(6), &value, &count, NULL, &error);
    } else if (chance(200)) {
        count = 1 + (int64_t)draw(6);
        code = firn_segment_exact(maker->range, count, chance(700), &value, NULL, &error);
    } else if (chance(40)) {
        advance(maker);
        return;
    } else {
        code = firn_segment_next(maker->range, &value, &error);
    }
    told(maker, code, &error);
    if (code == FIRN_OK) {
        judge_integers(maker, before, value, count);
    }
    int64_t last = value + (count - 1) * maker->increment;
    if (code == FIRN_OK && !block && last > maker->last_integer) {
        maker->last_integer = last;
    }
}

static void step(sim_maker *maker) {
    int64_t wait_ms = 0;
    firn_error error = {0};
    sim.fiber->calls_in_call = 0;
    int code = maker->range != NULL ? firn_segment_step(maker->range, &wait_ms, &error)
                                    : firn_gen_step(maker->gen, &wait_ms, &error);
    told(maker, code, &error);
}

/* ---- forks ----------------------------------------------------------------------------------- */

/* A child's report, in memory that both processes see. */
typedef struct child_log {
    int64_t now; /* at its end */
    bool left;   /* the node of the shared generator, because of the clock */
    unsigned count;
    struct {
        sim_maker *maker;
        bool backdated, integer;
        firn_id id; /* or the integer, in low */
    } issued[CHILD_ISSUES];
} child_log;

static void child_issue(child_log *log, sim_maker *maker, bool backdated) {
    firn_id ids[3];
    firn_time time = {(NOON - DAY) / SECOND, 0};
    size_t n = 1 + draw(3);
    unsigned leaves = group_of(maker)->leaves;
    int code = backdated ? firn_at(maker->gen, &time, ids, n, NULL)
                         : firn_next_n(maker->gen, ids, n, NULL);
    log->left = log->left || (maker->group != NULL && group_of(maker)->leaves != leaves);
    for (size_t i = 0; code == FIRN_OK && i < n && log->count < CHILD_ISSUES; i++) {
        log->issued[log->count].maker = maker;
        log->issued[log->count].backdated = backdated;
        log->issued[log->count++].id = ids[i];
    }
}

static void live_as_child(sim_process *me, child_log *log) {
    sim.child = true;
    child_born();
    me->entropy_state = sim.system = draw(UINT64_MAX); /* as the system's is another one */
    alarm(600);                                        /* on a busy machine, too */
    for (int i = 0; i < 6; i++) {
        sim_maker *maker = me->makers[draw(HELD)];
        if (maker != NULL && maker->gen != NULL) {
            child_issue(log, maker, chance(300));
        } else if (maker != NULL && maker->range != NULL) {
            int64_t value;
            if (firn_segment_next(maker->range, &value, NULL) == FIRN_OK &&
                log->count < CHILD_ISSUES) {
                log->issued[log->count].maker = maker;
                log->issued[log->count].integer = true;
                log->issued[log->count++].id.low = (uint64_t)value;
            }
        }
        sim.now += draw_span(sim.pace);
        log->now = sim.now;
    }
    if (chance(300) && me->makers[0] != NULL && me->makers[0]->gen != NULL) {
        firn_close(me->makers[0]->gen, NULL);
    }
    _exit(0);
}

static void fork_now(sim_process *me) {
    static unsigned children;
    child_log *log =
        mmap(NULL, sizeof *log, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    if (log == MAP_FAILED || !child_begin()) {
        return;
    }
    note("forks");
    sim.counts.forks++;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        live_as_child(me, log);
    }
    draw(2); /* the next child is to have other chances */
    sim.child_number = (int)++children;
    child_serve();
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        failed("no child could be forked");
    } else if (status != 0) {
        failed("a forked child ended with status %x (9: it waits for a lock forever)",
               (unsigned)status);
    }
    sim.now =
        log->now; /* else the clocks of the parent would show an earlier time, and nobody set them back */
    for (unsigned i = 0; i < log->count && !sim.failed; i++) {
        sim_maker *maker = log->issued[i].maker;
        const firn_time yesterday = {(NOON - DAY) / SECOND, 0};
        if (log->issued[i].integer) {
            judge_integers(maker, -1, (int64_t)log->issued[i].id.low, 1);
        } else if (log->issued[i].backdated) {
            judge_backdated(maker, &yesterday, &log->issued[i].id, 1);
        } else {
            judge_child(maker, &log->issued[i].id);
        }
    }
    for (int k = 0; k < HELD; k++) {
        if (log->left && me->makers[k] != NULL && me->makers[k]->group != NULL) {
            me->makers[k]->group->leaves++;
        }
    }
    sim.child_number = 0;
    munmap(log, sizeof *log);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void work(sim_process *me) {
    unsigned calls = sim.storm ? 2 + (unsigned)draw(8) : 5 + (unsigned)draw(25);
    unsigned backdating = !sim.storm && chance(300) ? 150 : 0;
    for (unsigned i = 0; i < calls && !sim.failed; i++) {
        sim_maker *maker = me->makers[draw(HELD)];
        fiber_point();
        if (maker == NULL || (maker->gen == NULL && maker->range == NULL)) {
            continue;
        }
        if (chance(40) || (maker->gen != NULL && maker->gen->has_renewer && chance(300))) {
            step(maker);
        } else if (maker->range != NULL) {
            take_integers(maker);
        } else if (chance(10)) {
            do_job(maker);
        } else if (chance(backdating)) {
            back_date(maker);
        } else {
            do { /* often at the same time, where a reading is used again */
                issue(maker);
            } while (maker->gen->cycles && chance(800) && !sim.failed);
        }
        if (chance(sim.forks)) {
            fork_now(me);
        }
        if (chance(250)) {
            fiber_sleep(draw_span(20 * sim.pace));
        }
    }
}

static void worker(sim_process *me) {
    work(me);
    me->workers--;
}

static void close_all(sim_process *me) {
    for (int i = 0; i < HELD; i++) {
        sim_maker *maker = me->makers[i];
        if (maker == NULL) {
            continue;
        }
        firn_gen *gen = maker->gen;
        firn_segment *range = maker->range;
        sim.fiber->calls_in_call = 0;
        note("g%d: close", (int)(maker - sim.makers));
        firn_close(gen, NULL);
        firn_segment_close(range, NULL);
        maker->gen = NULL;
        maker->range = NULL;
        sim.counts.closed++;
    }
}

static void main_thread(sim_process *me) {
    open_all(me);
    int workers = me->workers, started = 0;
    while (started < workers && fiber_start(me, worker)) {
        started++;
    }
    me->workers = started;
    work(me);
    while (me->workers > 0 && !sim.failed) {
        fiber_sleep(1 + draw_span(sim.pace));
    }
    me->workers = workers;
    close_all(me);
    process_free(me);
    if (--me->lives > 0) {
        fiber_sleep(chance(500) ? 0 : draw_span(20 * sim.pace));
        process_begin(me);
    }
}

void process_begin(sim_process *process) {
    for (int i = 0; i < HELD; i++) {
        process->makers[i] = NULL;
    }
    fiber_start(process, main_thread);
}

/* Frees without giving back: as the kernel does. The address space of the object that a thread was
 * about to open is lost until this program ends. */
void process_free(sim_process *process) {
    for (int i = 0; i < HELD; i++) {
        sim_maker *gone = process->makers[i];
        process->makers[i] = NULL;
        if (gone == NULL) {
            continue;
        }
        gone->dead = true;
        if (gone->gen != NULL) {
            firn__gen_dispose(gone->gen);
        }
        free(gone->range); /* its shelf, a page, is lost */
        firn_store_close(gone->link);
        gone->gen = NULL;
        gone->range = NULL;
        gone->link = NULL;
    }
}

void process_crash(sim_process *process) {
    bool lives = false;
    for (unsigned i = 0; i < FIBERS; i++) {
        lives |= sim.fibers[i].used && sim.fibers[i].process == process;
    }
    if (!lives) {
        return;
    }
    note("p%d crashes", (int)(process - sim.processes));
    sim.counts.crashes++;
    fiber_drop_all(process);
    together_crash(process);
    process_free(process);
    if (process->workers < 0) {
        process->workers = 0;
    }
    if (chance(300)) {
        machine_step(process->machine, chance(500) ? -HOUR : -draw_span(SECOND));
    }
    if (--process->lives > 0) {
        process->paused_until = sim.now + draw_span(20 * sim.pace);
        process_begin(process);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

void life_event(void) {
    sim_process *somebody = &sim.processes[draw(sim.process_count)];
    if (chance(sim.clock_faults)) {
        machine_disturb(&sim.machines[draw(sim.machine_count)]);
    }
    sim_process *doomed = together_doomed();
    if (doomed != NULL) {
        process_crash(doomed);
    } else if (chance(sim.crashes)) {
        process_crash(somebody);
    }
    if (chance(sim.pauses)) {
        sim.counts.pauses++;
        somebody->paused_until = sim.now + draw_span(chance(50) ? HOUR : 200 * sim.pace);
        note("p%d is paused", (int)(somebody - sim.processes));
    }
    if (chance(sim.outages)) {
        sim.outage_until = sim.now + draw_span(50 * sim.pace);
        note("the store is out");
    }
    if (chance(sim.restores)) {
        if (sim.backup == NULL) {
            wire_backup();
        } else if (!sim.back && chance(300)) {
            wire_restore();
        }
    }
    if (chance(sim.late)) {
        wire_deliver();
    }
}
