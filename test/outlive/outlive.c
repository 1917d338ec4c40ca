/* SPDX-License-Identifier: MIT */
/* A process of test/outlive/run.py, and the judge over what all of them issued.
 *
 *   outlive issue KEYS FILE BATCH PERIOD_MS   issues until SIGTERM; each call is a record in FILE
 *   outlive judge FIRST_MS LAST_MS FOLDER...   a folder for each machine; times since 1970
 *
 * A record is {wall clock before the call, after it, count} and the IDs, each 8 bytes. The last one
 * of a process that was killed may be cut short. */
#include <firn/firn.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCH_MOST 100000

typedef struct header {
    int64_t before_ms, after_ms;
    uint64_t count;
} header;

/* ---- a process ------------------------------------------------------------------------------- */

static volatile sig_atomic_t ending;

static void end_soon(int signal) {
    (void)signal;
    ending = 1;
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int refuse(const firn_error *error) {
    printf("refused %" PRId64 " %s: %s\n", now_ms(), firn_errname(error->code), error->text);
    return 1;
}

static int issue(const char *keys, const char *path, size_t batch, long period_ms) {
    static struct {
        header head;
        uint64_t ids[BATCH_MOST];
    } record;
    const struct timespec pause = {period_ms / 1000, period_ms % 1000 * 1000000};
    const struct sigaction end = {.sa_handler = end_soon};
    firn_error error = {0};
    firn_gen *gen;
    FILE *out = fopen(path, "wxb");
    if (out == NULL || batch > BATCH_MOST || setvbuf(out, NULL, _IONBF, 0) != 0) {
        perror(path);
        return 2;
    }
    sigaction(SIGTERM, &end, NULL);
    if (firn_open(&gen, "snowflake", keys, &error) != FIRN_OK) {
        return refuse(&error);
    }
    record.head.count = batch;
    while (!ending) {
        record.head.before_ms = now_ms();
        if (firn_next_u64(gen, record.ids, batch, &error) != FIRN_OK) {
            return refuse(&error);
        }
        record.head.after_ms = now_ms();
        fwrite(&record, sizeof record.head + batch * sizeof *record.ids, 1, out);
        nanosleep(&pause, NULL);
    }
    firn_close(gen, NULL);
    return 0;
}

/* ---- the judge ------------------------------------------------------------------------------- */

typedef struct ids {
    uint64_t *all;
    size_t count, room;
} ids;

typedef struct call {
    int64_t before_ms, after_ms;
} call;

/* Of one machine. */
typedef struct calls {
    call *all;
    size_t count, room, files;
    int64_t ahead_ms, behind_ms; /* of an ID's time, outside its call */
} calls;

static void *grown(void *old, size_t *room, size_t size) {
    *room = *room * 2 + 4096;
    void *grown = realloc(old, *room * size);
    if (grown == NULL) {
        perror("judge");
        exit(2);
    }
    return grown;
}

static void keep_id(ids *found, uint64_t id) {
    if (found->count == found->room) {
        found->all = grown(found->all, &found->room, sizeof *found->all);
    }
    found->all[found->count++] = id;
}

static void keep_call(calls *machine, const header *head) {
    if (machine->count == machine->room) {
        machine->all = grown(machine->all, &machine->room, sizeof *machine->all);
    }
    machine->all[machine->count++] = (call){head->before_ms, head->after_ms};
}

static void keep_time(calls *machine, const firn_scheme *scheme, const header *head, uint64_t id) {
    firn_fields fields;
    firn_time time;
    const firn_id whole = {.low = id, .bits = 64};
    if (firn_unpack(&fields, scheme, &whole, NULL) != FIRN_OK) {
        fprintf(stderr, "judge: %" PRIu64 " is no ID\n", id);
        exit(2);
    }
    const uint32_t field = firn_scheme_first(scheme, (uint32_t)firn_scheme_field(scheme, "time"));
    firn_scheme_time(scheme, fields.value[field].low, &time);
    const int64_t ms = time.sec * 1000 + time.ns / 1000000;
    const int64_t ahead = ms - head->after_ms, behind = head->before_ms - ms;
    machine->ahead_ms = ahead > machine->ahead_ms ? ahead : machine->ahead_ms;
    machine->behind_ms = behind > machine->behind_ms ? behind : machine->behind_ms;
}

static void read_file(calls *machine, ids *found, const firn_scheme *scheme, const char *path) {
    static uint64_t batch[BATCH_MOST];
    header head;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    machine->files++;
    while (fread(&head, sizeof head, 1, file) == 1 && head.count > 0 && head.count <= BATCH_MOST) {
        const size_t count = fread(batch, sizeof *batch, head.count, file);
        for (size_t i = 0; i < count; i++) {
            keep_id(found, batch[i]);
            keep_time(machine, scheme, &head, batch[i]);
        }
        if (count < head.count) {
            break;
        }
        keep_call(machine, &head);
    }
    fclose(file);
}

static void read_folder(calls *machine, ids *found, const firn_scheme *scheme, const char *folder) {
    char path[4096];
    DIR *opened = opendir(folder);
    const struct dirent *entry;
    if (opened == NULL) {
        perror(folder);
        exit(2);
    }
    while ((entry = readdir(opened)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');
        if (end != NULL && strcmp(end, ".ids") == 0) {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            read_file(machine, found, scheme, path);
        }
    }
    closedir(opened);
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int by_time(const void *a, const void *b) {
    const call *x = a, *y = b;
    return x->after_ms < y->after_ms ? -1 : x->after_ms > y->after_ms;
}

/* The longest time between two calls that ended, and the whole seconds in which no call did. */
static void print_machine(calls *machine, const char *folder, int64_t first_ms, int64_t last_ms) {
    const int64_t whole = (last_ms - first_ms) / 1000;
    int64_t last = first_ms, pause = 0, at = first_ms, second = -1, seconds = 0;
    if (machine->count > 0) {
        qsort(machine->all, machine->count, sizeof *machine->all, by_time);
    }
    for (size_t i = 0; i < machine->count; i++) {
        const int64_t ms = machine->all[i].after_ms;
        if (ms < first_ms || ms >= last_ms) {
            continue;
        }
        if (ms - last > pause) {
            pause = ms - last;
            at = last;
        }
        last = ms;
        if ((ms - first_ms) / 1000 != second && (ms - first_ms) / 1000 < whole) {
            second = (ms - first_ms) / 1000;
            seconds++;
        }
    }
    if (last_ms - last > pause) {
        pause = last_ms - last;
        at = last;
    }
    printf("machine %s processes %zu calls %zu pause_ms %" PRId64 " at_s %" PRId64
           " seconds_without %" PRId64 " ahead_ms %" PRId64 " behind_ms %" PRId64 "\n",
           folder, machine->files, machine->count, pause, (at - first_ms) / 1000, whole - seconds,
           machine->ahead_ms, machine->behind_ms);
}

/* One ID is added once more, and must be found. */
static int judge(int64_t first_ms, int64_t last_ms, char **folders) {
    ids found = {0};
    size_t twice = 0, planted = 0;
    const firn_scheme *scheme = firn_scheme_find("snowflake");
    for (; *folders != NULL; folders++) {
        calls machine = {0};
        read_folder(&machine, &found, scheme, *folders);
        print_machine(&machine, *folders, first_ms, last_ms);
        free(machine.all);
    }
    if (found.count == 0) {
        return 0;
    }
    const uint64_t plant = found.all[0];
    keep_id(&found, plant);
    qsort(found.all, found.count, sizeof *found.all, by_number);
    for (size_t i = 1; i < found.count; i++) {
        if (found.all[i] == plant && found.all[i - 1] == plant && planted == 0) {
            planted = 1;
        } else if (found.all[i] == found.all[i - 1] && ++twice <= 5) {
            printf("twice %" PRIu64 "\n", found.all[i]);
        }
    }
    printf("all ids %zu twice %zu planted %zu\n", found.count - 1, twice, planted);
    free(found.all);
    return 0;
}

int main(int count, char **words) {
    if (count == 6 && strcmp(words[1], "issue") == 0) {
        return issue(words[2], words[3], strtoul(words[4], NULL, 10), atol(words[5]));
    }
    if (count > 4 && strcmp(words[1], "judge") == 0) {
        return judge(atoll(words[2]), atoll(words[3]), words + 4);
    }
    fprintf(stderr, "usage: outlive issue KEYS FILE BATCH PERIOD_MS\n"
                    "       outlive judge FIRST_MS LAST_MS FOLDER...\n");
    return 2;
}
