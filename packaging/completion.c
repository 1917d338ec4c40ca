/* SPDX-License-Identifier: MIT */
/* Parts of the completions of bash, zsh and fish: what may follow a subcommand, an option and a
 * key, taken from the same tables as the help. How a shell asks is in firn.bash.in, firn.zsh.in and
 * firn.fish.in.
 *
 * The completions of a word follow from its name in the tables: alternatives are divided by |;
 * small letters and digits mean themselves, FORM, SCHEME, COMMAND, URL and FILE what they name,
 * WORD a word of the laboratory, and every other capital (COUNT, TIME, N) is a value that only the
 * user knows. */
#include "pages.h"

#include <string.h>

/* Far above what the tables hold. */
enum { WORD_SIZE = 64, PLACES_MAX = 8, KEYS_MAX = 64 };

/* ---- words of the tables --------------------------------------------------------------------- */

/* Each of these writes words with `lead` before and a blank after each. */
static void put_forms(FILE *page, const char *lead) {
    for (int form = 0; form < FIRN_FORM_COUNT; form++) {
        fprintf(page, "%s%s ", lead, firn_form_name(form));
    }
}

static void put_schemes(FILE *page, const char *lead) {
    for (size_t i = 0; firn_scheme_at(i) != NULL; i++) {
        fprintf(page, "%s%s ", lead, firn_scheme_at(i)->name);
    }
}

static void put_commands(FILE *page, const char *lead) {
    for (const command *row = commands; row->name != NULL; row++) {
        fprintf(page, "%s%s ", lead, row->name);
    }
}

static void put_lab_words(FILE *page, const char *lead) {
    for (const command *row = commands; row->name != NULL; row++) {
        if (row->lab) {
            fprintf(page, "%s%s ", lead, row->name);
        }
    }
}

static void put_urls(FILE *page, const char *lead) {
    for (const store_line *line = store_lines; line->scheme != NULL; line++) {
        int slashes = (int)strspn(line->rest, ":/");
        fprintf(page, "%s%s%.*s ", lead, line->scheme, slashes, line->rest);
    }
}

static const struct {
    const char *name;
    void (*put)(FILE *page, const char *lead);
} classes[] = {{"FORM", put_forms},
               {"SCHEME", put_schemes},
               {"COMMAND", put_commands},
               {"WORD", put_lab_words},
               {"URL", put_urls}};
enum { CLASS_COUNT = sizeof classes / sizeof *classes };

/* Writes an alternative: "strict", "random:N" (its first part), "SCHEME". */
static void put_alternative(FILE *page, const char *word, const char *lead) {
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (strcmp(word, classes[i].name) == 0) {
            classes[i].put(page, lead);
            return;
        }
    }
    size_t small = strcspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (small > 0 && (word[small] == '\0' || word[small - 1] == ':')) {
        fprintf(page, "%s%.*s ", lead, (int)small, word);
    }
}

static void put_choices(FILE *page, const char *grammar, const char *lead) {
    while (*grammar != '\0') {
        char word[WORD_SIZE];
        size_t length = strcspn(grammar, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, grammar);
        put_alternative(page, word, lead);
        grammar += length + (grammar[length] == '|');
    }
}

/* Is FILE, or for a store its path, one of the alternatives? */
static bool takes_file(const char *grammar) {
    return strstr(grammar, "FILE") != NULL;
}

/* ---- operands -------------------------------------------------------------------------------- */

/* The possible operands in each place after the subcommand, without keys. */
typedef struct operand_list {
    char word[PLACES_MAX][WORD_SIZE]; /* alternatives of all ways of use, divided by | */
    size_t count;
    size_t required; /* keys are possible from this place on */
    bool repeats;    /* the last one may come again: "[ID...]" */
} operand_list;

/* Adds an alternative to a place, once. */
static void add_operand(operand_list *list, size_t place, const char *word) {
    char *words = list->word[place];
    size_t length = strlen(words);
    if (strstr(words, word) == NULL) {
        snprintf(words + length, WORD_SIZE - length, "%s%s", length > 0 ? "|" : "", word);
    }
    list->count = place + 1 > list->count ? place + 1 : list->count;
}

