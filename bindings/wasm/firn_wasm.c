/* SPDX-License-Identifier: MIT */
/* The functions that core.js calls. Arguments are in one buffer, each as a length of 32 bits, its
 * bytes, and a zero; the length 2^32-1 is null. A call returns how many bytes it wrote at out(), or
 * a negative error code, with a firn_error and the name of its cure there. Texts in results end
 * with a zero each. */
#include "../node/output.h"
#include "../node/refusals.h"
#include "object.h"
#include "platform/jansson.h"

#include <stdlib.h>
#include <string.h>

/* compile.sh makes three modules: one with everything, for the console of the server and the decoder page; one without the
 * objects that only those show, for the package (FIRN_TERSE); and one that only issues IDs (FIRN_ISSUE). */
#define EXPORT(name) __attribute__((export_name(#name)))
#ifdef FIRN_ISSUE
#define READING(name)
#else
#define READING(name) EXPORT(name)
#endif
#ifdef FIRN_TERSE
#define SHOWING(name)
#else
#define SHOWING(name) EXPORT(name)
#endif

/* ---- arguments and results ------------------------------------------------------------------- */

static uint8_t *in;
static uint32_t in_size, in_at;
static char *out;
static uint32_t out_size;
static firn_error error;

/* Where the arguments of the next call go, with room for `size` bytes; NULL: no memory. */
EXPORT(room) uint8_t *room(uint32_t size) {
    in_at = 0;
    if (size > in_size) {
        free(in);
        in = malloc(size);
        in_size = in != NULL ? size : 0;
    }
    return in;
}

static bool make_room(size_t size) {
    if (size > out_size) {
        free(out);
        out = malloc(size);
        out_size = out != NULL ? (uint32_t)size : 0;
    }
    return out != NULL;
}

EXPORT(out) const char *out_at(void) {
    return make_room(4096) ? out : NULL;
}

static const char *text_of(size_t *length) {
    uint32_t size;
    memcpy(&size, in + in_at, 4);
    in_at += 4;
    if (length != NULL) {
        *length = size;
    }
    if (size == UINT32_MAX) {
        return NULL;
    }
    const char *text = (const char *)in + in_at;
    in_at += size + 1;
    return text;
}

static int fail(int code) {
    if (!make_room(4096)) {
        return FIRN_EMEMORY;
    }
    memcpy(out, &error, sizeof error);
    strcpy(out + sizeof error, firn_curename(error.cure));
    return code;
}

/* `cure` may be NULL. */
static int refuse(int code, const char *what, const char *cure) {
    if (cure != NULL) {
        firn_error_set(&error, code, FIRN_CURE_OTHER, "%s: %s", what, cure);
    } else {
        firn_error_set(&error, code, FIRN_CURE_NONE, "%s", what);
    }
    return fail(code);
}

static int no_memory(void) {
    return refuse(FIRN_EMEMORY, "out of memory", NULL);
}

static int put_bytes(const firn_id *id) {
    return make_room(4096) ? (int)firn_id_bytes((uint8_t *)out, id) : no_memory();
}

static size_t put_text(size_t position, const char *text) {
    size_t size = strlen(text) + 1;
    if (position + size <= out_size) {
        memcpy(out + position, text, size);
    }
    return position + size;
}

/* The next four arguments: name, epoch, bits, digits. */
static int scheme_of(firn_scheme *scheme) {
    const char *name = text_of(NULL), *epoch = text_of(NULL), *bits = text_of(NULL),
               *digits = text_of(NULL);
    const firn_scheme *listed = firn_scheme_find(name);
    if (listed != NULL && epoch == NULL && bits == NULL && digits == NULL) {
        *scheme = *listed;
        return FIRN_OK;
    }
    return firn_scheme_make(scheme, name, epoch, bits, digits, &error);
}

/* The next argument, the bytes of an ID. */
static int id_of(firn_id *id, const firn_scheme *scheme) {
    size_t size;
    const char *bytes = text_of(&size);
    if (size != (scheme->bits + 7) / 8) {
        return firn_error_set(&error, FIRN_ERANGE, 0, "%zu bytes, but an ID of %s has %u", size,
                              scheme->name, (unsigned)(scheme->bits + 7) / 8);
    }
    return firn_id_from_bytes(id, (const uint8_t *)bytes, scheme->bits, &error);
}

