/* SPDX-License-Identifier: MIT */
/* The statements of the PostgreSQL store. docs/reference/stores.md prints them for clients in other
 * languages; test/printed_pure_test.c compares both. */
#ifndef FIRN_POSTGRES_SQL_H
#define FIRN_POSTGRES_SQL_H

#include "module.h"

#include <stdlib.h>

/* In all statements, "@" is the prefix from table=, "#" is the time limit for a locked row in ms,
 * and "~" is the system identifier that greet_sql has read.
 *
 * The row with the empty name describes the store itself: a namespace whose identity differs from
 * it is in doubt (module.h). A table that was emptied and filled again from a copy has the same
 * identity, so a trigger forbids DELETE and TRUNCATE. */
static const char create_sql[] =
    "CREATE TABLE IF NOT EXISTS \"@_namespace\"("
    "name text COLLATE \"C\" PRIMARY KEY,"
    " layout text NOT NULL,"
    " identity text NOT NULL,"
    " floor bigint NOT NULL CHECK (floor >= 0));"
    "CREATE TABLE IF NOT EXISTS \"@_mark\"("
    "ns text COLLATE \"C\","
    " key text COLLATE \"C\","
    " high bigint NOT NULL CHECK (high BETWEEN 0 AND 4611686018427387904),"
    " \"grant\" bigint NOT NULL,"
    " note text NOT NULL,"
    " PRIMARY KEY (ns, key)) WITH (fillfactor = 50);"
    "INSERT INTO \"@_namespace\" VALUES ('', '', 'new', 0) ON CONFLICT (name) DO NOTHING;"
    "CREATE OR REPLACE FUNCTION \"@_keep\"() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
    " RAISE EXCEPTION '% holds what firn has reserved, without which IDs repeat', TG_TABLE_NAME"
    " USING HINT = 'To start over, drop the tables. After a restore, see "
    "docs/reference/stores.md.';"
    " END$$;"
    "DROP TRIGGER IF EXISTS \"@_keep\" ON \"@_namespace\";"
    "CREATE TRIGGER \"@_keep\" BEFORE DELETE OR TRUNCATE ON \"@_namespace\""
    " FOR EACH STATEMENT EXECUTE PROCEDURE \"@_keep\"();"
    "ALTER TABLE \"@_namespace\" ENABLE ALWAYS TRIGGER \"@_keep\";"
    "DROP TRIGGER IF EXISTS \"@_keep\" ON \"@_mark\";"
    "CREATE TRIGGER \"@_keep\" BEFORE DELETE OR TRUNCATE ON \"@_mark\""
    " FOR EACH STATEMENT EXECUTE PROCEDURE \"@_keep\"();"
    "ALTER TABLE \"@_mark\" ENABLE ALWAYS TRIGGER \"@_keep\"";

/* Names the session: its process, whose ID the system may use again, and the time when greet_sql
 * marked it, which no other session has. */
#define SESSION "concat_ws('/', pg_backend_pid(), current_setting('firn_store.session', true))"

/* Reads the settings of the session, and sets it up so that a commit is acknowledged only when it
 * is on disk, here and on synchronous standbys, and that a client which is gone holds no locks for
 * long. */
static const char greet_sql[] =
    "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,"
    " current_setting('fsync')::boolean, current_setting('full_page_writes')::boolean,"
    " pg_backend_pid() || '/' || set_config('firn_store.session',"
    " extract(epoch FROM clock_timestamp())::text, false),"
    " to_regclass('\"@_namespace\"')::oid, to_regclass('\"@_mark\"')::oid,"
    " (SELECT bool_and(relpersistence = 'p') FROM pg_class WHERE oid IN"
    " (to_regclass('\"@_namespace\"'), to_regclass('\"@_mark\"'))),"
    " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
    " WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),"
    " set_config('default_transaction_isolation', 'read committed', false),"
    " set_config('lock_timeout', '#', false),"
    " set_config('idle_in_transaction_session_timeout', '#0', false),"
    " (SELECT count(*) = 2 FROM pg_trigger WHERE tgname = '@_keep' AND tgenabled = 'A'"
    " AND tgrelid IN (to_regclass('\"@_namespace\"'), to_regclass('\"@_mark\"'))),"
    " (SELECT system_identifier FROM pg_control_system()),"
    " (SELECT min(name) FROM (SELECT 'trigger ' || tgname AS name, tgrelid AS at FROM pg_trigger"
    " WHERE NOT tgisinternal AND tgname <> '@_keep' AND tgenabled <> 'D'"
    " UNION ALL SELECT 'rule ' || rulename, ev_class FROM pg_rewrite WHERE ev_enabled <> 'D') AS o"
    " WHERE at IN (to_regclass('\"@_namespace\"'), to_regclass('\"@_mark\"')))";

