/* SPDX-License-Identifier: MIT */
/* The store on etcd: its v3 JSON gateway over libcurl, a kept connection a handle; every write is a
 * transaction that compares the revisions of what it was computed from, so that a late copy of it
 * can do nothing. Takes nothing from libfirn.
 *
 * What it makes: PREFIXstore, a text "LOSSES CLUSTER TERM ORIGIN", PREFIXnamespace/NS, a text "FLOOR
 * LOSSES ROW", and PREFIXmark/NS, a zero byte and KEY, a text "HIGH GRANT NOTE". The zero byte keeps
 * the order of names.
 *
 * The store went back where the cluster's ID is another one than in its record, or the Raft term, which
 * never falls in one cluster, is lower; or where this handle saw more: another store (ORIGIN is drawn
 * when it is made), a higher revision, a namespace that is gone, a higher mark. LOSSES counts how often
 * that was noticed. */
#include "module.h"

#include <curl/curl.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT        2379
#define ANSWER_MOST (16 << 20) /* bytes */
#define PREFIX_MOST 100        /* bytes */
#define PAGE        500        /* keys of one answer of a listing */
#define PAGES_MOST  100000
#define SOCKETS     8  /* libcurl has one, and two while it tries a host's addresses */
#define NAP_MOST_MS 32 /* between two rounds of a conflict */
#define ROUNDS_MOST 1000
#define NAME_SIZE   (PREFIX_MOST + FIRN_NS_SIZE + FIRN_KEY_SIZE + 16)
#define RECORD_SIZE (FIRN_LAYOUT_SIZE + 100) /* of a namespace; a mark's is shorter */

/* Bytes, which may hold zeros. */
typedef struct bytes {
    char at[NAME_SIZE];
    size_t length;
} bytes;

/* What the store, a namespace and one key of it stand at. */
typedef struct state {
    bool known;   /* read, or written by this handle */
    bool fresh;   /* read in this verb */
    bool wasted;  /* what this verb wrote turned out to be in another cluster */
    bool all_new; /* names without a record are new ones: see MODULE_ALL_NAMES */
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE];
    int64_t store_revision, ns_revision, mark_revision; /* 0: there is none */
    int64_t losses, ns_losses;      /* of the store; when the namespace was last reserved from */
    uint64_t cluster, term, origin; /* of the store's record */
    int64_t floor;
    char layout[FIRN_LAYOUT_SIZE], note[FIRN_NOTE_SIZE];
    firn_mark mark;
} state;

typedef struct store {
    module_url url;
    firn_store_options options;
    int64_t connect_ms, call_ms, unsafe, tls, verify;
    const char *prefix, *ca, *cert, *key;
    module_seen seen;
    module_retry retry;
    char why[120]; /* nobody could be reached */
    const char *caution;
    bool greeted;     /* who they are, and logged in if that is asked for */
    char token[4096]; /* one that is signed is long */
    pid_t pid;
    CURL *curl;
    int sockets[SOCKETS], socket_count;
    size_t host, connected; /* tried first; the one that the kept connection leads to */
    int refusal;            /* etcd's own code of the last failure, or CODE_NONE */
    int64_t end_ms;         /* of the verb that is under way: see module_verb_end */
    int64_t date_s;         /* of the last answer; 0: it did not say */
    state last;             /* of the last reservation */
    uint64_t cluster, term; /* of the last answer; cluster 0: none yet */
    int64_t revision;       /* the highest seen */
    int64_t losses;         /* of the store when this handle last reserved, -1: it knows nothing */
    uint64_t origin;        /* likewise */
    bool suspect;           /* what was answered contradicts what this handle knows */
    module_last least;
} store;

FIRN_API extern const firn_store_ops firn_store_module;

/* The failpoints of one write. */
typedef struct points {
    const char *before, *sent, *committed;
} points;

static const points reserve_points = {"reserve.before", "reserve.sent", "reserve.committed"};
static const points give_back_points = {"give_back.before", "give_back.sent",
                                        "give_back.committed"};

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *base64(const char *data, size_t length) {
    const gnutls_datum_t in = {(unsigned char *)(uintptr_t)data, (unsigned)length};
    gnutls_datum_t out = {NULL, 0};
    if (gnutls_base64_encode2(&in, &out) != 0) {
        return NULL;
    }
    json_t *text = json_stringn((const char *)out.data, out.size);
    gnutls_free(out.data);
    return text;
}

/* False: none, or longer than fits with a zero. */
static bool plain(char *out, size_t size, size_t *length, const json_t *text) {
    const char *value = json_string_value(text);
    gnutls_datum_t in, bin = {NULL, 0};
    if (value == NULL) {
        return false;
    }
    in = (gnutls_datum_t){(unsigned char *)(uintptr_t)value, (unsigned)strlen(value)};
    if (in.size > 0 && gnutls_base64_decode2(&in, &bin) != 0) {
        return false;
    }
    bool fits = bin.size < size;
    if (fits) {
        if (bin.size > 0) {
            memcpy(out, bin.data, bin.size);
        }
        out[bin.size] = '\0';
        *length = bin.size;
    }
    gnutls_free(bin.data);
    return fits;
}

/* 64-bit numbers are texts there, and a 0 is left out. */
static bool number(uint64_t *out, const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    *out = 0;
    return value == NULL || (json_is_string(value) && module_uint64(out, json_string_value(value),
                                                                    json_string_length(value)));
}

static bool signed_number(int64_t *out, const json_t *object, const char *name) {
    uint64_t value;
    if (!number(&value, object, name) || value > INT64_MAX) {
        return false;
    }
    *out = (int64_t)value;
    return true;
}

