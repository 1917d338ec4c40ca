/* SPDX-License-Identifier: MIT */
/* The renewer's tables: marks, nodes for old rows, hand-overs. These functions run in the renewer's
 * transaction and do not commit. */
#include "extension.h"

#include "catalog/namespace.h"
#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "commands/comment.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "../../src/law.h"
#include "errors.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>

/* ---- the tables ------------------------------------------------------------------------------ */

/* A row that is deleted or changed lets IDs repeat, and some roles can do this without a grant
 * (pg_write_all_data): only the renewer writes. Rows that a publisher sends are another server's,
 * so they are left out. The trigger is SQL, so that the tables can be restored on a server without
 * firn. */
#define KEEP_BODY                                                                                  \
    "DECLARE kind text := (SELECT backend_type FROM pg_stat_get_activity(pg_backend_pid()));"      \
    " BEGIN IF TG_LEVEL = 'ROW' AND kind = 'firn renewer' THEN"                                    \
    " IF TG_OP = 'DELETE' THEN RETURN OLD; ELSE RETURN NEW; END IF;"                               \
    " ELSIF TG_LEVEL = 'ROW' AND kind LIKE 'logical replication%' THEN RETURN NULL; END IF;"       \
    " RAISE EXCEPTION 'firn_marks.% holds what firn has reserved, without which IDs repeat',"      \
    " TG_TABLE_NAME USING ERRCODE = '55000', HINT = 'To start over, drop schema firn_marks:"       \
    " IDs begin again after a guard of 15 s.'; END"
#define KEEP(table)                                                                                \
    "DROP TRIGGER IF EXISTS firn_keep ON " table ";"                                               \
    "DROP TRIGGER IF EXISTS firn_keep_rows ON " table ";"                                          \
    "CREATE TRIGGER firn_keep BEFORE TRUNCATE ON " table                                           \
    " FOR EACH STATEMENT EXECUTE FUNCTION firn_marks.keep();"                                      \
    "CREATE TRIGGER firn_keep_rows BEFORE INSERT OR UPDATE OR DELETE ON " table                    \
    " FOR EACH ROW EXECUTE FUNCTION firn_marks.keep();"                                            \
    "ALTER TABLE " table " ENABLE ALWAYS TRIGGER firn_keep, ENABLE ALWAYS TRIGGER firn_keep_rows;"

/* Not part of the extension, so that DROP EXTENSION forgets no mark. `marks` is the identity of the
 * tables a row was written to: a restored copy of a row does not have the identity of its table.
 * Defaults and checks would be code on a table: private.c. */
static const char marks_schema[] = "firn_marks";
static const char create[] =
    "CREATE TABLE IF NOT EXISTS firn_marks.mark ("
    " ns text COLLATE \"C\" NOT NULL,"
    " node bigint NOT NULL,"
    " layout text NOT NULL,"
    " high bigint NOT NULL,"
    " job text,"
    " system bigint NOT NULL,"
    " timeline integer NOT NULL,"
    " changed timestamptz NOT NULL,"
    " marks text NOT NULL,"
    " counts text,"
    " PRIMARY KEY (ns, node));"
    "COMMENT ON TABLE firn_marks.mark IS 'firn: slots below high are reserved; never lower one';"
    /* Which nodes have, for certain, no other old rows than those that firn_marks.mark names, by
     * timeline and tables: a new timeline may begin without the last nodes that were taken on the
     * one before it. */
    "CREATE TABLE IF NOT EXISTS firn_marks.history ("
    " system bigint NOT NULL,"
    " timeline integer NOT NULL,"
    " low bigint NOT NULL,"
    " high bigint NOT NULL,"
    " confirmed timestamptz NOT NULL,"
    " marks text NOT NULL,"
    " PRIMARY KEY (system, timeline, marks, low, high));"
    "COMMENT ON TABLE firn_marks.history IS"
    " 'firn: nodes that old rows may take: firn_confirm_history()';"
    /* A server that handed over issues nothing more on its timeline. */
    "CREATE TABLE IF NOT EXISTS firn_marks.handover ("
    " system bigint NOT NULL,"
    " timeline integer NOT NULL,"
    " marks text NOT NULL,"
    " at timestamptz NOT NULL,"
    " PRIMARY KEY (system, timeline, marks));"
    "COMMENT ON TABLE firn_marks.handover IS 'firn: firn_hand_over() before a planned switchover';"
    /* This table has one row: the server, timeline and tables that firn_marks.mark is complete for.
     * A node without a row of this server there issues nothing before `until`. After a promotion
     * with these tables: the timeline that it ended, and the `until` of that one. `renewer` is the
     * last renewer's number. */
    "CREATE TABLE IF NOT EXISTS firn_marks.server ("
    " one boolean PRIMARY KEY,"
    " system bigint NOT NULL,"
    " timeline integer NOT NULL,"
    " marks text NOT NULL,"
    " until timestamptz NOT NULL,"
    " before integer,"
    " until_before timestamptz,"
    " renewer bigint);"
    "COMMENT ON TABLE firn_marks.server IS 'firn: until when lost marks are guarded';"
    "CREATE OR REPLACE FUNCTION firn_marks.keep() RETURNS trigger LANGUAGE plpgsql"
    " SET search_path = pg_catalog, pg_temp AS $$" KEEP_BODY "$$;" KEEP("firn_marks.mark")
        KEEP("firn_marks.history") KEEP("firn_marks.handover") KEEP("firn_marks.server")
    /* Witnesses: rows that nobody changes. */
    "INSERT INTO firn_marks.mark (ns, node, layout, high, job, system, timeline, changed, marks)"
    " VALUES ('', 0, '', 0, 'witness', 0, 0, now(), '') ON CONFLICT DO NOTHING;"
    "INSERT INTO firn_marks.history (system, timeline, low, high, confirmed, marks)"
    " VALUES (0, 0, 0, 0, now(), '') ON CONFLICT DO NOTHING;";

