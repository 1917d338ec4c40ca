/* SPDX-License-Identifier: MIT */
/* A handle of a shared store: its URL, its deadlines, its connection to one of several hosts. */
#include "module.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 5000 /* default of max_wait */
/* Below half of the shortest window on a shared store: IDs are left while a renewal waits. */
#define TIMEOUT_MS      1000
#define TIMEOUT_MOST_MS 600000
/* Between two attempts to open a store whose server is busy. */
#define FIRST_NAP_MS 20
#define MOST_NAP_MS  160

const module_points firn__module_points[] = {
    [FIRN_VERB_RESERVE] = {"reserve.before", "reserve.sent", "reserve.committed"},
    [FIRN_VERB_GIVE_BACK] = {"give_back.before", "give_back.sent", "give_back.committed"},
    [FIRN_VERB_RELABEL] = {"relabel.before", "relabel.sent", "relabel.committed"}};

/* ---- opening --------------------------------------------------------------------------------- */

int module_link_read(module_link *link, const char *url, const firn_store_options *options,
                     firn_error *error) {
    int64_t unsafe = 0;
    const module_number numbers[] = {
        {"connect_timeout", &link->connect_ms, TIMEOUT_MS, 1, TIMEOUT_MOST_MS, "ms"},
        {"timeout", &link->timeout_ms, TIMEOUT_MS, 1, TIMEOUT_MOST_MS, "ms"},
        {"unsafe", &unsafe, 0, 0, 1, NULL},
    };
    int code = module_mark(error);
    if (code != FIRN_OK) {
        return code;
    }
    module_forked(&link->process);
    link->options = options != NULL ? *options : (firn_store_options){0};
    code = module_url_parse(&link->url, url, error);
    code = code == FIRN_OK ? module_param_numbers(&link->url, numbers, 3, error) : code;
    link->unsafe = unsafe != 0 || link->options.unsafe;
    link->patient = module_param(&link->url, "connect_timeout") == NULL;
    if (code == FIRN_OK) {
        module_link_deadline(link);
        link->open_end_ms = link->end_ms;
        link->shares = 2;
    }
    return code;
}

void module_link_free(module_link *link) {
    for (size_t i = 0; i < MODULE_HOSTS_MAX; i++) {
        module_lookup_leave(link->lookups[i]);
    }
    module_url_free(&link->url);
    memset(link, 0, sizeof *link);
}

/* Is this a forked child? The lookups' threads are the parent's then. */
static bool is_child(module_link *link) {
    const bool forked = link->process != 0 && module_forked(&link->process);
    if (forked) {
        memset(link->lookups, 0, sizeof link->lookups);
    }
    return forked;
}

void module_close(void *self) {
    module_link *link = self;
    const module_engine *engine = link->engine;
    engine->hang_up(self, is_child(link));
    if (engine->clean != NULL) {
        engine->clean(self);
    }
    module_link_free(link);
    free(self);
}

int module_open(void **self, const module_engine *engine, const char *url,
                const firn_store_options *options, firn_error *error) {
    module_link *link = calloc(1, engine->size);
    if (link == NULL) {
        return module_no_memory(error);
    }
    link->engine = engine;
    link->socket = -1;
    int code = module_link_read(link, url, options, error);
    code = code == FIRN_OK ? engine->set_up(link, error) : code;
    code = code == FIRN_OK ? module_params_done(&link->url, engine->parameters, error) : code;
    if (code == FIRN_OK && !engine->lazy) {
        link->opening = true;
        code = engine->ready(link, error);
        link->opening = false;
    }
    if (code != FIRN_OK) {
        module_close(link);
        return code;
    }
    *self = link;
    return FIRN_OK;
}

const char *module_caution(void *self) {
    const module_link *link = self;
    return link->caution[0] != '\0' ? link->caution : NULL;
}

const char *module_where(void *self) {
    return ((const module_link *)self)->url.shown;
}

int module_begin(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    (void)names, (void)verb;
    return ((const module_link *)self)->engine->ready(self, error);
}

/* ---- verbs ----------------------------------------------------------------------------------- */

