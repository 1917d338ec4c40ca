/* SPDX-License-Identifier: MIT */
/* Generators that outlive statements, and jobs that do not: see generators.h. */
#include "generators.h"

#include "../../cmd/fault.h"
#include "../common/sql.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHIFT_MS = 1000, NUMBER_MOST = 2000000000 };

/* Said in the server's error log. */
static void put_notice(void *self, const char *text) {
    (void)self;
    fprintf(stderr, "firn: note: %s\n", text);
}

/* What the options leave to the server's environment. NULL: the library's default, or in keys. */
static const char *store_url(const char *options) {
    const char *url = getenv("FIRN_STORE");
    return sql_has(options, "store") || url == NULL || url[0] == '\0' ? NULL : url;
}

/* Every generator and job would have a memory of its own, and none would know of the others. */
static int check_store(const char *options, firn_error *error) {
    const char *url = store_url(options), *chosen = getenv("FIRN_OPTIONS_STORE");
    /* Whoever may write SQL may call: files and hosts are not theirs to choose, unless the server's
     * administrator says so. */
    if ((chosen == NULL || strcmp(chosen, "1") != 0) &&
        (sql_has(options, "store") || sql_has(options, "unsafe"))) {
        return set_error(error, FIRN_EUSAGE,
                         "store= and unsafe= are not for a call: set FIRN_STORE in the server's "
                         "environment, or FIRN_OPTIONS_STORE=1 there to let calls choose");
    }
    if (strstr(options, "store=memory:") != NULL ||
        (url != NULL && strncmp(url, "memory:", strlen("memory:")) == 0)) {
        return set_error(error, FIRN_EUSAGE,
                         "the store memory: is shared with nobody, so two generators would repeat"
                         " IDs: name a file, sqlite:PATH");
    }
    return FIRN_OK;
}

/* ---- generators ------------------------------------------------------------------------------ */

typedef struct entry {
    char scheme[SQL_TEXT_SIZE], options[SQL_TEXT_SIZE];
    firn_gen *gen;
} entry;

/* Entries below the count never change, so that looking for one takes no lock. */
static entry entries[GENERATORS_MOST];
static atomic_size_t entry_count;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/* At exit and not as a destructor, which comes after the libraries that stores need are gone. */
static void close_all(void) {
    size_t count = atomic_exchange(&entry_count, 0);
    for (size_t i = 0; i < count; i++) {
        firn_close(entries[i].gen, NULL); /* what is not given back is lost, and nothing else */
    }
}

static firn_gen *look(const char *scheme, const char *options) {
    size_t count = atomic_load_explicit(&entry_count, memory_order_acquire);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(entries[i].options, options) == 0 && strcmp(entries[i].scheme, scheme) == 0) {
            return entries[i].gen;
        }
    }
    return NULL;
}

