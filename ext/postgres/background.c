/* SPDX-License-Identifier: MIT */
/* The renewer: a background worker. It writes to tables what backends request, in its own
 * transactions, and answers after the commit. One renewer serves all databases of the server, so
 * each mark has one writer. */
#include "extension.h"

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "errors.h"
#include "vmgenid.h"

#include <time.h>

enum { LOOK_MS = 1000, JUMP_MS = 5000, HOLD_MS = 2000, SHARED_MS = 1000 };

void firn_background_register(void) {
    BackgroundWorker worker = {.bgw_flags =
                                   BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
                               .bgw_start_time = BgWorkerStart_RecoveryFinished,
                               .bgw_restart_time = 1};
    if (IsBinaryUpgrade) {
        return; /* pg_upgrade drops and creates the very database that the worker is connected to */
    }
    snprintf(worker.bgw_name, BGW_MAXLEN, "firn renewer");
    snprintf(worker.bgw_type, BGW_MAXLEN, "firn renewer");
    snprintf(worker.bgw_library_name, BGW_MAXLEN, "firn");
    snprintf(worker.bgw_function_name, BGW_MAXLEN, "firn_background_main");
    RegisterBackgroundWorker(&worker);
}

/* ---- the clock ------------------------------------------------------------------------------- */

static int64 ms_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64CONST(1000) + now.tv_nsec / 1000000;
}

int64 firn_steady_ms(void) {
    return ms_of(CLOCK_BOOTTIME);
}

TimestampTz firn_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return firn_timestamp_of(&(firn_time){now.tv_sec, (int32)now.tv_nsec});
}

void firn_hold(void) {
    int64 end = firn_steady_ms() + HOLD_MS, left = HOLD_MS;
    for (int i = 0; i < 100 && left > 0; i++) {
        pg_usleep((long)Min(left, HOLD_MS) * 1000L);
        CHECK_FOR_INTERRUPTS();
        left = end - firn_steady_ms();
    }
}

/* The wall clock minus the clock that never steps. */
static int64 offset_now(void) {
    int64 steady = firn_steady_ms();
    return ms_of(CLOCK_REALTIME) - steady;
}

/* A wrong reading would push the mark into the future, and there it stays: after a jump ahead waits
 * until the clock has held. */
static void await_clock(void) {
    static int64 offset;
    static bool known;
    int64 now = offset_now();
    if (known && now - offset > JUMP_MS) {
        ereport(LOG, (errmsg("firn: the clock jumped ahead by %.1f s; firn uses it once it has "
                             "held for 2 s",
                             (double)(now - offset) / 1000)));
        firn_hold();
        now = offset_now();
    }
    offset = now;
    known = true;
}

