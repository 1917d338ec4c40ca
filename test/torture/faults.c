/* SPDX-License-Identifier: MIT */
/* Scenarios of clients on one server that is killed, stopped, paused or away, while they are killed
 * and forked themselves. */
#include "torture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const role claimed = {"claimed", LIVE, "snowflake", "datacenter=1 window=2s max_wait=0", 10},
                  first = {"node 1", LIVE, "snowflake",
                           "datacenter=0 worker=1 window=2s max_wait=0", 10},
                  second = {"node 2", LIVE, "snowflake",
                            "datacenter=0 worker=2 window=2s max_wait=0", 10},
                  integers = {"integers", INTEGERS, "orders", "step=2000 adapt=0", 0},
                  dated = {"back-dated", DATED, "snowflake", "datacenter=2 mode=online max_wait=0",
                           10};

#define WINDOW_MS 2000 /* of the rows above */

static bool is_redis(const scene *s) {
    return strcmp(s->engine, "redis") == 0;
}

/* Between two lots of one of n processes, so that all they issue within the time fits. */
static int64_t pace_us(const scene *s, int n) {
    return (int64_t)n * s->seconds * 1000000 * LOT / (int64_t)(s->ids * 9 / 10) + 1;
}

static uint64_t chance(uint64_t below) {
    static uint64_t state = 88172645463325252U;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static void start_all(scene *s, const traits *list, int n) {
    for (int i = 0; i < n; i++) {
        traits item = list[i];
        item.seat = i;
        client_start(s, &item);
    }
    if (!await_issue(s, n)) {
        refute(s, "not every client issued at the start: %.100s", s->world->odd_text);
    }
}

/* ---- clients and servers that are killed ---------------------------------------------------- */

/* A client that dies at a failpoint, each in its turn, or lives until it is killed from outside. */
static void take_seat(scene *s, const traits *like, int position, long spawned, bool spared) {
    traits item = *like;
    item.seat = position;
    item.die_at = spared ? -1 : (int)(spawned % (POINTS + 1)) - 1;
    item.die_after = (int)chance(4);
    client_start(s, &item);
}

static bool every_point_hit(scene *s) {
    for (int i = 0; i < POINTS; i++) {
        if (atomic_load(&s->world->hits[i]) == 0) {
            return false;
        }
    }
    return true;
}

static bool has_issued(scene *s, int position) {
    return atomic_load(&s->world->seats[position].lots) > 0;
}

static int seats_that_issued(scene *s, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        count += has_issued(s, i);
    }
    return count;
}

/* Fills free seats, kills a client from time to time, and the server at its times. Continues until
 * the time is over, every failpoint was met and every seat has issued, within a limit: on a slow
 * machine it kills less, and no seat that has yet to issue. Returns how often the server was
 * killed. */
static long stir(scene *s, const traits *list, int n) {
    /* An engine whose identity changes grants nothing for 30 s, so it is killed near the end. */
    int64_t span_ms = s->seconds * 1000, begun_ms = now_ms(), now = begun_ms,
            every_ms =
                is_redis(s) ? span_ms * 8 / 10 : span_ms / (s->brief ? 3 : 1 + s->seconds / 4),
            server_ms = begun_ms + every_ms, client_ms = begun_ms + 100;
    long spawned = 0, servers = 0;
    for (; now - begun_ms < span_ms || (!(every_point_hit(s) && seats_that_issued(s, n) == n) &&
                                        now - begun_ms < 2 * span_ms + WAIT_MS);
         now = now_ms()) {
        const bool late = now - begun_ms >= span_ms;
        for (int i = 0; i < n; i++) {
            if (client_ended(s, i)) {
                take_seat(s, &list[i], i, spawned++, late && !has_issued(s, i));
            }
        }
        if (now >= client_ms) {
            int which = (int)chance((uint64_t)n);
            if (!late || has_issued(s, which)) {
                client_kill(s, which);
            }
            client_ms = now + (50 + (int64_t)chance(200)) * (late ? 10 : 1);
        }
        if (now >= server_ms && now - begun_ms < span_ms) {
            servers += server_do("kill", 0) && server_do("restart", 0);
            server_ms = now_ms() + every_ms;
        }
        nap_ms(2);
    }
    return servers;
}

