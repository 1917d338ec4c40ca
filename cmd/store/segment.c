/* SPDX-License-Identifier: MIT */
/* `firn segment`: integers of a segment, taken in blocks of exactly the printed integers, each
 * block written only when the store has granted it; peek looks, advance moves on,
 * give-back frees its reserve. Counts nothing
 * itself; kinds and steps are the library's affair. */
#include "blocks.h"
#include "shared/amounts.h"
#include "shared/interrupt.h"
#include "shared/json.h"
#include "shared/operands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16, KEYS_SIZE = 512 };

enum { TAKE, PEEK, ADVANCE, GIVE_BACK };

/* The request. */
typedef struct range_wish {
    int verb;      /* TAKE, PEEK, ADVANCE or GIVE_BACK */
    int64_t count; /* of TAKE */
    int64_t least; /* of ADVANCE */
} range_wish;

/* Lines, or an object of the segment with these members: integers are strings, as IDs are. */
static void put_integers(session *s, const char *const *members, const int64_t *values, int n) {
    const char *name = s->operands[s->plain_count - 1];
    json_t *object =
        s->option[OPTION_JSON] != NULL ? json_pack("{s:o}", "segment", json_foreign(name)) : NULL;
    for (int i = 0; i < n; i++) {
        char text[24];
        snprintf(text, sizeof text, "%" PRId64, values[i]);
        if (s->option[OPTION_JSON] == NULL) {
            output_print(&s->out, "%s\n", text);
        } else {
            object = json_set(object, members[i], json_string(text));
        }
    }
    if (s->option[OPTION_JSON] != NULL) {
        json_line(&s->out, object);
    }
}

/* *context is the first integer that was printed, 0 before it. */
static int put_one(session *s, void *context, int64_t value, firn_error *error) {
    int64_t *first = context;
    (void)error;
    *first = *first == 0 ? value : *first;
    put_integers(s, (const char *const[]){"id"}, &value, 1);
    return FIRN_OK;
}

