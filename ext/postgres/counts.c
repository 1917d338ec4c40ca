/* SPDX-License-Identifier: MIT */
/* Named jobs: one job over many statements, transactions and sessions. The extension's table firn_jobs.job counts the IDs
 * that a job issued in each tick. The caller's own transaction writes these counts, so counts and rows are committed or
 * rolled back together, and a batch that is run again after a crash gets the same IDs again. The renewer takes the
 * job's node permanently; this file does not. */
#include "extension.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include <inttypes.h>

enum {
    CHUNK_S =
        1024, /* a row of the table counts the ticks of this many seconds, or up to twice that */
    CHUNKS_AHEAD = 6, /* maximum shift of a row */
    PIECE_BITS = 4,   /* a chunk is 2^PIECE_BITS pieces in memory */
    PIECES = 1 << PIECE_BITS,
    NUMBER_MOST = 10 /* bytes of a number */
};

/* A tick that has IDs. */
typedef struct tick_count {
    uint32 at; /* from the chunk's first */
    uint32 used;
} tick_count;

/* Ticks in order. A new one moves all later ones of its piece, so pieces are kept short: rows in
 * random order would cost the square of a chunk's ticks. */
typedef struct piece {
    int count, room;
    tick_count *ticks;
} piece;

typedef struct chunk {
    int64 number; /* the key */
    bool dirty;
    piece pieces[PIECES];
} chunk;

struct firn_counted {
    firn_counted *next;
    firn_job *job;
    char key[FIRN_NS_SIZE + FIRN_JOB_SIZE + 8]; /* ns, newline, name */
    text *ns, *name;
    text *scheme, *options;
    Oid table;
    uint32 chunk_bits; /* ticks of a chunk: 2^chunk_bits */
    uint64 ahead;      /* ticks that a row may be shifted by */
    int dirty_level; /* nesting level of the (sub)transaction that has counts which are not written; 0: none */
    HTAB *chunks;
};

uint64 firn_counted_era = 1;
static firn_counted *opened;
static MemoryContext room; /* of all of them: a transaction's */
static bool spoiled, writing;

/* ---- life ------------------------------------------------------------------------------------ */

static void refuse_spoiled(void) __attribute__((noreturn));
static void refuse_spoiled(void) {
    firn_refuse(FIRN_EBUSY, "a savepoint was rolled back while a job was counting: run the "
                            "transaction again, and stamp rows by their own statements");
}

/* The table has the written counts: the end of the transaction commits or drops them. */
static void forget_all(void) {
    for (firn_counted *it = opened; it != NULL; it = it->next) {
        firn_job_close(it->job);
    }
    opened = NULL;
    firn_counted_era++;
    if (room != NULL) {
        MemoryContextDelete(room);
        room = NULL;
    }
}

static void write_all(void);

static void at_end(XactEvent event, void *unused) {
    switch (event) {
    case XACT_EVENT_PRE_COMMIT:
    case XACT_EVENT_PRE_PREPARE:
        if (spoiled) {
            refuse_spoiled();
        }
        write_all();
        break;
    case XACT_EVENT_COMMIT:
    case XACT_EVENT_ABORT:
    case XACT_EVENT_PREPARE:
        forget_all();
        spoiled = writing = false;
        break;
    default:
        break;
    }
}

/* Whether an outer transaction has counts that are not written. The present one must not write them: its rollback would
 * take them back, but not the IDs. */
static bool is_outer(const firn_counted *it) {
    return it->dirty_level != 0 && it->dirty_level < GetCurrentTransactionNestLevel();
}

/* After a release the outer transaction has the counts. After a rollback the table returns to its previous state. So do
 * the counts here, which are read again; unwritten counts of the outer transaction would be lost. */
static void at_savepoint(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
                         void *unused) {
    const int level = GetCurrentTransactionNestLevel();
    if (event == SUBXACT_EVENT_PRE_COMMIT_SUB) {
        write_all();
    }
    for (firn_counted *it = opened; it != NULL; it = it->next) {
        if (event == SUBXACT_EVENT_COMMIT_SUB && it->dirty_level == level) {
            it->dirty_level = level - 1;
        }
        spoiled = spoiled || (event == SUBXACT_EVENT_ABORT_SUB && is_outer(it));
    }
    if (event == SUBXACT_EVENT_ABORT_SUB) {
        writing = false;
        forget_all();
    }
}

