/* SPDX-License-Identifier: MIT */
/* The statements of the PostgreSQL store. docs/reference/stores.md prints them for clients in other languages;
 * test/printed_pure_test.c compares both. */
#ifndef FIRN_POSTGRES_SQL_H
#define FIRN_POSTGRES_SQL_H

#include "module.h"

/* In all statements, "@" is the prefix from table=, "#" is the time limit for a locked row in ms, and "~" is
 * the system identifier that greet_sql has read.
 *
 * The row with the empty name describes the store itself: a namespace whose identity differs from it is in doubt
 * (module.h). A table that was emptied and filled again from a copy has the same identity, so a trigger forbids DELETE
 * and TRUNCATE. */
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

/* Reads the settings of the session, and sets it up so that a commit is acknowledged only when it is on disk, here and
 * on synchronous standbys. */
static const char greet_sql[] =
    "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,"
    " current_setting('fsync')::boolean, current_setting('full_page_writes')::boolean,"
    " pg_backend_pid(), to_regclass('\"@_namespace\"')::oid, to_regclass('\"@_mark\"')::oid,"
    " (SELECT bool_and(relpersistence = 'p') FROM pg_class WHERE oid IN"
    " (to_regclass('\"@_namespace\"'), to_regclass('\"@_mark\"'))),"
    " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
    " WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),"
    " set_config('default_transaction_isolation', 'read committed', false),"
    " set_config('lock_timeout', '#', false),"
    " (SELECT count(*) = 2 FROM pg_trigger WHERE tgname = '@_keep' AND tgenabled = 'A'"
    " AND tgrelid IN (to_regclass('\"@_namespace\"'), to_regclass('\"@_mark\"'))),"
    " (SELECT system_identifier FROM pg_control_system()),"
    " (SELECT min(name) FROM (SELECT 'trigger ' || tgname AS name, tgrelid AS at FROM pg_trigger"
    " WHERE NOT tgisinternal AND tgname <> '@_keep' AND tgenabled <> 'D'"
    " UNION ALL SELECT 'rule ' || rulename, ev_class FROM pg_rewrite WHERE ev_enabled <> 'D') AS o"
    " WHERE at IN (to_regclass('\"@_namespace\"'), to_regclass('\"@_mark\"')))";

/* The engine's identity: system, timeline, database, table of marks. The timeline comes from the name of the current
 * WAL file: for a while after a promotion, the control file still has the old one. The statements compute the
 * identity themselves, so that the identity in a copied table is not taken for it. */
#define IDENTITY(system)                                                                           \
    "concat_ws('/', " system ", left(pg_walfile_name(pg_current_wal_lsn()), 8),"                   \
    " (SELECT oid FROM pg_database WHERE datname = current_database()),"                           \
    " '\"@_mark\"'::regclass::oid)"
#define THIS_ENGINE                                                                                \
    "i AS (SELECT " IDENTITY("system_identifier") " AS identity FROM pg_control_system())"

/* The nodes that the extension of this server issues with, as text; "": it is not preloaded. It can change at any time. */
#define TAKEN "coalesce(current_setting('firn.taken', true), '')"

enum statement {
    RENEW,
    RESERVE,
    READ,
    BORN,
    FIRST_USE,
    ADOPT,
    DOUBT,
    SETTLE,
    GIVE_BACK,
    BEGIN,
    LOCK,
    NAMED,
    RELABEL,
    COMMIT,
    LIST_ALL,
    LIST_ONE,
    NOW
};

