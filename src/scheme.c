/* SPDX-License-Identifier: MIT */
/* Schemes: the table expanded to rows and straight-line packers, and pure functions over a row:
 * pack, unpack, bounds, look-up, a user's own row. Draws no randomness, reads no clock, keeps no
 * state. */
#include "scheme.h"

#include "dated.h"
#include "error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the table ------------------------------------------------------------------------------- */

/* The words of schemes.def, all in terms of SLICE(role, name, from, bits, group, value). */
#define CONST(name, value, bits)      SLICE(CONST, name, 0, bits, 0, value)
#define TIME(bits)                    SLICE(TIME, "time", 0, bits, 0, 0)
#define TIME_AT(from, bits)           SLICE(TIME, "time", from, bits, 0, 0)
#define TIME_MIRRORED(bits, group)    SLICE(TIME, "time", 0, bits, group, 0)
#define SEQUENCE(bits)                SLICE(SEQUENCE, "sequence", 0, bits, 0, 0)
#define SEQUENCE_AT(from, bits)       SLICE(SEQUENCE, "sequence", from, bits, 0, 0)
#define COUNTER(bits)                 SLICE(COUNTER, "counter", 0, bits, 0, 0)
#define COUNTER_MIRRORED(bits, group) SLICE(COUNTER, "counter", 0, bits, group, 0)
#define RANDOM(bits)                  SLICE(RANDOM, "random", 0, bits, 0, 0)
#define RANDOM_AT(from, bits)         SLICE(RANDOM, "random", from, bits, 0, 0)
#define DIGEST_AT(from, bits)         SLICE(DIGEST, "digest", from, bits, 0, 0)
#define NODE(name, bits)              SLICE(NODE, name, 0, bits, 0, 0)
#define NODE_AT(name, from, bits)     SLICE(NODE, name, from, bits, 0, 0)
#define ADDRESS(name, bits)           SLICE(ADDRESS, name, 0, bits, 0, 0)
#define PROCESS(name, bits)           SLICE(PROCESS, name, 0, bits, 0, 0)
#define USER(name, bits)              SLICE(USER, name, 0, bits, 0, 0)
#define EPOCH(seconds, nanoseconds)                                                                \
    { (seconds), (nanoseconds) }

enum {
    TICK_NONE = 0,
    TICK_S = 1000000000,
    TICK_CS = 10000000,
    TICK_MS = 1000000,
    TICK_US = 1000,
    TICK_HNS = 100
};

/* Numbers of the rows. */
#define SCHEME(id, text, width, tick, epoch, slices, ...) ROW_##id,
enum {
#include "schemes.def"
    ROW_COUNT
};
#undef SCHEME

/* Widths add up, checked where they are written. */
#define SLICE(role, name, from, width, group, value) +(width)
#define SCHEME(id, text, width, tick, epoch, slices, ...)                                          \
    _Static_assert((width) == 0 slices, text ": the widths of the slices must add up");            \
    _Static_assert((width) <= 160 && sizeof(text) <= FIRN_NAME_SIZE, text ": too long");
#include "schemes.def"
#undef SLICE
#undef SCHEME

/* How many slices each row has. */
#define SLICE(role, name, from, width, group, value)      +1
#define SCHEME(id, text, width, tick, epoch, slices, ...) SLICES_##id = 0 slices,
enum {
#include "schemes.def"
};
#undef SLICE
#undef SCHEME

