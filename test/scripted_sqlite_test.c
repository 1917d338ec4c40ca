/* SPDX-License-Identifier: MIT */
/* The driver of SQLite over a scripted disk: see scripted.h. The real SQLite runs over faulty.h, whose
 * every call is a step: it fails, is busy, or the power fails and only what was synced stays. Between
 * two steps other processes call, and an older copy of the file is put in its place. */
#define DISTURBED_IN    100
#define SERVED_IN       20
#define STEPS           200
#define MARK_NEAR       mark_near
#define TRY_NOW(handle) (((sqlite_store *)(handle))->hurry_ms = 0)

#pragma GCC diagnostic ignored "-Wshadow" /* the files of the driver are one here */

#include "../fuzz/lying.h"

#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t lie_now_ms(void);
static int lie_random(uint64_t *out, firn_error *error);
static int lie_nap(const struct timespec *nap, const void *rest);
static int lie_sync(int file);
static int lie_exec(sqlite3 *db, const char *sql, int (*each)(void *, int, char **, char **),
                    void *context);
#define module_now_ms()                           lie_now_ms()
#define nanosleep(...)                            lie_nap(__VA_ARGS__)
#define module_random(out, error)                 lie_random(out, error)
#define fsync(file)                               lie_sync(file)
#define sqlite3_exec(db, sql, each, context, why) lie_exec(db, sql, each, context)
#define firn_store_driver                         plain_driver
#include "../modules/sqlite.c"
#undef firn_store_driver
#include "../modules/sqlite_count.c"
#undef LENGTH
#include "../modules/sqlite_file.c"
#define FIRN_SQLITE /* a program stays loaded */
#include "../modules/sqlite_fork.c"
#include "../modules/sqlite_holder.c"
#include "../modules/sqlite_open.c"
#include "../modules/sqlite_place.c"
#include "../modules/sqlite_record.c"
#include "../modules/sqlite_session.c"
#include "../modules/sqlite_signal.c"
#include "../modules/sqlite_turn.c"
#undef sqlite3_exec
#undef nanosleep
#undef fsync

#include "faulty.h"

/* The mark of a key as it was last read or written. */
static int64_t mark_near(int ns, int key);

#include "place.h"
#include "scripted.h"

/* ---- the folder ------------------------------------------------------------------------------ */

enum { COPY_SIZE = BLOCK * BLOCKS };

static char place[200];
static bool plain; /* the sqlite3 command runs, and no fault disturbs it */

static const char *in_place(const char *name) {
    static char texts[4][256];
    static unsigned next;
    char *text = texts[next++ % 4];
    snprintf(text, sizeof texts[0], "%s/%s", place, name);
    return text;
}

static void copy_file(const char *from, const char *to) {
    static char bytes_read[COPY_SIZE];
    const int in = open(in_place(from), O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        unlink(in_place(to));
        return;
    }
    const ssize_t size = read(in, bytes_read, sizeof bytes_read);
    const int out = open(in_place(to), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(size >= 0 && size < COPY_SIZE && out >= 0);
    assert_int_equal(write(out, bytes_read, (size_t)size), size);
    close(in);
    close(out);
}

/* Such a connection leaves the log alone. */
static sqlite3 *open_plain(const char *name) {
    int on = 1;
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(in_place(name), &db, SQLITE_OPEN_READWRITE, FAULTY_NAME),
                     SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on, &on);
    return db;
}

static bool run_plain(sqlite3 *db, const char *sql) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* ---- time, and what the driver asks of the kernel -------------------------------------------- */

static int64_t clock_ms;
static bool sloppy; /* injected bug: commits are not synced */

static int64_t lie_now_ms(void) {
    return clock_ms;
}

static int lie_random(uint64_t *out, firn_error *error) {
    (void)error;
    *out = chance() | 1;
    return FIRN_OK;
}

static int lie_nap(const struct timespec *nap, const void *rest) {
    (void)rest;
    clock_ms += nap->tv_nsec / 1000000;
    scripted_disturb();
    return 0;
}

static int lie_sleep(sqlite3_vfs *vfs, int us) {
    (void)vfs;
    clock_ms += us / 1000 + 1;
    return us;
}

static int syncs, syncs_before[HANDLES + 1]; /* of folders; before the verb of each client */

static int lie_sync(int file) {
    (void)file;
    syncs++;
    return faults && ONE_IN(50) ? -1 : 0;
}

