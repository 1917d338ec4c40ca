/* SPDX-License-Identifier: MIT */
/* Scenarios with special needs: a proxy, a renewer thread, the command, an old
 * snapshot, three members, a disk that can be filled. */
#include "torture.h"

#include "../keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static const role claimed = {"claimed", LIVE, "snowflake", "datacenter=1 window=1s max_wait=0", 10},
                  fixed = {"node 1", LIVE, "snowflake",
                           "datacenter=0 worker=1 window=1s max_wait=0", 10},
                  integers = {"integers", INTEGERS, "orders", "step=1000 adapt=0", 0};

enum {
    TRIO = 3,
    APART_MS = 1400 /* with half a second of etcd's clock nearly the default of max_skew */
};

/* The clock of client i is `apart_ms` behind (the first) or ahead (the second). */
static void start_trio(scene *s, int64_t pace_us, int64_t apart_ms) {
    const role *const roles[TRIO] = {&claimed, &fixed, &integers};
    atomic_store(&s->world->offset_ns[0], -apart_ms * 1000000);
    atomic_store(&s->world->offset_ns[1], apart_ms * 1000000);
    for (int i = 0; i < TRIO; i++) {
        const traits how = {roles[i], i, 1, 0, pace_us, -1, 0, apart_ms > 0 ? i + 1 : 0, false};
        client_start(s, &how);
    }
}

bool shell(const char *line) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR);
        for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
            dup2(nothing, i);
        }
        execl("/bin/sh", "sh", "-c", line, server_folder(), (char *)NULL);
        _exit(127);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

/* ---- network -------------------------------------------------------------------------------- */

/* The proxy's process is forked first, so that no client inherits a connection of it. */
static test_proxy *start_proxy(int server_port) {
    test_proxy *proxy = shared(sizeof *proxy);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        test_proxy *own = proxy;
        if (!proxy_start(own, server_port)) {
            _exit(1);
        }
        while (!atomic_load(&own->stop)) {
            nap_ms(50);
        }
        proxy_stop(own);
        _exit(0);
    }
    for (int i = 0; i < 1000 && *(volatile int *)&proxy->port == 0; i++) {
        nap_ms(5);
    }
    nap_ms(20);
    return proxy;
}

void run_network(scene *s) {
    static const struct {
        const char *name;
        int fault, stall_ms, times; /* one that is spent at once is set again, so often */
    } faults[] = {
        {"refused at start", PROXY_REFUSED, 0, 1},
        {"cut from the server", PROXY_DEAF, 0, 1},
        {"cut to the server", PROXY_MUTE, 0, 1},
        {"reply lost", PROXY_REPLY_LOST, 0, 12},
        {"cut", PROXY_CUT, 0, 12},
        {"late by 1.5 s", PROXY_STALLED, 1500, 1},
        {"late to the server", PROXY_STALLED_SENT, 1500, 1},
        {"refused", PROXY_REFUSED, 0, 1},
    };
    static const char *const names[PROXY_FAULTS] = {
        "",    "reply lost", "cut from the server", "cut to the server",
        "cut", "reply late", "request late",        "refused"};
    const char *colon = strrchr(server_url(), ':');
    test_proxy *proxy = start_proxy(atoi(colon + 1));
    /* A slow machine has longer times and fewer rounds, so that the scenario ends in its time. */
    place_url(s, server_url(), proxy->port, 400 * s->slow);
    for (int round = 0; round < (s->brief ? 1 : 6 / s->slow); round++) {
        for (size_t i = round == 0 ? 0 : 1; i < sizeof faults / sizeof faults[0]; i++) {
            long before = atomic_load(&proxy->hits[faults[i].fault]);
            look_from_now(s);
            for (int j = 0; j < faults[i].times; j++) {
                atomic_store(&proxy->stall_ms, faults[i].stall_ms * s->slow);
                atomic_store(&proxy->fault, faults[i].fault);
                nap_ms(i == 0 ? 30 : 1300 * s->slow / faults[i].times);
            }
            for (int64_t begun_ms = now_ms();
                 i > 0 && atomic_load(&proxy->hits[faults[i].fault]) == before &&
                 now_ms() - begun_ms < WAIT_MS;) {
                atomic_store(&proxy->fault, faults[i].fault); /* nobody has come by yet */
                nap_ms(5);
            }
            if (i == 0 && round == 0) { /* before there is any client */
                start_trio(s, 8000, 0);
                if (!await_failures(s, TRIO, WAIT_MS)) {
                    refute(s, "a client did not say that it was refused");
                }
            }
            atomic_store(&proxy->fault, PROXY_NONE);
            recovered(s, await_again(s, 0, TRIO, WAIT_MS), 5000);
            if (atomic_load(&proxy->hits[faults[i].fault]) == before) {
                refute(s, "no message met '%s'", faults[i].name);
            }
        }
    }
    for (int i = PROXY_NONE + 1; i < PROXY_FAULTS; i++) {
        long hits = atomic_load(&proxy->hits[i]);
        s->report->faults += hits;
        tell(s, "%s %ld", names[i], hits);
    }
    clients_end(s, TRIO);
    atomic_store(&proxy->stop, true);
    conclude(s, true);
}

