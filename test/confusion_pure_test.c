/* SPDX-License-Identifier: MIT */
/* Which text is recognised as which: many texts of each kind, IDs and others, and the scheme that
 * is the answer for each; "possible" where a number shows none. Prints the matrix. Every kind
 * states how many of a hundred must be right. */
#include <firn/recognize.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random_ids.h"

enum { EACH = 1000, TEXT_SIZE = FIRN_TEXT_SIZE + 16 };

#define FROM_2005 1104537600
#define END_2045  2366841600

/* ---- other texts ----------------------------------------------------------------------------- */

static void make_digits(char *out, int least, int most) {
    int length = least + (int)below((uint64_t)(most - least + 1));
    out[0] = (char)('1' + below(9));
    for (int i = 1; i < length; i++) {
        out[i] = (char)('0' + below(10));
    }
    out[length] = '\0';
}

static void make_hex(char *out, int length) {
    for (int i = 0; i < length; i++) {
        out[i] = "0123456789abcdef"[below(16)];
    }
    out[length] = '\0';
}

/* A UUID text with these bits where version and variant are. */
static void make_uuid(char *out, unsigned version, unsigned variant, unsigned variant_bits) {
    firn_id id = {chance(), chance(), 0, 128};
    id.high = (id.high & ~UINT64_C(0xf000)) | (uint64_t)version << 12;
    id.low = (id.low << variant_bits >> variant_bits) | (uint64_t)variant << (64 - variant_bits);
    firn_format(out, &id, FIRN_FORM_UUID);
}

static void make_calendar(char *out, bool ms) {
    int length = sprintf(out, "20%02u%02u%02u%02u%02u%02u", (unsigned)(5 + below(35)),
                         (unsigned)(1 + below(12)), (unsigned)(1 + below(28)), (unsigned)below(24),
                         (unsigned)below(60), (unsigned)below(60));
    if (ms) {
        sprintf(out + length, "%03u", (unsigned)below(1000));
    }
}

static void make_epoch(char *out, uint64_t unit, uint64_t each) {
    uint64_t s = (uint64_t)second_of(FROM_2005, END_2045);
    sprintf(out, "%llu", (unsigned long long)(s * unit + below(unit / each) * each));
}

/* 26 Crockford digits of a time that no ULID of today has. */
static void make_far_ulid(char *out) {
    if (below(2) == 0) {
        make_id(out, "ulid", -1, 0, FROM_2005);
    } else {
        make_id(out, "ulid", -1, END_2045, INT64_C(250000000000));
    }
}

/* ---- kinds ----------------------------------------------------------------------------------- */

enum make {
    ID,
    DIGITS,
    EPOCH_S,
    EPOCH_MS,
    EPOCH_US,
    EPOCH_NS,
    CALENDAR,
    CALENDAR_MS,
    HEX,
    UUID_NCS,
    UUID_MICROSOFT,
    UUID_RESERVED,
    UUID_VERSION,
    FAR_ULID
};

