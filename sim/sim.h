/* SPDX-License-Identifier: MIT */
/* The simulation's one page of shared state: machines with clocks, processes, fibers in place of
 * threads, a network to a store, and a judge. Everything follows from `world.random`; nothing here
 * is real but the code of libfirn and fork(). */
#ifndef FIRN_SIM_H
#define FIRN_SIM_H

#include "gen.h"

#include <firn/firn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define MICRO  INT64_C(1000) /* ns */
#define MILLI  INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)
#define YEAR   (365 * DAY)
#define NOON   (INT64_C(1760000000) * SECOND) /* where time begins: a day in October 2025 */

#define MACHINES  3
#define PROCESSES 4
#define MAKERS    160 /* generators and ranges of one run, all incarnations */
#define HELD      2   /* of one process */
#define FIBERS    16
#define LETTERS   20
#define NODES     16 /* nodes whose last slot the judge remembers for a generator */
#define AT_MOST   40 /* IDs of one call */
#define SIM_JOBS  3
#define JOB_ROWS  12

/* ---- chance ---------------------------------------------------------------------------------- */

uint64_t draw(uint64_t below);      /* 0 .. below - 1; below >= 1 */
bool chance(unsigned per_thousand); /* true that often */
int64_t draw_span(int64_t most_ns); /* 0 .. most_ns, small ones as often as large ones */

/* ---- machines -------------------------------------------------------------------------------- */

/* A machine's clocks. */
typedef struct sim_machine {
    int64_t wall_base, since; /* wall was wall_base at world.now = since */
    int64_t rate_ppm;         /* how much too fast it runs */
    int64_t steady_lag;       /* what its steady clock has missed */
    bool frozen;
    int64_t touched; /* when it was last set: since then it is honest */
} sim_machine;

int64_t machine_wall(const sim_machine *machine);
void machine_disturb(sim_machine *machine); /* steps, freezes, thaws, drifts */
void machine_step(sim_machine *machine, int64_t by_ns);

/* ---- generators, as the judge knows them ----------------------------------------------------- */

/* The last IDs of a call, by which order is judged. */
typedef struct last_issue {
    bool any;
    unsigned leaves; /* how often a node had been left for a step back */
    uint64_t node, tick, count;
    firn_id id;
} last_issue;

/* A generator or a range of one incarnation of a process. */
typedef struct sim_maker {
    bool used, dead;
    struct sim_maker *group; /* of all that share the generator; NULL: it is not shared */
    int process;
    firn_gen *gen;
    firn_segment *range;
    firn_store *link; /* its own way to the store; self is this maker */
    char ns[FIRN_NS_SIZE];
    const char *canonical; /* IDs of two schemes are compared as this one's; NULL: as they are */
    bool strict;           /* ordering=strict and one node */
    bool thread;           /* ordering=thread */
    int64_t opened;        /* world.now */
    unsigned space;        /* which of the two that the run has */
    unsigned leaves;
    bool stays;                  /* the clock stepped back, and the time of IDs did not */
    last_issue last[FIBERS + 1]; /* of each fiber, and of all */
    struct {
        uint64_t node;
        int64_t slot;
    } nodes[NODES];
    unsigned node_count;
    int64_t last_integer;
    int64_t increment, offset;
} sim_maker;

/* ---- processes ------------------------------------------------------------------------------- */

typedef struct sim_process {
    sim_machine *machine;
    firn_clock clock;
    uint64_t entropy_state;
    firn_entropy seeded, entropy;
    sim_maker *makers[HELD];
    int lives;            /* incarnations left */
    int workers;          /* fibers besides the main one */
    int64_t paused_until; /* world.now */
} sim_process;

void process_begin(sim_process *process); /* a main fiber, which opens, works, closes */
void process_crash(
    sim_process *process); /* nothing is given back; another life begins if one is left */
void process_free(sim_process *process); /* the memory of its generators */

/* ---- shared generators ----------------------------------------------------------------------- */

