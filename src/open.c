/* SPDX-License-Identifier: MIT */
/* Opening and closing a generator: keys, row, identity and store wired together, every bound
 * checked before anything is issued. What happens between the two is gen.c's. */
#include "dated.h"
#include "entropy.h"
#include "error.h"
#include "gen.h"
#include "store.h"
#include "wiped.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON_NS (INT64_C(63072000) * 1000000000) /* two years: an end nearer than this is told */

/* ---- identity -------------------------------------------------------------------------------- */

/* Joins or splits the node over the fields that are its parts, most significant first. */
static uint64_t node_part(const firn_gen *gen, uint32_t i, uint32_t *position) {
    *position -= firn_scheme_width(&gen->scheme, i);
    return firn__mask(firn_scheme_width(&gen->scheme, i)) << *position;
}

static bool is_part(const firn_gen *gen, uint32_t i) {
    return firn__scheme_is_node(&gen->scheme, i) && firn_scheme_first(&gen->scheme, i) == i;
}

int firn__gen_base(const firn_gen *gen, uint64_t node, firn_id *base, firn_error *error) {
    firn_fields fields = gen->fields;
    uint32_t position = gen->node_bits;
    for (uint32_t i = 0; gen->reserved && i < gen->scheme.slice_count; i++) {
        if (is_part(gen, i)) {
            uint64_t mask = node_part(gen, i, &position);
            firn__fields_put(&fields, i, (firn_value){(node & mask) >> position, 0});
        }
    }
    firn__pack_given(base, &gen->scheme, &fields);
    if (gen->scheme.form == FIRN_FORM_DEC && gen->scheme.bits == 64 && !gen->keys.unsigned_ &&
        base->low >> 63 != 0) {
        return firn__fail(
            error, FIRN_ERANGE,
            "IDs of this node are negative as signed numbers: take a smaller node, or unsigned=1");
    }
    return FIRN_OK;
}

char *firn__gen_node_text(char text[128], const firn_gen *gen, uint64_t node) {
    uint32_t position = gen->node_bits;
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < gen->scheme.slice_count && length < 100; i++) {
        if (is_part(gen, i)) {
            char value[FIRN_VALUE_SIZE];
            firn_fields fields = {0, {{0, 0}}};
            uint64_t mask = node_part(gen, i, &position);
            firn__fields_put(&fields, i, (firn_value){(node & mask) >> position, 0});
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
    return role == FIRN_ROLE_PROCESS || (is_part(gen, i) && !gen->reserved);
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
        firn__fields_put(&gen->fields, i, drawn);
    }
    return FIRN_OK;
}

/* ---- keys to fields -------------------------------------------------------------------------- */

static int refuse_field(const firn_gen *gen, const firn_slice *slice, firn_error *error) {
    switch (slice->role) {
    case FIRN_ROLE_TIME:
        return firn__fail(error, FIRN_EUSAGE,
                          "time is the clock's: back-date with firn_at, or pack");
    case FIRN_ROLE_CONST:
        return firn__fail(error, FIRN_EUSAGE, "%s is a constant of %s: leave it out", slice->name,
                          gen->scheme.name);
    default:
        return firn__fail(error, FIRN_EUSAGE,
                          "%s of %s is the generator's to choose: leave it out, or pack",
                          slice->name, gen->scheme.name);
    }
}

