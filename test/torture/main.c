/* SPDX-License-Identifier: MIT */
/* Runs the table of scenarios, each in its own process, on the five engines, two at a time:
 *     torture [--engine NAME] [--only SCENARIO] [--seconds N] [--ids N] [--short]
 * Prints a line a scenario and TAP. Ends with 0, or 1 when something failed. */
#include "torture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCENARIOS (sizeof scenarios / sizeof scenarios[0])
#define ENGINES   (sizeof engines / sizeof engines[0])
#define BESIDE    3   /* scenarios at once on one server, of those that leave it alone */
#define LIMIT_S   600 /* of one scenario */
#define AT_ONCE   2   /* engines */

static const char *const engines[] = {"redis", "postgres", "mysql", "etcd", "zookeeper"};

/* The first ones run at the same time, because they do not affect the server. */
static const torture_scenario scenarios[] = {
    {"control", "a mark that is lowered behind its holder's back is found", run_lowered, NULL, 0},
    {"churn", "200 clients churn on 64 nodes and are killed", run_churn, NULL, 0},
    {"network", "a network that loses, stalls, cuts and refuses", run_network, NULL, 0},
    {"clocks", "clocks 20 s apart that step", run_clocks, NULL, 0},
    {"holder", "a holder that is paused while another takes its node", run_holder, NULL, 0},
    {"forked", "clients that fork in the midst of issuing", run_forked, NULL, 0},
    {"renewer", "no call of firn_next enters the store when a renewer runs", run_renewer, NULL, 0},
    {"members", "etcd of three members: the leader killed, the quorum lost and back", run_members,
     "etcd", 0},
    {"command", "one-shot commands at once, killed at random", run_command, NULL, 0},
    {"clients", "clients killed at every point, and the server under load", run_clients, NULL,
     ALONE},
    {"stalled", "a server that is stopped for a while", run_stalled, NULL, ALONE},
    {"outage", "a server that is away for longer than a window", run_outage, NULL,
     ALONE | LONG_REDIS},
    {"restored", "Redis that comes back from an old snapshot", run_restored, "redis", ALONE},
    {"promoted", "a copy of the server that lacks the last reservations takes over", run_promoted,
     NULL, ALONE | LONG_ONLY},
    {"standby", "an asynchronous standby that lags is promoted, behind a proxy", run_standby,
     "postgres mysql redis", LONG_ONLY},
    {"full", "an engine whose disk is full", run_full, NULL, ALONE | LONG_ONLY},
};

static struct {
    const char *engine, *only;
    int seconds;
    size_t ids;
    bool brief;
} asked = {NULL, NULL, 30, 20000000, false};

/* ---- one scenario --------------------------------------------------------------------------- */

/* A command that needs the server takes 0.2 s at most on a quiet machine; `slow` has a limit,
 * because a scenario has. The command uses another place: the place of a scenario is empty when
 * it stops Redis, because names that a used place does not know then wait for ten minutes. */
static int slowness(const scene *s) {
    char line[600];
    int64_t worst_ms = 0;
    snprintf(line, sizeof line, "exec '" FIRN_BUILD_DIR "/bin/firn' new snowflake --store '%sslow'",
             s->plain);
    for (int i = 0; i < 3; i++) {
        int64_t begun_ms = now_ms();
        (void)shell(line);
        int64_t took_ms = now_ms() - begun_ms;
        worst_ms = took_ms > worst_ms ? took_ms : worst_ms;
    }
    return worst_ms < 1000 ? 1 + (int)worst_ms / 200 : 6;
}

static void play(const torture_scenario *scenario, const char *engine, report *told) {
    scene s = {.engine = engine,
               .seconds = asked.seconds,
               .ids = asked.ids,
               .brief = asked.brief,
               .report = told,
               .world = shared(sizeof *s.world)};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    s.world->ledger = ledger_new(s.ids);
    /* Where the server is not stopped nobody waits for a time-out to pass. */
    place_url(&s, server_url(), 0, scenario->flags & ALONE ? 1000 : 20000);
    s.slow = slowness(&s);
    if (s.slow > 1) {
        tell(&s, "a slow machine: limits %d times as long", s.slow);
    }
    scenario->run(&s);
    server_stop(); /* its own server, if it has one */
    told->done = true;
    _exit(0);
}

static void print_report(const torture_scenario *scenario, const char *engine, const report *told,
                         int64_t took_ms) {
    if (told->skipped && !told->failed) {
        printf("ok - %s: %s # SKIP %s\n", engine, scenario->sentence, told->why);
        return;
    }
    bool good = told->done && !told->failed && told->faults > 0;
    printf("# %s, %s: %zu IDs compared, %zu grants, %ld faults, longest recovery %lld ms, longest "
           "call %lld ms, %lld s; %s\n",
           engine, scenario->name, told->ids, told->grants, told->faults,
           (long long)told->recovery_ms, (long long)told->longest_ms, (long long)took_ms / 1000,
           told->text);
    printf("%sok - %s: %s\n", good ? "" : "not ", engine, scenario->sentence);
    if (!good) {
        printf("#     %s\n", told->failed  ? told->why
                             : !told->done ? "it ended before its end"
                                           : "no fault was hit");
    }
}

