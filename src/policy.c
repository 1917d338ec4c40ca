/* SPDX-License-Identifier: MIT */
/* Decisions of the keys once the scheme is known: the kind of generator, its bounds, where the
 * sequence of a tick starts. And the refusals that several files share. Knows no store, window or
 * clock reading. */
#include "date_form.h"
#include "duration.h"
#include "entropy.h"
#include "error.h"
#include "fork_memory.h"
#include "gen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- notices --------------------------------------------------------------------------------- */

void firn__gen_notice(const firn_gen *gen, const char *format, ...) {
    char text[300];
    va_list arguments;
    if (gen->notice == NULL) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    gen->notice(gen->notice_self, text);
}

int firn__gen_exhausted(const firn_gen *gen, firn_error *error) {
    if (gen->keys.full_ == FIRN__FULL_FAIL) {
        return firn_error_set(
            error, FIRN_EEXHAUSTED, FIRN_CURE_SLOW_DOWN,
            "IDs of %s are used up in this tick, and full=fail borrows none from "
            "later ticks: try again in the next tick, or set full=wait or more nodes=",
            gen->scheme.name);
    }
    return firn_error_set(error, FIRN_EEXHAUSTED, FIRN_CURE_SLOW_DOWN,
                          "IDs of %s are max_lead=" FIRN__LIMIT("%s") " ahead of the clock",
                          gen->scheme.name, FIRN__MS(gen->keys.max_lead_ms));
}

bool firn__gen_end(const firn_gen *gen, firn_time *end) {
    const uint64_t slots = (uint64_t)gen->slot_end >> gen->s;
    if (gen->scheme.tick_ns != 0 && gen->reserved && slots < gen->tick_end) {
        firn_scheme_time(&gen->scheme, slots, end);
        return true;
    }
    if (gen->scheme.tick_ns == 0 || gen->tick_end == UINT64_MAX) {
        return false;
    }
    firn_scheme_time(&gen->scheme, gen->tick_end, end);
    return true;
}

int firn__gen_ended(const firn_gen *gen, firn_error *error) {
    char when[FIRN_TIME_SIZE];
    firn_time end;
    if (gen->reserved && (uint64_t)gen->slot_end >> gen->s < gen->tick_end &&
        firn__gen_end(gen, &end)) {
        return firn__fail(
            error, FIRN_ELAYOUT,
            "the layout of %.60s has ended: from %s its slots pass 2^62: use fewer sequence "
            "bits, a longer tick or a later epoch=",
            gen->scheme.name, firn_time_format(when, &end, firn_scheme_digits(&gen->scheme)));
    }
    return firn__fail(
        error, FIRN_ELAYOUT,
        "the layout of %s has ended: move to another scheme, epoch= or bits=", gen->scheme.name);
}

/* ---- the random fields of one ID ------------------------------------------------------------- */

int firn__gen_start(const firn_gen *gen, int64_t *start, firn_error *error) {
    uint64_t drawn = 0;
    int code = FIRN_OK;
    if (gen->start == FIRN_START_RANDOM) {
        code = firn__entropy_below(gen->entropy, &drawn, gen->start_below, error);
    } else if (gen->start == FIRN_START_ROLLING) {
        drawn = atomic_fetch_add_explicit(&gen->live->any.rolling, 1, memory_order_relaxed) %
                gen->start_below;
    }
    *start = (int64_t)drawn;
    return code;
}

int firn__gen_random(const firn_gen *gen, firn_value *random, firn_error *error) {
    random->high = 0;
    return gen->max_random == 0
               ? firn__entropy_bits(gen->entropy, random, gen->random_bits, error)
               : firn__entropy_below(gen->entropy, &random->low, gen->max_random + 1, error);
}

/* ---- kind, bounds and start ------------------------------------------------------------------ */

