/* SPDX-License-Identifier: MIT */
/* Formats that are not schemes: known answers in test/vectors/formats, one file each, with 200
 * texts; and which text is recognised as which: 200 texts of each format and of each scheme.
 * docs/reference/recognised.md has both tables; with FIRN_WRITE=1 (docs/recognised.sh) this test
 * writes them. */
#include <firn/recognize.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats.h"
#include "random_ids.h"

#define VECTORS FIRN_SOURCE_DIR "/test/vectors/formats/"
#define PAGE    FIRN_SOURCE_DIR "/docs/reference/recognised.md"

enum { EACH = 200, ANSWERS = 20, LINE_SIZE = 1024, PAGE_SIZE = 65536 };

/* ---- vectors --------------------------------------------------------------------------------- */

typedef struct vectors {
    char lines[EACH][LINE_SIZE];
    size_t count;
} vectors;

static void read_vectors(vectors *out, const char *name) {
    char path[512], line[LINE_SIZE];
    snprintf(path, sizeof path, VECTORS "%s.tsv", name);
    FILE *file = fopen(path, "r");
    out->count = 0;
    if (file == NULL) {
        fail_msg("%s has no vectors: %s", name, path);
    }
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '#' && out->count < EACH) {
            memcpy(out->lines[out->count++], line, sizeof line);
        }
    }
    fclose(file);
    assert_int_equal(out->count, EACH);
}

static size_t recognize(firn_match matches[FIRN_MATCHES_MAX], const char *text) {
    firn_reading readings[FIRN_READINGS_MAX];
    size_t count = firn_guess(readings, text, strlen(text), -1);
    return firn_recognize(matches, count > 0 ? readings : NULL, text, strlen(text));
}

static const firn_match *match_of(const firn_match *matches, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(matches[i].format->name, name) == 0) {
            return &matches[i];
        }
    }
    return NULL;
}

/* Whether a match has the value of a field; a value may be followed by a note in parentheses. */
static bool has_field(const firn_match *match, const char *name, const char *value) {
    const size_t length = strlen(value);
    for (uint32_t i = 0; i < match->count; i++) {
        const char *found = match->fields[i].value;
        if (strcmp(match->fields[i].name, name) == 0) {
            return strncmp(found, value, length) == 0 &&
                   (found[length] == '\0' || strncmp(found + length, " (", 2) == 0);
        }
    }
    return false;
}

/* "name=value name=value": a value may contain blanks. */
static void check_fields(const char *text, const firn_match *match, char *facts) {
    for (char *name = facts; name != NULL && name[0] != '\0';) {
        char *value = strchr(name, '='), *next = NULL;
        assert_non_null(value);
        *value++ = '\0';
        char *equals = strchr(value, '=');
        if (equals != NULL) {
            next = equals;
            while (next[-1] != ' ') {
                next--;
            }
            next[-1] = '\0';
        }
        if (!has_field(match, name, value)) {
            fail_msg("%s: %s is not %s", text, name, value);
        }
        name = next;
    }
}

static void known_answers_are_found(void **state) {
    (void)state;
    static vectors known;
    const firn_text_format *format;
    for (size_t f = 0; (format = firn_text_format_at(f)) != NULL; f++) {
        int answers = 0;
        read_vectors(&known, format->name);
        for (size_t i = 0; i < known.count; i++) {
            firn_match matches[FIRN_MATCHES_MAX];
            char *text = known.lines[i], *time = strchr(text, '\t'), time_text[FIRN_TIME_SIZE];
            if (time == NULL) {
                continue;
            }
            *time++ = '\0';
            char *facts = strchr(time, '\t');
            *facts++ = '\0';
            const firn_match *match = match_of(matches, recognize(matches, text), format->name);
            if (match == NULL) {
                fail_msg("%s is not recognised as %s", text, format->name);
                return;
            }
            assert_string_equal(
                match->timed ? firn_time_format(time_text, &match->time, match->digits) : "-",
                time);
            assert_null(strstr(match->reason, "__")); /* a name of the code */
            check_fields(text, match, facts);
            answers++;
        }
        assert_true(answers >= ANSWERS);
    }
}

/* ---- which text is recognised as which ------------------------------------------------------- */

