/* SPDX-License-Identifier: MIT */
/* `firn check`: how many IDs of a stream are duplicates and how many are less than the one before.
 * While IDs ascend equal IDs are adjacent and nothing must be kept; else duplicates.c finds them. */
#include "duplicates.h"
#include "gaps.h"
#include "shared/amounts.h"
#include "shared/json.h"
#include "stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct checking {
    id_stream stream;
    duplicates found;
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
} checking;

/* ---- the stream ---------------------------------------------------------------------------- */

/* Counts the IDs that are less than the one before, without a branch that nothing predicts. */
static void follow_any(checking *it, const id_batch *batch) {
    uint64_t counted = it->file == batch->file, ids = 0, out_of_order = 0;
    firn_id last = it->last;
    for (size_t i = 0; i < batch->count; i++) {
        const firn_id *id = &batch->ids[i];
        if (id->bits == 0) {
            continue;
        }
        uint64_t less = id->low < last.low;
        less = id->high == last.high ? less : id->high < last.high;
        less = ((id->top ^ last.top) & it->ordered) == 0 ? less : id->top < last.top;
        out_of_order += less & counted;
        counted = 1;
        ids++;
        last = *id;
    }
    it->last = last;
    it->file = ids > 0 ? batch->file : it->file;
    it->ids += ids;
    it->out_of_order += out_of_order;
}

/* Less than, equal to or greater than 0; *less: also without the prefixes. */
static int compare(const checking *it, const firn_id *a, const firn_id *b, bool *less) {
    firn_id x = *a, y = *b;
    x.top &= it->ordered;
    y.top &= it->ordered;
    int order = firn_id_cmp(&x, &y);
    *less = order < 0;
    return order == 0 ? firn_id_cmp(a, b) : order;
}

/* Compares each ID with the one before. While all ascend, equal ones are adjacent. */
static void follow(checking *it, const id_batch *batch) {
    if (!it->ascending) {
        follow_any(it, batch);
        return;
    }
    uint64_t line = it->file_line[batch->file] + batch->line - 1;
    for (size_t i = 0; i < batch->count; i++, line++) {
        const firn_id *id = &batch->ids[i];
        if (id->bits == 0) {
            continue;
        }
        it->ids++;
        bool less;
        int order = it->any ? compare(it, id, &it->last, &less) : 1;
        if (order < 0) {
            it->ascending = false;
            it->out_of_order += less && it->file == batch->file;
        } else if (order == 0 && it->ascending) {
            it->found.count++;
            if (it->found.shown_count < DUPLICATES_SHOWN) {
                repeat *one = &it->found.shown[it->found.shown_count++];
                duplicates_key(&one->key, id, it->words);
                one->first = it->last_line;
                one->again = line;
            }
        }
        if (order != 0) {
            it->last_line = line;
        }
        it->last = *id;
        it->file = batch->file;
        it->any = true;
    }
}

static void begin(checking *it, bool keeping) {
    it->keeping = keeping;
    it->ids = it->out_of_order = it->lines = 0;
    it->found.count = 0;
    it->ascending = true;
    it->any = false;
    it->found.shown_count = 0;
}

/* Room for the IDs, once their width is known. */
static int make_room(checking *it, firn_error *error) {
    const bool prefixes = it->stream.form == FIRN_FORM_TYPEID;
    it->words = it->stream.bits > 128 || prefixes ? 3 : it->stream.bits > 64 ? 2 : 1;
    it->ordered = prefixes ? 0 : UINT32_MAX;
    if (!it->keeping || it->opened) {
        return FIRN_OK;
    }
    it->opened = true;
    return duplicates_open(&it->found, it->words, it->memory, error);
}

