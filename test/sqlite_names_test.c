/* SPDX-License-Identifier: MIT */
/* An embedded store under two names, another store under its name, and a stopped holder of its
 * lock. */
#include "embedded.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#define ROUNDS 150

static void run(const char *format, ...) {
    char words[700], command[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    snprintf(command, sizeof command, "cd '%s' && %s", folder, words);
    assert_int_equal(system(command), 0);
}

/* Mounts need privileges that a test may lack; with them it must not be skipped. */
static void skip_without_mounts(int status) {
    if (status == SKIPPED) {
        assert_false(geteuid() == 0 && getenv("CI") != NULL && strcmp(getenv("CI"), "true") == 0);
        print_message("# mounts are not allowed here\n");
        skip();
    }
}

/* ---- two processes at once ------------------------------------------------------------------- */

/* Shared between the processes: the grants of each. */
typedef struct id_ledger {
    _Atomic int ready, joined;
    int refused[2];
    int64_t firsts[2][ROUNDS];
    int granted[2];
    char why[2][sizeof(((firn_error *)0)->text)];
} id_ledger;

static id_ledger *new_ledger(void) {
    id_ledger *ledger =
        mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(ledger, MAP_FAILED);
    return ledger;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* How many blocks of ten were granted twice. */
static int duplicates(const id_ledger *ledger) {
    int64_t all[2 * ROUNDS];
    int count = 0, twice = 0;
    for (int i = 0; i < 2; i++) {
        memcpy(all + count, ledger->firsts[i], (size_t)ledger->granted[i] * sizeof all[0]);
        count += ledger->granted[i];
    }
    qsort(all, (size_t)count, sizeof all[0], by_value);
    for (int i = 1; i < count; i++) {
        twice += all[i] == all[i - 1];
    }
    return twice;
}

static _Atomic bool drawing, ending;

static void draw_often(id_ledger *ledger, int who, const char *name) {
    firn_store *store;
    firn_error error = {0};
    atomic_fetch_add(&ledger->ready, 1);
    for (int i = 0; i < 30000 && atomic_load(&ledger->ready) < 2; i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    if (open_with(&store, name, patient_options(), &error) != FIRN_OK) {
        ledger->refused[who]++;
    }
    for (int i = 0; error.code == 0 && i < ROUNDS; i++) {
        int64_t first;
        if (draw(store, (uint64_t)(who * ROUNDS + i + 1), &first, &error) != FIRN_OK) {
            ledger->refused[who]++;
            break;
        }
        ledger->firsts[who][ledger->granted[who]++] = first;
        atomic_store(&drawing, true);
    }
    snprintf(ledger->why[who], sizeof ledger->why[who], "%s", error.text);
}

/* One process draws from firn.db, the other, after `prepare` in its own mount namespace, from
 * `name`. */
typedef struct pair {
    id_ledger *ledger;
    const char *name;
    bool (*prepare)(void);
} pair;

static int draw_behind_a_mount(void *argument) {
    pair *p = argument;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        !p->prepare()) {
        atomic_fetch_add(&p->ledger->ready, 1);
        return SKIPPED;
    }
    draw_often(p->ledger, 1, p->name);
    return 0;
}

static int draw_in_two(pair *p) {
    p->ledger = new_ledger();
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(HUNG_S);
        draw_often(p->ledger, 0, "firn.db");
        _exit(0);
    }
    int status = in_child(draw_behind_a_mount, p), other = -1;
    assert_int_equal(waitpid(child, &other, 0), child);
    assert_int_equal(other, 0);
    print_message("# %d and %d blocks; the other: %s\n", p->ledger->granted[0],
                  p->ledger->granted[1], p->ledger->why[1]);
    return status;
}

/* ---- a process whose locks are dropped ------------------------------------------------------- */

/* As a program does that copies the files of its own store: closing drops SQLite's locks. Not
 * before the first verb, which would find one of them open, and take it for inherited. */
static void *open_and_close(void *unused) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-count"};
    char path[700];
    (void)unused;
    while (!atomic_load(&drawing) && !atomic_load(&ending)) {
        sched_yield();
    }
    for (unsigned i = 0; !atomic_load(&ending); i++) {
        snprintf(path, sizeof path, "%s/firn.db%s", folder, suffixes[i % 4]);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            close(file);
        }
    }
    return NULL;
}

