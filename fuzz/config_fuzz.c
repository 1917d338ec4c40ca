/* SPDX-License-Identifier: MIT */
/* Fuzzes the reader of firn.ini. What it refuses it refuses in one plain line; what it takes holds
 * no control character, and comes out the same when it is printed, read and printed again. */
#include "config/config.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plain(const char *text) {
    for (; *text != '\0'; text++) {
        assert(!iscntrl((unsigned char)*text));
    }
}

static void check_values(const server_config *config) {
    for (size_t i = 0; i < config->sections.count; i++) {
        const config_section *section = &config->sections.all[i];
        const char *const texts[] = {section->name,  section->scheme, section->keys,
                                     section->store, section->form,   section->prefix};
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
            check_plain(texts[j]);
        }
    }
}

/* Reads a file of these bytes. */
static int read_bytes(server_config *config, const void *bytes, size_t size, firn_error *error) {
    char path[64], program[] = "firn-serve", flag[] = "--config";
    int fd = memfd_create("firn.ini", MFD_CLOEXEC);
    assert(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    char *words[] = {program, flag, path, NULL};
    memset(config, 0, sizeof *config);
    int code = config_read(config, 3, words, error);
    close(fd);
    return code;
}

static char *print(const server_config *config, size_t *length) {
    char *text = NULL;
    FILE *out = stdout;
    stdout = open_memstream(&text, length);
    assert(stdout != NULL);
    config_print(config);
    fclose(stdout);
    stdout = out;
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static server_config first, again; /* for their size */
    firn_error error = {0};
    size_t once_length = 0, twice_length = 0;
    if (read_bytes(&first, data, size, &error) != FIRN_OK) {
        assert(error.code != 0 && error.text[0] != '\0');
        check_plain(error.text);
        return 0;
    }
    check_values(&first);
    char *once = print(&first, &once_length);
    assert(read_bytes(&again, once, once_length, &error) == FIRN_OK);
    char *twice = print(&again, &twice_length);
    assert(once_length == twice_length && memcmp(once, twice, once_length) == 0);
    config_free(&again);
    config_free(&first);
    free(once);
    free(twice);
    return 0;
}