static json_t *number_text(int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return json_string(text);
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

/* One POST under way. */
typedef struct call {
    store *store;
    const char *body;
    size_t length;
    bool begun;             /* there was a connection, so it may have been sent */
    const char *sent_point; /* or NULL */
    bool pointed, forked;
    char *answer;
    size_t got, room;
    int64_t date_s; /* of the member's clock; 0: it did not say */
} call;

/* libcurl sends a request again by itself when a kept connection breaks before an answer: a write
 * might be carried out twice. So the second time is refused. */
static int begin_request(void *of, char *local, char *remote, int local_port, int remote_port) {
    call *it = of;
    (void)local;
    (void)remote;
    (void)local_port;
    (void)remote_port;
    if (it->begun) {
        return CURL_PREREQFUNC_ABORT;
    }
    it->begun = true;
    return CURL_PREREQFUNC_OK;
}

static size_t take_answer(char *data, size_t size, size_t count, void *of) {
    call *it = of;
    size_t length = size * count;
    if (it->got + length > ANSWER_MOST) {
        return 0;
    }
    if (it->answer == NULL || it->got + length > it->room) {
        size_t room = (it->got + length) * 2 + 1024;
        char *more = realloc(it->answer, room);
        if (more == NULL) {
            return 0;
        }
        it->answer = more;
        it->room = room;
    }
    memcpy(it->answer + it->got, data, length);
    it->got += length;
    return length;
}

static size_t take_header(char *data, size_t size, size_t count, void *of) {
    call *it = of;
    char line[80];
    size_t length = size * count;
    if (length < sizeof line && length > 5 && strncasecmp(data, "Date:", 5) == 0) {
        snprintf(line, sizeof line, "%.*s", (int)length - 5, data + 5);
        time_t date = curl_getdate(line, NULL);
        it->date_s = date > 0 ? (int64_t)date : 0;
    }
    return length;
}

/* Called often; the first time after the body has left is the failpoint's. */
static int watch(void *of, curl_off_t down, curl_off_t downed, curl_off_t up, curl_off_t upped) {
    call *it = of;
    (void)down;
    (void)downed;
    (void)up;
    if (!it->pointed && upped >= (curl_off_t)it->length) {
        it->pointed = true;
        it->forked = module_point(&it->store->options, it->store->pid, it->sent_point, NULL) != 0;
    }
    return it->forked;
}

static curl_socket_t open_socket(void *of, curlsocktype purpose, struct curl_sockaddr *address) {
    store *self = of;
    (void)purpose;
    if (self->socket_count == SOCKETS) {
        return CURL_SOCKET_BAD;
    }
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0) {
        self->sockets[self->socket_count++] = fd;
    }
    return fd;
}

static int close_socket(void *of, curl_socket_t fd) {
    store *self = of;
    for (int i = 0; i < self->socket_count; i++) {
        if (self->sockets[i] == fd) {
            self->sockets[i] = self->sockets[--self->socket_count];
            break;
        }
    }
    return close(fd);
}

static void hang_up(store *self, bool forked) {
    for (int i = 0; forked && i < self->socket_count; i++) {
        close(self->sockets[i]); /* and nothing said to the other end, by TLS for one */
    }
    if (!forked && self->curl != NULL) {
        curl_easy_cleanup(self->curl);
    }
    self->socket_count = 0;
    self->curl = NULL;
}

static CURL *make_curl(store *self) {
    CURL *curl = curl_easy_init();
    if (curl == NULL) {
        return NULL;
    }
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L); /* waits for no name that takes too long */
    curl_easy_setopt(curl, CURLOPT_MAXCONNECTS, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, begin_request);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, self);
    curl_easy_setopt(curl, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(curl, CURLOPT_CLOSESOCKETDATA, self);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, (long)self->verify);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, self->verify ? 2L : 0L);
    if (self->ca != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, self->ca);
    }
    if (self->cert != NULL) {
        curl_easy_setopt(curl, CURLOPT_SSLCERT, self->cert);
        curl_easy_setopt(curl, CURLOPT_SSLKEY, self->key);
    }
    return curl;
}

/* Without a leader a member answers at once, and not after its own seven seconds. */
static struct curl_slist *make_headers(const store *self) {
    char login[sizeof self->token + 20];
    struct curl_slist *list = curl_slist_append(NULL, "Grpc-Metadata-Hasleader: true"), *more;
    if (list != NULL && self->token[0] != '\0') {
        snprintf(login, sizeof login, "Authorization: %s", self->token);
        more = curl_slist_append(list, login);
        if (more == NULL) {
            curl_slist_free_all(list);
        }
        list = more;
    }
    return list;
}

static void make_url(char out[512], const store *self, size_t at, const char *path) {
    const module_host *host = &self->url.hosts[at];
    bool v6 = strchr(host->name, ':') != NULL;
    snprintf(out, 512, "%s://%s%.255s%s:%d%s", self->tls ? "https" : "http", v6 ? "[" : "",
             host->name, v6 ? "]" : "", host->port != 0 ? host->port : PORT, path);
}

/* One request to one host. it->begun tells afterwards whether anything may have left. */
static CURLcode post(call *it, size_t at, const char *path, int64_t call_ms, long *status) {
    store *self = it->store;
    char url[512];
    int64_t connect_ms = self->connect_ms / (int64_t)self->url.host_count;
    bool kept = self->socket_count > 0 && self->connected == at;
    struct curl_slist *headers = make_headers(self);
    CURL *curl = self->curl;
    if (headers == NULL) {
        return CURLE_OUT_OF_MEMORY;
    }
    connect_ms = connect_ms > 0 ? connect_ms : 1;
    call_ms = call_ms > 0 ? call_ms : 1;
    make_url(url, self, at, path);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)it->length);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, it->body);
    curl_easy_setopt(curl, CURLOPT_PREREQDATA, it);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, it);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, it);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, it);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, it->sent_point == NULL ? 1L : 0L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(kept ? call_ms : connect_ms + call_ms));
    CURLcode result = curl_easy_perform(curl);
    self->connected = at;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    return result;
}

/* ---- calls ----------------------------------------------------------------------------------- */

enum { CODE_NONE = -1, CODE_INVALID = 3, CODE_DENIED = 7, CODE_UNAUTHENTICATED = 16 };

#define LOGIN_CURE "give USER:PASSWORD@ in the URL, password-file= or ETCDCTL_USER"

/* What etcd says instead of carrying a transaction out, by its gRPC code or its text, and the cure; any
 * other failure leaves it open. So does a lack of space, which etcd tells after it carried out the write
 * that took the last of it. `other`: another member may do it. */
