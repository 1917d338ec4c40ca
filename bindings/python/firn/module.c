/* SPDX-License-Identifier: MIT */
/* The module _firn: types, functions and codes. */
#include "firn_python.h"

#include <string.h>

static int add(PyObject *module, const char *name, PyObject *object) {
    Py_XINCREF(object);
    if (object != NULL && PyModule_AddObject(module, name, object) == 0) {
        return 0;
    }
    Py_XDECREF(object);
    return -1;
}

static int add_type(PyObject *module, PyTypeObject **type, PyType_Spec *spec, const char *name) {
    *type = (PyTypeObject *)PyType_FromSpec(spec);
    return add(module, name, (PyObject *)*type);
}

static int add_codes(PyObject *module) {
    PyObject *codes = PyDict_New();
    int bad = codes == NULL;
#define FIRN_X(name, value, text)                                                                  \
    if (!bad) {                                                                                    \
        PyObject *one = Py_BuildValue("(is)", (value), (text));                                    \
        bad = one == NULL || PyDict_SetItemString(codes, #name, one) != 0;                         \
        Py_XDECREF(one);                                                                           \
    }
    FIRN_ERRORS(FIRN_X)
#undef FIRN_X
    bad = bad || PyModule_AddObject(module, "codes", codes) != 0;
    return bad ? -1 : PyModule_AddStringConstant(module, "version", firn_version());
}

static int take_uuid(firn_shared *shared) {
    PyObject *uuid = PyImport_ImportModule("uuid");
    PyObject *safe = uuid != NULL ? PyObject_GetAttrString(uuid, "SafeUUID") : NULL;
    shared->uuid = uuid != NULL ? (PyTypeObject *)PyObject_GetAttrString(uuid, "UUID") : NULL;
    shared->safe = safe != NULL ? PyObject_GetAttrString(safe, "unknown") : NULL;
    shared->int_name = PyUnicode_InternFromString("int");
    shared->is_safe_name = PyUnicode_InternFromString("is_safe");
    Py_XDECREF(uuid);
    Py_XDECREF(safe);
    return shared->uuid != NULL && shared->safe != NULL && shared->int_name != NULL &&
                   shared->is_safe_name != NULL
               ? 0
               : -1;
}

static int shared_clear(PyObject *module) {
    firn_shared *shared = PyModule_GetState(module);
    Py_CLEAR(shared->errors);
    Py_CLEAR(shared->uuid);
    Py_CLEAR(shared->safe);
    Py_CLEAR(shared->int_name);
    Py_CLEAR(shared->is_safe_name);
    Py_CLEAR(shared->generator);
    Py_CLEAR(shared->segment);
    Py_CLEAR(shared->order);
    Py_CLEAR(shared->series);
    Py_CLEAR(shared->mask);
    Py_CLEAR(shared->job);
    return 0;
}

static void shared_free(void *module) {
    shared_clear(module);
}

static struct PyModuleDef module_def = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "_firn",
                                        .m_size = sizeof(firn_shared),
                                        .m_methods = pure_functions,
                                        .m_clear = shared_clear,
                                        .m_free = shared_free};

firn_shared *firn_python(void) {
    PyObject *module = PyState_FindModule(&module_def);
    firn_shared *shared = module != NULL ? PyModule_GetState(module) : NULL;
    if (shared == NULL || shared->uuid == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "firn is unloaded: the interpreter ends");
        return NULL;
    }
    return shared;
}

PyMODINIT_FUNC PyInit__firn(void) {
    if (strcmp(firn_version(), FIRN_VERSION) != 0) {
        PyErr_Format(PyExc_ImportError,
                     "libfirn is version %s, this package is for %s: install both from one release",
                     firn_version(), FIRN_VERSION);
        return NULL;
    }
    PyObject *module = PyModule_Create(&module_def);
    firn_shared *shared = module != NULL ? PyModule_GetState(module) : NULL;
    if (shared == NULL || take_uuid(shared) != 0 ||
        add_type(module, &shared->generator, &generator_spec, "Generator") != 0 ||
        add_type(module, &shared->segment, &segment_spec, "Segment") != 0 ||
        add_type(module, &shared->order, &order_spec, "Order") != 0 ||
        add_type(module, &shared->series, &series_spec, "Series") != 0 ||
        add_type(module, &shared->mask, &mask_spec, "Mask") != 0 ||
        add_type(module, &shared->job, &job_spec, "Job") != 0 || add_codes(module) != 0 ||
        PyModule_AddFunctions(module, renewer_functions) != 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
