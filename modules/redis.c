/* SPDX-License-Identifier: MIT */
/* The driver of Redis: a read, a write and an add are one script each, which sees the server's run
 * ID and the records in one step.
 *
 * The keys are {PREFIX}, the set of namespaces; {PREFIX}:, a hash with the fields identity (the run
 * ID of the server) and losses (how often the store lost reservations, as far as noticed: another
 * run ID, or a handle that saw more); and {PREFIX}:NS, a hash with the fields layout, losses (when
 * the namespace was last reserved from), floor, and for each key "high KEY", "grant KEY" and "note
 * KEY". The braces keep all of them in one slot of a cluster. */
#include "redis.h"
#include "redis_lua.h"

#include <argz.h>
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_CHUNK  64      /* keys per command of a listing */
#define LIST_ROUNDS 1000000 /* replies per scan */

static_assert(3 * LIST_CHUNK + 8 <= REDIS_ARGUMENTS_MAX, "a command of a listing fits");

static void namespace_key(char out[REDIS_KEY_SIZE], const redis_store *store, const char *ns) {
    snprintf(out, REDIS_KEY_SIZE, "{%s}:%s", store->prefix, ns);
}

/* ---- records --------------------------------------------------------------------------------- */

#define SEAL_SIZE 41

/* The driver's part of the records. */
typedef struct redis_records {
    char seal[SEAL_SIZE]; /* of all but the key's record: see LUA_SEE */
    bool sound;           /* the store's record is of this run of the server */
} redis_records;

static_assert(sizeof(redis_records) <= sizeof((firn_records *)NULL)->own,
              "the driver's part has room");

static redis_records own_of(const firn_records *records) {
    redis_records out;
    memcpy(&out, records->own, sizeof out);
    return out;
}

/* The indexes of read_lua's reply. */
enum {
    AT_RUN,
    AT_IDENTITY,
    AT_LOSSES,
    AT_LAYOUT,
    AT_NS_LOSSES,
    AT_FLOOR,
    AT_MADE,
    AT_ALL_LAYOUT,
    AT_ALL_LOSSES,
    AT_HIGH,
    AT_GRANT,
    AT_NOTE,
    AT_SEAL,
    READ_TEXTS
};

static bool is_there(const redisReply *text) {
    return text->len > 0;
}

/* An absent one is 0. */
static bool take_slot(int64_t *out, const redisReply *text) {
    *out = 0;
    return !is_there(text) || redis_read_slot(out, text);
}

/* False: it is too long for firn's. */
static bool take_layout(char out[FIRN_LAYOUT_SIZE], const char *text) {
    return snprintf(out, FIRN_LAYOUT_SIZE, "%s", text) < FIRN_LAYOUT_SIZE;
}

/* False: they are not firn's. A namespace that lacks a field has no layout. */
static bool take_records(redis_store *store, firn_records *out, redisReply *const *texts) {
    const redisReply *identity = texts[AT_IDENTITY], *grant = texts[AT_GRANT];
    redis_records mine = {.sound = is_there(identity)
                                       ? strcmp(identity->str, texts[AT_RUN]->str) == 0
                                       : strcmp(texts[AT_MADE]->str, "0") == 0};
    int64_t all_losses;
    snprintf(mine.seal, sizeof mine.seal, "%s", texts[AT_SEAL]->str);
    snprintf(store->note, sizeof store->note, "%s", texts[AT_NOTE]->str);
    const bool read =
        take_slot(&out->losses, texts[AT_LOSSES]) && take_slot(&out->floor, texts[AT_FLOOR]) &&
        take_slot(&out->ns_losses, texts[AT_NS_LOSSES]) &&
        take_slot(&all_losses, texts[AT_ALL_LOSSES]) &&
        take_slot(&out->mark.high, texts[AT_HIGH]) &&
        take_layout(store->layout, is_there(texts[AT_NS_LOSSES]) ? texts[AT_LAYOUT]->str : "") &&
        take_layout(store->shut, texts[AT_ALL_LAYOUT]->str) &&
        (!is_there(texts[AT_HIGH]) || module_uint64(&out->mark.grant, grant->str, grant->len));
    out->fresh = true;
    out->known = is_there(identity);
    out->all_new = is_there(texts[AT_ALL_LOSSES]) && all_losses == out->losses;
    out->shut = firn_layout_closed(store->shut) ? store->shut : NULL;
    out->ns_known = is_there(texts[AT_LAYOUT]) || is_there(texts[AT_NS_LOSSES]);
    out->layout = store->layout;
    out->key_known = is_there(texts[AT_HIGH]);
    out->note = store->note;
    memcpy(out->own, &mine, sizeof mine);
    return read;
}

