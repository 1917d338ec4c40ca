/* SPDX-License-Identifier: MIT */
/* firn_share_store(): makes the shared list of nodes (registry.c), moves the tables of a store into it, and lets a role
 * use it. All of it is one transaction. The old tables stay under other names; in their place are closed ones, so that no
 * program with the old settings begins another list. Statements of this file touch no row of a table on which others can
 * have put code. */
#include "extension.h"

#include "access/xlog.h"
#include "catalog/namespace.h"
#include "commands/dbcommands.h"
#include "executor/spi.h"
#include "miscadmin.h"
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

static char *run(const char *format, ...) pg_attribute_printf(1, 2);
/* Returns the first value of the first row; NULL: it has no row. */
static char *run(const char *format, ...) {
    va_list list;
    char text[16384];
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length >= (int)sizeof text || SPI_execute(text, false, 0) < 0) {
        elog(ERROR, "firn: a statement of firn_share_store failed");
    }
    return SPI_tuptable != NULL && SPI_processed > 0
               ? SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1)
               : NULL;
}

/* Makes tables in a schema. Only for statements that call no function, since the schema's owner may have a function of the
 * same name. */
static void run_in(const char *schema, const char *text) {
    int level = NewGUCNestLevel();
    (void)set_config_option("search_path", psprintf("%s, pg_temp", quote_identifier(schema)),
                            PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
    (void)set_config_option("client_min_messages", "warning", PGC_USERSET, PGC_S_SESSION,
                            GUC_ACTION_SAVE, true, 0, false);
    run("%s", text);
    AtEOXact_GUC(false, level);
}

static void refuse(const char *found, const char *what, const char *cure) pg_attribute_noreturn();
static void refuse(const char *found, const char *what, const char *cure) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("firn: %s %s", found, what), errhint("%s", cure)));
}

/* ---- the shared list --------------------------------------------------------------------------- */

static void make_owner(void) {
    Oid owner = get_role_oid(FIRN_OWNER, true);
    if (!OidIsValid(owner)) {
        run("CREATE ROLE " FIRN_OWNER " NOLOGIN");
        owner = get_role_oid(FIRN_OWNER, false);
    }
    firn_private_check_owner(owner);
}

/* What the extension has reserved so far, and what it took for old rows. Where the list lost records, the names that it does
 * not have may be lost ones. */
static void take_marks(const char *identity) {
    static const char other[] =
        "SELECT m.ns FROM firn_marks.mark m JOIN firn_store.firn_namespace n ON n.name = m.ns"
        " WHERE m.layout <> n.layout AND n.layout NOT LIKE 'claim=%% ' || m.layout LIMIT 1";
    if (!OidIsValid(get_namespace_oid("firn_marks", true))) {
        return;
    }
    char *ns = run(other);
    if (ns != NULL) {
        refuse(ns, "has another layout in the extension than in the store",
               "Give one of them another namespace (ns=).");
    }
    run("INSERT INTO firn_store.firn_namespace (name, layout, identity, floor)"
        " SELECT DISTINCT ON (m.ns) m.ns, m.layout, CASE s.identity WHEN %s THEN s.identity ELSE"
        " 'gone back' END, 0 FROM firn_marks.mark m, firn_store.firn_namespace s"
        " WHERE m.ns <> '' AND s.name = '' ON CONFLICT (name) DO NOTHING",
        identity);
    run("INSERT INTO firn_store.firn_mark AS s (ns, key, high, \"grant\", note)"
        " SELECT ns, node::text, high, 0, 'extension' || coalesce(', job ' || job, '')"
        " FROM firn_marks.mark WHERE ns <> ''"
        " ON CONFLICT (ns, key) DO UPDATE SET high = excluded.high, \"grant\" = 0,"
        " note = excluded.note WHERE s.high < excluded.high");
}

static void make_registry(void) {
    make_owner();
    if (OidIsValid(get_namespace_oid(FIRN_REGISTRY, true))) {
        return; /* the renewer looks at it */
    }
    run("CREATE SCHEMA " FIRN_REGISTRY);
    run_in(FIRN_REGISTRY, firn_registry_create("firn"));
    run("ALTER TABLE firn_store.firn_namespace OWNER TO " FIRN_OWNER);
    run("ALTER TABLE firn_store.firn_mark OWNER TO " FIRN_OWNER);
    run("ALTER FUNCTION firn_store.firn_keep() OWNER TO " FIRN_OWNER);
    run("ALTER SCHEMA " FIRN_REGISTRY " OWNER TO " FIRN_OWNER);
    firn_private_revoke(FIRN_REGISTRY, NULL);
}

/* ---- a store that moves --------------------------------------------------------------------------- */

/* A plain table of PostgreSQL's own types is read without anybody's code. */
static void check_plain(const old_store *it) {
    static const char odd[] =
        "SELECT c.oid::regclass FROM pg_class c WHERE c.oid IN (%s::regclass, %s::regclass)"
        " AND (c.relkind <> 'r' OR c.relpersistence <> 'p' OR c.relispartition OR EXISTS"
        " (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.atttypid >= 16384)"
        " OR EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)))";
    char *table = run(odd, quote_literal_cstr(it->namespaces), quote_literal_cstr(it->marks));
    if (table != NULL) {
        refuse(table, "is not a plain table of a store",
               "Name the tables of a store, SCHEMA.PREFIX.");
    }
}

