/* SPDX-License-Identifier: MIT */
/* The form of a series' numbers: its template, the periods in which its counter restarts, and the
 * texts. A text has one length for each number of counter digits, and it names the period, so two
 * numbers of one series are never the same text. */
#include "series.h"

#include "calendar.h"
#include "check_digits.h"
#include "error.h"
#include "keys.h"
#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum part_kind {
    PART_LITERAL,
    PART_YEAR,
    PART_MONTH,
    PART_DAY,
    PART_WEEKYEAR,
    PART_WEEK,
    PART_YEARDAY,
    PART_COUNTER,
    PART_CHECK
};

enum { DAY_1 = 719162 }; /* days from 0001-01-01, a Monday, to 1970-01-01 */

/* The parts that have a name; a check has the check digits' kind, too. */
static const struct {
    const char *name;
    uint8_t kind, width;
    int check;
} known_parts[] = {{"year", PART_YEAR, 4, 0},
                   {"month", PART_MONTH, 2, 0},
                   {"day", PART_DAY, 2, 0},
                   {"weekyear", PART_WEEKYEAR, 4, 0},
                   {"week", PART_WEEK, 2, 0},
                   {"yearday", PART_YEARDAY, 3, 0},
                   {"counter", PART_COUNTER, 0, 0},
                   {"damm", PART_CHECK, 1, FIRN__CHECK_DAMM},
                   {"luhn", PART_CHECK, 1, FIRN__CHECK_LUHN},
                   {"mod97", PART_CHECK, 2, FIRN__CHECK_MOD97}};
#define PART_NAMES                                                                                 \
    "{year}, {month}, {day}, {weekyear}, {week}, {yearday}, {counter:N}, {damm}, {luhn} or "       \
    "{mod97}"

/* ---- reading a template ---------------------------------------------------------------------- */

