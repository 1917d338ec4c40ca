/* SPDX-License-Identifier: MIT */
/* Where the PostgreSQL store connects to: the parameters of its URL, addresses, TLS. */
#include "postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESSES 4 /* of a host that are tried */

/* Parameters that are passed on to libpq. */
static const char *const native[] = {"sslmode",         "sslrootcert", "sslcert",
                                     "sslkey",          "sslcrl",      "ssl_min_protocol_version",
                                     "channel_binding", "passfile",    "application_name",
                                     "gssencmode",      "options",     "krbsrvname"};
#define NATIVE (sizeof native / sizeof native[0])

/* The sslmode for tls=WORD. */
static const char *ssl_mode(const char *word) {
    return word == NULL                  ? NULL
           : strcmp(word, "off") == 0    ? "disable"
           : strcmp(word, "verify") == 0 ? "verify-full"
                                         : word;
}

/* A host in the form of libpq: its name, repeated for each of its addresses. */
typedef struct postgres_place {
    char names[ADDRESSES * 257], addresses[ADDRESSES * 65]; /* "": none; separated by commas */
} postgres_place;

/* Hosts that libpq has from PGHOST or a service. */
static int find_default(postgres_store *store, int64_t deadline_ms, firn_error *error) {
    PQconninfoOption *all = PQconndefaults();
    const char *names = "", *addresses = "";
    for (const PQconninfoOption *item = all; item != NULL && item->keyword != NULL; item++) {
        const char *value = item->val != NULL ? item->val : "";
        names = strcmp(item->keyword, "host") == 0 ? value : names;
        addresses = strcmp(item->keyword, "hostaddr") == 0 ? value : addresses;
    }
    int code = addresses[0] == '\0' ? module_link_try_names(&store->link, names, deadline_ms, error)
                                    : FIRN_OK;
    PQconninfoFree(all);
    return code;
}

/* A name with a slash is the folder of a socket, and one with an @ its name. */
static int find_place(postgres_store *store, size_t host, postgres_place *out, int64_t deadline_ms,
                      firn_error *error) {
    const module_host *target =
        host < store->link.url.host_count ? &store->link.url.hosts[host] : NULL;
    *out = (postgres_place){"", ""};
    if (target == NULL) {
        return find_default(store, deadline_ms, error);
    }
    if (target->name[0] == '/' || target->name[0] == '@' || strlen(target->name) > 255) {
        snprintf(out->names, sizeof out->names, "%s", target->name);
        return FIRN_OK;
    }
    struct addrinfo *found = module_link_find(&store->link, host, 0, deadline_ms, error),
                    *item = found;
    size_t names = 0, addresses = 0;
    for (int i = 0; item != NULL && i < ADDRESSES; i++, item = item->ai_next) {
        char address[64];
        if (getnameinfo(item->ai_addr, item->ai_addrlen, address, sizeof address, NULL, 0,
                        NI_NUMERICHOST) == 0) {
            const char *comma = names > 0 ? "," : "";
            names += (size_t)snprintf(out->names + names, 257, "%s%s", comma, target->name);
            addresses += (size_t)snprintf(out->addresses + addresses, 65, "%s%s", comma, address);
        }
    }
    if (found == NULL) {
        return FIRN_ESTORE;
    }
    freeaddrinfo(found);
    return FIRN_OK;
}

