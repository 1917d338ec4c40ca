/* SPDX-License-Identifier: MIT */
/* What the modules of shared stores have in common, linked into each, since a module takes nothing
 * from libfirn: failures in words, URLs, exact numbers, when to try again. Knows no engine. */
#ifndef FIRN_MODULE_H
#define FIRN_MODULE_H

#include <firn/firn.h>
#include <netdb.h>
#include <sys/types.h>

#ifdef __cplusplus
#error "modules are C"
#endif

/* ---- failures -------------------------------------------------------------------------------- */

/* Fills `error` (may be NULL): at most 200 bytes, one line, whatever the arguments held. Returns
 * `code`. */
int module_fail(firn_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- URLs ------------------------------------------------------------------------------------ */

#define MODULE_HOSTS_MAX  16
#define MODULE_PARAMS_MAX 24
/* Of connect_timeout_ms and timeout_ms where the URL says nothing: less than half of the shortest window
 * on a shared store, so that a caller who waits for a renewal still has something to issue. */
#define MODULE_TIMEOUT_MS 1000

typedef struct module_host {
    char *name; /* without the brackets of an IPv6 address */
    int port;   /* 0: not given */
} module_host;

/* scheme://[user[:password]@]host[:port][,host[:port]...][/path][?name=value&...], every part
 * decoded from %XX. The zero value may be freed. */
typedef struct module_url {
    char *user, *password, *path; /* NULL: not given; the path without its first / */
    module_host hosts[MODULE_HOSTS_MAX];
    size_t host_count;
    struct {
        char *name, *value;
        bool used; /* somebody asked for it */
    } params[MODULE_PARAMS_MAX];
    size_t param_count;
    char shown[160]; /* scheme://host:port/path for people: no user, password or parameters */
} module_url;

/* FIRN_EUSAGE: not of that form; FIRN_EMEMORY. Messages never hold the password. */
int module_url_parse(module_url *url, const char *text, firn_error *error);
void module_url_free(module_url *url);
/* The value of a parameter, or NULL. Marks it as used. */
const char *module_param(module_url *url, const char *name);
/* The same as a number. FIRN_ERANGE names the bounds. */
int module_param_number(int64_t *out, module_url *url, const char *name, int64_t initial,
                        int64_t least, int64_t most, firn_error *error);
/* The same as the name of a table or the like: 1..48 letters, digits and _, not a digit first. */
int module_param_name(const char **out, module_url *url, const char *name, const char *initial,
                      firn_error *error);
/* FIRN_EUSAGE for a parameter that nobody asked for, with those of `known` ("a b c"). */
int module_params_done(const module_url *url, const char *known, firn_error *error);

/* Where the URL has no password: the first line of the file that password-file=PATH names, else
 * what `variable` of the environment holds (NULL: none). FIRN_EUSAGE: the file cannot be read. */
int module_password(module_url *url, const char *variable, firn_error *error);

/* ---- names of hosts -------------------------------------------------------------------------- */

/* Nobody bounds how long the C library looks a name up, and what it has begun it does not end: so a
 * thread of its own does it, which any process may begin, a forked child too. One that takes too
 * long goes on behind us, and the next call takes its answer. */
typedef struct module_lookup module_lookup;

/* The addresses of a host, for freeaddrinfo; NULL leaves the reason in `why`. *lookup is what is
 * under way, NULL at first. */
struct addrinfo *module_resolve(module_lookup **lookup, const char *name, int port,
                                int64_t deadline_ms, const char **why);
/* Nobody will ask for it. May be NULL. In the child of a fork it is forgotten instead. */
void module_lookup_leave(module_lookup *lookup);

/* ---- numbers --------------------------------------------------------------------------------- */

/* Exactly a decimal in 0..2^63-1, and in 0..2^64-1; no sign, blank or leading zero. */
bool module_int64(int64_t *out, const char *text, size_t length);
bool module_uint64(uint64_t *out, const char *text, size_t length);

/* ---- time and processes ---------------------------------------------------------------------- */

/* Milliseconds of the steady clock. */
int64_t module_now_ms(void);
/* The instant of an engine's clock, in microseconds since 1970. FIRN_ESTORE: it is before 1970. */
int module_clock(firn_time *now, int64_t us, const char *where, firn_error *error);

/* A verb may need several requests, of which each has a time-out of its own: after this moment it begins
 * no other. That is wait_ms of the options, but no less than connecting and one answer may take. */
int64_t module_verb_end(const firn_store_options *options, int64_t connect_ms, int64_t timeout_ms);
/* FIRN_ESTORE once that moment has come; `where` for people. */
int module_in_time(int64_t end_ms, const char *where, firn_error *error);

/* When a connection that failed is tried again: at once, then after 50, 100, 200... 1000 ms, so
 * that waiting callers do not hammer an engine that is down and recovery is quick. */
typedef struct module_retry {
    int failures;
    int64_t next_ms; /* of the steady clock */
} module_retry;

/* Must nothing be tried yet? */
bool module_retry_waits(const module_retry *retry);
void module_retry_failed(module_retry *retry);
void module_retry_worked(module_retry *retry);

/* Is this process another one than *pid (which is set at the first call, and again)? A connection
 * that was inherited is abandoned then: its descriptor closed, nothing said to the engine, nothing
 * freed by the engine's library. */
bool module_forked(pid_t *pid);

/* ---- the engine's identity ------------------------------------------------------------------- */

/* A store that went back (restored, emptied, failed over to a copy that lags behind) no longer knows
 * what it granted. Whoever notices that writes it into the store's own record, so that it is known
 * for every namespace. The law, which each module applies in the transaction of the reservation:
 *
 *     doubted = the store went back after the namespace was last reserved from,
 *               or the namespace has no record and the store ever went back: it may have been lost
 *     doubted, guard 0: refuse (FIRN_EBACK), unless the mark is past `latest` anyhow: then busy
 *     doubted, else: floor = max(floor, guard), and the namespace is no longer doubted
 *     first = max(high, earliest, floor); if first > latest: busy, tells max(high, floor) and the
 *     mark's grant, 0 where the floor is told (else a caller that meets its own grant would take
 *     the slots before the floor for its own); the new floor is kept all the same
 *
 * A namespace without a record is new, and not doubted, once MODULE_ALL_NAMES was reserved from with
 * a guard after the store went back: `firn segment advance '*' --min 1` says that every name that was
 * in use has been dealt with. */
#define MODULE_ALL_NAMES "integer *"

/* What a store keeps of a namespace and a key, and what follows from it for a request. */
typedef struct module_kept {
    bool known;         /* the namespace has a record */
    bool doubted;       /* by the law above */
    const char *layout; /* if it is known */
    int64_t floor;
    firn_mark mark;
} module_kept;

typedef struct module_verdict {
    int64_t first, floor;
    bool renew; /* the namespace's record is to be written, also where the key is busy */
} module_verdict;

/* The law for modules that decide here and write only if nothing has changed. FIRN_OK: *out->first is
 * the caller's once that is written; FIRN_EBUSY fills `held`; FIRN_ENAMESPACE; FIRN_EBACK. */
int module_decide(module_verdict *out, const module_kept *kept, const firn_request *request,
                  const char *where, firn_mark *held, firn_error *error);

int module_refuse_changed(firn_error *error, const char *where, const char *ns);

/* `held` of a busy key, by that law. */
void module_busy(firn_mark *held, const firn_mark *mark, int64_t floor);

/* Which namespaces a handle reserved from: one of them whose record is gone was lost by the engine,
 * and is no new one. The last 256; the zero value is none. */
typedef struct module_seen {
    uint64_t digests[256];
    unsigned next;
} module_seen;

bool module_was_seen(const module_seen *seen, const char *ns);
void module_see(module_seen *seen, const char *ns);

/* Stored instead of an identity where the engine has lost something: no engine's own, so that every
 * namespace that has it is doubted. */
#define MODULE_GONE_BACK "gone back"

/* What a handle was granted last, to be looked for when it has connected anew: an engine that still
 * knows it has kept all that came before it too. The zero value is nothing. */
typedef struct module_last {
    char ns[FIRN_NS_SIZE], key[FIRN_KEY_SIZE];
    int64_t high;
} module_last;

void module_remember(module_last *last, const firn_request *request, int64_t high);
/* Where this key's mark stands at least, by that; 0: not known. */
int64_t module_least(const module_last *last, const char *ns, const char *key);
/* It is about to be given back, so that a lower mark means nothing. */
void module_forget(module_last *last);

/* ---- rows ------------------------------------------------------------------------------------ */

/* FIRN_ENAMESPACE, naming the row that is stored and the one that is asked for where they differ. */
int module_other_row(firn_error *error, const firn_request *request, const char *row);

/* ---- one connection -------------------------------------------------------------------------- */

/* What a module that keeps one connection to one of several hosts needs to keep it. The zero value
 * may be freed. */
typedef struct module_link {
    module_url url;
    firn_store_options options;
    bool unsafe;                    /* by option or unsafe=1 */
    int64_t connect_ms, timeout_ms; /* connect_timeout_ms= for all hosts together, timeout_ms= */
    const char *tls;                /* tls=off|prefer|require|verify, or NULL */
    const char *authority;          /* ca=FILE, or NULL */
    pid_t pid;                      /* of the process whose connection it is */
    module_retry retry;
    char why[201];  /* it could not connect */
    size_t host;    /* that answered last */
    int64_t end_ms; /* of the verb that is under way: see module_verb_end */
} module_link;

/* Connects to one host (0, if the URL names none) until then and finds out whether it will do;
 * leaves nothing behind if not. */
typedef int module_dial(void *self, size_t host, int64_t deadline_ms, firn_error *error);

/* Parses the URL and the parameters that are named above. */
int module_link_read(module_link *link, const char *url, const firn_store_options *options,
                     firn_error *error);
/* Tries the host that answered last, then the others in order, each with its share of the time;
 * fails at once while it is too early for another try. */
int module_link_connect(module_link *link, module_dial *dial, void *self, firn_error *error);
void module_link_free(module_link *link);

/* Waits until the descriptor is ready for one of `events`. Returns which; 0: the time is over. */
short module_await(int descriptor, short events, int64_t deadline_ms);

/* ---- what every engine tells ----------------------------------------------------------------- */

/* FIRN_EBUSY: the key is granted up to `high`, past what was asked for. */
int module_refuse_busy(firn_error *error, const firn_request *request, int64_t high);
/* FIRN_EBUSY: the mark is not the one that was to be given back. */
int module_refuse_give_back(firn_error *error, const char *ns, const char *key,
                            const firn_mark *mine);
/* Calls the failpoint. FIRN_EFORKED in the child of a fork in there, which comes back too: `pid` is
 * of the process that entered the verb. */
int module_point(const firn_store_options *options, pid_t pid, const char *name, firn_error *error);

#endif
