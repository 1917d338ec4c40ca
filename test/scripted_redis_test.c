/* SPDX-License-Identifier: MIT */
/* The driver of Redis over a scripted server: see scripted.h. That server does what the scripts of
 * modules/redis_lua.h do; test/redis_test.c runs those. */
#include "../fuzz/lying.h"
#include "../src/hash.h"
#include "scripted.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t lie_send(int fd, const char *buf, size_t size);
static ssize_t lie_receive(int fd, char *buf, size_t size);
static int lie_close(int fd);

#define recv(fd, buf, size, flags)       lie_receive(fd, buf, size)
#define send(fd, buf, size, flags)       lie_send(fd, buf, size)
#define close(fd)                        lie_close(fd)
#define module_await(fd, events, end_ms) ((void)(fd), (void)(events), (void)(end_ms), 0)
#include "../modules/redis.c"
#include "../modules/redis_counter.c"
#include "../modules/redis_session.c"
#include "../modules/redis_wire.c"

/* ---- the server ------------------------------------------------------------------------------ */

#define TEXT 100
#define WORD 4000 /* the longest script */

typedef struct stored_key {
    char high[24], grant[24], note[40]; /* "": absent */
} stored_key;

typedef struct stored_space {
    char layout[TEXT], losses[24], floor[24];
    stored_key keys[KEYS];
} stored_space;

typedef struct world {
    uint64_t run; /* of the process; not in a copy */
    bool indexed;
    char identity[24], losses[24];
    int changes; /* of these two */
    stored_space spaces[SPACES];
} world;

/* EVALSHA or EVAL, the script, its number of keys, keys, arguments. */
typedef struct command {
    int count;
    char words[20][WORD];
} command;

enum { SOCKETS = 256, LATE = 4 };

static struct {
    bool used, closed; /* closed: by the server */
    char out[4096];
    size_t length, position;
} sockets[SOCKETS];
static world now, saved;
static uint64_t runs;
static command late[LATE];
static int late_count;
static bool unsealed; /* injected bug: a write compares no other records */

static stored_key *key_of(int ns, const char *key) {
    return &now.spaces[ns].keys[scripted_index(key_names, key)];
}

/* The texts that read_lua returns; the last one is the seal. */
static void see(char texts[READ_TEXTS][TEXT], const char *name, const char *key) {
    const int ns = scripted_index(space_names, name);
    const stored_space *space = &now.spaces[ns];
    const stored_key *mark = key_of(ns, key);
    const bool whole = now.identity[0] != '\0' && space->losses[0] != '\0';
    const char *found[READ_TEXTS] = {
        "", now.identity, now.losses, space->layout, space->losses, space->floor,
        "", "",           "",         mark->high,    mark->grant,   mark->note,
        ""};
    char all[9 * TEXT] = "";
    found[AT_MADE] = whole ? "" : now.indexed ? "1" : "0";
    for (int i = 0; i < READ_TEXTS; i++) {
        snprintf(texts[i], TEXT, "%s", found[i]);
    }
    snprintf(texts[AT_RUN], TEXT, "run%" PRIu64, now.run);
    for (int i = 0; i < 9; i++) {
        strcat(strcat(all, texts[i]), "\n");
    }
    snprintf(all + strlen(all), sizeof all - strlen(all), "%d", now.changes);
    snprintf(texts[AT_SEAL], TEXT, "%016" PRIx64, firn__hash(FIRN__HASH_START, all, strlen(all)));
}

static void put(char *to, const char *text) {
    snprintf(to, 24, "%.23s", text);
}

static bool is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

/* write_lua; false: changed. */
static bool carry_out(const char (*given)[WORD], char seal[TEXT]) {
    char texts[READ_TEXTS][TEXT];
    const int ns = scripted_index(space_names, given[0]);
    stored_space *space = &now.spaces[ns];
    stored_key *mark = key_of(ns, given[1]);
    see(texts, given[0], given[1]);
    if ((!is(texts[AT_SEAL], given[2]) && !unsealed) ||
        (given[9][0] != '\0' && (!is(mark->high, given[3]) || !is(mark->grant, given[4])))) {
        return false;
    }
    if (given[5][0] != '\0') {
        put(now.identity, texts[AT_RUN]);
        put(now.losses, given[5]);
        now.changes++;
    }
    if (given[6][0] != '\0') {
        now.indexed = true;
        snprintf(space->layout, TEXT, "%.99s", given[6]);
        put(space->losses, given[7]);
        put(space->floor, given[8]);
    }
    if (given[9][0] != '\0') {
        put(mark->high, given[9]);
        put(mark->grant, given[10]);
        snprintf(mark->note, sizeof mark->note, "%.39s", given[11]);
        scripted_raise(ns, atoll(given[9]));
    }
    see(texts, given[0], given[1]);
    strcpy(seal, texts[AT_SEAL]);
    return true;
}

