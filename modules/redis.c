/* SPDX-License-Identifier: MIT */
/* The store on Redis: each verb is one script.
 *
 * The keys are {PREFIX}, the set of namespaces; {PREFIX}:, a hash with the fields identity (the run ID of
 * the server) and losses (how often the store lost reservations, as far as noticed: another run ID, or a handle
 * that saw more); and {PREFIX}:NS, a hash with the fields layout, losses (when the namespace was last reserved
 * from), floor, and for each key "high KEY", "grant KEY" and "note KEY". The braces keep all of them in one
 * slot of a cluster. */
#include "redis.h"
#include "redis_lua.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_CHUNK  64      /* keys per command of a listing */
#define LIST_ROUNDS 1000000 /* replies per scan */

_Static_assert(3 * LIST_CHUNK + 8 <= REDIS_ARGUMENTS_MAX, "a command of a listing fits");

FIRN_API extern const firn_store_ops firn_store_module;

static void namespace_key(char out[FIRN_NS_SIZE + 64], const store *self, const char *ns) {
    snprintf(out, FIRN_NS_SIZE + 64, "{%s}:%s", self->prefix, ns);
}

/* ---- verbs ----------------------------------------------------------------------------------- */

static int busy(const store *self, const redisReply *reply, const firn_request *request,
                firn_mark *held, firn_error *error) {
    firn_mark mark;
    int64_t floor;
    if (!redis_read_slot(&mark.high, reply->element[1]) ||
        !redis_read_slot(&floor, reply->element[3]) ||
        !module_uint64(&mark.grant, reply->element[2]->str, reply->element[2]->len)) {
        return module_fail(
            error, FIRN_ESTORE,
            "the mark of %.24s/%.63s is damaged: see redis-cli HGETALL '{%.24s}:%.24s'",
            request->ns, request->key, self->prefix, request->ns);
    }
    *held = mark.high < floor ? (firn_mark){floor, 0} : mark;
    return firn__refuse_busy(error, request, held->high);
}

/* What this handle knows no longer counts after the store lost reservations again. */
static void take_losses(store *self, const redisReply *reply) {
    const char *losses = reply->element[reply->elements - 1]->str;
    if (strcmp(losses, self->losses) != 0) {
        self->link.memory = (firn__memory){0};
        self->losses[0] = '\0';
    }
}

static int granted(store *self, const redisReply *reply, const firn_request *request,
                   int64_t *first, firn_mark *held, firn_error *error) {
    int64_t slot, losses;
    if (redis_says(reply, "layout", 2)) {
        return firn__refuse_layout(error, request, reply->element[1]->str);
    }
    const redisReply *last = reply->element[reply->elements - 1];
    bool counted = module_int64(&losses, last->str, last->len);
    if (counted && redis_says(reply, "closed", 4)) {
        take_losses(self, reply);
        return firn__refuse_closed(error, request->ns, reply->element[2]->str,
                                   reply->element[1]->str);
    }
    if (counted && redis_says(reply, "changed", 2)) {
        take_losses(self, reply);
        return firn__refuse_back(error, self->link.url.shown, request->ns);
    }
    if (counted && redis_says(reply, "busy", 5)) {
        take_losses(self, reply);
        return busy(self, reply, request, held, error);
    }
    if (!counted || !redis_says(reply, "ok", 3) || !redis_read_slot(&slot, reply->element[1])) {
        return module_fail(error, FIRN_EUNKNOWN,
                           "store %.60s sent an answer that cannot be read: name a Redis server",
                           self->link.url.shown);
    }
    take_losses(self, reply);
    snprintf(self->losses, sizeof self->losses, "%" PRId64, losses);
    firn__remember(&self->link.memory, request, slot + request->count);
    int code = module_point(&self->link, module_reserve_points.committed, error);
    if (code == FIRN_OK) {
        *first = slot;
    }
    return code;
}