/* Stops at the first batch that does not ascend, if nothing was kept before it. */
static int take(void *context, const id_batch *batch, bool *stop, firn_error *error) {
    checking *it = context;
    int code = make_room(it, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (batch->line == 1) {
        it->file_line[batch->file] = it->lines;
    }
    it->lines += batch->count;
    follow(it, batch);
    *stop = !it->keeping && !it->ascending;
    return it->keeping ? duplicates_keep(&it->found, batch, error) : FIRN_OK;
}

/* Standard input other than a file is read once, so all of it is kept. */
static int check_all(checking *it, firn_error *error) {
    begin(it, !stream_again_possible(&it->stream));
    int code = stream_each(&it->stream, "reading", take, it, error);
    if (code == FIRN_OK && !it->ascending && !it->keeping) {
        begin(it, true);
        code = stream_again(&it->stream, error);
        code = code == FIRN_OK ? stream_each(&it->stream, "reading again", take, it, error) : code;
    }
    if (code != FIRN_OK || it->ascending) {
        return code;
    }
    return duplicates_find(&it->found, error);
}

/* ---- the report ---------------------------------------------------------------------------- */

/* The file and the number of a line that was counted over all files. */
static uint64_t place_of(const checking *it, uint64_t line, size_t *file) {
    *file = 0;
    for (size_t i = 1; i < it->stream.count; i++) {
        *file = it->file_line[i] <= line && it->file_line[i] != UINT64_MAX ? i : *file;
    }
    return line - it->file_line[*file] + 1;
}

static char *repeat_text(char text[FIRN_TEXT_SIZE + 2], const checking *it, const repeat *one) {
    const uint64_t *word = one->key.word + it->words;
    firn_id id = {word[-1], 0, 0, it->stream.bits};
    if (it->words >= 2) {
        id.high = word[-2];
    }
    if (it->words == 3) {
        id.top = (uint32_t)word[-3];
    }
    return stream_text(text, &it->stream, &id);
}

static void put_repeat(output *out, const checking *it, const repeat *one) {
    char text[FIRN_TEXT_SIZE + 2], first[128], again[128];
    size_t file, other;
    uint64_t line = place_of(it, one->first, &file), later = place_of(it, one->again, &other);
    stream_place(first, &it->stream, file, line);
    stream_place(again, &it->stream, other, later);
    output_print(out, "%s  %s, again %s\n", repeat_text(text, it, one), first, again);
}

static json_t *repeat_object(const checking *it, const repeat *one) {
    char text[FIRN_TEXT_SIZE + 2];
    size_t file, other;
    json_int_t line = (json_int_t)place_of(it, one->first, &file);
    json_int_t later = (json_int_t)place_of(it, one->again, &other);
    repeat_text(text, it, one);
    if (it->stream.count == 1) {
        return json_pack("{s:s, s:I, s:I}", "id", text, "line", line, "again", later);
    }
    return json_pack("{s:s, s:o, s:I, s:o, s:I}", "id", text, "file",
                     json_foreign(it->stream.names[file]), "line", line, "again_file",
                     json_foreign(it->stream.names[other]), "again", later);
}

static void put_json(output *out, const checking *it) {
    json_t *list = json_array();
    bool known = it->stream.known;
    for (size_t i = 0; i < it->found.shown_count && list != NULL; i++) {
        list = json_with(list, repeat_object(it, &it->found.shown[i]));
    }
    json_line(
        out, json_pack("{s:I, s:I, s:I, s:I, s:o, s:s?, s:i, s:o}", "ids", (json_int_t)it->ids,
                       "duplicates", (json_int_t)it->found.count, "out_of_order",
                       (json_int_t)it->out_of_order, "bad", (json_int_t)it->stream.bad, "bad_first",
                       it->stream.bad > 0 ? json_foreign(it->stream.bad_one.text) : json_null(),
                       "form", known ? firn_form_name(it->stream.form) : NULL, "bits",
                       known ? (int)it->stream.bits : 0, "first", list));
}

static void put_human(output *out, const checking *it) {
    output_print(out, "%" PRIu64 " ID%s, %" PRIu64 " duplicate%s, %" PRIu64 " out of order\n",
                 it->ids, plural(it->ids), it->found.count, plural(it->found.count),
                 it->out_of_order);
    stream_put_bad(out, &it->stream);
    for (size_t i = 0; i < it->found.shown_count; i++) {
        put_repeat(out, it, &it->found.shown[i]);
    }
    if (it->found.count > it->found.shown_count) {
        output_print(out, "and %" PRIu64 " more\n", it->found.count - it->found.shown_count);
    }
}

static int report(session *s, const checking *it) {
    if (s->option[OPTION_JSON] != NULL) {
        put_json(&s->out, it);
    } else {
        put_human(&s->out, it);
    }
    bool no = it->found.count > 0 || it->stream.bad > 0 ||
              (it->out_of_order > 0 && s->option[OPTION_SORTED] != NULL);
    return no ? STATUS_NO : STATUS_DONE;
}

/* ---- the subcommand ------------------------------------------------------------------------ */

/* Of IDs that do not sort, an order by value says nothing. */
static int refuse_order(session *s, const checking *it) {
    if (s->option[OPTION_SORTED] != NULL && it->stream.reader.named &&
        it->stream.reader.scheme.sorts == FIRN_SORTS_NO) {
        return fail_usage(s, "IDs of %s do not sort by time: leave --sorted out",
                          it->stream.reader.scheme.name);
    }
    return STATUS_DONE;
}

static void clear(checking *it) {
    stream_close(&it->stream);
    if (it->opened) {
        duplicates_close(&it->found);
    }
    free(it->file_line);
}

int run_check(session *s) {
    static checking it; /* static for its size */
    firn_error error;
    const bool gaps = s->option[OPTION_GAPS] != NULL, chart = s->option[OPTION_CHART] != NULL;
    if (gaps + chart + (s->option[OPTION_SORTED] != NULL) > 1) {
        return fail_usage(s, "--gaps, --chart and --sorted are different checks: use one of them");
    }
    if (gaps || chart) {
        return gaps ? gaps_run(s) : chart_run(s);
    }
    int status = stream_open(s, &it.stream, s->operands, s->operand_count);
    it.stream.whole = true;
    if (status == STATUS_DONE) {
        status = amount_memory(s, &it.memory);
    }
    if (status == STATUS_DONE) {
        status = refuse_order(s, &it);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    it.file_line = malloc(it.stream.count * sizeof *it.file_line);
    if (it.file_line == NULL) {
        spill_no_memory(&error);
        return fail(s, &error);
    }
    memset(it.file_line, 0xff, it.stream.count * sizeof *it.file_line);
    int code = check_all(&it, &error);
    status = code == FIRN_OK ? report(s, &it) : fail(s, &error);
    clear(&it);
    return status;
}
