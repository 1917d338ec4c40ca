/* SPDX-License-Identifier: MIT */
/* Each printed command can be pasted into a shell. */
#include "hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_SIZE 300

/* Is a program of this name in a folder of PATH? */
static bool is_installed(const char *name) {
    char path[COMMAND_SIZE];
    const char *folder = getenv("PATH");
    while (folder != NULL && *folder != '\0') {
        const int length = (int)strcspn(folder, ":");
        const int size = snprintf(path, sizeof path, "%.*s/%s", length, folder, name);
        if (size < (int)sizeof path && access(path, X_OK) == 0) {
            return true;
        }
        folder += length;
        folder += *folder == ':';
    }
    return false;
}

static bool is_unix(const char *address) {
    return strncmp(address, "unix:", 5) == 0;
}

/* The options of redis-cli for the address. */
static void redis_cli(char text[COMMAND_SIZE], const char *address, bool tls, bool tokens) {
    const char *colon = strrchr(address, ':');
    if (is_unix(address)) {
        snprintf(text, COMMAND_SIZE, "redis-cli -s %s%s", address + 5, tokens ? " --askpass" : "");
        return;
    }
    int host = colon == NULL ? 0 : (int)(colon - address);
    bool bare = address[0] == '['; /* redis-cli expects ::1, not [::1] */
    snprintf(text, COMMAND_SIZE, "redis-cli -h %.*s -p %s%s%s", bare ? host - 2 : host,
             bare ? address + 1 : address, colon == NULL ? "" : colon + 1,
             tls ? " --tls --insecure" : "", tokens ? " --askpass" : "");
}

static void tell_http(const char *address, bool tls, bool tokens) {
    const char *token = tokens ? " -H 'Authorization: Bearer TOKEN'" : "";
    if (is_unix(address)) {
        printf("  curl --unix-socket %s%s 'http://localhost/v1/new/snowflake?n=3'\n", address + 5,
               token);
        return;
    }
    printf("  curl%s%s 'http%s://%s/v1/new/snowflake?n=3'\n", tls ? " -k" : "", token,
           tls ? "s" : "", address);
}

/* The command next to this program, which needs no client. */
static void tell_command(void) {
    char path[COMMAND_SIZE];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof "firn");
    if (length > 0) {
        path[length] = '\0';
        snprintf(strrchr(path, '/'), sizeof "/firn", "/firn");
        printf("  %s show --scheme snowflake 1541815603606036480\n",
               access(path, X_OK) == 0 ? path : "firn");
    }
}

void hints_tell(const char *resp, const char *http, bool tls, bool tokens, const char *segment) {
    char cli[COMMAND_SIZE];
    printf("\nfirn serves");
    if (resp != NULL) {
        printf(" Redis clients at %s", resp);
    }
    if (http != NULL) {
        printf("%s HTTP at %s%s%s", resp != NULL ? " and" : "",
               is_unix(http) ? "" : (tls ? "https://" : "http://"), http, is_unix(http) ? "" : "/");
    }
    printf(". Stop it with Ctrl-C. Try in another terminal:\n\n");
    const bool redis = resp != NULL && is_installed("redis-cli");
    const bool curl = http != NULL && is_installed("curl");
    if (redis) {
        redis_cli(cli, resp, tls, tokens);
        if (segment != NULL) {
            printf("  %s INCR '%s'\n", cli, segment);
        }
        printf("  %s FIRN.NEW uuid7 COUNT 3\n", cli);
    }
    if (curl) {
        tell_http(http, tls, tokens);
    }
    if (!redis && !curl) {
        tell_command();
    }
    const bool lacks_redis = resp != NULL && !redis, lacks_curl = http != NULL && !curl;
    if (lacks_redis || lacks_curl) {
        printf("\nInstall %s%s%s to try more.\n", lacks_redis ? "redis-tools" : "",
               lacks_redis && lacks_curl ? " and " : "", lacks_curl ? "curl" : "");
    }
    if (http != NULL && !is_unix(http)) {
        printf("\nOr open http%s://%s/ in a browser: decode IDs, generate IDs, watch the server.\n",
               tls ? "s" : "", http);
    }
    printf("\n");
    fflush(stdout);
}
