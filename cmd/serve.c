/* SPDX-License-Identifier: MIT */
/* `firn serve`: becomes the server, a separate executable, so that no other subcommand pays
 * for its libraries. Reads none of its flags. */
#include "command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SERVER "firn-serve"

/* Possible places, relative to the folder of this command: next to it, or where some systems keep
 * programs that users do not start. */
static const char *const places[] = {"/" SERVER, "/../libexec/firn/" SERVER};

int run_serve(session *s) {
    static char server[] = SERVER;
    char folder[PATH_MAX], path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0) {
        return fail_as(s, FIRN_ESYSTEM, "cannot read /proc/self/exe: %s: mount /proc",
                       strerror(errno));
    }
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    s->words[0] = server; /* as lists of processes show it */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        execv(path, s->words);
        if (errno != ENOENT) {
            break; /* this is the nearest name */
        }
    }
    if (errno != ENOENT) {
        return fail_as(s, FIRN_ESYSTEM, "cannot execute %.80s: %s", path, strerror(errno));
    }
    return fail_as(s, FIRN_ESYSTEM,
                   "the server is not installed: install the package firn-server (Debian), or put "
                   "firn-serve next to firn, in %.60s",
                   folder);
}