/* Of 100 IDs at least `right` must be read as one of `best`; -: not a scheme. */
static const struct kind {
    const char *name;
    enum make make;
    const char *scheme;
    int form, from, to; /* digits: least and most; else of an ID or a hash */
    const char *best;
    int right;
} kinds[] = {
/* of the first days of its layout it is a small number, as times in us are */
#define NUMBERS " possible "
    {"snowflake", ID, "snowflake", -1, 0, 0, NUMBERS, 100},
    {"leaf", ID, "leaf", -1, 0, 0, NUMBERS, 99},
    {"seata", ID, "seata", -1, 0, 0, NUMBERS, 99}, /* its node comes first: any number */
    {"region", ID, "region", -1, 0, 0, NUMBERS, 99},
    {"instagram", ID, "instagram", -1, 0, 0, NUMBERS, 99},
    {"simpleflake", ID, "simpleflake", -1, 0, 0, NUMBERS, 99},
    {"baidu", ID, "baidu", -1, 0, 0, NUMBERS, 99},
    {"lable-spread", ID, "lable-spread", -1, 0, 0, NUMBERS, 99},
    {"lable-sequential", ID, "lable-sequential", -1, 0, 0, NUMBERS, 99},
    {"sonyflake", ID, "sonyflake", -1, 0, 0, NUMBERS, 97}, /* of its first weeks: small numbers */
    {"discord", ID, "discord", -1, 0, 0, NUMBERS, 99},
    {"tsid", ID, "tsid", -1, 0, 0, " tsid ", 99},
    /* of 2032 to 2040 they are times in us, too */
    {"js53", ID, "js53", -1, 0, 1956528000, NUMBERS, 98},
    {"objectid", ID, "objectid", -1, 0, 2145916800, " objectid ", 92}, /* since 2007 */
    {"objectid-legacy", ID, "objectid-legacy", -1, 0, 2145916800, " objectid ", 92},
    {"xid", ID, "xid", -1, 0, 0, " xid ", 100},
    {"flake", ID, "flake", -1, 0, 0, " flake ", 99},
    {"locality", ID, "locality", -1, 0, 0, " locality ", 99},
    {"locality-sequential", ID, "locality-sequential", -1, 0, 0, " locality ", 99},
    {"uuid1", ID, "uuid1", -1, 0, 0, " uuid1 ", 100},
    {"uuid1 hex", ID, "uuid1", FIRN_FORM_HEX, 0, 0, " uuid1 ", 99},
    {"uuid1-swapped", ID, "uuid1-swapped", -1, 0, 0, " uuid1-swapped ", 100},
    {"uuid2", ID, "uuid2", -1, 0, 0, " uuid2 ", 100},
    {"uuid3", ID, "uuid3", -1, 0, 0, " uuid3 ", 100},
    {"uuid4", ID, "uuid4", -1, 0, 0, " uuid4 ", 100},
    {"uuid4 hex", ID, "uuid4", FIRN_FORM_HEX, 0, 0, NUMBERS, 99}, /* as a digest is */
    {"uuid4 braced", ID, "uuid4", FIRN_FORM_BRACED, 0, 0, " uuid4 ", 100},
    {"uuid4 urn", ID, "uuid4", FIRN_FORM_URN, 0, 0, " uuid4 ", 100},
    {"uuid5", ID, "uuid5", -1, 0, 0, " uuid5 ", 100},
    {"uuid6", ID, "uuid6", -1, 0, 0, " uuid6 ", 100},
    {"uuid6 hex", ID, "uuid6", FIRN_FORM_HEX, 0, 0, " uuid6 uuid1-swapped ", 99},
    {"uuid7", ID, "uuid7", -1, 0, 0, " uuid7 ", 100},
    {"uuid7 hex", ID, "uuid7", FIRN_FORM_HEX, 0, 0, " uuid7 ", 100},
    {"uuid8", ID, "uuid8", -1, 0, 0, " uuid8 ", 100},
    {"typeid", ID, "typeid", -1, 0, 0, " typeid ", 100},
    {"ulid", ID, "ulid", -1, 0, 0, " ulid ", 100},
    {"ulid far", FAR_ULID, NULL, -1, 0, 0, " ulid ", 100},
    {"ksuid", ID, "ksuid", -1, 0, 0, " ksuid ", 100},
    {"time-random", ID, "time-random", -1, 0, 0, " time-random ", 100},
    {"time-member", ID, "time-member", -1, 0, 0, " time-member time-random ", 100},
    {"amount", DIGITS, NULL, 0, 1, 9, " - ", 100},
    {"telephone", DIGITS, NULL, 0, 8, 13, " - ", 100},
    {"epoch s", EPOCH_S, NULL, 0, 0, 0, " - ", 100},
    {"epoch ms", EPOCH_MS, NULL, 0, 0, 0, " - ", 100},
    {"epoch us", EPOCH_US, NULL, 0, 0, 0, " - ", 100},
    {"epoch ns", EPOCH_NS, NULL, 0, 0, 0, " - ", 100}, /* whole ms, as clocks of ms give them */
    {"calendar", CALENDAR, NULL, 0, 0, 0, " - ", 100},
    {"calendar ms", CALENDAR_MS, NULL, 0, 0, 0, " - ", 100},
    {"MD5", HEX, NULL, 0, 32, 0, " - possible ", 98},
    {"SHA-1", HEX, NULL, 0, 40, 0, " - ", 100},
    {"SHA-256", HEX, NULL, 0, 64, 0, " - ", 100},
    {"UUID NCS", UUID_NCS, NULL, 0, 0, 0, " - ", 99},
    {"UUID Microsoft", UUID_MICROSOFT, NULL, 0, 0, 0, " - ", 99},
    {"UUID reserved", UUID_RESERVED, NULL, 0, 0, 0, " - ", 99},
    {"UUID version 9..15", UUID_VERSION, NULL, 0, 0, 0, " - ", 98},
    /* new kinds at the end: the dice of the others stay */
    {"mastodon", ID, "mastodon", -1, 0, 0, NUMBERS, 99},
    {"timeflake", ID, "timeflake", -1, 0, 0, " timeflake ", 100},
    {"tid", ID, "tid", -1, 0, 0, " tid ", 100},
    {"pushid", ID, "pushid", -1, 0, 0, " pushid ", 100},
    {"scru64", ID, "scru64", -1, 0, 0, " scru64 ", 100},
    {"scru128", ID, "scru128", -1, 0, 0, " scru128 ", 100},
    {"card or IMEI", DIGITS, NULL, 0, 15, 16, " - possible ", 100},
    {"number", DIGITS, NULL, 0, 14, 19, " - possible ", 100},
    {"span ID", HEX, NULL, 0, 16, 0, " - possible ", 100},
    /* 1 of 4 has a time since 2007 */
    {"24 hex digits", HEX, NULL, 0, 24, 0, " - possible ", 70},
};

