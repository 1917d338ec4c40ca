/* SPDX-License-Identifier: MIT */
/* `firn range`: the least and the greatest ID of a time span, for a query. Pure. The library
 * refuses schemes whose IDs of a time span are scattered, and says what to use instead. */
#include "ids.h"
#include "pure_verbs.h"
#include "shared/json.h"
#include "shared/operands.h"

static int read_end(session *s, const char *name, const char *text, firn_time *time) {
    firn_error error;
    int code = pure_named_time(time, name, text, &error);
    return argument_code(code, &error) == FIRN_OK ? STATUS_DONE : fail(s, &error);
}

static void put_object(session *s, const id_writer *writer, const firn_id *least,
                       const firn_id *greatest) {
    char ends[2][OUTPUT_ROOM];
    writer_format(writer, ends[0], least);
    writer_format(writer, ends[1], greatest);
    json_line(&s->out, json_pack("{s:s, s:s}", "least", ends[0], "greatest", ends[1]));
}

int run_range(session *s) {
    static const char *const none[] = {NULL}, *const prefix[] = {"prefix", NULL};
    firn_scheme scheme;
    firn_fields pinned = {0};
    firn_time from, to;
    firn_id least, greatest;
    firn_error error;
    id_writer writer;
    int status = operands_split(s, 1, 3, 3, "SCHEME FROM TO");
    if (status == STATUS_DONE) {
        status = operand_scheme(s, &scheme);
    }
    if (status == STATUS_DONE) {
        status = writer_open(s, &scheme, &writer);
    }
    if (status == STATUS_DONE) {
        status = read_end(s, "FROM", s->operands[1], &from);
    }
    if (status == STATUS_DONE) {
        status = read_end(s, "TO", s->operands[2], &to);
    }
    if (status == STATUS_DONE) {
        const bool field = firn_scheme_field(&scheme, "prefix") >= 0;
        status = operand_fields(s, &scheme, field ? none : prefix, &pinned);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    if (pure_span(&least, &greatest, &scheme, writer.form, &pinned, &from, &to, &error) !=
        FIRN_OK) {
        return fail(s, &error);
    }
    if (s->option[OPTION_JSON] != NULL) {
        put_object(s, &writer, &least, &greatest);
        return STATUS_DONE;
    }
    writer_put(&writer, s, &least, 1);
    writer_put(&writer, s, &greatest, 1);
    return STATUS_DONE;
}
