/* SPDX-License-Identifier: MIT */
/* The functions that issue IDs, in three ways: schemes without a node use a generator of the
 * backend, reserved ones use the server's slots in shared memory, or, with firn.store, a node that
 * the backend claims there. */
#include "extension.h"

#include "../common/sql.h"

#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

enum { MAKERS = 256, KEY_SIZE = 640, AHEAD = 64, CALL_MOST = 10000000 /* IDs */ };

/* IDs of a layout without a time do not age: a backend draws AHEAD at once. */
typedef struct stock {
    int left;
    firn_id ids[AHEAD];
} stock;

/* Issues the IDs of one scheme with one text of options. */
typedef struct id_maker {
    char key[KEY_SIZE]; /* both texts, a newline between: the table's key */
    firn_gen *gen;      /* NULL: the issuer's */
    firn_issuer *issuer;
    stock *stock; /* NULL: the row has a time */
    bool guarded; /* a row of somebody's own with a node: check_right */
    int form;
    bool is_signed;
    char prefix[64];
} id_maker;

/* Code that keeps a pointer to a maker compares this first: it changes when makers are freed. */
static uint64 makers_count;
static HTAB *makers;
static uint64 made_for;   /* firn_settings_count */
static uint64 made_after; /* copies of the machine */

/* ---- makers ---------------------------------------------------------------------------------- */

/* Gives windows of a store back; an error is only reported, because the process ends. */
static void close_all(void) {
    HASH_SEQ_STATUS all;
    id_maker *maker;
    if (makers == NULL) {
        return;
    }
    hash_seq_init(&all, makers);
    while ((maker = hash_seq_search(&all)) != NULL) {
        firn_error error;
        if (firn_close(maker->gen, &error) != FIRN_OK) {
            ereport(LOG, (errmsg("firn: %s", error.text)));
        }
        if (maker->stock != NULL) {
            pfree(maker->stock);
        }
        if (maker->issuer != NULL) {
            firn_issuer_close(maker->issuer);
            pfree(maker->issuer);
        }
    }
    hash_destroy(makers);
    makers = NULL;
    makers_count++;
}

static void close_at_exit(int code, Datum argument) {
    close_all();
}

static inline uint64 copies_now(void) {
    return firn_slots != NULL ? pg_atomic_read_u64(&firn_slots->copies) : 0;
}

/* Another copy of the machine may have the same prepared windows. A node of a store is claimed
 * again. The nodes of this server are only opened again: their marks were copied with the machine,
 * so other windows of them would not differ. */
static void see_copies(void) {
    if (made_after != copies_now()) {
        made_after = copies_now();
        firn_renew_identity(); /* first, so that no window is given back */
        close_all();
    }
}

static void begin_makers(void) {
    static bool registered;
    HASHCTL control = {
        .keysize = KEY_SIZE, .entrysize = sizeof(id_maker), .hcxt = TopMemoryContext};
    makers = hash_create("firn makers", 16, &control, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
    made_for = firn_settings_count;
    if (!registered) {
        before_shmem_exit(close_at_exit, 0);
        registered = true;
    }
}

/* A backend has one thread, so order within a thread is order: without options a scheme leases
 * slots, and an ID costs no compare-and-swap. A layout of the caller's own may have so few slots
 * per tick that a lease would be far ahead. */
static firn_gen *open_gen(const firn_recipe *recipe, const char *scheme, bool reserved) {
    firn_gen *gen;
    firn_error error;
    bool lease = !reserved && recipe->scheme.packer >= 0 && recipe->keys[0] == '\0';
    firn_store_options options = {.unsafe = firn_setting_unsafe};
    bool store = firn_setting_store[0] != '\0';
    firn_config config = {.size = sizeof config,
                          .scheme = firn_recipe_base(recipe, scheme),
                          .keys = lease ? "ordering=thread" : recipe->keys,
                          .store_url = store ? firn_setting_store : NULL,
                          .store_options = &options,
                          .notice = firn_tell};
    FIRN_CHECK(firn_open_with(&gen, &config, &error));
    return gen;
}

static bool may_execute(Oid function) {
#if PG_VERSION_NUM >= 160000
    return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#else
    return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

/* A layout of the caller's own, also a scheme with changes, takes one of FIRN_CELLS until the
 * server restarts. It needs the right to execute the function of the same name that takes options,
 * which not everybody has. */
static void check_right(FunctionCallInfo fcinfo) {
    Oid own = fcinfo->flinfo->fn_oid, types[2] = {TEXTOID, TEXTOID};
    char *schema = get_namespace_name(get_func_namespace(own)), *name = get_func_name(own);
    Oid right = InvalidOid;
    if (schema != NULL && name != NULL) {
        right = LookupFuncName(list_make2(makeString(schema), makeString(name)), 2, types, true);
    }
    if (!OidIsValid(right) || !may_execute(right)) {
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("firn: permission denied for a custom layout with a node"),
                        errhint("Ask for GRANT EXECUTE ON FUNCTION %s(text, text), or use the "
                                "name of a scheme.",
                                name != NULL ? name : "firn_new")));
    }
}

