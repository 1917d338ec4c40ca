/* SPDX-License-Identifier: MIT */
/* Segments, order numbers and masks. */
#include "firn_python.h"

#include <string.h>

/* ---- segments ---- */

typedef struct segment {
    PyObject_HEAD firn_store *store;
    firn_segment *segment; /* NULL: closed */
    users busy;
} segment;

static PyObject *segment_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"key", "keys", "store", "module_dir", "unsafe", NULL};
    const char *key, *keys, *url, *dir;
    int unsafe = 0;
    firn_error error = {0};
    firn_store *store = NULL;
    firn_segment *made = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, named, "sszzp", names, &key, &keys, &url, &dir,
                                     &unsafe)) {
        return NULL;
    }
    const firn_store_options options = {
        .module_dir = dir, .unsafe = unsafe != 0, .later = strstr(keys, "reserve=") != NULL};
    PyThreadState *state = store_begin();
    int code = firn_store_open(&store, url, &options, &error);
    code = code == FIRN_OK ? firn_segment_open(&made, key, keys, store, NULL, &error) : code;
    store_end(state);
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    segment *self = code == FIRN_OK ? (segment *)allocate(type, 0) : NULL;
    if (self == NULL) {
        if (made != NULL) {
            firn_segment_close(made, NULL);
        }
        firn_store_close(store);
        return code != FIRN_OK ? fail(&error) : NULL;
    }
    self->store = store;
    self->segment = made;
    if (error.code != FIRN_OK && PyErr_WarnEx(PyExc_RuntimeWarning, error.text, 1) != 0) {
        Py_DECREF(self); /* the store is away, and the program makes warnings errors */
        return NULL;
    }
    return (PyObject *)self;
}

/* `shut` is the segment as it was before it was closed for others; NULL: it was closed already. */
static int segment_shut(firn_segment *shut, firn_store *store, firn_error *error) {
    const int code = shut != NULL ? firn_segment_close(shut, error) : FIRN_OK;
    if (shut != NULL) {
        firn_store_close(store);
    }
    return code;
}

static void segment_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    segment_shut(((segment *)object)->segment, ((segment *)object)->store, NULL);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyObject *segment_close(PyObject *object, PyObject *none) {
    segment *self = (segment *)object;
    firn_error error;
    (void)none;
    if (*users_of(&self->busy) > 0) {
        firn_error_set(&error, FIRN_EUSAGE, 0,
                       "another thread uses the segment: close it after its threads");
        return fail(&error);
    }
    firn_segment *shut = self->segment;
    self->segment = NULL;
    PyThreadState *state = store_begin();
    const int code = segment_shut(shut, self->store, &error);
    store_end(state);
    if (code != FIRN_OK) {
        return fail(&error);
    }
    Py_RETURN_NONE;
}

/* segment.call(verb, argument): next, block, peek or advance, which may ask the store. */
static PyObject *segment_call(PyObject *object, PyObject *args) {
    segment *self = (segment *)object;
    firn_error error = {0};
    const char *verb;
    long long argument = 0;
    int64_t value = 0;
    int code;
    if (!PyArg_ParseTuple(args, "s|L", &verb, &argument)) {
        return NULL;
    }
    if (self->segment == NULL) {
        return fail_closed("segment");
    }
    ++*users_of(&self->busy);
    PyThreadState *state = store_begin();
    switch (verb[0]) {
    case 'n':
        code = firn_segment_next(self->segment, &value, &error);
        break;
    case 'b':
        code = firn_segment_block(self->segment, argument, &value, &error);
        break;
    case 'p':
        code = firn_segment_peek(self->segment, &value, &error);
        break;
    default:
        code = firn_segment_advance(self->segment, argument, &value, &error);
    }
    store_end(state);
    --*users_of(&self->busy);
    return code == FIRN_OK ? PyLong_FromLongLong(value) : fail(&error);
}

/* The next integer, or None if next would wait. */
static PyObject *segment_now(PyObject *object, PyObject *none) {
    segment *self = (segment *)object;
    firn_error error = {0};
    int64_t value = 0, count = 0;
    (void)none;
    if (self->segment == NULL) {
        return fail_closed("segment");
    }
    const int code = firn_segment_take(self->segment, 1, &value, &count, NULL, &error);
    if (code == FIRN_EWINDOW) {
        Py_RETURN_NONE;
    }
    return code == FIRN_OK ? PyLong_FromLongLong(value) : fail(&error);
}

static PyObject *segment_increment(PyObject *object, PyObject *none) {
    segment *self = (segment *)object;
    (void)none;
    return self->segment != NULL ? PyLong_FromLongLong(firn_segment_increment(self->segment))
                                 : fail_closed("segment");
}

/* ---- order numbers ---- */

typedef struct order {
    PyObject_HEAD firn_order *order;
} order;

