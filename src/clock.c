/* SPDX-License-Identifier: MIT */
/* Clocks: the system's readings, the cycle counter's trustworthiness, and the judgement of steps
 * and jumps. Integers only; what a step means for slots is present.c's. */
#include "clock.h"

#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
static bool counter_invariant(void) {
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}
#elif defined(__aarch64__)
static bool counter_invariant(void) {
    return true; /* the generic timer, by its architecture */
}
#else
static bool counter_invariant(void) {
    return false;
}
#endif

bool firn__cycles_constant(void) {
    char name[32] = "";
    const char *path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    FILE *file = counter_invariant() ? fopen(path, "re") : NULL;
    if (file == NULL) {
        return false;
    }
    bool read = fgets(name, sizeof name, file) != NULL;
    fclose(file);
    /* the kernel itself keeps time by the counter, so it has found it even between cores */
    return read && (strcmp(name, "tsc\n") == 0 || strcmp(name, "kvm-clock\n") == 0 ||
                    strcmp(name, "arch_sys_counter\n") == 0);
}

static int read_clock(clockid_t id, firn_time *now) {
    struct timespec reading;
    if (clock_gettime(id, &reading) != 0) {
        return FIRN_ECLOCK;
    }
    now->sec = reading.tv_sec;
    now->ns = (int32_t)reading.tv_nsec;
    return FIRN_OK;
}

static int system_wall(void *self, firn_time *now) {
    (void)self;
    return read_clock(CLOCK_REALTIME, now);
}

static int system_steady(void *self, int64_t *ns) {
    firn_time now;
    (void)self;
    int code = read_clock(CLOCK_BOOTTIME, &now);
    *ns = code == FIRN_OK ? now.sec * 1000000000 + now.ns : 0;
    return code;
}

static int system_pause(void *self, int64_t ns) {
    struct timespec rest = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    (void)self;
    return nanosleep(&rest, NULL) == 0 || errno == EINTR ? FIRN_OK : FIRN_ECLOCK;
}

const firn_clock firn__clock_system = {
    .version = 1, .wall = system_wall, .steady = system_steady, .pause = system_pause};

int64_t firn__time_since(const firn_time *a, const firn_time *b) {
    const int64_t most = INT64_C(9200000000);
    int64_t sec;
    if (__builtin_sub_overflow(a->sec, b->sec, &sec) || sec > most || sec < -most) {
        return firn_time_cmp(a, b) < 0 ? -most * 1000000000 : most * 1000000000;
    }
    return sec * 1000000000 + (a->ns - b->ns);
}

firn_time firn__time_after(const firn_time *time, int64_t ns) {
    int64_t sum = time->ns + ns % 1000000000;
    int64_t carry = sum < 0 ? -1 : sum / 1000000000;
    return (firn_time){time->sec + ns / 1000000000 + carry, (int32_t)(sum - carry * 1000000000)};
}

/* ---- the watch ------------------------------------------------------------------------------- */

#define JUMP_NS    INT64_C(5000000000) /* further ahead than this is doubted */
#define BELIEVE_NS INT64_C(2000000000) /* and believed after it has held this long */
#define NEAR_NS    INT64_C(1000000000) /* "held": still within this of where it jumped to */
#define TRUST_S    4                   /* readings this far beyond the anchor are not judged */

static void anchor(firn__watch *watch, const firn_time *wall, int64_t steady) {
    watch->anchored = true;
    watch->wall = *wall;
    watch->steady = steady;
    watch->behind = watch->ahead = false;
    atomic_store_explicit(&watch->trusted_s, wall->sec + TRUST_S, memory_order_relaxed);
}