/* The rows. */
#define SLICE(role, name, from, width, group, value)                                               \
    {name, FIRN_ROLE_##role, width, from, group, value},
#define SCHEME(id, text, width, tick, epoch_, slices_, ...)                                        \
    {.name = text,                                                                                 \
     .bits = width,                                                                                \
     .tick_ns = TICK_##tick,                                                                       \
     .epoch = epoch_,                                                                              \
     .slice_count = SLICES_##id,                                                                   \
     .slices = {slices_},                                                                          \
     .packer = ROW_##id,                                                                           \
     __VA_ARGS__},
static const firn_scheme rows[ROW_COUNT] = {
#include "schemes.def"
};
#undef SLICE
#undef SCHEME

/* The packers: one straight line a row. Slices that are not of the draw are 0 and cost nothing. */
static inline firn_value draw_mirrored(uint64_t value, uint32_t from, uint32_t bits,
                                       uint32_t group) {
    firn_value whole = {value, 0};
    firn_value part = firn__part(whole, from, bits);
    if (group > 0) {
        part.low = firn__mirror(part.low, bits, group);
    }
    return part;
}

#define DRAW_CONST(from, bits, group)    ((firn_value){0, 0})
#define DRAW_NODE(from, bits, group)     ((firn_value){0, 0})
#define DRAW_ADDRESS(from, bits, group)  ((firn_value){0, 0})
#define DRAW_PROCESS(from, bits, group)  ((firn_value){0, 0})
#define DRAW_USER(from, bits, group)     ((firn_value){0, 0})
#define DRAW_DIGEST(from, bits, group)   ((firn_value){0, 0})
#define DRAW_TIME(from, bits, group)     draw_mirrored(draw->tick, from, bits, group)
#define DRAW_SEQUENCE(from, bits, group) draw_mirrored(draw->count, from, bits, group)
#define DRAW_COUNTER(from, bits, group)  draw_mirrored(draw->count, from, bits, group)
#define DRAW_RANDOM(from, bits, group)   firn__part(draw->random, from, bits)

#define SLICE(role, name, from, width, group, value)                                               \
    firn__push(&id, DRAW_##role(from, width, group), width);
#define SCHEME(name, text, width, tick, epoch, slices, ...)                                        \
    static void pack_##name(firn_id *out, const firn_scheme *scheme, const firn__draw *draw,       \
                            const firn_id *base) {                                                 \
        firn_id id = {0, 0, 0, width};                                                             \
        (void)scheme;                                                                              \
        (void)draw;                                                                                \
        slices;                                                                                    \
        firn__join(&id, base); /* in registers: a join in memory would wait for its own stores */  \
        *out = id;                                                                                 \
    }
#include "schemes.def"
#undef SLICE
#undef SCHEME

#define SCHEME(name, text, width, tick, epoch, slices, ...) pack_##name,
static firn__packer *const packers[ROW_COUNT] = {
#include "schemes.def"
};
#undef SCHEME

/* time-random with another number of digits: the same row, its random field as wide as they need.
 * Constants, because firn_guess points at them. */
#define DIGITS(width)                                                                              \
    {.name = "time-random",                                                                        \
     .bits = FIRN__DATED_TIME + (width),                                                           \
     .tick_ns = TICK_MS,                                                                           \
     .slice_count = 2,                                                                             \
     .slices = {{"time", FIRN_ROLE_TIME, FIRN__DATED_TIME, 0, 0, 0},                               \
                {"random", FIRN_ROLE_RANDOM, width, 0, 0, 0}},                                     \
     .packer = -1,                                                                                 \
     TIME_RANDOM},
static const firn_scheme digits_rows[FIRN__DATED_DIGITS] = {
    DIGITS(4) DIGITS(7) DIGITS(10) DIGITS(14) DIGITS(17) DIGITS(20) DIGITS(24) DIGITS(27) DIGITS(30)
        DIGITS(34) DIGITS(37) DIGITS(40) DIGITS(44) DIGITS(47) DIGITS(50) DIGITS(54) DIGITS(57)
            DIGITS(60)};

const firn_scheme *firn__scheme_digits(uint32_t digits) {
    const firn_scheme *row = &rows[ROW_time_random];
    return firn__dated_digits(row->bits) == digits ? row : &digits_rows[digits - 1];
}

const firn_scheme *firn_scheme_at(size_t i) {
    return i < ROW_COUNT ? &rows[i] : NULL;
}

const firn_scheme *firn_scheme_find(const char *name) {
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

/* ---- slices and fields ----------------------------------------------------------------------- */

uint32_t firn_scheme_first(const firn_scheme *scheme, uint32_t i) {
    for (uint32_t j = 0; j < i; j++) {
        if (scheme->slices[j].role != FIRN_ROLE_CONST &&
            strcmp(scheme->slices[j].name, scheme->slices[i].name) == 0) {
            return j;
        }
    }
    return i;
}

uint32_t firn_scheme_width(const firn_scheme *scheme, uint32_t i) {
    uint32_t width = 0;
    for (uint32_t j = i; j < scheme->slice_count; j++) {
        const firn_slice *slice = &scheme->slices[j];
        uint32_t end = (uint32_t)slice->from + slice->bits;
        if (firn_scheme_first(scheme, j) == i && end > width) {
            width = end;
        }
    }
    return width;
}

firn_value firn_scheme_max(const firn_scheme *scheme, uint32_t i) {
    int role = scheme->slices[i].role;
    if (scheme->form == FIRN_FORM_DATED && role == FIRN_ROLE_TIME) {
        return (firn_value){FIRN__DATED_END - 1, 0};
    }
    if (scheme->form == FIRN_FORM_DATED && role == FIRN_ROLE_RANDOM) {
        return (firn_value){firn__power_of_ten(firn__dated_digits(scheme->bits)) - 1, 0};
    }
    return firn__mask_wide(firn_scheme_width(scheme, i));
}

bool firn__above(firn_value value, firn_value most) {
    return value.high > most.high || (value.high == most.high && value.low > most.low);
}

int firn_scheme_field(const firn_scheme *scheme, const char *name) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (name[0] != '\0' && strcmp(scheme->slices[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int firn__scheme_role(const firn_scheme *scheme, int role) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role == role) {
            return (int)i;
        }
    }
    return -1;
}

uint32_t firn__scheme_role_width(const firn_scheme *scheme, int role) {
    int i = firn__scheme_role(scheme, role);
    return i < 0 ? 0 : firn_scheme_width(scheme, (uint32_t)i);
}

bool firn__scheme_is_node(const firn_scheme *scheme, uint32_t i) {
    int role = scheme->slices[i].role;
    return scheme->node_rule != FIRN_NODE_NONE &&
           (role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS);
}

uint32_t firn__scheme_node_bits(const firn_scheme *scheme) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        bits += firn__scheme_is_node(scheme, i) ? scheme->slices[i].bits : 0;
    }
    return bits;
}

