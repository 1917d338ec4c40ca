/* SPDX-License-Identifier: MIT */
#include "call.h"

#include "errors.h"
#include "shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char cure[] = "name its scheme";

/* ---- reading an ID --------------------------------------------------------------------------- */

const char *sql_subject(sql_call *it) {
    const firn_id *id = &it->readings[0].id;
    if (it->subject[0] != '\0') {
        return it->subject;
    }
    if (it->arguments[0].type == SQL_INTEGER) {
        snprintf(it->subject, sizeof it->subject, "%" PRId64, it->arguments[0].integer);
        return it->subject;
    }
    return firn_format(it->subject, id, id->bits == 128 ? FIRN_FORM_UUID : FIRN_FORM_HEX);
}

/* The error of a call, with the argument that it is about. */
static int refuse(sql_call *it, int code) {
    return prefix_error(&it->error, code, &it->error, "'%.50s': ", sql_subject(it));
}

/* `form` as of firn_guess_all. */
static int read_text(sql_call *it, const char *text, size_t length, int form) {
    id_reader reader = {.named = it->scheme != NULL, .form = form, .cure = cure};
    int code =
        text == it->subject ? FIRN_OK : sql_copy(it->subject, "the ID", text, length, &it->error);
    if (code == FIRN_OK && reader.named) {
        reader.scheme = *it->scheme;
    }
    if (code == FIRN_OK) {
        code = reader_look(&reader, it->readings, &it->counts, it->subject, length, &it->error);
        if (code != FIRN_OK || !readings_sure(it->readings, it->counts)) { /* base64, ShortUUID */
            code =
                reader_convert(&reader, it->readings, &it->counts, it->subject, length, &it->error);
        }
    }
    if (code == FIRN_OK && it->readings[0].scheme == &reader.scheme) {
        it->readings[0].scheme = it->scheme; /* `reader` ends with this call */
    }
    return code;
}

/* The bits of an ID of it->scheme, which are `size` bytes. */
static int read_named(sql_call *it, const uint8_t *bytes, int form) {
    firn_fields fields;
    int code = firn_id_from_bytes(&it->readings[0].id, bytes, it->scheme->bits, &it->error);
    const firn_scheme *seen =
        code == FIRN_OK ? firn_scheme_seen(it->scheme, &it->readings[0].id) : it->scheme;
    code = code == FIRN_OK ? firn_unpack(&fields, seen, &it->readings[0].id, &it->error) : code;
    it->readings[0].scheme = seen;
    it->readings[0].form = form;
    it->readings[0].sure = FIRN_CERTAIN;
    it->counts = (id_counts){1, 1};
    return code;
}

static int read_integer(sql_call *it, int64_t value) {
    const uint64_t bits = (uint64_t)value;
    uint8_t bytes[8];
    if (it->scheme == NULL) {
        const char *text = sql_subject(it);
        return read_text(it, text, strlen(text), FIRN_FORM_DEC);
    }
    if (it->scheme->bits > 64) {
        return set_error(&it->error, FIRN_EMISMATCH,
                         "an integer cannot be an ID of %s, which has %u bits: name another scheme",
                         it->scheme->name, it->scheme->bits);
    }
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    /* for every form of the scheme */
    int code = read_named(it, bytes + 8 - (it->scheme->bits + 7) / 8, FIRN_FORM_DEC);
    return code == FIRN_OK ? code : refuse(it, code);
}