static int set_field(firn_gen *gen, const char *name, const char *value, firn_error *error) {
    int i = firn_scheme_field(&gen->scheme, name);
    uint64_t number;
    if (i < 0) {
        return strcmp(name, "tick") == 0 && gen->scheme.tick_ns != 0
                   ? refuse_field(
                         gen, &gen->scheme.slices[firn__scheme_role(&gen->scheme, FIRN_ROLE_TIME)],
                         error)
                   : firn__keys_unknown(name, &gen->scheme, error);
    }
    const firn_slice *slice = &gen->scheme.slices[i];
    if (slice->role != FIRN_ROLE_NODE && slice->role != FIRN_ROLE_ADDRESS &&
        slice->role != FIRN_ROLE_USER) {
        return refuse_field(gen, slice, error);
    }
    if (gen->fields.given >> i & 1) {
        return firn__fail(error, FIRN_EUSAGE, "%s is given twice: give it once", name);
    }
    if (strcmp(value, "ticket") == 0) {
        gen->ticket_field = i;
        return is_part(gen, (uint32_t)i)
                   ? FIRN_OK
                   : firn__fail(error, FIRN_EUSAGE, "%s=ticket: only a part of the node takes one",
                                name);
    }
    if (strcmp(value, "random") == 0 && gen->scheme.node_rule == FIRN_NODE_OPTIONAL) {
        return FIRN_OK; /* as if it were left out */
    }
    int code = firn__node_read(&number, name, value, firn_scheme_width(&gen->scheme, (uint32_t)i),
                               slice->role, error);
    if (code == FIRN_OK) {
        firn__fields_put(&gen->fields, (uint32_t)i, (firn_value){number, 0});
    }
    return code;
}

/* node= names the joined node, or the field of that name. */
static int set_node(firn_gen *gen, firn_error *error) {
    uint64_t node;
    uint32_t position = gen->node_bits;
    if (gen->keys.node == NULL) {
        return FIRN_OK;
    }
    if (firn_scheme_field(&gen->scheme, "node") >= 0) {
        return set_field(gen, "node", gen->keys.node, error);
    }
    if (gen->node_bits == 0 || gen->node_bits > 63) {
        return firn__fail(error, FIRN_EUSAGE, "%s has no node: leave node out", gen->scheme.name);
    }
    int code =
        firn__node_read(&node, "node", gen->keys.node, gen->node_bits, FIRN_ROLE_NODE, error);
    for (uint32_t i = 0; code == FIRN_OK && i < gen->scheme.slice_count; i++) {
        if (is_part(gen, i) && gen->fields.given >> i & 1) {
            return firn__fail(error, FIRN_EUSAGE, "node and %s are given: give one of them",
                              gen->scheme.slices[i].name);
        }
        if (is_part(gen, i)) {
            uint64_t mask = node_part(gen, i, &position);
            firn__fields_put(&gen->fields, i, (firn_value){(node & mask) >> position, 0});
        }
    }
    return code;
}

/* Which bits of the joined node are given, and what they are. */
static void join_pinned(firn_gen *gen) {
    uint32_t position = gen->node_bits;
    gen->pinned = gen->pin_mask = 0;
    for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
        if (is_part(gen, i)) {
            uint64_t mask = node_part(gen, i, &position);
            if (gen->fields.given >> i & 1) {
                gen->pin_mask |= mask;
                gen->pinned |= gen->fields.value[i].low << position;
            }
        }
    }
    /* A node in the sign bit: only the halves that are not negative are claimed. */
    if (is_part(gen, 0) && gen->scheme.bits == 64 && gen->scheme.form == FIRN_FORM_DEC &&
        !gen->keys.unsigned_) {
        gen->pin_mask |= UINT64_C(1) << (gen->node_bits - 1);
    }
    gen->fixed = gen->pin_mask == firn__mask(gen->node_bits);
}

/* A row of FIRN_NODE_OPTIONAL is reserved when the fields that its table row names are given. */
static bool names_given(const firn_gen *gen) {
    for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
        if (is_part(gen, i) &&
            firn__names_hold(gen->scheme.node_fields, gen->scheme.slices[i].name) &&
            !(gen->fields.given >> i & 1) && gen->ticket_field != (int)i) {
            return false;
        }
    }
    return true;
}

/* ---- policies -------------------------------------------------------------------------------- */

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
            capacity / 4; /* three quarters of a tick are left even behind the last start */
    } else if (strncmp(text, "random:", 7) == 0 && capacity > 0) {
        code = firn__number_read(&below, "start=random", text + 7, 1, (int64_t)capacity, error);
        gen->start = FIRN_START_RANDOM;
        gen->start_below = (uint64_t)below;
    } else {
        code = firn__fail(error, FIRN_EUSAGE, "start=%.40s: it takes zero, random:N or rolling%s",
                          text, capacity < 4 ? ", the latter two with a sequence only" : "");
    }
    return code;
}