bool firn__names_hold(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; at != NULL && *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == length && memcmp(at, name, length) == 0) {
            return true;
        }
        at += word + strspn(at + word, " ");
    }
    return false;
}

void firn__fields_put(firn_fields *fields, uint32_t i, firn_value value) {
    fields->value[i] = value;
    fields->given |= UINT32_C(1) << i;
}

/* ---- pack and unpack ------------------------------------------------------------------------- */

/* The bits that slice i of the ID holds, of a value of its field. */
static firn_value slice_bits(const firn_slice *slice, firn_value value) {
    firn_value part = firn__part(value, slice->from, slice->bits);
    if (slice->group > 0) {
        part.low = firn__mirror(part.low, slice->bits, slice->group);
    }
    return part;
}

void firn__pack_given(firn_id *id, const firn_scheme *scheme, const firn_fields *fields) {
    firn_id out = {0, 0, 0, scheme->bits};
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        uint32_t first = firn_scheme_first(scheme, i);
        firn_value value = {slice->value, 0};
        if (slice->role != FIRN_ROLE_CONST) {
            bool given = fields->given >> first & 1;
            value = given ? slice_bits(slice, fields->value[first]) : (firn_value){0, 0};
        }
        firn__push(&out, value, slice->bits);
    }
    *id = out;
}

