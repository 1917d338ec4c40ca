/* SPDX-License-Identifier: MIT */
/* Single steps of the driver of SQLite, for scripted_sqlite_test.c: what the files of a store have
 * after a call, without faults that chance chooses. */
#ifndef FIRN_TEST_SCRIPTED_SQLITE_STEPS_H
#define FIRN_TEST_SCRIPTED_SQLITE_STEPS_H

/* The descriptor that the next open() gives: the same, if nothing stays open. */
static int next_descriptor(void) {
    const int next = dup(0);
    close(next);
    return next;
}

static void put_file(const char *name, const char *text, size_t length) {
    const int file = open(in_place(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(file, text, length), length);
    close(file);
}

/* ---- the count ------------------------------------------------------------------------------- */

static const char count_text[] = "firn count 1 fffffffffffffffb 00000007 00000003 ad76767a\n";

static sqlite_store *count_store(void) {
    static sqlite_store store;
    store = (sqlite_store){.vfs = NULL};
    snprintf(store.path, sizeof store.path, "%s", in_place("c.db"));
    unlink(in_place("c.db-count"));
    put_file("c.db", "", 0);
    assert_int_equal(chmod(store.path, 0640), 0);
    return &store;
}

static bool count_is(const sqlite_store *store, int64_t identity, uint32_t count, uint32_t main) {
    const int next = next_descriptor();
    sqlite_tally now;
    const bool read = sqlite_tally_read(store, &now);
    assert_int_equal(next_descriptor(), next);
    return read && now.identity == identity && now.count == count && now.main == main;
}

static bool no_count(const sqlite_store *store) {
    sqlite_tally now;
    return !sqlite_tally_read(store, &now);
}

static void put_count(const sqlite_store *store, int64_t identity, uint32_t count, uint32_t main) {
    const int next = next_descriptor();
    sqlite_tally_write(store, &(sqlite_tally){identity, count, main});
    assert_int_equal(next_descriptor(), next);
}

static void records_of_a_count(void **state) {
    const sqlite_store *store = count_store();
    char text[sizeof count_text], name[] = "c.db-count";
    struct stat status;
    (void)state;
    assert_true(no_count(store));
    assert_false(sqlite_tally_look(store, &status));
    assert_int_equal(sqlite_tally_open(store), -1);
    assert_int_equal(errno, ENOENT);
    put_count(store, -5, 7, 3);
    assert_true(count_is(store, -5, 7, 3));
    assert_true(sqlite_tally_look(store, &status) && status.st_size == sizeof count_text - 1);
    assert_int_equal(status.st_mode & 0777, 0640);
    copy_file(name, "copy");
    const int file = open(in_place("copy"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(file, text, sizeof text), sizeof text - 1);
    close(file);
    assert_memory_equal(text, count_text, sizeof count_text - 1);
    for (size_t i = 0; i < sizeof count_text - 1; i++) { /* each byte counts */
        memcpy(text, count_text, sizeof text);
        text[i] ^= 1;
        put_file(name, text, sizeof text - 1);
        assert_true(no_count(store));
        put_file(name, count_text, i);
        assert_true(no_count(store));
    }
    put_file(name, count_text, sizeof count_text); /* more than a line */
    assert_true(count_is(store, -5, 7, 3));
}

static void records_of_a_count_do_not_fall(void **state) {
    static const struct {
        int64_t identity;
        uint32_t count, main;
        bool taken; /* over 7, 3 of the identity -5 */
    } cases[] = {
        {-5, 7, 3, true},  {-5, 6, 9, false},          {-5, 7, 2, false},
        {-5, 7, 4, true},  {-5, 8, 0, true},           {-6, 1, 1, true},
        {-5, 0, 0, false}, {-5, 0x80000006U, 0, true}, {-5, 0x80000008U, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sqlite_store *store = count_store();
        put_count(store, -5, 7, 3);
        put_count(store, cases[i].identity, cases[i].count, cases[i].main);
        assert_true(cases[i].taken
                        ? count_is(store, cases[i].identity, cases[i].count, cases[i].main)
                        : count_is(store, -5, 7, 3));
    }
    assert_true(sqlite_before(1, 2) && !sqlite_before(2, 2) && !sqlite_before(3, 2));
    assert_true(sqlite_before(UINT32_MAX, 0) && !sqlite_before(0, UINT32_MAX));
}

static void records_of_a_count_are_in_one_file(void **state) {
    const sqlite_store *store = count_store();
    firn_error error;
    struct stat status;
    (void)state;
    put_count(store, -5, 7, 3);
    assert_int_equal(link(in_place("c.db-count"), in_place("link")), 0);
    assert_int_equal(chmod(in_place("link"), 0600), 0);
    put_count(store, -5, 8, 3); /* a count with two names is refused, and stays unchanged */
    assert_true(sqlite_tally_look(store, &status) && (status.st_mode & 0777) == 0600);
    unlink(in_place("link"));
    assert_true(count_is(store, -5, 7, 3));
    assert_int_equal(rename(in_place("c.db-count"), in_place("link")), 0);
    assert_int_equal(symlink("link", in_place("c.db-count")), 0);
    put_count(store, -5, 8, 3);
    assert_false(count_is(store, -5, 7, 3));
    assert_int_equal(rename(in_place("link"), in_place("c.db-count")), 0);
    assert_true(count_is(store, -5, 7, 3));
    unlink(in_place("c.db-count"));
    assert_int_equal(mkfifo(in_place("c.db-count"), 0600), 0);
    put_count(store, -5, 8, 3); /* nobody reads it */
    assert_false(count_is(store, -5, 8, 3));
    unlink(in_place("c.db-count"));
    /* a new store's is empty, and everybody who may use the store may use the count */
    const int next = next_descriptor();
    sqlite_tally_make(store);
    assert_int_equal(next_descriptor(), next);
    assert_true(sqlite_tally_look(store, &status) && status.st_size == 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_int_equal(sqlite_tally_check(store, &error), FIRN_OK);
    put_count(store, 1, 2, 3);
    sqlite_tally_make(store);
    assert_true(count_is(store, 1, 2, 3));
    assert_int_equal(chmod(store->path, 0605), 0);
    assert_true(geteuid() != 0 || chown(store->path, 12, 34) == 0);
    put_count(store, 1, 3, 3);
    assert_true(sqlite_tally_look(store, &status) && (status.st_mode & 0777) == 0604);
    assert_true(geteuid() != 0 || (status.st_uid == 12 && status.st_gid == 34));
    errno = EACCES; /* of an earlier call */
    assert_int_equal(sqlite_tally_check(store, &error), FIRN_OK);
    unlink(in_place("c.db-count"));
    assert_int_equal(sqlite_tally_check(store, &error), FIRN_OK);
    assert_int_equal(sqlite_no_tally(store, ELOOP, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "its count c.db-count cannot be opened (Too many"));
    unlink(store->path); /* no mode to take over */
    put_count(store, 1, 2, 3);
    assert_true(sqlite_tally_look(store, &status) && (status.st_mode & 0777) == 0600);
}

static void own_count(const char *name, uid_t user, gid_t group, mode_t mode) {
    assert_int_equal(chown(in_place(name), user, group), 0);
    assert_int_equal(chmod(in_place(name), mode), 0);
}

static void records_of_a_count_of_users(void **state) {
    const sqlite_store *store = count_store();
    struct stat status;
    firn_error error;
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    put_count(store, -5, 7, 3);
    own_count("c.db", 0, 34, 0640); /* another group, then another owner */
    put_count(store, -5, 8, 3);
    assert_true(sqlite_tally_look(store, &status) && status.st_uid == 0 && status.st_gid == 34);
    own_count("c.db", 12, 34, 0640);
    put_count(store, -5, 9, 3);
    assert_true(sqlite_tally_look(store, &status) && status.st_uid == 12 && status.st_gid == 34);
    own_count("c.db", 13, 34, 0660);
    own_count("c.db-count", 12, 35, 0600);
    assert_int_equal(chmod(place, 0777), 0);
    assert_true(setegid(34) == 0 && seteuid(12) == 0);
    put_count(store, -5, 10, 3); /* its owner gives it the group and the mode of the store */
    assert_true(count_is(store, -5, 10, 3));
    assert_true(seteuid(0) == 0 && sqlite_tally_look(store, &status));
    assert_true(status.st_uid == 12 && status.st_gid == 34 && (status.st_mode & 0777) == 0660);
    own_count("c.db-count", 13, 34, 0640);
    assert_int_equal(seteuid(12), 0);
    put_count(store, -5, 11, 3); /* this user may only read it */
    assert_true(count_is(store, -5, 10, 3));
    const int file = sqlite_tally_open(store);
    assert_int_equal(fcntl(file, F_GETFL) & O_ACCMODE, O_RDONLY);
    close(file);
    assert_int_equal(sqlite_tally_check(store, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "may not read and write its count c.db-count: give"));
    assert_true(seteuid(0) == 0 && setegid(0) == 0 && chmod(place, 0700) == 0);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Sessions of one store take turns as the sessions of several processes do. */
static sqlite_session session_at(sqlite_store *store, int64_t wait_ms) {
    return (sqlite_session){.store = store, .deadline_ms = clock_ms + wait_ms};
}

static sqlite_store *turn_store(void) {
    sqlite_store *store = count_store();
    assert_int_equal(sqlite_guard(NULL), FIRN_OK);
    assert_int_equal(sqlite_enter(store, NULL), FIRN_OK);
    sqlite_tally_make(store);
    faults = false;
    return store;
}

static void turn_ends(sqlite_session *session) {
    sqlite_end_turn(session);
    assert_true(session->turn == 0 && session->place == 0);
}

static void records_are_written_in_turn(void **state) {
    const int next = next_descriptor();
    sqlite_store *store = turn_store();
    sqlite_session a = session_at(store, 50), b = session_at(store, 50), c = session_at(store, 50);
    (void)state;
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK); /* again */
    const int64_t begin_ms = clock_ms;
    assert_int_equal(sqlite_take_turn(&b), SQLITE_BUSY);
    assert_int_equal(clock_ms, begin_ms + 50);
    assert_true(a.place == 0 && b.place == 1);
    assert_int_equal(sqlite_take_turn(&c), SQLITE_BUSY);
    assert_int_equal(c.place, 2);
    turn_ends(&a);
    c.deadline_ms = clock_ms + 50; /* the second of the queue waits for the first */
    assert_int_equal(sqlite_take_turn(&c), SQLITE_BUSY);
    a.deadline_ms = clock_ms + 50; /* as does who comes later, although the lock is free */
    assert_int_equal(sqlite_take_turn(&a), SQLITE_BUSY);
    assert_int_equal(a.place, 3);
    assert_int_equal(sqlite_take_turn(&b), SQLITE_OK);
    assert_int_equal(b.place, 0);
    turn_ends(&b);
    turn_ends(&c);
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    turn_ends(&a);
    turn_ends(&a);
    sqlite_leave();
    assert_int_equal(next_descriptor(), next);
}

/* A program without a standard input gets the descriptor 0. */
static void records_of_a_count_at_descriptor_0(void **state) {
    const int input = fcntl(0, F_DUPFD_CLOEXEC, 3);
    struct stat status;
    sqlite_store *store = turn_store();
    sqlite_session a = session_at(store, 50);
    (void)state;
    unlink(in_place("c.db-count"));
    close(0);
    for (int i = 0; i < 2; i++) { /* a new count, then an old one */
        put_count(store, -5, 7, 3);
        assert_true(count_is(store, -5, 7, 3));
    }
    unlink(in_place("c.db-count"));
    sqlite_tally_make(store);
    assert_true(sqlite_tally_look(store, &status) && (status.st_mode & 0777) == 0640);
    assert_int_equal(sqlite_tally_open(store), 0);
    close(0);
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    assert_int_equal(a.turn, 1);
    turn_ends(&a);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    close_in_child();
    assert_int_equal(fcntl(0, F_GETFD), -1);
    sqlite_leave();
    assert_int_equal(dup2(input, 0), 0);
    close(input);
}

/* A process that does not run keeps its place, and is passed over after 200 ms. */
static void records_do_not_wait_for_a_stopped_process(void **state) {
    sqlite_store *store = turn_store();
    sqlite_store other = *store; /* the stopped one's own handle */
    sqlite_session a = session_at(store, 1), stopped = session_at(&other, 1),
                   b = session_at(store, 500), c = session_at(store, 500);
    (void)state;
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    assert_int_equal(sqlite_take_turn(&stopped), SQLITE_BUSY);
    assert_int_equal(stopped.place, 1);
    turn_ends(&a);
    int64_t begin_ms = clock_ms;
    assert_int_equal(sqlite_take_turn(&b), SQLITE_OK);
    assert_int_equal(clock_ms - begin_ms, 200);
    assert_int_equal(store->passed, 1);
    turn_ends(&b);
    begin_ms = clock_ms; /* the store knows the stopped process, which has 5 ms to continue */
    assert_int_equal(sqlite_take_turn(&c), SQLITE_OK);
    assert_int_equal(clock_ms - begin_ms, 5);
    turn_ends(&c);
    stopped.deadline_ms = clock_ms + 50;
    assert_int_equal(sqlite_take_turn(&stopped), SQLITE_OK);
    turn_ends(&stopped);
    b = session_at(store, 50); /* nobody is in the queue */
    begin_ms = clock_ms;
    assert_int_equal(sqlite_take_turn(&b), SQLITE_OK);
    assert_int_equal(clock_ms, begin_ms);
    a = session_at(store, 1);
    assert_int_equal(sqlite_take_turn(&a), SQLITE_BUSY); /* and forgets it */
    assert_int_equal(store->passed, 0);
    turn_ends(&a);
    turn_ends(&b);
    sqlite_leave();
}

static void records_need_the_lock_of_the_named_file(void **state) {
    sqlite_store *store = turn_store();
    sqlite_session a = session_at(store, 50), b = session_at(store, 50);
    struct flock ahead;
    firn_error error;
    (void)state;
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    unlink(in_place("c.db-count"));
    assert_int_equal(sqlite_take_turn(&b), SQLITE_OK); /* no count: SQLite's locks alone */
    assert_int_equal(b.turn, 0);
    sqlite_tally_make(store);
    assert_int_equal(sqlite_take_turn(&b), SQLITE_OK); /* the new one */
    assert_int_not_equal(b.turn, 0);
    assert_int_equal(sqlite_take_turn(&a), SQLITE_BUSY); /* so its own does not count any more */
    assert_false(is_current(&a, 0));
    turn_ends(&a);
    turn_ends(&b);
    unlink(in_place("c.db-count"));
    assert_int_equal(symlink("c.db", in_place("c.db-count")), 0);
    assert_int_equal(sqlite_take_turn(&a), SQLITE_CANTOPEN);
    a.error = &error;
    assert_int_equal(take_turn(&a, false), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "its count c.db-count cannot be opened (Too many"));
    unlink(in_place("c.db-count"));
    /* a lock of another program that ends nowhere */
    sqlite_tally_make(store);
    const int file = sqlite_tally_open(store);
    sqlite_session other = {.store = store, .turn = file + 1};
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    assert_int_equal(fcntl(file, F_OFD_SETLK, &whole), 0);
    assert_false(find_lock(&other, 0, 0, &ahead)); /* its own */
    a = session_at(store, 50);
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    assert_true(a.place == 0 && find_lock(&a, 7, 1, &ahead));
    turn_ends(&a);
    close(file);
    sqlite_leave();
}

/* Locks of other programs on the count, and a place that somebody takes in the middle. */
static void records_have_a_place_in_the_queue(void **state) {
    static const struct {
        int64_t from, length, place; /* 0: to the end; no place */
    } cases[] = {
        {0, 1, 2}, {0, 7, 8}, {1, 1, 3}, {3, 0, 0}, {INT64_MAX / 2 + 1, 5, 0},
    };
    sqlite_store *store = turn_store();
    struct flock ahead;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int file = sqlite_tally_open(store);
        sqlite_session a = session_at(store, 0);
        struct flock other = {.l_type = F_WRLCK,
                              .l_whence = SEEK_SET,
                              .l_start = cases[i].from,
                              .l_len = cases[i].length};
        assert_int_equal(fcntl(file, F_OFD_SETLK, &other), 0);
        a.turn = sqlite_tally_open(store) + 1;
        queue_up(&a);
        if (a.place != cases[i].place) {
            fail_msg("%zu: place %" PRId64, i, a.place);
        }
        if (a.place != 0) {
            assert_true(a.waited_for == -1 && a.queued_ms == clock_ms);
            sqlite_session b = {.store = store, .turn = file + 1};
            assert_true(find_lock(&b, a.place - 1, 1, &ahead));
            leave_queue(&a);
            assert_false(find_lock(&b, 0, 0, &ahead)); /* only its own lock is left */
        }
        close(a.turn - 1);
        close(file);
    }
    /* a count that this user may only read has no queue */
    sqlite_session reader = session_at(store, 0);
    reader.turn = open(in_place("c.db-count"), O_RDONLY | O_CLOEXEC) + 1;
    queue_up(&reader);
    assert_true(reader.place == 0 && errno == EBADF);
    close(reader.turn - 1);
    sqlite_leave();
}

/* A file system without flock(2): here a descriptor that is closed. */
static void records_need_a_lock_that_works(void **state) {
    sqlite_store *store = turn_store();
    sqlite_session a = session_at(store, 50);
    (void)state;
    a.turn = 100001;
    assert_int_equal(sqlite_take_turn(&a), SQLITE_IOERR_LOCK);
    store->unsafe = true;
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    sqlite_leave();
}

/* A child that has the descriptor, too, keeps no lock that its parent gave up. */
static void records_are_unlocked_for_a_child(void **state) {
    sqlite_store *store = turn_store();
    sqlite_session a = session_at(store, 50), b = session_at(store, 50);
    (void)state;
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    assert_int_equal(a.place, 0); /* nobody else was there */
    assert_int_equal(sqlite_take_turn(&b), SQLITE_BUSY);
    assert_int_equal(b.place, 1);
    const int copies_of[] = {dup(a.turn - 1), dup(b.turn - 1)};
    turn_ends(&a);
    turn_ends(&b);
    a.deadline_ms = b.deadline_ms = clock_ms + 50;
    const int64_t begin_ms = clock_ms;
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    assert_int_equal(clock_ms, begin_ms);
    turn_ends(&a);
    close(copies_of[0]);
    close(copies_of[1]);
    sqlite_leave();
}

static void records_are_not_locked_by_a_child(void **state) {
    sqlite_store *store = turn_store();
    sqlite_session a = session_at(store, 50);
    (void)state;
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    const int file = a.turn - 1, other = dup(0);
    note(other);
    forget_descriptor(other);
    note(100000); /* which cannot be closed */
    errno = 5;
    close_in_child();
    assert_int_equal(errno, 5);
    assert_int_equal(fcntl(file, F_GETFD), -1);
    assert_int_not_equal(fcntl(other, F_GETFD), -1);
    close(other);
    for (int i = 0; i < DESCRIPTORS + 1; i++) { /* as many as there is room for */
        note(100000 + i);
    }
    int room = 0;
    for (int i = 0; i < DESCRIPTORS; i++) {
        room += noted[i] == 100000 + i + 1;
    }
    assert_int_equal(room, DESCRIPTORS);
    for (int i = 0; i < DESCRIPTORS + 1; i++) {
        forget_descriptor(100000 + i);
    }
    for (int i = 0; i < DESCRIPTORS; i++) {
        assert_int_equal(noted[i], 0);
    }
    sqlite_leave();
}

/* ---- verbs ----------------------------------------------------------------------------------- */

/* The first cell of the answer, as another program reads it. "": no row. */
static const char *cell_of(const char *sql) {
    static char texts[4][200];
    static unsigned next;
    char *text = texts[next++ % 4];
    sqlite3_stmt *statement;
    text[0] = '\0';
    plain = true;
    sqlite3 *db = open_plain("firn.db");
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW) {
        snprintf(text, sizeof texts[0], "%s", (const char *)sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    plain = false;
    return text;
}

/* The number that a connection answers. */
static int number_of(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int number = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static void change_file(const char *sql) {
    plain = true;
    sqlite3 *db = open_plain("firn.db");
    assert_true(run_plain(db, sql));
    sqlite3_close(db);
    plain = false;
}

static void assert_records(const char *name, const char *mark) {
    assert_string_equal(cell_of("SELECT layout || '|' || floor FROM namespace WHERE name = 'bare'"),
                        name);
    assert_string_equal(cell_of("SELECT high || '|' || \"grant\" || '|' || note FROM mark"
                                " WHERE ns = 'bare' AND key = '2'"),
                        mark);
}

/* The handle of a new store, whose points are in passed[]. */
static sqlite_store *sqlite_steps(void) {
    faults = false;
    calling = -1;
    memset(highest, 0, sizeof highest);
    server_new();
    sqlite_store *self = driver_handle();
    self->options.failpoint = pass;
    passed[0] = '\0';
    return self;
}

static int64_t log_size(void) {
    struct stat status;
    return stat(in_place("firn.db-wal"), &status) == 0 ? status.st_size : -1;
}

static int asked_syncs;

static bool count_syncs(enum fault kind) {
    asked_syncs += kind == FAULT_SYNC;
    return false;
}

static void records_of_each_step(void **state) {
    const uint64_t most = UINT64_MAX;
    const int descriptor = next_descriptor();
    sqlite_store *self = sqlite_steps();
    driven *d = (driven *)self;
    sqlite_tally tally;
    firn_error error;
    (void)state;
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_true(d->synced && self->checked && !self->known); /* before the transaction */
    firn_records seen = step_names, next;
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_true(self->known && self->identity == d->s.identity);
    assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, most}), FIRN_OK);
    assert_records("one|5", "30|-1|a client");
    assert_string_equal(passed, " namespace.before namespace.written reserve.before"
                                " reserve.written reserve.committed");
    assert_true(sqlite_tally_read(self, &tally) && tally.identity == self->identity);
    assert_string_equal(cell_of("PRAGMA user_version"), "1");
    assert_true(tally.count == 1 && self->count == 1 && self->checked && self->known);
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "one", 5, (firn_mark){34, 3}),
                     FIRN_OK);
    assert_records("one|5", "34|3|a client");
    assert_string_equal(passed, " reserve.before reserve.written reserve.committed");
    assert_true(sqlite_tally_read(self, &tally) && tally.count == 2);
    assert_int_equal(step(self, FIRN_VERB_GIVE_BACK, FIRN_RECORD_KEY, "one", 5, (firn_mark){33, 0}),
                     FIRN_OK);
    assert_records("one|5", "33|0|a client");
    assert_string_equal(passed, " give_back.before give_back.written give_back.committed");
    const int before = syncs;
    assert_int_equal(step(self, FIRN_VERB_RELABEL, FIRN_RECORD_NS, "two", 4, (firn_mark){33, 0}),
                     FIRN_OK);
    assert_int_equal(syncs, before); /* the folders have the namespace */
    assert_records("two|4", "33|0|a client");
    assert_string_equal(passed, " relabel.before relabel.sent relabel.committed");
    /* what is read */
    seen = step_names;
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, &error),
                     FIRN_OK);
    assert_int_equal(firn_store_driver.read(self, &seen, true, &error), FIRN_OK);
    assert_int_equal(number_of(d->s.db, "PRAGMA synchronous"), 3); /* EXTRA */
    assert_true(seen.fresh && seen.known && seen.ns_known && seen.key_known && seen.shut == NULL);
    assert_true(seen.origin == (uint64_t)self->identity && seen.losses == 0 && seen.ns_losses == 0);
    assert_true(seen.floor == 4 && seen.mark.high == 33 && seen.mark.grant == 0);
    assert_string_equal(seen.layout, "two");
    assert_string_equal(seen.note, "a client");
    assert_false(firn_store_driver.lost(self, &seen));
    /* a mark of another height, or with another grant, is not written over */
    next = seen;
    next.mark = (firn_mark){40, 8};
    for (int i = 0; i < 2; i++) {
        firn_records other = seen;
        other.mark.high += i;
        other.mark.grant += 1 - (uint64_t)i;
        assert_int_equal(
            firn_store_driver.write(self, &other, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, NULL),
            FIRN_ESTORE);
        assert_int_equal(error.code, FIRN_ESTORE);
        assert_non_null(strstr(error.text, "is damaged"));
        sqlite3_reset(d->write);
    }
    assert_int_equal(firn_store_driver.end(self, FIRN_ESTORE), FIRN_ESTORE);
    assert_records("two|4", "33|0|a client");
    /* a loss */
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    seen = step_names;
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    next = seen;
    next.losses++;
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_STORE, FIRN_VERB_RESERVE, NULL),
        FIRN_OK);
    assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
    assert_true(next.losses > 0 && next.ns_losses == 0 && self->history == next.losses);
    assert_int_equal(log_size(), 0);
    assert_true(sqlite_tally_read(self, &tally) && tally.count == self->count &&
                tally.main == tally.count);
    char history[24];
    assert_string_equal(cell_of("SELECT history FROM meta"), module_digits(history, next.losses));
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_NS, "two", 4, (firn_mark){33, 0}),
                     FIRN_OK);
    assert_string_equal(cell_of("SELECT history FROM namespace WHERE name = 'bare'"), history);
    assert_string_equal(passed, " reserve.before reserve.written reserve.committed");
    /* what others committed is settled */
    assert_true(log_size() > 0);
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_int_equal(seen.ns_losses, self->history);
    assert_int_equal(firn_store_driver.confirm(self, NULL), FIRN_OK);
    assert_int_equal(log_size(), 0);
    asked_syncs = 0;
    faulty_asks = count_syncs;
    assert_int_equal(sqlite_settle(&d->s), SQLITE_OK); /* of a log that is empty already */
    faulty_asks = fails;
    assert_int_equal(asked_syncs, 1);
    assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
    const sqlite_store kept = *self;
    assert_true(sqlite_tally_read(&kept, &tally) && tally.main != tally.count);
    firn_store_driver.close(self);
    assert_int_equal(log_size(), -1); /* tidy */
    assert_true(sqlite_tally_read(&kept, &tally) && tally.main == tally.count);
    assert_int_equal(next_descriptor(), descriptor);
}

