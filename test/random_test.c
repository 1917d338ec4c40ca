/* SPDX-License-Identifier: MIT */
/* The random generator of src/entropy.c: its bytes computed again by openssl(1), what a refill
 * takes from the kernel, what it leaves in memory, forks, threads, core dumps, and ciphers that are
 * missing or wrong. Each test runs in its own process, where the cipher is not loaded yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <firn/cipher.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "entropy.h"
#include "folder.h"
#include "in_child.h"
#include "issued.h"
#include "processor.h"
#include "sanitized.h"
#include "stream.h"

enum { BYTES = sizeof((firn__block *)0)->bytes, PART = 498, PARTS = BYTES / PART };
enum { KERNEL_REFILLS = 256, STREAM = 32 + BYTES };
_Static_assert(PART *PARTS == BYTES, "a block is drawn in equal parts");
/* ---- a replaced kernel and loader ------------------------------------------------------------ */

static _Atomic long seeds, blocks; /* calls of getrandom for a seed, and for a block */
static bool fixed, refuses, empty; /* bytes that the test knows; an error; no bytes */
static int interrupted;            /* calls that a signal ends before they have bytes */
static uint64_t fixed_state;
static uint8_t last_seed[32];

ssize_t __real_getrandom(void *out, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *out, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *out, size_t size, unsigned flags) {
    uint8_t *bytes = out;
    if (refuses || interrupted > 0) {
        errno = refuses ? ENOSYS : EINTR;
        interrupted -= interrupted > 0;
        return -1;
    }
    if (empty) {
        return 0;
    }
    atomic_fetch_add(size == 32 ? &seeds : &blocks, 1);
    if (!fixed) {
        return __real_getrandom(out, size, flags);
    }
    for (size_t i = 0; i < size; i++) {
        fixed_state = fixed_state * 6364136223846793005 + 1442695040888963407;
        bytes[i] = (uint8_t)(fixed_state >> 56);
    }
    if (size == 32) {
        memcpy(last_seed, out, 32);
    }
    return (ssize_t)size;
}

/* The real processor, or the noise that the test sets. */
static bool set_noise;
static firn__noise noise;

firn__noise __real_firn__processor_noise(void);
firn__noise __wrap_firn__processor_noise(void);
firn__noise __wrap_firn__processor_noise(void) {
    return set_noise ? noise : __real_firn__processor_noise();
}

static const firn_stream_ops *fake; /* replaces the module's export; NULL: the real one */
static bool no_module;

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name) {
    bool ours = strcmp(name, "firn_stream_module") == 0;
    return ours && no_module      ? NULL
           : ours && fake != NULL ? (void *)(uintptr_t)fake
                                  : __real_dlsym(library, name);
}

static void in_process(int (*check)(void)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(HUNG_S);
        _exit(check());
    }
    assert_int_equal(end_of(child), 0);
}

/* A whole block. */
static int draw(uint8_t out[BYTES]) {
    int code = FIRN_OK;
    for (int i = 0; i < PARTS && code == FIRN_OK; i++) {
        code = firn__entropy_fill(NULL, out + i * PART, PART, NULL);
    }
    return code;
}

/* Draws what comes from the kernel at most: the cipher makes the next block. */
static int draw_kernel(void) {
    uint8_t bytes[BYTES];
    int code = FIRN_OK;
    for (int i = 0; i < KERNEL_REFILLS && code == FIRN_OK; i++) {
        code = draw(bytes);
    }
    return code;
}

/* ---- the bytes ------------------------------------------------------------------------------- */

static bool output_of(const char *command, uint8_t *out, size_t size) {
    FILE *pipe = popen(command, "r");
    size_t got = pipe == NULL ? 0 : fread(out, 1, size, pipe);
    if (pipe != NULL) {
        pclose(pipe);
    }
    return got == size;
}

static void add_hex(char *command, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        sprintf(command + strlen(command), "%02x", ((const uint8_t *)bytes)[i]);
    }
}

/* As printf(1) reads them. */
static void add_octal(char *command, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        sprintf(command + strlen(command), "\\%03o", ((const uint8_t *)bytes)[i]);
    }
}

/* AES-256-CTR of zeros, by a program; the noise is the upper part of the first counter. */
static bool openssl_stream(uint8_t out[STREAM], const uint8_t key[32]) {
    char command[256] = "head -c 4016 /dev/zero | openssl enc -aes-256-ctr -iv ";
    add_hex(command, &noise.cycles, 8);
    add_hex(command, &noise.drawn, 6);
    strcat(command, "0000 -K ");
    add_hex(command, key, 32);
    return output_of(command, out, STREAM);
}

