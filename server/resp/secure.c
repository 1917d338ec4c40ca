/* SPDX-License-Identifier: MIT */
#include "secure.h"

#include "errors.h"
#include "net/credentials.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct secure {
    gnutls_session_t session;
    const char *in; /* input left in this call */
    size_t in_length;
    resp_out *wire; /* of this call */
    bool is_ready;
    unsigned long signers_seen;
};

static ssize_t pull(gnutls_transport_ptr_t self, void *to, size_t size) {
    secure *it = self;
    if (it->in_length == 0) {
        gnutls_transport_set_errno(it->session, EAGAIN);
        return -1;
    }
    size_t length = size < it->in_length ? size : it->in_length;
    memcpy(to, it->in, length);
    it->in += length;
    it->in_length -= length;
    return (ssize_t)length;
}

/* Never waits, because the buffer grows. */
static ssize_t push(gnutls_transport_ptr_t self, const void *from, size_t size) {
    secure *it = self;
    if (it->wire != NULL) {
        resp_raw(it->wire, from, size);
    }
    if (it->wire == NULL || it->wire->failed) {
        gnutls_transport_set_errno(it->session, EPIPE);
        return -1;
    }
    return (ssize_t)size;
}

/* GnuTLS calls it only with a deadline. */
static int pull_timeout(gnutls_transport_ptr_t self, unsigned ms) {
    (void)ms;
    return ((secure *)self)->in_length > 0;
}

int secure_open(secure **out, firn_error *error) {
    secure *it = calloc(1, sizeof *it);
    if (it == NULL) {
        return set_error(error, FIRN_EMEMORY, "out of memory for a TLS session");
    }
    it->signers_seen = credentials_signer_changes();
    int code = credentials_session(&it->session, error);
    if (code != FIRN_OK) {
        free(it);
        return code;
    }
    gnutls_transport_set_ptr(it->session, it);
    gnutls_transport_set_pull_function(it->session, pull);
    gnutls_transport_set_pull_timeout_function(it->session, pull_timeout);
    gnutls_transport_set_push_function(it->session, push);
    *out = it;
    return FIRN_OK;
}

bool secure_is_ready(const secure *it) {
    return it->is_ready;
}

bool secure_is_refused(secure *it) {
    return it->is_ready && !credentials_accept(it->session, &it->signers_seen);
}

/* On failure GnuTLS writes an alert; for a certificate, credentials.c has done it. */
static bool shake_hands(secure *it) {
    int code = gnutls_handshake(it->session);
    it->is_ready = code == GNUTLS_E_SUCCESS;
    if (code < 0 && gnutls_error_is_fatal(code) != 0) {
        if (code != GNUTLS_E_CERTIFICATE_ERROR) {
            gnutls_alert_send_appropriate(it->session, code);
        }
        return false;
    }
    return true;
}

size_t secure_read(secure *it, const char *bytes, size_t length, char *plain, resp_out *wire,
                   bool *ended) {
    size_t room = length + SECURE_RECORD, size = 0;
    it->in = bytes;
    it->in_length = length;
    it->wire = wire;
    *ended = !it->is_ready && !shake_hands(it);
    while (it->is_ready && !*ended && size < room) {
        ssize_t got = gnutls_record_recv(it->session, plain + size, room - size);
        if (got > 0) {
            size += (size_t)got;
        } else if (got == GNUTLS_E_AGAIN) {
            break;
        } else if (got != GNUTLS_E_INTERRUPTED && got != GNUTLS_E_WARNING_ALERT_RECEIVED) {
            *ended = true; /* close_notify, an error, or a renegotiation */
        }
    }
    it->wire = NULL;
    return size;
}

bool secure_write(secure *it, const char *text, size_t length, resp_out *wire) {
    it->wire = wire;
    while (length > 0) {
        ssize_t put = gnutls_record_send(it->session, text, length);
        if (put < 0 && put != GNUTLS_E_INTERRUPTED) {
            break;
        }
        text += put > 0 ? put : 0;
        length -= put > 0 ? (size_t)put : 0;
    }
    it->wire = NULL;
    return length == 0;
}

void secure_bye(secure *it, resp_out *wire) {
    it->wire = wire;
    if (it->is_ready) {
        gnutls_bye(it->session, GNUTLS_SHUT_WR);
    }
    it->wire = NULL;
}

void secure_close(secure *it) {
    if (it != NULL) {
        gnutls_deinit(it->session);
        free(it);
    }
}