static void records_of_all_names(void **state) {
    static const struct {
        const char *layout; /* of all names; NULL: no record */
        int64_t losses, all_losses;
        bool all_new, shut;
    } cases[] = {{NULL, 0, 0, true, false},
                 {NULL, 5, 0, false, false},
                 {SHUT, 5, 5, true, true},
                 {SHUT, 5, 4, false, true},
                 {"integer", 0, 0, true, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sqlite_store *self = sqlite_steps();
        firn_records seen = step_names;
        char sql[200];
        snprintf(sql, sizeof sql, "UPDATE meta SET history = %d", (int)cases[i].losses);
        change_file(sql);
        if (cases[i].layout != NULL) {
            snprintf(sql, sizeof sql,
                     "INSERT INTO namespace(name, layout, history, floor)"
                     " VALUES('%s', '%s', %d, 0)",
                     FIRN_ALL_NAMES, cases[i].layout, (int)cases[i].all_losses);
            change_file(sql);
        }
        assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL),
                         FIRN_OK);
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        assert_int_equal(seen.all_new, cases[i].all_new);
        assert_int_equal(seen.losses, cases[i].losses);
        assert_int_equal(seen.shut != NULL, cases[i].shut);
        assert_true(!cases[i].shut || strcmp(seen.shut, SHUT) == 0);
        assert_true(!seen.ns_known && !seen.key_known && seen.mark.high == 0);
        assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
        firn_store_driver.close(self);
    }
}

