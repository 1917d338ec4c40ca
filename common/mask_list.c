/* SPDX-License-Identifier: MIT */
#include "mask_list.h"

#include "../src/secret_text.h"
#include "errors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MASKS_MAX = 256, LINE_SIZE = 2048, PATH_MOST = 1024 };
enum { LIST_SIZE = MASKS_MAX * LINE_SIZE };

static const char blanks[] = " \t\r\n";

/* A line in parts: `keys` is for the library. "": not given. */
typedef struct mask_line {
    char keys[LINE_SIZE];
    char name[MASK_NAME_SIZE], width[16], version[16], fingerprint[16], prefix[16], file[PATH_MOST];
} mask_line;

/* ---- a line ---------------------------------------------------------------------------------- */

/* Copies the value of "key=value" if the word has this key. A value that is too long is cut, and so
 * refused: as a file that does not exist, or by the library, which reads it too. */
static bool take(char *out, size_t size, const char *word, const char *key) {
    const size_t length = strlen(key);
    if (strncmp(word, key, length) != 0) {
        return false;
    }
    snprintf(out, size, "%s", word + length);
    return true;
}

/* A key that is in the line by mistake is not quoted, by no later error either. */
static int split_line(mask_line *line, char *text, firn_error *error) {
    char *rest = NULL;
    size_t used = 0;
    *line = (mask_line){.keys = ""};
    for (char *word = strtok_r(text, blanks, &rest); word != NULL;
         word = strtok_r(NULL, blanks, &rest)) {
        const bool again = line->file[0] != '\0';
        if (firn__is_secret_text(word)) {
            return set_error(error, FIRN_EUSAGE,
                             "the line has %d hex digits in a row, as a secret key has: name its "
                             "file with key_file=, and choose another key, because others may have "
                             "seen this one",
                             FIRN__SECRET_DIGITS);
        }
        if (take(line->file, sizeof line->file, word, "key_file=")) {
            if (again) {
                return set_error(error, FIRN_EUSAGE, "key_file is given twice: give it once");
            }
            continue;
        }
        take(line->name, sizeof line->name, word, "name=");
        take(line->width, sizeof line->width, word, "width=");
        take(line->version, sizeof line->version, word, "version=");
        take(line->fingerprint, sizeof line->fingerprint, word, "fingerprint=");
        take(line->prefix, sizeof line->prefix, word, "prefix=");
        used += (size_t)snprintf(line->keys + used, sizeof line->keys - used, "%s%s",
                                 used > 0 ? " " : "", word);
    }
    return FIRN_OK;
}

/* The path of the key file from the folder of the list. */
static void place_file(char path[2 * PATH_MOST], const char *list, const char *file) {
    const char *slash = strrchr(list, '/');
    const int folder = slash != NULL && file[0] != '/' ? (int)(slash + 1 - list) : 0;
    snprintf(path, 2 * PATH_MOST, "%.*s%s", folder, list, file);
}

static int open_line(listed_mask *out, const mask_line *line, const char *list, firn_error *error) {
    char path[2 * PATH_MOST];
    if (line->file[0] == '\0') {
        return set_error(error, FIRN_EUSAGE,
                         "the mask has no key: add key_file=FILE, a file of `firn mask keygen`");
    }
    place_file(path, list, line->file);
    int code = firn_mask_load(&out->mask, line->keys, path, NULL, error);
    if (code == FIRN_OK && line->fingerprint[0] == '\0') {
        code = set_error(error, FIRN_EUSAGE,
                         "mask %.63s has no fingerprint, so another key would not be noticed: if "
                         "the name is new, or this is its key, add fingerprint=%.143s",
                         line->name, firn_mask_fingerprint(out->mask));
    }
    if (code == FIRN_OK) {
        memcpy(out->name, line->name, sizeof out->name);
        out->bits = firn_mask_bits(out->mask);
        out->version = strncmp(line->width, "uuid", 4) != 0 ? 0
                       : line->version[0] == '\0'           ? 7
                                                            : atoi(line->version);
        out->rotates = line->prefix[0] != '\0' || strcmp(line->width, "uuid8") == 0;
        out->from = firn_mask_form(out->mask, false);
        out->as = firn_mask_form(out->mask, true);
    }
    return code;
}

