/* SPDX-License-Identifier: MIT */
/* `firn help` and `firn version`: what the list of subcommands says, and the library's version.
 * Nothing else. */
#include "command.h"

#include <string.h>

int run_help(session *s) {
    if (s->operand_count == 0) {
        command_list(s);
        return STATUS_DONE;
    }
    const command *about = command_find(s->operands[0]);
    if (about == NULL) {
        return command_unknown(s, s->operands[0]);
    }
    const bool all = s->operand_count == 2 && strcmp(s->operands[1], "all") == 0;
    if (s->operand_count > (all ? 2 : 1)) {
        return fail_usage(s, "'%.60s' is one argument too many: help takes one command, and `all`",
                          s->operands[1]);
    }
    command_help(s, about, all);
    return STATUS_DONE;
}

int run_version(session *s) {
    output_print(&s->out, "firn %s\n", firn_version());
    return STATUS_DONE;
}
