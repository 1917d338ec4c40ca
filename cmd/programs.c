/* SPDX-License-Identifier: MIT */
/* Subcommands that are separate executables, which firn becomes: the server, so that no other
 * subcommand pays for its libraries, and the laboratory. Reads none of their options. */
#include "command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Possible places, relative to the folder of this command: next to it, or where programs are that
 * users do not start. */
static const char *const places[] = {"", "/../libexec/firn"};

/* Executes `program` of the Debian package `package` with `words`: one for the program's name, its
 * arguments, NULL. Returns only if that fails; the error begins with `what`. */
static int become(session *s, const char *what, char *program, const char *package, char **words) {
    char folder[PATH_MAX], path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0) {
        return fail_as(s, FIRN_ESYSTEM, "cannot read /proc/self/exe: %s: mount /proc",
                       strerror(errno));
    }
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    char *own = words[0];
    int failed = ENOENT;
    words[0] = program; /* as lists of processes show it */
    for (size_t i = 0; i < sizeof places / sizeof *places && failed == ENOENT; i++) {
        snprintf(path, sizeof path, "%s%s/%s", folder, places[i], program);
        execv(path, words);
        failed = errno;
    }
    words[0] = own; /* a leak checker looks for it */
    if (failed != ENOENT) {
        return fail_as(s, FIRN_ESYSTEM, "cannot execute %.80s: %s", path, strerror(failed));
    }
    return fail_as(s, FIRN_ESYSTEM,
                   "%s is not installed: install the package %s (Debian), or put %s next to firn, "
                   "in %.60s",
                   what, package, program, folder);
}

int run_serve(session *s) {
    static char server[] = "firn-serve";
    return become(s, "the server", server, "firn-server", s->words + 1);
}

/* `words`: one for the program's name, the subcommand, its arguments, NULL. */
static int use_lab(session *s, char **words) {
    static char lab[] = "firn-lab";
    const char *option = s->option[OPTION_GAPS] != NULL    ? " --gaps"
                         : s->option[OPTION_CHART] != NULL ? " --chart"
                                                           : "";
    char what[80];
    snprintf(what, sizeof what, "'%.20s%s' is in the laboratory, which", words[1], option);
    return become(s, what, lab, "firn-lab", words);
}

int become_lab(session *s) {
    return use_lab(s, s->words);
}

int run_lab(session *s) {
    if (s->words[2] == NULL) {
        command_help(s, s->command, false);
        return STATUS_DONE;
    }
    return use_lab(s, s->words + 1);
}
