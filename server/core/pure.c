/* SPDX-License-Identifier: MIT */
/* PACK, SHOW, RANGE, CONVERT and SCHEMES: they use no store, no clock and no state of a generator.
 * They return the objects of the command's --json. */
#include "verbs.h"

#include "catalog.h"
#include "errors.h"
#include "id_form.h"
#include "object.h"
#include "pure_verbs.h"
#include "reading.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ----------------------------------------------------------------------------------- */

enum { VALUE_SIZE = FIRN_LAYOUT_SIZE };

/* Copies a client's word as text. `code`: too long, or with a zero byte. */
static int take_text(char *room, size_t size, word from, const char *what, int code,
                     firn_error *error) {
    if (word_copy(from, room, size)) {
        return FIRN_OK;
    }
    return from.length >= size ? set_error(error, code, "%s has %zu characters: use at most %zu",
                                           what, from.length, size - 1)
                               : set_error(error, code, "%s contains a zero byte: remove it", what);
}

/* The value of a parameter as text; NULL: not given. FIRN_EUSAGE: too long, or with a zero byte. */
static int text_of(char room[VALUE_SIZE], const char **out, const server_request *request,
                   const char *key, firn_error *error) {
    word value = request_value(request, key);
    *out = value.text != NULL ? room : NULL;
    return value.text == NULL ? FIRN_OK
                              : take_text(room, VALUE_SIZE, value, key, FIRN_EUSAGE, error);
}

/* ---- schemes --------------------------------------------------------------------------------- */

/* The scheme of `name`: a generator's, one of the table, or a layout, with epoch, bits and digits
 * of the request applied. */
