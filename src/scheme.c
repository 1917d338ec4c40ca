/* SPDX-License-Identifier: MIT */
/* Schemes: the list of schemes.def with a straight-line packer for each, and functions that ask a
 * scheme about its slices and its time. Pure. Values of fields are in fields.c, layouts as text in
 * layout.c. */
#include "scheme.h"

#include "date_form.h"
#include "error.h"
#include "instant.h"
#include "number.h"

#include <assert.h>
#include <string.h>

/* ---- the list -------------------------------------------------------------------------------- */

/* The words of schemes.def, in terms of SLICE(role, name, from, bits, group, value). */
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

/* The index of each scheme. */
#define SCHEME(id, text, width, tick, epoch, slices, ...) LIST_##id,
enum {
#include "schemes.def"
    LIST_COUNT
};

/* The widths must add up. */
#define SLICE(role, name, from, width, group, value) +(width)
#define SCHEME(id, text, width, tick, epoch, slices, ...)                                          \
    _Static_assert((width) == 0 slices, text ": the widths of the slices must add up");            \
    _Static_assert((width) <= 160 && sizeof(text) <= FIRN_NAME_SIZE, text ": too long");
#include "schemes.def"

/* The number of slices of each scheme. */
#define SLICE(role, name, from, width, group, value)      +1
#define SCHEME(id, text, width, tick, epoch, slices, ...) SLICES_##id = 0 slices,
enum {
#include "schemes.def"
};