/* The packer of layouts that are not of the table: the row is walked. */
static void pack_walking(firn_id *id, const firn_scheme *scheme, const firn__draw *draw,
                         const firn_id *base) {
    firn_id out = {0, 0, 0, scheme->bits};
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        firn_value value = {0, 0};
        if (slice->role == FIRN_ROLE_TIME) {
            value.low = draw->tick;
        } else if (slice->role == FIRN_ROLE_SEQUENCE || slice->role == FIRN_ROLE_COUNTER) {
            value.low = draw->count;
        } else if (slice->role == FIRN_ROLE_RANDOM) {
            value = draw->random;
        }
        firn__push(&out, slice_bits(slice, value), slice->bits);
    }
    firn__join(&out, base);
    *id = out;
}

firn__packer *firn__scheme_packer(const firn_scheme *scheme) {
    return scheme->packer >= 0 ? packers[scheme->packer] : pack_walking;
}

int firn__refuse_above(const firn_scheme *scheme, uint32_t i, firn_error *error) {
    char most[FIRN_VALUE_SIZE];
    firn_fields top = {0, {{0, 0}}};
    firn__fields_put(&top, i, firn_scheme_max(scheme, i));
    return firn__fail(error, FIRN_ERANGE, "%s does not fit the %" PRIu32 " bits of %s: at most %s",
                      scheme->slices[i].name, firn_scheme_width(scheme, i), scheme->name,
                      firn_fields_get(most, &top, scheme, i));
}

int firn_pack(firn_id *id, const firn_scheme *scheme, const firn_fields *fields,
              firn_error *error) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        if (slice->role == FIRN_ROLE_CONST || firn_scheme_first(scheme, i) != i) {
            continue;
        }
        if (!(fields->given >> i & 1)) {
            return firn__fail(error, FIRN_EUSAGE, "%s needs %s: give %s=VALUE", scheme->name,
                              slice->name, slice->name);
        }
        if (firn__above(fields->value[i], firn_scheme_max(scheme, i))) {
            return firn__refuse_above(scheme, i, error);
        }
    }
    firn__pack_given(id, scheme, fields);
    return FIRN_OK;
}

int firn_unpack(firn_fields *fields, const firn_scheme *scheme, const firn_id *id,
                firn_error *error) {
    firn_fields out = {0, {{0, 0}}};
    uint32_t position = scheme->bits;
    if (id->bits != scheme->bits) {
        return firn__fail(error, FIRN_EMISMATCH,
                          "the ID has %" PRIu32 " bits, %s has %" PRIu32 ": name another scheme",
                          id->bits, scheme->name, scheme->bits);
    }
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        position -= slice->bits;
        firn_value part = firn__get(id, position, slice->bits);
        if (slice->role == FIRN_ROLE_CONST) {
            if (part.low != slice->value) {
                return firn__fail(error, FIRN_EMISMATCH,
                                  "%s is 0x%" PRIx64 ", %s has 0x%" PRIx64
                                  " there: name another scheme",
                                  slice->name[0] ? slice->name : "a constant", part.low,
                                  scheme->name, slice->value);
            }
            continue;
        }
        if (slice->group > 0) {
            part.low = firn__mirror(part.low, slice->bits, slice->group);
        }
        uint32_t first = firn_scheme_first(scheme, i);
        part = firn__up(part, slice->from);
        out.value[first].low |= part.low;
        out.value[first].high |= part.high;
        out.given |= UINT32_C(1) << first;
    }
    for (uint32_t i = 0; scheme->form == FIRN_FORM_DATED && i < scheme->slice_count; i++) {
        if (firn__above(out.value[i], firn_scheme_max(scheme, i))) {
            return firn__fail(error, FIRN_EMISMATCH,
                              "%s is %" PRIu64 ", %s has at most %" PRIu64
                              " there: name another scheme",
                              scheme->slices[i].name, out.value[i].low, scheme->name,
                              firn_scheme_max(scheme, i).low);
        }
    }
    *fields = out;
    return FIRN_OK;
}

