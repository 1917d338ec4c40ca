/* SPDX-License-Identifier: MIT */
/* How the MariaDB and MySQL store connects, what it checks, and its tables. */
#include "mysql.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CREATES (sizeof create_tables / sizeof create_tables[0])

/* ---- connecting ------------------------------------------------------------------------------ */

static void set_tls(const mysql_store *store, MYSQL *db) {
    static const enum mysql_option options[] = {MYSQL_OPT_SSL_CA, MYSQL_OPT_SSL_CERT,
                                                MYSQL_OPT_SSL_KEY, MYSQL_OPT_SSL_CRL};
    my_bool yes = 1;
    if (store->tls == NULL || strcmp(store->tls, "off") != 0) {
        mysql_options(db, MYSQL_OPT_SSL_ENFORCE, &yes); /* as far as the server can */
    }
    if (store->tls != NULL && strcmp(store->tls, "verify") == 0) {
        mysql_options(db, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
    }
    for (size_t i = 0; i < MARIA_TLS_FILES; i++) {
        if (store->tls_files[i] != NULL) {
            mysql_options(db, options[i], store->tls_files[i]);
        }
    }
}

/* NULL: the password of defaults-file, or none. */
static const char *password_of(const mysql_store *store) {
    return store->link.url.password != NULL ? store->link.url.password
           : store->defaults == NULL        ? getenv("MYSQL_PWD")
                                            : NULL;
}

/* Does libmariadb read this group of a file? */
static bool is_group(const char *name, size_t length) {
    static const char *const groups[] = {"client", "client-server", "client-mariadb"};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (strlen(groups[i]) == length && strncmp(groups[i], name, length) == 0) {
            return true;
        }
    }
    return false;
}

/* The last host of defaults-file, as libmariadb reads it (except in files that it includes). Writes
 * nothing if the file names no host. */
static void host_of_file(const char *path, char host[256]) {
    char line[4096];
    bool ours = false;
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *position = line + strspn(line, " \t");
        if (*position == '[') {
            ours = is_group(position + 1, strcspn(position + 1, "]"));
        } else if (ours && strncmp(position, "host", 4) == 0 &&
                   strchr("= \t", position[4]) != NULL) {
            position += 4 + strspn(position + 4, "= \t'\"");
            snprintf(host, 256, "%.*s", (int)strcspn(position, " \t'\"\r\n#"), position);
        }
    }
    explicit_bzero(line, sizeof line); /* a password */
    if (file != NULL) {
        fclose(file);
    }
}

/* libmariadb verifies the name, so it gets the name, and finds it again. It takes localhost for a
 * socket's file. */
static int find_name(mysql_store *store, const module_host *target, size_t host,
                     int64_t deadline_ms, firn_error *error) {
    char name[256] = "";
    if (target == NULL && store->defaults != NULL) {
        host_of_file(store->defaults, name);
        return strcmp(name, "localhost") == 0
                   ? FIRN_OK
                   : module_link_try_names(&store->link, name, deadline_ms, error);
    }
    if (target == NULL || strcmp(target->name, "localhost") == 0) {
        return FIRN_OK;
    }
    struct addrinfo *found = module_link_find(&store->link, host, 0, deadline_ms, error);
    if (found == NULL) {
        return FIRN_ESTORE;
    }
    freeaddrinfo(found);
    return FIRN_OK;
}

/* Has the server, or the user, as many connections as it may? */
static bool is_full(unsigned number) {
    return number == 1040 || number == 1203 || number == 1226;
}

