/* SPDX-License-Identifier: MIT */
/* The answers of test/vectors that spec/ does not have: integers, and what two systems read. The
 * answers are data, most of them from the original systems; this file only maps the columns of each
 * file to calls of firn.h. spec_pure_test.c has the other files: spec/make.py writes cases from
 * them. */
#include "segment.h"

#include <firn/firn.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifndef FIRN_VECTORS
#define FIRN_VECTORS "test/vectors"
#endif

/* ---- rows ----------------------------------------------------------------------------------- */

enum { CELLS = 16, LINE_SIZE = 4096 };
enum status { OK, REFUSE, PEER_BUG, STATUSES };

/* A line of a file: its cells, and the names of their columns. */
typedef struct {
    const char *file;
    int line;
    enum status status;
    size_t count;
    char *columns[CELLS];
    char *cells[CELLS];
} row;

static int asserted; /* checks of the present row: a row without any was not applied */
static int wrong;    /* of the present file */

static const char *cell_or_null(const row *r, const char *column) {
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->columns[i], column) == 0) {
            return r->cells[i];
        }
    }
    return NULL;
}

static const char *cell(const row *r, const char *column) {
    const char *text = cell_or_null(r, column);
    if (text == NULL) {
        fail_msg("%s has no column %s", r->file, column);
    }
    return text;
}

static bool is(const row *r, const char *column, const char *text) {
    return strcmp(cell(r, column), text) == 0;
}

static bool holds(const row *r, bool truth, const char *what) {
    asserted++;
    if (!truth) {
        wrong++;
        print_message("# %s:%d: not so: %s\n", r->file, r->line, what);
    }
    return truth;
}

static bool same(const row *r, const char *what, const char *got, const char *want) {
    asserted++;
    if (strcmp(got, want) != 0) {
        wrong++;
        print_message("# %s:%d: %s is %s, should be %s\n", r->file, r->line, what, got, want);
        return false;
    }
    return true;
}

static bool same_number(const row *r, const char *what, uint64_t got, const char *want) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, got);
    return same(r, what, text, want);
}

/* ---- small conversions of text, independent of the library's -------------------------------- */

/* "2016-11-06 12:34:56.789012+00" as RFC 3339 has it. */
static const char *from_sql(char out[64], const char *sql) {
    snprintf(out, 64, "%.10sT%.*sZ", sql, (int)strlen(sql) - 14, sql + 11);
    return out;
}

/* Takes the quotes and the \n and \t of a cell away. */
static const char *unquoted(char out[LINE_SIZE], const char *text) {
    size_t length = 0;
    for (const char *c = text + 1; c[1] != '\0'; c++) {
        out[length++] = *c != '\\' ? *c : *++c == 'n' ? '\n' : '\t';
    }
    out[length] = '\0';
    return out;
}

/* ---- pack, read, refuse --------------------------------------------------------------------- */

/* A field as the row gives it; "time" as @SECONDS or RFC 3339. */
typedef struct {
    const char *name, *value;
} pair;

#define PAIRS(...) (const pair[]){__VA_ARGS__}, sizeof(const pair[]){__VA_ARGS__} / sizeof(pair)

static const firn_scheme *scheme_of(const char *name) {
    const firn_scheme *scheme = firn_scheme_find(name);
    if (scheme == NULL) {
        fail_msg("the table has no %s", name);
    }
    return scheme;
}

/* Reads an ID from text with a scheme. */
static int read_with(firn_id *id, firn_fields *fields, const firn_scheme *scheme, int form,
                     const char *text, firn_error *error) {
    int code = firn_parse(id, form, scheme->bits, text, strlen(text), error);
    return code == FIRN_OK ? firn_unpack(fields, scheme, id, error) : code;
}

static const char *time_text(char text[FIRN_TIME_SIZE], const firn_scheme *scheme,
                             const firn_fields *fields, int digits) {
    int i = firn_scheme_field(scheme, "time");
    firn_time time;
    firn_scheme_time(scheme, fields->value[i].low, &time);
    return firn_time_format(text, &time, digits);
}

