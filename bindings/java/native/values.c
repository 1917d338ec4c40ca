/* SPDX-License-Identifier: MIT */
/* Arguments, results and errors of calls. */
#include "firn_java.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Looked up for each error: a global reference would keep the class, and its loader, alive. */
void fail_with(JNIEnv *env, const firn_error *error) {
    const char *text = error->text, *name = firn_curename(error->cure);
    jclass type = (*env)->FindClass(env, "dev/firn/FirnException");
    jmethodID owner =
        type != NULL
            ? (*env)->GetStaticMethodID(env, type, "of", "(I[B[BIIIII)Ldev/firn/FirnException;")
            : NULL;
    jbyteArray bytes = owner != NULL ? bytes_of(env, text, strlen(text)) : NULL;
    jbyteArray cure = bytes != NULL ? bytes_of(env, name, strlen(name)) : NULL;
    if (cure == NULL) {
        return; /* something else was thrown */
    }
    jobject thrown = (*env)->CallStaticObjectMethod(
        env, type, owner, (jint)error->code, bytes, cure, (jint)error->cure_at,
        (jint)error->value.at, (jint)error->value.length, (jint)error->limit.at,
        (jint)error->limit.length);
    if (!(*env)->ExceptionCheck(env) && thrown != NULL) {
        (*env)->Throw(env, thrown);
    }
}

void fail(JNIEnv *env, int code, const char *what, const char *cure) {
    firn_error error;
    if (cure != NULL) {
        firn_error_set(&error, code, FIRN_CURE_OTHER, "%s: %s", what, cure);
    } else {
        firn_error_set(&error, code, FIRN_CURE_NONE, "%s", what);
    }
    fail_with(env, &error);
}

const char *text_of(texts *all, jbyteArray bytes, size_t *length) {
    if (bytes == NULL || all->failed) {
        return NULL;
    }
    jsize size = (*all->env)->GetArrayLength(all->env, bytes);
    char *text = malloc((size_t)size + 1);
    if (text == NULL) {
        all->failed = true;
        fail(all->env, FIRN_EMEMORY, "out of memory", NULL);
        return NULL;
    }
    all->text[all->count++] = text;
    (*all->env)->GetByteArrayRegion(all->env, bytes, 0, size, (jbyte *)text);
    text[size] = '\0';
    if (length != NULL) {
        *length = (size_t)size - 1; /* without the zero that Text.java adds */
    }
    return text;
}

void free_texts(texts *all) {
    while (all->count > 0) {
        free(all->text[--all->count]);
    }
}

jbyteArray bytes_of(JNIEnv *env, const void *bytes, size_t size) {
    jbyteArray array = (*env)->NewByteArray(env, (jsize)size);
    if (array != NULL) {
        (*env)->SetByteArrayRegion(env, array, 0, (jsize)size, bytes);
    }
    return array;
}

void put_id(JNIEnv *env, jlongArray out, jsize position, const firn_id *id) {
    const jlong parts[3] = {(jlong)id->high, (jlong)id->low, (jlong)id->top};
    (*env)->SetLongArrayRegion(env, out, position, 3, parts);
}

firn_scheme *scheme_of(JNIEnv *env, jobject buffer) {
    return (*env)->GetDirectBufferAddress(env, buffer);
}

bool shut(guard *g) {
    const struct timespec moment = {.tv_nsec = 100000};
    if (atomic_fetch_or(&g->users, CLOSED) >= CLOSED) {
        return false;
    }
    while (atomic_load_explicit(&g->users, memory_order_acquire) != CLOSED) {
        nanosleep(&moment, NULL);
    }
    return true;
}

/* ---- the library ----------------------------------------------------------------------------- */

NATIVE(jbyteArray, versions)(JNIEnv *env, jclass none) {
    char both[64] = FIRN_VERSION " ";
    (void)none;
    strncat(both, firn_version(), sizeof both - strlen(both) - 1);
    return bytes_of(env, both, strlen(both));
}

NATIVE(void, renewIdentity)(JNIEnv *env, jclass none) {
    (void)env, (void)none;
    firn_renew_identity();
}

NATIVE(jlong, monotonicNs)(JNIEnv *env, jclass none) {
    struct timespec now = {0, 0};
    (void)env, (void)none;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (jlong)now.tv_sec * 1000000000 + now.tv_nsec;
}
