/* SPDX-License-Identifier: MIT */
/* The shared list of nodes: the tables of a PostgreSQL store, in the schema firn_store of
 * firn.database. Stores write them in their own sessions, the renewer with the driver below. The
 * engine and the law are the store's, and so are the statements (modules/postgres_sql.h), which run
 * as the tables' owner. The guards stay in firn_marks: the renewer grants only what both lists
 * grant. */
#include "extension.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/comment.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "../../modules/postgres_sql.h"
#include "../../src/confined.h"
#include "../../src/engine.h"
#include "errors.h"

#include <inttypes.h>

#define MARKS "firn_marks"

enum { VALUES = 15 }; /* of a statement, at most */

/* The driver's handle. */
typedef struct registry {
    const char *system; /* of the engine's identity */
    bool locked;        /* no other session changes records of the store and of namespaces */
    char backend[24], marks[24], taken[2048], layout[FIRN_LAYOUT_SIZE], shut[FIRN_LAYOUT_SIZE];
} registry;

/* ---- statements ------------------------------------------------------------------------------ */

static char *system_text(void) {
    return psprintf(INT64_FORMAT, (int64)GetSystemIdentifier());
}

static char *fill(const char *text, const char *table, const char *system) {
    StringInfoData out;
    initStringInfo(&out);
    for (; *text != '\0'; text++) {
        if (*text == '@') {
            appendStringInfoString(&out, table);
        } else if (*text == '~') {
            appendStringInfoString(&out, system);
        } else {
            appendStringInfoChar(&out, *text);
        }
    }
    return out.data;
}

char *firn_registry_create(const char *table) {
    return fill(create_sql, table, "");
}

char *firn_registry_identity(const char *marks) {
    static const char text[] = "SELECT " IDENTITY, own[] = "'\"@_mark\"'";
    const char *position = strstr(text, own);
    return psprintf("%s%s%s", fill(pnstrdup(text, (Size)(position - text)), "", system_text()),
                    quote_literal_cstr(marks), position + sizeof own - 1);
}

static uint64 run(const registry *self, enum statement which, const char *const *values) {
    Oid types[VALUES];
    Datum given[VALUES];
    char *text = fill(statements[which].text, "firn", self->system);
    if (statements[which].values > VALUES) {
        elog(ERROR, "firn: statement %d has too many values", (int)which);
    }
    for (int i = 0; i < statements[which].values; i++) {
        types[i] = TEXTOID;
        given[i] = CStringGetTextDatum(values[i]);
    }
    int code = SPI_execute_with_args(text, statements[which].values, types, given, NULL, false, 0);
    if (code < 0) {
        elog(ERROR, "firn: %s", SPI_result_code_string(code));
    }
    return SPI_processed;
}

/* NULL: the value is NULL. */
static const char *cell(int column) {
    return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column + 1);
}

/* ---- the driver: an error of SQL ends the renewer's transaction, and nothing of it counts ---- */

static int begin(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    return FIRN_OK;
}

static int read_records(void *self, firn_records *seen, bool surely, firn_error *error) {
    registry *state = self;
    const char *names[] = {seen->ns, seen->key}, *cells[READ_COLUMNS];
    run(state, READ, names);
    for (int i = 0; i < READ_COLUMNS; i++) {
        cells[i] = cell(i);
    }
    strlcpy(state->backend, cells[READ_SESSION], sizeof state->backend);
    strlcpy(state->marks, cells[READ_MARKS], sizeof state->marks);
    strlcpy(state->taken, cells[READ_TAKEN], sizeof state->taken);
    postgres_take_records(seen, cells, state->layout, state->shut);
    return FIRN_OK;
}

/* As the store does: locks the records in the order of all sessions, and the engine reads again. */
static int lock_records(registry *self) {
    const char *text = strstr(statements[BEGIN].text, "LOCK TABLE");
    if (SPI_execute(fill(text, "firn", self->system), false, 0) < 0) {
        elog(ERROR, "firn: the shared list could not be locked");
    }
    self->locked = true;
    return FIRN_WRITE_CHANGED;
}

