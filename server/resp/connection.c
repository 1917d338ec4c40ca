/* SPDX-License-Identifier: MIT */
#include "connection.h"

#include "config/setting.h"
#include "errors.h"
#include "net/memory.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes that could not be sent at once. */
typedef struct parcel {
    uv_write_t write;
    size_t length;
    char bytes[];
} parcel;

static void on_closed(uv_handle_t *handle) {
    connection *it = handle->data;
    it->lane->events->closed(it);
    secure_close(it->tls);
    memory_hold(-(int64_t)it->room);
    free(it->rest);
    free(it);
}

void connection_close(connection *it) {
    if (!it->is_closing) {
        it->is_closing = true;
        uv_close(&it->uv.handle, on_closed);
    }
}

static void on_sent(uv_write_t *write, int status) {
    parcel *one = write->data;
    connection *it = write->handle->data;
    if (status == 0) {
        meter_add(&it->lane->worker->meter.sent, one->length);
    }
    unsent_add(-(int64_t)one->length);
    free(one);
    if (status != 0) {
        connection_close(it);
    } else if (!it->is_closing && connection_unsent(it) <= UNSENT_LOW) {
        it->lane->events->drained(it);
    }
}

size_t connection_unsent(const connection *it) {
    return uv_stream_get_write_queue_size(&it->uv.stream);
}

/* Copies the bytes, because the lane's buffer is needed for the next turn. */
static bool send_later(connection *it, const char *bytes, size_t length) {
    bool is_much = connection_unsent(it) + length > UNSENT_LOW;
    parcel *one = is_much && memory_is_full() ? NULL : malloc(sizeof *one + length);
    if (one == NULL) {
        return false;
    }
    one->length = length;
    one->write.data = one;
    memcpy(one->bytes, bytes, length);
    uv_buf_t buf = uv_buf_init(one->bytes, (unsigned)length);
    if (uv_write(&one->write, &it->uv.stream, &buf, 1, on_sent) != 0) {
        free(one);
        return false;
    }
    unsent_add((int64_t)length);
    return true;
}

static bool send_bytes(connection *it, const char *bytes, size_t length) {
    size_t sent = 0;
    if (connection_unsent(it) == 0) {
        uv_buf_t buf = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)length);
        int n = uv_try_write(&it->uv.stream, &buf, 1);
        if (n < 0 && n != UV_EAGAIN) {
            return false;
        }
        sent = n < 0 ? 0 : (size_t)n;
        meter_add(&it->lane->worker->meter.sent, sent);
    }
    return sent == length || send_later(it, bytes + sent, length - sent);
}

/* a larger buffer is freed after use */
#define OUT_KEPT (4 << 20)

static void empty(resp_out *out) {
    out->length = 0;
    if (out->room > OUT_KEPT || out->failed) {
        resp_out_free(out);
    }
}

static bool send_wire(connection *it) {
    resp_out *wire = &it->lane->wire;
    bool sent = !wire->failed && (wire->length == 0 || send_bytes(it, wire->text, wire->length));
    empty(wire);
    return sent;
}

bool connection_send(connection *it) {
    resp_out *out = &it->lane->out;
    bool sent = !it->is_closing && !out->failed;
    if (sent && out->length > 0) {
        if (it->tls != NULL) {
            sent = secure_write(it->tls, out->text, out->length, &it->lane->wire) && send_wire(it);
        } else {
            sent = send_bytes(it, out->text, out->length);
        }
    }
    empty(out);
    if (!sent) {
        connection_close(it);
    }
    return sent;
}

void connection_cork(connection *it) {
    int fd;
    if (!it->is_unix && uv_fileno(&it->uv.handle, &fd) == 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_CORK, &(int){1}, sizeof(int));
    }
}

/* ---- input ----------------------------------------------------------------------------------- */

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *buf) {
    connection *it = handle->data;
    (void)size;
    *buf = uv_buf_init(it->lane->input,
                       it->unauthenticated.is_in ? UNAUTHENTICATED_INPUT : LANE_INPUT);
}

/* Decrypts the bytes and sends what the handshake needs. */
static void read_secure(connection *it, const char *bytes, size_t length) {
    lane *on = it->lane;
    bool ended = false;
    if (secure_is_refused(it->tls)) {
        connection_close(it);
        return;
    }
    size_t size = secure_read(it->tls, bytes, length, on->plain, &on->wire, &ended);
    if (!send_wire(it)) {
        connection_close(it);
        return;
    }
    if (size > 0) {
        on->events->bytes(it, on->plain, size);
    }
    if (ended && !it->is_closing) {
        it->has_ended = true;
        on->events->ended(it);
    }
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    connection *it = stream->data;
    if (n == 0 || it->is_closing) {
        return;
    }
    if (n < 0) {
        uv_read_stop(stream);
        it->is_reading = false;
        it->has_ended = true;
        if (n == UV_EOF) {
            it->lane->events->ended(it);
        } else {
            connection_close(it);
        }
        return;
    }
    meter_add(&it->lane->worker->meter.received, (uint64_t)n);
    it->heard_ms = (int64_t)uv_now(&it->lane->uv);
    if (it->tls != NULL) {
        read_secure(it, buf->base, (size_t)n);
    } else {
        it->lane->events->bytes(it, buf->base, (size_t)n);
    }
}

void connection_read(connection *it, bool on) {
    on = on && !it->has_ended && !it->is_closing;
    if (on && !it->is_reading) {
        if (uv_read_start(&it->uv.stream, on_room, on_read) != 0) {
            connection_close(it);
            return;
        }
    } else if (!on && it->is_reading) {
        uv_read_stop(&it->uv.stream);
    }
    it->is_reading = on;
}

