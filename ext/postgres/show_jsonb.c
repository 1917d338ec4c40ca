/* SPDX-License-Identifier: MIT */
/* firn_show for PostgreSQL: the JSON of `firn show --json`, with the server's own functions, because the names of a
 * JSON library would collide with theirs (json_object). The caller makes jsonb of it, which checks it. */
#include "extension.h"

#include "../common/call.h"
#include "errors.h"
#include "remark.h"

#include "utils/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(sql_call *it, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(sql_call *it, const char *format, ...) {
    size_t room = sizeof it->text - it->length;
    va_list list;
    va_start(list, format);
    size_t length = (size_t)vsnprintf(it->text + it->length, room, format, list);
    va_end(list);
    it->length += length < room ? length : room - 1; /* a full answer is refused */
}

/* Only the ASCII of a text is written: IDs have nothing else, and the encoding of the database may be another one. */
static void add_string(sql_call *it, const char *text) {
    StringInfoData out;
    char *ascii = pstrdup(text);
    for (char *at = ascii; *at != '\0'; at++) {
        *at = *at < ' ' || *at > '~' ? '?' : *at;
    }
    initStringInfo(&out);
    escape_json(&out, ascii);
    add(it, "%s", out.data);
    pfree(out.data);
    pfree(ascii);
}

static void add_name(sql_call *it, const char *name) {
    add(it, "%s\"%s\":", it->text[it->length - 1] == '{' ? "" : ",", name);
}

static void add_member(sql_call *it, const char *name, const char *text) {
    add_name(it, name);
    if (text != NULL) {
        add_string(it, text);
    } else {
        add(it, "null");
    }
}

/* Numbers of up to 32 bits are numbers, all others strings: as the scheme says, not the value. */
static void add_field(sql_call *it, const firn_scheme *scheme, const firn_fields *fields,
                      uint32_t i) {
    char text[FIRN_VALUE_SIZE];
    const firn_slice *slice = &scheme->slices[i];
    bool constant = slice->role == FIRN_ROLE_CONST;
    bool hex = slice->role == FIRN_ROLE_RANDOM || slice->role == FIRN_ROLE_PROCESS ||
               slice->role == FIRN_ROLE_DIGEST || strcmp(slice->name, "mac") == 0;
    if (hex || (constant ? slice->bits : firn_scheme_width(scheme, i)) > 32) {
        add_member(it, slice->name, firn_fields_get(text, fields, scheme, i));
    } else {
        add_name(it, slice->name);
        add(it, "%" PRIu64, constant ? slice->value : fields->value[i].low);
    }
}

static void add_candidates(sql_call *it) {
    add(it, ",\"candidates\":[");
    for (size_t i = 0; i < it->counts.plausible; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++) {
            seen = seen || it->readings[j].scheme == it->readings[i].scheme;
        }
        if (!seen) {
            add(it, "%s\"%s\"", i > 0 ? "," : "", it->readings[i].scheme->name);
        }
    }
    add(it, "]");
}

static void add_possible(sql_call *it, const id_possible *one) {
    char at[FIRN_TIME_SIZE], ns[FIRN_TIME_SIZE];
    if (one->timed) {
        firn_time_format(at, &one->time, one->digits);
        firn_time_unix_ns(ns, &one->time);
    }
    add(it, "{");
    add_member(it, "scheme", one->reading->scheme->name);
    add_member(it, "format", NULL);
    add_member(it, "form", firn_form_name(one->reading->form));
    add_member(it, "owner", one->owner != NULL ? one->owner->title : NULL);
    add_member(it, "prevalence", one->owner != NULL ? one->owner->prevalence : NULL);
    add_member(it, "time", one->timed ? at : NULL);
    add_member(it, "unix_ns", one->timed ? ns : NULL);
    add(it, "}");
}

/* No scheme is sure. */
static void add_none(sql_call *it) {
    const char *text = sql_subject(it);
    char remark[REMARK_SIZE];
    id_possible list[POSSIBLE_MAX];
    const size_t possible = readings_possible(list, it->readings, it->counts, NULL);
    const char *what = remark_on(remark, text, strlen(text));
    add_member(it, "id", text);
    add(it, ",\"scheme\":null,\"bits\":null,\"time\":null,\"unix_ns\":null,\"fields\":{}");
    add_candidates(it);
    add_member(it, "sure", possible > 0 ? firn_sure_name(FIRN_POSSIBLE) : "none");
    add(it, ",\"readings\":[");
    for (size_t i = 0; i < possible; i++) {
        add(it, "%s", i > 0 ? "," : "");
        add_possible(it, &list[i]);
    }
    add(it, "]");
    add_member(it, "what", what);
    add_member(it, "remark", remark[0] != '\0' ? remark : NULL);
}

static void add_best(sql_call *it) {
    const firn_reading *best = &it->readings[0];
    const firn_scheme *scheme = best->scheme;
    const int index = scheme_index(scheme, FIRN_ROLE_TIME);
    char text[READING_TEXT_SIZE], at[FIRN_TIME_SIZE], ns[FIRN_TIME_SIZE], remark[REMARK_SIZE];
    firn_fields fields = {0};
    firn_time time;
    firn_unpack(&fields, scheme, &best->id, NULL);
    if (index >= 0) {
        firn_scheme_time(scheme, fields.value[index].low, &time);
        firn_time_format(at, &time, firn_scheme_digits(scheme));
        firn_time_unix_ns(ns, &time);
    }
    add_member(it, "id", reading_text(text, best, sql_subject(it)));
    add_member(it, "scheme", scheme->name);
    add(it, ",\"bits\":%" PRIu32, scheme->bits);
    add_member(it, "time", index >= 0 ? at : NULL);
    add_member(it, "unix_ns", index >= 0 ? ns : NULL);
    add(it, ",\"fields\":{");
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        if (slice->role != FIRN_ROLE_TIME && slice->name[0] != '\0' &&
            firn_scheme_first(scheme, i) == i) {
            add_field(it, scheme, &fields, i);
        }
    }
    add(it, "}");
    add_candidates(it);
    add_member(it, "sure", reading_sure_name(best));
    if (remark_on_reading(remark, best, sql_subject(it), it->scheme != NULL)[0] != '\0') {
        add_member(it, "remark", remark);
    }
    if (best->form == FIRN_FORM_TYPEID) {
        char prefix[FIRN_PREFIX_SIZE];
        firn_prefix_read(prefix, sql_subject(it), strlen(sql_subject(it)));
        add_member(it, "prefix", prefix);
    }
}

int sql_show(sql_call *it) {
    int code = sql_read(it);
    if (code != FIRN_OK) {
        return code;
    }
    it->type = SQL_TEXT;
    it->length = 0;
    add(it, "{");
    if (readings_sure(it->readings, it->counts)) {
        add_best(it);
    } else {
        add_none(it);
    }
    add(it, "}");
    return it->length < sizeof it->text - 1 ? FIRN_OK : out_of_memory(&it->error);
}
