/* SPDX-License-Identifier: MIT */
/* firn_show for PostgreSQL: the JSON of `firn show --json`, with the server's own functions,
 * because the names of a JSON library would collide with theirs (json_object). The caller makes
 * jsonb of it, which checks it. */
#include "extension.h"

#include "../common/call.h"
#include "errors.h"
#include "remark.h"

#include "utils/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(sql_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(sql_call *call, const char *format, ...) {
    size_t room = sizeof call->text - call->length;
    va_list list;
    va_start(list, format);
    size_t length = (size_t)vsnprintf(call->text + call->length, room, format, list);
    va_end(list);
    call->length += length < room ? length : room - 1; /* a full answer is refused */
}

/* Only the ASCII of a text is written: IDs have nothing else, and the encoding of the database may
 * be another one. */
static void add_string(sql_call *call, const char *text) {
    StringInfoData out;
    char *ascii = pstrdup(text);
    for (char *byte = ascii; *byte != '\0'; byte++) {
        *byte = *byte < ' ' || *byte > '~' ? '?' : *byte;
    }
    initStringInfo(&out);
    escape_json(&out, ascii);
    add(call, "%s", out.data);
    pfree(out.data);
    pfree(ascii);
}

static void add_name(sql_call *call, const char *name) {
    add(call, "%s\"%s\":", call->text[call->length - 1] == '{' ? "" : ",", name);
}

static void add_member(sql_call *call, const char *name, const char *text) {
    add_name(call, name);
    if (text != NULL) {
        add_string(call, text);
    } else {
        add(call, "null");
    }
}

/* Numbers of up to 32 bits are numbers, all others strings: as the scheme says, not the value. */
static void add_field(sql_call *call, const firn_scheme *scheme, const firn_fields *fields,
                      uint32_t i) {
    char text[FIRN_VALUE_SIZE];
    const firn_slice *slice = &scheme->slices[i];
    bool constant = slice->role == FIRN_ROLE_CONST;
    bool hex = slice->role == FIRN_ROLE_RANDOM || slice->role == FIRN_ROLE_PROCESS ||
               slice->role == FIRN_ROLE_DIGEST || strcmp(slice->name, "mac") == 0;
    if (hex || (constant ? slice->bits : firn_scheme_width(scheme, i)) > 32) {
        add_member(call, slice->name, firn_fields_get(text, fields, scheme, i));
    } else {
        add_name(call, slice->name);
        add(call, "%" PRIu64, constant ? slice->value : fields->value[i].low);
    }
}

static void add_candidates(sql_call *call) {
    add(call, ",\"candidates\":[");
    for (size_t i = 0; i < call->counts.plausible; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++) {
            seen = seen || call->readings[j].scheme == call->readings[i].scheme;
        }
        if (!seen) {
            add(call, "%s\"%s\"", i > 0 ? "," : "", call->readings[i].scheme->name);
        }
    }
    add(call, "]");
}

static void add_possible(sql_call *call, const id_possible *possible) {
    char time_text[FIRN_TIME_SIZE], ns[FIRN_TIME_SIZE];
    if (possible->timed) {
        firn_time_format(time_text, &possible->time, possible->digits);
        firn_time_unix_ns(ns, &possible->time);
    }
    add(call, "{");
    add_member(call, "scheme", possible->reading->scheme->name);
    add_member(call, "format", NULL);
    add_member(call, "form", firn_form_name(possible->reading->form));
    add_member(call, "owner", possible->owner != NULL ? possible->owner->title : NULL);
    add_member(call, "prevalence", possible->owner != NULL ? possible->owner->prevalence : NULL);
    add_member(call, "time", possible->timed ? time_text : NULL);
    add_member(call, "unix_ns", possible->timed ? ns : NULL);
    add(call, "}");
}

/* No scheme is sure. */
static void add_none(sql_call *call) {
    const char *text = sql_subject(call);
    char remark[REMARK_SIZE];
    id_possible list[POSSIBLE_MAX];
    const size_t possible = readings_possible(list, call->readings, call->counts, NULL);
    const char *what = remark_on(remark, text, strlen(text));
    add_member(call, "id", text);
    add(call, ",\"scheme\":null,\"bits\":null,\"time\":null,\"unix_ns\":null,\"fields\":{}");
    add_candidates(call);
    add_member(call, "sure", possible > 0 ? firn_sure_name(FIRN_POSSIBLE) : "none");
    add(call, ",\"readings\":[");
    for (size_t i = 0; i < possible; i++) {
        add(call, "%s", i > 0 ? "," : "");
        add_possible(call, &list[i]);
    }
    add(call, "]");
    add_member(call, "what", what);
    add_member(call, "remark", remark[0] != '\0' ? remark : NULL);
}

static void add_best(sql_call *call) {
    const firn_reading *best = &call->readings[0];
    const firn_scheme *scheme = best->scheme;
    const int index = scheme_index(scheme, FIRN_ROLE_TIME);
    char text[READING_TEXT_SIZE], time_text[FIRN_TIME_SIZE], ns[FIRN_TIME_SIZE],
        remark[REMARK_SIZE];
    firn_fields fields = {0};
    firn_time time;
    firn_unpack(&fields, scheme, &best->id, NULL);
    if (index >= 0) {
        firn_scheme_time(scheme, fields.value[index].low, &time);
        firn_time_format(time_text, &time, firn_scheme_digits(scheme));
        firn_time_unix_ns(ns, &time);
    }
    add_member(call, "id", reading_text(text, best, sql_subject(call)));
    add_member(call, "scheme", scheme->name);
    add(call, ",\"bits\":%" PRIu32, scheme->bits);
    add_member(call, "time", index >= 0 ? time_text : NULL);
    add_member(call, "unix_ns", index >= 0 ? ns : NULL);
    add(call, ",\"fields\":{");
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        if (slice->role != FIRN_ROLE_TIME && slice->name[0] != '\0' &&
            firn_scheme_first(scheme, i) == i) {
            add_field(call, scheme, &fields, i);
        }
    }
    add(call, "}");
    add_candidates(call);
    add_member(call, "sure", reading_sure_name(best));
    if (remark_on_reading(remark, best, sql_subject(call), call->scheme != NULL)[0] != '\0') {
        add_member(call, "remark", remark);
    }
    if (best->form == FIRN_FORM_TYPEID) {
        char prefix[FIRN_PREFIX_SIZE];
        firn_prefix_read(prefix, sql_subject(call), strlen(sql_subject(call)));
        add_member(call, "prefix", prefix);
    }
}

int sql_show(sql_call *call) {
    int code = sql_read(call);
    if (code != FIRN_OK) {
        return code;
    }
    call->type = SQL_TEXT;
    call->length = 0;
    add(call, "{");
    if (readings_sure(call->readings, call->counts)) {
        add_best(call);
    } else {
        add_none(call);
    }
    add(call, "}");
    return call->length < sizeof call->text - 1 ? FIRN_OK : out_of_memory(&call->error);
}
