/* SPDX-License-Identifier: MIT */
/* How IDs are written: letters, digits, and how long numbers last. */
#include "choose_text.h"

#include <math.h>

enum {
    ORDER_DIGITS = 18, /* of order numbers that programs read */
    ORDER_LEAST = 10,  /* that people read, */
    ORDER_MOST = 13    /* as few as last */
};

bool choose_mixes_case(const firn_scheme *scheme) {
    static const firn_id sample = {UINT64_C(0x0123456789abcdef), UINT64_C(0x0fedcba987654321),
                                   0x13579bdf, 0};
    firn_id id = sample;
    char text[FIRN_TEXT_SIZE];
    bool lower = false, upper = false;
    id.bits = scheme->bits;
    id.top = scheme->bits > 128 ? id.top : 0;
    id.high = scheme->bits > 64 ? id.high : 0;
    if (scheme->bits > 64 && scheme->bits < 128) {
        id.high &= (UINT64_C(1) << (scheme->bits - 64)) - 1;
    }
    for (const char *position = firn_format(text, &id, scheme->form); *position != '\0';
         position++) {
        lower = lower || (*position >= 'a' && *position <= 'z');
        upper = upper || (*position >= 'A' && *position <= 'Z');
    }
    return lower && upper;
}

bool choose_is_integer(const firn_scheme *scheme, const choose_answers *answers) {
    const uint32_t texts = CHOOSE_JAVASCRIPT | CHOOSE_URLS | CHOOSE_PEOPLE;
    return scheme != NULL && !scheme->keyed && scheme->bits <= 64 &&
           answers->word[CHOOSE_DATABASE] != CHOOSE_OTHER &&
           (answers->word[CHOOSE_READERS] & texts) == 0 && scheme->form != FIRN_FORM_DEC &&
           scheme->form != FIRN_FORM_UNSIGNED;
}

int choose_integer_bits(const choose_answers *answers) {
    return answers->word[CHOOSE_WIDTH] == CHOOSE_WIDTH_53 ||
                   (answers->word[CHOOSE_READERS] & CHOOSE_JAVASCRIPT) != 0
               ? 53
               : 62; /* where marks of a store end */
}

double choose_years(double integers, const choose_answers *answers) {
    return integers / answers->amount[CHOOSE_RATE] / (double)CHOOSE_YEAR;
}

bool choose_is_for_people(const choose_answers *answers) {
    return (answers->word[CHOOSE_READERS] & CHOOSE_PEOPLE) != 0;
}

int choose_digits(const choose_answers *answers) {
    int digits = ORDER_LEAST;
    if (!choose_is_for_people(answers)) {
        return ORDER_DIGITS;
    }
    while (digits < ORDER_MOST && choose_years(pow(10, digits), answers) < CHOOSE_LONG_YEARS) {
        digits++;
    }
    return digits;
}
