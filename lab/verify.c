/* SPDX-License-Identifier: MIT */
/* `firn verify`: finds the first gap, duplicate or break in exported numbers and in the chain of a
 * series without gaps (docs/guides/gapless.md). Reads lines of any database,
 * and knows no SQL. */
#include "anchor.h"
#include "numbers.h"
#include "sha256.h"
#include "shared/json.h"
#include "shared/line_window.h"
#include "shared/operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 63, TIME = 27, HASH = 64, ENTRY_SIZE = 256 };

/* SERIES NUMBER TIME PAYLOAD HASH. A line of a number alone has no series. */
typedef struct entry {
    char series[NAME + 1], time[TIME + 1], payload[HASH + 1], hash[HASH + 1];
    uint64_t number;
} entry;

typedef struct verification {
    line_window in;
    const char *name; /* of the input */
    uint64_t lines, first;
    entry last;
    bool knows;
    entry *known; /* heads that were kept */
    size_t known_count;
    firn_store *store; /* of the anchor; NULL: none was asked for */
    chain_anchor anchor;
} verification;

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_hash(const char *text) {
    return strlen(text) == HASH && strspn(text, "0123456789abcdef") == HASH;
}

/* Only the form that the databases write, since the hash is of these bytes. */
static char *entry_text(char text[ENTRY_SIZE], const entry *from, const char *end) {
    snprintf(text, ENTRY_SIZE, "%s %" PRIu64 " %s %s %s", from->series, from->number, from->time,
             from->payload, end);
    return text;
}

static bool read_chained(entry *to, const char *text) {
    char again[ENTRY_SIZE];
    return sscanf(text, "%63s %" SCNu64 " %27s %64s %64s", to->series, &to->number, to->time,
                  to->payload, to->hash) == 5 &&
           strlen(to->time) == TIME && is_hash(to->hash) &&
           (strcmp(to->payload, "-") == 0 || is_hash(to->payload)) &&
           strcmp(entry_text(again, to, to->hash), text) == 0;
}

static int read_entry(entry *to, const char *text, firn_error *error) {
    *to = (entry){0};
    if (number_whole(&to->number, text) || read_chained(to, text)) {
        return FIRN_OK;
    }
    return set_error(error, FIRN_ETEXT,
                     "this is neither a number nor SERIES NUMBER TIME PAYLOAD HASH: export one of "
                     "both, without headings");
}

static int refill(void *context, firn_error *error) {
    verification *run = context;
    return window_fill(&run->in) ? FIRN_OK : input_failed(run->name, error);
}

/* Calls `take` for each line of an input, which may be standard input. */
static int each_line(verification *run, const char *name,
                     int (*take)(verification *run, const entry *got, firn_error *error),
                     firn_error *error) {
    entry got;
    char *text;
    size_t length;
    run->name = name;
    int code = window_open(&run->in, name) ? FIRN_OK : input_failed(name, error);
    for (run->lines = 1; code == FIRN_OK; run->lines++) {
        code = window_line(&run->in, refill, run, &text, &length, error);
        if (code == FIRN_OK && text == NULL) {
            break;
        }
        if (code == FIRN_OK) {
            text[length] = '\0';
            code = read_entry(&got, text, error);
        }
        code = code == FIRN_OK ? take(run, &got, error) : code;
    }
    run->lines--;
    window_close(&run->in);
    return code == FIRN_OK || code == FIRN_EIO
               ? code
               : prefix_error(error, code, error, "%.80s, line %" PRIu64 ": ", input_name(name),
                              run->lines);
}

/* ---- heads that were kept -------------------------------------------------------------------- */

static int keep_head(verification *run, const entry *got, firn_error *error) {
    if (got->series[0] == '\0') {
        return set_error(error, FIRN_ETEXT,
                         "this is not a head: keep the lines that firn verify --head prints");
    }
    entry *more = realloc(run->known, (run->known_count + 1) * sizeof *more);
    if (more == NULL) {
        return out_of_memory(error);
    }
    run->known = more;
    run->known[run->known_count++] = *got;
    return FIRN_OK;
}

