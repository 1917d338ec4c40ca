/* SPDX-License-Identifier: MIT */
/* The renewer of the marks: a background worker that writes to a table, in transactions of its own,
 * how far slots are reserved, and only then lets the backends have them. One renewer serves all
 * databases of the server, so a mark has one writer. */
#include "extension.h"

#include "access/xact.h"
#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#if PG_VERSION_NUM >= 140000
#include "utils/wait_event.h"
#endif

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { JUMP_MS = 5000, HOLD_MS = 2000, LOOK_MS = 1000 };

void firn_background_register(void) {
    BackgroundWorker worker = {.bgw_flags =
                                   BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
                               .bgw_start_time = BgWorkerStart_RecoveryFinished,
                               .bgw_restart_time = 1};
    if (IsBinaryUpgrade) {
        return; /* pg_upgrade drops and creates the very database that the worker is connected to */
    }
    snprintf(worker.bgw_name, BGW_MAXLEN, "firn renewer");
    snprintf(worker.bgw_type, BGW_MAXLEN, "firn renewer");
    snprintf(worker.bgw_library_name, BGW_MAXLEN, "firn");
    snprintf(worker.bgw_function_name, BGW_MAXLEN, "firn_background_main");
    RegisterBackgroundWorker(&worker);
}

/* ---- the tables ------------------------------------------------------------------------------ */

/* Not part of the extension, so that DROP EXTENSION forgets no mark. `marks` is the identity of the
 * tables a row was written to: a restored copy of a row does not have the identity of its table. */
static const char create[] =
    "CREATE SCHEMA IF NOT EXISTS firn;"
    "CREATE TABLE IF NOT EXISTS firn.mark ("
    " ns text COLLATE \"C\" NOT NULL,"
    " node bigint NOT NULL,"
    " \"row\" text NOT NULL,"
    " high bigint NOT NULL CHECK (high >= 0),"
    " job text,"
    " system bigint NOT NULL,"
    " timeline integer NOT NULL,"
    " changed timestamptz NOT NULL DEFAULT now(),"
    " marks text NOT NULL DEFAULT '',"
    " counts text,"
    " PRIMARY KEY (ns, node));"
    "COMMENT ON TABLE firn.mark IS 'firn: slots below high are reserved; never lower one';"
    "REVOKE ALL ON SCHEMA firn FROM PUBLIC; REVOKE ALL ON firn.mark FROM PUBLIC";

/* Which nodes have, for certain, no other old rows than those that firn.mark names, by timeline and
 * tables: a new timeline may begin without the last nodes that were taken on the one before it. */
static const char create_history[] =
    "CREATE TABLE IF NOT EXISTS firn.history ("
    " system bigint NOT NULL,"
    " timeline integer NOT NULL,"
    " low bigint NOT NULL,"
    " high bigint NOT NULL CHECK (high >= low),"
    " confirmed timestamptz NOT NULL DEFAULT now(),"
    " marks text NOT NULL DEFAULT '',"
    " PRIMARY KEY (system, timeline, marks, low, high));"
    "COMMENT ON TABLE firn.history IS 'firn: nodes that old rows may take: firn_confirm_history()';"
    "REVOKE ALL ON firn.history FROM PUBLIC";

/* A server that handed over issues nothing more on its timeline. */
static const char create_handover[] =
    "CREATE TABLE IF NOT EXISTS firn.handover ("
    " system bigint NOT NULL,"
    " timeline integer NOT NULL,"
    " marks text NOT NULL,"
    " at timestamptz NOT NULL DEFAULT now(),"
    " PRIMARY KEY (system, timeline, marks));"
    "COMMENT ON TABLE firn.handover IS 'firn: firn_hand_over() before a planned switchover';"
    "REVOKE ALL ON firn.handover FROM PUBLIC";

static const char begin_history[] =
    "INSERT INTO firn.history (system, timeline, marks, low, high)"
    " SELECT $1, $2, $3, 0, 9223372036854775807 WHERE NOT EXISTS (SELECT FROM firn.mark)";

static const char is_confirmed[] =
    "SELECT 1 FROM firn.history WHERE system = $1 AND timeline = $2 AND marks = $3"
    " AND low <= $4 AND high >= $5 LIMIT 1";