static int set_start(firn_gen *gen, firn_error *error) {
    const char *text = gen->keys.start;
    int64_t below = 0;
    int code = FIRN_OK;
    gen->start = gen->scheme.start;
    gen->start_below = gen->scheme.start_below;
    if (gen->start_below > gen->count_mask + 1) {
        gen->start_below = gen->count_mask + 1; /* bits= made the sequence narrower */
    }
    if (text == NULL) {
        return code;
    }
    uint64_t capacity = gen->s == 0 ? 0 : firn__mask(gen->s) + 1;
    if (strcmp(text, "zero") == 0) {
        gen->start = FIRN_START_ZERO;
    } else if (strcmp(text, "rolling") == 0 && capacity >= 4) {
        gen->start = FIRN_START_ROLLING;
        gen->start_below =
            capacity / 4; /* three quarters of a tick are left even after the last start */
    } else if (strncmp(text, "random:", 7) == 0 && capacity > 0) {
        code = firn__number_read(&below, "start", text + 7, 1, (int64_t)capacity, NULL);
        if (code != FIRN_OK) {
            return firn__fail(error, code,
                              "start=%.40s is not valid: use random:N with N from 1 to %" PRIu64,
                              text, capacity);
        }
        gen->start = FIRN_START_RANDOM;
        gen->start_below = (uint64_t)below;
    } else {
        code = firn__fail(error, FIRN_EUSAGE,
                          "start=%.40s is not valid: use zero, random:N or rolling%s", text,
                          capacity < 4 ? "; random:N and rolling need a sequence" : "");
    }
    return code;
}

/* Refuses layouts that can be read, but not issued. */
static int check_issuable(const firn_gen *gen, firn_error *error) {
    const firn_scheme *scheme = &gen->scheme;
    bool sequence = firn__scheme_role(scheme, FIRN_ROLE_SEQUENCE) >= 0;
    bool counter = firn__scheme_role(scheme, FIRN_ROLE_COUNTER) >= 0;
    if (sequence && counter) {
        return firn__fail(error, FIRN_EUSAGE,
                          "a layout with a sequence and a counter cannot be issued: drop one");
    }
    if (scheme->form != FIRN_FORM_DATED && gen->random_bits > 0 && gen->random_bits < 20 &&
        !sequence && !counter) {
        return firn__fail(error, FIRN_EUSAGE,
                          "%" PRIu32 " random bits are too few, because IDs would collide at once: "
                          "use at least 20, or add a sequence",
                          gen->random_bits);
    }
    return FIRN_OK;
}

int firn__policy_kind(firn_gen *gen, firn_error *error) {
    const firn_scheme *scheme = &gen->scheme;
    uint32_t counter = firn__scheme_role_width(scheme, FIRN_ROLE_COUNTER);
    uint32_t sequence = firn__scheme_role_width(scheme, FIRN_ROLE_SEQUENCE);
    gen->random_bits = firn__scheme_role_width(scheme, FIRN_ROLE_RANDOM);
    if (gen->random_bits > 0 && scheme->form == FIRN_FORM_DATED) {
        gen->max_random =
            firn_scheme_max(scheme, (uint32_t)firn__scheme_role(scheme, FIRN_ROLE_RANDOM)).low;
    }
    gen->count_bits = counter + sequence;
    gen->per_tick = firn__scheme_stride(scheme, FIRN_ROLE_TIME);
    gen->per_count =
        firn__scheme_stride(scheme, counter > 0 ? FIRN_ROLE_COUNTER : FIRN_ROLE_SEQUENCE);
    gen->straight = scheme->bits <= 64 && gen->random_bits == 0 && gen->shuffle.digits == 0 &&
                    gen->per_tick != 0 && (gen->count_bits == 0 || gen->per_count != 0);
    gen->s = sequence;
    gen->count_mask = firn__mask(sequence);
    gen->kind = FIRN__KIND_SLOTS;
    if (counter > 0 || scheme->monotonic) {
        gen->kind = FIRN__KIND_COUNTED;
    } else if (sequence == 0 && gen->random_bits > 0) {
        gen->kind = FIRN__KIND_RANDOM;
    }
    if (scheme->keyed) {
        return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_ORDER_KEY,
                              FIRN__VALUE("%s") " needs a key", scheme->name);
    }
    if (scheme->read_only) {
        return firn__fail(error, FIRN_EUSAGE, "firn reads IDs of %s and does not generate them: %s",
                          scheme->name, scheme->note != NULL ? scheme->note : "use uuid4 or uuid7");
    }
    if (firn__scheme_role(scheme, FIRN_ROLE_DIGEST) >= 0) {
        return firn__fail(error, FIRN_EUSAGE,
                          "%s is a digest: give namespace= and name=", scheme->name);
    }
    if (scheme->tick_ns == 0 && gen->kind != FIRN__KIND_RANDOM) {
        return firn__fail(error, FIRN_EUSAGE,
                          "a layout without time cannot be issued: add time:BITS/TICK");
    }
    if (gen->node_bits > 63) {
        return firn__fail(error, FIRN_EUSAGE,
                          "the node of the layout has %" PRIu32 " bits: use at most 63",
                          gen->node_bits);
    }
    return check_issuable(gen, error);
}

