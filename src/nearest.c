/* SPDX-License-Identifier: MIT */
/* The nearest name, for "did you mean": see nearest.h. */
#include "nearest.h"

#include "error.h"

#include <ctype.h>
#include <string.h>

enum { WORD_MAX = 31 };

static unsigned smaller(unsigned a, unsigned b) {
    return a < b ? a : b;
}

/* The optimal string alignment distance, row by row: table[i][j] is the distance of the first i
 * characters of `a` and the first j of `b`. */
unsigned firn__edits(const char *a, const char *b) {
    unsigned table[WORD_MAX + 1][WORD_MAX + 1];
    const size_t rows = strlen(a), columns = strlen(b);
    if (rows > WORD_MAX || columns > WORD_MAX) {
        return FIRN__TOO_LONG;
    }
    for (size_t i = 0; i <= rows; i++) {
        for (size_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = (unsigned)(i + j);
                continue;
            }
            const char last = (char)tolower((unsigned char)a[i - 1]);
            unsigned best = table[i - 1][j - 1] + (last != b[j - 1]);
            best = smaller(best, table[i - 1][j] + 1);
            best = smaller(best, table[i][j - 1] + 1);
            if (i > 1 && j > 1 && last == b[j - 2] &&
                tolower((unsigned char)a[i - 2]) == b[j - 1]) {
                best = smaller(best, table[i - 2][j - 2] + 1);
            }
            table[i][j] = best;
        }
    }
    return table[rows][columns];
}

/* Is a name a whole word of a longer one: store of has_store? */
static bool is_part(const char *name, const char *longer) {
    const size_t length = strlen(name);
    for (const char *position = longer; length > 3 && (position = strstr(position, name)) != NULL;
         position++) {
        if ((position == longer || position[-1] == '_' || position[-1] == '-') &&
            (position[length] == '\0' || position[length] == '_' || position[length] == '-')) {
            return true;
        }
    }
    return false;
}

const char *firn_nearest(const char *name, const char *const *names) {
    const char *found = NULL, *longer = NULL;
    unsigned least = FIRN__TOO_LONG;
    for (; *names != NULL; names++) {
        unsigned edits = firn__edits(name, *names);
        if (edits < least) {
            least = edits;
            found = *names;
        }
        longer = longer == NULL && is_part(name, *names) ? *names : longer;
    }
    if (longer != NULL && least > 1) {
        return longer;
    }
    /* Otherwise hardly a character of the name is left. */
    return found != NULL && least <= 1 + strlen(found) / 3 && least < strlen(name) ? found : NULL;
}

int firn__refuse_unknown(firn_error *error, const char *owner, const char *has_no, const char *name,
                         const char *const *names, int cure, const char *what_to_do) {
    const char *near = firn_nearest(name, names);
    if (near != NULL) {
        return firn_error_set(error, FIRN_EUSAGE, FIRN_CURE_SPELLING,
                              "%s %s '" FIRN__VALUE("%.60s") "': did you mean `%s`?", owner, has_no,
                              name, near);
    }
    return what_to_do == NULL
               ? firn_error_set(error, FIRN_EUSAGE, cure, "%s %s '" FIRN__VALUE("%.60s") "'", owner,
                                has_no, name)
               : firn_error_set(error, FIRN_EUSAGE, cure, "%s %s '" FIRN__VALUE("%.60s") "': %s",
                                owner, has_no, name, what_to_do);
}
