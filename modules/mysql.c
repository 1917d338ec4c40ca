/* SPDX-License-Identifier: MIT */
/* The store on MariaDB and MySQL: each verb is one conditional statement, a transaction of its own,
 * on one connection that is kept open; or it counts in a table that Leaf, Flickr's ticket servers or
 * uid-generator have made. libmariadb is used without blocking, so that every wait has a bound. */
#include "module.h"
#include "mysql_sql.h"

#include <inttypes.h>
#include <mysql.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS        8   /* a verb's statements that found the row just changed by somebody else */
#define SENDINGS      5   /* of one statement that the server rolled back because of another */
#define PAGE_ROWS     256 /* of a listing */
#define IDENTITY_SIZE 81
#define STATEMENT_MAX 8192 /* bytes; texts stand in it twice as long as they are */

/* ---- the handle ------------------------------------------------------------------------------ */

/* In which tables the integers of a namespace are counted. */
enum shape { OWN, LEAF, TICKETS, WORKER_NODE };

static const struct {
    const char *param, *holds;
} shapes[] = {
    [OWN] = {NULL, NULL},
    [LEAF] = {"leaf", "integers (firn segment)"},
    [TICKETS] = {"tickets", "integers (firn segment kind=serial)"},
    [WORKER_NODE] = {"worker_node", "tickets"},
};
#define SHAPES (sizeof shapes / sizeof shapes[0])

typedef struct store {
    module_link link;
    module_seen seen;
    module_last last;
    const char *table;
    enum shape shape;
    const char *foreign;  /* the table that exists */
    const char *stub;     /* of a ticket server */
    const char *defaults; /* defaults-file=, or NULL */
    const char *path;     /* socket=, or NULL */
    MYSQL *db;            /* or NULL */
    int socket;           /* its descriptor */
    bool late;            /* the time was over, so the connection was cut */
    bool made;            /* the tables were there once: who finds them gone has lost marks */
    char identity[IDENTITY_SIZE];
    char caution[200]; /* "": none */
} store;

static const char *where(const store *s) {
    return s->link.url.shown;
}

static void begin_verb(store *s) {
    s->link.end_ms = module_verb_end(&s->link.options, s->link.connect_ms, s->link.timeout_ms);
}

static void drop(store *s) {
    if (s->db != NULL) {
        mysql_close(s->db);
    }
    s->db = NULL;
}

/* The connection is the parent's: nothing is said on it, and nothing of it freed. */
static void abandon(store *s) {
    if (s->db != NULL) {
        close(s->socket);
    }
    s->db = NULL;
}

/* ---- statements ------------------------------------------------------------------------------ */

typedef struct statement {
    char text[STATEMENT_MAX];
    size_t length;
} statement;

static void put(statement *out, const char *text, size_t length) {
    if (out->length + length < sizeof out->text) {
        memcpy(out->text + out->length, text, length);
    }
    out->length += length; /* one that did not fit is not sent */
}

/* A text as bytes that need no quoting in any character set and mode: x'6f6b'. */
static void put_bytes(statement *out, const char *text) {
    put(out, "x'", 2);
    for (; *text != '\0'; text++) {
        char pair[3];
        snprintf(pair, sizeof pair, "%02x", (unsigned char)*text);
        put(out, pair, 2);
    }
    put(out, "'", 1);
}

/* "@" our own table, "!" the one that exists; an argument for each "$" text, "#" int64_t and "^"
 * uint64_t. */
static void compose(const store *s, statement *out, const char *pattern, ...) {
    char digits[24];
    va_list arguments;
    va_start(arguments, pattern);
    out->length = 0;
    for (; *pattern != '\0'; pattern++) {
        const char *name = *pattern == '@' ? s->table : s->foreign;
        switch (*pattern) {
        case '@':
        case '!':
            put(out, name, strlen(name));
            break;
        case '$':
            put_bytes(out, va_arg(arguments, const char *));
            break;
        case '#':
            snprintf(digits, sizeof digits, "%" PRId64, va_arg(arguments, int64_t));
            put(out, digits, strlen(digits));
            break;
        case '^':
            snprintf(digits, sizeof digits, "%" PRIu64, va_arg(arguments, uint64_t));
            put(out, digits, strlen(digits));
            break;
        default:
            put(out, pattern, 1);
        }
    }
    va_end(arguments);
}

#define CREATES (sizeof create_tables / sizeof create_tables[0])
_Static_assert(FIRN_SLOT_MAX == 4611686018427387904, "the table of marks says it too");

/* A mark's seal is identity, blank and row of its namespace, once it has passed the floor that the
 * namespace has. */
#define SEAL_SIZE (IDENTITY_SIZE + FIRN_LAYOUT_SIZE)

/* The failpoints of one write. */
typedef struct points {
    const char *before, *sent, *committed;
} points;

static const points reserve_points = {"reserve.before", "reserve.sent", "reserve.committed"};
static const points give_back_points = {"give_back.before", "give_back.sent",
                                        "give_back.committed"};

/* ---- failures in words ----------------------------------------------------------------------- */

#define DUPLICATE   1062
#define DEADLOCK    1213
#define LOCKED      1205
#define NO_TABLE    1146
#define MAY_NOT     1142
#define NO_VARIABLE 1193
#define NO_PROCESS  1227
#define NO_SUCH     1109

/* Errors after which the statement is rolled back for certain, and what to do about them. After any
 * other nobody knows: some are told after the commit. */
static const struct {
    unsigned number;
    const char *what, *cure;
} explanations[] = {
    {DEADLOCK, "was changed by others all the time", "ask again"},
    {LOCKED, "holds the row locked", "end the session that locks it (SHOW PROCESSLIST)"},
    {DUPLICATE, "was changed by others all the time", "ask again"},
    {NO_TABLE, "misses a table",
     "its marks are lost if somebody dropped it (docs/reference/stores.md)"},
    {MAY_NOT, "lacks a right",
     "GRANT SELECT, INSERT, UPDATE on its tables (docs/reference/stores.md)"},
    {1143, "lacks a right",
     "GRANT SELECT, INSERT, UPDATE on its tables (docs/reference/stores.md)"},
    {1044, "may not use the database", "GRANT SELECT, INSERT, UPDATE, CREATE on it"},
    {NO_PROCESS, "lacks a right", "look at its grants (docs/reference/stores.md)"},
    {NO_SUCH, "misses a table", "update the server (docs/reference/stores.md)"},
    {1054, "has tables with other columns, perhaps of an older firn",
     "see docs/reference/stores.md"},
    {1064, "does not know the statement", "update the server (docs/reference/stores.md)"},
    {1290, "takes no writes", "name the primary server"},
    {1792, "takes no writes", "name the primary server"},
    {1836, "takes no writes", "name the primary server"},
    {1047, "is not ready in its cluster", "look at wsrep_cluster_status"},
    {1264, "met a number out of its range", "look at its tables (docs/reference/stores.md)"},
    {1690, "met a number out of its range", "look at its tables (docs/reference/stores.md)"},
    {3819, "met a mark past 2^62", "look at its tables (docs/reference/stores.md)"},
    {4025, "met a mark past 2^62", "look at its tables (docs/reference/stores.md)"},
    {1366, "cannot keep such a text", "use names in UTF-8"},
    {1406, "cannot keep such a long name", "use a shorter one"},
    {1114, "found the disk full", "make room on the server"},
    {1021, "found the disk full", "make room on the server"},
    {1665, "cannot log the statement", "set binlog_format to MIXED or ROW"},
};