static int draw_without_locks(void *context) {
    id_ledger *ledger = context;
    pthread_t thread;
    int who = atomic_fetch_add(&ledger->joined, 1);
    atomic_store(&drawing, false);
    atomic_store(&ending, false);
    assert_int_equal(pthread_create(&thread, NULL, open_and_close, NULL), 0);
    draw_often(ledger, who, "firn.db");
    atomic_store(&ending, true);
    pthread_join(thread, NULL);
    return 0;
}

static void dropped_locks(void **state) {
    id_ledger *ledger = new_ledger();
    int other = -1;
    (void)state;
    firn_store_close(open_store("firn.db"));
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(HUNG_S);
        _exit(draw_without_locks(ledger));
    }
    assert_int_equal(in_child(draw_without_locks, ledger), 0);
    assert_int_equal(waitpid(child, &other, 0), child);
    assert_int_equal(other, 0);
    print_message("# %d and %d blocks, %d twice; %s%s\n", ledger->granted[0], ledger->granted[1],
                  duplicates(ledger), ledger->why[0], ledger->why[1]);
    assert_int_equal(duplicates(ledger), 0);
    assert_int_equal(ledger->granted[0], ROUNDS);
    assert_int_equal(ledger->granted[1], ROUNDS);
    munmap(ledger, sizeof *ledger);
}

static void injected_duplicates_are_found(void **state) {
    id_ledger *ledger = new_ledger();
    (void)state;
    for (int i = 0; i < 20; i++) {
        ledger->firsts[i % 2][i / 2] = i * 10;
    }
    ledger->granted[0] = ledger->granted[1] = 10;
    assert_int_equal(duplicates(ledger), 0);
    ledger->firsts[0][3] = ledger->firsts[1][7];
    assert_int_equal(duplicates(ledger), 1);
    munmap(ledger, sizeof *ledger);
}

static bool bind_file(void) {
    return mkdir(in_folder("other"), 0700) == 0 &&
           close(open(in_folder("other/firn.db"), O_CREAT | O_WRONLY, 0600)) == 0 &&
           mount(in_folder("firn.db"), in_folder("other/firn.db"), NULL, MS_BIND, NULL) == 0;
}

static bool bind_folder(void) {
    return mkdir(in_folder("other"), 0700) == 0 &&
           mount(folder, in_folder("other"), NULL, MS_BIND, NULL) == 0;
}

static bool bind_log(void) {
    return close(open(in_folder("log"), O_CREAT | O_WRONLY, 0600)) == 0 &&
           mount(in_folder("log"), in_folder("firn.db-wal"), NULL, MS_BIND, NULL) == 0;
}

/* The folder's file system counts as well as the file's. */
static void refused_without_unsafe(const char *path) {
    const firn_store_options options = safe_options();
    char url[700];
    firn_store *store;
    firn_error error = {0};
    snprintf(url, sizeof url, "sqlite:%s", path);
    if (firn_store_open(&store, url, &options, &error) != FIRN_ESTORE ||
        strstr(error.text, " is on ") == NULL) {
        fprintf(stderr, "# %s\n", error.text);
        _exit(1);
    }
}

/* A container's own file system, with the file of the host in it. */
static bool overlay_around_file(void) {
    char options[900];
    if (mkdir(in_folder("o"), 0700) != 0 ||
        mount("firn", in_folder("o"), "tmpfs", 0, "size=1m") != 0 ||
        mkdir(in_folder("o/lower"), 0700) != 0 || mkdir(in_folder("o/upper"), 0700) != 0 ||
        mkdir(in_folder("o/work"), 0700) != 0 || mkdir(in_folder("other"), 0700) != 0) {
        return false;
    }
    snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s", in_folder("o/lower"),
             in_folder("o/upper"), in_folder("o/work"));
    bool mounted =
        mount("overlay", in_folder("other"), "overlay", 0, options) == 0 &&
        close(open(in_folder("other/firn.db"), O_CREAT | O_WRONLY, 0600)) == 0 &&
        mount(in_folder("firn.db"), in_folder("other/firn.db"), NULL, MS_BIND, NULL) == 0;
    if (mounted) {
        refused_without_unsafe(in_folder("other/firn.db"));
    }
    return mounted;
}

