/* SPDX-License-Identifier: MIT */
/* Back-dating: IDs for rows that have a time but none. Each call in a statement is one job with a
 * node of its own, taken for good, so its IDs meet neither live ones nor those of another job. */
#include "extension.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

enum { SEED_BYTES = 24 };

typedef struct stamping {
    firn_job *job;
    int form;
    text *scheme, *name, *options; /* as they were when the job began */
    MemoryContextCallback callback;
} stamping;

static void end_job(void *argument) {
    stamping *it = argument;
    firn_job_close(it->job);
    it->job = NULL;
}

static void draw_hex(char *out, size_t bytes) {
    uint8 drawn[SEED_BYTES];
    if (!pg_strong_random(drawn, bytes)) {
        firn_refuse(FIRN_EENTROPY, "the system gives no randomness: see its log");
    }
    for (size_t i = 0; i < bytes; i++) {
        snprintf(out + 2 * i, 3, "%02x", drawn[i]);
    }
}

/* A name that nobody has given, for those who need none. */
static void name_job(char name[FIRN_JOB_SIZE], text *given) {
    char word[17];
    if (given != NULL && VARSIZE_ANY_EXHDR(given) > 0) {
        if (VARSIZE_ANY_EXHDR(given) >= FIRN_JOB_SIZE) {
            firn_refuse(FIRN_ERANGE, "the job's name has %zu bytes: at most %d",
                        (size_t)VARSIZE_ANY_EXHDR(given), FIRN_JOB_SIZE - 1);
        }
        text_to_cstring_buffer(given, name, FIRN_JOB_SIZE);
        return;
    }
    draw_hex(word, 8);
    snprintf(name, FIRN_JOB_SIZE, "statement %s", word);
}

/* With a store of the settings, which then gives the node. */
static int open_with_store(firn_job **job, firn_job_config *config, firn_error *error) {
    firn_store_options options = {.unsafe = firn_setting_unsafe};
    firn_store *store;
    int code = firn_store_open(&store, firn_setting_store, &options, error);
    if (code == FIRN_OK) {
        config->store = store;
        code = firn_job_open(job, config, error);
        firn_store_close(store);
    }
    return code;
}

static firn_job *open_job(const char *scheme, const char *name, const char *options) {
    firn_recipe *recipe = palloc(sizeof *recipe);
    char seed[2 * SEED_BYTES + 1], keys[1100];
    firn_error error;
    firn_job *job;
    firn_recipe_read(recipe, scheme, options, FIRN_OF_KEYS);
    draw_hex(seed, SEED_BYTES);
    bool reserved = firn_is_reserved(recipe) || recipe->node_given;
    strlcpy(keys, recipe->keys, sizeof keys);
    firn_job_config config = {.size = sizeof config,
                              .scheme = scheme,
                              .keys = keys,
                              .name = name,
                              .seed = seed, /* another one each time, so no job is done again */
                              .shift_ms = firn_setting_max_shift_ms};
    if (reserved) {
        firn_check_way(recipe, "firn.history");
    }
    if (reserved && firn_setting_store[0] != '\0') {
        FIRN_CHECK(open_with_store(&job, &config, &error));
    } else {
        if (reserved) {
            uint64 node = firn_shared_take(recipe, name, "");
            if (!firn_node_is_given(recipe)) {
                size_t length = strlen(keys);
                snprintf(keys + length, sizeof keys - length, "%snode=" UINT64_FORMAT,
                         length > 0 ? " " : "", node);
            }
        }
        FIRN_CHECK(firn_job_open(&job, &config, &error));
    }
    pfree(recipe);
    return job;
}

static text *keep(text *one) {
    return one == NULL ? NULL : (text *)PG_DETOAST_DATUM_COPY(PointerGetDatum(one));
}

static stamping *begin(FunctionCallInfo fcinfo, text *scheme, text *name, text *options) {
    char job[FIRN_JOB_SIZE];
    MemoryContext context = fcinfo->flinfo->fn_mcxt;
    name_job(job, name);
    stamping *it = MemoryContextAllocZero(context, sizeof *it);
    MemoryContext before = MemoryContextSwitchTo(context);
    it->scheme = keep(scheme);
    it->name = keep(name);
    it->options = keep(options);
    MemoryContextSwitchTo(before);
    it->job =
        open_job(text_to_cstring(scheme), job, options != NULL ? text_to_cstring(options) : "");
    it->form = firn_job_scheme(it->job)->form;
    it->callback.func = end_job;
    it->callback.arg = it;
    MemoryContextRegisterResetCallback(context, &it->callback);
    fcinfo->flinfo->fn_extra = it;
    return it;
}

static bool alike(text *a, text *b) {
    size_t size = a != NULL ? VARSIZE_ANY_EXHDR(a) : 0;
    return size == (b != NULL ? VARSIZE_ANY_EXHDR(b) : 0) &&
           (size == 0 || memcmp(VARDATA_ANY(a), VARDATA_ANY(b), size) == 0);
}

/* (scheme, time), (scheme, job, time) or (scheme, job, time, options) */
static Datum stamp(FunctionCallInfo fcinfo, enum firn_type type) {
    int count = PG_NARGS();
    text *scheme = PG_GETARG_TEXT_PP(0), *name = count > 2 ? PG_GETARG_TEXT_PP(1) : NULL;
    text *options = count > 3 ? PG_GETARG_TEXT_PP(3) : NULL;
    firn_time time = firn_time_of(PG_GETARG_TIMESTAMPTZ(count > 2 ? 2 : 1));
    stamping *it = fcinfo->flinfo->fn_extra;
    firn_error error;
    firn_id id;
    int64_t shift_ns;
    if (it == NULL) {
        it = begin(fcinfo, scheme, name, options);
    } else if (!alike(scheme, it->scheme) || !alike(name, it->name) ||
               !alike(options, it->options)) {
        firn_refuse(FIRN_EUSAGE, "scheme, job and options change from row to row: a job has one "
                                 "of each, so run a statement for each");
    }
    FIRN_CHECK(firn_job_next(it->job, &time, &id, &shift_ns, &error));
    return firn_datum(&id, type, it->form);
}

#define ENTRY(name, type)                                                                          \
    PG_FUNCTION_INFO_V1(firn_sql_stamp_##name);                                                    \
    Datum firn_sql_stamp_##name(PG_FUNCTION_ARGS) {                                                \
        return stamp(fcinfo, type);                                                                \
    }
ENTRY(int, FIRN_AS_INT)
ENTRY(uuid, FIRN_AS_UUID)
ENTRY(text, FIRN_AS_TEXT)
#undef ENTRY

/* firn_confirm_history([NODES]) */
PG_FUNCTION_INFO_V1(firn_sql_confirm_history);
Datum firn_sql_confirm_history(PG_FUNCTION_ARGS) {
    firn_shared_confirm(PG_NARGS() > 0 ? text_to_cstring(PG_GETARG_TEXT_PP(0))
                                       : firn_setting_history);
    PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(firn_sql_hand_over);
Datum firn_sql_hand_over(PG_FUNCTION_ARGS) {
    firn_shared_hand_over();
    PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(firn_sql_take_back);
Datum firn_sql_take_back(PG_FUNCTION_ARGS) {
    firn_shared_take_back();
    PG_RETURN_VOID();
}
