/* SPDX-License-Identifier: MIT */
/* Time zones: every zone of the machine's database has the offsets that the C library gives; names,
 * damaged files and a machine without a database. */
#include "zone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"
#include "short.h"
#include "zone_file.h"

#define DATABASE "/usr/share/zoneinfo"

static firn_zone *opened(const char *name) {
    firn_zone *zone = NULL;
    firn_error error = {0};
    if (firn_zone_open(&zone, name, &error) != FIRN_OK) {
        fail_msg("%s: %s", name, error.text);
    }
    return zone;
}

static void refused(const char *name, int code, const char *words) {
    firn_zone *zone = NULL;
    firn_error error = {0};
    assert_int_equal(firn_zone_open(&zone, name, &error), code);
    assert_null(zone);
    if (strstr(error.text, words) == NULL) {
        fail_msg("%s: expected '%s', got '%s'", name, words, error.text);
    }
}

static int32_t offset_of_library(int64_t sec) {
    time_t instant = (time_t)sec;
    struct tm fields;
    assert_non_null(localtime_r(&instant, &fields));
    return (int32_t)fields.tm_gmtoff;
}

static void same_at(const firn_zone *zone, const char *name, int64_t sec) {
    const int32_t ours = firn_zone_offset(zone, sec), theirs = offset_of_library(sec);
    if (ours != theirs) {
        fail_msg("%s at %lld: %d, the C library has %d", name, (long long)sec, ours, theirs);
    }
}

/* Every `step` seconds, and on both sides of each change that was met. */
static void same_as_library(const char *name, int64_t step) {
    firn_zone *zone = opened(name);
    setenv("TZ", name, 1);
    tzset();
    for (int64_t sec = -3000000000; sec < 7000000000; sec += step) {
        const firn__offset found = firn__zone_look(zone, sec);
        assert_int_equal(found.offset, firn_zone_offset(zone, sec));
        same_at(zone, name, sec);
        if (found.since != INT64_MIN) {
            assert_true(found.since <= sec);
            assert_int_equal(firn_zone_offset(zone, found.since), found.offset);
            assert_int_equal(firn_zone_offset(zone, found.since - 1), found.earlier);
            same_at(zone, name, found.since);
            same_at(zone, name, found.since - 1);
        }
    }
    firn_zone_close(zone);
}

static void every_zone_has_the_offsets_of_the_c_library(void **state) {
    (void)state;
    char line[512], name[64];
    size_t zones = 0;
    FILE *list = fopen(DATABASE "/zone1970.tab", "r");
    if (list == NULL) {
        print_message("skipped: no zone database\n");
        skip();
    }
    while (fgets(line, sizeof line, list) != NULL) {
        if (line[0] != '#' && sscanf(line, "%*s %*s %63s", name) == 1) {
            same_as_library(name, 997001 * short_step(9));
            zones++;
        }
    }
    fclose(list);
    assert_true(zones > 250);
    same_as_library("Antarctica/Troll", 997001); /* two hours of summer time */
    same_as_library("Etc/GMT-14", 997001);
    unsetenv("TZ");
    tzset();
}

static void offsets_need_no_database(void **state) {
    (void)state;
    const struct {
        const char *name;
        int32_t offset;
    } cases[] = {{"UTC", 0},        {"Z", 0},       {"+01:00", 3600},
                 {"-0330", -12600}, {"+14", 50400}, {"-00:59", -3540}};
    setenv("TZDIR", "/nonexistent", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        firn_zone *zone = opened(cases[i].name);
        assert_int_equal(firn_zone_offset(zone, 1760000000), cases[i].offset);
        assert_int_equal(firn__zone_look(zone, 0).since == INT64_MIN, true);
        firn_zone_close(zone);
    }
    refused("Europe/Berlin", FIRN_ESYSTEM, "no time zone database in /nonexistent: install tzdata");
    char deep[600] = "/nonexistent";
    memset(deep + strlen(deep), 'x', sizeof deep - sizeof "/nonexistent");
    setenv("TZDIR", deep, 1);
    refused("Europe/Berlin", FIRN_ESYSTEM, "no time zone database in /nonexistentx");
    unsetenv("TZDIR");
    firn_zone_close(NULL);
}

static void names_of_no_zone_are_refused(void **state) {
    (void)state;
    const char *const names[] = {
        "Mars/Base",
        "../../etc/passwd",
        "/etc/passwd",
        "right/UTC",
        "",
        "+24:00",
        "+1",
        "zone.tab",
        "Europe",
        "+0160",
        "+013",
        "+01:",
        "-01:0",
        "+12345",
        "a b",
        "Etc/UTC\n",
        "Etc/GMT~1",
        "a0123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        refused(names[i], FIRN_EUSAGE, "is not valid: use UTC, +hh:mm");
    }
    refused("localtime", FIRN_EUSAGE, "is another zone on another machine");
    refused("posix/Factory", FIRN_EUSAGE, "is another zone on another machine");
}