/* The next `count` arguments, names and values in turn. */
static int fields_of(firn_fields *fields, const firn_scheme *scheme, uint32_t count) {
    int code = FIRN_OK;
    memset(fields, 0, sizeof *fields);
    for (uint32_t i = 0; i < count && code == FIRN_OK; i += 2) {
        size_t lengths[2];
        const char *name = text_of(&lengths[0]), *value = text_of(&lengths[1]);
        if (lengths[0] >= 199 || lengths[1] >= 199) {
            return refuse(FIRN_ERANGE, "a name or value has 199 bytes or more", "shorten it");
        }
        code = firn_fields_set(fields, scheme, name, value, &error);
    }
    return code;
}

static int time_of(firn_time *time) {
    size_t length;
    const char *text = text_of(&length);
    return firn_time_parse(time, text, length, &error);
}

/* ---- pure functions -------------------------------------------------------------------------- */

/* scheme, fields -> bytes */
READING(pack) int pack(uint32_t count) {
    firn_scheme scheme;
    firn_fields fields;
    firn_id id;
    int code = scheme_of(&scheme);
    if (code == FIRN_OK) {
        code = fields_of(&fields, &scheme, count);
    }
    if (code == FIRN_OK) {
        code = firn_pack(&id, &scheme, &fields, &error);
    }
    return code == FIRN_OK ? put_bytes(&id) : fail(code);
}

/* scheme, bytes -> time, ns and ms since 1970 (or three empty texts), then names and values */
READING(unpack) int unpack(void) {
    firn_scheme scheme;
    const firn_scheme *seen = &scheme;
    firn_fields fields;
    firn_id id;
    char text[FIRN_VALUE_SIZE] = "";
    int code = scheme_of(&scheme);
    if (code == FIRN_OK) {
        code = id_of(&id, &scheme);
    }
    if (code == FIRN_OK) {
        seen = firn_scheme_seen(&scheme, &id);
        code = firn_unpack(&fields, seen, &id, &error);
    }
    if (code != FIRN_OK || !make_room(8192)) {
        return fail(code);
    }
    int field = scheme_index(seen, FIRN_ROLE_TIME);
    size_t position = 0;
    if (field >= 0) {
        firn_time time;
        firn_scheme_time(seen, fields.value[field].low, &time);
        position = put_text(position, firn_time_format(text, &time, firn_scheme_digits(seen)));
        position = put_text(position, firn_time_unix_ns(text, &time));
    } else {
        position = put_text(put_text(position, ""), "");
    }
    for (uint32_t i = 0; i < seen->slice_count; i++) {
        if (seen->slices[i].name[0] != '\0' && firn_scheme_first(seen, i) == i) {
            position = put_text(position, seen->slices[i].name);
            position = put_text(position, firn_fields_get(text, &fields, seen, i));
        }
    }
    return (int)position;
}

/* scheme, from, to, fields -> bytes of the least, bytes of the greatest */
READING(range) int range(uint32_t count) {
    firn_scheme scheme;
    firn_fields pinned;
    firn_time from, to;
    firn_id least, greatest;
    int code = scheme_of(&scheme);
    if (code == FIRN_OK) {
        code = time_of(&from);
    }
    if (code == FIRN_OK) {
        code = time_of(&to);
    }
    if (code == FIRN_OK) {
        code = fields_of(&pinned, &scheme, count);
    }
    if (code == FIRN_OK) {
        code = check_bounds(&scheme, &error);
    }
    if (code == FIRN_OK) {
        code = firn_range(&least, &greatest, &scheme, &pinned, &from, &to, &error);
    }
    if (code != FIRN_OK) {
        return fail(code);
    }
    int size = put_bytes(&least);
    return size > 0 ? size + (int)firn_id_bytes((uint8_t *)out + size, &greatest) : size;
}

/* scheme, form or null, text -> bytes */
READING(parse) int parse(void) {
    firn_scheme scheme;
    firn_fields fields;
    firn_id id;
    int code = scheme_of(&scheme);
    if (code != FIRN_OK) {
        return fail(code);
    }
    size_t length;
    const char *name = text_of(NULL), *text = text_of(&length);
    const int form = form_of(name, &scheme, &error);
    if (form < 0) {
        return fail(FIRN_EUSAGE);
    }
    code = firn_parse(&id, form, scheme.bits, text, length, &error);
    if (code == FIRN_OK) {
        code = firn_unpack(&fields, firn_scheme_seen(&scheme, &id), &id, &error);
    }
    return code == FIRN_OK ? put_bytes(&id) : fail(code);
}

