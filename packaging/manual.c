/* SPDX-License-Identifier: MIT */
/* Parts of the manual pages, in mdoc: subcommands, keys, statuses, schemes, stores. functions.c
 * writes the pages of firn.h. */
#include "../src/duration.h"
#include "describe.h"
#include "pages.h"

#include <string.h>

/* ---- mdoc ----------------------------------------------------------------------------------- */

/* Escapes characters that roff would interpret. */
static void put_character(FILE *page, char c, bool literal) {
    switch (c) {
    case '\\':
        fputs("\\e", page);
        break;
    case '-':
        fputs(literal ? "\\-" : "-", page);
        break;
    case '~':
        fputs("\\(ti", page);
        break;
    case '^':
        fputs("\\(ha", page);
        break;
    case '`':
        fputs("\\(ga", page);
        break;
    case '"':
        fputs("\\(dq", page);
        break;
    default:
        fputc(c, page);
    }
}

void put_text(FILE *page, const char *text) {
    if (text[0] == '.' || text[0] == '\'') {
        fputs("\\&", page);
    }
    for (; *text != '\0'; text++) {
        put_character(page, *text, false);
    }
}

static void put_literal(FILE *page, const char *text) {
    for (; *text != '\0'; text++) {
        put_character(page, *text, true);
    }
}

void put_argument(FILE *page, const char *text) {
    fputc('"', page);
    put_literal(page, text);
    fputc('"', page);
}

/* A phrase of a table as a sentence. */
static void put_sentence(FILE *page, const char *text) {
    put_text(page, text);
    fputs(".\n", page);
}

static void put_os(FILE *page) {
    fprintf(page, ".Os firn %s\n", firn_version());
}

/* ---- subcommands ---------------------------------------------------------------------------- */

static void put_option(FILE *page, const option_text *option) {
    const option_name *name = &option_names[option->option];
    fputs(".It ", page);
    if (name->letter != 0) {
        fprintf(page, "Fl %c ", name->letter);
        if (name->argument != NULL) {
            fputs("Ar ", page);
            put_argument(page, name->argument);
            fputc(' ', page);
        }
        fputs(", ", page);
    }
    char flag[32];
    fputs("Fl \\-", page);
    put_literal(page, option_flag(flag, name));
    if (name->argument != NULL) {
        fputs(" Ar ", page);
        put_argument(page, name->argument);
    }
    fputc('\n', page);
    put_sentence(page, option->text);
}

/* Every subcommand takes --help: said once, in the prose. */
static void put_options(FILE *page, const command *about) {
    bool any = false;
    for (const option_text *option = command_options(about); option->option != OPTION_END;
         option++) {
        if (option->option == OPTION_HELP) {
            continue;
        }
        if (!any) {
            fputs(".Bl -tag -width Ds\n", page);
        }
        any = true;
        put_option(page, option);
    }
    if (any) {
        fputs(".El\n", page);
    }
}

static void put_key_line(FILE *page, const char *name, const char *value) {
    fputs(".It Cm ", page);
    put_argument(page, name);
    fputs(" Ns = Ns Ar ", page);
    put_argument(page, value);
    fputc('\n', page);
}

static void put_command_keys(FILE *page, const command *about) {
    if (command_keys(about)[0].name == NULL) {
        return;
    }
    fputs(".Pp\nSettings, as name=value or --name value:\n.Bl -tag -width Ds -compact\n", page);
    for (const key_text *key = command_keys(about); key->name != NULL; key++) {
        put_key_line(page, key->name, key->value);
        put_sentence(page, key->text);
    }
    fputs(".El\n", page);
}

static void put_rows(FILE *page, bool lab) {
    for (const command *row = commands; row->name != NULL; row++) {
        if (row->lab != lab) {
            continue;
        }
        fprintf(page, ".Ss firn %s\n%s Cm ", row->name, lab ? ".Ic firn" : ".Nm");
        put_argument(page, row->name);
        if (row->operands[0] != '\0') {
            fputs(" Ar ", page);
            put_argument(page, row->operands);
        }
        fputs(" Op Ar option ...\n.Pp\n", page);
        put_sentence(page, row->summary);
        put_options(page, row);
        put_command_keys(page, row);
    }
}

static void put_commands(FILE *page) {
    put_rows(page, false);
}

static void put_lab_commands(FILE *page) {
    put_rows(page, true);
}

/* ---- keys of a generator --------------------------------------------------------------------- */

static void put_number(FILE *page, const char *name, long initial, long least, long most,
                       const char *text) {
    char value[64];
    snprintf(value, sizeof value, "%ld..%ld", least, most);
    put_key_line(page, name, value);
    put_sentence(page, text);
    if (initial >= least) {
        fprintf(page, "Default: %ld.\n", initial);
    }
}

