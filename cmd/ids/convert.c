/* SPDX-License-Identifier: MIT */
/* `firn convert`: the same ID in another text form, or the same content as another scheme.
 * Pure. */
#include "ids.h"
#include "shared/json.h"
#include "shared/lines.h"

#include <string.h>

typedef struct conversion {
    id_reader reader;
    int form; /* -1: into `scheme` */
    firn_scheme scheme;
} conversion;

static int format_id(char text[FIRN_TEXT_SIZE], const firn_id *id, int form, firn_error *error) {
    if (firn_form_width(form, id->bits) == 0) {
        return set_error(error, FIRN_EUSAGE, "an ID of %u bits has no form %s: choose another form",
                         id->bits, firn_form_name(form));
    }
    firn_format(text, id, form);
    if (text[0] == '\0') {
        return set_error(error, FIRN_EMISMATCH,
                         "this ID has no form %s, since its time or its digits are out of range: "
                         "choose another form",
                         firn_form_name(form));
    }
    return FIRN_OK;
}

/* The object that show prints for the converted ID. Another form does not change how the ID is read. */
static json_t *object_of_converted(const conversion *work, const char *given, const char *text,
                                   const firn_reading *readings, id_counts counts,
                                   const firn_id *id) {
    if (work->form < 0) {
        firn_reading one = {&work->scheme, work->scheme.form, FIRN_CERTAIN, *id};
        return object_of_id(text, &one, 1);
    }
    return json_set(object_of_text(given, readings, counts, NULL, false, work->reader.named), "id",
                    json_string(text));
}

static int convert_line(session *s, void *context, const char *text, size_t length,
                        firn_error *error) {
    conversion *work = context;
    firn_reading readings[FIRN_READINGS_MAX];
    id_counts counts;
    firn_error why;
    firn_id out;
    char converted[FIRN_TEXT_SIZE];
    reader_look_ahead(&work->reader, text, length);
    int code = reader_look(&work->reader, readings, &counts, text, length, error);
    if (code != FIRN_OK) {
        return code;
    }
    out = readings[0].id;
    code = work->form >= 0
               ? readings_certain(readings, counts, "set --scheme or --from", &why)
               : readings_convert(&out, &work->scheme, readings, counts, "set --scheme", &why);
    if (code != FIRN_OK) {
        return prefix_error(error, code, &why, "'%.50s'%s: ", text, length > 50 ? "..." : "");
    }
    code = format_id(converted, &out, work->form >= 0 ? work->form : work->scheme.form, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (s->option[OPTION_JSON] != NULL) {
        json_line(&s->out, object_of_converted(work, text, converted, readings, counts, &out));
    } else {
        output_print(&s->out, "%s\n", converted);
    }
    return FIRN_OK;
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
        return fail_usage(
            s, "'%.60s' is neither a form nor a scheme: use " FORM_NAMES ", or see firn schemes",
            to);
    }
    return lines_do(s, s->operand_count > 0 ? s->operands : NULL, s->operand_count, convert_line,
                    &work);
}
