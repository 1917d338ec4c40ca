/* SPDX-License-Identifier: MIT */
/* Parts of firn(3) that firn.h itself holds: its program, and its functions by group, each with the
 * first sentence of its comment. Reads the header as it is laid out, line by line; it is no parser
 * of C, and test/manual.sh counts whether each function came through. */
#include "pages.h"

#include <ctype.h>
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

/* ---- comments and prototypes ------------------------------------------------------------------ */

/* Adds a line to a text, one blank between. */
static void add(char text[TEXT_SIZE], const char *line) {
    size_t length = strlen(text);
    snprintf(text + length, TEXT_SIZE - length, "%s%s", length > 0 ? " " : "",
             line + strspn(line, " "));
}

static void cut_end(char *text, const char *end) {
    char *at = strstr(text, end);
    if (at != NULL) {
        *at = '\0';
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

/* The first sentence that says something: "Pure." alone does not. */
static void put_first_sentence(FILE *page, const char *text) {
    size_t length;
    for (;; text += length + 1) {
        const char *stop = strstr(text, ". ");
        length = stop != NULL ? (size_t)(stop - text) + 1 : strlen(text);
        if (stop == NULL || memchr(text, ' ', length) != NULL) {
            break;
        }
    }
    char sentence[TEXT_SIZE];
    snprintf(sentence, sizeof sentence, "%.*s", (int)length, text);
    put_text(page, sentence);
    fputs(length > 0 && sentence[length - 1] != '.' ? ".\n" : "\n", page);
}

/* ".It Ft TYPE Fn NAME ARGUMENT..." of "TYPE NAME(ARGUMENT, ...);". */
static void put_prototype(FILE *page, char *text) {
    char *open = strchr(text, '('), *close = strchr(text, ';');
    if (open == NULL || close == NULL || close[-1] != ')') {
        return;
    }
    close[-1] = '\0';
    *open = '\0';
    char *name = open;
    while (name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) {
        name--;
    }
    fprintf(page, ".It Xo\n.Ft \"%.*s\"\n.Fn %s", (int)(name - text), text, name);
    for (char *at = open + 1; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        fputc(' ', page);
        put_argument(page, at + strspn(at, " "));
        at = comma != NULL ? comma + 1 : NULL;
    }
    fputs("\n.Xc\n", page);
}

/* A function, its own comment before it, or behind its semicolon. */
static void put_function(FILE *page, char *prototype, const char *comment) {
    char behind[TEXT_SIZE] = "";
    const char *star = strstr(prototype, "/*");
    if (star != NULL) {
        add(behind, star + 2);
        cut_end(behind, "*/");
    }
    put_prototype(page, prototype);
    if (comment[0] != '\0') {
        put_first_sentence(page, comment);
    } else if (behind[0] != '\0') {
        put_first_sentence(page, behind);
    }
}

/* ---- the list -------------------------------------------------------------------------------- */

static bool begins(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0;
}

static void put_functions(FILE *page) {
    static char comment[TEXT_SIZE], prototype[TEXT_SIZE], group[64];
    bool open = false;
    comment[0] = '\0';
    snprintf(group, sizeof group, "library");
    for (size_t i = 0; header_lines[i] != NULL; i++) {
        const char *line = header_lines[i];
        if (begins(line, "/* ---- ")) {
            snprintf(group, sizeof group, "%.*s", (int)strcspn(line + 8, "-"), line + 8);
            cut_end(group, " -");
            fputs(open ? ".El\n" : "", page);
            open = false;
        } else if (begins(line, "/*")) {
            i = read_comment(comment, i);
        } else if (begins(line, "FIRN_API ")) {
            if (!open) {
                fprintf(page, ".Ss %s\n.Bl -tag -width Ds\n", group);
            }
            open = true;
            i = read_prototype(prototype, i);
            put_function(page, prototype, comment);
            comment[0] = '\0';
        } else if (begins(line, "typedef") || begins(line, "enum")) {
            comment[0] = '\0'; /* it was that type's */
        }
    }
    fputs(open ? ".El\n" : "", page);
}

const part function_parts[] = {
    {"program", put_program},
    {"functions", put_functions},
    {NULL, NULL},
};
