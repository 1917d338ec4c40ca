/* SPDX-License-Identifier: MIT */
/* The driver of the memory store: rows in a list of this process, for tests, benchmarks and
 * generators that share nothing. Not its children's: after a fork every verb fails. The caller's
 * lock of the store keeps what was read. */
#include "error.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

/* The record of a key or, with the key "", of a namespace. */
typedef struct row {
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE], note[FIRN_NOTE_SIZE];
    char *layout; /* of a namespace */
    firn_mark mark;
} row;

typedef struct memory {
    bool forked; /* this process is a child */
    row *rows;   /* ordered by namespace and key */
    size_t count, size;
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

/* Where the row is, or would be; *found: it exists. */
static size_t find_row(const memory *store, const char *ns, const char *key, bool *found) {
    size_t low = 0, high = store->count;
    *found = false;
    while (low < high && !*found) {
        const size_t mid = low + (high - low) / 2;
        int order = strcmp(store->rows[mid].ns, ns);
        order = order != 0 ? order : strcmp(store->rows[mid].key, key);
        *found = order == 0;
        high = order > 0 ? mid : high;
        low = order > 0 ? low : mid + (order < 0);
    }
    return low;
}

/* The row, which is made if it is missing. NULL: out of memory. */
static row *put_row(memory *store, const char *ns, const char *key) {
    bool found;
    const size_t position = find_row(store, ns, key, &found);
    if (!found && store->count == store->size) {
        const size_t size = store->size == 0 ? 16 : store->size * 2;
        row *rows = realloc(store->rows, size * sizeof *rows);
        if (rows == NULL) {
            return NULL;
        }
        store->rows = rows;
        store->size = size;
    }
    row *here = &store->rows[position];
    if (!found) {
        memmove(here + 1, here, (store->count++ - position) * sizeof *here);
        memset(here, 0, sizeof *here);
        strcpy(here->ns, ns);
        strcpy(here->key, key);
    }
    return here;
}

static int memory_begin(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    (void)names, (void)verb;
    return check_alive(self, error);
}

static int memory_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    const memory *store = self;
    const size_t home = find_row(store, seen->ns, "", &seen->ns_known);
    const size_t here = find_row(store, seen->ns, seen->key, &seen->key_known);
    (void)surely, (void)error;
    seen->fresh = seen->known = seen->all_new = true;
    seen->layout = seen->ns_known ? store->rows[home].layout : "";
    seen->mark = seen->key_known ? store->rows[here].mark : (firn_mark){0, 0};
    seen->note = seen->key_known ? store->rows[here].note : "";
    return FIRN_OK;
}

static int make_space(memory *store, const firn_records *next, firn_error *error) {
    char *layout = strdup(next->layout);
    row *home = layout != NULL ? put_row(store, next->ns, "") : NULL;
    if (home == NULL) {
        free(layout);
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a namespace");
    }
    home->layout = layout;
    return FIRN_OK;
}

static int keep_mark(memory *store, const firn_records *next, firn_error *error) {
    row *here = put_row(store, next->ns, next->key);
    if (here == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a mark");
    }
    here->mark = next->mark;
    if (next->note != here->note) { /* as after a give back */
        strncpy(here->note, next->note, sizeof here->note - 1);
    }
    return FIRN_OK;
}

static int memory_write(void *self, const firn_records *seen, firn_records *next, int which,
                        firn_verb verb, firn_error *error) {
    memory *store = self;
    int code = firn_driver_point(&store->options, seen, verb, FIRN_POINT_BEFORE, error);
    if (code == FIRN_OK && (which & FIRN_RECORD_NS) != 0 && !seen->ns_known) {
        code = make_space(store, next, error);
    }
    if (code == FIRN_OK && (which & FIRN_RECORD_KEY) != 0) {
        code = keep_mark(store, next, error);
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
    const memory *store = self;
    const char *layout = "";
    int code = check_alive(store, error);
    for (size_t i = 0; code == FIRN_OK && i < store->count; i++) {
        const row *here = &store->rows[i];
        layout = here->layout != NULL ? here->layout : layout; /* comes before its keys */
        if (here->layout == NULL && (ns == NULL || strcmp(ns, here->ns) == 0)) {
            const firn_holding holding = {here->ns, layout, here->key, here->note, here->mark, 0};
            code = visit(context, &holding);
        }
    }
    return code;
}

static void memory_close(void *self) {
    memory *store = self;
    for (size_t i = 0; i < store->count; i++) {
        free(store->rows[i].layout);
    }
    free(store->rows);
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
