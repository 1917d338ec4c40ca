/* SPDX-License-Identifier: MIT */
/* settings.def as a table at run time: reads values from text, writes them as text. The sources of
 * the values are in config.c and config_file.c. */
#ifndef FIRN_SETTING_H
#define FIRN_SETTING_H

#include <firn/firn.h>

#include <stddef.h>

#define SETTING_SIZE 1024

/* Each setting is a member. */
typedef struct server_settings {
#define TEXT(name, preset, reloads, argument, text)              char name[SETTING_SIZE]; /* "": not set */
#define NUMBER(name, preset, least, most, reloads, text)         int64_t name;
#define DURATION(name, unit, preset, least, most, reloads, text) int64_t name##_##unit;
#define SWITCH(name, preset, reloads, text)                      bool name;
#define CHOICE(name, preset, words, reloads, text)               int name; /* index of the word */
#include "settings.def"
} server_settings;

/* A text that is not set, as NULL. */
static inline const char *or_null(const char *text) {
    return text[0] != '\0' ? text : NULL;
}

enum setting_kind {
    SETTING_TEXT,
    SETTING_NUMBER,
    SETTING_DURATION,
    SETTING_SWITCH,
    SETTING_CHOICE
};

typedef struct setting {
    const char *name, *text;
    const char *argument; /* as --help prints it; NULL: a switch */
    enum setting_kind kind;
    bool reloads;
    size_t place;        /* offset in struct settings */
    const char *preset;  /* as text; NULL: not set */
    int64_t least, most; /* for numbers, and durations in `unit` */
    const char *unit;    /* of a duration: "ms" or "s" */
} setting;

enum {
#define TEXT(name, preset, reloads, argument, text)              SETTING_##name,
#define NUMBER(name, preset, least, most, reloads, text)         SETTING_##name,
#define DURATION(name, unit, preset, least, most, reloads, text) SETTING_##name,
#define SWITCH(name, preset, reloads, text)                      SETTING_##name,
#define CHOICE(name, preset, words, reloads, text)               SETTING_##name,
#include "settings.def"
    SETTING_COUNT
};

enum { VALUE_TEXT_SIZE = SETTING_SIZE }; /* longest value as text */

extern const setting setting_table[SETTING_COUNT];

/* NULL: unknown. - and _ are equal; letter case counts. */
const setting *setting_find(const char *name, size_t length);
/* The duration that was a number of this name, such as idle_s, or NULL. */
const setting *setting_renamed(const char *name, size_t length);
/* The known name nearest to a wrong one, or NULL. */
const char *setting_nearest(const char *name);

void settings_preset(server_settings *all);
/* `where` precedes the error, such as "firn.ini:3". FIRN_EUSAGE, FIRN_ERANGE. */
int setting_read(server_settings *all, const setting *row, const char *text, const char *where,
                 firn_error *error);
/* The value as it would be in the file. */
void setting_write(char text[VALUE_TEXT_SIZE], const server_settings *all, const setting *row);
bool setting_same(const server_settings *a, const server_settings *b, const setting *row);
/* Copies one value. */
void setting_copy(server_settings *to, const server_settings *from, const setting *row);

/* Do TCP clients need a token or a certificate? */
bool settings_authenticate(const server_settings *set);

/* The current settings, which change at once when a new table is installed. Any thread. */
const server_settings *settings_now(void);
/* Installs a table. FIRN_EMEMORY: the old one stays. One thread at a time. */
int settings_put(const server_settings *fresh, firn_error *error);

#endif
