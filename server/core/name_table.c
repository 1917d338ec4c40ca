/* SPDX-License-Identifier: MIT */
#include "name_table.h"

#include "../src/hash.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Chosen collisions slow down only lookups of the colliding names. */
static size_t hash_of(word name) {
    uint64_t hash = firn__hash(FIRN__HASH_START, name.text, name.length);
    return (size_t)(hash ^ hash >> 32);
}

static bool is_named(const void *thing, word name) {
    const char *own = thing;
    return strnlen(own, NAME_SIZE) == name.length && memcmp(own, name.text, name.length) == 0;
}

void *name_table_find(const name_table *in, word name) {
    if (in->size == 0 || name.length == 0) {
        return NULL;
    }
    for (size_t i = hash_of(name);; i++) { /* ends, because half of the slots stay empty */
        void *thing = atomic_load_explicit(&in->slots[i & (in->size - 1)], memory_order_acquire);
        if (thing == NULL || is_named(thing, name)) {
            return thing;
        }
    }
}

bool name_table_is_full(const name_table *in) {
    return atomic_load_explicit(&in->count, memory_order_seq_cst) >= in->most;
}

void name_table_add(name_table *table, void *thing) {
    size_t count = atomic_load_explicit(&table->count, memory_order_seq_cst),
           i = hash_of(word_of(thing));
    while (atomic_load_explicit(&table->slots[i & (table->size - 1)], memory_order_seq_cst) !=
           NULL) {
        i++;
    }
    atomic_store_explicit(&table->all[count], thing, memory_order_release);
    atomic_store_explicit(&table->slots[i & (table->size - 1)], thing, memory_order_release);
    atomic_store_explicit(&table->count, count + 1, memory_order_release);
}

void *name_table_at(const name_table *in, size_t i) {
    return i < atomic_load_explicit(&in->count, memory_order_acquire)
               ? atomic_load_explicit(&in->all[i], memory_order_acquire)
               : NULL;
}

bool name_table_make(name_table *table, size_t most) {
    size_t size = 16;
    while (size < most * 2 + 2) {
        size *= 2;
    }
    *table = (name_table){.most = most, .size = size};
    table->all = calloc(most + 1, sizeof *table->all);
    table->slots = calloc(size, sizeof *table->slots);
    return table->all != NULL && table->slots != NULL;
}

void name_table_free(name_table *table) {
    free(table->all);
    free(table->slots);
    *table = (name_table){0};
}
