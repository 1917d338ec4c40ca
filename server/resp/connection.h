/* SPDX-License-Identifier: MIT */
/* A connection of a Redis client on a libuv loop: bytes come in, bytes go out, in the clear or
 * through TLS. Keeps what is not used yet and what is not sent yet; knows no commands. Only its
 * loop's thread touches it.
 *
 * All connections of a loop share the buffers that a turn fills and empties, so one that is idle
 * has none of its own. */
#ifndef FIRN_CONNECTION_H
#define FIRN_CONNECTION_H

#include "commands.h"
#include "net/addresses.h"
#include "net/chain.h"
#include "net/strangers.h"
#include "resp.h"
#include "secure.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#define LANE_INPUT (256 << 10) /* bytes that are read at once */
/* The same of a client without a token: what it says behind a wrong one is kept meanwhile. */
#define STRANGER_INPUT (16 << 10)
#define UNSENT_MOST    (1 << 20)   /* above it a client is not listened to until it has read */
#define UNSENT_LOW     (256 << 10) /* and from here on it is again */

typedef struct connection connection;

/* What a connection tells its listener. */
typedef struct connection_events {
    /* Plain bytes in the lane's buffer, gone after the call: used or kept. */
    void (*bytes)(connection *it, const char *bytes, size_t length);
    void (*drained)(connection *it); /* so much was sent that it is to be heard again */
    void (*ended)(connection *it);   /* the client says nothing more, but may still read */
    void (*closed)(connection *it);  /* the last call; nothing of it may be used afterwards */
} connection_events;

/* What the connections of a loop share. */
typedef struct lane {
    uv_loop_t uv;
    worker *worker;
    const connection_events *events;
    resp_out out;  /* the replies of the turn */
    resp_out wire; /* the same through TLS */
    chain all;     /* connections */
    char *input;   /* LANE_INPUT */
    char *plain;   /* made when TLS is first spoken */
} lane;

/* What a connection waits for before its next command is looked at. */
enum waiting {
    WAIT_NOTHING,
    WAIT_TURN,    /* others are served first */
    WAIT_LATER,   /* for a window, or for the clock */
    WAIT_TASK,    /* for a renewer */
    WAIT_PENALTY, /* after wrong tokens */
    WAIT_DRAIN    /* until the client has read its replies */
};

struct connection {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } uv;
    lane *lane;
    chain all, queue; /* queue: of the listener's, by what it waits for */
    client client;
    secure *tls; /* NULL: in the clear */
    struct waiter *waiter;
    char *rest; /* bytes that are not used yet: length of them from `start` on */
    size_t start, length, room;
    size_t needed;       /* the rest is no whole command before it has so many bytes */
    stranger stranger;   /* in the loop's crowd while it has sent no token */
    size_t unsent_seen;  /* at the last sweep */
    int64_t begun_ms;    /* all of uv_now: when it came */
    int64_t heard_ms;    /* when it last said something */
    int64_t half_ms;     /* since when half a command waits; 0: none waits */
    int64_t late_ms;     /* since when its request waits, 0: it does not */
    int64_t due_ms;      /* when its token is looked at, of WAIT_PENALTY */
    int64_t progress_ms; /* when it was last seen to read */
    int64_t ending_ms;   /* since when it is told that nothing follows */
    int64_t quiet_ms;    /* when the server ends: since when its socket is empty */
    enum waiting wait;
    bool is_unix, is_reading, is_counted;
    bool has_ended;  /* the client says nothing more */
    bool is_ahead;   /* when the server ends: it sent more than we had read */
    bool is_leaving; /* its last reply is being written */
    bool is_ending;  /* nothing of it is looked at any more; it is closed when all is sent */
    bool is_closing;
};

/* Takes over an accepted socket, whatever comes of it. `address` is its peer's. FIRN_EMEMORY,
 * FIRN_ESYSTEM. */
int connection_open(connection **out, lane *on, int fd, bool is_unix, bool with_tls,
                    firn_error *error);
/* Listens to the client, or not. */
void connection_read(connection *it, bool on);
/* Keeps bytes behind the rest. False: no memory. */
bool connection_keep(connection *it, const char *bytes, size_t length);
/* Drops the first bytes of the rest. */
void connection_drop(connection *it, size_t length);
/* Sends what the lane's `out` holds, and empties it. False: the connection is closed. */
bool connection_send(connection *it);
size_t connection_unsent(const connection *it);
/* Ends it when all is sent; what the client still says is not looked at. */
void connection_end(connection *it);
/* Ends it now. */
void connection_close(connection *it);

void unsent_add(int64_t bytes);
/* As many as replies_mib allows? Then no large reply is made. */
bool unsent_is_full(void);

#endif
