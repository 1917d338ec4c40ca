/* SPDX-License-Identifier: MIT */
/* Files with a secret key: see key_file.h. */
#include "key_file.h"

#include "../src/secret_text.h"
#include "named_pipe.h"
#include "operands.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* May nobody but its owner read the file? A pipe has no other readers. */
static int check_file(session *s, int file, const char *name, const char *contents) {
    struct stat about;
    if (fstat(file, &about) != 0 || S_ISDIR(about.st_mode)) {
        return fail_usage(s, "--key-file %.80s is not a file: name a file that contains %s", name,
                          contents);
    }
    if (S_ISREG(about.st_mode) && (about.st_mode & 077) != 0) {
        return fail_usage(s,
                          "other users can read the secret key in %.80s: chmod 600 it, and change "
                          "the key if somebody may have read it",
                          name);
    }
    return STATUS_DONE;
}

int key_file_read(session *s, char *text, size_t size, const char *name, const char *contents) {
    size_t length = 0;
    ssize_t got = 1;
    firn_error error;
    if (refuse_named_pipe(name, &error) != FIRN_OK) {
        return fail(s, &error);
    }
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0 && firn__is_secret_path(name)) {
        return fail_usage(
            s, "--key-file needs a file, not the secret key: every user can read arguments, "
               "so choose another key");
    }
    if (file < 0) {
        return fail_as(s, FIRN_EIO, "cannot open the key file %.80s: %s", name, strerror(errno));
    }
    int status = check_file(s, file, name, contents);
    while (status == STATUS_DONE && got > 0 && length < size - 1) {
        got = read(file, text + length, size - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    close(file);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r')) {
        length--;
    }
    text[length] = '\0';
    return status;
}

int key_refuse_argument(session *s, const char *instead) {
    return operand_value(s, "key") == NULL
               ? STATUS_DONE
               : fail_usage(s,
                            "every user can read a secret key in an argument: use %s, and choose "
                            "another key",
                            instead);
}