/* scheme, form or null, bytes -> text */
READING(format) int format(void) {
    firn_scheme scheme;
    firn_id id;
    int code = scheme_of(&scheme);
    if (code != FIRN_OK) {
        return fail(code);
    }
    const char *name = text_of(NULL);
    const int form = form_of(name, &scheme, &error);
    if (form < 0) {
        return fail(FIRN_EUSAGE);
    }
    code = id_of(&id, &scheme);
    if (code != FIRN_OK || !make_room(4096)) {
        return fail(code);
    }
    return (int)strlen(firn_format(out, &id, form));
}

/* scheme, name of the other scheme, bytes -> bytes */
READING(convert) int convert(void) {
    firn_scheme from;
    firn_id id, made;
    int code = scheme_of(&from);
    const firn_scheme *to = firn_scheme_find(text_of(NULL));
    if (code == FIRN_OK && to == NULL) {
        return refuse(FIRN_EUSAGE, "there is no such scheme", "see schemes()");
    }
    if (code == FIRN_OK) {
        code = id_of(&id, &from);
    }
    if (code == FIRN_OK) {
        code = firn_convert(&made, to, &id, &from, &error);
    }
    return code == FIRN_OK ? put_bytes(&made) : fail(code);
}

/* scheme, namespace, name -> bytes */
READING(digest) int digest(void) {
    firn_scheme scheme;
    firn_id id;
    int code = scheme_of(&scheme);
    const char *space = text_of(NULL);
    size_t size;
    const char *name = text_of(&size);
    if (code == FIRN_OK) {
        code = firn_digest(&id, &scheme, space, name, size, &error);
    }
    return code == FIRN_OK ? put_bytes(&id) : fail(code);
}

/* text -> scheme, form, hex and how sure, of each reading */
READING(guess) int guess(void) {
    firn_reading readings[FIRN_READINGS_MAX];
    char hex[FIRN_TEXT_SIZE];
    size_t length, position = 0;
    const char *text = text_of(&length);
    size_t count = firn_guess(readings, text, length, -1);
    if (!make_room(16384)) {
        return no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[20];
        size_t size = firn_id_bytes(bytes, &readings[i].id);
        for (size_t k = 0; k < size; k++) {
            snprintf(hex + 2 * k, 3, "%02x", bytes[k]);
        }
        position = put_text(position, readings[i].scheme->name);
        position = put_text(position, firn_form_name(readings[i].form));
        position = put_text(position, hex);
        position = put_text(position, firn_sure_name(readings[i].sure));
    }
    return (int)position;
}

/* text -> for each match: format, sure, 1 if it leads, reason, time or an empty text, count of
 * fields, names and values */
READING(recognize) int recognize(void) {
    firn_reading readings[FIRN_READINGS_MAX];
    firn_match matches[FIRN_MATCHES_MAX];
    char text[FIRN_TIME_SIZE];
    size_t length, position = 0;
    const char *given = text_of(&length);
    bool plausible = firn_guess(readings, given, length, -1) > 0;
    size_t count = firn_recognize(matches, plausible ? readings : NULL, given, length);
    if (!make_room(sizeof matches)) {
        return no_memory();
    }
    for (const firn_match *match = matches; match < matches + count; match++) {
        position = put_text(put_text(position, match->format->name), firn_sure_name(match->sure));
        position = put_text(put_text(position, match->leads ? "1" : ""), match->reason);
        position = put_text(
            position, match->timed ? firn_time_format(text, &match->time, match->digits) : "");
        snprintf(text, sizeof text, "%u", (unsigned)match->count);
        position = put_text(position, text);
        for (uint32_t i = 0; i < match->count; i++) {
            position = put_text(put_text(position, match->fields[i].name), match->fields[i].value);
        }
    }
    return (int)position;
}