static int damaged(const redis_store *store, const char *ns, const char *key, firn_error *error) {
    return module_fail(error, FIRN_ESTORE,
                       "the mark of %.24s/%.63s is damaged: see redis-cli HGETALL '{%.24s}:%.24s'",
                       ns, key, store->prefix, ns);
}

static int unreadable(const redis_store *store, int code, firn_error *error) {
    return module_fail(error, code,
                       "store %.60s sent an answer that cannot be read: name a Redis server",
                       store->link.url.shown);
}

/* ---- the driver ------------------------------------------------------------------------------ */

static int redis_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    redis_store *store = self;
    char ns[REDIS_KEY_SIZE];
    redisReply *reply;
    (void)surely; /* there is one server */
    namespace_key(ns, store, seen->ns);
    const char *arguments[] = {ns, store->index, store->own, store->all, seen->ns, seen->key};
    int code = redis_evaluate(store, &reply, &store->read, 4, 6, arguments, NULL, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (reply->elements != READ_TEXTS) {
        code = unreadable(store, FIRN_ESTORE, error);
    } else if (!take_records(store, seen, reply->element)) {
        code = damaged(store, seen->ns, seen->key, error);
    }
    freeReplyObject(reply);
    return code;
}

static bool redis_lost(void *self, const firn_records *seen) {
    (void)self;
    return !own_of(seen).sound;
}

/* Runs a script that writes: on FIRN_OK, `out` has what it returned. */
static int change(redis_store *store, const redis_script *script, int keys, int count,
                  const char **arguments, firn_verb verb, char out[SEAL_SIZE], firn_error *error) {
    redisReply *reply;
    int code = redis_evaluate(store, &reply, script, keys, count, arguments,
                              &firn__module_points[verb], error);
    if (code != FIRN_OK) {
        return code;
    }
    if (redis_says(reply, "ok", 2)) {
        snprintf(out, SEAL_SIZE, "%s", reply->element[1]->str);
        code = module_point(&store->link, firn__module_points[verb].committed, error);
    } else {
        code = redis_says(reply, "changed", 1) ? FIRN_WRITE_CHANGED
                                               : unreadable(store, FIRN_EUNKNOWN, error);
    }
    freeReplyObject(reply);
    return code;
}

static const char *grant_digits(char out[MODULE_NUMBER_SIZE], uint64_t grant) {
    snprintf(out, MODULE_NUMBER_SIZE, "%" PRIu64, grant);
    return out;
}

static int redis_write(void *self, const firn_records *seen, firn_records *next, int which,
                       firn_verb verb, firn_error *error) {
    redis_store *store = self;
    char name[REDIS_KEY_SIZE], texts[7][MODULE_NUMBER_SIZE];
    const bool known = seen->key_known, first = (which & FIRN_RECORD_STORE) != 0;
    const bool ns = (which & FIRN_RECORD_NS) != 0, mark = (which & FIRN_RECORD_KEY) != 0;
    redis_records records = own_of(seen);
    namespace_key(name, store, seen->ns);
    const char *arguments[] = {name,
                               store->index,
                               store->own,
                               store->all,
                               seen->ns,
                               seen->key,
                               records.seal,
                               known ? module_digits(texts[0], seen->mark.high) : "",
                               known ? grant_digits(texts[1], seen->mark.grant) : "",
                               first ? module_digits(texts[2], next->losses) : "",
                               ns ? next->layout : "",
                               module_digits(texts[3], next->ns_losses),
                               module_digits(texts[4], next->floor),
                               mark ? module_digits(texts[5], next->mark.high) : "",
                               grant_digits(texts[6], next->mark.grant),
                               next->note};
    int code = change(store, &store->write, 4, 16, arguments, verb, records.seal, error);
    if (code == FIRN_OK) {
        records.sound = records.sound || first;
        memcpy(next->own, &records, sizeof records);
    }
    return code;
}

