/* SPDX-License-Identifier: MIT */
/* Pure functions, with numbers, bytes and text as arguments. */
#include "firn_python.h"

#include <firn/recognize.h>

#include <string.h>

static bool scheme_of(firn_scheme *scheme, const char *name, const char *epoch, const char *bits,
                      const char *digits) {
    firn_error error = {0};
    const firn_scheme *listed = firn_scheme_find(name);
    if (listed != NULL && epoch == NULL && bits == NULL && digits == NULL) {
        *scheme = *listed;
        return true;
    }
    if (firn_scheme_make(scheme, name, epoch, bits, digits, &error) != FIRN_OK) {
        fail(&error);
        return false;
    }
    return true;
}

static bool put_fields(firn_fields *fields, const firn_scheme *scheme, PyObject *pairs) {
    firn_error error = {0};
    memset(fields, 0, sizeof *fields);
    for (Py_ssize_t i = 0; i < PyList_Size(pairs); i++) {
        const char *name, *value;
        if (!PyArg_ParseTuple(PyList_GetItem(pairs, i), "ss", &name, &value)) {
            return false;
        }
        if (firn_fields_set(fields, scheme, name, value, &error) != FIRN_OK) {
            fail(&error);
            return false;
        }
    }
    return true;
}

/* True: an exception says which method of Order to use. */
static bool is_keyed(const firn_scheme *scheme, const char *method) {
    firn_error error;
    if (scheme->keyed) {
        firn_error_set(&error, FIRN_EUSAGE, 0, "%s needs a key: use firn.Order(key).%s",
                       scheme->name, method);
        fail(&error);
    }
    return scheme->keyed;
}

/* pack(scheme, epoch, bits, digits, [(name, value)]) -> ID */
static PyObject *pack(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *epoch, *bits, *digits;
    PyObject *pairs;
    firn_scheme scheme;
    firn_fields fields;
    firn_error error = {0};
    firn_id id;
    if (!PyArg_ParseTuple(args, "szzzO!", &name, &epoch, &bits, &digits, &PyList_Type, &pairs) ||
        !scheme_of(&scheme, name, epoch, bits, digits) || is_keyed(&scheme, "write(number)") ||
        !put_fields(&fields, &scheme, pairs)) {
        return NULL;
    }
    return firn_pack(&id, &scheme, &fields, &error) == FIRN_OK ? object_of(&scheme, &id)
                                                               : fail(&error);
}

/* False: an exception is set. */
static bool read_prefix(char prefix[FIRN_PREFIX_SIZE], PyObject *text) {
    PyObject *utf8 = PyUnicode_AsUTF8String(text);
    if (utf8 != NULL) {
        firn_prefix_read(prefix, PyBytes_AsString(utf8), (size_t)PyBytes_Size(utf8));
        Py_DECREF(utf8);
    }
    return utf8 != NULL;
}

/* {name: value} */
static PyObject *fields_object(const firn_fields *fields, const firn_scheme *scheme) {
    PyObject *values = PyDict_New();
    for (uint32_t i = 0; values != NULL && i < scheme->slice_count; i++) {
        char text[FIRN_VALUE_SIZE];
        if (scheme->slices[i].name[0] == '\0' || firn_scheme_first(scheme, i) != i) {
            continue;
        }
        PyObject *value = PyUnicode_FromString(firn_fields_get(text, fields, scheme, i));
        if (value == NULL || PyDict_SetItemString(values, scheme->slices[i].name, value) != 0) {
            Py_CLEAR(values);
        }
        Py_XDECREF(value);
    }
    return values;
}

/* (text, sec, ns) of the time of an ID; None: its scheme has none. */
static PyObject *time_object(const firn_fields *fields, const firn_scheme *scheme) {
    char text[FIRN_TIME_SIZE];
    firn_time time;
    const int field = firn_scheme_field(scheme, "time");
    if (scheme->tick_ns == 0 || field < 0) {
        return Py_BuildValue("");
    }
    firn_scheme_time(scheme, fields->value[field].low, &time);
    firn_time_format(text, &time, firn_scheme_digits(scheme));
    return Py_BuildValue("(sLi)", text, (long long)time.sec, (int)time.ns);
}

