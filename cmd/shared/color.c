/* SPDX-License-Identifier: MIT */
/* Colour on a terminal: see color.h. */
#include "color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of terminals with 256 colours, and with 16, by tone. */
static const char *const codes[][2] = {
    [TONE_BLUE] = {"\033[38;5;33m", "\033[34m"},    [TONE_ORANGE] = {"\033[38;5;208m", "\033[33m"},
    [TONE_GREEN] = {"\033[38;5;36m", "\033[32m"},   [TONE_PURPLE] = {"\033[38;5;134m", "\033[35m"},
    [TONE_YELLOW] = {"\033[38;5;142m", "\033[93m"}, [TONE_RED] = {"\033[38;5;167m", "\033[31m"},
    [TONE_SKY] = {"\033[38;5;38m", "\033[36m"},     [TONE_GREY] = {"\033[38;5;245m", "\033[90m"},
};
enum { TONES = sizeof codes / sizeof codes[0], CHOICES = 3 };

/* By role: a field gets the first tone that no other field has, else the first. */
static const struct {
    int count;
    enum tone tones[CHOICES];
} choices[] = {
    [FIRN_ROLE_CONST] = {1, {TONE_GREY}},
    [FIRN_ROLE_TIME] = {1, {TONE_BLUE}},
    [FIRN_ROLE_NODE] = {3, {TONE_ORANGE, TONE_RED, TONE_YELLOW}},
    [FIRN_ROLE_ADDRESS] = {3, {TONE_ORANGE, TONE_RED, TONE_YELLOW}},
    [FIRN_ROLE_PROCESS] = {2, {TONE_RED, TONE_PURPLE}},
    [FIRN_ROLE_SEQUENCE] = {2, {TONE_GREEN, TONE_SKY}},
    [FIRN_ROLE_COUNTER] = {2, {TONE_GREEN, TONE_SKY}},
    [FIRN_ROLE_RANDOM] = {2, {TONE_PURPLE, TONE_RED}},
    [FIRN_ROLE_DIGEST] = {2, {TONE_PURPLE, TONE_RED}},
    [FIRN_ROLE_USER] = {3, {TONE_SKY, TONE_YELLOW, TONE_RED}},
};

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

int color_open(session *s) {
    const char *when = s->option[OPTION_COLOR], *term = getenv("TERM");
    bool always = when != NULL && strcmp(when, "always") == 0;
    bool never = when != NULL && strcmp(when, "never") == 0;
    if (when != NULL && !always && !never && strcmp(when, "auto") != 0) {
        return fail_usage(s, "--color %.40s is not valid: use auto, always or never", when);
    }
    bool takes = isatty(STDOUT_FILENO) == 1 && !is_set("NO_COLOR") &&
                 (term == NULL || strcmp(term, "dumb") != 0);
    if (never || (!always && !takes) || s->option[OPTION_JSON] != NULL) {
        return STATUS_DONE;
    }
    bool many = is_set("COLORTERM") || (term != NULL && strstr(term, "256color") != NULL);
    s->colors = many ? 256 : 16;
    return STATUS_DONE;
}

const char *color_of(const session *s, enum tone tone) {
    return s->colors == 0 ? "" : codes[tone][s->colors == 16];
}

const char *color_bold(const session *s) {
    return s->colors == 0 ? "" : "\033[1m";
}

const char *color_dim(const session *s) {
    return s->colors == 0 ? "" : "\033[2m";
}

const char *color_plain(const session *s) {
    return s->colors == 0 ? "" : "\033[0m";
}

void color_fields(enum tone tones[FIRN_SLICES_MAX], const firn_scheme *scheme) {
    bool used[TONES] = {false};
    for (uint32_t i = 0; i < scheme->slice_count; i++) {
        const firn_slice *slice = &scheme->slices[i];
        uint32_t first = 0;
        while (strcmp(scheme->slices[first].name, slice->name) != 0) {
            first++;
        }
        if (first < i) {
            tones[i] = tones[first];
            continue;
        }
        tones[i] = choices[slice->role].tones[0];
        for (int c = choices[slice->role].count; c-- > 0;) {
            enum tone choice = choices[slice->role].tones[c];
            tones[i] = used[choice] ? tones[i] : choice;
        }
        used[tones[i]] = true;
    }
}
