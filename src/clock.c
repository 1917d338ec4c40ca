/* SPDX-License-Identifier: MIT */
/* Clocks: the system's readings, the cycle counter's trustworthiness, and the judgement of steps
 * and jumps. Integers only; what a step means for slots is now.c's. */
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
    *ns = code == FIRN_OK ? (int64_t)((uint64_t)now.sec * 1000000000 + (uint64_t)now.ns) : 0;
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
#define SLIP_NS    INT64_C(1000000)    /* the last use is known to about a ms */
#define TRUST_S    4                   /* readings this far beyond the anchor are not judged */

static firn_time later_of(const firn_time *a, const firn_time *b) {
    return firn_time_cmp(a, b) < 0 ? *b : *a;
}

static uint64_t one_more(_Atomic uint64_t *count) {
    return atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

static void anchor(firn__watch *watch, const firn_time *wall, int64_t steady) {
    watch->anchored = true;
    watch->wall = *wall;
    watch->steady = steady;
    atomic_store_explicit(&watch->trusted_s, wall->sec + TRUST_S, memory_order_relaxed);
}

/* Anchors at a time that is used and that is not before the last one used. */
static void use(firn__watch *watch, const firn_time *wall, int64_t steady) {
    int64_t found = atomic_load_explicit(&watch->used, memory_order_relaxed);
    while (found < firn__time_brief(wall) &&
           !atomic_compare_exchange_weak_explicit(&watch->used, &found, firn__time_brief(wall),
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
    watch->last = *wall;
    watch->behind = false;
    anchor(watch, wall, steady);
}

/* The clock stepped back by more than back_ns: times used before do not count any more. */
static void step_back(firn__watch *watch, const firn_time *wall, int64_t steady) {
    one_more(&watch->stepped);
    atomic_store_explicit(&watch->used, firn__time_brief(wall), memory_order_relaxed);
    watch->last = *wall;
    watch->behind = false;
    anchor(watch, wall, steady);
}

/* The clock is further ahead of `expected` than a correction moves it. Until this has held for 2 s,
 * the expected time is used. */
static void doubt(firn__watch *watch, firn_time *wall, int64_t steady, const firn_time *expected) {
    int64_t deviation = firn__time_since(wall, expected);
    bool held = watch->ahead && deviation - watch->deviation < NEAR_NS &&
                watch->deviation - deviation < NEAR_NS;
    if (!held) {
        one_more(&watch->jumped);
        watch->ahead = true;
        watch->since = steady;
        watch->deviation = deviation;
    }
    if (held && steady - watch->since >= BELIEVE_NS) {
        watch->ahead = false;
    } else {
        *wall = *expected;
    }
    use(watch, wall, steady);
}

/* The one place where a reading is judged. A clock that stepped back shows a time before the last
 * reading that was used; a clock that jumped ahead, a time after both that reading and the time
 * that the steady clock has counted since the anchor. An anchor alone has not seen the steps
 * between two judgements. */
static void judge(firn__watch *watch, firn_time *wall, int64_t steady, const firn_time *used,
                  int64_t back_ns) {
    firn_time counted = firn__time_after(&watch->wall, steady - watch->steady),
              last = later_of(&watch->last, used);
    firn_time expected = later_of(&counted, &last);
    int64_t since = firn__time_since(wall, &last);
    if (firn__time_since(wall, &expected) > JUMP_NS) {
        doubt(watch, wall, steady, &expected);
        return;
    }
    watch->ahead = false;
    if (since < -back_ns) {
        step_back(watch, wall, steady);
    } else if (since < 0) {
        bool again = firn__time_since(wall, &counted) < -SLIP_NS;
        if (since < -SLIP_NS && (!watch->behind || again)) {
            one_more(&watch->absorbed);
            watch->behind = true;
        }
        watch->last = last;
        anchor(watch, wall, steady);
    } else {
        use(watch, wall, steady);
    }
}

#define LAST_S (INT64_C(1) << 52) /* sums with such seconds do not overflow, nor do brief times */

/* Is this a valid reading of the caller's clock? */
static bool is_instant(const firn_time *wall) {
    return wall->ns >= 0 && wall->ns < 1000000000 && wall->sec > -LAST_S && wall->sec < LAST_S;
}

int firn__clock_refused(const firn_clock *clock, firn_error *error) {
    return clock->wall == system_wall
               ? firn__fail(error, FIRN_ECLOCK,
                            "the system's clock cannot be read: check what forbids clock_gettime "
                            "to this process (a seccomp filter, a preloaded library)")
               : firn__fail(error, FIRN_ECLOCK,
                            "the caller's clock fails or has an invalid time: its functions must "
                            "return 0 and set sec, and ns from 0 to 999999999");
}

/* 2554-07-21: ns since 1970 wrap in 64 bits. A host whose steady clock is its wall clock
 * (WebAssembly) has no other bound. */
#define WRAP_S INT64_C(18446744073)

static int too_late(const firn_time *wall, firn_error *error) {
    char when[FIRN_TIME_SIZE];
    return firn_error_set(
        error, FIRN_ECLOCK, FIRN_CURE_FIX_CLOCK,
        "the system's clock shows %s, and firn issues nothing after 2554-07-21: set "
        "the clock",
        firn_time_format(when, wall, 0));
}

int firn__watch_judge(firn__watch *watch, const firn_clock *clock, int64_t back_ns, firn_time *wall,
                      uint64_t *steps, firn_error *error) {
    int64_t steady;
    int code;
    pthread_mutex_lock(&watch->lock);
    /* Before the clock is read, and both clocks under the lock: then neither a thread that slept
     * since its reading nor a later reading of another thread looks like a step back. */
    firn_time used = firn__time_of_brief(atomic_load_explicit(&watch->used, memory_order_acquire));
    if (*steps == atomic_load_explicit(&watch->stepped, memory_order_relaxed)) {
        used = later_of(&used, wall);
    }
    code = clock->wall(clock->self, wall);
    if (code == FIRN_OK && !is_instant(wall)) {
        code = FIRN_ECLOCK;
    }
    bool late = code == FIRN_OK && clock->wall == system_wall && wall->sec >= WRAP_S;
    if (code == FIRN_OK && !late) {
        code = clock->steady(clock->self, &steady);
    }
    if (code == FIRN_OK && !late && !watch->anchored) {
        atomic_store_explicit(&watch->used, firn__time_brief(wall), memory_order_relaxed);
        use(watch, wall, steady);
    } else if (code == FIRN_OK && !late) {
        judge(watch, wall, steady, &used, back_ns);
    }
    *steps = atomic_load_explicit(&watch->stepped, memory_order_relaxed);
    pthread_mutex_unlock(&watch->lock);
    return late              ? too_late(wall, error)
           : code == FIRN_OK ? code
                             : firn__clock_refused(clock, error);
}

#define LEARN_NS   INT64_C(2000000)    /* a rate is measured over this at least, */
#define RELEARN_NS INT64_C(1000000000) /* and one that is known is checked over this */

static void measure_from(firn__watch *watch, int64_t steady, uint64_t cycles) {
    watch->cycles_steady = steady;
    watch->cycles = cycles;
}

/* After a virtual machine moves to another host, the counter may run at another rate. A measured
 * rate that differs from the known one by more than an eighth may be an average of both, so no
 * reading is used again until the new rate was measured alone. */
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
