/* SPDX-License-Identifier: MIT */
/* Single steps of the driver of MariaDB and MySQL, for scripted_mysql_test.c: what it asks, and what
 * becomes of an answer, without faults that chance chooses. */
#ifndef FIRN_TEST_SCRIPTED_MYSQL_STEPS_H
#define FIRN_TEST_SCRIPTED_MYSQL_STEPS_H

#define HOME "mysql://localhost/d"

/* A handle of an empty server with the ID 1. */
static mysql_store *steps_at(const char *url) {
    usual();
    faults = false;
    server_new();
    live.server = 1;
    mysql_store *self = handle_at(url);
    self->link.options.failpoint = pass;
    return self;
}

/* Each connection was closed. */
static void steps_end(void *self) {
    module_close(self);
    for (int i = 0; i < SESSIONS; i++) {
        assert_false(sessions[i].used);
    }
    assert_int_equal(results, 0);
}

/* ---- one verb -------------------------------------------------------------------------------- */

static int64_t adds = 10; /* to a mark */

/* A verb, as far as it goes. */
static int attempt(void *self, firn_verb verb, int which, firn_records *next, firn_error *error) {
    firn_records seen;
    int code = firn_store_driver.begin(self, &step_names, verb, error);
    const bool begun = code == FIRN_OK;
    code = begun ? FIRN_WRITE_CHANGED : code;
    for (int i = 0; i < 4 && code == FIRN_WRITE_CHANGED; i++) {
        seen = step_names;
        code = firn_store_driver.read(self, &seen, true, error);
        assert_int_not_equal(code, FIRN_WRITE_CHANGED);
        *next = seen;
        next->layout = "one";
        next->floor = 5;
        next->mark.high += verb == FIRN_VERB_GIVE_BACK ? -1 : adds;
        next->mark.grant = verb == FIRN_VERB_GIVE_BACK ? 0 : 9;
        next->note = "a client";
        if (code == FIRN_OK) {
            code = firn_store_driver.write(self, &seen, next, which, verb, error);
        }
    }
    return begun ? firn_store_driver.end(self, code) : code;
}

/* A store with a mark whose seal matches. */
static mysql_store *sealed_at(const char *url) {
    mysql_store *self = steps_at(url);
    firn_records next;
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, 7, &next, NULL), FIRN_OK);
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    memset(sent, 0, sizeof sent);
    return self;
}

static void records_after_an_odd_answer(void **state) {
    enum { NS = FIRN_RECORD_NS, KEY = FIRN_RECORD_KEY };
    static const struct {
        odd given[2];
        firn_verb verb;
        int which, code;
        const char *text; /* a part of the error */
        bool stays;       /* connected */
        int reads;        /* of records */
    } cases[] = {
        {{{0}}, FIRN_VERB_RESERVE, KEY, FIRN_OK, NULL, true, 1},
        {{{0}}, FIRN_VERB_RESERVE, NS | KEY, FIRN_OK, NULL, true, 2},
        {{{READING, 1, CHANGED}}, FIRN_VERB_RESERVE, KEY, FIRN_OK, NULL, true, 2},
        {{{READING, 1, CHANGED, .after = 1}}, FIRN_VERB_RESERVE, NS, FIRN_OK, NULL, true, 4},
        {{{READING, 1, .columns = COLUMNS}},
         FIRN_VERB_RESERVE,
         KEY,
         FIRN_ESTORE,
         "a read had no row",
         true,
         1},
        {{{READING, 1, .columns = 1, .cells = {{"1"}}}},
         FIRN_VERB_RESERVE,
         KEY,
         FIRN_ESTORE,
         "a read had no row",
         true,
         1},
        {{{READING, 1, 1142}}, FIRN_VERB_RESERVE, KEY, FIRN_ESTORE, "lacks a right", true, 1},
        {{{READING, 1, .silent = true}}, FIRN_VERB_RESERVE, KEY, FIRN_ESTORE, "", false, 1},
        {{{STARTING, 1, LOCKED}}, FIRN_VERB_RELABEL, NS, FIRN_ESTORE, "the row locked", true, 1},
        {{{LOCKING, 1, LOCKED}}, FIRN_VERB_RELABEL, NS, FIRN_ESTORE, "the row locked", true, 1},
        {{{LOCKING, 1, DEADLOCK}}, FIRN_VERB_RELABEL, NS, FIRN_OK, NULL, true, 3},
        {{{LOCKING, 1, CHANGED}}, FIRN_VERB_RELABEL, NS, FIRN_OK, NULL, true, 3},
        {{{AGAIN, 1, DUPLICATE}}, FIRN_VERB_RESERVE, KEY, FIRN_OK, NULL, true, 2},
        {{{AGAIN, 1, .affected = 2}}, FIRN_VERB_RESERVE, KEY, FIRN_OK, NULL, true, 2},
        {{{AGAIN, 1, .silent = true}}, FIRN_VERB_RESERVE, KEY, FIRN_EUNKNOWN, "a reason", false, 1},
        {{{AGAIN, 1, 1180}}, FIRN_VERB_RESERVE, KEY, FIRN_EUNKNOWN, "a reason", false, 1},
        {{{AGAIN, 1, DEADLOCK}}, FIRN_VERB_RESERVE, KEY, FIRN_OK, NULL, true, 1},
        {{{AGAIN, 9, DEADLOCK}}, FIRN_VERB_RESERVE, KEY, FIRN_ESTORE, "all the time", true, 1},
        {{{AGAIN, 1, LOCKED}}, FIRN_VERB_RESERVE, KEY, FIRN_OK, NULL, true, 1},
        {{{AGAIN, 1, 1290}}, FIRN_VERB_RESERVE, KEY, FIRN_ESTORE, "accepts no writes", true, 1},
        {{{RAISING, 1, .silent = true}}, FIRN_VERB_RESERVE, NS | KEY, FIRN_ESTORE, "", false, 2},
        {{{RAISING, 1, LOCKED}}, FIRN_VERB_RESERVE, NS | KEY, FIRN_ESTORE, "locked", true, 2},
        {{{NAMING, 1, 1142}}, FIRN_VERB_RELABEL, NS, FIRN_ESTORE, "lacks a right", true, 2},
        {{{NAMING, 1, 1142}, {UNDOING, 1, 1142}},
         FIRN_VERB_RELABEL,
         NS,
         FIRN_ESTORE,
         "right",
         false,
         2},
        {{{COMMITTING, 1, .silent = true}},
         FIRN_VERB_RELABEL,
         NS,
         FIRN_EUNKNOWN,
         "a reason",
         false,
         2},
        {{{COMMITTING, 1, 1142}}, FIRN_VERB_RELABEL, NS, FIRN_EUNKNOWN, "a reason", false, 2},
        {{{COMMITTING, 1, DEADLOCK}}, FIRN_VERB_RELABEL, NS, FIRN_OK, NULL, true, 4},
        {{{NUMBER, 1, 1142}}, FIRN_VERB_RESERVE, KEY, FIRN_EUNKNOWN, "lacks a right", false, 1},
        {{{NUMBER, 1, .silent = true}}, FIRN_VERB_RESERVE, KEY, FIRN_EUNKNOWN, "", false, 1},
        {{{AGAIN, 1, .affected = 1}},
         FIRN_VERB_RESERVE,
         KEY,
         FIRN_ESTORE,
         "does not store what firn writes to firn_mark",
         true,
         2},
        {{{AGAIN, 1, .affected = 1}, {READING, 1, 1142, .after = 1}},
         FIRN_VERB_RESERVE,
         KEY,
         FIRN_EUNKNOWN,
         "lacks a right",
         true,
         2},
        {{{GIVING_BACK, 1, .silent = true}},
         FIRN_VERB_GIVE_BACK,
         KEY,
         FIRN_EUNKNOWN,
         "a reason",
         false,
         1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mysql_store *self = sealed_at(HOME);
        firn_records next;
        firn_error error = {0};
        memcpy(odds, cases[i].given, sizeof cases[i].given);
        const int code = attempt(self, cases[i].verb, cases[i].which, &next, &error);
        if (code != cases[i].code || sent[READING] != cases[i].reads ||
            (self->db != NULL) != cases[i].stays) {
            fail_msg("%zu: %d, %d reads, %s", i, code, sent[READING], error.text);
        }
        assert_true(code == FIRN_OK || error.code == code);
        if (code != FIRN_OK && strstr(error.text, cases[i].text) == NULL) {
            fail_msg("%zu: %s", i, error.text);
        }
        assert_true(!cases[i].stays || cases[i].which != KEY || sent[UNDOING] == 0);
        assert_false(self->sql.inside);
        assert_null(tx.owner);
        steps_end(self);
    }
}

/* The first record of a namespace may be written by two at a time, and a written one may change
 * nothing. */
static void records_of_a_new_namespace(void **state) {
    static const struct {
        odd given;
        int code, reads;
    } cases[] = {{{NAMING_FIRST, 1, 1142}, FIRN_ESTORE, 2},
                 {{NAMING_FIRST, 1, .affected = 0}, FIRN_OK, 4},
                 {{NAMING, 1, .affected = 0}, FIRN_OK, 2}};
    firn_records next;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mysql_store *self = i == 2 ? sealed_at(HOME) : steps_at(HOME);
        odds[0] = cases[i].given;
        assert_int_equal(attempt(self, FIRN_VERB_RELABEL, FIRN_RECORD_NS, &next, NULL),
                         cases[i].code);
        assert_int_equal(sent[READING], cases[i].reads);
        assert_int_equal(sent[BEARING], 0); /* the store's record is not among those written */
        steps_end(self);
    }
}