/* ---- renewer --------------------------------------------------------------------------------- */

typedef struct kept {
    scene *scene;
    firn_gen *gen;
    grant_recorder *recorder;
    _Atomic bool stop, keeping;
    _Atomic size_t issued;
} kept;

static void *keep(void *argument) {
    kept *self = argument;
    int64_t wait_ms = 0;
    atomic_store(&self->recorder->renewer, gettid());
    while (!atomic_load(&self->stop)) {
        firn_error error;
        if (firn_gen_step(self->gen, &wait_ms, &error) != FIRN_OK) {
            wait_ms = 5;
        }
        atomic_store(&self->keeping, true);
        nap_ms(wait_ms < 1 ? 1 : wait_ms > 20 ? 20 : wait_ms);
    }
    return NULL;
}

static void *issue(void *argument) {
    kept *self = argument;
    torture_lot *lot = NULL;
    while (!atomic_load(&self->stop)) {
        lot = lot != NULL ? lot : ledger_lot(self->scene->world->ledger, self->recorder->life, 10);
        if (lot == NULL) {
            nap_ms(5); /* full */
            continue;
        }
        int code = firn_next_u64(self->gen, lot->ids, LOT, NULL);
        if (code == FIRN_OK) {
            atomic_fetch_add(&self->issued, LOT);
            lot = NULL;
        }
        nap_ms(1);
    }
    return NULL;
}

static int open_kept(kept *self, firn_store **store, firn_error *error) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    scene *s = self->scene;
    int code = recorder_open(store, &self->recorder, s->world->ledger, s->url, &options, error);
    if (code != FIRN_OK) {
        return code;
    }
    self->recorder->life = atomic_fetch_add(&s->world->ledger->lives, 1) + 1;
    const firn_config config = {.size = sizeof config,
                                .scheme = "snowflake",
                                .keys = "window=300ms",
                                .store = *store,
                                .has_renewer = true};
    return firn_open_with(&self->gen, &config, error);
}

/* Two threads issue and a third renews, until there are enough IDs and some renewals, within a
 * limit. */
static firn_status issue_while_kept(kept *self, size_t wanted) {
    firn_status status = {.size = sizeof status};
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, keep, self);
    while (!atomic_load(&self->keeping)) {
        nap_ms(1);
    }
    atomic_store(&self->recorder->other_calls, 0); /* of opening */
    pthread_create(&threads[1], NULL, issue, self);
    pthread_create(&threads[2], NULL, issue, self);
    for (int64_t begun_ms = now_ms(); now_ms() - begun_ms < 2 * WAIT_MS;) {
        firn_gen_status(self->gen, &status);
        if (atomic_load(&self->issued) >= wanted && status.renewals >= 5) {
            break;
        }
        nap_ms(5);
    }
    atomic_store(&self->stop, true);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    return status;
}

void run_renewer(scene *s) {
    const size_t wanted = s->brief ? 1000000 : 5000000;
    firn_store *store = NULL;
    kept self = {.scene = s};
    firn_error error = {0};
    if (open_kept(&self, &store, &error) != FIRN_OK) {
        refute(s, "%s", error.text);
        return;
    }
    firn_status status = issue_while_kept(&self, wanted);
    long others = atomic_load(&self.recorder->other_calls);
    s->report->faults = (long)status.renewals;
    tell(s, "%llu renewals, %ld calls by the renewer, %ld by those who issue",
         (unsigned long long)status.renewals, atomic_load(&self.recorder->renewer_calls), others);
    if (others > 0 || atomic_load(&self.issued) < wanted || status.renewals < 5) {
        refute(s, "%ld calls entered the store, %zu IDs, %llu renewals", others,
               atomic_load(&self.issued), (unsigned long long)status.renewals);
    }
    firn_close(self.gen, NULL); /* gives back, so it does enter: the count can count */
    if (atomic_load(&self.recorder->other_calls) == 0) {
        refute(s, "the control failed: no call was counted where there was one");
    }
    conclude(s, true);
}

