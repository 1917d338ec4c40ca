/* SPDX-License-Identifier: MIT */
/* Modules: parts of firn that need another library, loaded on first use, so that nothing else pays
 * for them. Knows their places, not their functions. */
#ifndef FIRN_MODULE_H
#define FIRN_MODULE_H

#include <stddef.h>

#define FIRN__MODULE_WHY 96

/* Loads the module `name` from `dir` (may be NULL), from the folder of this library, or from where
 * it is installed. NULL: `why` is the loader's error, or "". */
void *firn__module_open(const char *name, const char *dir, char why[FIRN__MODULE_WHY]);
/* NULL: the module has no such symbol. */
void *firn__module_symbol(void *module, const char *symbol);
void firn__module_close(void *module);
/* The folder for installing it, for errors. */
const char *firn__module_place(void);

#endif
