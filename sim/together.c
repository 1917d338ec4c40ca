/* SPDX-License-Identifier: MIT */
/* A generator that several processes of one machine share (firn_config.shared): its memory, its
 * robust lock, and which process belongs to it. To the judge its processes are one maker. A process
 * dies between any two atomic operations. */
#include "sim.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEAD (-1) /* in the first word of the lock: its holder has died */

static struct {
    void *memory; /* also a forked child's */
    bool planned; /* of this run */
    sim_machine *machine;
    unsigned space;
    char keys[64];       /* that all its processes give */
    sim_maker *group;    /* what the judge knows them as; NULL: the memory is zeros */
    int *lock;           /* its first word */
    sim_process *holder; /* NULL: nobody, or a forked child */
    unsigned deadly;     /* how often a holder dies at one of its steps, per thousand */
    sim_process *doomed; /* dies before anybody else's turn */
    bool dead, settled; /* its last holder died; the one after it called pthread_mutex_consistent */
} common;

void together_plan(sim_machine *machine, unsigned space) {
    if (common.memory == NULL) {
        common.memory = mmap(NULL, firn_shared_size(), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (common.memory == MAP_FAILED) {
            abort();
        }
    }
    common.planned = true;
    common.machine = machine;
    common.space = space;
    common.group = NULL;
    static const unsigned rates[] = {0, 5, 30};
    common.deadly = rates[draw(3)];
}

void together_clear(void) {
    common.planned = false;
    common.holder = common.doomed = NULL;
    common.dead = common.settled = false;
}

static bool is_used(void) {
    for (unsigned i = 0; i < sim.process_count; i++) {
        for (int k = 0; k < HELD; k++) {
            const sim_maker *maker = sim.processes[i].makers[k];
            if (maker != NULL && maker->group == common.group) {
                return true;
            }
        }
    }
    return false;
}

/* Zeros, as after the machine started again. */
static bool begin_anew(const sim_process *owner, unsigned nodes) {
    sim_maker *group = maker_new(owner);
    if (group == NULL) {
        return false;
    }
    firn_store_close(group->link); /* each process has its own */
    group->link = NULL;
    memset(common.memory, 0, firn_shared_size());
    common.group = group;
    common.keys[0] = '\0';
    if (nodes > 0 && chance(350)) {
        snprintf(common.keys, sizeof common.keys, " node=%d", (int)draw(nodes));
    }
    if (chance(300)) {
        static const char *const backs[] = {" back=wait", " back=fail", " back=leave"};
        strcat(common.keys, backs[draw(3)]);
    }
    if (chance(200)) {
        strcat(common.keys, chance(500) ? " full=wait" : " full=fail");
    }
    note("g%d is shared:%s", (int)(group - sim.makers), common.keys);
    return true;
}

const char *together_join(const sim_process *owner, sim_maker *maker, unsigned space,
                          unsigned nodes, firn_config *config) {
    if (!common.planned || common.space != space || common.machine != owner->machine ||
        chance(100)) {
        return NULL;
    }
    if ((common.group == NULL || (!is_used() && chance(300))) && !begin_anew(owner, nodes)) {
        return NULL;
    }
    maker->group = common.group;
    maker->strict = maker->group->strict = true;
    config->shared = common.memory;
    config->shared_size = firn_shared_size();
    sim.counts.joined++;
    return common.keys;
}

/* ---- the lock -------------------------------------------------------------------------------- */

static bool is_common(const void *mutex) {
    return common.planned && (uintptr_t)mutex - (uintptr_t)common.memory < firn_shared_size();
}

int together_locked(int *word) {
    if (!is_common(word)) {
        return 0;
    }
    bool died = *word == DEAD;
    common.lock = word;
    common.holder = sim.child ? NULL : sim.fiber->process;
    common.dead = died;
    common.settled = false;
    return died ? EOWNERDEAD : 0;
}

void together_unlocked(const int *word) {
    if (is_common(word)) {
        common.holder = NULL;
        if (common.dead && !common.settled) {
            failed("a lock whose holder died is unlocked, but was not made consistent");
        }
        common.dead = false;
    }
}

bool together_is_free(const int *word) {
    return *word == 0 || (*word == DEAD && is_common(word));
}

int pthread_mutex_consistent(pthread_mutex_t *mutex) {
    (void)mutex;
    common.settled = true;
    return common.dead ? 0 : EINVAL;
}

void together_crash(const sim_process *process) {
    if (common.group == NULL) {
        return;
    }
    for (int k = 0; k < HELD; k++) {
        if (process->makers[k] != NULL && process->makers[k]->group == common.group &&
            process->machine->touched >= common.group->opened) {
            common.group->leaves++; /* a process may have left a node and died unheard */
        }
    }
    if (common.holder == process) {
        common.holder = NULL;
        *common.lock = DEAD;
        sim.counts.holders_died++;
    }
}

bool together_kills(void) {
    if (!common.planned || common.holder != sim.fiber->process || !chance(common.deadly)) {
        return false;
    }
    common.doomed = common.holder;
    return true;
}

sim_process *together_doomed(void) {
    sim_process *doomed = common.doomed;
    common.doomed = NULL;
    return doomed;
}

/* ---- who is alive: for the process that prepares the lock ------------------------------------ */

long syscall(long number, ...) {
    if (number != SYS_gettid || sim.fiber == NULL) {
        abort();
    }
    const sim_process *me = sim.fiber->process;
    return 1000 + 100 * (me - sim.processes) + me->lives;
}

int kill(pid_t thread, int signal) {
    (void)signal;
    unsigned index = (unsigned)(thread - 1000) / 100;
    if (index < sim.process_count && sim.processes[index].lives == (thread - 1000) % 100) {
        return 0;
    }
    errno = ESRCH;
    return -1;
}
