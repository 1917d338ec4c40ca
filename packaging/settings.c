/* SPDX-License-Identifier: MIT */
/* The server's settings in its manual and in the sample of firn.ini. */
#include "../src/duration.h"
#include "pages.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* A row of server/settings/settings.def. */
typedef struct setting_line {
    const char *name;
    char letter;          /* of an option that is not a setting, or 0 */
    const char *argument; /* NULL: none */
    const char *preset;   /* NULL: none */
    int64_t least, most;  /* of a number or a duration; else 0 and 0 */
    bool is_switch, is_flag, reloads;
    const char *text;
    const char *unit; /* of a duration, or NULL */
} setting_line;

static const setting_line rows[] = {
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
#include "../server/settings/settings.def"
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* ---- the manual ----------------------------------------------------------------------------- */

static void put_head(FILE *page, const setting_line *row) {
    char flag[32];
    const option_name name = {.name = row->name};
    fputs(".It ", page);
    if (row->letter != 0) {
        fprintf(page, "Fl %c Ar %s , ", row->letter, row->argument);
    }
    fputs("Fl \\-", page);
    for (const char *position = option_flag(flag, &name); *position != '\0'; position++) {
        fputs(*position == '-' ? "\\-" : (char[]){*position, '\0'}, page);
    }
    if (row->argument != NULL) {
        fputs(" Ar ", page);
        put_argument(page, row->argument);
    }
    fputc('\n', page);
}

/* A limit of the row, with its unit. */
static const char *limit_of(char text[FIRN__DURATION_SIZE], const setting_line *row,
                            int64_t limit) {
    snprintf(text, FIRN__DURATION_SIZE, "%jd", (intmax_t)limit);
    return row->unit != NULL ? firn__duration_write(text, limit * firn__unit_us(row->unit)) : text;
}

static void put_flags(FILE *page) {
    fputs(".Bl -tag -width Ds\n", page);
    for (const setting_line *row = rows; row < rows + ROW_COUNT; row++) {
        if (row->is_flag) {
            put_head(page, row);
            put_text(page, row->text);
            fputs(".\n", page);
        }
    }
    fputs(".El\n", page);
}

/* Each with its default, its limits, and whether it needs a restart. */
static void put_settings(FILE *page) {
    fputs(".Bl -tag -width Ds\n", page);
    for (const setting_line *row = rows; row < rows + ROW_COUNT; row++) {
        if (row->is_flag) {
            continue;
        }
        put_head(page, row);
        put_text(page, row->text);
        fputs(".\n", page);
        char low[FIRN__DURATION_SIZE], high[FIRN__DURATION_SIZE];
        if (row->most > 0) {
            fprintf(page, "Range: %s to %s.\n", limit_of(low, row, row->least),
                    limit_of(high, row, row->most));
        }
        if (row->preset != NULL) {
            fputs("Default: ", page);
            put_text(page, row->preset);
            fputs(".\n", page);
        }
        if (!row->reloads) {
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
    for (const setting_line *row = rows; row < rows + ROW_COUNT; row++) {
        if (row->is_flag) {
            continue;
        }
        char text[600], low[FIRN__DURATION_SIZE], high[FIRN__DURATION_SIZE];
        const char *words =
            row->argument != NULL && strchr(row->argument, '|') ? row->argument : "";
        snprintf(text, sizeof text, "%s%s%s%s", row->text, words[0] != '\0' ? " (" : "", words,
                 words[0] != '\0' ? ")" : "");
        if (row->most > 0) {
            snprintf(text, sizeof text, "%s (%s to %s)", row->text, limit_of(low, row, row->least),
                     limit_of(high, row, row->most));
        }
        text[0] = (char)toupper((unsigned char)text[0]);
        put_comment(page, text);
        fprintf(page, "#%s =%s%s\n\n", row->name, row->preset != NULL ? " " : "",
                row->preset != NULL ? row->preset : "");
    }
}

const page_part setting_parts[] = {
    {"flags", put_flags},
    {"settings", put_settings},
    {"sample", put_sample},
    {NULL, NULL},
};
