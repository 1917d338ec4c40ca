/* SPDX-License-Identifier: MIT */
/* `firn check --chart`: how many IDs were issued when, as a chart on the terminal or as bins.
 * Memory is bounded: when the times no longer fit the bins, the bins get longer. */
#include "check/stream.h"
#include "describe.h"
#include "gaps.h"
#include "shared/amounts.h"
#include "shared/color.h"
#include "shared/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BINS = 4096, ROWS = 8, LABEL = 10, WIDTH = 80, WIDTH_MIN = 40, WIDTH_MAX = 400, WIDEN = 4 };

/* Lengths of bins, us: each divides the next. */
static const int64_t lengths[] = {
    1,           10,           100,           1000,           10000,           100000,
    1000000,     10000000,     60000000,      600000000,      3600000000,      21600000000,
    86400000000, 864000000000, 8640000000000, 86400000000000, 864000000000000, 8640000000000000,
};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

typedef struct time_chart {
    id_stream stream;
    firn_scheme scheme;
    uint64_t ids, others; /* others: they do not fit the scheme */
    size_t length;        /* of a bin: index in `lengths` */
    int64_t first;        /* the number of the first bin, counted from 1970 */
    size_t count;         /* bins in use; the first and the last are not empty */
    uint64_t bins[BINS];
    int64_t from_us, to_us; /* the earliest and the latest time */
} time_chart;

/* ---- bins ------------------------------------------------------------------------------------ */

static int64_t floor_of(int64_t us, int64_t length) {
    return us / length - (us % length < 0);
}

/* Makes bins longer, by the next factor. */
static void lengthen(time_chart *chart) {
    const int64_t factor = lengths[chart->length + 1] / lengths[chart->length];
    const int64_t first = floor_of(chart->first, factor);
    size_t count = 0;
    for (size_t i = 0; i < chart->count; i++) {
        const size_t end = (size_t)(floor_of(chart->first + (int64_t)i, factor) - first);
        const uint64_t some = chart->bins[i];
        chart->bins[i] = 0;
        chart->bins[end] += some;
        count = end + 1;
    }
    chart->first = first;
    chart->count = count;
    chart->length++;
}

static void add(time_chart *chart, int64_t us) {
    chart->from_us = chart->ids == 0 || us < chart->from_us ? us : chart->from_us;
    chart->to_us = chart->ids == 0 || us > chart->to_us ? us : chart->to_us;
    chart->ids++;
    for (;;) {
        const int64_t bin = floor_of(us, lengths[chart->length]);
        if (chart->count == 0) {
            chart->first = bin;
            chart->count = 1;
        }
        const int64_t first = bin < chart->first ? bin : chart->first;
        const int64_t last = chart->first + (int64_t)chart->count - 1;
        const uint64_t count = (uint64_t)(bin > last ? bin : last) - (uint64_t)first + 1;
        if (count <= BINS) {
            const size_t moved = (size_t)(chart->first - first);
            if (moved > 0) {
                memmove(chart->bins + moved, chart->bins, chart->count * sizeof *chart->bins);
                memset(chart->bins, 0,
                       (moved < chart->count ? moved : chart->count) * sizeof *chart->bins);
            }
            chart->first = first;
            chart->count = (size_t)count;
            chart->bins[bin - first]++;
            return;
        }
        lengthen(chart);
    }
}

/* The time of an ID in us, which are enough for 292000 years. */
static bool time_of(const time_chart *chart, const firn_id *id, int64_t *us) {
    firn_time time;
    if (id_time(&time, &chart->scheme, id) <= 0 || time.sec > INT64_MAX / 1000000 - 1 ||
        time.sec < INT64_MIN / 1000000 + 1) {
        return false;
    }
    *us = time.sec * 1000000 + time.ns / 1000;
    return true;
}

