/* SPDX-License-Identifier: MIT */
/* Integers in tables of other programs: Leaf, Flickr's ticket servers and uid-generator. These
 * tables keep no grants: a block whose answer was lost is lost, and nothing is given back. */
#include "mysql.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *param, *holds;
} shapes[] = {
    [OWN] = {NULL, NULL},
    [LEAF] = {"leaf", "integers"},
    [TICKETS] = {"tickets", "integers of kind=serial"},
    [WORKER_NODE] = {"worker_node", "tickets"},
};
#define SHAPES (sizeof shapes / sizeof shapes[0])

int maria_foreign_read_params(mysql_store *store, firn_error *error) {
    int code = FIRN_OK;
    store->foreign = "";
    for (size_t i = LEAF; i < SHAPES && code == FIRN_OK; i++) {
        if (module_param(&store->link.url, shapes[i].param) == NULL) {
            continue;
        }
        if (store->shape != OWN) {
            return module_fail(error, FIRN_EUSAGE,
                               "the store's URL has %s= and %s=: give one of them",
                               shapes[store->shape].param, shapes[i].param);
        }
        store->shape = (enum maria_shape)i;
        code = module_param_name(&store->foreign, &store->link.url, shapes[i].param, "", error);
    }
    store->stub = module_param(&store->link.url, "stub");
    store->stub = store->stub != NULL ? store->stub : "a";
    return code;
}

/* Is it a namespace of tickets (worker=ticket)? */
static bool is_tickets(const char *ns) {
    static const char suffix[] = " tickets";
    size_t length = strlen(ns), least = sizeof suffix - 1;
    return length >= least && strcmp(ns + length - least, suffix) == 0;
}

/* The name of an integer's namespace, or NULL. */
static const char *integer_of(const char *ns) {
    static const char prefix[] = "integer ";
    size_t length = sizeof prefix - 1;
    return strncmp(ns, prefix, length) == 0 && ns[length] != '\0' ? ns + length : NULL;
}

bool maria_is_foreign(const mysql_store *store, const char *ns) {
    return store->shape == LEAF || store->shape == TICKETS ||
           (store->shape == WORKER_NODE && is_tickets(ns));
}

static int refuse_busy(firn_error *error, const firn_request *request, int64_t high) {
    return module_advise(
        error, FIRN_EBUSY, FIRN_CURE_OTHER_NODE,
        "%.60s/%.63s is reserved up to " FIRN__VALUE("%" PRId64) ", past " FIRN__LIMIT("%" PRId64),
        request->ns, request->key, high, request->latest);
}

static int granted(const mysql_store *store, const firn_request *request, uint64_t high,
                   int64_t *first, firn_error *error) {
    *first = (int64_t)(high - (uint64_t)request->count);
    return module_point(&store->link, firn__module_points[FIRN_VERB_RESERVE].committed, error);
}

/* Leaf's max_id is the first integer not handed out, like a mark. */
static int reserve_leaf(mysql_store *store, const firn_request *request, int64_t *first,
                        firn_mark *held, firn_error *error) {
    const char *tag = integer_of(request->ns);
    mysql_statement statement;
    mysql_reply done;
    int code = FIRN_OK;
    for (int i = 0; i < MARIA_ROUNDS && code == FIRN_OK; i++) {
        maria_compose(store, &statement,
                      "UPDATE `!` SET max_id = LAST_INSERT_ID(GREATEST(max_id, #) + #)"
                      " WHERE biz_tag = _utf8mb4 $ AND max_id <= #",
                      request->earliest, request->count, tag, request->latest);
        code = maria_ask(store, &statement, &firn__module_points[FIRN_VERB_RESERVE], &done, error);
        maria_reply_free(&done);
        if (code != FIRN_OK || done.affected == 1) {
            return code == FIRN_OK ? granted(store, request, done.insert_id, first, error) : code;
        }
        code = maria_read(store, &done, error, "SELECT max_id FROM `!` WHERE biz_tag = _utf8mb4 $",
                          tag);
        MYSQL_ROW row = code == FIRN_OK ? maria_next_row(&done, 1) : NULL;
        *held = (firn_mark){row != NULL ? sql_number(row[0]) : -1, 0};
        maria_reply_free(&done);
        if (code == FIRN_OK && row == NULL) {
            return module_fail(
                error, FIRN_ESTORE,
                "table %.48s has no biz_tag %.40s: INSERT INTO %.30s(biz_tag, max_id,"
                " step) VALUES(..., 1, 1000)",
                store->foreign, tag, store->foreign);
        }
        if (code == FIRN_OK && held->high > request->latest) {
            return refuse_busy(error, request, held->high);
        }
    }
    return code != FIRN_OK
               ? code
               : module_advise(error, FIRN_ESTORE, FIRN_CURE_TRY_AGAIN,
                               "store %.60s: other processes keep changing %.63s: try again",
                               store->link.url.shown, request->key);
}