static int set_kind(firn_gen *gen, firn_error *error) {
    const firn_scheme *row = &gen->scheme;
    uint32_t counter = firn__scheme_role_width(row, FIRN_ROLE_COUNTER);
    uint32_t sequence = firn__scheme_role_width(row, FIRN_ROLE_SEQUENCE);
    gen->random_bits = firn__scheme_role_width(row, FIRN_ROLE_RANDOM);
    if (gen->random_bits > 0 && row->form == FIRN_FORM_DATED) {
        gen->max_random =
            firn_scheme_max(row, (uint32_t)firn__scheme_role(row, FIRN_ROLE_RANDOM)).low;
    }
    gen->count_bits = counter + sequence;
    gen->s = sequence;
    gen->count_mask = firn__mask(sequence);
    gen->kind = FIRN__KIND_SLOTS;
    if (counter > 0 || row->monotonic) {
        gen->kind = FIRN__KIND_COUNTED;
    } else if (sequence == 0 && gen->random_bits > 0) {
        gen->kind = FIRN__KIND_RANDOM;
    }
    if (row->keyed) {
        return firn__fail(error, FIRN_EUSAGE,
                          "%s is made with a key: firn_order_open, or firn new %s --key-file FILE",
                          row->name, row->name);
    }
    if (row->read_only) {
        return firn__fail(error, FIRN_EUSAGE, "%s is shown, never generated: %s", row->name,
                          row->note != NULL ? row->note : "take uuid4 or uuid7");
    }
    if (firn__scheme_role(row, FIRN_ROLE_DIGEST) >= 0) {
        return firn__fail(error, FIRN_EUSAGE,
                          "%s is a digest: give namespace= and name=", row->name);
    }
    if (row->tick_ns == 0 && gen->kind != FIRN__KIND_RANDOM) {
        return firn__fail(error, FIRN_EUSAGE,
                          "a row without time cannot be issued: add time:BITS/TICK");
    }
    if (gen->node_bits > 63) {
        return firn__fail(error, FIRN_EUSAGE,
                          "the node of the row has %" PRIu32 " bits: at most 63", gen->node_bits);
    }
    return FIRN_OK;
}

/* What a layout may be when it is read, and not when IDs are issued. */
static int check_issuable(const firn_gen *gen, firn_error *error) {
    const firn_scheme *row = &gen->scheme;
    bool sequence = firn__scheme_role(row, FIRN_ROLE_SEQUENCE) >= 0;
    bool counter = firn__scheme_role(row, FIRN_ROLE_COUNTER) >= 0;
    if (sequence && counter) {
        return firn__fail(error, FIRN_EUSAGE,
                          "a layout with a sequence and a counter cannot be issued: drop one");
    }
    if (row->form != FIRN_FORM_DATED && gen->random_bits > 0 && gen->random_bits < 20 &&
        !sequence && !counter) {
        return firn__fail(error, FIRN_EUSAGE,
                          "%" PRIu32 " random bits collide at once, issuing needs at least 20: add "
                          "random bits, or a sequence",
                          gen->random_bits);
    }
    return FIRN_OK;
}

/* Can the sign bit of a 64-bit number be set by something other than time or node, which have
 * bounds? */
static bool may_be_negative(const firn_gen *gen) {
    const firn_slice *top = &gen->scheme.slices[0];
    bool time = top->role == FIRN_ROLE_TIME && top->group == 0 &&
                top->from + top->bits == firn__scheme_role_width(&gen->scheme, FIRN_ROLE_TIME);
    return gen->scheme.form == FIRN_FORM_DEC && gen->scheme.bits == 64 && !gen->keys.unsigned_ &&
           top->role != FIRN_ROLE_CONST && !is_part(gen, 0) && !time;
}