static void check_fits(const old_store *it) {
    char *ns = run("SELECT name FROM ONLY %s WHERE layout LIKE 'closed (moved %%' LIMIT 1",
                   it->namespaces);
    if (ns != NULL) {
        refuse(ns, "of these tables has moved already", "Name the tables that are in use.");
    }
    ns = run("SELECT o.name FROM ONLY %s o JOIN firn_store.firn_namespace n USING (name)"
             " WHERE name <> '' AND o.layout <> n.layout LIMIT 1",
             it->namespaces);
    if (ns != NULL) {
        refuse(ns, "has another layout in the shared list",
               "Give one of them another namespace (ns=).");
    }
}

/* A record that is in doubt stays so. A namespace that both have is sound only if both are. */
static void copy_records(const old_store *it, const char *own, const char *shared) {
    run("INSERT INTO firn_store.firn_namespace AS n (name, layout, identity, floor)"
        " SELECT name, layout, CASE identity WHEN %s THEN %s ELSE identity END, floor FROM ONLY %s"
        " ON CONFLICT (name) DO UPDATE SET floor = greatest(n.floor, excluded.floor), identity ="
        " CASE WHEN excluded.identity <> 'new' AND n.identity = %s THEN excluded.identity"
        " ELSE n.identity END",
        own, shared, it->namespaces, shared);
    run("INSERT INTO firn_store.firn_mark AS m (ns, key, high, \"grant\", note)"
        " SELECT ns, key, high, \"grant\", note FROM ONLY %s"
        " ON CONFLICT (ns, key) DO UPDATE SET high = greatest(m.high, excluded.high),"
        " \"grant\" = CASE WHEN excluded.high >= m.high THEN excluded.\"grant\" ELSE m.\"grant\" "
        "END,"
        " note = CASE WHEN excluded.high >= m.high THEN excluded.note ELSE m.note END",
        it->marks);
}

/* The rights of the old tables, so that their users get the error that they are closed. */
static void copy_rights(const old_store *it, const char *old, const char *new) {
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

static void leave_closed(const old_store *it) {
    static const char closed[] = "closed (moved to the schema " FIRN_REGISTRY "): ";
    const char *old_namespaces = psprintf("%s_namespace_moved", it->prefix),
               *old_marks = psprintf("%s_mark_moved", it->prefix);
    run("ALTER TABLE %s RENAME TO %s", it->namespaces, quote_identifier(old_namespaces));
    run("ALTER TABLE %s RENAME TO %s", it->marks, quote_identifier(old_marks));
    old_namespaces = quote_qualified_identifier(it->schema, old_namespaces);
    old_marks = quote_qualified_identifier(it->schema, old_marks);
    run_in(it->schema, firn_registry_create(it->prefix));
    const char *identity = quote_literal_cstr(run("%s", firn_registry_identity(it->marks)));
    run("UPDATE %s SET identity = %s WHERE name = ''", it->namespaces, identity);
    run("INSERT INTO %s SELECT name, left('%s' || layout, %d), %s, floor FROM ONLY %s WHERE name "
        "<> ''",
        it->namespaces, closed, FIRN_LAYOUT_SIZE - 1, identity, old_namespaces);
    run("INSERT INTO %s VALUES ('" FIRN_ALL_NAMES "', '%sinteger', %s, 0) ON CONFLICT DO NOTHING",
        it->namespaces, closed, identity);
    run("INSERT INTO %s SELECT ns, key, high, \"grant\", note FROM ONLY %s", it->marks, old_marks);
    copy_rights(it, old_namespaces, it->namespaces);
    copy_rights(it, old_marks, it->marks);
}

static void move_store(const char *given, const char *shared) {
    List *parts = textToQualifiedNameList(cstring_to_text(given));
    if (list_length(parts) != 2) {
        refuse(given, "does not name the tables of a store",
               "Write SCHEMA.PREFIX, as public.firn.");
    }
    old_store it = {.schema = strVal(linitial(parts)), .prefix = strVal(lsecond(parts))};
    it.namespaces = quote_qualified_identifier(it.schema, psprintf("%s_namespace", it.prefix));
    it.marks = quote_qualified_identifier(it.schema, psprintf("%s_mark", it.prefix));
    run("LOCK TABLE ONLY %s, ONLY %s IN ACCESS EXCLUSIVE MODE", it.namespaces, it.marks);
    check_plain(&it);
    check_fits(&it);
    copy_records(&it, quote_literal_cstr(run("%s", firn_registry_identity(it.marks))), shared);
    leave_closed(&it);
}

/* ---- the function -------------------------------------------------------------------------------- */

static void check_caller(void) {
    firn_require_primary();
    if (!superuser()) {
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("firn: only a superuser makes roles and moves tables of others"),
                        errhint("Call it as a superuser.")));
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

/* The renewer, which waits for the first lock, then finds the list with all that it has reserved. */
static void share(const char *role, const char *tables) {
    if (OidIsValid(get_namespace_oid("firn_marks", true))) {
        run("LOCK TABLE firn_marks.mark IN SHARE ROW EXCLUSIVE MODE");
    }
    make_registry();
    run("LOCK TABLE firn_store.firn_namespace, firn_store.firn_mark IN SHARE ROW EXCLUSIVE MODE");
    const char *identity =
        quote_literal_cstr(run("%s", firn_registry_identity("firn_store.firn_mark")));
    run("UPDATE firn_store.firn_namespace SET identity = %s WHERE name = '' AND identity = 'new'",
        identity);
    if (tables != NULL) {
        move_store(tables, identity);
    }
    take_marks(identity);
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
