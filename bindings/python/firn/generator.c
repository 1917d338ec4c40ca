/* SPDX-License-Identifier: MIT */
/* Generators, and iterators over their blocks.
 *
 * A call takes an ID of the window with the GIL held, and asks no store. If no slot is left, it
 * waits for the renewer without the GIL. */
#include "firn_python.h"

#include <stdlib.h>
#include <string.h>

#define TRIES 4 /* steps that one call waits for: each follows a window that others used up */

typedef struct generator {
    PyObject_HEAD firn_gen *gen; /* NULL: closed */
    renewer *renewer;            /* NULL: it has no window to renew */
    int result, form;
    char prefix[FIRN_PREFIX_SIZE]; /* of TypeIDs */
    bool online;                   /* each call asks the store */
    bool sleeps;                   /* a call may sleep for its turn, or is online */
    users busy;                    /* calls that run without the GIL */
} generator;

static PyObject *generator_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"scheme", "keys",   "store",  "module_dir",
                            "note",   "output", "unsafe", NULL};
    const char *scheme, *keys, *store, *dir, *note, *output;
    int unsafe = 0;
    firn_error error = {0};
    firn_gen *gen = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, named, "sszzzzp", names, &scheme, &keys, &store, &dir,
                                     &note, &output, &unsafe)) {
        return NULL;
    }
    const firn_store_options options = {.module_dir = dir, .unsafe = unsafe != 0};
    const bool online = strstr(keys, "mode=online") != NULL;
    const firn_config config = {.size = sizeof config,
                                .scheme = scheme,
                                .keys = keys,
                                .store_url = store,
                                .store_options = &options,
                                .note = note,
                                .has_renewer = !online};
    PyThreadState *state = store_begin();
    const int code = firn_open_with(&gen, &config, &error);
    store_end(state);
    if (code != FIRN_OK) {
        return fail(&error);
    }
    int form, result = result_of(firn_gen_scheme(gen), output, &form);
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    generator *self = result >= 0 ? (generator *)allocate(type, 0) : NULL;
    if (self == NULL) {
        firn_close(gen, NULL);
        return NULL;
    }
    firn_status status = {.size = sizeof status};
    firn_gen_status(gen, &status);
    self->gen = gen;
    self->form = form;
    self->result = result;
    strcpy(self->prefix, firn_gen_prefix(gen));
    self->online = online;
    self->sleeps = online || strstr(keys, "full=wait") != NULL || strstr(keys, "back=wait") != NULL;
    if (status.reserved && !online && (self->renewer = renewer_new(gen)) == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

/* Gives windows back and frees; -1 with an exception if giving back failed. */
static int generator_shut(generator *self) {
    firn_gen *gen = self->gen;
    renewer *renewer = self->renewer;
    firn_error error = {0};
    if (gen == NULL) {
        return 0;
    }
    if (*users_of(&self->busy) > 0) {
        firn_error_set(&error, FIRN_EUSAGE, 0,
                       "another thread uses the generator: close it after its threads");
        fail(&error);
        return -1;
    }
    self->gen = NULL;
    self->renewer = NULL;
    if (renewer != NULL) {
        renewer_end(renewer);
    }
    PyThreadState *state = store_begin();
    const int code = firn_close(gen, &error);
    store_end(state);
    if (code != FIRN_OK) {
        fail(&error);
        return -1;
    }
    return 0;
}

static void generator_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    generator *self = (generator *)object;
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (self->gen != NULL && (self->renewer == NULL || !renewer_leave(self->renewer))) {
        firn_close(self->gen, NULL); /* with the GIL: the interpreter may be ending */
    }
    PyErr_Restore(kind, value, trace);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* After a call answered `code`: true if it is worth another try, with a window that was renewed. */
static bool generator_again(generator *self, int *code, int tries, firn_error *error) {
    if (*code != FIRN_EWINDOW || self->renewer == NULL || tries >= TRIES) {
        return false;
    }
    ++*users_of(&self->busy);
    *code = renewer_wait(self->renewer, error);
    --*users_of(&self->busy);
    return *code == FIRN_OK && self->gen != NULL;
}

static PyObject *failed(int code, const firn_error *error) {
    return code == RAISED ? NULL : fail(error);
}

typedef struct span {
    generator *self;
    PyThreadState *state;
    bool asks;
} span;

/* Around a call without the GIL. `asks`: it may ask the store. */
static span generator_begin(generator *self, bool asks) {
    ++*users_of(&self->busy);
    return (span){self, asks ? store_begin() : PyEval_SaveThread(), asks};
}

static void generator_end(const span *call) {
    if (call->asks) {
        store_end(call->state);
    } else {
        PyEval_RestoreThread(call->state);
    }
    --*users_of(&call->self->busy);
}

/* Issues one ID. With `waits`, also if that takes time. */
static int generator_one(generator *self, firn_id *id, bool waits, firn_error *error) {
    int code, tries = 0;
    do {
        if (self->gen == NULL) {
            fail_closed("generator");
            return RAISED;
        }
        if (self->sleeps && !waits) {
            return FIRN_EWINDOW;
        }
        if (self->sleeps) {
            const span call = generator_begin(self, self->online);
            code = firn_next(self->gen, id, error);
            generator_end(&call);
        } else {
            code = firn_next(self->gen, id, error);
        }
    } while (waits && generator_again(self, &code, tries++, error));
    return code;
}

static PyObject *generator_next(PyObject *object, PyObject *none) {
    generator *self = (generator *)object;
    firn_error error = {0};
    firn_id id;
    (void)none;
    const int code = generator_one(self, &id, true, &error);
    return code == FIRN_OK ? id_object(&id, self->result, self->form, self->prefix)
                           : failed(code, &error);
}

/* Returns one ID, or None if next would wait. */
static PyObject *generator_now(PyObject *object, PyObject *none) {
    generator *self = (generator *)object;
    firn_error error = {0};
    firn_id id;
    (void)none;
    const int code = generator_one(self, &id, false, &error);
    if (code == FIRN_EWINDOW) {
        Py_RETURN_NONE;
    }
    return code == FIRN_OK ? id_object(&id, self->result, self->form, self->prefix)
                           : failed(code, &error);
}

/* `count` IDs as raw memory: uint64_t for up to 64 bits, else firn_id. */
static int generator_fill(generator *self, void *out, Py_ssize_t count, const firn_time *instant) {
    firn_error error = {0};
    int code, tries = 0;
    do {
        if (self->gen == NULL) {
            fail_closed("generator");
            return -1;
        }
        const span call = generator_begin(self, self->online || instant != NULL);
        if (instant != NULL) {
            code = firn_at(self->gen, instant, out, (size_t)count, &error);
        } else if (firn_gen_scheme(self->gen)->bits <= 64) {
            code = firn_next_u64(self->gen, out, (size_t)count, &error);
        } else {
            code = firn_next_n(self->gen, out, (size_t)count, &error);
        }
        generator_end(&call);
    } while (generator_again(self, &code, tries++, &error));
    if (code != FIRN_OK) {
        failed(code, &error);
        return -1;
    }
    return 0;
}

static bool count_is_good(Py_ssize_t count) {
    firn_error error;
    if (count >= 0 && count <= 1 << 27) {
        return true;
    }
    firn_error_set(&error, FIRN_ERANGE, 0, "%zd IDs at once: ask for 0 to %d", count, 1 << 27);
    fail(&error);
    return false;
}

static PyObject *generator_many(PyObject *object, PyObject *args) {
    generator *self = (generator *)object;
    Py_ssize_t count;
    firn_time instant;
    long long sec;
    if (!PyArg_ParseTuple(args, "n|Li", &count, &sec, &instant.ns) || !count_is_good(count)) {
        return NULL;
    }
    bool dated = PyTuple_Size(args) > 1;
    instant.sec = dated ? sec : 0;
    uint32_t bits = self->gen != NULL ? firn_gen_scheme(self->gen)->bits : 64;
    bool wide = bits > 64 || dated;
    size_t size = (size_t)count * (wide ? sizeof(firn_id) : sizeof(uint64_t));
    void *raw = malloc(size > 0 ? size : 1);
    PyObject *list = NULL;
    if (raw == NULL) {
        return PyErr_NoMemory();
    }
    if (generator_fill(self, raw, count, dated ? &instant : NULL) == 0) {
        list = PyList_New(count);
    }
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        firn_id id = wide ? ((firn_id *)raw)[i] : (firn_id){((uint64_t *)raw)[i], 0, 0, bits};
        PyObject *item = id_object(&id, self->result, self->form, self->prefix);
        if (item == NULL || PyList_SetItem(list, i, item) != 0) {
            Py_CLEAR(list);
        }
    }
    free(raw);
    return list;
}

