/* SPDX-License-Identifier: MIT */
/* `firn segment`: integers of a key, taken in blocks of just what is printed, each block
 * written only when the store has granted it. Counts nothing itself; kinds and steps are the
 * library's affair. */
#include "interrupt.h"
#include "operands.h"
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 1 << 16, KEYS_SIZE = 512 };

static int join_keys(session *s, char keys[KEYS_SIZE]) {
    size_t length = 0;
    keys[0] = '\0';
    for (size_t i = s->plain_count; i < s->operand_count; i++) {
        const char *word = s->operands[i];
        if (operand_is(word, "unsafe")) {
            continue; /* the store's */
        }
        if (strpbrk(word, " \t\n") != NULL || length + strlen(word) + 2 > KEYS_SIZE) {
            return fail_usage(s, "'%.80s' is too long or holds a blank: keys have none", word);
        }
        length += (size_t)snprintf(keys + length, KEYS_SIZE - length, "%s%s", length > 0 ? " " : "",
                                   word);
    }
    return STATUS_DONE;
}

static int put_blocks(session *s, firn_range *range, int64_t count) {
    const int64_t increment = firn_range_increment(range);
    progress shown = {0};
    firn_error error;
    for (int64_t done = 0; done < count && !output_dead(&s->out);) {
        int64_t first, n = count - done < BLOCK ? count - done : BLOCK;
        if (firn_range_block(range, n, &first, &error) != FIRN_OK) {
            progress_end(&shown);
            return fail(s, &error);
        }
        for (int64_t i = 0; i < n && !output_dead(&s->out); i++) {
            output_print(&s->out, "%" PRId64 "\n", first + i * increment);
        }
        done += n;
        if (interrupt_signal() != 0) {
            progress_end(&shown);
            return STATUS_SIGNAL + interrupt_signal();
        }
        progress_show(&shown, done, count);
    }
    progress_end(&shown);
    return STATUS_DONE;
}

/* One block for the caller alone, told by its ends. */
static int put_range(session *s, firn_range *range, int64_t count) {
    firn_error error;
    int64_t first;
    if (count == 0) {
        return STATUS_DONE;
    }
    if (firn_range_block(range, count, &first, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    output_print(&s->out, "%" PRId64 "\n%" PRId64 "\n", first,
                 first + (count - 1) * firn_range_increment(range));
    return STATUS_DONE;
}

static int take(session *s, firn_store *store, const char *keys, int64_t count) {
    firn_range *range;
    firn_error error;
    int code = firn_range_open(&range, s->operands[0], keys, store, NULL, &error);
    if (argument_code(code, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    int status =
        s->option[OPTION_RANGE] != NULL ? put_range(s, range, count) : put_blocks(s, range, count);
    code = firn_range_close(range, &error);
    return code == FIRN_OK ? status : worse(status, fail(s, &error));
}

int run_segment(session *s) {
    char keys[KEYS_SIZE];
    firn_store *store;
    firn_error error;
    int64_t count;
    int status = operands_split(s, 1, 1, 1, "a KEY");
    if (status == STATUS_DONE) {
        status = command_count(s, 1, &count);
    }
    if (status == STATUS_DONE) {
        status = join_keys(s, keys);
    }
    if (status != STATUS_DONE) {
        return status;
    }
    firn_store_options options = operand_store_options(s);
    interrupt_catch();
    if (firn_store_open(&store, s->option[OPTION_STORE], &options, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    status = take(s, store, keys, count);
    firn_store_close(store);
    return status;
}
