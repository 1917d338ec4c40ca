/* SPDX-License-Identifier: MIT */
/* The words of a subcommand: operands, options and settings. Every setting is an option too, and
 * every option a setting: `--name value`, `--name=value` and `name=value` mean the same. What the
 * words mean is in the file of the subcommand. */
#include "command.h"
#include "numbers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS_MOST 64 /* of a subcommand, for hints */

const option_name option_names[OPTION_END] = {
#define OPTION(id, name, letter, argument) [OPTION_##id] = {name, letter, argument},
#include "commands.def"
};

char *option_flag(char flag[32], const option_name *name) {
    snprintf(flag, 32, "%s", name->name);
    for (char *position = flag; *position != '\0'; position++) {
        *position = *position == '_' ? '-' : *position;
    }
    return flag;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Is `name` the `length` characters at `word`? - and _ are the same. */
static bool is_named(const char *word, size_t length, const char *name) {
    for (size_t i = 0; i < length; i++) {
        if ((word[i] == '-' ? '_' : word[i]) != (name[i] == '-' ? '_' : name[i])) {
            return false;
        }
    }
    return name[length] == '\0';
}

/* The option of the subcommand, or OPTION_END. */
static int find_option(const command *about, const char *word, size_t length) {
    for (const option_text *option = command_options(about); option->option != OPTION_END;
         option++) {
        if (is_named(word, length, option_names[option->option].name)) {
            return option->option;
        }
    }
    return OPTION_END;
}

static int find_letter(const command *about, char letter) {
    for (const option_text *option = command_options(about); option->option != OPTION_END;
         option++) {
        if (letter != '\0' && option_names[option->option].letter == letter) {
            return option->option;
        }
    }
    return OPTION_END;
}

static bool has_setting(const command *about, const char *word, size_t length) {
    for (const key_text *key = command_keys(about); key->name != NULL; key++) {
        if (is_named(word, length, key->name)) {
            return true;
        }
    }
    return false;
}

/* Does the subcommand take names that its list does not have: fields, or the settings of another
 * one? */
static bool takes_fields(const command *about) {
    return has_setting(about, "FIELD", strlen("FIELD")) || has_setting(about, "KEY", strlen("KEY"));
}

static bool is_field(const char *name) {
    const firn_scheme *scheme;
    for (size_t i = 0; (scheme = firn_scheme_at(i)) != NULL; i++) {
        if (firn_scheme_field(scheme, name) >= 0) {
            return true;
        }
    }
    return false;
}

/* Is it a setting that the subcommand lists, or a field of a scheme? */
static bool takes_setting(const command *about, const char *word, size_t length) {
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    return has_setting(about, word, length) || (takes_fields(about) && is_field(name));
}

/* ---- values --------------------------------------------------------------------------------- */

static int set_option(session *s, int option, const char *value) {
    const option_name *name = &option_names[option];
    if (option == OPTION_FIELD && s->field_count < COMMAND_FIELDS) {
        s->fields[s->field_count++] = value;
    } else if (s->option[option] != NULL && name->argument != NULL) {
        return fail_usage(s, "--%s is given twice: give it once", name->name);
    }
    s->option[option] = value;
    return STATUS_DONE;
}

/* An option without an argument, as --json=yes or json=1. */
static int set_flag(session *s, int option, const char *value) {
    static const char *const yes[] = {"1", "yes", "true"}, *const no[] = {"0", "no", "false"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        if (strcmp(value, yes[i]) == 0) {
            return set_option(s, option, "");
        }
        if (strcmp(value, no[i]) == 0) {
            return STATUS_DONE;
        }
    }
    return fail_usage(s, "--%s is yes or no, not '%.40s': write --%s alone for yes",
                      option_names[option].name, value, option_names[option].name);
}

static int set_value(session *s, int option, const char *value) {
    return option_names[option].argument != NULL ? set_option(s, option, value)
                                                 : set_flag(s, option, value);
}

static int needs_value(session *s, const char *word, int option) {
    return fail_usage(s, "%s needs a value: --%s %s", word, option_names[option].name,
                      option_names[option].argument);
}

/* Adds the operand NAME=VALUE to the session, whose text goes to `s->texts`. */
static void add_setting(session *s, const char *name, size_t length, const char *value) {
    char *text = s->texts;
    s->operands[s->operand_count++] = text;
    for (size_t i = 0; i < length; i++) {
        *text++ = name[i] == '-' ? '_' : name[i];
    }
    s->texts += sprintf(text, "=%s", value) + (int)length + 1;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Adds an operand before the settings, so that these can come first: --node 3 snowflake. */
static void add_word(session *s, char *word) {
    char **place = s->operands + s->word_count;
    memmove(place + 1, place, (s->operand_count - s->word_count) * sizeof *place);
    *place = word;
    s->word_count++;
    s->operand_count++;
}

/* A word without dashes: an option or a setting as name=value, or an operand. */
static int take_plain(session *s, char *word) {
    const size_t length = strcspn(word, "=");
    const bool valued = word[length] == '=' && length > 0;
    if (valued && takes_setting(s->command, word, length)) {
        add_setting(s, word, length, word + length + 1);
        return STATUS_DONE;
    }
    const int option = valued ? find_option(s->command, word, length) : OPTION_END;
    if (option != OPTION_END) {
        return set_value(s, option, word + length + 1);
    }
    if (valued && s->word_count > 0 && takes_fields(s->command)) { /* the layout may have it */
        s->operands[s->operand_count++] = word;
    } else {
        add_word(s, word);
    }
    return STATUS_DONE;
}

static int unknown_option(session *s, const char *word) {
    const char *names[OPTION_END + SETTINGS_MOST + 1];
    char bare[32];
    size_t count = 0;
    for (const option_text *option = command_options(s->command); option->option != OPTION_END;
         option++) {
        names[count++] = option_names[option->option].name;
    }
    for (const key_text *key = command_keys(s->command);
         key->name != NULL && count < OPTION_END + SETTINGS_MOST; key++) {
        names[count++] = key->name;
    }
    names[count] = NULL;
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + strspn(word, "-"), "="),
             word + strspn(word, "-"));
    if (bare[0] != '\0' && bare[1] == '\0' && find_letter(s->command, bare[0]) != OPTION_END) {
        return fail_usage(s, "%s has no option '%s': did you mean `-%s`?", s->command->name, word,
                          bare);
    }
    const char *near = word[1] == '-' ? firn_nearest(bare, names) : NULL;
    if (near != NULL) {
        return fail_usage(s, "%s has no option '%s': did you mean `--%s`?", s->command->name, word,
                          near);
    }
    const bool dashed = word[1] != '-' && strstr(s->command->operands, "ID") != NULL; /* pushid */
    return fail_usage(s, "%s has no option '%s': see firn %s --help%s", s->command->name, word,
                      s->command->name,
                      dashed ? ", and write -- before an ID that begins with -" : "");
}

