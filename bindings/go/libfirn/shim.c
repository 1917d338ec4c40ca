/* SPDX-License-Identifier: MIT */
#include "shim.h"

#include <string.h>

static void put(void *out, const firn_id *id, bool wide) {
    if (wide) {
        uint8_t bytes[20];
        firn_id_bytes(bytes, id);
        memcpy(out, bytes, 16);
    } else {
        memcpy(out, &id->low, sizeof id->low);
    }
}

firn_go_id firn_go_next(uintptr_t address, bool wide) {
    firn_gen *gen = (firn_gen *)address;
    firn_go_id out = {{0, 0}, 0};
    firn_id id;
    if (!wide) {
        out.code = firn_next_u64(gen, out.word, 1, NULL);
    } else if ((out.code = firn_next(gen, &id, NULL)) == FIRN_OK) {
        put(out.word, &id, wide);
    }
    return out;
}

int firn_go_open(firn_gen **gen, const char *scheme, const char *keys, const char *store,
                 const char *module_dir, const char *note, bool unsafe, bool renews,
                 firn_error *error) {
    const firn_store_options options = {.module_dir = module_dir, .unsafe = unsafe};
    const firn_config config = {.size = sizeof config,
                                .scheme = scheme,
                                .keys = keys,
                                .store_url = store,
                                .store_options = &options,
                                .note = note,
                                .has_renewer = renews};
    return firn_open_with(gen, &config, error);
}

int firn_go_store(firn_store **store, const char *url, const char *module_dir, bool unsafe,
                  bool later, firn_error *error) {
    const firn_store_options options = {.module_dir = module_dir, .unsafe = unsafe, .later = later};
    return firn_store_open(store, url, &options, error);
}

int firn_go_job(firn_job **job, const char *scheme, const char *keys, firn_store *store,
                const char *name, uint64_t digest, const char *seed, int64_t shift_ms,
                int64_t disorder_ms, firn_error *error) {
    const firn_job_config config = {.size = sizeof config,
                                    .scheme = scheme,
                                    .keys = keys,
                                    .store = store,
                                    .name = name,
                                    .digest = digest,
                                    .seed = seed,
                                    .shift_ms = shift_ms,
                                    .disorder_ms = disorder_ms};
    return firn_job_open(job, &config, error);
}

firn_go_dated firn_go_job_next(uintptr_t address, firn_time time, bool wide) {
    firn_go_dated out = {0};
    out.code = firn_job_next((firn_job *)address, &time, &out.id, &out.shift_ns, NULL);
    if (out.code == FIRN_OK) {
        put(out.word, &out.id, wide);
    }
    return out;
}

firn_id *firn_go_many(firn_gen *gen, const firn_time *instant, size_t n, firn_error *error) {
    firn_id *ids = malloc(n * sizeof *ids);
    if (ids == NULL) {
        firn_error_set(error, FIRN_EMEMORY, FIRN_CURE_FEWER_IDS,
                       "out of memory: ask for fewer IDs at once");
        return NULL;
    }
    int code =
        instant != NULL ? firn_at(gen, instant, ids, n, error) : firn_next_n(gen, ids, n, error);
    if (code != FIRN_OK) {
        free(ids);
        return NULL;
    }
    return ids;
}

void firn_go_words(void *out, const firn_id *ids, size_t n, bool wide) {
    for (size_t i = 0; i < n; i++) {
        put((char *)out + i * (wide ? 16 : 8), &ids[i], wide);
    }
}

/* The text of an ID, with the prefix of a TypeID. */
static void put_text(char *out, const firn_id *id, int form, const firn_gen *gen) {
    if (form == FIRN_FORM_TYPEID) {
        firn_prefix_format(out, firn_gen_prefix(gen), id);
    } else {
        firn_format(out, id, form);
    }
}

void firn_go_texts(char *out, const firn_id *ids, size_t n, int form, const firn_gen *gen) {
    for (size_t i = 0; i < n; i++) {
        put_text(out + i * FIRN_TEXT_SIZE, &ids[i], form, gen);
    }
}

void firn_go_page_texts(char *out, const firn_page *page, uint32_t bits, int form,
                        const firn_gen *gen) {
    for (uint32_t i = 0; i < page->count; i++) {
        const char *position = (const char *)(page + 1) + (size_t)i * page->stride;
        firn_id id = {.bits = bits};
        if (bits <= 64) {
            memcpy(&id.low, position, sizeof id.low);
        } else {
            firn_id_from_bytes(&id, (const uint8_t *)position, bits, NULL); /* its own IDs fit */
        }
        put_text(out + (size_t)i * FIRN_TEXT_SIZE, &id, form, gen);
    }
}

firn_scheme *firn_go_scheme(const char *name, const char *epoch, const char *bits,
                            const char *digits, firn_error *error) {
    const firn_scheme *listed = firn_scheme_find(name);
    firn_scheme *out = malloc(sizeof *out);
    if (out == NULL) {
        firn_error_set(error, FIRN_EMEMORY, FIRN_CURE_NONE, "out of memory");
    } else if (listed != NULL && epoch == NULL && bits == NULL && digits == NULL) {
        *out = *listed;
    } else if (firn_scheme_make(out, name, epoch, bits, digits, error) != FIRN_OK) {
        free(out);
        out = NULL;
    }
    return out;
}