static firn_time time_of(const firn_scheme *scheme, const firn_fields *fields) {
    firn_time time;
    firn_scheme_time(scheme, fields->value[firn_scheme_field(scheme, "time")].low, &time);
    return time;
}

static void refuse_text(const row *r, const firn_scheme *scheme, int form, const char *text) {
    firn_fields fields;
    firn_error error = {0};
    firn_id id;
    int code = read_with(&id, &fields, scheme, form, text, &error);
    holds(r, code == FIRN_ETEXT || code == FIRN_EMISMATCH, "this text is refused");
    holds(r, code == error.code && strlen(error.text) > 10, "and it is said why");
}

/* The decoder's page: "1567710917899(2019-09-05 19:15:17.899)". */
static void check_leaf_decode(const row *r) {
    char input[LINE_SIZE], text[FIRN_TIME_SIZE], value[FIRN_VALUE_SIZE], shown[128];
    const firn_scheme *scheme = scheme_of("leaf");
    firn_fields fields;
    firn_id id;
    unquoted(input, cell(r, "input"));
    if (r->status != OK) {
        refuse_text(r, scheme, FIRN_FORM_DEC, input);
        return;
    }
    if (holds(r, read_with(&id, &fields, scheme, FIRN_FORM_DEC, input, NULL) == FIRN_OK, "read")) {
        firn_time time = time_of(scheme, &fields);
        time_text(text, scheme, &fields, 3);
        snprintf(shown, sizeof shown, "%" PRId64 "%03d(%.10s %.12s)", time.sec, time.ns / 1000000,
                 text, text + 11);
        same(r, "the time", shown, cell(r, "timestamp"));
        same(r, "the worker",
             firn_fields_get(value, &fields, scheme, (uint32_t)firn_scheme_field(scheme, "worker")),
             cell(r, "workerId"));
        same(r, "the sequence",
             firn_fields_get(value, &fields, scheme,
                             (uint32_t)firn_scheme_field(scheme, "sequence")),
             cell(r, "sequenceId"));
        same(r, "the peer's word", cell(r, "result"), "ok");
    }
}

static void check_uuid1_sql_read(const row *r) {
    char digits[40], text[64];
    const firn_scheme *scheme = scheme_of("uuid1");
    const char *uuid = cell(r, "uuid");
    firn_fields fields;
    firn_id id;
    firn_time peer;
    if (r->status == REFUSE) {
        refuse_text(r, scheme, FIRN_FORM_UUID, uuid);
        return;
    }
    snprintf(digits, sizeof digits, "%.3s%.4s%.8s", uuid + 15, uuid + 9, uuid);
    from_sql(text, cell(r, "timestamp"));
    if (holds(r,
              read_with(&id, &fields, scheme, FIRN_FORM_UUID, uuid, NULL) == FIRN_OK &&
                  firn_time_parse(&peer, text, strlen(text), NULL) == FIRN_OK,
              "read")) {
        firn_time back = time_of(scheme, &fields);
        holds(r, fields.value[0].low == strtoull(digits, NULL, 16), "the raw time is exact");
        back.ns -= back.ns % 1000;
        holds(r, (firn_time_cmp(&back, &peer) == 0) == (r->status == OK),
              "the peer differs where it is said to");
    }
}

/* ---- integers ------------------------------------------------------------------------------- */

static void check_segment_step(const row *r) {
    int64_t step = strtoll(cell(r, "step"), NULL, 10);
    int64_t least = strtoll(cell(r, "min_step"), NULL, 10);
    int64_t age_ms = strtoll(cell(r, "age_min"), NULL, 10) * 60000;
    uint64_t next = (uint64_t)firn__segment_next_step(step, least, age_ms);
    same_number(r, "the next step", next, cell(r, "next_step"));
    same_number(r, "what is fetched", next, cell(r, "max_id_increase"));
}

