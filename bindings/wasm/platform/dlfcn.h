/* SPDX-License-Identifier: MIT */
/* The modules that are built in: platform.c. */
#ifndef FIRN_WASM_DLFCN_H
#define FIRN_WASM_DLFCN_H

void *dlsym(void *library, const char *name);
int dlclose(void *library);

#endif
