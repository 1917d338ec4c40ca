/* SPDX-License-Identifier: MIT */
/* Fuzzes how the MySQL module reads rows, counts and errors of a server. An answer: a letter for
 * its kind (e error, then its number; c the connection broke; else rows), a byte for the number of
 * changed rows, one for the insert ID, then rows that end with '\n', of cells that end with '\t'; a
 * cell "\1" is NULL. */
#include "lying.h"

#include <mysql.h>

static int lie_ask(my_bool *bad);
static MYSQL_RES *lie_rows(void);
static MYSQL_ROW lie_row(void);
static void lie_free(void);
static unsigned lie_wide, lie_error;
static uint64_t lie_changed, lie_insert_id, lie_count;

#define mysql_send_query_start(failed, db, text, length) ((void)(text), *(failed) = 0, 0)
#define mysql_send_query_cont(failed, db, ready)         (*(failed) = 0, (void)(ready), 0)
#define mysql_read_query_result_start(bad, db)           lie_ask(bad)
#define mysql_read_query_result_cont(bad, db, ready)     ((void)(ready), 0)
#define mysql_store_result_start(out, db)                (*(out) = lie_rows(), (void)(db), 0)
#define mysql_store_result_cont(out, db, ready)          ((void)(ready), 0)
#define mysql_affected_rows(db)                          lie_changed
#define mysql_insert_id(db)                              lie_insert_id
#define mysql_field_count(db)                            0
#define mysql_num_fields(rows)                           lie_wide
#define mysql_num_rows(rows)                             lie_count
#define mysql_fetch_row(rows)                            lie_row()
#define mysql_free_result(rows)                          lie_free()
#define mysql_errno(db)                                  lie_error
#define mysql_error(db)                                  "what it says"
#define mysql_close(db)                                  ((void)(db))
#define mysql_get_socket(db)                             (-1)
#define mysql_init(db)                                   ((MYSQL *)NULL)
#include "../modules/mysql.c"
#include "../modules/mysql_foreign.c"
#include "../modules/mysql_session.c"
#include "../modules/mysql_talk.c"
#include "../modules/sql.c"

static char *lie_text, *lie_rest;

static int lie_ask(my_bool *bad) {
    size_t length = 0;
    free(lie_text);
    lie_text = lie_next(&length);
    lie_rest = NULL;
    lie_wide = lie_error = 0;
    lie_changed = lie_insert_id = lie_count = 0;
    *bad = lie_text == NULL || length < 3 || lie_text[0] == 'c';
    if (*bad) {
        lie_error = 2013;
    } else if (lie_text[0] == 'e') {
        *bad = 1;
        lie_error = (unsigned)atoi(lie_text + 1);
    } else {
        lie_changed = (unsigned char)lie_text[1] & 3;
        lie_insert_id = (uint64_t)(signed char)lie_text[2] * 11;
        lie_rest = lie_text + 3;
        for (const char *c = lie_rest; *c != '\0' && *c != '\n'; c++) {
            lie_wide += *c == '\t' && lie_wide < 16;
        }
        for (const char *c = lie_rest; *c != '\0'; c++) {
            lie_count += *c == '\n';
        }
    }
    return 0;
}

static MYSQL_RES *lie_rows(void) {
    return lie_wide > 0 ? (MYSQL_RES *)(void *)&lie_wide : NULL;
}

static MYSQL_ROW lie_row(void) {
    static char *cells[16];
    memset(cells, 0, sizeof cells);
    if (lie_rest == NULL || *lie_rest == '\0') {
        return NULL;
    }
    for (unsigned i = 0; i < lie_wide && *lie_rest != '\0' && *lie_rest != '\n'; i++) {
        size_t length = strcspn(lie_rest, "\t\n");
        bool last = lie_rest[length] != '\t';
        cells[i] = length == 1 && *lie_rest == '\1' ? NULL : lie_rest;
        lie_rest += length;
        if (last) {
            break;
        }
        *lie_rest++ = '\0';
    }
    if (*lie_rest == '\n') {
        *lie_rest++ = '\0';
    } else if (*lie_rest != '\0') {
        lie_rest += strcspn(lie_rest, "\n");
        lie_rest += *lie_rest == '\n';
    }
    return cells;
}

static void lie_free(void) {
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const urls[] = {"mysql://u:" LIE_PASSWORD "@127.0.0.1/d",
                                       "mysql://u:" LIE_PASSWORD "@127.0.0.1/d?leaf=leaf_alloc",
                                       "mysql://u:" LIE_PASSWORD "@127.0.0.1/d?tickets=Tickets64",
                                       "mysql://u:" LIE_PASSWORD "@127.0.0.1/d?worker_node=W"};
    firn_error error = {0};
    const firn_store_options options = {.unsafe = true};
    if (size < 2) {
        return 0;
    }
    mysql_store *s = calloc(1, sizeof *s);
    assert(s != NULL);
    lie_begin(data + 2, size - 2);
    assert(module_link_read(&s->link, urls[data[0] >> 1 & 3], &options, &error) == FIRN_OK);
    assert(set_up(s, &error) == FIRN_OK);
    s->link.engine = &engine;
    s->db = (MYSQL *)(void *)s;
    s->link.socket = -1;
    bool lost;
    int code = (data[0] & 1) != 0 ? greet(s, &error) : FIRN_OK;
    if (code == FIRN_OK && (data[0] & 1) != 0) {
        code = maria_check_table(s, &lost, &error);
    }
    lie_told(code, &error);
    if (code == FIRN_OK) {
        lie_driven(&firn_store_driver, s, data[1]);
    } else {
        module_close(s);
    }
    free(lie_text);
    lie_text = NULL;
    return 0;
}