/* Doubles its size, based on the bytes received, not announced. */
static bool make_room(connection *it, size_t length) {
    if (it->start > 0) {
        memmove(it->rest, it->rest + it->start, it->length);
        it->start = 0;
    }
    if (it->length + length <= it->room) {
        return true;
    }
    size_t room = it->room == 0 ? length : it->room * 2;
    room = room < it->length + length ? it->length + length : room;
    char *rest = room > MEMORY_LEAST && memory_is_full() ? NULL : realloc(it->rest, room);
    if (rest == NULL) {
        return false;
    }
    memory_hold((int64_t)room - (int64_t)it->room);
    it->rest = rest;
    it->room = room;
    return true;
}

bool connection_keep(connection *it, const char *bytes, size_t length) {
    if (it->start + it->length + length > it->room && !make_room(it, length)) {
        return false;
    }
    memcpy(it->rest + it->start + it->length, bytes, length);
    it->length += length;
    return true;
}

void connection_drop(connection *it, size_t length) {
    it->start += length;
    it->length -= length;
    if (it->length == 0) {
        memory_hold(-(int64_t)it->room);
        free(it->rest);
        it->rest = NULL;
        it->start = it->room = 0;
    }
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void name_peer(connection *it, int fd, bool is_unix) {
    struct sockaddr_storage peer = {0};
    socklen_t length = sizeof peer;
    char host[INET6_ADDRSTRLEN] = "?";
    if (is_unix || getpeername(fd, (struct sockaddr *)&peer, &length) != 0) {
        strcpy(it->client.address, "unix:");
        return;
    }
    it->client.key = address_of(&peer);
    bool six = peer.ss_family == AF_INET6;
    in_port_t port =
        six ? ((struct sockaddr_in6 *)&peer)->sin6_port : ((struct sockaddr_in *)&peer)->sin_port;
    uv_ip_name((struct sockaddr *)&peer, host, sizeof host);
    snprintf(it->client.address, sizeof it->client.address, six ? "[%s]:%u" : "%s:%u", host,
             (unsigned)ntohs(port));
}

/* libuv closes the socket from here on. */
static int open_stream(connection *it, int fd, bool is_unix) {
    int code = is_unix ? uv_pipe_init(&it->lane->uv, &it->uv.pipe, 0)
                       : uv_tcp_init(&it->lane->uv, &it->uv.tcp);
    if (code == 0) {
        it->uv.handle.data = it;
        list_add(&it->lane->all, &it->all);
        code = is_unix ? uv_pipe_open(&it->uv.pipe, fd) : uv_tcp_open(&it->uv.tcp, fd);
    }
    return code;
}

int connection_open(connection **out, lane *on, int fd, bool is_unix, bool with_tls,
                    firn_error *error) {
    connection *it = calloc(1, sizeof *it);
    if (with_tls && on->plain == NULL) {
        on->plain = malloc(LANE_INPUT + SECURE_RECORD);
    }
    if (it == NULL || (with_tls && on->plain == NULL)) {
        set_error(error, FIRN_EMEMORY, "out of memory for a connection");
    } else if (with_tls && secure_open(&it->tls, error) != FIRN_OK) {
        it->tls = NULL;
    } else {
        it->lane = on;
        it->is_unix = is_unix;
        it->begun_ms = it->heard_ms = (int64_t)uv_now(&on->uv);
        list_clear(&it->all);
        list_clear(&it->queue);
        name_peer(it, fd, is_unix);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        if (open_stream(it, fd, is_unix) == 0) {
            *out = it;
            return FIRN_OK;
        }
        set_error(error, FIRN_ESYSTEM, "a connection cannot be watched");
        close(fd);
        if (!list_is_empty(&it->all)) {
            connection_close(it); /* libuv must close an initialised handle */
            return error->code;
        }
        secure_close(it->tls);
        free(it);
        return error->code;
    }
    close(fd);
    free(it);
    return error->code;
}

static void on_shut(uv_shutdown_t *shut, int status) {
    connection *it = shut->handle->data;
    free(shut);
    if (status != 0 || it->has_ended) {
        connection_close(it);
    }
}

/* Closing a socket with unread bytes resets it, and the client may lose the last replies. So it is
 * shut down for writing, and closed after the client has closed it, or after a timeout. */
void connection_end(connection *it) {
    if (it->is_ending || it->is_closing) {
        return;
    }
    it->is_ending = true;
    it->ending_ms = (int64_t)uv_now(&it->lane->uv);
    connection_drop(it, it->length);
    if (it->tls != NULL) {
        secure_bye(it->tls, &it->lane->wire);
        if (!send_wire(it)) {
            connection_close(it);
            return;
        }
    }
    uv_shutdown_t *shut = malloc(sizeof *shut);
    if (shut == NULL || uv_shutdown(shut, &it->uv.stream, on_shut) != 0) {
        free(shut);
        connection_close(it);
        return;
    }
    connection_read(it, true);
}

static _Atomic int64_t unsent_bytes;

void unsent_add(int64_t bytes) {
    atomic_fetch_add_explicit(&unsent_bytes, bytes, memory_order_relaxed);
    memory_hold(bytes);
}

const char *unsent_full(void) {
    bool full = atomic_load_explicit(&unsent_bytes, memory_order_relaxed) >=
                settings_now()->replies_mib * (INT64_C(1) << 20);
    return memory_is_full() ? CLIENTS_ARE_FULL : full ? REPLIES_ARE_FULL : NULL;
}