/* A mark is compared with its grant, also without one. */
static void records_are_compared_with_their_grant(void **state) {
    static const struct {
        int64_t min;
        uint64_t seen, there; /* grants */
        bool exactly, raised;
    } cases[] = {
        {20, 9, 9, true, true},   {20, 0, 0, true, true},   {20, 0, 77, true, false},
        {20, 77, 0, true, false}, {20, 1, 0, true, false},  {20, 9, 9, false, true},
        {20, 9, 0, false, true},  {20, 9, 1, false, false}, {19, 9, 1, false, true},
        {20, 0, 1, false, true},  {21, 0, 0, false, false},
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) { /* sealed, and not */
        mysql_store *self = sealed_at(HOME);
        firn_records seen = step_names, next;
        const int64_t min = cases[i / 2].min;
        const firn_raise raise = {min, 20, cases[i / 2].exactly ? min : 99, 4, cases[i / 2].seen};
        assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL),
                         FIRN_OK);
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        seen.own[OWN_SEALED] = i % 2;
        next = seen;
        next.mark.grant = 5;
        live.rows[mark_row("bare", "2")].grant = cases[i / 2].there;
        const int code = sql_raise(self, &seen, &next, &raise, cases[i / 2].exactly,
                                   &firn__module_points[FIRN_VERB_RESERVE], NULL);
        if (code != (cases[i / 2].raised ? FIRN_OK : FIRN_WRITE_CHANGED)) {
            fail_msg("%zu: %d", i, code);
        }
        assert_true(code != FIRN_OK || next.mark.high == 24);
        steps_end(self);
    }
}

/* ---- a seal ---------------------------------------------------------------------------------- */

static void records_and_their_seals(void **state) {
    mysql_store *self = steps_at(HOME);
    firn_records next;
    (void)state;
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, 7, &next, NULL), FIRN_OK);
    assert_true(sent[BEGINNING] == 1 && next.own[OWN_SEALED] == 0);
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_true(sent[RAISING] == 1 && next.own[OWN_SEALED] == 1);
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_true(sent[AGAIN] == 1 && sent[RAISING] == 1 && next.own[OWN_SEALED] == 1);
    assert_string_equal(last[AGAIN].words[3], "a client");
    assert_int_equal(attempt(self, FIRN_VERB_GIVE_BACK, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_int_equal(next.own[OWN_SEALED], 0);
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_true(sent[RAISING] == 2 && next.own[OWN_SEALED] == 1);
    /* a written namespace has no seals */
    assert_int_equal(
        attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_NS | FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_true(sent[RAISING] == 3 && next.own[OWN_SEALED] == 1);
    assert_int_equal(attempt(self, FIRN_VERB_RELABEL, FIRN_RECORD_NS, &next, NULL), FIRN_OK);
    assert_int_equal(next.own[OWN_SEALED], 0);
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_true(sent[RAISING] == 4 && sent[AGAIN] == 1);
    /* nor has one in doubt, whose identity is not the store's again before somebody says so */
    firn_records seen = step_names;
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RELABEL, NULL), FIRN_OK);
    assert_int_equal(sql_begin_inside(self, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    assert_int_equal(seen.own[OWN_SEALED], 1);
    next = seen;
    next.losses = 1;
    assert_int_equal(firn_store_driver.write(self, &seen, &next, FIRN_RECORD_STORE | FIRN_RECORD_NS,
                                             FIRN_VERB_RELABEL, NULL),
                     FIRN_OK);
    assert_true(next.own[OWN_SEALED] == 0 && next.ns_losses == 0);
    assert_string_equal(live.rows[ns_row("bare")].identity, MODULE_GONE_BACK);
    assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
    steps_end(self);
}

static void records_of_a_loss_have_no_seal(void **state) {
    mysql_store *self = sealed_at(HOME);
    firn_records seen = step_names, next;
    (void)state;
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_int_equal(sql_begin_inside(self, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    next = seen;
    next.losses = 1;
    assert_int_equal(
        firn_store_driver.write(self, &seen, &next, FIRN_RECORD_STORE, FIRN_VERB_RESERVE, NULL),
        FIRN_OK);
    assert_true(seen.own[OWN_SEALED] == 1 && next.own[OWN_SEALED] == 0);
    assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
    steps_end(self);
}

/* ---- what is read back ----------------------------------------------------------------------- */

static int lowers; /* so much a trigger lowers a mark that was written */

static void lower(void *self, const char *point) {
    (void)self;
    if (strcmp(point, "reserve.sent") == 0) {
        live.rows[mark_row("bare", "2")].number -= lowers;
    }
}

static void records_are_read_back_once(void **state) {
    mysql_store *self = sealed_at(HOME);
    firn_records next;
    firn_error error;
    (void)state;
    self->link.options.failpoint = lower;
    lowers = 1;
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_int_equal(sent[READING], 1);
    live.rows[mark_row("bare", "2")].number = lowers = 0;
    adds = 1; /* the least mark */
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_int_equal(sent[READING], 2);
    adds = 10;
    lowers = 1;
    maria_hang_up(self, false); /* a new connection may show what the old one hid */
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "look for a trigger"));
    lowers = -1; /* another process reserves */
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    steps_end(self);
    self = steps_at(HOME);
    adds = 1;
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, 7, &next, NULL), FIRN_OK);
    assert_int_equal(self->sql.last_high, 1);
    adds = 10;
    steps_end(self);
}

