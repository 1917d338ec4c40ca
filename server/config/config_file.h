/* SPDX-License-Identifier: MIT */
/* Reads the configuration file; flags and environment are in config.c. */
#ifndef FIRN_CONFIG_FILE_H
#define FIRN_CONFIG_FILE_H

#include "sections.h"

/* Reads `path` into *set and *sections. FIRN_EUSAGE and FIRN_ERANGE with file and line, FIRN_EIO,
 * FIRN_EMEMORY. */
int config_file_read(server_settings *set, config_sections *sections, const char *path,
                     firn_error *error);

#endif