/* ---- time ------------------------------------------------------------------------------------ */

uint64_t firn__scheme_tick_end(const firn_scheme *scheme, bool whole) {
    uint32_t width = firn__scheme_role_width(scheme, FIRN_ROLE_TIME);
    if (scheme->form == FIRN_FORM_DATED) {
        return FIRN__DATED_END;
    }
    if (!whole && scheme->form == FIRN_FORM_DEC && scheme->bits == 64 &&
        scheme->slices[0].role == FIRN_ROLE_TIME && scheme->slices[0].group == 0 &&
        (uint32_t)scheme->slices[0].from + scheme->slices[0].bits == width) {
        width--; /* the top bit of the time is the sign of the number */
    }
    return width >= 64 ? UINT64_MAX : UINT64_C(1) << width;
}

bool firn_scheme_end(const firn_scheme *scheme, bool whole, firn_time *end) {
    uint64_t tick = firn__scheme_tick_end(scheme, whole);
    if (scheme->tick_ns == 0 || tick == UINT64_MAX) {
        return false;
    }
    firn_scheme_time(scheme, tick, end);
    return true;
}

/* How many seconds behind the epoch an instant can be, with one to carry. */
static uint64_t most_seconds(const firn_scheme *scheme) {
    return (uint64_t)INT64_MAX - (uint64_t)scheme->epoch.sec - 1;
}

bool firn__scheme_times_fit(const firn_scheme *scheme) {
    uint64_t per_s = scheme->tick_ns == 0 ? 1 : 1000000000 / scheme->tick_ns;
    return firn__scheme_tick_end(scheme, true) / per_s <= most_seconds(scheme);
}

void firn_scheme_time(const firn_scheme *scheme, uint64_t tick, firn_time *time) {
    uint64_t per_s = scheme->tick_ns == 0 ? 1 : 1000000000 / scheme->tick_ns;
    int64_t ns = scheme->epoch.ns + (int64_t)(tick % per_s * scheme->tick_ns);
    int64_t carry = ns >= 1000000000;
    if (tick / per_s > most_seconds(scheme)) { /* no tick of a layout: firn_scheme_make looks */
        *time = (firn_time){INT64_MAX, 999999999};
        return;
    }
    time->sec = (int64_t)((uint64_t)scheme->epoch.sec + tick / per_s + (uint64_t)carry);
    time->ns = (int32_t)(ns - carry * 1000000000);
}

int firn_scheme_digits(const firn_scheme *scheme) {
    switch (scheme->tick_ns) {
    case TICK_CS:
        return 2;
    case TICK_MS:
        return 3;
    case TICK_US:
        return 6;
    case TICK_HNS:
        return 7;
    default:
        return 0;
    }
}

/* Ticks from the epoch to `time`, floored, or ceiled with `up`. False: before the epoch, or
 * above 64 bits. */
static bool ticks_until(const firn_scheme *scheme, const firn_time *time, bool up, uint64_t *tick) {
    uint64_t per_s = 1000000000 / scheme->tick_ns;
    int64_t ns = (int64_t)time->ns - scheme->epoch.ns;
    bool borrow = ns < 0;
    if (firn_time_cmp(time, &scheme->epoch) < 0) {
        return false;
    }
    ns += borrow ? 1000000000 : 0;
    uint64_t sec = (uint64_t)time->sec - (uint64_t)scheme->epoch.sec - borrow;
    uint64_t part = (uint64_t)ns / scheme->tick_ns + (up && (uint64_t)ns % scheme->tick_ns != 0);
    if (sec > (UINT64_MAX - part) / per_s) {
        return false;
    }
    *tick = sec * per_s + part;
    return true;
}