static int lie_exec(sqlite3 *db, const char *sql, int (*each)(void *, int, char **, char **),
                    void *context) {
    static const char careful[] = "PRAGMA synchronous=EXTRA";
    return sqlite3_exec(db, sloppy && strcmp(sql, careful) == 0 ? "PRAGMA synchronous=OFF" : sql,
                        each, context, NULL);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static bool powerless; /* each call of the disk fails until every process has noticed */

static bool never_syncs;
static int burst; /* of calls that fail: how many are left */

static bool fails(enum fault kind) {
    if (plain) {
        return false;
    }
    if (kind == FAULT_IO) { /* each call can fail so */
        scripted_disturb();
    }
    if (powerless || !faults || kind == FAULT_SYNC) {
        return kind == FAULT_SYNC ? never_syncs : powerless && kind == FAULT_IO;
    }
    if (kind != FAULT_IO) {
        return ONE_IN(300);
    }
    if (burst == 0 && ONE_IN(600)) {
        burst = 1 + (int)(chance() % 12);
    }
    burst -= burst > 0;
    return burst > 0;
}

static void fails_between(void *self, const char *point) {
    (void)self, (void)point;
    scripted_disturb();
}

static int verbs; /* in progress */

static bool is_kept(const char *path) {
    const char *name = strrchr(path, '/') + 1;
    return strcmp(name, "firn.db") == 0 || strcmp(name, "firn.db-wal") == 0;
}

static void power_returns(void) {
    if (powerless && verbs == 0) {
        images_restore();
        unlink(in_place("firn.db-shm"));
        powerless = false;
    }
}

/* ---- the store ------------------------------------------------------------------------------- */

static bool whole_folder; /* is restored, with the count: only a process that runs may notice */
static bool countless;    /* somebody removes the count, and no copy is put in place */

static bool newer; /* a newer firn has upgraded the file */

static void set_version(int version) {
    char sql[64];
    plain = true;
    sqlite3 *db = open_plain("firn.db");
    snprintf(sql, sizeof sql, "UPDATE meta SET version = %d", version);
    if (run_plain(db, sql)) {
        newer = version > SCHEMA_VERSION;
    }
    sqlite3_close(db);
    plain = false;
}

static void *driver_handle(void) {
    static const firn_store_options options = {
        .vfs = FAULTY_NAME, .failpoint = fails_between, .wait_ms = 4, .unsafe = true};
    char url[sizeof place + 20];
    void *self;
    firn_error error;
    snprintf(url, sizeof url, "sqlite:%s", in_place("firn.db"));
    power_returns();
    const bool before = faults;
    faults = false;
    if (plain_driver.open(&self, url, &options, &error) != FIRN_OK) {
        fail_msg("%s", error.text);
    }
    faults = before;
    return self;
}

static void server_save(void) {
    if (powerless || newer) {
        return;
    }
    plain = true;
    copy_file("firn.db", "old.db");
    copy_file("firn.db-wal", "old.db-wal");
    copy_file("firn.db-count", "old.db-count");
    unlink(in_place("old.db-shm"));
    sqlite3 *db = open_plain("old.db");
    assert_true(run_plain(db, "PRAGMA journal_mode=DELETE; PRAGMA journal_mode=WAL"));
    sqlite3_close(db);
    unlink(in_place("old.db-wal"));
    unlink(in_place("old.db-shm"));
    plain = false;
}

/* As .restore of the sqlite3 command. */
static bool restore_by_sqlite(void) {
    plain = true;
    sqlite3 *from = open_plain("old.db"), *to = open_plain("firn.db");
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    const bool done = backup != NULL && sqlite3_backup_step(backup, -1) == SQLITE_DONE;
    sqlite3_backup_finish(backup);
    sqlite3_close(from);
    sqlite3_close(to);
    plain = false;
    return done;
}

static void server_go_back(void) {
    const bool in_place_too = verbs == 0 && ONE_IN(2);
    if (countless || powerless || newer || access(in_place("firn.db-count"), F_OK) != 0) {
        copies--; /* no copy */
        return;
    }
    if (!whole_folder && ONE_IN(4)) {
        copies -= !restore_by_sqlite();
        images_forget();
        return;
    }
    if (ONE_IN(2) || whole_folder) {
        unlink(in_place("firn.db-wal"));
        unlink(in_place("firn.db-shm"));
    }
    if (in_place_too) {
        copy_file("old.db", "firn.db");
    } else {
        copy_file("old.db", "new.db");
        assert_int_equal(rename(in_place("new.db"), in_place("firn.db")), 0);
        reopens = true; /* clients that have not called yet refuse another file */
    }
    if (whole_folder) {
        copy_file("old.db-count", "firn.db-count");
    }
    images_forget();
}

/* The power fails. */
static void server_restart(void) {
    powerless = !countless; /* commits that were not synced are noticed by the count */
}

static void server_deliver(void) {
    if (countless && ONE_IN(2)) {
        unlink(in_place("firn.db-count"));
    } else if (!powerless && (newer || ONE_IN(8))) {
        set_version(newer ? SCHEMA_VERSION : SCHEMA_VERSION + 1);
    }
}

static void server_forget(void) {
    power_returns();
    if (newer) {
        set_version(SCHEMA_VERSION);
    }
}

static void server_new(void) {
    static const char *const names[] = {"firn.db", "firn.db-wal", "firn.db-shm", "firn.db-count"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unlink(in_place(names[i]));
    }
    images_forget();
    powerless = newer = false;
}

static int64_t server_mark(int ns, int key) {
    sqlite3_stmt *statement;
    int64_t mark = highest[ns]; /* where it cannot be read, as later than it is */
    if (powerless) {
        return mark;
    }
    plain = true;
    sqlite3 *db = open_plain("firn.db");
    if (sqlite3_prepare_v2(db, "SELECT high FROM mark WHERE ns = ?1 AND key = ?2", -1, &statement,
                           NULL) == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, space_names[ns], -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, key_names[key], -1, SQLITE_STATIC);
        const int found = sqlite3_step(statement);
        mark = found == SQLITE_ROW    ? sqlite3_column_int64(statement, 0)
               : found == SQLITE_DONE ? 0
                                      : mark;
        sqlite3_finalize(statement);
    }
    sqlite3_close(db);
    plain = false;
    return mark;
}

