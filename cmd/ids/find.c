/* SPDX-License-Identifier: MIT */
/* See find.h. A piece of the input is in memory at a time. Without a time limit all bytes go out as they
 * came in, each ID with its scheme and time in brackets; with one, only the lines of the IDs found. */
#include "find.h"

#include "ids.h"
#include "scan.h"
#include "shared/amounts.h"
#include "shared/color.h"
#include "shared/json.h"
#include "shared/line_window.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct searching {
    scan_want want;
    scan scan;
    id_reader reader;
    bool json, named, several; /* several: more than one file */
    const char *name;          /* of the file, or - */
    bool printing;             /* the present line has an ID (only with a time limit) */
    uint64_t found;            /* IDs, of all files */
    uint64_t line;             /* number of the line that contains `counted` */
    uint64_t before;           /* bytes of the file before the buffer */
    uint64_t line_from;        /* where that line begins in the file */
    size_t counted;            /* newlines before this byte are in `line` */
    size_t from;               /* the bytes before it were written */
    line_window window;
    char buffer[SCAN_MAX];
} searching;

/* ---- input ----------------------------------------------------------------------------------- */

static int open_file(searching *it, const char *name, firn_error *error) {
    it->name = name;
    it->window = (line_window){.buffer = it->buffer, .size = sizeof it->buffer};
    it->printing = false;
    it->line = 1;
    it->before = it->line_from = 0;
    it->counted = it->from = 0;
    return window_open(&it->window, name) ? FIRN_OK : input_failed(name, error);
}