/* A format that leads, or a scheme; in parentheses if it is only possible; or -. */
static void answer(char out[40], const char *text) {
    firn_reading readings[FIRN_READINGS_MAX];
    firn_match matches[FIRN_MATCHES_MAX];
    size_t count = firn_guess(readings, text, strlen(text), -1);
    size_t found = firn_recognize(matches, count > 0 ? readings : NULL, text, strlen(text));
    if (found > 0 && matches[0].leads) {
        snprintf(out, 40, "%s", matches[0].format->name);
    } else if (count > 0) {
        snprintf(out, 40, readings[0].sure == FIRN_POSSIBLE ? "(%s)" : "%s",
                 readings[0].scheme->name);
    } else {
        snprintf(out, 40, found > 0 ? "(%s)" : "-", found > 0 ? matches[0].format->name : "");
    }
}

typedef struct tally {
    char names[64][40];
    int counts[64];
    size_t size;
} tally;

static void count_answer(tally *list, const char *text) {
    char name[40];
    size_t i = 0;
    answer(name, text);
    while (i < list->size && strcmp(list->names[i], name) != 0) {
        i++;
    }
    assert_true(i < 64);
    if (i == list->size) {
        memcpy(list->names[list->size], name, sizeof name);
        list->counts[list->size++] = 0;
    }
    list->counts[i]++;
}

/* The most frequent answer first. */
static size_t put_tally(char *out, size_t size, const char *kind, tally *list) {
    size_t position = (size_t)snprintf(out, size, "| %s |", kind);
    for (size_t done = 0; done < list->size; done++) {
        size_t most = 0;
        for (size_t i = 1; i < list->size; i++) {
            most = list->counts[i] > list->counts[most] ? i : most;
        }
        position += (size_t)snprintf(out + position, size - position, "%s %s %d",
                                     done > 0 ? "," : "", list->names[most], list->counts[most]);
        list->counts[most] = 0;
    }
    return position + (size_t)snprintf(out + position, size - position, " |\n");
}

static size_t put_matrix(char *out, size_t size) {
    static vectors known;
    const firn_text_format *format;
    const firn_scheme *scheme;
    size_t position = (size_t)snprintf(out, size, "| 200 IDs of | are read as |\n|---|---|\n");
    for (size_t s = 0; (scheme = firn_scheme_at(s)) != NULL; s++) {
        tally list = {.size = 0};
        char text[FIRN_TEXT_SIZE + 16];
        if (scheme->keyed) {
            continue; /* order numbers are never guessed */
        }
        start_over(NULL);
        for (int i = 0; i < EACH; i++) {
            make_id(text, scheme->name, -1, 1262304000, 1798761600); /* 2010 to 2026 */
            count_answer(&list, text);
        }
        position += put_tally(out + position, size - position, scheme->name, &list);
    }
    for (size_t f = 0; (format = firn_text_format_at(f)) != NULL; f++) {
        tally list = {.size = 0};
        read_vectors(&known, format->name);
        for (size_t i = 0; i < known.count; i++) {
            known.lines[i][strcspn(known.lines[i], "\t")] = '\0';
            count_answer(&list, known.lines[i]);
        }
        position += put_tally(out + position, size - position, format->name, &list);
    }
    return position;
}

static size_t put_owners(char *out, size_t size) {
    const firn_owner *owner;
    size_t position = (size_t)snprintf(
        out, size, "| scheme or format | owner | IDs | source |\n|---|---|---|---|\n");
    for (size_t i = 0; (owner = firn_owner_at(i)) != NULL; i++) {
        const firn_text_format *format;
        bool known = firn_scheme_find(owner->name) != NULL;
        for (size_t f = 0; (format = firn_text_format_at(f)) != NULL; f++) {
            known = known || strcmp(format->name, owner->name) == 0;
        }
        assert_true(known);
        position += (size_t)snprintf(out + position, size - position, "| %s | %s | %s | %s |\n",
                                     owner->name, owner->title, owner->prevalence, owner->source);
    }
    return position;
}

static size_t put_formats(char *out, size_t size) {
    const firn_text_format *format;
    size_t position = 0;
    for (size_t f = 0; (format = firn_text_format_at(f)) != NULL; f++) {
        position += (size_t)snprintf(
            out + position, size - position, "- **%s** (`%s`)\n  %s.\n  Sure: %s.\n  Source: %s.\n",
            format->title, format->name, format->shape, format->sure, format->source);
    }
    return position;
}