/* A file that is cut or changed anywhere is read or refused, and never past its end. */
static void damaged_files_are_refused_or_read(void **state) {
    (void)state;
    uint8_t bytes[8192], damaged[8192];
    char path[300];
    FILE *file = fopen(DATABASE "/America/Sao_Paulo", "rb");
    if (file == NULL) {
        skip();
    }
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    setenv("TZDIR", folder, 1);
    snprintf(path, sizeof path, "%s/Zone", folder);
    for (size_t i = 0; i < 2 * size; i += 7) {
        firn_zone *zone = NULL;
        memcpy(damaged, bytes, size);
        damaged[i % size] ^= (uint8_t)(1 + i % 255);
        file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(damaged, 1, i < size ? i : size, file);
        fclose(file);
        if (firn_zone_open(&zone, "Zone", NULL) == FIRN_OK) {
            for (int64_t sec = -5000000000; sec < 9000000000; sec += 400000003) {
                firn_zone_offset(zone, sec);
            }
        }
        firn_zone_close(zone);
    }
    unlink(path);
    refused("Zone", FIRN_EUSAGE, "is not valid");
    assert_int_equal(mkfifo(path, 0600), 0);
    refused("Zone", FIRN_EUSAGE, "is not valid"); /* and is not waited for */
    unlink(path);
    unsetenv("TZDIR");
}

/* Rules that no zone has at present: days counted from 0 or 1, summer time for the whole year. */
static void rules_of_every_kind_are_read(void **state) {
    (void)state;
    const char *const rules[] = {"<+03>-3",
                                 "AAA-1BBB,J60,J300/3:30",
                                 "AAA5BBB4,59/-1,299/25:10:05",
                                 "AAA3BBB,M3.2.0/-2,M11.1.0/26",
                                 "AAA-12BBB,M10.5.6/0,M2.4.3",
                                 "aaa+3bbb,J59,J365/+2"};
    char path[300], endless[129];
    setenv("TZDIR", folder, 1);
    snprintf(path, sizeof path, "%s/Zone", folder);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        write_rule(path, rules[i]);
        firn_zone *zone = opened("Zone");
        setenv("TZ", rules[i], 1);
        tzset();
        for (int64_t sec = 0; sec < 6000000000; sec += 66600 * short_step(29)) {
            same_at(zone, rules[i], sec);
        }
        firn_zone_close(zone);
    }
    write_rule(path, "AAA0BBB,J365/167,J1"); /* summer begins a week after its year's end */
    firn_zone *late = opened("Zone");
    assert_int_equal(firn_zone_offset(late, 3 * 86400), 0);
    assert_int_equal(firn_zone_offset(late, 20 * 86400), 3600);
    firn_zone_close(late);
    /* The longest rule, which ends where the days of summer time are needed. */
    snprintf(endless, sizeof endless, "AAA0<%0120d>1", 0);
    assert_int_equal(strlen(endless), 127);
    write_rule(path, endless);
    refused("Zone", FIRN_EUSAGE, "is not valid");
    write_rule(path, strcat(endless, "1"));
    refused("Zone", FIRN_EUSAGE, "is not valid");
    write_rule(path, "AAA0");
    firn_zone_close(opened("Zone"));
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, -6, SEEK_END);
    fputc('x', file); /* before the rule */
    fclose(file);
    refused("Zone", FIRN_EUSAGE, "is not valid");
    write_rule(path, "AAA0");
    for (off_t size = 107; size > 0; size--) { /* a file that ends too early */
        assert_int_equal(truncate(path, size), 0);
        refused("Zone", FIRN_EUSAGE, "is not valid");
    }
    assert_int_equal(truncate(path, 1 << 16), 0); /* and one that is too long */
    refused("Zone", FIRN_EUSAGE, "is not valid");
    unlink(path);
    unsetenv("TZDIR");
    unsetenv("TZ");
}