static const char confirm_nodes[] =
    "INSERT INTO firn.history (system, timeline, marks, low, high) VALUES ($1, $2, $3, $4, $5)"
    " ON CONFLICT (system, timeline, marks, low, high) DO UPDATE SET confirmed = now()";

/* Anybody who may put a trigger on one of the tables would act as the renewer, so only a superuser's
 * plain tables are used. The owner of the schema may drop them with all marks, so that must be a
 * superuser too. pg_class.relhastriggers and relhasrules stay true until VACUUM: not asked. */
static const char inspect[] =
    "SELECT count(*) = 3 AND bool_and(r.rolsuper AND o.rolsuper AND c.relkind = 'r'"
    " AND c.relpersistence = 'p' AND NOT c.relrowsecurity"
    " AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid)"
    " AND NOT EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = c.oid))"
    " FROM pg_class c JOIN pg_roles r"
    " ON r.oid = c.relowner JOIN pg_namespace s ON s.oid = c.relnamespace"
    " JOIN pg_roles o ON o.oid = s.nspowner"
    " WHERE c.oid IN (to_regclass('firn.mark'), to_regclass('firn.history'),"
    " to_regclass('firn.handover'))";

/* Tables that were made again or restored have other numbers; TRUNCATE gives them another file. */
static const char identify[] =
    "SELECT (SELECT system_identifier FROM pg_control_system()),"
    " ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer,"
    " concat_ws('/', (SELECT oid FROM pg_database WHERE datname = current_database()),"
    " 'firn.mark'::regclass::oid, pg_relation_filenode('firn.mark'),"
    " 'firn.history'::regclass::oid, pg_relation_filenode('firn.history'))";

/* ---- planned switchover ---- */

enum { HAND_OVER_MINUTES = 10 };

static const char hand_over_here[] =
    "INSERT INTO firn.handover (system, timeline, marks) VALUES ($1, $2, $3)"
    " ON CONFLICT (system, timeline, marks) DO UPDATE SET at = now()";

static const char handed_over[] =
    "SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')"
    " FROM firn.handover WHERE system = $1 AND timeline = $2 AND marks = $3";

/* The timeline before this one ended by a hand-over that this server has: it has all marks and nodes
 * of that timeline. Bounded in time, since a backup taken then must not count as the successor. */
static const char adopt[] =
    "WITH h AS (DELETE FROM firn.handover WHERE system = $1 AND timeline = $2 - 1 AND marks = $3"
    " RETURNING at > now() - make_interval(mins => $4::integer) AS recent),"
    " m AS (UPDATE firn.mark SET timeline = $2 FROM h WHERE h.recent"
    " AND system = $1 AND timeline = $2 - 1 AND marks = $3)"
    " INSERT INTO firn.history (system, timeline, marks, low, high)"
    " SELECT t.system, $2, t.marks, t.low, t.high FROM firn.history t, h WHERE h.recent"
    " AND t.system = $1 AND t.timeline = $2 - 1 AND t.marks = $3"
    " ON CONFLICT DO NOTHING";

/* The next window of each node is behind the guard, as after an unplanned promotion. */
static const char take_back_here[] =
    "WITH h AS (DELETE FROM firn.handover WHERE system = $1 AND timeline = $2 AND marks = $3"
    " RETURNING 1)"
    " UPDATE firn.mark SET timeline = 0 FROM h"
    " WHERE job IS NULL AND system = $1 AND timeline = $2 AND marks = $3";

/* ---- marks ---- */

static const char look[] =
    "SELECT high, (system = $3 AND timeline = $4 AND marks = $5), job FROM firn.mark"
    " WHERE ns = $1 AND node = $2 FOR UPDATE";

static const char other_row[] = "SELECT 1 FROM firn.mark WHERE ns = $1 AND \"row\" <> $2 LIMIT 1";

static const char set_mark[] =
    "INSERT INTO firn.mark (ns, node, \"row\", high, system, timeline, marks)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7)"
    " ON CONFLICT (ns, node) DO UPDATE SET high = excluded.high, system = excluded.system,"
    " timeline = excluded.timeline, marks = excluded.marks, changed = now()";

static const char find_job[] =
    "SELECT node, counts = $3, system = $4 AND timeline = $5 AND marks = $6"
    " FROM firn.mark WHERE ns = $1 AND job = $2 LIMIT 1";