#define MARK_WITNESS    "(SELECT xmin FROM firn_marks.mark WHERE ns = '' AND node = 0)"
#define HISTORY_WITNESS "(SELECT xmin FROM firn_marks.history WHERE system = 0)"

/* The triggers of the tables. */
#define KEEPERS                                                                                    \
    " FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgname ~ '^firn_keep'"          \
    " AND t.tgrelid IN (to_regclass('firn_marks.mark'), to_regclass('firn_marks.history'),"        \
    " to_regclass('firn_marks.handover'), to_regclass('firn_marks.server'))"

/* BEFORE: TRUNCATE, for each statement: 2 + 32; INSERT, DELETE, UPDATE, for each row: 1 + 2 + 4 + 8
 * + 16. */
static const char is_kept[] =
    "SELECT 1" KEEPERS
    " AND t.tgtype = CASE t.tgname WHEN 'firn_keep' THEN 34 ELSE 31 END AND t.tgenabled = 'A'"
    " AND t.tgqual IS NULL AND p.oid = to_regprocedure('firn_marks.keep()')"
    " AND p.prosrc = $$" KEEP_BODY "$$ HAVING count(*) = 8"
    " AND " MARK_WITNESS " IS NOT NULL AND " HISTORY_WITNESS " IS NOT NULL";

static const char begin_history[] =
    "INSERT INTO firn_marks.history (system, timeline, marks, low, high, confirmed)"
    " SELECT $1, $2, $3, 0, 9223372036854775807, now()"
    " WHERE NOT EXISTS (SELECT FROM firn_marks.mark WHERE ns <> '')";

static const char is_confirmed[] =
    "SELECT 1 FROM firn_marks.history WHERE system = $1 AND timeline = $2 AND marks = $3"
    " AND low <= $4 AND high >= $5 LIMIT 1";

static const char confirm_nodes[] =
    "INSERT INTO firn_marks.history (system, timeline, marks, low, high, confirmed)"
    " VALUES ($1, $2, $3, $4, $5, now())"
    " ON CONFLICT (system, timeline, marks, low, high) DO UPDATE SET confirmed = now()";

/* Tables that were made again or restored have other numbers. TRUNCATE, an unlogged table after a
 * crash, and ALTER TABLE that writes all rows again leave a witness with another xmin, or none;
 * VACUUM FULL and CLUSTER, which lose no row, keep it. A trigger that was dropped, disabled or made
 * again since then has another xmin: rows may have been deleted until then. */
static const char identify[] =
    "SELECT (SELECT system_identifier FROM pg_control_system()),"
    " ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer,"
    " concat_ws('/', (SELECT oid FROM pg_database WHERE datname = current_database()),"
    " 'firn_marks.mark'::regclass::oid, " MARK_WITNESS ","
    " 'firn_marks.history'::regclass::oid, " HISTORY_WITNESS ","
    " (SELECT hashtext(string_agg(concat_ws(' ', t.oid, t.xmin, p.xmin), ' ' ORDER BY "
    "t.oid))" KEEPERS "))";

/* ---- which tables are in use ---- */

/* Tables may be put aside and come back, by firn.database or ALTER SCHEMA, while others are in use;
 * or a copy of their database may take its place, with its number (CREATE DATABASE ... OID). So a
 * row that all databases share counts the changes, and names the last tables and the last renewer,
 * as does firn_marks.server: "COUNT TABLES RENEWER TIMELINE DIRECTORY". A transaction that reserves
 * in other tables writes it too, so it is on each standby that has the tables. As a comment on
 * database 0, which never exists, the row outlives every database. Another data directory on the
 * same timeline is a copy that no promotion made, so the tables there begin another use. */
static const char read_use[] =
    "SELECT count, same AND NOT copied, same AND NOT copied AND renewer = $2, same AND copied FROM"
    " (SELECT one[1]::bigint, one[3]::bigint, one[2] = $1 AND one[3]::bigint IS NOT DISTINCT FROM"
    " (SELECT renewer FROM firn_marks.server),"
    " one[4]::bigint IS NOT DISTINCT FROM $3 AND one[5] IS DISTINCT FROM $4"
    " FROM (SELECT string_to_array(description, ' ')"
    " FROM pg_shdescription WHERE objoid = 0 AND classoid = 'pg_database'::regclass) t (one))"
    " u (count, renewer, same, copied)";