static ExecutorFinish_hook_type finish_before;

/* The statement's IDs are counted before its AFTER triggers, which may roll back what they do. */
static void finish(QueryDesc *query) {
    write_all();
    if (finish_before != NULL) {
        finish_before(query);
    } else {
        standard_ExecutorFinish(query);
    }
    write_all();
}

void firn_counts_listen(void) {
    finish_before = ExecutorFinish_hook;
    ExecutorFinish_hook = finish;
    RegisterXactCallback(at_end, NULL);
    RegisterSubXactCallback(at_savepoint, NULL);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char jobs_schema[] = "firn_jobs";

enum statement { ADD, LOCK_IT, WRITE, STATEMENTS };

/* They run with the rights of the table's owner. */
static const char *const texts[STATEMENTS] = {
    [ADD] =
        "INSERT INTO %s (ns, job, chunk, counts) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
    [LOCK_IT] = "SELECT counts FROM ONLY %s WHERE ns = $1"
                " AND job = $2 AND chunk = $3 FOR UPDATE",
    [WRITE] = "UPDATE ONLY %s SET counts = $4 WHERE ns = $1"
              " AND job = $2 AND chunk = $3",
};

static SPIPlanPtr plan_of(enum statement which, Oid table) {
    static SPIPlanPtr plans[STATEMENTS];
    static Oid planned[STATEMENTS];
    Oid types[4] = {TEXTOID, TEXTOID, INT8OID, BYTEAOID};
    if (plans[which] == NULL || planned[which] != table) {
        char *name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
                                                get_rel_name(table));
        SPIPlanPtr plan =
            SPI_prepare(psprintf(texts[which], name), which == LOCK_IT ? 3 : 4, types);
        if (plan == NULL || SPI_keepplan(plan) != 0) {
            elog(ERROR, "firn: %s", SPI_result_code_string(SPI_result));
        }
        if (plans[which] != NULL) {
            SPI_freeplan(plans[which]);
        }
        plans[which] = plan;
        planned[which] = table;
    }
    return plans[which];
}

static uint64 run(enum statement which, const firn_counted *it, int64 number, Datum counts) {
    Datum values[4] = {PointerGetDatum(it->ns), PointerGetDatum(it->name), Int64GetDatum(number),
                       counts};
    int code = SPI_execute_plan(plan_of(which, it->table), values, NULL, false, 0);
    if (code < 0) {
        elog(ERROR, "firn: %s", SPI_result_code_string(code));
    }
    return SPI_processed;
}

static void refuse_missing(void) __attribute__((noreturn));
static void refuse_missing(void) {
    firn_refuse(FIRN_ENAMESPACE,
                "the table firn_jobs.job of the extension is missing: run DROP EXTENSION firn and "
                "CREATE EXTENSION firn, and give the job another name");
}

/* ---- counts as bytes: numbers of 7 bits a byte, the gap to the tick before and the count -------- */

static char *put_number(char *to, uint64 number) {
    for (; number > 127; number >>= 7) {
        *to++ = (char)(number | 128);
    }
    *to++ = (char)number;
    return to;
}

static uint64 get_number(const char **at, const char *end) {
    uint64 number = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint8 byte = (uint8) * (*at)++;
        number |= (uint64)(byte & 127) << shift;
        if (byte < 128) {
            return number;
        }
    }
    ereport(ERROR,
            (errcode(ERRCODE_DATA_CORRUPTED), errmsg("firn: a row of firn_jobs.job is corrupt"),
             errhint("Give the other rows another job name.")));
}

