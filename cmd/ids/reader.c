/* SPDX-License-Identifier: MIT */
/* Reads the options that say how IDs are read. The reading itself is in reading.c. */
#include "ids.h"
#include "pure_verbs.h"
#include "shared/lines.h"

#include <string.h>

int reader_open(session *s, id_reader *reader) {
    const char *name = s->option[OPTION_SCHEME], *form = s->option[OPTION_FROM];
    bool named = name != NULL;
    firn_error error;
    memset(reader, 0, sizeof *reader);
    reader->form = -1;
    if (form != NULL && pure_form(&reader->form, form, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (!named && (s->option[OPTION_EPOCH] != NULL || s->option[OPTION_BITS] != NULL ||
                   s->option[OPTION_DIGITS] != NULL)) {
        return fail_usage(s, "--epoch, --bits and --digits need --scheme NAME: add it");
    }
    reader->named = named;
    reader->cure = form == NULL ? "set --scheme or --from, or find IDs in a text with show --find"
                                : "set --scheme, or another form with --from";
    reader->from = "--from ";
    int code = named ? pure_scheme(&reader->scheme, name, s->option[OPTION_EPOCH],
                                   s->option[OPTION_BITS], s->option[OPTION_DIGITS], &error)
                     : FIRN_OK;
    if (argument_code(code, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (named && pure_keyed_check(&reader->scheme, "show --scheme", &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (named && reader->form >= 0 &&
        pure_form_check(reader->form, NULL, reader->scheme.bits, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    return STATUS_DONE;
}

void reader_look_ahead(id_reader *reader, const char *text, size_t length) {
    const char *next;
    for (size_t i = 0; reader_wonders(reader, text, length) && lines_ahead(i, &next); i++) {
        reader_notice(reader, next, strlen(next));
    }
}