static const char note_renewer[] = "UPDATE firn_marks.server SET renewer = $1";

/* ---- where this server is ---- */

static const char read_here[] = "SELECT until, before FROM firn_marks.server WHERE system = $1 AND "
                                "timeline = $2 AND marks = $3";

static const char begin_here[] =
    "INSERT INTO firn_marks.server AS s (one, system, timeline, marks, until)"
    " VALUES (true, $1, $2, $3, $4)"
    " ON CONFLICT (one) DO UPDATE SET system = $1, timeline = $2, marks = $3, until = $4,"
    " (before, until_before) = (SELECT s.timeline, s.until"
    " WHERE s.system = $1 AND s.marks = $3 AND s.timeline = $2 - 1)"
    " RETURNING until, before";

/* Marks of another system or of other tables: after this, a mark that is one was put there
 * later. */
static const char take_marks[] = "UPDATE firn_marks.mark SET system = $1, timeline = 0, marks = $3"
                                 " WHERE job IS NULL AND (system <> $1 OR marks <> $3)";

static const char guard_again[] = "UPDATE firn_marks.server SET until = $1, before = NULL";

/* The server was promoted, and nothing of the timeline before is lost: its marks and nodes are this
 * one's. */
static const char take_over_here[] =
    "WITH s AS (UPDATE firn_marks.server SET until = until_before RETURNING before),"
    " m AS (UPDATE firn_marks.mark SET timeline = $2 FROM s"
    " WHERE system = $1 AND timeline = s.before AND marks = $3)"
    " INSERT INTO firn_marks.history (system, timeline, marks, low, high, confirmed)"
    " SELECT t.system, $2, t.marks, t.low, t.high, now() FROM firn_marks.history t, s"
    " WHERE t.system = $1 AND t.timeline = s.before AND t.marks = $3"
    " ON CONFLICT DO NOTHING";

/* ---- planned switchover ---- */

/* How long a hand-over is valid, by the clock of the server that handed over. */
enum { HAND_OVER_MINUTES = 10 };

/* Of two hand-overs a standby may have either one. */
static const char hand_over_here[] =
    "INSERT INTO firn_marks.handover AS h (system, timeline, marks, at) VALUES ($1, $2, $3, now())"
    " ON CONFLICT (system, timeline, marks) DO UPDATE SET at = greatest(h.at, now())";

static const char handed_over[] =
    "SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'),"
    " to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), until > now()"
    " FROM (SELECT at, at + make_interval(mins => $4::integer) FROM firn_marks.handover"
    " WHERE system = $1 AND timeline = $2 AND marks = $3) h (at, until)";

/* The timeline before this one ended by a hand-over that this server has: it has all marks and
 * nodes of that timeline. Bounded in time, since a backup or a standby of then must not count as
 * the successor once the server has taken back. A time ahead of this clock by more than the guard
 * shows that the clocks differ. */
static const char end_hand_over[] =
    "DELETE FROM firn_marks.handover WHERE system = $1 AND marks = $3"
    " AND timeline = (SELECT before FROM firn_marks.server)"
    " RETURNING at > now() - make_interval(mins => $4::integer)"
    " AND at <= now() + make_interval(secs => $5)";

/* A copy of a server that handed over issues no more than that one. */
static const char copy_hand_over[] = "UPDATE firn_marks.handover SET marks = $3"
                                     " WHERE system = $1 AND timeline = $2 AND marks = $4";

/* The next window of each node starts after the guard, as after an unplanned promotion. A standby
 * whose clock is slow by less than the guard refuses the hand-over before that. */
static const char take_back_here[] =
    "WITH h AS (DELETE FROM firn_marks.handover WHERE system = $1 AND timeline = $2 AND marks = $3"
    " RETURNING 1), s AS (UPDATE firn_marks.server SET until = $4, before = NULL FROM h)"
    " UPDATE firn_marks.mark SET timeline = 0 FROM h"
    " WHERE job IS NULL AND system = $1 AND timeline = $2 AND marks = $3";

/* ---- marks ---- */

static const char look[] = "SELECT high, CASE WHEN system = $3 AND marks = $5 THEN timeline = $4 "
                           "END, job FROM firn_marks.mark"
                           " WHERE ns = $1 AND node = $2 FOR UPDATE";

static const char other_layout[] =
    "SELECT 1 FROM firn_marks.mark WHERE ns = $1 AND layout <> $2 LIMIT 1";

static const char set_mark[] =
    "INSERT INTO firn_marks.mark (ns, node, layout, high, system, timeline, marks, changed)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, now())"
    " ON CONFLICT (ns, node) DO UPDATE SET high = excluded.high, system = excluded.system,"
    " timeline = excluded.timeline, marks = excluded.marks, changed = now()";

static const char find_job[] =
    "SELECT node, counts = $3, system = $4 AND timeline = $5 AND marks = $6"
    " FROM firn_marks.mark WHERE ns = $1 AND job = $2 LIMIT 1";

/* $11: nodes that live IDs are issued on, even if their marks are lost; $12: nodes that the shared
 * list has. */
