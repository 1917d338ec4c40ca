/* SPDX-License-Identifier: MIT */
/* Traits of the schemes and forms: see traits.h. */
#include "traits.h"

#include "forms.h"
#include "scheme.h"

#include <firn/recognize.h>

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

/* The times of today's IDs: 2005 to 2045, or 1990 to 2045 for UUIDs, which are older. */
static const firn_time today_from = {1104537600, 0}, uuids_from = {631152000, 0},
                       today_end = {2366841600, 0};

enum { VERSION_POSITION = 76, VERSION_BITS = 4 };

/* ---- schemes --------------------------------------------------------------------------------- */

/* The first tick that begins at or after a time; UINT64_MAX if the layout ends before. */
static uint64_t tick_from(const firn_scheme *scheme, const firn_time *time) {
    uint64_t tick = UINT64_MAX;
    if (firn_time_cmp(time, &scheme->epoch) <= 0) {
        return 0;
    }
    firn__scheme_tick_up(scheme, time, &tick, NULL);
    return tick;
}

/* About how many bits of the time are the same in all of today's IDs. */
static uint32_t same_bits(const firn_scheme *scheme) {
    uint64_t ticks = (uint64_t)(today_end.sec - today_from.sec) * (1000000000 / scheme->tick_ns);
    uint32_t width = firn__scheme_role_width(scheme, FIRN_ROLE_TIME), used = 0;
    for (; ticks > 0; ticks >>= 1) {
        used++;
    }
    return width > used ? width - used : 0;
}

static uint8_t owner_of(const char *name) {
    uint8_t i = 0;
    for (const firn_owner *owner; (owner = firn_owner_at(i)) != NULL; i++) {
        if (strcmp(owner->name, name) == 0) {
            break;
        }
    }
    return i;
}

static void add_piece(firn__traits *out, const firn_slice *slice, uint32_t position) {
    assert(out->pieces < FIRN__PIECES_MAX);
    out->time[out->pieces].position = (uint8_t)position;
    out->time[out->pieces].bits = slice->bits;
    out->time[out->pieces].from = slice->from;
    out->time[out->pieces++].group = slice->group;
}

firn__traits firn__traits_of(const firn_scheme *scheme) {
    firn__traits out = {.scheme = scheme, .owner = owner_of(scheme->name)};
    uint32_t position = scheme->bits;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        const bool constant = slice->role == FIRN_ROLE_CONST;
        const firn_value zero = {0, 0}, value = {slice->value, 0};
        position -= slice->bits;
        firn__push(&out.mask, constant ? firn__mask_wide(slice->bits) : zero, slice->bits);
        firn__push(&out.value, constant ? value : zero, slice->bits);
        out.constant_bits += constant ? slice->bits : 0;
        out.version = out.version ||
                      (constant && position == VERSION_POSITION && slice->bits == VERSION_BITS);
        if (slice->role == FIRN_ROLE_TIME) {
            add_piece(&out, slice, position);
        }
    }
    out.plain = scheme->form != FIRN_FORM_DATED && !scheme->keyed;
    out.rare = out.constant_bits >= FIRN__RARE;
    if (scheme->tick_ns != 0) {
        out.same_bits = same_bits(scheme);
        out.rare = out.constant_bits + out.same_bits >= FIRN__RARE;
        out.from = tick_from(scheme, scheme->epoch.sec < 0 ? &uuids_from : &today_from);
        out.end = tick_from(scheme, &today_end);
    }
    return out;
}

bool firn__traits_today(const firn__traits *traits, const firn_id *id) {
    uint64_t tick = 0;
    for (uint32_t i = 0; i < traits->pieces; i++) {
        const uint32_t bits = traits->time[i].bits, group = traits->time[i].group;
        uint64_t part = firn__get(id, traits->time[i].position, bits).low;
        tick |= (group > 0 ? firn__mirror(part, bits, group) : part) << traits->time[i].from;
    }
    return tick >= traits->from && tick < traits->end;
}

