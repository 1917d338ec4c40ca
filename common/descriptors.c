/* SPDX-License-Identifier: MIT */
#include "descriptors.h"

#include <fcntl.h>
#include <unistd.h>

bool take_standard_descriptors(void) {
    static const int modes[] = {O_WRONLY, O_RDONLY,
                                O_WRONLY}; /* the wrong direction, except for errors */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd) {
            return false;
        }
    }
    return true;
}