/* A process that uses the other name is refused, so nothing is granted twice; the first
 * continues. */
static void refused_behind(bool (*prepare)(void), const char *name, const char *what) {
    pair p = {NULL, name, prepare};
    firn_store *store = open_store("firn.db"); /* keeps nothing open, but the file is there */
    drawn(store, 1, 0);
    int status = draw_in_two(&p);
    firn_store_close(store);
    skip_without_mounts(status);
    assert_int_equal(status, 0);
    assert_int_equal(p.ledger->granted[0], ROUNDS);
    assert_int_equal(duplicates(p.ledger), 0);
    assert_int_equal(p.ledger->granted[1], 0);
    assert_non_null(strstr(p.ledger->why[1], what));
    munmap(p.ledger, sizeof *p.ledger);
}

static void a_file_mounted_alone(void **state) {
    (void)state;
    refused_behind(bind_file, "other/firn.db", "mount the folder instead");
}

static void a_log_mounted_alone(void **state) {
    (void)state;
    refused_behind(bind_log, "firn.db", "firn.db-wal is mounted without its folder");
}

static void a_file_in_an_overlay(void **state) {
    (void)state;
    refused_behind(overlay_around_file, "other/firn.db", "mount the folder instead");
}

static void a_folder_mounted(void **state) {
    pair p = {NULL, "other/firn.db", bind_folder};
    (void)state;
    firn_store_close(open_store("firn.db"));
    int status = draw_in_two(&p);
    skip_without_mounts(status);
    assert_int_equal(status, 0);
    assert_int_equal(p.ledger->granted[0], ROUNDS);
    assert_int_equal(p.ledger->granted[1], ROUNDS);
    assert_int_equal(duplicates(p.ledger), 0);
    munmap(p.ledger, sizeof *p.ledger);
}

/* ---- links ----------------------------------------------------------------------------------- */