/* Prints a block as its first and last integer. */
static int put_range(session *s, firn_segment *range, int64_t count, int64_t *first) {
    firn_error error;
    if (count == 0) {
        return STATUS_DONE;
    }
    if (firn_segment_block(range, count, first, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    const int64_t ends[] = {*first, *first + (count - 1) * firn_segment_increment(range)};
    put_integers(s, (const char *const[]){"first", "last"}, ends, 2);
    return STATUS_DONE;
}

/* The next integer, which is not taken; ADVANCE moves the segment on to --min before. */
static int put_next(session *s, firn_segment *range, const range_wish *wished) {
    firn_error error;
    int64_t next;
    int code = wished->verb == PEEK ? firn_segment_peek(range, &next, &error)
                                    : firn_segment_advance(range, wished->least, &next, &error);
    if (argument_code(code, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    put_integers(s, (const char *const[]){"next"}, &next, 1);
    return STATUS_DONE;
}

/* A misspelt name makes a new segment: the note shows it. */
static void note_new(session *s, int64_t first) {
    const char *start = operand_value(s, "start"), *offset = operand_value(s, "offset");
    const char *name = s->operands[0];
    char text[240];
    if (first == (start != NULL ? strtoll(start, NULL, 10) : offset != NULL ? atoll(offset) : 1)) {
        snprintf(
            text, sizeof text, "the segment %s is new: it begins at %" PRId64 "%s", name, first,
            strchr(name, ' ') != NULL ? "; firn serve refuses its name, which has a blank" : "");
        tell_note(s, text);
    }
}

static int give_back(session *s, firn_segment *range) {
    firn_error error;
    const int code = firn_segment_give_back(range, &error);
    if (argument_code(code, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    output_print(&s->out, "the reserve is given back\n");
    return STATUS_DONE;
}

static int serve(session *s, firn_segment *range, const range_wish *wished) {
    int64_t first = 0;
    if (wished->verb == GIVE_BACK) {
        return give_back(s, range);
    }
    if (wished->verb != TAKE) {
        return put_next(s, range, wished);
    }
    int status = s->option[OPTION_RANGE] != NULL
                     ? put_range(s, range, wished->count, &first)
                     : blocks_take(s, range, wished->count, BLOCK, put_one, &first);
    if (first != 0) {
        note_new(s, first);
    }
    return status;
}

static int take(session *s, firn_store *store, const char *keys, const range_wish *wished) {
    firn_segment *range;
    firn_error error;
    int code =
        firn_segment_open(&range, s->operands[s->plain_count - 1], keys, store, NULL, &error);
    if (argument_code(code, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    const char *start = operand_value(s, "start");
    int status = STATUS_DONE;
    if (start != NULL && wished->verb == TAKE) {
        status = blocks_note_start(s, range, strtoll(start, NULL, 10));
    }
    status = status == STATUS_DONE ? serve(s, range, wished) : status;
    code = firn_segment_close(range, &error);
    return code == FIRN_OK ? status : worse(status, fail(s, &error));
}

/* NAME, peek NAME, give-back NAME or advance NAME --min N. */
static int read_verb(session *s, range_wish *wished) {
    static const struct {
        const char *name, *usage;
    } verbs[] = {[PEEK] = {"peek", "peek NAME"},
                 [ADVANCE] = {"advance", "advance NAME --min N"},
                 [GIVE_BACK] = {"give-back", "give-back NAME reserve=DURATION"}};
    const char *verb = s->operands[0], *least = s->option[OPTION_MIN];
    for (int i = PEEK; i <= GIVE_BACK; i++) {
        if (strcmp(verb, verbs[i].name) == 0 && s->plain_count == 1) {
            return fail_usage(s, "%s needs a NAME: firn segment %s", verb, verbs[i].usage);
        }
        wished->verb = strcmp(verb, verbs[i].name) == 0 ? i : wished->verb;
    }
    if (s->plain_count == 2) {
        if (wished->verb == TAKE) {
            return fail_usage(
                s,
                "'%.60s' is not a verb of segment: use NAME, peek NAME, advance NAME or "
                "give-back NAME",
                verb);
        }
        if (s->option[OPTION_COUNT] != NULL || s->option[OPTION_RANGE] != NULL) {
            return fail_usage(s, "segment %s takes no integers: remove -n and --range", verb);
        }
    }
    if ((wished->verb == ADVANCE) != (least != NULL)) {
        return fail_usage(
            s, least != NULL ? "--min applies to advance: firn segment advance NAME --min N"
                             : "advance needs --min N: firn never issues an integer below N again");
    }
    uint64_t number = 0;
    int status = amount_number(s, OPTION_MIN, 0, 0, (uint64_t)FIRN_SLOT_MAX, &number);
    wished->least = (int64_t)number;
    return status;
}

/* After a restore '*' makes every key that the store does not know a new one. */
static int confirm_all(session *s) {
    return confirm(
        s,
        "After a restore the store refuses nodes, integers and namespaces that it does not\nknow.\n"
        "This makes them new again. An integer that was in use, that the restored store\n"
        "does not know and that you have not advanced would repeat its values.\n"
        "Have you advanced every integer that was in use?",
        "add --yes if you have advanced every integer that was in use");
}

int run_segment(session *s) {
    char keys[KEYS_SIZE];
    firn_store *store;
    range_wish wished = {TAKE, 1, 0};
    int status = operands_split(s, 1, 1, 2, "a NAME");
    if (status == STATUS_DONE) {
        status = read_verb(s, &wished);
    }
    if (status == STATUS_DONE) {
        status = command_count(s, 1, &wished.count);
    }
    if (status == STATUS_DONE) {
        status = operands_join(s, (const char *const[]){NULL}, 0, keys, KEYS_SIZE);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    if (wished.verb == ADVANCE && strcmp(s->operands[1], "*") == 0 &&
        (status = confirm_all(s)) != STATUS_DONE) {
        return status;
    }
    interrupt_catch(&s->out);
    status = operand_store(s, &store, operand_store_url(s), wished.verb == PEEK);
    if (status == STATUS_DONE) {
        status = take(s, store, keys, &wished);
        firn_store_close(store);
    }
    return status;
}
