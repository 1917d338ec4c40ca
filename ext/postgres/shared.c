/* SPDX-License-Identifier: MIT */
/* Memory that all backends and the renewer share: a cell for each node that issues IDs, and the
 * backends' requests to the renewer. Nothing here reserves or issues. */
#include "extension.h"

#include "access/xlog.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "utils/wait_event.h"

#include <inttypes.h>
#include <time.h>

firn_shared *firn_slots;

/* ---- values of firn.node --------------------------------------------------------------------- */

/* The postmaster's own copy, which outlives the shared memory when a process crashes. */
static firn_nodes kept;

static void change(firn_nodes *all, const char *text, int64 now) {
    uint64 count = pg_atomic_read_u64(&all->count) + 1;
    all->of[(count - 1) % FIRN_NODES].until_ms = now;
    strlcpy(all->of[count % FIRN_NODES].text, text, FIRN_NODE_SIZE);
    all->of[count % FIRN_NODES].since_ms = now;
    all->of[count % FIRN_NODES].until_ms = 0;
    pg_write_barrier();
    pg_atomic_write_u64(&all->count, count);
}

void firn_shared_change_node(const char *text) {
    int64 now = firn_steady_ms();
    change(&kept, text, now);
    change(&firn_slots->nodes, text, now);
}

static uint32 present_node(void) {
    uint64 count = pg_atomic_read_u64(&firn_slots->nodes.count);
    pg_read_barrier();
    return count % FIRN_NODES;
}

int64 firn_shared_node_changed(void) {
    return firn_slots->nodes.of[present_node()].since_ms;
}

bool firn_shared_left_node(const char *text) {
    enum { PATIENCE_MS = 5000 };
    uint32 present = present_node();
    return text[0] != '\0' && strcmp(text, firn_slots->nodes.of[present].text) != 0 &&
           firn_slots->nodes.of[present].since_ms + PATIENCE_MS < firn_steady_ms();
}

void firn_shared_list_nodes(char *out, size_t size) {
    uint32 present = present_node();
    int64 now = firn_steady_ms();
    size_t length = 0;
    for (uint32 i = 0; i < FIRN_NODES && length < size; i++) {
        int64 until = firn_slots->nodes.of[i].until_ms;
        if (i == present || (until != 0 && until + FIRN_STORE_MS > now)) {
            length +=
                (size_t)snprintf(out + length, size - length, ";%s", firn_slots->nodes.of[i].text);
        }
    }
}

/* The server starts, or starts again after a crash: then a store may hold a window that nobody
 * remembers. */
