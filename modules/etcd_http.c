/* SPDX-License-Identifier: MIT */
/* Requests of the etcd store to the v3 JSON gateway, over libcurl with a kept connection, and
 * etcd's errors as text. */
#include "etcd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT        2379
#define ANSWER_MOST (16 << 20) /* bytes */

/* ---- one request ----------------------------------------------------------------------------- */

/* A POST in progress. */
typedef struct etcd_call {
    etcd_store *store;
    const char *body;
    size_t length;
    bool begun;             /* the request may have been sent */
    const char *sent_point; /* or NULL */
    bool pointed, forked;
    char *answer;
    size_t got, room;
    int64_t date_s; /* of the member's clock; 0: unknown */
} etcd_call;

/* libcurl repeats a request if a kept connection breaks before the answer, which could carry out a
 * write twice: so the second sending is refused. */
static int begin_request(void *self, char *local, char *remote, int local_port, int remote_port) {
    etcd_call *call = self;
    (void)local;
    (void)remote;
    (void)local_port;
    (void)remote_port;
    if (call->begun) {
        return CURL_PREREQFUNC_ABORT;
    }
    call->begun = true;
    return CURL_PREREQFUNC_OK;
}

static size_t take_answer(char *data, size_t size, size_t count, void *self) {
    etcd_call *call = self;
    size_t length = size * count;
    if (call->got + length > ANSWER_MOST) {
        return 0;
    }
    if (call->answer == NULL || call->got + length > call->room) {
        size_t room = (call->got + length) * 2 + 1024;
        char *more = realloc(call->answer, room);
        if (more == NULL) {
            return 0;
        }
        call->answer = more;
        call->room = room;
    }
    memcpy(call->answer + call->got, data, length);
    call->got += length;
    return length;
}

static size_t take_header(char *data, size_t size, size_t count, void *self) {
    etcd_call *call = self;
    char line[80];
    size_t length = size * count;
    if (length < sizeof line && length > 5 && strncasecmp(data, "Date:", 5) == 0) {
        snprintf(line, sizeof line, "%.*s", (int)length - 5, data + 5);
        time_t date = curl_getdate(line, NULL);
        call->date_s = date > 0 ? (int64_t)date : 0;
    }
    return length;
}

/* Called often: calls the failpoint once the body was sent. */
static int watch(void *self, curl_off_t down, curl_off_t downed, curl_off_t up, curl_off_t upped) {
    etcd_call *call = self;
    (void)down;
    (void)downed;
    (void)up;
    if (!call->pointed && upped >= (curl_off_t)call->length) {
        call->pointed = true;
        call->forked = module_point(&call->store->link, call->sent_point, NULL) != FIRN_OK;
    }
    return call->forked;
}

static curl_socket_t open_socket(void *self, curlsocktype purpose, struct curl_sockaddr *address) {
    etcd_store *store = self;
    (void)purpose;
    if (store->socket_count == ETCD_SOCKETS) {
        return CURL_SOCKET_BAD;
    }
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0) {
        store->sockets[store->socket_count++] = fd;
    }
    return fd;
}

static int close_socket(void *self, curl_socket_t fd) {
    etcd_store *store = self;
    for (int i = 0; i < store->socket_count; i++) {
        if (store->sockets[i] == fd) {
            store->sockets[i] = store->sockets[--store->socket_count];
            break;
        }
    }
    return close(fd);
}

void etcd_hang_up(void *self, bool forked) {
    etcd_store *store = self;
    for (int i = 0; forked && i < store->socket_count; i++) {
        close(store->sockets[i]); /* sends nothing (TLS would) and frees nothing */
    }
    if (!forked && store->curl != NULL) {
        curl_easy_cleanup(store->curl);
    }
    store->socket_count = 0;
    store->curl = NULL;
}

static CURL *make_curl(etcd_store *store) {
    CURL *curl = curl_easy_init();
    if (curl == NULL) {
        return NULL;
    }
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L); /* do not wait for a slow name lookup */
    curl_easy_setopt(curl, CURLOPT_MAXCONNECTS, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, begin_request);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, store);
    curl_easy_setopt(curl, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(curl, CURLOPT_CLOSESOCKETDATA, store);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, (long)store->tls.verify);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, store->tls.verify ? 2L : 0L);
    if (store->tls.ca != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, store->tls.ca);
    }
    if (store->tls.cert != NULL) {
        curl_easy_setopt(curl, CURLOPT_SSLCERT, store->tls.cert);
        curl_easy_setopt(curl, CURLOPT_SSLKEY, store->tls.key);
    }
    return curl;
}

