/* SPDX-License-Identifier: MIT */
/* Shared by the files of the extension: settings, values, generators, and the slots in shared
 * memory. Everything about IDs comes from libfirn, through firn.h. */
#ifndef FIRN_EXT_EXTENSION_H
#define FIRN_EXT_EXTENSION_H

#include "postgres.h"

#include "fmgr.h"
#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/array.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h" /* postgres.h has it before */
#elif PG_VERSION_NUM < 150000
#error "firn needs PostgreSQL 15 or newer"
#endif

#include <firn/firn.h>

/* ---- settings (settings.c) ------------------------------------------------------------------- */

extern char *firn_setting_node;     /* of this server: a number, or fields; "": unset */
extern char *firn_setting_history;  /* nodes for back-dated IDs: LOW-HIGH; "": unset */
extern char *firn_setting_store;    /* URL of a firn store; "": the server's own marks */
extern char *firn_setting_database; /* where the marks are */
extern char *firn_setting_masks;    /* a file: mask_list.h; "": none */
extern int firn_setting_max_wait_ms;
extern int firn_setting_max_nodes;
extern int firn_setting_max_shift_ms;
extern bool firn_setting_unsafe;
extern bool firn_setting_whole_pages;

extern bool firn_preloaded;
/* Counts changes of settings: makers with another count are opened again. */
extern uint64 firn_settings_count;

/* ---- errors and values (values.c) ------------------------------------------------------------ */

/* Ends the statement: cause as message, cure as hint, SQLSTATE by the code. */
void firn_fail(const firn_error *error) __attribute__((noreturn));
#define FIRN_CHECK(call)                                                                           \
    do {                                                                                           \
        if ((call) != FIRN_OK) {                                                                   \
            firn_fail(&error);                                                                     \
        }                                                                                          \
    } while (0)
/* The same with the given text, "cause: cure". */
void firn_refuse(int code, const char *format, ...) __attribute__((noreturn))
pg_attribute_printf(2, 3);
/* Logs the library's messages for people. */
void firn_tell(void *self, const char *text);

/* An SQL function, whose symbol ext/functions.def names: returns what `call` returns. */
#define FIRN_ENTRY(symbol, call)                                                                   \
    PG_FUNCTION_INFO_V1(firn_sql_##symbol);                                                        \
    Datum firn_sql_##symbol(PG_FUNCTION_ARGS) {                                                    \
        return call;                                                                               \
    }

enum firn_type { FIRN_AS_INT, FIRN_AS_UUID, FIRN_AS_TEXT, FIRN_AS_BYTES };

firn_time firn_time_of(TimestampTz instant);
/* At the first call of a place in a statement: refuses an argument of type timestamptz that is a
 * timestamp or a date, which PostgreSQL reads silently in the time zone of the session. */
void firn_check_zone(FunctionCallInfo fcinfo, int argument);
TimestampTz firn_timestamp_of(const firn_time *time);
firn_id firn_id_of_uuid(const pg_uuid_t *uuid);
/* An ID as an SQL value. Refuses what the type does not hold. */
Datum firn_datum(const firn_id *id, enum firn_type type, int form);
Datum firn_text_with_prefix(const char *prefix, size_t length, const firn_id *id); /* a TypeID */
/* A copy in the current memory context; of NULL, NULL. */
text *firn_text_keep(text *item);
/* The same bytes? NULL is the same as "". */
bool firn_text_same(const text *a, const text *b);

/* A scheme with its options "key=value ...". */
typedef struct firn_recipe {
    firn_scheme scheme;
    firn_fields fields;
    bool unsigned_;
    bool node_set;           /* by firn.node, in part or in whole */
    bool node_given;         /* by node= */
    uint64 node;             /* that number */
    char ns[FIRN_NS_SIZE];   /* "": by the scheme */
    char name[FIRN_NS_SIZE]; /* the namespace */
    char prefix[64];         /* of typeid */
    char keys[1024];         /* the options without prefix */
    char shape[1024];        /* of these, those that change scheme or namespace */
} firn_recipe;