/* A range on its own store. */
typedef struct {
    firn_store *store;
    firn_segment *range;
} allocation;

static bool allocate(const row *r, allocation *a, const char *keys) {
    firn_error error = {0};
    *a = (allocation){NULL, NULL};
    if (firn_store_open(&a->store, "memory:", NULL, &error) != FIRN_OK ||
        firn_segment_open(&a->range, "a", keys, a->store, NULL, &error) != FIRN_OK) {
        same(r, keys, error.text, "opened");
        return false;
    }
    return true;
}

static void release(allocation *a) {
    if (a->range != NULL) {
        firn_segment_close(a->range, NULL);
    }
    if (a->store != NULL) {
        firn_store_close(a->store);
    }
    *a = (allocation){NULL, NULL};
}

static int see_mark(void *context, const firn_holding *holding) {
    *(int64_t *)context = holding->mark.high;
    return 0;
}

/* Records are one run: all use what the first one opens. Leaf checks for the next segment before it
 * hands an integer out, so the marks are compared then; its columns pos and next_ready are its
 * own. */
static void check_segment_trace(const row *r) {
    static allocation leaf;
    static int64_t before, step, updates;
    int64_t value = -1, mark = -1, wait_ms;
    if (is(r, "call", "1")) {
        before = 1;
        step = updates = 0;
        release(&leaf);
        allocate(r, &leaf, "kind=segment step=10 start=1");
    }
    if (!holds(r, leaf.range != NULL, "opened")) {
        return;
    }
    holds(r, firn_segment_step(leaf.range, &wait_ms, NULL) == FIRN_OK,
          "looked for the next segment");
    holds(r, firn_store_list(leaf.store, NULL, see_mark, &mark, NULL) == FIRN_OK, "listed");
    holds(r, firn_segment_next(leaf.range, &value, NULL) == FIRN_OK, "handed out");
    updates += mark != before;
    step = mark != before ? mark - before : step;
    before = mark;
    same_number(r, "the integer", (uint64_t)value, cell(r, "id"));
    same_number(r, "the mark", (uint64_t)mark, cell(r, "db_max_id"));
    same_number(r, "the step", (uint64_t)step, cell(r, "step"));
    same_number(r, "the count of fetches", (uint64_t)updates, cell(r, "db_updates"));
    if (is(r, "call", "60")) {
        release(&leaf);
    }
}

static void check_ticket(const row *r) {
    char keys[96];
    allocation ticket;
    int64_t value = -1;
    snprintf(keys, sizeof keys, "kind=ticket increment=%s offset=%s", cell(r, "increment"),
             cell(r, "offset"));
    if (allocate(r, &ticket, keys)) {
        for (long k = strtol(cell(r, "k"), NULL, 10); k > 0; k--) {
            holds(r, firn_segment_next(ticket.range, &value, NULL) == FIRN_OK, "handed out");
        }
        same_number(r, "the integer", (uint64_t)value, cell(r, "id"));
    }
    release(&ticket);
}

