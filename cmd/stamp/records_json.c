/* SPDX-License-Identifier: MIT */
/* JSON lines: one object per line. jansson decides whether it is valid; the places of its members,
 * which jansson does not report, are found by a walk that must be right for valid lines only.
 * Most lines of a file differ only in their values and skip jansson (records_shape.h). Numbers are
 * taken from the text, not as floating point. */
#include "command.h"
#include "records.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of any length are taken, and so are zero bytes that are written \u0000. */
enum { FLAGS = JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL };
enum { PATIENCE = 64 /* lines */ };

/* Members of one name: where, and how many. */
typedef struct member {
    json_piece value;
    size_t count;
} member;

static int begin(records_plan *plan, const char *text, size_t length, bool last, record *r,
                 firn_error *error) {
    (void)text, (void)length, (void)last, (void)r;
    json_t *name = json_string(plan->id);
    if (plan->time == NULL) {
        json_decref(name);
        return set_error(error, FIRN_EUSAGE,
                         "stamp needs --time: name the member that has the time");
    }
    size_t size = name == NULL ? 0 : json_dumpb(name, plan->member, 200, JSON_ENCODE_ANY);
    json_decref(name);
    if (size == 0 || size > 200 || plan->id[0] == '\0') {
        return set_error(error, FIRN_EUSAGE,
                         "--id %.40s is not a valid member name: use 1 to 190 characters",
                         plan->id);
    }
    plan->member[size] = ':';
    plan->member[size + 1] = '\0';
    plan->patience = PATIENCE;
    snprintf(plan->before, sizeof plan->before, "%s\"", plan->member);
    snprintf(plan->nothing[0], sizeof plan->nothing[0], "%snull", plan->member);
    snprintf(plan->nothing[1], sizeof plan->nothing[1], "%snull,", plan->member);
    return FIRN_OK;
}

/* ---- members -------------------------------------------------------------------------------- */

/* Behind the value at `position` of accepted text: a string, a nest of brackets, or a word. */
static const char *skip_value(const char *position) {
    size_t depth = 0;
    if (*position != '"' && *position != '[' && *position != '{') {
        return shape_skip_word(position);
    }
    do {
        if (*position == '"') {
            position = shape_skip_string(position);
            continue;
        }
        depth += *position == '{' || *position == '[';
        depth -= *position == '}' || *position == ']';
        position++;
    } while (depth > 0);
    return position;
}

/* A string without its quotes as what it means, or NULL for want of memory. */
static json_t *decode(json_piece quoted) {
    return json_loadb(quoted.text, quoted.length, JSON_DECODE_ANY | FLAGS, NULL);
}

static bool name_is(json_piece quoted, const char *name) {
    size_t length = strlen(name);
    if (memchr(quoted.text, '\\', quoted.length) == NULL) {
        return quoted.length == length + 2 && memcmp(quoted.text + 1, name, length) == 0;
    }
    json_t *string = decode(quoted);
    bool is = string != NULL && strcmp(json_string_value(string), name) == 0;
    json_decref(string);
    return is;
}

static void note(member *found, json_piece value) {
    found->value = value;
    found->count++;
}

/* The members of the object that begins at `position`. */
static void find_members(const records_plan *plan, const char *position, member *time, member *id,
                         member fields[RECORDS_FIELDS]) {
    position = shape_skip_blank(position + 1);
    while (*position != '}') {
        json_piece name = {position, 0}, value;
        position = shape_skip_string(position);
        name.length = (size_t)(position - name.text);
        position = shape_skip_blank(shape_skip_blank(position) + 1); /* after the colon */
        value.text = position;
        position = skip_value(position);
        value.length = (size_t)(position - value.text);
        if (name_is(name, plan->time)) {
            note(time, value);
        }
        if (name_is(name, plan->id)) {
            note(id, value);
        }
        for (size_t i = 0; i < plan->field_count; i++) {
            if (name_is(name, plan->field[i])) {
                note(&fields[i], value);
            }
        }
        position = shape_skip_blank(position);
        position = *position == ',' ? shape_skip_blank(position + 1) : position;
    }
}

/* ---- the parts of a record ------------------------------------------------------------------ */

