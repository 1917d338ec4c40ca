/* SPDX-License-Identifier: MIT */
/* A secret key in a file that only its owner can read. The key never comes from an argument, which
 * everybody on the machine could read. Knows no kind of key. */
#ifndef FIRN_CMD_KEY_FILE_H
#define FIRN_CMD_KEY_FILE_H

#include "command.h"

/* Reads the file `name` of --key-file into `text`, up to `size` - 1 bytes, without line ends at its
 * end and with a zero; erase it afterwards. `contents` are what the file should contain, for
 * errors. An exit status. */
int key_file_read(session *s, char *text, size_t size, const char *name, const char *contents);
/* Refuses a setting key=, since it is an argument. An exit status. */
int key_refuse_argument(session *s, const char *instead);

#endif