/* Somebody has changed the file. */
static void records_are_refused_in_another_file(void **state) {
    static const struct {
        const char *sql, *text;
    } cases[] = {
        {"DELETE FROM meta", "is not firn's (its table meta is empty)"},
        {"UPDATE meta SET version = 0", "has schema 0 and this firn knows 1 to 3"},
        {"UPDATE meta SET version = 4", "has schema 4 and this firn knows 1 to 3"},
        {"UPDATE meta SET identity = identity + 1", ""},
        {"CREATE TRIGGER t AFTER INSERT ON mark BEGIN SELECT 1; END", "run DROP TRIGGER \"t\""},
        {"DROP TABLE meta", "no such table"},
        {"ALTER TABLE mark RENAME TO m", "no such table"},
        {"ALTER TABLE namespace RENAME TO n", "no such table"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int descriptor = next_descriptor();
        sqlite_store *self = sqlite_steps();
        firn_records seen = step_names;
        firn_error error = {0};
        assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){3, 9}), FIRN_OK);
        change_file(cases[i].sql);
        int code = firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, &error);
        if (code == FIRN_OK) {
            code = firn_store_driver.read(self, &seen, true, &error);
            assert_int_equal(firn_store_driver.end(self, code), code);
        }
        assert_int_equal(code, FIRN_ESTORE);
        assert_int_equal(error.code, code);
        if (strstr(error.text, cases[i].text) == NULL) {
            fail_msg("%zu: %s", i, error.text);
        }
        assert_int_equal(
            firn_store_driver.begin(self, &step_names, FIRN_VERB_GIVE_BACK, NULL) == FIRN_OK
                ? firn_store_driver.end(self, firn_store_driver.read(self, &seen, true, NULL))
                : FIRN_ESTORE,
            FIRN_ESTORE); /* and stays so */
        firn_store_driver.close(self);
        assert_int_equal(next_descriptor(), descriptor);
    }
}

