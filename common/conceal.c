/* SPDX-License-Identifier: MIT */
#include "conceal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char **copy; /* kept here, where a leak checker finds it */

static bool copy_words(int count, char **words) {
    copy = calloc((size_t)count + 1, sizeof *copy);
    for (int i = 0; i < count && copy != NULL; i++) {
        copy[i] = strdup(words[i]);
        if (copy[i] == NULL) {
            return false;
        }
    }
    return copy != NULL;
}

/* ENGINE://USER:PASSWORD@HOST?password=PASSWORD. As in src/store.c, USER:PASSWORD ends at the last
 * @ before the query. */
static void conceal(char *word) {
    char *user = strstr(word, "://");
    if (user == NULL) {
        return;
    }
    user += strlen("://");
    size_t length = strcspn(user, "?");
    char *position = memrchr(user, '@', length);
    char *colon = position != NULL ? memchr(user, ':', (size_t)(position - user)) : NULL;
    if (colon != NULL) {
        memset(colon + 1, '*', (size_t)(position - colon) - 1);
    }
    for (char *query = user + length; (query = strstr(query, "password=")) != NULL;) {
        query += strlen("password=");
        memset(query, '*', strcspn(query, "&"));
    }
}

char **conceal_passwords(int count, char **words) {
    if (!copy_words(count, words)) {
        return words;
    }
    for (int i = 1; i < count; i++) {
        conceal(words[i]);
    }
    return copy;
}
