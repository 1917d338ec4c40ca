/* SPDX-License-Identifier: MIT */
/* One run of firn or firn-lab: finds the subcommand, parses its arguments, runs it, and reports an
 * output that could not be written. It sets no locale and reads no configuration, so that the
 * programs start fast and behave the same everywhere. */
#include "command.h"
#include "conceal.h"
#include "descriptors.h"
#include "shared/color.h"
#include "shared/json.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const command *choose(const char *word) {
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        return command_find("help");
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        return command_find("version");
    }
    return command_find(word);
}

static int run(session *s, int count, char **words, const command_run runs[],
               command_run elsewhere) {
    if (count < 2) {
        return fail_usage(s, "no command is given: firn help lists them");
    }
    s->command = choose(words[1]);
    if (s->command == NULL) {
        return command_unknown(s, words[1]);
    }
    s->words = words;
    const command_run here = runs[s->command - commands];
    if (s->command->verbatim || here == NULL) {
        if (count == 3 && (strcmp(words[2], "--help") == 0 || strcmp(words[2], "-h") == 0)) {
            command_help(s, s->command, false);
            return STATUS_DONE;
        }
        return here != NULL ? here(s) : elsewhere(s);
    }
    int status = command_parse(s, count - 1, words + 1);
    if (status != STATUS_DONE) {
        return status;
    }
    if (s->option[OPTION_HELP] != NULL) {
        command_help(s, s->command, false);
        return STATUS_DONE;
    }
    if ((status = color_open(s)) != STATUS_DONE) {
        return status;
    }
    if (s->option[OPTION_JSON] != NULL) {
        json_begin();
    }
    return here(s);
}

int command_main(int count, char **words, const command_run runs[], command_run elsewhere) {
    static session s; /* static for its size: most of the buffer is never touched */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is then like a full disk */
    int status =
        take_standard_descriptors()
            ? run(&s, count, conceal_passwords(count, words), runs, elsewhere)
            : fail_as(&s, FIRN_ESYSTEM, "cannot open /dev/null: %s: create it", strerror(errno));
    output_flush(&s.out);
    free(s.operands);
    if (s.out.error != 0) {
        firn_error error;
        set_error(&error, FIRN_EIO, "cannot write to standard output: %s: %s",
                  strerror(s.out.error),
                  s.out.error == EBADF ? "it is closed; redirect it to a file or /dev/null"
                  : s.out.error == EIO ? "check the disk and run the command again"
                                       : "free some space and run the command again");
        tell("firn: ", error.text);
        status = worse(status, STATUS_IO);
    }
    return status;
}
