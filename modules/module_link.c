/* SPDX-License-Identifier: MIT */
/* One connection to one of several hosts. */
#include "module.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT_MOST_MS 600000

static int read_tls(module_link *link, firn_error *error) {
    static const char *const words[] = {"off", "prefer", "require", "verify"};
    link->tls = module_param(&link->url, "tls");
    link->authority = module_param(&link->url, "ca");
    for (size_t i = 0; link->tls != NULL && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(link->tls, words[i]) == 0) {
            return FIRN_OK;
        }
    }
    return link->tls == NULL
               ? FIRN_OK
               : module_fail(error, FIRN_EUSAGE,
                             "the store's URL has tls=%.40s: give off, prefer, require or verify",
                             link->tls);
}

int module_link_read(module_link *link, const char *url, const firn_store_options *options,
                     firn_error *error) {
    int64_t unsafe = 0;
    link->options = *options;
    int code = module_url_parse(&link->url, url, error);
    if (code == FIRN_OK) {
        code = module_param_number(&link->connect_ms, &link->url, "connect_timeout_ms",
                                   MODULE_TIMEOUT_MS, 1, TIMEOUT_MOST_MS, error);
    }
    if (code == FIRN_OK) {
        code = module_param_number(&link->timeout_ms, &link->url, "timeout_ms", MODULE_TIMEOUT_MS,
                                   1, TIMEOUT_MOST_MS, error);
    }
    if (code == FIRN_OK) {
        code = module_param_number(&unsafe, &link->url, "unsafe", 0, 0, 1, error);
    }
    link->unsafe = unsafe != 0 || options->unsafe;
    return code != FIRN_OK ? code : read_tls(link, error);
}

static int connect_any(module_link *link, module_dial *dial, void *self, firn_error *error) {
    size_t hosts = link->url.host_count > 0 ? link->url.host_count : 1;
    int64_t end_ms = module_now_ms() + link->connect_ms;
    int code = FIRN_ESTORE;
    for (size_t i = 0; i < hosts && code != FIRN_OK; i++) {
        size_t host = (link->host + i) % hosts;
        int64_t now_ms = module_now_ms();
        code = dial(self, host, now_ms + (end_ms - now_ms) / (int64_t)(hosts - i), error);
        if (code == FIRN_OK) {
            link->host = host;
        }
    }
    return code;
}

int module_link_connect(module_link *link, module_dial *dial, void *self, firn_error *error) {
    firn_error own = {0};
    if (module_retry_waits(&link->retry)) {
        return module_fail(error, FIRN_ESTORE, "%s", link->why);
    }
    int code = connect_any(link, dial, self, &own);
    if (code == FIRN_OK) {
        module_retry_worked(&link->retry);
        return FIRN_OK;
    }
    module_retry_failed(&link->retry);
    snprintf(link->why, sizeof link->why, "%.200s", own.text);
    return module_fail(error, code, "%s", link->why);
}

void module_link_free(module_link *link) {
    module_url_free(&link->url);
    memset(link, 0, sizeof *link);
}

short module_await(int descriptor, short events, int64_t deadline_ms) {
    for (int i = 0; i < 1000; i++) { /* signals of this process interrupt it */
        struct pollfd one = {descriptor, events, 0};
        int64_t left = deadline_ms - module_now_ms();
        int ready = poll(&one, 1, left > 0 ? (int)left : 0);
        if (ready != -1) {
            return ready > 0 ? one.revents : 0;
        }
    }
    return 0;
}