void run_clients(scene *s) {
    enum { N = 8 };
    const int64_t pace = pace_us(s, N);
    const traits list[N] = {
        {&claimed, 0, 2, 25, pace, -1, 0, 0, false},  {&first, 0, 1, 25, pace, -1, 0, 0, false},
        {&second, 0, 1, 25, pace, -1, 0, 0, false},   {&integers, 0, 2, 10, pace, -1, 0, 0, false},
        {&dated, 0, 1, 4, pace * 4, -1, 0, 0, false}, {&claimed, 0, 4, 9, pace, -1, 0, 0, false},
        {&integers, 0, 1, 10, pace, -1, 0, 0, false}, {&claimed, 0, 1, 40, pace, -1, 0, 0, false}};
    long servers = stir(s, list, N);
    clients_end(s, N);
    tell(s, "server killed %ld times, clients %ld", servers, atomic_load(&s->world->killed));
    for (int i = 0; i < POINTS; i++) {
        tell(s, "%s %ld", points[i], atomic_load(&s->world->hits[i]));
    }
    s->report->faults = servers + atomic_load(&s->world->killed);
    for (int i = 0; i < N; i++) {
        long lots = atomic_load(&s->world->seats[i].lots);
        if (lots == 0) {
            refute(s, "%s never issued", list[i].role->name);
        } else if (list[i].role->what == DATED) {
            tell(s, "%ld IDs back-dated", lots * LOT);
        }
    }
    if (servers == 0 || !every_point_hit(s)) {
        refute(s, "the server was not killed, or no client at one of the points");
    }
    conclude(s, true);
}

/* ---- a server that is away ------------------------------------------------------------------ */

/* From the fault on each generator issued for half its window at least, then said why not. How long
 * a call took before, as one that renews does, is a part of that half. */
static void went_on_and_said(scene *s, int n, int generators, int64_t longest_ms) {
    int64_t least = INT64_MAX, since = atomic_load(&s->world->since_ms);
    for (int i = 0; i < n; i++) {
        torture_seat *seat = &s->world->seats[i];
        int code = atomic_load(&seat->code);
        int64_t went_on = atomic_load(&seat->good_before_ms) - since;
        if (code != FIRN_ESTORE && code != FIRN_EWINDOW && code != FIRN_EUNKNOWN) {
            refute(s, "client %d failed with %s: %s", i, firn_errname(code), seat->text);
        }
        if (i < generators) {
            least = went_on < least ? went_on : least;
        }
    }
    /* The lots before and after the moment are 20 ms apart, or more on a busy machine. */
    if (least < WINDOW_MS / 2 - longest_ms - (s->brief ? 300 : 60)) {
        refute(s, "issuing went on for %lld ms, less than half a window of %d", (long long)least,
               WINDOW_MS);
    }
    tell(s, "went on for %lld ms, then %s", (long long)least,
         firn_errname(atomic_load(&s->world->seats[0].code)));
}

void run_outage(scene *s) {
    const int64_t pace = 20000;
    const traits list[] = {{&claimed, 0, 1, 0, pace, -1, 0, 0, false},
                           {&first, 0, 1, 0, pace, -1, 0, 0, false},
                           {&second, 0, 1, 0, pace, -1, 0, 0, false},
                           {&integers, 0, 1, 0, pace, -1, 0, 0, false}};
    const int n = is_redis(s) ? 3 : 4; /* there integers wait for somebody: run_restored */
    /* Half a window is what is left when a renewal begins, and the caller that renews waits for it:
     * a store must report within that time that it is away. */
    place_url(s, server_url(), 0, 250);
    start_all(s, list, n);
    for (int round = 0; round < (s->brief ? 1 : is_redis(s) ? 2 : 4); round++) {
        long refused = atomic_load(&s->world->ledger->refused);
        atomic_store(&s->world->longest_ms, 0);
        nap_ms(1300 + 150 * round);
        look_from_now(s);
        int64_t longest_ms = atomic_load(&s->world->longest_ms);
        if (atomic_load(&s->world->ledger->refused) != refused) {
            longest_ms = INT32_MAX; /* the server was too slow before, so nothing is promised */
        }
        s->report->faults += server_do("kill", 0);
        if (!await_failures(s, n, WINDOW_MS + WAIT_MS)) {
            refute(s, "a client never said that the server is away");
        }
        went_on_and_said(s, n, 3, longest_ms);
        nap_ms(500);
        if (!server_do("restart", 0)) {
            refute(s, "the server did not start again");
        }
        recovered(s, await_again(s, 0, n, 2 * WAIT_MS + 10000), is_redis(s) ? 35000 : 5000);
    }
    clients_end(s, n);
    conclude(s, true);
}

