/* SPDX-License-Identifier: MIT */
/* Declarations that the files of libfirnjni share: the C part of the package firn for Java (17 and
 * later).
 *
 * Rules of this border: text crosses as UTF-8 in byte[], because JNI's own strings are modified
 * UTF-8; an ID of more than 64 bits crosses as three longs (high, low, top); a function that
 * failed has thrown a FirnException and returns 0 or NULL. The object whose memory an address
 * points to is an argument (`keep`), so that it is not collected during the call. */
#ifndef FIRN_JAVA_H
#define FIRN_JAVA_H

#include <firn/firn.h>
#include <jni.h>
#include <stdatomic.h>

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_dev_firn_Native_##name
#define COUNT_MAX          (1 << 24) /* IDs of one call */
#define MOST_TEXTS         6

/* Throws a FirnException. */
void fail(JNIEnv *env, int code, const char *what, const char *cure); /* `cure` may be NULL */
void fail_with(JNIEnv *env, const firn_error *error);

/* The texts of a call's arguments, freed together. */
typedef struct texts {
    JNIEnv *env;
    size_t count;
    char *text[MOST_TEXTS];
    bool failed; /* thrown: out of memory */
} texts;
/* Text.java has checked it, and ended it with a zero. NULL where it is null, or after a failure. */
const char *text_of(texts *all, jbyteArray bytes, size_t *length);
void free_texts(texts *all);

jbyteArray bytes_of(JNIEnv *env, const void *bytes, size_t size);
void put_id(JNIEnv *env, jlongArray out, jsize position, const firn_id *id);
static inline firn_id id_of(uint32_t bits, jlong high, jlong low, jlong top) {
    return (firn_id){(uint64_t)low, (uint64_t)high, (uint32_t)top, bits};
}
/* The struct in a direct buffer, which Java code cannot see. */
firn_scheme *scheme_of(JNIEnv *env, jobject buffer);
/* The Java object's copy of the scheme of a generator or a job, which points into neither. */
void copy_scheme(firn_scheme *target, const firn_scheme *scheme);

/* ---- closing while other threads call -------------------------------------------------------- */
/* Threads inside a call; close() waits for them. The memory itself stays until its Java object is
 * unreachable. */
typedef struct guard {
    _Atomic uint64_t users; /* and CLOSED */
} guard;
#define CLOSED (UINT64_C(1) << 62)

static inline void leave(guard *g) {
    atomic_fetch_sub_explicit(&g->users, 1, memory_order_release);
}
/* False: closed. */
static inline bool enter(guard *g) {
    if (atomic_fetch_add_explicit(&g->users, 1, memory_order_acquire) < CLOSED) {
        return true;
    }
    leave(g);
    return false;
}
/* Waits for the threads inside. False: another call has closed it. */
bool shut(guard *g);

static inline void *pointer_at(jlong address) {
    return (void *)(intptr_t)address;
}
static inline jlong address_of(const void *object) {
    return (jlong)(intptr_t)object;
}

#endif