static bool write_namespace(const registry *self, const firn_records *seen,
                            const firn_records *next) {
    char floor[24];
    snprintf(floor, sizeof floor, "%" PRId64, next->floor);
    const char *values[] = {next->ns,
                            next->layout,
                            floor,
                            seen->ns_known ? "true" : "false",
                            next->ns_losses == next->losses ? "true" : "false",
                            "false",
                            self->backend};
    return run(self, NAME, values) == 1;
}

static bool write_mark(const registry *self, const firn_records *seen, const firn_records *next) {
    char high[24], was[24], grant[24], old[24], floor[24];
    snprintf(high, sizeof high, "%" PRId64, next->mark.high);
    snprintf(was, sizeof was, "%" PRId64, seen->mark.high);
    snprintf(grant, sizeof grant, "%" PRId64, (int64_t)next->mark.grant);
    snprintf(old, sizeof old, "%" PRId64, (int64_t)seen->mark.grant);
    snprintf(floor, sizeof floor, "%" PRId64, next->floor);
    const char *values[] = {next->ns,      next->key,   high,        "0",          was,
                            was,           grant,       next->note,  next->layout, floor,
                            self->backend, self->marks, self->taken, old,          "false"};
    return run(self, seen->key_known ? RAISE : CREATE, values) == 1;
}

static int write_records(void *self, const firn_records *seen, firn_records *next, int which,
                         firn_verb verb, firn_error *error) {
    registry *state = self;
    if (which != FIRN_RECORD_KEY && !state->locked) {
        return lock_records(state);
    }
    if ((which & FIRN_RECORD_STORE) != 0 && !seen->known) {
        run(state, BORN, NULL);
    }
    if ((which & FIRN_RECORD_NS) != 0 && !write_namespace(state, seen, next)) {
        return FIRN_WRITE_CHANGED;
    }
    return (which & FIRN_RECORD_KEY) == 0 || write_mark(state, seen, next) ? FIRN_OK
                                                                           : FIRN_WRITE_CHANGED;
}

static const char *where(void *self) {
    return "the schema " FIRN_REGISTRY;
}

static int list(void *self, const char *ns, firn_visit *visit, void *context, firn_error *error) {
    return FIRN_OK;
}

static void close_none(void *self) {
}

/* Without `lost`: the engine remembers nothing. Each reservation has a new handle, since a
 * transaction may fail later. */
static const firn_driver driver = {.version = FIRN_DRIVER_VERSION,
                                   .scheme = "server",
                                   .begin = begin,
                                   .read = read_records,
                                   .write = write_records,
                                   .where = where,
                                   .list = list,
                                   .close = close_none};

/* ---- reservations ---------------------------------------------------------------------------- */

#define NOTED "firn: shared with stores by the schema " FIRN_REGISTRY

static bool is_noted(Oid marks) {
    const char *comment = OidIsValid(marks) ? GetComment(marks, NamespaceRelationId, 0) : NULL;
    return comment != NULL && strcmp(comment, NOTED) == 0;
}

static bool is_owner_noted(void) {
    static const char text[] =
        "SELECT FROM pg_shdescription WHERE objoid = to_regrole('" FIRN_OWNER
        "') AND classoid = 'pg_authid'::regclass AND description = '" NOTED "'";
    return OidIsValid(get_role_oid(FIRN_OWNER, true)) &&
           SPI_execute(text, true, 1) == SPI_OK_SELECT && SPI_processed > 0;
}

/* Comments come along in dumps. Only the owner of the schema may change the first one; DROP SCHEMA
 * removes it, and leaves the second, which all databases see. */
void firn_registry_note(void) {
    Oid marks = get_namespace_oid(MARKS, true);
    if (OidIsValid(marks) && !is_noted(marks)) {
        CreateComments(marks, NamespaceRelationId, 0, NOTED);
        CommandCounterIncrement();
    }
    CreateSharedComments(get_role_oid(FIRN_OWNER, false), AuthIdRelationId, NOTED);
    CommandCounterIncrement();
}

/* Without its list, firn_marks would grant what stores hold; and a list that was left lacks what
 * firn_marks has granted since. */
