/* SPDX-License-Identifier: MIT */
/* Fails each call of the ZooKeeper module: calls_store.h. */
#define CALLERS 8
#define CALLS_DRIVER
#include "calls_store.h"

#include <netdb.h>
#include <zookeeper/zookeeper.h>

CALL(int, zoo_state, (zhandle_t * handle), (handle), 1, 0)
CALL(int, zoo_set_servers_resolution_delay, (zhandle_t * handle, int delay_ms), (handle, delay_ms),
     1, ZBADARGUMENTS)
CALL(int, zoo_add_auth,
     (zhandle_t * handle, const char *scheme, const char *cert, int length, void_completion_t done,
      const void *context),
     (handle, scheme, cert, length, done, context), 1, ZINVALIDSTATE)
CALL(int, getnameinfo,
     (const struct sockaddr *address, socklen_t size, char *name, socklen_t room, char *port,
      socklen_t more, int flags),
     (address, size, name, room, port, more, flags), 1, EAI_FAIL)

/* ---- the session ---------------------------------------------------------------------------- */

static watcher_fn watcher;
static int handles_open;

static void on_event(zhandle_t *handle, int type, int now, const char *path, void *context) {
    int which = calls_answer("an event", 2, 2);
    watcher(handle, type,
            which == 0   ? now
            : which == 1 ? ZOO_AUTH_FAILED_STATE
                         : ZOO_EXPIRED_SESSION_STATE,
            path, context);
}

CALL_BY_HAND(zhandle_t *, zookeeper_init2,
             (const char *hosts, watcher_fn on, int wait_ms, const clientid_t *id, void *of,
              int flags, log_callback_fn log)) {
    watcher = on;
    zhandle_t *made = calls_answer("zookeeper_init2", 1, 1) != 0
                          ? NULL
                          : __real_zookeeper_init2(hosts, on_event, wait_ms, id, of, flags, log);
    handles_open += made != NULL;
    return made;
}

CALL_BY_HAND(int, zookeeper_close, (zhandle_t * handle)) {
    handles_open--;
    return __real_zookeeper_close(handle);
}

/* ---- answers -------------------------------------------------------------------------------- */

/* A request that is refused, or whose answer is changed. */
typedef struct zookeeper_request {
    union {
        data_completion_t data;
        stat_completion_t stat;
        strings_completion_t strings;
        string_completion_t string;
        void_completion_t nothing;
    } done;
    const void *of;
    int which;
    struct Stat *stat; /* of the last of several writes, or NULL */
} zookeeper_request;

static const int not_taken[] = {ZMARSHALLINGERROR, ZINVALIDSTATE, ZBADARGUMENTS};
static const int codes[] = {ZCONNECTIONLOSS, ZNOAUTH,         ZNONODE,
                            ZBADVERSION,     ZSESSIONEXPIRED, ZAPIERROR};
enum {
    NOT_TAKEN = sizeof not_taken / sizeof not_taken[0],
    CODES = sizeof codes / sizeof codes[0],
    FAILURES = NOT_TAKEN + CODES
};

static zookeeper_request *request_of(const void *context, int which) {
    zookeeper_request *request = __real_malloc(sizeof *request);
    assert_non_null(request);
    request->of = context;
    request->stat = NULL;
    request->which = which - NOT_TAKEN;
    return request;
}

/* A request that the library refuses is never answered. */
static int request_sent(zookeeper_request *request, int result) {
    if (result != ZOK) {
        free(request);
    }
    return result;
}

/* The code that the module gets. */
static int code_of(const zookeeper_request *request, int code) {
    return request->which >= 1 && request->which <= CODES ? codes[request->which - 1] : code;
}

/* Which wrong data the module gets, from 0; negative: none. */
static int lie_of(const zookeeper_request *request) {
    return request->which - CODES - 1;
}

static void on_data(int code, const char *value, int length, const struct Stat *stat,
                    const void *context) {
    static const char *const texts[] = {"",
                                        "x",
                                        "1 x 5\n",
                                        "1 5 x\n",
                                        "1 99999999999999999999 5\nx",
                                        "1 5\n",
                                        "2 5 5\n",
                                        "1 9223372036854775807 5\n",
                                        "1 5 0\n",
                                        "1 5 99999999999999999999\n"};
    enum { TEXTS = sizeof texts / sizeof texts[0] };
    zookeeper_request *request = (zookeeper_request *)(uintptr_t)context;
    struct Stat other = {0};
    int lie = lie_of(request);
    if (stat != NULL) {
        other = *stat;
    }
    if (code == ZOK && lie >= 0 && lie < TEXTS) {
        value = texts[lie];
        length = (int)strlen(value);
    } else if (code == ZOK && lie == TEXTS) {
        length = -1;
    } else if (lie == TEXTS + 1) {
        other.mzxid = 1;
    } else if (lie == TEXTS + 2) {
        other.version = -1;
    }
    request->done.data(code_of(request, code), value, length, &other, request->of);
    free(request);
}