static const char take_node[] =
    "INSERT INTO firn_marks.mark"
    " (ns, node, layout, high, job, counts, system, timeline, marks, changed)"
    " SELECT $1, n, $2, $3, $4, nullif($5, ''), $6, $7, $8, now() FROM generate_series($9, $10) n"
    " WHERE n <> ALL ($11) AND n <> ALL ($12)"
    " AND NOT EXISTS (SELECT FROM firn_marks.mark m WHERE m.ns = $1 AND m.node = n) LIMIT 1"
    " RETURNING node";

static const char leave_node[] =
    "DELETE FROM firn_marks.mark WHERE ns = $1 AND node = $2 AND job IS NOT NULL";

/* ---- statements ------------------------------------------------------------------------------ */

enum { ARGUMENTS = 12 };

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

static void add_time(arguments *list, TimestampTz time) {
    list->types[list->count] = TIMESTAMPTZOID;
    list->values[list->count++] = TimestampTzGetDatum(time);
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

/* ---- who the server is ----------------------------------------------------------------------- */

/* A promoted standby or a restored backup has another timeline, a dump that was loaded elsewhere
 * another system, and tables that were dropped, truncated or restored have other numbers. */
typedef struct identity {
    int64 system, timeline;
    char marks[96];
} identity;

static identity me;

static void add_me(arguments *list) {
    add_int(list, me.system);
    add_int(list, me.timeline);
    add_text(list, me.marks);
}

static bool made; /* firn_marks.mark, in this transaction */

static bool lock_tables(void) {
    static const char *const names[] = {"mark", "history", "handover", "server"};
    bool all = true;
    for (size_t i = 0; i < lengthof(names); i++) {
        all = OidIsValid(firn_private_lock(marks_schema, names[i])) && all;
    }
    return all;
}

bool firn_tables_exist(void) {
    Oid schema = get_namespace_oid(marks_schema, true);
    return OidIsValid(schema) && OidIsValid(get_relname_relid("mark", schema));
}

static void make_tables(void) {
    arguments none = {0};
    made = !firn_tables_exist();
    if (!OidIsValid(get_namespace_oid(marks_schema, true))) {
        SPI_execute("CREATE SCHEMA firn_marks", false, 0);
        firn_private_revoke(marks_schema, NULL);
    }
    if (!lock_tables() || run(is_kept, &none) == 0) {
        if (SPI_execute(create, false, 0) < 0) {
            elog(ERROR, "firn: the tables could not be created");
        }
        firn_private_revoke(marks_schema, NULL);
        lock_tables();
    }
    if (made) { /* Another one may have been dropped, or be in another database. What it let out was at most the lead and
                 * a tick of 1 s ahead of the clock. */
        firn_hold();
    }
}

/* ---- the data directory ---- */

/* A file of the data directory. A copy of the directory has another one. */
typedef struct birth {
    uint64 inode;
    int64 s, ns; /* when it was created; 0: the file system does not say */
} birth;

static birth birth_of(const char *file) {
    birth found = {0};
#ifdef STATX_BTIME
    struct statx status;
    bool is_there = statx(AT_FDCWD, file, 0, STATX_INO | STATX_BTIME, &status) == 0;
    if (is_there) {
        found.inode = status.stx_ino;
    }
    if (is_there && (status.stx_mask & STATX_BTIME) != 0) {
        found.s = status.stx_btime.tv_sec;
        found.ns = status.stx_btime.tv_nsec;
    }
#else
    struct stat status;
    bool is_there = stat(file, &status) == 0;
    if (is_there) {
        found.inode = status.st_ino;
    }
#endif
    if (!is_there) {
        ereport(ERROR,
                (errcode_for_file_access(),
                 errmsg("firn: the file %s in the data directory cannot be read: %m", file)));
    }
    return found;
}

/* PostgreSQL writes pg_control in place, and every restore brings another one. */
static char *directory(void) {
    birth self = birth_of("global/pg_control");
    return psprintf(UINT64_FORMAT "/" INT64_FORMAT "." INT64_FORMAT, self.inode, self.s, self.ns);
}

/* initdb writes PG_VERSION before it chooses the system's number, whose upper half is the time. */
static bool is_original(void) {
    return birth_of("PG_VERSION").s <= (int64)((uint64)me.system >> 32);
}

/* ---- the use of the tables ---- */

/* The present use of the tables. */
static struct {
    int64 count;   /* of uses, since the first tables of this server: 1 */
    int64 renewer; /* this process's number */
    bool noted;
    bool copied; /* this use is another one because the data directory is a copy */
    char tables[80];
} use;

static void read_the_use(void) {
    arguments list = {0};
    bool is_null;
    if (use.renewer == 0 && !pg_strong_random(&use.renewer, sizeof use.renewer)) {
        elog(ERROR, "firn: the kernel gave no random bytes");
    }
    use.count = 1;
    use.noted = false;
    use.copied = false;
    add_text(&list, use.tables);
    add_int(&list, use.renewer);
    add_int(&list, me.timeline);
    add_text(&list, directory());
    if (run(read_use, &list) > 0) {
        bool same = DatumGetBool(cell_at(2, &is_null));
        use.count = DatumGetInt64(cell_at(1, &is_null)) + (same ? 0 : 1);
        use.noted = DatumGetBool(cell_at(3, &is_null));
        use.copied = DatumGetBool(cell_at(4, &is_null));
    }
}

static void note_use(void) {
    arguments list = {0};
    if (!use.noted) {
        char *text = psprintf(INT64_FORMAT " %s " INT64_FORMAT " " INT64_FORMAT " %s", use.count,
                              use.tables, use.renewer, me.timeline, directory());
        CreateSharedComments(InvalidOid, DatabaseRelationId, text);
        add_int(&list, use.renewer);
        run(note_renewer, &list);
    }
}

static void read_identity(void) {
    arguments none = {0};
    bool is_null;
    run(identify, &none);
    me.system = DatumGetInt64(cell_at(1, &is_null));
    me.timeline = DatumGetInt32(cell_at(2, &is_null));
    strlcpy(use.tables, TextDatumGetCString(cell_at(3, &is_null)), sizeof use.tables);
    read_the_use();
    snprintf(me.marks, sizeof me.marks, "%s/" INT64_FORMAT, use.tables, use.count);
}

enum { GUARD_S = 15, GUARD_TICKS = 4 }; /* as in src/reach.c: no lost reservation ends later */

static struct {
    TimestampTz until; /* a node without a mark of this server issues nothing before */
    int64 before;      /* the timeline before the promotion; 0: another loss, or none */
} here;

static TimestampTz guard_from(TimestampTz found) {
    return found + GUARD_S * USECS_PER_SEC;
}

static void read_here_row(void) {
    bool is_null;
    here.until = DatumGetTimestampTz(cell_at(1, &is_null));
    Datum before = cell_at(2, &is_null);
    here.before = is_null ? 0 : DatumGetInt32(before);
}

static void tell_guard(void) {
    ereport(LOG,
            (use.copied
                 ? errmsg("firn: the data directory is a copy of another (timeline " INT64_FORMAT
                          "), so marks may be incomplete: firn guards them for %d s",
                          me.timeline, GUARD_S)
                 : errmsg("firn: this server is now on timeline " INT64_FORMAT
                          " with marks that may be incomplete: it guards them for %d s",
                          me.timeline, GUARD_S),
             use.copied ? errhint("If the original may still run, set firn.node to another.") : 0));
}

static void keep_hand_over(void) {
    arguments list = {0};
    add_me(&list);
    add_text(&list, psprintf("%s/" INT64_FORMAT, use.tables, use.count - 1));
    run(copy_hand_over, &list);
}

/* On another timeline, system or tables than the row's, marks may be lost. On the timeline of
 * initdb, the `first` tables have lost nothing; on a later one, or in a copy, they may have been
 * lost before the renewer began. */
static void find_here(bool fresh, bool first) {
    arguments list = {0};
    add_me(&list);
    if (run(read_here, &list) == 0) {
        add_time(&list, first   ? DT_NOBEGIN
                        : fresh ? guard_from(firn_slots->found)
                                : guard_from(firn_now()));
        run(begin_here, &list);
        read_here_row();
        run(take_marks, &list);
        if (use.copied) {
            keep_hand_over();
        }
        if (!first) {
            tell_guard();
        }
    } else {
        read_here_row();
    }
}

static void take_over(void) {
    arguments list = {0};
    add_me(&list);
    run(take_over_here, &list);
    run(read_here, &list);
    read_here_row();
}

static void adopt(void) {
    arguments list = {0};
    bool is_null;
    add_me(&list);
    add_int(&list, HAND_OVER_MINUTES);
    add_int(&list, GUARD_S);
    if (here.before != 0 && run(end_hand_over, &list) > 0 && DatumGetBool(cell_at(1, &is_null))) {
        take_over();
    }
}

void firn_tables_prepare(void) {
    arguments list = {0};
    make_tables();
    read_identity();
    bool fresh = made && use.count == 1;
    bool first = fresh && me.timeline == 1;
    if (first && !is_original()) {
        use.copied = true;
        first = false;
    }
    if (first) {
        add_me(&list);
        run(begin_history, &list);
    }
    find_here(fresh, first);
    adopt();
    note_use();
}

bool firn_tables_are_sure(void) {
    static const char any_use[] = "SELECT FROM pg_shdescription WHERE objoid = 0 AND classoid = "
                                  "'pg_database'::regclass";
    arguments list = {0};
    if (!firn_tables_exist()) {
        return run(any_use, &list) == 0;
    }
    read_identity();
    add_me(&list);
    if (run(read_here, &list) == 0) {
        return false;
    }
    read_here_row();
    return here.until <= firn_now();
}

/* ---- marks of live IDs ----------------------------------------------------------------------- */

enum { OTHERS = 2 }; /* a grant that no request has: libfirn's are odd */

/* Names come in the encoding of the backend's database, which need not be this one's. */
static bool check_text(const char *text, firn_error *why) {
    return pg_verifymbstr(text, (int)strlen(text), true) ||
           set_error(why, FIRN_EUSAGE,
                     "job or ns cannot be written in the encoding of database %.60s: use ASCII",
                     firn_setting_database) == FIRN_OK;
}

/* Has the namespace another layout? Leaves `list` with both. */
static bool check_layout(arguments *list, const char *ns, const char *layout, firn_error *why) {
    add_text(list, ns);
    add_text(list, layout);
    return run(other_layout, list) == 0 ||
           set_error(why, FIRN_ENAMESPACE,
                     "namespace %.60s belongs to another layout: give another ns=", ns) == FIRN_OK;
}

enum { AHEAD_S = 5 }; /* no window begins further ahead of a true clock */

/* The first slot of the tick of a time, plus `more` ticks; where the layout ends, the end of all
 * slots. */
static int64 slot_of(const firn_cell *cell, const firn_time *time, uint64 more) {
    uint64 tick, most = (uint64)FIRN_SLOT_MAX >> cell->sequence_bits;
    if (firn_scheme_tick(&cell->scheme, time, &tick, NULL) != FIRN_OK) {
        return firn_time_cmp(time, &cell->scheme.epoch) < 0 ? 0 : FIRN_SLOT_MAX;
    }
    return (int64)(Min(tick + more, most) << cell->sequence_bits);
}

/* Of the present plus that many seconds. */
static int64 slot_in(const firn_cell *cell, int s) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    firn_time time = {now.tv_sec + s, (int32)now.tv_nsec};
    return slot_of(cell, &time, 0);
}