static int redis_reserve(void *of, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    store *self = of;
    char ns[FIRN_NS_SIZE + 64], own[FIRN_NS_SIZE + 64], all[FIRN_NS_SIZE + 64];
    char numbers[5][MODULE_NUMBER_SIZE], grant[MODULE_NUMBER_SIZE];
    redisReply *reply;
    if (self->counters) {
        return redis_counter_reserve(self, request, first, held, error);
    }
    namespace_key(ns, self, request->ns);
    namespace_key(own, self, "");
    namespace_key(all, self, FIRN__ALL_NAMES);
    snprintf(grant, sizeof grant, "%" PRIu64, request->grant);
    int code = module_ready(self, error);
    if (code != FIRN_OK) {
        return code;
    }
    const firn__memory *memory = &self->link.memory;
    const char *arguments[] = {ns,
                               self->index,
                               own,
                               all,
                               request->ns,
                               request->layout,
                               request->key,
                               module_digits(numbers[0], request->count),
                               module_digits(numbers[1], request->earliest),
                               module_digits(numbers[2], request->latest),
                               grant,
                               request->note != NULL ? request->note : "",
                               module_digits(numbers[3], firn__law_guard(request, module_now_ms())),
                               firn__remembers_ns(memory, request->ns) ? "1" : "0",
                               module_digits(numbers[4], firn__least(memory, request)),
                               self->losses};
    code = redis_evaluate(self, &reply, &self->reserve, 4, 16, arguments, &module_reserve_points,
                          error);
    if (code == FIRN_OK) {
        code = granted(self, reply, request, first, held, error);
        freeReplyObject(reply);
    }
    return code;
}

