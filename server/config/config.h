/* SPDX-License-Identifier: MIT */
/* What the server is told: firn.ini < environment FIRN_* < flags. One table (settings.def) makes all
 * three. Beside [server] the file has any number of [generator NAME] and [segment NAME]. */
#ifndef FIRN_CONFIG_H
#define FIRN_CONFIG_H

#include "sections.h"
#include "setting.h"

#include <firn/firn.h>

typedef struct config {
    settings set;
    sections sections;
    char file[SETTING_SIZE]; /* that was read, or "" */
    char caution[204];       /* a warning about what may be a mistake, or "" */
    enum { RUN_SERVE, RUN_PRINT, RUN_CHECK, RUN_HELP, RUN_VERSION } run;
} config;

/* All three sources; the strings' bounds, numbers' bounds, names given twice and unknown words (the
 * nearest known one is named) are checked here, and so is that a public address has tokens.
 * FIRN_EUSAGE, FIRN_ERANGE, FIRN_EIO with file and line. */
int config_read(config *it, int count, char **words, firn_error *error);
/* The whole effective configuration as a firn.ini that can be read again, passwords of URLs and
 * tokens left out; and the help. */
void config_print(const config *it);
void config_help(void);
void config_free(config *it);

#endif