static int explain(const store *s, unsigned number, const char *text, firn_error *error) {
    for (size_t i = 0; i < sizeof explanations / sizeof explanations[0]; i++) {
        if (explanations[i].number == number) {
            return module_fail(error, FIRN_ESTORE, "store %.48s %s (%.48s): %s", where(s),
                               explanations[i].what, text, explanations[i].cure);
        }
    }
    return module_fail(error, FIRN_ESTORE, "store %.48s failed (%.90s, %u): look at the server",
                       where(s), text, number);
}

static bool is_rolled_back(unsigned number) {
    for (size_t i = 0; i < sizeof explanations / sizeof explanations[0]; i++) {
        if (explanations[i].number == number) {
            return true;
        }
    }
    return false;
}

static const char *why_lost(const store *s) {
    return s->late ? "no answer in timeout_ms" : mysql_error(s->db);
}

/* ---- talking --------------------------------------------------------------------------------- */

/* Waits for what libmariadb wants next, and tells it what happened. When the time is over the
 * connection is cut, so that the library ends what it is at. */
static int resume(store *s, int wanted, int64_t deadline_ms) {
    short events = (short)((wanted & MYSQL_WAIT_READ ? POLLIN : 0) |
                           (wanted & MYSQL_WAIT_WRITE ? POLLOUT : 0) |
                           (wanted & MYSQL_WAIT_EXCEPT ? POLLPRI : 0));
    int socket = (int)mysql_get_socket(s->db);
    short got = s->late ? POLLERR : module_await(socket, events, deadline_ms);
    if (got == 0) {
        s->late = true;
        shutdown(socket, SHUT_RDWR);
        if (wanted & MYSQL_WAIT_TIMEOUT) {
            return MYSQL_WAIT_TIMEOUT;
        }
    }
    int happened = (got & POLLIN ? MYSQL_WAIT_READ : 0) | (got & POLLOUT ? MYSQL_WAIT_WRITE : 0) |
                   (got & POLLPRI ? MYSQL_WAIT_EXCEPT : 0);
    happened &= wanted;
    return happened != 0 ? happened : wanted & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE);
}

/* What came of a statement that was sent. */
enum outcome {
    ANSWERED, /* and, for a write, committed */
    REFUSED,  /* rolled back */
    LOST,     /* who knows */
    FORKED    /* this is the child of a fork in a failpoint; the error is told */
};

static enum outcome converse(store *s, const statement *what, const char *sent_point,
                             int64_t deadline_ms, firn_error *error) {
    int failed = 1, wanted;
    my_bool bad = 1;
    s->late = false;
    wanted = mysql_send_query_start(&failed, s->db, what->text, what->length);
    while (wanted != 0) {
        wanted = mysql_send_query_cont(&failed, s->db, resume(s, wanted, deadline_ms));
    }
    if (failed) {
        return LOST;
    }
    if (sent_point != NULL &&
        module_point(&s->link.options, s->link.pid, sent_point, error) != FIRN_OK) {
        return FORKED;
    }
    wanted = mysql_read_query_result_start(&bad, s->db);
    while (wanted != 0) {
        wanted = mysql_read_query_result_cont(&bad, s->db, resume(s, wanted, deadline_ms));
    }
    return !bad ? ANSWERED : is_rolled_back(mysql_errno(s->db)) ? REFUSED : LOST;
}

/* What a statement did. */
typedef struct reply {
    MYSQL_RES *rows; /* NULL: it has none */
    uint64_t affected, insert_id;
    bool duplicate; /* another one has inserted the same key: nothing was written */
} reply;

static void reply_free(reply *r) {
    if (r->rows != NULL) {
        mysql_free_result(r->rows);
    }
    r->rows = NULL;
}

/* Reads all the rows, which are few, so that the connection is free again. */
static bool take_rows(store *s, reply *out, int64_t deadline_ms) {
    int wanted = mysql_store_result_start(&out->rows, s->db);
    while (wanted != 0) {
        wanted = mysql_store_result_cont(&out->rows, s->db, resume(s, wanted, deadline_ms));
    }
    return out->rows != NULL || mysql_field_count(s->db) == 0;
}

