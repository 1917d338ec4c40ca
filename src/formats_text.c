/* SPDX-License-Identifier: MIT */
/* Recognisers of the other formats: traces, prefixed IDs, random texts and numbers. */
#include "bits.h"
#include "formats.h"
#include "number.h"

#include <stdio.h>
#include <string.h>

static const char base36[] = "0123456789abcdefghijklmnopqrstuvwxyz";
static const char crockford[] = "0123456789abcdefghjkmnpqrstvwxyz";

/* How many characters are from `first` to `last`, such as 0 to 9. */
static size_t count_letters(const char *text, size_t length, char first, char last) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += text[i] >= first && text[i] <= last;
    }
    return count;
}

static bool is_lower_hex(const char *text, size_t length) {
    return count_letters(text, length, '0', '9') + count_letters(text, length, 'a', 'f') == length;
}

static bool is_zeros(const char *text, size_t length) {
    return count_letters(text, length, '0', '0') == length;
}

/* The caller knows that all digits are in the alphabet, and that they fit in 128 bits. */
static firn_id known_digits(const char *text, size_t length, const char *alphabet) {
    firn_id id = {0};
    (void)firn__read_digits(&id, alphabet, text, length);
    return id;
}

/* 8 lower-case hex digits. */
static uint64_t known_hex(const char *text) {
    return known_digits(text, 8, "0123456789abcdef").low;
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* Seconds since 1970, zeros, random bits. */
static bool has_seconds(firn_match *out, const char *trace) {
    return memcmp(trace + 8, "00000000", 8) == 0 && firn__match_ms(out, known_hex(trace) * 1000, 0);
}

bool firn__is_datadog_trace(firn_match *out, int *bits, const firn__look *seen) {
    if (!has_seconds(out, seen->text) || is_zeros(seen->text + 16, 16)) {
        return false;
    }
    firn__match_field(out, "low", "%.16s", seen->text + 16);
    return firn__matched(out, bits, 32, "32 zero bits after a time from 2005 to 2045");
}

/* Version ff is invalid. A later version may have more fields, after another hyphen. */
bool firn__is_traceparent(firn_match *out, int *bits, const firn__look *seen) {
    const char *text = seen->text;
    const bool first = memcmp(text, "00", 2) == 0;
    if (text[2] != '-' || text[35] != '-' || text[52] != '-' || !is_lower_hex(text, 2) ||
        !is_lower_hex(text + 3, 32) || !is_lower_hex(text + 36, 16) ||
        !is_lower_hex(text + 53, 2) || memcmp(text, "ff", 2) == 0 || is_zeros(text + 3, 32) ||
        is_zeros(text + 36, 16) || (seen->length > 55 && (first || text[55] != '-'))) {
        return false;
    }
    const char last = text[54];
    const unsigned low = (unsigned)(last <= '9' ? last - '0' : last - 'a' + 10);
    firn__match_field(out, "version", "%.2s", text);
    firn__match_field(out, "trace-id", "%.32s", text + 3);
    firn__match_field(out, "parent-id", "%.16s", text + 36);
    firn__match_field(out, "flags", "%.2s (%ssampled%s)", text + 53, (low & 1) != 0 ? "" : "not ",
                      (low & 2) != 0 ? ", random trace-id" : "");
    if (!has_seconds(out, text + 3)) {
        out->timed = false;
    }
    return firn__matched(out, bits, 32, "the hyphens, widths and IDs of a traceparent");
}

/* ---- prefixes -------------------------------------------------------------------------------- */

bool firn__is_upid(firn_match *out, int *bits, const firn__look *seen) {
    static const char digits[] = "234567abcdefghijklmnopqrstuvwxyz";
    firn_id all;
    const char *text = seen->text;
    if (text[4] != '_' || !firn__read_digits(&all, digits, text, 4) ||
        !firn__read_digits(&all, digits, text + 5, 22) || text[26] != 'a') {
        return false;
    }
    const bool today = firn__match_ms(out, firn__get(&all, 70, 40).low << 8, 3);
    firn__match_field(out, "prefix", "%.4s", text);
    firn__match_field(out, "random", "%.13s", text + 13);
    firn__match_field(out, "version", "a");
    return firn__matched(out, bits, today ? 12 : 5,
                         today ? "version a and a time from 2005 to 2045, in units of 256 ms"
                               : "version a, with an unusual time");
}

static uint32_t polymod(uint32_t sum, uint32_t value) {
    static const uint32_t generator[5] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd,
                                          0x2a1462b3};
    const uint32_t top = sum >> 25;
    sum = (sum & 0x1ffffff) << 5 ^ value;
    for (int i = 0; i < 5; i++) {
        sum ^= (top >> i & 1) != 0 ? generator[i] : 0;
    }
    return sum;
}

