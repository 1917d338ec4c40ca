/* SPDX-License-Identifier: MIT */
/* `firn new`: issues IDs in batches, each written only when the library has granted all of it,
 * so every printed ID is durable. Generates nothing itself; the library interprets the
 * keys. */
#include "describe.h"
#include "ids.h"
#include "order.h"
#include "pure_verbs.h"
#include "shared/interrupt.h"
#include "shared/operands.h"
#include "shared/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A reservation costs a commit, so those are large; else a batch stays in the nearest cache. */
enum { BATCH_RESERVED = 1 << 16, BATCH_FREE = 1 << 11, KEYS_SIZE = 1024 };

/* Everything one run of `new` needs. */
typedef struct issue {
    firn_scheme scheme;
    id_writer writer;
    firn_gen *gen;
    bool dated;
    firn_time time;
    int64_t count;
} issue;

/* One-shot: reserves only the requested IDs, holds no window, and waits for a full tick. The clock
 * is read once per batch, so preparing the cycle counter would cost more than it saves (30 us in a
 * virtual machine). prefix= is the command's unless it is a field. */
static int join_keys(session *s, const issue *work, char keys[KEYS_SIZE]) {
    bool field = firn_scheme_field(&work->scheme, "prefix") >= 0;
    const char *const ours[] = {"time", "tick", field ? NULL : "prefix", NULL};
    int status = operands_join(s, ours, 48, keys, KEYS_SIZE);
    operands_assume(s, "mode", "online", keys, KEYS_SIZE);
    operands_assume(s, "full", "wait", keys, KEYS_SIZE);
    operands_assume(s, "clock", "exact", keys, KEYS_SIZE);
    if (describe_is_signed(&work->scheme, work->writer.form)) {
        operands_assume(s, "unsigned", "0", keys, KEYS_SIZE);
    }
    return status;
}

static void note_future(session *s, const issue *work) {
    char time_text[FIRN_TIME_SIZE], text[160];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (work->time.sec > now.tv_sec) {
        snprintf(text, sizeof text,
                 "%s is in the future: these IDs sort after all IDs issued until then",
                 firn_time_format(time_text, &work->time, 0));
        tell_note(s, text);
    }
}