/* How long the caller waits. */
static int64_t wait_of(const module_link *link) {
    return link->options.wait_ms > 0 ? link->options.wait_ms : WAIT_MS;
}

void module_link_deadline(module_link *link) {
    const int64_t now_ms = module_now_ms(), least_ms = link->connect_ms + link->timeout_ms;
    const int64_t wait_ms = wait_of(link);
    link->end_ms = now_ms + (wait_ms > least_ms ? wait_ms : least_ms);
    if (link->shares > 0 && link->shares-- > 0 && link->open_end_ms > now_ms) {
        const int64_t answered_ms = now_ms + link->timeout_ms;
        link->end_ms = link->open_end_ms > answered_ms ? link->open_end_ms : answered_ms;
    }
}

bool module_link_begin(module_link *link) {
    module_link_deadline(link);
    if (!is_child(link)) {
        return false;
    }
    module_retry_worked(&link->retry);
    return true;
}

int module_in_time(const module_link *link, firn_error *error) {
    return module_now_ms() < link->end_ms
               ? FIRN_OK
               : module_fail(error, FIRN_ESTORE,
                             "store %.60s answers too slowly for max_wait: check the server and "
                             "the network, or raise max_wait",
                             link->url.shown);
}

int module_point(const module_link *link, const char *name, firn_error *error) {
    if (link->options.failpoint != NULL && name != NULL) {
        link->options.failpoint(link->options.failpoint_self, name);
    }
    return module_process() == link->process
               ? FIRN_OK
               : module_advise(error, FIRN_EFORKED, FIRN_CURE_TRY_AGAIN,
                               "this process was forked during a call of its parent on the store: "
                               "call again, or fork between calls");
}

int module_risk(module_link *link, const char *risk, const char *cure, firn_error *error) {
    link->caution[0] = '\0';
    if (risk[0] == '\0') {
        return FIRN_OK;
    }
    snprintf(link->caution, sizeof link->caution,
             "the server has %.80s: a crash may lose acknowledged writes, and IDs may repeat",
             risk);
    return link->unsafe ? FIRN_OK
                        : module_fail(error, FIRN_ESTORE,
                                      "store %.40s has %.70s, so a crash may lose "
                                      "acknowledged writes: %s, or accept the risk with unsafe=1",
                                      link->url.shown, risk, cure);
}

int module_refuse_trigger(module_link *link, const char *name, firn_error *error) {
    if (name[0] == '\0') {
        return FIRN_OK;
    }
    snprintf(link->caution, sizeof link->caution,
             "the tables have %.80s, which can change what firn writes, and IDs may repeat", name);
    return link->unsafe ? FIRN_OK
                        : module_fail(error, FIRN_ESTORE,
                                      "the tables of store %.40s have %.60s, which can change what "
                                      "firn writes: drop it, or accept the risk with unsafe=1",
                                      link->url.shown, name);
}

/* ---- connecting ------------------------------------------------------------------------------ */

struct addrinfo *module_link_resolve(module_link *link, size_t host, int port, int64_t deadline_ms,
                                     const char **why) {
    const module_host *target = &link->url.hosts[host];
    return module_resolve(&link->lookups[host], target->name,
                          target->port != 0 ? target->port : port, deadline_ms, why);
}

struct addrinfo *module_link_find(module_link *link, size_t host, int port, int64_t deadline_ms,
                                  firn_error *error) {
    const char *why = NULL;
    struct addrinfo *found = module_link_resolve(link, host, port, deadline_ms, &why);
    if (found == NULL) {
        module_fail(error, FIRN_ESTORE,
                    "host %.60s of store %.60s is not found (%.40s): correct the name in the URL",
                    link->url.hosts[host].name, link->url.shown, why);
    }
    return found;
}

