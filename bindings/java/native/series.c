/* SPDX-License-Identifier: MIT */
/* Series of dated numbers; Series.java lets one thread in at a time. Calls may wait for the store. */
#include "firn_java.h"

#include <stdlib.h>
#include <string.h>

typedef struct series {
    firn_store *store;
    firn_series *series;
} series;

/* -> an address */
NATIVE(jlong, openSeries)
(JNIEnv *env, jclass none, jbyteArray name, jbyteArray keys, jbyteArray store, jbyteArray dir,
 jboolean unsafe) {
    texts all = {.env = env};
    firn_error error;
    const char *text = text_of(&all, name, NULL), *words = text_of(&all, keys, NULL),
               *url = text_of(&all, store, NULL);
    const firn_store_options options = {.module_dir = text_of(&all, dir, NULL), .unsafe = unsafe};
    series *self = all.failed ? NULL : calloc(1, sizeof *self);
    int code = FIRN_EMEMORY;
    (void)none;
    if (self != NULL) {
        code = firn_store_open(&self->store, url, &options, &error);
        code = code == FIRN_OK
                   ? firn_series_open(&self->series, text, words, self->store, NULL, &error)
                   : code;
        if (code != FIRN_OK) {
            fail_with(env, &error);
        }
    } else if (!all.failed) {
        fail(env, FIRN_EMEMORY, "out of memory", NULL);
    }
    free_texts(&all);
    if (code != FIRN_OK && self != NULL) {
        firn_store_close(self->store);
        free(self);
    }
    return code == FIRN_OK ? address_of(self) : 0;
}

static jbyteArray lines_of(JNIEnv *env, char (*texts)[FIRN_SERIES_SIZE], jint count) {
    char *lines = malloc((size_t)count * sizeof *texts);
    size_t length = 0;
    if (lines == NULL) {
        fail(env, FIRN_EMEMORY, "out of memory", NULL);
        return NULL;
    }
    for (jint i = 0; i < count; i++) {
        const size_t size = strlen(texts[i]);
        memcpy(lines + length, texts[i], size);
        length += size;
        lines[length++] = '\n';
    }
    jbyteArray out = bytes_of(env, lines, length);
    free(lines);
    return out;
}

/* -> a line for each number; count 0: the number that the store would grant next */
NATIVE(jbyteArray, seriesNumbers)
(JNIEnv *env, jclass none, jobject keep, jlong address, jint count, jboolean dated, jlong sec,
 jint ns) {
    series *self = pointer_at(address);
    firn_error error;
    const firn_time when = {sec, ns}, *at = dated ? &when : NULL;
    const jint room = count > 0 ? count : 1;
    char(*texts)[FIRN_SERIES_SIZE] = calloc((size_t)room, sizeof *texts);
    jbyteArray out = NULL;
    (void)none, (void)keep;
    if (texts == NULL) {
        fail(env, FIRN_EMEMORY, "out of memory", NULL);
        return NULL;
    }
    int code = count > 0 ? firn_series_next(self->series, at, texts, (size_t)count, &error)
                         : firn_series_peek(self->series, at, texts[0], &error);
    if (code == FIRN_OK) {
        out = lines_of(env, texts, room);
    } else {
        fail_with(env, &error);
    }
    free(texts);
    return out;
}

NATIVE(jlong, readSeries)
(JNIEnv *env, jclass none, jobject keep, jlong address, jbyteArray number) {
    texts all = {.env = env};
    series *self = pointer_at(address);
    firn_error error;
    int64_t counter = 0;
    size_t length = 0;
    const char *text = text_of(&all, number, &length);
    (void)none, (void)keep;
    if (text != NULL && firn_series_read(self->series, &counter, text, length, &error) != FIRN_OK) {
        fail_with(env, &error);
    }
    free_texts(&all);
    return counter;
}

NATIVE(jbyteArray, defineSeries)(JNIEnv *env, jclass none, jobject keep, jlong address) {
    const series *self = pointer_at(address);
    const char *text = firn_series_definition(self->series);
    (void)none, (void)keep;
    return bytes_of(env, text, strlen(text));
}

NATIVE(void, freeSeries)(JNIEnv *env, jclass none, jlong address) {
    series *self = pointer_at(address);
    (void)env, (void)none;
    firn_series_close(self->series, NULL);
    firn_store_close(self->store);
    free(self);
}
