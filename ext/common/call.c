/* SPDX-License-Identifier: MIT */
#include "call.h"

#include "errors.h"
#include "sha256.h"
#include "shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char cure[] = "name its scheme";

/* ---- reading an ID --------------------------------------------------------------------------- */

const char *sql_subject(sql_call *call) {
    const firn_id *id = &call->readings[0].id;
    if (call->subject[0] != '\0') {
        return call->subject;
    }
    if (call->arguments[0].type == SQL_INTEGER) {
        snprintf(call->subject, sizeof call->subject, "%" PRId64, call->arguments[0].integer);
        return call->subject;
    }
    return firn_format(call->subject, id, id->bits == 128 ? FIRN_FORM_UUID : FIRN_FORM_HEX);
}

/* The error of a call, with the argument that it is about. */
static int refuse(sql_call *call, int code) {
    return prefix_error(&call->error, code, &call->error, "'%.50s': ", sql_subject(call));
}

/* `form` as of firn_guess_all. */
static int read_text(sql_call *call, const char *text, size_t length, int form) {
    id_reader reader = {.named = call->scheme != NULL, .form = form, .cure = cure};
    int code = text == call->subject
                   ? FIRN_OK
                   : sql_copy(call->subject, "the ID", text, length, &call->error);
    if (code == FIRN_OK && reader.named) {
        reader.scheme = *call->scheme;
    }
    if (code == FIRN_OK) {
        code = reader_look(&reader, call->readings, &call->counts, call->subject, length,
                           &call->error);
        if (code != FIRN_OK ||
            !readings_sure(call->readings, call->counts)) { /* base64, ShortUUID */
            code = reader_convert(&reader, call->readings, &call->counts, call->subject, length,
                                  &call->error);
        }
    }
    if (code == FIRN_OK && call->readings[0].scheme == &reader.scheme) {
        call->readings[0].scheme = call->scheme; /* `reader` ends with this call */
    }
    return code;
}

/* The bits of an ID of call->scheme, which are `size` bytes. */
static int read_named(sql_call *call, const uint8_t *bytes, int form) {
    firn_fields fields;
    int code = firn_id_from_bytes(&call->readings[0].id, bytes, call->scheme->bits, &call->error);
    const firn_scheme *seen =
        code == FIRN_OK ? firn_scheme_seen(call->scheme, &call->readings[0].id) : call->scheme;
    code = code == FIRN_OK ? firn_unpack(&fields, seen, &call->readings[0].id, &call->error) : code;
    call->readings[0].scheme = seen;
    call->readings[0].form = form;
    call->readings[0].sure = FIRN_CERTAIN;
    call->counts = (id_counts){1, 1};
    return code;
}

static int read_integer(sql_call *call, int64_t value) {
    const uint64_t bits = (uint64_t)value;
    uint8_t bytes[8];
    if (call->scheme == NULL) {
        const char *text = sql_subject(call);
        return read_text(call, text, strlen(text), FIRN_FORM_DEC);
    }
    if (call->scheme->bits > 64) {
        return set_error(&call->error, FIRN_EMISMATCH,
                         "an integer cannot be an ID of %s, which has %u bits: name another scheme",
                         call->scheme->name, call->scheme->bits);
    }
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    /* for every form of the scheme */
    int code = read_named(call, bytes + 8 - (call->scheme->bits + 7) / 8, FIRN_FORM_DEC);
    return code == FIRN_OK ? code : refuse(call, code);
}

static int read_bytes(sql_call *call, const sql_value *value) {
    const uint32_t size = (uint32_t)(value->length < 21 ? value->length : 21);
    const uint8_t *bytes = (const uint8_t *)value->text;
    if (call->scheme != NULL && size == (call->scheme->bits + 7) / 8) {
        int code = read_named(call, bytes, call->scheme->form);
        return code == FIRN_OK ? code : refuse(call, code);
    }
    if (call->scheme != NULL) {
        return set_error(&call->error, FIRN_ERANGE, "%zu bytes are not an ID of %s: give %u",
                         value->length, call->scheme->name, (call->scheme->bits + 7) / 8);
    }
    if (size != 8 && size != 12 && size != 16 && size != 20) {
        return set_error(&call->error, FIRN_ERANGE,
                         "%zu bytes are not an ID of a known scheme: give 8, 12, 16 or 20",
                         value->length);
    }
    firn_id_from_bytes(&call->readings[0].id, bytes, size * 8, NULL); /* any bits */
    const char *text = sql_subject(call);
    return read_text(call, text, strlen(text), size == 16 ? FIRN_FORM_UUID : FIRN_FORM_HEX);
}