static void put_duration(FILE *page, const char *name, int64_t unit_us, int64_t initial,
                         int64_t least, int64_t most, const char *text) {
    char low[FIRN__DURATION_SIZE], high[FIRN__DURATION_SIZE], value[3 * FIRN__DURATION_SIZE];
    snprintf(value, sizeof value, "%s..%s", firn__duration_write(low, least * unit_us),
             firn__duration_write(high, most * unit_us));
    put_key_line(page, name, value);
    put_sentence(page, text);
    if (initial >= least) {
        fprintf(page, "Default: %s.\n", firn__duration_write(low, initial * unit_us));
    }
}

static void put_choice(FILE *page, const char *name, size_t initial, const char *words,
                       const char *text) {
    char value[64];
    snprintf(value, sizeof value, "%s", words);
    const char *chosen = words;
    for (; initial > 0; initial--) {
        chosen += strcspn(chosen, " ") + 1;
    }
    for (char *position = value; *position != '\0'; position++) {
        *position = *position == ' ' ? '|' : *position;
    }
    put_key_line(page, name, value);
    put_sentence(page, text);
    fprintf(page, "Default: %.*s.\n", (int)strcspn(chosen, " "), chosen);
}

static void put_word(FILE *page, const char *name, const char *text) {
    put_key_line(page, name, "value");
    put_sentence(page, text);
}

