/* SPDX-License-Identifier: MIT */
/* `firn pack`: IDs of the fields that are given, of the arguments or of a line a set. Pure: it
 * issues nothing, and promises nothing about uniqueness. */
#include "ids.h"
#include "lines.h"
#include "operands.h"

#include <string.h>

typedef struct packing {
    firn_scheme scheme;
    id_writer writer;
} packing;

/* One line: blank-separated name=value. */
static int pack_line(session *s, void *context, const char *text, size_t length,
                     firn_error *error) {
    const packing *work = context;
    firn_fields fields = {0};
    firn_id id;
    char word[256];
    int code = FIRN_OK;
    (void)length;
    for (text += strspn(text, " \t"); *text != '\0' && code == FIRN_OK;) {
        size_t size = strcspn(text, " \t");
        if (size >= sizeof word) {
            return set_error(error, FIRN_EUSAGE, "'%.60s...' is longer than a field can be", text);
        }
        memcpy(word, text, size);
        word[size] = '\0';
        code = operand_field(&fields, &work->scheme, word, error);
        text += size;
        text += strspn(text, " \t");
    }
    if (code == FIRN_OK) {
        code = firn_pack(&id, &work->scheme, &fields, error);
    }
    if (code == FIRN_OK) {
        writer_put(&work->writer, &s->out, &id);
    }
    return code;
}

static int pack_arguments(session *s, const packing *work) {
    static const char *const not_field[] = {"prefix", NULL};
    bool prefix = firn_scheme_field(&work->scheme, "prefix") < 0;
    firn_fields fields = {0};
    firn_error error;
    firn_id id;
    int status = operand_fields(s, &work->scheme, prefix ? not_field : not_field + 1, &fields);
    if (status != STATUS_DONE) {
        return status;
    }
    if (firn_pack(&id, &work->scheme, &fields, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    writer_put(&work->writer, &s->out, &id);
    return STATUS_DONE;
}

int run_pack(session *s) {
    packing work = {0};
    int status = operands_split(s, 1, 1, 2, "a SCHEME");
    if (status == STATUS_DONE && s->plain_count == 2 && strcmp(s->operands[1], "-") != 0) {
        return fail_usage(s, "'%.60s' is no field: write name=value, or - to read lines",
                          s->operands[1]);
    }
    if (status == STATUS_DONE) {
        status = operand_scheme(s, &work.scheme);
    }
    if (status == STATUS_DONE) {
        status = writer_open(s, &work.scheme, &work.writer);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    if (s->plain_count == 1) {
        return pack_arguments(s, &work);
    }
    for (size_t i = 2; i < s->operand_count; i++) {
        const char *word = s->operands[i];
        if (!operand_is(word, "epoch") && !operand_is(word, "bits") &&
            !operand_is(word, "prefix")) {
            return fail_usage(s, "'%.60s' beside -: with - every field is read from the lines",
                              word);
        }
    }
    return lines_do(s, NULL, 0, pack_line, &work);
}
