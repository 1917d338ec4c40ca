/* SPDX-License-Identifier: MIT */
/* Back-dating: generates IDs for rows that have a time but no ID. A job has its own node
 * permanently, so its IDs differ from live ones and from other jobs. A named job continues over
 * statements and sessions (counts.c); without a name each call in a statement is a job. */
#include "extension.h"

#include "../common/sql.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

enum { SEED_BYTES = 24 };

typedef struct stamping {
    firn_job *job;         /* of this statement alone; or */
    firn_counted *counted; /* while firn_counted_era is: */
    uint64 era;
    int form;
    bool is_signed;
    text *scheme, *name, *options; /* as they were when the job began */
    MemoryContextCallback callback;
} stamping;

static void end_job(void *argument) {
    stamping *run = argument;
    firn_job_close(run->job);
    run->job = NULL;
}

static void draw_hex(char *out, size_t bytes) {
    uint8 drawn[SEED_BYTES];
    if (!pg_strong_random(drawn, bytes)) {
        firn_refuse(FIRN_EENTROPY,
                    "the kernel gives PostgreSQL no random bytes: read PostgreSQL's log");
    }
    for (size_t i = 0; i < bytes; i++) {
        snprintf(out + 2 * i, 3, "%02x", drawn[i]);
    }
}

/* A random name, for jobs without one. */
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

/* How a job is opened: `counts` names its table, or is "". */
typedef struct opening {
    const char *scheme, *name, *counts;
    firn_recipe recipe;
    bool reserved;
} opening;

/* The seed of a continuing job follows from its name only, so that all sessions have the same one.
 * For schemes with a node nothing is secret. */
static void seed_of(char seed[FIRN_JOB_SIZE + 8], const opening *self) {
    if (self->counts[0] != '\0') {
        snprintf(seed, FIRN_JOB_SIZE + 8, "job %s", self->name);
    } else {
        draw_hex(seed, SEED_BYTES);
    }
}

static uint32 timeline(void) {
    return GetWALInsertionTimeLine();
}

/* Which table counts, and on which timeline, as a number: the same name with other counts is
 * another job to a store. A promoted standby may lack the last counts. */
static uint64 digest_of(const char *counts) {
    uint64 out = UINT64CONST(0xcbf29ce484222325); /* FNV-1a */
    char whole[FIRN_COUNTS_SIZE + 48];
    if (counts[0] == '\0') {
        return 0;
    }
    firn_require_primary();
    snprintf(whole, sizeof whole, "%s " UINT64_FORMAT " %u", counts, GetSystemIdentifier(),
             timeline());
    for (const char *position = whole; *position != '\0'; position++) {
        out = (out ^ (uint8)*position) * UINT64CONST(0x100000001b3);
    }
    return out;
}

static firn_job *open_job(const opening *self) {
    char seed[FIRN_JOB_SIZE + 8], keys[1100];
    firn_error error;
    firn_job *job;
    seed_of(seed, self);
    strlcpy(keys, self->recipe.keys, sizeof keys);
    firn_job_config config = {.size = sizeof config,
                              .scheme = firn_recipe_base(&self->recipe, self->scheme),
                              .keys = keys,
                              .name = self->name,
                              .seed = seed,
                              .digest = digest_of(self->counts),
                              .shift_ms = firn_setting_max_shift_ms};
    if (self->reserved && firn_setting_store[0] != '\0') {
        FIRN_CHECK(open_with_store(&job, &config, &error));
        return job;
    }
    if (self->reserved) {
        uint64 node = firn_shared_take(&self->recipe, self->name, self->counts);
        if (!firn_node_is_given(&self->recipe)) {
            size_t length = strlen(keys);
            snprintf(keys + length, sizeof keys - length, "%snode=" UINT64_FORMAT,
                     length > 0 ? " " : "", node);
        }
    }
    FIRN_CHECK(firn_job_open(&job, &config, &error));
    return job;
}

