/* SPDX-License-Identifier: MIT */
/* The driver of etcd: how records are read and written, and how it notices that etcd lost
 * reservations.
 *
 * The store lost reservations if the cluster's ID is not the one of its record, or if the Raft
 * term, which never falls in one cluster, is lower; or if two or more of the members in the record
 * are gone, as after --force-new-cluster on a member that may have lagged; or if this handle saw
 * more: another store (ORIGIN is drawn when it is made), a higher revision, a namespace that is
 * gone, a higher mark. LOSSES counts how often that was noticed. */
#include "etcd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE       500 /* keys of one answer of a listing */
#define PAGES_MOST 100000

/* ---- the driver ------------------------------------------------------------------------------ */

static int etcd_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    (void)surely; /* each read is linearizable */
    return etcd_read_records(self, seen, error);
}

static bool etcd_lost(void *self, const firn_records *seen) {
    const etcd_store *store = self;
    const etcd_records records = etcd_own(seen);
    return store->suspect ||
           (seen->known && (records.cluster != store->cluster || records.term > store->term ||
                            etcd_gone(&records.voters, &store->voters) > 1));
}

static void etcd_forget(void *self) {
    etcd_store *store = self;
    store->suspect = store->reserved = false;
}

/* Has the cluster another term or other members than the store's record says? */
static bool has_changed(const etcd_store *store, const etcd_records *own) {
    return own->store_revision > 0 &&
           (store->term > own->term ||
            (store->voters.count > 0 && (store->voters.count != own->voters.count ||
                                         etcd_gone(&own->voters, &store->voters) > 0)));
}

/* Looks who answered if the answer came on a new connection, although it was carried out. */
static int look_again(etcd_store *store, firn_error *error) {
    int code = store->greeted ? FIRN_OK : etcd_look(store, error);
    return module_replace_code(error, code, FIRN_ESTORE, FIRN_EUNKNOWN);
}

static int etcd_write(void *self, const firn_records *seen, firn_records *next, int which,
                      firn_verb verb, firn_error *error) {
    etcd_store *store = self;
    etcd_records own = etcd_own(seen);
    bool written;
    which |= has_changed(store, &own) ? FIRN_RECORD_STORE : 0;
    own.cluster = store->cluster; /* a record that stays has the same */
    own.term = store->term;
    own.voters = store->voters.count > 0 ? store->voters : own.voters;
    int code = seen->known ? FIRN_OK : module_random(&next->origin, error);
    if (code == FIRN_OK) {
        code = etcd_write_records(store, seen, next, which, &own, &firn__module_points[verb],
                                  &written, error);
    }
    if (code == FIRN_OK) {
        code = written ? look_again(store, error) : FIRN_WRITE_CHANGED;
    }
    if (code != FIRN_OK) {
        return code;
    }
    store->suspect = store->suspect && next->losses == seen->losses; /* else it is written */
    next->known = true;
    next->stamp = own.mark_revision;
    memcpy(next->own, &own, sizeof own);
    if (etcd_lost(store, next)) {
        return FIRN_WRITE_FOREIGN;
    }
    store->reserved =
        store->reserved || (verb == FIRN_VERB_RESERVE && (which & FIRN_RECORD_KEY) != 0);
    return module_point(&store->link, firn__module_points[verb].committed, error);
}

/* ---- list ------------------------------------------------------------------------------------ */

/* Called for each key of a range. */
typedef int take_pair(void *context, const bytes *name, const char *text, firn_error *error);

/* The first name after all names with this prefix, whose last byte is / or 0. */
static bytes after(const bytes *name) {
    bytes out = *name;
    out.text[out.length - 1]++;
    return out;
}

static int take_page(const etcd_store *store, json_t *answer, bytes *next, take_pair *take,
                     void *context, firn_error *error) {
    json_t *pairs = json_object_get(answer, "kvs"), *pair;
    size_t i;
    json_array_foreach(pairs, i, pair) {
        char text[ETCD_RECORD_SIZE];
        size_t length;
        bytes name;
        if (!etcd_plain(name.text, sizeof name.text, &name.length, json_object_get(pair, "key")) ||
            !etcd_plain(text, sizeof text, &length, json_object_get(pair, "value"))) {
            return etcd_damaged(store, FIRN_ESTORE, error);
        }
        int code = take(context, &name, text, error);
        if (code != FIRN_OK) {
            return code;
        }
        *next = name; /* with its zero byte: the next possible name */
        next->length++;
    }
    return FIRN_OK;
}

/* Visits the keys from `first` to before `end`, in order, at one revision: *revision, or the
 * current one if it is 0. */
