/* SPDX-License-Identifier: MIT */
/* docs/reference/stores.md prints what the stores send, so that others can write a client: it
 * contains each statement and script of the modules word for word, and no others. etcd and
 * ZooKeeper, which have no text to compare, are in test/printed.py. */
#include "../modules/mysql_sql.h"
#include "../modules/postgres_sql.h"
#include "../modules/redis_lua.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAGE_SIZE  200000
#define BLOCKS_MAX 60
#define BLOCK_SIZE 4096

/* The indented blocks of the section, each with single blanks. */
static char blocks[BLOCKS_MAX][BLOCK_SIZE];
static int used[BLOCKS_MAX], block_count;

static void add_line(char *out, const char *line) {
    size_t length = strlen(out);
    for (; *line != '\0'; line++) {
        bool blank = isspace((unsigned char)*line);
        if (!blank || (length > 0 && out[length - 1] != ' ')) {
            assert_true(length + 1 < BLOCK_SIZE);
            out[length++] = blank ? ' ' : *line;
        }
    }
    out[length] = '\0';
}

static void end_block(char *block) {
    size_t length = strlen(block);
    if (length > 0 && block[length - 1] == ' ') {
        block[length - 1] = '\0';
    }
}

static int read_page(void **state) {
    char line[1000];
    bool section = false, inside = false;
    FILE *page = fopen(FIRN_SOURCE_DIR "/docs/reference/stores.md", "r");
    (void)state;
    if (page == NULL) {
        return -1;
    }
    while (fgets(line, sizeof line, page) != NULL) {
        if (strncmp(line, "## ", 3) == 0) {
            section = strncmp(line, "## Writing your own client", 26) == 0;
        }
        bool indented = section && strncmp(line, "    ", 4) == 0;
        if (indented && !inside) {
            assert_true(block_count < BLOCKS_MAX);
            blocks[block_count++][0] = '\0';
        }
        if (indented) {
            add_line(blocks[block_count - 1], line + 4);
        } else if (inside) {
            end_block(blocks[block_count - 1]);
        }
        inside = indented;
    }
    fclose(page);
    return block_count > 0 ? 0 : -1;
}

/* As the page shows it: "firn" for "@"; PostgreSQL's "#" is half of the time-out; "?" for each of
 * MySQL's values, which compose() puts in. */
static void show(char out[BLOCK_SIZE], const char *text, bool mysql) {
    char filled[BLOCK_SIZE] = "";
    size_t length = 0;
    for (; *text != '\0'; text++) {
        const char word[2] = {*text, '\0'};
        if (text[0] == '@' && text[1] == '@') { /* a variable of the server */
            length += (size_t)snprintf(filled + length, sizeof filled - length, "@@");
            text++;
            continue;
        }
        const char *piece = *text == '@'                                              ? "firn"
                            : mysql && (*text == '$' || *text == '#' || *text == '^') ? "?"
                            : !mysql && *text == '#'                                  ? "501"
                                                                                      : word;
        length += (size_t)snprintf(filled + length, sizeof filled - length, "%s", piece);
        assert_true(length < sizeof filled);
    }
    out[0] = '\0';
    add_line(out, filled);
    end_block(out);
}

static void assert_printed(const char *name, const char *text, bool mysql) {
    char wanted[BLOCK_SIZE];
    show(wanted, text, mysql);
    for (int i = 0; i < block_count; i++) {
        if (strcmp(blocks[i], wanted) == 0) {
            used[i]++;
            return;
        }
    }
    fail_msg("docs/reference/stores.md does not print %s: %s", name, wanted);
}

static void postgres_is_printed(void **state) {
    (void)state;
    assert_printed("greet", greet_sql, false);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (i < OTHERS) { /* reservations do not use the rest */
            assert_printed(statements[i].name, statements[i].text, false);
        }
    }
}

static void mysql_is_printed(void **state) {
    static const struct {
        const char *name, *text;
    } all[] = {
        {"number", number_sql[0]},
        {"number, MySQL", number_sql[1]},
        {"numbered", numbered_sql},
        {"reloaded", reloaded_sql},
        {"read", read_sql},
        {"again", again_sql},
        {"raise", raise_sql},
        {"begin", begin_sql},
        {"lock", lock_sql},
        {"born", born_sql},
        {"commit", commit_sql},
        {"rollback", rollback_sql},
        {"name", name_sql},
        {"name, first", name_first_sql},
        {"doubt", doubt_sql},
        {"settle", settle_sql},
        {"give_back", give_back_sql},
        {"list_all", list_all_sql},
        {"list_one", list_one_sql},
        {"witness", witness_sql[0]},
        {"witness, uuid", witness_sql[1]},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_printed(all[i].name, all[i].text, true);
    }
}

/* Scripts go by the digest of their text, so "@" and "#" stay. */
static void assert_script_printed(const char *name, const char *text) {
    char wanted[BLOCK_SIZE] = "";
    add_line(wanted, text);
    end_block(wanted);
    for (int i = 0; i < block_count; i++) {
        if (strcmp(blocks[i], wanted) == 0) {
            used[i]++;
            return;
        }
    }
    fail_msg("docs/reference/stores.md does not print the script of %s", name);
}

static void redis_is_printed(void **state) {
    (void)state;
    assert_script_printed("read", read_lua);
    assert_script_printed("write", write_lua);
    assert_script_printed("add", add_lua);
    (void)count_lua; /* plain counters are not a store of firn */
}

static void nothing_else_is_printed(void **state) {
    (void)state;
    for (int i = 0; i < block_count; i++) {
        if (used[i] != 1) {
            fail_msg("docs/reference/stores.md prints what no store sends: %s", blocks[i]);
        }
    }
}

/* The tables are printed with the engines. */
static void tables_are_printed(void **state) {
    static char page[PAGE_SIZE], line[1000];
    FILE *in = fopen(FIRN_SOURCE_DIR "/docs/reference/stores.md", "r");
    size_t length = 0;
    (void)state;
    assert_non_null(in);
    while (fgets(line, sizeof line, in) != NULL) {
        for (const char *c = line; *c != '\0' && length + 1 < sizeof page; c++) {
            if (!isspace((unsigned char)*c)) {
                page[length++] = *c;
            }
        }
    }
    fclose(in);
    for (size_t i = 0; i <= sizeof create_tables / sizeof create_tables[0]; i++) {
        char wanted[BLOCK_SIZE], packed[BLOCK_SIZE];
        size_t position = 0;
        show(wanted, i == 0 ? create_sql : create_tables[i - 1], i > 0);
        for (const char *c = wanted; *c != '\0'; c++) {
            if (!isspace((unsigned char)*c)) {
                packed[position++] = *c;
            }
        }
        packed[position] = '\0';
        if (strstr(page, packed) == NULL) {
            fail_msg("docs/reference/stores.md does not print %s", wanted);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(postgres_is_printed),     cmocka_unit_test(mysql_is_printed),
        cmocka_unit_test(redis_is_printed),        cmocka_unit_test(tables_are_printed),
        cmocka_unit_test(nothing_else_is_printed),
    };
    return cmocka_run_group_tests(tests, read_page, NULL);
}
