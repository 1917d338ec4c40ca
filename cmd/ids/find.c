/* SPDX-License-Identifier: MIT */
/* See find.h. A piece of the input is in memory at a time. Without a time limit all bytes go out as
 * they came in, each ID with its scheme and time in brackets; with one, only the lines of the IDs
 * found. */
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

typedef struct file_search {
    scan_want want;
    text_scan scan;
    id_reader reader;
    bool json, named, several; /* several: more than one file */
    const char *name;          /* of the file, or - */
    bool printing;             /* the present line has an ID (only with a time limit) */
    uint64_t found;            /* IDs, of all files */
    uint64_t line;             /* number of the line that contains `counted` */
    uint64_t before;           /* bytes of the file before the buffer */
    uint64_t line_from;        /* where that line begins in the file */
    size_t counted;            /* newlines before this byte are in `line` */
    size_t start;              /* the bytes before it were written */
    line_window window;
    char buffer[SCAN_MAX];
} file_search;

/* ---- input ----------------------------------------------------------------------------------- */

static int open_file(file_search *search, const char *name, firn_error *error) {
    search->name = name;
    search->window = (line_window){.buffer = search->buffer, .size = sizeof search->buffer};
    search->printing = false;
    search->line = 1;
    search->before = search->line_from = 0;
    search->counted = search->start = 0;
    return window_open(&search->window, name) ? FIRN_OK : input_failed(name, error);
}

