/* SPDX-License-Identifier: MIT */
/* Pure functions. A scheme is a direct buffer with a firn_scheme in it; names and values of fields
 * are one text: name, zero, value, zero, name, ... */
#include "firn_java.h"

#include <stdlib.h>
#include <string.h>

NATIVE(jint, schemeSize)(JNIEnv *env, jclass none) {
    (void)env, (void)none;
    return (jint)sizeof(firn_scheme);
}

/* The scheme of a name or layout, into `out`. */
NATIVE(void, makeScheme)
(JNIEnv *env, jclass none, jobject out, jbyteArray text, jbyteArray epoch, jbyteArray bits,
 jbyteArray digits) {
    texts all = {.env = env};
    firn_error error;
    const char *name = text_of(&all, text, NULL),
               *args[3] = {text_of(&all, epoch, NULL), text_of(&all, bits, NULL),
                           text_of(&all, digits, NULL)};
    (void)none;
    if (!all.failed) {
        const firn_scheme *listed = firn_scheme_find(name);
        if (listed != NULL && args[0] == NULL && args[1] == NULL && args[2] == NULL) {
            *scheme_of(env, out) = *listed;
        } else if (firn_scheme_make(scheme_of(env, out), name, args[0], args[1], args[2], &error) !=
                   FIRN_OK) {
            fail_with(env, &error);
        }
    }
    free_texts(&all);
}

/* -> bits, form, sorts, tick_ns */
NATIVE(jlongArray, schemeNumbers)(JNIEnv *env, jclass none, jobject buffer) {
    const firn_scheme *scheme = scheme_of(env, buffer);
    const jlong numbers[] = {scheme->bits, scheme->form, scheme->sorts, scheme->tick_ns};
    jlongArray out = (*env)->NewLongArray(env, 4);
    (void)none;
    if (out != NULL) {
        (*env)->SetLongArrayRegion(env, out, 0, 4, numbers);
    }
    return out;
}

NATIVE(jbyteArray, schemeName)(JNIEnv *env, jclass none, jobject buffer) {
    const firn_scheme *scheme = scheme_of(env, buffer);
    (void)none;
    return bytes_of(env, scheme->name, strlen(scheme->name));
}

NATIVE(jbyteArray, schemeLayout)(JNIEnv *env, jclass none, jobject buffer) {
    char text[FIRN_LAYOUT_SIZE];
    (void)none;
    firn_scheme_layout(text, scheme_of(env, buffer));
    return bytes_of(env, text, strlen(text));
}

/* The i-th scheme, or the i-th form; null after the last. */
NATIVE(jbyteArray, nameAt)(JNIEnv *env, jclass none, jint i, jboolean form) {
    const firn_scheme *scheme = form || i < 0 ? NULL : firn_scheme_at((size_t)i);
    const char *name = form ? firn_form_name(i) : scheme != NULL ? scheme->name : NULL;
    (void)none;
    return name != NULL ? bytes_of(env, name, strlen(name)) : NULL;
}

/* False: thrown. */
static bool fields_of(texts *all, jbyteArray pairs, firn_fields *fields,
                      const firn_scheme *scheme) {
    size_t length = 0;
    firn_error error;
    const char *text = text_of(all, pairs, &length);
    memset(fields, 0, sizeof *fields);
    for (const char *end = text + length; text != NULL && text < end;) {
        const char *value = text + strlen(text) + 1;
        if (firn_fields_set(fields, scheme, text, value, &error) != FIRN_OK) {
            fail_with(all->env, &error);
            return false;
        }
        text = value + strlen(value) + 1;
    }
    return !all->failed;
}

/* -> three longs in `out`, as all that follow */
NATIVE(void, pack)
(JNIEnv *env, jclass none, jobject buffer, jbyteArray pairs, jlongArray out) {
    const firn_scheme *scheme = scheme_of(env, buffer);
    texts all = {.env = env};
    firn_fields fields;
    firn_error error;
    firn_id id;
    (void)none;
    if (fields_of(&all, pairs, &fields, scheme)) {
        if (firn_pack(&id, scheme, &fields, &error) == FIRN_OK) {
            put_id(env, out, 0, &id);
        } else {
            fail_with(env, &error);
        }
    }
    free_texts(&all);
}

#define PAIRS_SIZE (FIRN_SLICES_MAX * (16 + FIRN_VALUE_SIZE))