static int set_bounds(firn_gen *gen, firn_error *error) {
    const firn__keys *keys = &gen->keys;
    gen->tick_end = firn__scheme_tick_end(&gen->scheme, keys->unsigned_ != 0);
    gen->whole_end = firn__scheme_tick_end(&gen->scheme, true);
    uint64_t most = (uint64_t)(FIRN_SLOT_MAX - 2) >> gen->s;
    gen->slot_end = gen->tick_end > most ? FIRN_SLOT_MAX - 2 : (int64_t)(gen->tick_end << gen->s);
    uint64_t last = firn__mask(firn__scheme_role_width(&gen->scheme, FIRN_ROLE_TIME));
    gen->mark_end = last >= most ? FIRN_SLOT_MAX - 2 : (int64_t)((last + 1) << gen->s);
    gen->lead_ticks =
        keys->full_ == FIRN__FULL_FAIL ? 0 : (uint64_t)firn__ms_ticks(gen, keys->max_lead_ms);
    gen->back_ticks = (uint64_t)firn__ms_ticks(gen, keys->back_ms);
    uint64_t reach = gen->lead_ticks + gen->back_ticks + (uint64_t)firn__ms_ticks(gen, 10000) + 4;
    if (reach >= UINT64_C(1) << (61 - gen->s)) {
        return firn__fail(error, FIRN_ERANGE,
                          "%" PRIu32
                          " sequence bits at ticks this short do not fit the slots of a lead: "
                          "take fewer bits, a longer tick or a lower max_lead_ms",
                          gen->s);
    }
    gen->lead_slots = (int64_t)((gen->lead_ticks + 1) << gen->s);
    gen->ticks_per_s = gen->scheme.tick_ns == 0 ? 0 : 1000000000 / gen->scheme.tick_ns;
    gen->sec_end = UINT64_MAX / (gen->ticks_per_s + 1);
    if (keys->max_lead_ms < keys->back_ms) {
        return firn__fail(error, FIRN_ERANGE,
                          "max_lead_ms=%" PRId64 " is below back_ms=%" PRId64
                          ": a step back that is absorbed leads the "
                          "clock, so lower back_ms too",
                          keys->max_lead_ms, keys->back_ms);
    }
    if (may_be_negative(gen)) {
        return firn__fail(
            error, FIRN_ERANGE,
            "IDs of this row are negative as signed numbers when their top bit is drawn: put "
            "0x0:1 in front, or unsigned=1");
    }
    for (uint32_t i = 0; keys->clock_ == FIRN__CLOCK_TICK && i < gen->scheme.slice_count; i++) {
        if (gen->scheme.slices[i].role == FIRN_ROLE_TIME && gen->scheme.slices[i].group != 0) {
            return firn__fail(error, FIRN_EUSAGE,
                              "clock=tick takes away the low bits of the time, by which %s "
                              "spreads: use fresh or exact",
                              gen->scheme.name);
        }
    }
    if (keys->nodes > 1 && (gen->kind != FIRN__KIND_SLOTS || keys->mode_ == FIRN__MODE_ONLINE)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "nodes=%" PRId64 " is for rows with a sequence, in mode=window",
                          keys->nodes);
    }
    int code = set_start(gen, error);
    uint64_t late = gen->start == FIRN_START_ZERO ? 0 : gen->start_below - 1;
    gen->at_once = (uint64_t)gen->lead_slots > late ? gen->lead_slots - (int64_t)late : 1;
    return code;
}

static void set_way(firn_gen *gen) {
    bool windows =
        gen->kind == FIRN__KIND_SLOTS && !(gen->reserved && gen->keys.mode_ == FIRN__MODE_ONLINE);
    bool plain = gen->keys.nodes == 1 && gen->keys.ordering_ == FIRN__ORDERING_STRICT &&
                 gen->start == FIRN_START_ZERO && gen->random_bits == 0 && gen->shuffle.digits == 0;
    /* The short ways do not look whether this is a child: they find zeros there. */
    gen->way = !windows || firn__wiped_watch() ? FIRN__WAY_OTHER
               : plain                         ? FIRN__WAY_PLAIN
                                               : FIRN__WAY_USUAL;
}