/* The SHA-256 of 32 bytes of the kernel and the noise. */
static bool openssl_hash(uint8_t out[32], const uint8_t seed[32]) {
    char command[512] = "printf '";
    add_octal(command, seed, 32);
    add_octal(command, &noise, sizeof noise);
    strcat(command, "' | openssl dgst -sha256 -binary");
    return output_of(command, out, 32);
}

static int compute_again(void) {
    uint8_t drawn[BYTES], stream[STREAM] = {0}, key[32];
    fixed = set_noise = true;
    noise = (firn__noise){UINT64_C(0x0102030405060708), UINT64_C(0xf1f2f3f4f5f6f7f8)};
    CHECK(__wrap_getrandom(stream, STREAM, 0) == STREAM && openssl_hash(key, stream));
    fixed_state = 0;
    CHECK(draw(drawn) == FIRN_OK);
    for (size_t i = 0; i < BYTES; i++) {
        CHECK(drawn[i] == (stream[32 + i] ^ key[i % 32]));
    }
    memset(stream, 0, sizeof stream);
    atomic_store(&blocks, 1);
    for (int i = 1; i < KERNEL_REFILLS; i++) {
        CHECK(draw(drawn) == FIRN_OK);
    }
    CHECK(atomic_load(&blocks) == KERNEL_REFILLS && atomic_load(&seeds) == 0);
    for (long refill = 1; refill <= 4; refill++) {
        CHECK(draw(drawn) == FIRN_OK);
        CHECK(atomic_load(&seeds) == refill && atomic_load(&blocks) == KERNEL_REFILLS);
        for (size_t i = 0; i < 32; i++) {
            key[i] =
                last_seed[i] ^ stream[i]; /* the last key is the beginning of the last stream */
        }
        CHECK(openssl_stream(stream, key));
        CHECK(memcmp(drawn, stream + 32, BYTES) == 0);
    }
    return 0;
}

static void a_program_computes_the_same_bytes(void **state) {
    (void)state;
    in_process(compute_again);
}

/* Two machines that continue from one state, with one state of their kernels, and a processor with
 * this noise. */
static int draw_as_clones(const firn__noise noises[2], uint8_t rest[2][PART],
                          uint8_t next[2][PART]) {
    firn__block copy;
    CHECK(firn__entropy_fill(NULL, rest[0], PART, NULL) == FIRN_OK);
    memcpy(&copy, firn__block_here, sizeof copy);
    uint64_t kernel = fixed_state;
    for (int i = 0; i < 2; i++) {
        memcpy(firn__block_here, &copy, sizeof copy);
        fixed_state = kernel;
        noise = noises[i];
        long refills = atomic_load(&seeds) + atomic_load(&blocks);
        CHECK(firn__entropy_fill(NULL, rest[i], PART, NULL) == FIRN_OK);
        for (int k = 2; k < PARTS; k++) {
            CHECK(firn__entropy_fill(NULL, next[i], PART, NULL) == FIRN_OK);
        }
        CHECK(atomic_load(&seeds) + atomic_load(&blocks) == refills);
        CHECK(firn__entropy_fill(NULL, next[i], PART, NULL) == FIRN_OK);
        CHECK(atomic_load(&seeds) + atomic_load(&blocks) == refills + 1);
    }
    for (int k = 1; k < PARTS; k++) {
        uint8_t none[PART];
        CHECK(firn__entropy_fill(NULL, none, PART, NULL) == FIRN_OK);
    }
    return 0;
}

static int run_twice(void) {
    /* the counter differs, the random number, both as on a processor that always draws ones, and
     * neither */
    static const firn__noise noises[][2] = {
        {{1, 0}, {2, 0}}, {{1, 5}, {1, 6}}, {{3, UINT64_MAX}, {4, UINT64_MAX}}, {{7, 8}, {7, 8}}};
    uint8_t rest[2][PART], next[2][PART];
    fixed = set_noise = true;
    for (int cipher = 0; cipher < 2; cipher++) {
        for (int n = 0; n < 4; n++) {
            CHECK(draw_as_clones(noises[n], rest, next) == 0);
            CHECK((atomic_load(&seeds) > 0) == (cipher == 1));
            CHECK(memcmp(rest[0], rest[1], PART) == 0);
            for (int i = 0; i + 16 <= PART; i++) {
                CHECK((memcmp(next[0] + i, next[1] + i, 16) == 0) == (n == 3));
            }
        }
        CHECK(cipher == 1 || draw_kernel() == FIRN_OK);
    }
    set_noise = false; /* the real processor */
    CHECK(draw_as_clones(noises[3], rest, next) == 0);
    CHECK(memcmp(next[0], next[1], 16) != 0);
    return 0;
}

