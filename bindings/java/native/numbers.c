/* SPDX-License-Identifier: MIT */
/* Segments, order numbers and masks. Calls of a segment may wait for the store. */
#include "firn_java.h"

#include <stdlib.h>
#include <string.h>

/* ---- segments -------------------------------------------------------------------------------- */

typedef struct segment {
    guard guard;
    firn_store *store;
    firn_segment *segment;
} segment;

static int release(segment *self, firn_error *error) {
    int code = FIRN_OK;
    if (self->segment != NULL) {
        code = firn_segment_close(self->segment, error);
        firn_store_close(self->store);
        self->segment = NULL;
    }
    return code;
}

/* -> an address */
NATIVE(jlong, openSegment)
(JNIEnv *env, jclass none, jbyteArray key, jbyteArray keys, jbyteArray store, jbyteArray dir,
 jboolean unsafe) {
    texts all = {.env = env};
    firn_error error;
    const char *name = text_of(&all, key, NULL), *words = text_of(&all, keys, NULL),
               *url = text_of(&all, store, NULL);
    const firn_store_options options = {.module_dir = text_of(&all, dir, NULL),
                                        .unsafe = unsafe,
                                        .later =
                                            words != NULL && strstr(words, "reserve=") != NULL};
    segment *self = all.failed ? NULL : calloc(1, sizeof *self);
    (void)none;
    if (self == NULL) {
        if (!all.failed) {
            fail(env, FIRN_EMEMORY, "out of memory", NULL);
        }
        free_texts(&all);
        return 0;
    }
    int code = firn_store_open(&self->store, url, &options, &error);
    if (code == FIRN_OK) {
        code = firn_segment_open(&self->segment, name, words, self->store, NULL, &error);
        if (code != FIRN_OK) {
            firn_store_close(self->store);
        }
    }
    free_texts(&all);
    if (code != FIRN_OK) {
        free(self);
        fail_with(env, &error);
        return 0;
    }
    return address_of(self);
}

typedef int verb(firn_segment *segment, int64_t argument, int64_t *value, firn_error *error);

static int next(firn_segment *segment, int64_t argument, int64_t *value, firn_error *error) {
    (void)argument;
    return firn_segment_next(segment, value, error);
}

static int block(firn_segment *segment, int64_t argument, int64_t *value, firn_error *error) {
    return firn_segment_block(segment, argument, value, error);
}

static int peek(firn_segment *segment, int64_t argument, int64_t *value, firn_error *error) {
    (void)argument;
    return firn_segment_peek(segment, value, error);
}

static int advance(firn_segment *segment, int64_t argument, int64_t *value, firn_error *error) {
    return firn_segment_advance(segment, argument, value, error);
}

static int increment(firn_segment *segment, int64_t argument, int64_t *value, firn_error *error) {
    (void)argument, (void)error;
    *value = firn_segment_increment(segment);
    return FIRN_OK;
}

static jlong ask(JNIEnv *env, jlong address, verb *what, int64_t argument) {
    segment *self = pointer_at(address);
    firn_error error;
    int64_t value = 0;
    if (!enter(&self->guard)) {
        fail(env, FIRN_EUSAGE, "the segment is closed", "open another one");
        return 0;
    }
    int code = what(self->segment, argument, &value, &error);
    leave(&self->guard);
    if (code != FIRN_OK) {
        fail_with(env, &error);
    }
    return value;
}

#define VERB(java, name)                                                                           \
    NATIVE(jlong, java)                                                                            \
    (JNIEnv * env, jclass none, jobject keep, jlong address, jlong argument) {                     \
        (void)none, (void)keep;                                                                    \
        return ask(env, address, name, argument);                                                  \
    }
VERB(segmentNext, next)
VERB(segmentBlock, block)
VERB(segmentPeek, peek)
VERB(segmentAdvance, advance)
VERB(segmentIncrement, increment)
#undef VERB

NATIVE(void, closeSegment)(JNIEnv *env, jclass none, jobject keep, jlong address) {
    segment *self = pointer_at(address);
    firn_error error;
    (void)none, (void)keep;
    if (shut(&self->guard) && release(self, &error) != FIRN_OK) {
        fail_with(env, &error);
    }
}