/* The number that AUTO_INCREMENT gave, if it is within the request's bounds. */
static int take_number(mysql_store *store, const firn_request *request, const mysql_reply *done,
                       int64_t *first, firn_mark *held, firn_error *error) {
    if (done->insert_id == 0 || done->insert_id > (uint64_t)FIRN_SLOT_MAX) {
        return module_fail(error, FIRN_ESTORE,
                           "table %.48s gave no number: its key must be AUTO_INCREMENT",
                           store->foreign);
    }
    int64_t number = (int64_t)done->insert_id;
    if (number < request->earliest) {
        return module_fail(error, FIRN_ERANGE,
                           "table %.48s gave %" PRId64 ", below start=%" PRId64
                           ": run ALTER TABLE ... AUTO_INCREMENT, or omit start",
                           store->foreign, number, request->earliest);
    }
    if (number > request->latest) {
        *held = (firn_mark){number + 1, 0};
        return refuse_busy(error, request, held->high);
    }
    return granted(store, request, done->insert_id + 1, first, error);
}

static int one_by_one(const mysql_store *store, const firn_request *request, firn_error *error) {
    return module_fail(error, FIRN_ERANGE,
                       "table %.48s gives one integer at a time, not %" PRId64
                       ": request one per call, with kind=serial",
                       store->foreign, request->count);
}

/* The numbers follow the server's own increment and offset. */
static int reserve_ticket(mysql_store *store, const firn_request *request, int64_t *first,
                          firn_mark *held, firn_error *error) {
    mysql_statement statement;
    mysql_reply done;
    if (request->count != 1) {
        return one_by_one(store, request, error);
    }
    maria_compose(store, &statement, "REPLACE INTO `!` (stub) VALUES (_utf8mb4 $)", store->stub);
    int code = maria_ask(store, &statement, &firn__module_points[FIRN_VERB_RESERVE], &done, error);
    maria_reply_free(&done);
    return code == FIRN_OK ? take_number(store, request, &done, first, held, error) : code;
}

/* As uid-generator does when it starts: TYPE 2 is a machine (1 a container), and PORT differs
 * between starts on it. */
static int reserve_worker(mysql_store *store, const firn_request *request, int64_t *first,
                          firn_mark *held, firn_error *error) {
    char host[64] = "", port[64];
    mysql_statement statement;
    mysql_reply done;
    if (request->count != 1) {
        return one_by_one(store, request, error);
    }
    gethostname(host, sizeof host - 1);
    snprintf(port, sizeof port, "%ld-%" PRIu64, (long)getpid(), request->grant);
    maria_compose(store, &statement,
                  "INSERT INTO `!` (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED)"
                  " VALUES (_utf8mb4 $, _utf8mb4 $, 2, CURRENT_DATE, NOW(), NOW())",
                  host, port);
    int code = maria_ask(store, &statement, &firn__module_points[FIRN_VERB_RESERVE], &done, error);
    maria_reply_free(&done);
    return code == FIRN_OK ? take_number(store, request, &done, first, held, error) : code;
}

/* Does the namespace fit the other program's table? */
static int check_foreign(const mysql_store *store, const firn_request *request, firn_error *error) {
    if (store->shape != WORKER_NODE && integer_of(request->ns) == NULL) {
        return module_fail(error, FIRN_EUSAGE,
                           "table %.48s (%s=) holds %s, not %.60s: use a separate store for that",
                           store->foreign, shapes[store->shape].param, shapes[store->shape].holds,
                           request->ns);
    }
    return strcmp(request->layout, "integer") == 0
               ? FIRN_OK
               : module_advise(error, FIRN_ENAMESPACE, FIRN_CURE_OTHER_NAMESPACE,
                               "namespace %.60s has layout '" FIRN__VALUE(
                                   "integer") "', not '" FIRN__LIMIT("%.96s") "'",
                               request->ns, request->layout);
}

int maria_take(void *self, const firn_request *request, int64_t *first, firn_mark *held,
               firn_error *error) {
    mysql_store *store = self;
    int code = check_foreign(store, request, error);
    code = code == FIRN_OK ? module_ready(store, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    return store->shape == LEAF      ? reserve_leaf(store, request, first, held, error)
           : store->shape == TICKETS ? reserve_ticket(store, request, first, held, error)
                                     : reserve_worker(store, request, first, held, error);
}

bool maria_foreign_page(const mysql_store *store, mysql_statement *statement, const char *ns,
                        const char *last_ns, int64_t rows) {
    const char *tag = ns != NULL ? integer_of(ns) : NULL;
    if (store->shape == WORKER_NODE || (ns != NULL && tag == NULL)) {
        return false;
    }
    if (store->shape == LEAF) {
        maria_compose(store, statement,
                      "SELECT CONCAT('integer ', CAST(biz_tag AS BINARY)) AS ns, 'integer', '1',"
                      " COALESCE(description, ''), max_id, 0, 0 FROM `!`"
                      " WHERE ($ = '' OR biz_tag = _utf8mb4 $) HAVING ns > $ ORDER BY ns LIMIT #",
                      tag != NULL ? tag : "", tag != NULL ? tag : "", last_ns, rows);
    } else {
        maria_compose(store, statement,
                      "SELECT $ AS ns, 'integer', '1', '', MAX(id) + 1 AS high, 0, 0 FROM `!`"
                      " HAVING high IS NOT NULL AND ns > $ LIMIT #",
                      ns != NULL ? ns : "integer tickets", last_ns, rows);
    }
    return true;
}