static void clones_part_at_the_next_refill(void **state) {
    (void)state;
    in_process(run_twice);
}

/* The kernel's bytes alone decide how strong the result is: a processor that has no random numbers,
 * and one that returns the same for ever, change nothing. */
static int run_without_noise(void) {
    static const uint64_t drawn[] = {0, UINT64_MAX};
    uint8_t bytes[2][BYTES];
    set_noise = true;
    for (int i = 0; i < 2; i++) {
        noise = (firn__noise){0, drawn[i]};
        CHECK(draw(bytes[0]) == FIRN_OK && draw(bytes[1]) == FIRN_OK);
        CHECK(memcmp(bytes[0], bytes[1], 16) != 0);
        CHECK(draw_kernel() == FIRN_OK);
    }
    CHECK(draw(bytes[0]) == FIRN_OK && draw(bytes[1]) == FIRN_OK && atomic_load(&seeds) >= 2);
    CHECK(memcmp(bytes[0], bytes[1], 16) != 0);
    refuses = true; /* noise never replaces them */
    CHECK(firn__entropy_fill(NULL, bytes[0], PART, NULL) == FIRN_EENTROPY);
    return 0;
}

static void the_processor_is_an_extra(void **state) {
    (void)state;
    in_process(run_without_noise);
}

/* Differs from call to call, as far as this machine has it. */
static void the_processor_is_read(void **state) {
    (void)state;
    firn__noise item = __real_firn__processor_noise(), two = __real_firn__processor_noise();
    bool random = false;
    char line[4096];
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        random = random || strstr(line, " rdrand ") != NULL || strstr(line, " rng ") != NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    assert_true(item.cycles != 0 && item.cycles != two.cycles);
    for (int i = 0; random && i < 100 && (item.drawn == 0 || item.drawn == two.drawn); i++) {
        item = __real_firn__processor_noise(); /* used up for a moment, perhaps */
    }
    if (random) {
        assert_true(item.drawn != 0 && item.drawn != two.drawn);
    } else {
        fprintf(stderr, "# this processor has no random numbers: only its counter was looked at\n");
        assert_int_equal(item.drawn, 0);
    }
}

static int lose_the_kernel(void) {
    uint8_t bytes[BYTES], uint8[16] = {7};
    firn__bytes pieces = {NULL, 0, 0};
    size_t count = 1;
    firn_error error = {0};
    CHECK(draw_kernel() == FIRN_OK && draw(bytes) == FIRN_OK);
    refuses = true;
    for (int i = 0; i < 3; i++) {
        CHECK(firn__entropy_fill(NULL, uint8, sizeof uint8, &error) == FIRN_EENTROPY);
        CHECK(uint8[0] == 7 && uint8[1] == 0 && strstr(error.text, "randomness") != NULL);
        CHECK(firn__block_open(&pieces, 16, &count, &error) == FIRN_EENTROPY);
        CHECK(pieces.bytes == NULL && count == 1);
    }
    refuses = false;
    empty = true; /* as a filter of system calls that returns 0 */
    CHECK(firn__entropy_fill(NULL, uint8, sizeof uint8, &error) == FIRN_EENTROPY);
    CHECK(uint8[0] == 7 && strstr(error.text, "getrandom gave no bytes") != NULL);
    empty = false;
    interrupted = 3; /* the interrupted call is repeated */
    CHECK(firn__entropy_fill(NULL, uint8, sizeof uint8, &error) == FIRN_OK && interrupted == 0);
    CHECK(atomic_load(&seeds) == 2);
    return 0;
}

static void without_a_seed_nothing_is_drawn(void **state) {
    (void)state;
    in_process(lose_the_kernel);
}

/* ---- what stays in memory -------------------------------------------------------------------- */

static bool all_zero(const uint8_t *bytes, size_t size) {
    while (size > 0 && bytes[size - 1] == 0) {
        size--;
    }
    return size == 0;
}

static int look_into_the_block(void) {
    uint8_t bytes[PART], key[32];
    CHECK(draw_kernel() == FIRN_OK);
    for (int i = 1; i < 3 * PARTS; i++) {
        const firn__block *block = firn__block_here;
        memcpy(key, block->key, 32);
        CHECK(firn__entropy_fill(NULL, bytes, PART, NULL) == FIRN_OK);
        CHECK(all_zero(block->bytes, BYTES - block->left) && all_zero(block->seed, 32));
        CHECK(!all_zero(block->bytes + BYTES - block->left, block->left) || block->left == 0);
        CHECK(!all_zero(block->key, 32));
        CHECK((i % PARTS != 1) == (memcmp(key, block->key, 32) == 0));
    }
    return 0;
}

