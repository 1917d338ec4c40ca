/* SPDX-License-Identifier: MIT */
/* Streams of IDs: see stream.h. Lines that the library's reader accepts as the first line was read
 * need no second look; every other line gets one, which also reports the error. */
#include "stream.h"

#include "shared/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- form and width ------------------------------------------------------------------------ */

/* The width of IDs whose form alone is known, from the first of them. */
static bool find_width(id_stream *in, const char *text, size_t length) {
    static const uint32_t usual[] = {64, 96, 128, 160};
    firn_id id;
    for (uint32_t i = 0; i < 4 + 160; i++) { /* the usual ones first, then all */
        uint32_t bits = i < 4 ? usual[i] : i - 3;
        size_t width = firn_form_width(in->form, bits);
        bool padded = in->form != FIRN_FORM_DEC && in->form != FIRN_FORM_UNSIGNED &&
                      in->form != FIRN_FORM_FLAKE && in->form != FIRN_FORM_TYPEID;
        if (width != 0 && (!padded || width == length) &&
            firn_parse(&id, in->form, bits, text, length, NULL) == FIRN_OK) {
            in->bits = bits;
            return true;
        }
    }
    return false;
}

/* Which bits a named scheme holds constant: those that are the same with all fields at their least
 * and at their most. */
static int learn_constants(id_stream *in, firn_error *error) {
    const firn_scheme *scheme = &in->reader.scheme;
    firn_fields least = {0}, most = {0};
    firn_id low, high;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role != FIRN_ROLE_CONST && firn_scheme_first(scheme, i) == i) {
            least.given |= UINT32_C(1) << i;
            most.given |= UINT32_C(1) << i;
            most.value[i] = firn_scheme_max(scheme, i);
        }
    }
    int code = firn_pack(&low, scheme, &least, error);
    code = code == FIRN_OK ? firn_pack(&high, scheme, &most, error) : code;
    if (code == FIRN_OK) {
        in->fixed[0] = ~(low.low ^ high.low);
        in->fixed[1] = ~(low.high ^ high.high);
        in->must[0] = low.low;
        in->must[1] = low.high;
    }
    return code;
}

/* Is a text of digits only, as long as hex texts are, hex rather than decimal? The lines after it
 * decide, as far as they are in the buffer. */
static bool is_hex(id_stream *in, const char *text, size_t length) {
    const char *position = in->window.buffer + in->window.start,
               *end = in->window.buffer + in->window.end, *newline;
    in->reader.habit = HABIT_NONE;
    while (reader_wonders(&in->reader, text, length) && position < end &&
           (newline = memchr(position, '\n', (size_t)(end - position))) != NULL) {
        size_t size = (size_t)(newline - position);
        reader_notice(&in->reader, position, size - (size > 0 && position[size - 1] == '\r'));
        position = newline + 1;
    }
    return in->reader.habit == HABIT_HEX;
}

/* Learns from the first ID how to read all: a text of digits only is a decimal, or hex if the lines
 * after it are; for another text, the best reading decides, as in show. */
static int learn(id_stream *in, const char *text, size_t length, firn_error *error) {
    firn_reading readings[FIRN_READINGS_MAX];
    size_t digits = strspn(text, "0123456789");
    id_counts counts;
    bool prefixed = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    in->lead = 0;
    in->form = in->reader.form;
    if (!in->reader.named) {
        bool hex = prefixed && (in->form < 0 || in->form == FIRN_FORM_HEX);
        if (is_hex(in, text, length)) {
            in->form = FIRN_FORM_HEX;
        } else if (in->form < 0 && length > 0 && (digits == length || text[0] == '-')) {
            in->form = FIRN_FORM_DEC;
        }
        in->form = hex ? FIRN_FORM_HEX : in->form;
        in->lead = hex ? 2 : 0;
        if (in->form >= 0 && find_width(in, text + in->lead, length - in->lead)) {
            in->known = true;
            return FIRN_OK;
        }
    }
    int code = reader_look(&in->reader, readings, &counts, text, length, error);
    if (code == FIRN_OK) {
        in->form = readings[0].form;
        in->bits = readings[0].id.bits;
        in->lead = in->form == FIRN_FORM_HEX && prefixed ? 2 : 0;
        const bool constant = in->reader.named && !(in->whole && in->form == FIRN_FORM_TYPEID);
        code = constant ? learn_constants(in, error) : FIRN_OK;
        in->known = code == FIRN_OK;
    }
    return code;
}

/* The prefix of a TypeID becomes a part of its key. */
static int add_prefix(id_stream *in, firn_id *id, const char *text, size_t length,
                      firn_error *error) {
    char prefix[FIRN_PREFIX_SIZE];
    firn_prefix_read(prefix, text, length);
    uint32_t i = in->prefix_last;
    if (i >= in->prefix_count || strcmp(in->prefixes[i], prefix) != 0) {
        for (i = 0; i < in->prefix_count && strcmp(in->prefixes[i], prefix) != 0;) {
            i++;
        }
    }
    if (i == PREFIXES_MAX) {
        return set_error(error, FIRN_ERANGE,
                         "there are more than %d different prefixes: check fewer at once",
                         PREFIXES_MAX);
    }
    memcpy(in->prefixes[i], prefix, sizeof prefix);
    in->prefix_count += i == in->prefix_count;
    in->prefix_last = i;
    id->top = i;
    return FIRN_OK;
}

