/* SPDX-License-Identifier: MIT */
/* firn-serve: starts the server, waits for signals, stops it. Listeners and renewers have their own
 * threads. */
#include "conceal.h"
#include "config/config.h"
#include "core/access.h"
#include "core/catalog.h"
#include "core/log.h"
#include "core/masks.h"
#include "core/monotonic.h"
#include "core/renewer.h"
#include "core/server.h"
#include "descriptors.h"
#include "errors.h"
#include "hints.h"
#include "http/http_listener.h"
#include "names.h"
#include "net/access_log.h"
#include "net/connections.h"
#include "net/credentials.h"
#include "net/listener.h"
#include "net/probe.h"
#include "net/systemd.h"
#include "resp/resp_listener.h"
#include "vmgenid.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUND_MS = 1000,         /* interval of the main thread's checks */
    BEAT_MOST_MS = 10000,    /* a listener without a beat for this long is stuck */
    RENEWER_MOST_MS = 60000, /* a renewer may be in a store call for this long */
    GIVE_BACK_MS = 10000,    /* limit for giving windows back */
    TRIM_MS = 5000,          /* interval of looks at unused memory */
    TRIM_BYTES = 4 << 20,    /* unused memory that is worth giving back */
    AGAIN_MS = 300 /* signals closer together count as one: a shell may signal its group */
};

typedef struct server_protocol {
    const char *name;
    server_listener *all;
    int count;
    int (*open)(server_listener all[], int count, int threads, firn_error *error);
    void (*end)(int64_t ms); /* stops serving within ms; returns at once */
    void (*close)(void);     /* afterwards */
    void (*news)(void);      /* NULL: it polls */
    int threads;             /* copies of each socket */
    bool is_open;
} server_protocol;

enum { PROTOCOL_RESP, PROTOCOL_HTTP, PROTOCOL_COUNT };

static struct {
    server_config config; /* the current one: settings that need a restart keep their values */
    int count;            /* the command line, which a reload reads again */
    char **words;
    server_protocol protocols[PROTOCOL_COUNT];
    bool on_terminal;
    int notices; /* of the kernel: vmgenid.h */
    bool ready;  /* as last logged */
    char why[SERVER_WHY_SIZE];
    int64_t watchdog_ms, alive_at_ms;
} all = {.notices = -1,
         .protocols = {
             [PROTOCOL_RESP] = {.name = "resp",
                                .open = resp_listener_open,
                                .end = resp_listener_end,
                                .close = resp_listener_close,
                                .news = resp_listener_news},
             [PROTOCOL_HTTP] = {.name = "http",
                                .open = http_listener_open,
                                .end = http_listener_end,
                                .close = http_listener_close},
         }};

/* Failures before serving are printed as the command prints them. */
static int fail(const firn_error *error) {
    firn_error told = *error;
    translate_error(&told, SURFACE_COMMAND); /* a person started it */
    fprintf(stderr, "firn: %s\n", told.text);
    return status_of(error->code);
}

/* ---- the process ---------------------------------------------------------------------------- */

/* A core file or a debugger would reveal keys and tokens. */
static void keep_secrets(const server_config *config) {
    const server_settings *set = &config->set;
    bool keyed = false;
    for (size_t i = 0; i < config->sections.count; i++) {
        keyed = keyed || strstr(config->sections.all[i].keys, "key_file=") != NULL;
    }
    if (keyed || set->tokens[0] != '\0' || set->tls_key[0] != '\0' || set->masks[0] != '\0') {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    }
}

static int cores(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > 64 ? 64 : (int)online;
}

/* ---- checks --------------------------------------------------------------------------------- */

enum { SERIES_RELOADED = 1000 }; /* room for those that a reload adds */

/* How many segments clients may create. */
static size_t segments_allowed(const server_settings *set) {
    return set->auto_create ? (size_t)set->max_auto_create : 0;
}