/* add_lua; false: changed. */
static bool add_up(const char *ns_key, const char (*given)[WORD], char first[TEXT]) {
    const int ns = scripted_index(space_names, strchr(ns_key, ':') + 1);
    stored_space *space = &now.spaces[ns];
    stored_key *mark = key_of(ns, given[0]);
    char run[24];
    const int64_t high = atoll(mark->high), low = atoll(given[7]), least = atoll(given[5]);
    const int64_t begin = high > low ? high : low;
    snprintf(run, sizeof run, "run%" PRIu64, now.run);
    if (!is(now.identity, run) || atoll(now.losses) != atoll(given[1]) ||
        !is(space->layout, given[2]) || !is(space->losses, given[1]) ||
        atoll(space->floor) != atoll(given[3]) || (is(given[4], "1") && mark->high[0] == '\0') ||
        high < least || begin > atoll(given[8]) ||
        (high == least && atoll(mark->grant) != 0 && !is(mark->grant, given[6]))) {
        return false;
    }
    snprintf(mark->high, sizeof mark->high, "%" PRId64, begin + (int64_t)atoll(given[9]));
    put(mark->grant, given[10]);
    snprintf(mark->note, sizeof mark->note, "%.39s", given[11]);
    scripted_raise(ns, begin + atoll(given[9]));
    snprintf(first, TEXT, "%" PRId64, begin);
    return true;
}

/* Runs a script, and returns the length of its reply. */
static size_t run_script(const command *c, const redis_store *store, char out[4096]) {
    const char(*given)[WORD] = c->words + 3 + atoi(c->words[2]);
    const char *script = c->words[1];
    char texts[READ_TEXTS][TEXT];
    int count = 2;
    bool done = false;
    const bool adds = is(script, store->add.sha) || is(script, store->add.text);
    char key[REDIS_KEY_SIZE];
    snprintf(key, sizeof key, "{firn}:%.99s", adds ? strchr(c->words[3], ':') + 1 : given[0]);
    assert_string_equal(c->words[2], adds ? "2" : "4"); /* the keys that a cluster looks at */
    assert_string_equal(c->words[3], key);
    assert_string_equal(c->words[adds ? 4 : 5], "{firn}:");
    if (!adds) {
        assert_string_equal(c->words[4], "{firn}");
        assert_string_equal(c->words[6], "{firn}:" FIRN_ALL_NAMES);
    }
    if (is(script, store->read.sha) || is(script, store->read.text)) {
        see(texts, given[0], given[1]);
        scripted_read();
        count = READ_TEXTS;
    } else {
        done = adds ? add_up(c->words[3], given, texts[1]) : carry_out(given, texts[1]);
        strcpy(texts[0], done ? "ok" : "changed");
        count = done ? 2 : 1;
    }
    size_t length = (size_t)snprintf(out, 4096, "*%d\r\n", count);
    for (int i = 0; i < count; i++) {
        length += (size_t)snprintf(out + length, 4096 - length, "$%zu\r\n%s\r\n", strlen(texts[i]),
                                   texts[i]);
    }
    return length;
}

static const redis_store *any_store; /* for the names of scripts */

static void server_deliver(void) {
    char unheard[4096];
    if (late_count > 0) {
        const int i = (int)(chance() % (unsigned)late_count);
        const command c = late[i];
        late[i] = late[--late_count];
        (void)run_script(&c, any_store, unheard);
    }
}

static void server_forget(void) {
    late_count = 0;
}

/* Connections break, or a proxy keeps them. */
static void new_run(void) {
    now.run = ++runs;
    for (int fd = 0; fd < SOCKETS; fd++) {
        sockets[fd].closed |= !ONE_IN(3);
    }
}

static void server_restart(void) {
    new_run();
}

static void server_go_back(void) {
    now = saved;
    new_run();
}

static void server_save(void) {
    saved = now;
}