static void used_bytes_and_keys_are_erased(void **state) {
    (void)state;
    in_process(look_into_the_block);
}

/* How often 16 bytes, each of them inverted, are in the memory of this process, outside of one
 * page. */
static long count_in_memory(const uint8_t inverted[16], const void *but) {
    char line[512];
    long count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        char may[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, may) != 3 || strncmp(may, "rw", 2) != 0 ||
            strstr(line, "[v") != NULL) {
            continue;
        }
        for (const uint8_t *position = (const uint8_t *)from; position + 16 <= (const uint8_t *)to;
             position++) {
            size_t same = 0;
            while (same < 16 && (position[same] ^ inverted[same]) == 0xff) {
                same++;
            }
            bool inside =
                position >= (const uint8_t *)but && position < (const uint8_t *)but + 4096;
            count += same == 16 && !inside;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return count;
}

static uint8_t control[16];

static int search_memory(void) {
    uint8_t bytes[PART], key[32], next[16], unused[16], shown[16];
    CHECK(draw_kernel() == FIRN_OK && firn__entropy_fill(NULL, bytes, PART, NULL) == FIRN_OK);
    fixed = true;
    for (int i = 0; i < PARTS; i++) { /* the last refill is from a seed that the test knows */
        for (size_t k = 0; k < 32; k++) {
            key[k] = firn__block_here->key[k] ^ 0xff;
        }
        CHECK(firn__entropy_fill(NULL, bytes, PART, NULL) == FIRN_OK);
    }
    for (size_t k = 0; k < 32; k++) { /* key XOR seed, inverted: the schedule begins with it */
        key[k] ^= last_seed[k];
    }
    memset(last_seed, 0, sizeof last_seed);
    for (size_t k = 0; k < 16; k++) {
        next[k] = firn__block_here->key[k] ^ 0xff;
        unused[k] = firn__block_here->bytes[BYTES - 16 + k] ^ 0xff;
        control[k] = (uint8_t)(k * 17 + 3);
        shown[k] = control[k] ^ 0xff;
    }
    memset(bytes, 0, sizeof bytes);
    CHECK(count_in_memory(shown, firn__block_here) > 0);
    CHECK(count_in_memory(key, firn__block_here) == 0);
    CHECK(count_in_memory(key + 16, firn__block_here) == 0);
    CHECK(count_in_memory(next, firn__block_here) == 0);
    CHECK(count_in_memory(unused, firn__block_here) == 0);
    return 0;
}

static void no_key_is_anywhere_else(void **state) {
    (void)state;
    if (!SANITIZED) { /* whose memory is too large to search */
        in_process(search_memory);
    }
}

/* The page's flags, as the kernel has them. */
static int read_flags(void) {
    char line[512];
    bool here = false, found = false;
    CHECK(draw_kernel() == FIRN_OK);
    FILE *maps = fopen("/proc/self/smaps", "r");
    while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            here = from <= (uintptr_t)firn__block_here && (uintptr_t)firn__block_here < to;
        }
        found = here && strncmp(line, "VmFlags:", 8) == 0;
    }
    CHECK(maps != NULL && found);
    CHECK(strstr(line, " wf") != NULL && strstr(line, " dd") != NULL);
    return 0;
}

static void the_page_is_wiped_at_forks_and_not_dumped(void **state) {
    (void)state;
    in_process(read_flags);
}

/* ---- core dumps ------------------------------------------------------------------------------ */

typedef struct secrets {
    uint8_t key[16], unused[16], shown[16];
} secrets;