/* --name, --name=value or --name value. *next, the word after it, becomes NULL if it is used. */
static int take_long(session *s, const char *word, char **next) {
    const char *name = word + 2;
    const size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const int option = find_option(s->command, name, length);
    if (option != OPTION_END && value != NULL) {
        return set_value(s, option, value);
    }
    if (option != OPTION_END && option_names[option].argument == NULL) {
        return set_option(s, option, "");
    }
    char bare[32];
    snprintf(bare, sizeof bare, "%.*s", (int)length, name);
    const bool field = takes_fields(s->command) && (value != NULL || is_field(bare));
    if (option == OPTION_END && !field && !has_setting(s->command, name, length)) {
        return unknown_option(s, word);
    }
    if (value == NULL && *next == NULL) {
        return option != OPTION_END
                   ? needs_value(s, word, option)
                   : fail_usage(s, "%s needs a value: see firn %s --help", word, s->command->name);
    }
    value = value != NULL ? value : *next;
    *next = value == *next ? NULL : *next;
    if (option != OPTION_END) {
        return set_option(s, option, value);
    }
    add_setting(s, name, length, value);
    return STATUS_DONE;
}

/* -n 3, -n3, -q, or several letters in one word. */
static int take_letters(session *s, const char *word, char **next) {
    for (const char *position = word + 1; *position != '\0'; position++) {
        const int option = find_letter(s->command, *position);
        if (option == OPTION_END) {
            const char letter[] = {'-', *position, '\0'};
            return unknown_option(s, letter);
        }
        if (option_names[option].argument != NULL) {
            const char *value = position[1] != '\0' ? position + 1 : *next;
            *next = position[1] != '\0' ? *next : NULL;
            return value != NULL ? set_option(s, option, value) : needs_value(s, word, option);
        }
        (void)set_option(s, option, "");
    }
    return STATUS_DONE;
}

/* Room for the operands, and after them for the texts of settings that were given as two words. */
static bool make_room(session *s, int count, char **words) {
    size_t size = ((size_t)count + 1) * sizeof *s->operands;
    for (int i = 0; i < count; i++) {
        size += strlen(words[i]) + 1;
    }
    s->operands = calloc(1, size);
    s->texts = s->operands != NULL ? (char *)(s->operands + count + 1) : NULL;
    return s->operands != NULL;
}

int command_parse(session *s, int count, char **words) {
    if (!make_room(s, count, words)) {
        firn_error error;
        out_of_memory(&error);
        return fail(s, &error);
    }
    int status = STATUS_DONE;
    bool plain = false; /* after -- */
    for (int i = 1; i < count && status == STATUS_DONE; i++) {
        char *word = words[i], *next = i + 1 < count ? words[i + 1] : NULL;
        const bool had_next = next != NULL;
        if (plain) {
            add_word(s, word);
        } else if (word[0] != '-' || word[1] == '\0' || (word[1] >= '0' && word[1] <= '9')) {
            status = take_plain(s, word); /* a negative decimal is an ID: no option is a digit */
        } else if (strcmp(word, "--") == 0) {
            plain = true;
        } else {
            status = word[1] == '-' ? take_long(s, word, &next) : take_letters(s, word, &next);
            i += had_next && next == NULL ? 1 : 0;
        }
    }
    return status;
}

int command_count(session *s, int64_t initial, int64_t *count) {
    const char *text = s->option[OPTION_COUNT], *rest;
    uint64_t number;
    if (text == NULL) {
        *count = initial;
        return STATUS_DONE;
    }
    if (!number_whole(&number, text)) { /* 1e6, 50k, 1M */
        const double amount = number_amount(text, "kMG", &rest);
        const bool whole =
            *rest == '\0' && amount >= 1 && amount <= 1e15 && (double)(uint64_t)amount == amount;
        number = whole ? (uint64_t)amount : UINT64_MAX;
    }
    if (number > INT64_MAX) {
        return fail_usage(s,
                          "-n %.40s is not valid: use a number from 0 to %" PRId64
                          ", such as 1000, 50k or 1e6",
                          text, INT64_MAX);
    }
    *count = (int64_t)number;
    return STATUS_DONE;
}
