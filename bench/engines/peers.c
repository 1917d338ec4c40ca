/* SPDX-License-Identifier: MIT */
/* Bare statements: the least that each client library can do to write one value as durably as a
 * reservation does, on its own connection. None checks more than whether it succeeded. */
#define THREADED /* for the calls of ZooKeeper's library that wait */

#include "measure.h"

#include <curl/curl.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define TIMEOUT_S  10 /* of a connection */
#define STATEMENT  200
#define VALUE_SIZE 24

/* ---- PostgreSQL ------------------------------------------------------------------------------ */

static bool postgres_done(PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static bool postgres_open(void **self, unsigned port) {
    char where[STATEMENT];
    snprintf(where, sizeof where,
             "host=127.0.0.1 port=%u user=firn dbname=postgres connect_timeout=%d", port,
             TIMEOUT_S);
    PGconn *link = PQconnectdb(where);
    *self = link;
    /* Half of a page is left free, as in firn's table, or an update would need another page. */
    return PQstatus(link) == CONNECTION_OK &&
           postgres_done(PQexec(link, "CREATE TABLE bare(key text PRIMARY KEY, high bigint)"
                                      " WITH (fillfactor = 50)")) &&
           postgres_done(PQexec(link, "INSERT INTO bare VALUES('1', 0)")) &&
           postgres_done(PQprepare(link, "bare",
                                   "UPDATE bare SET high = greatest(high, $1::bigint) + 1000"
                                   " WHERE key = '1' RETURNING high",
                                   1, NULL));
}

static bool postgres_write(void *self, int64_t value) {
    char text[VALUE_SIZE];
    const char *const values[] = {text};
    snprintf(text, sizeof text, "%" PRId64, value);
    return postgres_done(PQexecPrepared(self, "bare", 1, values, NULL, NULL, 0));
}

static void postgres_close(void *self) {
    PQfinish(self);
}

/* ---- MariaDB --------------------------------------------------------------------------------- */

static bool mysql_open(void **self, unsigned port) {
    MYSQL *link = mysql_init(NULL);
    unsigned timeout_s = TIMEOUT_S;
    *self = link;
    if (link == NULL) {
        return false;
    }
    mysql_options(link, MYSQL_OPT_CONNECT_TIMEOUT, &timeout_s);
    return mysql_real_connect(link, "127.0.0.1", "firn", NULL, "firn", port, NULL, 0) != NULL &&
           mysql_query(link, "CREATE TABLE bare(id VARBINARY(63) NOT NULL PRIMARY KEY,"
                             " high BIGINT NOT NULL) ENGINE=InnoDB") == 0 &&
           mysql_query(link, "INSERT INTO bare VALUES('1', 0)") == 0;
}

static bool mysql_write(void *self, int64_t value) {
    char text[STATEMENT];
    snprintf(text, sizeof text,
             "UPDATE bare SET high = LAST_INSERT_ID(GREATEST(high, %" PRId64 ") + 1000)"
             " WHERE id = '1'",
             value);
    return mysql_query(self, text) == 0 && mysql_affected_rows(self) == 1;
}

static void mysql_end(void *self) {
    if (self != NULL) {
        mysql_close(self);
    }
}

/* ---- Redis ----------------------------------------------------------------------------------- */

typedef struct redis_link {
    redisContext *context;
    char sha[48]; /* of the script */
} redis_link;

static void redis_close(void *self) {
    redis_link *link = self;
    if (link != NULL && link->context != NULL) {
        redisFree(link->context);
    }
    free(link);
}

static bool redis_done(redisReply *reply) {
    bool fine = reply != NULL && reply->type != REDIS_REPLY_ERROR;
    if (reply != NULL) {
        freeReplyObject(reply);
    }
    return fine;
}

static bool redis_open(void **self, unsigned port) {
    const struct timeval timeout = {TIMEOUT_S, 0};
    redis_link *link = calloc(1, sizeof *link);
    *self = link;
    link->context = link != NULL ? redisConnectWithTimeout("127.0.0.1", (int)port, timeout) : NULL;
    if (link == NULL || link->context == NULL || link->context->err != 0) {
        return false;
    }
    redisReply *reply = redisCommand(link->context, "SCRIPT LOAD %s",
                                     "return redis.call('HSET', KEYS[1], 'high', ARGV[1])");
    if (reply != NULL && reply->type == REDIS_REPLY_STRING) {
        snprintf(link->sha, sizeof link->sha, "%s", reply->str);
    }
    return redis_done(reply);
}

static bool redis_eval(void *self, int64_t value) {
    redis_link *link = self;
    return redis_done(
        redisCommand(link->context, "EVALSHA %s 1 bare %lld", link->sha, (long long)value));
}

static bool redis_set(void *self, int64_t value) {
    redis_link *link = self;
    return redis_done(redisCommand(link->context, "SET bare-set %lld", (long long)value));
}

/* ---- etcd ------------------------------------------------------------------------------------ */

typedef struct etcd_link {
    CURL *curl;
    char url[64];
    char answer[4096];
    size_t length;
} etcd_link;

static size_t etcd_take(char *data, size_t size, size_t count, void *context) {
    etcd_link *link = context;
    size_t room = sizeof link->answer - 1 - link->length, length = size * count;
    memcpy(link->answer + link->length, data, length < room ? length : room);
    link->length += length < room ? length : room;
    link->answer[link->length] = '\0';
    return length;
}

/* Succeeded with an answer that holds `wanted`. */
static bool etcd_post(etcd_link *link, const char *path, const char *body, const char *wanted) {
    char url[100];
    snprintf(url, sizeof url, "%s%s", link->url, path);
    link->length = 0;
    link->answer[0] = '\0';
    curl_easy_setopt(link->curl, CURLOPT_URL, url);
    curl_easy_setopt(link->curl, CURLOPT_POSTFIELDS, body);
    return curl_easy_perform(link->curl) == CURLE_OK && strstr(link->answer, wanted) != NULL;
}

/* base64 of "bare", a key. */
#define ETCD_KEY "\"key\":\"YmFyZQ==\""

/* Eight digits of base64 for six bytes. */
static void etcd_value(char text[16], int64_t value) {
    snprintf(text, 16, "%08" PRId64, value % 100000000);
}

static bool etcd_put(void *self, int64_t value) {
    char body[STATEMENT], text[16];
    etcd_value(text, value);
    snprintf(body, sizeof body, "{" ETCD_KEY ",\"value\":\"%s\"}", text);
    return etcd_post(self, "/v3/kv/put", body, "revision");
}

/* The key has a version since it was made, so the comparison holds each time. */
static bool etcd_txn(void *self, int64_t value) {
    char body[2 * STATEMENT], text[16];
    etcd_value(text, value);
    snprintf(body, sizeof body,
             "{\"compare\":[{" ETCD_KEY ",\"target\":\"VERSION\",\"result\":\"GREATER\","
             "\"version\":\"0\"}],\"success\":[{\"requestPut\":{" ETCD_KEY ",\"value\":\"%s\"}}]}",
             text);
    return etcd_post(self, "/v3/kv/txn", body, "\"succeeded\":true");
}

static bool etcd_open(void **self, unsigned port) {
    etcd_link *link = calloc(1, sizeof *link);
    *self = link;
    link->curl = link != NULL ? curl_easy_init() : NULL;
    if (link == NULL || link->curl == NULL) {
        return false;
    }
    snprintf(link->url, sizeof link->url, "http://127.0.0.1:%u", port);
    curl_easy_setopt(link->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(link->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(link->curl, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
    curl_easy_setopt(link->curl, CURLOPT_WRITEFUNCTION, etcd_take);
    curl_easy_setopt(link->curl, CURLOPT_WRITEDATA, link);
    return etcd_put(link, 0);
}

static void etcd_close(void *self) {
    etcd_link *link = self;
    if (link != NULL) {
        curl_easy_cleanup(link->curl);
    }
    free(link);
}

/* ---- ZooKeeper ------------------------------------------------------------------------------- */

typedef struct zookeeper_link {
    zhandle_t *handle;
    char path[24];
    int version;
} zookeeper_link;

static void zookeeper_end(void *self) {
    zookeeper_link *link = self;
    if (link != NULL && link->handle != NULL) {
        zookeeper_close(link->handle);
    }
    free(link);
}

/* `name`: two peers have a znode each, since each counts its own versions. */
static bool zookeeper_begin(void **self, unsigned port, const char *name) {
    char host[32];
    zookeeper_link *link = calloc(1, sizeof *link);
    *self = link;
    if (link == NULL) {
        return false;
    }
    snprintf(host, sizeof host, "127.0.0.1:%u", port);
    snprintf(link->path, sizeof link->path, "/%s", name);
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    link->handle = zookeeper_init(host, NULL, TIMEOUT_S * 1000, NULL, NULL, 0);
    return link->handle != NULL && zoo_create(link->handle, link->path, "0", 1,
                                              &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0) == ZOK;
}

static bool zookeeper_multi_open(void **self, unsigned port) {
    return zookeeper_begin(self, port, "bare-multi");
}

static bool zookeeper_set_open(void **self, unsigned port) {
    return zookeeper_begin(self, port, "bare-set");
}

static bool zookeeper_set(void *self, int64_t value) {
    zookeeper_link *link = self;
    char text[VALUE_SIZE];
    int length = snprintf(text, sizeof text, "%" PRId64, value);
    return zoo_set(link->handle, link->path, text, length, link->version++) == ZOK;
}

static bool zookeeper_multi(void *self, int64_t value) {
    zookeeper_link *link = self;
    char text[VALUE_SIZE];
    int length = snprintf(text, sizeof text, "%" PRId64, value);
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    zoo_check_op_init(&ops[0], "/", -1);
    zoo_set_op_init(&ops[1], link->path, text, length, link->version++, NULL);
    return zoo_multi(link->handle, 2, ops, results) == ZOK;
}

/* ---- the table ------------------------------------------------------------------------------- */

const peer peers[] = {
    {"postgres", "bare-update", "a prepared UPDATE ... RETURNING of one row, libpq", postgres_open,
     postgres_write, postgres_close},
    {"mysql", "bare-update", "an UPDATE of one row, libmariadb", mysql_open, mysql_write,
     mysql_end},
    {"redis", "bare-evalsha", "EVALSHA of one HSET, hiredis", redis_open, redis_eval, redis_close},
    {"redis", "bare-set", "SET, hiredis", redis_open, redis_set, redis_close},
    {"etcd", "bare-txn", "a comparison and a put, libcurl, no JSON read or built", etcd_open,
     etcd_txn, etcd_close},
    {"etcd", "bare-put", "a put, libcurl, no JSON read or built", etcd_open, etcd_put, etcd_close},
    {"zookeeper", "bare-multi", "zoo_multi of a check and a set", zookeeper_multi_open,
     zookeeper_multi, zookeeper_end},
    {"zookeeper", "bare-set", "zoo_set with a version", zookeeper_set_open, zookeeper_set,
     zookeeper_end},
};
const size_t peer_count = sizeof peers / sizeof peers[0];
