/* SPDX-License-Identifier: MIT */
/* The embedded store when its place, its file, the system below it or its own process fails.
 * store_test.c tests the verbs as such. */
#include "embedded.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/* ---- places --------------------------------------------------------------------------------- */

static void files_are_private(void **state) {
    static const mode_t masks[] = {0, 022, 0777};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[64];
        firn_store *store;
        umask(masks[i]);
        snprintf(name, sizeof name, "a%d/b/firn.db?create=yes", i);
        store = open_store(name);
        *strchr(name, '?') = '\0';
        drawn(store, 1, 0);
        assert_int_equal(mode_of(in_folder(name)), 0600);
        strcat(name, "-wal");
        assert_int_equal(mode_of(in_folder(name)), 0600);
        memcpy(strchr(name, '-'), "-shm", 4);
        assert_int_equal(mode_of(in_folder(name)), 0600);
        *strrchr(name, '/') = '\0';
        assert_int_equal(mode_of(in_folder(name)), 0700);
        *strrchr(name, '/') = '\0';
        assert_int_equal(mode_of(in_folder(name)), 0700);
        firn_store_close(store);
    }
    umask(022);
}

static bool is_held(int (*ask)(sigset_t *)) {
    sigset_t set;
    return ask(&set) != 0 || sigismember(&set, SIGXFSZ) != 0;
}

static int mask_of(sigset_t *set) {
    return pthread_sigmask(SIG_BLOCK, NULL, set);
}

/* A signal of the caller's that was pending before stays so. */
static int write_past_the_limit(void *caller_blocks) {
    const struct rlimit small = {4096, RLIM_INFINITY};
    const bool blocked = *(bool *)caller_blocks;
    firn_error error = {0};
    sigset_t set;
    int64_t first = -1;
    firn_store *store = open_store("limited.db");
    drawn(store, 1, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    if (blocked) {
        pthread_sigmask(SIG_BLOCK, &set, NULL);
        raise(SIGXFSZ);
    }
    if (setrlimit(RLIMIT_FSIZE, &small) != 0) {
        return 2;
    }
    for (uint64_t i = 0; i < 3; i++) {
        if (draw(store, 2 + i, &first, &error) != FIRN_ESTORE || first != -1) {
            return 3;
        }
        if (is_held(mask_of) != blocked || is_held(sigpending) != blocked) {
            return 4;
        }
    }
    firn_store_close(store);
    return is_held(mask_of) != blocked;
}

static void a_limit_of_file_sizes_is_an_error(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        bool blocked = i == 1;
        assert_int_equal(in_child(write_past_the_limit, &blocked), 0);
        assert_int_equal(unlink(in_folder("limited.db")), 0);
        unlink(in_folder("limited.db-wal"));
        unlink(in_folder("limited.db-shm"));
        unlink(in_folder("limited.db-count"));
    }
}

/* A trigger in the file runs in firn's own transactions, and could lower the mark that firn
 * granted. */
static void triggers_are_refused(void **state) {
    static const char *const triggers[] = {
        "CREATE TRIGGER audit AFTER UPDATE ON mark BEGIN"
        " UPDATE mark SET high = OLD.high WHERE ns = NEW.ns AND key = NEW.key; END",
        "CREATE TRIGGER audit BEFORE INSERT ON Mark BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TRIGGER audit AFTER UPDATE ON namespace BEGIN UPDATE mark SET high = 0; END",
        "CREATE TRIGGER audit AFTER UPDATE OF history ON meta BEGIN SELECT 1; END"};
    firn_error error = {0};
    int64_t first = -1;
    (void)state;
    firn_store *store = open_store("trigger.db");
    drawn(store, 1, 0);
    for (size_t i = 0; i < sizeof triggers / sizeof triggers[0]; i++) {
        run_sql("trigger.db", triggers[i]);
        drawing_says("trigger.db", FIRN_ESTORE, "DROP TRIGGER \"audit\"");
        assert_int_equal(draw(store, 2, &first, &error), FIRN_ESTORE); /* an open one notices too */
        says(&error, FIRN_ESTORE, "DROP TRIGGER \"audit\"");
        assert_int_equal(mark_of("trigger.db").high,
                         (int64_t)(10 * (i + 1))); /* reading is not hurt */
        run_sql("trigger.db", "DROP TRIGGER audit");
        drawn(store, i + 2, (int64_t)(10 * (i + 1)));
    }
    run_sql("trigger.db", "CREATE TABLE own(x); CREATE TRIGGER audit AFTER INSERT ON own BEGIN"
                          " SELECT 1; END"); /* of another table */
    drawn(store, 9, 50);
    firn_store_close(store);
}

/* SQLite's text for an error is gone once another call worked: "not an error". */
static void reasons_are_true(void **state) {
    static const struct {
        const char *sql, *what;
    } rows[] = {{"DELETE FROM meta", "(its table meta is empty)"},
                {"DROP TABLE meta", "(no such table: meta)"},
                {"ALTER TABLE meta RENAME TO other; CREATE TABLE meta(version)",
                 "(its table meta is empty)"},
                {"DROP TABLE mark", "(no such table: mark)"},
                {"DROP TABLE mark; CREATE TABLE mark(ns, key, high)",
                 "(table mark has no column named grant"},
                {"DROP TABLE mark; CREATE TABLE mark(ns, key, high, \"grant\", note)",
                 "(ON CONFLICT clause does not match"},
                {"DROP TABLE namespace", "(no such table: namespace)"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "reason%zu.db", i);
        firn_store *store = open_store(name);
        firn_error error = {0};
        int64_t first = -1;
        drawn(store, 1, 0);
        run_sql(name, rows[i].sql);
        assert_int_equal(draw(store, 2, &first, &error), FIRN_ESTORE);
        says(&error, FIRN_ESTORE, rows[i].what);
        firn_store_close(store);
        drawing_says(name, FIRN_ESTORE, rows[i].what);
    }
}