/* $11: nodes that live IDs are issued on, whatever became of their marks. */
static const char take_node[] =
    "INSERT INTO firn.mark (ns, node, \"row\", high, job, counts, system, timeline, marks)"
    " SELECT $1, n, $2, $3, $4, nullif($5, ''), $6, $7, $8 FROM generate_series($9, $10) n"
    " WHERE n <> ALL ($11)"
    " AND NOT EXISTS (SELECT FROM firn.mark m WHERE m.ns = $1 AND m.node = n) LIMIT 1"
    " RETURNING node";

/* ---- statements ------------------------------------------------------------------------------ */

enum { ARGUMENTS = 11 };

typedef struct arguments {
    int count;
    Oid types[ARGUMENTS];
    Datum values[ARGUMENTS];
} arguments;

static void add_text(arguments *list, const char *text) {
    list->types[list->count] = TEXTOID;
    list->values[list->count++] = CStringGetTextDatum(text);
}

static void add_int(arguments *list, int64 number) {
    list->types[list->count] = INT8OID;
    list->values[list->count++] = Int64GetDatum(number);
}

static void add_ints(arguments *list, Datum *numbers, int count) {
    ArrayType *array =
        construct_array(numbers, count, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
    list->types[list->count] = INT8ARRAYOID;
    list->values[list->count++] = PointerGetDatum(array);
}

/* Runs one; returns how many rows came or were written. */
static uint64 run(const char *statement, arguments *list) {
    int code =
        SPI_execute_with_args(statement, list->count, list->types, list->values, NULL, false, 0);
    if (code < 0) {
        elog(ERROR, "firn: %s", SPI_result_code_string(code));
    }
    return SPI_processed;
}

static Datum cell_at(int column, bool *is_null) {
    return SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, is_null);
}

/* Names come in the encoding of the backend's database, which need not be this one's. */
static bool is_text(const char *name) {
    return pg_verifymbstr(name, (int)strlen(name), true);
}

/* ---- clock ----------------------------------------------------------------------------------- */

static int64 ms_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64CONST(1000) + now.tv_nsec / 1000000;
}

/* Sleeps for all of HOLD_MS, whatever signals come. */
static void hold(void) {
    int64 end = ms_of(CLOCK_BOOTTIME) + HOLD_MS, left = HOLD_MS;
    for (int i = 0; i < 100 && left > 0; i++) {
        pg_usleep((long)Min(left, HOLD_MS) * 1000L);
        CHECK_FOR_INTERRUPTS();
        left = end - ms_of(CLOCK_BOOTTIME);
    }
}

/* ---- who the server is ----------------------------------------------------------------------- */

/* A promoted standby or a restored backup has another timeline, a dump that was loaded elsewhere
 * another system, and tables that were dropped, truncated or restored have other numbers. */
typedef struct identity {
    int64 system, timeline;
    char marks[80];
} identity;

static identity me;

static void add_me(arguments *list) {
    add_int(list, me.system);
    add_int(list, me.timeline);
    add_text(list, me.marks);
}

/* A file of the data directory outlives the tables. While it exists, tables that are missing were
 * lost, and nobody knows which nodes old rows have. */
static const char begun_file[] = "firn.begun";

static bool has_begun(void) {
    struct stat unused;
    if (stat(begun_file, &unused) == 0) {
        return true;
    }
    if (errno != ENOENT) {
        ereport(ERROR,
                (errcode_for_file_access(),
                 errmsg("firn: the file %s in the data directory cannot be read: %m", begun_file)));
    }
    return false;
}

/* Before anything is handed out. Once a process: the directory's other files are not ours. */
static void note_begun(void) {
    static const char text[] = "firn issues IDs in this cluster. Keep this file: without it, lost "
                               "marks may not be noticed.\n";
    static bool noted;
    if (noted || has_begun()) {
        noted = true;
        return;
    }
    int file = OpenTransientFile(begun_file, O_WRONLY | O_CREAT | O_TRUNC | PG_BINARY);
    if (file < 0 || write(file, text, sizeof text - 1) != sizeof text - 1 || pg_fsync(file) != 0 ||
        CloseTransientFile(file) != 0) {
        ereport(ERROR, (errcode_for_file_access(),
                        errmsg("firn: the file %s in the data directory cannot be written: %m",
                               begun_file)));
    }
    fsync_fname(".", true);
    noted = true;
}

