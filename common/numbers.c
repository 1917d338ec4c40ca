/* SPDX-License-Identifier: MIT */
/* See numbers.h. */
#include "numbers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool number_whole(uint64_t *number, const char *text) {
    char *end;
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0;
}

double number_read(const char *text, const char **rest) {
    char *end;
    errno = 0;
    *rest = text;
    if (strspn(text, "0123456789.") == 0 || strpbrk(text, "xX") != NULL) {
        return 0; /* no signs, blanks, names or hex */
    }
    double number = strtod(text, &end);
    *rest = end;
    return errno == 0 ? number : 0;
}

double number_amount(const char *text, const char *letters, const char **rest) {
    static const double powers[] = {1e3, 1e6, 1e9};
    double number = number_read(text, rest);
    const char *letter = **rest == '\0' ? NULL : strchr(letters, **rest);
    *rest += letter != NULL;
    return letter != NULL ? number * powers[letter - letters] : number;
}

char *number_text(char text[NUMBER_SIZE], double value) {
    char plain[NUMBER_SIZE];
    size_t length = 0;
    if (value < 1e12 && (value >= 100 || value == (double)(int64_t)value)) {
        size_t digits = (size_t)snprintf(plain, sizeof plain, "%.0f", value);
        for (size_t i = 0; i < digits; i++) {
            if (i > 0 && (digits - i) % 3 == 0) {
                text[length++] = ',';
            }
            text[length++] = plain[i];
        }
        text[length] = '\0';
        return text;
    }
    snprintf(plain, sizeof plain, "%.3g", value);
    const size_t power = strcspn(plain, "e");
    if (plain[power] == '\0') {
        snprintf(text, NUMBER_SIZE, "%s", plain);
    } else { /* e-9 instead of e-09 */
        snprintf(text, NUMBER_SIZE, "%.*se%d", (int)power, plain, atoi(plain + power + 1));
    }
    return text;
}
