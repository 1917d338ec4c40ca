/* SPDX-License-Identifier: MIT */
/* Fuzzes the readers of a file of masks and of a key file. A refusal is one line, without any key
 * of a key file; each mask of an accepted list is found by its name and has forms that fit it. */
#include "mask_list.h"

#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KEY_FILE = 200, DIGITS = 64 }; /* the corpus names this descriptor: key_file=200 */

static int file_of(char path[64], const void *bytes, size_t size) {
    int fd = memfd_create("masks", MFD_CLOEXEC);
    assert(fd >= 0 && fchmod(fd, 0600) == 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static void check_refusal(const firn_error *error, int code, const uint8_t *data, size_t size) {
    assert(code == error->code && error->text[0] != '\0');
    for (const char *position = error->text; *position != '\0'; position++) {
        assert(*position != '\n');
    }
    for (size_t begin = 0; begin + DIGITS <= size; begin++) {
        size_t length = 0;
        while (length < DIGITS && isxdigit(data[begin + length])) {
            length++;
        }
        assert(length < DIGITS ||
               memmem(error->text, strlen(error->text), data + begin, DIGITS) == NULL);
    }
}

static void check_list(const char *path, const uint8_t *data, size_t size) {
    mask_list list;
    firn_error error = {0};
    int code = mask_list_read(&list, path, &error);
    if (code != FIRN_OK) {
        assert(list.count == 0 && list.all == NULL);
        check_refusal(&error, code, data, size);
        return;
    }
    assert(list.count > 0);
    for (size_t i = 0; i < list.count; i++) {
        const listed_mask *mask = &list.all[i];
        assert(mask_list_find(&list, mask->name, strlen(mask->name), &error) == mask);
        assert(firn_form_width(mask->from, mask->bits) > 0);
        assert(firn_form_width(mask->as, mask->bits) > 0);
    }
    mask_list_free(&list);
}

/* Does the list name only the key file of this program? */
static bool is_harmless(const uint8_t *data, size_t size) {
    static const char word[] = "key_file=", own[] = "key_file=200";
    for (const uint8_t *at = data;
         (at = memmem(at, size - (size_t)(at - data), word, sizeof word - 1)) != NULL; at++) {
        const size_t left = size - (size_t)(at - data);
        if (left < sizeof own || memcmp(at, own, sizeof own - 1) != 0 ||
            isspace(at[sizeof own - 1]) == 0) {
            return false;
        }
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64], key_path[64], key[80];
    firn_error error = {0};
    firn_mask *mask = NULL;
    int given = file_of(path, data, size);
    int file = file_of(key_path, key, (size_t)snprintf(key, sizeof key, "1 %064d\n", 0));
    assert(dup2(file, KEY_FILE) == KEY_FILE);
    int code = firn_mask_load(&mask, "name=orders", path, NULL, &error);
    if (code != FIRN_OK) {
        assert(mask == NULL);
        check_refusal(&error, code, data, size);
    }
    firn_mask_close(mask);
    if (is_harmless(data, size)) {
        check_list(path, data, size);
    }
    close(KEY_FILE);
    close(file);
    close(given);
    return 0;
}