/* Tables of the first builds have no `marks`: what they confirmed counts no more. */
static const char has_marks[] = "SELECT 1 FROM pg_attribute WHERE attrelid = "
                                "to_regclass('firn.mark') AND attname = 'counts'";
static const char add_marks[] =
    "ALTER TABLE firn.mark ADD marks text NOT NULL DEFAULT '', ADD counts text;"
    "DROP TABLE IF EXISTS firn.history";

static bool is_missing(const char *table) {
    arguments list = {0};
    add_text(&list, table);
    return run("SELECT 1 WHERE to_regclass($1) IS NULL", &list) > 0;
}

static void make(const char *table, const char *statement) {
    if (SPI_execute(statement, false, 0) < 0) {
        elog(ERROR, "firn: the table %s could not be created", table);
    }
}

/* Returns true when nothing can have been forgotten, since these are the cluster's first tables. */
static bool make_tables(void) {
    arguments none = {0};
    bool first = false;
    if (is_missing("firn.mark")) {
        first = !has_begun();
        make("firn.mark", create);
        /* There may have been another one, dropped or in another database: what it let out was at
         * most FIRN_MAX_LEAD_MS and a tick of 1 s ahead of the clock, which goes by first. */
        hold();
    }
    if (run(has_marks, &none) == 0) {
        make("firn.mark", add_marks);
    }
    if (is_missing("firn.history")) {
        make("firn.history", create_history);
    }
    if (is_missing("firn.handover")) {
        make("firn.handover", create_handover);
    }
    return first;
}

static void read_identity(void) {
    arguments none = {0};
    bool is_null;
    run(identify, &none);
    me.system = DatumGetInt64(cell_at(1, &is_null));
    me.timeline = DatumGetInt32(cell_at(2, &is_null));
    strlcpy(me.marks, TextDatumGetCString(cell_at(3, &is_null)), sizeof me.marks);
}

static void prepare_tables(void) {
    arguments none = {0}, list = {0};
    bool is_null, first = make_tables();
    if (run(inspect, &none) == 0 || !DatumGetBool(cell_at(1, &is_null))) {
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("firn: a table of schema firn is not a plain table of a superuser"),
                        errhint("Look who created it, and give it and its schema to a superuser, "
                                "without triggers, rules and policies.")));
    }
    read_identity();
    add_me(&list);
    if (first) {
        run(begin_history, &list);
    }
    add_int(&list, HAND_OVER_MINUTES);
    run(adopt, &list);
}

/* The wall clock against the one that never steps. */
static int64 offset_now(void) {
    int64 steady = ms_of(CLOCK_BOOTTIME);
    return ms_of(CLOCK_REALTIME) - steady;
}

/* A clock that jumps ahead by more than 5 s against the steady one is believed when it has held
 * for 2 s: else a wrong reading would push the mark into the future, and there it stays. */
static void await_clock(void) {
    static int64 offset;
    static bool known;
    int64 now = offset_now();
    if (known && now - offset > JUMP_MS) {
        ereport(LOG, (errmsg("firn: the clock jumped ahead by %.1f s; it is believed when it has "
                             "held for 2 s",
                             (double)(now - offset) / 1000)));
        hold();
        now = offset_now();
    }
    offset = now;
    known = true;
}

/* ---- grants ---------------------------------------------------------------------------------- */

/* What a cell gets once the transaction is durable. */
typedef struct grant {
    firn_cell *cell;
    uint32 asked;
    uint64 next, end; /* next 0: as it is */
    uint64 guard;     /* the first slot behind the guard, or 0 */
    firn_error why;
} grant;

static void refuse(firn_error *why, int code, const char *format, ...) pg_attribute_printf(3, 4);
static void refuse(firn_error *why, int code, const char *format, ...) {
    va_list list;
    why->code = code;
    va_start(list, format);
    vsnprintf(why->text, sizeof why->text, format, list);
    va_end(list);
}

/* The slot of the present, or an error. */
static bool slot_now(const firn_cell *cell, int64 later_ms, uint64 *slot, firn_error *why) {
    firn_time now = firn_now();
    uint64 tick;
    now.sec += later_ms / 1000;
    if (firn_scheme_tick(&cell->scheme, &now, &tick, why) != FIRN_OK) {
        return false;
    }
    *slot = tick << cell->sequence_bits;
    return true;
}

