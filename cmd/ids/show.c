/* SPDX-License-Identifier: MIT */
/* `firn show`: the fields of an ID, for people or as one object per line. It decodes the bits and
 * does not know whether the ID was ever issued. */
#include "describe.h"
#include "find.h"
#include "ids.h"
#include "object.h"
#include "order.h"
#include "remark.h"
#include "shared/amounts.h"
#include "shared/color.h"
#include "shared/json.h"
#include "shared/lines.h"
#include "shared/operands.h"

#include <stdio.h>
#include <string.h>

#define POSSIBLE_TITLE                                                                             \
    "  possible, the most frequent first (choose with --scheme NAME or --near TIME):\n"

typedef struct showing {
    id_reader reader;
    firn_order *order; /* NULL: the texts are IDs, not order numbers */
    firn_scheme scheme;
    bool second;           /* a blank line separates two IDs */
    bool none;             /* a text was not an ID of a scheme, or only possibly */
    const firn_time *near; /* NULL: no --near */
} showing;

/* A field of an ID. */
typedef struct shown_field {
    const char *name;
    enum tone tone;
    char value[FIRN_VALUE_SIZE];
    char place[DESCRIBE_PLACE_SIZE]; /* bits 62..22 */
} shown_field;

static size_t list_fields(shown_field list[FIRN_SLICES_MAX], const firn_scheme *scheme,
                          const firn_fields *fields) {
    enum tone tones[FIRN_SLICES_MAX];
    size_t count = 0;
    color_fields(tones, scheme);
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        if (slice->name[0] == '\0' || firn_scheme_first(scheme, i) != i) {
            continue;
        }
        shown_field *field = &list[count++];
        field->name = slice->name;
        field->tone = tones[i];
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

/* A reading in a line: scheme, form, time. */
static void put_reading(output *out, const firn_reading *reading) {
    const firn_scheme *scheme = reading->scheme;
    char time_text[FIRN_TIME_SIZE] = "";
    firn_time time;
    if (id_time(&time, scheme, &reading->id) > 0) {
        firn_time_format(time_text, &time, firn_scheme_digits(scheme));
    }
    output_print(out, "    %-19s  %-9s%s%s\n", scheme->name, firn_form_name(reading->form),
                 time_text[0] != '\0' ? "  " : "", time_text);
}

/* The other schemes that are plausible, from `first` on; a scheme again only if the ID is another
 * one in that form. */
static void put_also(output *out, const firn_reading *readings, size_t first, size_t count) {
    bool any = false;
    for (size_t i = first; i < count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++) {
            seen = seen || readings[j].scheme == readings[i].scheme;
        }
        bool same = readings[i].id.bits == readings[0].id.bits &&
                    firn_id_cmp(&readings[i].id, &readings[0].id) == 0;
        if (!seen || (!same && readings[i].form != readings[0].form)) {
            output_text(out, any ? "" : "  also possible (--scheme NAME reads it as one):\n");
            put_reading(out, &readings[i]);
            any = true;
        }
    }
}

static bool has_owner(const char *format) {
    size_t i = 0;
    const firn_owner *owner;
    while ((owner = firn_owner_at(i)) != NULL && strcmp(owner->name, format) != 0) {
        i++;
    }
    return owner != NULL;
}

/* The formats from `first` on; `owned`: those with an owner were listed. A plain integer was said
 * to be one. */
static void put_formats(output *out, const id_matches *matches, size_t first, bool owned) {
    bool any = false;
    for (size_t i = first; i < matches->count; i++) {
        const firn_match *match = &matches->list[i];
        char lead[160], detail[FIRN_TIME_SIZE] = "";
        if (strcmp(match->format->name, "integer") == 0 ||
            (owned && has_owner(match->format->name))) {
            continue;
        }
        if (match->timed) {
            firn_time_format(detail, &match->time, match->digits);
        } else if (match->count > 0) {
            snprintf(detail, sizeof detail, "%.40s", match->fields[0].value);
        }
        snprintf(lead, sizeof lead, "    %-19s  %-9s  %s%s", match->format->name,
                 firn_sure_name(match->sure), detail, detail[0] != '\0' ? "  " : "");
        output_text(out, any ? "" : "  formats that are not schemes:\n");
        output_wrap(out, lead, 6, match->reason);
        any = true;
    }
}