static void set_window(firn_gen *gen) {
    int64_t window_ms = gen->keys.window_ms;
    if (window_ms == 0) {
        window_ms = !gen->reserved || firn__store_embedded(gen->store) ? 2000
                    : gen->fixed                                       ? 3000
                                                                       : 10000;
    }
    gen->window_ticks = (uint64_t)firn__ms_ticks(gen, window_ms);
    gen->window_ticks = gen->window_ticks < 2 ? 2 : gen->window_ticks;
}

/* ---- open and close -------------------------------------------------------------------------- */

static int make_live(firn_gen *gen, firn_error *error) {
    uint64_t serial;
    int code;
    gen->live = firn__wiped(sizeof(firn__live), &code, error);
    if (gen->live == NULL) {
        return code;
    }
    code = firn__entropy_fill(NULL, &serial, sizeof serial, error);
    if (code == FIRN_OK) {
        static _Atomic uint32_t
            opened; /* spreads the generators over what a thread remembers, nothing else */
        gen->seen_index = atomic_fetch_add(&opened, 1) % FIRN__SEEN;
        atomic_store(&gen->live->serial, serial | 1);
        atomic_store(&gen->live->watch.trusted_s, INT64_MIN);
    }
    return code;
}

/* time-random with a node: node and sequence share its digits. */
static void share_digits(firn_gen *gen) {
    uint32_t digits =
        gen->scheme.form == FIRN_FORM_DATED ? firn__dated_digits(gen->scheme.bits) : 0;
    if (digits > 0 && gen->keys.node != NULL && strcmp(gen->keys.node, "random") != 0) {
        gen->scheme = firn__shuffle_row(digits);
        gen->shuffle.digits = digits;
    }
}

/* Scheme, identity and policies: everything that can be refused without a store. */
static int configure(firn_gen *gen, const firn_config *config, firn_error *error) {
    const firn__keys *keys = &gen->keys;
    int code = firn__keys_read(&gen->keys, config->keys, error);
    if (code == FIRN_OK) {
        code = firn_scheme_make(&gen->scheme, config->scheme, keys->epoch, keys->bits, keys->digits,
                                error);
    }
    if (code == FIRN_OK) {
        share_digits(gen);
        gen->node_bits = firn__scheme_node_bits(&gen->scheme);
        gen->pack = firn__scheme_packer(&gen->scheme);
        code = set_kind(gen, error);
        code = code == FIRN_OK ? check_issuable(gen, error) : code;
    }
    for (size_t i = 0; code == FIRN_OK && i < keys->field_count; i++) {
        code = set_field(gen, keys->fields[i].name, keys->fields[i].value, error);
    }
    if (code == FIRN_OK) {
        code = set_node(gen, error);
    }
    if (code == FIRN_OK) {
        gen->reserved = gen->scheme.node_rule == FIRN_NODE_REQUIRED ||
                        (gen->scheme.node_rule == FIRN_NODE_OPTIONAL && names_given(gen));
        for (uint32_t i = 0; i < gen->scheme.slice_count; i++) {
            gen->drawn |= is_drawn(gen, i) && !(gen->fields.given >> i & 1) ? UINT32_C(1) << i : 0;
        }
        join_pinned(gen);
        code = set_bounds(gen, error);
    }
    if (code == FIRN_OK && gen->scheme.node_rule == FIRN_NODE_REQUIRED &&
        gen->scheme.node_fields != NULL && !names_given(gen)) {
        code = firn__fail(error, FIRN_EUSAGE, "%s needs %s, which is never claimed: give %s=NUMBER",
                          gen->scheme.name, gen->scheme.node_fields, gen->scheme.node_fields);
    }
    if (code == FIRN_OK && gen->ticket_field >= 0 && !gen->reserved) {
        code = firn__fail(error, FIRN_EUSAGE, "a ticket needs the rest of the node: give %s",
                          gen->scheme.node_fields);
    }
    if (code == FIRN_OK && keys->nodes > 1 &&
        (gen->fixed || !gen->reserved || gen->ticket_field >= 0)) {
        code = firn__fail(error, FIRN_EUSAGE, "nodes=%" PRId64 " claims nodes: leave the node out",
                          keys->nodes);
    }
    return code;
}

