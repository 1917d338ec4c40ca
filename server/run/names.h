/* SPDX-License-Identifier: MIT */
/* The generators and segments of the configuration: sections enter the catalog. Main thread
 * only. */
#ifndef FIRN_NAMES_H
#define FIRN_NAMES_H

#include "config/config.h"

/* Before serving: adds all, or checks what can be checked without a store. The first failure ends
 * it; the error names its section. */
int names_add(const config_sections *them, firn_error *error);
int names_check(const config_sections *them, firn_error *error);

/* While serving: adds the sections of `fresh` that `now` lacks. Existing ones are neither changed
 * nor removed. The log says what was added and what needs a restart. */
void names_take_new(server_config *now, const server_config *fresh);

#endif
