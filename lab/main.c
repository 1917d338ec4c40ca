/* SPDX-License-Identifier: MIT */
/* The program firn-lab, which firn becomes: which function runs each subcommand of the laboratory.
 * It issues no IDs. */
#include "command.h"
#include "gaps.h"

static int refuse(session *s) {
    return fail_usage(s, "'%s' is not in the laboratory: run `firn %s`", s->command->name,
                      s->command->name);
}

/* Two checks are in the laboratory. */
static int run_lab_check(session *s) {
    return s->option[OPTION_GAPS] != NULL    ? gaps_run(s)
           : s->option[OPTION_CHART] != NULL ? chart_run(s)
                                             : refuse(s);
}

enum {
#define COMMAND(id, operands, summary) ROW_##id,
#include "commands.def"
    ROWS
};

static const command_run runs[ROWS] = {
    [ROW_check] = run_lab_check,
#define LAB(id, operands, summary) [ROW_##id] = run_##id,
#include "commands.def"
};

int main(int count, char **words) {
    return command_main(count, words, runs, refuse);
}