/* The ID and its text, which is the same object where that is the scheme's own. Takes `id`. */
static PyObject *id_and_text(PyObject *id, const firn_id *bits, const firn_scheme *scheme,
                             const char *prefix) {
    PyObject *text = NULL;
    if (id != NULL && scheme->form != FIRN_FORM_TYPEID && PyUnicode_Check(id)) {
        Py_INCREF(id);
        text = id;
    } else if (id != NULL) {
        text = text_of(bits, scheme->form, scheme->form == FIRN_FORM_TYPEID ? prefix : NULL,
                       strlen(prefix));
    }
    PyObject *both = text != NULL ? Py_BuildValue("(OO)", id, text) : NULL;
    Py_XDECREF(id);
    Py_XDECREF(text);
    return both;
}

/* show(scheme, epoch, bits, digits, form, ID)
 * -> (prefix, (ID, text), {name: value}, (time as text, sec, ns) or None) */
static PyObject *show(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *epoch, *bits, *digits, *form_name;
    char prefix[FIRN_PREFIX_SIZE] = "";
    PyObject *object;
    firn_scheme scheme;
    firn_fields fields;
    firn_error error = {0};
    firn_id id;
    if (!PyArg_ParseTuple(args, "szzzzO", &name, &epoch, &bits, &digits, &form_name, &object) ||
        !scheme_of(&scheme, name, epoch, bits, digits) || is_keyed(&scheme, "read(text)") ||
        !id_of(&id, &scheme, form_name, object)) {
        return NULL;
    }
    const firn_scheme *seen = firn_scheme_seen(&scheme, &id);
    if (firn_unpack(&fields, seen, &id, &error) != FIRN_OK) {
        return fail(&error);
    }
    if (scheme.form == FIRN_FORM_TYPEID && PyUnicode_Check(object) &&
        !read_prefix(prefix, object)) {
        return NULL;
    }
    PyObject *both = id_and_text(object_of(&scheme, &id), &id, &scheme, prefix);
    PyObject *values = both != NULL ? fields_object(&fields, seen) : NULL;
    PyObject *time = values != NULL ? time_object(&fields, seen) : NULL;
    PyObject *shown = time != NULL ? Py_BuildValue("(sOOO)", prefix, both, values, time) : NULL;
    Py_XDECREF(both);
    Py_XDECREF(values);
    Py_XDECREF(time);
    return shown;
}

/* range(scheme, epoch, bits, digits, (sec, ns), (sec, ns), [(name, value)], prefix or None)
 * -> (ID, ID), with a prefix as text */
static PyObject *range(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *epoch, *bits, *digits, *prefix;
    Py_ssize_t size;
    long long from_sec, to_sec;
    firn_time from, to;
    PyObject *pairs;
    firn_scheme scheme;
    firn_fields pinned;
    firn_error error = {0};
    firn_id least, greatest;
    if (!PyArg_ParseTuple(args, "szzz(Li)(Li)O!z#", &name, &epoch, &bits, &digits, &from_sec,
                          &from.ns, &to_sec, &to.ns, &PyList_Type, &pairs, &prefix, &size) ||
        !scheme_of(&scheme, name, epoch, bits, digits) || !put_fields(&pinned, &scheme, pairs)) {
        return NULL;
    }
    if (scheme.form == FIRN_FORM_DATED && scheme.node_rule == FIRN_NODE_REQUIRED) {
        firn_error_set(&error, FIRN_EUNSORTED, 0,
                       "IDs of %s have texts of several lengths, so texts cannot bound a range: "
                       "compare their first 17 digits, or the IDs as bytes",
                       scheme.name);
        return fail(&error);
    }
    from.sec = from_sec;
    to.sec = to_sec;
    if (firn_range(&least, &greatest, &scheme, &pinned, &from, &to, &error) != FIRN_OK) {
        return fail(&error);
    }
    PyObject *ends[2] = {NULL, NULL};
    for (int i = 0; i < 2 && (i == 0 || ends[0] != NULL); i++) {
        const firn_id *id = i == 0 ? &least : &greatest;
        ends[i] = prefix != NULL ? text_of(id, scheme.form, prefix, (size_t)size)
                                 : object_of(&scheme, id);
    }
    PyObject *pair = ends[1] != NULL ? Py_BuildValue("(OO)", ends[0], ends[1]) : NULL;
    Py_XDECREF(ends[0]);
    Py_XDECREF(ends[1]);
    return pair;
}