/* A mark was copied here from another server or table, and may be an old one. */
static void guard_copies(void) {
    arguments list = {0}, who = {0};
    here.until = guard_from(firn_now());
    here.before = 0;
    add_time(&list, here.until);
    add_me(&who);
    run(guard_again, &list);
    run(take_marks, &who);
}

/* Where a node begins whose mark may be lost. */
static int64 guarded_slot(const firn_cell *cell) {
    if (here.until == DT_NOBEGIN) {
        return 0;
    }
    firn_time until = firn_time_of(here.until);
    return slot_of(cell, &until, GUARD_TICKS);
}

/* Reads a cell's record in the table. A mark that is absent, or of another server, timeline or
 * table, may be lost: then the floor is the end of the guard. Returns false, and why, when nothing
 * of it may be issued. */
static bool read_mark(const firn_cell *cell, firn__store_record *kept, firn_error *why) {
    arguments list = {0};
    bool is_null;
    kept->current = true;
    kept->mark.grant = OTHERS;
    if (!check_text(cell->ns, why) ||
        (!cell->loaded && !check_layout(&list, cell->ns, cell->layout, why))) {
        return false;
    }
    list.count = 0;
    add_text(&list, cell->ns);
    add_int(&list, (int64)cell->node);
    add_me(&list);
    bool current = false, copied = false, no_job = true;
    if (run(look, &list) > 0) {
        kept->mark.high = DatumGetInt64(cell_at(1, &is_null));
        current = DatumGetBool(cell_at(2, &copied)) && !copied;
        (void)cell_at(3, &no_job);
    }
    if (copied && no_job) {
        guard_copies();
    }
    if (!current) {
        kept->floor = Max(kept->floor, guarded_slot(cell));
    }
    if (!no_job) {
        set_error(why, FIRN_ETAKEN,
                  "node %" PRIu64 " of %.60s was taken for old rows: set firn.node to another",
                  cell->node, cell->ns);
    } else if (kept->mark.high >= (int64)cell->slot_end) {
        set_error(why, FIRN_ELAYOUT,
                  "the mark of %.60s node %" PRIu64
                  " is at the end of the layout: take another node",
                  cell->ns, cell->node);
    }
    return why->code == FIRN_OK;
}