/* NULL: out of memory. */
static PGconn *start(postgres_store *store, size_t host, const postgres_place *place) {
    char port[MODULE_NUMBER_SIZE];
    const char *words[NATIVE + 12], *values[NATIVE + 12];
    size_t n = 0;
    const module_host *target =
        host < store->link.url.host_count ? &store->link.url.hosts[host] : NULL;
    const struct {
        const char *word, *value;
    } own[] = {{"host", place->names[0] != '\0' ? place->names : NULL},
               {"hostaddr", place->addresses[0] != '\0' ? place->addresses : NULL},
               {"port", target != NULL && target->port != 0 ? port : NULL},
               {"user", store->link.url.user},
               {"password", store->link.url.password},
               {"dbname", store->link.url.path},
               {"sslmode", ssl_mode(store->tls)},
               {"sslrootcert", store->authority},
               {"client_encoding", "SQL_ASCII"}, /* no conversion */
               {"fallback_application_name", "firn"}};
    module_digits(port, target != NULL ? target->port : 0);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        words[n] = own[i].word;
        values[n] = own[i].value;
        n += own[i].value != NULL;
    }
    for (size_t i = 0; i < NATIVE; i++) {
        words[n] = native[i];
        values[n] = module_param(&store->link.url, native[i]);
        n += values[n] != NULL;
    }
    words[n] = NULL;
    values[n] = NULL;
    return PQconnectStartParams(words, values, 0);
}

int postgres_begin(postgres_store *store, size_t host, int64_t deadline_ms, firn_error *error) {
    postgres_place place;
    int code = find_place(store, host, &place, deadline_ms, error);
    if (code == FIRN_OK && (store->db = start(store, host, &place)) == NULL) {
        return module_no_memory(error);
    }
    return code;
}

/* With "prefer", libpq continues without TLS where a server offers none, or one that it does not
 * trust. With "require" it verifies the certificate without the name if it has authorities. */
static int check_tls(postgres_store *store, firn_error *error) {
    module_url *url = &store->link.url;
    const char *native_mode = module_param(url, "sslmode"),
               *root = module_param(url, "sslrootcert");
    const char *mode = store->tls != NULL            ? ssl_mode(store->tls)
                       : native_mode != NULL         ? native_mode
                       : getenv("PGSSLMODE") != NULL ? getenv("PGSSLMODE")
                                                     : "";
    if ((store->tls != NULL && native_mode != NULL) || (store->authority != NULL && root != NULL)) {
        return module_fail(error, FIRN_EUSAGE, "the store's URL has %s and %s: give one of them",
                           native_mode != NULL && store->tls != NULL ? "tls=" : "ca=",
                           native_mode != NULL && store->tls != NULL ? "sslmode=" : "sslrootcert=");
    }
    const bool requires = strcmp(mode, "require") == 0 || strncmp(mode, "verify-", 7) == 0;
    const bool verifies = requires && (mode[0] == 'v' || store->authority != NULL || root != NULL);
    const struct {
        const char *name, *need;
        bool there;
    } files[] = {{"ca", "tls=verify", verifies},
                 {"sslrootcert", "tls=verify", verifies},
                 {"sslcrl", "tls=verify", verifies},
                 {"sslcert", "tls=verify or tls=require", requires},
                 {"sslkey", "tls=verify or tls=require", requires}};
    int code = FIRN_OK;
    for (size_t i = 0; i < sizeof files / sizeof files[0] && code == FIRN_OK; i++) {
        code = module_needs(files[i].name, module_param(url, files[i].name) != NULL, files[i].need,
                            files[i].there, error);
    }
    return code;
}

int postgres_set_up(void *self, firn_error *error) {
    postgres_store *store = self;
    const char *value;
    const module_number pages = {"whole_pages", &store->whole_pages, 0, 0, 1, NULL};
    int code = module_param_name(&store->table, &store->link.url, "table", "firn", error);
    code = code == FIRN_OK ? module_param_numbers(&store->link.url, &pages, 1, error) : code;
    for (size_t i = 0; i < NATIVE && code == FIRN_OK; i++) { /* some of them name files */
        code = module_param_file(&value, &store->link.url, native[i], error);
    }
    if (code == FIRN_OK) {
        code = module_param_file(&store->authority, &store->link.url, "ca", error);
    }
    code = code == FIRN_OK ? module_param_tls(&store->tls, &store->link.url, error) : code;
    return code == FIRN_OK ? check_tls(store, error) : code;
}
