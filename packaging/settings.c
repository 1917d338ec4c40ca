/* SPDX-License-Identifier: MIT */
/* The server's settings in its manual and in the sample of firn.ini. */
#include "../src/duration.h"
#include "pages.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* A row of server/config/settings.def. */
typedef struct row {
    const char *name;
    char letter;          /* of an option that is not a setting, or 0 */
    const char *argument; /* NULL: none */
    const char *preset;   /* NULL: none */
    int64_t least, most;  /* of a number or a duration; else 0 and 0 */
    bool is_switch, is_flag, reloads;
    const char *text;
    const char *unit; /* of a duration, or NULL */
} row;

static const row rows[] = {
#define FLAG(name, letter, argument, text)                                                         \
    {#name, letter, argument, NULL, 0, 0, false, true, false, text, NULL},
#define TEXT(name, preset, reloads, argument, text)                                                \
    {#name, 0, argument, preset, 0, 0, false, false, reloads, text, NULL},
#define NUMBER(name, preset, least, most, reloads, text)                                           \
    {#name, 0, "N", #preset, least, most, false, false, reloads, text, NULL},
#define DURATION(name, unit, preset, least, most, reloads, text)                                   \
    {#name, 0, "DURATION", preset, least, most, false, false, reloads, text, #unit},
#define SWITCH(name, preset, reloads, text)                                                        \
    {#name, 0, NULL, preset ? "yes" : "no", 0, 0, true, false, reloads, text, NULL},
#define CHOICE(name, preset, words, reloads, text)                                                 \
    {#name, 0, words, preset, 0, 0, false, false, reloads, text, NULL},
#include "../server/config/settings.def"
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* ---- the manual ----------------------------------------------------------------------------- */

static void put_head(FILE *page, const row *it) {
    char flag[32];
    const option_name name = {.name = it->name};
    fputs(".It ", page);
    if (it->letter != 0) {
        fprintf(page, "Fl %c Ar %s , ", it->letter, it->argument);
    }
    fputs("Fl \\-", page);
    for (const char *at = option_flag(flag, &name); *at != '\0'; at++) {
        fputs(*at == '-' ? "\\-" : (char[]){*at, '\0'}, page);
    }
    if (it->argument != NULL) {
        fputs(" Ar ", page);
        put_argument(page, it->argument);
    }
    fputc('\n', page);
}

/* A limit of the row, with its unit. */
static const char *limit_of(char text[FIRN__DURATION_SIZE], const row *it, int64_t limit) {
    snprintf(text, FIRN__DURATION_SIZE, "%jd", (intmax_t)limit);
    return it->unit != NULL ? firn__duration_write(text, limit * firn__unit_us(it->unit)) : text;
}

static void put_flags(FILE *page) {
    fputs(".Bl -tag -width Ds\n", page);
    for (const row *at = rows; at < rows + ROW_COUNT; at++) {
        if (at->is_flag) {
            put_head(page, at);
            put_text(page, at->text);
            fputs(".\n", page);
        }
    }
    fputs(".El\n", page);
}

/* Each with its default, its limits, and whether it needs a restart. */
static void put_settings(FILE *page) {
    fputs(".Bl -tag -width Ds\n", page);
    for (const row *at = rows; at < rows + ROW_COUNT; at++) {
        if (at->is_flag) {
            continue;
        }
        put_head(page, at);
        put_text(page, at->text);
        fputs(".\n", page);
        char low[FIRN__DURATION_SIZE], high[FIRN__DURATION_SIZE];
        if (at->most > 0) {
            fprintf(page, "Range: %s to %s.\n", limit_of(low, at, at->least),
                    limit_of(high, at, at->most));
        }
        if (at->preset != NULL) {
            fputs("Default: ", page);
            put_text(page, at->preset);
            fputs(".\n", page);
        }
        if (!at->reloads) {
            fputs("Needs a restart.\n", page);
        }
    }
    fputs(".El\n", page);
}

/* ---- the sample ----------------------------------------------------------------------------- */

/* A comment of at most 78 bytes a line. */
static void put_comment(FILE *page, const char *text) {
    size_t used = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (used > 0 && used + 1 + length > 76) {
            fputc('\n', page);
            used = 0;
        }
        fputs(used == 0 ? "#" : "", page);
        fprintf(page, " %.*s", (int)length, text);
        used += 1 + length;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', page);
}

static void put_sample(FILE *page) {
    for (const row *at = rows; at < rows + ROW_COUNT; at++) {
        if (at->is_flag) {
            continue;
        }
        char text[600], low[FIRN__DURATION_SIZE], high[FIRN__DURATION_SIZE];
        const char *words = at->argument != NULL && strchr(at->argument, '|') ? at->argument : "";
        snprintf(text, sizeof text, "%s%s%s%s", at->text, words[0] != '\0' ? " (" : "", words,
                 words[0] != '\0' ? ")" : "");
        if (at->most > 0) {
            snprintf(text, sizeof text, "%s (%s to %s)", at->text, limit_of(low, at, at->least),
                     limit_of(high, at, at->most));
        }
        text[0] = (char)toupper((unsigned char)text[0]);
        put_comment(page, text);
        fprintf(page, "#%s =%s%s\n\n", at->name, at->preset != NULL ? " " : "",
                at->preset != NULL ? at->preset : "");
    }
}

const part setting_parts[] = {
    {"flags", put_flags},
    {"settings", put_settings},
    {"sample", put_sample},
    {NULL, NULL},
};
