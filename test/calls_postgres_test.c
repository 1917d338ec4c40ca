/* SPDX-License-Identifier: MIT */
/* Fails each call of the PostgreSQL module: calls_store.h. */
#define CALLS_DRIVER
#include "calls_store.h"

#include <libpq-fe.h>

static char no_number[] = "x", negative[] = "-7", huge[] = "99999999999999999999", nothing[] = "";
static char retry_state[] = "40001", lost_state[] = "57P01", other_state[] = "XX000",
            warning[] = "01000";

CALL(PGconn *, PQconnectStartParams,
     (const char *const *words, const char *const *values, int expand), (words, values, expand), 1,
     NULL)
CALL(PostgresPollingStatusType, PQconnectPoll, (PGconn * db), (db), 1, PGRES_POLLING_FAILED,
     PGRES_POLLING_WRITING)
CALL(ConnStatusType, PQstatus, (const PGconn *db), (db), 1, CONNECTION_BAD)

static const PGconn *session; /* NULL: none yet, or it is closed */

CALL_BY_HAND(PGTransactionStatusType, PQtransactionStatus, (const PGconn *db)) {
    session = db;
    return calls_answer("PQtransactionStatus", 1, 1) != 0 ? PQTRANS_INTRANS
                                                          : __real_PQtransactionStatus(db);
}

CALL_BY_HAND(void, PQfinish, (PGconn * db)) {
    session = session == db ? NULL : session;
    __real_PQfinish(db);
}

static bool left_open(void) {
    return session != NULL && __real_PQtransactionStatus(session) == PQTRANS_INTRANS;
}

CALL(int, PQsetnonblocking, (PGconn * db, int enabled), (db, enabled), 1, -1)
CALL(int, PQserverVersion, (const PGconn *db), (db), 1, 90600)
CALL(int, PQsendPrepare,
     (PGconn * db, const char *name, const char *text, int count, const Oid *types),
     (db, name, text, count, types), 1, 0)
CALL(int, PQsendQuery, (PGconn * db, const char *text), (db, text), 1, 0)
CALL(int, PQsendQueryParams,
     (PGconn * db, const char *text, int count, const Oid *types, const char *const *values,
      const int *lengths, const int *formats, int format),
     (db, text, count, types, values, lengths, formats, format), 1, 0)
CALL(int, PQsendQueryPrepared,
     (PGconn * db, const char *name, int count, const char *const *values, const int *lengths,
      const int *formats, int format),
     (db, name, count, values, lengths, formats, format), 1, 0)
CALL(int, PQflush, (PGconn * db), (db), 2, 1, -1)
CALL(int, PQisBusy, (PGconn * db), (db), 1, 1)
CALL(int, PQconsumeInput, (PGconn * db), (db), 1, 0)
CALL(PGresult *, PQgetResult, (PGconn * db), (db), 1, NULL)
/* Not done; or an error of that SQLSTATE, although it was done. */
static const char *const states[] = {NULL, "40001", "23505", "42501", "55P03", "53100", "XX000"};
static const PGresult *failed_result;
static int failed_with, failed_in;

CALL_BY_HAND(ExecStatusType, PQresultStatus, (const PGresult *result)) {
    enum { STATES = sizeof states / sizeof states[0] };
    if (failed_result != result || failed_in != calls_number) {
        failed_with = calls_answer("PQresultStatus", STATES, STATES + 1);
        failed_result = result;
        failed_in = calls_number;
    }
    return failed_with == 0        ? __real_PQresultStatus(result)
           : failed_with <= STATES ? PGRES_FATAL_ERROR
                                   : PGRES_EMPTY_QUERY;
}

CALL_BY_HAND(char *, PQresultErrorField, (const PGresult *result, int field)) {
    char *const others[] = {NULL, retry_state, lost_state, other_state, warning};
    int which = calls_answer("PQresultErrorField", 1, 5);
    if (which != 0) {
        return others[which - 1];
    }
    if (failed_result == result && failed_in == calls_number && failed_with > 1 &&
        failed_with <= 7 && states[failed_with - 1] != NULL) {
        const char *told = field == PG_DIAG_SQLSTATE                ? states[failed_with - 1]
                           : field == PG_DIAG_SEVERITY_NONLOCALIZED ? "ERROR"
                                                                    : "FATAL:  it says so";
        return (char *)(uintptr_t)told;
    }
    return __real_PQresultErrorField(result, field);
}

CALL(int, PQntuples, (const PGresult *result), (result), 0, 0)
CALL(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column), 0, 1)
CALL(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column), 0,
     NULL, nothing, no_number, negative, huge)

static const calls_scenario scenarios[] = {
    {.title = "tables that are there", .url = "?table=t"},
    {.title = "new tables", .url = "?table=t#", .ns = "n1", .list_all = true},
    {.title = "connections break", .url = "?table=t", .cut = true},
};

int main(int count, char **arguments) {
    calls_left_open = left_open;
    return calls_main("postgres", "-c fsync=off", scenarios, sizeof scenarios / sizeof scenarios[0],
                      count > 1 ? arguments[1] : NULL);
}