/* -> names and values; time[0..1] = sec and ns, time[2] = 1 if the scheme has a time */
NATIVE(jbyteArray, unpack)
(JNIEnv *env, jclass none, jobject buffer, jlong high, jlong low, jlong top, jlongArray time_out) {
    const firn_scheme *scheme = scheme_of(env, buffer);
    const firn_id id = id_of(scheme->bits, high, low, top);
    scheme = firn_scheme_seen(scheme, &id);
    char text[FIRN_VALUE_SIZE], pairs[PAIRS_SIZE];
    size_t size = 0;
    firn_fields fields;
    firn_error error;
    (void)none;
    if (firn_unpack(&fields, scheme, &id, &error) != FIRN_OK) {
        fail_with(env, &error);
        return NULL;
    }
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const char *name = scheme->slices[i].name;
        if (name[0] != '\0' && firn_scheme_first(scheme, i) == i) {
            const char *both[] = {name, firn_fields_get(text, &fields, scheme, i)};
            for (int part = 0; part < 2; part++) {
                size_t length = strlen(both[part]) + 1;
                memcpy(pairs + size, both[part], length);
                size += length;
            }
        }
    }
    int field = firn_scheme_field(scheme, "time");
    if (scheme->tick_ns != 0 && field >= 0) {
        firn_time time;
        firn_scheme_time(scheme, fields.value[field].low, &time);
        const jlong parts[3] = {time.sec, time.ns, 1};
        (*env)->SetLongArrayRegion(env, time_out, 0, 3, parts);
    }
    return bytes_of(env, pairs, size);
}

/* RFC 3339, with as many digits as a tick of the scheme needs. */
NATIVE(jbyteArray, timeText)(JNIEnv *env, jclass none, jobject buffer, jlong sec, jint ns) {
    const firn_time time = {sec, ns};
    char text[FIRN_TIME_SIZE];
    (void)none;
    int digits = buffer != NULL ? firn_scheme_digits(scheme_of(env, buffer)) : 9;
    firn_time_format(text, &time, digits);
    return bytes_of(env, text, strlen(text));
}

/* The form of a name; with null, the scheme's own. -1: thrown. */
static int form_of(texts *all, jbyteArray name, const firn_scheme *scheme) {
    const char *text = text_of(all, name, NULL);
    int form = text != NULL ? firn_form_find(text) : scheme->form;
    firn_error error;
    if (!all->failed && form < 0) {
        firn_error_set(&error, FIRN_EUSAGE, FIRN_CURE_OTHER,
                       "there is no form '%.40s': see Firn.forms()", text);
    } else if (!all->failed && firn_form_width(form, scheme->bits) == 0) {
        firn_error_set(&error, FIRN_EUSAGE, FIRN_CURE_OTHER,
                       "an ID of %u bits has no form %s: use another form", (unsigned)scheme->bits,
                       firn_form_name(form));
    } else {
        return all->failed ? -1 : form;
    }
    fail_with(all->env, &error);
    return -1;
}

NATIVE(void, checkPrefix)(JNIEnv *env, jclass none, jbyteArray bytes) {
    texts all = {.env = env};
    firn_error error;
    size_t length = 0;
    const char *prefix = text_of(&all, bytes, &length);
    (void)none;
    if (prefix != NULL && firn_prefix_check(prefix, length, &error) != FIRN_OK) {
        fail_with(env, &error);
    }
    free_texts(&all);
}

NATIVE(void, parse)
(JNIEnv *env, jclass none, jobject buffer, jbyteArray form_name, jbyteArray bytes, jlongArray out) {
    const firn_scheme *scheme = scheme_of(env, buffer);
    texts all = {.env = env};
    firn_fields fields;
    firn_error error;
    firn_id id;
    size_t length = 0;
    (void)none;
    int form = form_of(&all, form_name, scheme);
    const char *text = form >= 0 ? text_of(&all, bytes, &length) : NULL;
    if (text != NULL) {
        if (firn_parse(&id, form, scheme->bits, text, length, &error) == FIRN_OK &&
            firn_unpack(&fields, firn_scheme_seen(scheme, &id), &id, &error) == FIRN_OK) {
            put_id(env, out, 0, &id);
        } else {
            fail_with(env, &error);
        }
    }
    free_texts(&all);
}

NATIVE(jbyteArray, format)
(JNIEnv *env, jclass none, jobject buffer, jbyteArray form_name, jlong high, jlong low, jlong top) {
    const firn_scheme *scheme = scheme_of(env, buffer);
    const firn_id id = id_of(scheme->bits, high, low, top);
    texts all = {.env = env};
    char text[FIRN_TEXT_SIZE];
    jbyteArray out = NULL;
    (void)none;
    int form = form_of(&all, form_name, scheme);
    if (form >= 0) {
        if (*firn_format(text, &id, form) == '\0') {
            fail(env, FIRN_EUSAGE,
                 "the ID has no such form, because its time or its digits are out of range",
                 "use another form");
        } else {
            out = bytes_of(env, text, strlen(text));
        }
    }
    free_texts(&all);
    return out;
}

