/* SPDX-License-Identifier: MIT */
/* Masks: permutations of IDs that show nothing of them, chosen by a secret key and a name. The
 * permutation is FF1 over the bits of an ID; each mask has a separate key. UUIDv47 is not such a
 * mask: it changes the time of a uuid7 alone, with the given key, as other programs do. */
#include "bits.h"
#include "error.h"
#include "hkdf.h"
#include "keys.h"
#include "nearest.h"
#include "permutation.h"
#include "shuffle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 2^20 is the first power of two above 10^6, the smallest domain that NIST SP 800-38G allows. */
enum { BITS_LEAST = 20, BITS_MOST = 128, UUID_BITS = 122, NAME_MOST = 63, BATCH = 64 };
enum { MAC_BITS = 20, MAC_LETTERS = MAC_BITS / 5 };
enum { PRINT_BYTES = 4, PRINT_DIGITS = 2 * PRINT_BYTES }; /* of a fingerprint */
#define KEY_NUMBER_MOST 999999999

struct firn_mask {
    firn__permutation permutation;
    uint32_t bits;      /* of the domain: 20..128, and 122 for a UUID */
    int64_t version;    /* of the UUIDs that are masked; 0: the mask takes integers */
    int64_t key_number; /* of the secret key */
    int from, as;       /* forms of IDs and of masked IDs; -1: not given */
    int64_t mac;        /* 1: masked texts end with a MAC */
    bool is_uuid47;     /* no permutation: sip_key changes the time */
    uint64_t sip_key[2];
    uint8_t mac_key[32];
    char name[NAME_MOST + 1];                                 /* "": not given */
    char print[PRINT_DIGITS + 1], expected[PRINT_DIGITS + 1]; /* fingerprints; expected "": any */
};

/* ---- opening --------------------------------------------------------------------------------- */

static int read_name(firn_mask *mask, const char *value, firn_error *error) {
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = strlen(value);
    if (length == 0 || length > NAME_MOST || strspn(value, allowed) != length) {
        return firn__fail(error, FIRN_EUSAGE,
                          "name=%.64s is not the name of a mask: use 1 to %d letters, digits, ., _ "
                          "and -",
                          value, NAME_MOST);
    }
    memcpy(mask->name, value, length + 1);
    return FIRN_OK;
}

static int read_width(firn_mask *mask, const char *value, firn_error *error) {
    int64_t bits = UUID_BITS;
    int code = FIRN_OK;
    mask->is_uuid47 = strcmp(value, "uuid47") == 0;
    if (strcmp(value, "uuid") == 0 || mask->is_uuid47) {
        mask->version = 7;
    } else if (strspn(value, "0123456789") != strlen(value)) {
        code = firn__fail(error, FIRN_EUSAGE, "width=%.40s is not valid: use %d to %d, or uuid",
                          value, BITS_LEAST, BITS_MOST);
    } else {
        code = firn__number_read(&bits, "width", value, BITS_LEAST, BITS_MOST, error);
    }
    mask->bits = (uint32_t)bits;
    return code;
}

static int read_print(firn_mask *mask, const char *value, firn_error *error) {
    if (strlen(value) != PRINT_DIGITS || strspn(value, "0123456789abcdef") != PRINT_DIGITS) {
        return firn__fail(error, FIRN_EUSAGE,
                          "fingerprint=%.40s is not valid: use the %d hex digits of the mask's "
                          "fingerprint",
                          value, PRINT_DIGITS);
    }
    memcpy(mask->expected, value, sizeof mask->expected);
    return FIRN_OK;
}

static int read_mask_form(int *form, const firn__pair *pair, firn_error *error) {
    const char *names[FIRN_FORM_COUNT + 1] = {NULL};
    *form = firn_form_find(pair->value);
    for (int i = 0; i < FIRN_FORM_COUNT; i++) {
        names[i] = firn_form_name(i);
    }
    return *form >= 0
               ? FIRN_OK
               : firn__refuse_unknown(error, "masked IDs", "have no form", pair->value, names,
                                      FIRN_CURE_LISTED, "use dec, hex, uuid, base32 or base58");
}