/* Keeps the bytes that are not written yet, and some before them; appends. */
static int refill(file_search *search, output *out, firn_error *error) {
    size_t drop = search->start > SCAN_CONTEXT ? search->start - SCAN_CONTEXT : 0;
    search->window.start = drop;
    search->before += drop;
    search->start -= drop;
    search->counted -= search->json ? drop : 0;
    output_flush(out);
    return window_fill(&search->window) ? FIRN_OK : input_failed(search->name, error);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static size_t line_end(const file_search *search, size_t from, size_t to) {
    const char *newline = memchr(search->buffer + from, '\n', to - from);
    return newline != NULL ? (size_t)(newline - search->buffer) + 1 : to;
}

static size_t line_start(const file_search *search, size_t from, size_t to) {
    const char *newline = memrchr(search->buffer + from, '\n', to - from);
    return newline != NULL ? (size_t)(newline - search->buffer) + 1 : from;
}

/* Counts the lines up to a place. */
static void count_lines(file_search *search, size_t end) {
    while (search->counted < end) {
        const char *newline = memchr(search->buffer + search->counted, '\n', end - search->counted);
        if (newline == NULL) {
            search->counted = end;
            return;
        }
        search->counted = (size_t)(newline - search->buffer) + 1;
        search->line_from = search->before + search->counted;
        search->line++;
    }
}

/* Where to stop: what follows may be the beginning of an ID or, with a time limit, of a line. */
static size_t piece_end(const file_search *search) {
    size_t end =
        search->window.ended ? search->window.end : scan_hold(search->buffer, search->window.end);
    if (search->want.limited && !search->window.ended &&
        search->window.end < sizeof search->buffer) {
        end = line_start(search, search->start, search->window.end);
    }
    return end > search->start ? end : search->start;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void put_bytes(file_search *search, output *out, size_t end) {
    output_bytes(out, search->buffer + search->start, end - search->start);
    search->start = end;
}

/* With a time limit: ends the line before, if another one begins, and begins the one of the ID. */
static void reach_line(file_search *search, output *out) {
    size_t start =
        line_start(search, search->start,
                   search->scan.start > search->start ? search->scan.start : search->start);
    if (search->printing && start > search->start) {
        put_bytes(search, out, line_end(search, search->start, start));
        search->printing = false;
    }
    if (!search->printing) {
        search->start = start;
        search->printing = true;
    }
}

static void put_note(session *s, const text_scan *found) {
    const firn_scheme *scheme = found->readings[0].scheme;
    char time_text[FIRN_TIME_SIZE];
    output_text(&s->out, " ");
    output_text(&s->out, color_of(s, TONE_BLUE));
    output_text(&s->out, "[");
    output_text(&s->out, scheme->name[0] != '\0' ? scheme->name : "layout");
    output_text(&s->out, readings_sure(found->readings, found->counts) ? "" : "?");
    if (found->timed) {
        output_text(&s->out, " ");
        output_text(&s->out, firn_time_format(time_text, &found->time, firn_scheme_digits(scheme)));
    }
    output_text(&s->out, "]");
    output_text(&s->out, color_plain(s));
}

static void put_object(file_search *search, output *out) {
    char text[SCAN_TEXT_MAX + 1];
    const text_scan *found = &search->scan;
    size_t length = found->end - found->start;
    memcpy(text, search->buffer + found->start, length);
    text[length] = '\0';
    count_lines(search, found->start);
    json_t *object = json_object();
    json_t *id = object_of_text(text, found->readings, found->counts, NULL, false, search->named);
    if (search->several) {
        json_object_set_new(object, "file", json_foreign(search->name));
    }
    json_object_set_new(object, "line", json_integer((json_int_t)search->line));
    json_object_set_new(
        object, "column",
        json_integer((json_int_t)(search->before + found->start - search->line_from + 1)));
    json_object_set_new(object, "length", json_integer((json_int_t)length));
    if (json_object_update(object, id) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(id);
    json_line(out, object);
}

static void put_found(session *s, file_search *search) {
    search->found++;
    if (search->json) {
        put_object(search, &s->out);
        search->start = search->scan.end;
        return;
    }
    if (search->want.limited) {
        reach_line(search, &s->out);
    }
    if (s->colors != 0) { /* a prefix may be out already */
        put_bytes(search, &s->out,
                  search->scan.start > search->start ? search->scan.start : search->start);
        output_text(&s->out, color_bold(s));
    }
    put_bytes(search, &s->out, search->scan.end);
    output_text(&s->out, color_plain(s));
    put_note(s, &search->scan);
}

/* Prints the rest of a piece after its last ID. */
static void end_piece(session *s, file_search *search, size_t end) {
    end = end > search->start ? end : search->start;
    if (search->json) {
        count_lines(search, end);
    } else if (!search->want.limited) {
        put_bytes(search, &s->out, end);
    } else if (search->printing) {
        size_t stop = line_end(search, search->start, end);
        put_bytes(search, &s->out, stop);
        search->printing = stop == 0 || search->buffer[stop - 1] != '\n';
    }
    search->start = end;
}

/* ---- the subcommand -------------------------------------------------------------------------- */

static int search(session *s, file_search *search, const char *name, firn_error *error) {
    int code = open_file(search, name, error);
    while (code == FIRN_OK && !search->window.ended && !output_dead(&s->out)) {
        code = refill(search, &s->out, error);
        if (code == FIRN_OK) {
            size_t end = piece_end(search);
            scan_begin(&search->scan, &search->want, search->buffer, search->start, end,
                       search->window.end);
            while (!output_dead(&s->out) && scan_next(&search->scan)) {
                put_found(s, search);
            }
            end_piece(s, search, end);
        }
    }
    window_close(&search->window);
    return code;
}

static int read_options(session *s, file_search *search) {
    int status = reader_open(s, &search->reader);
    search->json = s->option[OPTION_JSON] != NULL;
    search->named = search->reader.named;
    search->want.scheme = search->named ? &search->reader.scheme : NULL;
    search->want.form = search->reader.form;
    search->want.all = s->option[OPTION_ALL] != NULL;
    search->want.limited = s->option[OPTION_SINCE] != NULL || s->option[OPTION_UNTIL] != NULL;
    search->want.since = (firn_time){INT64_MIN, 0};
    search->want.until = (firn_time){INT64_MAX, 0};
    status = status == STATUS_DONE ? amount_time(s, OPTION_SINCE, &search->want.since) : status;
    status = status == STATUS_DONE ? amount_time(s, OPTION_UNTIL, &search->want.until) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    if (s->option[OPTION_KEY_FILE] != NULL) {
        return fail_usage(s, "--find does not find order numbers: leave --key-file out");
    }
    if (!search->named && search->reader.form >= 0) {
        return fail_usage(s, "--find reads a form of one scheme only: add --scheme NAME");
    }
    if (s->option[OPTION_NEAR] != NULL) {
        return fail_usage(s, "--near does not apply to --find: use --since and --until");
    }
    if (search->named && search->want.all) {
        return fail_usage(s, "--find with --scheme finds IDs of that scheme only: leave --all out");
    }
    if (search->named && (search->want.form < 0 ? search->want.scheme->form : search->want.form) ==
                             FIRN_FORM_BASE64SORT) {
        return fail_usage(
            s, "--find does not find IDs that contain - and _, as %s has: name another scheme",
            search->want.scheme->name);
    }
    if (search->want.limited && search->named &&
        scheme_index(search->want.scheme, FIRN_ROLE_TIME) < 0) {
        return fail_usage(s, "IDs of %s have no time: leave --since and --until out",
                          search->want.scheme->name);
    }
    if (firn_time_cmp(&search->want.since, &search->want.until) >= 0) {
        return fail_usage(s, "--since is not before --until: choose an earlier --since");
    }
    return STATUS_DONE;
}

/* Nothing was found, but there are integers, which are IDs of many systems. */
static void note_integers(session *s, const file_search *search) {
    char text[160];
    if (search->found == 0 && search->scan.integers > 0) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " integer%s of 15 to 20 digits may be %s: "
                 "add --scheme NAME, or --all to guess the schemes",
                 search->scan.integers, plural(search->scan.integers),
                 search->scan.integers == 1 ? "an ID" : "IDs");
        tell_note(s, text);
    }
}

int find_run(session *s) {
    static file_search work; /* static for its size */
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
