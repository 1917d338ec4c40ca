/* SPDX-License-Identifier: MIT */
/* Colour on a terminal. The fields of an ID have the tones that the server's console gives them
 * (server/console/console.css and console.js; test/command_color.sh compares the two). */
#ifndef FIRN_COLOR_H
#define FIRN_COLOR_H

#include "command.h"

enum tone {
    TONE_BLUE,
    TONE_ORANGE,
    TONE_GREEN,
    TONE_PURPLE,
    TONE_YELLOW,
    TONE_RED,
    TONE_SKY,
    TONE_GREY
};

/* Sets s->colors by --color, NO_COLOR, TERM and COLORTERM; JSON is never coloured. An exit
 * status. */
int color_open(session *s);
/* Escape sequences; "" without colours. */
const char *color_of(const session *s, enum tone tone);
const char *color_bold(const session *s);
const char *color_dim(const session *s);
const char *color_plain(const session *s);
/* The tone of each slice of a scheme. The slices of a field share one. */
void color_fields(enum tone tones[FIRN_SLICES_MAX], const firn_scheme *scheme);

#endif
