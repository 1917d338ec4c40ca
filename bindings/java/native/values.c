/* SPDX-License-Identifier: MIT */
/* Arguments, results and errors of calls. */
#include "firn_java.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Looked up for each error: a global reference would keep the class, and its loader, alive. */
void fail(JNIEnv *env, int code, const char *text) {
    jclass type = (*env)->FindClass(env, "dev/firn/FirnException");
    jmethodID of = type != NULL
                       ? (*env)->GetStaticMethodID(env, type, "of", "(I[B)Ldev/firn/FirnException;")
                       : NULL;
    jbyteArray bytes = of != NULL ? bytes_of(env, text, strlen(text)) : NULL;
    if (bytes == NULL) {
        return; /* something else was thrown */
    }
    jobject thrown = (*env)->CallStaticObjectMethod(env, type, of, (jint)code, bytes);
    if (!(*env)->ExceptionCheck(env) && thrown != NULL) {
        (*env)->Throw(env, thrown);
    }
}

void fail_with(JNIEnv *env, const firn_error *error) {
    fail(env, error->code, error->text);
}

const char *text_of(texts *all, jbyteArray bytes, size_t *length) {
    if (bytes == NULL || all->failed) {
        return NULL;
    }
    jsize size = (*all->env)->GetArrayLength(all->env, bytes);
    char *text = malloc((size_t)size + 1);
    if (text == NULL) {
        all->failed = true;
        fail(all->env, FIRN_EMEMORY, "out of memory");
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

void put_id(JNIEnv *env, jlongArray out, jsize at, const firn_id *id) {
    const jlong parts[3] = {(jlong)id->high, (jlong)id->low, (jlong)id->top};
    (*env)->SetLongArrayRegion(env, out, at, 3, parts);
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

/* ---- the library ------------------------------------------------------------------------------- */

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
