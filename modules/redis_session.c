/* SPDX-License-Identifier: MIT */
/* The session of the Redis store: checks of the server, login, commands and scripts. A write is
 * never sent twice. */
#include "redis.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT      6379
#define ADDRESSES 4 /* of a host that are tried */

/* ---- what may lose marks --------------------------------------------------------------------- */

/* The first that applies is refused, or reported as a caution with unsafe=1. */
static const struct hazard {
    const char *sentence, *cure;
} hazards[] = {
    {"CONFIG GET is forbidden, so it is unknown whether Redis keeps acknowledged writes",
     "allow this user +config|get"},
    {"appendonly is not yes, so Redis loses marks when it restarts",
     "set appendonly yes and appendfsync always in its file"},
    {"appendfsync is not always, so Redis loses the last marks when it crashes",
     "set appendfsync always in its file"},
    {"no-appendfsync-on-rewrite is yes, so Redis may lose marks when it crashes",
     "set it to no in its file"},
    {"maxmemory-policy is not noeviction, so Redis may drop marks when memory is short",
     "set it to noeviction"},
    {"Redis is a member of a cluster, whose failover loses marks", "use a separate server"},
    {"Redis has replicas, and a failover loses the marks that they lack",
     "use a server without replicas"},
};

enum {
    HAZARD_HIDDEN,
    HAZARD_NO_LOG,
    HAZARD_SYNC,
    HAZARD_REWRITE,
    HAZARD_EVICTS,
    HAZARD_CLUSTER,
    HAZARD_REPLICAS,
    HAZARDS
};

_Static_assert(sizeof hazards / sizeof hazards[0] == HAZARDS, "a line for each");

/* ---- greeting -------------------------------------------------------------------------------- */

/* The value of a line of INFO; "": missing. */
static void info_field(char *out, size_t size, const redisReply *info, const char *name) {
    size_t length = strlen(name);
    out[0] = '\0';
    for (const char *line = info->str; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            snprintf(out, size, "%.*s", (int)strcspn(line + length + 1, "\r\n"), line + length + 1);
            return;
        }
    }
}

static bool info_is(const redisReply *info, const char *name, const char *value) {
    char text[64];
    info_field(text, sizeof text, info, name);
    return strcmp(text, value) == 0;
}

bool redis_is_text(const redisReply *reply) {
    return reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS;
}

static bool config_is(const redisReply *config, const char *name, const char *value) {
    for (size_t i = 0; i + 1 < config->elements; i += 2) {
        if (redis_is_text(config->element[i]) && redis_is_text(config->element[i + 1]) &&
            strcmp(config->element[i]->str, name) == 0) {
            return strcmp(config->element[i + 1]->str, value) == 0;
        }
    }
    return false;
}

/* The first hazard that applies, or HAZARDS. */
static int judge(const redisReply *info, const redisReply *config) {
    const bool known = config->type == REDIS_REPLY_ARRAY && config->elements > 0;
    const bool found[HAZARDS] = {
        [HAZARD_HIDDEN] = !known,
        [HAZARD_NO_LOG] = !info_is(info, "aof_enabled", "1"),
        [HAZARD_SYNC] = known && !config_is(config, "appendfsync", "always"),
        [HAZARD_REWRITE] = known && !config_is(config, "no-appendfsync-on-rewrite", "no"),
        [HAZARD_EVICTS] = !info_is(info, "maxmemory_policy", "noeviction"),
        [HAZARD_CLUSTER] = info_is(info, "cluster_enabled", "1"),
        [HAZARD_REPLICAS] = !info_is(info, "connected_slaves", "0"),
    };
    int position =
        found[HAZARD_NO_LOG] ? HAZARD_NO_LOG : 0; /* says more than that CONFIG is forbidden */
    while (position < HAZARDS && !found[position]) {
        position++;
    }
    return position;
}

/* Can this server keep marks, and is it configured to? */
static int examine(redis_store *store, const redisReply *info, const redisReply *config,
                   firn_error *error) {
    char identity[64];
    if (!redis_is_text(info)) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s refuses INFO (%.60s): allow this user +info",
                           store->link.url.shown, info->str != NULL ? info->str : "?");
    }
    if (!info_is(info, "role", "master")) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s is a replica or a sentinel, which accepts no writes: name "
                           "the primary server",
                           store->link.url.shown);
    }
    if (!info_is(info, "loading", "0")) {
        return redis_failed(store, error, "it is loading its data");
    }
    info_field(identity, sizeof identity, info, "run_id");
    if (identity[0] == '\0') {
        return redis_failed(store, error, "INFO has no run_id");
    }
    int hazard = judge(info, config);
    if (hazard < HAZARDS && !store->link.unsafe) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.40s: %s: %s, or accept the risk with unsafe=1",
                           store->link.url.shown, hazards[hazard].sentence, hazards[hazard].cure);
    }
    snprintf(store->link.caution, sizeof store->link.caution, "%s",
             hazard < HAZARDS ? hazards[hazard].sentence : "");
    return FIRN_OK;
}

