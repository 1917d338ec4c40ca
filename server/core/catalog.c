/* SPDX-License-Identifier: MIT */
/* The catalog: see catalog.h. Two tables by name that only grow, read without a lock; everything
 * else here is done by renewers, or by the main thread. Issues nothing by itself. */
#include "catalog.h"

#include "fault.h"
#include "form.h"
#include "log.h"
#include "steady.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STEP_MS = 1000,       /* a renewer looks at what it has so often at least */
    RENEW_MS = 200,       /* all windows that are due are renewed at once, up to so long */
    ROUND_MS = 20,        /* nothing is opened after so long: windows and tasks must not starve */
    PAUSE_LEAST_MS = 100, /* after a failure, doubled up to the most */
    PAUSE_MOST_MS = 2000,
    DATED_INSTANTS =
        65536,       /* that one generator without a store may keep count of: 4 MiB at most */
    IDLE_MS = 60000, /* a scheme that nobody asks for costs the store nothing after so long */
    SEEN_IDS = 8     /* of a batch are kept for the spread */
};

/* Things by name: `all` in the order in which they came, `slots` by the hash of the name. A
 * thing is whole before it can be found. */
typedef struct table {
    void *_Atomic *all, *_Atomic *slots;
    size_t most, size; /* of `all` and of `slots`, a power of two at least twice as large */
    _Atomic size_t count;
} table;

static table generators, segments;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of additions, errors and what follows */
static char *default_store;
static _Atomic size_t max_create, created;
static _Atomic int64_t max_block = INT64_C(1) << 61; /* of a range: so many can be counted */
static bool begun;                                   /* the main thread's: what is added is late */
static _Atomic bool default_begun;                   /* the default store was there by then */
static segment *_Atomic due_segments[KEEPERS_MAX];   /* the last that was wanted first */

/* ---- tables ---------------------------------------------------------------------------------- */

/* FNV-1a. Whoever makes names collide makes his own look-ups slow, by as many as there may be. */
static size_t hash_of(word name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < name.length; i++) {
        hash = (hash ^ (uint8_t)name.text[i]) * UINT64_C(0x100000001b3);
    }
    return (size_t)(hash ^ hash >> 32);
}

/* Both kinds of things begin with their name. */
static bool is_named(const void *thing, word name) {
    const char *own = thing;
    return strnlen(own, NAME_SIZE) == name.length && memcmp(own, name.text, name.length) == 0;
}

static void *find(const table *in, word name) {
    if (in->size == 0 || name.length == 0) {
        return NULL;
    }
    for (size_t i = hash_of(name);; i++) { /* ends: half of the slots stay empty */
        void *thing = atomic_load_explicit(&in->slots[i & (in->size - 1)], memory_order_acquire);
        if (thing == NULL || is_named(thing, name)) {
            return thing;
        }
    }
}

static bool is_full(const table *in) {
    return atomic_load(&in->count) >= in->most;
}

/* Under the lock, when it is neither full nor has one of that name. */
static void add(table *to, void *thing) {
    size_t count = atomic_load(&to->count), i = hash_of((word){thing, strlen(thing)});
    while (atomic_load(&to->slots[i & (to->size - 1)]) != NULL) {
        i++;
    }
    atomic_store_explicit(&to->all[count], thing, memory_order_release);
    atomic_store_explicit(&to->slots[i & (to->size - 1)], thing, memory_order_release);
    atomic_store_explicit(&to->count, count + 1, memory_order_release);
}

static void *at(const table *in, size_t i) {
    return i < atomic_load_explicit(&in->count, memory_order_acquire)
               ? atomic_load_explicit(&in->all[i], memory_order_acquire)
               : NULL;
}

static bool make_table(table *it, size_t most) {
    size_t size = 16;
    while (size < most * 2 + 2) {
        size *= 2;
    }
    *it = (table){.most = most, .size = size};
    it->all = calloc(most + 1, sizeof *it->all);
    it->slots = calloc(size, sizeof *it->slots);
    return it->all != NULL && it->slots != NULL;
}

static void free_table(table *it) {
    free(it->all);
    free(it->slots);
    *it = (table){0};
}

generator *catalog_generator(word name) {
    return find(&generators, name);
}

segment *catalog_segment(word name) {
    return find(&segments, name);
}

generator *catalog_generator_at(size_t i) {
    return at(&generators, i);
}

segment *catalog_segment_at(size_t i) {
    return at(&segments, i);
}

/* ---- a store that is none -------------------------------------------------------------------- */

/* Whether a row needs a store, and whether its keys are right, the library tells when it is opened
 * with this one, which nobody waits for. */
static int no_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                      firn_error *error) {
    (void)self, (void)request, (void)first, (void)held;
    return error != NULL ? set_error(error, FIRN_ESTORE, "no store yet") : FIRN_ESTORE;
}

static int no_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                        int64_t high, firn_error *error) {
    (void)self, (void)ns, (void)key, (void)mine, (void)high;
    return error != NULL ? set_error(error, FIRN_ESTORE, "no store yet") : FIRN_ESTORE;
}

static int no_list(void *self, const char *ns, firn_visit *visit, void *context,
                   firn_error *error) {
    (void)self, (void)ns, (void)visit, (void)context;
    return error != NULL ? set_error(error, FIRN_ESTORE, "no store yet") : FIRN_ESTORE;
}

static void no_close(void *self) {
    (void)self;
}

