/* SPDX-License-Identifier: MIT */
/* See numbers.h. */
#include "numbers.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
