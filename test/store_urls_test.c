/* SPDX-License-Identifier: MIT */
/* URLs of stores that are refused before anybody is asked, of every module: the code, a word of the
 * sentence, and no password in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <firn/firn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"

#define LONG50  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LONG250 LONG50 LONG50 LONG50 LONG50 LONG50
#define SECRET  "Tr0ub4dor"

typedef struct refused_url {
    const char *url;
    int code;
    const char *word;
} refused_url;

/* Each engine has a server's address, a required path, and a parameter before others. */
static const struct {
    const char *scheme, *path;
} engines[] = {
    {"postgres", "/d"}, {"mysql", "/d"}, {"redis", "/1"}, {"etcd", ""}, {"zookeeper", "/d"}};

/* URLs that all of them refuse: S is the scheme, P the path. */
static const refused_url all[] = {
    {"S:h", FIRN_EUSAGE, "//"},
    {"S://h:0P", FIRN_EUSAGE, "port"},
    {"S://h:65536P", FIRN_EUSAGE, "port"},
    {"S://h:99999999999999999999P", FIRN_EUSAGE, "port"},
    {"S://h:1xP", FIRN_EUSAGE, "port"},
    {"S://h:01P", FIRN_EUSAGE, "port"},
    {"S://h:P", FIRN_EUSAGE, "port"},
    {"S://:5P", FIRN_EUSAGE, "host"},
    {"S://h,,iP", FIRN_EUSAGE, "host"},
    {"S://h,P", FIRN_EUSAGE, "host"},
    {"S://[::1P", FIRN_EUSAGE, "host"},
    {"S://[::1]xP", FIRN_EUSAGE, "host"},
    {"S://[]:1P", FIRN_EUSAGE, "host"},
    {"S://[::1]:0P", FIRN_EUSAGE, "host"},
    {"S://h%P", FIRN_EUSAGE, "host"},
    {"S://h%4P", FIRN_EUSAGE, "host"},
    {"S://h%4gP", FIRN_EUSAGE, "host"},
    {"S://h%g4P", FIRN_EUSAGE, "host"},
    {"S://h%00P", FIRN_EUSAGE, "host"},
    {"S://1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17P", FIRN_EUSAGE, "16"},
    {"S://u%zz:" SECRET "@hP", FIRN_EUSAGE, "%XX"},
    {"S://u%:" SECRET "@hP", FIRN_EUSAGE, "%XX"},
    {"S://u:" SECRET "%@hP", FIRN_EUSAGE, "%XX"},
    {"S://u:" SECRET "%0`@hP", FIRN_EUSAGE, "%XX"},
    {"S://u:" SECRET "/x@hP", FIRN_EUSAGE, "@ after a /"},
    {"S://h/%zz", FIRN_EUSAGE, "%XX"},
    {"S://hP?x", FIRN_EUSAGE, "without a name or ="},
    {"S://hP?=1", FIRN_EUSAGE, "without a name or ="},
    {"S://hP?unsafe=1&x", FIRN_EUSAGE, "without a name or ="},
    {"S://hP?unsafe=1&unsafe=1", FIRN_EUSAGE, "twice"},
    {"S://hP?unsafe=%4", FIRN_EUSAGE, "%XX"},
    {"S://hP?u%zz=1", FIRN_EUSAGE, "%XX"},
    {"S://"
     "hP?a=1&b=1&c=1&d=1&e=1&f=1&g=1&h=1&i=1&j=1&k=1&l=1&m=1&n=1&o=1&p=1&q=1&r=1&s=1&t=1&u=1&v=1&w="
     "1&x=1&y=1",
     FIRN_EUSAGE, "24"},
    {"S://hP?nonsense=1", FIRN_EUSAGE, "nonsense"},
    {"S://hP?" LONG250 "=1", FIRN_EUSAGE, "unknown"},
    {"S://hP?unsafe=2", FIRN_ERANGE, "0 to 1"},
    {"S://hP?unsafe=yes", FIRN_ERANGE, "unsafe=yes"},
    {"S://hP?unsafe=", FIRN_ERANGE, "unsafe="},
    {"S://hP?unsafe=00", FIRN_ERANGE, "unsafe=00"},
    {"S://hP?timeout=0", FIRN_ERANGE, "timeout=0"},
    {"S://hP?timeout=-1", FIRN_EUSAGE, "timeout=-1"},
    {"S://hP?timeout=1.5", FIRN_EUSAGE, "timeout=1.5"},
    {"S://hP?timeout=5", FIRN_EUSAGE, "in the store's URL, timeout=5 has no unit: write 5ms"},
    {"S://hP?timeout_ms=5", FIRN_EUSAGE, "write timeout=5ms"},
    {"S://hP?timeout_ms=5s", FIRN_EUSAGE, "write timeout=5s"},
    {"S://hP?timeout=9223372036854775808ms", FIRN_ERANGE, "timeout="},
    {"S://hP?timeout=18446744073709551616ms", FIRN_ERANGE, "timeout="},
    {"S://hP?timeout=99999999999ms", FIRN_ERANGE, "timeout="},
    {"S://hP?connect_timeout=0", FIRN_ERANGE, "connect_timeout=0"},
    {"S://hP?connect_timeout=99999999999999999999999ms", FIRN_ERANGE, "connect_timeout="},
};