static PyObject *order_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"key", "keys", "module_dir", NULL};
    const char *key, *keys, *dir;
    Py_ssize_t size;
    firn_error error;
    firn_order *made = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, named, "y#sz", names, &key, &size, &keys, &dir)) {
        return NULL;
    }
    if (size != 16) {
        firn_error_set(&error, FIRN_EUSAGE, 0, "the key has %zd bytes: give 16", size);
        return fail(&error);
    }
    if (firn_order_open(&made, keys, (const uint8_t *)key, dir, &error) != FIRN_OK) {
        return fail(&error);
    }
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    order *self = (order *)allocate(type, 0);
    if (self == NULL) {
        firn_order_close(made);
        return NULL;
    }
    self->order = made;
    return (PyObject *)self;
}

static void order_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    firn_order_close(((order *)object)->order);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyObject *order_write(PyObject *object, PyObject *argument) {
    char text[FIRN_ORDER_SIZE];
    firn_error error = {0};
    unsigned long long integer = PyLong_AsUnsignedLongLong(argument);
    if (PyErr_Occurred() != NULL) {
        return NULL;
    }
    return firn_order_write(((order *)object)->order, text, integer, &error) == FIRN_OK
               ? PyUnicode_FromString(text)
               : fail(&error);
}

static PyObject *order_read(PyObject *object, PyObject *args) {
    uint64_t integer = 0;
    firn_error error = {0};
    Py_ssize_t size;
    const char *text;
    if (!PyArg_ParseTuple(args, "s#", &text, &size)) {
        return NULL;
    }
    return firn_order_read(((order *)object)->order, &integer, text, (size_t)size, &error) ==
                   FIRN_OK
               ? PyLong_FromUnsignedLongLong(integer)
               : fail(&error);
}

/* ---- masks ---- */

typedef struct mask {
    PyObject_HEAD firn_mask *mask;
} mask;

static PyObject *mask_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"keys", "key_file", "module_dir", NULL};
    const char *keys, *file, *dir;
    firn_error error;
    firn_mask *made = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, named, "ssz", names, &keys, &file, &dir)) {
        return NULL;
    }
    if (firn_mask_load(&made, keys, file, dir, &error) != FIRN_OK) {
        return fail(&error);
    }
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    mask *self = (mask *)allocate(type, 0);
    if (self == NULL) {
        firn_mask_close(made);
        return NULL;
    }
    self->mask = made;
    return (PyObject *)self;
}

static void mask_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    firn_mask_close(((mask *)object)->mask);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* mask.turn(text, back): another text. The interpreter lets one thread in at a time. */
static PyObject *mask_turn(PyObject *object, PyObject *args) {
    char out[FIRN_TEXT_SIZE];
    firn_error error = {0};
    Py_ssize_t size;
    const char *text;
    int back;
    if (!PyArg_ParseTuple(args, "s#p", &text, &size, &back)) {
        return NULL;
    }
    return (back != 0 ? firn_mask_read : firn_mask_write)(((mask *)object)->mask, out, text,
                                                          (size_t)size, &error) == FIRN_OK
               ? PyUnicode_FromString(out)
               : fail(&error);
}

static PyObject *mask_fingerprint(PyObject *object, PyObject *none) {
    (void)none;
    return PyUnicode_FromString(firn_mask_fingerprint(((mask *)object)->mask));
}

static PyMethodDef segment_methods[] = {
    {"_call", segment_call, METH_VARARGS, NULL},
    {"_now", segment_now, METH_NOARGS, NULL},
    {"_increment", segment_increment, METH_NOARGS, NULL},
    {"close", segment_close, METH_NOARGS,
     "close()\n--\n\nGive back what is left. Calling it again does nothing."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot segment_slots[] = {{Py_tp_new, (void *)segment_new},
                                      {Py_tp_dealloc, (void *)segment_dealloc},
                                      {Py_tp_methods, segment_methods},
                                      {0, NULL}};
PyType_Spec segment_spec = {"firn._firn.Segment", sizeof(segment), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, segment_slots};

static PyMethodDef order_methods[] = {
    {"write", order_write, METH_O, "write(integer)\n--\n\nThe order number of an integer."},
    {"read", order_read, METH_VARARGS, "read(text)\n--\n\nThe integer of an order number."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot order_slots[] = {{Py_tp_new, (void *)order_new},
                                    {Py_tp_dealloc, (void *)order_dealloc},
                                    {Py_tp_methods, order_methods},
                                    {0, NULL}};
PyType_Spec order_spec = {"firn._firn.Order", sizeof(order), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, order_slots};

static PyMethodDef mask_methods[] = {
    {"_turn", mask_turn, METH_VARARGS, NULL},
    {"fingerprint", mask_fingerprint, METH_NOARGS,
     "fingerprint()\n--\n\n8 hex digits that another key, name, width or version changes."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot mask_slots[] = {{Py_tp_new, (void *)mask_new},
                                   {Py_tp_dealloc, (void *)mask_dealloc},
                                   {Py_tp_methods, mask_methods},
                                   {0, NULL}};
PyType_Spec mask_spec = {"firn._firn.Mask", sizeof(mask), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, mask_slots};