/* Reads the mark. Returns false when the node is not for live IDs. */
static bool read_mark(grant *it, uint64 *high, bool *same) {
    firn_cell *cell = it->cell;
    arguments list = {0};
    bool is_null;
    *high = 0;
    *same = true;
    if (!is_text(cell->ns)) {
        refuse(&it->why, FIRN_EUSAGE,
               "ns cannot be written in the encoding of database %.60s: use ASCII",
               firn_setting_database);
        return false;
    }
    add_text(&list, cell->ns);
    if (!cell->loaded) {
        add_text(&list, cell->layout);
        if (run(other_row, &list) > 0) {
            refuse(&it->why, FIRN_ENAMESPACE,
                   "namespace %.60s belongs to another layout: give another ns=", cell->ns);
            return false;
        }
        list.count = 1;
    }
    add_int(&list, (int64)cell->node);
    add_me(&list);
    if (run(look, &list) == 0) {
        return true;
    }
    *high = (uint64)DatumGetInt64(cell_at(1, &is_null));
    *same = DatumGetBool(cell_at(2, &is_null));
    (void)cell_at(3, &is_null);
    if (!is_null) {
        refuse(&it->why, FIRN_EBUSY,
               "node %" PRIu64 " of %.60s was taken for old rows: set firn.node to another",
               cell->node, cell->ns);
    }
    return is_null;
}

static void write_mark(const firn_cell *cell, uint64 high) {
    arguments list = {0};
    add_text(&list, cell->ns);
    add_int(&list, (int64)cell->node);
    add_text(&list, cell->layout);
    add_int(&list, (int64)high);
    add_me(&list);
    run(set_mark, &list);
}

/* Everything from the old end, or the mark where that is higher, to the new end is the server's:
 * the mark has no other writer. A mark far ahead of the clock is not raised: it is waited for. */
static void plan(grant *it) {
    firn_cell *cell = it->cell;
    uint64 high, now, begin = pg_atomic_read_u64(&cell->end), guard = 0;
    uint64 used = pg_atomic_read_u64(&cell->next), reach = 0;
    bool same;
    if (!read_mark(it, &high, &same) || !slot_now(cell, 0, &now, &it->why)) {
        return;
    }
    if (!same && !slot_now(cell, FIRN_GUARD_MS, &guard, &it->why)) {
        return;
    }
    if (high > begin || guard > begin) {
        begin = high > guard ? high : guard;
        it->next = begin;
        it->guard = guard;
    }
    uint64 from = used > now ? used : now;
    from = from < begin && begin <= now + firn_slots_of_ms(cell, FIRN_MAX_LEAD_MS) ? begin : from;
    reach = from + firn_slots_of_ms(cell, FIRN_WINDOW_MS);
    it->end = reach < begin ? begin : reach;
    it->end = it->end > cell->slot_end ? cell->slot_end : it->end;
    if (begin >= cell->slot_end) {
        refuse(&it->why, FIRN_ELAYOUT,
               "the mark of %.60s node %" PRIu64 " is at the end of the layout: take another node",
               cell->ns, cell->node);
        return;
    }
    if (it->end > high || !same) {
        write_mark(cell, it->end);
    }
}

/* Raises `next` first: who sees the new end must not issue below it what is skipped. */
static void publish(grant *it) {
    firn_cell *cell = it->cell;
    uint64 next = pg_atomic_read_u64(&cell->next);
    cell->code = it->why.code;
    if (it->why.code != FIRN_OK) {
        uint64 end = pg_atomic_read_u64(&cell->end);
        cell->why = it->why;
        /* not asked again at each ID: half of what is left later */
        pg_atomic_write_u64(&cell->soft, next < end ? next + (end - next) / 2 : end);
    } else {
        while (next < it->next && !pg_atomic_compare_exchange_u64(&cell->next, &next, it->next)) {
        }
        next = next < it->next ? it->next : next;
        if (it->guard != 0) {
            pg_atomic_write_u64(&cell->guard, it->next);
        }
        pg_write_barrier();
        if (it->end > pg_atomic_read_u64(&cell->end)) {
            pg_atomic_write_u64(&cell->end, it->end);
            pg_write_barrier();
            uint64 half = firn_slots_of_ms(cell, FIRN_WINDOW_MS) / 2;
            pg_atomic_write_u64(&cell->soft, it->end > half ? it->end - half : 0);
        }
        cell->loaded = true;
    }
    pg_atomic_write_u32(&cell->answered, it->asked);
}

