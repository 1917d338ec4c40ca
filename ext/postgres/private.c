/* SPDX-License-Identifier: MIT */
/* Tables that firn writes with the rights of a superuser: in separate schemas, where nothing is
 * granted to anybody. A role that could put code on such a table would be a superuser, so each use
 * locks the table first and then looks at it. This file knows no table by name. */
#include "extension.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* ---- another's rights ------------------------------------------------------------------------ */

static firn_caller enter(Oid owner, const char *path) {
    firn_caller before = {.settings = NewGUCNestLevel()};
    GetUserIdAndSecContext(&before.user, &before.context);
    SetUserIdAndSecContext(owner, before.context | SECURITY_LOCAL_USERID_CHANGE |
                                      SECURITY_RESTRICTED_OPERATION);
    (void)set_config_option("search_path", path, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true,
                            0, false);
    SPI_connect();
    return before;
}

firn_caller firn_private_enter(Oid owner) {
    return enter(owner, "pg_catalog, pg_temp");
}

firn_caller firn_private_enter_schema(Oid owner, const char *schema) {
    return enter(owner, psprintf("pg_catalog, %s, pg_temp", quote_identifier(schema)));
}

void firn_private_leave(firn_caller before) {
    SPI_finish();
    AtEOXact_GUC(false, before.settings);
    SetUserIdAndSecContext(before.user, before.context);
}

/* ---- grants ---------------------------------------------------------------------------------- */

/* `column`: owner pg_class, pg_attribute or pg_namespace. `object`: as GRANT names it. Others than
 * the owner may have the `allowed` rights, but not everybody. */
static void check_grants(HeapTuple tuple, int cache, int column, Oid owner, AclMode allowed,
                         const char *object) {
    bool is_null;
    Datum datum = SysCacheGetAttr(cache, tuple, (AttrNumber)column, &is_null);
    const Acl *acl = is_null ? NULL : DatumGetAclP(datum);
    for (int i = 0; acl != NULL && i < ACL_NUM(acl); i++) {
        Oid grantee = ACL_DAT(acl)[i].ai_grantee;
        const AclMode rights = ACL_DAT(acl)[i].ai_privs;
        if (grantee != owner &&
            (grantee == ACL_ID_PUBLIC ? rights : rights & ~allowed) != ACL_NO_RIGHTS) {
            char *name = grantee == ACL_ID_PUBLIC ? NULL : GetUserNameFromId(grantee, true);
            const char *quoted = name != NULL ? quote_identifier(name) : "PUBLIC";
            ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                            errmsg("firn: %s is granted to %s", object, quoted),
                            errhint("REVOKE ALL ON %s FROM %s CASCADE.", object, quoted)));
        }
    }
}

static void check_column_grants(Relation table, const char *object) {
    for (AttrNumber i = 1; i <= RelationGetNumberOfAttributes(table); i++) {
        HeapTuple tuple =
            SearchSysCache2(ATTNUM, ObjectIdGetDatum(RelationGetRelid(table)), Int16GetDatum(i));
        if (HeapTupleIsValid(tuple)) {
            check_grants(tuple, ATTNUM, Anum_pg_attribute_attacl, table->rd_rel->relowner,
                         ACL_NO_RIGHTS, object);
            ReleaseSysCache(tuple);
        }
    }
}

static void check_table_grants(Relation table, AclMode allowed, const char *object) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(table)));
    if (HeapTupleIsValid(tuple)) {
        check_grants(tuple, RELOID, Anum_pg_class_relacl, table->rd_rel->relowner, allowed, object);
        ReleaseSysCache(tuple);
    }
    check_column_grants(table, object);
}

/* The owner of the schema may drop the tables in it. Unqualified names of a role that is called
 * like the schema mean the schema, so a superuser's own tables would land there. */
static void check_schema(Oid schema, const char *name) {
    char *object = psprintf("SCHEMA %s", quote_identifier(name));
    HeapTuple tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
    Oid same = get_role_oid(name, true);
    if (!HeapTupleIsValid(tuple)) {
        return; /* the schema was dropped just now, with its tables */
    }
    Oid owner = ((Form_pg_namespace)GETSTRUCT(tuple))->nspowner;
    if (!superuser_arg(owner)) {
        ereport(ERROR,
                (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                 errmsg("firn: %s belongs to a role that is not a superuser", object),
                 errhint("If it is firn's, ALTER %s OWNER TO a superuser; else drop it.", object)));
    }
    if (OidIsValid(same) && superuser_arg(same)) {
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("firn: a superuser has the name of %s, so its tables would be "
                               "created there",
                               object),
                        errhint("ALTER ROLE %s RENAME TO another name.", quote_identifier(name))));
    }
    check_grants(tuple, NAMESPACEOID, Anum_pg_namespace_nspacl, owner, ACL_NO_RIGHTS, object);
    ReleaseSysCache(tuple);
    pfree(object);
}

