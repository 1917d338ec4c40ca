/* SPDX-License-Identifier: MIT */
/* Fuzzes what the Redis module reads: the first words of a connection, then replies to verbs. */
#include "lying.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* The idle check finds nothing; a read finds the rest, then end of file. */
static ssize_t lie_receive(char *buf, size_t size) {
    size_t length = size < lie_left ? size : lie_left;
    if (size == 1) {
        errno = EAGAIN;
        return -1;
    }
    if (length > 0) {
        memcpy(buf, lie_at, length);
        lie_at += length;
        lie_left -= length;
    }
    return (ssize_t)length;
}

#define recv(fd, buf, size, flags) ((void)(fd), lie_receive(buf, size))
#define send(fd, buf, size, flags) ((void)(fd), (void)(buf), (ssize_t)(size))
#define close(fd)                  ((void)(fd), 0)
#include "../modules/redis.c"
#include "../modules/redis_counter.c"
#include "../modules/redis_session.c"
#include "../modules/redis_wire.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    firn_error error = {0};
    redis_store *self = calloc(1, sizeof *self);
    assert(self != NULL);
    if (size < 2) {
        free(self);
        return 0;
    }
    lie_begin(data + 2, size - 2);
    const char *url = (data[0] & 1) != 0 ? "redis://u:" LIE_PASSWORD "@h/1?counters=1&unsafe=1"
                                         : "redis://u:" LIE_PASSWORD "@h/1?unsafe=1";
    int code = module_link_read(&self->link, url, NULL, &error);
    assert(code == FIRN_OK && set_up(self, &error) == FIRN_OK);
    self->link.engine = &engine;
    self->link.socket = 0;
    assert(redis_make_reader(self, &error) == FIRN_OK);
    if ((data[0] & 2) != 0) {
        code = hello(self, module_now_ms() + 1000, &error);
        lie_told(code, &error);
    }
    if (code == FIRN_OK) {
        lie_driven(&firn_store_driver, self, data[1]);
    } else {
        module_close(self);
    }
    return 0;
}