static int check_ns(const firn_time *time, firn_error *error) {
    return time->ns >= 0 && time->ns < 1000000000
               ? FIRN_OK
               : firn__fail(error, FIRN_ERANGE,
                            "%" PRId32 " ns of a second are out of range (0 to 999999999): carry "
                            "what is beyond into the seconds",
                            time->ns);
}

static int outside(const firn_scheme *scheme, const firn_time *time, firn_error *error) {
    char when[FIRN_TIME_SIZE], epoch[FIRN_TIME_SIZE], last[FIRN_TIME_SIZE] = "the end of time";
    int digits = firn_scheme_digits(scheme);
    firn_time end;
    firn_time_format(epoch, &scheme->epoch, digits);
    if (firn_scheme_end(scheme, true, &end)) {
        firn_time_format(last, &end, digits);
    }
    return firn__fail(
        error, FIRN_ELAYOUT,
        "%s is outside %s, which holds %s up to %s: take another scheme, epoch= or bits=",
        firn_time_format(when, time, digits), scheme->name, epoch, last);
}

int firn_scheme_tick(const firn_scheme *scheme, const firn_time *time, uint64_t *tick,
                     firn_error *error) {
    uint64_t ticks, end = firn__scheme_tick_end(scheme, true);
    if (scheme->tick_ns == 0) {
        return firn__fail(error, FIRN_EUSAGE, "%s has no time: leave time out", scheme->name);
    }
    int code = check_ns(time, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (!ticks_until(scheme, time, false, &ticks) || (end != UINT64_MAX && ticks >= end)) {
        return outside(scheme, time, error);
    }
    *tick = ticks;
    return FIRN_OK;
}

/* ---- bounds and conversions ------------------------------------------------------------------ */

/* The index of the time slice if IDs of an interval lie together: everything before it must then
 * be pinned. -1: they do not. */
static int leading_time(const firn_scheme *scheme) {
    int time = firn__scheme_role(scheme, FIRN_ROLE_TIME);
    uint32_t expected = time < 0 ? 0 : firn_scheme_width(scheme, (uint32_t)time);
    for (int i = 0; i < time; i++) {
        int role = scheme->slices[i].role;
        if (role == FIRN_ROLE_SEQUENCE || role == FIRN_ROLE_COUNTER || role == FIRN_ROLE_RANDOM) {
            return -1; /* changes from ID to ID: nobody can pin it */
        }
    }
    for (uint32_t i = (uint32_t)(time < 0 ? 0 : time); time >= 0 && i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        bool is_time = slice->role == FIRN_ROLE_TIME;
        if (is_time && (slice->group != 0 || (uint32_t)slice->from + slice->bits != expected)) {
            return -1; /* mirrored, or not from its top down */
        }
        if (is_time) {
            expected = slice->from;
        } else if (slice->role != FIRN_ROLE_CONST && expected > 0) {
            return -1; /* something between two parts of the time */
        }
    }
    return time;
}

static int pin_leading(firn_fields *least, firn_fields *greatest, const firn_scheme *scheme,
                       const firn_fields *pinned, int time, firn_error *error) {
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        bool given = pinned != NULL && (pinned->given >> i & 1);
        uint32_t width = firn_scheme_width(scheme, i);
        if (slice->role == FIRN_ROLE_CONST || slice->role == FIRN_ROLE_TIME ||
            firn_scheme_first(scheme, i) != i) {
            continue;
        }
        if (i < (uint32_t)time && !given) {
            return firn__fail(error, FIRN_EUSAGE,
                              "%s stands before the time in %s: pin it, %s=VALUE, and ask once "
                              "for each value",
                              slice->name, scheme->name, slice->name);
        }
        if (given && !firn__fits(pinned->value[i], width)) {
            return firn__fail(error, FIRN_ERANGE, "%s does not fit the %" PRIu32 " bits of %s",
                              slice->name, width, scheme->name);
        }
        if (given && i > (uint32_t)time) {
            return firn__fail(error, FIRN_EUSAGE,
                              "%s stands behind the time in %s: leave it out, the range holds "
                              "every value of it",
                              slice->name, scheme->name);
        }
        firn__fields_put(least, i, given ? pinned->value[i] : (firn_value){0, 0});
        firn__fields_put(greatest, i, given ? pinned->value[i] : firn_scheme_max(scheme, i));
    }
    return FIRN_OK;
}

