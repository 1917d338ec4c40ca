/* SPDX-License-Identifier: MIT */
/* IDs as Python's objects, and errors as its exceptions. */
#include "firn_python.h"

#include <string.h>

/* Sets an attribute to bytes of an error's text. False: an exception is raised. */
static bool set_text(PyObject *raised, const char *name, const char *text, size_t length) {
    PyObject *value = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
    const bool set = value != NULL && PyObject_SetAttrString(raised, name, value) == 0;
    Py_XDECREF(value);
    return set;
}

/* A new exception with the parts of the error; NULL: another one is raised. */
static PyObject *exception_of(PyObject *kind, const firn_error *error) {
    const char *text = error->text, *name = firn_curename(error->cure);
    const char *cure = error->cure_at != 0 ? text + error->cure_at : "";
    PyObject *sentence = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *raised = sentence != NULL ? PyObject_CallFunctionObjArgs(kind, sentence, NULL) : NULL;
    Py_XDECREF(sentence);
    if (raised != NULL &&
        (!set_text(raised, "cure", cure, strlen(cure)) ||
         !set_text(raised, "cure_name", name, strlen(name)) ||
         !set_text(raised, "value", text + error->value.at, error->value.length) ||
         !set_text(raised, "limit", text + error->limit.at, error->limit.length))) {
        Py_CLEAR(raised);
    }
    return raised;
}

/* Raises the exception of error->code. Returns NULL. */
PyObject *fail(const firn_error *error) {
    const firn_shared *shared = firn_python();
    if (shared == NULL) {
        return NULL;
    }
    PyObject *code = PyLong_FromLong(error->code);
    PyObject *kind = code != NULL && shared->errors != NULL
                         ? PyDict_GetItemWithError(shared->errors, code)
                         : NULL;
    PyObject *raised = exception_of(kind != NULL ? kind : PyExc_RuntimeError, error);
    if (raised != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    }
    Py_XDECREF(raised);
    Py_XDECREF(code);
    return NULL;
}

PyObject *fail_closed(const char *what) {
    firn_error error;
    firn_error_set(&error, FIRN_EUSAGE, 0, "the %s is closed: open another one", what);
    return fail(&error);
}

/* 64 bits of big-endian bytes. */
static PyObject *half_of(const uint8_t *bytes) {
    unsigned long long value = 0;
    for (int i = 0; i < 8; i++) {
        value = value << 8 | bytes[i];
    }
    return PyLong_FromUnsignedLongLong(value);
}

/* uuid.UUID without its __init__, which costs ten times as much. */
PyObject *uuid_of(const uint8_t bytes[16]) {
    PyObject *high = half_of(bytes), *low = half_of(bytes + 8), *shift = PyLong_FromLong(64);
    PyObject *top = high != NULL && shift != NULL ? PyNumber_Lshift(high, shift) : NULL;
    PyObject *number = top != NULL && low != NULL ? PyNumber_Or(top, low) : NULL;
    const firn_shared *shared = number != NULL ? firn_python() : NULL;
    PyObject *uuid = shared != NULL ? PyType_GenericAlloc(shared->uuid, 0) : NULL;
    if (uuid != NULL && (PyObject_GenericSetAttr(uuid, shared->int_name, number) != 0 ||
                         PyObject_GenericSetAttr(uuid, shared->is_safe_name, shared->safe) != 0)) {
        Py_CLEAR(uuid);
    }
    Py_XDECREF(high);
    Py_XDECREF(low);
    Py_XDECREF(shift);
    Py_XDECREF(top);
    Py_XDECREF(number);
    return uuid;
}

PyObject *id_object(const firn_id *id, int result, int form, const char *prefix) {
    char text[FIRN_TEXT_SIZE];
    uint8_t bytes[20];
    switch (result) {
    case RESULT_INT:
        return PyLong_FromUnsignedLongLong(id->low);
    case RESULT_UUID:
        firn_id_bytes(bytes, id);
        return uuid_of(bytes);
    case RESULT_BYTES:
        return PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)firn_id_bytes(bytes, id));
    default:
        return PyUnicode_FromString(form == FIRN_FORM_TYPEID ? firn_prefix_format(text, prefix, id)
                                                             : firn_format(text, id, form));
    }
}

static int natural_result(const firn_scheme *scheme, int form) {
    return form == FIRN_FORM_UUID                                ? RESULT_UUID
           : form == FIRN_FORM_DEC || form == FIRN_FORM_UNSIGNED ? RESULT_INT
           : scheme->bits <= 64 && form < 0                      ? RESULT_INT
                                                                 : RESULT_TEXT;
}

/* "int", "uuid", "text", "bytes", a form, or NULL for what suits the scheme. -1 with an
 * exception. */
int result_of(const firn_scheme *scheme, const char *output, int *form) {
    firn_error error;
    *form = scheme->form;
    if (output == NULL) {
        int result = natural_result(scheme, scheme->form);
        return result == RESULT_INT && scheme->bits > 64 ? RESULT_TEXT : result;
    }
    if (strcmp(output, "text") == 0) {
        return RESULT_TEXT;
    }
    if (strcmp(output, "bytes") == 0) {
        return RESULT_BYTES;
    }
    if (strcmp(output, "int") == 0 && scheme->bits <= 64) {
        return RESULT_INT;
    }
    if (strcmp(output, "uuid") == 0 && scheme->bits == 128) {
        return RESULT_UUID;
    }
    *form = firn_form_find(output);
    if (*form >= 0 && firn_form_width(*form, scheme->bits) > 0) {
        return RESULT_TEXT;
    }
    firn_error_set(
        &error, FIRN_EUSAGE, 0,
        "output=%.40s does not fit %s, which has %u bits: int (up to 64), uuid (128), bytes, "
        "text or a form",
        output, scheme->name, (unsigned)scheme->bits);
    fail(&error);
    return -1;
}

