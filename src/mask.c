/* SPDX-License-Identifier: MIT */
/* Masks: permutations of IDs that show nothing of them, chosen by a secret key and a name. The
 * permutation is FF1 over the bits of an ID; each mask has a separate key. UUIDv47 is not such a
 * mask: it changes the time of a uuid7 alone, with the given key, as other programs do. */
#include "mask.h"

#include "bits.h"
#include "error.h"
#include "hkdf.h"
#include "shuffle.h"
#include "text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 };

uint32_t firn_mask_bits(const firn_mask *mask) {
    return mask->version != 0 ? 128 : mask->bits == 63 ? 64 : mask->bits;
}

int firn_mask_form(const firn_mask *mask, bool masked) {
    return masked ? mask->as : mask->from;
}

const char *firn_mask_fingerprint(const firn_mask *mask) {
    return mask->prints;
}

/* ---- masking --------------------------------------------------------------------------------- */

static int refuse_range(const firn_mask *mask, const firn_id *id, firn_error *error) {
    char text[FIRN_TEXT_SIZE];
    firn_format(text, id, FIRN_FORM_DEC);
    if (mask->bits == 63 && id->bits == 64) {
        return firn__fail(error, FIRN_ERANGE,
                          "ID %.48s is negative as a signed 64-bit integer, and a mask of 63 bits "
                          "takes 0 to %" PRId64 ": use width=64",
                          text, INT64_MAX);
    }
    return firn__fail(error, FIRN_ERANGE,
                      "ID %.48s has more than the %" PRIu32 " bits of the mask: use a larger width",
                      text, mask->bits);
}

static int refuse_version(const firn_mask *mask, const firn_id *id, bool masked,
                          firn_error *error) {
    char text[FIRN_TEXT_SIZE];
    const uint32_t version = firn__uuid_version(id);
    firn_format(text, id, id->bits == 128 ? FIRN_FORM_UUID : FIRN_FORM_DEC);
    if (masked) {
        return firn__fail(error, FIRN_EMISMATCH,
                          "ID %.48s is not a UUID of version %d, as all masked ones are: give a "
                          "masked ID",
                          text, mask->is_uuid8 ? 8 : 4);
    }
    return version == 0 || version > 8
               ? firn__fail(error, FIRN_EMISMATCH,
                            "ID %.48s is not a UUID, and this mask takes UUIDs only: use a width "
                            "in bits",
                            text)
               : firn__fail(error, FIRN_EMISMATCH,
                            "ID %.48s is a UUID of version %" PRIu32
                            ", and this mask takes version %d: use %sversion=%" PRIu32,
                            text, version, (int)mask->version,
                            mask->is_uuid47 || mask->is_uuid8 ? "width=uuid " : "", version);
}

/* The bits of an ID that are permuted, and with `width=uuid8` the number of its key above them. */
static firn_value free_bits(const firn_mask *mask, const firn_id *id) {
    return mask->version != 0 ? firn__uuid_free(id) : (firn_value){id->low, id->high};
}

static uint64_t carried_number(const firn_mask *mask, const firn_id *id) {
    return firn__part(free_bits(mask, id), UUID8_BITS, UUID_BITS - UUID8_BITS).low;
}

/* The key with a number, or NULL. */
static const firn__mask_own *key_numbered(const firn_mask *mask, uint64_t number) {
    for (size_t i = 0; i < mask->count; i++) {
        if ((uint64_t)mask->keys[i].number == number) {
            return &mask->keys[i];
        }
    }
    return NULL;
}

static int refuse_number(const firn_mask *mask, uint64_t number, firn_error *error) {
    return firn__fail(error, FIRN_EMISMATCH,
                      "the ID was masked with key %" PRIu64 ", which mask %.63s does not have: add "
                      "the key to its key file, or give an ID that this mask masked",
                      number, mask->name);
}

static int check_carried(const firn_mask *mask, const firn_id *id, bool masked, firn_error *error) {
    const uint64_t number = carried_number(mask, id);
    if (masked) {
        return key_numbered(mask, number) != NULL ? FIRN_OK : refuse_number(mask, number, error);
    }
    return number == 0 ? FIRN_OK
                       : firn__fail(error, FIRN_ERANGE,
                                    "the time of the UUID is after 2527-06-23, and width=uuid8 has "
                                    "44 bits for it: use width=uuid");
}

static uint32_t masked_version(const firn_mask *mask) {
    return mask->version == 0 ? 0 : mask->is_uuid8 ? 8 : 4;
}