/* The word without its brackets and dots. */
static void bare_operand(char word[WORD_SIZE], const char *text, size_t length) {
    size_t kept = 0;
    for (size_t i = 0; i < length && kept < WORD_SIZE - 1; i++) {
        if (strchr("[].", text[i]) == NULL) {
            word[kept++] = text[i];
        }
    }
    word[kept] = '\0';
}

/* "[peek|advance] KEY [key=value...]", "SCHEME [key=value...] | FILE | -": " | " separates
 * alternatives, brackets enclose optional parts. */
static operand_list list_operands(const command *about) {
    operand_list list = {.count = 0};
    size_t place = 0, depth = 0;
    bool first_way = true;
    for (const char *text = about->operands; *text != '\0' && place < PLACES_MAX;) {
        size_t length = strcspn(text, " ");
        char word[WORD_SIZE];
        bare_operand(word, text, length);
        depth += text[0] == '[';
        if (length > 1 && text[0] == '-') { /* an option that must be given, and its value */
            length += text[length] == ' ' ? 1 + strcspn(text + length + 1, " ") : 0;
        } else if (strcmp(word, "|") == 0) {
            place = 0;
            first_way = false;
        } else if (strcmp(word, "-") != 0 && strchr(word, '=') == NULL) {
            add_operand(&list, place++, word);
            list.required += first_way && depth == 0;
            list.repeats = list.repeats || memchr(text, '.', length) != NULL;
        }
        depth -= memchr(text, ']', length) != NULL;
        text += length;
        text += strspn(text, " ");
    }
    return list;
}

/* ---- keys and fields ------------------------------------------------------------------------- */

typedef struct key_list {
    const key_text *key[KEYS_MAX];
    size_t count;
    bool fields; /* the fields of the scheme too */
} key_list;

static void add_keys(key_list *list, const command *about);

/* FIELD means the fields of the scheme, KEY the keys of `firn new`. */
static void add_key(key_list *list, const key_text *key) {
    if (strcmp(key->name, "FIELD") == 0) {
        list->fields = true;
        return;
    }
    if (strcmp(key->name, "KEY") == 0) {
        add_keys(list, command_find("new"));
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->key[i]->name, key->name) == 0) {
            return;
        }
    }
    if (list->count < KEYS_MAX) {
        list->key[list->count++] = key;
    }
}

static void add_keys(key_list *list, const command *about) {
    for (const key_text *key = command_keys(about); key->name != NULL; key++) {
        add_key(list, key);
    }
}

static key_list list_keys(const command *about) {
    key_list list = {.count = 0};
    add_keys(&list, about);
    return list;
}

/* Fields that can be given as a key: all but constants and the time, which is a separate key.
 * Only `firn pack` takes values for fields that a generator draws or counts itself. */
static bool can_give(const firn_scheme *scheme, uint32_t i, bool pack) {
    int role = scheme->slices[i].role;
    bool drawn = role == FIRN_ROLE_SEQUENCE || role == FIRN_ROLE_COUNTER ||
                 role == FIRN_ROLE_RANDOM || role == FIRN_ROLE_DIGEST;
    return firn_scheme_first(scheme, i) == i && role != FIRN_ROLE_CONST && role != FIRN_ROLE_TIME &&
           (pack || !drawn);
}

/* A line of each scheme that has such fields, its name and they put between the three texts. */
static void put_fields(FILE *page, bool pack, const char *before, const char *between,
                       const char *after) {
    for (size_t row = 0; firn_scheme_at(row) != NULL; row++) {
        const firn_scheme *scheme = firn_scheme_at(row);
        char words[512] = "";
        size_t length = 0;
        for (uint32_t i = 0; i < scheme->slice_count && length < sizeof words; i++) {
            if (can_give(scheme, i, pack)) {
                length += (size_t)snprintf(words + length, sizeof words - length,
                                           "%s= ", scheme->slices[i].name);
            }
        }
        if (length > 0) {
            fprintf(page, "%s%s%s%s%s", before, scheme->name, between, words, after);
        }
    }
}

/* ---- bash and zsh: case lines over "values" -------------------------------------------------- */

static void put_sh_commands(FILE *page) {
    fputs("    values='", page);
    put_commands(page, "");
    fputs("'\n", page);
}