/* ---- from and to objects -------------------------------------------------------------------- */

static bool id_of_bytes(firn_id *id, const firn_scheme *scheme, const char *bytes,
                        Py_ssize_t size) {
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

/* Takes `bytes`, an object; NULL: an exception is set. */
static bool take_bytes(firn_id *id, const firn_scheme *scheme, PyObject *bytes) {
    const bool good =
        bytes != NULL && id_of_bytes(id, scheme, PyBytes_AsString(bytes), PyBytes_Size(bytes));
    Py_XDECREF(bytes);
    return good;
}

/* Two's complement of 8 bytes for a negative integer, which only 64-bit schemes have. */
static bool id_of_integer(firn_id *id, const firn_scheme *scheme, PyObject *integer) {
    const long size = (long)(scheme->bits + 7) / 8;
    int overflow;
    firn_error error;
    const long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    if (overflow == 0 && (size == 8 || (value >= 0 && (size > 8 || value >> 8 * size == 0)))) {
        uint8_t wide[20] = {0};
        for (int i = 0; i < 8; i++) {
            wide[12 + i] = (uint8_t)((unsigned long long)value >> (56 - 8 * i));
        }
        return id_of_bytes(id, scheme, (const char *)wide + sizeof wide - size, size);
    }
    PyObject *bytes =
        overflow > 0 ? PyObject_CallMethod(integer, "to_bytes", "ls", size, "big") : NULL;
    if (bytes == NULL && (overflow <= 0 || PyErr_ExceptionMatches(PyExc_OverflowError) != 0)) {
        PyErr_Clear();
        firn_error_set(&error, FIRN_ERANGE, 0,
                       "the integer does not fit in the %ld bytes of %s: name another scheme", size,
                       scheme->name);
        fail(&error);
    }
    return take_bytes(id, scheme, bytes);
}

/* The form of a name, or the scheme's own if it is NULL. False: an exception is set. */
bool form_of(int *form, const char *name, const firn_scheme *scheme) {
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

/* An ID from its text, in a form of that name or, if it is NULL, in the scheme's own. */
static bool id_of_text(firn_id *id, const firn_scheme *scheme, const char *form_name,
                       PyObject *text) {
    firn_fields fields;
    firn_error error = {0};
    int form;
    PyObject *utf8 = form_of(&form, form_name, scheme) ? PyUnicode_AsUTF8String(text) : NULL;
    if (utf8 == NULL) {
        return false;
    }
    int code = firn_parse(id, form, scheme->bits, PyBytes_AsString(utf8),
                          (size_t)PyBytes_Size(utf8), &error);
    if (code == FIRN_OK) {
        code = firn_unpack(&fields, firn_scheme_seen(scheme, id), id, &error);
    }
    Py_DECREF(utf8);
    if (code != FIRN_OK) {
        fail(&error);
    }
    return code == FIRN_OK;
}

/* An ID from an int, a uuid.UUID, bytes or text. False: an exception is set. */
bool id_of(firn_id *id, const firn_scheme *scheme, const char *form_name, PyObject *object) {
    const firn_shared *shared = firn_python();
    if (shared == NULL) {
        return false;
    }
    if (PyUnicode_Check(object)) {
        return id_of_text(id, scheme, form_name, object);
    }
    if (PyIndex_Check(object) && !PyBool_Check(object)) { /* an int, or such as numpy.uint64 */
        PyObject *integer = PyNumber_Index(object);
        const bool good = integer != NULL && id_of_integer(id, scheme, integer);
        Py_XDECREF(integer);
        return good;
    }
    if (PyObject_TypeCheck(object, shared->uuid)) {
        return take_bytes(id, scheme, PyObject_GetAttrString(object, "bytes"));
    }
    if (PyBytes_Check(object)) {
        return id_of_bytes(id, scheme, PyBytes_AsString(object), PyBytes_Size(object));
    }
    if (PyByteArray_Check(object)) {
        return id_of_bytes(id, scheme, PyByteArray_AsString(object), PyByteArray_Size(object));
    }
    PyErr_Format(PyExc_TypeError, "an ID is an int, uuid.UUID, str or bytes, not %R",
                 (PyObject *)Py_TYPE(object));
    return false;
}

/* The text of an ID in a form. `prefix`, of a TypeID, may be NULL. */
PyObject *text_of(const firn_id *id, int form, const char *prefix, size_t prefix_size) {
    char text[FIRN_TEXT_SIZE];
    firn_error error;
    if (prefix != NULL && form != FIRN_FORM_TYPEID) {
        firn_error_set(&error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
                       "prefix=%.64s applies to the form typeid, not %s: leave it out, or use that "
                       "form",
                       prefix, firn_form_name(form));
    } else if (prefix == NULL && firn_format(text, id, form)[0] == '\0') {
        firn_error_set(&error, FIRN_EMISMATCH, 0,
                       "this ID has no form %s, because its time or its digits are out of range: "
                       "use another form",
                       firn_form_name(form));
    } else if (prefix == NULL) {
        return PyUnicode_FromString(text);
    } else if (firn_prefix_check(prefix, prefix_size, &error) == FIRN_OK) {
        return PyUnicode_FromString(firn_prefix_format(text, prefix, id));
    }
    return fail(&error);
}

/* An ID as the type that suits its scheme. */
PyObject *object_of(const firn_scheme *scheme, const firn_id *id) {
    int form;
    const int result = result_of(scheme, NULL, &form);
    return result == RESULT_TEXT ? text_of(id, form, NULL, 0) : id_object(id, result, form, "");
}
