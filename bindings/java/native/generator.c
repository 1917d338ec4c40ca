/* SPDX-License-Identifier: MIT */
/* Generators and blocks. Generators that reserve slots have a renewer, Renewer.java, so that no
 * call that issues live IDs waits for a store. */
#include "firn_java.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct generator {
    guard guard;
    firn_gen *gen;
    uint32_t bits;
} generator;

static void closed(JNIEnv *env) {
    fail(env, FIRN_EUSAGE, "the generator is closed", "open another one");
}

void copy_scheme(firn_scheme *target, const firn_scheme *scheme) {
    *target = *scheme;
    target->ns = target->node_fields = target->note = target->source = NULL;
}

/* -> an address; `scheme` becomes the generator's */
NATIVE(jlong, openGenerator)
(JNIEnv *env, jclass none, jbyteArray scheme, jbyteArray keys, jbyteArray store, jbyteArray dir,
 jbyteArray note, jboolean unsafe, jobject scheme_out) {
    texts all = {.env = env};
    firn_error error;
    firn_store_options options = {.module_dir = text_of(&all, dir, NULL), .unsafe = unsafe};
    firn_config config = {.size = sizeof config,
                          .scheme = text_of(&all, scheme, NULL),
                          .keys = text_of(&all, keys, NULL),
                          .store_url = text_of(&all, store, NULL),
                          .store_options = &options,
                          .note = text_of(&all, note, NULL)};
    generator *self = calloc(1, sizeof *self);
    (void)none;
    if (self == NULL || all.failed) {
        if (!all.failed) {
            fail(env, FIRN_EMEMORY, "out of memory", NULL);
        }
    } else {
        config.has_renewer = strstr(config.keys, "mode=online") == NULL;
        if (firn_open_with(&self->gen, &config, &error) != FIRN_OK) {
            fail_with(env, &error);
        } else {
            self->bits = firn_gen_scheme(self->gen)->bits;
            copy_scheme(scheme_of(env, scheme_out), firn_gen_scheme(self->gen));
            free_texts(&all);
            return address_of(self);
        }
    }
    free(self);
    free_texts(&all);
    return 0;
}

/* Before anybody else knows the generator. */
NATIVE(jbyteArray, prefix)(JNIEnv *env, jclass none, jobject keep, jlong address) {
    const generator *self = pointer_at(address);
    const char *prefix = firn_gen_prefix(self->gen);
    (void)none, (void)keep;
    return bytes_of(env, prefix, strlen(prefix));
}

NATIVE(jlong, next)(JNIEnv *env, jclass none, jobject keep, jlong address) {
    generator *self = pointer_at(address);
    firn_error error;
    uint64_t id = 0;
    (void)none, (void)keep;
    if (!enter(&self->guard)) {
        closed(env);
        return 0;
    }
    int code = firn_next_u64(self->gen, &id, 1, &error);
    leave(&self->guard);
    if (code != FIRN_OK) {
        fail_with(env, &error);
    }
    return (jlong)id;
}

/* An ID of any width, into three longs. */
NATIVE(void, nextWide)
(JNIEnv *env, jclass none, jobject keep, jlong address, jlongArray out) {
    generator *self = pointer_at(address);
    firn_error error;
    firn_id id;
    (void)none, (void)keep;
    if (!enter(&self->guard)) {
        closed(env);
        return;
    }
    int code = firn_next(self->gen, &id, &error);
    leave(&self->guard);
    if (code != FIRN_OK) {
        fail_with(env, &error);
        return;
    }
    put_id(env, out, 0, &id);
}

static bool count_is_good(JNIEnv *env, jint count) {
    firn_error error;
    if (count >= 0 && count <= COUNT_MAX) {
        return true;
    }
    firn_error_set(&error, FIRN_ERANGE, FIRN_CURE_FEWER_IDS, "%d IDs at once: ask for 0 to %d",
                   (int)count, COUNT_MAX);
    fail_with(env, &error);
    return false;
}

/* Memory for the IDs of a call that has entered the guard. NULL: thrown, and not inside. */
static void *begin_many(JNIEnv *env, generator *self, jint count, size_t size) {
    if (!count_is_good(env, count)) {
        return NULL;
    }
    void *ids = malloc((size_t)count * size + 1);
    if (ids == NULL) {
        fail(env, FIRN_EMEMORY, "out of memory", NULL);
    } else if (!enter(&self->guard)) {
        free(ids);
        ids = NULL;
        closed(env);
    }
    return ids;
}

/* -> long[count] */
NATIVE(jlongArray, longs)(JNIEnv *env, jclass none, jobject keep, jlong address, jint count) {
    generator *self = pointer_at(address);
    firn_error error;
    jlongArray out = NULL;
    uint64_t *ids = begin_many(env, self, count, sizeof *ids);
    (void)none, (void)keep;
    if (ids == NULL) {
        return NULL;
    }
    int code = count > 0 ? firn_next_u64(self->gen, ids, (size_t)count, &error) : FIRN_OK;
    leave(&self->guard);
    if (code != FIRN_OK) {
        fail_with(env, &error);
    } else if ((out = (*env)->NewLongArray(env, count)) != NULL) {
        (*env)->SetLongArrayRegion(env, out, 0, count, (const jlong *)ids);
    }
    free(ids);
    return out;
}