static int compare_heads(const void *a, const void *b) {
    const entry *one = a, *other = b;
    int names = strcmp(one->series, other->series);
    return names != 0 ? names : (one->number > other->number) - (one->number < other->number);
}

/* Sorts them, for head_of. A number has one head. */
static int sort_heads(verification *run, firn_error *error) {
    char text[ENTRY_SIZE], next[ENTRY_SIZE];
    entry *known = run->known;
    if (known == NULL) {
        return FIRN_OK;
    }
    qsort(known, run->known_count, sizeof *known, compare_heads);
    for (size_t i = 1; i < run->known_count; i++) {
        if (compare_heads(&known[i - 1], &known[i]) == 0 &&
            strcmp(entry_text(text, &known[i - 1], known[i - 1].hash),
                   entry_text(next, &known[i], known[i].hash)) != 0) {
            return set_error(error, FIRN_ETEXT,
                             "--known has two heads of series %s, number %" PRIu64
                             ": the chain was written again between them",
                             known[i].series, known[i].number);
        }
    }
    return FIRN_OK;
}

/* The head of this number; NULL: none was kept. */
static const entry *head_of(const verification *run, const entry *got, uint64_t number) {
    entry wanted = *got;
    wanted.number = number;
    return run->known == NULL
               ? NULL
               : bsearch(&wanted, run->known, run->known_count, sizeof wanted, compare_heads);
}

/* A head before the first line of the chain, which is then no line of it; NULL: none. */
static const entry *head_before(const verification *run, const entry *first) {
    for (size_t i = 0; i < run->known_count; i++) {
        if (strcmp(run->known[i].series, first->series) == 0) {
            return run->known[i].number < first->number ? &run->known[i] : NULL; /* its least */
        }
    }
    return NULL;
}

/* The chain must reach the anchor, and have its line. */
static int check_anchor(const verification *run, const entry *got, firn_error *error) {
    const int64_t number = run->anchor.number;
    if (run->lines == 1 && number > 0 && got->number > (uint64_t)number + 1) {
        return set_error(error, FIRN_ETEXT,
                         "the chain begins at number %" PRIu64
                         ", and the anchor has number %" PRId64
                         ": export it from its first number, or from the one after the anchor",
                         got->number, number);
    }
    return got->number != (uint64_t)number || strcmp(got->hash, run->anchor.hash) == 0
               ? FIRN_OK
               : set_error(error, FIRN_ETEXT,
                           "number %" PRIu64 " is another one than the anchor has: the chain was "
                           "written again since then, as after the restore of an older copy",
                           got->number);
}

/* Compares the anchor with the end of the chain, and moves it there. */
static int anchor_end(const verification *run, firn_error *error) {
    const entry *last = &run->last;
    chain_anchor to = {.number = (int64_t)last->number};
    if (run->anchor.number > to.number) {
        return set_error(error, FIRN_ETEXT,
                         "series %s ends at %" PRIu64 ", and the anchor in the store has number "
                         "%" PRId64 ": the numbers between are lost, as after the restore of an "
                         "older copy; issue none before you have them again",
                         last->series, last->number, run->anchor.number);
    }
    memcpy(to.hash, last->hash, sizeof to.hash);
    return run->anchor.number == to.number ? FIRN_OK
                                           : anchor_move(run->store, last->series, &to, error);
}

/* A store that was lost or replaced has no anchor either, so a run that compares nothing says so. */
static void tell_first_anchor(session *s, const entry *last) {
    char text[200];
    snprintf(text, sizeof text,
             "the store had no anchor of series %s, so nothing was compared; it has number "
             "%" PRIu64 " now",
             last->series, last->number);
    tell_note(s, text);
}