static void put_keys(FILE *page) {
    fputs(".Bl -tag -width Ds\n", page);
#define NUMBER(name, initial, least, most, text)                                                   \
    put_number(page, #name, initial, least, most, text);
#define DURATION(name, unit, initial, least, most, text)                                           \
    put_duration(page, #name, firn__unit_us(#unit), initial, least, most, text);
#define CHOICE(name, initial, words, text) put_choice(page, #name, initial, words, text);
#define WORD(name, text)                   put_word(page, #name, text);
#include "keys.def"
    fputs(".El\n", page);
}

/* ---- exit statuses and errors ---------------------------------------------------------------- */

typedef struct error_line {
    int code;
    const char *name;
} error_line;

static const error_line error_lines[] = {
#define FIRN_X(name, value, text) {value, "FIRN_E" #name},
    FIRN_ERRORS(FIRN_X)
#undef FIRN_X
};
enum { ERROR_COUNT = sizeof error_lines / sizeof *error_lines };

static void put_errors(FILE *page) {
    fputs(".Bl -tag -width Ds\n", page);
    for (size_t i = 0; i < ERROR_COUNT; i++) {
        fprintf(page, ".It Er %s Pq \\-%d\n", error_lines[i].name, -error_lines[i].code);
        put_sentence(page, firn_strerror(error_lines[i].code));
    }
    fputs(".El\n", page);
}

/* Lists the causes of each exit status, by the same status_of that the command calls when it
 * ends. */
static void put_statuses(FILE *page) {
    fputs(".Bl -tag -width Ds\n.It 0\nDone.\n", page);
    for (int status = STATUS_NO; status <= STATUS_IO; status++) {
        const char *between = "";
        fprintf(page, ".It %d\n", status);
        for (size_t i = 0; i < ERROR_COUNT; i++) {
            if (status_of(error_lines[i].code) == status) {
                fputs(between, page);
                put_text(page, firn_strerror(error_lines[i].code));
                between = ";\n";
            }
        }
        fputs(".\n", page);
    }
    fputs(".It 128 + N\nEnded by signal N; windows were given back.\n.El\n", page);
}

/* ---- forms, schemes, stores ------------------------------------------------------------------ */

static void put_forms(FILE *page) {
    for (int form = 0; form < FIRN_FORM_COUNT; form++) {
        fprintf(page, ".Cm %s%s\n", firn_form_name(form), form + 1 < FIRN_FORM_COUNT ? " ," : " .");
    }
}

static const char *form_of(const firn_scheme *scheme) {
    return scheme->read_only ? "read only" : firn_form_name(scheme->form);
}

static void put_scheme_table(FILE *page) {
    const char *widest = "name";
    for (size_t i = 0; firn_scheme_at(i) != NULL; i++) {
        const char *name = firn_scheme_at(i)->name;
        widest = strlen(name) > strlen(widest) ? name : widest;
    }
    fprintf(page,
            ".Bl -column \"%s\" \"bits\" \"100ns\" \"base36lower\" \"per node\" "
            "\"+10889-08-02\"\n",
            widest);
    fputs(".It Em name Ta Em bits Ta Em tick Ta Em text Ta Em sorts Ta Em ends\n", page);
    for (size_t i = 0; firn_scheme_at(i) != NULL; i++) {
        const firn_scheme *scheme = firn_scheme_at(i);
        char end[FIRN_TIME_SIZE], sorts[DESCRIBE_SIZE];
        describe_end(end, scheme, false);
        end[strcspn(end, "T")] = '\0'; /* the day is enough here */
        fputs(".It ", page);
        put_argument(page, scheme->name);
        fprintf(page, " Ta %u Ta ", scheme->bits);
        put_argument(page, describe_tick(scheme));
        fputs(" Ta ", page);
        put_argument(page, form_of(scheme));
        fputs(" Ta ", page);
        put_argument(page, describe_sorts(sorts, scheme));
        fputs(" Ta ", page);
        put_argument(page, end);
        fputc('\n', page);
    }
    fputs(".El\n", page);
}

static void put_scheme_time(FILE *page, const firn_scheme *scheme) {
    char epoch[FIRN_TIME_SIZE], end[FIRN_TIME_SIZE];
    if (scheme->tick_ns == 0) {
        fputs("No time.\n", page);
        return;
    }
    fprintf(page, "Tick %s since %s,\n", describe_tick(scheme), describe_epoch(epoch, scheme));
    if (strcmp(describe_end(end, scheme, false), "-") == 0) {
        fputs("without end.\n", page);
    } else {
        fprintf(page, "until %s.\n", end);
    }
}

static void put_scheme(FILE *page, const firn_scheme *scheme) {
    char layout[DESCRIBE_SIZE], node[DESCRIBE_SIZE], sorts[DESCRIBE_SIZE];
    fputs(".It Sy ", page);
    put_argument(page, scheme->name);
    fputs("\n.Li ", page);
    put_argument(page, describe_layout(layout, scheme));
    fputs("\n.br\n", page);
    put_scheme_time(page, scheme);
    describe_node(node, scheme, true);
    fprintf(page, "Text: %s.\nSorts: %s.\nNode: ", form_of(scheme), describe_sorts(sorts, scheme));
    put_sentence(page, strcmp(node, "-") == 0 ? "none" : node);
    if (scheme->note != NULL) {
        fputs("Note: ", page);
        put_sentence(page, scheme->note);
    }
    if (scheme->source != NULL) {
        fputs("Source: ", page);
        put_sentence(page, scheme->source);
    }
}

static void put_schemes(FILE *page) {
    fputs(".Bl -tag -width Ds\n", page);
    for (size_t i = 0; firn_scheme_at(i) != NULL; i++) {
        put_scheme(page, firn_scheme_at(i));
    }
    fputs(".El\n", page);
}

static void put_stores(FILE *page) {
    fputs(".Bl -tag -width Ds\n", page);
    for (const store_line *line = store_lines; line->scheme != NULL; line++) {
        char url[128], text[256];
        snprintf(url, sizeof url, "%s%s", line->scheme, line->rest);
        snprintf(text, sizeof text, "Keeps the marks %s; shared by %s", line->place, line->reach);
        fputs(".It Li ", page);
        put_argument(page, url);
        fputc('\n', page);
        put_sentence(page, text);
    }
    fputs(".El\n", page);
}

/* The parameters of each store's URL. Compares whole words. */
static bool takes(const parameter_line *parameter, const char *scheme) {
    size_t length = strlen(scheme);
    for (const char *position = parameter->schemes; *position != '\0';) {
        size_t word = strcspn(position, " ");
        if (word == length && strncmp(position, scheme, length) == 0) {
            return true;
        }
        position += word + (position[word] == ' ');
    }
    return false;
}

static void put_parameters(FILE *page) {
    for (const store_line *store = store_lines; store->scheme != NULL; store++) {
        bool any = false;
        for (const parameter_line *line = parameter_lines; line->schemes != NULL; line++) {
            if (!takes(line, store->scheme)) {
                continue;
            }
            if (!any) {
                fprintf(page, ".Ss %s\n.Bl -tag -width Ds -compact\n", store->scheme);
            }
            any = true;
            put_key_line(page, line->name, line->values);
            put_sentence(page, line->text);
            if (line->initial[0] != '\0') {
                fprintf(page, "Default: %s.\n", line->initial);
            }
        }
        fputs(any ? ".El\n" : "", page);
    }
}

const page_part manual_parts[] = {
    {"os", put_os},
    {"commands", put_commands},
    {"lab-commands", put_lab_commands},
    {"keys", put_keys},
    {"errors", put_errors},
    {"statuses", put_statuses},
    {"forms", put_forms},
    {"scheme-table", put_scheme_table},
    {"schemes", put_schemes},
    {"stores", put_stores},
    {"parameters", put_parameters},
    {NULL, NULL},
};
