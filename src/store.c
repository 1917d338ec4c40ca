/* SPDX-License-Identifier: MIT */
/* Stores: opened by URL, with modules that are loaded when first used, and the functions that check
 * every call of a store. Knows no generator, and of an engine only the name. */
#include "store.h"

#include "clock.h"
#include "confined.h"
#include "engine.h"
#include "error.h"
#include "fork_memory.h"
#include "hash.h"
#include "module.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define URL_SIZE FIRN__STORE_URL_SIZE
#define MADE     "?create=yes" /* with the folders of its path */

struct firn_store {
    const firn_store_ops *ops;
    const char *scheme;
    bool lasts; /* namespaces can be closed */
    void *self;
    void *library;         /* of the module; NULL: built in or the caller's */
    pthread_mutex_t *lock; /* in a page that a fork wipes: a child never inherits it locked */
    char url[URL_SIZE];
    struct absent *absent; /* what firn__store_open_later has not opened yet; NULL: it is open */
    char *module_dir;      /* of the options; NULL: none */
    bool unsafe;
};

/* A store that was away. */
typedef struct absent {
    const firn_driver *driver;
    firn_store_options options;
    char url[URL_SIZE]; /* with its password */
} absent;

static int make_store(firn_store **out, const firn_store_ops *ops, void *self, firn_error *error) {
    int code;
    firn_store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a store");
    }
    store->lock = firn__wiped(sizeof *store->lock, &code, error);
    if (store->lock == NULL) {
        free(store);
        return code;
    }
    store->ops = ops;
    store->scheme = ops->scheme;
    store->self = self;
    *out = store;
    return FIRN_OK;
}

static void free_store(firn_store *store) {
    if (store->absent != NULL) {
        explicit_bzero(store->absent, sizeof *store->absent);
        free(store->absent);
    }
    firn__wiped_free(store->lock, sizeof *store->lock);
    free(store->module_dir);
    free(store);
}

static int keep_options(firn_store *store, const firn_store_options *options, firn_error *error) {
    store->unsafe = options->unsafe;
    if (options->module_dir != NULL) {
        store->module_dir = strdup(options->module_dir);
    }
    return options->module_dir == NULL || store->module_dir != NULL
               ? FIRN_OK
               : firn__fail(error, FIRN_EMEMORY, "out of memory for a store");
}

firn_store_options firn__store_options(const firn_store *store) {
    return (firn_store_options){.module_dir = store->module_dir, .unsafe = store->unsafe};
}

int firn_store_wrap(firn_store **store, const firn_store_ops *ops, void *self, firn_error *error) {
    if (ops->version != FIRN_STORE_OPS_VERSION) {
        return firn__fail(error, FIRN_EUSAGE,
                          "the store's methods are of version %" PRIu32
                          ", not %d: compile them with this firn.h",
                          ops->version, FIRN_STORE_OPS_VERSION);
    }
    if (ops->scheme == NULL || ops->reserve == NULL || ops->give_back == NULL ||
        ops->list == NULL || ops->close == NULL) {
        return firn__fail(error, FIRN_EUSAGE,
                          "one of the store's methods is missing: see firn_store_ops in firn.h");
    }
    int code = make_store(store, ops, self, error);
    if (code == FIRN_OK) {
        snprintf((*store)->url, URL_SIZE, "%s:", ops->scheme);
    }
    return code;
}

/* ---- where ----------------------------------------------------------------------------------- */

/* The embedded store's place: what the environment says for a user, the machine's for root and
 * services. */
static int default_url(char url[URL_SIZE], const char *name, firn_error *error) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length;
    if (state != NULL && state[0] == '/') {
        length = snprintf(url, URL_SIZE, "sqlite:%s/firn/%s" MADE, state, name);
    } else if (geteuid() == 0 || home == NULL || home[0] != '/') {
        length = snprintf(url, URL_SIZE, "sqlite:/var/lib/firn/%s" MADE, name);
    } else {
        length = snprintf(url, URL_SIZE, "sqlite:%s/.local/state/firn/%s" MADE, home, name);
    }
    return length < URL_SIZE
               ? FIRN_OK
               : firn__fail(error, FIRN_ERANGE, "XDG_STATE_HOME is too long: set a shorter one");
}

