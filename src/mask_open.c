/* SPDX-License-Identifier: MIT */
/* Opens masks: reads their keys, chooses among the secret keys of a file, and derives the keys of each
 * mask from them. No secret key stays. */
#include "mask.h"

#include "error.h"
#include "hkdf.h"
#include "keys.h"
#include "nearest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_NUMBER_MOST   999999999
#define UUID8_NUMBER_MOST 15

/* ---- keys ------------------------------------------------------------------------------------ */

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
    mask->is_uuid8 = strcmp(value, "uuid8") == 0;
    if (strcmp(value, "uuid") == 0 || mask->is_uuid47 || mask->is_uuid8) {
        mask->version = 7;
        bits = mask->is_uuid8 ? UUID8_BITS : UUID_BITS;
    } else if (strspn(value, "0123456789") != strlen(value)) {
        code = firn__fail(error, FIRN_EUSAGE, "width=%.40s is not valid: use %d to %d, or uuid",
                          value, BITS_LEAST, BITS_MOST);
    } else {
        code = firn__number_read(&bits, "width", value, BITS_LEAST, BITS_MOST, error);
    }
    mask->bits = (uint32_t)bits;
    return code;
}

/* One fingerprint, or one for each key. */
static int read_prints(firn_mask *mask, const char *value, firn_error *error) {
    const char *rest = value;
    size_t length = strspn(rest, "0123456789abcdef");
    while (length == PRINT_DIGITS && rest[length] == ',') {
        rest += length + 1;
        length = strspn(rest, "0123456789abcdef");
    }
    if (length != PRINT_DIGITS || rest[length] != '\0' || strlen(value) >= sizeof mask->expected) {
        return firn__fail(error, FIRN_EUSAGE,
                          "fingerprint=%.40s is not valid: use the %d hex digits of the mask's "
                          "fingerprint",
                          value, PRINT_DIGITS);
    }
    memcpy(mask->expected, value, strlen(value) + 1);
    return FIRN_OK;
}

static int read_prefix(firn_mask *mask, const char *value, firn_error *error) {
    const size_t length = strlen(value);
    if (length > PREFIX_MOST) {
        return firn__fail(error, FIRN_EUSAGE, "prefix=%.40s has %zu characters: use at most %d",
                          value, length, PREFIX_MOST);
    }
    memcpy(mask->prefix, value, length + 1);
    return firn_prefix_check(value, length, error);
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
    mask->as = mask->as >= 0 ? mask->as : mask->prefix[0] != '\0' ? FIRN_FORM_BASE58 : mask->from;
    const int wrong = firn_form_width(mask->from, firn_mask_bits(mask)) == 0 ? mask->from
                      : firn_form_width(mask->as, firn_mask_bits(mask)) == 0 ? mask->as
                                                                             : -1;
    return wrong < 0 ? FIRN_OK
                     : firn__fail(error, FIRN_EUSAGE,
                                  "an ID of %" PRIu32 " bits has no form %.20s: use another form",
                                  firn_mask_bits(mask), firn_form_name(wrong));
}

/* Is it a form of letters and digits, in which four letters more are the same kind of text? */
static bool has_room(int form) {
    return form == FIRN_FORM_BASE32 || form == FIRN_FORM_BASE32HEX || form == FIRN_FORM_BASE36 ||
           form == FIRN_FORM_BASE36LOWER || form == FIRN_FORM_BASE58 || form == FIRN_FORM_BASE62 ||
           form == FIRN_FORM_BASE32SORT || form == FIRN_FORM_BASE64SORT ||
           form == FIRN_FORM_BASE64URL;
}

/* A masked ID in the form of the ID takes its place, in the same length. */
static bool has_mac_by_default(const firn_mask *mask) {
    return mask->prefix[0] != '\0' || (has_room(mask->as) && mask->as != mask->from);
}

static bool can_have_mac(const firn_mask *mask) {
    return !mask->is_uuid47 && !mask->is_uuid8 && mask->as != FIRN_FORM_UUID;
}

