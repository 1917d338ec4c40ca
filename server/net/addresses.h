/* SPDX-License-Identifier: MIT */
/* Open connections per address. Any thread. */
#ifndef FIRN_ADDRESSES_H
#define FIRN_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* An IPv4 address, or an IPv6 network of 64 bits, which one customer owns. Unix sockets have none
 * and are not counted. */
typedef struct address_key {
    uint64_t high, low;
} address_key;

address_key address_of(const struct sockaddr_storage *peer);
/* Adds one; returns the new count, or 0: out of memory. */
size_t address_enter(address_key key);
void address_leave(address_key key);
/* Changes the number of its unauthenticated connections and returns it. One of them must be
 * open. */
int64_t address_count_stranger(address_key key, int change);
bool address_is_same(address_key a, address_key b);
/* The place of an address in a table of 1 << bits: nobody can choose addresses of one place. */
size_t address_place(address_key key, unsigned bits);

#define ADDRESS_TEXT_SIZE 64
/* 192.0.2.1, 2001:db8::/64, or unix. */
void address_write(char out[ADDRESS_TEXT_SIZE], address_key key);

#endif