/* time= or tick=: the time to back-date to. */
static int read_date(session *s, issue *work) {
    const char *time = operand_value(s, "time"), *tick = operand_value(s, "tick");
    firn_fields fields = {0};
    firn_error error;
    if (time == NULL && tick == NULL) {
        return STATUS_DONE;
    }
    if (time != NULL && tick != NULL) {
        return fail_usage(s, "use either time= or tick=, not both");
    }
    int index = scheme_index(&work->scheme, FIRN_ROLE_TIME);
    if (index < 0) {
        return fail_usage(s, "%s has no time: remove %s=", work->scheme.name,
                          time != NULL ? "time" : "tick");
    }
    int code = pure_field(&fields, &work->scheme, time != NULL ? "time" : "tick",
                          time != NULL ? time : tick, &error);
    if (code == FIRN_OK && time != NULL) { /* with what the tick cuts off */
        code = firn_time_parse(&work->time, time, strlen(time), &error);
    }
    if (argument_code(code, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    if (time == NULL) {
        firn_scheme_time(&work->scheme, fields.value[index].low, &work->time);
    }
    note_future(s, work);
    work->dated = true;
    return STATUS_DONE;
}

/* uuid3 and uuid5: one ID, which follows from namespace and name. */
static int write_digest(session *s, const issue *work) {
    const char *space = operand_value(s, "namespace"), *name = operand_value(s, "name");
    firn_error error;
    firn_id id;
    for (size_t i = s->plain_count; i < s->operand_count; i++) {
        const char *word = s->operands[i];
        if (!operand_is(word, "namespace") && !operand_is(word, "name")) {
            return fail_usage(s, "%s takes namespace= and name= only, not '%.60s'",
                              work->scheme.name, word);
        }
    }
    if (space == NULL || name == NULL) {
        return fail_usage(s, "%s needs %s=: add namespace=dns|url|oid|x500|UUID and name=TEXT",
                          work->scheme.name, space == NULL ? "namespace" : "name");
    }
    if (work->count > 1) {
        return fail_usage(s, "%s has exactly one ID for a name: remove -n", work->scheme.name);
    }
    int code = firn_digest(&id, &work->scheme, space, name, strlen(name), &error);
    if (argument_code(code, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    writer_put(&work->writer, s, &id, (size_t)work->count);
    return STATUS_DONE;
}

/* Exactly n, or an error and none. */
static int next_batch(const issue *work, firn_id *ids, size_t n, firn_error *error) {
    return work->dated ? firn_at(work->gen, &work->time, ids, n, error)
                       : firn_next_n(work->gen, ids, n, error);
}

static int write_all(session *s, const issue *work, firn_id *ids, size_t batch) {
    progress shown = {0};
    int64_t done = 0;
    while (done < work->count && !output_dead(&s->out)) {
        firn_error error;
        int64_t left = work->count - done;
        size_t n = left < (int64_t)batch ? (size_t)left : batch;
        int code = next_batch(work, ids, n, &error);
        bool stopped = interrupt_signal() != 0;
        bool fewer = code == FIRN_EEXHAUSTED || code == FIRN_ERANGE || code == FIRN_EFULL;
        if (fewer && n > 1 && !stopped) {
            batch = n / 2; /* more than the lead or a tick holds at once: nothing was issued */
            continue;
        }
        if (code != FIRN_OK) {
            progress_end(&shown);
            return stopped ? STATUS_SIGNAL + interrupt_signal() : fail(s, &error);
        }
        writer_put(&work->writer, s, ids, n);
        done += (int64_t)n;
        if (stopped) {
            break;
        }
        progress_show(&shown, done, work->count);
    }
    progress_end(&shown);
    return interrupt_signal() != 0 ? STATUS_SIGNAL + interrupt_signal() : STATUS_DONE;
}

/* A store that was asked for and is not used may be a misunderstanding of the scheme. */
static void note_unused_store(session *s, const issue *work) {
    char text[160];
    if (s->option[OPTION_STORE] != NULL) {
        snprintf(text, sizeof text,
                 "%s has no node to reserve, so it uses no store: remove --store",
                 work->scheme.name);
        tell_note(s, text);
    }
}

static int generate(session *s, issue *work) {
    char keys[KEYS_SIZE];
    firn_error error;
    firn_status about = {.size = sizeof about};
    firn_store_options options = operand_store_options(s);
    firn_config config = {.size = sizeof config, .scheme = s->operands[0], .keys = keys};
    int status = join_keys(s, work, keys);
    if (status != STATUS_DONE || work->count == 0) {
        return status;
    }
    config.store_url = operand_store_url(s);
    config.store_options = &options;
    config.notice = tell_note;
    config.notice_self = s;
    interrupt_catch(&s->out);
    int code = firn_open_with(&work->gen, &config, &error);
    if (argument_code(code, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    firn_gen_status(work->gen, &about);
    if (!about.reserved) {
        note_unused_store(s, work);
    }
    size_t batch = about.reserved ? BATCH_RESERVED : BATCH_FREE;
    if ((int64_t)batch > work->count) {
        batch = (size_t)work->count;
    }
    firn_id *ids = malloc(batch * sizeof *ids);
    if (ids == NULL) {
        out_of_memory(&error);
        status = fail(s, &error);
    } else {
        status = write_all(s, work, ids, batch);
    }
    free(ids);
    code = firn_close(work->gen, &error);
    return code == FIRN_OK ? status : worse(status, fail(s, &error));
}

int run_new(session *s) {
    issue work = {0};
    int status = operands_split(s, 1, 1, 1, "a SCHEME");
    if (status == STATUS_DONE) {
        status = operand_scheme(s, &work.scheme);
    }
    if (status == STATUS_DONE) {
        status = command_count(s, 1, &work.count);
    }
    if (status == STATUS_DONE && work.scheme.keyed) {
        return order_issue(s, &work.scheme, work.count);
    }
    if (status == STATUS_DONE) {
        status = writer_open(s, &work.scheme, &work.writer);
    }
    if (status == STATUS_DONE) {
        status = read_date(s, &work);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    return scheme_index(&work.scheme, FIRN_ROLE_DIGEST) >= 0 ? write_digest(s, &work)
                                                             : generate(s, &work);
}