static bool is_due(const torture_scenario *scenario, const char *engine) {
    bool redis = strcmp(engine, "redis") == 0;
    if (scenario->engines != NULL && strstr(scenario->engines, engine) == NULL) {
        return false;
    }
    if (asked.only != NULL) {
        return strcmp(asked.only, scenario->name) == 0;
    }
    return !asked.brief || !(scenario->flags & (redis ? LONG_ONLY | LONG_REDIS : LONG_ONLY));
}

/* Several scenarios at once, then those that stop the server, one by one. */
static int run_scenarios(const char *engine) {
    report *reports = shared(SCENARIOS * sizeof *reports);
    pid_t pids[SCENARIOS] = {0};
    int64_t begun_ms[SCENARIOS];
    int running = 0, failed = 0;
    for (size_t next = 0; next < SCENARIOS || running > 0;) {
        bool alone = next < SCENARIOS && (scenarios[next].flags & ALONE) != 0;
        if (next < SCENARIOS && !is_due(&scenarios[next], engine)) {
            next++;
            continue;
        }
        if (next < SCENARIOS && running < (alone ? 1 : BESIDE)) {
            fflush(NULL);
            begun_ms[next] = now_ms();
            pids[next] = fork();
            if (pids[next] == 0) {
                alarm(LIMIT_S);
                play(&scenarios[next], engine, &reports[next]);
            }
            next++;
            running++;
            continue;
        }
        pid_t ended = waitpid(-1, NULL, 0);
        for (size_t i = 0; i < SCENARIOS; i++) {
            if (ended > 0 && pids[i] == ended) {
                print_report(&scenarios[i], engine, &reports[i], now_ms() - begun_ms[i]);
                failed += reports[i].failed ||
                          (!reports[i].skipped && (!reports[i].done || reports[i].faults == 0));
                running--;
            }
        }
    }
    return failed;
}

/* ---- engines -------------------------------------------------------------------------------- */

static int run_engine(const char *engine) {
    char module[800];
    snprintf(module, sizeof module, FIRN_BUILD_DIR "/firn/%s.so", engine);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = server_start(engine, "");
    if (status != 0) {
        printf(server_missing(engine) ? "ok - %s # SKIP it is not installed\n"
                                      : "not ok - %s: it did not start\n",
               engine);
        return !server_missing(engine);
    }
    if (access(module, R_OK) != 0) {
        printf("not ok - %s: its module was not built\n", engine);
        return 1;
    }
    int failed = run_scenarios(engine);
    server_stop();
    return failed > 0;
}

/* Prints what an engine's process wrote; counts its checks. */
static int show(FILE *log) {
    char line[1200];
    int checks = 0;
    rewind(log);
    while (fgets(line, sizeof line, log) != NULL) {
        checks += strncmp(line, "ok ", 3) == 0 || strncmp(line, "not ok ", 7) == 0;
        fputs(line, stdout);
    }
    fclose(log);
    fflush(stdout);
    return checks;
}

static int run_all(void) {
    pid_t pids[ENGINES] = {0};
    FILE *logs[ENGINES] = {NULL};
    int running = 0, checks = 0, failed = 0;
    for (size_t next = 0; next < ENGINES || running > 0;) {
        if (next < ENGINES && asked.engine != NULL && strcmp(asked.engine, engines[next]) != 0) {
            next++;
            continue;
        }
        if (next < ENGINES && running < AT_ONCE) {
            fflush(NULL);
            logs[next] = tmpfile();
            pids[next] = fork();
            if (pids[next] == 0) {
                dup2(fileno(logs[next]), STDOUT_FILENO);
                exit(run_engine(engines[next]));
            }
            next++;
            running++;
            continue;
        }
        int status = 0;
        pid_t ended = waitpid(-1, &status, 0);
        for (size_t i = 0; i < ENGINES; i++) {
            if (ended > 0 && pids[i] == ended) {
                checks += show(logs[i]);
                failed += status != 0;
                running--;
            }
        }
    }
    printf("1..%d\n", checks);
    return failed > 0 || checks == 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--short") == 0) {
            asked.brief = true;
            asked.seconds = 4;
            asked.ids = 2500000;
            continue;
        }
        if (strcmp(argv[i], "--engine") == 0 && *value != '\0') {
            asked.engine = value;
        } else if (strcmp(argv[i], "--only") == 0 && *value != '\0') {
            asked.only = value;
        } else if (strcmp(argv[i], "--seconds") == 0 && atoi(value) > 0) {
            asked.seconds = atoi(value);
        } else if (strcmp(argv[i], "--ids") == 0 && atoll(value) > 0) {
            asked.ids = (size_t)atoll(value);
        } else {
            fprintf(stderr, "usage: torture [--short] [--engine NAME] [--only SCENARIO] [--seconds "
                            "N] [--ids N]\n");
            return 2;
        }
        i++;
    }
    return run_all();
}