static int make_scheme(firn_scheme *scheme, const server_request *request, word name,
                       firn_error *error) {
    char text[VALUE_SIZE], rooms[3][VALUE_SIZE];
    const char *epoch, *bits, *digits;
    int code = text_of(rooms[0], &epoch, request, "epoch", error);
    code = code == FIRN_OK ? text_of(rooms[1], &bits, request, "bits", error) : code;
    code = code == FIRN_OK ? text_of(rooms[2], &digits, request, "digits", error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    const server_generator *known = catalog_generator(name);
    if (known != NULL && epoch == NULL && bits == NULL && digits == NULL) {
        *scheme = *known->scheme;
        return FIRN_OK;
    }
    code = take_text(text, sizeof text, name, "a scheme", FIRN_EUSAGE, error);
    if (code == FIRN_OK) {
        code = pure_scheme(scheme, text, epoch, bits, digits, error);
    }
    return code;
}

static const char *const scheme_keys[] = {"epoch", "bits", "digits", NULL};

/* Reads the fields among the parameters; `others` are not fields. */
static int read_fields(firn_fields *fields, const firn_scheme *scheme,
                       const server_request *request, const char *const *others,
                       firn_error *error) {
    char name[64], value[VALUE_SIZE];
    int code = FIRN_OK;
    for (size_t i = 0; i < request->pair_count && code == FIRN_OK; i++) {
        word key = request->pairs[i].key;
        if (word_is_in(key, others) || word_is_in(key, scheme_keys)) {
            continue;
        }
        if (!word_copy(key, name, sizeof name)) {
            return set_error(error, FIRN_EUSAGE, "%.*s is not a field of %s", word_shown(key),
                             key.text, scheme->name);
        }
        code = take_text(value, sizeof value, request->pairs[i].value, name, FIRN_EUSAGE, error);
        if (code != FIRN_OK) {
            return code;
        }
        code = pure_field(fields, scheme, name, value, error);
    }
    return code;
}

/* In a scheme with a field of this name, prefix= is the field. */
static bool has_prefix_field(const firn_scheme *scheme) {
    return firn_scheme_field(scheme, "prefix") >= 0;
}

static int reply_id(const server_request *request, const firn_id *id, server_reply *out,
                    firn_error *error) {
    char text[FIRN_TEXT_SIZE];
    if (worker_make_room(request->worker, false, error) != FIRN_OK) {
        return error->code;
    }
    if (firn_format(text, id, request->form)[0] == '\0') {
        return pure_form_refuse(request->form, error);
    }
    request->worker->ids[0] = *id;
    out->kind = REPLY_IDS;
    out->count = 1;
    out->ids = request->worker->ids;
    return FIRN_OK;
}

/* ---- pack and range -------------------------------------------------------------------------- */

static int answer_pack(server_request *request, server_reply *out, firn_error *error) {
    static const char *const others[] = {"as", "prefix", NULL}, *const form[] = {"as", NULL};
    firn_scheme scheme;
    firn_fields fields = {0};
    firn_id id;
    int code = make_scheme(&scheme, request, request->name, error);
    code = code == FIRN_OK ? pure_keyed_check(&scheme, "pack", error) : code;
    bool field = code == FIRN_OK && has_prefix_field(&scheme);
    code = code == FIRN_OK ? read_fields(&fields, &scheme, request, field ? form : others, error)
                           : code;
    code = code == FIRN_OK ? pure_pack(&id, &scheme, &fields, error) : code;
    code = code == FIRN_OK ? ids_read_form(request, &scheme, !field, error) : code;
    if (code == FIRN_OK) {
        out->note = pure_pack_note(&scheme, request->form, &id);
    }
    return code == FIRN_OK ? reply_id(request, &id, out, error) : code;
}

static int read_time(firn_time *time, const server_request *request, const char *key,
                     const char *name, firn_error *error) {
    char room[VALUE_SIZE];
    const char *text;
    int code = text_of(room, &text, request, key, error);
    if (code == FIRN_OK && text == NULL) {
        return set_error(error, FIRN_EUSAGE, "%s is missing: use %s", key,
                         request->worker->http ? "from=TIME and to=TIME" : "FROM time and TO time");
    }
    return code == FIRN_OK ? pure_named_time(time, name, text, error) : code;
}

static int answer_range(server_request *request, server_reply *out, firn_error *error) {
    static const char *const others[] = {"from", "to", "as", "prefix", NULL};
    firn_scheme scheme;
    firn_fields pinned = {0};
    firn_time from, to;
    firn_id ends[2];
    char texts[2][FIRN_TEXT_SIZE + PREFIX_SIZE];
    int code = make_scheme(&scheme, request, request->name, error);
    code =
        code == FIRN_OK ? ids_read_form(request, &scheme, !has_prefix_field(&scheme), error) : code;
    code = code == FIRN_OK ? read_time(&from, request, "from", "FROM", error) : code;
    code = code == FIRN_OK ? read_time(&to, request, "to", "TO", error) : code;
    code = code == FIRN_OK ? read_fields(&pinned, &scheme, request, others, error) : code;
    code = code == FIRN_OK
               ? pure_span(&ends[0], &ends[1], &scheme, request->form, &pinned, &from, &to, error)
               : code;
    if (code != FIRN_OK) {
        return code;
    }
    server_reply both = {.kind = REPLY_IDS, .ids = ends};
    for (size_t i = 0; i < 2; i++) {
        texts[i][reply_write_id(texts[i], request, &both, i)] = '\0';
    }
    return reply_json(json_pack("{s:s, s:s}", "least", texts[0], "greatest", texts[1]), out, error);
}

/* ---- show and convert ------------------------------------------------------------------------ */

/* The cure if several schemes fit. */
static const char *name_it(const server_request *request) {
    return request->worker->http ? "add scheme=NAME" : "add SCHEME name";
}

/* The cure if a text is another ID in another form. */
static const char *read_it(const server_request *request) {
    return request->worker->http ? "add scheme=NAME or from=FORM" : "add SCHEME name or FROM form";
}

/* How to read the ID: as scheme= and from= say, or any that fits. */
static int make_reader(id_reader *reader, const server_request *request, firn_error *error) {
    char room[VALUE_SIZE];
    const char *form;
    int code = text_of(room, &form, request, "from", error);
    *reader = (id_reader){.form = -1, .from = request->worker->http ? "from=" : "FROM "};
    if (code == FIRN_OK && form != NULL) {
        code = pure_form(&reader->form, form, error);
    }
    word scheme = request_value(request, "scheme");
    reader->named = scheme.text != NULL;
    if (code == FIRN_OK && reader->named) {
        code = make_scheme(&reader->scheme, request, scheme, error);
    }
    for (size_t i = 0; i < request->pair_count && code == FIRN_OK && !reader->named; i++) {
        word key = request->pairs[i].key;
        code = word_is_in(key, scheme_keys)
                   ? set_error(error, FIRN_EUSAGE, "%.*s needs a scheme: %s", word_shown(key),
                               key.text, name_it(request))
                   : FIRN_OK;
    }
    return code == FIRN_OK && reader->named
               ? pure_keyed_check(&reader->scheme, "show --scheme", error)
               : code;
}

/* The request's name, as an ID; with `matches` also in formats that are not schemes. */
static int read_id(const server_request *request, char text[READING_TEXT_SIZE], id_reader *reader,
                   firn_reading readings[FIRN_READINGS_MAX], id_counts *counts, id_matches *matches,
                   firn_error *error) {
    int code = make_reader(reader, request, error);
    reader->cure = name_it(request);
    if (code == FIRN_OK) {
        code = take_text(text, READING_TEXT_SIZE, request->name, "an ID", FIRN_ETEXT, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    return matches != NULL
               ? reader_show(reader, readings, counts, matches, text, strlen(text), error)
               : reader_convert(reader, readings, counts, text, strlen(text), error);
}

static int answer_show(const server_request *request, server_reply *out, firn_error *error) {
    static const char *const known[] = {"scheme", "from", "epoch", "bits",
                                        "digits", "all",  "near",  NULL};
    char text[READING_TEXT_SIZE], room[VALUE_SIZE];
    const char *all = NULL;
    const bool nears = request_value(request, "near").text != NULL;
    firn_time near;
    firn_reading readings[FIRN_READINGS_MAX];
    id_reader reader;
    id_counts counts;
    id_matches matches;
    int code = check_keys(request, "show", known, error);
    if (code == FIRN_OK) {
        code = text_of(room, &all, request, "all", error);
    }
    if (code == FIRN_OK && all != NULL && strcmp(all, "1") != 0) {
        char given[PARAMETER_SIZE];
        code = set_error(error, FIRN_EUSAGE, "%s is not valid: use %s to list every reading",
                         parameter_text(given, request, word_of("all"), word_of(all)),
                         request->worker->http ? "all=1" : "ALL 1");
    }
    code = code == FIRN_OK && nears ? read_time(&near, request, "near", "the time", error) : code;
    if (code == FIRN_OK) {
        code = read_id(request, text, &reader, readings, &counts, &matches, error);
    }
    if (code == FIRN_OK && nears && reader.named) {
        code = set_error(error, FIRN_EUSAGE,
                         "near chooses among the schemes: remove near or the scheme");
    }
    if (code == FIRN_OK && nears) {
        readings_near(readings, &counts, &matches, &near);
    }
    return code == FIRN_OK ? reply_json(object_of_text(text, readings, counts, &matches,
                                                       all != NULL, reader.named),
                                        out, error)
                           : code;
}

/* The prefix of a TypeID: of the request, else of the ID that is converted. */
static int take_prefix(server_request *request, const char *text, const firn_reading *reading,
                       firn_error *error) {
    char prefix[FIRN_PREFIX_SIZE] = "";
    word given = request_value(request, "prefix");
    if (given.text == NULL && request->form == FIRN_FORM_TYPEID &&
        reading->form == FIRN_FORM_TYPEID) {
        firn_prefix_read(prefix, text, strlen(text));
        given = word_of(prefix);
    }
    return given.text != NULL ? prefix_of(request->prefix, request->form, given, error) : FIRN_OK;
}

static int answer_convert(server_request *request, server_reply *out, firn_error *error) {
    static const char *const known[] = {"to",   "scheme", "from",   "epoch",
                                        "bits", "digits", "prefix", NULL};
    char text[READING_TEXT_SIZE], room[VALUE_SIZE];
    const char *dest;
    firn_reading readings[FIRN_READINGS_MAX];
    id_reader reader;
    pure_target target;
    firn_id id;
    id_counts counts;
    int code = check_keys(request, "convert", known, error);
    if (code == FIRN_OK) {
        code = text_of(room, &dest, request, "to", error);
    }
    if (code == FIRN_OK && dest == NULL) {
        code = set_error(error, FIRN_EUSAGE, "the target is missing: use %s",
                         request->worker->http ? "to=FORM or to=SCHEME, such as to=hex"
                                               : "TO form or TO scheme, such as TO hex");
    }
    if (code == FIRN_OK) {
        code = read_id(request, text, &reader, readings, &counts, NULL, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    code = pure_target_find(&target, dest, error);
    code = code == FIRN_OK
               ? pure_convert(&id, &target, readings, counts, text,
                              target.form >= 0 ? read_it(request) : name_it(request), error)
               : code;
    request->form = code == FIRN_OK ? pure_target_form(&target) : 0;
    code = code == FIRN_OK ? take_prefix(request, text, &readings[0], error) : code;
    return code == FIRN_OK ? reply_id(request, &id, out, error) : code;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Made once. NULL: out of memory at that time. */
static json_t *table;

static void make_table(void) {
    table = json_array();
    for (size_t i = 0; table != NULL && firn_scheme_at(i) != NULL; i++) {
        table = json_with(table, object_of_scheme(firn_scheme_at(i)));
    }
}

static int answer_schemes(const server_request *request, server_reply *out, firn_error *error) {
    firn_scheme scheme;
    int code = check_keys(request, "schemes", scheme_keys, error);
    if (code == FIRN_OK && request->name.length > 0) {
        code = make_scheme(&scheme, request, request->name, error);
        return code == FIRN_OK ? reply_json(object_of_scheme(&scheme), out, error) : code;
    }
    if (code == FIRN_OK) {
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, make_table);
        out->is_table = true;
        code = reply_json(json_incref(table), out, error);
    }
    return code;
}

int answer_pure(server_request *request, server_reply *out, firn_error *error) {
    switch (request->verb) {
    case VERB_PACK:
        return answer_pack(request, out, error);
    case VERB_RANGE:
        return answer_range(request, out, error);
    case VERB_SHOW:
        return answer_show(request, out, error);
    case VERB_CONVERT:
        return answer_convert(request, out, error);
    default:
        return answer_schemes(request, out, error);
    }
}