static void make_text(char *out, const struct kind *kind) {
    switch (kind->make) {
    case ID:
        make_id(out, kind->scheme, kind->form, FROM_2005, kind->to != 0 ? kind->to : END_2045);
        break;
    case DIGITS:
        make_digits(out, kind->from, kind->to);
        break;
    case EPOCH_S:
        make_epoch(out, 1, 1);
        break;
    case EPOCH_MS:
        make_epoch(out, 1000, 1);
        break;
    case EPOCH_US:
        make_epoch(out, 1000000, 1);
        break;
    case EPOCH_NS:
        make_epoch(out, 1000000000, 1000000);
        break;
    case CALENDAR:
    case CALENDAR_MS:
        make_calendar(out, kind->make == CALENDAR_MS);
        break;
    case HEX:
        make_hex(out, kind->from);
        break;
    case UUID_NCS:
        make_uuid(out, (unsigned)below(16), 0, 1);
        break;
    case UUID_MICROSOFT:
        make_uuid(out, (unsigned)below(16), 6, 3);
        break;
    case UUID_RESERVED:
        make_uuid(out, (unsigned)below(16), 7, 3);
        break;
    case UUID_VERSION:
        make_uuid(out, 9 + (unsigned)below(7), 2, 2);
        break;
    case FAR_ULID:
        make_far_ulid(out);
        break;
    }
}

static const char *best_of(const char *text) {
    firn_reading readings[FIRN_READINGS_MAX];
    if (firn_guess(readings, text, strlen(text), -1) == 0) {
        return "-";
    }
    return readings[0].sure == FIRN_POSSIBLE ? "possible" : readings[0].scheme->name;
}

