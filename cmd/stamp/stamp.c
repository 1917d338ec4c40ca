/* SPDX-License-Identifier: MIT */
/* `firn stamp`: IDs for records that have a time but none. Carries records from a source to an
 * output and counts what happens to them; what a record is, is in records.h, how its time is read
 * in moments.h, which ID it gets is the library's affair. */
#include "atomic_output.h"
#include "describe.h"
#include "ids/ids.h"
#include "jobs.h"
#include "records.h"
#include "shared/amounts.h"
#include "shared/interrupt.h"
#include "shared/operands.h"
#include "shared/progress.h"
#include "source.h"
#include "tally.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KEYS_SIZE = 1024, DAY_MS = 86400000, LOOK_EVERY = 4096 };
#define DISORDER_MOST (3650 * INT64_C(86400000)) /* ms */

enum on_error { ON_ERROR_STOP, ON_ERROR_SKIP, ON_ERROR_NULL };

typedef struct stamp_run {
    session *session;
    record_source input;
    atomic_output output;
    record_times moments;
    records_plan plan;
    firn_scheme scheme;
    id_writer writer;
    enum on_error on_error;
    int64_t shift_ms, disorder_ms;
    firn_job *job; /* NULL with --field: */
    stamp_jobs jobs;
    struct timespec begun;
    uint64_t line; /* of the next record, from 1 */
    stamp_tally tally;
    progress shown;
    char keys[KEYS_SIZE];
    uint8_t content[SHA256_DIGEST_LENGTH]; /* of a file */
} stamp_run;

/* ---- options -------------------------------------------------------------------------------- */

static int read_scheme(session *s, stamp_run *run) {
    const char *name = s->option[OPTION_SCHEME];
    firn_error error;
    if (name == NULL) {
        return fail_usage(s, "stamp needs --scheme NAME: firn schemes lists them");
    }
    int code = firn_scheme_make(&run->scheme, name, operand_value(s, "epoch"),
                                operand_value(s, "bits"), operand_value(s, "digits"), &error);
    return argument_code(code, &error) == FIRN_OK ? writer_open(s, &run->scheme, &run->writer)
                                                  : fail(s, &error);
}

static int read_on_error(session *s, stamp_run *run) {
    static const char *const names[] = {"stop", "skip", "null", NULL};
    const char *given = s->option[OPTION_ON_ERROR];
    for (int i = 0; given != NULL && names[i] != NULL; i++) {
        if (strcmp(names[i], given) == 0) {
            run->on_error = (enum on_error)i;
            return STATUS_DONE;
        }
    }
    return given == NULL
               ? STATUS_DONE
               : fail_usage(s, "--on-error %.40s is not valid: use stop, skip or null", given);
}

static int read_format(session *s, stamp_run *run) {
    const char *given = s->option[OPTION_FORMAT];
    run->plan.format = given != NULL ? records_find(given) : records_by_ending(s->operands[0]);
    return given == NULL || run->plan.format != NULL
               ? STATUS_DONE
               : fail_usage(s, "--format %.40s is not valid: use csv, tsv, jsonl or log", given);
}

static int read_fields(session *s, stamp_run *run) {
    firn_error error;
    for (size_t i = 0; i < s->field_count; i++) {
        const char *column;
        if (jobs_add_field(&run->jobs, &run->scheme, s->fields[i], &column, &error) != FIRN_OK) {
            return fail(s, &error);
        }
        run->plan.field[run->plan.field_count++] = column;
    }
    return STATUS_DONE;
}

/* A delimiter is one character, or `tab`. Letters and digits would part times and numbers. */
static int read_delimiter(session *s, stamp_run *run) {
    const char *given = s->option[OPTION_DELIMITER];
    if (given == NULL) {
        return STATUS_DONE;
    }
    char c = strcmp(given, "tab") == 0 || strcmp(given, "\\t") == 0 ? '\t' : given[0];
    bool single = given[0] != '\0' && (given[1] == '\0' || c == '\t');
    if (!single || (c != '\t' && strchr("!#$%&'*+,/;<=>?@[\\]^`{|}~ ", c) == NULL)) {
        return fail_usage(
            s, "--delimiter %.20s is not valid: use one sign such as , ; or |, or tab", given);
    }
    run->plan.wanted_delimiter = c;
    if (run->plan.format == NULL) {
        run->plan.format = c == '\t' ? &records_tsv : &records_csv;
    }
    return STATUS_DONE;
}

