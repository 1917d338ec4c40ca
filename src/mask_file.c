/* SPDX-License-Identifier: MIT */
/* The file of `firn mask keygen`: lines "NUMBER KEY", and comments. A key of half the digits is one
 * of UUIDv47. The keys go into a mask and nowhere else: no error quotes the file. */
#include "mask_key.h"

#include "error.h"
#include "secret_text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { KEY_DIGITS = 2 * FIRN_MASK_KEY_SIZE, KEY_FILE_SIZE = 8192 };

/* How many digits the key has; 0: another length. */
static size_t read_key_hex(uint8_t *bytes, const char *hex) {
    static const char digits[] = "0123456789abcdef";
    size_t count = 0;
    for (; count < KEY_DIGITS; count++) {
        const char digit = hex[count];
        const char letter = digit >= 'A' && digit <= 'F' ? (char)(digit - 'A' + 'a') : digit;
        const char *found = letter != '\0' ? strchr(digits, letter) : NULL;
        if (found == NULL) {
            break;
        }
        bytes[count / 2] = (uint8_t)(bytes[count / 2] << 4 | (found - digits));
    }
    return count == KEY_DIGITS || count == KEY_DIGITS / 2 ? count : 0;
}

static bool read_key_line(firn__mask_key *key, const char *line) {
    const size_t digits = strspn(line, "0123456789");
    const char *hex = line + digits + strspn(line + digits, " \t");
    if (digits == 0 || digits > 9 || hex == line + digits) {
        return false;
    }
    const size_t count = read_key_hex(key->bytes, hex);
    if (count == 0 || hex[count + strspn(hex + count, " \t\r")] != '\0') {
        return false;
    }
    key->is_half = count < KEY_DIGITS;
    key->value = strtoll(line, NULL, 10);
    snprintf(key->number, sizeof key->number, "key_number=%.*s", (int)digits, line);
    return true;
}

static int refuse_key_file(const char *name, firn_error *error) {
    return firn__fail(error, FIRN_EUSAGE,
                      "%.80s contains no secret key of a mask: write a line with its number and 64 "
                      "hex digits",
                      name);
}

/* A line with each key; empty lines and those that begin with # are comments. */
static int read_key_text(firn__mask_key *keys, size_t *count, char *text, const char *name,
                         firn_error *error) {
    *count = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;) {
        firn__mask_key *key = &keys[*count];
        line += strspn(line, " \t\r");
        if (line[0] == '\0' || line[0] == '#') {
            continue;
        }
        if (*count == FIRN__MASK_KEYS) {
            return firn__fail(error, FIRN_EUSAGE,
                              "%.80s has more than %d keys: remove those that no masked ID needs",
                              name, FIRN__MASK_KEYS);
        }
        if (!read_key_line(key, line)) {
            return refuse_key_file(name, error);
        }
        for (size_t i = 0; i < *count; i++) {
            if (keys[i].value == key->value) {
                return firn__fail(error, FIRN_EUSAGE,
                                  "%.80s has two keys with the number %d: give each key its own "
                                  "number",
                                  name, (int)key->value);
            }
        }
        ++*count;
    }
    return *count > 0 ? FIRN_OK : refuse_key_file(name, error);
}

/* A regular file that nobody but its owner can read, or a pipe of a shell's <(...). The file was
 * opened without waiting for the writer of a named pipe, which may never come. */
static int check_key_file(int file, const char *name, firn_error *error) {
    struct stat about;
    struct statfs system;
    if (fstat(file, &about) != 0 || fstatfs(file, &system) != 0 ||
        (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode))) {
        return firn__fail(error, FIRN_EUSAGE,
                          "the key file %.80s is not a file: name a file with a secret key", name);
    }
    if (S_ISFIFO(about.st_mode) && system.f_type != PIPEFS_MAGIC) {
        return firn__fail(error, FIRN_EUSAGE,
                          "%.100s is a named pipe, and reading one can take for ever: use a "
                          "regular file",
                          name);
    }
    if (S_ISREG(about.st_mode) && (about.st_mode & 077) != 0) {
        return firn__fail(error, FIRN_EUSAGE,
                          "other users can read the secret key in %.80s: chmod 600 it, and change "
                          "the key if somebody may have read it",
                          name);
    }
    return fcntl(file, F_SETFL, 0) == 0
               ? FIRN_OK
               : firn__fail(error, FIRN_EIO, "cannot read the key file %.80s (%s): check the disk",
                            name, strerror(errno));
}

static int open_key_file(int *file, const char *name, firn_error *error) {
    *file = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (*file >= 0) {
        return FIRN_OK;
    }
    return firn__is_secret_path(name)
               ? firn__fail(error, FIRN_EUSAGE,
                            "a mask needs a key file, not the secret key: others may have seen "
                            "this key, so choose another one")
               : firn__fail(
                     error, FIRN_EIO,
                     "cannot open the key file %.80s (%s): check the path and its permissions",
                     name, strerror(errno));
}

int firn__mask_keys_read(firn__mask_key keys[FIRN__MASK_KEYS], size_t *count, const char *name,
                         firn_error *error) {
    char text[KEY_FILE_SIZE];
    size_t length = 0;
    ssize_t got = 1;
    int file;
    memset(keys, 0, FIRN__MASK_KEYS * sizeof *keys);
    int code = open_key_file(&file, name, error);
    if (code != FIRN_OK) {
        return code;
    }
    code = check_key_file(file, name, error);
    while (code == FIRN_OK && got > 0 && length < sizeof text) {
        got = read(file, text + length, sizeof text - length);
        length += got > 0 ? (size_t)got : 0;
    }
    close(file);
    if (code == FIRN_OK && got < 0) {
        code = firn__fail(error, FIRN_EIO, "cannot read the key file %.80s: check the disk", name);
    } else if (code == FIRN_OK && length == sizeof text) {
        code = firn__fail(error, FIRN_EUSAGE,
                          "the key file %.80s has more than %d bytes: remove comments", name,
                          KEY_FILE_SIZE - 1);
    } else if (code == FIRN_OK) {
        text[length] = '\0';
        code = strlen(text) == length ? read_key_text(keys, count, text, name, error)
                                      : refuse_key_file(name, error);
    }
    explicit_bzero(text, sizeof text);
    return code;
}

int firn__mask_key_read(firn__mask_key *key, const char *name, firn_error *error) {
    firn__mask_key keys[FIRN__MASK_KEYS];
    size_t count;
    int code = firn__mask_keys_read(keys, &count, name, error);
    if (code == FIRN_OK && count > 1) {
        code = firn__fail(error, FIRN_EUSAGE,
                          "%.80s has %zu keys, and a series has one: name a file with one key",
                          name, count);
    }
    *key = keys[0];
    explicit_bzero(keys, sizeof keys);
    return code;
}

int firn_mask_load(firn_mask **mask, const char *keys, const char *key_file, const char *module_dir,
                   firn_error *error) {
    firn__mask_key all[FIRN__MASK_KEYS];
    size_t count;
    int code = firn__mask_keys_read(all, &count, key_file, error);
    if (code == FIRN_OK) {
        code = firn__mask_make(mask, keys, all, count, key_file, module_dir, error);
    }
    explicit_bzero(all, sizeof all);
    return code;
}