static void write_mark(const firn_cell *cell, int64 high) {
    arguments list = {0};
    add_text(&list, cell->ns);
    add_int(&list, (int64)cell->node);
    add_text(&list, cell->layout);
    add_int(&list, high);
    add_me(&list);
    run(set_mark, &list);
}

/* A firn store in this server may have granted the node before it became this server's: until such
 * a window has ended, nothing is issued. A window and its lead are at most 10 s each. */
static int64 floor_of_stores(const firn_cell *cell) {
    int64 changed = firn_shared_node_changed();
    int64 seen = (int64)pg_atomic_read_u64(&firn_slots->store_seen_ms);
    int64 left = changed + FIRN_STORE_MS - firn_steady_ms();
    bool guarded = changed != 0 && seen != 0 && seen + FIRN_STORE_MS > changed && left > 0;
    return guarded ? slot_in(cell, (int)(left / 1000) + 1) : 0;
}

/* firn_marks grants slots only if the shared list, where stores reserve too, grants them: perhaps
 * later slots. After a loss of that list: a record that is gone may have had a reach of 10 min. */
static bool reserve_shared(const firn_cell *cell, firn_request *request, int64_t *first,
                           firn_reservation *reservation) {
    enum { LONGER_S = 600 };
    firn_mark held = {0, 0};
    request->earliest = *first;
    request->note = "extension";
    request->guard = slot_in(cell, GUARD_S + 1);
    request->guard_more = slot_in(cell, GUARD_S + 1 + LONGER_S) - request->guard;
    if (firn_registry_reserve(request, first, &held, &reservation->lost, &reservation->why)) {
        return true;
    }
    if (reservation->why.code == FIRN_EBUSY) {
        reservation->why.code = FIRN_OK;
        reservation->shared = held.high;
    }
    return false;
}