/* worker=ticket: a number that no start had before. */
static int take_ticket(firn_gen *gen, firn_error *error) {
    char ns[FIRN_NS_SIZE];
    int64_t first;
    bool twice = false;
    firn_mark held = {0, 0};
    if (gen->ticket_field < 0) {
        return FIRN_OK;
    }
    uint32_t width = firn_scheme_width(&gen->scheme, (uint32_t)gen->ticket_field);
    snprintf(ns, sizeof ns, "%.200s tickets", gen->ns);
    firn_request request = {ns, "integer", gen->scheme.slices[gen->ticket_field].name,
                            1,  0,         (int64_t)firn__mask(width),
                            0,  gen->note, 0};
    int code = firn__window_grant(gen, &request.grant, error);
    if (code == FIRN_OK) {
        code = firn__window_reserve(gen, &request, &first, &twice, &held, 3, error);
    }
    if (code == FIRN_EBUSY) {
        return firn__fail(
            error, FIRN_EEXHAUSTED,
            "all %" PRIu64
            " tickets of %s are used up: leave %s out, so that a free node is claimed",
            firn__mask(width) + 1, gen->ns, request.key);
    }
    if (code == FIRN_OK) {
        firn__fields_put(&gen->fields, (uint32_t)gen->ticket_field,
                         (firn_value){(uint64_t)first, 0});
        join_pinned(gen);
    }
    return code;
}

static int see_key(void *context, const firn_holding *holding) {
    firn__shuffle *found = context;
    found->digits += firn__shuffle_read(found, holding->layout);
    return FIRN_OK;
}

/* The key of shared digits: drawn by the first generator of the namespace, and stored as the row of
 * a namespace beside it; whoever comes second finds it there, or is refused for a row of its own
 * and looks again. */
int firn__gen_agree(firn_gen *gen, firn_error *error) {
    char ns[FIRN_NS_SIZE], row[FIRN__SHUFFLE_SIZE];
    int code = gen->shuffle.digits > 0 ? FIRN_ENAMESPACE : FIRN_OK;
    snprintf(ns, sizeof ns, "%.*s key", FIRN__NS_MOST, gen->ns);
    for (int i = 0; i < 3 && (code == FIRN_ENAMESPACE || code == FIRN_EBUSY); i++) {
        firn__shuffle key = {{0, 0}, 0};
        firn_mark held = {0, 0};
        int64_t first;
        bool twice = false;
        firn_request request = {
            .ns = ns, .layout = row, .key = "key", .count = 1, .note = gen->note};
        code = firn_store_list(gen->store, ns, see_key, &key, error);
        if (code == FIRN_OK && key.digits == 0) {
            code = firn__entropy_fill(gen->entropy, key.key, sizeof key.key, error);
            firn__shuffle_write(row, &key);
            if (code == FIRN_OK) {
                code = firn__window_grant(gen, &request.grant, error);
            }
            if (code == FIRN_OK) {
                code = firn__window_reserve(gen, &request, &first, &twice, &held, 3, error);
            }
        }
        if (code == FIRN_OK) {
            memcpy(gen->shuffle.key, key.key, sizeof key.key);
        }
    }
    return code;
}

/* Unique among whom? Told where nobody chose the store: everywhere else it was chosen with open
 * eyes. */
static void tell_store(const firn_gen *gen, const char *url) {
    char node[128];
    if (url == NULL && !gen->fixed && gen->ticket_field < 0) {
        firn__gen_notice(
            gen, "node: a free one is claimed; IDs are unique among those who share the store %s",
            firn__store_url(gen->store));
    } else if (url == NULL && gen->fixed) {
        firn__gen_notice(gen,
                         "%s is kept apart among those who share the store %s, and nobody else",
                         firn__gen_node_text(node, gen, gen->pinned), firn__store_url(gen->store));
    } else if (url != NULL && strncmp(url, "memory:", 7) == 0) {
        firn__gen_notice(gen,
                         "the store memory: ends with this process: IDs are unique within it only");
    }
}