/* The forms that are not given, when the width is known. */
static int fill_forms(firn_mask *mask, firn_error *error) {
    const int usual = mask->version != 0 ? FIRN_FORM_UUID
                      : mask->bits > 64  ? FIRN_FORM_BASE32
                                         : FIRN_FORM_DEC;
    mask->from = mask->from >= 0 ? mask->from : usual;
    mask->as = mask->as >= 0 ? mask->as : mask->from;
    const int wrong = firn_form_width(mask->from, firn_mask_bits(mask)) == 0 ? mask->from
                      : firn_form_width(mask->as, firn_mask_bits(mask)) == 0 ? mask->as
                                                                             : -1;
    if (wrong < 0 && mask->mac != 0 && mask->as == FIRN_FORM_UUID) {
        return firn__fail(error, FIRN_EUSAGE,
                          "a UUID has no room for a MAC: use another form for masked IDs, such as "
                          "as=base58, or remove mac=");
    }
    return wrong < 0 ? FIRN_OK
                     : firn__fail(error, FIRN_EUSAGE,
                                  "an ID of %" PRIu32 " bits has no form %.20s: use another form",
                                  firn_mask_bits(mask), firn_form_name(wrong));
}

static int read_mask_pair(firn_mask *mask, const firn__pair *pair, int64_t *version,
                          firn_error *error) {
    static const char *const names[] = {"name", "width", "version", "key_number", "fingerprint",
                                        "from", "as",    "mac",     NULL};
    if (strcmp(pair->name, "name") == 0) {
        return read_name(mask, pair->value, error);
    }
    if (strcmp(pair->name, "width") == 0) {
        return read_width(mask, pair->value, error);
    }
    if (strcmp(pair->name, "version") == 0) {
        return firn__number_read(version, "version", pair->value, 1, 8, error);
    }
    if (strcmp(pair->name, "key_number") == 0) {
        return firn__number_read(&mask->key_number, "key_number", pair->value, 0, KEY_NUMBER_MOST,
                                 error);
    }
    if (strcmp(pair->name, "fingerprint") == 0) {
        return read_print(mask, pair->value, error);
    }
    if (strcmp(pair->name, "mac") == 0) {
        return firn__choice_read(&mask->mac, "mac", pair->value, "0 20", error);
    }
    if (strcmp(pair->name, "from") == 0 || strcmp(pair->name, "as") == 0) {
        return read_mask_form(pair->name[0] == 'f' ? &mask->from : &mask->as, pair, error);
    }
    return firn__refuse_unknown(
        error, "masks", "have no key", pair->name, names, FIRN_CURE_LISTED,
        "use name, width, version, key_number, fingerprint, from, as or mac");
}

static int read_keys(firn_mask *mask, const char *text, firn_error *error) {
    firn__keys keys;
    int64_t version = 0;
    int code = firn__keys_split(&keys, text, error);
    for (size_t i = 0; code == FIRN_OK && i < keys.field_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(keys.fields[i].name, keys.fields[j].name) == 0) {
                return firn__fail(error, FIRN_EUSAGE, "%.40s is given twice: give it once",
                                  keys.fields[i].name);
            }
        }
        code = read_mask_pair(mask, &keys.fields[i], &version, error);
    }
    if (code == FIRN_OK && mask->name[0] == '\0') {
        return firn__fail(error, FIRN_EUSAGE,
                          "a mask needs a name, and each name is another mask: add name=, such as "
                          "name=orders");
    }
    if (code == FIRN_OK && version != 0 && mask->version == 0) {
        return firn__fail(
            error, FIRN_EUSAGE,
            "version=%d is of UUIDs: add width=uuid, or remove version=", (int)version);
    }
    mask->version = version != 0 ? version : mask->version;
    if (code == FIRN_OK && mask->is_uuid47 && (mask->version != 7 || mask->mac != 0)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "width=uuid47 takes UUIDs of version 7 and has no MAC: remove version= "
                          "and mac=, or use width=uuid");
    }
    return code == FIRN_OK ? fill_forms(mask, error) : code;
}

