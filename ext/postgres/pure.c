/* SPDX-License-Identifier: MIT */
/* Functions of their arguments alone, fit for generated columns and indexes: pack, show, time,
 * bounds, conversions. No clock, no randomness, no state. */
#include "extension.h"

#include "reading.h"
#include "remark.h"
#include "shard.h"

#include "lib/stringinfo.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/inet.h"
#include "utils/json.h"

/* ---- reading --------------------------------------------------------------------------------- */

enum kind { KIND_INT, KIND_UUID, KIND_TEXT, KIND_BYTES };

/* An ID as it came, and what it may be. */
typedef struct subject {
    char text[FIRN_TEXT_SIZE + 88]; /* typeid brings a prefix */
    id_counts counts;
    firn_reading readings[FIRN_READINGS_MAX];
} subject;

static void subject_refuse(const subject *it, const firn_error *error) {
    firn_refuse(error->code, "'%.40s': %.150s", it->text, error->text);
}

/* Reads the text as an ID of a scheme, or of every scheme that fits; `form` is as in firn_guess_all. */
static void read_text(subject *it, const firn_scheme *scheme, const char *text, size_t length,
                      int form) {
    id_reader reader = {.named = scheme != NULL, .form = form, .cure = "name its scheme"};
    firn_error error;
    if (length >= sizeof it->text) {
        firn_refuse(FIRN_ETEXT, "a text of %zu characters is too long for an ID: give at most %zu",
                    length, sizeof it->text - 1);
    }
    memcpy(it->text, text, length);
    it->text[length] = '\0';
    if (scheme != NULL) {
        reader.scheme = *scheme;
        reader.form = -1;
    }
    FIRN_CHECK(reader_look(&reader, it->readings, &it->counts, it->text, length, &error));
    if (scheme != NULL) {
        it->readings[0].scheme = scheme; /* `reader` ends with this call */
    }
}

/* The width of bytes follows from the named scheme, or from their number. */
static firn_id id_of_bytes(bytea *bytes, const firn_scheme *scheme) {
    firn_error error;
    firn_id id;
    size_t size = VARSIZE_ANY_EXHDR(bytes);
    uint32 bits = scheme != NULL ? scheme->bits : (uint32)(size > 20 ? 168 : size * 8);
    if (size != (bits + 7) / 8 || size > 20) {
        firn_refuse(FIRN_ERANGE, "%zu bytes do not have the width of the ID: give %u", size,
                    bits > 160 ? 20 : (bits + 7) / 8);
    }
    FIRN_CHECK(firn_id_from_bytes(&id, (const uint8 *)VARDATA_ANY(bytes), bits, &error));
    return id;
}

/* Argument 0, of the scheme or NULL. */
static void subject_read(subject *it, FunctionCallInfo fcinfo, enum kind kind,
                         const firn_scheme *scheme) {
    firn_error error;
    firn_fields fields;
    firn_id id;
    if (kind == KIND_TEXT) {
        text *given = PG_GETARG_TEXT_PP(0);
        read_text(it, scheme, VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given), -1);
        return;
    }
    id = kind == KIND_INT    ? firn_id_of_int(PG_GETARG_INT64(0))
         : kind == KIND_UUID ? firn_id_of_uuid(PG_GETARG_UUID_P(0))
                             : id_of_bytes(PG_GETARG_BYTEA_PP(0), scheme);
    if (scheme == NULL) {
        char text[FIRN_TEXT_SIZE];
        firn_format(text, &id,
                    kind == KIND_INT                           ? FIRN_FORM_DEC
                    : firn_form_width(FIRN_FORM_UUID, id.bits) ? FIRN_FORM_UUID
                                                               : FIRN_FORM_HEX);
        read_text(it, NULL, text, strlen(text),
                  kind == KIND_INT                           ? FIRN_FORM_DEC
                  : firn_form_width(FIRN_FORM_UUID, id.bits) ? FIRN_FORM_UUID
                                                             : FIRN_FORM_HEX);
        return;
    }
    int form = firn_form_width(scheme->form, id.bits) > 0 ? scheme->form : FIRN_FORM_HEX;
    firn_format(it->text, &id, form);
    if (firn_unpack(&fields, scheme, &id, &error) != FIRN_OK) {
        subject_refuse(it, &error);
    }
    it->readings[0] = (firn_reading){scheme, form, id};
    it->counts = (id_counts){1, 1};
}