/* The bytes of an ID. */
NATIVE(void, fromBytes)(JNIEnv *env, jclass none, jobject buffer, jbyteArray in, jlongArray out) {
    const firn_scheme *scheme = scheme_of(env, buffer);
    firn_fields fields;
    firn_error error;
    firn_id id;
    uint8_t bytes[20] = {0};
    (void)none;
    (*env)->GetByteArrayRegion(env, in, 0, (jsize)(scheme->bits + 7) / 8, (jbyte *)bytes);
    if (firn_id_from_bytes(&id, bytes, scheme->bits, &error) == FIRN_OK &&
        firn_unpack(&fields, firn_scheme_seen(scheme, &id), &id, &error) == FIRN_OK) {
        put_id(env, out, 0, &id);
    } else {
        fail_with(env, &error);
    }
}

NATIVE(jbyteArray, toBytes)(JNIEnv *env, jclass none, jint bits, jlong high, jlong low, jlong top) {
    const firn_id id = id_of((uint32_t)bits, high, low, top);
    uint8_t bytes[20];
    (void)none;
    return bytes_of(env, bytes, firn_id_bytes(bytes, &id));
}

/* -> six longs: the least ID, the greatest ID */
NATIVE(void, range)
(JNIEnv *env, jclass none, jobject buffer, jbyteArray pairs, jlong from_sec, jint from_ns,
 jlong to_sec, jint to_ns, jlongArray out) {
    const firn_scheme *scheme = scheme_of(env, buffer);
    const firn_time from = {from_sec, from_ns}, to = {to_sec, to_ns};
    texts all = {.env = env};
    firn_fields pinned;
    firn_error error;
    firn_id ids[2];
    (void)none;
    if (fields_of(&all, pairs, &pinned, scheme)) {
        if (firn_range(&ids[0], &ids[1], scheme, &pinned, &from, &to, &error) == FIRN_OK) {
            put_id(env, out, 0, &ids[0]);
            put_id(env, out, 3, &ids[1]);
        } else {
            fail_with(env, &error);
        }
    }
    free_texts(&all);
}

NATIVE(void, convert)
(JNIEnv *env, jclass none, jobject from_buffer, jobject to_buffer, jlong high, jlong low, jlong top,
 jlongArray out) {
    const firn_scheme *from = scheme_of(env, from_buffer);
    const firn_id id = id_of(from->bits, high, low, top);
    firn_error error;
    firn_id made;
    (void)none;
    if (firn_convert(&made, scheme_of(env, to_buffer), &id, from, &error) == FIRN_OK) {
        put_id(env, out, 0, &made);
    } else {
        fail_with(env, &error);
    }
}

NATIVE(void, digest)
(JNIEnv *env, jclass none, jobject buffer, jbyteArray space, jbyteArray name, jlongArray out) {
    texts all = {.env = env};
    firn_error error;
    firn_id id;
    const char *where = text_of(&all, space, NULL), *what = text_of(&all, name, NULL);
    (void)none;
    if (!all.failed) {
        size_t size = (size_t)(*env)->GetArrayLength(env, name); /* any bytes: no zero is added */
        if (firn_digest(&id, scheme_of(env, buffer), where, what, size, &error) == FIRN_OK) {
            put_id(env, out, 0, &id);
        } else {
            fail_with(env, &error);
        }
    }
    free_texts(&all);
}

/* By its name, since time-random is listed with one number of digits. */
static jlong index_of(const firn_scheme *scheme) {
    size_t i = 0;
    while (firn_scheme_at(i) != NULL && strcmp(firn_scheme_at(i)->name, scheme->name) != 0) {
        i++;
    }
    return (jlong)i;
}

/* -> six longs for each reading: index of the scheme, form, high, low, top, how sure */
NATIVE(jlongArray, guess)(JNIEnv *env, jclass none, jbyteArray bytes) {
    firn_reading readings[FIRN_READINGS_MAX];
    texts all = {.env = env};
    size_t length = 0;
    const char *text = text_of(&all, bytes, &length);
    jsize count = text != NULL ? (jsize)firn_guess(readings, text, length, -1) : 0;
    (void)none;
    free_texts(&all);
    jlongArray out = all.failed ? NULL : (*env)->NewLongArray(env, 6 * count);
    for (jsize i = 0; out != NULL && i < count; i++) {
        const jlong head[2] = {index_of(readings[i].scheme), readings[i].form};
        const jlong sure = readings[i].sure;
        (*env)->SetLongArrayRegion(env, out, 6 * i, 2, head);
        put_id(env, out, 6 * i + 2, &readings[i].id);
        (*env)->SetLongArrayRegion(env, out, 6 * i + 5, 1, &sure);
    }
    return out;
}
