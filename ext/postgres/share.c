/* SPDX-License-Identifier: MIT */
/* firn_share_store(): makes the shared list of nodes (registry.c), moves the tables of a store into
 * it, and lets a role use it. All of it is one transaction. The old tables stay under other names;
 * in their place are closed ones, so that no program with the old settings begins another list. No
 * statement on a table that another role owned or owns runs as a superuser: old tables are read as
 * their owner, into memory, and the list is written as firn_owner. */
#include "extension.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/varlena.h"

#include <firn/store.h>

#include <stdarg.h>

/* ---- statements ------------------------------------------------------------------------------ */

/* The tables of a store that moves. */
typedef struct old_store {
    const char *schema, *prefix;
    const char *namespaces, *marks; /* their names as SQL */
} old_store;

/* The rows of both tables, as JSON, and the identity with which a namespace is current. */
typedef struct records {
    const char *namespaces, *marks, *identity;
} records;

/* The first value of the first row of a statement that ended with `code`; NULL: it has no row. */
static char *first_value(int code) {
    if (code < 0) {
        elog(ERROR, "firn: a statement of firn_share_store failed");
    }
    return SPI_tuptable != NULL && SPI_processed > 0
               ? SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1)
               : NULL;
}

static char *run(const char *format, ...) pg_attribute_printf(1, 2);
static char *run(const char *format, ...) {
    va_list list;
    char text[16384];
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return first_value(length < (int)sizeof text ? SPI_execute(text, false, 0)
                                                 : SPI_ERROR_ARGUMENT);
}

/* With texts in place of $1 and so on. */
static char *run_with(const char *text, int count, const char *const *given) {
    Oid types[4];
    Datum values[4];
    for (int i = 0; i < count; i++) {
        types[i] = TEXTOID;
        values[i] = CStringGetTextDatum(given[i]);
    }
    return first_value(SPI_execute_with_args(text, count, types, values, NULL, false, 0));
}

/* The first value, as another role. */
static char *ask_as(Oid role, const char *text) {
    MemoryContext context = CurrentMemoryContext;
    firn_caller before = firn_private_enter(role);
    char *value = MemoryContextStrdup(context, run("%s", text));
    firn_private_leave(before);
    return value;
}

/* Until the end of the GUC level. */
static void set(const char *name, const char *value) {
    (void)set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
                            false);
}

/* Makes tables in a schema. Only for statements that call no function, since the schema's owner may
 * have a function of the same name. */
static void run_in(const char *schema, const char *text) {
    int level = NewGUCNestLevel();
    set("search_path", psprintf("%s, pg_temp", quote_identifier(schema)));
    set("client_min_messages", "warning");
    set("default_tablespace", "");
    set("default_table_access_method", "heap");
    run("%s", text);
    AtEOXact_GUC(false, level);
}

static void refuse(const char *found, const char *what, const char *cure) __attribute__((noreturn));
static void refuse(const char *found, const char *what, const char *cure) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("firn: %s %s", found, what), errhint("%s", cure)));
}

/* ---- the shared list ------------------------------------------------------------------------- */

static void make_owner(void) {
    Oid owner = get_role_oid(FIRN_OWNER, true);
    if (!OidIsValid(owner)) {
        run("CREATE ROLE " FIRN_OWNER " NOLOGIN");
        owner = get_role_oid(FIRN_OWNER, false);
    }
    firn_private_check_owner(owner);
}

/* Rows of records. */
#define NAMESPACES                                                                                 \
    "json_to_recordset($1::json) AS o (name text, layout text, identity text, floor bigint)"
#define MARKS                                                                                      \
    "json_to_recordset($2::json) AS o (ns text, key text, high bigint, \"grant\" bigint, note "    \
    "text)"

/* A layout that confines claims ends with the layout that it is for. */
#define CONFINES(a, b)                                                                             \
    "(left(" a ", 6) = 'claim=' AND right(" a ", length(" b ") + 1) = ' ' || " b ")"

static void check_fits(const records *given) {
    static const char moved[] =
        "SELECT name FROM " NAMESPACES " WHERE layout LIKE 'closed (moved %' LIMIT 1";
    static const char other[] =
        "SELECT name FROM " NAMESPACES " JOIN firn_store.firn_namespace n USING (name)"
        " WHERE name <> '' AND o.layout <> n.layout AND NOT " CONFINES(
            "o.layout", "n.layout") " AND NOT " CONFINES("n.layout", "o.layout") " LIMIT 1";
    char *ns = run_with(moved, 1, &given->namespaces);
    if (ns != NULL) {
        refuse(ns, "of these tables has moved already", "Name the tables that are in use.");
    }
    ns = run_with(other, 1, &given->namespaces);
    if (ns != NULL) {
        refuse(ns, "has another layout in the shared list",
               "Give one of them another namespace (ns=).");
    }
}

