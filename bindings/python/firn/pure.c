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

static bool id_of(firn_id *id, const firn_scheme *scheme, const char *bytes, Py_ssize_t size) {
    firn_error error;
    if ((uint32_t)size != (scheme->bits + 7) / 8) {
        firn_error_set(&error, FIRN_ERANGE, 0, "%zd bytes: an ID of %s has %u", size, scheme->name,
                       (unsigned)(scheme->bits + 7) / 8);
    } else if (firn_id_from_bytes(id, (const uint8_t *)bytes, scheme->bits, &error) == FIRN_OK) {
        return true;
    }
    fail(&error);
    return false;
}

static PyObject *bytes_of(const firn_id *id) {
    uint8_t bytes[20];
    size_t size = firn_id_bytes(bytes, id);
    return PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)size);
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

/* The form of a name, or the scheme's own if it is NULL. False: an exception is set. */
static bool form_of(int *form, const char *name, const firn_scheme *scheme) {
    const char *names[FIRN_FORM_COUNT + 1] = {NULL};
    firn_error error;
    *form = name != NULL ? firn_form_find(name) : scheme->form;
    if (*form < 0) {
        for (int i = 0; i < FIRN_FORM_COUNT; i++) {
            names[i] = firn_form_name(i);
        }
        const char *near = firn_nearest(name, names);
        firn_error_set(&error, FIRN_EUSAGE, 0,
                       near != NULL ? "there is no form '%.40s': did you mean `%s`?"
                                    : "there is no form '%.40s': see firn.forms()",
                       name, near);
    } else if (firn_form_width(*form, scheme->bits) == 0) {
        firn_error_set(&error, FIRN_EUSAGE, 0, "an ID of %u bits has no form %s: use another form",
                       (unsigned)scheme->bits, firn_form_name(*form));
    } else if (*form == FIRN_FORM_DATED && scheme->form != FIRN_FORM_DATED) {
        firn_error_set(&error, FIRN_EUSAGE, 0,
                       "the form dated applies to time-random and time-member, not %s: use "
                       "another form",
                       scheme->name);
    } else {
        return true;
    }
    fail(&error);
    return false;
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

/* pack(scheme, epoch, bits, digits, [(name, value)]) -> bytes */
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
    return firn_pack(&id, &scheme, &fields, &error) == FIRN_OK ? bytes_of(&id) : fail(&error);
}

/* unpack(scheme, epoch, bits, digits, bytes) -> ({name: value}, (sec, ns) or None) */
static PyObject *unpack(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *epoch, *bits, *digits, *bytes;
    Py_ssize_t size;
    firn_scheme scheme;
    firn_fields fields;
    firn_error error = {0};
    firn_time time = {0, 0};
    firn_id id;
    if (!PyArg_ParseTuple(args, "szzzy#", &name, &epoch, &bits, &digits, &bytes, &size) ||
        !scheme_of(&scheme, name, epoch, bits, digits) || is_keyed(&scheme, "read(text)") ||
        !id_of(&id, &scheme, bytes, size)) {
        return NULL;
    }
    const firn_scheme *seen = firn_scheme_seen(&scheme, &id);
    if (firn_unpack(&fields, seen, &id, &error) != FIRN_OK) {
        return fail(&error);
    }
    PyObject *values = PyDict_New();
    for (uint32_t i = 0; values != NULL && i < seen->slice_count; i++) {
        char text[FIRN_VALUE_SIZE];
        if (seen->slices[i].name[0] == '\0' || firn_scheme_first(seen, i) != i) {
            continue;
        }
        PyObject *value = PyUnicode_FromString(firn_fields_get(text, &fields, seen, i));
        if (value == NULL || PyDict_SetItemString(values, seen->slices[i].name, value) != 0) {
            Py_CLEAR(values);
        }
        Py_XDECREF(value);
    }
    int field = firn_scheme_field(seen, "time");
    if (values == NULL || seen->tick_ns == 0 || field < 0) {
        return values == NULL ? NULL : Py_BuildValue("(NO)", values, Py_None);
    }
    firn_scheme_time(seen, fields.value[field].low, &time);
    return Py_BuildValue("(N(Li))", values, (long long)time.sec, (int)time.ns);
}