static bool has_part(const firn__series_form *form, uint8_t kind) {
    for (size_t i = 0; i < form->count; i++) {
        if (form->parts[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static int add_part(firn__series_form *form, firn__series_part part, firn_error *error) {
    if (form->count == FIRN__SERIES_PARTS) {
        return firn__fail(error, FIRN_ERANGE, "the template has more than %d parts: use fewer",
                          FIRN__SERIES_PARTS);
    }
    if (part.kind != PART_LITERAL && has_part(form, part.kind)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "template %.100s has a part twice: remove one of them", form->template);
    }
    if (form->check != FIRN__CHECK_NONE && part.kind != PART_LITERAL) {
        return firn__fail(error, FIRN_EUSAGE,
                          "template %.100s has a part after its check digit: move the check digit "
                          "to the end",
                          form->template);
    }
    form->parts[form->count++] = part;
    form->length += part.width;
    return FIRN_OK;
}

static bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static int refuse_template(firn_error *error, size_t position, char c, const char *why) {
    char shown[5];
    snprintf(shown, sizeof shown, c >= ' ' && c <= '~' ? "%c" : "\\x%02x", (unsigned char)c);
    return firn__fail(error, FIRN_EUSAGE, "character %zu of the template is '%s': %s", position + 1,
                      shown, why);
}

/* Characters that are copied, up to a brace or the end. */
static int take_literal(firn__series_form *form, size_t *position, firn_error *error) {
    const size_t begin = *position;
    for (; form->template[*position] != '\0' && form->template[*position] != '{'; ++*position) {
        const char c = form->template[*position];
        if (!is_alphanumeric(c) && strchr("-/._:+#", c) == NULL) {
            return refuse_template(error, *position, c,
                                   "use letters, digits and - / . _ : + #, and parts such as "
                                   "{year} or {counter:6}");
        }
        if (form->check != FIRN__CHECK_NONE && is_alphanumeric(c)) {
            return refuse_template(error, *position, c,
                                   "only - / . _ : + # may follow the check digit");
        }
    }
    return add_part(form,
                    (firn__series_part){PART_LITERAL, (uint8_t)begin, (uint8_t)(*position - begin)},
                    error);
}

static int take_counter(firn__series_form *form, const char *digits, firn_error *error) {
    int64_t width = 0;
    if (digits[0] == '\0') {
        return firn__fail(error, FIRN_EUSAGE,
                          "{counter} has no number of digits: write {counter:6} for 6");
    }
    int code = firn__number_read(&width, "counter", digits, 1, FIRN__COUNTER_DIGITS, error);
    form->counter_digits = width;
    return code == FIRN_OK
               ? add_part(form, (firn__series_part){PART_COUNTER, 0, (uint8_t)width}, error)
               : code;
}

static int take_named(firn__series_form *form, const char *name, firn_error *error) {
    if (strncmp(name, "counter:", 8) == 0 || strcmp(name, "counter") == 0) {
        return take_counter(form, name + 7 + (name[7] == ':'), error);
    }
    if (strcmp(name, "yy") == 0 || strcmp(name, "year:2") == 0) {
        return firn__fail(error, FIRN_EUSAGE,
                          "{%s} does not name the century, so numbers would repeat: use {year}",
                          name);
    }
    for (size_t i = 0; i < sizeof known_parts / sizeof known_parts[0]; i++) {
        if (strcmp(name, known_parts[i].name) == 0) {
            int code = add_part(
                form, (firn__series_part){known_parts[i].kind, 0, known_parts[i].width}, error);
            form->check = code == FIRN_OK && known_parts[i].kind == PART_CHECK
                              ? known_parts[i].check
                              : form->check;
            return code;
        }
    }
    return firn__fail(error, FIRN_EUSAGE,
                      "a template has no part {" FIRN__VALUE("%.40s") "}: use " PART_NAMES, name);
}

static int take_brace(firn__series_form *form, size_t *position, firn_error *error) {
    char name[48];
    const char *begin = form->template + *position + 1;
    const size_t length = strcspn(begin, "}");
    if (begin[length] == '\0') {
        return refuse_template(error, *position, '{', "a } is missing");
    }
    snprintf(name, sizeof name, "%.*s", (int)length, begin);
    *position += length + 2;
    return take_named(form, name, error);
}

/* ---- which period a template names ----------------------------------------------------------- */

static bool names_day(const firn__series_form *form) {
    return has_part(form, PART_YEAR) && (has_part(form, PART_YEARDAY) ||
                                         (has_part(form, PART_MONTH) && has_part(form, PART_DAY)));
}

static bool names_period(const firn__series_form *form, int64_t restart) {
    switch (restart) {
    case FIRN__RESTART_DAY:
        return names_day(form);
    case FIRN__RESTART_WEEK:
        return has_part(form, PART_WEEK) || names_day(form);
    case FIRN__RESTART_MONTH:
        return (has_part(form, PART_YEAR) && has_part(form, PART_MONTH)) || names_day(form);
    case FIRN__RESTART_YEAR:
        return has_part(form, PART_YEAR);
    default:
        return true;
    }
}

/* The names of the periods and what a template needs for each, in the order of the list. */
static const struct {
    const char *name, *parts;
} restarts[] = {{"never", ""},
                {"day", "{year}, {month} and {day}, or {year} and {yearday}"},
                {"week", "{weekyear} and {week}"},
                {"month", "{year} and {month}"},
                {"year", "{year}"}};

static int check_period(firn__series_form *form, firn_error *error) {
    if (has_part(form, PART_WEEK) != has_part(form, PART_WEEKYEAR)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "template %.100s has %s: use {weekyear} and {week} together, since the "
                          "first and last days of a year can belong to a week of another",
                          form->template,
                          has_part(form, PART_WEEK) ? "{week} without {weekyear}"
                                                    : "{weekyear} without {week}");
    }
    for (int64_t i = FIRN__RESTART_DAY; form->restart < 0 && i <= FIRN__RESTART_YEAR; i++) {
        form->restart = names_period(form, i) ? i : -1;
    }
    if (form->restart < 0 &&
        (has_part(form, PART_MONTH) || has_part(form, PART_DAY) || has_part(form, PART_YEARDAY))) {
        return firn__fail(error, FIRN_EUSAGE,
                          "template %.100s has no {year}, so its counter would never restart: add "
                          "{year}, or restart=never",
                          form->template);
    }
    form->restart = form->restart < 0 ? FIRN__RESTART_NEVER : form->restart;
    if (!names_period(form, form->restart)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "template %.100s does not name its %s, so with restart=%s numbers would "
                          "repeat: add %s",
                          form->template, restarts[form->restart].name,
                          restarts[form->restart].name, restarts[form->restart].parts);
    }
    return FIRN_OK;
}

int firn__series_form_read(firn__series_form *form, const char *template, int64_t restart,
                           bool grow, firn_error *error) {
    int code = FIRN_OK;
    *form = (firn__series_form){.restart = restart};
    if (strlen(template) >= sizeof form->template) {
        return firn__fail(error, FIRN_ERANGE, "the template has %zu characters: use at most %d",
                          strlen(template), FIRN__TEMPLATE_SIZE - 1);
    }
    snprintf(form->template, sizeof form->template, "%s", template);
    for (size_t position = 0; code == FIRN_OK && form->template[position] != '\0';) {
        code = form->template[position] == '{' ? take_brace(form, &position, error)
                                               : take_literal(form, &position, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    if (!has_part(form, PART_COUNTER)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "template %.100s has no counter: add {counter:6} for one of 6 digits",
                          form->template);
    }
    const size_t more = grow ? (size_t)(FIRN__COUNTER_DIGITS - form->counter_digits) : 0;
    if (form->length + more >= FIRN_SERIES_SIZE) {
        return firn__fail(
            error, FIRN_ERANGE,
            "the numbers of this template have %zu characters: shorten it to at most %d",
            form->length + more, FIRN_SERIES_SIZE - 1);
    }
    form->counter_most = (int64_t)firn__power_of_ten(
                             (uint32_t)(grow ? FIRN__COUNTER_DIGITS : form->counter_digits)) -
                         1;
    return check_period(form, error);
}

/* ---- periods --------------------------------------------------------------------------------- */

bool firn__series_period(int64_t *period, const firn__series_form *form, int64_t day) {
    if (day < -DAY_1 || day > 2932896) { /* 9999-12-31 */
        return false;
    }
    const firn__date date = firn__date_of(day);
    switch (form->restart) {
    case FIRN__RESTART_DAY:
        *period = day + DAY_1;
        break;
    case FIRN__RESTART_WEEK:
        *period = (day + DAY_1) / 7;
        break;
    case FIRN__RESTART_MONTH:
        *period = date.year * 12 + date.month - 1;
        break;
    case FIRN__RESTART_YEAR:
        *period = date.year;
        break;
    default:
        *period = 0;
    }
    return true;
}

/* The day of a year, from 1. */
static int32_t day_of_year(int64_t day, int64_t year) {
    return (int32_t)(day - firn__days_of(&(firn__date){year, 1, 1})) + 1;
}

/* The year of the week that has a day, and the number of the week: as its Thursday has them. */
static int64_t week_year_of(int64_t day, int32_t *week) {
    const int64_t thursday = day - (day + DAY_1) % 7 + 3;
    const int64_t year = firn__date_of(thursday).year;
    *week = (day_of_year(thursday, year) - 1) / 7 + 1;
    return year;
}

char *firn__series_period_name(char name[FIRN__PERIOD_SIZE], const firn__series_form *form,
                               int64_t period) {
    int32_t week = 0;
    int64_t year;
    firn__date date;
    name[0] = '\0';
    switch (form->restart) {
    case FIRN__RESTART_DAY:
        date = firn__date_of(period - DAY_1);
        snprintf(name, FIRN__PERIOD_SIZE, "%04d-%02d-%02d", (int)date.year % 10000,
                 date.month % 100, date.day % 100);
        break;
    case FIRN__RESTART_WEEK:
        year = week_year_of(period * 7 - DAY_1, &week);
        snprintf(name, FIRN__PERIOD_SIZE, "%04d-W%02d", (int)year % 10000, week % 100);
        break;
    case FIRN__RESTART_MONTH:
        snprintf(name, FIRN__PERIOD_SIZE, "%04d-%02d", (int)(period / 12) % 10000,
                 (int)(period % 12) + 1);
        break;
    case FIRN__RESTART_YEAR:
        snprintf(name, FIRN__PERIOD_SIZE, "%04d", (int)period % 10000);
        break;
    default:
        break;
    }
    return name;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The number that a part of the date shows. */
static uint64_t part_of_day(uint8_t kind, int64_t day) {
    int32_t week;
    const firn__date date = firn__date_of(day);
    switch (kind) {
    case PART_YEAR:
        return (uint64_t)date.year;
    case PART_MONTH:
        return (uint64_t)date.month;
    case PART_DAY:
        return (uint64_t)date.day;
    case PART_WEEKYEAR:
        return (uint64_t)week_year_of(day, &week);
    case PART_WEEK:
        week_year_of(day, &week);
        return (uint64_t)week;
    default:
        return (uint64_t)day_of_year(day, date.year);
    }
}

/* A number in `width` digits or more; returns how many. */
static size_t put_filled(char *out, uint64_t number, size_t width) {
    char digits[24];
    const size_t length = firn__number_put(digits, number),
                 zeros = length < width ? width - length : 0;
    memset(out, '0', zeros);
    memcpy(out + zeros, digits, length);
    return zeros + length;
}

void firn__series_write(const firn__series_form *form, char text[FIRN_SERIES_SIZE], int64_t day,
                        int64_t counter) {
    size_t at = 0;
    for (size_t i = 0; i < form->count; i++) {
        const firn__series_part *part = &form->parts[i];
        if (part->kind == PART_LITERAL) {
            memcpy(text + at, form->template + part->from, part->width);
            at += part->width;
        } else if (part->kind == PART_CHECK) {
            at += put_filled(text + at, firn__check_of(form->check, text, at), part->width);
        } else {
            at += put_filled(text + at,
                             part->kind == PART_COUNTER ? (uint64_t)counter
                                                        : part_of_day(part->kind, day),
                             part->width);
        }
    }
    text[at] = '\0';
}

/* The values of the parts of a text. */
typedef struct series_reading {
    int64_t value[PART_CHECK + 1]; /* by kind */
    bool has[PART_CHECK + 1];
} series_reading;

static int take_digits_of(const char *text, size_t length, size_t at, size_t width, int64_t *value,
                          firn_error *error) {
    *value = 0;
    for (size_t i = 0; i < width; i++) {
        if (at + i >= length || text[at + i] < '0' || text[at + i] > '9') {
            return firn__refuse(error, text, length, at + i, "a decimal digit is needed");
        }
        *value = *value * 10 + (text[at + i] - '0');
    }
    return FIRN_OK;
}

static int take_literal_of(const firn__series_form *form, const firn__series_part *part,
                           const char *text, size_t length, size_t at, firn_error *error) {
    char why[48];
    for (size_t i = 0; i < part->width; i++) {
        const char wanted = form->template[part->from + i];
        if (at + i >= length || text[at + i] != wanted) {
            snprintf(why, sizeof why, "the numbers of this series have '%c' here", wanted);
            return firn__refuse(error, text, length, at + i, why);
        }
    }
    return FIRN_OK;
}

static bool is_of_day(const series_reading *read, int64_t day) {
    for (uint8_t kind = PART_YEAR; kind <= PART_YEARDAY; kind++) {
        if (read->has[kind] && part_of_day(kind, day) != (uint64_t)read->value[kind]) {
            return false;
        }
    }
    return true;
}

/* The first day of a week that the other parts name, or its last. */
static int64_t day_of_week(const series_reading *read) {
    /* 4 January is in the first week. */
    const int64_t day_4 = firn__days_of(&(firn__date){read->value[PART_WEEKYEAR], 1, 4});
    int64_t day = day_4 - (day_4 + DAY_1) % 7 + 7 * (read->value[PART_WEEK] - 1);
    for (int i = 0; i < 6 && !is_of_day(read, day); i++) {
        day++;
    }
    return day;
}

/* The day that the date parts name, or another day, if none does. */
static int64_t day_of_parts(const series_reading *read) {
    const int64_t *value = read->value;
    const int64_t year = read->has[PART_YEAR] ? value[PART_YEAR] : 2000;
    if (read->has[PART_WEEK]) {
        return day_of_week(read);
    }
    if (read->has[PART_YEARDAY]) {
        const int64_t day = firn__days_of(&(firn__date){year, 1, 1}) + value[PART_YEARDAY] - 1;
        return read->has[PART_YEAR] || is_of_day(read, day)
                   ? day
                   : firn__days_of(&(firn__date){2001, 1, 1}) + value[PART_YEARDAY] - 1;
    }
    const int64_t month = read->has[PART_MONTH] ? value[PART_MONTH] : 1;
    const int64_t date = read->has[PART_DAY] ? value[PART_DAY] : 1;
    return month < 1 || month > 12 || date < 1 || date > 31
               ? INT64_MAX
               : firn__days_of(&(firn__date){year, (int32_t)month, (int32_t)date});
}

static int check_date(const series_reading *read, firn_error *error) {
    const int64_t day = day_of_parts(read);
    return day >= -DAY_1 && day <= 2932896 && is_of_day(read, day)
               ? FIRN_OK
               : firn__fail(error, FIRN_ETEXT,
                            "the date of the number does not exist: check its "
                            "year, month, day and week");
}

int firn__series_read(const firn__series_form *form, int64_t *counter, int64_t *period,
                      const char *text, size_t length, firn_error *error) {
    series_reading read = {{0}, {false}};
    size_t at = 0, widest = (size_t)form->counter_digits;
    const size_t more = length > form->length ? length - form->length : 0;
    for (int64_t most = form->counter_most;
         most >= (int64_t)firn__power_of_ten((uint32_t)widest);) {
        widest++;
    }
    if (more > widest - (size_t)form->counter_digits) {
        return firn__refuse(error, text, length, form->length, "the number is too long");
    }
    for (size_t i = 0; i < form->count; i++) {
        const firn__series_part *part = &form->parts[i];
        const size_t width = part->width + (part->kind == PART_COUNTER ? more : 0);
        int code = part->kind == PART_LITERAL
                       ? take_literal_of(form, part, text, length, at, error)
                       : take_digits_of(text, length, at, width, &read.value[part->kind], error);
        if (code != FIRN_OK) {
            return code;
        }
        if (part->kind == PART_CHECK &&
            read.value[PART_CHECK] != (int64_t)firn__check_of(form->check, text, at)) {
            return firn__fail(error, FIRN_ETEXT,
                              "the check digit does not fit: compare the number with its source");
        }
        if (part->kind == PART_COUNTER && more > 0 && text[at] == '0') {
            return firn__refuse(error, text, length, at, "a longer counter does not begin with 0");
        }
        read.has[part->kind] = true;
        at += width;
    }
    int code = check_date(&read, error);
    if (code == FIRN_OK && read.value[PART_COUNTER] == 0 && !form->masked) {
        code = firn__fail(error, FIRN_ETEXT, "the counter is 0: the first number has 1");
    }
    if (code == FIRN_OK) {
        *counter = read.value[PART_COUNTER];
        firn__series_period(period, form, day_of_parts(&read));
    }
    return code;
}
