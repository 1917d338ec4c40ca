/* SPDX-License-Identifier: MIT */
/* The torture run: generators, integers and the command on real engines, while servers, clients,
 * networks and clocks fail. Its nouns: a ledger of all that was granted and issued, a judge over
 * it, clients that issue, one server, and a table of scenarios. */
#ifndef FIRN_TORTURE_H
#define FIRN_TORTURE_H

#include <firn/firn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define LOT      500 /* IDs of one bulk call */
#define SEQUENCE 12  /* bits, in every scheme here; the node is above, the time on top */

int64_t now_ms(void); /* of the steady clock */
void nap_ms(int64_t ms);
void *shared(size_t size); /* zero; children see it */

/* ---- ledger: grants and issued IDs, in memory that outlives a killed client ----------------- */

/* IDs of one life, which is one generator from its opening to its end. Those that were not issued
 * are 0. */
typedef struct torture_lot {
    uint32_t life;
    uint32_t node_bits; /* 0: plain integers */
    uint64_t ids[LOT];
} torture_lot;

/* [first, end) of a node belongs to a life; `lowered`: it gives that up. */
typedef struct torture_grant {
    uint32_t life, index;
    uint64_t node;
    int64_t first, end;
    bool lowered, integers;
    _Atomic bool whole; /* written to its end */
} torture_grant;

typedef struct id_ledger {
    _Atomic size_t lots, grants;
    _Atomic uint32_t lives;
    _Atomic long refused; /* requested grants that were refused */
    size_t max_lots, max_grants;
    torture_lot *lot;
    torture_grant *grant;
} id_ledger;

id_ledger *ledger_new(size_t ids);
torture_lot *ledger_lot(id_ledger *ledger, uint32_t life,
                        uint32_t node_bits); /* NULL: it is full */
void ledger_grant(id_ledger *ledger, uint32_t life, const firn_request *request, int64_t first,
                  int64_t end);
void ledger_lower(id_ledger *ledger, uint32_t life, const char *ns, const char *key, int64_t first,
                  int64_t end);

/* ---- judge ---------------------------------------------------------------------------------- */

typedef struct verdict {
    size_t ids, twice, outside, grants, overlapping;
} verdict;

/* `granted`: its IDs must also be in grants of their own life. */
verdict judge(const id_ledger *ledger, bool granted);
/* Injects an ID issued twice, and with `granted` one outside its grant and a grant made twice.
 * False: there is too little to do so. */
bool plant(id_ledger *ledger, bool granted);

/* ---- server --------------------------------------------------------------------------------- */

/* Starts the engine of this process. Returns 0, or what test/engine ended with. */
int server_start(const char *kind, const char *options);
bool server_missing(const char *kind); /* not installed, and that is allowed */
bool server_do(const char *word, int member);
const char *server_url(void);
/* Starts another engine of the kind with these options, for this process alone. NULL: it did not
 * start. */
const char *server_beside(const char *kind, const char *options);
const char *server_folder(void);
/* Runs a line of shell with that folder as $0; what it prints goes nowhere. */
bool shell(const char *line);
void server_stop(void); /* of this process alone */

/* ---- scenes: one run of one scenario, in its own process ------------------------------- */

#define SEATS  256
#define POINTS 6
extern const char *const points[POINTS]; /* of every engine's writes */

/* A client's place; the next client takes it when this one is killed. Times are of now_ms(), 0:
 * never. */
typedef struct torture_seat {
    pid_t pid;
    _Atomic int64_t good_ms;                /* the last lot */
    _Atomic int64_t good_before_ms, bad_ms; /* around the first failure since world.since_ms */
    _Atomic int64_t again_ms;               /* the first lot since world.max_back */
    _Atomic int code;                       /* of that failure */
    _Atomic long lots;                      /* issued, by all who sat here */
    char text[sizeof(((firn_error *)0)->text)];
} torture_seat;

/* The memory that clients and their scene share. */
typedef struct world {
    torture_seat seats[SEATS];
    _Atomic bool stop;
    _Atomic int64_t since_ms, back_ms;
    _Atomic int64_t offset_ns[8]; /* of clocks */
    _Atomic long hits[POINTS], killed, hung, failures;
    _Atomic int64_t longest_ms; /* of all calls */
    _Atomic int odd_code;       /* a failure that no fault here explains */
    char odd_text[sizeof(((firn_error *)0)->text)];
    id_ledger *ledger;
} world;

