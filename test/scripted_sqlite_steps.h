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
    assert_false(count_is(store, 0, 0, 0));
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
        assert_false(count_is(store, -5, 7, 3));
        put_file(name, count_text, i);
        assert_false(count_is(store, -5, 7, 3));
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
    put_count(store, -5, 8, 3); /* it has two names */
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
    put_count(store, -5, 8, 3); /* is not written to nobody */
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
    assert_int_equal(chmod(store->path, 0604), 0);
    assert_true(geteuid() != 0 || chown(store->path, 12, 34) == 0);
    put_count(store, 1, 3, 3);
    assert_true(sqlite_tally_look(store, &status) && (status.st_mode & 0777) == 0604);
    assert_true(geteuid() != 0 || (status.st_uid == 12 && status.st_gid == 34));
    unlink(in_place("c.db-count"));
    assert_int_equal(sqlite_tally_check(store, &error), FIRN_OK);
    assert_int_equal(sqlite_no_tally(store, ELOOP, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "its count c.db-count cannot be opened (Too many"));
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Sessions of one store, which take turns as those of several processes do. */
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
    begin_ms = clock_ms; /* is known as stopped now, and has 5 ms to go on */
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

static void records_are_not_locked_by_a_child(void **state) {
    sqlite_store *store = turn_store();
    sqlite_session a = session_at(store, 50);
    (void)state;
    assert_int_equal(sqlite_take_turn(&a), SQLITE_OK);
    const int file = a.turn - 1, other = dup(0);
    note(other);
    forget_descriptor(other);
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

#endif