/* The result names each grant that default privileges gave for the schema, what is in it, and the
 * functions. */
static const char granted[] =
    "WITH s AS (SELECT oid, format('SCHEMA %I', nspname), nspacl, nspowner FROM pg_namespace WHERE"
    " nspname = $1) SELECT DISTINCT format('REVOKE ALL ON %s FROM %s CASCADE', o.object, CASE"
    " a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)"
    " FROM (SELECT format, nspacl, nspowner FROM s UNION ALL"
    " SELECT format('TABLE %s', oid::regclass), relacl, relowner FROM pg_class"
    " WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM s) UNION ALL"
    " SELECT format('FUNCTION %s', oid::regprocedure), coalesce(proacl, acldefault('f', proowner)),"
    " proowner FROM pg_proc WHERE pronamespace = (SELECT oid FROM s) OR oid = ANY ($2))"
    " o (object, acl, owner), aclexplode(o.acl) a WHERE a.grantee <> o.owner";

void firn_private_revoke(const char *schema, ArrayType *functions) {
    Oid types[] = {NAMEOID, REGPROCEDUREARRAYOID};
    Datum values[] = {DirectFunctionCall1(namein, CStringGetDatum(schema)),
                      PointerGetDatum(functions)};
    firn_caller before = firn_private_enter(GetUserId());
    if (SPI_execute_with_args(granted, lengthof(values), types, values,
                              functions != NULL ? NULL : " n", false, 0) != SPI_OK_SELECT) {
        elog(ERROR, "firn: the grants on %s cannot be read", schema);
    }
    SPITupleTable *rows = SPI_tuptable;
    for (uint64 i = 0; i < rows->numvals; i++) {
        if (SPI_execute(SPI_getvalue(rows->vals[i], rows->tupdesc, 1), false, 0) < 0) {
            elog(ERROR, "firn: a grant on %s cannot be revoked", schema);
        }
    }
    firn_private_leave(before);
}

/* ---- one table ------------------------------------------------------------------------------- */

static bool is_odd(Relation table) {
    return table->rd_rel->relkind != RELKIND_RELATION ||
           table->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT;
}

static bool is_others(Relation table) {
    return !superuser_arg(table->rd_rel->relowner);
}

/* Only superusers put functions into the schema: those are firn's own triggers, which keep rows. */
static bool has_trigger(Relation table) {
    bool has = false;
    for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++) {
        Oid function = table->trigdesc->triggers[i].tgfoid;
        has = has || get_func_namespace(function) != RelationGetNamespace(table);
    }
    return has;
}

/* The owner of a function can replace it at any time. */
static bool has_trigger_of_others(Relation table) {
    bool has = false;
    for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++) {
        HeapTuple tuple =
            SearchSysCache1(PROCOID, ObjectIdGetDatum(table->trigdesc->triggers[i].tgfoid));
        has = has || !HeapTupleIsValid(tuple) ||
              !superuser_arg(((Form_pg_proc)GETSTRUCT(tuple))->proowner);
        if (HeapTupleIsValid(tuple)) {
            ReleaseSysCache(tuple);
        }
    }
    return has;
}

static bool has_rule(Relation table) {
    return table->rd_rules != NULL;
}

static bool has_policy(Relation table) {
    return table->rd_rel->relrowsecurity || table->rd_rel->relforcerowsecurity;
}

/* Rights on a parent reach the rows of its children. */
static bool inherits(Relation table) {
    Oid own = RelationGetRelid(table);
    return table->rd_rel->relispartition || has_superclass(own) ||
           (table->rd_rel->relhassubclass && find_inheritance_children(own, NoLock) != NIL);
}

/* An earlier owner may have left column defaults. Even a function of PostgreSQL's own may run
 * others: query_to_xml. */
