/* SPDX-License-Identifier: MIT */
/* The settings as a table at run time: settings.def expanded, with values read from text and
 * written as text. Knows no file, environment or flag: those are config.c and config_file.c. */
#ifndef FIRN_SETTING_H
#define FIRN_SETTING_H

#include <firn/firn.h>

#include <stddef.h>

#define SETTING_SIZE 1024

/* The settings, in members of their names. */
typedef struct settings {
#define TEXT(name, preset, reloads, argument, text)      char name[SETTING_SIZE]; /* "" : none */
#define NUMBER(name, preset, least, most, reloads, text) int64_t name;
#define SWITCH(name, preset, reloads, text)              bool name;
#define CHOICE(name, preset, words, reloads, text)       int name; /* index of the word */
#include "settings.def"
} settings;

enum setting_kind { SETTING_TEXT, SETTING_NUMBER, SETTING_SWITCH, SETTING_CHOICE };

typedef struct setting {
    const char *name, *text;
    const char *argument; /* as --help shows it; NULL: a switch, which needs none */
    enum setting_kind kind;
    bool reloads;
    size_t place;        /* in struct settings */
    const char *preset;  /* as text; NULL: none */
    int64_t least, most; /* of numbers */
} setting;

enum {
#define TEXT(name, preset, reloads, argument, text)      SETTING_##name,
#define NUMBER(name, preset, least, most, reloads, text) SETTING_##name,
#define SWITCH(name, preset, reloads, text)              SETTING_##name,
#define CHOICE(name, preset, words, reloads, text)       SETTING_##name,
#include "settings.def"
    SETTING_COUNT
};

enum { VALUE_TEXT_SIZE = SETTING_SIZE }; /* of any setting's value as text */

extern const setting setting_table[SETTING_COUNT];

/* By its name, in which - and _ are the same and letter case counts; NULL. */
const setting *setting_find(const char *name, size_t length);
/* The known name nearest to a wrong one, or NULL. */
const char *setting_nearest(const char *name);

void settings_preset(settings *all);
/* `where` is in front of a failure, as "firn.ini:3". FIRN_EUSAGE, FIRN_ERANGE. */
int setting_read(settings *all, const setting *it, const char *text, const char *where,
                 firn_error *error);
/* The value as a file has it. */
void setting_write(char text[VALUE_TEXT_SIZE], const settings *all, const setting *it);
bool setting_same(const settings *a, const settings *b, const setting *it);
/* One value from `from`. */
void setting_copy(settings *to, const settings *from, const setting *it);

/* The settings in force; those that reload change at once when a new table is put up. Any thread. */
const settings *settings_now(void);
/* FIRN_EMEMORY: the old ones stay. One thread puts. */
int settings_put(const settings *fresh, firn_error *error);

#endif
