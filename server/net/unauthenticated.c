/* SPDX-License-Identifier: MIT */
#include "unauthenticated.h"

#include "core/log.h"

#include <stddef.h>

enum {
    SHARE = 4,         /* unauthenticated connections have 1/SHARE of max_connections */
    ADDRESS_SHARE = 4, /* and one address 1/ADDRESS_SHARE of these */
    ADDRESS_LEAST = 8, /* at least */
    LOOKS = 1000       /* connections searched for one of an address */
};

static unauthenticated *unauthenticated_at(list_link *place) {
    return list_entry(place, unauthenticated, place);
}

void unauthenticated_begin(unauthenticated_list *it, unauthenticated_share *share) {
    list_clear(&it->all);
    it->share = share;
}

void unauthenticated_remove(unauthenticated_list *it, unauthenticated *one) {
    if (one->is_in) {
        one->is_in = false;
        list_remove(&one->place);
        address_count_stranger(one->address, -1);
        if (atomic_fetch_sub_explicit(&it->share->count, 1, memory_order_seq_cst) == 1) {
            atomic_store_explicit(&it->share->wanted, 0,
                                  memory_order_seq_cst); /* the clients are gone already */
        }
    }
}

static unauthenticated *evict(unauthenticated_list *it, unauthenticated *one) {
    static log_gate gate;
    char count[LOG_COUNT_SIZE], address[ADDRESS_TEXT_SIZE];
    unauthenticated_remove(it, one);
    if (log_gate_opens(&gate, count)) {
        address_write(address, one->address);
        log_event(LOG_LEVEL_WARNING, "unauthenticated connections closed to make room", "listener",
                  it->share->listener, "last_address", address, "count", count, NULL);
    }
    return one;
}

bool unauthenticated_make_room(unauthenticated_list *it, unauthenticated **out) {
    unauthenticated_share *share = it->share;
    *out = NULL;
    if (!list_is_empty(&it->all)) {
        *out = evict(it, unauthenticated_at(it->all.next));
        return true;
    }
    if (atomic_load_explicit(&share->wanted, memory_order_seq_cst) >=
        atomic_load_explicit(&share->count, memory_order_seq_cst)) {
        return false;
    }
    atomic_fetch_add_explicit(&share->wanted, 1, memory_order_seq_cst);
    return true;
}

unauthenticated *unauthenticated_owed(unauthenticated_list *it) {
    int64_t wanted = atomic_load_explicit(&it->share->wanted, memory_order_seq_cst);
    if (wanted <= 0 || list_is_empty(&it->all) ||
        !atomic_compare_exchange_strong_explicit(&it->share->wanted, &wanted, wanted - 1,
                                                 memory_order_seq_cst, memory_order_seq_cst)) {
        return NULL;
    }
    return evict(it, unauthenticated_at(it->all.next));
}

/* The oldest other one of its address, or NULL: none in this thread. */
static unauthenticated *oldest_of(unauthenticated_list *it, const unauthenticated *one) {
    list_link *at = it->all.next;
    for (int i = 0; i < LOOKS && at != &one->place; i++, at = at->next) {
        if (address_is_same(unauthenticated_at(at)->address, one->address)) {
            return unauthenticated_at(at);
        }
    }
    return NULL;
}

/* Threads count together but close only their own, so there may be one too many per thread. */
unauthenticated *unauthenticated_add(unauthenticated_list *it, unauthenticated *one,
                                     int64_t max_connections) {
    int64_t most = max_connections / SHARE, of_address = most / ADDRESS_SHARE;
    of_address = of_address < ADDRESS_LEAST ? ADDRESS_LEAST : of_address;
    one->is_in = true;
    list_add(&it->all, &one->place);
    int64_t count = address_count_stranger(one->address, 1);
    int64_t total = atomic_fetch_add_explicit(&it->share->count, 1, memory_order_seq_cst) + 1;
    unauthenticated *last = count > of_address ? oldest_of(it, one) : NULL;
    if (last == NULL && total > most && it->all.next != &one->place) {
        last = unauthenticated_at(it->all.next);
    }
    return last != NULL ? evict(it, last) : NULL;
}
