/* SPDX-License-Identifier: MIT */
/* What the server is told: firn.ini < environment FIRN_* < flags. One table (settings.def) makes all
 * three. Beside [server] the file has any number of [generator NAME] and [segment NAME]. */
#ifndef FIRN_CONFIG_H
#define FIRN_CONFIG_H

#include "core/catalog.h"

#include <firn/firn.h>

#define SETTING_SIZE 1024

/* The settings, in members of their names. */
typedef struct settings {
#define TEXT(name, preset, reloads, argument, text)      char name[SETTING_SIZE]; /* "" : none */
#define NUMBER(name, preset, least, most, reloads, text) int64_t name;
#define SWITCH(name, preset, reloads, text)              bool name;
#define CHOICE(name, preset, words, reloads, text)       int name; /* index of the word */
#include "settings.def"
} settings;

/* [generator NAME]: scheme, store, as, prefix, and every other key is the generator's;
 * [segment NAME]: store, and every other key is the range's. */
typedef struct named {
    bool is_segment;
    char name[NAME_SIZE], scheme[KEYS_SIZE], keys[KEYS_SIZE], store[SETTING_SIZE], form[24],
        prefix[66];
    char where[300]; /* file and line, for messages */
} named;

typedef struct config {
    settings set;
    named *names;
    size_t name_count;
    char file[SETTING_SIZE]; /* that was read, or "" */
    char caution[204];       /* what looks like a mistake and is none for certain, or "" */
    enum { RUN_SERVE, RUN_PRINT, RUN_CHECK, RUN_HELP, RUN_VERSION } run;
} config;

/* All three sources; the strings' bounds, numbers' bounds, names given twice and unknown words (the
 * nearest known one is named) are checked here, and so is that a public address has tokens.
 * FIRN_EUSAGE, FIRN_ERANGE, FIRN_EIO with file and line. */
int config_read(config *it, int count, char **words, firn_error *error);
/* The whole effective configuration as a firn.ini that can be read again, passwords of URLs and
 * tokens left out; and the help. */
void config_print(const config *it);
void config_help(void);
void config_free(config *it);
/* A section of it by its name; NULL: there is none. */
const named *config_find(const config *it, bool is_segment, const char *name);
/* A generator of it that holds the node which this one has by its keys, node= of the same scheme, store
 * and ns; NULL: there is none. */
const named *config_node_of(const config *it, const named *section);
/* Takes a copy as its last section. FIRN_EMEMORY. */
int config_keep(config *it, const named *section, firn_error *error);

/* The settings in force; those that reload change at once when a new table is put up. Any thread. */
const settings *settings_now(void);
/* FIRN_EMEMORY: the old ones stay. One thread puts. */
int settings_put(const settings *fresh, firn_error *error);

#endif