/* Compares a block of the page with what it should be, or writes it. */
static void check_block(const char *name, const char *wanted) {
    static char page[PAGE_SIZE];
    char mark[64];
    FILE *file = fopen(PAGE, "r");
    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[size] = '\0';
    snprintf(mark, sizeof mark, "<!-- %s -->\n", name);
    char *begin = strstr(page, mark);
    assert_non_null(begin);
    begin += strlen(mark);
    char *end = strstr(begin, "<!-- end -->");
    assert_non_null(end);
    if (getenv("FIRN_WRITE") != NULL) {
        file = fopen(PAGE, "w");
        assert_non_null(file);
        fprintf(file, "%.*s%s%s", (int)(begin - page), page, wanted, end);
        fclose(file);
    } else if (strlen(wanted) != (size_t)(end - begin) ||
               memcmp(wanted, begin, strlen(wanted)) != 0) {
        print_message("%s", wanted);
        fail_msg("docs/reference/recognised.md, %s: docs/recognised.sh writes it", name);
    }
}

static void the_page_lists_the_formats(void **state) {
    (void)state;
    static char text[PAGE_SIZE];
    put_formats(text, sizeof text);
    check_block("formats", text);
}

static void the_page_lists_the_owners(void **state) {
    (void)state;
    static char text[PAGE_SIZE];
    put_owners(text, sizeof text);
    check_block("owners", text);
}

static void the_page_says_what_is_taken_for_what(void **state) {
    (void)state;
    static char text[PAGE_SIZE];
    put_matrix(text, sizeof text);
    check_block("confusion", text);
}

/* The reading of firn_guess stays the answer: a format leads in fewer than 1 of 50 IDs of a scheme
 * (1 of 64 IDs of scru128 have the version and variant of a UUID), and in none that others
 * published. */
static void schemes_are_read_as_before(void **state) {
    (void)state;
    const firn_scheme *scheme;
    char text[LINE_SIZE];
    for (size_t s = 0; (scheme = firn_scheme_at(s)) != NULL; s++) {
        int led = 0;
        for (int i = 0; i < 1000 && !scheme->keyed; i++) {
            firn_match matches[FIRN_MATCHES_MAX];
            make_id(text, scheme->name, -1, 1262304000, 1798761600);
            led += recognize(matches, text) > 0 && matches[0].leads;
        }
        if (led >= 20) {
            fail_msg("%d of 1000 IDs of %s are read as another format", led, scheme->name);
        }
    }
    FILE *file = fopen(FIRN_SOURCE_DIR "/test/real_ids.tsv", "r");
    assert_non_null(file);
    while (fgets(text, sizeof text, file) != NULL) {
        firn_match matches[FIRN_MATCHES_MAX];
        char *name = strchr(text, '\t');
        if (text[0] == '#' || name == NULL || name[1] == '-') {
            continue;
        }
        *name = '\0';
        if (recognize(matches, text) > 0 && matches[0].leads) {
            fail_msg("%s is read as %s", text, matches[0].format->name);
        }
    }
    fclose(file);
}

/* ---- neighbours of known answers ------------------------------------------------------------- */

/* Texts that differ from an ID of a format in one thing, and the last and the first that its rules
 * allow. */