/* Text is printable, and the bytes of an ID almost never are. */
static bool is_plain(const sql_value *value) {
    size_t i = 0;
    while (i < value->length && value->text[i] >= ' ' && value->text[i] <= '~') {
        i++;
    }
    return i == value->length;
}

/* Are these the bytes of an ID? */
static bool holds_bytes(sql_call *call, const sql_value *value) {
    const size_t size = value->length;
    if (call->scheme == NULL) {
        return (size == 12 || size == 16 || size == 20) && !is_plain(value);
    }
    return call->scheme->bits > 64 && size == (call->scheme->bits + 7) / 8 &&
           read_named(call, (const uint8_t *)value->text, call->scheme->form) == FIRN_OK;
}

int sql_read(sql_call *call) {
    const sql_value *value = &call->arguments[0];
    call->subject[0] = '\0';
    if (call->scheme != NULL && call->scheme->keyed) {
        return pure_keyed_check(call->scheme, "show --scheme", &call->error);
    }
    if (value->type == SQL_INTEGER) {
        return read_integer(call, value->integer);
    }
    return value->type == SQL_BYTES || (value->type == SQL_STRING && holds_bytes(call, value))
               ? read_bytes(call, value)
               : read_text(call, value->text, value->length, -1);
}

static int certain(sql_call *call) {
    int code = readings_certain(call->readings, call->counts, cure, &call->error);
    return code == FIRN_OK ? code : refuse(call, code);
}

/* ---- answers --------------------------------------------------------------------------------- */

static int put_id(sql_call *call, const firn_id *id, int form) {
    call->type = SQL_ID;
    call->id = *id;
    call->form = form;
    call->sorted = false;
    return FIRN_OK;
}

static int put_integer(sql_call *call, int64_t value) {
    call->type = SQL_INTEGER;
    call->integer = value;
    return FIRN_OK;
}

/* ---- times ----------------------------------------------------------------------------------- */

int sql_instant(sql_call *call) {
    firn_fields fields;
    int code = sql_read(call);
    if (code != FIRN_OK) {
        return code;
    }
    code = readings_answer(call->readings, call->counts, cure, &call->error);
    if (code != FIRN_OK) {
        return refuse(call, code);
    }
    const firn_scheme *scheme = call->readings[0].scheme;
    int index = scheme_index(scheme, FIRN_ROLE_TIME);
    if (index < 0) {
        return set_error(&call->error, FIRN_EUSAGE,
                         "an ID of %s contains no time: store the time in a column", scheme->name);
    }
    code = firn_unpack(&fields, scheme, &call->readings[0].id, &call->error);
    if (code == FIRN_OK) {
        firn_scheme_time(scheme, fields.value[index].low, &call->time);
        call->type = SQL_TIME;
        call->digits = firn_scheme_digits(scheme);
    }
    return code;
}

int sql_unix_ns(sql_call *call) {
    char text[FIRN_TIME_SIZE];
    int64_t ns;
    int code = sql_instant(call);
    if (code == FIRN_OK && (__builtin_mul_overflow(call->time.sec, INT64_C(1000000000), &ns) ||
                            __builtin_add_overflow(ns, call->time.ns, &ns))) {
        return set_error(&call->error, FIRN_ERANGE,
                         "%s does not fit an INTEGER of nanoseconds (1677 to 2262): use firn_time",
                         firn_time_format(text, &call->time, call->digits));
    }
    return code == FIRN_OK ? put_integer(call, ns) : code;
}

/* ---- packing --------------------------------------------------------------------------------- */

/* Reads argument i: fields, perhaps with a prefix. */
static int read_fields(sql_call *call, int i, firn_fields *fields, char prefix[FIRN_PREFIX_SIZE]) {
    const sql_value *text = &call->arguments[i];
    prefix[0] = '\0';
    return sql_fields(fields, prefix, call->scheme, call->form, text->text, text->length,
                      &call->error);
}

/* An ID, or a TypeID with its prefix. */
static int put_typed(sql_call *call, const firn_id *id, const char *prefix) {
    put_id(call, id, call->scheme->form);
    if (prefix[0] != '\0') {
        call->type = SQL_TEXT;
        call->length = strlen(firn_prefix_format(call->text, prefix, id));
    }
    return FIRN_OK;
}