static bool has_default(Relation table) {
    const TupleConstr *constraints = RelationGetDescr(table)->constr;
    return constraints != NULL && (constraints->num_defval > 0 || constraints->num_check > 0);
}

/* A domain has checks, and another type has functions. */
static bool has_own_type(Relation table) {
    const TupleDesc columns = RelationGetDescr(table);
    bool has = false;
    for (int i = 0; i < columns->natts; i++) {
        const FormData_pg_attribute *column = TupleDescAttr(columns, i);
        has = has || (!column->attisdropped && column->atttypid >= FirstUnpinnedObjectId);
    }
    return has;
}

static bool has_expression(Oid index) {
    HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
    bool has = HeapTupleIsValid(tuple) && (!heap_attisnull(tuple, Anum_pg_index_indexprs, NULL) ||
                                           !heap_attisnull(tuple, Anum_pg_index_indpred, NULL));
    if (HeapTupleIsValid(tuple)) {
        ReleaseSysCache(tuple);
    }
    return has;
}

/* Planning a statement evaluates constant parts of their expressions. */
static bool has_statistics(Relation table) {
    return RelationGetStatExtList(table) != NIL;
}

static bool has_index_code(Relation table) {
    List *indexes = RelationGetIndexList(table);
    ListCell *cell;
    bool has = false;
    foreach (cell, indexes) {
        has = has || has_expression(lfirst_oid(cell));
    }
    list_free(indexes);
    return has;
}

/* Whose faults these are: tables that only superusers own; tables that a store writes too, which
 * belong to a role without rights, as which the renewer writes them; tables that move, which are
 * read as their owner. */
enum { OWN = 1, SHARED = 2, MOVED = 4, ALL = OWN | SHARED | MOVED };

static const struct {
    bool (*is_so)(Relation table);
    int of;
    const char *what, *cure;
} faults[] = {
    {is_odd, ALL, "is not a plain, permanent table", "drop it"},
    {is_others, OWN, "belongs to a role that is not a superuser",
     "if it is firn's, let the owner be a superuser again, or give the table, the functions of its "
     "schema and the schema to a superuser (OWNER TO); else drop it"},
    {has_trigger, OWN | SHARED, "has a trigger or a foreign key", "drop that"},
    {has_trigger_of_others, OWN,
     "has a trigger whose function belongs to a role that is not a superuser",
     "ALTER FUNCTION ... OWNER TO a superuser, or let the owner be a superuser again"},
    {has_rule, ALL, "has a rule", "DROP RULE"},
    {has_policy, ALL, "has row security",
     "ALTER TABLE ... DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY"},
    {inherits, ALL, "inherits from a table, or a table inherits from it",
     "ALTER TABLE ... NO INHERIT"},
    {has_default, OWN, "has a default or a CHECK", "drop that"},
    {has_own_type, ALL, "has a column of an own type", "drop that"},
    {has_index_code, ALL, "has an index on an expression", "drop that"},
    {has_statistics, ALL, "has extended statistics", "DROP STATISTICS"},
};

static const char *name_of(Relation table) {
    return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(table)),
                                      RelationGetRelationName(table));
}

static void check_faults(Relation table, int owner) {
    const char *object = name_of(table);
    for (size_t i = 0; i < lengthof(faults); i++) {
        if ((faults[i].of & owner) != 0 && faults[i].is_so(table)) {
            ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                            errmsg("firn: table %s %s", object, faults[i].what),
                            errhint("Find out who did this, then %s.", faults[i].cure)));
        }
    }
}

static void check_table(Relation table) {
    Oid schema = RelationGetNamespace(table);
    check_faults(table, OWN);
    check_schema(schema, get_namespace_name(schema));
    check_table_grants(table, ACL_NO_RIGHTS, psprintf("TABLE %s", name_of(table)));
}

/* The lock keeps out all that brings triggers, rules, policies and another owner, until the
 * transaction ends. */
Oid firn_private_lock(const char *schema, const char *name) {
    Oid space = get_namespace_oid(schema, true);
    Oid own = OidIsValid(space) ? get_relname_relid(name, space) : InvalidOid;
    Relation table = OidIsValid(own) ? try_relation_open(own, RowExclusiveLock) : NULL;
    if (table == NULL) {
        if (OidIsValid(space)) {
            check_schema(space, schema);
        }
        return InvalidOid;
    }
    check_table(table);
    relation_close(table, NoLock);
    return own;
}