static Datum bytes_of(const chunk *one) {
    size_t ticks = 0;
    for (int i = 0; i < PIECES; i++) {
        ticks += (size_t)one->pieces[i].count;
    }
    bytea *out = palloc(VARHDRSZ + 2 * NUMBER_MOST * ticks);
    char *to = VARDATA(out);
    uint32 before = 0;
    for (int i = 0; i < PIECES; i++) {
        const piece *in = &one->pieces[i];
        for (int j = 0; j < in->count; j++) {
            to = put_number(to, in->ticks[j].at - before);
            to = put_number(to, in->ticks[j].used);
            before = in->ticks[j].at;
        }
    }
    SET_VARSIZE(out, to - (char *)out);
    return PointerGetDatum(out);
}

/* Where a tick is, or belongs. */
static int place_of(const piece *in, uint32 at) {
    int low = 0, high = in->count;
    if (high > 0 && in->ticks[high - 1].at < at) {
        return high;
    }
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (in->ticks[middle].at < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void count(const firn_counted *it, chunk *one, uint64 tick, uint32 used) {
    uint32 at = (uint32)(tick & ((UINT64CONST(1) << it->chunk_bits) - 1));
    piece *in = &one->pieces[at >> (it->chunk_bits - PIECE_BITS)];
    int i = place_of(in, at);
    if (i == in->count || in->ticks[i].at != at) {
        if (in->count == in->room) {
            in->room = in->room > 0 ? in->room * 2 : 4;
            size_t size = (size_t)in->room * sizeof *in->ticks;
            in->ticks =
                in->ticks != NULL ? repalloc(in->ticks, size) : MemoryContextAlloc(room, size);
        }
        memmove(in->ticks + i + 1, in->ticks + i, (size_t)(in->count - i) * sizeof *in->ticks);
        in->ticks[i] = (tick_count){at, 0};
        in->count++;
    }
    in->ticks[i].used += used;
}

/* The job counts in memory: passes it the counts of this chunk. */
static void replay(firn_counted *it, chunk *one, bytea *bytes) {
    const char *at = VARDATA_ANY(bytes), *end = at + VARSIZE_ANY_EXHDR(bytes);
    const firn_scheme *scheme = firn_job_scheme(it->job);
    uint64 tick = (uint64)one->number << it->chunk_bits;
    firn_error error;
    while (at < end) {
        firn_time time;
        int64_t shift_ns;
        firn_id unused;
        tick += get_number(&at, end);
        uint64 used = get_number(&at, end);
        firn_scheme_time(scheme, tick, &time);
        for (uint64 i = 0; i < used; i++) {
            FIRN_CHECK(firn_job_next(it->job, &time, &unused, &shift_ns, &error));
        }
        count(it, one, tick, (uint32)used);
        CHECK_FOR_INTERRUPTS();
    }
}

/* The chunk, locked until the transaction ends: other sessions of the job that need it wait. */
static chunk *load(firn_counted *it, int64 number) {
    bool found, is_null;
    chunk *one = hash_search(it->chunks, &number, HASH_FIND, NULL);
    if (one != NULL) {
        return one;
    }
    firn_caller before = firn_private_write(it->table);
    bool was_writing = writing;
    writing = true; /* these statements end too, and must not write all counts */
    bytea *nothing = palloc0(VARHDRSZ), *bytes = NULL;
    SET_VARSIZE(nothing, VARHDRSZ);
    if (run(ADD, it, number, PointerGetDatum(nothing)) == 0) {
        if (run(LOCK_IT, it, number, 0) != 1) {
            firn_refuse(FIRN_EBUSY, "another session changed the counts of this job: run the "
                                    "transaction again");
        }
        bytes = DatumGetByteaPCopy(
            SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
    }
    one = hash_search(it->chunks, &number, HASH_ENTER, &found);
    *one = (chunk){.number = number};
    if (bytes != NULL) {
        replay(it, one, bytes);
    }
    writing = was_writing;
    firn_private_leave(before);
    return one;
}

static void write_one(firn_counted *it) {
    HASH_SEQ_STATUS all;
    chunk *one;
    firn_caller before = firn_private_write(it->table);
    hash_seq_init(&all, it->chunks);
    while ((one = hash_seq_search(&all)) != NULL) {
        if (one->dirty) {
            Datum bytes = bytes_of(one);
            if (run(WRITE, it, one->number, bytes) != 1) {
                ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                                errmsg("firn: rows of firn_jobs.job are missing"),
                                errhint("Run the transaction again; never change that table.")));
            }
            pfree(DatumGetPointer(bytes));
            one->dirty = false;
        }
    }
    firn_private_leave(before);
    it->dirty_level = 0;
}

static void write_all(void) {
    if (writing) {
        return; /* the statements that write counts run through the executor too */
    }
    for (firn_counted *it = opened; it != NULL; it = it->next) {
        if (it->dirty_level != 0 && !is_outer(it)) {
            writing = true;
            PushActiveSnapshot(GetTransactionSnapshot());
            write_one(it);
            PopActiveSnapshot();
            writing = false;
        }
    }
}

/* ---- IDs ------------------------------------------------------------------------------------- */

/* A deleted row would cause duplicates, and some roles can delete without a grant (pg_write_all_data, superusers): only
 * this file writes. Rows that a publisher sends count another server's IDs, so they are left out. */
static Datum keep(FunctionCallInfo fcinfo) {
    const TriggerData *it = (TriggerData *)fcinfo->context;
    if (!CALLED_AS_TRIGGER(fcinfo)) {
        firn_refuse(FIRN_EUSAGE, "firn_jobs.keep() is a trigger's: leave it alone");
    }
    if (writing) {
        return PointerGetDatum(TRIGGER_FIRED_BY_UPDATE(it->tg_event) ? it->tg_newtuple
                                                                     : it->tg_trigtuple);
    }
    if (SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA) {
        return PointerGetDatum(NULL);
    }
    firn_refuse(FIRN_EWINDOW, "firn_jobs.job counts the IDs of jobs, without which IDs repeat: "
                              "when all jobs are done, TRUNCATE it");
}

FIRN_ENTRY(keep_jobs, keep(fcinfo))

enum {
    KEEP_TYPE = TRIGGER_TYPE_ROW | TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE |
                TRIGGER_TYPE_DELETE
};

static bool is_keeper(const Trigger *it) {
    FmgrInfo function;
    if (it->tgenabled != TRIGGER_FIRES_ALWAYS || it->tgtype != KEEP_TYPE || it->tgqual != NULL) {
        return false;
    }
    fmgr_info(it->tgfoid, &function);
    return function.fn_addr == firn_sql_keep_jobs;
}

/* Which transaction last changed a trigger: one that was disabled for a while has another. */
static TransactionId changed_by(Oid trigger) {
    ScanKeyData key;
    Relation catalog = table_open(TriggerRelationId, AccessShareLock);
    ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(trigger));
    SysScanDesc scan = systable_beginscan(catalog, TriggerOidIndexId, true, NULL, 1, &key);
    HeapTuple tuple = systable_getnext(scan);
    TransactionId xid =
        HeapTupleIsValid(tuple) ? HeapTupleHeaderGetRawXmin(tuple->t_data) : InvalidTransactionId;
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
    return xid;
}