/* False sets errno. */
static bool send_words(const redis_store *store, int count, const char **words,
                       int64_t deadline_ms) {
    char *command = NULL;
    long long length = redisFormatCommandArgv(&command, count, words, NULL);
    if (length < 0) {
        errno = ENOMEM;
        return false;
    }
    bool sent = redis_send(store, command, (size_t)length, deadline_ms);
    int number = errno;
    explicit_bzero(command, (size_t)length); /* the command may contain a password */
    redisFreeCommand(command);
    errno = number;
    return sent;
}

enum { HELLO_LOGIN, HELLO_SELECT, HELLO_INFO, HELLO_CONFIG, HELLO_SLOT, HELLOS };

static int judge_hello(redis_store *store, redisReply **replies, firn_error *error) {
    static const char *const what[] = {"the login", "the database", NULL, NULL, NULL};
    for (int i = HELLO_LOGIN; i <= HELLO_SELECT; i++) {
        if (replies[i] != NULL && replies[i]->type == REDIS_REPLY_ERROR) {
            /* Only the first word: the rest may repeat the command. */
            return module_fail(error, FIRN_ESTORE,
                               "store %.60s refuses %s (%.*s): check the URL's user, password "
                               "and path",
                               store->link.url.shown, what[i], (int)strcspn(replies[i]->str, " "),
                               replies[i]->str);
        }
    }
    if (replies[HELLO_INFO]->type == REDIS_REPLY_ERROR &&
        strncmp(replies[HELLO_INFO]->str, "NOAUTH", 6) == 0) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s needs a password: give it by URL, password-file= or "
                           "REDISCLI_AUTH",
                           store->link.url.shown);
    }
    int code = examine(store, replies[HELLO_INFO], replies[HELLO_CONFIG], error);
    const redisReply *slot = replies[HELLO_SLOT];
    if (code == FIRN_OK && slot != NULL &&
        slot->type == REDIS_REPLY_ERROR) { /* MOVED names the right host */
        code = redis_failed(store, error, slot->str);
    }
    return code;
}

/* Logs in and checks the server, in one exchange: sends all commands, then reads the replies. */
static int hello(redis_store *store, int64_t deadline_ms, firn_error *error) {
    char database[MODULE_NUMBER_SIZE];
    const bool login = store->link.url.password != NULL, select = store->database != 0;
    const bool slot = !store->counters; /* does this member of a cluster hold the keys? */
    module_digits(database, store->database);
    const module_url *url = &store->link.url;
    struct {
        int count; /* 0: not asked */
        const char *words[3];
    } asks[HELLOS] = {
        [HELLO_LOGIN] = {login ? 2 : 0, {"AUTH", url->password}},
        [HELLO_SELECT] = {select ? 2 : 0, {"SELECT", database}},
        [HELLO_INFO] = {1, {"INFO"}},
        [HELLO_CONFIG] = {3, {"CONFIG", "GET", "*append*"}},
        [HELLO_SLOT] = {slot ? 2 : 0, {"EXISTS", store->index}},
    };
    if (login && url->user != NULL) {
        asks[HELLO_LOGIN].count = 3;
        asks[HELLO_LOGIN].words[1] = url->user;
        asks[HELLO_LOGIN].words[2] = url->password;
    }
    redisReply *replies[HELLOS] = {NULL};
    bool done = true;
    for (int i = 0; i < HELLOS && done; i++) {
        done = asks[i].count == 0 || send_words(store, asks[i].count, asks[i].words, deadline_ms);
    }
    for (int i = 0; i < HELLOS && done; i++) {
        replies[i] = asks[i].count > 0 ? redis_receive(store, deadline_ms) : NULL;
        done = asks[i].count == 0 || replies[i] != NULL;
    }
    int code =
        done ? judge_hello(store, replies, error) : redis_failed(store, error, strerror(errno));
    for (int i = 0; i < HELLOS; i++) {
        if (replies[i] != NULL) {
            freeReplyObject(replies[i]);
        }
    }
    return code;
}

int redis_connect(void *self, size_t position, int64_t deadline_ms, firn_error *error) {
    redis_store *store = self;
    const module_host *host = &store->link.url.hosts[position];
    struct addrinfo *found = module_link_find(&store->link, position, PORT, deadline_ms, error);
    const struct addrinfo *address = found;
    if (found == NULL) {
        return FIRN_ESTORE;
    }
    int code = FIRN_ESTORE;
    for (int i = 0; i < ADDRESSES && address != NULL && code != FIRN_OK;
         i++, address = address->ai_next) {
        int64_t now_ms = module_now_ms();
        int64_t end_ms = now_ms + (deadline_ms - now_ms) / (address->ai_next != NULL ? 2 : 1);
        code = redis_dial(store, host, address, end_ms, error);
        code = code == FIRN_OK ? hello(store, end_ms, error) : code;
        if (code != FIRN_OK) {
            redis_hang_up(store, false);
        }
    }
    freeaddrinfo(found);
    return code;
}