/* The engine's identity: system, timeline, database, table of marks. The timeline comes from the
 * name of the current WAL file: for a while after a promotion, the control file still has the old
 * one. The statements compute the identity themselves, so that the identity in a copied table is
 * not taken for it. The system identifier is text, because the function for it reads a file; it
 * cannot change while the server process of the session lives. */
#define IDENTITY                                                                                   \
    "concat_ws('/', '~', left(pg_walfile_name(pg_current_wal_lsn()), 8),"                          \
    " (SELECT oid FROM pg_database WHERE datname = current_database()),"                           \
    " '\"@_mark\"'::regclass::oid)"

/* The nodes that the extension of this server issues with, as text; "": it is not preloaded. It can
 * change at any time. */
#define TAKEN "coalesce(current_setting('firn.taken', true), '')"

/* The conditions for raising a mark: the namespace is as it was read, and current; the session, the
 * table and the extension's nodes are those that this handle knows. */
#define UNCHANGED                                                                                  \
    " n.name = $1 AND n.layout = $9 AND n.floor = $10::bigint AND n.identity = " IDENTITY          \
    " AND " SESSION " = $11 AND '\"@_mark\"'::regclass::oid = $12::oid"                            \
    " AND " TAKEN " = $13"

enum statement {
    READ,
    RAISE,
    CREATE,
    GIVE_BACK,
    SETTLE,
    BEGIN,
    BEGIN_ALONE,
    BORN,
    DOUBT,
    NAME,
    COMMIT,
    ROLLBACK,
    LIST_ALL,
    LIST_ONE,
    OTHERS,
    MARKS_OF_OTHERS,
    NOW
};

