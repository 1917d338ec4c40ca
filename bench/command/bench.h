/* SPDX-License-Identifier: MIT */
/* `firn bench`: the measurements (cases.c), their method (harness.c), and the output (report.c).
 * Each kind of work has its own file. Nothing here is a test. */
#ifndef FIRN_BENCH_H
#define FIRN_BENCH_H

#include "command.h"

enum { BENCH_REPEATS = 21, BENCH_PROCESSES_MAX = 100 }; /* rounds of work that takes milliseconds */

/* A layout on which no burst fills a tick: 2^18 IDs per millisecond. */
#define BENCH_WIDE_LAYOUT "0x0:1 time:41/ms node:4 sequence:18"

/* Keeps the compiler from leaving work out. */
#define BENCH_KEEP(x) __asm__ volatile("" : : "r,m"(x) : "memory")

/* ---- a library that is measured -------------------------------------------------------------- */

/* The functions under test: this program's own, or a libfirn.so's. */
typedef struct bench_api {
#define BENCH_FUNCTIONS(X)                                                                         \
    X(open_with)                                                                                   \
    X(close) X(gen_status) X(gen_scheme) X(next) X(next_n) X(next_u64) X(format) X(parse) X(guess)
#define BENCH_MASKS(X) X(mask_open) X(mask_apply) X(mask_write) X(mask_close)
#define BENCH_X(name)  __typeof__(&firn_##name) name;
    BENCH_FUNCTIONS(BENCH_X)
    BENCH_MASKS(BENCH_X)
#undef BENCH_X
} bench_api;

/* ---- cases ----------------------------------------------------------------------------------- */

typedef struct bench_case bench_case;
typedef struct bench_run bench_run;

/* OWN: a path of firn, the first case of its group. PEER: other code for the same purpose. LIMIT:
 * work that no implementation of the path can avoid. */
enum bench_kind { BENCH_OWN, BENCH_PEER, BENCH_LIMIT };

struct bench_case {
    const char *section, *group;
    enum bench_kind kind;
    const char *name; /* of a peer or limit; NULL: the name of the group */
    bool (*open)(bench_run *run);
    const char *scheme, *keys; /* arguments of `open` */
    double goal_ns;            /* of a median, alone; 0: none */
    double goal_ratio[2];      /* of a peer: the path's median by this one's, alone and shared */
    bool apart;                /* measured before the others, not in turn with them */
};
extern const bench_case bench_cases[];
extern const size_t bench_case_count;

/* The state of one case while its group is measured. `open` fills it in, or returns false and says
 * why in `note`. */
struct bench_run {
    const bench_case *about;
    const bench_api *api;
    void *context;
    bool (*work)(void *context, uint64_t n); /* `n` operations; false: failed, see `note` */
    void (*rest)(void *context);             /* before a burst, not timed; may be NULL */
    void (*close)(bench_run *run);           /* may be NULL */
    double ids;                              /* IDs per operation; the figures are per ID */
    double sustained_ns; /* what the layout allows for ever, per ID; 0: as the burst */
    int threads;         /* how many do `work` at once; 0: this one alone */
    bool slow;           /* an operation takes milliseconds, so it meets both modes */
    uint64_t n;          /* operations per burst */
    char note[160];      /* how it is measured, or why not */
};

/* ---- figures --------------------------------------------------------------------------------- */

/* Whether the hardware thread was alone on its core or shared it with a busy one. Both happen
 * on virtual machines. ALL: work that takes too long to tell. */
enum bench_mode { BENCH_ALONE, BENCH_SHARED, BENCH_ALL, BENCH_MODES };

typedef struct bench_result {
    bool measured;
    double least[BENCH_MODES], median[BENCH_MODES]; /* ns per ID */
    int64_t samples[BENCH_MODES];
    double sustained_ns;
    char note[160];
} bench_result;

/* All figures of one case: of this build, and of the library that it is compared with. */
typedef struct bench_row {
    bool wanted;
    bench_result own, other;
} bench_row;

/* Measures the cases from `first` to before `end`, one group. `other` may be NULL. */
void bench_group(bench_row *rows, size_t first, size_t end, const bench_api *own,
                 const bench_api *other);
/* Independent additions per ns at the fastest moment so far; it identifies the mode. */
double bench_best_rate(void);
void bench_set_best_rate(double rate);
/* The time of `n` operations by `threads` threads, from the first start to the last end, in ns;
 * below 0: failed. *cpu_ns (may be NULL): the CPU time of all. */