/* Would IDs of it be out of order as negative values of bigint? */
bool firn_is_signed(const firn_scheme *scheme, bool unsigned_);
/* Refuses such an ID. */
void firn_refuse_sign(void) __attribute__((noreturn));
static inline void firn_check_sign(const firn_id *id, bool is_signed) {
    if (unlikely(id->low > PG_INT64_MAX) && is_signed) {
        firn_refuse_sign();
    }
}

/* The scheme for the library: the name without the changes after it, or a layout. */
const char *firn_recipe_base(const firn_recipe *recipe, const char *scheme);

enum firn_reading_of { FIRN_OF_FIELDS, FIRN_OF_KEYS };
/* FIELDS: every key is a field, epoch, bits or digits. KEYS: keys of a generator too. */
void firn_recipe_read(firn_recipe *recipe, const char *scheme, const char *options,
                      enum firn_reading_of what);
/* The same, remembered at the place of the call as long as the texts stay the same. */
const firn_recipe *firn_recipe_at(FunctionCallInfo fcinfo, text *scheme, text *options);

/* ---- masks (mask.c) -------------------------------------------------------------------------- */

void firn_masks_forget(void); /* firn.masks changes: the next call reads its file */

/* ---- the node (node.c) ----------------------------------------------------------------------- */

/* Does slice i begin a part of the node? */
bool firn_is_part(const firn_scheme *scheme, uint32 i);
/* Is every part of the node given, so that its slots are reserved? */
bool firn_is_reserved(const firn_recipe *recipe);
/* By its number, or by all of its parts? */
bool firn_node_is_given(const firn_recipe *recipe);
/* With the node of the settings, where the recipe leaves it open. */
uint64 firn_node_of(firn_recipe *recipe);
/* Splits a number over the parts of the node that are not given. */
void firn_node_split(firn_recipe *recipe, uint64 node, const char *source);
/* In settings.c, or in firn_pure.c, which has no source: refuses a recipe if reserved IDs have no
 * source, or two. `setting` names the setting that a preloaded server needs. */
void firn_check_way(const firn_recipe *recipe, const char *setting);
/* The bits of the sequence. Refuses schemes whose IDs are not one slot each: backends cannot share
 * their node. */
uint32 firn_check_slots(const firn_recipe *recipe);
/* The first slot that the layout refuses: 2^62 bounds a mark. */
uint64 firn_slot_end_of(const firn_recipe *recipe, uint32 sequence_bits);
/* The layout to which the namespace belongs: uuid1's for uuid6. */
void firn_layout_of(char layout[FIRN_LAYOUT_SIZE], const firn_scheme *scheme);

/* ---- waits (wait.c) -------------------------------------------------------------------------- */

/* When the first wait of a call began, in ms of the steady clock; 0: it did not wait yet. */
typedef int64 firn_patience;

int64 firn_patience_left(firn_patience *waited); /* ms */
/* Causes of a wait, as pg_stat_activity shows them. Before PostgreSQL 17 all are "Extension". */
enum firn_wait { FIRN_WAIT_REQUESTS, FIRN_WAIT_RENEWER, FIRN_WAIT_CLOCK };
uint32 firn_wait_event(enum firn_wait what);
/* Sleeps until the server interrupts it, for `ms` at most. */
void firn_nap(int64 ms);

/* ---- shared memory (shared.c) ---------------------------------------------------------------- */

enum {
    FIRN_CELLS = 256, /* firn.max_nodes: pairs of namespace and node that have IDs; at least, */
    FIRN_CELLS_MOST = 8192,  /* and at most, with 40 MB of shared memory */
    FIRN_CELLS_PLAIN = 64,   /* of these, for schemes of the table without options */
    FIRN_CELL_MEMORY = 2048, /* of a shared generator with a fixed node: firn.h */
    FIRN_TAKES = 16,         /* nodes for back-dated IDs that are asked for at once */
    FIRN_JOB_SIZE = 64,      /* a job's name and its zero */
    FIRN_COUNTS_SIZE = 48,   /* which table counts the rows of a job */
    FIRN_NODES = 8,          /* values of firn.node that are remembered */
    FIRN_NODE_SIZE = 128,    /* of its text and a zero */
    FIRN_STORE_MS = 25000    /* for how long a window of a firn store may last */
};