/* A namespace is current if it is on both sides. A side without its record counts as current unless
 * that side is in doubt: then the record may be a lost one, except where names are known to be new
 * ("integer *"). */
static void join_namespaces(const records *given, const char *shared) {
    static const char text[] =
        "WITH o AS (SELECT name, layout, floor, identity IN ('new', $2) AS good FROM " NAMESPACES
        "), n AS (SELECT name, layout, floor, identity = $3 AS good FROM "
        "firn_store.firn_namespace),"
        " u AS (SELECT coalesce((SELECT bool_or(good) FROM o WHERE name IN ('', '" FIRN_ALL_NAMES
        "')), false) AS old,"
        " coalesce((SELECT bool_or(good) FROM n WHERE name IN ('', '" FIRN_ALL_NAMES
        "')), false) AS new)"
        " INSERT INTO firn_store.firn_namespace AS t (name, layout, identity, floor)"
        " SELECT name, CASE WHEN length(o.layout) > length(n.layout) THEN o.layout"
        " ELSE coalesce(n.layout, o.layout) END,"
        " CASE WHEN coalesce(o.good, u.old) AND coalesce(n.good, u.new) THEN $3"
        " ELSE 'gone back' END, greatest(o.floor, n.floor)"
        " FROM o FULL JOIN n USING (name) CROSS JOIN u ON CONFLICT (name) DO UPDATE"
        " SET layout = excluded.layout, identity = excluded.identity, floor = excluded.floor";
    const char *values[] = {given->namespaces, given->identity, shared};
    run_with(text, lengthof(values), values);
}

/* Where both have a mark, nobody may give a part of it back: the other may hold that part. */
static void join_marks(const records *given) {
    static const char text[] =
        "INSERT INTO firn_store.firn_mark AS m (ns, key, high, \"grant\", note)"
        " SELECT ns, key, high, \"grant\", note FROM " MARKS " WHERE $1 <> ''"
        " ON CONFLICT (ns, key) DO UPDATE SET high = greatest(m.high, excluded.high),"
        " \"grant\" = 0, note = CASE WHEN excluded.high > m.high THEN excluded.note ELSE m.note "
        "END";
    const char *values[] = {given->namespaces, given->marks};
    run_with(text, lengthof(values), values);
}

static void join_records(Oid owner, const records *given, const char *shared) {
    firn_caller before = firn_private_enter_schema(owner, FIRN_REGISTRY);
    check_fits(given);
    join_namespaces(given, shared);
    join_marks(given);
    firn_private_leave(before);
}

/* Joins the marks of live IDs and of back-dated ones that the extension has. While its own guard runs, as
 * after a promotion or without its tables, the list does not vouch for them. */
static void take_marks(Oid owner, const char *identity) {
    static const char store[] = "SELECT json_agg(t)::text FROM (SELECT '' AS name, '' AS layout,"
                                " '%s' AS identity, 0 AS floor%s) t";
    static const char namespaces[] = " UNION ALL (SELECT DISTINCT ON (ns) ns, layout, '%s', 0"
                                     " FROM firn_marks.mark WHERE ns <> '')";
    static const char marks[] =
        "SELECT coalesce(json_agg(t), '[]')::text FROM (SELECT ns, node AS key, high, 0 AS grant,"
        " 'extension' || coalesce(', job ' || job, '') AS note FROM firn_marks.mark"
        " WHERE ns <> '') t";
    const bool there = OidIsValid(firn_private_lock("firn_marks", "mark"));
    const char *state = firn_tables_are_sure() ? "new" : "gone back";
    const records own = {run(store, state, there ? psprintf(namespaces, state) : ""),
                         there ? run("%s", marks) : "[]", identity};
    join_records(owner, &own, identity);
}

static void create_registry(void) {
    run("CREATE SCHEMA " FIRN_REGISTRY);
    run_in(FIRN_REGISTRY, firn_registry_create("firn"));
    run("ALTER TABLE firn_store.firn_namespace OWNER TO " FIRN_OWNER);
    run("ALTER TABLE firn_store.firn_mark OWNER TO " FIRN_OWNER);
    run("ALTER FUNCTION firn_store.firn_keep() OWNER TO " FIRN_OWNER);
    run("ALTER SCHEMA " FIRN_REGISTRY " OWNER TO " FIRN_OWNER);
    firn_private_revoke(FIRN_REGISTRY, NULL);
}