int module_link_try_names(module_link *link, const char *names, int64_t deadline_ms,
                          firn_error *error) {
    for (size_t i = 0; i < MODULE_HOSTS_MAX && *names != '\0'; i++) {
        char name[256];
        const char *why = NULL;
        const size_t length = strcspn(names, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        names += length + (names[length] == ',');
        if (length == 0 || length >= sizeof name || strchr("/@", name[0]) != NULL) {
            continue; /* a socket */
        }
        struct addrinfo *found = module_resolve(&link->lookups[i], name, 0, deadline_ms, &why);
        if (found != NULL) {
            freeaddrinfo(found);
        } else if (link->lookups[i] != NULL) { /* the lookup continues */
            return module_fail(error, FIRN_ESTORE,
                               "host %.60s of store %.60s is not found in connect_timeout: check "
                               "the name server, or name an address",
                               name, link->url.shown);
        }
    }
    return FIRN_OK;
}

int module_late(module_link *link, const char *where, firn_error *error) {
    char why[88];
    const int64_t wait_ms = wait_of(link);
    const bool waited = link->opening && link->patient && wait_ms > link->connect_ms;
    snprintf(why, sizeof why, "no answer in %s=%" PRId64 "ms; raise it for a busy server",
             waited && link->options.wait_ms > 0 ? "max_wait" : "connect_timeout",
             waited ? wait_ms : link->connect_ms);
    link->busy = link->busy || link->patient;
    return module_unreachable(error, where, why);
}

/* Tries the host reached last, then the others in order, each with its share of limit_ms. */
static int connect_once(module_link *link, int64_t limit_ms, firn_error *error) {
    size_t hosts = link->url.host_count > 0 ? link->url.host_count : 1;
    int64_t end_ms = module_now_ms() + limit_ms;
    int code = FIRN_ESTORE;
    for (size_t i = 0; i < hosts && code != FIRN_OK; i++) {
        size_t host = (link->host + i) % hosts;
        int64_t now_ms = module_now_ms();
        code = link->engine->dial(link, host, now_ms + (end_ms - now_ms) / (int64_t)(hosts - i),
                                  error);
        if (code == FIRN_OK) {
            link->host = host;
        } else {
            link->engine->hang_up(link, false);
        }
    }
    return code;
}

/* While a store opens, as often as its caller waits: each time with more time for an answer. */
static int connect_any(module_link *link, firn_error *error) {
    const int64_t end_ms = module_now_ms() + wait_of(link);
    int64_t limit_ms = link->connect_ms, nap_ms = FIRST_NAP_MS;
    while (true) {
        link->busy = false;
        int code = connect_once(link, limit_ms, error);
        int64_t left_ms = end_ms - module_now_ms();
        if (code == FIRN_OK || !link->busy || !link->opening || left_ms <= 0) {
            return code;
        }
        module_sleep_below(nap_ms < left_ms ? nap_ms : left_ms);
        nap_ms += nap_ms < MOST_NAP_MS ? nap_ms : 0;
        limit_ms += link->patient ? limit_ms : 0;
        left_ms = module_later(end_ms - module_now_ms(), link->connect_ms);
        limit_ms = limit_ms < left_ms ? limit_ms : left_ms;
    }
}

int module_link_waits(const module_link *link, firn_error *error) {
    static const char more[] = "; retried within 1 s";
    if (!module_retry_waits(&link->retry)) {
        return FIRN_OK;
    }
    if (module_copy(error, FIRN_ESTORE, &link->failure) != FIRN_OK && error != NULL) {
        size_t length = strlen(error->text);
        if (length + sizeof more <= sizeof error->text) {
            memcpy(error->text + length, more, sizeof more);
        }
    }
    return FIRN_ESTORE;
}

int module_link_failed(module_link *link, int code, firn_error *error) {
    module_retry_failed(&link->retry);
    link->failure = *error;
    return code;
}

int module_ready(void *self, firn_error *error) {
    module_link *link = self;
    firn_error own = {0};
    if (module_link_begin(link)) {
        link->engine->hang_up(self, true);
    }
    if (link->engine->is_open(self)) {
        return FIRN_OK;
    }
    link->engine->hang_up(self, false);
    int code = module_link_waits(link, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = connect_any(link, &own);
    if (code == FIRN_OK) {
        module_retry_worked(&link->retry);
        return FIRN_OK;
    }
    module_link_failed(link, code, &own);
    return module_copy(error, code, &own);
}