static void records_are_checked_now_and_then(void **state) {
    mysql_store *self = steps_at(HOME);
    firn_records next;
    (void)state;
    frozen_ms = 1000000;
    check_ms = 1000;
    adds = 1;
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, 7, &next, NULL), FIRN_OK);
    adds = 10;
    assert_int_equal(sent[NUMBER], 2); /* when it connects, and before the first reservation */
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    frozen_ms += 999;
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_int_equal(sent[NUMBER], 2);
    frozen_ms += 1;
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_int_equal(sent[NUMBER], 3);
    assert_int_equal(attempt(self, FIRN_VERB_GIVE_BACK, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_int_equal(sent[NUMBER], 3);
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL), FIRN_OK);
    assert_int_equal(sent[NUMBER], 4);
    /* a reload, just before the write */
    live.made = ++loads;
    frozen_ms += 1000;
    assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL),
                     FIRN_WRITE_FOREIGN);
    assert_int_equal(self->sql.last_high, 0);
    steps_end(self);
}

/* ---- a cluster ------------------------------------------------------------------------------- */

static const odd cluster[] = {
    {VARIABLES_KIND, 1, .columns = 2,
     .cells = {{"innodb_flush_log_at_trx_commit", "1"}, {"server_id", "1"}, {"wsrep_on", "ON"}}},
    {CLUSTER, 1, .columns = 2, .cells = {{"wsrep_cluster_state_uuid", "c"}}}};

static void records_of_a_cluster_begin_in_a_transaction(void **state) {
    const firn_raise raise = {0, 0, 99, 5, 0};
    (void)state;
    for (int i = 0; i < 3; i++) { /* no cluster; one; and a key that has a mark */
        mysql_store *self = steps_at(HOME);
        firn_records seen = step_names, next = step_names;
        if (i > 0) {
            memcpy(odds, cluster, sizeof cluster);
        }
        next.layout = "one";
        assert_int_equal(
            attempt(self, FIRN_VERB_RELABEL, FIRN_RECORD_STORE | FIRN_RECORD_NS, &seen, NULL),
            FIRN_OK);
        assert_string_equal(self->identity, i > 0 ? "cluster/c" : "id/1");
        seen = step_names;
        assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL),
                         FIRN_OK);
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        memset(sent, 0, sizeof sent);
        seen.key_known = i == 2;
        next = seen;
        const int code = firn_store_driver.add(self, &seen, &next, &raise, NULL);
        assert_int_equal(code, i == 0 ? FIRN_OK : FIRN_WRITE_CHANGED);
        assert_int_equal(sent[STARTING], i == 1);
        assert_int_equal(self->sql.inside, i == 1);
        if (i == 1) { /* again, inside */
            assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
            assert_int_equal(firn_store_driver.add(self, &seen, &next, &raise, NULL), FIRN_OK);
            assert_int_equal(live.rows[mark_row("bare", "2")].number, 5);
        }
        assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
        steps_end(self);
    }
    mysql_store *self = steps_at(HOME);
    firn_records next = step_names;
    firn_error error;
    memcpy(odds, cluster, sizeof cluster);
    odds[2] = (odd){STARTING, 1, LOCKED};
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.add(self, &step_names, &next, &raise, &error), FIRN_ESTORE);
    assert_int_equal(firn_store_driver.end(self, FIRN_ESTORE), FIRN_ESTORE);
    steps_end(self);
}

/* ---- rows that nobody asked for ---------------------------------------------------------------- */

static void records_need_no_rows_of_a_write(void **state) {
    static const enum kind kinds[] = {AGAIN, NAMING, COMMITTING, SETTLING};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        mysql_store *self = sealed_at(HOME);
        firn_records next;
        odds[0] =
            (odd){kinds[i], 1, .affected = 1, .insert_id = 30, .columns = 1, .cells = {{"1"}}};
        assert_int_equal(i == 0 ? attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL)
                                : attempt(self, FIRN_VERB_RELABEL, FIRN_RECORD_NS, &next, NULL),
                         FIRN_OK);
        assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL),
                         FIRN_OK);
        assert_int_equal(firn_store_driver.confirm(self, NULL), FIRN_OK);
        assert_int_equal(odds[0].times, 0);
        steps_end(self);
    }
}

/* ---- settled, listed, and the clock ---------------------------------------------------------- */

