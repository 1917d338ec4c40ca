/* SPDX-License-Identifier: MIT */
/* Hides passwords of the command line, which every user of the machine can list. */
#ifndef FIRN_CONCEAL_H
#define FIRN_CONCEAL_H

/* Returns a copy of the words, and overwrites the passwords of URLs in the originals, which the
 * kernel shows. Out of memory: returns the originals unchanged. Call it once; the copy is never
 * freed. */
char **conceal_passwords(int count, char **words);

#endif