/* range(scheme, epoch, bits, digits, (sec, ns), (sec, ns), [(name, value)]) -> (bytes, bytes) */
static PyObject *range(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *epoch, *bits, *digits;
    long long from_sec, to_sec;
    firn_time from, to;
    PyObject *pairs;
    firn_scheme scheme;
    firn_fields pinned;
    firn_error error = {0};
    firn_id least, greatest;
    if (!PyArg_ParseTuple(args, "szzz(Li)(Li)O!", &name, &epoch, &bits, &digits, &from_sec,
                          &from.ns, &to_sec, &to.ns, &PyList_Type, &pairs) ||
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
    return Py_BuildValue("(NN)", bytes_of(&least), bytes_of(&greatest));
}

/* parse(scheme, epoch, bits, digits, form, text) -> bytes */
static PyObject *parse(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *epoch, *bits, *digits, *form_name, *text;
    Py_ssize_t size;
    firn_scheme scheme;
    firn_fields fields;
    firn_error error = {0};
    firn_id id;
    if (!PyArg_ParseTuple(args, "szzzzs#", &name, &epoch, &bits, &digits, &form_name, &text,
                          &size) ||
        !scheme_of(&scheme, name, epoch, bits, digits)) {
        return NULL;
    }
    int form;
    if (!form_of(&form, form_name, &scheme)) {
        return NULL;
    }
    if (firn_parse(&id, form, scheme.bits, text, (size_t)size, &error) != FIRN_OK ||
        firn_unpack(&fields, firn_scheme_seen(&scheme, &id), &id, &error) != FIRN_OK) {
        return fail(&error);
    }
    return bytes_of(&id);
}

/* prefix(text) -> str, of a TypeID */
static PyObject *prefix_of(PyObject *module, PyObject *args) {
    (void)module;
    char prefix[FIRN_PREFIX_SIZE];
    const char *text;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "s#", &text, &size)) {
        return NULL;
    }
    firn_prefix_read(prefix, text, (size_t)size);
    return PyUnicode_FromString(prefix);
}

/* format(scheme, epoch, bits, digits, form, bytes, prefix or None) -> str */
static PyObject *format(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *epoch, *bits, *digits, *form_name, *bytes, *prefix;
    char text[FIRN_TEXT_SIZE];
    Py_ssize_t size, prefix_size;
    firn_scheme scheme;
    firn_error error;
    firn_id id;
    if (!PyArg_ParseTuple(args, "szzzzy#z#", &name, &epoch, &bits, &digits, &form_name, &bytes,
                          &size, &prefix, &prefix_size) ||
        !scheme_of(&scheme, name, epoch, bits, digits) || !id_of(&id, &scheme, bytes, size)) {
        return NULL;
    }
    int form;
    if (!form_of(&form, form_name, &scheme)) {
        return NULL;
    }
    if (prefix == NULL && firn_format(text, &id, form)[0] == '\0') {
        firn_error_set(&error, FIRN_EMISMATCH, 0,
                       "this ID has no form %s, because its time or its digits are out of range: "
                       "use another form",
                       firn_form_name(form));
        return fail(&error);
    }
    if (prefix == NULL) {
        return PyUnicode_FromString(text);
    }
    if (form != FIRN_FORM_TYPEID) {
        firn_error_set(&error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
                       "prefix=%.64s applies to the form typeid, not %s: leave it out, or use that "
                       "form",
                       prefix, firn_form_name(form));
        return fail(&error);
    }
    return firn_prefix_check(prefix, (size_t)prefix_size, &error) == FIRN_OK
               ? PyUnicode_FromString(firn_prefix_format(text, prefix, &id))
               : fail(&error);
}

/* convert(from, to, bytes) -> bytes */
static PyObject *convert(PyObject *module, PyObject *args) {
    (void)module;
    const char *from_name, *to_name, *bytes;
    Py_ssize_t size;
    firn_scheme from, to;
    firn_error error = {0};
    firn_id id, out;
    if (!PyArg_ParseTuple(args, "ssy#", &from_name, &to_name, &bytes, &size) ||
        !scheme_of(&from, from_name, NULL, NULL, NULL) ||
        !scheme_of(&to, to_name, NULL, NULL, NULL) || !id_of(&id, &from, bytes, size)) {
        return NULL;
    }
    return firn_convert(&out, &to, &id, &from, &error) == FIRN_OK ? bytes_of(&out) : fail(&error);
}

/* guess(text) -> [(scheme, form, bytes, sure)] */
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
        PyObject *item =
            Py_BuildValue("(ssNs)", readings[i].scheme->name, firn_form_name(readings[i].form),
                          bytes_of(&readings[i].id), firn_sure_name(readings[i].sure));
        if (item == NULL || PyList_Append(list, item) != 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(item);
    }
    return list;
}

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

/* digest(scheme, namespace, name) -> bytes */
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
    return firn_digest(&id, &scheme, space, name, (size_t)size, &error) == FIRN_OK ? bytes_of(&id)
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
                                {"unpack", unpack, METH_VARARGS, NULL},
                                {"range", range, METH_VARARGS, NULL},
                                {"parse", parse, METH_VARARGS, NULL},
                                {"format", format, METH_VARARGS, NULL},
                                {"prefix", prefix_of, METH_VARARGS, NULL},
                                {"convert", convert, METH_VARARGS, NULL},
                                {"guess", guess, METH_VARARGS, NULL},
                                {"recognize", recognize, METH_VARARGS, NULL},
                                {"digest", digest, METH_VARARGS, NULL},
                                {"describe", describe, METH_VARARGS, NULL},
                                {"names", names_of, METH_VARARGS, NULL},
                                {"time_parse", time_parse, METH_VARARGS, NULL},
                                {"time_format", time_format, METH_VARARGS, NULL},
                                {"renew_identity", renew_identity, METH_NOARGS, NULL},
                                {"use_errors", use_errors, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};
