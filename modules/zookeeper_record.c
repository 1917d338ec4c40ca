/* SPDX-License-Identifier: MIT */
/* The znodes of the ZooKeeper store: names and records, and reading them. */
#include "zookeeper.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUICK_MS 500 /* a faster failure did not wait for an answer */

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

void zk_name(const zookeeper_store *store, zookeeper_state *state, const char *ns,
             const char *key) {
    memset(state, 0, sizeof *state);
    char *end = stpcpy(stpcpy(state->ns_path, store->root), "/");
    escape(end, ns);
    end = stpcpy(stpcpy(state->path, state->ns_path), "/");
    escape(end, key);
}

/* The records are
 *     the store   1 LOSSES ORIGIN <newline>
 *     namespace   1 FLOOR LOSSES <newline> LAYOUT
 * key 1 HIGH GRANT <newline> NOTE */

int zk_write_store(char record[ZK_RECORD_SIZE], int64_t losses, uint64_t origin) {
    return snprintf(record, ZK_RECORD_SIZE, "1 %" PRId64 " %" PRIu64 "\n", losses, origin);
}

int zk_write_ns(char record[ZK_RECORD_SIZE], int64_t floor, int64_t losses, const char *layout) {
    return snprintf(record, ZK_RECORD_SIZE, "1 %" PRId64 " %" PRId64 "\n%s", floor, losses, layout);
}

int zk_write_mark(char record[ZK_RECORD_SIZE], int64_t high, uint64_t grant, const char *note) {
    return snprintf(record, ZK_RECORD_SIZE, "1 %" PRId64 " %" PRIu64 "\n%s", high, grant, note);
}

/* The two numbers of a record's first line, and the text after them. */
static bool split(const zookeeper_call *call, const char *words[2], size_t lengths[2],
                  const char **rest) {
    const char *line = memchr(call->data, '\n', (size_t)call->length);
    const char *blank = line != NULL && line - call->data > 2
                            ? memchr(call->data + 2, ' ', (size_t)(line - call->data - 2))
                            : NULL;
    if (blank == NULL || memcmp(call->data, "1 ", 2) != 0 ||
        strlen(call->data) != (size_t)call->length) {
        return false;
    }
    words[0] = call->data + 2;
    lengths[0] = (size_t)(blank - words[0]);
    words[1] = blank + 1;
    lengths[1] = (size_t)(line - words[1]);
    *rest = line + 1;
    return true;
}

static bool read_store(zookeeper_state *state, const zookeeper_call *call) {
    const char *words[2], *rest;
    size_t lengths[2];
    state->store_version = call->stat.version;
    state->store_found = split(call, words, lengths, &rest) &&
                         module_int64(&state->losses, words[0], lengths[0]) &&
                         state->losses < INT64_MAX &&
                         module_uint64(&state->origin, words[1], lengths[1]) && state->origin != 0;
    return state->store_found;
}

static bool read_ns(zookeeper_state *state, const zookeeper_call *call) {
    const char *words[2], *rest;
    size_t lengths[2];
    if (!split(call, words, lengths, &rest) || !module_int64(&state->floor, words[0], lengths[0]) ||
        state->floor > FIRN_SLOT_MAX || !module_int64(&state->ns_losses, words[1], lengths[1]) ||
        strlen(rest) >= sizeof state->layout) {
        return false;
    }
    state->ns_version = call->stat.version;
    state->ns_found = true;
    strcpy(state->layout, rest);
    return true;
}

static bool read_mark(zookeeper_state *state, const zookeeper_call *call) {
    const char *words[2], *rest;
    size_t lengths[2];
    if (!split(call, words, lengths, &rest) || !module_int64(&state->high, words[0], lengths[0]) ||
        state->high > FIRN_SLOT_MAX || !module_uint64(&state->grant, words[1], lengths[1]) ||
        strlen(rest) >= sizeof state->note) {
        return false;
    }
    state->version = call->stat.version;
    state->mzxid = call->stat.mzxid;
    state->found = true;
    strcpy(state->note, rest);
    return true;
}

/* ---- requests -------------------------------------------------------------------------------- */