static int walk(etcd_store *store, bytes first, const bytes *end, int64_t *revision,
                take_pair *take, void *context, firn_error *error) {
    for (int i = 0; i < PAGES_MOST; i++) {
        json_t *answer = NULL;
        json_t *body =
            json_pack("{s:o, s:o, s:o, s:o}", "key", etcd_base64(first.text, first.length),
                      "rangeEnd", etcd_base64(end->text, end->length), "limit", etcd_number(PAGE),
                      "revision", etcd_number(*revision));
        int code = etcd_ready(store, error);
        if (code != FIRN_OK) {
            json_decref(body);
            return code;
        }
        code = etcd_ask(store, "/v3/kv/range", body, NULL, &answer, error);
        if (code == FIRN_OK && !etcd_take_head(store, answer)) {
            code = etcd_damaged(store, FIRN_ESTORE, error);
        }
        if (code == FIRN_OK) {
            *revision = *revision != 0 ? *revision : store->revision;
            code = take_page(store, answer, &first, take, context, error);
        }
        bool more = json_is_true(json_object_get(answer, "more"));
        json_decref(answer);
        if (code != FIRN_OK || !more) {
            return code;
        }
    }
    return module_fail(error, FIRN_ESTORE,
                       "store %.60s: the listing does not end: check it with etcdctl",
                       store->link.url.shown);
}

/* A listing in progress. */
typedef struct listing {
    etcd_store *store;
    json_t *layouts; /* by namespace, sorted */
    json_t *floors;  /* by namespace */
    void *argument;  /* the first of the layouts that was not shown; NULL: none */
    bool whole;      /* shows namespaces without a key */
    size_t skip;     /* the bytes before the name of a namespace */
    firn_visit *visit;
    void *context;
} listing;

static int take_layout(void *context, const bytes *name, const char *text, firn_error *error) {
    listing *list = context;
    char layout[FIRN_LAYOUT_SIZE];
    int64_t floor, losses;
    if (!etcd_read_namespace(layout, &floor, &losses, text)) {
        return etcd_damaged(list->store, FIRN_ESTORE, error);
    }
    /* Names are bytes, UTF-8 or not. */
    return json_object_set_new_nocheck(list->layouts, name->text + list->skip,
                                       json_string_nocheck(layout)) == 0 &&
                   json_object_set_new_nocheck(list->floors, name->text + list->skip,
                                               json_integer(floor)) == 0
               ? FIRN_OK
               : module_no_memory(error);
}

/* Shows the namespaces before `ns` (NULL: all that are left), which have no key, and passes
 * `ns`. */
static int show_empty(listing *list, const char *ns) {
    int code = FIRN_OK;
    while (code == FIRN_OK && list->argument != NULL) {
        const char *name = json_object_iter_key(list->argument);
        const int order = ns != NULL ? strcmp(name, ns) : -1;
        const firn_holding holding = {
            name,   json_string_value(json_object_iter_value(list->argument)), "", "",
            {0, 0}, json_integer_value(json_object_get(list->floors, name))};
        if (order > 0) {
            break;
        }
        list->argument = json_object_iter_next(list->layouts, list->argument);
        if (order < 0 && list->whole) {
            code = list->visit(list->context, &holding);
        }
    }
    return code;
}

static int take_mark(void *context, const bytes *name, const char *text, firn_error *error) {
    listing *list = context;
    const char *ns = name->text + list->skip, *key = ns + strlen(ns) + 1;
    const char *layout = json_string_value(json_object_get(list->layouts, ns));
    char note[FIRN_NOTE_SIZE];
    firn_holding holding = {ns,   layout, key,
                            note, {0, 0}, json_integer_value(json_object_get(list->floors, ns))};
    if (layout == NULL || key > name->text + name->length ||
        !etcd_read_mark(&holding.mark, note, text)) {
        return etcd_damaged(list->store, FIRN_ESTORE, error);
    }
    int code = show_empty(list, ns);
    return code == FIRN_OK ? list->visit(list->context, &holding) : code;
}

static int etcd_list(void *self, const char *ns, firn_visit *visit, void *context,
                     firn_error *error) {
    etcd_store *store = self;
    bytes first, end;
    int64_t revision = 0;
    listing list = {store, json_object(), json_object(), NULL, ns == NULL, 0, visit, context};
    etcd_name_namespace(&first, store, ns != NULL ? ns : "");
    list.skip = first.length - (ns != NULL ? strlen(ns) : 0);
    end = first;
    if (ns != NULL) { /* only that name: the next byte is zero */
        end.length++;
    } else {
        end = after(&first);
    }
    int code = walk(store, first, &end, &revision, take_layout, &list, error);
    etcd_name_mark(&first, store, ns != NULL ? ns : "", "");
    first.length -= ns == NULL; /* all: without the zero byte */
    list.skip = strlen(store->prefix) + strlen("mark/");
    end = after(&first);
    if (code == FIRN_OK) {
        list.argument = json_object_iter(list.layouts);
        code = walk(store, first, &end, &revision, take_mark, &list, error);
    }
    code = code == FIRN_OK ? show_empty(&list, NULL) : code;
    json_decref(list.layouts);
    json_decref(list.floors);
    return code;
}

