/* SPDX-License-Identifier: MIT */
/* Series of dated numbers. */
#include "firn_python.h"

typedef struct series {
    PyObject_HEAD firn_store *store;
    firn_series *series; /* NULL: closed */
    users busy;
} series;

static PyObject *series_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"name", "keys", "store", "module_dir", "unsafe", NULL};
    const char *name, *keys, *url, *dir;
    int unsafe = 0;
    firn_error error = {0};
    firn_store *store = NULL;
    firn_series *made = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, named, "sszzp", names, &name, &keys, &url, &dir,
                                     &unsafe)) {
        return NULL;
    }
    const firn_store_options options = {.module_dir = dir, .unsafe = unsafe != 0};
    PyThreadState *state = store_begin();
    int code = firn_store_open(&store, url, &options, &error);
    code = code == FIRN_OK ? firn_series_open(&made, name, keys, store, NULL, &error) : code;
    store_end(state);
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    series *self = code == FIRN_OK ? (series *)allocate(type, 0) : NULL;
    if (self == NULL) {
        firn_series_close(made, NULL);
        firn_store_close(store);
        return code != FIRN_OK ? fail(&error) : NULL;
    }
    self->store = store;
    self->series = made;
    return (PyObject *)self;
}

/* `shut` is the series as it was before it was closed for others; NULL: it was closed already. */
static int series_shut(firn_series *shut, firn_store *store, firn_error *error) {
    const int code = firn_series_close(shut, error);
    if (shut != NULL) {
        firn_store_close(store);
    }
    return code;
}

static void series_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    series_shut(((series *)object)->series, ((series *)object)->store, NULL);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* Is the series open, and used by no other thread? False with an exception. */
static bool is_free(series *self) {
    firn_error error;
    if (*users_of(&self->busy) > 0) {
        firn_error_set(&error, FIRN_EUSAGE, 0,
                       "another thread uses the series: open one in each thread");
        fail(&error);
        return false;
    }
    if (self->series == NULL) {
        fail_closed("series");
        return false;
    }
    return true;
}

static PyObject *series_close(PyObject *object, PyObject *none) {
    series *self = (series *)object;
    firn_error error;
    (void)none;
    if (self->series == NULL) {
        Py_RETURN_NONE;
    }
    if (!is_free(self)) {
        return NULL;
    }
    firn_series *shut = self->series;
    self->series = NULL;
    PyThreadState *state = store_begin();
    const int code = series_shut(shut, self->store, &error);
    store_end(state);
    if (code != FIRN_OK) {
        return fail(&error);
    }
    Py_RETURN_NONE;
}

static PyObject *list_of(char (*texts)[FIRN_SERIES_SIZE], Py_ssize_t count) {
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        PyObject *text = PyUnicode_FromString(texts[i]);
        if (text == NULL || PyList_SetItem(list, i, text) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* series._call(verb, count, time or None): a list of numbers. The verbs are next, peek, advance
 * and prune, which may ask the store; `count` is the counter of advance. */
static PyObject *series_call(PyObject *object, PyObject *args) {
    series *self = (series *)object;
    firn_error error = {0};
    const char *verb;
    long long count = 0, sec = 0;
    int ns = 0, code;
    PyObject *moment;
    if (!PyArg_ParseTuple(args, "sLO", &verb, &count, &moment) ||
        (moment != Py_None && !PyArg_ParseTuple(moment, "Li", &sec, &ns)) || !is_free(self)) {
        return NULL;
    }
    const firn_time time = {sec, ns}, *at = moment != Py_None ? &time : NULL;
    if (verb[0] == 'n' && (count < 1 || count > 1000000)) {
        firn_error_set(&error, FIRN_ERANGE, 0, "one call issues 1 to 1000000 numbers, not %lld",
                       count);
        return fail(&error);
    }
    const Py_ssize_t room = verb[0] == 'n' ? (Py_ssize_t)count : verb[1] == 'e' ? 1 : 0;
    char(*texts)[FIRN_SERIES_SIZE] = PyMem_Calloc((size_t)(room > 0 ? room : 1), sizeof *texts);
    if (texts == NULL) {
        return PyErr_NoMemory();
    }
    ++*users_of(&self->busy);
    PyThreadState *state = store_begin();
    switch (verb[0]) {
    case 'n':
        code = firn_series_next(self->series, at, texts, (size_t)count, &error);
        break;
    case 'a':
        code = firn_series_advance(self->series, at, count, &error);
        break;
    default:
        code = verb[1] == 'e' ? firn_series_peek(self->series, at, texts[0], &error)
                              : firn_series_prune(self->series, &time, &error);
    }
    store_end(state);
    --*users_of(&self->busy);
    PyObject *result = code == FIRN_OK ? list_of(texts, room) : fail(&error);
    PyMem_Free(texts);
    return result;
}

static PyObject *series_read(PyObject *object, PyObject *args) {
    series *self = (series *)object;
    int64_t counter = 0;
    firn_error error = {0};
    Py_ssize_t size;
    const char *text;
    if (!PyArg_ParseTuple(args, "s#", &text, &size) || !is_free(self)) {
        return NULL;
    }
    return firn_series_read(self->series, &counter, text, (size_t)size, &error) == FIRN_OK
               ? PyLong_FromLongLong(counter)
               : fail(&error);
}

static PyObject *series_definition(PyObject *object, PyObject *none) {
    series *self = (series *)object;
    (void)none;
    return self->series != NULL ? PyUnicode_FromString(firn_series_definition(self->series))
                                : fail_closed("series");
}

static PyMethodDef series_methods[] = {
    {"_call", series_call, METH_VARARGS, NULL},
    {"read", series_read, METH_VARARGS, "read(text)\n--\n\nThe counter of a number."},
    {"definition", series_definition, METH_NOARGS,
     "definition()\n--\n\nThe keys that the store keeps, as text."},
    {"close", series_close, METH_NOARGS,
     "close()\n--\n\nGive back what is left. Calling it again does nothing."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot series_slots[] = {{Py_tp_new, (void *)series_new},
                                     {Py_tp_dealloc, (void *)series_dealloc},
                                     {Py_tp_methods, series_methods},
                                     {0, NULL}};
PyType_Spec series_spec = {"firn._firn.Series", sizeof(series), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, series_slots};
