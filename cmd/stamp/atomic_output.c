/* SPDX-License-Identifier: MIT */
/* See atomic_output.h. */
#include "atomic_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *cure_of(int number) {
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return "create its folder";
    case EISDIR:
        return "name a file in it";
    case EACCES:
    case EPERM:
    case EROFS:
        return "choose a folder that you can write";
    default:
        return "free some space and run the command again";
    }
}

static int no_write(const atomic_output *to, int number, firn_error *error) {
    return set_error(error, FIRN_EIO, "cannot write %.80s: %s: %s", to->name, strerror(number),
                     cure_of(number));
}

static int open_standard(atomic_output *to, session *s) {
    struct stat about;
    to->out = &s->out;
    to->standard = true;
    to->began = lseek(STDOUT_FILENO, 0, SEEK_CUR);
    bool file = fstat(STDOUT_FILENO, &about) == 0 && S_ISREG(about.st_mode) && to->began >= 0;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (file && flags >= 0 && (flags & O_APPEND) != 0) {
        to->began = about.st_size; /* where the first write will go */
    }
    to->stream = !file;
    return FIRN_OK;
}

/* The file that a path means, its symbolic links followed, which need not be there yet. */
static char *real_path(const char *path) {
    char *real = realpath(path, NULL);
    return real != NULL || errno != ENOENT ? real : strdup(path);
}

/* As the file that is replaced had it, else as any new file. */
static bool copy_mode(int file, const struct stat *old) {
    if (old != NULL) {
        if (fchown(file, old->st_uid, old->st_gid) != 0) {
            return fchmod(file, old->st_mode & 0777) == 0; /* the file becomes the user's own */
        }
        return fchmod(file, old->st_mode & 07777) == 0;
    }
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(file, 0666 & ~mask) == 0;
}

static int open_temporary(atomic_output *to, const struct stat *old, firn_error *error) {
    size_t size = strlen(to->path) + 16;
    to->temporary = malloc(size);
    if (to->temporary == NULL) {
        return out_of_memory(error);
    }
    snprintf(to->temporary, size, "%s.firn-XXXXXX", to->path);
    int file = mkostemp(to->temporary, O_CLOEXEC);
    if (file < 0) {
        int number = errno;
        free(to->temporary);
        to->temporary = NULL;
        return set_error(error, FIRN_EIO, "cannot create a file next to %.80s: %s: %s", to->name,
                         strerror(number), cure_of(number));
    }
    to->out->file = file;
    if (!copy_mode(file, old)) {
        int code = no_write(to, errno, error);
        atomic_output_discard(to);
        return code;
    }
    return FIRN_OK;
}

int atomic_output_open(atomic_output *to, session *s, const char *path, firn_error *error) {
    static output out; /* static for its size; a run has one */
    struct stat old;
    memset(to, 0, sizeof *to);
    if (path == NULL) {
        return open_standard(to, s);
    }
    to->name = path;
    to->out = &out;
    to->path = real_path(path);
    if (to->path == NULL) {
        return no_write(to, errno, error);
    }
    bool there = stat(to->path, &old) == 0;
    if (!there || S_ISREG(old.st_mode)) {
        return open_temporary(to, there ? &old : NULL, error);
    }
    to->stream = true; /* a device or a named pipe stays what it is */
    out.file = open(to->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return out.file < 0 ? no_write(to, errno, error) : FIRN_OK;
}

/* What a rename did is durable when its folder is. */
static bool sync_folder(const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1,
             slash == NULL ? "." : path);
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool fine = file >= 0 && fsync(file) == 0;
    if (file >= 0) {
        close(file);
    }
    return fine;
}

int atomic_output_commit(atomic_output *to, firn_error *error) {
    output *out = to->out;
    int number = 0;
    if (to->standard) {
        return FIRN_OK; /* main.c says what could not be written there */
    }
    output_flush(out);
    number = out->error;
    if (number == 0 && to->temporary != NULL && fsync(out->file) != 0) {
        number = errno;
    }
    if (number == 0 && to->temporary != NULL && rename(to->temporary, to->path) != 0) {
        number = errno;
    }
    if (number != 0) {
        atomic_output_discard(to);
        return no_write(to, number, error);
    }
    bool fine = to->temporary == NULL || sync_folder(to->path);
    number = errno;
    free(to->temporary);
    to->temporary = NULL;
    atomic_output_discard(to);
    return fine ? FIRN_OK : no_write(to, number, error);
}

/* Back to what standard output held, unless somebody else writes there as well. */
static void cut_back(const atomic_output *to) {
    struct stat about;
    off_t here = lseek(STDOUT_FILENO, 0, SEEK_CUR);
    if (here > to->began && fstat(STDOUT_FILENO, &about) == 0 && about.st_size == here &&
        ftruncate(STDOUT_FILENO, to->began) == 0) {
        lseek(STDOUT_FILENO, to->began, SEEK_SET);
    } else if (here > to->began) {
        tell("firn: note: ", "standard output contains part of the records: remove it");
    }
}

void atomic_output_discard(atomic_output *to) {
    output *out = to->out;
    if (to->standard && !to->stream) {
        out->length = 0;
        cut_back(to);
        to->stream = true; /* done */
    }
    if (to->standard || out == NULL) {
        return;
    }
    if (out->file > 0) {
        close(out->file);
    }
    memset(out, 0, offsetof(output, buffer));
    if (to->temporary != NULL) {
        unlink(to->temporary);
    }
    free(to->temporary);
    free(to->path);
    to->temporary = to->path = NULL;
    to->out = NULL;
}

bool atomic_output_is(const atomic_output *to, dev_t device, ino_t file) {
    struct stat about;
    return to->standard && fstat(STDOUT_FILENO, &about) == 0 && S_ISREG(about.st_mode) &&
           about.st_dev == device && about.st_ino == file;
}
