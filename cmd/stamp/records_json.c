/* SPDX-License-Identifier: MIT */
/* JSON lines: an object per line. jansson says whether it is one; where its members stand in the
 * text, which jansson does not tell, is found by a walk that only needs to be right for what
 * jansson has accepted. Numbers are taken from the text, not as floating point. */
#include "command.h"
#include "records.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of any length are taken, and so are zero bytes that are written \u0000. */
enum { FLAGS = JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL };

/* A piece of the text. */
typedef struct piece {
    const char *text;
    size_t length;
} piece;

/* Members of one name: where, and how many. */
typedef struct member {
    piece value;
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
    return FIRN_OK;
}

/* ---- the walk over accepted text ------------------------------------------------------------ */

static const char *skip_blank(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') {
        at++;
    }
    return at;
}

/* Behind the string whose opening quote is at `at`. */
static const char *skip_string(const char *at) {
    for (at++; *at != '"'; at++) {
        at += *at == '\\';
    }
    return at + 1;
}

/* Behind the value at `at`: a string, a nest of brackets, or a word. */
static const char *skip_value(const char *at) {
    size_t depth = 0;
    do {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    } while (depth > 0);
    return at;
}

static const char *skip_word(const char *at) {
    while (strchr(",}] \t\r\n", *at) == NULL) {
        at++;
    }
    return at;
}

/* A string without its quotes as what it means, or NULL for want of memory. */
static json_t *decode(piece quoted) {
    return json_loadb(quoted.text, quoted.length, JSON_DECODE_ANY | FLAGS, NULL);
}

static bool name_is(piece quoted, const char *name) {
    size_t length = strlen(name);
    if (memchr(quoted.text, '\\', quoted.length) == NULL) {
        return quoted.length == length + 2 && memcmp(quoted.text + 1, name, length) == 0;
    }
    json_t *string = decode(quoted);
    bool is = string != NULL && strcmp(json_string_value(string), name) == 0;
    json_decref(string);
    return is;
}

static void note(member *found, piece value) {
    found->value = value;
    found->count++;
}

/* The members of the object that begins at `at`. */
static void find_members(const records_plan *plan, const char *at, member *time, member *id,
                         member fields[RECORDS_FIELDS]) {
    at = skip_blank(at + 1);
    while (*at != '}') {
        piece name = {at, 0}, value;
        at = skip_string(at);
        name.length = (size_t)(at - name.text);
        at = skip_blank(skip_blank(at) + 1); /* after the colon */
        value.text = at;
        at = strchr("\"[{", *at) != NULL ? skip_value(at) : skip_word(at);
        value.length = (size_t)(at - value.text);
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
        at = skip_blank(at);
        at = *at == ',' ? skip_blank(at + 1) : at;
    }
}

/* ---- records ----------------------------------------------------------------------------------- */

static int find_time(records_plan *plan, const member *time, record *r, firn_error *error) {
    const piece *value = &time->value;
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
        return set_error(error, FIRN_EMEMORY, "out of memory: allow the process more memory");
    }
    r->time = plan->decoded;
    return FIRN_OK;
}

/* Members that are fields: numbers, or strings without escapes, since no value needs one. */
static int find_fields(const records_plan *plan, const member fields[RECORDS_FIELDS], record *r,
                       firn_error *error) {
    for (size_t i = 0; i < plan->field_count; i++) {
        const piece *value = &fields[i].value;
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
    static char before[sizeof plan->member + 8], nothing[sizeof plan->member + 8];
    bool empty = *skip_blank(object + 1) == '}';
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
    r->at = (size_t)((added ? object + 1 : id->value.text) - text);
    r->skip = id->value.length;
    snprintf(before, sizeof before, "%s\"", added ? plan->member : "");
    snprintf(nothing, sizeof nothing, "%snull%s", added ? plan->member : "",
             added && !empty ? "," : "");
    r->before = before;
    r->after = added && !empty ? "\"," : "\"";
    r->nothing = nothing;
    return FIRN_OK;
}

static int read_object(records_plan *plan, const char *text, size_t size, record *r,
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
    const char *object = skip_blank(text);
    member time = {{NULL, 0}, 0}, id = {{NULL, 0}, 0}, fields[RECORDS_FIELDS] = {{{NULL, 0}, 0}};
    find_members(plan, object, &time, &id, fields);
    int code = place_id(plan, text, object, &id, r, error);
    code = code == FIRN_OK ? find_fields(plan, fields, r, error) : code;
    return code == FIRN_OK ? find_time(plan, &time, r, error) : code;
}

static int read_record(records_plan *plan, const char *text, size_t length, bool last, record *r,
                       firn_error *error) {
    r->size = records_line(text, length, last);
    if (r->size == 0) {
        return FIRN_OK;
    }
    int code = records_no_zero(text, r->size, error);
    return code == FIRN_OK ? read_object(plan, text, r->size, r, error) : code;
}

const records_format records_json = {"jsonl", " .jsonl .ndjson ", 0, begin, read_record};