static int read_id(id_stream *in, firn_id *id, const char *text, size_t length, firn_error *error) {
    firn_fields fields;
    firn_error why;
    bool lead =
        in->lead == 0 || (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'));
    size_t skip = lead ? in->lead : 0;
    int code = firn_parse(id, in->form, in->bits, text + skip, length - skip, &why);
    if (!lead) {
        code = set_error(&why, FIRN_ETEXT, "it does not begin with 0x");
    }
    if (code == FIRN_OK && in->reader.named) {
        const firn_scheme *scheme = &in->reader.scheme;
        code = firn_unpack(&fields, in->whole ? firn_scheme_seen(scheme, id) : scheme, id, &why);
    }
    if (code == FIRN_OK && in->whole && in->form == FIRN_FORM_TYPEID) {
        code = add_prefix(in, id, text, length, &why);
    }
    if (code == FIRN_OK) {
        in->minus = in->minus || text[0] == '-';
        return FIRN_OK;
    }
    prefix_error(error, code, &why, "'%.40s'%s: ", text, length > 40 ? "..." : "");
    return in->reader.form < 0 && !in->reader.named
               ? suffix_error(error, " (as the first line does; or set the form with --from)")
               : code;
}

/* ---- files --------------------------------------------------------------------------------- */

char *stream_place(char text[128], const id_stream *in, size_t file, uint64_t line) {
    if (in->count > 1) {
        snprintf(text, 128, "%.80s: line %" PRIu64, input_name(in->names[file]), line);
    } else {
        snprintf(text, 128, "line %" PRIu64, line);
    }
    return text;
}

char *stream_text(char text[FIRN_TEXT_SIZE + 2], const id_stream *in, const firn_id *id) {
    if (in->whole && in->form == FIRN_FORM_TYPEID) {
        const firn_id plain = {id->low, id->high, 0, id->bits};
        return firn_prefix_format(text, in->prefixes[id->top], &plain);
    }
    memcpy(text, "0x", in->lead);
    firn_format(text + in->lead, id, in->form);
    return text;
}

void stream_put_bad(output *out, const id_stream *in) {
    if (in->bad > 0) {
        output_print(out, "%" PRIu64 " bad line%s, the first: %s\n", in->bad, plural(in->bad),
                     in->bad_one.text);
    }
}

/* False: no line is left. */
static bool next_file(id_stream *in, int *code, firn_error *error) {
    in->index += in->window.file >= 0;
    window_close(&in->window);
    *code = FIRN_OK;
    if (in->index == in->count) {
        return false;
    }
    in->line = 0;
    if (window_open(&in->window, in->names[in->index])) {
        posix_fadvise(in->window.file, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else {
        *code = input_failed(in->names[in->index], error);
    }
    return true;
}

static int refill(void *context, firn_error *error) {
    id_stream *in = context;
    if (!window_fill(&in->window)) {
        return input_failed(in->names[in->index], error);
    }
    /* what is read eight characters at a time ends here */
    memset(in->window.buffer + in->window.end, 0, STREAM_SLACK);
    return FIRN_OK;
}

/* ---- lines --------------------------------------------------------------------------------- */

/* Reads a line that was not read in passing; a bad line gets 0 bits. */
static int close_look(id_stream *in, firn_id *id, bool *none, firn_error *error) {
    char *text, place[128];
    size_t length;
    int code = window_line(&in->window, refill, in, &text, &length, error);
    *none = code == FIRN_OK ? text == NULL : code == FIRN_EIO;
    if (*none) {
        return code;
    }
    in->line++;
    if (code == FIRN_OK) {
        char after = text[length];
        text[length] = '\0'; /* its end, or the slack after the last line */
        if (length == 0) {
            code = set_error(error, FIRN_ETEXT, "the line is empty: remove it");
        } else if (!in->known) {
            code = learn(in, text, length, error);
        }
        if (code == FIRN_OK) {
            code = read_id(in, id, text, length, error);
        }
        text[length] = after;
    }
    if (code == FIRN_OK) {
        return FIRN_OK;
    }
    prefix_error(error, code, error, "%s: ", stream_place(place, in, in->index, in->line));
    if (!in->keep_going) {
        return code;
    }
    if (in->bad++ == 0) {
        in->bad_one = *error;
        translate_error(&in->bad_one, SURFACE_COMMAND);
    }
    memset(id, 0, sizeof *id);
    return FIRN_OK;
}

/* Has the ID what its scheme holds constant? */
static inline bool is_of_scheme(const id_stream *in, const firn_id *id) {
    return (((id->low ^ in->must[0]) & in->fixed[0]) | ((id->high ^ in->must[1]) & in->fixed[1])) ==
           0;
}

/* Are lines read in passing? Not while prefixes are counted; and only the most common forms of a
 * named scheme have only constants to check. */
static bool is_easy(const id_stream *in) {
    const bool number = in->form == FIRN_FORM_DEC || in->form == FIRN_FORM_UNSIGNED;
    return in->known && in->lead == 0 && in->form != FIRN_FORM_TYPEID &&
           (!in->reader.named || in->form == FIRN_FORM_UUID || (number && in->bits == 64));
}

/* Lines that need no second look; stops before the first that does. */
static size_t read_easy(id_stream *in, firn_id *ids, size_t room) {
    const char *const text = in->window.buffer;
    const bool easy = is_easy(in);
    size_t count = 0, start = in->window.start, length = 0;
    for (; easy && count < room; count++, start += length + 1) {
        const char *line = text + start, *end = text + in->window.end;
        if (line + length >= end || line[length] != '\n') { /* most lines are as long as the last */
            const char *newline = memchr(line, '\n', (size_t)(end - line));
            if (newline == NULL) {
                break;
            }
            length = (size_t)(newline - line);
        }
        const size_t size = length - (length > 0 && line[length - 1] == '\r');
        if (firn_parse(&ids[count], in->form, in->bits, line, size, NULL) != FIRN_OK ||
            !is_of_scheme(in, &ids[count])) {
            break;
        }
        in->minus = in->minus || *line == '-';
    }
    in->window.start = start;
    in->line += count;
    return count;
}

/* Fills batch->ids. A FIRN_E code; the error names file and line. */
static int next_batch(id_stream *in, id_batch *batch, firn_error *error) {
    int code = FIRN_OK;
    batch->count = 0;
    while (batch->count == 0) {
        bool none = in->window.file < 0;
        batch->file = in->index;
        batch->line = in->line + 1;
        while (!none && code == FIRN_OK && batch->count < STREAM_BATCH) {
            if (in->window.begun) {
                batch->count +=
                    read_easy(in, batch->ids + batch->count, STREAM_BATCH - batch->count);
            }
            if (batch->count < STREAM_BATCH) {
                code = close_look(in, &batch->ids[batch->count], &none, error);
                batch->count += !none && code == FIRN_OK;
            }
        }
        if (code != FIRN_OK || (batch->count == 0 && !next_file(in, &code, error)) ||
            code != FIRN_OK) {
            return code;
        }
    }
    return FIRN_OK;
}

int stream_each(id_stream *in, const char *label, stream_take *take, void *context,
                firn_error *error) {
    static firn_id ids[STREAM_BATCH];
    id_batch batch = {.count = 1, .ids = ids};
    progress shown = {.label = label};
    int64_t lines = 0;
    bool stop = false;
    int code = FIRN_OK;
    for (uint64_t turn = 0; code == FIRN_OK && batch.count > 0 && !stop; turn++) {
        code = next_batch(in, &batch, error);
        if (code == FIRN_OK && batch.count > 0) {
            code = take(context, &batch, &stop, error);
        }
        lines += (int64_t)batch.count;
        if (turn % 1024 == 0) {
            progress_show(&shown, lines, 0);
        }
    }
    progress_end(&shown);
    return code;
}

/* ---- from beginning to end ----------------------------------------------------------------- */

int stream_open(session *s, id_stream *in, char **names, size_t count) {
    static char standard[] = "-", *only[] = {standard, NULL};
    int status = reader_open(s, &in->reader);
    in->names = count > 0 ? names : only;
    in->count = count > 0 ? count : 1;
    in->index = 0;
    in->window = (line_window){.file = -1, .buffer = in->buffer, .size = STREAM_SIZE};
    in->known = in->minus = false;
    in->begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
    in->keep_going = s->option[OPTION_KEEP_GOING] != NULL;
    for (size_t i = 0, found = 0; i < count; i++) {
        found += strcmp(names[i], "-") == 0;
        if (found > 1) {
            return fail_usage(s, "standard input is given twice: use - once");
        }
    }
    return status;
}

bool stream_again_possible(id_stream *in) {
    for (size_t i = 0; i < in->count; i++) {
        struct stat about;
        bool standard = strcmp(in->names[i], "-") == 0;
        if ((standard ? fstat(STDIN_FILENO, &about) : stat(in->names[i], &about)) != 0 ||
            !S_ISREG(about.st_mode)) {
            return false;
        }
    }
    return true;
}

int stream_again(id_stream *in, firn_error *error) {
    stream_close(in);
    for (in->index = 0; in->index < in->count; in->index++) {
        if (strcmp(in->names[in->index], "-") == 0 &&
            lseek(STDIN_FILENO, in->begin, SEEK_SET) < 0) {
            return input_failed(in->names[in->index], error);
        }
    }
    in->index = 0;
    in->known = false;
    in->bad = 0;
    return FIRN_OK;
}

void stream_close(id_stream *in) {
    window_close(&in->window);
}