void run_stalled(scene *s) {
    static const int64_t stalls[] = {200, 1000, 3000, 10000, 30000};
    const int64_t pace = s->brief ? 10000 : 20000;
    const traits list[] = {{&claimed, 0, 1, 0, pace, -1, 0, 0, false},
                           {&first, 0, 1, 0, pace, -1, 0, 0, false},
                           {&integers, 0, 1, 0, pace, -1, 0, 0, false}};
    start_all(s, list, 3);
    for (int i = 0; i < (s->brief ? 3 : 5); i++) {
        look_from_now(s);
        s->report->faults += server_do("pause", 0);
        nap_ms(stalls[i]);
        server_do("continue", 0);
        recovered(s, await_again(s, 0, 3, WAIT_MS), 5000);
        nap_ms(200);
    }
    clients_end(s, 3);
    tell(s, "%ld calls failed", atomic_load(&s->world->failures));
    conclude(s, true);
}

/* ---- a holder that is paused ---------------------------------------------------------------- */

/* This layout has one node that can be claimed; the other is history's. */
#define ONE "0x0:1 time:41/ms@@2024-01-01 node:1 sequence:12"

static const role only_claimed = {"claimed", LIVE, ONE, "ns=one window=400ms max_wait=0", 1},
                  only_fixed = {"node 1", LIVE, ONE, "ns=one node=1 window=400ms max_wait=0", 1};

void run_holder(scene *s) {
    const traits list[] = {{&only_claimed, 0, 1, 0, 4000, -1, 0, 0, false},
                           {&only_fixed, 0, 1, 0, 4000, -1, 0, 0, false}};
    for (int round = 0; round < (s->brief ? 2 : 10); round++) {
        traits old = list[round % 2], other = list[round % 2];
        look_from_now(s);
        other.seat = 1;
        client_start(s, &old);
        atomic_store(&s->world->seats[0].good_ms, 0);
        if (!await_issue(s, 1)) {
            refute(s, "the holder never issued");
        }
        nap_ms(100 + 37 * round);
        kill(s->world->seats[0].pid, SIGSTOP);
        s->report->faults++;
        look_from_now(s);
        client_start(s, &other);
        if (await_again(s, 1, 2, WAIT_MS) < 0) {
            refute(s, "nobody else got the node of a holder that is paused");
        }
        nap_ms(1600); /* several windows */
        kill(s->world->seats[0].pid, SIGCONT);
        nap_ms(400);
        client_kill(s, 1); /* so that the old one may have it again */
        look_from_now(s);
        recovered(s, await_again(s, 0, 1, WAIT_MS), 5000);
        client_kill(s, 0);
        while (!client_ended(s, 0) || !client_ended(s, 1)) {
            nap_ms(2);
        }
    }
    tell(s, "%ld times a node that somebody had was refused", atomic_load(&s->world->failures));
    if (atomic_load(&s->world->failures) == 0) {
        refute(s, "nobody was ever refused");
    }
    conclude(s, true);
}

/* ---- clocks --------------------------------------------------------------------------------- */

static const role any_clock = {"claimed", LIVE, "snowflake", "window=300ms max_wait=0 max_skew=10s",
                               10},
                  fixed_clock = {"node 3", LIVE, "snowflake",
                                 "datacenter=0 worker=3 window=300ms max_wait=0 max_skew=10s", 10};