static bool may_be(const char *text, const char *scheme) {
    firn_reading readings[FIRN_READINGS_MAX];
    const size_t count = firn_guess(readings, text, strlen(text), -1);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(readings[i].scheme->name, scheme) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_in(const char *list, const char *name) {
    char word[FIRN_NAME_SIZE + 2];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(list, word) != NULL;
}

static void each_kind_is_taken_for_what_it_is(void **state) {
    (void)state;
    int bad = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const struct kind *kind = &kinds[k];
        struct {
            const char *name;
            int count;
        } row[64] = {{NULL, 0}};
        int right = 0, width = 0;
        char line[512], text[TEXT_SIZE];
        for (int n = 0; n < EACH; n++) {
            make_text(text, kind);
            const char *best = best_of(text);
            size_t i = 0;
            while (row[i].name != NULL && strcmp(row[i].name, best) != 0) {
                i++;
            }
            row[i].name = best;
            row[i].count++;
            right += is_in(kind->best, best);
        }
        for (size_t i = 0; row[i].name != NULL && width < (int)sizeof line - 40; i++) {
            width += snprintf(line + width, sizeof line - (size_t)width, "  %s %.1f%%", row[i].name,
                              row[i].count * 100.0 / EACH);
        }
        print_message("%-19s%s\n", kind->name, line);
        if (right * 100 < kind->right * EACH) {
            print_message("    too few: %d of %d are read as%s\n", right, EACH, kind->best);
            bad++;
        }
    }
    assert_int_equal(bad, 0);
}

/* ---- what is not an ID of a scheme ----------------------------------------------------------- */

/* Numbers of `base` and up to `span` more; else texts of a pattern: # is a decimal digit, x a hex
 * digit, A a capital letter, n a letter or digit, u one of base64url, * the check digit of Luhn.
 * `own`: the format that may lead. */
static const struct negative {
    const char *name, *pattern;
    uint64_t base, span;
    const char *own;
} negatives[] = {
    {"card of Visa", "4##############*", 0, 0, NULL},
    {"card of Mastercard", "5##############*", 0, 0, NULL},
    {"card of Amex", "37############*", 0, 0, NULL},
    {"IMEI", "35############*", 0, 0, NULL},
    {"telephone", "+491#########", 0, 0, NULL},
    {"telephone, digits", "00491#########", 0, 0, NULL},
    {"span ID", "xxxxxxxxxxxxxxxx", 0, 0, NULL},
    {"trace ID", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 0, 0, NULL},
    {"SHA-1", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 0, 0, NULL},
    {"SHA-256", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 0, 0, NULL},
    {"date and 4 digits", "20240229####", 0, 0, NULL},
    {"date and 6 digits", "20240229######", 0, 0, NULL},
    {"date and 8 digits", "20240229########", 0, 0, NULL},
    {"date, hyphen, digits", "20240229-######", 0, 0, NULL},
    {"FILETIME", NULL, UINT64_C(130000000000000000), UINT64_C(10000000000000000), NULL},
    {".NET ticks", NULL, UINT64_C(635000000000000000), UINT64_C(10000000000000000), NULL},
    {"TSO of TiDB", NULL, UINT64_C(380000000000000000), UINT64_C(80000000000000000), NULL},
    {"unique_rowid", NULL, UINT64_C(250000000000000000), UINT64_C(900000000000000000), NULL},
    {"Steam ID", NULL, UINT64_C(76561197960265728), UINT64_C(2000000000), NULL},
    {"Facebook ID", NULL, UINT64_C(100000000000000), UINT64_C(100000000000), NULL},
    {"Facebook post", NULL, UINT64_C(1000000000000000), UINT64_C(9000000000000000), NULL},
    {"Slack ts", "17########.######", 0, 0, NULL},
    {"Cloudflare Ray", "xxxxxxxxxxxxxxxx-AAA", 0, 0, "cloudflare-ray"},
    {"AWS X-Ray", "1-6#xxxxxx-xxxxxxxxxxxxxxxxxxxxxxxx", 0, 0, "aws-xray"},
    {"Salesforce, 15", "001nnnnnnnnnnnn", 0, 0, NULL},
    {"Salesforce, 18", "001nnnnnnnnnnnnnnn", 0, 0, NULL},
    {"Elasticsearch", "uuuuuuuuuuuuuuuuuuuu", 0, 0, NULL},
    {"EC2", "i-0xxxxxxxxxxxxxxxx", 0, 0, NULL},
    {"EBS", "vol-0xxxxxxxxxxxxxxxx", 0, 0, NULL},
};

