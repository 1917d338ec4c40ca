/* SPDX-License-Identifier: MIT */
/* Shared by the stores' modules and linked into each: modules use nothing of libfirn. Nothing here
 * depends on an engine. */
#ifndef FIRN_MODULES_MODULE_H
#define FIRN_MODULES_MODULE_H

#include "../src/duration.h"   // IWYU pragma: export
#include "../src/error_text.h" // IWYU pragma: export
#include <firn/store.h>        // IWYU pragma: export

#include <firn/firn.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/types.h>

#ifdef __cplusplus
#error "modules are C"
#endif

/* The stored identity of a store that lost reservations; no engine has it. */
#define MODULE_GONE_BACK "gone back"

/* ---- errors (module_error.c) ----------------------------------------------------------------- */

/* Copies an error, with `code`, and returns that. */
int module_copy(firn_error *error, int code, const firn_error *source);
/* Like firn_error_set, which belongs to the library. */
int module_advise(firn_error *error, int code, int cure, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define module_fail(error, code, ...) module_advise(error, code, FIRN_CURE_NONE, __VA_ARGS__)
int module_no_memory(firn_error *error);
/* FIRN_EUNKNOWN: a write was sent, and it is unknown whether it was carried out. */
int module_unknown(firn_error *error, const char *where, const char *why);
int module_unreachable(firn_error *error, const char *where, const char *why);
/* Returns `code`, or `to` if it is `from`; the error gets that code too. */
int module_replace_code(firn_error *error, int code, int from, int to);

/* ---- numbers (module_url.c) ------------------------------------------------------------------ */

static inline int64_t module_later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* A decimal number in 0..2^63-1 or 0..2^64-1, without sign, blank or leading zero. */
bool module_int64(int64_t *out, const char *text, size_t length);
bool module_uint64(uint64_t *out, const char *text, size_t length);
#define MODULE_NUMBER_SIZE 24
/* Writes a number, and returns `out`. */
const char *module_digits(char out[MODULE_NUMBER_SIZE], int64_t value);

/* ---- URLs (module_url.c) --------------------------------------------------------------------- */

#define MODULE_HOSTS_MAX  16
#define MODULE_PARAMS_MAX 24

typedef struct module_host {
    char *name; /* without the brackets of an IPv6 address */
    int port;   /* 0: not given */
} module_host;

/* scheme://[user[:password]@]host[:port][,host[:port]...][/path][?name=value&...], each part with
 * %XX decoded. The zero value can be freed. */
typedef struct module_url {
    char *user, *password, *path; /* NULL: not given; the path without its first / */
    module_host hosts[MODULE_HOSTS_MAX];
    size_t host_count;
    struct {
        char *name, *value;
        bool used; /* read by a module_param function */
    } params[MODULE_PARAMS_MAX];
    size_t param_count;
    char shown[160]; /* scheme://host:port/path for messages: no user, password or parameters */
} module_url;

/* FIRN_EUSAGE: invalid; FIRN_EMEMORY. Errors never contain the password. */
int module_url_parse(module_url *url, const char *text, firn_error *error);
void module_url_free(module_url *url);
/* The value of a parameter, or NULL. Marks the parameter as used. */
const char *module_param(module_url *url, const char *name);

/* A parameter that is a number, or a duration in whole units. */
typedef struct module_number {
    const char *name;
    int64_t *out, initial, least, most;
    const char *unit; /* of a duration, or NULL */
} module_number;

/* FIRN_ERANGE: a number is outside its bounds. */
int module_param_numbers(module_url *url, const module_number *numbers, size_t count,
                         firn_error *error);
/* A parameter that names a table: 1..48 letters, digits and _, not a digit first. */
int module_param_name(const char **out, module_url *url, const char *name, const char *initial,
                      firn_error *error);
/* FIRN_EUSAGE: the parameter has another name now, or is unknown. */
int module_param_unknown(const char *name, const char *value, const char *known, firn_error *error);
/* FIRN_EUSAGE: a parameter is unknown; the error lists the known ones ("a b c"). */
int module_params_done(const module_url *url, const char *known, firn_error *error);

/* A parameter that names a file, or NULL. FIRN_EUSAGE: a named pipe (FIFO), on which the library
 * that reads it would wait until somebody writes, which may be never. A shell's <(...) has its
 * writer. */
int module_param_file(const char **out, module_url *url, const char *name, firn_error *error);

/* If the URL has no password: reads it from the first line of the file in password-file=PATH, or
 * else from `variable` of the environment. FIRN_EUSAGE: the file cannot be read. */
int module_password(module_url *url, const char *variable, firn_error *error);

/* FIRN_EUSAGE: the parameter `name` is given without `need`, so the engine's library ignores it, or
 * continues without TLS where a server offers none. */
int module_needs(const char *name, bool given, const char *need, bool there, firn_error *error);

/* The parameter tls=off|prefer|require|verify, or NULL. */
int module_param_tls(const char **out, module_url *url, firn_error *error);

/* The parameters tls, verify (0 or 1), ca, cert and key. */
typedef struct module_tls {
    int64_t enabled, verify;
    const char *ca, *cert, *key; /* files, or NULL */
} module_tls;

/* FIRN_EUSAGE: files without tls=1, authorities with verify=0, or a certificate without its key. */
int module_tls_read(module_tls *tls, module_url *url, bool initial, firn_error *error);

/* ---- time (module_time.c) -------------------------------------------------------------------- */

/* CLOCK_BOOTTIME in ms: never steps, and counts while the machine sleeps. */
int64_t module_now_ms(void);
/* Converts microseconds since 1970 of an engine's clock. FIRN_ESTORE: the time is before 1970. */
int module_clock(firn_time *now, int64_t us, const char *where, firn_error *error);
/* Waits until the descriptor is ready for one of `events`. Returns which, or 0 at the deadline. */
short module_await(int descriptor, short events, int64_t deadline_ms);
/* Makes a condition variable for module_cond_wait. */
void module_cond_init(pthread_cond_t *cond);
/* False at the deadline. */
bool module_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t deadline_ms);
/* Sleeps a random time before round 1, 2, ... of a conflict with other writers: longer each round,
 * at most 32 ms. */
