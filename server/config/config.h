/* SPDX-License-Identifier: MIT */
/* The configuration of the server: firn.ini < environment FIRN_* < flags. All three are read with
 * one table (settings.def). The file also has any number of [generator NAME] and [segment NAME]. */
#ifndef FIRN_CONFIG_H
#define FIRN_CONFIG_H

#include "sections.h"
#include "settings/setting.h"

#include <firn/firn.h>

typedef struct server_config {
    server_settings set;
    config_sections sections;
    char file[SETTING_SIZE]; /* the file that was read, or "" */
    char caution[204];       /* a warning about what may be a mistake, or "" */
    enum { RUN_SERVE, RUN_PRINT, RUN_CHECK, RUN_READY, RUN_HELP, RUN_VERSION } run;
} server_config;

/* Reads all three sources and checks bounds, duplicate and unknown names (and suggests the
 * nearest), and that a public address has tokens. FIRN_EUSAGE, FIRN_ERANGE, FIRN_EIO with file and
 * line. */
int config_read(server_config *config, int count, char **words, firn_error *error);
/* The effective configuration as a firn.ini that can be read again, without tokens and passwords of
 * URLs. */
void config_print(const server_config *config);
void config_free(server_config *config);

#endif
