/* SPDX-License-Identifier: MIT */
/* The state of a connection: generators, back-dating jobs, the store, notices. Decides which
 * options a call may have and which belong to the connection. */
#include "extension.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { KEYS_SIZE = 2 * SQL_TEXT_SIZE, SHIFT_MS = 1000, SHIFT_MOST = 86400000 };

static const char blanks[] = " \t\n";

/* ---- life ----------------------------------------------------------------------------------- */

connection *connection_new(sqlite3 *db) {
    connection *it = calloc(1, sizeof *it);
    if (it != NULL) {
        it->db = db;
        it->uses = 1;
    }
    return it;
}

static void forget(held *h) {
    free(h->scheme);
    free(h->options);
    *h = (held){0};
}

void connection_close_gens(connection *it) {
    it->era++;
    for (size_t i = 0; i < it->gen_count; i++) {
        firn_close(it->gens[i].gen, NULL); /* what is not given back expires */
        forget(&it->gens[i]);
    }
    it->gen_count = 0;
}

void connection_close_jobs(connection *it) {
    for (size_t i = 0; i < it->job_count; i++) {
        firn_job_close(it->jobs[i].job);
        forget(&it->jobs[i]);
    }
    it->job_count = 0;
}

void connection_drop(void *context) {
    connection *it = context;
    if (--it->uses > 0) {
        return;
    }
    connection_close_gens(it);
    connection_close_jobs(it);
    for (size_t i = 0; i < it->notice_count; i++) {
        free(it->notices[i]);
    }
    free(it->store);
    free(it->node);
    free(it);
}

int add_functions(connection *it, const function_row *rows, size_t count) {
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++) {
        for (int n = rows[i].least; n <= rows[i].most && code == SQLITE_OK; n++) {
            it->uses++; /* SQLite releases it, also on failure */
            code = sqlite3_create_function_v2(it->db, rows[i].name, n, SQLITE_UTF8 | rows[i].flags,
                                              it, rows[i].call, NULL, NULL, connection_drop);
        }
    }
    return code;
}

/* A notice, for SQLite's log and firn_notices(). The oldest is dropped. */
static void notice(void *context, const char *text) {
    connection *it = context;
    char *copy = strdup(text);
    sqlite3_log(SQLITE_NOTICE, "firn: %s", text);
    if (copy == NULL) {
        return;
    }
    if (it->notice_count == NOTICES_MOST) {
        free(it->notices[0]);
        memmove(it->notices, it->notices + 1, sizeof it->notices - sizeof it->notices[0]);
        it->notice_count--;
    }
    it->notices[it->notice_count++] = copy;
}

/* ---- the store ------------------------------------------------------------------------------ */

static const char *store_url(const connection *it) {
    const char *environment = secure_getenv("FIRN_STORE");
    if (it->store != NULL) {
        return it->store;
    }
    return environment != NULL && environment[0] != '\0' ? environment : NULL;
}

/* Does this database contain the tables of a firn store? */
static bool is_store(sqlite3 *db, const char *name) {
    sqlite3_stmt *statement = NULL;
    bool found = false;
    char *sql = sqlite3_mprintf("SELECT count(*) = 3 FROM \"%w\".sqlite_master WHERE type = 'table'"
                                " AND name IN ('meta', 'namespace', 'mark')",
                                name);
    if (sql != NULL && sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        found = sqlite3_column_int(statement, 0) == 1;
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return found;
}

/* The store must not be open in this connection. Its verbs use separate connections: they would
 * wait for this one's write lock, and in a program with its own SQLite, closing theirs would drop
 * this one's locks. */
static int check_apart(connection *it, firn_error *error) {
    sqlite3_stmt *statement = NULL;
    int code = FIRN_OK;
    sqlite3_prepare_v2(it->db, "PRAGMA database_list", -1, &statement, NULL);
    while (code == FIRN_OK && statement != NULL && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 1);
        if (name != NULL && is_store(it->db, name)) {
            code = set_error(error, FIRN_ESTORE,
                             "this connection has a firn store open as '%.40s', and IDs cannot be "
                             "issued from inside it: keep the rows in another file, or "
                             "DETACH it",
                             name);
        }
    }
    sqlite3_finalize(statement);
    return code;
}