/* ---- the command ---------------------------------------------------------------------------- */

#define COMMANDS_AT_ONCE 40

typedef struct run {
    pid_t pid;
    int output;
    int64_t kill_ms; /* 0: it may live */
} run;

static void start_command(scene *s, run *self, int64_t kill_after_ms) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        abort();
    }
    self->pid = fork();
    if (self->pid == 0) {
        int nothing = open("/dev/null", O_RDWR);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(nothing, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        execl(FIRN_BUILD_DIR "/bin/firn", "firn", "new", "snowflake", "-n", "5", "--store", s->url,
              (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    self->output = ends[0];
    self->kill_ms = kill_after_ms < 0 ? 0 : now_ms() + kill_after_ms;
}

/* Whole lines only: half of one is nobody's ID. */
static size_t take_lines(scene *s, run *self) {
    char text[1000], *position = text;
    ssize_t length = read(self->output, text, sizeof text - 1);
    size_t n = 0;
    torture_lot *lot = NULL;
    text[length > 0 ? length : 0] = '\0';
    close(self->output);
    for (char *end; (end = strchr(position, '\n')) != NULL; position = end + 1) {
        lot = lot != NULL ? lot : ledger_lot(s->world->ledger, 0, 10);
        if (lot != NULL && n < LOT) {
            lot->ids[n++] = strtoull(position, NULL, 10);
        }
    }
    return n;
}

void run_command(scene *s) {
    static run runs[COMMANDS_AT_ONCE];
    static int statuses[256];
    const int total = s->brief ? 300 : 1000;
    int started = 0, ended = 0, killed = 0;
    unsigned random = 12345;
    for (int64_t begun_ms = now_ms(); ended < total && now_ms() - begun_ms < 180000;) {
        for (int i = 0; i < COMMANDS_AT_ONCE; i++) {
            run *self = &runs[i];
            int status;
            if (self->pid == 0 && started < total) {
                random = random * 1103515245 + 12345;
                start_command(s, self, random >> 16 & 3 ? -1 : (int64_t)(random >> 20 & 127));
                started++;
            } else if (self->pid > 0 && waitpid(self->pid, &status, WNOHANG) == self->pid) {
                take_lines(s, self);
                self->pid = 0;
                ended++;
                killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
                statuses[WIFEXITED(status) ? WEXITSTATUS(status) : 255]++;
            } else if (self->pid > 0 && self->kill_ms > 0 && now_ms() >= self->kill_ms) {
                kill(self->pid, SIGKILL);
            }
        }
        nap_ms(1);
    }
    if (ended < total) {
        refute(s, "only %d of %d commands ended", ended, total);
    }
    for (int i = 0; i < 255; i++) {
        bool documented = i == 0 || (i >= 3 && i <= 6);
        if (statuses[i] > 0 && i > 0) {
            tell(s, "status %d: %d", i, statuses[i]);
        }
        if (statuses[i] > 0 && !documented) {
            refute(s, "%d commands ended with status %d", statuses[i], i);
        }
    }
    tell(s, "%d commands, %d at once, %d killed, %d done", total, COMMANDS_AT_ONCE, killed,
         statuses[0]);
    s->report->faults = killed;
    if (statuses[0] < total / 2) {
        refute(s, "only %d commands succeeded", statuses[0]);
    }
    conclude(s, false);
}

/* ---- an old snapshot ------------------------------------------------------------------------ */

/* The slot of a snowflake that many ms from now. */
static int64_t slot_in(int64_t ms) {
    struct timespec now;
    uint64_t tick = 0;
    clock_gettime(CLOCK_REALTIME, &now);
    const firn_time time = {now.tv_sec + ms / 1000, (int32_t)now.tv_nsec};
    firn_scheme_tick(firn_scheme_find("snowflake"), &time, &tick, NULL);
    return (int64_t)(tick << SEQUENCE);
}

static int note_row(void *context, const firn_holding *holding) {
    if (strcmp(holding->ns, "snowflake") == 0) {
        snprintf(context, FIRN_LAYOUT_SIZE, "%s", holding->layout);
    }
    return FIRN_OK;
}

/* The slot that the engine would grant at once to a request without limits. */
static int64_t next_grant(scene *s, firn_error *error) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    char row[FIRN_LAYOUT_SIZE] = "";
    firn_store *store = NULL;
    firn_mark held;
    int64_t granted = -1;
    if (firn_store_open(&store, s->url, &options, error) != FIRN_OK) {
        return -1;
    }
    firn_store_list(store, "snowflake", note_row, row, error);
    const firn_request request = {.ns = "snowflake",
                                  .layout = row,
                                  .key = "999",
                                  .count = 1,
                                  .latest = FIRN_SLOT_MAX - 1,
                                  .grant = 4711,
                                  .note = "torture",
                                  .guard = slot_in(15000)};
    if (firn_store_reserve(store, &request, &granted, &held, error) != FIRN_OK) {
        granted = -1;
    }
    firn_store_close(store);
    return granted;
}

static uint64_t greatest_integer(const id_ledger *ledger) {
    uint64_t most = 0;
    for (size_t i = 0; i < atomic_load(&ledger->lots); i++) {
        for (int j = 0; j < LOT && ledger->lot[i].node_bits == 0; j++) {
            most = ledger->lot[i].ids[j] > most ? ledger->lot[i].ids[j] : most;
        }
    }
    return most;
}

/* The number that firn segment advance prints; 0: it failed. */
static uint64_t advance(scene *s, uint64_t least) {
    char command[900];
    unsigned long long next = 0;
    snprintf(command, sizeof command,
             "exec '" FIRN_BUILD_DIR "/bin/firn' segment advance orders --min %llu --store '%s'",
             (unsigned long long)least, s->plain);
    fflush(NULL);
    FILE *printed = popen(command, "r");
    if (printed == NULL || fscanf(printed, "%llu", &next) != 1) {
        next = 0;
    }
    if (printed != NULL) {
        pclose(printed);
    }
    return next;
}

/* Integers say what to do, and do nothing until it is done. Returns how long they took then. */
static int64_t advance_integers(scene *s) {
    const char *text = s->world->seats[TRIO - 1].text;
    int64_t begun_ms = now_ms();
    while (strstr(text, "advance") == NULL && now_ms() - begun_ms < WAIT_MS) {
        look_from_now(s); /* at first it may not have connected yet */
        await_failures(s, TRIO, 100);
    }
    if (strstr(text, "advance") == NULL) {
        refute(s, "integers do not say what to do: %.200s", text);
    }
    nap_ms(1000);
    uint64_t least = greatest_integer(s->world->ledger) + 1, next = advance(s, least);
    for (begun_ms = now_ms(); next == 0 && now_ms() - begun_ms < WAIT_MS;) {
        next = advance(s, least);
    }
    if (next < least) {
        refute(s, "firn segment advance --min %llu printed %llu", (unsigned long long)least,
               (unsigned long long)next);
    }
    return await_again(s, TRIO - 1, TRIO, WAIT_MS);
}

void run_restored(scene *s) {
    firn_error error = {0};
    start_trio(s, 10000, 0);
    await_again(s, 0, TRIO, WAIT_MS);
    nap_ms(300);
    if (!shell("mkdir \"$0/saved\" && cp -a \"$0/data/.\" \"$0/saved/\"")) {
        refute(s, "no copy could be made");
    }
    nap_ms(1500); /* grants that the copy knows nothing of */
    look_from_now(s);
    int64_t earliest = slot_in(15000);
    s->report->faults = server_do("kill", 0) && server_do("restore", 0);
    int64_t restored_ms = now_ms(), granted = next_grant(s, &error);
    while (granted < 0 && now_ms() - restored_ms < WAIT_MS) { /* one that is too late comes later */
        granted = next_grant(s, &error);
    }
    if (granted < earliest) {
        refute(s, "granted %lld slots before 15 s from now: %.150s",
               (long long)(earliest - granted), error.text);
    }
    int64_t integers_ms = advance_integers(s);
    if (await_again(s, 0, TRIO - 1, 60000) >= 0) {
        recovered(s, now_ms() - restored_ms, 35000);
    }
    tell(s, "the next grant begins 30 s from then, integers %lld ms after advance",
         (long long)integers_ms);
    clients_end(s, TRIO);
    conclude(s, true);
}

/* ---- a copy takes over ---------------------------------------------------------------------- */

/* As when a replica that lags is promoted: `take_over` makes the copy the server. */
static void is_guarded(scene *s, bool (*take_over)(void *), void *context) {
    nap_ms(1500); /* grants that the copy knows nothing of */
    look_from_now(s);
    int64_t begun_ms = now_ms();
    s->report->faults = take_over(context);
    int64_t integers_ms = advance_integers(s);
    if (await_again(s, 0, TRIO - 1, 60000) >= 0) {
        recovered(s, now_ms() - begun_ms, 40000);
    }
    tell(s, "integers %lld ms after advance", (long long)integers_ms);
    clients_end(s, TRIO);
    conclude(s, true);
}

static bool restore(void *unused) {
    (void)unused;
    return server_do("kill", 0) && server_do("restore", 0);
}

void run_promoted(scene *s) {
    start_trio(s, 10000, APART_MS);
    await_again(s, 0, TRIO, WAIT_MS);
    if (!server_do("save", 0)) {
        refute(s, "no copy could be made");
    }
    /* Redis is in doubt after the restart already. */
    if (strcmp(s->engine, "redis") == 0) {
        advance_integers(s);
    }
    await_again(s, 0, TRIO, WAIT_MS);
    is_guarded(s, restore, NULL);
}

static int port_of(const char *url) {
    return atoi(strrchr(url, ':') + 1);
}

/* ---- a standby that lags --------------------------------------------------------------------- */

/* A primary, its asynchronous standby, a proxy between them, and one in front of them. MariaDB's
 * proxy keeps the connections of its clients. */
typedef struct server_couple {
    test_proxy *between, *front;
    test_keeper *keeps; /* instead of `front` */
    int primary, standby;
    const char *engine;
} server_couple;

/* The proxy's process is forked first, as start_proxy's. */
static test_keeper *start_keeper(int server_port) {
    test_keeper *keeper = shared(sizeof *keeper);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!keeper_start(keeper, server_port)) {
            _exit(1);
        }
        while (!atomic_load(&keeper->stop)) {
            nap_ms(50);
        }
        keeper_stop(keeper);
        _exit(0);
    }
    for (int i = 0; i < 1000 && *(volatile int *)&keeper->port == 0; i++) {
        nap_ms(5);
    }
    nap_ms(20);
    return keeper;
}

