/* SPDX-License-Identifier: MIT */
/* Functions of their arguments alone, fit for generated columns and indexes: pack, show, time,
 * bounds, conversions. No clock, no randomness, no state. */
#include "extension.h"

#include "../common/call.h"
#include "shard.h"

#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/inet.h"

/* ---- functions of ext/common ----------------------------------------------------------------- */

enum { TEXT_MOST = FIRN_TEXT_SIZE + 87 }; /* typeid brings a prefix */

/* The scheme that argument i names, or NULL where the function has none. */
static const firn_scheme *scheme_at(FunctionCallInfo fcinfo, int i) {
    return i < PG_NARGS() ? &firn_recipe_at(fcinfo, PG_GETARG_TEXT_PP(i), NULL)->scheme : NULL;
}

static sql_value id_at(FunctionCallInfo fcinfo, enum firn_type type) {
    if (type == FIRN_AS_INT) {
        return (sql_value){.type = SQL_INTEGER, .integer = PG_GETARG_INT64(0)};
    }
    if (type == FIRN_AS_UUID) {
        const char *bytes = (const char *)PG_GETARG_UUID_P(0)->data;
        return (sql_value){.type = SQL_BYTES, .text = bytes, .length = UUID_LEN};
    }
    struct varlena *given = PG_GETARG_VARLENA_PP(0); /* text or bytea */
    size_t length = VARSIZE_ANY_EXHDR(given);
    if (type == FIRN_AS_TEXT && length > TEXT_MOST) {
        firn_refuse(FIRN_ETEXT, "a text of %zu characters is too long for an ID: give at most %d",
                    length, TEXT_MOST);
    }
    return (sql_value){.type = type == FIRN_AS_TEXT ? SQL_TEXT : SQL_BYTES,
                       .text = VARDATA_ANY(given),
                       .length = length};
}

/* Argument 0 is the ID, argument `scheme` its scheme, if it is given. */
static sql_call *call_of(FunctionCallInfo fcinfo, enum firn_type type, int scheme) {
    static sql_call call; /* too large to be zeroed for each row */
    call.scheme = scheme_at(fcinfo, scheme);
    call.arguments[0] = id_at(fcinfo, type);
    return &call;
}

static void run(sql_function *function, sql_call *call) {
    if (function(call) != FIRN_OK) {
        firn_fail(&call->error);
    }
}

static Datum show(FunctionCallInfo fcinfo, enum firn_type type) {
    sql_call *call = call_of(fcinfo, type, 1);
    run(sql_show, call);
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(call->text));
}

static Datum time_of(FunctionCallInfo fcinfo, enum firn_type type) {
    sql_call *call = call_of(fcinfo, type, 1);
    run(sql_instant, call);
    PG_RETURN_TIMESTAMPTZ(firn_timestamp_of(&call->time));
}

/* firn_convert(id, to [, from]): `out` is a form or a scheme. */
static Datum convert(FunctionCallInfo fcinfo, enum firn_type type) {
    firn_error error;
    char *out = text_to_cstring(PG_GETARG_TEXT_PP(1));
    sql_call *call = call_of(fcinfo, type, 2);
    FIRN_CHECK(pure_target_find(&call->target, out, &error));
    run(sql_convert, call);
    if (call->type == SQL_TEXT) { /* a TypeID with its prefix, or base64 */
        return PointerGetDatum(cstring_to_text(call->text));
    }
    return firn_datum(&call->id, FIRN_AS_TEXT, call->form);
}

static Datum shard(FunctionCallInfo fcinfo, enum firn_type type) {
    int32 shards = PG_GETARG_INT32(1);
    if (shards < 1) {
        firn_refuse(FIRN_ERANGE, "%d shards are too few: give 1 or more", shards);
    }
    if (type == FIRN_AS_UUID) { /* any UUID, of a scheme or not */
        firn_id id = firn_id_of_uuid(PG_GETARG_UUID_P(0));
        PG_RETURN_INT32((int32)shard_by_hash(&id, (uint32)shards));
    }
    sql_call *call = call_of(fcinfo, type, 2);
    call->arguments[1].integer = shards;
    run(sql_shard, call);
    PG_RETURN_INT32((int32)call->integer);
}

/* ---- pack and bounds ------------------------------------------------------------------------- */

/* An ID as text has the prefix that the fields name. */
static Datum packed(const firn_recipe *recipe, const firn_id *id, enum firn_type type) {
    return type == FIRN_AS_TEXT && recipe->prefix[0] != '\0'
               ? firn_text_with_prefix(recipe->prefix, strlen(recipe->prefix), id)
               : firn_datum(id, type, recipe->scheme.form);
}

static Datum pack(FunctionCallInfo fcinfo, enum firn_type type) {
    firn_error error;
    firn_id id;
    const firn_recipe *recipe = firn_recipe_at(fcinfo, PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1));
    FIRN_CHECK(pure_pack(&id, &recipe->scheme, &recipe->fields, &error));
    firn_check_sign(&id, type == FIRN_AS_INT && firn_is_signed(&recipe->scheme, recipe->unsigned_));
    return packed(recipe, &id, type);
}