/* Returns the owner. A schema that was there before may be anybody's. */
static Oid make_registry(void) {
    make_owner();
    Oid owner = firn_registry_lock(true);
    if (!OidIsValid(owner) && OidIsValid(get_namespace_oid(FIRN_REGISTRY, true))) {
        refuse("the schema " FIRN_REGISTRY, "is there without the tables of the list",
               "Find out who made it, then drop or rename it.");
    }
    if (!OidIsValid(owner)) {
        create_registry();
        owner = firn_registry_lock(true);
    }
    return owner;
}

/* The identity of current namespaces. */
static char *begin_registry(Oid owner) {
    char *identity = ask_as(owner, firn_registry_identity("firn_store.firn_mark"));
    firn_caller before = firn_private_enter_schema(owner, FIRN_REGISTRY);
    run("LOCK TABLE firn_store.firn_namespace, firn_store.firn_mark IN SHARE ROW EXCLUSIVE MODE");
    run("UPDATE firn_store.firn_namespace SET identity = %s WHERE name = '' AND identity = 'new'",
        quote_literal_cstr(identity));
    firn_private_leave(before);
    return identity;
}

/* ---- a store that moves ---------------------------------------------------------------------- */

/* The rights of the old tables, so that their users get the error that they are closed. */
static void copy_rights(const old_store *store, const char *old, const char *new) {
    char *grants =
        run("SELECT string_agg(format('GRANT %%s ON %%s TO %%s;', a.privilege_type, %s,"
            " CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END), '')"
            " FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = %s::regclass"
            " AND a.grantee <> c.relowner AND a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE')",
            quote_literal_cstr(new), quote_literal_cstr(old));
    char *owner = run("SELECT relowner::regrole FROM pg_class WHERE oid = %s::regclass",
                      quote_literal_cstr(old));
    run("ALTER TABLE %s OWNER TO %s", new, owner);
    if (grants != NULL) {
        run("%s", grants);
    }
}

static void leave_closed(const old_store *store, const records *given) {
    static const char closed[] = "closed (moved to the schema " FIRN_REGISTRY "): ";
    const char *old_namespaces = psprintf("%s_namespace_moved", store->prefix),
               *old_marks = psprintf("%s_mark_moved", store->prefix);
    run("ALTER TABLE %s RENAME TO %s", store->namespaces, quote_identifier(old_namespaces));
    run("ALTER TABLE %s RENAME TO %s", store->marks, quote_identifier(old_marks));
    old_namespaces = quote_qualified_identifier(store->schema, old_namespaces);
    old_marks = quote_qualified_identifier(store->schema, old_marks);
    run_in(store->schema, firn_registry_create(store->prefix));
    const char *new_identity = run("%s", firn_registry_identity(store->marks));
    const char *values[] = {given->namespaces, given->marks, new_identity};
    run("UPDATE %s SET identity = %s WHERE name = ''", store->namespaces,
        quote_literal_cstr(new_identity));
    run_with(
        psprintf("INSERT INTO %s SELECT name, left('%s' || layout, %d), $3, floor FROM " NAMESPACES
                 " WHERE name <> '' AND $2 <> ''",
                 store->namespaces, closed, FIRN_LAYOUT_SIZE - 1),
        3, values);
    run("INSERT INTO %s VALUES ('" FIRN_ALL_NAMES "', '%sinteger', %s, 0) ON CONFLICT DO NOTHING",
        store->namespaces, closed, quote_literal_cstr(new_identity));
    run_with(psprintf("INSERT INTO %s SELECT ns, key, high, \"grant\", note FROM " MARKS
                      " WHERE $1 <> ''",
                      store->marks),
             2, values);
    copy_rights(store, old_namespaces, store->namespaces);
    copy_rights(store, old_marks, store->marks);
}

static records read_old(const old_store *store) {
    Oid of_namespaces =
        firn_private_lock_moved(store->schema, psprintf("%s_namespace", store->prefix));
    Oid of_marks = firn_private_lock_moved(store->schema, psprintf("%s_mark", store->prefix));
    static const char text[] =
        "SELECT coalesce(json_agg(t), '[]')::text FROM (SELECT %s FROM ONLY %s) t";
    return (records){
        ask_as(of_namespaces, psprintf(text, "name, layout, identity, floor", store->namespaces)),
        ask_as(of_marks, psprintf(text, "ns, key, high, \"grant\", note", store->marks)),
        run("%s", firn_registry_identity(store->marks))};
}