static int check_url(const connection *it, firn_error *error) {
    const char *url = store_url(it);
    if (url != NULL && strncmp(url, "memory:", 7) == 0) {
        return set_error(error, FIRN_EUSAGE,
                         "the store %.40s is not shared, so two connections would "
                         "repeat IDs: name a file, sqlite:PATH",
                         url);
    }
    return FIRN_OK;
}

/* ---- schemes and options -------------------------------------------------------------------- */

/* The parsed arguments of a call. */
typedef struct wanted {
    firn_scheme scheme;
    char name[SQL_TEXT_SIZE]; /* or a layout */
    char keys[KEYS_SIZE];
    bool reserved; /* it reserves slots in a store */
} wanted;

/* Do the options contain one of these names (separated by blanks)? */
static bool has_any(const char *options, const char *names) {
    char copy[FIRN_NAME_SIZE], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", names != NULL ? names : "");
    for (char *name = strtok_r(copy, blanks, &rest); name != NULL;
         name = strtok_r(NULL, blanks, &rest)) {
        if (sql_has(options, name)) {
            return true;
        }
    }
    return false;
}

static int add_keys(wanted *w, const char *keys, const char *value, firn_error *error) {
    size_t at = strlen(w->keys), room = sizeof w->keys - at;
    int length = snprintf(w->keys + at, room, "%s%s%s", at > 0 ? " " : "", keys, value);
    return length >= 0 && (size_t)length < room
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "scheme and options are too long: at most %d "
                           "characters each",
                           SQL_TEXT_SIZE - 1);
}

/* Schemas contain options, and a schema may come from a stranger: only the program decides where
 * marks are kept, and whether they may be lost. */
static int check_options(const char *options, firn_error *error) {
    static const char *const kept[] = {"store", "unsafe"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        if (sql_has(options, kept[i])) {
            return set_error(error, FIRN_EUSAGE,
                             "%s is set for a connection, not in a call: SELECT "
                             "firn_config('%s', ...)",
                             kept[i], kept[i]);
        }
    }
    return FIRN_OK;
}

/* The first word is the scheme, the others are keys. */
static int split(wanted *w, line scheme, firn_error *error) {
    int code = sql_scheme(&w->scheme, scheme.at, scheme.length, error);
    code =
        code == FIRN_OK ? sql_copy(w->name, "the scheme", scheme.at, scheme.length, error) : code;
    w->keys[0] = '\0';
    if (code != FIRN_OK) {
        return code;
    }
    char first[SQL_TEXT_SIZE];
    size_t start = strspn(w->name, blanks), length = strcspn(w->name + start, blanks);
    snprintf(first, sizeof first, "%.*s", (int)length, w->name + start);
    if (firn_scheme_find(first) != NULL) {
        code = add_keys(w, w->name + start + length, "", error);
        memcpy(w->name, first, length + 1);
    }
    return code;
}