/* The fingerprint shows that another key, width or version is used under the name, and does not help
 * to find the key: it is derived from the secret key as the mask's own key is, with another label. */
static int check_print(firn_mask *mask, const uint8_t key[FIRN_MASK_KEY_SIZE], const char *label,
                       firn_error *error) {
    char other[160];
    uint8_t bytes[PRINT_BYTES];
    int length = snprintf(other, sizeof other, "fingerprint|%s", label);
    firn__hkdf(bytes, sizeof bytes, key, FIRN_MASK_KEY_SIZE, other, (size_t)length);
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(mask->print + 2 * i, 3, "%02x", bytes[i]);
    }
    return mask->expected[0] == '\0' || strcmp(mask->print, mask->expected) == 0
               ? FIRN_OK
               : firn__fail(
                     error, FIRN_EUSAGE,
                     "mask %.63s has fingerprint %.8s, not %.8s: use the key, number, width and "
                     "version that this name has had, or a new name",
                     mask->name, mask->print, mask->expected);
}

/* The two words of UUIDv47's key are the first 16 bytes, each least significant byte first. */
static int take_sip_key(firn_mask *mask, const uint8_t key[FIRN_MASK_KEY_SIZE], firn_error *error) {
    for (size_t i = 0; i < FIRN_MASK_KEY_SIZE; i++) {
        if (i >= sizeof mask->sip_key && key[i] != 0) {
            return firn__fail(error, FIRN_EUSAGE,
                              "a key of UUIDv47 has 16 bytes, and this one has 32: make one for "
                              "width=uuid47");
        }
        mask->sip_key[i / 8 % 2] |= i < sizeof mask->sip_key ? (uint64_t)key[i] << i % 8 * 8 : 0;
    }
    return FIRN_OK;
}

static void derive_mac_key(firn_mask *mask, const uint8_t key[FIRN_MASK_KEY_SIZE],
                           const char *label) {
    char other[160];
    int length = snprintf(other, sizeof other, "mac|%s", label);
    firn__hkdf(mask->mac_key, sizeof mask->mac_key, key, FIRN_MASK_KEY_SIZE, other, (size_t)length);
}

/* The label of the mask's own key names all that makes it another mask, so no key serves two
 * constructions. The tweak of FF1 stays empty: it would be the name. */
static int start_cipher(firn_mask *mask, const uint8_t key[FIRN_MASK_KEY_SIZE], firn_error *error) {
    char label[128], from[16] = "";
    uint8_t own[16];
    if (mask->version != 0 && !mask->is_uuid47) {
        snprintf(from, sizeof from, "-uuid%d", (int)mask->version);
    }
    int length = snprintf(label, sizeof label, "%s%s|%" PRIu32 "|%s|%" PRId64,
                          mask->is_uuid47 ? "uuid47" : "firn-ff1-2", from, mask->bits, mask->name,
                          mask->key_number);
    int code = check_print(mask, key, label, error);
    if (code != FIRN_OK || mask->is_uuid47) {
        return code == FIRN_OK ? take_sip_key(mask, key, error) : code;
    }
    firn__hkdf(own, sizeof own, key, FIRN_MASK_KEY_SIZE, label, (size_t)length);
    derive_mac_key(mask, key, label);
    code =
        mask->permutation.ops->open(&mask->permutation.cipher, own, 2, mask->bits, NULL, 0, error);
    explicit_bzero(own, sizeof own);
    return code;
}

