/* SPDX-License-Identifier: MIT */
/* The identity of a generator: which fields are given, which are drawn once a process, and the node
 * that its parts join to. Reserves nothing. */
#include "entropy.h"
#include "error.h"
#include "gen.h"

#include <stdio.h>
#include <string.h>

/* ---- the joined node ------------------------------------------------------------------------- */

/* The mask of a part in the joined node; *position moves down to its lowest bit. */
static uint64_t node_part(const firn_gen *gen, uint32_t i, uint32_t *position) {
    *position -= firn_scheme_width(&gen->scheme, i);
    return firn__mask(firn_scheme_width(&gen->scheme, i)) << *position;
}

bool firn__identity_part(const firn_gen *gen, uint32_t i) {
    return firn__scheme_is_node(&gen->scheme, i) && firn_scheme_first(&gen->scheme, i) == i;
}

/* Splits the node over the fields that are its parts, most significant first. */
static void split_node(const firn_gen *gen, uint64_t node, firn_fields *fields) {
    uint32_t position = gen->node_bits;
    for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
        if (firn__identity_part(gen, i)) {
            uint64_t mask = node_part(gen, i, &position);
            firn__fields_put(fields, i, (firn_value){(node & mask) >> position, 0});
        }
    }
}

int firn__gen_base(const firn_gen *gen, uint64_t node, firn_id *base, firn_error *error) {
    firn_fields fields = gen->kept.fields;
    if (firn__reserves(gen)) {
        split_node(gen, node, &fields);
    }
    firn__pack_given(base, &gen->scheme, &fields);
    if (firn__gen_is_signed(gen) && base->low >> 63 != 0) {
        return firn__fail(
            error, FIRN_ERANGE,
            "IDs of this node are negative as signed numbers: take a smaller node, or unsigned=1");
    }
    return FIRN_OK;
}

char *firn__gen_node_text(char text[128], const firn_gen *gen, uint64_t node) {
    firn_fields fields = {0, {{0, 0}}};
    size_t length = 0;
    text[0] = '\0';
    split_node(gen, node, &fields);
    for (uint32_t i = 0; i < gen->scheme.slice_count && length < 100; i++) {
        if (firn__identity_part(gen, i)) {
            char value[FIRN_VALUE_SIZE];
            firn_fields_get(value, &fields, &gen->scheme, i);
            length += (size_t)snprintf(text + length, 128 - length, "%s%s=%s",
                                       length > 0 ? " " : "", gen->scheme.slices[i].name, value);
        }
    }
    if (length == 0) { /* a layout without a node still reserves its slots */
        snprintf(text, 128, "the one node");
    }
    return text;
}

/* Does the generator itself draw this field, once a process? */
static bool is_drawn(const firn_gen *gen, uint32_t i) {
    int role = gen->scheme.slices[i].role;
    return role == FIRN_ROLE_PROCESS || (firn__identity_part(gen, i) && !firn__reserves(gen));
}

int firn__gen_identify(firn_gen *gen, firn_error *error) {
    for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
        firn_value drawn;
        if (!(gen->drawn >> i & 1)) {
            continue;
        }
        int code =
            firn__entropy_bits(gen->entropy, &drawn, firn_scheme_width(&gen->scheme, i), error);
        if (code != FIRN_OK) {
            return code;
        }
        if (gen->scheme.slices[i].role == FIRN_ROLE_ADDRESS) {
            drawn.low |= UINT64_C(1)
                         << 40; /* multicast: no card has such an address (RFC 9562 section 6.10) */
        }
        firn__fields_put(&gen->kept.fields, i, drawn);
    }
    return FIRN_OK;
}

/* ---- keys to fields -------------------------------------------------------------------------- */

static int refuse_field(const firn_gen *gen, const firn_slice *slice, firn_error *error) {
    switch (slice->role) {
    case FIRN_ROLE_TIME:
        return firn__fail(error, FIRN_EUSAGE,
                          "the clock sets time: back-date with firn_at, or pack the ID");
    case FIRN_ROLE_CONST:
        return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_LEAVE_OUT,
                              "%s is a constant of %s: leave it out", slice->name,
                              gen->scheme.name);
    default:
        return firn__fail(error, FIRN_EUSAGE,
                          "the generator chooses %s of %s: leave it out, or pack the ID",
                          slice->name, gen->scheme.name);
    }
}

