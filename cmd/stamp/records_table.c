/* SPDX-License-Identifier: MIT */
/* Tables: CSV as RFC 4180 has it, and TSV, which knows no quotes. Records without a quote, nearly
 * all, are cut in one pass, many bytes at a time; the others field by field. A record of another
 * width than the header's, or with quotes that RFC 4180 does not know, is bad: it may mean
 * something else. */
#include "bytes.h"
#include "command.h"
#include "records.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A field without its quotes. */
typedef struct field {
    const char *text;
    size_t length;
    bool quoted;
} field;

/* The contents of a record. */
typedef struct cut_record {
    size_t count; /* of fields */
    field time, id;
    const char *why; /* what RFC 4180 does not allow, or NULL */
    field fields[RECORDS_FIELDS];
} cut_record;

/* ---- field by field ------------------------------------------------------------------------- */

enum stop { STOP_FIELD, STOP_RECORD, STOP_TEXT, STOP_OPEN };

/* The quote that closes a field; NULL: not read yet. */
static const char *find_close(const char *position, const char *end, bool last) {
    while (position < end && (position = memchr(position, '"', (size_t)(end - position))) != NULL) {
        if (position + 1 == end) {
            return last ? position : NULL;
        }
        if (position[1] != '"') {
            return position;
        }
        position += 2;
    }
    return NULL;
}

/* Reads the field at *position and skips its delimiter. */
static enum stop read_field(const char **position, const char *end, const records_plan *plan,
                            bool last, field *f, const char **why) {
    const bool quotes = plan->format == &records_csv;
    const char delimiter = plan->delimiter[0], *p = *position;
    f->quoted = quotes && p < end && *p == '"';
    f->text = p + f->quoted;
    if (f->quoted) {
        const char *close = find_close(f->text, end, last);
        if (close == NULL) {
            return STOP_OPEN;
        }
        f->length = (size_t)(close - f->text);
        p = close + 1;
    }
    const char *rest = p;
    while (p < end && *p != delimiter && *p != '\n') {
        if (quotes && *p == '"') {
            *why = "a field without quotes contains a quote: quote the field and double the quote";
        }
        p++;
    }
    const char *stop = p;
    if (p < end && *p == '\n' && p > rest && p[-1] == '\r') {
        stop--;
    }
    if (f->quoted && stop > rest) {
        *why = "text follows a closing quote: double the quote if it belongs to the field";
    }
    if (memchr(rest, '\r', (size_t)(stop - rest)) != NULL) {
        *why = "a carriage return is not at the end of a line: quote the field";
    }
    if (!f->quoted) {
        f->length = (size_t)(stop - f->text);
    }
    *position = p + (p < end);
    return p == end ? STOP_TEXT : *p == '\n' ? STOP_RECORD : STOP_FIELD;
}

static inline void end_field(const records_plan *plan, cut_record *cells, field f) {
    if (cells->count == plan->time_index) {
        cells->time = f;
    }
    if (cells->count == plan->id_index) {
        cells->id = f;
    }
    cells->count++;
}

/* Any record. Returns its size, or 0: it is not all there. */
static size_t cut_fields(const records_plan *plan, const char *text, size_t length, bool last,
                         cut_record *cells, bool *open) {
    const char *position = text, *end = text + length;
    for (;;) {
        field f = {0};
        enum stop stop = read_field(&position, end, plan, last, &f, &cells->why);
        if (stop == STOP_OPEN || (stop == STOP_TEXT && !last)) {
            *open = stop == STOP_OPEN && last;
            return 0;
        }
        for (size_t i = 0; i < plan->field_count; i++) {
            if (cells->count == plan->field_index[i]) {
                cells->fields[i] = f;
            }
        }
        end_field(plan, cells, f);
        if (stop != STOP_FIELD) {
            return (size_t)(position - text);
        }
    }
}

/* ---- many bytes at a time ------------------------------------------------------------------- */

/* Marks the delimiter, the quote, and the control characters up to the carriage return: the others
 * are text. */
static inline uint64_t find_marks(const char *text, char delimiter, char quote) {
    const bytes all = bytes_load(text);
    const bytes sign = bytes_or(bytes_equal(all, delimiter), bytes_equal(all, quote));
    return bytes_marks(bytes_or(bytes_below(all, '\r' + 1), sign));
}

/* A record without quotes, zero bytes or carriage returns, except in its line end: all fields
 * in one pass. Returns its size, or 0: it is another, or its end is not among the last few
 * bytes. */
