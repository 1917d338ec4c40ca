/* SPDX-License-Identifier: MIT */
/* The server's end of a TLS connection, between bytes from the wire and plain ones. Knows no
 * sockets: it reads from memory and writes to memory. One thread. */
#ifndef FIRN_SECURE_H
#define FIRN_SECURE_H

#include "resp.h"

#include <firn/firn.h>

typedef struct secure secure;

/* What TLS may hold back of a record that is not all there: added to the room of secure_read. */
#define SECURE_RECORD 20480

/* With the certificate in force. FIRN_EMEMORY. */
int secure_open(secure **out, firn_error *error);
/* Takes all of the bytes and writes what they say to `plain`, of at least length + SECURE_RECORD
 * bytes; what is to be answered to the handshake goes to `wire`. *ended: the client takes its
 * leave, or broke a rule: nothing more will come. */
size_t secure_read(secure *it, const char *bytes, size_t length, char *plain, resp_out *wire,
                   bool *ended);
/* The handshake is over. */
bool secure_is_ready(const secure *it);
/* False: it cannot be sent any more. */
bool secure_write(secure *it, const char *text, size_t length, resp_out *wire);
/* Says that nothing more follows. */
void secure_bye(secure *it, resp_out *wire);
void secure_close(secure *it);

#endif