static int read_bytes(sql_call *it, const sql_value *value) {
    const uint32_t size = (uint32_t)(value->length < 21 ? value->length : 21);
    const uint8_t *bytes = (const uint8_t *)value->text;
    if (it->scheme != NULL && size == (it->scheme->bits + 7) / 8) {
        int code = read_named(it, bytes, it->scheme->form);
        return code == FIRN_OK ? code : refuse(it, code);
    }
    if (it->scheme != NULL) {
        return set_error(&it->error, FIRN_ERANGE, "%zu bytes are not an ID of %s: give %u",
                         value->length, it->scheme->name, (it->scheme->bits + 7) / 8);
    }
    if (size != 8 && size != 12 && size != 16 && size != 20) {
        return set_error(&it->error, FIRN_ERANGE,
                         "%zu bytes are not an ID of a known scheme: give 8, 12, 16 or 20",
                         value->length);
    }
    firn_id_from_bytes(&it->readings[0].id, bytes, size * 8, NULL); /* any bits */
    const char *text = sql_subject(it);
    return read_text(it, text, strlen(text), size == 16 ? FIRN_FORM_UUID : FIRN_FORM_HEX);
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
static bool holds_bytes(sql_call *it, const sql_value *value) {
    const size_t size = value->length;
    if (it->scheme == NULL) {
        return (size == 12 || size == 16 || size == 20) && !is_plain(value);
    }
    return it->scheme->bits > 64 && size == (it->scheme->bits + 7) / 8 &&
           read_named(it, (const uint8_t *)value->text, it->scheme->form) == FIRN_OK;
}

int sql_read(sql_call *it) {
    const sql_value *value = &it->arguments[0];
    it->subject[0] = '\0';
    if (it->scheme != NULL && it->scheme->keyed) {
        return pure_keyed_check(it->scheme, "show --scheme", &it->error);
    }
    if (value->type == SQL_INTEGER) {
        return read_integer(it, value->integer);
    }
    return value->type == SQL_BYTES || (value->type == SQL_STRING && holds_bytes(it, value))
               ? read_bytes(it, value)
               : read_text(it, value->text, value->length, -1);
}

static int certain(sql_call *it) {
    int code = readings_certain(it->readings, it->counts, cure, &it->error);
    return code == FIRN_OK ? code : refuse(it, code);
}

/* ---- answers --------------------------------------------------------------------------------- */

static int put_id(sql_call *it, const firn_id *id, int form) {
    it->type = SQL_ID;
    it->id = *id;
    it->form = form;
    it->sorted = false;
    return FIRN_OK;
}

static int put_integer(sql_call *it, int64_t value) {
    it->type = SQL_INTEGER;
    it->integer = value;
    return FIRN_OK;
}

/* ---- times ----------------------------------------------------------------------------------- */

int sql_instant(sql_call *it) {
    firn_fields fields;
    int code = sql_read(it);
    if (code != FIRN_OK) {
        return code;
    }
    code = readings_answer(it->readings, it->counts, cure, &it->error);
    if (code != FIRN_OK) {
        return refuse(it, code);
    }
    const firn_scheme *scheme = it->readings[0].scheme;
    int index = scheme_index(scheme, FIRN_ROLE_TIME);
    if (index < 0) {
        return set_error(&it->error, FIRN_EUSAGE,
                         "an ID of %s contains no time: store the time in a column", scheme->name);
    }
    code = firn_unpack(&fields, scheme, &it->readings[0].id, &it->error);
    if (code == FIRN_OK) {
        firn_scheme_time(scheme, fields.value[index].low, &it->time);
        it->type = SQL_TIME;
        it->digits = firn_scheme_digits(scheme);
    }
    return code;
}

int sql_unix_ns(sql_call *it) {
    char text[FIRN_TIME_SIZE];
    int64_t ns;
    int code = sql_instant(it);
    if (code == FIRN_OK && (__builtin_mul_overflow(it->time.sec, INT64_C(1000000000), &ns) ||
                            __builtin_add_overflow(ns, it->time.ns, &ns))) {
        return set_error(&it->error, FIRN_ERANGE,
                         "%s does not fit an INTEGER of nanoseconds (1677 to 2262): use firn_time",
                         firn_time_format(text, &it->time, it->digits));
    }
    return code == FIRN_OK ? put_integer(it, ns) : code;
}

/* ---- packing --------------------------------------------------------------------------------- */

/* Reads argument i: fields, perhaps with a prefix. */
static int read_fields(sql_call *it, int i, firn_fields *fields, char prefix[FIRN_PREFIX_SIZE]) {
    const sql_value *text = &it->arguments[i];
    prefix[0] = '\0';
    return sql_fields(fields, prefix, it->scheme, it->form, text->text, text->length, &it->error);
}

/* An ID, or a TypeID with its prefix. */
static int put_typed(sql_call *it, const firn_id *id, const char *prefix) {
    put_id(it, id, it->scheme->form);
    if (prefix[0] != '\0') {
        it->type = SQL_TEXT;
        it->length = strlen(firn_prefix_format(it->text, prefix, id));
    }
    return FIRN_OK;
}

int sql_pack(sql_call *it) {
    char prefix[FIRN_PREFIX_SIZE];
    firn_fields fields;
    firn_id id;
    int code = pure_keyed_check(it->scheme, "pack", &it->error);
    code = code == FIRN_OK ? read_fields(it, 1, &fields, prefix) : code;
    code = code == FIRN_OK ? pure_pack(&id, it->scheme, &fields, &it->error) : code;
    return code == FIRN_OK ? put_typed(it, &id, prefix) : code;
}

static int bound(sql_call *it, bool greatest) {
    char prefix[FIRN_PREFIX_SIZE];
    firn_time next = it->time; /* one nanosecond later: the next tick at most */
    firn_fields fields;
    firn_id ids[2];
    int code = read_fields(it, 2, &fields, prefix);
    if (code != FIRN_OK) {
        return code;
    }
    next.sec += next.ns == 999999999 && next.sec < INT64_MAX; /* at the end of time: refused */
    next.ns = next.ns == 999999999 ? 0 : next.ns + 1;
    code =
        pure_range(&ids[0], &ids[1], it->scheme, it->form, &fields, &it->time, &next, &it->error);
    if (code == FIRN_OK) {
        put_typed(it, &ids[greatest], prefix);
        it->sorted = true; /* for comparisons */
    }
    return code;
}

int sql_least(sql_call *it) {
    return bound(it, false);
}

int sql_greatest(sql_call *it) {
    return bound(it, true);
}

/* ---- the same ID otherwise ------------------------------------------------------------------- */

int sql_convert(sql_call *it) {
    firn_id id;
    int code = sql_read(it);
    if (code != FIRN_OK) {
        return code;
    }
    pure_target *to = &it->target;
    if (to->form == SQL_OWN_FORM) {
        to->form = it->readings[0].scheme->form;
    }
    code = pure_convert(&id, to, it->readings, it->counts, sql_subject(it), cure, &it->error);
    if (code != FIRN_OK) {
        return code;
    }
    const int form = pure_target_form(to);
    put_id(it, &id, form);
    if (form == FIRN_FORM_TYPEID && it->readings[0].form == form) {
        char prefix[FIRN_PREFIX_SIZE];
        firn_prefix_read(prefix, it->subject, strlen(it->subject));
        firn_prefix_format(it->text, prefix, &id);
        it->type = SQL_TEXT;
    }
    it->length = it->type == SQL_TEXT ? strlen(it->text) : 0;
    return FIRN_OK;
}

int sql_shard(sql_call *it) {
    const int64_t shards = it->arguments[1].integer;
    if (shards < 1 || shards > UINT32_MAX) {
        return set_error(&it->error, FIRN_ERANGE,
                         "%" PRId64 " shards are out of range: give 1 to %" PRIu32, shards,
                         UINT32_MAX);
    }
    if (it->arguments[0].type == SQL_INTEGER && it->scheme == NULL) { /* any number is valid */
        const firn_id id = {(uint64_t)it->arguments[0].integer, 0, 0, 64};
        return put_integer(it, shard_by_hash(&id, (uint32_t)shards));
    }
    int code = sql_read(it);
    code = code == FIRN_OK ? certain(it) : code;
    return code == FIRN_OK ? put_integer(it, shard_by_hash(&it->readings[0].id, (uint32_t)shards))
                           : code;
}

int sql_version(sql_call *it) {
    it->type = SQL_TEXT;
    it->length = (size_t)snprintf(it->text, sizeof it->text, "%s", firn_version());
    return FIRN_OK;
}

/* ---- UUIDs ----------------------------------------------------------------------------------- */

static int exchange(sql_call *it, const char *from, const char *to) {
    firn_id id;
    it->scheme = firn_scheme_find(from);
    int code = sql_read(it);
    code = code == FIRN_OK ? firn_convert(&id, firn_scheme_find(to), &it->readings[0].id,
                                          it->scheme, &it->error)
                           : code;
    return code == FIRN_OK ? put_id(it, &id, FIRN_FORM_UUID) : code;
}

int sql_to_uuid6(sql_call *it) {
    return exchange(it, "uuid1", "uuid6");
}

int sql_to_uuid1(sql_call *it) {
    return exchange(it, "uuid6", "uuid1");
}

/* MySQL's order of the bytes, which sorts version 1 by time. */
static const uint8_t swapped[16] = {6, 7, 4, 5, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15};

int sql_to_bin(sql_call *it) {
    const sql_value *value = &it->arguments[0];
    const size_t length = value->length;
    int form = length == 32 ? FIRN_FORM_HEX : length == 38 ? FIRN_FORM_BRACED : FIRN_FORM_UUID;
    uint8_t bytes[20];
    firn_error why;
    firn_id id;
    int code = firn_parse(&id, form, 128, value->text, length, &why);
    if (code != FIRN_OK) {
        return prefix_error(&it->error, code, &why,
                            "the UUID '%.*s': ", (int)(length < 50 ? length : 50), value->text);
    }
    firn_id_bytes(bytes, &id);
    for (int i = 0; i < 16; i++) {
        it->text[i] = (char)bytes[it->arguments[1].integer != 0 ? swapped[i] : i];
    }
    it->type = SQL_BYTES;
    it->length = 16;
    return FIRN_OK;
}

int sql_from_bin(sql_call *it) {
    const sql_value *value = &it->arguments[0];
    uint8_t bytes[16];
    firn_id id;
    if (value->length != 16) {
        return set_error(&it->error, FIRN_ETEXT, "%zu bytes are not a UUID: give 16",
                         value->length);
    }
    for (int i = 0; i < 16; i++) {
        bytes[it->arguments[1].integer != 0 ? swapped[i] : i] = (uint8_t)value->text[i];
    }
    firn_id_from_bytes(&id, bytes, 128, NULL); /* any bits */
    return put_id(it, &id, FIRN_FORM_UUID);
}

/* Exact to 100 ns. */
int sql_form_v1(sql_call *it) {
    const firn_scheme *scheme = firn_scheme_find("uuid1");
    const sql_value *address = &it->arguments[2];
    const int at = scheme_index(scheme, FIRN_ROLE_TIME),
              seq = firn_scheme_field(scheme, "clock_seq");
    const int64_t clock_seq = it->arguments[1].integer,
                  most = (int64_t)firn_scheme_max(scheme, (uint32_t)seq).low;
    firn_fields fields = {0};
    firn_error *error = &it->error;
    firn_id id;
    char mac[SQL_TEXT_SIZE];
    if (clock_seq < 0 || clock_seq > most) {
        return set_error(error, FIRN_ERANGE, "clock_seq %" PRId64 " is out of range: 0 to %" PRId64,
                         clock_seq, most);
    }
    int code = sql_copy(mac, "the address", address->text, address->length, error);
    code = code == FIRN_OK ? firn_fields_set(&fields, scheme, "node", mac, error) : code;
    code =
        code == FIRN_OK ? firn_scheme_tick(scheme, &it->time, &fields.value[at].low, error) : code;
    fields.value[seq].low = (uint64_t)clock_seq;
    fields.given |= UINT32_C(1) << at | UINT32_C(1) << seq;
    code = code == FIRN_OK ? firn_pack(&id, scheme, &fields, error) : code;
    return code == FIRN_OK ? put_id(it, &id, FIRN_FORM_UUID) : code;
}

int sql_time_v1(sql_call *it) {
    it->scheme = firn_scheme_find("uuid1");
    return sql_instant(it);
}

static int digest(sql_call *it, const char *name) {
    const sql_value *bytes = &it->arguments[1];
    char space[SQL_TEXT_SIZE];
    firn_id id;
    int code = sql_copy(space, "the namespace", it->arguments[0].text, it->arguments[0].length,
                        &it->error);
    code = code == FIRN_OK ? firn_digest(&id, firn_scheme_find(name), space, bytes->text,
                                         bytes->length, &it->error)
                           : code;
    return code == FIRN_OK ? put_id(it, &id, FIRN_FORM_UUID) : code;
}

int sql_digest3(sql_call *it) {
    return digest(it, "uuid3");
}

int sql_digest5(sql_call *it) {
    return digest(it, "uuid5");
}
