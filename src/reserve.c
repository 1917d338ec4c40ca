/* SPDX-License-Identifier: MIT */
/* A reservation, sent until its outcome is known, in bounded time. */
#include "reserve.h"

#include "entropy.h"
#include "error.h"

#include <assert.h>
#include <inttypes.h>

static int64_t steady_ns(const firn__patience *patience) {
    int64_t now = 0;
    return patience->clock->steady(patience->clock->self, &now) == FIRN_OK ? now
                                                                           : patience->began_ns;
}

firn__patience firn__patience_begin(const firn_clock *clock, int64_t max_ms) {
    firn__patience begun = {clock, 0, max_ms > FIRN__STORE_MS ? max_ms : FIRN__STORE_MS};
    begun.began_ns = steady_ns(&begun);
    return begun;
}

int64_t firn__patience_spent_ms(const firn__patience *patience) {
    return (steady_ns(patience) - patience->began_ns) / 1000000;
}

bool firn__patience_over(const firn__patience *patience) {
    return firn__patience_spent_ms(patience) >= patience->max_ms;
}

int firn__reserve_grant(const firn_entropy *entropy, uint64_t *grant, firn_error *error) {
    firn_value drawn;
    int code = firn__entropy_bits(entropy, &drawn, 63, error);
    if (code == FIRN_OK) {
        *grant = drawn.low | 1;
    }
    return code;
}

int firn__reserve(firn_store *store, const firn_request *request, const firn__patience *patience,
                  firn__attempts *sending, int64_t *first, firn_error *error) {
    int code = FIRN_EUNKNOWN;
    assert(request->grant != 0 && sending->tries > 0);
    sending->twice = sending->sent;
    for (int i = 0; i < sending->tries && code == FIRN_EUNKNOWN; i++) {
        if (i > 0 && firn__patience_over(patience)) {
            break;
        }
        sending->twice = sending->sent;
        code = firn_store_reserve(store, request, first, &sending->held, error);
        bool own = sending->held.grant == request->grant;
        if (code == FIRN_EBUSY && sending->sent && own) {
            *first = sending->held.high - request->count; /* an earlier sending did arrive */
            code = FIRN_OK;
            if (*first < request->earliest || *first > request->latest) {
                return firn__fail(error, FIRN_ESTORE,
                                  "the store granted %" PRId64
                                  ", which is outside the request: do not use this store",
                                  *first);
            }
        } else if (code == FIRN_EBUSY && own) {
            return firn_error_set(
                error, FIRN_ECLONED, FIRN_CURE_END_COPY,
                "%s of %.80s was reserved by a copy of this process image: end one of "
                "the two, and start processes instead of cloning them",
                request->key, request->ns);
        }
        sending->sent = true;
    }
    return code;
}