/* ---- forms ----------------------------------------------------------------------------------- */

/* Adds a form to the set of a character. Letters of a frame may be in either case. */
static void add_char(firn__traits_list *list, int form, unsigned char c) {
    list->forms[c] |= 1u << form;
    if (c >= 'a' && c <= 'z') {
        list->forms[c - 'a' + 'A'] |= 1u << form;
    }
}

static void add_chars(firn__traits_list *list, int form) {
    const firn__form *firn_form = &firn__forms[form];
    for (unsigned c = 0; c < 256; c++) {
        if (firn_form->values[c] != 0) {
            list->forms[c] |= 1u << form;
        }
    }
    const char *others = firn_form->kind == KIND_FRAME    ? firn_form->frame
                         : form == FIRN_FORM_HEX          ? "x" /* 0x */
                         : form == FIRN_FORM_DEC          ? "-"
                         : firn_form->kind == KIND_TYPEID ? "abcdefghijklmnopqrstuvwxyz_"
                         : firn_form->kind == KIND_BYTES  ? "="
                         : firn_form->kind == KIND_NCNAME ? "IO_" /* not of base58 */
                                                          : "";
    for (; *others != '\0'; others++) {
        add_char(list, form, (unsigned char)*others);
    }
}

/* The index of a width, which is added in its place. */
static void add_width(firn__traits_list *list, uint32_t bits) {
    uint32_t position = 0;
    while (position < list->widths && list->bits[position] < bits) {
        position++;
    }
    if (position < list->widths && list->bits[position] == bits) {
        return;
    }
    assert(list->widths < FIRN__WIDTHS_MAX);
    memmove(list->bits + position + 1, list->bits + position,
            (list->widths - position) * sizeof list->bits[0]);
    list->bits[position] = bits;
    list->widths++;
}

static uint8_t width_index(const firn__traits_list *list, uint32_t bits) {
    uint8_t i = 0;
    while (i < list->widths && list->bits[i] != bits) {
        i++;
    }
    return i;
}

void firn__traits_fill(firn__traits_list *list) {
    const firn_scheme *scheme;
    memset(list, 0, sizeof *list);
    for (; (scheme = firn_scheme_at(list->count)) != NULL; list->count++) {
        assert(list->count < FIRN__SCHEMES_MAX);
        list->schemes[list->count] = firn__traits_of(scheme);
        if (list->schemes[list->count].plain) {
            add_width(list, scheme->bits);
        }
    }
    for (uint32_t i = 0; i < list->count; i++) {
        firn__traits *traits = &list->schemes[i];
        traits->width = width_index(list, traits->scheme->bits);
        if (traits->width < list->widths) {
            list->usual[traits->width] |= 1u << traits->scheme->form;
            list->plain[traits->width] |= traits->plain ? UINT64_C(1) << i : 0;
        }
        list->dated |= traits->scheme->form == FIRN_FORM_DATED ? UINT64_C(1) << i : 0;
    }
    for (int form = 0; form < FIRN_FORM_COUNT; form++) {
        add_chars(list, form);
        for (uint32_t w = 0; w < list->widths; w++) {
            list->digits[w][form] = (uint8_t)firn_form_width(form, list->bits[w]);
        }
    }
}

/* The first thread computes the list. Nobody waits: a thread that comes in between computes its own
 * list, as a child does whose parent was forked at that moment. */
const firn__traits_list *firn__traits_known(void) {
    enum { NONE, BEGUN, READY };
    static firn__traits_list known;
    static atomic_int state;
    if (atomic_load_explicit(&state, memory_order_acquire) == READY) {
        return &known;
    }
    int none = NONE;
    if (!atomic_compare_exchange_strong_explicit(&state, &none, BEGUN, memory_order_seq_cst,
                                                 memory_order_seq_cst)) {
        return NULL;
    }
    firn__traits_fill(&known);
    atomic_store_explicit(&state, READY, memory_order_release);
    return &known;
}