static int read_options(session *s, stamp_run *run) {
    bool job = s->option[OPTION_JOB] != NULL;
    run->plan.time = s->option[OPTION_TIME];
    run->plan.id = s->option[OPTION_ID] != NULL ? s->option[OPTION_ID] : "id";
    run->plan.header = s->option[OPTION_NO_HEADER] == NULL;
    run->plan.replace = s->option[OPTION_REPLACE] != NULL;
    run->plan.moments = &run->moments;
    if (!job && (s->option[OPTION_STORE] != NULL || s->option[OPTION_AGAIN] != NULL)) {
        return fail_usage(s, "--%s needs a job: add --job NAME",
                          s->option[OPTION_STORE] != NULL ? "store" : "again");
    }
    int status = read_scheme(s, run);
    status = status == STATUS_DONE ? read_on_error(s, run) : status;
    status = status == STATUS_DONE ? read_format(s, run) : status;
    status = status == STATUS_DONE ? read_delimiter(s, run) : status;
    status = status == STATUS_DONE ? read_fields(s, run) : status;
    if (status == STATUS_DONE) {
        status = amount_ms(s, OPTION_MAX_SHIFT, 1000, 0, DAY_MS, &run->shift_ms);
    }
    if (status == STATUS_DONE) {
        status = amount_ms(s, OPTION_DISORDER, 0, 1, DISORDER_MOST, &run->disorder_ms);
    }
    bool field = firn_scheme_field(&run->scheme, "prefix") >= 0;
    const char *const ours[] = {field ? NULL : "prefix", NULL};
    status = status == STATUS_DONE ? operands_join(s, ours, 1, run->keys, KEYS_SIZE) : status;
    if (status == STATUS_DONE && describe_is_signed(&run->scheme, run->writer.form)) {
        operands_assume(s, "unsigned", "0", run->keys, KEYS_SIZE);
    }
    return status;
}

/* Options that the format has no use for are refused, not passed over. */
static int check_format(const stamp_run *run, firn_error *error) {
    const session *s = run->session;
    const records_format *format = run->plan.format;
    static const struct {
        int option;
        bool table_only;
    } bound[] = {{OPTION_NO_HEADER, true},
                 {OPTION_DELIMITER, true},
                 {OPTION_FIELD, false},
                 {OPTION_ID, false},
                 {OPTION_REPLACE, false}};
    for (size_t i = 0; i < sizeof bound / sizeof bound[0]; i++) {
        bool given = s->option[bound[i].option] != NULL;
        if (given && (format == &records_log || (bound[i].table_only && format->delimiter == 0))) {
            return set_error(error, FIRN_EUSAGE, "--%s does not apply to %s: remove it",
                             option_names[bound[i].option].name, format->name);
        }
        if (given && !bound[i].table_only && bound[i].option != OPTION_FIELD &&
            format->delimiter != 0 && !run->plan.header) {
            return set_error(error, FIRN_EUSAGE,
                             "--%s needs a header, and --no-header is given: remove one of them",
                             option_names[bound[i].option].name);
        }
    }
    return FIRN_OK;
}

/* ---- the beginning of the input ------------------------------------------------------------- */

/* Reads on; what is finished is written before, since the reader of a pipe may wait for it. */
static int read_on(stamp_run *run, firn_error *error) {
    if (!run->input.regular && run->output.out != NULL) {
        output_flush(run->output.out);
    }
    return source_more(&run->input, error);
}

/* A first line, or enough of it to see the format. */
static int fill_first(stamp_run *run, firn_error *error) {
    record_source *in = &run->input;
    int code = FIRN_OK;
    while (code == FIRN_OK && !in->ended &&
           memchr(source_text(in), '\n', source_length(in)) == NULL) {
        code = read_on(run, error);
    }
    return code;
}

