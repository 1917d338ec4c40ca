/* SPDX-License-Identifier: MIT */
/* Bytes of replies that clients of the RESP listener have not read yet, of all loops. */
#ifndef FIRN_UNSENT_H
#define FIRN_UNSENT_H

#include <stdbool.h>
#include <stdint.h>

void unsent_add(int64_t bytes);
/* As many as replies_mib allows? Then no large reply is made. */
bool unsent_is_full(void);

#endif