static const firn_store_ops no_ops = {.version = 1,
                                      .scheme = "none",
                                      .reserve = no_reserve,
                                      .give_back = no_give_back,
                                      .list = no_list,
                                      .close = no_close};
static firn_store *no_store;

/* ---- the beginning and the end --------------------------------------------------------------- */

/* "" is as none. */
static int check_store(const char *store, firn_error *error) {
    return renewer_check(store != NULL && store[0] != '\0' ? store : NULL, error);
}

int catalog_begin(const char *store, size_t max_generators, size_t max_segments, size_t auto_create,
                  firn_error *error) {
    int code = check_store(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    default_store = store != NULL && store[0] != '\0' ? strdup(store) : NULL;
    bool made = make_table(&generators, max_generators) && make_table(&segments, max_segments);
    if (!made || (store != NULL && store[0] != '\0' && default_store == NULL)) {
        return set_error(error, FIRN_EMEMORY,
                         "out of memory for %zu generators and %zu segments:"
                         " allow fewer",
                         max_generators, max_segments);
    }
    atomic_store(&created, 0);
    begun = false;
    atomic_store(&default_begun, false);
    catalog_allow(auto_create);
    return firn_store_wrap(&no_store, &no_ops, NULL, error);
}

/* Is anything of the configuration reserved in a store? */
static bool has_reserved(void) {
    const generator *g;
    for (size_t i = 0; (g = at(&generators, i)) != NULL; i++) {
        if (g->renewer != NULL) {
            return true;
        }
    }
    return at(&segments, 0) != NULL;
}

int catalog_begun(firn_error *error) {
    renewer *it = NULL;
    begun = true;
    /* Where all that is configured has other stores and nobody chose this one, it is not made. */
    bool used = default_store != NULL || atomic_load(&max_create) > 0 || !has_reserved();
    int code = used ? renewer_of(&it, default_store, error) : FIRN_OK;
    for (size_t i = 0; i < KEEPERS_MAX; i++) {
        if (renewer_is_of(i, default_store)) {
            atomic_store(&default_begun, true);
        }
    }
    return code;
}

void catalog_allow(size_t auto_create) {
    atomic_store(&max_create, auto_create);
}

void catalog_allow_block(int64_t most) {
    atomic_store(&max_block, most);
}

int64_t max_catalog_block(void) {
    return atomic_load_explicit(&max_block, memory_order_relaxed);
}

static void free_generator(generator *it) {
    firn_close(atomic_load(&it->gen), NULL); /* renewers have closed theirs */
    firn_close(atomic_load(&it->dated), NULL);
    pthread_mutex_destroy(&it->dated_lock);
    for (int i = 0; i < WORKERS_MAX; i++) {
        free(atomic_load(&it->by[i]));
    }
    free(it);
}

void catalog_end(void) {
    for (size_t i = 0; i < atomic_load(&generators.count); i++) {
        free_generator(at(&generators, i));
    }
    for (size_t i = 0; i < atomic_load(&segments.count); i++) {
        free(at(&segments, i));
    }
    free_table(&generators);
    free_table(&segments);
    firn_store_close(no_store);
    no_store = NULL;
    free(default_store);
    default_store = NULL;
    for (size_t i = 0; i < KEEPERS_MAX; i++) {
        atomic_store(&due_segments[i], NULL);
    }
}

renewer *catalog_renewer(firn_error *error) {
    renewer *it = NULL;
    return renewer_of(&it, default_store, error) == FIRN_OK ? it : NULL;
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Does this code say that the store is away? One outage may show in several of them. */
static bool is_outage(int code) {
    return code == FIRN_ESTORE || code == FIRN_EUNKNOWN || code == FIRN_EIO ||
           code == FIRN_ESYSTEM || code == FIRN_EWINDOW;
}

/* Keeps what a renewer failed with; one event a change. Only what was asked of the store shows that a
 * failure is over: a step that had nothing to do proves nothing. */
static void keep_trouble(const char *what, const char *name, _Atomic int *kept, firn_error *text,
                         int code, const firn_error *error) {
    int was = atomic_load(kept);
    if (code == FIRN_OK && was == FIRN_OK) {
        return;
    }
    pthread_mutex_lock(&lock);
    *text = code == FIRN_OK ? (firn_error){0, ""} : *error;
    atomic_store(kept, code);
    pthread_mutex_unlock(&lock);
    if (code != was && !(is_outage(code) && is_outage(was))) {
        log_event(code == FIRN_OK ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
                  code == FIRN_OK ? "issuing again" : "cannot be renewed", what, name, "why",
                  code == FIRN_OK ? "" : error->text, NULL);
    }
}

static int read_trouble(const _Atomic int *kept, const firn_error *text, firn_error *error) {
    int code = atomic_load(kept);
    if (code != FIRN_OK) {
        pthread_mutex_lock(&lock);
        code = atomic_load(kept);
        *error = *text;
        pthread_mutex_unlock(&lock);
    }
    return code;
}

int generator_trouble(const generator *it, firn_error *error) {
    return read_trouble(&it->code, &it->error, error);
}

int segment_trouble(const segment *it, firn_error *error) {
    return read_trouble(&it->code, &it->error, error);
}

/* ---- generators ------------------------------------------------------------------------------ */

static void tell_note(void *self, const char *text) {
    const generator *it = self;
    log_event(LOG_LEVEL_INFO, "note", "generator", it->name, "text", text, NULL);
}

/* Workers never sleep in the library: what waits is parked by its listener. */
static int open_gen(firn_gen **out, generator *it, firn_store *store, firn_error *error) {
    char keys[KEYS_SIZE + 32];
    firn_config config = {.size = sizeof config,
                          .scheme = it->text,
                          .keys = keys,
                          .store = store,
                          .notice = store == no_store ? NULL : tell_note,
                          .notice_self = it,
                          .has_renewer = true};
    snprintf(keys, sizeof keys, "%s%smax_wait_ms=0", it->keys, it->keys[0] != '\0' ? " " : "");
    return firn_open_with(out, &config, error);
}

char *catalog_key(char value[FIRN_NS_SIZE], const char *keys, const char *name) {
    size_t length = strlen(name);
    value[0] = '\0';
    for (const char *at_key = keys; *at_key != '\0'; at_key += strspn(at_key, " ")) {
        size_t size = strcspn(at_key, " ");
        if (size > length && memcmp(at_key, name, length) == 0 && at_key[length] == '=') {
            snprintf(value, FIRN_NS_SIZE, "%.*s", (int)(size - length - 1), at_key + length + 1);
        }
        at_key += size;
    }
    return value;
}

static int copy_text(char *to, size_t size, const char *from, const char *what, firn_error *error) {
    size_t length = from == NULL ? 0 : strlen(from);
    if (length >= size) {
        return set_error(error, FIRN_ERANGE, "the %s has %zu characters: at most %zu", what, length,
                         size - 1);
    }
    memcpy(to, from == NULL ? "" : from, length + 1);
    return FIRN_OK;
}

/* Row and text form. */
static int read_row(generator *it, const char *form, const char *prefix, firn_error *error) {
    char epoch[FIRN_NS_SIZE], bits[FIRN_NS_SIZE], digits[FIRN_NS_SIZE], full[FIRN_NS_SIZE];
    catalog_key(epoch, it->keys, "epoch");
    catalog_key(bits, it->keys, "bits");
    catalog_key(digits, it->keys, "digits");
    int code =
        firn_scheme_make(&it->own, it->text, epoch[0] != '\0' ? epoch : NULL,
                         bits[0] != '\0' ? bits : NULL, digits[0] != '\0' ? digits : NULL, error);
    if (code != FIRN_OK) {
        return code;
    }
    it->scheme = &it->own;
    it->form = it->own.form;
    if (form != NULL && form[0] != '\0') {
        code = form_of(&it->form, &it->own, (word){form, strlen(form)}, error);
    }
    if (code == FIRN_OK && prefix != NULL && prefix[0] != '\0') {
        code = prefix_of(it->prefix, it->form, (word){prefix, strlen(prefix)}, error);
    }
    it->narrow = is_narrow(&it->own, it->form);
    it->waits = strcmp(catalog_key(full, it->keys, "full"), "fail") != 0;
    it->back_fails = strcmp(catalog_key(full, it->keys, "back"), "fail") == 0;
    return code;
}

/* One that is in no table yet. */
static int make_generator(generator **out, const char *name, const char *scheme, const char *keys,
                          const char *form, const char *prefix, firn_error *error) {
    generator *it = calloc(1, sizeof *it);
    if (it == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a generator");
    }
    pthread_mutex_init(&it->dated_lock, NULL);
    int code = copy_text(it->name, sizeof it->name, name, "name of a generator", error);
    if (code == FIRN_OK) {
        code = copy_text(it->text, sizeof it->text, scheme, "scheme", error);
    }
    if (code == FIRN_OK) {
        code = copy_text(it->keys, sizeof it->keys, keys, "line of keys", error);
    }
    if (code == FIRN_OK) {
        code = read_row(it, form, prefix, error);
    }
    if (code != FIRN_OK) {
        free_generator(it);
        return code;
    }
    *out = it;
    return FIRN_OK;
}

/* Opens it if it needs no store; *reserved: it does. Tells what is wrong with its keys. */
static int try_without_store(generator *it, bool *reserved, firn_error *error) {
    firn_gen *gen;
    firn_status status = {.size = sizeof status};
    int code = open_gen(&gen, it, no_store, error);
    *reserved = code == FIRN_ESTORE;
    if (code != FIRN_OK) {
        return *reserved ? FIRN_OK : code;
    }
    firn_gen_status(gen, &status);
    *reserved = status.reserved;
    if (*reserved) {
        return firn_close(gen, error);
    }
    atomic_store(&it->gen, gen);
    return FIRN_OK;
}

static int refuse_full(const table *it, firn_error *error) {
    return it == &generators
               ? set_error(error, FIRN_ERANGE,
                           "%zu generators are open, which is the most: raise max_generators",
                           it->most)
               : set_error(error, FIRN_ERANGE,
                           "%zu segments are open, which is the most: use one of them, or raise"
                           " max_auto_create",
                           it->most);
}

/* May one of the configuration come into the table? Asked before its store gets a renewer. */
static int check_room(const table *to, const char *name, firn_error *error) {
    if (find(to, (word){name, strlen(name)}) != NULL) {
        return set_error(error, FIRN_EUSAGE, "%s is there already: restart the server", name);
    }
    return is_full(to) ? refuse_full(to, error) : FIRN_OK;
}

/* Puts it into the table, or finds the one of its name. */
static int add_generator(generator *it, generator **out, firn_error *error) {
    int code = FIRN_OK;
    pthread_mutex_lock(&lock);
    *out = find(&generators, (word){it->name, strlen(it->name)});
    if (*out == NULL && is_full(&generators)) {
        code = refuse_full(&generators, error);
    } else if (*out == NULL) {
        add(&generators, it);
        *out = it;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int catalog_add_generator(const char *name, const char *scheme, const char *keys, const char *store,
                          const char *form, const char *prefix, firn_error *error) {
    generator *it = NULL, *found = NULL;
    bool reserved = false;
    int code = check_store(store, error);
    if (code == FIRN_OK) {
        code = make_generator(&it, name, scheme, keys, form, prefix, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    it->configured = true;
    it->late = begun;
    code = check_room(&generators, name, error);
    code = code == FIRN_OK ? try_without_store(it, &reserved, error) : code;
    if (code == FIRN_OK && reserved) {
        code = renewer_of(&it->renewer, store != NULL && store[0] != '\0' ? store : default_store,
                          error);
    }
    if (code == FIRN_OK) {
        code = add_generator(it, &found, error);
    }
    if (code == FIRN_OK && found != it) {
        code = check_room(&generators, name, error);
    }
    if (code != FIRN_OK) {
        free_generator(it);
    } else if (it->renewer != NULL) {
        renewer_wake(it->renewer);
    }
    return code;
}

int catalog_check_generator(const char *name, const char *scheme, const char *keys,
                            const char *store, const char *form, const char *prefix,
                            firn_error *error) {
    generator *it = NULL;
    bool reserved = false;
    int code = check_store(store, error);
    if (code == FIRN_OK) {
        code = make_generator(&it, name, scheme, keys, form, prefix, error);
    }
    if (code == FIRN_OK) {
        code = try_without_store(it, &reserved, error);
        free_generator(it);
    }
    return code;
}

/* Opens and claims; the first window is there or the reason why not. */
static int open_reserved(generator *it, firn_error *error) {
    firn_gen *gen;
    int64_t wait_ms = 0;
    firn_store *store = renewer_store(it->renewer, error);
    int code = store == NULL ? error->code : open_gen(&gen, it, store, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_gen_step(gen, &wait_ms, error);
    it->next_ms = steady_ms() + wait_ms;
    atomic_store_explicit(&it->gen, gen, memory_order_release);
    return code;
}

int catalog_open_scheme(generator **out, const char *name, bool free_row, firn_error *error) {
    generator *it = NULL;
    bool reserved = false;
    *out = catalog_generator((word){name, strlen(name)});
    if (*out != NULL) {
        return FIRN_OK;
    }
    if (is_full(&generators)) { /* asked again below: here so that nothing is claimed for nothing */
        return refuse_full(&generators, error);
    }
    int code = make_generator(&it, name, name, "", NULL, NULL, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = try_without_store(it, &reserved, error);
    if (code == FIRN_OK && reserved && free_row) {
        code = set_error(error, FIRN_ESTORE, "%s needs a store", name);
    }
    if (code == FIRN_OK && reserved) {
        it->renewer = catalog_renewer(error);
        code = it->renewer == NULL ? error->code : open_reserved(it, error);
    }
    if (code == FIRN_OK) {
        code = add_generator(it, out, error);
    }
    if (code != FIRN_OK || *out != it) {
        free_generator(it); /* what it claimed is given back: here its store may be asked */
    } else {
        log_event(LOG_LEVEL_INFO, "generator opened", "generator", name, NULL);
    }
    return code;
}

int generator_date(generator *it, const firn_time *time, firn_id *ids, size_t n,
                   firn_error *error) {
    if (it->renewer != NULL) {
        firn_gen *gen = atomic_load_explicit(&it->gen, memory_order_acquire);
        return gen != NULL
                   ? firn_at(gen, time, ids, n, error)
                   : set_error(error, FIRN_EWINDOW, "%s is not open yet: ask again", it->name);
    }
    /* It counts instants in memory, for ever: so it is left for a fresh one now and then. */
    if (pthread_mutex_trylock(&it->dated_lock) != 0) {
        return set_error(error, FIRN_EWINDOW, "%s is back-dating for others: ask again", it->name);
    }
    int code = FIRN_OK;
    if (it->dated_left <= 0) {
        firn_gen *fresh = NULL;
        code = open_gen(&fresh, it, no_store, error);
        if (code == FIRN_OK) {
            firn_close(atomic_exchange(&it->dated, fresh), NULL);
            it->dated_left = DATED_INSTANTS;
        }
    }
    if (code == FIRN_OK) {
        it->dated_left -= (int64_t)n; /* at most an instant an ID */
        code = firn_at(atomic_load(&it->dated), time, ids, n, error);
    }
    pthread_mutex_unlock(&it->dated_lock);
    return code;
}

/* ---- segments -------------------------------------------------------------------------------- */

/* One that is in no table yet. Its keys are checked with a store that is none. */
static int make_segment(segment **out, const char *name, const char *keys, firn_error *error) {
    firn_segment *range = NULL;
    segment *it = aligned_alloc(64, sizeof *it);
    if (it == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a segment");
    }
    memset(it, 0, sizeof *it);
    for (int i = 0; i < WORKERS_MAX; i++) {
        atomic_store(&it->by[i].value, INT64_MIN);
    }
    int code = copy_text(it->name, sizeof it->name, name, "name of a segment", error);
    if (code == FIRN_OK) {
        code = copy_text(it->keys, sizeof it->keys, keys, "line of keys", error);
    }
    if (code == FIRN_OK) {
        code = firn_segment_open(&range, name, it->keys, no_store, NULL, error);
    }
    if (code != FIRN_OK) {
        free(it);
        return code;
    }
    it->increment = firn_segment_increment(range);
    firn_segment_close(range, NULL);
    *out = it;
    return FIRN_OK;
}

static int add_segment(segment *it, segment **out, firn_error *error) {
    int code = FIRN_OK;
    pthread_mutex_lock(&lock);
    *out = find(&segments, (word){it->name, strlen(it->name)});
    if (*out == NULL && is_full(&segments)) {
        code = refuse_full(&segments, error);
    } else if (*out == NULL) {
        add(&segments, it);
        *out = it;
        atomic_fetch_add(&created, !it->configured);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int catalog_add_segment(const char *name, const char *keys, const char *store, firn_error *error) {
    segment *it = NULL, *found = NULL;
    int code = make_segment(&it, name, keys, error);
    if (code != FIRN_OK) {
        return code;
    }
    it->configured = true;
    it->late = begun;
    code = check_room(&segments, name, error);
    if (code == FIRN_OK) {
        code = renewer_of(&it->renewer, store != NULL && store[0] != '\0' ? store : default_store,
                          error);
    }
    if (code == FIRN_OK) {
        code = add_segment(it, &found, error);
    }
    if (code == FIRN_OK && found != it) {
        code = check_room(&segments, name, error);
    }
    if (code != FIRN_OK) {
        free(it);
    } else {
        segment_want(it);
    }
    return code;
}

int catalog_check_segment(const char *name, const char *keys, const char *store,
                          firn_error *error) {
    segment *it = NULL;
    int code = check_store(store, error);
    if (code == FIRN_OK) {
        code = make_segment(&it, name, keys, error);
        free(it);
    }
    return code;
}

/* Does it begin with a blank or a control character? Some terminals obey those of U+0080..9F too, and
 * U+2028 and U+2029 end lines for those who read INFO. */
static bool is_hidden(word text) {
    const unsigned char *at = (const unsigned char *)text.text;
    return at[0] <= ' ' || at[0] == 127 || (text.length > 1 && at[0] == 0xc2 && at[1] < 0xa0) ||
           (text.length > 2 && at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9));
}

int catalog_may_create(word name, firn_error *error) {
    size_t most = atomic_load(&max_create);
    if (most == 0) {
        return set_error(error, FIRN_EUSAGE,
                         "there is no segment '%.*s': add [segment NAME] to"
                         " firn.ini, or set auto_create",
                         word_shown(name), name.text);
    }
    if (name.length == 0 || name.length >= NAME_SIZE || memchr(name.text, '\0', name.length)) {
        return set_error(error, FIRN_ERANGE, "the name of a segment has 1..%d characters",
                         NAME_SIZE - 1);
    }
    for (size_t i = 0; i < name.length; i++) {
        if (is_hidden((word){name.text + i, name.length - i})) {
            return set_error(error, FIRN_EUSAGE,
                             "the name of a segment has no blanks or control"
                             " characters: character %zu is one",
                             i + 1);
        }
    }
    if (atomic_load(&created) >= most || is_full(&segments)) {
        return set_error(error, FIRN_ERANGE,
                         "%zu segments were made for whoever asked, which is"
                         " the most: use one of them, or raise"
                         " max_auto_create",
                         atomic_load(&created));
    }
    return FIRN_OK;
}

/* Opens it and fetches its first block. */
static int open_range(segment *it, firn_error *error) {
    firn_segment *range;
    int64_t wait_ms;
    firn_store *store = renewer_store(it->renewer, error);
    int code = store == NULL ? error->code
                             : firn_segment_open(&range, it->name, it->keys, store, NULL, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_segment_step(range, &wait_ms, error);
    if (code == FIRN_OK) {
        atomic_store_explicit(&it->range, range, memory_order_release);
    } else {
        firn_segment_close(range, NULL);
    }
    return code;
}

int catalog_open_segment(segment **out, const char *name, firn_error *error) {
    segment *it = NULL;
    *out = catalog_segment((word){name, strlen(name)});
    if (*out != NULL) {
        return FIRN_OK;
    }
    int code = catalog_may_create((word){name, strlen(name)}, error);
    if (code == FIRN_OK) {
        code = make_segment(&it, name, "", error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    it->renewer = catalog_renewer(error);
    code = it->renewer == NULL ? error->code : open_range(it, error);
    if (code == FIRN_OK) {
        code = add_segment(it, out, error);
    }
    if (code != FIRN_OK || *out != it) {
        firn_segment_close(atomic_load(&it->range), NULL);
        free(it);
    } else {
        log_event(LOG_LEVEL_INFO, "segment opened", "segment", name, NULL);
    }
    return code;
}

int segment_fetch(segment *it, int64_t count, int64_t *first, firn_error *error) {
    bool due = false;
    uint64_t calls = renewer_calls(it->renewer);
    firn_segment *range = atomic_load(&it->range);
    int code = range == NULL ? set_error(error, FIRN_EWINDOW, "%s is not open", it->name)
                             : firn_segment_exact(range, count, true, first, &due, error);
    if (code == FIRN_OK && renewer_calls(it->renewer) != calls) {
        keep_trouble("segment", it->name, &it->code, &it->error, code, error);
    }
    if (due) {
        segment_want(it);
    }
    return code;
}

/* ---- what workers tell ----------------------------------------------------------------------- */

uint64_t generator_issued(const generator *it) {
    uint64_t sum = 0;
    for (int i = 0; i < WORKERS_MAX; i++) {
        tally *one = atomic_load_explicit(&it->by[i], memory_order_acquire);
        sum += one != NULL ? atomic_load_explicit(&one->issued, memory_order_relaxed) : 0;
    }
    return sum;
}

uint64_t segment_issued(const segment *it) {
    uint64_t sum = 0;
    for (int i = 0; i < WORKERS_MAX; i++) {
        sum += atomic_load_explicit(&it->by[i].issued, memory_order_relaxed);
    }
    return sum;
}

int64_t segment_last(const segment *it) {
    int64_t last = INT64_MIN;
    for (int i = 0; i < WORKERS_MAX; i++) {
        int64_t one = atomic_load_explicit(&it->by[i].value, memory_order_relaxed);
        last = one > last ? one : last;
    }
    return last;
}

static tally *tally_of(generator *it, const worker *by) {
    tally *one = atomic_load_explicit(&it->by[by->index], memory_order_relaxed);
    if (one == NULL && (one = aligned_alloc(64, sizeof *one)) != NULL) {
        memset(one, 0, sizeof *one);
        atomic_store_explicit(&it->by[by->index], one, memory_order_release);
    }
    return one;
}

static void keep_recent(tally *to, uint64_t low, uint64_t high, uint64_t top) {
    uint32_t next = atomic_load_explicit(&to->next, memory_order_relaxed);
    _Atomic uint64_t *words = to->recent[next % RECENT_SIZE];
    atomic_store_explicit(&words[0], low, memory_order_relaxed);
    atomic_store_explicit(&words[1], high, memory_order_relaxed);
    atomic_store_explicit(&words[2], top, memory_order_relaxed);
    atomic_store_explicit(&to->next, next + 1, memory_order_relaxed);
}

void generator_tell(generator *it, worker *by, const uint64_t *numbers, const firn_id *ids,
                    size_t n) {
    tally *to = tally_of(it, by);
    meter_add(&by->meter.ids, n);
    if (to == NULL) {
        return; /* no memory to count with, so it is not counted */
    }
    meter_add(&to->issued, n);
    /* Neighbours, from another place of the batch each time: always the first ones would show how
     * batches lie, not how IDs do. */
    size_t seen = n < SEEN_IDS ? n : SEEN_IDS;
    size_t first = n > SEEN_IDS ? atomic_load_explicit(&to->next, memory_order_relaxed) %
                                      (uint32_t)(n - SEEN_IDS + 1)
                                : 0;
    for (size_t i = first; i < first + seen; i++) {
        if (numbers != NULL) {
            keep_recent(to, numbers[i], 0, 0);
        } else {
            keep_recent(to, ids[i].low, ids[i].high, ids[i].top);
        }
    }
}

void segment_tell(segment *it, const worker *by, int64_t last, uint64_t n) {
    atomic_store_explicit(&it->by[by->index].value, last, memory_order_relaxed);
    meter_add(&it->by[by->index].issued, n);
}

void generator_want(generator *it) {
    if (it->renewer != NULL && !atomic_exchange(&it->wanted, true)) {
        renewer_wake(it->renewer);
    }
}

/* Into its renewer's list. It stands in there once: `due` is true from before until it is taken
 * out. */
static void list_due(segment *it) {
    segment *_Atomic *list = &due_segments[renewer_index(it->renewer)];
    it->next_due = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &it->next_due, it)) {
    }
}

void segment_want(segment *it) {
    if (!atomic_load_explicit(&it->due, memory_order_relaxed) && !atomic_exchange(&it->due, true)) {
        list_due(it);
        renewer_wake(it->renewer);
    }
}

/* ---- renewers --------------------------------------------------------------------------------- */

/* How long to wait after one more failure. */
static int64_t pause_after(int64_t *pause_ms) {
    *pause_ms = *pause_ms == 0 ? PAUSE_LEAST_MS : *pause_ms * 2;
    *pause_ms = *pause_ms > PAUSE_MOST_MS ? PAUSE_MOST_MS : *pause_ms;
    return *pause_ms;
}

/* Opens or steps one; *news: it has a window that it did not have. */
static void step_generator(generator *it, bool *news) {
    firn_error error;
    firn_gen *gen = atomic_load(&it->gen);
    firn_status status = {.size = sizeof status};
    int64_t wait_ms = 0;
    int code, was = atomic_load(&it->code);
    uint64_t calls = renewer_calls(it->renewer);
    atomic_store(&it->wanted, false);
    if (gen == NULL) {
        code = open_reserved(it, &error);
        gen = atomic_load(&it->gen);
    } else {
        code = firn_gen_step(gen, &wait_ms, &error);
        it->next_ms = steady_ms() + wait_ms;
    }
    if (gen == NULL) {
        it->next_ms = steady_ms() + pause_after(&it->pause_ms);
    } else {
        firn_gen_status(gen, &status);
        if (status.held) {
            atomic_store(&it->late, false);
        }
        *news = *news || status.claims + status.renewals != it->news;
        it->news = status.claims + status.renewals;
    }
    /* The clock is in order when a step says so; for all else the store has to be asked. */
    if (code != FIRN_OK || was == FIRN_ECLOCK || renewer_calls(it->renewer) != calls) {
        keep_trouble("generator", it->name, &it->code, &it->error, code, &error);
    }
}

/* Generators of the configuration are always kept ready; others while somebody asks for them. */
static bool is_idle(generator *it) {
    uint64_t issued = it->configured ? 0 : generator_issued(it);
    if (it->configured || issued != it->asked || it->asked_ms == 0 || atomic_load(&it->wanted)) {
        it->asked = issued;
        it->asked_ms = steady_ms();
    }
    bool idle = steady_ms() - it->asked_ms > IDLE_MS;
    atomic_store(&it->idle, idle);
    return idle;
}

/* Where it is due; tells after how many ms it will be. */
static int64_t attend(generator *it, bool *news) {
    /* One that fails is not asked again just because somebody wants it. */
    bool idle = is_idle(it), wanted = atomic_load(&it->wanted) && atomic_load(&it->code) == FIRN_OK;
    if (wanted || (!idle && steady_ms() >= it->next_ms)) {
        step_generator(it, news);
    }
    return idle ? STEP_MS : it->next_ms - steady_ms();
}

/* Of those that are open, or of those that are not, as many as there is time for; the next round
 * goes on behind the last one. */
static int64_t attend_some(const renewer *of, bool open, size_t *next, bool *news) {
    int64_t wait_ms = STEP_MS, since = steady_ms(), most_ms = open ? RENEW_MS : ROUND_MS;
    size_t count = atomic_load(&generators.count);
    for (size_t i = 0; i < count; i++) {
        generator *it = at(&generators, (*next + i) % count);
        if (it->renewer != of || (atomic_load(&it->gen) != NULL) != open) {
            continue;
        }
        int64_t left = attend(it, news);
        wait_ms = left < wait_ms ? left : wait_ms;
        if (steady_ms() - since > most_ms) {
            *next = (*next + i + 1) % count;
            return 0;
        }
    }
    return wait_ms;
}

/* Opening many holds up neither renewals nor tasks. */
static int64_t step_generators(const renewer *of, bool *news) {
    static size_t renewed[KEEPERS_MAX], opened[KEEPERS_MAX]; /* each renewer's own */
    size_t index = renewer_index(of);
    int64_t renew_ms = attend_some(of, true, &renewed[index], news);
    int64_t open_ms = attend_some(of, false, &opened[index], news);
    return renew_ms < open_ms ? renew_ms : open_ms;
}

static void step_segment(segment *it, bool *news) {
    firn_error error;
    firn_segment *range = atomic_load(&it->range);
    int64_t wait_ms;
    uint64_t calls = renewer_calls(it->renewer);
    atomic_store(&it->due, false); /* first: who finds it due from here on says so again */
    int code = range == NULL ? open_range(it, &error) : firn_segment_step(range, &wait_ms, &error);
    bool asked = code != FIRN_OK || renewer_calls(it->renewer) != calls;
    if (asked) {
        keep_trouble("segment", it->name, &it->code, &it->error, code, &error);
    }
    if (atomic_load(&it->code) == FIRN_OK) {
        it->pause_ms = 0;
        it->next_ms = 0;
        atomic_store(&it->late, false);
        *news = true;
    } else { /* also one that may not ask again yet */
        it->next_ms = steady_ms() + pause_after(&it->pause_ms);
        if (!atomic_exchange(&it->due, true)) {
            list_due(it);
        }
    }
}

static int64_t step_segments(const renewer *of, bool *news) {
    int64_t wait_ms = STEP_MS, since = steady_ms();
    segment *next;
    for (segment *it = atomic_exchange(&due_segments[renewer_index(of)], NULL); it != NULL;
         it = next) {
        int64_t now = steady_ms(), left = it->next_ms - now;
        next = it->next_due; /* before it stands in the list again */
        if (left > 0 || now - since > ROUND_MS) {
            list_due(it); /* in the other order, so that the last one has its turn next */
        } else {
            step_segment(it, news);
            left = it->next_ms == 0 ? STEP_MS : it->next_ms - steady_ms();
        }
        wait_ms = left < wait_ms ? left : wait_ms;
    }
    return wait_ms;
}

int64_t catalog_step(renewer *of, bool *news) {
    int64_t generators_ms = step_generators(of, news), segments_ms = step_segments(of, news);
    return generators_ms < segments_ms ? generators_ms : segments_ms;
}

void catalog_close(renewer *of) {
    generator *g;
    segment *s;
    firn_error error;
    for (size_t i = 0; (g = at(&generators, i)) != NULL; i++) {
        firn_gen *gen = g->renewer == of ? atomic_exchange(&g->gen, NULL) : NULL;
        if (gen != NULL && firn_close(gen, &error) != FIRN_OK) {
            log_event(LOG_LEVEL_WARNING, "window not given back", "generator", g->name, "why",
                      error.text, NULL);
        }
    }
    for (size_t i = 0; (s = at(&segments, i)) != NULL; i++) {
        firn_segment *range = s->renewer == of ? atomic_exchange(&s->range, NULL) : NULL;
        if (range != NULL && firn_segment_close(range, &error) != FIRN_OK) {
            log_event(LOG_LEVEL_WARNING, "block not given back", "segment", s->name, "why",
                      error.text, NULL);
        }
    }
}

/* ---- how it stands --------------------------------------------------------------------------- */

enum { WINDOW_MOST_MS = 30000 }; /* no window is that long: then the slots are not ticks */

int64_t generator_window_ms(const generator *it) {
    firn_gen *gen = atomic_load_explicit(&it->gen, memory_order_acquire);
    firn_status status = {.size = sizeof status};
    uint32_t shift = 0;
    firn_time end;
    struct timespec now;
    if (gen == NULL) {
        return -1;
    }
    firn_gen_status(gen, &status);
    if (!status.held || !status.reserved || it->scheme->tick_ns == 0) {
        return -1;
    }
    for (uint32_t i = 0; i < it->scheme->slice_count; i++) {
        if (it->scheme->slices[i].role == FIRN_ROLE_SEQUENCE) {
            shift = firn_scheme_width(it->scheme, firn_scheme_first(it->scheme, i));
        }
    }
    firn_scheme_time(it->scheme, (uint64_t)status.end >> shift, &end);
    clock_gettime(CLOCK_REALTIME, &now);
    if (end.sec - now.tv_sec > WINDOW_MOST_MS / 1000 || end.sec < now.tv_sec - 1) {
        return -1;
    }
    int64_t left = (end.sec - now.tv_sec) * 1000 + (end.ns - now.tv_nsec) / 1000000;
    return left > 0 ? left : -1;
}

/* Can it issue now? What came late does not count before it could: a mistake in one new section must
 * not take a server that serves others out of rotation. */
static bool generator_is_ready(const generator *it) {
    firn_gen *gen = atomic_load_explicit(&it->gen, memory_order_acquire);
    firn_status status = {.size = sizeof status};
    if (it->renewer == NULL || atomic_load(&it->late)) {
        return true;
    }
    if (gen == NULL) {
        return false;
    }
    firn_gen_status(gen, &status);
    bool renewed = atomic_load(&it->code) == FIRN_OK && renewer_answers(it->renewer);
    return status.held && (renewed || generator_window_ms(it) >= 0);
}

static bool segment_is_ready(const segment *it) {
    firn_segment *range = atomic_load_explicit(&it->range, memory_order_acquire);
    bool fetched = atomic_load(&it->code) == FIRN_OK && renewer_answers(it->renewer);
    return atomic_load(&it->late) || (range != NULL && (fetched || firn_segment_left(range) > 0));
}

static void say(char why[256], const char *what, const char *name, bool open, int code,
                const char *text) {
    snprintf(why, 256, "%s %s: %.160s", what, name,
             code != FIRN_OK ? text
             : open          ? "nothing is left, and the store does not answer"
                             : "not open yet");
}

/* The first that cannot issue, in words. */
static bool find_unready(char why[256]) {
    const generator *g;
    const segment *s;
    firn_error error;
    for (size_t i = 0; (g = at(&generators, i)) != NULL; i++) {
        if (!atomic_load(&g->idle) && !generator_is_ready(g)) {
            say(why, "generator", g->name, atomic_load(&g->gen) != NULL,
                generator_trouble(g, &error), error.text);
            return true;
        }
    }
    for (size_t i = 0; (s = at(&segments, i)) != NULL; i++) {
        if (!segment_is_ready(s)) {
            say(why, "segment", s->name, atomic_load(&s->range) != NULL, segment_trouble(s, &error),
                error.text);
            return true;
        }
    }
    return false;
}

/* How long all windows last at least. */
static int64_t least_window_ms(void) {
    int64_t least = WINDOW_MOST_MS;
    const generator *g;
    for (size_t i = 0; (g = at(&generators, i)) != NULL; i++) {
        bool counts = g->renewer != NULL && !atomic_load(&g->idle) && !atomic_load(&g->late);
        int64_t left = counts ? generator_window_ms(g) : WINDOW_MOST_MS;
        least = left < least ? left : least;
    }
    return least;
}

/* Of something that did not come late, or the default one of a server that began with it. */
static bool renewer_counts(size_t index) {
    const generator *g;
    const segment *s;
    if (atomic_load(&default_begun) && renewer_is_of(index, default_store)) {
        return true;
    }
    for (size_t i = 0; (g = at(&generators, i)) != NULL; i++) {
        if (g->renewer != NULL && renewer_index(g->renewer) == index && !atomic_load(&g->late)) {
            return true;
        }
    }
    for (size_t i = 0; (s = at(&segments, i)) != NULL; i++) {
        if (renewer_index(s->renewer) == index && !atomic_load(&s->late)) {
            return true;
        }
    }
    return false;
}

/* Is there something of that store left to issue? Called when all that counts can issue. */
static bool renewer_has_some(size_t index) {
    const generator *g;
    const segment *s;
    for (size_t i = 0; (g = at(&generators, i)) != NULL; i++) {
        if (g->renewer != NULL && renewer_index(g->renewer) == index &&
            atomic_load(&g->gen) != NULL && !atomic_load(&g->idle) && !atomic_load(&g->late)) {
            return true;
        }
    }
    for (size_t i = 0; (s = at(&segments, i)) != NULL; i++) {
        if (renewer_index(s->renewer) == index && !atomic_load(&s->late)) {
            return true;
        }
    }
    return false;
}

bool catalog_ready(char why[256]) {
    renewer_state state;
    why[0] = '\0';
    if (find_unready(why)) {
        return false;
    }
    for (size_t i = 0; renewer_look(i, &state); i++) {
        if (!state.usable && renewer_counts(i) && !renewer_has_some(i)) {
            snprintf(why, 256, "store %.60s: %.120s", state.url, state.trouble);
            return false;
        }
        if (!state.usable) {
            int64_t left = least_window_ms();
            if (left < 0 || left == WINDOW_MOST_MS) {
                snprintf(why, 256, "store %.60s: %.120s; what is fetched is still issued",
                         state.url, state.trouble);
            } else {
                snprintf(why, 256, "store %.60s: %.120s; windows last %" PRId64 " ms more",
                         state.url, state.trouble, left);
            }
        }
    }
    return true;
}