/* The trigger that kept the table's rows until now; InvalidOid: no trigger. */
static Oid keeper_of(Oid own) {
    Relation table = relation_open(own, NoLock);
    Oid found = InvalidOid;
    for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++) {
        const Trigger *it = &table->trigdesc->triggers[i];
        found = is_keeper(it) ? it->tgoid : found;
    }
    relation_close(table, NoLock);
    return found;
}

Oid firn_counts_table(void) {
    Oid table = firn_private_lock(jobs_schema, "job");
    if (!OidIsValid(table)) {
        refuse_missing();
    }
    return table;
}

/* The script of the extension calls it, and drops it. */
FIRN_ENTRY(revoke_jobs, (firn_private_revoke(jobs_schema, PG_GETARG_ARRAYTYPE_P(0)), (Datum)0))

void firn_counts_name(char name[FIRN_COUNTS_SIZE], Oid table) {
    Oid file = DatumGetObjectId(DirectFunctionCall1(pg_relation_filenode, ObjectIdGetDatum(table)));
    Oid keeper = keeper_of(table);
    if (!OidIsValid(keeper)) {
        firn_refuse(FIRN_EBACK, "the trigger firn_keep of firn_jobs.job is missing or not ENABLE "
                                "ALWAYS, so rows may be missing: enable it so, and give the jobs "
                                "other names");
    }
    snprintf(name, FIRN_COUNTS_SIZE, "%u/%u/%u/%u", MyDatabaseId, table, file, changed_by(keeper));
}

