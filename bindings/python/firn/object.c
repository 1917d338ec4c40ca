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
