/* SPDX-License-Identifier: MIT */
/* Declarations that the subcommands share: their list, a run of a subcommand, failures. Knows no
 * subcommand; operands.h and ids.h have the code for keys, schemes and IDs that several share. */
#ifndef FIRN_COMMAND_H
#define FIRN_COMMAND_H

#include "errors.h"
#include "output.h"

#include <firn/firn.h>

enum {
#define OPTION(id, name, letter, argument) OPTION_##id,
#include "commands.def"
    OPTION_END
};

typedef struct option_name {
    const char *name;
    int letter;           /* 0: none */
    const char *argument; /* NULL: takes none */
} option_name;

typedef struct option_text {
    int option; /* OPTION_END ends the list */
    const char *text;
    bool rare;          /* the help shows it only if it is asked for all */
    const char *preset; /* a default that the text does not say, or NULL */
} option_text;

typedef struct key_text {
    const char *name, *value, *text; /* name NULL ends the list */
    bool rare;
} key_text;

typedef struct example_text {   /* or a verb */
    const char *command, *text; /* command NULL ends the list */
} example_text;

typedef struct session session;

typedef struct command {
    const char *name;
    const char *operands;
    const char *summary;
    bool verbatim; /* its words are not parsed */
    bool lab;      /* a part of the program firn-lab */
} command;

/* Runs a subcommand; returns the exit status. */
typedef int (*command_run)(session *s);

enum { COMMAND_FIELDS = 9 }; /* of --field, one more than stamp takes */

/* A run of the program. */
struct session {
    const command *command;
    const char *option[OPTION_END];     /* NULL: not given; "" where it takes no argument */
    const char *fields[COMMAND_FIELDS]; /* of --field, which may be given several times */
    size_t field_count;
    char **operands; /* NULL-terminated; options as name=value are not among them */
    size_t operand_count;
    size_t word_count;  /* of the operands: those in front that are not settings */
    char *texts;        /* free space after the operands, for the texts of settings */
    char **words;       /* of the whole program */
    size_t plain_count; /* of operands_split: those in front that are not key=value */
    int colors;         /* of standard output (color.h): 0, 16 or 256 */
    output out;
};

extern const option_name option_names[OPTION_END];
extern const command commands[]; /* ends with a name of NULL */
#define COMMAND(id, operands, summary) int run_##id(session *s);
#include "commands.def"

/* The whole program. `runs` has a function for each row of `commands`, NULL for a row of the other program, which
 * `elsewhere` gets. Returns the exit status. */
int command_main(int count, char **words, const command_run runs[], command_run elsewhere);
/* Becomes the program firn-lab with the words of the session. An exit status if that is not possible. */
int become_lab(session *s);
/* By name, or NULL. */
const command *command_find(const char *name);
/* The first option and the first setting of a subcommand; OPTION_END, or a name of NULL, ends the
 * list. */
const option_text *command_options(const command *about);
const key_text *command_keys(const command *about);
/* Fails with the command that was probably meant: the nearest name, `new` for a scheme, `show` for
 * an ID. */
int command_unknown(session *s, const char *word);
/* `all`: with the options and settings that are rare. */
void command_help(session *s, const command *about, bool all);
void command_list(session *s);
/* The option without its dashes, as users write it: - for the _ of the server's settings. Returns
 * `flag`. */
char *option_flag(char flag[32], const option_name *name);
/* Parses the arguments of a subcommand; `words[0]` is its name. An exit status. */
int command_parse(session *s, int count, char **words);
/* -n: a number from 0 up, or `initial`. An exit status. */
int command_count(session *s, int64_t initial, int64_t *count);

/* `firn: text` on standard error, after the output so far; returns the status. */
int fail(session *s, const firn_error *error);
/* The same with another code and text. */
int fail_as(session *s, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define fail_usage(s, ...) fail_as(s, FIRN_EUSAGE, __VA_ARGS__)
/* `firn: note: text` on standard error, unless --quiet is given. `self` is the session. */
void tell_note(void *self, const char *text);
/* Prints a line on standard error, in one write. */
void tell(const char *lead, const char *text);
/* Asks at the terminal, unless --yes is given. STATUS_DONE: yes; STATUS_NO; STATUS_USAGE if
 * standard input is not a terminal: `instead` says what to add. */
int confirm(session *s, const char *question, const char *instead);
/* A malformed argument is a usage error (2); a malformed ID is a negative answer (1). */
int argument_code(int code, firn_error *error);
/* The s of a plural. */
static inline const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}
static inline int worse(int a, int b) {
    return a > b ? a : b;
}

#endif