enum firn_take_state { FIRN_TAKE_FREE, FIRN_TAKE_ASKED, FIRN_TAKE_ANSWERED };

/* A reservation that the renewer is asked for, and its answer. */
typedef struct firn_reservation {
    enum firn_take_state state;
    uint64 grant; /* of the request, which it identifies */
    int64 count, earliest, latest;
    int64 first;   /* the answer: the first slot that was granted; */
    int64 busy;    /* or, not 0: the mark, past `latest`; */
    int64 guarded; /* the same, if it is there because marks may have been lost; */
    int64 shared;  /* or, not 0: the mark of the shared list; */
    bool lost;     /* nobody holds that one: the list may have lost others; */
    firn_error why;
    char node[FIRN_NODE_SIZE]; /* the firn.node that gave the node; "": the caller chose it */
} firn_reservation;

/* The last values of firn.node. Written by the postmaster, which has each one before its children,
 * and read by all without a lock. */
typedef struct firn_nodes {
    pg_atomic_uint64 count; /* of changes: the present value is of[count % FIRN_NODES] */
    struct {
        char text[FIRN_NODE_SIZE];
        int64 since_ms, until_ms; /* firn_steady_ms; 0: from the start; to now */
    } of[FIRN_NODES];
} firn_nodes;

/* A node of a namespace. All backends issue from the generator in `memory`, which the library
 * shares between processes. In place of a store it has the reservation, which the renewer writes
 * into a table before the window is used. */
typedef struct firn_cell {
    char memory[FIRN_CELL_MEMORY] pg_attribute_aligned(64);
    /* with the lock: */
    firn_reservation reservation;
    int64 busy;      /* no slot before this one is granted any more */
    int64 guard;     /* the same, after a promotion or a restore */
    int64 shared;    /* the same, by the shared list, whose marks may also fall; asked again at */
    int64 shared_ms; /* firn_steady_ms */
    bool lost;       /* the list may have lost marks */
    bool loaded;     /* its mark was read */
    /* fixed as long as the server runs: */
    firn_scheme scheme; /* of its generator: others of the namespace are converted */
    uint32 sequence_bits;
    uint64 slot_end;
    uint64 node;
    char ns[FIRN_NS_SIZE];
    char layout[FIRN_LAYOUT_SIZE];
} firn_cell;

/* NODE: one that was never used, for good, or the job's own. CONFIRM: the nodes that
 * firn_marks.mark does not name have no old rows, even if their marks are lost. HAND_OVER: before a
 * planned switchover. TAKE_BACK_NOW: no standby that has the hand-over will be promoted. TAKE_OVER:
 * after a promotion that lost nothing. */
enum firn_ask {
    FIRN_ASK_NODE,
    FIRN_ASK_CONFIRM,
    FIRN_ASK_HAND_OVER,
    FIRN_ASK_TAKE_BACK,
    FIRN_ASK_TAKE_BACK_NOW,
    FIRN_ASK_TAKE_OVER
};

/* Another request to the renewer. */
typedef struct firn_take {
    enum firn_take_state state;
    enum firn_ask what;
    uint64 number; /* of the request: a backend that gave up gets no answer */
    uint64 low, high, mark;
    uint64 node; /* the answer */
    firn_error why;
    char ns[FIRN_NS_SIZE], layout[FIRN_LAYOUT_SIZE], job[FIRN_JOB_SIZE];
    char counts[FIRN_COUNTS_SIZE];
} firn_take;