/* URLs that one of them refuses. F is a folder: empty, long, key.pem (not a certificate) and
 * password are files in it, and pipe is a named pipe that nobody writes. */
static const refused_url one[] = {
    {"postgres://h/d?tls=verify&ca=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"postgres://h/d?sslmode=verify-full&sslrootcert=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"postgres://h/d?tls=verify&sslcert=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"postgres://h/d?tls=verify&sslkey=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"postgres://h/d?tls=verify&sslcrl=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"postgres://h/d?passfile=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"mysql://h/d?tls=verify&ca=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"mysql://h/d?tls=verify&cert=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"mysql://h/d?tls=verify&key=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"mysql://h/d?tls=verify&crl=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"mysql://h/d?defaults-file=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"redis://h?tls=1&ca=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"redis://h?tls=1&cert=F/pipe&key=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"redis://h?tls=1&cert=F/key.pem&key=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"redis://h?password-file=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"etcd://h?tls=1&ca=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"etcd://u@h?password-file=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"zookeeper://u@h?password-file=F/pipe", FIRN_EUSAGE, "is a named pipe"},
    {"sqlite:F/pipe", FIRN_ESTORE, "not a file"},
    {"postgres://h/d?ca=a", FIRN_EUSAGE, "ca= protects nothing without tls=verify"},
    {"postgres://h/d?tls=prefer&ca=a", FIRN_EUSAGE, "without tls=verify"},
    {"postgres://h/d?tls=off&ca=a", FIRN_EUSAGE, "without tls=verify"},
    {"postgres://h/d?sslmode=allow&sslrootcert=a", FIRN_EUSAGE, "without tls=verify"},
    {"postgres://h/d?sslrootcert=a", FIRN_EUSAGE, "sslrootcert= protects nothing"},
    {"postgres://h/d?tls=require&sslcrl=a", FIRN_EUSAGE, "sslcrl= protects nothing"},
    {"postgres://h/d?sslcert=a&sslkey=b", FIRN_EUSAGE, "tls=verify or tls=require"},
    {"postgres://h/d?tls=prefer&sslkey=b", FIRN_EUSAGE, "tls=verify or tls=require"},
    {"postgres://h/d?tls=verify&sslmode=disable", FIRN_EUSAGE, "tls= and sslmode="},
    {"postgres://h/d?tls=verify&ca=a&sslrootcert=b", FIRN_EUSAGE, "ca= and sslrootcert="},
    {"postgres://h/d?tls=perhaps", FIRN_EUSAGE, "tls=perhaps"},
    {"postgres://h/d?table=", FIRN_EUSAGE, "table="},
    {"postgres://h/d?table=1a", FIRN_EUSAGE, "table=1a"},
    {"postgres://h/d?table=a-b", FIRN_EUSAGE, "table=a-b"},
    {"postgres://h/d?table=" LONG50, FIRN_EUSAGE, "48"},
    {"mysql://h", FIRN_EUSAGE, "database"},
    {"mysql://h/d?ca=a", FIRN_EUSAGE, "ca= protects nothing without tls=verify"},
    {"mysql://h/d?tls=require&ca=a", FIRN_EUSAGE, "without tls=verify"},
    {"mysql://h/d?tls=require&crl=a", FIRN_EUSAGE, "without tls=verify"},
    {"mysql://h/d?tls=off&ca=a", FIRN_EUSAGE, "without tls=verify"},
    {"mysql://h/d?cert=a&key=b", FIRN_EUSAGE, "tls=verify or tls=require"},
    {"mysql://h/d?tls=prefer&key=b", FIRN_EUSAGE, "tls=verify or tls=require"},
    {"mysql://h/d?tls=perhaps", FIRN_EUSAGE, "tls=perhaps"},
    {"mysql://h/d?table=1a", FIRN_EUSAGE, "table=1a"},
    {"mysql://h/d?leaf=a&tickets=b", FIRN_EUSAGE, "leaf= and tickets="},
    {"mysql://h/d?tickets=a&worker_node=b", FIRN_EUSAGE, "tickets= and worker_node="},
    {"mysql://h/d?leaf=", FIRN_EUSAGE, "leaf="},
    {"mysql://h/d?worker_node=9", FIRN_EUSAGE, "worker_node=9"},
    {"redis://", FIRN_EUSAGE, "no host"},
    {"redis://h/x", FIRN_EUSAGE, "/x"},
    {"redis://h/65536", FIRN_EUSAGE, "/65536"},
    {"redis://h/-1", FIRN_EUSAGE, "/-1"},
    {"redis://h?tls=2", FIRN_ERANGE, "tls=2"},
    {"redis://h?counters=2", FIRN_ERANGE, "counters=2"},
    {"redis://h?verify=2", FIRN_ERANGE, "verify=2"},
    {"redis://h?prefix=", FIRN_EUSAGE, "prefix="},
    {"redis://h?prefix=a%7Db", FIRN_EUSAGE, "prefix=a}b"},
    {"redis://h?ca=a", FIRN_EUSAGE, "tls=1"},
    {"redis://h?cert=a&key=b", FIRN_EUSAGE, "tls=1"},
    {"redis://h?key=b", FIRN_EUSAGE, "tls=1"},
    {"redis://h?verify=0", FIRN_EUSAGE, "tls=1"},
    {"redis://h?tls=1&cert=a", FIRN_EUSAGE, "both"},
    {"redis://h?tls=1&verify=0&ca=a", FIRN_EUSAGE, "ca= protects nothing without verify=1"},
    {"rediss://h?tls=0", FIRN_EUSAGE, "rediss"},
    {"rediss://h?key=a", FIRN_EUSAGE, "both"},
    {"redis://h?tls=1&ca=F/nowhere", FIRN_EUSAGE, "cannot be read"},
    {"redis://h?tls=1&ca=F/empty", FIRN_EUSAGE, "cannot be read"},
    {"redis://h?tls=1&ca=F/key.pem", FIRN_EUSAGE, "cannot be read"},
    {"redis://h?tls=1&cert=F/nowhere&key=F/nowhere", FIRN_EUSAGE, "cannot be used"},
    {"redis://h?tls=1&cert=F/key.pem&key=F/key.pem", FIRN_EUSAGE, "cannot be used"},
    {"redis://h?password-file=F/nowhere", FIRN_EUSAGE, "cannot be read"},
    {"redis://h?password-file=F/empty", FIRN_EUSAGE, "cannot be read"},
    {"redis://h?password-file=F/long", FIRN_EUSAGE, "1 to 1023"},
    {"redis://h?password-file=F", FIRN_EUSAGE, "cannot be read"},
    {"etcd://", FIRN_EUSAGE, "no host"},
    {"etcd://h/path", FIRN_EUSAGE, "path"},
    {"etcd://a b", FIRN_EUSAGE, "not a valid host"},
    {"etcd://" LONG250 LONG50, FIRN_EUSAGE, "not a valid host"},
    {"etcd://h?prefix=" LONG50 LONG50 "a", FIRN_ERANGE, "100"},
    {"etcd://h?tls=2", FIRN_ERANGE, "tls=2"},
    {"etcd://h?verify=2", FIRN_ERANGE, "verify=2"},
    {"etcd://h?ca=a", FIRN_EUSAGE, "tls=1"},
    {"etcd://h?cert=a", FIRN_EUSAGE, "tls=1"},
    {"etcd://h?key=a", FIRN_EUSAGE, "tls=1"},
    {"etcd://h?verify=0", FIRN_EUSAGE, "tls=1"},
    {"etcd://h?tls=1&cert=a", FIRN_EUSAGE, "both"},
    {"etcd://h?tls=1&verify=0&ca=a", FIRN_EUSAGE, "ca= protects nothing without verify=1"},
    {"etcd://h?tls=1&key=a", FIRN_EUSAGE, "both"},
    {"etcd://u@h?password-file=F/empty", FIRN_EUSAGE, "cannot be read"},
    {"zookeeper://", FIRN_EUSAGE, "no host"},
    {"zookeeper://a%20b", FIRN_EUSAGE, "a b"},
    {"zookeeper://a%2cb", FIRN_EUSAGE, "a,b"},
    {"zookeeper://" LONG250 LONG50, FIRN_EUSAGE, "host"},
    {"zookeeper://h/a//b", FIRN_EUSAGE, "a//b"},
    {"zookeeper://h/a/", FIRN_EUSAGE, "a/"},
    {"zookeeper://h//a", FIRN_EUSAGE, "/a"},
    {"zookeeper://h/a/./b", FIRN_EUSAGE, "a/./b"},
    {"zookeeper://h/..", FIRN_EUSAGE, ".."},
    {"zookeeper://h/a%20b", FIRN_EUSAGE, "a b"},
    {"zookeeper://h/zookeeper", FIRN_EUSAGE, "zookeeper"},
    {"zookeeper://h/zookeeper/a", FIRN_EUSAGE, "zookeeper/a"},
    {"zookeeper://h/" LONG250, FIRN_EUSAGE, "letters"},
    {"zookeeper://h?tls=1", FIRN_EUSAGE, "TLS"},
    {"zookeeper://u@h", FIRN_EUSAGE, "alone"},
    {"zookeeper://:" SECRET "@h", FIRN_EUSAGE, "alone"},
    {"zookeeper://h?password-file=F/password", FIRN_EUSAGE, "alone"},
    {"zookeeper://u@h?password-file=F/empty", FIRN_EUSAGE, "cannot be read"},
    {"sqlite:", FIRN_EUSAGE, "no file"},
    {"sqlite:F/", FIRN_EUSAGE, "no file"},
    {"sqlite:F/.", FIRN_EUSAGE, "no file"},
    {"sqlite:F/..", FIRN_EUSAGE, "no file"},
    {"sqlite:..", FIRN_EUSAGE, "no file"},
    {"sqlite:F/a?unsafe", FIRN_EUSAGE, "unsafe"},
    {"sqlite:F/a?unsafe=2", FIRN_EUSAGE, "unsafe"},
    {"sqlite:F/a?busy=-1", FIRN_EUSAGE, "busy"},
    {"sqlite:F/a?busy=x", FIRN_EUSAGE, "busy"},
    {"sqlite:F/a?busy=5", FIRN_EUSAGE, "in the store's URL, busy=5 has no unit: write 5ms"},
    {"sqlite:F/a?busy_ms=5", FIRN_EUSAGE, "write busy=5ms"},
    {"sqlite:F/a?busy_ms=5s", FIRN_EUSAGE, "write busy=5s"},
    {"sqlite:F/a?nonsense=1", FIRN_EUSAGE, "nonsense"},
    {"sqlite:F/a?create=maybe", FIRN_EUSAGE, "create"},
    {"sqlite:F/nowhere?create=no", FIRN_ESTORE, "nowhere"},
    {"sqlite:F/no/where?create=no", FIRN_ESTORE, "where"},
    {"sqlite:F/empty/x", FIRN_ESTORE, "empty"},
    {"sqlite:F", FIRN_ESTORE, "not a file"},
    {"sqlite:F/" LONG250 LONG50, FIRN_ESTORE, "name"},
    {"nonsense:x", FIRN_EUSAGE, "nonsense"},
};

/* Copies the URL with S, P and F put in. */
static void fill_in(char out[2000], const char *text, size_t engine) {
    size_t position = 0;
    for (const char *c = text; *c != '\0'; c++) {
        bool placed = (c == text && *c == 'S') || *c == 'P' ||
                      (*c == 'F' && (c[1] == '/' || c[1] == '\0' || c[1] == '&'));
        const char *with = *c == 'S'   ? engines[engine].scheme
                           : *c == 'P' ? engines[engine].path
                                       : folder;
        position += (size_t)snprintf(out + position, 2000 - position, "%s",
                                     placed ? with : (char[2]){*c, '\0'});
    }
}

static int wrong; /* rows */

static void judge(const char *given, const refused_url *row) {
    const firn_store_options options = {.module_dir = FIRN_BUILD_DIR "/firn", .unsafe = true};
    firn_error error = {0};
    firn_store *store = NULL;
    int code = firn_store_open(&store, given, &options, &error);
    if (code == FIRN_OK) {
        firn_store_close(store);
    }
    if (code != row->code || error.code != code || strstr(error.text, row->word) == NULL ||
        strstr(error.text, ": ") == NULL || strstr(error.text, SECRET) != NULL ||
        strlen(error.text) >= sizeof error.text || store != NULL) {
        print_error("%s: %s '%s' is not %s with '%s'\n", given, firn_errname(code), error.text,
                    firn_errname(row->code), row->word);
        wrong++;
    }
}

static bool has_module(const char *name) {
    char path[600];
    snprintf(path, sizeof path, FIRN_BUILD_DIR "/firn/%s.so", name);
    return access(path, R_OK) == 0;
}

static void all_refuse(void **state) {
    char url_text[2000];
    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        for (size_t j = 0; has_module(engines[i].scheme) && j < sizeof all / sizeof all[0]; j++) {
            fill_in(url_text, all[j].url, i);
            judge(url_text, &all[j]);
        }
    }
    assert_int_equal(wrong, 0);
}

