/* SPDX-License-Identifier: MIT */
/* How many connections are open from each address. Any thread. */
#ifndef FIRN_ADDRESSES_H
#define FIRN_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* What counts as one address: of IPv4 all of it, of IPv6 the network of 64 bits that one customer
 * has to himself. Unix sockets have none, and are not counted. */
typedef struct address_key {
    uint64_t high, low;
} address_key;

address_key address_of(const struct sockaddr_storage *peer);
/* One more; returns how many there are with it, 0 when memory is used up. */
size_t address_enter(address_key key);
void address_leave(address_key key);
/* So many more, or fewer, of its connections have no token; returns how many have none. Only while
 * one of them is open. */
int64_t address_count_stranger(address_key key, int change);
bool address_is_same(address_key a, address_key b);

#define ADDRESS_TEXT_SIZE 64
/* For people: 192.0.2.1, 2001:db8::/64, or unix. */
void address_write(char out[ADDRESS_TEXT_SIZE], address_key key);

#endif
