/* SPDX-License-Identifier: MIT */
/* libfirn-uuid.so and the system's libuuid.so.1: the same answers for a million UUIDs and texts;
 * what both generate has the same form; threads and forks repeat nothing. Arguments: the paths of
 * the two libraries. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 1000000, EACH = 20000, THREADS = 4, CHILDREN = 2 };

typedef struct {
    void (*generate)(unsigned char *), (*generate_random)(unsigned char *),
        (*generate_time)(unsigned char *);
    int (*generate_time_safe)(unsigned char *);
    void (*md5)(unsigned char *, const unsigned char *, const char *, size_t);
    void (*sha1)(unsigned char *, const unsigned char *, const char *, size_t);
    void (*clear)(unsigned char *), (*copy)(unsigned char *, const unsigned char *);
    int (*compare)(const unsigned char *, const unsigned char *), (*is_null)(const unsigned char *);
    int (*parse)(const char *, unsigned char *),
        (*parse_range)(const char *, const char *, unsigned char *);
    void (*unparse)(const unsigned char *, char *), (*lower)(const unsigned char *, char *);
    void (*upper)(const unsigned char *, char *);
    time_t (*time)(const unsigned char *, struct timeval *);
    int (*type)(const unsigned char *), (*variant)(const unsigned char *);
    const unsigned char *(*get_template)(const char *);
} functions;

static int failures, checks;

#define CHECK(truth)                                                                               \
    do {                                                                                           \
        checks++;                                                                                  \
        if (!(truth) && ++failures < 20) {                                                         \
            printf("line %d: %s\n", __LINE__, #truth);                                             \
        }                                                                                          \
    } while (0)

static functions open_library(const char *path) {
    functions out;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
#define TAKE(member, name)                                                                         \
    *(void **)&out.member = dlsym(handle, name);                                                   \
    CHECK(out.member != NULL)
    TAKE(generate, "uuid_generate");
    TAKE(generate_random, "uuid_generate_random");
    TAKE(generate_time, "uuid_generate_time");
    TAKE(generate_time_safe, "uuid_generate_time_safe");
    TAKE(md5, "uuid_generate_md5");
    TAKE(sha1, "uuid_generate_sha1");
    TAKE(clear, "uuid_clear");
    TAKE(copy, "uuid_copy");
    TAKE(compare, "uuid_compare");
    TAKE(is_null, "uuid_is_null");
    TAKE(parse, "uuid_parse");
    TAKE(parse_range, "uuid_parse_range");
    TAKE(unparse, "uuid_unparse");
    TAKE(lower, "uuid_unparse_lower");
    TAKE(upper, "uuid_unparse_upper");
    /* uuid_time of Debian 13's has 32 bits. */
    TAKE(time, dlsym(handle, "uuid_time64") != NULL ? "uuid_time64" : "uuid_time");
    TAKE(type, "uuid_type");
    TAKE(variant, "uuid_variant");
    TAKE(get_template, "uuid_get_template");
    return out;
}

