/* SPDX-License-Identifier: MIT */
/* Which node a scheme's IDs have: the parts that the options give, the rest from firn.node. Also
 * what a scheme needs so that backends can share a node. Knows no shared memory. */
#include "extension.h"

#include <inttypes.h>

/* ---- parts of the node ----------------------------------------------------------------------- */

bool firn_is_part(const firn_scheme *scheme, uint32 i) {
    int role = scheme->slices[i].role;
    return (role == FIRN_ROLE_NODE || role == FIRN_ROLE_ADDRESS) &&
           firn_scheme_first(scheme, i) == i;
}

static bool is_given(const firn_recipe *recipe, uint32 i) {
    return (recipe->fields.given >> i & 1) != 0;
}

/* Does a list of names, parted by blanks, hold this one? */
static bool names_hold(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *position = names; position != NULL && *position != '\0';) {
        size_t own = strcspn(position, " ");
        if (own == length && memcmp(position, name, own) == 0) {
            return true;
        }
        position += own + strspn(position + own, " ");
    }
    return false;
}

bool firn_is_reserved(const firn_recipe *recipe) {
    const firn_scheme *scheme = &recipe->scheme;
    if (scheme->node_rule == FIRN_NODE_NONE) {
        return false;
    }
    for (uint32 i = 0; scheme->node_rule == FIRN_NODE_OPTIONAL && i < scheme->slice_count; i++) {
        if (firn_is_part(scheme, i) && names_hold(scheme->node_fields, scheme->slices[i].name) &&
            !is_given(recipe, i)) {
            return false;
        }
    }
    return true;
}

/* All of the number's bits for a part that is as wide or wider. */
static uint64 lowest(uint64 number, uint32 bits) {
    return bits < 64 ? number & ~(~UINT64CONST(0) << bits) : number;
}

void firn_node_split(firn_recipe *recipe, uint64 node, const char *source) {
    const firn_scheme *scheme = &recipe->scheme;
    uint64 rest = node;
    for (uint32 i = scheme->slice_count; i-- > 0;) {
        if (firn_is_part(scheme, i)) {
            uint32 width = firn_scheme_width(scheme, i);
            if (is_given(recipe, i)) {
                firn_refuse(FIRN_EUSAGE, "%s and %s are given: give one of them", source,
                            scheme->slices[i].name);
            }
            recipe->fields.value[i] = (firn_value){lowest(rest, width), 0};
            recipe->fields.given |= 1u << i;
            rest = width < 64 ? rest >> width : 0;
        }
    }
    if (rest != 0) {
        firn_refuse(FIRN_ERANGE, "%s %" PRIu64 " does not fit the node of %s: take a smaller one",
                    source, node, scheme->name);
    }
}

/* The parts joined, most significant first. */
static uint64 join(const firn_recipe *recipe) {
    const firn_scheme *scheme = &recipe->scheme;
    uint64 node = 0;
    uint32 bits = 0;
    for (uint32 i = 0; i < scheme->slice_count; i++) {
        if (firn_is_part(scheme, i)) {
            uint32 width = firn_scheme_width(scheme, i);
            bits += width;
            if (bits > 63) {
                firn_refuse(FIRN_EUSAGE, "the node of the layout has more than 63 bits: use fewer");
            }
            node = node << width | recipe->fields.value[i].low;
        }
    }
    return node;
}

/* firn.node as fields. Fields that the layout does not have are refused, not ignored. */
static void set_fields(firn_recipe *recipe, const char *text) {
    firn_recipe *answer = palloc(sizeof *answer);
    firn_scheme *scheme = &recipe->scheme;
    char layout[FIRN_LAYOUT_SIZE];
    firn_recipe_read(answer,
                     scheme->packer >= 0 ? scheme->name : firn_scheme_layout(layout, scheme), text,
                     FIRN_OF_FIELDS);
    for (uint32 i = 0; i < scheme->slice_count; i++) {
        if (firn_is_part(scheme, i) && is_given(answer, i) && !is_given(recipe, i)) {
            recipe->fields.value[i] = answer->fields.value[i];
            recipe->fields.given |= 1u << i;
        }
    }
    pfree(answer);
}