/* Another copy of this machine may be running: the backends drop what they have prepared. */
static void see_copy(int notices) {
    if (vmgenid_changed(notices)) {
        pg_atomic_fetch_add_u64(&firn_slots->copies, 1);
        ereport(LOG, (errmsg("firn: the VM generation ID changed, or messages of the kernel were "
                             "lost: backends draw new random bits and claim other nodes")));
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* A copy of the backends' requests: a backend may give up at any time. */
typedef struct renewal_round {
    bool requested; /* does anybody wait for an answer? */
    uint32 cell_count;
    firn_reservation *reservations; /* of each cell; only the state, if nobody waits for it */
    firn_take takes[FIRN_TAKES];
} renewal_round;

static void gather(renewal_round *round) {
    round->requested = false;
    LWLockAcquire(firn_slots->lock, LW_SHARED);
    round->cell_count = firn_slots->cell_count;
    for (uint32 i = 0; i < round->cell_count; i++) {
        const firn_reservation *asked = &firn_slots->cells[i].reservation;
        round->reservations[i].state = asked->state;
        if (asked->state == FIRN_TAKE_ASKED) {
            round->reservations[i] = *asked;
            round->requested = true;
        }
    }
    for (int i = 0; i < FIRN_TAKES; i++) {
        round->takes[i] = firn_slots->takes[i];
        round->requested = round->requested || round->takes[i].state == FIRN_TAKE_ASKED;
    }
    LWLockRelease(firn_slots->lock);
}

static void answer_reservation(firn_cell *cell, firn_reservation *reservation) {
    if (reservation->state != FIRN_TAKE_ASKED) {
        return;
    }
    cell->loaded = cell->loaded || reservation->why.code == FIRN_OK;
    cell->busy = Max(cell->busy, reservation->busy);
    cell->guard = Max(cell->guard, reservation->guarded);
    cell->shared = reservation->shared;
    cell->shared_ms = firn_steady_ms() + SHARED_MS;
    cell->lost = reservation->lost;
    if (cell->reservation.grant == reservation->grant &&
        cell->reservation.state == FIRN_TAKE_ASKED) {
        reservation->state = FIRN_TAKE_ANSWERED;
        cell->reservation = *reservation;
    }
}

static void answer_take(firn_take *own, firn_take *take) {
    if (take->state == FIRN_TAKE_ASKED && own->number == take->number &&
        own->state == FIRN_TAKE_ASKED) {
        take->state = FIRN_TAKE_ANSWERED;
        *own = *take;
    }
}

/* Cells forget their guards: marks may be lower after firn_take_over(). */
static void forget_guards(const renewal_round *round) {
    for (int i = 0; i < FIRN_TAKES; i++) {
        const firn_take *take = &round->takes[i];
        bool asked = take->state == FIRN_TAKE_ASKED && take->what == FIRN_ASK_TAKE_OVER;
        for (uint32 j = 0; asked && take->why.code == FIRN_OK && j < firn_slots->cell_count; j++) {
            firn_slots->cells[j].busy = firn_slots->cells[j].guard = 0;
            firn_slots->cells[j].shared = 0;
        }
    }
}

static void answer_all(renewal_round *round) {
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    forget_guards(round);
    for (uint32 i = 0; i < round->cell_count; i++) {
        answer_reservation(&firn_slots->cells[i], &round->reservations[i]);
    }
    for (int i = 0; i < FIRN_TAKES; i++) {
        answer_take(&firn_slots->takes[i], &round->takes[i]);
    }
    LWLockRelease(firn_slots->lock);
    ConditionVariableBroadcast(&firn_slots->answered);
}

/* A server that may lose acknowledged writes is refused. */
static void check_durable(void) {
    const struct {
        const char *needed, *cure;
        bool accepted;
    } rules[] = {{"fsync", "", firn_setting_unsafe},
                 {"full_page_writes", ", firn.whole_pages = on on ZFS",
                  firn_setting_unsafe || firn_setting_whole_pages}};
    for (size_t i = 0; i < lengthof(rules); i++) {
        if (!rules[i].accepted &&
            strcmp(GetConfigOption(rules[i].needed, false, false), "on") != 0) {
            ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                            errmsg("firn: %s is off, so a crash may lose marks", rules[i].needed),
                            errhint("Set it to on%s, or set firn.unsafe = on if IDs may repeat.",
                                    rules[i].cure)));
        }
    }
}

static void do_all(renewal_round *round) {
    for (int i = 0; i < FIRN_TAKES; i++) {
        firn_take *take = &round->takes[i];
        bool closes = take->what == FIRN_ASK_HAND_OVER || take->what == FIRN_ASK_TAKE_BACK ||
                      take->what == FIRN_ASK_TAKE_BACK_NOW;
        if (take->state == FIRN_TAKE_ASKED && (closes || !firn_tables_refuse(&take->why))) {
            firn_tables_do(take);
        }
    }
    for (uint32 i = 0; i < round->cell_count; i++) {
        firn_reservation *reservation = &round->reservations[i];
        if (reservation->state == FIRN_TAKE_ASKED && !firn_tables_refuse(&reservation->why)) {
            firn_tables_reserve(&firn_slots->cells[i], reservation);
        }
    }
}

