/* SPDX-License-Identifier: MIT */
/* server/net/credentials.c and server/resp/secure.c of static programs: TLS is refused, so that
 * nobody takes a plain address for a safe one. */
#include "errors.h"
#include "net/credentials.h"
#include "net/probe.h"
#include "resp/secure.h"

int credentials_check(const credential_files *files, firn_error *error) {
    return files->cert[0] == '\0' && files->key[0] == '\0' && files->client_ca[0] == '\0'
               ? FIRN_OK
               : set_error(error, FIRN_EUSAGE,
                           "a static firn-serve has no TLS: remove tls_cert and tls_key and put a "
                           "TLS proxy before it, or install the package firn-server (Debian)");
}

int credentials_load(const credential_files *files, firn_error *error) {
    return credentials_check(files, error);
}

bool credentials_are_there(void) {
    return false;
}

int credentials_session(gnutls_session_t *out, firn_error *error) {
    (void)out;
    return set_error(error, FIRN_ESYSTEM, "a static firn-serve has no TLS");
}

int credentials_retrieve(gnutls_session_t session, const gnutls_datum_t *names, int count,
                         const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                         gnutls_pcert_st **chain, unsigned *chain_length, gnutls_privkey_t *key) {
    (void)session, (void)names, (void)count, (void)algorithms, (void)algorithm_count;
    (void)chain, (void)chain_length, (void)key;
    return -1;
}

unsigned long credentials_signer_changes(void) {
    return 0;
}

bool credentials_accept(gnutls_session_t session, unsigned long *seen) {
    (void)session, (void)seen;
    return false;
}

int secure_open(tls_stream **out, firn_error *error) {
    (void)out;
    return set_error(error, FIRN_ESYSTEM, "a static firn-serve has no TLS");
}

size_t secure_read(tls_stream *tls, const char *bytes, size_t length, char *plain, resp_out *wire,
                   bool *ended) {
    (void)tls, (void)bytes, (void)length, (void)plain, (void)wire;
    *ended = true;
    return 0;
}

bool secure_is_ready(const tls_stream *tls) {
    (void)tls;
    return false;
}

bool secure_is_refused(tls_stream *tls) {
    (void)tls;
    return true;
}

bool secure_write(tls_stream *tls, const char *text, size_t length, resp_out *wire) {
    (void)tls, (void)text, (void)length, (void)wire;
    return false;
}

void secure_bye(tls_stream *tls, resp_out *wire) {
    (void)tls, (void)wire;
}

void secure_close(tls_stream *tls) {
    (void)tls;
}

long probe_tls(int fd, const char *request, char *reply, size_t room, int64_t until_ms) {
    (void)fd, (void)request, (void)reply, (void)room, (void)until_ms;
    return -1;
}
