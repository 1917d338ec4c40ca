/* SPDX-License-Identifier: MIT */
/* Fuzzes rows written as text, with an epoch, widths and digits on their own lines: a row that
 * is made is written as text that makes the same row, and packs and unpacks what its fields
 * hold. */
#include <firn/firn.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const firn_scheme *a, const firn_scheme *b) {
    assert(a->bits == b->bits && a->tick_ns == b->tick_ns && a->slice_count == b->slice_count);
    assert(firn_time_cmp(&a->epoch, &b->epoch) == 0);
    for (uint32_t i = 0; i < a->slice_count; i++) {
        const firn_slice *slice = &a->slices[i], *two = &b->slices[i];
        assert(strcmp(slice->name, two->name) == 0 && slice->bits == two->bits);
        assert(slice->from == two->from && slice->group == two->group &&
               slice->value == two->value);
        assert((slice->role == FIRN_ROLE_CONST) == (two->role == FIRN_ROLE_CONST));
    }
}

/* Fields filled with a pattern come back from the ID. */
static void check_pack(const firn_scheme *scheme, uint64_t pattern) {
    firn_fields fields = {0, {{0, 0}}}, back;
    firn_id id;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        if (scheme->slices[i].role != FIRN_ROLE_CONST && firn_scheme_first(scheme, i) == i) {
            firn_value most = firn_scheme_max(scheme, i);
            fields.given |= UINT32_C(1) << i;
            fields.value[i] = (firn_value){pattern & most.low, pattern & most.high};
        }
    }
    assert(firn_pack(&id, scheme, &fields, NULL) == FIRN_OK);
    assert(id.bits == scheme->bits);
    assert(firn_unpack(&back, scheme, &id, NULL) == FIRN_OK);
    assert(back.given == fields.given);
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        assert(back.value[i].low == fields.value[i].low &&
               back.value[i].high == fields.value[i].high);
    }
}

static void check_made(const firn_scheme *scheme) {
    char text[FIRN_LAYOUT_SIZE], again[FIRN_LAYOUT_SIZE];
    firn_scheme back;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        bits += scheme->slices[i].bits;
    }
    assert(bits == scheme->bits && bits >= 1 && bits <= 160);
    firn_scheme_layout(text, scheme);
    assert(strlen(text) < FIRN_LAYOUT_SIZE);
    bool digits = scheme->form == FIRN_FORM_DATED; /* five and fewer clash in a user's row */
    if ((scheme->packer >= 0 || digits) &&
        firn_scheme_make(&back, text, NULL, NULL, NULL, NULL) != FIRN_OK) {
        return; /* users cannot write some of the table: digests, the lost bits of uuid2 */
    }
    assert(firn_scheme_make(&back, text, NULL, NULL, NULL, NULL) == FIRN_OK);
    check_same(scheme, &back);
    assert(strcmp(firn_scheme_layout(again, &back), text) == 0);
    check_pack(scheme, 0);
    check_pack(scheme, UINT64_MAX);
    check_pack(scheme, 0x0123456789abcdef);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[600], *epoch, *bits, *digits;
    firn_error error = {0};
    firn_scheme scheme;
    if (size >= sizeof text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    epoch = strchr(text, '\n');
    if (epoch != NULL) {
        *epoch++ = '\0';
    }
    bits = epoch == NULL ? NULL : strchr(epoch, '\n');
    if (bits != NULL) {
        *bits++ = '\0';
    }
    digits = bits == NULL ? NULL : strchr(bits, '\n');
    if (digits != NULL) {
        *digits++ = '\0';
    }
    if (bits != NULL && digits != NULL && *bits == '\0') {
        bits = NULL;
    }
    if (epoch != NULL && *epoch == '\0') {
        epoch = NULL;
    }
    if (firn_scheme_make(&scheme, text, epoch, bits, digits, &error) == FIRN_OK) {
        check_made(&scheme);
    } else {
        assert(error.code < 0 && strlen(error.text) > 0 && strlen(error.text) < sizeof error.text);
    }
    return 0;
}