static void records_are_settled(void **state) {
    static const odd given[] = {{SETTLING, 1, 1142}, {SETTLING, 1, .silent = true}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        mysql_store *self = sealed_at(HOME);
        const firn_verb verb = i == 2 ? FIRN_VERB_RELABEL : FIRN_VERB_RESERVE;
        odds[0] = given[i % 2];
        assert_int_equal(firn_store_driver.begin(self, &step_names, verb, NULL), FIRN_OK);
        const int code = firn_store_driver.confirm(self, NULL);
        assert_int_equal(code, i == 2 ? FIRN_OK : FIRN_EUNKNOWN);
        assert_int_equal(sent[SETTLING], i != 2);
        assert_int_equal(sent[UNDOING], 0);
        steps_end(self);
    }
    mysql_store *self = sealed_at(HOME); /* after what was read in a transaction, too */
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_int_equal(sql_begin_inside(self, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.confirm(self, NULL), FIRN_OK);
    assert_true(sent[UNDOING] == 1 && sent[SETTLING] == 1 && sent[COMMITTING] == 0);
    steps_end(self);
}

static void records_are_listed_in_pages(void **state) {
    static const odd first = {LISTING_ALL, 1, .columns = 7,
                              .cells = {{"a", "one", "1", "n", "7", "18446744073709551615", NULL},
                                        {"b", "two", "2", "m", NULL, NULL, "12"}}},
                     second = {LISTING_ALL, 1, .columns = 7,
                               .cells = {{"c", "three", NULL, NULL, "1", "12", "0"}}},
                     wrong = {LISTING_ALL, 1, .columns = 6, .cells = {{"a"}}},
                     fails = {LISTING_ALL, 1, .silent = true},
                     one = {LISTING_ONE, 1, .columns = 7, .cells = {{"a", "one", "1"}}},
                     leaf = {LISTING_LEAF, 1, .columns = 7, .cells = {{"integer a", "integer"}}};
    mysql_store *self = steps_at(HOME);
    firn_error error = {0};
    (void)state;
    shows_slowly = true;
    odds[0] = first;
    odds[0].times = 2;
    odds[1] = second;
    assert_int_equal(list_of(self, NULL, 9, NULL), FIRN_OK);
    assert_string_equal(shown,
                        "a|one|1|n|7|18446744073709551615|0;b|two|2|m|0|0|12;"
                        "a|one|1|n|7|18446744073709551615|0;b|two|2|m|0|0|12;c|three|||1|12|0;");
    for (int i = 0; i < 7; i++) {
        static const char *const values[] = {"b", "b", "2", "2", "b", "2", "2"};
        assert_string_equal(last[LISTING_ALL].words[i], values[i]);
    }
    odds[0] = first;
    assert_int_equal(list_of(self, NULL, 1, NULL), 1);
    odds[0] = wrong;
    assert_int_equal(list_of(self, NULL, 1, NULL), FIRN_OK);
    odds[0] = fails;
    assert_int_equal(list_of(self, NULL, 1, &error), FIRN_ESTORE);
    assert_int_equal(error.code, FIRN_ESTORE);
    odds[0] = one;
    assert_int_equal(list_of(self, "a", 9, NULL), FIRN_OK);
    assert_string_equal(shown, "a|one|1||0|0|0;");
    assert_string_equal(last[LISTING_ONE].words[0], "a");
    assert_string_equal(last[LISTING_ONE].words[2], "2");
    assert_null(firn_store_driver.source(self, "a"));
    refusal_of_login = 1045;
    maria_hang_up(self, false);
    assert_int_equal(list_of(self, "a", 9, NULL), FIRN_ESTORE);
    assert_string_equal(shown, "");
    steps_end(self);
    self = steps_at(HOME "?leaf=l");
    odds[0] = leaf;
    odds[1] = (odd){TABLES, 9, .columns = 2, .cells = {{"l", "InnoDB"}}};
    assert_int_equal(list_of(self, NULL, 9, NULL), FIRN_OK);
    assert_string_equal(shown, "integer a|integer|||0|0|0;");
    assert_int_equal(list_of(self, "not integer", 9, NULL), FIRN_OK);
    assert_string_equal(firn_store_driver.source(self, "integer a"), "table l");
    steps_end(self);
    self = steps_at(HOME "?tickets=t");
    odds[0] = (odd){LISTING_TICKETS, 1, .columns = 7, .cells = {{"integer t", "integer"}}};
    odds[1] = (odd){TABLES, 9, .columns = 2, .cells = {{"t", "InnoDB"}}};
    assert_int_equal(list_of(self, NULL, 9, NULL), FIRN_OK);
    assert_string_equal(shown, "integer t|integer|||0|0|0;");
    steps_end(self);
    self = steps_at(HOME "?worker_node=w");
    odds[0] = one;
    odds[1] = (odd){TABLES, 9, .columns = 2,
                    .cells = {{"m", "InnoDB"}, {"n", "InnoDB"}, {"w", "InnoDB"}}};
    assert_int_equal(list_of(self, "a tickets", 9, NULL), FIRN_OK);
    assert_string_equal(shown, "");
    assert_int_equal(list_of(self, "a", 9, NULL), FIRN_OK);
    assert_string_equal(shown, "a|one|1||0|0|0;");
    steps_end(self);
    shows_slowly = false;
}

static void records_have_the_time_of_the_server(void **state) {
    static const odd answers[] = {
        {CLOCK, 1, .columns = 1, .cells = {{"1234567"}}},
        {CLOCK, 1, .columns = 1, .cells = {{"-1"}}},
        {CLOCK, 1, .columns = 1, .cells = {{NULL}}},
        {CLOCK, 1, .columns = 2, .cells = {{"1", "2"}}},
        {CLOCK, 1, 1142},
    };
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        mysql_store *self = steps_at(HOME);
        firn_time now = {5, 5};
        firn_error error;
        odds[0] = answers[i];
        assert_int_equal(firn_store_driver.now(self, &now, &error), i == 0 ? FIRN_OK : FIRN_ESTORE);
        assert_true(i == 0 ? now.sec == 1 && now.ns == 234567000 : now.sec == 5);
        assert_true(i < 2 || strstr(error.text, i == 4 ? "lacks a right" : "no time") != NULL);
        steps_end(self);
    }
    mysql_store *self = steps_at(HOME);
    firn_time now;
    refusal_of_login = 1045;
    assert_int_equal(firn_store_driver.now(self, &now, NULL), FIRN_ESTORE);
    assert_int_equal(sent[CLOCK], 0);
    steps_end(self);
}

/* ---- a connection ---------------------------------------------------------------------------- */

static int dial(mysql_store *self, firn_error *error) {
    return maria_dial(self, 0, module_now_ms() + 60000, error);
}

static void records_are_behind_a_login(void **state) {
    static const char before[] = "nonblock=;seconds=2;charset=utf8mb4;", after[] = "reconnect=0;";
    static const struct {
        const char *url, *text;
    } cases[] = {
        {HOME, "tls=1;host=localhost;user=;password=env;database=d;port=0;socket=;"},
        {"mysql://u:p@h:3307/d?socket=/s&connect_timeout=2500ms",
         "nonblock=;seconds=3;charset=utf8mb4;tls=1;host=h;user=u;password=p;database=d;port=3307;"
         "socket=/s;"},
        {"mysql:///d?socket=/s", "tls=1;host=;user=;password=env;database=d;port=0;socket=/s;"},
        {HOME "?tls=off", "host=localhost;user=;password=env;database=d;port=0;socket=;"},
        {HOME "?tls=prefer", "tls=1;host=localhost;user=;password=env;database=d;port=0;socket=;"},
        {HOME "?tls=verify&ca=/a&cert=/b&key=/c&crl=/d",
         "tls=1;verify=1;ca=/a;cert=/b;key=/c;crl=/d;host=localhost;user=;password=env;database=d;"
         "port=0;socket=;"},
        {HOME "?tls=require&defaults-file=/none",
         "file=/none;tls=1;host=localhost;user=;password=;database=d;port=0;socket=;"},
    };
    (void)state;
    setenv("MYSQL_PWD", "env", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[400];
        mysql_store *self = steps_at(cases[i].url);
        has_tls = true;
        assert_int_equal(dial(self, NULL), FIRN_OK);
        snprintf(wanted, sizeof wanted, "%s%s%s",
                 strncmp(cases[i].text, "nonblock", 8) == 0 ? "" : before, cases[i].text, after);
        assert_string_equal(connected_with, wanted);
        assert_int_equal(self->link.socket, 7777);
        maria_hang_up(self, false);
        steps_end(self);
    }
    unsetenv("MYSQL_PWD");
}

/* The host that a file of options names is looked up first. */
static void records_are_on_the_host_of_a_file(void **state) {
    static const struct {
        const char *text, *host; /* NULL: no name is looked up */
    } cases[] = {
        {"[client]\nhost=h\n", "h"},
        {"[client]\nhost = 'h' # a comment\n", "h"},
        {" [client-server]\n\thost\t\"h\"\r\n", "h"},
        {"[client-mariadb]\nhost=g\nhost=h\n", "h"},
        {"[mysqld]\nhost=g\n[client]\nport=1\nhost=h\n[clien]\nhost=i\n[client-serve]\nhost=j\n",
         "h"},
        {"host=g\n[clients]\nhost=i\n", ""},
        {"[client]\nhostname=g\nho=h\n", ""},
        {"[client]\nhost=localhost\n", NULL},
        {"", ""},
        {"", ""}, /* no file */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char url[80], wanted[80];
        const bool none = i + 1 == sizeof cases / sizeof *cases;
        const int file = memfd_create("options", MFD_CLOEXEC), next = dup(file);
        close(next);
        assert_int_equal(write(file, cases[i].text, strlen(cases[i].text)), strlen(cases[i].text));
        snprintf(url, sizeof url, "mysql://?defaults-file=/proc/self/%s/%d", none ? "none" : "fd",
                 file);
        mysql_store *self = steps_at(url);
        assert_int_equal(dial(self, NULL), FIRN_OK);
        snprintf(wanted, sizeof wanted, "tries=%s;", cases[i].host != NULL ? cases[i].host : "");
        assert_int_equal(strncmp(connected_with, "tries=", 6) == 0, cases[i].host != NULL);
        if (cases[i].host != NULL && strncmp(connected_with, wanted, strlen(wanted)) != 0) {
            fail_msg("%zu: %s", i, connected_with);
        }
        maria_hang_up(self, false);
        no_names = true;
        assert_int_equal(dial(self, NULL), cases[i].host != NULL ? FIRN_ESTORE : FIRN_OK);
        maria_hang_up(self, false);
        steps_end(self);
        assert_int_equal(dup(file), next); /* the file was closed */
        close(next);
        close(file);
    }
}

