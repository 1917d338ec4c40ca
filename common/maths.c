/* SPDX-License-Identifier: MIT */
/* See maths.h. */
#include "maths.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATUS_SYSTEM = 6 };

#ifdef FIRN_STATIC /* nothing is loaded: they are inside */
#include <math.h>
#define FIND(out, name) ((out) = (name))
#else
/* Where the C library holds them itself, nothing is loaded. */
static void *find(const char *name) {
    void *found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL) {
        void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL); /* stays open */
        found = library != NULL ? dlsym(library, name) : NULL;
    }
    if (found == NULL) {
        fprintf(stderr, "firn: the C library's %s is missing: install libm\n", name);
        exit(STATUS_SYSTEM);
    }
    return found;
}
#define FIND(out, name) (*(void **)&(out) = find(#name))
#endif

/* Threads that look for a function at once find the same one. */
#define FUNCTION(name, parameters, arguments)                                                      \
    double maths_##name parameters {                                                               \
        static double(*_Atomic known) parameters;                                                  \
        double(*call) parameters = atomic_load_explicit(&known, memory_order_relaxed);             \
        if (call == NULL) {                                                                        \
            FIND(call, name);                                                                      \
            atomic_store_explicit(&known, call, memory_order_relaxed);                             \
        }                                                                                          \
        return call arguments;                                                                     \
    }

FUNCTION(ceil, (double x), (x))
FUNCTION(exp, (double x), (x))
FUNCTION(expm1, (double x), (x))
FUNCTION(floor, (double x), (x))
FUNCTION(lgamma, (double x), (x))
FUNCTION(log, (double x), (x))
FUNCTION(log1p, (double x), (x))
FUNCTION(log2, (double x), (x))
FUNCTION(sqrt, (double x), (x))
FUNCTION(pow, (double x, double y), (x, y))
FUNCTION(ldexp, (double x, int n), (x, n))
