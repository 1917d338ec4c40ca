/* SPDX-License-Identifier: MIT */
/* The engine of stores: reserve, give back and relabel as rounds of read, law, write and confirm,
 * over any driver. Knows no database and no generator. */
#ifndef FIRN_ENGINE_H
#define FIRN_ENGINE_H

#include <firn/store.h>

extern const firn_store_ops firn__engine_ops;

/* Makes the handle of firn__engine_ops for a driver's. It closes that one, also if it fails. */
int firn__engine_make(void **self, const firn_driver *driver, void *driven, firn_error *error);
/* As firn_store_others. */
int firn__engine_others(void *self, firn_visit *visit, void *context, firn_error *error);
/* Which store it is, as firn__store_known. */
int firn__engine_known(void *self, firn_records *seen, firn_error *error);
/* As firn__store_forget. */
void firn__engine_forget(void *self, const char *ns, const char *key);
/* As firn_store_relabel. */
int firn__engine_relabel(void *self, const firn_relabel *change, int64_t *floor, firn_error *error);

#endif
