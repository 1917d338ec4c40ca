/* SPDX-License-Identifier: MIT */
/* The tables that the library computes or chooses once for texts, when several threads need them at
 * the same moment: each gets the right answer, whether it was first or not. */
#include <firn/firn.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4 };
#if defined(__SANITIZE_THREAD__)
enum { PROCESSES = 0 }; /* this sanitizer follows no fork of a process with threads */
#else
enum { PROCESSES = 100 };
#endif

typedef struct {
    pthread_t thread;
    pthread_barrier_t *start;
    size_t count;
    firn_reading readings[FIRN_READINGS_MAX];
} reader;

static void *read_one(void *self) {
    reader *state = self;
    const char text[] = "0192f0c8-d1e3-7a55-9e37-79b97f4a7c15";
    pthread_barrier_wait(state->start);
    state->count = firn_guess(state->readings, text, strlen(text), -1);
    return NULL;
}

static bool is_uuid7(const reader *self) {
    const firn_reading *best = &self->readings[0];
    return self->count > 0 && strcmp(best->scheme->name, "uuid7") == 0 &&
           best->form == FIRN_FORM_UUID && best->id.high == UINT64_C(0x0192f0c8d1e37a55) &&
           best->id.low == UINT64_C(0x9e3779b97f4a7c15);
}

static bool all_read(void) {
    static reader readers[THREADS];
    static pthread_barrier_t start;
    bool read = pthread_barrier_init(&start, NULL, THREADS) == 0;
    for (int i = 0; i < THREADS; i++) {
        readers[i].start = &start;
        read = read && pthread_create(&readers[i].thread, NULL, read_one, &readers[i]) == 0;
    }
    for (int i = 0; i < THREADS; i++) {
        read = pthread_join(readers[i].thread, NULL) == 0 && read && is_uuid7(&readers[i]);
    }
    return read;
}

static void threads_that_read_first_agree(void **state) {
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            _exit(all_read() ? 0 : 1);
        }
        assert_true(child > 0 && waitpid(child, &status, 0) == child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_true(all_read());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        {"threads that read the first text agree", threads_that_read_first_agree, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