/* A round without a request only looks where the server is, if it has tables. */
static void write_all(renewal_round *round) {
    pqsignal(SIGINT, StatementCancelHandler); /* lock_timeout comes as one */
    SetCurrentStatementStartTimestamp();
    StartTransactionCommand();
    firn_caller before = firn_private_enter(BOOTSTRAP_SUPERUSERID);
    PushActiveSnapshot(GetTransactionSnapshot());
    pgstat_report_activity(STATE_RUNNING, "firn: writing marks");
    bool there = round->requested || firn_tables_exist();
    if (there) {
        check_durable();
        firn_tables_prepare();
        do_all(round);
    }
    PopActiveSnapshot();
    firn_private_leave(before);
    /* A cancelled wait for a synchronous standby would look like a commit that the standby has. */
    pqsignal(SIGINT, SIG_IGN);
    CHECK_FOR_INTERRUPTS();
    CommitTransactionCommand();
    pqsignal(SIGINT, StatementCancelHandler);
    pgstat_report_activity(STATE_IDLE, NULL);
    /* If it is terminated while it waits for a synchronous standby, the commit returns early: then
     * nothing is issued. */
    CHECK_FOR_INTERRUPTS();
}

/* As "cause: cure", from which firn_fail makes message and hint again. */
static void tell(firn_error *why, const char *what, const ErrorData *error) {
    static const char own[] = "firn: ";
    bool is_own = strncmp(error->message, own, sizeof own - 1) == 0;
    const char *cure = error->hint != NULL ? error->hint : "see the server's log";
    size_t length = strlen(cure);
    if (length > 0 && cure[length - 1] == '.') { /* firn_fail writes it again */
        length--;
    }
    set_error(why, FIRN_ESTORE, "%s%s%.150s: %.*s", is_own ? "" : what, is_own ? "" : ", ",
              error->message + (is_own ? sizeof own - 1 : 0), (int)Min(length, 270), cure);
}

/* The transaction failed: all waiting backends get the reason. */
static void fail_all(renewal_round *round, MemoryContext context) {
    MemoryContextSwitchTo(context);
    ErrorData *error = CopyErrorData();
    FlushErrorState();
    AbortCurrentTransaction();
    for (uint32 i = 0; i < round->cell_count; i++) {
        if (round->reservations[i].state == FIRN_TAKE_ASKED) {
            tell(&round->reservations[i].why, "the marks could not be written", error);
        }
    }
    for (int i = 0; i < FIRN_TAKES; i++) {
        tell(&round->takes[i].why, "the node could not be taken", error);
    }
    ereport(LOG, (errmsg("firn: marks were not written: %s", error->message),
                  error->hint != NULL ? errhint("%s", error->hint) : 0));
    FreeErrorData(error);
    answer_all(round);
}

/* Returns false when nobody asked for anything. The first round is without a request: the guard
 * after a promotion counts from it. */
