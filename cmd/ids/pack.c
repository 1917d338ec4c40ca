/* SPDX-License-Identifier: MIT */
/* `firn pack`: IDs of the fields that are given, of the arguments or of a line a set. Pure: it
 * issues nothing, and promises nothing about uniqueness. */
#include "ids.h"
#include "order.h"
#include "pure_verbs.h"
#include "shared/lines.h"
#include "shared/operands.h"

#include <string.h>

typedef struct packing {
    firn_scheme scheme;
    id_writer writer;
    firn_order *order; /* NULL: the ID is not encrypted */
} packing;

static int put_packed(session *s, const packing *work, const firn_id *id, firn_error *error) {
    if (work->order != NULL) {
        return order_put(s, work->order, &work->scheme, id->low, error);
    }
    const char *note = pure_pack_note(&work->scheme, work->writer.form, id);
    if (note != NULL) {
        tell_note(s, note);
    }
    writer_put(&work->writer, s, id, 1);
    return FIRN_OK;
}

/* Packs a line of blank-separated name=value. */
static int pack_line(session *s, void *context, const char *text, size_t length,
                     firn_error *error) {
    packing item = *(const packing *)context, *work = &item; /* with a prefix of the line's own */
    bool prefixed = work->order == NULL && firn_scheme_field(&work->scheme, "prefix") < 0;
    firn_fields fields = {0};
    firn_id id;
    char word[256];
    int code = FIRN_OK;
    (void)length;
    for (text += strspn(text, " \t"); *text != '\0' && code == FIRN_OK;) {
        size_t size = strcspn(text, " \t");
        if (size >= sizeof word) {
            return set_error(error, FIRN_EUSAGE,
                             "'%.60s...' is too long for a field: use at most 255 characters",
                             text);
        }
        memcpy(word, text, size);
        word[size] = '\0';
        code = prefixed && operand_is(word, "prefix")
                   ? writer_prefix(&item.writer, word + strlen("prefix="), error)
                   : operand_field(&fields, &work->scheme, word, error);
        text += size;
        text += strspn(text, " \t");
    }
    if (code == FIRN_OK) {
        code = firn_pack(&id, &work->scheme, &fields, error);
    }
    return code == FIRN_OK ? put_packed(s, work, &id, error) : code;
}

static int pack_arguments(session *s, const packing *work) {
    static const char *const not_field[] = {"prefix", "key_id", "check", "tweak", NULL};
    static const char *const none[] = {NULL}, *const prefix[] = {"prefix", NULL};
    bool prefixed = firn_scheme_field(&work->scheme, "prefix") < 0;
    firn_fields fields = {0};
    firn_error error;
    firn_id id;
    int status = operand_fields(s, &work->scheme,
                                work->order != NULL ? not_field
                                : prefixed          ? prefix
                                                    : none,
                                &fields);
    if (status != STATUS_DONE) {
        return status;
    }
    if (firn_pack(&id, &work->scheme, &fields, &error) != FIRN_OK ||
        put_packed(s, work, &id, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    return STATUS_DONE;
}

/* The arguments, or with - a line a set. */
static int pack_all(session *s, packing *work) {
    static const char *const beside[] = {"epoch",  "bits",  "digits", "prefix",
                                         "key_id", "check", "tweak",  NULL};
    if (s->plain_count == 1) {
        return pack_arguments(s, work);
    }
    for (size_t i = 2; i < s->operand_count; i++) {
        if (!operand_is_one_of(s->operands[i], beside)) {
            return fail_usage(s,
                              "'%.60s' cannot be combined with -, which reads every field from the "
                              "lines: remove it",
                              s->operands[i]);
        }
    }
    return lines_do(s, NULL, 0, pack_line, work);
}

/* How the IDs are written: in a form, or with a key. */
static int open_writer(session *s, packing *work) {
    static const char *const also[] = {"number", NULL};
    return work->scheme.keyed ? order_open(s, also, &work->order)
                              : writer_open(s, &work->scheme, &work->writer);
}

int run_pack(session *s) {
    packing work = {0};
    int status = operands_split(s, 1, 1, 2, "a SCHEME");
    if (status == STATUS_DONE && s->plain_count == 2 && strcmp(s->operands[1], "-") != 0) {
        return fail_usage(s, "'%.60s' is not a field: write name=value, or - to read lines",
                          s->operands[1]);
    }
    if (status == STATUS_DONE) {
        status = operand_scheme(s, &work.scheme);
    }
    if (status == STATUS_DONE) {
        status = open_writer(s, &work);
    }
    if (status == STATUS_DONE) {
        status = pack_all(s, &work);
    }
    firn_order_close(work.order);
    return status;
}