/* scheme -> name, layout, bits, form, sorts */
EXPORT(describe) int describe(void) {
    static const char *const sorts[] = {"no", "per node", "by tick", "yes"};
    char text[FIRN_LAYOUT_SIZE];
    firn_scheme scheme;
    int code = scheme_of(&scheme);
    if (code != FIRN_OK || !make_room(4096)) {
        return fail(code);
    }
    size_t position = put_text(0, scheme.name);
    position = put_text(position, firn_scheme_layout(text, &scheme));
    snprintf(text, sizeof text, "%u", (unsigned)scheme.bits);
    position = put_text(position, text);
    position = put_text(position, firn_form_name(scheme.form));
    return (int)put_text(position, sorts[scheme.sorts]);
}

EXPORT(renew_identity) void renew_identity(void) {
    firn_renew_identity();
}

/* "schemes", "forms", or "codes": names and numbers, and "version" */
EXPORT(names) int names(void) {
    static const struct {
        const char *name;
        int code;
    } codes[] = {
#define FIRN_X(name, value, text) {#name, value},
        FIRN_ERRORS(FIRN_X)
#undef FIRN_X
    };
    const char *what = text_of(NULL), *name;
    char number[16];
    size_t position = 0;
    if (!make_room(8192)) {
        return no_memory();
    }
    if (strcmp(what, "version") == 0) {
        return (int)put_text(0, firn_version());
    }
    for (size_t i = 0; what[0] == 'c' && i < sizeof codes / sizeof codes[0]; i++) {
        snprintf(number, sizeof number, "%d", codes[i].code);
        position = put_text(put_text(position, codes[i].name), number);
    }
    for (int i = 0; what[0] == 'f' && (name = firn_form_name(i)) != NULL; i++) {
        position = put_text(position, name);
    }
    for (size_t i = 0; what[0] == 's' && firn_scheme_at(i) != NULL; i++) {
        position = put_text(position, firn_scheme_at(i)->name);
    }
    return (int)position;
}

/* ---- the objects of the console -------------------------------------------------------------- */

static int put_json(json_t *json) {
    const char *text = json != NULL ? json_text(json) : "";
    size_t size = strlen(text);
    bool done = size > 0 && make_room(size + 1);
    if (done) {
        memcpy(out, text, size);
    }
    json_decref(json);
    return done ? (int)size : no_memory();
}

/* text, scheme or null, form or null -> what `firn show --json --all` prints */
SHOWING(show) int show(void) {
    firn_reading readings[FIRN_READINGS_MAX];
    id_counts counts;
    id_matches matches;
    size_t length;
    const char *text = text_of(&length), *name = text_of(NULL), *form = text_of(NULL);
    id_reader reader = {.named = name != NULL,
                        .form = form != NULL ? firn_form_find(form) : -1,
                        .cure = "to decode it anyway, add &scheme=NAME to the URL"};
    int code = FIRN_OK;
    if (reader.named) {
        code = firn_scheme_make(&reader.scheme, name, NULL, NULL, NULL, &error);
    }
    if (code == FIRN_OK) {
        code = reader_show(&reader, readings, &counts, &matches, text, length, &error);
    }
    return code == FIRN_OK
               ? put_json(object_of_text(text, readings, counts, &matches, true, reader.named))
               : fail(code);
}

/* scheme -> what `firn schemes --json` prints */
SHOWING(row) int row(void) {
    firn_scheme scheme;
    int code = scheme_of(&scheme);
    return code == FIRN_OK ? put_json(object_of_scheme(&scheme)) : fail(code);
}

/* ---- generators ------------------------------------------------------------------------------ */

typedef struct generator {
    firn_gen *gen;
    output as;
} generator;

EXPORT(slot) void **slot(void) {
    static void *handle; /* where the calls that open put a handle */
    return &handle;
}

/* scheme, keys, output or null -> kind of output, as one digit; *handle */
EXPORT(open) int open_generator(generator **handle) {
    generator made;
    const char *scheme = text_of(NULL), *keys = text_of(NULL), *form = text_of(NULL);
    const firn_config config = {.size = sizeof config, .scheme = scheme, .keys = keys};
    int code = firn_open_with(&made.gen, &config, &error);
    if (code != FIRN_OK) {
        return fail(code);
    }
    code = output_read(&made.as, made.gen, form, &error);
    *handle = code == FIRN_OK ? malloc(sizeof made) : NULL;
    if (*handle == NULL) {
        firn_close(made.gen, NULL);
        return code == FIRN_OK ? no_memory() : fail(code);
    }
    **handle = made;
    return make_room(4096) ? (int)put_text(0, made.as.kind == OUTPUT_BIGINT ? "bigint"
                                              : made.as.kind == OUTPUT_TEXT ? "string"
                                                                            : "buffer")
                           : no_memory();
}