/* A statement or command for one of the two, whose output must have a line that is `answer` ("":
 * any output). */
static bool error_text(const server_couple *couple, int port, const char *words,
                       const char *answer) {
    const char *client = strcmp(couple->engine, "postgres") == 0 ? "psql -U firn -tA postgres -c"
                         : strcmp(couple->engine, "mysql") == 0
                             ? "mariadb --skip-ssl-verify-server-cert -u firn firn -N -e"
                             : "redis-cli";
    const bool redis = strcmp(couple->engine, "redis") == 0;
    char line[900];
    snprintf(line, sizeof line, "timeout 60 %.*s -h 127.0.0.1 %s %d %s %s%s%s | grep -q '^%s'",
             (int)strcspn(client, " "), client, strcmp(couple->engine, "mysql") == 0 ? "-P" : "-p",
             port, client + strcspn(client, " "), redis ? "" : "\"", words, redis ? "" : "\"",
             answer);
    return shell(line);
}

static bool start_couple(server_couple *couple, scene *s) {
    const char *url;
    char options[100] = "", port[12];
    couple->engine = s->engine;
    if (server_start(couple->engine,
                     strcmp(couple->engine, "mysql") == 0 ? "--log-bin --server-id=1" : "") != 0) {
        return false;
    }
    couple->primary = port_of(server_url());
    couple->between = start_proxy(couple->primary);
    snprintf(port, sizeof port, "%d", couple->between->port);
    setenv("ENGINE_STANDBY_OF", port, 1); /* for PostgreSQL */
    if (strcmp(couple->engine, "redis") == 0) {
        snprintf(options, sizeof options, "--replicaof 127.0.0.1 %s", port);
    } else if (strcmp(couple->engine, "mysql") == 0) {
        snprintf(options, sizeof options, "--server-id=2 --read-only");
    }
    url = server_beside(couple->engine, options);
    unsetenv("ENGINE_STANDBY_OF");
    couple->standby = url != NULL ? port_of(url) : 0;
    if (couple->standby != 0 && strcmp(couple->engine, "mysql") == 0) {
        char words[300];
        snprintf(words, sizeof words,
                 "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%s, MASTER_USER='firn', "
                 "MASTER_SSL_VERIFY_SERVER_CERT=0,"
                 " MASTER_USE_GTID=slave_pos; START SLAVE; SELECT 1",
                 port);
        return error_text(couple, couple->standby, words, "1");
    }
    return couple->standby != 0;
}

