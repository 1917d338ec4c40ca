/* SPDX-License-Identifier: MIT */
/* `firn serve --check-ready`: asks the server of a configuration whether it is ready, as a
 * client. */
#ifndef FIRN_PROBE_H
#define FIRN_PROBE_H

#include "settings/setting.h"

/* FIRN_OK: ready. FIRN_EBUSY: it does not answer within 3 s, or is not ready, with the reason. */
int probe_ready(const server_settings *set, firn_error *error);

/* Sends a request over TLS and reads the reply, at most `room` bytes, until the server closes or
 * `until_ms` of monotonic_ms. The certificate is not checked: the address is the server's own.
 * Returns the length, or -1. */
long probe_tls(int fd, const char *request, char *reply, size_t room, int64_t until_ms);

#endif