static uint64_t seed = 88172645463325252;
static uint64_t any(void) { /* xorshift: the cases are the same in each run */
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static int sign(int order) {
    return (order > 0) - (order < 0);
}

static void compare_bytes(const functions *a, const functions *b, const unsigned char *uuid,
                          const unsigned char *other) {
    char first[64] = "", second[64] = "";
    struct timeval item = {0, 0}, two = {0, 0};
    unsigned char copied[16], cleared[16];
    CHECK(a->type(uuid) == b->type(uuid));
    CHECK(a->variant(uuid) == b->variant(uuid));
    CHECK(a->is_null(uuid) == b->is_null(uuid));
    CHECK(sign(a->compare(uuid, other)) == sign(b->compare(uuid, other)));
    a->unparse(uuid, first), b->unparse(uuid, second);
    CHECK(memcmp(first, second, sizeof first) == 0);
    a->upper(uuid, first), b->upper(uuid, second);
    CHECK(memcmp(first, second, sizeof first) == 0);
    a->lower(uuid, first), b->lower(uuid, second);
    CHECK(memcmp(first, second, sizeof first) == 0);
    if (a->type(uuid) == 1 && a->variant(uuid) == 1 && a->time(uuid, &item) >= 0 &&
        item.tv_sec <
            INT64_C(
                100000000000)) { /* the original subtracts without a sign: before 1970 it errs */
        CHECK(b->time(uuid, &two) == item.tv_sec && item.tv_usec == two.tv_usec);
    }
    b->copy(copied, uuid);
    CHECK(memcmp(copied, uuid, 16) == 0);
    b->clear(cleared);
    CHECK(b->is_null(cleared));
}

/* A text with up to three characters changed, and often another length. */
static void compare_texts(const functions *a, const functions *b, const unsigned char *uuid) {
    static const char odd[] = "0123456789abcdefABCDEFgG-- {}x\n";
    char text[64];
    unsigned char item[16] = {0}, two[16] = {0};
    a->unparse(uuid, text);
    for (uint64_t i = any() % 4; i > 0; i--) {
        text[any() % 37] = odd[any() % (sizeof odd - 1)];
    }
    text[40] = '\0';
    if (any() % 8 == 0) {
        text[any() % 38] = '\0';
    }
    int code = a->parse(text, item);
    CHECK(b->parse(text, two) == code);
    CHECK(code != 0 || memcmp(item, two, 16) == 0);
    size_t length = any() % 41;
    code = a->parse_range(text, text + length, item);
    CHECK(b->parse_range(text, text + length, two) == code);
    CHECK(code != 0 || memcmp(item, two, 16) == 0);
}

static void compare_digests(const functions *a, const functions *b) {
    static const char *const names[] = {"dns", "url", "oid", "x500", "nil", "DNS", "", "x.500"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const unsigned char *item = a->get_template(names[i]), *two = b->get_template(names[i]);
        CHECK((item == NULL) == (two == NULL));
        CHECK(item == NULL || two == NULL || memcmp(item, two, 16) == 0);
        for (size_t length = 0; item != NULL && length < 300; length += 7) {
            char name[300];
            unsigned char x[16], y[16];
            for (size_t k = 0; k < length; k++) {
                name[k] = (char)any();
            }
            a->md5(x, item, name, length), b->md5(y, item, name, length);
            CHECK(memcmp(x, y, 16) == 0);
            a->sha1(x, item, name, length), b->sha1(y, item, name, length);
            CHECK(memcmp(x, y, 16) == 0);
        }
    }
}

static const functions *ours;
static unsigned char (*issued)[16]; /* shared with children */

static void *issue(void *part) {
    unsigned char(*out)[16] = issued + (size_t)(uintptr_t)part * EACH;
    for (int i = 0; i < EACH; i++) {
        (i % 2 ? ours->generate_time : ours->generate_random)(out[i]);
    }
    return NULL;
}

static int by_bytes(const void *a, const void *b) {
    return memcmp(a, b, 16);
}

static int repeated(size_t count) {
    int found = 0;
    qsort(issued, count, 16, by_bytes);
    for (size_t i = 1; i < count; i++) {
        found += memcmp(issued[i - 1], issued[i], 16) == 0;
    }
    return found;
}

static void generate(const functions *a, const functions *b) {
    const size_t parts = THREADS + CHILDREN + 1;
    unsigned char uuid[16];
    struct timeval now, shown;
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < 4; k++) {
            void (*const both[2][3])(unsigned char *) = {
                {a->generate, a->generate_random, a->generate_time},
                {b->generate, b->generate_random, b->generate_time}};
            unsigned char other[16];
            if (k == 3) {
                CHECK(b->generate_time_safe(uuid) == 0);
                a->generate_time_safe(other);
            } else {
                both[1][k](uuid), both[0][k](other);
            }
            CHECK(b->type(uuid) == b->type(other) && b->variant(uuid) == 1);
        }
    }
    gettimeofday(&now, NULL);
    b->generate_time(uuid);
    CHECK(b->time(uuid, &shown) - now.tv_sec < 60 && shown.tv_sec >= now.tv_sec - 1);
    issued =
        mmap(NULL, parts * EACH * 16, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ours = b;
    fflush(NULL);
    pid_t children[CHILDREN];
    for (size_t i = 0; i < CHILDREN; i++) {
        if ((children[i] = fork()) == 0) {
            issue((void *)i);
            _exit(0);
        }
    }
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, issue, (void *)(CHILDREN + i)) == 0);
    }
    issue((void *)(parts - 1));
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < CHILDREN; i++) {
        int status = 1;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    CHECK(repeated(parts * EACH) == 0);
    memcpy(issued[7], issued[9], 16); /* what this test would find */
    CHECK(repeated(parts * EACH) == 1);
}

int main(int count, char **paths) {
    if (count != 3) {
        return 2;
    }
    functions a = open_library(paths[1]), b = open_library(paths[2]);
    for (int i = 0; i < ROUNDS; i++) {
        unsigned char uuid[16], other[16];
        for (int k = 0; k < 16; k++) {
            uuid[k] = (unsigned char)any();
            other[k] = any() % 8 ? uuid[k] : (unsigned char)any();
        }
        if (i % 4 == 0) { /* else versions 1 are rare */
            uuid[6] = (unsigned char)(0x10 | (uuid[6] & 15));
            uuid[8] = (unsigned char)(0x80 | (uuid[8] & 63));
        }
        if (i % 1000 == 0) {
            memset(uuid, 0, 16);
        }
        compare_bytes(&a, &b, uuid, other);
        compare_texts(&a, &b, uuid);
    }
    compare_digests(&a, &b);
    generate(&a, &b);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