static const struct refusal {
    int code; /* 0: any */
    const char *text;
    bool other, open;
    const char *what, *cure;
} refusals[] = {
    {0, "user name is empty", false, false, "wants a user", LOGIN_CURE},
    {0, "invalid user ID or password", false, false, "refuses the login",
     "look at user and password"},
    {0, "authentication is not enabled", false, false, "has no users", "leave USER:PASSWORD@ out"},
    {0, "space exceeded", false, true, "has no space left",
     "run etcdctl compact, defrag and alarm disarm"},
    {CODE_DENIED, "", false, false, "lacks a right",
     "etcdctl role grant-permission readwrite on the prefix"},
    {CODE_INVALID, "", false, false, NULL, NULL},
    {0, "etcdserver: too many requests", false, false, NULL, "ask again"},
    {CODE_UNAUTHENTICATED, "", false, false, "refuses the login", "look at user and password"},
    {0, "etcdserver: no leader", true, false, "has no leader", "bring its members back"},
    {0, "not supported for learner", true, false, NULL, "name the voting members"},
};

typedef struct outcome {
    int code; /* of ours */
    int grpc; /* etcd's, or CODE_NONE */
    bool other;
    char why[100];
    const char *what, *cure; /* or NULL */
} outcome;

static outcome refusal_of(const json_t *answer, long status) {
    const char *text = json_string_value(json_object_get(answer, "error"));
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
        out.grpc = CODE_UNAUTHENTICATED; /* users changed since a token was signed */
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

/* One attempt; fills *answer on FIRN_OK. */
static outcome attempt(call *it, size_t at, const char *path, int64_t call_ms, json_t **answer) {
    long status = 0;
    outcome out = {FIRN_OK, CODE_NONE, false, "", NULL, NULL};
    it->got = 0;
    CURLcode result = post(it, at, path, call_ms, &status);
    if (it->forked) {
        out.code = FIRN_EFORKED;
        return out;
    }
    if (result != CURLE_OK) {
        out.code = it->begun ? FIRN_EUNKNOWN : FIRN_ESTORE;
        out.other = out.code == FIRN_ESTORE;
        snprintf(out.why, sizeof out.why, "%s", curl_easy_strerror(result));
        if (result == CURLE_PEER_FAILED_VERIFICATION) {
            out.what = "is not who it should be";
            out.cure = "look at its certificate, or name its authority by ca=FILE";
        } else if (result == CURLE_COULDNT_RESOLVE_HOST) {
            out.what = "is not found";
            out.cure = "correct the host's name in the URL";
        }
        return out;
    }
    *answer = it->got > 0 ? json_loadb(it->answer, it->got, 0, NULL) : NULL;
    if (status != 200 || *answer == NULL) {
        out = refusal_of(*answer, status);
        json_decref(*answer);
        *answer = NULL;
    }
    return out;
}

static int tell(const store *self, const outcome *out, firn_error *error) {
    switch (out->code) {
    case FIRN_EUNKNOWN:
        return module_fail(error, FIRN_EUNKNOWN,
                           "store %.60s %s (%.40s), perhaps after it did what it was asked: %s",
                           self->url.shown, out->what != NULL ? out->what : "did not answer",
                           out->why,
                           out->cure != NULL ? out->cure : "ask again with the same grant");
    case FIRN_EFORKED:
        return module_fail(error, FIRN_EFORKED,
                           "this process was forked while the store was at work: call exec, or "
                           "fork between calls");
    default:
        return module_fail(error, FIRN_ESTORE, "store %.60s %s (%.50s): %s", self->url.shown,
                           out->what != NULL ? out->what : "cannot be used", out->why,
                           out->cure != NULL ? out->cure : "start it, or look at its log");
    }
}

static int log_in(store *self, firn_error *error);

/* A body to whichever host answers; a write goes on to the next one only where it is proven not to
 * have been carried out. self->refusal tells etcd's own code of a failure. */
static int ask_hosts(store *self, const char *path, const char *body, const char *sent_point,
                     bool write, json_t **answer, firn_error *error) {
    const size_t hosts = self->url.host_count;
    const int64_t share_ms = write ? self->call_ms : self->call_ms / (int64_t)hosts;
    bool reached = false;
    outcome out = {FIRN_ESTORE, CODE_NONE, false, "", NULL, NULL};
    self->refusal = CODE_NONE;
    for (size_t i = 0; i < hosts; i++) {
        if (module_in_time(self->end_ms, self->url.shown, error) != FIRN_OK) {
            return FIRN_ESTORE; /* nobody has carried out what was asked so far */
        }
        call it = {.store = self, .body = body, .length = strlen(body), .sent_point = sent_point};
        out = attempt(&it, self->host, path, share_ms, answer);
        free(it.answer);
        self->date_s = it.date_s;
        self->refusal = out.grpc;
        reached = reached || it.begun;
        if (out.code == FIRN_OK) {
            module_retry_worked(&self->retry);
            return FIRN_OK;
        }
        if (out.code == FIRN_EFORKED || (out.code == FIRN_ESTORE && !out.other)) {
            break; /* every member would say that */
        }
        self->host = (self->host + 1) % hosts;
        self->greeted = false;
        if (write && out.code == FIRN_EUNKNOWN) {
            break;
        }
    }
    out.code = write || out.code == FIRN_EFORKED ? out.code : FIRN_ESTORE;
    if (!reached && out.code == FIRN_ESTORE) {
        module_retry_failed(&self->retry);
        snprintf(self->why, sizeof self->why, "%.60s cannot be used (%.40s)", self->url.shown,
                 out.why);
    }
    return tell(self, &out, error);
}

/* A text that is wiped and freed; NULL: no memory. */
static int ask_text(store *self, const char *path, char *text, const points *at, json_t **answer,
                    firn_error *error) {
    const char *sent_point = at != NULL && self->options.failpoint != NULL ? at->sent : NULL;
    if (text == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory for a request");
    }
    return ask_hosts(self, path, text, sent_point, at != NULL, answer, error);
}

static void wipe(char *text) {
    if (text != NULL) {
        explicit_bzero(text, strlen(text));
        free(text);
    }
}

static int log_in(store *self, firn_error *error) {
    json_t *answer = NULL;
    json_t *body = json_pack("{s:s, s:s}", "name", self->url.user, "password",
                             self->url.password != NULL ? self->url.password : "");
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    explicit_bzero(self->token, sizeof self->token);
    int code = ask_text(self, "/v3/auth/authenticate", text, NULL, &answer, error);
    wipe(text);
    if (code != FIRN_OK) {
        return code;
    }
    const char *token = json_string_value(json_object_get(answer, "token"));
    bool fits = token != NULL && strlen(token) < sizeof self->token;
    if (fits) {
        strcpy(self->token, token);
    }
    json_decref(answer);
    return fits ? FIRN_OK
                : module_fail(error, FIRN_ESTORE, "store %.60s gives no token: look at its log",
                              self->url.shown);
}

/* Takes the body. A token that expired is renewed once: the request was not carried out. */
static int ask(store *self, const char *path, json_t *body, const points *at, json_t **answer,
               firn_error *error) {
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    int code = ask_text(self, path, text, at, answer, error);
    if (code == FIRN_ESTORE && self->refusal == CODE_UNAUTHENTICATED && self->url.user != NULL &&
        (code = log_in(self, error)) == FIRN_OK) {
        code = ask_text(self, path, text, at, answer, error);
    }
    wipe(text);
    return code;
}

static const char one_member[] =
    "the etcd cluster has one voting member, so what it acknowledged goes with its disk";
static const char hidden_members[] =
    "etcd does not tell how many members keep what it acknowledges";

static int greet(store *self, firn_error *error) {
    json_t *answer = NULL;
    if (self->greeted) {
        return FIRN_OK;
    }
    int code = self->url.user != NULL && self->token[0] == '\0' ? log_in(self, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    code = ask(self, "/v3/cluster/member/list", json_object(), NULL, &answer, error);
    if (code != FIRN_OK && self->refusal != CODE_DENIED) {
        return code;
    }
    json_t *members = json_object_get(answer, "members"), *member;
    size_t i, voters = 0;
    json_array_foreach(members, i, member) {
        voters += !json_is_true(json_object_get(member, "isLearner"));
    }
    self->caution = code != FIRN_OK ? hidden_members : voters < 2 ? one_member : NULL;
    self->greeted = true;
    json_decref(answer);
    return FIRN_OK;
}

/* A connection of this process's own, to somebody who was asked who they are. */
static int ready(store *self, firn_error *error) {
    self->end_ms = module_verb_end(&self->options, self->connect_ms, self->call_ms);
    if (module_forked(&self->pid)) {
        hang_up(self, true);
        self->greeted = false;
        self->last.known = false;
        module_forget(&self->least); /* the parent may give it back */
        module_retry_worked(&self->retry);
    }
    if (module_retry_waits(&self->retry)) {
        return module_fail(error, FIRN_ESTORE, "store %.119s: tried again within a second",
                           self->why);
    }
    if (self->curl == NULL && (self->curl = make_curl(self)) == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory for a connection");
    }
    return greet(self, error);
}

/* ---- records --------------------------------------------------------------------------------- */

static void name_store(bytes *out, const store *self) {
    out->length = (size_t)snprintf(out->at, sizeof out->at, "%sstore", self->prefix);
}

static void name_namespace(bytes *out, const store *self, const char *ns) {
    out->length = (size_t)snprintf(out->at, sizeof out->at, "%snamespace/%s", self->prefix, ns);
}

static void name_mark(bytes *out, const store *self, const char *ns, const char *key) {
    out->length =
        (size_t)snprintf(out->at, sizeof out->at, "%smark/%s%c%s", self->prefix, ns, '\0', key);
}

/* The next blank-separated number of a record. */
static bool next_number(uint64_t *out, const char **at) {
    size_t length = strcspn(*at, " ");
    if ((*at)[length] != ' ' || !module_uint64(out, *at, length)) {
        return false;
    }
    *at += length + 1;
    return true;
}

static bool read_store(state *out, const char *text) {
    uint64_t losses;
    if (!next_number(&losses, &text) || losses >= INT64_MAX || !next_number(&out->cluster, &text) ||
        !next_number(&out->term, &text) || !module_uint64(&out->origin, text, strlen(text))) {
        return false;
    }
    out->losses = (int64_t)losses;
    return true;
}

static bool read_namespace(state *out, const char *text) {
    uint64_t floor, losses;
    if (!next_number(&floor, &text) || floor > FIRN_SLOT_MAX || !next_number(&losses, &text) ||
        losses > INT64_MAX || strlen(text) >= sizeof out->layout) {
        return false;
    }
    out->floor = (int64_t)floor;
    out->ns_losses = (int64_t)losses;
    strcpy(out->layout, text);
    return true;
}

static bool read_mark(firn_mark *mark, char note[FIRN_NOTE_SIZE], const char *text) {
    uint64_t high;
    if (!next_number(&high, &text) || high > FIRN_SLOT_MAX || !next_number(&mark->grant, &text) ||
        strlen(text) >= FIRN_NOTE_SIZE) {
        return false;
    }
    mark->high = (int64_t)high;
    strcpy(note, text);
    return true;
}

/* Which cluster answered, how far it is; and whether it is another one or fell behind what was
 * seen. */
static bool take_head(store *self, const json_t *answer) {
    const json_t *header = json_object_get(answer, "header");
    uint64_t cluster, term;
    int64_t revision;
    if (header == NULL || !number(&cluster, header, "cluster_id") ||
        !number(&term, header, "raft_term") || !signed_number(&revision, header, "revision") ||
        cluster == 0 || revision < 1) {
        return false;
    }
    if (self->losses >= 0 && (cluster != self->cluster || revision < self->revision)) {
        self->suspect = true;
    }
    self->revision = revision;
    self->cluster = cluster;
    self->term = term;
    return true;
}

static bool take_record(json_t *responses, size_t at, int64_t *revision, char text[RECORD_SIZE]) {
    json_t *range = json_object_get(json_array_get(responses, at), "response_range");
    json_t *record = json_array_get(json_object_get(range, "kvs"), 0);
    size_t length;
    *revision = 0;
    text[0] = '\0';
    return range != NULL && (record == NULL ||
                             (signed_number(revision, record, "mod_revision") && *revision > 0 &&
                              plain(text, RECORD_SIZE, &length, json_object_get(record, "value"))));
}

/* What store, namespace and key stand at, from the answers to four ranges. */
static bool take_state(state *now, const json_t *answer) {
    json_t *responses = json_object_get(answer, "responses");
    char text[RECORD_SIZE];
    int64_t all;
    state other;
    now->floor = now->losses = now->ns_losses = 0;
    now->cluster = now->term = now->origin = 0;
    now->mark = (firn_mark){0, 0};
    now->layout[0] = now->note[0] = '\0';
    if (!take_record(responses, 0, &now->store_revision, text) ||
        (now->store_revision > 0 && !read_store(now, text)) ||
        !take_record(responses, 1, &now->ns_revision, text) ||
        (now->ns_revision > 0 && !read_namespace(now, text)) ||
        !take_record(responses, 2, &now->mark_revision, text) ||
        (now->mark_revision > 0 && !read_mark(&now->mark, now->note, text)) ||
        !take_record(responses, 3, &all, text) || (all > 0 && !read_namespace(&other, text))) {
        return false;
    }
    now->all_new = all > 0 && other.ns_losses == now->losses;
    now->known = now->fresh = true;
    return true;
}

/* ---- transactions ---------------------------------------------------------------------------- */

static json_t *range_of(const bytes *name) {
    return json_pack("{s:{s:o}}", "requestRange", "key", base64(name->at, name->length));
}

static json_t *ranges_of(const store *self, const state *now) {
    bytes own, ns, mark, all;
    name_store(&own, self);
    name_namespace(&ns, self, now->ns);
    name_mark(&mark, self, now->ns, now->key);
    name_namespace(&all, self, MODULE_ALL_NAMES);
    return json_pack("[o, o, o, o]", range_of(&own), range_of(&ns), range_of(&mark),
                     range_of(&all));
}

/* Equal, which need not be said. */
static json_t *compare_value_of(const bytes *name, const char *text) {
    return json_pack("{s:o, s:s, s:o}", "key", base64(name->at, name->length), "target", "VALUE",
                     "value", base64(text, strlen(text)));
}

/* Revision 0 is that of a key that is not there. */
static json_t *compare_of(const bytes *name, int64_t revision) {
    return json_pack("{s:o, s:s, s:o}", "key", base64(name->at, name->length), "target", "MOD",
                     "modRevision", number_text(revision));
}

static json_t *put_of(const bytes *name, const char *text) {
    return json_pack("{s:{s:o, s:o}}", "requestPut", "key", base64(name->at, name->length), "value",
                     base64(text, strlen(text)));
}

static int damaged(const store *self, int code, firn_error *error) {
    return module_fail(error, code,
                       "store %.60s holds or answers what nobody understands: look "
                       "at it with etcdctl",
                       self->url.shown);
}

static int read_state(store *self, state *now, firn_error *error) {
    json_t *answer = NULL;
    int code = ask(self, "/v3/kv/txn", json_pack("{s:o}", "success", ranges_of(self, now)), NULL,
                   &answer, error);
    if (code == FIRN_OK && (!take_head(self, answer) || !take_state(now, answer))) {
        code = damaged(self, FIRN_ESTORE, error);
    }
    json_decref(answer);
    return code;
}

/* What must be so still: the revisions, and the mark itself, since in another cluster at the same
 * place the same revision may be that of another mark, which would be lowered. */
static json_t *compares_of(const bytes *own, const bytes *ns, const bytes *mark, const state *now,
                           const char *was) {
    json_t *all = json_pack("[o, o, o]", compare_of(own, now->store_revision),
                            compare_of(ns, now->ns_revision), compare_of(mark, now->mark_revision));
    if (now->mark_revision != 0 && json_array_append_new(all, compare_value_of(mark, was)) != 0) {
        json_decref(all); /* out of memory: never a request that compares less */
        return NULL;
    }
    return all;
}

/* The texts that a transaction writes, NULL: that record stays. */
typedef struct change {
    const char *own, *ns, *mark;
} change;

/* Writes the change if all records are what `now` says, and the mark's text `was`, else reads them into it. *written tells which. That the transaction does not bring what it found
 * makes it a tenth faster where nobody came between, which is nearly always. */
static int write_state(store *self, state *now, const char *was, const change *with,
                       const points *at, bool *written, firn_error *error) {
    bytes own, ns, mark;
    json_t *answer = NULL, *puts = json_array();
    int code = module_point(&self->options, self->pid, at->before, error);
    if (code != FIRN_OK) {
        json_decref(puts);
        return code;
    }
    name_store(&own, self);
    name_namespace(&ns, self, now->ns);
    name_mark(&mark, self, now->ns, now->key);
    if ((with->own != NULL && json_array_append_new(puts, put_of(&own, with->own)) != 0) ||
        (with->ns != NULL && json_array_append_new(puts, put_of(&ns, with->ns)) != 0) ||
        (with->mark != NULL && json_array_append_new(puts, put_of(&mark, with->mark)) != 0)) {
        json_decref(puts);
        return module_fail(error, FIRN_EMEMORY, "out of memory for a request");
    }
    json_t *body = json_pack("{s:o, s:o}", "compare", compares_of(&own, &ns, &mark, now, was),
                             "success", puts);
    code = ask(self, "/v3/kv/txn", body, at, &answer, error);
    if (code != FIRN_OK) {
        return code;
    }
    *written = json_is_true(json_object_get(answer, "succeeded"));
    if (!take_head(self, answer)) {
        code = damaged(self, FIRN_EUNKNOWN, error);
    } else if (*written) {
        now->store_revision = with->own != NULL ? self->revision : now->store_revision;
        now->ns_revision = with->ns != NULL ? self->revision : now->ns_revision;
        now->mark_revision = with->mark != NULL ? self->revision : now->mark_revision;
    }
    json_decref(answer);
    return code == FIRN_OK && !*written ? read_state(self, now, error) : code;
}

static uint64_t draw_random(void) {
    uint64_t random = 0;
    return getrandom(&random, sizeof random, 0) == sizeof random ? random
                                                                 : (uint64_t)module_now_ms();
}

/* Lets the other writers of the same key go first: longer with each round, and at random. */
static void nap(int round) {
    int most_ms = 1 << (round < 5 ? round : 5);
    int64_t ns = (int64_t)(draw_random() % ((unsigned)most_ms * 1000)) * 1000;
    const struct timespec wait = {0, (long)ns};
    nanosleep(&wait, NULL);
}

_Static_assert(1 << 5 == NAP_MOST_MS, "the longest nap");

/* ---- reserve --------------------------------------------------------------------------------- */

static void forget(store *self) {
    self->suspect = false;
    self->losses = -1;
    memset(&self->seen, 0, sizeof self->seen);
    module_forget(&self->least);
}

/* Did the store go back since its record was written? What this handle reserved before others noticed
 * that is no news. */
static bool went_back(store *self, const state *now) {
    if (self->losses >= 0 && now->origin == self->origin && now->losses > self->losses) {
        forget(self);
    }
    return (now->store_revision > 0 && (now->cluster != self->cluster || now->term > self->term)) ||
           (now->store_revision == 0 && now->ns_revision > 0) || self->suspect ||
           (self->losses >= 0 && (now->origin != self->origin || now->losses < self->losses)) ||
           (now->ns_revision == 0 && module_was_seen(&self->seen, now->ns)) ||
           now->mark.high < module_least(&self->least, now->ns, now->key);
}

/* What follows from a state: FIRN_OK and `first`, or a refusal. `next` is the state afterwards but for
 * the mark; `own` and `renew`: the records of the store and of the namespace are to be written, which
 * ever it is. */
static int decide(store *self, const state *now, state *next, const firn_request *request,
                  int64_t *first, bool *own, bool *renew, firn_mark *held, firn_error *error) {
    const bool back = went_back(self, now);
    module_verdict verdict;
    *next = *now;
    if (back) {
        int64_t most = now->losses > now->ns_losses ? now->losses : now->ns_losses;
        next->losses = (most > self->losses ? most : self->losses) + 1;
    }
    *own = back || now->store_revision == 0 || self->term > now->term;
    next->cluster = self->cluster;
    next->term = self->term;
    next->origin = now->store_revision > 0 ? now->origin : draw_random() | 1;
    const module_kept kept = {
        .known = now->ns_revision > 0,
        .doubted = now->ns_revision > 0 ? now->ns_losses != next->losses
                                        : next->losses > 0 && (back || !now->all_new),
        .layout = now->layout,
        .floor = now->floor,
        .mark = now->mark,
    };
    int code = module_decide(&verdict, &kept, request, self->url.shown, held, error);
    if (code == FIRN_EBUSY && now->wasted) {
        held->grant = 0; /* not for the caller to find its own there */
    }
    *first = verdict.first;
    *renew = verdict.renew;
    if (verdict.renew) {
        next->floor = verdict.floor;
        next->ns_losses = next->losses;
        strcpy(next->layout, request->layout);
    }
    return code;
}

static void store_text(char out[RECORD_SIZE], const state *now) {
    snprintf(out, RECORD_SIZE, "%" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64, now->losses,
             now->cluster, now->term, now->origin);
}

static void namespace_text(char out[RECORD_SIZE], const state *now) {
    snprintf(out, RECORD_SIZE, "%" PRId64 " %" PRId64 " %s", now->floor, now->ns_losses,
             now->layout);
}

static void mark_text(char out[RECORD_SIZE], const firn_mark *mark, const char *note) {
    snprintf(out, RECORD_SIZE, "%" PRId64 " %" PRIu64 " %s", mark->high, mark->grant, note);
}

/* One round. *done: its code is the verb's; else `now` was read anew. */
static int reserve_round(store *self, state *now, const firn_request *request, int64_t *first,
                         firn_mark *held, bool *done, firn_error *error) {
    char own_text[RECORD_SIZE], ns_text[RECORD_SIZE], text[RECORD_SIZE], was[RECORD_SIZE];
    bool own, renew, written = false;
    int64_t slot = 0;
    state next;
    int verdict = decide(self, now, &next, request, &slot, &own, &renew, held, error);
    *done = false;
    if ((verdict != FIRN_OK || own) && !now->fresh) {
        return read_state(self, now, error); /* what is only remembered refuses nobody */
    }
    const bool told = next.losses > now->losses; /* that the store went back is told in any case */
    *done = verdict != FIRN_OK && !told && (verdict != FIRN_EBUSY || !renew);
    if (*done) {
        return verdict;
    }
    store_text(own_text, &next);
    namespace_text(ns_text, &next);
    mark_text(was, &now->mark, now->note);
    if (verdict == FIRN_OK) {
        next.mark = (firn_mark){slot + request->count, request->grant};
        snprintf(next.note, sizeof next.note, "%s", request->note != NULL ? request->note : "");
        mark_text(text, &next.mark, next.note);
    }
    const change with = {own ? own_text : NULL, renew ? ns_text : NULL,
                         verdict == FIRN_OK ? text : NULL};
    firn_error kept = {0};
    int code = write_state(self, &next, was, &with, &reserve_points, &written,
                           verdict == FIRN_OK ? error : &kept);
    if (code != FIRN_OK || !written) {
        *now = next;
        return code == FIRN_OK || verdict == FIRN_OK ? code
                                                     : module_fail(error, code, "%s", kept.text);
    }
    if (told) { /* the store knows what this handle knew */
        forget(self);
    }
    if (went_back(self, &next)) { /* the answer says it was another one: those slots are lost */
        now->wasted = true;
        return read_state(self, now, error);
    }
    *now = next;
    *done = true;
    if (verdict == FIRN_OK) {
        self->losses = now->losses;
        self->origin = now->origin;
        module_see(&self->seen, request->ns);
        module_remember(&self->least, request, now->mark.high);
        *first = slot;
        return module_point(&self->options, self->pid, reserve_points.committed, error);
    }
    return verdict;
}

/* Begins with what the last verb left, if that was the same key's. */
static int recall(store *self, state *now, const char *ns, const char *key, firn_error *error) {
    const state *last = &self->last;
    if (last->known && strcmp(last->ns, ns) == 0 && strcmp(last->key, key) == 0) {
        *now = *last;
        now->fresh = now->wasted = false;
        return FIRN_OK;
    }
    memset(now, 0, sizeof *now);
    snprintf(now->ns, sizeof now->ns, "%s", ns);
    snprintf(now->key, sizeof now->key, "%s", key);
    return read_state(self, now, error);
}

static int too_many(const store *self, const char *ns, const char *key, firn_error *error) {
    return module_fail(error, FIRN_ESTORE,
                       "store %.50s: others were first on %.24s/%.63s for %" PRId64
                       " ms: try again",
                       self->url.shown, ns, key, self->call_ms);
}

static int etcd_reserve(void *of, const firn_request *request, int64_t *first, firn_mark *held,
                        firn_error *error) {
    store *self = of;
    state now;
    bool done = false;
    int64_t slot = 0;
    firn_mark mark = {0, 0};
    int code = ready(self, error);
    if (code == FIRN_OK) {
        code = recall(self, &now, request->ns, request->key, error);
    }
    self->last.known = false;
    int64_t deadline_ms = module_now_ms() + self->call_ms;
    for (int i = 0; i < ROUNDS_MOST && code == FIRN_OK && !done; i++) {
        if (i > 1) {
            nap(i);
        }
        if (i > 0 && module_now_ms() >= deadline_ms) {
            return too_many(self, request->ns, request->key, error);
        }
        code = reserve_round(self, &now, request, &slot, &mark, &done, error);
    }
    if (code == FIRN_OK && !done) {
        return too_many(self, request->ns, request->key, error);
    }
    if (code == FIRN_OK) {
        *first = slot;
        self->last = now;
    } else if (code == FIRN_EBUSY) {
        *held = mark;
    }
    return code;
}

/* ---- give back ------------------------------------------------------------------------------- */

static int give_back_round(store *self, state *now, const firn_mark *mine, int64_t high, bool *done,
                           firn_error *error) {
    char text[RECORD_SIZE], was[RECORD_SIZE];
    bool written = false;
    *done = false;
    if (now->mark_revision == 0 || now->mark.high != mine->high || now->mark.grant != mine->grant) {
        if (!now->fresh) {
            return read_state(self, now, error);
        }
        *done = true;
        return module_refuse_give_back(error, now->ns, now->key, mine);
    }
    const firn_mark lowered = {high, 0};
    mark_text(text, &lowered, now->note);
    mark_text(was, &now->mark, now->note);
    const change with = {NULL, NULL, text};
    int code = write_state(self, now, was, &with, &give_back_points, &written, error);
    if (code == FIRN_OK && written) {
        now->mark = lowered;
        *done = true;
        code = module_point(&self->options, self->pid, give_back_points.committed, error);
    }
    return code;
}

static int etcd_give_back(void *of, const char *ns, const char *key, const firn_mark *mine,
                          int64_t high, firn_error *error) {
    store *self = of;
    state now;
    bool done = false;
    int code = ready(self, error);
    if (code == FIRN_OK) {
        code = recall(self, &now, ns, key, error);
    }
    self->last.known = false;
    module_forget(&self->least);
    int64_t deadline_ms = module_now_ms() + self->call_ms;
    for (int i = 0; i < ROUNDS_MOST && code == FIRN_OK && !done; i++) {
        if (i > 0 && module_now_ms() >= deadline_ms) {
            return too_many(self, ns, key, error);
        }
        code = give_back_round(self, &now, mine, high, &done, error);
    }
    if (code == FIRN_OK && done) {
        self->last = now;
    }
    return code;
}

/* ---- list ------------------------------------------------------------------------------------ */

/* Called for each key of a range. */
typedef int take_pair(void *context, const bytes *name, const char *text, firn_error *error);

/* The first name behind all that begin with this one. Names end with / or a zero byte here, so
 * their last byte has a successor. */
static bytes behind(const bytes *name) {
    bytes out = *name;
    out.at[out.length - 1]++;
    return out;
}

static int take_page(const store *self, json_t *answer, bytes *next, take_pair *take, void *context,
                     firn_error *error) {
    json_t *pairs = json_object_get(answer, "kvs"), *pair;
    size_t i;
    json_array_foreach(pairs, i, pair) {
        char text[RECORD_SIZE];
        size_t length;
        bytes name;
        if (!plain(name.at, sizeof name.at, &name.length, json_object_get(pair, "key")) ||
            !plain(text, sizeof text, &length, json_object_get(pair, "value"))) {
            return damaged(self, FIRN_ESTORE, error);
        }
        int code = take(context, &name, text, error);
        if (code != FIRN_OK) {
            return code;
        }
        *next = name; /* and with the zero behind it the least name that is later */
        next->length++;
    }
    return FIRN_OK;
}

/* Every key from `from` to before `end`, in order, as all of them stood at one revision: *revision,
 * or the present one if that is 0. */
static int walk(store *self, bytes from, const bytes *end, int64_t *revision, take_pair *take,
                void *context, firn_error *error) {
    for (int i = 0; i < PAGES_MOST; i++) {
        json_t *answer = NULL;
        json_t *body = json_pack("{s:o, s:o, s:o, s:o}", "key", base64(from.at, from.length),
                                 "rangeEnd", base64(end->at, end->length), "limit",
                                 number_text(PAGE), "revision", number_text(*revision));
        int code = ready(self, error);
        if (code != FIRN_OK) {
            json_decref(body);
            return code;
        }
        code = ask(self, "/v3/kv/range", body, NULL, &answer, error);
        if (code == FIRN_OK && !take_head(self, answer)) {
            code = damaged(self, FIRN_ESTORE, error);
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
    return module_fail(error, FIRN_ESTORE, "store %.60s: a listing does not end", self->url.shown);
}

/* A listing under way. */
typedef struct listing {
    const store *store;
    json_t *rows; /* of each namespace */
    size_t skip;  /* what stands before the name of a namespace */
    firn_visit *visit;
    void *context;
} listing;

static int take_row(void *context, const bytes *name, const char *text, firn_error *error) {
    listing *list = context;
    state read;
    if (!read_namespace(&read, text)) {
        return damaged(list->store, FIRN_ESTORE, error);
    }
    /* Names are bytes: nobody checks whether they are UTF-8. */
    return json_object_set_new_nocheck(list->rows, name->at + list->skip,
                                       json_string_nocheck(read.layout)) == 0
               ? FIRN_OK
               : module_fail(error, FIRN_EMEMORY, "out of memory for a listing");
}

static int take_mark(void *context, const bytes *name, const char *text, firn_error *error) {
    listing *list = context;
    const char *ns = name->at + list->skip, *key = ns + strlen(ns) + 1;
    const char *row = json_string_value(json_object_get(list->rows, ns));
    char note[FIRN_NOTE_SIZE];
    firn_holding holding = {ns, row, key, note, {0, 0}};
    if (row == NULL || key > name->at + name->length || !read_mark(&holding.mark, note, text)) {
        return damaged(list->store, FIRN_ESTORE, error);
    }
    return list->visit(list->context, &holding);
}

static int etcd_list(void *of, const char *ns, firn_visit *visit, void *context,
                     firn_error *error) {
    store *self = of;
    bytes from, end;
    int64_t revision = 0;
    listing list = {self, json_object(), 0, visit, context};
    name_namespace(&from, self, ns != NULL ? ns : "");
    list.skip = from.length - (ns != NULL ? strlen(ns) : 0);
    end = from;
    if (ns != NULL) { /* that name alone: the next one has a zero behind it */
        end.length++;
    } else {
        end = behind(&from);
    }
    int code = walk(self, from, &end, &revision, take_row, &list, error);
    name_mark(&from, self, ns != NULL ? ns : "", "");
    from.length -= ns == NULL; /* all: without the zero byte */
    list.skip = strlen(self->prefix) + strlen("mark/");
    end = behind(&from);
    if (code == FIRN_OK) {
        code = walk(self, from, &end, &revision, take_mark, &list, error);
    }
    json_decref(list.rows);
    return code;
}

/* ---- now ------------------------------------------------------------------------------------- */

/* The member's clock, by the date of its answer: whole seconds, so half of one is added. Good for
 * the question whether two clocks are 10 s apart. */
static int etcd_now(void *of, firn_time *now, firn_error *error) {
    store *self = of;
    json_t *answer = NULL;
    int code = ready(self, error);
    if (code == FIRN_OK) {
        code = ask(self, "/v3/cluster/member/list", json_object(), NULL, &answer, error);
    }
    json_decref(answer);
    if (code == FIRN_OK && self->date_s == 0) {
        return module_fail(error, FIRN_ESYSTEM,
                           "store %.60s does not tell its time: ask none of it", self->url.shown);
    }
    if (code == FIRN_OK) {
        *now = (firn_time){self->date_s, 500000000};
    }
    return code;
}

/* ---- open and close -------------------------------------------------------------------------- */

static const char parameters[] =
    "connect_timeout_ms timeout_ms prefix tls ca cert key verify password-file unsafe";

static int read_numbers(store *self, firn_error *error) {
    const struct {
        const char *name;
        int64_t *out, initial, least, most;
    } numbers[] = {
        {"connect_timeout_ms", &self->connect_ms, MODULE_TIMEOUT_MS, 1, 3600000},
        {"timeout_ms", &self->call_ms, MODULE_TIMEOUT_MS, 1, 3600000},
        {"tls", &self->tls, 0, 0, 1},
        {"verify", &self->verify, 1, 0, 1},
        {"unsafe", &self->unsafe, self->unsafe, 0, 1},
    };
    int code = FIRN_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && code == FIRN_OK; i++) {
        code = module_param_number(numbers[i].out, &self->url, numbers[i].name, numbers[i].initial,
                                   numbers[i].least, numbers[i].most, error);
    }
    return code;
}

static int read_places(store *self, firn_error *error) {
    const char *prefix = module_param(&self->url, "prefix");
    self->prefix = prefix != NULL ? prefix : "firn/";
    self->ca = module_param(&self->url, "ca");
    self->cert = module_param(&self->url, "cert");
    self->key = module_param(&self->url, "key");
    if (strlen(self->prefix) > PREFIX_MOST) {
        return module_fail(error, FIRN_ERANGE,
                           "the store's prefix has at most %d bytes: "
                           "give a shorter one",
                           PREFIX_MOST);
    }
    if (!self->tls &&
        (self->ca != NULL || self->cert != NULL || self->key != NULL || !self->verify)) {
        return module_fail(error, FIRN_EUSAGE, "ca, cert, key and verify are for TLS: add tls=1");
    }
    if ((self->cert == NULL) != (self->key == NULL)) {
        return module_fail(error, FIRN_EUSAGE, "cert and key go together: give both");
    }
    if (self->url.host_count == 0 || self->url.path != NULL) {
        return module_fail(error, FIRN_EUSAGE,
                           "the store's URL names no host, or a path: write etcd://HOST:PORT,...");
    }
    for (size_t i = 0; i < self->url.host_count; i++) {
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789-._:%";
        const char *name = self->url.hosts[i].name;
        if (strlen(name) > 255 || strspn(name, letters) != strlen(name)) {
            return module_fail(error, FIRN_EUSAGE, "'%.60s' is no host: write etcd://HOST:PORT,...",
                               name);
        }
    }
    return FIRN_OK;
}

/* As etcdctl has it: USER[:PASSWORD], and a password by itself. */
static int read_login(store *self, firn_error *error) {
    const char *value = getenv("ETCDCTL_USER");
    if (self->url.user == NULL && value != NULL && value[0] != '\0') {
        size_t length = strcspn(value, ":");
        self->url.user = strndup(value, length);
        if (value[length] == ':' && self->url.password == NULL) {
            self->url.password = strdup(value + length + 1);
        }
        if (self->url.user == NULL || (value[length] == ':' && self->url.password == NULL)) {
            return module_fail(error, FIRN_EMEMORY, "out of memory");
        }
    }
    return module_password(&self->url, "ETCDCTL_PASSWORD", error);
}

static int read_url(store *self, const char *url, firn_error *error) {
    int code = module_url_parse(&self->url, url, error);
    if (code == FIRN_OK) {
        code = read_numbers(self, error);
    }
    if (code == FIRN_OK) {
        code = read_places(self, error);
    }
    if (code == FIRN_OK) {
        code = read_login(self, error);
    }
    return code == FIRN_OK ? module_params_done(&self->url, parameters, error) : code;
}

static void etcd_close(void *of) {
    store *self = of;
    hang_up(self, module_forked(&self->pid));
    explicit_bzero(self->token, sizeof self->token);
    module_url_free(&self->url);
    free(self);
}

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void begin_curl(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int etcd_open(void **out, const char *url, const firn_store_options *options,
                     firn_error *error) {
    store *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory for a store");
    }
    self->options = *options;
    self->unsafe = options->unsafe;
    self->losses = -1;
    int code = read_url(self, url, error);
    if (code == FIRN_OK) {
        pthread_once(&curl_once, begin_curl);
        code = ready(self, error);
    }
    if (code != FIRN_OK) {
        etcd_close(self);
        return code;
    }
    *out = self;
    return FIRN_OK;
}

static const char *etcd_caution(void *of) {
    const store *self = of;
    return self->caution;
}

const firn_store_ops firn_store_module = {
    .version = 1,
    .scheme = "etcd",
    .open = etcd_open,
    .reserve = etcd_reserve,
    .give_back = etcd_give_back,
    .list = etcd_list,
    .now = etcd_now,
    .caution = etcd_caution,
    .close = etcd_close,
};