static int begin_catalog(const server_config *config, firn_error *error) {
    const server_settings *set = &config->set;
    /* a file that was written on one machine may be read on another */
    renewers_open_stores(set->unsafe, config->file[0] != '\0');
    /* includes what a reload may allow */
    size_t segments = (size_t)setting_table[SETTING_max_auto_create].most, series = SERIES_RELOADED;
    for (size_t i = 0; i < config->sections.count; i++) {
        segments += config->sections.all[i].kind == SECTION_SEGMENT;
        series += config->sections.all[i].kind == SECTION_SERIES;
    }
    int code = catalog_begin(or_null(set->store), (size_t)set->max_generators, segments, series,
                             segments_allowed(set), error);
    catalog_allow_block(set->max_block);
    code = code == FIRN_OK ? names_add(&config->sections, error) : code;
    return code == FIRN_OK ? catalog_begun(error) : code;
}

static credential_files files_of(const server_settings *set) {
    return (credential_files){set->tls_cert, set->tls_key, set->tls_client_ca};
}

static int check_files(const server_settings *set, firn_error *error) {
    credential_files files = files_of(set);
    int code = access_check(or_null(set->tokens), error);
    code = code == FIRN_OK ? masks_check(or_null(set->masks), error) : code;
    return code == FIRN_OK ? credentials_check(&files, error) : code;
}

/* Without an address or an inherited socket the server would do nothing. */
static int check_served(firn_error *error) {
    return all.protocols[PROTOCOL_RESP].count + all.protocols[PROTOCOL_HTTP].count > 0
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "resp = none and http = none: set an address for one of them");
}

/* Inherited sockets may be public with any settings. */
static int check_reach(const server_settings *set, firn_error *error) {
    for (int i = 0; i < PROTOCOL_COUNT; i++) {
        for (int j = 0; j < all.protocols[i].count; j++) {
            const char *address = all.protocols[i].all[j].address;
            if (!settings_authenticate(set) && address_is_public(address)) {
                return set_error(error, FIRN_EUSAGE,
                                 "%s can be reached from other machines without authentication: "
                                 "set tokens = FILE or tls_client_ca, or listen on 127.0.0.1",
                                 address);
            }
        }
    }
    return FIRN_OK;
}

/* ---- opening -------------------------------------------------------------------------------- */

static int open_listeners(server_protocol *protocol, const char *addresses, firn_error *error) {
    int room = LISTENERS_MAX * protocol->threads;
    protocol->all = calloc((size_t)room, sizeof *protocol->all);
    if (protocol->all == NULL) {
        return out_of_memory(error);
    }
    int mode = (int)strtol(all.config.set.socket_mode, NULL, 8);
    int count = listeners_open(protocol->all, room, protocol->name, addresses, protocol->threads,
                               mode, error);
    protocol->count = count < 0 ? 0 : count;
    return count < 0 ? count : FIRN_OK;
}

static void tell_listeners(const server_protocol *protocol) {
    for (int i = 0; i < protocol->count; i += protocol->threads) {
        const server_listener *listener = &protocol->all[i];
        bool tls = credentials_are_there() && !listener->is_unix;
        log_event(LOG_LEVEL_INFO, "listening", "listener", protocol->name, "address",
                  listener->address, "tls", tls ? "yes" : "no", NULL);
        if (!tls && address_is_public(listener->address)) {
            log_event(LOG_LEVEL_WARNING, "no TLS on a public address", "address", listener->address,
                      "cure", "set tls_cert and tls_key", NULL);
        }
    }
}

static void tell_hints(void) {
    const server_settings *set = &all.config.set;
    const server_protocol *resp = &all.protocols[PROTOCOL_RESP],
                          *http = &all.protocols[PROTOCOL_HTTP];
    const server_segment *first = catalog_segment_at(0);
    const char *key = first != NULL ? first->name : set->auto_create ? "orders" : NULL;
    hints_tell(resp->count > 0 ? resp->all[0].address : NULL,
               http->count > 0 ? http->all[0].address : NULL, credentials_are_there(),
               set->tokens[0] != '\0', key);
}

/* A notice wakes the main thread. */
static void open_notices(void) {
    all.notices = vmgenid_open();
    if (all.notices >= 0) {
        fcntl(all.notices, F_SETOWN, getpid());
        fcntl(all.notices, F_SETFL, O_NONBLOCK | O_ASYNC);
    }
}