/* How a loss is noticed. */
static void records_that_are_older_are_noticed(void **state) {
    enum { COUNT, MAIN, OWN, CHILD, INODE, TOLD, NEITHER, OTHERS, WAYS };
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        sqlite_store *self = sqlite_steps();
        firn_records seen = step_names;
        sqlite_tally tally;
        for (int i = 0; i < 3; i++) {
            assert_int_equal(step(self, FIRN_VERB_RESERVE, i == 0 ? 7 : FIRN_RECORD_KEY, "one", 5,
                                  (firn_mark){3 + i, 9}),
                             FIRN_OK);
        }
        assert_true(sqlite_tally_read(self, &tally));
        assert_int_equal(tally.count, 3);
        switch (way) {
        case COUNT:
            tally.count = 4;
            sqlite_tally_write(self, &tally);
            break;
        case MAIN:
            tally.main = 1; /* the log is not yet in the file, which has 0 */
            sqlite_tally_write(self, &tally);
            break;
        case OTHERS: /* of another store */
            sqlite_tally_write(self, &(sqlite_tally){tally.identity + 1, 9, 9});
            break;
        case OWN:
        case CHILD: /* this process has written nothing */
            unlink(in_place("firn.db-count"));
            self->writer = way == OWN ? self->writer : 0;
            self->count = 7;
            break;
        case INODE:
        case TOLD: /* somebody has noticed the copy before */
            change_file(way == TOLD ? "UPDATE meta SET history = history + 1"
                                    : "UPDATE meta SET history = history");
            copy_file("firn.db", "new.db");
            assert_int_equal(rename(in_place("new.db"), in_place("firn.db")), 0);
            break;
        default:
            break;
        }
        assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL),
                         FIRN_OK);
        const int code = firn_store_driver.read(self, &seen, true, NULL);
        assert_int_equal(code, FIRN_OK);
        const bool lost = way == COUNT || way == MAIN || way == OWN || way == INODE;
        if (firn_store_driver.lost(self, &seen) != lost) {
            fail_msg("way %d: %d", way, !lost);
        }
        driven *d = (driven *)self;
        assert_int_equal(d->s.count, way == COUNT ? 4 : way == OWN ? 7 : 3);
        assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
        if (way == TOLD || way == OTHERS) { /* and the copy is the store from now on */
            assert_int_equal(
                step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "one", 5, (firn_mark){9, 9}),
                FIRN_OK);
            assert_int_equal(self->inode, d->s.inode);
            assert_true(sqlite_tally_read(self, &tally));
            assert_true(way == TOLD || tally.main == long_ago(tally.count));
        }
        firn_store_driver.close(self);
        assert_true(way != CHILD || log_size() > 0); /* who wrote nothing leaves it */
    }
}