static void begin_nodes(void) {
    static bool begun;
    pg_atomic_init_u64(&firn_slots->store_seen_ms, begun ? (uint64)firn_steady_ms() : 0);
    if (!begun) {
        pg_atomic_init_u64(&kept.count, 0);
        strlcpy(kept.of[0].text, firn_setting_node, FIRN_NODE_SIZE);
    }
    firn_slots->nodes = kept;
    begun = true;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static shmem_startup_hook_type startup_before;
static shmem_request_hook_type request_before;

static Size size_of_slots(void) {
    return add_size(offsetof(firn_shared, cells),
                    mul_size((Size)firn_setting_max_nodes, sizeof(firn_cell)));
}

static void request(void) {
    if (request_before != NULL) {
        request_before();
    }
    RequestAddinShmemSpace(MAXALIGN(size_of_slots()));
    RequestNamedLWLockTranche("firn", 1);
}

static void startup(void) {
    bool found;
    if (startup_before != NULL) {
        startup_before();
    }
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    firn_slots = ShmemInitStruct("firn", size_of_slots(), &found);
    if (!found) {
        memset(firn_slots, 0, size_of_slots());
        firn_slots->lock = &GetNamedLWLockTranche("firn")->lock;
        ConditionVariableInit(&firn_slots->answered);
        begin_nodes();
        pg_atomic_init_u64(&firn_slots->copies, 0);
    }
    LWLockRelease(AddinShmemInitLock);
}

void firn_shared_request(void) {
    startup_before = shmem_startup_hook;
    shmem_startup_hook = startup;
    request_before = shmem_request_hook;
    shmem_request_hook = request;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static uint64 key_of(const char *ns, uint64 node) {
    return hash_bytes_extended((const unsigned char *)ns, (int)strlen(ns), node);
}

static firn_cell *find(const char *ns, uint64 node) {
    uint64 key = key_of(ns, node);
    for (uint32 i = 0; i < firn_slots->cell_count; i++) {
        firn_cell *cell = &firn_slots->cells[i];
        if (firn_slots->keys[i] == key && cell->node == node && strcmp(cell->ns, ns) == 0) {
            return cell;
        }
    }
    return NULL;
}

/* The scheme that the namespace is named after: uuid1 for uuid6. */
static const char *family_of(const firn_scheme *scheme) {
    return scheme->ns != NULL ? scheme->ns : scheme->name;
}

firn_cell *firn_cell_of(const firn_recipe *recipe, uint64 node) {
    uint32 bits = firn_check_slots(recipe);
    uint64 end = firn_slot_end_of(recipe, bits);
    /* functions for everybody find a place, however many generators options have opened */
    bool plain = recipe->scheme.packer >= 0 && recipe->keys[0] == '\0';
    uint32 most = (uint32)firn_setting_max_nodes - (plain ? 0 : FIRN_CELLS_PLAIN);
    char layout[FIRN_LAYOUT_SIZE];
    firn_layout_of(layout, &recipe->scheme);
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    firn_cell *cell = find(recipe->name, node);
    bool full = cell == NULL && firn_slots->cell_count >= most;
    if (cell == NULL && !full) { /* all zero until now */
        firn_slots->keys[firn_slots->cell_count] = key_of(recipe->name, node);
        cell = &firn_slots->cells[firn_slots->cell_count++];
        cell->scheme = recipe->scheme;
        cell->sequence_bits = bits;
        cell->slot_end = end;
        cell->node = node;
        strlcpy(cell->ns, recipe->name, sizeof cell->ns);
        strlcpy(cell->layout, layout, sizeof cell->layout);
    }
    LWLockRelease(firn_slots->lock);
    if (full) {
        firn_refuse(FIRN_EEND,
                    "%u pairs of namespace and node are in use: use fewer shards per server, or "
                    "raise firn.max_nodes, now %d, and restart it",
                    most, firn_setting_max_nodes);
    }
    if (strcmp(cell->layout, layout) != 0 || cell->slot_end != end ||
        strcmp(family_of(&cell->scheme), family_of(&recipe->scheme)) != 0) {
        firn_refuse(FIRN_ENAMESPACE,
                    "namespace %.60s belongs to another layout: give another ns=", recipe->name);
    }
    return cell;
}

/* ---- requests to the renewer ----------------------------------------------------------------- */

void firn_wake_renewer(void) {
    if (firn_slots->renewer != NULL) {
        SetLatch(firn_slots->renewer);
    }
}

void firn_refuse_late(void) {
    bool runs;
    LWLockAcquire(firn_slots->lock, LW_SHARED);
    runs = firn_slots->renewer != NULL;
    LWLockRelease(firn_slots->lock);
    if (!runs) {
        firn_refuse(FIRN_ESTORE,
                    "the renewer of the marks does not run: see the server's log, whether database "
                    "%.60s exists, and whether max_worker_processes leaves room for it",
                    firn_setting_database);
    }
    firn_refuse(FIRN_EWINDOW,
                "the marks were not written within %d ms: see the server's log, or raise "
                "firn.max_wait",
                firn_setting_max_wait_ms);
}

static bool ask_with_lock(bool (*is_done)(const void *what), const void *what) {
    LWLockAcquire(firn_slots->lock, LW_SHARED);
    bool done = is_done(what);
    LWLockRelease(firn_slots->lock);
    return done;
}

/* A renewer that was not there to be woken looks for requests when it starts. */
void firn_await(bool (*is_done)(const void *what), const void *what, firn_patience *waited) {
    ConditionVariablePrepareToSleep(&firn_slots->answered);
    while (!ask_with_lock(is_done, what)) {
        int64 left = firn_patience_left(waited);
        if (left <= 0) {
            ConditionVariableCancelSleep();
            firn_refuse_late();
        }
        ConditionVariableTimedSleep(&firn_slots->answered, left < 500 ? left : 500,
                                    firn_wait_event(FIRN_WAIT_RENEWER));
    }
    ConditionVariableCancelSleep();
}

void firn_require_primary(void) {
    if (RecoveryInProgress()) {
        ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                        errmsg("firn: a standby cannot reserve slots"),
                        errhint("Ask the primary. Schemes without a node, such as uuid7, work here "
                                "too.")));
    }
}

/* ---- nodes for old rows ---------------------------------------------------------------------- */