firn_counted *firn_counted_find(text *scheme, text *name, text *options) {
    firn_counted *it = opened;
    if (spoiled) {
        refuse_spoiled();
    }
    while (it != NULL && !(firn_text_same(it->scheme, scheme) && firn_text_same(it->name, name) &&
                           firn_text_same(it->options, options))) {
        it = it->next;
    }
    return it;
}

/* Other schemes or options of the same job count in the same rows, so only one of them may be open at a time. */
static void close_other(const char *key) {
    bool open = false;
    for (const firn_counted *it = opened; it != NULL; it = it->next) {
        open = open || strcmp(it->key, key) == 0;
    }
    if (!open) {
        return;
    }
    write_all();
    for (const firn_counted *it = opened; it != NULL; it = it->next) {
        if (is_outer(it)) {
            refuse_spoiled();
        }
    }
    forget_all();
}

firn_counted *firn_counted_open(firn_job *job, const char *ns, text *scheme, text *name,
                                text *options, Oid table) {
    HASHCTL control = {.keysize = sizeof(int64), .entrysize = sizeof(chunk)};
    const firn_scheme *made = firn_job_scheme(job);
    char key[sizeof opened->key];
    snprintf(key, sizeof key, "%s\n%s", ns, text_to_cstring(name));
    close_other(key);
    if (room == NULL) {
        room = AllocSetContextCreate(TopTransactionContext, "firn jobs", ALLOCSET_DEFAULT_SIZES);
    }
    MemoryContext before = MemoryContextSwitchTo(room);
    firn_counted *it = palloc0(sizeof *it);
    strlcpy(it->key, key, sizeof it->key);
    it->ns = cstring_to_text(ns);
    it->name = firn_text_keep(name);
    it->scheme = firn_text_keep(scheme);
    it->options = firn_text_keep(options);
    it->table = table;
    it->chunk_bits = PIECE_BITS;
    while (it->chunk_bits < 32 && /* the bits of tick_count.at */
           (UINT64CONST(1) << it->chunk_bits) * made->tick_ns < CHUNK_S * UINT64CONST(1000000000)) {
        it->chunk_bits++;
    }
    it->ahead = (uint64)firn_setting_max_shift_ms * 1000000 / made->tick_ns;
    uint64 most = (uint64)CHUNKS_AHEAD << it->chunk_bits;
    if (it->ahead > most) {
        firn_job_close(job);
        firn_refuse(
            FIRN_ERANGE,
            "firn.max_shift_ms is %d, too high for a job with a name: the limit is " UINT64_FORMAT
            " for %s",
            firn_setting_max_shift_ms, most * made->tick_ns / 1000000, made->name);
    }
    control.hcxt = room;
    it->chunks = hash_create("firn counts", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    MemoryContextSwitchTo(before);
    it->job = job;
    it->next = opened;
    opened = it;
    return it;
}

const firn_scheme *firn_counted_scheme(const firn_counted *it) {
    return firn_job_scheme(it->job);
}

void firn_counted_next(firn_counted *it, const firn_time *time, firn_id *id) {
    const firn_scheme *scheme = firn_job_scheme(it->job);
    firn_error error;
    int64_t shift_ns;
    uint64 tick;
    FIRN_CHECK(firn_scheme_tick(scheme, time, &tick, &error));
    int64 first = (int64)(tick >> it->chunk_bits),
          last = (int64)((tick + it->ahead) >> it->chunk_bits);
    for (int64 i = first; i <= last; i++) {
        (void)load(it, i);
    }
    FIRN_CHECK(firn_job_next(it->job, time, id, &shift_ns, &error));
    uint64 at = tick + (uint64)shift_ns / scheme->tick_ns;
    chunk *one = load(it, (int64)(at >> it->chunk_bits));
    count(it, one, at, 1);
    one->dirty = true;
    if (it->dirty_level == 0) {
        it->dirty_level = GetCurrentTransactionNestLevel();
    }
}
