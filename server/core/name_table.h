/* SPDX-License-Identifier: MIT */
/* Things by name, in a table that only grows. Looking a name up takes no lock. The first member of
 * each thing is its name: `char name[NAME_SIZE]`. */
#ifndef FIRN_NAME_TABLE_H
#define FIRN_NAME_TABLE_H

#include "word.h"

#include <stdatomic.h>

#define NAME_SIZE 64 /* bytes of a generator's or a segment's name, with its zero */

/* `all` in the order in which they were added, `slots` by the hash of the name. A thing is complete
 * before it can be found. */
typedef struct name_table {
    void *_Atomic *all, *_Atomic *slots;
    size_t most, size; /* of `all` and of `slots`, a power of two at least twice as large */
    _Atomic size_t count;
} name_table;

/* False: no memory; call name_table_free in either case. */
bool name_table_make(name_table *it, size_t most);
void name_table_free(name_table *it);
/* NULL: no entry has the name. Any thread. */
void *name_table_find(const name_table *in, word name);
/* The i-th, or NULL. Any thread. */
void *name_table_at(const name_table *in, size_t i);
bool name_table_is_full(const name_table *in);
/* One thread at a time, when the table is not full and has no thing of that name. */
void name_table_add(name_table *to, void *thing);

#endif