/* With this header a member without a leader answers at once, not after seven seconds. */
static struct curl_slist *make_headers(const etcd_store *store) {
    char login[sizeof store->token + 20];
    struct curl_slist *list = curl_slist_append(NULL, "Grpc-Metadata-Hasleader: true"), *more;
    if (list != NULL && store->token[0] != '\0') {
        snprintf(login, sizeof login, "Authorization: %s", store->token);
        more = curl_slist_append(list, login);
        if (more == NULL) {
            curl_slist_free_all(list);
        }
        list = more;
    }
    return list;
}

static void make_url(char out[512], const etcd_store *store, size_t position, const char *path) {
    const module_host *host = &store->link.url.hosts[position];
    bool v6 = strchr(host->name, ':') != NULL;
    snprintf(out, 512, "%s://%s%.255s%s:%d%s", store->tls.enabled ? "https" : "http", v6 ? "[" : "",
             host->name, v6 ? "]" : "", host->port != 0 ? host->port : PORT, path);
}

/* Sends a request to one host. call->begun: something may have been sent. */
static CURLcode post(etcd_call *call, size_t position, const char *path, int64_t call_ms,
                     long *status) {
    etcd_store *store = call->store;
    char url[512];
    int64_t connect_ms = store->link.connect_ms / (int64_t)store->link.url.host_count;
    bool kept = store->socket_count > 0 && store->connected == position;
    struct curl_slist *headers = make_headers(store);
    CURL *curl = store->curl;
    long connects = 0;
    if (headers == NULL) {
        return CURLE_OUT_OF_MEMORY;
    }
    connect_ms = connect_ms > 0 ? connect_ms : 1;
    call_ms = call_ms > 0 ? call_ms : 1;
    make_url(url, store, position, path);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)call->length);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body);
    curl_easy_setopt(curl, CURLOPT_PREREQDATA, call);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, call);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, call->sent_point == NULL ? 1L : 0L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(kept ? call_ms : connect_ms + call_ms));
    CURLcode result = curl_easy_perform(curl);
    store->connected = position;
    if (curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connects) != CURLE_OK || connects > 0) {
        store->greeted = false; /* another server may answer there */
    }
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    return result;
}

/* ---- refusals -------------------------------------------------------------------------------- */

enum { CODE_NONE = -1, CODE_INVALID = 3, CODE_DENIED = 7, CODE_UNAUTHENTICATED = 16 };

#define LOGIN_CURE "give USER:PASSWORD@ in the URL, password-file= or ETCDCTL_USER"

/* Errors of etcd, by gRPC code or text: the transaction was not carried out. After other failures
 * the outcome is unknown (`open`), also if space is short: etcd reports that after the write that
 * used up the space. `other`: another member may succeed. */
static const struct refusal {
    int code; /* 0: any */
    const char *text;
    bool other, open;
    const char *what, *cure;
} refusals[] = {
    {0, "user name is empty", false, false, "needs a user", LOGIN_CURE},
    {0, "invalid user ID or password", false, false, "refuses the login",
     "check user and password"},
    {0, "authentication is not enabled", false, false, "has no users", "omit USER:PASSWORD@"},
    {0, "space exceeded", false, true, "has no space left",
     "run etcdctl compact, defrag and alarm disarm"},
    {CODE_DENIED, "", false, false, "lacks a right",
     "run etcdctl role grant-permission readwrite on the prefix"},
    {CODE_INVALID, "", false, false, NULL, NULL},
    {0, "etcdserver: too many requests", false, false, NULL, "try again"},
    {CODE_UNAUTHENTICATED, "", false, false, "refuses the login", "check user and password"},
    {0, "etcdserver: no leader", true, false, "has no leader", "start its members"},
    {0, "not supported for learner", true, false, NULL, "name the voting members"},
};

typedef struct outcome {
    int code; /* of firn */
    int grpc; /* etcd's, or CODE_NONE */
    bool other;
    char why[100];
    const char *what, *cure; /* or NULL */
} outcome;

