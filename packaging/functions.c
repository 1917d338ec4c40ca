/* SPDX-License-Identifier: MIT */
/* The public headers as manual pages: their program, types and functions for firn(3), and a page
 * for each function. Reads the headers line by line and relies on their layout; this is not a
 * parser of C, and test/manual.sh counts the functions. */
#include "pages.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { TEXT_SIZE = 2000 }; /* of a comment or a prototype; the rest of a longer one is cut */

/* ---- the program ----------------------------------------------------------------------------- */

static void put_program(FILE *page) {
    static const char lead[] = " *     ";
    bool begun = false;
    fputs(".Bd -literal -offset indent\n", page);
    for (size_t i = 0; header_lines[i] != NULL; i++) {
        const char *line = header_lines[i];
        bool code = strncmp(line, lead, sizeof lead - 1) == 0;
        if (begun && !code && strcmp(line, " *") != 0) {
            break;
        }
        begun = begun || code;
        if (begun) {
            put_text(page, code ? line + sizeof lead - 1 : "");
            fputs("\n", page);
        }
        if (strcmp(line, " *     }") == 0) {
            break;
        }
    }
    fputs(".Ed\n", page);
}

/* ---- comments and prototypes ----------------------------------------------------------------- */

/* Adds a line to a text, one blank between. */
static void add(char text[TEXT_SIZE], const char *line) {
    size_t length = strlen(text);
    snprintf(text + length, TEXT_SIZE - length, "%s%s", length > 0 ? " " : "",
             line + strspn(line, " "));
}

static void cut_end(char *text, const char *end) {
    char *position = strstr(text, end);
    if (position != NULL) {
        *position = '\0';
    }
    for (size_t length = strlen(text); length > 0 && text[length - 1] == ' '; length--) {
        text[length - 1] = '\0';
    }
}

/* The comment that begins in line i, without its stars; returns its last line. */
static size_t read_comment(char text[TEXT_SIZE], size_t i) {
    text[0] = '\0';
    for (;; i++) {
        char line[TEXT_SIZE];
        snprintf(line, sizeof line, "%s", header_lines[i]);
        bool last = strstr(line, "*/") != NULL || header_lines[i + 1] == NULL;
        cut_end(line, "*/");
        add(text, line + strspn(line, " */"));
        if (last) {
            return i;
        }
    }
}

/* The prototype that begins in line i; returns its last line. */
static size_t read_prototype(char text[TEXT_SIZE], size_t i) {
    text[0] = '\0';
    add(text, header_lines[i] + strlen("FIRN_API "));
    while (strchr(header_lines[i], ';') == NULL && header_lines[i + 1] != NULL) {
        add(text, header_lines[++i]);
    }
    return i;
}

/* Writes a comment as sentences; "Pure." first says that a function is pure, which a page spells
 * out. */