static int reach(mysql_store *store, size_t host, int64_t deadline_ms, firn_error *error) {
    const module_url *url = &store->link.url;
    const module_host *target = host < url->host_count ? &url->hosts[host] : NULL;
    unsigned seconds = (unsigned)(store->link.connect_ms / 1000 + 1); /* our own limit is shorter */
    MYSQL *connected = NULL;
    my_bool no = 0;
    int code = find_name(store, target, host, deadline_ms, error);
    if (code != FIRN_OK) {
        return code;
    }
    store->late = store->proved = false;
    store->witness[0] = '\0';
    store->db = mysql_init(NULL);
    if (store->db == NULL || mysql_options(store->db, MYSQL_OPT_NONBLOCK, NULL) != 0) {
        return module_no_memory(error); /* without that option the next call would crash */
    }
    mysql_options(store->db, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    mysql_options(store->db, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (store->defaults != NULL) {
        mysql_options(store->db, MYSQL_READ_DEFAULT_FILE, store->defaults);
    }
    set_tls(store, store->db);
    int wanted = mysql_real_connect_start(
        &connected, store->db, target != NULL ? target->name : NULL, url->user, password_of(store),
        url->path, target != NULL ? (unsigned)target->port : 0, store->path,
        CLIENT_MULTI_STATEMENTS);
    while (wanted != 0) {
        wanted = mysql_real_connect_cont(&connected, store->db,
                                         maria_resume(store, wanted, deadline_ms));
    }
    if (connected == NULL) {
        if (store->late) {
            return module_late(&store->link, where(store), error);
        }
        if (is_full(mysql_errno(store->db))) {
            store->link.busy = true;
            return module_fail(error, FIRN_ESTORE,
                               "store %.48s has no connection left (%.60s): raise "
                               "max_connections, or the limit of its user",
                               where(store), mysql_error(store->db));
        }
        return module_unreachable(error, where(store), mysql_error(store->db));
    }
    store->link.socket = (int)mysql_get_socket(store->db);
    /* this overrides the file: a session that the library replaces is not checked, and may be
     * another server's */
    mysql_options(store->db, MYSQL_OPT_RECONNECT, &no);
    if (store->tls != NULL && strcmp(store->tls, "off") != 0 && strcmp(store->tls, "prefer") != 0 &&
        mysql_get_ssl_cipher(store->db) == NULL) {
        return module_unreachable(error, where(store), "it offers no TLS");
    }
    return FIRN_OK;
}

/* ---- the server ------------------------------------------------------------------------------ */

/* The server's variables that matter. */
enum variable {
    FLUSH,
    BINLOG,
    BINLOG_SYNC,
    METHOD,
    DOUBLEWRITE,
    READ_ONLY,
    SERVER_UUID,
    SERVER_ID,
    GALERA,
    GROUP,
    VARIABLES
};

static const char *const variable_names[VARIABLES] = {"innodb_flush_log_at_trx_commit",
                                                      "log_bin",
                                                      "sync_binlog",
                                                      "innodb_flush_method",
                                                      "innodb_doublewrite",
                                                      "read_only",
                                                      "server_uuid",
                                                      "server_id",
                                                      "wsrep_on",
                                                      "group_replication_group_name"};

typedef struct variables {
    char value[VARIABLES][64];
} variables;

static int read_variables(mysql_store *store, variables *out, firn_error *error) {
    mysql_reply found;
    MYSQL_ROW row;
    int code =
        maria_read(store, &found, error,
                   "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit',"
                   "'log_bin','sync_binlog','innodb_flush_method','innodb_doublewrite','read_only',"
                   "'server_uuid','server_id','wsrep_on','group_replication_group_name')");
    while (code == FIRN_OK && (row = maria_next_row(&found, 2)) != NULL) {
        for (size_t i = 0; i < VARIABLES; i++) {
            if (row[0] != NULL && strcasecmp(row[0], variable_names[i]) == 0) {
                snprintf(out->value[i], sizeof out->value[i], "%s", row[1] != NULL ? row[1] : "");
            }
        }
    }
    maria_reply_free(&found);
    return code;
}

/* The identity is the same for all servers with the same marks, and changes after a failover to a
 * server that may lack some: the identity of a Galera cluster, a replication group, a MySQL server,
 * or, for MariaDB, its server ID. */
static int identify(mysql_store *store, const variables *are, firn_error *error) {
    mysql_reply found;
    snprintf(store->identity, sizeof store->identity, "%.8s/%.64s",
             are->value[GROUP][0] != '\0'         ? "group"
             : are->value[SERVER_UUID][0] != '\0' ? "server"
                                                  : "id",
             are->value[GROUP][0] != '\0'         ? are->value[GROUP]
             : are->value[SERVER_UUID][0] != '\0' ? are->value[SERVER_UUID]
                                                  : are->value[SERVER_ID]);
    if (strcmp(are->value[GALERA], "ON") != 0) {
        return FIRN_OK;
    }
    int code =
        maria_read(store, &found, error, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'");
    if (code == FIRN_OK) {
        MYSQL_ROW row = maria_next_row(&found, 2);
        const char *cluster = row != NULL && row[1] != NULL ? row[1] : "";
        snprintf(store->identity, sizeof store->identity, "cluster/%.64s", cluster);
        if (cluster[0] == '\0') {
            code = module_fail(error, FIRN_ESTORE,
                               "store %.60s has wsrep_on=ON and no wsrep_cluster_state_uuid: check "
                               "wsrep_cluster_status",
                               where(store));
        }
    }
    maria_reply_free(&found);
    /* reads wait until this node has what the others committed */
    return code == FIRN_OK ? maria_run(store, error, "SET SESSION wsrep_sync_wait = 1") : code;
}

static int judge(mysql_store *store, const variables *are, firn_error *error) {
    const char *cure = "set it to 1";
    char risk[80] = "";
    if (strcmp(are->value[READ_ONLY], "ON") == 0) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s is a replica or read-only: name the primary server",
                           where(store));
    }
    if (strcmp(are->value[FLUSH], "1") != 0 && strcmp(are->value[FLUSH], "3") != 0) {
        snprintf(risk, sizeof risk, "innodb_flush_log_at_trx_commit=%.8s", are->value[FLUSH]);
    } else if (strcmp(are->value[BINLOG], "ON") == 0 && strcmp(are->value[BINLOG_SYNC], "1") != 0) {
        /* after a crash the server rolls back transactions that are missing in the binary log */
        snprintf(risk, sizeof risk, "log_bin with sync_binlog=%.8s", are->value[BINLOG_SYNC]);
    } else if (strcasecmp(are->value[METHOD], "nosync") == 0 ||
               strcasecmp(are->value[METHOD], "littlesync") == 0) {
        cure = "set it to fsync";
        snprintf(risk, sizeof risk, "innodb_flush_method=%.16s", are->value[METHOD]);
    } else if (strcasecmp(are->value[DOUBLEWRITE], "OFF") == 0 ||
               strcasecmp(are->value[DOUBLEWRITE], "DETECT_ONLY") == 0) {
        /* a page that a crash left half written cannot be repaired */
        cure = "set it to ON";
        snprintf(risk, sizeof risk, "innodb_doublewrite=%.16s", are->value[DOUBLEWRITE]);
    }
    return module_risk(&store->link, risk, cure, error);
}

/* How many of the tables are there, and one that is not InnoDB's. */
static int count_tables(mysql_store *store, int *found, char other[80], firn_error *error) {
    static const char *const wanted[] = {
        [OWN] = "('@_namespace', '@_mark')",
        [LEAF] = "('!')",
        [TICKETS] = "('!')",
        [WORKER_NODE] = "('@_namespace', '@_mark', '!')",
    };
    char pattern[200];
    mysql_reply there;
    MYSQL_ROW row;
    snprintf(pattern, sizeof pattern,
             "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES"
             " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN %s",
             wanted[store->shape]);
    int code = maria_read(store, &there, error, pattern);
    *found = 0;
    while (code == FIRN_OK && (row = maria_next_row(&there, 2)) != NULL && row[0] != NULL) {
        ++*found;
        if (row[1] == NULL || strcasecmp(row[1], "InnoDB") != 0) {
            snprintf(other, 80, "table %.48s in %.16s", row[0], row[1] != NULL ? row[1] : "a view");
        }
    }
    maria_reply_free(&there);
    return code;
}

static int create(mysql_store *store, firn_error *error) {
    int code = FIRN_OK;
    for (size_t i = 0; i < CREATES && code == FIRN_OK; i++) {
        code = maria_run(store, error, create_tables[i]);
    }
    if (code != FIRN_OK && store->db != NULL && mysql_errno(store->db) == MARIA_MAY_NOT) {
        code = module_fail(error, FIRN_ESTORE,
                           "store %.48s lacks %.48s_mark and may not create it: run GRANT CREATE "
                           "ON %.24s.* TO this user, or see docs/reference/stores.md",
                           where(store), store->table,
                           store->link.url.path != NULL ? store->link.url.path : "*");
    }
    return code;
}

/* The first cell of the answer; "" if the answer is empty. */
static int ask_text(mysql_store *store, const char *pattern, char *out, size_t size,
                    firn_error *error) {
    mysql_reply found;
    int code = maria_read(store, &found, error, pattern);
    const MYSQL_ROW row = code == FIRN_OK ? maria_next_row(&found, 1) : NULL;
    snprintf(out, size, "%s", row != NULL && row[0] != NULL ? row[0] : "");
    maria_reply_free(&found);
    return code;
}

/* MySQL shows a trigger only to users with a right for it, so mysql.c reads back a reservation
 * too. */
static int check_triggers(mysql_store *store, firn_error *error) {
    char trigger[72], name[80] = "";
    int code = ask_text(store,
                        "SELECT MIN(TRIGGER_NAME) FROM information_schema.TRIGGERS WHERE"
                        " EVENT_OBJECT_SCHEMA = DATABASE()"
                        " AND EVENT_OBJECT_TABLE IN ('@_namespace', '@_mark')",
                        trigger, sizeof trigger, error);
    if (trigger[0] != '\0') {
        snprintf(name, sizeof name, "trigger %.64s", trigger);
    }
    return code == FIRN_OK ? module_refuse_trigger(&store->link, name, error) : code;
}

/* Finds the tables, or makes our own. */
static int find_tables(mysql_store *store, firn_error *error) {
    static const int counts[] = {[OWN] = 2, [LEAF] = 1, [TICKETS] = 1, [WORKER_NODE] = 3};
    char other[80] = "";
    int found, code = count_tables(store, &found, other, error);
    if (code == FIRN_OK && found < counts[store->shape] && store->made) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s: a table of %.48s was dropped, its marks are lost: see "
                           "docs/reference/stores.md, then restart",
                           where(store), store->foreign[0] != '\0' ? store->foreign : store->table);
    }
    if (code == FIRN_OK && found < counts[store->shape] && store->shape != LEAF &&
        store->shape != TICKETS) {
        code = create(store, error);
        code = code == FIRN_OK ? count_tables(store, &found, other, error) : code;
    }
    if (code == FIRN_OK && found < counts[store->shape]) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s has no table %.48s in its database: create it "
                           "(docs/reference/stores.md)",
                           where(store), store->foreign[0] != '\0' ? store->foreign : store->table);
    }
    if (code == FIRN_OK && other[0] != '\0') {
        code = module_risk(&store->link, other, "run ALTER TABLE ... ENGINE=InnoDB", error);
    }
    if (code == FIRN_OK && store->shape != LEAF && store->shape != TICKETS) {
        code = check_triggers(store, error);
    }
    store->made = store->made || code == FIRN_OK;
    return code;
}

