/* SPDX-License-Identifier: MIT */
/* The program in the virtual machine of test/clones/run. It issues IDs all the time, and prints a
 * sample: each line has the kind, the value, and the milliseconds since the machine booted. A line
 * that it reads is an order: "renew" calls firn_renew_identity, as a hook after a restore would;
 * "clock SECONDS" sets the clock, as a guest agent would. It hears the kernel's notice, as firn
 * serve does. */
#include "vmgenid.h"

#include <errno.h>
#include <firn/firn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLE_MS = 20, ROUND_MS = 100, BULK = 249 };

static long long ms_of(clockid_t kind) {
    struct timespec now;
    clock_gettime(kind, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void print(const char *kind, unsigned long long high, unsigned long long low) {
    printf("%s %016llx%016llx %lld\n", kind, high, low, ms_of(CLOCK_BOOTTIME));
}

static void fail(const char *what, const firn_error *error) {
    printf("# %s: %s\n", what, error->text);
}

static firn_gen *opened(const char *scheme, const char *store, const char *keys) {
    firn_gen *gen = NULL;
    firn_error error;
    const firn_config config = {
        .size = sizeof config, .scheme = scheme, .keys = keys, .store_url = store};
    while (firn_open_with(&gen, &config, &error) != FIRN_OK) {
        fail(scheme, &error);
        sleep(1);
    }
    return gen;
}

static void obey(int wait_ms) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char line[64];
    if (poll(&input, 1, wait_ms) != 1 || fgets(line, sizeof line, stdin) == NULL) {
        return;
    }
    if (strncmp(line, "renew", 5) == 0) {
        firn_renew_identity();
    } else if (strncmp(line, "clock ", 6) == 0) {
        const struct timespec now = {.tv_sec = atoll(line + 6)};
        clock_settime(CLOCK_REALTIME, &now);
    }
    printf("done %.*s %lld\n", (int)strcspn(line, " \n"), line, ms_of(CLOCK_BOOTTIME));
}

static void hear(int notices) {
    if (vmgenid_changed(notices)) {
        firn_renew_identity();
        printf("done notice %lld\n", ms_of(CLOCK_BOOTTIME));
    }
}

/* The kinds that are printed each ROUND_MS. */
static void round_of(firn_gen *random, firn_segment *segment) {
    static firn_id ids[BULK];
    unsigned long long kernel[2] = {0, 0};
    int64_t value;
    firn_error error;
    if (firn_next_n(random, ids, BULK, &error) == FIRN_OK) {
        print("uuid4", ids[0].high, ids[0].low);
    } else {
        fail("uuid4", &error);
    }
    if (firn_segment_next(segment, &value, &error) == FIRN_OK) {
        print("integer", 0, (unsigned long long)value);
    } else {
        fail("integer", &error);
    }
    if (getrandom(kernel, sizeof kernel, 0) == sizeof kernel) {
        print("getrandom", kernel[0], kernel[1]);
    }
}

int main(int count, char **words) {
    const char *store = count > 1 ? words[1] : "";
    firn_store *held;
    firn_segment *segment;
    firn_error error;
    long long last = 0, last_round = 0;
    int notices = vmgenid_open();
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("CLOCK\n"); /* a remote store refuses one that is too late, and the boot takes long */
    obey(-1);
    firn_gen *slots = opened("snowflake", store, "full=wait");
    firn_gen *random = opened("uuid4", NULL, NULL);
    if (firn_store_open(&held, store, NULL, &error) != FIRN_OK ||
        firn_segment_open(&segment, "orders", "kind=segment step=1000", held, NULL, &error) !=
            FIRN_OK) {
        fail("store", &error);
        return 1;
    }
    for (int i = 0; i < 300; i++) { /* the cipher takes over */
        static firn_id ids[BULK];
        firn_next_n(random, ids, BULK, NULL);
    }
    printf("READY\n");
    for (;;) {
        firn_id id;
        long long now = ms_of(CLOCK_REALTIME), steady = ms_of(CLOCK_BOOTTIME);
        if (now == last) {
            usleep(200);
            continue;
        }
        last = now;
        obey(0);
        hear(notices);
        int code = firn_next(slots, &id, &error);
        if (code != FIRN_OK && now % SAMPLE_MS == 0) {
            fail("snowflake", &error);
        } else if (code == FIRN_OK && (id.low >> 22) % SAMPLE_MS == 0) {
            print("snowflake", 0, id.low);
        }
        if (steady - last_round >= ROUND_MS) {
            last_round = steady;
            round_of(random, segment);
        }
    }
}