static int redis_give_back(void *of, const char *ns, const char *key, const firn_mark *mine,
                           int64_t high, firn_error *error) {
    store *self = of;
    char name[FIRN_NS_SIZE + 64], mark[MODULE_NUMBER_SIZE], grant[MODULE_NUMBER_SIZE],
        stopped[MODULE_NUMBER_SIZE];
    redisReply *reply;
    if (self->counters) {
        return module_fail(error, FIRN_EBUSY,
                           "a plain counter keeps no grants: the rest of the block is lost");
    }
    namespace_key(name, self, ns);
    snprintf(grant, sizeof grant, "%" PRIu64, mine->grant);
    firn__forget_last(&self->link.memory);
    const char *arguments[] = {name, key, module_digits(mark, mine->high), grant,
                               module_digits(stopped, high)};
    int code = module_ready(self, error);
    if (code == FIRN_OK) {
        code = redis_evaluate(self, &reply, &self->give_back, 1, 5, arguments,
                              &module_give_back_points, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    code = redis_says(reply, "ok", 2)
               ? module_point(&self->link, module_give_back_points.committed, error)
               : firn__refuse_give_back(error, ns, key, mine);
    freeReplyObject(reply);
    return code;
}

/* What the script answered. */
static int relabelled(const store *self, const redisReply *reply, const firn_relabel *change,
                      int64_t *floor, firn_error *error) {
    if (redis_says(reply, "changed", 1)) {
        return firn__refuse_back(error, self->link.url.shown, change->ns);
    }
    if (redis_says(reply, "damaged", 1)) {
        return module_fail(error, FIRN_ESTORE,
                           "the record of namespace %.40s is damaged or of an older firn: see "
                           "docs/reference/stores.md",
                           change->ns);
    }
    if (redis_says(reply, "layout", 2)) {
        const firn__kept kept = {.known = reply->element[1]->str[0] != '\0',
                                 .current = true,
                                 .complete = true,
                                 .layout = reply->element[1]->str};
        return firn__law_relabel(floor, &kept, change, self->link.url.shown, error);
    }
    if (!redis_says(reply, "ok", 2) || !redis_read_slot(floor, reply->element[1])) {
        return module_fail(error, FIRN_EUNKNOWN,
                           "store %.60s sent an answer that cannot be read: name a Redis server",
                           self->link.url.shown);
    }
    return module_point(&self->link, module_relabel_points.committed, error);
}

int firn_store_module_relabel(void *of, const firn_relabel *change, int64_t *floor,
                              firn_error *error) {
    store *self = of;
    char ns[FIRN_NS_SIZE + 64], own[FIRN_NS_SIZE + 64], all[FIRN_NS_SIZE + 64];
    char lowest[MODULE_NUMBER_SIZE];
    redisReply *reply;
    if (self->counters) {
        return module_fail(error, FIRN_EUSAGE,
                           "a plain counter has no layout: remove counters=1 from the URL");
    }
    namespace_key(ns, self, change->ns);
    namespace_key(own, self, "");
    namespace_key(all, self, FIRN__ALL_NAMES);
    const char *from = change->from != NULL ? change->from : "";
    const char *arguments[] = {ns,         self->index, own,
                               all,        change->ns,  from,
                               change->to, lowest,      change->lowers ? "1" : "0"};
    module_digits(lowest, change->floor);
    int code = module_ready(self, error);
    if (code == FIRN_OK) {
        code = redis_evaluate(self, &reply, &self->relabel, 4, 9, arguments, &module_relabel_points,
                              error);
    }
    if (code == FIRN_OK) {
        code = relabelled(self, reply, change, floor, error);
        freeReplyObject(reply);
    }
    return code;
}

static int redis_now(void *of, firn_time *now, firn_error *error) {
    store *self = of;
    redisReply *reply;
    int64_t sec, us;
    int code = redis_ask(self, &reply, 1, (const char *[]){"TIME"}, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
        !redis_is_text(reply->element[0]) || !redis_is_text(reply->element[1]) ||
        !module_int64(&sec, reply->element[0]->str, reply->element[0]->len) ||
        !module_int64(&us, reply->element[1]->str, reply->element[1]->len) || us > 999999) {
        return redis_refused(self, reply, error);
    }
    freeReplyObject(reply);
    *now = (firn_time){sec, (int32_t)us * 1000};
    return FIRN_OK;
}

/* ---- list ------------------------------------------------------------------------------------ */

/* A growing list of names. */
typedef struct names {
    char **items;
    size_t count, room;
} names;

static void names_free(names *all) {
    for (size_t i = 0; i < all->count; i++) {
        free(all->items[i]);
    }
    free(all->items);
}

static bool names_add(names *all, const char *name) {
    if (all->count == all->room) {
        size_t room = all->room * 2 + 64;
        char **items = realloc(all->items, room * sizeof *items);
        if (items == NULL) {
            return false;
        }
        all->items = items;
        all->room = room;
    }
    all->items[all->count] = strdup(name);
    return all->items[all->count++] != NULL;
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted by bytes, without duplicates: a scan can return a name twice. */
static void names_sort(names *all) {
    size_t kept = 0;
    if (all->count > 0) {
        qsort(all->items, all->count, sizeof *all->items, by_bytes);
    }
    for (size_t i = 0; i < all->count; i++) {
        if (kept > 0 && strcmp(all->items[kept - 1], all->items[i]) == 0) {
            free(all->items[i]);
        } else {
            all->items[kept++] = all->items[i];
        }
    }
    all->count = kept;
}

/* The members of a set, or the keys of a namespace's hash, in small replies that do not block the
 * server: all that exist from the first reply to the last. */
static int scan(store *self, names *all, const char *command, const char *key, const char *match,
                firn_error *error) {
    char cursor[MODULE_NUMBER_SIZE] = "0";
    const size_t step = strcmp(command, "HSCAN") == 0 ? 2 : 1, skip = strcspn(match, "*");
    for (int i = 0; i < LIST_ROUNDS; i++) {
        redisReply *reply;
        const char *words[] = {command, key, cursor, "MATCH", match, "COUNT", "512"};
        int code = redis_ask(self, &reply, 7, words, error);
        if (code != FIRN_OK) {
            return code;
        }
        if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
            !redis_is_text(reply->element[0]) || reply->element[1]->type != REDIS_REPLY_ARRAY) {
            return redis_refused(self, reply, error);
        }
        const redisReply *part = reply->element[1];
        bool added = true;
        for (size_t j = 0; j < part->elements && added; j += step) {
            added = redis_is_text(part->element[j]) && strlen(part->element[j]->str) >= skip &&
                    names_add(all, part->element[j]->str + skip);
        }
        snprintf(cursor, sizeof cursor, "%.20s", reply->element[0]->str);
        freeReplyObject(reply);
        if (!added) {
            return module_no_memory(error);
        }
        if (strcmp(cursor, "0") == 0) {
            names_sort(all);
            return FIRN_OK;
        }
    }
    return redis_failed(self, error, "a scan does not end");
}

static int visit_part(const store *self, const redisReply *part, const char *ns, char *const *keys,
                      size_t count, firn_visit *visit, void *context, firn_error *error) {
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
            return module_fail(
                error, FIRN_ESTORE,
                "the mark of %.24s/%.63s is damaged: see redis-cli HGETALL '{%.24s}:%.24s'", ns,
                keys[i], self->prefix, ns);
        }
        int code = module_show(&self->link, visit, context, &holding, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    const firn_holding empty = {ns, layout->str, "", "", {0, 0}, floor};
    return count == 0 && redis_is_text(layout)
               ? module_show(&self->link, visit, context, &empty, error)
               : FIRN_OK;
}

/* Shows a few keys, read at one moment, or a namespace without keys. */
static int list_part(store *self, const char *ns, char *const *keys, size_t count,
                     firn_visit *visit, void *context, firn_error *error) {
    static const char *const fields[] = {"high", "grant", "note"};
    char name[FIRN_NS_SIZE + 64], texts[3 * LIST_CHUNK][FIRN_KEY_SIZE + 8];
    const char *words[REDIS_ARGUMENTS_MAX] = {"HMGET", name, "layout", "floor"};
    redisReply *reply;
    namespace_key(name, self, ns);
    for (size_t i = 0; i < 3 * count; i++) {
        snprintf(texts[i], sizeof texts[i], "%s %.63s", fields[i % 3], keys[i / 3]);
        words[4 + i] = texts[i];
    }
    int code = redis_ask(self, &reply, (int)(4 + 3 * count), words, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 + 3 * count) {
        return redis_refused(self, reply, error);
    }
    code = visit_part(self, reply, ns, keys, count, visit, context, error);
    freeReplyObject(reply);
    return code;
}

static int list_namespace(store *self, const char *ns, bool whole, firn_visit *visit, void *context,
                          firn_error *error) {
    char name[FIRN_NS_SIZE + 64];
    names keys = {NULL, 0, 0};
    namespace_key(name, self, ns);
    int code = scan(self, &keys, "HSCAN", name, "high *", error);
    for (size_t i = 0; (i < keys.count || (i == 0 && whole)) && code == FIRN_OK; i += LIST_CHUNK) {
        size_t left = keys.count - i;
        code = list_part(self, ns, keys.items + i, left < LIST_CHUNK ? left : LIST_CHUNK, visit,
                         context, error);
    }
    names_free(&keys);
    return code;
}

static int redis_list(void *of, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    store *self = of;
    names all = {NULL, 0, 0};
    if (self->counters) {
        return redis_counter_list(self, ns, visit, context, error);
    }
    if (ns != NULL) {
        return list_namespace(self, ns, false, visit, context, error);
    }
    int code = scan(self, &all, "SSCAN", self->index, "*", error);
    for (size_t i = 0; i < all.count && code == FIRN_OK; i++) {
        code = list_namespace(self, all.items[i], true, visit, context, error);
    }
    names_free(&all);
    return code;
}

/* ---- open ------------------------------------------------------------------------------------ */

static int read_database(store *self, firn_error *error) {
    const module_number counters = {"counters", &self->counters, 0, 0, 1};
    int code = module_param_numbers(&self->link.url, &counters, 1, error);
    const char *path = self->link.url.path;
    if (code == FIRN_OK && path != NULL &&
        (!module_int64(&self->database, path, strlen(path)) || self->database > 65535)) {
        code =
            module_fail(error, FIRN_EUSAGE,
                        "the store's URL has the path /%.40s: give the number of a database", path);
    }
    return code;
}

static int load_scripts(store *self, firn_error *error) {
    int code = redis_load_script(&self->reserve, reserve_lua, error);
    if (code == FIRN_OK) {
        code = redis_load_script(&self->give_back, give_back_lua, error);
    }
    if (code == FIRN_OK) {
        code = redis_load_script(&self->relabel, relabel_lua, error);
    }
    return code == FIRN_OK ? redis_load_script(&self->count, count_lua, error) : code;
}

static int set_up(void *of, firn_error *error) {
    store *self = of;
    module_url *url = &self->link.url;
    int code = read_database(self, error);
    if (code == FIRN_OK) {
        code = module_param_name(&self->prefix, url, "prefix", "firn", error);
    }
    if (code == FIRN_OK) {
        code = module_password(url, "REDISCLI_AUTH", error);
    }
    const bool secured = strncmp(url->shown, "rediss:", 7) == 0;
    if (code == FIRN_OK) {
        code = module_tls_read(&self->tls, url, secured, error);
    }
    if (code == FIRN_OK && secured && !self->tls.on) {
        code = module_fail(error, FIRN_EUSAGE,
                           "rediss:// is Redis with TLS: remove tls=0, or write redis://");
    }
    if (code == FIRN_OK && url->host_count == 0) {
        code = module_fail(error, FIRN_EUSAGE,
                           "the store's URL names no host: write redis://HOST:PORT");
    }
    if (code == FIRN_OK) {
        snprintf(self->index, sizeof self->index, "{%s}", self->prefix);
        code = redis_trust(self, error);
    }
    return code == FIRN_OK ? load_scripts(self, error) : code;
}

static void clean(void *of) {
    const store *self = of;
    if (self->trust != NULL) {
        gnutls_certificate_free_credentials(self->trust);
    }
}

static const module_engine engine = {
    .size = sizeof(store),
    .parameters = "connect_timeout_ms timeout_ms prefix counters tls ca cert key verify "
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

const firn_store_ops firn_store_module = {
    .version = 1,
    .scheme = "redis",
    .open = redis_open,
    .reserve = redis_reserve,
    .give_back = redis_give_back,
    .list = redis_list,
    .now = redis_now,
    .caution = module_caution,
    .close = module_close,
};