bool firn__gen_is_signed(const firn_gen *gen) {
    const int64_t int64 = gen->keys.unsigned_;
    return int64 == FIRN__UNSIGNED_AUTO ? firn__scheme_is_signed(&gen->scheme)
                                        : int64 == FIRN__UNSIGNED_0 && gen->scheme.bits == 64;
}

/* Can the sign bit of a 64-bit number be set by something other than time or node, which have
 * bounds? */
static bool may_be_negative(const firn_gen *gen) {
    const firn_slice *top = &gen->scheme.slices[0];
    bool time = top->role == FIRN_ROLE_TIME && top->group == 0 &&
                top->from + top->bits == firn__scheme_role_width(&gen->scheme, FIRN_ROLE_TIME);
    return firn__gen_is_signed(gen) && top->role != FIRN_ROLE_CONST &&
           !firn__identity_part(gen, 0) && !time;
}

int firn__policy_bounds(firn_gen *gen, firn_error *error) {
    const firn__keys *keys = &gen->keys;
    gen->tick_end = firn__scheme_tick_end(&gen->scheme, firn__gen_is_signed(gen));
    gen->whole_end = firn__scheme_tick_end(&gen->scheme, false);
    uint64_t most = (uint64_t)(FIRN_SLOT_MAX - 2) >> gen->s;
    gen->slot_end = gen->tick_end > most ? FIRN_SLOT_MAX - 2 : (int64_t)(gen->tick_end << gen->s);
    uint64_t last = firn__mask(firn__scheme_role_width(&gen->scheme, FIRN_ROLE_TIME));
    gen->mark_end = last >= most ? FIRN_SLOT_MAX - 2 : (int64_t)((last + 1) << gen->s);
    gen->lead_ticks =
        keys->full_ == FIRN__FULL_FAIL ? 0 : (uint64_t)firn__ms_ticks(gen, keys->max_lead_ms);
    gen->back_ticks = (uint64_t)firn__ms_ticks(gen, keys->max_back_ms);
    uint64_t reach = gen->lead_ticks + gen->back_ticks +
                     (uint64_t)firn__ms_ticks(gen, firn__reach_usual_ms(gen)) + 4;
    if (reach >= UINT64_C(1) << (61 - gen->s)) {
        return firn__fail(error, FIRN_ERANGE,
                          "%" PRIu32
                          " sequence bits are too many for ticks this short and this max_lead: "
                          "use fewer bits, a longer tick or a lower max_lead",
                          gen->s);
    }
    gen->lead_slots = (int64_t)((gen->lead_ticks + 1) << gen->s);
    gen->ticks_per_s = gen->scheme.tick_ns == 0 ? 0 : 1000000000 / gen->scheme.tick_ns;
    gen->sec_end = UINT64_MAX / (gen->ticks_per_s + 1);
    if (keys->max_lead_ms < keys->max_back_ms) {
        return firn__fail(error, FIRN_ERANGE,
                          "max_lead=%s is below max_back=%s"
                          ": IDs are ahead of the clock after a rollback that is "
                          "absorbed, so lower max_back too",
                          FIRN__MS(keys->max_lead_ms), FIRN__MS(keys->max_back_ms));
    }
    if (may_be_negative(gen)) {
        return firn__fail(
            error, FIRN_ERANGE,
            "IDs of this layout are negative as signed numbers if their top bit is 1: put 0x0:1 "
            "in front, or set unsigned=1");
    }
    for (uint32_t i = 0; keys->clock_ == FIRN__CLOCK_TICK && i < gen->scheme.slice_count; i++) {
        if (gen->scheme.slices[i].role == FIRN_ROLE_TIME && gen->scheme.slices[i].group != 0) {
            return firn__fail(error, FIRN_EUSAGE,
                              "clock=tick removes the low bits of the time, by which %s "
                              "spreads: use fresh or exact",
                              gen->scheme.name);
        }
    }
    if (keys->nodes > 1 && (gen->kind != FIRN__KIND_SLOTS || keys->mode_ == FIRN__MODE_ONLINE)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "nodes=%" PRId64
                          " needs a scheme with a sequence, and mode=window: use nodes=1",
                          keys->nodes);
    }
    int code = set_start(gen, error);
    uint64_t late = gen->start == FIRN_START_ZERO ? 0 : gen->start_below - 1;
    gen->at_once = (uint64_t)gen->lead_slots > late ? gen->lead_slots - (int64_t)late : 1;
    return code;
}

