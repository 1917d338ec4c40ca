/* SPDX-License-Identifier: MIT */
/* Series: dated numbers whose counter restarts in each period. A period's counters are slots of a
 * key in the namespace of the series: the number of the period, then 40 bits of the counter. So a
 * mark that is in a later period closes an earlier one in the store, for any clock values.
 * late=L: period p has the key p modulo L + 1, so p + L + 1 closes it. */
#include "series.h"

#include "calendar.h"
#include "clock.h"
#include "error.h"
#include "hkdf.h"
#include "instant.h"
#include "keys.h"
#include "mask_key.h"
#include "nearest.h"
#include "segment.h"
#include "zone.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SKEW_S = 2, /* between the clocks of a store's machines */
    FOLD_S =
        26 * 3600, /* how long ago a clock may have been set back, and still repeat local time */
    BLOCK_MOST = 1000000,
    MASKED_LEAST = 6, /* digits: NIST SP 800-38G allows a million values and more */
    PRINT_SIZE = 9
};
#define COUNTERS (INT64_C(1) << FIRN__COUNTER_BITS)

struct firn_series {
    firn_store *store;
    const firn_clock *clock;
    firn_zone *zone;
    firn__series_form form;
    int64_t late, block;
    char name[FIRN_KEY_SIZE], ns[FIRN_NS_SIZE];
    char layout[FIRN_LAYOUT_SIZE]; /* "series ", and the definition */
    firn_segment *segment;         /* the counters of a period: */
    int64_t period;
    int64_t closed_by; /* the period of the mark that refused the last request; -1: none did */
    /* masked counters: */
    char print[PRINT_SIZE]; /* of the key; "": the counters are not masked */
    bool has_key;
    uint8_t key[16];
};

static const char series_lead[] = "series ";

/* ---- the definition -------------------------------------------------------------------------- */

/* The keys as the caller or the store has them; NULL or -1: not set. */
typedef struct series_keys {
    const char *template, *zone, *key_file, *masked;
    int64_t restart, late, grow, block;
} series_keys;

static int read_series_pair(series_keys *keys, const firn__pair *pair, firn_error *error) {
    static const char *const names[] = {"template", "zone",     "restart", "late", "grow",
                                        "block",    "key_file", "masked",  NULL};
    if (strcmp(pair->name, "key_file") == 0) {
        keys->key_file = pair->value;
        return FIRN_OK;
    }
    if (strcmp(pair->name, "masked") == 0) {
        keys->masked = pair->value;
        return strlen(pair->value) == PRINT_SIZE - 1
                   ? FIRN_OK
                   : firn__fail(error, FIRN_EUSAGE,
                                "masked=%.40s is not the fingerprint of a key: use key_file=FILE",
                                pair->value);
    }
    if (strcmp(pair->name, "template") == 0) {
        keys->template = pair->value;
        return FIRN_OK;
    }
    if (strcmp(pair->name, "zone") == 0) {
        keys->zone = pair->value;
        return FIRN_OK;
    }
    if (strcmp(pair->name, "restart") == 0) {
        return firn__choice_read(&keys->restart, "restart", pair->value, FIRN__RESTARTS, error);
    }
    if (strcmp(pair->name, "late") == 0) {
        return firn__number_read(&keys->late, "late", pair->value, 0, 366, error);
    }
    if (strcmp(pair->name, "grow") == 0) {
        return firn__choice_read(&keys->grow, "grow", pair->value, "0 1", error);
    }
    if (strcmp(pair->name, "block") == 0) {
        return firn__number_read(&keys->block, "block", pair->value, 1, BLOCK_MOST, error);
    }
    return firn__refuse_unknown(error, "a series", "has no key", pair->name, names,
                                FIRN_CURE_LISTED,
                                "use template, zone, restart, late, grow, block or key_file");
}

static int read_series_keys(series_keys *keys, firn__keys *text_of, const char *text,
                            firn_error *error) {
    *keys = (series_keys){NULL, NULL, NULL, NULL, -1, -1, -1, -1};
    int code = firn__keys_split(text_of, text, error);
    for (size_t i = 0; code == FIRN_OK && i < text_of->field_count; i++) {
        code = read_series_pair(keys, &text_of->fields[i], error);
    }
    return code;
}

static int64_t or_else(int64_t value, int64_t preset) {
    return value >= 0 ? value : preset;
}