/* The scheme of an unnamed stream: what its first ID fits best. */
static int learn(time_chart *chart, const firn_id *first, firn_error *error) {
    firn_reading readings[FIRN_READINGS_MAX];
    char text[FIRN_TEXT_SIZE + 2];
    if (chart->stream.reader.named) {
        chart->scheme = chart->stream.reader.scheme;
    } else {
        stream_text(text, &chart->stream, first);
        if (firn_guess(readings, text, strlen(text), chart->stream.form) == 0) {
            return set_error(error, FIRN_EUSAGE,
                             "the IDs are not of a known scheme: add --scheme NAME");
        }
        chart->scheme = *readings[0].scheme;
    }
    return scheme_index(&chart->scheme, FIRN_ROLE_TIME) >= 0
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE, "IDs of %s have no time: leave --chart out",
                           chart->scheme.name);
}

static int take(void *context, const id_batch *batch, bool *stop, firn_error *error) {
    time_chart *chart = context;
    int code = FIRN_OK;
    (void)stop;
    for (size_t i = 0; i < batch->count && code == FIRN_OK; i++) {
        const firn_id *id = &batch->ids[i];
        int64_t us;
        if (id->bits == 0) {
            continue; /* a bad line */
        }
        code = chart->scheme.bits == 0 ? learn(chart, id, error) : FIRN_OK;
        if (code == FIRN_OK && time_of(chart, id, &us)) {
            add(chart, us);
        } else {
            chart->others++;
        }
    }
    return code;
}

/* ---- the chart ------------------------------------------------------------------------------- */

static size_t terminal_width(void) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return WIDTH;
    }
    return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col > WIDTH_MAX ? WIDTH_MAX : size.ws_col;
}

/* Whether the terminal shows UTF-8, by the variables that choose the encoding. */
static bool is_utf8(void) {
    const char *value = getenv("LC_ALL");
    value = value == NULL || value[0] == '\0' ? getenv("LC_CTYPE") : value;
    value = value == NULL || value[0] == '\0' ? getenv("LANG") : value;
    return value != NULL &&
           (strcasestr(value, "UTF-8") != NULL || strcasestr(value, "UTF8") != NULL);
}

static char *time_text(char text[FIRN_TIME_SIZE], const time_chart *chart, int64_t us) {
    const int64_t sec = floor_of(us, 1000000);
    const firn_time time = {sec, (int32_t)(us - sec * 1000000) * 1000};
    return firn_time_format(
        text, &time,
        firn_scheme_digits(&chart->scheme) > 6 ? 6 : firn_scheme_digits(&chart->scheme));
}

/* The columns: sums of as many bins as they need to fit the width. */
typedef struct columns {
    uint64_t value[WIDTH_MAX];
    size_t count, bins, peak; /* bins of a column; the column with the greatest value */
    size_t wide;              /* characters of a column */
    double seconds;           /* of a column */
} columns;

static void make_columns(columns *out, const time_chart *chart, size_t room) {
    memset(out, 0, sizeof *out);
    out->bins = (chart->count + room - 1) / room;
    out->count = (chart->count + out->bins - 1) / out->bins;
    out->wide = room / out->count > WIDEN ? WIDEN : room / out->count;
    out->seconds = (double)out->bins * (double)lengths[chart->length] / 1e6;
    for (size_t i = 0; i < chart->count; i++) {
        out->value[i / out->bins] += chart->bins[i];
    }
    for (size_t i = 0; i < out->count; i++) {
        out->peak = out->value[i] > out->value[out->peak] ? i : out->peak;
    }
}

/* How much of a column is in a row, counted from the top; a column that is not empty shows at the
 * bottom. */
static size_t eighths_of(const columns *shown, size_t column, size_t row) {
    const double value = (double)shown->value[column];
    double level = value / (double)shown->value[shown->peak] * ROWS * 8;
    level = value > 0 && level < 1 ? 1 : level;
    const double part = level - (double)(ROWS - 1 - row) * 8;
    return part <= 0 ? 0 : part >= 8 ? 8 : (size_t)(part + 0.5);
}