int firn_mask_open(firn_mask **out, const char *text, const uint8_t key[FIRN_MASK_KEY_SIZE],
                   const char *module_dir, firn_error *error) {
    firn_mask *mask = calloc(1, sizeof *mask);
    if (mask == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a mask");
    }
    mask->bits = 63;
    mask->key_number = 1;
    mask->from = mask->as = -1;
    int code = read_keys(mask, text, error);
    if (code == FIRN_OK && !mask->is_uuid47) {
        code = firn__permutation_load(&mask->permutation, "masks", module_dir, error);
    }
    if (code == FIRN_OK) {
        code = start_cipher(mask, key, error);
    }
    if (code != FIRN_OK) {
        firn_mask_close(mask);
        return code;
    }
    *out = mask;
    return FIRN_OK;
}

void firn_mask_close(firn_mask *mask) {
    if (mask != NULL) {
        firn__permutation_close(&mask->permutation);
        explicit_bzero(mask->mac_key, sizeof mask->mac_key);
        explicit_bzero(mask->sip_key, sizeof mask->sip_key);
        free(mask);
    }
}

uint32_t firn_mask_bits(const firn_mask *mask) {
    return mask->version != 0 ? 128 : mask->bits == 63 ? 64 : mask->bits;
}

int firn_mask_form(const firn_mask *mask, bool masked) {
    return masked ? mask->as : mask->from;
}

const char *firn_mask_fingerprint(const firn_mask *mask) {
    return mask->print;
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
                          "ID %.48s is not a UUID of version 4, as all masked ones are: give a "
                          "masked ID",
                          text);
    }
    return version == 0 || version > 8
               ? firn__fail(error, FIRN_EMISMATCH,
                            "ID %.48s is not a UUID, and this mask takes UUIDs only: use a width "
                            "in bits",
                            text)
               : firn__fail(error, FIRN_EMISMATCH,
                            "ID %.48s is a UUID of version %" PRIu32
                            ", and this mask takes version %d: use %sversion=%" PRIu32,
                            text, version, (int)mask->version, mask->is_uuid47 ? "width=uuid " : "",
                            version);
}

/* Every ID is checked before the first one is masked. `masked`: they are masked already. */
static int check_masked(const firn_mask *mask, const firn_id *ids, size_t count, bool masked,
                        firn_error *error) {
    const uint32_t version = masked ? 4 : (uint32_t)mask->version;
    for (size_t i = 0; i < count; i++) {
        if (mask->version != 0 && firn__uuid_version(&ids[i]) != version) {
            return refuse_version(mask, &ids[i], masked, error);
        }
        const firn_value value = {ids[i].low, ids[i].high};
        if (mask->version == 0 && (ids[i].top != 0 || !firn__fits(value, mask->bits))) {
            return refuse_range(mask, &ids[i], error);
        }
    }
    return FIRN_OK;
}

static firn_halves split_bits(const firn_mask *mask, const firn_id *id) {
    const uint32_t second = mask->bits - mask->bits / 2;
    const firn_value value =
        mask->version != 0 ? firn__uuid_free(id) : (firn_value){id->low, id->high};
    return (firn_halves){firn__part(value, second, mask->bits / 2).low,
                         firn__part(value, 0, second).low};
}

static firn_id join_bits(const firn_mask *mask, firn_halves halves, uint32_t version) {
    firn_value value = firn__up((firn_value){halves.first, 0}, mask->bits - mask->bits / 2);
    value.low |= halves.second;
    return version != 0 ? firn__uuid_of(value, version)
                        : (firn_id){value.low, value.high, 0, firn_mask_bits(mask)};
}

typedef int permute(void *self, firn_halves *numbers, size_t count, firn_error *error);

