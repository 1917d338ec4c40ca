/* SPDX-License-Identifier: MIT */
/* Stores, for the inside of the library: what the renewer asks of a handle beyond the public
 * verbs. */
#ifndef FIRN__STORE_H
#define FIRN__STORE_H

#include <firn/store.h>

/* On this machine, so that windows may be short? */
bool firn__store_embedded(const firn_store *store);
/* Does firn's law decide (engine.h)? Not in a store that is a program's methods. */
bool firn__store_has_law(const firn_store *store);
/* Where it is, for people; without a password. */
const char *firn__store_url(const firn_store *store);

/* Opens a store that is away when it is first used, and until then at each use. */
int firn__store_open_later(firn_store **store, const char *url, const firn_store_options *options,
                           firn_error *error);
/* How the store was opened: its folder of modules (or NULL), and whether it may lose writes. Valid
 * as long as the store. */
firn_store_options firn__store_options(const firn_store *store);
/* Reads the records of a key: which store it is (`origin`), its losses and floors. Of the
 * methods of a program, and of a source, nothing is known. The texts are left out. */
int firn__store_known(firn_store *store, const char *ns, const char *key, firn_records *seen,
                      firn_error *error);

/* A store of this URL (as firn__store_url has it) that did not answer is not asked again for 10 s by
 * any reserve of this process: a call may hang for a second, and windows must be renewed. */
void firn__store_pause(const char *url, bool answers);
bool firn__store_is_paused(const char *url);
/* The same, of a URL as a user gives it. */
bool firn__store_was_away(const char *url);
/* Forgets what this handle reserved of a key: another process of the machine has given it back. */
void firn__store_forget(firn_store *store, const char *ns, const char *key);

#define FIRN__STORE_URL_SIZE 4200 /* a path and some more */
/* The URL of an embedded store, which is made if it is missing: of this path, or with this name
 * in the folder of the default store of the user. FIRN_ERANGE. */
int firn__store_beside(char url[FIRN__STORE_URL_SIZE], const char *path, const char *name,
                       firn_error *error);
/* Opens the driver of a URL without an engine. */
int firn__store_drive(void **library, const firn_driver **driver, void **self, const char *url,
                      const firn_store_options *options, firn_error *error);

/* memory.c */
extern const firn_driver firn__store_memory;

#endif