firn_caller firn_private_write(Oid own) {
    Relation table = relation_open(own, RowExclusiveLock);
    check_table(table);
    Oid owner = table->rd_rel->relowner;
    relation_close(table, NoLock);
    return firn_private_enter(owner);
}

/* ---- tables that stores write too ------------------------------------------------------------ */

/* `cache`: of pg_auth_members, by role or by member. */
static bool has_members(int cache, Oid role) {
    CatCList *members = SearchSysCacheList1(cache, ObjectIdGetDatum(role));
    bool has = members->n_members > 0;
    ReleaseSysCacheList(members);
    return has;
}

void firn_private_check_owner(Oid role) {
    HeapTuple tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role));
    bool good = HeapTupleIsValid(tuple);
    if (good) {
        const Form_pg_authid authid = (Form_pg_authid)GETSTRUCT(tuple);
        good = !authid->rolcanlogin && !authid->rolsuper && !authid->rolcreaterole &&
               !authid->rolcreatedb && !authid->rolreplication && !authid->rolbypassrls;
        ReleaseSysCache(tuple);
    }
    if (!good || has_members(AUTHMEMROLEMEM, role) || has_members(AUTHMEMMEMROLE, role)) {
        ereport(ERROR,
                (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                 errmsg("firn: the role %s may log in, has members, is a member, or may do more "
                        "than own tables",
                        FIRN_OWNER),
                 errhint("ALTER ROLE %s NOLOGIN NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION "
                         "NOBYPASSRLS, REVOKE it from its members, and other roles from it.",
                         FIRN_OWNER)));
    }
}

static void check_belongs(Oid owner, Oid wanted, const char *object) {
    if (!OidIsValid(wanted) || owner != wanted) {
        const char *first =
            OidIsValid(wanted) ? "Find out who did this" : "CREATE ROLE " FIRN_OWNER " NOLOGIN";
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("firn: %s does not belong to the role %s", object, FIRN_OWNER),
                        errhint("%s, then ALTER %s OWNER TO %s.", first, object, FIRN_OWNER)));
    }
}

static void check_shared(Relation table) {
    Oid schema = RelationGetNamespace(table), wanted = get_role_oid(FIRN_OWNER, true);
    const char *object = psprintf("TABLE %s", name_of(table));
    HeapTuple tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
    check_belongs(table->rd_rel->relowner, wanted, object);
    firn_private_check_owner(wanted);
    check_faults(table, SHARED);
    check_table_grants(table, ACL_SELECT | ACL_INSERT | ACL_UPDATE, object);
    if (HeapTupleIsValid(tuple)) {
        const char *space = psprintf("SCHEMA %s", quote_identifier(get_namespace_name(schema)));
        check_belongs(((Form_pg_namespace)GETSTRUCT(tuple))->nspowner, wanted, space);
        check_grants(tuple, NAMESPACEOID, Anum_pg_namespace_nspacl, wanted, ACL_USAGE, space);
        ReleaseSysCache(tuple);
    }
}

Oid firn_private_lock_shared(const char *schema, const char *name) {
    Oid space = get_namespace_oid(schema, true);
    Oid own = OidIsValid(space) ? get_relname_relid(name, space) : InvalidOid;
    Relation table = OidIsValid(own) ? try_relation_open(own, RowExclusiveLock) : NULL;
    if (table == NULL) {
        return InvalidOid;
    }
    check_shared(table);
    Oid owner = table->rd_rel->relowner;
    relation_close(table, NoLock);
    return owner;
}

/* ---- tables that move ------------------------------------------------------------------------ */

static Oid find(const char *schema, const char *name) {
    return get_relname_relid(name, get_namespace_oid(schema, false));
}

Oid firn_private_lock_moved(const char *schema, const char *name) {
    Oid own = find(schema, name);
    Relation table = OidIsValid(own) ? try_relation_open(own, AccessExclusiveLock) : NULL;
    if (table == NULL || find(schema, name) != own) {
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE),
                        errmsg("firn: the table %s does not exist",
                               quote_qualified_identifier(schema, name)),
                        errhint("Name the tables of a store, SCHEMA.PREFIX.")));
    }
    check_faults(table, MOVED);
    Oid owner = table->rd_rel->relowner;
    relation_close(table, NoLock);
    return owner;
}