/* Sockets first: a server whose address is in use claims no nodes. */
static int open_all(firn_error *error) {
    const server_settings *set = &all.config.set;
    server_protocol *resp = &all.protocols[PROTOCOL_RESP], *http = &all.protocols[PROTOCOL_HTTP];
    resp->threads = set->loops > 0 ? (int)set->loops : cores();
    http->threads = set->http_threads > 0 ? (int)set->http_threads : (cores() < 4 ? cores() : 4);
    credential_files files = files_of(set);
    int code = access_load(or_null(set->tokens), error);
    code = code == FIRN_OK ? masks_load(or_null(set->masks), error) : code;
    code = code == FIRN_OK ? credentials_load(&files, error) : code;
    code = code == FIRN_OK ? access_log_begin(error) : code;
    code = code == FIRN_OK ? open_listeners(resp, set->resp, error) : code;
    code = code == FIRN_OK ? open_listeners(http, set->http, error) : code;
    code = code == FIRN_OK ? check_served(error) : code;
    code = code == FIRN_OK ? check_reach(set, error) : code;
    open_notices();
    code = code == FIRN_OK ? connections_fit((resp->count > 0 ? resp->threads : 0) + http->count,
                                             (resp->count > 0) + (http->count > 0), error)
                           : code;
    code = code == FIRN_OK ? begin_catalog(&all.config, error) : code;
    for (int i = 0; i < PROTOCOL_COUNT && code == FIRN_OK; i++) {
        server_protocol *protocol = &all.protocols[i];
        code = protocol->count > 0
                   ? protocol->open(protocol->all, protocol->count, protocol->threads, error)
                   : FIRN_OK;
        protocol->is_open = code == FIRN_OK && protocol->count > 0;
    }
    return code;
}

static void pass_news_on(void) {
    for (int i = 0; i < PROTOCOL_COUNT; i++) {
        if (all.protocols[i].is_open && all.protocols[i].news != NULL) {
            all.protocols[i].news();
        }
    }
}

/* Listeners first, then renewers and stores. */
static void close_all(void) {
    for (int i = 0; i < PROTOCOL_COUNT;
         i++) { /* all at once: clients of one do not delay the other */
        if (all.protocols[i].is_open) {
            all.protocols[i].end(all.config.set.stop_s * 1000);
        }
    }
    for (int i = 0; i < PROTOCOL_COUNT; i++) {
        if (all.protocols[i].is_open) {
            all.protocols[i].close();
        }
        listeners_close(all.protocols[i].all, all.protocols[i].count);
        free(all.protocols[i].all);
    }
    access_log_end();
    renewers_stop(GIVE_BACK_MS);
    masks_load(NULL, NULL); /* erases the keys */
    if (all.notices >= 0) {
        close(all.notices);
    }
    config_free(&all.config);
}

/* ---- while it runs -------------------------------------------------------------------------- */

static bool is_alive(void) {
    renewer_state state;
    if ((all.protocols[PROTOCOL_RESP].is_open && resp_listener_beat_ms() > BEAT_MOST_MS) ||
        (all.protocols[PROTOCOL_HTTP].is_open && http_listener_beat_ms() > BEAT_MOST_MS)) {
        return false;
    }
    for (size_t i = 0; renewer_look(i, &state); i++) {
        if (state.beat_ms > RENEWER_MOST_MS || state.busy_ms > RENEWER_MOST_MS) {
            return false;
        }
    }
    return true;
}

/* The watchdog ends the process without this. */
static void tell_alive(void) {
    if (all.watchdog_ms == 0 || monotonic_ms() - all.alive_at_ms < all.watchdog_ms / 3) {
        return;
    }
    if (is_alive()) {
        all.alive_at_ms = monotonic_ms();
        systemd_notify("WATCHDOG=1");
    } else {
        log_event(LOG_LEVEL_ERROR, "stuck", "why", "a thread is stuck", NULL);
    }
}