/* The scheme that argument i names, or NULL where the function has none. */
static const firn_scheme *scheme_at(FunctionCallInfo fcinfo, int i) {
    return i < PG_NARGS() ? &firn_recipe_at(fcinfo, PG_GETARG_TEXT_PP(i), NULL)->scheme : NULL;
}

/* ---- show ------------------------------------------------------------------------------------ */

static void put_string(StringInfo out, const char *name, const char *value) {
    appendStringInfo(out, "%s\"%s\":", out->data[out->len - 1] == '{' ? "" : ",", name);
    if (value == NULL) {
        appendStringInfoString(out, "null");
    } else {
        escape_json(out, value);
    }
}

/* Numbers of up to 32 bits are numbers, all others strings: as the scheme says, not the value. */
static void put_field(StringInfo out, const firn_scheme *scheme, const firn_fields *fields,
                      uint32 i) {
    char text[FIRN_VALUE_SIZE];
    const firn_slice *slice = &scheme->slices[i];
    bool constant = slice->role == FIRN_ROLE_CONST;
    bool random = slice->role == FIRN_ROLE_RANDOM || slice->role == FIRN_ROLE_PROCESS ||
                  slice->role == FIRN_ROLE_DIGEST;
    if (!random && (constant ? slice->bits : firn_scheme_width(scheme, i)) <= 32) {
        appendStringInfo(out, "%s\"%s\":" UINT64_FORMAT, out->data[out->len - 1] == '{' ? "" : ",",
                         slice->name, constant ? slice->value : fields->value[i].low);
    } else {
        put_string(out, slice->name, firn_fields_get(text, fields, scheme, i));
    }
}

static void put_candidates(StringInfo out, const subject *it) {
    appendStringInfoString(out, ",\"candidates\":[");
    for (size_t i = 0; i < it->counts.plausible; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++) {
            seen = seen || it->readings[j].scheme == it->readings[i].scheme;
        }
        if (!seen) {
            appendStringInfoString(out, i > 0 ? "," : "");
            escape_json(out, it->readings[i].scheme->name);
        }
    }
    appendStringInfoChar(out, ']');
}

/* No scheme is plausible. */
static Datum show_none(const subject *it) {
    StringInfoData out;
    char remark[REMARK_SIZE];
    const char *what = remark_on(remark, it->text, strlen(it->text));
    initStringInfo(&out);
    appendStringInfoChar(&out, '{');
    put_string(&out, "id", it->text);
    put_string(&out, "scheme", NULL);
    put_string(&out, "bits", NULL);
    put_string(&out, "time", NULL);
    put_string(&out, "unix_ns", NULL);
    appendStringInfoString(&out, ",\"fields\":{},\"candidates\":[]");
    put_string(&out, "what", what);
    put_string(&out, "remark", remark[0] != '\0' ? remark : NULL);
    appendStringInfoChar(&out, '}');
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data));
}

static Datum show(FunctionCallInfo fcinfo, enum kind kind) {
    subject it;
    StringInfoData out;
    firn_fields fields;
    firn_time time;
    char at[FIRN_TIME_SIZE], ns[FIRN_TIME_SIZE], text[READING_TEXT_SIZE], remark[REMARK_SIZE];
    firn_error error;
    subject_read(&it, fcinfo, kind, scheme_at(fcinfo, 1));
    if (it.counts.plausible == 0) {
        return show_none(&it);
    }
    const firn_scheme *scheme = it.readings->scheme;
    int index = scheme_index(scheme, FIRN_ROLE_TIME);
    FIRN_CHECK(firn_unpack(&fields, scheme, &it.readings->id, &error));
    initStringInfo(&out);
    appendStringInfoChar(&out, '{');
    put_string(&out, "id", reading_text(text, it.readings, it.text));
    put_string(&out, "scheme", scheme->name);
    appendStringInfo(&out, ",\"bits\":%u", scheme->bits);
    if (index >= 0) {
        firn_scheme_time(scheme, fields.value[index].low, &time);
        firn_time_format(at, &time, firn_scheme_digits(scheme));
        firn_time_unix_ns(ns, &time);
    }
    put_string(&out, "time", index >= 0 ? at : NULL);
    put_string(&out, "unix_ns", index >= 0 ? ns : NULL);
    appendStringInfoString(&out, ",\"fields\":{");
    for (uint32 i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        if (slice->role != FIRN_ROLE_TIME && slice->name[0] != '\0' &&
            firn_scheme_first(scheme, i) == i) {
            put_field(&out, scheme, &fields, i);
        }
    }
    appendStringInfoChar(&out, '}');
    put_candidates(&out, &it);
    if (PG_NARGS() < 2 && remark_on_reading(remark, it.readings, it.text)[0] != '\0') {
        put_string(&out, "remark", remark);
    }
    appendStringInfoChar(&out, '}');
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data));
}