/* Every ID is checked before the first one is masked. `masked`: they are masked already. */
static int check_masked(const firn_mask *mask, const firn_id *ids, size_t count, bool masked,
                        firn_error *error) {
    const uint32_t version = masked ? masked_version(mask) : (uint32_t)mask->version;
    for (size_t i = 0; i < count; i++) {
        if (mask->version != 0 && firn__uuid_version(&ids[i]) != version) {
            return refuse_version(mask, &ids[i], masked, error);
        }
        const firn_value value = {ids[i].low, ids[i].high};
        if (mask->version == 0 && (ids[i].top != 0 || !firn__fits(value, mask->bits))) {
            return refuse_range(mask, &ids[i], error);
        }
        if (mask->is_uuid8) {
            int code = check_carried(mask, &ids[i], masked, error);
            if (code != FIRN_OK) {
                return code;
            }
        }
    }
    return FIRN_OK;
}

static firn_halves split_bits(const firn_mask *mask, const firn_id *id) {
    const uint32_t second = mask->bits - mask->bits / 2;
    const firn_value value = free_bits(mask, id);
    return (firn_halves){firn__part(value, second, mask->bits / 2).low,
                         firn__part(value, 0, second).low};
}

/* `number`: above the bits. */
static firn_id join_bits(const firn_mask *mask, firn_halves halves, uint64_t number,
                         uint32_t version) {
    firn_value value = firn__up((firn_value){halves.first, 0}, mask->bits - mask->bits / 2);
    value.low |= halves.second;
    value.high |= firn__up((firn_value){number, 0}, UUID8_BITS).high;
    return version != 0 ? firn__uuid_of(value, version)
                        : (firn_id){value.low, value.high, 0, firn_mask_bits(mask)};
}

/* Permutes at most BATCH numbers of one key. */
static int permute(const firn__mask_own *own, firn_halves *numbers, size_t count, bool back,
                   firn_error *error) {
    return (back ? own->permutation.ops->decrypt
                 : own->permutation.ops->encrypt)(own->permutation.cipher, numbers, count, error);
}

/* How many IDs, the first ones, have the key of the first one. */
static size_t count_alike(const firn_mask *mask, const firn_id *ids, size_t count) {
    size_t alike = 1;
    while (alike < count && carried_number(mask, &ids[alike]) == carried_number(mask, ids)) {
        alike++;
    }
    return alike;
}

/* At most as many IDs of one key as `halves` has room for. */
static int permute_some(const firn_mask *mask, const firn__mask_own *own, bool back, firn_id *out,
                        const firn_id *ids, size_t count, firn_halves *halves, firn_error *error) {
    const uint32_t version = back ? (uint32_t)mask->version : masked_version(mask);
    const uint64_t number = mask->is_uuid8 && !back ? (uint64_t)own->number : 0;
    for (size_t i = 0; i < count; i++) {
        halves[i] = split_bits(mask, &ids[i]);
    }
    int code = permute(own, halves, count, back, error);
    for (size_t i = 0; code == FIRN_OK && i < count; i++) {
        out[i] = join_bits(mask, halves[i], number, version);
    }
    return code;
}

static int permute_many(const firn_mask *mask, const firn__mask_own *own, bool back, firn_id *out,
                        const firn_id *ids, size_t count, firn_error *error) {
    firn_halves halves[BATCH];
    int code = FIRN_OK;
    for (size_t done = 0, size; code == FIRN_OK && done < count; done += size) {
        size = count - done < BATCH ? count - done : BATCH;
        if (mask->is_uuid8 && back) {
            size = count_alike(mask, ids + done, size);
            own = key_numbered(mask, carried_number(mask, &ids[done]));
        }
        code = permute_some(mask, own, back, out + done, ids + done, size, halves, error);
    }
    return code;
}

/* One ID needs no room for many, which the compiler would write zeros to. */
static int permute_all(const firn_mask *mask, const firn__mask_own *own, bool back, firn_id *out,
                       const firn_id *ids, size_t count, firn_error *error) {
    firn_halves halves[1];
    if (count != 1) {
        return permute_many(mask, own, back, out, ids, count, error);
    }
    own = mask->is_uuid8 && back ? key_numbered(mask, carried_number(mask, ids)) : own;
    return permute_some(mask, own, back, out, ids, 1, halves, error);
}

/* UUIDv47, in both directions: the changed bits do not go into what changes them. */
static int turn_times(const firn_mask *mask, firn_id *out, const firn_id *ids, size_t count,
                      uint32_t version) {
    for (size_t i = 0; i < count; i++) {
        uint64_t words[2];
        firn__uuid_rest(words, &ids[i]);
        out[i] = firn__uuid_changed(&ids[i], firn__siphash(mask->sip_key, words, 2), version);
    }
    return FIRN_OK;
}