/* The lowest slice of the sequence, or of the time without one, counts the slots; bits above it are
 * of other slices. */
static void set_run(firn_gen *gen) {
    const int role = gen->s > 0 ? FIRN_ROLE_SEQUENCE : FIRN_ROLE_TIME;
    uint32_t position = gen->scheme.bits, bits = 64;
    firn_id step = {0, 0, 0, 0};
    for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
        const firn_slice *slice = &gen->scheme.slices[i];
        position -= slice->bits;
        if (slice->role != role) {
            continue;
        }
        if (slice->group != 0 || gen->shuffle.digits != 0 ||
            (slice->from == 0 && (step.low | step.high) != 0)) {
            return;
        }
        uint32_t end = slice->from; /* of the bits that this slice lets a run have */
        if (slice->from == 0) {
            uint32_t word = position < 64 ? 64 : 128; /* the end of the word that it is in */
            end = position >= 128                 ? 0
                  : word - position < slice->bits ? word - position
                                                  : slice->bits;
            firn__or(&step, (firn_value){1, 0}, position);
        }
        bits = end < bits ? end : bits;
    }
    if ((step.low | step.high) != 0 && bits > 0) {
        gen->run = (firn__run){{step.low, step.high}, firn__mask(bits)};
    }
}

/* The random bits as a mask. */
static void set_masked(firn_gen *gen) {
    firn__random_mask *masked = &gen->masked;
    uint32_t position = gen->scheme.bits;
    firn_id mask = {0, 0, 0, 0};
    for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
        const firn_slice *slice = &gen->scheme.slices[i];
        position -= slice->bits;
        if (slice->role == FIRN_ROLE_RANDOM) {
            firn__or(&mask, firn__mask_wide(slice->bits), position);
        }
    }
    masked->mask = (firn_value){mask.low, mask.high};
    bool wide = mask.high != 0;
    uint64_t upper = wide ? mask.high : mask.low;
    masked->size = wide ? 9 : 1;
    while (!FIRN__BIG_ENDIAN && upper >> 8 != 0) {
        upper >>= 8;
        masked->size++;
    }
    if (FIRN__BIG_ENDIAN) { /* the lowest bits are in the last byte of a word */
        masked->size = wide ? 16 : 8;
    }
    if (gen->random_bits == 0 || mask.top != 0 || gen->max_random != 0 || gen->entropy != NULL ||
        gen->shuffle.digits != 0 || gen->kind == FIRN__KIND_COUNTED || firn__wiped_watch()) {
        masked->size = 0;
    }
}

void firn__policy_way(firn_gen *gen) {
    bool windows =
        gen->kind == FIRN__KIND_SLOTS && !(gen->reserved && gen->keys.mode_ == FIRN__MODE_ONLINE);
    bool coarse = gen->keys.clock_ == FIRN__CLOCK_TICK && gen->clock == &firn__clock_system;
    bool direct = windows && gen->shared == NULL && (gen->cycles || coarse);
    set_masked(gen);
    set_run(gen);
    gen->blocks = gen->keys.ordering_ != FIRN__ORDERING_STRICT;
    if (direct && (gen->random_bits == 0 || gen->masked.size > 0)) {
        gen->way = gen->cycles ? FIRN__WAY_RUN : FIRN__WAY_RUN_TICK;
    } else if (gen->masked.size > 0 && gen->kind == FIRN__KIND_RANDOM) {
        gen->way = gen->scheme.tick_ns == 0 ? FIRN__WAY_UNTIMED : FIRN__WAY_RANDOM;
    } else {
        gen->way = windows ? FIRN__WAY_USUAL : FIRN__WAY_OTHER;
    }
    if (firn__wiped_watch()) { /* the short ways do not look whether this is a child: they find zeros there */
        gen->way = FIRN__WAY_OTHER;
    }
}
