/* SPDX-License-Identifier: MIT */
/* See module.h. */
#include "module.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RETRY_MS      50
#define RETRY_MOST_MS 1000

int module_fail(firn_error *error, int code, const char *format, ...) {
    if (error == NULL) {
        return code;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, 201, format, arguments);
    va_end(arguments);
    for (char *c = error->text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) {
            *c = ' '; /* one line, whatever the engine said */
        }
    }
    error->code = code;
    return code;
}

/* ---- URLs ------------------------------------------------------------------------------------ */

static int hex(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* A copy of the part with each %XX decoded; NULL: no memory, or not of that form. */
static char *decoded(const char *from, size_t length) {
    char *out = malloc(length + 1), *at = out;
    for (size_t i = 0; out != NULL && i < length; i++) {
        int high = 0, low = 0;
        if (from[i] != '%') {
            *at++ = from[i];
            continue;
        }
        if (i + 2 >= length || (high = hex(from[i + 1])) < 0 || (low = hex(from[i + 2])) < 0 ||
            high + low == 0) {
            free(out);
            return NULL;
        }
        *at++ = (char)(high * 16 + low);
        i += 2;
    }
    if (out != NULL) {
        *at = '\0';
    }
    return out;
}

static int bad_url(firn_error *error, const char *what) {
    return module_fail(error, FIRN_EUSAGE,
                       "the store's URL %s: write "
                       "ENGINE://[USER[:PASSWORD]@]HOST[:PORT][,HOST...][/PATH][?NAME=VALUE&...], "
                       "other characters as %%XX",
                       what);
}

static bool read_port(module_host *host, const char *text, size_t length) {
    int64_t port;
    if (!module_int64(&port, text, length) || port < 1 || port > 65535) {
        return false;
    }
    host->port = (int)port;
    return true;
}

/* One host[:port] or [address][:port]. */
static bool read_host(module_url *url, const char *text, size_t length) {
    module_host *host = &url->hosts[url->host_count];
    const char *end = text + length, *name = text, *stop, *rest;
    if (length > 0 && text[0] == '[') {
        stop = memchr(text, ']', length);
        name = text + 1;
        rest = stop != NULL ? stop + 1 : NULL;
    } else {
        stop = memchr(text, ':', length);
        stop = stop != NULL ? stop : end;
        rest = stop;
    }
    if (rest == NULL || stop == name || (rest < end && rest[0] != ':') ||
        (rest < end && !read_port(host, rest + 1, (size_t)(end - rest - 1)))) {
        return false;
    }
    host->name = decoded(name, (size_t)(stop - name));
    url->host_count += host->name != NULL;
    return host->name != NULL;
}

static int read_hosts(module_url *url, const char *text, size_t length, firn_error *error) {
    const char *end = text + length;
    while (text <= end && length > 0) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma != NULL ? comma : end;
        if (url->host_count == MODULE_HOSTS_MAX) {
            return bad_url(error, "names more than 16 hosts");
        }
        if (!read_host(url, text, (size_t)(stop - text))) {
            return bad_url(error, "has a host or port that is none (ports are 1..65535)");
        }
        text = stop + 1;
    }
    return FIRN_OK;
}

static int read_login(module_url *url, const char *text, size_t length, firn_error *error) {
    const char *colon = memchr(text, ':', length);
    size_t user = colon != NULL ? (size_t)(colon - text) : length;
    if (user > 0) {
        url->user = decoded(text, user);
    }
    if (colon != NULL) {
        url->password = decoded(colon + 1, length - user - 1);
    }
    return (user > 0 && url->user == NULL) || (colon != NULL && url->password == NULL)
               ? bad_url(error, "has a % in user or password that is no %XX")
               : FIRN_OK;
}