static void server_new(void) {
    memset(&now, 0, sizeof now);
    memset(sockets, 0, sizeof sockets);
    late_count = 0;
    new_run();
}

static int64_t server_mark(int ns, int key) {
    return atoll(now.spaces[ns].keys[key].high);
}

/* ---- the network ----------------------------------------------------------------------------- */

static void reply(int fd, const char *text, size_t length) {
    if (sockets[fd].length + length <= sizeof sockets[fd].out) {
        memcpy(sockets[fd].out + sockets[fd].length, text, length);
        sockets[fd].length += length;
    }
}

static void parse(command *out, const char *text) {
    out->count = atoi(text + 1);
    assert_in_range(out->count, 4, 20);
    text = strchr(text, '\n') + 1;
    for (int i = 0; i < out->count; i++) {
        const int length = atoi(text + 1);
        text = strchr(text, '\n') + 1;
        snprintf(out->words[i], sizeof out->words[i], "%.*s", length, text);
        text += length + 2;
    }
}

/* The fate of a command. */
enum fate { ANSWERED, DOUBLED, UNKNOWN_SCRIPT, GARBLED, LOST, LATER, UNHEARD, FATES };

static bool garbles;      /* every answer */
static command *last_one; /* keeps the last command; NULL: it does not */

static ssize_t lie_send(int fd, const char *buf, size_t size) {
    command c;
    char out[4096];
    scripted_disturb();
    if (sockets[fd].closed) {
        errno = EPIPE;
        return -1;
    }
    parse(&c, buf);
    if (last_one != NULL) {
        *last_one = c;
    }
    const enum fate fate = garbles ? GARBLED : faults && ONE_IN(6) ? chance() % FATES : ANSWERED;
    if (fate == UNKNOWN_SCRIPT && is(c.words[0], "EVALSHA")) {
        reply(fd, "-NOSCRIPT no\r\n", 14);
    } else if (fate == LATER && late_count < LATE) {
        late[late_count++] = c;
    } else if (fate != LOST) {
        size_t length = run_script(&c, any_store, out);
        if (fate == GARBLED) {
            length = (size_t)snprintf(out, sizeof out, "%s",
                                      ONE_IN(2) ? "*1\r\n+ok\r\n" : "*2\r\n+ok\r\n+?\r\n");
        }
        for (int i = 0; i < (fate == DOUBLED ? 2 : 1) && fate != UNHEARD; i++) {
            reply(fd, out, length);
        }
    }
    sockets[fd].closed |= fate >= LOST && ONE_IN(2); /* else the caller gets no reply */
    scripted_disturb();
    return (ssize_t)size;
}

static ssize_t lie_receive(int fd, char *buf, size_t size) {
    size_t rest = sockets[fd].length - sockets[fd].position;
    rest = rest < size ? rest : size;
    memcpy(buf, sockets[fd].out + sockets[fd].position, rest);
    sockets[fd].position += rest;
    if (sockets[fd].position == sockets[fd].length) {
        sockets[fd].position = sockets[fd].length = 0;
    }
    errno = EAGAIN;
    return rest > 0 || sockets[fd].closed ? (ssize_t)rest : -1;
}

static int lie_close(int fd) {
    memset(&sockets[fd], 0, sizeof sockets[fd]);
    return 0;
}

static int lie_dial(void *self, size_t host, int64_t deadline_ms, firn_error *error) {
    redis_store *store = self;
    int fd = 0;
    (void)host, (void)deadline_ms;
    while (sockets[fd].used) {
        fd++;
        assert_true(fd < SOCKETS);
    }
    sockets[fd].used = true;
    sockets[fd].closed = false;
    store->link.socket = fd;
    return redis_make_reader(store, error);
}

static bool careless; /* injected bug: what an idle connection received is not looked at */

static bool lie_is_open(void *self) {
    return careless ? ((redis_store *)self)->link.socket >= 0 : redis_is_open(self);
}