int firn_range(firn_id *least, firn_id *greatest, const firn_scheme *scheme,
               const firn_fields *pinned, const firn_time *from, const firn_time *to,
               firn_error *error) {
    firn_fields low = {0, {{0, 0}}}, high = {0, {{0, 0}}};
    uint64_t first, end, layout_end = firn__scheme_tick_end(scheme, true);
    int time = leading_time(scheme);
    if (scheme->tick_ns == 0) {
        return firn__fail(error, FIRN_EUNSORTED, "%s has no time, so no range: store the time too",
                          scheme->name);
    }
    if (time < 0) {
        bool uuid1 = strcmp(scheme->name, "uuid1") == 0;
        return firn__fail(error, FIRN_EUNSORTED, "IDs of %s do not lie together by time: %s",
                          scheme->name,
                          uuid1 ? "convert to uuid6 or uuid1-swapped and bound those"
                                : "compare the time that show gives, or keep a time column");
    }
    int code = check_ns(from, error);
    code = code == FIRN_OK ? check_ns(to, error) : code;
    if (code != FIRN_OK) {
        return code;
    }
    if (firn_time_cmp(from, to) >= 0) {
        return firn__fail(error, FIRN_EUSAGE,
                          "the range is empty: FROM must be before TO, which is not included");
    }
    if (!ticks_until(scheme, from, false, &first) ||
        (layout_end != UINT64_MAX && first >= layout_end)) {
        return outside(scheme, from, error);
    }
    if (!ticks_until(scheme, to, true, &end) || (layout_end != UINT64_MAX && end > layout_end)) {
        return outside(scheme, to, error);
    }
    code = pin_leading(&low, &high, scheme, pinned, time, error);
    if (code != FIRN_OK) {
        return code;
    }
    firn__fields_put(&low, (uint32_t)time, (firn_value){first, 0});
    firn__fields_put(&high, (uint32_t)time, (firn_value){end - 1, 0});
    firn__pack_given(least, scheme, &low);
    firn__pack_given(greatest, scheme, &high);
    return FIRN_OK;
}

int firn_convert(firn_id *out, const firn_scheme *to, const firn_id *id, const firn_scheme *from,
                 firn_error *error) {
    firn_fields in, fields = {0, {{0, 0}}};
    int code = firn_unpack(&in, from, id, error);
    if (code != FIRN_OK) {
        return code;
    }
    bool same = to->tick_ns == from->tick_ns && firn_time_cmp(&to->epoch, &from->epoch) == 0 &&
                to->bits == from->bits;
    for (uint32_t i = 0; i < from->slice_count; i++) {
        const firn_slice *slice = &from->slices[i];
        if (slice->role == FIRN_ROLE_CONST || firn_scheme_first(from, i) != i) {
            continue;
        }
        int other = firn_scheme_field(to, slice->name);
        same = same && other >= 0 && to->slices[other].role == slice->role &&
               firn_scheme_width(to, (uint32_t)other) == firn_scheme_width(from, i);
        if (same) {
            firn__fields_put(&fields, (uint32_t)other, in.value[i]);
        }
    }
    if (!same || firn_pack(out, to, &fields, NULL) != FIRN_OK) {
        return firn__fail(error, FIRN_EUSAGE,
                          "%s does not convert to %s, whose fields differ: keep its bits in a form "
                          "such as uuid or hex; only uuid1, uuid6 and uuid1-swapped convert",
                          from->name, to->name);
    }
    return FIRN_OK;
}