/* Writes the possible values of each option; an option without a value has no line. */
static void put_sh_option_values(FILE *page) {
    for (int i = 0; i < OPTION_END; i++) {
        const option_name *name = &option_names[i];
        if (name->argument == NULL) {
            continue;
        }
        char flag[32];
        fprintf(page, "    --%s", option_flag(flag, name));
        if (name->letter != 0) {
            fprintf(page, " | -%c", name->letter);
        }
        fputs(") values='", page);
        put_choices(page, name->argument, "");
        fprintf(page, "'%s ;;\n", takes_file(name->argument) ? " files=1" : "");
    }
}

static void put_sh_options(FILE *page) {
    for (const command *about = commands; about->name != NULL; about++) {
        fprintf(page, "    %s) values='", about->name);
        for (const option_text *option = command_options(about); option->option != OPTION_END;
             option++) {
            const option_name *name = &option_names[option->option];
            char flag[32];
            fprintf(page, "--%s ", option_flag(flag, name));
            if (name->letter != 0) {
                fprintf(page, "-%c ", name->letter);
            }
        }
        fputs("' ;;\n", page);
    }
}

static void put_sh_place(FILE *page, const operand_list *list, const key_list *keys, size_t place) {
    bool files = place < list->count && takes_file(list->word[place]);
    bool with_keys = place >= list->required;
    fputs("values='", page);
    if (place < list->count) {
        put_choices(page, list->word[place], "");
    }
    for (size_t i = 0; i < keys->count && with_keys; i++) {
        fprintf(page, "%s= ", keys->key[i]->name);
    }
    fprintf(page, "'%s%s ;;\n", files ? " files=1" : "",
            with_keys && keys->fields ? " fields=1" : "");
}

/* COMMAND/PLACE; a star is every later place. */
static void put_sh_operands(FILE *page) {
    for (const command *about = commands; about->name != NULL; about++) {
        operand_list list = list_operands(about);
        key_list keys = list_keys(about);
        size_t last = list.repeats ? list.count - 1 : list.count;
        for (size_t i = 0; i <= last; i++) {
            fprintf(page, "    %s/", about->name);
            fprintf(page, i == last ? "*) " : "%zu) ", i);
            put_sh_place(page, &list, &keys, i);
        }
    }
}

static void put_sh_key_values(FILE *page) {
    for (const command *about = commands; about->name != NULL; about++) {
        key_list keys = list_keys(about);
        for (size_t i = 0; i < keys.count; i++) {
            fprintf(page, "    %s/%s) values='", about->name, keys.key[i]->name);
            put_choices(page, keys.key[i]->value, "");
            fprintf(page, "'%s ;;\n", takes_file(keys.key[i]->value) ? " files=1" : "");
        }
    }
}

static void put_sh_fields(FILE *page) {
    put_fields(page, true, "    pack/", ") values+='", "' ;;\n");
    put_fields(page, false, "    */", ") values+='", "' ;;\n");
}

/* ---- descriptions ---------------------------------------------------------------------------- */

/* Between single quotes; `quote` is the escape of a single quote. */
static void put_quoted(FILE *page, const char *text, const char *quote) {
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs(quote, page);
        } else if (*text == '\\') {
            fputs("\\\\", page);
        } else {
            fputc(*text, page);
        }
    }
}

#define ZSH_QUOTE  "'\\''"
#define FISH_QUOTE "\\'"

/* 'WORD:TEXT' of words that hold no colon themselves. */
static void put_zsh_texts(FILE *page) {
    for (const command *about = commands; about->name != NULL; about++) {
        fprintf(page, "    /%s) text='", about->name);
        put_quoted(page, about->summary, ZSH_QUOTE);
        fputs("' ;;\n", page);
        for (const option_text *option = command_options(about); option->option != OPTION_END;
             option++) {
            const option_name *name = &option_names[option->option];
            char flag[32];
            fprintf(page, "    %s/--%s", about->name, option_flag(flag, name));
            if (name->letter != 0) {
                fprintf(page, " | %s/-%c", about->name, name->letter);
            }
            fputs(") text='", page);
            put_quoted(page, option->text, ZSH_QUOTE);
            fputs("' ;;\n", page);
        }
        key_list keys = list_keys(about);
        for (size_t i = 0; i < keys.count; i++) {
            fprintf(page, "    %s/%s=) text='", about->name, keys.key[i]->name);
            put_quoted(page, keys.key[i]->text, ZSH_QUOTE);
            fputs("' ;;\n", page);
        }
    }
}

