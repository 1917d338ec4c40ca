/* SPDX-License-Identifier: MIT */
/* The list of subcommands expanded: dispatch, option parsing over getopt_long, help. What a
 * subcommand does is in the file of its name. */
#include "command.h"
#include "numbers.h"

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const option_name option_names[OPTION_END] = {
#define OPTION(id, name, letter, argument) [OPTION_##id] = {name, letter, argument},
#include "commands.def"
};

#define COMMAND(id, operands, summary) static const option_text options_##id[] = {
#define TAKES(option, text)            {OPTION_##option, text},
#define END(id)                                                                                    \
    {OPTION_HELP, "this text"}, {                                                                  \
        OPTION_END, NULL                                                                           \
    }                                                                                              \
    }                                                                                              \
    ;
#include "commands.def"

#define COMMAND(id, operands, summary) static const key_text keys_##id[] = {
#define KEY(name, value, text)         {name, value, text},
#define END(id)                                                                                    \
    { NULL, NULL, NULL }                                                                           \
    }                                                                                              \
    ;
#include "commands.def"

const command commands[] = {
#define ENTRY(id, operands, summary, verbatim)                                                     \
    {#id, operands, summary, run_##id, options_##id, keys_##id, verbatim},
#define COMMAND(id, operands, summary)  ENTRY(id, operands, summary, false)
#define VERBATIM(id, operands, summary) ENTRY(id, operands, summary, true)
#include "commands.def"
#undef ENTRY
    {NULL, NULL, NULL, NULL, NULL, NULL, false},
};

const command *command_find(const char *name) {
    for (const command *at = commands; at->name != NULL; at++) {
        if (strcmp(at->name, name) == 0) {
            return at;
        }
    }
    return NULL;
}

int command_unknown(session *s, const char *word) {
    const char *names[32];
    firn_reading readings[FIRN_READINGS_MAX];
    size_t count = 0;
    for (const command *at = commands; at->name != NULL && count < 31; at++) {
        names[count++] = at->name;
    }
    names[count] = NULL;
    const char *near = firn_nearest(word, names);
    const char *before = firn_scheme_find(word) != NULL                      ? "new "
                         : firn_guess(readings, word, strlen(word), -1) != 0 ? "show "
                                                                             : "";
    if (near == NULL && before[0] == '\0') {
        return fail_usage(s, "there is no command '%.60s': firn help lists the commands", word);
    }
    return fail_usage(s, "there is no command '%.60s': did you mean `firn %s%.60s`?", word, before,
                      before[0] != '\0' ? word : near);
}

/* ---- help ----------------------------------------------------------------------------------- */

void command_list(session *s) {
    output_text(
        &s->out,
        "usage: firn COMMAND ...\n\nGenerate, read and convert IDs for distributed systems.\n\n");
    for (const command *at = commands; at->name != NULL; at++) {
        output_print(&s->out, "  %-8s  %s\n", at->name, at->summary);
    }
    output_text(&s->out,
                "\n"
                "SCHEME is a kind of ID from `firn schemes`, such as snowflake, or a layout such\n"
                "as \"time:41/ms@@2024-01-01 node:10 sequence:12\". TIME is RFC 3339, such as\n"
                "2024-02-29T12:00:00Z, a date, or @SECONDS[.FRACTION] since 1970. A segment is a\n"
                "named sequence of integers. Run `firn COMMAND --help` for details.\n"
                "\n"
                "Exit status: 0 done, 1 the answer is no, 2 usage, 3 store unavailable, 4 clock,\n"
                "5 exhausted or busy, 6 input or output, 128 + N ended by signal N.\n");
}

char *option_flag(char flag[32], const option_name *name) {
    snprintf(flag, 32, "%s", name->name);
    for (char *at = flag; *at != '\0'; at++) {
        *at = *at == '_' ? '-' : *at;
    }
    return flag;
}

/* A flag or a key and what it does, in 80 columns. */
static void put_entry(output *out, const char *left, const char *text) {
    char lead[96];
    snprintf(lead, sizeof lead, "  %-26s  ", left);
    output_wrap(out, lead, 30, text);
}

static bool ends_with_default(const char *text) {
    return text[0] != '\0' && text[strlen(text) - 1] == ')';
}

static bool has_default(const command *about) {
    for (const option_text *at = about->options; at->option != OPTION_END; at++) {
        if (ends_with_default(at->text)) {
            return true;
        }
    }
    for (const key_text *at = about->keys; at->name != NULL; at++) {
        if (ends_with_default(at->text)) {
            return true;
        }
    }
    return false;
}

void command_help(session *s, const command *about) {
    output_print(&s->out, "usage: firn %s %s%s[OPTION...]\n\n%c%s.%s\n\n", about->name,
                 about->operands, about->operands[0] != '\0' ? " " : "",
                 toupper((unsigned char)about->summary[0]), about->summary + 1,
                 has_default(about) ? "\nDefaults are in parentheses." : "");
    for (const option_text *at = about->options; at->option != OPTION_END; at++) {
        const option_name *name = &option_names[at->option];
        char left[64], flag[32];
        char letter[8] = "    ";
        if (name->letter != 0) {
            snprintf(letter, sizeof letter, "-%c, ", name->letter);
        }
        snprintf(left, sizeof left, "%s--%s%s%s", letter, option_flag(flag, name),
                 name->argument ? " " : "", name->argument ? name->argument : "");
        put_entry(&s->out, left, at->text);
    }
    if (about->keys[0].name != NULL) {
        output_text(&s->out, "\nSettings, as key=value:\n");
    }
    for (const key_text *at = about->keys; at->name != NULL; at++) {
        char left[64];
        snprintf(left, sizeof left, "%s=%s", at->name, at->value);
        put_entry(&s->out, left, at->text);
    }
}

/* ---- options -------------------------------------------------------------------------------- */

/* The tables for getopt; values are option + 256, so that no letter is among them. */
static void make_tables(const command *about, struct option longs[OPTION_END + 1],
                        char shorts[OPTION_END * 2 + 4]) {
    size_t count = 0, length = 0;
    shorts[length++] = '-'; /* operands keep their place; POSIXLY_CORRECT is ignored */
    shorts[length++] = ':';
    for (const option_text *at = about->options; at->option != OPTION_END; at++) {
        const option_name *name = &option_names[at->option];
        int argument = name->argument != NULL ? required_argument : no_argument;
        longs[count++] = (struct option){name->name, argument, NULL, at->option + 256};
        if (name->letter != 0) {
            shorts[length++] = (char)name->letter;
        }
        if (name->letter != 0 && name->argument != NULL) {
            shorts[length++] = ':';
        }
    }
    longs[count] = (struct option){NULL, 0, NULL, 0};
    shorts[length] = '\0';
}

static int option_of(int found) {
    for (int i = 0; found < 256 && i < OPTION_END; i++) {
        if (option_names[i].letter == found) {
            return i;
        }
    }
    return found - 256;
}

static int unknown_option(session *s, const char *word) {
    const char *names[OPTION_END + 1];
    char bare[32];
    size_t count = 0;
    for (const option_text *at = s->command->options; at->option != OPTION_END; at++) {
        names[count++] = option_names[at->option].name;
    }
    names[count] = NULL;
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + strspn(word, "-"), "="),
             word + strspn(word, "-"));
    for (const key_text *key = s->command->keys; key->name != NULL; key++) {
        if (strcmp(key->name, bare) == 0) {
            return fail_usage(s, "%s has no option '%s': write %s=%s, without dashes",
                              s->command->name, word, bare, key->value);
        }
    }
    for (const option_text *at = s->command->options; at->option != OPTION_END; at++) {
        if (bare[0] == option_names[at->option].letter && bare[0] != '\0' && bare[1] == '\0') {
            return fail_usage(s, "%s has no option '%s': did you mean `-%s`?", s->command->name,
                              word, bare);
        }
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

/* One option that getopt found. */
static int take_option(session *s, int found, const char *word) {
    if (found == '?') {
        char letter[3] = {'-', (char)optopt, '\0'};
        bool is_letter = optopt != 0 && optopt < 256 && word[1] != '-';
        if (optopt >= 256) {
            return fail_usage(s, "--%s takes no value: remove the value",
                              option_names[optopt - 256].name);
        }
        return unknown_option(s, is_letter ? letter : word);
    }
    if (found == ':') {
        int option = option_of(optopt);
        return fail_usage(s, "%s needs a value: --%s %s", word, option_names[option].name,
                          option_names[option].argument);
    }
    int option = option_of(found);
    if (option == OPTION_FIELD && s->field_count < COMMAND_FIELDS) {
        s->fields[s->field_count++] = optarg;
    } else if (s->option[option] != NULL && option_names[option].argument != NULL) {
        return fail_usage(s, "--%s is given twice: give it once", option_names[option].name);
    }
    s->option[option] = optarg != NULL ? optarg : "";
    return STATUS_DONE;
}

int command_parse(session *s, int count, char **words) {
    struct option longs[OPTION_END + 1];
    char shorts[OPTION_END * 2 + 4];
    char **operands = calloc((size_t)count + 1, sizeof *operands);
    if (operands == NULL) {
        firn_error error;
        out_of_memory(&error);
        return fail(s, &error);
    }
    make_tables(s->command, longs, shorts);
    s->operands = operands;
    opterr = 0;
    optind = 1;
    while (optind < count) {
        /* a negative decimal is an ID, not an option: no option is a digit; - alone ends musl's getopt */
        const char *word = words[optind];
        if (word[0] == '-' && (word[1] == '\0' || (word[1] >= '0' && word[1] <= '9'))) {
            operands[s->operand_count++] = words[optind++];
            continue;
        }
        int found = getopt_long(count, words, shorts, longs, NULL);
        if (found == -1) {
            break; /* after -- */
        }
        if (found == 1) {
            operands[s->operand_count++] = optarg;
            continue;
        }
        int status = take_option(s, found, word);
        if (status != STATUS_DONE) {
            return status;
        }
    }
    while (optind < count) {
        operands[s->operand_count++] = words[optind++];
    }
    return STATUS_DONE;
}

int command_count(session *s, int64_t initial, int64_t *count) {
    const char *text = s->option[OPTION_COUNT];
    uint64_t number;
    if (text == NULL) {
        *count = initial;
        return STATUS_DONE;
    }
    if (!number_whole(&number, text) || number > INT64_MAX) {
        return fail_usage(s, "-n %s is not valid: use a number from 0 to %" PRId64, text,
                          INT64_MAX);
    }
    *count = (int64_t)number;
    return STATUS_DONE;
}