/* `asker`: the call of a function that anybody may execute with any scheme, or NULL. */
static void open_maker(id_maker *out, const char *scheme, const char *options,
                       FunctionCallInfo asker) {
    firn_recipe *recipe = palloc(sizeof *recipe);
    firn_recipe_read(recipe, scheme, options, FIRN_OF_KEYS);
    bool reserved = firn_is_reserved(recipe) || recipe->node_given;
    if (reserved) {
        firn_check_way(recipe, "firn.node");
    }
    out->guarded = reserved && (recipe->scheme.packer < 0 ||
                                strcmp(firn_recipe_base(recipe, scheme), scheme) != 0);
    if (out->guarded && asker != NULL) {
        check_right(asker);
    }
    out->form = recipe->scheme.form;
    out->is_signed = firn_is_signed(&recipe->scheme, recipe->unsigned_);
    strlcpy(out->prefix, recipe->prefix, sizeof out->prefix);
    if (!reserved || firn_setting_store[0] != '\0') {
        out->gen = open_gen(recipe, scheme, reserved);
        if (recipe->scheme.tick_ns == 0) {
            out->stock = MemoryContextAllocZero(TopMemoryContext, sizeof *out->stock);
        }
    } else {
        firn_issuer issuer;
        firn_issuer_open(&issuer, recipe);
        out->issuer = MemoryContextAlloc(TopMemoryContext, sizeof issuer);
        *out->issuer = issuer;
    }
    pfree(recipe);
}

static id_maker *find_maker(const char *scheme, const char *options, FunctionCallInfo asker) {
    char key[KEY_SIZE];
    bool found;
    if (snprintf(key, sizeof key, "%s\n%s", scheme, options) >= (int)sizeof key) {
        firn_refuse(FIRN_ERANGE, "scheme and options have more than %d characters: write fewer",
                    KEY_SIZE - 1);
    }
    see_copies();
    if (makers != NULL &&
        (made_for != firn_settings_count || hash_get_num_entries(makers) >= MAKERS)) {
        close_all();
    }
    if (makers == NULL) {
        begin_makers();
    }
    id_maker *known = hash_search(makers, key, HASH_FIND, NULL);
    if (known == NULL) {
        id_maker made = {.form = 0};
        open_maker(&made, scheme, options, asker);
        known = hash_search(makers, key, HASH_ENTER, &found);
        memcpy(made.key, key, sizeof key);
        *known = made;
    } else if (known->guarded &&
               asker != NULL) { /* another role of this session may have made it */
        check_right(asker);
    }
    return known;
}

/* ---- one ID ---------------------------------------------------------------------------------- */