/* The label names all that makes it another key, so no key serves two constructions. */
static int derive_key(firn_series *series, const char *file, firn_error *error) {
    char label[160];
    uint8_t print[PRINT_SIZE / 2];
    firn__mask_key secret = {.number = ""};
    int code = firn__mask_key_read(&secret, file, error);
    if (code == FIRN_OK && secret.is_half) {
        code = firn__fail(error, FIRN_EUSAGE, "the key in %.80s has 32 hex digits: use one of 64",
                          file);
    }
    if (code == FIRN_OK) {
        const int length =
            snprintf(label, sizeof label, "fingerprint|firn-series-1|%" PRId64 "|%s|%s",
                     series->form.counter_digits, series->name, secret.number);
        static const size_t lead = sizeof "fingerprint|" - 1;
        firn__hkdf(print, sizeof print, secret.bytes, sizeof secret.bytes, label, (size_t)length);
        firn__hkdf(series->key, sizeof series->key, secret.bytes, sizeof secret.bytes, label + lead,
                   (size_t)length - lead);
        for (size_t i = 0; i < sizeof print; i++) {
            snprintf(series->print + 2 * i, 3, "%02x", print[i]);
        }
        series->has_key = true;
    }
    explicit_bzero(&secret, sizeof secret);
    return code;
}

/* The key of a masked series, as its definition has its fingerprint. */
static int take_key(firn_series *series, const series_keys *keys, bool grows, firn_error *error) {
    if (keys->key_file == NULL && keys->masked == NULL) {
        return FIRN_OK;
    }
    if (series->form.counter_digits < MASKED_LEAST || grows) {
        return firn__fail(error, FIRN_EUSAGE,
                          "a masked counter has at least %d digits and does not grow: use "
                          "{counter:%d} or more, and grow=0",
                          MASKED_LEAST, MASKED_LEAST);
    }
    series->form.masked = true;
    if (keys->key_file == NULL) {
        memcpy(series->print, keys->masked, sizeof series->print);
        return FIRN_OK;
    }
    int code = derive_key(series, keys->key_file, error);
    if (code == FIRN_OK && keys->masked != NULL && strcmp(keys->masked, series->print) != 0) {
        code = firn__fail(error, FIRN_EUSAGE,
                          "the key of series %.63s has fingerprint %.8s, not " FIRN__VALUE(
                              "%.8s") ": use the key that it has had",
                          series->name, keys->masked, series->print);
    }
    return code;
}