static const struct statement_text {
    const char *name, *text;
    int values;
} statements[] = {
    /* All records, in one snapshot. The first three columns are of the session: a pooler may have
     * changed it, and with it the settings of greet_sql; another table may have replaced the table
     * of this handle. */
    [READ] = {"firn_read",
              "WITH i AS (SELECT " IDENTITY " AS identity)"
              " SELECT " SESSION ", '\"@_mark\"'::regclass::oid, " TAKEN ","
              " s.identity = 'new', s.identity = i.identity, a.identity = i.identity, a.layout,"
              " n.layout, n.identity = i.identity, n.floor, m.high, m.\"grant\" FROM i"
              " LEFT JOIN \"@_namespace\" s ON s.name = ''"
              " LEFT JOIN \"@_namespace\" a ON a.name = '" FIRN_ALL_NAMES "'"
              " LEFT JOIN \"@_namespace\" n ON n.name = $1"
              " LEFT JOIN \"@_mark\" m ON m.ns = $1 AND m.key = $2",
              2},
    /* Raises a mark that exists: $3 low, $4 count; $5 least and $6 most of the mark that it has
     * then; $14: the grant of the least; $15: 0 is allowed too, and 0 here any. $9 to $13:
     * UNCHANGED. */
    [RAISE] = {"firn_raise",
               "UPDATE \"@_mark\" m SET high = greatest(m.high, $3::bigint) + $4::bigint,"
               " \"grant\" = $7::bigint, note = $8 FROM \"@_namespace\" n"
               " WHERE m.ns = $1 AND m.key = $2 AND m.high BETWEEN $5::bigint AND $6::bigint"
               " AND (m.high > $5::bigint OR m.\"grant\" = $14::bigint"
               " OR ($15::boolean AND 0 IN (m.\"grant\", $14::bigint)))"
               " AND" UNCHANGED " RETURNING m.high",
               15},
    /* The same for a key without a mark. */
    [CREATE] = {"firn_create",
                "INSERT INTO \"@_mark\"(ns, key, high, \"grant\", note)"
                " SELECT $1, $2, $3::bigint + $4::bigint, $7::bigint, $8 FROM \"@_namespace\" n"
                " WHERE 0 BETWEEN $5::bigint AND $6::bigint AND" UNCHANGED
                " ON CONFLICT DO NOTHING RETURNING high",
                13},
    /* $3, $4: the mark that the caller was granted; $5: where the caller stopped. */
    [GIVE_BACK] = {"firn_give_back",
                   "UPDATE \"@_mark\" SET high = $5::bigint, \"grant\" = 0"
                   " WHERE ns = $1 AND key = $2 AND high = $3::bigint AND \"grant\" = $4::bigint"
                   " AND $5::bigint <= high RETURNING high",
                   5},
    /* Its commit comes after what was read, and waits for the disk and the standbys; so what was
     * read is there too. */
    [SETTLE] = {"firn_settle",
                "UPDATE \"@_namespace\" SET floor = floor WHERE name = $1 RETURNING floor", 1},
    /* A change of other records than marks is a transaction that reads again after this. Its locks
     * keep out others that change such records; the table's comes first, as everywhere. */
    [BEGIN] = {"firn_begin",
               "BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE \"@_namespace\", \"@_mark\" IN "
               "ROW EXCLUSIVE MODE;"
               " SELECT FROM \"@_namespace\" WHERE name IN ('', '" FIRN_ALL_NAMES "')"
               " ORDER BY name FOR UPDATE",
               0},
    /* The same for a change of layouts, which waits for running reservations too. A statement that
     * waits for the lock takes its snapshot afterwards. */
    [BEGIN_ALONE] = {"firn_begin_alone",
                     "BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE \"@_namespace\", \"@_mark\" "
                     "IN SHARE ROW EXCLUSIVE MODE",
                     0},
    [BORN] = {"firn_born",
              "UPDATE \"@_namespace\" SET identity = " IDENTITY
              " WHERE name = '' AND identity = 'new'",
              0},
    [DOUBT] = {"firn_doubt", "UPDATE \"@_namespace\" SET identity = '" MODULE_GONE_BACK "'", 0},
    /* $4: the namespace has a record; $5: it is current from now on; $6: a change of layouts, which
     * may lower the floor; $7: the session that began the transaction: behind a proxy, another
     * server could commit this at once, and be taken for one that lost nothing. */
    [NAME] = {"firn_name",
              "INSERT INTO \"@_namespace\" AS n (name, layout, identity, floor)"
              " SELECT $1, $2, " IDENTITY ", $3::bigint WHERE " SESSION " = $7"
              " ON CONFLICT (name) DO UPDATE SET layout = excluded.layout,"
              " identity = CASE WHEN $5::boolean THEN excluded.identity ELSE n.identity END,"
              " floor = CASE WHEN $6::boolean THEN excluded.floor"
              " ELSE greatest(n.floor, excluded.floor) END"
              " WHERE $4::boolean RETURNING floor",
              7},
    /* Names the session: a proxy may send COMMIT to another session, which commits nothing. */
    [COMMIT] = {"firn_commit", "COMMIT; SELECT " SESSION, 0},
    [ROLLBACK] = {"firn_rollback", "ROLLBACK", 0},
    [LIST_ALL] =
        {"firn_list_all",
         "(SELECT m.ns, n.layout, m.key, m.note, m.high, m.\"grant\", n.floor FROM \"@_mark\" m"
         " JOIN \"@_namespace\" n ON n.name = m.ns WHERE (m.ns, m.key) > ($1, $2)"
         " ORDER BY m.ns, m.key LIMIT $3::int)"
         " UNION ALL (SELECT n.name, n.layout, '', '', 0, 0, n.floor FROM \"@_namespace\" n"
         " WHERE n.name <> '' AND n.name > $1"
         " AND NOT EXISTS (SELECT FROM \"@_mark\" WHERE ns = n.name)"
         " ORDER BY n.name LIMIT $3::int) ORDER BY 1, 3 LIMIT $3::int",
         3},
    [LIST_ONE] =
        {"firn_list_one",
         "SELECT m.ns, n.layout, m.key, m.note, m.high, m.\"grant\", n.floor FROM \"@_mark\" m"
         " JOIN \"@_namespace\" n ON n.name = m.ns WHERE m.ns = $1 AND m.key > $2"
         " ORDER BY m.ns, m.key LIMIT $3::int",
         3},
    /* The extension's settings; does a superuser own its tables, and may this session read them?
     * The owner of a view could run functions as this session's role. */
    [OTHERS] = {"firn_others",
                "SELECT " TAKEN ", EXISTS (SELECT FROM pg_class c"
                " JOIN pg_namespace n ON n.oid = c.relnamespace"
                " JOIN pg_roles r ON r.oid = c.relowner AND r.rolsuper"
                " WHERE n.nspname = 'firn_marks' AND c.relname = 'mark' AND c.relkind = 'r'"
                " AND has_schema_privilege(n.oid, 'USAGE')"
                " AND has_table_privilege(c.oid, 'SELECT'))",
                0},
    [MARKS_OF_OTHERS] = {"firn_marks_of_others",
                         "SELECT ns, layout, node::text, 'extension'"
                         " || coalesce(', job ' || job, ''), high, 0, 0"
                         " FROM firn_marks.mark WHERE ns <> '' AND (ns, node) > ($1, $2::bigint)"
                         " ORDER BY ns, node LIMIT $3::int",
                         3},
    [NOW] = {"firn_now", "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", 0},
};