EXPORT(close) void close_generator(generator *self) {
    firn_close(self->gen, NULL);
    free(self);
}

EXPORT(bits) uint32_t bits(const generator *self) {
    return self->as.bits;
}

/* The layout and the name of a generator's scheme. */
EXPORT(status) int status(const generator *self) {
    char text[FIRN_LAYOUT_SIZE];
    if (!make_room(4096)) {
        return no_memory();
    }
    size_t position = put_text(0, firn_gen_scheme(self->gen)->name);
    return (int)put_text(position, firn_scheme_layout(text, firn_gen_scheme(self->gen)));
}

static int put_ids(const generator *self, const firn_id *ids, size_t count) {
    char text[FIRN_TEXT_SIZE];
    size_t stride = self->as.kind == OUTPUT_BIGINT ? 8 : (self->as.bits + 7) / 8, position = 0;
    if (self->as.kind == OUTPUT_TEXT) {
        stride = firn_form_width(self->as.form, self->as.bits) + 1;
    }
    if (!make_room(count * stride + 32)) {
        return no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        if (self->as.kind == OUTPUT_BIGINT) {
            memcpy(out + position, &ids[i].low, 8);
            position += 8;
        } else if (self->as.kind == OUTPUT_BYTES) {
            uint8_t bytes[20];
            memcpy(out + position, bytes, firn_id_bytes(bytes, &ids[i]));
            position += stride;
        } else {
            position = put_text(position, output_text(text, &self->as, &ids[i]));
        }
    }
    return (int)position;
}

/* Issues one ID: 64 bits, a text without the zero, or bytes. */
EXPORT(next) int next(generator *self) {
    firn_id id;
    int code = firn_next(self->gen, &id, &error);
    if (code != FIRN_OK) {
        return fail(code);
    }
    if (self->as.kind == OUTPUT_TEXT && make_room(FIRN_TEXT_SIZE)) {
        return (int)strlen(output_text(out, &self->as, &id));
    }
    return put_ids(self, &id, 1);
}

/* time or null: that many IDs, all or none; `kind` as enum output_kind, or -1 for the
 * generator's */
EXPORT(many) int many(generator *self, uint32_t count, int kind) {
    const char *text = count > 0 ? text_of(NULL) : NULL;
    firn_id *ids = count > 0 ? malloc((size_t)count * sizeof *ids) : NULL;
    generator form = *self;
    firn_time instant;
    if (count == 0 || ids == NULL) {
        return count == 0 ? 0 : no_memory();
    }
    form.as.kind = kind >= 0 ? kind : form.as.kind;
    int code = text == NULL ? firn_next_n(self->gen, ids, count, &error)
                            : firn_time_parse(&instant, text, strlen(text), &error);
    if (code == FIRN_OK && text != NULL) {
        code = firn_at(self->gen, &instant, ids, count, &error);
    }
    int size = code == FIRN_OK ? put_ids(&form, ids, count) : fail(code);
    free(ids);
    return size;
}

/* ---- order numbers --------------------------------------------------------------------------- */

/* keys, 16 bytes; *handle */
READING(open_order) int open_order(firn_order **handle) {
    size_t size;
    const char *keys = text_of(NULL), *key = text_of(&size);
    if (size != 16) {
        return refuse(FIRN_EUSAGE, "the key has another length", "give 16 bytes");
    }
    int code = firn_order_open(handle, keys, (const uint8_t *)key, NULL, &error);
    explicit_bzero(in, in_size);
    return code == FIRN_OK ? 0 : fail(code);
}

READING(close_order) void close_order(firn_order *order) {
    firn_order_close(order);
}

READING(write_order) int write_order(firn_order *order, uint64_t integer) {
    int code = firn_order_write(order, out, integer, &error);
    return code == FIRN_OK ? (int)strlen(out) : fail(code);
}

/* text -> 64 bits */
READING(read_order) int read_order(firn_order *order) {
    size_t length;
    uint64_t integer;
    const char *text = text_of(&length);
    int code = firn_order_read(order, &integer, text, length, &error);
    if (code != FIRN_OK || !make_room(8)) {
        return fail(code);
    }
    memcpy(out, &integer, 8);
    return 8;
}
