/* SPDX-License-Identifier: MIT */
/* What this server issues from: generators and segments by name. Looking one up takes no lock.
 * Renewers and the main thread add them; none is ever removed; max_generators and max_auto_create
 * limit their number. */
#ifndef FIRN_CATALOG_H
#define FIRN_CATALOG_H

#include "generator.h"
#include "segment.h"

/* Before the threads start: the most of each, and whether segments nobody configured are made when
 * they are first asked for (auto_create, at most so many; 0: not). `store` is the URL for what has
 * none of its own. FIRN_EUSAGE: a URL that no store has. */
int catalog_begin(const char *store, size_t max_generators, size_t max_segments, size_t auto_create,
                  firn_error *error);
/* Adds one of the configuration, before the threads start or while they serve; the renewer opens it in
 * the background. FIRN_EUSAGE, FIRN_ERANGE: there are as many as may be, or one of that name is there
 * already. `store` NULL: the default one. */
int catalog_add_generator(const char *name, const char *scheme, const char *keys, const char *store,
                          const char *form, const char *prefix, firn_error *error);
int catalog_add_segment(const char *name, const char *keys, const char *store, firn_error *error);

/* The configuration is complete: what is added from here on is late, so that catalog_ready does not
 * wait for it. The default store gets its renewer now, unless all that is configured lies elsewhere and
 * nobody named it. The main thread. Errors as of renewer_of. */
int catalog_begun(firn_error *error);

/* The same without adding it: is it right, as far as it can be known without its store? After
 * catalog_begin. */
int catalog_check_generator(const char *name, const char *scheme, const char *keys,
                            const char *store, const char *form, const char *prefix,
                            firn_error *error);
int catalog_check_segment(const char *name, const char *keys, const char *store, firn_error *error);

/* How many integers one request may ask for, from now on; before, as many as there can be. Any
 * thread. */
void catalog_allow_block(int64_t most);
int64_t catalog_max_block(void);
/* How many segments may be made when first asked for, from now on; at most what max_segments left
 * room for. Any thread. */
void catalog_allow(size_t auto_create);

/* By name; NULL: it is not open (yet). Any thread, no lock. */
generator *catalog_generator(word name);
segment *catalog_segment(word name);
/* The i-th, or NULL. Any thread. */
generator *catalog_generator_at(size_t i);
segment *catalog_segment_at(size_t i);
/* May a segment of this name be made now? FIRN_EUSAGE says what to do else; FIRN_ERANGE. */
int catalog_may_create(word name, firn_error *error);

/* Makes what nobody has asked for yet, or finds what somebody else has made meanwhile. A generator
 * of a scheme of the table: in the default renewer's thread, or in any where `free` (its row needs no
 * store). A segment: in the default renewer's thread. */
int catalog_open_scheme(generator **out, const char *name, bool free, firn_error *error);
int catalog_open_segment(segment **out, const char *name, firn_error *error);
/* The renewer of the default store; NULL with the reason. */
renewer *catalog_renewer(firn_error *error);

/* Is the renewer of that index the default store's, and was it there before catalog_begun returned? */
bool catalog_began_with(size_t renewer_index);
/* After renewers_stop: frees all. */
void catalog_end(void);

#endif