/* The low 20 bits of the checksum of BIP 173 over prefix_ and payload. */
static uint32_t orderly_checksum(const char *prefix, size_t length, const uint8_t digits[32]) {
    uint32_t sum = 1;
    for (size_t i = 0; i < length; i++) {
        sum = polymod(sum, (uint32_t)(unsigned char)prefix[i] >> 5);
    }
    sum = polymod(sum, 0);
    for (size_t i = 0; i < length; i++) {
        sum = polymod(sum, (uint32_t)(unsigned char)prefix[i] & 31);
    }
    for (size_t i = 0; i < 32; i++) {
        sum = polymod(sum, digits[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        sum = polymod(sum, 0);
    }
    return (sum ^ 1) & 0xfffff;
}

/* The 32 digits, or false. */
static bool read_payload(uint8_t digits[32], firn_id *id, const char *text) {
    *id = (firn_id){0, 0, 0, 160};
    for (size_t i = 0; i < 32; i++) {
        const char c = text[i];
        const char *digit =
            memchr(crockford, c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c, sizeof crockford - 1);
        if (digit == NULL) {
            return false;
        }
        digits[i] = (uint8_t)(digit - crockford);
        const firn_value value = {digits[i], 0};
        firn__push(id, value, 5);
    }
    return true;
}

bool firn__is_orderlyid(firn_match *out, int *bits, const firn__look *seen) {
    const char *text = seen->text, *line = memchr(text, '_', seen->length);
    uint8_t digits[32];
    firn_id id, sum;
    const size_t prefix = line != NULL ? (size_t)(line - text) : 0;
    const size_t rest = line != NULL ? seen->length - prefix - 1 : 0;
    if (prefix < 2 || prefix > 31 || (rest != 32 && (rest != 37 || line[33] != '-')) ||
        text[0] < 'a' || text[0] > 'z') {
        return false;
    }
    for (size_t i = 0; i < prefix; i++) {
        if (memchr(base36, text[i], sizeof base36 - 1) == NULL) {
            return false;
        }
    }
    if (!read_payload(digits, &id, line + 1) || (firn__get(&id, 104, 8).low & 0xdf) != 0 ||
        !firn__match_ms(out, firn__get(&id, 112, 48).low + UINT64_C(1577836800000), 3)) {
        return false;
    }
    if (rest == 37 && (!firn__read_digits(&sum, crockford, line + 34, 4) ||
                       sum.low != orderly_checksum(text, prefix + 1, digits))) {
        return false;
    }
    firn__match_field(out, "prefix", "%.*s", (int)prefix, text);
    firn__match_field(out, "flags", "%llu%s", (unsigned long long)firn__get(&id, 104, 8).low,
                      (firn__get(&id, 104, 8).low & 0x20) != 0 ? " (time rounded)" : "");
    firn__match_number(out, "tenant", firn__get(&id, 88, 16).low);
    firn__match_number(out, "sequence", firn__get(&id, 76, 12).low);
    firn__match_number(out, "shard", firn__get(&id, 60, 16).low);
    firn__match_field(out, "random", "0x%015llx", (unsigned long long)firn__get(&id, 0, 60).low);
    return firn__matched(out, bits, rest == 37 ? 35 : 15,
                         rest == 37 ? "the checksum, the flags and a time from 2020 to 2045"
                                    : "the flags and a time from 2020 to 2045");
}

/* prefix_REST, perhaps prefix_test_REST: the length of the prefix, or 0. */
static size_t prefix_of(const firn__look *seen, size_t least, size_t *digits, size_t *capitals) {
    size_t end = seen->length;
    while (end > 0 && seen->text[end - 1] != '_') {
        end--;
    }
    if (end < 2 || seen->length - end < least || seen->text[0] < 'a' || seen->text[0] > 'z') {
        return 0;
    }
    for (size_t i = 0; i < end - 1; i++) {
        if (seen->text[i] != '_' && memchr(base36, seen->text[i], sizeof base36 - 1) == NULL) {
            return 0;
        }
    }
    const char *rest = seen->text + end;
    const size_t length = seen->length - end;
    *digits = count_letters(rest, length, '0', '9');
    *capitals = count_letters(rest, length, 'A', 'Z');
    return *digits + *capitals + count_letters(rest, length, 'a', 'z') == length ? end - 1 : 0;
}

bool firn__is_stripe(firn_match *out, int *bits, const firn__look *seen) {
    static const char known[] =
        " ac acct aliacc apwc ba bpc bps btok card cbtxn ccsbtxn ch climorder cn cnli credrev "
        "cs_live cs_test cus cuset debrev di dp dsp du ent_test ephkey evt fa fca fcaown "
        "fcsess fctxn feat_test fee file fr frr iauth ibt ic ich ics idp ii il in intok ipcd "
        "ipi ise issfr li link mandate mtr_test obp obt or orret payout person pi pk_live "
        "pk_test plink pm pmc pmd po pprod price prod prodft promo prv pst pst_test py pyr qt "
        "rc rcpt re ri rk_live rk_test rp rsl rsli seti setatt shr si sk_live sk_test sku sli "
        "sqr src srcmn srctxn sub sub_sched tax taxcalc taxreg ti tmc tml tmr tok tr trr trxn "
        "trxne txcd txi txn txr vr we wcap whsec ";
    size_t digits, capitals, length = prefix_of(seen, 8, &digits, &capitals);
    char word[16];
    if (length == 0 || length > 10 || digits + capitals == 0) {
        return false;
    }
    snprintf(word, sizeof word, " %.*s ", (int)length, seen->text);
    if (strstr(known, word) == NULL) {
        return false;
    }
    firn__match_field(out, "prefix", "%.*s", (int)length, seen->text);
    const bool secret = memcmp(word, " sk_", 4) == 0 || memcmp(word, " rk_", 4) == 0 ||
                        strcmp(word, " whsec ") == 0;
    return firn__matched(out, bits, 10,
                         secret ? "the prefix of a secret key of Stripe: keep it secret"
                                : "the prefix of an object of Stripe");
}

bool firn__is_prefixed(firn_match *out, int *bits, const firn__look *seen) {
    size_t digits, capitals, length = prefix_of(seen, 14, &digits, &capitals);
    firn_match other = {.count = 0};
    if (length == 0 || length > 63 || digits == 0 || firn__is_stripe(&other, bits, seen) ||
        firn__is_orderlyid(&other, bits, seen) ||
        (seen->length == 27 && firn__is_upid(&other, bits, seen))) {
        return false;
    }
    firn__match_field(out, "prefix", "%.*s", (int)length, seen->text);
    return firn__matched(out, bits, 0,
                         "a prefix, then letters and digits, as Stripe and others have");
}

/* ---- traces ---------------------------------------------------------------------------------- */

bool firn__is_xray(firn_match *out, int *bits, const firn__look *seen) {
    const char *text = seen->text;
    if (memcmp(text, "1-", 2) != 0 || text[10] != '-' || !is_lower_hex(text + 2, 8) ||
        !is_lower_hex(text + 11, 24) || !firn__match_ms(out, known_hex(text + 2) * 1000, 0)) {
        return false;
    }
    firn__match_field(out, "random", "0x%.24s", text + 11);
    return firn__matched(out, bits, FIRN__CERTAIN_BITS,
                         "the hyphens, the hex digits and a time from 2005 to 2045");
}

bool firn__is_cloudflare_ray(firn_match *out, int *bits, const firn__look *seen) {
    const char *text = seen->text;
    if (text[16] != '-' || !is_lower_hex(text, 16) || count_letters(text + 17, 3, 'A', 'Z') < 3) {
        return false;
    }
    firn__match_field(out, "airport", "%.3s", text + 17);
    return firn__matched(out, bits, 12, "16 hex digits, a hyphen and three capital letters");
}

/* ---- times in other alphabets ---------------------------------------------------------------- */

bool firn__is_nano64(firn_match *out, int *bits, const firn__look *seen) {
    const bool hyphen = seen->length == 17 && seen->text[11] == '-';
    char digits[17];
    firn_id id;
    snprintf(digits, sizeof digits, "%.11s%.5s", seen->text, seen->text + 11 + hyphen);
    if ((seen->length == 17 && !hyphen) ||
        firn_parse(&id, FIRN_FORM_HEX, 64, digits, 16, NULL) != FIRN_OK ||
        !firn__match_ms(out, id.low >> 20, 3)) {
        return false;
    }
    firn__match_field(out, "random", "0x%05llx", (unsigned long long)(id.low & 0xfffff));
    if (hyphen) {
        return firn__matched(out, bits, 12, "the hyphen and a time from 2005 to 2045");
    }
    if (count_letters(digits, 16, '0', '9') == 16) {
        return false; /* rather a number */
    }
    return firn__matched(out, bits, 4, "16 hex digits with a time from 2005 to 2045");
}

/* Returns byte `i` of the 15, the most significant first. */
static uint64_t byte_of(const firn_id *id, uint32_t i) {
    return firn__get(id, 8 * (14 - i), 8).low;
}

/* The bytes that change least come first, since such IDs compress better. Older versions wrote the
 * time, the address and the sequence in this order. */
bool firn__is_elasticsearch(firn_match *out, int *bits, const firn__look *seen) {
    const int64_t from = 1262304000, mixed_from = 1451606400, plain_end = 1546300800,
                  end = 2208988800;
    const firn_id id = known_digits(seen->text, seen->length, firn__base64url);
    const uint64_t ms = byte_of(&id, 5) << 40 | byte_of(&id, 4) << 32 | byte_of(&id, 3) << 24 |
                        byte_of(&id, 2) << 16 | byte_of(&id, 12) << 8 | byte_of(&id, 14);
    const bool mixed =
        firn__match_ms(out, ms, 3) && out->time.sec >= mixed_from && out->time.sec < end;
    if (!mixed && (!firn__match_ms(out, firn__get(&id, 72, 48).low, 3) || out->time.sec < from ||
                   out->time.sec >= plain_end)) {
        return false;
    }
    firn__match_number(out, "sequence",
                       mixed ? byte_of(&id, 1) << 16 | byte_of(&id, 13) << 8 | byte_of(&id, 0)
                             : firn__get(&id, 0, 24).low);
    firn__match_field(out, "address", "%012llx", (unsigned long long)firn__get(&id, 24, 48).low);
    return firn__matched(out, bits, mixed ? 8 : 10,
                         mixed ? "a time from 2016 to 2040 in the mixed order of its bytes"
                               : "a time from 2010 to 2018 before an address and a sequence");
}

bool firn__is_short_puid(firn_match *out, int *bits, const firn__look *seen) {
    const size_t digits = count_letters(seen->text, 12, '0', '9');
    const uint64_t ns = known_digits(seen->text, 12, base36).low;
    if (seen->length == 13 || digits == 0 || digits == 12 ||
        !firn__match_ms(out, ns / 1000000, 9)) {
        return false;
    }
    out->time.ns = (int32_t)(ns % 1000000000);
    if (seen->length == 14) {
        firn__match_number(out, "node", known_digits(seen->text + 12, 2, base36).low);
    }
    return firn__matched(out, bits, 2, "a time in ns from 2005 to 2045");
}

bool firn__is_ksuid_hex(firn_match *out, int *bits, const firn__look *seen) {
    if (!firn__match_ms(out, (known_hex(seen->text) + 1400000000) * 1000, 0)) {
        return false;
    }
    firn__match_field(out, "random", "0x%.32s", seen->text + 8);
    return firn__matched(out, bits, 2, "a time from 2014 to 2045");
}

/* ---- random texts ---------------------------------------------------------------------------- */

/* The counter of a millisecond begins at 0. */
bool firn__is_julid(firn_match *out, int *bits, const firn__look *seen) {
    firn_id id;
    if (firn_parse(&id, FIRN_FORM_BASE32, 128, seen->text, seen->length, NULL) != FIRN_OK ||
        !firn__match_ms(out, firn__get(&id, 80, 48).low, 3) || id.low == 0) {
        return false;
    }
    const uint64_t counter = firn__get(&id, 64, 16).low;
    if (counter >= 16) {
        return false;
    }
    firn__match_number(out, "counter", counter);
    firn__match_field(out, "random", "0x%016llx", (unsigned long long)id.low);
    out->subset = true;
    return firn__matched(out, bits, 12, "a ULID with a counter below 16 after the time");
}

/* The package writes the process before the machine, its manual the other way round. */
bool firn__is_puid(firn_match *out, int *bits, const firn__look *seen) {
    const char *text = seen->text;
    const uint64_t ns = known_digits(text + 18, 6, base36).low;
    if (!is_lower_hex(text + 12, 6) || ns >= 1000000000 ||
        !firn__match_ms(out, known_digits(text, 8, base36).low, 3)) {
        return false;
    }
    firn__match_number(out, "process", known_digits(text + 8, 4, base36).low);
    firn__match_field(out, "machine", "%.6s", text + 12);
    firn__match_number(out, "ns", ns);
    return firn__matched(out, bits, 9,
                         "a time from 2005 to 2045, hex digits of a machine and ns below 10^9");
}

bool firn__is_cuid1(firn_match *out, int *bits, const firn__look *seen) {
    const char *text = seen->text;
    if (text[0] != 'c' || !firn__match_ms(out, known_digits(text + 1, 8, base36).low, 3)) {
        return false;
    }
    firn__match_number(out, "counter", known_digits(text + 9, 4, base36).low);
    firn__match_field(out, "fingerprint", "%.4s", text + 13);
    firn__match_field(out, "random", "%.8s", text + 17);
    return firn__matched(out, bits, 6, "the c and a time from 2005 to 2045");
}

bool firn__is_instagram_code(firn_match *out, int *bits, const firn__look *seen) {
    const firn_scheme *scheme = firn_scheme_find("instagram");
    const firn_id id = known_digits(seen->text, seen->length, firn__base64url);
    if (id.high != 0 || !firn__match_ms(out,
                                        (id.low >> 23) + (uint64_t)scheme->epoch.sec * 1000 +
                                            (uint64_t)scheme->epoch.ns / 1000000,
                                        3)) {
        return false;
    }
    firn__match_number(out, "id", id.low);
    firn__match_field(out, "scheme", "instagram");
    firn__match_number(out, "shard", id.low >> 10 & 8191);
    firn__match_number(out, "sequence", id.low & 1023);
    return firn__matched(out, bits, 3, "64 bits in base64url, of a time from 2011 to 2045");
}

bool firn__is_cuid2(firn_match *out, int *bits, const firn__look *seen) {
    const size_t digits = count_letters(seen->text, seen->length, '0', '9');
    if (seen->text[0] < 'a' || digits == 0 || digits == seen->length - 1) {
        return false;
    }
    return firn__matched(out, bits, 0, "24 lower-case letters and digits, a letter first");
}

bool firn__is_nuid(firn_match *out, int *bits, const firn__look *seen) {
    firn__match_field(out, "prefix", "%.12s", seen->text);
    firn__match_field(out, "counter", "%.10s", seen->text + 12);
    return firn__matched(out, bits, 0, "22 letters and digits");
}

bool firn__is_nanoid(firn_match *out, int *bits, const firn__look *seen) {
    (void)seen;
    return firn__matched(out, bits, 0, "21 letters, digits, - and _");
}

bool firn__is_sqids(firn_match *out, int *bits, const firn__look *seen) {
    char numbers[sizeof out->fields[0].value];
    if (!firn__sqids_read(numbers, sizeof numbers, seen->text, seen->length)) {
        return false;
    }
    firn__match_field(out, "integers", "%s", numbers);
    return firn__matched(out, bits, 5, "it encodes these integers with the default alphabet");
}

bool firn__is_hashids(firn_match *out, int *bits, const firn__look *seen) {
    char numbers[sizeof out->fields[0].value];
    if (!firn__hashids_read(numbers, sizeof numbers, seen->text, seen->length)) {
        return false;
    }
    firn__match_field(out, "integers", "%s", numbers);
    return firn__matched(out, bits, 5,
                         "it encodes these integers with the default alphabet and no salt");
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* 64 bits. */
static bool read_u64(uint64_t *number, const firn__look *seen) {
    firn_id id;
    if (seen->text[0] == '0' ||
        firn_parse(&id, FIRN_FORM_UNSIGNED, 64, seen->text, seen->length, NULL) != FIRN_OK) {
        return false;
    }
    *number = id.low;
    return true;
}

/* 10, 13, 16 or 19 digits, which make it at least 10^9 s. */
bool firn__is_epoch(firn_match *out, int *bits, const firn__look *seen) {
    const uint32_t digits = (uint32_t)seen->length - 10;
    const uint64_t second = firn__power_of_ten(digits);
    uint64_t number;
    if (!read_u64(&number, seen) || number / second >= 2366841600) {
        return false;
    }
    out->timed = true;
    out->digits = (int)digits;
    out->time =
        (firn_time){(int64_t)(number / second), (int32_t)(number % second * (1000000000 / second))};
    return firn__matched(out, bits, 2,
                         "a time from 2001 to 2045, which any number of this size may be");
}

bool firn__is_linkedin(firn_match *out, int *bits, const firn__look *seen) {
    uint64_t number;
    if (!read_u64(&number, seen) || number >> 63 != 0 || !firn__match_ms(out, number >> 22, 3)) {
        return false;
    }
    firn__match_number(out, "low", number & 0x3fffff);
    return firn__matched(out, bits, 1, "a time from 2005 to 2039 from bit 22 up");
}

bool firn__is_tiktok(firn_match *out, int *bits, const firn__look *seen) {
    uint64_t number;
    if (!read_u64(&number, seen) || number >> 32 < 1388534400 || number >> 63 != 0) {
        return false;
    }
    (void)firn__match_ms(out, (number >> 32) * 1000, 0);
    firn__match_number(out, "low", number & UINT32_MAX);
    return firn__matched(out, bits, 1, "a time from 2014 to 2038 in the high 32 bits");
}

/* The sequences 0 to 4 mark clock rollbacks and IDs that were set by hand. */
bool firn__is_yitter(firn_match *out, int *bits, const firn__look *seen) {
    uint64_t number;
    if (!read_u64(&number, seen) || (number & 63) < 5 ||
        !firn__match_ms(out, (number >> 12) + UINT64_C(1582165202020), 3)) {
        return false;
    }
    firn__match_number(out, "worker", number >> 6 & 63);
    firn__match_number(out, "sequence", number & 63);
    return firn__matched(out, bits, 1, "a time from 2020 to 2045 from bit 12 up");
}

bool firn__is_tidb_tso(firn_match *out, int *bits, const firn__look *seen) {
    uint64_t number;
    if (!read_u64(&number, seen) || !firn__match_ms(out, number >> 18, 3)) {
        return false;
    }
    firn__match_number(out, "logical", number & 0x3ffff);
    return firn__matched(out, bits, 1, "a time from 2005 to 2045 from bit 18 up");
}

bool firn__is_unique_rowid(firn_match *out, int *bits, const firn__look *seen) {
    uint64_t number;
    if (!read_u64(&number, seen) ||
        !firn__match_ms(out, (number >> 15) / 100 + UINT64_C(1420070400000), 3)) {
        return false;
    }
    firn__match_number(out, "node", number & 0x7fff);
    return firn__matched(out, bits, 1, "a time from 2015 to 2045 from bit 15 up");
}

/* Units of 100 ns; `before`: ms from their first one to 1970. */
static bool is_100ns(firn_match *out, int *bits, const firn__look *seen, uint64_t before) {
    uint64_t number;
    if (!read_u64(&number, seen) || !firn__match_ms(out, number / 10000 - before, 7)) {
        return false;
    }
    out->time.ns += (int32_t)(number % 10000) * 100;
    return firn__matched(out, bits, 1, "a time from 2005 to 2045");
}

bool firn__is_filetime(firn_match *out, int *bits, const firn__look *seen) {
    return is_100ns(out, bits, seen, UINT64_C(11644473600000));
}

bool firn__is_net_ticks(firn_match *out, int *bits, const firn__look *seen) {
    return is_100ns(out, bits, seen, UINT64_C(62135596800000));
}

bool firn__is_steam(firn_match *out, int *bits, const firn__look *seen) {
    uint64_t number;
    if (!read_u64(&number, seen) || number >> 32 != 0x1100001) {
        return false;
    }
    firn__match_number(out, "account", number & UINT32_MAX);
    return firn__matched(out, bits, 5, "the high 32 bits of an individual account");
}

static bool add_snowid(firn_match *out, uint64_t number) {
    if (!firn__match_ms(out, (number >> 22) + UINT64_C(1704067200000), 3)) {
        return false;
    }
    firn__match_number(out, "node", number >> 12 & 1023);
    firn__match_number(out, "sequence", number & 4095);
    return true;
}

bool firn__is_snowid(firn_match *out, int *bits, const firn__look *seen) {
    uint64_t number;
    if (!read_u64(&number, seen) || !add_snowid(out, number)) {
        return false;
    }
    return firn__matched(out, bits, 1, "a time from 2024 to 2045 from bit 22 up");
}

static bool add_frostflake(firn_match *out, uint64_t number) {
    if (number >> 32 < 1420070400 || !firn__match_ms(out, (number >> 32) * 1000, 0)) {
        return false;
    }
    firn__match_number(out, "sequence", number >> 11 & 0x1fffff);
    firn__match_number(out, "machine", number & 2047);
    return true;
}

bool firn__is_frostflake(firn_match *out, int *bits, const firn__look *seen) {
    uint64_t number;
    if (!read_u64(&number, seen) || !add_frostflake(out, number)) {
        return false;
    }
    return firn__matched(out, bits, 1, "a time from 2015 to 2045 in the high 32 bits");
}

/* 64 bits in letters of both cases, as digits of a great base nearly always have. */
static bool read_letters(uint64_t *number, const firn__look *seen, const char *alphabet) {
    const firn_id id = known_digits(seen->text, seen->length, alphabet);
    *number = id.low;
    return count_letters(seen->text, seen->length, 'A', 'Z') > 0 &&
           count_letters(seen->text, seen->length, 'a', 'z') > 0 && id.high == 0;
}

bool firn__is_snowid_base62(firn_match *out, int *bits, const firn__look *seen) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    uint64_t number;
    if (!read_letters(&number, seen, digits) || !add_snowid(out, number)) {
        return false;
    }
    firn__match_number(out, "id", number);
    return firn__matched(out, bits, seen->length == 10 ? 0 : 4,
                         "64 bits in base62, of a time from 2024 to 2045");
}

bool firn__is_frostflake_base58(firn_match *out, int *bits, const firn__look *seen) {
    uint64_t number;
    if (!read_letters(&number, seen, firn__base58) || !add_frostflake(out, number)) {
        return false;
    }
    firn__match_number(out, "id", number);
    return firn__matched(out, bits, 3, "64 bits in base58, of a time from 2015 to 2045");
}

bool firn__is_integer(firn_match *out, int *bits, const firn__look *seen) {
    (void)seen;
    return firn__matched(out, bits, 0, "decimal digits");
}