static void put_row(session *s, const columns *shown, size_t row, bool utf8) {
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {" ", ".", ".", ".", ":", ":", ":", "#", "#"};
    const uint64_t most = shown->value[shown->peak];
    size_t last = shown->count;
    char label[32] = "";
    if (row == 0 || row == ROWS - 1) {
        snprintf(label, sizeof label, "%" PRIu64, row == 0 ? most : 0);
    }
    while (last > 0 && eighths_of(shown, last - 1, row) == 0) {
        last--; /* no blanks at the end of a line */
    }
    output_print(&s->out, "%*s %s", LABEL - 1, label, color_of(s, TONE_BLUE));
    for (size_t i = 0; i < last; i++) {
        const size_t eighths = eighths_of(shown, i, row);
        for (size_t j = 0; j < shown->wide; j++) {
            output_text(&s->out, utf8 ? blocks[eighths] : ascii[eighths]);
        }
    }
    output_print(&s->out, "%s\n", color_plain(s));
}

static void put_human(session *s, const time_chart *chart) {
    static columns shown;
    char from[FIRN_TIME_SIZE], to[FIRN_TIME_SIZE], peak[FIRN_TIME_SIZE], text[DURATION_SIZE];
    if (chart->ids == 0) {
        output_text(&s->out, "no ID\n");
        return;
    }
    make_columns(&shown, chart, terminal_width() - LABEL);
    output_print(&s->out, "%" PRIu64 " ID%s of %s\n", chart->ids, plural(chart->ids),
                 describe_name(&chart->scheme));
    const bool utf8 = is_utf8();
    for (size_t row = 0; row < ROWS; row++) {
        put_row(s, &shown, row, utf8);
    }
    const int64_t column = (int64_t)shown.bins * lengths[chart->length];
    output_print(&s->out, "%*s %s to %s\n", LABEL - 1, "", time_text(from, chart, chart->from_us),
                 time_text(to, chart, chart->to_us));
    output_print(&s->out, "%*s one column is %s; highest: %" PRIu64 ", from %s\n", LABEL - 1, "",
                 duration_text(text, shown.seconds), shown.value[shown.peak],
                 time_text(peak, chart,
                           chart->first * lengths[chart->length] + (int64_t)shown.peak * column));
    if (chart->others + chart->stream.bad > 0) {
        output_print(&s->out, "%*s not in the chart: %" PRIu64 " line%s of other text\n", LABEL - 1,
                     "", chart->others + chart->stream.bad,
                     plural(chart->others + chart->stream.bad));
    }
}

static void put_json(output *out, const time_chart *chart) {
    char from[FIRN_TIME_SIZE], to[FIRN_TIME_SIZE];
    json_t *list = json_array();
    for (size_t i = 0; i < chart->count; i++) {
        char text[FIRN_TIME_SIZE];
        json_array_append_new(
            list,
            json_pack("{s:s, s:I}", "time",
                      time_text(text, chart, (chart->first + (int64_t)i) * lengths[chart->length]),
                      "ids", (json_int_t)chart->bins[i]));
    }
    json_line(out,
              json_pack("{s:s?, s:I, s:I, s:s?, s:s?, s:f, s:o}", "scheme",
                        chart->ids > 0 ? chart->scheme.name : NULL, "ids", (json_int_t)chart->ids,
                        "bad", (json_int_t)(chart->others + chart->stream.bad), "first",
                        chart->ids > 0 ? time_text(from, chart, chart->from_us) : NULL, "last",
                        chart->ids > 0 ? time_text(to, chart, chart->to_us) : NULL, "bin_s",
                        (double)lengths[chart->length] / 1e6, "bins", list));
}

int chart_run(session *s) {
    static time_chart chart; /* static for its size */
    firn_error error;
    int status = stream_open(s, &chart.stream, s->operands, s->operand_count);
    if (status != STATUS_DONE) {
        return status;
    }
    if (stream_each(&chart.stream, NULL, take, &chart, &error) != FIRN_OK) {
        status = fail(s, &error);
    } else if (s->option[OPTION_JSON] != NULL) {
        put_json(&s->out, &chart);
    } else {
        put_human(s, &chart);
    }
    status = status == STATUS_DONE && chart.others + chart.stream.bad > 0 ? STATUS_NO : status;
    stream_close(&chart.stream);
    return status;
}