static void one_refuses(void **state) {
    char url_text[2000];
    (void)state;
    wrong = 0;
    for (size_t j = 0; j < sizeof one / sizeof one[0]; j++) {
        fill_in(url_text, one[j].url, 0);
        judge(url_text, &one[j]);
    }
    assert_int_equal(wrong, 0);
}

static bool is_replaced(void) {
    return getenv("LD_PRELOAD") != NULL ||
           dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace") != NULL;
}

/* This program exports a name of a library that a module uses, as PostgreSQL does. */
void *json_object(void);

void *json_object(void) {
    fail_msg("a module called json_object of the program");
    return NULL;
}

static void a_module_uses_its_own_libraries(void **state) {
    firn_store *store = NULL;
    firn_error error = {0};
    (void)state;
    int code = firn_store_open(&store, "etcd://127.0.0.1:1/?connect_timeout=100ms", NULL, &error);
    if (code == FIRN_OK) {
        firn_request request = {
            .ns = "n", .layout = "l", .key = "1", .count = 1, .latest = 9, .grant = 1};
        firn_mark held;
        int64_t first;
        code = firn_store_reserve(store, &request, &first, &held, &error);
        firn_store_close(store);
    }
    assert_int_equal(code, FIRN_ESTORE);
    assert_non_null(strstr(error.text, "127.0.0.1:1"));
}