static void urls_are_checked(void **state) {
    const firn_store_options options = safe_options();
    char url[5000];
    (void)state;
    opening_says("sqlite:", &options, FIRN_EUSAGE, "names no file");
    opening_says("sqlite:?unsafe=1", &options, FIRN_EUSAGE, "names no file");
    opening_says("sqlite:here/", &options, FIRN_EUSAGE, "names no file");
    opening_says("sqlite:..", &options, FIRN_EUSAGE, "names no file");
    opening_says("sqlite:x?unsafe=2", &options, FIRN_EUSAGE, "unsafe=2");
    opening_says("sqlite:x?busy=-1", &options, FIRN_EUSAGE, "busy=-1");
    opening_says("sqlite:x?busy=11min", &options, FIRN_ERANGE, "10min");
    opening_says("sqlite:x?busy=", &options, FIRN_EUSAGE, "busy=");
    opening_says("sqlite:x?wal=0", &options, FIRN_EUSAGE, "'wal'");
    memset(url, 'a', sizeof url);
    memcpy(url, "sqlite:/", 8);
    url[4150] = '\0';
    opening_says(url, &options, FIRN_EUSAGE, "use at most");
    url[700] = '\0';
    opening_says(url, &options, FIRN_ESTORE, "long");
}

/* With root's rights there is another user's folder. */
static void the_folders_owner_owns_the_store(void **state) {
    static const char *const files[] = {"firn.db", "firn.db-count", "firn.db-wal", "firn.db-shm"};
    uid_t owner = geteuid() == 0 ? 65534 : geteuid();
    firn_store *store;
    (void)state;
    assert_int_equal(mkdir(in_folder("theirs"), 0700), 0);
    assert_int_equal(chown(in_folder("theirs"), owner, (gid_t)-1), 0);
    store = open_store("theirs/firn.db");
    drawn(store, 1, 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[64];
        struct stat status;
        snprintf(name, sizeof name, "theirs/%s", files[i]);
        assert_int_equal(stat(in_folder(name), &status), 0);
        assert_int_equal(status.st_uid, owner);
        assert_int_equal(status.st_mode & 0777, 0600);
    }
    firn_store_close(store);
}

static void a_relative_path_stays(void **state) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    char before[1024];
    firn_store *store = NULL;
    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(firn_store_open(&store, "sqlite:here.db", &options, NULL), FIRN_OK);
    assert_int_equal(chdir("/"), 0);
    drawn(store, 1, 0);
    firn_store_close(store);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(mark_of("here.db").high, 10);
}

static void forgetful_places_are_refused(void **state) {
    firn_store_options options = safe_options();
    struct statfs place;
    char url[700];
    firn_store *store = NULL;
    (void)state;
    if (statfs(folder, &place) != 0 || place.f_type != 0x01021994) {
        skip(); /* no memory to put it in */
    }
    snprintf(url, sizeof url, "sqlite:%s", in_folder("deep/down/firn.db"));
    opening_says(url, &options, FIRN_ESTORE, "tmpfs");
    opening_says(url, &options, FIRN_ESTORE, "unsafe=1");
    assert_int_equal(access(in_folder("deep"), F_OK), -1); /* nothing was made there */
    strcat(url, "?unsafe=1&create=yes");
    assert_int_equal(firn_store_open(&store, url, &options, NULL), FIRN_OK);
    drawn(store, 1, 0);
    firn_store_close(store);
    *strrchr(url, '?') = '\0';
    opening_says(url, &options, FIRN_ESTORE, "tmpfs"); /* the risk was not the file's */
    options.unsafe = true;
    assert_int_equal(firn_store_open(&store, url, &options, NULL), FIRN_OK);
    drawn(store, 2, 10);
    firn_store_close(store);
}

static void not_a_place(void **state) {
    firn_store_options options = safe_options();
    char url[700];
    (void)state;
    options.unsafe = true;
    write_file(in_folder("file"), "x", 1);
    snprintf(url, sizeof url, "sqlite:%s/firn.db", in_folder("file"));
    opening_says(url, &options, FIRN_ESTORE, "Not a directory");
    snprintf(url, sizeof url, "sqlite:%s", folder);
    opening_says(url, &options, FIRN_ESTORE, "not a file");
    assert_int_equal(symlink("nowhere", in_folder("link")), 0);
    snprintf(url, sizeof url, "sqlite:%s", in_folder("link"));
    opening_says(url, &options, FIRN_ESTORE, "not a file");
    assert_int_equal(access(in_folder("nowhere"), F_OK), -1);
}

/* root may write everything, unless it gives that up. */
static bool give_up_rights(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    const uint32_t rights = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;
    if (syscall(SYS_capget, &header, data) != 0) {
        return false;
    }
    data[0].effective &= ~rights;
    data[0].permitted &= ~rights; /* access(2) looks at these */
    return syscall(SYS_capset, &header, data) == 0;
}

/* The store or its folder has `mode` now; what becomes of opening and of a verb? */
static const char *without_rights_at = "ro/deep/firn.db";

static int try_without_rights(void *argument) {
    const char *expected = argument;
    firn_store *store;
    firn_error error = {0};
    int64_t first = -1;
    int code;
    if (!give_up_rights() || access(in_folder("ro/deep"), W_OK) == 0) {
        return SKIPPED;
    }
    code = open_with(&store, without_rights_at, safe_options(), &error);
    if (code == FIRN_OK) {
        code = draw(store, 2, &first, &error);
    }
    return child_status(code, FIRN_ESTORE, &error, expected);
}

static void without_rights(const char *expected) {
    int status = in_child(try_without_rights, (void *)(uintptr_t)expected);
    if (status == SKIPPED) {
        skip();
    }
    assert_int_equal(status, 0);
}