/* ---- the driver, which informs the script ---------------------------------------------------- */

static int64_t near[SPACES][KEYS];

static int64_t mark_near(int ns, int key) {
    return near[ns][key];
}

static void note_mark(const firn_records *records) {
    near[scripted_index(space_names, records->ns)][scripted_index(key_names, records->key)] =
        records->mark.high;
}

static int tells_read(void *self, firn_records *seen, bool surely, firn_error *error) {
    const int code = sqlite_read(self, seen, surely, error);
    note_mark(seen);
    scripted_read();
    return code;
}

static int tells_write(void *self, const firn_records *seen, firn_records *next, int which,
                       firn_verb verb, firn_error *error) {
    if (verb == FIRN_VERB_GIVE_BACK && (which & FIRN_RECORD_KEY) != 0) {
        assert_string_equal(next->note, "a client"); /* of the reservation; it stays */
    }
    if ((which & FIRN_RECORD_KEY) != 0) {
        scripted_raise(scripted_index(space_names, next->ns), next->mark.high);
    }
    const bool shut_out = newer; /* which cannot change while the transaction has its lock */
    const int code = sqlite_write(self, seen, next, which, verb, error);
    note_mark(code == FIRN_OK ? next : seen);
    if (code == FIRN_OK && (which & FIRN_RECORD_NS) != 0 && !seen->ns_known) {
        assert_true(syncs > syncs_before[calling + 1]); /* the folders last, too */
    }
    doubles += code == FIRN_OK && shut_out;
    return code;
}

static int tells_begin(void *self, const firn_records *names, firn_verb verb, firn_error *error) {
    scripted_disturb();
    power_returns();
    assert_int_equal(module_insiders(), verbs); /* each verb that ended has left */
    verbs++;
    syncs_before[calling + 1] = syncs;
    const int code = sqlite_prologue(self, names, verb, error);
    verbs -= code != FIRN_OK;
    return code;
}

static int tells_end(void *self, int code) {
    const int after = sqlite_end(self, code);
    verbs--;
    return after;
}

/* Closing copies the log into the database. */
static void tells_close(void *self) {
    verbs++;
    sqlite_close(self);
    verbs--;
}

const firn_driver firn_store_driver = {
    .version = FIRN_DRIVER_VERSION,
    .scheme = "sqlite",
    .locks = true,
    .lasts = true,
    .open = sqlite_open,
    .begin = tells_begin,
    .read = tells_read,
    .lost = sqlite_lost,
    .write = tells_write,
    .confirm = sqlite_confirm,
    .end = tells_end,
    .where = sqlite_where,
    .list = sqlite_list,
    .close = tells_close,
};

#include "scripted_sqlite_steps.h"

/* ---- checks ---------------------------------------------------------------------------------- */

static int begin_program(void **state) {
    one_process = keeps_all = whole_folder = countless = false;
    sloppy = false;
    return start_over(state);
}

static void a_process_notices_a_restored_folder(void **state) {
    (void)state;
    one_process = keeps_all = whole_folder = true;
    no_slot_is_granted_twice(&firn_store_driver);
}

static void locks_of_sqlite_alone_suffice(void **state) {
    (void)state;
    countless = true;
    no_slot_is_granted_twice(&firn_store_driver);
}

static void a_hidden_loss_is_found(void **state) {
    (void)state;
    finds_a_loss_that_is_never_seen();
}