int sql_pack(sql_call *call) {
    char prefix[FIRN_PREFIX_SIZE];
    firn_fields fields;
    firn_id id;
    int code = pure_keyed_check(call->scheme, "pack", &call->error);
    code = code == FIRN_OK ? read_fields(call, 1, &fields, prefix) : code;
    code = code == FIRN_OK ? pure_pack(&id, call->scheme, &fields, &call->error) : code;
    return code == FIRN_OK ? put_typed(call, &id, prefix) : code;
}

static int bound(sql_call *call, bool greatest) {
    char prefix[FIRN_PREFIX_SIZE];
    firn_time next = call->time; /* one nanosecond later: the next tick at most */
    firn_fields fields;
    firn_id ids[2];
    int code = read_fields(call, 2, &fields, prefix);
    if (code != FIRN_OK) {
        return code;
    }
    next.sec += next.ns == 999999999 && next.sec < INT64_MAX; /* at the end of time: refused */
    next.ns = next.ns == 999999999 ? 0 : next.ns + 1;
    code = pure_range(&ids[0], &ids[1], call->scheme, call->form, &fields, &call->time, &next,
                      &call->error);
    if (code == FIRN_OK) {
        put_typed(call, &ids[greatest], prefix);
        call->sorted = true; /* for comparisons */
    }
    return code;
}

int sql_least(sql_call *call) {
    return bound(call, false);
}

int sql_greatest(sql_call *call) {
    return bound(call, true);
}

/* ---- the same ID otherwise ------------------------------------------------------------------- */

int sql_convert(sql_call *call) {
    firn_id id;
    int code = sql_read(call);
    if (code != FIRN_OK) {
        return code;
    }
    pure_target *target = &call->target;
    if (target->form == SQL_OWN_FORM) {
        target->form = call->readings[0].scheme->form;
    }
    code = pure_convert(&id, target, call->readings, call->counts, sql_subject(call), cure,
                        &call->error);
    if (code != FIRN_OK) {
        return code;
    }
    const int form = pure_target_form(target);
    put_id(call, &id, form);
    if (form == FIRN_FORM_TYPEID && call->readings[0].form == form) {
        char prefix[FIRN_PREFIX_SIZE];
        firn_prefix_read(prefix, call->subject, strlen(call->subject));
        firn_prefix_format(call->text, prefix, &id);
        call->type = SQL_TEXT;
    }
    call->length = call->type == SQL_TEXT ? strlen(call->text) : 0;
    return FIRN_OK;
}

int sql_shard(sql_call *call) {
    const int64_t shards = call->arguments[1].integer;
    if (shards < 1 || shards > UINT32_MAX) {
        return set_error(&call->error, FIRN_ERANGE,
                         "%" PRId64 " shards are out of range: give 1 to %" PRIu32, shards,
                         UINT32_MAX);
    }
    if (call->arguments[0].type == SQL_INTEGER && call->scheme == NULL) { /* any number is valid */
        const firn_id id = {(uint64_t)call->arguments[0].integer, 0, 0, 64};
        return put_integer(call, shard_by_hash(&id, (uint32_t)shards));
    }
    int code = sql_read(call);
    code = code == FIRN_OK ? certain(call) : code;
    return code == FIRN_OK
               ? put_integer(call, shard_by_hash(&call->readings[0].id, (uint32_t)shards))
               : code;
}

int sql_version(sql_call *call) {
    call->type = SQL_TEXT;
    call->length = (size_t)snprintf(call->text, sizeof call->text, "%s", firn_version());
    return FIRN_OK;
}

/* ---- UUIDs ----------------------------------------------------------------------------------- */

static int exchange(sql_call *call, const char *from, const char *to) {
    firn_id id;
    call->scheme = firn_scheme_find(from);
    int code = sql_read(call);
    code = code == FIRN_OK ? firn_convert(&id, firn_scheme_find(to), &call->readings[0].id,
                                          call->scheme, &call->error)
                           : code;
    return code == FIRN_OK ? put_id(call, &id, FIRN_FORM_UUID) : code;
}

int sql_to_uuid6(sql_call *call) {
    return exchange(call, "uuid1", "uuid6");
}

