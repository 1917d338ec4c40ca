/* SPDX-License-Identifier: MIT */
/* The store on etcd: its verbs, and how it notices that etcd lost reservations.
 *
 * The store lost reservations if the cluster's ID is not the one of its record, or if the Raft term, which never
 * falls in one cluster, is lower; or if two or more of the members in the record are gone, as after
 * --force-new-cluster on a member that may have lagged; or if this handle saw more: another store (ORIGIN is drawn when it is
 * made), a higher revision, a namespace that is gone, a higher mark. LOSSES counts how often that was
 * noticed. */
#include "etcd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE        500 /* keys of one answer of a listing */
#define PAGES_MOST  100000
#define ROUNDS_MOST 1000

FIRN_API extern const firn_store_ops firn_store_module;

/* ---- reserve --------------------------------------------------------------------------------- */

static void forget(store *self) {
    self->suspect = false;
    self->losses = -1;
    self->link.memory = (module_memory){0};
}

/* Does the server show that the store lost reservations since its record was written? Reservations made by
 * this handle before another one noticed do not count. */
static bool went_back(store *self, const state *now) {
    if (self->losses >= 0 && now->origin == self->origin && now->losses > self->losses) {
        forget(self);
    }
    return (now->store_revision > 0 && (now->cluster != self->cluster || now->term > self->term ||
                                        etcd_gone(&now->voters, &self->voters) > 1)) ||
           (now->store_revision == 0 && now->ns_revision > 0) || self->suspect ||
           (self->losses >= 0 && (now->origin != self->origin || now->losses < self->losses));
}

/* Are the members that were listed different from the store's record? */
static bool has_changed(const store *self, const state *now) {
    return self->voters.count > 0 &&
           (self->voters.count != now->voters.count || etcd_gone(&now->voters, &self->voters) > 0);
}

/* What a record of the store says that is written now. */
static void note_cluster(const store *self, state *next) {
    next->cluster = self->cluster;
    next->term = self->term;
    next->voters = self->voters.count > 0 ? self->voters : next->voters;
}

/* Looks who answered if the answer came on a new connection, although it was carried out. */
static int look_again(store *self, firn_error *error) {
    int code = self->greeted ? FIRN_OK : etcd_look(self, error);
    return module_recode(error, code, FIRN_ESTORE, FIRN_EUNKNOWN);
}

/* How often the store lost reservations, including the loss that was just noticed. */
static int64_t next_losses(const store *self, const state *now) {
    return module_later(module_later(now->losses, now->ns_losses), self->losses) + 1;
}

static module_kept kept_of(store *self, const state *now) {
    return (module_kept){
        .back = went_back(self, now),
        .known = now->ns_revision > 0,
        .current = now->ns_losses == now->losses,
        .complete = now->losses == 0 || now->all_new,
        .layout = now->layout,
        .shut = now->shut[0] != '\0' ? now->shut : NULL,
        .floor = now->floor,
        .mark = now->mark,
    };
}

/* A verb's rounds: each decides by `now` and writes. *done: its code is the verb's; else `now` was
 * read again. */
typedef int round_of(store *self, state *now, void *verb, bool *done, firn_error *error);

/* Starts with the state that the last verb left, if it `recalls` and that was of the same key. */
static int in_rounds(store *self, const char *ns, const char *key, bool recalls, round_of *round,
                     void *verb, firn_error *error) {
    state now = self->last;
    bool done = false;
    int code = etcd_ready(self, error);
    if (code != FIRN_OK) {
        return code;
    }
    now.fresh = now.wasted = false;
    if (!recalls || !self->last.known || strcmp(now.ns, ns) != 0 || strcmp(now.key, key) != 0) {
        memset(&now, 0, sizeof now);
        snprintf(now.ns, sizeof now.ns, "%s", ns);
        snprintf(now.key, sizeof now.key, "%s", key);
        code = etcd_read_state(self, &now, error);
    }
    self->last.known = false;
    int64_t deadline_ms = module_now_ms() + self->link.timeout_ms;
    for (int i = 0; i < ROUNDS_MOST && code == FIRN_OK && !done; i++) {
        if (i > 1) {
            module_nap(i);
        }
        if (i > 0 && module_now_ms() >= deadline_ms) {
            break;
        }
        code = round(self, &now, verb, &done, error);
    }
    if (code != FIRN_OK || !done) {
        return code != FIRN_OK
                   ? code
                   : module_refuse_contended(error, self->link.url.shown, recalls ? key : ns);
    }
    if (recalls) {
        self->last = now;
    }
    return FIRN_OK;
}

