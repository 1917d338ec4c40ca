/* SPDX-License-Identifier: MIT */
#include "secure.h"

#include "errors.h"
#include "net/credentials.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tls_stream {
    gnutls_session_t session;
    const char *bytes; /* input left in this call */
    size_t in_length;
    resp_out *wire; /* of this call */
    bool is_ready;
    unsigned long signers_seen;
};

static ssize_t pull(gnutls_transport_ptr_t self, void *out, size_t size) {
    tls_stream *tls = self;
    if (tls->in_length == 0) {
        gnutls_transport_set_errno(tls->session, EAGAIN);
        return -1;
    }
    size_t length = size < tls->in_length ? size : tls->in_length;
    memcpy(out, tls->bytes, length);
    tls->bytes += length;
    tls->in_length -= length;
    return (ssize_t)length;
}

/* Never waits, because the buffer grows. */
static ssize_t push(gnutls_transport_ptr_t self, const void *source, size_t size) {
    tls_stream *tls = self;
    if (tls->wire != NULL) {
        resp_raw(tls->wire, source, size);
    }
    if (tls->wire == NULL || tls->wire->failed) {
        gnutls_transport_set_errno(tls->session, EPIPE);
        return -1;
    }
    return (ssize_t)size;
}

/* GnuTLS calls it only with a deadline. */
static int pull_timeout(gnutls_transport_ptr_t self, unsigned ms) {
    (void)ms;
    return ((tls_stream *)self)->in_length > 0;
}

int secure_open(tls_stream **out, firn_error *error) {
    tls_stream *tls = calloc(1, sizeof *tls);
    if (tls == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a TLS session");
    }
    tls->signers_seen = credentials_signer_changes();
    int code = credentials_session(&tls->session, error);
    if (code != FIRN_OK) {
        free(tls);
        return code;
    }
    gnutls_transport_set_ptr(tls->session, tls);
    gnutls_transport_set_pull_function(tls->session, pull);
    gnutls_transport_set_pull_timeout_function(tls->session, pull_timeout);
    gnutls_transport_set_push_function(tls->session, push);
    *out = tls;
    return FIRN_OK;
}

bool secure_is_ready(const tls_stream *tls) {
    return tls->is_ready;
}

bool secure_is_refused(tls_stream *tls) {
    return tls->is_ready && !credentials_accept(tls->session, &tls->signers_seen);
}

/* On failure GnuTLS writes an alert; for a certificate, credentials.c has done it. */
static bool shake_hands(tls_stream *tls) {
    int code = gnutls_handshake(tls->session);
    tls->is_ready = code == GNUTLS_E_SUCCESS;
    if (code < 0 && gnutls_error_is_fatal(code) != 0) {
        if (code != GNUTLS_E_CERTIFICATE_ERROR) {
            gnutls_alert_send_appropriate(tls->session, code);
        }
        return false;
    }
    return true;
}

size_t secure_read(tls_stream *tls, const char *bytes, size_t length, char *plain, resp_out *wire,
                   bool *ended) {
    size_t room = length + SECURE_RECORD, size = 0;
    tls->bytes = bytes;
    tls->in_length = length;
    tls->wire = wire;
    *ended = !tls->is_ready && !shake_hands(tls);
    while (tls->is_ready && !*ended && size < room) {
        ssize_t got = gnutls_record_recv(tls->session, plain + size, room - size);
        if (got > 0) {
            size += (size_t)got;
        } else if (got == GNUTLS_E_AGAIN) {
            break;
        } else if (got != GNUTLS_E_INTERRUPTED && got != GNUTLS_E_WARNING_ALERT_RECEIVED) {
            *ended = true; /* close_notify, an error, or a renegotiation */
        }
    }
    tls->wire = NULL;
    return size;
}

bool secure_write(tls_stream *tls, const char *text, size_t length, resp_out *wire) {
    tls->wire = wire;
    while (length > 0) {
        ssize_t put = gnutls_record_send(tls->session, text, length);
        if (put < 0 && put != GNUTLS_E_INTERRUPTED) {
            break;
        }
        text += put > 0 ? put : 0;
        length -= put > 0 ? (size_t)put : 0;
    }
    tls->wire = NULL;
    return length == 0;
}

void secure_bye(tls_stream *tls, resp_out *wire) {
    tls->wire = wire;
    if (tls->is_ready) {
        gnutls_bye(tls->session, GNUTLS_SHUT_WR);
    }
    tls->wire = NULL;
}

void secure_close(tls_stream *tls) {
    if (tls != NULL) {
        gnutls_deinit(tls->session);
        free(tls);
    }
}
