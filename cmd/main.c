/* SPDX-License-Identifier: MIT */
/* The program firn: which function runs each subcommand. The laboratory is another program, so that
 * neither the start nor the package of firn pays for it. */
#include "command.h"

static const command_run runs[] = {
#define COMMAND(id, operands, summary) run_##id,
#define LAB(id, operands, summary)     NULL,
#include "commands.def"
};

int main(int count, char **words) {
    return command_main(count, words, runs, become_lab);
}