/* Refuses keys that do not go together. */
static int check_keys_agree(const firn_mask *mask, int64_t version, firn_error *error) {
    if (version != 0 && mask->version == 0) {
        return firn__fail(
            error, FIRN_EUSAGE,
            "version=%d is of UUIDs: add width=uuid, or remove version=", (int)version);
    }
    if (mask->is_uuid47 && (mask->version != 7 || mask->mac == 1 || mask->prefix[0] != '\0')) {
        return firn__fail(error, FIRN_EUSAGE,
                          "width=uuid47 takes UUIDs of version 7 and has no MAC and no prefix: "
                          "remove version=, mac= and prefix=, or use width=uuid");
    }
    if (mask->is_uuid8 && (mask->version != 7 || mask->mac == 1 || mask->prefix[0] != '\0')) {
        return firn__fail(error, FIRN_EUSAGE,
                          "width=uuid8 takes UUIDs of version 7 and has no MAC and no prefix: "
                          "remove version=, mac= and prefix=, or use width=uuid prefix=WORD");
    }
    if (mask->mac == 1 && !can_have_mac(mask)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "a UUID has no room for a MAC: use another form for masked IDs, such as "
                          "as=base58, or remove mac=");
    }
    return mask->prefix[0] == '\0' || has_room(mask->as) || mask->as == FIRN_FORM_DEC ||
                   mask->as == FIRN_FORM_HEX
               ? FIRN_OK
               : firn__fail(error, FIRN_EUSAGE,
                            "masked IDs with a prefix have no form %.20s: use as=base58",
                            firn_form_name(mask->as));
}

static int read_mask_pair(firn_mask *mask, const firn__pair *pair, int64_t *version,
                          firn_error *error) {
    static const char *const names[] = {"name", "width", "version", "key_number", "fingerprint",
                                        "from", "as",    "mac",     "prefix",     NULL};
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
        return read_prints(mask, pair->value, error);
    }
    if (strcmp(pair->name, "mac") == 0) {
        return firn__choice_read(&mask->mac, "mac", pair->value, "0 20", error);
    }
    if (strcmp(pair->name, "prefix") == 0) {
        return read_prefix(mask, pair->value, error);
    }
    if (strcmp(pair->name, "from") == 0 || strcmp(pair->name, "as") == 0) {
        return read_mask_form(pair->name[0] == 'f' ? &mask->from : &mask->as, pair, error);
    }
    return firn__refuse_unknown(
        error, "masks", "have no key", pair->name, names, FIRN_CURE_LISTED,
        "use name, width, version, key_number, fingerprint, from, as, mac or prefix");
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
    if (code != FIRN_OK) {
        return code;
    }
    code = fill_forms(mask, error);
    const bool takes_version = mask->version != 0 && version != 0;
    mask->version = takes_version ? version : mask->version;
    return code == FIRN_OK ? check_keys_agree(mask, version, error) : code;
}

/* ---- secret keys ----------------------------------------------------------------------------- */

/* Does a masked ID have the number of its key? Then all keys of a file unmask. */
static bool rotates(const firn_mask *mask) {
    return mask->is_uuid8 || mask->prefix[0] != '\0';
}

/* "1, 2 and 3", of the keys of a file. */
static char *list_numbers(char text[FIRN__MASK_KEYS * 12], const firn__mask_key *keys,
                          size_t count) {
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        length += (size_t)snprintf(text + length, FIRN__MASK_KEYS * 12 - length, "%s%d",
                                   i == 0           ? ""
                                   : i + 1 == count ? " and "
                                                    : ", ",
                                   (int)keys[i].value);
    }
    return text;
}

/* A key that the mask can use? `file` NULL: the key of firn_mask_open. */
static int check_secret(const firn_mask *mask, const firn__mask_key *key, int64_t number,
                        const char *file, firn_error *error) {
    if (key->is_half && !mask->is_uuid47) {
        return firn__fail(error, FIRN_EUSAGE,
                          "key %d in %.80s has 32 hex digits, which only width=uuid47 takes: use "
                          "a key of 64",
                          (int)number, file);
    }
    return !mask->is_uuid8 || number <= UUID8_NUMBER_MOST
               ? FIRN_OK
               : firn__fail(error, FIRN_ERANGE,
                            "key number %d is out of range (0 to %d), because width=uuid8 has four "
                            "bits for it: use a smaller number",
                            (int)number, UUID8_NUMBER_MOST);
}

/* Finds the key that masks among the keys of a file. */
static int find_writer(const firn_mask *mask, size_t *writer, const firn__mask_key *keys,
                       size_t count, const char *file, firn_error *error) {
    char numbers[FIRN__MASK_KEYS * 12];
    for (*writer = 0; *writer < count; ++*writer) {
        if (keys[*writer].value == mask->key_number || (mask->key_number < 0 && count == 1)) {
            return FIRN_OK;
        }
    }
    list_numbers(numbers, keys, count);
    return mask->key_number < 0
               ? firn__fail(error, FIRN_EUSAGE,
                            "%.80s has the keys %s: choose which key masks with key_number=%d",
                            file, numbers, (int)keys[0].value)
               : firn__fail(error, FIRN_EUSAGE,
                            "%.80s has no key %d, but %s: use key_number=%d, or add the key", file,
                            (int)mask->key_number, numbers, (int)keys[0].value);
}