/* Waits if the IDs are too far ahead of the clock, so that a long INSERT continues. */
static void next_of_gen(firn_gen *gen, firn_id *id) {
    firn_error error;
    firn_patience waited = 0;
    int code = firn_next(gen, id, &error);
    for (; code == FIRN_EEXHAUSTED && firn_patience_left(&waited) > 0;
         code = firn_next(gen, id, &error)) {
        firn_nap(1);
    }
    if (code != FIRN_OK) {
        firn_fail(&error);
    }
}

static void next_of_stock(id_maker *maker, firn_id *id) {
    stock *stock = maker->stock;
    firn_error error;
    if (stock->left == 0) {
        FIRN_CHECK(firn_next_n(maker->gen, stock->ids, AHEAD, &error));
        stock->left = AHEAD;
    }
    *id = stock->ids[--stock->left];
    stock->ids[stock->left] = (firn_id){0}; /* no copy of an issued ID stays */
}

static inline void next_of(id_maker *maker, firn_id *id) {
    if (maker->stock != NULL) {
        next_of_stock(maker, id);
    } else if (maker->issuer != NULL) {
        firn_issuer_next(maker->issuer, id);
    } else {
        next_of_gen(maker->gen, id);
    }
}

Datum firn_text_with_prefix(const char *prefix, size_t length, const firn_id *id) {
    char text[SQL_TEXT_SIZE];
    firn_error error;
    if (sql_typeid(text, prefix, length, id, &error) != FIRN_OK) {
        error.code = FIRN_EUSAGE;
        firn_fail(&error);
    }
    return PointerGetDatum(cstring_to_text(text));
}

static Datum value_of(const id_maker *maker, const firn_id *id, enum firn_type type) {
    if (type == FIRN_AS_TEXT && maker->prefix[0] != '\0') {
        if (maker->form != FIRN_FORM_TYPEID) {
            firn_refuse(FIRN_EUSAGE, "prefix= is for typeid: leave it out");
        }
        return firn_text_with_prefix(maker->prefix, strlen(maker->prefix), id);
    }
    firn_check_sign(id, type == FIRN_AS_INT && maker->is_signed);
    return firn_datum(id, type, maker->form);
}

/* ---- functions without arguments ------------------------------------------------------------- */

/* A maker that is remembered, once a process or at a call. */
typedef struct maker_place {
    id_maker *maker;
    uint64 count;
} maker_place;

static inline bool is_open(const maker_place *place) {
    return place->maker != NULL && place->count == makers_count &&
           made_for == firn_settings_count && made_after == copies_now();
}

static inline id_maker *plain_maker(maker_place *place, const char *scheme) {
    if (unlikely(!is_open(place))) {
        place->maker = find_maker(scheme, "", NULL);
        place->count = makers_count;
    }
    return place->maker;
}

static inline Datum issue(maker_place *place, const char *scheme, enum firn_type type) {
    firn_id id;
    next_of(plain_maker(place, scheme), &id);
    firn_check_sign(&id, type == FIRN_AS_INT && place->maker->is_signed);
    return type == FIRN_AS_INT ? Int64GetDatum((int64)id.low)
                               : firn_datum(&id, type, place->maker->form);
}