/* A commit that was not synced is in the log, where its client finds it; then the power fails. */
static void adopt_and_cut(const firn_driver *driver) {
    scripted_begin(driver);
    const int64_t before = server_mark(0, 0);
    faults = false;
    never_syncs = true;
    assert_int_equal(ask(0, 0, true), FIRN_EUNKNOWN);
    never_syncs = false;
    clients[0][0].request.latest = before; /* so that the mark is its own, and too late */
    assert_int_equal(ask(0, 0, true), FIRN_OK);
    server_restart();
    power_returns();
    (void)ask(1, 0, true);
    assert_int_equal(ask(1, 0, true), FIRN_OK);
}

static void what_was_read_is_settled(void **state) {
    firn_driver driver = firn_store_driver;
    (void)state;
    adopt_and_cut(&driver);
    assert_int_equal(doubles, 0);
    scripted_end();
    driver.confirm = NULL; /* injected */
    adopt_and_cut(&driver);
    assert_int_not_equal(doubles, 0);
    scripted_end();
}

static void a_commit_that_is_not_synced_is_found(void **state) {
    (void)state;
    sloppy = true;
    finds(&firn_store_driver);
}

/* A connection that was refused memory without space does not use that memory later. */
static void memory_without_space_stays_refused(void **state) {
    static sqlite_store store = {.vfs = FAULTY_NAME};
    sqlite_session session = {.store = &store};
    const int file = memfd_create("empty", MFD_CLOEXEC);
    (void)state;
    scripted_begin(&firn_store_driver);
    faults = false;
    assert_int_equal(ask(0, 0, true), FIRN_OK);
    plain = true;
    faulty_shares = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_int_equal(sqlite_attach(&session, in_place("firn.db")), SQLITE_OK);
    for (int i = 0; i < 3; i++) {
        assert_false(run_plain(session.db, "SELECT version FROM meta"));
    }
    assert_int_equal(sqlite3_close(session.db), SQLITE_OK);
    faulty_shares = NULL;
    close(file);
    plain = false;
    scripted_end();
}

static int set_up_program(void **state) {
    (void)state;
    snprintf(place, sizeof place, "%.150s/firn-test-XXXXXX", place_in_memory());
    assert_non_null(mkdtemp(place));
    assert_true(lite_load() && faulty_register());
    faulty_vfs.xSleep = lie_sleep;
    faulty_asks = fails;
    faulty_keeps = is_kept;
    return 0;
}

static int tear_down_program(void **state) {
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    return system(command);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_a_count),
        cmocka_unit_test(records_of_a_count_do_not_fall),
        cmocka_unit_test(records_of_a_count_are_in_one_file),
        cmocka_unit_test(records_of_a_count_of_users),
        cmocka_unit_test(records_are_written_in_turn),
        cmocka_unit_test(records_of_a_count_at_descriptor_0),
        cmocka_unit_test(records_do_not_wait_for_a_stopped_process),
        cmocka_unit_test(records_need_the_lock_of_the_named_file),
        cmocka_unit_test(records_have_a_place_in_the_queue),
        cmocka_unit_test(records_need_a_lock_that_works),
        cmocka_unit_test(records_are_unlocked_for_a_child),
        cmocka_unit_test(records_are_not_locked_by_a_child),
        cmocka_unit_test(records_of_each_step),
        cmocka_unit_test(records_of_all_names),
        cmocka_unit_test(records_are_refused_in_another_file),
        cmocka_unit_test(records_that_are_older_are_noticed),
        cmocka_unit_test(records_are_listed),
        cmocka_unit_test(records_of_a_loss_have_a_new_history),
        cmocka_unit_test(records_are_read_back),
        cmocka_unit_test(records_of_a_key_need_a_sound_file),
        cmocka_unit_test(records_need_a_transaction),
        cmocka_unit_test(records_are_read_in_a_session),
        cmocka_unit_test(records_leave_a_short_log),
        cmocka_unit_test_setup(answers_are_torn, begin_program),
        cmocka_unit_test_setup(a_process_notices_a_restored_folder, begin_program),
        cmocka_unit_test_setup(locks_of_sqlite_alone_suffice, begin_program),
        cmocka_unit_test_setup(a_guess_is_found, begin_program),
        cmocka_unit_test_setup(a_hidden_loss_is_found, begin_program),
        cmocka_unit_test_setup(what_was_read_is_settled, begin_program),
        cmocka_unit_test_setup(a_commit_that_is_not_synced_is_found, begin_program),
        cmocka_unit_test_setup(memory_without_space_stays_refused, begin_program),
    };
    scripted_choose(count, arguments);
    return cmocka_run_group_tests(tests, set_up_program, tear_down_program);
}