/* parse(scheme, epoch, bits, digits, form, text) -> ID */
static PyObject *parse(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *epoch, *bits, *digits, *form_name;
    PyObject *text;
    firn_scheme scheme;
    firn_id id;
    if (!PyArg_ParseTuple(args, "szzzzU", &name, &epoch, &bits, &digits, &form_name, &text) ||
        !scheme_of(&scheme, name, epoch, bits, digits) || !id_of(&id, &scheme, form_name, text)) {
        return NULL;
    }
    return object_of(&scheme, &id);
}

/* prefix(text) -> str, of a TypeID */
static PyObject *prefix_of(PyObject *module, PyObject *text) {
    char prefix[FIRN_PREFIX_SIZE];
    (void)module;
    return read_prefix(prefix, text) ? PyUnicode_FromString(prefix) : NULL;
}

/* format(scheme, epoch, bits, digits, form, ID, prefix or None) -> str */
static PyObject *format(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *epoch, *bits, *digits, *form_name, *prefix;
    Py_ssize_t size;
    PyObject *object;
    firn_scheme scheme;
    firn_id id;
    int form;
    if (!PyArg_ParseTuple(args, "szzzzOz#", &name, &epoch, &bits, &digits, &form_name, &object,
                          &prefix, &size) ||
        !scheme_of(&scheme, name, epoch, bits, digits) || !id_of(&id, &scheme, NULL, object) ||
        !form_of(&form, form_name, &scheme)) {
        return NULL;
    }
    return text_of(&id, form, prefix, (size_t)size);
}

/* convert(from, to, ID) -> ID */
static PyObject *convert(PyObject *module, PyObject *args) {
    (void)module;
    const char *from_name, *to_name;
    PyObject *object;
    firn_scheme from, to;
    firn_error error = {0};
    firn_id id, out;
    if (!PyArg_ParseTuple(args, "ssO", &from_name, &to_name, &object) ||
        !scheme_of(&from, from_name, NULL, NULL, NULL) ||
        !scheme_of(&to, to_name, NULL, NULL, NULL) || !id_of(&id, &from, NULL, object)) {
        return NULL;
    }
    return firn_convert(&out, &to, &id, &from, &error) == FIRN_OK ? object_of(&to, &out)
                                                                  : fail(&error);
}

