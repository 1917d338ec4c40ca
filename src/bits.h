/* SPDX-License-Identifier: MIT */
/* Bits of IDs of up to 160 bits: put, get and mirror. All shifts on IDs are here; knows no scheme
 * and no text. Everything is inlined, so a constant position costs what hand-written shifts
 * cost. */
#ifndef FIRN_BITS_H
#define FIRN_BITS_H

#include <firn/firn.h>

#define FIRN__BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* The lowest `bits` bits set; bits 0..64. */
static inline uint64_t firn__mask(uint32_t bits) {
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* The same for a field of up to 128 bits. */
static inline firn_value firn__mask_wide(uint32_t bits) {
    firn_value mask = {firn__mask(bits), bits > 64 ? firn__mask(bits - 64) : 0};
    return mask;
}

static inline bool firn__fits(firn_value value, uint32_t bits) {
    firn_value mask = firn__mask_wide(bits);
    return (value.low & ~mask.low) == 0 && (value.high & ~mask.high) == 0;
}

static inline bool firn__above(firn_value value, firn_value most) {
    return value.high > most.high || (value.high == most.high && value.low > most.low);
}

/* Moves a value of up to 128 bits up by `count` (0..127); what leaves at the top is lost. */
static inline firn_value firn__up(firn_value value, uint32_t count) {
    firn_value out = value;
    if (count >= 64) {
        out.high = value.low << (count - 64);
        out.low = 0;
    } else if (count > 0) {
        out.high = value.high << count | value.low >> (64 - count);
        out.low = value.low << count;
    }
    return out;
}

/* Moves a value of up to 128 bits down by `count` (0..127). */
static inline firn_value firn__down(firn_value value, uint32_t count) {
    firn_value out = value;
    if (count >= 64) {
        out.low = value.high >> (count - 64);
        out.high = 0;
    } else if (count > 0) {
        out.low = value.low >> count | value.high << (64 - count);
        out.high = value.high >> count;
    }
    return out;
}

/* `bits` bits of the field from bit `from` up. */
static inline firn_value firn__part(firn_value value, uint32_t from, uint32_t bits) {
    firn_value mask = firn__mask_wide(bits);
    firn_value part = firn__down(value, from);
    part.low &= mask.low;
    part.high &= mask.high;
    return part;
}

/* The whole ID up by `count` (1..128), with `value` (of `count` bits) below: ids are built most
 * significant slice first. */
static inline void firn__push(firn_id *id, firn_value value, uint32_t count) {
    if (count < 64) {
        id->top = (uint32_t)((uint64_t)id->top << count) | (uint32_t)(id->high >> (64 - count));
        id->high = id->high << count | id->low >> (64 - count);
        id->low = id->low << count | value.low;
    } else if (count < 128) {
        firn_value mid = {id->low, id->high};
        id->top = (uint32_t)firn__part(mid, 128 - count, 32).low;
        id->high = count == 64 ? id->low : id->low << (count - 64);
        id->high |= value.high;
        id->low = value.low;
    } else {
        id->top = (uint32_t)id->low;
        id->high = value.high;
        id->low = value.low;
    }
}

/* `bits` bits (1..128) of the ID from its bit `position` (0..159) up. */
static inline firn_value firn__get(const firn_id *id, uint32_t position, uint32_t bits) {
    firn_value low = {id->low, id->high};
    firn_value out = {id->top, 0};
    if (position < 128) {
        firn_value top = {id->top, 0};
        out = firn__down(low, position);
        if (position > 0) {
            top = firn__up(top, 128 - position);
            out.low |= top.low;
            out.high |= top.high;
        }
    } else {
        out.low >>= position - 128;
    }
    firn_value mask = firn__mask_wide(bits);
    out.low &= mask.low;
    out.high &= mask.high;
    return out;
}

/* ORs `value` (of at most 128 - position % 64 bits) into the ID at `position`. */
static inline void firn__or(firn_id *id, firn_value value, uint32_t position) {
    firn_value low = position < 128 ? firn__up(value, position) : (firn_value){0, 0};
    id->low |= low.low;
    id->high |= low.high;
    if (position >= 128) {
        id->top |= (uint32_t)(value.low << (position - 128));
    } else if (position > 0) {
        id->top |= (uint32_t)firn__down(value, 128 - position).low;
    }
}

/* The ID of two parts that share no bit: the constant template, and the bits packed for this
 * ID. */
static inline void firn__join(firn_id *id, const firn_id *other) {
    id->low |= other->low;
    id->high |= other->high;
    id->top |= other->top;
}

/* The 122 bits of a UUID that are neither version nor variant. */
static inline firn_value firn__uuid_free(const firn_id *id) {
    firn_value top = firn__up(firn__get(id, 80, 48), 74);
    firn_value mid = firn__up(firn__get(id, 64, 12), 62);
    firn_value low = firn__get(id, 0, 62);
    return (firn_value){top.low | mid.low | low.low, top.high | mid.high | low.high};
}

/* The UUID of a version that has these 122 bits. */
static inline firn_id firn__uuid_of(firn_value free, uint32_t version) {
    firn_id id = {0, 0, 0, 128};
    firn__or(&id, firn__part(free, 0, 62), 0);
    firn__or(&id, (firn_value){2, 0}, 62);
    firn__or(&id, firn__part(free, 62, 12), 64);
    firn__or(&id, (firn_value){version, 0}, 76);
    firn__or(&id, firn__part(free, 74, 48), 80);
    return id;
}

/* The version of a UUID; 0: the ID is of another width or variant. */
static inline uint32_t firn__uuid_version(const firn_id *id) {
    const bool is = id->bits == 128 && firn__get(id, 62, 2).low == 2;
    return is ? (uint32_t)firn__get(id, 76, 4).low : 0;
}

/* Of a UUID: the 74 bits after the time that are neither version nor variant, as ten bytes and
 * their number in words for firn__siphash. */
static inline void firn__uuid_rest(uint64_t words[2], const firn_id *id) {
    const uint64_t bytes[10] = {firn__get(id, 72, 4).low, firn__get(id, 64, 8).low,
                                firn__get(id, 56, 6).low, firn__get(id, 48, 8).low,
                                firn__get(id, 40, 8).low, firn__get(id, 32, 8).low,
                                firn__get(id, 24, 8).low, firn__get(id, 16, 8).low,
                                firn__get(id, 8, 8).low,  firn__get(id, 0, 8).low};
    words[0] = 0;
    for (int i = 0; i < 8; i++) {
        words[0] |= bytes[i] << 8 * i;
    }
    words[1] = bytes[8] | bytes[9] << 8 | UINT64_C(10) << 56;
}

/* The UUID of another version, whose first 48 bits are changed where `change` has a 1. */
static inline firn_id firn__uuid_changed(const firn_id *id, uint64_t change, uint32_t version) {
    firn_value bits = firn__uuid_free(id);
    const firn_value turned = firn__up(firn__part((firn_value){change, 0}, 0, 48), 74);
    bits.low ^= turned.low;
    bits.high ^= turned.high;
    return firn__uuid_of(bits, version);
}

/* The index of the lowest bit that is set; not for 0. */
static inline uint32_t firn__lowest(uint64_t bits) {
    return (uint32_t)__builtin_ctzll(bits);
}

/* The low 64 bits with every single bit mirrored. */
static inline uint64_t firn__reverse(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff00ff00ff) | (x & 0x00ff00ff00ff00ff) << 8;
    x = (x >> 16 & 0x0000ffff0000ffff) | (x & 0x0000ffff0000ffff) << 16;
    return x >> 32 | x << 32;
}

/* `bits` bits (1..64) with their groups of `group` bits in reverse order; `group` divides
 * `bits`. Its own inverse. */
static inline uint64_t firn__mirror(uint64_t value, uint32_t bits, uint32_t group) {
    uint64_t out = 0;
    if (group == 1) {
        return firn__reverse(value) >> (64 - bits);
    }
    for (uint32_t done = 0; done < bits; done += group) {
        out = out << group | (value >> done & firn__mask(group));
    }
    return out;
}

#endif
