/* SPDX-License-Identifier: MIT */
/* Memory first, then a file without a name: see spill.h. What is in the file is gone with the
 * process, however it ends. */
#include "spill.h"

#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { UNITS = 32, BLOCK_LEAST = UNITS * 24, BLOCK_MOST = 1 << 16, PAGE_HUGE = 1 << 21 };

void spill_open(disk_spill *spill, size_t memory, size_t unit) {
    /* the open blocks of all streams together take a quarter of the memory at most */
    size_t block = memory / (4 * (size_t)SPILL_STREAMS);
    memset(spill, 0, sizeof *spill);
    block = block < BLOCK_LEAST ? BLOCK_LEAST : block;
    block = block > BLOCK_MOST ? BLOCK_MOST : block;
    spill->block = block - block % (UNITS * unit);
    spill->unit = unit;
    spill->most = memory / spill->block;
    spill->file = -1;
}

/* The pages of a large region are huge: a page fault costs as much as twenty IDs. Few blocks, and
 * the first of each stream, are not worth such pages. NULL: no memory. */
static uint8_t *take_block(disk_spill *spill, bool first) {
    if (spill->region == NULL && !first && spill->block > BLOCK_MOST - UNITS * spill->unit) {
        spill->region_size = spill->most * spill->block + PAGE_HUGE;
        void *region = mmap(NULL, spill->region_size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (region != MAP_FAILED) {
            madvise(region, spill->region_size, MADV_HUGEPAGE); /* advice */
            spill->region = region;
            spill->taken = -(size_t)spill->region % PAGE_HUGE;
        }
    }
    if (spill->region == NULL || first) {
        return malloc(spill->block);
    }
    spill->taken += spill->block; /* at most `most` blocks */
    return spill->region + spill->taken - spill->block;
}

static void free_block(const disk_spill *spill, uint8_t *block) {
    if (spill->region == NULL || block < spill->region ||
        block >= spill->region + spill->region_size) {
        free(block);
    }
}

void spill_close(disk_spill *spill) {
    for (size_t i = 0; i < SPILL_STREAMS; i++) {
        spill_stream *stream = &spill->streams[i];
        for (size_t j = 0; j < stream->kept; j++) {
            free_block(spill, (void *)(uintptr_t)stream->blocks[j]);
        }
        free_block(spill, stream->start);
        free(stream->blocks);
    }
    if (spill->region != NULL) {
        munmap(spill->region, spill->region_size);
    }
    if (spill->file >= 0) {
        close(spill->file);
    }
    memset(spill, 0, sizeof *spill);
    spill->file = -1;
}

static const char *folder(void) {
    const char *named = getenv("TMPDIR");
    return named != NULL && named[0] != '\0' ? named : "/tmp";
}

static int no_file(firn_error *error, int number) {
    return set_error(error, FIRN_EIO,
                     "cannot write a temporary file in %.60s: %s: free space there, set TMPDIR to "
                     "another folder, or set a larger --memory",
                     folder(), strerror(number));
}

/* No other process finds it, and none must remove it. */
static int open_file(disk_spill *spill, firn_error *error) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/firn-XXXXXX", folder());
    spill->file = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spill->file < 0 && length > 0 && (size_t)length < sizeof path) {
        spill->file =
            mkostemp(path, O_CLOEXEC); /* not every file system has files without a name */
        if (spill->file >= 0) {
            unlink(path);
        }
    }
    return spill->file >= 0 ? FIRN_OK : no_file(error, errno);
}

static int write_block(disk_spill *spill, const uint8_t *bytes, firn_error *error) {
    size_t done = 0;
    int code = spill->file >= 0 ? FIRN_OK : open_file(spill, error);
    while (code == FIRN_OK && done < spill->block) {
        ssize_t put =
            pwrite(spill->file, bytes + done, spill->block - done, (off_t)(spill->length + done));
        if (put > 0) {
            done += (size_t)put;
        } else if (put == 0 || errno != EINTR) {
            code = no_file(error, put == 0 ? ENOSPC : errno);
        }
    }
    spill->length += code == FIRN_OK ? spill->block : 0;
    return code;
}

int spill_no_memory(firn_error *error) {
    return set_error(error, FIRN_EMEMORY,
                     "out of memory: allow the process more memory, or set a smaller --memory");
}

/* Remembers where the block went that was full. */
static int note_block(spill_stream *stream, uint64_t place, firn_error *error) {
    if (stream->count == stream->room) {
        size_t room = stream->room > 0 ? stream->room * 2 : 16;
        uint64_t *blocks = realloc(stream->blocks, room * sizeof *blocks);
        if (blocks == NULL) {
            return spill_no_memory(error);
        }
        stream->blocks = blocks;
        stream->room = room;
    }
    stream->blocks[stream->count++] = place;
    return FIRN_OK;
}

int spill_turn(disk_spill *spill, spill_stream *stream, firn_error *error) {
    bool first = stream->start == NULL;
    if (!first && spill->used >= spill->most) { /* once in the file, always in the file */
        uint64_t place = spill->length;
        int code = write_block(spill, stream->start, error);
        stream->next = stream->start;
        return code == FIRN_OK ? note_block(stream, place, error) : code;
    }
    if (!first) {
        int code = note_block(stream, (uint64_t)(uintptr_t)stream->start, error);
        if (code != FIRN_OK) {
            return code;
        }
    }
    uint8_t *block = take_block(spill, first);
    if (block == NULL) {
        stream->count -= !first; /* the stream stays open */
        return spill_no_memory(error);
    }
    stream->kept += !first;
    spill->used++;
    stream->start = stream->next = block;
    stream->end = block + spill->block;
    return FIRN_OK;
}

const uint8_t *spill_block(const disk_spill *spill, const spill_stream *stream, size_t i,
                           uint8_t *scratch, size_t *bytes, firn_error *error) {
    size_t done = 0;
    if (i == stream->count) {
        *bytes = (size_t)(stream->next - stream->start);
        return stream->start != NULL ? stream->start : scratch;
    }
    *bytes = spill->block;
    if (i < stream->kept) {
        return (const uint8_t *)(uintptr_t)stream->blocks[i];
    }
    while (done < spill->block) {
        ssize_t got = pread(spill->file, scratch + done, spill->block - done,
                            (off_t)(stream->blocks[i] + done));
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            set_error(error, FIRN_EIO,
                      "cannot read the temporary file in %.60s: %s: run the command again",
                      folder(), got == 0 ? "it is too short" : strerror(errno));
            return NULL;
        }
    }
    return scratch;
}
