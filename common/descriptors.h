/* SPDX-License-Identifier: MIT */
/* Standard descriptors that the caller closed. */
#ifndef FIRN_DESCRIPTORS_H
#define FIRN_DESCRIPTORS_H

#include <stdbool.h>

/* Keeps closed standard descriptors from becoming the next file or socket, such as the connection
 * of a store, to which output and errors would be written. Reads of standard input and writes to
 * standard output still fail with EBADF; errors go nowhere. Call it first. False: there is no
 * /dev/null. */
bool take_standard_descriptors(void);

#endif
