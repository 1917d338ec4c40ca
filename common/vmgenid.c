/* SPDX-License-Identifier: MIT */
#include "vmgenid.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    KERNEL = 1,         /* the group to which the kernel sends; udev sends to another one */
    MESSAGE_SIZE = 4096 /* uevents have 2 KiB at most */
};
#define MESSAGES_MOST 10000 /* of one call: the next call reads later ones */

int vmgenid_open(void) {
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK, .nl_groups = KERNEL};
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&kernel, sizeof kernel) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool has(const char *message, size_t size, const char *variable) {
    size_t length = strlen(variable);
    for (size_t i = strnlen(message, size) + 1; i + length < size;
         i += strnlen(message + i, size - i) + 1) {
        if (memcmp(message + i, variable, length + 1) == 0) {
            return true;
        }
    }
    return false;
}

/* "change@/devices/...", then variables, each with a zero at its end. */
bool vmgenid_is_notice(const char *message, size_t size) {
    return has(message, size, "ACTION=change") && has(message, size, "NEW_VMGENID=1");
}

bool vmgenid_changed(int fd) {
    bool changed = false;
    for (int i = 0; fd >= 0 && i < MESSAGES_MOST; i++) {
        char message[MESSAGE_SIZE];
        struct sockaddr_nl from = {0};
        socklen_t length = sizeof from;
        ssize_t size = recvfrom(fd, message, sizeof message, 0, (struct sockaddr *)&from, &length);
        if (size < 0 && errno != ENOBUFS && errno != EINTR) {
            break;
        }
        /* only the kernel has the number 0 */
        bool notice = size > 0 && length == sizeof from && from.nl_family == AF_NETLINK &&
                      from.nl_pid == 0 && vmgenid_is_notice(message, (size_t)size);
        changed = changed || notice || (size < 0 && errno == ENOBUFS);
    }
    return changed;
}