/* ---- listed ---------------------------------------------------------------------------------- */

static void records_are_listed(void **state) {
    const int descriptor = next_descriptor();
    sqlite_store *self = sqlite_steps();
    sqlite_session other = session_at(self, 1);
    firn_error error;
    (void)state;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, UINT64_MAX}),
                     FIRN_OK);
    change_file("INSERT INTO namespace(name, layout, history, floor) VALUES('a', 'two', 0, 0);"
                "INSERT INTO mark(ns, key, high, \"grant\", note)"
                " VALUES('bare', '1', 7, 12, 'n')");
    assert_int_equal(list_of(self, NULL, 9, NULL), FIRN_OK);
    assert_string_equal(shown, "a|two|||0|0|0;bare|one|1|n|7|12|5;"
                               "bare|one|2|a client|30|18446744073709551615|5;");
    assert_int_equal(list_of(self, "bare", 1, NULL), 1);
    assert_string_equal(shown, "bare|one|1|n|7|12|5;");
    assert_int_equal(list_of(self, "none", 9, NULL), FIRN_OK);
    assert_string_equal(shown, "");
    /* while somebody has the turn: it waits, then reads without it, and the next time at once */
    assert_int_equal(sqlite_enter(self, NULL), FIRN_OK);
    assert_int_equal(sqlite_take_turn(&other), SQLITE_OK);
    int64_t begin_ms = clock_ms;
    assert_int_equal(list_of(self, "bare", 9, NULL), FIRN_OK);
    assert_int_equal(clock_ms - begin_ms, self->busy_ms);
    begin_ms = clock_ms;
    assert_int_equal(list_of(self, "bare", 9, NULL), FIRN_OK);
    assert_int_equal(clock_ms, begin_ms);
    assert_int_equal(sqlite_prologue(self, &step_names, FIRN_VERB_RESERVE, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "is locked by"));
    assert_int_equal(clock_ms, begin_ms);
    sqlite_end_turn(&other);
    sqlite_leave();
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "one", 5, (firn_mark){31, 3}),
                     FIRN_OK);
    assert_int_equal(self->hurry_ms, 0);
    change_file("ALTER TABLE namespace RENAME COLUMN layout TO row; UPDATE meta SET version = 2");
    assert_int_equal(list_of(self, "bare", 1, NULL), 1);
    assert_string_equal(shown, "bare|one|1|n|7|12|5;");
    change_file("UPDATE meta SET version = 9");
    assert_int_equal(list_of(self, NULL, 9, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "has schema 9"));
    unlink(in_place("firn.db"));
    assert_int_equal(list_of(self, NULL, 9, &error), FIRN_ESTORE);
    firn_store_driver.close(self);
    assert_int_equal(next_descriptor(), descriptor);
}

