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

#define PLACE(name) offsetof(settings, name)

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
    for (const setting *at = setting_table; at < setting_table + SETTING_COUNT; at++) {
        if (is_named(name, length, at->name)) {
            return at;
        }
    }
    return NULL;
}

const setting *setting_renamed(const char *name, size_t length) {
    for (const setting *at = setting_table; at < setting_table + SETTING_COUNT; at++) {
        char old[64];
        snprintf(old, sizeof old, "%s_%s", at->name, at->unit != NULL ? at->unit : "");
        if (at->unit != NULL && is_named(name, length, old)) {
            return at;
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

static char *text_at(const settings *all, const setting *it) {
    return (char *)all + it->place;
}

static int64_t *number_at(const settings *all, const setting *it) {
    return (int64_t *)(void *)((char *)all + it->place);
}

static int *choice_at(const settings *all, const setting *it) {
    return (int *)(void *)((char *)all + it->place);
}

static bool *switch_at(const settings *all, const setting *it) {
    return (bool *)((char *)all + it->place);
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

static int read_text(settings *all, const setting *it, const char *text, const char *where,
                     firn_error *error) {
    if (strlen(text) >= SETTING_SIZE) {
        return set_error(error, FIRN_EUSAGE, "%s: %s is longer than %d bytes: use a shorter value",
                         where, it->name, SETTING_SIZE - 1);
    }
    for (const char *at = text; *at != '\0'; at++) {
        if (iscntrl((unsigned char)*at)) {
            return set_error(error, FIRN_EUSAGE, "%s: %s has a control character: remove it", where,
                             it->name);
        }
    }
    if (it == &setting_table[SETTING_socket_mode] && check_mode(text, where, error) != FIRN_OK) {
        return error->code;
    }
    memset(text_at(all, it), 0, SETTING_SIZE); /* unused bytes are equal in equal values */
    memcpy(text_at(all, it), text, strlen(text));
    return FIRN_OK;
}

static int read_number(settings *all, const setting *it, const char *text, const char *where,
                       firn_error *error) {
    char *end;
    errno = 0;
    int64_t number = strtoll(text, &end, 10);
    if (text[strspn(text, "0123456789-")] != '\0' || end == text || *end != '\0') {
        return set_error(error, FIRN_EUSAGE,
                         "%.200s: %s = %.40s is not a number: use %" PRId64 "..%" PRId64, where,
                         it->name, text, it->least, it->most);
    }
    if (errno != 0 || number < it->least || number > it->most) {
        return set_error(error, FIRN_ERANGE,
                         "%.200s: %s = %.40s is out of range: use %" PRId64 "..%" PRId64, where,
                         it->name, text, it->least, it->most);
    }
    *number_at(all, it) = number;
    return FIRN_OK;
}

static int read_duration(settings *all, const setting *it, const char *text, const char *where,
                         firn_error *error) {
    char before[256];
    snprintf(before, sizeof before, "%.200s: %s = ", where, it->name);
    return firn__duration_set(number_at(all, it), before, text, it->unit, it->least, it->most,
                              error);
}

static int read_switch(settings *all, const setting *it, const char *text, const char *where,
                       firn_error *error) {
    static const char *const words[] = {"no", "yes", "off", "on", "false", "true", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i]) == 0) {
            *switch_at(all, it) = i % 2 != 0;
            return FIRN_OK;
        }
    }
    return set_error(error, FIRN_EUSAGE, "%.200s: %s = %.40s is not a switch: use yes or no", where,
                     it->name, text);
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

static int read_choice(settings *all, const setting *it, const char *text, const char *where,
                       firn_error *error) {
    size_t length;
    const char *found;
    for (int i = 0; (found = word_of(it->argument, i, &length)) != NULL; i++) {
        if (strlen(text) == length && memcmp(text, found, length) == 0) {
            *choice_at(all, it) = i;
            return FIRN_OK;
        }
    }
    return set_error(error, FIRN_EUSAGE, "%.200s: %s = %.40s is unknown: use one of %s", where,
                     it->name, text, it->argument);
}

int setting_read(settings *all, const setting *it, const char *text, const char *where,
                 firn_error *error) {
    static int (*const readers[])(settings *, const setting *, const char *, const char *,
                                  firn_error *) = {
        [SETTING_TEXT] = read_text,         [SETTING_NUMBER] = read_number,
        [SETTING_DURATION] = read_duration, [SETTING_SWITCH] = read_switch,
        [SETTING_CHOICE] = read_choice,
    };
    return readers[it->kind](all, it, text, where, error);
}

void setting_write(char text[VALUE_TEXT_SIZE], const settings *all, const setting *it) {
    size_t length = 0;
    const char *found;
    switch (it->kind) {
    case SETTING_TEXT:
        snprintf(text, VALUE_TEXT_SIZE, "%s", text_at(all, it));
        break;
    case SETTING_NUMBER:
        snprintf(text, VALUE_TEXT_SIZE, "%" PRId64, *number_at(all, it));
        break;
    case SETTING_DURATION:
        firn__duration_write(text, *number_at(all, it) * firn__unit_us(it->unit));
        break;
    case SETTING_SWITCH:
        snprintf(text, VALUE_TEXT_SIZE, "%s", *switch_at(all, it) ? "yes" : "no");
        break;
    case SETTING_CHOICE:
        found = word_of(it->argument, *choice_at(all, it), &length);
        snprintf(text, VALUE_TEXT_SIZE, "%.*s", (int)length, found);
        break;
    }
}

static size_t size_of(const setting *it) {
    static const size_t sizes[] = {[SETTING_TEXT] = SETTING_SIZE,
                                   [SETTING_NUMBER] = sizeof(int64_t),
                                   [SETTING_DURATION] = sizeof(int64_t),
                                   [SETTING_SWITCH] = sizeof(bool),
                                   [SETTING_CHOICE] = sizeof(int)};
    return sizes[it->kind];
}

bool setting_same(const settings *a, const settings *b, const setting *it) {
    return memcmp((const char *)a + it->place, (const char *)b + it->place, size_of(it)) == 0;
}

void setting_copy(settings *to, const settings *from, const setting *it) {
    memcpy((char *)to + it->place, (const char *)from + it->place, size_of(it));
}

/* ---- all of them ---------------------------------------------------------------------------- */

void settings_preset(settings *all) {
    memset(all, 0, sizeof *all);
    for (const setting *at = setting_table; at < setting_table + SETTING_COUNT; at++) {
        firn_error error;
        if (at->preset != NULL && setting_read(all, at, at->preset, "preset", &error) != FIRN_OK) {
            abort(); /* settings.def has an invalid entry */
        }
    }
}

/* A replaced table is never freed, because threads may still read it: one leaks for each reload
 * that changes something. */
typedef struct table {
    settings set;
    struct table *before;
} table;

static table initial;
static table *_Atomic in_force = &initial;

bool settings_authenticate(const settings *set) {
    return set->tokens[0] != '\0' || set->tls_client_ca[0] != '\0';
}

const settings *settings_now(void) {
    return &atomic_load_explicit(&in_force, memory_order_acquire)->set;
}

int settings_put(const settings *fresh, firn_error *error) {
    table *next = malloc(sizeof *next);
    if (next == NULL) {
        return out_of_memory(error);
    }
    next->set = *fresh;
    next->before = atomic_load_explicit(&in_force, memory_order_seq_cst);
    atomic_store_explicit(&in_force, next, memory_order_release);
    return FIRN_OK;
}
