/* SPDX-License-Identifier: MIT */
/* Fuzzes how the PostgreSQL module reads rows, errors and ends of answers. An answer: a letter for
 * its kind (e error, then SQLSTATE; f a fatal one; w a commit that no standby confirmed; c the
 * connection broke; else rows), then rows that end with '\n', of cells that end with '\t'; a cell
 * "\1" is NULL. */
#include "lying.h"

#include <libpq-fe.h>

static PGresult *lie_result(PGconn *db);
static void lie_asked(void);
static void lie_transaction(const char *text);
static bool lie_broken, lie_inside;

#define PQsendPrepare(db, name, text, count, types)                                                \
    ((void)(name), (void)(text), lie_prepared = true, 1)
#define PQsendQueryPrepared(db, name, count, values, a, b, c)                                      \
    ((void)(name), (void)(values), lie_asked(), 1)
#define PQsendQueryParams(db, text, count, types, values, a, b, c)                                 \
    ((void)(text), (void)(values), lie_asked(), 1)
#define PQsendQuery(db, text)           (lie_transaction(text), lie_asked(), 1)
#define PQtransactionStatus(db)         ((void)(db), lie_inside ? PQTRANS_INTRANS : PQTRANS_IDLE)
#define PQgetResult(db)                 lie_result(db)
#define PQisBusy(db)                    0
#define PQflush(db)                     0
#define PQconsumeInput(db)              1
#define PQstatus(db)                    (lie_broken ? CONNECTION_BAD : CONNECTION_OK)
#define PQfinish(db)                    ((void)(db))
#define PQerrorMessage(db)              "a reason"
#define PQsetErrorVerbosity(db, more)   ((void)(db))
#define PQserverVersion(db)             150000
#define PQconndefaults()                ((PQconninfoOption *)NULL)
#define PQconninfoFree(all)             ((void)(all))
#define PQuser(db)                      "somebody"
#define PQbackendPID(db)                77
#define PQconnectStartParams(w, v, e)   ((void)(w), (void)(v), (PGconn *)NULL)
#define PQresultErrorField(result, one) lie_field(result, one)
#define PQresultStatus(result)          lie_status_of(result)

static bool lie_prepared;
static int lie_given; /* results of the present answer */
static char lie_state[6], lie_severity[12];

static const char *lie_field(const PGresult *result, int value) {
    (void)result;
    return lie_state[0] == '\0'                     ? NULL
           : value == PG_DIAG_SQLSTATE              ? lie_state
           : value == PG_DIAG_SEVERITY_NONLOCALIZED ? lie_severity
           : value == PG_DIAG_MESSAGE_PRIMARY       ? "what it says"
                                                    : NULL;
}

static ExecStatusType lie_status_of(const PGresult *result) {
    (void)result;
    return lie_state[0] != '\0' ? PGRES_FATAL_ERROR : PGRES_TUPLES_OK;
}

#include "../modules/postgres.c"
#include "../modules/postgres_place.c"
#include "../modules/postgres_session.c"
#include "../modules/postgres_taken.c"
#include "../modules/sql.c"

static postgres_store *lie_store;

static void lie_asked(void) {
    lie_given = 0;
    lie_state[0] = '\0';
}

static void lie_transaction(const char *text) {
    lie_inside = strncmp(text, "BEGIN", 5) == 0 ||
                 (lie_inside && strncmp(text, "COMMIT", 6) != 0 && strcmp(text, "ROLLBACK") != 0);
}

static void lie_rows(PGresult *out, char *text) {
    static PGresAttDesc columns[16];
    char *end_of_row = NULL, *row = strtok_r(text, "\n", &end_of_row);
    int wide = 0;
    for (const char *c = row != NULL ? row : ""; *c != '\0' && wide < 16; c++) {
        wide += *c == '\t';
    }
    for (int i = 0; i < wide; i++) {
        columns[i].name = (char *)(uintptr_t) "c";
    }
    if (wide == 0 || PQsetResultAttrs(out, wide, columns) == 0) {
        return;
    }
    for (int i = 0; row != NULL && i < 8; row = strtok_r(NULL, "\n", &end_of_row), i++) {
        for (int j = 0; j < wide; j++) {
            size_t length = strcspn(row, "\t");
            bool null = length == 1 && *row == '\1';
            PQsetvalue(out, i, j, null ? NULL : row, null ? -1 : (int)length);
            row += length + (row[length] == '\t');
        }
    }
}

/* The first call after a question gives its answer, the next one its end. */
static PGresult *lie_result(PGconn *db) {
    size_t length = 0;
    (void)db;
    if (lie_given++ > 0) {
        return NULL;
    }
    PGresult *out = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    if (lie_prepared) {
        lie_prepared = false;
        return out;
    }
    char *text = lie_next(&length);
    if (text == NULL || text[0] == 'c') {
        lie_broken = true;
        free(text);
        return out;
    }
    if (text[0] == 'e' || text[0] == 'f') {
        snprintf(lie_state, sizeof lie_state, "%-5.5s", text + 1);
        snprintf(lie_severity, sizeof lie_severity, "%s", text[0] == 'e' ? "ERROR" : "FATAL");
    } else if (text[0] != '\0') {
        lie_store->unconfirmed = text[0] == 'w';
        lie_rows(out, text + 1);
    }
    free(text);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_error error = {0};
    const firn_store_options options = {.unsafe = true};
    if (size < 2) {
        return 0;
    }
    postgres_store *s = lie_store = calloc(1, sizeof *s);
    assert(s != NULL);
    lie_begin(data + 2, size - 2);
    lie_broken = lie_prepared = lie_inside = false;
    assert(module_link_read(&s->link, "postgres://u:" LIE_PASSWORD "@127.0.0.1/d", &options,
                            &error) == FIRN_OK);
    assert(postgres_set_up(s, &error) == FIRN_OK);
    s->link.engine = &postgres_engine;
    s->db = (PGconn *)(void *)s;
    s->link.socket = -1;
    int code = (data[0] & 1) != 0 ? greet(s, &error) : FIRN_OK;
    lie_told(code, &error);
    if (code == FIRN_OK) {
        lie_driven(&firn_store_driver, s, data[1]);
    } else {
        module_close(s);
    }
    return 0;
}