static void records_of_a_loss_have_a_new_history(void **state) {
    static const struct {
        bool known;
        int64_t own, history, random, next;
    } cases[] = {
        {true, 7, 5, 0, 8},
        {true, 5, 7, 0, 8},
        {false, 7, 5, 0, 6},
        {false, 0, 0, 0, 1},
        {false, 0, 1, 0, 2},
        {false, 0, -3, 0, 1},
        {false, 0, 5, INT64_MAX, INT64_C(6) + INT32_MAX},
        {false, 0, INT64_MAX / 2 - 1, 0, INT64_MAX / 2},
        {false, 0, INT64_MAX / 2, 0, 1},
    };
    sqlite_store *self = sqlite_steps();
    const driven *d = (driven *)self;
    firn_records seen = step_names;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sqlite_store store = {.known = cases[i].known, .history = cases[i].own};
        sqlite_session session = {.store = &store, .history = cases[i].history};
        assert_int_equal(next_history(&session, cases[i].random), cases[i].next);
    }
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 9}), FIRN_OK);
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_int_equal(sqlite_went_back(&((driven *)self)->s), FIRN_OK);
    const int64_t history = d->s.history;
    assert_true(history > 0 && d->s.back);
    assert_int_equal(sqlite_went_back(&((driven *)self)->s), FIRN_OK); /* once in a transaction */
    assert_int_equal(d->s.history, history);
    assert_int_equal(firn_store_driver.confirm(self, NULL), FIRN_OK); /* which ends here */
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_true(d->s.history == 0 && !d->s.back);
    firn_records next = seen; /* a namespace that is sound from now on */
    next.losses++;
    next.ns_losses = next.losses;
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_STORE, FIRN_VERB_RESERVE, NULL),
        FIRN_OK);
    assert_true(next.losses == self->history && next.ns_losses == self->history);
    assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
    never_syncs = true; /* neither a commit nor what settles it */
    assert_int_equal(step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "one", 5, (firn_mark){40, 9}),
                     FIRN_EUNKNOWN);
    never_syncs = false;
    firn_store_driver.close(self);
}