static int read_params(module_url *url, const char *text, firn_error *error) {
    while (*text != '\0') {
        size_t length = strcspn(text, "&");
        const char *equals = memchr(text, '=', length);
        if (equals == NULL || equals == text || url->param_count == MODULE_PARAMS_MAX) {
            return bad_url(error, equals == NULL || equals == text
                                      ? "has a parameter without name or ="
                                      : "has more than 24 parameters");
        }
        size_t name = (size_t)(equals - text);
        size_t i = url->param_count++;
        url->params[i].name = decoded(text, name);
        url->params[i].value = decoded(equals + 1, length - name - 1);
        if (url->params[i].name == NULL || url->params[i].value == NULL) {
            return bad_url(error, "has a % in a parameter that is no %XX");
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(url->params[j].name, url->params[i].name) == 0) {
                return bad_url(error, "gives a parameter twice");
            }
        }
        text += length + (text[length] == '&');
    }
    return FIRN_OK;
}

static int read_parts(module_url *url, const char *text, firn_error *error) {
    const char *colon = strstr(text, "://");
    if (colon == NULL) {
        return bad_url(error, "has no //");
    }
    const char *from = colon + 3, *query = strchr(from, '?');
    const char *end = query != NULL ? query : from + strlen(from);
    const char *slash = memchr(from, '/', (size_t)(end - from));
    const char *stop = slash != NULL ? slash : end;
    const char *at = memrchr(from, '@', (size_t)(stop - from));
    int code = at != NULL ? read_login(url, from, (size_t)(at - from), error) : FIRN_OK;
    const char *hosts = at != NULL ? at + 1 : from;
    if (slash != NULL && memchr(slash, '@', (size_t)(end - slash)) != NULL) {
        return bad_url(error, "has an @ behind a /, perhaps of a password"); /* it is not shown */
    }
    if (code == FIRN_OK) {
        code = read_hosts(url, hosts, (size_t)(stop - hosts), error);
    }
    if (code == FIRN_OK && slash != NULL && slash + 1 < end &&
        (url->path = decoded(slash + 1, (size_t)(end - slash - 1))) == NULL) {
        code = bad_url(error, "has a % in its path that is no %XX");
    }
    if (code == FIRN_OK && query != NULL) {
        code = read_params(url, query + 1, error);
    }
    snprintf(url->shown, sizeof url->shown, "%.*s://%.*s", (int)(colon - text), text,
             (int)(end - hosts), hosts);
    return code;
}

int module_url_parse(module_url *url, const char *text, firn_error *error) {
    memset(url, 0, sizeof *url);
    int code = read_parts(url, text, error);
    if (code != FIRN_OK) {
        module_url_free(url);
    }
    return code;
}

void module_url_free(module_url *url) {
    free(url->user);
    if (url->password != NULL) {
        explicit_bzero(url->password, strlen(url->password));
        free(url->password);
    }
    free(url->path);
    for (size_t i = 0; i < url->host_count; i++) {
        free(url->hosts[i].name);
    }
    for (size_t i = 0; i < url->param_count; i++) {
        free(url->params[i].name);
        free(url->params[i].value);
    }
    memset(url, 0, sizeof *url);
}

const char *module_param(module_url *url, const char *name) {
    for (size_t i = 0; i < url->param_count; i++) {
        if (strcmp(url->params[i].name, name) == 0) {
            url->params[i].used = true;
            return url->params[i].value;
        }
    }
    return NULL;
}

int module_param_number(int64_t *out, module_url *url, const char *name, int64_t initial,
                        int64_t least, int64_t most, firn_error *error) {
    const char *value = module_param(url, name);
    if (value == NULL) {
        *out = initial;
        return FIRN_OK;
    }
    int64_t number;
    if (!module_int64(&number, value, strlen(value)) || number < least || number > most) {
        return module_fail(error, FIRN_ERANGE,
                           "the store's URL has %s=%.40s: give a number of %" PRId64 " to %" PRId64,
                           name, value, least, most);
    }
    *out = number;
    return FIRN_OK;
}

int module_param_name(const char **out, module_url *url, const char *name, const char *initial,
                      firn_error *error) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const char *value = module_param(url, name);
    value = value != NULL ? value : initial;
    size_t length = strlen(value);
    if (length < 1 || length > 48 || strspn(value, letters) != length ||
        (value[0] >= '0' && value[0] <= '9')) {
        return module_fail(
            error, FIRN_EUSAGE,
            "the store's URL has %s=%.60s: give 1..48 letters, digits and _, not a digit first",
            name, value);
    }
    *out = value;
    return FIRN_OK;
}

