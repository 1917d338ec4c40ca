/* SPDX-License-Identifier: MIT */
/* The list of subcommands expanded: dispatch and help. What a subcommand does is in the file of its
 * name. */
#include "command.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The rows of all subcommands, in the order of `commands`. A row without a name ends each part. */
static const option_text options[] = {
#define TAKES(option, text)           {OPTION_##option, text, false, NULL},
#define RARELY(option, text)          {OPTION_##option, text, true, NULL},
#define SETTING(option, text, preset) {OPTION_##option, text, false, preset},
#define END(id)                       {OPTION_HELP, "this text", false, NULL}, {OPTION_END, NULL, false, NULL},
#include "commands.def"
};
static const key_text keys[] = {
#define KEY(name, value, text)  {name, value, text, false},
#define RARE(name, value, text) {name, value, text, true},
#define END(id)                 {NULL, NULL, NULL, false},
#include "commands.def"
};
static const example_text examples[] = {
#define EXAMPLE(command, text) {command, text},
#define END(id)                {NULL, NULL},
#include "commands.def"
};
static const example_text verbs[] = {
#define VERB(words, text) {words, text},
#define END(id)           {NULL, NULL},
#include "commands.def"
};

const command commands[] = {
#define COMMAND(id, operands, summary)  {#id, operands, summary, false, false},
#define VERBATIM(id, operands, summary) {#id, operands, summary, true, false},
#define LAB(id, operands, summary)      {#id, operands, summary, false, true},
#include "commands.def"
    {NULL, NULL, NULL, false, false},
};

const option_text *command_options(const command *about) {
    const option_text *row = options;
    for (ptrdiff_t left = about - commands; left > 0; row++) {
        left -= row->option == OPTION_END;
    }
    return row;
}

const key_text *command_keys(const command *about) {
    const key_text *row = keys;
    for (ptrdiff_t left = about - commands; left > 0; row++) {
        left -= row->name == NULL;
    }
    return row;
}

static const example_text *part_of(const example_text *row, const command *about) {
    for (ptrdiff_t left = about - commands; left > 0; row++) {
        left -= row->command == NULL;
    }
    return row;
}

/* Of firn serve: the server's own list has them. */
static const bool rare_settings[OPTION_END] = {
#define RARE_SETTING(name) [OPTION_SERVE_##name] = true,
#include "../server/settings/settings.def"
};

static bool is_rare(const option_text *option) {
    return option->rare || rare_settings[option->option];
}

const command *command_find(const char *name) {
    for (const command *row = commands; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}

/* A command that has another word elsewhere, or NULL. */
static const char *command_elsewhere(const char *word) {
    static const char *const words[][2] = {{"create", "new"},   {"decode", "show"},
                                           {"generate", "new"}, {"inspect", "show"},
                                           {"issue", "new"},    {"parse", "show"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i][0], word) == 0) {
            return words[i][1];
        }
    }
    return NULL;
}

int command_unknown(session *s, const char *word) {
    const char *names[32];
    firn_reading readings[FIRN_READINGS_MAX];
    size_t count = 0;
    for (const command *row = commands; row->name != NULL && count < 31; row++) {
        names[count++] = row->name;
    }
    names[count] = NULL;
    const char *elsewhere = command_elsewhere(word);
    const char *near = elsewhere != NULL ? elsewhere : firn_nearest(word, names);
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

static void put_commands(output *out, bool lab) {
    for (const command *row = commands; row->name != NULL; row++) {
        if (row->lab == lab) {
            output_print(out, "  %-8s  %s\n", row->name, row->summary);
        }
    }
}

void command_list(session *s) {
    output_text(&s->out, "usage: firn COMMAND ... (`firn COMMAND --help` lists its options)\n");
    put_commands(&s->out, false);
    output_text(&s->out,
                "\n"
                "SCHEME is one of `firn schemes` or a layout; TIME is RFC 3339, or @SECONDS.\n"
                "Exit status: 0 done, 1 no, 2 usage, 3 store, 4 clock, 5 exhausted, 6 I/O.\n");
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

static bool has_default(const command *about, bool all) {
    for (const option_text *option = command_options(about); option->option != OPTION_END;
         option++) {
        if ((all || !is_rare(option)) &&
            (option->preset != NULL || ends_with_default(option->text))) {
            return true;
        }
    }
    for (const key_text *key = command_keys(about); key->name != NULL; key++) {
        if ((all || !key->rare) && ends_with_default(key->text)) {
            return true;
        }
    }
    return false;
}

static void put_examples(output *out, const command *about) {
    size_t width = 0;
    for (const example_text *example = part_of(examples, about); example->command != NULL;
         example++) {
        const size_t length = strlen(example->command);
        width = length > width ? length : width;
    }
    for (const example_text *example = part_of(examples, about); example->command != NULL;
         example++) {
        output_print(out, "  %-*s  # %s\n", (int)width, example->command, example->text);
    }
}

static void put_verbs(output *out, const command *about) {
    output_text(out, part_of(verbs, about)[0].command != NULL ? "\n" : "");
    for (const example_text *example = part_of(verbs, about); example->command != NULL; example++) {
        put_entry(out, example->command, example->text);
    }
}

static void put_option(output *out, const option_text *option) {
    const option_name *name = &option_names[option->option];
    char left[64], flag[32], letter[8] = "    ", text[512];
    snprintf(text, sizeof text, option->preset != NULL ? "%s (%s)" : "%s", option->text,
             option->preset);
    if (name->letter != 0) {
        snprintf(letter, sizeof letter, "-%c, ", name->letter);
    }
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option_flag(flag, name),
             name->argument ? " " : "", name->argument ? name->argument : "");
    put_entry(out, left, text);
}

void command_help(session *s, const command *about, bool all) {
    output *out = &s->out;
    size_t hidden = 0;
    output_print(out, "usage: firn %s %s%s[OPTION...]\n\n%c%s.\n\n", about->name, about->operands,
                 about->operands[0] != '\0' ? " " : "", toupper((unsigned char)about->summary[0]),
                 about->summary + 1);
    put_examples(out, about);
    put_verbs(out, about);
    if (strcmp(about->name, "lab") == 0) {
        output_text(out, "\n");
        put_commands(out, true);
    }
    output_print(out, "\n%s", has_default(about, all) ? "Defaults are in parentheses.\n" : "");
    for (const option_text *option = command_options(about); option->option != OPTION_END;
         option++) {
        if (all || !is_rare(option)) {
            put_option(out, option);
        }
        hidden += !all && is_rare(option) ? 1 : 0;
    }
    if (command_keys(about)[0].name != NULL) {
        output_text(out, "Settings, as name=value or --name value:\n");
    }
    for (const key_text *key = command_keys(about); key->name != NULL; key++) {
        char left[64];
        snprintf(left, sizeof left, "%s=%s", key->name, key->value);
        if (all || !key->rare) {
            put_entry(out, left, key->text);
        }
        hidden += !all && key->rare ? 1 : 0;
    }
    if (hidden > 0) {
        output_print(out, "`firn help %s all` has %zu more.\n", about->name, hidden);
    }
}