/* The chain must reach each of them. */
static int check_reached(const verification *run, firn_error *error) {
    bool any = !run->knows;
    for (size_t i = 0; i < run->known_count; i++) {
        if (strcmp(run->known[i].series, run->last.series) != 0) {
            continue;
        }
        any = true;
        if (run->known[i].number > run->last.number) {
            return set_error(error, FIRN_ETEXT,
                             "series %s ends at %" PRIu64 ", and --known has number %" PRIu64
                             ": the numbers between are lost, as after the restore of an older "
                             "copy; issue none before you have them again",
                             run->last.series, run->last.number, run->known[i].number);
        }
    }
    return any ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "--known has no head of series %s: leave it out the first time",
                           run->last.series);
}

/* ---- the chain ------------------------------------------------------------------------------- */

static void digest(char out[SHA256_TEXT_SIZE], const entry *from, const char *previous) {
    char text[ENTRY_SIZE];
    entry_text(text, from, previous);
    sha256_text(out, text, strlen(text));
}

static int check_number(const entry *last, const entry *got, firn_error *error) {
    if (strcmp(last->series, got->series) != 0) {
        return set_error(error, FIRN_ETEXT,
                         "series %s follows series %s: export one series at a time",
                         got->series[0] != '\0' ? got->series : "without a name",
                         last->series[0] != '\0' ? last->series : "without a name");
    }
    if (got->number == last->number) {
        return set_error(error, FIRN_ETEXT, "number %" PRIu64 " is there twice", got->number);
    }
    if (got->number < last->number) {
        return set_error(error, FIRN_ETEXT,
                         "number %" PRIu64 " comes after number %" PRIu64
                         ": export in the order of the numbers",
                         got->number, last->number);
    }
    if (got->number - last->number > 2) {
        return set_error(error, FIRN_ETEXT, "numbers %" PRIu64 " to %" PRIu64 " are missing",
                         last->number + 1, got->number - 1);
    }
    return got->number - last->number == 1
               ? FIRN_OK
               : set_error(error, FIRN_ETEXT, "number %" PRIu64 " is missing", got->number - 1);
}

static int check_hash(const verification *run, const entry *got, firn_error *error) {
    static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
    char hash[HASH + 1];
    const bool begins = run->lines == 1;
    const entry *head = begins ? head_of(run, got, got->number - 1) : &run->last;
    const bool anchored = run->anchor.number > 0 && got->number - 1 == (uint64_t)run->anchor.number;
    const char *before = head != NULL ? head->hash : anchored ? run->anchor.hash : NULL;
    const entry *skipped = begins && before == NULL ? head_before(run, got) : NULL;
    if (skipped != NULL) {
        return set_error(error, FIRN_ETEXT,
                         "the chain begins at number %" PRIu64 ", and --known has number %" PRIu64
                         ": export it from its first number, or from the one after a head",
                         got->number, skipped->number);
    }
    digest(hash, got, before != NULL ? before : zeros);
    if (strcmp(hash, got->hash) == 0) {
        return FIRN_OK;
    }
    if (begins && before == NULL && got->number > 1) {
        return set_error(error, FIRN_ETEXT,
                         "the chain does not begin at number %" PRIu64
                         ": export it from its first number, or give the line of number %" PRIu64
                         " with --known",
                         got->number, got->number - 1);
    }
    return set_error(error, FIRN_ETEXT,
                     "the chain breaks at number %" PRIu64
                     ": its line was changed, or a line before it was replaced",
                     got->number);
}

static int check_chained(const verification *run, const entry *got, firn_error *error) {
    char own[ENTRY_SIZE], kept[ENTRY_SIZE];
    const entry *head = head_of(run, got, got->number);
    if (run->lines > 1 && strcmp(got->time, run->last.time) < 0) {
        return set_error(error, FIRN_ETEXT,
                         "number %" PRIu64 " is of %s, before %s of the number before it",
                         got->number, got->time, run->last.time);
    }
    if (head != NULL &&
        strcmp(entry_text(own, got, got->hash), entry_text(kept, head, head->hash)) != 0) {
        return set_error(error, FIRN_ETEXT,
                         "number %" PRIu64 " is another one than --known has: the chain was "
                         "written again since then",
                         got->number);
    }
    const int code = check_hash(run, got, error);
    return code == FIRN_OK ? check_anchor(run, got, error) : code;
}

