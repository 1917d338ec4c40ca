/* SPDX-License-Identifier: MIT */
/* The one real engine of a process, and the place of a store on it. */
#include "torture.h"

#include "../engines.h"

static test_engine *server;

int server_start(const char *kind, const char *options) {
    server = engine_of(kind, 1, options);
    return server != NULL ? 0 : engines_started[engines_count - 1].status;
}

bool server_missing(const char *kind) {
    return engine_missing(kind, 1);
}

bool server_do(const char *word, int member) {
    return engine_do(server, word, member);
}

const char *server_url(void) {
    return server->url;
}

const char *server_beside(const char *kind, const char *options) {
    const test_engine *other = engine_of(kind, 2, options);
    return other != NULL ? other->url : NULL;
}

const char *server_folder(void) {
    return server->folder;
}

void server_stop(void) {
    engines_stop();
}

/* Each row is an engine: the text that gives a store its own place after its URL, and the text
 * before parameters. */
static const struct row {
    const char *scheme, *apart;
    char joint;
} rows[] = {
    {"postgres", "?table=t", '&'}, {"mysql", "?table=t", '&'}, {"redis", "?prefix=t", '&'},
    {"etcd", "?prefix=t", '&'},    {"zookeeper", "/t", '?'},
};

void place_url(scene *s, const char *url, int port, int timeout_ms) {
    const struct row *row = &rows[0];
    for (size_t i = 1; i < sizeof rows / sizeof rows[0]; i++) {
        row = strncmp(url, rows[i].scheme, strlen(rows[i].scheme)) == 0 ? &rows[i] : row;
    }
    const char *colon = strrchr(url, ':'), *path = colon + strcspn(colon, "/");
    char host[ENGINE_URL_SIZE];
    snprintf(host, sizeof host, "%.*s", (int)((port == 0 ? path : colon) - url), url);
    if (port != 0) {
        snprintf(host + strlen(host), sizeof host - strlen(host), ":%d", port);
    }
    snprintf(s->plain, sizeof s->plain, "%.150s%.50s%s%ld", host, path, row->apart, (long)getpid());
    snprintf(s->url, sizeof s->url, "%s%cconnect_timeout=%dms&timeout=%dms", s->plain, row->joint,
             timeout_ms, timeout_ms);
}