/* The outcome of a scene, in shared memory. */
typedef struct report {
    bool done, failed, skipped;
    size_t ids, grants;
    long faults;
    int64_t recovery_ms, longest_ms;
    char text[600]; /* figures */
    char why[400];  /* of a fault that failed or was skipped */
} report;

typedef struct scene {
    const char *engine;
    char url[400], plain[300]; /* with short time-outs, and without parameters of a store's own */
    int seconds;               /* of its load */
    int slow;                  /* times slower than a quiet machine, 1 to 6 */
    size_t ids;                /* at most */
    bool brief;
    world *world;
    report *report;
} scene;

/* The first reason counts. */
void refute(scene *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tell(scene *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void omit(scene *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A store's own place on the server; `port` 0: the server's. */
void place_url(scene *s, const char *server, int port, int timeout_ms);

/* ---- clients -------------------------------------------------------------------------------- */

enum what { LIVE, INTEGERS, DATED };

typedef struct role {
    const char *name;
    enum what what;
    const char *scheme, *keys; /* of integers: the key, and its keys */
    uint32_t node_bits;
} role;

/* How a client lives. */
typedef struct traits {
    const role *role;
    int seat;
    int generators; /* in one process, 1..4 */
    int lots;       /* then it closes, and opens again; 0: never */
    int64_t pace_us;
    int die_at;    /* a failpoint; -1: none */
    int die_after; /* passes before it */
    int clock;     /* world.offset_ns, from 1; 0: the system's */
    bool forks;    /* once, and both continue */
} traits;

/* A wrapped store, which enters what it grants into the ledger. */
typedef struct grant_recorder {
    firn_store *inner;
    id_ledger *ledger;
    uint32_t life;
    _Atomic int renewer; /* thread; its calls are counted separately */
    _Atomic long renewer_calls, other_calls;
} grant_recorder;

int recorder_open(firn_store **store, grant_recorder **recorder, id_ledger *ledger, const char *url,
                  const firn_store_options *options, firn_error *error);
void client_clock(firn_clock *clock, _Atomic int64_t *offset_ns);
/* A stopped clock at the given time in ns, moved only by pauses. */
void standing_clock(firn_clock *clock, _Atomic int64_t *at_ns);

/* Runs until world.stop, in this process; never returns. */
_Noreturn void client_run(scene *s, const traits *how);
void client_start(scene *s, const traits *how);
/* Looks for one that ended; true: the seat is free. What it ended of is counted. */
bool client_ended(scene *s, int position);
void client_kill(scene *s, int position);
/* Asks all to stop, and kills those that do not. */
void clients_end(scene *s, int seats);

/* ---- watching them -------------------------------------------------------------------------- */

#define WAIT_MS 60000 /* for what comes for certain; far more than it takes */

/* Forgets failures and recoveries, and looks for the next ones. */
void look_from_now(scene *s);
/* Until the first n seats have issued, or failed since look_from_now. False: not all of them. */
bool await_issue(scene *s, int n);
bool await_failures(scene *s, int n, int64_t most_ms);
/* Until the seats [from, to) have issued by a call that began later than now: how long that took
 * the slowest; -1: not all did, which is a failure. */
int64_t await_again(scene *s, int from, int to, int64_t most_ms);
/* Keeps the longest recovery. One past the promise is a failure; the brief run shares its machine
 * with other tests, and has 30 s more. */
void recovered(scene *s, int64_t took_ms, int64_t promised_ms);

/* Judges everything the clients did, and again with an injected duplicate. */
void conclude(scene *s, bool granted);

/* ---- scenarios ------------------------------------------------------------------------------ */

enum {
    ALONE = 1,     /* the fault stops the server, so no other runs at the same time */
    LONG_ONLY = 2, /* too long for the brief run */
    LONG_REDIS =
        4 /* there too long: a change of identity takes 30 s, and another scenario has one */
};

typedef struct torture_scenario {
    const char *name, *sentence;
    void (*run)(scene *s);
    const char *engines; /* of these alone; NULL: of all */
    unsigned flags;
} torture_scenario;

void run_clients(scene *s);
void run_outage(scene *s);
void run_stalled(scene *s);
void run_holder(scene *s);
void run_clocks(scene *s);
void run_churn(scene *s);
void run_forked(scene *s);
void run_network(scene *s);
void run_renewer(scene *s);
void run_command(scene *s);
void run_lowered(scene *s);
void run_restored(scene *s);
void run_promoted(scene *s);
void run_standby(scene *s);
void run_members(scene *s);
void run_full(scene *s);

#endif