static char luhn(const char *digits, int length) {
    unsigned sum = 0;
    for (int i = 0; i < length; i++) {
        const unsigned digit = (unsigned)(digits[length - 1 - i] - '0'), twice = digit * 2;
        sum += i % 2 == 0 ? twice - (twice > 9 ? 9 : 0) : digit;
    }
    return (char)('0' + (10 - sum % 10) % 10);
}

static void make_negative(char *out, const struct negative *kind) {
    static const char hex[] = "0123456789abcdef",
                      url[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
    int length = 0;
    if (kind->pattern == NULL) {
        sprintf(out, "%llu", (unsigned long long)(kind->base + below(kind->span)));
        return;
    }
    for (const char *c = kind->pattern; *c != '\0'; c++) {
        out[length] = *c == '#'   ? hex[below(10)]
                      : *c == 'x' ? hex[below(16)]
                      : *c == 'A' ? url[10 + below(26)]
                      : *c == 'n' ? url[below(62)]
                      : *c == 'u' ? url[below(64)]
                      : *c == '*' ? luhn(out, length)
                                  : *c;
        length++;
    }
    out[length] = '\0';
}

/* The answer of show with exit status 0; NULL: nothing. */
static const char *claim_of(const char *text) {
    firn_reading readings[FIRN_READINGS_MAX];
    firn_match matches[FIRN_MATCHES_MAX];
    const size_t count = firn_guess(readings, text, strlen(text), -1);
    const size_t formats = firn_recognize(matches, count > 0 ? readings : NULL, text, strlen(text));
    if (formats > 0 && matches[0].leads) {
        return matches[0].format->name;
    }
    return count > 0 && readings[0].sure != FIRN_POSSIBLE ? readings[0].scheme->name : NULL;
}

static void at_most_one_of_a_hundred_others_is_claimed(void **state) {
    enum { OTHERS = 200 };
    int bad = 0;
    (void)state;
    for (size_t k = 0; k < sizeof negatives / sizeof negatives[0]; k++) {
        const struct negative *kind = &negatives[k];
        const char *last = "";
        char text[128], example[128] = "";
        int claims = 0;
        for (int n = 0; n < OTHERS; n++) {
            make_negative(text, kind);
            const char *claim = claim_of(text);
            if (claim != NULL && (kind->own == NULL || strcmp(claim, kind->own) != 0)) {
                claims++;
                last = claim;
                strcpy(example, text);
            }
        }
        print_message("%-22s %d of %d are claimed  %s %s\n", kind->name, claims, OTHERS, last,
                      example);
        bad += claims * 100 > OTHERS;
    }
    assert_int_equal(bad, 0);
}

static void published_texts_are_taken_for_what_they_are(void **state) {
    (void)state;
    char line[512];
    int rows = 0;
    FILE *file = fopen(FIRN_SOURCE_DIR "/test/real_ids.tsv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        char *scheme = strchr(line, '\t');
        if (line[0] == '#' || scheme == NULL) {
            continue;
        }
        *scheme++ = '\0';
        scheme[strcspn(scheme, "\t\n")] = '\0';
        const bool number = line[strspn(line, "0123456789")] == '\0' && strcmp(scheme, "-") != 0;
        if (strcmp(best_of(line), number ? "possible" : scheme) != 0 ||
            (number && !may_be(line, scheme))) {
            fail_msg("'%s' is read as %s, not %s", line, best_of(line), scheme);
        }
        rows++;
    }
    fclose(file);
    assert_true(rows > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, start_over, NULL, NULL}
        TEST("each kind is taken for what it is", each_kind_is_taken_for_what_it_is),
        TEST("at most one of a hundred others is claimed",
             at_most_one_of_a_hundred_others_is_claimed),
        TEST("published texts are taken for what they are",
             published_texts_are_taken_for_what_they_are),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
