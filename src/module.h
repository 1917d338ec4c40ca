/* SPDX-License-Identifier: MIT */
/* Modules: parts of firn that bring a library of their own, loaded when they are first used, so
 * that nothing else pays for them. Knows where they lie, not what they do. */
#ifndef FIRN_MODULE_H
#define FIRN_MODULE_H

#include <stddef.h>

#define FIRN__MODULE_WHY 96

/* The module `name` from `dir` (may be NULL), from beside this library, or from where it is
 * installed; dlclose releases it. NULL: `why` tells what the loader said, or is "". */
void *firn__module_open(const char *name, const char *dir, char why[FIRN__MODULE_WHY]);
/* The folder where it is to be installed, for people. */
const char *firn__module_place(void);

#endif