/* The stored number was handed out before, as a block. */
static void check_ticket_after(const row *r) {
    char keys[128];
    allocation ticket;
    firn_error error = {0};
    int64_t value = -1;
    uint64_t stored = strtoull(cell(r, "stored_max"), NULL, 10);
    uint64_t increment = strtoull(cell(r, "increment"), NULL, 10);
    uint64_t offset = strtoull(cell(r, "offset"), NULL, 10);
    uint64_t count = stored < offset ? 0 : (stored - offset) / increment + 1;
    snprintf(keys, sizeof keys, "kind=ticket increment=%" PRIu64 " offset=%" PRIu64, increment,
             offset);
    if (!allocate(r, &ticket, keys)) {
        return;
    }
    int code =
        count > 0 ? firn_segment_block(ticket.range, (int64_t)count, &value, &error) : FIRN_OK;
    if (r->status == REFUSE) {
        holds(r, code < 0 && error.code == code && strlen(error.text) > 10,
              "refused, and it is said why");
    } else {
        holds(r, code == FIRN_OK && (count == 0 || value == (int64_t)offset), "handed out");
        holds(r, firn_segment_next(ticket.range, &value, NULL) == FIRN_OK, "handed out");
        same_number(r, "the integer", (uint64_t)value, cell(r, "next_id"));
        holds(r, firn_segment_increment(ticket.range) == (int64_t)increment,
              "the increment is kept");
    }
    release(&ticket);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* The kinds of lines that a file may have. */
enum { A = 1 << OK, AR = A | 1 << REFUSE, AP = A | 1 << PEER_BUG, ARP = AR | 1 << PEER_BUG };

/* ---- the files ------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *sentence;
    void (*check)(const row *r);
    int statuses;
} file;

static const file files[] = {
    {"leaf_decode", "every answer of Leaf's decoder is known", check_leaf_decode, AR},
    {"uuid_v1_seed_sql_read", "every reading of uuid_v1_timestamp is known, and where it errs",
     check_uuid1_sql_read, ARP},
    {"leaf_segment_step", "every next step of Leaf's segments is known", check_segment_step, A},
    {"leaf_segment_trace", "a run of Leaf's segments is repeated call by call", check_segment_trace,
     A},
    {"ticket_server", "every ticket of Flickr's servers is known", check_ticket, A},
    {"ticket_server_after", "a ticket follows on what is stored", check_ticket_after, AR},
};
enum { FILES = sizeof files / sizeof files[0] };

static size_t split(char *cells[CELLS], char *line, const char *separator) {
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *at_cell = line; at_cell != NULL && count < CELLS; count++) {
        cells[count] = strsep(&at_cell, separator);
    }
    return count;
}

static bool find_status(enum status *status, const char *text) {
    static const char *const names[STATUSES] = {"ok", "refuse", "peer-bug"};
    for (int i = 0; i < STATUSES; i++) {
        if (strcmp(names[i], text) == 0) {
            *status = (enum status)i;
            return true;
        }
    }
    return false;
}

/* Passes each record of a file to its check; counts records and checks. */
static void run_file(void **state) {
    const file *f = *state;
    char path[256], line[LINE_SIZE], header[LINE_SIZE];
    int seen = 0, checked[STATUSES] = {0};
    row r = {.file = f->name};
    size_t columns = 0;
    snprintf(path, sizeof path, "%s/%s.tsv", FIRN_VECTORS, f->name);
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        fail_msg("%s cannot be opened", path);
    }
    wrong = 0;
    while (fgets(line, sizeof line, in) != NULL) {
        static const char mark[] = "# columns: ";
        r.line++;
        if (strncmp(line, mark, sizeof mark - 1) == 0) {
            memcpy(header, line, sizeof header);
            columns = split(r.columns, header + sizeof mark - 1, " ");
        }
        if (line[0] == '#') {
            continue;
        }
        seen++;
        asserted = 0;
        r.count = split(r.cells, line, "\t");
        bool whole =
            holds(&r, columns > 1 && r.count == columns, "as many cells as columns") &&
            holds(&r, strcmp(r.columns[0], "status") == 0, "the first one is the status") &&
            holds(&r, find_status(&r.status, r.cells[0]), "the status is known") &&
            holds(&r, f->statuses >> r.status & 1, "the file has rows of this status");
        int before = asserted;
        if (whole) {
            f->check(&r);
            checked[r.status] += asserted > before;
        }
    }
    fclose(in);
    print_message("# %s: %d ok, %d refuse, %d peer-bug\n", f->name, checked[OK], checked[REFUSE],
                  checked[PEER_BUG]);
    assert_true(seen > 0);
    assert_int_equal(checked[OK] + checked[REFUSE] + checked[PEER_BUG], seen);
    assert_int_equal(wrong, 0);
}

int main(void) {
    struct CMUnitTest tests[FILES];
    for (size_t i = 0; i < FILES; i++) {
        tests[i] = (struct CMUnitTest){files[i].sentence, run_file, NULL, NULL, (void *)&files[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