NATIVE(void, freeSegment)(JNIEnv *env, jclass none, jlong address) {
    (void)env, (void)none;
    release(pointer_at(address), NULL);
    free(pointer_at(address));
}

/* ---- order numbers: Handle.java lets one thread in at a time ---------------------------------- */

/* -> an address; `key` has 16 bytes */
NATIVE(jlong, openOrder)
(JNIEnv *env, jclass none, jbyteArray key, jbyteArray keys, jbyteArray dir) {
    texts all = {.env = env};
    firn_error error;
    firn_order *made = NULL;
    uint8_t bytes[16];
    const char *words = text_of(&all, keys, NULL), *folder = text_of(&all, dir, NULL);
    (void)none;
    (*env)->GetByteArrayRegion(env, key, 0, 16, (jbyte *)bytes);
    if (!all.failed && firn_order_open(&made, words, bytes, folder, &error) != FIRN_OK) {
        fail_with(env, &error);
    }
    explicit_bzero(bytes, sizeof bytes);
    free_texts(&all);
    return address_of(made);
}

NATIVE(jbyteArray, writeOrder)
(JNIEnv *env, jclass none, jobject keep, jlong address, jlong integer) {
    char text[FIRN_ORDER_SIZE];
    firn_error error;
    (void)none, (void)keep;
    if (firn_order_write(pointer_at(address), text, (uint64_t)integer, &error) != FIRN_OK) {
        fail_with(env, &error);
        return NULL;
    }
    return bytes_of(env, text, strlen(text));
}

NATIVE(jlong, readOrder)
(JNIEnv *env, jclass none, jobject keep, jlong address, jbyteArray number) {
    texts all = {.env = env};
    firn_error error;
    uint64_t integer = 0;
    size_t length = 0;
    const char *text = text_of(&all, number, &length);
    (void)none, (void)keep;
    if (text != NULL &&
        firn_order_read(pointer_at(address), &integer, text, length, &error) != FIRN_OK) {
        fail_with(env, &error);
    }
    free_texts(&all);
    return (jlong)integer;
}

NATIVE(void, freeOrder)(JNIEnv *env, jclass none, jlong address) {
    (void)env, (void)none;
    firn_order_close(pointer_at(address));
}

/* ---- masks: Handle.java lets one thread in at a time ------------------------------------------ */

/* -> an address */
NATIVE(jlong, openMask)
(JNIEnv *env, jclass none, jbyteArray keys, jbyteArray file, jbyteArray dir) {
    texts all = {.env = env};
    firn_error error;
    firn_mask *made = NULL;
    const char *words = text_of(&all, keys, NULL), *path = text_of(&all, file, NULL),
               *folder = text_of(&all, dir, NULL);
    (void)none;
    if (!all.failed && firn_mask_load(&made, words, path, folder, &error) != FIRN_OK) {
        fail_with(env, &error);
    }
    free_texts(&all);
    return address_of(made);
}

NATIVE(jbyteArray, turnMask)
(JNIEnv *env, jclass none, jobject keep, jlong address, jbyteArray given, jboolean back) {
    texts all = {.env = env};
    firn_error error;
    char out[FIRN_TEXT_SIZE];
    size_t length = 0;
    const char *text = text_of(&all, given, &length);
    (void)none, (void)keep;
    int code = text == NULL ? FIRN_EMEMORY
                            : (back ? firn_mask_read : firn_mask_write)(pointer_at(address), out,
                                                                        text, length, &error);
    if (text != NULL && code != FIRN_OK) {
        fail_with(env, &error);
    }
    free_texts(&all);
    return code == FIRN_OK ? bytes_of(env, out, strlen(out)) : NULL;
}

NATIVE(jbyteArray, printMask)(JNIEnv *env, jclass none, jobject keep, jlong address) {
    const char *text = firn_mask_fingerprint(pointer_at(address));
    (void)none, (void)keep;
    return bytes_of(env, text, strlen(text));
}

NATIVE(void, freeMask)(JNIEnv *env, jclass none, jlong address) {
    (void)env, (void)none;
    firn_mask_close(pointer_at(address));
}
