/* SPDX-License-Identifier: MIT */
/* Named jobs: IDs for records that have a time. Opening asks the store; issuing does not need it, so
 * that it keeps the GIL, which lets one thread at a time into a job. */
#include "firn_python.h"

typedef struct job {
    PyObject_HEAD firn_job *job; /* NULL: closed */
    int result, form;
    int64_t shift_ns; /* of the last record */
} job;

static PyObject *job_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"scheme",      "keys",  "name",       "digest", "seed",   "shift_ms",
                            "disorder_ms", "store", "module_dir", "unsafe", "output", NULL};
    const char *url, *dir, *output;
    unsigned long long digest;
    long long shift_ms, disorder_ms;
    int unsafe = 0, code = FIRN_OK;
    firn_error error = {0};
    firn_job_config config = {.size = sizeof config};
    firn_job *made = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, named, "sszKzLLzzpz", names, &config.scheme,
                                     &config.keys, &config.name, &digest, &config.seed, &shift_ms,
                                     &disorder_ms, &url, &dir, &unsafe, &output)) {
        return NULL;
    }
    const firn_store_options options = {.module_dir = dir, .unsafe = unsafe != 0};
    config.digest = digest;
    config.shift_ms = shift_ms;
    config.disorder_ms = disorder_ms;
    PyThreadState *state = store_begin();
    if (config.name != NULL || url != NULL) {
        code = firn_store_open(&config.store, url, &options, &error);
    }
    code = code == FIRN_OK ? firn_job_open(&made, &config, &error) : code;
    if (config.store != NULL) {
        firn_store_close(config.store);
    }
    store_end(state);
    if (code != FIRN_OK) {
        return fail(&error);
    }
    int form, result = result_of(firn_job_scheme(made), output, &form);
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    job *self = result >= 0 ? (job *)allocate(type, 0) : NULL;
    if (self == NULL) {
        firn_job_close(made);
        return NULL;
    }
    self->job = made;
    self->result = result;
    self->form = form;
    return (PyObject *)self;
}

static void job_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    firn_job_close(((job *)object)->job);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* job._next(sec, ns): the ID of the next record. */
static PyObject *job_next(PyObject *object, PyObject *args) {
    job *self = (job *)object;
    firn_error error = {0};
    firn_time time;
    firn_id id;
    long long sec;
    if (!PyArg_ParseTuple(args, "Li", &sec, &time.ns)) {
        return NULL;
    }
    time.sec = sec;
    if (self->job == NULL) {
        return fail_closed("job");
    }
    return firn_job_next(self->job, &time, &id, &self->shift_ns, &error) == FIRN_OK
               ? id_object(&id, self->result, self->form, "")
               : fail(&error);
}

static PyObject *job_close(PyObject *object, PyObject *none) {
    job *self = (job *)object;
    (void)none;
    firn_job_close(self->job);
    self->job = NULL;
    Py_RETURN_NONE;
}

static PyObject *job_again(PyObject *object, void *none) {
    job *self = (job *)object;
    (void)none;
    return self->job != NULL ? PyBool_FromLong(firn_job_again(self->job)) : fail_closed("job");
}

static PyObject *job_shift(PyObject *object, void *none) {
    (void)none;
    return PyLong_FromLongLong(((job *)object)->shift_ns);
}

static PyMethodDef job_methods[] = {
    {"_next", job_next, METH_VARARGS, NULL},
    {"close", job_close, METH_NOARGS,
     "close()\n--\n\nErase what follows from the seed. Calling it again does nothing."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef job_properties[] = {
    {"again", job_again, NULL, "Was the job started before? False without a store.", NULL},
    {"shift_ns", job_shift, NULL,
     "By how many nanoseconds the ID of the last record is later than the record.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot job_slots[] = {{Py_tp_new, (void *)job_new},
                                  {Py_tp_dealloc, (void *)job_dealloc},
                                  {Py_tp_methods, job_methods},
                                  {Py_tp_getset, job_properties},
                                  {0, NULL}};
PyType_Spec job_spec = {"firn._firn.Job", sizeof(job), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        job_slots};