int module_params_done(const module_url *url, const char *known, firn_error *error) {
    for (size_t i = 0; i < url->param_count; i++) {
        if (!url->params[i].used) {
            return module_fail(error, FIRN_EUSAGE,
                               "the store's URL has a parameter '%.40s' that is not known: %s",
                               url->params[i].name, known);
        }
    }
    return FIRN_OK;
}

static int read_password(module_url *url, const char *path, firn_error *error) {
    char line[1026];
    FILE *file = fopen(path, "re");
    bool read = file != NULL && setvbuf(file, NULL, _IONBF, 0) == 0 && /* no copy stays behind */
                fgets(line, sizeof line, file) != NULL;
    if (file != NULL) {
        fclose(file);
    }
    size_t length = read ? strcspn(line, "\r\n") : 0;
    if (length > 0 && length < 1024) {
        url->password = strndup(line, length);
    }
    explicit_bzero(line, sizeof line);
    if (length == 0 || length > 1023) {
        return module_fail(error, FIRN_EUSAGE,
                           "password-file=%.80s cannot be read: give a file whose first line is a "
                           "password of 1..1023 characters",
                           path);
    }
    return url->password != NULL ? FIRN_OK : module_fail(error, FIRN_EMEMORY, "out of memory");
}

int module_password(module_url *url, const char *variable, firn_error *error) {
    const char *path = module_param(url, "password-file");
    const char *value = variable != NULL ? getenv(variable) : NULL;
    if (url->password != NULL) {
        return FIRN_OK;
    }
    if (path != NULL) {
        return read_password(url, path, error);
    }
    if (value != NULL && value[0] != '\0' && (url->password = strdup(value)) == NULL) {
        return module_fail(error, FIRN_EMEMORY, "out of memory");
    }
    return FIRN_OK;
}

/* ---- names of hosts -------------------------------------------------------------------------- */

struct module_lookup {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int holders; /* its thread and who waits: the last of them frees it */
    bool done;
    int result; /* of getaddrinfo */
    struct addrinfo *found;
    char *name, port[8];
};

void module_lookup_leave(module_lookup *lookup) {
    if (lookup == NULL) {
        return;
    }
    pthread_mutex_lock(&lookup->lock);
    bool last = --lookup->holders == 0;
    pthread_mutex_unlock(&lookup->lock);
    if (last) {
        if (lookup->found != NULL) {
            freeaddrinfo(lookup->found);
        }
        pthread_mutex_destroy(&lookup->lock);
        pthread_cond_destroy(&lookup->ended);
        free(lookup->name);
        free(lookup);
    }
}

static void *look_up(void *of) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    module_lookup *it = of;
    struct addrinfo *found = NULL;
    int result = getaddrinfo(it->name, it->port, &hints, &found);
    pthread_mutex_lock(&it->lock);
    it->result = result;
    it->found = result == 0 ? found : NULL;
    it->done = true;
    pthread_cond_broadcast(&it->ended);
    pthread_mutex_unlock(&it->lock);
    module_lookup_leave(it);
    return NULL;
}

/* The thread takes none of the program's signals. */
static bool begin_look_up(module_lookup *it) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool begun = pthread_create(&thread, NULL, look_up, it) == 0 && pthread_detach(thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

static module_lookup *new_lookup(const char *name, const char *port) {
    module_lookup *it = calloc(1, sizeof *it);
    pthread_condattr_t steady;
    if (it == NULL) {
        return NULL;
    }
    pthread_mutex_init(&it->lock, NULL);
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&it->ended, &steady);
    pthread_condattr_destroy(&steady);
    it->holders = 2;
    it->name = strdup(name);
    snprintf(it->port, sizeof it->port, "%s", port);
    if (it->name == NULL || !begin_look_up(it)) {
        it->holders = 1;
        module_lookup_leave(it);
        return NULL;
    }
    return it;
}