static int redis_add(void *self, const firn_records *seen, firn_records *next,
                     const firn_raise *raise, firn_error *error) {
    redis_store *store = self;
    char ns[REDIS_KEY_SIZE], texts[8][MODULE_NUMBER_SIZE], text[SEAL_SIZE];
    namespace_key(ns, store, seen->ns);
    const char *arguments[] = {ns,
                               store->own,
                               seen->key,
                               module_digits(texts[0], seen->losses),
                               seen->layout,
                               module_digits(texts[1], seen->floor),
                               seen->key_known ? "1" : "0",
                               module_digits(texts[2], raise->min),
                               grant_digits(texts[3], raise->grant),
                               module_digits(texts[4], raise->low),
                               module_digits(texts[5], raise->most),
                               module_digits(texts[6], raise->count),
                               grant_digits(texts[7], next->mark.grant),
                               next->note};
    int64_t first;
    int code = change(store, &store->add, 2, 14, arguments, FIRN_VERB_RESERVE, text, error);
    if (code == FIRN_OK && !module_int64(&first, text, strlen(text))) {
        return unreadable(store, FIRN_EUNKNOWN, error);
    }
    if (code == FIRN_OK) {
        next->mark.high = first + raise->count;
    }
    return code;
}

static const char *redis_source(void *self, const char *ns) {
    const redis_store *store = self;
    (void)ns;
    return store->counters ? "a plain counter" : NULL;
}

static int redis_now(void *self, firn_time *now, firn_error *error) {
    redis_store *store = self;
    redisReply *reply;
    int64_t sec, us;
    int code = redis_ask(store, &reply, 1, (const char *[]){"TIME"}, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
        !redis_is_text(reply->element[0]) || !redis_is_text(reply->element[1]) ||
        !module_int64(&sec, reply->element[0]->str, reply->element[0]->len) ||
        !module_int64(&us, reply->element[1]->str, reply->element[1]->len) || us > 999999) {
        return redis_refused(store, reply, error);
    }
    freeReplyObject(reply);
    *now = (firn_time){sec, (int32_t)us * 1000};
    return FIRN_OK;
}

/* ---- list ------------------------------------------------------------------------------------ */

/* A list of names. */
typedef struct names {
    char *text; /* one after the other, each with its zero byte */
    size_t length, count;
    char **items;
} names;

