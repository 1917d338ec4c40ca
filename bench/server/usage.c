/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "usage.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

/* The first figure of /proc/PID/task/TASK/schedstat. */
static bool add_task(int64_t *sum, pid_t pid, const char *task) {
    char path[320];
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)pid, task);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    int64_t ns = 0;
    bool known = fscanf(file, "%" SCNd64, &ns) == 1;
    fclose(file);
    *sum += ns;
    return known;
}

static bool add_process(int64_t *sum, pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return false;
    }
    int known = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        known += entry->d_name[0] != '.' && add_task(sum, pid, entry->d_name);
    }
    closedir(folder);
    return known > 0;
}

int64_t usage_cpu_ns(const pid_t pids[], int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        if (!add_process(&sum, pids[i])) {
            return -1;
        }
    }
    return sum;
}