/* Sets what the statements need, independent of the server's defaults. A session may begin inside a
 * transaction (init_connect, a pool), which autocommit = 1 does not end. */
static int settle_session(mysql_store *store, firn_error *error) {
    const int64_t wait_s = module_later(store->link.timeout_ms / 2000, 1);
    int code = maria_run(store, error, rollback_sql);
    if (code == FIRN_OK) {
        code = maria_run(
            store, error,
            "SET SESSION autocommit = 1, time_zone = '+00:00', innodb_lock_wait_timeout = #,"
            " sql_safe_updates = 0, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
            " /*M!!110602 , innodb_snapshot_isolation = 0 */" /* 1 by default: see CHANGED */
            " /*M!!100300 , idle_transaction_timeout = # */"
            " /*!!50700 , wait_timeout = # */", /* MySQL, which has no other limit for idle locks */
            wait_s, 10 * wait_s, 60 * wait_s);
    }
    return code == FIRN_OK
               ? maria_run(store, error, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
               : code;
}

/* Notes the connection and the server that are checked. From here on each statement is compared
 * with it. */
static int note_witness(mysql_store *store, const variables *are, firn_error *error) {
    char witness[MARIA_WITNESS_SIZE], server[MARIA_WITNESS_SIZE];
    store->has_uuid = are->value[SERVER_UUID][0] != '\0';
    int code = ask_text(store, witness_sql[store->has_uuid], witness, sizeof witness, error);
    const char *blank = strchr(witness, ' ');
    snprintf(server, sizeof server, "%.20s%s%.40s", are->value[SERVER_ID],
             store->has_uuid ? " " : "", are->value[SERVER_UUID]);
    if (code == FIRN_OK && (blank == NULL || strcmp(blank + 1, server) != 0)) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s answers from two servers: name the primary server, not a "
                           "proxy that uses several servers",
                           where(store));
    }
    memcpy(store->witness, witness, sizeof witness);
    return code;
}