static void records_are_behind_a_server(void **state) {
    mysql_store *self = steps_at(HOME);
    firn_error error;
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        static const unsigned numbers[] = {1040, 1203, 1226, 1045, 1041, 1204};
        refusal_of_login = numbers[i];
        self->link.busy = false;
        assert_int_equal(dial(self, &error), FIRN_ESTORE);
        assert_int_equal(self->link.busy, i < 3);
        assert_non_null(strstr(error.text, i < 3 ? "no connection left" : "cannot be reached"));
        maria_hang_up(self, false);
    }
    refusal_of_login = 0;
    ready = 0;
    awaits = MYSQL_WAIT_READ | MYSQL_WAIT_TIMEOUT;
    assert_int_equal(dial(self, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "no answer in connect_timeout=1000ms"));
    assert_true(self->late);
    maria_hang_up(self, false);
    ready = POLLIN;
    for (no_memory = 2; no_memory > 0; no_memory--) {
        connected_with[0] = '\0';
        assert_int_equal(dial(self, &error), FIRN_EMEMORY);
        assert_null(strstr(connected_with, "host="));
        maria_hang_up(self, false);
    }
    no_names = true; /* the library finds localhost */
    assert_int_equal(dial(self, &error), FIRN_OK);
    assert_false(self->late);
    maria_hang_up(self, false);
    steps_end(self);
    self = steps_at("mysql://h/d");
    no_names = true;
    assert_int_equal(dial(self, &error), FIRN_ESTORE);
    assert_null(self->db);
    steps_end(self);
    for (int i = 0; i < 4; i++) {
        static const char *const urls[] = {HOME "?tls=require", HOME "?tls=verify",
                                           HOME "?tls=prefer", HOME "?tls=off"};
        self = steps_at(urls[i]);
        assert_int_equal(dial(self, &error), i < 2 ? FIRN_ESTORE : FIRN_OK);
        assert_true(i >= 2 || strstr(error.text, "it offers no TLS") != NULL);
        maria_hang_up(self, false);
        steps_end(self);
    }
}

/* ---- the server that is reached -------------------------------------------------------------- */

