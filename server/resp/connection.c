/* SPDX-License-Identifier: MIT */
#include "connection.h"

#include "errors.h"
#include "net/memory.h"
#include "settings/setting.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes that could not be sent at once. */
typedef struct resp_parcel {
    uv_write_t write;
    size_t length;
    char bytes[];
} resp_parcel;

static void on_closed(uv_handle_t *handle) {
    resp_connection *connection = handle->data;
    connection->lane->events->closed(connection);
    secure_close(connection->tls);
    memory_hold(-(int64_t)connection->room);
    free(connection->rest);
    free(connection);
}

void connection_close(resp_connection *connection) {
    if (!connection->is_closing) {
        connection->is_closing = true;
        uv_close(&connection->uv.handle, on_closed);
    }
}

static void on_sent(uv_write_t *write, int status) {
    resp_parcel *parcel = write->data;
    resp_connection *connection = write->handle->data;
    if (status == 0) {
        meter_add(&connection->lane->worker->meter.sent, parcel->length);
    }
    unsent_add(-(int64_t)parcel->length);
    free(parcel);
    if (status != 0) {
        connection_close(connection);
    } else if (!connection->is_closing && connection_unsent(connection) <= UNSENT_LOW) {
        connection->lane->events->drained(connection);
    }
}

size_t connection_unsent(const resp_connection *connection) {
    return uv_stream_get_write_queue_size(&connection->uv.stream);
}

/* Copies the bytes, because the lane's buffer is needed for the next turn. */
static bool send_later(resp_connection *connection, const char *bytes, size_t length) {
    bool is_much = connection_unsent(connection) + length > UNSENT_LOW;
    resp_parcel *parcel = is_much && memory_is_full() ? NULL : malloc(sizeof *parcel + length);
    if (parcel == NULL) {
        return false;
    }
    parcel->length = length;
    parcel->write.data = parcel;
    memcpy(parcel->bytes, bytes, length);
    uv_buf_t buf = uv_buf_init(parcel->bytes, (unsigned)length);
    if (uv_write(&parcel->write, &connection->uv.stream, &buf, 1, on_sent) != 0) {
        free(parcel);
        return false;
    }
    connection->queued += length;
    unsent_add((int64_t)length);
    return true;
}

static bool send_bytes(resp_connection *connection, const char *bytes, size_t length) {
    size_t sent = 0;
    if (connection_unsent(connection) == 0) {
        uv_buf_t buf = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)length);
        int n = uv_try_write(&connection->uv.stream, &buf, 1);
        if (n < 0 && n != UV_EAGAIN) {
            return false;
        }
        sent = n < 0 ? 0 : (size_t)n;
        meter_add(&connection->lane->worker->meter.sent, sent);
    }
    return sent == length || send_later(connection, bytes + sent, length - sent);
}

/* a larger buffer is freed after use */
#define OUT_KEPT (4 << 20)

static void empty(resp_out *out) {
    out->length = 0;
    if (out->room > OUT_KEPT || out->failed) {
        resp_out_free(out);
    }
}

static bool send_wire(resp_connection *connection) {
    resp_out *wire = &connection->lane->wire;
    bool sent =
        !wire->failed && (wire->length == 0 || send_bytes(connection, wire->text, wire->length));
    empty(wire);
    return sent;
}

bool connection_send(resp_connection *connection) {
    resp_out *out = &connection->lane->out;
    bool sent = !connection->is_closing && !out->failed;
    if (sent && out->length > 0) {
        if (connection->tls != NULL) {
            sent = secure_write(connection->tls, out->text, out->length, &connection->lane->wire) &&
                   send_wire(connection);
        } else {
            sent = send_bytes(connection, out->text, out->length);
        }
    }
    empty(out);
    if (!sent) {
        connection_close(connection);
    }
    return sent;
}

void connection_cork(resp_connection *connection) {
    int fd;
    if (!connection->is_unix && uv_fileno(&connection->uv.handle, &fd) == 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_CORK, &(int){1}, sizeof(int));
    }
}

/* ---- input ----------------------------------------------------------------------------------- */

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *buf) {
    resp_connection *connection = handle->data;
    (void)size;
    *buf = uv_buf_init(connection->lane->input,
                       connection->unauthenticated.is_in ? UNAUTHENTICATED_INPUT : LANE_INPUT);
}

/* Decrypts the bytes and sends what the handshake needs. */
static void read_secure(resp_connection *connection, const char *bytes, size_t length) {
    resp_lane *lane = connection->lane;
    bool ended = false;
    if (secure_is_refused(connection->tls)) {
        connection_close(connection);
        return;
    }
    size_t size = secure_read(connection->tls, bytes, length, lane->plain, &lane->wire, &ended);
    if (!send_wire(connection)) {
        connection_close(connection);
        return;
    }
    if (size > 0) {
        lane->events->bytes(connection, lane->plain, size);
    }
    if (ended && !connection->is_closing) {
        connection->has_ended = true;
        lane->events->ended(connection);
    }
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
    resp_connection *connection = stream->data;
    if (n == 0 || connection->is_closing) {
        return;
    }
    if (n < 0) {
        uv_read_stop(stream);
        connection->is_reading = false;
        connection->has_ended = true;
        if (n == UV_EOF) {
            connection->lane->events->ended(connection);
        } else {
            connection_close(connection);
        }
        return;
    }
    meter_add(&connection->lane->worker->meter.received, (uint64_t)n);
    connection->heard_ms = (int64_t)uv_now(&connection->lane->uv);
    if (connection->tls != NULL) {
        read_secure(connection, buf->base, (size_t)n);
    } else {
        connection->lane->events->bytes(connection, buf->base, (size_t)n);
    }
}