static const char *missing_part(const firn_recipe *recipe) {
    for (uint32 i = 0; i < recipe->scheme.slice_count; i++) {
        if (firn_is_part(&recipe->scheme, i) && !is_given(recipe, i)) {
            return recipe->scheme.slices[i].name;
        }
    }
    return NULL;
}

bool firn_node_is_given(const firn_recipe *recipe) {
    return recipe->node_given || missing_part(recipe) == NULL;
}

/* firn.node as a number, for all parts. */
static void set_number(firn_recipe *recipe, const char *missing) {
    errno = 0;
    uint64 node = strtoull(firn_setting_node, NULL, 10);
    if (errno != 0) {
        firn_refuse(FIRN_ERANGE, "firn.node is too great: take a smaller one");
    }
    for (uint32 i = 0; i < recipe->scheme.slice_count; i++) {
        if (firn_is_part(&recipe->scheme, i) && is_given(recipe, i)) {
            firn_refuse(FIRN_EUSAGE,
                        "a part of the node is given and firn.node is a number: give %s too",
                        missing);
        }
    }
    firn_node_split(recipe, node, "firn.node");
}

uint64 firn_node_of(firn_recipe *recipe) {
    if (recipe->node_given) {
        firn_node_split(recipe, recipe->node, "node");
    }
    const char *missing = missing_part(recipe);
    if (missing == NULL) {
        return join(recipe);
    }
    if (names_hold(recipe->scheme.node_fields, missing)) {
        firn_refuse(FIRN_EUSAGE, "%s is not given: give %s=NUMBER in the options", missing,
                    missing);
    }
    if (firn_setting_node[0] == '\0') {
        firn_refuse(FIRN_EWINDOW,
                    "firn.node is not set: give this server a node that no other one has, ALTER "
                    "SYSTEM SET firn.node = 'NUMBER' and SELECT pg_reload_conf()");
    }
    recipe->node_set = true;
    if (strspn(firn_setting_node, "0123456789") == strlen(firn_setting_node)) {
        set_number(recipe, missing);
        return join(recipe);
    }
    set_fields(recipe, firn_setting_node);
    missing = missing_part(recipe);
    if (missing != NULL) {
        firn_refuse(FIRN_EUSAGE,
                    "firn.node does not give %s: name each part of the node, or a number", missing);
    }
    return join(recipe);
}

/* ---- slots ----------------------------------------------------------------------------------- */

uint64 firn_slot_end_of(const firn_recipe *recipe, uint32 sequence_bits) {
    const firn_scheme *scheme = &recipe->scheme;
    uint64 most = (uint64)(FIRN_SLOT_MAX - 2) >> sequence_bits, tick;
    firn_time end;
    firn_error error;
    if (firn_scheme_end(scheme, recipe->unsigned_, &end)) {
        end.ns -= 1; /* the last valid time; its tick is the last one */
        end.sec -= end.ns < 0;
        end.ns += end.ns < 0 ? 1000000000 : 0;
        if (firn_scheme_tick(scheme, &end, &tick, &error) == FIRN_OK && tick + 1 < most) {
            most = tick + 1;
        }
    }
    return most << sequence_bits;
}

uint32 firn_check_slots(const firn_recipe *recipe) {
    const firn_scheme *scheme = &recipe->scheme;
    uint32 bits = 0;
    bool time = false, plain = scheme->tick_ns != 0 && !scheme->read_only && !scheme->keyed;
    for (uint32 i = 0; i < scheme->slice_count; i++) {
        int role = scheme->slices[i].role;
        bits += role == FIRN_ROLE_SEQUENCE ? scheme->slices[i].bits : 0;
        time = time || role == FIRN_ROLE_TIME;
        plain = plain && role != FIRN_ROLE_COUNTER && role != FIRN_ROLE_RANDOM &&
                role != FIRN_ROLE_PROCESS && role != FIRN_ROLE_DIGEST;
    }
    if (!plain || !time || bits > 40) {
        firn_refuse(FIRN_EUNSORTED,
                    "%s with a node cannot be shared by backends: leave the node out, or set "
                    "firn.store",
                    scheme->name);
    }
    return bits;
}

void firn_layout_of(char layout[FIRN_LAYOUT_SIZE], const firn_scheme *scheme) {
    const firn_scheme *owner = scheme->ns != NULL ? firn_scheme_find(scheme->ns) : NULL;
    firn_scheme_layout(layout, owner != NULL ? owner : scheme);
}