/* guess(text) -> [(scheme, form, ID, sure)] */
static PyObject *guess(PyObject *module, PyObject *args) {
    firn_reading readings[FIRN_READINGS_MAX];
    const char *text;
    Py_ssize_t size;
    (void)module;
    if (!PyArg_ParseTuple(args, "s#", &text, &size)) {
        return NULL;
    }
    size_t count = firn_guess(readings, text, (size_t)size, -1);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < count; i++) {
        const firn_reading *reading = &readings[i];
        PyObject *id = object_of(reading->scheme, &reading->id);
        PyObject *item = id != NULL ? Py_BuildValue("(ssNs)", reading->scheme->name,
                                                    firn_form_name(reading->form), id,
                                                    firn_sure_name(reading->sure))
                                    : NULL;
        if (item == NULL || PyList_Append(list, item) != 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    return list;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* A field of an array of IDs. */
typedef struct column {
    const firn_scheme *scheme;
    uint32_t field;
    bool timed; /* as nanoseconds since 1970 */
} column;

/* An ID as Generator.array writes them. */
static int read_element(firn_id *id, const column *wanted, const char *bytes, firn_error *error) {
    uint64_t integer;
    const uint32_t bits = wanted->scheme->bits;
    if (bits > 64) {
        return firn_id_from_bytes(id, (const uint8_t *)bytes, bits, error);
    }
    memcpy(&integer, bytes, sizeof integer);
    if (bits == 64 || integer >> bits == 0) {
        *id = (firn_id){integer, 0, 0, bits};
        return FIRN_OK;
    }
    return firn_error_set(error, FIRN_ERANGE, 0,
                          "an element has more than the %u bits of %s: name another scheme",
                          (unsigned)bits, wanted->scheme->name);
}

static int decode_element(int64_t *out, const column *wanted, const char *bytes,
                          firn_error *error) {
    enum { NS_PER_S = 1000000000 };
    firn_fields fields;
    firn_time time;
    firn_id id;
    int code = read_element(&id, wanted, bytes, error);
    code = code == FIRN_OK ? firn_unpack(&fields, wanted->scheme, &id, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    const firn_slice *slice = &wanted->scheme->slices[wanted->field];
    *out =
        (int64_t)(slice->role == FIRN_ROLE_CONST ? slice->value : fields.value[wanted->field].low);
    if (!wanted->timed) {
        return FIRN_OK;
    }
    firn_scheme_time(wanted->scheme, fields.value[wanted->field].low, &time);
    if (__builtin_mul_overflow(time.sec, NS_PER_S, out) ||
        __builtin_add_overflow(*out, time.ns, out)) {
        return firn_error_set(error, FIRN_ERANGE, 0,
                              "a time is outside the years 1678 to 2261, which are all that 64 "
                              "bits of nanoseconds have: decode that ID with firn.show");
    }
    return FIRN_OK;
}

/* Where the bits of a field are in IDs of 8 or 16 bytes, in a low and a high word. */
typedef struct places {
    struct {
        uint64_t mask;
        uint8_t word, right, left;
    } part[2 * FIRN_SLICES_MAX];
    uint32_t count;
    uint64_t fixed[2], value[2]; /* the bits of constants, and their values */
} places;

/* Calls `put` for the part of `bits` bits from `position` on in each word that has some. */
#define EACH_WORD(position, bits, ...)                                                             \
    for (uint32_t at = (position), end = at + (bits), size; at < end; at += size) {                \
        const uint32_t word = at / 64, right = at % 64;                                            \
        size = end - at < 64 - right ? end - at : 64 - right;                                      \
        const uint64_t mask = size == 64 ? UINT64_MAX : (UINT64_C(1) << size) - 1;                 \
        __VA_ARGS__                                                                                \
    }

/* False: the field is read ID by ID. */
static bool find_places(places *out, const column *wanted) {
    const firn_scheme *scheme = wanted->scheme;
    uint32_t position = scheme->bits;
    memset(out, 0, sizeof *out);
    if (scheme->form == FIRN_FORM_DATED || (scheme->bits > 64 && scheme->bits != 128)) {
        return false;
    }
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        const uint32_t low = position -= slice->bits;
        if (slice->role == FIRN_ROLE_CONST) {
            EACH_WORD(low, slice->bits, {
                out->fixed[word] |= mask << right;
                out->value[word] |= (slice->value >> (at - low) & mask) << right;
            })
        }
        if (firn_scheme_first(scheme, i) == wanted->field) {
            if (slice->group > 0) {
                return false;
            }
            EACH_WORD(low, slice->bits, {
                out->part[out->count].mask = mask;
                out->part[out->count].word = (uint8_t)word;
                out->part[out->count].right = (uint8_t)right;
                out->part[out->count++].left = (uint8_t)(slice->from + at - low);
            })
        }
    }
    if (scheme->bits < 64) { /* the bits above the ID are zeros */
        out->fixed[0] |= UINT64_MAX << scheme->bits;
    }
    return out->count > 0;
}

/* Nanoseconds since 1970. False: 64 bits do not hold them. */
static bool to_ns(int64_t *out, const firn_scheme *scheme, uint64_t tick) {
    enum { NS_PER_S = 1000000000 };
    int64_t epoch;
    return !__builtin_mul_overflow(scheme->epoch.sec, NS_PER_S, &epoch) &&
           !__builtin_add_overflow(epoch, scheme->epoch.ns, &epoch) &&
           !__builtin_mul_overflow(tick, scheme->tick_ns, out) &&
           !__builtin_add_overflow(*out, epoch, out);
}

/* Decodes IDs until one of them needs decode_element, which has the errors. Returns their number. */
static Py_ssize_t decode_run(char *out, const places *found, const column *wanted,
                             const char *bytes, Py_ssize_t count) {
    const bool wide = wanted->scheme->bits > 64;
    for (Py_ssize_t i = 0; i < count; i++) {
        uint64_t id[2] = {0, 0}, value = 0;
        int64_t ns;
        memcpy(id, bytes + i * (wide ? 16 : 8), wide ? 16 : 8);
        if (wide) {
            const uint64_t high = __builtin_bswap64(id[0]);
            id[0] = __builtin_bswap64(id[1]);
            id[1] = high;
        }
        if ((((id[0] ^ found->value[0]) & found->fixed[0]) |
             ((id[1] ^ found->value[1]) & found->fixed[1])) != 0) {
            return i;
        }
        for (uint32_t k = 0; k < found->count; k++) {
            value |= (id[found->part[k].word] >> found->part[k].right & found->part[k].mask)
                     << found->part[k].left;
        }
        if (wanted->timed) {
            if (!to_ns(&ns, wanted->scheme, value)) {
                return i;
            }
            value = (uint64_t)ns;
        }
        memcpy(out + i * 8, &value, sizeof value);
    }
    return count;
}

/* decode(scheme, epoch, bits, digits, bytes, field) -> bytearray of int64 or uint64 */
static PyObject *decode(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *epoch, *bits, *digits, *bytes, *field_name;
    Py_ssize_t length;
    firn_scheme scheme;
    firn_error error = {0};
    if (!PyArg_ParseTuple(args, "szzzy#s", &name, &epoch, &bits, &digits, &bytes, &length,
                          &field_name) ||
        !scheme_of(&scheme, name, epoch, bits, digits) || is_keyed(&scheme, "read(text)")) {
        return NULL;
    }
    const Py_ssize_t size = scheme.bits <= 64 ? 8 : (Py_ssize_t)(scheme.bits + 7) / 8;
    const int field = firn_scheme_field(&scheme, field_name);
    if (length % size != 0) {
        firn_error_set(&error, FIRN_ERANGE, 0,
                       "%zd bytes are no whole number of IDs of %s, which have %zd bytes each: "
                       "give an array of them",
                       length, scheme.name, size);
        return fail(&error);
    }
    if (field < 0 || firn_scheme_width(&scheme, (uint32_t)field) > 64) {
        firn_error_set(&error, FIRN_EUSAGE, 0,
                       "%s has no field '%.40s' of at most 64 bits: see the layout of "
                       "firn.scheme('%s')",
                       scheme.name, field_name, scheme.name);
        return fail(&error);
    }
    const column wanted = {&scheme, (uint32_t)field,
                           scheme.tick_ns != 0 && strcmp(field_name, "time") == 0};
    PyObject *out = PyByteArray_FromStringAndSize(NULL, length / size * 8);
    char *place = out != NULL ? PyByteArray_AsString(out) : NULL;
    places found;
    Py_ssize_t i = out != NULL && find_places(&found, &wanted)
                       ? decode_run(place, &found, &wanted, bytes, length / size)
                       : 0;
    for (; out != NULL && i < length / size; i++) {
        int64_t value;
        if (decode_element(&value, &wanted, bytes + i * size, &error) != FIRN_OK) {
            Py_CLEAR(out);
            return fail(&error);
        }
        memcpy(place + i * 8, &value, sizeof value);
    }
    return out;
}

/* ---- formats of others ----------------------------------------------------------------------- */

static PyObject *match_object(const firn_match *match) {
    char time_text[FIRN_TIME_SIZE];
    PyObject *fields = PyDict_New();
    for (uint32_t i = 0; fields != NULL && i < match->count; i++) {
        PyObject *value = PyUnicode_FromString(match->fields[i].value);
        if (value == NULL || PyDict_SetItemString(fields, match->fields[i].name, value) != 0) {
            Py_CLEAR(fields);
        }
        Py_XDECREF(value);
    }
    if (fields == NULL) {
        return NULL;
    }
    if (match->timed) { /* else it is not set */
        firn_time_format(time_text, &match->time, match->digits);
    }
    return Py_BuildValue("(ssOsNz)", match->format->name, firn_sure_name(match->sure),
                         match->leads ? Py_True : Py_False, match->reason, fields,
                         match->timed ? time_text : NULL);
}

/* recognize(text) -> [(format, sure, leads, reason, {name: value}, time as text or None)] */
static PyObject *recognize(PyObject *module, PyObject *args) {
    firn_reading readings[FIRN_READINGS_MAX];
    firn_match matches[FIRN_MATCHES_MAX];
    const char *text;
    Py_ssize_t size;
    (void)module;
    if (!PyArg_ParseTuple(args, "s#", &text, &size)) {
        return NULL;
    }
    bool plausible = firn_guess(readings, text, (size_t)size, -1) > 0;
    size_t count = firn_recognize(matches, plausible ? readings : NULL, text, (size_t)size);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < count; i++) {
        PyObject *item = match_object(&matches[i]);
        if (item == NULL || PyList_Append(list, item) != 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    return list;
}

/* digest(scheme, namespace, name) -> uuid.UUID */
static PyObject *digest(PyObject *module, PyObject *args) {
    (void)module;
    const char *scheme_name, *space, *name;
    Py_ssize_t size;
    firn_scheme scheme;
    firn_error error = {0};
    firn_id id;
    if (!PyArg_ParseTuple(args, "ssy#", &scheme_name, &space, &name, &size) ||
        !scheme_of(&scheme, scheme_name, NULL, NULL, NULL)) {
        return NULL;
    }
    return firn_digest(&id, &scheme, space, name, (size_t)size, &error) == FIRN_OK
               ? object_of(&scheme, &id)
               : fail(&error);
}

/* describe(scheme, epoch, bits, digits) -> (name, layout, bits, form, sorts, tick_ns, note) */
static PyObject *describe(PyObject *module, PyObject *args) {
    (void)module;
    static const char *const sorts[] = {"no", "per node", "by tick", "yes"};
    const char *name, *epoch, *bits, *digits;
    char text[FIRN_LAYOUT_SIZE];
    firn_scheme scheme;
    if (!PyArg_ParseTuple(args, "szzz", &name, &epoch, &bits, &digits) ||
        !scheme_of(&scheme, name, epoch, bits, digits)) {
        return NULL;
    }
    return Py_BuildValue("(ssIssIz)", scheme.name, firn_scheme_layout(text, &scheme),
                         (unsigned)scheme.bits, firn_form_name(scheme.form), sorts[scheme.sorts],
                         (unsigned)scheme.tick_ns, scheme.note);
}

static PyObject *names_of(PyObject *module, PyObject *args) {
    const char *what;
    (void)module;
    if (!PyArg_ParseTuple(args, "s", &what)) {
        return NULL;
    }
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL; i++) {
        const firn_scheme *scheme = what[0] == 's' ? firn_scheme_at((size_t)i) : NULL;
        const char *name =
            what[0] == 's' ? (scheme != NULL ? scheme->name : NULL) : firn_form_name(i);
        PyObject *item = name != NULL ? PyUnicode_FromString(name) : NULL;
        if (item == NULL) {
            break;
        }
        if (PyList_Append(list, item) != 0) {
            Py_CLEAR(list);
        }
        Py_DECREF(item);
    }
    return list;
}

/* time_parse(text) -> (sec, ns) */
static PyObject *time_parse(PyObject *module, PyObject *args) {
    (void)module;
    const char *text;
    Py_ssize_t size;
    firn_time time;
    firn_error error = {0};
    if (!PyArg_ParseTuple(args, "s#", &text, &size)) {
        return NULL;
    }
    return firn_time_parse(&time, text, (size_t)size, &error) == FIRN_OK
               ? Py_BuildValue("(Li)", (long long)time.sec, (int)time.ns)
               : fail(&error);
}

/* time_format(sec, ns, digits) -> str */
static PyObject *time_format(PyObject *module, PyObject *args) {
    char text[FIRN_TIME_SIZE];
    long long sec;
    firn_time time;
    int digits;
    (void)module;
    if (!PyArg_ParseTuple(args, "Lii", &sec, &time.ns, &digits)) {
        return NULL;
    }
    time.sec = sec;
    return PyUnicode_FromString(firn_time_format(text, &time, digits));
}

/* use_errors({code: exception}) */
static PyObject *use_errors(PyObject *module, PyObject *args) {
    PyObject *errors;
    firn_shared *shared = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &errors)) {
        return NULL;
    }
    Py_INCREF(errors);
    Py_XDECREF(shared->errors);
    shared->errors = errors;
    Py_RETURN_NONE;
}

static PyObject *renew_identity(PyObject *self, PyObject *none) {
    (void)self, (void)none;
    firn_renew_identity();
    Py_RETURN_NONE;
}

PyMethodDef pure_functions[] = {{"pack", pack, METH_VARARGS, NULL},
                                {"show", show, METH_VARARGS, NULL},
                                {"range", range, METH_VARARGS, NULL},
                                {"parse", parse, METH_VARARGS, NULL},
                                {"format", format, METH_VARARGS, NULL},
                                {"prefix", prefix_of, METH_O, NULL},
                                {"convert", convert, METH_VARARGS, NULL},
                                {"guess", guess, METH_VARARGS, NULL},
                                {"decode", decode, METH_VARARGS, NULL},
                                {"recognize", recognize, METH_VARARGS, NULL},
                                {"digest", digest, METH_VARARGS, NULL},
                                {"describe", describe, METH_VARARGS, NULL},
                                {"names", names_of, METH_VARARGS, NULL},
                                {"time_parse", time_parse, METH_VARARGS, NULL},
                                {"time_format", time_format, METH_VARARGS, NULL},
                                {"renew_identity", renew_identity, METH_NOARGS, NULL},
                                {"use_errors", use_errors, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};
