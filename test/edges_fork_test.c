/* SPDX-License-Identifier: MIT */
/* Children of fork and of _Fork, where the kernel wipes memory and where it only claims to
 * (--unwiped, as qemu-user does: this file's madvise replaces libc's). A child issues other IDs
 * than its parent, or is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "fork_memory.h"
#include "sanitized.h"
#include "simulated.h"

static bool lies;    /* the kernel does */
static bool watched; /* in the parent */

static bool refuses; /* to wipe one more mapping */

int madvise(void *context, size_t size, int advice) {
    if (refuses && advice == MADV_WIPEONFORK) {
        errno = ENOMEM;
        return -1;
    }
    return lies ? 0 : (int)syscall(SYS_madvise, context, size, advice);
}

static const struct {
    const char *scheme, *keys;
    int child; /* what its first call says */
} kinds[] = {
    {"uuid4", "", FIRN_OK},
    {"uuid7", "", FIRN_OK},
    {"ulid", "", FIRN_OK},
    {"objectid", "", FIRN_OK},
    {"snowflake", "", FIRN_OK},
    {"snowflake", "mode=online", FIRN_OK},
    {"snowflake", "ordering=thread nodes=3", FIRN_OK},
    {"snowflake", "node=3", FIRN_EFORKED},
    {"snowflake", "worker=1 datacenter=2", FIRN_EFORKED},
    {"uuid1", "", FIRN_OK},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int in_child(firn_gen *gens[KINDS], firn_job *job, firn_segment *segment, int64_t integer,
                    const firn_id last[KINDS]) {
    firn_error error = {0};
    int64_t value, shift_ns;
    firn_id id;
    if (firn__wiped_watch() != watched) {
        return 6; /* what the kernel wipes needs no watching, in a child neither */
    }
    for (int i = 0; i < KINDS; i++) {
        int code = firn_next(gens[i], &id, &error);
        bool again = code == FIRN_OK && firn_id_cmp(&id, &last[i]) == 0;
        if (code != kinds[i].child || again || (code != FIRN_OK && error.text[0] == '\0')) {
            fprintf(stderr, "# %s %s: %s %s\n", kinds[i].scheme, kinds[i].keys, firn_errname(code),
                    error.text);
            return 10 + i;
        }
        firn_status status = {.size = sizeof status};
        firn_gen_status(gens[i], &status);
    }
    const firn_time instant = {1700000000, 0};
    if (firn_job_next(job, &instant, &id, &shift_ns, &error) != FIRN_EFORKED) {
        return 3;
    }
    if (firn_segment_next(segment, &value, &error) != FIRN_OK || value <= integer) {
        return 4;
    }
    for (int i = 0; i < KINDS; i++) {
        firn_close(gens[i], NULL);
    }
    firn_job_close(job);
    return firn_segment_close(segment, NULL) == FIRN_OK ? 0 : 5;
}

static void children_repeat_nothing(void **state) {
    firn_gen *gens[KINDS];
    firn_id last[KINDS];
    firn_error error = {0};
    firn_store *store = NULL;
    (void)state;
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    assert_int_equal(firn_store_open(&store, url, &options, &error), FIRN_OK);
    for (int i = 0; i < KINDS; i++) {
        char keys[100];
        snprintf(keys, sizeof keys, "ns=kind%d %s", i, kinds[i].keys);
        const firn_config config = {
            .size = sizeof config, .scheme = kinds[i].scheme, .keys = keys, .store = store};
        if (firn_open_with(&gens[i], &config, &error) != FIRN_OK ||
            firn_next(gens[i], &last[i], &error) != FIRN_OK) {
            fail_msg("%s %s: %s", kinds[i].scheme, keys, error.text);
        }
    }
    firn_job *job = NULL;
    const firn_job_config config = {
        .size = sizeof config, .scheme = "snowflake", .keys = "node=9", .seed = "seed"};
    assert_int_equal(firn_job_open(&job, &config, &error), FIRN_OK);
    firn_segment *segment = NULL;
    int64_t value;
    assert_int_equal(firn_segment_open(&segment, "orders", "", store, NULL, &error), FIRN_OK);
    assert_int_equal(firn_segment_next(segment, &value, &error), FIRN_OK);
    watched = firn__wiped_watch();
    for (int bare = 0; bare < 2; bare++) {
        int status = 0;
        fflush(NULL);
        pid_t child = bare == 1 ? _Fork() : fork();
        if (child == 0) {
            int status_of_child = in_child(gens, job, segment, value, last);
            SANITIZED ? _exit(status_of_child)
                      : exit(status_of_child); /* leaks what its parent has */
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    for (int i = 0; i < KINDS; i++) { /* the parent continues */
        firn_id id;
        assert_int_equal(firn_next(gens[i], &id, &error), FIRN_OK);
        assert_int_not_equal(firn_id_cmp(&id, &last[i]), 0);
        assert_int_equal(firn_close(gens[i], NULL), FIRN_OK);
    }
    firn_job_close(job);
    assert_int_equal(firn_segment_close(segment, NULL), FIRN_OK);
    firn_store_close(store);
}

static void children_without_wiping_repeat_nothing(void **state) {
    int status = 0;
    (void)state;
    fflush(NULL);
    pid_t child = fork(); /* the kernel is probed once */
    if (child == 0) {
        execl("/proc/self/exe", "edges_fork_test", "--unwiped", (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* As when vm.max_map_count is reached: memory that a child would share is not used. */
static void memory_that_is_not_wiped_is_not_used(void **state) {
    firn_gen *gen = NULL;
    firn_error error = {0};
    (void)state;
    if (firn__wiped_watch()) {
        skip();
    }
    refuses = true;
    int code = firn_open(&gen, "uuid7", "", &error);
    refuses = false;
    error_text(&error, FIRN_ESYSTEM, "vm.max_map_count");
    assert_true(code == FIRN_ESYSTEM && gen == NULL);
}

/* A lock that a library's thread held at the fork stays locked in the child, which then loads no
 * library. */
static int child_may_load(void) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        _exit(firn__wiped_may_load());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

static void *reads(void *end) {
    char byte;
    return read(*(int *)end, &byte, 1) == 1 ? NULL : end;
}

static void a_child_of_a_threaded_process_loads_nothing(void **state) {
    int ends[2];
    pthread_t thread;
    (void)state;
    firn__wiped_watch();
    assert_true(firn__wiped_may_load());
    assert_int_equal(child_may_load(), __libc_single_threaded != 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&thread, NULL, reads, &ends[0]), 0);
    assert_int_equal(child_may_load(), 0);
    assert_int_equal(write(ends[1], "", 1), 1);
    pthread_join(thread, NULL);
    close(ends[0]);
    close(ends[1]);
}

int main(int count, char **words) {
    const struct CMUnitTest both[] = {
        cmocka_unit_test_setup_teardown(children_repeat_nothing, set_up_in_memory, tear_down),
        cmocka_unit_test(children_without_wiping_repeat_nothing),
        cmocka_unit_test(memory_that_is_not_wiped_is_not_used),
        cmocka_unit_test(a_child_of_a_threaded_process_loads_nothing),
    };
    const struct CMUnitTest item[] = {
        cmocka_unit_test_setup_teardown(children_repeat_nothing, set_up_in_memory, tear_down)};
    if (count > 1 && strcmp(words[1], "--unwiped") == 0) {
        lies = true;
        return freopen("/dev/null", "w", stdout) == NULL ||
               cmocka_run_group_tests(item, NULL, NULL);
    }
    return cmocka_run_group_tests(both, NULL, NULL);
}
