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

static void set_tls(const store *s, MYSQL *db) {
    static const enum mysql_option options[] = {MYSQL_OPT_SSL_CA, MYSQL_OPT_SSL_CERT,
                                                MYSQL_OPT_SSL_KEY, MYSQL_OPT_SSL_CRL};
    my_bool yes = 1;
    if (s->tls == NULL || strcmp(s->tls, "off") != 0) {
        mysql_options(db, MYSQL_OPT_SSL_ENFORCE, &yes); /* as far as the server can */
    }
    if (s->tls != NULL && strcmp(s->tls, "verify") == 0) {
        mysql_options(db, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
    }
    for (size_t i = 0; i < MARIA_TLS_FILES; i++) {
        if (s->tls_files[i] != NULL) {
            mysql_options(db, options[i], s->tls_files[i]);
        }
    }
}

/* NULL: the password of defaults-file, or none. */
static const char *password_of(const store *s) {
    return s->link.url.password != NULL ? s->link.url.password
           : s->defaults == NULL        ? getenv("MYSQL_PWD")
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

/* The last host of defaults-file, as libmariadb reads it (except in files that it includes); "": none. */
static void host_of_file(const char *path, char host[256]) {
    char line[4096];
    bool ours = false;
    FILE *file = fopen(path, "re");
    host[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *at = line + strspn(line, " \t");
        if (*at == '[') {
            ours = is_group(at + 1, strcspn(at + 1, "]"));
        } else if (ours && strncmp(at, "host", 4) == 0 && strchr("= \t", at[4]) != NULL) {
            at += 4 + strspn(at + 4, "= \t'\"");
            snprintf(host, 256, "%.*s", (int)strcspn(at, " \t'\"\r\n#"), at);
        }
    }
    explicit_bzero(line, sizeof line); /* a password */
    if (file != NULL) {
        fclose(file);
    }
}

/* libmariadb verifies the name, so it gets the name, and finds it again. It takes localhost for a
 * socket's file. */
static int find_name(store *s, const module_host *to, size_t host, int64_t deadline_ms,
                     firn_error *error) {
    char name[256];
    if (to == NULL && s->defaults != NULL) {
        host_of_file(s->defaults, name);
        return strcmp(name, "localhost") == 0
                   ? FIRN_OK
                   : module_link_try_names(&s->link, name, deadline_ms, error);
    }
    if (to == NULL || strcmp(to->name, "localhost") == 0) {
        return FIRN_OK;
    }
    struct addrinfo *found = module_link_find(&s->link, host, 0, deadline_ms, error);
    if (found == NULL) {
        return FIRN_ESTORE;
    }
    freeaddrinfo(found);
    return FIRN_OK;
}

static int reach(store *s, size_t host, int64_t deadline_ms, firn_error *error) {
    const module_url *url = &s->link.url;
    const module_host *to = host < url->host_count ? &url->hosts[host] : NULL;
    unsigned seconds = (unsigned)(s->link.connect_ms / 1000 + 1); /* our own limit is shorter */
    MYSQL *connected = NULL;
    my_bool no = 0;
    int code = find_name(s, to, host, deadline_ms, error);
    if (code != FIRN_OK) {
        return code;
    }
    s->late = s->proved = false;
    s->witness[0] = '\0';
    s->db = mysql_init(NULL);
    if (s->db == NULL) {
        return module_no_memory(error);
    }
    mysql_options(s->db, MYSQL_OPT_NONBLOCK, NULL);
    mysql_options(s->db, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    mysql_options(s->db, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (s->defaults != NULL) {
        mysql_options(s->db, MYSQL_READ_DEFAULT_FILE, s->defaults);
    }
    set_tls(s, s->db);
    int wanted = mysql_real_connect_start(
        &connected, s->db, to != NULL ? to->name : NULL, url->user, password_of(s), url->path,
        to != NULL ? (unsigned)to->port : 0, s->path, CLIENT_MULTI_STATEMENTS);
    while (wanted != 0) {
        wanted = mysql_real_connect_cont(&connected, s->db, maria_resume(s, wanted, deadline_ms));
    }
    if (connected == NULL) {
        return module_unreachable(error, where(s),
                                  s->late ? "no answer in connect_timeout" : mysql_error(s->db));
    }
    s->link.socket = (int)mysql_get_socket(s->db);
    /* this overrides the file: a session that the library replaces is not checked, and may be
     * another server's */
    mysql_options(s->db, MYSQL_OPT_RECONNECT, &no);
    if (s->tls != NULL && strcmp(s->tls, "off") != 0 && strcmp(s->tls, "prefer") != 0 &&
        mysql_get_ssl_cipher(s->db) == NULL) {
        return module_unreachable(error, where(s), "it offers no TLS");
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

static int read_variables(store *s, variables *out, firn_error *error) {
    reply found;
    MYSQL_ROW row;
    memset(out, 0, sizeof *out);
    int code =
        maria_read(s, &found, error,
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
static int identify(store *s, const variables *are, firn_error *error) {
    reply found;
    snprintf(s->identity, sizeof s->identity, "%.8s/%.64s",
             are->value[GROUP][0] != '\0'         ? "group"
             : are->value[SERVER_UUID][0] != '\0' ? "server"
                                                  : "id",
             are->value[GROUP][0] != '\0'         ? are->value[GROUP]
             : are->value[SERVER_UUID][0] != '\0' ? are->value[SERVER_UUID]
                                                  : are->value[SERVER_ID]);
    if (strcmp(are->value[GALERA], "ON") != 0) {
        return FIRN_OK;
    }
    int code = maria_read(s, &found, error, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'");
    if (code == FIRN_OK) {
        MYSQL_ROW row = maria_next_row(&found, 2);
        const char *cluster = row != NULL && row[1] != NULL ? row[1] : "";
        snprintf(s->identity, sizeof s->identity, "cluster/%.64s", cluster);
        if (cluster[0] == '\0') {
            code = module_fail(error, FIRN_ESTORE,
                               "store %.60s has wsrep_on=ON and no wsrep_cluster_state_uuid: check "
                               "wsrep_cluster_status",
                               where(s));
        }
    }
    maria_reply_free(&found);
    /* reads wait until this node has what the others committed */
    return code == FIRN_OK ? maria_run(s, error, "SET SESSION wsrep_sync_wait = 1") : code;
}

static int judge(store *s, const variables *are, firn_error *error) {
    const char *cure = "set it to 1";
    char risk[80] = "";
    if (strcmp(are->value[READ_ONLY], "ON") == 0) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s is a replica or read-only: name the primary server",
                           where(s));
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
    return module_risk(&s->link, risk, cure, error);
}

/* How many of the tables are there, and one that is not InnoDB's. */
static int count_tables(store *s, int *found, char other[80], firn_error *error) {
    static const char *const wanted[] = {
        [OWN] = "('@_namespace', '@_mark')",
        [LEAF] = "('!')",
        [TICKETS] = "('!')",
        [WORKER_NODE] = "('@_namespace', '@_mark', '!')",
    };
    char pattern[200];
    reply there;
    MYSQL_ROW row;
    snprintf(pattern, sizeof pattern,
             "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES"
             " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN %s",
             wanted[s->shape]);
    int code = maria_read(s, &there, error, pattern);
    *found = 0;
    other[0] = '\0';
    while (code == FIRN_OK && (row = maria_next_row(&there, 2)) != NULL && row[0] != NULL) {
        ++*found;
        if (row[1] == NULL || strcasecmp(row[1], "InnoDB") != 0) {
            snprintf(other, 80, "table %.48s in %.16s", row[0], row[1] != NULL ? row[1] : "a view");
        }
    }
    maria_reply_free(&there);
    return code;
}

static int create(store *s, firn_error *error) {
    int code = FIRN_OK;
    for (size_t i = 0; i < CREATES && code == FIRN_OK; i++) {
        code = maria_run(s, error, create_tables[i]);
    }
    if (code != FIRN_OK && s->db != NULL && mysql_errno(s->db) == MARIA_MAY_NOT) {
        code = module_fail(error, FIRN_ESTORE,
                           "store %.48s lacks %.48s_mark and may not create it: run GRANT CREATE "
                           "ON %.24s.* TO this user, or see docs/reference/stores.md",
                           where(s), s->table, s->link.url.path != NULL ? s->link.url.path : "*");
    }
    return code;
}

/* MySQL shows a trigger only to users with a right for it, so mysql.c reads back a reservation too. */
static int check_triggers(store *s, firn_error *error) {
    char name[80] = "";
    reply found;
    MYSQL_ROW row;
    int code = maria_read(s, &found, error,
                          "SELECT MIN(TRIGGER_NAME) FROM information_schema.TRIGGERS WHERE"
                          " EVENT_OBJECT_SCHEMA = DATABASE()"
                          " AND EVENT_OBJECT_TABLE IN ('@_namespace', '@_mark')");
    if (code == FIRN_OK && (row = maria_next_row(&found, 1)) != NULL && row[0] != NULL) {
        snprintf(name, sizeof name, "trigger %.64s", row[0]);
    }
    maria_reply_free(&found);
    return code == FIRN_OK ? module_meddler(&s->link, name, error) : code;
}

/* Finds the tables, or makes our own. */
static int find_tables(store *s, firn_error *error) {
    static const int counts[] = {[OWN] = 2, [LEAF] = 1, [TICKETS] = 1, [WORKER_NODE] = 3};
    char other[80];
    int found, code = count_tables(s, &found, other, error);
    if (code == FIRN_OK && found < counts[s->shape] && s->made) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s: a table of %.48s was dropped, its marks are lost: see "
                           "docs/reference/stores.md, then restart",
                           where(s), s->foreign[0] != '\0' ? s->foreign : s->table);
    }
    if (code == FIRN_OK && found < counts[s->shape] && s->shape != LEAF && s->shape != TICKETS) {
        code = create(s, error);
        code = code == FIRN_OK ? count_tables(s, &found, other, error) : code;
    }
    if (code == FIRN_OK && found < counts[s->shape]) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s has no table %.48s in its database: create it "
                           "(docs/reference/stores.md)",
                           where(s), s->foreign[0] != '\0' ? s->foreign : s->table);
    }
    if (code == FIRN_OK && other[0] != '\0') {
        code = module_risk(&s->link, other, "run ALTER TABLE ... ENGINE=InnoDB", error);
    }
    if (code == FIRN_OK && s->shape != LEAF && s->shape != TICKETS) {
        code = check_triggers(s, error);
    }
    s->made = s->made || code == FIRN_OK;
    return code;
}

/* Sets what the statements need, independent of the server's defaults. A session may begin inside a transaction
 * (init_connect, a pool), which autocommit = 1 does not end. */
static int settle_session(store *s, firn_error *error) {
    const int64_t wait_s = module_later(s->link.timeout_ms / 2000, 1);
    int code = maria_run(s, error, rollback_sql);
    if (code == FIRN_OK) {
        code = maria_run(
            s, error,
            "SET SESSION autocommit = 1, time_zone = '+00:00', innodb_lock_wait_timeout = #,"
            " sql_safe_updates = 0, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
            " /*M!!110602 , innodb_snapshot_isolation = 0 */" /* 1 by default: see CHANGED */
            " /*M!!100300 , idle_transaction_timeout = # */"
            " /*!!50700 , wait_timeout = # */", /* MySQL, which has no other limit for idle locks */
            wait_s, 10 * wait_s, 60 * wait_s);
    }
    return code == FIRN_OK
               ? maria_run(s, error, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
               : code;
}

/* The first cell of the answer; "" if the answer is empty. */
static int ask_text(store *s, const char *pattern, char *out, size_t size, firn_error *error) {
    reply found;
    MYSQL_ROW row;
    int code = maria_read(s, &found, error, pattern);
    out[0] = '\0';
    if (code == FIRN_OK && (row = maria_next_row(&found, 1)) != NULL && row[0] != NULL) {
        snprintf(out, size, "%s", row[0]);
    }
    maria_reply_free(&found);
    return code;
}

/* Notes the connection and the server that are checked. From here on each statement is compared with it. */
static int note_witness(store *s, const variables *are, firn_error *error) {
    char witness[MARIA_WITNESS_SIZE], server[MARIA_WITNESS_SIZE];
    s->has_uuid = are->value[SERVER_UUID][0] != '\0';
    int code = ask_text(s, witness_sql[s->has_uuid], witness, sizeof witness, error);
    const char *blank = strchr(witness, ' ');
    snprintf(server, sizeof server, "%.20s%s%.40s", are->value[SERVER_ID], s->has_uuid ? " " : "",
             are->value[SERVER_UUID]);
    if (code == FIRN_OK && (blank == NULL || strcmp(blank + 1, server) != 0)) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s answers from two servers: name the primary server, not a "
                           "proxy that uses several servers",
                           where(s));
    }
    memcpy(s->witness, witness, sizeof witness);
    return code;
}

static int greet(store *s, firn_error *error) {
    variables are;
    int code = settle_session(s, error);
    if (code == FIRN_OK) {
        code = read_variables(s, &are, error);
    }
    if (code == FIRN_OK) {
        code = judge(s, &are, error);
    }
    if (code == FIRN_OK) {
        code = note_witness(s, &are, error);
    }
    if (code == FIRN_OK) {
        code = identify(s, &are, error);
    }
    return code == FIRN_OK ? find_tables(s, error) : code;
}

int maria_went_back(store *s, firn_error *error) {
    int code = maria_run(s, error, doubt_sql, MODULE_GONE_BACK);
    s->last.high = code == FIRN_OK ? 0 : s->last.high;
    return code;
}

/* The table's number; "": the server does not show it. */
static int read_number(store *s, char number[24], firn_error *error) {
    int code = FIRN_ESTORE;
    number[0] = '\0';
    for (size_t i = 0; i < 2 && code != FIRN_OK; i++) {
        code = ask_text(s, number_sql[i], number, 24, error);
        unsigned why = code != FIRN_OK && s->db != NULL ? mysql_errno(s->db) : 0;
        if (why != MARIA_NO_SUCH) {
            return why == MARIA_NO_PROCESS ? FIRN_OK : code;
        }
    }
    return FIRN_OK;
}

bool maria_in_cluster(const store *s) {
    return strncmp(s->identity, "cluster/", 8) == 0 || strncmp(s->identity, "group/", 6) == 0;
}

/* The table's number is stored as the layout of the store's own record. In a cluster each server
 * has its own numbers. */
int maria_check_table(store *s, firn_error *error) {
    char number[24], kept[24];
    if (s->shape == LEAF || s->shape == TICKETS || maria_in_cluster(s)) {
        return FIRN_OK;
    }
    int code = read_number(s, number, error);
    if (code != FIRN_OK || number[0] == '\0') {
        return code;
    }
    code =
        ask_text(s, "SELECT layout FROM `@_namespace` WHERE name = ''", kept, sizeof kept, error);
    if (code != FIRN_OK || strcmp(kept, number) == 0) {
        return code;
    }
    code = kept[0] != '\0' ? maria_went_back(s, error) : FIRN_OK;
    return code == FIRN_OK ? maria_run(s, error, numbered_sql, number) : code;
}

/* Does the server still have this handle's last reservation? */
static int check_last(store *s, firn_error *error) {
    reply found;
    MYSQL_ROW row;
    bool kept = false;
    if (s->last.high == 0) {
        return FIRN_OK;
    }
    int code = maria_read(s, &found, error, "SELECT high FROM `@_mark` WHERE ns = $ AND `key` = $",
                          s->last.ns, s->last.key);
    if (code == FIRN_OK && (row = maria_next_row(&found, 1)) != NULL) {
        kept = maria_number(row[0]) >= s->last.high;
    }
    maria_reply_free(&found);
    return code != FIRN_OK || kept ? code : maria_went_back(s, error);
}

int maria_dial(void *self, size_t host, int64_t deadline_ms, firn_error *error) {
    store *s = self;
    int code = reach(s, host, deadline_ms, error);
    if (code == FIRN_OK) {
        code = greet(s, error);
    }
    if (code == FIRN_OK) {
        code = maria_check_table(s, error);
    }
    return code == FIRN_OK ? check_last(s, error) : code;
}

/* An idle connection becomes readable when it ends. */
bool maria_is_open(void *self) {
    const store *s = self;
    return s->db != NULL && module_await(s->link.socket, POLLIN, 0) == 0;
}