/* The memory of an array of IDs: uint64 in the machine's order, or bytes with the most significant
 * first. */
static PyObject *generator_raw(PyObject *object, PyObject *args) {
    generator *self = (generator *)object;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "n", &count) || !count_is_good(count)) {
        return NULL;
    }
    if (self->gen == NULL) {
        return fail_closed("generator");
    }
    uint32_t bits = firn_gen_scheme(self->gen)->bits;
    Py_ssize_t stride = bits <= 64 ? 8 : (Py_ssize_t)(bits + 7) / 8;
    PyObject *array = PyByteArray_FromStringAndSize(NULL, count * stride);
    if (array == NULL) {
        return NULL;
    }
    uint8_t *out = (uint8_t *)PyByteArray_AsString(array);
    if (bits <= 64) {
        uint64_t none;
        if (generator_fill(self, count > 0 ? (void *)out : &none, count, NULL) != 0) {
            Py_CLEAR(array);
        }
        return array;
    }
    firn_id *ids = malloc((size_t)count * sizeof *ids + 1);
    if (ids == NULL || generator_fill(self, ids, count, NULL) != 0) {
        if (ids == NULL) {
            PyErr_NoMemory();
        }
        Py_CLEAR(array);
    }
    for (Py_ssize_t i = 0; array != NULL && i < count; i++) {
        firn_id_bytes(out + i * stride, &ids[i]);
    }
    free(ids);
    return array;
}