/* A trigger that no check can see, as a temporary one, changes a reservation. */
static void records_are_read_back(void **state) {
    static const struct {
        const char *sql, *text; /* NULL: it is written */
    } cases[] = {
        {"SELECT 1", NULL},
        {"CREATE TEMP TRIGGER t AFTER UPDATE ON mark BEGIN UPDATE mark SET high = 99; END",
         "has mark 99 where 41 was written"},
        {"CREATE TEMP TRIGGER t AFTER UPDATE ON mark BEGIN UPDATE mark SET \"grant\" = 99; END",
         "has mark 41 where 41 was written"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sqlite_store *self = sqlite_steps();
        firn_records seen = step_names;
        firn_error error = {0};
        assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 9}), FIRN_OK);
        assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, &error),
                         FIRN_OK);
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        assert_true(run_plain(((driven *)self)->s.db, cases[i].sql));
        firn_records next = seen;
        next.mark = (firn_mark){41, 8};
        self->checked = false;
        const int code =
            firn_store_driver.write(self, &seen, &next, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, NULL);
        assert_int_equal(code, cases[i].text != NULL ? FIRN_ESTORE : FIRN_OK);
        assert_true(code == FIRN_OK || strstr(error.text, cases[i].text) != NULL);
        assert_false(self->checked); /* a known key is not worth it */
        assert_int_equal(firn_store_driver.end(self, code), code);
        assert_records("one|5", code == FIRN_OK ? "41|8|a client" : "30|9|a client");
        firn_store_driver.close(self);
    }
}