typedef struct firn_shared {
    LWLock *lock; /* cells are added, reservations and takes read and written with it */
    ConditionVariable answered;
    uint64 requests; /* number of takes */
    Latch *renewer;  /* NULL: it does not run */
    /* When the first renewer began, which is after a promotion if there was one; 0: not yet. */
    TimestampTz found;
    firn_nodes nodes;
    pg_atomic_uint64 store_seen_ms; /* when a firn store last read firn.taken; 0: never; no lock */
    pg_atomic_uint64
        copies; /* how often the kernel said that this machine is a copy; by the renewer */
    firn_take takes[FIRN_TAKES];
    uint32 cell_count;
    uint64 keys[FIRN_CELLS_MOST];           /* of each cell, by which it is found */
    firn_cell cells[FLEXIBLE_ARRAY_MEMBER]; /* firn.max_nodes */
} firn_shared;

extern firn_shared *firn_slots; /* NULL: not preloaded */

int64 firn_steady_ms(void); /* of the clock that never steps */
TimestampTz firn_now(void); /* of the wall clock */

void firn_shared_request(void); /* asks the server for the memory; while it starts */
/* In the postmaster: firn.node has another value. */
void firn_shared_change_node(const char *text);
/* firn_steady_ms of the last change of firn.node; 0: none. */
int64 firn_shared_node_changed(void);
/* Was this the value of firn.node, for statements that began before it changed? Those have 5 s to
 * end. */
bool firn_shared_left_node(const char *text);
/* Writes the present value of firn.node and the values of the last 25 s, each after a semicolon. */
void firn_shared_list_nodes(char *out, size_t size);

/* Waits until the renewer has done something so that `is_done` is true, which is asked with the
 * lock held. Refuses when the time is over. */
void firn_await(bool (*is_done)(const void *what), const void *what, firn_patience *waited);
void firn_refuse_late(void) __attribute__((noreturn));
void firn_wake_renewer(void); /* with the lock held */
void firn_require_primary(void);

/* The cell of a node. */
firn_cell *firn_cell_of(const firn_recipe *recipe, uint64 node);
/* A node for a job's old rows. `counts` names the table that counts them, by which the job is known
 * again; "": a job of one statement. */
uint64 firn_shared_take(const firn_recipe *recipe, const char *job, const char *counts);
/* Sends a request for anything but a node. `nodes`: LOW-HIGH, of FIRN_ASK_CONFIRM; else NULL. */
void firn_shared_ask(enum firn_ask what, const char *nodes);

/* ---- a backend's generators (issuer.c) ------------------------------------------------------- */

/* An issuer takes IDs from a cell. */
typedef struct firn_issuer {
    firn_gen *gen; /* NULL: its window is still waited for */
    firn_store *store;
    firn_cell *cell;
    bool changed, converted; /* the generator's IDs are not the recipe's yet */
    firn_id fields;          /* bits of the fields that the caller sets in each ID */
    firn_scheme scheme;
    char layout[FIRN_LAYOUT_SIZE], keys[1792]; /* of the generator */
} firn_issuer;

void firn_issuer_open(firn_issuer *issuer, const firn_recipe *recipe);
void firn_issuer_close(firn_issuer *issuer);
void firn_issuer_next(firn_issuer *issuer, firn_id *id);

/* ---- tables that only firn touches (private.c) ----------------------------------------------- */

/* Locks a table for writing until the transaction ends. Refuses it, with the cure, if anybody but a
 * superuser may touch it, or if it runs foreign code. InvalidOid: no such table. */
Oid firn_private_lock(const char *schema, const char *name);
/* Takes away what default privileges gave for a schema, its tables and functions, and other
 * functions: regprocedure[]; NULL: no others. */
void firn_private_revoke(const char *schema, ArrayType *functions);

/* The user of the session before; an error resets it with the transaction. */
typedef struct firn_caller {
    Oid user;
    int context, settings;
} firn_caller;

/* Becomes another role, which may only run statements whose names mean PostgreSQL's own, and opens
 * SPI. */