/* The least and the greatest ID of the tick that contains a time. */
static const firn_recipe *bounds(FunctionCallInfo fcinfo, firn_id *least, firn_id *greatest,
                                 enum firn_type type) {
    firn_error error;
    if (fcinfo->flinfo->fn_extra == NULL) {
        firn_check_zone(fcinfo, 1);
    }
    const firn_recipe *recipe =
        firn_recipe_at(fcinfo, PG_GETARG_TEXT_PP(0), PG_NARGS() > 2 ? PG_GETARG_TEXT_PP(2) : NULL);
    firn_time from = firn_time_of(PG_GETARG_TIMESTAMPTZ(1)), to = from;
    to.ns++; /* microseconds end in zeros, so nothing is carried */
    FIRN_CHECK(pure_range(least, greatest, &recipe->scheme,
                          type == FIRN_AS_TEXT ? recipe->scheme.form : -1, &recipe->fields, &from,
                          &to, &error));
    firn_check_sign(greatest,
                    type == FIRN_AS_INT && firn_is_signed(&recipe->scheme, recipe->unsigned_));
    return recipe;
}

static Datum least(FunctionCallInfo fcinfo, enum firn_type type) {
    firn_id low, high;
    const firn_recipe *recipe = bounds(fcinfo, &low, &high, type);
    return packed(recipe, &low, type);
}

static Datum greatest(FunctionCallInfo fcinfo, enum firn_type type) {
    firn_id low, high;
    const firn_recipe *recipe = bounds(fcinfo, &low, &high, type);
    return packed(recipe, &high, type);
}

/* The type of the ID that comes, or of the answer, as ext/functions.def names it. */
enum {
    AS_int = FIRN_AS_INT,
    AS_uuid = FIRN_AS_UUID,
    AS_text = FIRN_AS_TEXT,
    AS_bytes = FIRN_AS_BYTES
};