static void read_only_places_are_reported(void **state) {
    (void)state;
    assert_int_equal(mkdir(in_folder("ro"), 0700), 0);
    assert_int_equal(mkdir(in_folder("ro/deep"), 0500), 0);
    without_rights("cannot be created"); /* no store yet, and none can be made */
    without_rights_at = "ro/deep/sub/firn.db?create=yes";
    without_rights(
        "cannot be created (Permission denied): create it by hand, or name another place");
    without_rights_at = "ro/deep/firn.db";
    assert_int_equal(chmod(in_folder("ro/deep"), 0700), 0);
    firn_store_close(open_store("ro/deep/firn.db"));
    assert_int_equal(chmod(in_folder("ro/deep"), 0500), 0);
    without_rights("allow this user to write"); /* the log cannot be made */
    assert_int_equal(chmod(in_folder("ro/deep"), 0700), 0);
    drawn_anew("ro/deep/firn.db", 1, 0);
    assert_int_equal(chmod(in_folder("ro/deep/firn.db"), 0400), 0);
    assert_int_equal(chmod(in_folder("ro/deep"), 0500), 0);
    without_rights("allow this user to write");
    assert_int_equal(chmod(in_folder("ro/deep/firn.db"), 0000), 0);
    without_rights("allow this user to write");
    assert_int_equal(chmod(in_folder("ro/deep"), 0700), 0);
    assert_int_equal(mark_of("ro/deep/firn.db").high, 10);
}

/* ---- files ---------------------------------------------------------------------------------- */

static void no_database(void **state) {
    char found[100];
    const char text[] = "This is a letter to my aunt, and no database at all. It is long enough.";
    (void)state;
    write_file(in_folder("firn.db"), text, sizeof text);
    drawing_says("firn.db", FIRN_ESTORE, "is not a database");
    assert_int_equal(read_file(in_folder("firn.db"), found, sizeof found), sizeof text);
    assert_memory_equal(found, text, sizeof text);
    write_file(in_folder("firn.db"), text, 0);
    drawing_says("firn.db", FIRN_ESTORE, "is not firn's"); /* empty: it was cut off */
}

static void another_database(void **state) {
    (void)state;
    run_sql("firn.db", "CREATE TABLE letter(text)");
    drawing_says("firn.db", FIRN_ESTORE, "is not firn's");
    run_sql("firn.db", "CREATE TABLE meta(version)");
    drawing_says("firn.db", FIRN_ESTORE, "is not firn's");
    run_sql("firn.db", "INSERT INTO meta VALUES(1)");
    drawing_says("firn.db", FIRN_ESTORE, "is not firn's");
}