/* --all: every reading. */
static void put_all(output *out, const firn_reading *readings, id_counts counts) {
    for (size_t i = 0; i < counts.all; i++) {
        if (i == 0 || i == counts.plausible) {
            output_text(out, i < counts.plausible ? "  plausible:\n" : "  by chance:\n");
        }
        put_reading(out, &readings[i]);
    }
}

/* A format says best what the text is. */
static void put_match(session *s, const char *text, const firn_reading *readings, id_counts counts,
                      const id_matches *matches) {
    const firn_match *match = &matches->list[0];
    char time_text[FIRN_TIME_SIZE];
    int names = match->timed ? 4 : 0;
    for (uint32_t i = 0; i < match->count; i++) {
        const int length = (int)strlen(match->fields[i].name);
        names = length > names ? length : names;
    }
    output_print(&s->out, "%s%s%s  %s, %s\n", color_bold(s), text, color_plain(s),
                 match->format->title, firn_sure_name(match->sure));
    if (match->timed) {
        output_print(&s->out, "  %-*s  %s\n", names, "time",
                     firn_time_format(time_text, &match->time, match->digits));
    }
    for (uint32_t i = 0; i < match->count; i++) {
        output_print(&s->out, "  %-*s  %s\n", names, match->fields[i].name, match->fields[i].value);
    }
    output_wrap(&s->out, "  reason: ", 10, match->reason);
    put_formats(&s->out, matches, 1, false);
    if (s->option[OPTION_ALL] != NULL) {
        put_all(&s->out, readings, counts);
    } else {
        put_also(&s->out, readings, 0, counts.plausible);
    }
}

/* Lists the systems whose ID a number may be, with their owners. Returns how many there are. */
static size_t put_owned(output *out, const id_possible *list, size_t count) {
    size_t owned = 0;
    for (size_t i = 0; i < count; i++) {
        const firn_reading *reading = list[i].reading;
        char time_text[FIRN_TIME_SIZE] = "";
        if (reading == NULL && list[i].owner == NULL) {
            continue;
        }
        if (list[i].timed) {
            firn_time_format(time_text, &list[i].time, list[i].digits);
        }
        output_text(out, owned++ > 0 ? "" : POSSIBLE_TITLE);
        const char *name = reading != NULL ? reading->scheme->name : list[i].match->format->name;
        const char *form = reading != NULL ? firn_form_name(reading->form) : "format";
        if (list[i].owner != NULL) {
            output_print(out, "    %-16s  %-8s  %-24s  %s\n", name, form, time_text,
                         list[i].owner->title);
        } else {
            output_print(out, "    %-16s  %-8s  %s\n", name, form, time_text);
        }
    }
    return owned;
}

/* No scheme is sure, and no format leads. */
static void put_none(session *s, const char *text, const firn_reading *readings, id_counts counts,
                     const id_matches *matches) {
    id_possible list[POSSIBLE_MAX];
    const size_t possible = readings_possible(list, readings, counts, matches);
    char remark[REMARK_SIZE];
    remark_on(remark, text, strlen(text));
    output_print(&s->out, "%s%s%s  %s\n", color_bold(s), text, color_plain(s),
                 counts.plausible > 0 ? "possibly an ID: its scheme cannot be seen"
                                      : "not an ID of a known scheme");
    if (remark[0] != '\0') {
        output_wrap(&s->out, "  ", 2, remark);
    }
    const size_t owned = put_owned(&s->out, list, possible);
    put_formats(&s->out, matches, 0, owned > 0);
    if (s->option[OPTION_ALL] != NULL) {
        put_all(&s->out, readings, counts);
    } else if (counts.plausible == 0 && counts.all > 0) {
        output_text(&s->out, "  --all lists the schemes that it fits by chance\n");
    }
}