static bool holds(const char *path, const uint8_t bytes[16]) {
    static uint8_t part[1 << 16];
    bool found = false;
    size_t kept = 0, got;
    FILE *file = fopen(path, "rb");
    while (file != NULL && !found && (got = fread(part + kept, 1, sizeof part - kept, file)) > 0) {
        found = memmem(part, kept + got, bytes, 16) != NULL;
        got += kept;
        kept = got < 15 ? got : 15;
        memmove(part, part + got - kept, kept);
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

static void a_core_dump_has_no_key(void **state) {
    const struct rlimit whole = {RLIM_INFINITY, RLIM_INFINITY};
    secrets *out = shared_memory(sizeof *out); /* inverted, since it is dumped too */
    (void)state;
    if (SANITIZED) { /* as above */
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        alarm(HUNG_S);
        setrlimit(RLIMIT_CORE, &whole);
        if (chdir(folder) != 0 || draw_kernel() != FIRN_OK ||
            firn__entropy_fill(NULL, control, 16, NULL) != FIRN_OK) {
            _exit(1);
        }
        const volatile firn__block *block = firn__block_here;
        for (size_t k = 0; k < 16; k++) { /* one by one: the registers are dumped too */
            out->key[k] = block->key[k] ^ 0xff;
            out->unused[k] = block->bytes[BYTES - 16 + k] ^ 0xff;
            out->shown[k] = control[k] ^ 0xff;
        }
        abort();
    }
    int status;
    char path[600], dumped[32];
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    snprintf(path, sizeof path, "%s/core", folder);
    if (access(path, R_OK) != 0) {
        snprintf(dumped, sizeof dumped, "/core.%d", (int)child);
        snprintf(path, sizeof path, "%s%s", folder, dumped);
    }
    bool there = access(path, R_OK) == 0;
    for (size_t k = 0; k < sizeof *out; k++) {
        ((uint8_t *)out)[k] ^= 0xff;
    }
    bool shown = holds(path, out->shown), key = holds(path, out->key),
         unused = holds(path, out->unused);
    if (!there) {
        fprintf(stderr,
                "# this machine gives its core dumps to a program: only the flag was looked at\n");
        return;
    }
    assert_false(all_zero(out->key, 16));
    assert_true(shown);
    assert_false(key);
    assert_false(unused);
}

/* ---- forks, threads, the end ----------------------------------------------------------------- */

static issued *shared_log;
static firn_gen *gen;

static int log_ids(int count) {
    firn_id id;
    for (int i = 0; i < count; i++) {
        CHECK(firn_next(gen, &id, NULL) == FIRN_OK);
        issued_add(shared_log, id.low ^ id.high * 0xc2b2ae3d27d4eb4f);
    }
    return 0;
}

static pid_t fork_by(int way) {
    fflush(NULL);
    return way == 0 ? fork() : way == 1 ? _Fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static int fork_often(void) {
    shared_log = issued_new(400000);
    CHECK(firn_open(&gen, "uuid4", NULL, NULL) == FIRN_OK && draw_kernel() == FIRN_OK);
    CHECK(log_ids(600) == 0 && atomic_load(&seeds) > 0); /* the cipher is in use */
    for (int i = 0; i < 6; i++) {
        CHECK(log_ids(i * 7) == 0);
        pid_t child = fork_by(i % 3);
        if (child == 0) {
            alarm(HUNG_S);
            int bad = log_ids(600);
            child = fork_by(i % 3);
            if (child == 0) {
                _exit(log_ids(600));
            }
            _exit(bad | end_of(child) | log_ids(600));
        }
        CHECK(log_ids(600) == 0);
        CHECK(end_of(child) == 0);
    }
    CHECK(log_ids(600) == 0);
    firn_close(gen, NULL);
    CHECK(duplicates(shared_log) == 0);
    return 0;
}

/* A fork between the first two steps of a draw: the child reads an owner of 0 and bytes that are
 * all 0. */
static void a_wiped_block_gives_nothing(void **state) {
    firn__block wiped = {.left = 100};
    firn_value value;
    (void)state;
    assert_false(firn__block_intact(&wiped, 0));
    assert_int_equal(wiped.left, 0);
    wiped.left = 100;
    firn__block *own = firn__block_here;
    firn__block_here = &wiped;
    assert_false(firn__block_take(&value, true));
    assert_false(firn__block_take(&value, false));
    wiped.left = 100;
    firn__bytes pieces = {wiped.bytes, 16, 5}; /* opened when the block had an owner */
    wiped.bytes[3] = 7;
    assert_false(firn__block_close(&pieces));
    assert_true(wiped.left == 0 && wiped.bytes[3] == 0);
    firn__block_here = own;
}

static void children_repeat_nothing(void **state) {
    (void)state;
    in_process(fork_often);
}

static void *work(void *bad) {
    *(int *)bad = draw_kernel() | log_ids(6000);
    return NULL;
}

static int use_threads(void) {
    pthread_t threads[4];
    int bad[4] = {0};
    shared_log = issued_new(100000);
    CHECK(firn_open(&gen, "uuid4", NULL, NULL) == FIRN_OK);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, &bad[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK(bad[i] == 0);
    }
    firn_close(gen, NULL);
    CHECK(atomic_load(&seeds) > 0 && duplicates(shared_log) == 0);
    return 0;
}

static void threads_repeat_nothing(void **state) {
    (void)state;
    in_process(use_threads);
}

/* Whether a child loads the cipher, of a parent that has not: 0 or 1, else -1. */
static int loads_in_child(int way) {
    uint8_t bytes[BYTES];
    pid_t child = fork_by(way);
    if (child == 0) {
        alarm(HUNG_S);
        bool drawn = draw_kernel() == FIRN_OK && draw(bytes) == FIRN_OK && draw(bytes) == FIRN_OK;
        _exit(!drawn ? 9 : atomic_load(&seeds) > 0);
    }
    int end = end_of(child);
    return end == 0 || end == 1 ? end : -1;
}

static void *wait_for_ever(void *unused) {
    pause();
    return unused;
}

/* A lock of the loader may be held by a thread that the child does not have. */
static int load_in_children(void) {
    uint8_t bytes[PART];
    pthread_t thread;
    CHECK(firn__entropy_fill(NULL, bytes, PART, NULL) == FIRN_OK);
    CHECK(SANITIZED || loads_in_child(0) == 1); /* by fork(), of one thread */
    CHECK(loads_in_child(1) == 0 && loads_in_child(2) == 0);
    CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
    CHECK(loads_in_child(0) == 0);
    return 0;
}

static void children_of_threads_do_not_load(void **state) {
    (void)state;
    in_process(load_in_children);
}

static void *work_on(void *unused) {
    firn_id id;
    while (firn_next(gen, &id, NULL) == FIRN_OK) {
    }
    return unused;
}

/* libcrypto tidies up while a thread still issues. */
static void a_process_may_end_while_a_thread_draws(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            pthread_t thread;
            alarm(HUNG_S);
            if (firn_open(&gen, "uuid4", NULL, NULL) != FIRN_OK ||
                pthread_create(&thread, NULL, work_on, NULL) != 0) {
                _exit(1);
            }
            for (int k = 0; k < 1000 && atomic_load(&seeds) < 4; k++) {
                usleep(1000);
            }
            exit(0);
        }
        assert_int_equal(end_of(child), 0);
    }
}

/* ---- ciphers that are missing or wrong ------------------------------------------------------- */

static void *any_self;
static long streamed;
static int open_any(void **self) {
    *self = &any_self;
    return FIRN_OK;
}

static int open_never(void **self) {
    (void)self;
    return FIRN_ESYSTEM;
}

/* The right answers for the known keys, then the chosen ones. */
static const firn_stream_ops *real;
static void *real_self, *second_self;

static int stream_right(void *self, void *bytes, size_t size, const uint8_t key[32],
                        const uint8_t counter[16]) {
    (void)self;
    streamed++;
    return real->stream(real_self, bytes, size, key, counter);
}

static int stream_wrong_bit(void *self, void *bytes, size_t size, const uint8_t key[32],
                            const uint8_t counter[16]) {
    int code = stream_right(self, bytes, size, key, counter);
    ((uint8_t *)bytes)[size - 1] ^= size > 100;
    return code;
}

static int stream_then_fails(void *self, void *bytes, size_t size, const uint8_t key[32],
                             const uint8_t counter[16]) {
    int code = stream_right(self, bytes, size, key, counter);
    return streamed > 3 ? FIRN_ESYSTEM : code;
}

static int stream_then_idles(void *self, void *bytes, size_t size, const uint8_t key[32],
                             const uint8_t counter[16]) {
    return streamed >= 3 ? FIRN_OK : stream_right(self, bytes, size, key, counter);
}

static int stream_fails(void *self, void *bytes, size_t size, const uint8_t key[32],
                        const uint8_t counter[16]) {
    (void)self, (void)bytes, (void)size, (void)key, (void)counter;
    return FIRN_ESYSTEM;
}

static int stream_idles(void *self, void *bytes, size_t size, const uint8_t key[32],
                        const uint8_t counter[16]) {
    (void)self, (void)bytes, (void)size, (void)key, (void)counter;
    return FIRN_OK;
}

static int stream_short(void *self, void *bytes, size_t size, const uint8_t key[32],
                        const uint8_t counter[16]) {
    return size > 100 ? FIRN_ESYSTEM : stream_right(self, bytes, size, key, counter);
}

static int stream_from_zero(void *self, void *bytes, size_t size, const uint8_t key[32],
                            const uint8_t counter[16]) {
    static const uint8_t zero[16];
    (void)counter;
    return stream_right(self, bytes, size, key, zero);
}

static void *hasher_right(void *self) {
    (void)self;
    return real->hasher_open(real_self);
}

static void *hasher_none(void *self) {
    (void)self;
    return NULL;
}

static int hash_right(void *hasher, uint8_t digest[32], const void *bytes, size_t size) {
    return real->hash(hasher, digest, bytes, size);
}

static int hash_fails(void *hasher, uint8_t digest[32], const void *bytes, size_t size) {
    hash_right(hasher, digest, bytes, size);
    return FIRN_ESYSTEM;
}

static int hash_wrong_bit(void *hasher, uint8_t digest[32], const void *bytes, size_t size) {
    int code = hash_right(hasher, digest, bytes, size);
    digest[31] ^= 1;
    return code;
}

static int hash_once(void *hasher, uint8_t digest[32], const void *bytes, size_t size) {
    static const void *last;
    int code = last == hasher ? FIRN_OK : hash_right(hasher, digest, bytes, size);
    last = hasher;
    return code;
}

static void hasher_ends(void *hasher) {
    real->hasher_close(hasher);
}

#define OPS(version, name, open, stream, hasher, hash)                                             \
    { version, name, open, stream, hasher, hash, hasher_ends }
#define STREAM_OPS(version, name, open, stream)                                                    \
    OPS(version, name, open, stream, hasher_right, hash_right)
#define HASH_OPS(hasher, hash) OPS(3, "aes", open_any, stream_right, hasher, hash)
static const firn_stream_ops wrong[] = {
    STREAM_OPS(3, "aes", open_any, stream_fails),
    STREAM_OPS(3, "aes", open_any, stream_idles),
    STREAM_OPS(3, "aes", open_any, stream_short),
    STREAM_OPS(2, "aes", open_any, stream_right),
    STREAM_OPS(3, "rot", open_any, stream_right),
    STREAM_OPS(3, "aes", open_never, stream_right),
    STREAM_OPS(3, "aes", open_any, stream_wrong_bit),
    STREAM_OPS(3, "aes", open_any, stream_then_fails),
    STREAM_OPS(3, "aes", open_any, stream_then_idles),
    STREAM_OPS(3, "aes", open_any, stream_from_zero),
    HASH_OPS(hasher_none, hash_right),
    HASH_OPS(hasher_right, hash_fails),
    HASH_OPS(hasher_right, hash_wrong_bit),
    HASH_OPS(hasher_right, hash_once),
};

static int use_wrong(void) {
    uint8_t bytes[BYTES];
    CHECK(draw_kernel() == FIRN_OK);
    for (int i = 0; i < 3; i++) {
        long before = atomic_load(&blocks);
        fixed = set_noise = true;
        fixed_state = (uint64_t)i;
        CHECK(draw(bytes) == FIRN_OK && atomic_load(&blocks) == before + 1);
        fixed_state = (uint64_t)i;
        uint8_t expected[STREAM], seed[32];
        if (atomic_load(&seeds) > 0) { /* a seed was drawn before */
            __wrap_getrandom(seed, sizeof seed, 0);
        }
        __wrap_getrandom(expected, sizeof expected, 0);
        firn__processor_hash(expected, &noise);
        for (size_t k = 0; k < BYTES; k++) {
            CHECK(bytes[k] == (expected[32 + k] ^ expected[k % 32]));
        }
        CHECK(all_zero(firn__block_here->key, 32));
    }
    return 0;
}

static void wrong_ciphers_are_not_used(void **state) {
    (void)state;
    void *library = dlopen(FIRN_BUILD_DIR "/firn/aes.so", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    real = __real_dlsym(library, "firn_stream_module");
    assert_int_equal(real->open(&real_self), FIRN_OK);
    assert_true(firn__stream_test(real, real_self));
    /* what a second copy of libfirn in the process opens is its own */
    assert_int_equal(real->open(&second_self), FIRN_OK);
    assert_ptr_not_equal(second_self, real_self);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        fake = &wrong[i];
        in_process(use_wrong);
    }
    fake = NULL;
    no_module = true;
    in_process(use_wrong);
    no_module = false;
}

/* ---- entropy=system -------------------------------------------------------------------------- */

static int keep_to_the_kernel(void) {
    firn_gen *kernel, *own;
    firn_id id;
    firn_error error = {0};
    CHECK(firn_open(&kernel, "uuid4", "entropy=system", &error) == FIRN_OK);
    CHECK(firn_open(&own, "uuid4", "entropy=auto", &error) == FIRN_OK);
    for (int i = 0; i < 10000; i++) {
        CHECK(firn_next(kernel, &id, &error) == FIRN_OK);
    }
    CHECK(atomic_load(&seeds) == 0 && atomic_load(&blocks) >= 10000 * 16 / BYTES);
    CHECK(draw_kernel() == FIRN_OK);
    for (int i = 0; i < 10000; i++) {
        CHECK(firn_next(own, &id, &error) == FIRN_OK);
    }
    long kept = atomic_load(&seeds), before = atomic_load(&blocks);
    CHECK(kept > 0);
    for (int i = 0; i < 10000; i++) {
        CHECK(firn_next(kernel, &id, &error) == FIRN_OK);
    }
    CHECK(atomic_load(&seeds) == kept && atomic_load(&blocks) >= before + 10000 * 16 / BYTES);
    firn_close(kernel, NULL);
    firn_close(own, NULL);
    uint64_t seed = 1;
    const firn_entropy seeded = firn__entropy_seeded(&seed);
    firn_config config = {
        .size = sizeof config, .scheme = "uuid4", .keys = "entropy=system", .entropy = &seeded};
    CHECK(firn_open_with(&own, &config, &error) == FIRN_EUSAGE);
    CHECK(strstr(error.text, "another source of randomness") != NULL);
    return 0;
}

static void entropy_system_keeps_to_the_kernel(void **state) {
    (void)state;
    in_process(keep_to_the_kernel);
}

/* For test/randomness: that many MiB of one thread's bytes, to a pipe. */
static int write_stream(long mib) {
    static uint8_t bytes[64][BYTES];
    for (long left = mib << 20; left > 0; left -= (long)sizeof bytes) {
        size_t size = left < (long)sizeof bytes ? (size_t)left : sizeof bytes;
        for (int i = 0; i < 64; i++) {
            if (draw(bytes[i]) != FIRN_OK) {
                return 1;
            }
        }
        if (fwrite(bytes, 1, size, stdout) != size) {
            return 1;
        }
    }
    fprintf(stderr, "%ld refills from the kernel, %ld by the cipher\n", atomic_load(&blocks),
            atomic_load(&seeds));
    return fflush(stdout) == 0 && atomic_load(&seeds) > 0 ? 0 : 1;
}

/* ---- what docs/explanation/randomness.md says of the time ------------------------------------ */

/* Of this process alone: other programs may use the machine. */
static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_size(const void *item, const void *other) {
    const double *a = item, *b = other;
    return (*a > *b) - (*a < *b);
}

/* Minimum and median of rounds of 100 calls. */
static int tell_time(const char *what, int (*call)(void)) {
    enum { ROUNDS = 1001, CALLS = 100 };
    static double ns[ROUNDS];
    int bad = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double began = now_ns();
        for (int k = 0; k < CALLS; k++) {
            bad |= call();
        }
        ns[i] = (now_ns() - began) / CALLS;
    }
    qsort(ns, ROUNDS, sizeof *ns, by_size);
    printf("%-28s %9.0f ns %9.0f ns\n", what, ns[0], ns[ROUNDS / 2]);
    return bad;
}

