/* SPDX-License-Identifier: MIT */
/* Every answer in test/vectors, most of them from the original systems, checked with the library in
 * both directions. The answers are data; this file only maps the columns of each file to calls of
 * firn.h. */
#include "segment.h"

#include <firn/firn.h>

#include <dirent.h>
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

static bool given(const row *r, const char *column) {
    return strcmp(cell(r, column), "-") != 0;
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

/* "1350327498450" with 3 digits is "@1350327498.450", "-1" is "@-0.001". */
static const char *vector_at(char out[64], const char *number, size_t digits) {
    bool negative = *number == '-';
    const char *text = number + negative;
    size_t length = strlen(text);
    char padded[48];
    snprintf(padded, sizeof padded, "%.*s%s", (int)(length > digits ? 0 : digits + 1 - length),
             "000000000000", text);
    size_t whole = strlen(padded) - digits;
    snprintf(out, 64, "@%s%.*s%s%s", negative ? "-" : "", (int)whole, padded, digits > 0 ? "." : "",
             padded + whole);
    return out;
}

/* The time of such a text, floored to ticks. */
static firn_time instant_of(const char *text, uint32_t tick_ns) {
    bool negative = text[1] == '-';
    char *end;
    uint64_t sec = strtoull(text + 1 + negative, &end, 10);
    int32_t ns = 0, unit = 100000000;
    for (const char *digit = *end == '.' ? end + 1 : ""; *digit != '\0'; digit++, unit /= 10) {
        ns += (*digit - '0') * unit;
    }
    firn_time time = {(int64_t)sec, ns};
    if (negative) {
        time =
            (firn_time){ns > 0 ? -(int64_t)sec - 1 : -(int64_t)sec, ns > 0 ? 1000000000 - ns : 0};
    }
    time.ns -= time.ns % (int32_t)tick_ns;
    return time;
}

static const char *hexed(char out[64], const char *digits) {
    snprintf(out, 64, "0x%s", digits);
    return out;
}

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

static int build(firn_id *id, firn_fields *fields, const firn_scheme *scheme, const pair *pairs,
                 size_t count, firn_error *error) {
    memset(fields, 0, sizeof *fields);
    for (size_t i = 0; i < count; i++) {
        int code = firn_fields_set(fields, scheme, pairs[i].name, pairs[i].value, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    return firn_pack(id, scheme, fields, error);
}

static bool equal_fields(const firn_scheme *scheme, const firn_fields *a, const firn_fields *b) {
    bool equal = a->given == b->given;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        equal = equal && a->value[i].low == b->value[i].low && a->value[i].high == b->value[i].high;
    }
    return equal;
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

/* The given time comes back, and so does its raw tick. */
static void agree_on_time(const row *r, const firn_scheme *scheme, const firn_fields *fields,
                          const char *value) {
    char tick[24];
    int i = firn_scheme_field(scheme, "time");
    firn_fields raw = {0, {{0, 0}}};
    firn_time back = time_of(scheme, fields);
    if (value[0] == '@') {
        firn_time want = instant_of(value, scheme->tick_ns);
        holds(r, firn_time_cmp(&back, &want) == 0, "the time comes back");
    }
    snprintf(tick, sizeof tick, "%" PRIu64, fields->value[i].low);
    holds(r,
          firn_fields_set(&raw, scheme, "tick", tick, NULL) == FIRN_OK &&
              raw.value[i].low == fields->value[i].low,
          "the raw tick is the time");
}

/* The fields make exactly this text, and the text exactly these fields. */
static void agree(const row *r, const firn_scheme *scheme, const pair *pairs, size_t count,
                  int form, const char *text) {
    char got[FIRN_TEXT_SIZE], value[FIRN_VALUE_SIZE];
    firn_fields fields, back;
    firn_error error = {0};
    firn_id id, read;
    if (build(&id, &fields, scheme, pairs, count, &error) != FIRN_OK) {
        same(r, "packing", error.text, "done");
        return;
    }
    same(r, "the packed ID", firn_format(got, &id, form), text);
    if (read_with(&read, &back, scheme, form, text, &error) != FIRN_OK) {
        same(r, "reading", error.text, "done");
        return;
    }
    holds(r, firn_id_cmp(&read, &id) == 0, "the ID that is read is the one that was packed");
    holds(r, equal_fields(scheme, &back, &fields), "the fields come back");
    for (size_t i = 0; i < count; i++) {
        int field = firn_scheme_field(scheme, pairs[i].name);
        if (strcmp(pairs[i].name, "time") == 0) {
            agree_on_time(r, scheme, &back, pairs[i].value);
        } else if (field >= 0 && scheme->slices[field].role != FIRN_ROLE_RANDOM &&
                   scheme->slices[field].role != FIRN_ROLE_PROCESS &&
                   scheme->slices[field].role != FIRN_ROLE_ADDRESS && pairs[i].value[1] != 'x') {
            same(r, pairs[i].name, firn_fields_get(value, &back, scheme, (uint32_t)field),
                 pairs[i].value);
        }
    }
}

static void refuse(const row *r, const firn_scheme *scheme, const pair *pairs, size_t count) {
    firn_fields fields;
    firn_error error = {0};
    firn_id id;
    int code = build(&id, &fields, scheme, pairs, count, &error);
    holds(r, code < 0, "these fields are refused");
    holds(r, code == error.code && strlen(error.text) > 10, "and it is said why");
}

static void refuse_text(const row *r, const firn_scheme *scheme, int form, const char *text) {
    firn_fields fields;
    firn_error error = {0};
    firn_id id;
    int code = read_with(&id, &fields, scheme, form, text, &error);
    holds(r, code == FIRN_ETEXT || code == FIRN_EMISMATCH, "this text is refused");
    holds(r, code == error.code && strlen(error.text) > 10, "and it is said why");
}

/* `ok` rows agree, `refuse` rows are refused; a negative number of a layout with a sign bit cannot
 * be read either. */
static void agree_or_refuse(const row *r, const firn_scheme *scheme, const pair *pairs,
                            size_t count, int form, const char *text) {
    if (r->status == OK) {
        agree(r, scheme, pairs, count, form, text);
        return;
    }
    holds(r, r->status == REFUSE, "these files know ok and refuse");
    refuse(r, scheme, pairs, count);
    if (text[0] == '-' && scheme->slices[0].role == FIRN_ROLE_CONST) {
        refuse_text(r, scheme, form, text);
    }
}

/* Layouts without a sign bit: what issues IDs stops exactly where the numbers turn negative. */
static void check_sign(const row *r, const firn_scheme *scheme, const char *time, bool negative) {
    firn_time end, when = instant_of(time, scheme->tick_ns);
    holds(r, firn_scheme_end(scheme, false, &end) && (firn_time_cmp(&when, &end) >= 0) == negative,
          "nothing negative is issued");
}

/* ---- numbered nodes ------------------------------------------------------------------------- */

static void check_twitter(const row *r) {
    char time[64];
    agree_or_refuse(r, scheme_of("snowflake"),
                    PAIRS({"time", vector_at(time, cell(r, "ms"), 3)},
                          {"datacenter", cell(r, "datacenter")}, {"worker", cell(r, "worker")},
                          {"sequence", cell(r, "sequence")}),
                    FIRN_FORM_DEC, cell(r, "id"));
}

static void check_leaf(const row *r) {
    char time[64];
    agree_or_refuse(r, scheme_of("leaf"),
                    PAIRS({"time", vector_at(time, cell(r, "ms"), 3)},
                          {"worker", cell(r, "worker")}, {"sequence", cell(r, "sequence")}),
                    FIRN_FORM_DEC, cell(r, "id"));
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

/* The row is the counter before one call: its ID is the next slot. */
static void check_seata(const row *r) {
    char time[64], ms[24], sequence[24];
    uint64_t next = strtoull(cell(r, "seq_before"), NULL, 10) + 1;
    uint64_t at_ms = strtoull(cell(r, "ms_before"), NULL, 10) + next / 4096;
    snprintf(ms, sizeof ms, "%" PRIu64, at_ms);
    snprintf(sequence, sizeof sequence, "%" PRIu64, next % 4096);
    agree_or_refuse(r, scheme_of("seata"),
                    PAIRS({"worker", cell(r, "worker")}, {"time", vector_at(time, ms, 3)},
                          {"sequence", sequence}),
                    FIRN_FORM_DEC, cell(r, "next_id"));
}

static void check_region(const row *r) {
    char time[64];
    const firn_scheme *scheme = scheme_of("region");
    vector_at(time, cell(r, "ms"), 3);
    agree_or_refuse(r, scheme,
                    PAIRS({"time", time}, {"region", cell(r, "region")},
                          {"worker", cell(r, "worker")}, {"sequence", cell(r, "sequence")}),
                    FIRN_FORM_DEC, cell(r, "id_i64"));
    if (r->status == OK) {
        check_sign(r, scheme, time, cell(r, "id_i64")[0] == '-');
    }
}

static void check_instagram(const row *r) {
    char time[64], sequence[24];
    const firn_scheme *scheme = scheme_of("instagram");
    vector_at(time, cell(r, "ms"), 3);
    snprintf(sequence, sizeof sequence, "%llu", strtoull(cell(r, "nextval"), NULL, 10) % 1024);
    agree_or_refuse(r, scheme,
                    PAIRS({"time", time}, {"shard", cell(r, "shard")}, {"sequence", sequence}),
                    FIRN_FORM_DEC, cell(r, "id_i64"));
    if (r->status == OK) {
        check_sign(r, scheme, time, cell(r, "id_i64")[0] == '-');
    }
}

static void check_baidu(const row *r) {
    char epoch[64], time[64], second[24], text[FIRN_TIME_SIZE], shown[256];
    firn_scheme scheme;
    firn_fields fields;
    firn_id id;
    vector_at(epoch, cell(r, "epoch_s"), 0);
    snprintf(second, sizeof second, "%llu",
             strtoull(cell(r, "epoch_s"), NULL, 10) + strtoull(cell(r, "delta_s"), NULL, 10));
    if (!holds(r,
               firn_scheme_make(&scheme, "baidu", epoch, cell(r, "bits_time/worker/seq"), NULL,
                                NULL) == FIRN_OK,
               "the widths are taken")) {
        return;
    }
    agree_or_refuse(r, &scheme,
                    PAIRS({"time", vector_at(time, second, 0)}, {"worker", cell(r, "worker")},
                          {"sequence", cell(r, "sequence")}),
                    FIRN_FORM_DEC, cell(r, "uid_i64"));
    if (r->status == OK &&
        read_with(&id, &fields, &scheme, FIRN_FORM_DEC, cell(r, "uid_i64"), NULL) == FIRN_OK) {
        time_text(text, &scheme, &fields, 0);
        snprintf(
            shown, sizeof shown,
            "{\"UID\":\"%s\",\"timestamp\":\"%.10s %.8s\",\"workerId\":\"%s\",\"sequence\":\"%s\"}",
            cell(r, "uid_i64"), text, text + 11, cell(r, "worker"), cell(r, "sequence"));
        same(r, "the peer's reading", shown, cell(r, "parse_json"));
    }
}

/* The peer adds doubles; the right ID is floor(ms since the epoch) * 2^23 + random, in integers. */
static void check_simpleflake(const row *r) {
    char time[64], right[24], read_time[64];
    const firn_scheme *scheme = scheme_of("simpleflake");
    firn_fields fields;
    firn_id id;
    snprintf(time, sizeof time, "@%s", cell(r, "timestamp_s"));
    const pair pairs[] = {{"time", time}, {"random", cell(r, "random_bits")}};
    if (r->status == REFUSE) {
        refuse(r, scheme, pairs, 2);
        return;
    }
    firn_time when = instant_of(time, scheme->tick_ns);
    uint64_t ms = (uint64_t)(when.sec - 946702800) * 1000 + (uint64_t)when.ns / 1000000;
    uint64_t number = (ms << 23) + strtoull(cell(r, "random_bits"), NULL, 10);
    snprintf(right, sizeof right, "%" PRIu64, number);
    agree(r, scheme, pairs, 2, FIRN_FORM_UNSIGNED, right);
    check_sign(r, scheme, time, number >> 63 != 0);
    snprintf(read_time, sizeof read_time, "@%s", cell(r, "parsed_timestamp_s"));
    firn_time peer = instant_of(read_time, scheme->tick_ns);
    firn_time before = instant_of(time, 1), after = instant_of(read_time, 1);
    bool same_id = is(r, "id", right), same_time = firn_time_cmp(&peer, &when) == 0;
    holds(r, (same_id && same_time) == (r->status == OK), "the peer differs where it is said to");
    holds(r, same_id || strtoull(cell(r, "id"), NULL, 10) == number - (1 << 23), "by one ms");
    peer.ns += 1000000 * !same_time;
    holds(r, firn_time_cmp(&peer, &when) == 0, "by one ms");
    same(r, "the peer's word", cell(r, "time_round_trips"),
         firn_time_cmp(&before, &after) == 0 ? "yes" : "no");
    same(r, "the peer's random bits", cell(r, "parsed_random_bits"), cell(r, "random_bits"));
    if (holds(r,
              read_with(&id, &fields, scheme, FIRN_FORM_UNSIGNED, cell(r, "id"), NULL) == FIRN_OK,
              "the peer's ID is read")) {
        int random = firn_scheme_field(scheme, "random");
        same_number(r, "random", fields.value[random].low, cell(r, "parsed_random_bits"));
    }
}

/* ---- Lable and flake ------------------------------------------------------------------------ */

static void check_lable(const row *r) {
    char time[64], number[FIRN_TEXT_SIZE];
    bool spread = is(r, "mode", "SPREAD");
    const firn_scheme *scheme = scheme_of(spread ? "lable-spread" : "lable-sequential");
    firn_id id;
    holds(r, spread || is(r, "mode", "TIME_SEQUENTIAL"), "the mode is known");
    agree_or_refuse(r, scheme,
                    PAIRS({"time", vector_at(time, cell(r, "timestamp_ms"), 3)},
                          {"sequence", cell(r, "sequence")}, {"generator", cell(r, "generator")},
                          {"cluster", cell(r, "cluster")}),
                    FIRN_FORM_HEX, cell(r, "id_hex"));
    refuse_text(r, scheme_of(spread ? "lable-sequential" : "lable-spread"), FIRN_FORM_HEX,
                cell(r, "id_hex"));
    if (cell_or_null(r, "id_u64") != NULL &&
        firn_parse(&id, FIRN_FORM_HEX, 64, cell(r, "id_hex"), 16, NULL) == FIRN_OK) {
        same(r, "the number", firn_format(number, &id, FIRN_FORM_UNSIGNED), cell(r, "id_u64"));
        same(r, "the peer's own round trip", cell(r, "parses_back"), "true");
    }
}

static void check_flake(const row *r) {
    char time[64], text[FIRN_TEXT_SIZE];
    const firn_scheme *scheme = scheme_of("flake");
    firn_id id, back;
    const pair pairs[] = {{"time", vector_at(time, cell(r, "ms"), 3)},
                          {"worker", cell(r, "worker")},
                          {"sequence", cell(r, "sequence")}};
    if (r->status == REFUSE) {
        refuse(r, scheme, pairs, 3);
        return;
    }
    agree(r, scheme, pairs, 3, FIRN_FORM_HEX, cell(r, "id_hex"));
    agree(r, scheme, pairs, 3, FIRN_FORM_DEC, cell(r, "id_dec"));
    agree(r, scheme, pairs, 3, FIRN_FORM_FLAKE, cell(r, "id_base62"));
    if (firn_parse(&id, FIRN_FORM_HEX, 128, cell(r, "id_hex"), 32, NULL) == FIRN_OK) {
        firn_format(text, &id, FIRN_FORM_BASE36); /* padded here, not by the peer */
        size_t zeros = strspn(text, "0");
        zeros -= text[zeros] == '\0';
        same(r, "base36", text + zeros, cell(r, "id_base36"));
        holds(r,
              firn_parse(&back, FIRN_FORM_BASE36, 128, text, strlen(text), NULL) == FIRN_OK &&
                  firn_id_cmp(&id, &back) == 0,
              "base36 is read back");
    }
}

/* ---- locality ------------------------------------------------------------------------------- */

/* The text of the layout, put together by hand. */
static const char *locality_text(char out[40], bool variable, uint64_t counter, const char *pid,
                                 uint64_t mac, uint64_t ms) {
    char digits[9], w[9] = "";
    snprintf(digits, sizeof digits, "%08" PRIx64, counter);
    for (int i = 0; i < 8; i++) {
        w[i] = digits[variable ? 7 - i : i];
    }
    snprintf(out, 40, "%s-%04lx-b%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64, w,
             strtoul(pid, NULL, 10), mac >> 16 & 0xfff, mac & 0xffff, ms);
    return out;
}

static const firn_scheme *locality_scheme(const row *r) {
    bool variable = is(r, "mode", "variable");
    holds(r, variable || is(r, "mode", "sequential"), "the mode is known");
    return scheme_of(variable ? "locality" : "locality-sequential");
}

/* The counter that a call writes, from the one before it: both peers step first. */
static uint64_t stepped(const row *r, const firn_scheme *scheme) {
    uint64_t before = (uint64_t)strtoll(cell(r, "counter_before"), NULL, 10);
    return (before + scheme->counter_step) & UINT32_MAX;
}

static void agree_on_locality(const row *r, const char *pid, uint64_t mac, const char *ms_text,
                              uint64_t ms) {
    char counter[24], mac_text[24], right[40];
    bool variable = is(r, "mode", "variable");
    const firn_scheme *scheme = locality_scheme(r);
    uint64_t after = stepped(r, scheme);
    snprintf(counter, sizeof counter, "%" PRIu64, after);
    snprintf(mac_text, sizeof mac_text, "0x%07" PRIx64, mac & 0xfffffff);
    const pair pairs[] = {{"counter", counter}, {"pid", pid}, {"mac", mac_text}, {"time", ms_text}};
    if (r->status == REFUSE) {
        refuse(r, scheme, pairs, 4);
        return;
    }
    locality_text(right, variable, after, pid, mac, ms);
    agree(r, scheme, pairs, 4, FIRN_FORM_UUID, right);
}

/* The peer's text can be read unchanged. */
static bool reads_locality(const row *r, uint64_t counter, const char *pid, uint64_t mac,
                           const char *ms) {
    char time[64];
    const firn_scheme *scheme = locality_scheme(r);
    firn_fields fields;
    firn_id id;
    if (read_with(&id, &fields, scheme, FIRN_FORM_UUID, cell(r, "uuid"), NULL) != FIRN_OK) {
        return false;
    }
    firn_time when = time_of(scheme, &fields),
              want = instant_of(vector_at(time, ms, 3), scheme->tick_ns);
    return fields.value[firn_scheme_field(scheme, "counter")].low == counter &&
           fields.value[firn_scheme_field(scheme, "pid")].low == strtoull(pid, NULL, 10) &&
           fields.value[firn_scheme_field(scheme, "mac")].low == mac &&
           firn_time_cmp(&when, &want) == 0;
}

static void check_locality_java(const row *r) {
    char time[64], right[40];
    bool variable = is(r, "mode", "variable");
    uint64_t after = stepped(r, locality_scheme(r));
    uint64_t mac = strtoull(cell(r, "mac_hex"), NULL, 16), ms = strtoull(cell(r, "ms"), NULL, 10);
    same_number(r, "the counter", after, cell(r, "counter_after"));
    agree_on_locality(r, cell(r, "pid"), mac, vector_at(time, cell(r, "ms"), 3), ms);
    locality_text(right, variable, after, cell(r, "pid"), mac, ms);
    if (r->status == REFUSE) {
        return; /* the peer wraps to 0, and that is an ID of 1970 */
    }
    if (r->status == PEER_BUG) {
        holds(r, variable && after >> 31 == 1 && right[6] != 'f',
              "the peer differs from what is right");
        right[6] = 'f'; /* bits 27..24, stuck */
        after |= 0xf000000;
    }
    same(r, "the peer's ID", right, cell(r, "uuid"));
    holds(r,
          reads_locality(r, after, cell(r, "parsed_pid"),
                         strtoull(cell(r, "parsed_mac_fragment_hex"), NULL, 16),
                         cell(r, "parsed_ms")),
          "the peer's ID is read");
}

static void check_locality_ruby(const row *r) {
    char time[64], digits[16] = "", right[40];
    bool variable = is(r, "mode", "variable");
    uint64_t ms = strtoull(cell(r, "unix_us"), NULL, 10) / 1000;
    uint64_t peer_ms = strtoull(cell(r, "uuid_ms"), NULL, 10);
    uint64_t after = stepped(r, locality_scheme(r));
    uint64_t peer_after = (uint64_t)strtoll(cell(r, "counter_after"), NULL, 10) & UINT32_MAX;
    for (const char *c = cell(r, "mac"); *c != '\0'; c++) {
        strncat(digits, c, *c == ':' ? 0 : 1);
    }
    uint64_t mac = strtoull(digits, NULL, 16);
    agree_on_locality(r, cell(r, "pid"), mac, vector_at(time, cell(r, "unix_us"), 6), ms);
    bool exact = peer_after == after && peer_ms == ms;
    holds(r, exact == (r->status == OK), "the peer differs where it is said to");
    holds(r, peer_ms == ms || peer_ms == ms - 1, "and by one ms at most");
    uint64_t sum =
        ((uint64_t)strtoll(cell(r, "counter_before"), NULL, 10) & UINT32_MAX) + 198491317;
    holds(r, peer_after == after || (variable && peer_after == sum % UINT32_MAX),
          "and its counter by its modulus of 2^32 - 1");
    locality_text(right, variable, peer_after, cell(r, "pid"), mac, peer_ms);
    same(r, "the peer's ID", right, cell(r, "uuid"));
    holds(r,
          reads_locality(r, peer_after, cell(r, "parsed_pid"),
                         strtoull(cell(r, "parsed_mac") + 5, NULL, 16), cell(r, "uuid_ms")),
          "the peer's ID is read");
}

static void check_locality_parse(const row *r) {
    char input[LINE_SIZE], text[FIRN_TEXT_SIZE], value[FIRN_VALUE_SIZE], time[64];
    const firn_scheme *scheme = scheme_of("locality");
    firn_fields fields;
    firn_id id;
    unquoted(input, cell(r, "input"));
    if (r->status != OK) {
        refuse_text(r, scheme, FIRN_FORM_UUID, input);
        return;
    }
    if (holds(r, read_with(&id, &fields, scheme, FIRN_FORM_UUID, input, NULL) == FIRN_OK, "read")) {
        firn_time when = time_of(scheme, &fields);
        firn_time want = instant_of(vector_at(time, cell(r, "java_ms"), 3), scheme->tick_ns);
        same(r, "the text", firn_format(text, &id, FIRN_FORM_UUID), cell(r, "java_uuid"));
        same(r, "the text", text, cell(r, "ruby_uuid"));
        same(r, "Java's word", cell(r, "java_isvalid"), "true");
        same(r, "Java's result", cell(r, "java_result"), "accept");
        same(r, "Java's version", cell(r, "java_version"), "b");
        same(r, "Ruby's result", cell(r, "ruby_result"), "accept");
        same(r, "Ruby's version", cell(r, "ruby_version"), "b");
        same(r, "Ruby's pid", cell(r, "ruby_pid"), cell(r, "java_pid"));
        same(r, "Ruby's mac", cell(r, "ruby_mac") + 5, cell(r, "java_mac_hex") + 5);
        same(r, "Ruby's ms", cell(r, "ruby_ms"), cell(r, "java_ms"));
        same(r, "pid",
             firn_fields_get(value, &fields, scheme, (uint32_t)firn_scheme_field(scheme, "pid")),
             cell(r, "java_pid"));
        holds(r,
              fields.value[firn_scheme_field(scheme, "mac")].low ==
                  strtoull(cell(r, "java_mac_hex"), NULL, 16),
              "the mac is the peer's");
        holds(r, firn_time_cmp(&when, &want) == 0, "the time is the peer's");
    }
}

static void check_locality_start(const row *r) {
    char time[64], text[FIRN_TIME_SIZE], hashed[16], counter[24], id_text[FIRN_TEXT_SIZE];
    const firn_scheme *scheme = scheme_of("locality-sequential");
    firn_fields fields;
    firn_id id;
    firn_time when = instant_of(vector_at(time, cell(r, "ms"), 3), scheme->tick_ns);
    uint32_t start = firn_locality_start(&when);
    firn_time_format(text, &when, 0);
    snprintf(hashed, sizeof hashed, "%.4s%.2s%.2s%.2s%.1s", text, text + 5, text + 8, text + 11,
             text + 14);
    same(r, "the hashed text", hashed, cell(r, "hashed_string"));
    same_number(r, "the start", start, cell(r, "counter_start_u32"));
    snprintf(counter, sizeof counter, "%" PRIu32, (uint32_t)(start + scheme->counter_step));
    if (holds(r,
              build(&id, &fields, scheme,
                    PAIRS({"counter", counter}, {"pid", "0"}, {"mac", "0x0000000"}, {"time", time}),
                    NULL) == FIRN_OK,
              "packed")) {
        firn_format(id_text, &id, FIRN_FORM_UUID)[8] = '\0';
        same(r, "the first group", id_text, cell(r, "first_uuid_first_group"));
    }
}

/* ---- ObjectID and xid ----------------------------------------------------------------------- */

static void check_objectid_least(const row *r, const firn_scheme *scheme, const char *time) {
    char text[FIRN_TEXT_SIZE];
    firn_id least, greatest;
    firn_time from = instant_of(time, scheme->tick_ns), to = from;
    to.sec++;
    agree(r, scheme, PAIRS({"time", time}, {"random", "0"}, {"counter", "0"}), FIRN_FORM_HEX,
          cell(r, "id_hex"));
    holds(r, firn_range(&least, &greatest, scheme, NULL, &from, &to, NULL) == FIRN_OK, "bounded");
    same(r, "the least of its second", firn_format(text, &least, FIRN_FORM_HEX), cell(r, "id_hex"));
}

static void check_objectid(const row *r) {
    char time[64], random[64], input[LINE_SIZE], text[FIRN_TIME_SIZE];
    const firn_scheme *scheme = scheme_of("objectid");
    firn_fields fields;
    firn_id id;
    const char *op = cell(r, "op"), *seconds = cell(r, "seconds_or_input");
    snprintf(time, sizeof time, "@%s", seconds);
    hexed(random, cell(r, "process_random_hex"));
    if (strcmp(op, "generate") == 0) {
        same_number(r, "the counter",
                    (strtoull(cell(r, "counter_before"), NULL, 10) + scheme->counter_step) &
                        0xffffff,
                    cell(r, "counter_in_id"));
        agree_or_refuse(
            r, scheme,
            PAIRS({"time", time}, {"random", random}, {"counter", cell(r, "counter_in_id")}),
            FIRN_FORM_HEX, cell(r, "id_hex"));
    } else if (strcmp(op, "createFromTime") == 0) {
        holds(r, r->status == OK, "all of these are ok");
        check_objectid_least(r, scheme, time);
    } else if (strcmp(op, "string") == 0) {
        unquoted(input, seconds);
        same(r, "the peer's word", cell(r, "parsed_time_or_isvalid"),
             r->status == OK ? "true" : "false");
        if (r->status == REFUSE) {
            refuse_text(r, scheme, FIRN_FORM_HEX, input);
        } else if (holds(r,
                         firn_parse(&id, FIRN_FORM_HEX, 96, input, strlen(input), NULL) == FIRN_OK,
                         "read")) {
            same(r, "the ID", firn_format(input, &id, FIRN_FORM_HEX), cell(r, "id_hex"));
        }
        return;
    } else {
        holds(r, strcmp(op, "parse") == 0, "the operation is known");
        holds(r, r->status == OK, "all of these are ok");
        if (holds(r,
                  read_with(&id, &fields, scheme, FIRN_FORM_HEX, cell(r, "id_hex"), NULL) ==
                      FIRN_OK,
                  "read")) {
            char tick[24];
            snprintf(tick, sizeof tick, "%" PRIu64,
                     fields.value[firn_scheme_field(scheme, "time")].low);
            agree(r, scheme,
                  PAIRS({"tick", tick}, {"random", random}, {"counter", cell(r, "counter_in_id")}),
                  FIRN_FORM_HEX, cell(r, "id_hex"));
        }
    }
    if (r->status == OK &&
        read_with(&id, &fields, scheme, FIRN_FORM_HEX, cell(r, "id_hex"), NULL) == FIRN_OK) {
        same(r, "the time", time_text(text, scheme, &fields, 3), cell(r, "parsed_time_or_isvalid"));
    }
}

static void check_objectid_legacy(const row *r) {
    char time[64];
    agree_or_refuse(r, scheme_of("objectid-legacy"),
                    PAIRS({"time", vector_at(time, cell(r, "seconds"), 0)},
                          {"machine", cell(r, "machine")}, {"pid", cell(r, "pid")},
                          {"counter", cell(r, "counter")}),
                    FIRN_FORM_HEX, cell(r, "id_hex"));
}

/* ---- UUIDs ---------------------------------------------------------------------------------- */

static void check_uuid1(const row *r) {
    char time[64], node[64], text[FIRN_TEXT_SIZE], value[FIRN_VALUE_SIZE];
    const firn_scheme *scheme = scheme_of("uuid1");
    firn_fields fields;
    firn_id id;
    agree(r, scheme,
          PAIRS({"time", vector_at(time, cell(r, "unix_ns"), 9)},
                {"clock_seq", cell(r, "clock_seq")}, {"node", hexed(node, cell(r, "node_hex"))}),
          FIRN_FORM_UUID, cell(r, "uuid"));
    if (read_with(&id, &fields, scheme, FIRN_FORM_UUID, cell(r, "uuid"), NULL) == FIRN_OK) {
        same_number(r, "the raw time", fields.value[firn_scheme_field(scheme, "time")].low,
                    cell(r, "time100ns"));
        same_number(r, "clock_seq", fields.value[firn_scheme_field(scheme, "clock_seq")].low,
                    cell(r, "clock_seq_back"));
        same(
            r, "the version",
            firn_fields_get(value, &fields, scheme, (uint32_t)firn_scheme_field(scheme, "version")),
            cell(r, "version"));
        same(r, "the hex", firn_format(text, &id, FIRN_FORM_HEX), cell(r, "hex32"));
        holds(r,
              strncmp(text, cell(r, "time_low_hex"), 8) == 0 &&
                  strncmp(text + 8, cell(r, "time_mid_hex"), 4) == 0 &&
                  strncmp(text + 12, cell(r, "time_hi_version_hex"), 4) == 0,
              "the groups are the peer's");
    }
}

static void check_uuid1_edges(const row *r) {
    char time[64];
    const firn_scheme *scheme = scheme_of("uuid1");
    firn_fields fields;
    firn_id id;
    firn_time shown;
    const char *instant = cell(r, "instant"), *node = "44:88:99:36:57:32";
    agree(
        r, scheme,
        PAIRS({"tick", cell(r, "time100ns")}, {"clock_seq", cell(r, "clock_seq")}, {"node", node}),
        FIRN_FORM_UUID, cell(r, "uuid"));
    agree(r, scheme,
          PAIRS({"time", vector_at(time, cell(r, "unix_100ns_signed"), 7)},
                {"clock_seq", cell(r, "clock_seq")}, {"node", node}),
          FIRN_FORM_UUID, cell(r, "uuid"));
    if (read_with(&id, &fields, scheme, FIRN_FORM_UUID, cell(r, "uuid"), NULL) == FIRN_OK &&
        holds(r, firn_time_parse(&shown, instant, strlen(instant), NULL) == FIRN_OK,
              "an instant")) {
        firn_time back = time_of(scheme, &fields);
        back.ns -= back.ns % 1000; /* the row has whole microseconds, rounded down */
        holds(r, firn_time_cmp(&back, &shown) == 0, "the instant is the peer's");
    }
}

/* Whether a uuid1 holds these fields, except for a time that doubles have rounded: seconds in
 * steps of up to 4.8 of 100 ns, then the product in steps of 16. */
static bool near_uuid1(const char *uuid, const firn_fields *fields) {
    const firn_scheme *scheme = scheme_of("uuid1");
    firn_fields other;
    firn_id id;
    if (read_with(&id, &other, scheme, FIRN_FORM_UUID, uuid, NULL) != FIRN_OK) {
        return false;
    }
    int64_t off = (int64_t)(other.value[0].low - fields->value[0].low);
    other.value[0] = fields->value[0];
    return off > -20 && off < 20 && equal_fields(scheme, &other, fields);
}

/* form_uuid_v1 of PostgreSQL 15 is right; the older ones and the reader go through doubles. */
static void check_uuid1_sql(const row *r) {
    char time[64], back_text[64];
    const firn_scheme *scheme = scheme_of("uuid1");
    firn_fields fields;
    firn_id id;
    firn_time when, peer;
    const pair pairs[] = {{"time", from_sql(time, cell(r, "ts"))},
                          {"clock_seq", cell(r, "clock_seq")},
                          {"node", cell(r, "mac")}};
    if (r->status == REFUSE) {
        refuse(r, scheme, pairs, 3);
        return;
    }
    agree(r, scheme, pairs, 3, FIRN_FORM_UUID, cell(r, "uuid_pg15"));
    from_sql(back_text, cell(r, "timestamp_read_back"));
    if (holds(r,
              firn_time_parse(&when, time, strlen(time), NULL) == FIRN_OK &&
                  firn_time_parse(&peer, back_text, strlen(back_text), NULL) == FIRN_OK &&
                  read_with(&id, &fields, scheme, FIRN_FORM_UUID, cell(r, "uuid_pg15"), NULL) ==
                      FIRN_OK,
              "read")) {
        firn_time back = time_of(scheme, &fields);
        bool same_time = firn_time_cmp(&peer, &when) == 0;
        holds(r, firn_time_cmp(&back, &when) == 0, "the instant comes back exactly");
        same(r, "the peer's word", cell(r, "reads_back_exactly"), same_time ? "t" : "f");
        holds(r, near_uuid1(cell(r, "uuid_if_extract_is_double"), &fields),
              "doubles err by less than 20");
        holds(r,
              (same_time && is(r, "uuid_if_extract_is_double", cell(r, "uuid_pg15"))) ==
                  (r->status == OK),
              "the peer differs where it is said to");
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

/* MySQL swaps any UUID; as layouts they can be distinguished. */
static void check_mysql(const row *r) {
    char text[FIRN_TEXT_SIZE];
    const firn_scheme *uuid1 = scheme_of("uuid1"), *swapped = scheme_of("uuid1-swapped");
    const char *uuid = cell(r, "uuid"), *flag1 = cell(r, "bin_flag1_hex");
    firn_scheme plain, exchanged;
    firn_id id, out, back;
    if (!holds(r, firn_parse(&id, FIRN_FORM_UUID, 128, uuid, strlen(uuid), NULL) == FIRN_OK,
               "read") ||
        !holds(r,
               firn_scheme_make(&plain, "low:32 mid:16 high:16 rest:64", NULL, NULL, NULL, NULL) ==
                       FIRN_OK &&
                   firn_scheme_make(&exchanged, "high:16 mid:16 low:32 rest:64", NULL, NULL, NULL,
                                    NULL) == FIRN_OK,
               "rows")) {
        return;
    }
    same(r, "the plain bytes", firn_format(text, &id, FIRN_FORM_HEX), cell(r, "bin_flag0_hex"));
    holds(r, firn_convert(&out, &exchanged, &id, &plain, NULL) == FIRN_OK, "exchanged");
    same(r, "the exchanged bytes", firn_format(text, &out, FIRN_FORM_HEX), flag1);
    if (r->status == REFUSE) {
        holds(r, firn_convert(&out, swapped, &id, uuid1, NULL) == FIRN_EMISMATCH,
              "what is no version 1 has no swapped form");
        refuse_text(r, swapped, FIRN_FORM_HEX, flag1);
        return;
    }
    holds(r, firn_convert(&out, swapped, &id, uuid1, NULL) == FIRN_OK, "swapped");
    same(r, "the swapped bytes", firn_format(text, &out, FIRN_FORM_HEX), flag1);
    holds(r,
          firn_parse(&out, FIRN_FORM_HEX, 128, flag1, 32, NULL) == FIRN_OK &&
              firn_convert(&back, uuid1, &out, swapped, NULL) == FIRN_OK &&
              firn_id_cmp(&back, &id) == 0,
          "and back");
}

static void check_uuid_digests(const row *r) {
    static const char *const names[] = {"dns", "url", "oid", "x500"};
    char text[FIRN_TEXT_SIZE], name[LINE_SIZE];
    size_t length = 0;
    const char *hex = cell(r, "name_utf8_hex");
    for (; given(r, "name_utf8_hex") && hex[2 * length] != '\0'; length++) {
        char two[3] = {hex[2 * length], hex[2 * length + 1], '\0'};
        name[length] = (char)strtoul(two, NULL, 16);
    }
    for (int version = 3; version <= 5; version += 2) {
        const firn_scheme *scheme = scheme_of(version == 3 ? "uuid3" : "uuid5");
        const char *want = cell(r, version == 3 ? "uuid_v3" : "uuid_v5");
        firn_fields fields;
        firn_id id;
        holds(r, firn_digest(&id, scheme, cell(r, "namespace_uuid"), name, length, NULL) == FIRN_OK,
              "digested");
        same(r, scheme->name, firn_format(text, &id, FIRN_FORM_UUID), want);
        bool known =
            is(r, "namespace", "nil") || is(r, "namespace", "max"); /* by their UUID alone */
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (is(r, "namespace", names[i])) {
                known = true;
                holds(r, firn_digest(&id, scheme, names[i], name, length, NULL) == FIRN_OK,
                      "digested");
                same(r, names[i], firn_format(text, &id, FIRN_FORM_UUID), want);
            }
        }
        holds(r, known, "the namespace is known");
        holds(r, read_with(&id, &fields, scheme, FIRN_FORM_UUID, want, NULL) == FIRN_OK, "read");
        holds(r, firn_pack(&id, scheme, &fields, NULL) == FIRN_OK, "packed");
        same(r, "there and back", firn_format(text, &id, FIRN_FORM_UUID), want);
    }
}

/* ---- beyond --------------------------------------------------------------------------------- */

/* Rows whose text or fields are not given (-) show one direction only, and are refusals. */
static void agree_one_way(const row *r, const firn_scheme *scheme, const pair *pairs, size_t count,
                          int form, const char *text) {
    if (r->status == OK) {
        agree(r, scheme, pairs, count, form, text);
    } else {
        holds(r, r->status == REFUSE, "these files know ok and refuse");
        if (strcmp(pairs[0].value, "-") != 0) {
            refuse(r, scheme, pairs, count);
        }
        if (strcmp(text, "-") != 0) {
            refuse_text(r, scheme, form, text);
        }
    }
}

/* vector_at(), or - unchanged. */
static const char *at_or_none(char out[64], const char *number, size_t digits) {
    return strcmp(number, "-") == 0 ? "-" : vector_at(out, number, digits);
}

static void check_uuid6(const row *r) {
    char time[64], node[64], text[FIRN_TEXT_SIZE];
    static const char *const names[] = {"uuid1", "uuid6", "uuid1-swapped"};
    const firn_scheme *scheme = scheme_of("uuid6");
    firn_id id, six, out;
    const pair pairs[] = {{"time", at_or_none(time, cell(r, "unix_100ns"), 7)},
                          {"clock_seq", cell(r, "clock_seq")},
                          {"node", hexed(node, cell(r, "node_hex"))}};
    agree_one_way(r, scheme, pairs, 3, FIRN_FORM_UUID, cell(r, "uuid6"));
    if (r->status != OK) {
        return;
    }
    agree(r, scheme_of("uuid1"), pairs, 3, FIRN_FORM_UUID, cell(r, "uuid1"));
    agree(
        r, scheme,
        PAIRS({"tick", cell(r, "time100ns")}, {"clock_seq", cell(r, "clock_seq")}, {"node", node}),
        FIRN_FORM_UUID, cell(r, "uuid6"));
    if (firn_parse(&id, FIRN_FORM_UUID, 128, cell(r, "uuid1"), 36, NULL) == FIRN_OK &&
        firn_parse(&six, FIRN_FORM_UUID, 128, cell(r, "uuid6"), 36, NULL) == FIRN_OK) {
        holds(r, firn_convert(&out, scheme, &id, scheme_of("uuid1"), NULL) == FIRN_OK, "1 to 6");
        same(r, "1 to 6", firn_format(text, &out, FIRN_FORM_UUID), cell(r, "uuid6"));
        for (size_t i = 0; i < 3; i++) { /* by way of each of the three */
            firn_id via, back;
            holds(r,
                  firn_convert(&via, scheme_of(names[i]), &six, scheme, NULL) == FIRN_OK &&
                      firn_convert(&back, scheme_of("uuid1"), &via, scheme_of(names[i]), NULL) ==
                          FIRN_OK &&
                      firn_id_cmp(&back, &id) == 0,
                  names[i]);
        }
    }
}

static void check_uuid7(const row *r) {
    char time[64], random[64];
    agree_one_way(r, scheme_of("uuid7"),
                  PAIRS({"time", at_or_none(time, cell(r, "ms"), 3)},
                        {"sequence", cell(r, "sequence")},
                        {"random", hexed(random, cell(r, "random_hex"))}),
                  FIRN_FORM_UUID, cell(r, "uuid"));
}

static void check_uuid8(const row *r) {
    char a[64], b[64], c[64];
    firn_scheme scheme;
    if (!holds(r,
               firn_scheme_make(&scheme, "a:48 version=8:4 b:12 variant=2:2 c:62", NULL, NULL, NULL,
                                NULL) == FIRN_OK,
               "the row is taken")) {
        return;
    }
    const pair pairs[] = {{"a", given(r, "a_hex") ? hexed(a, cell(r, "a_hex")) : "-"},
                          {"b", hexed(b, cell(r, "b_hex"))},
                          {"c", hexed(c, cell(r, "c_hex"))}};
    agree_one_way(r, &scheme, pairs, 3, FIRN_FORM_UUID, cell(r, "uuid"));
}

static void check_ulid(const row *r) {
    char time[64], random[64], upper[64];
    const firn_scheme *scheme = scheme_of("ulid");
    const char *text = cell(r, "text");
    firn_fields fields;
    firn_id id;
    const pair pairs[] = {{"time", at_or_none(time, cell(r, "ms"), 3)},
                          {"random", hexed(random, cell(r, "random_hex"))}};
    for (size_t i = 0; i < sizeof upper && (i == 0 || text[i - 1] != '\0'); i++) {
        upper[i] = (char)(text[i] >= 'a' && text[i] <= 'z' ? text[i] - 'a' + 'A' : text[i]);
    }
    agree_one_way(r, scheme, pairs, 2, FIRN_FORM_BASE32, r->status == OK ? upper : text);
    if (r->status == OK) {
        agree(r, scheme, pairs, 2, FIRN_FORM_UUID, cell(r, "uuid"));
        holds(r, read_with(&id, &fields, scheme, FIRN_FORM_BASE32, text, NULL) == FIRN_OK,
              "read in its own case");
        holds(r, fields.value[0].low == strtoull(cell(r, "ms"), NULL, 10), "the same in any case");
    }
}

static void check_ksuid(const row *r) {
    char time[64], random[64];
    const firn_scheme *scheme = scheme_of("ksuid");
    const pair pairs[] = {{"time", at_or_none(time, cell(r, "unix_s"), 0)},
                          {"random", hexed(random, cell(r, "random_hex"))}};
    agree_one_way(r, scheme, pairs, 2, FIRN_FORM_BASE62, cell(r, "text"));
    if (r->status == OK) {
        agree(r, scheme, pairs, 2, FIRN_FORM_HEX, cell(r, "raw_hex"));
    }
}

static void check_xid(const row *r) {
    char time[64];
    const firn_scheme *scheme = scheme_of("xid");
    const pair pairs[] = {{"time", at_or_none(time, cell(r, "unix_s"), 0)},
                          {"machine", cell(r, "machine")},
                          {"pid", cell(r, "pid")},
                          {"counter", cell(r, "counter")}};
    agree_one_way(r, scheme, pairs, 4, FIRN_FORM_BASE32HEX, cell(r, "text"));
    if (r->status == OK) {
        agree(r, scheme, pairs, 4, FIRN_FORM_HEX, cell(r, "id_hex"));
    }
}

static void check_sonyflake(const row *r) {
    char time[64];
    firn_scheme scheme;
    bool second = is(r, "version", "v2");
    holds(r, second || is(r, "version", "v1"), "the version is known");
    if (!holds(r,
               firn_scheme_make(&scheme, "sonyflake", second ? "2025-01-01T00:00:00Z" : NULL, NULL,
                                NULL, NULL) == FIRN_OK,
               "the epoch is taken")) {
        return;
    }
    const pair pairs[] = {{"time", at_or_none(time, cell(r, "ms"), 3)},
                          {"sequence", cell(r, "sequence")},
                          {"machine", cell(r, "machine")}};
    agree_one_way(r, &scheme, pairs, 3, FIRN_FORM_DEC, cell(r, "id"));
    if (r->status == OK) {
        agree(r, &scheme,
              PAIRS({"tick", cell(r, "elapsed")}, {"sequence", cell(r, "sequence")},
                    {"machine", cell(r, "machine")}),
              FIRN_FORM_DEC, cell(r, "id"));
    }
}

static void check_discord(const row *r) {
    char time[64];
    agree_one_way(r, scheme_of("discord"),
                  PAIRS({"time", at_or_none(time, cell(r, "ms"), 3)}, {"worker", cell(r, "worker")},
                        {"process", cell(r, "process")}, {"sequence", cell(r, "increment")}),
                  FIRN_FORM_UNSIGNED, cell(r, "id"));
}

static void check_tsid(const row *r) {
    char time[64], upper[64];
    const firn_scheme *scheme = scheme_of("tsid");
    const char *text = cell(r, "text");
    firn_fields fields;
    firn_id id;
    const pair pairs[] = {{"time", at_or_none(time, cell(r, "ms"), 3)},
                          {"node", cell(r, "node")},
                          {"sequence", cell(r, "counter")}};
    for (size_t i = 0; i < sizeof upper && (i == 0 || text[i - 1] != '\0'); i++) {
        upper[i] = (char)(text[i] >= 'a' && text[i] <= 'z' ? text[i] - 'a' + 'A' : text[i]);
    }
    agree_one_way(r, scheme, pairs, 3, FIRN_FORM_BASE32, r->status == OK ? upper : text);
    if (r->status == OK) {
        agree(r, scheme, pairs, 3, FIRN_FORM_UNSIGNED, cell(r, "id"));
        holds(r, read_with(&id, &fields, scheme, FIRN_FORM_BASE32, text, NULL) == FIRN_OK,
              "read in its own case");
    }
}

static void check_mastodon(const row *r) {
    char time[64], tail[24];
    agree_one_way(r, scheme_of("mastodon"),
                  PAIRS({"time", at_or_none(time, cell(r, "ms"), 3)}, {"node", cell(r, "node")},
                        {"sequence", cell(r, "sequence")}),
                  FIRN_FORM_DEC, cell(r, "id"));
    if (r->status == OK) {
        snprintf(tail, sizeof tail, "%llu", strtoull(cell(r, "id"), NULL, 10) & 65535);
        same(r, "tail", tail, cell(r, "tail"));
    }
}

static void check_timeflake(const row *r) {
    char time[64], random[64];
    const firn_scheme *scheme = scheme_of("timeflake");
    const pair pairs[] = {
        {"time", at_or_none(time, cell(r, "ms"), 3)},
        {"random", given(r, "random_hex") ? hexed(random, cell(r, "random_hex")) : "-"}};
    agree_one_way(r, scheme, pairs, 2, FIRN_FORM_BASE62, cell(r, "text"));
    if (r->status == OK) {
        agree(r, scheme, pairs, 2, FIRN_FORM_HEX, cell(r, "hex"));
        agree(r, scheme, pairs, 2, FIRN_FORM_UUID, cell(r, "uuid"));
    }
}

static void check_tid(const row *r) {
    char time[64];
    const firn_scheme *scheme = scheme_of("tid");
    const pair pairs[] = {{"time", at_or_none(time, cell(r, "us"), 6)},
                          {"clock_id", cell(r, "clock_id")}};
    agree_one_way(r, scheme, pairs, 2, FIRN_FORM_BASE32SORT, cell(r, "text"));
    if (r->status == OK) {
        agree(r, scheme, pairs, 2, FIRN_FORM_DEC, cell(r, "id"));
    }
}

static void check_pushid(const row *r) {
    char time[64], random[64];
    const pair pairs[] = {
        {"time", at_or_none(time, cell(r, "ms"), 3)},
        {"random", given(r, "random_hex") ? hexed(random, cell(r, "random_hex")) : "-"}};
    agree_one_way(r, scheme_of("pushid"), pairs, 2, FIRN_FORM_BASE64SORT, cell(r, "text"));
}

static void check_scru64(const row *r) {
    char time[64], lower[64];
    const char *text = cell(r, "text");
    const pair pairs[] = {{"time", at_or_none(time, cell(r, "ms"), 3)},
                          {"node_counter", cell(r, "node_counter")}};
    for (size_t i = 0; i < sizeof lower && (i == 0 || text[i - 1] != '\0'); i++) {
        lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
    }
    agree_one_way(r, scheme_of("scru64"), pairs, 2, FIRN_FORM_BASE36LOWER,
                  r->status == OK ? lower : text);
    if (r->status == OK) {
        agree(r, scheme_of("scru64"), pairs, 2, FIRN_FORM_DEC, cell(r, "id"));
    }
}

static void check_scru128(const row *r) {
    char time[64], lower[64];
    const firn_scheme *scheme = scheme_of("scru128");
    const char *text = cell(r, "text");
    firn_fields fields;
    firn_id id;
    const pair pairs[] = {{"time", at_or_none(time, cell(r, "ms"), 3)},
                          {"counter_hi", cell(r, "counter_hi")},
                          {"sequence", cell(r, "counter_lo")},
                          {"random", cell(r, "entropy")}};
    for (size_t i = 0; i < sizeof lower && (i == 0 || text[i - 1] != '\0'); i++) {
        lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
    }
    agree_one_way(r, scheme, pairs, 4, FIRN_FORM_BASE36LOWER, r->status == OK ? lower : text);
    if (r->status == OK) {
        agree(r, scheme, pairs, 4, FIRN_FORM_HEX, cell(r, "hex"));
        holds(r, read_with(&id, &fields, scheme, FIRN_FORM_BASE36LOWER, text, NULL) == FIRN_OK,
              "read in its own case");
    }
}

static void check_js53(const row *r) {
    char time[64];
    agree_one_way(r, scheme_of("js53"),
                  PAIRS({"time", at_or_none(time, cell(r, "ms"), 3)}, {"node", cell(r, "node")},
                        {"sequence", cell(r, "sequence")}),
                  FIRN_FORM_DEC, cell(r, "id"));
}

/* The prefix is not a part of the ID. Every UUID has such a text; only version 7 has the fields of
 * typeid. */
static void check_typeid(const row *r) {
    char text[FIRN_TEXT_SIZE], own[FIRN_PREFIX_SIZE];
    const firn_scheme *scheme = scheme_of("typeid"), *seen;
    const char *typeid = cell(r, "text"), *uuid = cell(r, "uuid");
    firn_fields fields;
    firn_error error = {0};
    firn_id id;
    int code = firn_parse(&id, FIRN_FORM_TYPEID, 128, typeid, strlen(typeid), &error);
    if (r->status != OK) {
        holds(r, code == FIRN_ETEXT && strlen(error.text) > 10, "refused, and it is said why");
        return;
    }
    if (!holds(r, code == FIRN_OK, "read")) {
        return;
    }
    size_t prefix = given(r, "prefix") ? strlen(cell(r, "prefix")) + 1 : 0;
    holds(r, firn_prefix_read(own, typeid, strlen(typeid)) == prefix - (prefix > 0),
          "the prefix has its length");
    same(r, "the prefix", own, given(r, "prefix") ? cell(r, "prefix") : "");
    same(r, "the text", firn_prefix_format(text, own, &id), typeid);
    seen = firn_scheme_seen(scheme, &id);
    holds(r, firn_unpack(&fields, seen, &id, NULL) == FIRN_OK, "what is seen has its fields");
    holds(r, (seen == scheme) == (uuid[14] == '7'), "another version is seen");
    same(r, "the UUID", firn_format(text, &id, FIRN_FORM_UUID), uuid);
    same(r, "the digits", firn_format(text, &id, FIRN_FORM_TYPEID), typeid + prefix);
    code = firn_unpack(&fields, scheme, &id, NULL);
    holds(r, code == (uuid[14] == '7' ? FIRN_OK : FIRN_EMISMATCH),
          "only version 7 is of the scheme");
    if (code == FIRN_OK) {
        holds(r, firn_pack(&id, scheme, &fields, NULL) == FIRN_OK, "packed");
        same(r, "there and back", firn_format(text, &id, FIRN_FORM_UUID), uuid);
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

/* ---- decimal -------------------------------------------------------------------------------- */

static void check_dated(const row *r, const firn_scheme *scheme, const pair *pairs, size_t count) {
    agree_one_way(r, scheme, pairs, count, FIRN_FORM_DATED, cell(r, "text"));
    if (r->status == OK) {
        agree(r, scheme, pairs, count, FIRN_FORM_HEX, cell(r, "id_hex"));
    }
}

static void check_time_random(const row *r) {
    char time[64];
    firn_scheme scheme;
    firn_error error;
    if (holds(r,
              firn_scheme_make(&scheme, "time-random", NULL, NULL, cell(r, "digits"), &error) ==
                  FIRN_OK,
              "the digits are taken")) {
        check_dated(
            r, &scheme,
            PAIRS({"time", at_or_none(time, cell(r, "ms"), 3)}, {"random", cell(r, "random")}));
    }
}

static void check_time_member(const row *r) {
    char time[64];
    check_dated(r, scheme_of("time-member"),
                PAIRS({"time", at_or_none(time, cell(r, "ms"), 3)}, {"member", cell(r, "member")},
                      {"sequence", cell(r, "sequence")}));
}

/* ---- the files ------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *sentence;
    void (*check)(const row *r);
    int statuses;
} file;

static const file files[] = {
    {"twitter_snowflake", "every answer of Twitter's snowflake is known", check_twitter, AR},
    {"leaf_snowflake", "every answer of Meituan's Leaf in snowflake mode is known", check_leaf, AR},
    {"leaf_decode", "every answer of Leaf's decoder is known", check_leaf_decode, AR},
    {"seata_idworker", "every answer of Seata's IdWorker is known", check_seata, AR},
    {"customuuid_41_3_10_10", "every answer of the class with region bits is known", check_region,
     AR},
    {"instagram", "every answer of Instagram's expression is known", check_instagram, AR},
    {"baidu_uid", "every answer of Baidu's uid-generator is known", check_baidu, AR},
    {"simpleflake", "every answer of simpleflake is known, and where its doubles err",
     check_simpleflake, ARP},
    {"lable_build", "every answer of Lable's uniqueid is known", check_lable, A},
    {"lable_parse", "every reading of Lable's uniqueid is known", check_lable, A},
    {"boundary_flake", "every answer of Boundary's flake is known", check_flake, AR},
    {"locality_uuid_java", "every answer of Groupon's Java is known, and its stuck digit",
     check_locality_java, ARP},
    {"locality_uuid_ruby", "every answer of Groupon's Ruby is known, and where its doubles err",
     check_locality_ruby, AP},
    {"locality_uuid_parse", "every reading of Groupon's libraries is known", check_locality_parse,
     AR},
    {"locality_uuid_seqseed", "every start of Groupon's sequential mode is known",
     check_locality_start, A},
    {"objectid_current", "every answer of MongoDB's ObjectID is known", check_objectid, AR},
    {"objectid_legacy", "every ObjectID of the older layout is known", check_objectid_legacy, AR},
    {"uuid_v1_cpython", "every answer of CPython's uuid1 is known", check_uuid1, A},
    {"uuid_v1_edges", "the ends of uuid1's time are known", check_uuid1_edges, A},
    {"uuid_v1_seed_sql", "every answer of form_uuid_v1 is known, and where its doubles err",
     check_uuid1_sql, ARP},
    {"uuid_v1_seed_sql_read", "every reading of uuid_v1_timestamp is known, and where it errs",
     check_uuid1_sql_read, ARP},
    {"mysql_uuid_to_bin", "every answer of MySQL's UUID_TO_BIN is known", check_mysql, AR},
    {"uuid_v3_v5_cpython", "every answer of CPython's uuid3 and uuid5 is known", check_uuid_digests,
     A},
    {"leaf_segment_step", "every next step of Leaf's segments is known", check_segment_step, A},
    {"leaf_segment_trace", "a run of Leaf's segments is repeated call by call", check_segment_trace,
     A},
    {"ticket_server", "every ticket of Flickr's servers is known", check_ticket, A},
    {"ticket_server_after", "a ticket follows on what is stored", check_ticket_after, AR},
    {"beyond_uuid6", "every answer of npm's uuid version 6 is known", check_uuid6, AR},
    {"beyond_uuid7", "every answer of npm's uuid version 7 is known", check_uuid7, AR},
    {"beyond_uuid8", "a row of the user's own makes every uuid8", check_uuid8, AR},
    {"beyond_ulid", "every answer of npm's ulid is known", check_ulid, AR},
    {"beyond_ksuid", "every answer of npm's ksuid is known", check_ksuid, AR},
    {"beyond_xid", "every answer of xid is known", check_xid, AR},
    {"beyond_sonyflake", "every answer of Sonyflake, old and new, is known", check_sonyflake, AR},
    {"beyond_discord", "every answer of Discord's snowflake is known", check_discord, AR},
    {"beyond_tsid", "every answer of TSID is known", check_tsid, AR},
    {"beyond_js53", "every ID below 2^53 is known", check_js53, AR},
    {"beyond_mastodon", "every answer of Mastodon's timestamp_id is known", check_mastodon, AR},
    {"beyond_timeflake", "every answer of Timeflake is known", check_timeflake, AR},
    {"beyond_tid", "every answer of the AT protocol's TID is known", check_tid, AR},
    {"beyond_pushid", "every answer of Firebase's push ID is known", check_pushid, AR},
    {"beyond_scru64", "every answer of SCRU64 is known", check_scru64, AR},
    {"beyond_scru128", "every answer of SCRU128 is known", check_scru128, AR},
    {"beyond_typeid", "every answer of TypeID and its specification is known", check_typeid, AR},
    {"time_random", "every calendar with random digits is known", check_time_random, AR},
    {"time_member", "every calendar with a member is known", check_time_member, AR},
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

static void every_file_is_checked(void **state) {
    DIR *folder = opendir(FIRN_VECTORS);
    size_t found = 0;
    (void)state;
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t length = strlen(entry->d_name);
        bool known = false;
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "formats") == 0) {
            continue; /* formats_pure_test.c checks that folder */
        }
        for (size_t i = 0; i < FILES; i++) {
            known = known || (length == strlen(files[i].name) + 4 &&
                              strncmp(entry->d_name, files[i].name, length - 4) == 0 &&
                              strcmp(entry->d_name + length - 4, ".tsv") == 0);
        }
        if (!known) {
            fail_msg("nobody checks %s", entry->d_name);
        }
        found++;
    }
    closedir(folder);
    assert_int_equal(found, FILES);
}

int main(void) {
    struct CMUnitTest tests[FILES + 1] = {{"every file in the folder is checked by somebody",
                                           every_file_is_checked, NULL, NULL, NULL}};
    for (size_t i = 0; i < FILES; i++) {
        tests[i + 1] =
            (struct CMUnitTest){files[i].sentence, run_file, NULL, NULL, (void *)&files[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