static size_t cut_plain(const records_plan *plan, const char *text, size_t length,
                        cut_record *cells) {
    const char delimiter = plan->delimiter[0], quote = plan->format == &records_csv ? '"' : '\n';
    const char *start = text;
    for (size_t i = 0; i + BYTES_STEP <= length; i += BYTES_STEP) {
        uint64_t marks = find_marks(text + i, delimiter, quote);
        for (; marks != 0; marks &= marks - 1) {
            const char *position = text + i + bytes_first(marks);
            if (*position == delimiter) {
                end_field(plan, cells, (field){start, (size_t)(position - start), false});
                start = position + 1;
            } else if (*position == '\n') {
                const char *end = position > text && position[-1] == '\r' ? position - 1 : position;
                end_field(plan, cells, (field){start, (size_t)(end - start), false});
                return (size_t)(position - text) + 1;
            } else if (*position == quote || *position == '\0' ||
                       (*position == '\r' &&
                        (position + 1 == text + length || position[1] != '\n'))) {
                return 0;
            }
        }
    }
    return 0;
}

/* ---- records --------------------------------------------------------------------------------- */

static size_t cut(const records_plan *plan, const char *text, size_t length, bool last,
                  cut_record *cells, record *r, firn_error *error, int *code) {
    bool open = false;
    *cells = (cut_record){0};
    *code = FIRN_OK;
    size_t size = cut_fields(plan, text, length, last, cells, &open);
    if (open) {
        r->fatal = true;
        *code = set_error(error, FIRN_ETEXT, "a quoted field has no closing quote: add it");
    }
    return size;
}

static int check_bytes(const char *text, size_t size, const cut_record *cells, firn_error *error) {
    int code = records_no_zero(text, size, error);
    return code != FIRN_OK || cells->why == NULL ? code
                                                 : set_error(error, FIRN_ETEXT, "%s", cells->why);
}

/* The first record sets the width of a table without a header. */
static int check_width(records_plan *plan, size_t count, record *r, firn_error *error) {
    if (plan->width == 0) {
        plan->width = count;
    }
    const char *missing = plan->time_index >= plan->width ? plan->time : NULL;
    for (size_t i = plan->field_count; i-- > 0;) {
        missing = plan->field_index[i] >= plan->width ? plan->field[i] : missing;
    }
    if (missing != NULL) {
        r->fatal = true;
        return set_error(error, FIRN_EUSAGE, "there is no column %s: the first record has %zu",
                         missing, plan->width);
    }
    if (count == 1 && plan->width > 1 && r->size <= 2) {
        return set_error(error, FIRN_ETEXT, "the line is blank: remove it, or use --on-error skip");
    }
    if (count != plan->width) {
        return set_error(
            error, FIRN_ETEXT, "the record has %zu field%s, not %zu: is a delimiter %s", count,
            count == 1 ? "" : "s", plan->width, count < plan->width ? "missing" : "not quoted");
    }
    return FIRN_OK;
}

static void place_id(const records_plan *plan, const char *text, const cut_record *cells,
                     record *r) {
    bool added = plan->id_index == RECORDS_NONE;
    r->placed = added || cells->count == plan->width;
    if (!added && r->placed) {
        r->offset = (size_t)(cells->id.text - text);
        r->skip = cells->id.length;
    }
    r->before = "";
    r->after = r->nothing = !added ? "" : plan->delimiter;
}

/* Many editors and exports leave blank lines at the very end, which are not records. Elsewhere a
 * blank line is a bad record. */
static bool is_blank_end(const char *text, size_t length, bool last) {
    size_t position = 0;
    while (position < length) {
        size_t behind = position + (text[position] == '\r');
        if (behind == length && !last) {
            break; /* its newline may come yet */
        }
        if (behind == length || text[behind] != '\n') {
            return false;
        }
        position = behind + 1;
    }
    return true;
}

