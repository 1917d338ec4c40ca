/* SPDX-License-Identifier: MIT */
/* Passwords on the command line, which every user of the machine can read in the list of processes. */
#ifndef FIRN_CONCEAL_H
#define FIRN_CONCEAL_H

/* A copy of the words, to be used instead of them. In the words themselves, which the kernel shows,
 * the passwords of URLs become asterisks. Without memory for the copy nothing happens, and the words
 * are returned. The copy stays for as long as the process; one call. */
char **conceal_passwords(int count, char **words);

#endif
