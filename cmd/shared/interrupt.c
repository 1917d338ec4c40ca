/* SPDX-License-Identifier: MIT */
/* Signals that stop a stream of IDs: see interrupt.h. The handler only sets a flag, or ends
 * the process. */
#include "interrupt.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* timeout and some shells signal the process and then its group: two signals, one request */
#define SAME_MS 300

static volatile sig_atomic_t came;    /* a handler can reach nothing else */
static struct timespec came_at;       /* written before `came`, read by later handlers only */
static volatile sig_atomic_t overdue; /* a second has passed since */

static void remember(int number) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* safe in a handler, as signal() and raise() are */
    if (came == 0) {
        came_at = now;
        came = number;
        alarm(1);
        return;
    }
    long long ms =
        (now.tv_sec - came_at.tv_sec) * 1000LL + (now.tv_nsec - came_at.tv_nsec) / 1000000;
    if (ms >= SAME_MS) {
        signal(number, SIG_DFL);
        raise(number); /* comes as soon as the handler ends */
    }
}

/* Again and again, because the signal may come just before a write that blocks. */
static void end_patience(int number) {
    (void)number;
    overdue = 1;
    alarm(1);
}

static bool is_overdue(void) {
    return overdue != 0;
}

void interrupt_catch(output *out) {
    struct sigaction late = {.sa_handler = end_patience};
    sigemptyset(&late.sa_mask);
    sigaction(SIGALRM, &late, (struct sigaction *)0);
    if (out != NULL) {
        out->stop = is_overdue;
    }
    struct sigaction action = {.sa_handler = remember};
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sigaddset(&action.sa_mask, numbers[i]);
    }
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction before;
        /* a signal that nohup or a shell ignores stays ignored */
        if (sigaction(numbers[i], (struct sigaction *)0, &before) == 0 &&
            before.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, (struct sigaction *)0);
        }
    }
}

int interrupt_signal(void) {
    return came;
}