static void broken_rules_are_refused(void **state) {
    (void)state;
    const char *const rules[] = {"3",
                                 "AA3",
                                 "<AAA3",
                                 "AAA",
                                 "AAA168",
                                 "AAA3:60",
                                 "AAA3:10:60",
                                 "AAA3BB",
                                 "AAA{3",
                                 "AAA1000",
                                 "AAA3BBB",
                                 "AAA3BBBx",
                                 "AAA3BBB4:",
                                 "AAA3BBB,",
                                 "AAA3BBB,M",
                                 "AAA3BBB,M0.1.0,M11.1.0",
                                 "AAA3BBB,M13.1.0,M11.1.0",
                                 "AAA3BBB,M3,M11.1.0",
                                 "AAA3BBB,M3.0.0,M11.1.0",
                                 "AAA3BBB,M3.6.0,M11.1.0",
                                 "AAA3BBB,M3.1,M11.1.0",
                                 "AAA3BBB,M3,1.0,M11.1.0",
                                 "AAA3BBB,M3.1,0,M11.1.0",
                                 "AAA3BBB,M3.1.7,M11.1.0",
                                 "AAA3BBB,J0,J300",
                                 "AAA3BBB,J366,J300",
                                 "AAA3BBB,366,1",
                                 "AAA3BBB,M3.2.0/x,M11.1.0",
                                 "AAA3BBB,M3.2.0/168,M11.1.0",
                                 "AAA3BBB,M3.2.0",
                                 "AAA3BBB,M3.2.0,M11.1.0x"};
    char path[300];
    setenv("TZDIR", folder, 1);
    snprintf(path, sizeof path, "%s/Zone", folder);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        write_rule(path, rules[i]);
        refused("Zone", FIRN_EUSAGE, "is not valid");
    }
    write_rule(path, ""); /* then the last offset stays */
    firn_zone *zone = opened("Zone");
    assert_int_equal(firn_zone_offset(zone, 1760000000), 0);
    firn_zone_close(zone);
    unlink(path);
    unsetenv("TZDIR");
}

/* A file of the first version, with times of 32 bits: what its counts and one byte are. */
typedef struct old_file {
    uint8_t version, leaps, types, second_time, type;
    uint32_t offset;
} old_file;

static void write_old(const char *path, const old_file *is) {
    const uint8_t header[44] = {
        'T', 'Z', 'i', 'f', is->version, [31] = is->leaps, [35] = 2, [39] = is->types, [43] = 4};
    const uint8_t body[] = {0,
                            0,
                            0,
                            100,
                            0,
                            0,
                            0,
                            is->second_time,
                            1,
                            is->type, /* two times */
                            0,
                            0,
                            0,
                            60,
                            0,
                            0, /* and offsets */
                            (uint8_t)(is->offset >> 24),
                            (uint8_t)(is->offset >> 16),
                            (uint8_t)(is->offset >> 8),
                            (uint8_t)is->offset,
                            1,
                            0,
                            'A',
                            'A',
                            'A',
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(header, 1, sizeof header, file);
    fwrite(body, 1, sizeof body, file);
    fclose(file);
}

static void old_files_are_read(void **state) {
    (void)state;
    const old_file good = {.types = 2, .second_time = 200, .type = 0, .offset = 3600};
    old_file wrong[] = {good, good, good, good, good, good, good};
    char path[300];
    setenv("TZDIR", folder, 1);
    snprintf(path, sizeof path, "%s/Zone", folder);
    write_old(path, &good);
    firn_zone *zone = opened("Zone");
    assert_int_equal(firn_zone_offset(zone, 50), 60);
    assert_int_equal(firn_zone_offset(zone, 100), 3600);
    assert_int_equal(firn_zone_offset(zone, 199), 3600);
    assert_int_equal(firn_zone_offset(zone, 200), 60);
    firn_zone_close(zone);
    wrong[0].leaps = 1;
    wrong[1].types = 0;
    wrong[2].type = 2; /* there is no third offset */
    wrong[3].second_time = 100;
    wrong[4].offset = 200 * 3600;
    wrong[5].offset = (uint32_t)(-200 * 3600);
    wrong[6].version = '2'; /* and ends where its times of 64 bits begin */
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_old(path, &wrong[i]);
        refused("Zone", FIRN_EUSAGE, "is not valid");
    }
    const uint8_t header[44] = {'T', 'Z', 'i', 'f', 0, [38] = 1, [39] = 1, [43] = 1};
    FILE *file = fopen(path, "wb"); /* 257 types, and a byte names 256 */
    assert_non_null(file);
    fwrite(header, 1, sizeof header, file);
    fclose(file);
    assert_int_equal(truncate(path, 44 + 257 * 6 + 1), 0);
    refused("Zone", FIRN_EUSAGE, "is not valid");
    unlink(path);
    setenv("TZDIR", "", 1); /* as without it */
    refused("Mars/Base", FIRN_EUSAGE, "is not valid");
    unsetenv("TZDIR");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_zone_has_the_offsets_of_the_c_library),
        cmocka_unit_test(offsets_need_no_database),
        cmocka_unit_test(names_of_no_zone_are_refused),
        cmocka_unit_test_setup_teardown(damaged_files_are_refused_or_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rules_of_every_kind_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(broken_rules_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_files_are_read, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
