/* SPDX-License-Identifier: MIT */
/* Stores, for the inside of the library: what the renewer asks of a handle beyond the public
 * verbs. */
#ifndef FIRN__STORE_H
#define FIRN__STORE_H

#include <firn/store.h>

/* On this machine, so that windows may be short? */
bool firn__store_embedded(const firn_store *store);
/* Where it is, for people; without a password. */
const char *firn__store_url(const firn_store *store);

/* memory.c */
extern const firn_driver firn__store_memory;

#endif