/* Without max_skew a clock that is far off claims nothing, and the error says by how much. */
static void refuses_wrong_clock(scene *s, int64_t offset_ns) {
    _Atomic int64_t offset = offset_ns;
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    firn_clock clock;
    firn_gen *gen;
    firn_error error = {0};
    firn_id id;
    client_clock(&clock, &offset);
    const firn_config config = {.size = sizeof config,
                                .scheme = "snowflake",
                                .store_url = s->url,
                                .store_options = &options,
                                .clock = &clock};
    int code = firn_open_with(&gen, &config, &error);
    if (code == FIRN_OK) {
        code = firn_next(gen, &id, &error);
        firn_close(gen, NULL);
    }
    const char *number = strstr(error.text, "this clock is ");
    long long off = number != NULL ? strtoll(number + strlen("this clock is "), NULL, 10) : 0;
    if (code != FIRN_ECLOCK || off < 3590000 || off > 3610000) {
        refute(s, "a clock an hour off was met with %s: %s", firn_errname(code), error.text);
    }
}

void run_clocks(scene *s) {
    enum { N = 5 };
    static const int64_t hour = INT64_C(3600000000000), limit = INT64_C(9900000000);
    /* Up to the limit of max_skew, and beyond. */
    static const int64_t steps[] = {-3600000, -9900, -3000, -500, -1, 0, 200, 4000, 9900, 3600000};
    const int64_t pace = pace_us(s, N);
    traits list[N];
    for (int i = 0; i < N; i++) {
        list[i] =
            (traits){i == N - 1 ? &fixed_clock : &any_clock, i, 1, 0, pace, -1, 0, i + 1, false};
        atomic_store(&s->world->offset_ns[i], (i % 3 - 1) * limit);
        client_start(s, &list[i]);
    }
    int64_t begun_ms = now_ms();
    nap_ms(500);
    while (now_ms() - begun_ms < s->seconds * 1000) {
        int which = (int)chance(N);
        atomic_store(&s->world->offset_ns[which], steps[chance(10)] * 1000000);
        s->report->faults++;
        nap_ms(40 + s->seconds * 6);
    }
    clients_end(s, N);
    refuses_wrong_clock(s, hour);
    refuses_wrong_clock(s, -hour);
    tell(s, "clocks stepped %ld times; an hour off is refused by default", s->report->faults);
    conclude(s, true);
}

/* ---- many clients on few nodes -------------------------------------------------------------- */

#define CROWD "0x0:1 time:41/ms@@2024-01-01 node:6 sequence:12"

static const role crowded = {"churn", LIVE, CROWD, "ns=crowd window=300ms max_wait=0", 6};

void run_churn(scene *s) {
    enum { N = 50 };
    const traits like = {&crowded, 0, 4, 3, 40000, -1, 0, 0, false};
    long closed_at = 0;
    for (int i = 0; i < N; i++) {
        traits item = like;
        item.seat = i;
        client_start(s, &item);
    }
    /* On a slow machine all of them may be killed before they issue: it continues until some have. */
    int64_t end_ms = now_ms() + s->seconds * 1000;
    while (now_ms() < end_ms || (seats_that_issued(s, N) < N / 10 && now_ms() < end_ms + WAIT_MS)) {
        int which = (int)chance(N);
        if (now_ms() < end_ms || has_issued(s, which)) {
            client_kill(s, which);
        }
        for (int i = 0; i < N; i++) {
            if (client_ended(s, i)) {
                traits item = like;
                item.seat = i;
                client_start(s, &item);
                closed_at++;
            }
        }
        nap_ms(30);
    }
    clients_end(s, N);
    s->report->faults = atomic_load(&s->world->killed);
    tell(s, "200 clients on 64 nodes, %u lives, %ld times busy",
         atomic_load(&s->world->ledger->lives), atomic_load(&s->world->failures));
    if (s->report->faults == 0 || closed_at == 0) {
        refute(s, "no client was killed");
    }
    conclude(s, true);
}

/* ---- forks ---------------------------------------------------------------------------------- */