/* The label of a mask's own key names all that makes it another mask, so no key serves two
 * constructions. The tweak of FF1 stays empty: it would be the name. */
static int write_label(char *label, size_t size, const firn_mask *mask, const char *purpose,
                       int64_t number) {
    char from[16] = "";
    if (mask->is_uuid8) {
        memcpy(from, "-uuid7-8", sizeof "-uuid7-8");
    } else if (mask->version != 0 && !mask->is_uuid47) {
        snprintf(from, sizeof from, "-uuid%d", (int)mask->version);
    }
    return snprintf(label, size, "%s%s%s|%" PRIu32 "|%s|%" PRId64, purpose,
                    mask->is_uuid47 ? "uuid47" : "firn-ff1-2", from, mask->bits, mask->name,
                    number);
}

static void derive_own(const firn_mask *mask, uint8_t *out, size_t size, const uint8_t *secret,
                       const char *purpose, int64_t number) {
    char label[160];
    const int length = write_label(label, sizeof label, mask, purpose, number);
    firn__hkdf(out, size, secret, FIRN_MASK_KEY_SIZE, label, (size_t)length);
}

/* The fingerprint shows that another key, width, version or MAC is used under the name, and does not
 * help to find the key: it is derived from the secret key as the mask's own key is, with another
 * label. */
static void write_print(char print[PRINT_DIGITS + 1], const firn_mask *mask, bool mac,
                        const firn__mask_key *key, int64_t number) {
    uint8_t bytes[PRINT_BYTES];
    derive_own(mask, bytes, sizeof bytes, key->bytes, mac ? "fingerprint|mac20|" : "fingerprint|",
               number);
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(print + 2 * i, 3, "%02x", bytes[i]);
    }
}

static bool is_expected(const firn_mask *mask, const char *print) {
    return mask->expected[0] == '\0' || strstr(mask->expected, print) != NULL;
}

/* Is the fingerprint given, and of the same mask with or without a MAC? */
static bool has_print(const firn_mask *mask, bool mac, const firn__mask_key *keys) {
    char print[PRINT_DIGITS + 1];
    write_print(print, mask, mac, &keys[0], mask->keys[0].number);
    return mask->expected[0] != '\0' && is_expected(mask, print);
}

/* A mask that was made without a MAC stays without one, as its fingerprint says. */
static void settle_mac(firn_mask *mask, const firn__mask_key *keys) {
    if (mask->mac < 0) {
        const bool usual = can_have_mac(mask) && has_mac_by_default(mask);
        const bool other =
            can_have_mac(mask) && !has_print(mask, usual, keys) && has_print(mask, !usual, keys);
        mask->mac = usual != other;
    }
}

static int refuse_print(const firn_mask *mask, const firn__mask_key *keys, const char *print,
                        int64_t number, firn_error *error) {
    if (can_have_mac(mask) && has_print(mask, mask->mac == 0, keys)) {
        return firn__fail(error, FIRN_EUSAGE,
                          "fingerprint %.8s is of mask %.63s with mac=%d: use mac=%d as this name "
                          "has had, or a new name",
                          mask->expected, mask->name, mask->mac == 0 ? MAC_BITS : 0,
                          mask->mac == 0 ? MAC_BITS : 0);
    }
    if (mask->count > 1 || strlen(mask->expected) > PRINT_DIGITS) {
        return firn__fail(error, FIRN_EUSAGE,
                          "key %d of mask %.63s has fingerprint %.8s, which is not in "
                          "fingerprint=%.143s: add it if the key is new, or bring the old key back",
                          (int)number, mask->name, print, mask->expected);
    }
    return firn__fail(error, FIRN_EUSAGE,
                      "mask %.63s has fingerprint %.8s, not %.8s: use the key, number, width, "
                      "version and mac that this name has had, or a new name",
                      mask->name, print, mask->expected);
}

/* Each key has its fingerprint, and each fingerprint its key. */
static int check_prints(firn_mask *mask, const firn__mask_key *keys, firn_error *error) {
    size_t length = 0;
    for (size_t i = 0; i < mask->count; i++) {
        char print[PRINT_DIGITS + 1];
        write_print(print, mask, mask->mac == 1, &keys[i], mask->keys[i].number);
        if (!is_expected(mask, print)) {
            return refuse_print(mask, keys, print, mask->keys[i].number, error);
        }
        length += (size_t)snprintf(mask->prints + length, sizeof mask->prints - length, "%s%s",
                                   i > 0 ? "," : "", print);
    }
    return mask->expected[0] == '\0' || strlen(mask->expected) == length
               ? FIRN_OK
               : firn__fail(
                     error, FIRN_EUSAGE,
                     "fingerprint=%.143s has more fingerprints than mask %.63s has keys "
                     "(%zu): remove the fingerprints of keys that the key file does not have",
                     mask->expected, mask->name, mask->count);
}

