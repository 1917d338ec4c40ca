/* SPDX-License-Identifier: MIT */
/* `firn check`: how many IDs of a stream are duplicates and how many are less than the one before.
 * While IDs ascend equal IDs are adjacent and nothing must be kept; else duplicates.c finds
 * them. Gaps and charts are the laboratory's. */
#include "duplicates.h"
#include "shared/amounts.h"
#include "shared/json.h"
#include "stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_run {
    id_stream stream;
    duplicate_finder found;
    bool keeping, opened; /* keeping: all IDs so far are in `found` */
    uint32_t words;
    uint32_t ordered; /* 0: `top` is the index of a prefix, which has no order; else all bits */
    uint64_t memory;

    uint64_t ids, out_of_order, lines;
    bool ascending; /* over all files: no ID is less than the one before */
    bool any;       /* `last` is one */
    size_t file;    /* of `last` */
    firn_id last;
    uint64_t last_line;  /* where the present value of `last` came first */
    uint64_t *file_line; /* how many lines precede each file */
} check_run;

/* ---- the stream ---------------------------------------------------------------------------- */

/* Counts the IDs that are less than the one before, without a branch that nothing predicts. */
static void follow_any(check_run *run, const id_batch *batch) {
    uint64_t counted = run->file == batch->file, ids = 0, out_of_order = 0;
    firn_id last = run->last;
    for (size_t i = 0; i < batch->count; i++) {
        const firn_id *id = &batch->ids[i];
        if (id->bits == 0) {
            continue;
        }
        uint64_t less = id->low < last.low;
        less = id->high == last.high ? less : id->high < last.high;
        less = ((id->top ^ last.top) & run->ordered) == 0 ? less : id->top < last.top;
        out_of_order += less & counted;
        counted = 1;
        ids++;
        last = *id;
    }
    run->last = last;
    run->file = ids > 0 ? batch->file : run->file;
    run->ids += ids;
    run->out_of_order += out_of_order;
}

/* Less than, equal to or greater than 0; *less: also without the prefixes. */
static int compare(const check_run *run, const firn_id *a, const firn_id *b, bool *less) {
    firn_id x = *a, y = *b;
    x.top &= run->ordered;
    y.top &= run->ordered;
    int order = firn_id_cmp(&x, &y);
    *less = order < 0;
    return order == 0 ? firn_id_cmp(a, b) : order;
}

/* Compares each ID with the one before. While all ascend, equal ones are adjacent. */
static void follow(check_run *run, const id_batch *batch) {
    if (!run->ascending) {
        follow_any(run, batch);
        return;
    }
    uint64_t line = run->file_line[batch->file] + batch->line - 1;
    for (size_t i = 0; i < batch->count; i++, line++) {
        const firn_id *id = &batch->ids[i];
        if (id->bits == 0) {
            continue;
        }
        run->ids++;
        bool less;
        int order = run->any ? compare(run, id, &run->last, &less) : 1;
        if (order < 0) {
            run->ascending = false;
            run->out_of_order += less && run->file == batch->file;
        } else if (order == 0 && run->ascending) {
            run->found.count++;
            if (run->found.shown_count < DUPLICATES_SHOWN) {
                repeated_id *repeat = &run->found.shown[run->found.shown_count++];
                duplicates_key(&repeat->key, id, run->words);
                repeat->first = run->last_line;
                repeat->again = line;
            }
        }
        if (order != 0) {
            run->last_line = line;
        }
        run->last = *id;
        run->file = batch->file;
        run->any = true;
    }
}

static void begin(check_run *run, bool keeping) {
    run->keeping = keeping;
    run->ids = run->out_of_order = run->lines = 0;
    run->found.count = 0;
    run->ascending = true;
    run->any = false;
    run->found.shown_count = 0;
}

/* Room for the IDs, once their width is known. */
static int make_room(check_run *run, firn_error *error) {
    const bool prefixes = run->stream.form == FIRN_FORM_TYPEID;
    run->words = run->stream.bits > 128 || prefixes ? 3 : run->stream.bits > 64 ? 2 : 1;
    run->ordered = prefixes ? 0 : UINT32_MAX;
    if (!run->keeping || run->opened) {
        return FIRN_OK;
    }
    run->opened = true;
    return duplicates_open(&run->found, run->words, run->memory, error);
}