/* LOW-HIGH, as in firn.history. */
static void read_range(const char *text, uint64 *low, uint64 *high) {
    char *end;
    errno = 0;
    *low = strtoull(text, &end, 10);
    *high = *low;
    bool good = end != text && errno == 0;
    if (good && *end == '-') {
        const char *second = end + 1;
        *high = strtoull(second, &end, 10);
        good = end != second && errno == 0;
    }
    if (!good || *end != '\0' || *high < *low || *high - *low > 65535) {
        firn_refuse(FIRN_EUSAGE,
                    "'%.40s' is not a range of nodes: write LOW-HIGH, at most 65536 nodes", text);
    }
}

static firn_take *free_take(void) {
    for (int i = 0; i < FIRN_TAKES; i++) {
        if (firn_slots->takes[i].state == FIRN_TAKE_FREE) {
            return &firn_slots->takes[i];
        }
    }
    return NULL;
}

static bool is_answered(const void *take) {
    return ((const firn_take *)take)->state == FIRN_TAKE_ANSWERED;
}

/* A request of this backend's. */
typedef struct posted {
    firn_take *take;
    uint64 number;
} posted;

/* Also called when the backend is ended while it waits. */
static void release(int code, Datum argument) {
    const posted *self = (const posted *)DatumGetPointer(argument);
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    if (self->take->number == self->number) {
        self->take->state = FIRN_TAKE_FREE;
        self->take->number = 0;
    }
    LWLockRelease(firn_slots->lock);
}

static firn_take *post(firn_take *wanted, firn_patience *waited) {
    for (;;) {
        LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
        firn_take *take = free_take();
        if (take != NULL) {
            wanted->number = ++firn_slots->requests;
            *take = *wanted;
            firn_wake_renewer();
        }
        LWLockRelease(firn_slots->lock);
        if (take != NULL) {
            return take;
        }
        if (firn_patience_left(waited) <= 0) {
            firn_refuse_late();
        }
        firn_nap(1);
    }
}

/* Hands the request to the renewer and waits for its answer. */
static uint64 settle(firn_take *wanted) {
    firn_take answer;
    firn_patience waited = 0;
    wanted->state = FIRN_TAKE_ASKED;
    posted mine = {.take = post(wanted, &waited)};
    mine.number = wanted->number;
    PG_ENSURE_ERROR_CLEANUP(release, PointerGetDatum(&mine));
    {
        firn_await(is_answered, mine.take, &waited);
        answer = *mine.take;
    }
    PG_END_ENSURE_ERROR_CLEANUP(release, PointerGetDatum(&mine));
    release(0, PointerGetDatum(&mine));
    if (answer.why.code != FIRN_OK) {
        firn_fail(&answer.why);
    }
    return answer.node;
}

uint64 firn_shared_take(const firn_recipe *given, const char *job, const char *counts) {
    firn_recipe recipe = *given;
    firn_take wanted = {.what = FIRN_ASK_NODE};
    uint32 bits = firn_check_slots(&recipe);
    firn_require_primary();
    if (firn_node_is_given(&recipe)) {
        wanted.low = wanted.high = firn_node_of(&recipe);
    } else if (firn_setting_history[0] == '\0') {
        firn_refuse(FIRN_EWINDOW,
                    "firn.history is not set: set it to a range of nodes that no server has as "
                    "firn.node, LOW-HIGH, or give node=");
    } else {
        read_range(firn_setting_history, &wanted.low, &wanted.high);
        firn_node_split(&recipe, wanted.high, "firn.history");
    }
    wanted.mark = firn_slot_end_of(&recipe, bits) + 2;
    strlcpy(wanted.ns, recipe.name, sizeof wanted.ns);
    firn_layout_of(wanted.layout, &recipe.scheme);
    strlcpy(wanted.job, job, sizeof wanted.job);
    strlcpy(wanted.counts, counts, sizeof wanted.counts);
    return settle(&wanted);
}

/* Needs the renewer, which only a preloaded server has. */
void firn_shared_ask(enum firn_ask what, const char *nodes) {
    firn_take wanted = {.what = what};
    if (nodes != NULL) {
        read_range(nodes, &wanted.low, &wanted.high);
    }
    if (firn_slots == NULL) {
        firn_refuse(FIRN_EWINDOW, "marks are kept by a preloaded firn: put it into "
                                  "shared_preload_libraries and restart");
    }
    firn_require_primary();
    settle(&wanted);
}