static int permute_all(const firn_mask *mask, permute *step, firn_id *out, const firn_id *ids,
                       size_t count, uint32_t version, firn_error *error) {
    firn_halves halves[BATCH];
    int code = FIRN_OK;
    for (size_t done = 0, size; code == FIRN_OK && done < count; done += size) {
        size = count - done < BATCH ? count - done : BATCH;
        for (size_t i = 0; i < size; i++) {
            halves[i] = split_bits(mask, &ids[done + i]);
        }
        code = step(mask->permutation.cipher, halves, size, error);
        for (size_t i = 0; code == FIRN_OK && i < size; i++) {
            out[done + i] = join_bits(mask, halves[i], version);
        }
    }
    return code;
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

int firn_mask_apply(firn_mask *mask, firn_id *masked, const firn_id *ids, size_t count,
                    firn_error *error) {
    int code = check_masked(mask, ids, count, false, error);
    return code != FIRN_OK   ? code
           : mask->is_uuid47 ? turn_times(mask, masked, ids, count, 4)
                             : permute_all(mask, mask->permutation.ops->encrypt, masked, ids, count,
                                           mask->version != 0 ? 4 : 0, error);
}

int firn_mask_undo(firn_mask *mask, firn_id *ids, const firn_id *masked, size_t count,
                   firn_error *error) {
    int code = check_masked(mask, masked, count, true, error);
    return code != FIRN_OK   ? code
           : mask->is_uuid47 ? turn_times(mask, ids, masked, count, 7)
                             : permute_all(mask, mask->permutation.ops->decrypt, ids, masked, count,
                                           (uint32_t)mask->version, error);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The MAC of a masked ID, as letters: the first bits of HKDF-SHA256 with its bytes as the label. */
static void write_mac(const firn_mask *mask, char letters[MAC_LETTERS + 1], const firn_id *masked) {
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    uint8_t bytes[20], code[3];
    const size_t size = firn_id_bytes(bytes, masked);
    firn__hkdf(code, sizeof code, mask->mac_key, sizeof mask->mac_key, bytes, size);
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

int firn_mask_write(firn_mask *mask, char text[FIRN_TEXT_SIZE], const char *id, size_t length,
                    firn_error *error) {
    firn_id read, masked;
    int code = parse_for(mask, &read, mask->from, id, length, error);
    code = code == FIRN_OK ? firn_mask_apply(mask, &masked, &read, 1, error) : code;
    code = code == FIRN_OK ? write_mask_text(text, &masked, mask->as, error) : code;
    if (code == FIRN_OK && mask->mac != 0) {
        write_mac(mask, text + strlen(text), &masked);
    }
    return code;
}

static int check_mac(const firn_mask *mask, const firn_id *masked, const char *letters,
                     firn_error *error) {
    char wanted[MAC_LETTERS + 1];
    write_mac(mask, wanted, masked);
    return memcmp(wanted, letters, MAC_LETTERS) == 0
               ? FIRN_OK
               : firn__fail(error, FIRN_EMISMATCH,
                            "the MAC of the masked ID is wrong: it is damaged or guessed, or was "
                            "masked with another name or key; give an ID that mask %.63s masked",
                            mask->name);
}

int firn_mask_read(firn_mask *mask, char text[FIRN_TEXT_SIZE], const char *masked, size_t length,
                   firn_error *error) {
    firn_id read, id;
    const size_t letters = mask->mac != 0 ? MAC_LETTERS : 0;
    if (letters > 0 && length <= letters) {
        return firn__fail(error, FIRN_ETEXT,
                          "a masked ID with a MAC has more than %d characters, not %zu: give all "
                          "of it",
                          MAC_LETTERS, length);
    }
    length -= letters;
    int code = parse_for(mask, &read, mask->as, masked, length, error);
    code = code == FIRN_OK && letters > 0 ? check_mac(mask, &read, masked + length, error) : code;
    code = code == FIRN_OK ? firn_mask_undo(mask, &id, &read, 1, error) : code;
    return code == FIRN_OK ? write_mask_text(text, &id, mask->from, error) : code;
}