static void names_free(names *all) {
    free(all->text);
    free(all->items);
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Makes the items: sorted by bytes, without duplicates, as a scan can return a name twice. */
static bool names_sort(names *all) {
    size_t found = argz_count(all->text, all->length);
    all->items = calloc(found + 1, sizeof *all->items);
    if (all->items == NULL) {
        return false;
    }
    argz_extract(all->text, all->length, all->items);
    qsort(all->items, found, sizeof *all->items, by_bytes);
    for (size_t i = 0; i < found; i++) {
        if (i == 0 || strcmp(all->items[all->count - 1], all->items[i]) != 0) {
            all->items[all->count++] = all->items[i];
        }
    }
    return true;
}

/* The members of a set, or the keys of a namespace's hash, in small replies that do not block the
 * server: all that exist from the first reply to the last. */
static int scan(redis_store *store, names *all, const char *command, const char *key,
                const char *match, firn_error *error) {
    char cursor[MODULE_NUMBER_SIZE] = "0";
    const size_t step = strcmp(command, "HSCAN") == 0 ? 2 : 1, skip = strcspn(match, "*");
    for (int i = 0; i < LIST_ROUNDS; i++) {
        redisReply *reply;
        const char *words[] = {command, key, cursor, "MATCH", match, "COUNT", "512"};
        int code = redis_ask(store, &reply, 7, words, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
            !redis_is_text(reply->element[0]) || reply->element[1]->type != REDIS_REPLY_ARRAY) {
            return redis_refused(store, reply, error);
        }
        const redisReply *part = reply->element[1];
        bool added = true;
        for (size_t j = 0; j < part->elements && added; j += step) {
            added = redis_is_text(part->element[j]) && strlen(part->element[j]->str) >= skip &&
                    argz_add(&all->text, &all->length, part->element[j]->str + skip) == 0;
        }
        snprintf(cursor, sizeof cursor, "%.20s", reply->element[0]->str);
        freeReplyObject(reply);
        if (!added) {
            return module_no_memory(error);
        }
        if (strcmp(cursor, "0") == 0) {
            return names_sort(all) ? FIRN_OK : module_no_memory(error);
        }
    }
    return redis_failed(store, error, "a scan does not end");
}

static int visit_part(const redis_store *store, const redisReply *part, const char *ns,
                      char *const *keys, size_t count, firn_visit *visit, void *context,
                      firn_error *error) {
    const redisReply *layout = part->element[0], *stored = part->element[1];
    int64_t floor = 0;
    bool readable = !redis_is_text(stored) || redis_read_slot(&floor, stored);
    for (size_t i = 0; i < count; i++) {
        const redisReply *high = part->element[2 + 3 * i], *grant = part->element[3 + 3 * i],
                         *note = part->element[4 + 3 * i];
        firn_holding holding = {ns, layout->str, keys[i], note->str, {0, 0}, floor};
        if (!readable || !redis_is_text(layout) || !redis_is_text(high) || !redis_is_text(grant) ||
            !redis_is_text(note) || !redis_read_slot(&holding.mark.high, high) ||
            !module_uint64(&holding.mark.grant, grant->str, grant->len)) {
            return damaged(store, ns, keys[i], error);
        }
        int code = visit(context, &holding);
        if (code != FIRN_OK) {
            return code;
        }
    }
    const firn_holding empty = {ns, layout->str, "", "", {0, 0}, floor};
    return count == 0 && redis_is_text(layout) ? visit(context, &empty) : FIRN_OK;
}

/* Shows a few keys, read at one moment, or a namespace without keys. */
static int list_part(redis_store *store, const char *ns, char *const *keys, size_t count,
                     firn_visit *visit, void *context, firn_error *error) {
    static const char *const fields[] = {"high", "grant", "note"};
    char name[REDIS_KEY_SIZE], texts[3 * LIST_CHUNK][FIRN_KEY_SIZE + 8];
    const char *words[REDIS_ARGUMENTS_MAX] = {"HMGET", name, "layout", "floor"};
    redisReply *reply;
    namespace_key(name, store, ns);
    for (size_t i = 0; i < 3 * count; i++) {
        snprintf(texts[i], sizeof texts[i], "%s %.63s", fields[i % 3], keys[i / 3]);
        words[4 + i] = texts[i];
    }
    int code = redis_ask(store, &reply, (int)(4 + 3 * count), words, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 + 3 * count) {
        return redis_refused(store, reply, error);
    }
    code = visit_part(store, reply, ns, keys, count, visit, context, error);
    freeReplyObject(reply);
    return code;
}

static int list_namespace(redis_store *store, const char *ns, bool whole, firn_visit *visit,
                          void *context, firn_error *error) {
    char name[REDIS_KEY_SIZE];
    names keys = {0};
    namespace_key(name, store, ns);
    int code = scan(store, &keys, "HSCAN", name, "high *", error);
    for (size_t i = 0; (i < keys.count || (i == 0 && whole)) && code == FIRN_OK; i += LIST_CHUNK) {
        size_t left = keys.count - i;
        code = list_part(store, ns, keys.items + i, left < LIST_CHUNK ? left : LIST_CHUNK, visit,
                         context, error);
    }
    names_free(&keys);
    return code;
}

static int redis_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    redis_store *store = self;
    names all = {0};
    if (store->counters) {
        return redis_counter_list(store, ns, visit, context, error);
    }
    if (ns != NULL) {
        return list_namespace(store, ns, false, visit, context, error);
    }
    int code = scan(store, &all, "SSCAN", store->index, "*", error);
    for (size_t i = 0; i < all.count && code == FIRN_OK; i++) {
        code = list_namespace(store, all.items[i], true, visit, context, error);
    }
    names_free(&all);
    return code;
}