static void *driver_handle(void) {
    static module_engine lying;
    redis_store *self = calloc(1, sizeof *self);
    assert_non_null(self);
    lying = engine;
    lying.dial = lie_dial;
    lying.is_open = lie_is_open;
    assert_int_equal(module_link_read(&self->link, "redis://u:" LIE_PASSWORD "@h/1", NULL, NULL),
                     FIRN_OK);
    assert_int_equal(set_up(self, NULL), FIRN_OK);
    self->link.engine = &lying;
    self->link.socket = -1;
    any_store = self;
    return self;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static void a_hidden_loss_is_found(void **state) {
    (void)state;
    finds_a_loss_that_is_never_seen();
}

static void a_reply_of_another_request_is_found(void **state) {
    (void)state;
    careless = true;
    finds(&firn_store_driver);
    careless = false;
}

static void a_missing_comparison_is_found(void **state) {
    firn_driver driver = firn_store_driver;
    (void)state;
    driver.add = NULL;
    unsealed = true;
    finds(&driver);
    unsealed = false;
}

/* The records that a reply of read_lua has; false: they are not firn's. */
static bool taken(firn_records *out, const char *const texts[READ_TEXTS]) {
    static redis_store store;
    redisReply replies[READ_TEXTS], *elements[READ_TEXTS];
    memset(out, 1, sizeof *out); /* each field is set */
    for (int i = 0; i < READ_TEXTS; i++) {
        replies[i] = (redisReply){.type = REDIS_REPLY_STRING,
                                  .str = (char *)(uintptr_t)texts[i],
                                  .len = strlen(texts[i])};
        elements[i] = &replies[i];
    }
    return take_records(&store, out, elements);
}

static void records_are_those_of_the_reply(void **state) {
    const char *texts[READ_TEXTS] = {"run", "run", "3",  "a layout", "3",      "7",   "",
                                     "",    "",    "12", "9",        "a note", "seal"};
    firn_records out;
    (void)state;
    assert_true(taken(&out, texts));
    assert_true(out.fresh && out.known && out.ns_known && out.key_known);
    assert_true(out.losses == 3 && out.ns_losses == 3 && out.floor == 7);
    assert_true(out.mark.high == 12 && out.mark.grant == 9);
    assert_true(!out.all_new && out.shut == NULL);
    assert_string_equal(out.layout, "a layout");
    assert_string_equal(out.note, "a note");
    assert_string_equal(own_of(&out).seal, "seal");
    assert_false(redis_lost(NULL, &out));
    texts[AT_IDENTITY] = "another run";
    assert_true(taken(&out, texts) && out.known && redis_lost(NULL, &out));
}

static void records_that_are_absent(void **state) {
    const char *texts[READ_TEXTS] = {"run", "", "", "", "", "", "0", "", "", "", "", "", ""};
    firn_records out;
    (void)state;
    assert_true(taken(&out, texts));
    assert_true(!out.known && !out.ns_known && !out.key_known && !out.all_new && out.shut == NULL);
    assert_true(out.losses == 0 && out.ns_losses == 0 && out.floor == 0 && out.mark.high == 0);
    assert_false(redis_lost(NULL, &out));
    texts[AT_MADE] = "1"; /* there is a set of namespaces */
    assert_true(taken(&out, texts) && redis_lost(NULL, &out));
    texts[AT_LAYOUT] = "of an older firn";
    assert_true(taken(&out, texts) && out.ns_known);
    assert_string_equal(out.layout, "");
    texts[AT_LAYOUT] = "";
    texts[AT_NS_LOSSES] = "0";
    assert_true(taken(&out, texts) && out.ns_known);
}

static void records_of_all_names(void **state) {
    const char *texts[READ_TEXTS] = {"run", "run", "3", "", "", "", "1", "", "3", "", "", "", ""};
    firn_records out;
    (void)state;
    assert_true(taken(&out, texts) && out.all_new && out.shut == NULL);
    texts[AT_ALL_LAYOUT] = "closed (a test): integer";
    texts[AT_ALL_LOSSES] = "2";
    assert_true(taken(&out, texts) && !out.all_new);
    assert_string_equal(out.shut, "closed (a test): integer");
    texts[AT_LOSSES] = texts[AT_ALL_LOSSES] = "";
    assert_true(taken(&out, texts) && !out.all_new);
}

static void records_that_are_damaged(void **state) {
    static const int numbers[] = {AT_LOSSES,     AT_FLOOR, AT_NS_LOSSES,
                                  AT_ALL_LOSSES, AT_HIGH,  AT_GRANT};
    char longest[FIRN_LAYOUT_SIZE + 1];
    firn_records out;
    (void)state;
    memset(longest, 'l', sizeof longest);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *texts[READ_TEXTS] = {"run", "run", "3", "l", "3", "7", "",
                                         "l",   "3",   "1", "9", "n", "s"};
        assert_true(taken(&out, texts));
        texts[numbers[i]] = "x";
        assert_false(taken(&out, texts));
        texts[AT_HIGH] = ""; /* then the grant is not read */
        assert_int_equal(taken(&out, texts), numbers[i] == AT_GRANT || numbers[i] == AT_HIGH);
    }
    for (int at = AT_LAYOUT; at <= AT_ALL_LAYOUT; at += AT_ALL_LAYOUT - AT_LAYOUT) {
        const char *texts[READ_TEXTS] = {"run", "run", "3", "l", "3", "7", "",
                                         "l",   "3",   "1", "9", "n", "s"};
        texts[at] = longest;
        longest[FIRN_LAYOUT_SIZE] = '\0';
        assert_false(taken(&out, texts));
        longest[FIRN_LAYOUT_SIZE - 1] = '\0';
        assert_true(taken(&out, texts));
        longest[FIRN_LAYOUT_SIZE - 1] = 'l';
    }
}