/* ---- nodes for old rows ---------------------------------------------------------------------- */

static arguments range_of(const firn_take *it) {
    arguments list = {0};
    add_me(&list);
    add_int(&list, (int64)it->low);
    add_int(&list, (int64)it->high);
    return list;
}

static void confirm(firn_take *it) {
    arguments list = range_of(it);
    run(confirm_nodes, &list);
}

static void hand_over(firn_take *it) {
    arguments list = {0};
    add_me(&list);
    run(hand_over_here, &list);
}

static void take_back(firn_take *it) {
    arguments list = {0};
    add_me(&list);
    if (run(handed_over, &list) == 0) {
        refuse(&it->why, FIRN_EUSAGE,
               "this server did not hand its nodes over: there is nothing to take back");
        return;
    }
    run(take_back_here, &list);
}

static void add_live_nodes(arguments *list, const char *ns) {
    Datum nodes[FIRN_CELLS];
    int count = 0;
    for (uint32 i = 0; i < firn_slots->cell_count; i++) { /* what is added now is not loaded */
        const firn_cell *cell = &firn_slots->cells[i];
        if (cell->loaded && strcmp(cell->ns, ns) == 0) {
            nodes[count++] = Int64GetDatum((int64)cell->node);
        }
    }
    add_ints(list, nodes, count);
}

/* The node of a job that was begun before, if this is the same one. Returns false when there is
 * none. */
static bool find_begun(firn_take *it) {
    arguments list = {0};
    bool no_counts, is_null;
    add_text(&list, it->ns);
    add_text(&list, it->job);
    add_text(&list, it->counts);
    add_me(&list);
    if (run(find_job, &list) == 0) {
        return false;
    }
    it->node = (uint64)DatumGetInt64(cell_at(1, &is_null));
    bool same_counts = DatumGetBool(cell_at(2, &no_counts)) && !no_counts;
    if (it->counts[0] == '\0') {
        refuse(&it->why, FIRN_EBUSY, "job %s of %.60s was done before: give it another name",
               it->job, it->ns);
    } else if (!DatumGetBool(cell_at(3, &is_null))) {
        refuse(&it->why, FIRN_EBUSY,
               "job %s of %.60s was begun before a promotion or a restore, and rows of it may be "
               "forgotten: give the other rows another job name",
               it->job, it->ns);
    } else if (!same_counts) {
        refuse(&it->why, FIRN_EBUSY,
               "job %s of %.60s was begun in another database, or its table firn_job was lost: "
               "give the other rows another job name",
               it->job, it->ns);
    } else if (it->low == it->high && it->node != it->low) {
        refuse(&it->why, FIRN_EBUSY,
               "job %s of %.60s has node %" PRIu64 ": leave the node out of the options", it->job,
               it->ns, it->node);
    }
    return true;
}

/* Works on a copy: who asked may give up meanwhile. */
static void take(firn_take *it) {
    arguments range = range_of(it), list = {0};
    bool is_null;
    if (!is_text(it->ns) || !is_text(it->job)) {
        refuse(&it->why, FIRN_EUSAGE,
               "job or ns cannot be written in the encoding of database %.60s: use ASCII",
               firn_setting_database);
        return;
    }
    add_text(&list, it->ns);
    add_text(&list, it->layout);
    if (run(other_row, &list) > 0) {
        refuse(&it->why, FIRN_ENAMESPACE,
               "namespace %.60s belongs to another layout: give another ns=", it->ns);
        return;
    }
    if (find_begun(it)) {
        return;
    }
    if (run(is_confirmed, &range) == 0) {
        refuse(&it->why, FIRN_EWINDOW,
               "nodes %" PRIu64 "-%" PRIu64 " may have old rows that were forgotten in a promotion "
               "or a restore (timeline " INT64_FORMAT
               "): name unused ones, then SELECT firn_confirm_history('%" PRIu64 "-%" PRIu64 "')",
               it->low, it->high, me.timeline, it->low, it->high);
        return;
    }
    add_int(&list, (int64)it->mark);
    add_text(&list, it->job);
    add_text(&list, it->counts);
    add_me(&list);
    add_int(&list, (int64)it->low);
    add_int(&list, (int64)it->high);
    add_live_nodes(&list, it->ns);
    if (run(take_node, &list) == 0) {
        refuse(&it->why, FIRN_EBUSY,
               "no node of %.60s from %" PRIu64 " to %" PRIu64
               " is left for old rows: widen firn.history, or give another node",
               it->ns, it->low, it->high);
        return;
    }
    it->node = (uint64)DatumGetInt64(cell_at(1, &is_null));
}

