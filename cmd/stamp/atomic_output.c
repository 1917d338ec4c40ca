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

static int no_write(const atomic_output *file, int number, firn_error *error) {
    return set_error(error, FIRN_EIO, "cannot write %.80s: %s: %s", file->name, strerror(number),
                     cure_of(number));
}

static int open_standard(atomic_output *target, session *s) {
    struct stat about;
    target->out = &s->out;
    target->standard = true;
    target->began = lseek(STDOUT_FILENO, 0, SEEK_CUR);
    bool file = fstat(STDOUT_FILENO, &about) == 0 && S_ISREG(about.st_mode) && target->began >= 0;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (file && flags >= 0 && (flags & O_APPEND) != 0) {
        target->began = about.st_size; /* where the first write will go */
    }
    target->stream = !file;
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

static int open_temporary(atomic_output *target, const struct stat *old, firn_error *error) {
    size_t size = strlen(target->path) + 16;
    target->temporary = malloc(size);
    if (target->temporary == NULL) {
        return out_of_memory(error);
    }
    snprintf(target->temporary, size, "%s.firn-XXXXXX", target->path);
    int file = mkostemp(target->temporary, O_CLOEXEC);
    if (file < 0) {
        int number = errno;
        free(target->temporary);
        target->temporary = NULL;
        return set_error(error, FIRN_EIO, "cannot create a file next to %.80s: %s: %s",
                         target->name, strerror(number), cure_of(number));
    }
    target->out->file = file;
    if (!copy_mode(file, old)) {
        int code = no_write(target, errno, error);
        atomic_output_discard(target);
        return code;
    }
    return FIRN_OK;
}

int atomic_output_open(atomic_output *file, session *s, const char *path, firn_error *error) {
    static output out; /* static for its size; a run has one */
    struct stat old;
    memset(file, 0, sizeof *file);
    if (path == NULL) {
        return open_standard(file, s);
    }
    file->name = path;
    file->out = &out;
    file->path = real_path(path);
    if (file->path == NULL) {
        return no_write(file, errno, error);
    }
    bool there = stat(file->path, &old) == 0;
    if (!there || S_ISREG(old.st_mode)) {
        return open_temporary(file, there ? &old : NULL, error);
    }
    file->stream = true; /* a device or a named pipe stays what it is */
    out.file = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return out.file < 0 ? no_write(file, errno, error) : FIRN_OK;
}

/* Syncs the folder: only then is a rename durable. */
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

int atomic_output_commit(atomic_output *file, firn_error *error) {
    output *out = file->out;
    int number = 0;
    if (file->standard) {
        return FIRN_OK; /* main.c says what could not be written there */
    }
    output_flush(out);
    number = out->error;
    if (number == 0 && file->temporary != NULL && fsync(out->file) != 0) {
        number = errno;
    }
    if (number == 0 && file->temporary != NULL && rename(file->temporary, file->path) != 0) {
        number = errno;
    }
    if (number != 0) {
        atomic_output_discard(file);
        return no_write(file, number, error);
    }
    bool fine = file->temporary == NULL || sync_folder(file->path);
    number = errno;
    free(file->temporary);
    file->temporary = NULL;
    atomic_output_discard(file);
    return fine ? FIRN_OK : no_write(file, number, error);
}

/* Back to what standard output held, unless somebody else writes there as well. */
static void cut_back(const atomic_output *file) {
    struct stat about;
    off_t here = lseek(STDOUT_FILENO, 0, SEEK_CUR);
    if (here > file->began && fstat(STDOUT_FILENO, &about) == 0 && about.st_size == here &&
        ftruncate(STDOUT_FILENO, file->began) == 0) {
        lseek(STDOUT_FILENO, file->began, SEEK_SET);
    } else if (here > file->began) {
        tell("firn: note: ", "standard output contains part of the records: remove it");
    }
}

void atomic_output_discard(atomic_output *file) {
    output *out = file->out;
    if (file->standard && !file->stream) {
        out->length = 0;
        cut_back(file);
        file->stream = true; /* done */
    }
    if (file->standard || out == NULL) {
        return;
    }
    if (out->file > 0) {
        close(out->file);
    }
    memset(out, 0, offsetof(output, buffer));
    if (file->temporary != NULL) {
        unlink(file->temporary);
    }
    free(file->temporary);
    free(file->path);
    file->temporary = file->path = NULL;
    file->out = NULL;
}

bool atomic_output_is(const atomic_output *target, dev_t device, ino_t file) {
    struct stat about;
    return target->standard && fstat(STDOUT_FILENO, &about) == 0 && S_ISREG(about.st_mode) &&
           about.st_dev == device && about.st_ino == file;
}
