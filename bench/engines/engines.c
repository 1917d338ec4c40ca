/* SPDX-License-Identifier: MIT */
/* `make bench-engines`: what firn costs on real engines. Starts each on loopback by test/engine and
 * prints figures as `firn bench` does; says which goals are missed, and judges nothing by it. */
#include "measure.h"
#include "shared/json.h"

#include "../../test/engines.h"

#include <inttypes.h>

enum { TURNS = 16 }; /* of each contestant in a round, one after the other */
#define CONTESTANTS 4
#define COUNT       1000 /* slots a reservation */

static bool as_json;
static output out;

/* ---- the report ----------------------------------------------------------------------------- */

static void put_json(const figure *self) {
    json_t *object = self->among > 0
                         ? json_pack("{s:s, s:I, s:I}", "name", self->name, "calls",
                                     (json_int_t)self->calls, "of", (json_int_t)self->among)
                         : json_pack("{s:s, s:f}", "name", self->name, "ns", self->ns);
    if (self->peer) {
        json_object_set_new(object, "peer", json_true());
    }
    if (self->ratio > 0) {
        json_object_set_new(object, "ratio", json_real(self->ratio));
    }
    if (self->most > 0) {
        json_object_set_new(object, "goal", json_real(self->most));
    }
    json_object_set_new(object, "note", json_string(self->note));
    json_line(&out, object);
}

static void put_text(const figure *self) {
    char value[32] = "-", ratio[32] = "", goal[48] = "";
    double judged = self->ratio > 0 ? self->ratio : self->ns;
    if (self->among > 0) {
        snprintf(value, sizeof value, "%" PRId64, self->calls);
    } else if (self->ns >= 0) {
        bench_name_time(value, self->ns);
    }
    if (self->ratio > 0) {
        snprintf(ratio, sizeof ratio, "%.2f x", self->ratio);
    }
    if (self->most > 0 && self->ns >= 0) {
        snprintf(goal, sizeof goal, self->ratio > 0 ? "goal %.1f x%s; " : "goal %.0f ns%s; ",
                 self->most, judged > self->most ? ": missed" : "");
    }
    output_print(&out, "%s%-*s  %10s  %8s  %s%s\n", self->peer ? "  " : "", self->peer ? 25 : 27,
                 self->name, value, ratio, goal, self->note);
}

bool report_is_json(void) {
    return as_json;
}

void report_print(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    output_text(&out, text);
    output_flush(&out);
}

void report_json(void *object) {
    json_line(&out, object);
    output_flush(&out);
}

void put_figure(const figure *self) {
    if (!as_json) {
        put_text(self);
    } else if (self->ns >= 0) {
        put_json(self);
    } else {
        fprintf(stderr, "bench: %s is not measured: %s\n", self->name, self->note);
    }
    output_flush(&out);
}

/* ---- reservations --------------------------------------------------------------------------- */

/* firn's module and the peers of one engine, who take turns. */
typedef struct engine_contest {
    firn_store *store;
    void *self[CONTESTANTS]; /* of the peers; [0] is not used */
    const peer *about[CONTESTANTS];
    int count;
    int64_t written;
    double times[CONTESTANTS][BENCH_REPEATS];
    char why[160]; /* set: the contest came to nothing */
} engine_contest;

static bool reserve(engine_contest *contest) {
    int64_t first;
    firn_mark held;
    firn_error error = {0};
    const firn_request request = {.ns = "bench",
                                  .layout = "bench",
                                  .key = "1",
                                  .count = COUNT,
                                  .latest = FIRN_SLOT_MAX - COUNT,
                                  .grant = (uint64_t)contest->written + 1,
                                  .note = "bench"};
    if (firn_store_reserve(contest->store, &request, &first, &held, &error) == FIRN_OK) {
        return true;
    }
    snprintf(contest->why, sizeof contest->why, "%.150s", error.text);
    return false;
}

static bool one_turn(engine_contest *contest, int who) {
    contest->written++;
    if (who == 0) {
        return reserve(contest);
    }
    if (!contest->about[who]->write(contest->self[who], contest->written)) {
        snprintf(contest->why, sizeof contest->why, "%s: the bare statement fails",
                 contest->about[who]->name);
        return false;
    }
    return true;
}

/* Call by call in turn, starting with another one each time, so that other load affects all
 * equally. */
static bool one_round(engine_contest *contest, int round) {
    double sums[CONTESTANTS] = {0};
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < contest->count; i++) {
            int who = (i + turn) % contest->count;
            double start = bench_now_ns();
            if (!one_turn(contest, who)) {
                return false;
            }
            sums[who] += bench_now_ns() - start;
        }
    }
    for (int who = 0; who < contest->count && round >= 0; who++) {
        contest->times[who][round] = sums[who] / TURNS;
    }
    return true;
}

