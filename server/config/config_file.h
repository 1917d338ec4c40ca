/* SPDX-License-Identifier: MIT */
/* One of the three sources of the configuration: the file. Knows neither flags nor environment. */
#ifndef FIRN_CONFIG_FILE_H
#define FIRN_CONFIG_FILE_H

#include "sections.h"

/* Reads `path` into *set and *to. FIRN_EUSAGE and FIRN_ERANGE with file and line, FIRN_EIO,
 * FIRN_EMEMORY. */
int config_file_read(settings *set, sections *to, const char *path, firn_error *error);

#endif
