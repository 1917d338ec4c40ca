/* SPDX-License-Identifier: MIT */
/* `firn convert`: the same ID in another text form, or the same content as another scheme.
 * Pure. */
#include "ids.h"
#include "lines.h"

#include <string.h>

typedef struct conversion {
    id_reader reader;
    int form; /* -1: into `scheme` */
    firn_scheme scheme;
} conversion;

static int put_form(session *s, const firn_id *id, int form, firn_error *error) {
    char *room = output_room(&s->out);
    if (firn_form_width(form, id->bits) == 0) {
        return set_error(error, FIRN_EUSAGE, "an ID of %u bits has no form %s: choose another",
                         id->bits, firn_form_name(form));
    }
    firn_format(room, id, form);
    if (room[0] == '\0') {
        return set_error(error, FIRN_EMISMATCH,
                         "this ID has no form %s: its time or its digits are out of bounds",
                         firn_form_name(form));
    }
    s->out.length += strlen(room);
    output_bytes(&s->out, "\n", 1);
    return FIRN_OK;
}

/* Texts that are two IDs in two forms are refused: a guess would be silent here. */
static int check_certain(const firn_reading *readings, size_t count, const char *text,
                         firn_error *error) {
    const firn_reading *other = readings_differ(readings, count);
    return other == NULL
               ? FIRN_OK
               : set_error(error, FIRN_ETEXT,
                           "'%.50s' is %s as %s and %s as %s: name --from or --scheme", text,
                           firn_form_name(readings[0].form), readings[0].scheme->name,
                           firn_form_name(other->form), other->scheme->name);
}

static int convert_line(session *s, void *context, const char *text, size_t length,
                        firn_error *error) {
    const conversion *work = context;
    firn_reading readings[FIRN_READINGS_MAX];
    size_t count;
    firn_id out;
    int code = reader_read(&work->reader, readings, &count, text, length, error);
    if (code == FIRN_OK && work->form >= 0) {
        code = check_certain(readings, count, text, error);
        return code == FIRN_OK ? put_form(s, &readings[0].id, work->form, error) : code;
    }
    if (code != FIRN_OK) {
        return code;
    }
    code = readings_convert(&out, &work->scheme, readings, count, error);
    return code == FIRN_OK ? put_form(s, &out, work->scheme.form, error) : code;
}

int run_convert(session *s) {
    static conversion work;
    const char *to = s->option[OPTION_TO];
    firn_error error;
    int status = reader_open(s, &work.reader);
    if (status != STATUS_DONE) {
        return status;
    }
    if (to == NULL) {
        return fail_usage(s, "convert needs --to FORM or --to SCHEME: see firn convert --help");
    }
    work.form = firn_form_find(to);
    if (work.form < 0 && firn_scheme_make(&work.scheme, to, NULL, NULL, NULL, &error) != FIRN_OK) {
        return fail_usage(s,
                          "'%.60s' is no form and no scheme: dec hex uuid urn braced base32"
                          " base32hex base36 base58 base62 bin, or see firn schemes",
                          to);
    }
    return lines_do(s, s->operand_count > 0 ? s->operands : NULL, s->operand_count, convert_line,
                    &work);
}
