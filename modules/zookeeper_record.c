/* SPDX-License-Identifier: MIT */
/* The znodes of the ZooKeeper store: names and records, and reading them. */
#include "zookeeper.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUICK_MS 500 /* a faster failure did not wait for an answer */

/* ---- names and records ----------------------------------------------------------------------- */

int zk_not_ours(const store *self, const char *path, firn_error *error) {
    return module_fail(error, FIRN_ESTORE,
                       "%.80s has a znode %.60s that is not firn's: use another path in the URL",
                       self->link.url.shown, path);
}

/* Letters, digits, - _ and @ are kept; other bytes become %XX, because a znode's name must not
 * contain "." or "/". */
static char *escape(char *to, const char *name) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_@";
    static const char digits[] = "0123456789ABCDEF";
    for (; *name != '\0'; name++) {
        if (strchr(plain, *name) != NULL) {
            *to++ = *name;
        } else {
            *to++ = '%';
            *to++ = digits[(unsigned char)*name >> 4];
            *to++ = digits[*name & 15];
        }
    }
    *to = '\0';
    return to;
}

static int digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool zk_unescape(char *to, size_t size, const char *name) {
    for (; *name != '\0' && size > 1; name++, to++, size--) {
        *to = *name;
        if (*name == '%') {
            int high = digit(name[1]), low = high >= 0 ? digit(name[2]) : -1;
            if (low < 0) {
                return false;
            }
            *to = (char)(high * 16 + low);
            name += 2;
        }
    }
    *to = '\0';
    return *name == '\0' && size > 0;
}

void zk_name(const store *self, state *it, const char *ns, const char *key) {
    memset(it, 0, sizeof *it);
    char *end = stpcpy(stpcpy(it->ns_path, self->root), "/");
    escape(end, ns);
    end = stpcpy(stpcpy(it->path, it->ns_path), "/");
    escape(end, key);
}

/* The records are
 *     the store   1 LOSSES ORIGIN <newline>
 *     namespace   1 FLOOR LOSSES <newline> LAYOUT
 *     key         1 HIGH GRANT <newline> NOTE                                                     */

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
static bool split(const call *it, const char *words[2], size_t lengths[2], const char **rest) {
    const char *line = memchr(it->data, '\n', (size_t)it->length);
    const char *blank = line != NULL && line - it->data > 2
                            ? memchr(it->data + 2, ' ', (size_t)(line - it->data - 2))
                            : NULL;
    if (blank == NULL || memcmp(it->data, "1 ", 2) != 0 || strlen(it->data) != (size_t)it->length) {
        return false;
    }
    words[0] = it->data + 2;
    lengths[0] = (size_t)(blank - words[0]);
    words[1] = blank + 1;
    lengths[1] = (size_t)(line - words[1]);
    *rest = line + 1;
    return true;
}

static bool read_store(state *to, const call *it) {
    const char *words[2], *rest;
    size_t lengths[2];
    to->store_version = it->stat.version;
    to->store_found = split(it, words, lengths, &rest) &&
                      module_int64(&to->losses, words[0], lengths[0]) && to->losses < INT64_MAX &&
                      module_uint64(&to->origin, words[1], lengths[1]) && to->origin != 0;
    return to->store_found;
}

static bool read_ns(state *to, const call *it) {
    const char *words[2], *rest;
    size_t lengths[2];
    if (!split(it, words, lengths, &rest) || !module_int64(&to->floor, words[0], lengths[0]) ||
        to->floor > FIRN_SLOT_MAX || !module_int64(&to->ns_losses, words[1], lengths[1]) ||
        strlen(rest) >= sizeof to->layout) {
        return false;
    }
    to->ns_version = it->stat.version;
    to->ns_found = true;
    strcpy(to->layout, rest);
    return true;
}

static bool read_mark(state *to, const call *it) {
    const char *words[2], *rest;
    size_t lengths[2];
    if (!split(it, words, lengths, &rest) || !module_int64(&to->high, words[0], lengths[0]) ||
        to->high > FIRN_SLOT_MAX || !module_uint64(&to->grant, words[1], lengths[1]) ||
        strlen(rest) >= sizeof to->note) {
        return false;
    }
    to->version = it->stat.version;
    to->mzxid = it->stat.mzxid;
    to->found = true;
    strcpy(to->note, rest);
    return true;
}