void connection_read(resp_connection *connection, bool enabled) {
    enabled = enabled && !connection->has_ended && !connection->is_closing;
    if (enabled && !connection->is_reading) {
        if (uv_read_start(&connection->uv.stream, on_room, on_read) != 0) {
            connection_close(connection);
            return;
        }
    } else if (!enabled && connection->is_reading) {
        uv_read_stop(&connection->uv.stream);
    }
    connection->is_reading = enabled;
}

/* Doubles its size, based on the bytes received, not announced. */
static bool make_room(resp_connection *connection, size_t length) {
    if (connection->start > 0) {
        memmove(connection->rest, connection->rest + connection->start, connection->length);
        connection->start = 0;
    }
    if (connection->length + length <= connection->room) {
        return true;
    }
    size_t room = connection->room == 0 ? length : connection->room * 2;
    room = room < connection->length + length ? connection->length + length : room;
    char *rest = room > MEMORY_LEAST && memory_is_full() ? NULL : realloc(connection->rest, room);
    if (rest == NULL) {
        return false;
    }
    memory_hold((int64_t)room - (int64_t)connection->room);
    connection->rest = rest;
    connection->room = room;
    return true;
}

bool connection_keep(resp_connection *connection, const char *bytes, size_t length) {
    if (connection->start + connection->length + length > connection->room &&
        !make_room(connection, length)) {
        return false;
    }
    memcpy(connection->rest + connection->start + connection->length, bytes, length);
    connection->length += length;
    return true;
}

void connection_drop(resp_connection *connection, size_t length) {
    connection->start += length;
    connection->length -= length;
    if (connection->length == 0) {
        memory_hold(-(int64_t)connection->room);
        free(connection->rest);
        connection->rest = NULL;
        connection->start = connection->room = 0;
    }
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void name_peer(resp_connection *connection, int fd, bool is_unix) {
    struct sockaddr_storage peer = {0};
    socklen_t length = sizeof peer;
    char host[INET6_ADDRSTRLEN] = "?";
    if (is_unix || getpeername(fd, (struct sockaddr *)&peer, &length) != 0) {
        strcpy(connection->client.address, "unix:");
        return;
    }
    connection->client.key = address_of(&peer);
    bool six = peer.ss_family == AF_INET6;
    in_port_t port =
        six ? ((struct sockaddr_in6 *)&peer)->sin6_port : ((struct sockaddr_in *)&peer)->sin_port;
    uv_ip_name((struct sockaddr *)&peer, host, sizeof host);
    snprintf(connection->client.address, sizeof connection->client.address,
             six ? "[%s]:%u" : "%s:%u", host, (unsigned)ntohs(port));
}

/* libuv closes the socket from here on. */
static int open_stream(resp_connection *connection, int fd, bool is_unix) {
    int code = is_unix ? uv_pipe_init(&connection->lane->uv, &connection->uv.pipe, 0)
                       : uv_tcp_init(&connection->lane->uv, &connection->uv.tcp);
    if (code == 0) {
        connection->uv.handle.data = connection;
        list_add(&connection->lane->all, &connection->all);
        code =
            is_unix ? uv_pipe_open(&connection->uv.pipe, fd) : uv_tcp_open(&connection->uv.tcp, fd);
    }
    return code;
}

int connection_open(resp_connection **out, resp_lane *lane, int fd, bool is_unix, bool with_tls,
                    firn_error *error) {
    resp_connection *connection = calloc(1, sizeof *connection);
    if (with_tls && lane->plain == NULL) {
        lane->plain = malloc(LANE_INPUT + SECURE_RECORD);
    }
    if (connection == NULL || (with_tls && lane->plain == NULL)) {
        set_error(error, FIRN_EMEMORY, "out of memory for a connection");
    } else if (with_tls && secure_open(&connection->tls, error) != FIRN_OK) {
        connection->tls = NULL;
    } else {
        connection->lane = lane;
        connection->is_unix = is_unix;
        connection->begun_ms = connection->heard_ms = (int64_t)uv_now(&lane->uv);
        list_clear(&connection->all);
        list_clear(&connection->queue);
        name_peer(connection, fd, is_unix);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        if (open_stream(connection, fd, is_unix) == 0) {
            *out = connection;
            return FIRN_OK;
        }
        set_error(error, FIRN_ESYSTEM, "a connection cannot be watched");
        close(fd);
        if (!list_is_empty(&connection->all)) {
            connection_close(connection); /* libuv must close an initialised handle */
            return error->code;
        }
        secure_close(connection->tls);
        free(connection);
        return error->code;
    }
    close(fd);
    free(connection);
    return error->code;
}

static void on_shut(uv_shutdown_t *shut, int status) {
    resp_connection *connection = shut->handle->data;
    free(shut);
    if (status != 0 || connection->has_ended) {
        connection_close(connection);
    }
}

/* Closing a socket with unread bytes resets it, and the client may lose the last replies. So it is
 * shut down for writing, and closed after the client has closed it, or after a timeout. */
void connection_end(resp_connection *connection) {
    if (connection->is_ending || connection->is_closing) {
        return;
    }
    connection->is_ending = true;
    connection->ending_ms = (int64_t)uv_now(&connection->lane->uv);
    connection_drop(connection, connection->length);
    if (connection->tls != NULL) {
        secure_bye(connection->tls, &connection->lane->wire);
        if (!send_wire(connection)) {
            connection_close(connection);
            return;
        }
    }
    uv_shutdown_t *shut = malloc(sizeof *shut);
    if (shut == NULL || uv_shutdown(shut, &connection->uv.stream, on_shut) != 0) {
        free(shut);
        connection_close(connection);
        return;
    }
    connection_read(connection, true);
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
