/* SPDX-License-Identifier: MIT */
#include "addresses.h"

#include "core/monotonic.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { BITS = 12 }; /* of the number of buckets */

typedef struct address_entry address_entry;
struct address_entry {
    address_entry *next;
    address_key key;
    size_t count;
    int64_t unauthenticated;
};

static struct {
    pthread_mutex_t lock;
    address_entry *buckets[1 << BITS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

address_key address_of(const struct sockaddr_storage *peer) {
    address_key key = {0, 0};
    if (peer->ss_family == AF_INET) {
        key.high = 1; /* a network that no IPv6 client has */
        key.low = ((const struct sockaddr_in *)peer)->sin_addr.s_addr;
    } else if (peer->ss_family == AF_INET6) {
        const struct in6_addr *six = &((const struct sockaddr_in6 *)peer)->sin6_addr;
        memcpy(&key.high, six, sizeof key.high);
        if (IN6_IS_ADDR_V4MAPPED(six)) { /* from a dual-stack socket, as systemd makes them */
            key.high = 1;
            memcpy(&key.low, six->s6_addr + 12, sizeof(uint32_t));
        } else if (key.high == 0) { /* ::1; {0, 0} is for unix sockets */
            memcpy(&key.low, six->s6_addr + 8, sizeof key.low);
        }
    }
    return key;
}

bool address_is_same(address_key a, address_key b) {
    return a.high == b.high && a.low == b.low;
}

void address_write(char out[ADDRESS_TEXT_SIZE], address_key key) {
    char host[INET6_ADDRSTRLEN] = "?";
    struct in6_addr six = {0};
    if (key.high == 0 && key.low == 0) {
        snprintf(out, ADDRESS_TEXT_SIZE, "unix");
    } else if (key.high == 1) {
        inet_ntop(AF_INET, &(struct in_addr){(in_addr_t)key.low}, host, sizeof host);
        snprintf(out, ADDRESS_TEXT_SIZE, "%s", host);
    } else {
        memcpy(&six, &key.high, sizeof key.high);
        memcpy(six.s6_addr + 8, &key.low, sizeof key.low);
        inet_ntop(AF_INET6, &six, host, sizeof host);
        snprintf(out, ADDRESS_TEXT_SIZE, "%s%s", host, key.high == 0 ? "" : "/64");
    }
}

static uint64_t seed;

static void choose_seed(void) {
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) < 0) {
        seed = (uint64_t)monotonic_ms();
    }
    seed |= 1;
}

size_t address_place(address_key key, unsigned bits) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_seed);
    uint64_t hash = (key.high ^ seed) * UINT64_C(0xd6e8feb86659fd93);
    hash = (hash ^ hash >> 32 ^ key.low) * seed;
    hash = (hash ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> (64 - bits));
}

static address_entry **find(address_key key) {
    address_entry **entry = &table.buckets[address_place(key, BITS)];
    while (*entry != NULL && !address_is_same((*entry)->key, key)) {
        entry = &(*entry)->next;
    }
    return entry;
}

size_t address_enter(address_key key) {
    pthread_mutex_lock(&table.lock);
    address_entry **entry = find(key);
    if (*entry == NULL) {
        *entry = calloc(1, sizeof **entry);
        if (*entry != NULL) {
            (*entry)->key = key;
        }
    }
    size_t count = *entry == NULL ? 0 : ++(*entry)->count;
    pthread_mutex_unlock(&table.lock);
    return count;
}

void address_leave(address_key key) {
    pthread_mutex_lock(&table.lock);
    address_entry **entry = find(key), *item = *entry;
    if (item != NULL && --item->count == 0) {
        *entry = item->next;
        free(item);
    }
    pthread_mutex_unlock(&table.lock);
}

int64_t address_count_stranger(address_key key, int change) {
    pthread_mutex_lock(&table.lock);
    address_entry *entry = *find(key);
    int64_t count = entry == NULL ? 0 : (entry->unauthenticated += change);
    pthread_mutex_unlock(&table.lock);
    return count;
}