static int find_time(records_plan *plan, const member *time, record *r, firn_error *error) {
    const json_piece *value = &time->value;
    if (time->count != 1) {
        return set_error(error, FIRN_ETEXT, "the object has %s member '%.60s': %s",
                         time->count == 0 ? "no" : "more than one", plan->time,
                         time->count == 0 ? "add it, or name another member with --time"
                                          : "leave one");
    }
    if (value->text[0] != '"') {
        r->time = value->text;
        r->time_length = value->length;
        return FIRN_OK;
    }
    r->time = value->text + 1;
    r->time_length = value->length - 2;
    if (memchr(value->text, '\\', value->length) == NULL) {
        return FIRN_OK;
    }
    json_t *string = decode(*value);
    free(plan->decoded);
    r->time_length = json_string_length(string); /* a zero byte may be in it */
    plan->decoded = string != NULL ? malloc(r->time_length + 1) : NULL;
    if (plan->decoded != NULL) {
        memcpy(plan->decoded, json_string_value(string), r->time_length);
    }
    json_decref(string);
    if (plan->decoded == NULL) {
        r->fatal = true;
        return out_of_memory(error);
    }
    r->time = plan->decoded;
    return FIRN_OK;
}

/* Members that are fields: numbers, or strings without escapes, since no value needs one. */
static int find_fields(const records_plan *plan, const member fields[RECORDS_FIELDS], record *r,
                       firn_error *error) {
    for (size_t i = 0; i < plan->field_count; i++) {
        const json_piece *value = &fields[i].value;
        if (fields[i].count != 1) {
            return set_error(error, FIRN_ETEXT, "the object has %s member '%.60s' for --field",
                             fields[i].count == 0 ? "no" : "more than one", plan->field[i]);
        }
        bool string = value->text[0] == '"';
        r->field[i].text = value->text + string;
        r->field[i].length = value->length - 2 * string;
    }
    return FIRN_OK;
}

/* A new first member, or the old value. */
static int place_id(const records_plan *plan, const char *text, const char *object,
                    const member *id, record *r, firn_error *error) {
    bool empty = *shape_skip_blank(object + 1) == '}';
    if (id->count > 0 && !plan->replace) {
        r->fatal = true;
        return set_error(error, FIRN_EUSAGE,
                         "the object already has a member '%.60s': %suse --replace to overwrite "
                         "it, or another --id",
                         plan->id,
                         strncmp(object + 1, plan->member, strlen(plan->member)) == 0
                             ? "the file seems to have IDs; "
                             : "");
    }
    if (id->count > 1) {
        return set_error(error, FIRN_ETEXT,
                         "the object has more than one member '%.60s': remove all but one",
                         plan->id);
    }
    bool added = id->count == 0;
    r->placed = true;
    r->offset = (size_t)((added ? object + 1 : id->value.text) - text);
    r->skip = id->value.length;
    r->before = added ? plan->before : "\"";
    r->after = added && !empty ? "\"," : "\"";
    r->nothing = added ? plan->nothing[!empty] : "null";
    return FIRN_OK;
}

/* Sets the record from its members. */
static int read_members(records_plan *plan, const char *text, const member *time, const member *id,
                        const member fields[RECORDS_FIELDS], record *r, firn_error *error) {
    int code = place_id(plan, text, shape_skip_blank(text), id, r, error);
    code = code == FIRN_OK ? find_fields(plan, fields, r, error) : code;
    return code == FIRN_OK ? find_time(plan, time, r, error) : code;
}

/* ---- shapes --------------------------------------------------------------------------------- */

static size_t value_at(const records_plan *plan, const json_shape *shape, const char *text) {
    for (size_t i = 0; i < shape->count; i++) {
        if (plan->values[i].text == text) {
            return i;
        }
    }
    return RECORDS_NONE; /* not a scalar, or missing */
}