/* The columns of READ. */
enum {
    READ_SESSION,
    READ_MARKS,
    READ_TAKEN,
    READ_NEW,
    READ_CURRENT,
    READ_ALL_CURRENT,
    READ_ALL_LAYOUT,
    READ_LAYOUT,
    READ_NS_CURRENT,
    READ_FLOOR,
    READ_HIGH,
    READ_GRANT,
    READ_COLUMNS
};

static inline int64_t postgres_number(const char *cell) {
    return cell != NULL ? strtoll(cell, NULL, 10) : 0;
}

/* Takes the records from the columns of READ (NULL: a null); the texts are copied. */
static inline void postgres_take_records(firn_records *seen, const char *const cells[READ_COLUMNS],
                                         char layout[FIRN_LAYOUT_SIZE],
                                         char shut[FIRN_LAYOUT_SIZE]) {
    bool says[READ_COLUMNS];
    for (int i = 0; i < READ_COLUMNS; i++) {
        says[i] = cells[i] != NULL && cells[i][0] == 't';
    }
    snprintf(layout, FIRN_LAYOUT_SIZE, "%s", cells[READ_LAYOUT] != NULL ? cells[READ_LAYOUT] : "");
    snprintf(shut, FIRN_LAYOUT_SIZE, "%s",
             cells[READ_ALL_LAYOUT] != NULL ? cells[READ_ALL_LAYOUT] : "");
    seen->fresh = true;
    seen->known = !says[READ_NEW];
    seen->losses = seen->known && !says[READ_CURRENT];
    seen->all_new = says[READ_ALL_CURRENT];
    seen->shut = firn_layout_closed(shut) ? shut : NULL;
    seen->ns_known = cells[READ_LAYOUT] != NULL;
    seen->layout = layout;
    seen->ns_losses = says[READ_NS_CURRENT] ? seen->losses : seen->losses - 1;
    seen->floor = postgres_number(cells[READ_FLOOR]);
    seen->key_known = cells[READ_HIGH] != NULL;
    seen->mark = (firn_mark){postgres_number(cells[READ_HIGH]),
                             (uint64_t)postgres_number(cells[READ_GRANT])};
    seen->note = ""; /* no write needs it */
}

#endif