static PyObject *generator_close(PyObject *object, PyObject *none) {
    (void)none;
    if (generator_shut((generator *)object) != 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *generator_status(PyObject *object, PyObject *none) {
    generator *self = (generator *)object;
    firn_status status = {.size = sizeof status};
    (void)none;
    if (self->gen == NULL) {
        return fail_closed("generator");
    }
    firn_gen_status(self->gen, &status);
    return Py_BuildValue(
        "{s:O,s:O,s:K,s:L,s:L,s:L,s:L,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:O,s:O}", "reserved",
        status.reserved ? Py_True : Py_False, "held", status.held ? Py_True : Py_False, "node",
        (unsigned long long)status.node, "first", (long long)status.first, "next",
        (long long)status.next, "end", (long long)status.end, "lead_ns", (long long)status.lead_ns,
        "claims", (unsigned long long)status.claims, "renewals",
        (unsigned long long)status.renewals, "give_backs", (unsigned long long)status.give_backs,
        "store_errors", (unsigned long long)status.store_errors, "steps_back_absorbed",
        (unsigned long long)status.steps_back_absorbed, "steps_back_left",
        (unsigned long long)status.steps_back_left, "jumps_ahead",
        (unsigned long long)status.jumps_ahead, "unsafe", status.unsafe ? Py_True : Py_False,
        "stays", status.stays ? Py_True : Py_False);
}

static PyObject *generator_layout(PyObject *object, PyObject *none) {
    generator *self = (generator *)object;
    char text[FIRN_LAYOUT_SIZE];
    (void)none;
    if (self->gen == NULL) {
        return fail_closed("generator");
    }
    const firn_scheme *scheme = firn_gen_scheme(self->gen);
    return Py_BuildValue("(ssI)", scheme->name, firn_scheme_layout(text, scheme),
                         (unsigned)scheme->bits);
}

/* ---- blocks ---- */

/* An iterator that takes IDs from a block. The generator lives as long as it. */
typedef struct ids {
    PyObject_HEAD generator *owner;
    firn_block *block;
    uint32_t bits;
    users busy; /* threads that fill the block without the GIL: one */
} ids;

static PyObject *generator_ids(PyObject *object, PyObject *args) {
    generator *self = (generator *)object;
    long long age_us;
    firn_error error = {0};
    if (!PyArg_ParseTuple(args, "L", &age_us)) {
        return NULL;
    }
    if (self->gen == NULL) {
        return fail_closed("generator");
    }
    const firn_shared *shared = firn_python();
    if (shared == NULL) {
        return NULL;
    }
    allocfunc allocate = PyType_GetSlot(shared->ids, Py_tp_alloc);
    ids *made = (ids *)allocate(shared->ids, 0);
    if (made == NULL) {
        return NULL;
    }
    if (firn_block_open(&made->block, self->gen, age_us, &error) != FIRN_OK) {
        Py_DECREF(made);
        return fail(&error);
    }
    made->owner = self;
    made->bits = firn_gen_scheme(self->gen)->bits;
    Py_INCREF(self);
    return (PyObject *)made;
}

static PyObject *ids_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    (void)type;
    (void)args;
    (void)named;
    PyErr_SetString(PyExc_TypeError, "an iterator cannot be made: call ids() of a generator");
    return NULL;
}

static void ids_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    ids *self = (ids *)object;
    firn_block_close(self->block);
    Py_XDECREF((PyObject *)self->owner);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* The GIL stays, unless the calls of the generator take time. */
static int ids_take(ids *self, void *id, firn_error *error) {
    if (!self->owner->sleeps) {
        return firn_block_next(self->block, id, error);
    }
    if (*users_of(&self->busy) > 0) {
        firn_error_set(error, FIRN_EUSAGE, 0,
                       "another thread uses the iterator: use one in each thread");
        return FIRN_EUSAGE;
    }
    ++*users_of(&self->busy);
    const span call = generator_begin(self->owner, self->owner->online);
    const int code = firn_block_next(self->block, id, error);
    generator_end(&call);
    --*users_of(&self->busy);
    return code;
}

static PyObject *ids_next(PyObject *object) {
    ids *self = (ids *)object;
    firn_error error = {0};
    union {
        uint64_t number;
        uint8_t bytes[20];
    } raw;
    firn_id id;
    int code, tries = 0;
    do {
        if (self->owner->gen == NULL) {
            return fail_closed("generator");
        }
        code = ids_take(self, &raw, &error);
    } while (generator_again(self->owner, &code, tries++, &error));
    if (code != FIRN_OK) {
        return failed(code, &error);
    }
    if (self->bits > 64 && self->owner->result == RESULT_UUID) {
        return uuid_of(raw.bytes);
    }
    if (self->bits > 64) {
        firn_id_from_bytes(&id, raw.bytes, self->bits, NULL);
    } else {
        id = (firn_id){raw.number, 0, 0, self->bits};
    }
    return id_object(&id, self->owner->result, self->owner->form, self->owner->prefix);
}

static PyMethodDef generator_methods[] = {
    {"next", generator_next, METH_NOARGS, "next()\n--\n\nIssue one ID: strict order, fresh time."},
    {"_now", generator_now, METH_NOARGS, NULL},
    {"_many", generator_many, METH_VARARGS, NULL},
    {"_raw", generator_raw, METH_VARARGS, NULL},
    {"_ids", generator_ids, METH_VARARGS, NULL},
    {"_status", generator_status, METH_NOARGS, NULL},
    {"_layout", generator_layout, METH_NOARGS, NULL},
    {"close", generator_close, METH_NOARGS,
     "close()\n--\n\nGive the window back to the store. Calling it again does nothing."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot generator_slots[] = {{Py_tp_new, (void *)generator_new},
                                        {Py_tp_dealloc, (void *)generator_dealloc},
                                        {Py_tp_methods, generator_methods},
                                        {0, NULL}};
PyType_Spec generator_spec = {"firn._firn.Generator", sizeof(generator), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, generator_slots};

static PyType_Slot ids_slots[] = {{Py_tp_new, (void *)ids_new},
                                  {Py_tp_dealloc, (void *)ids_dealloc},
                                  {Py_tp_iter, (void *)PyObject_SelfIter},
                                  {Py_tp_iternext, (void *)ids_next},
                                  {0, NULL}};
PyType_Spec ids_spec = {"firn._firn.Ids", sizeof(ids), 0, Py_TPFLAGS_DEFAULT, ids_slots};