/* Decides a request by a state. `next` is the state to write, without the mark, and `what` lists
 * its records. */
static int decide(store *self, const state *now, const firn_request *request, state *next,
                  change *what, int64_t *first, firn_mark *held, firn_error *error) {
    const module_kept kept = kept_of(self, now);
    module_verdict verdict;
    int code = module_decide(&verdict, &kept, &self->link.memory, request, self->link.url.shown,
                             held, error);
    if (code == FIRN_EBUSY && now->wasted) {
        held->grant = 0; /* the caller must not find its own grant there */
    }
    *next = *now;
    if (verdict.back) {
        next->losses = next_losses(self, now);
    }
    note_cluster(self, next);
    *what = (change){verdict.back || now->store_revision == 0 || self->term > now->term ||
                         has_changed(self, now),
                     verdict.renew, code == FIRN_OK};
    if (verdict.renew) {
        next->floor = verdict.floor;
        next->ns_losses = next->losses;
        strcpy(next->layout, request->layout);
    }
    *first = verdict.first;
    if (code == FIRN_OK) {
        next->mark = (firn_mark){verdict.first + request->count, request->grant};
        snprintf(next->note, sizeof next->note, "%s", request->note != NULL ? request->note : "");
    }
    return code;
}

/* A reservation in progress. */
typedef struct reservation {
    const firn_request *request;
    int64_t first;
    firn_mark held;
} reservation;