int zk_read(zookeeper_call **out, zookeeper_store *store, const char *path) {
    if (module_in_time(&store->link, NULL) != FIRN_OK) {
        *out = NULL;
        return ZOPERATIONTIMEOUT;
    }
    zookeeper_call *call = *out = zk_call(2);
    if (call == NULL) {
        return ZSYSTEMERROR;
    }
    int code = zk_answer(store, call, zoo_aget(store->handle, path, 0, zk_on_data, call));
    if (code == ZOK && call->stat.mzxid > store->newest) {
        store->newest = call->stat.mzxid;
    }
    return code;
}

int zk_synchronise(zookeeper_store *store) {
    zookeeper_call *call = zk_call(2);
    if (call == NULL) {
        return ZSYSTEMERROR;
    }
    int code = zk_answer(store, call, zoo_async(store->handle, store->root, zk_on_string, call));
    zk_leave(call);
    return code;
}

const struct ACL_vector *zk_rights(const zookeeper_store *store) {
    return store->login != NULL ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
}

int zk_make_root(zookeeper_store *store) {
    char path[ZK_ROOT_MOST + 2];
    int code = ZOK;
    for (size_t i = 1; i <= strlen(store->root) && (code == ZOK || code == ZNODEEXISTS); i++) {
        if (store->root[i] != '/' && store->root[i] != '\0') {
            continue;
        }
        snprintf(path, sizeof path, "%.*s", (int)i, store->root);
        zookeeper_call *call = zk_call(2);
        if (call == NULL) {
            return ZSYSTEMERROR;
        }
        code = zk_answer(store, call,
                         zoo_acreate(store->handle, path, "", 0, zk_rights(store), ZOO_PERSISTENT,
                                     zk_on_string, call));
        zk_leave(call);
    }
    store->rooted = code == ZOK || code == ZNODEEXISTS;
    return store->rooted ? ZOK : code;
}

/* ---- looking --------------------------------------------------------------------------------- */

static int look_at(zookeeper_store *store, const char *path, zookeeper_state *state,
                   bool (*read)(zookeeper_state *, const zookeeper_call *), firn_error *error) {
    zookeeper_call *call = NULL;
    int code = zk_read(&call, store, path);
    int result = code == ZOK       ? (read(state, call) ? FIRN_OK : zk_not_ours(store, path, error))
                 : code == ZNONODE ? FIRN_OK
                                   : zk_explain(store, code, false, error);
    if (call != NULL) {
        zk_leave(call);
    }
    return result;
}

/* See FIRN_ALL_NAMES. */
static int look_at_all(zookeeper_store *store, zookeeper_state *state, firn_error *error) {
    zookeeper_state all;
    zk_name(store, &all, FIRN_ALL_NAMES, "1");
    int code = look_at(store, all.ns_path, &all, read_ns, error);
    state->all_new = code == FIRN_OK && all.ns_found && all.ns_losses == state->losses;
    snprintf(state->shut, sizeof state->shut, "%s",
             code == FIRN_OK && all.ns_found && firn_layout_closed(all.layout) ? all.layout : "");
    return code;
}

int zk_look(zookeeper_store *store, zookeeper_state *state, bool fresh, firn_error *error) {
    int code = fresh ? zk_synchronise(store) : ZOK;
    if (code != ZOK && code != ZNONODE) {
        return zk_explain(store, code, false, error);
    }
    char path[ZK_PATH_SIZE];
    state->store_found = state->ns_found = state->found = state->all_new = false;
    state->shut[0] = '\0';
    state->floor = state->high = state->mzxid = state->losses = state->ns_losses = 0;
    state->grant = state->origin = 0;
    snprintf(path, sizeof path, "%s/%s", store->root, ZK_STORE_NAME);
    code = look_at(store, path, state, read_store, error);
    code = code != FIRN_OK ? code : look_at(store, state->ns_path, state, read_ns, error);
    code = code != FIRN_OK ? code : look_at(store, state->path, state, read_mark, error);
    return code == FIRN_OK && !state->ns_found ? look_at_all(store, state, error) : code;
}

int zk_look_soon(zookeeper_store *store, zookeeper_state *state, bool fresh, firn_error *error) {
    int64_t begun_ms = module_now_ms();
    int code = zk_look(store, state, fresh, error);
    if (code == FIRN_ESTORE && store->handle == NULL && module_now_ms() - begun_ms < QUICK_MS) {
        code = zk_enter(store, error);
        code = code == FIRN_OK ? zk_look(store, state, fresh, error) : code;
    }
    return code;
}
