/* SPDX-License-Identifier: MIT */
/* Fuzzes what the ZooKeeper module reads: data of znodes, their names, versions and transaction
 * numbers. An answer's first byte is a letter for the library's code ('k' and unknown letters:
 * ZOK); two more are version and transaction number. */
#include "lying.h"

#include <zookeeper/zookeeper.h>

static int lie_get(data_completion_t done, const void *context);
static int lie_children(strings_completion_t done, const void *context);
static int lie_multi(int count, const zoo_op_t *ops, void_completion_t done, const void *context);
static int lie_stat(stat_completion_t done, const void *context);
static int lie_string(string_completion_t done, const void *context);

#define zoo_aget(handle, path, watch, done, of)          ((void)(path), lie_get(done, of))
#define zoo_aget_children(handle, path, watch, done, of) ((void)(path), lie_children(done, of))
#define zoo_async(handle, path, done, of)                ((void)(path), lie_string(done, of))
#define zoo_acreate(handle, path, data, length, acl, flags, done, of)                              \
    ((void)(path), (void)(acl), lie_string(done, of))
#define zoo_aset(handle, path, data, length, version, done, of)                                    \
    ((void)(path), (void)(data), (void)(length), lie_stat(done, of))
#define zoo_amulti(handle, count, ops, results, done, of)                                          \
    ((void)(results), lie_multi(count, ops, done, of))
#define zoo_state(handle)       ((void)(handle), ZOO_CONNECTED_STATE)
#define zookeeper_close(handle) ((void)(handle))
#include "../modules/zookeeper.c"
#include "../modules/zookeeper_call.c"
#include "../modules/zookeeper_record.c"

/* The answer after its first three bytes; *code is the library's. */
static char *lie_answer(size_t *length, int *code, struct Stat *stat) {
    static const struct {
        char letter;
        int code;
    } codes[] = {{'n', ZNONODE},         {'b', ZBADVERSION}, {'e', ZNODEEXISTS},
                 {'l', ZCONNECTIONLOSS}, {'a', ZNOAUTH},     {'t', ZOPERATIONTIMEOUT}};
    char *text = lie_next(length);
    memset(stat, 0, sizeof *stat);
    *code = text == NULL || *length < 3 ? ZNONODE : ZOK;
    for (size_t i = 0; *code == ZOK && i < sizeof codes / sizeof codes[0]; i++) {
        *code = text[0] == codes[i].letter ? codes[i].code : ZOK;
        if (*code != ZOK) {
            break;
        }
    }
    if (*code == ZOK) {
        stat->version = (signed char)text[1];
        stat->mzxid = (unsigned char)text[2];
        stat->mtime = stat->mzxid * 1000003;
    }
    return text;
}

static int lie_get(data_completion_t done, const void *context) {
    size_t length = 0;
    int code;
    struct Stat stat;
    char *text = lie_answer(&length, &code, &stat);
    done(code, code == ZOK ? text + 3 : NULL, code == ZOK ? (int)length - 3 : -1, &stat, context);
    free(text);
    return ZOK;
}

static int lie_children(strings_completion_t done, const void *context) {
    size_t length = 0;
    int code;
    struct Stat stat;
    char *text = lie_answer(&length, &code, &stat), *names[8], *rest = NULL;
    struct String_vector vector = {0, names};
    char *name = code == ZOK ? strtok_r(text + 3, "/", &rest) : NULL;
    for (; name != NULL && vector.count < 8; name = strtok_r(NULL, "/", &rest)) {
        names[vector.count++] = name;
    }
    done(code, &vector, context);
    free(text);
    return ZOK;
}

static int lie_multi(int count, const zoo_op_t *ops, void_completion_t done, const void *context) {
    size_t length = 0;
    int code;
    struct Stat stat;
    free(lie_answer(&length, &code, &stat));
    for (int i = 0; i < count && code == ZOK; i++) {
        if (ops[i].type == ZOO_SETDATA_OP && ops[i].set_op.stat != NULL) {
            *ops[i].set_op.stat = stat;
        }
    }
    done(code, context);
    return ZOK;
}

static int lie_stat(stat_completion_t done, const void *context) {
    size_t length = 0;
    int code;
    struct Stat stat;
    free(lie_answer(&length, &code, &stat));
    done(code, &stat, context);
    return ZOK;
}

static int lie_string(string_completion_t done, const void *context) {
    size_t length = 0;
    int code;
    struct Stat stat;
    free(lie_answer(&length, &code, &stat));
    done(code, NULL, context);
    return ZOK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    void *handle = NULL;
    firn_error error = {0};
    if (size < 1) {
        return 0;
    }
    lie_begin(data + 1, size - 1);
    assert(zookeeper_open(&handle, "zookeeper://u:" LIE_PASSWORD "@h", NULL, &error) == FIRN_OK);
    zookeeper_store *self = handle;
    self->handle = (zhandle_t *)(void *)self; /* there is one, and nobody looks into it */
    self->session = zk_call(1);
    lie_driven(&firn_store_driver, handle, data[0]);
    return 0;
}
