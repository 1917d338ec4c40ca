/* SPDX-License-Identifier: MIT */
/* `firn convert`: the same ID in another text form, or the same content as another scheme.
 * Pure. */
#include "ids.h"
#include "pure_verbs.h"
#include "shared/json.h"
#include "shared/lines.h"
#include "shared/operands.h"

#include <string.h>

typedef struct conversion {
    id_reader reader;
    pure_target target;
    const char *prefix; /* of typeid; NULL: of the ID that is converted */
} conversion;

/* The object that show prints for the converted ID. Another form does not change how the ID is
 * read. */
static json_t *object_of_converted(const conversion *work, const char *given, const char *text,
                                   const firn_reading *readings, id_counts counts,
                                   const firn_id *id) {
    if (work->target.form < 0) {
        firn_reading reading = {&work->target.scheme, work->target.scheme.form, FIRN_CERTAIN, *id};
        return object_of_id(text, &reading, 1);
    }
    json_t *object = object_of_text(given, readings, counts, NULL, false, work->reader.named);
    object = work->target.form == FIRN_FORM_TYPEID ? object_prefix(object, text) : object;
    return json_set(object, "id", json_string(text));
}

static int convert_line(session *s, void *context, const char *text, size_t length,
                        firn_error *error) {
    conversion *work = context;
    firn_reading readings[FIRN_READINGS_MAX];
    id_counts counts;
    firn_id out;
    char converted[FIRN_TEXT_SIZE];
    const int form = pure_target_form(&work->target);
    reader_look_ahead(&work->reader, text, length);
    int code = reader_convert(&work->reader, readings, &counts, text, length, error);
    code = code == FIRN_OK
               ? pure_convert(&out, &work->target, readings, counts, text,
                              work->target.form >= 0 ? "set --scheme or --from" : "set --scheme",
                              error)
               : code;
    if (code == FIRN_OK && firn_format(converted, &out, form)[0] == '\0') {
        code = pure_form_refuse(form, error);
    }
    if (code == FIRN_OK && form == FIRN_FORM_TYPEID) {
        char prefix[FIRN_PREFIX_SIZE] = "";
        if (readings[0].form == FIRN_FORM_TYPEID) {
            firn_prefix_read(prefix, text, length);
        }
        firn_prefix_format(converted, work->prefix != NULL ? work->prefix : prefix, &out);
    }
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

/* Takes prefix= out of the operands: what remains are IDs. */
static int take_prefix(session *s, conversion *work) {
    firn_error error;
    size_t count = 0;
    for (size_t i = 0; i < s->operand_count; i++) {
        if (!operand_is(s->operands[i], "prefix")) {
            s->operands[count++] = s->operands[i];
            continue;
        }
        if (work->prefix != NULL) {
            return fail_usage(s, "prefix is given twice: give it once");
        }
        work->prefix = s->operands[i] + strlen("prefix=");
    }
    s->operand_count = count;
    char checked[FIRN_PREFIX_SIZE];
    return work->prefix == NULL ||
                   pure_prefix(checked, pure_target_form(&work->target), work->prefix,
                               strlen(work->prefix), &error) == FIRN_OK
               ? STATUS_DONE
               : fail(s, &error);
}

int run_convert(session *s) {
    static conversion work;
    const char *out = s->option[OPTION_TO];
    firn_error error;
    int status = reader_open(s, &work.reader);
    if (status != STATUS_DONE) {
        return status;
    }
    if (out == NULL) {
        return fail_usage(s, "convert needs --to FORM or --to SCHEME: see firn convert --help");
    }
    if (pure_target_find(&work.target, out, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    status = take_prefix(s, &work);
    status = status == STATUS_DONE ? operands_are_ids(s) : status;
    return status != STATUS_DONE ? status
                                 : lines_do(s, s->operand_count > 0 ? s->operands : NULL,
                                            s->operand_count, convert_line, &work);
}
