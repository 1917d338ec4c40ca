/* SPDX-License-Identifier: MIT */
/* Named jobs: one job over many statements, transactions and sessions. The extension's table
 * firn_jobs.job counts the IDs that a job issued in each tick. The caller's own transaction writes
 * these counts, so counts and rows are committed or rolled back together, and a batch that is run
 * again after a crash gets the same IDs again. An ID may outlive a rollback, in a variable or in
 * the result that a loop reads: until the transaction or the procedure ends, its count is kept in
 * memory. The renewer takes the job's node permanently; this file does not. */
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
#include "executor/spi.h"
#include "miscadmin.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
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

typedef struct mark_chunk {
    int64 number;       /* the key */
    uint64 era;         /* while firn_counted_era is: it is locked, and the open job counts it */
    TransactionId base; /* that stored the counts before; InvalidTransactionId: no row */
    bool given;         /* IDs of it were issued in this transaction */
    piece pieces[PIECES];
} mark_chunk;

/* The counts of a job. */
typedef struct mark_book {
    struct mark_book *next;
    char key[FIRN_NS_SIZE + FIRN_JOB_SIZE + 8]; /* ns, newline, name */
    text *ns, *name;
    Oid table;
    uint32 chunk_bits; /* ticks of a chunk: 2^chunk_bits */
    HTAB *chunks;
} mark_book;

struct firn_counted {
    firn_counted *next;
    firn_job *job;
    mark_book *book;
    text *scheme, *name, *options;
    uint64 ahead; /* ticks that a row may be shifted by */
};

uint64 firn_counted_era = 1;
static firn_counted *opened;
static MemoryContext room; /* of all that are open: until a rollback at the latest */
static mark_book *books;
static MemoryContext shelf; /* of all books */
static bool writing;        /* a statement of this file runs */

/* ---- life ------------------------------------------------------------------------------------ */

static void drop(MemoryContext *context) {
    if (*context != NULL) {
        MemoryContextDelete(*context);
        *context = NULL;
    }
}

/* The books stay. */
static void close_all(void) {
    for (firn_counted *counted = opened; counted != NULL; counted = counted->next) {
        firn_job_close(counted->job);
    }
    opened = NULL;
    firn_counted_era++;
    writing = false;
    drop(&room);
}

/* Whether a procedure ended the transaction and continues. After an error no portal is active. */
static bool is_inside_command(void) {
    return ActivePortal != NULL && ActivePortal->status == PORTAL_ACTIVE;
}

static void write_all(void);

static void at_end(XactEvent event, void *unused) {
    /* A transaction without a number stored nothing: no ID, and no count. */
    bool stores = TransactionIdIsValid(GetTopTransactionIdIfAny());
    bool ends = event == XACT_EVENT_COMMIT || event == XACT_EVENT_PREPARE;
    if ((event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE) && stores) {
        write_all();
    }
    if (ends || event == XACT_EVENT_ABORT) {
        close_all();
        if ((ends && stores) || !is_inside_command()) {
            books = NULL;
            drop(&shelf);
        }
    }
}

/* The rollback took back the counts that were written since the savepoint, and the locks. */
static void at_savepoint(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
                         void *unused) {
    if (event == SUBXACT_EVENT_ABORT_SUB) {
        close_all();
    }
}