static int undo_with(firn_mask *mask, const firn__mask_own *own, firn_id *ids,
                     const firn_id *masked, size_t count, firn_error *error) {
    int code = check_masked(mask, masked, count, true, error);
    return code != FIRN_OK   ? code
           : mask->is_uuid47 ? turn_times(mask, ids, masked, count, 7)
                             : permute_all(mask, own, true, ids, masked, count, error);
}

int firn_mask_apply(firn_mask *mask, firn_id *masked, const firn_id *ids, size_t count,
                    firn_error *error) {
    int code = check_masked(mask, ids, count, false, error);
    return code != FIRN_OK ? code
           : mask->is_uuid47
               ? turn_times(mask, masked, ids, count, 4)
               : permute_all(mask, &mask->keys[mask->writer], false, masked, ids, count, error);
}

int firn_mask_undo(firn_mask *mask, firn_id *ids, const firn_id *masked, size_t count,
                   firn_error *error) {
    return mask->prefix[0] == '\0'
               ? undo_with(mask, &mask->keys[mask->writer], ids, masked, count, error)
               : firn__fail(error, FIRN_EUSAGE,
                            "masked texts of mask %.63s have the number of their key, and IDs have "
                            "not: give the text",
                            mask->name);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The MAC of a masked ID, as letters: the first bits of HKDF-SHA256 with its bytes as the label. */
static void write_mac(const firn__mask_own *own, char letters[MAC_LETTERS + 1],
                      const firn_id *masked) {
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    uint8_t bytes[20], code[3];
    const size_t size = firn_id_bytes(bytes, masked);
    firn__hkdf(code, sizeof code, own->mac_key, sizeof own->mac_key, bytes, size);
    const uint32_t bits = (uint32_t)(code[0] << 12 | code[1] << 4 | code[2] >> 4);
    for (int i = 0; i < MAC_LETTERS; i++) {
        letters[i] = digits[bits >> (MAC_BITS - 5 * (i + 1)) & 31];
    }
    letters[MAC_LETTERS] = '\0';
}

static int write_mask_text(char text[FIRN_TEXT_SIZE], const firn_id *id, int form,
                           firn_error *error) {
    char room[FIRN_TEXT_SIZE];
    if (firn_format(room, id, form)[0] == '\0') {
        return firn__fail(error, FIRN_EMISMATCH, "this ID has no form %.20s: use another form",
                          firn_form_name(form));
    }
    memcpy(text, room, sizeof room);
    return FIRN_OK;
}

/* A UUID where integers are expected: probably width=uuid was forgotten. */
static int parse_for(const firn_mask *mask, firn_id *id, int form, const char *text, size_t length,
                     firn_error *error) {
    firn_error unused;
    int code = firn_parse(id, form, firn_mask_bits(mask), text, length, error);
    if (code == FIRN_ETEXT && mask->version == 0 && form == FIRN_FORM_DEC &&
        firn_parse(id, FIRN_FORM_UUID, 128, text, length, &unused) == FIRN_OK) {
        return firn__fail(error, FIRN_ETEXT,
                          "mask %.63s is of integers, and this is a UUID: add width=uuid",
                          mask->name);
    }
    return code;
}

void firn_mask_frame(const firn_mask *mask, char before[FIRN_MASK_FRAME_SIZE],
                     char after[FIRN_MASK_FRAME_SIZE], const firn_id *masked) {
    const firn__mask_own *own = &mask->keys[mask->writer];
    before[0] = after[0] = '\0';
    if (mask->prefix[0] != '\0') {
        snprintf(before, FIRN_MASK_FRAME_SIZE, "%s_%" PRId64 "_", mask->prefix, own->number);
    }
    if (mask->mac == 1) {
        write_mac(own, after, masked);
    }
}

int firn_mask_write(firn_mask *mask, char text[FIRN_TEXT_SIZE], const char *id, size_t length,
                    firn_error *error) {
    char before[FIRN_MASK_FRAME_SIZE], after[FIRN_MASK_FRAME_SIZE], middle[FIRN_TEXT_SIZE];
    firn_id read, masked;
    int code = parse_for(mask, &read, mask->from, id, length, error);
    code = code == FIRN_OK ? firn_mask_apply(mask, &masked, &read, 1, error) : code;
    code = code == FIRN_OK ? write_mask_text(middle, &masked, mask->as, error) : code;
    if (code == FIRN_OK) {
        firn_mask_frame(mask, before, after, &masked);
        const size_t first = strlen(before), second = strlen(middle);
        assert(first + second + strlen(after) < FIRN_TEXT_SIZE);
        memcpy(text, before, first);
        memcpy(text + first, middle, second);
        memcpy(text + first + second, after, strlen(after) + 1);
    }
    return code;
}

static int check_mac(const firn_mask *mask, const firn__mask_own *own, const firn_id *masked,
                     const char *letters, firn_error *error) {
    char wanted[MAC_LETTERS + 1], given[MAC_LETTERS];
    const bool folds = firn__form_folds(mask->as);
    write_mac(own, wanted, masked);
    for (int i = 0; i < MAC_LETTERS; i++) { /* in the cases that the ID may have */
        const bool upper = folds && letters[i] >= 'A' && letters[i] <= 'Z';
        given[i] = (char)(upper ? letters[i] - 'A' + 'a' : letters[i]);
    }
    return memcmp(wanted, given, MAC_LETTERS) == 0
               ? FIRN_OK
               : firn__fail(error, FIRN_EMISMATCH,
                            "the MAC of the masked ID is wrong: it is damaged or guessed, or was "
                            "masked with another name or key; give an ID that mask %.63s masked",
                            mask->name);
}

/* Reads "ord_1_", and leaves the rest in `text`. Another spelling of the number is another text. */
static int read_numbered(const firn_mask *mask, const firn__mask_own **own, const char **text,
                         size_t *length, firn_error *error) {
    const size_t prefix = strlen(mask->prefix);
    uint64_t number = 0;
    if (*length <= prefix + 1 || memcmp(*text, mask->prefix, prefix) != 0 ||
        (*text)[prefix] != '_') {
        return firn__fail(error, FIRN_ETEXT,
                          "the text does not begin with %.20s_, as masked IDs of mask %.63s do: "
                          "give such an ID",
                          mask->prefix, mask->name);
    }
    size_t i = prefix + 1;
    while (i < *length && i < prefix + 10 && (*text)[i] >= '0' && (*text)[i] <= '9') {
        number = number * 10 + (uint64_t)((*text)[i++] - '0');
    }
    const size_t digits = i - prefix - 1;
    if (digits == 0 || i == *length || (*text)[i] != '_' ||
        (digits > 1 && (*text)[prefix + 1] == '0')) {
        return firn__fail(error, FIRN_ETEXT,
                          "the number of the key is missing after %.20s_: give a masked ID, such "
                          "as %.20s_1_...",
                          mask->prefix, mask->prefix);
    }
    *own = key_numbered(mask, number);
    if (*own == NULL) {
        return refuse_number(mask, number, error);
    }
    *text += i + 1;
    *length -= i + 1;
    return FIRN_OK;
}

/* The length of the text without its MAC. */
static int leave_mac(const firn_mask *mask, size_t *length, firn_error *error) {
    if (mask->mac == 0) {
        return FIRN_OK;
    }
    if (*length <= MAC_LETTERS) {
        return firn__fail(error, FIRN_ETEXT,
                          "a masked ID with a MAC has more than %d characters, not %zu: give all "
                          "of it",
                          MAC_LETTERS, *length);
    }
    *length -= MAC_LETTERS;
    return FIRN_OK;
}

/* A masked ID of this mask, as it may have been before the mask had a MAC. */
static int refuse_mac(const firn_mask *mask, const char *text, size_t length, int code,
                      firn_error *error) {
    firn_error unused;
    firn_id id;
    return firn_parse(&id, mask->as, firn_mask_bits(mask), text, length, &unused) != FIRN_OK
               ? code
               : firn__fail(error, FIRN_EMISMATCH,
                            "the masked ID has no MAC, which mask %.63s needs: give all of the "
                            "ID, or use mac=0 if this name masks without a MAC",
                            mask->name);
}

int firn_mask_read(firn_mask *mask, char text[FIRN_TEXT_SIZE], const char *masked, size_t length,
                   firn_error *error) {
    const firn__mask_own *own = &mask->keys[mask->writer];
    firn_id read, id;
    int code =
        mask->prefix[0] != '\0' ? read_numbered(mask, &own, &masked, &length, error) : FIRN_OK;
    if (code != FIRN_OK) {
        return code;
    }
    const size_t whole = length;
    code = leave_mac(mask, &length, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = parse_for(mask, &read, mask->as, masked, length, error);
    code = code == FIRN_OK && mask->mac == 1 ? check_mac(mask, own, &read, masked + length, error)
                                             : code;
    if (code != FIRN_OK && mask->mac == 1) {
        return refuse_mac(mask, masked, whole, code, error);
    }
    code = code == FIRN_OK ? undo_with(mask, own, &id, &read, 1, error) : code;
    return code == FIRN_OK ? write_mask_text(text, &id, mask->from, error) : code;
}
