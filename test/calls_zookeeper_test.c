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
      const void *of),
     (handle, scheme, cert, length, done, of), 1, ZINVALIDSTATE)
CALL(int, getnameinfo,
     (const struct sockaddr *at, socklen_t size, char *name, socklen_t room, char *port,
      socklen_t more, int flags),
     (at, size, name, room, port, more, flags), 1, EAI_FAIL)

/* ---- the session ---------------------------------------------------------------------------- */

static watcher_fn watcher;
static int handles_open;

/* libzookeeper 3.8 leaks an event of a session that its network thread queues while the handle is being closed, because
 * the thread that delivers events may have ended (destroy, in mt_adaptor process_async is 0). Whether each handle is
 * closed is counted here instead. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libzookeeper_mt\n";
}

static void on_event(zhandle_t *handle, int type, int now, const char *path, void *of) {
    int which = calls_answer("an event", 2, 2);
    watcher(handle, type,
            which == 0   ? now
            : which == 1 ? ZOO_AUTH_FAILED_STATE
                         : ZOO_EXPIRED_SESSION_STATE,
            path, of);
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
typedef struct request {
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
} request;

static const int not_taken[] = {ZMARSHALLINGERROR, ZINVALIDSTATE, ZBADARGUMENTS};
static const int codes[] = {ZCONNECTIONLOSS, ZNOAUTH,         ZNONODE,
                            ZBADVERSION,     ZSESSIONEXPIRED, ZAPIERROR};
enum {
    NOT_TAKEN = sizeof not_taken / sizeof not_taken[0],
    CODES = sizeof codes / sizeof codes[0],
    FAILURES = NOT_TAKEN + CODES
};

static request *request_of(const void *of, int which) {
    request *it = __real_malloc(sizeof *it);
    assert_non_null(it);
    it->of = of;
    it->stat = NULL;
    it->which = which - NOT_TAKEN;
    return it;
}

/* A request that the library refuses is never answered. */
static int sent(request *it, int result) {
    if (result != ZOK) {
        free(it);
    }
    return result;
}

/* The code that the module gets. */
static int code_of(const request *it, int code) {
    return it->which >= 1 && it->which <= CODES ? codes[it->which - 1] : code;
}

/* Which wrong data the module gets, from 0; negative: none. */
static int lie_of(const request *it) {
    return it->which - CODES - 1;
}

static void on_data(int code, const char *value, int length, const struct Stat *stat,
                    const void *of) {
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
    request *it = (request *)(uintptr_t)of;
    struct Stat other = {0};
    int lie = lie_of(it);
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
    it->done.data(code_of(it, code), value, length, &other, it->of);
    free(it);
}

static void on_stat(int code, const struct Stat *stat, const void *of) {
    request *it = (request *)(uintptr_t)of;
    it->done.stat(code_of(it, code), stat, it->of);
    free(it);
}

static void on_string(int code, const char *value, const void *of) {
    request *it = (request *)(uintptr_t)of;
    it->done.string(code_of(it, code), value, it->of);
    free(it);
}

static void on_nothing(int code, const void *of) {
    request *it = (request *)(uintptr_t)of;
    if (it->stat != NULL && lie_of(it) == 0) {
        it->stat->mzxid = 1;
    }
    it->done.nothing(code_of(it, code), it->of);
    free(it);
}

static void on_strings(int code, const struct String_vector *strings, const void *of) {
    static char cut[] = "%4", wrong[] = "%4z", other[] = "other", nobody[] = "";
    static char *names[] = {cut, wrong, other, nobody};
    request *it = (request *)(uintptr_t)of;
    struct String_vector two = {1, names}, many = {INT32_MAX, names};
    int lie = lie_of(it);
    if (lie >= 0 && lie < 4) {
        two.data = names + lie;
    }
    it->done.strings(code_of(it, code),
                     lie < 0    ? strings
                     : lie < 4  ? &two
                     : lie == 4 ? &many
                                : NULL,
                     it->of);
    free(it);
}

CALL_BY_HAND(int, zoo_aget,
             (zhandle_t * handle, const char *path, int watch, data_completion_t done,
              const void *of)) {
    int which = calls_answer("zoo_aget", FAILURES, FAILURES + 13);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    request *it = request_of(of, which);
    it->done.data = done;
    return sent(it, __real_zoo_aget(handle, path, watch, on_data, it));
}

CALL_BY_HAND(int, zoo_aget_children,
             (zhandle_t * handle, const char *path, int watch, strings_completion_t done,
              const void *of)) {
    int which = calls_answer("zoo_aget_children", FAILURES, FAILURES + 6);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    request *it = request_of(of, which);
    it->done.strings = done;
    return sent(it, __real_zoo_aget_children(handle, path, watch, on_strings, it));
}

CALL_BY_HAND(int, zoo_async,
             (zhandle_t * handle, const char *path, string_completion_t done, const void *of)) {
    int which = calls_answer("zoo_async", FAILURES, FAILURES);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    request *it = request_of(of, which);
    it->done.string = done;
    return sent(it, __real_zoo_async(handle, path, on_string, it));
}

CALL_BY_HAND(int, zoo_acreate,
             (zhandle_t * handle, const char *path, const char *value, int length,
              const struct ACL_vector *acl, int flags, string_completion_t done, const void *of)) {
    int which = calls_answer("zoo_acreate", FAILURES, FAILURES);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    request *it = request_of(of, which);
    it->done.string = done;
    return sent(it, __real_zoo_acreate(handle, path, value, length, acl, flags, on_string, it));
}

CALL_BY_HAND(int, zoo_aset,
             (zhandle_t * handle, const char *path, const char *value, int length, int version,
              stat_completion_t done, const void *of)) {
    int which = calls_answer("zoo_aset", FAILURES, FAILURES);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    request *it = request_of(of, which);
    it->done.stat = done;
    return sent(it, __real_zoo_aset(handle, path, value, length, version, on_stat, it));
}

CALL_BY_HAND(int, zoo_amulti,
             (zhandle_t * handle, int count, const zoo_op_t *ops, zoo_op_result_t *results,
              void_completion_t done, const void *of)) {
    int which = calls_answer("zoo_amulti", FAILURES, FAILURES + 1);
    if (which >= 1 && which <= NOT_TAKEN) {
        return not_taken[which - 1];
    }
    request *it = request_of(of, which);
    it->done.nothing = done;
    if (ops[count - 1].type == ZOO_SETDATA_OP) {
        it->stat = ops[count - 1].set_op.stat;
    }
    return sent(it, __real_zoo_amulti(handle, count, ops, results, on_nothing, it));
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