/* Nothing is handed out behind a hand-over, whoever asks. */
static bool refuse_handed_over(firn_error *why) {
    arguments list = {0};
    bool is_null;
    add_me(&list);
    if (run(handed_over, &list) == 0) {
        return false;
    }
    refuse(why, FIRN_EWINDOW,
           "this server handed its nodes over at %s UTC: promote its standby, or, if none was "
           "promoted, SELECT firn_take_back()",
           TextDatumGetCString(cell_at(1, &is_null)));
    return true;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

typedef struct round {
    int grant_count, take_count;
    grant grants[FIRN_CELLS];
    firn_take takes[FIRN_TAKES];
} round_;

static void gather(round_ *it) {
    it->grant_count = it->take_count = 0;
    LWLockAcquire(firn_slots->lock, LW_SHARED);
    for (uint32 i = 0; i < firn_slots->cell_count; i++) {
        firn_cell *cell = &firn_slots->cells[i];
        uint32 asked = pg_atomic_read_u32(&cell->asked);
        if (asked != pg_atomic_read_u32(&cell->answered)) {
            it->grants[it->grant_count++] = (grant){.cell = cell, .asked = asked};
        }
    }
    for (int i = 0; i < FIRN_TAKES; i++) {
        if (firn_slots->takes[i].state == FIRN_TAKE_ASKED) {
            it->takes[it->take_count++] = firn_slots->takes[i];
        }
    }
    LWLockRelease(firn_slots->lock);
}

static void answer(const firn_take *it) {
    for (int i = 0; i < FIRN_TAKES; i++) {
        firn_take *own = &firn_slots->takes[i];
        if (own->number == it->number && own->state == FIRN_TAKE_ASKED) {
            *own = *it;
            own->state = FIRN_TAKE_ANSWERED;
        }
    }
}

static void publish_all(round_ *it) {
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    for (int i = 0; i < it->grant_count; i++) {
        publish(&it->grants[i]);
    }
    for (int i = 0; i < it->take_count; i++) {
        answer(&it->takes[i]);
    }
    LWLockRelease(firn_slots->lock);
    ConditionVariableBroadcast(&firn_slots->answered);
}

/* A server that may forget what it acknowledged is refused. */
static void check_durable(void) {
    static const char *const needed[] = {"fsync", "full_page_writes"};
    for (size_t i = 0; i < lengthof(needed) && !firn_setting_unsafe; i++) {
        if (strcmp(GetConfigOption(needed[i], false, false), "on") != 0) {
            ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                            errmsg("firn: %s is off, so a crash may forget marks", needed[i]),
                            errhint("Set it to on, or set firn.unsafe = on if IDs may repeat.")));
        }
    }
}

static void do_all(round_ *it) {
    static void (*const verbs[])(firn_take *) = {[FIRN_ASK_NODE] = take,
                                                 [FIRN_ASK_CONFIRM] = confirm,
                                                 [FIRN_ASK_HAND_OVER] = hand_over,
                                                 [FIRN_ASK_TAKE_BACK] = take_back};
    for (int i = 0; i < it->take_count; i++) {
        firn_take *one = &it->takes[i];
        bool closes = one->what == FIRN_ASK_HAND_OVER || one->what == FIRN_ASK_TAKE_BACK;
        if (closes || !refuse_handed_over(&one->why)) {
            verbs[one->what](one);
        }
    }
    for (int i = 0; i < it->grant_count; i++) {
        if (!refuse_handed_over(&it->grants[i].why)) {
            plan(&it->grants[i]);
        }
    }
}