static void a_newer_schema(void **state) {
    firn_store *store = open_store("firn.db");
    const firn_mark mine = {10, 1};
    firn_mark mark = {0, 0};
    firn_error error = {0};
    (void)state;
    drawn(store, 1, 0);
    run_sql("firn.db", "UPDATE meta SET version = 4");
    drawing_says("firn.db", FIRN_ESTORE, "schema 4");
    assert_int_equal(firn_store_give_back(store, "snow", "1", &mine, 5, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "schema 4");
    assert_int_equal(firn_store_list(store, NULL, keep_mark, &mark, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "use a newer firn");
    run_sql("firn.db", "UPDATE meta SET version = 3");
    drawn(store, 2, 10);
    firn_store_close(store);
}

static void marks_hold_integers_only(void **state) {
    sqlite3 *db;
    static const char *const bad[] = {
        "UPDATE mark SET high = 1.5",   "UPDATE mark SET high = 'x'",
        "UPDATE mark SET high = -1",    "UPDATE mark SET high = 4611686018427387905",
        "UPDATE mark SET high = NULL",  "UPDATE mark SET high = 9e18",
        "UPDATE mark SET high = x'00'", "INSERT INTO mark SELECT ns, key, high, 1, '' FROM mark"};
    firn_store *store = open_store("firn.db");
    (void)state;
    drawn(store, 1, 0);
    firn_store_close(store);
    assert_int_equal(lite.open_v2(in_folder("firn.db"), &db, SQLITE_OPEN_READWRITE, NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(lite.exec(db, bad[i], NULL, NULL, NULL) & 0xff, SQLITE_CONSTRAINT);
    }
    assert_int_equal(lite.close(db), SQLITE_OK);
    assert_true(same_mark(mark_of("firn.db"), (firn_mark){10, 1}));
}

static int draw_from_damaged(int64_t *first) {
    firn_store *store = open_store("firn.db");
    firn_error error = {0};
    int code = draw(store, 99, first, &error);
    firn_store_close(store);
    if (code != FIRN_OK && code != FIRN_EBACK) { /* or the rest of it is older than its count */
        says(&error, FIRN_ESTORE, "firn.db");
    }
    return code;
}

/* A file that was cut off anywhere is refused. What was overwritten is found where SQLite finds
 * it, which keeps no sums of its pages; it never ends the process. */
static void damaged_files(void **state) {
    static uint8_t whole[1 << 16], broken[1 << 16];
    int refused = 0, tried = 0;
    int64_t first;
    size_t size;
    firn_store *store = open_store("firn.db");
    (void)state;
    drawn(store, 1, 0);
    firn_store_close(store);
    run_sql("firn.db", "PRAGMA wal_checkpoint(TRUNCATE)"); /* and the log is deleted */
    size = read_file(in_folder("firn.db"), whole, sizeof whole);
    assert_true(size > 2048 && size < sizeof whole);
    for (size_t length = 0; length < size; length += 37) {
        write_file(in_folder("firn.db"), whole, length);
        assert_true(draw_from_damaged(&first) != FIRN_OK || first == 10);
    }
    for (size_t position = 0; position < size; position += 64, tried++) {
        memcpy(broken, whole, size);
        memset(broken + position, 0xa5, 64);
        unlink(in_folder("firn.db-wal"));
        write_file(in_folder("firn.db"), broken, size);
        refused += draw_from_damaged(&first) != FIRN_OK;
    }
    print_message("# %d of %d damaged files were refused\n", refused, tried);
    assert_true(refused > 0);
}

static void gone_and_replaced(void **state) {
    firn_store *store = open_store("firn.db");
    firn_error error = {0};
    int64_t first = -1;
    (void)state;
    drawn(store, 1, 0);
    assert_int_equal(rename(in_folder("firn.db"), in_folder("old.db")), 0);
    assert_int_equal(draw(store, 2, &first, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "is gone");
    assert_int_equal(access(in_folder("firn.db"), F_OK), -1);
    assert_int_equal(unlink(in_folder("firn.db-wal")), 0);
    assert_int_equal(unlink(in_folder("firn.db-count")), 0); /* else it is not made for 25 s */
    firn_store_close(open_store("firn.db"));
    assert_int_equal(draw(store, 2, &first, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "was replaced");
    firn_store_close(store);
}

static void out_of_wal_mode(void **state) {
    firn_store *store = open_store("firn.db");
    const firn_mark mine = {20, 2};
    (void)state;
    drawn(store, 1, 0);
    run_sql("firn.db", "PRAGMA journal_mode=DELETE");
    drawn(store, 2, 10);
    assert_int_equal(firn_store_give_back(store, "snow", "1", &mine, 15, NULL), FIRN_OK);
    drawn(store, 3, 15);
    firn_store_close(store);
}

/* The log must not grow for ever, although the last process leaves it. */
static void the_log_stays_short(void **state) {
    firn_store *store = open_store("firn.db");
    struct stat log;
    (void)state;
    for (int i = 0; i < 100; i++) {
        drawn(store, (uint64_t)i + 1, i * 10);
        assert_int_equal(stat(in_folder("firn.db-wal"), &log), 0);
        assert_true(log.st_size < 64 * 1024);
    }
    firn_store_close(store);
}

/* ---- locks ---------------------------------------------------------------------------------- */

/* Holds the store in the middle of a write, until it is released and a little longer. */
typedef struct lock_holder {
    int ready[2], go[2];
} lock_holder;

static void hold_on(void *self, const char *name) {
    lock_holder *holder = self;
    const struct timespec longer = {0, 300000000};
    char byte;
    if (strcmp(name, "reserve.written") == 0) {
        if (write(holder->ready[1], "x", 1) != 1 || read(holder->go[0], &byte, 1) != 1) {
            _exit(3);
        }
        nanosleep(&longer, NULL);
    }
}

static pid_t start_holder(lock_holder *holder) {
    pid_t child;
    char byte;
    assert_int_equal(pipe(holder->ready), 0);
    assert_int_equal(pipe(holder->go), 0);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        firn_store_options options = safe_options();
        firn_store *store;
        int64_t first;
        close(holder->go[1]); /* so that it sees its parent's end */
        options.failpoint = hold_on;
        options.failpoint_self = holder;
        _exit(open_with(&store, "firn.db", options, NULL) != FIRN_OK ||
              draw(store, 50, &first, NULL) != FIRN_OK || first != 10);
    }
    assert_int_equal(read(holder->ready[0], &byte, 1), 1);
    close(holder->ready[0]);
    close(holder->ready[1]);
    close(holder->go[0]);
    return child;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void locked_by_another(void **state) {
    firn_store *patient = open_store("firn.db?busy=60s"), *hasty = open_store("firn.db?busy=150ms");
    firn_error error = {0};
    lock_holder holder;
    int64_t first = -1;
    int status = -1;
    double start;
    pid_t child;
    (void)state;
    drawn(patient, 1, 0);
    child = start_holder(&holder);
    start = seconds();
    assert_int_equal(draw(hasty, 2, &first, &error), FIRN_ESTORE);
    assert_true(seconds() - start > 0.1);
    says(&error, FIRN_ESTORE, "is locked by process");
    assert_int_equal(first, -1);
    assert_int_equal(write(holder.go[1], "x", 1), 1);
    close(holder.go[1]);
    drawn(patient, 3, 20); /* waits until the other is done */
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    firn_store_close(patient);
    firn_store_close(hasty);
}

/* A reader that stays neither stops the verbs nor is disturbed. */
static void read_by_another(void **state) {
    firn_store *store = open_store("firn.db");
    sqlite3 *db;
    (void)state;
    drawn(store, 1, 0);
    assert_int_equal(lite.open_v2(in_folder("firn.db"), &db, SQLITE_OPEN_READWRITE, NULL), 0);
    assert_int_equal(lite.exec(db, "BEGIN; SELECT * FROM mark", NULL, NULL, NULL), 0);
    for (int i = 1; i < 40; i++) {
        drawn(store, (uint64_t)i + 1, i * 10);
    }
    assert_int_equal(lite.exec(db, "COMMIT", NULL, NULL, NULL), 0);
    assert_int_equal(lite.close(db), SQLITE_OK);
    drawn(store, 99, 400);
    firn_store_close(store);
}

/* ---- a disk that is full -------------------------------------------------------------------- */

/* In its own mount that nobody else sees. */
static int fill_a_disk(void *unused) {
    static const char nothing[4096];
    firn_store *store;
    firn_error error = {0};
    int64_t first = -1;
    int file, code, full = 0;
    (void)unused;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("firn", folder, "tmpfs", 0, "size=128k") != 0) {
        return SKIPPED;
    }
    if (open_with(&store, "firn.db", safe_options(), &error) != FIRN_OK ||
        draw(store, 1, &first, &error) != FIRN_OK || first != 0) {
        return child_status(-1, 0, &error, "");
    }
    file = open(in_folder("filler"), O_WRONLY | O_CREAT, 0600);
    while (write(file, nothing, sizeof nothing) > 0) {
    }
    for (uint64_t i = 2; i < 50 && full == 0; i++) { /* until the log cannot grow */
        code = draw(store, i, &first, &error);
        full = code != FIRN_OK && strstr(error.text, "full") != NULL;
        if (code != FIRN_OK && (code != FIRN_ESTORE || !full)) {
            return child_status(code, FIRN_ESTORE, &error, "full");
        }
    }
    unlink(in_folder("filler"));
    close(file);
    code = draw(store, 99, &first, &error);
    return full && code == FIRN_OK && first > 0 && first % 10 == 0 ? 0 : 2;
}

static void a_full_disk(void **state) {
    int status = in_child(fill_a_disk, NULL);
    (void)state;
    if (status == SKIPPED) {
        skip();
    }
    assert_int_equal(status, 0);
}

/* With blocks of 1 KiB, only each fourth block of the shared memory has space on the disk. */
static int fill_small_blocks(void *unused) {
    static const char nothing[1024];
    char command[900];
    firn_store *store;
    firn_error error = {0};
    int64_t first = -1, size = 0;
    int code = FIRN_ESTORE, refused = 0;
    (void)unused;
    snprintf(command, sizeof command,
             "cd '%s' && truncate -s 1M image && mkdir disk && export PATH=\"$PATH:/usr/sbin\" &&"
             " mkfs.ext4 -q -m 0 -b 1024 -O ^has_journal image && mount -o loop image disk",
             folder);
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        system(command) != 0) {
        return SKIPPED;
    }
    if (open_with(&store, "disk/firn.db", safe_options(), &error) != FIRN_OK ||
        draw(store, 1, &first, &error) != FIRN_OK || first != 0) {
        return child_status(-1, 0, &error, "");
    }
    firn_store_close(store); /* removes that memory: the next handle makes it again */
    const int file = open(in_folder("disk/filler"), O_WRONLY | O_CREAT, 0600);
    while (write(file, nothing, sizeof nothing) > 0) {
        size += (int64_t)sizeof nothing;
    }
    for (; code != FIRN_OK; refused += code != FIRN_OK) {
        code = open_with(&store, "disk/firn.db", safe_options(), &error);
        if (code == FIRN_OK) {
            code = draw(store, 2, &first, &error);
            firn_store_close(store);
        }
        size -= (int64_t)sizeof nothing;
        if ((code != FIRN_OK && code != FIRN_ESTORE) || size < 0 || ftruncate(file, size) != 0) {
            return child_status(code, FIRN_ESTORE, &error, "space");
        }
    }
    close(file);
    return refused > 20 && first == 10 ? 0 : 2;
}

static void small_blocks_on_a_full_disk(void **state) {
    int status = in_child(fill_small_blocks, NULL);
    (void)state;
    if (status == SKIPPED) {
        skip();
    }
    assert_int_equal(status, 0);
}

/* The same without a disk: memory of a file that has no space for it. */
static int draw_without_memory(void *unused) {
    firn_store_options options = safe_options();
    firn_store *store;
    firn_error error = {0};
    int64_t first;
    const int file = memfd_create("empty", MFD_CLOEXEC);
    (void)unused;
    options.vfs = FAULTY_NAME;
    if (open_with(&store, "firn.db", options, &error) != FIRN_OK) {
        return child_status(-1, 0, &error, "");
    }
    faulty_shares = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int code = draw(store, 1, &first, &error);
    faulty_shares = NULL;
    return child_status(code, FIRN_ESTORE, &error, "has a full disk") == 0 &&
                   draw(store, 2, &first, &error) == FIRN_OK && first == 0
               ? 0
               : 2;
}

static void memory_without_space_is_an_error(void **state) {
    (void)state;
    assert_int_equal(in_child(draw_without_memory, NULL), 0);
}

/* ---- every call fails once ------------------------------------------------------------------ */

/* An operation that is tried under faults. */
typedef struct trial {
    const char *name;
    int (*run)(firn_store *store, firn_error *error);
    firn_mark after; /* of "snow" "1" when it was carried out; before it: 100, 11 */
    bool repeated;   /* asked again after an unknown outcome */
} trial;

static const firn_mark mark_before = {100, 11};

static int try_reserve(firn_store *store, firn_error *error) {
    int64_t first = -1;
    int code = reserve_in(store, "snow", 10, 100, 100, 12, &first, error);
    assert_int_equal(first, code == FIRN_OK ? 100 : -1);
    return code;
}

static int try_give_back(firn_store *store, firn_error *error) {
    return firn_store_give_back(store, "snow", "1", &mark_before, 60, error);
}

/* The first use of a namespace; the mark that is looked at stays. */
static int try_first_use(firn_store *store, firn_error *error) {
    int64_t first = -1;
    int code = reserve_in(store, "new", 10, 0, 0, 12, &first, error);
    assert_int_equal(first, code == FIRN_OK ? 0 : -1);
    return code;
}

static int try_busy(firn_store *store, firn_error *error) {
    int64_t first = -1;
    int code = reserve_in(store, "snow", 10, 0, 50, 12, &first, error);
    return code == FIRN_EBUSY ? FIRN_OK : code;
}

/* The grant is known: the store must not say so before it is durable. */
static int try_again(firn_store *store, firn_error *error) {
    int64_t first = -1;
    int code = reserve_in(store, "snow", 10, 90, 90, 11, &first, error);
    return code == FIRN_EBUSY ? FIRN_OK : code;
}

static const trial trials[] = {
    {"reserve", try_reserve, {110, 12}, true},      {"give back", try_give_back, {60, 0}, false},
    {"first use", try_first_use, {100, 11}, false}, {"busy", try_busy, {100, 11}, false},
    {"own grant", try_again, {100, 11}, false},
};

static uint8_t template_db[1 << 17], template_log[1 << 17];
static size_t template_db_size, template_log_size;

/* A store at (100, 11), with a log that is short, or so long that the next commit brings it back
 * to nothing. */
static void make_template(bool long_log) {
    firn_store *store = open_store("firn.db");
    int64_t first;
    struct stat log = {.st_size = 0};
    for (int i = 0; i < (long_log ? 50 : 1) && log.st_size < 28 * (1024 + 24) + 32; i++) {
        assert_int_equal(reserve_in(store, "snow", 1, i, i, 5, &first, NULL), FIRN_OK);
        assert_int_equal(stat(in_folder("firn.db-wal"), &log), 0);
    }
    assert_int_equal(reserve_in(store, "snow", 10, 90, 90, 11, &first, NULL), FIRN_OK);
    template_db_size = read_file(in_folder("firn.db"), template_db, sizeof template_db);
    template_log_size = read_file(in_folder("firn.db-wal"), template_log, sizeof template_log);
    firn_store_close(store);
}

/* Creates it again instead of replacing it: some file systems wait for the disk when a file is
 * replaced. */
static void put_template(void) {
    unlink(in_folder("firn.db"));
    unlink(in_folder("firn.db-shm"));
    unlink(in_folder("firn.db-wal"));
    unlink(in_folder("firn.db-count")); /* else it is an older copy */
    write_file(in_folder("firn.db"), template_db, template_db_size);
    write_file(in_folder("firn.db-wal"), template_log, template_log_size);
    images_forget();
}

/* The possible marks of the key after an answer. A verb that was not carried out leaves no trace, a
 * completed one is durable, and only FIRN_EUNKNOWN leaves it open. */
static void right_after(const trial *t, int code, const char *when) {
    firn_mark found = mark_of("firn.db");
    bool may_be_after = code == FIRN_OK || code == FIRN_EUNKNOWN;
    bool may_be_before = code != FIRN_OK;
    if (!(may_be_after && same_mark(found, t->after)) &&
        !(may_be_before && same_mark(found, mark_before))) {
        fail_msg("%s, fault %d: code %d, but %s the mark is %lld of %llu", t->name, fault.at, code,
                 when, (long long)found.high, (unsigned long long)found.grant);
    }
}

/* The same request again, now without faults: what it says is durable too. */
static void ask_again(firn_store *store, const trial *t) {
    firn_error error = {0};
    int64_t first = -1;
    int code = reserve_in(store, "snow", 10, 100, 100, 12, &first, &error);
    assert_true(code == FIRN_OK || code == FIRN_EBUSY);
    images_restore();
    if (!same_mark(mark_of("firn.db"), t->after)) {
        fail_msg("%s, fault %d: asked again, it was granted, but a power cut took it", t->name,
                 fault.at);
    }
}

/* Runs the trial with the n-th call failing. Returns false when there was no n-th call. */
static bool one_fault(const trial *t, enum fault kind, bool sticky, bool cut, int n, int *unknown) {
    firn_store_options options = safe_options();
    firn_store *store = NULL;
    firn_error error = {0};
    int code;
    put_template();
    options.vfs = FAULTY_NAME;
    assert_int_equal(open_with(&store, "firn.db", options, &error), FIRN_OK);
    memset(&fault, 0, sizeof fault);
    fault.kind = kind;
    fault.sticky = sticky;
    fault.at = n;
    code = t->run(store, &error);
    fault.kind = kind == FAULT_IO ? FAULT_MEMORY : FAULT_IO; /* never due: n is kept for messages */
    fault.seen = INT32_MIN;
    if (code != FIRN_OK) {
        says(&error, code, "");
        assert_true(fault.fired);
        assert_true(code == FIRN_ESTORE || code == FIRN_EUNKNOWN || code == FIRN_EMEMORY);
    }
    *unknown += code == FIRN_EUNKNOWN;
    if (cut) {
        images_restore();
        right_after(t, code, "after a power cut");
    } else if (code == FIRN_EUNKNOWN && t->repeated) {
        ask_again(store, t);
    } else {
        right_after(t, code, "afterwards");
    }
    firn_store_close(store);
    fault.at = 0;
    return fault.fired;
}

static void every_fault(enum fault kind) {
    int runs = 0, unknown = 0;
    /* Allocations are many, and say little about the disk: one mode is enough. */
    for (int mode = kind == FAULT_MEMORY ? 1 : 0; mode < (kind == FAULT_MEMORY ? 2 : 8); mode++) {
        bool long_log = mode & 1, sticky = mode & 2, cut = mode & 4;
        tear_down(NULL);
        mkdir(folder, 0700);
        make_template(long_log);
        for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
            int n = 1;
            while (one_fault(&trials[i], kind, sticky, cut, n, &unknown)) {
                assert_true(++n < 5000);
            }
            runs += n;
        }
    }
    assert_true(runs > 20 * (int)(sizeof trials / sizeof trials[0]));
    print_message("# %d runs, %d of unknown outcome\n", runs, unknown);
}

static void every_call_fails(void **state) {
    (void)state;
    every_fault(FAULT_IO);
}

static void every_write_finds_the_disk_full(void **state) {
    (void)state;
    every_fault(FAULT_FULL);
}

static void every_allocation_fails(void **state) {
    (void)state;
    every_fault(FAULT_MEMORY);
}

/* Making the store under faults: it is there whole, or not there, and the next one makes it. */
static void every_call_of_the_creation_fails(void **state) {
    bool fired = true;
    int n;
    (void)state;
    for (n = 1; fired; n++) {
        firn_store_options options = safe_options();
        firn_store *store = NULL;
        firn_error error = {0};
        int code;
        options.vfs = FAULTY_NAME;
        images_forget();
        fault.kind = n % 2 == 0 ? FAULT_IO : FAULT_FULL;
        fault.seen = 0;
        fault.fired = false;
        fault.at = (n + 1) / 2;
        code = open_with(&store, "firn.db", options, &error);
        fired = fault.fired || n % 2 != 0;
        fault.at = 0;
        if (code != FIRN_OK) {
            says(&error, FIRN_ESTORE, "");
            assert_int_equal(access(in_folder("firn.db"), F_OK), -1);
            store = open_store("firn.db");
        }
        drawn(store, 1, 0);
        firn_store_close(store);
        tear_down(NULL);
        mkdir(folder, 0700);
    }
    assert_true(n > 40);
}

static void the_power_cut_is_one(void **state) {
    firn_store_options options = safe_options();
    firn_store *store = NULL;
    (void)state;
    make_template(false);
    put_template();
    options.vfs = FAULTY_NAME;
    assert_int_equal(open_with(&store, "firn.db", options, NULL), FIRN_OK);
    assert_int_equal(try_reserve(store, NULL), FIRN_OK);
    firn_store_close(store);
    image_of(in_folder("firn.db-wal"))->durable_size =
        (int64_t)template_log_size; /* an injected bug */
    images_restore();
    assert_true(same_mark(mark_of("firn.db"), mark_before)); /* the acknowledged mark is lost */
}

/* ---- SIGKILL -------------------------------------------------------------------------------- */

static const char *const killpoints[] = {
    "create.before",        "create.written",    "create.committed",    "namespace.before",
    "namespace.written",    "reserve.before",    "reserve.written",     "reserve.committed",
    "give_back.before",     "give_back.written", "give_back.committed", "checkpoint.before",
    "checkpoint.committed", "close.before",      "close.committed"};

/* Shared with the child that is killed. */
typedef struct witness {
    const char *point;
    int after; /* passes of the point before it acts */
    int hits;
    firn_mark tried, acknowledged;
} witness;

static void die_here(void *self, const char *name) {
    witness *state = self;
    if (strcmp(name, state->point) == 0 && state->hits++ == state->after) {
        kill(getpid(), SIGKILL);
    }
}

/* Reserves and gives half of it back repeatedly, and logs the results. */
static int work_until_killed(void *argument) {
    witness *self = argument;
    firn_store_options options = safe_options();
    firn_store *store;
    options.failpoint = die_here;
    options.failpoint_self = self;
    if (open_with(&store, "firn.db", options, NULL) != FIRN_OK) {
        return 2;
    }
    for (uint64_t grant = 1; grant < 60; grant++) {
        int64_t first, high = self->acknowledged.high;
        self->tried = (firn_mark){high + 10, grant};
        if (draw(store, grant, &first, NULL) != FIRN_OK || first != high) {
            return 3;
        }
        self->acknowledged = self->tried;
        if (grant % 2 == 0) {
            self->tried = (firn_mark){high + 5, 0};
            if (firn_store_give_back(store, "snow", "1", &self->acknowledged, high + 5, NULL) !=
                0) {
                return 4;
            }
            self->acknowledged = self->tried;
        }
    }
    firn_store_close(store);
    return 0; /* not killed */
}

static void killed_at_each_point(void **state) {
    witness *self =
        mmap(NULL, sizeof *self, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_ptr_not_equal(self, MAP_FAILED);
    for (size_t i = 0; i < sizeof killpoints / sizeof killpoints[0]; i++) {
        int hits = 0;
        for (int after = 0; after < 4; after++) {
            firn_mark found;
            *self = (witness){killpoints[i], after, 0, {0, 0}, {0, 0}};
            tear_down(NULL);
            mkdir(folder, 0700);
            if (in_child(work_until_killed, self) == 1000 + SIGKILL) {
                hits++;
            }
            found = mark_of("firn.db");
            if (!same_mark(found, self->acknowledged) && !same_mark(found, self->tried)) {
                fail_msg("killed at %s, the mark is %lld, neither %lld nor %lld", killpoints[i],
                         (long long)found.high, (long long)self->acknowledged.high,
                         (long long)self->tried.high);
            }
            drawn_anew("firn.db", 77, found.high);
        }
        print_message("# %s: killed %d times\n", killpoints[i], hits);
        assert_true(hits > 0);
    }
    munmap(self, sizeof *self);
}

/* ---- fork ----------------------------------------------------------------------------------- */

/* The children of a fork inside a verb, and their use of the store. */
typedef struct fork_point {
    firn_store *store;
    const char *at;
    int hits, wrong;
} fork_point;

/* The handle it was forked in, the same again, and a new one: each is refused, and none hangs. A
 * program that was executed has nothing of the parent's. */
static int refused_in_child(void *argument) {
    fork_point *forker = argument;
    firn_store *other = NULL;
    firn_error error = {0};
    int64_t first = -1;
    firn_mark mark = {0, 0};
    if (child_status(draw(forker->store, 70, &first, &error), FIRN_EFORKED, &error, "exec") ||
        child_status(draw(forker->store, 71, &first, &error), FIRN_EFORKED, &error, "exec") ||
        child_status(firn_store_list(forker->store, NULL, keep_mark, &mark, &error), FIRN_EFORKED,
                     &error, "exec") ||
        open_with(&other, "firn.db", safe_options(), &error) != FIRN_OK ||
        child_status(draw(other, 72, &first, &error), FIRN_EFORKED, &error, "exec")) {
        return 1;
    }
    firn_store_close(forker->store);
    firn_store_close(other);
    execl("/proc/self/exe", "sqlite_test", "--draw", in_folder("firn.db"), (char *)NULL);
    return 2;
}

static void fork_here(void *self, const char *name) {
    fork_point *forker = self;
    int status = -1;
    pid_t child;
    if (strcmp(name, forker->at) != 0) {
        return;
    }
    forker->hits++;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(HUNG_S);
        _exit(refused_in_child(forker));
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        forker->wrong++;
    }
}

/* The executed child waits for the verb that its parent is in, which waits for the child: it asks
 * another store. */
static int draw_after_exec(const char *path) {
    firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    firn_store *store;
    char url[700];
    int64_t first = -1;
    snprintf(url, sizeof url, "sqlite:%s-%d", path, (int)getpid());
    if (firn_store_open(&store, url, &options, NULL) != FIRN_OK ||
        draw(store, 90, &first, NULL) != FIRN_OK) {
        return 1;
    }
    firn_store_close(store);
    return first != 0;
}

static void forked_inside_a_verb(void **state) {
    static const char *const places[] = {"namespace.before", "reserve.before", "reserve.written",
                                         "reserve.committed"};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        fork_point forker = {NULL, places[i], 0, 0};
        firn_store_options options = safe_options();
        options.failpoint = fork_here;
        options.failpoint_self = &forker;
        tear_down(NULL);
        mkdir(folder, 0700);
        assert_int_equal(open_with(&forker.store, "firn.db", options, NULL), FIRN_OK);
        drawn(forker.store, 1, 0); /* the parent is not disturbed */
        assert_int_equal(forker.hits, 1);
        assert_int_equal(forker.wrong, 0);
        firn_store_close(forker.store);
        assert_true(same_mark(mark_of("firn.db"), (firn_mark){10, 1}));
    }
}

/* The child comes back from the failpoint into the verb, and must not carry on with it. */
typedef struct returner {
    const char *at;
    pid_t child;
} returner;

static void fork_and_return(void *self, const char *name) {
    returner *state = self;
    if (strcmp(name, state->at) == 0) {
        fflush(NULL);
        state->child = fork();
        if (state->child == 0) {
            alarm(HUNG_S);
        }
    }
}

static void a_child_does_not_end_the_verb(void **state) {
    static const char *const places[] = {
        "namespace.before",  "namespace.written", "reserve.before",      "reserve.written",
        "reserve.committed", "checkpoint.before", "checkpoint.committed"};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        returner self = {places[i], -1};
        firn_store_options options = safe_options();
        firn_store *store;
        int status = -1;
        int64_t first = -1;
        options.failpoint = fork_and_return;
        options.failpoint_self = &self;
        tear_down(NULL);
        mkdir(folder, 0700);
        assert_int_equal(open_with(&store, "firn.db", options, NULL), FIRN_OK);
        for (int64_t round = 0; round < 20 && self.child == -1; round++) {
            int code = draw(store, (uint64_t)round + 1, &first, NULL);
            if (self.child == 0) {
                _exit(code == FIRN_EFORKED ? 0 : 1);
            }
            assert_int_equal(code, FIRN_OK);
        }
        assert_true(self.child > 0);
        assert_int_equal(waitpid(self.child, &status, 0), self.child);
        assert_int_equal(status, 0);
        self.at = "nowhere";
        drawn(store, 99, first + 10);
        firn_store_close(store);
    }
}