/* ---- requests -------------------------------------------------------------------------------- */

int zk_read(call **out, store *self, const char *path) {
    if (module_in_time(&self->link, NULL) != FIRN_OK) {
        *out = NULL;
        return ZOPERATIONTIMEOUT;
    }
    call *it = *out = zk_call(2);
    if (it == NULL) {
        return ZSYSTEMERROR;
    }
    int code = zk_answer(self, it, zoo_aget(self->handle, path, 0, zk_on_data, it));
    if (code == ZOK && it->stat.mzxid > self->newest) {
        self->newest = it->stat.mzxid;
    }
    return code;
}

int zk_synchronise(store *self) {
    call *it = zk_call(2);
    if (it == NULL) {
        return ZSYSTEMERROR;
    }
    int code = zk_answer(self, it, zoo_async(self->handle, self->root, zk_on_string, it));
    zk_leave(it);
    return code;
}

const struct ACL_vector *zk_rights(const store *self) {
    return self->login != NULL ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
}

int zk_make_root(store *self) {
    char path[ZK_ROOT_MOST + 2];
    int code = ZOK;
    for (size_t i = 1; i <= strlen(self->root) && (code == ZOK || code == ZNODEEXISTS); i++) {
        if (self->root[i] != '/' && self->root[i] != '\0') {
            continue;
        }
        snprintf(path, sizeof path, "%.*s", (int)i, self->root);
        call *it = zk_call(2);
        if (it == NULL) {
            return ZSYSTEMERROR;
        }
        code = zk_answer(self, it,
                         zoo_acreate(self->handle, path, "", 0, zk_rights(self), ZOO_PERSISTENT,
                                     zk_on_string, it));
        zk_leave(it);
    }
    self->rooted = code == ZOK || code == ZNODEEXISTS;
    return self->rooted ? ZOK : code;
}

/* ---- looking --------------------------------------------------------------------------------- */

static int look_at(store *self, const char *path, state *to, bool (*read)(state *, const call *),
                   firn_error *error) {
    call *it = NULL;
    int code = zk_read(&it, self, path);
    int result = code == ZOK       ? (read(to, it) ? FIRN_OK : zk_not_ours(self, path, error))
                 : code == ZNONODE ? FIRN_OK
                                   : zk_explain(self, code, false, error);
    if (it != NULL) {
        zk_leave(it);
    }
    return result;
}

/* See FIRN_ALL_NAMES. */
static int look_at_all(store *self, state *to, firn_error *error) {
    state all;
    zk_name(self, &all, FIRN_ALL_NAMES, "1");
    int code = look_at(self, all.ns_path, &all, read_ns, error);
    to->all_new = code == FIRN_OK && all.ns_found && all.ns_losses == to->losses;
    snprintf(to->shut, sizeof to->shut, "%s",
             code == FIRN_OK && all.ns_found && firn_layout_closed(all.layout) ? all.layout : "");
    return code;
}

int zk_look(store *self, state *to, bool fresh, firn_error *error) {
    int code = fresh ? zk_synchronise(self) : ZOK;
    if (code != ZOK && code != ZNONODE) {
        return zk_explain(self, code, false, error);
    }
    char path[ZK_PATH_SIZE];
    to->store_found = to->ns_found = to->found = to->all_new = false;
    to->shut[0] = '\0';
    to->floor = to->high = to->mzxid = to->losses = to->ns_losses = 0;
    to->grant = to->origin = 0;
    snprintf(path, sizeof path, "%s/%s", self->root, ZK_STORE_NAME);
    code = look_at(self, path, to, read_store, error);
    code = code != FIRN_OK ? code : look_at(self, to->ns_path, to, read_ns, error);
    code = code != FIRN_OK ? code : look_at(self, to->path, to, read_mark, error);
    return code == FIRN_OK && !to->ns_found ? look_at_all(self, to, error) : code;
}

int zk_look_soon(store *self, state *to, bool fresh, firn_error *error) {
    int64_t begun_ms = module_now_ms();
    int code = zk_look(self, to, fresh, error);
    if (code == FIRN_ESTORE && self->handle == NULL && module_now_ms() - begun_ms < QUICK_MS) {
        code = zk_enter(self, error);
        code = code == FIRN_OK ? zk_look(self, to, fresh, error) : code;
    }
    return code;
}