void firn_counts_listen(void) {
    RegisterXactCallback(at_end, NULL);
    RegisterSubXactCallback(at_savepoint, NULL);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char jobs_schema[] = "firn_jobs";

enum statement { ADD, LOCK_IT, WRITE, STATEMENTS };

/* The statements run with the rights of the table's owner. */
static const char *const texts[STATEMENTS] = {
    [ADD] =
        "INSERT INTO %s (ns, job, chunk, counts) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
    [LOCK_IT] = "SELECT counts, xmin FROM ONLY %s WHERE ns = $1"
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

static uint64 run(enum statement which, const mark_book *book, int64 number, Datum counts) {
    Datum values[4] = {PointerGetDatum(book->ns), PointerGetDatum(book->name),
                       Int64GetDatum(number), counts};
    int code = SPI_execute_plan(plan_of(which, book->table), values, NULL, false, 0);
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

/* ---- counts as bytes: numbers of 7 bits a byte, the gap to the tick before and the count ----- */

static char *put_number(char *out, uint64 number) {
    for (; number > 127; number >>= 7) {
        *out++ = (char)(number | 128);
    }
    *out++ = (char)number;
    return out;
}

static uint64 get_number(const char **position, const char *end) {
    uint64 number = 0;
    for (int shift = 0; *position < end && shift < 64; shift += 7) {
        uint8 byte = (uint8) * (*position)++;
        number |= (uint64)(byte & 127) << shift;
        if (byte < 128) {
            return number;
        }
    }
    ereport(ERROR,
            (errcode(ERRCODE_DATA_CORRUPTED), errmsg("firn: a row of firn_jobs.job is corrupt"),
             errhint("Give the other rows another job name.")));
}

static Datum bytes_of(const mark_chunk *chunk) {
    size_t ticks = 0;
    for (int i = 0; i < PIECES; i++) {
        ticks += (size_t)chunk->pieces[i].count;
    }
    bytea *out = palloc(VARHDRSZ + 2 * NUMBER_MOST * ticks);
    char *target = VARDATA(out);
    uint32 before = 0;
    for (int i = 0; i < PIECES; i++) {
        const piece *in = &chunk->pieces[i];
        for (int j = 0; j < in->count; j++) {
            target = put_number(target, in->ticks[j].at - before);
            target = put_number(target, in->ticks[j].used);
            before = in->ticks[j].at;
        }
    }
    SET_VARSIZE(out, target - (char *)out);
    return PointerGetDatum(out);
}

/* Where a tick is, or belongs. */
static int place_of(const piece *in, uint32 offset) {
    int low = 0, high = in->count;
    if (high > 0 && in->ticks[high - 1].at < offset) {
        return high;
    }
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (in->ticks[middle].at < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32 *used_in(const mark_book *book, mark_chunk *chunk, uint64 tick) {
    uint32 offset = (uint32)(tick & ((UINT64CONST(1) << book->chunk_bits) - 1));
    piece *in = &chunk->pieces[offset >> (book->chunk_bits - PIECE_BITS)];
    int i = place_of(in, offset);
    if (i == in->count || in->ticks[i].at != offset) {
        if (in->count == in->room) {
            int more = in->room > 0 ? in->room * 2 : 4;
            size_t size = (size_t)more * sizeof *in->ticks;
            in->ticks =
                in->ticks != NULL ? repalloc(in->ticks, size) : MemoryContextAlloc(shelf, size);
            in->room = more;
        }
        memmove(in->ticks + i + 1, in->ticks + i, (size_t)(in->count - i) * sizeof *in->ticks);
        in->ticks[i] = (tick_count){offset, 0};
        in->count++;
    }
    return &in->ticks[i].used;
}

static void add_stored(const mark_book *book, mark_chunk *chunk, bytea *bytes) {
    const char *position = VARDATA_ANY(bytes), *end = position + VARSIZE_ANY_EXHDR(bytes);
    uint64 tick = 0;
    while (position < end) {
        tick += get_number(&position, end);
        uint64 stored = get_number(&position, end);
        uint32 *used = used_in(book, chunk, tick);
        *used = Max(*used, (uint32)stored);
    }
}

static void refuse_changed(const mark_book *book) __attribute__((noreturn));
static void refuse_changed(const mark_book *book) {
    firn_refuse(FIRN_EBUSY,
                "job %s: other sessions may have got the IDs that a rolled back savepoint or a "
                "procedure's ROLLBACK got here: run the transaction again",
                text_to_cstring(book->name));
}

/* Locks the row of a chunk until the transaction or the savepoint ends: other sessions of the job
 * that need it wait. A rollback unlocked it, so another session may have issued the same IDs since:
 * then the row has another xmin. */
static void lock(const mark_book *book, mark_chunk *chunk) {
    bool is_null;
    TransactionId owner = InvalidTransactionId;
    firn_caller before = firn_private_write(book->table);
    writing = true;
    bytea *bytes = palloc0(VARHDRSZ);
    SET_VARSIZE(bytes, VARHDRSZ);
    if (run(ADD, book, chunk->number, PointerGetDatum(bytes)) == 0) {
        if (run(LOCK_IT, book, chunk->number, 0) != 1) {
            refuse_changed(book);
        }
        HeapTuple row = SPI_tuptable->vals[0];
        bytes = DatumGetByteaPCopy(SPI_getbinval(row, SPI_tuptable->tupdesc, 1, &is_null));
        owner = DatumGetTransactionId(SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &is_null));
    }
    if (!TransactionIdIsCurrentTransactionId(owner)) {
        if (chunk->given && owner != chunk->base) {
            refuse_changed(book);
        }
        chunk->base = owner;
    }
    add_stored(book, chunk, bytes);
    writing = false;
    firn_private_leave(before);
}

/* The job counts in memory: passes it the counts of this chunk. */
static void replay(const firn_counted *counted, const mark_chunk *chunk) {
    const firn_scheme *scheme = firn_job_scheme(counted->job);
    firn_error error;
    for (int i = 0; i < PIECES; i++) {
        const piece *in = &chunk->pieces[i];
        for (int j = 0; j < in->count; j++) {
            firn_time time;
            int64_t shift_ns;
            firn_id unused;
            firn_scheme_time(scheme,
                             ((uint64)chunk->number << counted->book->chunk_bits) + in->ticks[j].at,
                             &time);
            for (uint32 k = 0; k < in->ticks[j].used; k++) {
                FIRN_CHECK(firn_job_next(counted->job, &time, &unused, &shift_ns, &error));
            }
            CHECK_FOR_INTERRUPTS();
        }
    }
}

/* The chunk, locked. An error ends the job (close_all). */
static mark_chunk *load(const firn_counted *counted, int64 number) {
    bool found;
    mark_chunk *chunk = hash_search(counted->book->chunks, &number, HASH_ENTER, &found);
    if (!found) {
        *chunk = (mark_chunk){.number = number};
    }
    if (chunk->era != firn_counted_era) {
        lock(counted->book, chunk);
        replay(counted, chunk);
        chunk->era = firn_counted_era;
    }
    return chunk;
}

static void write_chunk(const mark_book *book, mark_chunk *chunk) {
    if (chunk->era != firn_counted_era) {
        lock(book, chunk);
    }
    firn_caller before = firn_private_write(book->table);
    writing = true;
    if (run(WRITE, book, chunk->number, bytes_of(chunk)) != 1) {
        ereport(ERROR,
                (errcode(ERRCODE_DATA_CORRUPTED), errmsg("firn: rows of firn_jobs.job are missing"),
                 errhint("Run the transaction again; never change that table.")));
    }
    writing = false;
    firn_private_leave(before);
}

static void write_book(const mark_book *book) {
    HASH_SEQ_STATUS all;
    mark_chunk *chunk;
    hash_seq_init(&all, book->chunks);
    while ((chunk = hash_seq_search(&all)) != NULL) {
        if (chunk->given) {
            write_chunk(book, chunk);
        }
    }
}

/* Once in a transaction: a chunk may have many thousand ticks. */
static void write_all(void) {
    if (books == NULL) {
        return;
    }
    PushActiveSnapshot(GetTransactionSnapshot());
    for (const mark_book *book = books; book != NULL; book = book->next) {
        if (SearchSysCacheExists1(RELOID,
                                  ObjectIdGetDatum(book->table))) { /* else the job is over */
            write_book(book);
        }
    }
    PopActiveSnapshot();
}

/* ---- IDs ------------------------------------------------------------------------------------- */

/* A deleted row would cause duplicates, and some roles can delete without a grant
 * (pg_write_all_data, superusers): only this file writes. Rows that a publisher sends count another
 * server's IDs, so they are left out. */
static Datum keep(FunctionCallInfo fcinfo) {
    const TriggerData *trigger = (TriggerData *)fcinfo->context;
    if (!CALLED_AS_TRIGGER(fcinfo)) {
        firn_refuse(FIRN_EUSAGE, "firn_jobs.keep() is a trigger's: leave it alone");
    }
    if (writing) {
        return PointerGetDatum(TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple
                                                                          : trigger->tg_trigtuple);
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

static bool is_keeper(const Trigger *trigger) {
    FmgrInfo function;
    if (trigger->tgenabled != TRIGGER_FIRES_ALWAYS || trigger->tgtype != KEEP_TYPE ||
        trigger->tgqual != NULL) {
        return false;
    }
    fmgr_info(trigger->tgfoid, &function);
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
        const Trigger *trigger = &table->trigdesc->triggers[i];
        found = is_keeper(trigger) ? trigger->tgoid : found;
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
    firn_counted *counted = opened;
    while (counted != NULL &&
           !(firn_text_same(counted->scheme, scheme) && firn_text_same(counted->name, name) &&
             firn_text_same(counted->options, options))) {
        counted = counted->next;
    }
    return counted;
}

static uint32 chunk_bits_of(const firn_scheme *scheme) {
    uint32 bits = PIECE_BITS;
    while (bits < 32 && /* the bits of tick_count.at */
           (UINT64CONST(1) << bits) * scheme->tick_ns < CHUNK_S * UINT64CONST(1000000000)) {
        bits++;
    }
    return bits;
}

static mark_book *book_of(const char *ns, text *name, const firn_scheme *scheme) {
    HASHCTL control = {.keysize = sizeof(int64), .entrysize = sizeof(mark_chunk)};
    char key[sizeof books->key];
    snprintf(key, sizeof key, "%s\n%s", ns, text_to_cstring(name));
    for (mark_book *book = books; book != NULL; book = book->next) {
        if (strcmp(book->key, key) == 0) {
            return book;
        }
    }
    if (shelf == NULL) {
        shelf = AllocSetContextCreate(TopMemoryContext, "firn counts", ALLOCSET_DEFAULT_SIZES);
    }
    MemoryContext before = MemoryContextSwitchTo(shelf);
    mark_book *book = palloc0(sizeof *book);
    strlcpy(book->key, key, sizeof book->key);
    book->ns = cstring_to_text(ns);
    book->name = firn_text_keep(name);
    book->chunk_bits = chunk_bits_of(scheme);
    control.hcxt = shelf;
    book->chunks = hash_create("firn counts", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    MemoryContextSwitchTo(before);
    book->next = books;
    books = book;
    return book;
}

/* Other schemes or options of the same job count in the same book, so only one of them may be open
 * at a time. */
static void close_other(const mark_book *book) {
    for (const firn_counted *counted = opened; counted != NULL; counted = counted->next) {
        if (counted->book == book) {
            close_all();
            return;
        }
    }
}

firn_counted *firn_counted_open(firn_job *job, const char *ns, text *scheme, text *name,
                                text *options, Oid table) {
    const firn_scheme *made = firn_job_scheme(job);
    mark_book *book = book_of(ns, name, made);
    uint64 ahead = (uint64)firn_setting_max_shift_ms * 1000000 / made->tick_ns;
    uint64 most = (uint64)CHUNKS_AHEAD << book->chunk_bits;
    if (ahead > most) {
        firn_job_close(job);
        firn_refuse(
            FIRN_ERANGE,
            "firn.max_shift is %d, too high for a job with a name: the limit is " UINT64_FORMAT
            " for %s",
            firn_setting_max_shift_ms, most * made->tick_ns / 1000000, made->name);
    }
    close_other(book);
    book->table = table;
    if (room == NULL) {
        room = AllocSetContextCreate(TopMemoryContext, "firn jobs", ALLOCSET_DEFAULT_SIZES);
    }
    MemoryContext before = MemoryContextSwitchTo(room);
    firn_counted *counted = palloc0(sizeof *counted);
    counted->book = book;
    counted->scheme = firn_text_keep(scheme);
    counted->name = firn_text_keep(name);
    counted->options = firn_text_keep(options);
    counted->ahead = ahead;
    MemoryContextSwitchTo(before);
    counted->job = job;
    counted->next = opened;
    opened = counted;
    return counted;
}

const firn_scheme *firn_counted_scheme(const firn_counted *counted) {
    return firn_job_scheme(counted->job);
}

void firn_counted_next(firn_counted *counted, const firn_time *time, firn_id *id) {
    const firn_scheme *scheme = firn_job_scheme(counted->job);
    firn_error error;
    int64_t shift_ns;
    uint64 tick;
    FIRN_CHECK(firn_scheme_tick(scheme, time, &tick, &error));
    int64 first = (int64)(tick >> counted->book->chunk_bits),
          last = (int64)((tick + counted->ahead) >> counted->book->chunk_bits);
    for (int64 i = first; i <= last; i++) {
        (void)load(counted, i);
    }
    FIRN_CHECK(firn_job_next(counted->job, time, id, &shift_ns, &error));
    uint64 given_tick = tick + (uint64)shift_ns / scheme->tick_ns;
    mark_chunk *chunk = load(counted, (int64)(given_tick >> counted->book->chunk_bits));
    (*used_in(counted->book, chunk, given_tick))++;
    chunk->given = true;
}
