/* SPDX-License-Identifier: MIT */
/* Doubly linked lists whose links are members of the entries. */
#ifndef FIRN_LIST_H
#define FIRN_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Head or member; alone, it is an empty list. */
typedef struct list_link {
    struct list_link *next, *before;
} list_link;

/* The entry that has this link as its member. */
#define list_entry(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void list_clear(list_link *link) {
    link->next = link->before = link;
}

static inline bool list_is_empty(const list_link *link) {
    return link->next == link;
}

static inline void list_remove(list_link *link) {
    link->before->next = link->next;
    link->next->before = link->before;
    list_clear(link);
}

/* Adds it at the end. */
static inline void list_add(list_link *list, list_link *link) {
    link->next = list;
    link->before = list->before;
    list->before->next = link;
    list->before = link;
}

/* Moves all members of `from` to the end. */
static inline void list_add_all(list_link *list, list_link *from) {
    if (!list_is_empty(from)) {
        from->next->before = list->before;
        list->before->next = from->next;
        from->before->next = list;
        list->before = from->before;
        list_clear(from);
    }
}

#endif