firn_caller firn_private_enter(Oid owner);
/* The same, with the names of a schema too. */
firn_caller firn_private_enter_schema(Oid owner, const char *schema);
/* The same as the owner of a table, which is looked at again before. */
firn_caller firn_private_write(Oid table);
void firn_private_leave(firn_caller before);

/* Tables that a store writes too belong to this role. It only owns them: a role that could do more
 * would be a way to it. */
#define FIRN_OWNER "firn_owner"
void firn_private_check_owner(Oid role);
/* Locks such a table for writing, and refuses it if anything but SELECT, INSERT and UPDATE is
 * granted, or if it has other code than its own trigger. Returns the owner; InvalidOid: no such
 * table. */
Oid firn_private_lock_shared(const char *schema, const char *name);
/* Locks a table that a store wrote until now, so that nobody else reads it, and refuses it if a
 * reader would run code. Returns the owner, as whom it may be read. */
Oid firn_private_lock_moved(const char *schema, const char *name);

/* ---- the shared list of nodes (registry.c) --------------------------------------------------- */

/* The schema of its tables, firn_namespace and firn_mark. */
#define FIRN_REGISTRY "firn_store"
/* Statements that make tables with this prefix, and that read the identity of a table of marks. */
char *firn_registry_create(const char *prefix);
char *firn_registry_identity(const char *marks);
/* Locks the tables, and returns their owner. InvalidOid: there is no list. An error: firn_marks
 * notes a list that is not there; or there is one that it does not note, unless the caller joins
 * both. */
Oid firn_registry_lock(bool joins);
/* Notes in firn_marks that there is a list. */
void firn_registry_note(void);
/* Reserves in the list, if there is one. False: it does not grant the request. FIRN_EBUSY: *held,
 * and whether it is a guard. */
bool firn_registry_reserve(firn_request *request, int64_t *first, firn_mark *held, bool *guarded,
                           firn_error *why);
/* The nodes of a namespace that were ever used: bigint[]; NULL: none. Until the transaction ends,
 * no other is used. */
ArrayType *firn_registry_nodes(const char *ns);

/* ---- jobs with a name (counts.c) ------------------------------------------------------------- */

/* A counted job that this transaction has opened; void when firn_counted_era has changed. */
typedef struct firn_counted firn_counted;
extern uint64 firn_counted_era;

/* Hooks into the ends of savepoints and transactions; when the library is loaded. */
void firn_counts_listen(void);
/* The table that counts, locked until the transaction ends. */
Oid firn_counts_table(void);
void firn_counts_name(char name[FIRN_COUNTS_SIZE], Oid table);
/* NULL: it is not open. */
firn_counted *firn_counted_find(text *scheme, text *name, text *options);
/* Takes the job over. */
firn_counted *firn_counted_open(firn_job *job, const char *ns, text *scheme, text *name,
                                text *options, Oid table);
const firn_scheme *firn_counted_scheme(const firn_counted *counted);
void firn_counted_next(firn_counted *counted, const firn_time *time, firn_id *id);

/* ---- the renewer (background.c), and the tables that it reads and writes (tables.c) ---------- */

extern bool firn_is_renewer; /* this process */

/* Sleeps for 2 s, in spite of signals. */
void firn_hold(void);

bool firn_tables_exist(void);
/* Has firn_marks lost no mark, for certain? False: also while a guard runs. */
bool firn_tables_are_sure(void);
/* Creates the tables that are missing, and reads who this server is. Refuses tables that others
 * could change. */
void firn_tables_prepare(void);
/* Reserves slots for a cell: the answer is written into the reservation. */
void firn_tables_reserve(const firn_cell *cell, firn_reservation *reservation);
/* Carries out a take: the answer is written into it. */
void firn_tables_do(firn_take *take);
/* True, and why: the server handed its nodes over, so it reserves nothing. */
bool firn_tables_refuse(firn_error *why);

void firn_background_register(void);
PGDLLEXPORT void firn_background_main(Datum argument);

#endif
