/* SPDX-License-Identifier: MIT */
/* See maths.h. */
#include "maths.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATUS_SYSTEM = 6 };

/* Where the C library holds them itself, as musl does, nothing is loaded. */
static void *find(const char *name) {
    static void *library;
    void *found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL && library == NULL) {
        library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    }
    if (found == NULL && library != NULL) {
        found = dlsym(library, name);
    }
    if (found == NULL) {
        fprintf(stderr, "firn: the C library's %s is missing: install libm\n", name);
        exit(STATUS_SYSTEM);
    }
    return found;
}

#define ONE_ARGUMENT(name)                                                                         \
    double maths_##name(double x) {                                                                \
        static double (*call)(double);                                                             \
        if (call == NULL) {                                                                        \
            *(void **)&call = find(#name);                                                         \
        }                                                                                          \
        return call(x);                                                                            \
    }

ONE_ARGUMENT(ceil)
ONE_ARGUMENT(exp)
ONE_ARGUMENT(expm1)
ONE_ARGUMENT(floor)
ONE_ARGUMENT(lgamma)
ONE_ARGUMENT(log)
ONE_ARGUMENT(log1p)
ONE_ARGUMENT(log2)
ONE_ARGUMENT(sqrt)

double maths_pow(double x, double y) {
    static double (*call)(double, double);
    if (call == NULL) {
        *(void **)&call = find("pow");
    }
    return call(x, y);
}

double maths_ldexp(double x, int n) {
    static double (*call)(double, int);
    if (call == NULL) {
        *(void **)&call = find("ldexp");
    }
    return call(x, n);
}