static size_t mark_size(const record_source *in) {
    return source_length(in) >= 3 && memcmp(source_text(in), "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Chooses the format, reads the header and skips byte order mark and header, which are
 * `head` bytes of the window then; *title is where the new column's name goes. */
static int begin(stamp_run *run, size_t *title, size_t *head, firn_error *error) {
    record_source *in = &run->input;
    records_plan *plan = &run->plan;
    int code = fill_first(run, error);
    if (code != FIRN_OK) {
        return code;
    }
    *title = mark_size(in);
    if (plan->format == NULL) {
        const char *text = source_text(in) + *title;
        size_t size = records_line(text, source_length(in) - *title, true);
        bool table = !plan->header || (plan->time != NULL && records_number(plan->time) == 0);
        plan->format =
            records_by_line(&run->moments, text, size - records_line_end(text, size), table);
        run->moments.bare = run->moments.twice = 0; /* that was no record yet */
    }
    if (plan->format == NULL) {
        return set_error(error, FIRN_EUSAGE,
                         "the format of %.80s is unclear from its first line: add --format csv, "
                         "tsv, jsonl or log",
                         in->name);
    }
    code = check_format(run, error);
    record r = {0};
    while (code == FIRN_OK) {
        r = (record){0};
        code = plan->format->begin(plan, source_text(in) + *title, source_length(in) - *title,
                                   in->ended, &r, error);
        if (code != FIRN_OK || r.size > 0 || plan->format->delimiter == 0 || !plan->header) {
            break;
        }
        code = read_on(run, error);
    }
    *head = *title + r.size;
    return code;
}

/* ---- the job -------------------------------------------------------------------------------- */

enum { SEED_LEAST = 16 }; /* characters: fewer are worth a note */

static void add_content(void *context, const void *bytes, size_t size) {
    SHA256Update(context, bytes, size);
}

/* Of a file that can be read twice: before the first record. */
static int digest_content(stamp_run *run, firn_error *error) {
    SHA2_CTX context;
    SHA256Init(&context);
    int code = source_scan(&run->input, add_content, &context, error);
    SHA256Final(run->content, &context);
    return code;
}

/* A digest of the input and of all that says which record is which, and when. */
static uint64_t digest_all(const stamp_run *run) {
    static const int counted[] = {OPTION_NO_HEADER, OPTION_TIME,      OPTION_ZONE,
                                  OPTION_ON_ERROR,  OPTION_MAX_SHIFT, OPTION_DISORDER,
                                  OPTION_ID,        OPTION_REPLACE,   OPTION_AS};
    SHA2_CTX context;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    uint64_t out = 0;
    const char *prefix = run->writer.prefix;
    SHA256Init(&context);
    SHA256Update(&context, run->content, sizeof run->content);
    SHA256Update(&context, (const uint8_t *)run->plan.format->name, 4);
    SHA256Update(&context, (const uint8_t *)prefix, strlen(prefix) + 1);
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        const char *value = run->session->option[counted[i]];
        SHA256Update(&context, (const uint8_t *)(value != NULL ? "+" : "-"), 1);
        SHA256Update(&context, (const uint8_t *)(value != NULL ? value : ""),
                     value != NULL ? strlen(value) + 1 : 1);
    }
    if (run->plan.wanted_delimiter != 0) {
        SHA256Update(&context, (const uint8_t *)&run->plan.wanted_delimiter, 1);
    }
    for (size_t i = 0; i < run->session->field_count; i++) {
        SHA256Update(&context, (const uint8_t *)run->session->fields[i],
                     strlen(run->session->fields[i]) + 1);
    }
    SHA256Final(digest, &context);
    for (int i = 0; i < 8; i++) {
        out = out << 8 | digest[i];
    }
    return out;
}

/* On the store of that URL, if the job has a name. */
static int open_job_on(stamp_run *run, const char *url,
                       void (*notice)(void *self, const char *text), firn_error *error) {
    session *s = run->session;
    firn_store *store = NULL;
    firn_store_options options = operand_store_options(s);
    firn_job_config config = {.size = sizeof config,
                              .scheme = s->option[OPTION_SCHEME],
                              .keys = run->keys,
                              .name = s->option[OPTION_JOB],
                              .digest = digest_all(run),
                              .seed = s->option[OPTION_SEED],
                              .shift_ms = run->shift_ms,
                              .disorder_ms = run->disorder_ms,
                              .notice = notice,
                              .notice_self = s};
    int code = FIRN_OK;
    if (config.name != NULL) {
        code = firn_store_open(&store, url, &options, error);
        config.store = store;
    }
    if (code == FIRN_OK && run->plan.field_count > 0) {
        code = jobs_open(&run->jobs, &config, error); /* which takes over the store */
        return argument_code(code, error);
    }
    if (code == FIRN_OK) {
        code = firn_job_open(&run->job, &config, error);
    }
    if (store != NULL) {
        firn_store_close(store);
    }
    return argument_code(code, error);
}

static int open_job(stamp_run *run, firn_error *error) {
    session *s = run->session;
    const char *name = s->option[OPTION_JOB];
    run->jobs.refuses_again = !run->input.regular && s->option[OPTION_AGAIN] == NULL;
    int code = open_job_on(run, name != NULL ? operand_store_url(s) : NULL, tell_note, error);
    if (code == FIRN_OK && run->job != NULL) {
        code = jobs_check_again(&run->jobs, run->job, name, error);
    }
    const char *seed = s->option[OPTION_SEED];
    if (code == FIRN_OK && seed != NULL && strlen(seed) < SEED_LEAST) {
        char text[160];
        snprintf(text, sizeof text,
                 "--seed has only %zu character%s, so the random bits of these IDs can be guessed: "
                 "use 16 or more random characters",
                 strlen(seed), plural(strlen(seed)));
        tell_note(s, text);
    }
    return code;
}

/* ---- records --------------------------------------------------------------------------------- */

static uint64_t lines_in(const char *text, size_t size) {
    uint64_t lines = 0;
    const char *end = text + size;
    while (text < end && (text = memchr(text, '\n', (size_t)(end - text))) != NULL) {
        lines++;
        text++;
    }
    return lines;
}

/* The next record; its size is 0 after the last one. Its own failure is *code; returns a failure of
 * the input. */
static int next_record(stamp_run *run, record *r, int *code, firn_error *error) {
    record_source *in = &run->input;
    for (;;) {
        memset(r, 0, offsetof(record, field)); /* of a fixed size, so a few stores */
        if (run->plan.field_count > 0) {
            memset(r->field, 0, sizeof r->field);
        }
        *code = FIRN_OK;
        if (source_length(in) > 0) {
            *code = run->plan.format->read(&run->plan, source_text(in), source_length(in),
                                           in->ended, r, error);
        }
        if (r->size > 0 || r->fatal || in->ended) {
            return FIRN_OK;
        }
        int failed = read_on(run, error);
        if (failed == FIRN_ETEXT) {
            *code = failed; /* the record is too long */
            r->fatal = true;
            return FIRN_OK;
        }
        if (failed != FIRN_OK) {
            return failed;
        }
    }
}

/* A last line without its end may have lost more than that. What ends in a letter, as Z, is
 * whole. */
static int check_cut(const record *r, firn_error *error) {
    char last = r->time_length > 0 ? r->time[r->time_length - 1] : '\0';
    if (r->cut && last >= '0' && last <= '9') {
        return set_error(
            error, FIRN_ETEXT,
            "the last line has no newline, so its time may be incomplete: end it with a newline");
    }
    return FIRN_OK;
}

static int find_id(stamp_run *run, record *r, firn_id *id, firn_error *error) {
    int64_t shift_ns = 0;
    int code = check_cut(r, error);
    if (code == FIRN_OK && !r->timed) {
        code = moments_read(&run->moments, r->time, r->time_length, NULL, &r->instant, error);
    }
    if (code == FIRN_OK) {
        code = run->plan.field_count > 0
                   ? jobs_next(&run->jobs, r, &r->instant, id, &shift_ns, error)
                   : firn_job_next(run->job, &r->instant, id, &shift_ns, error);
    }
    if (code == FIRN_OK && shift_ns > 0) {
        stamp_tally *t = &run->tally;
        t->shifted++;
        t->shift_line = shift_ns > t->shift_ns ? run->line : t->shift_line;
        t->shift_ns = shift_ns > t->shift_ns ? shift_ns : t->shift_ns;
    }
    return code;
}

/* Appends a piece of a record that is known to fit. */
static void put(output *out, const char *text, size_t size) {
    memcpy(out->buffer + out->length, text, size);
    out->length += size;
}

/* A delimiter or a few letters. */
static void put_text(output *out, const char *text) {
    while (*text != '\0') {
        out->buffer[out->length++] = *text++;
    }
}

/* `id` NULL: the record gets none. */
static void write_record(stamp_run *run, const record *r, const firn_id *id) {
    const char *text = source_text(&run->input), *rest = text + r->offset + r->skip;
    size_t left = r->size - r->offset - r->skip;
    output *out = run->output.out;
    output_bytes(out, text, r->offset);
    output_room(out);
    if (id == NULL) {
        put_text(out, r->nothing);
    } else {
        put_text(out, r->before);
        out->length += writer_format(&run->writer, out->buffer + out->length, id);
        put_text(out, r->after);
    }
    if (left <= OUTPUT_ROOM / 2) { /* what precedes it takes less than the other half */
        put(out, rest, left);
    } else {
        output_bytes(out, rest, left);
    }
}

static bool is_bad_record(int code) {
    return code == FIRN_ETEXT || code == FIRN_ELAYOUT || code == FIRN_EFULL;
}

/* Continues after a bad record, if --on-error allows it. */
static int pass_over(stamp_run *run, const record *r, int code, firn_error *error) {
    stamp_tally *t = &run->tally;
    if (r->fatal || !is_bad_record(code) || run->on_error == ON_ERROR_STOP) {
        return prefix_error(error, code, error, "line %" PRIu64 ": ", run->line);
    }
    if (t->bad++ == 0) {
        t->bad_line = run->line;
        t->bad_one = *error;
        translate_error(&t->bad_one, SURFACE_COMMAND);
    }
    if (run->on_error == ON_ERROR_NULL && r->placed) {
        write_record(run, r, NULL);
    } else if (run->on_error == ON_ERROR_NULL) {
        output_bytes(run->output.out, source_text(&run->input), r->size);
    }
    return FIRN_OK;
}

static int do_record(stamp_run *run, record *r, int code, firn_error *error) {
    firn_id id;
    if (r->passes) {
        output_bytes(run->output.out, source_text(&run->input), r->size);
        return code;
    }
    run->tally.records++;
    if (code == FIRN_OK) {
        code = find_id(run, r, &id, error);
    }
    if (code == FIRN_OK) {
        write_record(run, r, &id);
        run->tally.ids++;
    } else {
        code = pass_over(run, r, code, error);
    }
    return code;
}

/* If all records are bad, --time probably names the wrong column, and leaving them out would leave
 * nothing. */
static int check_any(stamp_run *run, firn_error *error) {
    const stamp_tally *t = &run->tally;
    const char *time = run->plan.time;
    char column[64] = "";
    if (t->bad == 0 || t->ids > 0) {
        return FIRN_OK;
    }
    if (time != NULL) {
        snprintf(column, sizeof column, " in '%.40s'", time);
    }
    run->output.out->length = 0; /* of standard output too, as far as nobody has it yet */
    return set_error(error, FIRN_ETEXT, "no record has a valid time%s: line %" PRIu64 ": %s",
                     column, t->bad_line, t->bad_one.text);
}

static void show_progress(stamp_run *run) {
    int64_t total = run->input.regular ? (int64_t)run->input.before.st_size - run->input.began : 0;
    progress_show(&run->shown, (int64_t)(run->input.read - source_length(&run->input)), total);
}

static int do_records(stamp_run *run, firn_error *error) {
    record r;
    int code;
    for (;;) {
        int failed = next_record(run, &r, &code, error);
        if (failed != FIRN_OK || (r.size == 0 && !r.fatal)) {
            return failed != FIRN_OK ? failed : check_any(run, error);
        }
        code = do_record(run, &r, code, error);
        if (code != FIRN_OK) {
            return code;
        }
        run->line += r.lines > 0 ? r.lines : lines_in(source_text(&run->input), r.size);
        run->input.start += r.size;
        if (run->tally.records % LOOK_EVERY == 0) {
            show_progress(run);
        }
        if (output_dead(run->output.out) || interrupt_signal() != 0) {
            return FIRN_OK;
        }
    }
}

/* Byte order mark and header, the new column's name between them. */
static void write_head(stamp_run *run, size_t title, size_t head) {
    output *out = run->output.out;
    record_source *in = &run->input;
    output_bytes(out, source_text(in), title);
    output_bytes(out, run->plan.title, run->plan.title_length);
    output_bytes(out, source_text(in) + title, head - title);
    run->line += lines_in(source_text(in), head);
    in->start += head;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* From the first record on: every failure here removes the output, and if the reader is gone, the
 * run ends without a message. */
static int run_records(stamp_run *run, size_t title, size_t head, firn_error *error) {
    write_head(run, title, head);
    int code = do_records(run, error);
    progress_end(&run->shown);
    if (code == FIRN_OK && interrupt_signal() == 0 && !output_dead(run->output.out)) {
        code = source_unchanged(&run->input, error);
    }
    if (code == FIRN_OK && run->output.standard) {
        output_flush(run->output.out);
    }
    bool done = code == FIRN_OK && interrupt_signal() == 0 &&
                (run->output.out->error == 0 || !run->output.standard) && !run->output.out->gone;
    if (!done) {
        atomic_output_discard(&run->output);
        return code;
    }
    code = atomic_output_commit(&run->output, error);
    if (code == FIRN_OK) {
        tally_tell(&run->tally, run->session, &run->moments, &run->begun,
                   run->on_error == ON_ERROR_SKIP);
    }
    return code;
}

/* ---- the rehearsal -------------------------------------------------------------------------- */

static void tell_nothing(void *self, const char *text) {
    (void)self, (void)text;
}

/* Back to the first record. */
static int go_back(stamp_run *run, size_t *title, size_t *head, firn_error *error) {
    firn_job_close(run->job);
    run->job = NULL;
    run->line = 1;
    run->tally = (stamp_tally){0};
    run->moments.bare = run->moments.twice = 0;
    int code = source_again(&run->input, error);
    return code == FIRN_OK ? begin(run, title, head, error) : code;
}

/* A job's name and node are gone for good once they are taken, so a bad record must be known
 * before: goes through all of a file with the same job on a store in memory, and throws the IDs
 * away. */
static int rehearse(stamp_run *run, size_t *title, size_t *head, firn_error *error) {
    static output nowhere; /* static for its size */
    output *out = run->output.out;
    nowhere.file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere.file < 0) {
        return set_error(error, FIRN_EIO, "cannot write /dev/null: %s", strerror(errno));
    }
    int code = open_job_on(run, "memory:", tell_nothing, error);
    run->shown.label = "1 of 2, checking";
    if (code == FIRN_OK) {
        run->output.out = &nowhere;
        write_head(run, *title, *head);
        code = do_records(run, error);
        run->output.out = out;
    }
    close(nowhere.file);
    progress_end(&run->shown);
    run->shown.label = "2 of 2, writing";
    run->shown.next_ms = 0;
    if (code == FIRN_OK && interrupt_signal() != 0) {
        return set_error(error, FIRN_EUNKNOWN, "interrupted by a signal");
    }
    if (code == FIRN_OK) {
        code = source_unchanged(&run->input, error);
    }
    return code == FIRN_OK ? go_back(run, title, head, error) : code;
}

static int stamp(stamp_run *run, firn_error *error) {
    session *s = run->session;
    size_t title = 0, head = 0;
    interrupt_catch(NULL);
    int code = source_open(&run->input, s->operands[0], error);
    bool twice = s->option[OPTION_JOB] != NULL && run->input.regular;
    if (code == FIRN_OK && twice) {
        code = digest_content(run, error);
    }
    if (code == FIRN_OK) {
        code = begin(run, &title, &head, error);
        if (code == FIRN_ETEXT) {
            prefix_error(error, code, error, "line 1: ");
        }
    }
    if (code == FIRN_OK) {
        code = atomic_output_open(&run->output, s, s->option[OPTION_OUTPUT], error);
    }
    if (code == FIRN_OK && run->input.regular &&
        atomic_output_is(&run->output, run->input.before.st_dev, run->input.before.st_ino)) {
        code =
            set_error(error, FIRN_EUSAGE,
                      "%.80s is both input and output: use -o, or another output", run->input.name);
    }
    if (code == FIRN_OK && twice) {
        code = rehearse(run, &title, &head, error);
    }
    if (code == FIRN_OK) {
        code = open_job(run, error); /* last, since a job's node is gone for good */
    }
    if (code == FIRN_OK) {
        return run_records(run, title, head, error);
    }
    if (run->output.out != NULL) {
        atomic_output_discard(&run->output);
    }
    return code;
}

int run_stamp(session *s) {
    static stamp_run run; /* static for its size */
    firn_error error;
    run.session = s;
    clock_gettime(CLOCK_MONOTONIC, &run.begun);
    run.line = 1;
    run.input.file = -1;
    if (s->option[OPTION_OUTPUT] != NULL) {
        run.shown = (progress){.known = true, .wanted = isatty(STDERR_FILENO) == 1};
    }
    int status = operands_split(s, 1, 1, 1, "a FILE, or -");
    status = status == STATUS_DONE ? read_options(s, &run) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    int code = moments_open(&run.moments, s->option[OPTION_ZONE], &error);
    if (code == FIRN_OK) {
        code = stamp(&run, &error);
    }
    if (interrupt_signal() != 0) {
        status = STATUS_SIGNAL + interrupt_signal();
    } else if (code != FIRN_OK) {
        status = fail(s, &error);
    }
    firn_job_close(run.job);
    jobs_close(&run.jobs);
    source_close(&run.input);
    moments_close(&run.moments);
    free(run.plan.decoded);
    return status;
}
