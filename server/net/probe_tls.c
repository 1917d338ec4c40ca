/* SPDX-License-Identifier: MIT */
#include "core/monotonic.h"
#include "credentials.h"
#include "probe.h"

#include <errno.h>
#include <string.h>

static long talk(gnutls_session_t session, const char *request, char *reply, size_t room,
                 int64_t until_ms) {
    int code;
    do {
        code = gnutls_handshake(session);
    } while (code < 0 && gnutls_error_is_fatal(code) == 0 && monotonic_ms() < until_ms);
    size_t length = strlen(request), got = 0;
    if (code < 0 || gnutls_record_send(session, request, length) != (ssize_t)length) {
        return -1;
    }
    while (got < room && monotonic_ms() < until_ms) {
        ssize_t n = gnutls_record_recv(session, reply + got, room - got);
        if (n <= 0 && n != GNUTLS_E_INTERRUPTED) {
            break;
        }
        got += n > 0 ? (size_t)n : 0;
    }
    return (long)got;
}

long probe_tls(int fd, const char *request, char *reply, size_t room, int64_t until_ms) {
    gnutls_session_t session;
    gnutls_certificate_credentials_t none;
    long got = -1;
    if (gnutls_certificate_allocate_credentials(&none) != 0) {
        return -1;
    }
    if (gnutls_init(&session, GNUTLS_CLIENT) == 0) {
        int64_t left_ms = until_ms - monotonic_ms();
        if (gnutls_priority_set_direct(session, TLS_PRIORITIES, NULL) == 0 &&
            gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, none) == 0 && left_ms > 0) {
            gnutls_transport_set_int(session, fd);
            gnutls_handshake_set_timeout(session, (unsigned)left_ms);
            gnutls_record_set_timeout(session, (unsigned)left_ms);
            got = talk(session, request, reply, room, until_ms);
        }
        gnutls_deinit(session);
    }
    gnutls_certificate_free_credentials(none);
    return got;
}