static bool await_lookup(module_lookup *it, int64_t deadline_ms) {
    struct timespec until;
    int64_t left_ms = deadline_ms - module_now_ms();
    left_ms = left_ms > 0 ? left_ms : 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + left_ms % 1000 * 1000000;
    until.tv_sec += left_ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    int late = 0;
    pthread_mutex_lock(&it->lock);
    while (!it->done && late == 0) {
        late = pthread_cond_timedwait(&it->ended, &it->lock, &until);
    }
    bool done = it->done;
    pthread_mutex_unlock(&it->lock);
    return done;
}

struct addrinfo *module_resolve(module_lookup **lookup, const char *name, int port,
                                int64_t deadline_ms, const char **why) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    char digits[8];
    snprintf(digits, sizeof digits, "%d", port);
    if (getaddrinfo(name, digits, &hints, &found) == 0) {
        return found; /* an address, which nobody is asked for */
    }
    if (*lookup == NULL && (*lookup = new_lookup(name, digits)) == NULL) {
        *why = "out of memory";
        return NULL;
    }
    if (!await_lookup(*lookup, deadline_ms)) {
        *why = "looking its name up takes too long";
        return NULL;
    }
    module_lookup *it = *lookup;
    found = it->found;
    it->found = NULL;
    *why = it->result != 0 ? gai_strerror(it->result) : NULL;
    *lookup = NULL;
    module_lookup_leave(it);
    return found;
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool module_uint64(uint64_t *out, const char *text, size_t length) {
    uint64_t value = 0;
    if (length < 1 || length > 20 || (length > 1 && text[0] == '0')) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (digit > 9 || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool module_int64(int64_t *out, const char *text, size_t length) {
    uint64_t value;
    if (!module_uint64(&value, text, length) || value > INT64_MAX) {
        return false;
    }
    *out = (int64_t)value;
    return true;
}

/* ---- time and processes ---------------------------------------------------------------------- */

int module_clock(firn_time *now, int64_t us, const char *where, firn_error *error) {
    if (us < 0) {
        return module_fail(error, FIRN_ESTORE, "the clock of store %.60s is before 1970: set it",
                           where);
    }
    *now = (firn_time){us / 1000000, (int32_t)(us % 1000000 * 1000)};
    return FIRN_OK;
}

int64_t module_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#define WAIT_MS 5000 /* as max_wait_ms */

int64_t module_verb_end(const firn_store_options *options, int64_t connect_ms, int64_t timeout_ms) {
    int64_t wait_ms = options->wait_ms > 0 ? options->wait_ms : WAIT_MS;
    int64_t least_ms = connect_ms + timeout_ms;
    return module_now_ms() + (wait_ms > least_ms ? wait_ms : least_ms);
}

int module_in_time(int64_t end_ms, const char *where, firn_error *error) {
    return module_now_ms() < end_ms
               ? FIRN_OK
               : module_fail(error, FIRN_ESTORE,
                             "store %.60s answers too slowly for max_wait_ms: look at the server "
                             "and the network, or raise max_wait_ms",
                             where);
}

bool module_retry_waits(const module_retry *retry) {
    return retry->failures > 0 && module_now_ms() < retry->next_ms;
}

void module_retry_failed(module_retry *retry) {
    int64_t wait_ms = retry->failures == 0
                          ? 0
                          : (int64_t)RETRY_MS << (retry->failures < 6 ? retry->failures - 1 : 5);
    retry->next_ms = module_now_ms() + (wait_ms < RETRY_MOST_MS ? wait_ms : RETRY_MOST_MS);
    retry->failures += retry->failures < INT_MAX;
}

void module_retry_worked(module_retry *retry) {
    *retry = (module_retry){0, 0};
}

bool module_forked(pid_t *pid) {
    pid_t now = getpid();
    bool other = *pid != 0 && *pid != now;
    *pid = now;
    return other;
}

/* ---- the engine's identity ------------------------------------------------------------------- */

int module_refuse_changed(firn_error *error, const char *where, const char *ns) {
    static const struct {
        const char *prefix, *cure;
    } cures[] = {
        {"order ", "use another series"},
        {"", "no back-dated IDs of it: firn stamp without --job, with an unused node=N"},
    };
    size_t i = 0;
    if (strncmp(ns, "integer ", 8) == 0) {
        return module_fail(error, FIRN_EBACK,
                           "%.50s has changed or gone back since %.40s was reserved from: firn "
                           "segment advance '%.30s' --min N, N above all that was handed out",
                           where, ns, ns + 8);
    }
    while (strncmp(ns, cures[i].prefix, strlen(cures[i].prefix)) != 0) {
        i++;
    }
    return module_fail(error, FIRN_EBACK,
                       "%.50s has changed or gone back since %.50s was reserved from: %s", where,
                       ns, cures[i].cure);
}

void module_busy(firn_mark *held, const firn_mark *mark, int64_t floor) {
    *held = mark->high < floor ? (firn_mark){floor, 0} : *mark;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

int module_decide(module_verdict *out, const module_kept *kept, const firn_request *request,
                  const char *where, firn_mark *held, firn_error *error) {
    *out = (module_verdict){.floor = kept->floor, .renew = kept->doubted || !kept->known};
    if (kept->known && strcmp(kept->layout, request->layout) != 0) {
        out->renew = false;
        return module_other_row(error, request, kept->layout);
    }
    if (kept->doubted && request->guard <= 0) {
        out->renew = false;
        if (kept->mark.high <= request->latest) {
            return module_refuse_changed(error, where, request->ns);
        }
    } else if (kept->doubted) {
        out->floor = later(kept->floor, request->guard);
    }
    out->first = later(later(kept->mark.high, request->earliest), out->floor);
    if (out->first <= request->latest) {
        return FIRN_OK;
    }
    module_busy(held, &kept->mark, out->floor);
    return module_refuse_busy(error, request, held->high);
}

/* FNV-1a; 0 stands for none. */
static uint64_t digest(const char *ns) {
    uint64_t sum = UINT64_C(14695981039346656037);
    for (; *ns != '\0'; ns++) {
        sum = (sum ^ (unsigned char)*ns) * UINT64_C(1099511628211);
    }
    return sum | 1;
}

bool module_was_seen(const module_seen *seen, const char *ns) {
    uint64_t sum = digest(ns);
    for (size_t i = 0; i < sizeof seen->digests / sizeof seen->digests[0]; i++) {
        if (seen->digests[i] == sum) {
            return true;
        }
    }
    return false;
}

void module_see(module_seen *seen, const char *ns) {
    if (!module_was_seen(seen, ns)) {
        seen->digests[seen->next] = digest(ns);
        seen->next = (seen->next + 1) % (sizeof seen->digests / sizeof seen->digests[0]);
    }
}

void module_remember(module_last *last, const firn_request *request, int64_t high) {
    snprintf(last->ns, sizeof last->ns, "%s", request->ns);
    snprintf(last->key, sizeof last->key, "%s", request->key);
    last->high = high;
}

int64_t module_least(const module_last *last, const char *ns, const char *key) {
    return strcmp(last->ns, ns) == 0 && strcmp(last->key, key) == 0 ? last->high : 0;
}

void module_forget(module_last *last) {
    last->high = 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

int module_other_row(firn_error *error, const firn_request *request, const char *row) {
    size_t same = 0;
    while (row[same] != '\0' && row[same] == request->layout[same]) {
        same++;
    }
    /* Long rows are shown from a little before the place where they differ. */
    same = same < 24 || strlen(row) + strlen(request->layout) < 96 ? 0 : same - 8;
    return module_fail(
        error, FIRN_ENAMESPACE,
        "namespace %.24s holds row '%.48s', not '%.48s': use another ns= for this one", request->ns,
        row + same, request->layout + same);
}

/* ---- one connection -------------------------------------------------------------------------- */

#define TIMEOUT_MOST_MS 600000

static int read_tls(module_link *link, firn_error *error) {
    static const char *const words[] = {"off", "prefer", "require", "verify"};
    link->tls = module_param(&link->url, "tls");
    link->authority = module_param(&link->url, "ca");
    for (size_t i = 0; link->tls != NULL && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(link->tls, words[i]) == 0) {
            return FIRN_OK;
        }
    }
    return link->tls == NULL
               ? FIRN_OK
               : module_fail(error, FIRN_EUSAGE,
                             "the store's URL has tls=%.40s: give off, prefer, require or verify",
                             link->tls);
}

int module_link_read(module_link *link, const char *url, const firn_store_options *options,
                     firn_error *error) {
    int64_t unsafe = 0;
    link->options = *options;
    int code = module_url_parse(&link->url, url, error);
    if (code == FIRN_OK) {
        code = module_param_number(&link->connect_ms, &link->url, "connect_timeout_ms",
                                   MODULE_TIMEOUT_MS, 1, TIMEOUT_MOST_MS, error);
    }
    if (code == FIRN_OK) {
        code = module_param_number(&link->timeout_ms, &link->url, "timeout_ms", MODULE_TIMEOUT_MS,
                                   1, TIMEOUT_MOST_MS, error);
    }
    if (code == FIRN_OK) {
        code = module_param_number(&unsafe, &link->url, "unsafe", 0, 0, 1, error);
    }
    link->unsafe = unsafe != 0 || options->unsafe;
    return code != FIRN_OK ? code : read_tls(link, error);
}

static int connect_any(module_link *link, module_dial *dial, void *self, firn_error *error) {
    size_t hosts = link->url.host_count > 0 ? link->url.host_count : 1;
    int64_t end_ms = module_now_ms() + link->connect_ms;
    int code = FIRN_ESTORE;
    for (size_t i = 0; i < hosts && code != FIRN_OK; i++) {
        size_t host = (link->host + i) % hosts;
        int64_t now_ms = module_now_ms();
        code = dial(self, host, now_ms + (end_ms - now_ms) / (int64_t)(hosts - i), error);
        if (code == FIRN_OK) {
            link->host = host;
        }
    }
    return code;
}

int module_link_connect(module_link *link, module_dial *dial, void *self, firn_error *error) {
    firn_error own = {0};
    if (module_retry_waits(&link->retry)) {
        return module_fail(error, FIRN_ESTORE, "%s", link->why);
    }
    int code = connect_any(link, dial, self, &own);
    if (code == FIRN_OK) {
        module_retry_worked(&link->retry);
        return FIRN_OK;
    }
    module_retry_failed(&link->retry);
    snprintf(link->why, sizeof link->why, "%.200s", own.text);
    return module_fail(error, code, "%s", link->why);
}

void module_link_free(module_link *link) {
    module_url_free(&link->url);
    memset(link, 0, sizeof *link);
}

short module_await(int descriptor, short events, int64_t deadline_ms) {
    for (int i = 0; i < 1000; i++) { /* signals of this process interrupt it */
        struct pollfd one = {descriptor, events, 0};
        int64_t left = deadline_ms - module_now_ms();
        int ready = poll(&one, 1, left > 0 ? (int)left : 0);
        if (ready != -1) {
            return ready > 0 ? one.revents : 0;
        }
    }
    return 0;
}

/* ---- what every engine tells ----------------------------------------------------------------- */

int module_refuse_busy(firn_error *error, const firn_request *request, int64_t high) {
    return module_fail(error, FIRN_EBUSY,
                       "%.24s/%.63s is granted up to %" PRId64 ", past %" PRId64
                       ": use another node or wait",
                       request->ns, request->key, high, request->latest);
}

int module_refuse_give_back(firn_error *error, const char *ns, const char *key,
                            const firn_mark *mine) {
    return module_fail(error, FIRN_EBUSY,
                       "%.24s/%.63s was not given back: its mark is not %" PRId64
                       " of this grant any more",
                       ns, key, mine->high);
}

int module_point(const firn_store_options *options, pid_t pid, const char *name,
                 firn_error *error) {
    if (options->failpoint != NULL) {
        options->failpoint(options->failpoint_self, name);
    }
    return getpid() == pid
               ? FIRN_OK
               : module_fail(error, FIRN_EFORKED,
                             "this process was forked while the store was at work, so the call is "
                             "its parent's: call again, or fork between calls");
}
