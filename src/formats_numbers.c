/* SPDX-License-Identifier: MIT */
/* Sqids and Hashids with their default alphabets: integers in a text, and back, because most texts
 * can be decoded and only one of them is what the integers encode to. The list of blocked words of
 * Sqids is not here: an ID that avoids such a word is not recognised. */
#include "formats.h"

#include <stdio.h>
#include <string.h>

enum { LETTERS = 62, NUMBERS_MAX = 10, CODE_MAX = 24 };

static const char alphanumeric[LETTERS + 1] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

typedef struct number_list {
    uint64_t value[NUMBERS_MAX];
    size_t count;
} number_list;

static void swap(char *text, size_t i, size_t j) {
    const char c = text[i];
    text[i] = text[j];
    text[j] = c;
}

static bool put_numbers(char *out, size_t size, const number_list *list) {
    size_t position = 0;
    for (size_t i = 0; i < list->count; i++) {
        int length = snprintf(out + position, size - position, "%s%llu", i > 0 ? " " : "",
                              (unsigned long long)list->value[i]);
        position += (size_t)length;
        if (position >= size) {
            return false;
        }
    }
    return list->count > 0;
}

/* A number of at most 53 bits, as in JavaScript, in `base` digits. */
static bool read_base(uint64_t *number, const char *digits, size_t base, const char *text,
                      size_t length) {
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        const char *digit = memchr(digits, text[i], base);
        if (digit == NULL || *number > (UINT64_C(1) << 53) / base) {
            return false;
        }
        *number = *number * base + (uint64_t)(digit - digits);
    }
    return length > 0 && *number < UINT64_C(1) << 53;
}

/* Returns the new length; what does not fit is left out, so that the text differs. */
static size_t put_base(char *out, size_t position, const char *digits, size_t base,
                       uint64_t number) {
    char reversed[CODE_MAX];
    size_t length = 0;
    do {
        reversed[length++] = digits[number % base];
        number /= base;
    } while (number > 0);
    while (length > 0 && position < CODE_MAX) {
        out[position++] = reversed[--length];
    }
    return position;
}

/* ---- Sqids ----------------------------------------------------------------------------------- */

static void sqids_shuffle(char letters[LETTERS]) {
    for (size_t i = 0, j = LETTERS - 1; j > 0; i++, j--) {
        swap(letters, i, (i * j + (unsigned char)letters[i] + (unsigned char)letters[j]) % LETTERS);
    }
}

/* The alphabet of an offset: rotated, then reversed. */
static void sqids_turn(char out[LETTERS], const char letters[LETTERS], size_t offset) {
    for (size_t i = 0; i < LETTERS; i++) {
        out[LETTERS - 1 - i] = letters[(offset + i) % LETTERS];
    }
}

/* Adds letters of another shuffle until the text has the length `wanted`, at most CODE_MAX. */
static size_t sqids_encode(char out[CODE_MAX], const number_list *list, const char letters[LETTERS],
                           size_t wanted) {
    char turned[LETTERS];
    size_t offset = list->count, position = 0;
    for (size_t i = 0; i < list->count; i++) {
        offset += (unsigned char)letters[list->value[i] % LETTERS] + i;
    }
    offset %= LETTERS;
    out[position++] = letters[offset];
    sqids_turn(turned, letters, offset);
    for (size_t i = 0; i < list->count; i++) {
        position = put_base(out, position, turned + 1, LETTERS - 1, list->value[i]);
        if (i + 1 < list->count && position < CODE_MAX) {
            out[position++] = turned[0];
            sqids_shuffle(turned);
        }
    }
    if (position < wanted) {
        out[position++] = turned[0];
        sqids_shuffle(turned);
        for (size_t i = 0; position < wanted; i++) {
            out[position++] = turned[i];
        }
    }
    return position;
}

bool firn__sqids_read(char *out, size_t size, const char *text, size_t length) {
    char letters[LETTERS], turned[LETTERS], again[CODE_MAX];
    number_list list = {.count = 0};
    memcpy(letters, alphanumeric, LETTERS);
    sqids_shuffle(letters);
    const char *first = length > 1 && length < CODE_MAX ? memchr(letters, text[0], LETTERS) : NULL;
    if (first == NULL) {
        return false;
    }
    sqids_turn(turned, letters, (size_t)(first - letters));
    for (size_t position = 1; position < length && list.count < NUMBERS_MAX;) {
        const char *end = memchr(text + position, turned[0], length - position);
        const size_t digits = end != NULL ? (size_t)(end - text) - position : length - position;
        if (digits == 0) {
            break;
        }
        if (!read_base(&list.value[list.count++], turned + 1, LETTERS - 1, text + position,
                       digits)) {
            return false;
        }
        position += digits + 1;
        sqids_shuffle(turned);
    }
    return list.count > 0 && sqids_encode(again, &list, letters, length) == length &&
           memcmp(again, text, length) == 0 && put_numbers(out, size, &list);
}

/* ---- Hashids --------------------------------------------------------------------------------- */

/* Without the separators and the four guards, which only padded texts have. */
static const char hashids_letters[] = "gjklmnopqrvwxyzABDEGJKLMNOPQRVWXYZ1234567890";
static const char hashids_separators[] = "cfhistuCFHISTU";
enum { HASHIDS = sizeof hashids_letters - 1, SEPARATORS = sizeof hashids_separators - 1 };

static void hashids_shuffle(char letters[HASHIDS], char lottery) {
    char salt[HASHIDS];
    size_t sum = 0;
    salt[0] = lottery;
    memcpy(salt + 1, letters, HASHIDS - 1);
    for (size_t i = HASHIDS - 1, v = 0; i > 0; i--, v++) {
        const size_t letter = (unsigned char)salt[v % HASHIDS];
        sum += letter;
        swap(letters, i, (letter + v % HASHIDS + sum) % i);
    }
}

static size_t hashids_encode(char out[CODE_MAX], const number_list *list) {
    char letters[HASHIDS];
    size_t hash = 0, position = 0;
    memcpy(letters, hashids_letters, HASHIDS);
    for (size_t i = 0; i < list->count; i++) {
        hash += (size_t)(list->value[i] % (i + 100));
    }
    const char lottery = letters[hash % HASHIDS];
    out[position++] = lottery;
    for (size_t i = 0; i < list->count; i++) {
        hashids_shuffle(letters, lottery);
        const size_t begin = position;
        position = put_base(out, position, letters, HASHIDS, list->value[i]);
        if (i + 1 < list->count && position < CODE_MAX) {
            const uint64_t next = list->value[i] % ((unsigned char)out[begin] + i);
            out[position++] = hashids_separators[next % SEPARATORS];
        }
    }
    return position;
}

bool firn__hashids_read(char *out, size_t size, const char *text, size_t length) {
    char letters[HASHIDS], again[CODE_MAX];
    number_list list = {.count = 0};
    memcpy(letters, hashids_letters, HASHIDS);
    if (length < 2 || length >= CODE_MAX) {
        return false;
    }
    for (size_t position = 1; position < length;) {
        size_t digits = 0;
        while (position + digits < length &&
               memchr(hashids_separators, text[position + digits], SEPARATORS) == NULL) {
            digits++;
        }
        hashids_shuffle(letters, text[0]);
        if (list.count == NUMBERS_MAX ||
            !read_base(&list.value[list.count++], letters, HASHIDS, text + position, digits)) {
            return false;
        }
        position += digits + 1;
    }
    return hashids_encode(again, &list) == length && memcmp(again, text, length) == 0 &&
           put_numbers(out, size, &list);
}
