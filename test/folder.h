/* SPDX-License-Identifier: MIT */
/* A temporary folder with a store for a test. Contains no tests. */
#ifndef FIRN_TEST_FOLDER_H
#define FIRN_TEST_FOLDER_H

#include "place.h"

#include <stdio.h>

static char folder[256], url[300];

static int set_up_in(const char *parent) {
    snprintf(folder, sizeof folder, "%s/firn-test-XXXXXX", parent);
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    snprintf(url, sizeof url, "sqlite:%.250s/firn.db", folder);
    return 0;
}

static inline int set_up(void **state) {
    (void)state;
    return set_up_in(place_of_tests());
}

/* For windows of a few ms, which a slow disk would let run out before they are granted. */
static inline int set_up_in_memory(void **state) {
    (void)state;
    return set_up_in(place_in_memory());
}

static int tear_down(void **state) {
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

#endif