/* Under which names its marks stand in a store. */
static int name_marks(firn_gen *gen, const char *note, firn_error *error) {
    const firn_scheme *home = gen->scheme.ns != NULL ? firn_scheme_find(gen->scheme.ns) : NULL;
    firn_scheme shared = gen->scheme;
    if (home != NULL && gen->scheme.packer >= 0) {
        shared = *home;
        shared.epoch = gen->scheme.epoch;
    }
    firn_scheme_layout(gen->layout, &shared);
    firn__scheme_ns(gen->ns, firn_gen_scheme(gen));
    if (gen->keys.ns != NULL) {
        size_t length = strlen(gen->keys.ns);
        if (length > FIRN__NS_MOST) {
            return firn__fail(error, FIRN_ERANGE,
                              "the namespace ns=%.20s... has %zu characters: at most %d",
                              gen->keys.ns, length, FIRN__NS_MOST);
        }
        memcpy(gen->ns, gen->keys.ns, length + 1);
    }
    if (note != NULL) {
        snprintf(gen->note, sizeof gen->note, "%s", note);
    } else {
        firn__node_note(gen->note);
    }
    return FIRN_OK;
}

static int connect_store(firn_gen *gen, const firn_config *config, firn_error *error) {
    int code = FIRN_OK;
    gen->store = config->store;
    if (gen->store == NULL && gen->reserved) {
        firn_store_options options =
            config->store_options != NULL ? *config->store_options : (firn_store_options){0};
        options.unsafe = options.unsafe || gen->keys.unsafe_ != 0;
        if (options.wait_ms == 0) {
            options.wait_ms = gen->keys.max_wait_ms > 0 ? gen->keys.max_wait_ms : 1;
        }
        if (options.notice == NULL) {
            options.notice = config->notice;
            options.notice_self = config->notice_self;
        }
        const char *url = config->store_url != NULL ? config->store_url : gen->keys.store;
        code = firn_store_open(&gen->store, url, &options, error);
        gen->own_store = code == FIRN_OK;
        if (code == FIRN_OK) {
            tell_store(gen, url);
        }
    }
    if (code == FIRN_OK && gen->reserved && firn_store_caution(gen->store) != NULL) {
        gen->cautioned = true;
        firn__gen_notice(gen, "%s", firn_store_caution(gen->store));
    }
    return code;
}

static void tell_end(const firn_gen *gen) {
    firn_time now, end;
    char when[FIRN_TIME_SIZE];
    if (!firn_scheme_end(&gen->scheme, gen->keys.unsigned_ != 0, &end) ||
        gen->clock->wall(gen->clock->self, &now) != FIRN_OK ||
        firn__time_since(&end, &now) >= SOON_NS) {
        return;
    }
    firn_time_format(when, &end, firn_scheme_digits(&gen->scheme));
    if (firn_time_cmp(&end, &now) <= 0) {
        firn__gen_notice(gen, "the layout of %s ended at %s: only back-dated IDs are left",
                         gen->scheme.name, when);
    } else {
        firn__gen_notice(gen,
                         "the layout of %s ends at %s: plan the move to another epoch= or scheme",
                         gen->scheme.name, when);
    }
}