static int time_refill(void) { /* its first 16 bytes are drawn too */
    uint8_t bytes[16];
    firn__block_here->left = 0;
    return firn__entropy_fill(NULL, bytes, sizeof bytes, NULL);
}

static int time_noise(void) {
    return firn__processor_noise().cycles == 0;
}

static int time_seed(void) {
    uint8_t bytes[32];
    return getrandom(bytes, sizeof bytes, 0) != sizeof bytes;
}

static int tell_times(void) {
    uint8_t bytes[16];
    CHECK(firn__entropy_fill(NULL, bytes, sizeof bytes, NULL) == FIRN_OK);
    printf("%-28s %12s %12s\n", "", "minimum", "median");
    CHECK(tell_time("the kernel's 32 bytes", time_seed) == 0);
    CHECK(tell_time("the processor's noise", time_noise) == 0);
    double began = now_ns();
    CHECK(firn__stream_ready(true));
    printf("%-28s %9.0f ns\n", "loading the cipher, once", now_ns() - began);
    firn__block_here->refills = KERNEL_REFILLS;
    CHECK(tell_time("a refill by the cipher", time_refill) == 0);
    return fflush(stdout);
}

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "--times") == 0) {
        return tell_times();
    }
    if (count == 3 && strcmp(words[1], "--stream") == 0) {
        return write_stream(strtol(words[2], NULL, 10));
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_computes_the_same_bytes),
        cmocka_unit_test(clones_part_at_the_next_refill),
        cmocka_unit_test(the_processor_is_an_extra),
        cmocka_unit_test(the_processor_is_read),
        cmocka_unit_test(without_a_seed_nothing_is_drawn),
        cmocka_unit_test(used_bytes_and_keys_are_erased),
        cmocka_unit_test(no_key_is_anywhere_else),
        cmocka_unit_test(the_page_is_wiped_at_forks_and_not_dumped),
        cmocka_unit_test_setup_teardown(a_core_dump_has_no_key, set_up, tear_down),
        cmocka_unit_test(a_wiped_block_gives_nothing),
        cmocka_unit_test(children_repeat_nothing),
        cmocka_unit_test(children_of_threads_do_not_load),
        cmocka_unit_test(threads_repeat_nothing),
        cmocka_unit_test(a_process_may_end_while_a_thread_draws),
        cmocka_unit_test(wrong_ciphers_are_not_used),
        cmocka_unit_test(entropy_system_keeps_to_the_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