static bool begin_contest(engine_contest *contest, const test_engine *engine, const peer *first,
                          size_t count) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn"};
    firn_error error = {0};
    const char *colon = strrchr(engine->url, ':');
    unsigned port = colon != NULL ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
    if (firn_store_open(&contest->store, engine->url, &options, &error) != FIRN_OK) {
        snprintf(contest->why, sizeof contest->why, "%.150s", error.text);
        return false;
    }
    contest->count = 1;
    for (size_t i = 0; i < count && contest->count < CONTESTANTS; i++, contest->count++) {
        contest->about[contest->count] = &first[i];
        if (!first[i].open(&contest->self[contest->count], port)) {
            snprintf(contest->why, sizeof contest->why, "%s: no connection", first[i].name);
            return false;
        }
    }
    return true;
}

static void end_contest(engine_contest *contest) {
    for (int i = 1; i < CONTESTANTS; i++) {
        if (contest->about[i] != NULL) {
            contest->about[i]->close(contest->self[i]);
        }
    }
    firn_store_close(contest->store);
}

static void put_contest(engine_contest *contest, const char *kind) {
    const double goal = strcmp(kind, "postgres") == 0 ? 1.1 : 1.2;
    char name[40];
    snprintf(name, sizeof name, "reserve-%s", kind);
    figure own = {.name = name, .ns = bench_middle(contest->times[0], BENCH_REPEATS)};
    snprintf(own.note, sizeof own.note, "firn_store_reserve, medians of %d rounds of %d calls",
             BENCH_REPEATS, TURNS);
    put_figure(&own);
    for (int i = 1; i < contest->count; i++) {
        figure bare = {.name = contest->about[i]->name,
                       .peer = true,
                       .ns = bench_middle(contest->times[i], BENCH_REPEATS),
                       .most = i == 1 ? goal : 0};
        bare.ratio = own.ns / bare.ns;
        snprintf(bare.note, sizeof bare.note, "%s", contest->about[i]->note);
        put_figure(&bare);
    }
}

static void measure_engine(const peer *first, size_t count) {
    static engine_contest contest;
    contest = (engine_contest){0};
    test_engine *engine = engine_of(first->engine, 0, "");
    bool fine = engine != NULL && begin_contest(&contest, engine, first, count);
    for (int round = -2; round < BENCH_REPEATS && fine; round++) { /* two to warm up */
        fine = one_round(&contest, round);
    }
    if (fine) {
        put_contest(&contest, first->engine);
    } else {
        figure none = {.name = first->engine, .ns = -1};
        snprintf(none.note, sizeof none.note, "%s",
                 engine == NULL ? "the engine does not start, or is not installed" : contest.why);
        put_figure(&none);
    }
    end_contest(&contest);
    if (engine != NULL) {
        engine_do(engine, "halt", 0); /* the next one has the machine for itself */
    }
}

void measure_engines(void) {
    for (size_t i = 0, count = 1; i < peer_count; i += count, count = 1) {
        while (i + count < peer_count && strcmp(peers[i].engine, peers[i + count].engine) == 0) {
            count++;
        }
        measure_engine(&peers[i], count);
    }
}

/* ---- the program ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*measure)(void);
    bool by_name; /* only when it is asked for */
} parts[] = {{"reserve", measure_engines, false},
             {"renewer", measure_renewer, false},
             {"integers", measure_ranges, false},
             {"fleet", measure_fleet, true}};
enum { PARTS = sizeof parts / sizeof parts[0] };

static bool is_part(const char *word) {
    for (int i = 0; i < PARTS; i++) {
        if (strcmp(parts[i].name, word) == 0) {
            return true;
        }
    }
    return false;
}

int main(int count, char **words) {
    const char *wanted = NULL;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--json") == 0) {
            as_json = true;
        } else if (wanted == NULL && is_part(words[i])) {
            wanted = words[i];
        } else {
            fprintf(stderr, "usage: %s [--json] [reserve|renewer|integers|fleet]\n", words[0]);
            return STATUS_USAGE;
        }
    }
    json_begin();
    bench_pin(0);
    if (!as_json) {
        output_print(&out, "%-27s  %10s  %8s  medians of %d\n", "", "", "", BENCH_REPEATS);
    }
    for (int i = 0; i < PARTS; i++) {
        if (wanted == NULL ? !parts[i].by_name : strcmp(parts[i].name, wanted) == 0) {
            parts[i].measure();
        }
    }
    return STATUS_DONE;
}
