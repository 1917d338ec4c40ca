/* SPDX-License-Identifier: MIT */
/* src/module.c of static programs, which can load nothing: the store in a SQLite file is inside. */
#include "module.h"
#include <firn/store.h>

#include <string.h>

extern const firn_driver firn_store_driver; /* of modules/sqlite.c */

void *firn__module_open(const char *name, const char *dir, char why[FIRN__MODULE_WHY]) {
    (void)dir;
    why[0] = '\0';
    return strcmp(name, "sqlite") == 0 ? (void *)(uintptr_t)&firn_store_driver : NULL;
}

void *firn__module_symbol(void *module, const char *symbol) {
    return strcmp(symbol, "firn_store_driver") == 0 ? module : NULL;
}

void firn__module_close(void *module) {
    (void)module;
}

const char *firn__module_place(void) {
    return "a static firn (use the packaged one)";
}