/* Does the standby have all three marks? */
static bool has_marks(const server_couple *couple) {
    char words[200];
    const long position = (long)getpid();
    if (strcmp(couple->engine, "redis") == 0) {
        snprintf(words, sizeof words, "EXISTS '{t%ld}:snowflake' '{t%ld}:integer orders'", position,
                 position);
        return error_text(couple, couple->standby, words, "2");
    }
    snprintf(words, sizeof words, "SELECT COUNT(*) FROM t%ld_mark", position);
    return error_text(couple, couple->standby, words, "[3-9]");
}

static bool promote(void *context) {
    const server_couple *couple = context;
    bool done;
    if (strcmp(couple->engine, "mysql") ==
        0) { /* as ProxySQL: its clients keep their connections */
        done = error_text(couple, couple->standby,
                          "STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0; SELECT 1", "1");
        atomic_store(&couple->keeps->server_port, couple->standby);
        return done;
    }
    done = server_do("kill", 0) &&
           (strcmp(couple->engine, "redis") == 0
                ? error_text(couple, couple->standby, "REPLICAOF NO ONE", "OK")
                : error_text(couple, couple->standby, "SELECT pg_promote(true, 60)", "t"));
    atomic_store(&couple->front->fault, PROXY_REFUSED);
    nap_ms(100);
    atomic_store(&couple->front->server_port, couple->standby);
    atomic_store(&couple->front->fault, PROXY_NONE);
    return done;
}