/* Keeps the bytes that are not written yet, and some before them; appends. */
static int refill(searching *it, output *out, firn_error *error) {
    size_t drop = it->from > SCAN_CONTEXT ? it->from - SCAN_CONTEXT : 0;
    it->window.start = drop;
    it->before += drop;
    it->from -= drop;
    it->counted -= it->json ? drop : 0;
    output_flush(out);
    return window_fill(&it->window) ? FIRN_OK : input_failed(it->name, error);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static size_t line_end(const searching *it, size_t from, size_t to) {
    const char *newline = memchr(it->buffer + from, '\n', to - from);
    return newline != NULL ? (size_t)(newline - it->buffer) + 1 : to;
}

static size_t line_start(const searching *it, size_t from, size_t to) {
    const char *newline = memrchr(it->buffer + from, '\n', to - from);
    return newline != NULL ? (size_t)(newline - it->buffer) + 1 : from;
}

/* Counts the lines up to a place. */
static void count_lines(searching *it, size_t to) {
    while (it->counted < to) {
        const char *newline = memchr(it->buffer + it->counted, '\n', to - it->counted);
        if (newline == NULL) {
            it->counted = to;
            return;
        }
        it->counted = (size_t)(newline - it->buffer) + 1;
        it->line_from = it->before + it->counted;
        it->line++;
    }
}

/* Where to stop: what follows may be the beginning of an ID or, with a time limit, of a line. */
static size_t piece_end(const searching *it) {
    size_t end = it->window.ended ? it->window.end : scan_hold(it->buffer, it->window.end);
    if (it->want.limited && !it->window.ended && it->window.end < sizeof it->buffer) {
        end = line_start(it, it->from, it->window.end);
    }
    return end > it->from ? end : it->from;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void put_bytes(searching *it, output *out, size_t to) {
    output_bytes(out, it->buffer + it->from, to - it->from);
    it->from = to;
}

/* With a time limit: ends the line before, if another one begins, and begins the one of the ID. */
static void reach_line(searching *it, output *out) {
    size_t start = line_start(it, it->from, it->scan.start > it->from ? it->scan.start : it->from);
    if (it->printing && start > it->from) {
        put_bytes(it, out, line_end(it, it->from, start));
        it->printing = false;
    }
    if (!it->printing) {
        it->from = start;
        it->printing = true;
    }
}

static void put_note(session *s, const scan *found) {
    const firn_scheme *scheme = found->readings[0].scheme;
    char at[FIRN_TIME_SIZE];
    output_text(&s->out, " ");
    output_text(&s->out, color_of(s, TONE_BLUE));
    output_text(&s->out, "[");
    output_text(&s->out, scheme->name[0] != '\0' ? scheme->name : "layout");
    output_text(&s->out, readings_sure(found->readings, found->counts) ? "" : "?");
    if (found->timed) {
        output_text(&s->out, " ");
        output_text(&s->out, firn_time_format(at, &found->time, firn_scheme_digits(scheme)));
    }
    output_text(&s->out, "]");
    output_text(&s->out, color_plain(s));
}

static void put_object(searching *it, output *out) {
    char text[SCAN_TEXT_MAX + 1];
    const scan *found = &it->scan;
    size_t length = found->end - found->start;
    memcpy(text, it->buffer + found->start, length);
    text[length] = '\0';
    count_lines(it, found->start);
    json_t *object = json_object();
    json_t *id = object_of_text(text, found->readings, found->counts, NULL, false, it->named);
    if (it->several) {
        json_object_set_new(object, "file", json_foreign(it->name));
    }
    json_object_set_new(object, "line", json_integer((json_int_t)it->line));
    json_object_set_new(object, "column",
                        json_integer((json_int_t)(it->before + found->start - it->line_from + 1)));
    json_object_set_new(object, "length", json_integer((json_int_t)length));
    if (json_object_update(object, id) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(id);
    json_line(out, object);
}

static void put_found(session *s, searching *it) {
    it->found++;
    if (it->json) {
        put_object(it, &s->out);
        it->from = it->scan.end;
        return;
    }
    if (it->want.limited) {
        reach_line(it, &s->out);
    }
    if (s->colors != 0) { /* a prefix may be out already */
        put_bytes(it, &s->out, it->scan.start > it->from ? it->scan.start : it->from);
        output_text(&s->out, color_bold(s));
    }
    put_bytes(it, &s->out, it->scan.end);
    output_text(&s->out, color_plain(s));
    put_note(s, &it->scan);
}

/* What is left of a piece after its last ID. */
static void end_piece(session *s, searching *it, size_t end) {
    end = end > it->from ? end : it->from;
    if (it->json) {
        count_lines(it, end);
    } else if (!it->want.limited) {
        put_bytes(it, &s->out, end);
    } else if (it->printing) {
        size_t stop = line_end(it, it->from, end);
        put_bytes(it, &s->out, stop);
        it->printing = stop == 0 || it->buffer[stop - 1] != '\n';
    }
    it->from = end;
}

/* ---- the subcommand -------------------------------------------------------------------------- */

static int search(session *s, searching *it, const char *name, firn_error *error) {
    int code = open_file(it, name, error);
    while (code == FIRN_OK && !it->window.ended && !output_dead(&s->out)) {
        code = refill(it, &s->out, error);
        if (code == FIRN_OK) {
            size_t end = piece_end(it);
            scan_begin(&it->scan, &it->want, it->buffer, it->from, end, it->window.end);
            while (!output_dead(&s->out) && scan_next(&it->scan)) {
                put_found(s, it);
            }
            end_piece(s, it, end);
        }
    }
    window_close(&it->window);
    return code;
}

static int read_options(session *s, searching *it) {
    int status = reader_open(s, &it->reader);
    it->json = s->option[OPTION_JSON] != NULL;
    it->named = it->reader.named;
    it->want.scheme = it->named ? &it->reader.scheme : NULL;
    it->want.form = it->reader.form;
    it->want.all = s->option[OPTION_ALL] != NULL;
    it->want.limited = s->option[OPTION_SINCE] != NULL || s->option[OPTION_UNTIL] != NULL;
    it->want.since = (firn_time){INT64_MIN, 0};
    it->want.until = (firn_time){INT64_MAX, 0};
    status = status == STATUS_DONE ? amount_time(s, OPTION_SINCE, &it->want.since) : status;
    status = status == STATUS_DONE ? amount_time(s, OPTION_UNTIL, &it->want.until) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    if (s->option[OPTION_KEY_FILE] != NULL) {
        return fail_usage(s, "--find does not find order numbers: leave --key-file out");
    }
    if (!it->named && it->reader.form >= 0) {
        return fail_usage(s, "--find reads a form of one scheme only: add --scheme NAME");
    }
    if (s->option[OPTION_NEAR] != NULL) {
        return fail_usage(s, "--near does not apply to --find: use --since and --until");
    }
    if (it->named && it->want.all) {
        return fail_usage(s, "--find with --scheme finds IDs of that scheme only: leave --all out");
    }
    if (it->named &&
        (it->want.form < 0 ? it->want.scheme->form : it->want.form) == FIRN_FORM_BASE64SORT) {
        return fail_usage(
            s, "--find does not find IDs that contain - and _, as %s has: name another scheme",
            it->want.scheme->name);
    }
    if (it->want.limited && it->named && scheme_index(it->want.scheme, FIRN_ROLE_TIME) < 0) {
        return fail_usage(s, "IDs of %s have no time: leave --since and --until out",
                          it->want.scheme->name);
    }
    if (firn_time_cmp(&it->want.since, &it->want.until) >= 0) {
        return fail_usage(s, "--since is not before --until: choose an earlier --since");
    }
    return STATUS_DONE;
}

/* Nothing was found, but there are integers, which are IDs of many systems. */
static void note_integers(session *s, const searching *it) {
    char text[160];
    if (it->found == 0 && it->scan.integers > 0) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " integer%s of 15 to 20 digits may be IDs: "
                 "add --scheme NAME, or --all to guess the schemes",
                 it->scan.integers, it->scan.integers == 1 ? "" : "s");
        tell_note(s, text);
    }
}

int find_run(session *s) {
    static searching work; /* static for its size */
    firn_error error;
    bool standard = s->operand_count == 0;
    size_t count = standard ? 1 : s->operand_count;
    int status = read_options(s, &work);
    work.several = count > 1;
    for (size_t i = 0; i < count && status == STATUS_DONE && !output_dead(&s->out); i++) {
        if (search(s, &work, standard ? "-" : s->operands[i], &error) != FIRN_OK) {
            status = fail(s, &error);
        }
    }
    if (status == STATUS_DONE) {
        note_integers(s, &work);
    }
    return status == STATUS_DONE && work.found == 0 ? STATUS_NO : status;
}