void run_forked(scene *s) {
    enum { N = 3 };
    const int64_t pace = pace_us(s, 2 * N);
    const traits list[N] = {{&claimed, 0, 2, 0, pace, -1, 0, 0, true},
                            {&first, 0, 1, 0, pace, -1, 0, 0, true},
                            {&integers, 0, 1, 0, pace, -1, 0, 0, true}};
    int64_t begun_ms = now_ms();
    while (now_ms() - begun_ms < s->seconds * 1000) {
        for (int i = 0; i < N; i++) {
            traits item = list[i];
            item.seat = i;
            client_start(s, &item);
            s->report->faults++;
        }
        nap_ms(1300);
        clients_end(s, N);
        atomic_store(&s->world->stop, false);
    }
    tell(s, "%ld forks in the midst of issuing", s->report->faults);
    conclude(s, true);
}

/* ---- control -------------------------------------------------------------------------------- */

static int note_mark(void *context, const firn_holding *holding) {
    firn_mark *mark = context;
    if (strcmp(holding->ns, "snowflake") == 0 && strcmp(holding->key, "1") == 0) {
        *mark = holding->mark;
    }
    return FIRN_OK;
}

/* A generator that takes node 1 with a stopped clock, and issues. Returns the slot of its first
 * ID. */
static int64_t issue_by_hand(scene *s, _Atomic int64_t *at_ns, firn_gen **gen, firn_store **store) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    static firn_clock clocks[2];
    static int used;
    firn_clock *clock = &clocks[used++];
    grant_recorder *recorder = NULL;
    firn_error error = {0};
    torture_lot *to = NULL, *from = NULL;
    standing_clock(clock, at_ns);
    int code = recorder_open(store, &recorder, s->world->ledger, s->url, &options, &error);
    if (code == FIRN_OK) {
        recorder->life = atomic_fetch_add(&s->world->ledger->lives, 1) + 1;
        const firn_config config = {.size = sizeof config,
                                    .scheme = "snowflake",
                                    .keys = "datacenter=0 worker=1 window=2s max_wait=0 "
                                            "max_skew=10s",
                                    .store = *store,
                                    .clock = clock};
        code = firn_open_with(gen, &config, &error);
    }
    for (int i = 0; i < 20 && code == FIRN_OK; i++) {
        to = ledger_lot(s->world->ledger, recorder->life, 10);
        from = from != NULL ? from : to;
        code = firn_next_u64(*gen, to->ids, LOT, &error);
    }
    if (code != FIRN_OK) {
        refute(s, "%s", error.text);
        return 0;
    }
    return (int64_t)(from->ids[0] >> 22 << SEQUENCE | (from->ids[0] & 4095));
}

/* The control of all scenarios on a real server: if somebody lowers a mark without its holder's
 * knowledge, IDs repeat, and the judge finds them. */
void run_lowered(scene *s) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    static _Atomic int64_t right, behind;
    right = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    behind = right - 500000000;
    firn_gen *a = NULL, *b = NULL;
    firn_store *store_a = NULL, *store_b = NULL;
    firn_mark mark = {0, 0};
    firn_error error = {0};
    int64_t begin = issue_by_hand(s, &right, &a, &store_a);
    firn_store_list(store_a, NULL, note_mark, &mark, NULL);
    if (s->report->failed || firn_store_give_back(((firn_store *)store_a), "snowflake", "1", &mark,
                                                  begin, &error) != FIRN_OK) {
        refute(s, "the mark could not be lowered: %s", error.text);
        return;
    }
    atomic_store(&s->world->ledger->grant[atomic_load(&s->world->ledger->grants) - 1].whole,
                 false); /* the holder does not know, so its grant is valid */
    issue_by_hand(s, &behind, &b, &store_b);
    s->report->faults = 1;
    verdict found = judge(s->world->ledger, true);
    s->report->ids = found.ids;
    tell(s, "%zu of %zu IDs twice, %zu grants overlap, and the judge finds it", found.twice,
         found.ids, found.overlapping);
    if (found.twice == 0 || found.overlapping == 0) {
        refute(s, "the judge sees no duplicate where there is one");
    }
}
