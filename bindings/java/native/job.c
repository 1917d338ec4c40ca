/* SPDX-License-Identifier: MIT */
/* Named jobs; Job.java lets one thread in at a time. Opening asks the store, issuing does not need it. */
#include "firn_java.h"

/* -> an address; `scheme_out` becomes the job's. `stored`: with a store, the default one if `store`
 * is null. */
NATIVE(jlong, openJob)
(JNIEnv *env, jclass none, jbyteArray scheme, jbyteArray keys, jbyteArray name, jlong digest,
 jbyteArray seed, jlong shift_ms, jlong disorder_ms, jboolean stored, jbyteArray store,
 jbyteArray dir, jboolean unsafe, jobject scheme_out) {
    texts all = {.env = env};
    firn_error error;
    firn_job *job = NULL;
    const char *url = text_of(&all, store, NULL);
    const firn_store_options options = {.module_dir = text_of(&all, dir, NULL), .unsafe = unsafe};
    firn_job_config config = {.size = sizeof config,
                              .scheme = text_of(&all, scheme, NULL),
                              .keys = text_of(&all, keys, NULL),
                              .name = text_of(&all, name, NULL),
                              .digest = (uint64_t)digest,
                              .seed = text_of(&all, seed, NULL),
                              .shift_ms = shift_ms,
                              .disorder_ms = disorder_ms};
    (void)none;
    if (!all.failed) {
        int code = stored ? firn_store_open(&config.store, url, &options, &error) : FIRN_OK;
        code = code == FIRN_OK ? firn_job_open(&job, &config, &error) : code;
        if (config.store != NULL) {
            firn_store_close(config.store);
        }
        if (code == FIRN_OK) {
            copy_scheme(scheme_of(env, scheme_out), firn_job_scheme(job));
        } else {
            fail_with(env, &error);
        }
    }
    free_texts(&all);
    return address_of(job);
}

/* The ID of a record, into three longs of `out`, and how far it moved, into the fourth one. */
NATIVE(void, jobNext)
(JNIEnv *env, jclass none, jobject keep, jlong address, jlong sec, jint ns, jlongArray out) {
    const firn_time time = {sec, ns};
    firn_error error;
    firn_id id;
    int64_t shift_ns = 0;
    (void)none, (void)keep;
    if (firn_job_next(pointer_at(address), &time, &id, &shift_ns, &error) != FIRN_OK) {
        fail_with(env, &error);
        return;
    }
    const jlong shift = shift_ns;
    put_id(env, out, 0, &id);
    (*env)->SetLongArrayRegion(env, out, 3, 1, &shift);
}

NATIVE(jboolean, jobAgain)(JNIEnv *env, jclass none, jobject keep, jlong address) {
    (void)env, (void)none, (void)keep;
    return firn_job_again(pointer_at(address));
}

NATIVE(void, freeJob)(JNIEnv *env, jclass none, jlong address) {
    (void)env, (void)none;
    firn_job_close(pointer_at(address));
}