/* Logs changes of readiness. */
static void tell_ready(void) {
    char why[sizeof all.why] = "";
    bool ready = server_is_ready(why);
    if (ready == all.ready && strcmp(why, all.why) == 0) {
        return;
    }
    if (ready != all.ready) {
        log_event(ready ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, ready ? "ready" : "not ready",
                  ready ? NULL : "why", why, NULL);
    }
    systemd_notify("STATUS=%s", ready ? "serving" : why);
    all.ready = ready;
    memcpy(all.why, why, sizeof why);
}

/* After a flood, the allocator of glibc keeps what it could give back to the system. */
static void trim_memory(void) {
#ifdef __GLIBC__
    static int64_t looked_ms;
    static size_t kept; /* by the allocator, although it was trimmed */
    int64_t now = monotonic_ms();
    if (now - looked_ms < TRIM_MS) {
        return;
    }
    looked_ms = now;
    size_t unused = mallinfo2().fordblks;
    if (unused > kept + TRIM_BYTES) {
        malloc_trim(0);
        kept = mallinfo2().fordblks;
    } else if (unused < kept) {
        kept = unused;
    }
#endif
}

/* Another copy of this machine may be running: nothing is issued that was prepared before. */
static void see_copy(void) {
    if (vmgenid_changed(all.notices)) {
        firn_renew_identity();
        log_event(LOG_LEVEL_WARNING, "identity renewed", "why",
                  "the VM generation ID changed, or messages of the kernel were lost", NULL);
    }
}

/* ---- reload --------------------------------------------------------------------------------- */

static void tell_restart(const char *what) {
    log_event(LOG_LEVEL_WARNING, "needs a restart", "setting", what, NULL);
}

/* Settings that reload take their new value. */
static int take_settings(const server_settings *fresh, firn_error *error) {
    server_settings next = all.config.set;
    bool any = false;
    for (const setting *row = setting_table; row < setting_table + SETTING_COUNT; row++) {
        bool tls =
            row == &setting_table[SETTING_tls_cert] || row == &setting_table[SETTING_tls_key];
        if (setting_same(&next, fresh, row)) {
            continue;
        }
        /* TLS cannot be turned on or off while running */
        if (!row->reloads || (tls && credentials_are_there() != (fresh->tls_cert[0] != '\0'))) {
            tell_restart(row->name);
            continue;
        }
        setting_copy(&next, fresh, row);
        log_event(LOG_LEVEL_INFO, "setting changed", "setting", row->name, NULL);
        any = true;
    }
    catalog_allow_block(next.max_block); /* first: what was checked with these settings is kept */
    int code = any ? settings_put(&next, error) : FIRN_OK;
    if (code != FIRN_OK) {
        catalog_allow_block(all.config.set.max_block);
    } else {
        all.config.set = next;
        catalog_allow(segments_allowed(&next));
        if (any) {
            connections_tell();
        }
    }
    return code;
}

/* Before anything changes. */
static int check_fresh(const server_config *fresh, firn_error *error) {
    const server_settings *set = &fresh->set;
    int code = check_files(set, error);
    code = code == FIRN_OK ? renewer_check(or_null(set->store), error) : code;
    code = code == FIRN_OK ? names_check(&fresh->sections, error) : code;
    return code == FIRN_OK ? check_reach(set, error) : code;
}

/* Fails only if a file has changed since the check, or memory is out. */
static int take_config(const server_config *fresh, firn_error *error) {
    const server_settings *set = &fresh->set;
    keep_secrets(fresh);
    int code = access_load(or_null(set->tokens), error);
    code = code == FIRN_OK ? masks_load(or_null(set->masks), error) : code;
    if (code == FIRN_OK && credentials_are_there()) {
        credential_files files = files_of(set);
        code = credentials_load(&files, error);
    }
    if (code != FIRN_OK) {
        return code;
    }
    log_set((enum log_level)set->log_level, set->log == 1);
    code = take_settings(set, error);
    if (code == FIRN_OK) {
        names_take_new(&all.config, fresh);
    }
    return code;
}

