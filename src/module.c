/* SPDX-License-Identifier: MIT */
/* Finding and loading modules: see module.h. With FIRN_SQLITE the SQLite store is part of the
 * library, with FIRN_FF1 the cipher of order numbers and masks; with FIRN_PURE nothing is loaded. */
#include "module.h"

#include <firn/cipher.h>
#include <firn/store.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FIRN_MODULE_DIR
#define FIRN_MODULE_DIR "/usr/lib/firn"
#endif

#define PATH_SIZE 4200 /* a path and some more */

/* A module that is part of the library, by its only symbol; else NULL. */
static void *built_in(const char *name) {
    const void *symbol = NULL;
    (void)name;
#ifdef FIRN_SQLITE
    symbol = strcmp(name, "sqlite") == 0 ? &firn_store_driver : symbol;
#endif
#ifdef FIRN_FF1
    symbol = strcmp(name, "ff1") == 0 ? &firn_cipher_module : symbol;
#endif
    return (void *)(uintptr_t)symbol;
}

static bool is_built_in(const void *module) {
    return module != NULL && (module == built_in("sqlite") || module == built_in("ff1"));
}

#ifdef FIRN_PURE
#define LOADS false
#else
#define LOADS true
#endif

#ifdef FIRN_MODULE_DIR_ONLY /* the library may be in a folder where others write, such as /tmp */
#define LOOKS_BESIDE false
#else
#define LOOKS_BESIDE true
#endif

/* The folders next to the library, or to the program that contains it: PREFIX/lib/firn, or the
 * build folder. */
static void own_dirs(char beside[PATH_SIZE], char above[PATH_SIZE]) {
    Dl_info info = {.dli_fname = NULL};
    int known = dladdr((const void *)(uintptr_t)firn__module_open, &info);
    const char *file = known != 0 && info.dli_fname != NULL ? info.dli_fname : "";
    char path[PATH_SIZE];
    ssize_t length = -1;
    if (strchr(file, '/') == NULL || strcmp(file, program_invocation_name) == 0) {
        /* The program may be in another folder. */
        length = readlink("/proc/self/exe", path, sizeof path - 1);
    }
    if (length < 0) {
        length = snprintf(path, sizeof path, "%s", file);
    }
    path[(size_t)length < sizeof path ? (size_t)length : sizeof path - 1] = '\0';
    char *slash = strrchr(path, '/');
    if (slash != NULL) {
        *slash = '\0';
        snprintf(beside, PATH_SIZE, "%.4000s/firn", path);
        snprintf(above, PATH_SIZE, "%.4000s/../lib/firn", path);
    }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0 /* musl has no such flag */
#endif

/* A module uses its own libraries even where the program exports functions of the same names:
 * PostgreSQL has a json_object, which etcd's module would call instead of jansson's. A preloaded
 * library and a sanitizer, which replace functions of the C library, keep their precedence. */
static int load_flags(void) {
    const char *preloaded = getenv("LD_PRELOAD");
    bool replaced = SANITIZED || (preloaded != NULL && preloaded[0] != '\0') ||
                    dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace") != NULL;
    return RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | (replaced ? 0 : RTLD_DEEPBIND);
}

static void *load_from(const char *dir, const char *name) {
    char path[PATH_SIZE + 64];
    if (!LOADS || dir == NULL || dir[0] == '\0') {
        return NULL;
    }
    snprintf(path, sizeof path, "%s/%s.so", dir, name);
    return access(path, R_OK) == 0 ? dlopen(path, load_flags()) : NULL;
}

void *firn__module_open(const char *name, const char *dir, char why[FIRN__MODULE_WHY]) {
    char beside[PATH_SIZE] = "", above[PATH_SIZE] = "";
    if (LOOKS_BESIDE) {
        own_dirs(beside, above);
    }
    const char *dirs[] = {dir, beside, above, FIRN_MODULE_DIR};
    void *library = built_in(name);
    dlerror(); /* clears an old error */
    for (size_t i = 0; i < 4 && library == NULL; i++) {
        library = load_from(dirs[i], name);
    }
    const char *text = library == NULL ? dlerror() : NULL;
    snprintf(why, FIRN__MODULE_WHY, "%s", text != NULL ? text : "");
    return library;
}

void *firn__module_symbol(void *module, const char *symbol) {
    return is_built_in(module) ? module : dlsym(module, symbol);
}

void firn__module_close(void *module) {
    if (!is_built_in(module)) {
        dlclose(module);
    }
}

const char *firn__module_place(void) {
    return LOADS ? FIRN_MODULE_DIR : "a program with -DFIRN_PURE";
}