static void on_stat(int code, const struct Stat *stat, const void *context) {
    zookeeper_request *request = (zookeeper_request *)(uintptr_t)context;
    request->done.stat(code_of(request, code), stat, request->of);
    free(request);
}

static void on_string(int code, const char *value, const void *context) {
    zookeeper_request *request = (zookeeper_request *)(uintptr_t)context;
    request->done.string(code_of(request, code), value, request->of);
    free(request);
}

static void on_nothing(int code, const void *context) {
    zookeeper_request *request = (zookeeper_request *)(uintptr_t)context;
    if (request->stat != NULL && lie_of(request) == 0) {
        request->stat->mzxid = 1;
    }
    request->done.nothing(code_of(request, code), request->of);
    free(request);
}

static void on_strings(int code, const struct String_vector *strings, const void *context) {
    static char cut[] = "%4", wrong[] = "%4z", other[] = "other", nobody[] = "";
    static char *names[] = {cut, wrong, other, nobody};
    zookeeper_request *request = (zookeeper_request *)(uintptr_t)context;
    struct String_vector two = {1, names}, many = {INT32_MAX, names};
    int lie = lie_of(request);
    if (lie >= 0 && lie < 4) {
        two.data = names + lie;
    }
    request->done.strings(code_of(request, code),
                          lie < 0    ? strings
                          : lie < 4  ? &two
                          : lie == 4 ? &many
                                     : NULL,
                          request->of);
    free(request);
}

CALL_BY_HAND(int, zoo_aget,
             (zhandle_t * handle, const char *path, int watch, data_completion_t done,
              const void *of)) {
    int which = calls_answer("zoo_aget", FAILURES, FAILURES + 13);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    zookeeper_request *request = request_of(of, which);
    request->done.data = done;
    return request_sent(request, __real_zoo_aget(handle, path, watch, on_data, request));
}

CALL_BY_HAND(int, zoo_aget_children,
             (zhandle_t * handle, const char *path, int watch, strings_completion_t done,
              const void *of)) {
    int which = calls_answer("zoo_aget_children", FAILURES, FAILURES + 6);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    zookeeper_request *request = request_of(of, which);
    request->done.strings = done;
    return request_sent(request,
                        __real_zoo_aget_children(handle, path, watch, on_strings, request));
}

CALL_BY_HAND(int, zoo_async,
             (zhandle_t * handle, const char *path, string_completion_t done, const void *of)) {
    int which = calls_answer("zoo_async", FAILURES, FAILURES);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    zookeeper_request *request = request_of(of, which);
    request->done.string = done;
    return request_sent(request, __real_zoo_async(handle, path, on_string, request));
}

CALL_BY_HAND(int, zoo_acreate,
             (zhandle_t * handle, const char *path, const char *value, int length,
              const struct ACL_vector *acl, int flags, string_completion_t done, const void *of)) {
    int which = calls_answer("zoo_acreate", FAILURES, FAILURES);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    zookeeper_request *request = request_of(of, which);
    request->done.string = done;
    return request_sent(
        request, __real_zoo_acreate(handle, path, value, length, acl, flags, on_string, request));
}

CALL_BY_HAND(int, zoo_aset,
             (zhandle_t * handle, const char *path, const char *value, int length, int version,
              stat_completion_t done, const void *of)) {
    int which = calls_answer("zoo_aset", FAILURES, FAILURES);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    zookeeper_request *request = request_of(of, which);
    request->done.stat = done;
    return request_sent(request,
                        __real_zoo_aset(handle, path, value, length, version, on_stat, request));
}

CALL_BY_HAND(int, zoo_amulti,
             (zhandle_t * handle, int count, const zoo_op_t *ops, zoo_op_result_t *results,
              void_completion_t done, const void *of)) {
    int which = calls_answer("zoo_amulti", FAILURES, FAILURES + 1);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    zookeeper_request *request = request_of(of, which);
    request->done.nothing = done;
    if (ops[count - 1].type == ZOO_SETDATA_OP) {
        request->stat = ops[count - 1].set_op.stat;
    }
    return request_sent(request,
                        __real_zoo_amulti(handle, count, ops, results, on_nothing, request));
}

/* ---- scenarios ------------------------------------------------------------------------------ */

static const calls_scenario scenarios[] = {
    {.title = "marks", .url = "/t?unsafe=1"},
    {.title = "a new root", .url = "/u/t#", .ns = "n1", .list_all = true},
    {.title = "a name", .url = "/t", .host = "localhost"},
    {.title = "a login", .url = "/own", .host = "u:p@127.0.0.1"},
    {.title = "connections break", .url = "/t?unsafe=1", .cut = true},
};

int main(int count, char **arguments) {
    int failed = calls_main("zookeeper", "", scenarios, sizeof scenarios / sizeof scenarios[0],
                            count > 1 ? arguments[1] : NULL);
    if (handles_open != 0) {
        fprintf(stderr, "# %d handles of libzookeeper were not closed\n", handles_open);
    }
    return failed + (handles_open != 0);
}