static const struct {
    const char *format, *text, *reason; /* reason: a part of it; NULL: not of this format */
} neighbours[] = {
    {"datadog-trace", "58780d800000000058afeac060ff3666", "32 zero bits"},
    {"datadog-trace", "58780d800000000158afeac060ff3666", NULL},
    {"datadog-trace", "58780d80000000000000000000000000", NULL},
    {"datadog-trace", "38780d800000000058afeac060ff3666", NULL}, /* in 2000 */
    {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0a", "hyphens"},
    {"traceparent", "00-58780d800000000058afeac060ff3666-b7ad6b7169203331-03", "hyphens"},
    {"traceparent", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", "hyphens"},
    {"traceparent", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.more", NULL},
    {"traceparent", "00.0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", NULL},
    {"traceparent", "00-0af7651916cd43dd8448eb211c80319c.b7ad6b7169203331-01", NULL},
    {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331.01", NULL},
    {"traceparent", "0g-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", NULL},
    {"traceparent", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", NULL},
    {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333/-01", NULL},
    {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0:", NULL},
    {"upid", "user_2accvpp5guht4dts56je5a", "a time from 2005"},
    {"upid", "user_zzzzzzzzguht4dts56je5a", "an unusual time"},
    {"upid", "user-2accvpp5guht4dts56je5a", NULL},
    {"upid", "us1r_2accvpp5guht4dts56je5a", NULL},
    {"upid", "user_1accvpp5guht4dts56je5a", NULL},
    {"upid", "user_2accvpp5guht4dts56je5b", NULL},
    {"orderlyid", "order_00jc1gmm00000000000028t5cy4tqkff", "a time from 2020"},
    {"orderlyid", "order_00jc1gmm00g00000000028t5cy4tqkff", "a time from 2020"}, /* rounded */
    {"orderlyid", "order_00jc1gmm01000000000028t5cy4tqkff", NULL}, /* an unknown flag */
    {"orderlyid", "order_02vv8peg00000000000028t5cy4tqkff", NULL}, /* in 2045 */
    {"orderlyid", "order_00jc1gmm00000000000028t5cy4tqkfu", NULL}, /* no u in base32 */
    {"orderlyid", "o_00jc1gmm00000000000028t5cy4tqkffff", NULL},
    {"orderlyid", "Order_00jc1gmm00000000000028t5cy4tqkff", NULL},
    {"orderlyid", "{rder_00jc1gmm00000000000028t5cy4tqkff", NULL},
    {"orderlyid", "ord.r_00jc1gmm00000000000028t5cy4tqkff", NULL},
    {"orderlyid", "order_00jc1gmm00000000000028t5cy4tqkf", NULL},
    {"orderlyid", "abcdefghijklmnopqrstuvwxyzabcde_00jc1gmm00000000000028t5cy4tqkff",
     "a time from 2020"}, /* 31 characters are the most */
    {"orderlyid", "abcdefghijklmnopqrstuvwxyzabcdef_00jc1gmm00000000000028t5cy4tqkff", NULL},
    {"orderlyid", "shipment_00jc1gmqww0000801zzzzzzzzzzzzzzz-a0f4", "the checksum"},
    {"orderlyid", "shipment_00jc1gmqww0000801zzzzzzzzzzzzzzz-a0f5", NULL},
    {"orderlyid", "shipments_00jc1gmqww0000801zzzzzzzzzzzzzzz-a0f4", NULL},
    {"orderlyid", "shipment_00jc1gmqww0000801zzzzzzzzzzzzzzz-a0fu", NULL},
    {"orderlyid", "shipment_00jc1gmqww0000801zzzzzzzzzzzzzzz.a0f4", NULL},
    {"stripe", "cus_NffrFeUfNV2Hi", "an object of Stripe"},
    {"stripe", "sk_test_NffrFeUfNV2Hi", "keep it secret"},
    {"stripe", "rk_test_NffrFeUfNV2Hi", "keep it secret"},
    {"stripe", "whsec_NffrFeUfNV2Hi", "keep it secret"},
    {"stripe", "cus_abcdefghijklm", NULL}, /* neither a digit nor a capital */
    {"stripe", "cuz_NffrFeUfNV2Hi", NULL},
    {"stripe", "sk_NffrFeUfNV2Hi", NULL},
    {"stripe", "sub_schedule_NffrFeUfNV2Hi", NULL},
    {"stripe", "cus_NffrFeU", NULL}, /* 7 characters */
    {"prefixed", "job_2NqvYj6gIdB7vnHJ7", "a prefix"},
    {"prefixed", "job_2NqvYj6gIdB7v", NULL}, /* 13 characters */
    {"prefixed", "job_NqvYjgIdBvnHJabc", NULL},
    {"prefixed", "Job_2NqvYj6gIdB7vnHJ7", NULL},
    {"prefixed", "{ob_2NqvYj6gIdB7vnHJ7", NULL},
    {"prefixed", "j.b_2NqvYj6gIdB7vnHJ7", NULL},
    {"prefixed", "job_2NqvYj6g-dB7vnHJ7", NULL},
    {"prefixed", "cus_NffrFeUfNV2HiNffrF", NULL}, /* Stripe's */
    {"prefixed",
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk_2NqvYj6gIdB7vnHJ7",
     "a prefix"}, /* 63 characters are the most */
    {"prefixed",
     "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl_2NqvYj6gIdB7vnHJ7", NULL},
    {"julid", "01KX8P4GSV007G000000000005", "a counter below 16"}, /* 15 */
    {"julid", "01KX8P4GSV0080000000000005", NULL},
    {"julid", "01KX8P4GSV001G000000000000", NULL}, /* no random bits */
    {"julid", "024W9C1E00001G000000000005", NULL}, /* in 2045 */
    {"puid", "he5fps6l1w3a2504cdg8ut8e", "hex digits of a machine"},
    {"puid", "he5fps6l1w3a2504cgg8ut8e", NULL},
    {"puid", "he5fps6l1w3a2504cdzzzzzz", NULL}, /* 2 * 10^9 ns */
    {"puid", "0e5fps6l1w3a2504cdg8ut8e", NULL}, /* in 1971 */
    {"cuid1", "ch72gsb320000udocl363eofy", "the c"},
    {"cuid1", "dh72gsb320000udocl363eofy", NULL},
    {"cuid1", "c072gsb320000udocl363eofy", NULL}, /* in 1970 */
    {"instagram-code", "AAAAAAAAAAB", "a time from 2011"},
    {"instagram-code", "P__________", NULL}, /* 2^64 - 1: in 2081 */
    {"instagram-code", "QAAAAAAAAAA", NULL}, /* 2^64 */
    {"cuid2", "tz4a98xxat96iws9zmbrgj3a", "a letter first"},
    {"cuid2", "1z4a98xxat96iws9zmbrgj3a", NULL},
    {"cuid2", "tzdaqwxxatpriwsnzmbrgjga", NULL},
    {"cuid2", "t12345678901234567890123", NULL},
    {"base64-uuid", "AWneCm3kdNegTURoqtnRaw", "22 base64 digits"},
    {"base64-uuid", "AWneCm3kdNegTURoqtnRaw==", "22 base64 digits"},
    {"base64-uuid", "AWneCm3kdNegTURoqtnRaw=", NULL},
    {"base64-uuid", "AWneCm3kdNegTURoqtnRaw=A", NULL},
    {"base64-uuid", "AWneCm3kdNegTURoqtnRax", NULL}, /* 4 bits too many */
    {"base64-uuid", "AWneCm3kdNegTURoqtnRa=", NULL},
    {"base64-uuid", "AWneCm3kd=egTURoqtnRaw", NULL},
    {"base64-uuid", "AWzr7PyQc/2I6DyMvI/kmw", "22 base64 digits"},
    {"base64-uuid", "AWzr7PyQc_2I6DyMvI_kmw", "22 base64 digits"},
    {"base64-uuid", "AWzr7PyQc_2I6DyMvI/kmw", NULL}, /* of two alphabets */
    {"base64-uuid", "AWzr7PyQc-2I6DyMvI+kmw", NULL},
    {"uuid-ncname", "HAX8i4nmwzDjE3AwMBzmPJ", "an NCName of a UUID, version 7, with a time"},
    {"uuid-ncname", "HAF7SFYTZWDGDRRG4BQGAOOMPJ", "an NCName of a UUID, version 7, with a time"},
    {"uuid-ncname", "HAX8i4nmwzDjE3AwMBzmPA", NULL}, /* variant 0 */
    {"uuid-ncname", "JAX8i4nmwzDjE3AwMBzmPJ", NULL}, /* version 9 */
    {"uuid-ncname", "H3RrXaX7uTM6qdwrXwpC6_J", "an NCName of a UUID, version 7, with a time"},
    {"uuid-ncname", "H3RrXaX7uTM6qdwrXwp_C6J", NULL},
    {"ncs-uuid", "333a2276-0000-0000-0d00-00809c000000", "a family of NCS"},
    {"ncs-uuid", "333a2276-0000-0001-0d00-00809c000000", "reserved bits"},
    {"ncs-uuid", "333a2276-0000-0000-7d00-00809c000000", "no family"},
    {"ncs-uuid", "333a2276-0000-0000-8d00-00809c000000", NULL},
    {"ncs-uuid", "00000000-0000-0000-0d00-00809c000000", "its time"},
    {"sqids", "86Rf07", "these integers"}, /* 1 2 3 */
    {"sqids", "86Rf08", NULL},
    {"sqids", "8zzzzzzzzzzzzzzzzzz", NULL},      /* above 2^53 */
    {"sqids", "ABARpJzdz9", "these integers"},   /* 2^53 - 1 */
    {"sqids", "pup591lWlB", NULL},               /* 2^53 */
    {"sqids", "86Rf07xd4zBm", "these integers"}, /* with letters that make it longer */
    {"hashids", "o2fXhV", "these integers"},
    {"hashids", "o2fXhW", NULL},
    {"hashids", "lEW77X7g527", "these integers"}, /* 2^53 - 1 */
    {"hashids", "mNWyy8yjQYE", NULL},             /* 2^53 */
    {"hashids", "occc", NULL},                    /* a separator that separates nothing */
    {"hashids", "ogcgcgcgcgcgcgcgcgc", NULL},
    {"elasticsearch", "__8tbXIB________iP8A", "the mixed order"},   /* in 2020 */
    {"elasticsearch", "___O8CgB________vP8A", NULL},                /* in 2010 */
    {"elasticsearch", "__8nEBQC________HP8A", NULL},                /* in 2042 */
    {"elasticsearch", "AU2savT_____________", "before an address"}, /* in 2015 */
    {"elasticsearch", "ARpBbGT_____________", NULL},                /* in 2008 */
    {"elasticsearch", "AXJtLYj_____________", NULL},                /* in 2020 */
    {"ksuid-hex", "0669f7efb5a1cd34b5f99d1154fb6853345c9735", "a time from 2014"},
    {"ksuid-hex", "ffffffffb5a1cd34b5f99d1154fb6853345c9735", NULL}, /* in 2150 */
    {"frostflake", "99999999999999999999", NULL},                    /* above 2^64 */
    {"epoch-s", "1000000000", "a time from 2001"},
    {"epoch-s", "0999999999", NULL},
    {"epoch-s", "2366841599", "a time from 2001"},
    {"epoch-s", "2366841600", NULL},
    {"epoch-ns", "2366841599999999999", "a time from 2001"},
    {"epoch-ns", "2366841600000000000", NULL},
    {"epoch-ns", "0999999999999999999", NULL},
    {"linkedin", "6422861848709726123", "a time from 2005"},
    {"linkedin", "4000000000000000000", NULL}, /* in 2000 */
    {"linkedin", "9300000000000000000", NULL}, /* above 2^63 */
    {"uuid6-google", "01eeabef-ebfe-6a96-b44f-144e42f8eda1", "version 6, a leading zero"},
    {"uuid6-google", "01eb0000-0000-6a96-b44f-144e42f8eda1", NULL}, /* in 2020 */
    {"uuid6-google", "01000000-0000-6a96-b44f-144e42f8eda1", NULL}, /* in 1810 */
    {"uuid7-draft2", "061cb26a-54b8-7a52-8000-2124e7041024", "version 7"},
    {"uuid7-draft2", "05fee65f-f4b8-7a52-8000-2124e7041024", NULL}, /* in 2020 */
    {"uuid7-draft2", "08d13230-04b8-7a52-8000-2124e7041024", NULL}, /* in 2045 */
    {"aws-xray", "1-58406520-a006649127e371903a2de979", "hyphens"},
    {"aws-xray", "2-58406520-a006649127e371903a2de979", NULL},
    {"aws-xray", "1-58406520.a006649127e371903a2de979", NULL},
    {"aws-xray", "1-5840652g-a006649127e371903a2de979", NULL},
    {"aws-xray", "1-58406520-A006649127e371903a2de979", NULL},
    {"aws-xray", "1-38406520-a006649127e371903a2de979", NULL}, /* in 1999 */
    {"cloudflare-ray", "230b030023ae2822-SJC", "a hyphen and three capital letters"},
    {"cloudflare-ray", "230b030023ae2822.SJC", NULL},
    {"cloudflare-ray", "230b030023ae282g-SJC", NULL},
    {"cloudflare-ray", "230b030023ae2822-S1C", NULL},
    {"cloudflare-ray", "230b030023ae2822-SJc", NULL},
    {"nano64", "199C01B6659-5861C", "the hyphen"},
    {"nano64", "199C01B66595861C", "16 hex digits"},
    {"nano64", "199C01B6659.5861C", NULL},
    {"nano64", "1690131234514201", NULL},  /* rather a number */
    {"nano64", "000C01B6659-5861C", NULL}, /* in 1970 */
    {"short-puid", "z1zzzzzzzzzz", NULL},  /* in 2119 */
    {"tiktok", "6000000000000000000", "a time from 2014"},
    {"tiktok", "5900000000000000000", NULL}, /* in 2013 */
    {"tiktok", "9300000000000000000", NULL}, /* in 2038 */
    {"steam", "76561197960287930", "the high 32 bits"},
    {"steam", "06561197960287930", NULL},
    {"steam", "76561202255233024", NULL},
    {"snowid", "151819733950271234", "a time from 2024"},
    {"snowid", "2779877328175104000", NULL}, /* in 2045 */
    {"snowid", "051819733950271234", NULL},
    {"integer", "0", "decimal digits"},
    {"integer", "-1", NULL},
};

static void one_wrong_character_is_noticed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof neighbours / sizeof neighbours[0]; i++) {
        firn_match matches[FIRN_MATCHES_MAX];
        const char *text = neighbours[i].text;
        const size_t count = firn_recognize(matches, NULL, text, strlen(text));
        const firn_match *match = match_of(matches, count, neighbours[i].format);
        if ((match != NULL) != (neighbours[i].reason != NULL)) {
            fail_msg("%s is%s recognised as %s", text, match == NULL ? " not" : "",
                     neighbours[i].format);
        }
        if (match != NULL && strstr(match->reason, neighbours[i].reason) == NULL) {
            fail_msg("%s: '%s', expected '%s'", text, match->reason, neighbours[i].reason);
        }
    }
}

/* Every character replaced by others before, between and after the digits and letters. */
static void all_neighbours_are_read_or_refused(void **state) {
    static const char others[] = "/:@[`{_-0z";
    char text[LINE_SIZE];
    size_t read = 0;
    (void)state;
    for (size_t i = 0; i < sizeof neighbours / sizeof neighbours[0]; i++) {
        const size_t length = strlen(neighbours[i].text);
        for (size_t at = 0; at < length * (sizeof others - 1); at++) {
            firn_match matches[FIRN_MATCHES_MAX];
            strcpy(text, neighbours[i].text);
            text[at / (sizeof others - 1)] = others[at % (sizeof others - 1)];
            const size_t count = firn_recognize(matches, NULL, text, length);
            assert_true(count <= FIRN_MATCHES_MAX);
            for (size_t j = 0; j < count; j++) {
                assert_true(matches[j].reason[0] != '\0' && matches[j].count <= FIRN_MATCH_FIELDS);
            }
            read += count > 0;
        }
    }
    assert_true(read > 1000);
}

static void flags_and_times_are_shown(void **state) {
    (void)state;
    firn_match matches[FIRN_MATCHES_MAX];
    const char *trace = "00-58780d800000000058afeac060ff3666-b7ad6b7169203331-0b";
    const firn_match *match =
        match_of(matches, firn_recognize(matches, NULL, trace, strlen(trace)), "traceparent");
    assert_non_null(match);
    assert_true(match->timed && match->time.sec == 0x58780d80);
    assert_string_equal(match->fields[3].value, "0b (sampled, random trace-id)");
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0a";
    match = match_of(matches, firn_recognize(matches, NULL, trace, strlen(trace)), "traceparent");
    assert_non_null(match);
    assert_false(match->timed);
    assert_string_equal(match->fields[3].value, "0a (not sampled, random trace-id)");
    const char *order = "order_00jc1gmm00g00000000028t5cy4tqkff";
    match = match_of(matches, firn_recognize(matches, NULL, order, strlen(order)), "orderlyid");
    assert_non_null(match);
    assert_string_equal(match->fields[1].value, "32 (time rounded)");
    assert_string_equal(firn_sure_name(FIRN_POSSIBLE), "possible");
    assert_string_equal(firn_sure_name(FIRN_CERTAIN), "certain");
    assert_string_equal(firn_sure_name(FIRN_POSSIBLE - 1), "?");
    assert_string_equal(firn_sure_name(FIRN_CERTAIN + 1), "?");
}

/* ---- hostile texts --------------------------------------------------------------------------- */

static void hostile_texts_have_no_format(void **state) {
    (void)state;
    static char big[10000000];
    firn_match matches[FIRN_MATCHES_MAX];
    static const char *const strange[] = {
        "8dx554y5rzerz1syhqsvsdw8\xd1\x82", /* a Cyrillic t */
        "\xef\xbc\x91\xef\xbc\x92",         /* wide digits */
        "V1StGXR8_Z5jdHi6B-m\xc2\xad",      /* a soft hyphen */
        "cus_NffrFeUfNV2Hi\x01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n",
        "00\xe2\x80\x90"
        "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-",
        "order_00jc1gmm00000000000028t5cy4tqkff-xxxx",
        "zzzzzzzzzzzzzzzzzzzzzzzzz"};
    memset(big, '1', sizeof big);
    assert_int_equal(firn_recognize(matches, NULL, big, sizeof big), 0);
    assert_int_equal(firn_recognize(matches, NULL, "", 0), 0);
    assert_int_equal(firn_recognize(matches, NULL,
                                    "12\0"
                                    "34",
                                    5),
                     0);
    assert_int_equal(firn_recognize(matches, NULL, "8dx554y5rzerz1syhqsvsdw8\0", 25), 0);
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        if (firn_recognize(matches, NULL, strange[i], strlen(strange[i])) != 0) {
            fail_msg("'%s' is read as %s", strange[i], matches[0].format->name);
        }
    }
}

static void a_number_too_big_for_its_alphabet_has_no_format(void **state) {
    (void)state;
    firn_match matches[FIRN_MATCHES_MAX];
    const char *most = "f5lxx1zz5pnorynqglhzmsp33", *above = "f5lxx1zz5pnorynqglhzmsp34";
    assert_null(match_of(matches, firn_recognize(matches, NULL, above, 25), "uuid25"));
    assert_null(match_of(matches, firn_recognize(matches, NULL, most, 25), "uuid25"));
    assert_int_equal(firn_recognize(matches, NULL, "zzzzzzzzzzzzzzzzzzzzzz", 22), 1); /* a NUID */
}

/* The readers of integers, without the list of formats before them. */
static void integers_are_whole_or_nothing(void **state) {
    static const struct {
        bool (*read)(char *out, size_t size, const char *text, size_t length);
        const char *text;
        size_t size;          /* of the result */
        const char *integers; /* NULL: refused */
    } rows[] = {
        {firn__sqids_read, "86Rf07", 6, "1 2 3"},
        {firn__sqids_read, "86Rf07", 5, NULL}, /* no room for the end of the text */
        {firn__sqids_read, "86Rf07", 1, NULL},
        {firn__sqids_read, "8", 40, NULL},
        {firn__sqids_read, "8R6f", 40, NULL}, /* nothing before the first separator */
        {firn__sqids_read, "SvIzsYq34Hfak8TLSI7iab", 40, NULL}, /* more than ten */
        {firn__sqids_read, "-6Rf07", 40, NULL},
        {firn__sqids_read, "86Rf0786Rf0786Rf0786Rf07", 40, NULL}, /* 24 characters */
        {firn__sqids_read, "SvIzsYq34Hfak8TLSI7i", 40, "0 0 0 0 0 0 0 0 0 0"},
        {firn__hashids_read, "o2fXhV", 6, "1 2 3"},
        {firn__hashids_read, "o2fXhV", 5, NULL},
        {firn__hashids_read, "o", 40, NULL},
        {firn__hashids_read, "o2fXhVo2fXhVo2fXhVo2fXhV", 40, NULL},
        {firn__hashids_read, "gYcxcrc6cRcMclcBcKcR", 40, "0 0 0 0 0 0 0 0 0 0"},
        {firn__hashids_read, "gYcxcrc6cRcMclcBcKcRcR", 40, NULL}, /* eleven */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[40];
        const char *text = rows[i].text;
        const bool read = rows[i].read(out, rows[i].size, text, strlen(text));
        if (read != (rows[i].integers != NULL)) {
            fail_msg("%s, %zu bytes: %s", text, rows[i].size, read ? out : "refused");
        }
        if (read) {
            assert_string_equal(out, rows[i].integers);
        }
    }
}

static void a_zero_byte_is_no_digit(void **state) {
    firn_id id = {1, 2, 3, 4};
    (void)state;
    assert_false(firn__read_digits(&id, "0123456789", "12\0", 3));
    assert_int_equal(id.low, 1);
    assert_true(firn__read_digits(&id, "0123456789", "12\0", 2));
    assert_int_equal(id.low, 12);
}

static void a_match_has_no_more_fields_than_fit(void **state) {
    firn_match match = {.count = 0, .leads = true};
    (void)state;
    for (uint32_t i = 0; i < FIRN_MATCH_FIELDS + 2; i++) {
        firn__match_field(&match, "field", "%u", (unsigned)i);
        assert_int_equal(match.count, i < FIRN_MATCH_FIELDS ? i + 1 : FIRN_MATCH_FIELDS);
    }
    assert_string_equal(match.fields[FIRN_MATCH_FIELDS - 1].value, "5");
    assert_true(match.leads); /* what follows the fields is as it was */
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(sentence, function) {sentence, function, start_over, NULL, NULL}
        TEST("known answers are found", known_answers_are_found),
        TEST("IDs of schemes are read as before", schemes_are_read_as_before),
        TEST("the page lists the formats", the_page_lists_the_formats),
        TEST("the page lists the owners of numbers", the_page_lists_the_owners),
        TEST("the page has the present confusion matrix", the_page_says_what_is_taken_for_what),
        TEST("one wrong character is noticed", one_wrong_character_is_noticed),
        TEST("all neighbours are read or refused", all_neighbours_are_read_or_refused),
        TEST("flags and times are shown", flags_and_times_are_shown),
        TEST("hostile texts have no format", hostile_texts_have_no_format),
        TEST("a number too big for its alphabet has no format",
             a_number_too_big_for_its_alphabet_has_no_format),
        TEST("integers are read whole or not at all", integers_are_whole_or_nothing),
        TEST("a zero byte is no digit", a_zero_byte_is_no_digit),
        TEST("a match has no more fields than fit", a_match_has_no_more_fields_than_fit),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