/* The schemes; in the WebAssembly module of the package without the texts that nothing there shows. */
#ifdef FIRN_TERSE
#define TOLD , .note = NULL, .source = NULL
#else
#define TOLD
#endif
#define SLICE(role, name, from, width, group, value)                                               \
    {name, FIRN_ROLE_##role, width, from, group, value},
#define SCHEME(id, text, width, tick, epoch_, slices_, ...)                                        \
    {.name = text,                                                                                 \
     .bits = width,                                                                                \
     .tick_ns = TICK_##tick,                                                                       \
     .epoch = epoch_,                                                                              \
     .slice_count = SLICES_##id,                                                                   \
     .slices = {slices_},                                                                          \
     .packer = LIST_##id,                                                                          \
     __VA_ARGS__ TOLD},
static const firn_scheme schemes[LIST_COUNT] = {
#include "schemes.def"
};

/* The part of a draw in a slice; 0: the slice is not drawn. */
static inline __attribute__((always_inline)) firn_value drawn(const firn__draw *draw, int role,
                                                              uint32_t from, uint32_t bits,
                                                              uint32_t group) {
    firn_value value = {0, 0};
    if (role == FIRN_ROLE_TIME) {
        value.low = draw->tick;
    } else if (role == FIRN_ROLE_SEQUENCE || role == FIRN_ROLE_COUNTER) {
        value.low = draw->count;
    } else if (role == FIRN_ROLE_RANDOM) {
        value = draw->random;
    }
    return firn__slice_part(value, from, bits, group);
}

#ifndef FIRN_SMALL
/* The packers: one straight line for each scheme. A slice that is not drawn costs nothing. A small library walks the slices
 * of all schemes. */
#define SLICE(role, name, from, width, group, value)                                               \
    firn__push(&id, drawn(draw, FIRN_ROLE_##role, from, width, group), width);
#define SCHEME(name, text, width, tick, epoch, slices, ...)                                        \
    static void pack_##name(firn_id *out, const firn_scheme *scheme, const firn__draw *draw,       \
                            const firn_id *base) {                                                 \
        firn_id id = {0, 0, 0, width};                                                             \
        (void)scheme;                                                                              \
        (void)draw;                                                                                \
        slices;                                                                                    \
        /* in registers: in memory, the join would wait for its own stores */                      \
        firn__join(&id, base);                                                                     \
        *out = id;                                                                                 \
    }
#include "schemes.def"

#define SCHEME(name, text, width, tick, epoch, slices, ...) pack_##name,
static firn__packer *const packers[LIST_COUNT] = {
#include "schemes.def"
};
#endif

/* time-random with another number of digits: its random field is as wide as the digits need.
 * Constants, because a reading of firn_guess points to its scheme. */
#define DIGITS(width)                                                                              \
    {.name = "time-random",                                                                        \
     .bits = FIRN__DATED_TIME + (width),                                                           \
     .tick_ns = TICK_MS,                                                                           \
     .slice_count = 2,                                                                             \
     .slices = {{"time", FIRN_ROLE_TIME, FIRN__DATED_TIME, 0, 0, 0},                               \
                {"random", FIRN_ROLE_RANDOM, width, 0, 0, 0}},                                     \
     .packer = -1,                                                                                 \
     TIME_RANDOM},
static const firn_scheme digits_schemes[FIRN__DATED_DIGITS] = {
    DIGITS(4) DIGITS(7) DIGITS(10) DIGITS(14) DIGITS(17) DIGITS(20) DIGITS(24) DIGITS(27) DIGITS(30)
        DIGITS(34) DIGITS(37) DIGITS(40) DIGITS(44) DIGITS(47) DIGITS(50) DIGITS(54) DIGITS(57)
            DIGITS(60)};

const firn_scheme *firn__scheme_digits(uint32_t digits) {
    const firn_scheme *usual = &schemes[LIST_time_random];
    return firn__dated_digits(usual->bits) == digits ? usual : &digits_schemes[digits - 1];
}

const firn_scheme *firn_scheme_at(size_t i) {
    return i < LIST_COUNT ? &schemes[i] : NULL;
}

const firn_scheme *firn_scheme_find(const char *name) {
    for (size_t i = 0; i < LIST_COUNT; i++) {
        if (strcmp(schemes[i].name, name) == 0) {
            return &schemes[i];
        }
    }
    return NULL;
}

const firn_scheme *firn__scheme_uuid(const firn_id *id) {
    static const uint8_t places[] = {LIST_uuid1, LIST_uuid2, LIST_uuid3, LIST_uuid4,
                                     LIST_uuid5, LIST_uuid6, LIST_uuid7, LIST_uuid8};
    const uint64_t version = firn__get(id, 76, 4).low;
    return id->bits == 128 && firn__get(id, 62, 2).low == 2 && version >= 1 && version <= 8
               ? firn_scheme_at(places[version - 1])
               : NULL;
}

/* TypeIDs of UUIDs without a version that is defined. */
static const firn_scheme any_typeid = {
    .name = "typeid",
    .bits = 128,
    .slice_count = 5,
    .slices = {{.name = "custom_a", .role = FIRN_ROLE_USER, .bits = 48},
               {.name = "version", .role = FIRN_ROLE_USER, .bits = 4},
               {.name = "custom_b", .role = FIRN_ROLE_USER, .bits = 12},
               {.name = "variant", .role = FIRN_ROLE_USER, .bits = 2},
               {.name = "custom_c", .role = FIRN_ROLE_USER, .bits = 62}},
    .form = FIRN_FORM_TYPEID,
    .read_only = true,
    .packer = -1,
};

const firn_scheme *firn_scheme_seen(const firn_scheme *scheme, const firn_id *id) {
    firn_fields fields;
    if (scheme->packer != LIST_typeid || id->bits != 128 ||
        firn_unpack(&fields, scheme, id, NULL) == FIRN_OK) {
        return scheme;
    }
    const firn_scheme *other = firn__scheme_uuid(id);
    const bool nil = (id->high | id->low) == 0, max = (id->high & id->low) == UINT64_MAX;
    return other != NULL ? other
           : nil || max  ? firn_scheme_at(nil ? LIST_nil : LIST_max)
                         : &any_typeid;
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

uint64_t firn__scheme_stride(const firn_scheme *scheme, int role) {
    uint32_t position = scheme->bits;
    uint64_t stride = 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        position -= slice->bits;
        if (slice->role == role) {
            if (stride != 0 || slice->from != 0 || slice->group != 0 ||
                position + slice->bits > 64) {
                return 0;
            }
            stride = firn__up((firn_value){1, 0}, position).low;
        }
    }
    return stride;
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
    for (const char *position = names; position != NULL && *position != '\0';) {
        size_t word = strcspn(position, " ");
        if (word == length && memcmp(position, name, length) == 0) {
            return true;
        }
        position += word + strspn(position + word, " ");
    }
    return false;
}

/* ---- packers -------------------------------------------------------------------------------- */

/* The packer of a layout of the caller's: walks the slices. */
static void pack_walking(firn_id *id, const firn_scheme *scheme, const firn__draw *draw,
                         const firn_id *base) {
    firn_id out = {0, 0, 0, scheme->bits};
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        firn__push(&out, drawn(draw, slice->role, slice->from, slice->bits, slice->group),
                   slice->bits);
    }
    firn__join(&out, base);
    *id = out;
}

firn__packer *firn__scheme_packer(const firn_scheme *scheme) {
#ifdef FIRN_SMALL
    (void)scheme;
    return pack_walking;
#else
    return scheme->packer >= 0 ? packers[scheme->packer] : pack_walking;
#endif
}

/* ---- time ------------------------------------------------------------------------------------ */

bool firn__scheme_is_signed(const firn_scheme *scheme) {
    return scheme->form == FIRN_FORM_DEC && scheme->bits == 64;
}

/* Signed are numbers of 64 bits. */
uint64_t firn__scheme_tick_end(const firn_scheme *scheme, bool signed_) {
    uint32_t width = firn__scheme_role_width(scheme, FIRN_ROLE_TIME);
    if (scheme->form == FIRN_FORM_DATED) {
        return FIRN__DATED_END;
    }
    if (signed_ && scheme->slices[0].role == FIRN_ROLE_TIME && scheme->slices[0].group == 0 &&
        (uint32_t)scheme->slices[0].from + scheme->slices[0].bits == width) {
        width--; /* the top bit of the time is the sign of the number */
    }
    return width >= 64 ? UINT64_MAX : UINT64_C(1) << width;
}

bool firn_scheme_end(const firn_scheme *scheme, bool whole, firn_time *end) {
    uint64_t tick = firn__scheme_tick_end(scheme, !whole && firn__scheme_is_signed(scheme));
    if (scheme->tick_ns == 0 || tick == UINT64_MAX) {
        return false;
    }
    firn_scheme_time(scheme, tick, end);
    return true;
}

/* The greatest number of seconds after the epoch that a firn_time can represent, less one to
 * carry. */
static uint64_t most_seconds(const firn_scheme *scheme) {
    return (uint64_t)INT64_MAX - (uint64_t)scheme->epoch.sec - 1;
}

static uint64_t ticks_per_s(const firn_scheme *scheme) {
    assert(scheme->tick_ns == 0 || TICK_S % scheme->tick_ns == 0);
    return scheme->tick_ns == 0 ? 1 : TICK_S / scheme->tick_ns;
}

bool firn__scheme_times_fit(const firn_scheme *scheme) {
    return firn__scheme_tick_end(scheme, false) / ticks_per_s(scheme) <= most_seconds(scheme);
}

void firn_scheme_time(const firn_scheme *scheme, uint64_t tick, firn_time *time) {
    uint64_t per_s = ticks_per_s(scheme);
    int64_t ns = scheme->epoch.ns + (int64_t)(tick % per_s * scheme->tick_ns);
    int64_t carry = ns >= 1000000000;
    if (tick / per_s >
        most_seconds(scheme)) { /* no tick of a layout that firn_scheme_make accepts */
        *time = (firn_time){INT64_MAX, 999999999};
        return;
    }
    time->sec = (int64_t)((uint64_t)scheme->epoch.sec + tick / per_s + (uint64_t)carry);
    time->ns = (int32_t)(ns - carry * 1000000000);
}

int firn_scheme_digits(const firn_scheme *scheme) {
    int digits = 0;
    for (uint32_t ns = scheme->tick_ns; ns > 0 && ns < TICK_S; ns *= 10) {
        digits++;
    }
    return digits;
}

/* Ticks from the epoch to `time`, rounded down, or up. False: before the epoch, or above 64
 * bits. */
static bool ticks_until(const firn_scheme *scheme, const firn_time *time, bool up, uint64_t *tick) {
    uint64_t per_s = ticks_per_s(scheme);
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

static int outside(const firn_scheme *scheme, const firn_time *time, firn_error *error) {
    char when[FIRN_TIME_SIZE], epoch[FIRN_TIME_SIZE], last[FIRN_TIME_SIZE] = "the end of time";
    int digits = firn_scheme_digits(scheme);
    firn_time end;
    firn_time_format(epoch, &scheme->epoch, digits);
    if (firn_scheme_end(scheme, true, &end)) {
        firn_time_format(last, &end, digits);
    }
    return firn_error_set(
        error, FIRN_ELAYOUT, FIRN_CURE_OTHER_SCHEME,
        FIRN__VALUE("%s") " is outside the range of %s (" FIRN__LIMIT("%s until %s") ")",
        firn_time_format(when, time, digits), scheme->name, epoch, last);
}

/* firn_scheme_tick, rounded down or up; rounded up, the end of the last tick is in range. */
static int tick_of(const firn_scheme *scheme, const firn_time *time, bool up, uint64_t *tick,
                   firn_error *error) {
    uint64_t ticks, end = firn__scheme_tick_end(scheme, false);
    if (scheme->tick_ns == 0) {
        return firn__fail(error, FIRN_EUSAGE, "%s has no time: leave time out", scheme->name);
    }
    int code = firn__time_check(time, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (!ticks_until(scheme, time, up, &ticks) || (end != UINT64_MAX && ticks >= end + up)) {
        return outside(scheme, time, error);
    }
    *tick = ticks;
    return FIRN_OK;
}

int firn_scheme_tick(const firn_scheme *scheme, const firn_time *time, uint64_t *tick,
                     firn_error *error) {
    return tick_of(scheme, time, false, tick, error);
}

int firn__scheme_tick_up(const firn_scheme *scheme, const firn_time *time, uint64_t *tick,
                         firn_error *error) {
    return tick_of(scheme, time, true, tick, error);
}