static int make_files(void **state) {
    char command[1000];
    static const char *const variables[] = {"PGPASSWORD",
                                            "PGSSLMODE",
                                            "MYSQL_PWD",
                                            "REDISCLI_AUTH",
                                            "ETCDCTL_USER",
                                            "ETCDCTL_PASSWORD",
                                            "FIRN_ZOOKEEPER_PASSWORD"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        unsetenv(variables[i]);
    }
    if (set_up(state) != 0) {
        return 1;
    }
    snprintf(command, sizeof command,
             "cd '%s' && : >empty && head -c 1024 /dev/zero | tr '\\0' a >long && echo %s "
             ">password && echo no >key.pem && mkfifo -m 600 pipe",
             folder, SECRET);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        {"every engine refuses a URL that is invalid", all_refuse, NULL, NULL, NULL},
        {"each engine refuses unknown parameters", one_refuses, NULL, NULL, NULL},
        {"a module uses its own libraries", a_module_uses_its_own_libraries, NULL, NULL, NULL},
    };
    /* A sanitizer and a preloaded library keep their precedence over the libraries of a module. */
    const size_t count = sizeof tests / sizeof tests[0] - (is_replaced() ? 1 : 0);
    return _cmocka_run_group_tests("URLs of stores", tests, count, make_files, tear_down);
}