/* -> long[3 * count]; back-dated if `dated` */
NATIVE(jlongArray, wides)
(JNIEnv *env, jclass none, jobject keep, jlong address, jint count, jboolean dated, jlong sec,
 jint ns) {
    generator *self = pointer_at(address);
    firn_error error;
    const firn_time when = {sec, ns};
    jlongArray out = NULL;
    firn_id *ids = begin_many(env, self, count, sizeof *ids);
    (void)none, (void)keep;
    if (ids == NULL) {
        return NULL;
    }
    int code = count == 0 ? FIRN_OK
               : dated    ? firn_at(self->gen, &when, ids, (size_t)count, &error)
                          : firn_next_n(self->gen, ids, (size_t)count, &error);
    leave(&self->guard);
    if (code != FIRN_OK) {
        fail_with(env, &error);
    } else if ((out = (*env)->NewLongArray(env, 3 * count)) != NULL) {
        for (jsize i = 0; i < count; i++) {
            put_id(env, out, 3 * i, &ids[i]);
        }
    }
    free(ids);
    return out;
}

/* Renews the window if necessary -> milliseconds until the next step. */
NATIVE(jlong, step)(JNIEnv *env, jclass none, jobject keep, jlong address) {
    generator *self = pointer_at(address);
    firn_error error;
    int64_t wait_ms = 50;
    (void)none, (void)keep;
    if (!enter(&self->guard)) {
        closed(env);
        return 0;
    }
    int code = firn_gen_step(self->gen, &wait_ms, &error);
    leave(&self->guard);
    if (code != FIRN_OK) {
        fail_with(env, &error);
    }
    return wait_ms;
}

/* -> the members of Status.java, in its order */
NATIVE(jlongArray, status)(JNIEnv *env, jclass none, jobject keep, jlong address) {
    generator *self = pointer_at(address);
    firn_status now = {.size = sizeof now};
    (void)none, (void)keep;
    if (!enter(&self->guard)) {
        closed(env);
        return NULL;
    }
    firn_gen_status(self->gen, &now);
    leave(&self->guard);
    const jlong members[] = {now.reserved,
                             now.held,
                             (jlong)now.node,
                             now.first,
                             now.next,
                             now.end,
                             now.lead_ns,
                             (jlong)now.claims,
                             (jlong)now.renewals,
                             (jlong)now.give_backs,
                             (jlong)now.store_errors,
                             (jlong)now.steps_back_absorbed,
                             (jlong)now.steps_back_left,
                             (jlong)now.jumps_ahead,
                             now.unsafe,
                             now.stays};
    const jsize count = sizeof members / sizeof members[0];
    jlongArray out = (*env)->NewLongArray(env, count);
    if (out != NULL) {
        (*env)->SetLongArrayRegion(env, out, 0, count, members);
    }
    return out;
}

/* Waits for the calls of other threads. The second time: nothing. */
NATIVE(void, closeGenerator)(JNIEnv *env, jclass none, jobject keep, jlong address) {
    generator *self = pointer_at(address);
    firn_error error;
    (void)none, (void)keep;
    if (shut(&self->guard)) {
        firn_gen *gen = self->gen;
        self->gen = NULL;
        if (firn_close(gen, &error) != FIRN_OK) {
            fail_with(env, &error);
        }
    }
}

/* Once the Java object is unreachable. */
NATIVE(void, freeGenerator)(JNIEnv *env, jclass none, jlong address) {
    generator *self = pointer_at(address);
    (void)env, (void)none;
    if (self->gen != NULL) {
        firn_close(self->gen, NULL);
    }
    free(self);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

_Static_assert(offsetof(firn_page, next) == 0 && offsetof(firn_page, count) == 4 &&
                   offsetof(firn_page, until_ns) == 8 && sizeof(firn_page) == 24,
               "Block.java reads the page at these offsets");

/* -> an address */
NATIVE(jlong, openBlock)(JNIEnv *env, jclass none, jobject keep, jlong address, jlong age_us) {
    generator *self = pointer_at(address);
    firn_block *block = NULL;
    firn_error error;
    (void)none, (void)keep;
    if (!enter(&self->guard)) {
        closed(env);
        return 0;
    }
    int code = firn_block_open(&block, self->gen, age_us, &error);
    leave(&self->guard);
    if (code != FIRN_OK) {
        fail_with(env, &error);
    }
    return address_of(block);
}

/* The page of a block; Block.java uses it only while the block is open. */
NATIVE(jobject, page)(JNIEnv *env, jclass none, jlong block, jint stride) {
    (void)none;
    return (*env)->NewDirectByteBuffer(env, firn_block_page(pointer_at(block)),
                                       (jlong)sizeof(firn_page) + (jlong)FIRN_BLOCK_MAX * stride);
}

NATIVE(void, fill)(JNIEnv *env, jclass none, jobject keep, jlong address, jlong block) {
    generator *self = pointer_at(address);
    firn_error error;
    (void)none, (void)keep;
    if (!enter(&self->guard)) {
        closed(env);
        return;
    }
    int code = firn_block_fill(pointer_at(block), &error);
    leave(&self->guard);
    if (code != FIRN_OK) {
        fail_with(env, &error);
    }
}

NATIVE(void, closeBlock)(JNIEnv *env, jclass none, jlong block) {
    (void)env, (void)none;
    firn_block_close(pointer_at(block));
}