int sql_to_uuid1(sql_call *call) {
    return exchange(call, "uuid6", "uuid1");
}

/* MySQL's order of the bytes, which sorts version 1 by time. */
static const uint8_t swapped[16] = {6, 7, 4, 5, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15};

int sql_to_bin(sql_call *call) {
    const sql_value *value = &call->arguments[0];
    const size_t length = value->length;
    int form = length == 32 ? FIRN_FORM_HEX : length == 38 ? FIRN_FORM_BRACED : FIRN_FORM_UUID;
    uint8_t bytes[20];
    firn_error why;
    firn_id id;
    int code = firn_parse(&id, form, 128, value->text, length, &why);
    if (code != FIRN_OK) {
        return prefix_error(&call->error, code, &why,
                            "the UUID '%.*s': ", (int)(length < 50 ? length : 50), value->text);
    }
    firn_id_bytes(bytes, &id);
    for (int i = 0; i < 16; i++) {
        call->text[i] = (char)bytes[call->arguments[1].integer != 0 ? swapped[i] : i];
    }
    call->type = SQL_BYTES;
    call->length = 16;
    return FIRN_OK;
}

int sql_from_bin(sql_call *call) {
    const sql_value *value = &call->arguments[0];
    uint8_t bytes[16];
    firn_id id;
    if (value->length != 16) {
        return set_error(&call->error, FIRN_ETEXT, "%zu bytes are not a UUID: give 16",
                         value->length);
    }
    for (int i = 0; i < 16; i++) {
        bytes[call->arguments[1].integer != 0 ? swapped[i] : i] = (uint8_t)value->text[i];
    }
    firn_id_from_bytes(&id, bytes, 128, NULL); /* any bits */
    return put_id(call, &id, FIRN_FORM_UUID);
}

/* Exact to 100 ns. */
int sql_form_v1(sql_call *call) {
    const firn_scheme *scheme = firn_scheme_find("uuid1");
    const sql_value *address = &call->arguments[2];
    const int position = scheme_index(scheme, FIRN_ROLE_TIME),
              seq = firn_scheme_field(scheme, "clock_seq");
    const int64_t clock_seq = call->arguments[1].integer,
                  most = (int64_t)firn_scheme_max(scheme, (uint32_t)seq).low;
    firn_fields fields = {0};
    firn_error *error = &call->error;
    firn_id id;
    char mac[SQL_TEXT_SIZE];
    if (clock_seq < 0 || clock_seq > most) {
        return set_error(error, FIRN_ERANGE, "clock_seq %" PRId64 " is out of range: 0 to %" PRId64,
                         clock_seq, most);
    }
    int code = sql_copy(mac, "the address", address->text, address->length, error);
    code = code == FIRN_OK ? firn_fields_set(&fields, scheme, "node", mac, error) : code;
    code = code == FIRN_OK
               ? firn_scheme_tick(scheme, &call->time, &fields.value[position].low, error)
               : code;
    fields.value[seq].low = (uint64_t)clock_seq;
    fields.given |= UINT32_C(1) << position | UINT32_C(1) << seq;
    code = code == FIRN_OK ? firn_pack(&id, scheme, &fields, error) : code;
    return code == FIRN_OK ? put_id(call, &id, FIRN_FORM_UUID) : code;
}

int sql_time_v1(sql_call *call) {
    call->scheme = firn_scheme_find("uuid1");
    return sql_instant(call);
}

static int digest(sql_call *call, const char *name) {
    const sql_value *bytes = &call->arguments[1];
    char space[SQL_TEXT_SIZE];
    firn_id id;
    int code = sql_copy(space, "the namespace", call->arguments[0].text, call->arguments[0].length,
                        &call->error);
    code = code == FIRN_OK ? firn_digest(&id, firn_scheme_find(name), space, bytes->text,
                                         bytes->length, &call->error)
                           : code;
    return code == FIRN_OK ? put_id(call, &id, FIRN_FORM_UUID) : code;
}

int sql_digest3(sql_call *call) {
    return digest(call, "uuid3");
}

int sql_digest5(sql_call *call) {
    return digest(call, "uuid5");
}

int sql_sha256(sql_call *call) {
    sha256_text(call->text, call->arguments[0].text, call->arguments[0].length);
    call->type = SQL_TEXT;
    call->length = SHA256_TEXT_SIZE - 1;
    return FIRN_OK;
}
