/* SPDX-License-Identifier: MIT */
#include "setting.h"

#include "../src/duration.h"
#include "errors.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE(name) offsetof(server_settings, name)

const setting setting_table[SETTING_COUNT] = {
#define TEXT(name, preset, reloads, argument, text)                                                \
    [SETTING_##                                                                                    \
        name] = {#name, text, argument, SETTING_TEXT, reloads, PLACE(name), preset, 0, 0, NULL},
#define NUMBER(name, preset, least, most, reloads, text)                                           \
    [SETTING_##name] = {#name,       text,    "N",   SETTING_NUMBER, reloads,                      \
                        PLACE(name), #preset, least, most,           NULL},
#define DURATION(name, unit, preset, least, most, reloads, text)                                   \
    [SETTING_##                                                                                    \
        name] = {#name, text, "DURATION", SETTING_DURATION, reloads, PLACE(name##_##unit), preset, \
                 least, most, #unit},
#define SWITCH(name, preset, reloads, text)                                                        \
    [SETTING_##                                                                                    \
        name] = {#name, text, NULL, SETTING_SWITCH, reloads, PLACE(name), preset ? "yes" : "no",   \
                 0,     0,    NULL},
#define CHOICE(name, preset, words, reloads, text)                                                 \
    [SETTING_##                                                                                    \
        name] = {#name, text, words, SETTING_CHOICE, reloads, PLACE(name), preset, 0, 0, NULL},
#include "settings.def"
};

/* ---- names ---------------------------------------------------------------------------------- */

/* Are the `length` characters at `name` this one? - is _ as well. */
static bool is_named(const char *name, size_t length, const char *known) {
    size_t i = 0;
    while (i < length && known[i] != '\0' &&
           (name[i] == known[i] || (name[i] == '-' && known[i] == '_'))) {
        i++;
    }
    return i == length && known[i] == '\0';
}

const setting *setting_find(const char *name, size_t length) {
    for (const setting *row = setting_table; row < setting_table + SETTING_COUNT; row++) {
        if (is_named(name, length, row->name)) {
            return row;
        }
    }
    return NULL;
}

const setting *setting_renamed(const char *name, size_t length) {
    for (const setting *row = setting_table; row < setting_table + SETTING_COUNT; row++) {
        char old[64];
        snprintf(old, sizeof old, "%s_%s", row->name, row->unit != NULL ? row->unit : "");
        if (row->unit != NULL && is_named(name, length, old)) {
            return row;
        }
    }
    return NULL;
}

const char *setting_nearest(const char *name) {
    const char *names[SETTING_COUNT + 1];
    for (int i = 0; i < SETTING_COUNT; i++) {
        names[i] = setting_table[i].name;
    }
    names[SETTING_COUNT] = NULL;
    return firn_nearest(name, names);
}

/* ---- values --------------------------------------------------------------------------------- */

static char *text_at(const server_settings *all, const setting *row) {
    return (char *)all + row->place;
}

static int64_t *number_at(const server_settings *all, const setting *row) {
    return (int64_t *)(void *)((char *)all + row->place);
}

static int *choice_at(const server_settings *all, const setting *row) {
    return (int *)(void *)((char *)all + row->place);
}

static bool *switch_at(const server_settings *all, const setting *row) {
    return (bool *)((char *)all + row->place);
}

/* The error names the file and line, as for numbers. */
static int check_mode(const char *text, const char *where, firn_error *error) {
    bool right = strlen(text) >= 3 && strlen(text) <= 4 && text[strspn(text, "01234567")] == '\0' &&
                 strtol(text, NULL, 8) <= 0777;
    return right ? FIRN_OK
                 : set_error(error, FIRN_EUSAGE,
                             "%s: socket_mode = %.40s is not a file mode: use three octal digits, "
                             "such as 660",
                             where, text);
}

static int read_text(server_settings *all, const setting *row, const char *text, const char *where,
                     firn_error *error) {
    if (strlen(text) >= SETTING_SIZE) {
        return set_error(error, FIRN_EUSAGE, "%s: %s is longer than %d bytes: use a shorter value",
                         where, row->name, SETTING_SIZE - 1);
    }
    for (const char *position = text; *position != '\0'; position++) {
        if (iscntrl((unsigned char)*position)) {
            return set_error(error, FIRN_EUSAGE, "%s: %s has a control character: remove it", where,
                             row->name);
        }
    }
    if (row == &setting_table[SETTING_socket_mode] && check_mode(text, where, error) != FIRN_OK) {
        return error->code;
    }
    memset(text_at(all, row), 0, SETTING_SIZE); /* unused bytes are equal in equal values */
    memcpy(text_at(all, row), text, strlen(text));
    return FIRN_OK;
}

static int read_number(server_settings *all, const setting *row, const char *text,
                       const char *where, firn_error *error) {
    char *end;
    errno = 0;
    int64_t number = strtoll(text, &end, 10);
    if (text[strspn(text, "0123456789-")] != '\0' || end == text || *end != '\0') {
        return set_error(error, FIRN_EUSAGE,
                         "%.200s: %s = %.40s is not a number: use %" PRId64 "..%" PRId64, where,
                         row->name, text, row->least, row->most);
    }
    if (errno != 0 || number < row->least || number > row->most) {
        return set_error(error, FIRN_ERANGE,
                         "%.200s: %s = %.40s is out of range: use %" PRId64 "..%" PRId64, where,
                         row->name, text, row->least, row->most);
    }
    *number_at(all, row) = number;
    return FIRN_OK;
}

static int read_duration(server_settings *all, const setting *row, const char *text,
                         const char *where, firn_error *error) {
    char before[256];
    snprintf(before, sizeof before, "%.200s: %s = ", where, row->name);
    return firn__duration_set(number_at(all, row), before, text, row->unit, row->least, row->most,
                              error);
}

static int read_switch(server_settings *all, const setting *row, const char *text,
                       const char *where, firn_error *error) {
    static const char *const words[] = {"no", "yes", "off", "on", "false", "true", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i]) == 0) {
            *switch_at(all, row) = i % 2 != 0;
            return FIRN_OK;
        }
    }
    return set_error(error, FIRN_EUSAGE, "%.200s: %s = %.40s is not a switch: use yes or no", where,
                     row->name, text);
}

/* The i-th word of "a|b|c" and its length; NULL past the last. */
static const char *word_of(const char *words, int i, size_t *length) {
    for (; i > 0; i--) {
        words += strcspn(words, "|");
        if (*words++ == '\0') {
            return NULL;
        }
    }
    *length = strcspn(words, "|");
    return words;
}

static int read_choice(server_settings *all, const setting *row, const char *text,
                       const char *where, firn_error *error) {
    size_t length;
    const char *found;
    for (int i = 0; (found = word_of(row->argument, i, &length)) != NULL; i++) {
        if (strlen(text) == length && memcmp(text, found, length) == 0) {
            *choice_at(all, row) = i;
            return FIRN_OK;
        }
    }
    return set_error(error, FIRN_EUSAGE, "%.200s: %s = %.40s is unknown: use one of %s", where,
                     row->name, text, row->argument);
}

int setting_read(server_settings *all, const setting *row, const char *text, const char *where,
                 firn_error *error) {
    static int (*const readers[])(server_settings *, const setting *, const char *, const char *,
                                  firn_error *) = {
        [SETTING_TEXT] = read_text,         [SETTING_NUMBER] = read_number,
        [SETTING_DURATION] = read_duration, [SETTING_SWITCH] = read_switch,
        [SETTING_CHOICE] = read_choice,
    };
    return readers[row->kind](all, row, text, where, error);
}

void setting_write(char text[VALUE_TEXT_SIZE], const server_settings *all, const setting *row) {
    size_t length = 0;
    const char *found;
    switch (row->kind) {
    case SETTING_TEXT:
        snprintf(text, VALUE_TEXT_SIZE, "%s", text_at(all, row));
        break;
    case SETTING_NUMBER:
        snprintf(text, VALUE_TEXT_SIZE, "%" PRId64, *number_at(all, row));
        break;
    case SETTING_DURATION:
        firn__duration_write(text, *number_at(all, row) * firn__unit_us(row->unit));
        break;
    case SETTING_SWITCH:
        snprintf(text, VALUE_TEXT_SIZE, "%s", *switch_at(all, row) ? "yes" : "no");
        break;
    case SETTING_CHOICE:
        found = word_of(row->argument, *choice_at(all, row), &length);
        snprintf(text, VALUE_TEXT_SIZE, "%.*s", (int)length, found);
        break;
    }
}

static size_t size_of(const setting *row) {
    static const size_t sizes[] = {[SETTING_TEXT] = SETTING_SIZE,
                                   [SETTING_NUMBER] = sizeof(int64_t),
                                   [SETTING_DURATION] = sizeof(int64_t),
                                   [SETTING_SWITCH] = sizeof(bool),
                                   [SETTING_CHOICE] = sizeof(int)};
    return sizes[row->kind];
}

bool setting_same(const server_settings *a, const server_settings *b, const setting *row) {
    return memcmp((const char *)a + row->place, (const char *)b + row->place, size_of(row)) == 0;
}

void setting_copy(server_settings *to, const server_settings *from, const setting *row) {
    memcpy((char *)to + row->place, (const char *)from + row->place, size_of(row));
}

/* ---- all of them ---------------------------------------------------------------------------- */

void settings_preset(server_settings *all) {
    memset(all, 0, sizeof *all);
    for (const setting *row = setting_table; row < setting_table + SETTING_COUNT; row++) {
        firn_error error;
        if (row->preset != NULL &&
            setting_read(all, row, row->preset, "preset", &error) != FIRN_OK) {
            abort(); /* settings.def has an invalid entry */
        }
    }
}

/* A replaced table is never freed, because threads may still read it: one leaks for each reload
 * that changes something. */
typedef struct table {
    server_settings set;
    struct table *before;
} table;

static table initial;
static table *_Atomic in_force = &initial;

bool settings_authenticate(const server_settings *set) {
    return set->tokens[0] != '\0' || set->tls_client_ca[0] != '\0';
}

const server_settings *settings_now(void) {
    return &atomic_load_explicit(&in_force, memory_order_acquire)->set;
}

int settings_put(const server_settings *fresh, firn_error *error) {
    table *next = malloc(sizeof *next);
    if (next == NULL) {
        return out_of_memory(error);
    }
    next->set = *fresh;
    next->before = atomic_load_explicit(&in_force, memory_order_seq_cst);
    atomic_store_explicit(&in_force, next, memory_order_release);
    return FIRN_OK;
}
