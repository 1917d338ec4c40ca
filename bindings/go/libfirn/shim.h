/* SPDX-License-Identifier: MIT */
/* Functions for calls and structures that Go cannot make itself: results by value, so that the hot
 * path allocates nothing, and structures with pointers, which must not be in Go memory. */
#ifndef FIRN_GO_SHIM_H
#define FIRN_GO_SHIM_H

#include <firn/recognize.h>
#include <stdlib.h>

/* An ID as its Go type has it: 8 bytes as an integer, or 16 bytes most significant first. */
typedef struct {
    uint64_t word[2];
    int code;
} firn_go_id;
firn_go_id firn_go_next(uintptr_t gen, bool wide);

int firn_go_open(firn_gen **gen, const char *scheme, const char *keys, const char *store,
                 const char *module_dir, const char *note, bool unsafe, bool renews,
                 firn_error *error);
int firn_go_store(firn_store **store, const char *url, const char *module_dir, bool unsafe,
                  bool later, firn_error *error);
int firn_go_job(firn_job **job, const char *scheme, const char *keys, firn_store *store,
                const char *name, uint64_t digest, const char *seed, int64_t shift_ms,
                int64_t disorder_ms, firn_error *error);
/* An ID of a job, as `word` of a firn_go_id. */
typedef struct {
    uint64_t word[2];
    firn_id id;
    int64_t shift_ns;
    int code;
} firn_go_dated;
firn_go_dated firn_go_job_next(uintptr_t job, firn_time time, bool wide);
/* n IDs, back-dated if `instant` is not NULL; NULL: *error. The caller frees them. */
firn_id *firn_go_many(firn_gen *gen, const firn_time *instant, size_t n, firn_error *error);
/* Writes IDs as their Go type has them, 8 or 16 bytes each. */
void firn_go_words(void *out, const firn_id *ids, size_t n, bool wide);
/* Writes the n texts, each ended by a zero, FIRN_TEXT_SIZE apart. */
void firn_go_texts(char *out, const firn_id *ids, size_t n, int form, const firn_gen *gen);
/* The same for the IDs of a page. */
void firn_go_page_texts(char *out, const firn_page *page, uint32_t bits, int form,
                        const firn_gen *gen);

/* A scheme in C memory, which the caller frees; NULL: *error. */
firn_scheme *firn_go_scheme(const char *name, const char *epoch, const char *bits,
                            const char *digits, firn_error *error);

#endif
