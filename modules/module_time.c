/* SPDX-License-Identifier: MIT */
/* Clocks, deadlines, when to try again, and forks. */
#include "module.h"

#include <limits.h>
#include <time.h>
#include <unistd.h>

#define RETRY_MS      50
#define RETRY_MOST_MS 1000

int module_clock(firn_time *now, int64_t us, const char *where, firn_error *error) {
    if (us < 0) {
        return module_fail(error, FIRN_ESTORE, "the clock of store %.60s is before 1970: set it",
                           where);
    }
    *now = (firn_time){us / 1000000, (int32_t)(us % 1000000 * 1000)};
    return FIRN_OK;
}

int64_t module_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#define WAIT_MS 5000 /* as max_wait_ms */

int64_t module_verb_end(const firn_store_options *options, int64_t connect_ms, int64_t timeout_ms) {
    int64_t wait_ms = options->wait_ms > 0 ? options->wait_ms : WAIT_MS;
    int64_t least_ms = connect_ms + timeout_ms;
    return module_now_ms() + (wait_ms > least_ms ? wait_ms : least_ms);
}

int module_in_time(int64_t end_ms, const char *where, firn_error *error) {
    return module_now_ms() < end_ms
               ? FIRN_OK
               : module_fail(error, FIRN_ESTORE,
                             "store %.60s answers too slowly for max_wait_ms: look at the server "
                             "and the network, or raise max_wait_ms",
                             where);
}

bool module_retry_waits(const module_retry *retry) {
    return retry->failures > 0 && module_now_ms() < retry->next_ms;
}

void module_retry_failed(module_retry *retry) {
    int64_t wait_ms = retry->failures == 0
                          ? 0
                          : (int64_t)RETRY_MS << (retry->failures < 6 ? retry->failures - 1 : 5);
    retry->next_ms = module_now_ms() + (wait_ms < RETRY_MOST_MS ? wait_ms : RETRY_MOST_MS);
    retry->failures += retry->failures < INT_MAX;
}

void module_retry_worked(module_retry *retry) {
    *retry = (module_retry){0, 0};
}

bool module_forked(pid_t *pid) {
    pid_t now = getpid();
    bool other = *pid != 0 && *pid != now;
    *pid = now;
    return other;
}