void module_sleep_randomly(int round);
/* Sleeps a random time of at most most_ms. */
void module_sleep_below(int64_t most_ms);
/* A random number from the kernel, never 0. FIRN_ESYSTEM. */
int module_random(uint64_t *out, firn_error *error);

/* When to connect again after a failure: at once, then after 50, 100, 200 ... 1000 ms. */
typedef struct module_retry {
    int failures;
    int64_t next_ms;
} module_retry;

bool module_retry_waits(const module_retry *retry);
void module_retry_failed(module_retry *retry);
void module_retry_worked(module_retry *retry);

/* Prepares module_process. FIRN_EMEMORY. */
int module_mark(firn_error *error);
/* Names this process among its parents and children. A process ID is not enough: process 1 of a
 * container may have a child that is process 1 of another. */
int64_t module_process(void);
/* A part of a call whose state a child cannot use: fork() in another thread waits until it ends, 5
 * s at most. */
void module_inside(void);
void module_outside(void);
/* How many there are, in a child: at the fork. */
int module_insiders(void);
/* Is this process not *process? Sets *process; 0 counts as this process. */
bool module_forked(int64_t *process);

/* ---- names of hosts (module_lookup.c) -------------------------------------------------------- */

/* The C library looks names up without a time limit and cannot be interrupted, so a thread does it;
 * a lookup that takes too long continues, and the next call uses its result. */
typedef struct module_lookup module_lookup;

/* The addresses of a host, for freeaddrinfo; NULL: `why` has the reason. *lookup is the running
 * lookup, NULL at first. */
struct addrinfo *module_resolve(module_lookup **lookup, const char *name, int port,
                                int64_t deadline_ms, const char **why);
/* Abandons a lookup (may be NULL). A forked child must forget it instead. */
void module_lookup_leave(module_lookup *lookup);

/* ---- one handle (module_link.c) -------------------------------------------------------------- */

/* The functions of a shared store that talk to its engine. Each handle begins with a
 * module_link. */
typedef struct module_engine {
    size_t size;            /* of a handle */
    const char *parameters; /* that the URL may have, for messages */
    /* Reads the URL's parameters, after module_link_read. */
    int (*set_up)(void *self, firn_error *error);
    /* Starts a verb on a working connection. */
    int (*ready)(void *self, firn_error *error);
    bool lazy; /* opening does not connect */
    /* For module_ready: is there a connection that the server has not closed? */
    bool (*is_open)(void *self);
    /* For module_ready: connects to one host (0 if the URL has none) before the deadline and checks
     * the server. hang_up follows a failure. */
    int (*dial)(void *self, size_t host, int64_t deadline_ms, firn_error *error);
    /* Closes the connection, if there is one. `forked`: it is the parent's. Then it closes the
     * descriptor, sends nothing, and frees nothing of the engine's library. */
    void (*hang_up)(void *self, bool forked);
    void (*clean)(void *self); /* frees the rest; NULL: nothing */
} module_engine;