/* The definition that the keys make, and its text. */
static int define(firn_series *series, const series_keys *keys, firn_error *error) {
    static const char *const restarts[] = {"never", "day", "week", "month", "year"};
    const char *zone = keys->zone != NULL ? keys->zone : "UTC";
    const int64_t grow = or_else(keys->grow, 0);
    int code =
        firn__series_form_read(&series->form, keys->template, keys->restart, grow == 1, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = take_key(series, keys, grow == 1, error);
    if (code != FIRN_OK) {
        return code;
    }
    series->late = or_else(keys->late, 0);
    snprintf(series->layout, sizeof series->layout,
             "%stemplate=%s zone=%.63s restart=%s late=%" PRId64 " grow=%" PRId64 "%s%s",
             series_lead, keys->template, zone, restarts[series->form.restart], series->late, grow,
             series->form.masked ? " masked=" : "", series->print);
    return firn_zone_open(&series->zone, zone, error);
}

/* The records of a series in a listing. */
typedef struct series_look {
    const char *key;
    bool found;
    char layout[FIRN_LAYOUT_SIZE];
    int64_t floor, high; /* high 0: the key has no mark */
    int64_t latest;      /* of the marks of all keys, and of the floor */
} series_look;

static int64_t later_slot(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int see_series(void *context, const firn_holding *holding) {
    series_look *look = context;
    look->found = true;
    snprintf(look->layout, sizeof look->layout, "%s", holding->layout);
    look->floor = holding->floor;
    look->latest = later_slot(look->latest, later_slot(holding->floor, holding->mark.high));
    if (look->key != NULL && strcmp(holding->key, look->key) == 0) {
        look->high = holding->mark.high;
    }
    return 0;
}

/* The definition that the store has. A closed one is read, too: the store then refuses numbers. */
static int load_definition(firn_series *series, const char *key_file, firn_error *error) {
    series_look look = {.found = false};
    series_keys keys;
    firn__keys text_of;
    int code = firn_store_list(series->store, series->ns, see_series, &look, error);
    if (code != FIRN_OK) {
        return code;
    }
    const char *definition = strstr(look.layout, "series template=");
    if (definition == NULL) {
        return firn__fail(
            error, FIRN_EUSAGE,
            "the store has no series " FIRN__VALUE(
                "%.63s") ": define it with "
                         "template=, such as template={year}-{month}-{day}-{counter:6}",
            series->name);
    }
    code = read_series_keys(&keys, &text_of, definition + sizeof series_lead - 1, error);
    if (code == FIRN_OK && key_file != NULL && keys.masked == NULL) {
        return firn__fail(
            error, FIRN_EUSAGE,
            "the counters of series %.63s are not masked: remove key_file=", series->name);
    }
    keys.key_file = key_file;
    return code == FIRN_OK ? define(series, &keys, error) : code;
}

static int open_definition(firn_series *series, const char *text, firn_error *error) {
    series_keys keys;
    firn__keys text_of;
    int code = read_series_keys(&keys, &text_of, text, error);
    if (code != FIRN_OK) {
        return code;
    }
    series->block = or_else(keys.block, 1);
    if (keys.template != NULL) {
        return define(series, &keys, error);
    }
    if (keys.zone != NULL || keys.restart >= 0 || keys.late >= 0 || keys.grow >= 0) {
        return firn__fail(error, FIRN_EUSAGE,
                          "zone, restart, late and grow belong to a template: set template=, or "
                          "leave them out for the definition that the store has");
    }
    return load_definition(series, keys.key_file, error);
}

static void free_series(firn_series *series) {
    firn_zone_close(series->zone);
    explicit_bzero(series->key, sizeof series->key);
    free(series);
}

int firn_series_open(firn_series **out, const char *name, const char *keys, firn_store *store,
                     const firn_clock *clock, firn_error *error) {
    firn_series *series = calloc(1, sizeof *series);
    if (series == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a series");
    }
    series->store = store;
    series->clock = clock != NULL ? clock : &firn__clock_system;
    int code = firn__name_check(name, "a series", error);
    if (code == FIRN_OK) {
        snprintf(series->name, sizeof series->name, "%s", name);
        snprintf(series->ns, sizeof series->ns, "%s%s", series_lead, name);
        code = open_definition(series, keys, error);
    }
    if (code != FIRN_OK) {
        free_series(series);
        return code;
    }
    *out = series;
    return FIRN_OK;
}

const char *firn_series_definition(const firn_series *series) {
    return series->layout + sizeof series_lead - 1;
}

int firn_series_close(firn_series *series, firn_error *error) {
    if (series == NULL) {
        return FIRN_OK;
    }
    int code = firn_segment_close(series->segment, error);
    free_series(series);
    return code;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* The local day at a time, and its period. */
static int day_at(const firn_series *series, int64_t sec, int64_t *day, int64_t *period,
                  firn_error *error) {
    if (sec < -INT64_C(100000000000) || sec > INT64_C(1000000000000)) {
        sec = INT64_C(1000000000000); /* far from every year of four digits */
    }
    *day = firn__floor_div(sec + firn_zone_offset(series->zone, sec), FIRN__DAY_S);
    return firn__series_period(period, &series->form, *day)
               ? FIRN_OK
               : firn__fail(error, FIRN_ERANGE,
                            "series %.63s needs a time of the years 1 to 9999: use such a time",
                            series->name);
}

static int read_wall(const firn_series *series, int64_t *now, firn_error *error) {
    firn_time time = {0};
    if (series->clock->wall(series->clock->self, &time) != FIRN_OK) {
        return firn__clock_refused(series->clock, error);
    }
    *now = time.sec;
    return FIRN_OK;
}

/* A period that has not begun by a clock: it would close those before it. */
static int refuse_future(const firn_series *series, int64_t period, int64_t latest,
                         const char *whose, int code, firn_error *error) {
    char wanted[FIRN__PERIOD_SIZE], present[FIRN__PERIOD_SIZE];
    firn__series_period_name(wanted, &series->form, period);
    firn__series_period_name(present, &series->form, latest);
    return firn__fail(error, code,
                      "period " FIRN__VALUE("%s") " of series %.63s has not begun, since %s clock "
                                                  "is in " FIRN__LIMIT("%.15s") ": %s",
                      wanted, series->name, whose, present,
                      code == FIRN_ECLOCK ? "fix the wrong clock" : "use an earlier time");
}

/* The period of a shared store's clock, `ahead` seconds later. FIRN_ESYSTEM: the store has no clock
 * but this machine's. */
static int stored_period(const firn_series *series, int64_t ahead, int64_t *period,
                         firn_error *error) {
    firn_time now = {0};
    int64_t day;
    int code = firn_store_now(series->store, &now, error);
    return code == FIRN_OK ? day_at(series, now.sec + ahead, &day, period, error) : code;
}

/* A wrong clock must not close the periods up to its time, so the clock of a shared store must
 * agree. */
static int ask_store(const firn_series *series, int64_t period, firn_error *error) {
    int64_t latest;
    int code = stored_period(series, SKEW_S, &latest, error);
    return code == FIRN_ESYSTEM ? FIRN_OK
           : code == FIRN_OK && period > latest
               ? refuse_future(series, period, latest, "the store's", FIRN_ECLOCK, error)
               : code;
}

/* ---- masked counters ------------------------------------------------------------------------- */

/* FF1 of the counter's digits, with the name of the period as tweak: each period has another
 * permutation. NULL: the counters are not masked. */
static int open_mask(firn_order **out, const firn_series *series, int64_t period,
                     firn_error *error) {
    char name[FIRN__PERIOD_SIZE], keys[80];
    *out = NULL;
    if (!series->form.masked) {
        return FIRN_OK;
    }
    if (!series->has_key) {
        return firn__fail(error, FIRN_EUSAGE,
                          "the counters of series %.63s are masked: add key_file=FILE with its key",
                          series->name);
    }
    firn__series_period_name(name, &series->form, period);
    int length = snprintf(keys, sizeof keys, "digits=%" PRId64 "%s", series->form.counter_digits,
                          name[0] != '\0' ? " tweak=" : "");
    for (const char *letter = name; *letter != '\0'; letter++) {
        length += snprintf(keys + length, sizeof keys - (size_t)length, "%02x",
                           (unsigned)(unsigned char)*letter);
    }
    return firn_order_open(out, keys, series->key, NULL, error);
}

static int mask_counter(firn_order *mask, int64_t *counter, firn_error *error) {
    char text[FIRN_ORDER_SIZE];
    int code = mask != NULL ? firn_order_write(mask, text, (uint64_t)*counter, error) : FIRN_OK;
    if (code == FIRN_OK && mask != NULL) {
        *counter = (int64_t)strtoull(text, NULL, 10);
    }
    return code;
}

/* The counter of a text of the period. */
static int unmask_counter(const firn_series *series, int64_t period, int64_t *counter,
                          firn_error *error) {
    firn_order *mask;
    char text[FIRN_ORDER_SIZE];
    uint64_t own = (uint64_t)*counter;
    int code = open_mask(&mask, series, period, error);
    if (code != FIRN_OK || mask == NULL) {
        return code;
    }
    const int length =
        snprintf(text, sizeof text, "%0*" PRId64, (int)series->form.counter_digits, *counter);
    code = firn_order_read(mask, &own, text, (size_t)length, error);
    firn_order_close(mask);
    if (code == FIRN_OK && own == 0) {
        code = firn__fail(error, FIRN_ETEXT, "the counter is 0: the first number has 1");
    }
    *counter = code == FIRN_OK ? (int64_t)own : *counter;
    return code;
}

/* Writes n numbers of the day, from this counter on. */
static int write_numbers(const firn_series *series, char (*texts)[FIRN_SERIES_SIZE], size_t n,
                         int64_t day, int64_t first, firn_error *error) {
    firn_order *mask;
    int64_t period;
    firn__series_period(&period, &series->form, day);
    int code = open_mask(&mask, series, period, error);
    for (size_t i = 0; code == FIRN_OK && i < n; i++) {
        int64_t counter = first + (int64_t)i;
        code = mask_counter(mask, &counter, error);
        if (code == FIRN_OK) {
            firn__series_write(&series->form, texts[i], day, counter);
        }
    }
    firn_order_close(mask);
    return code;
}

/* ---- counters -------------------------------------------------------------------------------- */

static int64_t first_slot(int64_t period) {
    return period * COUNTERS + 1;
}

static void name_key(const firn_series *series, int64_t period, char key[FIRN_KEY_SIZE]) {
    snprintf(key, FIRN_KEY_SIZE, "%" PRId64, period % (series->late + 1) + 1);
}

/* Turns the segment to the period, and gives the rest of the last one's block back. */
static int turn_to_period(firn_series *series, int64_t period, firn_error *error) {
    if (series->segment != NULL && series->period == period) {
        return FIRN_OK;
    }
    char key[FIRN_KEY_SIZE];
    const firn__segment_place place = {series->ns, series->layout, key};
    const firn__segment_keys keys = {.kind = FIRN__SERIAL,
                                     .step = series->block,
                                     .increment = 1,
                                     .offset = 1,
                                     .start = first_slot(period),
                                     .end = period * COUNTERS + series->form.counter_most};
    firn_segment *segment;
    name_key(series, period, key);
    int code = ask_store(series, period, error);
    if (code == FIRN_OK) {
        code = firn__segment_make(&segment, &place, &keys, series->store, series->clock, error);
    }
    if (code == FIRN_OK) {
        firn_segment_close(series->segment, NULL); /* if that fails, counters are left out */
        series->segment = segment;
        series->period = period;
    }
    return code;
}

static int refuse_lost(const firn_series *series, firn_error *error) {
    return firn__fail(
        error, FIRN_EBACK,
        "the store has changed or lost reservations since series " FIRN__VALUE(
            "%.63s") " was last used: advance its present period above every number handed out",
        series->name);
}

static int refuse_definition(firn_error *error) {
    if (error == NULL) {
        return FIRN_ENAMESPACE;
    }
    const int length = error->cure_at > 0 ? error->cure_at - 2 : (int)strlen(error->text);
    return firn__fail(error, FIRN_ENAMESPACE,
                      "%.*s: leave the definition out to use the stored one, or use another series",
                      length, error->text);
}

/* Another definition than this handle's in the store. Closed ones are refused by the store. */
static int check_definition(const firn_series *series, const series_look *look, firn_error *error) {
    return strncmp(look->layout, series_lead, sizeof series_lead - 1) != 0 ||
                   strcmp(look->layout, series->layout) == 0
               ? FIRN_OK
               : firn__fail(
                     error, FIRN_ENAMESPACE,
                     "series %.63s is '" FIRN__LIMIT(
                         "%.200s") "' in the store: leave the definition out to use that one, or "
                                   "use another series",
                     series->name, look->layout + sizeof series_lead - 1);
}

/* FIRN_EEND: the period is closed or full, as the mark or floor of the store shows. */
static int refuse_end(firn_series *series, int64_t held, firn_error *error) {
    char name[FIRN__PERIOD_SIZE], later[FIRN__PERIOD_SIZE];
    firn__series_period_name(name, &series->form, series->period);
    if (held / COUNTERS > series->period) {
        series->closed_by = held / COUNTERS;
        return firn__fail(
            error, FIRN_EEND,
            "period " FIRN__VALUE("%.15s") " of series %.63s is closed, since the store is "
                                           "at " FIRN__LIMIT("%s") ": use a later time",
            name, series->name, firn__series_period_name(later, &series->form, series->closed_by));
    }
    return firn__fail(error, FIRN_EEND,
                      "series %.63s has too few counters left%s%s, up to " FIRN__LIMIT(
                          "%" PRId64) ": ask for fewer, or use a new series with another template "
                                      "and more digits",
                      series->name, name[0] != '\0' ? " in " : "", name, series->form.counter_most);
}

/* The words of a segment fit integers. */
static int refuse_counter(firn_series *series, int code, firn_error *error) {
    return code == FIRN_EEND    ? refuse_end(series, firn__segment_held(series->segment), error)
           : code == FIRN_EBACK ? refuse_lost(series, error)
           : code == FIRN_ENAMESPACE ? refuse_definition(error)
                                     : code;
}

/* n counters of the period, in a row. */
static int take_counters(firn_series *series, int64_t period, size_t n, int64_t *first,
                         firn_error *error) {
    int64_t slot = 0;
    series->closed_by = -1;
    int code = turn_to_period(series, period, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = firn_segment_exact(series->segment, (int64_t)n, true, &slot, NULL, error);
    if (code != FIRN_OK) {
        return refuse_counter(series, code, error);
    }
    *first = slot % COUNTERS;
    return FIRN_OK;
}

/* Another process may have begun the next period before this clock has, or before a clock was set
 * back across midnight at the end of summer time; or this process slept since it read the clock.
 * Then the numbers have the nearest time of the period that is open: now, up to SKEW_S later, or
 * before the clock was set back. */
static int take_nearest(firn_series *series, size_t n, int64_t *day, int64_t *first,
                        firn_error *error) {
    int64_t now = 0;
    int code = read_wall(series, &now, error);
    if (code != FIRN_OK) {
        return code;
    }
    const firn__offset offset = firn__zone_look(series->zone, now);
    const bool folded = offset.since != INT64_MIN && now - offset.since < FOLD_S;
    const int64_t times[] = {now, now + SKEW_S, folded ? offset.since - 1 : now};
    const int64_t open = series->closed_by;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        int64_t other, period = -1;
        (void)day_at(series, times[i], &other, &period, NULL);
        if (period == open) {
            *day = other;
            return take_counters(series, period, n, first, error);
        }
    }
    char name[FIRN__PERIOD_SIZE];
    return firn__fail(
        error, FIRN_ECLOCK,
        "the clock is before period " FIRN__LIMIT("%.15s") " of series " FIRN__VALUE(
            "%.63s") ", which has begun: fix the clock or the zone database, or use a "
                     "new series with another template",
        firn__series_period_name(name, &series->form, open), series->name);
}

/* The day of `at`, or of now; its period is not after the clock's. */
static int choose_day(const firn_series *series, const firn_time *at, int64_t *now, int64_t *day,
                      int64_t *period, firn_error *error) {
    int64_t latest, unused;
    int code = at != NULL ? firn__time_check(at, error) : FIRN_OK;
    code = code == FIRN_OK ? read_wall(series, now, error) : code;
    code = code == FIRN_OK ? day_at(series, at != NULL ? at->sec : *now, day, period, error) : code;
    if (code != FIRN_OK || at == NULL) {
        return code;
    }
    code = day_at(series, *now + SKEW_S, &unused, &latest, error);
    return code == FIRN_OK && *period > latest
               ? refuse_future(series, *period, latest, "this machine's", FIRN_ERANGE, error)
               : code;
}

/* Before counters are reserved: can they be masked? */
static int check_key(const firn_series *series, firn_error *error) {
    firn_order *mask;
    int code = open_mask(&mask, series, 0, error);
    firn_order_close(mask);
    return code;
}

int firn_series_next(firn_series *series, const firn_time *at, char (*texts)[FIRN_SERIES_SIZE],
                     size_t n, firn_error *error) {
    int64_t now, day, period, first = 0;
    if (n < 1 || n > BLOCK_MOST) {
        return firn__fail(error, FIRN_ERANGE,
                          "one call issues 1 to %d numbers: ask for such a count, not %zu",
                          BLOCK_MOST, n);
    }
    int code = check_key(series, error);
    code = code == FIRN_OK ? choose_day(series, at, &now, &day, &period, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    code = take_counters(series, period, n, &first, error);
    if (code == FIRN_EEND && at == NULL && series->closed_by >= 0) {
        code = take_nearest(series, n, &day, &first, error);
    }
    return code == FIRN_OK ? write_numbers(series, texts, n, day, first, error) : code;
}

int firn_series_read(const firn_series *series, int64_t *counter, const char *text, size_t length,
                     firn_error *error) {
    int64_t read = 0, period;
    int code = firn__series_read(&series->form, &read, &period, text, length, error);
    code = code == FIRN_OK ? unmask_counter(series, period, &read, error) : code;
    *counter = code == FIRN_OK ? read : *counter;
    return code;
}

/* ---- for operators --------------------------------------------------------------------------- */

int firn_series_peek(firn_series *series, const firn_time *at, char text[FIRN_SERIES_SIZE],
                     firn_error *error) {
    char key[FIRN_KEY_SIZE];
    int64_t now, day, period, slot;
    series_look look = {.key = key};
    int code = choose_day(series, at, &now, &day, &period, error);
    if (code == FIRN_OK) {
        name_key(series, period, key);
        code = firn_store_list(series->store, series->ns, see_series, &look, error);
    }
    code = code == FIRN_OK && look.found ? check_definition(series, &look, error) : code;
    code = code == FIRN_OK ? turn_to_period(series, period, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    slot = first_slot(period);
    slot = look.high > slot ? look.high : slot;
    slot = look.floor > slot ? look.floor : slot;
    if (slot > period * COUNTERS + series->form.counter_most) {
        return refuse_end(series, slot, error);
    }
    return write_numbers(series, (char(*)[FIRN_SERIES_SIZE])text, 1, day, slot % COUNTERS, error);
}

/* Only in the present period may a guard end the doubt after a loss, since it closes the earlier
 * ones: present by the clock of the store, or else of this machine, and without a later mark. */
static int make_guard(const firn_series *series, int64_t now, int64_t period, int64_t *guard,
                      firn_error *error) {
    int64_t day, present = 0;
    series_look look = {.found = false};
    int code = stored_period(series, 0, &present, error);
    code = code == FIRN_ESYSTEM ? day_at(series, now, &day, &present, error) : code;
    code = code == FIRN_OK ? firn_store_list(series->store, series->ns, see_series, &look, error)
                           : code;
    *guard = period >= present && period >= look.latest / COUNTERS ? *guard : 0;
    return code;
}

int firn_series_advance(firn_series *series, const firn_time *at, int64_t from, firn_error *error) {
    int64_t now, day, period, next;
    if (from < 1 || from > series->form.counter_most) {
        return firn__fail(error, FIRN_ERANGE,
                          "a counter of series %.63s is 1 to " FIRN__LIMIT(
                              "%" PRId64) ", not " FIRN__VALUE("%" PRId64),
                          series->name, series->form.counter_most, from);
    }
    int code = choose_day(series, at, &now, &day, &period, error);
    if (code != FIRN_OK) {
        return code;
    }
    int64_t guard = period * COUNTERS + from;
    code = turn_to_period(series, period, error);
    code = code == FIRN_OK ? make_guard(series, now, period, &guard, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    code = firn__segment_advance(series->segment, period * COUNTERS + from, guard, &next, error);
    if (code != FIRN_OK) {
        return refuse_counter(series, code, error);
    }
    firn_segment_close(series->segment, NULL); /* its block may have lower counters */
    series->segment = NULL;
    return FIRN_OK;
}

int firn_series_prune(firn_series *series, const firn_time *before, firn_error *error) {
    int64_t now, day, period, floor;
    series_look look = {.found = false};
    int code = choose_day(series, before, &now, &day, &period, error);
    if (code == FIRN_OK && period == 0) {
        code = firn__fail(error, FIRN_EUSAGE,
                          "series %.63s never restarts: it has nothing to prune", series->name);
    }
    code = code == FIRN_OK ? ask_store(series, period, error) : code;
    code = code == FIRN_OK ? firn_store_list(series->store, series->ns, see_series, &look, error)
                           : code;
    if (code == FIRN_OK && !look.found) {
        code = firn__fail(error, FIRN_ERANGE, "series %.63s has no numbers yet: check the name",
                          series->name);
    }
    code = code == FIRN_OK ? check_definition(series, &look, error) : code;
    const firn_relabel change = {series->ns, series->layout, series->layout, period * COUNTERS,
                                 false};
    code = code == FIRN_OK ? firn_store_relabel(series->store, &change, &floor, error) : code;
    return code == FIRN_EBACK ? refuse_lost(series, error) : code;
}

char *firn_series_mark(char text[FIRN_SERIES_SIZE], const char *layout, int64_t slot) {
    char name[FIRN__PERIOD_SIZE];
    firn__series_form form;
    series_keys keys;
    firn__keys text_of;
    const char *definition = strncmp(layout, "series template=", 16) == 0 ? layout : NULL;
    text[0] = '\0';
    if (definition == NULL || slot < 0 ||
        read_series_keys(&keys, &text_of, definition + sizeof series_lead - 1, NULL) != FIRN_OK ||
        firn__series_form_read(&form, keys.template, keys.restart, keys.grow == 1, NULL) !=
            FIRN_OK) {
        return text;
    }
    firn__series_period_name(name, &form, slot / COUNTERS);
    snprintf(text, FIRN_SERIES_SIZE, "%s%s%" PRId64, name, name[0] != '\0' ? " " : "",
             slot % COUNTERS);
    return text;
}