/* An inherited WAL handle makes acknowledged commits vanish; here no handle is inherited. */
static int draw_once(void *store) {
    int64_t first;
    return draw(store, (uint64_t)getpid(), &first, NULL);
}

static void commits_survive_children(void **state) {
    firn_store *store = open_store("firn.db");
    int64_t next = 0;
    (void)state;
    for (int i = 0; i < 20; i++) {
        drawn(store, (uint64_t)i + 1, next);
        assert_int_equal(in_child(draw_once, store), 0);
        next += 20;
        assert_int_equal(mark_of("firn.db").high, next);
    }
    firn_store_close(store);
}

int main(int argc, char **argv) {
#define CHECK(sentence, run)                                                                       \
    { sentence, run, set_up, tear_down, NULL }
#define CHECK_FAST(sentence, run)                                                                  \
    { sentence, run, set_up_in_memory, tear_down, NULL }
    const struct CMUnitTest tests[] = {
        CHECK("file and folders are private whatever the umask", files_are_private),
        CHECK("a limit of file sizes is an error", a_limit_of_file_sizes_is_an_error),
        CHECK("a store belongs to the owner of its folder", the_folders_owner_owns_the_store),
        CHECK("a URL without a file or with an unknown key is refused", urls_are_checked),
        CHECK("a trigger on the store's tables is refused", triggers_are_refused),
        CHECK("a changed file's error has its own reason", reasons_are_true),
        CHECK("a relative path is of the folder at opening", a_relative_path_stays),
        CHECK_FAST("a place that forgets is refused unless unsafe", forgetful_places_are_refused),
        CHECK("a path that leads to no file is refused", not_a_place),
        CHECK("a read-only file or folder is told with its cure", read_only_places_are_reported),
        CHECK("a file that is no database is refused and left alone", no_database),
        CHECK("another program's database is refused", another_database),
        CHECK("a newer schema is refused by every verb", a_newer_schema),
        CHECK("a mark is an integer of the slots, whoever writes", marks_hold_integers_only),
        CHECK("a file that was cut off is refused, a damaged one survived", damaged_files),
        CHECK("a store that is gone or replaced is not made anew", gone_and_replaced),
        CHECK("a store that was taken out of WAL mode still works", out_of_wal_mode),
        CHECK_FAST("the log stays short", the_log_stays_short),
        CHECK("a locked store is waited for, and told when it stays so", locked_by_another),
        CHECK("somebody who reads for long stops no verb", read_by_another),
        CHECK("a full disk is told, and room on it is enough", a_full_disk),
        CHECK("so it is with blocks of 1 KiB, however little room is left",
              small_blocks_on_a_full_disk),
        CHECK_FAST("shared memory without space on the disk is an error",
                   memory_without_space_is_an_error),
        CHECK_FAST("control: the power cut takes what was not synced", the_power_cut_is_one),
        CHECK_FAST("every system call fails: no grant without a durable mark", every_call_fails),
        CHECK_FAST("every write finds the disk full: the same", every_write_finds_the_disk_full),
        CHECK_FAST("every allocation fails: the same", every_allocation_fails),
        CHECK_FAST("every call of the creation fails: whole or not there",
                   every_call_of_the_creation_fails),
        CHECK_FAST("killed at each failpoint, no acknowledged mark is lost", killed_at_each_point),
        CHECK("a child forked inside a verb is told, and exec cures it", forked_inside_a_verb),
        CHECK("a child forked inside a verb does not end it", a_child_does_not_end_the_verb),
        CHECK("acknowledged commits survive children that exit", commits_survive_children),
    };
    if (argc == 3 && strcmp(argv[1], "--draw") == 0) {
        return draw_after_exec(argv[2]);
    }
    if (!lite_load() || !faulty_memory() || !faulty_register()) {
        fprintf(stderr, "libsqlite3.so.0 cannot be loaded\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
