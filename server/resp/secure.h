/* SPDX-License-Identifier: MIT */
/* The server side of TLS, from memory to memory, without sockets. One thread. */
#ifndef FIRN_SECURE_H
#define FIRN_SECURE_H

#include "resp.h"

#include <firn/firn.h>

typedef struct tls_stream tls_stream;

/* Added to the room of secure_read for an incomplete record. */
#define SECURE_RECORD 20480

/* Uses the current certificate. FIRN_EMEMORY. */
int secure_open(tls_stream **out, firn_error *error);
/* Decrypts all bytes to `plain`, of at least length + SECURE_RECORD bytes; writes handshake replies
 * to `wire`. *ended: closed by the client, or a protocol error. */
size_t secure_read(tls_stream *tls, const char *bytes, size_t length, char *plain, resp_out *wire,
                   bool *ended);
/* Is the handshake complete? */
bool secure_is_ready(const tls_stream *tls);
/* Would the client's certificate be refused since a reload? */
bool secure_is_refused(tls_stream *tls);
/* False: the session is broken. */
bool secure_write(tls_stream *tls, const char *text, size_t length, resp_out *wire);
/* Sends close_notify. */
void secure_bye(tls_stream *tls, resp_out *wire);
void secure_close(tls_stream *tls);

#endif