/* ---- fish: a line each ----------------------------------------------------------------------- */

static void put_fish_text(FILE *page, const char *text) {
    fputs(" -d '", page);
    put_quoted(page, text, FISH_QUOTE);
    fputs("'\n", page);
}

static void put_fish_option(FILE *page, const command *about, const option_text *option) {
    const option_name *name = &option_names[option->option];
    char flag[32];
    fprintf(page, "complete -c firn -n '__firn_in %s' -l %s", about->name, option_flag(flag, name));
    if (name->letter != 0) {
        fprintf(page, " -s %c", name->letter);
    }
    if (name->argument != NULL) {
        fputs(takes_file(name->argument) ? " -r -F -a '" : " -x -a '", page);
        put_choices(page, name->argument, "");
        fputs("'", page);
    }
    put_fish_text(page, option->text);
}

static void put_fish_operands(FILE *page, const command *about, const operand_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        bool last = i + 1 == list->count && list->repeats;
        fprintf(page, "complete -c firn -n '__firn_in %s; and __firn_operand %s %zu' %s -a '",
                about->name, last ? "-ge" : "-eq", i, takes_file(list->word[i]) ? "-F" : "-f");
        put_choices(page, list->word[i], "");
        fputs("'\n", page);
    }
}

/* The key, then, once it is written, its values, which fish expects as whole words. */
static void put_fish_key(FILE *page, const command *about, const key_text *key, size_t place) {
    char lead[WORD_SIZE];
    snprintf(lead, sizeof lead, "%s=", key->name);
    fprintf(page, "complete -c firn -n '__firn_in %s; and __firn_key %zu' -f -a '%s'", about->name,
            place, lead);
    put_fish_text(page, key->text);
    fprintf(page, "complete -c firn -n '__firn_in %s; and __firn_value %s' %s -a '", about->name,
            lead, takes_file(key->value) ? "-F" : "-f");
    put_choices(page, key->value, lead);
    fputs("'\n", page);
}

static void put_fish_keys(FILE *page, const command *about, size_t place) {
    key_list keys = list_keys(about);
    for (size_t i = 0; i < keys.count; i++) {
        put_fish_key(page, about, keys.key[i], place);
    }
    if (keys.fields) {
        fprintf(page,
                "complete -c firn -n '__firn_in %s; and __firn_key %zu' -f -a '(__firn_fields)'",
                about->name, place);
        put_fish_text(page, "a field of the scheme");
    }
}

static void put_fish_lines(FILE *page) {
    for (const command *about = commands; about->name != NULL; about++) {
        operand_list list = list_operands(about);
        fprintf(page, "\ncomplete -c firn -n '__firn_first%s' -f -a %s",
                about->lab ? "" : " outside", about->name);
        put_fish_text(page, about->summary);
        for (const option_text *option = command_options(about); option->option != OPTION_END;
             option++) {
            put_fish_option(page, about, option);
        }
        put_fish_operands(page, about, &list);
        put_fish_keys(page, about, list.required);
    }
}

/* Options that take a value, as they are written. */
static void put_fish_takers(FILE *page) {
    fputs("        case", page);
    for (int i = 0; i < OPTION_END; i++) {
        const option_name *name = &option_names[i];
        if (name->argument != NULL) {
            char flag[32];
            fprintf(page, " --%s", option_flag(flag, name));
        }
        if (name->argument != NULL && name->letter != 0) {
            fprintf(page, " -%c", name->letter);
        }
    }
    fputc('\n', page);
}

/* fish expects one word per line. */
static void put_fish_fields(FILE *page) {
    put_fields(page, true, "        case pack/", "\n            string split -n ' ' '", "'\n");
    put_fields(page, false, "        case '*/", "'\n            string split -n ' ' '", "'\n");
}

const page_part completion_parts[] = {
    {"sh-commands", put_sh_commands},
    {"sh-option-values", put_sh_option_values},
    {"sh-options", put_sh_options},
    {"sh-operands", put_sh_operands},
    {"sh-key-values", put_sh_key_values},
    {"sh-fields", put_sh_fields},
    {"zsh-texts", put_zsh_texts},
    {"fish-lines", put_fish_lines},
    {"fish-takers", put_fish_takers},
    {"fish-fields", put_fish_fields},
    {NULL, NULL},
};
