/* SPDX-License-Identifier: MIT */
/* Order numbers: see order.h. The key never comes from an argument, which everybody on the machine
 * could read, and is wiped as soon as the library has it. */
#include "order.h"

#include "numbers.h"
#include "shared/interrupt.h"
#include "shared/json.h"
#include "shared/key_file.h"
#include "shared/operands.h"
#include "store/blocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 12, KEY_DIGITS = 32, FILE_SIZE = 64, KEYS_SIZE = 256 };

static const char *const shape_names[] = {"digits", "key_id", "check", "tweak", NULL};

/* ---- the key --------------------------------------------------------------------------------- */

/* Exactly 32 hex digits. */
static bool parse_key(uint8_t key[16], const char *text, size_t length) {
    firn_id id;
    uint8_t bytes[20];
    bool is =
        length == KEY_DIGITS && firn_parse(&id, FIRN_FORM_HEX, 128, text, length, NULL) == FIRN_OK;
    if (is) {
        firn_id_bytes(bytes, &id);
        memcpy(key, bytes, 16);
        explicit_bzero(bytes, sizeof bytes);
        explicit_bzero(&id, sizeof id);
    }
    return is;
}

static int read_file(session *s, uint8_t key[16], const char *name) {
    char text[FILE_SIZE];
    int status = key_file_read(s, text, sizeof text, name, "32 hex digits");
    if (status == STATUS_DONE && !parse_key(key, text, strlen(text))) {
        status = fail_usage(s, "%.80s contains no secret key: write 32 hex digits and nothing else",
                            name);
    }
    explicit_bzero(text, sizeof text);
    return status;
}

static int read_key(session *s, uint8_t key[16]) {
    const char *name = s->option[OPTION_KEY_FILE];
    char *environment = getenv("FIRN_ORDER_KEY");
    if (name != NULL) {
        return read_file(s, key, name);
    }
    if (environment == NULL || environment[0] == '\0') {
        return fail_usage(
            s, "order numbers need a secret key: add --key-file FILE with 32 hex digits, or "
               "set FIRN_ORDER_KEY");
    }
    bool is = parse_key(key, environment, strlen(environment));
    explicit_bzero(environment, strlen(environment)); /* others of this user can read it too */
    return is ? STATUS_DONE
              : fail_usage(s, "FIRN_ORDER_KEY is not a secret key: set it to 32 hex digits");
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The words that make the shape, for the library. */
static int join_shape(session *s, const char *const *also, char keys[KEYS_SIZE]) {
    int status = key_refuse_argument(s, "--key-file FILE or FIRN_ORDER_KEY");
    for (size_t i = s->plain_count; status == STATUS_DONE && i < s->operand_count; i++) {
        const char *word = s->operands[i];
        if (!operand_is_one_of(word, shape_names) && !operand_is_one_of(word, also)) {
            return fail_usage(s, "order has no setting '%.60s': see firn %s --help", word,
                              s->command->name);
        }
    }
    return status == STATUS_DONE ? operands_join(s, also, 0, keys, KEYS_SIZE) : status;
}

int order_open(session *s, const char *const *also, firn_order **order) {
    char keys[KEYS_SIZE];
    uint8_t key[16] = {0};
    firn_error error;
    if (s->option[OPTION_AS] != NULL) {
        return fail_usage(s, "order is always decimal: remove --as");
    }
    int status = join_shape(s, also, keys);
    if (status == STATUS_DONE) {
        status = read_key(s, key);
    }
    if (status == STATUS_DONE) {
        int code = firn_order_open(order, keys, key, NULL, &error);
        if (argument_code(code, &error) != FIRN_OK) {
            status = fail(s, &error);
        }
    }
    explicit_bzero(key, sizeof key);
    return status;
}

/* ---- issuing --------------------------------------------------------------------------------- */

int order_put(session *s, firn_order *order, const firn_scheme *scheme, uint64_t integer,
              firn_error *error) {
    char text[FIRN_ORDER_SIZE];
    firn_reading reading = {scheme, scheme->form, FIRN_CERTAIN, {integer, 0, 0, scheme->bits}};
    int code = firn_order_write(order, text, integer, error);
    if (code == FIRN_OK && s->option[OPTION_JSON] != NULL) {
        json_line(&s->out, object_of_id(text, &reading, 1));
    } else if (code == FIRN_OK) {
        output_print(&s->out, "%s\n", text);
    }
    return code;
}

/* The cipher and scheme with which an integer is written. */
typedef struct numbering {
    firn_order *order;
    const firn_scheme *scheme;
} numbering;

static int put_one(session *s, void *context, int64_t value, firn_error *error) {
    const numbering *with = context;
    return order_put(s, with->order, with->scheme, (uint64_t)value, error);
}

static int issue_from(session *s, firn_order *order, const firn_scheme *scheme, firn_store *store,
                      int64_t count) {
    const char *series = operand_value(s, "series"), *start = operand_value(s, "start");
    uint64_t least = 1;
    firn_segment *range;
    firn_error error;
    if (start != NULL && (!number_whole(&least, start) || least > INT64_MAX)) {
        return fail_usage(s, "start=%.60s is not valid: use an integer from 0 up", start);
    }
    int code = firn_order_series(order, &range, series != NULL ? series : "order", (int64_t)least,
                                 store, &error);
    if (argument_code(code, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    numbering with = {order, scheme};
    int status = start != NULL ? blocks_note_start(s, range, (int64_t)least) : STATUS_DONE;
    status = status == STATUS_DONE ? blocks_take(s, range, count, BLOCK, put_one, &with) : status;
    code = firn_segment_close(range, &error);
    return code == FIRN_OK ? status : worse(status, fail(s, &error));
}

int order_issue(session *s, const firn_scheme *scheme, int64_t count) {
    static const char *const also[] = {"series", "start", NULL};
    firn_order *order;
    firn_store *store;
    int status = order_open(s, also, &order);
    if (status != STATUS_DONE) {
        return status;
    }
    interrupt_catch(&s->out);
    status = operand_store(s, &store, operand_store_url(s), false);
    if (status == STATUS_DONE) {
        status = issue_from(s, order, scheme, store, count);
        firn_store_close(store);
    }
    firn_order_close(order);
    return status;
}
