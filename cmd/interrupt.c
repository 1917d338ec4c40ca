/* SPDX-License-Identifier: MIT */
/* Signals that stop a stream of IDs: see interrupt.h. Does nothing in the handler but remember. */
#include "interrupt.h"

#include <signal.h>

static volatile sig_atomic_t came; /* a handler can reach nothing else */

static void remember(int number) {
    came = number;
}

void interrupt_catch(void) {
    struct sigaction action = {.sa_handler = remember, .sa_flags = (int)SA_RESETHAND};
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction before;
        /* what nohup or a shell told us to ignore stays ignored */
        if (sigaction(numbers[i], (struct sigaction *)0, &before) == 0 &&
            before.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, (struct sigaction *)0);
        }
    }
}

int interrupt_signal(void) {
    return came;
}