static Datum time_of(FunctionCallInfo fcinfo, enum kind kind) {
    subject it;
    firn_fields fields;
    firn_time time;
    firn_error error;
    subject_read(&it, fcinfo, kind, scheme_at(fcinfo, 1));
    const firn_scheme *scheme = it.readings->scheme;
    int index = scheme_index(scheme, FIRN_ROLE_TIME);
    if (index < 0) {
        firn_refuse(FIRN_EUSAGE, "%s holds no time: keep one in a column of its own", scheme->name);
    }
    FIRN_CHECK(firn_unpack(&fields, scheme, &it.readings->id, &error));
    firn_scheme_time(scheme, fields.value[index].low, &time);
    PG_RETURN_TIMESTAMPTZ(firn_timestamp_of(&time));
}

/* firn_convert(id, to [, from]): `to` is a form or a scheme. */
static Datum convert(FunctionCallInfo fcinfo, enum kind kind) {
    static const char cure[] = "name its scheme";
    subject it;
    firn_error error, why;
    firn_scheme scheme;
    char *to = text_to_cstring(PG_GETARG_TEXT_PP(1));
    int form = firn_form_find(to), code;
    subject_read(&it, fcinfo, kind, scheme_at(fcinfo, 2));
    firn_id out = it.readings->id;
    if (form < 0) {
        FIRN_CHECK(firn_scheme_make(&scheme, to, NULL, NULL, NULL, &error));
        code = readings_convert(&out, &scheme, it.readings, it.counts, cure, &why);
    } else {
        code = readings_certain(it.readings, it.counts, cure, &why);
    }
    if (code != FIRN_OK) {
        firn_refuse(code, "'%.40s': %.150s", it.text, why.text);
    }
    return firn_datum(&out, FIRN_AS_TEXT, form < 0 ? scheme.form : form);
}

/* ---- shards ---------------------------------------------------------------------------------- */

static Datum shard(FunctionCallInfo fcinfo, enum kind kind) {
    int32 shards = PG_GETARG_INT32(1);
    subject it;
    firn_id id;
    if (shards < 1) {
        firn_refuse(FIRN_ERANGE, "%d shards are too few: give 1 or more", shards);
    }
    if (kind == KIND_TEXT) {
        subject_read(&it, fcinfo, kind, NULL);
        id = it.readings->id;
    } else {
        id = kind == KIND_INT ? firn_id_of_int(PG_GETARG_INT64(0))
                              : firn_id_of_uuid(PG_GETARG_UUID_P(0));
    }
    PG_RETURN_INT32((int32)shard_by_hash(&id, (uint32)shards));
}

/* One entry a function and a type of the ID. */
#define ENTRY(function, name, kind)                                                                \
    PG_FUNCTION_INFO_V1(firn_sql_##function##_##name);                                             \
    Datum firn_sql_##function##_##name(PG_FUNCTION_ARGS) {                                         \
        return function(fcinfo, kind);                                                             \
    }
ENTRY(show, int, KIND_INT)
ENTRY(show, uuid, KIND_UUID)
ENTRY(show, text, KIND_TEXT)
ENTRY(show, bytes, KIND_BYTES)
ENTRY(time_of, int, KIND_INT)
ENTRY(time_of, uuid, KIND_UUID)
ENTRY(time_of, text, KIND_TEXT)
ENTRY(time_of, bytes, KIND_BYTES)
ENTRY(convert, int, KIND_INT)
ENTRY(convert, uuid, KIND_UUID)
ENTRY(convert, text, KIND_TEXT)
ENTRY(shard, int, KIND_INT)
ENTRY(shard, uuid, KIND_UUID)
ENTRY(shard, text, KIND_TEXT)
#undef ENTRY