/* The whole file is checked before it gets a key, once. */
static void records_of_a_key_need_a_sound_file(void **state) {
    sqlite_store *self = sqlite_steps();
    firn_records seen;
    (void)state;
    for (int which = FIRN_RECORD_NS;; which = FIRN_RECORD_KEY) {
        seen = step_names;
        assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL),
                         FIRN_OK);
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        firn_records next = seen;
        next.layout = "one";
        next.note = "a client";
        next.mark = (firn_mark){41, 8};
        self->checked = false;
        assert_int_equal(
            firn_store_driver.write(self, &seen, &next, which, FIRN_VERB_RESERVE, NULL), FIRN_OK);
        assert_int_equal(self->checked, which == FIRN_RECORD_KEY);
        assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
        if (which == FIRN_RECORD_KEY) {
            break;
        }
    }
    firn_store_driver.close(self);
}

/* While somebody has SQLite's lock, or when the file is another one than at the beginning. */
static void records_need_a_transaction(void **state) {
    sqlite_store *self = sqlite_steps();
    firn_records seen = step_names;
    firn_error error;
    (void)state;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){30, 9}), FIRN_OK);
    sqlite3 *other = open_plain("firn.db");
    assert_true(run_plain(other, "BEGIN IMMEDIATE"));
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, &error),
                     FIRN_OK);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "is locked"));
    assert_int_equal(firn_store_driver.end(self, FIRN_ESTORE), FIRN_ESTORE);
    sqlite3_close(other);
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, &error),
                     FIRN_OK);
    copy_file("firn.db", "new.db");
    assert_int_equal(rename(in_place("new.db"), in_place("firn.db")), 0);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_ESTORE);
    assert_int_equal(firn_store_driver.end(self, FIRN_ESTORE), FIRN_ESTORE);
    firn_store_driver.close(self);
}

static void records_are_read_in_a_session(void **state) {
    sqlite_store *self = sqlite_steps();
    sqlite_session session;
    uint32_t without_log;
    int64_t version;
    (void)state;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){1, 9}), FIRN_OK);
    change_file("PRAGMA user_version = 0x01020304; PRAGMA wal_checkpoint(TRUNCATE)");
    for (int hurry = 0; hurry < 2; hurry++) {
        self->hurry_ms = clock_ms + hurry;
        self->waits_ms = 5;
        assert_int_equal(sqlite_start(&session, self, false, NULL), FIRN_OK);
        assert_int_equal(session.deadline_ms, clock_ms + (hurry ? 0 : self->busy_ms));
        assert_int_equal(self->waits_ms, hurry ? 5 : clock_ms);
        assert_int_equal(read_main(&session, &without_log), FIRN_OK);
        assert_int_equal(without_log, 0x01020304);
        assert_int_equal(sqlite_finish(&session, FIRN_OK), FIRN_OK);
    }
    change_file("UPDATE meta SET version = 1"); /* the oldest one */
    assert_int_equal(sqlite_start(&session, self, true, NULL), FIRN_OK);
    assert_int_equal(sqlite_begin_to_read(&session, &version), FIRN_OK);
    assert_int_equal(version, 1);
    assert_int_equal(session.turn, 0); /* others may write */
    assert_int_equal(sqlite_finish(&session, FIRN_OK), FIRN_OK);
    firn_store_driver.close(self);
}

/* A commit that leaves LOG_PAGES pages empties the log, and the count has the commit of the file
 * without its log. */
static void records_leave_a_short_log(void **state) {
    sqlite_store *self = sqlite_steps();
    sqlite_tally tally;
    int emptied = 0, rounds = 0;
    (void)state;
    assert_int_equal(step(self, FIRN_VERB_RESERVE, 7, "one", 5, (firn_mark){1, 9}), FIRN_OK);
    assert_true(sqlite_tally_read(self, &tally));
    assert_int_equal(tally.main, tally.count - (UINT32_C(1) << 30)); /* unknown */
    while (emptied < 2 && rounds++ < 100) {
        const uint32_t main = tally.main;
        assert_int_equal(
            step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "one", 5, (firn_mark){1 + rounds, 9}),
            FIRN_OK);
        assert_true(sqlite_tally_read(self, &tally));
        const bool checkpoint = strstr(passed, "checkpoint.before checkpoint.committed") != NULL;
        assert_int_equal(tally.main, checkpoint ? tally.count : main);
        assert_int_equal(log_size() == 0, checkpoint);
        assert_true(!checkpoint || emptied == 0 || rounds == 16);
        rounds = checkpoint ? 0 : rounds;
        emptied += checkpoint;
    }
    assert_int_equal(emptied, 2);
    /* while somebody reads the log it stays, and nobody waits */
    const uint32_t main = tally.main;
    const int64_t begin_ms = clock_ms;
    sqlite3 *reader = open_plain("firn.db");
    assert_true(run_plain(reader, "BEGIN; SELECT version FROM meta"));
    passed[0] = '\0';
    for (int i = 0; i < 20 && strstr(passed, "checkpoint.committed") == NULL; i++) {
        assert_int_equal(
            step(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, "one", 5, (firn_mark){50 + i, 9}),
            FIRN_OK);
    }
    assert_non_null(strstr(passed, "checkpoint.committed"));
    assert_int_equal(clock_ms, begin_ms);
    assert_true(sqlite_tally_read(self, &tally) && tally.main == main && log_size() > 0);
    sqlite3_close(reader);
    /* who makes a namespace syncs the folders, also without a reservation: see tells_write() */
    change_file("DELETE FROM namespace");
    assert_int_equal(step(self, FIRN_VERB_RELABEL, FIRN_RECORD_NS, "two", 4, (firn_mark){0, 0}),
                     FIRN_OK);
    assert_int_equal(strncmp(passed, " relabel.before relabel.sent", 28), 0);
    firn_store_driver.close(self);
}

#endif