static void reload(void) {
    server_config fresh;
    firn_error error;
    /* systemd needs the time to distinguish the READY below from an older one */
    systemd_notify("RELOADING=1\nMONOTONIC_USEC=%" PRId64, monotonic_ns() / 1000);
    int code = config_read(&fresh, all.count, all.words, &error);
    const char *failure = "reload failed, nothing changed";
    if (code == FIRN_OK) {
        code = check_fresh(&fresh, &error);
        if (code == FIRN_OK) {
            failure = "reload failed, files of tokens, masks and TLS may have changed";
            code = take_config(&fresh, &error);
        }
        config_free(&fresh);
    }
    access_log_reopen();
    if (code == FIRN_OK) {
        log_event(LOG_LEVEL_INFO, "reloaded", NULL);
    } else {
        log_event(LOG_LEVEL_ERROR, failure, "why", error.text, NULL);
    }
    systemd_notify("READY=1\nSTATUS=%s", all.ready ? "serving" : all.why);
}

/* ---- signals -------------------------------------------------------------------------------- */

static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGIO}; /* SIGIO: a notice */
static volatile int64_t ending_since_ms; /* set before its handler is installed */

/* A second signal while stopping ends the process: windows are lost, nothing else. */
static void end_at_once(int number) {
    if (monotonic_ms() - ending_since_ms >= AGAIN_MS) {
        signal(number, SIG_DFL);
        raise(number); /* delivered when the handler returns */
    }
}

static void take_signals(sigset_t *set) {
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaddset(set, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, set, NULL); /* inherited by later threads */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is then like a full disk */
}

static void let_signals_end(const sigset_t *set) {
    struct sigaction action = {.sa_handler = end_at_once};
    ending_since_ms = monotonic_ms();
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGHUP, SIG_IGN);
    signal(SIGIO, SIG_IGN);
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
}

/* Its terminal is gone: SIGHUP was not meant as a reload. */
static bool hung_up(void) {
    return all.on_terminal && isatty(STDIN_FILENO) != 1;
}

/* The next signal of `set`, or -1 after `wait_ms`. */
static int await_signal(const sigset_t *set, int64_t wait_ms) {
    struct timespec wait = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000};
    return sigtimedwait(set, NULL, &wait);
}

/* Serves until a signal ends it, or until `until_ms`; returns the signal, or -1. */
static int run(const sigset_t *set, int64_t until_ms) {
    for (int64_t left_ms; (left_ms = until_ms - monotonic_ms()) > 0;) {
        int64_t wait_ms = left_ms < ROUND_MS ? left_ms : ROUND_MS;
        if (all.watchdog_ms > 0 && all.watchdog_ms / 4 < wait_ms) {
            wait_ms = all.watchdog_ms / 4;
        }
        int number = await_signal(set, wait_ms);
        if (number == SIGTERM || number == SIGINT || (number == SIGHUP && hung_up())) {
            return number;
        }
        if (number == SIGHUP) {
            reload();
        }
        tell_ready();
        tell_alive();
        trim_memory();
        see_copy(); /* last: until renewers have acted on it, nothing is ready */
    }
    return -1;
}

/* Serves on for the time of the setting drain while /readyz reports 503, so that balancers and
 * clients leave. Another signal ends this. */
static void drain(const sigset_t *set) {
    int64_t began_ms = monotonic_ms(), until_ms = began_ms + all.config.set.drain_s * 1000;
    char seconds[24];
    snprintf(seconds, sizeof seconds, "%" PRId64, all.config.set.drain_s);
    server_leave();
    log_event(LOG_LEVEL_INFO, "draining", "seconds", seconds, NULL);
    while (run(set, until_ms) != -1 && monotonic_ms() - began_ms < AGAIN_MS) {
    }
}

