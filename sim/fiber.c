/* SPDX-License-Identifier: MIT */
/* Simulated threads: fibers, each with its own stack, that switch at every lock, pause and store
 * call, as one seed decides. Replaces pthread_mutex_*, so that libfirn's own locks are such points;
 * knows nothing of generators. */
#include "preempt.h"
#include "sim.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK       (128 * 1024)
#define CALL_POINTS 100000 /* places passed in one call: more is a call that never ends */

static ucontext_t home; /* the scheduler's */

/* ---- what is thread-local -------------------------------------------------------------------- */

static struct {
    void *start;
    size_t size;
} locals;

/* The program itself comes first, and libfirn is a part of it. */
static int find_locals(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            locals.start = info->dlpi_tls_data;
            locals.size = info->dlpi_phdr[i].p_memsz;
        }
    }
    return 1;
}

void fibers_make(void) {
    dl_iterate_phdr(find_locals, NULL);
    for (unsigned i = 0; i < FIBERS; i++) {
        sim_fiber *fiber = &sim.fibers[i];
        fiber->stack =
            mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        fiber->locals = calloc(1, locals.size + 1);
        if (fiber->stack == MAP_FAILED || fiber->locals == NULL) {
            abort();
        }
        memcpy(fiber->locals, locals.start, locals.size); /* as each thread finds them */
    }
}

/* ---- turns ----------------------------------------------------------------------------------- */

unsigned fiber_index(void) {
    return sim.fiber == NULL ? FIBERS : (unsigned)(sim.fiber - sim.fibers);
}

static void give_turn_away(void) {
    sim_fiber *me = sim.fiber;
    memcpy(me->locals, locals.start, locals.size);
    swapcontext(&me->context, &home);
}

static void take_turn(sim_fiber *fiber) {
    memcpy(locals.start, fiber->locals, locals.size);
    sim.fiber = fiber;
    swapcontext(&home, &fiber->context);
    sim.fiber = NULL;
}

static void body(void) {
    sim_fiber *me = sim.fiber;
    me->run(me->process);
    me->used = false;
    give_turn_away();
}

bool fiber_start(sim_process *process, void (*run)(sim_process *)) {
    for (unsigned i = 0; i < FIBERS; i++) {
        sim_fiber *fiber = &sim.fibers[i];
        if (!fiber->used && fiber != sim.fiber) {
            fiber->used = true;
            fiber->process = process;
            fiber->run = run;
            fiber->wake = 0;
            fiber->waits = NULL;
            getcontext(&fiber->context);
            fiber->context.uc_stack.ss_sp = fiber->stack;
            fiber->context.uc_stack.ss_size = STACK;
            fiber->context.uc_link = NULL;
            makecontext(&fiber->context, body, 0);
            return true;
        }
    }
    return false;
}

void fiber_drop_all(const sim_process *process) {
    for (unsigned i = 0; i < FIBERS; i++) {
        if (sim.fibers[i].process == process) {
            sim.fibers[i].used = false;
        }
    }
}

void fiber_point(void) {
    if (sim.fiber == NULL || sim.child || sim.whole) {
        return;
    }
    if (++sim.fiber->calls_in_call > CALL_POINTS) {
        failed("a call does not end");
    }
    if (chance(sim.switches) || sim.failed) {
        give_turn_away();
    }
}

/* Before each atomic operation of the core (preempt.h). */
void sim_preempt(void) {
    if (sim.fiber == NULL || sim.child || sim.whole) {
        return;
    }
    if (together_kills()) {
        give_turn_away();
    }
    if (sim.preempts == 0) {
        return;
    }
    if (++sim.fiber->calls_in_call > CALL_POINTS) {
        failed("a call does not end");
    }
    if (chance(sim.preempts) || sim.failed) {
        sim.counts.preempted++;
        give_turn_away();
    }
}

bool sim_after(bool value) {
    sim_preempt();
    return value;
}

bool sim_spurious(void) {
    sim_preempt();
    return sim.fiber != NULL && !sim.child && sim.preempts > 0 && chance(30);
}

void fiber_sleep(int64_t ns) {
    if (sim.fiber == NULL || sim.child) {
        sim.now += ns;
        return;
    }
    if (++sim.fiber->calls_in_call > CALL_POINTS) {
        failed("a call does not end");
    }
    sim.fiber->wake = sim.now + ns;
    give_turn_away();
}

static bool may_run(const sim_fiber *fiber) {
    return fiber->used && fiber->wake <= sim.now && fiber->process->paused_until <= sim.now &&
           (fiber->waits == NULL || *fiber->waits == 0);
}

/* When the first of them may run; INT64_MAX: none will. */
static int64_t next_wake(void) {
    int64_t first = INT64_MAX;
    for (unsigned i = 0; i < FIBERS; i++) {
        const sim_fiber *fiber = &sim.fibers[i];
        if (fiber->used && (fiber->waits == NULL || *fiber->waits == 0)) {
            int64_t wake = fiber->wake > fiber->process->paused_until
                               ? fiber->wake
                               : fiber->process->paused_until;
            first = wake < first ? wake : first;
        }
    }
    return first;
}

static sim_fiber *pick(unsigned *left) {
    sim_fiber *able[FIBERS];
    unsigned count = 0;
    *left = 0;
    for (unsigned i = 0; i < FIBERS; i++) {
        *left += sim.fibers[i].used;
        if (may_run(&sim.fibers[i])) {
            able[count++] = &sim.fibers[i];
        }
    }
    return count == 0 ? NULL : able[draw(count)];
}

void fibers_run(void) {
    unsigned left;
    for (; !sim.failed; sim.steps++) {
        if (sim.steps > sim.most_steps) {
            sim.counts.cut_short++;
            return;
        }
        life_event();
        sim_fiber *next = pick(&left);
        if (left == 0) {
            return;
        }
        if (next != NULL) {
            take_turn(next);
            sim.now += chance(400) ? draw_span(sim.pace) : 0;
        } else if (next_wake() == INT64_MAX) {
            failed("every thread waits for a lock");
        } else if (next_wake() > sim.now) {
            sim.now = next_wake();
        }
    }
}

/* ---- locks: the first word is the holder, 0 nobody, also after a fork wiped the page --------- */

static int lock(pthread_mutex_t *mutex, bool wait) {
    int *word = (int *)(void *)mutex;
    fiber_point();
    while (!together_is_free(word)) {
        if (!wait) {
            return 16; /* EBUSY */
        }
        if (sim.fiber == NULL || sim.child) {
            _exit(9); /* held by a thread that is not there: a hang */
        }
        sim.fiber->waits = word;
        give_turn_away();
        sim.fiber->waits = NULL;
    }
    int code = together_locked(word);
    *word = 1;
    return code;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    return lock(mutex, true);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    return lock(mutex, false);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    int *word = (int *)(void *)mutex;
    together_unlocked(word);
    *word = 0;
    fiber_point();
    return 0;
}