/* The records that a write sends, and the failpoints that the write passes. */
static void records_that_a_write_sends(void **state) {
    static const uint64_t alive = 1;
    static command sent;
    firn_records seen = {.ns = "bare", .key = "2", .alive = &alive, .layout = "", .note = ""};
    void *self = driver_handle();
    (void)state;
    server_new();
    ((module_link *)self)->options.failpoint = pass;
    last_one = &sent;
    assert_int_equal(firn_store_driver.begin(self, &seen, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    for (int which = 1; which < 8; which++) {
        firn_records next, again = seen;
        put(now.identity, "another run");
        assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
        assert_true(redis_lost(self, &seen));
        next = seen;
        next.layout = "a layout";
        next.note = "a note";
        next.losses = next.ns_losses = which;
        next.floor = 10 + which;
        next.mark = (firn_mark){100 + which, UINT64_MAX};
        passed[0] = '\0';
        assert_int_equal(
            firn_store_driver.write(self, &seen, &next, which, FIRN_VERB_RESERVE, NULL), FIRN_OK);
        assert_string_equal(passed, " reserve.before reserve.sent reserve.committed");
        char(*given)[WORD] = sent.words + 7;
        const bool store = (which & FIRN_RECORD_STORE) != 0, ns = (which & FIRN_RECORD_NS) != 0;
        assert_int_equal(sent.count, 19);
        assert_string_equal(given[0], "bare");
        assert_string_equal(given[1], "2");
        assert_string_equal(given[2], own_of(&seen).seal);
        assert_int_equal(atoll(given[3]), seen.mark.high);
        assert_string_equal(given[4], seen.key_known ? "18446744073709551615" : "");
        assert_int_equal(given[5][0] != '\0' ? atoll(given[5]) : 0, store ? which : 0);
        assert_string_equal(given[6], ns ? "a layout" : "");
        assert_int_equal(atoll(given[7]), which);
        assert_int_equal(atoll(given[8]), 10 + which);
        assert_int_equal(atoll(given[9]), (which & FIRN_RECORD_KEY) != 0 ? 100 + which : 0);
        assert_string_equal(given[10], "18446744073709551615");
        assert_string_equal(given[11], "a note");
        assert_int_equal(redis_lost(self, &next), !store);
        assert_int_equal(firn_store_driver.read(self, &again, true, NULL), FIRN_OK);
        assert_string_equal(own_of(&next).seal, own_of(&again).seal);
        assert_int_equal(firn_store_driver.write(self, &seen, &next, 7, FIRN_VERB_RESERVE, NULL),
                         FIRN_WRITE_CHANGED);
    }
    firn_records sound = seen, written; /* after a write of the store's record, until a loss */
    assert_int_equal(firn_store_driver.read(self, &sound, true, NULL), FIRN_OK);
    written = sound;
    assert_int_equal(
        firn_store_driver.write(self, &sound, &written, FIRN_RECORD_KEY, FIRN_VERB_RESERVE, NULL),
        FIRN_OK);
    assert_false(redis_lost(self, &sound) || redis_lost(self, &written));
    const firn_raise raise = {107, 108, 5000, 6, UINT64_MAX - 1}; /* another grant */
    const char *given[] = {
        "2",   "7",    "a layout", "17", "1",       "107", "18446744073709551614",
        "108", "5000", "6",        "77", "a client"};
    firn_records next = seen;
    assert_int_equal(firn_store_driver.read(self, &next, true, NULL), FIRN_OK);
    seen = next;
    next.mark.grant = 77;
    next.note = "a client";
    assert_int_equal(firn_store_driver.add(self, &seen, &next, &raise, NULL), FIRN_WRITE_CHANGED);
    for (int i = 0; i < 12; i++) {
        assert_string_equal(sent.words[5 + i], given[i]);
    }
    last_one = NULL;
    module_close(self);
}

static void records_that_nobody_can_read(void **state) {
    static const uint64_t alive = 1;
    const firn_raise raise = {0, 0, 100, 1, 0};
    firn_records seen = {.ns = "guarded", .key = "1", .alive = &alive, .layout = "", .note = ""};
    firn_records next;
    void *self = driver_handle();
    (void)state;
    server_new();
    assert_int_equal(firn_store_driver.begin(self, &seen, FIRN_VERB_RESERVE, NULL), FIRN_OK);
    assert_int_equal(firn_store_driver.read(self, &seen, true, NULL), FIRN_OK);
    garbles = true;
    for (int i = 0; i < 20; i++) { /* of each kind */
        next = seen;
        assert_int_equal(firn_store_driver.read(self, &next, true, NULL), FIRN_ESTORE);
        next = seen;
        assert_int_equal(firn_store_driver.add(self, &seen, &next, &raise, NULL), FIRN_EUNKNOWN);
    }
    garbles = false;
    put(now.spaces[0].keys[0].high, "x");
    assert_int_equal(firn_store_driver.read(self, &next, true, NULL), FIRN_ESTORE);
    module_close(self);
}

static void records_are_at_a_url(void **state) {
    static const url_case urls[] = {
        {"redis://h", NULL},
        {"redis://", "names no host"},
        {"redis://h/65536", "the path /65536"},
        {"redis://h/x", "the path /x"},
        {"redis://h/1x", "the path /1x"},
        {"redis://h?counters=0", NULL},
        {"redis://h?counters=2", "counters"},
        {"redis://h?prefix=1x", "prefix"},
        {"redis://h?ca=/x", "tls=1"},
        {"rediss://h", NULL},
        {"rediss://h?tls=0", "remove tls=0"},
        {"redis://h?table=x", "table"},
    };
    (void)state;
    unsetenv("REDISCLI_AUTH");
    take_urls(&engine, urls, sizeof urls / sizeof *urls);
    redis_store *store =
        take_url(&engine, &(url_case){"redis://h/65535?prefix=x&counters=1", NULL});
    assert_true(store->database == 65535 && store->counters == 1 && !store->tls.enabled);
    assert_string_equal(store->index, "{x}");
    assert_string_equal(store->own, "{x}:");
    assert_string_equal(store->all, "{x}:" FIRN_ALL_NAMES);
    assert_string_equal(redis_source(store, "a"), "a plain counter");
    assert_true(store->trust == NULL && store->link.url.password == NULL);
    module_close(store);
    setenv("REDISCLI_AUTH", "p", 1);
    store = take_url(&engine, &(url_case){"rediss://h", NULL});
    assert_true(store->database == 0 && store->tls.enabled && store->trust != NULL);
    assert_string_equal(store->prefix, "firn");
    assert_string_equal(store->link.url.password, "p");
    assert_null(redis_source(store, "a"));
    assert_true(store->read.sha[0] != '\0' && store->write.sha[0] != '\0');
    assert_true(store->add.sha[0] != '\0' && store->count.sha[0] != '\0');
    module_close(store);
    unsetenv("REDISCLI_AUTH");
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_those_of_the_reply),
        cmocka_unit_test(records_that_are_absent),
        cmocka_unit_test(records_of_all_names),
        cmocka_unit_test(records_that_are_damaged),
        cmocka_unit_test(records_that_a_write_sends),
        cmocka_unit_test(records_that_nobody_can_read),
        cmocka_unit_test(records_are_at_a_url),
        cmocka_unit_test_setup(answers_are_torn, start_over),
        cmocka_unit_test_setup(a_guess_is_found, start_over),
        cmocka_unit_test_setup(a_hidden_loss_is_found, start_over),
        cmocka_unit_test_setup(a_reply_of_another_request_is_found, start_over),
        cmocka_unit_test_setup(a_missing_comparison_is_found, start_over),
    };
    scripted_choose(count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
