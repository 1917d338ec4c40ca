/* SPDX-License-Identifier: MIT */
/* Entries by name, in a table that only grows. Lookups take no lock. The first member of an entry
 * is `char name[NAME_SIZE]`. */
#ifndef FIRN_NAME_TABLE_H
#define FIRN_NAME_TABLE_H

#include "text_view.h"

#include <stdatomic.h>

#define NAME_SIZE 64 /* bytes of a name, with its terminator */

/* `all` is in order of addition, `slots` by hash. An entry is complete before it can be found. */
typedef struct name_table {
    void *_Atomic *all, *_Atomic *slots;
    size_t most,
        size; /* sizes of `all` and `slots`; `slots` has a power of two, at least twice as large */
    _Atomic size_t count;
} name_table;

/* False: out of memory; call name_table_free in both cases. */
bool name_table_make(name_table *table, size_t most);
void name_table_free(name_table *table);
/* NULL: no entry has the name. Any thread. */
void *name_table_find(const name_table *in, word name);
/* The i-th, or NULL. Any thread. */
void *name_table_at(const name_table *in, size_t i);
bool name_table_is_full(const name_table *in);
/* For one thread at a time; the table must have room and no entry of that name. */
void name_table_add(name_table *table, void *thing);

#endif
