/* SPDX-License-Identifier: MIT */
/* Failures and notes on standard error. The callers decide whether to stop. */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Written at once, so that lines of several processes do not mix. */
void tell(const char *lead, const char *text) {
    char line[64 + sizeof(((firn_error *)0)->text)];
    int length = snprintf(line, sizeof line - 1, "%s%s", lead, text);
    size_t size = length < 0 ? 0 : (size_t)length;
    if (size > sizeof line - 2) {
        size = sizeof line - 2;
    }
    line[size] = '\0';
    make_plain(line);
    line[size] = '\n';
    if (write(STDERR_FILENO, line, size + 1) < 0) {
        return; /* nowhere left to say so */
    }
}

int fail(session *s, const firn_error *error) {
    firn_error told = *error;
    translate_error(&told, SURFACE_COMMAND);
    output_flush(&s->out);
    tell("firn: ", told.text);
    return status_of(error->code);
}

int fail_as(session *s, int code, const char *format, ...) {
    firn_error error;
    va_list arguments;
    va_start(arguments, format);
    set_error_list(&error, code, format, arguments);
    va_end(arguments);
    return fail(s, &error);
}

int argument_code(int code, firn_error *error) {
    if (code == FIRN_ETEXT) {
        code = FIRN_EUSAGE;
        error->code = code;
    }
    return code;
}

void tell_note(void *self, const char *text) {
    session *s = self;
    if (s->option[OPTION_QUIET] == NULL) {
        output_flush(&s->out);
        tell("firn: note: ", text);
    }
}

int confirm(session *s, const char *question, const char *instead) {
    char answer[16] = "";
    if (s->option[OPTION_YES] != NULL) {
        return STATUS_DONE;
    }
    output_flush(&s->out);
    if (!isatty(STDIN_FILENO)) {
        return fail_usage(s, "standard input is not a terminal, so you cannot be asked: %s",
                          instead);
    }
    fprintf(stderr, "%s [y/N] ", question);
    if (fgets(answer, sizeof answer, stdin) == NULL || (answer[0] != 'y' && answer[0] != 'Y')) {
        output_text(&s->out, "nothing changed\n");
        return STATUS_NO;
    }
    return STATUS_DONE;
}