double bench_threads(bench_run *run, int threads, uint64_t n, double *cpu_ns);

double bench_now_ns(void);
/* The median of 1 or more; sorts. */
double bench_middle(double times[], int count);
/* "12.3 us", the unit by the size. */
void bench_name_time(char text[32], double ns);
/* Binds the calling thread to the i-th of its processors; false: there are fewer. */
bool bench_pin(int i);
int bench_processors(void);

/* ---- the report ------------------------------------------------------------------------------ */

enum bench_report { BENCH_TEXT, BENCH_JSON, BENCH_MARKDOWN };
/* Shows rows of a group; *missed counts the goals that are missed, *slower the paths that are
 * slower than in the other library. */
void bench_put_group(session *s, enum bench_report report, const bench_row *rows, size_t first,
                     size_t end, int *missed, int *slower);
/* Writes the head of a section's table. */
void bench_put_section(session *s, enum bench_report report, const char *section, bool against);

/* merge.c: measures in `processes` processes, one after the other, which get the operands and
 * options of this one, and puts their figures together: the minimum of the minimums, the median of
 * the medians. */
bool bench_processes(session *s, bench_row *rows, int processes);

/* scaling.c: 1 to 64 threads. An exit status. */
int bench_scaling(session *s, const bench_api *api);
/* Shows how often their compare-and-swaps fail. */
void bench_put_contention(session *s, enum bench_report report, const bench_api *api);

/* ---- processes ------------------------------------------------------------------------------- */

/* A process of a program; this very one is found through /proc. */
typedef struct bench_child {
    char *program;
    char *words[16];
    const char *from; /* standard input; NULL: this process's */
    const char *to;   /* standard output */
    bool silent;      /* standard error is dropped */
    bool judges;      /* the child may also end with STATUS_NO: a path is slower */
} bench_child;
bool bench_spawn(const bench_child *c); /* false: it failed */
bool bench_own_path(char *path, size_t size);
/* Of the command, which is next to this program. */
bool bench_command_path(char *path, size_t size);
/* An empty file in TMPDIR, for this process and its children until bench_file_end of the `path`
 * that it writes. The caller closes the descriptor that it returns. -1: none. */
int bench_file(char *path, size_t size);
void bench_file_end(const char *path);

/* ---- what opens a case ----------------------------------------------------------------------- */

/* generators.c: `scheme` with `keys` */
bool bench_next(bench_run *run);
bool bench_next_one(bench_run *run);     /* firn_next_n of 1 */
bool bench_next_one_u64(bench_run *run); /* firn_next_u64 of 1 */
bool bench_bulk_u64(bench_run *run);
bool bench_bulk_id(bench_run *run);
bool bench_two_threads(bench_run *run);
/* How often its generator's threads have tried again so far, by firn_gen_status. */
uint64_t bench_contended(const bench_run *run);
/* limits.c */
bool bench_loop(bench_run *run);
bool bench_loop_coarse(bench_run *run);
bool bench_loop_random(bench_run *run);
bool bench_loop_coarse_random(bench_run *run);
bool bench_counter(bench_run *run);
bool bench_coarse(bench_run *run);
bool bench_swap_threads(bench_run *run);
bool bench_loop_threads(bench_run *run);
bool bench_coarse_threads(bench_run *run);
bool bench_fill(bench_run *run);
bool bench_kernel_random(bench_run *run);
bool bench_aes(bench_run *run);
bool bench_aes_ids(bench_run *run);
bool bench_copy_text(bench_run *run);
/* text.c: `scheme` is a form */
bool bench_write(bench_run *run);
bool bench_read(bench_run *run);
bool bench_guess(bench_run *run); /* `scheme` is the text */
bool bench_libc_write(bench_run *run);
bool bench_libc_read(bench_run *run);
/* masks.c: `scheme` has the keys of a mask */
bool bench_mask_one(bench_run *run);
bool bench_mask_many(bench_run *run);
bool bench_mask_text(bench_run *run);
/* libuuid.c: `scheme` is a function */
bool bench_libuuid(bench_run *run);
bool bench_libuuid_daemon(bench_run *run);
/* process.c, records.c, check.c */
bool bench_process(bench_run *run);
bool bench_million(bench_run *run);
bool bench_million_copy(bench_run *run);
bool bench_stamp(bench_run *run);
bool bench_copy(bench_run *run);
bool bench_check(bench_run *run);
bool bench_show(bench_run *run);
bool bench_jansson(bench_run *run);

#endif