static void put_comment(FILE *page, const char *text) {
    if (strncmp(text, "Pure. ", 6) == 0) {
        fputs(
            "This function is pure: it draws no randomness, reads no clock and touches no state.\n",
            page);
        text += 6;
    }
    for (const char *stop; (stop = strstr(text, ". ")) != NULL; text = stop + 2) {
        char sentence[TEXT_SIZE]; /* a line each, as roff would have it */
        snprintf(sentence, sizeof sentence, "%.*s.", (int)(stop - text), text);
        put_text(page, sentence);
        fputs("\n", page);
    }
    size_t length = strlen(text);
    put_text(page, text);
    fputs(length > 0 && text[length - 1] != '.' && text[length - 1] != '?' ? ".\n" : "\n", page);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* A function of the header, in pieces that point into `prototype`. */
typedef struct function {
    char prototype[TEXT_SIZE], comment[TEXT_SIZE];
    char type[64], name[64];
    char header[32];       /* recognize.h */
    const char *arguments; /* between the parentheses */
} function;

/* Splits "TYPE NAME(ARGUMENT, ...); / * a comment * /". */
static bool split_prototype(function *f) {
    const char *behind = strstr(f->prototype, "/*");
    char *open = strchr(f->prototype, '('), *close = strchr(f->prototype, ';'), *name = open;
    if (behind != NULL) {
        f->comment[0] = '\0';
        add(f->comment, behind + 2);
        cut_end(f->comment, "*/");
    }
    if (open == NULL || close == NULL || close[-1] != ')') {
        return false;
    }
    while (name > f->prototype && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) {
        name--;
    }
    snprintf(f->name, sizeof f->name, "%.*s", (int)(open - name), name);
    snprintf(f->type, sizeof f->type, "%.*s", (int)(name - f->prototype), f->prototype);
    close[-1] = '\0';
    f->arguments = open + 1;
    return true;
}

static void put_prototype(FILE *page, const function *f) {
    char arguments[TEXT_SIZE];
    snprintf(arguments, sizeof arguments, "%s", f->arguments);
    fprintf(page, ".Ft \"%s\"\n.Fn %s", f->type, f->name);
    for (char *position = arguments; position != NULL;) {
        char *comma = strchr(position, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        fputc(' ', page);
        put_argument(page, position + strspn(position, " "));
        position = comma != NULL ? comma + 1 : NULL;
    }
    fputs("\n", page);
}

/* ---- the headers, from top to bottom --------------------------------------------------------- */

static bool begins(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0;
}

/* Takes the name of a header from the first line of its guard: FIRN_RECOGNIZE_H. */
static bool read_guard(char *name, size_t size, const char *line) {
    static const char start[] = "#ifndef FIRN_", end[] = "_H";
    size_t length = strlen(line);
    if (!begins(line, start) || length < sizeof start + sizeof end - 2 ||
        strcmp(line + length - 2, end) != 0) {
        return false;
    }
    line += sizeof start - 1;
    snprintf(name, size, "%.*s.h", (int)strlen(line) - 2, line);
    for (char *c = name; *c != '\0'; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    return true;
}

/* Calls `visit` for each function, with the title of its group. */
static void each_function(void (*visit)(void *self, const char *group, const function *f),
                          void *self) {
    static function f;
    static char group[64];
    f.comment[0] = '\0';
    snprintf(group, sizeof group, "library");
    for (size_t i = 0; header_lines[i] != NULL; i++) {
        const char *line = header_lines[i];
        if (read_guard(f.header, sizeof f.header, line)) {
            f.comment[0] = '\0'; /* the comment was the header's */
        } else if (begins(line, "/* ---- ")) {
            snprintf(group, sizeof group, "%.*s", (int)strcspn(line + 8, "-"), line + 8);
            cut_end(group, " -");
        } else if (begins(line, "/*")) {
            i = read_comment(f.comment, i);
        } else if (begins(line, "FIRN_API ")) {
            i = read_prototype(f.prototype, i);
            if (split_prototype(&f)) {
                visit(self, group, &f);
            }
            f.comment[0] = '\0';
        } else if (begins(line, "typedef") || begins(line, "enum")) {
            f.comment[0] = '\0'; /* the comment was that type's */
        }
    }
}

typedef struct listing {
    FILE *page;
    char group[64]; /* whose list is open, or "" */
} listing;

static void list_function(void *self, const char *group, const function *f) {
    listing *list = self;
    if (strcmp(list->group, group) != 0) {
        fputs(list->group[0] != '\0' ? ".El\n" : "", list->page);
        fprintf(list->page, ".Ss %s\n.Bl -tag -width Ds\n", group);
        snprintf(list->group, sizeof list->group, "%s", group);
    }
    fputs(".It Xo\n", list->page);
    put_prototype(list->page, f);
    fputs(".Xc\n", list->page);
    put_comment(list->page, f->comment);
}

static void put_functions(FILE *page) {
    listing list = {page, ""};
    each_function(list_function, &list);
    fputs(list.group[0] != '\0' ? ".El\n" : "", page);
}

/* ---- types ----------------------------------------------------------------------------------- */

/* From "typedef struct" or "enum" in line i to its closing brace, with the comment above. Returns
 * its last line; i if there is nothing to write. */
static size_t put_type(FILE *page, size_t comment, size_t i) {
    size_t last = i;
    if (strchr(header_lines[i], '{') == NULL) {
        return i; /* an opaque type */
    }
    while (strchr(header_lines[last], '}') == NULL && header_lines[last + 1] != NULL) {
        last++;
    }
    for (size_t position = comment; position <= last; position++) {
        put_text(page, header_lines[position]);
        fputs("\n", page);
    }
    fputs("\n", page);
    return last;
}

/* Structures and enumerations as in the header, with the comments. */
static void put_types(FILE *page) {
    size_t comment = 0;
    fputs(".Bd -literal -offset indent\n", page);
    for (size_t i = 0; header_lines[i] != NULL; i++) {
        const char *line = header_lines[i];
        static char ignored[TEXT_SIZE];
        if (begins(line, "/*")) {
            comment = i;
            i = read_comment(ignored, i);
            if (header_lines[i + 1] == NULL || begins(line, "/* ---- ") ||
                (!begins(header_lines[i + 1], "typedef") && !begins(header_lines[i + 1], "enum"))) {
                comment = 0;
            }
        } else if (begins(line, "typedef") || begins(line, "enum firn_")) {
            i = put_type(page, comment != 0 ? comment : i, i);
            comment = 0;
        }
    }
    fputs(".Ed\n", page);
}

/* ---- a page for each function ---------------------------------------------------------------- */

/* Writes a summary of a function in one line: its comment up to the first colon, semicolon or full
 * stop. */
static void put_summary(FILE *page, const char *text) {
    char line[TEXT_SIZE];
    text += strncmp(text, "Pure. ", 6) == 0 ? 6 : 0;
    size_t length = strcspn(text, ":;");
    const char *stop = strstr(text, ". ");
    length = stop != NULL && (size_t)(stop - text) < length ? (size_t)(stop - text) : length;
    snprintf(line, sizeof line, "%.*s", (int)length, text);
    cut_end(line, "."); /* of the last sentence */
    put_text(page, line);
    fputs("\n", page);
}

static void write_function(void *folder, const char *group, const function *f) {
    char path[4096];
    (void)group;
    snprintf(path, sizeof path, "%s/%s.3", (const char *)folder, f->name);
    FILE *page = open_page(path);
    fprintf(page, ".\\\" SPDX-License-Identifier: MIT\n.Dd November 22, 2026\n.Dt ");
    for (const char *c = f->name; *c != '\0'; c++) {
        fputc(toupper((unsigned char)*c), page);
    }
    fprintf(page, " 3\n.Os firn %s\n.Sh NAME\n.Nm %s\n.Nd ", firn_version(), f->name);
    put_summary(page, f->comment);
    fprintf(page, ".Sh SYNOPSIS\n.In firn/%s\n", f->header);
    put_prototype(page, f);
    fputs(".Sh DESCRIPTION\n", page);
    put_comment(page, f->comment);
    fputs(".Pp\nThe types, the rules for threads and forks, and the errors are in\n.Xr firn 3 .\n"
          ".Sh SEE ALSO\n.Xr firn 1 ,\n.Xr firn 3\n",
          page);
    close_page(page, path);
}

void write_functions(const char *folder) {
    each_function(write_function, (void *)(uintptr_t)folder);
}

const page_part function_parts[] = {
    {"program", put_program},
    {"functions", put_functions},
    {"types", put_types},
    {NULL, NULL},
};
