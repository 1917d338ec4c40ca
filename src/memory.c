/* SPDX-License-Identifier: MIT */
/* The memory store: marks in a list of this process, for tests, benchmarks and generators that
 * share nothing. Not its children's: after a fork every verb fails. */
#include "bug.h"
#include "error.h"
#include "store.h"
#include "wiped.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    char ns[FIRN_NS_SIZE];
    char key[FIRN_KEY_SIZE];
    char note[FIRN_NOTE_SIZE];
    firn_mark mark;
} entry;

typedef struct space {
    char ns[FIRN_NS_SIZE];
    char *layout;
} space;

typedef struct memory {
    uint64_t *alive; /* wiped by a fork */
    entry *entries;  /* ordered by namespace and key */
    size_t count, size;
    space *spaces;
    size_t space_count;
    void (*failpoint)(void *self, const char *name);
    void *failpoint_self;
} memory;

static void fail_here(const memory *store, const char *name) {
    if (store->failpoint != NULL) {
        store->failpoint(store->failpoint_self, name);
    }
}

static int memory_open(void **self, const char *url, const firn_store_options *options,
                       firn_error *error) {
    int code;
    memory *store = calloc(1, sizeof *store);
    (void)url;
    if (store == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a memory store");
    }
    store->alive = firn__wiped(sizeof *store->alive, &code, error);
    if (store->alive == NULL) {
        free(store);
        return code;
    }
    *store->alive = 1;
    store->failpoint = options->failpoint;
    store->failpoint_self = options->failpoint_self;
    *self = store;
    return FIRN_OK;
}

static int check_alive(const memory *store, firn_error *error) {
    return *store->alive != 0
               ? FIRN_OK
               : firn_error_set(
                     error, FIRN_EFORKED, FIRN_CURE_OPEN_OWN,
                     "memory: belongs to the parent process: open a store of the child's own, "
                     "or one that both share, such as sqlite:PATH");
}

/* Where the key is, or would be; *found: it exists. */
static size_t find(const memory *store, const char *ns, const char *key, bool *found) {
    size_t low = 0, high = store->count;
    *found = false;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(store->entries[mid].ns, ns);
        order = order != 0 ? order : strcmp(store->entries[mid].key, key);
        if (order == 0) {
            *found = true;
            return mid;
        }
        if (order < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static int check_layout(memory *store, const char *ns, const char *layout, firn_error *error) {
    for (size_t i = 0; i < store->space_count; i++) {
        if (strcmp(store->spaces[i].ns, ns) == 0) {
            return strcmp(store->spaces[i].layout, layout) == 0
                       ? FIRN_OK
                       : firn_error_set(error, FIRN_ENAMESPACE, FIRN_CURE_OTHER_NAMESPACE,
                                        "namespace %.30s has layout '%.60s', not '%.60s': use "
                                        "another ns= for this one",
                                        ns, store->spaces[i].layout, layout);
        }
    }
    space *spaces = realloc(store->spaces, (store->space_count + 1) * sizeof *spaces);
    char *copy = strdup(layout);
    store->spaces = spaces != NULL ? spaces : store->spaces;
    if (spaces == NULL || copy == NULL) {
        free(copy);
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a namespace");
    }
    strcpy(spaces[store->space_count].ns, ns);
    spaces[store->space_count++].layout = copy;
    return FIRN_OK;
}

static int make_entry(memory *store, size_t at, const char *ns, const char *key,
                      firn_error *error) {
    if (store->count == store->size) {
        size_t size = store->size == 0 ? 16 : store->size * 2;
        entry *entries = realloc(store->entries, size * sizeof *entries);
        if (entries == NULL) {
            return firn__fail(error, FIRN_EMEMORY, "out of memory for a mark");
        }
        store->entries = entries;
        store->size = size;
    }
    memmove(store->entries + at + 1, store->entries + at, (store->count - at) * sizeof(entry));
    memset(&store->entries[at], 0, sizeof(entry));
    strcpy(store->entries[at].ns, ns);
    strcpy(store->entries[at].key, key);
    store->count++;
    return FIRN_OK;
}

static int memory_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                          firn_error *error) {
    memory *store = self;
    bool found;
    int code = check_alive(store, error);
    if (code == FIRN_OK) {
        code = check_layout(store, request->ns, request->layout, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    fail_here(store, "reserve.before");
    size_t at = find(store, request->ns, request->key, &found);
    int64_t high = found ? store->entries[at].mark.high : 0;
    int64_t start = high > request->earliest ? high : request->earliest;
    if (start > request->latest) {
        *held = store->entries[at].mark;
        return firn_error_set(
            error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
            "%s of %.60s is at " FIRN__VALUE("%" PRId64) ", past " FIRN__LIMIT("%" PRId64),
            request->key, request->ns, high, request->latest);
    }
    if (!found && (code = make_entry(store, at, request->ns, request->key, error)) != FIRN_OK) {
        return code;
    }
    entry *here = &store->entries[at];
    here->mark = (firn_mark){start + request->count, request->grant};
    strncpy(here->note, request->note != NULL ? request->note : "", sizeof here->note - 1);
    *first = start;
    fail_here(store, "reserve.committed");
    return FIRN_OK;
}

static int memory_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                            int64_t high, firn_error *error) {
    memory *store = self;
    bool found;
    int code = check_alive(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    fail_here(store, "give_back.before");
    size_t at = find(store, ns, key, &found);
    if (!found || store->entries[at].mark.high != mine->high || high > mine->high ||
        (store->entries[at].mark.grant != mine->grant && FIRN_BUG != FIRN_BUG_BYMARK)) {
        return firn__fail(error, FIRN_EBUSY, "%s of %.60s is no longer at the mark to give back",
                          key, ns);
    }
    store->entries[at].mark = (firn_mark){high, 0};
    fail_here(store, "give_back.committed");
    return FIRN_OK;
}

static int memory_list(void *self, const char *ns, firn_visit *visit, void *context,
                       firn_error *error) {
    memory *store = self;
    int code = check_alive(store, error);
    for (size_t i = 0; code == FIRN_OK && i < store->count; i++) {
        const entry *here = &store->entries[i];
        firn_holding holding = {here->ns, "", here->key, here->note, here->mark, 0};
        if (ns != NULL && strcmp(ns, here->ns) != 0) {
            continue;
        }
        for (size_t j = 0; j < store->space_count; j++) {
            holding.layout = strcmp(store->spaces[j].ns, here->ns) == 0 ? store->spaces[j].layout
                                                                        : holding.layout;
        }
        code = visit(context, &holding);
    }
    return code;
}

static void memory_close(void *self) {
    memory *store = self;
    for (size_t i = 0; i < store->space_count; i++) {
        free(store->spaces[i].layout);
    }
    firn__wiped_free(store->alive, sizeof *store->alive);
    free(store->spaces);
    free(store->entries);
    free(store);
}

const firn_store_ops firn__store_memory = {.version = 1,
                                           .scheme = "memory",
                                           .open = memory_open,
                                           .reserve = memory_reserve,
                                           .give_back = memory_give_back,
                                           .list = memory_list,
                                           .close = memory_close};