/* ---- pack and bounds ------------------------------------------------------------------------- */

static Datum pack(FunctionCallInfo fcinfo, enum firn_type type) {
    firn_error error;
    firn_id id;
    const firn_recipe *recipe = firn_recipe_at(fcinfo, PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1));
    FIRN_CHECK(firn_pack(&id, &recipe->scheme, &recipe->fields, &error));
    return firn_datum(&id, type, recipe->scheme.form);
}

/* The least and the greatest ID of the tick of an instant. */
static void bounds(FunctionCallInfo fcinfo, firn_id *least, firn_id *greatest, int *form) {
    firn_error error;
    const firn_recipe *recipe =
        firn_recipe_at(fcinfo, PG_GETARG_TEXT_PP(0), PG_NARGS() > 2 ? PG_GETARG_TEXT_PP(2) : NULL);
    firn_time from = firn_time_of(PG_GETARG_TIMESTAMPTZ(1)), to = from;
    to.ns++; /* microseconds end in zeros, so nothing is carried */
    FIRN_CHECK(firn_range(least, greatest, &recipe->scheme, &recipe->fields, &from, &to, &error));
    *form = recipe->scheme.form;
}

static Datum least(FunctionCallInfo fcinfo, enum firn_type type) {
    firn_id low, high;
    int form;
    bounds(fcinfo, &low, &high, &form);
    return firn_datum(&low, type, form);
}

static Datum greatest(FunctionCallInfo fcinfo, enum firn_type type) {
    firn_id low, high;
    int form;
    bounds(fcinfo, &low, &high, &form);
    return firn_datum(&high, type, form);
}

#define ENTRY(function, name, type)                                                                \
    PG_FUNCTION_INFO_V1(firn_sql_##function##_##name);                                             \
    Datum firn_sql_##function##_##name(PG_FUNCTION_ARGS) {                                         \
        return function(fcinfo, type);                                                             \
    }
ENTRY(pack, int, FIRN_AS_INT)
ENTRY(pack, uuid, FIRN_AS_UUID)
ENTRY(pack, text, FIRN_AS_TEXT)
ENTRY(pack, bytes, FIRN_AS_BYTES)
ENTRY(least, int, FIRN_AS_INT)
ENTRY(least, uuid, FIRN_AS_UUID)
ENTRY(least, text, FIRN_AS_TEXT)
ENTRY(greatest, int, FIRN_AS_INT)
ENTRY(greatest, uuid, FIRN_AS_UUID)
ENTRY(greatest, text, FIRN_AS_TEXT)
#undef ENTRY

/* ---- UUIDs ----------------------------------------------------------------------------------- */

/* A scheme of the list, looked up once per process. */
static const firn_scheme *known_scheme(const firn_scheme **known, const char *name) {
    if (*known == NULL) {
        *known = firn_scheme_find(name);
    }
    return *known;
}

static const firn_scheme *uuid1, *uuid6;

static Datum convert_uuid(FunctionCallInfo fcinfo, const firn_scheme *to, const firn_scheme *from) {
    firn_error error;
    firn_id id = firn_id_of_uuid(PG_GETARG_UUID_P(0)), out;
    FIRN_CHECK(firn_convert(&out, to, &id, from, &error));
    return firn_datum(&out, FIRN_AS_UUID, 0);
}

PG_FUNCTION_INFO_V1(firn_sql_uuid1_to_uuid6);
Datum firn_sql_uuid1_to_uuid6(PG_FUNCTION_ARGS) {
    return convert_uuid(fcinfo, known_scheme(&uuid6, "uuid6"), known_scheme(&uuid1, "uuid1"));
}

PG_FUNCTION_INFO_V1(firn_sql_uuid6_to_uuid1);
Datum firn_sql_uuid6_to_uuid1(PG_FUNCTION_ARGS) {
    return convert_uuid(fcinfo, known_scheme(&uuid1, "uuid1"), known_scheme(&uuid6, "uuid6"));
}

/* The constants of uuid1, computed once per process. */
static struct {
    int time, clock_seq, node;
    uint64 tick_2000;        /* where the server's timestamps begin */
    TimestampTz first, last; /* that uuid1 holds */
    firn_sum times, nodes;   /* uuid1 of its time and clock_seq, and what the node adds */
    bool known;
} of1;