void run_standby(scene *s) {
    static server_couple couple;
    if (!start_couple(&couple, s)) {
        refute(s, "no standby starts");
        return;
    }
    if (strcmp(s->engine, "mysql") == 0) {
        couple.keeps = start_keeper(couple.primary);
    } else {
        couple.front = start_proxy(couple.primary);
    }
    place_url(s, server_url(), couple.keeps != NULL ? couple.keeps->port : couple.front->port,
              1000);
    start_trio(s, 10000, APART_MS);
    await_again(s, 0, TRIO, WAIT_MS);
    for (int64_t begun_ms = now_ms(); !has_marks(&couple);) {
        if (now_ms() - begun_ms > WAIT_MS) {
            refute(s, "the standby gets nothing");
            return;
        }
        nap_ms(50);
    }
    atomic_store(&couple.between->fault, PROXY_REFUSED); /* from here on it lags */
    is_guarded(s, promote, &couple);
    atomic_store(&couple.between->stop, true);
    atomic_store(couple.keeps != NULL ? &couple.keeps->stop : &couple.front->stop, true);
}

/* ---- three members -------------------------------------------------------------------------- */

/* Which member leads, 1 to 3; 0: for long none that answers. */
static int leader(void) {
    int64_t begun_ms = now_ms();
    for (int i = 0; now_ms() - begun_ms < WAIT_MS; i++) {
        int member = i % 3 + 1;
        char line[500];
        snprintf(
            line, sizeof line,
            "port=$(sed -n %dp \"$0/port\") && timeout 10 bash -c '"
            "exec 3<>/dev/tcp/127.0.0.1/$0 && printf \"GET /metrics HTTP/1.0\\r\\n\\r\\n\" >&3 &&"
            " cat <&3' $port | grep -q '^etcd_server_is_leader 1'",
            member * 2 - 1);
        if (shell(line)) {
            return member;
        }
    }
    return 0;
}

