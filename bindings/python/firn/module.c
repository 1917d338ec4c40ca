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

static int take_uuid(void) {
    PyObject *uuid = PyImport_ImportModule("uuid");
    PyObject *safe = uuid != NULL ? PyObject_GetAttrString(uuid, "SafeUUID") : NULL;
    firn_python.uuid = uuid != NULL ? (PyTypeObject *)PyObject_GetAttrString(uuid, "UUID") : NULL;
    firn_python.safe = safe != NULL ? PyObject_GetAttrString(safe, "unknown") : NULL;
    firn_python.int_name = PyUnicode_InternFromString("int");
    firn_python.is_safe_name = PyUnicode_InternFromString("is_safe");
    Py_XDECREF(uuid);
    Py_XDECREF(safe);
    return firn_python.uuid != NULL && firn_python.safe != NULL && firn_python.int_name != NULL &&
                   firn_python.is_safe_name != NULL
               ? 0
               : -1;
}

static struct PyModuleDef module_def = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "_firn", .m_size = -1, .m_methods = pure_functions};

PyMODINIT_FUNC PyInit__firn(void) {
    if (strcmp(firn_version(), FIRN_VERSION) != 0) {
        PyErr_Format(PyExc_ImportError,
                     "libfirn is version %s, this package is for %s: install both from one release",
                     firn_version(), FIRN_VERSION);
        return NULL;
    }
    PyObject *module = PyModule_Create(&module_def);
    if (module == NULL || take_uuid() != 0 ||
        add_type(module, &firn_python.generator, &generator_spec, "Generator") != 0 ||
        add_type(module, &firn_python.ids, &ids_spec, "Ids") != 0 ||
        add_type(module, &firn_python.segment, &segment_spec, "Segment") != 0 ||
        add_type(module, &firn_python.order, &order_spec, "Order") != 0 || add_codes(module) != 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
