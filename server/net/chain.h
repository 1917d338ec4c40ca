/* SPDX-License-Identifier: MIT */
/* Doubly linked lists whose links are members of the entries. */
#ifndef FIRN_CHAIN_H
#define FIRN_CHAIN_H

#include <stdbool.h>

/* Head or member; alone, it is an empty list. */
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

/* Adds it at the end. */
static inline void chain_add(chain *list, chain *it) {
    it->next = list;
    it->before = list->before;
    list->before->next = it;
    list->before = it;
}

/* Moves all members of `from` to the end. */
static inline void chain_add_all(chain *list, chain *from) {
    if (!chain_is_alone(from)) {
        from->next->before = list->before;
        list->before->next = from->next;
        from->before->next = list;
        list->before = from->before;
        chain_clear(from);
    }
}

#endif