/* ---- now ------------------------------------------------------------------------------------- */

/* The Date header in whole seconds, plus half a second: enough to find clocks that differ by 10
 * s. */
static int etcd_now(void *self, firn_time *now, firn_error *error) {
    etcd_store *store = self;
    json_t *answer = NULL;
    int code = etcd_ready(store, error);
    if (code == FIRN_OK) {
        code = etcd_ask(store, "/v3/cluster/member/list", json_object(), NULL, &answer, error);
    }
    json_decref(answer);
    if (code == FIRN_OK && store->date_s == 0) {
        return module_fail(error, FIRN_ESYSTEM,
                           "store %.60s sent no Date header, so its time is unknown: name etcd "
                           "itself, not a proxy that drops the header",
                           store->link.url.shown);
    }
    if (code == FIRN_OK) {
        *now = (firn_time){store->date_s, 500000000};
    }
    return code;
}

/* ---- open ------------------------------------------------------------------------------------ */

static int read_places(etcd_store *store, firn_error *error) {
    const char *prefix = module_param(&store->link.url, "prefix");
    store->prefix = prefix != NULL ? prefix : "firn/";
    if (strlen(store->prefix) > ETCD_PREFIX_MOST) {
        return module_fail(error, FIRN_ERANGE,
                           "the store's prefix has more than %d bytes: give a shorter one",
                           ETCD_PREFIX_MOST);
    }
    if (store->link.url.host_count == 0 || store->link.url.path != NULL) {
        return module_fail(error, FIRN_EUSAGE,
                           "the store's URL names no host, or a path: write etcd://HOST:PORT,...");
    }
    for (size_t i = 0; i < store->link.url.host_count; i++) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789-._:%";
        const char *name = store->link.url.hosts[i].name;
        if (strlen(name) > 255 || strspn(name, letters) != strlen(name)) {
            return module_fail(error, FIRN_EUSAGE,
                               "'%.60s' is not a valid host: write etcd://HOST:PORT,...", name);
        }
    }
    return FIRN_OK;
}

/* As etcdctl: USER[:PASSWORD], and a password in a parameter. */
static int read_login(etcd_store *store, firn_error *error) {
    const char *value = getenv("ETCDCTL_USER");
    if (store->link.url.user == NULL && value != NULL && value[0] != '\0') {
        size_t length = strcspn(value, ":");
        store->link.url.user = strndup(value, length);
        if (value[length] == ':' && store->link.url.password == NULL) {
            store->link.url.password = strdup(value + length + 1);
        }
        if (store->link.url.user == NULL ||
            (value[length] == ':' && store->link.url.password == NULL)) {
            return module_no_memory(error);
        }
    }
    return module_password(&store->link.url, "ETCDCTL_PASSWORD", error);
}

static void begin_curl(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int set_up(void *self, firn_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    etcd_store *store = self;
    pthread_once(&once, begin_curl);
    int code = module_tls_read(&store->tls, &store->link.url, false, error);
    code = code == FIRN_OK ? read_places(store, error) : code;
    return code == FIRN_OK ? read_login(store, error) : code;
}

static void clean(void *self) {
    etcd_store *store = self;
    explicit_bzero(store->token, sizeof store->token);
}

static const module_engine engine = {
    .size = sizeof(etcd_store),
    .parameters = "connect_timeout timeout prefix tls ca cert key verify password-file unsafe",
    .set_up = set_up,
    .ready = etcd_ready,
    .hang_up = etcd_hang_up,
    .clean = clean,
};

static int etcd_open(void **self, const char *url, const firn_store_options *options,
                     firn_error *error) {
    return module_open(self, &engine, url, options, error);
}

const firn_driver firn_store_driver = {
    .version = FIRN_DRIVER_VERSION,
    .scheme = "etcd",
    .lasts = true,
    .open = etcd_open,
    .begin = module_begin,
    .read = etcd_read,
    .lost = etcd_lost,
    .write = etcd_write,
    .wait = module_sleep_randomly,
    .forget = etcd_forget,
    .where = module_where,
    .list = etcd_list,
    .now = etcd_now,
    .caution = module_caution,
    .close = module_close,
};