static const struct statement_text {
    const char *name, *text;
    int values;
} statements[] = {
    /* The usual case of RESERVE in three quarters of its time, with the same values: the mark exists and may be
     * raised. Otherwise it returns no row. The text contains the system identifier, because the function for it reads
     * a file; the identifier cannot change while the server process that holds the prepared statement lives. */
    [RENEW] =
        {"firn_renew",
         "UPDATE \"@_mark\" m SET high = greatest(m.high, $4::bigint, n.floor) + $3::bigint,"
         " \"grant\" = $6::bigint, note = $7 FROM \"@_namespace\" n"
         " WHERE n.name = $1 AND n.layout = $8 AND n.identity = " IDENTITY(
             "'~'") " AND m.ns = $1 AND m.key = $2 AND greatest($4::bigint, n.floor) <= $5::bigint"
                    " AND m.high BETWEEN $11::bigint AND $5::bigint"
                    " AND pg_backend_pid() = $9::int AND '\"@_mark\"'::regclass::oid = $10::oid"
                    " AND " TAKEN " = $12 RETURNING m.high",
         12},
    /* $3 count, $4 earliest, $5 latest. Layout and identity come from the statement's snapshot; the mark is the
     * newest one, locked. The answer also says why nothing was granted. $9 detects that a pooler has changed the
     * session, and with it the settings of greet_sql. $10 detects that another table has replaced the table of this
     * handle. $11 is firn__least. $12 is what the handle has read last of the extension's nodes, in the last column. */
    [RESERVE] = {"firn_reserve",
                 "WITH " THIS_ENGINE ","
                 " n AS (SELECT layout, identity, floor FROM \"@_namespace\" WHERE name = $1),"
                 " w AS (INSERT INTO \"@_mark\" AS m (ns, key, high, \"grant\", note)"
                 " SELECT $1, $2, greatest($4::bigint, n.floor) + $3::bigint, $6::bigint, $7"
                 " FROM n, i WHERE n.layout = $8 AND n.identity = i.identity"
                 " AND greatest($4::bigint, n.floor) <= $5::bigint"
                 " AND pg_backend_pid() = $9::int AND '\"@_mark\"'::regclass::oid = $10::oid"
                 " AND " TAKEN " = $12 AND ($11::bigint = 0"
                 " OR EXISTS (SELECT FROM \"@_mark\" WHERE ns = $1 AND key = $2))"
                 " ON CONFLICT (ns, key) DO UPDATE"
                 " SET high = greatest(m.high + $3::bigint, excluded.high),"
                 " \"grant\" = excluded.\"grant\", note = excluded.note"
                 " WHERE m.high BETWEEN $11::bigint AND $5::bigint RETURNING m.high)"
                 " SELECT w.high, n.layout, n.identity, n.floor, pg_backend_pid() = $9::int,"
                 " '\"@_mark\"'::regclass::oid = $10::oid, n.identity = i.identity, " TAKEN
                 " FROM i, n LEFT JOIN w ON true",
                 12},
    [READ] = {"firn_read", "SELECT high, \"grant\" FROM \"@_mark\" WHERE ns = $1 AND key = $2", 2},
    [BORN] = {"firn_born",
              "WITH " THIS_ENGINE " UPDATE \"@_namespace\" n SET identity = i.identity FROM i"
              " WHERE n.name = '' AND n.identity = 'new'",
              0},
    /* $3: the table that this handle knows; $4: guard. Answers whether the name is new. Its lock on the store's row,
     * which firn_doubt writes first, keeps the two from running at the same time. */
    [FIRST_USE] =
        {"firn_first_use",
         "WITH " THIS_ENGINE ", s AS (SELECT count(*) > 0 AS new FROM (SELECT FROM"
         " \"@_namespace\" n, i WHERE n.name IN ('', '" FIRN__ALL_NAMES "')"
         " AND n.identity = i.identity FOR SHARE OF n) AS own),"
         " c AS (SELECT layout AS shut FROM \"@_namespace\" WHERE name = '" FIRN__ALL_NAMES "'"
         " AND layout LIKE '" FIRN__CLOSED "%'),"
         " w AS (INSERT INTO \"@_namespace\"(name, layout, identity, floor)"
         " SELECT $1, $2, i.identity, CASE WHEN s.new THEN 0 ELSE $4::bigint END FROM s, i"
         " WHERE (s.new OR $4::bigint > 0) AND '\"@_mark\"'::regclass::oid = $3::oid"
         " AND ($2 LIKE '" FIRN__CLOSED "%' OR NOT EXISTS (SELECT FROM c))"
         " ON CONFLICT (name) DO NOTHING)"
         " SELECT s.new, (SELECT shut FROM c) FROM s",
         4},
    /* $2: guard; $3: the identity that was read. */
    [ADOPT] = {"firn_adopt",
               "WITH " THIS_ENGINE " UPDATE \"@_namespace\" n SET identity = i.identity,"
               " floor = greatest(n.floor, $2::bigint) FROM i"
               " WHERE n.name = $1 AND n.identity = $3",
               3},
    [DOUBT] = {"firn_doubt",
               "UPDATE \"@_namespace\" SET identity = '" FIRN__GONE_BACK "'"
               " WHERE name = '' OR $1::boolean",
               1},
    /* Its commit comes after the mark that was read, and waits for the disk and the standbys; so the mark is there
     * too. */
    [SETTLE] = {"firn_settle",
                "UPDATE \"@_mark\" SET note = note WHERE ns = $1 AND key = $2"
                " AND \"grant\" = $3::bigint RETURNING high",
                3},
    /* $3, $4: the mark that the caller was granted; $5: where the caller stopped. */
    [GIVE_BACK] = {"firn_give_back",
                   "UPDATE \"@_mark\" SET high = $5::bigint, \"grant\" = 0"
                   " WHERE ns = $1 AND key = $2 AND high = $3::bigint AND \"grant\" = $4::bigint"
                   " AND $5::bigint <= high RETURNING high",
                   5},
    /* These five run in one transaction. Its lock waits for running statements of the kinds above. A statement that
     * waits for the lock takes its snapshot afterwards. */
    [BEGIN] = {"firn_begin", "BEGIN", 0},
    [LOCK] = {"firn_lock", "LOCK TABLE \"@_namespace\", \"@_mark\" IN SHARE ROW EXCLUSIVE MODE", 0},
    /* The namespace if it exists, otherwise whether the name is new. */
    [NAMED] = {"firn_named",
               "WITH " THIS_ENGINE " SELECT n.layout, n.floor, n.identity = i.identity,"
               " (SELECT count(*) > 0 FROM \"@_namespace\" o WHERE o.name IN ('', '" FIRN__ALL_NAMES
               "') AND o.identity = i.identity) FROM i"
               " LEFT JOIN \"@_namespace\" n ON n.name = $1",
               1},
    [RELABEL] = {"firn_relabel",
                 "WITH " THIS_ENGINE " INSERT INTO \"@_namespace\" AS n"
                 " (name, layout, identity, floor)"
                 " SELECT $1, $2, i.identity, $3::bigint FROM i"
                 " ON CONFLICT (name) DO UPDATE"
                 " SET layout = excluded.layout, floor = excluded.floor",
                 3},
    [COMMIT] = {"firn_commit", "COMMIT", 0},
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
    [NOW] = {"firn_now", "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", 0},
};

#endif
