/* SPDX-License-Identifier: MIT */
/* Fuzzes a generator from its configuration on: a scheme, keys, and what then happens to it, a
 * letter each, on their own lines. Clock and entropy are simulated, the store is in memory. No ID
 * comes twice, what fails says so in one short line, and the generator ends without a leak. */
#include "entropy.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define MOST   256 /* IDs of one input */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct world {
    firn_time now;
    int64_t steady_ns;
    uint64_t seed;
    firn_entropy entropy;
    firn_id ids[MOST];
    size_t count;
} world;

static firn_time after(firn_time time, int64_t ns) {
    int64_t sum = time.ns + ns % SECOND;
    int64_t carry = sum < 0 ? -1 : sum / SECOND;
    return (firn_time){time.sec + ns / SECOND + carry, (int32_t)(sum - carry * SECOND)};
}

static int wall(void *self, firn_time *now) {
    (void)self;
    *now = world.now;
    return FIRN_OK;
}

static int steady(void *self, int64_t *ns) {
    (void)self;
    *ns = world.steady_ns;
    return FIRN_OK;
}

static int pause_for(void *self, int64_t ns) {
    (void)self;
    assert(ns >= 0);
    world.steady_ns += ns;
    world.now = after(world.now, ns);
    return FIRN_OK;
}

static void check_said(int code, const firn_error *error) {
    assert(code < 0 && error->code == code);
    assert(strlen(error->text) > 0 && strlen(error->text) < sizeof error->text);
    assert(strchr(error->text, '\n') == NULL);
}

/* A reserving scheme never repeats an ID; the text of any ID reads as the same ID. */
static void take(firn_gen *gen, const firn_id *ids, size_t n) {
    const firn_scheme *scheme = firn_gen_scheme(gen);
    firn_status status = {.size = sizeof status};
    firn_gen_status(gen, &status);
    for (size_t i = 0; i < n && world.count < MOST; i++) {
        assert(ids[i].bits == scheme->bits);
        for (size_t j = 0; status.reserved && j < world.count; j++) {
            assert(firn_id_cmp(&ids[i], &world.ids[j]) != 0);
        }
        world.ids[world.count++] = ids[i];
    }
}

static void live(firn_gen *gen, size_t n) {
    firn_id ids[16];
    firn_error error = {0};
    int code = n == 1 ? firn_next(gen, ids, &error) : firn_next_n(gen, ids, n, &error);
    if (code == FIRN_OK) {
        take(gen, ids, n);
    } else {
        check_said(code, &error);
    }
}

static void dated(firn_gen *gen, int64_t sec, size_t n) {
    firn_id ids[16];
    firn_error error = {0};
    firn_time time = {sec, 0};
    int code = firn_at(gen, &time, ids, n, &error);
    if (code == FIRN_OK) {
        take(gen, ids, n);
    } else {
        check_said(code, &error);
    }
}

static void move(int64_t wall_ns, int64_t steady_ns) {
    world.now = after(world.now, wall_ns);
    world.steady_ns += steady_ns;
}

static void happen(firn_gen *gen, uint8_t what) {
    firn_error error = {0};
    int64_t wait_ms;
    int code;
    switch (what) {
    case 'n':
        live(gen, 1);
        break;
    case 'N':
        live(gen, 16);
        break;
    case 'a':
        dated(gen, world.now.sec - 86400, 1);
        break;
    case 'A':
        dated(gen, world.now.sec - 86400, 16);
        break;
    case 'f':
        dated(gen, INT64_MAX, 1);
        break;
    case 'p':
        dated(gen, INT64_MIN, 1);
        break;
    case 't':
        move(SECOND / 1000, SECOND / 1000);
        break;
    case 's':
        move(SECOND, SECOND);
        break;
    case 'h':
        move(3600 * SECOND, 3600 * SECOND);
        break;
    case 'y':
        move(86400 * 365 * SECOND, 86400 * 365 * SECOND);
        break;
    case 'b':
        move(-SECOND / 1000, 0);
        break;
    case 'B':
        move(-60 * SECOND, 0);
        break;
    case 'j':
        move(60 * SECOND, 0);
        break;
    case 'k':
        code = firn_gen_step(gen, &wait_ms, &error);
        if (code != FIRN_OK) {
            check_said(code, &error);
        }
        break;
    default:
        break;
    }
}

static void notice(void *self, const char *text) {
    (void)self;
    assert(strlen(text) > 0 && strchr(text, '\n') == NULL);
}

/* Everything up to the end of the line, which becomes the end of a text. */
static char *line(char **rest) {
    char *text = *rest, *end = strchr(text, '\n');
    *rest = end == NULL ? text + strlen(text) : end + 1;
    if (end != NULL) {
        *end = '\0';
    }
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    firn_error error = {0};
    firn_store *store;
    firn_gen *gen = NULL;
    assert(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    char *rest = text;
    const char *scheme = line(&rest), *keys = line(&rest);
    if (strstr(scheme, "host") != NULL || strstr(keys, "store=") != NULL) {
        free(text); /* files of this machine must not be inputs */
        return 0;
    }
    world = (struct world){.now = {1760000000, 123456789}, .steady_ns = 77 * SECOND, .seed = size};
    world.entropy = firn__entropy_seeded(&world.seed);
    assert(firn_store_open(&store, "memory:", NULL, &error) == FIRN_OK);
    const firn_clock clock = {1, NULL, wall, steady, pause_for};
    const firn_config config = {.size = sizeof config,
                                .scheme = scheme,
                                .keys = keys,
                                .store = store,
                                .clock = &clock,
                                .entropy = &world.entropy,
                                .notice = notice,
                                .note = "fuzz"};
    int code = firn_open_with(&gen, &config, &error);
    if (code == FIRN_OK) {
        for (; *rest != '\0' && world.count < MOST; rest++) {
            happen(gen, (uint8_t)*rest);
        }
        code = firn_close(gen, &error);
        if (code != FIRN_OK) {
            check_said(code, &error);
        }
    } else {
        check_said(code, &error);
        assert(gen == NULL);
    }
    firn_store_close(store);
    free(text);
    return 0;
}