static int open_entry(entry *to, const char *scheme, const char *options, firn_error *error) {
    char keys[2 * SQL_TEXT_SIZE];
    const char *node = getenv("FIRN_NODE");
    firn_scheme row;
    int code = sql_scheme(&row, scheme, strlen(scheme), error);
    code = code == FIRN_OK ? check_store(options, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    bool placed = node != NULL && node[0] != '\0' && row.node_rule == FIRN_NODE_ALWAYS &&
                  row.given == NULL && !sql_has_node(options, &row);
    int length = snprintf(keys, sizeof keys, "%s%s%s%s", options, placed ? " node=" : "",
                          placed ? node : "", sql_has(options, "full") ? "" : " full=wait");
    if ((size_t)length >= sizeof keys) {
        return set_error(error, FIRN_ERANGE, "FIRN_NODE has %zu characters: give a number",
                         strlen(node));
    }
    firn_config config = {.size = sizeof config,
                          .scheme = scheme,
                          .keys = keys,
                          .store_url = store_url(options),
                          .notice = put_notice};
    code = firn_open_with(&to->gen, &config, error);
    if (code == FIRN_OK) {
        snprintf(to->scheme, sizeof to->scheme, "%s", scheme);
        snprintf(to->options, sizeof to->options, "%s", options);
    }
    return code;
}

static int add_entry(firn_gen **gen, const char *scheme, const char *options, firn_error *error) {
    size_t count = atomic_load(&entry_count);
    *gen = look(scheme, options); /* another connection may have been faster */
    if (*gen != NULL) {
        return FIRN_OK;
    }
    if (count == GENERATORS_MOST) {
        return set_error(error, FIRN_EUSAGE,
                         "%d schemes with options are in use by this server: use fewer different"
                         " options, or restart it",
                         GENERATORS_MOST);
    }
    int code = open_entry(&entries[count], scheme, options, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (count == 0) {
        atexit(close_all);
    }
    *gen = entries[count].gen;
    atomic_store_explicit(&entry_count, count + 1, memory_order_release);
    return FIRN_OK;
}

int generator_find(firn_gen **gen, const char *scheme, const char *options, firn_error *error) {
    *gen = look(scheme, options);
    if (*gen != NULL) {
        return FIRN_OK;
    }
    pthread_mutex_lock(&opening);
    int code = add_entry(gen, scheme, options, error);
    pthread_mutex_unlock(&opening);
    return code;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* What options say of a job that is no key of it. */
typedef struct job_options {
    char keys[SQL_TEXT_SIZE + 1]; /* the rest, a blank behind each */
    char store[SQL_TEXT_SIZE];
    int64_t shift_ms, disorder_ms, unsafe;
} job_options;

static int take_number(int64_t *to, const char *word, firn_error *error) {
    char *end;
    const char *text = strchr(word, '=') + 1;
    long long value = strtoll(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value > NUMBER_MOST) {
        return set_error(error, FIRN_ERANGE, "'%.60s' is out of bounds: 0 to %d", word,
                         NUMBER_MOST);
    }
    *to = value;
    return FIRN_OK;
}

static int take_word(job_options *it, const char *word, firn_error *error) {
    const struct {
        const char *name;
        int64_t *number;
    } numbers[] = {
        {"shift_ms", &it->shift_ms}, {"disorder_ms", &it->disorder_ms}, {"unsafe", &it->unsafe}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (sql_has(word, numbers[i].name)) {
            return take_number(numbers[i].number, word, error);
        }
    }
    if (sql_has(word, "store")) {
        snprintf(it->store, sizeof it->store, "%s", word + strlen("store="));
    } else {
        strcat(it->keys, word); /* they fit: so many came */
        strcat(it->keys, " ");
    }
    return FIRN_OK;
}

static int split(job_options *it, const char *options, firn_error *error) {
    char words[SQL_TEXT_SIZE], *rest;
    int code = FIRN_OK;
    *it = (job_options){.shift_ms = SHIFT_MS};
    snprintf(words, sizeof words, "%s", options);
    for (char *word = strtok_r(words, " \t\n", &rest); word != NULL && code == FIRN_OK;
         word = strtok_r(NULL, " \t\n", &rest)) {
        code = take_word(it, word, error);
    }
    return code;
}

/* A digest that no other statement has: a name that was used is refused, whatever its rows were,
 * since nobody can tell here that they are the same. */
static int draw(uint64_t *digest, char seed[33], firn_error *error) {
    uint64_t words[3];
    if (getentropy(words, sizeof words) != 0) {
        return set_error(error, FIRN_EENTROPY, "the system gives no randomness: try again");
    }
    *digest = words[0];
    snprintf(seed, 33, "%016" PRIx64 "%016" PRIx64, words[1], words[2]);
    return FIRN_OK;
}

int job_begin(firn_job **job, const char *scheme, const char *name, const char *options,
              firn_error *error) {
    job_options it;
    firn_scheme row;
    char seed[33];
    firn_job_config config = {.size = sizeof config,
                              .scheme = scheme,
                              .keys = it.keys,
                              .name = name,
                              .seed = seed,
                              .notice = put_notice};
    int code = split(&it, options, error);
    code = code == FIRN_OK ? sql_scheme(&row, scheme, strlen(scheme), error) : code;
    code = code == FIRN_OK ? check_store(options, error) : code;
    code = code == FIRN_OK ? draw(&config.digest, seed, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    config.shift_ms = it.shift_ms;
    config.disorder_ms = it.disorder_ms;
    if (row.node_rule == FIRN_NODE_ALWAYS || sql_has_node(it.keys, &row)) {
        const firn_store_options store_options = {.unsafe = it.unsafe != 0};
        const char *url = it.store[0] != '\0' ? it.store : store_url(options);
        code = firn_store_open(&config.store, url, &store_options, error);
    }
    code = code == FIRN_OK ? firn_job_open(job, &config, error) : code;
    firn_store_close(config.store);
    return code;
}
