/* SPDX-License-Identifier: MIT */
/* Streams of IDs: see stream.h. The two forms that nearly all of them have, decimals of 64 bits and
 * UUIDs, are read eight characters at a time; any other text goes to the strict reader of
 * the library, which also reports the error. */
#include "stream.h"

#include "shared/progress.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- eight characters at a time ------------------------------------------------------------ */

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Four characters of text, the first one lowest. Spelt out, because so compilers make one load of
 * it. */
static inline uint64_t load_four(const char *text) {
    const unsigned char *position = (const unsigned char *)text;
    return (uint64_t)position[0] | (uint64_t)position[1] << 8 | (uint64_t)position[2] << 16 |
           (uint64_t)position[3] << 24;
}

static inline uint64_t load_eight(const char *text) {
    return load_four(text) | load_four(text + 4) << 32;
}

/* The top bit of each byte that is at least `least`; no byte may have its top bit set. */
static inline uint64_t at_least(uint64_t text, uint64_t least) {
    return (text + EACH_BYTE(0x80 - least)) & EACH_BYTE(0x80);
}

/* The top bit of each byte that is not a decimal digit. */
static inline uint64_t not_decimal(uint64_t text) {
    uint64_t low = text & EACH_BYTE(0x7f);
    uint64_t digit = at_least(low, '0') & ~at_least(low, '9' + 1) & ~text;
    return ~digit & EACH_BYTE(0x80);
}

/* The value of eight decimal digits; a zero byte counts as 0. */
static inline uint64_t eight_decimals(uint64_t text) {
    uint64_t digits = text & EACH_BYTE(0x0f);
    uint64_t pairs = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    uint64_t fours = (pairs * 100 + (pairs >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (fours * 10000 + (fours >> 32)) & UINT32_MAX;
}

/* The length of a line's end, which is there or is not: 1, 2 or 0. */
static inline size_t line_end(const char *text) {
    return text[0] == '\n' ? 1 : text[0] == '\r' && text[1] == '\n' ? 2 : 0;
}

/* At most 19 decimal digits and the end of the line; the length of all, or 0: look
 * closer. */
static inline size_t read_decimal(firn_id *id, const char *text) {
    static const uint32_t power[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    uint64_t sum = 0;
    for (size_t length = 0; length <= 16; length += 8) {
        uint64_t word = load_eight(text + length);
        uint64_t odd = not_decimal(word);
        if (odd == 0) {
            sum = sum * 100000000 + eight_decimals(word);
            continue;
        }
        size_t more = (size_t)__builtin_ctzll(odd) / 8;
        if (more > 0) { /* the digits move to the end, zero bytes before them */
            sum = sum * power[more] + eight_decimals(word << (64 - 8 * more));
        }
        length += more;
        *id = (firn_id){sum, 0, 0, 64};
        size_t end = line_end(text + length);
        bool number = length > 0 && length < 20 && text[0] != '0';
        return number && end > 0 ? length + end : 0;
    }
    return 0;
}

#ifdef __SSE2__
/* Sixteen hex digits in either case, the first one lowest, as eight bytes; *odd gets bits where
 * there is something else. */
static inline uint64_t sixteen_hex(uint64_t first, uint64_t second, uint64_t *odd) {
    const __m128i text = _mm_set_epi64x((long long)second, (long long)first);
    const __m128i small = _mm_or_si128(text, _mm_set1_epi8(0x20));
    const __m128i number = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    const __m128i letter = _mm_sub_epi8(small, _mm_set1_epi8('a'));
    const __m128i is_number = _mm_cmpeq_epi8(_mm_min_epu8(number, _mm_set1_epi8(9)), number);
    const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);
    const __m128i digits =
        _mm_or_si128(_mm_and_si128(is_number, number),
                     _mm_and_si128(is_letter, _mm_add_epi8(letter, _mm_set1_epi8(10))));
    const __m128i pairs = _mm_or_si128(
        _mm_and_si128(_mm_slli_epi16(digits, 4), _mm_set1_epi16(0xf0)), _mm_srli_epi16(digits, 8));
    *odd |= 0xffff ^ (uint64_t)_mm_movemask_epi8(_mm_or_si128(is_number, is_letter));
    uint64_t bytes;
    _mm_storel_epi64((void *)&bytes, _mm_packus_epi16(pairs, pairs));
    return bytes;
}
#else
/* The value of eight hex digits in either case; *odd gets bits where there is something else. */
static inline uint64_t eight_hex(uint64_t text, uint64_t *odd) {
    uint64_t low = text & EACH_BYTE(0x7f), small = low | EACH_BYTE(0x20);
    uint64_t decimal = at_least(low, '0') & ~at_least(low, '9' + 1);
    uint64_t letter = at_least(small, 'a') & ~at_least(small, 'f' + 1);
    *odd |= (~(decimal | letter) | text) & EACH_BYTE(0x80);
    uint64_t digits = (text & EACH_BYTE(0x0f)) + 9 * (text >> 6 & EACH_BYTE(1));
    uint64_t pairs = (digits << 4 | digits >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    uint64_t fours = (pairs << 8 | pairs >> 16) & UINT64_C(0x0000ffff0000ffff);
    return (fours << 16 | fours >> 32) & UINT32_MAX;
}

static inline uint64_t sixteen_hex(uint64_t first, uint64_t second, uint64_t *odd) {
    uint64_t upper = eight_hex(first, odd);
    return htobe64(upper << 32 | eight_hex(second, odd));
}
#endif

/* 36 characters and the end of the line; the length of all, or 0: look closer. */
static inline size_t read_uuid(firn_id *id, const char *text) {
    uint64_t odd = 0;
    id->high = be64toh(
        sixteen_hex(load_eight(text), load_four(text + 9) | load_four(text + 14) << 32, &odd));
    id->low = be64toh(sixteen_hex(load_four(text + 19) | load_four(text + 24) << 32,
                                  load_eight(text + 28), &odd));
    id->top = 0;
    id->bits = 128;
    odd |= (uint64_t)(text[8] ^ '-') | (uint64_t)(text[13] ^ '-') | (uint64_t)(text[18] ^ '-') |
           (uint64_t)(text[23] ^ '-');
    size_t end = line_end(text + 36);
    return odd == 0 && end > 0 ? 36 + end : 0;
}

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

/* An ID at the beginning of a line; the length of the line, or 0: look closer. */
typedef size_t read_line(firn_id *id, const char *text);

/* Lines that need no second look, of at least `least` bytes; stops before the first that does.
 * `read` is a constant, so that it becomes a part of the loop. */
static inline __attribute__((always_inline)) size_t read_lines(id_stream *in, firn_id *ids,
                                                               size_t room, size_t least,
                                                               read_line *read) {
    const char *const text = in->window.buffer;
    size_t count = 0, start = in->window.start;
    for (; count < room && in->window.end - start >= least; count++) {
        size_t length = read(&ids[count], text + start);
        if (length == 0 || !is_of_scheme(in, &ids[count])) {
            break;
        }
        start += length;
    }
    in->window.start = start;
    return count;
}

static size_t read_easy(id_stream *in, firn_id *ids, size_t room) {
    size_t count = 0;
    if (in->known && in->form == FIRN_FORM_UUID) {
        count = read_lines(in, ids, room, 37, read_uuid);
    } else if (in->known && in->bits == 64 &&
               (in->form == FIRN_FORM_DEC || in->form == FIRN_FORM_UNSIGNED)) {
        count = read_lines(in, ids, room, 1, read_decimal);
    }
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
