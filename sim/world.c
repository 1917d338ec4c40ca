/* SPDX-License-Identifier: MIT */
/* Chance, true time and what clocks make of it. The only source of randomness of a run, so that a
 * seed replays it. */
#include "sim.h"

#include "processor.h"

#include <sys/random.h>

world sim;

/* ---- chance ---------------------------------------------------------------------------------- */

static uint64_t word(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint64_t draw(uint64_t below) {
    return word(&sim.random) % below;
}

bool chance(unsigned per_thousand) {
    return per_thousand > 0 && draw(1000) < per_thousand;
}

int64_t draw_span(int64_t most_ns) {
    int64_t most = most_ns;
    for (uint64_t halvings = draw(12); halvings > 0 && most > 1; halvings--) {
        most /= 3;
    }
    return (int64_t)draw((uint64_t)most + 1);
}

/* Replaces the system's function and the processor's noise, so that a trace is the same to the last
 * digit. */
firn__noise __wrap_firn__processor_noise(void);
firn__noise __wrap_firn__processor_noise(void) {
    return (firn__noise){word(&sim.system), word(&sim.system)};
}

ssize_t getrandom(void *buffer, size_t length, unsigned flags) {
    uint8_t *bytes = buffer;
    (void)flags;
    for (size_t i = 0; i < length; i++) {
        bytes[i] = (uint8_t)word(&sim.system);
    }
    return (ssize_t)length;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_line(FILE *out, const char *format, va_list arguments) {
    int64_t since = sim.now - NOON;
    fprintf(out, "%10.6f ", (double)since / 1e6);
    if (sim.fiber != NULL) {
        fprintf(out, "p%d.t%u ", (int)(sim.fiber->process - sim.processes), fiber_index());
    }
    vfprintf(out, format, arguments);
    fputc('\n', out);
}

void note(const char *format, ...) {
    va_list arguments;
    if (!sim.trace || sim.child) {
        return;
    }
    va_start(arguments, format);
    put_line(stdout, format, arguments);
    va_end(arguments);
}

void failed(const char *format, ...) {
    va_list arguments;
    if (sim.failed) {
        return;
    }
    sim.failed = true;
    printf("seed %llu: ", (unsigned long long)sim.seed);
    va_start(arguments, format);
    put_line(stdout, format, arguments);
    va_end(arguments);
    fflush(stdout);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

int64_t machine_wall(const sim_machine *machine) {
    int64_t passed = machine->frozen ? 0 : sim.now - machine->since;
    return machine->wall_base + passed + passed / 1000 * machine->rate_ppm / 1000;
}

static void rebase(sim_machine *machine) {
    machine->wall_base = machine_wall(machine);
    machine->since = sim.now;
    machine->touched = sim.now;
}

void machine_step(sim_machine *machine, int64_t by_ns) {
    rebase(machine);
    machine->wall_base += by_ns;
    sim.counts.clock_steps++;
    note("clock %d steps by %+.6f ms", (int)(machine - sim.machines), (double)by_ns / 1e6);
}

void machine_disturb(sim_machine *machine) {
    static const int64_t spans[] = {MICRO,      10 * MICRO, 100 * MICRO, MILLI,      3 * MILLI,
                                    10 * MILLI, 50 * MILLI, SECOND,      6 * SECOND, 60 * SECOND,
                                    HOUR,       DAY,        YEAR};
    int64_t span = spans[draw(sizeof spans / sizeof spans[0])];
    span += draw_span(span);
    switch (draw(8)) {
    case 0:
        rebase(machine);
        machine->frozen = !machine->frozen;
        note("clock %d is %s", (int)(machine - sim.machines),
             machine->frozen ? "frozen" : "running");
        break;
    case 1:
        rebase(machine);
        machine->rate_ppm = (int64_t)draw(400001) - 200000;
        note("clock %d drifts by %lld ppm", (int)(machine - sim.machines),
             (long long)machine->rate_ppm);
        break;
    case 2: /* a virtual machine that was held still: its steady clock has missed it */
        machine->steady_lag += draw_span(10 * SECOND);
        machine->steady_lag =
            machine->steady_lag > sim.now - NOON ? sim.now - NOON : machine->steady_lag;
        machine->touched = sim.now;
        break;
    default:
        machine_step(machine, chance(600) ? -span : span);
    }
}

/* ---- one run --------------------------------------------------------------------------------- */

static unsigned perhaps(unsigned per_thousand) {
    return chance(500) ? (unsigned)draw(per_thousand + 1) : 0;
}

void world_make(uint64_t seed) {
    static const unsigned switch_rates[] = {50, 200, 500, 900}, preempt_rates[] = {0, 0, 20, 150};
    static const int64_t paces[] = {20 * MICRO, MILLI, 5 * MILLI, 40 * MILLI, SECOND};
    sim.seed = seed;
    sim.random = seed * 0x2545f4914f6cdd1d + 1;
    sim.system = ~sim.random;
    sim.failed = sim.child = false;
    sim.now = NOON;
    sim.steps = 0;
    sim.most_steps = 500;
    sim.fiber = NULL;
    sim.maker_count = 0;
    sim.outage_until = 0;
    memset(sim.letters, 0, sizeof sim.letters);
    for (unsigned i = 0; i < FIBERS; i++) {
        sim.fibers[i].used = false;
    }
    sim.pace = paces[draw(5)];
    sim.switches = switch_rates[draw(4)];
    sim.preempts = preempt_rates[draw(4)];
    sim.clock_faults = perhaps(25);
    sim.crashes = perhaps(20);
    sim.pauses = perhaps(20);
    sim.lost = perhaps(300);
    sim.repeats = perhaps(400);
    static const unsigned late_rates[] = {0, 30, 100, 300};
    sim.late = late_rates[draw(4)];
    sim.outages = perhaps(8);
    sim.entropy_fails = chance(100) ? 10 : 0;
    sim.forks = chance(15) ? 60 : 0;
    sim.storm = chance(100);
    if (sim.storm) {
        sim.clock_faults = sim.crashes = sim.pauses = sim.lost = sim.outages = 0;
        sim.repeats = 800;
        sim.late = 300;
        sim.pace = 100 * MICRO;
    }
    sim.backup = NULL;
    sim.back = false;
    /* The guard of a restored store protects the grants that it forgot, with any clocks of its
     * users. Nobody is paused between reading the store's clock and the call. */
    sim.is_long = !sim.storm && chance(100);
    sim.restores = !sim.storm && chance(sim.is_long ? 600 : 100) ? 40 : 0;
    if (sim.is_long && sim.restores > 0) {
        sim.pace = 10 * SECOND; /* a run then outlasts the guard of short windows */
    }
    if (sim.restores > 0) {
        sim.pauses = 0;
    }
    sim.machine_count = 1 + (unsigned)draw(MACHINES);
    for (unsigned i = 0; i < sim.machine_count; i++) {
        int64_t off = chance(500) ? draw_span(HOUR) - draw_span(HOUR) : draw_span(20 * MILLI);
        off = sim.restores > 0 && chance(800) ? draw_span(4 * SECOND) - 2 * SECOND : off;
        sim.machines[i] = (sim_machine){.wall_base = NOON + off, .since = NOON};
    }
    firn_error error;
    if (firn_store_open(&sim.store, "memory:", NULL, &error) != FIRN_OK) {
        abort();
    }
    judge_clear();
    together_clear();
    life_plan();
}

void world_free(void) {
    for (unsigned i = 0; i < sim.process_count; i++) {
        process_free(&sim.processes[i]);
    }
    firn_store_close(sim.store);
    firn_store_close(sim.backup);
}
