/* SPDX-License-Identifier: MIT */
/* The znodes of the ZooKeeper store: names and records, and reading them. */
#include "zookeeper.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names and records ----------------------------------------------------------------------- */

int zk_not_ours(const zookeeper_store *store, const char *path, firn_error *error) {
    return module_fail(error, FIRN_ESTORE,
                       "%.80s has a znode %.60s that is not firn's: use another path in the URL",
                       store->link.url.shown, path);
}

/* Letters, digits, - _ and @ are kept; other bytes become %XX, because a znode's name must not
 * contain "." or "/". */
static char *escape(char *out, const char *name) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_@";
    static const char digits[] = "0123456789ABCDEF";
    for (; *name != '\0'; name++) {
        if (strchr(plain, *name) != NULL) {
            *out++ = *name;
        } else {
            *out++ = '%';
            *out++ = digits[(unsigned char)*name >> 4];
            *out++ = digits[*name & 15];
        }
    }
    *out = '\0';
    return out;
}

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool zk_unescape(char *out, size_t size, const char *name) {
    for (; *name != '\0' && size > 1; name++, out++, size--) {
        *out = *name;
        if (*name == '%') {
            int high = digit(name[1]), low = high >= 0 ? digit(name[2]) : -1;
            if (low < 0) {
                return false;
            }
            *out = (char)(high * 16 + low);
            name += 2;
        }
    }
    *out = '\0';
    return *name == '\0' && size > 0;
}

void zk_name(const zookeeper_store *store, zookeeper_paths *out, const char *ns, const char *key) {
    stpcpy(stpcpy(stpcpy(out->store, store->root), "/"), ZK_STORE_NAME);
    escape(stpcpy(stpcpy(out->ns, store->root), "/"), ns);
    escape(stpcpy(stpcpy(out->key, out->ns), "/"), key);
}

/* The two numbers of a record's first line, and the text after them. */
static bool split(const zookeeper_call *call, int64_t *first, uint64_t *second, const char **rest) {
    const bool ours =
        strncmp(call->data, "1 ", 2) == 0 && strlen(call->data) == (size_t)call->length;
    const char *text = ours ? call->data + 2 : "";
    const size_t length = strcspn(text, " ");
    const char *next = text + length + (text[length] != '\0');
    const size_t end = strcspn(next, "\n");
    *rest = next + end + 1;
    return next[end] == '\n' && module_int64(first, text, length) &&
           module_uint64(second, next, end);
}

static bool read_store(const zookeeper_call *call, firn_records *out) {
    const char *rest;
    return split(call, &out->losses, &out->origin, &rest) && out->losses < INT64_MAX &&
           out->origin != 0;
}

static bool read_ns(const zookeeper_call *call, int64_t *floor, int64_t *losses,
                    char layout[FIRN_LAYOUT_SIZE]) {
    const char *rest;
    uint64_t second;
    if (!split(call, floor, &second, &rest) || *floor > FIRN_SLOT_MAX || second > INT64_MAX ||
        strlen(rest) >= FIRN_LAYOUT_SIZE) {
        return false;
    }
    *losses = (int64_t)second;
    strcpy(layout, rest);
    return true;
}

static bool read_mark(const zookeeper_call *call, firn_mark *mark, char note[FIRN_NOTE_SIZE]) {
    const char *rest;
    if (!split(call, &mark->high, &mark->grant, &rest) || mark->high > FIRN_SLOT_MAX ||
        strlen(rest) >= FIRN_NOTE_SIZE) {
        return false;
    }
    strcpy(note, rest);
    return true;
}

/* ---- requests -------------------------------------------------------------------------------- */

int zk_read(zookeeper_call **out, zookeeper_store *store, const char *path) {
    if (module_in_time(&store->link, NULL) != FIRN_OK) {
        return ZOPERATIONTIMEOUT;
    }
    int code = ZK_ASK(store, *out, zoo_aget(store->handle, path, 0, zk_on_data, *out));
    store->newest = module_later(store->newest, code == ZOK ? (*out)->stat.mzxid : 0);
    return code;
}