/* ---- open ------------------------------------------------------------------------------------ */

static int read_database(redis_store *store, firn_error *error) {
    const module_number counters = {"counters", &store->counters, 0, 0, 1, NULL};
    int code = module_param_numbers(&store->link.url, &counters, 1, error);
    const char *path = store->link.url.path;
    if (code == FIRN_OK && path != NULL &&
        (!module_int64(&store->database, path, strlen(path)) || store->database > 65535)) {
        code =
            module_fail(error, FIRN_EUSAGE,
                        "the store's URL has the path /%.40s: give the number of a database", path);
    }
    return code;
}

static int load_scripts(redis_store *store, firn_error *error) {
    int code = redis_load_script(&store->read, read_lua, error);
    code = code == FIRN_OK ? redis_load_script(&store->write, write_lua, error) : code;
    code = code == FIRN_OK ? redis_load_script(&store->add, add_lua, error) : code;
    return code == FIRN_OK ? redis_load_script(&store->count, count_lua, error) : code;
}

static int set_up(void *self, firn_error *error) {
    redis_store *store = self;
    module_url *url = &store->link.url;
    int code = read_database(store, error);
    code = code == FIRN_OK ? module_param_name(&store->prefix, url, "prefix", "firn", error) : code;
    code = code == FIRN_OK ? module_password(url, "REDISCLI_AUTH", error) : code;
    const bool secured = strncmp(url->shown, "rediss:", 7) == 0;
    code = code == FIRN_OK ? module_tls_read(&store->tls, url, secured, error) : code;
    if (code == FIRN_OK && secured && !store->tls.enabled) {
        code = module_fail(error, FIRN_EUSAGE,
                           "rediss:// is Redis with TLS: remove tls=0, or write redis://");
    }
    if (code == FIRN_OK && url->host_count == 0) {
        code = module_fail(error, FIRN_EUSAGE,
                           "the store's URL names no host: write redis://HOST:PORT");
    }
    if (code == FIRN_OK) {
        snprintf(store->index, sizeof store->index, "{%s}", store->prefix);
        namespace_key(store->own, store, "");
        namespace_key(store->all, store, FIRN_ALL_NAMES);
        code = redis_trust(store, error);
    }
    return code == FIRN_OK ? load_scripts(store, error) : code;
}

static void clean(void *self) {
    const redis_store *store = self;
    if (store->trust != NULL) {
        gnutls_certificate_free_credentials(store->trust);
    }
}

static const module_engine engine = {
    .size = sizeof(redis_store),
    .parameters = "connect_timeout timeout prefix counters tls ca cert key verify "
                  "password-file unsafe",
    .set_up = set_up,
    .ready = module_ready,
    .is_open = redis_is_open,
    .dial = redis_connect,
    .hang_up = redis_hang_up,
    .clean = clean,
};

static int redis_open(void **out, const char *url, const firn_store_options *options,
                      firn_error *error) {
    return module_open(out, &engine, url, options, error);
}

const firn_driver firn_store_driver = {
    .version = FIRN_DRIVER_VERSION,
    .scheme = "redis",
    .lasts = true,
    .open = redis_open,
    .begin = module_begin,
    .read = redis_read,
    .lost = redis_lost,
    .write = redis_write,
    .add = redis_add,
    .wait = module_sleep_randomly,
    .source = redis_source,
    .take = redis_counter_take,
    .where = module_where,
    .list = redis_list,
    .now = redis_now,
    .caution = module_caution,
    .close = module_close,
};
