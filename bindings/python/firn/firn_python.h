/* SPDX-License-Identifier: MIT */
/* Declarations that the C files share. They use the limited API of Python 3.9; __init__.py makes it
 * Python's. */
#ifndef FIRN_PYTHON_H
#define FIRN_PYTHON_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <firn/firn.h>

#include <sys/types.h>

/* As which object an ID comes. */
enum firn_result { RESULT_INT, RESULT_UUID, RESULT_TEXT, RESULT_BYTES };

/* The state of one interpreter: mod_wsgi runs an application in each. One with its own GIL refuses
 * the module, because its initialization has one phase. */
typedef struct firn_shared {
    PyObject *errors;                  /* exceptions by code, from __init__.py */
    PyTypeObject *uuid;                /* uuid.UUID */
    PyObject *safe;                    /* uuid.SafeUUID.unknown */
    PyObject *int_name, *is_safe_name; /* the slots of a UUID */
    PyTypeObject *generator, *segment, *order, *series, *mask, *job;
} firn_shared;

/* The state of the running interpreter; NULL with an exception after the interpreter has unloaded
 * the module, at its end. */
firn_shared *firn_python(void);

/* Raises the exception of error->code, or says that something is closed. Both return NULL. */
PyObject *fail(const firn_error *error);
PyObject *fail_closed(const char *what);

/* object.c: IDs as Python's objects. */
PyObject *uuid_of(const uint8_t bytes[16]);
PyObject *id_object(const firn_id *id, int result, int form, const char *prefix);
/* "int", "uuid", "text", "bytes", a form, or NULL for what suits the scheme. -1 with an
 * exception. */
int result_of(const firn_scheme *scheme, const char *output, int *form);
/* The form of a name, or the scheme's own if it is NULL. False: an exception is set. */
bool form_of(int *form, const char *name, const firn_scheme *scheme);
/* An ID from an int, a uuid.UUID, bytes, or text in a form (NULL: the scheme's own). False: an
 * exception is set. */
bool id_of(firn_id *id, const firn_scheme *scheme, const char *form_name, PyObject *object);
/* An ID as the type that suits its scheme. */
PyObject *object_of(const firn_scheme *scheme, const firn_id *id);
/* The text of an ID in a form. `prefix`, of a TypeID, may be NULL. */
PyObject *text_of(const firn_id *id, int form, const char *prefix, size_t prefix_size);

/* renewer.c: renewers, forks, and calls on stores. All need the GIL. */
typedef struct renewer renewer;
#define RAISED 1 /* in place of a code: an exception is set */
/* NULL: out of memory. The thread begins with the first renewer_wait of its process. */
renewer *renewer_new(firn_gen *gen);
/* Waits for the end of a step, without the GIL: its code, or RAISED by the handler of a signal. */
int renewer_wait(renewer *r, firn_error *error);
/* Ends the thread, after its call on the store, and frees `r`. */
void renewer_end(renewer *r);
/* For an object that is collected: does not wait. True: the thread closes the generator and frees
 * `r`. False: freed. */
bool renewer_leave(renewer *r);
/* Around a call that may use a store, without the GIL. A fork waits until the call ends. */
PyThreadState *store_begin(void);
void store_end(PyThreadState *state);

/* How many threads use an object without the GIL. */
typedef struct users {
    pid_t process;
    int count;
} users;
int *users_of(users *owner); /* the count in this process */

extern PyType_Spec generator_spec, segment_spec, order_spec, series_spec, mask_spec, job_spec;
extern PyMethodDef pure_functions[], renewer_functions[];

#endif