static const firn_scheme *uuid1_known(void) {
    const firn_scheme *scheme = known_scheme(&uuid1, "uuid1");
    firn_fields fields = {0};
    firn_error error;
    firn_time start = firn_time_of(0), end;
    if (of1.known) {
        return scheme;
    }
    of1.time = firn_scheme_field(scheme, "time");
    of1.clock_seq = firn_scheme_field(scheme, "clock_seq");
    of1.node = firn_scheme_field(scheme, "node");
    fields.given = 1u << of1.time | 1u << of1.clock_seq | 1u << of1.node;
    firn_sum_make(&of1.times, scheme, &fields, (uint32)of1.time, (uint32)of1.clock_seq);
    firn_sum_make(&of1.nodes, scheme, &fields, (uint32)of1.node, UINT32_MAX);
    FIRN_CHECK(firn_scheme_tick(scheme, &start, &of1.tick_2000, &error));
    firn_scheme_end(scheme, true, &end);
    of1.first = firn_timestamp_of(&scheme->epoch);
    of1.last = firn_timestamp_of(&end) - 1;
    of1.known = true;
    return scheme;
}

static uint64 number_of(const macaddr *mac) {
    uint8 bytes[8] = {0, 0, mac->a, mac->b, mac->c, mac->d, mac->e, mac->f};
    uint64 number;
    memcpy(&number, bytes, sizeof number);
    return pg_ntoh64(number);
}

PG_FUNCTION_INFO_V1(firn_sql_form_uuid_v1);
Datum firn_sql_form_uuid_v1(PG_FUNCTION_ARGS) {
    TimestampTz at = PG_GETARG_TIMESTAMPTZ(0);
    int32 clock_seq = PG_GETARG_INT32(1);
    const firn_scheme *scheme = uuid1_known();
    firn_id id, node;
    if (at < of1.first || at > of1.last) { /* infinities too */
        firn_time time = firn_time_of(at);
        firn_error error;
        uint64 tick;
        FIRN_CHECK(firn_scheme_tick(scheme, &time, &tick, &error));
    }
    if (clock_seq < 0 || clock_seq > 16383) {
        firn_refuse(FIRN_ERANGE, "clock_seq %d does not fit 14 bits: 0 to 16383", clock_seq);
    }
    firn_sum_pack(&id, &of1.times, of1.tick_2000 + (uint64)at * 10, (uint64)clock_seq);
    firn_sum_pack(&node, &of1.nodes, number_of(PG_GETARG_MACADDR_P(2)), 0);
    id.low += node.low - of1.nodes.base.low;
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
    firn_scheme_time(scheme, fields.value[of1.time].low, &time);
    PG_RETURN_TIMESTAMPTZ(firn_timestamp_of(&time));
}

/* MySQL's order of bytes when it swaps: 6 7, 4 5, 0 to 3, 8 to 15. */
static void swap(uint8 out[UUID_LEN], const uint8 *in) {
    memcpy(out, in + 6, 2);
    memcpy(out + 2, in + 4, 2);
    memcpy(out + 4, in, 4);
    memcpy(out + 8, in + 8, 8);
}

static void unswap(uint8 out[UUID_LEN], const uint8 *in) {
    memcpy(out, in + 4, 4);
    memcpy(out + 4, in + 2, 2);
    memcpy(out + 6, in, 2);
    memcpy(out + 8, in + 8, 8);
}

static bool swapped(FunctionCallInfo fcinfo) {
    return PG_NARGS() > 1 && PG_GETARG_BOOL(1);
}

PG_FUNCTION_INFO_V1(firn_sql_uuid_to_bin);
Datum firn_sql_uuid_to_bin(PG_FUNCTION_ARGS) {
    const pg_uuid_t *uuid = PG_GETARG_UUID_P(0);
    bytea *out = palloc(VARHDRSZ + UUID_LEN);
    SET_VARSIZE(out, VARHDRSZ + UUID_LEN);
    if (swapped(fcinfo)) {
        swap((uint8 *)VARDATA(out), uuid->data);
    } else {
        memcpy(VARDATA(out), uuid->data, UUID_LEN);
    }
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
    if (swapped(fcinfo)) {
        unswap(uuid->data, (const uint8 *)VARDATA_ANY(in));
    } else {
        memcpy(uuid->data, VARDATA_ANY(in), UUID_LEN);
    }
    PG_RETURN_UUID_P(uuid);
}