/* The same rule as in the stores: src/law.h. */
void firn_tables_reserve(const firn_cell *cell, firn_reservation *reservation) {
    static const firn__memory nothing;
    char key[FIRN_KEY_SIZE];
    firn__verdict verdict;
    firn_error unused;
    firn_mark held;
    firn__store_record kept = {.known = true, .layout = cell->layout};
    if (firn_shared_left_node(reservation->node)) { /* a store may be granted it from now on */
        set_error(&reservation->why, FIRN_EWINDOW,
                  "firn.node has changed since this statement began, and node %" PRIu64
                  " is no longer this server's: run the statement again",
                  cell->node);
        return;
    }
    if (reservation->earliest > slot_in(cell, AHEAD_S)) { /* its backend read another clock */
        set_error(&reservation->why, FIRN_ECLOCK, "the clock has changed: try again");
        return;
    }
    /* After the wait for what lost tables let out: nothing before the present. */
    kept.floor = Max(made ? slot_in(cell, 0) : 0, floor_of_stores(cell));
    if (!read_mark(cell, &kept, &reservation->why)) {
        return;
    }
    snprintf(key, sizeof key, UINT64_FORMAT, cell->node);
    firn_request request = {.ns = cell->ns,
                            .layout = cell->layout,
                            .key = key,
                            .count = reservation->count,
                            .earliest = reservation->earliest,
                            .latest = reservation->latest,
                            .grant = reservation->grant};
    if (firn__law_reserve(&verdict, &kept, &nothing, &request, "", &held, &unused) == FIRN_OK) {
        if (reserve_shared(cell, &request, &verdict.first, reservation)) {
            reservation->first = verdict.first;
            write_mark(cell, verdict.first + reservation->count);
        }
        return;
    }
    reservation->busy = held.high;
    reservation->guarded = held.high == kept.floor ? held.high : 0;
}

/* ---- nodes for old rows ---------------------------------------------------------------------- */

static void add_live_nodes(arguments *list, const char *ns) {
    Datum *nodes = palloc((Size)firn_setting_max_nodes * sizeof *nodes);
    int count = 0;
    for (uint32 i = 0; i < firn_slots->cell_count; i++) { /* what is added now is not loaded */
        const firn_cell *cell = &firn_slots->cells[i];
        if (cell->loaded && strcmp(cell->ns, ns) == 0) {
            nodes[count++] = Int64GetDatum((int64)cell->node);
        }
    }
    add_ints(list, nodes, count);
}

/* The node of a job that was started before, if it is the same job. False: no such job. */
static bool find_begun(firn_take *take) {
    arguments list = {0};
    bool no_counts, is_null;
    add_text(&list, take->ns);
    add_text(&list, take->job);
    add_text(&list, take->counts);
    add_me(&list);
    if (run(find_job, &list) == 0) {
        return false;
    }
    take->node = (uint64)DatumGetInt64(cell_at(1, &is_null));
    bool same_counts = DatumGetBool(cell_at(2, &no_counts)) && !no_counts;
    if (take->counts[0] == '\0') {
        set_error(&take->why, FIRN_ETAKEN, "job %s of %.60s was done before: give it another name",
                  take->job, take->ns);
    } else if (!DatumGetBool(cell_at(3, &is_null))) {
        set_error(
            &take->why, FIRN_ETAKEN,
            "job %s of %.60s was begun before a promotion or a restore, and rows of it may be "
            "forgotten: give the other rows another job name",
            take->job, take->ns);
    } else if (!same_counts) {
        set_error(
            &take->why, FIRN_ETAKEN,
            "job %s of %.60s was begun in another database, or its table firn_jobs.job was lost: "
            "give the other rows another job name",
            take->job, take->ns);
    } else if (take->low == take->high && take->node != take->low) {
        set_error(&take->why, FIRN_ETAKEN,
                  "job %s of %.60s has node %" PRIu64 ": leave the node out of the options",
                  take->job, take->ns, take->node);
    }
    return true;
}

static void add_shared_nodes(arguments *list, const char *ns) {
    ArrayType *nodes = firn_registry_nodes(ns);
    if (nodes == NULL) {
        add_ints(list, NULL, 0);
    } else {
        list->types[list->count] = INT8ARRAYOID;
        list->values[list->count++] = PointerGetDatum(nodes);
    }
}

/* In the shared list a job has the whole of a node that nobody has used, as the jobs of stores
 * do. */