static int greet(mysql_store *store, firn_error *error) {
    variables are = {{""}};
    int code = settle_session(store, error);
    code = code == FIRN_OK ? read_variables(store, &are, error) : code;
    code = code == FIRN_OK ? judge(store, &are, error) : code;
    code = code == FIRN_OK ? note_witness(store, &are, error) : code;
    code = code == FIRN_OK ? identify(store, &are, error) : code;
    return code == FIRN_OK ? find_tables(store, error) : code;
}

/* The table's number; "": the server does not show it. */
static int read_number(mysql_store *store, char number[24], firn_error *error) {
    int code = FIRN_ESTORE;
    for (size_t i = 0; i < 2 && code != FIRN_OK; i++) {
        code = ask_text(store, number_sql[i], number, 24, error);
        unsigned why = code != FIRN_OK && store->db != NULL ? mysql_errno(store->db) : 0;
        if (why != MARIA_NO_SUCH) {
            return why == MARIA_NO_PROCESS ? FIRN_OK : code;
        }
    }
    return FIRN_OK;
}

bool maria_in_cluster(const mysql_store *store) {
    return strncmp(store->identity, "cluster/", 8) == 0 ||
           strncmp(store->identity, "group/", 6) == 0;
}

/* The table's number is stored as the layout of the store's own record. In a cluster each server
 * has its own numbers. */