static outcome refusal_of(const json_t *answer, long status) {
    const json_t *json = json_object_get(answer, "error"); /* newer ones say it only in "message" */
    const char *text = json_string_value(json != NULL ? json : json_object_get(answer, "message"));
    json_t *code = json_object_get(answer, "code");
    outcome out = {FIRN_EUNKNOWN, json_is_integer(code) ? (int)json_integer_value(code) : CODE_NONE,
                   false,         "",
                   NULL,          NULL};
    if (text == NULL) {
        snprintf(out.why, sizeof out.why, "HTTP status %ld", status);
        out.code = status >= 400 && status < 500 ? FIRN_ESTORE : FIRN_EUNKNOWN;
        return out;
    }
    snprintf(out.why, sizeof out.why, "%s", text);
    if (strstr(text, "revision of auth store is old") != NULL) {
        out.grpc = CODE_UNAUTHENTICATED; /* users changed since the token was signed */
    }
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if ((refusals[i].code == 0 || refusals[i].code == out.grpc) &&
            strstr(text, refusals[i].text) != NULL) {
            out.code = refusals[i].open ? FIRN_EUNKNOWN : FIRN_ESTORE;
            out.other = refusals[i].other;
            out.what = refusals[i].what;
            out.cure = refusals[i].cure;
            break;
        }
    }
    return out;
}

/* Makes an attempt; fills *answer on FIRN_OK. */
static outcome attempt(etcd_call *call, size_t position, const char *path, int64_t call_ms,
                       json_t **answer) {
    long status = 0;
    outcome out = {FIRN_OK, CODE_NONE, false, "", NULL, NULL};
    call->got = 0;
    CURLcode result = post(call, position, path, call_ms, &status);
    if (call->forked) {
        out.code = FIRN_EFORKED;
        return out;
    }
    if (result != CURLE_OK) {
        out.code = call->begun ? FIRN_EUNKNOWN : FIRN_ESTORE;
        out.other = out.code == FIRN_ESTORE;
        snprintf(out.why, sizeof out.why, "%s", curl_easy_strerror(result));
        if (result == CURLE_PEER_FAILED_VERIFICATION) {
            out.what = "has a certificate that is not valid";
            out.cure = "check its certificate, or name its authority with ca=FILE";
        } else if (result == CURLE_COULDNT_RESOLVE_HOST) {
            out.what = "is not found";
            out.cure = "correct the host's name in the URL";
        }
        return out;
    }
    *answer = call->got > 0 ? json_loadb(call->answer, call->got, 0, NULL) : NULL;
    if (status != 200 || *answer == NULL) {
        out = refusal_of(*answer, status);
        json_decref(*answer);
        *answer = NULL;
    }
    return out;
}

static int report(const etcd_store *store, const outcome *out, firn_error *error) {
    switch (out->code) {
    case FIRN_EUNKNOWN:
        return module_fail(
            error, FIRN_EUNKNOWN, "store %.60s %s (%.40s), perhaps after it did the write: %s",
            store->link.url.shown, out->what != NULL ? out->what : "did not answer", out->why,
            out->cure != NULL ? out->cure : "send the same request again with the same grant");
    case FIRN_EFORKED:
        return module_point(&store->link, NULL, error);
    default:
        return module_fail(error, FIRN_ESTORE, "store %.60s %s (%.50s): %s", store->link.url.shown,
                           out->what != NULL ? out->what : "cannot be used", out->why,
                           out->cure != NULL ? out->cure : "start it, or read its log");
    }
}

/* ---- any host -------------------------------------------------------------------------------- */

/* Posts to a host that answers. A write is sent to the next host only if it was certainly not
 * carried out. Sets store->refusal. */
static int ask_hosts(etcd_store *store, const char *path, const char *body, const char *sent_point,
                     bool write, json_t **answer, firn_error *error) {
    const size_t hosts = store->link.url.host_count;
    const int64_t share_ms =
        write ? store->link.timeout_ms : store->link.timeout_ms / (int64_t)hosts;
    bool reached = false;
    outcome out = {FIRN_ESTORE, CODE_NONE, false, "", NULL, NULL};
    store->refusal = CODE_NONE;
    for (size_t i = 0; i < hosts; i++) {
        if (module_in_time(&store->link, error) != FIRN_OK) {
            return FIRN_ESTORE; /* nothing was carried out so far */
        }
        etcd_call call = {
            .store = store, .body = body, .length = strlen(body), .sent_point = sent_point};
        out = attempt(&call, store->link.host, path, share_ms, answer);
        free(call.answer);
        store->date_s = call.date_s;
        store->refusal = out.grpc;
        reached = reached || call.begun;
        if (out.code == FIRN_OK) {
            module_retry_worked(&store->link.retry);
            return FIRN_OK;
        }
        if (out.code == FIRN_EFORKED || (out.code == FIRN_ESTORE && !out.other)) {
            break; /* every member would refuse it */
        }
        store->link.host = (store->link.host + 1) % hosts;
        store->greeted = false;
        if (write && out.code == FIRN_EUNKNOWN) {
            break;
        }
    }
    firn_error own = {0};
    out.code = write || out.code == FIRN_EFORKED ? out.code : FIRN_ESTORE;
    report(store, &out, &own);
    if (!reached && out.code == FIRN_ESTORE) {
        module_link_failed(&store->link, out.code, &own);
    }
    return module_copy(error, out.code, &own);
}