/* Whom the judge holds responsible. */
static inline sim_maker *group_of(const sim_maker *maker) {
    return maker->group != NULL ? maker->group : (sim_maker *)(uintptr_t)maker;
}

sim_maker *maker_new(const sim_process *owner); /* NULL: there are too many */
void together_clear(void);                      /* before a run */
void together_plan(sim_machine *machine, unsigned space);
/* Perhaps makes `maker` one of those that share; their keys, or NULL: it does not. `nodes` to
 * choose a fixed one from. */
const char *together_join(const sim_process *owner, sim_maker *maker, unsigned space,
                          unsigned nodes, firn_config *config);
void together_crash(const sim_process *process); /* before its makers are freed */
/* The lock in the shared memory. */
bool together_is_free(const int *word);
int together_locked(int *word); /* EOWNERDEAD, or 0 */
void together_unlocked(const int *word);
bool together_kills(void);          /* the running process, at this step, if it holds the lock */
sim_process *together_doomed(void); /* once; NULL: nobody */

/* ---- fibers ---------------------------------------------------------------------------------- */

/* A thread of a process, in its own stack. */
typedef struct sim_fiber {
    ucontext_t context;
    void *stack, *locals; /* locals: what is thread-local in libfirn while it does not run */
    bool used;
    sim_process *process; /* NULL: free */
    void (*run)(sim_process *process);
    int64_t wake;           /* not before this */
    const int *waits;       /* for this lock word to become 0 */
    int64_t greatest_wall;  /* that it read in this call */
    unsigned calls_in_call; /* points passed in this call, to end runaway ones */
} sim_fiber;

bool fiber_start(sim_process *process, void (*run)(sim_process *process));
void fiber_drop_all(const sim_process *process);
void fiber_point(void);       /* here another thread may run */
void fiber_sleep(int64_t ns); /* others run until then */
void fibers_run(void);        /* until none is left, or the run has failed */
unsigned fiber_index(void);   /* of the running one; FIBERS outside */
void fibers_make(void);       /* once a program */

/* ---- the network ----------------------------------------------------------------------------- */

/* A request that is still under way, or a copy that will arrive once more. */
typedef struct sim_letter {
    bool used, give_back;
    sim_maker *sender;
    char ns[FIRN_NS_SIZE], layout[FIRN_LAYOUT_SIZE], key[FIRN_KEY_SIZE];
    firn_request request;
    firn_mark mine;
    int64_t high;
} sim_letter;

extern const firn_store_ops wire_ops; /* self is the maker */
void wire_deliver(void);              /* one letter, if there is any */
void wire_backup(void);               /* the store is copied, and */
void wire_restore(void);              /* put back as it was then */
/* Carries out a request as the store does, and informs the judge. */
int wire_carry_out(sim_maker *sender, const firn_request *request, int64_t *first, firn_mark *held);
int wire_carry_back(const char *ns, const char *key, const firn_mark *mine, int64_t high);

/* ---- a forked child's way to the store ------------------------------------------------------- */

bool child_begin(void); /* before the fork */
void child_serve(void); /* in the parent: until the child has ended */
void child_born(void);  /* in the child, where the verbs below are then asked of the parent */
int child_reserve(const sim_maker *sender, const firn_request *request, int64_t *first,
                  firn_mark *held);
int child_give_back(const sim_maker *sender, const char *ns, const char *key, const firn_mark *mine,
                    int64_t high);
int child_list(const sim_maker *sender, const char *ns, firn_visit *visit, void *context);

/* ---- the judge ------------------------------------------------------------------------------- */

/* The state when a call begins. */
typedef struct call {
    sim_maker *maker;
    last_issue before;
    unsigned leaves;
    int64_t wall;
    unsigned node_count;
    int64_t nodes[NODES];
} call;

