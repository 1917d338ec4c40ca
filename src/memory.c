/* SPDX-License-Identifier: MIT */
/* The driver of the memory store: marks in a list of this process, for tests, benchmarks and
 * generators that share nothing. Not its children's: after a fork every verb fails. The caller's
 * lock of the store keeps what was read. */
#include "error.h"
#include "store.h"

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
    bool forked;    /* this process is a child */
    entry *entries; /* ordered by namespace and key */
    size_t count, size;
    space *spaces;
    size_t space_count;
    firn_store_options options;
} memory;

static int memory_open(void **self, const char *url, const firn_store_options *options,
                       firn_error *error) {
    memory *store = calloc(1, sizeof *store);
    (void)url;
    if (store == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a memory store");
    }
    store->options = *options;
    *self = store;
    return FIRN_OK;
}

static void memory_forked(void *self) {
    ((memory *)self)->forked = true;
}

static int check_alive(const memory *store, firn_error *error) {
    return !store->forked
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

static space *find_space(const memory *store, const char *ns) {
    for (size_t i = 0; i < store->space_count; i++) {
        if (strcmp(store->spaces[i].ns, ns) == 0) {
            return &store->spaces[i];
        }
    }
    return NULL;
}

static int make_space(memory *store, const firn_records *next, firn_error *error) {
    space *spaces = realloc(store->spaces, (store->space_count + 1) * sizeof *spaces);
    char *copy = strdup(next->layout);
    store->spaces = spaces != NULL ? spaces : store->spaces;
    if (spaces == NULL || copy == NULL) {
        free(copy);
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a namespace");
    }
    strcpy(spaces[store->space_count].ns, next->ns);
    spaces[store->space_count++].layout = copy;
    return FIRN_OK;
}

static int make_entry(memory *store, size_t position, const char *ns, const char *key,
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
    memmove(store->entries + position + 1, store->entries + position,
            (store->count - position) * sizeof(entry));
    memset(&store->entries[position], 0, sizeof(entry));
    strcpy(store->entries[position].ns, ns);
    strcpy(store->entries[position].key, key);
    store->count++;
    return FIRN_OK;
}

static int memory_begin(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    (void)names, (void)verb;
    return check_alive(self, error);
}

static int memory_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    const memory *store = self;
    const space *home = find_space(store, seen->ns);
    const size_t position = find(store, seen->ns, seen->key, &seen->key_known);
    (void)surely, (void)error;
    seen->fresh = seen->known = seen->all_new = true;
    seen->ns_known = home != NULL;
    seen->layout = home != NULL ? home->layout : "";
    seen->mark = seen->key_known ? store->entries[position].mark : (firn_mark){0, 0};
    seen->note = seen->key_known ? store->entries[position].note : "";
    seen->own[0] = position;
    return FIRN_OK;
}

static int memory_write(void *self, const firn_records *seen, firn_records *next, int which,
                        firn_verb verb, firn_error *error) {
    memory *store = self;
    const size_t position = (size_t)seen->own[0];
    int code = firn_driver_point(&store->options, seen, verb, FIRN_POINT_BEFORE, error);
    if (code == FIRN_OK && (which & FIRN_RECORD_NS) != 0 && !seen->ns_known) {
        code = make_space(store, next, error);
    }
    if (code == FIRN_OK && (which & FIRN_RECORD_KEY) != 0) {
        code = seen->key_known ? FIRN_OK : make_entry(store, position, next->ns, next->key, error);
    }
    if (code == FIRN_OK && (which & FIRN_RECORD_KEY) != 0) {
        store->entries[position].mark = next->mark;
        if (next->note != store->entries[position].note) { /* as after a give back */
            strncpy(store->entries[position].note, next->note,
                    sizeof store->entries[position].note - 1);
        }
    }
    return code == FIRN_OK
               ? firn_driver_point(&store->options, seen, verb, FIRN_POINT_COMMITTED, error)
               : code;
}

static const char *memory_where(void *self) {
    (void)self;
    return "memory:";
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
        const space *home = find_space(store, here->ns);
        holding.layout = home != NULL ? home->layout : "";
        code = visit(context, &holding);
    }
    return code;
}

static void memory_close(void *self) {
    memory *store = self;
    for (size_t i = 0; i < store->space_count; i++) {
        free(store->spaces[i].layout);
    }
    free(store->spaces);
    free(store->entries);
    free(store);
}

const firn_driver firn__store_memory = {.version = FIRN_DRIVER_VERSION,
                                        .scheme = "memory",
                                        .locks = true,
                                        .open = memory_open,
                                        .forked = memory_forked,
                                        .begin = memory_begin,
                                        .read = memory_read,
                                        .write = memory_write,
                                        .where = memory_where,
                                        .list = memory_list,
                                        .close = memory_close};