/* Remembers the shape of a valid record, unless a relevant member is not a scalar. */
static void learn(records_plan *plan, const char *text, size_t size, const member *time,
                  const member *id, const member fields[RECORDS_FIELDS]) {
    records_shape *shape = &plan->shapes[plan->oldest];
    bool known = shape_learn(&shape->shape, text, size, plan->values);
    shape->time = value_at(plan, &shape->shape, time->value.text);
    shape->id = value_at(plan, &shape->shape, id->value.text);
    known = known && shape->time != RECORDS_NONE && (id->count == 0) == (shape->id == RECORDS_NONE);
    for (size_t i = 0; i < plan->field_count; i++) {
        shape->field[i] = value_at(plan, &shape->shape, fields[i].value.text);
        known = known && shape->field[i] != RECORDS_NONE;
    }
    if (known) {
        plan->shape_last = plan->oldest;
        plan->oldest = (plan->oldest + 1) % RECORDS_SHAPES;
        plan->shape_count += plan->shape_count < RECORDS_SHAPES;
    } else {
        shape->shape.count = 0;
    }
}

/* Is it worth looking for a shape? If most lines have different shapes, only every few lines. */
static bool is_worth(records_plan *plan) {
    enum { NOW_AND_THEN = 16 };
    return plan->patience > 0 || ++plan->passed % NOW_AND_THEN == 0;
}

static void note_match(records_plan *plan, bool matched) {
    enum { FOR_ONE = 4 };
    plan->patience = matched              ? plan->patience + FOR_ONE
                     : plan->patience > 0 ? plan->patience - 1
                                          : 0;
    plan->patience = plan->patience < PATIENCE ? plan->patience : PATIENCE;
}

/* The known shape that the line has, or NULL. */
static const records_shape *find_shape(records_plan *plan, const char *text, size_t size,
                                       const char *limit) {
    for (size_t i = 0; i < plan->shape_count; i++) {
        size_t position = (plan->shape_last + i) % plan->shape_count;
        const json_shape *shape = &plan->shapes[position].shape;
        if (shape->count > 0 && shape_match(shape, text, size, limit, plan->values)) {
            plan->shape_last = position;
            return &plan->shapes[position];
        }
    }
    return NULL;
}

static int read_shape(records_plan *plan, const records_shape *shape, const char *text, record *r,
                      firn_error *error) {
    member time = {plan->values[shape->time], 1}, id = {{NULL, 0}, 0}, fields[RECORDS_FIELDS];
    if (shape->id != RECORDS_NONE) {
        id = (member){plan->values[shape->id], 1};
    }
    for (size_t i = 0; i < plan->field_count; i++) {
        fields[i] = (member){plan->values[shape->field[i]], 1};
    }
    return read_members(plan, text, &time, &id, fields, r, error);
}

/* ---- records --------------------------------------------------------------------------------- */

static int read_object(records_plan *plan, const char *text, size_t size, bool learns, record *r,
                       firn_error *error) {
    json_error_t why;
    json_t *value = json_loadb(text, size, FLAGS, &why);
    bool is_object = json_is_object(value);
    json_decref(value);
    if (value == NULL) {
        return set_error(error, FIRN_ETEXT, "not valid JSON at byte %d: %.100s", why.position,
                         why.text);
    }
    if (!is_object) {
        return set_error(error, FIRN_ETEXT, "not a JSON object: write {\"name\": value, ...}");
    }
    member time = {{NULL, 0}, 0}, id = {{NULL, 0}, 0}, fields[RECORDS_FIELDS] = {{{NULL, 0}, 0}};
    find_members(plan, shape_skip_blank(text), &time, &id, fields);
    int code = read_members(plan, text, &time, &id, fields, r, error);
    if (code == FIRN_OK && learns) {
        learn(plan, text, size, &time, &id, fields);
    }
    return code;
}

static int read_record(records_plan *plan, const char *text, size_t length, bool last, record *r,
                       firn_error *error) {
    r->size = records_line(text, length, last);
    if (r->size == 0) {
        return FIRN_OK;
    }
    r->lines = text[r->size - 1] == '\n';
    bool worth = is_worth(plan);
    const records_shape *shape = worth ? find_shape(plan, text, r->size, text + length) : NULL;
    if (worth) {
        note_match(plan, shape != NULL);
    }
    if (shape != NULL) {
        return read_shape(plan, shape, text, r, error);
    }
    int code = records_no_zero(text, r->size, error);
    return code == FIRN_OK ? read_object(plan, text, r->size, worth, r, error) : code;
}

const records_format records_json = {"jsonl", " .jsonl .ndjson ", 0, begin, read_record};
