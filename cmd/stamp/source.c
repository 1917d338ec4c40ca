/* SPDX-License-Identifier: MIT */
/* A file or standard input as one long text: see source.h. */
#include "source.h"

#include "shared/interrupt.h"
#include "shared/line_window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int source_open(record_source *in, const char *path, firn_error *error) {
    bool standard = strcmp(path, "-") == 0;
    memset(in, 0, sizeof *in);
    in->name = input_name(path);
    in->file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->file < 0 || fstat(in->file, &in->before) != 0) {
        return input_failed(in->name, error);
    }
    if (S_ISDIR(in->before.st_mode)) {
        errno = EISDIR;
        return input_failed(path, error);
    }
    in->began = lseek(in->file, 0, SEEK_CUR);
    /* what /proc shows calls itself a file of no bytes */
    in->regular = S_ISREG(in->before.st_mode) && in->before.st_size > 0 && in->began >= 0;
    in->buffer = malloc(SOURCE_SIZE);
    in->size = SOURCE_SIZE;
    if (in->buffer == NULL) {
        return out_of_memory(error);
    }
    return FIRN_OK;
}

/* Room after the unread bytes: moves them to the front, then doubles the window. */
static int make_room(record_source *in, firn_error *error) {
    if (in->start > 0) {
        memmove(in->buffer, in->buffer + in->start, in->end - in->start);
        in->end -= in->start;
        in->start = 0;
    }
    if (in->end < in->size) {
        return FIRN_OK;
    }
    if (in->size >= SOURCE_MOST) {
        return set_error(error, FIRN_ETEXT, "the record is longer than %d MiB: shorten it",
                         SOURCE_MOST >> 20);
    }
    char *larger = realloc(in->buffer, in->size * 2);
    if (larger == NULL) {
        return out_of_memory(error);
    }
    in->buffer = larger;
    in->size *= 2;
    return FIRN_OK;
}

int source_more(record_source *in, firn_error *error) {
    int code = make_room(in, error);
    note_terminal(in->file);
    while (code == FIRN_OK) {
        ssize_t got = read(in->file, in->buffer + in->end, in->size - in->end);
        if (got >= 0) {
            in->ended = got == 0;
            in->end += (size_t)got;
            in->read += (uint64_t)got;
            return FIRN_OK;
        }
        if (errno != EINTR) {
            return input_failed(in->name, error);
        }
        if (interrupt_signal() != 0) {
            return set_error(error, FIRN_EUNKNOWN, "interrupted by a signal");
        }
    }
    return code;
}

int source_scan(record_source *in, source_visit *visit, void *context, firn_error *error) {
    off_t position = in->began;
    for (;;) {
        ssize_t got = pread(in->file, in->buffer, in->size, position);
        if (interrupt_signal() != 0) {
            return set_error(error, FIRN_EUNKNOWN, "interrupted by a signal");
        }
        if (got < 0 && errno != EINTR) {
            return input_failed(in->name, error);
        }
        if (got == 0) {
            return FIRN_OK;
        }
        if (got > 0) {
            visit(context, in->buffer, (size_t)got);
            position += got;
        }
    }
}

int source_again(record_source *in, firn_error *error) {
    if (lseek(in->file, in->began, SEEK_SET) != in->began) {
        return input_failed(in->name, error);
    }
    in->start = in->end = 0;
    in->ended = false;
    in->read = 0;
    return FIRN_OK;
}

int source_unchanged(const record_source *in, firn_error *error) {
    struct stat now;
    const struct stat *then = &in->before;
    if (!in->regular) {
        return FIRN_OK;
    }
    if (fstat(in->file, &now) != 0) {
        return input_failed(in->name, error);
    }
    bool same = now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
                now.st_mtim.tv_nsec == then->st_mtim.tv_nsec &&
                in->began + (off_t)in->read == (in->began > now.st_size ? in->began : now.st_size);
    if (!same) {
        return set_error(error, FIRN_EIO, "%.80s changed while firn read it: stamp a copy",
                         in->name);
    }
    return FIRN_OK;
}

void source_close(record_source *in) {
    free(in->buffer);
    in->buffer = NULL;
    if (in->file > STDIN_FILENO) {
        close(in->file);
    }
}