#define GENERATOR(name, scheme, type, slots)                                                       \
    static maker_place place_of_##name;                                                            \
    FIRN_ENTRY(name, issue(&place_of_##name, scheme, FIRN_AS_##type))
#include "../functions.def"

static maker_place place_of_region;
FIRN_ENTRY(region, issue(&place_of_region, "region", FIRN_AS_INT))

/* ---- functions with arguments ---------------------------------------------------------------- */

/* Is the key of the maker these two texts, with a newline between them? */
static bool is_of(const id_maker *maker, const char *scheme, size_t scheme_size,
                  const char *options, size_t options_size) {
    const char *key = maker->key;
    return scheme_size + options_size < sizeof maker->key - 1 &&
           memcmp(key, scheme, scheme_size) == 0 && key[scheme_size] == '\n' &&
           memcmp(key + scheme_size + 1, options, options_size) == 0 &&
           key[scheme_size + 1 + options_size] == '\0';
}

/* Remembered at the call, as long as the arguments are the same. */
static id_maker *maker_at(FunctionCallInfo fcinfo, const char *scheme, size_t scheme_size,
                          const char *options, size_t options_size) {
    maker_place *known = fcinfo->flinfo->fn_extra;
    if (known == NULL) {
        known = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof *known);
        fcinfo->flinfo->fn_extra = known;
    }
    if (!is_open(known) || !is_of(known->maker, scheme, scheme_size, options, options_size)) {
        char *name = pnstrdup(scheme, scheme_size), *line = pnstrdup(options, options_size);
        known->maker = NULL;
        known->maker = find_maker(name, line, PG_NARGS() == 1 ? fcinfo : NULL);
        known->count = makers_count;
        pfree(name);
        pfree(line);
    }
    return known->maker;
}

/* How many IDs a call shall give: the number itself, unless it is too great. */
PG_FUNCTION_INFO_V1(firn_sql_check_count);
Datum firn_sql_check_count(PG_FUNCTION_ARGS) {
    int64 count = PG_GETARG_INT64(0);
    if (count > CALL_MOST) {
        firn_refuse(FIRN_ERANGE,
                    "one call gives at most %d IDs, not " INT64_FORMAT ": use several calls",
                    CALL_MOST, count);
    }
    PG_RETURN_INT64(count);
}

/* A function whose argument is one of the options. */
static Datum issue_of(FunctionCallInfo fcinfo, const char *scheme, const char *field, int64 value,
                      enum firn_type type) {
    char options[48];
    firn_id id;
    snprintf(options, sizeof options, "%s=" INT64_FORMAT, field, value);
    id_maker *maker = maker_at(fcinfo, scheme, strlen(scheme), options, strlen(options));
    next_of(maker, &id);
    return value_of(maker, &id, type);
}

FIRN_ENTRY(instagram, issue_of(fcinfo, "instagram", "shard", PG_GETARG_INT32(0), FIRN_AS_INT))
FIRN_ENTRY(region_of, issue_of(fcinfo, "region", "region", PG_GETARG_INT32(0), FIRN_AS_INT))
FIRN_ENTRY(time_member, issue_of(fcinfo, "time-member", "member", PG_GETARG_INT64(0), FIRN_AS_TEXT))

/* All prefixes have one generator. */
static Datum issue_typeid(const text *prefix) {
    static maker_place place;
    size_t size = VARSIZE_ANY_EXHDR(prefix);
    firn_id id;
    if (size > 63 || size == 0) {
        firn_refuse(FIRN_ERANGE, "the prefix has %zu bytes: 1 to 63", size);
    }
    next_of(plain_maker(&place, "typeid"), &id);
    return firn_text_with_prefix(VARDATA_ANY(prefix), size, &id);
}

FIRN_ENTRY(typeid, issue_typeid(PG_GETARG_TEXT_PP(0)))

static Datum issue_any(FunctionCallInfo fcinfo, enum firn_type type) {
    text *scheme = PG_GETARG_TEXT_PP(0);
    text *options = PG_NARGS() > 1 ? PG_GETARG_TEXT_PP(1) : NULL;
    firn_id id;
    id_maker *maker = maker_at(fcinfo, VARDATA_ANY(scheme), VARSIZE_ANY_EXHDR(scheme),
                               options != NULL ? VARDATA_ANY(options) : "",
                               options != NULL ? VARSIZE_ANY_EXHDR(options) : 0);
    next_of(maker, &id);
    return value_of(maker, &id, type);
}

FIRN_ENTRY(new_int, issue_any(fcinfo, FIRN_AS_INT))
FIRN_ENTRY(new_uuid, issue_any(fcinfo, FIRN_AS_UUID))
FIRN_ENTRY(new_text, issue_any(fcinfo, FIRN_AS_TEXT))
FIRN_ENTRY(new_bytes, issue_any(fcinfo, FIRN_AS_BYTES))