/* The first window, so that what is wrong is told here and not by the first ID. */
static int first_window(firn_gen *gen, firn_error *error) {
    int64_t left = gen->keys.max_wait_ms;
    uint64_t tick;
    if (gen->keys.mode_ == FIRN__MODE_ONLINE) {
        return FIRN_OK; /* holds nothing: an ended layout may still be back-dated */
    }
    int code = firn__gen_now(gen, &tick, error);
    if (code != FIRN_OK || !gen->reserved || gen->has_renewer) {
        return code;
    }
    for (;;) {
        pthread_mutex_lock(&gen->live->renewal);
        firn__need need = {NULL, tick, atomic_load(&gen->live->watch.stepped), 1, 1, true};
        code = firn__window_keep(gen, 0, &need, error);
        pthread_mutex_unlock(&gen->live->renewal);
        if (code != FIRN_EBUSY || gen->live->busy_ms > left || left <= 0 ||
            firn__window_spent_ms(gen) >= gen->keys.max_wait_ms) {
            return code;
        }
        gen->clock->pause(gen->clock->self, 10000000);
        left -= 10;
        int again = firn__gen_now(gen, &tick, error);
        if (again != FIRN_OK) {
            return again;
        }
    }
}

void firn__gen_dispose(firn_gen *gen) {
    if (gen->own_store) {
        firn_store_close(gen->store);
    }
    firn__ticks_free(&gen->history);
    if (gen->live != NULL) {
        firn__window_free(gen);
        firn__wiped_free(gen->live, sizeof(firn__live));
    }
    free(gen);
}

int firn__gen_make(firn_gen **out, const firn_config *config, firn_error *error) {
    firn_gen *gen = calloc(1, sizeof *gen);
    if (gen == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a generator");
    }
    gen->ticket_field = -1;
    gen->clock = config->clock != NULL ? config->clock : &firn__clock_system;
    gen->entropy = config->entropy;
    gen->has_renewer = config->has_renewer;
    gen->notice = config->notice;
    gen->notice_self = config->notice_self;
    int code = config->scheme == NULL
                   ? firn__fail(error, FIRN_EUSAGE, "no scheme is given: name one")
                   : configure(gen, config, error);
    if (code == FIRN_OK) {
        code = make_live(gen, error);
    }
    if (code == FIRN_OK) {
        code = firn__gen_identify(gen, error);
    }
    if (code == FIRN_OK) {
        code = name_marks(gen, config->note, error);
    }
    if (code != FIRN_OK) {
        firn__gen_dispose(gen);
        return code;
    }
    *out = gen;
    return FIRN_OK;
}

int firn_open_with(firn_gen **out, const firn_config *given, firn_error *error) {
    firn_config config = {0};
    firn_gen *gen;
    memcpy(&config, given, given->size < sizeof config ? given->size : sizeof config);
    int code = firn__gen_make(&gen, &config, error);
    if (code != FIRN_OK) {
        return code;
    }
    firn__window_begin(gen);
    gen->cycles =
        config.clock == NULL && gen->keys.clock_ == FIRN__CLOCK_FRESH && firn__cycles_constant();
    code = connect_store(gen, &config, error);
    if (code == FIRN_OK) {
        code = firn__gen_agree(gen, error);
    }
    if (code == FIRN_OK) {
        code = take_ticket(gen, error);
    }
    if (code == FIRN_OK) {
        set_way(gen);
        set_window(gen);
        code = first_window(gen, error);
    }
    if (code != FIRN_OK) {
        firn__gen_dispose(gen);
        return code;
    }
    tell_end(gen);
    *out = gen;
    return FIRN_OK;
}

int firn_open(firn_gen **gen, const char *scheme, const char *keys, firn_error *error) {
    firn_config config = {.size = sizeof config, .scheme = scheme, .keys = keys};
    return firn_open_with(gen, &config, error);
}

int firn_close(firn_gen *gen, firn_error *error) {
    int code = FIRN_OK;
    if (gen == NULL) {
        return FIRN_OK;
    }
    firn__wiped_look();
    if (atomic_load(&gen->live->serial) != 0) { /* else a forked child: nothing here is its own */
        pthread_mutex_lock(&gen->live->renewal);
        for (uint32_t k = 0; k < (uint32_t)gen->keys.nodes; k++) {
            int one = firn__window_retire(gen, k, true, error);
            code = one != FIRN_OK ? one : code;
        }
        pthread_mutex_unlock(&gen->live->renewal);
    }
    firn__gen_dispose(gen);
    return code;
}
