/* SPDX-License-Identifier: MIT */
/* The program firn-lab, which firn becomes: which function runs each subcommand of the laboratory.
 * It issues no IDs. */
#include "command.h"

static const command_run runs[] = {
#define COMMAND(id, operands, summary) NULL,
#define LAB(id, operands, summary)     run_##id,
#include "commands.def"
};

static int refuse(session *s) {
    return fail_usage(s, "'%s' is not in the laboratory: run `firn %s`", s->command->name,
                      s->command->name);
}

int main(int count, char **words) {
    return command_main(count, words, runs, refuse);
}