/* Scheme and options as the library expects them. `live`: for a generator. */
static int want(const connection *it, wanted *w, line scheme, line options, bool live,
                firn_error *error) {
    char own[SQL_TEXT_SIZE]; /* arguments may be longer */
    int code = sql_copy(own, "the options", options.at, options.length, error);
    code = code == FIRN_OK ? check_options(own, error) : code;
    code = code == FIRN_OK ? split(w, scheme, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    bool always = w->scheme.node_rule == FIRN_NODE_REQUIRED;
    w->reserved = always || sql_has(own, "node") || has_any(own, w->scheme.node_fields);
    if (live && always) { /* a statement waits for the next tick instead of failing */
        code = add_keys(w, "full=wait", "", error);
    }
    if (code == FIRN_OK && live && w->reserved && it->unsafe) {
        code = add_keys(w, "unsafe=1", "", error);
    }
    if (code == FIRN_OK && live && always && it->node != NULL && !sql_has_node(own, &w->scheme)) {
        code = add_keys(w, "node=", it->node, error);
    }
    return code == FIRN_OK ? add_keys(w, own, "", error) : code;
}

/* ---- generators ----------------------------------------------------------------------------- */

static bool is_text(const char *known, line text) {
    return strlen(known) == text.length && memcmp(known, text.at, text.length) == 0;
}

static held *find(held *list, size_t count, line scheme, line options) {
    for (size_t i = 0; i < count; i++) {
        if (is_text(list[i].scheme, scheme) && is_text(list[i].options, options)) {
            return &list[i];
        }
    }
    return NULL;
}

/* Adds a name; the caller counts it after success. */
static int name_held(held *list, size_t count, line scheme, line options, const char *what,
                     firn_error *error) {
    if (count == HELD_MOST) {
        return set_error(error, FIRN_EUSAGE,
                         "this connection has %d %s of other schemes or options already: use "
                         "fewer different options",
                         HELD_MOST, what);
    }
    held *h = &list[count];
    h->scheme = strndup(scheme.at, scheme.length);
    h->options = strndup(options.at, options.length);
    if (h->scheme == NULL || h->options == NULL) {
        forget(h);
        return set_error(error, FIRN_EMEMORY, "out of memory for the %s", what);
    }
    return FIRN_OK;
}

static int open_gen(connection *it, const wanted *w, firn_gen **gen, firn_error *error) {
    firn_config config = {.size = sizeof config,
                          .scheme = w->name,
                          .keys = w->keys,
                          .store_url = store_url(it),
                          .notice = notice,
                          .notice_self = it};
    int code = w->reserved ? check_url(it, error) : FIRN_OK;
    if (code == FIRN_OK && w->reserved) {
        code = check_apart(it, error);
    }
    return code == FIRN_OK ? firn_open_with(gen, &config, error) : code;
}

int connection_gen(connection *it, line scheme, line options, firn_gen **gen, firn_error *error) {
    wanted w;
    held *h = find(it->gens, it->gen_count, scheme, options);
    if (h != NULL) {
        *gen = h->gen;
        return FIRN_OK;
    }
    int code = want(it, &w, scheme, options, true, error);
    if (code == FIRN_OK) {
        code = name_held(it->gens, it->gen_count, scheme, options, "generators", error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    h = &it->gens[it->gen_count];
    code = open_gen(it, &w, &h->gen, error);
    if (code != FIRN_OK) {
        forget(h);
        return code;
    }
    it->gen_count++;
    *gen = h->gen;
    return FIRN_OK;
}

int connection_failed(connection *it, int code, firn_error *error) {
    firn_error apart;
    bool store = code == FIRN_ESTORE || code == FIRN_EWINDOW || code == FIRN_EBUSY;
    if (store && check_apart(it, &apart) != FIRN_OK) {
        *error = apart;
    }
    return code;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

/* Options of a job that are not keys. */
typedef struct job_words {
    char name[64], seed[128];
    int64_t shift_ms;
    bool named, again;
} job_words;

/* The value of NAME=value. */
static int take_text(char *to, size_t size, const char *word, firn_error *error) {
    const char *value = strchr(word, '=') + 1;
    size_t length = strlen(value);
    if (length == 0 || length >= size) {
        return set_error(error, FIRN_ERANGE, "'%.60s' has %zu characters after =: give 1 to %zu",
                         word, length, size - 1);
    }
    memcpy(to, value, length + 1);
    return FIRN_OK;
}

static int take_shift(job_words *words, const char *word, firn_error *error) {
    char text[16], *end;
    int code = take_text(text, sizeof text, word, error);
    if (code != FIRN_OK) {
        return code;
    }
    long long value = strtoll(text, &end, 10);
    if (*end != '\0' || text[0] < '0' || text[0] > '9' || value > SHIFT_MOST) {
        return set_error(error, FIRN_ERANGE, "shift_ms=%s is out of range: 0 to %d", text,
                         SHIFT_MOST);
    }
    words->shift_ms = value;
    return FIRN_OK;
}

static int take_word(job_words *words, bool *taken, const char *word, firn_error *error) {
    *taken = true;
    if (sql_has(word, "job")) {
        words->named = true;
        return take_text(words->name, sizeof words->name, word, error);
    }
    if (sql_has(word, "seed")) {
        return take_text(words->seed, sizeof words->seed, word, error);
    }
    if (sql_has(word, "shift_ms")) {
        return take_shift(words, word, error);
    }
    words->again = words->again || strcmp(word, "again=1") == 0;
    *taken = strcmp(word, "again=1") == 0;
    return FIRN_OK;
}

/* Separates the job's options; the others go into `keys`. */
static int take_words(job_words *words, char keys[SQL_TEXT_SIZE], line options, firn_error *error) {
    char copy[SQL_TEXT_SIZE], *rest = NULL;
    size_t length = 0;
    int code = sql_copy(copy, "the options", options.at, options.length, error);
    char *word = code == FIRN_OK ? strtok_r(copy, blanks, &rest) : NULL;
    for (; code == FIRN_OK && word != NULL; word = strtok_r(NULL, blanks, &rest)) {
        bool taken;
        code = take_word(words, &taken, word, error);
        if (!taken) { /* not longer than the source */
            length += (size_t)snprintf(keys + length, SQL_TEXT_SIZE - length, "%s%s",
                                       length > 0 ? " " : "", word);
        }
    }
    return code;
}

/* A job without a name gets a random name and seed, so that nothing repeats it. */
static int draw_words(job_words *words, uint64_t *digest, firn_error *error) {
    uint64_t drawn[4];
    if (!words->named && words->seed[0] != '\0') { /* a second job could use it */
        return set_error(error, FIRN_EUSAGE,
                         "seed= without job= would make the same random fields each time: add "
                         "job=NAME, or leave the seed out");
    }
    if (getentropy(drawn, sizeof drawn) != 0) {
        return set_error(error, FIRN_EENTROPY, "the system returns no randomness for a job");
    }
    if (!words->named) {
        *digest = drawn[0];
        snprintf(words->name, sizeof words->name, "sqlite %016llx", (unsigned long long)drawn[1]);
        snprintf(words->seed, sizeof words->seed, "%016llx%016llx", (unsigned long long)drawn[2],
                 (unsigned long long)drawn[3]);
    }
    return FIRN_OK;
}

/* Starting a named job again repeats its IDs from the first one: right if they were rolled back,
 * wrong otherwise. */
static int check_again(firn_job *job, const job_words *words, firn_error *error) {
    if (words->named && !words->again && firn_job_again(job)) {
        return set_error(error, FIRN_EBUSY,
                         "job %.63s was begun before: give another name, or again=1 if nothing "
                         "of it was kept and the rows come in the same order",
                         words->name);
    }
    return FIRN_OK;
}

static int open_job(connection *it, const wanted *w, const char *keys, job_words *words,
                    firn_job **out, firn_error *error) {
    firn_store_options options = {.unsafe = it->unsafe};
    firn_store *store = NULL;
    firn_job *job = NULL;
    firn_job_config config = {.size = sizeof config,
                              .scheme = w->name,
                              .keys = keys,
                              .seed = words->seed,
                              .name = words->name,
                              .shift_ms = words->shift_ms,
                              .notice = notice,
                              .notice_self = it};
    int code = draw_words(words, &config.digest, error);
    if (code == FIRN_OK && (w->reserved || words->named)) {
        code = check_url(it, error);
        if (code == FIRN_OK) {
            code = check_apart(it, error);
        }
        if (code == FIRN_OK) {
            code = firn_store_open(&store, store_url(it), &options, error);
        }
    }
    config.store = store;
    if (code == FIRN_OK) {
        code = firn_job_open(&job, &config, error);
    }
    if (store != NULL) {
        firn_store_close(store);
    }
    if (code == FIRN_OK && (code = check_again(job, words, error)) != FIRN_OK) {
        firn_job_close(job);
    } else if (code == FIRN_OK) {
        *out = job;
    }
    return code;
}

/* The scheme's changes, then the options that are keys. */
static int make_job(connection *it, line scheme, line options, firn_job **job, firn_error *error) {
    wanted w;
    char keys[SQL_TEXT_SIZE] = "";
    job_words words = {.shift_ms = SHIFT_MS};
    int code = take_words(&words, keys, options, error);
    if (code == FIRN_OK) {
        code = want(it, &w, scheme, (line){keys, strlen(keys)}, false, error);
    }
    return code == FIRN_OK ? open_job(it, &w, w.keys, &words, job, error) : code;
}

int connection_job(connection *it, line scheme, line options, firn_job **job, firn_error *error) {
    held *h = find(it->jobs, it->job_count, scheme, options);
    if (h != NULL) {
        *job = h->job;
        return FIRN_OK;
    }
    int code = name_held(it->jobs, it->job_count, scheme, options, "jobs", error);
    if (code != FIRN_OK) {
        return code;
    }
    h = &it->jobs[it->job_count];
    code = make_job(it, scheme, options, &h->job, error);
    if (code != FIRN_OK) {
        forget(h);
        return code;
    }
    it->job_count++;
    *job = h->job;
    return FIRN_OK;
}
