/* SPDX-License-Identifier: MIT */
/* Certificate and key for both listeners, and which certificates may sign the ones of clients;
 * loaded again on SIGHUP. */
#ifndef FIRN_CREDENTIALS_H
#define FIRN_CREDENTIALS_H

#include <firn/firn.h>

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>

/* TLS 1.3, and TLS 1.2 with forward secrecy and authenticated encryption: no CBC, no SHA-1. */
#define TLS_PRIORITIES                                                                             \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:"      \
    "+AES-128-GCM:+AES-256-CCM:+AES-128-CCM:-MAC-ALL:+AEAD:-RSA:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1"

/* Paths of PEM files, or "". With client_ca, clients must present a certificate that it signed. */
typedef struct credential_files {
    const char *cert, *key, *client_ca;
} credential_files;

/* Loads certificate and key, or neither. FIRN_EUSAGE: only one, they do not match, or client_ca
 * without them; FIRN_EIO. On failure the old ones stay. */
int credentials_load(const credential_files *files, firn_error *error);
/* Only checks. */
int credentials_check(const credential_files *files, firn_error *error);
/* Do TCP addresses use TLS? Fixed when the server starts. */
bool credentials_are_there(void);
/* A server session with the current certificate. FIRN_EMEMORY. */
int credentials_session(gnutls_session_t *out, firn_error *error);
/* How often the certificates that may sign the ones of clients changed. Read it before the
 * handshake. */
unsigned long credentials_signer_changes(void);
/* After the handshake: would the client's certificate still be accepted? Checked only after a
 * change since *seen, which it sets. */
bool credentials_accept(gnutls_session_t session, unsigned long *seen);
/* libmicrohttpd's MHD_OPTION_HTTPS_CERT_CALLBACK. */
int credentials_retrieve(gnutls_session_t session, const gnutls_datum_t *names, int count,
                         const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                         gnutls_pcert_st **chain, unsigned *chain_length, gnutls_privkey_t *key);

#endif