static void lose_leader(scene *s) {
    int member = leader();
    look_from_now(s);
    if (member == 0 || !server_do("kill", member)) {
        refute(s, "no member leads");
        return;
    }
    s->report->faults++;
    int64_t killed_ms = now_ms();
    nap_ms(1300); /* longer than a window, so that everybody needs the new one */
    if (await_again(s, 0, TRIO, WAIT_MS) >= 0) {
        recovered(s, now_ms() - killed_ms, 5000);
    }
    server_do("restart", member);
    nap_ms(500);
}

static void lose_quorum(scene *s) {
    int member = leader(), other = member % 3 + 1;
    look_from_now(s);
    if (member == 0) {
        refute(s, "no member leads");
        return;
    }
    server_do("kill", member);
    server_do("kill", other);
    s->report->faults++;
    if (!await_failures(s, TRIO, WAIT_MS)) {
        refute(s, "a client did not say that the quorum is lost");
    }
    /* Both at once: one alone would wait for the other to answer. */
    pid_t value = fork();
    if (value == 0) {
        _exit(!server_do("restart", member));
    }
    server_do("restart", other);
    waitpid(value, NULL, 0);
    int64_t took_ms = await_again(s, 0, TRIO, WAIT_MS);
    tell(s, "quorum back: %lld ms", (long long)took_ms);
    recovered(s, took_ms, 5000);
}

void run_members(scene *s) {
    int status = server_start("etcd3", "");
    if (status != 0) {
        refute(s, "three members of etcd did not start");
        return;
    }
    place_url(s, server_url(), 0, 1000);
    start_trio(s, 10000, APART_MS);
    await_again(s, 0, TRIO, WAIT_MS);
    for (int round = 0; round < (s->brief ? 1 : 4); round++) {
        lose_leader(s);
        lose_quorum(s);
    }
    clients_end(s, TRIO);
    tell(s, "%ld times a leader or the quorum lost", s->report->faults);
    conclude(s, true);
}

/* ---- a full disk ---------------------------------------------------------------------------- */

/* PostgreSQL works as long as a segment of its log has room. */
static void fill_set_aside(scene *s) {
    for (int i = 0; i < 8 && strcmp(s->engine, "postgres") == 0; i++) {
        shell("timeout 5 $(find /usr/lib/postgresql -name psql | tail -n 1) -h 127.0.0.1"
              " -p $(cat \"$0/port\") -U firn postgres -c \"SELECT pg_switch_wal()\"");
        nap_ms(200);
    }
}

void run_full(scene *s) {
    if (geteuid() != 0) {
        omit(s, "only root may mount a disk that can be filled");
        return;
    }
    server_do("halt", 0);
    if (!shell("cd \"$0/data/\" && cp -a . \"$0/before\" && size=$(du -sm . | cut -f 1) &&"
               " mount -t tmpfs -o size=$((size + 120))m,mode=755 none \"$(pwd -P)\" &&"
               " cd \"$0/data/\" && cp -a \"$0/before/.\" .")) {
        omit(s, "no disk can be mounted here");
        server_do("restart", 0);
        return;
    }
    if (!server_do("restart", 0)) {
        refute(s, "the server does not start on a small disk");
    }
    start_trio(s, 20000, 0);
    await_again(s, 0, TRIO, WAIT_MS);
    for (int round = 0; round < 2; round++) {
        look_from_now(s);
        shell("cat /dev/zero >\"$0/data/filler\"");
        fill_set_aside(s);
        bool failed = await_failures(s, 1, 8000);
        s->report->faults += failed;
        tell(s, "%s", failed ? s->world->seats[0].text : "went on in what it had set aside");
        shell("rm -f \"$0/data/filler\"");
        server_do("kill", 0); /* some exit when they cannot write, or are about to */
        if (!server_do("restart", 0) && !server_do("restart", 0)) {
            refute(s, "the server does not start when there is room again");
        }
        bool redis = strcmp(s->engine, "redis") == 0; /* its integers wait for an advance */
        recovered(s, await_again(s, 0, redis ? 2 : TRIO, 60000), redis ? 35000 : 5000);
    }
    clients_end(s, TRIO);
    server_do("halt", 0);
    if (!shell("cd \"$0/data/\" && here=$(pwd -P) && cd / && umount \"$here\" &&"
               " cp -a \"$0/before/.\" \"$here\"")) {
        refute(s, "the small disk could not be taken away");
    }
    if (s->report->faults == 0) {
        omit(s, "a full disk does not stop it: it writes into room that it had set aside");
    }
    conclude(s, true);
}