/* The two words of UUIDv47's key are the first 16 bytes, each least significant byte first. */
static int take_sip_key(firn_mask *mask, const uint8_t key[FIRN_MASK_KEY_SIZE], firn_error *error) {
    for (size_t i = 0; i < FIRN_MASK_KEY_SIZE; i++) {
        if (i >= sizeof mask->sip_key && key[i] != 0) {
            return firn__fail(error, FIRN_EUSAGE,
                              "a key of UUIDv47 has 16 bytes, and this one has 32: make a key with "
                              "width=uuid47");
        }
        mask->sip_key[i / 8 % 2] |= i < sizeof mask->sip_key ? (uint64_t)key[i] << i % 8 * 8 : 0;
    }
    return FIRN_OK;
}

static int start_cipher(firn_mask *mask, firn__mask_own *own, const uint8_t *secret,
                        const char *module_dir, firn_error *error) {
    uint8_t key[16];
    int code = firn__permutation_load(&own->permutation, "masks", module_dir, error);
    if (code != FIRN_OK) {
        return code;
    }
    derive_own(mask, key, sizeof key, secret, "", own->number);
    derive_own(mask, own->mac_key, sizeof own->mac_key, secret, "mac|", own->number);
    code = own->permutation.ops->open(&own->permutation.cipher, key, 2, mask->bits, NULL, 0, error);
    explicit_bzero(key, sizeof key);
    return code;
}

static int start_keys(firn_mask *mask, const firn__mask_key *keys, const char *module_dir,
                      firn_error *error) {
    settle_mac(mask, keys);
    int code = check_prints(mask, keys, error);
    if (code == FIRN_OK && mask->is_uuid47) {
        return take_sip_key(mask, keys[0].bytes, error);
    }
    for (size_t i = 0; code == FIRN_OK && i < mask->count; i++) {
        code = start_cipher(mask, &mask->keys[i], keys[i].bytes, module_dir, error);
    }
    return code;
}

/* Without the number of its key in masked IDs, a mask has only the key that masks. */
static int take_keys(firn_mask *mask, const firn__mask_key *keys, size_t count, const char *file,
                     const char *module_dir, firn_error *error) {
    size_t writer = 0;
    int code = file != NULL ? find_writer(mask, &writer, keys, count, file, error) : FIRN_OK;
    if (code == FIRN_OK && !rotates(mask)) {
        keys += writer;
        count = 1;
        writer = 0;
    }
    for (size_t i = 0; code == FIRN_OK && i < count; i++) {
        mask->keys[i].number = file != NULL            ? keys[i].value
                               : mask->key_number >= 0 ? mask->key_number
                                                       : 1;
        code = check_secret(mask, &keys[i], mask->keys[i].number, file, error);
    }
    mask->count = code == FIRN_OK ? count : 0;
    mask->writer = writer;
    return code == FIRN_OK ? start_keys(mask, keys, module_dir, error) : code;
}

int firn__mask_make(firn_mask **out, const char *text, const firn__mask_key *keys, size_t count,
                    const char *file, const char *module_dir, firn_error *error) {
    firn_mask *mask = calloc(1, sizeof *mask);
    if (mask == NULL) {
        return firn__fail(error, FIRN_EMEMORY, "out of memory for a mask");
    }
    mask->bits = 63;
    mask->from = mask->as = -1;
    mask->key_number = mask->mac = -1;
    int code = read_keys(mask, text, error);
    if (code == FIRN_OK) {
        code = take_keys(mask, keys, count, file, module_dir, error);
    }
    if (code != FIRN_OK) {
        firn_mask_close(mask);
        return code;
    }
    *out = mask;
    return FIRN_OK;
}

int firn_mask_open(firn_mask **out, const char *text, const uint8_t key[FIRN_MASK_KEY_SIZE],
                   const char *module_dir, firn_error *error) {
    firn__mask_key only = {.is_half = false};
    memcpy(only.bytes, key, sizeof only.bytes);
    int code = firn__mask_make(out, text, &only, 1, NULL, module_dir, error);
    explicit_bzero(&only, sizeof only);
    return code;
}

void firn_mask_close(firn_mask *mask) {
    if (mask != NULL) {
        for (size_t i = 0; i < FIRN__MASK_KEYS; i++) {
            firn__permutation_close(&mask->keys[i].permutation);
        }
        explicit_bzero(mask, sizeof *mask);
        free(mask);
    }
}
