/* SPDX-License-Identifier: MIT */
/* Lists whose places lie in what they list. */
#ifndef FIRN_CHAIN_H
#define FIRN_CHAIN_H

#include <stdbool.h>

/* A list without a head of its own kind; one alone is an empty list. */
typedef struct chain {
    struct chain *next, *before;
} chain;

static inline void chain_clear(chain *it) {
    it->next = it->before = it;
}

static inline bool chain_is_alone(const chain *it) {
    return it->next == it;
}

static inline void chain_remove(chain *it) {
    it->before->next = it->next;
    it->next->before = it->before;
    chain_clear(it);
}

/* Last in the list. */
static inline void chain_add(chain *list, chain *it) {
    it->next = list;
    it->before = list->before;
    list->before->next = it;
    list->before = it;
}

#endif
