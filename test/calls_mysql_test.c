/* SPDX-License-Identifier: MIT */
/* Fails each call of the MySQL module: calls_store.h. */
#define CALLS_DRIVER
#include "calls_store.h"

#include <mysql.h>

/* The error that the server reports, or 0. */
static unsigned error_told;

CALL(MYSQL *, mysql_init, (MYSQL * db), (db), 1, NULL)
CALL(unsigned long long, mysql_affected_rows, (MYSQL * db), (db), 0, 0, 2)
CALL(unsigned long long, mysql_insert_id, (MYSQL * db), (db), 0, 0, UINT64_MAX)
CALL(unsigned, mysql_num_fields, (MYSQL_RES * rows), (rows), 0, 0)
CALL(unsigned long long, mysql_num_rows, (MYSQL_RES * rows), (rows), 0, 0)
CALL(const char *, mysql_get_ssl_cipher, (MYSQL * db), (db), 1, NULL)

CALL_BY_HAND(int, mysql_real_connect_start,
             (MYSQL * *out, MYSQL *db, const char *host, const char *user, const char *password,
              const char *base, unsigned port, const char *path, unsigned long flags)) {
    if (calls_answer("mysql_real_connect_start", 1, 1) != 0) {
        *out = NULL;
        return 0;
    }
    return __real_mysql_real_connect_start(out, db, host, user, password, base, port, path, flags);
}

/* Fails at once, or after a wait. */
CALL_BY_HAND(int, mysql_send_query_start,
             (int *failed, MYSQL *db, const char *text, unsigned long length)) {
    int which = calls_answer("mysql_send_query_start", 2, 2);
    error_told = 0;
    if (which == 0) {
        return __real_mysql_send_query_start(failed, db, text, length);
    }
    *failed = 1;
    return which == 1 ? 0 : MYSQL_WAIT_WRITE;
}

/* No answer, or an error, although the server carried the statement out. */
CALL_BY_HAND(int, mysql_read_query_result_start, (my_bool * bad, MYSQL *db)) {
    static const unsigned errors[] = {2013, 1213, 1062, 1142, 1109, 1227};
    int which = calls_answer("mysql_read_query_result_start", 1, 6);
    int wanted = __real_mysql_read_query_result_start(bad, db);
    if (which == 0) {
        return wanted;
    }
    while (wanted != 0) {
        struct pollfd ready = {mysql_get_socket(db), POLLIN, 0};
        __real_poll(&ready, 1, 10000);
        wanted = mysql_read_query_result_cont(bad, db, MYSQL_WAIT_READ);
    }
    *bad = 1;
    error_told = errors[which - 1];
    return 0;
}

CALL_BY_HAND(int, mysql_store_result_start, (MYSQL_RES * *out, MYSQL *db)) {
    if (calls_answer("mysql_store_result_start", 1, 1) != 0) {
        *out = NULL;
        return 0;
    }
    return __real_mysql_store_result_start(out, db);
}

/* An error, or no further answer. */
CALL_BY_HAND(int, mysql_next_result_start, (int *missing, MYSQL *db)) {
    int which = calls_answer("mysql_next_result_start", 2, 2);
    if (which == 0) {
        return __real_mysql_next_result_start(missing, db);
    }
    *missing = which == 1 ? 1 : -1;
    return 0;
}

CALL_BY_HAND(unsigned, mysql_errno, (MYSQL * db)) {
    return error_told != 0 ? error_told : __real_mysql_errno(db);
}