static uint64_t one_more(_Atomic uint64_t *count) {
    return atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

/* The wall clock is more than 5 s later than the anchor plus the steady clock's time since. */
static void judge_ahead(firn__watch *watch, firn_time *wall, int64_t steady, int64_t deviation) {
    bool held = watch->ahead && deviation - watch->deviation < NEAR_NS &&
                watch->deviation - deviation < NEAR_NS;
    if (!held) {
        one_more(&watch->jumped);
        watch->ahead = true;
        watch->since = steady;
        watch->deviation = deviation;
    }
    if (held && steady - watch->since >= BELIEVE_NS) {
        anchor(watch, wall, steady);
        return;
    }
    *wall = firn__time_after(&watch->wall, steady - watch->steady);
}

/* The wall clock is earlier than that sum. If by more than back_ns, this is a step back. */
static void judge_behind(firn__watch *watch, const firn_time *wall, int64_t steady,
                         int64_t deviation, int64_t back_ns) {
    watch->ahead = false;
    if (deviation < -back_ns) {
        one_more(&watch->stepped);
        anchor(watch, wall, steady);
        return;
    }
    if (!watch->behind || deviation < watch->deviation - back_ns / 1000) {
        one_more(&watch->absorbed);
        watch->behind = true;
        watch->since = steady;
        watch->deviation = deviation;
    } else if (steady - watch->since >= -deviation) {
        anchor(watch, wall, steady); /* by now the clock has passed where it once was */
    }
}

/* Is this a valid reading of the caller's clock? Sums with such seconds do not overflow. */
static bool is_instant(const firn_time *wall) {
    return wall->ns >= 0 && wall->ns < 1000000000 && wall->sec > INT64_MIN / 2 &&
           wall->sec < INT64_MAX / 2;
}

int firn__clock_refused(const firn_clock *clock, firn_error *error) {
    return clock->wall == system_wall
               ? firn__fail(error, FIRN_ECLOCK,
                            "the system's clock cannot be read: check what forbids clock_gettime "
                            "to this process (a seccomp filter, a preloaded library)")
               : firn__fail(error, FIRN_ECLOCK,
                            "the caller's clock fails or gives no instant: its functions must "
                            "return 0 and set sec, and ns from 0 to 999999999");
}

#define SLIP_NS INT64_C(1000000) /* two readings are not taken at one instant */

int firn__watch_judge(firn__watch *watch, const firn_clock *clock, int64_t back_ns, firn_time *wall,
                      uint64_t *steps, firn_error *error) {
    int64_t steady;
    int code;
    pthread_mutex_lock(&watch->lock);
    /* Both again, under the lock: a thread that slept since its reading must not look like a step
     * back. */
    code = clock->wall(clock->self, wall);
    if (code == FIRN_OK && !is_instant(wall)) {
        code = FIRN_ECLOCK;
    }
    if (code == FIRN_OK) {
        code = clock->steady(clock->self, &steady);
    }
    if (code == FIRN_OK && !watch->anchored) {
        anchor(watch, wall, steady);
    } else if (code == FIRN_OK) {
        firn_time expected = firn__time_after(&watch->wall, steady - watch->steady);
        int64_t deviation = firn__time_since(wall, &expected);
        if (deviation > JUMP_NS) {
            judge_ahead(watch, wall, steady, deviation);
        } else if (deviation < -SLIP_NS) {
            judge_behind(watch, wall, steady, deviation, back_ns);
        } else {
            anchor(watch, wall, steady);
        }
    }
    *steps = atomic_load_explicit(&watch->stepped, memory_order_relaxed);
    pthread_mutex_unlock(&watch->lock);
    return code == FIRN_OK ? code : firn__clock_refused(clock, error);
}

#define LEARN_NS   INT64_C(2000000)    /* a rate is measured over this at least, */
#define RELEARN_NS INT64_C(1000000000) /* and one that is known is checked over this */

static void measure_from(firn__watch *watch, int64_t steady, uint64_t cycles) {
    watch->cycles_steady = steady;
    watch->cycles = cycles;
}

/* After a virtual machine moves to another host, the counter may run at another rate. A measured rate that
 * differs from the known one by more than an eighth may be an average of both, so no reading is used
 * again until the new rate was measured alone. */
void firn__watch_learn(firn__watch *watch, const firn_clock *clock, uint64_t (*counter)(void),
                       int64_t stale_us) {
    int64_t steady;
    pthread_mutex_lock(&watch->lock);
    /* The order of readings errs to a slower counter, so to a shorter life: steady before cycles
     * where a measurement begins, cycles before steady where it ends. */
    uint64_t cycles = counter(),
             known = atomic_load_explicit(&watch->stale_cycles, memory_order_relaxed);
    if (clock->steady(clock->self, &steady) != FIRN_OK) {
        pthread_mutex_unlock(&watch->lock);
        return;
    }
    int64_t passed = steady - watch->cycles_steady;
    uint64_t ran = cycles - watch->cycles;
    if (watch->cycles_steady == 0 || passed < 0 || ran == 0 || ran > UINT64_MAX / 32) {
        atomic_store_explicit(&watch->stale_cycles, 0, memory_order_relaxed);
        measure_from(watch, steady, counter());
    } else if (passed >= (known == 0 ? LEARN_NS : RELEARN_NS)) {
        uint64_t rate = ran * 16 / (uint64_t)(passed / 1000), stale = 0;
        if (rate <= UINT64_MAX / (uint64_t)stale_us) { /* else it does not count cycles */
            stale = rate * (uint64_t)stale_us / 16;
            stale -= stale / 16;
        }
        bool same = known == 0 || (stale <= known + known / 8 && stale >= known - known / 8);
        atomic_store_explicit(&watch->stale_cycles, same ? stale : 0, memory_order_relaxed);
        measure_from(watch, steady, counter());
    }
    pthread_mutex_unlock(&watch->lock);
}