static int follow(verification *run, const entry *got, firn_error *error) {
    int code = run->lines > 1 ? check_number(&run->last, got, error) : FIRN_OK;
    if (code == FIRN_OK && run->lines == 1 && run->store != NULL && got->series[0] != '\0') {
        code = anchor_read(&run->anchor, run->store, got->series, error);
    }
    if (code == FIRN_OK && got->series[0] != '\0') {
        code = check_chained(run, got, error);
    }
    run->first = run->lines == 1 ? got->number : run->first;
    run->last = *got;
    return code;
}

/* ---- the subcommand -------------------------------------------------------------------------- */

static int check_end(session *s, const verification *run, firn_error *error) {
    const bool chained = run->last.series[0] != '\0';
    if (run->lines == 0) {
        return set_error(error, FIRN_ETEXT,
                         "%.80s has no number: is the series empty, or the name wrong?",
                         input_name(run->name));
    }
    if (!chained &&
        (s->option[OPTION_HEAD] != NULL || s->option[OPTION_KNOWN] != NULL || run->store != NULL)) {
        return set_error(error, FIRN_EUSAGE,
                         "numbers alone have no head: leave --head, --known and --anchor out, or "
                         "export firn_chain()");
    }
    int code = chained ? check_reached(run, error) : FIRN_OK;
    code = code == FIRN_OK && run->store != NULL ? anchor_end(run, error) : code;
    if (code == FIRN_OK && run->store != NULL && run->anchor.number == 0) {
        tell_first_anchor(s, &run->last);
    }
    return code;
}

static void report(session *s, const verification *run) {
    char head[ENTRY_SIZE] = "";
    const entry *last = &run->last;
    const bool chained = last->series[0] != '\0';
    if (chained) {
        entry_text(head, last, last->hash);
    }
    if (s->option[OPTION_JSON] != NULL) {
        json_line(&s->out,
                  json_pack("{s:s*, s:I, s:I, s:I, s:s*}", "series", chained ? last->series : NULL,
                            "numbers", (json_int_t)run->lines, "first", (json_int_t)run->first,
                            "last", (json_int_t)last->number, "head", chained ? head : NULL));
    } else if (s->option[OPTION_HEAD] != NULL) {
        output_print(&s->out, "%s\n", head);
    } else {
        output_print(&s->out,
                     "%s%s%" PRIu64 " number%s, %" PRIu64 " to %" PRIu64
                     ", no gap and no duplicate%s\n",
                     last->series, chained ? ": " : "", run->lines, plural(run->lines), run->first,
                     last->number, chained ? "; the chain is whole" : "");
    }
}

int run_verify(session *s) {
    static char buffer[1 << 16]; /* static for its size */
    verification run = {.in = {.file = -1, .buffer = buffer, .size = sizeof buffer}};
    firn_error error;
    const char *known = s->option[OPTION_KNOWN];
    run.knows = known != NULL;
    if (s->operand_count > 1) {
        return fail_usage(s, "'%.60s' is one word too many: name one FILE", s->operands[1]);
    }
    if (s->option[OPTION_ANCHOR] == NULL && s->option[OPTION_STORE] != NULL) {
        return fail_usage(s, "--store is where --anchor keeps the last line: add --anchor");
    }
    if (s->option[OPTION_ANCHOR] != NULL) {
        int status = operand_store(s, &run.store, operand_store_url(s), false);
        if (status != STATUS_DONE) {
            return status;
        }
    }
    int code = known != NULL ? each_line(&run, known, keep_head, &error) : FIRN_OK;
    code = code == FIRN_OK ? sort_heads(&run, &error) : code;
    if (code == FIRN_OK) {
        code = each_line(&run, s->operand_count > 0 ? s->operands[0] : "-", follow, &error);
    }
    code = code == FIRN_OK ? check_end(s, &run, &error) : code;
    if (code == FIRN_OK) {
        report(s, &run);
    }
    free(run.known);
    firn_store_close(run.store);
    return code == FIRN_OK ? STATUS_DONE : fail(s, &error);
}