static void put_human(session *s, const char *text, const firn_reading *readings, id_counts counts,
                      const id_matches *matches, bool named) {
    const firn_scheme *scheme = readings->scheme;
    const char *dim = color_dim(s), *plain = color_plain(s);
    shown_field list[FIRN_SLICES_MAX];
    firn_fields fields = {0};
    size_t names = 0, values = 0;
    firn_unpack(&fields, scheme, &readings->id, NULL);
    size_t total = list_fields(list, scheme, &fields);
    for (size_t i = 0; i < total; i++) {
        names = strlen(list[i].name) > names ? strlen(list[i].name) : names;
        values = strlen(list[i].value) > values ? strlen(list[i].value) : values;
    }
    output_print(&s->out, "%s%s%s  %s, %u bits, %s\n", color_bold(s), text, plain, scheme->name,
                 scheme->bits,
                 scheme->keyed ? describe_text(scheme) : firn_form_name(readings->form));
    char prefix[FIRN_PREFIX_SIZE];
    if (readings->form == FIRN_FORM_TYPEID && firn_prefix_read(prefix, text, strlen(text)) > 0) {
        output_print(&s->out, "  %-*s  %s\n", (int)names, "prefix", prefix);
    }
    for (size_t i = 0; i < total; i++) {
        output_print(&s->out, "  %s%-*s  %-*s%s  %s%s%s\n", color_of(s, list[i].tone), (int)names,
                     list[i].name, (int)values, list[i].value, plain, dim, list[i].place, plain);
    }
    const firn_scheme *listed = firn_scheme_find(scheme->name);
    if (scheme->note != NULL && listed != NULL &&
        listed->bits == scheme->bits) { /* of other digits it is not true */
        output_text(&s->out, dim);
        output_wrap(&s->out, "  note: ", 8, scheme->note);
        output_text(&s->out, plain);
    }
    char remark[REMARK_SIZE];
    if (remark_on_reading(remark, readings, text, named)[0] != '\0') {
        output_text(&s->out, dim);
        output_wrap(&s->out, "  note: ", 8, remark);
        output_text(&s->out, plain);
    }
    if (s->option[OPTION_ALL] != NULL) {
        put_all(&s->out, readings, counts);
    } else {
        put_also(&s->out, readings, 1, counts.plausible);
    }
    put_formats(&s->out, matches, 0, false);
}

/* The integer of an order number, as an ID of its scheme. */
static int read_order(const showing *work, firn_reading *reading, const char *text, size_t length,
                      firn_error *error) {
    firn_error why;
    uint64_t integer;
    int code = firn_order_read(work->order, &integer, text, length, &why);
    if (code != FIRN_OK) {
        return prefix_error(error, code, &why, "'%.40s': ", text);
    }
    *reading = (firn_reading){
        &work->scheme, work->scheme.form, FIRN_CERTAIN, {integer, 0, 0, work->scheme.bits}};
    return FIRN_OK;
}

