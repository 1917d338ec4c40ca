/* SPDX-License-Identifier: MIT */
/* The kernel's notice that this machine is a restored or cloned one: the uevent that the driver of
 * the VM generation ID sends in some kernels. Knows no generators. */
#ifndef FIRN_VMGENID_H
#define FIRN_VMGENID_H

#include <stdbool.h>
#include <stddef.h>

/* A socket on which the notices arrive, or -1 if the system refuses one. Needs no privileges and
 * never blocks. In a user namespace with a network of its own no notice arrives. */
int vmgenid_open(void);
/* Reads what has arrived; `fd` may be -1. True: the VM generation ID has changed, or the kernel had
 * no room for all messages, so that nobody knows. */
bool vmgenid_changed(int fd);
/* Is this message of the kernel such a notice? */
bool vmgenid_is_notice(const char *message, size_t size);

#endif