static int read_record(records_plan *plan, const char *text, size_t length, bool last, record *r,
                       firn_error *error) {
    static cut_record cells; /* on the stack the compiler would zero all of it for each record */
    int code = FIRN_OK;
    if (is_blank_end(text, length, last)) {
        r->size = last ? length : 0; /* the following bytes decide whether it is the end */
        r->passes = last;
        return FIRN_OK;
    }
    memset(&cells, 0, offsetof(cut_record, fields));
    r->size = plan->field_count == 0 ? cut_plain(plan, text, length, &cells) : 0;
    r->lines = r->size > 0;
    if (r->size == 0) {
        r->size = cut(plan, text, length, last, &cells, r, error, &code);
    }
    if (r->size == 0) {
        return code;
    }
    code = check_width(plan, cells.count, r, error);
    place_id(plan, text, &cells, r);
    if (r->lines == 0 && !r->fatal && check_bytes(text, r->size, &cells, error) != FIRN_OK) {
        code = FIRN_ETEXT; /* which may be why the width is another */
    }
    r->time = cells.time.text;
    r->time_length = cells.time.length;
    for (size_t i = 0; i < plan->field_count; i++) {
        r->field[i].text = cells.fields[i].text;
        r->field[i].length = cells.fields[i].length;
    }
    r->cut = r->time != NULL && !cells.time.quoted && r->time + r->time_length == text + r->size;
    return code;
}

/* ---- the header ----------------------------------------------------------------------------- */

/* Is the field this name, its doubled quotes taken for one? */
static bool field_is(const field *f, const char *name) {
    size_t position = 0;
    for (size_t i = 0; i < f->length; i++, position++) {
        i += f->quoted && f->text[i] == '"';
        if (name[position] == '\0' || f->text[i] != name[position]) {
            return false;
        }
    }
    return name[position] == '\0';
}

/* The column of a name. FIRN_EUSAGE: there are two. */
static int find_column(const records_plan *plan, const char *text, size_t size, const char *name,
                       size_t *index, firn_error *error) {
    const char *position = text, *why = NULL;
    enum stop stop = STOP_FIELD;
    *index = RECORDS_NONE;
    for (size_t i = 0; stop == STOP_FIELD; i++) {
        field f = {0};
        stop = read_field(&position, text + size, plan, true, &f, &why);
        if (!field_is(&f, name)) {
            continue;
        }
        if (*index != RECORDS_NONE) {
            return set_error(
                error, FIRN_EUSAGE,
                "columns %zu and %zu are both called '%.40s': use the column number, or rename one",
                *index + 1, i + 1, name);
        }
        *index = i;
    }
    return FIRN_OK;
}

/* A column by its name, else by its number. */
static int find_named(const records_plan *plan, const char *text, size_t size, const char *name,
                      size_t *index, firn_error *error) {
    size_t number = records_number(name);
    int code = find_column(plan, text, size, name, index, error);
    if (code != FIRN_OK || *index != RECORDS_NONE) {
        return code;
    }
    if (number > plan->width) {
        return set_error(error, FIRN_EUSAGE, "there is no column %s: the header has %zu", name,
                         plan->width);
    }
    static const struct {
        char character;
        const char *name, *option;
    } others[] = {{';', ";", "';'"}, {'\t', "tabs", "tab"}, {'|', "|", "'|'"}, {',', ",", "','"}};
    const bool whole = number == 0 && memchr(text, plan->delimiter[0], size) == NULL;
    for (size_t i = 0; whole && i < sizeof others / sizeof *others; i++) {
        if (memchr(text, others[i].character, size) != NULL) {
            return set_error(error, FIRN_EUSAGE,
                             "there is no column '%.40s', and columns seem to be separated by %s: "
                             "add --delimiter %s",
                             name, others[i].name, others[i].option);
        }
    }
    if (number == 0) {
        int shown = (int)(size < 60 ? size - records_line_end(text, size) : 60);
        return set_error(error, FIRN_EUSAGE, "there is no column '%.40s': the header is %.*s%s",
                         name, shown, text, size > 60 ? "..." : "");
    }
    *index = number - 1;
    return FIRN_OK;
}

/* A name of a column is hardly ever a time: without a header the first record would be lost. */
static int check_names(const records_plan *plan, const char *text, size_t size, firn_error *error) {
    const char *position = text, *why = NULL;
    enum stop stop = STOP_FIELD;
    for (size_t i = 0; stop == STOP_FIELD; i++) {
        record_times m = *plan->moments; /* its counts stay as they are */
        field f = {0};
        firn_time time;
        firn_error unused;
        stop = read_field(&position, text + size, plan, true, &f, &why);
        bool dated = f.length >= 8 && (memchr(f.text, '-', f.length) != NULL ||
                                       memchr(f.text, ':', f.length) != NULL);
        if (f.length > 0 && (dated || i == plan->time_index) &&
            moments_read(&m, f.text, f.length, NULL, &time, &unused) == FIRN_OK) {
            return set_error(error, FIRN_EUSAGE,
                             "the first line seems to be data, since '%.*s' is a time: add "
                             "--no-header and --time %zu",
                             (int)(f.length < 40 ? f.length : 40), f.text, i + 1);
        }
    }
    return FIRN_OK;
}