static int show_line(session *s, void *context, const char *text, size_t length,
                     firn_error *error) {
    showing *work = context;
    firn_reading readings[FIRN_READINGS_MAX];
    id_counts counts = {1, 1};
    id_matches matches;
    matches.count = 0;
    bool named = work->order != NULL || work->reader.named;
    if (work->order == NULL) {
        reader_look_ahead(&work->reader, text, length);
    }
    int code = work->order != NULL
                   ? read_order(work, readings, text, length, error)
                   : reader_show(&work->reader, readings, &counts, &matches, text, length, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (work->near != NULL) {
        readings_near(readings, &counts, &matches, work->near);
    }
    const bool led = matches.count > 0 && matches.list[0].leads;
    const bool sure = readings_sure(readings, counts);
    work->none = work->none || (!sure && !led);
    if (s->option[OPTION_JSON] != NULL) {
        json_line(&s->out, object_of_text(text, readings, counts, &matches,
                                          s->option[OPTION_ALL] != NULL, named));
        return FIRN_OK;
    }
    if (work->second) {
        output_text(&s->out, "\n");
    }
    work->second = true;
    if (led) {
        put_match(s, text, readings, counts, &matches);
    } else if (!sure) {
        put_none(s, text, readings, counts, &matches);
    } else {
        put_human(s, text, readings, counts, &matches, named);
    }
    return FIRN_OK;
}

/* Chooses how lines are read: as order numbers of a key, or as IDs. */
static int open_input(session *s, showing *work) {
    static const char *const none[] = {NULL};
    const char *name = s->option[OPTION_SCHEME];
    const firn_scheme *listed = name != NULL ? firn_scheme_find(name) : NULL;
    if (listed != NULL && listed->keyed) {
        int status = operands_split(s, 0, 0, SIZE_MAX, "order numbers");
        work->scheme = *listed;
        return status == STATUS_DONE ? order_open(s, none, &work->order) : status;
    }
    s->plain_count = s->operand_count;
    if (s->option[OPTION_KEY_FILE] != NULL) {
        return fail_usage(s, "--key-file applies to order numbers: add --scheme order");
    }
    int status = operands_are_ids(s);
    return status == STATUS_DONE ? reader_open(s, &work->reader) : status;
}

/* Options of the other kind of reading. */
static int refuse_options(session *s) {
    static const int of_find[] = {OPTION_SINCE, OPTION_UNTIL};
    for (size_t i = 0; i < 2; i++) {
        if (s->option[of_find[i]] != NULL) {
            return fail_usage(s, "--%s applies to --find: add --find",
                              option_names[of_find[i]].name);
        }
    }
    if (s->option[OPTION_NEAR] != NULL && s->option[OPTION_SCHEME] != NULL) {
        return fail_usage(s, "--near chooses among the schemes: remove --near or --scheme");
    }
    return STATUS_DONE;
}

/* --formats: the list. */
static int put_format_list(session *s) {
    const firn_text_format *format;
    for (size_t i = 0; (format = firn_text_format_at(i)) != NULL; i++) {
        if (s->option[OPTION_JSON] != NULL) {
            json_line(&s->out, object_of_format(format));
            continue;
        }
        output_print(&s->out, "%s%s%s  %s\n", color_bold(s), format->name, color_plain(s),
                     format->title);
        output_wrap(&s->out, "  shape:  ", 10, format->shape);
        output_wrap(&s->out, "  sure:   ", 10, format->sure);
        output_wrap(&s->out, "  source: ", 10, format->source);
    }
    return STATUS_DONE;
}

int run_show(session *s) {
    static showing work;
    if (s->option[OPTION_FORMATS] != NULL) {
        return s->operand_count > 0
                   ? fail_usage(s, "--formats lists all formats: leave the IDs out")
                   : put_format_list(s);
    }
    if (s->option[OPTION_FIND] != NULL) {
        return find_run(s);
    }
    if (refuse_options(s) != STATUS_DONE) {
        return STATUS_USAGE;
    }
    static firn_time near;
    int status = amount_time(s, OPTION_NEAR, &near);
    work.near = s->option[OPTION_NEAR] != NULL ? &near : NULL;
    status = status == STATUS_DONE ? open_input(s, &work) : status;
    if (status == STATUS_DONE) {
        status =
            lines_do(s, s->plain_count > 0 ? s->operands : NULL, s->plain_count, show_line, &work);
    }
    firn_order_close(work.order);
    return status == STATUS_DONE && work.none ? STATUS_NO : status;
}
