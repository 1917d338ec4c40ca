/* SPDX-License-Identifier: MIT */
/* Objects a line each, written by jansson so that every text is quoted rightly. An ID is always
 * a string. */
#ifndef FIRN_JSON_H
#define FIRN_JSON_H

#include "command.h"
#include "object.h"

#include <jansson.h>

/* Before any object is made. */
void json_begin(void);
/* Writes the object as a line and releases it. NULL: out of memory, which ends the process (status
 * 6): an incomplete line would be wrong. */
void json_line(output *out, json_t *object);
/* Null for NaN and infinity, which JSON has no numbers for. */
json_t *json_finite(double value);

#endif
