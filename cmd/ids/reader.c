/* SPDX-License-Identifier: MIT */
/* What the options say about how IDs are read. The reading itself is in reading.c. */
#include "ids.h"
#include "shared/lines.h"

#include <string.h>

int reader_open(session *s, id_reader *reader) {
    const char *name = s->option[OPTION_SCHEME], *form = s->option[OPTION_FROM];
    bool named = name != NULL;
    firn_error error;
    memset(reader, 0, sizeof *reader);
    reader->form = form == NULL ? -1 : firn_form_find(form);
    if (form != NULL && reader->form < 0) {
        return fail_usage(s, "there is no form '%s': use " FORM_NAMES, form);
    }
    if (!named && (s->option[OPTION_EPOCH] != NULL || s->option[OPTION_BITS] != NULL ||
                   s->option[OPTION_DIGITS] != NULL)) {
        return fail_usage(s, "--epoch, --bits and --digits need --scheme NAME: add it");
    }
    reader->named = named;
    reader->cure = form == NULL ? "set --scheme or --from, or find IDs in a text with show --find"
                                : "set --scheme, or another form with --from";
    reader->from = "--from ";
    int code = named ? firn_scheme_make(&reader->scheme, name, s->option[OPTION_EPOCH],
                                        s->option[OPTION_BITS], s->option[OPTION_DIGITS], &error)
                     : FIRN_OK;
    if (argument_code(code, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (named && reader->scheme.keyed) {
        return fail_usage(s, "%s needs a secret key: firn show --scheme %s --key-file FILE", name,
                          name);
    }
    if (named && reader->form >= 0 && firn_form_width(reader->form, reader->scheme.bits) == 0) {
        return fail_usage(s, "the form %s does not apply to the %u bits of %s: choose another form",
                          form, reader->scheme.bits, reader->scheme.name);
    }
    return STATUS_DONE;
}

void reader_look_ahead(id_reader *reader, const char *text, size_t length) {
    const char *next;
    for (size_t i = 0; reader_wonders(reader, text, length) && lines_ahead(i, &next); i++) {
        reader_notice(reader, next, strlen(next));
    }
}
