/* SPDX-License-Identifier: MIT */
/* A connection of a Redis client on a libuv loop, plain or TLS. Keeps unused and unsent bytes;
 * knows no commands. Used by the thread of its loop only. The connections of a loop share the
 * buffers of a turn, so an idle one has none. */
#ifndef FIRN_CONNECTION_H
#define FIRN_CONNECTION_H

#include "commands.h"
#include "net/addresses.h"
#include "net/list.h"
#include "net/unauthenticated.h"
#include "resp.h"
#include "secure.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#define LANE_INPUT (256 << 10) /* bytes per read */
/* For unauthenticated clients, whose bytes are kept during a delay. */
#define UNAUTHENTICATED_INPUT (4 << 10)
#define UNSENT_MOST           (1 << 20)   /* more unsent bytes stop reading from the client */
#define UNSENT_LOW            (256 << 10) /* reading resumes here */

typedef struct resp_connection resp_connection;

/* Callbacks of the listener. */
typedef struct connection_events {
    /* plain bytes in the lane's buffer: use or keep them */
    void (*bytes)(resp_connection *connection, const char *bytes, size_t length);
    void (*drained)(
        resp_connection *connection); /* few enough bytes are unsent: reading can resume */
    void (*ended)(
        resp_connection *connection); /* the client has ended its side, but may still read */
    void (*closed)(resp_connection *connection); /* last call */
} connection_events;

/* Shared by the connections of a loop. */
typedef struct resp_lane {
    uv_loop_t uv;
    server_worker *worker;
    const connection_events *events;
    resp_out out;  /* replies of the turn */
    resp_out wire; /* the same, encrypted */
    list_link all; /* connections */
    char *input;   /* LANE_INPUT bytes */
    char *plain;   /* allocated for the first TLS connection */
} resp_lane;

/* The events for which a connection waits before it reads the next command. */
enum waiting {
    WAIT_NOTHING,
    WAIT_TURN,    /* other connections are served first */
    WAIT_LATER,   /* a window, or the clock */
    WAIT_TASK,    /* a renewer */
    WAIT_PENALTY, /* delay after wrong tokens */
    WAIT_DRAIN    /* the client must read its replies */
};

struct resp_connection {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } uv;
    resp_lane *lane;
    list_link all, queue; /* queue: in the loop's queue of its `wait` */
    resp_client client;
    tls_stream *tls;               /* NULL: plain */
    struct command_waiter *waiter; /* NULL: none */
    struct resp_stream *stream;    /* the rest of a large reply; NULL: none */
    uint64_t stream_ns;            /* uv_hrtime when its request arrived */
    char *rest;                    /* unused bytes: `length` from `start` on */
    size_t start, length, room;
    size_t needed; /* size of the rest at which a command may be complete */
    unauthenticated_client unauthenticated; /* in the list of the loop while unauthenticated */
    size_t unsent_seen;                     /* at the last sweep */
    uint64_t queued;                        /* bytes that ever waited for the client */
    uint64_t taken_seen;                    /* how many of them it had taken at the last sweep */
    int64_t begun_ms;                       /* all by uv_now: when it was accepted */
    int64_t heard_ms;                       /* last bytes from the client */
    int64_t half_ms;                        /* start of an incomplete command; 0: none */
    int64_t late_ms;                        /* start of the request's wait; 0: none */
    const void *later_from;                 /* WAIT_LATER: the generator or segment, */
    int64_t later_count;                    /* and how many of it */
    int64_t due_ms;                         /* WAIT_PENALTY: when the token is checked */
    int64_t progress_ms;                    /* when the client was last seen reading */
    int64_t ending_ms;                      /* when it was shut down for writing */
    int64_t quiet_ms;                       /* while stopping: since when its socket is empty */
    enum waiting wait;
    bool is_unix, is_reading, is_counted;
    bool has_ended;  /* the client has ended its side */
    bool is_ahead;   /* while stopping: it has sent bytes that are not read yet */
    bool is_leaving; /* the last reply is being written */
    bool is_ending;  /* reads nothing more; closed when all is sent */
    bool is_closing;
};

/* Takes over an accepted socket, also on failure. FIRN_EMEMORY, FIRN_ESYSTEM. */
int connection_open(resp_connection **out, resp_lane *lane, int fd, bool is_unix, bool with_tls,
                    firn_error *error);
/* Starts or stops reading. */
void connection_read(resp_connection *connection, bool enabled);
/* Appends bytes to the rest. False: out of memory. */
bool connection_keep(resp_connection *connection, const char *bytes, size_t length);
/* Removes bytes from the front of the rest. */
void connection_drop(resp_connection *connection, size_t length);
/* Sends and empties the lane's `out`. False: the connection is closed. */
bool connection_send(resp_connection *connection);
/* The next bytes leave together with the end of the connection. */
void connection_cork(resp_connection *connection);
size_t connection_unsent(const resp_connection *connection);
/* Closes it when everything is sent; ignores further bytes. */
void connection_end(resp_connection *connection);
/* Closes it now. */
void connection_close(resp_connection *connection);

void unsent_add(int64_t bytes);
/* Why large replies are refused: unread ones reach replies_mib, or the memory of all clients
 * reaches clients_mib. NULL: they are not refused. Any thread. */
const char *unsent_full(void);

#endif
