/* SPDX-License-Identifier: MIT */
/* A lying server for the fuzzers of stores: each includes the module that it is for, puts its own
 * answers instead of the network that a library would read, and asks through the wrapper
 * that every caller goes through. The first byte says which verbs; what is in the way of a bounded
 * run (names, sockets, naps) is replaced. */
#ifndef FIRN_FUZZ_LYING_H
#define FIRN_FUZZ_LYING_H

#include <assert.h>
#include <firn/firn.h>
#include <netdb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../modules/module.h"
#include "../src/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- answers --------------------------------------------------------------------------------- */

/* The rest of the answers, which end with a byte 0xFF. */
static const uint8_t *lie_at;
static size_t lie_left;
static bool lie_knows; /* the password is among them, so the server may say it */

#define LIE_PASSWORD "Tr0ub4dor"

__attribute__((unused)) static void lie_begin(const uint8_t *data, size_t size) {
    lie_at = data;
    lie_left = size;
    lie_knows = size > 0 && memmem(data, size, LIE_PASSWORD, strlen(LIE_PASSWORD)) != NULL;
}

/* The next one, terminated and to be freed; NULL: end. */
__attribute__((unused)) static char *lie_next(size_t *length) {
    if (lie_left == 0) {
        return NULL;
    }
    const uint8_t *end = memchr(lie_at, 0xff, lie_left);
    *length = end != NULL ? (size_t)(end - lie_at) : lie_left;
    char *out = malloc(*length + 1);
    assert(out != NULL);
    memcpy(out, lie_at, *length);
    out[*length] = '\0';
    lie_left -= *length + (end != NULL);
    lie_at += *length + (end != NULL);
    return out;
}

/* ---- verbs ----------------------------------------------------------------------------------- */

static int lie_visit(void *context, const firn_holding *holding) {
    int *lines = context;
    assert(strlen(holding->ns) + strlen(holding->key) + strlen(holding->note) +
               strlen(holding->layout) <
           (1 << 24));
    return ++*lines < 100 ? 0 : 1;
}

static void lie_told(int code, const firn_error *error) {
    assert(code == FIRN_OK || (error->text[0] != '\0' && strlen(error->text) < sizeof error->text));
    assert(code == FIRN_OK || error->code == code);
    assert(lie_knows || strstr(error->text, LIE_PASSWORD) == NULL);
}

static void lie_reserve(firn_store *store, const char *ns, int64_t guard) {
    const firn_request request = {ns, "layout", "1", 10, 100, INT64_C(1) << 60, 7, "note", guard};
    firn_error error = {0};
    firn_mark held = {-1, 1};
    int64_t first = -1;
    int code = firn_store_reserve(store, &request, &first, &held, &error);
    lie_told(code, &error);
    assert(code == FIRN_OK ? first >= request.earliest && first <= request.latest : first == -1);
    assert(code != FIRN_EBACK || guard == 0);
    assert(code == FIRN_EBUSY || (held.high == -1 && held.grant == 1));
}

static void lie_verbs(const firn_store_ops *ops, void *self, uint8_t which) {
    firn_store *store = NULL;
    firn_error error = {0};
    firn_time now;
    int lines = 0;
    assert(firn_store_wrap(&store, ops, self, &error) == FIRN_OK);
    for (int i = 0; i < 4; i++) {
        error.text[0] = '\0';
        switch (which >> (2 * i) & 3) {
        case 0:
            lie_reserve(store, i % 2 == 0 ? "snow" : "integer orders", i < 2 ? 0 : 5000);
            break;
        case 1: {
            const firn_mark mine = {110, 7};
            int code = firn_store_give_back(store, "snow", "1", &mine, 105, &error);
            lie_told(code, &error);
            break;
        }
        case 2: {
            int code =
                firn_store_list(store, i % 2 == 0 ? NULL : "snow", lie_visit, &lines, &error);
            lie_told(code == 1 ? FIRN_OK : code, &error);
            break;
        }
        default:
            if (firn_store_now(store, &now, &error) == FIRN_OK) {
                assert(now.ns >= 0 && now.ns < 1000000000);
            }
        }
    }
    firn_store_close(store);
}

__attribute__((unused)) static void lie_driven(const firn_driver *driver, void *driven,
                                               uint8_t which) {
    firn_error error = {0};
    void *self = NULL;
    assert(firn__engine_make(&self, driver, driven, &error) == FIRN_OK);
    lie_verbs(&firn__engine_ops, self, which);
}

/* ---- calls that are not made ----------------------------------------------------------------- */

#define module_link_resolve(link, host, port, deadline_ms, why)                                    \
    ((void)(link), (void)(host), (void)(deadline_ms), (void)(*(why) = "no names here"),            \
     (struct addrinfo *)NULL)
__attribute__((unused)) static struct addrinfo *lie_find(firn_error *error) {
    (void)module_fail(error, FIRN_ESTORE, "there are no names here: use none");
    return NULL;
}
#define module_link_find(link, host, port, deadline_ms, error)                                     \
    ((void)(link), (void)(host), (void)(deadline_ms), lie_find(error))

/* Also as a driver's method. */
__attribute__((unused)) static void lie_wait(int round) {
    (void)round;
}
#define module_sleep_randomly lie_wait

/* In place of libc's: a harness that sleeps or asks a name server tries few inputs. */
int nanosleep(const struct timespec *nap, struct timespec *rest) {
    (void)nap;
    (void)rest;
    abort();
}

#ifndef LIE_RESOLVES /* a test that finds a numeric address */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
    (void)name;
    (void)service;
    (void)hints;
    (void)found;
    abort();
}
#endif

#endif