static int reserve_round(store *self, state *now, void *verb, bool *done, firn_error *error) {
    reservation *r = verb;
    bool written = false;
    int64_t slot = 0;
    state next;
    change what;
    int verdict = decide(self, now, r->request, &next, &what, &slot, &r->held, error);
    *done = false;
    if ((verdict != FIRN_OK || what.own) && !now->fresh) {
        return etcd_read_state(self, now, error); /* a remembered state refuses nothing */
    }
    const bool back = next.losses > now->losses; /* written with any verdict */
    *done = verdict != FIRN_OK && !back && !what.ns;
    if (*done) {
        return verdict;
    }
    firn_error own = {0};
    int code = now->store_revision > 0 ? FIRN_OK : module_random(&next.origin, &own);
    if (code == FIRN_OK) {
        code = etcd_write_state(self, now, &next, &what, &module_reserve_points, &written, &own);
    }
    if (code != FIRN_OK || !written) {
        *now = next;
        return code == FIRN_OK ? code : module_copy(error, code, &own);
    }
    if (back) {
        forget(self); /* the store now knows what this handle knew */
    }
    code = look_again(self, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (went_back(self, &next)) { /* the answer came from another store: those slots are lost */
        now->wasted = true;
        return etcd_read_state(self, now, error);
    }
    *now = next;
    *done = true;
    if (verdict == FIRN_OK) {
        self->losses = now->losses;
        self->origin = now->origin;
        module_remember(&self->link.memory, r->request, now->mark.high);
        r->first = slot;
        return module_point(&self->link, module_reserve_points.committed, error);
    }
    return verdict;
}

static int etcd_reserve(void *of, const firn_request *request, int64_t *first, firn_mark *held,
                        firn_error *error) {
    reservation r = {.request = request};
    int code = in_rounds(of, request->ns, request->key, true, reserve_round, &r, error);
    *first = code == FIRN_OK ? r.first : *first;
    *held = code == FIRN_EBUSY ? r.held : *held;
    return code;
}

/* ---- give back ------------------------------------------------------------------------------- */

/* A mark that is given back. */
typedef struct lowering {
    const firn_mark *mine;
    int64_t high;
} lowering;

static int give_back_round(store *self, state *now, void *verb, bool *done, firn_error *error) {
    const lowering *l = verb;
    const change what = {false, false, true};
    bool written = false;
    *done = false;
    if (now->mark_revision == 0 || now->mark.high != l->mine->high ||
        now->mark.grant != l->mine->grant) {
        if (!now->fresh) {
            return etcd_read_state(self, now, error);
        }
        *done = true;
        return module_refuse_give_back(error, now->ns, now->key, l->mine);
    }
    state next = *now;
    next.mark = (firn_mark){l->high, 0};
    int code = etcd_write_state(self, now, &next, &what, &module_give_back_points, &written, error);
    *now = next;
    if (code == FIRN_OK && written) {
        *done = true;
        code = module_point(&self->link, module_give_back_points.committed, error);
    }
    return code;
}

static int etcd_give_back(void *of, const char *ns, const char *key, const firn_mark *mine,
                          int64_t high, firn_error *error) {
    store *self = of;
    lowering l = {mine, high};
    module_forget_last(&self->link.memory);
    return in_rounds(self, ns, key, true, give_back_round, &l, error);
}

/* ---- layouts --------------------------------------------------------------------------------- */

/* A layout that is replaced. */
typedef struct relabelling {
    const firn_relabel *wish;
    int64_t *floor;
} relabelling;

/* Writes the store's record too, which each reservation of an unknown namespace compares. */
static int relabel_round(store *self, state *now, void *verb, bool *done, firn_error *error) {
    const relabelling *it = verb;
    const module_kept kept = kept_of(self, now);
    const bool declared = module_declares_loss(it->wish), back = kept.back || declared;
    bool written = false;
    int code = module_decide_relabel(it->floor, &kept, it->wish, self->link.url.shown, error);
    state next = *now;
    *done = code != FIRN_OK && !back;
    if (*done) {
        return code;
    }
    code = now->store_revision > 0 ? FIRN_OK : module_random(&next.origin, error);
    note_cluster(self, &next);
    if (back) { /* only report it */
        next.losses = next_losses(self, now);
    } else {
        next.floor = *it->floor;
        next.ns_losses = kept.known ? now->ns_losses : now->losses;
        strcpy(next.layout, it->wish->to);
    }
    if (code == FIRN_OK) {
        code = etcd_write_state(self, now, &next, &(const change){true, !back, false},
                                &module_relabel_points, &written, error);
    }
    *now = next;
    if (code != FIRN_OK || !written) {
        return code;
    }
    if (back) {
        forget(self);
    }
    code = look_again(self, error);
    if (code != FIRN_OK || declared) {
        *done = declared;
        return code;
    }
    if (back || went_back(self, &next)) {
        return etcd_read_state(self, now, error);
    }
    *done = true;
    return module_point(&self->link, module_relabel_points.committed, error);
}

int firn_store_module_relabel(void *of, const firn_relabel *wish, int64_t *floor,
                              firn_error *error) {
    relabelling it = {wish, floor};
    return in_rounds(of, wish->ns, "1", false, relabel_round, &it, error);
}

/* ---- list ------------------------------------------------------------------------------------ */

/* Called for each key of a range. */
typedef int take_pair(void *context, const bytes *name, const char *text, firn_error *error);

/* The first name after all names with this prefix, whose last byte is / or 0. */
static bytes after(const bytes *name) {
    bytes out = *name;
    out.at[out.length - 1]++;
    return out;
}

static int take_page(const store *self, json_t *answer, bytes *next, take_pair *take, void *context,
                     firn_error *error) {
    json_t *pairs = json_object_get(answer, "kvs"), *pair;
    size_t i;
    json_array_foreach(pairs, i, pair) {
        char text[ETCD_RECORD_SIZE];
        size_t length;
        bytes name;
        if (!etcd_plain(name.at, sizeof name.at, &name.length, json_object_get(pair, "key")) ||
            !etcd_plain(text, sizeof text, &length, json_object_get(pair, "value"))) {
            return etcd_damaged(self, FIRN_ESTORE, error);
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

/* Visits the keys from `from` to before `end`, in order, at one revision: *revision, or the current
 * one if it is 0. */
static int walk(store *self, bytes from, const bytes *end, int64_t *revision, take_pair *take,
                void *context, firn_error *error) {
    for (int i = 0; i < PAGES_MOST; i++) {
        json_t *answer = NULL;
        json_t *body = json_pack("{s:o, s:o, s:o, s:o}", "key", etcd_base64(from.at, from.length),
                                 "rangeEnd", etcd_base64(end->at, end->length), "limit",
                                 etcd_number(PAGE), "revision", etcd_number(*revision));
        int code = etcd_ready(self, error);
        if (code != FIRN_OK) {
            json_decref(body);
            return code;
        }
        code = etcd_ask(self, "/v3/kv/range", body, NULL, &answer, error);
        if (code == FIRN_OK && !etcd_take_head(self, answer)) {
            code = etcd_damaged(self, FIRN_ESTORE, error);
        }
        if (code == FIRN_OK) {
            *revision = *revision != 0 ? *revision : self->revision;
            code = take_page(self, answer, &from, take, context, error);
        }
        bool more = json_is_true(json_object_get(answer, "more"));
        json_decref(answer);
        if (code != FIRN_OK || !more) {
            return code;
        }
    }
    return module_fail(error, FIRN_ESTORE,
                       "store %.60s: the listing does not end: check it with etcdctl",
                       self->link.url.shown);
}

/* A listing in progress. */
typedef struct listing {
    store *store;
    json_t *layouts; /* by namespace, sorted */
    json_t *floors;  /* by namespace */
    void *at;        /* the first of the layouts that was not shown; NULL: none */
    bool whole;      /* shows namespaces without a key */
    size_t skip;     /* the bytes before the name of a namespace */
    firn_visit *visit;
    void *context;
} listing;

static int take_layout(void *context, const bytes *name, const char *text, firn_error *error) {
    listing *list = context;
    state read;
    if (!etcd_read_namespace(&read, text)) {
        return etcd_damaged(list->store, FIRN_ESTORE, error);
    }
    /* Names are bytes, UTF-8 or not. */
    return json_object_set_new_nocheck(list->layouts, name->at + list->skip,
                                       json_string_nocheck(read.layout)) == 0 &&
                   json_object_set_new_nocheck(list->floors, name->at + list->skip,
                                               json_integer(read.floor)) == 0
               ? FIRN_OK
               : module_no_memory(error);
}

/* Shows the namespaces before `ns` (NULL: all that are left), which have no key, and passes `ns`. */
static int show_empty(listing *list, const char *ns, firn_error *error) {
    int code = FIRN_OK;
    while (code == FIRN_OK && list->at != NULL) {
        const char *name = json_object_iter_key(list->at);
        const int order = ns != NULL ? strcmp(name, ns) : -1;
        const firn_holding holding = {
            name,   json_string_value(json_object_iter_value(list->at)),    "", "",
            {0, 0}, json_integer_value(json_object_get(list->floors, name))};
        if (order > 0) {
            break;
        }
        list->at = json_object_iter_next(list->layouts, list->at);
        if (order < 0 && list->whole) {
            code = module_show(&list->store->link, list->visit, list->context, &holding, error);
        }
    }
    return code;
}

static int take_mark(void *context, const bytes *name, const char *text, firn_error *error) {
    listing *list = context;
    const char *ns = name->at + list->skip, *key = ns + strlen(ns) + 1;
    const char *layout = json_string_value(json_object_get(list->layouts, ns));
    char note[FIRN_NOTE_SIZE];
    firn_holding holding = {ns,   layout, key,
                            note, {0, 0}, json_integer_value(json_object_get(list->floors, ns))};
    if (layout == NULL || key > name->at + name->length ||
        !etcd_read_mark(&holding.mark, note, text)) {
        return etcd_damaged(list->store, FIRN_ESTORE, error);
    }
    int code = show_empty(list, ns, error);
    return code == FIRN_OK
               ? module_show(&list->store->link, list->visit, list->context, &holding, error)
               : code;
}

static int etcd_list(void *of, const char *ns, firn_visit *visit, void *context,
                     firn_error *error) {
    store *self = of;
    bytes from, end;
    int64_t revision = 0;
    listing list = {self, json_object(), json_object(), NULL, ns == NULL, 0, visit, context};
    etcd_name_namespace(&from, self, ns != NULL ? ns : "");
    list.skip = from.length - (ns != NULL ? strlen(ns) : 0);
    end = from;
    if (ns != NULL) { /* only that name: the next byte is zero */
        end.length++;
    } else {
        end = after(&from);
    }
    int code = walk(self, from, &end, &revision, take_layout, &list, error);
    etcd_name_mark(&from, self, ns != NULL ? ns : "", "");
    from.length -= ns == NULL; /* all: without the zero byte */
    list.skip = strlen(self->prefix) + strlen("mark/");
    end = after(&from);
    if (code == FIRN_OK) {
        list.at = json_object_iter(list.layouts);
        code = walk(self, from, &end, &revision, take_mark, &list, error);
    }
    if (code == FIRN_OK) {
        code = show_empty(&list, NULL, error);
    }
    json_decref(list.layouts);
    json_decref(list.floors);
    return code;
}

/* ---- now ------------------------------------------------------------------------------------- */

/* The Date header in whole seconds, plus half a second: enough to find clocks that differ by 10
 * s. */
static int etcd_now(void *of, firn_time *now, firn_error *error) {
    store *self = of;
    json_t *answer = NULL;
    int code = etcd_ready(self, error);
    if (code == FIRN_OK) {
        code = etcd_ask(self, "/v3/cluster/member/list", json_object(), NULL, &answer, error);
    }
    json_decref(answer);
    if (code == FIRN_OK && self->date_s == 0) {
        return module_fail(error, FIRN_ESYSTEM,
                           "store %.60s sent no Date header, so its time is unknown: name etcd "
                           "itself, not a proxy that drops the header",
                           self->link.url.shown);
    }
    if (code == FIRN_OK) {
        *now = (firn_time){self->date_s, 500000000};
    }
    return code;
}

/* ---- open ------------------------------------------------------------------------------------ */

static int read_places(store *self, firn_error *error) {
    const char *prefix = module_param(&self->link.url, "prefix");
    self->prefix = prefix != NULL ? prefix : "firn/";
    if (strlen(self->prefix) > ETCD_PREFIX_MOST) {
        return module_fail(error, FIRN_ERANGE,
                           "the store's prefix has more than %d bytes: give a shorter one",
                           ETCD_PREFIX_MOST);
    }
    if (self->link.url.host_count == 0 || self->link.url.path != NULL) {
        return module_fail(error, FIRN_EUSAGE,
                           "the store's URL names no host, or a path: write etcd://HOST:PORT,...");
    }
    for (size_t i = 0; i < self->link.url.host_count; i++) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789-._:%";
        const char *name = self->link.url.hosts[i].name;
        if (strlen(name) > 255 || strspn(name, letters) != strlen(name)) {
            return module_fail(error, FIRN_EUSAGE,
                               "'%.60s' is not a valid host: write etcd://HOST:PORT,...", name);
        }
    }
    return FIRN_OK;
}

/* As etcdctl: USER[:PASSWORD], and a password in a parameter. */
static int read_login(store *self, firn_error *error) {
    const char *value = getenv("ETCDCTL_USER");
    if (self->link.url.user == NULL && value != NULL && value[0] != '\0') {
        size_t length = strcspn(value, ":");
        self->link.url.user = strndup(value, length);
        if (value[length] == ':' && self->link.url.password == NULL) {
            self->link.url.password = strdup(value + length + 1);
        }
        if (self->link.url.user == NULL ||
            (value[length] == ':' && self->link.url.password == NULL)) {
            return module_no_memory(error);
        }
    }
    return module_password(&self->link.url, "ETCDCTL_PASSWORD", error);
}

static void begin_curl(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int set_up(void *of, firn_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    store *self = of;
    self->losses = -1;
    pthread_once(&once, begin_curl);
    int code = module_tls_read(&self->tls, &self->link.url, false, error);
    if (code == FIRN_OK) {
        code = read_places(self, error);
    }
    return code == FIRN_OK ? read_login(self, error) : code;
}

static void clean(void *of) {
    store *self = of;
    explicit_bzero(self->token, sizeof self->token);
}

static const module_engine engine = {
    .size = sizeof(store),
    .parameters =
        "connect_timeout_ms timeout_ms prefix tls ca cert key verify password-file unsafe",
    .set_up = set_up,
    .ready = etcd_ready,
    .hang_up = etcd_hang_up,
    .clean = clean,
};

static int etcd_open(void **out, const char *url, const firn_store_options *options,
                     firn_error *error) {
    return module_open(out, &engine, url, options, error);
}

const firn_store_ops firn_store_module = {
    .version = 1,
    .scheme = "etcd",
    .open = etcd_open,
    .reserve = etcd_reserve,
    .give_back = etcd_give_back,
    .list = etcd_list,
    .now = etcd_now,
    .caution = module_caution,
    .close = module_close,
};
