/* SPDX-License-Identifier: MIT */
/* src/module.c of static programs, which can load nothing: the store in a SQLite file is inside. */
#include "module.h"

#include <firn/firn.h>
#include <string.h>

extern const firn_store_ops firn_store_module; /* of modules/sqlite.c */
int firn_store_module_relabel(void *self, const firn_relabel *change, int64_t *floor,
                              firn_error *error); /* of modules/sqlite_relabel.c */

void *firn__module_open(const char *name, const char *dir, char why[FIRN__MODULE_WHY]) {
    (void)dir;
    why[0] = '\0';
    return strcmp(name, "sqlite") == 0 ? (void *)(uintptr_t)&firn_store_module : NULL;
}

void *firn__module_symbol(void *module, const char *symbol) {
    return strcmp(symbol, "firn_store_module_relabel") == 0
               ? (void *)(uintptr_t)firn_store_module_relabel
               : module;
}

void firn__module_close(void *module) {
    (void)module;
}

const char *firn__module_place(void) {
    return "a static firn (use the packaged one)";
}