#define VARIABLES_ARE(...)                                                                         \
    {                                                                                              \
        {                                                                                          \
            VARIABLES_KIND, 1, .columns = 2, .cells = {                                            \
                {"innodb_flush_log_at_trx_commit", "1"},                                           \
                {"server_id", "1"},                                                                \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        }                                                                                          \
    }

static void records_are_on_a_server(void **state) {
    static const struct {
        odd given[ODDS];
        const char *refusal, *identity, *uuid, *url; /* NULL: none; id/1; none; HOME */
    } cases[] = {
        {{{0}}, NULL, NULL, NULL, NULL},
        /* durability */
        {{{VARIABLES_KIND, 1, .columns = 2, .cells = {{"innodb_flush_log_at_trx_commit", "2"}}}},
         "has innodb_flush_log_at_trx_commit=2, so a crash may lose acknowledged writes: set it to "
         "1",
         NULL,
         NULL,
         NULL},
        {{{VARIABLES_KIND, 1, .columns = 2,
           .cells = {{"INNODB_FLUSH_LOG_AT_TRX_COMMIT", "3"}, {"server_id", "1"}, {NULL, "x"}}}},
         NULL,
         NULL,
         NULL,
         NULL},
        {VARIABLES_ARE({"log_bin", "ON"}, {"sync_binlog", "0"}), "log_bin with sync_binlog=0", NULL,
         NULL, NULL},
        {VARIABLES_ARE({"log_bin", "ON"}, {"sync_binlog", "1"}), NULL, NULL, NULL, NULL},
        {VARIABLES_ARE({"log_bin", "OFF"}, {"sync_binlog", NULL}), NULL, NULL, NULL, NULL},
        {VARIABLES_ARE({"innodb_flush_method", "NOSYNC"}), "set it to fsync", NULL, NULL, NULL},
        {VARIABLES_ARE({"innodb_flush_method", "littlesync"}), "=littlesync", NULL, NULL, NULL},
        {VARIABLES_ARE({"innodb_flush_method", "fsync"}), NULL, NULL, NULL, NULL},
        {VARIABLES_ARE({"innodb_doublewrite", "OFF"}), "set it to ON", NULL, NULL, NULL},
        {VARIABLES_ARE({"innodb_doublewrite", "DETECT_ONLY"}), "set it to ON", NULL, NULL, NULL},
        {VARIABLES_ARE({"innodb_doublewrite", "ON"}), NULL, NULL, NULL, NULL},
        {VARIABLES_ARE({"innodb_doublewrite", "OFF"}), NULL, NULL, NULL, HOME "?unsafe=1"},
        {VARIABLES_ARE({"read_only", "ON"}), "a replica or read-only", NULL, NULL, NULL},
        /* identities */
        {VARIABLES_ARE({"server_uuid", "u"}), NULL, "server/u", "u", NULL},
        {VARIABLES_ARE({"server_uuid", "u-1"}, {"group_replication_group_name", "g"}), NULL,
         "group/g", "u-1", NULL},
        {VARIABLES_ARE({"wsrep_on", "ON"}), "no wsrep_cluster_state_uuid", NULL, NULL, NULL},
        {{{VARIABLES_KIND, 1, .columns = 2,
           .cells = {{"innodb_flush_log_at_trx_commit", "1"},
                     {"server_id", "1"},
                     {"wsrep_on", "ON"}}},
          {CLUSTER, 1, 1142}},
         "lacks a right",
         NULL,
         NULL,
         NULL},
        {{{VARIABLES_KIND, 1, .columns = 2,
           .cells = {{"innodb_flush_log_at_trx_commit", "1"},
                     {"server_id", "1"},
                     {"wsrep_on", "ON"}}},
          {CLUSTER, 1, .columns = 2, .cells = {{"wsrep_cluster_state_uuid", "c"}}},
          {SYNC_WAIT, 1, 1142}},
         "lacks a right",
         NULL,
         NULL,
         NULL},
        /* one server */
        {{{WITNESS, 1, .columns = 1, .cells = {{"7"}}}}, "from two servers", NULL, NULL, NULL},
        {{{WITNESS, 1, .columns = 1, .cells = {{"7 2"}}}}, "from two servers", NULL, NULL, NULL},
        {{{WITNESS, 1, 1142}}, "lacks a right", NULL, NULL, NULL},
        {{{WITNESS, 1, .columns = 1, .cells = {{"7777 1"}}}},
         "changed its session",
         NULL,
         NULL,
         NULL},
        /* tables */
        {{{TABLES, 1, .columns = 2, .cells = {{"firn_mark", "InnoDB"}}}}, NULL, NULL, NULL, NULL},
        {{{TABLES, 1, .columns = 2, .cells = {{NULL, "InnoDB"}, {"a", "InnoDB"}, {"b", "InnoDB"}}}},
         NULL,
         NULL,
         NULL,
         NULL},
        {{{TABLES, 2, .columns = 2}}, "has no table firn in its database", NULL, NULL, NULL},
        {{{TABLES, 1, .columns = 2}, {CREATING, 1, 1142}},
         "lacks firn_mark and may not create it: run GRANT CREATE ON d.*",
         NULL,
         NULL,
         NULL},
        {{{TABLES, 1, .columns = 2}, {CREATING, 1, 1142}},
         "run GRANT CREATE ON *.*",
         NULL,
         NULL,
         "mysql://localhost?defaults-file=/none"},
        {{{TABLES, 1, .columns = 2}, {CREATING, 1, 1064}}, "know the statement", NULL, NULL, NULL},
        {{{TABLES, 1, .columns = 2}, {CREATING_STORE, 1, .silent = true}},
         "a reason",
         NULL,
         NULL,
         NULL},
        {{{TABLES, 1, 1142}}, "lacks a right", NULL, NULL, NULL},
        {{{TABLES, 1, .columns = 2, .cells = {{"a", "InnoDB"}, {"b", "MyISAM"}}}},
         "table b in MyISAM, so a crash may lose acknowledged writes: run ALTER TABLE",
         NULL,
         NULL,
         NULL},
        {{{TABLES, 1, .columns = 2, .cells = {{"a", NULL}, {"b", "innodb"}}}},
         "table a in a view",
         NULL,
         NULL,
         NULL},
        {{{TABLES, 1, .columns = 2, .cells = {{"l", "InnoDB"}}}}, NULL, NULL, NULL, HOME "?leaf=l"},
        {{{TABLES, 1, .columns = 2}}, "has no table l", NULL, NULL, HOME "?leaf=l"},
        {{{TABLES, 1, .columns = 2}}, "has no table t", NULL, NULL, HOME "?tickets=t"},
        {{{TABLES, 1, .columns = 2, .cells = {{"t", "InnoDB"}}}},
         NULL,
         NULL,
         NULL,
         HOME "?tickets=t"},
        {{{0}}, "has no table w", NULL, NULL, HOME "?worker_node=w"},
        {{{TABLES, 1, .columns = 2, .cells = {{"w", "InnoDB"}, {"m", "InnoDB"}, {"n", "InnoDB"}}}},
         NULL,
         NULL,
         NULL,
         HOME "?worker_node=w"},
        {{{TRIGGERS, 1, .columns = 1, .cells = {{"t"}}}}, "have trigger t,", NULL, NULL, NULL},
        {{{TRIGGERS, 1, 1142}}, "lacks a right", NULL, NULL, NULL},
        /* the session */
        {{{UNDOING, 1, 1064}}, "does not know the statement", NULL, NULL, NULL},
        {{{SETTINGS, 1, 1064}}, "does not know the statement", NULL, NULL, NULL},
        {{{ISOLATION, 1, 1064}}, "does not know the statement", NULL, NULL, NULL},
        {{{VARIABLES_KIND, 1, 1064}}, "does not know the statement", NULL, NULL, NULL},
        /* the number of the table */
        {{{NUMBER, 1, 1142}}, "lacks a right", NULL, NULL, NULL},
        {{{NUMBER, 1, .silent = true}}, "a reason", NULL, NULL, NULL},
        {{{NUMBER, 1, MARIA_NO_SUCH}, {NO_NUMBER, 1, .columns = 1, .cells = {{"5"}}}},
         NULL,
         NULL,
         NULL,
         NULL},
        {{{NUMBER, 1, MARIA_NO_SUCH}, {NO_NUMBER, 1, MARIA_NO_SUCH}}, NULL, NULL, NULL, NULL},
        {{{NUMBER, 1, MARIA_NO_SUCH}, {NO_NUMBER, 1, 1142}}, "lacks a right", NULL, NULL, NULL},
        {{{NUMBER, 1, MARIA_NO_PROCESS}}, NULL, NULL, NULL, NULL},
        {{{LAYOUT_KIND, 1, 1142}}, "lacks a right", NULL, NULL, NULL},
        {{{NUMBERED, 1, 1142}}, "lacks a right", NULL, NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mysql_store *self = steps_at(cases[i].url != NULL ? cases[i].url : HOME);
        firn_error error = {0};
        server_uuid = cases[i].uuid;
        memcpy(odds, cases[i].given, sizeof odds);
        const int code = dial(self, &error);
        if ((code != FIRN_OK) != (cases[i].refusal != NULL) ||
            (code != FIRN_OK && strstr(error.text, cases[i].refusal) == NULL)) {
            fail_msg("%zu: %d, %s", i, code, error.text);
        }
        assert_true(code == FIRN_OK || (code == FIRN_ESTORE && error.code == code));
        assert_true(
            code != FIRN_OK ||
            strcmp(self->identity, cases[i].identity != NULL ? cases[i].identity : "id/1") == 0);
        const bool foreign = self->shape == LEAF || self->shape == TICKETS;
        assert_true(code != FIRN_OK || sent[TRIGGERS] == !foreign);
        assert_true(code != FIRN_OK || sent[CREATING] == 2 * sent[CREATING_STORE]);
        const char kind = self->identity[0]; /* of a cluster, a group, a server or an ID */
        assert_true(code != FIRN_OK || maria_in_cluster(self) == (kind == 'c' || kind == 'g'));
        assert_true(!maria_in_cluster(self) || sent[NUMBER] == 0);
        assert_true(code != FIRN_OK || odds[0].kind != NUMBER ||
                    sent[LAYOUT_KIND] == (odds[1].columns == 1));
        assert_int_equal(code == FIRN_OK && module_caution(self) != NULL, self->link.unsafe);
        assert_true(!foreign || sent[CREATING] + sent[NUMBER] == 0);
        maria_hang_up(self, false);
        steps_end(self);
    }
}

/* ---- a statement ----------------------------------------------------------------------------- */

/* Of other errors the outcome is unknown. */
static void records_are_unchanged_after_these_errors(void **state) {
    static const unsigned refusals[] = {1020, 1021, 1044, 1047, 1054, 1064, 1109, 1114,
                                        1142, 1143, 1146, 1205, 1213, 1227, 1264, 1290,
                                        1366, 1406, 1665, 1690, 1792, 1836, 3819, 4025};
    mysql_store *self = steps_at(HOME);
    mysql_statement statement;
    mysql_reply out;
    (void)state;
    assert_int_equal(dial(self, NULL), FIRN_OK);
    maria_compose(self, &statement, "START TRANSACTION");
    frozen_ms = 1;
    for (unsigned number = 1000, i = 0; number < 4100; number++) {
        const bool refused = i < sizeof refusals / sizeof *refusals && number == refusals[i];
        i += refused;
        odds[0] = (odd){STARTING, 99, number};
        const int code = maria_ask(self, &statement, NULL, &out, NULL);
        assert_true(number == DUPLICATE ? code == FIRN_OK && out.affected == 0
                    : refused           ? code == FIRN_ESTORE && self->db != NULL
                                        : code == FIRN_EUNKNOWN && self->db == NULL);
        if (self->db == NULL) {
            assert_int_equal(dial(self, NULL), FIRN_OK);
        }
    }
    assert_int_equal(find(4025), EXPLANATIONS - 6);
    maria_hang_up(self, false);
    steps_end(self);
}

static void records_are_sent_again(void **state) {
    static const struct {
        unsigned number;
        int times, code, sent, naps;
        int64_t timeout_ms;
    } cases[] = {
        {DEADLOCK, 4, FIRN_OK, 5, 30, 1000}, {DEADLOCK, 5, FIRN_ESTORE, 5, 30, 1000},
        {CHANGED, 1, FIRN_OK, 2, 2, 1000},   {LOCKED, 1, FIRN_OK, 2, 2, 1000},
        {1142, 1, FIRN_ESTORE, 1, 0, 1000},  {DEADLOCK, 9, FIRN_ESTORE, 3, 6, 5},
        {DEADLOCK, 9, FIRN_ESTORE, 3, 6, 6}, {DEADLOCK, 9, FIRN_ESTORE, 4, 14, 7},
    };
    mysql_store *self = steps_at(HOME);
    mysql_statement statement;
    mysql_reply out;
    firn_error error;
    (void)state;
    assert_int_equal(dial(self, NULL), FIRN_OK);
    maria_compose(self, &statement, lock_sql);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        frozen_ms = 1;
        sent[LOCKING] = naps = 0;
        self->link.timeout_ms = cases[i].timeout_ms;
        odds[0] = (odd){LOCKING, cases[i].times, cases[i].number};
        assert_int_equal(maria_ask(self, &statement, NULL, &out, NULL), cases[i].code);
        assert_int_equal(sent[LOCKING], cases[i].sent);
        assert_int_equal(naps, cases[i].naps);
    }
    odds[0] = (odd){0};
    frozen_ms = 0;
    self->link.timeout_ms = 1000;
    self->link.end_ms = 1; /* max_wait has passed */
    sent[LOCKING] = 0;
    assert_int_equal(maria_ask(self, &statement, &firn__module_points[0], &out, &error),
                     FIRN_ESTORE);
    assert_non_null(strstr(error.text, "too slowly"));
    assert_int_equal(sent[LOCKING], 0);
    maria_hang_up(self, false);
    steps_end(self);
}

static void records_have_short_names(void **state) {
    static struct {
        mysql_statement statement;
        char after[4 * FIRN_NS_SIZE];
    } room;
    char text[MARIA_STATEMENT_SIZE] = "";
    mysql_store *self = steps_at(HOME);
    mysql_statement statement;
    mysql_reply out;
    firn_error error;
    (void)state;
    maria_compose(self, &room.statement, "@$", memset(text, 'x', sizeof text - 1));
    assert_true(room.statement.length > sizeof room && room.after[0] == '\0');
    assert_memory_equal(room.after, room.after + 1, sizeof room.after - 1);
    memset(text, ' ', sizeof text);
    memcpy(text, "START TRANSACTION", 17);
    assert_int_equal(dial(self, NULL), FIRN_OK);
    self->witness[0] = '\0'; /* so that nothing follows the statement */
    text[sizeof text - 1] = '\0';
    maria_compose(self, &statement, text);
    assert_int_equal(statement.length, sizeof text - 1);
    assert_int_equal(maria_ask(self, &statement, NULL, &out, NULL), FIRN_OK);
    statement.length = sizeof text; /* as many bytes as there is room for */
    assert_int_equal(maria_ask(self, &statement, NULL, &out, &error), FIRN_ERANGE);
    assert_non_null(strstr(error.text, "use shorter ones"));
    assert_null(out.rows);
    maria_hang_up(self, false);
    steps_end(self);
}

static void records_are_composed(void **state) {
    mysql_store store = {.table = "t", .foreign = "f", .witness = ""};
    mysql_statement statement;
    (void)state;
    statement.ends = true;
    maria_compose(&store, &statement, "@a @@b !c !!d $ # ^;", "x\xff'", INT64_MIN, UINT64_MAX);
    assert_int_equal(statement.length, strlen("ta @@b fc !d x'78ff27' ") + 20 + 1 + 20 + 1);
    assert_memory_equal(statement.text,
                        "ta @@b fc !d x'78ff27' -9223372036854775808 18446744073709551615;",
                        statement.length);
    assert_true(!statement.ends && !statement.witnessed);
    strcpy(store.witness, "1 1");
    for (int i = 0; i < 2; i++) {
        char wanted[200];
        store.has_uuid = i == 1;
        maria_compose(&store, &statement, "S");
        snprintf(wanted, sizeof wanted, "S; %s", witness_sql[i]);
        assert_true(statement.witnessed && statement.length == strlen(wanted));
        assert_memory_equal(statement.text, wanted, statement.length);
    }
}

/* ---- a server that is slow, another one, or in a transaction --------------------------------- */

static void records_come_in_time(void **state) {
    enum { READ = MYSQL_WAIT_READ, WRITE = MYSQL_WAIT_WRITE, EXCEPT = MYSQL_WAIT_EXCEPT };
    static const struct {
        int wanted;
        short got;
        int result;
        bool late;
    } cases[] = {
        {READ, POLLIN, READ, false},
        {WRITE, POLLOUT, WRITE, false},
        {EXCEPT, POLLPRI, EXCEPT, false},
        {READ | WRITE, POLLOUT, WRITE, false},
        {READ | WRITE | EXCEPT, POLLIN | POLLPRI, READ | EXCEPT, false},
        {READ | EXCEPT | MYSQL_WAIT_TIMEOUT, POLLPRI, EXCEPT, false},
        {READ | MYSQL_WAIT_TIMEOUT, 0, MYSQL_WAIT_TIMEOUT, true},
        {READ, 0, READ, true},
        {WRITE | EXCEPT, 0, WRITE, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mysql_store *self = steps_at(HOME);
        assert_int_equal(dial(self, NULL), FIRN_OK);
        ready = cases[i].got;
        assert_int_equal(maria_resume(self, cases[i].wanted, 1), cases[i].result);
        assert_int_equal(awaited, (cases[i].wanted & READ ? POLLIN : 0) |
                                      (cases[i].wanted & WRITE ? POLLOUT : 0) |
                                      (cases[i].wanted & EXCEPT ? POLLPRI : 0));
        assert_int_equal(self->late, cases[i].late);
        ready = POLLIN; /* too late: the library is to end its call */
        assert_int_equal(maria_resume(self, READ | WRITE, 1), cases[i].late ? READ | WRITE : READ);
        maria_hang_up(self, false);
        steps_end(self);
    }
    /* by each call of the library */
    mysql_store *self = steps_at(HOME);
    firn_error error;
    assert_int_equal(dial(self, NULL), FIRN_OK);
    assert_true(maria_is_open(self));
    idle_ends = true;
    assert_false(maria_is_open(self));
    awaits = READ | MYSQL_WAIT_TIMEOUT;
    ready = 0;
    assert_int_equal(maria_run(self, &error, "START TRANSACTION"), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "(no answer in timeout)"));
    assert_false(maria_is_open(self));
    awaits = 0; /* nothing to wait for */
    assert_int_equal(dial(self, &error), FIRN_OK);
    maria_hang_up(self, false);
    steps_end(self);
}

static void records_are_of_one_session(void **state) {
    static const struct {
        unsigned status;
        const char *text; /* NULL: no doubt */
    } cases[] = {
        {0, NULL},
        {SERVER_STATUS_IN_TRANS, "its session is in a transaction"},
        {SERVER_STATUS_AUTOCOMMIT, "its session is in a transaction"},
    };
    mysql_statement statement;
    mysql_reply out;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int inside = 0; inside < 2; inside++) {
            mysql_store *self = steps_at(HOME);
            firn_error error = {0};
            assert_int_equal(dial(self, NULL), FIRN_OK);
            if (inside == 1) {
                assert_int_equal(sql_begin(self, NULL), FIRN_OK);
            }
            odd_status = cases[i].status;
            maria_compose(self, &statement, lock_sql);
            const int code = maria_ask(self, &statement, NULL, &out, &error);
            assert_int_equal(code, cases[i].text != NULL ? FIRN_EUNKNOWN : FIRN_OK);
            assert_true(code == FIRN_OK || strstr(error.text, cases[i].text) != NULL);
            maria_hang_up(self, false);
            assert_false(self->sql.inside);
            odd_status = SERVER_STATUS_IN_TRANS; /* a session may begin so */
            assert_int_equal(dial(self, NULL), FIRN_ESTORE);
            maria_hang_up(self, false);
            steps_end(self);
        }
    }
    mysql_store *self = steps_at(HOME);
    firn_error error;
    assert_int_equal(dial(self, NULL), FIRN_OK);
    server_uuid = "another";
    assert_int_equal(maria_run(self, &error, "START TRANSACTION"), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "a proxy changed its session"));
    server_uuid = NULL;
    assert_int_equal(dial(self, NULL), FIRN_OK);
    no_witness = true;
    frozen_ms = 5;
    assert_int_equal(maria_run(self, &error, read_sql, "bare", "bare", "2"), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "a reason"));
    assert_int_equal(awaited_until, 1005);
    steps_end(self);
}