static int find_columns(records_plan *plan, const char *text, size_t size, firn_error *error) {
    int code = find_named(plan, text, size, plan->time, &plan->time_index, error);
    for (size_t i = 0; i < plan->field_count && code == FIRN_OK; i++) {
        code = find_named(plan, text, size, plan->field[i], &plan->field_index[i], error);
    }
    return code == FIRN_OK ? check_names(plan, text, size, error) : code;
}

static int find_id(records_plan *plan, const char *text, size_t size, firn_error *error) {
    int code = find_column(plan, text, size, plan->id, &plan->id_index, error);
    if (code == FIRN_OK && plan->id_index != RECORDS_NONE && !plan->replace) {
        return set_error(error, FIRN_EUSAGE,
                         "column %zu is already called '%.40s': %suse --replace to overwrite it, "
                         "or another --id",
                         plan->id_index + 1, plan->id,
                         plan->id_index == 0 ? "the file seems to have IDs; " : "");
    }
    return code;
}

/* The new column's name and its delimiter. */
static int make_title(records_plan *plan, firn_error *error) {
    const char delimiter = plan->delimiter[0];
    const char special[] = {delimiter, '"', '\r', '\n', '\0'};
    const char *name = plan->id;
    size_t length = 0, most = sizeof plan->title / 2 - 3;
    bool quote = plan->format == &records_csv && strpbrk(name, special) != NULL;
    bool breaks = !quote && strpbrk(name, "\t\r\n") != NULL;
    if (name[0] == '\0' || strlen(name) > most || breaks) {
        return set_error(error, FIRN_EUSAGE,
                         "--id %.40s is not a valid column name: use 1 to %zu characters%s", name,
                         most, delimiter == '\t' ? " without tabs" : "");
    }
    for (; *name != '\0'; name++) {
        if (quote && length == 0) {
            plan->title[length++] = '"';
        }
        if (quote && *name == '"') {
            plan->title[length++] = '"';
        }
        plan->title[length++] = *name;
    }
    if (quote) {
        plan->title[length++] = '"';
    }
    plan->title[length++] = delimiter;
    plan->title_length = length;
    return FIRN_OK;
}

static int find_number(size_t *index, const char *option, const char *text, firn_error *error) {
    const size_t number = records_number(text);
    *index = number - 1;
    return number > 0 ? FIRN_OK
                      : set_error(error, FIRN_EUSAGE,
                                  "--%s %.40s is not a column number: without a header, columns "
                                  "are numbered from 1",
                                  option, text);
}

static int begin_bare(records_plan *plan, firn_error *error) {
    int code = find_number(&plan->time_index, "time", plan->time, error);
    for (size_t i = 0; i < plan->field_count && code == FIRN_OK; i++) {
        code = find_number(&plan->field_index[i], "field", plan->field[i], error);
    }
    return code;
}

static int begin(records_plan *plan, const char *text, size_t length, bool last, record *r,
                 firn_error *error) {
    cut_record cells;
    int code;
    plan->time_index = plan->id_index = RECORDS_NONE;
    plan->delimiter[0] =
        plan->wanted_delimiter != 0 ? plan->wanted_delimiter : plan->format->delimiter;
    if (plan->time == NULL) {
        return set_error(
            error, FIRN_EUSAGE,
            "stamp needs --time: give the name or number of the column that has the time");
    }
    if (!plan->header) {
        return begin_bare(plan, error);
    }
    r->size = cut(plan, text, length, last, &cells, r, error, &code);
    if (r->size == 0) {
        return code != FIRN_OK || !last
                   ? code
                   : set_error(error, FIRN_ETEXT,
                               "the file is empty: add a header, or --no-header");
    }
    plan->width = cells.count;
    code = check_bytes(text, r->size, &cells, error);
    if (code == FIRN_OK) {
        code = find_columns(plan, text, r->size, error);
    }
    if (code == FIRN_OK) {
        code = find_id(plan, text, r->size, error);
    }
    return code == FIRN_OK && plan->id_index == RECORDS_NONE ? make_title(plan, error) : code;
}

const records_format records_csv = {"csv", " .csv ", ',', begin, read_record};
const records_format records_tsv = {"tsv", " .tsv .tab ", '\t', begin, read_record};
