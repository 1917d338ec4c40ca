/* SPDX-License-Identifier: MIT */
/* IDs written: the form, and typeid's prefix. Reads nothing: that is reader.c. */
#include "ids.h"
#include "pure_verbs.h"
#include "shared/json.h"
#include "shared/operands.h"

#include <string.h>

int writer_prefix(id_writer *writer, const char *prefix, firn_error *error) {
    char checked[FIRN_PREFIX_SIZE];
    const size_t length = strlen(prefix);
    int code = pure_prefix(checked, writer->form, prefix, length, error);
    if (code == FIRN_OK) {
        memcpy(writer->prefix, prefix, length);
        writer->prefix[length] = '_';
        writer->prefix_length = length > 0 ? length + 1 : 0;
    }
    return code;
}

static int take_prefix(session *s, const firn_scheme *scheme, id_writer *writer) {
    const char *prefix = operand_value(s, "prefix");
    firn_error error;
    return prefix == NULL || firn_scheme_field(scheme, "prefix") >= 0 ||
                   writer_prefix(writer, prefix, &error) == FIRN_OK
               ? STATUS_DONE
               : fail(s, &error);
}

int writer_open(session *s, const firn_scheme *scheme, id_writer *writer) {
    const char *form = s->option[OPTION_AS];
    firn_error error;
    memset(writer, 0, sizeof *writer);
    writer->scheme = scheme;
    writer->form = scheme->form;
    if (form != NULL && (pure_form(&writer->form, form, &error) != FIRN_OK ||
                         pure_form_check(writer->form, scheme, scheme->bits, &error) != FIRN_OK)) {
        return fail(s, &error);
    }
    writer->width = firn_form_width(writer->form, scheme->bits);
    if (writer->form == FIRN_FORM_DEC || writer->form == FIRN_FORM_UNSIGNED ||
        writer->form == FIRN_FORM_FLAKE || writer->form == FIRN_FORM_DATED) {
        writer->width = 0; /* not padded */
    }
    return take_prefix(s, scheme, writer);
}

/* From the number: code that reads the text at once waits until it is written. */
static size_t decimal_length(const firn_id *id) {
    const bool negative = id->bits == 64 && id->low > INT64_MAX;
    const uint64_t number = negative ? 0 - id->low : id->low;
    size_t digits = 19; /* most IDs have 18 or 19 */
    for (uint64_t least = UINT64_C(1000000000000000000); digits > 1 && number < least;
         least /= 10) {
        digits--;
    }
    return negative + digits;
}

size_t writer_format(const id_writer *writer, char *text, const firn_id *id) {
    char *position = text + writer->prefix_length;
    memcpy(text, writer->prefix, writer->prefix_length);
    firn_format(position, id, writer->form);
    return writer->prefix_length + (writer->width > 0 ? writer->width
                                    : writer->form == FIRN_FORM_DEC && id->bits <= 64
                                        ? decimal_length(id)
                                        : strlen(position));
}

/* IDs of one width, as many as the buffer has room for; returns how many. */
static size_t put_columns(const id_writer *writer, output *out, const firn_id *ids, size_t n) {
    const size_t width = writer->width, line = width + 1;
    char *position = output_room(out);
    size_t some = (sizeof out->buffer - out->length - FIRN_TEXT_SIZE) / line;
    some = some < n ? some : n;
    for (size_t i = 0; i < some; i++, position += line) {
        firn_format(position, &ids[i], writer->form);
        position[width] = '\n'; /* where firn_format has its final zero */
    }
    out->length += some * line;
    return some;
}

static void put_object(const id_writer *writer, output *out, const firn_id *id) {
    char text[OUTPUT_ROOM];
    firn_reading reading = {writer->scheme, writer->form, FIRN_CERTAIN, *id};
    writer_format(writer, text, id);
    json_line(out, object_of_id(text, &reading, 1));
}

void writer_put(const id_writer *writer, session *s, const firn_id *ids, size_t n) {
    output *out = &s->out;
    if (s->option[OPTION_JSON] != NULL) {
        for (size_t i = 0; i < n && !output_dead(out); i++) {
            put_object(writer, out, &ids[i]);
        }
        return;
    }
    while (writer->width > 0 && writer->prefix_length == 0 && n > 0 && !output_dead(out)) {
        size_t some = put_columns(writer, out, ids, n);
        ids += some;
        n -= some;
    }
    for (size_t i = 0; i < n && !output_dead(out); i++) {
        char *room = output_room(out);
        size_t length = writer_format(writer, room, &ids[i]);
        room[length] = '\n';
        out->length += length + 1;
    }
}