/* Part of every handle of a shared store. The zero value can be freed. */
typedef struct module_link {
    const module_engine *engine;
    int socket;        /* of the connection; -1: none */
    char caution[200]; /* why the server may lose acknowledged writes; "": no reason */
    module_url url;
    firn_store_options options;
    bool unsafe;                    /* an option, or unsafe=1 */
    int64_t connect_ms, timeout_ms; /* limits: to connect to any host; for one answer */
    int64_t process;                /* module_process of the connection's process */
    module_retry retry;
    firn_error failure; /* of the last connection that failed */
    size_t host;        /* the last one reached */
    module_lookup *lookups[MODULE_HOSTS_MAX];
    bool opening; /* module_open connects */
    bool patient; /* the URL has no connect_timeout: opening has the time of wait_ms */
    bool busy;    /* a host failed, and may be reached later */
    int64_t end_ms, open_end_ms; /* deadline of the verb; of opening */
    int shares;                  /* verbs still to come that share the time of opening */
} module_link;

/* Reads the URL and the parameters connect_timeout, timeout and unsafe. */
int module_link_read(module_link *link, const char *url, const firn_store_options *options,
                     firn_error *error);
void module_link_free(module_link *link);

/* Methods of a store. */
int module_open(void **self, const module_engine *engine, const char *url,
                const firn_store_options *options, firn_error *error);
void module_close(void *self);
const char *module_caution(void *self);
const char *module_where(void *self);
int module_begin(void *self, const firn_records *names, firn_verb verb, firn_error *error);
/* A `ready`: replaces a connection that the server closed while it was idle, as nothing was sent on
 * it. While a store opens, a busy server is asked again until wait_ms of the options has passed. */
int module_ready(void *self, firn_error *error);
/* module_unreachable for a server that did not answer in time. */
int module_late(module_link *link, const char *where, firn_error *error);

/* Starts a verb. True: this is a forked child, and the connection is its parent's. */
bool module_link_begin(module_link *link);
/* A verb starts no request after wait_ms of the options, or after connect_ms + timeout_ms if that
 * is longer. Opening and the next verb share that time, but the verb has at least timeout_ms. */
void module_link_deadline(module_link *link);
/* FIRN_ESTORE after that time. */
int module_in_time(const module_link *link, firn_error *error);

/* FIRN_ESTORE, with the last error, while a retry is too early. */
int module_link_waits(const module_link *link, firn_error *error);
/* Whether the server may be used although it has `risk` ("": none), with which a crash may lose
 * acknowledged writes. Sets the caution. FIRN_ESTORE without unsafe=1. */
int module_risk(module_link *link, const char *risk, const char *cure, firn_error *error);
/* The same for a trigger or rule of somebody's on the store's tables; "": no trigger. */
int module_refuse_trigger(module_link *link, const char *name, firn_error *error);
/* Notes that no host was reached. Returns `code`. */
int module_link_failed(module_link *link, int code, firn_error *error);
/* The addresses of one of the hosts, or NULL and `why`. */
struct addrinfo *module_link_resolve(module_link *link, size_t host, int port, int64_t deadline_ms,
                                     const char **why);
/* The same; NULL: the error, of FIRN_ESTORE, says why. A library that looks names up itself does so
 * without a time limit, so it gets addresses, or at least no name that is not found in time. */
struct addrinfo *module_link_find(module_link *link, size_t host, int port, int64_t deadline_ms,
                                  firn_error *error);
/* Looks up names that the engine's library has from elsewhere than the URL (separated by commas),
 * since the library would do it without a time limit. FIRN_ESTORE: it takes too long. Ignores a
 * name that does not exist. */
int module_link_try_names(module_link *link, const char *names, int64_t deadline_ms,
                          firn_error *error);

/* The failpoints of a write, by its verb. */
typedef struct module_points {
    const char *before, *request_sent, *committed;
} module_points;

extern const module_points firn__module_points[FIRN_VERB_RELABEL + 1];

/* Calls a failpoint (NULL: none). FIRN_EFORKED: this is the child of a fork inside it. */
int module_point(const module_link *link, const char *name, firn_error *error);

#endif