/* Stops at the first batch that does not ascend, if nothing was kept before it. */
static int take(void *context, const id_batch *batch, bool *stop, firn_error *error) {
    check_run *run = context;
    int code = make_room(run, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (batch->line == 1) {
        run->file_line[batch->file] = run->lines;
    }
    run->lines += batch->count;
    follow(run, batch);
    *stop = !run->keeping && !run->ascending;
    return run->keeping ? duplicates_keep(&run->found, batch, error) : FIRN_OK;
}

/* Standard input other than a file is read once, so all of it is kept. */
static int check_all(check_run *run, firn_error *error) {
    begin(run, !stream_again_possible(&run->stream));
    int code = stream_each(&run->stream, "reading", take, run, error);
    if (code == FIRN_OK && !run->ascending && !run->keeping) {
        begin(run, true);
        code = stream_again(&run->stream, error);
        code =
            code == FIRN_OK ? stream_each(&run->stream, "reading again", take, run, error) : code;
    }
    if (code != FIRN_OK || run->ascending) {
        return code;
    }
    return duplicates_find(&run->found, error);
}

/* ---- the report ---------------------------------------------------------------------------- */

/* The file and the number of a line that was counted over all files. */
static uint64_t place_of(const check_run *run, uint64_t line, size_t *file) {
    *file = 0;
    for (size_t i = 1; i < run->stream.count; i++) {
        *file = run->file_line[i] <= line && run->file_line[i] != UINT64_MAX ? i : *file;
    }
    return line - run->file_line[*file] + 1;
}

static char *repeat_text(char text[FIRN_TEXT_SIZE + 2], const check_run *run,
                         const repeated_id *repeat) {
    const uint64_t *word = repeat->key.word + run->words;
    firn_id id = {word[-1], 0, 0, run->stream.bits};
    if (run->words >= 2) {
        id.high = word[-2];
    }
    if (run->words == 3) {
        id.top = (uint32_t)word[-3];
    }
    return stream_text(text, &run->stream, &id);
}

static void put_repeat(output *out, const check_run *run, const repeated_id *repeat) {
    char text[FIRN_TEXT_SIZE + 2], first[128], again[128];
    size_t file, other;
    uint64_t line = place_of(run, repeat->first, &file),
             later = place_of(run, repeat->again, &other);
    stream_place(first, &run->stream, file, line);
    stream_place(again, &run->stream, other, later);
    output_print(out, "%s  %s, again %s\n", repeat_text(text, run, repeat), first, again);
}

static json_t *repeat_object(const check_run *run, const repeated_id *repeat) {
    char text[FIRN_TEXT_SIZE + 2];
    size_t file, other;
    json_int_t line = (json_int_t)place_of(run, repeat->first, &file);
    json_int_t later = (json_int_t)place_of(run, repeat->again, &other);
    repeat_text(text, run, repeat);
    if (run->stream.count == 1) {
        return json_pack("{s:s, s:I, s:I}", "id", text, "line", line, "again", later);
    }
    return json_pack("{s:s, s:o, s:I, s:o, s:I}", "id", text, "file",
                     json_foreign(run->stream.names[file]), "line", line, "again_file",
                     json_foreign(run->stream.names[other]), "again", later);
}

static void put_json(output *out, const check_run *run) {
    json_t *list = json_array();
    bool known = run->stream.known;
    for (size_t i = 0; i < run->found.shown_count && list != NULL; i++) {
        list = json_with(list, repeat_object(run, &run->found.shown[i]));
    }
    json_line(out,
              json_pack("{s:I, s:I, s:I, s:I, s:o, s:s?, s:i, s:o}", "ids", (json_int_t)run->ids,
                        "duplicates", (json_int_t)run->found.count, "out_of_order",
                        (json_int_t)run->out_of_order, "bad", (json_int_t)run->stream.bad,
                        "bad_first",
                        run->stream.bad > 0 ? json_foreign(run->stream.bad_one.text) : json_null(),
                        "form", known ? firn_form_name(run->stream.form) : NULL, "bits",
                        known ? (int)run->stream.bits : 0, "first", list));
}

static void put_human(output *out, const check_run *run) {
    output_print(out, "%" PRIu64 " ID%s, %" PRIu64 " duplicate%s, %" PRIu64 " out of order\n",
                 run->ids, plural(run->ids), run->found.count, plural(run->found.count),
                 run->out_of_order);
    stream_put_bad(out, &run->stream);
    for (size_t i = 0; i < run->found.shown_count; i++) {
        put_repeat(out, run, &run->found.shown[i]);
    }
    if (run->found.count > run->found.shown_count) {
        output_print(out, "and %" PRIu64 " more\n", run->found.count - run->found.shown_count);
    }
}

static int report(session *s, const check_run *run) {
    if (s->option[OPTION_JSON] != NULL) {
        put_json(&s->out, run);
    } else {
        put_human(&s->out, run);
    }
    bool no = run->found.count > 0 || run->stream.bad > 0 ||
              (run->out_of_order > 0 && s->option[OPTION_SORTED] != NULL);
    return no ? STATUS_NO : STATUS_DONE;
}

/* ---- the subcommand ------------------------------------------------------------------------ */

/* Of IDs that do not sort, an order by value says nothing. */
static int refuse_order(session *s, const check_run *run) {
    if (s->option[OPTION_SORTED] != NULL && run->stream.reader.named &&
        run->stream.reader.scheme.sorts == FIRN_SORTS_NO) {
        return fail_usage(s, "IDs of %s do not sort by time: leave --sorted out",
                          run->stream.reader.scheme.name);
    }
    return STATUS_DONE;
}

static void clear(check_run *run) {
    stream_close(&run->stream);
    if (run->opened) {
        duplicates_close(&run->found);
    }
    free(run->file_line);
}

int run_check(session *s) {
    static check_run run; /* static for its size */
    firn_error error;
    const bool gaps = s->option[OPTION_GAPS] != NULL, chart = s->option[OPTION_CHART] != NULL;
    if (gaps + chart + (s->option[OPTION_SORTED] != NULL) > 1) {
        return fail_usage(s, "--gaps, --chart and --sorted are different checks: use one of them");
    }
    if (gaps || chart) {
        return become_lab(s);
    }
    int status = stream_open(s, &run.stream, s->operands, s->operand_count);
    run.stream.whole = true;
    if (status == STATUS_DONE) {
        status = amount_memory(s, &run.memory);
    }
    if (status == STATUS_DONE) {
        status = refuse_order(s, &run);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    run.file_line = malloc(run.stream.count * sizeof *run.file_line);
    if (run.file_line == NULL) {
        spill_no_memory(&error);
        return fail(s, &error);
    }
    memset(run.file_line, 0xff, run.stream.count * sizeof *run.file_line);
    int code = check_all(&run, &error);
    status = code == FIRN_OK ? report(s, &run) : fail(s, &error);
    clear(&run);
    return status;
}