static int other_process; /* the point at which a child continues, from 1 on */

static void fork_there(void *self, const char *point) {
    (void)point;
    if (--other_process == 0) {
        ((mysql_store *)self)->link.process++;
    }
}

static void records_of_a_parent_stay(void **state) {
    (void)state;
    for (int i = 1; i < 4; i++) { /* before, sent, committed */
        mysql_store *self = sealed_at(HOME);
        const int64_t process = self->link.process;
        firn_records next;
        self->link.options.failpoint = fork_there;
        self->link.options.failpoint_self = self;
        other_process = i;
        assert_int_equal(attempt(self, FIRN_VERB_RESERVE, FIRN_RECORD_KEY, &next, NULL),
                         FIRN_EFORKED);
        assert_int_equal(sent[AGAIN], i > 1);
        assert_non_null(self->db);
        assert_int_equal(other_process, 0); /* no further point is reached */
        self->link.process = process;
        steps_end(self);
    }
    /* the descriptor is closed, and nothing is sent on it */
    mysql_store *self = sealed_at(HOME);
    session *s = session_of(self->db);
    const int file = memfd_create("a socket", MFD_CLOEXEC);
    self->link.socket = file;
    assert_int_not_equal(self->sql.last_high, 0);
    maria_hang_up(self, true);
    assert_true(s->used && self->db == NULL && self->link.socket == -1);
    assert_int_equal(self->sql.last_high, 0);
    assert_int_equal(fcntl(file, F_GETFD), -1);
    maria_hang_up(self, true); /* once */
    session_leave(s);
    steps_end(self);
}

