/* SPDX-License-Identifier: MIT */
/* The generators, segments and series of this server by name. Lookups take no lock. Renewers and the main
 * thread add entries; none is removed; max_generators and max_auto_create limit their number. */
#ifndef FIRN_CATALOG_H
#define FIRN_CATALOG_H

#include "generator.h"
#include "segment.h"

typedef struct server_series server_series; /* series.h */

/* Before the threads start. auto_create: how many segments clients may create; 0: none. `store`:
 * the URL for sections without one. FIRN_EUSAGE: invalid URL. */
int catalog_begin(const char *store, size_t max_generators, size_t max_segments, size_t max_series,
                  size_t auto_create, firn_error *error);
/* Adds one from the configuration, also while serving; the renewer opens it in the background.
 * FIRN_EUSAGE: the name exists; FIRN_ERANGE: the table is full. `store` NULL: the default store. */
int catalog_add_generator(const char *name, const char *scheme, const char *keys, const char *store,
                          const char *form, const char *prefix, firn_error *error);
int catalog_add_segment(const char *name, const char *keys, const char *store, firn_error *error);
int catalog_add_series(const char *name, const char *keys, const char *store, firn_error *error);

/* The configuration is complete: later additions are late, and catalog_ready does not wait for
 * them. Makes the default store's renewer, unless everything configured has another store and
 * nobody named it. Main thread. Errors as renewer_of. */
int catalog_begun(firn_error *error);

/* Checks what can be checked without the store. After catalog_begin. */
int catalog_check_generator(const char *name, const char *scheme, const char *keys,
                            const char *store, const char *form, const char *prefix,
                            firn_error *error);
int catalog_check_segment(const char *name, const char *keys, const char *store, firn_error *error);
int catalog_check_series(const char *name, const char *keys, const char *store, firn_error *error);

/* The maximum count of one request from now on; at first there is no limit. Any thread. */
void catalog_allow_block(int64_t most);
int64_t catalog_max_block(void);
/* How many segments clients may create from now on, within max_segments. Any thread. */
void catalog_allow(size_t auto_create);

/* By name; NULL: not open (yet). Any thread, no lock. */
server_generator *catalog_generator(word name);
server_segment *catalog_segment(word name);
server_series *catalog_series(word name); /* NULL: not configured */
/* The i-th, or NULL. Any thread. */
server_generator *catalog_generator_at(size_t i);
server_segment *catalog_segment_at(size_t i);
server_series *catalog_series_at(size_t i);
/* FIRN_EUSAGE: the name is a series, not `wanted`, such as "a segment"; else FIRN_OK. */
int catalog_refuse_series(word name, const char *wanted, firn_error *error);
/* Can a segment of this name be created now? FIRN_EUSAGE, FIRN_ERANGE. */
int catalog_may_create(word name, firn_error *error);

/* Opens a generator of a scheme of the table, or a segment, on its first use, or finds it if
 * another thread has opened it. In the default renewer's thread; with `without_store` in any, and
 * only a scheme that needs no store. */
int catalog_open_scheme(server_generator **out, const char *name, bool without_store,
                        firn_error *error);
int catalog_open_segment(server_segment **out, const char *name, firn_error *error);
/* The renewer of the default store; NULL with the reason. */
store_renewer *catalog_renewer(firn_error *error);

/* Is that renewer the default store's, and did it exist before catalog_begun returned? */
bool catalog_began_with(size_t renewer_index);
/* After renewers_stop: frees everything. */
void catalog_end(void);

#endif