int maria_check_table(mysql_store *store, bool *lost, firn_error *error) {
    char number[24], kept[24];
    *lost = false;
    store->checked_ms = module_now_ms();
    if (store->shape == LEAF || store->shape == TICKETS || maria_in_cluster(store)) {
        return FIRN_OK;
    }
    int code = read_number(store, number, error);
    if (number[0] == '\0') { /* also after a failure */
        return code;
    }
    code = ask_text(store, "SELECT layout FROM `@_namespace` WHERE name = ''", kept, sizeof kept,
                    error);
    if (code != FIRN_OK || strcmp(kept, number) == 0) {
        return code;
    }
    *lost = kept[0] != '\0';
    if (!*lost) {
        return maria_run(store, error, numbered_sql, number);
    }
    code = maria_run(store, error, reloaded_sql, MODULE_GONE_BACK, number, kept);
    store->sql.last_high = code == FIRN_OK ? 0 : store->sql.last_high;
    return code;
}

/* Does the server still have this handle's last reservation? */
static int check_last(mysql_store *store, firn_error *error) {
    mysql_reply found;
    MYSQL_ROW row;
    bool kept = false;
    if (store->sql.last_high == 0) {
        return FIRN_OK;
    }
    int code =
        maria_read(store, &found, error, "SELECT high FROM `@_mark` WHERE ns = $ AND `key` = $",
                   store->sql.last_ns, store->sql.last_key);
    if (code == FIRN_OK && (row = maria_next_row(&found, 1)) != NULL) {
        kept = sql_number(row[0]) >= store->sql.last_high;
    }
    maria_reply_free(&found);
    store->sql.suspect = store->sql.suspect || (code == FIRN_OK && !kept);
    return code;
}

int maria_dial(void *self, size_t host, int64_t deadline_ms, firn_error *error) {
    mysql_store *store = self;
    bool lost;
    int code = reach(store, host, deadline_ms, error);
    code = code == FIRN_OK ? greet(store, error) : code;
    code = code == FIRN_OK ? maria_check_table(store, &lost, error) : code;
    return code == FIRN_OK ? check_last(store, error) : code;
}

/* An idle connection becomes readable when it ends. */
bool maria_is_open(void *self) {
    const mysql_store *store = self;
    return store->db != NULL && module_await(store->link.socket, POLLIN, 0) == 0;
}