static void opening_by(const char *name, const char *what) {
    firn_store *store = NULL;
    firn_error error = {0};
    assert_int_equal(open_with(&store, name, safe_options(), &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, what);
}

static void a_hard_link(void **state) {
    firn_store *store = open_store("firn.db");
    firn_error error = {0};
    int64_t first = -1;
    (void)state;
    drawn(store, 1, 0);
    assert_int_equal(link(in_folder("firn.db"), in_folder("second.db")), 0); /* while in use */
    assert_int_equal(draw(store, 2, &first, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "has 2 names");
    opening_by("firn.db", "has 2 names");
    opening_by("second.db", "-samefile second.db");
    assert_int_equal(unlink(in_folder("second.db")), 0);
    drawn(store, 3, 10);
    assert_int_equal(link(in_folder("firn.db-wal"), in_folder("other.db-wal")), 0);
    assert_int_equal(draw(store, 4, &first, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "firn.db-wal has 2 names");
    assert_int_equal(unlink(in_folder("other.db-wal")), 0);
    drawn(store, 5, 20);
    firn_store_close(store);
}

/* SQLite follows the link, and names its log after what it finds. */
static void a_symbolic_link(void **state) {
    firn_store *store = open_store("real/firn.db?create=yes"), *other;
    (void)state;
    assert_int_equal(symlink("real/firn.db", in_folder("link.db")), 0);
    other = open_store("link.db");
    for (int i = 0; i < 10; i++) {
        drawn(i % 2 == 0 ? store : other, (uint64_t)i + 1, 10 * i);
    }
    assert_int_equal(access(in_folder("link.db-wal"), F_OK), -1);
    assert_int_equal(access(in_folder("link.db-count"), F_OK), -1);
    firn_store_close(store);
    firn_store_close(other);
}

/* ---- another store under the name ------------------------------------------------------------ */

/* File systems give the number of a removed file to the next one. Here the content of another store
 * comes into the same file, which is the same thing without chance. */
static void another_store_in_the_same_file(void **state) {
    firn_store *store = open_store("firn.db"), *other = open_store("other.db");
    firn_error error = {0};
    firn_mark mark = {0, 0};
    const firn_mark mine = {10, 1};
    int64_t first = -1;
    (void)state;
    drawn(store, 1, 0);
    drawn(other, 1, 0);
    firn_store_close(other);
    run("rm -f firn.db-wal firn.db-shm && cp other.db firn.db");
    assert_int_equal(draw(store, 2, &first, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "was replaced");
    assert_int_equal(firn_store_give_back(store, "snow", "1", &mine, 5, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "was replaced");
    assert_int_equal(firn_store_list(store, NULL, keep_mark, &mark, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "was replaced");
    firn_store_close(store);
    drawn_anew("firn.db", 3, 10);
}

static void removed_and_made_again(void **state) {
    struct stat before, after;
    int same = 0;
    (void)state;
    for (int i = 0; i < 20; i++) {
        firn_store *store = open_store("firn.db");
        firn_error error = {0};
        int64_t first = -1;
        drawn(store, 1, 0);
        assert_int_equal(stat(in_folder("firn.db"), &before), 0);
        run("rm -f firn.db*");
        drawn_anew("firn.db", 2, 0);
        assert_int_equal(stat(in_folder("firn.db"), &after), 0);
        same += before.st_ino == after.st_ino;
        assert_int_equal(draw(store, 3, &first, &error), FIRN_ESTORE);
        says(&error, FIRN_ESTORE, "was replaced");
        firn_store_close(store);
        run("rm -f firn.db*");
    }
    print_message("# the new file had the number of the old one %d times of 20\n", same);
}

static void refused_anew(const char *name, const char *what) {
    firn_store *store = NULL;
    firn_error error = {0};
    assert_int_equal(open_with(&store, name, safe_options(), &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, what);
}

/* Its processes may hold windows, which a new store does not know. */
static void removed_and_made_again_beside_its_count(void **state) {
    firn_store *store = open_store("firn.db?create=yes");
    const struct timespec old[2] = {{time(NULL) - 3600, 0}, {time(NULL) - 3600, 0}};
    (void)state;
    drawn(store, 1, 0);
    run("rm -f firn.db firn.db-wal firn.db-shm");
    refused_anew("firn.db?create=yes", "is missing, but was used");
    refused_anew("firn.db?create=yes", "bring it back, or end them and wait");
    assert_int_not_equal(access(in_folder("firn.db"), F_OK), 0);
    assert_int_equal(utimensat(AT_FDCWD, in_folder("firn.db-count"), old, 0), 0);
    drawn_anew("firn.db?create=yes", 2, 0);
    firn_store_close(store);
}

/* Files that killed creators left are removed, and files of a creator at work are not. */
static void left_by_a_creator(void **state) {
    static const char *const names[] = {"firn.db-new.aB3dE6", "firn.db-new.aB3dE6-journal",
                                        "firn.db-new.zzzzzz", "firn.db.backup",
                                        "other.db-new.aB3dE6"};
    const struct timespec old[2] = {{time(NULL) - 7200, 0}, {time(NULL) - 7200, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        write_file(in_folder(names[i]), "", 0);
        if (i != 2) {
            assert_int_equal(utimensat(AT_FDCWD, in_folder(names[i]), old, 0), 0);
        }
    }
    drawn_anew("firn.db?create=yes", 1, 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(access(in_folder(names[i]), F_OK) == 0, i >= 2);
    }
}

static void put_another_in_place(void) {
    run("mkdir late && mv firn.db* late && cp other/firn.db* .");
}

/* SQLite finds the log by its name, a moment after the database. */
static void replaced_before_the_log_is_opened(void **state) {
    firn_store_options options = safe_options();
    firn_error error = {0};
    firn_store *store = NULL, *other;
    int64_t first = -1;
    (void)state;
    assert_int_equal(mkdir(in_folder("other"), 0700), 0);
    other = open_store("other/firn.db");
    drawn(other, 1, 0);
    options.vfs = FAULTY_NAME;
    assert_int_equal(open_with(&store, "firn.db", options, &error), FIRN_OK);
    for (int i = 0; i < 5; i++) {
        drawn(store, (uint64_t)i + 1, 10 * i);
    }
    faulty_opens_log = put_another_in_place;
    assert_int_equal(draw(store, 9, &first, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "was replaced");
    assert_null(faulty_opens_log);
    run("cmp firn.db-wal other/firn.db-wal"); /* nothing was written into the other's log */
    firn_store_close(store);
    firn_store_close(other);
    images_forget();
}

static void a_log_without_its_store(void **state) {
    firn_store *store = open_store("firn.db");
    (void)state;
    drawn(store, 1, 0);
    run("mkdir was && cp firn.db-wal was");
    firn_store_close(store);
    run("rm firn.db* && cp was/firn.db-wal .");
    opening_by("firn.db", "its log firn.db-wal is there");
    assert_int_equal(access(in_folder("firn.db"), F_OK), -1);
    run("rm firn.db-wal");
    drawn_anew("firn.db", 1, 0);
}

/* ---- a new store ----------------------------------------------------------------------------- */

static void keep_text(void *self, const char *text) {
    snprintf(self, 600, "%s", text);
}

static void a_new_store_is_reported(void **state) {
    char text[600] = "", expected[600], url[700];
    firn_store_options options = safe_options();
    firn_store *store;
    firn_error error = {0};
    (void)state;
    options.notice = keep_text;
    options.notice_self = text;
    assert_int_equal(open_with(&store, "a/firn.db", options, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "does not exist: correct the path, make the folder");
    assert_int_equal(access(in_folder("a"), F_OK), -1);
    assert_int_equal(open_with(&store, "a/firn.db?create=yes", options, &error), FIRN_OK);
    snprintf(expected, sizeof expected, "created a new store at %s/a/firn.db", folder);
    assert_string_equal(text, expected);
    firn_store_close(store);
    text[0] = '\0';
    assert_int_equal(open_with(&store, "a/firn.db", options, &error), FIRN_OK);
    assert_string_equal(text, "");
    firn_store_close(store);
    snprintf(url, sizeof url, "sqlite:%s/b/firn.db?unsafe=1&create=no", folder);
    assert_int_equal(firn_store_open(&store, url, &options, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "there is no store at");
    assert_int_equal(access(in_folder("b"), F_OK), -1);
    options.must_exist = true;
    assert_int_equal(open_with(&store, "b/firn.db", options, &error), FIRN_ESTORE);
    assert_int_equal(open_with(&store, "firn.db", options, &error), FIRN_ESTORE);
    says(&error, FIRN_ESTORE, "create=yes");
    assert_int_equal(open_with(&store, "a/firn.db", options, &error), FIRN_OK);
    firn_store_close(store);
    assert_int_equal(open_with(&store, "b/firn.db?create=yes", options, &error), FIRN_OK);
    firn_store_close(store);
    assert_non_null(strstr(text, "b/firn.db"));
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void stop_here(void *self, const char *name) {
    (void)self;
    if (strcmp(name, "reserve.written") == 0) {
        raise(SIGSTOP);
    }
}

/* A process that is stopped inside a verb, as by `docker pause`. */
static pid_t stopped_holder(void) {
    fflush(NULL);
    pid_t child = fork();
    int status = 0;
    assert_true(child >= 0);
    if (child == 0) {
        firn_store_options options = safe_options();
        firn_store *store;
        int64_t first;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the child must not outlive a test that fails */
        options.failpoint = stop_here;
        _exit(open_with(&store, "firn.db", options, NULL) != FIRN_OK ||
              draw(store, 50, &first, NULL) != FIRN_OK || first != 10);
    }
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    return child;
}

static void go_on(pid_t child) {
    int status = -1;
    assert_int_equal(kill(child, SIGCONT), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void held_by_a_stopped_process(void **state) {
    firn_store *store = open_store("firn.db?busy=3s");
    firn_error error = {0};
    char expected[100];
    int64_t first = -1;
    (void)state;
    drawn(store, 1, 0);
    pid_t child = stopped_holder();
    int64_t begun = now_ms();
    assert_int_equal(draw(store, 2, &first, &error), FIRN_ESTORE);
    assert_true(now_ms() - begun >= 2900);
    snprintf(expected, sizeof expected, "is locked by process %d (sqlite_names_te)", (int)child);
    says(&error, FIRN_ESTORE, expected);
    says(&error, FIRN_ESTORE, "which is stopped");
    says(&error, FIRN_ESTORE, "kill -CONT");
    begun = now_ms();
    for (int i = 0; i < 10; i++) { /* the others of the same call do not wait once more */
        assert_int_equal(draw(store, 3, &first, &error), FIRN_ESTORE);
    }
    assert_true(now_ms() - begun < 10 * 2900);
    go_on(child);
    drawn(store, 4, 20);
    firn_store_close(store);
}

/* A program that is not firn and holds SQLite's own lock; it has no turn. */
static pid_t foreign_holder(void) {
    int ready[2];
    char byte = 0;
    fflush(NULL);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sqlite3 *db;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (lite.open_v2(in_folder("firn.db"), &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
            lite.exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL) == SQLITE_OK &&
            write(ready[1], "x", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static int64_t waited_ms(const firn_error *error) {
    const char *position = strstr(error->text, "(waited ");
    assert_non_null(position);
    return strtoll(position + strlen("(waited "), NULL, 10);
}

/* The process that waits holds the lock of the count itself, and is not named. */
static void held_by_another_program(void **state) {
    firn_store *store = open_store("firn.db?busy=1s");
    firn_error error = {0};
    char expected[100];
    int64_t first = -1;
    (void)state;
    drawn(store, 1, 0);
    pid_t child = foreign_holder();
    snprintf(expected, sizeof expected, "is locked by process %d (sqlite_names_te)", (int)child);
    for (int i = 0; i < 3; i++) { /* the second does not wait again, but the first has waited */
        assert_int_equal(draw(store, 2, &first, &error), FIRN_ESTORE);
        says(&error, FIRN_ESTORE, expected);
        assert_true(waited_ms(&error) >= 900);
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    drawn(store, 4, 10);
    firn_store_close(store);
}

/* A child has a copy of each descriptor, also if another thread of a verb's process forked it. */
static void leave_a_child(void *self, const char *name) {
    if (strcmp(name, "reserve.written") == 0) {
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, 0);
            alarm(HUNG_S);
            pause();
            _exit(0);
        }
        *(_Atomic pid_t *)self = child;
        raise(SIGKILL);
    }
}

static int die_with_a_child(void *context) {
    firn_store_options options = safe_options();
    firn_store *store;
    int64_t first;
    options.failpoint = leave_a_child;
    options.failpoint_self = context;
    return open_with(&store, "firn.db", options, NULL) != FIRN_OK ||
           draw(store, 50, &first, NULL) != FIRN_OK;
}

static void a_child_does_not_keep_the_lock(void **state) {
    _Atomic pid_t *child =
        mmap(NULL, sizeof *child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_ptr_not_equal(child, MAP_FAILED);
    drawn_anew("firn.db", 1, 0);
    assert_int_equal(in_child(die_with_a_child, child), 1000 + SIGKILL);
    assert_true(*child > 0);
    drawn_anew("firn.db", 2, 10);
    assert_int_equal(kill(*child, SIGKILL), 0); /* the child is still there */
    munmap(child, sizeof *child);
}

static bool has_open(pid_t who, const char *path) {
    char folder_of[40], target[700];
    bool found = false;
    snprintf(folder_of, sizeof folder_of, "/proc/%d/fd", (int)who);
    DIR *all = opendir(folder_of);
    for (struct dirent *item; all != NULL && !found && (item = readdir(all)) != NULL;) {
        ssize_t length = readlinkat(dirfd(all), item->d_name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        found = strcmp(target, path) == 0;
    }
    if (all != NULL) {
        closedir(all);
    }
    return found;
}

/* A process that waits for the lock of a file that has gone takes the lock of the new file. */
static void a_count_removed_under_a_verb(void **state) {
    int status = -1;
    (void)state;
    drawn_anew("firn.db", 1, 0);
    pid_t holder = stopped_holder(), child;
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int64_t first;
        alarm(HUNG_S);
        firn_store *store = open_store("firn.db?busy=60s");
        _exit(draw(store, 2, &first, NULL) != FIRN_OK || first != 20);
    }
    for (int i = 0; i < 30000 && !has_open(child, in_folder("firn.db-count")); i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    assert_int_equal(unlink(in_folder("firn.db-count")), 0);
    go_on(holder);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(access(in_folder("firn.db-count"), F_OK), 0);
}

/* An open and a call together wait for max_wait, for all their operations on the store. */
static void opening_is_bounded(void **state) {
    char keys[700];
    firn_gen *gen = NULL;
    firn_error error = {0};
    (void)state;
    drawn_anew("firn.db", 1, 0);
    pid_t child = stopped_holder();
    snprintf(keys, sizeof keys, "unsafe=1 max_wait=1s store=sqlite:%s/firn.db", folder);
    const firn_store_options options = safe_options();
    const firn_config config = {
        .size = sizeof config, .scheme = "snowflake", .keys = keys, .store_options = &options};
    int64_t begun = now_ms();
    assert_int_equal(firn_open_with(&gen, &config, &error), FIRN_ESTORE);
    int64_t took = now_ms() - begun;
    print_message("# %lld ms: %s\n", (long long)took, error.text);
    assert_true(took >= 900 && took < 5000);
    says(&error, FIRN_ESTORE, "which is stopped");
    go_on(child);
    assert_int_equal(firn_open_with(&gen, &config, &error), FIRN_OK);
    firn_close(gen, NULL);
}

int main(void) {
#define CHECK(sentence, run)                                                                       \
    { sentence, run, set_up, tear_down, NULL }
#define CHECK_FAST(sentence, run)                                                                  \
    { sentence, run, set_up_in_memory, tear_down, NULL }
    const struct CMUnitTest tests[] = {
        CHECK("control: a planted duplicate is found", injected_duplicates_are_found),
        CHECK("a file that is mounted without its folder is refused", a_file_mounted_alone),
        CHECK("a log that is mounted alone is refused", a_log_mounted_alone),
        CHECK("a file that is mounted into an overlay is refused", a_file_in_an_overlay),
        CHECK("a folder that is mounted twice holds one store", a_folder_mounted),
        CHECK("two processes that close files of the store do not share slots", dropped_locks),
        CHECK("a hard link is refused by either name, also while in use", a_hard_link),
        CHECK("a symbolic link leads to the same store", a_symbolic_link),
        CHECK_FAST("another store in the same file is noticed", another_store_in_the_same_file),
        CHECK("a store that was removed and made again is noticed", removed_and_made_again),
        CHECK_FAST("a new store beside the count of one that was just used is refused",
                   removed_and_made_again_beside_its_count),
        CHECK_FAST("what killed creators left is removed", left_by_a_creator),
        CHECK_FAST("a store that is replaced while a verb begins is noticed",
                   replaced_before_the_log_is_opened),
        CHECK_FAST("a log without its store is refused", a_log_without_its_store),
        CHECK_FAST("a new store is told, and not made against the will", a_new_store_is_reported),
        CHECK_FAST("a stopped process that holds the lock is named", held_by_a_stopped_process),
        CHECK_FAST("another program that holds a lock is named, not the process that waits",
                   held_by_another_program),
        CHECK_FAST("a child of a killed process does not keep its lock",
                   a_child_does_not_keep_the_lock),
        CHECK_FAST("a count that is removed during a verb", a_count_removed_under_a_verb),
        CHECK_FAST("opening waits for max_wait in all", opening_is_bounded),
    };
    if (!lite_load() || !faulty_register()) {
        fprintf(stderr, "libsqlite3.so.0 cannot be loaded\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