/* No row; a row with the same text in each cell; a row with one NULL. */
CALL_BY_HAND(MYSQL_ROW, mysql_fetch_row, (MYSQL_RES * rows)) {
    static const char *const texts[] = {NULL, "", "x", "99999999999999999999", "ON"};
    static const char *const pairs[][2] = {{"wsrep_on", "ON"},
                                           {"group_replication_group_name", "g"},
                                           {"innodb_flush_method", "nosync"},
                                           {"innodb_flush_log_at_trx_commit", "3"}};
    enum {
        CELLS = 9, /* of the widest row */
        TEXTS = sizeof texts / sizeof texts[0],
        PAIRS = sizeof pairs / sizeof pairs[0]
    };
    static char *cells[CELLS + 1];
    MYSQL_ROW row = __real_mysql_fetch_row(rows);
    unsigned wide = __real_mysql_num_fields(rows);
    int which = calls_answer("mysql_fetch_row", 0, 1 + TEXTS + CELLS + (wide == 2 ? PAIRS : 0));
    if (which == 0 || which == 1 || row == NULL) {
        return which == 0 ? row : NULL;
    }
    if (which > 1 + TEXTS + CELLS) {
        return (MYSQL_ROW)(uintptr_t)pairs[which - 2 - TEXTS - CELLS];
    }
    for (unsigned i = 0; i < CELLS; i++) {
        cells[i] = which < 2 + TEXTS ? (char *)(uintptr_t)texts[which - 2]
                   : i < wide        ? row[i]
                                     : NULL;
    }
    if (which >= 2 + TEXTS) {
        cells[which - 2 - TEXTS] = NULL;
    }
    return cells;
}

static void make_tables(const test_engine *server) {
    char command[1500];
    snprintf(
        command, sizeof command,
        "mariadb --no-defaults --skip-ssl-verify-server-cert -h 127.0.0.1 -P %d -u root firn "
        "<<'END'\n"
        "CREATE TABLE leaf_alloc(biz_tag varchar(128) NOT NULL DEFAULT '',"
        " max_id bigint(20) NOT NULL DEFAULT '1', step int(11) NOT NULL, PRIMARY KEY (biz_tag))"
        " ENGINE=InnoDB; INSERT INTO leaf_alloc(biz_tag, max_id, step) VALUES ('order', 1, 10);"
        "CREATE TABLE Tickets64(id bigint(20) unsigned NOT NULL AUTO_INCREMENT,"
        " stub char(1) NOT NULL DEFAULT '', PRIMARY KEY (id), UNIQUE KEY stub (stub)) "
        "ENGINE=InnoDB;"
        "CREATE TABLE WORKER_NODE(ID BIGINT NOT NULL AUTO_INCREMENT, HOST_NAME VARCHAR(64) NOT "
        "NULL,"
        " PORT VARCHAR(64) NOT NULL, TYPE INT NOT NULL, LAUNCH_DATE DATE NOT NULL,"
        " MODIFIED TIMESTAMP NOT NULL, CREATED TIMESTAMP NOT NULL, PRIMARY KEY(ID)) "
        "ENGINE=InnoDB;\n"
        "END\n",
        atoi(strrchr(server->url, ':') + 1));
    assert_int_equal(system(command), 0);
}

static const calls_scenario scenarios[] = {
    {.title = "a table that is there", .url = "?table=t", .prepare = make_tables},
    {.title = "a new table", .url = "?table=t#", .ns = "n1", .list_all = true},
    {.title = "connections break", .url = "?table=t", .cut = true},
    {.title = "TLS that is not there", .url = "?tls=verify&cert=a&key=b&crl=c", .ns = "n1"},
    {.title = "segments of Leaf's",
     .url = "?leaf=leaf_alloc",
     .ns = "integer order",
     .list_all = true,
     .layout = "integer"},
    {.title = "tickets",
     .url = "?tickets=Tickets64",
     .ns = "integer photos",
     .list_all = true,
     .layout = "integer",
     .count = 1},
    {.title = "blocks of tickets",
     .url = "?tickets=Tickets64",
     .ns = "integer photos",
     .layout = "integer"},
    {.title = "workers",
     .url = "?worker_node=WORKER_NODE",
     .ns = "baidu tickets",
     .list_all = true,
     .layout = "integer",
     .count = 1},
};

int main(int count, char **arguments) {
    return calls_main("mysql", "", scenarios, sizeof scenarios / sizeof scenarios[0],
                      count > 1 ? arguments[1] : NULL);
}