/* A reservation that a new connection does not show. */
static void records_that_are_older_are_noticed(void **state) {
    static const struct {
        int64_t high;
        bool there, lost;
    } cases[] = {{20, true, false}, {19, true, true}, {21, true, false}, {20, false, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mysql_store *self = sealed_at(HOME);
        stored *mark = &live.rows[mark_row("bare", "2")];
        firn_records seen = step_names;
        assert_int_equal(self->sql.last_high, 20);
        maria_hang_up(self, false);
        mark->number = cases[i].high;
        mark->there = cases[i].there;
        assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL),
                         FIRN_OK);
        assert_int_equal(sent[LAST], 1);
        assert_int_equal(firn_store_driver.lost(self, &seen), cases[i].lost);
        mark->there = true;
        mark->number = 99;
        assert_int_equal(dial(self, NULL), FIRN_OK); /* and still is, on the next one */
        assert_int_equal(firn_store_driver.lost(self, &seen), cases[i].lost);
        assert_int_equal(firn_store_driver.end(self, FIRN_OK), FIRN_OK);
        firn_store_driver.forget(self);
        assert_false(firn_store_driver.lost(self, &seen));
        server_forget();
        module_close(self);
        usual();
        memset(sessions, 0, sizeof sessions);
    }
    mysql_store *self = sealed_at(HOME);
    maria_hang_up(self, false);
    odds[0] = (odd){LAST, 1, 1142};
    assert_int_equal(firn_store_driver.begin(self, &step_names, FIRN_VERB_RESERVE, NULL),
                     FIRN_ESTORE);
    assert_false(self->sql.suspect);
    steps_end(self);
}

/* A table that was dropped, emptied or loaded since. */
static void records_are_in_the_same_table(void **state) {
    mysql_store *self = sealed_at(HOME);
    firn_error error;
    bool lost = true;
    (void)state;
    assert_string_equal(live.rows[STORE_ROW].layout, last[NUMBERED].words[0]);
    assert_int_equal(maria_check_table(self, &lost, NULL), FIRN_OK);
    assert_true(!lost && self->sql.last_high == 20 && sent[NUMBERED] + sent[RELOADED] == 0);
    live.made = ++loads;
    odds[0] = (odd){RELOADED, 1, 1142};
    assert_int_equal(maria_check_table(self, &lost, &error), FIRN_ESTORE);
    assert_int_equal(self->sql.last_high, 20);
    assert_int_equal(maria_check_table(self, &lost, NULL), FIRN_OK);
    assert_true(lost && self->sql.last_high == 0);
    assert_string_equal(live.rows[ns_row("bare")].identity, MODULE_GONE_BACK);
    maria_hang_up(self, false);
    odds[0] = (odd){TRIGGERS, 1, 1142};
    assert_int_equal(dial(self, &error), FIRN_ESTORE); /* does not forget that they were there */
    maria_hang_up(self, false);
    odds[0] = (odd){TABLES, 1, .columns = 2, .cells = {{"firn_mark", "InnoDB"}}};
    assert_int_equal(dial(self, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "a table of firn was dropped, its marks are lost"));
    maria_hang_up(self, false);
    odds[0].times = 1; /* and stays so */
    assert_int_equal(dial(self, &error), FIRN_ESTORE);
    assert_int_equal(sent[CREATING], 0);
    maria_hang_up(self, false);
    steps_end(self);
    self = steps_at(HOME); /* numbers of one digit */
    live.made = 7;
    assert_int_equal(dial(self, NULL), FIRN_OK);
    live.made = 8;
    assert_int_equal(maria_check_table(self, &lost, NULL), FIRN_OK);
    assert_true(lost);
    maria_hang_up(self, false);
    steps_end(self);
    self = steps_at(HOME "?leaf=l");
    odds[0] = (odd){TABLES, 1, .columns = 2, .cells = {{"l", "InnoDB"}}};
    assert_int_equal(dial(self, NULL), FIRN_OK);
    maria_hang_up(self, false);
    odds[0] = (odd){TABLES, 1, .columns = 2};
    assert_int_equal(dial(self, &error), FIRN_ESTORE);
    assert_non_null(strstr(error.text, "a table of l was dropped"));
    maria_hang_up(self, false);
    steps_end(self);
}

static void records_need_a_session_of_these_settings(void **state) {
    static const struct {
        const char *url, *lock, *idle, *wait;
    } cases[] = {
        {HOME, "timeout = 1,", "timeout = 10 ", "timeout = 60 "},
        {HOME "?timeout=3900ms", "timeout = 1,", "timeout = 10 ", "timeout = 60 "},
        {HOME "?timeout=20s", "timeout = 10,", "timeout = 100 ", "timeout = 600 "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mysql_store *self = steps_at(cases[i].url);
        assert_int_equal(dial(self, NULL), FIRN_OK);
        assert_non_null(strstr(last_text[SETTINGS], cases[i].lock));
        assert_non_null(strstr(last_text[SETTINGS], cases[i].idle));
        assert_non_null(strstr(last_text[SETTINGS], cases[i].wait));
        assert_int_equal(sent[UNDOING], 1);
        maria_hang_up(self, false);
        steps_end(self);
    }
}

#endif