Oid firn_registry_lock(bool joins) {
    const bool shared = is_noted(get_namespace_oid(MARKS, true));
    Oid owner = firn_private_lock_shared(FIRN_REGISTRY, "firn_namespace");
    owner = OidIsValid(owner) ? firn_private_lock_shared(FIRN_REGISTRY, "firn_mark") : owner;
    if (OidIsValid(owner) && !shared && !joins) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("firn: the list in the schema " FIRN_REGISTRY
                               " lacks what the extension has granted without it"),
                        errhint("Join them: SELECT firn_share_store(ROLE).")));
    }
    if (!OidIsValid(owner) && (shared || is_owner_noted())) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("firn: the shared list is gone (schema " FIRN_REGISTRY ")"),
                        errhint("Rename or restore it so that it is there again; or, once no "
                                "program uses it, COMMENT ON SCHEMA " MARKS
                                " IS NULL and COMMENT ON ROLE " FIRN_OWNER " IS NULL.")));
    }
    return owner;
}

/* The stored layout, if it only confines claims, which are not for nodes that are given. */
static const char *stored_layout(const registry *self, const firn_request *request) {
    const char *names[] = {request->ns, request->key};
    firn__claims unused;
    run(self, READ, names);
    const char *stored = cell(READ_LAYOUT);
    return stored != NULL && strcmp(firn__confined_read(stored, &unused), request->layout) == 0
               ? stored
               : request->layout;
}

/* Is a mark the floor of its namespace, which a guard leaves? */
static bool is_floor(const registry *self, const firn_request *request, int64_t high) {
    const char *names[] = {request->ns, request->key};
    run(self, READ, names);
    const char *floor = cell(READ_FLOOR);
    return floor != NULL && strtoll(floor, NULL, 10) == high;
}

/* *guarded: FIRN_EBUSY because of a guard. */
static int reserve(const char *system, firn_request *request, int64_t *first, firn_mark *held,
                   bool *guarded, firn_error *why) {
    static void *engine; /* after an error of SQL it is still open */
    static registry self;
    if (engine != NULL) {
        firn__engine_ops.close(engine);
        engine = NULL;
    }
    memset(&self, 0, sizeof self);
    self.system = system;
    request->layout = stored_layout(&self, request);
    int code = firn__engine_make(&engine, &driver, &self, why);
    code = code == FIRN_OK ? firn__engine_ops.reserve(engine, request, first, held, why) : code;
    *guarded = code == FIRN_EBUSY && is_floor(&self, request, held->high);
    return code;
}

bool firn_registry_reserve(firn_request *request, int64_t *first, firn_mark *held, bool *guarded,
                           firn_error *why) {
    Oid owner = firn_registry_lock(false);
    if (!OidIsValid(owner)) {
        return true;
    }
    firn_caller before = firn_private_enter_schema(owner, FIRN_REGISTRY);
    int code = reserve(system_text(), request, first, held, guarded, why);
    firn_private_leave(before);
    return code == FIRN_OK;
}

ArrayType *firn_registry_nodes(const char *ns) {
    static const char lock[] = "LOCK TABLE firn_mark IN SHARE ROW EXCLUSIVE MODE";
    static const char keys[] = "SELECT array_agg(key::bigint) FROM firn_mark WHERE ns = $1"
                               " AND key ~ '^[0-9]{1,18}$'";
    Oid owner = firn_registry_lock(false), type = TEXTOID;
    Datum name = CStringGetTextDatum(ns);
    ArrayType *nodes = NULL;
    bool is_null;
    if (!OidIsValid(owner)) {
        return NULL;
    }
    MemoryContext context = CurrentMemoryContext;
    firn_caller before = firn_private_enter_schema(owner, FIRN_REGISTRY);
    if (SPI_execute(lock, false, 0) < 0 ||
        SPI_execute_with_args(keys, 1, &type, &name, NULL, false, 0) != SPI_OK_SELECT) {
        elog(ERROR, "firn: the nodes of the shared list cannot be read");
    }
    Datum found = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
    if (!is_null) {
        MemoryContext inner = MemoryContextSwitchTo(context);
        nodes = DatumGetArrayTypePCopy(found);
        MemoryContextSwitchTo(inner);
    }
    firn_private_leave(before);
    return nodes;
}
