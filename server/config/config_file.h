/* SPDX-License-Identifier: MIT */
/* One of the three sources of the configuration: the file. Stands on setting.h. */
#ifndef FIRN_CONFIG_FILE_H
#define FIRN_CONFIG_FILE_H

#include "config.h"

/* Reads it->file into it->set and it->names. FIRN_EUSAGE and FIRN_ERANGE with file and line,
 * FIRN_EIO, FIRN_EMEMORY. */
int config_file_read(config *it, firn_error *error);

#endif