/* `text` NULL: no memory. */
static int ask_text(etcd_store *store, const char *path, char *text, const module_points *points,
                    json_t **answer, firn_error *error) {
    const char *sent_point =
        points != NULL && store->link.options.failpoint != NULL ? points->request_sent : NULL;
    if (text == NULL) {
        return module_no_memory(error);
    }
    return ask_hosts(store, path, text, sent_point, points != NULL, answer, error);
}

static void wipe(char *text) {
    if (text != NULL) {
        explicit_bzero(text, strlen(text));
        free(text);
    }
}

static int log_in(etcd_store *store, firn_error *error) {
    json_t *answer = NULL;
    json_t *body = json_pack("{s:s, s:s}", "name", store->link.url.user, "password",
                             store->link.url.password != NULL ? store->link.url.password : "");
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    explicit_bzero(store->token, sizeof store->token);
    int code = ask_text(store, "/v3/auth/authenticate", text, NULL, &answer, error);
    wipe(text);
    if (code != FIRN_OK) {
        return code;
    }
    const char *token = json_string_value(json_object_get(answer, "token"));
    bool fits = token != NULL && strlen(token) < sizeof store->token;
    if (fits) {
        strcpy(store->token, token);
    }
    json_decref(answer);
    return fits
               ? FIRN_OK
               : module_fail(
                     error, FIRN_ESTORE,
                     "store %.60s gives no token: name an etcd server, or leave user:password@ out",
                     store->link.url.shown);
}

/* An expired token is renewed once: the request was not carried out. */
int etcd_ask(etcd_store *store, const char *path, json_t *body, const module_points *points,
             json_t **answer, firn_error *error) {
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    int code = ask_text(store, path, text, points, answer, error);
    if (code == FIRN_ESTORE && store->refusal == CODE_UNAUTHENTICATED &&
        store->link.url.user != NULL && (code = log_in(store, error)) == FIRN_OK) {
        code = ask_text(store, path, text, points, answer, error);
    }
    wipe(text);
    return code;
}

static const char one_member[] =
    "the etcd cluster has one voting member: if its disk is lost, acknowledged writes are lost";
static const char hidden_members[] =
    "etcd does not report how many members store an acknowledged write";

size_t etcd_gone(const voters *these, const voters *others) {
    size_t gone = 0;
    for (size_t i = 0; i < these->count && others->count > 0; i++) {
        size_t j = 0;
        while (j < others->count && others->ids[j] != these->ids[i]) {
            j++;
        }
        gone += j == others->count;
    }
    return gone;
}

static void add_voter(voters *out, const json_t *member) {
    const char *text = json_string_value(json_object_get(member, "ID"));
    uint64_t id;
    size_t i = out->count;
    if (text == NULL || !module_uint64(&id, text, strlen(text)) || i == ETCD_VOTERS_MOST) {
        return;
    }
    for (; i > 0 && out->ids[i - 1] > id; i--) {
        out->ids[i] = out->ids[i - 1];
    }
    out->ids[i] = id;
    out->count++;
}

int etcd_look(etcd_store *store, firn_error *error) {
    json_t *answer = NULL;
    int code =
        store->link.url.user != NULL && store->token[0] == '\0' ? log_in(store, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    code = etcd_ask(store, "/v3/cluster/member/list", json_object(), NULL, &answer, error);
    if (code != FIRN_OK && store->refusal != CODE_DENIED) {
        return code;
    }
    json_t *members = json_object_get(answer, "members"), *member;
    size_t i;
    store->voters.count = 0;
    json_array_foreach(members, i, member) {
        if (!json_is_true(json_object_get(member, "isLearner"))) {
            add_voter(&store->voters, member);
        }
    }
    snprintf(store->link.caution, sizeof store->link.caution, "%s",
             code != FIRN_OK           ? hidden_members
             : store->voters.count < 2 ? one_member
                                       : "");
    store->greeted = true;
    json_decref(answer);
    return FIRN_OK;
}

int etcd_ready(void *self, firn_error *error) {
    etcd_store *store = self;
    if (module_link_begin(&store->link)) {
        etcd_hang_up(store, true);
        store->greeted = false;
    }
    int code = module_link_waits(&store->link, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (store->curl == NULL && (store->curl = make_curl(store)) == NULL) {
        return module_no_memory(error);
    }
    return store->greeted ? FIRN_OK : etcd_look(store, error);
}