static void find_job(stamping *run, FunctionCallInfo fcinfo) {
    char name[FIRN_JOB_SIZE], counts[FIRN_COUNTS_SIZE] = "";
    bool named = run->name != NULL && VARSIZE_ANY_EXHDR(run->name) > 0;
    firn_counted *known = named ? firn_counted_find(run->scheme, run->name, run->options) : NULL;
    if (known != NULL) {
        run->counted = known;
        run->era = firn_counted_era;
        return;
    }
    opening *how = palloc0(sizeof *how);
    how->scheme = text_to_cstring(run->scheme);
    name_job(name, run->name);
    how->name = name;
    how->counts = counts;
    firn_recipe_read(&how->recipe, how->scheme,
                     run->options != NULL ? text_to_cstring(run->options) : "", FIRN_OF_KEYS);
    how->reserved = firn_is_reserved(&how->recipe) || how->recipe.node_given;
    if (how->reserved) {
        firn_check_way(&how->recipe, "firn.history");
    }
    if (named && how->reserved) {
        Oid table = firn_counts_table();
        firn_counts_name(counts, table);
        firn_job *job = open_job(how);
        run->counted =
            firn_counted_open(job, how->recipe.name, run->scheme, run->name, run->options, table);
        run->era = firn_counted_era;
    } else {
        run->job = open_job(how);
    }
    pfree(how);
}

static stamping *begin(FunctionCallInfo fcinfo, text *scheme, text *name, text *options) {
    MemoryContext context = fcinfo->flinfo->fn_mcxt;
    stamping *run = MemoryContextAllocZero(context, sizeof *run);
    MemoryContext before = MemoryContextSwitchTo(context);
    run->scheme = firn_text_keep(scheme);
    run->name = firn_text_keep(name);
    run->options = firn_text_keep(options);
    MemoryContextSwitchTo(before);
    find_job(run, fcinfo);
    const firn_scheme *own =
        run->counted != NULL ? firn_counted_scheme(run->counted) : firn_job_scheme(run->job);
    run->form = own->form;
    run->is_signed = firn_is_signed(own, options != NULL && sql_unsigned(text_to_cstring(options)));
    run->callback.func = end_job;
    run->callback.arg = run;
    MemoryContextRegisterResetCallback(context, &run->callback);
    fcinfo->flinfo->fn_extra = run;
    return run;
}

/* (scheme, time), (scheme, job, time) or (scheme, job, time, options) */
static Datum stamp(FunctionCallInfo fcinfo, enum firn_type type) {
    int count = PG_NARGS();
    text *scheme = PG_GETARG_TEXT_PP(0), *name = count > 2 ? PG_GETARG_TEXT_PP(1) : NULL;
    text *options = count > 3 ? PG_GETARG_TEXT_PP(3) : NULL;
    firn_time time = firn_time_of(PG_GETARG_TIMESTAMPTZ(count > 2 ? 2 : 1));
    stamping *run = fcinfo->flinfo->fn_extra;
    firn_error error;
    firn_id id;
    int64_t shift_ns;
    if (run == NULL) {
        firn_check_zone(fcinfo, count > 2 ? 2 : 1);
        run = begin(fcinfo, scheme, name, options);
    } else if (!firn_text_same(scheme, run->scheme) || !firn_text_same(name, run->name) ||
               !firn_text_same(options, run->options)) {
        firn_refuse(FIRN_EUSAGE, "scheme, job and options change from row to row: a job has one "
                                 "of each, so run a statement for each");
    }
    if (run->job != NULL) {
        FIRN_CHECK(firn_job_next(run->job, &time, &id, &shift_ns, &error));
        firn_check_sign(&id, type == FIRN_AS_INT && run->is_signed);
        return firn_datum(&id, type, run->form);
    }
    if (run->era != firn_counted_era) { /* a transaction or a savepoint has ended */
        find_job(run, fcinfo);
    }
    firn_counted_next(run->counted, &time, &id);
    firn_check_sign(&id, type == FIRN_AS_INT && run->is_signed);
    return firn_datum(&id, type, run->form);
}

FIRN_ENTRY(stamp_int, stamp(fcinfo, FIRN_AS_INT))
FIRN_ENTRY(stamp_uuid, stamp(fcinfo, FIRN_AS_UUID))
FIRN_ENTRY(stamp_text, stamp(fcinfo, FIRN_AS_TEXT))

/* Returns void. */
static Datum ask(enum firn_ask what, const char *nodes) {
    firn_shared_ask(what, nodes);
    return (Datum)0;
}

/* firn_confirm_history([NODES]) */
FIRN_ENTRY(confirm_history,
           ask(FIRN_ASK_CONFIRM,
               PG_NARGS() > 0 ? text_to_cstring(PG_GETARG_TEXT_PP(0)) : firn_setting_history))
FIRN_ENTRY(hand_over, ask(FIRN_ASK_HAND_OVER, NULL))
FIRN_ENTRY(take_back,
           ask(PG_NARGS() > 0 && PG_GETARG_BOOL(0) ? FIRN_ASK_TAKE_BACK_NOW : FIRN_ASK_TAKE_BACK,
               NULL))
FIRN_ENTRY(take_over, ask(FIRN_ASK_TAKE_OVER, NULL))