void judge_clear(void);
void judge_granted(sim_maker *maker, const firn_request *request, int64_t first);
void judge_giving(sim_maker *sender, const char *ns, const char *key, int64_t high, int64_t end);
void judge_given(const char *ns, const char *key, int64_t high, int64_t end);
call judge_begin(sim_maker *maker);
void judge_issued(const call *made, const firn_id *ids, size_t n);
void judge_backdated(sim_maker *maker, const firn_time *instant, const firn_id *ids, size_t n);
void judge_integers(sim_maker *maker, int64_t before, int64_t first, int64_t count);
/* The first integer after all that were ever granted there. */
int64_t judge_end_of(const sim_maker *maker);
/* Nothing below `least` is reserved from now on. */
void judge_advanced(sim_maker *maker, int64_t least, int64_t next);
/* The k-th ID of a job: the same whenever the job is done again, and nobody else's. */
void judge_job(const sim_maker *maker, unsigned job, unsigned k, const firn_id *id);
/* IDs of a forked child: unique, from its own grants, and none of a fixed node. */
void judge_child(sim_maker *maker, const firn_id *id);

/* ---- steps of a clock ------------------------------------------------------------------------ */

/* A generator without a store, whose clock steps between its calls. */
void steps_run(void);

/* ---- the world ------------------------------------------------------------------------------- */

/* How often what happened: printed at the end, so that a simulation that does nothing is seen. */
#define COUNTS(X)                                                                                  \
    X(ids)                                                                                         \
    X(backdated)                                                                                   \
    X(jobs)                                                                                        \
    X(integers)                                                                                    \
    X(refused)                                                                                     \
    X(opened)                                                                                      \
    X(unopened)                                                                                    \
    X(closed)                                                                                      \
    X(crashes)                                                                                     \
    X(grants)                                                                                      \
    X(busy)                                                                                        \
    X(lost_requests)                                                                               \
    X(lost_replies)                                                                                \
    X(outages)                                                                                     \
    X(late)                                                                                        \
    X(late_granted)                                                                                \
    X(given_back)                                                                                  \
    X(clock_steps)                                                                                 \
    X(pauses)                                                                                      \
    X(restores)                                                                                    \
    X(forks)                                                                                       \
    X(child_ids)                                                                                   \
    X(joined)                                                                                      \
    X(shared_ids)                                                                                  \
    X(holders_died)                                                                                \
    X(preempted)                                                                                   \
    X(cut_short)                                                                                   \
    X(stepped_ids)

typedef struct counts {
#define SIM_X(name) uint64_t name;
    COUNTS(SIM_X)
#undef SIM_X
} counts;

typedef struct world {
    uint64_t seed, random, system; /* system: state of getrandom */
    bool trace, failed, child;
    int child_number;     /* of the child that is served or judged; 0: none */
    bool whole;           /* nobody else's turn now: the store does each verb in one step */
    bool storm;           /* of copies: short lives on one node, and nothing else goes wrong */
    bool is_long;         /* namespaces with nodes have reach=10min */
    bool plant_duplicate; /* the self-check: one ID is shown to the judge twice */
    int64_t now;          /* true time, ns since 1970 */
    int64_t pace;         /* how fast it passes, ns */
    sim_machine machines[MACHINES];
    sim_process processes[PROCESSES];
    unsigned process_count, machine_count;
    sim_maker makers[MAKERS];
    unsigned maker_count;
    sim_fiber fibers[FIBERS];
    sim_fiber *fiber; /* the running one; NULL: the scheduler */
    firn_store *store;
    sim_letter letters[LETTERS];
    firn_store *backup; /* what a restore puts in the store's place; NULL: none yet */
    bool back;          /* the store lost reservations, and knows it */
    int64_t outage_until;
    /* Which faults this run has, per thousand. */
    unsigned restores, switches, preempts, clock_faults, crashes, pauses, lost, repeats, late,
        outages, forks, entropy_fails;
    unsigned steps, most_steps;
    counts counts;
} world;

extern world sim;

void world_make(uint64_t seed); /* everything of one run but its processes' lives */
void world_free(void);
void life_plan(void);  /* which schemes, keys and processes this run has */
void life_event(void); /* between two turns: what may happen to anybody */

void note(const char *format, ...) __attribute__((format(printf, 1, 2))); /* with --trace */
/* The run has failed: printed with its seed. */
void failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