static int read_line(mask_list *list, char *text, const char *path, firn_error *error) {
    mask_line line;
    firn_error none;
    if (list->count == MASKS_MAX) {
        return set_error(error, FIRN_ERANGE, "there are more than %d masks: remove some",
                         MASKS_MAX);
    }
    int code = split_line(&line, text, error);
    if (code != FIRN_OK) {
        return code;
    }
    if (line.name[0] != '\0' && mask_list_find(list, line.name, strlen(line.name), &none) != NULL) {
        return set_error(error, FIRN_EUSAGE,
                         "mask %.63s has an earlier line: remove one of the two", line.name);
    }
    return open_line(&list->all[list->count++], &line, path, error);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int read_lines(mask_list *list, FILE *file, const char *path, firn_error *error) {
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    int code = FIRN_OK;
    for (int number = 1; code == FIRN_OK && (length = getline(&text, &room, file)) >= 0; number++) {
        const char *begin = text + strspn(text, blanks);
        if (strlen(text) != (size_t)length || length >= LINE_SIZE) {
            code = set_error(error, FIRN_EUSAGE,
                             "the line has a zero byte, or more than %d bytes: shorten it",
                             LINE_SIZE - 2);
        } else if (begin[0] != '\0' && begin[0] != '#') {
            code = read_line(list, text, path, error);
        }
        if (code != FIRN_OK) {
            prefix_error(error, code, error, "%.60s:%d: ", path, number);
        }
    }
    free(text);
    return code == FIRN_OK && ferror(file) != 0
               ? set_error(error, FIRN_EIO, "cannot read %.100s: check that it is a file", path)
               : code;
}

/* Who writes the list chooses the keys of later IDs. */
static int check_list(int file, const char *path, firn_error *error) {
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > LIST_SIZE) {
        return set_error(error, FIRN_EUSAGE,
                         "%.100s is not a regular file of at most %d bytes: name a file of masks",
                         path, LIST_SIZE);
    }
    return (about.st_mode & (S_IWGRP | S_IWOTH)) == 0
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "other users can write %.100s, and so choose the masks: run chmod 644",
                           path);
}

/* Without waiting for the writer of a named pipe. */
static int open_list(FILE **out, const char *path, firn_error *error) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int code = file >= 0 ? check_list(file, path, error) : FIRN_EIO;
    if (code == FIRN_OK && (*out = fdopen(file, "r")) != NULL) {
        return FIRN_OK;
    }
    if (code == FIRN_EIO || code == FIRN_OK) {
        code = set_error(error, FIRN_EIO,
                         "cannot read the masks in %.100s (%s): check the path and its permissions",
                         path, strerror(errno));
    }
    if (file >= 0) {
        close(file);
    }
    return code;
}

int mask_list_read(mask_list *list, const char *path, firn_error *error) {
    FILE *file = NULL;
    *list = (mask_list){NULL, 0};
    int code = open_list(&file, path, error);
    if (code != FIRN_OK) {
        return code;
    }
    list->all = calloc(MASKS_MAX, sizeof *list->all);
    code = list->all != NULL ? read_lines(list, file, path, error) : out_of_memory(error);
    fclose(file);
    if (code == FIRN_OK && list->count == 0) {
        code = set_error(
            error, FIRN_EUSAGE,
            "%.100s contains no mask: add a line name=NAME key_file=FILE fingerprint=HEX", path);
    }
    if (code != FIRN_OK) {
        mask_list_free(list);
    }
    return code;
}

listed_mask *mask_list_find(const mask_list *list, const char *name, size_t length,
                            firn_error *error) {
    const char *names[MASKS_MAX + 1] = {NULL};
    char given[MASK_NAME_SIZE], advice[ADVICE_SIZE];
    for (size_t i = 0; i < list->count; i++) {
        if (strlen(list->all[i].name) == length && memcmp(list->all[i].name, name, length) == 0) {
            return &list->all[i];
        }
        names[i] = list->all[i].name;
    }
    snprintf(given, sizeof given, "%.*s", (int)(length < 60 ? length : 60), name);
    set_error(
        error, FIRN_EUSAGE, "there is no mask '" ERROR_VALUE("%s") "': %s", given,
        did_you_mean(advice, firn_nearest(given, names),
                     "add a line name=NAME key_file=FILE fingerprint=HEX to the file of masks"));
    return NULL;
}

int mask_list_check_lasts(const listed_mask *mask, firn_error *error) {
    return !mask->rotates
               ? FIRN_OK
               : set_error(
                     error, FIRN_EUSAGE,
                     "mask %.63s may change its key, and columns and indexes need one key for "
                     "ever: mask in your program, or use a mask without prefix= and "
                     "width=uuid8",
                     mask->name);
}

int mask_list_unmask(const listed_mask *mask, firn_id *id, const char *text, size_t length,
                     firn_error *error) {
    char own[FIRN_TEXT_SIZE];
    const int code = firn_mask_read(mask->mask, own, text, length, error);
    return code == FIRN_OK ? firn_parse(id, mask->from, mask->bits, own, strlen(own), error) : code;
}

void mask_list_free(mask_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        firn_mask_close(list->all[i].mask);
    }
    free(list->all);
    *list = (mask_list){NULL, 0};
}