/* ---- commands -------------------------------------------------------------------------------- */

int redis_load_script(redis_script *out, const char *text, firn_error *error) {
    unsigned char digest[20];
    if (gnutls_hash_fast(GNUTLS_DIG_SHA1, text, strlen(text), digest) != 0) {
        return module_fail(error, FIRN_ESYSTEM,
                           "GnuTLS refuses SHA-1, by which Redis names scripts: allow SHA-1 in "
                           "GnuTLS's configuration");
    }
    out->text = text;
    for (size_t i = 0; i < sizeof digest; i++) {
        snprintf(out->sha + 2 * i, 3, "%02x", digest[i]);
    }
    return FIRN_OK;
}

static int gone(redis_store *store, int code, const char *why, firn_error *error) {
    redis_hang_up(store, false);
    return code == FIRN_EUNKNOWN ? module_unknown(error, store->link.url.shown, why)
                                 : module_unreachable(error, store->link.url.shown, why);
}

/* Sends a command and reads its reply; `points`: the points of a write, or NULL. */
static int exchange(redis_store *store, redisReply **reply, int count, const char **arguments,
                    const module_points *points, firn_error *error) {
    int code = module_in_time(&store->link, error);
    if (code == FIRN_OK && points != NULL) {
        code = module_point(&store->link, points->before, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    int64_t deadline_ms = module_now_ms() + store->link.timeout_ms;
    if (!send_words(store, count, arguments, deadline_ms)) {
        if (errno == ENOMEM) {
            redis_hang_up(store, false); /* part of it may be sent */
            return module_no_memory(error);
        }
        return gone(store, FIRN_ESTORE, strerror(errno), error);
    }
    if (points != NULL &&
        (code = module_point(&store->link, points->request_sent, error)) != FIRN_OK) {
        return code;
    }
    *reply = redis_receive(store, deadline_ms);
    return *reply != NULL
               ? FIRN_OK
               : gone(store, points != NULL ? FIRN_EUNKNOWN : FIRN_ESTORE, strerror(errno), error);
}

int redis_ask(redis_store *store, redisReply **reply, int count, const char **arguments,
              firn_error *error) {
    int code = module_ready(store, error);
    return code != FIRN_OK ? code : exchange(store, reply, count, arguments, NULL, error);
}

static bool is_error(const redisReply *reply, const char *word) {
    return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, word, strlen(word)) == 0;
}

int redis_refused(redis_store *store, redisReply *reply, firn_error *error) {
    int code =
        module_fail(error, FIRN_ESTORE, "store %.50s refuses (%.90s): see docs/reference/stores.md",
                    store->link.url.shown,
                    reply->type == REDIS_REPLY_ERROR ? reply->str : "an unexpected answer");
    freeReplyObject(reply);
    redis_hang_up(store, false);
    return code;
}

/* A server that does not know the script has not run it, and gets its text. */
int redis_evaluate(redis_store *store, redisReply **reply, const redis_script *script, int keys,
                   int count, const char **arguments, const module_points *points,
                   firn_error *error) {
    char number[MODULE_NUMBER_SIZE];
    const char *words[REDIS_ARGUMENTS_MAX] = {"EVALSHA", script->sha, number};
    redisReply *got = NULL;
    snprintf(number, sizeof number, "%d", keys);
    for (int i = 0; i < count; i++) {
        words[i + 3] = arguments[i];
    }
    int code = exchange(store, &got, count + 3, words, points, error);
    if (code == FIRN_OK && is_error(got, "NOSCRIPT")) {
        freeReplyObject(got);
        words[0] = "EVAL";
        words[1] = script->text;
        code = exchange(store, &got, count + 3, words, points, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    bool right = got->type == REDIS_REPLY_ARRAY && got->elements >= 1;
    for (size_t i = 0; right && i < got->elements; i++) {
        right = redis_is_text(got->element[i]);
    }
    if (!right) {
        return redis_refused(store, got, error);
    }
    *reply = got;
    return FIRN_OK;
}

bool redis_says(const redisReply *reply, const char *word, size_t elements) {
    return strcmp(reply->element[0]->str, word) == 0 && reply->elements == elements;
}

bool redis_read_slot(int64_t *out, const redisReply *text) {
    return module_int64(out, text->str, text->len) && *out <= FIRN_SLOT_MAX;
}
