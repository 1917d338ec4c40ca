/* SPDX-License-Identifier: MIT */
/* ns per UUID, the minimum of 600 bursts: cc -O2 bindings/libuuid/bench.c -luuid && ./a.out, and
 * then LD_PRELOAD=build/libfirn-uuid.so ./a.out */
#include <stdio.h>
#include <time.h>
#include <uuid/uuid.h>

static double least(void (*generate)(uuid_t)) {
    double best = 1e9;
    for (int burst = 0; burst < 600; burst++) {
        struct timespec from, to;
        uuid_t uuid;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < 50; i++) {
            generate(uuid);
        }
        clock_gettime(CLOCK_MONOTONIC, &to);
        double spent =
            ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / 50;
        best = spent < best ? spent : best;
    }
    return best;
}

int main(void) {
    printf("uuid_generate_random %.1f, uuid_generate_time %.1f\n", least(uuid_generate_random),
           least(uuid_generate_time));
}