/* An engine of another name than these may have a module of its own making. */
static bool is_ours(const char *engine) {
    static const char *const ours[] = {
#define STORE(scheme, rest, place, reach) scheme,
#include "stores.def"
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        if (strcmp(engine, ours[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int refuse_engine(const char *engine, const char *why, firn_error *error) {
    static const char kinds[] =
#define STORE(scheme, rest, place, reach) scheme ", "
#include "stores.def"
        ;
    if (why[0] != '\0') {
        return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_INSTALL,
                              "the module for " FIRN__VALUE(
                                  "%.20s") " cannot be loaded: %.95s: install what it needs",
                              engine, why);
    }
    if (is_ours(engine)) {
        bool basic = strcmp(engine, "sqlite") == 0;
        return firn_error_set(
            error, FIRN_EUSAGE, FIRN_CURE_INSTALL,
            "the module for " FIRN__VALUE(
                "%.20s") " is not installed in %.40s: install the package "
                         "%s%s (Debian), or in firn's source run ./run all, then make install",
            engine, firn__module_place(), basic ? "libfirn-modules" : "libfirn-store-",
            basic ? "" : engine);
    }
    return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_KNOWN_STORE,
                          "firn has no store of kind '" FIRN__VALUE(
                              "%.20s") "': use %sor install its module in %.60s",
                          engine, kinds, firn__module_place());
}

/* Other names for an engine in URLs become the name of its module, which looks at the URL: rediss
 * is Redis with TLS. */
static void name_module(char engine[32]) {
    static const char *const names[][2] = {
        {"rediss", "redis"}, {"postgresql", "postgres"}, {"mariadb", "mysql"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(engine, names[i][0]) == 0) {
            strcpy(engine, names[i][1]);
        }
    }
}

/* Has the module a driver of this version, with the methods that each must have? */
static int check_driver(const firn_driver *driver, const char *engine, firn_error *error) {
    if (driver == NULL || driver->version != FIRN_DRIVER_VERSION) {
        return firn__fail(error, FIRN_ESYSTEM,
                          "the module for %.20s is of another version (%u, not %d): install "
                          "the module of this firn, or build it with its firn/store.h",
                          engine, driver != NULL ? (unsigned)driver->version : 0U,
                          FIRN_DRIVER_VERSION);
    }
    if (driver->scheme == NULL || strcmp(driver->scheme, engine) != 0) {
        return firn__fail(error, FIRN_ESYSTEM,
                          "the module for %.20s is for URLs of %.20s: give its file that name",
                          engine, driver->scheme != NULL ? driver->scheme : "no kind");
    }
    if (driver->open == NULL || driver->begin == NULL || driver->read == NULL ||
        driver->write == NULL || driver->where == NULL || driver->list == NULL ||
        driver->close == NULL || (driver->source == NULL) != (driver->take == NULL)) {
        return firn__fail(error, FIRN_ESYSTEM,
                          "the module for %.20s lacks a method: set open, begin, read, write, "
                          "where, list and close, and take with source",
                          engine);
    }
    return FIRN_OK;
}

static int load_module(void **library, const firn_driver **driver, const char *engine,
                       const firn_store_options *options, firn_error *error) {
    char why[FIRN__MODULE_WHY];
    *library = firn__module_open(engine, options->module_dir, why);
    if (*library == NULL) {
        return refuse_engine(engine, why, error);
    }
    *driver = firn__module_symbol(*library, "firn_store_driver");
    int code = check_driver(*driver, engine, error);
    if (code != FIRN_OK) {
        firn__module_close(*library);
    }
    return code;
}

/* The engine's name, and the URL for errors, without the password between : and @ after //. */
static int split_url(char engine[32], char shown[URL_SIZE], const char *url, firn_error *error) {
    size_t length = strcspn(url, ":");
    const char *slashes = strstr(url, "//"), *text = slashes != NULL ? slashes + 2 : url;
    const char *position = memrchr(text, '@', strcspn(text, "?")); /* passwords may hold one too */
    const char *colon = slashes != NULL && position != NULL ? strchr(slashes, ':') : NULL;
    if (strlen(url) >= URL_SIZE) {
        return firn__fail(error, FIRN_EUSAGE,
                          "the URL of the store has %zu characters: use at most %d", strlen(url),
                          URL_SIZE - 1);
    }
    if (url[length] != ':' || length == 0 || length > 31 ||
        strspn(url, "abcdefghijklmnopqrstuvwxyz0123456789") != length) {
        return firn_error_set(
            error, FIRN_EUSAGE, FIRN_CURE_KNOWN_STORE, /* a password may follow */
            "'" FIRN__VALUE(
                "%.*s") "' is not a kind of store: write sqlite:PATH for a file, or the URL of a "
                        "server, as postgres://HOST/DATABASE",
            length < 31 ? (int)length : 31, url);
    }
    memcpy(engine, url, length);
    engine[length] = '\0';
    if (colon != NULL && colon < position) {
        snprintf(shown, URL_SIZE, "%.*s:***%s", (int)(colon - url), url, position);
    } else {
        snprintf(shown, URL_SIZE, "%s", url);
    }
    return FIRN_OK;
}

int firn__store_beside(char url[URL_SIZE], const char *path, const char *name, firn_error *error) {
    if (path == NULL) {
        return default_url(url, name, error);
    }
    return snprintf(url, URL_SIZE, "sqlite:%s" MADE, path) < URL_SIZE
               ? FIRN_OK
               : firn__fail(error, FIRN_ERANGE, "the path %.40s... is too long: set a shorter one",
                            path);
}

int firn__store_drive(void **library, const firn_driver **driver, void **self, const char *url,
                      const firn_store_options *options, firn_error *error) {
    char engine[32], shown[URL_SIZE];
    int code = split_url(engine, shown, url, error);
    *library = NULL;
    if (code == FIRN_OK) {
        code = load_module(library, driver, engine, options, error);
    }
    if (code != FIRN_OK) {
        *library = NULL;
        return code;
    }
    code = (*driver)->open(self, url, options, error);
    if (code != FIRN_OK) {
        firn__module_close(*library);
        *library = NULL;
    }
    return code;
}

/* Opens what the module, or this library, has. */
static int open_engine(firn_store *store, const firn_driver *driver, const char *url,
                       const firn_store_options *options, firn_error *error) {
    void *driven;
    int code = driver->open(&driven, url, options, error);
    store->scheme = driver->scheme;
    store->lasts = driver->lasts;
    return code == FIRN_OK ? firn__engine_make(&store->self, driver, driven, error) : code;
}

static int open_now(firn_store **out, const char *url, const firn_store_options *options,
                    firn_error *error) {
    static const firn_store_options none = {0};
    char engine[32], shown[URL_SIZE], chosen[URL_SIZE];
    const firn_driver *driver = &firn__store_memory;
    firn_store *store;
    void *library = NULL;
    int code = FIRN_OK;
    firn_store_options quiet = options != NULL ? *options : none;
    options = options != NULL ? options : &none;
    if (url == NULL) { /* created silently */
        code = default_url(chosen, "firn.db", error);
        url = chosen;
        quiet.notice = NULL;
        quiet.must_exist = false;
        options = &quiet;
    }
    if (code == FIRN_OK) {
        code = split_url(engine, shown, url, error);
    }
    if (code == FIRN_OK && url == chosen) {
        shown[strlen(shown) - strlen(MADE)] = '\0';
    }
    if (code == FIRN_OK) {
        name_module(engine);
    }
    if (code == FIRN_OK && strcmp(engine, "memory") != 0) {
        code = load_module(&library, &driver, engine, options, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    code = make_store(&store, &firn__engine_ops, NULL, error);
    if (code == FIRN_OK) {
        code = keep_options(store, options, error);
        code = code == FIRN_OK ? open_engine(store, driver, url, options, error) : code;
        if (code != FIRN_OK) {
            free_store(store);
        }
    }
    if (code != FIRN_OK) {
        if (library != NULL) {
            firn__module_close(library);
        }
        return code;
    }
    store->library = library;
    strcpy(store->url, shown);
    *out = store;
    return FIRN_OK;
}

/* ---- stores that do not answer --------------------------------------------------------------- */

#define PAUSE_MS 10000

/* By a number of the URL. Two stores with one place have no pause in turn. */
static struct {
    _Atomic uint64_t url;
    _Atomic int64_t until_ms; /* CLOCK_BOOTTIME */
} pauses[16];

static int64_t steady_now_ms(void) {
    int64_t now_ns = 0;
    (void)firn__clock_system.steady(NULL, &now_ns);
    return now_ns / 1000000;
}

void firn__store_pause(const char *url, bool answers) {
    const uint64_t sum = firn__hash(FIRN__HASH_START, url, strlen(url));
    const size_t i = sum % (sizeof pauses / sizeof *pauses);
    if (!answers || atomic_load_explicit(&pauses[i].url, memory_order_relaxed) == sum) {
        atomic_store_explicit(&pauses[i].until_ms, answers ? 0 : steady_now_ms() + PAUSE_MS,
                              memory_order_relaxed);
        atomic_store_explicit(&pauses[i].url, sum, memory_order_relaxed);
    }
}

bool firn__store_is_paused(const char *url) {
    const uint64_t sum = firn__hash(FIRN__HASH_START, url, strlen(url));
    const size_t i = sum % (sizeof pauses / sizeof *pauses);
    return atomic_load_explicit(&pauses[i].url, memory_order_relaxed) == sum &&
           atomic_load_explicit(&pauses[i].until_ms, memory_order_relaxed) > steady_now_ms();
}

bool firn__store_was_away(const char *url) {
    char engine[32], shown[URL_SIZE];
    return split_url(engine, shown, url, NULL) == FIRN_OK && firn__store_is_paused(shown);
}

int firn__store_open_later(firn_store **out, const char *url, const firn_store_options *options,
                           firn_error *error) {
    char engine[32], shown[URL_SIZE];
    firn_store *store;
    int code = split_url(engine, shown, url, error);
    if (code == FIRN_OK) {
        code = make_store(&store, &firn__engine_ops, NULL, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    strcpy(store->url, shown);
    name_module(engine);
    store->absent = calloc(1, sizeof *store->absent);
    code = store->absent == NULL ? firn__fail(error, FIRN_EMEMORY, "out of memory for a store")
                                 : keep_options(store, options, error);
    code = code != FIRN_OK
               ? code
               : load_module(&store->library, &store->absent->driver, engine, options, error);
    if (code != FIRN_OK) {
        free_store(store);
        return code;
    }
    store->scheme = store->absent->driver->scheme;
    store->absent->options = *options;
    store->absent->options.module_dir = NULL; /* the module is loaded */
    strcpy(store->absent->url, url);
    *out = store;
    return FIRN_OK;
}

int firn_store_open(firn_store **store, const char *url, const firn_store_options *options,
                    firn_error *error) {
    const bool later = options != NULL && options->later && url != NULL;
    firn_error why = {0};
    if (later && firn__store_was_away(url)) {
        return firn__store_open_later(store, url, options, error);
    }
    int code = open_now(store, url, options, &why);
    const bool away = code == FIRN_ESTORE && later;
    if (away) {
        firn_error other = {0};
        code = firn__store_open_later(store, url, options, &other);
        if (code == FIRN_OK) {
            firn__store_pause(firn__store_url(*store), false);
        } else {
            why = other;
        }
    }
    if (code != FIRN_OK || away) {
        (void)firn__repeat(&why, error);
    }
    return code;
}

/* ---- the verbs ------------------------------------------------------------------------------- */

static void lock(const firn_store *store) {
    firn__wiped_look(); /* a child must not wait for a lock that its parent held */
    pthread_mutex_lock(store->lock);
}

/* With the lock: opens what was away. */
static int lock_open(firn_store *store, firn_error *error) {
    lock(store);
    absent *wanted = store->absent;
    int code = wanted != NULL
                   ? open_engine(store, wanted->driver, wanted->url, &wanted->options, error)
                   : FIRN_OK;
    if (code != FIRN_OK) {
        pthread_mutex_unlock(store->lock);
        return code;
    }
    if (wanted != NULL) {
        store->absent = NULL;
        explicit_bzero(wanted, sizeof *wanted);
        free(wanted);
    }
    return FIRN_OK;
}

static int check_ns_key(const char *ns, const char *key, firn_error *error) {
    if (ns == NULL || ns[0] == '\0' || strlen(ns) >= FIRN_NS_SIZE || key == NULL ||
        key[0] == '\0' || strlen(key) >= FIRN_KEY_SIZE) {
        return firn__fail(error, FIRN_ERANGE, "a namespace has 1..%d characters, a key 1..%d",
                          FIRN_NS_SIZE - 1, FIRN_KEY_SIZE - 1);
    }
    return FIRN_OK;
}

int firn_store_reserve(firn_store *store, const firn_request *request, int64_t *first,
                       firn_mark *held, firn_error *error) {
    int64_t granted = -1;
    firn_mark mark = {0, 0};
    int code = check_ns_key(request->ns, request->key, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (request->layout == NULL || request->layout[0] == '\0' ||
        strlen(request->layout) >= FIRN_LAYOUT_SIZE) {
        return firn__fail(error, FIRN_ERANGE, "the layout of a namespace has 1..%d characters",
                          FIRN_LAYOUT_SIZE - 1);
    }
    if (request->earliest < 0 || request->latest < request->earliest || request->count < 1 ||
        request->latest > FIRN_SLOT_MAX || request->count > FIRN_SLOT_MAX - request->latest) {
        return firn__fail(error, FIRN_ERANGE,
                          "a reservation of %" PRId64 " from %" PRId64 " to %" PRId64
                          ": 0 <= earliest <= latest, count >= 1, latest + count <= 2^62",
                          request->count, request->earliest, request->latest);
    }
    code = lock_open(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = store->ops->reserve(store->self, request, &granted, &mark, error);
    pthread_mutex_unlock(store->lock);
    if (code == FIRN_OK && (granted < request->earliest || granted > request->latest)) {
        return firn__fail(error, FIRN_ESTORE,
                          "the store granted %" PRId64
                          ", which is outside the request: do not use this store",
                          granted);
    }
    if (code == FIRN_OK) {
        *first = granted;
    } else if (code == FIRN_EBUSY) {
        *held = mark;
    }
    return code;
}

int firn_store_give_back(firn_store *store, const char *ns, const char *key, const firn_mark *mine,
                         int64_t high, firn_error *error) {
    int code = check_ns_key(ns, key, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (mine->grant == 0) {
        return firn__fail(error, FIRN_ERANGE,
                          "a give back needs the grant of its reservation, not 0");
    }
    if (high < 0 || high > mine->high || mine->high > FIRN_SLOT_MAX) {
        return firn__fail(error, FIRN_ERANGE,
                          "a give back from %" PRId64 " to %" PRId64 ": it only lowers", mine->high,
                          high);
    }
    code = lock_open(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = store->ops->give_back(store->self, ns, key, mine, high, error);
    pthread_mutex_unlock(store->lock);
    return code;
}

int firn_store_list(firn_store *store, const char *ns, firn_visit *visit, void *context,
                    firn_error *error) {
    int code = lock_open(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = store->ops->list(store->self, ns, visit, context, error);
    pthread_mutex_unlock(store->lock);
    return code;
}

int firn_store_others(firn_store *store, firn_visit *visit, void *context, firn_error *error) {
    if (store->ops != &firn__engine_ops) {
        return FIRN_OK; /* methods of a program */
    }
    int code = lock_open(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = firn__engine_others(store->self, visit, context, error);
    pthread_mutex_unlock(store->lock);
    return code;
}

int firn__store_known(firn_store *store, const char *ns, const char *key, firn_records *seen,
                      firn_error *error) {
    *seen = (firn_records){.ns = ns, .key = key, .layout = "", .note = ""};
    if (store->ops != &firn__engine_ops) {
        return FIRN_OK;
    }
    int code = lock_open(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = firn__engine_known(store->self, seen, error);
    pthread_mutex_unlock(store->lock);
    return code;
}

void firn__store_forget(firn_store *store, const char *ns, const char *key) {
    lock(store);
    if (store->ops == &firn__engine_ops && store->absent == NULL) {
        firn__engine_forget(store->self, ns, key);
    }
    pthread_mutex_unlock(store->lock);
}

int firn_store_now(firn_store *store, firn_time *now, firn_error *error) {
    if (store->ops->now == NULL) {
        return firn__fail(error, FIRN_ESYSTEM, "the store %.20s has no clock", store->ops->scheme);
    }
    int code = lock_open(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = store->ops->now(store->self, now, error);
    pthread_mutex_unlock(store->lock);
    return code;
}

/* The layout without what `firn nodes` writes in front: "closed (WHY): closed (WHY): claim=0..9
 * LAYOUT" becomes LAYOUT. */
static const char *open_layout(const char *layout) {
    for (const char *end; firn_layout_closed(layout); layout = end + 3) {
        if ((end = strstr(layout, "): ")) == NULL) {
            return layout;
        }
    }
    firn__claims unused;
    return firn__confined_read(layout, &unused);
}

int firn_store_relabel(firn_store *store, const firn_relabel *change, int64_t *floor,
                       firn_error *error) {
    const char *text = change->from;
    int64_t stored = 0;
    int code = check_ns_key(change->ns, "1", error);
    if (code != FIRN_OK) {
        return code;
    }
    if (change->to[0] == '\0' || strlen(change->to) >= FIRN_LAYOUT_SIZE ||
        (text != NULL && strlen(text) >= FIRN_LAYOUT_SIZE) || change->floor < 0 ||
        change->floor > FIRN_SLOT_MAX) {
        return firn__fail(error, FIRN_ERANGE, "a layout has 1..%d characters, a floor 0..2^62",
                          FIRN_LAYOUT_SIZE - 1);
    }
    if (text == NULL ? !firn_layout_closed(change->to) || open_layout(change->to) == change->to
                     : strcmp(open_layout(text), open_layout(change->to)) != 0) {
        return firn_error_set(
            error, FIRN_EUSAGE, FIRN_CURE_OTHER_NAMESPACE,
            "namespace %.60s can be closed, opened or confined, but its layout cannot become "
            "'%.60s': use another namespace",
            change->ns, change->to);
    }
    code = lock_open(store, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (!store->lasts) {
        pthread_mutex_unlock(store->lock);
        return firn__fail(error, FIRN_EUSAGE,
                          "store %.60s cannot close a namespace: use a store that lasts, with the "
                          "module of this firn",
                          store->url);
    }
    code = firn__engine_relabel(store->self, change, &stored, error);
    pthread_mutex_unlock(store->lock);
    if (code == FIRN_OK) {
        *floor = stored;
    }
    return code;
}

const char *firn_store_caution(const firn_store *store) {
    return store->ops->caution != NULL && store->absent == NULL ? store->ops->caution(store->self)
                                                                : NULL;
}

void firn_store_close(firn_store *store) {
    if (store == NULL) {
        return;
    }
    if (store->absent == NULL) {
        store->ops->close(store->self);
    }
    if (store->library != NULL) {
        firn__module_close(store->library);
    }
    free_store(store);
}

bool firn__store_embedded(const firn_store *store) {
    return strcmp(store->scheme, "memory") == 0 || strcmp(store->scheme, "sqlite") == 0;
}

bool firn__store_has_law(const firn_store *store) {
    char engine[32];
    snprintf(engine, sizeof engine, "%s", store->scheme);
    name_module(engine);
    return store->ops == &firn__engine_ops || is_ours(engine);
}

const char *firn__store_url(const firn_store *store) {
    return store->url;
}
