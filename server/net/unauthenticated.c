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

static unauthenticated_client *unauthenticated_at(list_link *place) {
    return list_entry(place, unauthenticated_client, place);
}

void unauthenticated_begin(unauthenticated_list *list, unauthenticated_share *share) {
    list_clear(&list->all);
    list->share = share;
}

void unauthenticated_remove(unauthenticated_list *list, unauthenticated_client *client) {
    if (client->is_in) {
        client->is_in = false;
        list_remove(&client->place);
        address_count_stranger(client->address, -1);
        if (atomic_fetch_sub_explicit(&list->share->count, 1, memory_order_seq_cst) == 1) {
            atomic_store_explicit(&list->share->wanted, 0,
                                  memory_order_seq_cst); /* the clients are gone already */
        }
    }
}

static unauthenticated_client *evict(unauthenticated_list *list, unauthenticated_client *client) {
    static log_gate gate;
    char count[LOG_COUNT_SIZE], address[ADDRESS_TEXT_SIZE];
    unauthenticated_remove(list, client);
    if (log_gate_opens(&gate, count)) {
        address_write(address, client->address);
        log_event(LOG_LEVEL_WARNING, "unauthenticated connections closed to make room", "listener",
                  list->share->listener, "last_address", address, "count", count, NULL);
    }
    return client;
}

bool unauthenticated_make_room(unauthenticated_list *list, unauthenticated_client **out) {
    unauthenticated_share *share = list->share;
    *out = NULL;
    if (!list_is_empty(&list->all)) {
        *out = evict(list, unauthenticated_at(list->all.next));
        return true;
    }
    if (atomic_load_explicit(&share->wanted, memory_order_seq_cst) >=
        atomic_load_explicit(&share->count, memory_order_seq_cst)) {
        return false;
    }
    atomic_fetch_add_explicit(&share->wanted, 1, memory_order_seq_cst);
    return true;
}

unauthenticated_client *unauthenticated_owed(unauthenticated_list *list) {
    int64_t wanted = atomic_load_explicit(&list->share->wanted, memory_order_seq_cst);
    if (wanted <= 0 || list_is_empty(&list->all) ||
        !atomic_compare_exchange_strong_explicit(&list->share->wanted, &wanted, wanted - 1,
                                                 memory_order_seq_cst, memory_order_seq_cst)) {
        return NULL;
    }
    return evict(list, unauthenticated_at(list->all.next));
}

/* The oldest other one of its address, or NULL: none in this thread. */
static unauthenticated_client *oldest_of(unauthenticated_list *list,
                                         const unauthenticated_client *client) {
    list_link *link = list->all.next;
    for (int i = 0; i < LOOKS && link != &client->place; i++, link = link->next) {
        if (address_is_same(unauthenticated_at(link)->address, client->address)) {
            return unauthenticated_at(link);
        }
    }
    return NULL;
}

/* Threads count together but close only their own, so there may be one too many per thread. */
unauthenticated_client *unauthenticated_add(unauthenticated_list *list,
                                            unauthenticated_client *client,
                                            int64_t max_connections) {
    int64_t most = max_connections / SHARE, of_address = most / ADDRESS_SHARE;
    of_address = of_address < ADDRESS_LEAST ? ADDRESS_LEAST : of_address;
    client->is_in = true;
    list_add(&list->all, &client->place);
    int64_t count = address_count_stranger(client->address, 1);
    int64_t total = atomic_fetch_add_explicit(&list->share->count, 1, memory_order_seq_cst) + 1;
    unauthenticated_client *last = count > of_address ? oldest_of(list, client) : NULL;
    if (last == NULL && total > most && list->all.next != &client->place) {
        last = unauthenticated_at(list->all.next);
    }
    return last != NULL ? evict(list, last) : NULL;
}