static int set_field(firn_gen *gen, const firn__pair *pair, firn_error *error) {
    const char *name = pair->name, *value = pair->value;
    int i = firn_scheme_field(&gen->scheme, name);
    uint64_t number;
    if (i < 0) {
        return strcmp(name, "tick") == 0 && gen->scheme.tick_ns != 0
                   ? refuse_field(
                         gen, &gen->scheme.slices[firn__scheme_role(&gen->scheme, FIRN_ROLE_TIME)],
                         error)
                   : firn__keys_unknown(pair, &gen->scheme, error);
    }
    const firn_slice *slice = &gen->scheme.slices[i];
    if (slice->role != FIRN_ROLE_NODE && slice->role != FIRN_ROLE_ADDRESS &&
        slice->role != FIRN_ROLE_USER) {
        return refuse_field(gen, slice, error);
    }
    if (gen->kept.fields.given >> i & 1) {
        return firn__fail(error, FIRN_EUSAGE, "%s is given twice: give it once", name);
    }
    if (strcmp(value, "ticket") == 0) {
        gen->ticket_field = i;
        return firn__identity_part(gen, (uint32_t)i)
                   ? FIRN_OK
                   : firn__fail(error, FIRN_EUSAGE, "%s=ticket: only a part of the node takes one",
                                name);
    }
    if (strcmp(value, "random") == 0 && gen->scheme.node_rule == FIRN_NODE_OPTIONAL) {
        return FIRN_OK; /* counts as left out */
    }
    int code = firn__node_read(&number, name, value, firn_scheme_width(&gen->scheme, (uint32_t)i),
                               slice->role, error);
    if (code == FIRN_OK) {
        firn__fields_put(&gen->kept.fields, (uint32_t)i, (firn_value){number, 0});
    }
    return code;
}

/* node= names the joined node, or the field of that name. */
static int set_node(firn_gen *gen, firn_error *error) {
    uint64_t node;
    if (gen->keys.node == NULL) {
        return FIRN_OK;
    }
    if (firn_scheme_field(&gen->scheme, "node") >= 0) {
        return set_field(gen, &(firn__pair){"node", gen->keys.node}, error);
    }
    if (gen->node_bits == 0 || gen->node_bits > 63) {
        return firn__fail(error, FIRN_EUSAGE, "%s has no node: leave node out", gen->scheme.name);
    }
    for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
        if (firn__identity_part(gen, i) && gen->kept.fields.given >> i & 1) {
            return firn__fail(error, FIRN_EUSAGE, "node and %s are given: give one of them",
                              gen->scheme.slices[i].name);
        }
    }
    int code =
        firn__node_read(&node, "node", gen->keys.node, gen->node_bits, FIRN_ROLE_NODE, error);
    if (code == FIRN_OK) {
        split_node(gen, node, &gen->kept.fields);
    }
    return code;
}

/* Which bits of the joined node are given, and what they are. */
static void join_pinned(firn_gen *gen) {
    uint32_t position = gen->node_bits;
    gen->pinned = gen->pin_mask = 0;
    for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
        if (firn__identity_part(gen, i)) {
            uint64_t mask = node_part(gen, i, &position);
            if (gen->kept.fields.given >> i & 1) {
                gen->pin_mask |= mask;
                gen->pinned |= gen->kept.fields.value[i].low << position;
            }
        }
    }
    /* A node in the sign bit: only the halves that are not negative are claimed. */
    if (firn__identity_part(gen, 0) && firn__gen_is_signed(gen)) {
        gen->pin_mask |= UINT64_C(1) << (gen->node_bits - 1);
    }
    gen->fixed = gen->pin_mask == firn__mask(gen->node_bits);
}

bool firn__identity_given(const firn_gen *gen) {
    for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
        if (firn__identity_part(gen, i) &&
            firn__names_hold(gen->scheme.node_fields, gen->scheme.slices[i].name) &&
            !(gen->kept.fields.given >> i & 1) && gen->ticket_field != (int)i) {
            return false;
        }
    }
    return true;
}

int firn__identity_read(firn_gen *gen, firn_error *error) {
    int code = FIRN_OK;
    for (size_t i = 0; code == FIRN_OK && i < gen->keys.field_count; i++) {
        code = set_field(gen, &gen->keys.fields[i], error);
    }
    return code == FIRN_OK ? set_node(gen, error) : code;
}

void firn__identity_settle(firn_gen *gen) {
    gen->reserved = gen->scheme.node_rule == FIRN_NODE_REQUIRED ||
                    (gen->scheme.node_rule == FIRN_NODE_OPTIONAL && firn__identity_given(gen));
    for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
        bool drawn = is_drawn(gen, i) && !(gen->kept.fields.given >> i & 1);
        gen->drawn |= drawn ? UINT32_C(1) << i : 0;
    }
    join_pinned(gen);
}

void firn__identity_put(firn_gen *gen, uint32_t i, uint64_t value) {
    firn__fields_put(&gen->kept.fields, i, (firn_value){value, 0});
    join_pinned(gen);
}