/* How long stopping may take. */
static int64_t stopping_ms(int64_t drain_s) {
    return (drain_s + all.config.set.stop_s) * 1000 + GIVE_BACK_MS;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int serve(void) {
    firn_error error;
    sigset_t set;
    char version[32];
    take_signals(&set);
    umask(0077);
    keep_secrets(&all.config);
    server_begin();
    int code = open_all(&error);
    if (code != FIRN_OK) {
        close_all();
        return fail(&error);
    }
    renewers_on_news(pass_news_on);
    pass_news_on(); /* news from before */
    for (int i = 0; i < PROTOCOL_COUNT; i++) {
        tell_listeners(&all.protocols[i]);
    }
    connections_tell();
    if (all.config.caution[0] != '\0') {
        log_event(LOG_LEVEL_WARNING, "unknown setting", "why", all.config.caution, NULL);
    }
    snprintf(version, sizeof version, "%s", firn_version());
    log_event(LOG_LEVEL_INFO, "serving", "version", version, "config",
              all.config.file[0] != '\0' ? all.config.file : "none", NULL);
    if (all.config.set.hints) {
        tell_hints();
    }
    all.ready = true;
    all.on_terminal = isatty(STDIN_FILENO) == 1;
    all.watchdog_ms = (int64_t)(systemd_watchdog_us() / 1000);
    all.alive_at_ms = monotonic_ms();
    systemd_notify("READY=1\nSTATUS=serving");
    int number = run(&set, INT64_MAX);
    int64_t drain_s = number == SIGTERM ? all.config.set.drain_s : 0; /* SIGINT: a person waits */
    systemd_notify("STOPPING=1\nSTATUS=stopping\nEXTEND_TIMEOUT_USEC=%" PRId64,
                   stopping_ms(drain_s) * 1000);
    if (drain_s > 0) {
        drain(&set);
    }
    let_signals_end(&set);
    server_leave();
    log_event(LOG_LEVEL_INFO, "stopping", "signal", number == SIGINT ? "INT" : "TERM", NULL);
    close_all();
    log_event(LOG_LEVEL_INFO, "stopped", NULL);
    return STATUS_DONE;
}

/* Checks what can be checked without stores and addresses. */
static int check_config(void) {
    firn_error error;
    int code = check_files(&all.config.set, &error);
    code = code == FIRN_OK ? access_log_check(all.config.set.access_log, &error) : code;
    renewers_only_check();
    code = code == FIRN_OK ? begin_catalog(&all.config, &error) : code;
    if (code != FIRN_OK) {
        return fail(&error);
    }
    if (all.config.caution[0] != '\0') {
        fprintf(stderr, "firn: note: %s\n", all.config.caution);
    }
    printf("%s is valid\n", all.config.file[0] != '\0' ? all.config.file : "the configuration");
    return STATUS_DONE;
}

/* For health checks of containers. */
static int check_ready(void) {
    firn_error error;
    int code = probe_ready(&all.config.set, &error);
    if (code == FIRN_OK) {
        return STATUS_DONE;
    }
    fail(&error);
    return code == FIRN_EUSAGE ? STATUS_USAGE : STATUS_NO;
}

static int choose(void) {
    switch (all.config.run) {
    case RUN_PRINT:
        config_print(&all.config);
        return STATUS_DONE;
    case RUN_CHECK:
        return check_config();
    case RUN_READY:
        return check_ready();
    case RUN_HELP:
        puts("usage: firn serve [OPTION...]: run `firn help serve` for the options");
        return STATUS_DONE;
    case RUN_VERSION:
        printf("firn %s\n", firn_version());
        return STATUS_DONE;
    default:
        break;
    }
    firn_error error;
    log_set((enum log_level)all.config.set.log_level, all.config.set.log == 1);
    return settings_put(&all.config.set, &error) == FIRN_OK ? serve() : fail(&error);
}

int main(int count, char **words) {
    firn_error error;
    all.count = count;
    all.words = words = conceal_passwords(count, words);
    if (!take_standard_descriptors()) {
        return status_of(FIRN_ESYSTEM); /* standard error is unusable */
    }
    if (config_read(&all.config, count, words, &error) != FIRN_OK) {
        return fail(&error);
    }
    int status = choose();
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        set_error(&error, FIRN_EIO,
                  "cannot write to standard output: free some space and run it again");
        return fail(&error);
    }
    return status;
}