/* A statement, once. *again: the server rolled it back because of another one. */
static int ask_once(store *s, const statement *what, const points *at, reply *out, bool *again,
                    firn_error *error) {
    int64_t deadline_ms = module_now_ms() + s->link.timeout_ms;
    *again = false;
    *out = (reply){NULL, 0, 0, false};
    int code = module_in_time(s->link.end_ms, where(s), error);
    if (code == FIRN_OK && at != NULL) {
        code = module_point(&s->link.options, s->link.pid, at->before, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    enum outcome outcome = converse(s, what, at != NULL ? at->sent : NULL, deadline_ms, error);
    if (outcome == FORKED) {
        return FIRN_EFORKED;
    }
    if (outcome == ANSWERED) {
        out->affected = mysql_affected_rows(s->db);
        out->insert_id = mysql_insert_id(s->db);
        outcome = take_rows(s, out, deadline_ms) ? ANSWERED : LOST;
    }
    if (outcome == ANSWERED) {
        return FIRN_OK;
    }
    unsigned number = mysql_errno(s->db);
    if (outcome == REFUSED) {
        *again = number == DEADLOCK || number == LOCKED;
        out->duplicate = number == DUPLICATE;
        return out->duplicate ? FIRN_OK : explain(s, number, mysql_error(s->db), error);
    }
    module_fail(error, FIRN_EUNKNOWN,
                "store %.60s did not say whether it counts (%.60s): ask again with the same grant",
                where(s), why_lost(s));
    drop(s);
    return FIRN_EUNKNOWN;
}

/* A statement and what it did. FIRN_EUNKNOWN: sent, and perhaps carried out; else, when it fails, it
 * was not. */
static int ask(store *s, const statement *what, const points *at, reply *out, firn_error *error) {
    int64_t end_ms = module_now_ms() + s->link.timeout_ms;
    int code = FIRN_ESTORE;
    bool again = true;
    if (what->length >= sizeof what->text) {
        *out = (reply){NULL, 0, 0, false};
        return module_fail(error, FIRN_ERANGE, "the store's names are too long: use shorter ones");
    }
    for (int i = 0; i < SENDINGS && again && (i == 0 || module_now_ms() < end_ms); i++) {
        if (i > 0) {
            poll(NULL, 0, 1 << i);
        }
        code = ask_once(s, what, at, out, &again, error);
    }
    return code;
}

/* The same for what may be asked any number of times: reading, and preparing a reservation. */
static int ask_idly(store *s, const statement *what, reply *out, firn_error *error) {
    int code = ask(s, what, NULL, out, error);
    if (code == FIRN_EUNKNOWN) {
        code = FIRN_ESTORE;
        if (error != NULL) {
            error->code = code;
        }
    }
    return code;
}

/* A statement without a result. */
static int tell(store *s, const char *text, firn_error *error) {
    statement what;
    reply done;
    compose(s, &what, text);
    int code = ask_idly(s, &what, &done, error);
    reply_free(&done);
    return code;
}

/* The next row; NULL: the last one was it, or this is no answer to what was asked. */
static MYSQL_ROW next_row(const reply *r, unsigned columns) {
    return r->rows != NULL && mysql_num_fields(r->rows) == columns ? mysql_fetch_row(r->rows)
                                                                   : NULL;
}

static int64_t number_of(const char *text) {
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

/* ---- connecting ------------------------------------------------------------------------------ */

static void set_tls(const store *s, MYSQL *db) {
    static const char *const files[] = {"cert", "key", "crl"};
    static const enum mysql_option options[] = {MYSQL_OPT_SSL_CERT, MYSQL_OPT_SSL_KEY,
                                                MYSQL_OPT_SSL_CRL};
    my_bool yes = 1;
    if (s->link.tls == NULL || strcmp(s->link.tls, "off") != 0) {
        mysql_options(db, MYSQL_OPT_SSL_ENFORCE, &yes); /* as far as the server can */
    }
    if (s->link.tls != NULL && strcmp(s->link.tls, "verify") == 0) {
        mysql_options(db, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
    }
    if (s->link.authority != NULL) {
        mysql_options(db, MYSQL_OPT_SSL_CA, s->link.authority);
    }
    for (size_t i = 0; i < 3; i++) {
        module_url *url = (module_url *)(uintptr_t)&s->link.url;
        const char *file = module_param(url, files[i]);
        if (file != NULL) {
            mysql_options(db, options[i], file);
        }
    }
}

static int no_connection(const store *s, const char *why, firn_error *error) {
    return module_fail(error, FIRN_ESTORE,
                       "store %.60s cannot be reached (%.70s): look at server, network and login",
                       where(s), why);
}

/* The password of the URL, else of the environment; NULL: that of the file, or none. */
static const char *password_of(const store *s) {
    return s->link.url.password != NULL ? s->link.url.password
           : s->defaults == NULL        ? getenv("MYSQL_PWD")
                                        : NULL;
}

static int reach(store *s, size_t host, int64_t deadline_ms, firn_error *error) {
    const module_url *url = &s->link.url;
    const module_host *to = host < url->host_count ? &url->hosts[host] : NULL;
    unsigned seconds = (unsigned)(s->link.connect_ms / 1000 + 1); /* ours comes first */
    MYSQL *connected = NULL;
    my_bool no = 0;
    s->late = false;
    s->db = mysql_init(NULL);
    if (s->db == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory for a connection");
    }
    mysql_options(s->db, MYSQL_OPT_NONBLOCK, NULL);
    mysql_options(s->db, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    mysql_options(s->db, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (s->defaults != NULL) {
        mysql_options(s->db, MYSQL_READ_DEFAULT_FILE, s->defaults);
    }
    set_tls(s, s->db);
    int wanted = mysql_real_connect_start(&connected, s->db, to != NULL ? to->name : NULL,
                                          url->user, password_of(s), url->path,
                                          to != NULL ? (unsigned)to->port : 0, s->path, 0);
    while (wanted != 0) {
        wanted = mysql_real_connect_cont(&connected, s->db, resume(s, wanted, deadline_ms));
    }
    if (connected == NULL) {
        return no_connection(s, s->late ? "no answer in connect_timeout_ms" : mysql_error(s->db),
                             error);
    }
    s->socket = (int)mysql_get_socket(s->db);
    /* Whatever the file said: a session that the library makes anew behind our back is not looked
     * at, and may be another server's. */
    mysql_options(s->db, MYSQL_OPT_RECONNECT, &no);
    if (s->link.tls != NULL && strcmp(s->link.tls, "off") != 0 &&
        strcmp(s->link.tls, "prefer") != 0 && mysql_get_ssl_cipher(s->db) == NULL) {
        return no_connection(s, "it offers no TLS", error);
    }
    return FIRN_OK;
}

/* ---- what the server is ---------------------------------------------------------------------- */

/* Of the server's variables, those that are asked for. */
enum variable {
    FLUSH,
    BINLOG,
    BINLOG_SYNC,
    METHOD,
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
                                                      "read_only",
                                                      "server_uuid",
                                                      "server_id",
                                                      "wsrep_on",
                                                      "group_replication_group_name"};

typedef struct variables {
    char value[VARIABLES][64];
} variables;

static int read_variables(store *s, variables *out, firn_error *error) {
    statement what;
    reply found;
    MYSQL_ROW row;
    memset(out, 0, sizeof *out);
    compose(s, &what,
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit',"
            "'log_bin','sync_binlog','innodb_flush_method','read_only','server_uuid','server_id',"
            "'wsrep_on','group_replication_group_name')");
    int code = ask_idly(s, &what, &found, error);
    while (code == FIRN_OK && (row = next_row(&found, 2)) != NULL) {
        for (size_t i = 0; i < VARIABLES; i++) {
            if (row[0] != NULL && strcasecmp(row[0], variable_names[i]) == 0) {
                snprintf(out->value[i], sizeof out->value[i], "%s", row[1] != NULL ? row[1] : "");
            }
        }
    }
    reply_free(&found);
    return code;
}

/* The same for all servers that hold the same marks, another one after a fail-over to a server that
 * may lack some: a Galera cluster's, a replication group's, a MySQL server's own, and for MariaDB,
 * which has none, the number by which its replicas tell each other apart. */
static int identify(store *s, const variables *are, firn_error *error) {
    statement what;
    reply found = {NULL, 0, 0, false};
    int code = FIRN_OK;
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
    compose(s, &what, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'");
    code = ask_idly(s, &what, &found, error);
    if (code == FIRN_OK) {
        MYSQL_ROW row = next_row(&found, 2);
        snprintf(s->identity, sizeof s->identity, "cluster/%.64s",
                 row != NULL && row[1] != NULL ? row[1] : "");
    }
    reply_free(&found);
    /* Reads wait until this node has what the others committed before. */
    return code == FIRN_OK ? tell(s, "SET SESSION wsrep_sync_wait = 1", error) : code;
}

static int judge(store *s, const variables *are, firn_error *error) {
    char risk[80] = "";
    if (strcmp(are->value[READ_ONLY], "ON") == 0) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s is a replica or read-only: name the primary server",
                           where(s));
    }
    if (strcmp(are->value[FLUSH], "1") != 0 && strcmp(are->value[FLUSH], "3") != 0) {
        snprintf(risk, sizeof risk, "innodb_flush_log_at_trx_commit=%.8s", are->value[FLUSH]);
    } else if (strcmp(are->value[BINLOG], "ON") == 0 && strcmp(are->value[BINLOG_SYNC], "1") != 0) {
        /* What the binary log lost is rolled back when the server starts after a crash. */
        snprintf(risk, sizeof risk, "log_bin with sync_binlog=%.8s", are->value[BINLOG_SYNC]);
    } else if (strcasecmp(are->value[METHOD], "nosync") == 0) {
        snprintf(risk, sizeof risk, "innodb_flush_method=nosync");
    }
    s->caution[0] = '\0';
    if (risk[0] == '\0') {
        return FIRN_OK;
    }
    snprintf(s->caution, sizeof s->caution,
             "the server has %s, so a crash may lose what it acknowledged and IDs may repeat",
             risk);
    return s->link.unsafe ? FIRN_OK
                          : module_fail(error, FIRN_ESTORE,
                                        "store %.60s has %s, so a crash may lose what it "
                                        "acknowledged: set it to 1, or take the risk with unsafe=1",
                                        where(s), risk);
}

/* Of the tables that are to be there: how many are, and one that is not of InnoDB. */
static int count_tables(store *s, int *found, char other[80], firn_error *error) {
    static const char *const wanted[] = {
        [OWN] = "('@_namespace', '@_mark')",
        [LEAF] = "('!')",
        [TICKETS] = "('!')",
        [WORKER_NODE] = "('@_namespace', '@_mark', '!')",
    };
    statement what;
    char pattern[200];
    reply there;
    MYSQL_ROW row;
    snprintf(pattern, sizeof pattern,
             "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES"
             " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN %s",
             wanted[s->shape]);
    compose(s, &what, pattern);
    int code = ask_idly(s, &what, &there, error);
    *found = 0;
    other[0] = '\0';
    while (code == FIRN_OK && (row = next_row(&there, 2)) != NULL && row[0] != NULL) {
        ++*found;
        if (row[1] == NULL || strcasecmp(row[1], "InnoDB") != 0) {
            snprintf(other, 80, "table %.48s in %.16s", row[0], row[1] != NULL ? row[1] : "a view");
        }
    }
    reply_free(&there);
    return code;
}

static int create(store *s, firn_error *error) {
    statement what;
    reply done;
    int code = FIRN_OK;
    for (size_t i = 0; i < CREATES && code == FIRN_OK; i++) {
        compose(s, &what, create_tables[i]);
        code = ask_idly(s, &what, &done, error);
        reply_free(&done);
    }
    if (code != FIRN_OK && s->db != NULL && mysql_errno(s->db) == MAY_NOT) {
        code = module_fail(error, FIRN_ESTORE,
                           "store %.48s lacks %.48s_mark and may not create it: run GRANT CREATE "
                           "ON %.24s.* TO this user, or what docs/reference/stores.md says",
                           where(s), s->table, s->link.url.path != NULL ? s->link.url.path : "*");
    }
    return code;
}

/* Finds the tables, or makes those that are ours. */
static int find_tables(store *s, firn_error *error) {
    static const int counts[] = {[OWN] = 2, [LEAF] = 1, [TICKETS] = 1, [WORKER_NODE] = 3};
    char other[80];
    int found, code = count_tables(s, &found, other, error);
    if (code == FIRN_OK && found < counts[s->shape] && s->made) {
        return module_fail(error, FIRN_ESTORE,
                           "store %.60s: a table of %.48s was dropped, its marks are lost: see "
                           "docs/reference/stores.md, then start again",
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
        snprintf(s->caution, sizeof s->caution,
                 "the server has %s, so a crash may lose what it acknowledged and IDs may repeat",
                 other);
        code = s->link.unsafe ? FIRN_OK
                              : module_fail(error, FIRN_ESTORE,
                                            "store %.60s has %s, so a crash may lose marks: run "
                                            "ALTER TABLE ... ENGINE=InnoDB, or take the risk with "
                                            "unsafe=1",
                                            where(s), other);
    }
    s->made = s->made || code == FIRN_OK;
    return code;
}

/* What a session must be like, whatever the server's defaults are. */
static int settle_session(store *s, firn_error *error) {
    statement what;
    reply done;
    int64_t wait_s = s->link.timeout_ms / 2000;
    compose(s, &what,
            "SET SESSION autocommit = 1, time_zone = '+00:00', innodb_lock_wait_timeout = #,"
            " sql_safe_updates = 0, sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
            wait_s > 0 ? wait_s : INT64_C(1));
    int code = ask_idly(s, &what, &done, error);
    reply_free(&done);
    return code == FIRN_OK
               ? tell(s, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", error)
               : code;
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
        code = identify(s, &are, error);
    }
    return code == FIRN_OK ? find_tables(s, error) : code;
}

/* The server has lost what it had granted: everybody is to know. */
static int spread_doubt(store *s, firn_error *error) {
    statement what;
    reply done;
    compose(s, &what, doubt_sql, MODULE_GONE_BACK);
    int code = ask_idly(s, &what, &done, error);
    reply_free(&done);
    if (code == FIRN_OK) {
        module_forget(&s->last);
        memset(&s->seen, 0, sizeof s->seen);
    }
    return code;
}

/* The first cell of the answer; "" where there is none. */
static int ask_text(store *s, const statement *what, char *out, size_t size, firn_error *error) {
    reply found;
    MYSQL_ROW row;
    int code = ask_idly(s, what, &found, error);
    out[0] = '\0';
    if (code == FIRN_OK && (row = next_row(&found, 1)) != NULL && row[0] != NULL) {
        snprintf(out, size, "%s", row[0]);
    }
    reply_free(&found);
    return code;
}

/* The table's number, "" where it is not told. */
static int read_number(store *s, char number[24], firn_error *error) {
    statement what;
    int code = FIRN_ESTORE;
    number[0] = '\0';
    for (size_t i = 0; i < 2 && code != FIRN_OK; i++) {
        compose(s, &what, number_sql[i]);
        code = ask_text(s, &what, number, 24, error);
        unsigned why = code != FIRN_OK && s->db != NULL ? mysql_errno(s->db) : 0;
        if (why != NO_SUCH) {
            return why == NO_PROCESS ? FIRN_OK : code;
        }
    }
    return FIRN_OK;
}

/* Is the table of marks the one that it was? The number is kept where other namespaces have their row.
 * Not asked in a cluster, each of whose servers has numbers of its own. */
static int check_table(store *s, firn_error *error) {
    char number[24], kept[24];
    statement what;
    reply done;
    if (s->shape == LEAF || s->shape == TICKETS || strncmp(s->identity, "cluster/", 8) == 0 ||
        strncmp(s->identity, "group/", 6) == 0) {
        return FIRN_OK;
    }
    int code = read_number(s, number, error);
    if (code != FIRN_OK || number[0] == '\0') {
        return code;
    }
    compose(s, &what, "SELECT layout FROM `@_namespace` WHERE name = ''");
    code = ask_text(s, &what, kept, sizeof kept, error);
    if (code != FIRN_OK || strcmp(kept, number) == 0) {
        return code;
    }
    code = kept[0] != '\0' ? spread_doubt(s, error) : FIRN_OK;
    if (code == FIRN_OK) {
        compose(s, &what, numbered_sql, number);
        code = ask_idly(s, &what, &done, error);
        reply_free(&done);
    }
    return code;
}

/* Does it still know what this handle was granted last? */
static int check_last(store *s, firn_error *error) {
    statement what;
    reply found;
    MYSQL_ROW row;
    bool kept = false;
    if (s->last.high == 0) {
        return FIRN_OK;
    }
    compose(s, &what, "SELECT high FROM `@_mark` WHERE ns = $ AND `key` = $", s->last.ns,
            s->last.key);
    int code = ask_idly(s, &what, &found, error);
    if (code == FIRN_OK && (row = next_row(&found, 1)) != NULL) {
        kept = number_of(row[0]) >= s->last.high;
    }
    reply_free(&found);
    return code != FIRN_OK || kept ? code : spread_doubt(s, error);
}

static int dial(void *self, size_t host, int64_t deadline_ms, firn_error *error) {
    store *s = self;
    int code = reach(s, host, deadline_ms, error);
    if (code == FIRN_OK) {
        code = greet(s, error);
    }
    if (code == FIRN_OK) {
        code = check_table(s, error);
    }
    if (code == FIRN_OK) {
        code = check_last(s, error);
    }
    if (code != FIRN_OK) {
        drop(s);
    }
    return code;
}

/* A connection on which to ask. Anything to read on an idle one is its end. */
static int ready(store *s, firn_error *error) {
    begin_verb(s);
    if (module_forked(&s->link.pid)) {
        abandon(s);
        module_forget(&s->last); /* the parent may give it back */
    }
    if (s->db != NULL && module_await(s->socket, POLLIN, 0) != 0) {
        drop(s);
    }
    return s->db != NULL ? FIRN_OK : module_link_connect(&s->link, dial, s, error);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int read_shape(store *s, firn_error *error) {
    int code = FIRN_OK;
    s->foreign = "";
    for (size_t i = LEAF; i < SHAPES && code == FIRN_OK; i++) {
        if (module_param(&s->link.url, shapes[i].param) == NULL) {
            continue;
        }
        if (s->shape != OWN) {
            return module_fail(error, FIRN_EUSAGE,
                               "the store's URL has %s= and %s=: give one of them",
                               shapes[s->shape].param, shapes[i].param);
        }
        s->shape = (enum shape)i;
        code = module_param_name(&s->foreign, &s->link.url, shapes[i].param, "", error);
    }
    s->stub = module_param(&s->link.url, "stub");
    s->stub = s->stub != NULL ? s->stub : "a";
    return code;
}

static int read_params(store *s, firn_error *error) {
    int code = module_param_name(&s->table, &s->link.url, "table", "firn", error);
    s->defaults = module_param(&s->link.url, "defaults-file");
    s->path = module_param(&s->link.url, "socket");
    module_param(&s->link.url, "cert");
    module_param(&s->link.url, "key");
    module_param(&s->link.url, "crl");
    if (code == FIRN_OK) {
        code = read_shape(s, error);
    }
    if (code == FIRN_OK && s->link.url.path == NULL && s->defaults == NULL) {
        code = module_fail(error, FIRN_EUSAGE,
                           "the store's URL names no database: write mysql://HOST/DATABASE");
    }
    return code != FIRN_OK ? code
                           : module_params_done(&s->link.url,
                                                "table leaf tickets stub worker_node "
                                                "connect_timeout_ms timeout_ms tls ca cert key crl "
                                                "socket defaults-file unsafe",
                                                error);
}

static void store_close(void *self) {
    store *s = self;
    if (module_forked(&s->link.pid)) {
        abandon(s);
    }
    drop(s);
    module_link_free(&s->link);
    free(s);
}

static int store_open(void **self, const char *url, const firn_store_options *options,
                      firn_error *error) {
    store *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory for a store");
    }
    int code = module_link_read(&s->link, url, options, error);
    if (code == FIRN_OK) {
        code = read_params(s, error);
    }
    if (code == FIRN_OK) {
        code = ready(s, error);
    }
    if (code != FIRN_OK) {
        store_close(s);
        return code;
    }
    *self = s;
    return FIRN_OK;
}

/* ---- reserve --------------------------------------------------------------------------------- */

static int grant(store *s, const firn_request *request, uint64_t high, int64_t *first,
                 firn_error *error) {
    *first = (int64_t)(high - (uint64_t)request->count);
    return module_point(&s->link.options, s->link.pid, reserve_points.committed, error);
}

/* What READ told. */
typedef struct look {
    bool known, marked; /* the namespace, the key */
    char layout[FIRN_LAYOUT_SIZE], identity[IDENTITY_SIZE];
    int64_t floor;
    firn_mark mark;
} look;

static int read_key(store *s, const firn_request *request, look *at, firn_error *error) {
    statement what;
    reply found;
    MYSQL_ROW row;
    memset(at, 0, sizeof *at);
    compose(s, &what, read_sql, request->key, request->ns);
    int code = ask_idly(s, &what, &found, error);
    if (code == FIRN_OK && (row = next_row(&found, 5)) != NULL && row[0] != NULL &&
        row[1] != NULL) {
        at->known = true;
        at->marked = row[3] != NULL;
        snprintf(at->layout, sizeof at->layout, "%s", row[0]);
        snprintf(at->identity, sizeof at->identity, "%s", row[1]);
        at->floor = number_of(row[2]);
        at->mark.high = number_of(row[3]);
        at->mark.grant = row[4] != NULL ? strtoull(row[4], NULL, 10) : 0;
    }
    reply_free(&found);
    return code;
}

/* A namespace without a record. */
static int first_use(store *s, const firn_request *request, firn_error *error) {
    statement what;
    reply done;
    /* One that this handle has seen is no first one: the server lost it. */
    int code = module_was_seen(&s->seen, request->ns) ? spread_doubt(s, error) : FIRN_OK;
    if (code == FIRN_OK) {
        compose(s, &what, born_sql, s->identity);
        code = ask_idly(s, &what, &done, error);
        reply_free(&done);
    }
    if (code == FIRN_OK) {
        compose(s, &what, first_use_sql, request->ns, request->layout, s->identity, request->guard,
                s->identity, request->guard);
        code = ask_idly(s, &what, &done, error);
        reply_free(&done);
    }
    if (code == FIRN_OK && request->guard == 0 && done.affected == 0) {
        look at;
        code = read_key(s, request, &at, error);
        if (code == FIRN_OK && !at.known) { /* nobody else has written it */
            code = module_refuse_changed(error, where(s), request->ns);
        }
    }
    return code;
}

static int adopt(store *s, const firn_request *request, const char *stored, firn_error *error) {
    statement what;
    reply done;
    compose(s, &what, adopt_sql, s->identity, request->guard, request->ns, stored);
    int code = ask_idly(s, &what, &done, error);
    reply_free(&done);
    return code;
}

/* Who meets its own grant will take the slots for granted, so that mark must be as durable as if it
 * had been acknowledged. */
static int settle(store *s, const firn_request *request, int64_t high, bool *there,
                  firn_error *error) {
    statement what;
    reply done;
    compose(s, &what, settle_sql, request->ns, request->key, request->grant, high);
    int code = ask(s, &what, NULL, &done, error);
    if (code == FIRN_ESTORE) {
        code = FIRN_EUNKNOWN;
        if (error != NULL) {
            error->code = code;
        }
    }
    *there = code == FIRN_OK && done.affected == 1;
    reply_free(&done);
    return code;
}

/* The mark stands past what was asked for: tells it, or FIRN_OK when it has just changed, so that
 * asking again may help. */
static int tell_busy(store *s, const firn_request *request, const look *at, firn_mark *held,
                     firn_error *error) {
    bool there = true;
    int code = FIRN_OK;
    if (at->marked && at->mark.grant == request->grant && at->mark.grant != 0) {
        code = settle(s, request, at->mark.high, &there, error);
    }
    if (code != FIRN_OK || !there) {
        return code;
    }
    module_busy(held, &at->mark, at->floor);
    return module_refuse_busy(error, request, held->high);
}

/* Which statement reserves. */
enum way { AGAIN, RAISE, BEGIN };

/* Why a statement found nothing to change: makes what is missing and tells which is to be next, or
 * says why it cannot be. */
static int look_why(store *s, const firn_request *request, enum way *way, firn_mark *held,
                    firn_error *error) {
    look at;
    int code = read_key(s, request, &at, error);
    *way = RAISE;
    if (code != FIRN_OK) {
        return code;
    }
    if (!at.known) {
        return first_use(s, request, error);
    }
    if (strcmp(at.layout, request->layout) != 0) {
        return module_other_row(error, request, at.layout);
    }
    if (at.mark.high < module_least(&s->last, request->ns, request->key)) {
        return spread_doubt(s, error);
    }
    if (strcmp(at.identity, s->identity) != 0 && request->guard > 0) {
        return adopt(s, request, at.identity, error);
    }
    if (strcmp(at.identity, s->identity) != 0 && at.mark.high <= request->latest) {
        return module_refuse_changed(error, where(s), request->ns);
    }
    if (at.mark.high > request->latest || at.floor > request->latest) {
        return tell_busy(s, request, &at, held, error);
    }
    *way = at.marked ? RAISE : BEGIN;
    return FIRN_OK;
}

static void compose_reserve(const store *s, statement *what, enum way way,
                            const firn_request *request) {
    int64_t least = module_least(&s->last, request->ns, request->key);
    char seal[SEAL_SIZE], note[FIRN_NOTE_SIZE];
    snprintf(note, sizeof note, "%s", request->note != NULL ? request->note : "");
    switch (way) {
    case AGAIN:
        snprintf(seal, sizeof seal, "%s %s", s->identity, request->layout);
        compose(s, what, again_sql, request->earliest, request->count, request->grant, note,
                request->ns, request->key, seal, request->latest, least);
        break;
    case RAISE:
        compose(s, what, raise_sql, request->earliest, request->count, request->grant, note,
                request->ns, request->key, request->ns, request->layout, s->identity,
                request->latest, least, request->latest);
        break;
    case BEGIN:
        compose(s, what, begin_sql, request->ns, request->key, request->earliest, request->count,
                request->grant, note, request->ns, request->layout, s->identity, request->latest);
        break;
    }
}

static int changes(const store *s, const firn_request *request, firn_error *error) {
    return module_fail(error, FIRN_ESTORE, "store %.60s: %.60s changes all the time: ask again",
                       where(s), request->key);
}

static int reserve_own(store *s, const firn_request *request, int64_t *first, firn_mark *held,
                       firn_error *error) {
    enum way way = AGAIN;
    int code = s->last.high == 0 ? check_table(s, error) : FIRN_OK; /* else that is checked */
    for (int i = 0; i < ROUNDS && code == FIRN_OK; i++) {
        statement what;
        reply done;
        compose_reserve(s, &what, way, request);
        code = ask(s, &what, &reserve_points, &done, error);
        reply_free(&done);
        if (code == FIRN_OK && !done.duplicate && done.affected == 1) {
            module_see(&s->seen, request->ns);
            module_remember(&s->last, request, (int64_t)done.insert_id);
            return grant(s, request, done.insert_id, first, error);
        }
        if (code == FIRN_OK) {
            code = look_why(s, request, &way, held, error);
        }
    }
    return code != FIRN_OK ? code : changes(s, request, error);
}

/* ---- tables that exist ----------------------------------------------------------------------- */

/* Is it a namespace of tickets (worker=ticket)? */
static bool is_tickets(const char *ns) {
    static const char suffix[] = " tickets";
    size_t length = strlen(ns), least = sizeof suffix - 1;
    return length >= least && strcmp(ns + length - least, suffix) == 0;
}

/* The name of an integer, or NULL. */
static const char *integer_of(const char *ns) {
    static const char prefix[] = "integer ";
    size_t length = sizeof prefix - 1;
    return strncmp(ns, prefix, length) == 0 && ns[length] != '\0' ? ns + length : NULL;
}

/* Does the namespace lie in the table that exists? */
static bool is_foreign(const store *s, const char *ns) {
    return s->shape == LEAF || s->shape == TICKETS || (s->shape == WORKER_NODE && is_tickets(ns));
}

/* Leaf's max_id is the first integer that is not handed out, as a mark is. It keeps no grant, so a
 * block whose answer was lost is lost, and asking again takes another. */
static int reserve_leaf(store *s, const firn_request *request, int64_t *first, firn_mark *held,
                        firn_error *error) {
    const char *tag = integer_of(request->ns);
    statement what;
    reply done;
    int code = FIRN_OK;
    for (int i = 0; i < ROUNDS && code == FIRN_OK; i++) {
        compose(s, &what,
                "UPDATE `!` SET max_id = LAST_INSERT_ID(GREATEST(max_id, #) + #)"
                " WHERE biz_tag = _utf8mb4 $ AND max_id <= #",
                request->earliest, request->count, tag, request->latest);
        code = ask(s, &what, &reserve_points, &done, error);
        reply_free(&done);
        if (code != FIRN_OK || done.affected == 1) {
            return code == FIRN_OK ? grant(s, request, done.insert_id, first, error) : code;
        }
        compose(s, &what, "SELECT max_id FROM `!` WHERE biz_tag = _utf8mb4 $", tag);
        code = ask_idly(s, &what, &done, error);
        MYSQL_ROW row = code == FIRN_OK ? next_row(&done, 1) : NULL;
        *held = (firn_mark){row != NULL ? number_of(row[0]) : -1, 0};
        reply_free(&done);
        if (code == FIRN_OK && row == NULL) {
            return module_fail(
                error, FIRN_ESTORE,
                "table %.48s has no biz_tag %.40s: INSERT INTO %.30s(biz_tag, max_id,"
                " step) VALUES(..., 1, 1000)",
                s->foreign, tag, s->foreign);
        }
        if (code == FIRN_OK && held->high > request->latest) {
            return module_refuse_busy(error, request, held->high);
        }
    }
    return code != FIRN_OK ? code : changes(s, request, error);
}

/* The number that an AUTO_INCREMENT gave, if it lies where it was asked for. */
static int take_number(store *s, const firn_request *request, const reply *done, int64_t *first,
                       firn_mark *held, firn_error *error) {
    if (done->insert_id == 0 || done->insert_id > (uint64_t)FIRN_SLOT_MAX) {
        return module_fail(error, FIRN_ESTORE,
                           "table %.48s has given no number: its key must be AUTO_INCREMENT",
                           s->foreign);
    }
    int64_t number = (int64_t)done->insert_id;
    if (number < request->earliest) {
        return module_fail(error, FIRN_ERANGE,
                           "table %.48s has given %" PRId64 ", below start=%" PRId64
                           ": ALTER TABLE ... AUTO_INCREMENT, or leave start out",
                           s->foreign, number, request->earliest);
    }
    if (number > request->latest) {
        *held = (firn_mark){number + 1, 0};
        return module_refuse_busy(error, request, held->high);
    }
    return grant(s, request, done->insert_id + 1, first, error);
}

static int one_by_one(const store *s, firn_error *error) {
    return module_fail(error, FIRN_ERANGE,
                       "table %.48s gives one integer at a time: ask with kind=serial step=1",
                       s->foreign);
}

/* Whatever increment and offset the server has: its numbers are its own. */
static int reserve_ticket(store *s, const firn_request *request, int64_t *first, firn_mark *held,
                          firn_error *error) {
    statement what;
    reply done;
    if (request->count != 1) {
        return one_by_one(s, error);
    }
    compose(s, &what, "REPLACE INTO `!` (stub) VALUES (_utf8mb4 $)", s->stub);
    int code = ask(s, &what, &reserve_points, &done, error);
    reply_free(&done);
    return code == FIRN_OK ? take_number(s, request, &done, first, held, error) : code;
}

/* As uid-generator does it at a start: TYPE 2 is a machine (1 a container), and PORT then something
 * that tells starts on it apart. */
static int reserve_worker(store *s, const firn_request *request, int64_t *first, firn_mark *held,
                          firn_error *error) {
    char host[64] = "", port[64];
    statement what;
    reply done;
    if (request->count != 1) {
        return one_by_one(s, error);
    }
    gethostname(host, sizeof host - 1);
    snprintf(port, sizeof port, "%ld-%" PRIu64, (long)s->link.pid, request->grant);
    compose(s, &what,
            "INSERT INTO `!` (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED)"
            " VALUES (_utf8mb4 $, _utf8mb4 $, 2, CURRENT_DATE, NOW(), NOW())",
            host, port);
    int code = ask(s, &what, &reserve_points, &done, error);
    reply_free(&done);
    return code == FIRN_OK ? take_number(s, request, &done, first, held, error) : code;
}

/* Why a namespace does not fit the table that exists, or FIRN_OK. */
static int check_foreign(const store *s, const firn_request *request, firn_error *error) {
    if (s->shape != WORKER_NODE && integer_of(request->ns) == NULL) {
        return module_fail(
            error, FIRN_EUSAGE,
            "table %.48s (%s=) holds %s, not %.60s: name a store of its own for that", s->foreign,
            shapes[s->shape].param, shapes[s->shape].holds, request->ns);
    }
    return strcmp(request->layout, "integer") == 0 ? FIRN_OK
                                                   : module_other_row(error, request, "integer");
}

/* ---- verbs ----------------------------------------------------------------------------------- */

static int store_reserve(void *self, const firn_request *request, int64_t *first, firn_mark *held,
                         firn_error *error) {
    static int (*const reserves[])(store *, const firn_request *, int64_t *, firn_mark *,
                                   firn_error *) = {[OWN] = reserve_own,
                                                    [LEAF] = reserve_leaf,
                                                    [TICKETS] = reserve_ticket,
                                                    [WORKER_NODE] = reserve_worker};
    store *s = self;
    bool foreign = is_foreign(s, request->ns);
    int code = foreign ? check_foreign(s, request, error) : FIRN_OK;
    if (code == FIRN_OK) {
        code = ready(s, error);
    }
    return code == FIRN_OK ? reserves[foreign ? s->shape : OWN](s, request, first, held, error)
                           : code;
}

static int store_give_back(void *self, const char *ns, const char *key, const firn_mark *mine,
                           int64_t high, firn_error *error) {
    store *s = self;
    statement what;
    reply done = {NULL, 0, 0, false};
    if (is_foreign(s, ns)) {
        return module_fail(error, FIRN_EBUSY,
                           "table %.48s keeps no grants: what is left of a block is lost",
                           s->foreign);
    }
    int code = ready(s, error);
    if (code == FIRN_OK) {
        module_forget(&s->last);
        compose(s, &what, give_back_sql, high, ns, key, mine->high, mine->grant, high);
        code = ask(s, &what, &give_back_points, &done, error);
    }
    if (code == FIRN_OK) {
        code = done.affected == 1
                   ? module_point(&s->link.options, s->link.pid, give_back_points.committed, error)
                   : module_refuse_give_back(error, ns, key, mine);
    }
    reply_free(&done);
    return code;
}

static const char *or_empty(const char *text) {
    return text != NULL ? text : "";
}

/* Shows a page's lines, and keeps where it ended. */
static int show_page(const store *s, const reply *page, firn_visit *visit, void *context,
                     char ns[FIRN_NS_SIZE], char key[FIRN_KEY_SIZE], firn_error *error) {
    MYSQL_ROW row;
    int code = FIRN_OK;
    while (code == FIRN_OK && (row = next_row(page, 6)) != NULL) {
        const firn_holding holding = {
            or_empty(row[0]),
            or_empty(row[1]),
            or_empty(row[2]),
            or_empty(row[3]),
            {number_of(row[4]), row[5] != NULL ? strtoull(row[5], NULL, 10) : 0}};
        snprintf(ns, FIRN_NS_SIZE, "%s", holding.ns);
        snprintf(key, FIRN_KEY_SIZE, "%s", holding.key);
        code = visit(context, &holding);
        if (getpid() != s->link.pid) {
            return module_fail(error, FIRN_EFORKED,
                               "this process was forked while it listed: list again");
        }
    }
    return code;
}

/* The next page behind a namespace and key. The columns are those of list_all_sql; the first is what
 * pages are ordered by, bytewise. */
static void compose_page(const store *s, statement *what, const char *ns, const char *last_ns,
                         const char *last_key) {
    const char *tag = ns != NULL ? integer_of(ns) : NULL;
    if (s->shape == LEAF) {
        compose(s, what,
                "SELECT CONCAT('integer ', CAST(biz_tag AS BINARY)) AS ns, 'integer', '1',"
                " COALESCE(description, ''), max_id, 0 FROM `!`"
                " WHERE ($ = '' OR biz_tag = _utf8mb4 $) HAVING ns > $ ORDER BY ns LIMIT #",
                tag != NULL ? tag : "", tag != NULL ? tag : "", last_ns, (int64_t)PAGE_ROWS);
    } else if (s->shape == TICKETS) {
        compose(s, what,
                "SELECT $ AS ns, 'integer', '1', '', MAX(id) + 1 AS high, 0 FROM `!`"
                " HAVING high IS NOT NULL AND ns > $ LIMIT #",
                ns != NULL ? ns : "integer tickets", last_ns, (int64_t)PAGE_ROWS);
    } else if (ns != NULL) {
        compose(s, what, list_one_sql, ns, last_key, (int64_t)PAGE_ROWS);
    } else {
        compose(s, what, list_all_sql, last_ns, last_ns, last_key, (int64_t)PAGE_ROWS);
    }
}

/* In pages, each a statement: neither side keeps more, and a visitor may take its time or stop. */
static int store_list(void *self, const char *ns, firn_visit *visit, void *context,
                      firn_error *error) {
    store *s = self;
    char last_ns[FIRN_NS_SIZE] = "", last_key[FIRN_KEY_SIZE] = "";
    bool empty = ns != NULL && is_foreign(s, ns) && (s->shape == WORKER_NODE || !integer_of(ns));
    uint64_t shown = PAGE_ROWS;
    int code = ready(s, error);
    while (code == FIRN_OK && shown == PAGE_ROWS && !empty) {
        statement what;
        reply page;
        begin_verb(s); /* whoever is shown it may take his time */
        compose_page(s, &what, ns, last_ns, last_key);
        code = ask_idly(s, &what, &page, error);
        if (code == FIRN_OK) {
            shown = page.rows != NULL ? mysql_num_rows(page.rows) : 0;
            code = show_page(s, &page, visit, context, last_ns, last_key, error);
        }
        reply_free(&page);
    }
    return code;
}

static int store_now(void *self, firn_time *now, firn_error *error) {
    store *s = self;
    statement what;
    reply told = {NULL, 0, 0, false};
    int code = ready(s, error);
    if (code == FIRN_OK) {
        compose(s, &what, "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', SYSDATE(6))");
        code = ask_idly(s, &what, &told, error);
    }
    if (code == FIRN_OK) {
        MYSQL_ROW row = next_row(&told, 1);
        int64_t us = number_of(row != NULL ? row[0] : NULL);
        code = module_clock(now, us, s->link.url.shown, error);
    }
    reply_free(&told);
    return code;
}

static const char *store_caution(void *self) {
    const store *s = self;
    return s->caution[0] != '\0' ? s->caution : NULL;
}

FIRN_API extern const firn_store_ops firn_store_module;

const firn_store_ops firn_store_module = {
    .version = 1,
    .scheme = "mysql",
    .open = store_open,
    .reserve = store_reserve,
    .give_back = store_give_back,
    .list = store_list,
    .now = store_now,
    .caution = store_caution,
    .close = store_close,
};