static bool serve(renewal_round *round) {
    static bool looked;
    MemoryContext context = CurrentMemoryContext;
    await_clock();
    gather(round);
    if (!round->requested && looked) {
        return false;
    }
    looked = true;
    PG_TRY();
    {
        write_all(round);
        answer_all(round);
    }
    PG_CATCH();
    { fail_all(round, context); }
    PG_END_TRY();
    MemoryContextSwitchTo(context);
    return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void leave(int code, Datum unused) {
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    firn_slots->renewer = NULL;
    LWLockRelease(firn_slots->lock);
}

/* ALTER DATABASE ... SET and ALTER ROLE ... SET are for the sessions of applications. The owner of
 * the database, who need not be a superuser, must not stop the renewer by them. */
static void undo_settings_of_database(void) {
    static const char given[] =
        "SELECT name, boot_val FROM pg_settings WHERE boot_val IS NOT NULL AND context IN ('user',"
        " 'superuser') AND source IN ('database', 'user', 'database user')";
    StartTransactionCommand();
    SPI_connect();
    PushActiveSnapshot(GetTransactionSnapshot());
    if (SPI_execute(given, true, 0) != SPI_OK_SELECT) {
        elog(ERROR, "firn: the settings cannot be read");
    }
    for (uint64 i = 0; i < SPI_tuptable->numvals; i++) {
        const HeapTuple row = SPI_tuptable->vals[i];
        (void)set_config_option(SPI_getvalue(row, SPI_tuptable->tupdesc, 1),
                                SPI_getvalue(row, SPI_tuptable->tupdesc, 2), PGC_SUSET,
                                PGC_S_SESSION, GUC_ACTION_SET, true, LOG, false);
    }
    PopActiveSnapshot();
    SPI_finish();
    CommitTransactionCommand();
}

static void settle(void) {
    static const char *const settings[][2] = {
        {"role", "none"},
        {"synchronous_commit", "on"},
        {"search_path", "pg_catalog, pg_temp"},
        {"default_tablespace", ""},
        {"default_table_access_method", "heap"},
        /* what the renewer creates runs no event triggers */
        {"session_replication_role", "replica"},
#if PG_VERSION_NUM >= 170000
        {"event_triggers", "off"},
#endif
        {"default_transaction_isolation", "read committed"},
        {"default_transaction_read_only", "off"},
        {"lock_timeout", "3s"},
        {"statement_timeout", "0"},
#if PG_VERSION_NUM >= 170000
        {"transaction_timeout", "0"},
#endif
        {"jit", "off"}
    };
    SetSessionAuthorization(BOOTSTRAP_SUPERUSERID, true);
    for (size_t i = 0; i < lengthof(settings); i++) {
        SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_SESSION);
    }
    undo_settings_of_database();
}

/* CREATE DATABASE with this one as template, DROP and ALTER DATABASE wait, with a lock on it, for
 * up to 5 s until all sessions have left. The next renewer waits for that lock before it is a
 * session. */
static bool is_in_the_way(void) {
    LOCKTAG tag;
    SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
    if (LockAcquire(&tag, RowExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL) {
        return true;
    }
    LockRelease(&tag, RowExclusiveLock, true);
    return false;
}

static void yield(void) {
    if (is_in_the_way()) {
        ereport(LOG, (errmsg("firn: the renewer leaves database %s, which somebody copies, renames "
                             "or drops, and comes back",
                             firn_setting_database)));
        proc_exit(1);
    }
}

bool firn_is_renewer;

void firn_background_main(Datum argument) {
    static renewal_round round;
    firn_is_renewer = true;
    round.reservations = MemoryContextAllocZero(TopMemoryContext, (Size)firn_setting_max_nodes *
                                                                      sizeof *round.reservations);
    int notices = vmgenid_open(); /* closed by the end of the process */
    pqsignal(SIGHUP, SignalHandlerForConfigReload);
    pqsignal(SIGTERM, die);
    BackgroundWorkerUnblockSignals();
    if (firn_slots->found ==
        0) { /* by the first renewer since the server began, which runs after its recovery */
        firn_slots->found = firn_now();
    }
    /* ALLOW_CONNECTIONS false is for applications too */
    BackgroundWorkerInitializeConnection(firn_setting_database, NULL, BGWORKER_BYPASS_ALLOWCONN);
    settle();
    before_shmem_exit(leave, 0);
    LWLockAcquire(firn_slots->lock, LW_EXCLUSIVE);
    firn_slots->renewer = &MyProc->procLatch;
    LWLockRelease(firn_slots->lock);
    for (;;) {
        see_copy(notices);
        /* A transaction's waits reset the latch too, so look for requests again after one. */
        if (!serve(&round)) {
            int socket = notices >= 0 ? WL_SOCKET_READABLE : 0;
            (void)WaitLatchOrSocket(MyLatch,
                                    WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | socket,
                                    notices, LOOK_MS, firn_wait_event(FIRN_WAIT_REQUESTS));
            ResetLatch(MyLatch);
        }
        CHECK_FOR_INTERRUPTS();
        yield();
        if (ConfigReloadPending) {
            ConfigReloadPending = false;
            ProcessConfigFile(PGC_SIGHUP);
        }
    }
}