static void move_store(const char *given, Oid owner, const char *shared) {
    List *parts = textToQualifiedNameList(cstring_to_text(given));
    if (list_length(parts) != 2) {
        refuse(given, "does not name the tables of a store",
               "Write SCHEMA.PREFIX, as public.firn.");
    }
    old_store store = {.schema = strVal(linitial(parts)), .prefix = strVal(lsecond(parts))};
    if (strcmp(store.schema, "$user") == 0) { /* means another schema in search_path */
        refuse(given, "is in a schema of that name", "Rename the schema first.");
    }
    if (strcmp(store.schema, FIRN_REGISTRY) == 0) {
        refuse(given, "is the shared list itself", "Name the tables of a store elsewhere.");
    }
    store.namespaces =
        quote_qualified_identifier(store.schema, psprintf("%s_namespace", store.prefix));
    store.marks = quote_qualified_identifier(store.schema, psprintf("%s_mark", store.prefix));
    const records old = read_old(&store);
    join_records(owner, &old, shared);
    leave_closed(&store, &old);
}

/* ---- the function ---------------------------------------------------------------------------- */

static void check_caller(void) {
    firn_require_primary();
    if (!superuser()) {
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("firn: only a superuser makes roles and moves tables of others"),
                        errhint("Call it as a superuser.")));
    }
    if (IsolationUsesXactSnapshot()) {
        firn_refuse(FIRN_EUSAGE, "a snapshot of before the locks may miss reservations: call it in "
                                 "a transaction with READ COMMITTED");
    }
    if (firn_slots == NULL) {
        firn_refuse(FIRN_EWINDOW,
                    "a server has a shared list only with the extension preloaded: put "
                    "firn into shared_preload_libraries and restart");
    }
    if (strcmp(get_database_name(MyDatabaseId), firn_setting_database) != 0) {
        firn_refuse(
            FIRN_EUSAGE,
            "the shared list is in the database %.60s (firn.database), not here: connect to "
            "that one",
            firn_setting_database);
    }
}

/* The renewer waits for the first lock, then finds the list with all that it has reserved. The note
 * that there is a list needs a schema. No schema is renamed until the end. */
static void lock_marks(void) {
    Oid schema = get_namespace_oid("firn_marks", true);
    if (!OidIsValid(schema)) {
        firn_caller before = firn_private_enter(BOOTSTRAP_SUPERUSERID);
        run("CREATE SCHEMA firn_marks");
        firn_private_leave(before);
        firn_private_revoke("firn_marks", NULL);
    } else if (!firn_tables_exist()) { /* nor can the renewer make them before the end */
        LockDatabaseObject(NamespaceRelationId, schema, 0, AccessExclusiveLock);
    }
    if (OidIsValid(firn_private_lock("firn_marks", "mark"))) {
        run("LOCK TABLE firn_marks.mark IN SHARE ROW EXCLUSIVE MODE");
    }
    LockRelationOid(NamespaceRelationId, ShareRowExclusiveLock);
}

/* The renewer waits for what this transaction waits for, while windows end. */
static void bound_waits(void) {
    if (LockTimeout == 0) {
        set("lock_timeout", "3s");
    }
}

static void share(const char *role, const char *tables) {
    bound_waits();
    lock_marks();
    Oid owner = make_registry();
    const char *identity = begin_registry(owner);
    if (tables != NULL) {
        move_store(tables, owner, identity);
    }
    take_marks(owner, identity);
    firn_registry_note();
    run("GRANT USAGE ON SCHEMA " FIRN_REGISTRY " TO %s", role);
    run("GRANT SELECT, INSERT, UPDATE ON firn_store.firn_namespace, firn_store.firn_mark TO %s",
        role);
}

/* (role) or (role, tables) */
static Datum share_store(FunctionCallInfo fcinfo) {
    const char *role = quote_identifier(GetUserNameFromId(PG_GETARG_OID(0), false));
    const char *tables = PG_NARGS() > 1 ? text_to_cstring(PG_GETARG_TEXT_PP(1)) : NULL;
    check_caller();
    firn_caller before = firn_private_enter(GetUserId());
    share(role, tables);
    firn_private_leave(before);
    return (Datum)0;
}

FIRN_ENTRY(share_store, share_store(fcinfo))
