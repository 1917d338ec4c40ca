/* SPDX-License-Identifier: MIT */
/* `firn show`: what is in an ID, for people or as an object a line. Pure: it says what the bits
 * hold, not whether the ID was ever issued. */
#include "describe.h"
#include "ids.h"
#include "json.h"
#include "lines.h"
#include "operands.h"
#include "order.h"

#include <stdio.h>
#include <string.h>

typedef struct showing {
    id_reader reader;
    firn_order *order; /* that its numbers are of; NULL: IDs */
    firn_scheme scheme;
    bool second; /* a blank line stands between two IDs */
} showing;

/* What is drawn of one field. */
typedef struct shown_field {
    const char *name;
    char value[FIRN_VALUE_SIZE];
    char place[DESCRIBE_PLACE_SIZE]; /* bits 62..22 */
} shown_field;

static size_t list_fields(shown_field list[FIRN_SLICES_MAX], const firn_scheme *scheme,
                          const firn_fields *fields) {
    size_t count = 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        if (slice->name[0] == '\0' || firn_scheme_first(scheme, i) != i) {
            continue;
        }
        shown_field *field = &list[count++];
        field->name = slice->name;
        if (slice->role == FIRN_ROLE_TIME) {
            firn_time time;
            firn_scheme_time(scheme, fields->value[i].low, &time);
            firn_time_format(field->value, &time, firn_scheme_digits(scheme));
        } else {
            firn_fields_get(field->value, fields, scheme, i);
        }
        describe_place(field->place, scheme, i);
    }
    return count;
}

static void put_also(output *out, const firn_reading *readings, size_t count) {
    const char *lead = "  also fits: ";
    for (size_t i = 1; i < count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++) {
            seen = seen || readings[j].scheme == readings[i].scheme;
        }
        if (!seen) {
            output_print(out, "%s%s", lead, readings[i].scheme->name);
            lead = ", ";
        }
    }
    if (lead[0] == ',') {
        output_text(out, "\n");
    }
}

static void put_human(session *s, const char *text, const firn_reading *readings, size_t count) {
    const firn_scheme *scheme = readings->scheme;
    const char *bold = s->color ? "\033[1m" : "", *dim = s->color ? "\033[2m" : "";
    const char *plain = s->color ? "\033[0m" : "";
    shown_field list[FIRN_SLICES_MAX];
    firn_fields fields = {0};
    size_t names = 0, values = 0;
    firn_unpack(&fields, scheme, &readings->id, NULL);
    size_t total = list_fields(list, scheme, &fields);
    for (size_t i = 0; i < total; i++) {
        names = strlen(list[i].name) > names ? strlen(list[i].name) : names;
        values = strlen(list[i].value) > values ? strlen(list[i].value) : values;
    }
    output_print(&s->out, "%s%s%s  %s, %u bits, %s\n", bold, text, plain, scheme->name,
                 scheme->bits,
                 scheme->keyed ? describe_text(scheme) : firn_form_name(readings->form));
    for (size_t i = 0; i < total; i++) {
        output_print(&s->out, "  %-*s  %-*s  %s%s%s\n", (int)names, list[i].name, (int)values,
                     list[i].value, dim, list[i].place, plain);
    }
    const firn_scheme *listed = firn_scheme_find(scheme->name);
    if (scheme->note != NULL && listed != NULL &&
        listed->bits == scheme->bits) { /* of other digits it is not true */
        output_print(&s->out, "  %snote: %s%s\n", dim, scheme->note, plain);
    }
    put_also(&s->out, readings, count);
}

/* The integer of an order number, as an ID of its scheme. */
static int read_order(const showing *work, firn_reading *reading, size_t *count, const char *text,
                      size_t length, firn_error *error) {
    firn_error why;
    uint64_t integer;
    int code = firn_order_read(work->order, &integer, text, length, &why);
    if (code != FIRN_OK) {
        return set_error(error, code, "'%.40s': %s", text, why.text);
    }
    *reading = (firn_reading){&work->scheme, work->scheme.form, {integer, 0, 0, work->scheme.bits}};
    *count = 1;
    return FIRN_OK;
}

static int show_line(session *s, void *context, const char *text, size_t length,
                     firn_error *error) {
    showing *work = context;
    firn_reading readings[FIRN_READINGS_MAX];
    size_t count;
    int code = work->order != NULL
                   ? read_order(work, readings, &count, text, length, error)
                   : reader_read(&work->reader, readings, &count, text, length, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (s->option[OPTION_JSON] != NULL) {
        json_put_id(&s->out, text, readings, count);
        return FIRN_OK;
    }
    if (work->second) {
        output_text(&s->out, "\n");
    }
    work->second = true;
    put_human(s, text, readings, count);
    return FIRN_OK;
}

/* What the lines are: order numbers of a key, or IDs. */
static int open_input(session *s, showing *work) {
    static const char *const none[] = {NULL};
    const char *name = s->option[OPTION_SCHEME];
    const firn_scheme *row = name != NULL ? firn_scheme_find(name) : NULL;
    if (row != NULL && row->keyed) {
        int status = operands_split(s, 0, 0, SIZE_MAX, "order numbers");
        work->scheme = *row;
        return status == STATUS_DONE ? order_open(s, none, &work->order) : status;
    }
    s->plain_count = s->operand_count;
    return s->option[OPTION_KEY_FILE] != NULL
               ? fail_usage(s, "--key-file is for order numbers: add --scheme order")
               : reader_open(s, &work->reader);
}

int run_show(session *s) {
    static showing work;
    int status = open_input(s, &work);
    if (status == STATUS_DONE) {
        status =
            lines_do(s, s->plain_count > 0 ? s->operands : NULL, s->plain_count, show_line, &work);
    }
    firn_order_close(work.order);
    return status;
}