static void write_all(round_ *it) {
    pqsignal(SIGINT, StatementCancelHandler); /* lock_timeout comes as one */
    SetCurrentStatementStartTimestamp();
    StartTransactionCommand();
    SPI_connect();
    PushActiveSnapshot(GetTransactionSnapshot());
    pgstat_report_activity(STATE_RUNNING, "firn: writing marks");
    check_durable();
    prepare_tables();
    do_all(it);
    SPI_finish();
    PopActiveSnapshot();
    /* A cancelled wait for a synchronous standby would look like a commit that is there too. */
    pqsignal(SIGINT, SIG_IGN);
    CHECK_FOR_INTERRUPTS();
    CommitTransactionCommand();
    pqsignal(SIGINT, StatementCancelHandler);
    pgstat_report_activity(STATE_IDLE, NULL);
    /* One who is told to end while a synchronous standby is waited for returns from the commit
     * early: then nothing is handed out. */
    CHECK_FOR_INTERRUPTS();
    note_begun();
}

/* The transaction is gone: everybody who waits is told why. */
static void fail_all(round_ *it, MemoryContext context) {
    MemoryContextSwitchTo(context);
    ErrorData *error = CopyErrorData();
    FlushErrorState();
    AbortCurrentTransaction();
    for (int i = 0; i < it->grant_count; i++) {
        it->grants[i].why.code = FIRN_ESTORE;
        snprintf(it->grants[i].why.text, sizeof it->grants[i].why.text,
                 "the marks could not be written, %.100s: see the server's log", error->message);
    }
    for (int i = 0; i < it->take_count; i++) {
        it->takes[i].why.code = FIRN_ESTORE;
        snprintf(it->takes[i].why.text, sizeof it->takes[i].why.text,
                 "the node could not be taken, %.100s: see the server's log", error->message);
    }
    ereport(LOG, (errmsg("firn: marks were not written: %s", error->message),
                  error->hint != NULL ? errhint("%s", error->hint) : 0));
    FreeErrorData(error);
    publish_all(it);
}

/* Returns false when nobody asked for anything. */
static bool serve(round_ *it) {
    MemoryContext context = CurrentMemoryContext;
    await_clock();
    gather(it);
    if (it->grant_count + it->take_count == 0) {
        return false;
    }
    PG_TRY();
    {
        write_all(it);
        publish_all(it);
    }
    PG_CATCH();
    { fail_all(it, context); }
    PG_END_TRY();
    MemoryContextSwitchTo(context);
    return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void leave(int code, Datum unused) {
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    firn_slots->renewer = NULL;
    LWLockRelease(firn_slots->lock);
}

static void settle(void) {
    static const char *const settings[][2] = {
        {"synchronous_commit", "on"},
        {"search_path", "pg_catalog"},
        {"default_transaction_isolation", "read committed"},
        {"default_transaction_read_only", "off"},
        {"lock_timeout", "3s"},
        {"statement_timeout", "0"},
#if PG_VERSION_NUM >= 170000
        {"transaction_timeout", "0"},
#endif
        {"jit", "off"}
    };
    for (size_t i = 0; i < lengthof(settings); i++) {
        SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_SESSION);
    }
}

/* CREATE DATABASE with this one as template, DROP and ALTER DATABASE wait, with a lock on it, for up to
 * 5 s until all sessions have left. The next renewer waits for that lock before it is a session. */
static bool is_in_the_way(void) {
    LOCKTAG tag;
    SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
    if (LockAcquire(&tag, RowExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL) {
        return true;
    }
    LockRelease(&tag, RowExclusiveLock, true);
    return false;
}

static void yield(void) {
    if (is_in_the_way()) {
        ereport(LOG, (errmsg("firn: the renewer leaves database %s, which somebody copies, renames "
                             "or drops, and comes back",
                             firn_setting_database)));
        proc_exit(1);
    }
}

void firn_background_main(Datum argument) {
    static round_ round;
    pqsignal(SIGHUP, SignalHandlerForConfigReload);
    pqsignal(SIGTERM, die);
    BackgroundWorkerUnblockSignals();
    BackgroundWorkerInitializeConnection(firn_setting_database, NULL, 0);
    settle();
    before_shmem_exit(leave, 0);
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    firn_slots->renewer = &MyProc->procLatch;
    LWLockRelease(firn_slots->lock);
    for (;;) {
        /* The waits of a transaction reset the latch too, so after one it is looked again. */
        if (!serve(&round)) {
            (void)WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, LOOK_MS,
                            PG_WAIT_EXTENSION);
            ResetLatch(MyLatch);
        }
        CHECK_FOR_INTERRUPTS();
        yield();
        if (ConfigReloadPending) {
            ConfigReloadPending = false;
            ProcessConfigFile(PGC_SIGHUP);
        }
    }
}