#define POSTGRES_PURE(name, arguments, returns, call, type)                                        \
    FIRN_ENTRY(call##_##type, call(fcinfo, (enum firn_type)AS_##type))
#include "../functions.def"

/* ---- UUIDs ----------------------------------------------------------------------------------- */

static Datum exchange(FunctionCallInfo fcinfo, bool back) {
    static const firn_scheme *schemes[2]; /* looked up once per process */
    firn_error error;
    firn_id id = firn_id_of_uuid(PG_GETARG_UUID_P(0)), out;
    if (schemes[0] == NULL) {
        schemes[1] = firn_scheme_find("uuid6");
        schemes[0] = firn_scheme_find("uuid1");
    }
    FIRN_CHECK(firn_convert(&out, schemes[!back], &id, schemes[back], &error));
    return firn_datum(&out, FIRN_AS_UUID, 0);
}

FIRN_ENTRY(uuid1_to_uuid6, exchange(fcinfo, false))
FIRN_ENTRY(uuid6_to_uuid1, exchange(fcinfo, true))

enum { OF_TIME, OF_CLOCK_SEQ, OF_NODE, OF_ALL };

/* uuid1 as a sum, which is computed faster than firn_pack packs: the base and, for each slice, a
 * part of its field times the ID that the slice's lowest bit makes. Made once per process. */
static struct {
    const firn_scheme *scheme; /* NULL: not made yet */
    uint32 fields[OF_ALL];
    uint64 tick_2000;        /* where the server's timestamps begin */
    TimestampTz first, last; /* that uuid1 holds */
    firn_id base;
    int count;
    struct {
        int field;
        uint8 from;
        uint64 mask, high, low;
    } terms[FIRN_SLICES_MAX];
} of1;

static void add_term(const firn_scheme *scheme, firn_fields *fields, uint32 i, int field) {
    const firn_slice *slice = &scheme->slices[i];
    firn_value *value = &fields->value[of1.fields[field]];
    firn_error error;
    firn_id unit;
    value->low = UINT64CONST(1) << slice->from;
    FIRN_CHECK(firn_pack(&unit, scheme, fields, &error));
    value->low = 0;
    of1.terms[of1.count].field = field;
    of1.terms[of1.count].from = slice->from;
    of1.terms[of1.count].mask = ~(~UINT64CONST(0) << slice->bits); /* none has 64 */
    of1.terms[of1.count].high = unit.high - of1.base.high;
    of1.terms[of1.count++].low = unit.low - of1.base.low;
}

static const firn_scheme *uuid1_known(void) {
    static const char *const names[OF_ALL] = {"time", "clock_seq", "node"};
    const firn_scheme *scheme = of1.scheme;
    firn_time start = firn_time_of(0), end;
    firn_fields fields = {0};
    firn_error error;
    if (scheme != NULL) {
        return scheme;
    }
    scheme = firn_scheme_find("uuid1");
    for (int i = 0; i < OF_ALL; i++) {
        of1.fields[i] = (uint32)firn_scheme_field(scheme, names[i]);
        fields.given |= 1u << of1.fields[i];
    }
    of1.count = 0;
    FIRN_CHECK(firn_pack(&of1.base, scheme, &fields, &error));
    for (uint32 i = 0; i < scheme->slice_count; i++) {
        for (int field = 0; field < OF_ALL; field++) {
            if (firn_scheme_first(scheme, i) == of1.fields[field]) {
                add_term(scheme, &fields, i, field);
            }
        }
    }
    FIRN_CHECK(firn_scheme_tick(scheme, &start, &of1.tick_2000, &error));
    firn_scheme_end(scheme, true, &end);
    of1.first = firn_timestamp_of(&scheme->epoch);
    of1.last = firn_timestamp_of(&end) - 1;
    return of1.scheme = scheme;
}

static uint64 number_of(const macaddr *mac) {
    uint8 bytes[8] = {0, 0, mac->a, mac->b, mac->c, mac->d, mac->e, mac->f};
    uint64 number;
    memcpy(&number, bytes, sizeof number);
    return pg_ntoh64(number);
}

PG_FUNCTION_INFO_V1(firn_sql_form_uuid_v1);
Datum firn_sql_form_uuid_v1(PG_FUNCTION_ARGS) {
    TimestampTz instant = PG_GETARG_TIMESTAMPTZ(0);
    int32 clock_seq = PG_GETARG_INT32(1);
    const firn_scheme *scheme = uuid1_known();
    firn_id id = of1.base;
    if (fcinfo->flinfo->fn_extra == NULL) {
        firn_check_zone(fcinfo, 0);
        fcinfo->flinfo->fn_extra = &of1; /* checked */
    }
    if (instant < of1.first || instant > of1.last) { /* infinities too */
        firn_time time = firn_time_of(instant);
        firn_error error;
        uint64 tick;
        FIRN_CHECK(firn_scheme_tick(scheme, &time, &tick, &error));
    }
    if (clock_seq < 0 || clock_seq > 16383) {
        firn_refuse(FIRN_ERANGE, "clock_seq %d does not fit 14 bits: 0 to 16383", clock_seq);
    }
    const uint64 values[OF_ALL] = {of1.tick_2000 + (uint64)instant * 10, (uint64)clock_seq,
                                   number_of(PG_GETARG_MACADDR_P(2))};
    for (int i = 0; i < of1.count; i++) { /* no two terms share a bit, so nothing is carried */
        uint64 part = values[of1.terms[i].field] >> of1.terms[i].from & of1.terms[i].mask;
        id.low += part * of1.terms[i].low;
        id.high += part * of1.terms[i].high;
    }
    return firn_datum(&id, FIRN_AS_UUID, 0);
}

PG_FUNCTION_INFO_V1(firn_sql_uuid_v1_timestamp);
Datum firn_sql_uuid_v1_timestamp(PG_FUNCTION_ARGS) {
    firn_id id = firn_id_of_uuid(PG_GETARG_UUID_P(0));
    const firn_scheme *scheme = uuid1_known();
    firn_fields fields;
    firn_error error;
    firn_time time;
    FIRN_CHECK(firn_unpack(&fields, scheme, &id, &error));
    firn_scheme_time(scheme, fields.value[of1.fields[OF_TIME]].low, &time);
    PG_RETURN_TIMESTAMPTZ(firn_timestamp_of(&time));
}

/* Copies 16 bytes; with a second argument that is true, into MySQL's order of them, or back: 6 7,
 * 4 5, 0 to 3, 8 to 15. */
static void copy(FunctionCallInfo fcinfo, char *out, const void *bytes, bool back) {
    const char *in = bytes;
    bool swap = PG_NARGS() > 1 && PG_GETARG_BOOL(1);
    memcpy(out, in, UUID_LEN);
    if (swap && back) {
        memcpy(out, in + 4, 4);
        memcpy(out + 4, in + 2, 2);
        memcpy(out + 6, in, 2);
    } else if (swap) {
        memcpy(out, in + 6, 2);
        memcpy(out + 2, in + 4, 2);
        memcpy(out + 4, in, 4);
    }
}

PG_FUNCTION_INFO_V1(firn_sql_uuid_to_bin);
Datum firn_sql_uuid_to_bin(PG_FUNCTION_ARGS) {
    bytea *out = palloc(VARHDRSZ + UUID_LEN);
    SET_VARSIZE(out, VARHDRSZ + UUID_LEN);
    copy(fcinfo, VARDATA(out), PG_GETARG_UUID_P(0)->data, false);
    PG_RETURN_BYTEA_P(out);
}

PG_FUNCTION_INFO_V1(firn_sql_bin_to_uuid);
Datum firn_sql_bin_to_uuid(PG_FUNCTION_ARGS) {
    bytea *in = PG_GETARG_BYTEA_PP(0);
    pg_uuid_t *uuid = palloc(sizeof *uuid);
    if (VARSIZE_ANY_EXHDR(in) != UUID_LEN) {
        firn_refuse(FIRN_ERANGE, "%zu bytes are not a UUID: give 16",
                    (size_t)VARSIZE_ANY_EXHDR(in));
    }
    copy(fcinfo, (char *)uuid->data, VARDATA_ANY(in), true);
    PG_RETURN_UUID_P(uuid);
}