int zk_synchronise(zookeeper_store *store) {
    zookeeper_call *call;
    int code = ZK_ASK(store, call, zoo_async(store->handle, store->root, zk_on_string, call));
    zk_leave(call);
    return code;
}

const struct ACL_vector *zk_rights(const zookeeper_store *store) {
    return store->login != NULL ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
}

int zk_make_root(zookeeper_store *store) {
    char path[sizeof store->root];
    const char *end = store->root;
    int code;
    do {
        zookeeper_call *call;
        end += 1 + strcspn(end + 1, "/");
        snprintf(path, sizeof path, "%.*s", (int)(end - store->root), store->root);
        code = ZK_ASK(store, call,
                      zoo_acreate(store->handle, path, "", 0, zk_rights(store), ZOO_PERSISTENT,
                                  zk_on_string, call));
        zk_leave(call);
    } while (*end != '\0' && (code == ZOK || code == ZNODEEXISTS));
    store->rooted = code == ZOK || code == ZNODEEXISTS;
    return store->rooted ? ZOK : code;
}

/* ---- looking --------------------------------------------------------------------------------- */

enum znode { STORE, NAMESPACE, ALL_NAMES, KEY };

static bool take(zookeeper_store *store, enum znode znode, const zookeeper_call *call,
                 firn_records *seen) {
    int64_t floor, losses;
    const uint64_t version = (uint32_t)call->stat.version;
    switch (znode) {
    case STORE:
        seen->own[OWN_STORE] = version;
        return seen->known = read_store(call, seen);
    case NAMESPACE:
        seen->own[OWN_NS] = version;
        seen->layout = store->layout;
        return seen->ns_known = read_ns(call, &seen->floor, &seen->ns_losses, store->layout);
    case ALL_NAMES:
        if (!read_ns(call, &floor, &losses, store->shut)) {
            return false;
        }
        seen->all_new = losses == seen->losses;
        seen->shut = firn_layout_closed(store->shut) ? store->shut : NULL;
        return true;
    default:
        seen->own[OWN_KEY] = version;
        seen->note = store->note;
        seen->stamp = call->stat.mzxid;
        return seen->key_known = read_mark(call, &seen->mark, store->note);
    }
}

static int look_at(zookeeper_store *store, const char *path, enum znode znode, firn_records *seen,
                   firn_error *error) {
    zookeeper_call *call = NULL;
    int code = zk_read(&call, store, path);
    int result = code == ZOK
                     ? (take(store, znode, call, seen) ? FIRN_OK : zk_not_ours(store, path, error))
                 : code == ZNONODE ? FIRN_OK
                                   : zk_explain(store, code, false, error);
    zk_leave(call);
    return result;
}

int zk_look(zookeeper_store *store, firn_records *seen, bool fresh, firn_error *error) {
    zookeeper_paths paths, all;
    int code = fresh ? zk_synchronise(store) : ZOK;
    if (code != ZOK && code != ZNONODE) {
        return zk_explain(store, code, false, error);
    }
    *seen = (firn_records){.ns = seen->ns,
                           .key = seen->key,
                           .used_before = seen->used_before,
                           .alive = seen->alive,
                           .fresh = fresh,
                           .layout = "",
                           .note = "",
                           .own = {[OWN_CONNECTION] = store->connections}};
    zk_name(store, &paths, seen->ns, seen->key);
    code = look_at(store, paths.store, STORE, seen, error);
    code = code == FIRN_OK ? look_at(store, paths.ns, NAMESPACE, seen, error) : code;
    code = code == FIRN_OK ? look_at(store, paths.key, KEY, seen, error) : code;
    if (code == FIRN_OK && !seen->ns_known) {
        zk_name(store, &all, FIRN_ALL_NAMES, "1");
        code = look_at(store, all.ns, ALL_NAMES, seen, error);
    }
    return code;
}
