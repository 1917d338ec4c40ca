/* SPDX-License-Identifier: MIT */
#include "anchor.h"

#include "errors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static const char anchor_layout[] = "anchor", anchor_key[] = "head";

static char *name_anchor(char ns[FIRN_NS_SIZE], const char *series) {
    snprintf(ns, FIRN_NS_SIZE, "anchor %s", series);
    return ns;
}

static int see_anchor(void *context, const firn_holding *holding) {
    chain_anchor *anchor = context;
    if (strcmp(holding->key, anchor_key) == 0 && holding->mark.high > 0) {
        anchor->number = holding->mark.high - 1;
        snprintf(anchor->hash, sizeof anchor->hash, "%s", holding->note);
    }
    return 0;
}

int anchor_read(chain_anchor *anchor, firn_store *store, const char *series, firn_error *error) {
    char ns[FIRN_NS_SIZE];
    *anchor = (chain_anchor){.number = 0};
    int code = firn_store_list(store, name_anchor(ns, series), see_anchor, anchor, error);
    if (code == FIRN_OK && anchor->number > 0 && strlen(anchor->hash) != ANCHOR_HASH) {
        code = set_error(error, FIRN_ETEXT,
                         "the anchor of series %.63s has no hash, so nothing can be compared: "
                         "compare with --known",
                         series);
    }
    return code;
}

int anchor_move(firn_store *store, const char *series, const chain_anchor *to, firn_error *error) {
    char ns[FIRN_NS_SIZE];
    firn_mark held;
    int64_t first;
    /* The guard ends the doubt after a loss of the store: an anchor repeats nothing. */
    firn_request request = {.ns = name_anchor(ns, series),
                            .layout = anchor_layout,
                            .key = anchor_key,
                            .count = 1,
                            .earliest = to->number,
                            .latest = to->number,
                            .guard = to->number,
                            .note = to->hash};
    if (getrandom(&request.grant, sizeof request.grant, 0) != sizeof request.grant) {
        return set_error(error, FIRN_EENTROPY, "the kernel has no randomness: try again");
    }
    request.grant |= 1;
    int code = firn_store_reserve(store, &request, &first, &held, error);
    code = code == FIRN_EUNKNOWN ? firn_store_reserve(store, &request, &first, &held, error) : code;
    return code != FIRN_EBUSY
               ? code
               : set_error(error, FIRN_EBUSY,
                           "another firn verify has moved the anchor of series %.63s to "
                           "%" PRId64 ": run firn verify again",
                           series, held.high - 1);
}