static void take_shared(firn_take *take) {
    char key[FIRN_KEY_SIZE], note[FIRN_NOTE_SIZE];
    firn_request request = {.ns = take->ns,
                            .layout = take->layout,
                            .key = key,
                            .count = 1,
                            .earliest = (int64)take->mark - 1,
                            .latest = (int64)take->mark - 1,
                            .note = note};
    arguments list = {0};
    firn_mark held = {0, 0};
    int64_t first;
    bool guarded;
    snprintf(key, sizeof key, UINT64_FORMAT, take->node);
    snprintf(note, sizeof note, "extension, job %s", take->job);
    if (!pg_strong_random(&request.grant, sizeof request.grant)) {
        elog(ERROR, "firn: the kernel gave no random bytes");
    }
    request.grant |= 1;
    if (!firn_registry_reserve(&request, &first, &held, &guarded, &take->why)) {
        add_text(&list, take->ns);
        add_int(&list, (int64_t)take->node);
        run(leave_node, &list);
    }
}

static void take(firn_take *take, arguments *range) {
    arguments list = {0};
    bool is_null;
    if (!check_text(take->ns, &take->why) || !check_text(take->job, &take->why) ||
        !check_layout(&list, take->ns, take->layout, &take->why)) {
        return;
    }
    if (find_begun(take)) {
        return;
    }
    if (run(is_confirmed, range) == 0) {
        set_error(
            &take->why, FIRN_EWINDOW,
            "nodes %" PRIu64 "-%" PRIu64 " may have old rows that were forgotten in a promotion "
            "or a restore (timeline " INT64_FORMAT "): set firn.history to nodes that never had "
            "old rows, then SELECT firn_confirm_history()",
            take->low, take->high, me.timeline);
        return;
    }
    add_int(&list, (int64)take->mark);
    add_text(&list, take->job);
    add_text(&list, take->counts);
    add_me(&list);
    add_int(&list, (int64)take->low);
    add_int(&list, (int64)take->high);
    add_live_nodes(&list, take->ns);
    add_shared_nodes(&list, take->ns);
    if (run(take_node, &list) == 0) {
        set_error(&take->why, FIRN_EEND,
                  "no node of %.60s from %" PRIu64 " to %" PRIu64
                  " is left for old rows: widen firn.history, or give another node",
                  take->ns, take->low, take->high);
        return;
    }
    take->node = (uint64)DatumGetInt64(cell_at(1, &is_null));
    take_shared(take);
}

/* Of this server: when it handed over, and until when that is valid. NULL: it did not. */
static const char *read_hand_over(const char **until, bool *is_valid) {
    arguments list = {0};
    bool is_null;
    add_me(&list);
    add_int(&list, HAND_OVER_MINUTES);
    if (run(handed_over, &list) == 0) {
        return NULL;
    }
    *until = TextDatumGetCString(cell_at(2, &is_null));
    *is_valid = DatumGetBool(cell_at(3, &is_null));
    return TextDatumGetCString(cell_at(1, &is_null));
}

/* A standby that has the hand-over may have lost its connection and not get this. Promoted while
 * the hand-over is valid, it would issue without a guard. */
static void take_back(firn_take *take, arguments *list) {
    const char *until;
    bool is_valid;
    const char *handed_over = read_hand_over(&until, &is_valid);
    if (handed_over == NULL) {
        set_error(&take->why, FIRN_EUSAGE,
                  "this server did not hand its nodes over: there is nothing to take back");
    } else if (is_valid && take->what != FIRN_ASK_TAKE_BACK_NOW) {
        set_error(&take->why, FIRN_EWINDOW,
                  "a standby with the hand-over of %s UTC may issue without a guard until %s UTC: "
                  "wait until then, or, if no such standby will be promoted, SELECT "
                  "firn_take_back(standbys_discarded => true)",
                  handed_over, until);
    } else {
        add_time(list, guard_from(firn_now()));
        run(take_back_here, list);
    }
}

void firn_tables_do(firn_take *task) {
    arguments me_only = {0};
    add_me(&me_only);
    arguments range = me_only;
    add_int(&range, (int64)task->low);
    add_int(&range, (int64)task->high);
    switch (task->what) {
    case FIRN_ASK_NODE:
        take(task, &range);
        break;
    case FIRN_ASK_CONFIRM:
        run(confirm_nodes, &range);
        break;
    case FIRN_ASK_HAND_OVER:
        run(hand_over_here, &me_only);
        break;
    case FIRN_ASK_TAKE_BACK:
    case FIRN_ASK_TAKE_BACK_NOW:
        take_back(task, &me_only);
        break;
    case FIRN_ASK_TAKE_OVER:
        if (here.before == 0) {
            set_error(&task->why, FIRN_EUSAGE,
                      "this server was not promoted with the marks that it has: there is nothing "
                      "to take over");
        } else if (here.until <= firn_now()) {
            set_error(&task->why, FIRN_EUSAGE,
                      "the guard after the promotion has ended, so there is nothing to take over: "
                      "for old rows, name unused nodes with firn_confirm_history('LOW-HIGH')");
        } else {
            take_over();
        }
    }
}

bool firn_tables_refuse(firn_error *why) {
    const char *until;
    bool is_valid;
    const char *handed_over = read_hand_over(&until, &is_valid);
    if (handed_over == NULL) {
        return false;
    }
    set_error(why, FIRN_EWINDOW,
              "this server handed its nodes over at %s UTC: promote its standby, or, if none was "
              "promoted, SELECT firn_take_back()",
              handed_over);
    return true;
}
